/* links: cmd/trdecode */
/* What can be had of a raw snappy block that is cut or damaged. */
#include <snappy-c.h>
#include <stdlib.h>

#include "cmd/trdecode/input_tree.h"
#include "t/unit/tap.h"

enum { SIZE = 50000 };

int main(void)
{
	static char plain[SIZE], packed[2 * SIZE], out[SIZE];
	size_t n = sizeof packed, got, last = 0;
	bool whole, good = true;
	uint32_t length;

	for (int i = 0; i < SIZE; i++)
		plain[i] = (char)(i % 97 < 60 ? i % 7 : i * 31 >> 3);
	ok(snappy_compress(plain, SIZE, packed, &n) == SNAPPY_OK, "packed");
	ok(snappy_length((uint8_t *)packed, n, &length) && length == SIZE, "its length");
	got = snappy_part((uint8_t *)packed, n, (uint8_t *)out, SIZE, &whole);
	ok(got == SIZE && whole && !memcmp(out, plain, SIZE), "all of it");
	for (size_t cut = 0; cut < n; cut++) {
		got = snappy_part((uint8_t *)packed, cut, (uint8_t *)out, SIZE, &whole);
		good &= !whole && got >= last && !memcmp(out, plain, got);
		last = got;
	}
	ok(good, "cut at every byte: as much as there is, and that is right");
	good = true;
	for (size_t i = 0; i < n; i++) {
		packed[i] ^= 0x55;
		got = snappy_part((uint8_t *)packed, n, (uint8_t *)out, SIZE, &whole);
		good &= got <= SIZE;
		packed[i] ^= 0x55;
	}
	ok(good, "any byte changed: never more than there is room for");
	return done();
}
