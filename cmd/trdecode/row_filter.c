/*
 * row_filter.c - the rows that --since, --until, --cpu, --tid and --type refuse, and the stacks of
 * calls some of whose rows are refused
 *
 *     trdecode --type entry u.data     the leave of each call is refused: a THREAD entry says that
 *                                      rows of its stack are left out (trstream(5))
 */
#include "cmd/trdecode/row_filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"

/* Number threads and CPUs as trstream(5) defines them under LANE. */
static uint32_t row_filter_number_of(struct row_filter *l, uint32_t lane, bool per_cpu)
{
	struct lane_entry e;
	bool tid, cpu, pid;

	writer_lane_of(l->writer, lane, &e);
	tid = e.flags & LANE_HAS_TID && !per_cpu;
	cpu = e.flags & LANE_HAS_CPU && (!tid || !e.tid);
	pid = tid && e.flags & LANE_PROCESS_TID;

	const uint32_t key[] = {e.source,
				tid,
				tid ? (uint32_t)e.tid : 0,
				cpu,
				cpu ? (uint32_t)e.cpu : 0,
				pid,
				pid ? (uint32_t)e.pid : 0};

	return intern(&l->stack_keys, key, sizeof key);
}

/* Get the index in l->stacks of the stack of a lane; INTERN_NONE: out of memory. */
static uint32_t row_filter_stack_of(struct row_filter *l, uint32_t lane, bool per_cpu)
{
	uint32_t n;

	if (ARRAY_REACH(l->numbers[per_cpu], l->nnumbers[per_cpu], lane))
		return INTERN_NONE;
	n = l->numbers[per_cpu][lane] - 1;
	if (n == INTERN_NONE) {
		n = row_filter_number_of(l, lane, per_cpu);
		l->numbers[per_cpu][lane] = n + 1;
	}
	return n == INTERN_NONE || ARRAY_REACH(l->stacks, l->nstacks, n) ? INTERN_NONE : n;
}

/* Get what calls of a type are, as l->calls has it; 0: out of memory. */
static uint8_t calls_of(struct row_filter *l, uint32_t type)
{
	struct type_entry t;

	if (ARRAY_REACH(l->calls, l->ncalls, type))
		return 0;
	if (!l->calls[type]) {
		writer_type_of(l->writer, type, &t);
		l->calls[type] = t.flags & TYPE_PER_CPU ? 3 : 2;
		if ((t.kind != KIND_ENTER && t.kind != KIND_LEAVE) || t.flags & TYPE_CALL_NUMBER)
			l->calls[type] = 1;
	}
	return l->calls[type];
}

/* Note that a row of that lane and type is refused or kept. Returns 0, or -1: out of memory, or
 * the entry cannot be written. */
static int row_filter_stacks_row(struct row_filter *l, uint32_t lane, uint32_t type, bool refused)
{
	struct writer *w = l->writer;
	uint8_t calls = calls_of(l, type);
	bool per_cpu = calls == 3;
	uint32_t n;

	if (calls == 1)
		return 0;
	n = calls ? row_filter_stack_of(l, lane, per_cpu) : INTERN_NONE;
	if (n == INTERN_NONE)
		return error_no_memory(&w->error);
	l->stacks[n].left_out |= refused || l->all_cut;
	l->stacks[n].used |= !refused;
	if (!l->stacks[n].left_out || !l->stacks[n].used ||
	    (l->stacks[n].written && l->stacks[n].segment == w->head.sequence))
		return 0;
	l->stacks[n].written = true;
	l->stacks[n].segment = w->head.sequence;
	/* rows before the entry must not move to after it */
	return writer_flush(w) || writer_thread(w,
						&(struct thread_entry){
							.lane = lane,
							.flags = THREAD_LEFT_OUT |
								 (per_cpu ? THREAD_PER_CPU : 0)})
		       ? -1
		       : 0;
}

/* --- row filter --- */

/* What is known of a lane or type. ROWS_TELL: its rows record the CPU. GAPS: of a lane, only its
 * gaps are wanted; of a type, it is that of gaps. */
enum { NOT_TESTED, WANTED, REFUSED, ROWS_TELL, GAPS, NAME_LIMIT = 512 };

bool row_filter_has(const struct number_list *l, int64_t n)
{
	for (size_t i = 0; i < l->count; i++)
		if (n >= l->ranges[i].first && n <= l->ranges[i].last)
			return true;
	return false;
}

/* Test a lane. ROWS_TELL: the lane has no CPU. */
static uint8_t lane_wanted(struct row_filter *l, uint32_t lane)
{
	struct lane_entry e;
	bool cpu, tid;

	writer_lane_of(l->writer, lane, &e);
	cpu = e.flags & LANE_HAS_CPU;
	tid = e.flags & LANE_HAS_TID;
	l->has_lane = true;
	l->has_cpu |= cpu;
	l->has_tid |= tid;
	l->of_cpu |= cpu && row_filter_cpu(l, e.cpu);
	l->of_tid |= tid && row_filter_tid(l, e.tid);
	if ((cpu && l->cpus.count && !row_filter_cpu(l, e.cpu)) ||
	    (tid && l->tids.count && !row_filter_tid(l, e.tid)))
		return REFUSED;
	/* gaps of a CPU may have been events of any thread */
	if (!tid && l->tids.count)
		return GAPS;
	return cpu || !l->cpus.count ? WANTED : ROWS_TELL;
}

static void copy_name(const struct writer *w, uint32_t string, char *out)
{
	size_t n;
	const char *s = writer_string_of(w, string, &n);

	n = n < NAME_LIMIT ? n : NAME_LIMIT - 1;
	memcpy(out, s, n);
	out[n] = 0;
}

/* Match a glob with a type's name or, if the glob has a colon, its group and name. */
static bool glob_matches(const char *glob, const char *name, const char *both)
{
	return !fnmatch(glob, name, 0) || !fnmatch(glob, both, 0);
}

bool row_filter_type(const struct row_filter *l, const char *name, const char *both)
{
	bool matched = !l->ntypes;

	for (size_t i = 0; i < l->ntypes && !matched; i++)
		matched = glob_matches(l->types[i].glob, name, both);
	return matched;
}

/* Test whether the globs have a type of these names. */
static bool type_named(const struct row_filter *l, uint32_t name_id, uint32_t group_id)
{
	char name[NAME_LIMIT], group[NAME_LIMIT], both[2 * NAME_LIMIT];
	bool matched = false;

	copy_name(l->writer, name_id, name);
	copy_name(l->writer, group_id, group);
	snprintf(both, sizeof both, "%s:%s", group, name);
	for (size_t i = 0; i < l->ntypes; i++) {
		if (glob_matches(l->types[i].glob, name, both))
			matched = l->types[i].matched = true;
		nearest_offer(&l->types[i].nearest, name, strlen(name));
		nearest_offer(&l->types[i].nearest, both, strlen(both));
	}
	return matched;
}

/* Test a type. Gaps are always wanted. ROWS_TELL: its rows have a field with their CPU. */
static uint8_t type_wanted(struct row_filter *l, uint32_t type)
{
	uint32_t offset, size;
	struct type_entry t;
	bool cpu = writer_type_field(l->writer, type, ROLE_CPU, &offset, &size);

	l->has_cpu |= cpu;
	writer_type_of(l->writer, type, &t);
	if (t.kind == KIND_GAP)
		return GAPS;
	if (l->ntypes && !type_named(l, t.name, t.group))
		return REFUSED;
	return cpu ? ROWS_TELL : WANTED;
}

/* Test a row in a lane without a CPU. */
static bool row_wanted(struct row_filter *l, uint32_t type, const uint8_t *fixed)
{
	uint32_t offset, size;
	bool wanted = !fixed || !writer_type_field(l->writer, type, ROLE_CPU, &offset, &size) ||
		      row_filter_cpu(l, sign_extend(get_uint(fixed + offset, size, false), size));

	l->of_cpu |= wanted;
	return wanted;
}

static uint8_t row_filter_wanted(struct row_filter *l, uint8_t **known, size_t *size, uint32_t id,
				 uint8_t (*ask)(struct row_filter *, uint32_t))
{
	if (id >= *size) {
		size_t more = 2 * ((size_t)id + 32);
		uint8_t *grown = realloc(*known, more);

		if (!grown)
			return ask(l, id);
		memset(grown + *size, NOT_TESTED, more - *size);
		*known = grown;
		*size = more;
	}
	if ((*known)[id] == NOT_TESTED)
		(*known)[id] = ask(l, id);
	return (*known)[id];
}

static bool row_filter_refused(struct row_filter *l, uint32_t lane, uint32_t type,
			       const void *fixed)
{
	uint8_t by_lane, by_type;

	by_lane = row_filter_wanted(l, &l->lanes, &l->nlanes, lane, lane_wanted);
	by_type = row_filter_wanted(l, &l->kinds, &l->nkinds, type, type_wanted);
	if (by_lane == WANTED || by_lane == REFUSED)
		return by_lane == REFUSED || by_type == REFUSED;
	if (by_lane == GAPS && by_type != GAPS)
		return true;
	/* otherwise the lanes and the types of a block do not show whether a row has both */
	if (!l->writer->refusal.each)
		writer_refuse_rows(l->writer);
	return by_type != GAPS && (by_type != ROWS_TELL || !row_wanted(l, type, fixed));
}

static bool row_filter_refuse(void *ctx, uint64_t time, uint32_t lane, uint32_t type,
			      const void *fixed)
{
	struct row_filter *l = ctx;
	bool no;

	if (time < l->first_time || time > l->last_time)
		return true;
	l->in_range = true;
	no = row_filter_refused(l, lane, type, fixed);
	l->any |= !no;
	if (!l->cuts_threads)
		return no;
	l->failed |= row_filter_stacks_row(l, lane, type, no) != 0;
	if (no && !ARRAY_REACH(l->lasts, l->nlasts, lane))
		l->lasts[lane] = time;
	return no;
}

int row_filter_announce(struct row_filter *l, uint32_t type, uint32_t location)
{
	/* without a writer only times are wanted */
	if (!l || !l->writer ||
	    (type && row_filter_wanted(l, &l->kinds, &l->nkinds, type, type_wanted) == REFUSED))
		return 0;
	return writer_announce(l->writer, ENTRY_TYPE, type) ||
			       writer_announce(l->writer, ENTRY_LOCATION, location)
		       ? -1
		       : 0;
}

int row_filter_end(struct row_filter *l)
{
	for (uint32_t i = 1; i < l->nlasts; i++)
		if (l->lasts[i] && writer_lane_used(l->writer, i) &&
		    writer_thread(l->writer, &(struct thread_entry){.lane = i,
								    .flags = THREAD_HAS_LAST,
								    .last = l->lasts[i]}))
			return -1;
	return l->failed ? -1 : 0;
}

void row_filter_begin(struct row_filter *l, struct writer *w)
{
	l->first_time = 0;
	l->last_time = UINT64_MAX;
	l->writer = w;
	if (!row_filter_any(l))
		return;
	w->refusal.row = row_filter_refuse;
	w->refusal.ctx = l;
	l->cuts_threads = l->since.from || l->cpus.count || l->ntypes;
	w->head.flags |= HEAD_FILTERED;
	/* decoders may skip the rows of other CPUs */
	l->all_cut = l->cpus.count;
}

uint64_t row_filter_first(const struct input *in)
{
	const struct row_filter *l = in->decoding->row_filter;
	uint64_t time;

	if (!l || !l->first_time)
		return 0;
	if (!merge_unshifted(l->first_time - 1, in->shift, &time))
		return 0;
	return time == UINT64_MAX ? time : time + 1;
}

uint64_t row_filter_last(const struct input *in)
{
	const struct row_filter *l = in->decoding->row_filter;

	return l ? l->last_time : UINT64_MAX;
}
