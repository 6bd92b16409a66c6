/* trstream.h: what is written is read again; values, refusals, and calls. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/library/trstream.h"
#include "t/unit/tap.h"

static char path[] = "/tmp/trstream-XXXXXX";

static const struct trstream_field fields[] = {{"text", TRSTREAM_TEXT},
					       {"int", TRSTREAM_INT},
					       {"real", TRSTREAM_REAL},
					       {"uint", TRSTREAM_UINT},
					       {"second", TRSTREAM_TEXT}};
static const struct trstream_value values[] = {
	{.form = TRSTREAM_TEXT, .text = "a\0b", .size = 3},
	{.form = TRSTREAM_INT, .i = INT64_MIN},
	{.form = TRSTREAM_REAL, .real = -0.25},
	{.form = TRSTREAM_UINT, .u = UINT64_MAX},
	{.form = TRSTREAM_TEXT, .text = "xyz", .size = 2},
};

/* Things that the writer refuses, after which it goes on. */
static void test_refusals(struct trstream_writer *w, uint32_t thread, uint32_t type)
{
	static const struct trstream_field none = {"x", TRSTREAM_NONE};
	struct trstream_value wrong[5];

	memcpy(wrong, values, sizeof wrong);
	wrong[1].form = TRSTREAM_UINT;
	ok(trstream_writer_event(w, 5, thread, type, NULL, wrong) == -1, "a value of another form");
	ok(strstr(trstream_writer_error(w), "form"), "is named");
	ok(trstream_writer_enter(w, 4, thread, "early") == -1, "an earlier event");
	ok(trstream_writer_enter(w, 1ull << 62, thread, "late") == -1, "a time out of range");
	ok(trstream_writer_enter(w, 5, thread + 1, "f") == -1, "an undeclared thread");
	ok(trstream_writer_enter(w, 5, 0, "f") == -1, "thread 0");
	ok(trstream_writer_event(w, 5, thread, type + 1, NULL, values) == -1, "an undeclared type");
	ok(trstream_writer_event(w, 5, thread, UINT32_MAX, NULL, values) == -1, "the last type");
	ok(!trstream_writer_type(w, TRSTREAM_GAP, "gap", NULL, 0), "a type of gaps");
	ok(!trstream_writer_type(w, TRSTREAM_INSTANT, "x", &none, 1), "a field without a form");
	ok(!trstream_writer_type(w, TRSTREAM_INSTANT, "x", fields, 1001), "too many fields");
}

static void test_write(void)
{
	struct trstream_writer *w = trstream_writer_open(path, "unit", "mono");
	uint32_t thread, type;

	if (!ok(w != NULL, "opened"))
		return;
	thread = trstream_writer_thread(w, -1, 7, 6, NULL);
	is_u64(trstream_writer_thread(w, -1, 7, 6, NULL), thread, "equal threads, equal ids");
	type = trstream_writer_type(w, TRSTREAM_INSTANT, "event", fields, 5);
	ok(!trstream_writer_event(w, 5, thread, type, NULL, values), "an event");
	test_refusals(w, thread, type);
	ok(!trstream_writer_enter(w, 10, thread, "outer") &&
		   !trstream_writer_enter(w, 20, thread, "inner") &&
		   !trstream_writer_leave(w, 25, thread, "inner") &&
		   !trstream_writer_lost(w, 26, thread, UINT64_MAX) &&
		   !trstream_writer_enter(w, 30, thread, "open"),
	   "calls and a gap");
	ok(access(path, R_OK), "no file before the end");
	ok(!trstream_writer_close(w, NULL), "closed");
}

static void test_values(struct trstream_reader *r)
{
	struct trstream_value v;

	ok(trstream_reader_field(r, "int", &v) && v.form == TRSTREAM_INT && v.i == INT64_MIN,
	   "int");
	ok(trstream_reader_field(r, "uint", &v) && v.form == TRSTREAM_UINT && v.u == UINT64_MAX,
	   "uint");
	ok(trstream_reader_field(r, "real", &v) && v.form == TRSTREAM_REAL && v.real == -0.25,
	   "real");
	ok(trstream_reader_field(r, "text", &v) && v.form == TRSTREAM_TEXT && v.size == 1 &&
		   *v.text == 'a',
	   "text, up to its NUL");
	is_str(trstream_reader_field_at(r, 4, &v), "second", "by number");
	ok(v.size == 2 && !memcmp(v.text, "xy", 2), "text, up to its size");
	ok(!trstream_reader_field_at(r, 5, &v) && !trstream_reader_field(r, "other", &v) &&
		   v.form == TRSTREAM_NONE,
	   "no such field");
}

static void test_read(void)
{
	struct trstream_reader *r = trstream_reader_open(path);
	struct trstream_totals t;
	struct trstream_event e;
	struct trstream_call c;
	struct trstream_value v;

	if (!ok(r != NULL, "opened"))
		return;
	ok(!trstream_reader_field(r, "int", &v), "no event yet");
	ok(trstream_reader_next(r, &e) == 1 && e.kind == TRSTREAM_INSTANT && e.time == 5, "event");
	ok(!strcmp(e.type, "event") && !*e.name && e.cpu == -1 && e.tid == 7 && e.pid == 6 &&
		   e.nfields == 5 && !e.ticks && !strcmp(e.clock, "mono") &&
		   !strcmp(e.input, "unit"),
	   "of its thread and type");
	test_values(r);
	ok(trstream_reader_next(r, &e) == 1 && e.kind == TRSTREAM_ENTER && !e.depth && !e.call,
	   "outer");
	ok(trstream_reader_next(r, &e) == 1 && e.depth == 1 && !strcmp(e.name, "inner"), "inner");
	ok(trstream_reader_next(r, &e) == 1 && e.kind == TRSTREAM_LEAVE && e.depth == 1 && e.call,
	   "left");
	ok(e.call && e.call->start == 20 && e.call->dur == 5 && e.call->self == 5 &&
		   !strcmp(e.call->caller, "outer") && e.call->depth == 1 && !e.call->unfinished,
	   "its call");
	ok(trstream_reader_next(r, &e) == 1 && e.kind == TRSTREAM_GAP && e.lost == UINT64_MAX &&
		   !strcmp(e.reason, "lost") && !strcmp(e.unit, "events"),
	   "gap");
	ok(trstream_reader_next_call(r, &c) == 1 && c.unfinished && !strcmp(c.name, "open") &&
		   !strcmp(c.caller, "outer"),
	   "unfinished calls");
	ok(trstream_reader_next_call(r, &c) == 1 && c.unfinished && !strcmp(c.name, "outer") &&
		   c.self == 15 && !*c.caller,
	   "follow the last event");
	ok(!trstream_reader_next_call(r, &c) && !trstream_reader_next(r, &e), "the end");
	trstream_reader_totals(r, &t);
	ok(t.status == 0 && t.events == 6 && t.gaps == 1 && t.lost_more, "totals");
	trstream_reader_close(r);
}

static void test_failed(void)
{
	struct trstream_writer *w = trstream_writer_open(path, "unit", "mono");

	ok(w && trstream_writer_close(w, "the disk burns") == 0,
	   "a failure is no error of the writer");
	ok(access(path, R_OK), "but there is no file");
	errno = 0;
	ok(!trstream_reader_open(path) && errno == ENOENT, "errno is set");
	ok(!trstream_writer_open("/no/such/folder/x", "unit", "mono") && errno == ENOENT,
	   "by the writer too");
	trstream_reader_close(NULL);
}

/* Samples of main;f and main, with a weight and without. */
static void test_samples(void)
{
	static const struct trstream_field weight = {"weight", TRSTREAM_UINT};
	const struct trstream_value v = {.form = TRSTREAM_UINT, .u = 5000};
	struct trstream_writer *w = trstream_writer_open(path, "unit", "mono");
	uint32_t thread = trstream_writer_thread(w, -1, 7, -1, NULL),
		 weighed = trstream_writer_type(w, TRSTREAM_SAMPLE, "cycles", &weight, 1),
		 plain = trstream_writer_type(w, TRSTREAM_SAMPLE, "faults", NULL, 0),
		 caller = trstream_writer_stack(w, 0, "main"),
		 stack = trstream_writer_stack(w, caller, "f");
	struct trstream_reader *r;
	struct trstream_event e;

	is_u64(trstream_writer_stack(w, caller, "f"), stack, "equal stacks, equal ids");
	ok(!trstream_writer_stack(w, stack + 1, "g"), "an undeclared caller");
	ok(trstream_writer_sample(w, 1, thread, plain, stack + 1, NULL) == -1,
	   "an undeclared stack");
	ok(trstream_writer_event(w, 1, thread, plain, NULL, NULL) == -1, "a sample as an event");
	ok(!trstream_writer_sample(w, 10, thread, weighed, stack, &v) &&
		   !trstream_writer_sample(w, 20, thread, plain, caller, NULL) &&
		   !trstream_writer_close(w, NULL),
	   "samples");
	r = trstream_reader_open(path);
	ok(trstream_reader_next(r, &e) == 1 && e.kind == TRSTREAM_SAMPLE, "a sample is read");
	is_u64(e.weight, 5000, "with its weight");
	is_u64(e.frames, 2, "and its frames");
	is_str(e.name, "f", "the innermost of which is its name");
	is_str(trstream_reader_frame(r, 1), "main", "the outermost one");
	is_str(trstream_reader_frame(r, 0), "f", "and back");
	ok(!trstream_reader_frame(r, 2), "no more");
	ok(trstream_reader_next(r, &e) == 1 && e.weight == 1 && e.frames == 1, "one of weight 1");
	is_str(trstream_reader_frame(r, 0), "main", "with its frame");
	trstream_reader_close(r);
}

int main(void)
{
	int fd = mkstemp(path);

	close(fd);
	unlink(path);
	test_write();
	test_read();
	unlink(path);
	test_failed();
	test_samples();
	return done();
}
