/* Reading: segments, several inputs, damage at every byte and bit. */
#include <malloc.h>

#include "t/unit/stream.h"

/* Where each row of a stream ends in the file. */
static size_t row_ends(struct blob b, uint64_t *end, size_t most)
{
	struct reader r;
	struct block bl;
	size_t n = 0;

	must(!reader_open_fd(&r, fd_of(b.data, b.size), "made", NULL, 0), "reader");
	while (reader_next(&r, &bl) > 0) {
		struct events it;
		struct event ev;

		if (bl.kind != BLOCK_EVENTS)
			continue;
		for (events_begin(&it, &bl); event_next(&it, &ev) && n < most; n++)
			end[n] = bl.offset + BLOCK_HEADER + (uint64_t)(it.row - bl.payload);
	}
	reader_close(&r);
	return n;
}

static void test_truncated(uint64_t segment_limit, bool crc)
{
	struct blob b = small_stream(segment_limit, crc, 60);
	uint64_t end[100];
	size_t n = row_ends(b, end, 100);
	bool never_clean = true, all_rows = true, no_fatal = true, once = true;

	is_u64(n, 60, "rows of the small stream");
	for (size_t cut = 0; cut < b.size; cut++) {
		struct seen s = see_fd(fd_of(b.data, cut), false, cut & 1);
		size_t want = 0;

		while (want < n && end[want] <= cut)
			want++;
		if (!s.errors || !s.lossy) {
			printf("# no error at %zu\n", cut);
			never_clean = false;
		}
		if (s.errors != 1 && once) {
			printf("# %" PRIu64 " errors at %zu: %s\n", s.errors, cut, s.first_error);
			once = false;
		}
		if (cut && s.fatal)
			no_fatal = false;
		if (s.rows != want && all_rows) {
			printf("# cut at %zu: %" PRIu64 " rows of %zu\n", cut, s.rows, want);
			all_rows = false;
		}
	}
	ok(never_clean, "cut anywhere, the reader says so");
	ok(all_rows, "and gives every row that is whole");
	ok(once, "and says it once");
	ok(no_fatal, "and takes it for a stream");
	free(b.data);
}

/* The block that holds this byte: its rows, and whether the byte is in the payload. */
static uint64_t rows_at(struct blob b, size_t at, bool *payload, uint16_t *kind)
{
	size_t block = MARKER_SIZE;

	*payload = false;
	*kind = 0;
	while (block + BLOCK_HEADER <= b.size) {
		size_t length = get_u32(b.data + block + 8);

		if (get_u32(b.data + block) != BLOCK_SYNC) {
			if (at >= block && at < block + MARKER_SIZE)
				return 0;
			block += MARKER_SIZE;
			continue;
		}
		if (at >= block && at < block + BLOCK_HEADER + length) {
			*payload = at >= block + BLOCK_HEADER;
			*kind = get_u16(b.data + block + 4);
			return *kind == BLOCK_EVENTS ? get_u32(b.data + block + BLOCK_HEADER + 16)
						     : 0;
		}
		block += BLOCK_HEADER + length;
	}
	return 0;
}

static void test_flipped(uint64_t segment_limit, bool crc, size_t step)
{
	struct blob b = small_stream(segment_limit, crc, 40);
	struct seen whole = see(b.data, b.size);
	bool found = true, others = true;

	for (size_t bit = 0; bit < 8 * b.size; bit += step) {
		bool payload;
		uint16_t kind;
		uint64_t rows = rows_at(b, bit / 8, &payload, &kind);
		struct seen s;

		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		s = see_fd(fd_of(b.data, b.size), false, bit & 1);
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if ((crc || !payload) && !s.errors) {
			printf("# bit %zu of byte %zu not found\n", bit % 8, bit / 8);
			found = false;
		}
		if (crc && kind == BLOCK_EVENTS && s.rows < whole.rows - rows && others) {
			printf("# byte %zu bit %zu: %" PRIu64 " of %" PRIu64 " rows, %" PRIu64
			       " damaged: %s\n",
			       bit / 8, bit % 8, s.rows, whole.rows, rows, s.first_error);
			others = false;
		}
	}
	ok(found, crc ? "a flipped bit is found" : "a flipped bit outside of payloads is found");
	if (crc)
		ok(others, "and costs no rows but its block's");
	free(b.data);
}

/* Bytes taken out of the middle. */
static void test_hole(void)
{
	struct blob b = small_stream(0, true, 40);
	struct seen whole = see(b.data, b.size);
	uint8_t *data = malloc(b.size);
	bool good = true;

	for (size_t hole = 1; hole < 200; hole += 13)
		for (size_t at = MARKER_SIZE; at + hole < b.size; at += 17) {
			struct seen s;

			memcpy(data, b.data, at);
			memcpy(data + at, b.data + at + hole, b.size - at - hole);
			s = see(data, b.size - hole);
			if (!s.errors || s.rows > whole.rows)
				good = false;
		}
	ok(good, "a hole anywhere is found");
	free(data);
	free(b.data);
}

static void test_segments(void)
{
	struct maker m;
	struct blob b, one;
	struct seen whole, plain, part;
	uint64_t rows = 0, metas = 0, calls = 0;
	size_t segments = 0, bad = 0, first = 0;

	make_begin(&m, 0, false);
	must(!writer_meta(&m.w, m.source, "info", "what the source says", 20), "meta");
	make_rows(&m, 1000, 30000);
	one = make_end(&m);
	plain = see(one.data, one.size);
	make_begin(&m, 100 * 1000, false);
	must(!writer_meta(&m.w, m.source, "info", "what the source says", 20), "meta");
	make_rows(&m, 1000, 30000);
	b = make_end(&m);
	whole = see(b.data, b.size);
	ok(!whole.errors && whole.rows == 30000 && whole.ends > 4, "segments");
	is_u64(whole.calls, 6000, "each with the definitions its values name");
	is_u64(whole.digest, plain.digest, "the same lanes and types throughout");
	is_u64(whole.lost, plain.lost, "the same gaps");
	for (size_t at = 0, next; at < b.size; at = next) {
		uint8_t *p = memmem(b.data + at + 1, b.size - at - 1, MARKER_PREFIX, 8);

		next = p ? (size_t)(p - b.data) : b.size;
		part = see_fd(fd_of(b.data + at, next - at), true, false);
		segments++;
		bad += part.errors || part.lossy;
		rows += part.rows;
		metas += part.metas;
		calls += part.calls;
		if (!at)
			first = next;
	}
	is_u64(segments, whole.ends, "cut apart");
	is_u64(bad, 0, "each can be read alone");
	is_u64(rows, 30000, "all rows");
	is_u64(calls, 6000, "all values");
	is_u64(metas, segments, "each names what the source says");
	part = see(b.data, first);
	ok(part.errors == 1 && strstr(part.first_error, "last segment"),
	   "the first alone is no stream");
	part = see(b.data + first, b.size - first);
	ok(part.errors == 1 && strstr(part.first_error, "missing") && part.rows > 20000,
	   "nor is what is left without it");
	free(b.data);
	free(one.data);
}

/* END of each segment counts what is in it. */
static void test_segment_counts(void)
{
	struct maker m;
	struct blob b;
	struct reader r;
	struct block bl;
	uint64_t gaps = 0, lost = 0, events = 0, seen = 0;
	bool good = true;

	make_begin(&m, 3000, false);
	make_rows(&m, 1000, 50000);
	b = make_end(&m);
	must(!reader_open_fd(&r, fd_of(b.data, b.size), "made", NULL, 0), "reader");
	while (reader_next(&r, &bl) > 0) {
		struct events it;
		struct event ev;

		if (bl.kind == BLOCK_EVENTS)
			for (events_begin(&it, &bl); event_next(&it, &ev);)
				seen += ev.type->kind == KIND_GAP;
		if (bl.kind != BLOCK_END)
			continue;
		good = good && r.end.gaps == seen;
		gaps += r.end.gaps;
		lost += r.end.lost;
		events += r.end.events;
		seen = 0;
	}
	ok(good && gaps == 10000, "gaps per segment");
	is_u64(events, 50000, "events of all segments");
	ok(lost > 0, "lost events");
	reader_close(&r);
	free(b.data);
}

static void test_cat(void)
{
	struct blob a = small_stream(0, false, 30), b = small_stream(500, true, 40);
	uint8_t *both = malloc(a.size + b.size);
	struct seen s;
	struct reader r;
	struct block bl;
	bool all_good = true;
	int got;

	memcpy(both, a.data, a.size);
	memcpy(both + a.size, b.data, b.size);
	s = see(both, a.size + b.size);
	ok(!s.errors && s.rows == 70, "cat a b");
	must(!reader_open_fd(&r, fd_of(both, a.size + b.size), "made", NULL, 0), "reader");
	while ((got = reader_next(&r, &bl)) > 0)
		;
	is_u64(r.dictionary.sources.count, 3, "has two sources");
	is_u64(r.dictionary.stream, 2, "of two streams");
	reader_close(&r);
	/* a was cut at the border of a block, or within one, or its marker */
	for (size_t cut = 1; cut < a.size; cut++) {
		struct seen alone = see(a.data, cut);
		bool good;

		memcpy(both, a.data, cut);
		memcpy(both + cut, b.data, b.size);
		s = see(both, cut + b.size);
		/* b's bytes may serve as the padding of a's last row */
		good = s.errors && s.rows >= 40 && s.rows <= alone.rows + 41;
		if (cut < MARKER_SIZE)
			good = s.errors;
		if (!good && all_good) {
			printf("# cut %zu: %" PRIu64 " errors, %" PRIu64 " rows, alone %" PRIu64
			       ": %s\n",
			       cut, s.errors, s.rows, alone.rows, s.first_error);
			all_good = false;
		}
	}
	ok(all_good, "what follows a cut stream is read");
	free(both);
	free(a.data);
	free(b.data);
}

static void test_no_stream(void)
{
	struct seen s = see("", 0);

	ok(s.errors == 1 && s.fatal, "empty input is no stream");
	ok(strstr(s.first_error, "no input"), "and called so");
	s = see("x", 1);
	ok(s.errors == 1 && s.fatal, "one byte is no stream");
	s = see("PERFILE2 and other things that are no stream", 40);
	ok(s.errors == 1 && s.fatal, "something else is no stream");
	s = see("trstrm1:0000", 12);
	ok(s.errors == 1 && !s.fatal, "a cut marker is a cut stream");
	s = see("trstrm2:00000000................", 32);
	ok(s.errors == 1 && s.fatal && strstr(s.first_error, "version"), "a later version");
}

static void test_inputs(void)
{
	struct blob b = small_stream(0, false, 30);
	char one[32], two[32], *paths[4] = {one, (char *)"/nonexistent", (char *)"/", two};
	int fd = fd_of(b.data, b.size);
	struct reader r;
	struct seen s = {0};

	snprintf(one, sizeof one, "/dev/fd/%d", fd);
	snprintf(two, sizeof two, "/dev/fd/%d", fd);
	must(!reader_open(&r, paths, 4), "reader");
	see_reader(&r, &s);
	is_u64(s.errors, 2, "what cannot be opened is said");
	is_u64(s.rows, 60, "and the other inputs are read");
	ok(s.fatal, "to a bad end");
	reader_close(&r);
	close(fd);
	free(b.data);
}

int main(void)
{
	alarm(110);
	/* thousands of short-lived readers: their memory comes from the heap */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	test_truncated(0, true);
	test_truncated(700, false);
	test_flipped(0, true, 1);
	test_flipped(700, true, 7);
	test_flipped(700, false, 5);
	test_hole();
	test_segments();
	test_segment_counts();
	test_cat();
	test_no_stream();
	test_inputs();
	return done();
}
