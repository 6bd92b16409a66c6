/* buffer.h, bytes.h: bytes that grow, and numbers in them. */
#include "common/util/buffer.h"

#include <stdlib.h>

#include "t/unit/tap.h"

static void test_bytes(void)
{
	uint8_t p[8] = {1, 2, 3, 4, 5, 6, 7, 0x88};

	is_u64(get_u16(p), 0x0201, "u16");
	is_u64(get_u32(p), 0x04030201, "u32");
	is_u64(get_u64(p), 0x8807060504030201, "u64");
	is_u64(get_uint(p, 1, true), 1, "one byte");
	is_u64(get_uint(p, 2, true), 0x0102, "big-endian");
	is_u64(get_uint(p, 4, true), 0x01020304, "of 4");
	is_u64(get_uint(p, 8, true), 0x0102030405060788, "of 8");
	is_u64(get_uint(p, 8, false), get_u64(p), "little-endian of 8");
	is_u64(get_uint(p, 3, false), 0, "3 is no size");
	is_u64((uint64_t)sign_extend(0xff, 1), UINT64_MAX, "sign of one byte");
	is_u64((uint64_t)sign_extend(0x7f, 1), 0x7f, "no sign");
	is_u64((uint64_t)sign_extend(0x800000, 3), (uint64_t)-0x800000, "sign of three");
	is_u64((uint64_t)sign_extend(UINT64_MAX, 8), UINT64_MAX, "sign of eight");
	put_u64(p, 0x1122334455667788);
	is_u64(get_u32(p + 4), 0x11223344, "put");
	is_u64(align_up(0, 8), 0, "nothing to align");
	is_u64(align_up(9, 8), 16, "aligned");
	is_u64(align_up(UINT32_MAX, 4), 1ull << 32, "beyond 32 bits");
	ok(hash_bytes("abc", 3, 0) != hash_bytes("abd", 3, 0), "hashes differ");
	ok(hash_bytes("abc", 3, 0) != hash_bytes("abc", 3, 1), "by their seed too");
	ok(hash_bytes("\0", 1, 0) != hash_bytes("\0\0", 2, 0), "and by length");
	/* META contains it */
	is_u64(hash_bytes("what a source says", 18, 0), hash_bytes("what a source says", 18, 0),
	       "the same for the same");
}

/* Beyond a MiB in a file, with the same bytes. */
static void test_spills(void)
{
	enum { N = 3 << 20 };
	struct buffer b = {.spills = true}, copy = {.spills = true};
	bool same = true;

	for (uint32_t i = 0; i < N / 4; i++)
		same &= !buffer_u32(&b, i);
	ok(same && b.file && b.size == N, "a large buffer is in a file");
	buffer_rest(&b);
	ok(!buffer_append_from(&copy, &b, 4, N - 4) && !buffer_append(&copy, b.data, N) &&
		   copy.file,
	   "another is made of it");
	for (uint32_t i = 0; i < N / 4; i++)
		same &= get_u32(b.data + 4 * (size_t)i) == i;
	same &= !memcmp(copy.data, b.data + 4, N - 4) && !memcmp(copy.data + N - 4, b.data, N);
	ok(same, "the bytes stay");
	buffer_clear(&b);
	ok(!b.file && !b.size && b.spills && !buffer_u8(&b, 1) && !b.file, "it begins in memory");
	buffer_free(&b);
	buffer_free(&copy);
}

int main(void)
{
	struct buffer b = {0};
	size_t capacity = 0;
	uint32_t *array = NULL;
	bool same = true;

	ok(!buffer_append(&b, NULL, 0) && !b.size, "nothing appended");
	for (unsigned i = 0; i < 10000; i++)
		same = same && !buffer_u32(&b, i);
	for (unsigned i = 0; i < 10000; i++)
		same = same && get_u32(b.data + 4 * i) == i;
	ok(same && b.size == 40000, "grows and keeps");
	ok(b.capacity < 4 * b.size, "not too far");
	b.size = 0;
	ok(!buffer_u8(&b, 7) && !buffer_align(&b, 8) && b.size == 8 && b.data[7] == 0, "aligned");
	ok(!buffer_align(&b, 8) && b.size == 8, "aligned already");
	ok(!buffer_u64(&b, UINT64_MAX) && b.size == 16, "u64");
	b.size = 0;
	ok(!buffer_printf(&b, "%s %d", "text", 5) && b.size == 6 && !memcmp(b.data, "text 5", 6),
	   "printf");
	ok(buffer_reserve(&b, SIZE_MAX) && b.size == 6, "what is impossible changes nothing");
	ok(buffer_append(&b, "", SIZE_MAX - 3) && b.size == 6, "nor does appending it");
	buffer_free(&b);
	ok(!b.data && !b.capacity, "free");
	for (size_t i = 0; i < 1000 && !ARRAY_GROW(array, capacity, i); i++)
		array[i] = (uint32_t)i;
	ok(capacity >= 1000 && array[999] == 999 && array[0] == 0, "an array grows");
	capacity = SIZE_MAX / 2;
	ok(ARRAY_GROW(array, capacity, SIZE_MAX / 2) && array[999] == 999,
	   "not beyond memory, and the array is unchanged");
	free(array);
	array = NULL;
	capacity = 0;
	ok(!ARRAY_REACH(array, capacity, 100) && capacity > 100 && !array[100],
	   "an array reaches an element, which is zero");
	array[100] = 7;
	ok(!ARRAY_REACH(array, capacity, 1000) && array[100] == 7 && !array[1000],
	   "the elements before are unchanged");
	ok(ARRAY_REACH(array, capacity, SIZE_MAX / 2) && array[100] == 7, "not beyond memory");
	free(array);
	test_bytes();
	test_spills();
	return done();
}
