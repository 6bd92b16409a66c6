/*
 * lttng.c - reads traces of LTTng 0.x: a directory with a file for each channel and CPU
 *
 *     trace/control/metadata_0    the markers: their names and formats, such as "fd %u count %u"
 *     trace/fs_0, trace/fs_1      the events of the channel fs on CPU 0 and CPU 1
 *
 * The files are merged by time.
 */
#include "cmd/trdecode/lttng.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/input_tree.h"
#include "common/util/heap.h"
#include "common/util/u128.h"

/* --- the names that the trace announces: of functions, system calls and interrupts --- */

/* What names begin with, by enum lttng_names. */
static const char *const names_kinds[] = {"syscall ", "softirq ", "trap ", "irq "};

/* Get the number at an offset of the fixed part, sign-extended to 64 bits; -1 if the offset is
 * negative. */
static inline int64_t lttng_number(const struct lttng_event *ev, int16_t offset, uint8_t size)
{
	return offset < 0 ? -1 : sign_extend(get_uint(ev->fixed + offset, size, false), size);
}

/* Get the number at marker->arg[i]; -1: none. */
static inline int64_t lttng_arg(const struct lttng_event *ev, int i)
{
	return lttng_number(ev, ev->marker->arg[i], ev->marker->arg_size[i]);
}

/* Take in an event that contains a name and its id. */
static int lttng_names_take(struct lttng *l, const struct lttng_event *ev)
{
	enum lttng_action action = ev->marker->action;
	enum lttng_names which = action - ACTION_SYSCALL_NAME;
	const char *name, *plus, *kind;
	char **text;
	int64_t id;
	size_t n;

	if (action < ACTION_SYSCALL_NAME || action > ACTION_IRQ_NAME)
		return 0;
	id = lttng_arg(ev, 0);
	name = lttng_event_text(ev, ev->marker->string_arg, &n);
	plus = memchr(name, '+', n);
	n = plus ? (size_t)(plus - name) : n;
	if (id < 0 || id >= NAMES_MOST || !n)
		return 0;
	if (!l->names[which].name)
		l->names[which].name = calloc(NAMES_MOST, sizeof *l->names[which].name);
	if (!l->names[which].name)
		return -1;
	text = &l->names[which].name[id];
	kind = which == NAMES_SYSCALL ? "" : names_kinds[which];
	if (*text)
		return 0;
	return (which == NAMES_IRQ ? asprintf(text, "%s%d %.*s", kind, (int)id, (int)n, name)
				   : asprintf(text, "%s%.*s", kind, (int)n, name)) < 0
		       ? -1
		       : 0;
}

const uint32_t *lttng_names_locations(struct lttng *l, enum lttng_names which)
{
	if (!l->names[which].location)
		l->names[which].location = calloc(NAMES_MOST, sizeof *l->names[which].location);
	return l->names[which].location;
}

uint32_t lttng_names_location(struct lttng *l, const struct lttng_marker *m, uint64_t id)
{
	const char *text = NULL;
	uint32_t *location;
	char name[64];

	if (id >= m->nlocations || m->locations == &m->location)
		return m->location;
	location = &l->names[m->names].location[id];
	if (l->names[m->names].name)
		text = l->names[m->names].name[id];
	if (!text) {
		snprintf(name, sizeof name, "%s%u", names_kinds[m->names], (unsigned)id);
		text = name;
	}
	*location =
		writer_location(l->w, &(struct location_entry){.name = writer_text(l->w, text)});
	return *location;
}

static void lttng_names_free(struct lttng *l)
{
	for (int k = 0; k < NAMES_COUNT; k++) {
		for (size_t i = 0; l->names[k].name && i < NAMES_MOST; i++)
			free(l->names[k].name[i]);
		free(l->names[k].name);
		free(l->names[k].location);
	}
}

/*
 * Mappings of processes, as the trace dumps them.
 *
 * They contain an inode and no file name. The mappings of a process are sent with the lanes of its
 * threads, so that addresses in their events belong to modules.
 */

enum { MAPS_MOST = 1 << 16, PAGE = 4096 };

/* Take in a mapping. */
static int lttng_maps_take(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	const struct lttng_marker *m = ev->marker;
	uint64_t values[LTTNG_ARGS];
	struct lttng_thread *t;
	char text[64];

	for (int i = 0; i < LTTNG_ARGS; i++)
		values[i] =
			m->arg[i] < 0 ? 0 : get_uint(ev->fixed + m->arg[i], m->arg_size[i], false);
	t = lttng_state_thread(l, c, lttng_arg(ev, 0));
	if (!t)
		return -1;
	if (t == &c->idle || t == &c->unknown || values[2] <= values[1] ||
	    values[3] > UINT64_MAX / PAGE || l->nmaps == MAPS_MOST)
		return 0;
	if (!t->space) {
		snprintf(text, sizeof text, "%d", t->tid);
		t->space = writer_space(l->w, &(struct space_entry){.source = l->source,
								    .name = writer_text(l->w, text),
								    .pid = t->tid});
		if (!t->space)
			return -1;
	}
	if (values[4])
		snprintf(text, sizeof text, "[inode %llu]", (unsigned long long)values[4]);
	else
		snprintf(text, sizeof text, "[anonymous]");
	l->nmaps++;
	return writer_map(l->w, &(struct map_entry){.space = t->space,
						    .flags = MAP_FILE_OFFSET,
						    .start = values[1],
						    .end = values[2],
						    .offset = values[3] * PAGE,
						    .path = writer_text(l->w, text)});
}

/* Attach the mappings of a thread's process to one of its lanes. */
static int lttng_maps_of(struct lttng *l, struct lttng_cpu *c, const struct lttng_thread *t,
			 uint32_t lane)
{
	/* the threads of a process share its mappings */
	const struct lttng_thread *process = t->pid > 0 ? lttng_state_thread(l, c, t->pid) : t;

	return process && process->space && lane ? writer_lane_space(l->w, lane, process->space)
						 : 0;
}

/* --- lanes: a tracefile and the thread that runs on its CPU --- */

uint32_t lttng_state_lane(struct lttng *l, struct lttng_file *f, struct lttng_cpu *c)
{
	const struct lttng_thread *t = c->thread;
	uint32_t at = t->number % LTTNG_LANES;
	const struct {
		uint32_t buffer, comm;
		int32_t cpu, tid, pid, ppid;
	} key = {f->buffer, t->comm, c->cpu, t->tid, t->pid, t->ppid};
	struct lane_entry e = {.source = l->source,
			       .clock = l->clock_id,
			       .buffer = f->buffer,
			       .comm = t->comm,
			       .flags = LANE_HAS_CPU,
			       .cpu = c->cpu};
	uint32_t *lane;

	if (f->lanes[at].thread == t && f->lanes[at].version == t->version)
		return f->lanes[at].lane;
	lane = id_cache_number(&l->lanes, &key, sizeof key);
	if (!lane)
		return 0;
	if (!*lane) {
		if (t->tid >= 0) {
			e.flags |= LANE_HAS_TID;
			e.tid = t->tid;
		}
		if (t->pid >= 0) {
			e.flags |= LANE_HAS_PID;
			e.pid = t->pid;
			e.ppid = t->ppid >= 0 ? t->ppid : 0;
		}
		*lane = writer_lane(l->w, &e);
		if (lttng_maps_of(l, c, t, *lane))
			return 0;
	}
	f->lanes[at].thread = t;
	f->lanes[at].version = t->version;
	f->lanes[at].lane = *lane;
	return *lane;
}

/*
 * Tracks by the merged events: the thread that runs on each CPU, its name, and the call that a
 * leave ends.
 */

enum { THREADS_MOST = 1 << 18 };

/* --- CPUs and threads --- */

struct lttng_thread *lttng_state_thread(struct lttng *l, struct lttng_cpu *c, int64_t tid)
{
	struct lttng_thread *t;
	uint32_t number;

	if (tid == c->thread->tid)
		return c->thread;
	if (tid == 0)
		return &c->idle;
	if (tid < 0 || tid > INT32_MAX)
		return &c->unknown;
	number = idmap_get(&l->threads.by_tid, (uint32_t)tid);
	if (number)
		return l->threads.thread[number - 1];
	number = (uint32_t)l->threads.count;
	if (number == THREADS_MOST)
		return &c->unknown; /* no machine has so many threads: the trace is damaged */
	if (ARRAY_GROW(l->threads.thread, l->threads.capacity, number))
		return NULL;
	t = calloc(1, sizeof *t);
	if (!t || idmap_set(&l->threads.by_tid, (uint32_t)tid, number + 1)) {
		free(t);
		return NULL;
	}
	*t = (struct lttng_thread){.tid = (int32_t)tid, .pid = -1, .ppid = -1, .number = number};
	l->threads.thread[l->threads.count++] = t;
	return t;
}

static int lttng_set_comm(struct lttng *l, struct lttng_thread *t, const char *name, size_t n)
{
	uint32_t comm = n ? writer_string(l->w, name, n < 15 ? n : 15) : 0;

	if (n && !comm)
		return -1;
	if (comm != t->comm) {
		t->comm = comm;
		t->version++;
	}
	return 0;
}

static int lttng_take_process(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	int64_t tid = lttng_arg(ev, 0), pid = lttng_arg(ev, 2), ppid = lttng_arg(ev, 1);
	struct lttng_thread *t = lttng_state_thread(l, c, tid);
	const char *name;
	size_t n;

	if (!t)
		return -1;
	if (t == &c->idle || t == &c->unknown)
		return 0;
	if (ev->marker->arg[2] < 0)
		pid = -1;
	if ((pid >= 0 && pid <= INT32_MAX && t->pid != pid) ||
	    (ppid >= 0 && ppid <= INT32_MAX && t->ppid != ppid)) {
		t->pid = pid >= 0 && pid <= INT32_MAX ? (int32_t)pid : -1;
		t->ppid = ppid >= 0 && ppid <= INT32_MAX ? (int32_t)ppid : -1;
		t->version++;
	}
	name = lttng_event_text(ev, ev->marker->string_arg, &n);
	return lttng_set_comm(l, t, name, n);
}

static int take_fork(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *parent = lttng_state_thread(l, c, lttng_arg(ev, 0)),
			    *child = lttng_state_thread(l, c, lttng_arg(ev, 1));
	int64_t pid = lttng_arg(ev, 2);

	if (!parent || !child)
		return -1;
	if (child == &c->idle || child == &c->unknown || child == parent)
		return 0;
	child->comm = parent->comm;
	child->pid = pid >= 0 && pid <= INT32_MAX ? (int32_t)pid : -1;
	child->ppid = parent->pid >= 0 ? parent->pid : parent->tid;
	if (child->frames)
		child->frames->count = 0;
	child->version++;
	return 0;
}

static int take_exec(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *t = c->thread;
	size_t n;
	const char *path = lttng_event_text(ev, ev->marker->string_arg, &n), *slash;

	if (t == &c->idle || t == &c->unknown)
		return 0;
	slash = memrchr(path, '/', n);
	if (slash) {
		n -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	return lttng_set_comm(l, t, path, n);
}

static int take_free(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *t = lttng_state_thread(l, c, lttng_arg(ev, 0));

	if (t && t->frames)
		t->frames->count = 0;
	return t ? 0 : -1;
}

/* --- calls --- */

struct lttng_frames *lttng_state_stack(struct lttng_cpu *c)
{
	struct lttng_thread *t = c->thread;

	if (!t->frames)
		t->frames = calloc(1, sizeof *t->frames);
	c->stacks[0] = t->frames;
	return t->frames ? t->frames : &c->frames;
}

bool lttng_state_unwind(const struct lttng_marker *m, struct lttng_frames *frames,
			uint32_t *location, uint32_t *depth)
{
	for (uint32_t at = frames->count; at; at--)
		if (frames->frame[at - 1].pair == m->pair) {
			*depth = frames->count = at - 1;
			*location = frames->frame[at - 1].location;
			return true;
		}
	*location = m->location;
	*depth = frames->count;
	return frames->count > 0;
}

/* --- events --- */

/* Update threads and names by an event, before and after its row is written. */
static int lttng_state_before(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *t;

	if (ev->marker->action != ACTION_SCHEDULE)
		return 0;
	t = lttng_state_thread(l, c, lttng_arg(ev, 0));
	if (!t)
		return -1;
	lttng_cpu_run(c, t);
	return 0;
}

static int lttng_state_after(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *t;

	switch (ev->marker->action) {
	case ACTION_SCHEDULE:
		t = lttng_state_thread(l, c, lttng_arg(ev, 1));
		if (!t)
			return -1;
		lttng_cpu_run(c, t);
		return 0;
	case ACTION_PROCESS: return lttng_take_process(l, c, ev);
	case ACTION_FORK: return take_fork(l, c, ev);
	case ACTION_EXEC: return take_exec(l, c, ev);
	case ACTION_EXIT: return take_free(l, c, ev);
	default: return 0;
	}
}

/* --- reads some files ahead for names and threads that the first rows need --- */

enum { AHEAD_MOST = 64 << 20, FIRST_SCHEDULE = 1 << 20 };

/* Test whether a member's name is that of a tracefile. *base: length of the name without its CPU.
 */
static bool lttng_name_of(const char *member, size_t *base, int32_t *cpu)
{
	const char *slash = strrchr(member, '/'), *name = slash ? slash + 1 : member,
		   *line = strrchr(name, '_');
	int64_t n = 0;

	if (!line || line == name || name[0] == '.' || !line[1])
		return false;
	for (const char *p = line + 1; *p; p++) {
		if (!isdigit((unsigned char)*p) || n > 65535)
			return false;
		n = n * 10 + (*p - '0');
	}
	if (n > 65535)
		return false;
	*base = (size_t)(line - member);
	*cpu = (int32_t)n;
	return true;
}

/* Get the channel's name, "processes" in "control/flight-processes_0": without the prefix of
 * overwritten channels. */
static const char *lttng_channel_name(const char *member, size_t base, size_t *n)
{
	const char *name = memrchr(member, '/', base);

	name = name ? name + 1 : member;
	*n = base - (size_t)(name - member);
	if (*n > 7 && !memcmp(name, "flight-", 7)) {
		name += 7;
		*n -= 7;
	}
	return name;
}

/* Take in an event that dumps threads or names, before the first row. */
static int lttng_state_ahead(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	switch (ev->marker->action) {
	case ACTION_PROCESS: return lttng_take_process(l, c, ev);
	case ACTION_MAP: return lttng_maps_take(l, c, ev);
	default: return lttng_names_take(l, ev);
	}
}

/* Call take for each event of a file up to an offset, without reports of damage, until take returns
 * 1 or -1. -1: out of memory. */
static int each_event(struct lttng *l, const struct lttng_file *of, uint64_t limit,
		      int (*take)(struct lttng *l, struct lttng_cpu *c,
				  const struct lttng_event *ev))
{
	struct lttng_file f = {.window.fd = -1,
			       .channel = of->channel,
			       .cpu = of->cpu,
			       .compact = of->compact,
			       .metadata = of->metadata,
			       .quiet = true};
	struct lttng_event ev;
	int got = lttng_file_open(l, &f, of->member, 1);

	while (!got && !f.done && f.at < limit) {
		if (!f.gap.pending) {
			got = lttng_file_event(l, &f, &ev);
			if (got > 0)
				got = take(l, l->cpus[f.cpu], &ev);
		}
		f.gap.pending = false;
		if (!got)
			got = lttng_file_next(l, &f);
	}
	window_close(&f.window);
	return got < 0 ? -1 : 0;
}

/* Test whether events of this channel record what is needed ahead. */
static bool is_needed_ahead(struct lttng *l, const struct lttng_file *f)
{
	static const char *const names[] = {"interrupts", "processes", "modules"};
	size_t n;
	const char *name = lttng_channel_name(f->member, f->base, &n);

	if (f->metadata)
		return false;
	if (!l->one_table)
		return n > 6 && !memcmp(name + n - 6, "_state", 6);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == n && !memcmp(names[i], name, n))
			return true;
	return n > 6 && !memcmp(name + n - 6, "_state", 6);
}

/* Test whether the channel has an event with one of these actions. */
static bool has_action(struct lttng *l, const struct lttng_channel *c, enum lttng_action first,
		       enum lttng_action last)
{
	for (size_t i = 0; i < c->size; i++) {
		const struct lttng_marker *m = lttng_marker(l, c, (uint32_t)i);

		if (m && m->action >= first && m->action <= last)
			return true;
	}
	return false;
}

/* Take the thread that ran first from the first switch of the CPU, which records the previous
 * thread. */
static int take_first_thread(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	if (ev->marker->action != ACTION_SCHEDULE)
		return 0;
	return lttng_state_before(l, c, ev) ? -1 : 1;
}

/* Take in the names that the trace dumps anywhere, and the thread that runs first on each CPU. */
static int lttng_prescan(struct lttng *l)
{
	for (size_t i = 0; i < l->nfiles; i++)
		if (is_needed_ahead(l, &l->files[i]) &&
		    has_action(l, l->files[i].channel, ACTION_PROCESS, ACTION_MAP) &&
		    each_event(l, &l->files[i], AHEAD_MOST, lttng_state_ahead))
			return -1;
	for (size_t i = 0; i < l->nfiles; i++)
		if (!l->files[i].metadata && !l->files[i].compact &&
		    l->cpus[l->files[i].cpu]->thread->tid < 0 &&
		    has_action(l, l->files[i].channel, ACTION_SCHEDULE, ACTION_SCHEDULE) &&
		    each_event(l, &l->files[i], FIRST_SCHEDULE, take_first_thread))
			return -1;
	return 0;
}

void lttng_state_free(struct lttng *l)
{
	for (size_t i = 0; i < l->ncpus; i++) {
		if (!l->cpus[i])
			continue;
		free(l->cpus[i]->idle.frames);
		free(l->cpus[i]->unknown.frames);
		free(l->cpus[i]);
	}
	free(l->cpus);
	intern_free(&l->functions.names);
	buffer_free(&l->functions.key);
	free(l->functions.locations);
	for (size_t i = 0; i < l->threads.count; i++) {
		free(l->threads.thread[i]->frames);
		free(l->threads.thread[i]);
	}
	free(l->threads.thread);
	idmap_free(&l->threads.by_tid);
	lttng_names_free(l);
	id_cache_free(&l->lanes);
}

/*
 * Markers with fields that contain the thread and the call of the event.
 *
 * trencode writes such markers for events of other systems. The first fields are _tid and _pid.
 * _comm follows the numbers. A call has the function's name in _enter or _leave (_cpu_enter: on the
 * CPU's own stack; _kernel_enter: in the kernel, on top of the thread's stack; _inner_enter:
 * scheduled out), and in _function a number that distinguishes functions of one name. _depth is
 * the number of calls open below, or _call is the call's number. Other events have in _at the
 * function in which they occurred. _order, after those numbers, numbers the events of the trace: it
 * orders events of one time in several files. The names of these markers have no meaning to the
 * decoder, even if they are names of the kernel's markers.
 */

/* Take the thread from an event; it runs on c from now on. */
static int lttng_transcoded_thread(struct lttng *l, struct lttng_cpu *c,
				   const struct lttng_event *ev)
{
	const struct lttng_marker *m = ev->marker;
	struct lttng_thread *t = lttng_state_thread(l, c, lttng_number(ev, m->transcoded.tid, 4));
	int32_t pid = m->transcoded.pid ? (int32_t)lttng_number(ev, m->transcoded.pid, 4) : -1;
	const char *name;
	uint32_t comm;
	size_t n;

	if (!t)
		return -1;
	c->thread = t;
	if (m->transcoded.comm < 0)
		return 0;
	name = lttng_event_text(ev, m->transcoded.comm, &n);
	comm = writer_string(l->w, name, n);
	if (n && !comm)
		return -1;
	if (comm != t->comm || pid != t->pid) {
		t->comm = comm;
		t->pid = pid;
		t->version++;
	}
	return 0;
}

/* Take location and depth of a call from an event. */
static int lttng_transcoded_call(struct lttng *l, const struct lttng_event *ev, uint32_t *location,
				 uint32_t *depth)
{
	const struct lttng_marker *m = ev->marker;
	size_t n;
	const char *name = lttng_event_text(ev, m->transcoded.name, &n);
	uint32_t function =
		m->transcoded.function
			? (uint32_t)get_uint(ev->fixed + m->transcoded.function, 4, false)
			: 0;
	uint32_t number;

	l->functions.key.size = 0;
	if (buffer_u32(&l->functions.key, function) ||
	    (n && buffer_append(&l->functions.key, name, n)))
		return -1;
	number = intern(&l->functions.names, l->functions.key.data, l->functions.key.size);
	if (number == INTERN_NONE)
		return -1;
	if (ARRAY_REACH(l->functions.locations, l->functions.capacity, number))
		return -1;
	if (!l->functions.locations[number])
		l->functions.locations[number] = writer_location(
			l->w, &(struct location_entry){.address = function,
						       .name = writer_string(l->w, name, n)});
	*location = l->functions.locations[number];
	*depth = m->transcoded.depth ? (uint32_t)get_uint(ev->fixed + m->transcoded.depth, 4, false)
				     : 0;
	return *location ? 0 : -1;
}

/* --- writes a tracefile's next event or gap as a row --- */

static int lttng_put_lost(struct lttng *l, struct lttng_file *f, uint64_t time, uint32_t lane)
{
	char path[512], message[80];
	struct gap gap = {.reason = GAP_LOST,
			  .unit = GAP_EVENTS,
			  .count = f->gap.lost,
			  .offset = f->at,
			  .file = tree_path(l->input->tree, f->member, path, sizeof path)};

	if (f->gap.lost && writer_gap(l->w, time, lane, &gap))
		return -1;
	if (!f->gap.blocks)
		return 0;
	snprintf(message, sizeof message, "%" PRIu64 " sub-buffers were lost", f->gap.blocks);
	gap.message = message;
	gap.count = UINT64_MAX;
	return writer_gap(l->w, time, lane, &gap);
}

static inline uint64_t lttng_row_time(struct lttng *l, uint64_t tsc)
{
	int64_t ns = lttng_clock_ns(&l->clock, tsc) + l->shift;

	return ns < 0 ? 0 : (uint64_t)ns;
}

static inline int lttng_put_row(struct lttng *l, const struct lttng_event *ev, uint32_t lane,
				uint32_t type, uint32_t location, uint32_t depth)
{
	const struct lttng_marker *m = ev->marker;
	struct new_row r = {.time = lttng_row_time(l, ev->tsc),
			    .lane = lane,
			    .type = type,
			    .location = location,
			    .depth = depth,
			    .fixed = ev->fixed,
			    .fixed_size = m->layout.fixed_size,
			    .tail = ev->tail,
			    .tail_size = ev->tail_size,
			    .has_tail = m->layout.nstrings > 0};

	return writer_row_data(l->w, r);
}

/* Get the lane of the thread that runs on a CPU. */
static inline uint32_t lttng_lane(struct lttng *l, struct lttng_file *f, struct lttng_cpu *c)
{
	const struct lttng_thread *t = c->thread;
	uint32_t at = t->number % LTTNG_LANES;

	return __builtin_expect(f->lanes[at].thread == t && f->lanes[at].version == t->version, 1)
		       ? f->lanes[at].lane
		       : lttng_state_lane(l, f, c);
}

/* Write the file's next event or gap as a row; write nothing for a damaged event. */
static int lttng_rows_event(struct lttng *l, struct lttng_file *f)
{
	struct lttng_cpu *c = l->cpus[f->cpu];
	struct lttng_event ev;
	uint32_t location = 0, depth = 0, lane, type;
	struct lttng_marker *m;
	int got;

	if (__builtin_expect(f->gap.pending, 0)) {
		f->gap.pending = false;
		lane = lttng_state_lane(l, f, c);
		return lttng_put_lost(l, f, lttng_row_time(l, f->next), lane);
	}
	got = lttng_file_event(l, f, &ev);
	if (__builtin_expect(got <= 0, 0))
		return got;
	m = ev.marker;
	if (__builtin_expect(!m->type, 0) && lttng_marker_declare(l, m))
		return -1;
	type = m->type;
	if (m->action && lttng_state_before(l, c, &ev))
		return -1;
	if (m->transcoded.tid && lttng_transcoded_thread(l, c, &ev))
		return -1;
	if (m->transcoded.name >= 0 && m->transcoded.tid) {
		if (lttng_transcoded_call(l, &ev, &location, &depth))
			return -1;
	} else if (m->kind != KIND_INSTANT &&
		   !lttng_state_call(l, c, m, ev.fixed, &location, &depth)) {
		type = lttng_marker_orphan(l, m);
	}
	lane = lttng_lane(l, f, c);
	if (lttng_put_row(l, &ev, lane, type, location, depth))
		return -1;
	return m->action ? lttng_state_after(l, c, &ev) : 0;
}

/*
 * Converts the common events directly from a tracefile into rows.
 *
 * An event is quick if its trace is little-endian, its fields are adjacent numbers, its header is
 * ordinary, its block was completed, and the window contains all of it. All other events
 * are converted step by step.
 *
 * Instructions of 'trdecode | trstat -g name -c count' of t/bench/lttng.sh without this file: 1.7
 * times as many.
 */

enum {
	/* most bytes read from the start of a payload: the payload, padding, the next header, and
	   what is read beyond. Before the last REACH bytes no check is necessary */
	REACH = LTTNG_QUICK_MOST + 64,
	ROOM = 2 * LTTNG_QUICK_MOST, /* bytes of a row, and what is written beyond */
};

/* A file in the loop of quick_run; positions count from the start of its block. */
struct quick_side {
	struct lttng_file *f;
	struct lttng_cpu *c;
	const uint8_t *block;
	uint32_t safe; /* payloads that begin below need no checks */
	/* the next event */
	uint32_t position, payload, size;
	uint64_t tsc;
	struct lttng_marker *m;
	struct lttng_marker **markers;
	size_t nmarkers;
	unsigned align;
};

static __attribute__((noinline)) int put_slow(struct lttng *l, const struct quick_side *s,
					      uint32_t type, uint32_t location, uint32_t depth)
{
	const struct lttng_marker *m = s->m;

	memset(l->fixed + m->layout.fixed_size - 4, 0, 4);
	put_u64(l->fixed, s->tsc);
	memcpy(l->fixed + 8, s->block + s->payload, m->layout.plain);
	return writer_row_data(l->w, (struct new_row){.time = lttng_row_time(l, s->tsc),
						      .lane = lttng_lane(l, s->f, s->c),
						      .type = type,
						      .location = location,
						      .depth = depth,
						      .fixed = l->fixed,
						      .fixed_size = m->layout.fixed_size});
}

static inline int put_quick(struct lttng *l, const struct quick_side *s, uint32_t type,
			    uint32_t location, uint32_t depth)
{
	struct writer *w = l->w;
	const struct lttng_marker *m = s->m;
	const uint8_t *payload = s->block + s->payload;
	struct new_row r = {.time = lttng_row_time(l, s->tsc),
			    .lane = lttng_lane(l, s->f, s->c),
			    .type = type,
			    .location = location,
			    .depth = depth};
	uint8_t *to = NULL;

	if (__builtin_expect(w->block.limit - w->block.row >= ROOM, 1)) {
		to = writer_row_reserve(w, &r, m->layout.fixed_size);
		if (__builtin_expect(!to, 0) && writer_take_location(w, location))
			to = writer_row_reserve(w, &r, m->layout.fixed_size);
	}
	if (__builtin_expect(!to, 0))
		return put_slow(l, s, type, location, depth);
	put_u64(to, s->tsc);
	/* one size for all short payloads: no branch to mispredict */
	memcpy(to + 8, payload, 32);
	if (__builtin_expect(m->layout.plain > 32, 0))
		memcpy(to + 40, payload + 32, LTTNG_QUICK_MOST - 32);
	put_u32(to + 8 + m->layout.plain, 0); /* padding, if there is some */
	return 0;
}

static void begin_side(struct lttng *l, struct quick_side *s, struct lttng_file *f)
{
	uint64_t end = f->window.offset + window_have(&f->window) - f->at;

	end = end < f->used ? end : f->used;
	s->f = f;
	s->c = l->cpus[f->cpu];
	s->block = window_at(&f->window) + (int64_t)(f->at - f->window.offset);
	s->safe = end > REACH ? (uint32_t)end - REACH : 0;
	s->position = f->position;
	s->payload = f->payload;
	s->size = f->size;
	s->tsc = f->next;
	s->m = f->marker;
	s->markers = f->channel->markers;
	s->nmarkers = f->channel->size;
	s->align = f->headers.align;
}

static void end_side(struct quick_side *s)
{
	struct lttng_file *f = s->f;

	f->marker = s->m;
	f->next = f->tsc = s->tsc;
	f->position = s->position;
	f->payload = s->payload;
	f->size = s->size;
}

/* Write an event with an action, and update the state before and after the row. */
static __attribute__((noinline)) int put_action(struct lttng *l, const struct quick_side *s)
{
	const uint8_t *payload = s->block + s->payload;
	struct lttng_marker *m = s->m;
	/* in the fixed part the fields follow a TSC */
	const struct lttng_event ev = {m, s->tsc, payload - 8, l->tail.data, 0};
	uint32_t type = m->type, location = 0, depth = 0;

	if (lttng_state_before(l, s->c, &ev))
		return -1;
	if (m->kind != KIND_INSTANT &&
	    !lttng_state_call(l, s->c, m, payload - 8, &location, &depth))
		type = lttng_marker_orphan(l, m);
	if (put_quick(l, s, type, location, depth))
		return -1;
	return lttng_state_after(l, s->c, &ev);
}

static inline int put_schedule(struct lttng *l, const struct quick_side *s)
{
	const struct lttng_marker *m = s->m;
	const uint8_t *payload = s->block + s->payload;
	int32_t before = (int32_t)get_u32(payload - 8 + m->arg[0]),
		after = (int32_t)get_u32(payload - 8 + m->arg[1]);
	struct lttng_cpu *c = s->c;
	struct lttng_thread *t = c->thread;

	if (t->tid != before) {
		t = lttng_state_thread(l, c, before);
		if (!t)
			return -1;
		lttng_cpu_run(c, t);
	}
	if (put_quick(l, s, m->type, 0, 0))
		return -1;
	t = lttng_state_thread(l, c, after);
	if (t)
		lttng_cpu_run(c, t);
	return t ? 0 : -1;
}

static inline int lttng_put_event(struct lttng *l, const struct quick_side *s)
{
	struct lttng_marker *m = s->m;
	const uint8_t *payload = s->block + s->payload;
	uint32_t type = m->type, location = 0, depth = 0;

	if (m->quick == QUICK_CALL) {
		if (!lttng_state_call(l, s->c, m, payload - 8, &location, &depth))
			type = lttng_marker_orphan(l, m);
	} else if (m->quick == QUICK_SCHEDULE) {
		return put_schedule(l, s);
	} else if (m->quick == QUICK_ACTION) {
		return put_action(l, s);
	}
	return put_quick(l, s, type, location, depth);
}

/* Read the header at s->position. false: not a quick event. */
static inline __attribute__((always_inline)) bool find_event(struct quick_side *s, bool old)
{
	uint32_t payload = s->position + lttng_pad(s->position, s->align), id;

	if (old) {
		uint64_t w = get_u64(s->block + payload);

		id = w >> 32 & 0xffff;
		if (id >= s->nmarkers || !s->markers[id] || !s->markers[id]->quick)
			return false;
		s->m = s->markers[id];
		s->size = w >> 48 == LTTNG_SIZE_WIDE ? SIZE_UNKNOWN : (uint32_t)(w >> 48);
		s->tsc = lttng_advance(s->tsc, w & 0xffffffff, 32);
		payload += 8;
		s->payload = payload + lttng_pad(payload, s->align);
	} else {
		uint32_t w = get_u32(s->block + payload);

		id = w >> LTTNG_TIME_BITS;
		if (id >= LTTNG_ID_FULL_TIME || id >= s->nmarkers || !s->markers[id] ||
		    !s->markers[id]->quick)
			return false;
		s->m = s->markers[id];
		s->size = SIZE_UNKNOWN;
		s->tsc = lttng_advance(s->tsc, w & ((1u << LTTNG_TIME_BITS) - 1), LTTNG_TIME_BITS);
		payload += 4;
		s->payload = payload + lttng_pad(payload, s->m->layout.align);
	}
	return true;
}

/* Write the events of two files in turn. The next file is selected without a branch, which a
 * processor could not predict. At equal times sides[0] is first. */
static inline __attribute__((always_inline)) int
run_sides(struct lttng *l, struct quick_side sides[2], uint64_t limit, bool old)
{
	for (;;) {
		struct quick_side *s = &sides[sides[1].tsc < sides[0].tsc];

		if (s->tsc >= limit || s->payload >= s->safe || !s->m->quick ||
		    (old && s->size != SIZE_UNKNOWN && s->size != s->m->layout.plain))
			break;
		if (lttng_put_event(l, s))
			return -1;
		s->position = s->payload + s->m->layout.plain;
		if (__builtin_expect(s->position >= s->safe || !find_event(s, old), 0)) {
			struct quick_side *other = &sides[s == sides];

			if (other->f)
				end_side(other);
			s->f->tsc = s->tsc;
			s->f->position = s->position;
			return lttng_file_next(l, s->f);
		}
	}
	end_side(&sides[0]);
	if (sides[1].f)
		end_side(&sides[1]);
	return 0;
}

static bool is_quick(const struct lttng_file *f)
{
	return !f->done && !f->gap.pending && f->in_block && (f->headers.compact || f->headers.old);
}

/* Write events below TSC limit of the two files that are next, g after f, or of f alone (g NULL),
 * while they have the quick form. May write no event. */
static int lttng_quick(struct lttng *l, struct lttng_file *f, struct lttng_file *g, uint64_t limit)
{
	struct quick_side sides[2];

	if (!is_quick(f))
		return 0;
	if (!g || !is_quick(g)) {
		if (g && g->next < limit)
			limit = g->next;
		sides[1].f = NULL;
		sides[1].tsc = UINT64_MAX;
		begin_side(l, &sides[0], f);
	} else {
		begin_side(l, &sides[f->rank > g->rank], f);
		begin_side(l, &sides[f->rank < g->rank], g);
	}
	return l->old ? run_sides(l, sides, limit, true) : run_sides(l, sides, limit, false);
}

/* --- merges all tracefiles by TSC; events of one TSC by their recorded order, then by file --- */

static inline bool earlier(const struct lttng_file *a, const struct lttng_file *b)
{
	if (a->next != b->next)
		return a->next < b->next;
	return a->order != b->order ? a->order < b->order : a->rank < b->rank;
}

static void lttng_sift_down(struct lttng *l, size_t i)
{
	HEAP_DOWN(l->heap, l->nheap, i, a, b, earlier(*a, *b));
}

static void lttng_set_next(struct lttng *l)
{
	uint64_t time = l->nheap ? lttng_row_time(l, l->heap[0]->next) : UINT64_MAX;

	/* UINT64_MAX means: no next event */
	l->input->next = l->nheap && time == UINT64_MAX ? time - 1 : time;
}

/* Get the first file of the heap, the index of the second, and the TSC of the third, which both
 * must stay below. */
static struct lttng_file *next_two(const struct lttng *l, size_t *second, uint64_t *limit)
{
	struct lttng_file *const *h = l->heap;
	size_t n = l->nheap;

	*second = n > 2 && earlier(h[2], h[1]) ? 2 : 1;
	*limit = n > 2 ? h[3 - *second]->next : UINT64_MAX;
	for (size_t i = 2 * *second + 1; i < n && i < 2 * *second + 3; i++)
		if (h[i]->next < *limit)
			*limit = h[i]->next;
	return n > 1 ? h[*second] : NULL;
}

static int lttng_run(struct input *in, uint64_t until, struct error *e)
{
	struct lttng *l = in->state;

	(void)e;
	while (l->nheap) {
		struct lttng_file *first = l->heap[0], *g;
		size_t second;
		uint64_t limit;

		if (first->done) {
			window_close(&first->window);
			l->heap[0] = l->heap[--l->nheap];
			lttng_sift_down(l, 0);
			continue;
		}
		if (until != UINT64_MAX) {
			if (lttng_row_time(l, first->next) > until)
				break;
		} else {
			g = next_two(l, &second, &limit);
			if (lttng_quick(l, first, g, limit))
				return -1;
			if (g)
				lttng_sift_down(l, second);
			lttng_sift_down(l, 0);
			first = l->heap[0];
			if (first->done)
				continue;
		}
		if (lttng_rows_event(l, first) || lttng_file_next(l, first))
			return -1;
		lttng_sift_down(l, 0);
	}
	lttng_set_next(l);
	return 0;
}

/* --- the clock --- */

/* The most ns after an anchor. */
#define REACH_NS (1ull << 60)

/* start_freq and freq_scale: a factor at first, a divisor since late in 2.2. */
static bool scale_divides(const struct lttng_header *h)
{
	if (h->major == 1 || h->minor < 2)
		return false;
	/* no machine of that time ticked slower */
	return h->minor > 2 || h->frequency / h->scale >= 1000000;
}

static uint64_t lttng_clock_hertz(const struct lttng_header *h)
{
	if (!h->frequency || !h->scale)
		return 0;
	return scale_divides(h) ? h->frequency / h->scale
				: multiply_saturated(h->frequency, h->scale);
}

int64_t lttng_clock_slow(struct lttng_clock *c, uint64_t tsc)
{
	/* round down, before zero too */
	__int128 x = ((__int128)tsc - c->zero) * c->numerator, q = x / c->denominator;
	uint64_t rest;

	if (q * c->denominator > x)
		q--;
	rest = (uint64_t)(x - q * c->denominator);
	q += c->base;
	/* no real clock reaches this limit; a shift can still be added */
	if (q >= (int64_t)TIME_LIMIT)
		return (int64_t)TIME_LIMIT - 1;
	if (q <= -(int64_t)TIME_LIMIT)
		return 1 - (int64_t)TIME_LIMIT;
	if (q >= (int64_t)TIME_LIMIT - (int64_t)REACH_NS)
		c->reach = 0; /* times after an anchor would pass the limit */
	if (c->reach) {
		c->anchor = tsc;
		c->anchor_ns = (int64_t)q;
		c->anchor_rest = rest;
	}
	return (int64_t)q;
}

int lttng_clock_init(struct lttng_clock *c, const struct lttng_header *h, uint64_t zero,
		     int64_t zero_ns)
{
	*c = (struct lttng_clock){.zero = zero, .base = zero_ns};
	if (!h->frequency || !h->scale)
		return -1;
	c->numerator = 1000000000;
	if (scale_divides(h)) {
		c->numerator *= h->scale;
		c->denominator = h->frequency;
	} else if (__builtin_mul_overflow(h->frequency, h->scale, &c->denominator)) {
		return -1;
	}
	if (c->denominator > 1) {
		c->inverse = (uint64_t)(((unsigned __int128)1 << 64) / c->denominator);
		/* x = ticks * numerator + rest is at most 2 * REACH_NS, and the ns half of it */
		if (c->denominator < REACH_NS)
			c->reach = REACH_NS / c->numerator;
	}
	lttng_clock_slow(c, zero);
	return 0;
}

/* --- finds the tracefiles of a trace, its CPUs and channels --- */

enum { PROBED = 64, CHANNELS_MORE = 256 };

static bool lttng_is_metadata(const char *member, size_t base)
{
	size_t n;
	const char *name = lttng_channel_name(member, base, &n);

	return (n == 8 && !memcmp(name, "metadata", n)) ||
	       (n == 10 && !memcmp(name, "facilities", n));
}

/* Bid for the header of a block. */
static enum bid bid_header(const uint8_t *data, size_t n)
{
	struct lttng_header h;
	uint32_t where;

	if (!lttng_header_parse(&h, data, n, &where))
		return BID_HEADER;
	for (int big = 0; big < 2; big++)
		for (int i = 0; i < 2; i++) {
			size_t at = i ? LTTNG_MAGIC_1 : LTTNG_MAGIC_2;

			if (n >= at + 4 && get_uint(data + at, 4, big) == LTTNG_MAGIC)
				return BID_MAGIC;
		}
	return BID_NONE;
}

static enum bid lttng_probe(const struct input *in)
{
	int32_t cpu;
	size_t base, probed = 0;
	uint8_t head[LTTNG_HEADER_MOST];
	enum bid best = BID_NONE;

	if (!in->tree || (in->member && !lttng_name_of(in->member, &base, &cpu)))
		return BID_NONE;
	/* the file given by the user may be empty (no events were recorded) beside others that
	 * have a header */
	if (in->member && in->head_size)
		return bid_header(in->head, in->head_size);
	for (size_t i = 0; best < BID_HEADER && probed < PROBED && i < tree_count(in->tree); i++) {
		const char *member = tree_member(in->tree, i);
		enum bid bid;

		if (!lttng_name_of(member, &base, &cpu) || (in->member && strchr(member, '/')))
			continue;
		bid = bid_header(head, tree_peek(in->tree, member, head, sizeof head));
		best = bid > best ? bid : best;
		probed += !in->member && !bid && !lttng_is_metadata(member, base);
	}
	return best;
}

/* Read the trace's header from a file of the metadata, else from any file. -1 with *e filled: no
 * header is valid. */
static int lttng_find_header(struct lttng *l, struct error *e)
{
	const struct tree *tree = l->input->tree;
	int32_t cpu, lowest = INT32_MAX;
	struct lttng_header h;
	uint8_t head[LTTNG_HEADER_MOST];
	bool found = false, found_metadata = false;
	uint32_t where;
	char path[512];
	size_t base;

	for (size_t i = 0; i < tree_count(tree); i++) {
		const char *member = tree_member(tree, i);
		bool metadata;
		size_t n;

		if (!lttng_name_of(member, &base, &cpu))
			continue;
		metadata = lttng_is_metadata(member, base);
		if (metadata ? found_metadata && cpu > lowest : found)
			continue;
		n = tree_peek(tree, member, head, sizeof head);
		if (!n || lttng_header_parse(&h, head, n, &where))
			continue;
		if (!h.major)
			return error_set(
				e, tree_path(tree, member, path, sizeof path), where,
				"LTTng format 0.%u: its events are described by XML files "
				"beside the trace (eventdefs), which are not read; 1.0 and "
				"2.0 to 2.6 are",
				h.minor);
		l->header = h;
		if (h.major == 2)
			l->header.start_tsc = h.begin;
		found = true;
		if (metadata) {
			found_metadata = true;
			lowest = cpu;
		}
	}
	if (!found)
		return error_set(e, l->input->name, NO_OFFSET,
				 "no tracefile with a readable LTTng header");
	if (!found_metadata)
		input_damage(l->input, l->input->name, NO_OFFSET,
			     "no readable metadata or facilities file: the start of the trace and "
			     "the fields of its events are unknown");
	return 0;
}

/* List all tracefiles, CPUs and channels. */
static int lttng_find_files(struct lttng *l, struct error *e)
{
	const struct tree *tree = l->input->tree;
	size_t base, n = 0;
	int32_t cpu, most = -1;

	for (size_t i = 0; i < tree_count(tree); i++)
		n += lttng_name_of(tree_member(tree, i), &base, &cpu);
	l->files = calloc(n + 1, sizeof *l->files);
	l->heap = calloc(n + 1, sizeof *l->heap);
	l->channels_capacity = n + CHANNELS_MORE;
	l->channels = calloc(l->channels_capacity, sizeof *l->channels);
	if (!l->files || !l->heap || !l->channels)
		return error_no_memory(e);
	for (size_t i = 0; i < tree_count(tree); i++) {
		const char *member = tree_member(tree, i);
		struct lttng_file *f = &l->files[l->nfiles];

		if (!lttng_name_of(member, &base, &cpu))
			continue;
		*f = (struct lttng_file){.member = member,
					 .base = base,
					 .cpu = cpu,
					 .window.fd = -1,
					 .done = true,
					 .rank = (uint32_t)l->nfiles++};
		f->metadata = lttng_is_metadata(member, base);
		if (cpu > most)
			most = cpu;
		/* 2.0 to 2.2 have the metadata in control/, and ids unique in the trace */
		if (f->metadata && l->header.major == 2 && l->header.minor < 3 &&
		    !strncmp(member, "control/", 8))
			l->one_table = true;
	}
	if (l->old)
		l->one_table = true;
	l->cpus = calloc((size_t)most + 2, sizeof(void *));
	if (!l->cpus)
		return error_no_memory(e);
	l->ncpus = (size_t)(most + 1);
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_cpu *c;

		cpu = l->files[i].cpu;
		if (l->cpus[cpu])
			continue;
		c = l->cpus[cpu] = calloc(1, sizeof *c);
		if (!c)
			return error_no_memory(e);
		c->cpu = cpu;
		c->idle = (struct lttng_thread){.tid = 0, .pid = 0, .ppid = -1};
		c->unknown = (struct lttng_thread){.tid = -1, .pid = -1, .ppid = -1};
		lttng_cpu_run(c, &c->unknown);
		c->stacks[1] = &c->frames;
	}
	return 0;
}

static int lttng_find_channels(struct lttng *l)
{
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_file *f = &l->files[i];
		size_t n;
		const char *name = lttng_channel_name(f->member, f->base, &n);

		f->compact = l->old && l->header.heartbeat && n == 7 && !memcmp(name, "compact", n);
		f->channel = lttng_channel(l, l->one_table ? "" : name, l->one_table ? 0 : n);
		if (!f->channel)
			return -1;
		/* where ids are unique in the trace, the core events have their own */
		if ((l->one_table || f->metadata) && lttng_marker_core(l, f->channel))
			return -1;
	}
	return 0;
}

/* --- the decoder of legacy LTTng traces: opening, --info, and decoding by TSC --- */

/* --- opening --- */

static int open_trace(struct lttng *l, struct error *e)
{
	const struct lttng_header *h = &l->header;
	struct input *in = l->input;
	int64_t wall = 0;
	uint64_t us;

	if (lttng_find_header(l, e))
		return -1;
	l->old = h->major == 1;
	if (lttng_find_files(l, e))
		return -1;
	if (lttng_find_channels(l))
		return error_no_memory(e);
	for (size_t i = 0; i < l->nfiles; i++)
		if (l->files[i].metadata &&
		    each_event(l, &l->files[i], UINT64_MAX, lttng_marker_take))
			return error_no_memory(e);
	if (h->seconds < 1ull << 33 && !__builtin_mul_overflow(h->seconds, 1000000u, &us) &&
	    h->microseconds < 1ull << 40)
		wall = (int64_t)((us + h->microseconds) * 1000);
	in->has_wall = wall != 0;
	in->clock_name = "wall";
	if (in->decoding->clock == CLOCK_RAW || !in->has_wall) {
		in->clock_name = "tsc";
		if (lttng_clock_init(&l->clock, h, 0, 0))
			goto no_rate;
		if (in->has_wall)
			in->wall = wall - lttng_clock_slow(&l->clock, h->start_tsc);
	} else if (lttng_clock_init(&l->clock, h, h->start_tsc, wall)) {
		goto no_rate;
	}
	return 0;
no_rate:
	/* without a rate, times are ticks */
	input_damage(in, in->name, NO_OFFSET,
		     "the trace does not record the length of its clock's tick: 1 ns is assumed");
	in->has_wall = false;
	in->wall = 0;
	in->clock_name = "tsc";
	l->header.frequency = 1000000000;
	l->header.scale = 1;
	return lttng_clock_init(&l->clock, h, 0, 0);
}

static int lttng_open(struct input *in, struct error *e)
{
	struct lttng *l = calloc(1, sizeof *l);

	in->state = l;
	if (!l)
		return error_no_memory(e);
	l->input = in;
	l->w = in->decoding->writer;
	/* never NULL from here on */
	if (buffer_reserve(&l->tail, 4096))
		return error_no_memory(e);
	if (tree_damage(in->tree, e))
		input_damage_error(in, e);
	e->what[0] = '\0';
	return open_trace(l, e);
}

static uint64_t lttng_fingerprint(const struct input *in)
{
	const struct lttng *l = in->state;
	const struct lttng_header *h = &l->header;
	uint64_t key[4] = {h->start_tsc, h->seconds, h->microseconds, h->frequency};
	uint64_t id = hash_bytes(key, sizeof key, 0);

	for (size_t i = 0; i < l->nfiles; i++)
		id = hash_bytes(l->files[i].member, strlen(l->files[i].member), id);
	return in->member ? hash_bytes(in->member, strlen(in->member), id) : id;
}

static int lttng_info(struct input *in, struct trace_info *info, struct error *e)
{
	static const char *const flights[] = {"no", "all channels but the metadata",
					      "the cpu channel"};
	struct lttng *l = in->state;
	const struct lttng_header *h = &l->header;
	uint64_t bytes = 0, cpus = 0, markers = 0;
	char text[32];

	(void)e;
	fact_text(info, "format", "lttng");
	snprintf(text, sizeof text, "%u.%u", h->major, h->minor);
	fact_text(info, "version", text);
	fact_text(info, "byte order", h->big ? "big-endian" : "little-endian");
	fact_number(info, "word size", h->word_size);
	fact_number(info, "alignment", h->alignment);
	if (l->old) {
		fact_text(info, "heartbeat", h->heartbeat ? "yes" : "no");
		fact_text(info, "flight recorder", flights[h->flight < 3 ? h->flight : 0]);
	}
	fact_number(info, "clock rate", lttng_clock_hertz(h));
	fact_number(info, "start TSC", h->start_tsc);
	snprintf(text, sizeof text, "%" PRIu64 ".%06" PRIu64, h->seconds, h->microseconds);
	fact_text(info, "start time", text);
	for (size_t i = 0; i < l->ncpus; i++)
		cpus += l->cpus[i] != NULL;
	fact_number(info, "cpus", cpus);
	fact_number(info, "tracefiles", l->nfiles);
	for (size_t i = 0; i < l->nfiles; i++)
		bytes += tree_size(in->tree, l->files[i].member);
	fact_number(info, "bytes", bytes);
	for (size_t i = 0; i < l->nchannels; i++)
		for (size_t k = 0; k < l->channels[i].size; k++)
			markers += l->channels[i].markers[k] != NULL;
	fact_number(info, "markers", markers);
	return 0;
}

/* --- beginning --- */

static int declare_trace(struct lttng *l)
{
	struct writer *w = l->w;
	const struct lttng_header *h = &l->header;
	struct input *in = l->input;
	char text[512];
	int n;

	l->source = writer_source(w, &(struct source_entry){writer_text(w, "lttng"),
							    writer_text(w, in->name), h->word_size,
							    h->big});
	l->clock_id = writer_clock(
		w,
		&(struct clock_entry){writer_text(w, in->clock_name),
				      (in->has_wall ? CLOCK_HAS_WALL : 0) |
					      (!strcmp(in->clock_name, "wall") ? CLOCK_IS_WALL : 0),
				      in->wall});
	/* the conversion of TSCs to times, for programs that write the trace again: start_freq /
	   freq_scale ticks per second, the meaning in 2.3, in all versions */
	n = snprintf(text, sizeof text,
		     "version %u.%u\nstart_freq %" PRIu64 "\nfreq_scale %" PRIu64
		     "\nstart_tsc %" PRIu64 "\nstart_time_sec %" PRIu64 "\nstart_time_usec %" PRIu64
		     "\n",
		     h->major, h->minor, l->clock.denominator, l->clock.numerator / 1000000000,
		     h->start_tsc, h->seconds, h->microseconds);
	if (writer_meta(w, l->source, "lttng.trace", text, (size_t)n))
		return -1;
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_file *f = &l->files[i];

		f->buffer = writer_string(w, f->member, f->base);
	}
	return w->out_of_memory ? -1 : 0;
}

/* Declare the markers that the metadata announce, except those whose layout depends on an event. */
static int lttng_announce_types(struct lttng *l)
{
	for (size_t i = 0; i < l->nchannels; i++)
		for (size_t k = 0; k < l->channels[i].size; k++) {
			struct lttng_marker *m = lttng_marker(l, &l->channels[i], (uint32_t)k);

			if (!m || (l->old && m->has_eight))
				continue;
			if (lttng_marker_declare(l, m) ||
			    row_filter_announce(l->input->decoding->row_filter, m->type, 0))
				return -1;
		}
	return 0;
}

static int decode_lttng_begin(struct input *in, struct error *e)
{
	struct lttng *l = in->state;
	struct decoding *d = in->decoding;
	int64_t first;

	if (merge_choose_clock(in, e))
		return -1;
	l->shift = in->shift;
	if (declare_trace(l) || (!d->times_only && lttng_prescan(l)))
		return -1;
	l->begun = true;
	if (lttng_announce_types(l))
		return -1;
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_file *f = &l->files[i];

		if (in->member && strcmp(in->member, f->member))
			continue;
		f->done = false;
		if (lttng_file_open(l, f, f->member, l->nfiles))
			return -1;
		if (!f->done)
			l->heap[l->nheap++] = f;
	}
	for (size_t i = l->nheap; i--;)
		lttng_sift_down(l, i);
	lttng_set_next(l);
	if (!l->nheap)
		return 0;
	first = lttng_clock_ns(&l->clock, l->heap[0]->next);
	return merge_first(in, first < 0 ? 0 : (uint64_t)first, e);
}

static void lttng_close(struct input *in)
{
	struct lttng *l = in->state;

	for (size_t i = 0; i < l->nfiles; i++)
		window_close(&l->files[i].window);
	free(l->files);
	free(l->heap);
	lttng_markers_free(l);
	lttng_state_free(l);
	buffer_free(&l->tail);
	free(l);
	in->state = NULL;
}

const struct decoder decoder_lttng = {
	.name = "lttng",
	.in_order = true,
	.raw_clock = true,
	.probe = lttng_probe,
	.open = lttng_open,
	.fingerprint = lttng_fingerprint,
	.info = lttng_info,
	.begin = decode_lttng_begin,
	.late = lttng_skip_late,
	.run = lttng_run,
	.close = lttng_close,
};
