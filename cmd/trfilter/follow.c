/*
 * follow.c - what worked for one request, in all threads: --follow
 *
 *     thread  event                    --follow 'arg.id == 7'
 *     1       enter request(id 7)      kept: EXPR is true; all of thread 1 up to its leave
 *     1         sched_waking pid 2     kept; leads to thread 2
 *     2         leave wait             its enter was before the wakeup: left out
 *     1       leave request            kept
 *     1       enter request(id 8)      left out
 *     2       enter handle             kept, with all inside of it: thread 2 works for the request
 *     2       leave handle             kept
 *     2       sched_switch 2 -> 0 S    kept; thread 2 sleeps, and is not followed any more
 *
 * A call is followed if EXPR is true for it, if it begins while its thread is followed, or if a
 * flow leads to it. A thread is followed while a followed call is open in it, and from a wakeup or
 * a message up to its next sleep. The events of a followed thread are kept. The flows that they are
 * part of, the threads that they wake and the messages that they send are followed from then on:
 *
 *     flow       the calls that are part of it, later in the stream
 *     wakeup     the woken thread
 *     message    the thread that receives it: of binder, a work of the kernel, bytes in a pipe
 *     span       its children, in whatever thread, process or host
 *
 * All of this is known when a row is read, as causes precede their effects, except that a flow, or
 * a message, may reach a call that is open: such a call is kept whole, so its enter waits.
 */
#include "cmd/trfilter/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trfilter/context.h"
#include "common/formats/chrome.h"
#include "common/pairs/flows.h"
#include "common/scheduling/scheduling.h"
#include "common/util/hash.h"
#include "common/value/argument.h"

enum {
	LINKS_MOST = 1 << 18, /* flows, spans and messages that are followed at one time */
	PIPES_MOST = 1 << 15, /* and sockets */
	RANGES_MOST = 8,      /* of the bytes on the way in one of these */
	EARLY_MOST = 1 << 14, /* parents of spans that have ended, of which nothing was read */
};

/* What the events of a type mean. */
enum follow_role {
	FOLLOW_NOT_LOOKED,
	FOLLOW_PLAIN,
	FOLLOW_SWITCH, /* a thread gets the CPU of another one */
	FOLLOW_WAKING, /* of a thread, by the thread of the event */
	FOLLOW_WAKEUP, /* the same, where the trace has no FOLLOW_WAKING */
	FOLLOW_OUT,    /* the event's thread leaves its CPU */
	FOLLOW_SENDS,  /* a message */
	FOLLOW_RECEIVES,
	FOLLOW_ENDS, /* the work for a message */
	FOLLOW_SPAN,
	FOLLOW_SYSCALL, /* of strace */
};

/* What the system calls of a name do. */
enum follow_syscall {
	SYSCALL_NOT_LOOKED,
	SYSCALL_OTHER,
	SYSCALL_WAITS,
	SYSCALL_MAY_WAIT, /* by its arguments */
	SYSCALL_READS,	  /* waits for bytes, too */
	SYSCALL_WRITES,
};

/* What leads to a call, as the first number of its key. */
enum follow_link { LINK_FLOW, LINK_SPAN, LINK_MESSAGE, LINK_ASYNC };

/* An open call. Zero where it was open before its thread's first event. */
struct follow_call {
	uint64_t block; /* of the row of its enter in the queue, if undecided */
	uint32_t row;
	uint32_t task;
	bool undecided;
	bool kept;   /* both rows are */
	bool caller; /* kept as the caller of what is kept, if not kept */
	bool followed;
	bool strong;   /* not only because its thread was awake */
	bool inside;   /* what happens in its thread is inside of it */
	bool async;    /* calls and events of the same id are inside of it: link */
	bool peeks;    /* its bytes are read again */
	uint32_t pipe; /* that it reads or writes; 0: none */
	uint64_t link;
	uint64_t from, bytes; /* the bytes that it writes */
	uint64_t span;	      /* link to its children; 0: it is no span */
	uint32_t waiting;     /* index + 1 in follow.waiting; 0: it does not wait for its parent */
};

/* An open span whose parent may begin later: at the same time, or by a clock of another host. */
struct follow_waiting {
	struct call_address at;
	uint64_t parent;	 /* link */
	uint32_t next, previous; /* + 1: those with the same parent; next: of the free ones, too */
};

/* A thread: by its tid, whatever source recorded it; threads of several processes with one tid, as
 * Trace Event JSON may have, are tasks of their own. */
struct follow_task {
	int32_t pid;	 /* with LANE_PROCESS_TID; 0 not known */
	bool ambiguous;	 /* other processes have the tid: no wakeup names it */
	uint64_t calls;	 /* followed open calls, with inside */
	uint64_t strong; /* those of them with strong */
	uint64_t awake;	 /* follow.epoch at the wakeup since when it is followed; 0: it is not */
	bool next;	 /* the next call that begins is followed */
};

/* A pipe, or one direction of a socket. */
struct follow_pipe {
	uint64_t sent, received; /* bytes */
	/* bytes that followed threads sent, which are not received yet, in the order of sending */
	struct {
		uint64_t from, to;
	} ranges[RANGES_MOST];
	unsigned count;
};

struct follow {
	struct widening widening;
	struct dictionary *dictionary;
	struct calls calls; /* data: struct follow_call */
	struct flows flows;
	struct scheduling_types types;
	struct siphash_key key; /* of links */
	struct key_map links;	/* those that are followed; LINK_ASYNC: how many calls */
	struct follow_waiting *waiting;
	size_t nwaiting, waiting_capacity;
	uint32_t waiting_free;	   /* + 1 */
	struct key_map waiting_of; /* by the link of the parent: the first one + 1 */
	struct key_map early; /* by the link of the parent: spans that ended before this was read */
	struct follow_task *tasks;
	size_t ntasks, tasks_capacity;
	uint32_t *by_thread; /* task by number of the thread; 0 none */
	size_t nthreads;
	struct idmap by_tid;
	struct follow_pipe *pipes; /* the first one is none */
	size_t npipes, pipes_capacity;
	struct key_map pipe_numbers; /* by the hash of the name */
	uint8_t *roles;		     /* by type: enum follow_role */
	size_t nroles;
	uint8_t *syscalls; /* by location: enum follow_syscall */
	size_t nsyscalls;
	uint64_t epoch; /* a loss of events begins the next one: no thread is followed then */
	bool callers;	/* keep the calls around what is kept */
	/* the present row */
	uint32_t row;
	uint8_t ends_here;
	/* the present block, by row */
	uint8_t *states;
	struct call_address *owners;
	uint32_t *offsets;
	size_t capacity;
	/* what the trace has, for the remark at the end */
	bool matched, has_links, has_wakeups, has_wakings, has_switches;
	bool has_strace, has_system; /* a recorder, which has wakeups or is beside one that has */
	uint64_t beyond;	     /* links and pipes beyond the limits */
	uint64_t lost; /* spans that ended before their parent, which is kept, began */
	bool failed;
	struct error error;
};

/* --- links --- */

static uint64_t follow_hash(const struct follow *f, enum follow_link kind, uint64_t a, uint64_t b)
{
	const uint64_t words[] = {kind, a, b};

	return siphash(&f->key, words, sizeof words);
}

static uint64_t follow_hash_text(const struct follow *f, const void *text, size_t n)
{
	return siphash(&f->key, text, n);
}

static bool follow_has_link(const struct follow *f, uint64_t link)
{
	return key_map_get(&f->links, link);
}

static void follow_no_memory(struct follow *f)
{
	if (!f->failed)
		error_no_memory(&f->error);
	f->failed = true;
}

/* Follow a link from now on. */
static void follow_add_link(struct follow *f, uint64_t link)
{
	if (follow_has_link(f, link))
		return;
	if (f->links.count >= LINKS_MOST)
		f->beyond++;
	else if (key_map_set(&f->links, link, 1))
		follow_no_memory(f);
}

/* --- tasks --- */

static uint32_t follow_new_task(struct follow *f)
{
	if (ARRAY_GROW(f->tasks, f->tasks_capacity, f->ntasks)) {
		follow_no_memory(f);
		return 0;
	}
	f->tasks[f->ntasks] = (struct follow_task){0};
	return (uint32_t)f->ntasks++;
}

/* Get the number of the task with a tid; 0: none, or out of memory. */
static uint32_t follow_tid(struct follow *f, int64_t tid)
{
	uint32_t number = tid > 0 ? idmap_get(&f->by_tid, (uint32_t)tid) : 0;

	if (number || tid <= 0)
		return number;
	number = follow_new_task(f);
	if (number && idmap_set(&f->by_tid, (uint32_t)tid, number))
		follow_no_memory(f);
	return number;
}

/* Get the number of the task of a lane; 0: out of memory. */
static uint32_t follow_task_of(struct follow *f, const struct lane *l)
{
	uint32_t number;

	if (ARRAY_REACH(f->by_thread, f->nthreads, l->thread)) {
		follow_no_memory(f);
		return 0;
	}
	if (f->by_thread[l->thread])
		return f->by_thread[l->thread];
	number = l->flags & LANE_HAS_TID ? follow_tid(f, l->tid) : 0;
	if (number && l->flags & LANE_PROCESS_TID) {
		if (f->tasks[number].pid && f->tasks[number].pid != l->pid) {
			f->tasks[number].ambiguous = true;
			number = 0;
		} else {
			f->tasks[number].pid = l->pid;
		}
	}
	return f->by_thread[l->thread] = number ? number : follow_new_task(f);
}

static bool follow_is_followed(const struct follow *f, uint32_t task)
{
	return f->tasks[task].calls || f->tasks[task].awake == f->epoch;
}

/* Follow a task up to its next sleep. A task that waits in a call of the request is of the request
 * up to the end of the call, not longer. */
static void follow_awake(struct follow *f, uint32_t task)
{
	if (task && !f->tasks[task].strong)
		f->tasks[task].awake = f->epoch;
}

/* --- the rows of calls --- */

/* Decide the enter of a call. */
static void follow_decide(struct follow *f, struct follow_call *c, uint8_t state)
{
	if (!c->undecided)
		return;
	c->undecided = false;
	if (c->block == block_queue_next(&f->widening.queue))
		f->states[c->row] = row_flags(f->states[c->row]) | state;
	else if (!f->failed &&
		 block_queue_decide(&f->widening.queue, c->block, c->row, state, &f->error))
		f->failed = true;
}

/* Keep the lowest n calls of a stack as the callers of what is kept. */
static void follow_keep_callers(struct follow *f, const struct stack *s, size_t n)
{
	const struct stack *own = s ? f->calls.stacks[s->number] : NULL;

	while (s) {
		while (n--) {
			struct follow_call *c = calls_data(&f->calls, s, n);

			if (c->caller)
				return;
			c->caller = true;
			follow_decide(f, c, ROW_CALLER);
		}
		n = s == own ? 0 : own->count;
		s = s == own ? NULL : own;
	}
}

/* Keep the calls around an event that is kept. */
static void follow_kept_event(struct follow *f, const struct event *e)
{
	const struct stack *s = calls_thread_stack(&f->calls, calls_thread(e));

	if (!f->callers || !s)
		return;
	if (s->kernel && s->kernel->count)
		s = s->kernel;
	follow_keep_callers(f, s, s->count);
}

/* Add to the number of followed open calls of an id. */
static void follow_count_async(struct follow *f, uint64_t link, bool begins)
{
	uint64_t open = key_map_get(&f->links, link);

	if (begins && !open && f->links.count >= LINKS_MOST)
		f->beyond++;
	else if ((begins || open) && key_map_set(&f->links, link, begins ? open + 1 : open - 1))
		follow_no_memory(f);
}

/* Keep an open call, if its enter is still there, and follow it. */
static void follow_call(struct follow *f, struct follow_call *c)
{
	if (!c->followed) {
		c->followed = true;
		f->tasks[c->task].calls += c->inside;
		f->tasks[c->task].strong += c->inside && c->strong;
		if (c->async)
			follow_count_async(f, c->link, true);
	}
	c->kept |= c->undecided;
	follow_decide(f, c, ROW_KEEP);
}

/* A span does not wait for its parent any more. */
static void follow_stop_waiting(struct follow *f, struct follow_call *c)
{
	struct follow_waiting *w = &f->waiting[c->waiting - 1];

	if (w->next)
		f->waiting[w->next - 1].previous = w->previous;
	if (w->previous)
		f->waiting[w->previous - 1].next = w->next;
	else if (!w->next)
		key_map_remove(&f->waiting_of, w->parent);
	else if (key_map_set(&f->waiting_of, w->parent, w->next))
		follow_no_memory(f);
	w->next = f->waiting_free;
	f->waiting_free = c->waiting;
	c->waiting = 0;
}

/* A call has ended. */
static void follow_ended(struct follow *f, struct follow_call *c)
{
	if (c->waiting)
		follow_stop_waiting(f, c);
	follow_decide(f, c, ROW_LEFT_OUT);
	if (!c->followed)
		return;
	c->followed = false;
	f->tasks[c->task].calls -= c->inside;
	f->tasks[c->task].strong -= c->inside && c->strong;
	if (c->async)
		follow_count_async(f, c->link, false);
}

/* --- what events mean --- */

/* Messages. Their ids are numbers, and in text what the kernel's print fmt makes of them:
 *
 *     binder_transaction        transaction=55
 *     workqueue_queue_work      work struct=00000000c0ffee12 function=f
 *     workqueue_execute_start   work struct 00000000c0ffee12: function f
 */
static const struct follow_message {
	const char *name, *id;
	const char *text; /* name of the id's field in text */
	enum follow_role role;
} follow_messages[] = {
	{"binder_transaction", "debug_id", "transaction", FOLLOW_SENDS},
	{"binder_transaction_received", "debug_id", "transaction", FOLLOW_RECEIVES},
	{"workqueue_queue_work", "work", "struct", FOLLOW_SENDS},
	{"workqueue_execute_start", "work", "struct", FOLLOW_RECEIVES},
	{"workqueue_execute_end", "work", "struct", FOLLOW_ENDS},
};

/* Get what the events of a type send or receive; NULL: nothing. */
static const struct follow_message *follow_message(const struct type *t)
{
	for (size_t i = 0; i < sizeof follow_messages / sizeof *follow_messages; i++)
		if (!strcmp(t->name.text, follow_messages[i].name))
			return &follow_messages[i];
	return NULL;
}

/* Get the link of the message of an event; 0: the event does not name it. */
static uint64_t follow_message_link(const struct follow *f, const struct event *e,
				    const struct follow_message *m)
{
	static const char work[] = "work struct ";
	const struct field *field = field_find(e->type, m->id);
	struct field_value v = {.form = FORM_NONE};
	char number[24];
	const char *text, *end;

	if (!field)
		field = field_find(e->type, m->text);
	if (!field)
		field = field_find(e->type, "message");
	if (field)
		field_get(e, field, 0, &v);
	text = (const char *)v.text;
	end = text + v.size;
	if (v.form != FORM_TEXT) {
		if (v.form == FORM_NONE)
			return 0;
		text = number;
		end = number + snprintf(number, sizeof number, "%" PRIu64, v.u);
	} else if (v.size >= sizeof work && !memcmp(text, work, sizeof work - 1)) {
		text += sizeof work - 1;
		end = memchr(text, ':', (size_t)(end - text));
	} else if (field->role == ROLE_MESSAGE) {
		return 0;
	}
	/* digits alone were read as a number */
	while (text && text < end && (*text == '0' || *text == 'x'))
		text++;
	return end > text ? follow_hash(f, LINK_MESSAGE,
					follow_hash_text(f, text, (size_t)(end - text)),
					(uint64_t)m->id[0])
			  : 0;
}

/* Note what may lack of the trace with a type. */
static void follow_note_source(struct follow *f, const struct type *t)
{
	static const char *const tables[] = {"csv", "tsv", "ndjson", "otlp", "jaeger", "zipkin"};
	bool other = false;

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		other |= type_is_of(t, tables[i]);
	f->has_strace |= type_is_of(t, "strace");
	f->has_system |= !other && !type_is_of(t, "strace");
}

static enum follow_role follow_role_of(struct follow *f, const struct type *t)
{
	const struct scheduling_type *s = scheduling_types_get(&f->types, t);
	const struct follow_message *message;

	if (!s) {
		follow_no_memory(f);
		return FOLLOW_PLAIN;
	}
	if (t->flags & TYPE_INNER)
		return t->kind == KIND_ENTER ? FOLLOW_OUT : FOLLOW_PLAIN;
	if (!strcmp(t->name.text, "PERF_RECORD_SWITCH_OUT"))
		return FOLLOW_OUT;
	if (s->kind == SCHEDULING_SWITCH)
		return FOLLOW_SWITCH;
	if (s->kind == SCHEDULING_WAKING || s->kind == SCHEDULING_WAKEUP)
		return s->kind == SCHEDULING_WAKING ? FOLLOW_WAKING : FOLLOW_WAKEUP;
	if (field_find(t, "trace_id") && field_find(t, "span_id"))
		return FOLLOW_SPAN;
	if (type_is_call(t) && type_is_of(t, "strace"))
		return FOLLOW_SYSCALL;
	message = follow_message(t);
	return message ? message->role : FOLLOW_PLAIN;
}

static enum follow_role follow_role(struct follow *f, const struct type *t)
{
	if (ARRAY_REACH(f->roles, f->nroles, t->number)) {
		follow_no_memory(f);
		return FOLLOW_PLAIN;
	}
	if (!f->roles[t->number]) {
		follow_note_source(f, t);
		f->roles[t->number] = (uint8_t)follow_role_of(f, t);
	}
	return f->roles[t->number];
}

/* Test whether a name is one of those in a list with spaces around each. */
static bool follow_is_listed(const char *list, struct text_ref name)
{
	const char *at = list;

	while (name.size && (at = memmem(at, strlen(at), name.text, name.size))) {
		if (at[-1] == ' ' && at[name.size] == ' ')
			return true;
		at++;
	}
	return false;
}

static enum follow_syscall follow_syscall(struct follow *f, const struct event *e)
{
	struct text_ref name = dictionary_location_name(f->dictionary, e->location);
	enum follow_syscall is = SYSCALL_OTHER;

	if (ARRAY_REACH(f->syscalls, f->nsyscalls, e->location)) {
		follow_no_memory(f);
		return SYSCALL_OTHER;
	}
	if (f->syscalls[e->location])
		return f->syscalls[e->location];
	if (follow_is_listed(" read readv recv recvfrom recvmsg recvmmsg ", name))
		is = SYSCALL_READS;
	else if (follow_is_listed(" futex io_uring_enter ", name))
		is = SYSCALL_MAY_WAIT;
	else if (follow_is_listed(" write writev send sendto sendmsg ", name))
		is = SYSCALL_WRITES;
	else if (follow_is_listed(" accept accept4 poll ppoll select pselect6 epoll_wait "
				  "epoll_pwait epoll_pwait2 io_getevents io_pgetevents msgrcv "
				  "mq_timedreceive semop semtimedop futex_wait futex_waitv "
				  "futex_wait_requeue "
				  "nanosleep clock_nanosleep pause rt_sigsuspend rt_sigtimedwait "
				  "wait4 waitid waitpid ",
				  name))
		is = SYSCALL_WAITS;
	return f->syscalls[e->location] = is;
}

/* --- bytes in pipes and sockets --- */

/* Find the pipe, or the direction of a socket, that the descriptor of a system call is of. Those of
 * one end of a connection have the name "TCP:[A->B]", of the other "TCP:[B->A]": both get the name
 * of the writer. 0: the call is of another file, or there are too many. */
static uint32_t follow_pipe_of(struct follow *f, const struct event *e, bool reads)
{
	const char *name, *open, *arrow;
	uint32_t *number;
	struct value v;
	char text[256];
	size_t n;

	if (!argument_by_key(f->dictionary, e, "fd_path", &v) || v.tag != VALUE_STRING ||
	    v.n >= sizeof text)
		return 0;
	name = (const char *)v.bytes;
	n = v.n;
	open = memmem(name, n, ":[", 2);
	arrow = memmem(name, n, "->", 2);
	if (!open || name[n - 1] != ']' || (!arrow && memcmp(name, "pipe:[", 6) != 0) ||
	    (arrow && arrow < open))
		return 0;
	memcpy(text, name, n);
	if (arrow && reads) {
		size_t head = (size_t)(open + 2 - name), here = (size_t)(arrow - open) - 2,
		       there = n - head - here - 3;

		memcpy(text + head, arrow + 2, there);
		memcpy(text + head + there, "->", 2);
		memcpy(text + head + there + 2, open + 2, here);
	}
	number = key_map_number(&f->pipe_numbers, follow_hash_text(f, text, n));
	if (number && *number)
		return *number;
	if (f->npipes >= PIPES_MOST) {
		f->beyond++;
		return 0;
	}
	f->npipes += !f->npipes;
	if (!number || ARRAY_GROW(f->pipes, f->pipes_capacity, f->npipes)) {
		follow_no_memory(f);
		return 0;
	}
	f->pipes[f->npipes] = (struct follow_pipe){0};
	return *number = (uint32_t)f->npipes++;
}

/* Get the whole number in an argument, or the return value, of a system call; 0: there is none. */
static uint64_t follow_bytes(const struct follow *f, const struct event *e, const char *key)
{
	bool is_signed = false;
	uint64_t bytes = 0;
	struct value v;

	if (!argument_by_key(f->dictionary, e, key, &v) ||
	    !value_integer(&v, NULL, &bytes, &is_signed) || bytes > INT32_MAX)
		return 0;
	return bytes;
}

/* Test whether the text of an argument of a system call has a word. */
static bool follow_says(const struct follow *f, const struct event *e, const char *key,
			const char *word)
{
	struct value v;

	return argument_by_key(f->dictionary, e, key, &v) && v.tag == VALUE_STRING &&
	       memmem(v.bytes, v.n, word, strlen(word));
}

/* Test whether a system call, that begins, waits for what other threads or hosts do. */
static bool follow_waits(const struct follow *f, const struct event *e, enum follow_syscall is,
			 uint32_t pipe)
{
	static const char *const terminals[] = {"/dev/tty", "/dev/pts/", "/dev/console"};
	struct text_ref name = dictionary_location_name(f->dictionary, e->location);
	struct value v;

	if (is == SYSCALL_MAY_WAIT)
		return follow_says(f, e, "op", "FUTEX_WAIT") ||
		       follow_says(f, e, "op", "FUTEX_LOCK_PI") ||
		       follow_bytes(f, e, "min_complete");
	if (is != SYSCALL_READS || pipe)
		return is == SYSCALL_WAITS || (is == SYSCALL_READS && pipe);
	/* only sockets are received from; a file never waits, nor does an unknown descriptor */
	if (!argument_by_key(f->dictionary, e, "fd_path", &v) || v.tag != VALUE_STRING || !v.n)
		return name.size > 4 && !memcmp(name.text, "recv", 4);
	for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++)
		if (v.n >= strlen(terminals[i]) &&
		    !memcmp(v.bytes, terminals[i], strlen(terminals[i])))
			return true;
	return v.bytes[0] != '/';
}

/* A system call begins to write. Its bytes may be received before it has returned. */
static void follow_write(struct follow *f, const struct event *e, struct follow_call *c)
{
	struct follow_pipe *p = &f->pipes[c->pipe];

	c->from = p->sent;
	c->bytes = follow_bytes(f, e, "count");
	if (!c->bytes)
		c->bytes = follow_bytes(f, e, "len");
	p->sent += c->bytes;
	if (!c->followed)
		return;
	if (p->count < RANGES_MOST) {
		p->ranges[p->count].from = c->from;
		p->count++;
	}
	p->ranges[p->count - 1].to = p->sent;
}

/* A system call has written: mend how much. */
static void follow_written(struct follow *f, const struct event *e, const struct follow_call *c)
{
	struct follow_pipe *p = &f->pipes[c->pipe];
	uint64_t bytes = follow_bytes(f, e, "ret");

	/* bytes of others are after it */
	if (bytes == c->bytes || p->sent != c->from + c->bytes)
		return;
	p->sent = c->from + bytes;
	if (p->count && c->followed && p->ranges[p->count - 1].from <= c->from)
		p->ranges[p->count - 1].to = p->sent;
}

/* Test whether a system call has read bytes that a followed thread sent. */
static bool follow_read(struct follow *f, const struct event *e, const struct follow_call *c)
{
	struct follow_pipe *p = &f->pipes[c->pipe];
	uint64_t bytes = follow_bytes(f, e, "ret");
	unsigned passed = 0;
	bool reached;

	if (!bytes)
		return false;
	reached = p->count && p->ranges[0].from < p->received + bytes &&
		  p->ranges[0].to > p->received;
	/* these bytes are received again */
	if (c->peeks || follow_says(f, e, "flags", "MSG_PEEK"))
		return reached;
	p->received += bytes;
	while (passed < p->count && p->ranges[passed].to <= p->received)
		passed++;
	p->count -= passed;
	memmove(p->ranges, p->ranges + passed, p->count * sizeof *p->ranges);
	return reached;
}

/* --- flows and spans --- */

/* Get the link of an event of Trace Event JSON that has an id, and is no part of a flow; 0: it has
 * none. */
static uint64_t follow_async(const struct follow *f, const struct event *e)
{
	bool local = e->type->native & CHROME_LOCAL;

	if (!async_event_is(e->type) || async_event_is_flow(e->type))
		return 0;
	return follow_hash(f, LINK_ASYNC, async_event_id(e),
			   (uint64_t)e->type->group.number << 32 |
				   (local ? (uint32_t)e->lane->pid : 0)) |
	       1;
}

/* Get the link of the span of an event, or of its parent; 0: it has none. */
static uint64_t follow_span(const struct follow *f, const struct event *e, const char *id)
{
	const struct field *fields[] = {field_find(e->type, "trace_id"), field_find(e->type, id)};
	uint64_t hash = LINK_SPAN;

	for (int i = 0; i < 2; i++) {
		struct field_value v = {.form = FORM_NONE};

		if (fields[i])
			field_get(e, fields[i], 0, &v);
		if (v.form != FORM_TEXT || !v.size)
			return 0;
		hash = follow_hash(f, LINK_SPAN, hash, follow_hash_text(f, v.text, v.size));
	}
	return hash | 1;
}

/* Remember the call of a span that was read last, until its parent begins. */
static void follow_wait(struct follow *f, struct follow_call *c, uint64_t parent)
{
	uint32_t first = (uint32_t)key_map_get(&f->waiting_of, parent), number = f->waiting_free;

	if (!number && ARRAY_GROW(f->waiting, f->waiting_capacity, f->nwaiting)) {
		follow_no_memory(f);
		return;
	}
	if (!number)
		number = (uint32_t)++f->nwaiting;
	else
		f->waiting_free = f->waiting[number - 1].next;
	f->waiting[number - 1] = (struct follow_waiting){
		.at = calls_address(&f->calls, NULL, c), .parent = parent, .next = first};
	if (first)
		f->waiting[first - 1].previous = number;
	if (key_map_set(&f->waiting_of, parent, number))
		follow_no_memory(f);
	c->waiting = number;
}

/* Follow the children of a span from now on, those that have begun, and the children of these. */
static void follow_span_children(struct follow *f, uint64_t span)
{
	struct call_address *found = NULL;
	size_t n = 0, capacity = 0;

	for (size_t i = 0; span && !f->failed; i++) {
		uint32_t number;

		follow_add_link(f, span);
		f->lost += key_map_get(&f->early, span);
		key_map_remove(&f->early, span);
		while ((number = (uint32_t)key_map_get(&f->waiting_of, span)) && !f->failed) {
			struct call_address at = f->waiting[number - 1].at;
			struct follow_call *c = calls_at(&f->calls, at);

			if (ARRAY_GROW(found, capacity, n))
				follow_no_memory(f);
			else
				found[n++] = at;
			follow_stop_waiting(f, c);
			c->strong = true;
			follow_call(f, c);
		}
		span = i < n ? ((struct follow_call *)calls_at(&f->calls, found[i]))->span : 0;
	}
	free(found);
}

/* A span that is left out has ended: remember this until its parent begins. */
static void follow_early(struct follow *f, uint64_t parent)
{
	if (!parent)
		return;
	if (f->early.count >= EARLY_MOST)
		key_map_clear(&f->early);
	if (key_map_set(&f->early, parent, key_map_get(&f->early, parent) + 1))
		follow_no_memory(f);
}

/* Test whether a flow that is followed leads to an event, whose flows were read. */
static bool follow_reached(const struct follow *f)
{
	for (unsigned i = 0; i < f->flows.count; i++)
		if (follow_has_link(f, follow_hash(f, LINK_FLOW, f->flows.parts[i].id, 0)))
			return true;
	return false;
}

/* Follow the flows of an event, which were read, and forget those that end with it. */
static void follow_flows(struct follow *f)
{
	for (unsigned i = 0; i < f->flows.count; i++) {
		uint64_t link = follow_hash(f, LINK_FLOW, f->flows.parts[i].id, 0);

		if (f->flows.parts[i].ends)
			key_map_remove(&f->links, link);
		else
			follow_add_link(f, link);
	}
}

/* --- threads that sleep, are woken, and get messages --- */

/* Test whether an event happened in an interrupt, which its thread did not cause. */
static bool follow_in_interrupt(struct follow *f, const struct event *e)
{
	enum { HARDIRQ = 8, SOFTIRQ = 16 };
	const struct scheduling_type *t = scheduling_types_get(&f->types, e->type);
	const struct stack *s = calls_thread_stack(&f->calls, e->lane->cpu_thread);
	struct field_value flags = {.form = FORM_NONE};

	if (t && t->flags)
		field_get(e, t->flags, 0, &flags);
	/* interrupts as LTTng records them are calls of the CPU */
	return (flags.form != FORM_NONE && flags.u & (HARDIRQ | SOFTIRQ)) ||
	       (s && s->count && s != calls_thread_stack(&f->calls, e->lane->thread));
}

/* Get the task that a switch or a wakeup is about; 0: none. make: make one for a new thread. */
static uint32_t follow_target(struct follow *f, const struct event *e, unsigned slot, bool make)
{
	const struct scheduling_type *t = scheduling_types_get(&f->types, e->type);
	int64_t tid = 0;

	if (!t || !scheduling_number(t, e, slot, &tid) || tid <= 0 || tid > INT32_MAX)
		return 0;
	return make ? follow_tid(f, tid) : idmap_get(&f->by_tid, (uint32_t)tid);
}

/* A thread leaves its CPU, perhaps to sleep. */
static void follow_switch(struct follow *f, const struct event *e, bool named)
{
	const struct scheduling_type *t = scheduling_types_get(&f->types, e->type);
	static const char preempted[] = "(pre-empted)";
	uint64_t runnable = 0;
	struct text_ref name;
	uint32_t task;

	f->has_switches = true;
	if (named) {
		enum thread_state state = scheduling_state(t, e).state;

		/* a thread that waits for a disk or a page goes on with its work */
		runnable = state == THREAD_RUNNABLE || state == THREAD_RUNNING ||
			   state == THREAD_UNINTERRUPTIBLE;
		task = follow_target(f, e, SWITCH_PREV_TID, false);
	} else {
		name = dictionary_location_name(f->dictionary, e->location);
		field_number(e, "preempt", &runnable);
		runnable |= memmem(name.text, name.size, preempted, sizeof preempted - 1) != NULL;
		task = follow_task_of(f, e->lane);
	}
	if (!runnable)
		f->tasks[task].awake = 0;
}

/* A thread is woken, by an event that is followed or not. */
static void follow_wakeup(struct follow *f, const struct event *e, bool followed)
{
	uint32_t task = follow_target(f, e, WAKE_TID, followed);

	f->has_wakeups = true;
	if (f->tasks[task].ambiguous)
		return;
	if (followed && !follow_in_interrupt(f, e))
		follow_awake(f, task);
	else if (!f->has_switches)
		/* it has slept */
		f->tasks[task].awake = 0;
}

/* Take a message, of an event that is followed or not. */
static void follow_take_message(struct follow *f, const struct event *e, bool followed)
{
	const struct follow_message *m = follow_message(e->type);
	uint64_t link = m ? follow_message_link(f, e, m) : 0;
	enum follow_role role = m ? m->role : FOLLOW_PLAIN;

	if (!link)
		return;
	f->has_links = true;
	if (role == FOLLOW_SENDS && followed && !follow_in_interrupt(f, e)) {
		follow_add_link(f, link);
	} else if (role == FOLLOW_RECEIVES) {
		if (follow_has_link(f, link))
			follow_awake(f, follow_task_of(f, e->lane));
		key_map_remove(&f->links, link);
	} else if (role == FOLLOW_ENDS) {
		f->tasks[follow_task_of(f, e->lane)].awake = 0;
	}
}

/* Take what an event leads to; followed: it is of the request. */
static void follow_leads(struct follow *f, const struct event *e, enum follow_role role,
			 bool followed)
{
	switch (role) {
	case FOLLOW_SWITCH: follow_switch(f, e, true); break;
	case FOLLOW_OUT: follow_switch(f, e, false); break;
	case FOLLOW_WAKING:
		f->has_wakings = true;
		follow_wakeup(f, e, followed);
		break;
	case FOLLOW_WAKEUP:
		if (!f->has_wakings)
			follow_wakeup(f, e, followed);
		break;
	case FOLLOW_SENDS:
	case FOLLOW_RECEIVES:
	case FOLLOW_ENDS: follow_take_message(f, e, followed); break;
	default: break;
	}
}

/* --- rows --- */

/* Test whether a call may be reached while it is open. */
static bool follow_may_be_reached(struct follow *f, const struct event *e, enum follow_role role)
{
	return f->callers || (role == FOLLOW_SYSCALL && follow_syscall(f, e) == SYSCALL_READS) ||
	       (!(e->type->flags & TYPE_CALL_NUMBER) && flows_are_of(e->type)) ||
	       (role == FOLLOW_SPAN && follow_span(f, e, "parent_id"));
}

/* Test whether what happens in the thread of a call is inside of it. Calls with numbers may
 * overlap; those of Perfetto have a track of their own. */
static bool follow_has_inside(const struct type *t)
{
	if (t->flags & (TYPE_INNER | TYPE_PER_CPU))
		return false;
	return !(t->flags & TYPE_CALL_NUMBER) || type_is_of(t, "perfetto");
}

/* Take a call that begins. Returns the state of its row. */
static uint8_t follow_enter(struct follow *f, const struct event *e, const struct call *call,
			    enum follow_role role, bool match)
{
	const struct stack *s = call->on;
	struct follow_call *c = call->data;
	uint32_t task = follow_task_of(f, e->lane);
	struct follow_task *t = &f->tasks[task];
	enum follow_syscall is = role == FOLLOW_SYSCALL ? follow_syscall(f, e) : SYSCALL_OTHER;
	bool numbered = e->type->flags & TYPE_CALL_NUMBER, followed;
	uint64_t async = numbered ? follow_async(f, e) : 0;
	uint32_t pipe = is == SYSCALL_READS || is == SYSCALL_WRITES
				? follow_pipe_of(f, e, is == SYSCALL_READS)
				: 0;

	/* the thread waits for other work */
	if (role == FOLLOW_SYSCALL && follow_waits(f, e, is, pipe))
		t->awake = 0;
	f->has_links |= pipe != 0;
	*c = (struct follow_call){.block = block_queue_next(&f->widening.queue),
				  .row = f->row,
				  .task = task,
				  .undecided = true,
				  .inside = follow_has_inside(e->type),
				  .async = async,
				  .pipe = pipe,
				  .peeks = pipe && follow_says(f, e, "flags", "MSG_PEEK"),
				  .link = async,
				  .span = role == FOLLOW_SPAN ? follow_span(f, e, "span_id") : 0};
	c->strong = match || follow_reached(f) || (c->inside && (t->strong || t->next)) ||
		    (async && follow_has_link(f, async)) ||
		    (role == FOLLOW_SPAN && follow_has_link(f, follow_span(f, e, "parent_id")));
	followed = c->strong || (!(e->type->flags & TYPE_PER_CPU) && !(numbered && !c->inside) &&
				 follow_is_followed(f, task));
	if (c->inside)
		t->next = false;
	if (followed) {
		follow_call(f, c);
		follow_flows(f);
		follow_span_children(f, c->span);
	}
	if (pipe && is == SYSCALL_WRITES)
		follow_write(f, e, c);
	if (followed) {
		if (f->callers && s)
			follow_keep_callers(f, s, s->count - 1);
		return ROW_KEEP;
	}
	if (!follow_may_be_reached(f, e, role)) {
		c->undecided = false;
		return ROW_LEFT_OUT;
	}
	f->owners[f->row] = calls_address(&f->calls, s, c);
	if (role == FOLLOW_SPAN && numbered && follow_span(f, e, "parent_id"))
		follow_wait(f, c, follow_span(f, e, "parent_id"));
	return ROW_UNDECIDED;
}

/* Take a call that ends. Returns the state of its row. */
static uint8_t follow_leave(struct follow *f, const struct event *e, const struct call *call,
			    bool match)
{
	const struct stack *s = call->on;
	struct follow_call *c = call->data;
	bool got = false;

	if (follow_reached(f) && c->undecided)
		follow_call(f, c);
	if (c->pipe && follow_syscall(f, e) == SYSCALL_WRITES) {
		follow_written(f, e, c);
	} else if (c->pipe && (follow_read(f, e, c) || c->followed)) {
		follow_call(f, c);
		got = true;
	}
	if (c->kept)
		follow_flows(f);
	else if (c->waiting)
		follow_early(f, f->waiting[c->waiting - 1].parent);
	follow_ended(f, c);
	/* the thread has got bytes of the request */
	if (got)
		follow_awake(f, c->task);
	if (!c->kept && !match)
		return c->caller ? ROW_CALLER : ROW_LEFT_OUT;
	if (f->callers && s)
		follow_keep_callers(f, s, s->count);
	return ROW_KEEP;
}

/* Find the call that an event which is part of a flow belongs to; NULL: there is none yet. */
static struct follow_call *follow_around(struct follow *f, const struct event *e)
{
	const struct stack *s = calls_thread_stack(&f->calls, e->lane->thread);
	size_t n = flows_call_of(&f->flows, e, s);

	return n ? calls_data(&f->calls, s, n - 1) : NULL;
}

/* Take an event that is no call. Returns the state of its row. */
static uint8_t follow_event(struct follow *f, const struct event *e, uint32_t task,
			    enum follow_role role, bool match)
{
	bool part = f->flows.count && (match || follow_reached(f));
	bool per_cpu = e->type->flags & TYPE_PER_CPU, kept;
	struct follow_call *around = f->flows.count ? follow_around(f, e) : NULL;
	uint64_t async = follow_async(f, e);

	kept = match || part || (follow_is_followed(f, task) && !per_cpu) ||
	       (async && follow_has_link(f, async)) ||
	       (role == FOLLOW_SPAN && follow_has_link(f, follow_span(f, e, "span_id")));
	if (part && !around && flows_call_is_next(&f->flows))
		f->tasks[task].next = true;
	else if (part && around && !around->followed) {
		around->strong = true;
		follow_call(f, around);
	}
	follow_leads(f, e, role, kept);
	if (kept)
		follow_flows(f);
	/* when the threads of the request got a CPU, were woken, and got a message */
	if (role == FOLLOW_SWITCH)
		kept |= follow_is_followed(f, follow_target(f, e, SWITCH_NEXT_TID, false));
	else if (role == FOLLOW_WAKING || role == FOLLOW_WAKEUP)
		kept |= follow_is_followed(f, follow_target(f, e, WAKE_TID, false));
	else if (role == FOLLOW_RECEIVES)
		kept |= follow_is_followed(f, task);
	if (kept)
		follow_kept_event(f, e);
	return kept ? ROW_KEEP : ROW_LEFT_OUT;
}

/* Take a row that is an event. Returns its state. */
static uint8_t follow_take(struct follow *f, const struct event *e, bool match)
{
	enum follow_role role = follow_role(f, e->type);
	uint32_t task = follow_task_of(f, e->lane);
	enum calls_result got;
	uint8_t state;
	struct call call;

	f->matched |= match;
	got = calls_next(&f->calls, e, &call);
	if (flows_read(&f->flows, e))
		f->has_links = true;
	f->has_links |= role == FOLLOW_SPAN;
	if (got != CALLS_ENTER && got != CALLS_LEAVE)
		return got == CALLS_NONE && type_is_call(e->type)
			       ? match ? ROW_KEEP : ROW_LEFT_OUT
			       : follow_event(f, e, task, role, match);
	state = got == CALLS_ENTER ? follow_enter(f, e, &call, role, match)
				   : follow_leave(f, e, &call, match);
	if (role == FOLLOW_OUT)
		follow_leads(f, e, role, state == ROW_KEEP);
	return state;
}

/* Take a row with its state before. Returns the state. */
static uint8_t follow_row(struct follow *f, const struct event *e, uint8_t before)
{
	uint8_t left = results_row(&f->widening.results, e,
				   row_kept(before) ? before : row_flags(before) | ROW_LEFT_OUT);
	uint8_t state = ROW_LEFT_OUT;
	struct call ended;

	f->ends_here = 0;
	if (e->type->kind == KIND_DROP) {
		calls_next(&f->calls, e, &ended);
	} else if (row_state(before) == ROW_GAP) {
		state = ROW_GAP;
		f->epoch++;
	} else if (row_state(before) != ROW_LEFT_OUT) {
		state = follow_take(f, e, row_kept(left));
	}
	state |= row_flags(before) | f->ends_here;
	f->widening.queue.flagged |= row_flags(state) != 0;
	return state;
}

/* --- calls that end without a leave, and those that a SNAPSHOT opens --- */

/* Callback of calls.on_lost. */
static void follow_lost(void *ctx, struct stack *s, const struct frame *frame, void *data,
			enum calls_lost why)
{
	struct follow_call *c = data;
	struct follow *f = ctx;

	(void)s;
	if ((c->kept || c->caller) && why != LOST_NUMBER)
		f->ends_here |= frame->inner ? ROW_ENDS_INNER : ROW_ENDS;
	follow_ended(f, c);
}

/* Callback of calls.on_forget: the stream has ended. */
static void follow_forget(void *ctx, struct stack *s, const struct frame *frame, void *data)
{
	(void)s;
	(void)frame;
	follow_ended(ctx, data);
}

/* Callback of calls.on_restore. A call that does not match is not in the output. */
static int follow_restored(void *ctx, const struct event *e, const struct call *call)
{
	struct follow *f = ctx;
	bool match = row_passes(f->states[f->calls.restored.frame]);
	struct follow_call *c = call->data;

	*c = (struct follow_call){.task = follow_task_of(f, e->lane),
				  .strong = match,
				  .inside = follow_has_inside(e->type),
				  .kept = match};
	f->matched |= match;
	if (match)
		follow_call(f, c);
	return f->failed ? -1 : 0;
}

static void follow_begin_calls(struct follow *f)
{
	calls_init(&f->calls, f->dictionary);
	f->calls.balances = true;
	f->calls.data_size = sizeof(struct follow_call);
	f->calls.on_lost = follow_lost;
	f->calls.on_lost_ctx = f;
	f->calls.on_forget = follow_forget;
	f->calls.on_restore = follow_restored;
	f->calls.on_restore_ctx = f;
}

/* --- blocks --- */

/* Callback of the block queue: a row has moved. */
static void follow_moved(void *ctx, struct call_address at, uint64_t block, uint32_t row)
{
	struct follow *f = ctx;
	struct follow_call *c = calls_at(&f->calls, at);

	if (c) {
		c->block = block;
		c->row = row;
	}
}

static int follow_room(struct follow *f, uint32_t rows)
{
	void *grown;

	if (rows <= f->capacity)
		return 0;
	grown = realloc(f->states, rows);
	if (!grown)
		return -1;
	f->states = grown;
	grown = realloc(f->owners, rows * sizeof *f->owners);
	if (!grown)
		return -1;
	f->owners = grown;
	grown = realloc(f->offsets, rows * sizeof *f->offsets);
	if (!grown)
		return -1;
	f->offsets = grown;
	f->capacity = rows;
	return 0;
}

/* Returns -1 with e filled if anything failed so far. */
static int follow_check(const struct follow *f, struct error *e)
{
	if (f->failed)
		*e = f->error;
	else if (f->calls.out_of_memory || f->widening.results.pairing.calls.out_of_memory)
		error_no_memory(e);
	else
		return 0;
	return -1;
}

static int follow_take_events(struct follow *f, struct queued_block *h, struct error *e)
{
	const uint8_t *states = h->memory + h->states_at;
	const struct block *b = &h->block;
	struct events it;
	struct event ev;

	if (follow_room(f, b->rows))
		return error_no_memory(e);
	f->row = 0;
	for (events_begin(&it, b); event_next(&it, &ev); f->row++) {
		f->offsets[f->row] = (uint32_t)(ev.row - b->row_data);
		f->states[f->row] = follow_row(f, &ev, states[f->row]);
	}
	return follow_check(f, e) || block_queue_events(&f->widening.queue, b, f->states,
							f->offsets, f->owners, e)
		       ? -1
		       : 0;
}

/* Open the calls of a SNAPSHOT, which goes on unchanged. */
static int follow_take_snapshot(struct follow *f, const struct queued_block *h, struct error *e)
{
	if (follow_room(f, h->block.rows + 1))
		return error_no_memory(e);
	if (h->block.rows)
		memcpy(f->states, h->memory + h->states_at, h->block.rows);
	if (!h->block.snapshot->continues)
		calls_forget_all(&f->calls);
	return calls_restore(&f->calls, &h->block, e) || follow_check(f, e) ? -1 : 0;
}

/* End a stream: nothing leads to the next one. */
static void follow_end_stream(struct follow *f)
{
	calls_forget_all(&f->calls);
	calls_free(&f->calls);
	follow_begin_calls(f);
	key_map_clear(&f->links);
	key_map_clear(&f->early);
	f->epoch++;
}

/* struct widening.take */
static int follow_take_block(struct widening *w, struct queued_block *h, struct error *e)
{
	struct follow *f = (struct follow *)w;

	if (h && h->block.kind == BLOCK_EVENTS)
		return h->block.rows ? follow_take_events(f, h, e) : 0;
	if (h && h->block.kind == BLOCK_SNAPSHOT && h->block.snapshot &&
	    follow_take_snapshot(f, h, e))
		return -1;
	if (!h || (h->block.kind == BLOCK_HEAD && !h->head.sequence) ||
	    (h->block.kind == BLOCK_END && h->end.flags & END_LAST)) {
		follow_end_stream(f);
		results_begin(&w->results);
	}
	if (follow_check(f, e))
		return -1;
	return h ? block_queue_other(&w->queue, &h->block, &h->head, &h->end, e) : 0;
}

struct widening *follow_new(struct dictionary *d, size_t queue, uint64_t limit, bool callers)
{
	struct follow *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	f->dictionary = f->flows.dictionary = d;
	f->callers = callers;
	f->epoch = 1;
	f->key = (struct siphash_key){secret_factor(f), secret_factor(&f->links)};
	f->types.dictionary = d;
	f->widening.take = follow_take_block;
	block_queue_init(&f->widening.queue, queue);
	f->widening.queue.moved = follow_moved;
	f->widening.queue.ctx = f;
	results_init(&f->widening.results, limit, d);
	follow_begin_calls(f);
	/* number 0 is no task, and no pipe */
	follow_new_task(f);
	if (ARRAY_GROW(f->pipes, f->pipes_capacity, 0))
		follow_no_memory(f);
	else
		f->npipes = 1;
	return &f->widening;
}

/* Print what the trace lacks that would lead on. */
static void follow_remarks(const struct follow *f)
{
	static const char record[] =
		"trace-cmd record -e sched_waking -e sched_switch, or perf record -a -e "
		"sched:sched_waking -e sched:sched_switch, records wakeups";

	if (f->matched && !f->has_links && !f->has_wakeups)
		warn(NULL, NO_OFFSET,
		     "--follow keeps only the calls themselves: the trace has no flows, no wakeups "
		     "and no messages%s%s",
		     f->has_strace || f->has_system ? "; " : "",
		     f->has_strace   ? "strace -f -yy names the pipes and sockets of messages"
		     : f->has_system ? record
				     : "");
	else if (f->matched && f->has_wakeups && !f->has_switches)
		warn(NULL, NO_OFFSET,
		     "--follow: a woken thread is followed up to its next wakeup, as the trace has "
		     "no sched_switch; %s",
		     record);
	warn_count(NULL, f->lost,
		   "{span is|spans are} left out by --follow, though {its parent is|their parents "
		   "are} kept: {it|they} ended before the parent began, by another clock");
	warn_count(NULL, f->beyond,
		   "{flow, span or message is|flows, spans and messages are} not followed: more "
		   "than %d at one time",
		   LINKS_MOST);
}

void follow_finish(struct widening *w, bool quiet)
{
	struct follow *f = (struct follow *)w;

	if (!w)
		return;
	if (!quiet)
		follow_remarks(f);
	block_queue_free(&w->queue);
	results_free(&w->results);
	calls_free(&f->calls);
	flows_free(&f->flows);
	scheduling_types_free(&f->types);
	key_map_free(&f->links);
	key_map_free(&f->waiting_of);
	key_map_free(&f->early);
	free(f->waiting);
	key_map_free(&f->pipe_numbers);
	idmap_free(&f->by_tid);
	free(f->tasks);
	free(f->by_thread);
	free(f->pipes);
	free(f->roles);
	free(f->syscalls);
	free(f->states);
	free(f->owners);
	free(f->offsets);
	free(f);
}
