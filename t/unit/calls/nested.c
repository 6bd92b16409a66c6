/* Calls with numbers on the stacks of their threads (calls.numbers_on_stacks). */
#include "common/calls/calls.h"
#include "t/unit/tap.h"

enum { MAIN, F, G, LOCATIONS };

static const struct field call_field = {.kind = FIELD_UINT, .role = ROLE_CALL, .size = 4};
static struct type entry = {.kind = KIND_ENTER, .flags = TYPE_DEPTH},
		   leaving = {.kind = KIND_LEAVE, .flags = TYPE_DEPTH},
		   plain_entry = {.kind = KIND_ENTER}, plain_leave = {.kind = KIND_LEAVE},
		   number_entry = {.kind = KIND_ENTER, .flags = TYPE_CALL_NUMBER, .fixed_size = 4},
		   number_leave = {.kind = KIND_LEAVE, .flags = TYPE_CALL_NUMBER, .fixed_size = 4};

static struct dictionary dictionary;
static uint32_t location[LOCATIONS];
static const struct source source = {.number = 1};
static const struct lane lanes[2] = {{.number = 1, .thread = 1, .source = &source},
				     {.number = 2, .thread = 2, .source = &source}};
static struct calls calls;
static struct call done_call;
static char events[512];

/* Append "L" and the duration of a call that is lost. */
static void on_lost(void *ctx, struct stack *s, const struct frame *f, void *data,
		    enum calls_lost why)
{
	size_t n = strlen(events);

	(void)ctx;
	(void)data;
	(void)why;
	snprintf(events + n, sizeof events - n, "L%lu ",
		 (unsigned long)(calls.stacks[s->number]->last - f->start));
}

static void begin(void)
{
	calls_init(&calls, &dictionary);
	calls.numbers_on_stacks = true;
	calls.data_size = sizeof(uint32_t);
	calls.on_lost = on_lost;
	events[0] = 0;
}

/* Append E and the level of a call that is entered, its level and duration if it is left. */
static void feed_at(unsigned lane, const struct type *t, uint64_t time, int where, uint32_t number)
{
	size_t n;
	uint8_t fixed[4];
	struct event e = {.time = time,
			  .type = t,
			  .lane = &lanes[lane],
			  .location = location[where],
			  .depth = t->flags & TYPE_CALL_NUMBER ? 0 : number,
			  .fixed = fixed};
	enum calls_result got;

	put_u32(fixed, number);
	got = calls_next(&calls, &e, &done_call);
	n = strlen(events);
	if (got == CALLS_ENTER)
		snprintf(events + n, sizeof events - n, "E%zu ", calls.stacks[lane + 1]->count - 1);
	else if (got == CALLS_LEAVE)
		snprintf(events + n, sizeof events - n, "%u:%lu ", done_call.level,
			 (unsigned long)done_call.total);
}

static void feed(const struct type *t, uint64_t time, int where, uint32_t number)
{
	feed_at(0, t, time, where, number);
}

static void end(const char *want, uint64_t unmatched, uint64_t unfinished, const char *what)
{
	while (calls_finish(&calls, &done_call))
		;
	is_str(events, want, what);
	ok(calls.counts.unmatched == unmatched && calls.counts.unfinished == unfinished &&
		   !calls.out_of_memory,
	   "calls without a beginning or an end");
	calls_free(&calls);
}

static void test_nesting(void)
{
	begin();
	feed(&entry, 0, MAIN, 0);
	feed(&number_entry, 10, F, 7);
	feed(&entry, 20, G, 1);
	feed(&number_entry, 30, F, 8);
	feed(&number_leave, 35, F, 8);
	feed(&leaving, 40, G, 1);
	feed(&number_leave, 50, F, 7);
	feed(&leaving, 60, MAIN, 0);
	end("E0 E1 E2 E3 3:5 2:20 1:40 0:60 ", 0, 0, "calls with and without numbers nest");
	begin();
	feed(&number_entry, 0, F, 7);
	feed(&entry, 10, MAIN, 2);
	feed(&leaving, 20, MAIN, 2);
	feed(&leaving, 25, G, 1);
	feed(&number_leave, 30, F, 7);
	end("E0 E1 3:10 2:30 ", 1, 2, "the calls below one with a recorded depth were not seen");
	begin();
	feed_at(0, &number_entry, 0, F, 7);
	feed_at(1, &number_leave, 5, F, 7);
	feed_at(0, &number_leave, 9, F, 7);
	feed_at(0, &number_leave, 10, F, 7);
	end("E0 0:9 ", 2, 0, "a leave of another thread, and a second one");
}

static void test_lost(void)
{
	begin();
	feed(&entry, 0, MAIN, 0);
	feed(&number_entry, 10, F, 7);
	feed(&number_entry, 20, F, 8);
	feed(&leaving, 30, MAIN, 0);
	feed(&number_leave, 40, F, 7);
	end("E0 E1 E2 L10 L20 0:30 ", 1, 0, "the leave of the call below ends them");
	begin();
	feed(&number_entry, 0, F, 7);
	feed(&entry, 10, MAIN, 0);
	feed(&number_entry, 20, F, 8);
	feed(&number_leave, 30, F, 7);
	end("E0 E1 E2 L10 L20 0:30 ", 0, 0, "a leave ends the calls on top");
	begin();
	feed(&entry, 0, MAIN, 0);
	feed(&entry, 10, F, 1);
	feed(&number_entry, 20, F, 7);
	feed(&entry, 30, G, 1);
	feed(&number_entry, 40, F, 7);
	feed(&number_leave, 50, F, 7);
	end("E0 E1 E2 L10 L20 E1 E2 2:10 ", 0, 2,
	    "an enter ends the calls as deep; their numbers can be used again");
	begin();
	feed(&plain_entry, 0, MAIN, 0);
	feed(&number_entry, 10, F, 7);
	feed(&number_entry, 20, F, 7);
	feed(&number_leave, 30, F, 7);
	feed(&plain_leave, 40, MAIN, 0);
	feed(&number_entry, 50, F, 9);
	feed(&plain_leave, 60, MAIN, 0);
	feed(&number_leave, 70, F, 9);
	end("E0 E1 E2 2:10 L30 0:40 E0 0:20 ", 1, 0,
	    "a number used twice; a leave without a depth is of a call of the stack");
}

int main(void)
{
	static const char *const names[] = {"main", "f", "g"};

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
	test_nesting();
	test_lost();
	dictionary_free(&dictionary);
	return done();
}
