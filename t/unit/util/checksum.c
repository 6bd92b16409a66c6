/* The checksum of long texts is zlib's, wherever they begin and end. */
#include "common/util/hash.h"

#include <stdlib.h>
#include <zlib.h>

#include "t/unit/tap.h"

enum { SIZE = 70000 };

int main(void)
{
	uint8_t *data = malloc(SIZE);
	uint32_t x = 1, wrong = 0;

	for (int i = 0; i < SIZE; i++) {
		x = x * 1664525 + 1013904223;
		data[i] = (uint8_t)(x >> 24);
	}
	for (size_t n = 0; n < 3000; n++)
		wrong += checksum(0, data + n % 37, n) != crc32(0, data + n % 37, (unsigned)n);
	ok(!wrong, "all sizes");
	for (unsigned n = SIZE - 300; n < SIZE; n++)
		wrong += checksum(0, data, n) != crc32(0, data, n);
	ok(!wrong, "blocks");
	for (unsigned n = 900; n < 1300; n++)
		wrong += checksum(checksum(0, data, n), data + n, SIZE - n) != crc32(0, data, SIZE);
	ok(!wrong, "in two parts");
	for (size_t i = 0; i < SIZE; i += 997) {
		uint32_t before = checksum(0, data, SIZE);

		data[i] ^= (uint8_t)(1 << i % 8);
		wrong += checksum(0, data, SIZE) == before;
	}
	ok(!wrong, "a flipped bit is found");
	free(data);
	return done();
}
