/*
 * toy.c - the decoder of toy traces: "toy 1", then lines "TIME TID +NAME" and "TIME TID -NAME" for
 * calls, and "TIME TID =NAME NUMBER" for counters, in the order of their times (ns)
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "common/util/text_span.h"
#include "common/util/intern.h"

#define TOY_MAGIC "toy 1\n"

enum { TOY_MAGIC_SIZE = 6 };

struct toy {
	struct input *input;
	struct writer *w;
	struct input_lines lines;
	/* of the event: the sign of its kind, its name, and the number of a counter */
	uint64_t time, tid, number;
	char sign;
	struct text_span name;
	uint32_t source, clock, enter, leave, counter;
	struct id_cache lanes;	  /* writer_lane_once */
	struct key_map locations; /* ids by the id of the name */
};

static enum bid toy_probe(const struct input *in)
{
	return !in->tree && in->head_size >= TOY_MAGIC_SIZE &&
			       !memcmp(in->head, TOY_MAGIC, TOY_MAGIC_SIZE)
		       ? BID_HEADER
		       : BID_NONE;
}

/* Take an event from a line. */
static bool toy_parse(struct toy *t, struct text_span line)
{
	struct text_span time = span_take_word(&line), tid = span_take_word(&line),
			 name = span_take_word(&line), number = span_trim(line);
	bool minus = span_begins(number, "-");

	number.at += minus;
	if (span_digits(time.at, time.end, &t->time) != time.end || !span_size(time) ||
	    t->time >= TIME_LIMIT || span_digits(tid.at, tid.end, &t->tid) != tid.end ||
	    !span_size(tid) || t->tid > INT32_MAX || span_size(name) < 2)
		return false;
	t->sign = *name.at;
	t->name = (struct text_span){name.at + 1, name.end};
	if (span_digits(number.at, number.end, &t->number) != number.end)
		return false;
	t->number = minus ? -t->number : t->number;
	return t->sign == '=' || ((t->sign == '+' || t->sign == '-') && !span_size(number));
}

/* Set in->next to the time of the next line that is an event; report the others. */
static int toy_advance(struct toy *t, struct error *e)
{
	struct input *in = t->input;
	const char *text;
	size_t n;
	int got;

	in->next = UINT64_MAX;
	while ((got = input_lines_next(&t->lines, in, &text, &n, e)) > 0) {
		if (t->lines.whole && !t->lines.cut &&
		    toy_parse(t, (struct text_span){text, text + n})) {
			in->next = merge_shifted(t->time, in->shift);
			return 0;
		}
		input_damage(in, in->name, t->lines.offset, "not a toy event");
	}
	return got;
}

static int toy_open(struct input *in, struct error *e)
{
	struct toy *t = in->state = calloc(1, sizeof *t);

	if (!t)
		return error_no_memory(e);
	t->input = in;
	t->w = in->decoding->writer;
	in->clock_name = "toy";
	return 0;
}

static int toy_info(struct input *in, struct trace_info *f, struct error *e)
{
	(void)in, (void)e;
	fact_text(f, "format", "toy");
	return 0;
}

static int toy_begin(struct input *in, struct error *e)
{
	struct toy *t = in->state;
	struct writer *w = t->w;
	struct field_entry number = {
		.name = writer_text(w, "number"), .kind = FIELD_INT, .size = 8};
	struct type_entry type = {0};
	const char *magic;
	size_t n;

	if (input_lines_next(&t->lines, in, &magic, &n, e) < 0 || merge_choose_clock(in, e))
		return -1;
	t->source = type.source = writer_source(
		w, &(struct source_entry){writer_text(w, "toy"), writer_text(w, in->name), 0, 0});
	t->clock = input_declare_clock(in, false);
	type.kind = KIND_ENTER;
	t->enter = writer_type(w, &type);
	type.kind = KIND_LEAVE;
	t->leave = writer_type(w, &type);
	type = (struct type_entry){.source = t->source,
				   .kind = KIND_COUNTER,
				   .fixed_size = 8,
				   .nfields = 1,
				   .fields = &number};
	t->counter = writer_type(w, &type);
	if (toy_advance(t, e))
		return -1;
	return in->next == UINT64_MAX ? 0 : merge_first(in, t->time, e);
}

static int toy_row(struct toy *t)
{
	struct location_entry location = {
		.name = writer_string(t->w, t->name.at, span_size(t->name))};
	struct lane_entry lane = {t->source, t->clock, .flags = LANE_HAS_TID,
				  .tid = (int32_t)t->tid};
	struct new_row row = {.time = t->input->next, .fixed = &t->number};
	uint32_t *id = key_map_number(&t->locations, location.name);

	if (!id)
		return -1;
	row.type = t->sign == '+' ? t->enter : t->sign == '-' ? t->leave : t->counter;
	row.fixed_size = row.type == t->counter ? sizeof t->number : 0;
	/* each declaration is a new one, so the ids are kept */
	row.lane = writer_lane_once(t->w, &t->lanes, &lane);
	row.location = *id = *id ? *id : writer_location(t->w, &location);
	return writer_row_data(t->w, row);
}

static int toy_run(struct input *in, uint64_t until, struct error *e)
{
	struct toy *t = in->state;

	while (in->next <= until && in->next != UINT64_MAX) {
		if (toy_row(t)) {
			*e = t->w->error;
			return e->what[0] ? -1 : error_no_memory(e);
		}
		if (toy_advance(t, e))
			return -1;
	}
	return 0;
}

static void toy_close(struct input *in)
{
	struct toy *t = in->state;

	input_lines_free(&t->lines);
	id_cache_free(&t->lanes);
	key_map_free(&t->locations);
	free(t);
	in->state = NULL;
}

const struct decoder decoder_toy = {
	.name = "toy",
	.probe = toy_probe,
	.open = toy_open,
	.info = toy_info,
	.begin = toy_begin,
	.run = toy_run,
	.close = toy_close,
};
