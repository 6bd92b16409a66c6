/*
 * text.c - the texts of events: their names, and the forms without "KEY=VALUE"
 */
#include <ctype.h>
#include <stdio.h>

#include "cmd/trdecode/ftrace/ftrace.h"

/* The characters of names, and of "FUNCTION+OFFSET". A call for each would take a twentieth of the
 * time. */
static const bool of_name[256] = {
	['_'] = true, ['-'] = true,	    ['.'] = true,	  ['/'] = true,
	['+'] = true, ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true,
};

struct span ftrace_take_name(struct span *text)
{
	struct span name = {text->at, text->at};
	const char *p = text->at;

	while (p < text->end && of_name[(unsigned char)*p])
		p++;
	if (p == text->at || p == text->end || *p != ':' ||
	    (p + 1 < text->end && p[1] != ' ' && p[1] != '\t'))
		return name;
	name.end = p;
	*text = span_trim((struct span){p + 1, text->end});
	return name;
}

/* Read decimal digits and move *s after them; an empty span: there are none. */
static struct span take_digits(struct span *s)
{
	struct span digits = {s->at, s->at};

	while (digits.end < s->end && isdigit((unsigned char)*digits.end))
		digits.end++;
	s->at = digits.end;
	return digits;
}

static bool take(struct span *s, const char *text)
{
	if (!span_begins(*s, text))
		return false;
	s->at += strlen(text);
	return true;
}

/* Read "COMM:PID [PRIO]" and add its fields. A comm may have any characters. */
static bool take_task(struct ftrace *f, struct span *s, const char *const keys[3])
{
	struct span pid, prio, rest;

	for (const char *open = s->at;
	     (open = span_find_rare((struct span){open, s->end}, " [", 1)); open++) {
		const char *colon = open;

		while (colon > s->at && isdigit((unsigned char)colon[-1]))
			colon--;
		if (colon == open || colon == s->at || colon[-1] != ':')
			continue;
		rest = (struct span){open + 2, s->end};
		prio = take_digits(&rest);
		if (prio.at == prio.end || !take(&rest, "]"))
			continue;
		pid = (struct span){colon, open};
		ftrace_value_add(f, keys[0], (struct span){s->at, colon - 1}, false);
		ftrace_value_add(f, keys[1], pid, true);
		ftrace_value_add(f, keys[2], prio, true);
		*s = rest;
		return true;
	}
	return false;
}

/* Read what trace-cmd's plug-in prints of sched_switch: "COMM:PID [PRIO] STATE ==> COMM:PID
 * [PRIO]".
 */
static bool read_switch(struct ftrace *f, struct span s)
{
	static const char *const prev[] = {"prev_comm", "prev_pid", "prev_prio"};
	static const char *const next[] = {"next_comm", "next_pid", "next_prio"};
	struct span state;
	const char *arrow;

	if (!take_task(f, &s, prev))
		return false;
	arrow = span_find_rare(s, " ==> ", 1);
	if (!arrow)
		return false;
	state = span_trim((struct span){s.at, arrow});
	ftrace_value_add(f, "prev_state", state, true);
	s.at = arrow + 5;
	return take_task(f, &s, next) && s.at == s.end;
}

/* Read that of sched_wakeup and the like: "COMM:PID [PRIO] [success=N] CPU:N". */
static bool read_wakeup(struct ftrace *f, struct span s)
{
	static const char *const keys[] = {"comm", "pid", "prio"};
	struct span digits;

	if (!take_task(f, &s, keys))
		return false;
	s = span_trim(s);
	if (take(&s, "success=")) {
		digits = take_digits(&s);
		ftrace_value_add(f, "success", digits, true);
		s = span_trim(s);
	}
	if (take(&s, "CPU:")) {
		digits = take_digits(&s);
		ftrace_value_add(f, "target_cpu", digits, true);
	}
	return s.at == s.end;
}

/* Make an array of a value that is a list of hexadecimal numbers: "3, 7ffe8d5547b0, 0". */
static void read_numbers(struct ftrace *f, struct ftrace_value *v)
{
	struct span s = v->text;
	uint8_t n = 0;

	do {
		if (n == FTRACE_SYSCALL_ARGUMENTS ||
		    !digits_hex(&s.at, s.end, &f->row.arguments[n++]))
			return;
	} while (take(&s, ", "));
	if (s.at < s.end)
		return;
	v->kind = FIELD_HEX;
	v->count = n;
	v->numbers = f->row.arguments;
}

/* Read "NR ID = RET" and "NR ID (ARGS)" of sys_exit and sys_enter. */
static bool read_syscall(struct ftrace *f, struct span s)
{
	struct span id;

	if (!take(&s, "NR "))
		return false;
	id = (struct span){s.at, memchr(s.at, ' ', span_size(s))};
	if (!id.end)
		return false;
	ftrace_value_add(f, "id", id, true);
	s.at = id.end + 1;
	if (take(&s, "= ")) {
		ftrace_value_add(f, "ret", s, true);
		return true;
	}
	if (!take(&s, "(") || s.end == s.at || s.end[-1] != ')')
		return false;
	ftrace_value_add(f, "args", (struct span){s.at, s.end - 1}, false);
	read_numbers(f, &f->values[f->nvalues - 1]);
	return true;
}

/* Read "KEY: ", or "TYPE KEY: " as the option verbose prints it, and move s->at after it. false:
 * there is no such text. */
static bool take_key(struct span *s, struct span *key)
{
	const char *p = s->at;

	key->at = p;
	for (; p < s->end && (isalnum((unsigned char)*p) || *p == '_' || *p == ' ' || *p == '*');
	     p++)
		if (*p == ' ' || *p == '*')
			key->at = p + 1;
	key->end = p;
	if (p == key->at || s->end - p < 2 || p[0] != ':' || p[1] != ' ')
		return false;
	s->at = p + 2;
	return true;
}

/* Test for what follows the string of an argument: ", KEY: ", or nothing. "..." is in place of
 * bytes that are not shown. */
static bool is_string_end(struct span after)
{
	struct span key;

	take(&after, "...");
	return after.at == after.end || (take(&after, ", ") && take_key(&after, &key));
}

/* Take the value that s begins with, and the key of the next argument. The bytes of a buffer may
 * have a comma, too: buf: 0x7ffd1 (68:65, ...) "he"... Returns false if there are no more
 * arguments. */
static bool take_value(struct span *s, struct span *value, struct span *key)
{
	const char *quote = memchr(s->at, '"', span_size(*s)), *p = s->at, *end;

	*value = *s;
	while ((p = span_find((struct span){p, s->end}, ", "))) {
		struct span next = {p + 2, s->end};

		if (quote && quote < p) {
			end = ftrace_string_end((struct span){quote, s->end}, is_string_end);
			p = end ? end : p;
			quote = NULL;
			continue;
		}
		if (take_key(&next, key)) {
			value->end = p;
			*s = next;
			return true;
		}
		p++;
	}
	return false;
}

/* Add the arguments "KEY: VALUE, KEY: VALUE" of a system call. */
static bool read_arguments(struct ftrace *f, struct span s)
{
	struct span key, value;
	bool more = take_key(&s, &key);

	if (!more)
		return false;
	while (more && f->nvalues < FTRACE_FIELDS_MOST) {
		struct span now = key;

		more = take_value(&s, &value, &key);
		ftrace_value_add(f, "", span_trim(value), true);
		f->values[f->nvalues - 1].key = now;
	}
	return !more;
}

/* Test for a text that begins with "KEY=". */
static bool is_key_first(struct span text)
{
	const char *p = text.at;

	while (p < text.end && (isalnum((unsigned char)*p) || *p == '_'))
		p++;
	return p > text.at && p < text.end && *p == '=';
}

/* Make the row of a text with a name. */
static int named(struct ftrace *f, struct span name, struct span text)
{
	bool known = false, formed = true, free = false;

	f->nvalues = 0;
	if (span_is(name, "sched_switch"))
		known = read_switch(f, text);
	else if (span_begins(name, "sched_wak"))
		known = read_wakeup(f, text);
	else if (span_is(name, "sys_enter") || span_is(name, "sys_exit"))
		known = read_syscall(f, text);
	else if (span_begins(name, "sys_enter_"))
		known = free = read_arguments(f, text);
	else
		formed = false;
	if (!formed && span_begins(name, "sys_exit_") && text.at < text.end &&
	    !memchr(text.at, ' ', span_size(text)) && !memchr(text.at, '=', span_size(text))) {
		ftrace_value_add(f, "ret", text, true);
		known = true;
	} else if (!formed && (span_begins(name, "block_") || span_ends(name, "_noise") ||
			       span_is(name, "sample_threshold") || span_is(name, "hwlat") ||
			       span_is(name, "osnoise") || span_is(name, "timerlat")))
		known = ftrace_form_values(f, name, text);
	/* newer kernels print strings among the arguments */
	if (!known && formed && !memchr(text.at, '"', span_size(text)) && !is_key_first(text) &&
	    ftrace_cut_is_known(f, name)) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	if (!known)
		return ftrace_event(f, name, text);
	if (free)
		return ftrace_keyed(f, name, NULL);
	if (ftrace_typed(f, name, NULL))
		return -1;
	f->row.instant_text = false;
	return 0;
}

/* Make the row of print and the like: "[WHERE:] MESSAGE", or an atrace mark. */
static int printed(struct ftrace *f, const struct ftrace_line *l, struct span name, struct span ip,
		   struct span text)
{
	bool done = false;

	if (ip.at == ip.end)
		ip = ftrace_take_name(&text);
	if (ftrace_mark(f, l, text, &done) || done)
		return done ? 0 : -1;
	if (ip.at == ip.end && f->seen.ip && name.at < l->text.end && name.at >= l->text.at) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	/* a message has its blanks */
	if (span_skip_blanks(text.end, f->whole.end) == f->whole.end)
		text.end = f->whole.end;
	if (ip.at < ip.end && ip.end + 2 <= text.end && ip.end[1] == ' ')
		text.at = ip.end + 2;
	f->nvalues = 0;
	ftrace_value_add(f, "message", text, false);
	if (ip.at < ip.end) {
		/* the message is the last text: it may go on in the next line */
		f->values[1] = f->values[0];
		f->nvalues = 0;
		ftrace_value_add(f, "ip", ip, false);
		f->nvalues = 2;
	}
	f->row.mark = true;
	return ftrace_typed(f, name, NULL);
}

/* Take the values as hexadecimal, if all of them are: kernels up to 6.18 print the arguments of a
 * system call so, without 0x. Later ones print it before each number from 10 on, and texts. */
static void take_bare_hex(struct ftrace *f)
{
	uint64_t numbers[FTRACE_FIELDS_MOST];

	for (size_t i = 0; i < f->nvalues; i++) {
		struct span s = f->values[i].text;

		if (!digits_hex(&s.at, s.end, &numbers[i]) || s.at != s.end)
			return;
	}
	for (size_t i = 0; i < f->nvalues; i++) {
		f->values[i].kind = FIELD_HEX;
		f->values[i].number = numbers[i];
	}
}

/* Make the row of a system call as the kernel prints it: "sys_NAME(ARGS)", "sys_NAME -> RET". */
static int kernel_syscall(struct ftrace *f, struct span text, bool *done)
{
	char name[80] = "";
	const char *p = text.at + 4;
	struct span s;

	while (p < text.end && (isalnum((unsigned char)*p) || *p == '_'))
		p++;
	s = (struct span){p, text.end};
	*done = p - text.at < 64;
	f->nvalues = 0;
	/* a string with a newline goes on in the next line */
	if (*done && span_begins(s, "(") && (text.end[-1] == ')' || memchr(p, '"', span_size(s)))) {
		snprintf(name, sizeof name, "sys_enter_%.*s", (int)(p - text.at - 4), text.at + 4);
		s = (struct span){p + 1, text.end - (text.end[-1] == ')')};
		*done = s.at == s.end || read_arguments(f, s);
		take_bare_hex(f);
	} else if (*done && take(&s, " -> ")) {
		snprintf(name, sizeof name, "sys_exit_%.*s", (int)(p - text.at - 4), text.at + 4);
		ftrace_value_add(f, "ret", s, true);
	} else {
		*done = false;
	}
	return *done ? ftrace_typed(f, (struct span){name, name + strlen(name)}, NULL) : 0;
}

static int stack_event(struct ftrace *f, const char *name, struct span text)
{
	struct field_entry stack = {.name = writer_text(f->w, "stack"),
				    .kind = FIELD_UINT,
				    .role = ROLE_STACK,
				    .where = WHERE_FIXED,
				    .size = 4};

	const char *arrow = span_find_rare(text, "=>", 0);

	if (!arrow && (text.at == text.end || (*text.at == '<' && text.end[-1] != '>'))) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	f->stack.wanted = true;
	f->stack.count = 0;
	if (arrow && arrow > text.at)
		input_damage(f->input, f->input->name, f->offset,
			     "a frame in the line of its event");
	if (arrow)
		f->stack.frames[f->stack.count++] =
			ftrace_frame(f, span_trim((struct span){arrow + 2, text.end}));
	f->row.type = ftrace_plain_type(
		f, name,
		&(struct type_entry){
			.kind = KIND_INSTANT, .fixed_size = 4, .nfields = 1, .fields = &stack});
	return f->row.type && !buffer_zero(&f->row.fixed, 4) ? 0 : -1;
}

/* Take "PID:PRIO:STATE" off a text, and add its fields. */
static bool take_state(struct ftrace *f, struct span *s, const char *const keys[3])
{
	*s = span_trim(*s);
	for (unsigned i = 0; i < 3; i++) {
		struct span word = take_digits(s);

		if (i == 2)
			while (s->at < s->end && *s->at != ' ')
				word.end = ++s->at;
		if (word.at == word.end || (i < 2 && !take(s, ":")))
			return false;
		ftrace_value_add(f, keys[i], word, i < 2);
	}
	return true;
}

/* Read what the tracer wakeup prints: "PREV ==> [CPU] NEXT COMM" of a switch, and "+" in place of
 * the arrow of a wakeup. */
static int scheduled(struct ftrace *f, struct span s, bool *done)
{
	static const char *const prev[] = {"prev_pid", "prev_prio", "prev_state"};
	static const char *const next[] = {"next_pid", "next_prio", "next_state"};
	struct span cpu;
	bool change;

	f->nvalues = 0;
	if (!take_state(f, &s, prev))
		return 0;
	s = span_trim(s);
	change = take(&s, "==> [");
	if (!change && !take(&s, "+ ["))
		return 0;
	cpu = take_digits(&s);
	if (cpu.at == cpu.end || !take(&s, "]"))
		return 0;
	ftrace_value_add(f, "next_cpu", cpu, true);
	if (!take_state(f, &s, next))
		return 0;
	ftrace_value_add(f, "next_comm", span_trim(s), false);
	*done = true;
	return ftrace_typed(f, change ? SPAN("context_switch") : SPAN("wakeup"), NULL);
}

static int unnamed(struct ftrace *f, const struct ftrace_line *l, struct span text)
{
	struct span name;
	bool done = false, arrow;

	if (ftrace_cut_name(f, text)) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	if (span_begins(text, "<stack trace"))
		return stack_event(f, "kernel_stack", text);
	if (span_begins(text, "<user stack trace"))
		return stack_event(f, "user_stack", text);
	if ((span_find_rare(text, "==> [", 4) || span_find_rare(text, "+ [", 2)) &&
	    (scheduled(f, text, &done) || done))
		return done ? 0 : -1;
	if (span_begins(text, "sys_") && (kernel_syscall(f, text, &done) || done))
		return done ? 0 : -1;
	if (text.at < text.end && isdigit((unsigned char)*text.at)) {
		struct ftrace_line call = *l;

		if (ftrace_blk(f, l, &done) || done)
			return done ? 0 : -1;

		/* a call of function_graph, printed by another tracer */
		if (ftrace_graph_line(text, &call) && call.kind == LINE_GRAPH && call.cpu == l->cpu)
			return ftrace_graph(f, &call, call.text, call.duration);
	}
	if (ftrace_form_unnamed(f, text, &name))
		return ftrace_typed(f, name, NULL);
	arrow = span_find_rare(text, " <-", 1) != NULL;
	f->seen.unnamed |= !arrow;
	if (text.at < text.end && (arrow || !memchr(text.at, ' ', span_size(text))))
		return ftrace_function(f, text);
	return printed(f, l, SPAN("print"), (struct span){text.at, text.at}, text);
}

bool ftrace_is_mark(struct span name)
{
	return span_is(name, "print") || span_is(name, "bprint") || span_is(name, "bputs") ||
	       span_is(name, "tracing_mark_write") || span_begins(name, "0x") ||
	       span_is(name, "0") || span_find_rare(name, "+0x", 0);
}

int ftrace_text(struct ftrace *f, const struct ftrace_line *l)
{
	struct span text = l->text, name = ftrace_take_name(&text), none = {text.at, text.at}, rest;
	uint64_t duration;
	bool done = false;

	if (l->form == LINE_MMIO)
		return ftrace_mmio(f, l->text);
	if (name.at == name.end)
		return unnamed(f, l, text);
	if (span_is(name, "function"))
		return ftrace_function(f, text);
	if (span_is(name, "kernel_stack") || span_is(name, "user_stack"))
		return stack_event(f, span_is(name, "kernel_stack") ? "kernel_stack" : "user_stack",
				   text);
	if (span_is(name, "funcgraph_entry") || span_is(name, "funcgraph_exit")) {
		rest = l->text;
		rest.at = name.end + 1;
		if (ftrace_duration(&rest, &duration))
			return ftrace_graph(f, l, rest, duration);
		if (ftrace_graph_raw(f, l, name, text, &done) || done)
			return done ? 0 : -1;
		if (f->seen.call) {
			ftrace_cut_damage(f, f->offset);
			return 0;
		}
		if (named(f, name, text))
			return -1;
		f->row.odd = true;
		return 0;
	}
	if (span_is(name, "print") || span_is(name, "bprint") || span_is(name, "bputs")) {
		if (printed(f, l, name, none, text))
			return -1;
		f->seen.ip |= f->has_row && f->nvalues == 2;
		return 0;
	}
	if (ftrace_is_mark(name))
		return printed(f, l, SPAN("print"), name, text);
	return named(f, name, text);
}
