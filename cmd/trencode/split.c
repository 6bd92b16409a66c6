#include "cmd/trencode/split.h"

#include "common/stream/field.h"
#include "common/value/units.h"

enum {
	SLICE = 64,  /* most rows between two tests of the size */
	MANY = 1000, /* open calls that a part continues, whatever its size */
};

int split_parse(struct split_limit *l, const char *text, struct error *e)
{
	size_t digits = strspn(text, "0123456789");
	int64_t ns;

	*l = (struct split_limit){0};
	if (!text[digits] && strspn(text, "0") < digits)
		return error_set(e, NULL, NO_OFFSET,
				 "--split takes a size or a time with a unit, such as %sM or %ss",
				 text, text);
	if (!parse_time_whole(text, &ns) && ns >= 0)
		l->time = (uint64_t)ns;
	else if (parse_size(text, &l->bytes))
		return error_set(e, NULL, NO_OFFSET,
				 "--split takes a size or a time, such as 64M or 10s, not '%s'",
				 text);
	if (!split_any(l))
		return error_set(e, NULL, NO_OFFSET,
				 "--split %s: a part cannot be empty: use a size or a time, such "
				 "as 64M or 10s",
				 text);
	return 0;
}

static int next_part(struct split *s, uint64_t time, bool same_stream, struct error *e)
{
	if (s->target.end(s->target.ctx, e))
		return -1;
	s->number++;
	s->latest = time;
	s->any = s->due = s->called = false;
	s->rows = s->count = s->continued = 0;
	s->slice = 1;
	return s->target.begin(s->target.ctx, same_stream, e);
}

int split_next(struct split *s, const struct split_cut *cut, struct error *e)
{
	return next_part(s, cut->time, true, e);
}

void split_divided(struct split *s, bool counts)
{
	s->called |= counts;
	s->continued++;
	s->divided += counts;
}

/* Get the source's own time of an event; its time if it has no other. */
static uint64_t source_time_of(const struct event *ev, bool *differs)
{
	const struct field *own = field_by_role(ev->type, ROLE_SOURCE_TIME);

	*differs = own && own->where == WHERE_FIXED && own->size == 8;
	return *differs ? get_u64(ev->fixed + own->offset) : ev->time;
}

/* Find the cut before an event: a time that is later than the part's. Returns 0 if there is none.
 */
static uint64_t cut_before(struct split *s, const struct event *ev, bool differs)
{
	uint64_t step = s->step, past;

	if (!s->limit.time)
		return s->due && ev->time > s->latest ? ev->time : 0;
	if (ev->time < s->ends)
		return 0;
	past = (ev->time - s->first) / step;
	s->ends = past < (UINT64_MAX - s->first) / step - 1 ? s->first + (past + 1) * step
							    : UINT64_MAX;
	/* a time between those of two events has no source's time */
	return differs || s->first + past * step <= s->latest ? ev->time : s->first + past * step;
}

bool split_cut(struct split *s, const struct event *ev, struct split_cut *cut)
{
	bool differs;

	cut->source_time = source_time_of(ev, &differs);
	cut->time = cut_before(s, ev, differs);
	if (!cut->time || (s->needs_calls && !s->called))
		return false;
	if (!differs)
		cut->source_time = cut->time;
	return true;
}

/* --- rows --- */

/* Test whether the part is large enough, and choose after how many rows to test again: when about
 * half of what is missing is written. */
static void limit_slice(struct split *s)
{
	uint64_t size = s->target.size(s->target.ctx), most = s->limit.bytes + s->empty, rows;

	if (size >= most) {
		/* else all parts together are larger than the trace without limit */
		s->due = s->continued <= MANY || s->count >= s->continued / 4;
		s->slice = SLICE;
		return;
	}
	rows = size > s->empty ? (most - size) / ((size - s->empty) / s->count + 1) / 2 : s->count;
	s->slice = rows < 1 ? 1 : rows > SLICE ? SLICE : (uint32_t)rows;
}

void split_showed(struct split *s, uint32_t rows, size_t bytes)
{
	s->rows += bytes;
	s->count += rows;
	if (s->limit.bytes)
		limit_slice(s);
}

int split_begin_time(struct split *s, const struct lane *lane, uint64_t time, struct error *e)
{
	bool ticks = lane->clock->flags & CLOCK_TICKS;

	s->begun = true;
	if (!s->limit.time)
		return 0;
	if (ticks && !s->tick)
		return error_set(e, lane->source ? lane->source->name.text : NULL, NO_OFFSET,
				 "the clock counts ticks: --split takes a size, or use --tick");
	s->step = ticks ? (s->limit.time + s->tick - 1) / s->tick : s->limit.time;
	s->first = time;
	s->ends = s->step < UINT64_MAX - time ? time + s->step : UINT64_MAX;
	return 0;
}

int split_stream(struct split *s, struct error *e)
{
	if (s->any && next_part(s, 0, false, e))
		return -1;
	s->begun = s->any_call = false;
	s->ends = UINT64_MAX;
	s->slice = 1;
	return 0;
}
