/* links: cmd/trdecode */
/* The merge of inputs by time: order, ties, shifts. */
#include "t/unit/tap.h"

#include "cmd/trdecode/input.h"

enum { EVENTS_MOST = 8 };

/* A decoder of times given in an array; what it delivers goes to the log. */
struct script {
	char name;
	uint64_t times[EVENTS_MOST]; /* ended by 0 */
	int at;
};

static char log_text[64];

static void set_next(struct input *in)
{
	struct script *s = in->state;

	in->next = s->times[s->at] ? merge_shifted(s->times[s->at], in->shift) : UINT64_MAX;
}

static int script_run(struct input *in, uint64_t until, struct error *e)
{
	struct script *s = in->state;
	uint64_t limit;

	if (until == 666)
		return error_set(e, NULL, NO_OFFSET, "fails as the test wants");
	while (merge_unshifted(until, in->shift, &limit) && s->times[s->at] &&
	       s->times[s->at] <= limit) {
		strncat(log_text, &s->name, 1);
		s->at++;
	}
	set_next(in);
	return 0;
}

static const struct decoder script = {.name = "script", .run = script_run};

static const char *order(struct script *scripts, const int64_t *shifts, int n)
{
	struct input inputs[4] = {{0}};
	struct decoding decoding = {0};
	struct error e;

	log_text[0] = '\0';
	for (int i = 0; i < n; i++) {
		scripts[i].at = 0;
		inputs[i] = (struct input){.decoding = &decoding,
					   .decoder = &script,
					   .state = &scripts[i],
					   .shift = shifts ? shifts[i] : 0};
		set_next(&inputs[i]);
	}
	return merge_run(inputs, n, UINT64_MAX, &e) ? "failed" : log_text;
}

static void test_order(void)
{
	struct script s[] = {{'a', {10, 20, 30}, 0}, {'b', {10, 15, 30, 40}, 0}, {'c', {5, 30}, 0}};
	int64_t later[] = {0, 0, 100}, earlier[] = {-5, 0, 0}, back[] = {0, -5, 0};

	is_str(order(s, NULL, 3), "cabbaabcb", "by time, ties in the order of the inputs");
	is_str(order(s, NULL, 1), "aaa", "one alone");
	is_str(order(s, NULL, 0), "", "none");
	is_str(order(s, later, 3), "abbaabbcc", "one shifted behind all others");
	is_str(order(s, earlier, 3), "acbababcb", "one shifted to before the others");
	is_str(order(s, back, 3), "bcababacb", "another");
	s[0].times[0] = 0;
	is_str(order(s, NULL, 3), "cbbbcb", "one without events");
}

static void test_shifts(void)
{
	uint64_t limit;

	is_u64(merge_shifted(10, 5), 15, "later");
	is_u64(merge_shifted(10, -5), 5, "earlier");
	is_u64(merge_shifted(10, -11), 0, "not before 0");
	is_u64(merge_shifted(UINT64_MAX - 2, 3), UINT64_MAX, "not beyond 64 bits");
	is_u64(merge_shifted(UINT64_MAX - 2, 2), UINT64_MAX, "up to there");
	is_u64(merge_shifted(UINT64_MAX, INT64_MIN), INT64_MAX, "from there back");
	is_u64(merge_shifted(10, -50), 0, "not before the beginning");
	is_u64(merge_shifted(TIME_LIMIT - 1, INT64_MAX), TIME_LIMIT - 1 + (uint64_t)INT64_MAX,
	       "the latest there is");
	ok(merge_unshifted(100, 30, &limit) && limit == 70, "back from a later one");
	ok(merge_unshifted(100, -30, &limit) && limit == 130, "back from an earlier one");
	ok(merge_unshifted(30, 30, &limit) && limit == 0, "the first instant");
	ok(!merge_unshifted(20, 30, &limit), "all are later");
	ok(merge_unshifted(UINT64_MAX, 30, &limit) && limit == UINT64_MAX, "for ever");
	ok(merge_unshifted(UINT64_MAX, -30, &limit) && limit == UINT64_MAX, "for ever, earlier");
	ok(merge_unshifted(UINT64_MAX - 3, -30, &limit) && limit == UINT64_MAX, "no wrapping");
}

static int check(struct input a, struct input b)
{
	struct input inputs[] = {a, b};
	struct error e;

	return merge_check_clocks(inputs, 2, &e);
}

static void test_clocks(void)
{
	struct input mono = {.name = "m", .clock_name = "monotonic"}, boot = mono, dated = mono,
		     other = mono, ticks = mono, empty = mono;

	boot.clock_name = "boot";
	dated.has_wall = other.has_wall = true;
	dated.wall = 1700000000000000000;
	other.wall = dated.wall + 1000000000;
	ticks.ticks = true;
	empty.clock_name = "boot";
	empty.next = UINT64_MAX;
	ok(!check(mono, mono), "the same clock");
	ok(check(mono, boot), "another clock");
	ok(check(mono, ticks) && check(ticks, ticks), "ticks meet nothing");
	ok(!check(mono, dated), "one that also records the wall time");
	ok(!check(dated, other), "a second of rounding");
	other.wall++;
	ok(check(dated, other), "started at another time");
	ok(!check(mono, empty), "one without events does not matter");
	boot.placed = true;
	ok(!check(mono, boot), "an offset says how they meet");
	other.shift = 1000000001;
	ok(!check(dated, other), "shifts count");
}

static void test_wall(void)
{
	struct decoding d = {.clock = CLOCK_WALL};
	struct input in = {.name = "x",
			   .decoding = &d,
			   .clock_name = "monotonic",
			   .has_wall = true,
			   .wall = 1700000000000000000,
			   .shift = 5};
	struct error e;

	ok(!merge_choose_clock(&in, &e), "the wall clock");
	ok(in.shift == 1700000000000000005, "the shift brings times there");
	is_str(in.clock_name, "wall", "its name");
	ok(merge_wall(&in) == -5, "and what is left to add is the offset, back");
	in.has_wall = false;
	ok(merge_choose_clock(&in, &e) == -1, "not where no clock is recorded");
	d.clock = CLOCK_RAW;
	ok(!merge_choose_clock(&in, &e), "not asked for");
	in.shift = (int64_t)TIME_LIMIT - 1;
	ok(!merge_choose_clock(&in, &e), "the largest shift");
	in.shift++;
	ok(merge_choose_clock(&in, &e) == -1, "one more is beyond all times");
	d = (struct decoding){.clock = CLOCK_WALL, .quiet = true};
	in.has_wall = true;
	ok(merge_choose_clock(&in, &e) == -1, "so is the sum with a wall time");
	ok(in.shift > 0, "which does not wrap");
	d.clock = CLOCK_RAW;
	in.shift = 0;
	in.wall = INT64_MIN;
	ok(!merge_choose_clock(&in, &e) && !in.has_wall, "an impossible wall time is left out");
}

int main(void)
{
	test_order();
	test_shifts();
	test_clocks();
	test_wall();
	return done();
}
