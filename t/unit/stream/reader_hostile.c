/* Reading: unknown blocks and entries, and impossible numbers. */
#include "common/util/hash.h"
#include "t/unit/stream.h"

/* A block or entry put into a stream behind HEAD. */
static struct blob with(struct blob b, const void *data, size_t n)
{
	size_t at = MARKER_SIZE + BLOCK_HEADER + get_u32(b.data + MARKER_SIZE + 8);
	struct blob out = {malloc(b.size + n), b.size + n};

	memcpy(out.data, b.data, at);
	if (n)
		memcpy(out.data + at, data, n);
	memcpy(out.data + at + n, b.data + at, b.size - at);
	return out;
}

static size_t put_block(uint8_t *p, uint16_t kind, uint16_t flags, uint32_t length)
{
	memset(p, 0, BLOCK_HEADER);
	put_u32(p, BLOCK_SYNC);
	put_u16(p + 4, kind);
	put_u16(p + 6, flags);
	put_u32(p + 8, length);
	put_u32(p + BLOCK_CHECKED, checksum(0, p, BLOCK_CHECKED));
	return BLOCK_HEADER;
}

static void test_unknown(void)
{
	struct blob a = small_stream(0, false, 30), b;
	uint8_t p[256] = {0};
	struct seen s;

	put_block(p, 99, BLOCK_MAY_SKIP, 64);
	b = with(a, p, BLOCK_HEADER + 64);
	s = see(b.data, b.size);
	ok(!s.errors && s.rows == 30, "an unknown block that may be skipped");
	free(b.data);
	put_block(p, 99, 0, 64);
	b = with(a, p, BLOCK_HEADER + 64);
	s = see(b.data, b.size);
	ok(s.errors == 1 && s.rows == 30, "one that may not is said, and gone past");
	free(b.data);
	put_block(p, BLOCK_DICT, 0, 24);
	put_u16(p + BLOCK_HEADER, 77);
	put_u32(p + BLOCK_HEADER + 4, 8);
	b = with(a, p, BLOCK_HEADER + 24);
	s = see(b.data, b.size);
	ok(!s.errors && s.rows == 30, "an unknown entry");
	free(b.data);
	memset(p, 0, sizeof p);
	put_block(p, BLOCK_HEAD, 0, 24);
	put_u16(p + BLOCK_HEADER, 1);
	put_u64(p + BLOCK_HEADER + 8, 7);
	b = with(a, p, BLOCK_HEADER + 24);
	s = see(b.data, b.size);
	ok(s.errors == 1 && s.rows == 30, "a second HEAD");
	free(b.data);
	put_block(p, BLOCK_META, BLOCK_MAY_SKIP, 40);
	memset(p + BLOCK_HEADER, 0xff, 40);
	b = with(a, p, BLOCK_HEADER + 40);
	s = see(b.data, b.size);
	ok(s.errors == 1 && s.rows == 30, "a META of impossible lengths");
	free(b.data);
	free(a.data);
}

/* DICT entries with every kind of wrong number in them. */
static void test_hostile_entries(void)
{
	struct blob a = small_stream(0, false, 30);
	static const uint32_t ids[] = {0, 1, 63, 64, 65, 1000, 1 << 20, (1 << 20) - 1, UINT32_MAX};
	static const uint32_t sizes[] = {0, 8, 16, 24, 40, 56, 72, 104};
	uint8_t p[512];
	bool good = true;

	for (unsigned kind = 0; kind < 13; kind++)
		for (size_t i = 0; i < sizeof ids / 4; i++)
			for (size_t j = 0; j < sizeof sizes / 4; j++)
				for (int fill = 0; fill < 3; fill++) {
					uint32_t n = sizes[j];
					struct blob b;
					struct seen s;

					memset(p, fill == 2 ? 0xff : fill, sizeof p);
					put_block(p, BLOCK_DICT, 0, ENTRY_HEADER + n);
					put_u16(p + BLOCK_HEADER, (uint16_t)kind);
					put_u32(p + BLOCK_HEADER + 4, n);
					put_u32(p + BLOCK_HEADER + 8, ids[i]);
					put_u32(p + BLOCK_HEADER + 12, 0);
					b = with(a, p, BLOCK_HEADER + ENTRY_HEADER + n);
					s = see(b.data, b.size);
					good = good && s.rows == 30;
					free(b.data);
				}
	ok(good, "hostile entries cost no rows of others");
	put_block(p, BLOCK_DICT, 0, 64);
	put_u32(p + BLOCK_HEADER + 4, UINT32_MAX);
	put_u16(p + BLOCK_HEADER, ENTRY_STRING);
	struct blob b = with(a, p, BLOCK_HEADER + 64);
	struct seen s = see(b.data, b.size);

	ok(s.errors == 1 && s.rows == 30, "an entry longer than its block");
	free(b.data);
	free(a.data);
}

static void test_hostile_events(void)
{
	struct blob a = small_stream(0, false, 30);
	uint8_t p[256];
	bool good = true;

	for (unsigned variant = 0; variant < 2000; variant++) {
		uint32_t length = 32 + 8 * (variant % 9);
		struct blob b;
		struct seen s;

		for (size_t i = 0; i < sizeof p; i++)
			p[i] = (uint8_t)(hash_u64(variant * 1000 + i) & (variant & 1 ? 0x1 : 0xff));
		put_block(p, BLOCK_EVENTS, 0, length);
		if (variant & 2) {
			memset(p + BLOCK_HEADER, 0, 24);
			p[BLOCK_HEADER + 8] = 0xff; /* last */
			p[BLOCK_HEADER + 16] = (uint8_t)(variant % 5);
		}
		b = with(a, p, BLOCK_HEADER + length);
		s = see(b.data, b.size);
		if (s.rows < 30 || s.rows > 40)
			good = false;
		free(b.data);
	}
	ok(good, "hostile event blocks");
	free(a.data);
}

/* A long EVENTS block that the input does not hold: memory only as bytes come. */
static void test_length_without_data(void)
{
	struct blob a = small_stream(0, false, 30);
	uint8_t p[64] = {0};
	struct blob b;
	struct seen s;

	put_block(p, BLOCK_EVENTS, 0, 200 << 20);
	b = with(a, p, BLOCK_HEADER + 32);
	s = see(b.data, b.size);
	ok(s.errors >= 1 && s.rows == 30, "a block that claims 200 MiB");
	free(b.data);
	free(a.data);
}

/* The last EVENTS block says that it is longer than the input, with a check that is right. */
static void test_long_block(bool crc)
{
	struct blob b = small_stream(0, crc, 30);
	size_t at = MARKER_SIZE, last = 0;
	struct seen s;

	for (; at < b.size; at += BLOCK_HEADER + get_u32(b.data + at + 8))
		if (get_u16(b.data + at + 4) == BLOCK_EVENTS)
			last = at;
	put_block(b.data + last, BLOCK_EVENTS, crc ? BLOCK_HAS_CRC : 0, 100000);
	s = see(b.data, b.size);
	ok(s.errors == 1 && s.lossy && s.rows == 30 && s.ends == 1,
	   "a block longer than the input");
	free(b.data);
}

/* Blocks within each other, every one of them damaged at its end: not the square of their bytes. */
static void test_nested(void)
{
	struct blob a = small_stream(0, true, 30), b;
	size_t n = 60000, step = 64, size = n * step;
	uint8_t *p = calloc(1, size);
	struct seen s;

	for (size_t i = 0; i < n; i++) {
		uint32_t rest = (uint32_t)(size - i * step - BLOCK_HEADER);
		bool events = i & 1;

		put_block(p + i * step, events ? BLOCK_EVENTS : BLOCK_DICT, BLOCK_HAS_CRC,
			  events || rest < BLOCK_LIMIT ? rest : BLOCK_LIMIT);
	}
	b = with(a, p, size);
	s = see(b.data, b.size);
	ok(s.errors && s.rows <= 30, "nested blocks");
	free(p);
	free(b.data);
	free(a.data);
}

/* The stream with a block whose payload is n bytes, and what becomes of it. */
static struct seen with_block(struct blob a, uint16_t kind, uint16_t flags, const void *payload,
			      uint32_t n)
{
	uint8_t p[256];
	struct blob b;
	struct seen s;

	put_block(p, kind, flags, n);
	memcpy(p + BLOCK_HEADER, payload, n);
	b = with(a, p, BLOCK_HEADER + n);
	s = see(b.data, b.size);
	free(b.data);
	return s;
}

static void expect(struct seen s, const char *error, const char *what)
{
	if (!ok(s.errors == 1 && s.lossy && !s.fatal && s.rows == 30 &&
			strstr(s.first_error, error),
		what))
		printf("# %" PRIu64 " errors, %" PRIu64 " rows: %s\n", s.errors, s.rows,
		       s.first_error);
}

/* Headers whose check is right, before what cannot be. */
static void test_impossible(void)
{
	struct blob a = small_stream(0, false, 30);
	uint8_t p[64] = {0};

	put_u32(p + 48, 9);
	expect(with_block(a, BLOCK_END, 0, p, 64), "message", "an END whose message is too long");
	put_u32(p + 48, 8);
	put_u32(p + 40, 3);
	expect(with_block(a, BLOCK_END, 0, p, 64), "status", "an END of another status");
	memset(p, 0, sizeof p);
	expect(with_block(a, BLOCK_DICT, 0, p, 8), "entry", "bytes left in a DICT");
	put_u32(p, 99);
	expect(with_block(a, BLOCK_META, 3, p, 40), "source", "a META of an undeclared source");
	put_u32(p, 0);
	put_u32(p + 36, 1);
	expect(with_block(a, BLOCK_META, 3, p, 48), "beyond", "a META longer than its part");
	put_u64(p + 16, 1);
	put_u64(p + 24, UINT64_MAX);
	expect(with_block(a, BLOCK_META, 3, p, 48), "beyond", "a META outside of its part");
	put_u32(p + 36, 9);
	expect(with_block(a, BLOCK_META, 3, p, 48), "longer", "a META longer than its block");
	put_u32(p + 32, UINT32_MAX);
	put_u32(p + 36, 1);
	expect(with_block(a, BLOCK_META, 3, p, 48), "longer", "a META whose name is longer");
	free(a.data);
}

/* What HEAD says of itself, of its marker and of checksums. */
static void test_heads(void)
{
	struct blob a = small_stream(0, false, 30), b = small_stream(0, true, 30);
	uint8_t *head = a.data + MARKER_SIZE + BLOCK_HEADER;
	struct seen s;

	put_u32(head + 28, 1000);
	expect(see(a.data, a.size), "property", "a property beyond HEAD");
	put_u32(head + 28, 15);
	a.data[8] = 'f';
	expect(see(a.data, a.size), "marker", "a marker of another stream");
	b.data[8] = 'f';
	s = see(b.data, b.size);
	expect(s, "a marker that", "the same before a HEAD with a checksum");
	is_u64(s.heads, 1, "which is used");
	b.data[8] = '5';
	s = with_block(b, 99, BLOCK_MAY_SKIP, "", 0);
	ok(s.errors == 2 && s.lossy && s.rows == 30 && strstr(s.first_error, "without a checksum"),
	   "a block without a checksum among others is said to begin and to end");
	a.data[8] = '5';
	s = with_block(a, 99, BLOCK_MAY_SKIP | BLOCK_HAS_CRC, "", 0);
	ok(s.errors == 2 && s.lossy && s.rows == 30 && strstr(s.first_error, "with a checksum"),
	   "and so is one with a checksum");
	free(a.data);
	free(b.data);
}

int main(void)
{
	alarm(110);
	test_unknown();
	test_hostile_entries();
	test_hostile_events();
	test_length_without_data();
	test_long_block(false);
	test_long_block(true);
	test_nested();
	test_impossible();
	test_heads();
	return done();
}
