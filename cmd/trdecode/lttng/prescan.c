/*
 * prescan.c - reads some files ahead for names and threads that the first rows need
 */
#include "cmd/trdecode/lttng/lttng.h"

enum { AHEAD_MOST = 64 << 20, FIRST_SCHEDULE = 1 << 20 };

/* Call take for each event of a file up to an offset, without reports of damage, until take returns
 * 1 or -1. -1: out of memory. */
static int each_event(struct lttng *l, const struct lttng_file *of, uint64_t limit,
		      int (*take)(struct lttng *l, struct lttng_cpu *c,
				  const struct lttng_event *ev))
{
	struct lttng_file f = {.window.fd = -1,
			       .channel = of->channel,
			       .cpu = of->cpu,
			       .compact = of->compact,
			       .metadata = of->metadata,
			       .quiet = true};
	struct lttng_event ev;
	int got = lttng_file_open(l, &f, of->member, 1);

	while (!got && !f.done && f.at < limit) {
		if (!f.gap.pending) {
			got = lttng_file_event(l, &f, &ev);
			if (got > 0)
				got = take(l, l->cpus[f.cpu], &ev);
		}
		f.gap.pending = false;
		if (!got)
			got = lttng_file_next(l, &f);
	}
	lttng_file_close(&f);
	return got < 0 ? -1 : 0;
}

static int take_marker(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	(void)c;
	return lttng_marker_take(l, ev);
}

int lttng_prescan_metadata(struct lttng *l, const struct lttng_file *f)
{
	return each_event(l, f, UINT64_MAX, take_marker);
}

/* Test whether events of this channel record what is needed ahead. */
static bool is_needed_ahead(struct lttng *l, const struct lttng_file *f)
{
	static const char *const names[] = {"interrupts", "processes", "modules"};
	size_t base, n;
	int32_t cpu;
	const char *name;

	if (f->metadata)
		return false;
	lttng_file_name(f->member, &base, &cpu);
	name = lttng_channel_name(f->member, base, &n);
	if (!l->one_table)
		return n > 6 && !memcmp(name + n - 6, "_state", 6);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == n && !memcmp(names[i], name, n))
			return true;
	return n > 6 && !memcmp(name + n - 6, "_state", 6);
}

/* Test whether the channel has an event that contains a name and its id. */
static bool names_something(struct lttng *l, const struct lttng_channel *c)
{
	for (size_t i = 0; i < c->size; i++) {
		const struct lttng_marker *m = lttng_marker(l, c, (uint32_t)i);

		if (m && m->action >= ACTION_SYSCALL_NAME && m->action <= ACTION_MAP)
			return true;
		if (m && m->action == ACTION_PROCESS)
			return true;
	}
	return false;
}

/* Take the thread that ran first from the first switch of the CPU, which records the previous
 * thread. */
static int take_first_thread(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	if (ev->marker->action != ACTION_SCHEDULE)
		return 0;
	return lttng_state_before(l, c, ev) ? -1 : 1;
}

static bool has_schedule(struct lttng *l, const struct lttng_channel *c)
{
	for (size_t i = 0; i < c->size; i++) {
		const struct lttng_marker *m = lttng_marker(l, c, (uint32_t)i);

		if (m && m->action == ACTION_SCHEDULE)
			return true;
	}
	return false;
}

int lttng_prescan(struct lttng *l)
{
	for (size_t i = 0; i < l->nfiles; i++)
		if (is_needed_ahead(l, &l->files[i]) && names_something(l, l->files[i].channel) &&
		    each_event(l, &l->files[i], AHEAD_MOST, lttng_state_ahead))
			return -1;
	for (size_t i = 0; i < l->nfiles; i++)
		if (!l->files[i].metadata && !l->files[i].compact &&
		    l->cpus[l->files[i].cpu]->thread->tid < 0 &&
		    has_schedule(l, l->files[i].channel) &&
		    each_event(l, &l->files[i], FIRST_SCHEDULE, take_first_thread))
			return -1;
	return 0;
}
