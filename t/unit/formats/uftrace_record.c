/* Records of uftrace: a real one, and all fields in both byte orders. */
#include "t/unit/tap.h"

#include "common/formats/uftrace.h"

static void test_real_record(void)
{
	/* from a recording: __cxa_atexit, entry, depth 0 */
	static const uint8_t bytes[] = {0xb7, 0xb3, 0x57, 0x73, 0xe8, 0x00, 0x00, 0x00,
					0x28, 0x00, 0xa0, 0x40, 0xcd, 0x64, 0x30, 0x56};
	const uint16_t one = 1;
	bool swap = !*(const uint8_t *)&one;
	struct uftrace_record r;
	uint8_t back[UFTRACE_RECORD_SIZE];

	ok(uftrace_record_unpack(bytes, swap, &r), "a real record has the magic");
	is_u64(r.time, 998367540151, "its time");
	is_u64(r.addr, 0x563064cd40a0, "its address");
	ok(r.type == UFTRACE_ENTRY && !r.more && r.depth == 0, "type, more and depth");
	uftrace_record_pack(back, swap, &r);
	ok(!memcmp(bytes, back, sizeof(back)), "packing gives the same bytes");
}

static void test_all_fields(void)
{
	struct uftrace_record r = {
		.time = 0x0123456789abcdef,
		.addr = 0xfedcba987654,
		.depth = 1023,
		.type = UFTRACE_EVENT,
		.more = true,
	};
	struct uftrace_record back;
	uint8_t bytes[UFTRACE_RECORD_SIZE];

	for (int swap = 0; swap < 2; swap++) {
		uftrace_record_pack(bytes, swap, &r);
		ok(uftrace_record_unpack(bytes, swap, &back), "magic");
		ok(back.time == r.time && back.addr == r.addr, "time and address");
		ok(back.depth == 1023 && back.type == UFTRACE_EVENT && back.more, "the rest");
		ok(!uftrace_record_unpack(bytes, !swap, &back) || back.time != r.time,
		   "the other byte order differs");
	}
}

static void test_depth_carry(void)
{
	struct uftrace_record r = {.addr = 0x1000, .depth = 1024 + 5, .type = UFTRACE_EXIT};
	struct uftrace_record back;
	uint8_t bytes[UFTRACE_RECORD_SIZE];

	uftrace_record_pack(bytes, false, &r);
	uftrace_record_unpack(bytes, false, &back);
	is_u64(back.depth, 5, "depth beyond 1023 is cut");
	is_u64(back.addr, 0x1001, "and carries into the address");
}

static void test_bare(void)
{
	struct uftrace_record r = {.time = 7, .addr = 0xabcdef, .depth = 1023};
	uint8_t bytes[UFTRACE_RECORD_SIZE];

	for (int swap = 0; swap < 2; swap++) {
		for (unsigned type = 0; type < 8; type++) {
			r.type = type & 3;
			r.more = type >> 2;
			uftrace_record_pack(bytes, swap, &r);
			if (type < 2)
				ok(uftrace_bare_leaves(uftrace_record_word(bytes, swap)) == type,
				   "ENTRY enters, EXIT leaves");
			ok(uftrace_word_bare(uftrace_record_word(bytes, swap)) ==
				   (type == UFTRACE_ENTRY || type == UFTRACE_EXIT),
			   "ENTRY and EXIT without a payload are bare, no other record is");
		}
		bytes[swap ? 15 : 8] ^= 8;
		ok(!uftrace_word_bare(uftrace_record_word(bytes, swap)), "wrong magic");
		is_u64(uftrace_record_time(bytes, swap), 7, "time");
		is_u64(uftrace_word_addr(uftrace_record_word(bytes, swap)), 0xabcdef, "address");
		is_u64(uftrace_word_depth(uftrace_record_word(bytes, swap)), 1023, "depth");
	}
}

int main(void)
{
	uint8_t zeros[UFTRACE_RECORD_SIZE] = {0};
	struct uftrace_record r;

	test_real_record();
	test_all_fields();
	test_depth_carry();
	test_bare();
	ok(!uftrace_record_unpack(zeros, false, &r), "zeros are no record");
	is_u64(uftrace_align(0, 8), 0, "nothing needs no padding");
	is_u64(uftrace_align(9, 8), 16, "padding");
	is_u64(UFTRACE_EV_CALLSITE, 100013, "event numbers");
	is_u64(UFTRACE_EV_SCHED_BOTH_PREEMPT, 200008, "event numbers of the scheduler");
	return done();
}
