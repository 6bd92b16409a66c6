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

/* --- columns --- */

/* Open the file with a query of columns. */
static struct trstream_reader *open_query(enum trstream_table table, const char *const *columns,
					  uint32_t n, const char *type, const char *since)
{
	const struct trstream_query q = {.table = table,
					 .ncolumns = n,
					 .columns = columns,
					 .ntypes = type != NULL,
					 .types = &type,
					 .since = since};
	struct trstream_reader *r = trstream_reader_open(path);

	ok(r && !trstream_reader_select(r, &q), "a query");
	return r;
}

static bool lacks(const struct trstream_batch *b, uint32_t column, size_t row)
{
	return b->columns[column].missing && b->columns[column].missing[row];
}

/* An integer or a text of a batch; the text of a missing value is NULL. */
static int64_t integer(const struct trstream_batch *b, uint32_t column, size_t row)
{
	const struct trstream_column *c = &b->columns[column];

	return c->size == 8   ? ((const int64_t *)c->values)[row]
	       : c->size == 4 ? ((const int32_t *)c->values)[row]
			      : ((const uint8_t *)c->values)[row];
}

static const char *column_word(struct trstream_reader *r, const struct trstream_batch *b,
			       uint32_t column, size_t row)
{
	size_t size;

	return b->columns[column].form != TRSTREAM_TEXT || lacks(b, column, row)
		       ? NULL
		       : trstream_reader_text(r, ((const uint32_t *)b->columns[column].values)[row],
					      &size);
}

/* The events that test_write wrote: an event, outer {, inner {, inner }, a gap, open {. */
static void test_columns(void)
{
	static const char *const columns[] = {"time", "kind", "name", "depth", "cpu",	"pid",
					      "lost", "int",  "uint", "real",  ".text", "secnd"};
	struct trstream_reader *r = open_query(TRSTREAM_EVENTS, columns, 12, NULL, NULL);
	struct trstream_batch *b, *none;

	if (!ok(trstream_reader_next_batch(r, &b) == 1 && b->rows == 6 && b->ncolumns == 12,
		"a batch of all events"))
		return;
	is_u64((uint64_t)integer(b, 0, 3), 25, "a time");
	is_str(column_word(r, b, 1, 4), "gap", "a kind");
	is_str(column_word(r, b, 2, 2), "inner", "a function");
	is_str(column_word(r, b, 2, 0), "event", "the type of an event without one");
	ok(lacks(b, 3, 0) && integer(b, 3, 2) == 1 && integer(b, 3, 1) == 0, "depths of calls");
	ok(lacks(b, 4, 0) && lacks(b, 4, 5), "no CPU");
	ok(!b->columns[5].missing && integer(b, 5, 1) == 6, "a process");
	ok(lacks(b, 6, 4), "an unknown number is lost");
	ok(integer(b, 7, 0) == INT64_MIN && lacks(b, 7, 1), "the least integer");
	ok(b->columns[8].form == TRSTREAM_UINT && integer(b, 8, 0) == -1, "the largest integer");
	ok(*(const double *)b->columns[9].values == -0.25 && lacks(b, 9, 2), "a real number");
	is_str(column_word(r, b, 10, 0), "a", "a text");
	ok(b->columns[11].form == TRSTREAM_NONE && !b->columns[11].values && lacks(b, 11, 0),
	   "a misspelt field");
	ok(trstream_reader_next_batch(r, &none) == -1 &&
		   strstr(trstream_reader_error(r),
			  "no event has a field 'secnd'; did you mean 'second'?"),
	   "is an error at the end");
	ok(!trstream_reader_next_batch(r, &none) && !none, "the end");
	ok(!trstream_reader_text(r, UINT32_MAX, &(size_t){0}), "no such text");
	trstream_reader_close(r);
	is_u64((uint64_t)integer(b, 0, 5), 30, "a batch outlives its reader");
	trstream_batch_free(b);
}

static void test_columns_calls(void)
{
	static const char *const columns[] = {"time", "dur",	"self",
					      "name", "caller", "unfinished"};
	struct trstream_reader *r = open_query(TRSTREAM_CALLS, columns, 6, NULL, "+20ns");
	struct trstream_batch *b;

	ok(trstream_reader_next_batch(r, &b) == 1 && b->rows == 1 && integer(b, 1, 0) == 0 &&
		   integer(b, 0, 0) == 25,
	   "a call that ends at the begin of the range");
	trstream_batch_free(b);
	if (ok(trstream_reader_next_batch(r, &b) == 1 && b->rows == 2, "the unfinished calls")) {
		ok(integer(b, 0, 1) == 25 && integer(b, 1, 1) == 5 && integer(b, 2, 1) == 5,
		   "are clipped");
		is_str(column_word(r, b, 3, 0), "open", "a name");
		is_str(column_word(r, b, 4, 0), "outer", "a caller");
		ok(integer(b, 5, 0) == 1, "unfinished");
		trstream_batch_free(b);
	}
	ok(!trstream_reader_next_batch(r, &b), "the end");
	trstream_reader_close(r);
}

static void test_queries(void)
{
	static const char *const columns[] = {"time"};
	struct trstream_query q = {.since = "yesterday"};
	struct trstream_reader *r = trstream_reader_open(path);
	struct trstream_batch *b;
	uint64_t offset;

	ok(trstream_reader_next_batch(r, &b) == -1 && !b, "no query");
	trstream_reader_close(r);
	r = trstream_reader_open(path);
	ok(trstream_reader_select(r, &q) == -1 && strstr(trstream_reader_error(r), "yesterday"),
	   "no time");
	ok(!trstream_reader_next_batch(r, &b), "ends the stream");
	trstream_reader_close(r);
	r = open_query(TRSTREAM_EVENTS, columns, 1, "evnt", NULL);
	ok(trstream_reader_next_batch(r, &b) == -1 &&
		   strstr(trstream_reader_error(r), "no event has the type 'evnt'; did you mean "
						    "'event'?"),
	   "no such type");
	is_str(trstream_reader_error_place(r, &offset), path, "the file of the error");
	ok(offset == UINT64_MAX, "which has no offset");
	trstream_reader_close(r);
	r = open_query(TRSTREAM_EVENTS, columns, 1, "event", NULL);
	ok(trstream_reader_select(r, &q) == -1, "a second query");
	ok(trstream_reader_next_batch(r, &b) == 1 && b->rows == 1, "events of a type");
	trstream_batch_free(b);
	trstream_batch_free(NULL);
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

/* The samples that test_samples wrote. */
static void test_columns_samples(void)
{
	static const char *const columns[] = {"weight", "name", "stack"};
	struct trstream_reader *r = open_query(TRSTREAM_SAMPLES, columns, 3, NULL, NULL);
	struct trstream_batch *b;
	uint32_t name, caller;
	size_t size;

	if (!ok(trstream_reader_next_batch(r, &b) == 1 && b->rows == 2, "a batch of samples"))
		return;
	ok(integer(b, 0, 0) == 5000 && integer(b, 0, 1) == 1, "weights");
	is_str(column_word(r, b, 1, 1), "main", "a name");
	ok(trstream_reader_stack(r, (uint32_t)integer(b, 2, 0), &name, &caller), "a stack");
	is_str(trstream_reader_text(r, name, &size), "f", "its innermost function");
	is_u64(caller, (uint64_t)integer(b, 2, 1), "the stack of its caller");
	ok(trstream_reader_stack(r, caller, &name, &caller) && !caller, "the outermost frame");
	ok(!trstream_reader_stack(r, 0, &name, &caller) &&
		   !trstream_reader_stack(r, UINT32_MAX, &name, &caller),
	   "no such stacks");
	trstream_batch_free(b);
	trstream_reader_close(r);
}

int main(void)
{
	int fd = mkstemp(path);

	close(fd);
	unlink(path);
	test_write();
	test_read();
	test_columns();
	test_columns_calls();
	test_queries();
	unlink(path);
	test_failed();
	test_samples();
	test_columns_samples();
	unlink(path);
	return done();
}
