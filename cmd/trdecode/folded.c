/*
 * folded.c - the decoder of folded stacks: lines "frame;frame;frame WEIGHT", outermost frame first,
 * as the stackcollapse programs and `trencode -t folded` write them
 *
 * A line is a sample with that weight, which is negative in the difference of two profiles. The
 * text has no times: a sample has the number of its line.
 *
 * Source: the README and the programs of FlameGraph.
 */
#include <ctype.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "common/util/intern.h"
#include "common/util/text_span.h"
#include "common/util/u128.h"

struct folded {
	struct input_lines lines;
	uint64_t line;	    /* of the next sample */
	int128 weight;	    /* of 64 bits, with or without a sign */
	uint64_t fractions; /* samples whose weights have a fraction, which is left out */
	const char *text;
	size_t size; /* of its stack */
	uint32_t source, lane;
	uint32_t types[2];	   /* of weights without and with a sign; 0: not declared */
	struct id_cache locations; /* by name */
};

/* Take the weight off the end of a line: *n becomes the size of the stack. *fraction is set if the
 * weight has a fraction other than 0. */
static bool folded_parse(const char *text, size_t *n, int128 *weight, bool *fraction)
{
	size_t at = *n;

	while (at && isdigit((unsigned char)text[at - 1]))
		at--;
	/* flamegraph.pl takes decimals, too; they are left out */
	if (at && text[at - 1] == '.' && at < *n) {
		while (*n > at && text[*n - 1] == '0')
			--*n;
		*fraction = *n > at;
		*n = at - 1;
		return folded_parse(text, n, weight, fraction);
	}
	at -= at && text[at - 1] == '-';
	if (at < 2 || text[at - 1] != ' ' ||
	    !span_integer((struct text_span){text + at, text + *n}, weight))
		return false;
	*n = at - 1;
	return true;
}

static bool folded_is_text(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' && text[i] != '\t')
			return false;
	return true;
}

/* Accept lines that are stacks, of which one has several frames. With -f other lines may be among
 * them. */
static enum bid folded_probe(const struct input *in)
{
	const char *at = (const char *)in->head, *end, *line;
	bool forced = in->format && !strcmp(in->format, "folded"), several = false;

	if (in->tree || !in->head_size)
		return BID_NONE;
	end = at + in->head_size;
	for (unsigned lines = 0; at < end && lines < 100; at = line + 1, lines++) {
		size_t n;
		int128 weight;
		bool fraction;

		line = memchr(at, '\n', (size_t)(end - at));
		if (!line && !forced)
			break;
		line = line ? line : end;
		n = (size_t)(line - at);
		n -= n && at[n - 1] == '\r';
		if (!n)
			continue;
		if (forced && line == end && folded_is_text(at, n))
			several = true; /* a line that is longer than the head */
		else if (folded_parse(at, &n, &weight, &fraction) && folded_is_text(at, n))
			several |= forced || memchr(at, ';', n);
		else if (!forced)
			return BID_NONE;
	}
	return several ? BID_CHANCE : BID_NONE;
}

/* Go to the next line that is a sample; report the others. */
static int folded_advance(struct input *in, struct error *e)
{
	struct folded *f = in->state;
	int got;

	in->next = UINT64_MAX;
	while ((got = input_lines_next(&f->lines, in, &f->text, &f->size, e)) > 0) {
		bool fraction = false;

		f->line++;
		if (!f->size)
			continue;
		if (!f->lines.cut && folded_parse(f->text, &f->size, &f->weight, &fraction)) {
			f->fractions += fraction;
			in->next = merge_shifted(f->line, in->shift);
			return 0;
		}
		input_damage(in, in->name, f->lines.offset,
			     "a line that is not a stack with a weight");
	}
	return got;
}

static int folded_open(struct input *in, struct error *e)
{
	in->state = calloc(1, sizeof(struct folded));
	merge_count_rows(in, "lines");
	return in->state ? 0 : error_no_memory(e);
}

static int folded_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct folded *f = in->state;
	char text[I128_SIZE];
	uint64_t samples = 0;
	int128 weight = 0;

	fact_text(facts, "format", "folded");
	do {
		if (folded_advance(in, e))
			return -1;
		samples += in->next != UINT64_MAX;
		weight += in->next != UINT64_MAX ? f->weight : 0;
	} while (in->next != UINT64_MAX);
	fact_number(facts, "samples", samples);
	i128_decimal(text, weight);
	if (weight == saturated_u64(weight))
		fact_number(facts, "weight", (uint64_t)weight);
	else
		fact_text(facts, "weight", text);
	return 0;
}

/* Declare the type of samples of a weight; 0: out of memory, or the writer failed. */
static uint32_t folded_type(struct input *in, bool is_signed)
{
	struct folded *f = in->state;
	uint32_t *type = &f->types[is_signed];

	if (!*type)
		*type = sample_type_declare(
			in->decoding,
			(struct type_entry){.source = f->source,
					    .name = writer_text(in->decoding->writer, "samples")},
			"weight", is_signed);
	return *type;
}

static int decode_folded_begin(struct input *in, struct error *e)
{
	struct folded *f = in->state;
	struct writer *w = in->decoding->writer;
	struct lane_entry lane = {0};

	if (merge_choose_clock(in, e))
		return -1;
	f->source = lane.source =
		writer_source(w, &(struct source_entry){writer_text(w, "folded"),
							writer_text(w, in->name), 0, 0});
	lane.clock = input_declare_clock(in, false);
	f->lane = writer_lane(w, &lane);
	if (!folded_type(in, false) || folded_advance(in, e))
		return -1;
	return in->next == UINT64_MAX ? 0 : merge_first(in, f->line, e);
}

/* Declare the stack of the present line; 0: out of memory. */
static uint32_t folded_stack(struct folded *f, struct writer *w)
{
	const char *at = f->text, *end = at + f->size, *next;
	uint32_t stack = 0;

	for (; at <= end; at = next + 1) {
		uint32_t *location;

		next = memchr(at, ';', (size_t)(end - at));
		next = next ? next : end;
		location = id_cache_number(&f->locations, at, (size_t)(next - at));
		if (!location)
			return 0;
		if (!*location) {
			struct location_entry entry = {
				.name = next == at ? writer_text(w, "?")
						   : writer_string(w, at, (size_t)(next - at))};

			*location = writer_location(w, &entry);
		}
		stack = *location ? writer_stack(w, stack, *location) : 0;
		if (!stack)
			return 0;
	}
	return stack;
}

static int folded_run(struct input *in, uint64_t until, struct error *e)
{
	struct folded *f = in->state;
	struct writer *w = in->decoding->writer;
	uint8_t weight[8];

	while (in->next <= until && in->next != UINT64_MAX) {
		struct new_row row = {.time = in->next,
				      .lane = f->lane,
				      .type = folded_type(in, f->weight < 0),
				      .location = folded_stack(f, w),
				      .fixed = weight,
				      .fixed_size = sizeof weight};

		put_u64(weight, (uint64_t)f->weight);
		if (!row.type || !row.location || writer_sample(w, row))
			return -1;
		if (folded_advance(in, e))
			return -1;
	}
	return 0;
}

static void folded_close(struct input *in)
{
	struct folded *f = in->state;

	if (!f)
		return;
	if (!in->decoding->quiet)
		warn_count(in->name, f->fractions,
			   "{weight has a fraction, which is|weights have fractions, which are} "
			   "left out");
	input_lines_free(&f->lines);
	id_cache_free(&f->locations);
	free(f);
	in->state = NULL;
}

const struct decoder decoder_folded = {
	.name = "folded",
	.in_order = true,
	.probe = folded_probe,
	.open = folded_open,
	.info = folded_info,
	.begin = decode_folded_begin,
	.run = folded_run,
	.close = folded_close,
};
