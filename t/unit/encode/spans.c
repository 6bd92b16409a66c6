/* links: cmd/trencode */
/* Calls as spans (spans.h): every call that was begun ends once, with what was kept. */
#include "cmd/trencode/spans.h"
#include "t/unit/tap.h"

enum { MAIN, F, G, EXECVE, LOCATIONS };

static const struct field call_field = {.kind = FIELD_UINT, .role = ROLE_CALL, .size = 4};
static struct type entry = {.kind = KIND_ENTER, .flags = TYPE_DEPTH},
		   leaving = {.kind = KIND_LEAVE, .flags = TYPE_DEPTH},
		   sched_out = {.kind = KIND_ENTER, .flags = TYPE_INNER},
		   sched_in = {.kind = KIND_LEAVE, .flags = TYPE_INNER},
		   kernel_entry = {.kind = KIND_ENTER, .flags = TYPE_DEPTH | TYPE_KERNEL},
		   kernel_leave = {.kind = KIND_LEAVE, .flags = TYPE_DEPTH | TYPE_KERNEL},
		   number_entry = {.kind = KIND_ENTER, .flags = TYPE_CALL_NUMBER, .fixed_size = 4},
		   number_leave = {.kind = KIND_LEAVE, .flags = TYPE_CALL_NUMBER, .fixed_size = 4};

static struct dictionary dictionary;
static uint32_t location[LOCATIONS];
static const struct source source = {.number = 1};
static const struct lane lanes[2] = {{.number = 1, .thread = 1, .source = &source},
				     {.number = 2, .thread = 2, .source = &source}};
static struct spans spans;
static struct error error;
static unsigned lane;
static char ended[512];

/* Keep a digit for each call: how many were begun before it. */
static int begin_call(void *ctx, const struct event *enter, const struct span *s,
		      struct buffer *keep, uint64_t *token, struct error *e)
{
	unsigned *begun = ctx;

	(void)enter;
	(void)e;
	*token = s->start;
	return buffer_u8(keep, (uint8_t)('0' + (*begun)++));
}

/* Append the kept digit, level, start and end: "0:1 10-20", and the flags of the span. */
static int end_call(void *ctx, const struct span *s, const struct event *leave, struct error *e)
{
	size_t n = strlen(ended);
	char kept = s->kept_size == 1 ? (char)s->kept->data[s->kept_at] : '-';

	(void)ctx;
	(void)e;
	snprintf(ended + n, sizeof ended - n, "%c:%u %lu-%lu%s%s%s%s%s;", kept, s->level,
		 (unsigned long)s->start, (unsigned long)s->end, leave ? "" : " open",
		 s->exec ? " exec" : "", s->kernel ? " kernel" : "", s->crossing ? " crossing" : "",
		 s->begun && s->token != s->start ? " bad token" : "");
	return 0;
}

static const struct span_sink sink = {.begin = begin_call, .end = end_call};
static unsigned begun;
static struct calls calls;

static void begin(void)
{
	static const struct encode_options options;
	struct encoding en = {.dictionary = &dictionary, .options = &options, .calls = &calls};

	begun = lane = 0;
	calls_init(&calls, &dictionary);
	spans_init(&spans, &en, &sink, &begun);
	ended[0] = 0;
}

static void feed(const struct type *t, uint64_t time, int where, uint32_t depth)
{
	uint8_t fixed[4];
	struct event ev = {.time = time,
			   .type = t,
			   .lane = &lanes[lane],
			   .location = location[where],
			   .depth = t->flags & TYPE_CALL_NUMBER ? 0 : depth,
			   .fixed = fixed};

	put_u32(fixed, depth);
	if (spans_event(&spans, &ev, &error))
		printf("Bail out! %s\n", error.what);
}

static void end(const char *want, const char *what)
{
	if (spans_finish(&spans, &error))
		printf("Bail out! %s\n", error.what);
	is_str(ended, want, what);
	spans_free(&spans);
	calls_free(&calls);
}

static void test_stack(void)
{
	begin();
	feed(&entry, 0, MAIN, 0);
	feed(&entry, 10, F, 1);
	feed(&entry, 20, G, 2);
	feed(&leaving, 30, G, 2);
	feed(&entry, 40, G, 2);
	feed(&entry, 50, F, 1);
	feed(&leaving, 60, F, 1);
	end("2:2 20-30;3:2 40-50 open;1:1 10-50 open;4:1 50-60;0:0 0-60 open;",
	    "calls end at their leaves, where a row shows it, or with the trace");
	begin();
	feed(&entry, 10, F, 2);
	feed(&leaving, 20, F, 2);
	feed(&leaving, 30, F, 1);
	end("0:2 10-20;-:1 10-30;-:0 10-30 open;", "calls whose enters were not read");
	begin();
	feed(&entry, 0, MAIN, 0);
	feed(&entry, 10, EXECVE, 1);
	lane = 1;
	feed(&entry, 15, MAIN, 0);
	lane = 0;
	feed(&entry, 20, MAIN, 0);
	feed(&entry, 30, EXECVE, 1);
	end("1:1 10-20 open exec;0:0 0-20 open exec;4:1 30-30 open exec;3:0 20-30 open exec;"
	    "2:0 15-15 open;",
	    "an exec ends all calls of its thread");
}

static void test_kernel(void)
{
	begin();
	feed(&entry, 0, MAIN, 0);
	feed(&sched_out, 10, F, 0);
	feed(&kernel_entry, 20, G, 0);
	feed(&sched_in, 30, F, 0);
	feed(&kernel_leave, 40, G, 0);
	feed(&leaving, 50, MAIN, 0);
	end("1:1 10-30;2:1 20-40 kernel;0:0 0-50;",
	    "scheduled in while a call in the kernel is open");
	begin();
	feed(&entry, 0, MAIN, 0);
	feed(&entry, 10, F, 1);
	feed(&kernel_entry, 20, G, 0);
	feed(&kernel_entry, 25, G, 1);
	feed(&kernel_entry, 30, F, 0);
	feed(&entry, 40, F, 2);
	feed(&kernel_leave, 50, F, 0);
	end("3:3 25-30 open kernel;2:2 20-30 open kernel;4:3 30-50 kernel crossing;"
	    "5:2 40-50 open;1:1 10-50 open;0:0 0-50 open;",
	    "the level of a call in the kernel counts the calls below");
}

static void test_numbers(void)
{
	begin();
	feed(&number_entry, 0, F, 1);
	feed(&number_entry, 10, G, 2);
	feed(&number_leave, 20, F, 1);
	feed(&number_leave, 5, G, 2);
	feed(&number_entry, 30, F, 3);
	feed(&number_entry, 40, F, 3);
	end("0:0 0-20 crossing;1:1 10-10;2:0 30-40 open;3:0 40-40 open;",
	    "calls with numbers; of a clock that steps back; a number that is used again");
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
	test_kernel();
	test_numbers();
	dictionary_free(&dictionary);
	return done();
}
