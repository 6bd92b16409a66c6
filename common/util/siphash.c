#include "common/util/siphash.h"

#include <string.h>

#include "common/util/bytes.h"

static uint64_t rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void rounds(uint64_t v[4], unsigned n)
{
	while (n--) {
		v[0] += v[1];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[0] = rotate(v[0], 32);
		v[2] += v[3];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

uint64_t siphash(const struct siphash_key *key, const void *data, size_t n)
{
	uint64_t v[4] = {key->k0 ^ 0x736f6d6570736575, key->k1 ^ 0x646f72616e646f6d,
			 key->k0 ^ 0x6c7967656e657261, key->k1 ^ 0x7465646279746573};
	const uint8_t *p = data;
	uint64_t last = (uint64_t)n << 56;
	size_t left = n;

	for (; left >= 8; left -= 8, p += 8) {
		v[3] ^= get_u64(p);
		rounds(v, 2);
		v[0] ^= get_u64(p);
	}
	for (size_t i = 0; i < left; i++)
		last |= (uint64_t)p[i] << 8 * i;
	v[3] ^= last;
	rounds(v, 2);
	v[0] ^= last;
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct siphash_key siphash_key(const char *text)
{
	const struct siphash_key first = {0, 0}, second = {1, 0};

	return (struct siphash_key){siphash(&first, text, strlen(text)),
				    siphash(&second, text, strlen(text))};
}
