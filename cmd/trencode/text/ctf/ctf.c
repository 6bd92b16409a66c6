/*
 * Text of CTF traces, as babeltrace2 prints it with --clock-gmt --clock-date --no-delta:
 *
 *     [2026-11-20 21:06:01.224725116] host name: { cpu_id = 0 }, { contexts }, { field = value }
 *
 * A type's declaration has the number of fields of each scope (trstream-sources(5)).
 */
#include "cmd/trencode/text/ctf/ctf.h"
#include "cmd/trencode/text/layout.h"
#include "common/util/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ENV "ctf.env"

enum { SECOND = 1000000000 };

struct text_ctf {
	struct text *out;
	struct dictionary *dictionary;
	struct text_ctf_line **lines; /* by type */
	size_t lines_size;
	struct text_ctf_lead *hosts; /* "host:procname:(pid) ", by source */
	size_t nhosts;
	uint64_t second; /* the second whose text is in date */
	char date[40];
	size_t date_size;
	struct buffer values, scratch;
	struct text_ctf_values print;
};

static int ctf_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_ctf *s = state;

	(void)e;
	s->out = en->text;
	s->dictionary = en->dictionary;
	s->second = UINT64_MAX;
	s->values.spills = true;
	s->print = (struct text_ctf_values){
		.out = &s->values, .plain = {.dictionary = s->dictionary, .scratch = &s->scratch}};
	return 0;
}

/* --- the trace --- */

/* Return the value of an environment entry, or NULL. */
static const char *ctf_env_value(const struct meta *m, const char *name, size_t *n)
{
	return lines_value((const char *)m->data, m->size, name, n);
}

static int ctf_meta(void *state, const struct source *source, const struct meta *m, struct error *e)
{
	struct text_ctf *s = state;
	struct buffer b = {0};
	const char *value;
	size_t n;

	if (!source || m->name_size != strlen(ENV) || memcmp(m->name, ENV, m->name_size))
		return 0;
	value = ctf_env_value(m, "hostname", &n);
	if (value && buffer_append(&b, value, n))
		goto failed;
	value = ctf_env_value(m, "procname", &n);
	if (value && (buffer_append(&b, ":", b.size > 0) || buffer_append(&b, value, n)))
		goto failed;
	value = ctf_env_value(m, "vpid", &n);
	if (value && (buffer_append(&b, ":", b.size > 0) ||
		      buffer_printf(&b, "(%.*s)", (int)(n < 20 ? n : 20), value)))
		goto failed;
	if (b.size && buffer_append(&b, " ", 1))
		goto failed;
	if (ARRAY_REACH(s->hosts, s->nhosts, source->number))
		goto failed;
	free(s->hosts[source->number].text);
	s->hosts[source->number] = (struct text_ctf_lead){(char *)b.data, b.size};
	return 0;
failed:
	buffer_free(&b);
	return error_no_memory(e);
}

static const struct text_ctf_line *ctf_line_of(struct text_ctf *s, const struct event *ev)
{
	uint32_t number = ev->type->number;

	if (ARRAY_REACH(s->lines, s->lines_size, number))
		return NULL;
	if (!s->lines[number])
		s->lines[number] = text_ctf_line_new(s->dictionary, ev);
	return s->lines[number];
}

/* --- printing --- */

static void ctf_print_time(struct text_ctf *s, const struct event *ev)
{
	const struct clock *clock = ev->lane->clock;
	uint64_t second = ev->time / SECOND;

	if (clock && clock->flags & CLOCK_TICKS)
		return;
	if (second != s->second) {
		time_t t = (time_t)second;
		struct tm tm;

		s->second = second;
		if (clock && clock->flags & CLOCK_IS_WALL && gmtime_r(&t, &tm))
			s->date_size =
				strftime(s->date, sizeof s->date, "[%Y-%m-%d %H:%M:%S.", &tm);
		else
			s->date_size =
				(size_t)snprintf(s->date, sizeof s->date, "[%" PRIu64 ".", second);
	}
	text_put(s->out, s->date, s->date_size);
	text_u64_wide(s->out, ev->time % SECOND, 9, '0');
	text_put(s->out, "] ", 2);
}

static void ctf_print_head(struct text_ctf *s, const struct event *ev)
{
	uint32_t source = ev->lane->source ? ev->lane->source->number : 0;

	ctf_print_time(s, ev);
	if (source < s->nhosts && s->hosts[source].size)
		text_masked(s->out, s->hosts[source].text, s->hosts[source].size);
}

static void ctf_print_gap(struct text_ctf *s, const struct event *ev)
{
	const char *unit;
	struct gap_row g;

	if (!gap_get(ev, &g))
		return;
	ctf_print_head(s, ev);
	text_char(s->out, '[');
	if (ev->lane->flags & LANE_HAS_CPU)
		text_printf(s->out, "CPU %" PRId32 ": ", ev->lane->cpu);
	if (g.count == UINT64_MAX)
		text_puts(s->out, "an unknown number of");
	else
		text_u64(s->out, g.count);
	unit = gap_unit_name(g.unit);
	text_printf(s->out, " %.*s ", (int)strlen(unit) - (g.count == 1), unit);
	text_puts(s->out, g.reason == GAP_LOST ? "lost]\n" : "missing]\n");
}

/* Append the fields of an event with the texts before them. */
static int ctf_append_fields(struct text_ctf *s, const struct text_ctf_line *l,
			     const struct event *ev)
{
	struct buffer *out = &s->values;
	struct values v;
	uint64_t index;
	uint8_t what;
	uint32_t i = 0;

	if (!(ev->type->flags & TYPE_VALUES)) {
		for (; i < l->nfields; i++)
			if (buffer_put(out, l->leads[i].text, l->leads[i].size) ||
			    text_ctf_field(&s->print, ev, &ev->type->fields[i]))
				return -1;
		return 0;
	}
	values_begin(&v, ev->tail, ev->tail_size);
	for (; i < l->nfields && values_what(&v, &what, &index); i++) {
		/* fields that a filter removed */
		for (; index && i + 1 < index && i + 1 < l->nfields; i++)
			if (buffer_put(out, l->leads[i].text, l->leads[i].size) ||
			    buffer_u8(out, '?'))
				return -1;
		if (buffer_put(out, l->leads[i].text, l->leads[i].size) ||
		    text_ctf_value(&s->print, &v))
			return -1;
	}
	return 0;
}

static int ctf_event(void *state, const struct event *ev, struct error *e)
{
	struct text_ctf *s = state;
	struct text *out = s->out;
	const struct text_ctf_line *l;

	if (ev->type->kind == KIND_GAP) {
		ctf_print_gap(s, ev);
		return 0;
	}
	l = ev->type->number < s->lines_size ? s->lines[ev->type->number] : NULL;
	if (!l)
		l = ctf_line_of(s, ev);
	if (!l)
		return error_no_memory(e);
	ctf_print_head(s, ev);
	text_masked(out, ev->type->name.text, ev->type->name.size);
	text_puts(out, ": ");
	if (l->cpu && ev->lane->flags & LANE_HAS_CPU) {
		text_puts(out, "{ cpu_id = ");
		text_i64(out, ev->lane->cpu);
		text_puts(out, " }, ");
	}
	buffer_clear(&s->values);
	if (ctf_append_fields(s, l, ev))
		return error_no_memory(e);
	text_masked_buffer(out, &s->values);
	text_put(out, l->leads[l->nfields].text, l->leads[l->nfields].size);
	return 0;
}

static void ctf_free_state(void *state)
{
	struct text_ctf *s = state;

	for (size_t i = 0; i < s->lines_size; i++)
		text_ctf_line_free(s->lines[i]);
	for (size_t i = 0; i < s->nhosts; i++)
		free(s->hosts[i].text);
	free(s->lines);
	free(s->hosts);
	buffer_free(&s->values);
	buffer_free(&s->scratch);
}

const struct text_layout text_ctf = {
	.format = "ctf",
	.state_size = sizeof(struct text_ctf),
	.begin = ctf_begin,
	.meta = ctf_meta,
	.event = ctf_event,
	.free = ctf_free_state,
};
