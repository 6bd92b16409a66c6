/*
 * raw.c - events of trace-cmd as `trace-cmd report -R` prints them: recorded fields; with --ns as
 * `report -R -t`
 *
 * Small signed numbers are printed with their sign; libtraceevent prints them as unsigned.
 */
#include "cmd/trencode/text/layout.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/stream/field.h"
#include "cmd/trencode/text/kernel.h"
#include "cmd/trencode/text/time_format.h"
#include "cmd/trencode/text/tracecmd/plan.h"

enum { FILE_TEXT_LIMIT = 65536 };

/* A source, with the META blocks of its trace.dat. */
struct raw_recording {
	uint32_t source; /* number */
	struct text_kernel *kernel;
	struct print_kernel names; /* of the kernel, once began */
	struct buffer file, buffers;
	bool began;   /* the first line was printed */
	bool many;    /* it has several buffers */
	bool seconds; /* times are seconds */
	unsigned name_width;
};

struct text_raw {
	struct text *out;
	const struct dictionary *dictionary;
	bool ns, differences, plugins;
	bool last_field; /* the current field ends the line */
	struct time_difference difference;
	struct raw_recording *recordings;
	size_t nrecordings, capacity;
	struct raw_recording *last;
	struct plan **plans; /* by the number of the type */
	size_t nplans;
};

static int raw_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_raw *s = state;

	(void)e;
	s->out = en->text;
	s->dictionary = en->dictionary;
	s->ns = en->options->ns;
	s->differences = en->options->ts_diff;
	s->plugins = !en->options->no_plugins;
	return 0;
}

static struct raw_recording *recording_of(struct text_raw *s, uint32_t source)
{
	struct raw_recording *r;

	if (s->last && s->last->source == source)
		return s->last;
	for (size_t i = 0; i < s->nrecordings; i++)
		if (s->recordings[i].source == source)
			return s->last = &s->recordings[i];
	r = array_grow(s->recordings, &s->capacity, s->nrecordings, sizeof *r);
	if (!r)
		return NULL;
	s->recordings = r;
	r += s->nrecordings++;
	*r = (struct raw_recording){.source = source, .kernel = text_kernel_new()};
	return r->kernel ? s->last = r : NULL;
}

static bool is_meta(const struct meta *m, const char *name)
{
	return m->name_size == strlen(name) && !memcmp(m->name, name, m->name_size);
}

static int append_file(struct buffer *b, const struct meta *m)
{
	if (m->offset != b->size || m->size > FILE_TEXT_LIMIT - b->size)
		return 0;
	return buffer_append(b, m->data, m->size);
}

static int raw_meta(void *state, const struct source *source, const struct meta *m, struct error *e)
{
	struct text_raw *s = state;
	struct raw_recording *r = recording_of(s, source->number);
	int result = 0;

	if (r && is_meta(m, "file"))
		result = append_file(&r->file, m);
	else if (r && is_meta(m, "buffers"))
		result = append_file(&r->buffers, m);
	else if (r)
		result = text_kernel_meta(r->kernel, m);
	return r && !result ? 0 : error_no_memory(e);
}

/* Print the line before the first event; find the width of the names of instances. */
static void raw_begin_recording(struct text_raw *s, struct raw_recording *r,
				const struct clock *clock)
{
	const char *p = r->file.size ? (char *)r->file.data : "", *end = p + r->file.size,
		   *cpus = NULL;
	unsigned width = 0;

	r->began = true;
	r->seconds = !clock || clock_in_seconds(clock->name.text);
	cpus = memmem(p, (size_t)(end - p), "\ncpus ", 6);
	if (cpus) {
		text_puts(s->out, "cpus=");
		for (cpus += 6; cpus < end && isdigit((unsigned char)*cpus); cpus++)
			text_char(s->out, *cpus);
		text_char(s->out, '\n');
	}
	for (size_t i = 0; i < r->buffers.size; i++) {
		uint8_t c = r->buffers.data[i];

		if (c == '\t' && width != UINT32_MAX) {
			if (width > r->name_width)
				r->name_width = width;
			r->many = r->many || width;
			width = UINT32_MAX;
		} else if (c == '\n') {
			width = 0;
		} else if (width != UINT32_MAX) {
			width++;
		}
	}
}

static struct plan *plan_of(struct text_raw *s, const struct type *t)
{
	struct plan **plans = array_reach(s->plans, &s->nplans, t->number, sizeof(struct plan *));

	if (!plans)
		return NULL;
	s->plans = plans;
	if (!s->plans[t->number])
		s->plans[t->number] = plan_make(t, s->plugins);
	return s->plans[t->number];
}

/* --- values --- */

static uint64_t raw_number(const struct event *ev, const struct plan_field *f)
{
	struct field_value v;

	/* a field with neither size nor brackets is not an array for trace-cmd, and its number is 0
	 */
	if (f->field->where == WHERE_REST)
		return 0;
	field_get(ev, f->field, 0, &v);
	if (v.form == FORM_INT)
		return (uint64_t)v.i;
	if (v.form == FORM_UINT)
		return v.u;
	/* one character, or a structure: the number that its bytes are */
	if (v.form == FORM_TEXT && v.size && v.size <= 8)
		return get_uint(v.text, (unsigned)v.size, ev->type->flags & TYPE_BIG_ENDIAN);
	return 0;
}

static bool is_printable(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n && p[i]; i++)
		if (p[i] >= 0x80 || (!isprint(p[i]) && !isspace(p[i])))
			return false;
	return true;
}

/* Print a text, without its last newline if it ends the line. */
static void raw_print_text(struct text_raw *s, const char *p, size_t n)
{
	if (s->last_field && n && p[n - 1] == '\n')
		n--;
	text_masked(s->out, p, n);
}

/* Return the size in bytes of an array by the brackets of its type; 0: no brackets. The callers of
 * a stack may exceed it. */
static size_t declared_size(const struct field *f)
{
	const char *bracket = strchr(f->type_name.text, '[');

	return bracket ? f->size * (size_t)strtoul(bracket + 1, NULL, 10) : 0;
}

static void raw_print_array(struct text_raw *s, const struct event *ev, struct plan_field *f)
{
	struct text *out = s->out;
	size_t n, most = f->field->where == WHERE_REST ? declared_size(f->field) : SIZE_MAX;
	bool rest = !most;
	const uint8_t *p = field_bytes(ev, f->field, &n), *nul;

	if (!rest && n > most)
		n = most;

	/* the record is shorter than its format: print the part there is */
	if (!p && f->field->where == WHERE_TAIL && f->field->offset < ev->tail_size) {
		p = ev->tail + f->field->offset;
		n = ev->tail_size - f->field->offset;
	}
	if (!p)
		return;
	/* without a length the field is text up to its NUL, printable or not; with one, it is no
	   text any more after the first record where it is not printable */
	f->string = f->string && (rest || is_printable(p, n));
	if (f->string) {
		nul = memchr(p, 0, n);
		raw_print_text(s, (const char *)p, nul ? (size_t)(nul - p) : n);
		return;
	}
	text_puts(out, "ARRAY[");
	for (size_t i = 0; i < n && !rest; i++) {
		if (i)
			text_puts(out, ", ");
		text_hex(out, p[i], 2);
	}
	text_char(out, ']');
}

static void raw_print_plain(struct text *out, const struct plan_field *f, uint64_t v)
{
	if (f->pointer || (f->is_long && (!f->is_signed || f->field->size == 4))) {
		text_puts(out, "0x");
		text_hex(out, f->field->size == 4 ? (uint32_t)v : v, 1);
	} else if (f->is_signed) {
		text_i64(out, (int64_t)v);
	} else {
		text_u64(out, v);
	}
}

static void raw_print_function(struct text_raw *s, struct raw_recording *r,
			       const struct plan_field *f, uint64_t v)
{
	size_t n;
	uint64_t offset;
	const char *name = r->names.symbol(r->names.context, v, &n, &offset);

	if (!name) {
		text_puts(s->out, "0x");
		text_hex(s->out, v, 1);
		return;
	}
	text_masked(s->out, name, n);
	if (f->how == PLAN_FUNCTION_AT) {
		text_puts(s->out, "+0x");
		text_hex(s->out, offset, 1);
	}
}

/* Convert a number to one of so many bytes. */
static uint64_t truncate_to(uint64_t v, unsigned bytes, bool is_signed)
{
	if (bytes >= 8)
		return v;
	if (is_signed)
		return (uint64_t)sign_extend(v, bytes);
	return v & ((1ull << 8 * bytes) - 1);
}

static void raw_print_number(struct text *out, const struct plan_field *f, uint64_t v)
{
	char last = f->conversion[strlen(f->conversion) - 1], text[512], c = (char)v;
	bool is_signed = last == 'd' || last == 'i';

	if (f->cast)
		v = truncate_to(v, f->cast, f->cast_signed);
	if (last == 'c') {
		if (c)
			text_masked(out, &c, 1);
		return;
	}
	v = truncate_to(v, f->bits / 8, is_signed);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	/* the format consists of flags and digits, see take_conversion */
	snprintf(text, sizeof text, f->conversion, (unsigned long long)v);
#pragma GCC diagnostic pop
	text_puts(out, text);
}

static void raw_print_value(struct text_raw *s, struct raw_recording *r, const struct event *ev,
			    struct plan_field *f)
{
	const char *string;
	const uint8_t *rest;
	uint64_t v;
	size_t n;

	if (f->array) {
		raw_print_array(s, ev, f);
		return;
	}
	v = raw_number(ev, f);
	if (f->prefix && f->how != PLAN_PLAIN)
		text_puts(s->out, "0x");
	switch (f->how) {
	case PLAN_PLAIN: raw_print_plain(s->out, f, v); break;
	case PLAN_NUMBER: raw_print_number(s->out, f, v); break;
	case PLAN_FUNCTION:
	case PLAN_FUNCTION_AT: raw_print_function(s, r, f, v); break;
	case PLAN_POINTER:
		if (!v) {
			text_puts(s->out, "(nil)");
			break;
		}
		text_puts(s->out, "0x");
		text_hex(s->out, v, 1);
		break;
	case PLAN_STRING:
		/* old kernels declare the text of a marker with size 0 */
		rest = f->field->where == WHERE_REST ? field_bytes(ev, f->field, &n) : NULL;
		if (rest) {
			raw_print_text(s, (const char *)rest, strnlen((const char *)rest, n));
			break;
		}
		string = r->names.string(r->names.context, v, &n);
		if (string)
			raw_print_text(s, string, n);
		else
			text_hex(s->out, v, 1);
		break;
	}
}

/* --- lines --- */

static void raw_print_time(struct text_raw *s, const struct raw_recording *r, uint64_t time)
{
	unsigned digits = s->ns ? 9 : 6;
	uint64_t unit = s->ns ? 1000000000 : 1000000;
	uint64_t t = s->ns ? time : time / 1000 + (time % 1000 >= 500);
	char text[DIFFERENCE_MOST];

	if (r->seconds) {
		text_char(s->out, ' ');
		text_u64_wide(s->out, t / unit, 5, ' ');
		text_char(s->out, '.');
		text_u64_wide(s->out, t % unit, digits, '0');
	} else {
		text_u64_wide(s->out, time, 12, ' ');
	}
	text_char(s->out, ':');
	if (s->differences)
		text_put(s->out, text, difference_text(&s->difference, time, s->ns, text));
	text_char(s->out, ' ');
}

static void raw_print_gap(struct text_raw *s, const struct event *ev)
{
	struct gap_row g;

	if (!gap_get(ev, &g))
		return;
	text_puts(s->out, "CPU:");
	text_i64(s->out, ev->lane->cpu);
	text_puts(s->out, " [");
	if (g.count != UINT64_MAX) {
		text_u64(s->out, g.count);
		text_char(s->out, ' ');
	}
	text_puts(s->out, g.unit == GAP_BYTES ? "BYTES " : "EVENTS ");
	text_puts(s->out, g.reason == GAP_LOST	   ? "DROPPED]"
			  : g.reason == GAP_DAMAGE ? "DAMAGED]"
						   : "NOT READ]");
	text_char(s->out, '\n');
}

static void raw_print_head(struct text_raw *s, const struct raw_recording *r,
			   const struct event *ev)
{
	const struct lane *lane = ev->lane;
	char number[32];
	int n;

	if (r->many) {
		text_pad(s->out, ' ',
			 r->name_width > lane->buffer.size ? r->name_width - lane->buffer.size : 0);
		text_masked(s->out, lane->buffer.text, lane->buffer.size);
		text_puts(s->out, lane->buffer.size ? ": " : "  ");
	}
	text_pad(s->out, ' ', lane->comm.size < 16 ? 16 - lane->comm.size : 0);
	text_masked(s->out, lane->comm.text, lane->comm.size);
	n = snprintf(number, sizeof number, "-%-5d [%03d]", lane->tid, lane->cpu);
	text_put(s->out, number, (size_t)n);
	raw_print_time(s, r, ev->time);
}

static int raw_event(void *state, const struct event *ev, struct error *e)
{
	struct text_raw *s = state;
	const struct type *t = ev->type;
	struct raw_recording *r = recording_of(s, ev->lane->source ? ev->lane->source->number : 0);
	struct plan *plan = t->kind == KIND_GAP ? NULL : plan_of(s, t);

	if (!r || (!plan && t->kind != KIND_GAP))
		return error_no_memory(e);
	if (!r->began) {
		if (text_kernel_get(r->kernel, &r->names))
			return error_no_memory(e);
		raw_begin_recording(s, r, ev->lane->clock);
	}
	if (t->kind == KIND_GAP) {
		raw_print_gap(s, ev);
		return 0;
	}
	if (!strcmp(t->name.text, "latency") && plan->count == 1) {
		text_masked(s->out, (const char *)ev->tail, ev->tail_size);
		text_char(s->out, '\n');
		return 0;
	}
	raw_print_head(s, r, ev);
	text_masked(s->out, t->name.text, t->name.size);
	text_char(s->out, ':');
	text_pad(s->out, ' ', t->name.size < 21 ? 21 - t->name.size : 1);
	for (size_t i = 0; i < plan->count; i++) {
		struct plan_field *f = &plan->fields[i];

		text_char(s->out, ' ');
		text_masked(s->out, f->field->name.text, f->field->name.size);
		text_char(s->out, '=');
		s->last_field = i + 1 == plan->count;
		raw_print_value(s, r, ev, f);
	}
	text_char(s->out, '\n');
	return 0;
}

static int raw_end(void *state, struct error *e)
{
	struct text_raw *s = state;

	(void)e;
	for (size_t i = 0; i < s->nrecordings; i++)
		if (!s->recordings[i].began)
			raw_begin_recording(s, &s->recordings[i], NULL);
	return 0;
}

static void raw_free_state(void *state)
{
	struct text_raw *s = state;

	for (size_t i = 0; i < s->nrecordings; i++) {
		text_kernel_free(s->recordings[i].kernel);
		buffer_free(&s->recordings[i].file);
		buffer_free(&s->recordings[i].buffers);
	}
	for (size_t i = 0; i < s->nplans; i++)
		plan_free(s->plans[i]);
	free(s->plans);
	free(s->recordings);
}

const struct text_layout text_tracecmd_raw = {
	.format = "trace-cmd",
	.state_size = sizeof(struct text_raw),
	.raw = true,
	.begin = raw_begin,
	.meta = raw_meta,
	.event = raw_event,
	.end = raw_end,
	.free = raw_free_state,
};
