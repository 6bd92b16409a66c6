/* stage.h: programs of a pipe, their exit statuses and what they print. */
#include "common/cli/stage.h"
#include "t/unit/stream.h"

static int saved_stderr, errors_fd;

static void catch_errors(void)
{
	fflush(stderr);
	errors_fd = memfd_create("errors", 0);
	saved_stderr = dup(2);
	dup2(errors_fd, 2);
}

/* What was printed since, a static copy. */
static const char *caught(void)
{
	static char text[65536];
	ssize_t n;

	fflush(stderr);
	dup2(saved_stderr, 2);
	close(saved_stderr);
	n = pread(errors_fd, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(errors_fd);
	return text;
}

static unsigned lines(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

struct run {
	int status;
	uint64_t rows, lost;
	char errors[65536];
	struct blob out;
};

/* A program over these inputs; a filter if out. Every second event is dropped if some. */
static void run(struct run *r, char **paths, int n, bool filter, bool some)
{
	struct common_options options = {0};
	struct stage s;
	struct block b;
	char out_path[32];
	char *argv[] = {(char *)"filter", (char *)"some", NULL};
	int out = memfd_create("out", 0);

	*r = (struct run){0};
	snprintf(out_path, sizeof out_path, "/dev/fd/%d", out);
	options.output = out_path;
	catch_errors();
	if (!stage_open(&s, paths, n, &options) && (!filter || !stage_create(&s, 2, argv))) {
		while (stage_next(&s, &b)) {
			struct events it;
			struct event ev;

			if (b.kind != BLOCK_EVENTS)
				continue;
			r->rows += b.rows;
			if (!filter)
				continue;
			if (!some) {
				if (stage_pass(&s, &b))
					break;
				continue;
			}
			for (events_begin(&it, &b); event_next(&it, &ev);)
				if (ev.type->kind == KIND_GAP || ev.time / 100 % 2)
					must(!writer_copy_row(&s.out, &b, &ev), "copy");
		}
	}
	r->lost = s.lost;
	r->status = stage_finish(&s);
	snprintf(r->errors, sizeof r->errors, "%s", caught());
	if (filter)
		r->out = blob_of_fd(out);
	close(out);
}

/* The same over these bytes. */
static void run_bytes(struct run *r, struct blob b, bool filter, bool some)
{
	int fd = fd_of(b.data, b.size);
	char path[32], *paths[] = {path};

	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	run(r, paths, 1, filter, some);
	close(fd);
}

static struct blob stream(uint64_t segment_limit, unsigned rows, const char *message)
{
	struct maker m;

	make_begin(&m, segment_limit, true);
	must(!writer_meta(&m.w, m.source, "info", "abc", 3), "meta");
	make_rows(&m, 1000, rows);
	if (message)
		writer_status(&m.w, STATUS_DAMAGED, message, NULL);
	return make_end(&m);
}

static struct run first, second, third;

static void test_clean(void)
{
	struct blob b = stream(200000, 20000, NULL);
	struct seen want = see(b.data, b.size), got;

	run_bytes(&first, b, false, false);
	ok(!first.status && first.rows == 20000 && !*first.errors, "a program reads");
	is_u64(first.lost, want.lost, "knows what was lost");
	run_bytes(&first, b, true, false);
	ok(!first.status && !*first.errors, "a filter passes everything");
	got = see(first.out.data, first.out.size);
	ok(!got.errors && got.digest == want.digest && got.ends == want.ends &&
		   got.metas == want.metas && got.lost == want.lost,
	   "everything");
	free(first.out.data);
	run_bytes(&first, b, true, true);
	ok(!first.status && !*first.errors, "a filter passes some");
	got = see(first.out.data, first.out.size);
	ok(!got.errors && got.rows > 5000 && got.rows < 19000 && got.gaps == want.gaps &&
		   got.calls > 100,
	   "some, and all gaps");
	run_bytes(&second, first.out, false, false);
	ok(!second.status && second.rows == got.rows, "the next program reads them");
	free(first.out.data);
	free(b.data);
}

/* Damage that comes when all was passed on. */
static void test_behind_the_end(void)
{
	struct blob b = stream(0, 50, NULL), junk = {malloc(b.size + 20), b.size + 20};

	memcpy(junk.data, b.data, b.size);
	memcpy(junk.data + b.size, "what is no stream...", 20);
	run_bytes(&first, junk, true, false);
	run_bytes(&second, first.out, false, false);
	ok(first.status == 1 && first.rows == 50, "junk after the stream");
	ok(second.status == 1 && second.rows == 50 &&
		   strstr(second.errors, "not part of an event stream"),
	   "reaches the next program");
	free(first.out.data);
	free(junk.data);
	free(b.data);
}

/* Two filters and a last program read a stream in a pipe: what each prints and returns. */
static void pipe_of_three(struct blob b, bool some)
{
	run_bytes(&first, b, true, some);
	run_bytes(&second, first.out, true, some);
	run_bytes(&third, second.out, false, false);
	free(first.out.data);
	free(second.out.data);
}

static void test_damage(void)
{
	struct blob b = stream(0, 20000, NULL), cut = {b.data, b.size / 2};

	for (int some = 0; some < 2; some++) {
		pipe_of_three(cut, some);
		ok(first.status == 1 && lines(first.errors) == 1 &&
			   strstr(first.errors, "end mark") && strstr(first.errors, ": 0x"),
		   "a cut stream: the first says it");
		ok(second.status == 1 && lines(second.errors) == 1,
		   "the second, which writes a file, too");
		ok(third.status == 1 && lines(third.errors) == 1 && third.rows > 4000,
		   "the last says it again and ends with 1");
	}
	b.data[b.size / 2] ^= 4;
	pipe_of_three(b, false);
	ok(first.status == 1 && lines(first.errors) == 1 && strstr(first.errors, "checksum"),
	   "a flipped bit is said once");
	ok(second.status == 1 && third.status == 1 && third.rows == first.rows &&
		   third.rows > 10000,
	   "and costs a block");
	free(b.data);
	b = stream(0, 50, "77.dat: a record is cut");
	pipe_of_three(b, true);
	ok(first.status == 1 && strstr(first.errors, "77.dat: a record is cut") &&
		   second.status == 1 && strstr(second.errors, "77.dat: a record is cut"),
	   "what the decoder met is said, and passed on");
	ok(third.status == 1 && strstr(third.errors, "77.dat: a record is cut"), "to the last");
	free(b.data);
	b = stream(700, 5000, NULL);
	cut.data = b.data;
	/* up to the border of a segment */
	cut.size =
		(size_t)((uint8_t *)memmem(b.data + 100, b.size - 100, MARKER_PREFIX, 8) - b.data);
	pipe_of_three(cut, false);
	ok(first.status == 1 && lines(first.errors) == 1 && strstr(first.errors, "last segment"),
	   "a segment that is not the last");
	ok(second.status == 1 && third.status == 1, "nor is it for those behind");
	free(b.data);
}

static void test_nothing(void)
{
	struct blob b = {NULL, 0};

	pipe_of_three(b, false);
	ok(first.status == 2 && lines(first.errors) == 1 && strstr(first.errors, "no input"),
	   "empty input is no stream");
	ok(second.status == 2 && lines(second.errors) == 1, "the filter makes a stream of it");
	ok(third.status == 2 && strstr(third.errors, "no input"), "that says so");
	b.data = (uint8_t *)"this is a text, no stream of events";
	b.size = 30;
	run_bytes(&first, b, false, false);
	ok(first.status == 2 && lines(first.errors) == 1 &&
		   strstr(first.errors, "not an event stream"),
	   "what is no stream");
	pipe_of_three(b, false);
	ok(first.status == 2, "a filter fails");
	ok(second.status == 2 && lines(second.errors) == 1 &&
		   strstr(second.errors, "program that wrote this failed: stage: ") &&
		   strstr(second.errors, "not an event stream"),
	   "the next one fails of it");
	ok(third.status == 2 && !strcmp(third.errors, second.errors),
	   "and the last, for its cause");
	b = stream(0, 0, NULL);
	pipe_of_three(b, true);
	ok(!first.status && !second.status && !third.status && !third.rows,
	   "a stream without events");
	free(b.data);
}

static void test_inputs(void)
{
	struct blob b = stream(0, 100, NULL);
	int fd = fd_of(b.data, b.size);
	char path[32], *paths[] = {path, (char *)"/nonexistent\n", path};

	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	run(&first, paths, 3, true, false);
	ok(first.status == 2 && lines(first.errors) == 1 &&
		   strstr(first.errors, "stage: /nonexistent?: cannot open"),
	   "an input that is not there");
	ok(first.rows == 200, "the others are read");
	run_bytes(&second, first.out, false, false);
	ok(second.status == 2 && strstr(second.errors, "/nonexistent"), "the program behind knows");
	free(first.out.data);
	paths[1] = path;
	run(&first, paths, 3, true, true);
	ok(!first.status && first.rows == 300, "three concatenated inputs");
	run_bytes(&second, first.out, false, false);
	ok(!second.status && second.rows > 100, "are a stream");
	free(first.out.data);
	close(fd);
	free(b.data);
}

/* Errors of several inputs, one of which is the end of another. */
static void test_input_errors(void)
{
	static const char *const messages[] = {"ab", "b", "ab", "b", ""};
	char paths_text[5][32], *paths[5];
	int fds[5];

	for (int i = 0; i < 5; i++) {
		struct blob b = stream(0, 10, messages[i]);

		fds[i] = fd_of(b.data, b.size);
		snprintf(paths_text[i], sizeof paths_text[i], "/dev/fd/%d", fds[i]);
		paths[i] = paths_text[i];
		free(b.data);
	}
	run(&first, paths, 5, false, false);
	ok(first.status == 1 && first.rows == 50 && lines(first.errors) == 3 &&
		   strstr(first.errors, "damaged: ab\n") && strstr(first.errors, "damaged: b\n") &&
		   strstr(first.errors, "reports no detail"),
	   "each error is printed once");
	for (int i = 0; i < 5; i++)
		close(fds[i]);
}

static void test_output_fails(void)
{
	struct blob b = stream(0, 20000, NULL);
	struct common_options options = {.output = "/dev/full"};
	struct stage s;
	struct block bl;
	int fd = fd_of(b.data, b.size), status;
	char path[32], *paths[] = {path}, *argv[] = {(char *)"filter", NULL};
	const char *errors;

	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	catch_errors();
	must(!stage_open(&s, paths, 1, &options) && !stage_create(&s, 1, argv), "open");
	while (stage_next(&s, &bl))
		if (bl.kind == BLOCK_EVENTS && stage_pass(&s, &bl))
			break;
	status = stage_finish(&s);
	errors = caught();
	ok(status == 2 && lines(errors) == 1 && strstr(errors, "No space"), "a full device");
	options.output = "/nonexistent/file";
	catch_errors();
	must(!stage_open(&s, paths, 1, &options), "open");
	ok(stage_create(&s, 1, argv), "the output cannot be created");
	status = stage_finish(&s);
	errors = caught();
	ok(status == 2 && lines(errors) == 1 && strstr(errors, "cannot create"), "is said once");
	close(fd);
	free(b.data);
}

/* The same damage everywhere: the first one, and a count of the others. */
static void test_many_messages(void)
{
	struct blob b = stream(0, 200000, NULL);
	size_t at = MARKER_SIZE;
	unsigned blocks = 0;

	for (; at < b.size; at += BLOCK_HEADER + get_u32(b.data + at + 8))
		if (get_u16(b.data + at + 4) == BLOCK_EVENTS && blocks++ % 2)
			b.data[at + 1000] ^= 1;
	run_bytes(&first, b, false, false);
	ok(first.status == 1 && lines(first.errors) == 2 &&
		   strstr(first.errors, " more: a block with a wrong checksum"),
	   "messages end");
	ok(first.rows > 80000 && first.rows < 120000, "rows do not");
	free(b.data);
}

int main(void)
{
	alarm(60);
	test_clean();
	test_damage();
	test_nothing();
	test_behind_the_end();
	test_inputs();
	test_input_errors();
	test_output_fails();
	test_many_messages();
	return done();
}
