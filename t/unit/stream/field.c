/* field.h: fields wherever they stand, of every kind; gaps. */
#include "common/stream/field.h"

#include "t/unit/tap.h"

static const uint8_t fixed[16] = {0xff, 0xfe, 3, 4, 5, 6, 7, 8, 'a', 'b', 0, 'c', 0, 0, 0x80, 0x3f};
/* u32 loc (5 bytes at 12), u32 rel_loc (3 bytes, 4 after it), a number, text */
static const uint8_t tail[] = {12, 0, 5,   0,	4,   0,	  3,   0, 1,  2,
			       3,  4, 'h', 'e', 'l', 'l', 'o', 0, 'x'};

static struct type type = {.kind = KIND_INSTANT, .flags = TYPE_TAIL, .fixed_size = 16};
static struct event event = {.type = &type, .fixed = fixed, .tail = tail, .tail_size = sizeof tail};

static struct field_value get(struct field f, uint32_t index)
{
	struct field_value v;

	field_get(&event, &f, index, &v);
	return v;
}

#define FIELD(kind_, where_, offset_, size_, count_)                                               \
	((struct field){.kind = kind_,                                                             \
			.where = where_,                                                           \
			.offset = offset_,                                                         \
			.size = size_,                                                             \
			.count = count_})

static bool text_is(struct field f, const char *want, size_t n)
{
	struct field_value v = get(f, 0);

	return v.form == FORM_TEXT && v.size == n && !memcmp(v.text, want, n);
}

static void test_fixed(void)
{
	is_u64(get(FIELD(FIELD_UINT, 0, 0, 2, 0), 0).u, 0xfeff, "unsigned");
	ok(get(FIELD(FIELD_INT, 0, 0, 2, 0), 0).i == -257, "signed");
	ok(get(FIELD(FIELD_ENUM, 0, 0, 1, 0), 0).i == -1, "enum");
	static const struct definition numbers = {.kind = DEFINITION_ENUM,
						  .flags = DEFINITION_UNSIGNED};
	struct field f = FIELD(FIELD_ENUM, 0, 0, 1, 0);

	f.definition = &numbers;
	ok(get(f, 0).form == FORM_UINT && get(f, 0).u == 255, "enum of unsigned numbers");
	is_u64(get(FIELD(FIELD_HEX, 0, 0, 8, 0), 0).u, 0x080706050403feff, "hexadecimal");
	is_u64(get(FIELD(FIELD_UINT, 0, 2, 1, 4), 3).u, 6, "an element");
	ok(get(FIELD(FIELD_UINT, 0, 2, 1, 4), 4).form == FORM_NONE, "the one after the last");
	is_u64(field_count(&event, &FIELD(FIELD_UINT, 0, 2, 1, 4)), 4, "count");
	is_u64(field_count(&event, &FIELD(FIELD_UINT, 0, 2, 0, 1 << 20)), 0, "of no bytes");
	ok(get(FIELD(FIELD_FLOAT, 0, 12, 4, 0), 0).real == 1, "float");
	ok(text_is(FIELD(FIELD_CHAR, 0, 8, 1, 4), "ab", 2), "characters up to a NUL");
	ok(text_is(FIELD(FIELD_BYTES, 0, 8, 1, 4), "ab\0c", 4), "bytes with NULs");
	is_u64(get(FIELD(FIELD_CHAR, 0, 8, 1, 0), 0).u, 'a', "one character");
	ok(get(FIELD(FIELD_UINT, 0, 15, 2, 0), 0).form == FORM_NONE, "beyond the fixed part");
	ok(get(FIELD(FIELD_UINT, 0, 0, 3, 0), 0).form == FORM_NONE, "of an odd size");
	ok(get(FIELD(FIELD_UINT, 0, UINT32_MAX, UINT32_MAX, UINT32_MAX), 0).form == FORM_NONE,
	   "of impossible numbers");
	ok(get(FIELD(77, 0, 0, 4, 0), 0).form == FORM_NONE, "of an unknown kind");
}

static void test_tail(void)
{
	is_u64(get(FIELD(FIELD_UINT, WHERE_TAIL, 8, 4, 0), 0).u, 0x04030201, "in the tail");
	ok(text_is(FIELD(FIELD_STRING, WHERE_DATA_LOC, 0, 1, 0), "hello", 5), "data_loc");
	is_u64(get(FIELD(FIELD_UINT, WHERE_REL_LOC, 4, 1, 0), 0).u, 'h', "rel_loc");
	is_u64(field_count(&event, &FIELD(FIELD_UINT, WHERE_REL_LOC, 4, 1, 0)), 3, "its elements");
	is_u64(field_count(&event, &FIELD(FIELD_UINT, WHERE_TAIL, 0, 8, 1 << 20)), 0,
	       "of an array that is not in the row");
	ok(text_is(FIELD(FIELD_STRING, WHERE_REST, 12, 1, 0), "hello", 5), "the rest, to a NUL");
	ok(text_is(FIELD(FIELD_BYTES, WHERE_REST, 12, 1, 0), "hello\0x", 7), "all the rest");
	ok(text_is(FIELD(FIELD_BYTES, WHERE_REST, sizeof tail, 1, 0), "", 0), "nothing left");
	ok(get(FIELD(FIELD_BYTES, WHERE_REST, sizeof tail + 1, 1, 0), 0).form == FORM_NONE,
	   "less than nothing");
	ok(get(FIELD(FIELD_UINT, WHERE_TAIL, sizeof tail - 3, 4, 0), 0).form == FORM_NONE,
	   "beyond the tail");
	ok(get(FIELD(FIELD_STRING, WHERE_DATA_LOC, 8, 1, 0), 0).form == FORM_NONE,
	   "data_loc beyond the tail");
	ok(get(FIELD(FIELD_STRING, WHERE_DATA_LOC, sizeof tail - 2, 1, 0), 0).form == FORM_NONE,
	   "data_loc cut");
	ok(get(FIELD(FIELD_UINT, 9, 0, 4, 0), 0).form == FORM_NONE, "at an unknown place");
	type.flags |= TYPE_BIG_ENDIAN;
	is_u64(get(FIELD(FIELD_UINT, WHERE_TAIL, 8, 4, 0), 0).u, 0x01020304, "big-endian");
	is_u64(get(FIELD(FIELD_UINT, WHERE_FIXED, 0, 2, 0), 0).u, 0xfeff, "but not the fixed part");
	type.flags = 0;
	event.tail = NULL;
	event.tail_size = 0;
	ok(get(FIELD(FIELD_BYTES, WHERE_REST, 0, 1, 0), 0).form == FORM_NONE, "no tail");
}

/* Consecutive texts, each with a NUL, named by their number. */
static void test_strings(void)
{
	static const uint8_t texts[] = "one\0\0three\0cut";
	const struct field first = FIELD(FIELD_STRING, WHERE_STRING, 0, 1, 0),
			   empty = FIELD(FIELD_STRING, WHERE_STRING, 1, 1, 0),
			   third = FIELD(FIELD_STRING, WHERE_STRING, 2, 1, 0),
			   last = FIELD(FIELD_STRING, WHERE_STRING, 3, 1, 0),
			   beyond = FIELD(FIELD_STRING, WHERE_STRING, 4, 1, 0);

	event.tail = texts;
	event.tail_size = sizeof texts - 1;
	ok(text_is(first, "one", 3), "the first text");
	ok(text_is(empty, "", 0), "an empty one");
	ok(text_is(third, "three", 5), "the one after it");
	ok(get(last, 0).form == FORM_NONE, "one that lacks its NUL is none");
	ok(get(beyond, 0).form == FORM_NONE, "there are no more");
	event.tail_size = 4;
	ok(get(empty, 0).form == FORM_NONE, "nothing after the last NUL");
	event.tail_size = 0;
	ok(get(first, 0).form == FORM_NONE, "an empty tail has no text");
	event.tail = NULL;
}

static bool is_element(const struct field *f, const char *name, uint32_t index)
{
	struct field_part part = field_part(f, name);

	return part.element && part.index == index;
}

static bool is_part(const struct field *f, const char *name)
{
	struct field_part part = field_part(f, name);

	return part.element || part.name || part.index;
}

static void test_find(void)
{
	struct field fields[] = {
		{.name = {"one", 3, 1}, .role = ROLE_CPU},
		{.name = {"two", 3, 2}, .role = ROLE_MESSAGE},
	};
	type.fields = fields;
	type.nfields = 2;
	ok(field_find(&type, "two") == &fields[1] && !field_find(&type, "three"), "by name");
	ok(is_element(&fields[1], "two[7]", 7) && is_element(&fields[1], "two.7", 7),
	   "an element by name");
	ok(field_part(&fields[1], "two.name").name, "the name of its number");
	ok(!is_part(&fields[1], "two") && !is_part(&fields[1], "two.names") &&
		   !is_part(&fields[1], "two.7x") && !is_part(&fields[1], "two."),
	   "the field itself");
	/* "[7]" is after the end of the name, where that of an element would be */
	ok(!is_part(&fields[1], "ab\0[7]"), "a shorter name");
	ok(!is_part(&fields[1], "abc[7]"), "another name");
	ok(field_by_role(&type, ROLE_CPU) == &fields[0] && !field_by_role(&type, ROLE_TID),
	   "by role");
	type.fields = NULL;
	type.nfields = 0;
}

static void test_gap(void)
{
	struct type t = {.kind = KIND_GAP, .flags = TYPE_TAIL, .fixed_size = 24};
	uint8_t f[24] = {7, 0, 0, 0, 0, 0,	    0, 0, 9, 0,	       0,
			 0, 0, 0, 0, 0, GAP_DAMAGE, 0, 0, 0, GAP_BYTES};
	const uint8_t text[] = "\5\0\0\0a.datit is bad", ended[] = "\6\0\0\0a.dat\0it is bad";
	const struct field file = {
		.kind = FIELD_STRING, .where = WHERE_REST, .offset = 4, .size = 1};
	struct event e = {.type = &t, .fixed = f, .tail = text};
	struct field_value v;
	struct gap_row g;

	e.tail = ended;
	e.tail_size = sizeof ended - 1;
	field_get(&e, &file, 0, &v);
	ok(v.form == FORM_TEXT && v.size == 5 && !memcmp(v.text, "a.dat", 5),
	   "the field of a gap's file ends before the message");
	ok(gap_get(&e, &g) && g.file_size == 5 && g.message_size == 9,
	   "and a NUL is no part of it");
	e.tail = text;
	e.tail_size = sizeof text - 1;
	ok(gap_get(&e, &g) && g.count == 7 && g.offset == 9 && g.reason == GAP_DAMAGE &&
		   g.unit == GAP_BYTES,
	   "a gap's numbers");
	ok(g.file_size == 5 && !memcmp(g.file, "a.dat", 5), "its file");
	ok(g.message_size == 9 && !memcmp(g.message, "it is bad", 9), "and message");
	e.tail_size = 7;
	ok(gap_get(&e, &g) && g.count == 7 && !g.file_size && !g.message_size,
	   "a file's name beyond the tail: the numbers alone");
	e.tail_size = 3;
	ok(gap_get(&e, &g) && g.count == 7 && !g.file_size && !g.message_size,
	   "a tail too short: the numbers alone");
	t.fixed_size = 20;
	e.tail_size = 8;
	ok(!gap_get(&e, &g), "a fixed part too short");
	t.fixed_size = 24;
	t.kind = KIND_INSTANT;
	ok(!gap_get(&e, &g), "no gap");
}

int main(void)
{
	test_fixed();
	test_tail();
	test_strings();
	test_find();
	test_gap();
	return done();
}
