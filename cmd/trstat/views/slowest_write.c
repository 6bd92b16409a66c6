/*
 * slowest_write.c - the slowest calls as a list
 */
#include <stdlib.h>

#include "cmd/trstat/table/format.h"
#include "cmd/trstat/views/slowest.h"

static int compare_calls(const void *a, const void *b)
{
	const struct slow_call *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->lane->tid != y->lane->tid)
		return x->lane->tid < y->lane->tid ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void put(struct text *out, const char *s)
{
	format_elided(out, s, strlen(s), SIZE_MAX);
}

static void put_duration(struct text *out, uint64_t t, bool ticks)
{
	char value[VALUE_SIZE];

	if (ticks)
		u128_decimal(value, t);
	else
		format_duration(value, t);
	text_puts(out, value);
}

/* Write a line with the times and the thread, one with the call, one with its callers. */
static void put_people(const struct slow_call *c, bool ticks, struct text *out)
{
	char value[VALUE_SIZE];

	put_duration(out, c->total, ticks);
	text_puts(out, ", self ");
	put_duration(out, c->self, ticks);
	if (ticks)
		u128_decimal(value, c->start);
	else
		format_time(value, c->start);
	text_printf(out, ", at %s", value);
	if (c->lane->flags & LANE_HAS_TID)
		text_printf(out, ", thread %d", c->lane->tid);
	if (c->lane->comm.size) {
		text_char(out, ' ');
		format_elided(out, c->lane->comm.text, c->lane->comm.size, SIZE_MAX);
	}
	if (c->lane->flags & LANE_HAS_CPU)
		text_printf(out, ", cpu %d", c->lane->cpu);
	text_puts(out, c->unfinished ? ", not returned\n    " : "\n    ");
	put(out, c->name);
	text_char(out, '(');
	put(out, c->arguments);
	text_char(out, ')');
	if (*c->returned) {
		text_puts(out, " = ");
		put(out, c->returned);
	}
	text_char(out, '\n');
	if (*c->stack) {
		text_puts(out, "    in ");
		put(out, c->stack);
		text_char(out, '\n');
	}
}

static void put_text(struct cells *cells, const char *s)
{
	if (*s)
		cells_text(cells, s, strlen(s));
	else
		cells_none(cells);
}

static void put_id(struct cells *cells, const struct lane *l, uint32_t flag, int32_t id)
{
	char value[VALUE_SIZE];

	if (l->flags & flag)
		cells_number(cells, value, i128_decimal(value, id));
	else
		cells_none(cells);
}

static void put_cells(struct cells *cells, const struct slow_call *c)
{
	const struct lane *l = c->lane;

	cells_u64(cells, c->total);
	cells_u64(cells, c->self);
	cells_u64(cells, c->start);
	cells_u64(cells, c->end);
	put_id(cells, l, LANE_HAS_TID, l->tid);
	put_id(cells, l, LANE_HAS_PID, l->pid);
	if (l->comm.size)
		cells_text(cells, l->comm.text, l->comm.size);
	else
		cells_none(cells);
	put_id(cells, l, LANE_HAS_CPU, l->cpu);
	put_text(cells, c->name);
	put_text(cells, c->arguments);
	put_text(cells, c->returned);
	put_text(cells, c->stack);
}

int slowest_write(struct slowest *s, enum table_format format, struct text *out, struct error *e)
{
	static const char *const names[] = {"total", "self",	  "start",    "end",
					    "tid",   "pid",	  "comm",     "cpu",
					    "name",  "arguments", "returned", "stack"};
	struct cells cells;

	(void)e;
	if (s->count)
		qsort(s->call, s->count, sizeof(*s->call), compare_calls);
	if (format != TABLE_ALIGNED)
		cells_begin(&cells, out, format, names, sizeof(names) / sizeof(*names));
	for (size_t i = 0; i < s->count && !text_failed(out); i++) {
		if (format == TABLE_ALIGNED)
			put_people(&s->call[i], s->ticks, out);
		else
			put_cells(&cells, &s->call[i]);
	}
	if (format != TABLE_ALIGNED)
		cells_end(&cells);
	return 0;
}
