/*
 * uftrace.c - as uftrace replay prints
 */
#include "cmd/trencode/text/uftrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/trencode/text/columns.h"
#include "cmd/trencode/text/kernel.h"
#include "cmd/trencode/text/layout.h"
#include "common/formats/uftrace.h"
#include "common/stream/event.h"
#include "common/util/buffer.h"

/*
 * The time filter of a recording: calls shorter than a limit are not shown.
 *
 * The default.opts of a recording made with -t contains that option, and uftrace applies it again
 * when it prints. Its rules: a call shorter than the limit is dropped with the events inside it,
 * unless an event inside it was already shown; scheduling is filtered in the same way, apart from
 * functions. An event is queued here until it is decided, at the latest when the limit has passed
 * since the event.
 */

/* The queue of one recording. */
struct duration_threshold;

enum threshold_kind {
	THRESHOLD_ENTER, /* decided by its leave */
	THRESHOLD_LEAVE, /* decides the last undecided enter */
	THRESHOLD_EVENT, /* shown if the call around it is */
	THRESHOLD_SHOWN, /* shown, and all calls around it */
	THRESHOLD_ALONE, /* shown, decides no call */
};

/* An event on its way through the filter. */
struct threshold_row {
	struct event event;
	enum threshold_kind kind;
	bool scheduling; /* filtered with other scheduling, apart from functions */
};

/* --- the files of a uftrace recording that its text depends on --- */

/* A source of the format uftrace. */
struct recording {
	const struct source *source;
	struct replay replay;
	struct text_symbols *symbols;
	struct kernel_events *kernel;
	struct duration_threshold *threshold; /* NULL: without a time filter */
	struct buffer info, options;	      /* beginnings of these files */
	bool ready;			      /* recording_begin was called */
	bool recent;			      /* written by a uftrace whose symbols have sizes */
	bool odd_options;		      /* default.opts has options other than -t */
};

/* --- the state and functions that the files of the uftrace layout share --- */

/* The text of a location, for all its calls. */
struct location_text {
	const struct location_symbol *symbol; /* of the location when this was filled */
	const char *name;
	uint32_t size;
	uint8_t fixup; /* enum fixup */
	bool known;    /* filled */
	bool bare;     /* "()" is not added: the name has its parentheses */
};

enum pending_kind { PENDING_NONE, PENDING_CALL, PENDING_SCHED };

/* The state of the layout. */
struct text_uftrace {
	struct text *out;
	struct dictionary *dictionary;
	struct text_columns columns;
	int32_t depth;
	struct recording **recordings; /* by number of the source */
	size_t nrecordings;
	struct recording *recording; /* recording of the last event */
	struct replay_task **tasks;  /* by number of the thread */
	size_t ntasks;
	struct location_text *locations;
	size_t nlocations;

	/* the pending line: */
	enum pending_kind pending;
	struct replay_task *task;
	uint32_t location, row_depth;
	int indent, frame;
	bool preempted;
	struct buffer arguments, comment, result;

	uint64_t hidden; /* number of calls beyond the depth limit */
	bool header, warned_names, terminal, quiet;
};

static const struct location_text *text_uftrace_location_slow(struct text_uftrace *s,
							      uint32_t number);

static inline const struct location_text *text_uftrace_location(struct text_uftrace *s,
								uint32_t number)
{
	if (number < s->nlocations && s->locations[number].known) {
		const struct location *location = dictionary_location(s->dictionary, number);

		if (!location || location->symbol == s->locations[number].symbol)
			return &s->locations[number];
	}
	return text_uftrace_location_slow(s, number);
}

static inline void text_uftrace_indent(struct text_uftrace *s, int indent)
{
	if (indent > 0)
		text_pad(s->out, ' ', 2 * (size_t)indent);
}

static inline void text_uftrace_columns(struct text_uftrace *s, const struct replay_task *t,
					uint64_t duration, const struct replay_frame *frame)
{
	columns_print(s->out, &s->columns, s->dictionary, t, duration, frame);
}

static void replay_entered(struct replay_task *t, struct replay_frame *f);
static struct duration_threshold *duration_threshold_new(uint64_t limit);
static void duration_threshold_free(struct duration_threshold *t);
static bool duration_threshold_parse(const char *s, uint64_t *ns);
static struct recording *text_uftrace_recording(struct text_uftrace *s,
						const struct source *source);

static enum fixup fixup_of(const char *name)
{
	static const struct {
		const char *name;
		enum fixup fixup;
	} table[] = {{"execl", FIXUP_EXEC},	    {"execlp", FIXUP_EXEC},
		     {"execle", FIXUP_EXEC},	    {"execv", FIXUP_EXEC},
		     {"execve", FIXUP_EXEC},	    {"execvp", FIXUP_EXEC},
		     {"execvpe", FIXUP_EXEC},	    {"setjmp", FIXUP_SETJMP},
		     {"_setjmp", FIXUP_SETJMP},	    {"sigsetjmp", FIXUP_SETJMP},
		     {"__sigsetjmp", FIXUP_SETJMP}, {"longjmp", FIXUP_LONGJMP},
		     {"siglongjmp", FIXUP_LONGJMP}, {"__longjmp_chk", FIXUP_LONGJMP},
		     {"fork", FIXUP_FORK},	    {"vfork", FIXUP_FORK},
		     {"daemon", FIXUP_FORK},	    {"posix.fork", FIXUP_FORK}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].name, name))
			return table[i].fixup;
	return FIXUP_NONE;
}

static void replay_init(struct replay *r, int max_stack, int32_t depth)
{
	*r = (struct replay){.max_stack = max_stack, .depth = depth};
}

static void replay_free(struct replay *r)
{
	for (size_t i = 0; i < r->ntasks; i++) {
		for (size_t k = 0; k < r->tasks[i]->nchunks; k++)
			free(r->tasks[i]->chunks[k]);
		free(r->tasks[i]->chunks);
		free(r->tasks[i]);
	}
	free(r->tasks);
	idmap_free(&r->tids);
}

/* Returns NULL when out of memory. */
static struct replay_task *replay_task_new(struct replay *r, const struct lane *lane)
{
	struct replay_task *t = calloc(1, sizeof *t);

	if (!t || ARRAY_GROW(r->tasks, r->capacity, r->ntasks) ||
	    idmap_set(&r->tids, (uint32_t)lane->tid, (uint32_t)r->ntasks + 1)) {
		free(t);
		r->out_of_memory = true;
		return NULL;
	}
	r->tasks[r->ntasks++] = t;
	t->replay = r;
	t->lane = lane;
	t->allowance = r->depth;
	t->indent_known = true;
	if (lane->flags & LANE_HAS_TID)
		t->tid_size = (uint8_t)snprintf(t->tid, sizeof t->tid, "[%6d]", lane->tid);
	else
		t->tid_size = (uint8_t)snprintf(t->tid, sizeof t->tid, "%8s", "");
	return t;
}

struct replay_frame *replay_frame_slow(struct replay_task *t, int i)
{
	size_t chunk = (size_t)i / FRAME_CHUNK;

	if (i < 0 || i >= t->replay->max_stack)
		return NULL;
	if (chunk >= t->nchunks) {
		void *p = realloc(t->chunks, (chunk + 1) * sizeof *t->chunks);

		if (!p)
			goto no_memory;
		t->chunks = p;
		while (t->nchunks <= chunk)
			t->chunks[t->nchunks++] = NULL;
	}
	if (!t->chunks[chunk]) {
		struct replay_frame *frames = malloc(FRAME_CHUNK * sizeof *frames);

		if (!frames)
			goto no_memory;
		for (int k = 0; k < FRAME_CHUNK; k++)
			frames[k] = (struct replay_frame){.time = t->unseen_time,
							  .allowance = t->replay->depth,
							  .open = t->unseen_time};
		t->chunks[chunk] = frames;
	}
	return &t->chunks[chunk][i % FRAME_CHUNK];
no_memory:
	t->replay->out_of_memory = true;
	return NULL;
}

/* Set the time of the enter of n frames from first on. Frames that have no memory yet get none. */
static void replay_restart_frames(struct replay_task *t, int first, int n, uint64_t time, bool open)
{
	for (int i = first; i < first + n && i < t->replay->max_stack; i++) {
		struct replay_frame *f;

		if ((size_t)i / FRAME_CHUNK >= t->nchunks || !t->chunks[i / FRAME_CHUNK]) {
			t->unseen_time = time;
			i = (i / FRAME_CHUNK + 1) * FRAME_CHUNK - 1;
			continue;
		}
		f = replay_frame(t, i);
		f->time = time;
		f->open |= open;
	}
}

/* Begin the stack of a task again where reading begins inside a stream: only calls without an enter
 * are open, since a time. last: time of the task's last row. */
static void replay_restart(struct replay_task *t, int unseen, uint64_t since, uint64_t last)
{
	t->begun = t->indent_known = t->fork_taken = true;
	t->after_loss = t->in_kernel = false;
	t->count = unseen;
	t->calls = t->indent = t->exec_count = 0;
	t->allowance = t->replay->depth;
	t->time = last;
	replay_restart_frames(t, 0, unseen, since, true);
}

static bool row_enters(const struct replay_row *row)
{
	return row->kind == ROW_ENTER || row->kind == ROW_SCHED_OUT;
}

static bool row_leaves(const struct replay_row *row)
{
	return row->kind == ROW_LEAVE || row->kind == ROW_SCHED_IN;
}

/* Return the number of frames before the row. Scheduling is at depth 0, whatever is open. */
static int frames_before(const struct replay_row *row)
{
	return row->kind == ROW_ENTER || row->kind == ROW_LEAVE
		       ? (int)row->depth + (row->kind == ROW_LEAVE)
		       : row->kind == ROW_SCHED_IN;
}

static void replay_begin_task(struct replay_task *t, const struct replay_row *row)
{
	t->begun = true;
	t->count = frames_before(row) + (row->kernel ? t->calls : 0);
	if (!t->fork_taken && t->lane->ppid > 0) {
		uint32_t parent = idmap_get(&t->replay->tids, (uint32_t)t->lane->ppid);

		if (parent && t->replay->tasks[parent - 1]->fork_indent) {
			t->indent = t->replay->tasks[parent - 1]->fork_indent;
			t->indent_known = true;
		}
	}
	t->fork_taken = true;
	replay_restart_frames(t, 0, t->count, row->time, true);
	t->allowance = t->replay->depth;
}

static void replay_after_loss(struct replay_task *t, const struct replay_row *row)
{
	t->count = frames_before(row) + (row->kernel ? t->calls : 0);
	t->after_loss = false;
	/* known is only that these frames were open right before the row */
	replay_restart_frames(t, t->calls, frames_before(row) - (row_leaves(row) ? 1 : 0) + 1,
			      row->time - 1, false);
}

static void replay_account(struct replay_task *t, const struct replay_row *row)
{
	struct replay_frame *f;

	if (row->kind == ROW_EVENT)
		return;
	if (!t->begun)
		replay_begin_task(t, row);
	if (t->after_loss) {
		if (row->kind == ROW_LOSS)
			return;
		replay_after_loss(t, row);
	}
	/* for uftrace a call outside of the kernel ends all calls in it */
	if (t->in_kernel && !row->kernel && (row->kind == ROW_ENTER || row->kind == ROW_LEAVE)) {
		t->count = t->calls;
		t->allowance = t->replay->depth - t->count;
	}
	if (row_enters(row)) {
		f = replay_frame(t, t->count + t->exec_count);
		if (f) {
			f->location = row->location;
			f->time = row->time;
			f->open = true;
		}
	} else if (row_leaves(row)) {
		f = replay_frame(t, t->count + t->exec_count - 1);
		if (f) {
			f->time = f->open ? row->time - f->time : 0;
			f->open = false;
		}
	} else {
		t->after_loss = true;
		t->indent_known = false;
		t->exec_count = 0;
	}
}

/* Detect by the next row whether an exec has failed. */
static void replay_after_exec(struct replay_task *t, const struct replay_row *row)
{
	if (!t->exec_count || row->kernel || row->kind > ROW_LEAVE)
		return;
	if (row->kind == ROW_LEAVE || row->depth >= (uint32_t)t->exec_count) {
		t->count = t->calls = t->exec_count;
		t->indent = t->exec_indent;
	}
	t->exec_count = 0;
}

/* Update times and the number of frames by a row. */
static void replay_consume(struct replay_task *t, const struct replay_row *row)
{
	bool call = row->kind == ROW_ENTER || row->kind == ROW_LEAVE;
	struct replay *r = t->replay;

	if (row->kind != ROW_LOSS && ((call && !row->kernel) || t->count) &&
	    (!r->first || r->first > row->time))
		r->first = row->time;
	replay_account(t, row);
	if (row->kind != ROW_EVENT)
		t->in_kernel = row->kernel;
	call = call && !row->kernel;
	if (row_enters(row)) {
		t->count++;
		t->calls += call;
	} else if (row_leaves(row)) {
		t->count -= t->count > 0;
		t->calls -= call && t->calls > 0;
	}
}

/* Enter a function, after replay_consume. Returns whether it is shown. */
static bool replay_enter(struct replay_task *t, enum fixup fixup)
{
	struct replay_frame *f = replay_frame(t, t->count - 1);

	if (!f)
		return false;
	f->allowance = t->allowance;
	f->flags = 0;
	switch (fixup) {
	case FIXUP_EXEC: f->flags |= FRAME_EXEC; break;
	case FIXUP_LONGJMP: f->flags |= FRAME_LONGJMP; break;
	case FIXUP_SETJMP:
		t->replay->setjmp_indent = t->indent + 1;
		t->replay->setjmp_count = t->count;
		t->replay->setjmp_shown = t->allowance > 0;
		break;
	case FIXUP_FORK: t->fork_indent = t->indent + 1; break;
	case FIXUP_NONE: break;
	}
	if (t->allowance <= 0) {
		f->flags |= FRAME_HIDDEN;
		if (f->flags & FRAME_LONGJMP)
			replay_entered(t, f);
		return false;
	}
	t->allowance--;
	if (!t->indent_known) {
		t->indent = t->count - 1;
		t->indent_known = true;
	}
	return true;
}

/* Indent the lines that follow the line that opened the block of the frame. */
static void replay_entered(struct replay_task *t, struct replay_frame *f)
{
	struct replay_frame *setjmp;

	if (f->flags & FRAME_EXEC) {
		t->exec_count = t->count;
		t->exec_indent = t->indent + 1;
		t->indent = 0;
		t->count = t->calls = 0;
	} else if (f->flags & FRAME_LONGJMP) {
		t->count = t->calls = t->replay->setjmp_count;
		setjmp = replay_frame(t, t->count - 1);
		if (t->replay->setjmp_shown)
			t->indent = t->replay->setjmp_indent;
		else if (setjmp)
			setjmp->flags |= FRAME_HIDDEN;
	} else {
		t->indent++;
	}
	f->flags &= (uint8_t) ~(FRAME_EXEC | FRAME_LONGJMP);
}

/* Return the indent of the line that closes a block. */
static int replay_leaving(struct replay_task *t)
{
	if (!t->indent_known) {
		t->indent = t->count + 1;
		t->indent_known = true;
	}
	if (t->indent > 0)
		t->indent--;
	return t->indent;
}

/* Leave a function, after replay_consume and after its line was printed. */
static void replay_left(struct replay_task *t)
{
	struct replay_frame *f = replay_frame(t, t->count);

	if (!f)
		return;
	f->flags = 0;
	t->allowance = f->allowance;
}

/* --- recording --- */

enum {
	OPTIONS_MOST = 4096,
	STACK_MOST = 65536, /* depths of rows have 16 bits */
	DEPTH_SHOWN = 1024, /* the default of uftrace */
};

static void recording_free(struct recording *r)
{
	if (!r)
		return;
	replay_free(&r->replay);
	text_symbols_free(r->symbols);
	kernel_events_free(r->kernel);
	duration_threshold_free(r->threshold);
	buffer_free(&r->info);
	buffer_free(&r->options);
	free(r);
}

/* Returns NULL when out of memory. */
static struct recording *recording_new(const struct source *source)
{
	struct recording *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->source = source;
	r->symbols = text_symbols_new();
	r->kernel = kernel_events_new();
	if (!r->symbols || !r->kernel) {
		recording_free(r);
		return NULL;
	}
	return r;
}

/* Append to the beginning of a file, of most bytes. */
static int append_beginning(struct buffer *b, const struct meta *m, size_t most)
{
	size_t n = most - b->size < m->size ? most - b->size : m->size;

	return m->offset != b->size || !n ? 0 : buffer_append(b, m->data, n);
}

static bool text_uftrace_is_meta(const struct meta *m, const char *name)
{
	return m->name_size == strlen(name) && !memcmp(m->name, name, m->name_size);
}

/* Take a piece of a META block. Returns -1 when out of memory. */
static int recording_meta(struct recording *r, const struct meta *m)
{
	if (m->flags & META_REFERENCE)
		return 0;
	if (text_uftrace_is_meta(m, "info"))
		return append_beginning(&r->info, m, UFTRACE_HEADER_SIZE);
	if (text_uftrace_is_meta(m, "default.opts"))
		return append_beginning(&r->options, m, OPTIONS_MOST);
	return text_symbols_meta(r->symbols, m) || kernel_events_meta(r->kernel, m) ? -1 : 0;
}

/* Read the largest depth of a stack, and whether the recording is recent. */
static int read_max_stack(struct recording *r)
{
	const uint8_t *p = r->info.data;
	uint64_t features;
	bool big;
	unsigned size;

	if (r->info.size < UFTRACE_HEADER_SIZE || memcmp(p, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE))
		return STACK_MOST;
	big = p[UFTRACE_HDR_ENDIAN] == 2;
	features = get_uint(p + UFTRACE_HDR_FEAT_MASK, 8, big);
	r->recent = features & UFTRACE_FEAT_SYM_SIZE;
	if (!(features & UFTRACE_FEAT_MAX_STACK))
		return UFTRACE_MAX_STACK;
	size = (unsigned)get_uint(p + UFTRACE_HDR_MAX_STACK, 2, big);
	return size ? (int)size : UFTRACE_MAX_STACK;
}

/* Return the argument of -t in "-t 100us", "-t100us", "--time-filter=100us" or "--time-filter
 * 100us". */
static const char *time_option(const char *word, char **rest)
{
	static const char *const names[] = {"-t", "--time-filter="};

	if (!strcmp(word, "-t") || !strcmp(word, "--time-filter"))
		return strtok_r(NULL, " \t\r\n", rest);
	for (size_t i = 0; i < 2; i++)
		if (!strncmp(word, names[i], strlen(names[i])))
			return word + strlen(names[i]);
	return NULL;
}

static int read_options(struct recording *r)
{
	uint64_t limit = 0;
	char *rest, *word;

	if (buffer_append(&r->options, "", 1))
		return -1;
	word = strtok_r((char *)r->options.data, " \t\r\n", &rest);
	for (; word; word = strtok_r(NULL, " \t\r\n", &rest)) {
		const char *arg = time_option(word, &rest);

		if (!arg || !duration_threshold_parse(arg, &limit))
			r->odd_options = true;
	}
	if (limit) {
		r->threshold = duration_threshold_new(limit);
		if (!r->threshold)
			return -1;
	}
	return 0;
}

/* Evaluate the files, before the first event. depth: levels shown, 0: the default of uftrace.
 * Returns -1 when out of memory. */
static int recording_begin(struct recording *r, int32_t depth)
{
	r->ready = true;
	replay_init(&r->replay, read_max_stack(r), depth ? depth : DEPTH_SHOWN);
	return read_options(r);
}

/* --- duration threshold --- */

enum { MOST_QUEUED = 8 * 1024 * 1024 }; /* bytes */

enum state { UNDECIDED, SHOWN, DROPPED };

/* An event in the queue or in the list of undecided events. */
struct report_node {
	struct report_node *next;  /* in the order of the trace */
	struct report_node *below; /* in its thread's list of undecided events */
	struct event event;
	size_t size;
	uint8_t kind, state;
	bool queued, listed;
	uint8_t data[];
};

struct duration_threshold {
	uint64_t limit, now;		  /* ns; now: time of the event queued last */
	uint64_t undecided;		  /* calls shown undecided */
	struct report_node *first, *last; /* the queue */
	struct report_node *current;	  /* the event taken last */
	/* undecided events, two lists for each thread: of functions, of scheduling */
	struct report_node **lists;
	size_t nlists;
	size_t size; /* of the queue, bytes */
};

/* limit: ns. Returns NULL when out of memory. */
static struct duration_threshold *duration_threshold_new(uint64_t limit)
{
	struct duration_threshold *t = calloc(1, sizeof *t);

	if (t)
		t->limit = limit;
	return t;
}

/* Free a node that is in no list and not in use by the caller. */
static void node_release(struct duration_threshold *t, struct report_node *n)
{
	if (!n->queued && !n->listed && n != t->current)
		free(n);
}

static void node_unlist(struct duration_threshold *t, struct report_node **list, enum state state)
{
	struct report_node *n = *list;

	*list = n->below;
	n->listed = false;
	if (n->state == UNDECIDED)
		n->state = (uint8_t)state;
	node_release(t, n);
}

static void duration_threshold_free(struct duration_threshold *t)
{
	struct report_node *n;

	if (!t)
		return;
	for (size_t i = 0; i < t->nlists; i++)
		while (t->lists[i])
			node_unlist(t, &t->lists[i], SHOWN);
	while ((n = t->first)) {
		t->first = n->next;
		if (n != t->current)
			free(n);
	}
	free(t->current);
	free(t->lists);
	free(t);
}

static struct report_node **list_of(struct duration_threshold *t, const struct threshold_row *row)
{
	size_t i = (size_t)row->event.lane->thread * 2 + row->scheduling;

	if (ARRAY_REACH(t->lists, t->nlists, i))
		return NULL;
	return &t->lists[i];
}

static struct report_node *node_new(const struct threshold_row *row)
{
	size_t fixed = row->event.type->fixed_size, tail = row->event.tail_size;
	struct report_node *n = malloc(sizeof *n + fixed + tail);

	if (!n)
		return NULL;
	*n = (struct report_node){.event = row->event,
				  .size = sizeof *n + fixed + tail,
				  .kind = (uint8_t)row->kind,
				  .queued = true};
	if (fixed)
		memcpy(n->data, row->event.fixed, fixed);
	n->event.fixed = n->data;
	if (row->event.tail) {
		memcpy(n->data + fixed, row->event.tail, tail);
		n->event.tail = n->data + fixed;
	}
	return n;
}

/* Decide by a leave the last undecided enter. */
static void decide_call(struct duration_threshold *t, struct report_node **list,
			struct report_node *leave)
{
	const struct report_node *enter = *list;

	while (enter && enter->kind != THRESHOLD_ENTER)
		enter = enter->below;
	if (enter && leave->event.time - enter->event.time < t->limit) {
		bool more = true;

		leave->state = DROPPED;
		while (more) {
			more = *list != enter;
			node_unlist(t, list, DROPPED);
		}
		return;
	}
	leave->state = SHOWN;
	while (*list)
		node_unlist(t, list, SHOWN);
}

/* Queue a copy of the row and its data. Returns -1 when out of memory. */
static int duration_threshold_put(struct duration_threshold *t, const struct threshold_row *row)
{
	struct report_node **list = list_of(t, row);
	struct report_node *n = list ? node_new(row) : NULL;

	if (!n)
		return -1;
	t->now = row->event.time;
	t->size += n->size;
	if (t->last)
		t->last->next = n;
	else
		t->first = n;
	t->last = n;
	switch (row->kind) {
	case THRESHOLD_ENTER:
	case THRESHOLD_EVENT:
		/* events already shown need no decision */
		while (*list && (*list)->kind == THRESHOLD_EVENT && !(*list)->queued)
			node_unlist(t, list, SHOWN);
		n->below = *list;
		n->listed = true;
		*list = n;
		break;
	case THRESHOLD_LEAVE: decide_call(t, list, n); break;
	case THRESHOLD_SHOWN:
		while (*list)
			node_unlist(t, list, SHOWN);
		n->state = SHOWN;
		break;
	case THRESHOLD_ALONE: n->state = SHOWN; break;
	}
	return 0;
}

/* Test whether the first event of the queue is decided, or need not be decided any more. */
static bool is_decided(struct duration_threshold *t, struct report_node *n)
{
	if (n->state == UNDECIDED) {
		if (n->kind == THRESHOLD_ENTER && t->now - n->event.time < t->limit) {
			if (t->size <= MOST_QUEUED)
				return false;
			t->undecided++;
		}
		n->state = SHOWN;
	}
	return true;
}

/* Take the next event that is shown, in order; returns false if the first event queued is not
 * decided. The event is valid until the next call of duration_threshold_put or
 * duration_threshold_get. */
static bool duration_threshold_get(struct duration_threshold *t, struct event *ev)
{
	struct report_node *n = t->current;

	t->current = NULL;
	if (n)
		node_release(t, n);
	while ((n = t->first) && is_decided(t, n)) {
		t->first = n->next;
		if (!t->first)
			t->last = NULL;
		t->size -= n->size;
		n->queued = false;
		if (n->state == SHOWN) {
			t->current = n;
			*ev = n->event;
			return true;
		}
		node_release(t, n);
	}
	return false;
}

/* Decide the queue, where the trace ends or does not follow what was queued: all events are shown.
 */
static void duration_threshold_flush(struct duration_threshold *t)
{
	for (size_t i = 0; t->first && i < t->nlists; i++)
		while (t->lists[i])
			node_unlist(t, &t->lists[i], SHOWN);
}

/* Return the number of calls that were shown undecided because the queue was full. */
static uint64_t duration_threshold_undecided(const struct duration_threshold *t)
{
	return t->undecided;
}

/* Parse a time of -t as uftrace does: "100us", "1.5ms". Returns false if it is not a time. */
static bool duration_threshold_parse(const char *s, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"", 1},
		     {"ns", 1},
		     {"nsec", 1},
		     {"us", 1000},
		     {"usec", 1000},
		     {"ms", 1000000},
		     {"msec", 1000000},
		     {"s", 1000000000},
		     {"sec", 1000000000},
		     {"m", 60000000000},
		     {"min", 60000000000}};
	uint64_t whole = 0, part = 0, scale = 1;
	const char *p = s;

	for (; *p >= '0' && *p <= '9' && whole < 1000000; p++)
		whole = whole * 10 + (uint64_t)(*p - '0');
	if (p == s)
		return false;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9' && scale < 1000000000; p++, scale *= 10)
			part = part * 10 + (uint64_t)(*p - '0');
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcasecmp(p, units[i].name))
			continue;
		*ns = whole * units[i].ns +
		      (uint64_t)((double)part / (double)scale * (double)units[i].ns + 0.5);
		return true;
	}
	return false;
}

/* --- the lines of uftrace recordings --- */

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

/* Return the text of a location; NULL when out of memory. */
static const struct location_text *text_uftrace_location_slow(struct text_uftrace *s,
							      uint32_t number)
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

static inline void text_uftrace_put_name(struct text_uftrace *s, const struct location_text *p)
{
	if (s->terminal)
		text_masked(s->out, p->name, p->size);
	else
		text_put(s->out, p->name, p->size);
}

static void text_uftrace_put_buffer(struct text_uftrace *s, const struct buffer *b)
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
	text_uftrace_put_name(s, p);
	if (s->arguments.size)
		text_uftrace_put_buffer(s, &s->arguments);
	else if (!p->bare)
		text_put(s->out, "()", 2);
}

static void print_comment(struct text_uftrace *s, const char *end, size_t n)
{
	text_uftrace_put_buffer(s, &s->comment);
	text_put(s->out, end, n);
}

/* Print the pending call and its leave, which follows at once, in one line. */
static void text_uftrace_leaf(struct text_uftrace *s, const struct replay_frame *f)
{
	static const struct line_pieces bare = {"       ", 0, ";\n      ", 2},
					call = {"       ", 0, "();\n    ", 4};
	const struct location_text *p = &s->locations[s->location];

	if (!s->arguments.size && !s->result.size && !s->comment.size &&
	    quick_line(s, s->task, f->time, s->indent, p, p->bare ? bare : call))
		return;
	text_uftrace_columns(s, s->task, f->time, f);
	print_call(s, p);
	text_uftrace_put_buffer(s, &s->result);
	text_char(s->out, ';');
	print_comment(s, "\n", 1);
}

/* Print the pending enter, after which other rows come before the leave. */
static void text_uftrace_open(struct text_uftrace *s)
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

static void text_uftrace_sched(struct text_uftrace *s, const struct replay_task *t, int indent,
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

static void text_uftrace_leave(struct text_uftrace *s, const struct replay_task *t,
			       const struct replay_frame *f, int indent,
			       const struct location_text *p, bool values)
{
	static const struct line_pieces end = {"} /*   ", 5, " */\n   ", 4};

	if (!values && quick_line(s, t, f->time, indent, p, end))
		return;
	text_uftrace_columns(s, t, f->time, f);
	text_uftrace_indent(s, indent);
	text_char(s->out, '}');
	text_uftrace_put_buffer(s, &s->result);
	text_put(s->out, ";", values ? 1 : 0);
	text_put(s->out, " /* ", 4);
	text_uftrace_put_name(s, p);
	text_put(s->out, " */\n", 4);
}

static void text_uftrace_gap(struct text_uftrace *s, struct replay_task *t, const struct event *ev)
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

/* Print that the time steps back. */
static void text_uftrace_inverted(struct text_uftrace *s, const struct replay_task *t)
{
	columns_blank(s->out, &s->columns);
	text_char(s->out, ' ');
	text_uftrace_indent(s, t->indent + 1);
	text_puts(s->out, "/* inverted time: broken data? */\n");
}

/* --- the calls that were open when the recording ended --- */

/* Count the frames at the bottom whose enter is missing. */
static int count_unseen(struct text_uftrace *s, struct replay_task *t)
{
	int n = 0;

	while (n < t->count) {
		const struct replay_frame *f = replay_frame(t, n);
		const struct location *p =
			f ? dictionary_location(s->dictionary, f->location) : NULL;

		if (p && (p->address || p->name.size))
			break;
		n++;
	}
	return n;
}

/* Test whether the only open frame is scheduling. */
static bool only_scheduled(struct text_uftrace *s, struct replay_task *t)
{
	const struct replay_frame *f = t->count == 1 ? replay_frame(t, 0) : NULL;
	const struct location *p = f ? dictionary_location(s->dictionary, f->location) : NULL;

	return p && !p->space;
}

static void print_stack(struct text_uftrace *s, struct replay_task *t)
{
	int bottom = count_unseen(s, t);

	if (bottom == t->count || only_scheduled(s, t))
		return;
	text_printf(s->out, "task: %" PRId32 "\n", t->lane->tid);
	for (int i = t->count; i-- > bottom;) {
		const struct replay_frame *f = replay_frame(t, i);
		struct text_ref name;

		if (!f)
			continue;
		name = dictionary_location_name(s->dictionary, f->location);
		text_printf(s->out, "[%d] ", i - bottom);
		text_masked(s->out, name.text, name.size);
		text_char(s->out, '\n');
	}
	text_char(s->out, '\n');
}

static int text_uftrace_by_tid(const void *a, const void *b)
{
	const struct replay_task *const *x = a, *const *y = b;

	return ((*x)->lane->tid > (*y)->lane->tid) - ((*x)->lane->tid < (*y)->lane->tid);
}

/* Print the calls that were open when the recording ended. */
static void text_uftrace_remaining(struct text_uftrace *s, struct recording *r)
{
	struct replay *p = &r->replay;
	bool any = false;

	if (p->ntasks)
		qsort(p->tasks, p->ntasks, sizeof *p->tasks, text_uftrace_by_tid);
	for (size_t i = 0; i < p->ntasks && !any; i++)
		any = !only_scheduled(s, p->tasks[i]) &&
		      count_unseen(s, p->tasks[i]) < p->tasks[i]->count;
	if (!any)
		return;
	text_puts(s->out, "\nuftrace stopped tracing with remaining functions"
			  "\n================================================\n");
	for (size_t i = 0; i < p->ntasks; i++)
		print_stack(s, p->tasks[i]);
}

/*
 * The rows of uftrace recordings, as `uftrace replay` prints them.
 *
 * A call without calls inside is one line, so the line of an enter is pending until the next row
 * of any task; the line of scheduling out likewise. Other rows are printed at once.
 */

static struct replay_task *text_uftrace_task_of(struct text_uftrace *s, const struct lane *lane)
{
	uint32_t number = lane->thread;
	struct recording *r;

	if (__builtin_expect(number < s->ntasks && s->tasks[number], 1))
		return s->tasks[number];
	if (number >= s->ntasks) {
		if (ARRAY_REACH(s->tasks, s->ntasks, number))
			return NULL;
	}
	if (!s->tasks[number]) {
		r = text_uftrace_recording(s, lane->source);
		s->tasks[number] = r ? replay_task_new(&r->replay, lane) : NULL;
	}
	return s->tasks[number];
}

/* Return the frame that events belong to, in uftrace the frame above the top; NULL: events are not
 * shown. */
static const struct replay_frame *event_frame(struct replay_task *t)
{
	const struct replay_frame *f = replay_frame(t, t->count);

	return f && !(f->flags & FRAME_HIDDEN) ? f : NULL;
}

/* --- the pending line --- */

static void print_sched_pending(struct text_uftrace *s, bool both)
{
	const struct replay_frame *f = event_frame(s->task);

	if (f)
		text_uftrace_sched(s, s->task, s->indent, both ? "schedule" : "sched-out",
				   s->preempted, both && f->time ? f : NULL);
}

/* Print the pending line as one that no row completes. */
static void text_uftrace_settle(struct text_uftrace *s)
{
	if (s->pending == PENDING_CALL)
		text_uftrace_open(s);
	else if (s->pending == PENDING_SCHED)
		print_sched_pending(s, false);
	s->pending = PENDING_NONE;
}

/* Test whether a row in the kernel is outside of all calls, also of those that a filter left out.
 */
static bool is_outside(const struct text_uftrace *s, const struct replay_task *t,
		       const struct replay_row *row)
{
	uint32_t thread = t->lane->thread;

	return !dictionary_left_out(s->dictionary, thread) ||
	       dictionary_outside(s->dictionary, thread, row->time);
}

/* Consume a row that is not shown, so that the pending line stays pending. Returns false for a row
 * that is shown. */
static bool consume_hidden(struct text_uftrace *s, struct replay_task *t,
			   const struct replay_row *row)
{
	const struct replay_frame *f;
	const struct location_text *p;

	/* in the kernel, outside any call */
	if (row->kernel && t->calls == 0 && is_outside(s, t, row)) {
		replay_consume(t, row);
		return true;
	}
	switch (row->kind) {
	case ROW_LOSS: return false;
	case ROW_LEAVE:
		f = replay_frame(t, t->count - 1);
		if (!t->count || (f && !(f->flags & FRAME_HIDDEN)))
			return false;
		replay_consume(t, row);
		replay_left(t);
		return true;
	case ROW_ENTER:
		if (t->allowance > 0)
			return false;
		replay_consume(t, row);
		p = text_uftrace_location(s, row->location);
		/* the pending call is never left */
		if (p && p->fixup == FIXUP_LONGJMP && s->pending && s->task == t)
			text_uftrace_settle(s);
		replay_enter(t, p ? (enum fixup)p->fixup : FIXUP_NONE);
		s->hidden++;
		return true;
	default:
		if (t->calls && t->allowance > 0)
			return false;
		replay_consume(t, row);
		return true;
	}
}

static inline int take_result(struct text_uftrace *s, const struct recording *r,
			      const struct event *ev)
{
	const struct location *location;
	struct value_names names;

	buffer_clear(&s->result);
	s->result.spills = true;
	if (!(ev->type->flags & TYPE_VALUES))
		return 0;
	location = dictionary_location(s->dictionary, ev->location);
	names = (struct value_names){&s->result, s->dictionary, r->symbols,
				     location ? location->space : NULL, ev->time};
	return details_append_return(&s->result, ev->tail, ev->tail_size, value_text, &names);
}

/* Test whether the row, of the pending line's task, always ends the wait. */
static bool ends_wait(const struct text_uftrace *s, const struct replay_row *row,
		      const struct event *ev)
{
	if (s->pending == PENDING_SCHED)
		return row->kind == ROW_SCHED_IN || row->kind == ROW_SCHED_OUT;
	if (row->kind == ROW_EVENT) /* from the task's own file, not from the scheduler */
		return ev->type->native < UFTRACE_EV_SCHED_IN;
	/* depths in records have 10 bits: for uftrace greater depths start at 0 again */
	return row->kind <= ROW_LEAVE &&
	       row->depth % UFTRACE_MAX_STACK <= s->row_depth % UFTRACE_MAX_STACK;
}

/* Print the pending line, completed by the row where this is possible. Returns 1 if the row needs
 * no more work, -1 when out of memory. */
static int settle_with(struct text_uftrace *s, const struct recording *r, struct replay_task *t,
		       const struct replay_row *row, const struct event *ev)
{
	const struct replay_frame *f;

	if (!(t == s->task && ends_wait(s, row, ev)) && consume_hidden(s, t, row))
		return 1;
	if (t == s->task && s->pending == PENDING_CALL && row->kind == ROW_LEAVE &&
	    row->depth == s->row_depth) {
		replay_consume(t, row);
		f = replay_frame(t, s->frame);
		if (take_result(s, r, ev))
			return -1;
		if (f)
			text_uftrace_leaf(s, f);
		replay_left(t);
		s->pending = PENDING_NONE;
		return 1;
	}
	if (t == s->task && s->pending == PENDING_SCHED && row->kind == ROW_SCHED_IN) {
		replay_consume(t, row);
		print_sched_pending(s, true);
		s->pending = PENDING_NONE;
		return 1;
	}
	text_uftrace_settle(s);
	return 0;
}

/* --- rows --- */

/* Make the line of an enter or of scheduling out pending, unless no row can complete the line. */
static void wait_for_next(struct text_uftrace *s, enum pending_kind kind, struct replay_task *t,
			  const struct replay_row *row, int indent)
{
	const struct replay_frame *f = replay_frame(t, t->count - 1);

	s->pending = kind;
	s->task = t;
	s->location = row->location;
	s->row_depth = row->depth;
	s->indent = indent;
	s->frame = t->count - 1;
	if (!f || f->flags & (FRAME_EXEC | FRAME_LONGJMP))
		text_uftrace_settle(s);
}

/* Make the comment "from loop+0x20" by the address of the call, which an event before it has. */
static int take_callsite(struct text_uftrace *s, const struct recording *r, struct replay_task *t,
			 const struct location *location)
{
	uint64_t offset;
	const char *name;

	s->comment.size = 0;
	if (!t->callsite)
		return 0;
	name = text_symbols_find(r->symbols, location ? location->space : NULL, t->time,
				 t->callsite, false, &offset);
	t->callsite = 0;
	if (!name)
		return 0;
	return buffer_printf(&s->comment, " /* from %s+%#" PRIx64 " */", name, offset);
}

static int print_enter(struct text_uftrace *s, const struct recording *r, struct replay_task *t,
		       const struct replay_row *row, const struct event *ev)
{
	const struct location_text *p = text_uftrace_location(s, row->location);
	const struct location *location = dictionary_location(s->dictionary, row->location);
	struct value_names names = {&s->arguments, s->dictionary, r->symbols, NULL, row->time};

	if (!p)
		return -1;
	if (location && location->space)
		t->space = names.space = location->space;
	if (take_callsite(s, r, t, location))
		return -1;
	if (!replay_enter(t, (enum fixup)p->fixup)) {
		s->hidden++;
		return 0;
	}
	buffer_clear(&s->arguments);
	s->arguments.spills = true;
	if (ev->type->flags & TYPE_VALUES &&
	    details_append_arguments(&s->arguments, ev->tail, ev->tail_size, value_text, &names))
		return -1;
	wait_for_next(s, PENDING_CALL, t, row, t->indent);
	return 0;
}

static int print_leave(struct text_uftrace *s, const struct recording *r, struct replay_task *t,
		       const struct replay_row *row, const struct event *ev)
{
	const struct replay_frame *f = replay_frame(t, t->count);
	struct replay_frame unmatched;

	/* the enter of the call that was left is missing */
	if (f && f->open) {
		unmatched = *f;
		unmatched.time = 0;
		f = &unmatched;
	}
	if (f && !(f->flags & FRAME_HIDDEN)) {
		const struct location_text *p = text_uftrace_location(s, row->location);
		int indent = replay_leaving(t);

		if (!p || take_result(s, r, ev))
			return -1;
		text_uftrace_leave(s, t, f, indent, p, s->result.size);
	}
	replay_left(t);
	return 0;
}

static bool is_preempted(const struct text_uftrace *s, const struct event *ev)
{
	const struct location *location = dictionary_location(s->dictionary, ev->location);

	return location && !location->space && location->address == UFTRACE_EV_SCHED_BOTH_PREEMPT;
}

static void print_sched_row(struct text_uftrace *s, struct replay_task *t,
			    const struct replay_row *row, const struct event *ev)
{
	const struct replay_frame *f;

	if (t->allowance <= 0)
		return;
	if (row->kind == ROW_SCHED_OUT) {
		s->preempted = is_preempted(s, ev);
		wait_for_next(s, PENDING_SCHED, t, row, t->indent);
		return;
	}
	f = event_frame(t);
	if (f)
		text_uftrace_sched(s, t, t->indent, "sched-in", false, f->time ? f : NULL);
}

static int print_instant(struct text_uftrace *s, const struct recording *r, struct replay_task *t,
			 const struct event *ev)
{
	struct value_names names = {NULL, s->dictionary, r->symbols, t->space, ev->time};

	if (ev->type->native == UFTRACE_EV_CALLSITE) {
		t->callsite = 0;
		field_number(ev, "address", &t->callsite);
		return 0;
	}
	if (t->allowance <= 0 || !event_frame(t))
		return 0;
	text_uftrace_columns(s, t, 0, NULL);
	/* events from outside of the process have no depth */
	text_uftrace_indent(s, ev->type->native == UFTRACE_EV_EXTERN ? 0 : t->indent);
	text_put(s->out, "/* ", 3);
	event_text(s->out, &names, ev);
	if (is_kernel_event(ev) && kernel_event_text(r->kernel, s->out, ev))
		return -1;
	text_put(s->out, " */\n", 4);
	return 0;
}

static enum row_kind replay_row_kind(const struct type *type, const struct event *ev)
{
	struct gap_row g;

	switch (type->kind) {
	case KIND_ENTER: return type->flags & TYPE_INNER ? ROW_SCHED_OUT : ROW_ENTER;
	case KIND_LEAVE: return type->flags & TYPE_INNER ? ROW_SCHED_IN : ROW_LEAVE;
	case KIND_GAP:
		/* events left out on purpose do not cut the stack */
		return gap_get(ev, &g) && g.reason != GAP_UNREAD ? ROW_LOSS : ROW_EVENT;
	}
	return ROW_EVENT;
}

/* Open a call, without a line. */
static int restore_call(struct text_uftrace *s, struct replay_task *t, const struct frame *f)
{
	struct replay_row row = {f->inner ? ROW_SCHED_OUT : ROW_ENTER, f->start, f->location,
				 f->depth, f->type->flags & TYPE_KERNEL};
	const struct location *location = dictionary_location(s->dictionary, f->location);
	const struct location_text *p = text_uftrace_location(s, f->location);

	if (!p)
		return -1;
	if (location && location->space)
		t->space = location->space;
	replay_after_exec(t, &row);
	replay_consume(t, &row);
	if (row.kind == ROW_ENTER && t->calls && replay_enter(t, (enum fixup)p->fixup))
		replay_entered(t, replay_frame(t, t->count - 1));
	return 0;
}

/* Open the calls of a stack, without lines. first: time of the stream's first event, UINT64_MAX
 * unknown. -1: out of memory. */
static int text_uftrace_restored(struct text_uftrace *s, const struct stack *stack, uint64_t first)
{
	const struct stack *own_and_kernel[] = {stack, stack->kernel};
	struct replay_task *t = text_uftrace_task_of(s, stack->lane);
	size_t charged = stack->count && !stack->frames[0].begun;

	if (!t)
		return -1;
	text_uftrace_settle(s);
	replay_restart(t, (int)(stack->unseen + charged), stack->unseen_since, stack->last);
	if (!t->replay->first && first != UINT64_MAX)
		t->replay->first = first;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; own_and_kernel[k] && i < own_and_kernel[k]->count; i++) {
			const struct frame *f = &own_and_kernel[k]->frames[i];

			if (f->begun && restore_call(s, t, f))
				return -1;
		}
	return t->replay->out_of_memory ? -1 : 0;
}

/* Print an event, or keep it pending until the next row. */
static int text_uftrace_row(struct text_uftrace *s, const struct recording *r,
			    const struct event *ev, struct error *e)
{
	struct replay_row row = {replay_row_kind(ev->type, ev), ev->time, ev->location, ev->depth,
				 ev->type->flags & TYPE_KERNEL};
	struct replay_task *t = text_uftrace_task_of(s, ev->lane);
	int used;

	if (!t)
		return error_no_memory(e);
	t->lane = ev->lane;
	replay_after_exec(t, &row);
	if (ev->type->kind == KIND_GAP) {
		text_uftrace_settle(s);
		replay_consume(t, &row);
		text_uftrace_gap(s, t, ev);
		return 0;
	}
	if (s->pending) {
		used = settle_with(s, r, t, &row, ev);
		if (used)
			return used < 0 ? error_no_memory(e) : 0;
	}
	replay_consume(t, &row);
	if (!t->calls && (row.kind > ROW_LEAVE || (row.kernel && is_outside(s, t, &row))))
		return 0;
	if (t->replay->last > row.time)
		text_uftrace_inverted(s, t);
	t->replay->last = row.time;
	t->last_time = t->time;
	t->time = row.time;
	used = 0;
	switch (row.kind) {
	case ROW_ENTER: used = print_enter(s, r, t, &row, ev); break;
	case ROW_LEAVE: used = print_leave(s, r, t, &row, ev); break;
	case ROW_SCHED_OUT:
	case ROW_SCHED_IN: print_sched_row(s, t, &row, ev); break;
	case ROW_EVENT:
	case ROW_LOSS: used = print_instant(s, r, t, ev);
	}
	return used || r->replay.out_of_memory ? error_no_memory(e) : 0;
}

/*
 * Text of uftrace recordings, as `uftrace replay` prints it: the functions of the layout.
 */

static int text_uftrace_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_uftrace *s = state;

	s->out = en->text;
	s->dictionary = en->dictionary;
	s->depth = en->options->depth;
	s->quiet = en->options->quiet;
	s->terminal = output_is_terminal(s->out->out);
	if (text_columns_parse(&s->columns, en->options->columns, e))
		return -1;
	return 0;
}

static void uftrace_free_state(void *state)
{
	struct text_uftrace *s = state;

	for (size_t i = 0; i < s->nrecordings; i++)
		recording_free(s->recordings[i]);
	free(s->recordings);
	free(s->tasks);
	free(s->locations);
	buffer_free(&s->arguments);
	buffer_free(&s->comment);
	buffer_free(&s->result);
}

/* Return the recording of a source; NULL when out of memory. */
static struct recording *text_uftrace_recording(struct text_uftrace *s, const struct source *source)
{
	if (source->number >= s->nrecordings) {
		if (ARRAY_REACH(s->recordings, s->nrecordings, source->number))
			return NULL;
	}
	if (!s->recordings[source->number])
		s->recordings[source->number] = recording_new(source);
	return s->recordings[source->number];
}

/* --- the layout --- */

static int text_uftrace_meta(void *state, const struct source *source, const struct meta *m,
			     struct error *e)
{
	struct recording *r = text_uftrace_recording(state, source);

	return r && !recording_meta(r, m) ? 0 : error_no_memory(e);
}

static enum threshold_kind threshold_kind(const struct event *ev)
{
	uint32_t id = ev->type->native;

	switch (ev->type->kind) {
	case KIND_ENTER: return THRESHOLD_ENTER;
	case KIND_LEAVE: return THRESHOLD_LEAVE;
	case KIND_GAP: return THRESHOLD_SHOWN;
	}
	if (id == UFTRACE_EV_EXTERN)
		return THRESHOLD_ALONE;
	return id >= UFTRACE_EV_USER_FIRST ? THRESHOLD_SHOWN : THRESHOLD_EVENT;
}

static bool is_scheduling(const struct event *ev)
{
	uint32_t id = ev->type->native;

	return ev->type->flags & TYPE_INNER ||
	       (ev->type->kind == KIND_INSTANT && id >= UFTRACE_EV_SCHED_IN &&
		id < UFTRACE_EV_USER_FIRST);
}

static int print_decided(struct text_uftrace *s, struct recording *r, struct error *e)
{
	struct event ev;

	while (duration_threshold_get(r->threshold, &ev))
		if (text_uftrace_row(s, r, &ev, e))
			return -1;
	return 0;
}

static int uftrace_begin_recording(struct text_uftrace *s, struct recording *r, struct error *e)
{
	if (recording_begin(r, s->depth))
		return error_no_memory(e);
	if (r->odd_options && !s->quiet)
		remark(r->source->name.text,
		       "of its default.opts only the time filter (-t) is applied");
	if (!s->header)
		columns_header(s->out, &s->columns);
	s->header = true;
	return 0;
}

/* Return the recording of a source, which is begun. */
static struct recording *begun_recording(struct text_uftrace *s, const struct source *source,
					 struct error *e)
{
	struct recording *r = s->recording;

	if (__builtin_expect(r && r->source == source, 1))
		return r;
	r = text_uftrace_recording(s, source);
	if (!r)
		error_no_memory(e);
	else if (!r->ready && uftrace_begin_recording(s, r, e))
		return NULL;
	return s->recording = r;
}

static int text_uftrace_flush(struct text_uftrace *s, struct recording *r, struct error *e)
{
	if (!r || !r->threshold)
		return 0;
	duration_threshold_flush(r->threshold);
	return print_decided(s, r, e);
}

static int uftrace_restored(void *state, const struct stack *stack, uint64_t first, struct error *e)
{
	struct text_uftrace *s = state;
	struct recording *r = begun_recording(s, stack->lane->source, e);

	/* the stacks of what is queued are those before */
	if (!r || text_uftrace_flush(s, r, e))
		return -1;
	return text_uftrace_restored(s, stack, first) ? error_no_memory(e) : 0;
}

static int text_uftrace_event(void *state, const struct event *ev, struct error *e)
{
	struct text_uftrace *s = state;
	struct recording *r = begun_recording(s, ev->lane->source, e);
	struct threshold_row row;

	if (!r)
		return -1;
	if (__builtin_expect(!r->threshold, 1))
		return text_uftrace_row(s, r, ev, e);
	/* with a time filter uftrace counts times from the first row, shown or not */
	if (!r->replay.first && ev->type->kind != KIND_GAP)
		r->replay.first = ev->time;
	row = (struct threshold_row){*ev, threshold_kind(ev), is_scheduling(ev)};
	if (duration_threshold_put(r->threshold, &row))
		return error_no_memory(e);
	return print_decided(s, r, e);
}

/* Report on stderr the calls that are missing, or shown without need. */
static void uftrace_print_counts(struct text_uftrace *s)
{
	uint64_t undecided = 0;

	for (size_t i = 0; i < s->nrecordings && !s->quiet; i++)
		if (s->recordings[i] && s->recordings[i]->threshold)
			undecided += duration_threshold_undecided(s->recordings[i]->threshold);
	if (!s->quiet)
		remark_count(s->hidden, "{call is|calls are} nested too deep to be shown (see -D)");
	remark_count(undecided,
		     "{call is|calls are} shown that may be shorter than the time filter");
}

static int text_uftrace_end(void *state, struct error *e)
{
	struct text_uftrace *s = state;

	for (size_t i = 0; i < s->nrecordings; i++)
		if (text_uftrace_flush(s, s->recordings[i], e))
			return -1;
	text_uftrace_settle(s);
	for (size_t i = 0; i < s->nrecordings; i++)
		if (s->recordings[i])
			text_uftrace_remaining(s, s->recordings[i]);
	uftrace_print_counts(s);
	return 0;
}

const struct text_layout text_uftrace = {
	.format = "uftrace",
	.state_size = sizeof(struct text_uftrace),
	.begin = text_uftrace_begin,
	.meta = text_uftrace_meta,
	.restored = uftrace_restored,
	.event = text_uftrace_event,
	.end = text_uftrace_end,
	.free = uftrace_free_state,
};
