#include "cmd/trdecode/perf/known_stacks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/pool.h"

enum { LOG_LEAST = 12, LOG_MOST = 20, RANDOM_MOST = 256 };

static size_t size_of(const struct known_stacks *k)
{
	return (size_t)1 << (64 - k->shift);
}

struct known_stacks *known_stacks_new(void)
{
	struct known_stacks *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->shift = 64 - LOG_LEAST;
	k->slots = huge_zeroed(size_of(k) * sizeof *k->slots);
	for (size_t at = 0, n; k->slots && at < sizeof k->key; at += n) {
		n = sizeof k->key - at < RANDOM_MOST ? sizeof k->key - at : RANDOM_MOST;
		if (getentropy((char *)&k->key + at, n)) {
			free(k->slots);
			k->slots = NULL;
		}
	}
	if (!k->slots) {
		free(k);
		return NULL;
	}
	return k;
}

void known_stacks_free(struct known_stacks *k)
{
	if (k)
		free(k->slots);
	free(k);
}

/* Put a stack that is not there. */
static void insert(struct known_stacks *k, struct known_stack s)
{
	size_t at = s.digest >> k->shift;

	while (k->slots[at].stack)
		at = (at + 1) & (size_of(k) - 1);
	k->slots[at] = s;
}

/* Double the number of slots. If there are enough, or no more memory, empty them instead. */
static void make_room(struct known_stacks *k)
{
	size_t old = size_of(k);
	struct known_stack *slots = k->slots, *more = NULL;

	if (k->shift > 64 - LOG_MOST)
		more = huge_zeroed(2 * old * sizeof *more);
	if (!more) {
		memset(slots, 0, old * sizeof *slots);
		k->count = 0;
		return;
	}
	k->slots = more;
	k->shift--;
	for (size_t i = 0; i < old; i++)
		if (slots[i].stack)
			insert(k, slots[i]);
	free(slots);
}

void known_stacks_put(struct known_stacks *k, uint64_t digest, uint32_t stack)
{
	if (k->count >= size_of(k) / 4 * 3)
		make_room(k);
	insert(k, (struct known_stack){digest, stack});
	k->count++;
}
