/*
 * pair_list.c - --pair with --slowest N or --unpaired: single pairs, or As without a B, each event
 * with its time, thread and fields
 */
#include "cmd/trstat/pair_list.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trstat/slowest.h"
#include "cmd/trstat/table.h"
#include "common/util/bytes.h"
#include "common/util/heap.h"
#include "common/value/aligned.h"

struct pair_edges *pair_edges_new(const struct columns_wanted *w, size_t on, size_t b_cells,
				  size_t a_cells)
{
	struct pair_edges *e = calloc(1, sizeof(*e));
	size_t size = sizeof(struct pair_edge) + (b_cells + 2 * a_cells) * sizeof(struct key_cell);

	if (!e)
		return NULL;
	e->wanted = *w;
	e->edge = w->size;
	e->wanted.size += (uint32_t)align_up(size, 16);
	e->on = on;
	e->b_cells = b_cells;
	e->a_cells = a_cells;
	groups_init(&e->map, on, &e->wanted);
	return e;
}

/* --- pair list --- */

#define CELLS "time,tid,pid,comm,cpu,name"

enum { CELL_TIME, CELL_TID, CELL_PID, CELL_COMM, CELL_CPU, CELL_NAME };

int pair_list_begin(struct pair_list *l, struct dictionary *d, struct groups *g)
{
	struct error e;

	l->dictionary = d;
	l->groups = g;
	return keys_parse(&l->keys, CELLS, &e);
}

static void instance_free(struct pair_instance *i)
{
	free(i->a.fields);
	free(i->b.fields);
}

void pair_list_free(struct pair_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		instance_free(&l->instance[i]);
	for (size_t i = 0; i < l->nwaiting; i++)
		free(l->waiting[i].fields);
	free(l->instance);
	free(l->waiting);
	keys_free(&l->keys);
	buffer_free(&l->scratch);
	*l = (struct pair_list){0};
}

/* Append the fields or arguments of an event. A call that allocates memory has its address and its
 * size. */
static int pair_list_put_fields(struct pair_list *l, const struct event *e)
{
	struct buffer *b = &l->scratch;
	const struct pair_call *call = l->pair->call.data;
	size_t at;

	if (call_arguments(b, l->dictionary, e, false))
		return -1;
	if (e->type->kind != KIND_LEAVE || !(e->type->flags & TYPE_VALUES))
		return 0;
	at = b->size;
	if (buffer_puts(b, at ? ", ret=" : "ret="))
		return -1;
	if (call_arguments(b, l->dictionary, e, true))
		return -1;
	if (b->size == at + (at ? 6 : 4))
		b->size = at;
	return call && pair_is_memory(l->pair) ? buffer_printf(b, ", bytes=%" PRIu64, call->bytes)
					       : 0;
}

static int describe(struct pair_list *l, const struct event *e, struct pair_event *to)
{
	struct event_ref s = event_ref_of(e);

	to->kind = e->type->kind;
	l->scratch.size = 0;
	if (keys_cells(&l->keys, l->dictionary, &l->groups->texts, &s, to->cell) ||
	    pair_list_put_fields(l, e) || buffer_u8(&l->scratch, 0))
		return -1;
	to->fields = strdup((const char *)l->scratch.data);
	return to->fields ? 0 : -1;
}

static int pair_list_put(void *ctx, size_t number, const struct event *a)
{
	struct pair_list *l = ctx;

	if (ARRAY_REACH(l->waiting, l->nwaiting, number))
		return -1;
	free(l->waiting[number].fields);
	l->waiting[number].fields = NULL;
	return describe(l, a, &l->waiting[number]);
}

/* Returns true if x precedes y in the list. */
static bool is_slower(const struct pair_instance *x, const struct pair_instance *y)
{
	return x->time != y->time ? x->time > y->time : x->number < y->number;
}

/* Add an instance, which belongs to the list or is freed. */
static int pair_list_add_instance(struct pair_list *l, struct pair_instance *i)
{
	if (l->limit && l->count == l->limit) {
		instance_free(&l->instance[0]);
		l->instance[0] = *i;
		HEAP_DOWN(l->instance, l->count, 0, a, b, is_slower(b, a));
		return 0;
	}
	if (ARRAY_GROW(l->instance, l->capacity, l->count)) {
		instance_free(i);
		return -1;
	}
	l->instance[l->count++] = *i;
	if (l->limit)
		HEAP_UP(l->instance, l->count - 1, a, b, is_slower(b, a));
	return 0;
}

static int pair_list_end(void *ctx, size_t number, const struct event *b, uint64_t time)
{
	struct pair_list *l = ctx;
	struct pair_instance i = {.time = time, .number = l->pairs++};

	if (!l->limit || (l->count == l->limit && !is_slower(&i, &l->instance[0])))
		return 0;
	i.a = l->waiting[number];
	l->waiting[number].fields = NULL;
	if (!describe(l, b, &i.b))
		return pair_list_add_instance(l, &i);
	instance_free(&i);
	return -1;
}

static int pair_list_left(void *ctx, size_t number)
{
	struct pair_list *l = ctx;
	struct pair_instance i = {.a = l->waiting[number]};

	if (l->limit)
		return 0;
	l->waiting[number].fields = NULL;
	return pair_list_add_instance(l, &i);
}

void pair_list_watch(struct pair_list *l, struct pair *p)
{
	l->pair = p;
	p->watch.ctx = l;
	p->watch.put = pair_list_put;
	p->watch.end = pair_list_end;
	p->watch.left = pair_list_left;
}

/* --- output --- */

static int pair_list_by_time(const void *x, const void *y)
{
	return is_slower(x, y) ? -1 : 1;
}

/* Append a cell, and before it a text, unless it is empty. */
static int pair_list_put_cell(struct buffer *b, const char *before, const struct groups *g,
			      const struct key_cell *cell)
{
	char value[VALUE_SIZE];
	const char *p = value;
	size_t n;

	if (cell->kind == KEY_MISSING)
		return 0;
	if (!groups_cell_text(g, cell, &p, &n))
		n = format_key(value, cell);
	return buffer_puts(b, before) || buffer_append(b, p, n);
}

/* Write a line: the time of the event, its name and fields, its thread. Of a call it is the enter
 * or the leave. Returns -1 when out of memory. */
static int pair_list_put_line(struct pair_list *l, const struct pair_event *e, const char *indent,
			      const struct table *t, struct text *out)
{
	struct buffer *b = &l->scratch;
	char value[VALUE_SIZE];
	const char *kind = e->kind == KIND_ENTER   ? "  enter "
			   : e->kind == KIND_LEAVE ? "  leave "
						   : "  ";
	size_t n = format_key_aligned(value, &l->keys, CELL_TIME, &e->cell[CELL_TIME], t->ticks);

	b->size = 0;
	if (buffer_puts(b, indent) || buffer_append(b, value, n) ||
	    pair_list_put_cell(b, kind, l->groups, &e->cell[CELL_NAME]) || buffer_puts(b, "(") ||
	    buffer_puts(b, e->fields) || buffer_puts(b, ")") ||
	    pair_list_put_cell(b, ", thread ", l->groups, &e->cell[CELL_TID]) ||
	    pair_list_put_cell(b, " ", l->groups, &e->cell[CELL_COMM]) ||
	    pair_list_put_cell(b, ", cpu ", l->groups, &e->cell[CELL_CPU]))
		return -1;
	aligned_line(t->screen, out, b);
	return 0;
}

static int pair_list_put_people(struct pair_list *l, const struct pair_instance *i,
				const struct table *t, struct text *out)
{
	char value[VALUE_SIZE];

	if (!l->limit)
		return pair_list_put_line(l, &i->a, "", t, out);
	format_duration(value, i->time, t->ticks);
	text_printf(out, "%s\n", value);
	return pair_list_put_line(l, &i->a, "    ", t, out) ||
			       pair_list_put_line(l, &i->b, "    ", t, out)
		       ? -1
		       : 0;
}

static void pair_list_put_cells(struct cells *cells, const struct groups *g,
				const struct pair_event *e)
{
	for (size_t i = 0; i < PAIR_LIST_CELLS; i++)
		cells_key(cells, g, &e->cell[i]);
	if (*e->fields)
		cells_text(cells, e->fields, strlen(e->fields));
	else
		cells_none(cells);
}

static void write_cells(const struct pair_list *l, size_t count, enum table_format format,
			struct text *out)
{
	static const char *const of_pair[] = {"dur",   "a.time", "a.tid",  "a.pid",  "a.comm",
					      "a.cpu", "a.name", "a.args", "b.time", "b.tid",
					      "b.pid", "b.comm", "b.cpu",  "b.name", "b.args"};
	static const char *const of_a[] = {"time", "tid", "pid", "comm", "cpu", "name", "args"};
	struct cells cells;

	cells_begin(&cells, out, format, l->limit ? of_pair : of_a,
		    PAIR_LIST_CELLS + 1 + (l->limit ? PAIR_LIST_CELLS + 2 : 0));
	for (size_t i = 0; i < count && !text_failed(out); i++) {
		const struct pair_instance *pair = &l->instance[i];

		if (l->limit)
			cells_u64(&cells, pair->time);
		pair_list_put_cells(&cells, l->groups, &pair->a);
		if (l->limit)
			pair_list_put_cells(&cells, l->groups, &pair->b);
	}
	cells_end(&cells);
}

int pair_list_write(struct pair_list *l, const struct table *t, enum table_format format,
		    struct text *out)
{
	size_t count = t->limit && t->limit < l->count ? t->limit : l->count;
	int bad = 0;

	if (l->limit && l->count)
		qsort(l->instance, l->count, sizeof(*l->instance), pair_list_by_time);
	if (format != TABLE_ALIGNED) {
		write_cells(l, count, format, out);
		return 0;
	}
	for (size_t i = 0; i < count && !bad && !text_failed(out); i++)
		bad = pair_list_put_people(l, &l->instance[i], t, out);
	table_put_more(out, t->more ? l->count - count : 0);
	return bad;
}
