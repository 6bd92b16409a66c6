/* The names that a message offers for a misspelt one. */
#include "t/unit/tap.h"

#include <string.h>

#include "common/value/scalar.h"

/* The name of a blank-separated list that a word is a misspelling of; "" if none. */
static void suggests(const char *word, const char *names, const char *want)
{
	struct nearest n;

	nearest_begin(&n, word, strlen(word));
	nearest_offer_words(&n, names);
	is_str(n.name, want, word);
}

int main(void)
{
	/* characters */
	suggests("sched_swich", "sched_waking sched_switch", "sched_switch");
	suggests("nmae", "total name", "name");
	suggests("TOTAL", "total name", "total");
	suggests("tud", "tid pid", "tid");
	suggests("xyz", "tid pid name", "");
	/* a prefix or suffix is missing */
	suggests("duration", "name dur", "dur");
	suggests("prio", "next_prio", "next_prio");
	suggests("pid", "next_pid", "next_pid");
	suggests("switch", "irq_raise sched_switch", "sched_switch");
	suggests("switch", "context_switch sched_switch task_switch_of", "sched_switch");
	suggests("wakeup", "sched:sched_wakeup", "sched:sched_wakeup");
	suggests("hrtimer", "hrtimer_expire_entry", "hrtimer_expire_entry");
	suggests("malloc", "free __libc_malloc", "__libc_malloc");
	suggests("Switch", "sched_switch", "sched_switch");
	/* there is one too many */
	suggests("my_switch", "switch", "switch");
	suggests("sched_switch_event", "sched_waking sched_switch", "sched_switch");
	suggests("the.tid", "tid", "tid");
	/* not any end of a word */
	suggests("stupid", "pid", "");
	suggests("id", "next_pid tid_of", "");
	suggests("ab", "sched_ab ab_sched", "");
	/* one character is nearer than a suffix, in any order */
	suggests("comn", "comn_of comm", "comm");
	suggests("comn", "comm comn_of", "comm");
	/* a suffix is nearer than two characters */
	suggests("switch", "svitsh sched_switch", "sched_switch");
	/* the word itself is no misspelling, before and after names that are like it */
	suggests("slower", "slower faster slow", "");
	suggests("total", "totals total", "");
	suggests("total", "total totals", "");
	/* a word of other tools is nearer than one that is alike, and may have two names */
	suggests("mean", "meant avg", "avg");
	suggests("mean", "avg mean", "");
	suggests("mean", "count", "");
	suggests("json", "table avg ndjson chrome", "ndjson");
	{
		struct nearest n;

		nearest_begin(&n, "json", 4);
		nearest_offer_words(&n, "ndjson csv chrome ndjson");
		is_str(nearest_hint(&n), "; did you mean 'ndjson' or 'chrome'?", "both");
		nearest_begin(&n, "mean", 4);
		nearest_offer_words(&n, "avg avg");
		is_str(nearest_hint(&n), "; did you mean 'avg'?", "once");
	}
	return done();
}
