/* Blocks that go from pipe to pipe: on demand, passed on as they are, cut and flipped. */
#include <malloc.h>

#include "t/unit/stream.h"

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
			writer_status(&w, 1, r.error.what, NULL);
			continue;
		}
		switch (b.kind) {
		case BLOCK_HEAD: must(!writer_pass_head(&w, &r.head), "head"); break;
		case BLOCK_END:
			if (r.end.status)
				writer_status(&w, r.end.status, r.end.message.text, NULL);
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
				writer_status(&w, 1, r.error.what, NULL);
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

/* Flipped bits through a filter: the next program can read whatever the filter passes on. */
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
	ok(said, "damage reaches the program after a filter");
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
	ok(calls >= 1, "is called before the reader waits");
	reader_close(&r);
	wait(NULL);
	free(b.data);
}

int main(void)
{
	alarm(110);
	/* thousands of short-lived readers: their memory comes from the heap */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	test_on_demand();
	test_passing();
	test_passing_cut();
	test_passing_flipped();
	test_before_block();
	return done();
}
