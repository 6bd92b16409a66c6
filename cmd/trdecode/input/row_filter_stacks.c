#include "cmd/trdecode/input/row_filter_stacks.h"

#include <stdlib.h>

void row_filter_stacks_free(struct row_filter_stacks *x)
{
	intern_free(&x->keys);
	free(x->calls);
	free(x->numbers[0]);
	free(x->numbers[1]);
	free(x->stacks);
}

/* Number threads and CPUs as trstream(5) defines them under LANE. */
static uint32_t number_of(struct row_filter_stacks *x, const struct writer *w, uint32_t lane,
			  bool per_cpu)
{
	struct lane_entry e;
	bool tid, cpu, pid;

	writer_lane_of(w, lane, &e);
	tid = e.flags & LANE_HAS_TID && !per_cpu;
	cpu = e.flags & LANE_HAS_CPU && (!tid || !e.tid);
	pid = tid && e.flags & LANE_PROCESS_TID;

	const uint32_t key[] = {e.source,
				tid,
				tid ? (uint32_t)e.tid : 0,
				cpu,
				cpu ? (uint32_t)e.cpu : 0,
				pid,
				pid ? (uint32_t)e.pid : 0};

	return intern(&x->keys, key, sizeof key);
}

static struct row_filter_stack *stack_of(struct row_filter_stacks *x, const struct writer *w,
					 uint32_t lane, bool per_cpu)
{
	uint32_t *numbers;
	struct row_filter_stack *stacks;
	uint32_t n;

	if (ARRAY_REACH(x->numbers[per_cpu], x->nnumbers[per_cpu], lane))
		return NULL;
	numbers = x->numbers[per_cpu];
	if (!numbers[lane]) {
		n = number_of(x, w, lane, per_cpu);
		if (n == INTERN_NONE)
			return NULL;
		numbers[lane] = n + 1;
	}
	n = numbers[lane] - 1;
	if (ARRAY_REACH(x->stacks, x->nstacks, n))
		return NULL;
	stacks = x->stacks;
	return &stacks[n];
}

/* Returns what calls of a type are, as x->calls has it; 0: out of memory. */
static uint8_t calls_of(struct row_filter_stacks *x, const struct writer *w, uint32_t type)
{
	uint8_t *calls;
	struct type_entry t;

	if (ARRAY_REACH(x->calls, x->ncalls, type))
		return 0;
	calls = x->calls;
	if (!calls[type]) {
		writer_type_of(w, type, &t);
		calls[type] = t.flags & TYPE_PER_CPU ? 3 : 2;
		if ((t.kind != KIND_ENTER && t.kind != KIND_LEAVE) || t.flags & TYPE_CALL_NUMBER)
			calls[type] = 1;
	}
	return calls[type];
}

int row_filter_stacks_row(struct row_filter_stacks *x, struct writer *w, uint32_t lane,
			  uint32_t type, bool refused)
{
	uint8_t calls = calls_of(x, w, type);
	bool per_cpu = calls == 3;
	struct row_filter_stack *s;

	if (calls == 1)
		return 0;
	s = calls ? stack_of(x, w, lane, per_cpu) : NULL;
	if (!s)
		return error_no_memory(&w->error);
	s->left_out |= refused || x->all;
	s->used |= !refused;
	if (!s->left_out || !s->used || (s->written && s->segment == w->head.sequence))
		return 0;
	s->written = true;
	s->segment = w->head.sequence;
	/* rows before the entry must not move to after it */
	return writer_flush(w) || writer_thread(w,
						&(struct thread_entry){
							.lane = lane,
							.flags = THREAD_LEFT_OUT |
								 (per_cpu ? THREAD_PER_CPU : 0)})
		       ? -1
		       : 0;
}
