/*
 * stacks.c - call chains as stacks of the stream
 *
 * A chain has its innermost frame first. Marks between the addresses tell whose they are.
 */
#include "cmd/trdecode/perf/jit.h"
#include "cmd/trdecode/perf/known_stacks.h"
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

/* Find the next mark in a chain of n addresses, from i on; n: there is none. */
static inline __attribute__((always_inline)) uint64_t find_mark(const uint8_t *chain, uint64_t i,
								uint64_t n, bool big_endian)
{
	while (i < n && get_uint(chain + 8 * i, 8, big_endian) < PERF_CONTEXT_MOST)
		i++;
	return i;
}

/* Split a chain at its marks. Returns the number of parts; -1: a mark is damaged. */
static int split_chain(const struct perf *p, const uint8_t *chain, uint64_t n, unsigned mode,
		       struct chain_part *parts)
{
	int count = 0;
	uint64_t i = 0;

	parts[0] = (struct chain_part){.mode = mode};
	for (;; i++) {
		uint64_t mark;

		i = p->h.big_endian ? find_mark(chain, i, n, true) : find_mark(chain, i, n, false);
		parts[count++].end = i;
		if (i == n)
			return count;
		if (count == PARTS)
			return -1;
		mark = perf_u64(p, chain + 8 * i);
		/* the user's part is in a record of its own, whose number follows */
		if (mark == PERF_CONTEXT_USER_DEFERRED)
			return count;
		/* perf too refuses the chains of guests */
		if (mode_of(mark) == PERF_MODE_UNKNOWN)
			return -1;
		parts[count] = (struct chain_part){.begin = i + 1, .mode = mode_of(mark)};
	}
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
static bool maps_of(struct perf *p, struct perf_process *process, unsigned mode,
		    struct perf_maps **m)
{
	*m = NULL;
	if (mode == PERF_MODE_KERNEL)
		*m = p->spaces.kernel;
	else if (mode == PERF_MODE_USER)
		*m = user_maps(p, process);
	return *m || (mode != PERF_MODE_KERNEL && mode != PERF_MODE_USER);
}

/* --- paths: frames from the outermost one inwards, of which the stack is looked up --- */

struct path {
	struct known_sum at;
	uint128 sums[KNOWN_FRAMES];
	uint64_t addresses[KNOWN_FRAMES];
	struct perf_maps *maps[KNOWN_FRAMES]; /* NULL: in no known address space */
	uint32_t stack;			      /* of the frames before these */
};

static void path_begin(const struct perf *p, struct path *path, uint32_t stack)
{
	path->stack = stack;
	path->at = known_stacks_begin(p->spaces.known, stack);
}

/* Look up the stack of the path. Returns false when out of memory. */
static bool path_stack(struct perf *p, struct path *path)
{
	size_t n = path->at.frames, i = n;
	uint64_t digest, callers = 0;
	uint32_t location;

	for (; i; i--) {
		uint32_t stack;

		digest = i < n ? callers : known_stacks_digest(p->spaces.known, path->sums[i - 1]);
		if (i > 1) {
			callers = known_stacks_digest(p->spaces.known, path->sums[i - 2]);
			__builtin_prefetch(known_stacks_slot(p->spaces.known, callers));
		}
		stack = known_stacks_find(p->spaces.known, digest);
		if (stack) {
			path->stack = stack;
			break;
		}
	}
	for (; i < n; i++) {
		/* a new space may be declared, but the mappings are the same */
		location = perf_maps_location(&p->spaces, path->maps[i], path->addresses[i]);
		path->stack = location ? writer_stack(p->w, path->stack, location) : 0;
		if (!path->stack)
			return false;
		known_stacks_put(p->spaces.known,
				 known_stacks_digest(p->spaces.known, path->sums[i]), path->stack);
	}
	return true;
}

static uint32_t context_of(const struct perf_maps *m)
{
	return m ? m->context : 0;
}

/* Note the mappings of the next frames. A full path notes them when the next frame is added. */
static void path_context(const struct perf *p, struct path *path, const struct perf_maps *m)
{
	if (path->at.frames < KNOWN_FRAMES)
		known_stacks_context(p->spaces.known, &path->at, context_of(m));
}

/* Add a frame. Returns false when out of memory. */
static inline bool path_add(struct perf *p, struct path *path, struct perf_maps *m,
			    uint64_t address)
{
	size_t i = path->at.frames;

	if (__builtin_expect(i == KNOWN_FRAMES, 0)) {
		if (!path_stack(p, path))
			return false;
		path_begin(p, path, path->stack);
		path_context(p, path, m);
		i = 0;
	}
	known_stacks_add(p->spaces.known, &path->at, address);
	path->sums[i] = path->at.sum;
	path->addresses[i] = address;
	path->maps[i] = m;
	return true;
}

uint32_t perf_frame_stack(struct perf *p, struct perf_process *process, uint64_t address,
			  unsigned mode, uint32_t parent, bool *bad)
{
	struct perf_maps *m;
	struct path path;

	path_begin(p, &path, parent);
	if (!maps_of(p, process, mode, &m)) {
		*bad = true;
		return 0;
	}
	path_context(p, &path, m);
	if (!path_add(p, &path, m, address) || !path_stack(p, &path)) {
		*bad = true;
		return 0;
	}
	return path.stack;
}

/* Add n frames, of which the innermost is first. */
static inline __attribute__((always_inline)) void sum_frames(const struct known_stacks *k,
							     struct known_sum *sum,
							     const uint8_t *frames, uint64_t n,
							     bool big_endian)
{
	while (n-- > 0)
		known_stacks_add(k, sum, get_uint(frames + 8 * n, 8, big_endian));
}

bool perf_chain_digest(struct perf *p, struct perf_process *process, const struct perf_chain *chain,
		       uint64_t *digest, bool *bad)
{
	struct chain_part parts[PARTS + 1];
	int count = split_chain(p, chain->addresses, chain->n, chain->mode, parts);
	struct known_sum sum = known_stacks_begin(p->spaces.known, chain->parent);

	while (count-- > 0) {
		const struct chain_part *part = &parts[count];
		const uint8_t *frames = chain->addresses + 8 * part->begin;
		uint64_t n = part->end - part->begin;
		struct perf_maps *m;

		if (!n)
			continue;
		if (n > KNOWN_FRAMES - sum.frames)
			return false;
		if (!maps_of(p, process, part->mode, &m)) {
			*bad = true;
			return false;
		}
		known_stacks_context(p->spaces.known, &sum, context_of(m));
		/* two loops, as a test of the byte order for each frame takes half of the time */
		if (p->h.big_endian)
			sum_frames(p->spaces.known, &sum, frames, n, true);
		else
			sum_frames(p->spaces.known, &sum, frames, n, false);
	}
	*digest = known_stacks_digest(p->spaces.known, sum.sum);
	__builtin_prefetch(known_stacks_slot(p->spaces.known, *digest));
	return sum.frames > 0;
}

uint32_t perf_chain_stack(struct perf *p, struct perf_process *process,
			  const struct perf_chain *chain, bool *bad)
{
	struct chain_part parts[PARTS + 1];
	int count = split_chain(p, chain->addresses, chain->n, chain->mode, parts);
	struct path path;

	if (count < 0)
		return 0;
	path_begin(p, &path, chain->parent);
	while (count-- > 0) {
		struct chain_part *part = &parts[count];
		struct perf_maps *m;

		if (part->begin == part->end)
			continue;
		if (!maps_of(p, process, part->mode, &m)) {
			*bad = true;
			return 0;
		}
		path_context(p, &path, m);
		for (uint64_t i = part->end; i-- > part->begin;)
			if (!path_add(p, &path, m, perf_u64(p, chain->addresses + 8 * i))) {
				*bad = true;
				return 0;
			}
	}
	if (!path_stack(p, &path)) {
		*bad = true;
		return 0;
	}
	return path.stack;
}

uint32_t perf_user_frame(struct perf *p, struct perf_process *process,
			 const struct perf_user_state *state, bool *bad)
{
	uint64_t pc;

	if (!perf_unwind_pc(p->h.arch, state, &pc))
		return 0;
	return perf_frame_stack(p, process, pc, PERF_MODE_USER, 0, bad);
}

uint32_t perf_user_stack(struct perf *p, struct perf_process *process,
			 const struct perf_user_state *state, bool *bad)
{
	const uint64_t *addresses;
	struct perf_maps *m;
	struct path path;
	size_t n;

	if (!maps_of(p, process, PERF_MODE_USER, &m)) {
		*bad = true;
		return 0;
	}
	n = perf_unwind(p->unwinder, m, state, &addresses);
	path_begin(p, &path, 0);
	path_context(p, &path, m);
	while (n-- && !*bad)
		*bad |= !path_add(p, &path, m, addresses[n]);
	*bad |= !*bad && !path_stack(p, &path);
	return *bad ? 0 : path.stack;
}
