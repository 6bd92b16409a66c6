/* Reading: segments, damage at every byte and bit, hostile numbers, passing on. */
#include <malloc.h>

#include "t/unit/stream.h"

static struct blob small_stream(uint64_t segment_limit, bool crc, unsigned rows)
{
	struct maker m;

	make_begin(&m, segment_limit, crc);
	must(!writer_meta(&m.w, m.source, "info", "what the source says", 20), "meta");
	make_rows(&m, 1000, rows / 2);
	must(!writer_flush(&m.w), "flush");
	make_rows(&m, 1000000, rows - rows / 2);
	return make_end(&m);
}

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
		if (s.fatal)
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
		if (!crc)
			continue;
		if (payload && !s.errors) {
			printf("# bit %zu of byte %zu not found\n", bit % 8, bit / 8);
			found = false;
		}
		if (kind == BLOCK_EVENTS && s.rows < whole.rows - rows && others) {
			printf("# byte %zu bit %zu: %" PRIu64 " of %" PRIu64 " rows, %" PRIu64
			       " damaged: %s\n",
			       bit / 8, bit % 8, s.rows, whole.rows, rows, s.first_error);
			others = false;
		}
	}
	ok(true, "no flipped bit ends the reader");
	if (crc) {
		ok(found, "a flipped bit of a payload is found");
		ok(others, "and costs no rows but its block's");
	}
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

	ok(s.errors == 1 && !s.fatal && s.lossy, "empty input is damage");
	ok(strstr(s.first_error, "empty"), "and called so");
	s = see("x", 1);
	ok(s.errors == 1 && s.fatal, "one byte is no stream");
	s = see("PERFILE2 and other things that are no stream", 40);
	ok(s.errors == 1 && s.fatal, "something else is no stream");
	s = see("trstrm1:0000", 12);
	ok(s.errors == 1 && !s.fatal, "a cut marker is a cut stream");
	s = see("trstrm2:00000000................", 32);
	ok(s.errors == 1 && s.fatal && strstr(s.first_error, "version"), "a later version");
}

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

/* --- on demand, and passing on between pipes --- */

static void feed(int fd, struct blob b, size_t piece)
{
	for (size_t at = 0; at < b.size;) {
		size_t n = b.size - at < piece ? b.size - at : piece;
		ssize_t done = write(fd, b.data + at, n);

		if (done <= 0)
			_exit(1);
		at += (size_t)done;
	}
	_exit(0);
}

static void collect(int from, int to)
{
	char data[65536];
	ssize_t n;

	while ((n = read(from, data, sizeof data)) > 0)
		if (write(to, data, (size_t)n) != n)
			_exit(1);
	_exit(0);
}

enum how { PASS, LOAD_SOME, COPY_ROWS };

/* What a filter does: everything of in passed to out; the result read again. */
static void filter(int in, int out, enum how how, struct seen *errors)
{
	struct reader r;
	struct output o;
	struct writer w;
	struct block b;
	struct error e;
	int got, n = 0;

	must(!reader_open_fd(&r, in, "in", NULL, 0), "reader");
	if (how != COPY_ROWS)
		reader_on_demand(&r);
	output_to_fd(&o, out);
	must(!writer_init(&w, &o, 0), "writer");
	while ((got = reader_next(&r, &b))) {
		if (got < 0) {
			note_error(errors, &r.error);
			writer_status(&w, 1, r.error.what);
			continue;
		}
		switch (b.kind) {
		case BLOCK_HEAD: must(!writer_pass_head(&w, &r.head), "head"); break;
		case BLOCK_END:
			if (r.end.status)
				writer_status(&w, r.end.status, r.end.message.text);
			must(!writer_pass_end(&w, r.end.flags, r.end.gaps, r.end.lost), "end");
			break;
		case BLOCK_EVENTS:
			if (how == COPY_ROWS) {
				struct events it;
				struct event ev;

				for (events_begin(&it, &b); event_next(&it, &ev);)
					must(!writer_copy_row(&w, &b, &ev), "copy");
				break;
			}
			e.what[0] = '\0';
			if ((how == LOAD_SOME && n++ % 2 && reader_load(&r, &b)) ||
			    reader_pass(&r, &b, &w, &e)) {
				note_error(errors, e.what[0] ? &e : &r.error);
				writer_status(&w, 1, r.error.what);
			}
			break;
		default: must(!writer_pass(&w, &b, &e), "pass");
		}
		if (w.broken)
			break;
	}
	must(!writer_finish(&w), "finish");
	writer_free(&w);
	must(!output_close(&o, 0, &e), "close");
	reader_close(&r);
}

static struct blob through_pipes(struct blob b, size_t piece, enum how how, struct seen *errors)
{
	int in[2], out[2], result = memfd_create("result", 0), status;
	pid_t feeder, collector;
	struct blob passed;

	must(!pipe(in) && !pipe(out), "pipes");
	feeder = fork();
	if (!feeder) {
		close(in[0]);
		close(out[0]);
		close(out[1]);
		feed(in[1], b, piece);
	}
	collector = fork();
	if (!collector) {
		close(in[0]);
		close(in[1]);
		close(out[1]);
		collect(out[0], result);
	}
	close(in[1]);
	close(out[0]);
	filter(in[0], out[1], how, errors);
	close(out[1]);
	waitpid(feeder, &status, 0);
	waitpid(collector, &status, 0);
	passed = blob_of_fd(result);
	close(result);
	return passed;
}

static struct blob through_file(struct blob b, enum how how, struct seen *errors)
{
	int out = memfd_create("result", 0);
	struct blob passed;

	filter(fd_of(b.data, b.size), out, how, errors);
	passed = blob_of_fd(out);
	close(out);
	return passed;
}

static void test_passing(void)
{
	static const size_t pieces[] = {97, 1000, 4096, 65536, 1 << 20};
	struct maker m;
	struct blob b, copy;
	struct seen want, got, errors = {0};
	bool same = true;

	make_begin(&m, 200 * 1000, false);
	must(!writer_meta(&m.w, m.source, "info", "what the source says", 20), "meta");
	make_rows(&m, 1000, 20000);
	b = make_end(&m);
	want = see(b.data, b.size);
	for (enum how how = PASS; how <= COPY_ROWS; how++) {
		for (size_t i = how == PASS ? 0 : 2; i < sizeof pieces / sizeof *pieces; i++) {
			copy = through_pipes(b, pieces[i], how, &errors);
			got = see(copy.data, copy.size);
			if (how == PASS &&
			    (copy.size != b.size || memcmp(copy.data, b.data, b.size)))
				same = false;
			ok(!got.errors && got.digest == want.digest && got.lost == want.lost &&
				   got.metas == want.metas && got.ends == want.ends &&
				   got.calls == want.calls,
			   how == PASS	      ? "passed from pipe to pipe"
			   : how == LOAD_SOME ? "passed, some of it loaded"
					      : "copied row by row");
			free(copy.data);
		}
		copy = through_file(b, how, &errors);
		got = see(copy.data, copy.size);
		ok(!got.errors && got.digest == want.digest, "from file to file");
		free(copy.data);
	}
	ok(same, "splice gives the same bytes");
	is_u64(errors.errors, 0, "no errors on the way");
	free(b.data);
}

/* What is cut reaches the end of the pipe as damage, with every whole row where it was looked at.
 */
static void test_passing_cut(void)
{
	struct blob b = small_stream(700, true, 40);
	bool said = true, rows = true;

	for (size_t cut = MARKER_SIZE; cut < b.size; cut += 7)
		for (enum how how = PASS; how <= COPY_ROWS; how++) {
			struct blob part = {b.data, cut}, copy;
			struct seen want = see(b.data, cut), errors = {0}, got;

			copy = how == PASS && cut % 13 == 0
				       ? through_pipes(part, 65536, how, &errors)
				       : through_file(part, how, &errors);
			got = see(copy.data, copy.size);
			if ((!errors.errors || (!got.errors && !got.lossy)) && said) {
				printf("# cut %zu how %d: %" PRIu64 " errors, behind %" PRIu64 "\n",
				       cut, how, errors.errors, got.errors);
				said = false;
			}
			if (got.rows != want.rows && rows) {
				printf("# cut %zu how %d: %" PRIu64 " rows of %" PRIu64 "\n", cut,
				       how, got.rows, want.rows);
				rows = false;
			}
			free(copy.data);
		}
	ok(said, "a cut stream passed on is no clean stream");
	ok(rows, "nor does it lose rows");
	free(b.data);
}

/* Flipped bits through a filter: whatever it lets through, those behind it can read. */
static void test_passing_flipped(void)
{
	struct blob b = small_stream(700, true, 40);
	bool rows = true, said = true;

	for (size_t bit = 8 * MARKER_SIZE; bit < 8 * b.size; bit += 23) {
		struct seen errors = {0}, want, got;
		struct blob copy;

		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		want = see(b.data, b.size);
		copy = through_file(b, bit & 1 ? LOAD_SOME : COPY_ROWS, &errors);
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		got = see(copy.data, copy.size);
		if (got.rows != want.rows && rows) {
			printf("# bit %zu: %" PRIu64 " rows, in front of the filter %" PRIu64
			       ": %s, %s\n",
			       bit, got.rows, want.rows, want.first_error, got.first_error);
			rows = false;
		}
		if (errors.errors && !got.lossy && said) {
			printf("# bit %zu: %s\n", bit, errors.first_error);
			said = false;
		}
		free(copy.data);
	}
	ok(said, "damage reaches those behind a filter");
	ok(rows, "and so do all rows");
	free(b.data);
}

/* Skipped blocks are stepped over without being looked at. */
static void test_on_demand(void)
{
	struct maker m;
	struct blob b;
	struct reader r;
	struct block bl;
	unsigned n = 0;
	uint64_t rows = 0, seen = 0;
	int got;

	make_begin(&m, 0, false);
	make_rows(&m, 0, 50000);
	b = make_end(&m);
	must(!reader_open_fd(&r, fd_of(b.data, b.size), "made", NULL, 0), "reader");
	reader_on_demand(&r);
	while ((got = reader_next(&r, &bl)) > 0) {
		if (bl.kind != BLOCK_EVENTS)
			continue;
		rows += bl.rows;
		if (n++ % 3)
			continue;
		must(!reader_load(&r, &bl), "load");
		seen += bl.rows;
	}
	ok(!got && rows == 50000 && seen < rows && seen, "blocks on demand");
	reader_close(&r);
	free(b.data);
}

static int count_calls(void *ctx)
{
	++*(int *)ctx;
	return 0;
}

static void test_before_block(void)
{
	struct blob b = small_stream(0, false, 30);
	struct reader r;
	struct block bl;
	int in[2], calls = 0;

	must(!pipe(in), "pipe");
	if (!fork()) {
		close(in[0]);
		usleep(50000);
		feed(in[1], b, 100000);
	}
	close(in[1]);
	must(!reader_open_fd(&r, in[0], "in", NULL, 0), "reader");
	r.before_block = count_calls;
	r.before_block_ctx = &calls;
	while (reader_next(&r, &bl) > 0)
		;
	ok(calls >= 1, "is told before it waits");
	reader_close(&r);
	wait(NULL);
	free(b.data);
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
	test_unknown();
	test_hostile_entries();
	test_hostile_events();
	test_length_without_data();
	test_nested();
	test_on_demand();
	test_passing();
	test_passing_cut();
	test_passing_flipped();
	test_before_block();
	test_inputs();
	return done();
}
