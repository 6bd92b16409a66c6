/*
 * stacks.c - call chains as stacks of the stream
 *
 * A chain has its innermost frame first. Marks between the addresses tell whose they are.
 */
#include "cmd/trdecode/perf/callers.h"
#include "cmd/trdecode/perf/jit.h"
#include "cmd/trdecode/perf/perf.h"

enum { PARTS = 16 }; /* the kernel writes at most 8 marks */

/* Addresses [begin, end) of a chain. */
struct chain_part {
	uint64_t begin, end;
	unsigned mode;
};

static enum perf_mode mode_of(uint64_t mark)
{
	switch (mark) {
	case PERF_CONTEXT_KERNEL: return PERF_MODE_KERNEL;
	case PERF_CONTEXT_USER: return PERF_MODE_USER;
	case PERF_CONTEXT_HV: return PERF_MODE_HYPERVISOR;
	default: return PERF_MODE_UNKNOWN;
	}
}

/* Split a chain at its marks. Returns the number of parts; -1: a mark is damaged. */
static int split_chain(const struct perf *p, const uint8_t *chain, uint64_t n, unsigned mode,
		       struct chain_part *parts)
{
	int count = 0;

	parts[0] = (struct chain_part){.mode = mode};
	for (uint64_t i = 0; i < n; i++) {
		uint64_t mark = perf_u64(p, chain + 8 * i);

		if (__builtin_expect(mark < PERF_CONTEXT_MOST, 1))
			continue;
		parts[count++].end = i;
		if (count == PARTS)
			return -1;
		/* the user's part is in a record of its own, whose number follows */
		if (mark == PERF_CONTEXT_USER_DEFERRED)
			return count;
		/* perf too refuses the chains of guests */
		if (mode_of(mark) == PERF_MODE_UNKNOWN)
			return -1;
		parts[count] = (struct chain_part){.begin = i + 1, .mode = mode_of(mark)};
	}
	parts[count++].end = n;
	return count;
}

/* Get the mappings of a process at the time of the sample. NULL when out of memory. */
static struct perf_maps *user_maps(struct perf *p, struct perf_process *process)
{
	if (!perf_process_maps(&p->spaces, process) ||
	    (process->dump && perf_jit_advance(p->spaces.jit, process->dump, p->time, &p->spaces,
					       &process->maps, process->pid)))
		return NULL;
	return process->maps;
}

/* Get the mappings that addresses of a mode are in, and their number. Returns false when out of
 * memory. */
static bool maps_of(struct perf *p, struct perf_thread *t, unsigned mode, struct perf_maps **m)
{
	*m = NULL;
	if (mode == PERF_MODE_KERNEL)
		*m = p->spaces.kernel;
	else if (mode == PERF_MODE_USER)
		*m = user_maps(p, t->process);
	return *m || (mode != PERF_MODE_KERNEL && mode != PERF_MODE_USER);
}

/* Return the stack of a frame that the frame of parent calls; 0: out of memory. */
static uint32_t stack_of_frame(struct perf *p, struct perf_maps *m, uint64_t address,
			       uint32_t parent)
{
	uint32_t context = m ? m->context : 0, location;
	uint64_t hash = (address ^ address >> 15) * 0x9e3779b97f4a7c15u + parent * 0x85ebca6bu;
	struct perf_frame *f = &p->frames[(hash >> 20 ^ hash >> 43) % PERF_FRAMES];

	if (__builtin_expect(f->address == address && f->parent == parent &&
				     f->context == context && f->stack,
			     1))
		return f->stack;
	location = perf_maps_location(&p->spaces, m, address);
	/* a new space may have been declared, but the mappings are the same */
	*f = (struct perf_frame){address, parent, context, 0};
	if (location)
		f->stack = writer_stack(p->w, parent, location);
	return f->stack;
}

uint32_t perf_frame_stack(struct perf *p, struct perf_thread *t, uint64_t address, unsigned mode,
			  uint32_t parent, bool *bad)
{
	struct perf_maps *m;
	uint32_t stack = maps_of(p, t, mode, &m) ? stack_of_frame(p, m, address, parent) : 0;

	*bad |= !stack;
	return stack;
}

/* Return the stack of the frames of a chain; 0: it is empty or damaged, or with *bad, out of
 * memory. */
static uint32_t stack_of_frames(struct perf *p, struct perf_thread *t,
				const struct perf_chain *chain, bool *bad)
{
	struct chain_part parts[PARTS + 1];
	int count = split_chain(p, chain->addresses, chain->n, chain->mode, parts);
	uint32_t stack = count < 0 ? 0 : chain->parent;

	while (count-- > 0) {
		struct chain_part *part = &parts[count];
		struct perf_maps *m;

		if (!maps_of(p, t, part->mode, &m)) {
			*bad = true;
			return 0;
		}
		for (uint64_t i = part->end; i-- > part->begin;) {
			stack = stack_of_frame(p, m, perf_u64(p, chain->addresses + 8 * i), stack);
			if (__builtin_expect(!stack, 0)) {
				*bad = true;
				return 0;
			}
		}
	}
	return stack;
}

/* Return the stack of the callers of a chain's innermost frame, and 0 as stack_of_frames. */
static uint32_t stack_of_callers(struct perf *p, struct perf_thread *t,
				 const struct perf_chain *callers, bool *bad)
{
	const struct perf_maps *user =
		t->process->dump ? user_maps(p, t->process) : t->process->maps;
	uint64_t numbers[CALLERS_NUMBERS] = {
		(uint64_t)callers->parent << 32 | callers->mode,
		user ? user->context : 0,
		p->spaces.kernel ? p->spaces.kernel->context : 0,
		callers->n,
	};
	struct callers_digest digest;
	uint32_t stack;

	if (callers->n > CALLERS_MOST)
		return stack_of_frames(p, t, callers, bad);
	digest = callers_digest(p->callers, callers->addresses, callers->n, numbers);
	stack = callers_find(p->callers, digest);
	if (stack)
		return stack;
	stack = stack_of_frames(p, t, callers, bad);
	/* mappings may have begun with a frame: then the digest is not theirs */
	if (stack && t->process->maps == user)
		callers_put(p->callers, digest, stack);
	return stack;
}

uint32_t perf_chain_stack(struct perf *p, struct perf_thread *t, const struct perf_chain *chain,
			  bool *bad)
{
	struct perf_chain callers = *chain;
	uint64_t address = 0, i = 0;

	/* most chains begin with one mark */
	for (; i < 2 && i < chain->n; i++) {
		address = perf_u64(p, chain->addresses + 8 * i);
		if (address < PERF_CONTEXT_MOST)
			break;
		callers.mode = mode_of(address);
	}
	if (i == 2 || i == chain->n || (i && callers.mode == PERF_MODE_UNKNOWN))
		return stack_of_frames(p, t, chain, bad);
	callers.addresses += 8 * (i + 1);
	callers.n -= i + 1;
	if (callers.n) {
		callers.parent = stack_of_callers(p, t, &callers, bad);
		/* damage, or marks without addresses */
		if (!callers.parent)
			return *bad ? 0 : stack_of_frames(p, t, chain, bad);
	}
	return perf_frame_stack(p, t, address, callers.mode, callers.parent, bad);
}

uint32_t perf_user_stack(struct perf *p, struct perf_thread *t, const struct perf_user_state *state,
			 bool *bad)
{
	const uint64_t *addresses;
	struct perf_maps *m;
	uint32_t stack = 0;
	size_t n;

	if (!maps_of(p, t, PERF_MODE_USER, &m)) {
		*bad = true;
		return 0;
	}
	n = perf_unwind(p->unwinder, m, state, &addresses);
	while (n-- && !*bad) {
		stack = stack_of_frame(p, m, addresses[n], stack);
		*bad |= !stack;
	}
	return stack;
}
