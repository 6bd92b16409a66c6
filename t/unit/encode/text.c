/* links: cmd/trencode */
/*
 * Text of values, and of a source that has no layout of its own: a stream is written, read,
 * printed.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/stream/reader.h"
#include "cmd/trencode/formats.h"
#include "cmd/trencode/text/uftrace.h"
#include "common/calls/calls.h"
#include "common/stream/writer.h"
#include "t/unit/tap.h"

static struct buffer tail;

static const char *printed(struct buffer *out)
{
	buffer_append(out, "", 1);
	return (const char *)out->data;
}

/* The text of the tail's only argument. */
static const char *value_of_tail(struct value_names *names)
{
	static struct buffer out;
	struct values all;
	struct detail d;

	out.size = 0;
	names->out = &out;
	values_begin(&all, tail.data, tail.size);
	if (values_what(&all, &d.what, &d.index))
		value_text(names, &all);
	return printed(&out);
}

static const char *number(char format, uint64_t v, uint8_t size)
{
	static struct value_names names;

	tail.size = 0;
	v = htole64(v);
	value_put_detail(&tail, DETAIL_ARGUMENT, 1);
	value_put_number(&tail, format, &v, size);
	return value_of_tail(&names);
}

static const char *string(const char *s, size_t n)
{
	static struct value_names names;

	tail.size = 0;
	value_put_detail(&tail, DETAIL_ARGUMENT, 1);
	value_put_bytes(&tail, VALUE_STRING, s, n);
	return value_of_tail(&names);
}

static void test_numbers(void)
{
	double d = -2.5;
	float f = 0.25f;
	uint64_t bits;
	uint32_t bits32;

	is_str(number('d', 100000, 8), "100000", "small numbers are decimal");
	is_str(number('d', 100001, 8), "0x186a1", "larger ones hexadecimal");
	is_str(number('d', (uint64_t)-5, 8), "-5", "a negative long");
	is_str(number('d', 0xfffffffb, 4), "-5", "a negative int");
	is_str(number('d', 0xfffffffb, 8), "-5", "a negative int in a wide register");
	is_str(number('d', 0xfffe0000, 4), "0xfffe0000", "an int that is no small negative number");
	is_str(number('d', (uint64_t)-100001, 8), "0xfffffffffffe795f", "a large negative long");
	is_str(number('d', 200, 1), "-56", "a byte");
	is_str(number('i', 200, 1), "-56", "signed");
	is_str(number('i', 1ull << 63, 8), "-9223372036854775808", "the lowest number");
	is_str(number('u', 200, 1), "200", "unsigned");
	is_str(number('u', 100001, 4), "0x186a1", "unsigned and large");
	is_str(number('x', 0, 4), "0", "zero has no prefix");
	is_str(number('x', 255, 2), "0xff", "hexadecimal");
	is_str(number('o', 8, 4), "010", "octal");
	is_str(number('o', 0, 4), "0", "octal zero");
	is_str(number('c', 'x', 1), "'x'", "a character");
	is_str(number('c', '\n', 1), "'\\n'", "a newline");
	is_str(number('c', 0, 1), "'\\0'", "a NUL");
	is_str(number('p', 0, 8), "0", "no pointer");
	is_str(number('p', 0xabc, 8), "0xabc", "a pointer");
	memcpy(&bits, &d, 8);
	is_str(number('f', bits, 8), "-2.500000", "a double");
	memcpy(&bits32, &f, 4);
	is_str(number('f', bits32, 4), "0.250000", "a float");
}

static void test_strings(void)
{
	is_str(string("a\"b\n\b", 5), "\"a\"b\\n\\b\"", "escapes, and quotes as they are");
	is_str(string("a\0b", 3), "\"a\"", "up to a NUL");
	is_str(string("\xff\xff\xff\xff", 4), "NULL", "no string");
	is_str(string("\xc3\xa9\n", 3), "\"\xc3\xa9\n\"", "UTF-8 stays as it is");
	is_str(string("", 0), "\"\"", "an empty string");
}

static const char *duration(uint64_t ns)
{
	static char text[DURATION_WIDTH + 1];

	duration_text(text, ns);
	return text;
}

static void test_durations(void)
{
	is_str(duration(0), "          ", "nothing");
	is_str(duration(1), "  0.001 us", "a nanosecond");
	is_str(duration(999999), "999.999 us", "nearly a millisecond");
	is_str(duration(1000000), "  1.000 ms", "a millisecond");
	is_str(duration(59999999999), " 59.999  s", "nearly a minute");
	is_str(duration(61000000000), "  1.001  m", "a minute and a second");
	is_str(duration(3599ull * 1000000000), " 59.059  m", "nearly an hour");
	is_str(duration(5400ull * 1000000000), "  1.030  h", "an hour and a half");
	is_str(duration(INT64_MAX), "999.999  h", "too long");
	is_str(duration((uint64_t)-1500), "  1.500 us", "a time that went backwards");
}

/* A stream of a source of unknown format. */
static void write_stream(const char *path)
{
	struct output o;
	struct writer w;
	struct error e;
	uint32_t source, clock, lane, enter, leave, instant, location, count;
	uint8_t fixed[12];
	struct field_entry fields[2] = {{.kind = FIELD_INT, .size = 4},
					{.kind = FIELD_HEX, .offset = 4, .size = 4, .count = 2}};
	uint64_t three = htole64(3);

	output_open(&o, path, OUTPUT_BINARY, &e);
	writer_init(&w, &o, 0);
	writer_begin(&w, 1);
	source = writer_source(&w, &(struct source_entry){.format = writer_text(&w, "other"),
							  .name = writer_text(&w, "x")});
	clock = writer_clock(&w, &(struct clock_entry){.name = writer_text(&w, "mono")});
	lane = writer_lane(&w, &(struct lane_entry){.source = source,
						    .clock = clock,
						    .comm = writer_text(&w, "cat"),
						    .flags = LANE_HAS_TID,
						    .tid = 7});
	enter = writer_type(&w, &(struct type_entry){.source = source,
						     .name = writer_text(&w, "enter"),
						     .kind = KIND_ENTER,
						     .flags = TYPE_TAIL | TYPE_VALUES});
	leave = writer_type(&w, &(struct type_entry){.source = source,
						     .name = writer_text(&w, "leave"),
						     .kind = KIND_LEAVE});
	fields[0].name = writer_text(&w, "n");
	fields[1].name = writer_text(&w, "mask");
	instant = writer_type(&w, &(struct type_entry){.source = source,
						       .name = writer_text(&w, "tick"),
						       .fixed_size = 12,
						       .nfields = 2,
						       .fields = fields});
	location = writer_location(&w, &(struct location_entry){.name = writer_text(&w, "f")});
	tail.size = 0;
	value_put_detail(&tail, DETAIL_ARGUMENT, 1);
	value_put_number(&tail, 'i', &three, 8);
	writer_row_data(&w, (struct new_row){.time = 1000000005,
					     .lane = lane,
					     .type = enter,
					     .location = location,
					     .tail = tail.data,
					     .tail_size = (uint32_t)tail.size,
					     .has_tail = true});
	for (count = 0; count < 3; count++)
		put_u32(fixed + 4 * count, count ? count * 16 : (uint32_t)-2);
	writer_row_data(&w, (struct new_row){.time = 1000000006,
					     .lane = lane,
					     .type = instant,
					     .fixed = fixed,
					     .fixed_size = 12});
	writer_row(&w, 1000000007, lane, leave, location, 0);
	writer_gap(&w, 1000000008, lane,
		   &(struct gap){.reason = GAP_LOST, .count = 9, .offset = NO_OFFSET});
	writer_finish(&w);
	writer_free(&w);
	output_close(&o, 0, &e);
}

/* A stream of CTF: an event with a value in two forms, the second of many parts, before a number.
 */
static void write_ctf(const char *path)
{
	struct output o;
	struct writer w;
	struct error e;
	uint32_t source, lane, names, type, location;
	struct member_entry members[2] = {{0}};

	output_open(&o, path, OUTPUT_BINARY, &e);
	writer_init(&w, &o, 0);
	writer_begin(&w, 1);
	source = writer_source(&w, &(struct source_entry){.format = writer_text(&w, "ctf"),
							  .name = writer_text(&w, "x")});
	lane = writer_lane(
		&w, &(struct lane_entry){
			    .source = source,
			    .clock = writer_clock(
				    &w, &(struct clock_entry){.name = writer_text(&w, "mono")})});
	members[0].name = writer_text(&w, "both");
	members[1].name = writer_text(&w, "n");
	names = writer_definition(&w, &(struct definition_entry){.kind = DEFINITION_STRUCT,
								 .nmembers = 2,
								 .members = members});
	type = writer_type(&w, &(struct type_entry){.source = source,
						    .name = writer_text(&w, "tick"),
						    .flags = TYPE_TAIL | TYPE_VALUES});
	location = writer_location(
		&w, &(struct location_entry){.name = writer_text(&w, "tick"), .arguments = names});
	tail.size = 0;
	value_put_detail(&tail, DETAIL_ARGUMENT, 1);
	buffer_u8(&tail, VALUE_REPR);
	value_put_bytes(&tail, VALUE_STRING, "shown", 5);
	value_put_array(&tail, 2);
	value_put_uint(&tail, VALUE_UINT, 1);
	value_put_uint(&tail, VALUE_UINT, 2);
	value_put_detail(&tail, DETAIL_ARGUMENT, 2);
	value_put_number(&tail, 'i', &(uint64_t){htole64(3)}, 8);
	writer_row_data(&w, (struct new_row){.time = 5,
					     .lane = lane,
					     .type = type,
					     .location = location,
					     .tail = tail.data,
					     .tail_size = (uint32_t)tail.size,
					     .has_tail = true});
	writer_finish(&w);
	writer_free(&w);
	output_close(&o, 0, &e);
}

static void print_stream(char *in, const char *to)
{
	struct encode_options options = {0};
	struct text *text = malloc(sizeof *text);
	struct calls calls;
	struct encoding en = {
		.encoder = &encoder_text, .options = &options, .text = text, .calls = &calls};
	struct reader r;
	struct output o;
	struct error e;
	struct block b;
	struct events it;
	struct event ev;

	output_open(&o, to, OUTPUT_TEXT, &e);
	text_init(text, &o);
	reader_open(&r, &in, 1);
	en.dictionary = &r.dictionary;
	calls_init(&calls, en.dictionary);
	encoder_text.begin(&en, &e);
	while (reader_next(&r, &b) > 0) {
		if (b.kind != BLOCK_EVENTS)
			continue;
		events_begin(&it, &b);
		while (event_next(&it, &ev)) {
			en.result = calls_next(&calls, &ev, &en.call);
			encoder_text.event(&en, &ev, &e);
		}
	}
	encoder_text.end(&en, &e);
	encoder_text.free(&en);
	calls_free(&calls);
	text_flush(text, &e);
	output_close(&o, 0, &e);
	reader_close(&r);
	free(text);
}

/* The text of what write gives. */
static const char *text_of(void (*write)(const char *path))
{
	char in[] = "/tmp/encode_text.XXXXXX", out[] = "/tmp/encode_text.XXXXXX";
	static char got[1024];
	size_t n = 0;
	FILE *f;

	close(mkstemp(in));
	close(mkstemp(out));
	write(in);
	print_stream(in, out);
	f = fopen(out, "r");
	if (f) {
		n = fread(got, 1, sizeof got - 1, f);
		fclose(f);
	}
	got[n] = 0;
	unlink(in);
	unlink(out);
	return got;
}

static void test_streams(void)
{
	is_str(text_of(write_stream),
	       "       1.000000005 7 cat f(3) {\n"
	       "       1.000000006 7 cat tick n=-2 mask={0x10,0x20}\n"
	       "       1.000000007 7 cat f }\n"
	       "       1.000000008 7 cat gap LOST 9 events\n",
	       "a line per event");
	is_str(text_of(write_ctf), "[0.000000005] tick: { both = \"shown\", n = 3 }\n",
	       "of a value in two forms the first, and the next value after both");
}

int main(void)
{
	test_numbers();
	test_strings();
	test_durations();
	test_streams();
	buffer_free(&tail);
	return done();
}
