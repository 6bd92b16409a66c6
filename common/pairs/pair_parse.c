/*
 * pair_parse.c - parse 'A -> B on .x == .y', and the presets
 */
#include "common/pairs/pair.h"

#include <stdlib.h>

#include "common/value/nearest.h"

/* The fields that name the task of a pair: neither event is one of the woken thread, and
 * sched_switch is an event of the thread that it switches out. */
static const struct pair_task woken = {"b.next_pid|b.next_tid", NULL, "b.next_comm", "a.stack"},
			      sleeping = {"a.prev_pid|a.prev_tid", "a.pid", "a.prev_comm|a.comm",
					  "a.stack"},
			      running = {"b.prev_pid|b.prev_tid", "b.pid", "a.next_comm|b.comm",
					 "b.stack"};

#define WAKEUPS                                                                                    \
	"type in {\"sched_waking\", \"sched_wakeup\", \"sched_wakeup_new\", "                      \
	"\"sched_try_wakeup\", "                                                                   \
	"\"sched_wakeup_new_task\"}"

/*
 * Tracepoints of the kernel, as ftrace and LTTng 2 record them. LTTng 2 names pids tids and has one
 * event type for each system call. The last ones of each list, after each bar, are older LTTng's.
 */
static const struct pair_preset presets[] = {
	/* from the wakeup of a thread until it runs */
	{"wakeup",
	 WAKEUPS " -> type in {\"sched_switch\", \"sched_schedule\"} "
		 "on .pid|.tid == .next_pid|.next_tid",
	 "next_comm|next_pid", NULL, false, &woken, NULL, NULL},
	/* from when a thread leaves its CPU until it is back on one */
	{"offcpu",
	 "type in {\"sched_switch\", \"sched_schedule\"} && (prev_pid != 0 || prev_tid != 0) -> "
	 "type in {\"sched_switch\", \"sched_schedule\"} && (next_pid != 0 || next_tid != 0) "
	 "on .prev_pid|.prev_tid == .next_pid|.next_tid",
	 "next_comm|next_pid", "next_", false, &sleeping, WAKEUPS, ".pid|.tid"},
	/* from when a thread gets a CPU until it leaves the CPU */
	{"oncpu",
	 "type in {\"sched_switch\", \"sched_schedule\"} && (next_pid != 0 || next_tid != 0) -> "
	 "type in {\"sched_switch\", \"sched_schedule\"} && (prev_pid != 0 || prev_tid != 0) "
	 "on .next_pid|.next_tid == .prev_pid|.prev_tid",
	 "next_comm|next_pid", "prev_", false, &running, NULL, NULL},
	/* ftrace records sys_enter with a number, sys_enter_NAME of another group, or both;
	 * LTTng's events are calls, named like the system call */
	{"syscall",
	 "type =~ \"^sys_enter(_|$)\" || kind == \"enter\" && type =~ \"^(compat_)?syscall_entry\" "
	 "-> "
	 "type =~ \"^sys_exit(_|$)\" || kind == \"leave\" && type =~ \"^(compat_)?syscall_exit\" "
	 "on tid == tid && .id|.__syscall_nr|.nr|name == .id|.__syscall_nr|.nr|name",
	 "id|name", NULL, true, NULL, NULL, NULL},
	{"irq",
	 "type in {\"irq_handler_entry\", \"irq_entry\"} -> "
	 "type in {\"irq_handler_exit\", \"irq_exit\"} on cpu == cpu && .irq|name == .irq|name",
	 "irq|irq_id", NULL, false, NULL, NULL, NULL},
	{"softirq",
	 "type in {\"softirq_entry\", \"irq_softirq_entry\"} -> "
	 "type in {\"softirq_exit\", \"irq_softirq_exit\"} "
	 "on cpu == cpu && .vec|.softirq_id == .vec|.softirq_id",
	 "vec|softirq_id", NULL, false, NULL, NULL, NULL},
	/* from the issue of a request to the device until its completion */
	{"block",
	 "type in {\"block_rq_issue\", \"rq_issue_fs\", \"blk_issue\"} -> "
	 "type in {\"block_rq_complete\", \"rq_complete_fs\", \"blk_complete\"} "
	 "on .dev|group == .dev|group && .sector|.hard_sector == .sector|.hard_sector",
	 "dev|group", NULL, false, NULL, NULL, NULL},
};

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

const char *pair_presets(void)
{
	return "wakeup offcpu oncpu syscall irq softirq block";
}

static int bad_pair(const char *text, const char *why, struct error *e)
{
	return error_set(e, NULL, NO_OFFSET,
			 "%s in the pair '%.200s' (a pair is 'A -> B on .x == .y', or one of %s)",
			 why, text, pair_presets());
}

/* Find a word outside of quotes; NULL: there is none. */
static const char *find_word(const char *text, const char *word, bool alone)
{
	size_t n = strlen(word);
	char quote = 0;

	for (const char *p = text; *p; p++) {
		if (quote) {
			p += *p == '\\' && p[1];
			quote = *p == quote ? 0 : quote;
		} else if (*p == '"' || *p == '\'') {
			quote = *p;
		} else if (!strncmp(p, word, n) &&
			   (!alone || ((p == text || p[-1] == ' ') && p[n] == ' '))) {
			return p;
		}
	}
	return NULL;
}

static bool is_bare(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-$@",
			    p[i]))
			return false;
	return n > 0;
}

/* Parse one side, up to end. */
static int parse_side(struct pair_side *side, const char *text, const char *end, const char *whole,
		      struct error *e)
{
	char *copy;
	int bad;

	while (text < end && *text == ' ')
		text++;
	while (text < end && end[-1] == ' ')
		end--;
	if (text == end)
		return bad_pair(whole, "an event is missing", e);
	copy = strndup(text, (size_t)(end - text));
	if (!copy)
		return error_no_memory(e);
	if (is_bare(text, (size_t)(end - text))) {
		side->name = copy;
		return 0;
	}
	bad = condition_parse_text(&side->condition, copy, e);
	free(copy);
	return bad;
}

/* Returns the key without the prefix of its side, which may be given. */
static char *on_key(char *key, const char *side)
{
	return key && !strncmp(key, side, 2) ? key + 2 : key;
}

/* Parse ".x == .y && .z == .w" from text on. */
static int parse_on(struct pair *p, const char *text, const char *whole, struct error *e)
{
	char *copy = strdup(text), *save = NULL;
	int bad = copy ? 0 : error_no_memory(e);

	for (char *at = copy; !bad && at;) {
		char *next = strstr(at, "&&"), *equal, *left, *right;

		if (next) {
			*next = '\0';
			next += 2;
		}
		equal = strstr(at, "==");
		if (!equal) {
			bad = bad_pair(whole, "'==' is missing after 'on'", e);
			break;
		}
		*equal = '\0';
		left = on_key(strtok_r(at, " ", &save), "a.");
		right = on_key(strtok_r(equal + 2, " ", &save), "b.");
		if (left && right && (!strncmp(left, "b.", 2) || !strncmp(right, "a.", 2))) {
			bad = bad_pair(whole, "a key of the first event belongs before '=='", e);
			break;
		}
		if (!left || !right || strtok_r(NULL, " ", &save)) {
			bad = bad_pair(whole, "a key is missing", e);
			break;
		}
		bad = keys_parse(&p->a.on, left, e) || keys_parse(&p->b.on, right, e);
		at = next;
	}
	free(copy);
	if (!bad && (p->a.on.count != p->b.on.count || p->a.on.count > PAIR_ON_MOST))
		bad = bad_pair(whole, "there are too many keys after 'on'", e);
	return bad ? -1 : 0;
}

static int parse_words(struct pair *p, const char *text, struct error *e)
{
	const char *arrow = find_word(text, "->", false), *on;
	struct nearest nearest;

	nearest_begin(&nearest, text, strlen(text));
	nearest_offer_words(&nearest, pair_presets());
	if (!arrow && *nearest_hint(&nearest))
		return error_set(e, NULL, NO_OFFSET, "no such pair: '%.64s'%s", text,
				 nearest_hint(&nearest));
	if (!arrow)
		return bad_pair(text, "'->' is missing", e);
	on = find_word(arrow + 2, "on", true);
	if (parse_side(&p->a, text, arrow, text, e) ||
	    parse_side(&p->b, arrow + 2, on ? on : arrow + strlen(arrow), text, e))
		return -1;
	return on ? parse_on(p, on + 2, text, e)
		  : parse_on(p, "input == input && tid == tid", text, e);
}

int pair_parse(struct pair *p, const char *text, struct error *e)
{
	*p = (struct pair){.text = text};
	for (size_t i = 0; i < COUNT_OF(presets); i++)
		if (!strcmp(text, presets[i].name)) {
			p->preset = &presets[i];
			p->text = text = presets[i].pair;
			break;
		}
	if (parse_words(p, text, e))
		return -1;
	if (p->preset && p->preset->waker &&
	    (condition_parse_text(&p->w.condition, p->preset->waker, e) ||
	     keys_parse(&p->w.on, p->preset->woken, e)))
		return -1;
	if ((p->a.on.needs | p->b.on.needs | p->a.condition.keys.needs |
	     p->b.condition.keys.needs) &
	    (NEEDS_CALLER | NEEDS_LEVEL | NEEDS_STACK | NEEDS_CALL))
		return error_set(e, NULL, NO_OFFSET,
				 "the events of pairs have no keys caller, depth, stack, dur, "
				 "total and self");
	return 0;
}

int pair_keys(const struct pair *p, struct keys *k, struct error *e)
{
	if (keys_of_pair(k, p->preset ? p->preset->end_fields : NULL,
			 p->preset ? p->preset->task : NULL, e))
		return -1;
	if (k->wakers && !p->w.on.count)
		return error_set(e, NULL, NO_OFFSET,
				 "keys of the event that wakes a thread, such as w.comm, are of "
				 "the pairs offcpu");
	return 0;
}

int pair_check_clocks(const struct pair *p, bool ticks, bool times, struct error *e)
{
	const struct node *of[] = {p->a.condition.root, p->b.condition.root};

	for (int i = 0; i < 2; i++)
		if ((times && expression_check_clock(of[i], "--pair", false, NULL, NULL, e)) ||
		    (ticks && expression_check_clock(of[i], "--pair", true, NULL, NULL, e)))
			return -1;
	return 0;
}
