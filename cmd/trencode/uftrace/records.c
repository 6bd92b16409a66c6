/*
 * records.c - write rows as records of the files of tasks, perf and the kernel
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/trencode/uftrace/private.h"
#include "common/formats/perf.h"
#include "common/calls/calls.h"

static uint32_t *task_of(struct uftrace_output *s, const struct lane *lane, struct error *e)
{
	uint32_t *tasks;

	if (ARRAY_REACH(s->tasks, s->ntasks, lane->thread)) {
		error_no_memory(e);
		return NULL;
	}
	tasks = s->tasks;
	return &tasks[lane->thread];
}

static int open_task(struct uftrace_output *s, uint32_t *task, const struct lane *lane,
		     struct error *e)
{
	char name[32];
	int n = snprintf(name, sizeof(name), "%" PRId32 ".dat", lane->tid);
	uint32_t number;

	if (tree_output_member(&s->tree, name, (size_t)n, &number, e))
		return -1;
	*task = number + 1;
	return 0;
}

/*
 * Find the depth of a call in a filtered stream: among the calls that are left. Returns also 1: a
 * leave without its enter, which uftrace would show as a call.
 */
static int filtered_depth(struct uftrace_output *s, const struct event *ev, uint32_t *depth,
			  struct error *e)
{
	struct call done;
	enum calls_result got;

	if (!s->calls)
		return 0;
	got = calls_next(s->calls, ev, &done);
	if (s->calls->out_of_memory)
		return error_no_memory(e);
	if (!dictionary_left_out(s->calls->dictionary, ev->lane->thread))
		return 0;
	*depth = calls_depth(s->calls, ev);
	return got == CALLS_NONE;
}

/* --- records --- */

static int put_record(struct uftrace_output *s, uint32_t *task, const struct event *ev,
		      struct uftrace_record *r, struct error *e)
{
	uint8_t bytes[UFTRACE_RECORD_SIZE];

	if (!*task && open_task(s, task, ev->lane, e))
		return -1;
	uftrace_record_pack(bytes, s->machine.swap, r);
	if (tree_output_put(&s->tree, *task - 1, bytes, sizeof(bytes), e))
		return -1;
	if (!r->more || !s->scratch.size)
		return 0;
	return tree_output_put(&s->tree, *task - 1, s->scratch.data, s->scratch.size, e);
}

static int call_record(struct encoding *en, uint32_t *task, const struct event *ev, struct error *e)
{
	struct uftrace_output *s = en->state;
	const struct location *location = dictionary_location(en->dictionary, ev->location);
	struct uftrace_record r = {
		.time = ev->time,
		.addr = location ? location->address : 0,
		.type = ev->type->kind == KIND_LEAVE ? UFTRACE_EXIT : UFTRACE_ENTRY,
		.more = ev->type->flags & TYPE_VALUES,
	};
	uint32_t depth = ev->depth;
	int got;

	if (s->filtered) {
		got = filtered_depth(s, ev, &depth, e);
		if (got) {
			s->unmatched += got > 0;
			return got < 0 ? -1 : 0;
		}
	}
	r.depth = (uint16_t)depth;
	if (r.more) {
		s->scratch.size = 0;
		got = uftrace_pack_values(&s->scratch, &s->machine, ev->tail, ev->tail_size);
		if (got < 0)
			return error_no_memory(e);
		r.more = !got;
		s->unfit += (uint64_t)got;
	}
	return put_record(s, task, ev, &r, e);
}

static int event_record(struct uftrace_output *s, uint32_t *task, const struct event *ev,
			struct error *e)
{
	struct uftrace_record r = {
		.time = ev->time,
		.addr = ev->type->native,
		.type = UFTRACE_EVENT,
		.depth = (uint16_t)ev->depth,
		.more = uftrace_event_has_data(ev->type),
	};
	int got = 0;

	s->scratch.size = 0;
	if (r.more)
		got = uftrace_pack_event(&s->scratch, &s->machine, ev);
	if (got < 0)
		return error_no_memory(e);
	if (got) {
		s->unfit++;
		return 0;
	}
	return put_record(s, task, ev, &r, e);
}

static int gap_record(struct uftrace_output *s, uint32_t *task, const struct event *ev,
		      struct error *e)
{
	struct uftrace_record r = {.type = UFTRACE_LOST};
	bool thread = ev->lane->flags & LANE_HAS_TID;
	struct gap_row g;
	int got = 1;

	if (gap_get(ev, &g) && g.reason == GAP_LOST) {
		/* 0: unknown number; uftrace does not show it, but also clears its stack */
		r.addr = g.count > UFTRACE_ADDR_MASK ? 0 : g.count;
		got = thread ? put_record(s, task, ev, &r, e)
			     : kernel_output_gap(&s->kernel, ev, g.count, e);
	}
	s->damage += got > 0;
	return got < 0 ? -1 : 0;
}

static int kernel_record(struct uftrace_output *s, uint32_t *task, const struct event *ev,
			 struct error *e)
{
	int got;

	/* uftrace reads the kernel's records only of tasks that have a file, even an empty one; the
	 * thread 0 is no task */
	if (!*task && ev->lane->tid && open_task(s, task, ev->lane, e))
		return -1;
	got = kernel_output_event(&s->kernel, ev, e);
	s->unfit += got > 0;
	return got < 0 ? -1 : 0;
}

static int perf_record(struct encoding *en, uint32_t *task, const struct event *ev,
		       enum uftrace_plan plan, struct error *e)
{
	struct uftrace_output *s = en->state;
	const struct field *f = field_by_role(ev->type, ROLE_CPU);
	const struct clip *clip = en->options->clip;
	/* uftrace reads records of perf after those of tasks at the same time, and would end the
	   task's calls before */
	bool cut = clip && clip->closing && ev->time;
	struct field_value cpu = {.form = FORM_NONE};
	uint32_t number;
	int got;

	if (f)
		field_get(ev, f, 0, &cpu);
	s->scratch.size = 0;
	if (plan == PLAN_SWITCH)
		got = uftrace_pack_switch(&s->scratch, &s->machine, ev, ev->time - cut);
	else if (plan == PLAN_TASK_NAME)
		got = uftrace_pack_comm(&s->scratch, &s->machine, ev);
	else
		got = uftrace_pack_life(&s->scratch, &s->machine, ev,
					plan == PLAN_TASK_NEW ? PERF_RECORD_FORK
							      : PERF_RECORD_EXIT);
	if (got < 0)
		return error_no_memory(e);
	if (got || cpu.form == FORM_NONE) {
		s->unfit++;
		return 0;
	}
	/* uftrace reads perf's records only of tasks that have a file, even an empty one */
	if (!*task && open_task(s, task, ev->lane, e))
		return -1;
	if (uftrace_perf_member(s, (uint32_t)cpu.u, &number, e))
		return -1;
	return tree_output_put(&s->tree, number, s->scratch.data, s->scratch.size, e);
}

static int extern_line(struct uftrace_output *s, const struct event *ev, struct error *e)
{
	const struct field *f = field_by_role(ev->type, ROLE_MESSAGE);
	struct field_value text = {.form = FORM_NONE};
	uint32_t number;

	if (s->external)
		return 0;
	if (f)
		field_get(ev, f, 0, &text);
	if (text.form != FORM_TEXT || memchr(text.text, '\n', text.size)) {
		s->unfit++;
		return 0;
	}
	s->scratch.size = 0;
	if (buffer_printf(&s->scratch, "%" PRIu64 ".%09" PRIu64 " ", ev->time / 1000000000,
			  ev->time % 1000000000) ||
	    buffer_append(&s->scratch, text.text, text.size) || buffer_u8(&s->scratch, '\n'))
		return error_no_memory(e);
	if (tree_output_member(&s->tree, "extern.dat", 10, &number, e))
		return -1;
	return tree_output_put(&s->tree, number, s->scratch.data, s->scratch.size, e);
}

/* --- rows --- */

static enum uftrace_plan plan_instant(const struct type *t)
{
	switch (t->native) {
	case UFTRACE_EV_TASK_NEW: return PLAN_TASK_NEW;
	case UFTRACE_EV_TASK_EXIT: return PLAN_TASK_EXIT;
	case UFTRACE_EV_TASK_COMM: return PLAN_TASK_NAME;
	case UFTRACE_EV_EXTERN: return PLAN_EXTERN;
	}
	return PLAN_EVENT;
}

static enum uftrace_plan plan_of(const struct type *t)
{
	if (kernel_output_type(t))
		return PLAN_KERNEL;
	switch (t->kind) {
	case KIND_ENTER:
	case KIND_LEAVE: return t->flags & TYPE_INNER ? PLAN_SWITCH : PLAN_CALL;
	case KIND_INSTANT: return plan_instant(t);
	case KIND_GAP: return PLAN_GAP;
	}
	return PLAN_NONE;
}

static int decide_plan(struct uftrace_output *s, const struct type *t, struct error *e)
{
	uint8_t *plans;

	if (ARRAY_REACH(s->plans, s->nplans, t->number))
		return error_no_memory(e);
	plans = s->plans;
	plans[t->number] = (uint8_t)plan_of(t);
	return 0;
}

int uftrace_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct uftrace_output *s = en->state;
	uint32_t type = ev->type->number;
	uint32_t *task;
	enum uftrace_plan plan;

	if (ev->lane->source != s->source && uftrace_take_source(s, ev->lane->source, e))
		return -1;
	if (!s->begun && uftrace_read_info(s, e))
		return -1;
	if ((type >= s->nplans || !s->plans[type]) && decide_plan(s, ev->type, e))
		return -1;
	plan = s->plans[type];
	if (!(ev->lane->flags & LANE_HAS_TID) && plan != PLAN_EXTERN && plan != PLAN_GAP)
		plan = PLAN_NONE;
	task = task_of(s, ev->lane, e);
	if (!task)
		return -1;
	switch (plan) {
	case PLAN_CALL: return call_record(en, task, ev, e);
	case PLAN_EVENT: return event_record(s, task, ev, e);
	case PLAN_KERNEL: return kernel_record(s, task, ev, e);
	case PLAN_GAP: return gap_record(s, task, ev, e);
	case PLAN_EXTERN: return extern_line(s, ev, e);
	case PLAN_SWITCH:
	case PLAN_TASK_NEW:
	case PLAN_TASK_EXIT:
	case PLAN_TASK_NAME: return perf_record(en, task, ev, plan, e);
	default: s->unfit++; return 0;
	}
}
