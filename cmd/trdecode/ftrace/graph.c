/*
 * graph.c - the texts of the tracers function and function_graph
 *
 *     NAME [MODULE](ARGUMENTS) {  or ;   the begin of a call, or a whole one
 *     }                                  the end of a call
 *     comments after these: <-CALLER, ret=VALUE, = VALUE, the name of the function that ends
 *     a comment alone: another event
 *     NAME <-CALLER                      a call that function recorded
 */
#include <stdlib.h>

#include "cmd/trdecode/ftrace/ftrace.h"
#include "cmd/trdecode/input/merge.h"
#include "common/stream/value.h"

struct graph_call {
	struct span name, arguments, parent, result;
	bool begins, ends; /* both: a whole call */
	uint32_t depth;
};

/* --- the text of a call --- */

/* Read the words of a comment: "<-CALLER", "ret=VALUE", "= VALUE", or the name of the function that
 * ends, with "[MODULE]". */
static void read_comment(struct span s, struct graph_call *c)
{
	s = span_trim(s);
	while (s.at < s.end) {
		const char *blank = memchr(s.at, ' ', span_size(s));
		struct span word = {s.at, blank ? blank : s.end};

		s = span_trim((struct span){word.end, s.end});
		if (span_begins(word, "<-"))
			c->parent = (struct span){word.at + 2, word.end};
		else if (span_begins(word, "ret="))
			c->result = (struct span){word.at + 4, word.end};
		else if (c->ends && !c->begins && c->name.at == c->name.end && !span_is(word, "="))
			c->name = word;
		else if (c->name.end + 1 == word.at && *word.at == '[')
			c->name.end = word.end;
		else if (span_is(word, "=") && s.at < s.end) {
			c->result = s;
			return;
		}
	}
}

/* Take off " (DEPTH)", which trace-cmd report -O depth prints after the call. */
static struct span drop_depth(struct span s)
{
	const char *p = s.end - 1;

	if (!span_ends(s, ")"))
		return s;
	while (p > s.at && p[-1] >= '0' && p[-1] <= '9')
		p--;
	if (p == s.end - 1 || p - s.at < 3 || p[-1] != '(' || p[-2] != ' ' ||
	    !strchr("{};/", p[-3]))
		return s;
	return (struct span){s.at, p - 2};
}

/* Take "NAME(ARGUMENTS)" and what follows apart. */
static bool read_call(struct span s, struct graph_call *c)
{
	struct span comment = {span_find_rare(s, "/*", 0), s.end};
	const char *open, *close;

	*c = (struct graph_call){.name = {s.at, s.at}};
	if (comment.at) {
		s.end = comment.at;
		comment.at += 2;
		comment.end -= span_ends(comment, "*/") ? 2 : 0;
		s = span_trim(s);
	}
	if (span_begins(s, "}")) {
		c->ends = true;
	} else {
		c->begins = true;
		c->ends = span_ends(s, ";");
		if (!c->ends && !span_ends(s, "{"))
			return false;
		s.end--;
		s = span_trim(s);
		open = memchr(s.at, '(', span_size(s));
		close = s.end - 1;
		if (!open || open == s.at || *close != ')')
			return false;
		c->name = span_trim((struct span){s.at, open});
		c->arguments = span_trim((struct span){open + 1, close});
	}
	if (comment.at)
		read_comment(comment, c);
	return true;
}

/* --- values --- */

static int put_value(struct buffer *b, struct span s)
{
	uint64_t number;
	uint8_t kind, bytes[8];

	if (span_is(s, "true") || span_is(s, "false"))
		return value_put_simple(b, span_is(s, "true") ? VALUE_TRUE : VALUE_FALSE);
	if (span_size(s) > 1 && *s.at == '"' && s.end[-1] == '"')
		return value_put_bytes(b, VALUE_STRING, s.at + 1, span_size(s) - 2);
	if (!ftrace_number(s, &kind, &number))
		return value_put_bytes(b, VALUE_STRING, s.at, span_size(s));
	if (kind == FIELD_HEX) {
		put_u64(bytes, number);
		return value_put_number(b, 'x', bytes, sizeof bytes);
	}
	return value_put_uint(b, kind == FIELD_INT ? VALUE_NEGATIVE : VALUE_UINT,
			      kind == FIELD_INT ? -number : number);
}

static int put_arguments(struct buffer *b, struct span s)
{
	uint64_t index = 0;
	const char *comma, *equal;

	for (; s.at < s.end && index < FTRACE_ARGUMENTS_MOST; s.at = comma ? comma + 2 : s.end) {
		struct span one = {s.at, s.end};

		comma = span_find(s, ", ");
		one.end = comma ? comma : s.end;
		equal = memchr(one.at, '=', span_size(one));
		if (equal)
			one.at = equal + 1;
		if (value_put_detail(b, DETAIL_ARGUMENT, ++index) || put_value(b, one))
			return -1;
	}
	return 0;
}

/* --- rows --- */

/* Keep the location of an open call; 0: it is unknown. */
static int open_call(struct ftrace_thread *t, uint32_t depth, uint32_t location)
{
	if (depth >= FTRACE_FRAMES_MOST)
		return 0;
	for (; t->nframes <= depth; t->nframes++) {
		if (ARRAY_GROW(t->frames, t->frames_capacity, t->nframes))
			return -1;
		t->frames[t->nframes] = 0;
	}
	t->frames[depth] = location;
	t->nframes = depth + 1;
	return 0;
}

static uint32_t close_call(struct ftrace_thread *t, uint32_t depth)
{
	uint32_t location = depth < t->nframes ? t->frames[depth] : 0;

	if (depth < t->nframes)
		t->nframes = depth;
	return location;
}

/* Return the type of an enter or a leave. parent: it has the stack of its caller. */
static uint32_t call_type(struct ftrace *f, bool enter, bool values, bool parent)
{
	struct field_entry stack = {.name = parent ? writer_text(f->w, "parent") : 0,
				    .kind = FIELD_UINT,
				    .role = ROLE_STACK,
				    .where = WHERE_FIXED,
				    .size = 4};
	struct type_entry e = {
		.kind = enter ? KIND_ENTER : KIND_LEAVE,
		.flags = (uint16_t)(TYPE_DEPTH | (values ? TYPE_TAIL | TYPE_VALUES : 0)),
		.fixed_size = parent ? 4 : 0,
		.nfields = parent,
		.fields = &stack};

	return ftrace_plain_type(f, enter ? "funcgraph_entry" : "funcgraph_exit", &e);
}

/* Add the return value to a tail. */
static int put_result(struct buffer *b, const struct graph_call *c)
{
	if (c->result.at == c->result.end)
		return 0;
	return value_put_detail(b, DETAIL_RETURN, 0) || put_value(b, c->result) ? -1 : 0;
}

static int leave_row(struct ftrace *f, const struct graph_call *c, struct ftrace_thread *t)
{
	struct ftrace_row *r = &f->row;
	struct span none = {c->name.at, c->name.at};

	r->depth = c->depth;
	r->location = close_call(t, c->depth);
	/* the name is that of the call which ends, though another one may be open */
	if (c->name.at < c->name.end || !r->location)
		r->location = ftrace_function_location(
			f, c->name.at < c->name.end ? c->name : SPAN("?"), none);
	if (!r->location)
		return -1;
	if (put_result(&r->tail, c))
		return -1;
	r->has_tail = r->tail.size > 0;
	r->type = call_type(f, false, r->has_tail, false);
	return r->type ? 0 : -1;
}

/* Keep the leave of a call of one line. */
static int leaf(struct ftrace *f, const struct ftrace_line *l, const struct graph_call *c,
		uint64_t duration)
{
	struct ftrace_leave *leave = f->leave = calloc(1, sizeof *leave);

	if (!leave)
		return -1;
	*leave = (struct ftrace_leave){.time = merge_shifted(l->time, f->input->shift) +
					       (duration == UINT64_MAX ? 0 : duration),
				       .lane = f->row.lane,
				       .location = f->row.location,
				       .depth = c->depth,
				       .cpu = l->cpu};
	if (put_result(&leave->tail, c))
		return -1;
	leave->type = call_type(f, false, leave->tail.size > 0, false);
	return leave->type ? 0 : -1;
}

static int enter_row(struct ftrace *f, const struct ftrace_line *l, const struct graph_call *c,
		     struct ftrace_thread *t, uint64_t duration)
{
	struct ftrace_row *r = &f->row;
	bool parent = c->parent.at < c->parent.end;
	uint8_t id[4];

	r->depth = c->depth;
	r->location = ftrace_function_location(f, c->name, c->arguments);
	if (!r->location || put_arguments(&r->tail, c->arguments))
		return -1;
	r->has_tail = r->tail.size > 0;
	r->type = call_type(f, true, r->has_tail, parent);
	if (!r->type)
		return -1;
	if (parent) {
		uint32_t frame = ftrace_frame(f, c->parent);

		r->stack = frame ? writer_stack(f->w, 0, frame) : 0;
		put_u32(id, r->stack);
		if (!r->stack || buffer_append(&r->fixed, id, sizeof id))
			return -1;
	}
	if (!c->ends)
		return open_call(t, c->depth, r->location);
	close_call(t, c->depth);
	return leaf(f, l, c, duration);
}

/* Advance the time of a CPU whose lines have none. */
static int advance(struct ftrace_cpu *cpu, const struct graph_call *c, uint64_t duration)
{
	uint64_t known = duration == UINT64_MAX ? 0 : duration;

	if (c->begins && c->ends) {
		cpu->now += known;
	} else if (c->begins) {
		if (c->depth >= FTRACE_FRAMES_MOST)
			return 0;
		for (; cpu->nbegan <= c->depth; cpu->nbegan++) {
			if (ARRAY_GROW(cpu->began, cpu->capacity, cpu->nbegan))
				return -1;
			cpu->began[cpu->nbegan] = cpu->now;
		}
		cpu->began[c->depth] = cpu->now;
		cpu->nbegan = c->depth + 1;
	} else if (c->depth < cpu->nbegan) {
		cpu->nbegan = c->depth;
		if (cpu->began[c->depth] + known > cpu->now)
			cpu->now = cpu->began[c->depth] + known;
	} else {
		cpu->now += known;
	}
	if (cpu->now >= TIME_LIMIT)
		cpu->now = TIME_LIMIT - 1;
	return 0;
}

int ftrace_graph(struct ftrace *f, const struct ftrace_line *l, struct span call, uint64_t duration)
{
	struct span s = drop_depth(span_trim(call));
	size_t blanks = (size_t)(s.at - call.at);
	struct ftrace_lane *lane = ftrace_lane(f, l);
	struct ftrace_thread *t;
	struct graph_call c;

	if (!lane)
		return -1;
	t = &f->declared.thread[lane->thread];
	if (span_begins(s, "/*") && span_ends(s, "*/") && span_size(s) >= 4) {
		struct ftrace_line event = *l;

		event.text = span_trim((struct span){s.at + 2, s.end - 2});
		return ftrace_text(f, &event);
	}
	f->seen.call = true;
	if (!read_call(s, &c)) {
		f->has_row = false;
		if (!span_begins(s, "==") && !span_begins(s, "<=="))
			ftrace_strange(f);
		return 0;
	}
	c.depth = blanks > l->indent ? (uint32_t)(blanks - l->indent) / 2 : 0;
	if (c.depth > UINT16_MAX)
		c.depth = UINT16_MAX;
	if (c.begins ? enter_row(f, l, &c, t, duration) : leave_row(f, &c, t))
		return -1;
	if (l->clock == LINE_NO_TIME) {
		struct ftrace_cpu *cpu = ftrace_cpu(f, l->cpu);

		if (!cpu || advance(cpu, &c, duration))
			return -1;
		/* a leave is at the end of its duration */
		if (!c.begins)
			f->row.time = merge_shifted(cpu->now, f->input->shift);
	}
	return 0;
}

/* Read "--> NAME (DEPTH)" and "<-- NAME (DEPTH) (start: ...", which -N prints. */
static bool read_arrow(struct span text, struct graph_call *c)
{
	const char *open;
	uint64_t depth;

	if (!span_begins(text, "--> ") && !span_begins(text, "<-- "))
		return false;
	text.at += 4;
	open = span_find(text, " (");
	if (!open || ftrace_digits(open + 2, text.end, &depth) == open + 2 || depth > UINT16_MAX)
		return false;
	c->name = (struct span){text.at, open};
	c->depth = (uint32_t)depth;
	return true;
}

/* Take "func" and "depth" out of values. */
static bool take_raw(struct ftrace *f, struct graph_call *c)
{
	bool func = false, depth = false;
	size_t n = 0;

	for (size_t i = 0; i < f->nvalues; i++) {
		struct ftrace_value v = f->values[i];

		if (span_is(v.key, "func")) {
			c->name = v.text;
			func = v.text.at < v.text.end;
		} else if (span_is(v.key, "depth") && v.kind == FIELD_UINT &&
			   v.number <= UINT16_MAX) {
			c->depth = (uint32_t)v.number;
			depth = true;
		} else {
			f->values[n++] = v;
		}
	}
	f->nvalues = n;
	return func && depth;
}

int ftrace_graph_raw(struct ftrace *f, const struct ftrace_line *l, struct span name,
		     struct span text, bool *done)
{
	bool enter = span_is(name, "funcgraph_entry");
	struct graph_call c = {.begins = enter, .ends = !enter};
	struct type_entry like = {.kind = enter ? KIND_ENTER : KIND_LEAVE,
				  .flags = TYPE_DEPTH,
				  .group = f->declared.group};
	struct ftrace_lane *lane = ftrace_lane(f, l);
	struct ftrace_thread *t;
	struct span none = {text.at, text.at};
	bool arrow;

	f->nvalues = 0;
	*done = arrow = read_arrow(text, &c);
	if (!*done) {
		ftrace_split(f, text);
		*done = take_raw(f, &c);
	}
	if (!*done)
		return 0;
	*done = false; /* until all is */
	if (!lane)
		return -1;
	t = &f->declared.thread[lane->thread];
	f->row.location = ftrace_function_location(f, c.name, none);
	f->row.depth = c.depth;
	if (!f->row.location ||
	    (arrow ? ftrace_typed(f, name, &like) : ftrace_keyed(f, name, &like)))
		return -1;
	f->seen.call = true;
	if (enter && open_call(t, c.depth, f->row.location))
		return -1;
	if (!enter)
		close_call(t, c.depth);
	*done = true;
	return 0;
}

int ftrace_function(struct ftrace *f, struct span text)
{
	const char *arrow = span_find_rare(text, " <-", 1), *open;
	struct span parent = {text.end, text.end}, function = text, arguments = parent;

	if (arrow) {
		f->seen.parent = true;
		function.end = arrow;
		parent.at = arrow + 3;
		parent.at += parent.at < text.end && *parent.at == '-';
		parent = span_trim(parent);
	}
	function = span_trim(function);
	if (function.at == function.end ||
	    (!arrow && f->seen.parent && !span_begins(function, "ip="))) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	/* -R prints ip=NAME parent_ip=NAME */
	f->nvalues = 0;
	if (span_begins(function, "ip=")) {
		ftrace_split(f, text);
		if (f->nvalues && f->values[0].text.at < f->values[0].text.end)
			function = f->values[0].text;
	} else if (parent.at < parent.end) {
		ftrace_value_add(f, "parent_ip", parent, false);
	}
	open = memchr(function.at, '(', span_size(function));
	if (open && open > function.at && function.end[-1] == ')') {
		arguments = (struct span){open + 1, function.end - 1};
		function.end = open;
		if (arguments.at < arguments.end)
			ftrace_value_add(f, "arguments", arguments, false);
	}
	if (function.at < function.end) {
		f->row.location =
			ftrace_function_location(f, function, (struct span){text.end, text.end});
		if (!f->row.location)
			return -1;
	}
	if (ftrace_typed(f, SPAN("function"),
			 &(struct type_entry){.kind = KIND_INSTANT, .group = f->declared.group}))
		return -1;
	f->row.instant_text = false;
	return 0;
}
