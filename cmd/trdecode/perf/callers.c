#include "cmd/trdecode/perf/callers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/u128.h"

enum { ENTRIES = 1 << 16, WORDS = CALLERS_NUMBERS + CALLERS_MOST, RANDOM_MOST = 256 };

struct callers {
	uint64_t key[WORDS];
	struct entry {
		struct callers_digest digest;
		uint32_t stack; /* 0: free */
	} entries[ENTRIES];
};

struct callers *callers_new(void)
{
	struct callers *c = calloc(1, sizeof *c);

	for (size_t at = 0; c && at < sizeof c->key; at += RANDOM_MOST)
		if (getentropy((char *)c->key + at, RANDOM_MOST)) {
			free(c);
			return NULL;
		}
	return c;
}

void callers_free(struct callers *c)
{
	free(c);
}

struct callers_digest callers_digest(const struct callers *c, const uint8_t *addresses, size_t n,
				     const uint64_t numbers[CALLERS_NUMBERS])
{
	const uint64_t *key = c->key;
	uint128 sum = 0;
	uint64_t two[2] = {0};

	for (size_t i = 0; i < CALLERS_NUMBERS; i += 2, key += 2)
		sum += (uint128)(numbers[i] + key[0]) * (numbers[i + 1] + key[1]);
	for (; n >= 2; n -= 2, addresses += sizeof two, key += 2) {
		memcpy(two, addresses, sizeof two);
		sum += (uint128)(two[0] + key[0]) * (two[1] + key[1]);
	}
	if (n) {
		memcpy(two, addresses, sizeof *two);
		sum += (uint128)(two[0] + key[0]) * key[1];
	}
	return (struct callers_digest){(uint64_t)sum, (uint64_t)(sum >> 64)};
}

/* The low bits of a sum of products are not even: mix both halves. */
static size_t entry_of(struct callers_digest d)
{
	return ((d.low ^ d.high) * 0x9e3779b97f4a7c15u >> 48) % ENTRIES;
}

uint32_t callers_find(const struct callers *c, struct callers_digest digest)
{
	const struct entry *e = &c->entries[entry_of(digest)];

	return e->digest.low == digest.low && e->digest.high == digest.high ? e->stack : 0;
}

void callers_put(struct callers *c, struct callers_digest digest, uint32_t stack)
{
	c->entries[entry_of(digest)] = (struct entry){digest, stack};
}
