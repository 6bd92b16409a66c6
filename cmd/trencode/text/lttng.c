/*
 * lttng.c - text of legacy LTTng traces: a line per event,
 *
 *     <sec>.<nsec> <tracefile>_<cpu> <channel>.<event> { field = value, ... }
 *
 * 1.0 has no channel in front of the event. Numbers are printed by the C conversion of the marker,
 * after the literal text in front of the conversion. Gaps are reported on standard error.
 */
#include "cmd/trencode/text/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/stream/field.h"

enum { SECOND = 1000000000, GAPS_SHOWN = 10 };

/* One field of a line. */
struct lttng_column {
	struct buffer name; /* ", name = literal" */
	uint32_t offset;
	uint8_t size; /* 0: the next text of the tail */
	enum { DECIMAL, SIGNED, HEX, UPPER, OCTAL, STRING } form;
};

/* The constant texts of the lines of one type. */
struct lttng_line {
	struct buffer head; /* " channel.event", and " { " where fields follow */
	struct lttng_column *columns;
	size_t ncolumns;
};

struct text_lttng {
	struct text *out;
	bool quiet;
	struct lttng_line **lines; /* by type */
	size_t lines_size;
	struct buffer *lanes; /* " buffer_cpu", by lane */
	size_t lanes_size;
	uint64_t second; /* the second whose text is in digits */
	char digits[24];
	size_t ndigits;
	uint64_t gaps;
};

static int text_lttng_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_lttng *s = state;

	(void)e;
	s->out = en->text;
	s->quiet = en->options->flags & ENCODE_QUIET;
	s->second = UINT64_MAX;
	return 0;
}

/* --- the texts of a type --- */

static int column_make(struct lttng_column *c, const struct field *f, bool first)
{
	const struct text_ref *t = &f->type_name;
	const char *percent = memchr(t->text, '%', t->size);
	size_t literal = percent ? (size_t)(percent - t->text) : 0;
	struct buffer *name = &c->name;
	char conversion = percent && t->size > literal + 1 ? percent[1] : 'u';

	*c = (struct lttng_column){.offset = f->offset, .size = (uint8_t)f->size};
	switch (f->kind) {
	case FIELD_INT: c->form = SIGNED; break;
	case FIELD_STRING:
		c->form = STRING;
		c->size = 0;
		break;
	case FIELD_HEX: c->form = conversion == 'X' ? UPPER : HEX; break;
	default: c->form = conversion == 'o' ? OCTAL : DECIMAL;
	}
	return (!first && buffer_append(name, ", ", 2)) ||
			       buffer_append(name, f->name.text, f->name.size) ||
			       buffer_append(name, " = ", 3) ||
			       buffer_append(name, t->text, literal) ||
			       buffer_append(name, "0x",
					     conversion == 'p' && c->form != STRING ? 2 : 0) ||
			       buffer_append(name, "\"", c->form == STRING)
		       ? -1
		       : 0;
}

static void free_line(struct lttng_line *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->ncolumns; i++)
		buffer_free(&l->columns[i].name);
	free(l->columns);
	buffer_free(&l->head);
	free(l);
}

static struct lttng_line *make_line(const struct type *t)
{
	struct lttng_line *l = calloc(1, sizeof *l);

	if (!l)
		return NULL;
	l->columns = calloc(t->nfields + 1, sizeof *l->columns);
	if (!l->columns)
		goto failed;
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];

		if (f->role == ROLE_SOURCE_TIME)
			continue;
		if (f->kind == FIELD_STRING ? f->where != WHERE_REST && f->where != WHERE_STRING
					    : f->where != WHERE_FIXED)
			continue;
		l->ncolumns++;
		if (column_make(&l->columns[l->ncolumns - 1], f, l->ncolumns == 1))
			goto failed;
	}
	if (!buffer_append(&l->head, " ", 1) &&
	    !(t->group.size && (buffer_append(&l->head, t->group.text, t->group.size) ||
				buffer_append(&l->head, ".", 1))) &&
	    !buffer_append(&l->head, t->name.text, t->name.size) &&
	    !(l->ncolumns && buffer_append(&l->head, " { ", 3)))
		return l;
failed:
	free_line(l);
	return NULL;
}

static const struct lttng_line *lttng_line_of(struct text_lttng *s, const struct type *t)
{
	if (ARRAY_REACH(s->lines, s->lines_size, t->number))
		return NULL;
	if (!s->lines[t->number])
		s->lines[t->number] = make_line(t);
	return s->lines[t->number];
}

static const struct buffer *lane_name_make(struct text_lttng *s, const struct lane *lane)
{
	struct buffer *name;

	if (ARRAY_REACH(s->lanes, s->lanes_size, lane->number))
		return NULL;
	name = &s->lanes[lane->number];
	return buffer_append(name, " ", 1) ||
			       buffer_append(name, lane->buffer.text, lane->buffer.size) ||
			       (lane->flags & LANE_HAS_CPU &&
				buffer_printf(name, "_%" PRId32, lane->cpu))
		       ? NULL
		       : name;
}

/* --- printing --- */

static void lttng_print_time(struct text_lttng *s, uint64_t time)
{
	uint64_t second = time / SECOND;

	if (second != s->second) {
		s->second = second;
		s->ndigits = (size_t)snprintf(s->digits, sizeof s->digits, "%" PRIu64 ".", second);
	}
	text_put(s->out, s->digits, s->ndigits);
	text_u64_wide(s->out, time % SECOND, 9, '0');
}

static void lttng_print_column(struct text *out, const struct lttng_column *c,
			       const struct event *ev, const uint8_t **tail)
{
	const uint8_t *end = *tail ? ev->tail + ev->tail_size : NULL, *nul;
	uint64_t v;

	text_put(out, (const char *)c->name.data, c->name.size);
	if (c->form == STRING) {
		nul = *tail < end ? memchr(*tail, 0, (size_t)(end - *tail)) : NULL;
		if (*tail < end)
			text_masked(out, (const char *)*tail, (size_t)((nul ? nul : end) - *tail));
		*tail = nul ? nul + 1 : end;
		text_char(out, '"');
		return;
	}
	v = get_uint(ev->fixed + c->offset, c->size, false);
	switch (c->form) {
	case SIGNED: text_i64(out, sign_extend(v, c->size)); break;
	case HEX: text_hex(out, v, 1); break;
	case UPPER: text_printf(out, "%" PRIX64, v); break;
	case OCTAL: text_printf(out, "%" PRIo64, v); break;
	default: text_u64(out, v);
	}
}

/* Warn of a gap. The listing has no line for it: its readers take each line for an event. */
static void lttng_warn_gap(struct text_lttng *s, const struct event *ev)
{
	struct gap_row g;
	char count[48] = "an unknown number of";

	if (s->quiet || s->gaps++ >= GAPS_SHOWN || !gap_get(ev, &g))
		return;
	if (g.count != UINT64_MAX)
		snprintf(count, sizeof count, "%" PRIu64, g.count);
	remark(NULL, "at %" PRIu64 ".%09" PRIu64 ": %s %s missing: %s%.*s", ev->time / SECOND,
	       ev->time % SECOND, count, gap_unit_name(g.unit),
	       g.reason == GAP_LOST ? "lost by the recorder" : "",
	       (int)(g.message_size < 200 ? g.message_size : 200), g.message);
}

static int text_lttng_event(void *state, const struct event *ev, struct error *e)
{
	struct text_lttng *s = state;
	struct text *out = s->out;
	const uint8_t *tail = ev->tail;
	uint32_t type = ev->type->number, number = ev->lane->number;
	const struct lttng_line *l = type < s->lines_size ? s->lines[type] : NULL;
	const struct buffer *name = number < s->lanes_size ? &s->lanes[number] : NULL;

	if (ev->type->kind == KIND_GAP) {
		lttng_warn_gap(s, ev);
		return 0;
	}
	if (!l)
		l = lttng_line_of(s, ev->type);
	if (!name || !name->size)
		name = lane_name_make(s, ev->lane);
	if (!l || !name)
		return error_no_memory(e);
	lttng_print_time(s, ev->time);
	text_put(out, (const char *)name->data, name->size);
	text_put(out, (const char *)l->head.data, l->head.size);
	for (size_t i = 0; i < l->ncolumns; i++)
		lttng_print_column(out, &l->columns[i], ev, &tail);
	if (l->ncolumns)
		text_put(out, " }\n", 3);
	else
		text_char(out, '\n');
	return 0;
}

static int text_lttng_end(void *state, struct error *e)
{
	struct text_lttng *s = state;

	(void)e;
	if (s->gaps > GAPS_SHOWN)
		remark_count(s->gaps - GAPS_SHOWN, "more {gap|gaps}");
	return 0;
}

static void lttng_free_state(void *state)
{
	struct text_lttng *s = state;

	for (size_t i = 0; i < s->lines_size; i++)
		free_line(s->lines[i]);
	for (size_t i = 0; i < s->lanes_size; i++)
		buffer_free(&s->lanes[i]);
	free(s->lines);
	free(s->lanes);
}

const struct text_layout text_lttng = {
	.format = "lttng",
	.state_size = sizeof(struct text_lttng),
	.begin = text_lttng_begin,
	.event = text_lttng_event,
	.end = text_lttng_end,
	.free = lttng_free_state,
};
