/*
 * rows.c - lanes and locations of kernel text, and the order of its rows
 */
#include <stdlib.h>

#include "cmd/trdecode/ftrace/ftrace.h"
#include "cmd/trdecode/input/merge.h"

static bool is_name(const struct ftrace *f, uint32_t name, struct span s)
{
	return intern_size(&f->names, name) == span_size(s) &&
	       !memcmp(intern_data(&f->names, name), s.at, span_size(s));
}

/* Get the number of the thread of a lane; UINT32_MAX: out of memory. */
static uint32_t thread_of(struct ftrace *f, const struct ftrace_lane *lane)
{
	struct ftrace_declared *d = &f->declared;
	struct {
		uint32_t instance;
		int32_t tid, cpu;
	} key = {lane->instance, lane->tid, lane->tid > 0 ? -1 : lane->cpu};
	uint32_t *number = id_cache_number(&d->threads, &key, sizeof key);

	if (!number)
		return UINT32_MAX;
	if (!*number) {
		if (ARRAY_GROW(d->thread, d->threads_capacity, d->nthreads))
			return UINT32_MAX;
		d->thread[d->nthreads++] = (struct ftrace_thread){0};
		*number = (uint32_t)d->nthreads;
	}
	return *number - 1;
}

/* Declare a lane, or find it. */
static int find_lane(struct ftrace *f, struct ftrace_lane *lane, const struct ftrace_line *l)
{
	struct ftrace_declared *d = &f->declared;
	struct {
		int32_t cpu, tid, tgid;
		uint32_t comm, instance;
	} key;
	uint32_t *id;

	lane->cpu = l->cpu;
	lane->tid = l->tid;
	lane->tgid = l->tgid;
	lane->comm = intern(&f->names, l->comm.at, span_size(l->comm));
	lane->instance = intern(&f->names, l->instance.at, span_size(l->instance));
	if (lane->comm == INTERN_NONE || lane->instance == INTERN_NONE)
		return -1;
	key.cpu = l->cpu;
	key.tid = l->tid;
	key.tgid = l->tgid;
	key.comm = lane->comm;
	key.instance = lane->instance;
	id = id_cache_number(&d->lanes, &key, sizeof key);
	if (!id)
		return -1;
	if (!*id) {
		struct lane_entry e = {
			.source = d->source,
			.clock = d->clock,
			.buffer = writer_string(f->w, l->instance.at, span_size(l->instance)),
			.comm = writer_string(f->w, l->comm.at, span_size(l->comm)),
			.flags = (l->cpu >= 0 ? LANE_HAS_CPU : 0) |
				 (l->tid >= 0 ? LANE_HAS_TID : 0) |
				 (l->tgid >= 0 ? LANE_HAS_PID : 0),
			.cpu = l->cpu,
			.tid = l->tid,
			.pid = l->tgid,
			.ppid = -1};

		*id = writer_lane(f->w, &e);
	}
	lane->lane = *id;
	lane->thread = thread_of(f, lane);
	return lane->lane && lane->thread != UINT32_MAX ? 0 : -1;
}

struct ftrace_lane *ftrace_lane(struct ftrace *f, const struct ftrace_line *l)
{
	uint32_t slot = ((uint32_t)l->tid * 31 + (uint32_t)l->cpu) % FTRACE_LANE_SLOTS;
	struct ftrace_lane *lane = &f->declared.recent[slot];

	/* without these lanes 'trdecode | trstat -g type' of the text of a trace.dat takes 1.16
	 * times the instructions */
	if (!lane->lane || lane->cpu != l->cpu || lane->tid != l->tid || lane->tgid != l->tgid ||
	    !is_name(f, lane->comm, l->comm) || !is_name(f, lane->instance, l->instance)) {
		lane->lane = 0;
		if (find_lane(f, lane, l))
			return NULL;
	}
	return lane;
}

uint32_t ftrace_location(struct ftrace *f, struct span name)
{
	/* apart from functions of the kernel */
	struct {
		const char *at;
		size_t n;
	} part = {name.at, span_size(name)};
	uint32_t number = intern(&f->names, part.at, part.n), *id;
	struct {
		char mark[2];
		uint16_t zero;
		uint32_t number;
	} key = {"|", 0, number};

	if (number == INTERN_NONE)
		return 0;
	id = id_cache_number(&f->declared.locations, &key, sizeof key);
	if (id && !*id)
		*id = writer_location(f->w, &(struct location_entry){
						    .name = writer_string(f->w, part.at, part.n)});
	return id ? *id : 0;
}

struct ftrace_cpu *ftrace_cpu(struct ftrace *f, int32_t cpu)
{
	struct ftrace_declared *d = &f->declared;
	uint32_t *number = id_cache_number(&d->cpus, &cpu, sizeof cpu);

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(d->cpu, d->cpus_capacity, d->ncpus))
			return NULL;
		d->cpu[d->ncpus++] = (struct ftrace_cpu){.tid = -1};
		*number = (uint32_t)d->ncpus;
	}
	return &d->cpu[*number - 1];
}

int ftrace_row_begin(struct ftrace *f, const struct ftrace_line *l)
{
	struct ftrace_lane *lane = ftrace_lane(f, l);
	struct ftrace_row *r = &f->row;

	if (!lane)
		return -1;
	r->time = merge_shifted(l->time, f->input->shift);
	r->lane = lane->lane;
	r->cpu = l->cpu;
	r->type = r->location = r->depth = r->stack = 0;
	r->has_tail = r->instant_text = r->fresh = r->odd = false;
	r->mark = r->goes_on = r->early = false;
	r->variant = 0;
	r->offset = f->offset;
	r->fixed.size = r->tail.size = 0;
	f->stack.wanted = false;
	f->has_row = true;
	return 0;
}

/* --- leaves that wait for their time --- */

static int leave_write(struct ftrace *f, struct ftrace_leave *leave, uint64_t time)
{
	return writer_row_data(f->w, (struct new_row){.time = time,
						      .lane = leave->lane,
						      .type = leave->type,
						      .location = leave->location,
						      .depth = leave->depth,
						      .tail = leave->tail.data,
						      .tail_size = (uint32_t)leave->tail.size,
						      .has_tail = leave->tail.size > 0});
}

static int leave_take(struct ftrace *f, size_t index, uint64_t time)
{
	struct ftrace_leave *leave = f->leaves[index];
	int failed = leave_write(f, leave, leave->time < time ? leave->time : time);

	memmove(f->leaves + index, f->leaves + index + 1,
		(--f->nleaves - index) * sizeof *f->leaves);
	buffer_free(&leave->tail);
	free(leave);
	return failed;
}

int ftrace_leave_later(struct ftrace *f)
{
	struct ftrace_leave *leave = f->leave;
	size_t at;

	if (!leave)
		return 0;
	if (f->nleaves == FTRACE_LEAVES_MOST && leave_take(f, 0, f->leaves[0]->time))
		return -1;
	/* by time */
	for (at = f->nleaves++; at && f->leaves[at - 1]->time > leave->time; at--)
		f->leaves[at] = f->leaves[at - 1];
	f->leaves[at] = leave;
	f->leave = NULL;
	return 0;
}

uint64_t ftrace_leaves_next(const struct ftrace *f)
{
	return f->nleaves ? f->leaves[0]->time : UINT64_MAX;
}

int ftrace_leaves_write(struct ftrace *f, uint64_t time, int32_t cpu)
{
	while (f->nleaves && f->leaves[0]->time <= time)
		if (leave_take(f, 0, time))
			return -1;
	/* the next event of a CPU comes after the leave */
	for (size_t i = 0; i < f->nleaves && time != UINT64_MAX; i++)
		if (f->leaves[i]->cpu == cpu)
			return leave_take(f, i, time);
	return 0;
}

/* --- rows --- */

static int write_lost(struct ftrace *f, uint64_t time)
{
	struct gap g = {.reason = GAP_LOST,
			.unit = GAP_EVENTS,
			.count = f->lost.count,
			.offset = NO_OFFSET};
	struct lane_entry e = {.source = f->declared.source,
			       .clock = f->declared.clock,
			       .flags = LANE_HAS_CPU,
			       .cpu = f->lost.cpu,
			       .ppid = -1};
	uint32_t lane = writer_lane(f->w, &e);

	f->lost.count = 0;
	return lane ? writer_gap(f->w, time, lane, &g) : -1;
}

int ftrace_row_write(struct ftrace *f)
{
	struct ftrace_row *r = &f->row;

	if (f->lost.count && write_lost(f, r->time))
		return -1;
	if (r->stack && writer_use_stack(f->w, r->stack))
		return -1;
	f->has_row = false;
	f->events++;
	return writer_row_data(f->w, (struct new_row){.time = r->time,
						      .lane = r->lane,
						      .type = r->type,
						      .location = r->location,
						      .depth = r->depth,
						      .fixed = r->fixed.data,
						      .fixed_size = (uint32_t)r->fixed.size,
						      .tail = r->tail.data,
						      .tail_size = (uint32_t)r->tail.size,
						      .has_tail = r->has_tail});
}
