/* Reading: blocks and entries that nobody knows, and numbers that cannot be. */
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
	put_u16(p + 16, 77);
	put_u32(p + 20, 8);
	b = with(a, p, BLOCK_HEADER + 24);
	s = see(b.data, b.size);
	ok(!s.errors && s.rows == 30, "an unknown entry");
	free(b.data);
	memset(p, 0, sizeof p);
	put_block(p, BLOCK_HEAD, 0, 24);
	put_u16(p + 16, 1);
	put_u64(p + 24, 7);
	b = with(a, p, BLOCK_HEADER + 24);
	s = see(b.data, b.size);
	ok(s.errors == 1 && s.rows == 30, "a second HEAD");
	free(b.data);
	put_block(p, BLOCK_META, BLOCK_MAY_SKIP, 40);
	memset(p + 16, 0xff, 40);
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
					put_u16(p + 16, (uint16_t)kind);
					put_u32(p + 20, n);
					put_u32(p + 24, ids[i]);
					put_u32(p + 28, 0);
					b = with(a, p, BLOCK_HEADER + ENTRY_HEADER + n);
					s = see(b.data, b.size);
					good = good && s.rows == 30;
					free(b.data);
				}
	ok(good, "hostile entries cost no rows of others");
	put_block(p, BLOCK_DICT, 0, 64);
	put_u32(p + 20, UINT32_MAX);
	put_u16(p + 16, ENTRY_STRING);
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
			memset(p + 16, 0, 24);
			p[24] = 0xff; /* last */
			p[32] = (uint8_t)(variant % 5);
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

/* Blocks within each other, every one of them damaged at its end: not the square of their bytes. */
static void test_nested(void)
{
	struct blob a = small_stream(0, false, 30), b;
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

int main(void)
{
	alarm(110);
	test_unknown();
	test_hostile_entries();
	test_hostile_events();
	test_length_without_data();
	test_nested();
	return done();
}
