/*
 * slowest_write.c - the slowest calls as a list
 */
#include <stdlib.h>

#include "cmd/trstat/table/format.h"
#include "cmd/trstat/views/slowest.h"

static void slowest_put(struct text *out, const char *s)
{
	format_elided(out, s, strlen(s), SIZE_MAX);
}

static void put_duration(struct text *out, uint64_t t, bool ticks)
{
	char value[VALUE_SIZE];

	text_put(out, value, format_duration(value, t, ticks));
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
	if (c->has & SLOW_TID)
		text_printf(out, ", thread %d", c->tid);
	if (*c->comm) {
		text_char(out, ' ');
		slowest_put(out, c->comm);
	}
	if (c->has & SLOW_CPU)
		text_printf(out, ", cpu %d", c->cpu);
	text_puts(out, c->has & SLOW_UNFINISHED ? ", not returned\n    " : "\n    ");
	slowest_put(out, c->name);
	text_char(out, '(');
	slowest_put(out, c->arguments);
	text_char(out, ')');
	if (*c->returned) {
		text_puts(out, " = ");
		slowest_put(out, c->returned);
	}
	text_char(out, '\n');
	if (*c->stack) {
		text_puts(out, "    in ");
		slowest_put(out, c->stack);
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

static void put_cells(struct cells *cells, const struct slow_call *c)
{
	cells_u64(cells, c->total);
	cells_u64(cells, c->self);
	cells_u64(cells, c->start);
	cells_u64(cells, c->end);
	cells_integer(cells, c->has & SLOW_TID, c->tid);
	cells_integer(cells, c->has & SLOW_PID, c->pid);
	put_text(cells, c->comm);
	cells_integer(cells, c->has & SLOW_CPU, c->cpu);
	put_text(cells, c->name);
	put_text(cells, c->arguments);
	put_text(cells, c->returned);
	put_text(cells, c->stack);
}

int slowest_write(struct slow_list *l, bool ticks, enum table_format format, struct text *out,
		  struct error *e)
{
	static const char *const names[] = {"dur",  "self", "time", "end",  "tid", "pid",
					    "comm", "cpu",  "name", "args", "ret", "stack"};
	struct cells cells;

	(void)e;
	if (l->count)
		qsort(l->call, l->count, sizeof(*l->call), slow_call_compare);
	if (format != TABLE_ALIGNED)
		cells_begin(&cells, out, format, names, sizeof(names) / sizeof(*names));
	for (size_t i = 0; i < l->count && !text_failed(out); i++) {
		if (format == TABLE_ALIGNED)
			put_people(&l->call[i], ticks, out);
		else
			put_cells(&cells, &l->call[i]);
	}
	if (format != TABLE_ALIGNED)
		cells_end(&cells);
	return 0;
}
