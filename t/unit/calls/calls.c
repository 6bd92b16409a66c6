/* Pairing of enters and leaves: every rule of common/calls/calls.h. */
#include <stdlib.h>
#include <time.h>

#include "common/calls/calls.h"
#include "t/unit/tap.h"

enum { MAIN, F, G, H, LEAF, EXECL, EXECVE, LOCATIONS };

static const struct type entry = {.kind = KIND_ENTER, .flags = TYPE_DEPTH},
			 leaving = {.kind = KIND_LEAVE, .flags = TYPE_DEPTH},
			 plain_entry = {.kind = KIND_ENTER}, plain_leave = {.kind = KIND_LEAVE},
			 sched_out = {.kind = KIND_ENTER, .flags = TYPE_INNER},
			 sched_in = {.kind = KIND_LEAVE, .flags = TYPE_INNER},
			 irq_entry = {.kind = KIND_ENTER, .flags = TYPE_PER_CPU},
			 irq_leave = {.kind = KIND_LEAVE, .flags = TYPE_PER_CPU},
			 kernel_entry = {.kind = KIND_ENTER, .flags = TYPE_DEPTH | TYPE_KERNEL},
			 kernel_leave = {.kind = KIND_LEAVE, .flags = TYPE_DEPTH | TYPE_KERNEL},
			 note = {.kind = KIND_INSTANT},
			 sched_note = {.kind = KIND_INSTANT, .flags = TYPE_INNER};

static struct dictionary dictionary;
static uint32_t location[LOCATIONS];
static struct lane lanes[4] = {{.number = 1, .thread = 1, .cpu_thread = 9},
			       {.number = 2, .thread = 2, .cpu_thread = 9},
			       {.number = 3, .thread = 1, .cpu_thread = 8},
			       {.number = 4, .thread = 3, .cpu_thread = 8}};

static struct calls calls;
static struct call done_call;
static unsigned lane;
static bool in_line;
static uint64_t tried;

static void begin(void)
{
	calls_init(&calls, &dictionary);
	lane = 0;
}

/* As a loop over narrow rows does it. */
static enum calls_result feed(const struct type *t, uint64_t time, uint32_t where, uint32_t depth)
{
	const struct lane *l = &lanes[lane];
	struct event e = {.time = time, .type = t, .lane = l, .location = where, .depth = depth};
	uint32_t locations[] = {0, where};
	struct block b = {.base = time,
			  .rows = 1,
			  .row_flags = EVENTS_BARE,
			  .types = &t,
			  .ntypes = 1,
			  .lanes = &l,
			  .nlanes = 1,
			  .locations = locations,
			  .nlocations = 1};
	struct plain_row row = {.time = time, .location = 1, .depth = depth};
	enum calls_result got;
	struct calls_rows cr;

	if (calls_rows(&calls, &b, &cr))
		return CALLS_NONE;
	got = !in_line	   ? CALLS_SLOW
	      : cr.careful ? calls_quick_row(&calls, &cr, &row, &done_call, CALLS_CAREFUL)
			   : calls_quick_row(&calls, &cr, &row, &done_call, 0);
	tried += got != CALLS_SLOW;
	return got == CALLS_SLOW ? calls_next(&calls, &e, &done_call) : got;
}

static enum calls_result in(uint64_t time, int p, uint32_t depth)
{
	return feed(&entry, time, location[p], depth);
}

/* The leave, and whether it ended a call of that total and self time. */
static bool out(uint64_t time, int p, uint32_t depth, uint64_t total, uint64_t self)
{
	if (feed(&leaving, time, location[p], depth) != CALLS_LEAVE)
		return false;
	if (done_call.location == location[p] && done_call.total == total &&
	    done_call.self == self && done_call.end == time && done_call.start == time - total &&
	    !done_call.unfinished)
		return true;
	printf("# location %u total %lu self %lu start %lu\n", done_call.location,
	       (unsigned long)done_call.total, (unsigned long)done_call.self,
	       (unsigned long)done_call.start);
	return false;
}

static bool finish(int p, uint64_t total, uint64_t self)
{
	uint32_t want = p < 0 ? 0 : location[p];

	return calls_finish(&calls, &done_call) && done_call.location == want &&
	       done_call.total == total && done_call.self == self && done_call.unfinished;
}

static void end(uint64_t unfinished, uint64_t unmatched, uint64_t dropped, const char *what)
{
	while (calls_finish(&calls, &done_call))
		;
	if (!ok(calls.counts.unfinished == unfinished && calls.counts.unmatched == unmatched &&
			calls.counts.lost == dropped && !calls.out_of_memory,
		what))
		printf("# unfinished %lu unmatched %lu dropped %lu\n",
		       (unsigned long)calls.counts.unfinished,
		       (unsigned long)calls.counts.unmatched, (unsigned long)calls.counts.lost);
	calls_free(&calls);
}

static void test_nesting(void)
{
	begin();
	ok(in(100, MAIN, 0) == CALLS_ENTER && in(110, F, 1) == CALLS_ENTER &&
		   in(120, G, 2) == CALLS_ENTER,
	   "enters open frames");
	ok(out(125, G, 2, 5, 5), "a leaf is all self");
	is_u64(done_call.caller, location[F], "the caller is the frame below");
	is_u64(done_call.level, 2, "its level is the number of frames below");
	in(130, G, 2);
	out(137, G, 2, 7, 7);
	ok(out(150, F, 1, 40, 28), "self is total less the callees");
	ok(!done_call.recursive && !done_call.inner, "neither recursive nor inner");
	ok(out(200, MAIN, 0, 100, 60), "only direct callees count");
	ok(!done_call.caller && !done_call.level, "the outermost call has no caller");
	ok(in(300, LEAF, 0) == CALLS_ENTER && out(300, LEAF, 0, 0, 0), "a call may take no time");
	ok(feed(&note, 310, 0, 0) == CALLS_NONE, "an instant is no call");
	end(0, 0, 0, "nothing is left");
}

static void test_recursion(void)
{
	begin();
	in(0, MAIN, 0);
	in(10, F, 1);
	in(20, G, 2);
	in(30, F, 3);
	in(40, F, 4);
	ok(out(50, F, 4, 10, 10) && done_call.recursive, "a frame of the same location below");
	ok(out(60, F, 3, 30, 20) && done_call.recursive, "also with another one between");
	ok(out(70, G, 2, 50, 20) && !done_call.recursive, "what is not called by itself");
	ok(out(80, F, 1, 70, 20) && !done_call.recursive, "the outermost one");
	in(90, F, 1);
	ok(out(95, F, 1, 5, 5) && !done_call.recursive, "and a call after it");
	in(100, G, 1);
	ok(out(110, H, 1, 10, 10) && !done_call.recursive, "a call is named by its leave");
	in(120, G, 1);
	in(130, LEAF, 2);
	ok(out(140, G, 2, 10, 10) && done_call.recursive, "recursion is found by that name too");
	out(150, G, 1, 30, 20);
	out(160, MAIN, 0, 160, 160 - 70 - 5 - 10 - 30);
	end(0, 0, 0, "nothing is left");
}

static void test_depth(void)
{
	begin();
	in(0, MAIN, 0);
	in(10, F, 1);
	in(20, G, 2);
	in(30, H, 3);
	/* leaves of H and G are lost */
	ok(in(100, LEAF, 2) == CALLS_ENTER, "an enter ends what is as deep");
	is_u64(calls.counts.lost, 2, "frames ended so are counted");
	ok(out(110, LEAF, 2, 10, 10) && done_call.caller == location[F], "and have gone");
	ok(out(120, F, 1, 110, 100), "they add nothing to their parent");
	in(130, F, 1);
	in(140, G, 2);
	in(150, H, 3);
	/* longjmp: a leave of one further down */
	ok(out(160, F, 1, 30, 30), "a leave ends what is deeper");
	is_u64(calls.counts.lost, 4, "and counts it");
	ok(feed(&leaving, 170, location[F], 1) == CALLS_NONE,
	   "a leave without a frame of its depth");
	is_u64(calls.counts.unmatched, 1, "is counted, not invented");
	ok(out(180, MAIN, 0, 180, 180 - 110 - 30), "and shifts nothing");
	/* enters were lost */
	in(200, MAIN, 0);
	in(210, H, 5);
	ok(out(215, H, 5, 5, 5) && done_call.level == 1, "a gap in the depths");
	ok(feed(&leaving, 220, location[G], 4) == CALLS_NONE, "a leave inside the gap");
	ok(out(230, MAIN, 0, 30, 25), "the frame below the gap");
	end(0, 2, 4, "counts");
}

static void test_middle(void)
{
	begin();
	/* a thread that is seen first in the middle of things, by an enter */
	ok(in(100, G, 2) == CALLS_ENTER && out(110, G, 2, 10, 10), "the first enter is at depth 2");
	is_u64(done_call.level, 2, "two frames are below it");
	ok(!done_call.caller, "whose caller is unknown");
	ok(out(130, F, 1, 30, 20), "they are open since the first event");
	in(140, LEAF, 1);
	out(150, LEAF, 1, 10, 10);
	ok(out(200, MAIN, 0, 100, 60), "to the lowest");
	ok(feed(&leaving, 210, location[MAIN], 0) == CALLS_NONE, "below it is nothing");
	end(0, 1, 0, "counts");

	begin();
	ok(out(50, F, 1, 0, 0), "the first event is a leave: it closes an unseen frame");
	in(60, G, 1);
	out(75, G, 1, 15, 15);
	end(1, 0, 0, "the unseen frame below is closed by the end");
	begin();
	out(50, F, 2, 0, 0);
	feed(&note, 80, 0, 0);
	ok(finish(-1, 30, 30) && done_call.recursive && done_call.level == 1,
	   "unknown ones of two");
	ok(finish(-1, 30, 0) && !done_call.recursive && !done_call.level, "count as one function");
	is_u64((uintptr_t)done_call.type, (uintptr_t)&leaving, "their type is the thread's");
	end(2, 0, 0, "both unfinished");

	begin();
	in(10, G, 3);
	in(20, H, 1); /* leaves of G and of two unseen frames were lost */
	ok(out(30, H, 1, 10, 10) && done_call.level == 1, "an enter ends unseen frames too");
	ok(out(40, MAIN, 0, 30, 20), "the one below stays");
	end(0, 0, 1, "counts");
}

static void test_inner(void)
{
	begin();
	ok(feed(&sched_out, 5, location[H], 0) == CALLS_NONE, "an inner one outside of any call");
	ok(feed(&sched_in, 6, location[H], 0) == CALLS_NONE && !calls.counts.unmatched,
	   "is nothing");
	in(10, MAIN, 0);
	in(20, F, 1);
	ok(feed(&sched_out, 30, location[H], 0) == CALLS_ENTER, "an inner one is a callee");
	ok(feed(&sched_in, 70, location[H], 0) == CALLS_LEAVE && done_call.inner &&
		   done_call.total == 40 && done_call.caller == location[F] && done_call.level == 2,
	   "of the open call");
	ok(out(80, F, 1, 60, 20), "whose self it is not");
	ok(feed(&sched_in, 85, location[H], 0) == CALLS_NONE && !calls.counts.unmatched,
	   "one without its enter");
	feed(&sched_out, 90, location[H], 0);
	ok(in(100, F, 1) == CALLS_ENTER, "an enter at its depth");
	is_u64(calls.counts.lost, 1, "ends it");
	feed(&sched_out, 110, location[H], 0);
	ok(out(120, F, 1, 20, 20), "a leave of the call below it does too");
	feed(&sched_out, 150, location[H], 0);
	feed(&note, 190, 0, 0);
	ok(finish(H, 40, 40) && done_call.inner, "one open at the end");
	ok(finish(MAIN, 180, 180 - 60 - 20 - 40), "and its caller");
	end(2, 0, 2, "counts");

	begin();
	feed(&plain_entry, 10, location[F], 0);
	feed(&sched_out, 20, location[H], 0);
	ok(feed(&plain_leave, 50, 0, 0) == CALLS_LEAVE && done_call.location == location[F] &&
		   done_call.total == 40,
	   "a leave without depth passes over it");
	end(0, 0, 0, "counts");

	/* first events of a child of fork are those of the scheduler */
	begin();
	feed(&sched_in, 5, location[H], 0);
	feed(&sched_out, 6, location[H], 0);
	feed(&sched_in, 9, location[H], 0);
	ok(out(20, F, 2, 0, 0), "its frames begin with its first record");
	ok(out(30, G, 1, 10, 10) && out(40, MAIN, 0, 20, 10), "all of them");
	end(0, 0, 0, "counts");
}

static void test_without_depth(void)
{
	begin();
	feed(&plain_entry, 0, location[F], 77);
	feed(&plain_entry, 10, location[G], 3);
	ok(feed(&plain_leave, 30, location[G], 9) == CALLS_LEAVE && done_call.total == 20 &&
		   done_call.level == 1,
	   "a type without depth pairs by stack alone");
	ok(feed(&plain_leave, 50, 0, 0) == CALLS_LEAVE && done_call.location == location[F] &&
		   done_call.self == 30,
	   "a leave without a location takes its enter's");
	ok(feed(&plain_leave, 60, location[F], 0) == CALLS_NONE, "a leave too many");
	end(0, 1, 0, "is counted");
}

static void test_threads(void)
{
	begin();
	in(0, MAIN, 0);
	lane = 1;
	in(10, F, 0);
	lane = 2; /* the first thread on another CPU, or with another name */
	ok(out(20, MAIN, 0, 20, 20) && done_call.lane == &lanes[2], "a thread may change its lane");
	lane = 1;
	ok(out(50, F, 0, 40, 40), "threads have stacks of their own");
	end(0, 0, 0, "counts");

	begin();
	in(0, MAIN, 0);
	feed(&irq_entry, 10, location[F], 0);
	lane = 1; /* another thread, the same CPU */
	ok(feed(&irq_leave, 15, location[F], 0) == CALLS_LEAVE && done_call.total == 5 &&
		   !done_call.level,
	   "types per CPU nest per CPU, whoever runs there");
	lane = 2;
	ok(feed(&irq_leave, 16, location[F], 0) == CALLS_NONE, "and not on another one");
	ok(out(20, MAIN, 0, 20, 20), "and are no callees of the thread");
	end(0, 1, 0, "counts");

	/* cat a b: threads of another stream are others, each ends at its own last event */
	begin();
	in(1000, MAIN, 0);
	in(1100, F, 1);
	lane = 3;
	in(10, MAIN, 0);
	out(30, MAIN, 0, 20, 20);
	in(40, G, 0);
	feed(&note, 45, 0, 0);
	ok(finish(F, 0, 0) && finish(MAIN, 100, 100) && finish(G, 5, 5),
	   "what is open ends with its own thread");
	end(3, 0, 0, "counts");
}

static void test_exec(void)
{
	begin();
	in(0, MAIN, 0);
	in(10, F, 1);
	in(20, EXECL, 2);
	ok(feed(&sched_out, 22, location[H], 0) == CALLS_NONE, "nothing is a callee of an exec");
	ok(in(100, G, 0) == CALLS_ENTER && out(110, G, 0, 10, 10),
	   "the new image begins with an empty stack");
	ok(!done_call.level && !done_call.caller, "with an empty stack");
	is_u64(calls.counts.lost, 0, "nothing was lost");
	ok(in(120, MAIN, 0) == CALLS_ENTER && out(130, MAIN, 0, 10, 10) && !done_call.recursive,
	   "frames of the old image are open no more");
	end(0, 0, 0, "an exec that succeeds is no call");

	begin();
	in(0, MAIN, 0);
	in(10, F, 1);
	in(20, EXECL, 2);
	ok(out(50, EXECL, 2, 30, 30) && done_call.caller == location[F],
	   "one that fails is a call");
	in(55, F, 2);
	ok(out(60, F, 2, 5, 5) && done_call.recursive, "the stack is what it was");
	ok(out(70, F, 1, 60, 25) && out(80, MAIN, 0, 80, 20), "down to its end");
	end(0, 0, 0, "counts");

	begin();
	in(0, MAIN, 0);
	in(10, EXECL, 1);
	end(0, 0, 0, "nothing follows it: it succeeded");

	begin();
	in(0, MAIN, 0);
	in(10, EXECL, 1);
	ok(in(12, EXECVE, 2) == CALLS_ENTER && in(14, LEAF, 3) == CALLS_ENTER,
	   "calls inside an exec");
	ok(out(15, LEAF, 3, 1, 1) && done_call.level == 3, "are calls");
	ok(out(20, EXECVE, 2, 8, 7), "an exec inside an exec that fails");
	ok(out(30, EXECL, 1, 20, 12), "and the outer one with it");
	ok(out(40, MAIN, 0, 40, 20), "and the stack is there");
	end(0, 0, 0, "counts");

	begin();
	in(0, MAIN, 0);
	in(10, EXECL, 1);
	in(14, LEAF, 2);
	out(15, LEAF, 2, 1, 1);
	end(0, 0, 0, "calls inside one that succeeds, and nothing follows");
	begin();
	in(0, MAIN, 0);
	in(10, EXECVE, 1);
	in(14, LEAF, 2);
	out(15, LEAF, 2, 1, 1);
	in(50, MAIN, 0);
	ok(out(60, MAIN, 0, 10, 10) && !done_call.recursive, "or the new image");
	end(0, 0, 0, "counts");

	begin();
	in(0, MAIN, 0);
	in(10, F, 1);
	in(20, EXECL, 2);
	ok(out(90, F, 1, 80, 80), "the leave of a failed exec was lost");
	end(1, 0, 1, "its stack goes on");

	begin();
	feed(&plain_entry, 0, location[MAIN], 0);
	feed(&plain_entry, 10, location[EXECVE], 0);
	ok(feed(&plain_leave, 15, location[EXECVE], 0) == CALLS_LEAVE && done_call.total == 5,
	   "without depths too a leave says that it failed");
	feed(&plain_entry, 20, location[EXECVE], 0);
	feed(&plain_entry, 30, location[MAIN], 0);
	ok(feed(&plain_leave, 35, location[MAIN], 0) == CALLS_LEAVE && !done_call.level,
	   "and an enter that it succeeded");
	end(0, 0, 0, "counts");
}

static void test_end(void)
{
	begin();
	in(100, MAIN, 0);
	lane = 2; /* the same thread on another CPU */
	in(110, F, 1);
	lane = 0;
	feed(&note, 150, 0, 0);
	ok(finish(F, 40, 40) && done_call.lane == &lanes[2],
	   "an open call has the lane of its enter");
	ok(finish(MAIN, 50, 10) && done_call.lane == &lanes[0] && !done_call.kernel,
	   "so has its caller");
	end(2, 0, 0, "both are counted");

	begin();
	in(100, MAIN, 0);
	in(110, F, 1);
	feed(&note, 150, 0, 0);
	lane = 1;
	feed(&note, 900, 0, 0);
	ok(finish(F, 40, 40) && done_call.end == 150,
	   "open calls end with their thread's last event");
	ok(finish(MAIN, 50, 10), "each in its caller");
	is_u64((uintptr_t)done_call.type, (uintptr_t)&entry, "of the type of its enter");
	ok(!calls_finish(&calls, &done_call), "and that is all");
	end(2, 0, 0, "they are counted");

	begin();
	in(100, MAIN, 0);
	in(110, F, 1);
	out(190, F, 1, 80, 80);
	feed(&note, 150, 0, 0); /* a clock that steps back */
	ok(finish(MAIN, 80, 0), "a caller took at least what its callees took");
	end(1, 0, 0, "counts");

	begin();
	in(100, MAIN, 0);
	in(110, F, 1);
	ok(feed(&leaving, 90, location[F], 1) == CALLS_LEAVE && !done_call.total && !done_call.self,
	   "no call takes less than no time");
	end(1, 0, 0, "counts");
}

/* Depths of 16 bits, and costs that do not grow with them. */
static void test_deep(void)
{
	clock_t start = clock();
	uint64_t t = 0, sum = 0;

	begin();
	for (uint32_t d = 0; d < 65535; d++)
		in(t++, F + d % 3, d);
	for (int i = 0; i < 200000; i++) {
		/* a place that shares its bucket with others, and one that is open far below */
		in(t++, i % 2 ? LEAF : MAIN, 65535);
		sum += feed(&leaving, t++, location[i % 2 ? LEAF : MAIN], 65535) == CALLS_LEAVE &&
		       !done_call.recursive;
	}
	is_u64(sum, 200000, "leaves on a stack of 65535");
	for (uint32_t d = 65535, i = 0; i < 65535; i++) {
		d--;
		sum -= feed(&leaving, t++, location[F + d % 3], d) == CALLS_LEAVE &&
		       done_call.recursive == (d > 2);
	}
	is_u64(sum, 200000 - 65535, "and all of its frames");
	end(0, 0, 0, "no more is open");

	begin();
	for (uint32_t d = 0; d < 65535; d++)
		feed(&entry, t++, 1000 + d * 8, d);
	for (sum = 0; sum < 100000; sum++) {
		feed(&entry, t++, 1000 + 65535 * 8, 65535);
		feed(&leaving, t++, 1000 + 65535 * 8, 65535);
	}
	end(65535, 0, 0, "65535 functions open at once");

	begin();
	in(t++, F, 65535);
	end(65536, 0, 0, "65535 frames that were never seen");
	/* nested scans would take minutes */
	ok(clock() - start < 20 * CLOCKS_PER_SEC, "in time that does not depend on the depth");
}

static bool kernel_out(uint64_t time, int p, uint32_t depth, uint64_t total, uint64_t self)
{
	return feed(&kernel_leave, time, location[p], depth) == CALLS_LEAVE &&
	       done_call.location == location[p] && done_call.total == total &&
	       done_call.self == self;
}

static void test_kernel(void)
{
	begin();
	ok(feed(&kernel_entry, 1, location[G], 0) == CALLS_NONE &&
		   feed(&kernel_leave, 2, location[G], 0) == CALLS_NONE && !calls.counts.unmatched,
	   "the kernel outside any call is nothing");
	in(10, MAIN, 0);
	in(20, F, 1);
	feed(&kernel_entry, 30, location[G], 0);
	feed(&kernel_entry, 32, location[H], 1);
	ok(kernel_out(36, H, 1, 4, 4) && done_call.level == 3 && done_call.caller == location[G],
	   "a call in the kernel on top of another one");
	ok(kernel_out(40, G, 0, 10, 6) && done_call.level == 2 && done_call.caller == location[F],
	   "and on top of the thread's call");
	ok(out(50, F, 1, 30, 20), "whose own the time in there is not");
	/* a system call for the time of a record: 60 to 64 before the enter, 64 to 66 after it */
	feed(&kernel_entry, 60, location[G], 0);
	in(64, F, 1);
	ok(kernel_out(66, G, 0, 6, 6), "a call in the kernel outlasts an enter");
	feed(&kernel_entry, 70, location[G], 0);
	ok(out(75, F, 1, 11, 4), "what is left is charged for its part");
	ok(kernel_out(77, G, 0, 7, 7), "and the call in the kernel goes on");
	feed(&kernel_entry, 80, location[G], 0);
	feed(&sched_out, 81, location[LEAF], 0);
	feed(&kernel_entry, 83, location[H], 1);
	ok(kernel_out(84, H, 1, 1, 1), "inside of scheduling");
	ok(feed(&sched_note, 84, 0, 0) == CALLS_NONE, "an instant in the kernel ends no call");
	ok(feed(&sched_in, 85, location[LEAF], 0) == CALLS_LEAVE && done_call.total == 4 &&
		   done_call.self == 3 && done_call.caller == location[G],
	   "scheduled out in the kernel");
	ok(kernel_out(88, G, 0, 8, 4), "and back");
	feed(&kernel_entry, 90, location[G], 0);
	in(91, F, 1);
	ok(out(92, F, 1, 1, 1) && calls.counts.lost == 1, "a leave in the kernel was lost");
	ok(feed(&kernel_leave, 93, location[G], 0) == CALLS_NONE && calls.counts.unmatched == 1,
	   "and comes too late");
	feed(&kernel_entry, 94, location[G], 0);
	feed(&note, 100, 0, 0);
	ok(finish(G, 6, 6) && done_call.type == &kernel_entry && done_call.kernel,
	   "open at the end, in the kernel");
	ok(finish(MAIN, 90, 90 - 30 - 4 - 11 - 2 - 8 - 1 - 1 - 6), "and below it");
	calls_free(&calls);
}

/* Rows are left out, and the stream says what they would have shown. */
static void test_left_out(void)
{
	struct thread_facts facts[2] = {[1] = {.lane = &lanes[0], .left_out = true}};

	dictionary.facts = facts;
	dictionary.nfacts = 2;
	begin();
	in(200, F, 3);
	ok(out(300, F, 3, 100, 100) && !done_call.level, "calls below may have been left out");
	ok(out(400, F, 2, 0, 0) == false && calls.counts.unmatched == 1,
	   "nothing is known of them");
	end(0, 1, 0, "a leave without an enter");

	facts[1] = (struct thread_facts){.lane = &lanes[0],
					 .left_out = true,
					 .since = 100,
					 .unseen = 3,
					 .last = 900,
					 .has_open = true,
					 .open = 2};
	begin();
	in(200, F, 3);
	ok(out(300, F, 3, 100, 100) && done_call.level == 3, "calls without an enter are callers");
	ok(out(400, G, 2, 300, 200), "one of them ends: it is open since the first event");
	in(450, F, 2);
	ok(out(460, F, 2, 10, 10), "inside of the next");
	ok(out(500, H, 1, 400, 90), "of which it takes its part");
	in(600, F, 1);
	in(610, G, 2);
	in(620, LEAF, 3);
	ok(finish(F, 300, 300), "the last event of the thread was left out");
	end(1, 0, 2,
	    "as were the rows that ended what was deeper, and that of a call without an enter");

	facts[1] = (struct thread_facts){.lane = &lanes[0]};
	begin();
	in(200, F, 3);
	facts[1].left_out = true;
	ok(out(300, F, 3, 100, 100) && done_call.level == 3, "from a later row on");
	end(0, 0, 0, "calls without an enter or a leave do not count");
	dictionary.facts = NULL;
	dictionary.nfacts = 0;
}

int main(void)
{
	static const char *const names[LOCATIONS] = {"main", "f",     "g",     "h",
						     "leaf", "execl", "execve"};

	if (dictionary_init(&dictionary))
		return 1;
	/* enough of them for the locations of test_deep: the name of each is looked up */
	for (uint32_t i = 0; i < 1000 + 65536 * 8; i++) {
		struct location *p = pool_add(&dictionary.locations);

		if (!p)
			return 1;
		p->number = dictionary.locations.count - 1;
		if (i < LOCATIONS) {
			p->name = dictionary_text(&dictionary, names[i], strlen(names[i]));
			location[i] = p->number;
		}
	}
	for (int i = 0; i < 2; i++) {
		in_line = i;
		tried = 0;
		test_nesting();
		test_recursion();
		test_depth();
		test_middle();
		test_inner();
		test_without_depth();
		test_threads();
		test_exec();
		test_end();
		test_kernel();
		test_deep();
		test_left_out();
	}
	ok(tried > 400000, "most calls are taken by the fast path");
	dictionary_free(&dictionary);
	return done();
}
