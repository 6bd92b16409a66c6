/* Data of open calls, and calls that end without a leave (common/calls/calls.h). */
#include <string.h>

#include "common/calls/calls.h"
#include "t/unit/tap.h"

enum { MAIN, F, G, EXECVE, LOCATIONS };

static const struct field call_field = {.kind = FIELD_UINT, .role = ROLE_CALL, .size = 4};
static struct type entry = {.kind = KIND_ENTER, .flags = TYPE_DEPTH},
		   leaving = {.kind = KIND_LEAVE, .flags = TYPE_DEPTH},
		   sched_out = {.kind = KIND_ENTER, .flags = TYPE_INNER},
		   kernel_entry = {.kind = KIND_ENTER, .flags = TYPE_DEPTH | TYPE_KERNEL},
		   kernel_leave = {.kind = KIND_LEAVE, .flags = TYPE_DEPTH | TYPE_KERNEL},
		   number_entry = {.kind = KIND_ENTER, .flags = TYPE_CALL_NUMBER, .fixed_size = 4},
		   number_leave = {.kind = KIND_LEAVE, .flags = TYPE_CALL_NUMBER, .fixed_size = 4};

static struct dictionary dictionary;
static uint32_t location[LOCATIONS];
static const struct source source = {.number = 1};
static const struct lane lanes[2] = {{.number = 1, .thread = 1, .source = &source},
				     {.number = 2, .thread = 2, .source = &source}};

static struct calls calls;
static struct call done_call;
static unsigned lane;
static char lost[256];

/* Append the data of a lost call, why it was lost, and its duration: "7 depth 30; ". */
static void on_lost(void *ctx, struct stack *s, const struct frame *f, void *data,
		    enum calls_lost why)
{
	static const char *const names[] = {"depth", "inner", "exec", "kernel", "number"};
	size_t n = strlen(lost);
	uint32_t mark;

	(void)ctx;
	memcpy(&mark, data, sizeof mark);
	snprintf(lost + n, sizeof lost - n, "%u %s %lu; ", mark, names[why],
		 (unsigned long)(calls.stacks[s->number]->last - f->start));
}

static void begin(void)
{
	calls_init(&calls, &dictionary);
	calls.data_size = sizeof(uint32_t);
	calls.on_lost = on_lost;
	lane = 0;
	lost[0] = 0;
}

static void end(void)
{
	while (calls_finish(&calls, &done_call))
		;
	ok(!calls.out_of_memory, "there is memory");
	calls_free(&calls);
}

static enum calls_result feed(const struct type *t, uint64_t time, int where, uint32_t depth)
{
	uint8_t fixed[4];
	struct event e = {.time = time,
			  .type = t,
			  .lane = &lanes[lane],
			  .location = location[where],
			  .depth = t->flags & TYPE_CALL_NUMBER ? 0 : depth,
			  .fixed = fixed};

	put_u32(fixed, depth);
	return calls_next(&calls, &e, &done_call);
}

/* Enter a call whose data are all zero, and mark it. */
static bool enter(const struct type *t, uint64_t time, int where, uint32_t depth, uint32_t mark)
{
	static const uint32_t zero;

	if (feed(t, time, where, depth) != CALLS_ENTER ||
	    memcmp(done_call.data, &zero, sizeof zero))
		return false;
	memcpy(done_call.data, &mark, sizeof mark);
	return true;
}

static uint32_t mark(void)
{
	uint32_t m = 0;

	if (done_call.data)
		memcpy(&m, done_call.data, sizeof m);
	return m;
}

static void test_stack(void)
{
	bool good = true;

	begin();
	for (uint32_t i = 0; i < 1000; i++)
		good = good && enter(&entry, i, i & 1 ? F : G, i, i + 1);
	ok(good, "the data of a new call are zero");
	for (uint32_t i = 1000; i--;)
		good = good && feed(&leaving, 3000 - i, i & 1 ? F : G, i) == CALLS_LEAVE &&
		       mark() == i + 1;
	ok(good, "a leave finds the data of its enter");
	ok(enter(&entry, 4000, F, 0, 5) && enter(&entry, 4001, F, 1, 6), "zero also in used slots");
	ok(calls_finish(&calls, &done_call) && mark() == 6 && calls_finish(&calls, &done_call) &&
		   mark() == 5,
	   "calls open at the end have their data");
	is_str(lost, "", "no call was lost");
	end();
}

static void test_unseen(void)
{
	begin();
	enter(&entry, 100, F, 3, 7);
	ok(feed(&leaving, 150, F, 3) == CALLS_LEAVE && mark() == 7,
	   "a call has its data though its caller, whose enter was not read, becomes a frame");
	ok(feed(&leaving, 160, G, 2) == CALLS_LEAVE && !done_call.data,
	   "a call whose enter was not read has no data");
	ok(enter(&entry, 170, F, 2, 8), "the next call has its own");
	feed(&leaving, 180, G, 0);
	is_str(lost, "8 depth 10; ", "of a lost stack only the calls with an enter are lost");
	end();
}

static void test_lost(void)
{
	begin();
	enter(&entry, 0, MAIN, 0, 1);
	enter(&entry, 10, F, 1, 2);
	enter(&entry, 20, G, 2, 3);
	enter(&entry, 50, G, 1, 4);
	is_str(lost, "3 depth 30; 2 depth 40; ", "an enter ends the calls as deep, top first");
	lost[0] = 0;
	enter(&sched_out, 60, F, 0, 5);
	feed(&leaving, 70, G, 1);
	is_str(lost, "5 depth 10; ", "a leave ends the call scheduled out on top");
	ok(mark() == 4, "and finds its own data");
	lost[0] = 0;
	enter(&entry, 80, EXECVE, 1, 6);
	enter(&entry, 90, MAIN, 0, 7);
	is_str(lost, "6 exec 10; 1 exec 90; ", "an exec ends all calls");
	end();
}

/* Take a row in line if possible. */
static enum calls_result pair(const struct type *t, int where, uint32_t depth)
{
	struct event e = {.time = 1,
			  .type = t,
			  .lane = &lanes[0],
			  .location = location[where],
			  .depth = depth};
	enum calls_result got = calls_try_event(&calls, &e, &done_call, true);

	done_call.data = calls.data;
	return got == CALLS_SLOW ? calls_slow(&calls, &e, &done_call) : got;
}

/* With calls.pairs_only, in line or not, and with leaves of any location. */
static void test_pairs_only(void)
{
	bool good = true;

	begin();
	calls.pairs_only = calls.balances = true;
	for (uint32_t i = 0; i < 600; i++) {
		good = good && pair(&entry, i % 5 ? F : MAIN, i) == CALLS_ENTER;
		memcpy(done_call.data, &i, sizeof i);
	}
	for (uint32_t i = 600; i-- > 10;)
		good = good && pair(&leaving, G, i) == CALLS_LEAVE && mark() == i;
	ok(good, "pairs only: a leave finds the data of its enter");
	ok(pair(&entry, EXECVE, 3) == CALLS_ENTER && strlen(lost) > 20,
	   "an enter ends deeper calls");
	lost[0] = 0;
	memcpy(done_call.data, &(uint32_t){70}, 4);
	pair(&entry, F, 2);
	ok(!strncmp(lost, "70 exec", 7) && !calls.stacks[1]->exec && calls.stacks[1]->count == 1,
	   "and after an exec all calls");
	lost[0] = 0;
	pair(&kernel_entry, G, 0);
	pair(&leaving, F, 2);
	ok(calls.stacks[1]->kernel->count == 1 && pair(&kernel_leave, F, 0) == CALLS_LEAVE,
	   "calls in the kernel are apart");
	calls_free(&calls);
}

static void test_kernel(void)
{
	begin();
	feed(&kernel_entry, 0, F, 0);
	feed(&entry, 10, MAIN, 0);
	is_str(lost, "", "calls in the kernel outside any call are not reported");
	feed(&entry, 20, F, 1);
	memcpy(done_call.data, "\2\0\0", 4);
	enter(&kernel_entry, 30, G, 0, 3);
	enter(&kernel_entry, 35, G, 1, 4);
	feed(&leaving, 40, F, 1);
	ok(mark() == 2, "a call is left while calls in the kernel are open");
	is_str(lost, "", "which stay open for a row");
	feed(&entry, 50, F, 1);
	is_str(lost, "4 kernel 15; 3 kernel 20; ", "and end at the second");
	enter(&kernel_entry, 60, G, 0, 5);
	ok(feed(&kernel_leave, 70, G, 0) == CALLS_LEAVE && mark() == 5, "a leave in the kernel");
	end();
}

/* Calls that are dropped leave nothing behind, such as an open exec in the kernel. */
static void test_drop_all(void)
{
	begin();
	feed(&entry, 0, MAIN, 0);
	feed(&kernel_entry, 10, EXECVE, 0);
	ok(calls.stacks[1]->kernel->count == 1, "an exec is open in the kernel");
	calls_forget_all(&calls);
	feed(&entry, 20, MAIN, 0);
	/* as a snapshot restores a call */
	calls_put(&calls, calls.stacks[1]->kernel,
		  &(struct frame){.start = 30, .location = location[G], .begun = true});
	ok(feed(&sched_out, 40, F, 0) == CALLS_ENTER,
	   "a task is scheduled out in a later call of the kernel");
	end();
}

static void test_numbers(void)
{
	begin();
	ok(enter(&number_entry, 0, F, 70, 1) && enter(&number_entry, 1, F, 71, 2) &&
		   feed(&number_leave, 5, F, 70) == CALLS_LEAVE && mark() == 1,
	   "a numbered call has data");
	ok(enter(&number_entry, 6, F, 72, 3), "that are zero also in a used slot");
	enter(&number_entry, 10, G, 71, 4);
	is_str(lost, "2 number 9; ", "a number entered again ends the older call");
	ok(feed(&number_leave, 12, F, 71) == CALLS_LEAVE && mark() == 4 && done_call.total == 2,
	   "the leave belongs to the new call");
	lane = 1;
	enter(&number_entry, 20, F, 73, 5);
	lane = 0;
	enter(&number_entry, 21, F, 74, 6);
	ok(calls_finish(&calls, &done_call) && mark() == 6 && calls_finish(&calls, &done_call) &&
		   mark() == 3 && calls_finish(&calls, &done_call) && mark() == 5 &&
		   !calls_finish(&calls, &done_call),
	   "open calls end thread by thread, the last one first");
	end();
}

/* The enter and the leave of a call, as rows of a block. */
static bool try_numbered(uint32_t number)
{
	uint8_t enter_row[NARROW_ROW + 4] = {0}, leave_row[NARROW_ROW + 4] = {0};
	const struct lane *l = &lanes[0];
	const struct type *types[] = {&number_entry, &number_leave};
	struct block b = {.types = types, .lanes = &l, .ntypes = 2, .nlanes = 1};
	struct calls_rows cr;

	put_u32(enter_row + NARROW_ROW, number);
	put_u32(leave_row + NARROW_ROW, number);
	return !calls_rows(&calls, &b, &cr) &&
	       calls_try_numbered(&calls, &cr, enter_row, &(struct plain_row){.time = 50},
				  leave_row, &(struct plain_row){.time = 60, .type = 1});
}

static void test_numbers_in_line(void)
{
	begin();
	ok(try_numbered(8), "adjacent rows of a call are paired in line");
	enter(&number_entry, 20, F, 8, 1);
	ok(try_numbered(9) && !try_numbered(8), "but not if its number is open");
	enter(&number_entry, 30, F, 10, 2);
	feed(&number_leave, 40, F, 10);
	ok(try_numbered(9) && !try_numbered(8), "also when other calls were entered since");
	end();
}

/* Rows of few numbers in any order, in line where possible, against a table of the open calls. */
static void test_numbers_alone(void)
{
	uint32_t open[6] = {0}, seed = 1, in_line = 0;
	bool good = true;

	begin();
	calls.pairs_only = calls.balances = true;
	calls.on_lost = NULL;
	for (uint32_t i = 1; i < 5000 && good; i++) {
		uint32_t n = (seed = seed * 1103515245 + 12345) >> 20, number = n % 6;
		bool leave = i % 500 > 400 ? i & 1 : n / 6 % 2;
		uint8_t kind = leave ? KIND_LEAVE : KIND_ENTER;
		enum calls_result got;

		/* the end of each part are calls whose rows are adjacent */
		number = i % 500 > 400 ? i / 2 % 6 : number;
		got = calls_try_by_number(&calls, kind, source.number, number);
		in_line += got != CALLS_SLOW;
		done_call.data = calls.data;
		if (got == CALLS_SLOW)
			got = feed(leave ? &number_leave : &number_entry, i, F, number);
		good = leave ? (got == CALLS_LEAVE) == (open[number] != 0) : got == CALLS_ENTER;
		good = good && (got != CALLS_LEAVE || mark() == open[number]);
		open[number] = leave ? 0 : i;
		if (!leave && good)
			memcpy(done_call.data, &i, sizeof i);
	}
	ok(good && in_line > 1000, "each leave of a number finds the data of its enter");
	calls_free(&calls);
}

int main(void)
{
	static const char *const names[] = {"main", "f", "g", "execve"};

	if (dictionary_init(&dictionary))
		return 1;
	for (int i = 0; i < LOCATIONS; i++) {
		struct location *p = pool_add(&dictionary.locations);

		if (!p)
			return 1;
		location[i] = p->number = dictionary.locations.count - 1;
		p->name = dictionary_text(&dictionary, names[i], strlen(names[i]));
	}
	number_entry.fields = number_leave.fields = &call_field;
	number_entry.nfields = number_leave.nfields = 1;
	test_stack();
	test_unseen();
	test_lost();
	test_pairs_only();
	test_kernel();
	test_drop_all();
	test_numbers();
	test_numbers_in_line();
	test_numbers_alone();
	dictionary_free(&dictionary);
	return done();
}
