/*
 * strace.c - the text of strace, and that of ltrace and perf trace
 *
 *     7 1795835573.637495 openat(AT_FDCWD, "/lib/libc.so.6", O_RDONLY) = 3 <0.000010>
 *     7 1795835573.640001 wait4(-1,  <unfinished ...>
 *     9 1795835573.640120 exit_group(0) = ?
 *     9 1795835573.640204 +++ exited with 0 +++
 *     7 1795835573.640310 <... wait4 resumed>NULL, 0, NULL) = 9 <0.000298>
 *     7 1795835573.640371 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---
 *
 *     [pid 18563] 1796022239.034543 open("/etc/hostname", 0, 00) = 3 <0.000375>            ltrace
 *          0.788 ( 0.021 ms): th/28517 openat(dfd: CWD, flags: RDONLY|CLOEXEC) = 4     perf trace
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/strace_line.h"
#include "cmd/trdecode/strace_names.h"
#include "common/ftrace/kernel_names.h"
#include "common/stream/value.h"
#include "common/util/bisect.h"
#include "common/util/heap.h"
#include "common/util/text.h"
#include "common/util/text_span.h"

/*
 * The decoder
 *
 * Calls of one thread do not overlap, but library calls in ltrace's text nest: calls are on the
 * stack of their thread, with depths. A call with its duration is an ENTER and a LEAVE. Without one
 * (no -T) the time of its end is not known, and the call is an INSTANT with the name of the call.
 * A log with durations and without times (-T alone) has a clock of its own: a line begins when the
 * calls of the lines before have ended. In a log with neither the clock counts lines; there only
 * library calls have an ENTER and a LEAVE, for their callees.
 * With a stack (-k) the call has a number, as the stack is that of an ENTER then. Rows wait until
 * no earlier one can follow.
 */

enum {
	DEPTH_MOST = 256,     /* open calls of a thread */
	LOOK_AHEAD = 1 << 20, /* bytes in which the first thread's number is looked for */
	WAIT_FOR_RESUMED = 10 * 1000 * 1000, /* ns that a line may come after the end of its call */
	LINE_KEPT = 1 << 20,		     /* bytes of a call that other text interrupts */
	NAME_KEPT = 256,
	FILES_MOST = 1 << 16,
	FIELDS_MOST = 128,	/* different ones of the events of a name */
	CLOCKS_APART = 1000000, /* ns by which a duration may reach into the next call */
	ERRNO_END = 4096,	/* the kernel returns the negative numbers of errors below */
};

static const uint64_t NONE = UINT64_MAX, SECOND = 1000000000, DAY = 86400 * 1000000000ull;

/* What the rows of a type have in their fixed part. */
enum {
	VARIANT_STACK = 1,
	VARIANT_ADDRESS = 2,
	VARIANT_NUMBER = 4,
	VARIANT_ERROR = 8, /* the number of an error, which has a name */
	VARIANTS = 16,
	FIXED_MOST = 28
};

/* The groups of types. */
enum strace_group { GROUP_CALLS, GROUP_SIGNALS, GROUP_PROCESSES, GROUP_EVENTS };

/* A function, or another kind of event, with the names of its arguments: then those of the files of
 * its descriptors, and what is known of the result. */
struct strace_function {
	const char *names; /* with blanks between */
	uint32_t name, location;
	uint32_t bare;	      /* the name without the library of ltrace -l, "libc.so.6->" */
	uint32_t system_name; /* of an event: "sched" of sched:sched_switch; else 0 */
	enum strace_group group;
	unsigned count;		     /* names */
	unsigned last;		     /* arguments in the location */
	uint64_t descriptors;	     /* a bit for each name of one, the lowest of the first name */
	uint32_t instants[VARIANTS]; /* types */
	bool system;		     /* a system call: no other call of its thread is in it */
	bool raw;		     /* a system call in the text of ltrace */
	bool forks, executes;
	bool returns_thread; /* the result is a thread or process */
};

/* An open call. */
struct strace_open {
	uint32_t function; /* index */
	uint32_t lane;
	unsigned nargs;
	uint64_t time;
	uint64_t address, nr; /* NONE: none */
	uint32_t program;     /* name of the thread after exec; 0: not known */
	bool makes_thread;
	/* of a log with stacks: the details of the ENTER, which waits for its stack */
	uint8_t *tail;
	size_t size;
};

struct strace_thread {
	int32_t tid, tgid, ppid;  /* tid -1: of a log that does not name it; others: not known */
	uint32_t comm;		  /* string; 0: not known */
	uint32_t lane;		  /* 0: to be declared */
	uint64_t end;		  /* of its last call */
	struct strace_open *open; /* its size is 0, or the power of two from nopen on */
	uint32_t nopen;
	bool exited;
};

/* A file of text, which is one of several with -ff. */
struct strace_log {
	struct heap_item item; /* time of the next line */
	struct input_lines lines;
	struct file_window window;
	const char *name;
	int32_t pid; /* from the name of the file, -1 none */
	bool timed, broken_known, tree;
	bool in_table;
	unsigned rules; /* of the table, so far */
	/* what interrupts the call is a message of strace or ltrace, up to the end of the line */
	bool attached;
	uint64_t last;		  /* time of the last line */
	uint64_t base;		  /* of -t: ns of the days before; of -r: unused */
	struct buffer broken;	  /* a call that other text interrupts */
	uint64_t broken_at;	  /* its offset */
	struct buffer unfinished; /* the head of a line that resumes the call in the line before */
	struct strace_line line;
	struct strace *s;
};

/* The call of the line before, whose stack may follow. */
struct strace_held {
	bool any, leaves, enters;
	uint32_t thread, function;
	uint32_t lane, number;
	unsigned depth;
	uint64_t enter, leave; /* own times; leave NONE: an INSTANT */
	uint64_t address, nr;
	uint32_t error;			 /* 0 none */
	struct buffer arguments, result; /* details */
	struct buffer frames;		 /* locations, u32 each, the innermost first */
};

struct strace {
	struct input *input;
	struct writer *w;
	struct row_queue queue;
	struct strace_log *logs;
	struct heap_item **items;
	struct heap heap;
	size_t nlogs;
	enum strace_time_form form; /* of the times: that of the first line with one */
	uint64_t first;		    /* time of that line; NONE: not known */
	bool relative, ticks, bracketed, has_durations, has_stacks, bare_pids;
	bool library; /* the text of ltrace: calls are of libraries, but for SYS_read or read@SYS */
	uint64_t now, tick;
	uint32_t source, clock, number;
	uint32_t enters[VARIANTS], leaves[VARIANTS];
	struct id_cache lanes, function_numbers, errors, frames, spaces;
	struct kernel_names names;
	struct argument_table fields; /* of the events of perf trace, by their names */
	struct buffer values;	      /* of an event, by name */
	struct strace_function *functions;
	size_t nfunctions, functions_capacity;
	struct strace_thread *threads;
	size_t nthreads, threads_capacity;
	struct key_map thread_numbers; /* index + 1 by tid */
	size_t live, live_sum;	       /* threads that have not ended; the sum of their indexes */
	size_t forking; /* open calls that make a thread or process; the last's thread */
	uint32_t forker;
	int32_t root;	   /* thread of the lines without one; -1 not known */
	size_t unfinished; /* open calls */
	struct strace_held held;
	struct buffer text;
	const char *table; /* the last table of sums: what it is, and what to do; NULL: none */
	uint64_t calls, signals, dumps;
	uint64_t texts;	 /* calls with text of another program in them */
	uint64_t unlike; /* lines without a time, or with one of another form */
	uint64_t foreign, foreign_at,
		broken; /* lines that are none of strace; the first's offset */
};

/* --- functions and the names of their arguments --- */

static bool strace_is_descriptor(struct text_span name)
{
	return (span_find(name, "fd") && !span_find(name, "fds")) || span_is(name, "fildes") ||
	       span_is(name, "mqdes");
}

/* Find the names of the arguments of a system call. NULL: it is none. */
static const char *strace_find_names(struct text_span name)
{
	size_t n = span_size(name), all = sizeof strace_names / sizeof *strace_names;
	size_t at = n ? BISECT(all, i, strncmp(strace_names[i], name.at, n) < 0) : all;

	/* a longer name with the same beginning, such as accept4, is later */
	if (at == all || strncmp(strace_names[at], name.at, n) ||
	    (strace_names[at][n] && strace_names[at][n] != ' '))
		return NULL;
	return strace_names[at] + n;
}

static struct text_span strace_names_of(const struct strace_function *f)
{
	return (struct text_span){f->names, f->names + strlen(f->names)};
}

/* Declare the location of a function with the names of its arguments. */
static int strace_declare_location(struct strace *s, struct strace_function *f)
{
	struct text_span names = strace_names_of(f), name;
	struct buffer ids = {0}, path = {0};
	int failed = 0;

	while (!failed && span_size(name = span_take_word(&names))) {
		failed = buffer_u32(&ids, writer_string(s->w, name.at, span_size(name)));
		f->descriptors |= (uint64_t)strace_is_descriptor(name) << f->count++;
	}
	names = strace_names_of(f);
	for (unsigned i = 0; !failed && i < f->count; i++) {
		name = span_take_word(&names);
		if (!(f->descriptors >> i & 1))
			continue;
		path.size = 0;
		failed = buffer_append(&path, name.at, span_size(name)) ||
			 buffer_puts(&path, "_path") ||
			 buffer_u32(&ids, writer_string(s->w, path.data, path.size));
	}
	if (!failed && f->count && f->group == GROUP_CALLS)
		failed = buffer_u32(&ids, writer_text(s->w, "ret_path")) ||
			 buffer_u32(&ids, writer_text(s->w, "ret_text"));
	if (!failed) {
		f->last = (unsigned)(ids.size / 4);
		f->location =
			arguments_location(s->w, f->name, (const uint32_t *)ids.data, f->last);
	}
	buffer_free(&ids);
	buffer_free(&path);
	return failed || !f->location ? -1 : 0;
}

static bool strace_returns_thread(struct text_span name)
{
	static const char *const names[] = {
		"clone",  "clone3", "fork",   "getpgid",	 "getpgrp", "getpid", "getppid",
		"getsid", "gettid", "setsid", "set_tid_address", "vfork",   "wait4",  "waitpid"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (span_is(name, names[i]))
			return true;
	return false;
}

/* Get the name that the kernel has for a system call in the text of ltrace: that of SYS_read, or
 * read@SYS. at NULL: it is none. */
static struct text_span strace_raw_name(struct text_span name)
{
	if (span_skip(&name, "SYS_"))
		return name;
	if (!span_ends(name, "@SYS"))
		return (struct text_span){0};
	name.end -= strlen("@SYS");
	return name;
}

/* Find the names of the arguments of a function. NULL: they are not known. In the text of ltrace
 * "read" is a function of a library, whose arguments need not be those of the system call. */
static const char *strace_function_names(const struct strace *s, struct text_span name,
					 struct text_span raw)
{
	char wide[NAME_KEPT];

	if (!raw.at)
		return s->library ? NULL : strace_find_names(name);
	/* ltrace has the name pread of pread64 */
	if (!strace_find_names(raw) && span_size(raw) < sizeof wide - 2) {
		snprintf(wide, sizeof wide, "%.*s64", (int)span_size(raw), raw.at);
		raw = (struct text_span){wide, wide + strlen(wide)};
	}
	return strace_find_names(raw);
}

/* Get the index of a function. names: of its arguments; NULL: the table has them. Returns its index
 * + 1; 0: out of memory. */
static uint32_t strace_function_of(struct strace *s, struct text_span name, enum strace_group group,
				   const char *names)
{
	uint32_t *number = id_cache_number(&s->function_numbers, name.at, span_size(name));
	struct text_span raw = strace_raw_name(name), called = raw.at ? raw : name, bare = name;
	const char *found, *library, *colon;
	struct strace_function *f;

	if (!number || *number)
		return number ? *number : 0;
	found = names ? NULL : strace_function_names(s, name, raw);
	library = span_find(name, "->");
	bare.at = library ? library + 2 : name.at;
	colon = group == GROUP_EVENTS ? memchr(name.at, ':', span_size(name)) : NULL;
	if (ARRAY_GROW(s->functions, s->functions_capacity, s->nfunctions))
		return 0;
	f = &s->functions[s->nfunctions];
	*f = (struct strace_function){
		.names = names	 ? names
			 : found ? found
				 : "",
		.system = found || raw.at || span_begins(name, "syscall_0x"),
		.raw = raw.at,
		.name = writer_string(s->w, name.at, span_size(name)),
		.bare = writer_string(s->w, bare.at, span_size(bare)),
		.group = group,
		.forks = span_is(called, "clone") || span_is(called, "clone3") ||
			 span_is(called, "fork") || span_is(called, "vfork"),
		.executes = span_is(called, "execve") || span_is(called, "execveat"),
		.returns_thread = strace_returns_thread(name),
	};
	if (colon) {
		f->name = writer_string(s->w, colon + 1, (size_t)(name.end - colon) - 1);
		f->system_name = writer_string(s->w, name.at, (size_t)(colon - name.at));
	}
	if (!f->name || !f->bare || (colon && !f->system_name) || strace_declare_location(s, f))
		return 0;
	return *number = (uint32_t)++s->nfunctions;
}

/* --- values --- */

/* Copy a text with the characters that its escapes mean, up to a quote or the end. Returns where it
 * ends; NULL: out of memory. */
static const char *strace_unescape(struct buffer *b, struct text_span s, bool quoted)
{
	static const char letters[] = "n\nt\tr\rv\vf\fa\ab\b";
	const char *p = s.at, *known;

	b->size = 0;
	if (buffer_reserve(b, span_size(s) + 8))
		return NULL;
	while (p < s.end && !(quoted && *p == '"')) {
		unsigned n = 0, digits = 0;

		if (*p != '\\' || p + 1 == s.end) {
			b->data[b->size++] = (uint8_t)*p++;
			continue;
		}
		p++;
		if (*p == 'x') {
			for (p++; p < s.end && digits < 2 && strchr("0123456789abcdef", *p) && *p;
			     p++, digits++)
				n = n * 16 + (unsigned)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
			b->data[b->size++] = (uint8_t)n;
			continue;
		}
		for (; p < s.end && digits < 3 && *p >= '0' && *p <= '7'; p++, digits++)
			n = n * 8 + (unsigned)(*p - '0');
		if (digits) {
			b->data[b->size++] = (uint8_t)n;
			continue;
		}
		known = *p ? strchr(letters, *p) : NULL;
		b->data[b->size++] = (uint8_t)(known && !((known - letters) & 1) ? known[1] : *p);
		p++;
	}
	return p;
}

/* Get the name of a file or thread with the characters that its escapes mean; perf trace escapes
 * none. Valid until the next. at NULL: out of memory. */
static struct text_span strace_plain_name(struct strace *s, struct text_span name)
{
	if (s->form == TIME_MS || !span_size(name) || !memchr(name.at, '\\', span_size(name)))
		return name;
	if (!strace_unescape(&s->text, name, false))
		return (struct text_span){0};
	return span_of(&s->text);
}

/* Put the name of a file. */
static int strace_put_name(struct strace *s, struct buffer *b, struct text_span name)
{
	name = strace_plain_name(s, name);
	return name.at ? value_put_bytes(b, VALUE_STRING, name.at, span_size(name)) : -1;
}

/* Read a number: decimal, or with 0x. *hex: the latter. Returns its end; s.at: there is none. */
static const char *strace_number(struct text_span s, uint64_t *number, bool *hex)
{
	const char *p = s.at;

	*number = 0;
	*hex = span_begins(s, "0x");
	if (*hex) {
		p += 2;
		return digits_hex(&p, s.end, number) ? p : s.at;
	}
	for (; p < s.end && is_digit(*p); p++)
		if (__builtin_mul_overflow(*number, 10u, number) ||
		    __builtin_add_overflow(*number, (unsigned)(*p - '0'), number))
			return s.at;
	return p;
}

/* Take the file off a descriptor: 3</etc/passwd>, AT_FDCWD</home>, and of -X -100</home> or with a
 * comment. Returns false if it has none. */
static bool strace_split_path(struct text_span *value, struct text_span *path)
{
	struct text_span rest = *value;
	const char *open, *comment;

	span_skip(&rest, "-");
	open = rest.at;
	while (open < rest.end && is_digit(*open))
		open++;
	if (open == value->at && span_begins(*value, "AT_FDCWD"))
		open += strlen("AT_FDCWD");
	rest.at = open;
	if (span_begins(rest, " /*") && (comment = span_find(rest, "*/")))
		open = comment + 2;
	if (open == value->at || open == value->end || *open != '<')
		return false;
	*path = (struct text_span){open + 1, value->end};
	if (span_ends(*path, ">(deleted)"))
		path->end -= strlen("(deleted)");
	if (!span_ends(*path, ">"))
		return false;
	path->end--;
	value->end = open;
	return true;
}

/* Put a text, a number, NULL, or any other text unchanged. */
static int strace_put_value(struct strace *s, struct buffer *b, struct text_span v)
{
	bool minus = span_size(v) > 1 && *v.at == '-' && is_digit(v.at[1]), hex;
	uint64_t number;
	const char *end;

	if (span_size(v) && *v.at == '"') {
		end = strace_unescape(&s->text, (struct text_span){v.at + 1, v.end}, true);
		if (!end)
			return -1;
		end += end < v.end;
		/* the beginning of a text: "abc"... */
		if (v.end - end == 3 && !memcmp(end, "...", 3)) {
			memcpy(s->text.data + s->text.size, "...", 3);
			s->text.size += 3;
			end = v.end;
		}
		if (end == v.end)
			return value_put_bytes(b, VALUE_STRING, s->text.data, s->text.size);
	}
	if (span_is(v, "NULL") || span_is(v, "nil"))
		return value_put_simple(b, VALUE_NULL);
	v.at += minus;
	end = span_size(v) ? strace_number(v, &number, &hex) : v.at;
	/* a comment follows with -X verbose, and in execve; the digits of 0644 are no decimal ones
	 */
	if (end > v.at && (end == v.end || *end == ' ') && (hex || *v.at != '0' || end == v.at + 1))
		return value_put_uint(b,
				      minus ? VALUE_NEGATIVE
				      : hex ? VALUE_POINTER
					    : VALUE_UINT,
				      number);
	v.at -= minus;
	return value_put_bytes(b, VALUE_STRING, v.at, span_size(v));
}

/* Find the argument that a text names, "flags=A" or "flags: A", and take the name off. Returns its
 * number from 1; 0: the text names none. *fd: how many descriptors are before it, and *path: it is
 * one. */
static unsigned strace_named(const struct strace_function *f, struct text_span *text,
			     unsigned position, unsigned *fd, bool *is_fd)
{
	struct text_span names = strace_names_of(f), name, key = {text->at, text->at}, value;
	unsigned found = 0;

	while (key.end < text->end && is_name(*key.end))
		key.end++;
	value = (struct text_span){key.end, text->end};
	if (!span_skip(&value, "=") && !span_skip(&value, ": "))
		key.end = key.at;
	*fd = 0;
	*is_fd = false;
	for (unsigned i = 1; i <= f->count; i++) {
		bool descriptor = f->descriptors >> (i - 1) & 1;

		name = span_take_word(&names);
		if (span_size(key) ? span_size(name) == span_size(key) &&
					     !memcmp(name.at, key.at, span_size(key))
				   : i == position) {
			found = i;
			*is_fd = descriptor;
			break;
		}
		*fd += descriptor;
	}
	if (span_size(key) && found)
		*text = value;
	else if (span_size(key))
		return position <= f->count && f->group == GROUP_CALLS ? position : 0;
	return found;
}

/* Put an argument at a position from 1. */
static int strace_put_argument(struct strace *s, uint32_t function, unsigned position,
			       struct text_span text, struct buffer *b)
{
	const struct strace_function *f = &s->functions[function];
	struct text_span path;
	unsigned fd = 0, number;
	bool is_fd = false, has_path;

	number = f->count ? strace_named(f, &text, position, &fd, &is_fd) : position;
	if (!number && f->group != GROUP_CALLS)
		return 0;
	if (!number)
		number = f->last + position;
	has_path = f->count && number <= f->count && strace_split_path(&text, &path);
	if (value_put_detail(b, DETAIL_ARGUMENT, number) || strace_put_value(s, b, text))
		return -1;
	if (!has_path || !is_fd)
		return 0;
	return value_put_detail(b, DETAIL_ARGUMENT, f->count + 1 + fd) ||
			       strace_put_name(s, b, path)
		       ? -1
		       : 0;
}

/* Put the arguments of a line, after those of the line that it resumes. */
static int strace_put_arguments(struct strace *s, uint32_t function, const struct strace_line *l,
				unsigned before, struct buffer *b)
{
	for (unsigned i = 0; i < l->nargs; i++)
		if (span_size(l->args[i]) &&
		    strace_put_argument(s, function, before + i + 1, l->args[i], b))
			return -1;
	return 0;
}

/* Find the number of an error; 0: it is none. */
static uint64_t strace_error(const struct strace *s, struct text_span name)
{
	uint32_t known = intern_find(&s->errors.keys, name.at, span_size(name));

	return known == INTERN_NONE ? 0 : s->errors.numbers[known];
}

/* Put what follows the number of a result: its file, and any other text. */
static int strace_put_result_text(struct strace *s, const struct strace_function *f,
				  struct text_span path, struct text_span text, struct buffer *b)
{
	if (!f->count)
		return 0;
	/* -Y prints the names of threads, too */
	if (span_size(path) && !f->returns_thread &&
	    (value_put_detail(b, DETAIL_ARGUMENT, f->last - 1) || strace_put_name(s, b, path)))
		return -1;
	return span_size(text) && (value_put_detail(b, DETAIL_ARGUMENT, f->last) ||
				   value_put_bytes(b, VALUE_STRING, text.at, span_size(text)))
		       ? -1
		       : 0;
}

/* Find the error of a result: "-1 ENOENT (No such file or directory)", "? ERESTARTSYS (To be
 * restarted)", "-1 (errno 2)", "-1 (unknown) (INTERNAL ERROR: strerror_r(514, ..." of perf trace,
 * and
 * "-2" of a system call in the text of ltrace. 0: it has none. */
static uint32_t strace_result_error(const struct strace *s, const struct strace_function *f,
				    struct text_span word, struct text_span rest)
{
	struct text_span name = span_take_word(&rest);
	uint64_t number = 0;
	const char *digits = NULL;

	if (f->raw && span_skip(&word, "-"))
		digits = word.at;
	else if (span_is(name, "(errno"))
		digits = span_skip_blanks(rest.at, rest.end);
	else if (span_is(name, "(unknown)") && (digits = span_find(rest, "strerror_r(")))
		digits += strlen("strerror_r(");
	else if (span_is(word, "?") || span_is(word, "-1"))
		return (uint32_t)strace_error(s, name);
	if (!digits)
		return 0;
	span_digits(digits, rest.end, &number);
	return number < ERRNO_END ? (uint32_t)number : 0;
}

/* Take the result of the held call: "3", "3</etc/passwd>", "-1 ENOENT (No such file or directory)",
 * "1 ([{fd=3, revents=POLLIN}])", "0 (Timeout)". An error is a field of the row, another result is
 * a value. */
static int strace_put_result(struct strace *s, struct strace_held *h, struct text_span result)
{
	const struct strace_function *f = &s->functions[h->function];
	struct text_span rest = result, word, path = {0};

	if (!span_size(result) || span_is(result, "?") || span_is(result, "<void>"))
		return 0;
	word = strace_take_result(&rest);
	h->error = strace_result_error(s, f, word, rest);
	if (h->error || span_is(word, "?"))
		return 0;
	strace_split_path(&word, &path);
	return value_put_detail(&h->result, DETAIL_RETURN, 0) ||
			       strace_put_value(s, &h->result, word) ||
			       strace_put_result_text(s, f, path, span_trim(rest), &h->result)
		       ? -1
		       : 0;
}

/* --- threads --- */

/* Get a thread by its number, -1: of the lines that name none. Returns its index + 1; 0: out of
 * memory. */
static uint32_t strace_thread_of(struct strace *s, int32_t tid)
{
	uint32_t *number = key_map_number(&s->thread_numbers, (uint32_t)tid);
	struct strace_thread *t;

	if (!number)
		return 0;
	if (*number) {
		t = &s->threads[*number - 1];
		if (t->exited) {
			t->exited = false;
			s->live++;
			s->live_sum += *number - 1;
		}
		return *number;
	}
	if (ARRAY_GROW(s->threads, s->threads_capacity, s->nthreads))
		return 0;
	t = &s->threads[s->nthreads];
	*t = (struct strace_thread){.tid = tid, .tgid = -1, .ppid = -1};
	s->live++;
	s->live_sum += s->nthreads++;
	*number = (uint32_t)s->nthreads;
	/* the only call that can have made the thread */
	if (s->forking == 1) {
		const struct strace_thread *by = &s->threads[s->forker];

		t->comm = by->comm;
		for (size_t i = 0; i < by->nopen; i++)
			if (s->functions[by->open[i].function].forks && by->tgid >= 0) {
				t->tgid = by->open[i].makes_thread ? by->tgid : tid;
				t->ppid = by->open[i].makes_thread ? by->ppid : by->tgid;
			}
	}
	return *number;
}

/* Find the thread of a line: the index of it. Returns -1 when out of memory. */
static int64_t strace_line_thread(struct strace *s, const struct strace_log *g)
{
	const struct strace_line *l = &g->line;
	int32_t tid = l->pid >= 0 ? l->pid : s->root >= 0 ? s->root : g->pid;
	struct strace_thread *t;
	uint32_t number;
	struct text_span name;
	uint32_t comm;

	/* strace names no thread where only one is left */
	if (l->pid < 0 && s->bracketed && s->live == 1)
		number = (uint32_t)s->live_sum + 1;
	else
		number = strace_thread_of(s, tid);
	if (!number)
		return -1;
	t = &s->threads[number - 1];
	if (span_size(l->comm)) {
		name = strace_plain_name(s, l->comm);
		comm = name.at ? writer_string(s->w, name.at, span_size(name)) : 0;
		if (!comm)
			return -1;
		if (comm != t->comm) {
			t->comm = comm;
			t->lane = 0;
		}
	}
	return number - 1;
}

/* Declare the lane of a thread, if it is not. 0: out of memory. */
static uint32_t strace_lane(struct strace *s, struct strace_thread *t)
{
	if (!t->lane)
		t->lane = writer_lane_once(
			s->w, &s->lanes,
			&(struct lane_entry){.source = s->source,
					     .clock = s->clock,
					     .comm = t->comm,
					     .flags = (t->tid >= 0 ? LANE_HAS_TID : 0) |
						      (t->tgid >= 0 ? LANE_HAS_PID : 0),
					     .tid = t->tid,
					     .pid = t->tgid,
					     .ppid = t->ppid});
	return t->lane;
}

/* A call has made a thread or process: it is a child of the caller. */
static int strace_child(struct strace *s, uint32_t parent, struct text_span result, bool is_thread)
{
	uint32_t comm = s->threads[parent].comm;
	int32_t tgid = s->threads[parent].tgid, ppid = s->threads[parent].ppid;
	uint64_t tid;
	uint32_t number;
	const char *end = span_digits(result.at, result.end, &tid);
	struct strace_thread *t;

	if (end == result.at || !tid || tid > LINE_PID_MOST)
		return 0;
	number = strace_thread_of(s, (int32_t)tid);
	if (!number)
		return -1;
	t = &s->threads[number - 1];
	if (t->lane)
		return 0;
	t->comm = t->comm ? t->comm : comm;
	if (t->tgid >= 0 || tgid < 0)
		return 0;
	t->tgid = is_thread ? tgid : t->tid;
	t->ppid = is_thread ? ppid : tgid;
	return 0;
}

/* Get the name that a thread has after it executes a program: that of its file. 0: not known. */
static uint32_t strace_program(struct strace *s, const struct strace_line *l)
{
	enum { COMM_SIZE = 15 };
	struct text_span file = {0};
	const char *slash;

	for (unsigned i = 0; i < 2 && i < l->nargs && !span_size(file); i++)
		if (span_size(l->args[i]) > 2 && *l->args[i].at == '"' && l->args[i].end[-1] == '"')
			file = (struct text_span){l->args[i].at + 1, l->args[i].end - 1};
	file = strace_plain_name(s, file);
	slash = span_size(file) ? memrchr(file.at, '/', span_size(file)) : NULL;
	file.at = slash ? slash + 1 : file.at;
	return writer_string(s->w, file.at,
			     span_size(file) < COMM_SIZE ? span_size(file) : COMM_SIZE);
}

/* A program was executed, whose only thread is the process. comm: its name, 0 not known. */
static void strace_executed(struct strace_thread *t, uint32_t comm)
{
	t->lane = t->tgid < 0 ? 0 : t->lane;
	t->tgid = t->tid;
	if (!comm)
		return;
	t->comm = comm;
	t->lane = 0;
}

/* --- types --- */

/* Declare a type, if it is not; *id is its place. variant: what rows have. 0: out of memory. */
static uint32_t strace_type(struct strace *s, uint32_t *id, struct type_entry *e, unsigned variant)
{
	struct field_entry fields[5];
	bool numbered = variant & VARIANT_STACK && e->kind != KIND_INSTANT;

	if (*id)
		return *id;
	e->source = s->source;
	e->flags |= TYPE_TAIL | TYPE_VALUES | (numbered ? TYPE_CALL_NUMBER : 0);
	if (e->kind != KIND_INSTANT && !numbered)
		e->flags |= TYPE_DEPTH;
	e->fields = fields;
	if (numbered)
		fields[e->nfields++] = (struct field_entry){
			.name = writer_text(s->w, "call"), .role = ROLE_CALL, .size = 4};
	if (variant & VARIANT_STACK && e->kind != KIND_LEAVE)
		fields[e->nfields++] = (struct field_entry){
			.name = writer_text(s->w, "stack"), .role = ROLE_STACK, .size = 4};
	if (variant & VARIANT_ADDRESS)
		fields[e->nfields++] = (struct field_entry){
			.name = writer_text(s->w, "ip"), .kind = FIELD_HEX, .size = 8};
	if (variant & VARIANT_NUMBER)
		fields[e->nfields++] =
			(struct field_entry){.name = writer_text(s->w, "nr"), .size = 8};
	if (variant & VARIANT_ERROR)
		fields[e->nfields++] = (struct field_entry){
			.name = writer_text(s->w, "ret"),
			.kind = FIELD_INT,
			.size = 4,
			.definition = kernel_names_of(&s->names, s->w, "sys_exit", 8, "ret", 3)};
	for (uint32_t i = 0; i < e->nfields; i++) {
		fields[i].where = WHERE_FIXED;
		fields[i].offset = e->fixed_size;
		e->fixed_size += fields[i].size;
	}
	*id = writer_type(s->w, e);
	if (*id && row_filter_announce(s->input->decoding->row_filter, *id, 0))
		return 0;
	return *id;
}

static uint32_t strace_enter_type(struct strace *s, unsigned variant)
{
	return strace_type(s, &s->enters[variant],
			   &(struct type_entry){.name = writer_text(s->w, "enter"),
						.group = writer_text(s->w, "strace"),
						.kind = KIND_ENTER},
			   variant);
}

static uint32_t strace_leave_type(struct strace *s, unsigned variant)
{
	return strace_type(s, &s->leaves[variant],
			   &(struct type_entry){.name = writer_text(s->w, "leave"),
						.group = writer_text(s->w, "strace"),
						.kind = KIND_LEAVE},
			   variant);
}

static uint32_t strace_instant_type(struct strace *s, struct strace_function *f, unsigned variant)
{
	static const char *const groups[] = {"strace", "signal", "process", "event"};

	return strace_type(
		s, &f->instants[variant],
		&(struct type_entry){.name = f->name,
				     .group = f->system_name ? f->system_name
							     : writer_text(s->w, groups[f->group]),
				     .kind = KIND_INSTANT},
		variant);
}

/* --- rows --- */

static int strace_put(struct strace *s, struct new_row *r, uint32_t stack)
{
	struct row_needs needs = {.stack = stack};

	r->time = merge_shifted(r->time, s->input->shift);
	r->has_tail = true;
	return !r->lane || !r->type ? -1 : row_queue_put(&s->queue, r, stack ? &needs : NULL);
}

/* Write the fixed part of a row. Returns its size. */
static uint32_t strace_fixed(uint8_t *to, const struct strace_held *h, enum type_kind kind,
			     unsigned variant, uint32_t stack)
{
	uint8_t *p = to;

	if (variant & VARIANT_STACK && kind != KIND_INSTANT) {
		put_u32(p, h->number);
		p += 4;
	}
	if (variant & VARIANT_STACK && kind != KIND_LEAVE) {
		put_u32(p, stack);
		p += 4;
	}
	if (variant & VARIANT_ADDRESS) {
		put_u64(p, h->address);
		p += 8;
	}
	if (variant & VARIANT_NUMBER) {
		put_u64(p, h->nr);
		p += 8;
	}
	if (variant & VARIANT_ERROR) {
		put_u32(p, -h->error);
		p += 4;
	}
	return (uint32_t)(p - to);
}

/* Write the ENTER, or the INSTANT, of the held call. */
static int strace_put_begin(struct strace *s, struct strace_held *h, uint32_t stack)
{
	struct strace_function *f = &s->functions[h->function];
	bool instant = !h->enters;
	unsigned variant = (stack || h->number ? VARIANT_STACK : 0) |
			   (h->address != NONE ? VARIANT_ADDRESS : 0) |
			   (h->nr != NONE ? VARIANT_NUMBER : 0) |
			   (instant && h->error ? VARIANT_ERROR : 0);
	uint8_t fixed[FIXED_MOST];
	struct new_row r = {.time = h->enter,
			    .lane = h->lane,
			    .type = instant ? strace_instant_type(s, f, variant)
					    : strace_enter_type(s, variant),
			    .location = f->location,
			    .depth = instant || variant & VARIANT_STACK ? 0 : h->depth,
			    .fixed = fixed,
			    .fixed_size = strace_fixed(
				    fixed, h, instant ? KIND_INSTANT : KIND_ENTER, variant, stack),
			    .tail = h->arguments.data,
			    .tail_size = (uint32_t)h->arguments.size};

	return strace_put(s, &r, stack);
}

static int strace_put_leave(struct strace *s, const struct strace_held *h)
{
	unsigned variant = (h->number ? VARIANT_STACK : 0) | (h->error ? VARIANT_ERROR : 0);
	uint8_t fixed[FIXED_MOST];
	struct new_row r = {.time = h->leave,
			    .lane = h->lane,
			    .type = strace_leave_type(s, variant),
			    .location = s->functions[h->function].location,
			    .depth = h->number ? 0 : h->depth,
			    .fixed = fixed,
			    .fixed_size = strace_fixed(fixed, h, KIND_LEAVE, variant, 0),
			    .tail = h->result.data,
			    .tail_size = (uint32_t)h->result.size};

	return strace_put(s, &r, 0);
}

/* Write the rows of the held call: its stack is known. */
static int strace_release(struct strace *s)
{
	struct strace_held *h = &s->held;
	uint32_t stack = 0;

	if (!h->any)
		return 0;
	h->any = false;
	if (h->frames.size) {
		stack = writer_stack_of(s->w, (const uint32_t *)(const void *)h->frames.data,
					h->frames.size / 4);
		if (!stack)
			return -1;
		h->frames.size = 0;
	}
	if (!h->leaves && !h->enters)
		/* an INSTANT has all values */
		return buffer_append(&h->arguments, h->result.data, h->result.size) ||
				       strace_put_begin(s, h, stack)
			       ? -1
			       : 0;
	/* a stack that follows the end of a call whose ENTER was written is left out */
	if (h->enters && stack)
		h->number = ++s->number;
	return (h->enters && strace_put_begin(s, h, stack)) || (h->leaves && strace_put_leave(s, h))
		       ? -1
		       : 0;
}

/* --- open calls --- */

/* Test whether a call has neither a duration nor callees. */
static bool strace_is_timeless(const struct strace *s, uint32_t function)
{
	return s->ticks && s->functions[function].system;
}

/* Test whether the ENTER of a call waits for the line that resumes it: for its stack, or where only
 * that line shows whether the time of its end is known. */
static bool strace_waits(const struct strace *s, uint32_t function, const struct strace_line *l)
{
	return s->has_stacks || s->form == TIME_MS || (l->coarse && !s->has_durations) ||
	       strace_is_timeless(s, function);
}

/* Get a time, which is the next tick in a log without times. */
static uint64_t strace_tick(struct strace *s, uint64_t time)
{
	return s->ticks ? ++s->tick : time;
}

/* Get the held call, without values. */
static struct strace_held *strace_hold(struct strace *s, uint32_t thread, uint32_t function)
{
	struct strace_held *h = &s->held;

	h->any = true;
	h->leaves = h->enters = false;
	h->thread = thread;
	h->function = function;
	h->depth = (unsigned)s->threads[thread].nopen;
	h->lane = strace_lane(s, &s->threads[thread]);
	h->number = h->error = 0;
	h->leave = h->address = h->nr = NONE;
	h->arguments.size = h->result.size = h->frames.size = 0;
	return h;
}

/* Count an open call that has ended. */
static void strace_close_call(struct strace *s, struct strace_open *o)
{
	s->unfinished--;
	s->forking -= s->functions[o->function].forks;
	free(o->tail);
	o->tail = NULL;
}

/* End the open calls of a thread from one on, without results. Those whose ENTER waits are written.
 */
static int strace_end_calls(struct strace *s, uint32_t thread, size_t first)
{
	struct strace_thread *t = &s->threads[thread];
	int failed = 0;

	while (t->nopen > first) {
		struct strace_open *o = &t->open[--t->nopen];

		if (o->tail && !failed) {
			struct strace_held *h = strace_hold(s, thread, o->function);

			h->enters = s->has_durations ||
				    (s->ticks && !strace_is_timeless(s, o->function));
			h->enter = o->time;
			h->address = o->address;
			h->nr = o->nr;
			h->lane = o->lane;
			failed =
				buffer_append(&h->arguments, o->tail, o->size) || strace_release(s);
		}
		strace_close_call(s, o);
	}
	return failed ? -1 : 0;
}

/* End the system calls that the line of another one shows to have ended. Only library calls nest.
 */
static int strace_end_system_calls(struct strace *s, uint32_t thread, uint32_t function)
{
	const struct strace_thread *t = &s->threads[thread];
	size_t first = t->nopen;

	while (first && s->functions[function].system &&
	       s->functions[t->open[first - 1].function].system)
		first--;
	return strace_end_calls(s, thread, first);
}

static bool strace_makes_thread(const struct strace_line *l)
{
	for (unsigned i = 0; i < l->nargs; i++)
		/* as strace has it, and perf trace */
		if (span_find(l->args[i], "CLONE_THREAD") || span_find(l->args[i], "|THREAD"))
			return true;
	return false;
}

/* Add an open call of a thread, most of which have one. NULL: out of memory. */
static struct strace_open *strace_add_open(struct strace_thread *t)
{
	struct strace_open *grown;

	if (!(t->nopen & (t->nopen - 1))) {
		grown = reallocarray(t->open, t->nopen ? 2 * t->nopen : 1, sizeof *grown);
		if (!grown)
			return NULL;
		t->open = grown;
	}
	return &t->open[t->nopen++];
}

/* Take the beginning of a call. */
static int strace_open_call(struct strace *s, uint32_t thread, uint32_t function,
			    const struct strace_line *l, uint64_t time)
{
	struct strace_thread *t = &s->threads[thread];
	struct strace_held *h;
	struct strace_open *o;
	bool waits = strace_waits(s, function, l);

	if (t->nopen == DEPTH_MOST && strace_end_calls(s, thread, 0))
		return -1;
	h = strace_hold(s, thread, function);
	o = strace_put_arguments(s, function, l, 0, &h->arguments) ? NULL : strace_add_open(t);
	if (!o)
		return -1;
	h->enter = time;
	h->enters = true;
	h->address = l->address;
	h->nr = l->number;
	h->any = !waits;
	*o = (struct strace_open){.function = function,
				  .lane = h->lane,
				  .nargs = l->nargs - (l->nargs && !l->comma),
				  .time = time,
				  .address = l->address,
				  .nr = l->number};
	s->unfinished++;
	if (s->functions[function].executes)
		o->program = strace_program(s, l);
	if (s->functions[function].forks) {
		s->forking++;
		s->forker = thread;
		o->makes_thread = strace_makes_thread(l);
	}
	if (waits) {
		o->size = h->arguments.size;
		o->tail = malloc(o->size + 1);
		if (!o->tail)
			return -1;
		memcpy(o->tail, o->size ? h->arguments.data : (const uint8_t *)"", o->size);
	}
	return 0;
}

/* Find the open call that a line ends: the innermost of its name, which lacks the library with -l.
 * Calls in it have ended. */
static struct strace_open *strace_find_open(struct strace *s, struct strace_thread *t,
					    uint32_t function)
{
	size_t i = t->nopen;

	while (i && s->functions[t->open[i - 1].function].bare != s->functions[function].bare)
		i--;
	if (!i)
		return NULL;
	while (t->nopen > i)
		strace_close_call(s, &t->open[--t->nopen]);
	return &t->open[i - 1];
}

/* --- lines become rows --- */

/* What follows a call that has returned. */
static int strace_returned(struct strace *s, uint32_t thread, uint32_t function,
			   struct text_span result, const struct strace_open *o)
{
	const struct strace_function *f = &s->functions[function];

	if (f->forks)
		return strace_child(s, thread, result, o->makes_thread);
	if (f->executes && span_is(result, "0"))
		strace_executed(&s->threads[thread], o->program);
	return 0;
}

/* Take a call with its result. */
static int strace_take_call(struct strace *s, uint32_t thread, uint32_t function,
			    const struct strace_line *l, uint64_t time)
{
	struct strace_thread *t = &s->threads[thread];
	struct strace_open o = {0};
	struct strace_held *h;

	/* exit, or a thread that is killed in the call */
	if (span_is(l->result, "?") && l->duration == NONE && (s->has_durations || s->ticks) &&
	    !strace_is_timeless(s, function))
		return strace_open_call(s, thread, function, l, strace_tick(s, time));
	h = strace_hold(s, thread, function);
	if (strace_put_arguments(s, function, l, 0, &h->arguments) ||
	    strace_put_result(s, h, l->result))
		return -1;
	h->enter = strace_tick(s, time);
	h->address = l->address;
	h->nr = l->number;
	h->enters = h->leaves = s->ticks ? !strace_is_timeless(s, function)
					 : l->duration != NONE && l->duration < TIME_LIMIT - time;
	if (h->leaves)
		t->end = h->leave = strace_tick(s, time + l->duration);
	if (s->functions[function].forks)
		o.makes_thread = strace_makes_thread(l);
	if (s->functions[function].executes)
		o.program = strace_program(s, l);
	return strace_returned(s, thread, function, l->result, &o);
}

/* Take the end of a call. */
static int strace_take_resumed(struct strace *s, uint32_t thread, uint32_t function,
			       const struct strace_line *l, uint64_t time)
{
	struct strace_thread *t = &s->threads[thread];
	struct strace_open *o = strace_find_open(s, t, function), was;
	struct strace_held *h;

	time = strace_tick(s, time);
	if (!o) {
		/* fork returns in the child, too; other calls began before the log */
		if (s->functions[function].forks)
			return 0;
		h = strace_hold(s, thread, function);
		h->enter = time;
		return strace_put_result(s, h, l->result);
	}
	t->nopen--;
	was = *o;
	function = was.function;
	h = strace_hold(s, thread, function);
	h->lane = was.lane;
	h->enter = was.time;
	h->address = was.address;
	h->nr = was.nr;
	h->leave = time;
	if (l->duration != NONE && l->duration < TIME_LIMIT - was.time)
		h->leave = was.time + l->duration;
	h->leaves = !strace_is_timeless(s, function) &&
		    (!was.tail || l->duration != NONE || !(l->coarse || s->form == TIME_MS));
	h->enters = was.tail && h->leaves;
	t->end = h->leave;
	if ((was.tail && buffer_append(&h->arguments, was.tail, was.size)) ||
	    strace_put_arguments(s, function, l, was.nargs,
				 was.tail ? &h->arguments : &h->result) ||
	    strace_put_result(s, h, l->result))
		return -1;
	strace_close_call(s, &was);
	return strace_returned(s, thread, function, l->result, &was);
}

/* Put the members of {si_signo=SIGCHLD, ...}. */
static int strace_put_members(struct strace *s, uint32_t function, struct text_span text,
			      struct buffer *b)
{
	struct strace_line members = {.nargs = 0};
	const char *close;

	if (!span_skip(&text, "{"))
		return 0;
	close = memrchr(text.at, '}', span_size(text));
	text.end = close ? close : text.end;
	strace_read_arguments(&members, text);
	return strace_put_arguments(s, function, &members, 0, b);
}

static const char signal_names[] = "si_signo si_errno si_code si_pid si_uid si_status si_utime "
				   "si_stime si_addr si_value si_int si_ptr si_fd si_band "
				   "si_timerid si_overrun si_call_addr si_syscall si_arch";

/* Another thread has executed a program, and has this thread's number from here on. */
static int strace_superseded(struct strace *s, uint32_t thread, struct text_span rest)
{
	uint64_t tid;
	const char *digits = rest.end;
	struct strace_thread *t, *by, old;
	uint32_t number;

	while (digits > rest.at && is_digit(digits[-1]))
		digits--;
	if (span_digits(digits, rest.end, &tid) != rest.end || digits == rest.end ||
	    tid > LINE_PID_MOST)
		return 0;
	number = strace_thread_of(s, (int32_t)tid);
	if (!number || strace_end_calls(s, thread, 0))
		return -1;
	t = &s->threads[thread];
	by = &s->threads[number - 1];
	if (by == t)
		return 0;
	/* the calls of both change places */
	old = *t;
	t->open = by->open;
	t->nopen = by->nopen;
	by->open = old.open;
	by->nopen = old.nopen;
	by->exited = true;
	s->live--;
	s->live_sum -= number - 1;
	return 0;
}

/* The thread has ended. */
static int strace_exited(struct strace *s, uint32_t thread)
{
	struct strace_thread *t = &s->threads[thread];

	if (strace_end_calls(s, thread, 0))
		return -1;
	if (!t->exited) {
		t->exited = true;
		s->live--;
		s->live_sum -= thread;
	}
	return 0;
}

/* Take a signal, or the end of a process. */
static int strace_take_event(struct strace *s, uint32_t thread, const struct strace_line *l,
			     uint64_t time)
{
	struct text_span rest = l->name, name = span_take_word(&rest);
	enum strace_group group = GROUP_SIGNALS;
	const char *names = signal_names;
	struct text_span value = {0};
	bool superseded = span_is(name, "superseded");
	struct strace_held *h;
	uint32_t function;

	rest = span_trim(rest);
	if (span_is(name, "exited")) {
		names = "status";
		value = rest;
		while (value.at < value.end && !is_digit(*value.at))
			value.at++;
		value.end = value.at;
		while (value.end < rest.end && is_digit(*value.end))
			value.end++;
	} else if (span_is(name, "killed") || span_is(name, "stopped")) {
		names = "signal";
		value = rest;
		span_skip(&value, "by ");
		value = span_take_word(&value);
	} else if (span_skip(&name, "{si_signo=")) {
		/* strace 4.6: {si_signo=SIGCHLD, ...} (Child exited) */
		name.end = memchr(name.at, ',', span_size(name));
		name.end = name.end ? name.end : rest.at;
		rest = l->name;
	} else if (superseded || !span_begins(name, "SIG")) {
		names = "";
		name = superseded ? name : l->name;
	}
	group = names == signal_names ? GROUP_SIGNALS : GROUP_PROCESSES;
	s->signals += group == GROUP_SIGNALS;
	if (((span_is(name, "exited") || span_is(name, "killed")) && strace_exited(s, thread)) ||
	    (superseded && strace_superseded(s, thread, rest)))
		return -1;
	function = strace_function_of(s, name, group, names);
	if (!function)
		return -1;
	h = strace_hold(s, thread, function - 1);
	h->enter = strace_tick(s, time);
	h->address = l->address;
	h->nr = l->number;
	if (group == GROUP_SIGNALS)
		return strace_put_members(s, function - 1, rest, &h->arguments);
	return span_size(value) ? strace_put_argument(s, function - 1, 1, value, &h->arguments) : 0;
}

/* Declare the location of a frame: FILE(FUNCTION+0xOFFSET) [0xADDRESS], or FILE() [0xADDRESS].
 * Returns its id; 0: out of memory. */
static uint32_t strace_frame(struct strace *s, struct text_span text)
{
	struct text_frame f = {.file = text};
	const char *at = span_find(text, " [0x");

	if (at) {
		f.file.end = at;
		at += 4;
		digits_hex(&at, text.end, &f.address);
	}
	f.function = (struct text_span){f.file.end, f.file.end};
	at = span_ends(f.file, ")") ? memrchr(f.file.at, '(', span_size(f.file)) : NULL;
	if (at) {
		f.function = (struct text_span){at + 1, f.file.end - 1};
		f.file.end = at;
		text_frame_take_offset(&f);
	}
	return text_frame_location(s->w, s->source, &s->spaces, &f);
}

/* Declare the location of a frame of perf trace: FUNCTION (FILE), FUNCTION (inlined), or
 * [ADDRESS] (FILE). Returns its id; 0: out of memory. */
static uint32_t strace_perf_frame(struct strace *s, struct text_span text)
{
	const char *open = memrchr(text.at, '(', span_size(text));
	struct text_frame f = {.file = {open + 1, text.end - 1}};
	struct symbol_entry symbol;
	uint32_t id;

	f.function = span_trim((struct text_span){text.at, open});
	if (span_skip(&f.function, "[")) {
		digits_hex(&f.function.at, f.function.end, &f.address);
		f.function.end = f.function.at;
		return text_frame_location(s->w, s->source, &s->spaces, &f);
	}
	if (span_is(f.file, "inlined"))
		f.file.end = f.file.at;
	/* a function without its address */
	symbol = (struct symbol_entry){.name = f.function.at,
				       .name_size = (uint32_t)span_size(f.function),
				       .module = f.file.at,
				       .module_size = (uint32_t)span_size(f.file)};
	id = writer_location(
		s->w, &(struct location_entry){
			      .name = writer_string(s->w, f.function.at, span_size(f.function))});
	return id && !writer_symbol(s->w, id, &symbol) ? id : 0;
}

static int strace_take_frame(struct strace *s, const struct strace_line *l)
{
	struct text_span text = l->result;
	uint32_t *id;

	s->has_stacks = true;
	if (!s->held.any)
		return 0;
	id = id_cache_number(&s->frames, text.at, span_size(text));
	if (id && !*id)
		*id = l->form == TIME_MS ? strace_perf_frame(s, text) : strace_frame(s, text);
	return id && *id ? buffer_u32(&s->held.frames, *id) : -1;
}

/* Add a field of an event to the values. */
static int strace_put_field(struct strace *s, struct text_span key, struct text_span value)
{
	struct buffer *b = &s->values;
	size_t at = b->size;

	value = span_trim(value);
	if (buffer_u32(b, writer_string(s->w, key.at, span_size(key))) || buffer_u32(b, 0) ||
	    strace_put_value(s, b, value))
		return -1;
	put_u32(b->data + at + 4, (uint32_t)(b->size - at - 8));
	return 0;
}

/* Add a field of an event, and the file of a descriptor: fd and fd_path. */
static int strace_put_descriptor(struct strace *s, struct text_span key, struct text_span value)
{
	char name[NAME_KEPT];
	struct text_span path;

	if (!strace_split_path(&value, &path))
		return strace_put_field(s, key, value);
	snprintf(name, sizeof name, "%.*s_path", (int)span_size(key), key.at);
	return strace_put_field(s, key, value) ||
			       strace_put_field(s, (struct text_span){name, name + strlen(name)},
						path)
		       ? -1
		       : 0;
}

/* Take a key and the mark after it off a text. false: the text has none. */
static bool strace_take_key(struct text_span *text, struct text_span *key, const char *mark)
{
	struct text_span rest = *text;

	while (rest.at < rest.end && is_name(*rest.at))
		rest.at++;
	*key = (struct text_span){text->at, rest.at};
	if (!span_size(*key) || span_size(*key) > NAME_KEPT / 2 || !span_skip(&rest, mark))
		return false;
	*text = rest;
	return true;
}

/* Put the fields of "KEY=VALUE KEY=VALUE", whose values may have blanks. Text before them is the
 * field message. */
static int strace_put_pairs(struct strace *s, struct text_span text)
{
	struct text_span key = SPAN("message"), value = {text.at, text.at}, next;

	while (text.at < text.end) {
		const char *at = text.at;

		if (strace_take_key(&text, &next, "=")) {
			value.end = at;
			value = span_trim(value);
			value.end -= span_ends(value, " ==>") ? strlen(" ==>") : 0;
			if (span_size(value) && strace_put_field(s, key, value))
				return -1;
			key = next;
			value.at = text.at;
		}
		at = text.at < text.end ? memchr(text.at, ' ', span_size(text)) : NULL;
		text.at = at ? span_skip_blanks(at, text.end) : text.end;
	}
	value.end = text.end;
	return span_size(value) ? strace_put_field(s, key, value) : 0;
}

/* Put the fields of an event of perf trace. */
static int strace_put_fields(struct strace *s, struct text_span text)
{
	struct text_span key = text, rest = text;
	struct strace_line l = {.nargs = 0};
	const char *to = span_find(text, "] => "), *map;

	s->values.size = 0;
	/* a fault: "[FUNCTION+0xOFFSET] => FILE@0xOFFSET (d.)" */
	if (to && *text.at == '[' && (map = memrchr(to, '(', (size_t)(text.end - to))))
		return strace_put_field(s, SPAN("ip"), (struct text_span){text.at + 1, to}) ||
				       strace_put_field(
					       s, SPAN("addr"),
					       (struct text_span){to + strlen("] => "), map}) ||
				       strace_put_field(s, SPAN("map"),
							(struct text_span){map + 1, text.end - 1})
			       ? -1
			       : 0;
	if (!strace_take_key(&rest, &key, ": "))
		return strace_put_pairs(s, text);
	strace_read_arguments(&l, text);
	for (unsigned i = 0; i < l.nargs; i++)
		if (strace_take_key(&l.args[i], &key, ": ") &&
		    strace_put_descriptor(s, key, l.args[i]))
			return -1;
	return 0;
}

/* Take an event of perf trace. Each names its fields, and lacks those that are 0. */
static int strace_take_tracepoint(struct strace *s, uint32_t thread, const struct strace_line *l,
				  uint64_t time)
{
	uint32_t function = strace_function_of(s, l->name, GROUP_EVENTS, "");
	struct argument_names *known;
	struct strace_function *f;
	struct strace_held *h;

	if (!function-- || strace_put_fields(s, l->result))
		return -1;
	f = &s->functions[function];
	known = arguments_of(&s->fields, f->name);
	h = strace_hold(s, thread, function);
	h->enter = time;
	if (!known ||
	    arguments_values(&s->fields, f->name, s->values.data, (uint32_t)s->values.size,
			     known->count < FIELDS_MOST, &h->arguments))
		return -1;
	f->location = arguments_location_of(&s->fields, s->w, f->name);
	return f->location ? 0 : -1;
}

static int strace_take_calls(struct strace *s, uint32_t thread, const struct strace_line *l,
			     uint64_t time)
{
	uint32_t function = strace_function_of(s, l->name, GROUP_CALLS, NULL);

	if (!function--)
		return -1;
	s->calls += l->kind == LINE_CALL || l->kind == LINE_RESUMED;
	/* a call begins after the one before: seconds of -t are the beginning of the second, the
	 * sums of -r have the errors of all lines, and -T is of another clock than the times, or
	 * rounded */
	if (time < s->threads[thread].end &&
	    s->threads[thread].end - time < (l->coarse || s->relative ? SECOND : CLOCKS_APART))
		time = s->threads[thread].end;
	if (l->kind != LINE_RESUMED && strace_end_system_calls(s, thread, function))
		return -1;
	if (l->kind == LINE_UNFINISHED)
		return strace_open_call(s, thread, function, l, strace_tick(s, time));
	if (l->kind == LINE_RESUMED)
		return strace_take_resumed(s, thread, function, l, time);
	return strace_take_call(s, thread, function, l, time);
}

/* Take the next line of a log. Returns 0, or -1 when out of memory or with the writer's error. */
static int strace_take(struct strace *s, struct strace_log *g)
{
	const struct strace_line *l = &g->line;
	uint64_t time = l->time;
	int64_t thread;

	if (l->kind == LINE_FRAME)
		return strace_take_frame(s, l);
	if (strace_release(s))
		return -1;
	/* the clock was set back: what was before comes first */
	if (time < s->now && s->form != TIME_MS && !s->ticks &&
	    row_queue_write(&s->queue, UINT64_MAX))
		return -1;
	s->has_durations |= l->duration != NONE && !s->ticks;
	if (s->form != TIME_MS)
		s->now = time;
	else if (s->now < time + (l->duration < TIME_LIMIT - time ? l->duration : 0))
		s->now = time + l->duration;
	thread = strace_line_thread(s, g);
	if (thread < 0)
		return -1;
	if (l->kind == LINE_EVENT)
		return strace_take_event(s, (uint32_t)thread, l, time);
	if (l->kind == LINE_TRACEPOINT)
		return strace_take_tracepoint(s, (uint32_t)thread, l, time);
	if (strace_take_calls(s, (uint32_t)thread, l, time))
		return -1;
	/* without times a line begins when the calls before have ended */
	if (s->form == TIME_NONE && !s->ticks && g->last < s->threads[thread].end)
		g->last = s->threads[thread].end;
	return 0;
}

/* --- lines of the files --- */

static ssize_t strace_read_file(void *ctx, void *to, size_t n, struct error *e)
{
	struct strace_log *g = ctx;
	ssize_t have = window_need(&g->window, 1, e);

	if (have <= 0)
		return have;
	n = n < window_have(&g->window) ? n : window_have(&g->window);
	memcpy(to, window_at(&g->window), n);
	window_skip(&g->window, n);
	return (ssize_t)n;
}

/* Report a call that the text breaks off. */
static void strace_report_broken(struct strace_log *g)
{
	if (!g->s->broken++)
		input_damage(g->s->input, g->name, g->broken_at,
			     "a call without its end: other text interrupts the line");
	g->broken.size = 0;
}

/* Count a line that strace did not write. */
static void strace_skip_line(struct strace_log *g, struct text_span text)
{
	struct strace *s = g->s;

	text = span_trim(text);
	/* the end of a call that was reported, and the end of strace */
	if (!span_size(text) || span_begins(text, "<unfinished ...>") ||
	    span_begins(text, "<detached ...>"))
		return;
	if (!s->foreign++)
		s->foreign_at = g->lines.offset;
	/* each line of a file of -o -f begins with its thread */
	if (s->bare_pids && s->foreign == 1)
		input_damage(s->input, g->name, g->lines.offset, "not a line of %s",
			     s->library ? "ltrace" : "strace");
}

/* Remove the text of another program from the end of "wait4(-1, cat: no file", if a line has the
 * other arguments and the result. Returns false if it has none. */
static bool strace_cut_broken(struct buffer *b, struct text_span text)
{
	struct strace_line l = {.kind = LINE_OTHER};
	const uint8_t *comma = memrchr(b->data, ',', b->size);

	if (!comma || strace_read_arguments(&l, text) != LINE_CALL)
		return false;
	b->size = (size_t)(comma - b->data) + 1;
	return true;
}

/* Cut the text of the program off the number that strace printed last before the call began:
 * write(1, "hello", 5hello. After other arguments it cannot be recognised. joined: the line
 * joined one that text ended. */
static void strace_cut_text(struct strace_log *g, bool joined)
{
	struct strace_line *l = &g->line;
	struct text_span *last, number;
	const char *end;
	uint64_t value;
	bool hex;

	if (!l->nargs || (l->kind != LINE_CALL && l->kind != LINE_UNFINISHED) || g->s->library ||
	    l->form == TIME_MS || (l->pid >= 0 && !l->bracketed))
		return;
	last = &l->args[l->nargs - 1];
	number = *last;
	span_skip(&number, "-");
	end = strace_number(number, &value, &hex);
	/* 3</tmp/a>, 1<<20, 8*sizeof(long), 0x4|O_RDONLY, and a comment after a blank */
	if (end == number.at || end == last->end || (!joined && strchr(" <*|", *end)))
		return;
	last->end = end;
	g->s->texts++;
}

/* Join a line with the call that it ends: "write(1, "a\n", 2a" and ") = 2". Returns false if it
 * does not end the call. */
static bool strace_join(struct strace_log *g, struct text_span text)
{
	struct text_span rest = {span_skip_blanks(text.at, text.end), text.end};
	struct buffer *b = &g->broken;

	if (!b->size || b->size + span_size(text) > LINE_KEPT)
		return false;
	if (!g->attached && !span_begins(rest, ")") && !span_begins(rest, "<unfinished") &&
	    !strace_cut_broken(b, rest))
		return false;
	if (buffer_append(b, text.at, span_size(text)))
		return false;
	strace_parse(&g->line, span_of(b));
	if (g->line.kind == LINE_BROKEN || g->line.kind == LINE_OTHER)
		return false;
	return true;
}

/*
 * Join a line without a name with the unfinished call in the line before it, as -z writes:
 *
 *     7 1796034342.127702 read(3,  <unfinished ...>
 *     "", 4096) = 0 <0.000109>
 *
 * Returns false if it does not end the call.
 */
static bool strace_resume(struct strace_log *g, struct text_span text)
{
	struct buffer *b = &g->unfinished;

	if (!b->size || span_size(text) > LINE_KEPT || buffer_append(b, text.at, span_size(text)))
		return false;
	strace_parse(&g->line, span_of(b));
	b->size = 0;
	return g->line.kind == LINE_RESUMED;
}

/* Keep the head of the line that may resume an unfinished call of a log of -f. */
static int strace_keep_unfinished(struct strace_log *g)
{
	const struct strace_line *l = &g->line;

	g->unfinished.size = 0;
	if (l->kind != LINE_UNFINISHED || l->pid < 0 || l->bracketed)
		return 0;
	return buffer_printf(&g->unfinished, "%d <... %.*s resumed>", l->pid,
			     (int)(span_size(l->name) < NAME_KEPT ? span_size(l->name) : NAME_KEPT),
			     l->name.at);
}

/* Keep a call that does not end in its line. */
static int strace_keep_broken(struct strace_log *g, struct text_span text)
{
	static const char negative[] = "error: maximum array length seems negative";
	const char *message = span_find(text, "strace: Process ");

	if (g->broken.size)
		strace_report_broken(g);
	g->attached = message && span_ends(text, " attached");
	if (span_ends(text, negative)) {
		message = text.end - strlen(negative);
		g->attached = true;
	}
	text.end = g->attached ? message : text.end;
	g->broken_at = g->lines.offset;
	if (span_size(text) <= LINE_KEPT)
		return buffer_append(&g->broken, text.at, span_size(text));
	strace_report_broken(g);
	return 0;
}

/* Test for a line of the table between its rows: "------ ------". */
static bool strace_is_rule(struct text_span s)
{
	bool dashes = span_begins(s, "------");

	while (s.at < s.end && (*s.at == '-' || *s.at == ' '))
		s.at++;
	return dashes && s.at == s.end;
}

/* Take a line that has no call. Returns 1 if a call was found in it; -1: out of memory. */
static int strace_other_line(struct strace_log *g, struct text_span text)
{
	static const char *const tables[] = {
		[TABLE_STRACE] =
			"table of strace -c, not a log: record with strace -f -ttt -T -o FILE",
		[TABLE_LTRACE] =
			"table of ltrace -c, not a log: record with ltrace -f -ttt -T -o FILE",
		[TABLE_PERF] =
			"summary of perf trace -s, not a log: record with perf trace -o FILE",
	};
	const char *inside;

	if (g->line.kind == LINE_TABLE) {
		g->s->table = tables[g->line.table];
		g->in_table = true;
		/* the summary of perf trace has a table for each thread, and no totals */
		g->rules = g->line.table == TABLE_PERF ? 3 : 0;
		return 0;
	}
	if (g->line.kind == LINE_MESSAGE)
		return 0;
	if (g->line.kind == LINE_DUMP) {
		g->s->dumps++;
		return 0;
	}
	if (g->line.kind == LINE_BROKEN)
		return strace_keep_broken(g, text);
	if (strace_join(g, text))
		return 1;
	if (g->in_table) {
		/* the line of totals follows the second rule */
		g->in_table = g->rules != 2;
		g->rules += strace_is_rule(text);
		return 0;
	}
	if (strace_resume(g, text))
		return 1;
	/* text without a newline before the line, and the indentation of ltrace -n */
	inside = g->s->library ? span_skip_blanks(text.at, text.end) : span_find(text, "[pid ");
	if (inside && inside > text.at) {
		strace_parse(&g->line, (struct text_span){inside, text.end});
		if (g->line.kind != LINE_OTHER && g->line.kind != LINE_BROKEN)
			return 1;
	}
	strace_skip_line(g, text);
	return 0;
}

/* Set the time of the line on the clock of the log, and the time by which the logs are merged. */
static void strace_set_time(struct strace_log *g)
{
	struct strace *s = g->s;
	struct strace_line *l = &g->line;
	uint64_t time = l->time;

	if (s->form == TIME_NONE || l->form != s->form || time == NONE) {
		/* -z leaves out the time of a line that resumes a call */
		s->unlike += l->kind != LINE_FRAME && l->kind != LINE_RESUMED && l->form != s->form;
		time = g->last;
	} else if (s->form == TIME_OF_DAY) {
		/* past midnight */
		if (g->timed && g->base + time + DAY / 2 < g->last)
			g->base += DAY;
		time += g->base;
	} else if (s->relative) {
		time += g->last;
	}
	if (time >= TIME_LIMIT)
		time = g->last;
	g->timed = true;
	l->time = g->last = time;
	g->item.time = time;
}

/* Report a last line without its end. A call without its duration has not returned: the number of
 * its result may be cut, too. */
static void strace_cut_line(struct strace_log *g)
{
	struct strace_line *l = &g->line;

	input_damage(g->s->input, g->name, g->lines.offset, "the last line is cut");
	if ((l->kind == LINE_CALL && l->duration == NONE) || l->kind == LINE_BROKEN) {
		l->kind = l->nargs || l->kind == LINE_CALL ? LINE_UNFINISHED : LINE_MESSAGE;
		l->comma = true;
	}
	if (l->kind == LINE_RESUMED && l->duration == NONE)
		l->kind = LINE_MESSAGE;
}

/* Find the next line with a call. Returns 1; 0: no more lines; -1 with *e filled. */
static int strace_next_line(struct strace_log *g, struct error *e)
{
	const char *at;
	size_t n;
	int got;

	if (g->broken_known)
		g->broken.size = 0;
	g->broken_known = false;
	while ((got = input_lines_next(&g->lines, g->s->input, &at, &n, e)) > 0) {
		struct text_span text = {at, at + n};

		if (g->lines.cut) {
			input_damage(g->s->input, g->name, g->lines.offset,
				     "a line of more than %d MiB is left out", LINE_MOST >> 20);
			continue;
		}
		strace_parse(&g->line, text);
		g->s->bracketed |= g->line.bracketed;
		got = 1;
		if (!g->lines.whole)
			strace_cut_line(g);
		if (g->line.kind == LINE_OTHER || g->line.kind >= LINE_MESSAGE) {
			got = strace_other_line(g, text);
			g->broken_known = got > 0;
		} else if (g->broken.size) {
			strace_report_broken(g);
		}
		if (got < 0)
			return error_no_memory(e);
		if (!got)
			continue;
		strace_cut_text(g, g->broken_known && g->broken.size && !g->attached);
		g->in_table = false;
		if (strace_keep_unfinished(g))
			return error_no_memory(e);
		g->s->bare_pids |=
			g->line.pid >= 0 && !g->line.bracketed && g->line.form != TIME_MS;
		return 1;
	}
	g->item.time = UINT64_MAX;
	if (!got && g->broken.size)
		strace_report_broken(g);
	input_lines_free(&g->lines);
	return got;
}

/* --- the decoder --- */

/* Test the beginning of a text. */
static enum bid strace_probe_text(const char *at, size_t n)
{
	enum { PROBE_LINES = 64 };
	const char *end = at + n;
	unsigned good = 0, lines = 0;
	bool heading = false;

	for (const char *newline; at < end && lines < PROBE_LINES; at = newline + 1, lines++) {
		struct strace_line l;

		newline = memchr(at, '\n', (size_t)(end - at));
		newline = newline ? newline : end;
		if (memchr(at, '\0', (size_t)(newline - at)))
			return BID_NONE;
		if (heading && strace_is_rule((struct text_span){at, newline}))
			return BID_LIKELY;
		strace_parse(&l, (struct text_span){at, newline});
		if (l.kind == LINE_TABLE && l.table == TABLE_PERF)
			return BID_LIKELY;
		heading = l.kind == LINE_TABLE;
		/* a stack follows a call; a first line may be longer than the head */
		good += (l.kind != LINE_OTHER && l.kind != LINE_BROKEN && l.kind != LINE_TABLE &&
			 ((l.kind != LINE_FRAME && l.kind != LINE_DUMP) || good)) ||
			(l.kind == LINE_BROKEN && newline == end && !lines &&
			 (l.pid >= 0 || l.form != TIME_NONE || span_is(l.name, "execve")));
	}
	if (!good)
		return BID_NONE;
	return 2 * good > lines ? BID_LIKELY : BID_CHANCE;
}

/* Get the number at the end of the name of a file, "out.123", or "out.123.gz". -1: none. */
static int32_t strace_file_pid(const char *name)
{
	const char *end = name + strlen(name);

	for (unsigned i = 0; i < 2; i++) {
		const char *dot = memrchr(name, '.', (size_t)(end - name));
		uint64_t pid;

		if (!dot || dot == name)
			return -1;
		if (dot + 1 < end && span_digits(dot + 1, end, &pid) == end && pid <= LINE_PID_MOST)
			return (int32_t)pid;
		end = dot;
	}
	return -1;
}

/* Test the files of a directory: one of them has a text of strace, and a name with a thread. */
static enum bid strace_probe_tree(const struct tree *t)
{
	enum { PROBE_FILES = 64, PROBE_BYTES = 4096 };
	char head[PROBE_BYTES];
	unsigned tested = 0;

	for (size_t i = 0; i < tree_count(t) && tested < PROBE_FILES; i++) {
		const char *name = tree_member(t, i);

		if (strace_file_pid(name) < 0)
			continue;
		tested++;
		if (strace_probe_text(head, tree_peek(t, name, head, sizeof head)) == BID_LIKELY)
			return BID_LIKELY;
	}
	return BID_NONE;
}

static enum bid strace_probe(const struct input *in)
{
	bool forced = in->format && !strcmp(in->format, "strace");
	enum bid bid;

	if (in->tree)
		return in->member ? BID_NONE : strace_probe_tree(in->tree);
	if (!in->head_size)
		return BID_NONE;
	bid = strace_probe_text((const char *)in->head, in->head_size);
	return forced && bid == BID_NONE && !memchr(in->head, '\0', in->head_size) ? BID_CHANCE
										   : bid;
}

/* Open the logs of a directory. */
static int strace_open_tree(struct strace *s, struct error *e)
{
	struct input *in = s->input;
	size_t n = 0;

	for (size_t i = 0; i < tree_count(in->tree); i++)
		n += strace_file_pid(tree_member(in->tree, i)) >= 0;
	if (n > FILES_MOST)
		return error_set(e, in->name, NO_OFFSET, "more than %d logs", FILES_MOST);
	s->logs = calloc(n, sizeof *s->logs);
	if (!s->logs)
		return error_no_memory(e);
	for (size_t i = 0; i < tree_count(in->tree); i++) {
		const char *name = tree_member(in->tree, i);
		struct strace_log *g = &s->logs[s->nlogs];

		if (strace_file_pid(name) < 0)
			continue;
		*g = (struct strace_log){
			.name = name, .pid = strace_file_pid(name), .s = s, .tree = true};
		g->window.fd = -1;
		s->nlogs++;
		if (window_open_one(&g->window, in, name, n, e))
			return -1;
		g->lines.source = (struct lines_source){strace_read_file, g};
		g->lines.piece = n > 64 ? 4096 : 0;
	}
	return 0;
}

static int strace_open(struct input *in, struct error *e)
{
	struct strace *s = calloc(1, sizeof *s);
	uint32_t *number;

	in->state = s;
	if (!s)
		return error_no_memory(e);
	s->input = in;
	s->w = s->queue.w = in->decoding->writer;
	s->root = -1;
	s->first = NONE;
	for (uint32_t i = 1; i < ERRORS_END; i++) {
		const char *name = kernel_error_name(i);

		if (!name)
			continue;
		number = id_cache_number(&s->errors, name, strlen(name));
		if (!number)
			return error_no_memory(e);
		*number = i;
	}
	if (in->tree)
		return strace_open_tree(s, e);
	s->logs = calloc(1, sizeof *s->logs);
	if (!s->logs)
		return error_no_memory(e);
	s->nlogs = 1;
	s->logs->s = s;
	s->logs->name = in->name;
	s->logs->pid = in->file.live ? -1 : strace_file_pid(in->name);
	return 0;
}

/* Find the thread of a line that begins with [pid N], unless a message attached it before. */
static int strace_look_at_thread(struct strace *s, const struct strace_line *l,
				 struct text_span text, struct key_map *attached)
{
	const char *message = span_find(text, "strace: Process ");
	uint64_t tid;

	if (message) {
		message += strlen("strace: Process ");
		if (span_digits(message, text.end, &tid) > message &&
		    key_map_set(attached, tid + 1, 1))
			return -1;
	}
	if (l->bracketed && !key_map_get(attached, (uint64_t)l->pid + 1))
		s->root = l->pid;
	return 0;
}

/* Find out which program wrote a line. 1: ltrace; -1: strace; 0: either. *unknown: whether the
 * kernel has no call of its name. */
static int strace_line_writer(const struct strace_line *l, bool *unknown)
{
	*unknown = false;
	if (l->form == TIME_MS)
		return -1;
	if (l->kind == LINE_EVENT)
		return span_begins(l->name, "exited (status") ? 1
		       : span_begins(l->name, "exited with ") ? -1
							      : 0;
	if (l->kind != LINE_CALL && l->kind != LINE_UNFINISHED && l->kind != LINE_RESUMED)
		return 0;
	if (strace_raw_name(l->name).at || span_find(l->name, "->") || span_find(l->name, "::") ||
	    span_is(l->result, "<void>"))
		return 1;
	if (span_begins(l->result, "?") || span_begins(l->result, "-1 E"))
		return -1;
	for (unsigned i = 0; i < l->nargs; i++)
		if (span_begins(l->args[i], "AT_FDCWD") ||
		    (!span_begins(l->args[i], "\"") && span_find(l->args[i], " /* ")))
			return -1;
	*unknown = !strace_find_names(l->name) && !span_begins(l->name, "syscall_0x");
	return 0;
}

/* Keep the form of the times of a log, and its first time: lines before that one have none. perf
 * trace has "?" for a time that is not known. */
static void strace_find_time(struct strace *s, const struct strace_line *l)
{
	if (s->first == NONE && l->kind > LINE_OTHER && l->kind < LINE_FRAME &&
	    l->form != TIME_NONE) {
		s->form = l->form;
		s->first = l->time;
	}
}

/*
 * Look for what lines show of those before them: a time, a duration, the program that wrote them,
 * and the thread of the lines without one. strace does not name the first thread before there are
 * others. It is the first of "[pid N]" that no "Process N attached" precedes.
 */
static int strace_look_ahead(struct strace *s, struct error *e)
{
	struct input_lines *lines = &s->logs->lines;
	struct input *in = s->input;
	struct text_span rest = input_head(in);
	struct key_map attached = {0};
	bool live = in->file.live, unknown;
	int failed = 0, writer = 0;

	if (in->tree)
		return 0;
	if (!live) {
		if (input_lines_fill(lines, in, LOOK_AHEAD, e))
			return -1;
		rest = span_of(&lines->data);
		rest.at += lines->begin;
	}
	while (!failed && rest.at < rest.end &&
	       ((!live && (s->root < 0 || s->ticks)) || !writer || s->first == NONE)) {
		const char *end = memchr(rest.at, '\n', span_size(rest));
		struct text_span text = {rest.at, end ? end : rest.end};
		struct strace_line l;

		rest.at = text.end + 1;
		strace_parse(&l, text);
		strace_find_time(s, &l);
		if (!writer) {
			writer = strace_line_writer(&l, &unknown);
			s->library |= unknown;
		}
		if (live)
			continue;
		s->ticks &= l.duration == NONE;
		if (s->root < 0)
			failed = strace_look_at_thread(s, &l, text, &attached);
	}
	s->library = writer > 0 || (!writer && s->library);
	key_map_free(&attached);
	return failed ? error_no_memory(e) : 0;
}

/* Read the first line of each log. Returns the number of those that have one; -1 with *e filled. */
static int64_t strace_first_lines(struct strace *s, struct error *e)
{
	int64_t any = 0;
	int got;

	s->items = calloc(s->nlogs + 1, sizeof(*s->items));
	if (!s->items)
		return error_no_memory(e);
	s->heap.items = s->items;
	s->ticks = true;
	if (strace_look_ahead(s, e))
		return -1;
	for (size_t i = 0; i < s->nlogs; i++) {
		struct strace_log *g = &s->logs[i];

		got = strace_next_line(g, e);
		if (got < 0)
			return -1;
		s->ticks &= g->line.duration == NONE;
		strace_find_time(s, &g->line);
		any += got;
		g->item.rank = (uint32_t)i;
		if (got)
			s->items[s->heap.count++] = &g->item;
	}
	s->ticks &= s->form == TIME_NONE;
	/* three years after 1970, or after the line before */
	s->relative = s->form == TIME_SECONDS && s->first < 100000000 * SECOND;
	for (size_t i = 0; i < s->heap.count; i++) {
		struct strace_log *g = (struct strace_log *)s->items[i];

		if (s->first != NONE && !s->relative)
			g->last = s->first;
		strace_set_time(g);
	}
	heap_build(&s->heap);
	return any;
}

/* Take the line of the first log, and read its next one. Returns 0, or -1. */
static int strace_advance(struct strace *s, struct error *e)
{
	struct strace_log *g = (struct strace_log *)s->heap.items[0];
	int got;

	if (strace_take(s, g))
		return -1;
	/* what is there must show before the next line is waited for */
	if (!s->input->tree && !input_lines_ready(&g->lines, s->input, LIVE_WAIT) &&
	    (strace_release(s) || row_queue_write(&s->queue, UINT64_MAX) || writer_flush(s->w)))
		return -1;
	got = strace_next_line(g, e);
	if (got > 0)
		strace_set_time(g);
	heap_settle(&s->heap);
	return got < 0 ? -1 : 0;
}

/* Write what waits for lines that do not follow. */
static int strace_finish(struct strace *s)
{
	if (strace_release(s))
		return -1;
	for (size_t i = 0; i < s->nthreads; i++)
		if (strace_end_calls(s, (uint32_t)i, 0))
			return -1;
	return 0;
}

/* Get the time before which no more rows follow, shifted. */
static uint64_t strace_limit(const struct strace *s)
{
	uint64_t wait = s->unfinished && s->has_durations ? WAIT_FOR_RESUMED : 0;

	if (!s->heap.count)
		return UINT64_MAX;
	if (s->ticks)
		return merge_shifted(s->tick, s->input->shift);
	return merge_shifted(s->now < wait ? 0 : s->now - wait, s->input->shift);
}

/* Read lines until the first row is known. */
static int strace_read_rows(struct strace *s, struct error *e)
{
	while (s->heap.count && row_queue_next(&s->queue) >= strace_limit(s)) {
		e->what[0] = '\0';
		if (strace_advance(s, e))
			return -1;
		if (!s->heap.count && strace_finish(s))
			return -1;
	}
	return 0;
}

static const char *strace_times(const struct strace *s)
{
	switch (s->form) {
	case TIME_OF_DAY: return "of the day";
	case TIME_SECONDS: return s->relative ? "since the line before" : "since 1970";
	case TIME_MS: return "since the start of perf trace, or of its clock with -T";
	default: return "none";
	}
}

static int strace_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct strace *s = in->state;
	uint64_t calls = 0, signals = 0, events = 0, unfinished = 0, stacks = 0;
	int64_t any = strace_first_lines(s, e);

	if (any < 0)
		return -1;
	while (s->heap.count) {
		struct strace_log *g = (struct strace_log *)s->heap.items[0];
		const struct strace_line *l = &g->line;
		int got;

		calls += l->kind == LINE_CALL || l->kind == LINE_RESUMED;
		unfinished += l->kind == LINE_UNFINISHED;
		unfinished -= l->kind == LINE_RESUMED && unfinished;
		signals += l->kind == LINE_EVENT && span_begins(l->name, "SIG");
		events += l->kind == LINE_TRACEPOINT;
		stacks += l->kind == LINE_FRAME;
		s->has_durations |= l->duration != NONE;
		if (l->kind != LINE_FRAME && strace_line_thread(s, g) < 0)
			return error_no_memory(e);
		got = strace_next_line(g, e);
		if (got < 0)
			return -1;
		if (got)
			strace_set_time(g);
		heap_settle(&s->heap);
	}
	fact_text(facts, "format", "strace");
	fact_text(facts, "times", strace_times(s));
	fact_text(facts, "durations", s->has_durations ? "yes" : "no");
	fact_text(facts, "stacks", stacks ? "yes" : "no");
	if (in->tree)
		fact_number(facts, "logs", s->nlogs);
	fact_number(facts, "threads", s->nthreads);
	fact_number(facts, "calls", calls);
	fact_number(facts, "unfinished calls", unfinished);
	fact_number(facts, "signals", signals);
	if (s->form == TIME_MS)
		fact_number(facts, "events", events);
	fact_number(facts, "other lines", s->foreign);
	return 0;
}

static void strace_choose_clock(struct strace *s)
{
	struct input *in = s->input;

	in->ticks = s->ticks;
	in->clock_name = s->ticks ? "lines" : s->form == TIME_OF_DAY ? "time of day" : "wall";
	if (s->relative || s->form == TIME_MS || (s->form == TIME_NONE && !s->ticks))
		/* each log begins with 0 */
		in->clock_name = in->name;
	in->has_wall = s->form == TIME_SECONDS && !s->relative;
}

static int strace_begin(struct input *in, struct error *e)
{
	struct strace *s = in->state;
	int64_t any = strace_first_lines(s, e);

	in->next = UINT64_MAX;
	if (any < 0)
		return -1;
	if (!any && s->table)
		return error_set(e, in->name, NO_OFFSET, "this is the %s", s->table);
	if (!any)
		input_damage(in, in->name, NO_OFFSET, "the text has no system call");
	strace_choose_clock(s);
	if (merge_choose_clock(in, e))
		return -1;
	s->source = writer_source(s->w, &(struct source_entry){writer_text(s->w, "strace"),
							       writer_text(s->w, in->name), 0, 0});
	s->clock = input_declare_clock(in, in->has_wall);
	e->what[0] = '\0';
	/* the names of errors are known, even if no call fails */
	if (!s->source || !s->clock || !strace_leave_type(s, VARIANT_ERROR) ||
	    strace_read_rows(s, e))
		return -1;
	if (row_queue_next(&s->queue) == UINT64_MAX)
		return 0;
	return merge_first(in, row_queue_next(&s->queue) - (uint64_t)in->shift, e);
}

static int strace_run(struct input *in, uint64_t until, struct error *e)
{
	struct strace *s = in->state;

	do {
		uint64_t limit = strace_limit(s);

		if (row_queue_write(&s->queue, until < limit ? until : limit) ||
		    strace_read_rows(s, e))
			return -1;
		in->next = row_queue_next(&s->queue);
	} while (in->next <= until && in->next != UINT64_MAX);
	return 0;
}

static void strace_close(struct input *in)
{
	struct strace *s = in->state;

	if (!s)
		return;
	if (!in->decoding->quiet) {
		warn_count(in->name, s->dumps,
			   "{line|lines} of data of -e read and -e write, skipped");
		warn_count(in->name, s->fields.nameless,
			   "{field|fields} of events that have more than 128 different ones, "
			   "left out");
		warn_count(in->name, s->foreign, "{line|lines} of other programs, skipped");
		warn_count(in->name, s->texts,
			   "{call|calls} with text of another program after a number, left out");
		warn_count(in->name, s->unlike,
			   "{line|lines} without a time in the form of the first: each has that of "
			   "a line next to it");
		warn_count(in->name, s->broken - (s->broken > 0),
			   "more {call|calls} without {its|their} end");
	}
	for (size_t i = 0; i < s->nlogs; i++) {
		input_lines_free(&s->logs[i].lines);
		buffer_free(&s->logs[i].broken);
		buffer_free(&s->logs[i].unfinished);
		if (s->logs[i].tree)
			window_close(&s->logs[i].window);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		for (size_t j = 0; j < s->threads[i].nopen; j++)
			free(s->threads[i].open[j].tail);
		free(s->threads[i].open);
	}
	row_queue_free(&s->queue);
	free(s->logs);
	free(s->items);
	free(s->functions);
	free(s->threads);
	id_cache_free(&s->lanes);
	id_cache_free(&s->function_numbers);
	id_cache_free(&s->errors);
	id_cache_free(&s->frames);
	id_cache_free(&s->spaces);
	key_map_free(&s->thread_numbers);
	buffer_free(&s->held.arguments);
	buffer_free(&s->held.result);
	buffer_free(&s->held.frames);
	buffer_free(&s->text);
	buffer_free(&s->values);
	arguments_free(&s->fields);
	free(s);
	in->state = NULL;
}

const struct decoder decoder_strace = {
	.name = "strace",
	.probe = strace_probe,
	.open = strace_open,
	.info = strace_info,
	.begin = strace_begin,
	.run = strace_run,
	.close = strace_close,
};
