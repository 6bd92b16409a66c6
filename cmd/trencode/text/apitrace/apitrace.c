/*
 * apitrace.c - the text of an apitrace trace, as `apitrace dump --color=never` prints it: each call
 * when its leave is read, unfinished calls at the end, in the order of their enters
 *
 * The values of an enter or a leave are converted to text at once, so that open calls keep lines in
 * memory, not blobs; most of a long line is in a temporary file (buffer_file.h).
 */
#include "cmd/trencode/text/apitrace/apitrace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/stream/field.h"
#include "common/formats/apitrace.h"
#include "common/calls/calls.h"
#include "cmd/trencode/text/layout.h"

/* A part of the text of a call. */
struct piece {
	size_t offset, size; /* in the call's text, bytes */
	bool given;	     /* the call has this part */
};

/* The text of an open call. */
struct open_text {
	struct open_text *next, *before; /* in its list */
	struct buffer text;
	struct piece *arguments; /* by index from 0 */
	size_t capacity, count;
	struct piece result, backtrace;
	uint64_t flags;
	uint32_t source, call, location; /* numbers */
	int32_t thread;
	bool zero;    /* the result is the number 0 */
	bool printed; /* at the end of its trace */
};

struct text_apitrace {
	struct text *out;
	struct dictionary *dictionary;
	const struct encoding *encoding;
	struct open_text *first, *last; /* of the open calls of the trace, by enter */
	struct open_text *unused;
	struct open_text *printed; /* calls that were open at the end of an earlier trace */
	struct apitrace_locations locations;
	struct buffer scratch, header;
	struct apitrace_blobs *blobs;
	bool all_calls, thread_ids, plain_octal, failed;
	struct error error; /* if failed */
};

static void free_texts(struct open_text *t)
{
	while (t) {
		struct open_text *next = t->next;

		buffer_free(&t->text);
		free(t->arguments);
		free(t);
		t = next;
	}
}

static void apitrace_free_state(void *state)
{
	struct text_apitrace *s = state;

	free_texts(s->first);
	free_texts(s->unused);
	free_texts(s->printed);
	apitrace_locations_free(&s->locations);
	buffer_free(&s->scratch);
	buffer_free(&s->header);
	apitrace_blobs_close(s->blobs);
}

/* --- values into text --- */

static struct piece *argument_at(struct open_text *t, uint64_t index)
{
	struct piece *grown;

	if (index >= t->capacity) {
		size_t size = t->capacity ? t->capacity : 16;

		while (size <= index)
			size *= 2;
		grown = realloc(t->arguments, size * sizeof *grown);
		if (!grown)
			return NULL;
		t->arguments = grown;
		t->capacity = size;
	}
	for (; t->count <= index; t->count++)
		t->arguments[t->count] = (struct piece){0};
	return &t->arguments[index];
}

static int take_backtrace(struct text_apitrace *s, const struct apitrace_writer *w,
			  struct values *v)
{
	struct value array, frame;

	if (!values_value(v, &array) || array.tag != VALUE_ARRAY)
		return -1;
	for (uint64_t i = 0; i < array.count; i++) {
		if (!values_value(v, &frame) || frame.tag != VALUE_FRAME)
			return -1;
		if (apitrace_frame(w, dictionary_definition_id(s->dictionary, frame.definition)))
			return -1;
	}
	return 0;
}

/* Remove the blobs of a part that is not printed. */
static void drop_piece(struct text_apitrace *s, const struct open_text *t, const struct piece *p)
{
	if (s->blobs && p->given)
		apitrace_blobs_drop(s->blobs, t->text.data + p->offset, p->size);
}

static int take_details(struct text_apitrace *s, struct open_text *t, const struct event *ev)
{
	struct apitrace_writer w = {s->dictionary, &t->text, s->blobs, s->plain_octal};
	struct values v;

	if (!ev->tail || !(ev->type->flags & TYPE_VALUES))
		return 0;
	values_begin(&v, ev->tail, ev->tail_size);
	while (v.at < v.end) {
		struct piece p = {t->text.size, 0, true}, *where;
		uint64_t index, number;
		struct value value;
		uint8_t what;

		if (!values_what(&v, &what, &index))
			return -1;
		switch (what) {
		case DETAIL_ARGUMENT:
			if (!index || index > 65536)
				return -1;
			if (apitrace_value(&w, &v))
				return -1;
			where = argument_at(t, index - 1);
			if (!where)
				return -1;
			break;
		case DETAIL_RETURN:
			t->zero = apitrace_number(v, &number) && !number;
			if (apitrace_value(&w, &v))
				return -1;
			where = &t->result;
			break;
		case DETAIL_BACKTRACE:
			if (take_backtrace(s, &w, &v))
				return -1;
			where = &t->backtrace;
			break;
		case DETAIL_FLAGS:
			if (!values_value(&v, &value))
				return -1;
			t->flags |= value.number; /* apitrace combines repeated flags */
			continue;
		default:
			if (!values_skip(&v))
				return -1;
			continue;
		}
		p.size = t->text.size - p.offset;
		drop_piece(s, t, where);
		*where = p;
	}
	return 0;
}

static int values_error(const struct text_apitrace *s, struct error *e)
{
	if (s->blobs && apitrace_blobs_error(s->blobs)->what[0]) {
		*e = *apitrace_blobs_error(s->blobs);
		return -1;
	}
	return error_no_memory(e);
}

/* --- calls --- */

static struct open_text *new_text(struct text_apitrace *s)
{
	struct open_text *t = s->unused;

	if (!t) {
		t = calloc(1, sizeof *t);
		if (t)
			t->text.spills = true;
		return t;
	}
	s->unused = t->next;
	buffer_clear(&t->text);
	t->count = 0;
	t->result = t->backtrace = (struct piece){0};
	t->flags = 0;
	t->zero = false;
	return t;
}

static void put_piece(struct text_apitrace *s, const struct open_text *t, const struct piece *p,
		      struct apitrace_blob_names *blobs)
{
	if (!s->blobs) {
		text_put_buffer(s->out, &t->text, p->offset, p->size);
		return;
	}
	buffer_clear(&s->scratch);
	apitrace_blobs_name(s->blobs, blobs, &t->text, p->offset, p->size, &s->scratch);
	text_put_buffer(s->out, &s->scratch, 0, s->scratch.size);
}

static void put_arguments(struct text_apitrace *s, const struct open_text *t,
			  const struct apitrace_location *k, struct apitrace_blob_names *blobs)
{
	size_t n = t->count > k->names ? t->count : k->names;

	for (size_t i = 0; i < n; i++) {
		if (i < k->names)
			text_put(s->out, k->text + k->ends[i], k->ends[i + 1] - k->ends[i]);
		else if (i)
			text_put(s->out, ", ", 2);
		if (i < t->count && t->arguments[i].given)
			put_piece(s, t, &t->arguments[i], blobs);
		else
			text_char(s->out, '?');
	}
}

/* Test whether apitrace shows the call only with its option -v. */
static bool is_hidden(const struct text_apitrace *s, const struct apitrace_location *k,
		      const struct open_text *t)
{
	if (s->all_calls || !k->may_be_hidden)
		return false;
	return k->flags & APITRACE_VERBOSE || (t->result.given && t->zero);
}

static int apitrace_print_call(struct text_apitrace *s, struct open_text *t, bool incomplete,
			       struct error *e)
{
	const struct apitrace_location *k =
		apitrace_location(&s->locations, s->dictionary, t->location);
	bool fake = t->flags & CALL_FAKE;
	struct apitrace_blob_names blobs = {t->source, t->call, 0};

	if (!k)
		return error_no_memory(e);
	if (is_hidden(s, k, t)) {
		for (size_t i = 0; i < t->count; i++)
			drop_piece(s, t, &t->arguments[i]);
		drop_piece(s, t, &t->result);
		return 0;
	}
	text_u64(s->out, t->call);
	text_char(s->out, ' ');
	if (s->thread_ids) {
		text_char(s->out, '@');
		text_hex(s->out, (uint32_t)t->thread, 1);
		text_char(s->out, ' ');
	}
	if (k->location)
		text_put(s->out, k->text, k->ends[0]);
	else
		text_char(s->out, '(');
	put_arguments(s, t, k, &blobs);
	text_char(s->out, ')');
	if (t->result.given) {
		text_put(s->out, " = ", 3);
		put_piece(s, t, &t->result, &blobs);
	}
	if (fake || incomplete)
		text_puts(s->out, fake && incomplete ? " // fake incomplete"
				  : fake	     ? " // fake"
						     : " // incomplete");
	text_char(s->out, '\n');
	if (t->backtrace.given) {
		text_puts(s->out, "Backtrace:\n");
		put_piece(s, t, &t->backtrace, &blobs);
	}
	if (k->flags & APITRACE_END_FRAME)
		text_char(s->out, '\n');
	if (s->blobs && apitrace_blobs_error(s->blobs)->what[0])
		return values_error(s, e);
	return 0;
}

/* Take a call out of the list of open calls. */
static void unlink_text(struct text_apitrace *s, struct open_text *t)
{
	if (t->before)
		t->before->next = t->next;
	else
		s->first = t->next;
	if (t->next)
		t->next->before = t->before;
	else
		s->last = t->before;
}

/* Print a call that is no longer open, and keep its memory for the next call. */
static int finish_call(struct text_apitrace *s, struct open_text *t, bool incomplete,
		       struct error *e)
{
	int bad = apitrace_print_call(s, t, incomplete, e);

	unlink_text(s, t);
	buffer_clear(&t->text);
	t->next = s->unused;
	s->unused = t;
	return bad;
}

/* Print a call that never returns: in damaged data another call has its number. */
static void lose_call(void *ctx, struct stack *stack, const struct frame *f, void *data,
		      enum calls_lost why)
{
	struct text_apitrace *s = ctx;
	struct open_text *t;

	(void)stack, (void)f, (void)why;
	memcpy(&t, data, sizeof t);
	if (t && !t->printed && !s->failed)
		s->failed = finish_call(s, t, true, &s->error);
}

/* Print a call of which it is not known whether it has returned. */
static void drop_call(void *ctx, struct stack *stack, const struct frame *f, void *data)
{
	lose_call(ctx, stack, f, data, LOST_NUMBER);
}

/* Take an enter. data: of its call; NULL: it is not open. */
static int apitrace_enter(struct text_apitrace *s, const struct event *ev, uint32_t call,
			  void *data, struct error *e)
{
	struct open_text *t = new_text(s);

	if (!t)
		return error_no_memory(e);
	t->source = ev->lane->source->number;
	t->call = call;
	t->location = ev->location;
	t->thread = ev->lane->tid;
	t->next = NULL;
	t->before = s->last;
	if (s->last)
		s->last->next = t;
	else
		s->first = t;
	s->last = t;
	if (take_details(s, t, ev))
		return values_error(s, e);
	if (!data) /* too many calls are */
		return finish_call(s, t, true, e);
	memcpy(data, &t, sizeof t);
	return 0;
}

/* Take the enter of a call that is open where reading begins. */
static int apitrace_restore(void *state, const struct event *enter, const struct call *restored,
			    struct error *e)
{
	struct text_apitrace *s = state;
	uint32_t call;

	if (s->failed)
		return -1;
	return field_call(enter, &call) ? apitrace_enter(s, enter, call, restored->data, e) : 0;
}

static int apitrace_leave(struct text_apitrace *s, const struct event *ev, struct error *e)
{
	struct open_text *t;

	/* apitrace ignores leaves of calls that are not open */
	if (s->encoding->result != CALLS_LEAVE)
		return 0;
	memcpy(&t, s->encoding->call.data, sizeof t);
	if (!t || t->printed)
		return 0;
	return take_details(s, t, ev) ? values_error(s, e) : finish_call(s, t, false, e);
}

/* Print the calls that are open at the end of a trace. */
static int print_incomplete(struct text_apitrace *s, struct error *e)
{
	struct open_text *t;

	while ((t = s->first)) {
		if (apitrace_print_call(s, t, true, e))
			return -1;
		unlink_text(s, t);
		t->printed = true;
		t->next = s->printed;
		s->printed = t;
	}
	return 0;
}

static int apitrace_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_apitrace *s = state;

	s->encoding = en;
	en->calls->on_lost = lose_call;
	en->calls->on_forget = drop_call;
	en->calls->on_lost_ctx = s;
	s->out = en->text;
	s->dictionary = en->dictionary;
	s->all_calls = en->options->all_calls;
	s->thread_ids = en->options->thread_ids;
	s->plain_octal = en->options->plain_octal;
	s->scratch.spills = true;
	if (en->options->blobs) {
		s->blobs = apitrace_blobs_open(en->options->blobs, e);
		if (!s->blobs)
			return -1;
	}
	return 0;
}

/* --- events --- */

static int apitrace_meta(void *state, const struct source *source, const struct meta *m,
			 struct error *e)
{
	struct text_apitrace *s = state;

	(void)source;
	if (m->name_size != sizeof APITRACE_META_HEADER - 1 ||
	    memcmp(m->name, APITRACE_META_HEADER, m->name_size) != 0)
		return 0;
	if (!m->offset) {
		/* another trace begins */
		if (print_incomplete(s, e))
			return -1;
		s->header.size = 0;
	}
	if (m->offset != s->header.size)
		return 0;
	if (buffer_append(&s->header, m->data, m->size))
		return error_no_memory(e);
	return s->header.size == m->total
		       ? apitrace_properties(&s->header, s->out, s->plain_octal, e)
		       : 0;
}

static void apitrace_print_gap(struct text_apitrace *s, const struct event *ev)
{
	struct gap_row g;

	if (!gap_get(ev, &g))
		return;
	text_puts(s->out, "// gap: ");
	text_put(s->out, g.message, g.message_size);
	text_char(s->out, '\n');
}

static int apitrace_event(void *state, const struct event *ev, struct error *e)
{
	struct text_apitrace *s = state;
	uint32_t call;

	if (ev->type->kind == KIND_GAP)
		apitrace_print_gap(s, ev);
	if (s->failed) {
		*e = s->error;
		return -1;
	}
	if (!(ev->type->flags & TYPE_CALL_NUMBER) || !field_call(ev, &call))
		return 0;
	if (ev->type->kind == KIND_ENTER)
		return apitrace_enter(
			s, ev, call,
			s->encoding->result == CALLS_ENTER ? s->encoding->call.data : NULL, e);
	return ev->type->kind == KIND_LEAVE ? apitrace_leave(s, ev, e) : 0;
}

static int apitrace_end(void *state, struct error *e)
{
	return print_incomplete(state, e);
}

const struct text_layout text_apitrace = {
	.format = "apitrace",
	.state_size = sizeof(struct text_apitrace),
	.begin = apitrace_begin,
	.meta = apitrace_meta,
	.event = apitrace_event,
	.restore = apitrace_restore,
	.end = apitrace_end,
	.free = apitrace_free_state,
};
