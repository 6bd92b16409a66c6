/* Numbers of messages: those that are read 8 bytes at a time against a loop over bytes. */
#include "common/protobuf/protobuf.h"

#include "t/unit/tap.h"

enum { BYTES = 24, TURNS = 200000 };

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Return the bytes of a number, 0 if there is none. */
static size_t read_by_bytes(const uint8_t *at, size_t n, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < n && i < 10; i++) {
		*value |= (uint64_t)(at[i] & 0x7f) << 7 * i;
		if (at[i] < 0x80)
			return i + 1;
	}
	return 0;
}

/* Numbers of all lengths, complete or not, with bytes after them or none. */
static void test_numbers(void)
{
	unsigned lengths[BYTES] = {0};
	uint32_t random = 1;
	bool same = true;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		uint8_t bytes[BYTES];
		unsigned length = next_random(&random) % 12, n = next_random(&random) % BYTES;
		struct protobuf_view v = {bytes, bytes + n};
		uint64_t want, got = 77;
		size_t size;

		for (unsigned i = 0; i < BYTES; i++)
			bytes[i] = (uint8_t)(next_random(&random) | (i < length ? 0x80 : 0));
		size = read_by_bytes(bytes, n, &want);
		if (protobuf_varint(&v, &got))
			same &= size && got == want && v.at == bytes + size;
		else
			same &= !size && got == 77 && v.at == bytes;
		lengths[size]++;
	}
	ok(same, "numbers of all lengths, complete or not");
	for (unsigned i = 0; i <= 10; i++)
		same &= lengths[i] > TURNS / 100;
	ok(same, "each length is tested");
}

/* A field of each wire type, and each cut of it. */
static void test_fields(void)
{
	static const uint8_t fields[][12] = {
		{2, 8, 5}, {9, 17, 1, 2, 3, 4, 5, 6, 7, 8}, {4, 26, 2, 8, 9}, {5, 37, 1, 2, 3, 4}};
	static const uint64_t values[] = {5, 0x0807060504030201, 2, 0x04030201};

	for (unsigned i = 0; i < 4; i++) {
		const uint8_t *at = fields[i] + 1;
		struct protobuf_view v = {at, at + fields[i][0]};
		struct protobuf_field f = {0};
		bool cut = true;

		ok(protobuf_next(&v, &f) == 1 && f.number == i + 1 && f.value == values[i] &&
			   v.at == v.end && !protobuf_next(&v, &f),
		   "a field");
		ok(f.wire == PROTOBUF_LENGTH ? f.bytes.at == at + 2 && f.bytes.end == v.end
					     : !f.bytes.at && !f.bytes.end,
		   "the bytes of a field");
		for (unsigned n = 1; n < fields[i][0]; n++) {
			v = (struct protobuf_view){at, at + n};
			cut &= protobuf_next(&v, &f) == -1 && v.at == at;
		}
		ok(cut, "a field that is cut");
	}
}

int main(void)
{
	test_numbers();
	test_fields();
	return done();
}
