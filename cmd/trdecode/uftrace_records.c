/*
 * uftrace_records.c - TID.dat: the records of one task as rows
 *
 * Facts: a record is two words (common/formats/uftrace.h); with its `more` bit set a payload without
 * a length follows, which only the argument specs of its function can measure. Where they cannot, or
 * where a record is damaged, the next plausible record is searched in steps of 8 bytes.
 */
#include <stdlib.h>

#include "common/value.h"
#include "uftrace.h"

enum {
	PAYLOAD_LIMIT = 4096, /* the recorder keeps at most 1 KiB a call; an EVENT has a u16 length */
	EVENT_LIMIT = 2 + 65535 + 8,
};

/* A trace does not last longer than this between two records of a task, when searching for one. */
static const uint64_t PLAUSIBLE_NS = 3600ull * 1000000000;

static void damage(struct uftrace *u, struct task_reader *t, const char *what)
{
	char path[512];

	input_damage(u->input, tree_path(u->input->tree, t->member, path, sizeof(path)),
		     t->file.offset, "%s", what);
}

static int gap(struct uftrace *u, struct task_reader *t, enum gap_reason reason, uint64_t count,
	       uint64_t offset, const char *message)
{
	struct gap g = {.reason = reason,
			.unit = reason == GAP_LOST ? GAP_EVENTS : GAP_BYTES,
			.count = count,
			.offset = offset,
			.file = t->member,
			.message = message};

	return writer_gap(u->w, shifted(u, t->last), t->lane, &g);
}

/* Would this be a record, if one began here? */
static bool plausible(struct uftrace *u, struct task_reader *t, const uint8_t *p)
{
	struct uftrace_record r;
	struct uftrace_where where;

	if (!uftrace_record_unpack(p, u->info.swap, &r))
		return false;
	if (r.type == UFTRACE_LOST)
		return !r.time && !r.depth && r.addr && r.addr < 1ull << 32;
	if (r.time < t->last || (t->last && r.time - t->last > PLAUSIBLE_NS))
		return false;
	if (r.type == UFTRACE_EVENT)
		return !r.depth && uftrace_event_known(u, r.addr);
	if (!t->session)
		return r.addr >= 4096;
	return uftrace_session_resolve(t->session, t->epoch, r.addr, &where) || where.module;
}

/* Go to the next plausible record at or behind the present position, and report what was left out.
 * 1 found, 0 the file ended, -1. */
static int resynchronise(struct uftrace *u, struct task_reader *t, const char *message,
			 struct error *e)
{
	uint64_t from = t->file.offset;
	ssize_t have;
	int found = 0;

	for (;;) {
		have = window_need(&t->file, UFTRACE_RECORD_SIZE, e);
		if (have < 0)
			return -1;
		if (have < UFTRACE_RECORD_SIZE) {
			window_skip(&t->file, (size_t)have);
			break;
		}
		if (plausible(u, t, window_at(&t->file))) {
			found = 1;
			break;
		}
		window_skip(&t->file, 8);
	}
	if (gap(u, t, GAP_DAMAGE, t->file.offset - from, from, message))
		return -1;
	return found;
}

/* The depth beyond 1023 was added to the address by the recorder; take it off again. */
static void repair_depth(struct task_reader *t, struct uftrace_record *r, uint32_t *depth)
{
	uint32_t expected, d;

	if (!t->depth_known) {
		t->depth = r->depth + (r->type == UFTRACE_EXIT);
		t->depth_known = true;
	}
	expected = r->type == UFTRACE_ENTRY ? t->depth : t->depth ? t->depth - 1 : 0;
	/* the depth next to the expected one that looks like this in ten bits */
	d = (expected & ~1023u) | r->depth;
	if (d > expected && d - expected > 512 && d >= 1024)
		d -= 1024;
	else if (expected > d && expected - d > 512)
		d += 1024;
	r->addr = (r->addr - (d >> 10)) & UFTRACE_ADDR_MASK;
	*depth = d;
	t->depth = r->type == UFTRACE_ENTRY ? d + 1 : d;
}

/* A function's record with a payload. 1 done, 0 the file ended, -1. */
static int record_with_payload(struct uftrace *u, struct task_reader *t,
			       const struct uftrace_record *r, uint32_t place, uint32_t depth,
			       struct error *e)
{
	bool leave = r->type == UFTRACE_EXIT;
	const struct uftrace_specs *specs = NULL;
	struct uftrace_where where;
	ssize_t have;
	int64_t size;

	window_skip(&t->file, UFTRACE_RECORD_SIZE);
	have = window_need(&t->file, PAYLOAD_LIMIT, e);
	if (have < 0)
		return -1;
	if (t->session && uftrace_session_resolve(t->session, t->epoch, r->addr, &where))
		specs = uftrace_args_find(u->args, t->session, &where, leave);
	if (!specs) {
		damage(u, t, "arguments of a function whose argument types are not known");
		if (writer_row(u->w, shifted(u, r->time), t->lane, leave ? u->leave : u->entry,
			       place, depth))
			return -1;
		t->last = r->time;
		return resynchronise(u, t, "arguments without known types", e);
	}
	size = uftrace_args_size(specs, window_at(&t->file), (size_t)have, u->info.swap);
	if (size < 0) {
		if (writer_row(u->w, shifted(u, r->time), t->lane, leave ? u->leave : u->entry,
			       place, depth))
			return -1;
		t->last = r->time;
		if ((uint64_t)have + t->file.offset >= t->file.size)
			damage(u, t, "the file ends inside of a record's arguments");
		else
			damage(u, t, "a record's arguments do not end");
		return resynchronise(u, t, "damaged arguments", e);
	}
	if (uftrace_values(u, specs, window_at(&t->file), (size_t)size, leave) ||
	    writer_row_data(u->w, shifted(u, r->time), t->lane,
			    leave ? u->leave_values : u->entry_values, place, depth, NULL, 0,
			    u->tail.data, (uint32_t)u->tail.size, true))
		return -1;
	t->last = r->time;
	window_skip(&t->file, (size_t)size);
	return 1;
}

static int event_record(struct uftrace *u, struct task_reader *t, const struct uftrace_record *r,
			struct error *e)
{
	const uint8_t *p;
	size_t n = 0, size = 0;
	ssize_t have;

	window_skip(&t->file, UFTRACE_RECORD_SIZE);
	if (r->more) {
		have = window_need(&t->file, 2, e);
		if (have < 0)
			return -1;
		p = window_at(&t->file);
		n = have < 2 ? 0 : (size_t)get_uint(p, 2, u->info.big_endian);
		size = align_up(2 + n, 8);
		have = window_need(&t->file, size, e);
		if (have < 0)
			return -1;
		if ((size_t)have < 2 + n) {
			damage(u, t, "the file ends inside of an event's data");
			return resynchronise(u, t, "damaged event data", e);
		}
		if (size > (size_t)have)
			size = (size_t)have;
	}
	if (uftrace_event(u, t, r, n ? window_at(&t->file) + 2 : NULL, n, r->more))
		return -1;
	t->last = r->time;
	window_skip(&t->file, size);
	return 1;
}

static int lost_record(struct uftrace *u, struct task_reader *t, const struct uftrace_record *r)
{
	uint64_t offset = t->file.offset;

	window_skip(&t->file, UFTRACE_RECORD_SIZE);
	t->depth_known = false;
	return gap(u, t, GAP_LOST, r->addr, offset, NULL) ? -1 : 1;
}

/* The next record's time into base.next; damage is stepped over. 0, or -1. */
static int look_ahead(struct uftrace *u, struct task_reader *t, struct error *e)
{
	for (;;) {
		struct uftrace_record r;
		ssize_t have = window_need(&t->file, UFTRACE_RECORD_SIZE, e);
		int got;

		if (have < 0)
			return -1;
		if (!have)
			break;
		if (have < UFTRACE_RECORD_SIZE) {
			damage(u, t, "the file ends inside of a record");
			if (gap(u, t, GAP_DAMAGE, (uint64_t)have, t->file.offset, "cut record"))
				return -1;
			break;
		}
		if (uftrace_record_unpack(window_at(&t->file), u->info.swap, &r)) {
			/* LOST has no time of its own: it follows the record before it */
			t->base.next = r.type == UFTRACE_LOST ? t->last : r.time;
			return 0;
		}
		damage(u, t, "a record with a wrong magic");
		got = resynchronise(u, t, "damaged records", e);
		if (got < 0)
			return -1;
		if (!got)
			break;
	}
	t->base.next = UINT64_MAX;
	window_close(&t->file);
	t->open = false;
	return 0;
}

static int one_record(struct uftrace *u, struct task_reader *t, struct error *e)
{
	struct uftrace_record r;
	uint32_t place, depth;

	uftrace_record_unpack(window_at(&t->file), u->info.swap, &r);
	if (r.type == UFTRACE_LOST)
		return lost_record(u, t, &r);
	if (r.time >= t->context_until || !t->context || r.time < t->last)
		if (uftrace_context(u, t, r.time))
			return -1;
	if (r.type == UFTRACE_EVENT)
		return event_record(u, t, &r, e);
	depth = r.depth;
	if (u->info.max_stack > 1024)
		repair_depth(t, &r, &depth);
	place = uftrace_place(u, t, r.addr);
	if (!place)
		return -1;
	if (r.more)
		return record_with_payload(u, t, &r, place, depth, e);
	window_skip(&t->file, UFTRACE_RECORD_SIZE);
	t->last = r.time;
	return writer_row(u->w, shifted(u, r.time), t->lane,
			  r.type == UFTRACE_ENTRY ? u->entry : u->leave, place, depth)
		       ? -1
		       : 1;
}

/*
 * The plain records at hand, up to the limit: by far most of all, so nothing else is looked at.
 * Returns at the first that is special, or needs the file.
 */
static inline __attribute__((always_inline)) int plain_records(struct uftrace *u,
							       struct task_reader *t,
							       uint64_t until, uint32_t rank_until,
							       bool swap)
{
	const uint8_t *start = window_at(&t->file), *p = start, *end = start + window_have(&t->file);
	uint64_t last = t->last, stop = t->context_until, shift = u->shift, time = 0, word;
	struct rows rows;
	bool batch;
	int bad = 0;

	/* ties go to the lower rank: up to and including until if that is ours */
	if (t->base.rank < rank_until && until != UINT64_MAX)
		until++;
	if (stop < until)
		until = stop;
	batch = rows_begin(&rows, u->w, t->lane, u->entry, u->leave);
	for (; end - p >= UFTRACE_RECORD_SIZE; p += UFTRACE_RECORD_SIZE) {
		uint32_t place, depth;

		time = get_u64(p);
		word = get_u64(p + 8);
		if (swap) {
			time = __builtin_bswap64(time);
			word = __builtin_bswap64(word);
		}
		/* bit 1: neither ENTRY nor EXIT; bit 2: payload; bits 3 to 5: magic */
		if ((word & 0x3e) != UFTRACE_RECORD_MAGIC << 3)
			break;
		if (time >= until || time < last) {
			t->base.next = time;
			break;
		}
		place = uftrace_place(u, t, word >> 16);
		depth = word >> 6 & 0x3ff;
		if (__builtin_expect(!batch || !rows_put(&rows, time + shift, place, depth, word & 1),
				     0)) {
			rows_end(&rows, u->w);
			bad = !place || writer_row(u->w, time + shift, t->lane,
						   word & 1 ? u->leave : u->entry, place, depth);
			batch = rows_begin(&rows, u->w, t->lane, u->entry, u->leave);
			if (bad)
				break;
		}
		last = time;
	}
	rows_end(&rows, u->w);
	t->last = last;
	window_skip(&t->file, (size_t)(p - start));
	return bad ? -1 : 0;
}

static int task_run(struct uftrace *u, struct lane_reader *r, uint64_t until, uint32_t rank_until)
{
	struct task_reader *t = (struct task_reader *)r;
	struct error e;

	e.what[0] = '\0'; /* and no more of it: this is called at every change of tasks */
	u->last_lane = t->lane;
	while (t->base.next < until || (t->base.next == until && r->rank < rank_until)) {
		int got;

		if (t->context && u->info.max_stack <= 1024) {
			if (u->info.swap ? plain_records(u, t, until, rank_until, true)
					 : plain_records(u, t, until, rank_until, false))
				return -1;
			/* most often it stopped where another task's turn is */
			if (t->base.next > until ||
			    (t->base.next == until && r->rank > rank_until))
				break;
		}
		if (look_ahead(u, t, &e))
			goto failed;
		if (t->base.next == UINT64_MAX || t->base.next > until ||
		    (t->base.next == until && r->rank > rank_until))
			break;
		got = one_record(u, t, &e);
		if (got < 0)
			goto failed;
		if (look_ahead(u, t, &e))
			goto failed;
	}
	return 0;
failed:
	if (!e.what[0])
		return -1; /* the writer's error */
	/* the file cannot be read any further: damage of this task only */
	input_damage_error(u->input, &e);
	t->base.next = UINT64_MAX;
	window_close(&t->file);
	t->open = false;
	return 0;
}

int task_begin(struct uftrace *u, struct task_reader *t, struct error *e)
{
	t->base.run = task_run;
	t->base.next = UINT64_MAX;
	if (!t->open)
		return 0;
	if (look_ahead(u, t, e))
		return -1;
	/* a file that begins with LOST: the gap stands before the first record with a time */
	if (t->base.next == 0 && window_have(&t->file) >= 2 * UFTRACE_RECORD_SIZE) {
		struct uftrace_record r;

		if (uftrace_record_unpack(window_at(&t->file) + UFTRACE_RECORD_SIZE, u->info.swap,
					  &r) &&
		    r.type != UFTRACE_LOST)
			t->base.next = t->last = r.time;
	}
	return 0;
}
