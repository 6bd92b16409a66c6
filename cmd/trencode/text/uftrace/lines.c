/*
 * lines.c - the lines of uftrace recordings
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/trencode/text/events.h"
#include "cmd/trencode/text/time_format.h"
#include "cmd/trencode/text/uftrace/uftrace.h"

/* Test whether a name has the parentheses of its call. For a recent uftrace the name of a function
 * object has not. */
static bool has_parentheses(const struct text_uftrace *s, struct text_ref name)
{
	static const char call[] = "operator()";
	enum { CALL = sizeof call - 1 };

	if (!name.size || name.text[name.size - 1] != ')')
		return false;
	return !(s->recording && s->recording->recent && name.size >= CALL &&
		 !memcmp(name.text + name.size - CALL, call, CALL));
}

const struct location_text *text_uftrace_location_slow(struct text_uftrace *s, uint32_t number)
{
	const struct location *location = dictionary_location(s->dictionary, number);
	struct text_ref name = dictionary_location_name(s->dictionary, number);
	struct location_text *p;

	if (number >= s->nlocations) {
		if (ARRAY_REACH(s->locations, s->nlocations, number))
			return NULL;
	}
	p = &s->locations[number];
	*p = (struct location_text){.symbol = location ? location->symbol : NULL,
				    .name = name.text,
				    .size = name.size,
				    .known = true,
				    .bare = has_parentheses(s, name),
				    .fixup = (uint8_t)fixup_of(name.text)};
	if (location && location->space && !location->symbol && !location->name.size &&
	    !s->warned_names && !s->quiet) {
		s->warned_names = true;
		remark(NULL,
		       "some functions have an address but no name: run trsym before this program");
	}
	return p;
}

static inline void put_name(struct text_uftrace *s, const struct location_text *p)
{
	if (s->terminal)
		text_masked(s->out, p->name, p->size);
	else
		text_put(s->out, p->name, p->size);
}

static void put_buffer(struct text_uftrace *s, const struct buffer *b)
{
	text_masked_buffer(s->out, b);
}

enum { LINE_PIECE = 8 };

/* The text before and after a name, of LINE_PIECE readable bytes each. */
struct line_pieces {
	const char *before;
	size_t nbefore;
	const char *after;
	size_t nafter;
};

/*
 * Print most kinds of lines at once: columns, indent, before, the name, after. Returns false if the
 * line has to be printed piece by piece. Without this 'trdecode | trsym | trencode -t text' of
 * t/bench/uftrace.sh takes 1.13 times the instructions.
 */
static inline bool quick_line(struct text_uftrace *s, const struct replay_task *t,
			      uint64_t duration, int indent, const struct location_text *p,
			      struct line_pieces pieces)
{
	struct text *out = s->out;
	size_t blank = indent > 0 ? 2 * (size_t)indent : 0;
	size_t most = DURATION_WIDTH + sizeof t->tid + blank + p->size + 8 * LINE_PIECE;
	char *at;

	if (!s->columns.standard || s->terminal || most > TEXT_BUFFER)
		return false;
	if (most > TEXT_BUFFER - out->used)
		text_make_room(out);
	at = out->buffer + out->used;
	*at++ = ' ';
	duration_text(at, duration);
	at += DURATION_WIDTH;
	*at++ = ' ';
	memcpy(at, t->tid, sizeof t->tid);
	at += t->tid_size;
	memcpy(at, " | ", 3);
	at += 3;
	if (blank <= 2 * LINE_PIECE)
		memset(at, ' ', 2 * LINE_PIECE);
	else
		memset(at, ' ', blank);
	at += blank;
	memcpy(at, pieces.before, LINE_PIECE);
	at += pieces.nbefore;
	memcpy(at, p->name, p->size);
	at += p->size;
	memcpy(at, pieces.after, LINE_PIECE);
	at += pieces.nafter;
	out->used = (size_t)(at - out->buffer);
	return true;
}

/* Print "f(1, 2)", after the columns. */
static void print_call(struct text_uftrace *s, const struct location_text *p)
{
	text_uftrace_indent(s, s->indent);
	put_name(s, p);
	if (s->arguments.size)
		put_buffer(s, &s->arguments);
	else if (!p->bare)
		text_put(s->out, "()", 2);
}

static void print_comment(struct text_uftrace *s, const char *end, size_t n)
{
	put_buffer(s, &s->comment);
	text_put(s->out, end, n);
}

void text_uftrace_leaf(struct text_uftrace *s, const struct replay_frame *f)
{
	static const struct line_pieces bare = {"       ", 0, ";\n      ", 2},
					call = {"       ", 0, "();\n    ", 4};
	const struct location_text *p = &s->locations[s->location];

	if (!s->arguments.size && !s->result.size && !s->comment.size &&
	    quick_line(s, s->task, f->time, s->indent, p, p->bare ? bare : call))
		return;
	text_uftrace_columns(s, s->task, f->time, f);
	print_call(s, p);
	put_buffer(s, &s->result);
	text_char(s->out, ';');
	print_comment(s, "\n", 1);
}

void text_uftrace_open(struct text_uftrace *s)
{
	static const struct line_pieces bare = {"       ", 0, " {\n     ", 3},
					call = {"       ", 0, "() {\n   ", 5};
	struct replay_frame *f = replay_frame(s->task, s->frame);
	const struct location_text *p = &s->locations[s->location];

	if (s->arguments.size || s->comment.size ||
	    !quick_line(s, s->task, 0, s->indent, p, p->bare ? bare : call)) {
		text_uftrace_columns(s, s->task, 0, f);
		print_call(s, p);
		text_put(s->out, " {", 2);
		print_comment(s, "\n", 1);
	}
	if (f)
		replay_entered(s->task, f);
}

void text_uftrace_sched(struct text_uftrace *s, const struct replay_task *t, int indent,
			const char *name, bool preempted, const struct replay_frame *timed)
{
	text_uftrace_columns(s, t, timed ? timed->time : 0, timed);
	text_uftrace_indent(s, indent);
	text_puts(s->out, "/* linux:");
	text_puts(s->out, name);
	if (preempted)
		text_puts(s->out, " (pre-empted)");
	text_puts(s->out, " */\n");
}

void text_uftrace_leave(struct text_uftrace *s, const struct replay_task *t,
			const struct replay_frame *f, int indent, const struct location_text *p,
			bool values)
{
	static const struct line_pieces end = {"} /*   ", 5, " */\n   ", 4};

	if (!values && quick_line(s, t, f->time, indent, p, end))
		return;
	text_uftrace_columns(s, t, f->time, f);
	text_uftrace_indent(s, indent);
	text_char(s->out, '}');
	put_buffer(s, &s->result);
	text_put(s->out, ";", values ? 1 : 0);
	text_put(s->out, " /* ", 4);
	put_name(s, p);
	text_put(s->out, " */\n", 4);
}

void text_uftrace_gap(struct text_uftrace *s, struct replay_task *t, const struct event *ev)
{
	struct gap_row g;

	if (!gap_get(ev, &g))
		return;
	text_uftrace_columns(s, t, 0, NULL);
	text_uftrace_indent(s, t->indent + 1);
	if (g.reason == GAP_LOST) {
		if (g.count == UINT64_MAX || (int32_t)g.count <= 0)
			text_puts(s->out, "/* LOST some records!! */\n");
		else
			text_printf(s->out, "/* LOST %" PRIu64 " records!! */\n", g.count);
		return;
	}
	text_puts(s->out, g.reason == GAP_DAMAGE ? "/* DAMAGED" : "/* NOT READ");
	if (g.count != UINT64_MAX)
		text_printf(s->out, " %" PRIu64 " %s", g.count,
			    g.unit == GAP_BYTES ? "bytes" : "records");
	if (g.file_size) {
		text_puts(s->out, " of ");
		text_masked(s->out, g.file, g.file_size);
	}
	if (g.offset != NO_OFFSET)
		text_printf(s->out, " at 0x%" PRIx64, g.offset);
	if (g.message_size) {
		text_puts(s->out, ": ");
		text_masked(s->out, g.message, g.message_size);
	}
	text_puts(s->out, "!! */\n");
}

void text_uftrace_inverted(struct text_uftrace *s, const struct replay_task *t)
{
	columns_blank(s->out, &s->columns);
	text_char(s->out, ' ');
	text_uftrace_indent(s, t->indent + 1);
	text_puts(s->out, "/* inverted time: broken data? */\n");
}
