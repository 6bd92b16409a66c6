/*
 * toy.c - the decoder of toy traces: "toy 1", then lines "TIME TID +NAME" and "TIME TID -NAME" for
 * calls, and "TIME TID =NAME NUMBER" for counters, in the order of their times (ns)
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "common/util/intern.h"

#define TOY_MAGIC "toy 1\n"

enum { TOY_MAGIC_SIZE = 6 };

struct toy {
	struct input *input;
	struct writer *w;
	struct input_lines lines;
	char line[4096], *name;
	uint64_t time;
	uint32_t tid, source, clock, enter, leave, counter;
	struct id_cache lanes, locations; /* ids by tid; by the id of the name */
};

static enum bid toy_probe(const struct input *in)
{
	return !in->tree && in->head_size >= TOY_MAGIC_SIZE &&
			       !memcmp(in->head, TOY_MAGIC, TOY_MAGIC_SIZE)
		       ? BID_HEADER
		       : BID_NONE;
}

/* Take the time, the thread and the name from a line of n bytes. */
static bool toy_parse(struct toy *t, const char *text, size_t n)
{
	char *at = t->line;

	if (!t->lines.whole || n >= sizeof t->line || memchr(text, '\0', n))
		return false;
	memcpy(t->line, text, n);
	t->line[n] = '\0';
	if (!isdigit((unsigned char)*at))
		return false;
	t->time = strtoull(at, &at, 10);
	if (t->time >= TIME_LIMIT || *at++ != ' ' || !isdigit((unsigned char)*at))
		return false;
	t->tid = (uint32_t)strtoul(at, &at, 10);
	t->name = at + 1;
	return t->tid <= INT32_MAX && *at == ' ' && t->name[0] && strchr("+-=", t->name[0]) &&
	       t->name[1];
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
		if (toy_parse(t, text, n)) {
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
	const char *text;
	size_t n;

	/* the first line is that of the probe */
	if (merge_choose_clock(in, e) || input_lines_next(&t->lines, in, &text, &n, e) < 0)
		return -1;
	t->source = type.source = writer_source(
		w, &(struct source_entry){writer_text(w, "toy"), writer_text(w, in->name), 0, 0});
	t->clock = writer_clock(w, &(struct clock_entry){.name = writer_text(w, "toy")});
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
	char *value = strchr(t->name, ' ');
	size_t n = value ? (size_t)(value - t->name) : strlen(t->name);
	int64_t number = value ? strtoll(value, NULL, 10) : 0;
	struct location_entry location = {.name = writer_string(t->w, t->name + 1, n - 1)};
	struct lane_entry lane = {t->source, t->clock, .flags = LANE_HAS_TID};
	struct new_row row = {.time = t->input->next, .fixed = &number};
	uint32_t *lane_id = id_cache_number(&t->lanes, &t->tid, sizeof t->tid);
	uint32_t *location_id =
		id_cache_number(&t->locations, &location.name, sizeof location.name);

	if (!lane_id || !location_id)
		return -1;
	lane.tid = (int32_t)t->tid;
	row.type = *t->name == '+' ? t->enter : *t->name == '-' ? t->leave : t->counter;
	row.fixed_size = row.type == t->counter ? sizeof number : 0;
	/* each declaration is a new one, so the ids are kept */
	row.lane = *lane_id = *lane_id ? *lane_id : writer_lane(t->w, &lane);
	row.location = *location_id =
		*location_id ? *location_id : writer_location(t->w, &location);
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
	id_cache_free(&t->locations);
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
