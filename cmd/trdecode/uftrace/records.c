/*
 * records.c - TID.dat: write the records of one task as rows
 *
 * A record is two words (common/formats/uftrace.h); if its `more` bit is set, a payload without a
 * length follows, whose size only the argument specs of its function give. If they do not, or if a
 * record is damaged, the next plausible record is searched in steps of 8 bytes.
 */
#include <stdlib.h>

#include "common/stream/value.h"
#include "cmd/trdecode/uftrace/uftrace.h"

/* bytes. The recorder keeps at most 1 KiB of a call's values. */
enum { PAYLOAD_LIMIT = 4096 };

static void task_damage(struct uftrace *u, struct task_reader *t, const char *what)
{
	char path[512];

	input_damage(u->input, tree_path(u->input->tree, t->member, path, sizeof(path)),
		     t->file.offset, "%s", what);
}

static int task_gap(struct uftrace *u, struct task_reader *t, enum gap_reason reason,
		    uint64_t count, uint64_t offset, const char *message)
{
	struct gap g = {.reason = reason,
			.unit = reason == GAP_LOST ? GAP_EVENTS : GAP_BYTES,
			.count = count,
			.offset = offset,
			.file = t->member,
			.message = message};

	return writer_gap(u->w, shifted(u, t->last), t->lane, &g);
}

/* Is the record valid by itself? Recorders write time and depth of LOST as 0, and the ids of
 * events fit 32 bits. */
static bool well_formed(const struct uftrace_record *r)
{
	if (r->type == UFTRACE_LOST)
		return !r->time && !r->depth && !r->more;
	if (r->type == UFTRACE_EVENT && r->addr > UINT32_MAX)
		return false;
	return r->time < TIME_LIMIT;
}

static bool record_unpack(const struct uftrace *u, const uint8_t *p, struct uftrace_record *r)
{
	return uftrace_record_unpack(p, u->info.swap, r) && well_formed(r);
}

/* Does the function or event of the record exist? If nothing is known of the address space, any
 * address may. */
static bool names_something(struct uftrace *u, const struct task_reader *t,
			    const struct uftrace_record *r)
{
	uint64_t until = UINT64_MAX;
	struct uftrace_session *session = t->session;
	const struct uftrace_sess *sess;
	struct uftrace_where where;
	uint32_t epoch = t->epoch;

	if (r->type == UFTRACE_EVENT)
		return !r->depth && uftrace_event_known(u, r->addr);
	if (!t->context || r->time >= t->context_until) {
		sess = uftrace_session_at(u->tasks, t->task, r->time, &until);
		session = sess ? uftrace_session_get(u->sessions, sess) : NULL;
		epoch = session ? uftrace_session_epoch_at(session, r->time, NULL) : 0;
	}
	if (!session || !uftrace_session_map(session)->nr)
		return r->addr >= 4096;
	return uftrace_session_resolve(session, epoch, r->addr, &where) || where.module;
}

/* Can the bytes after this record, which has no payload, be the next record? */
static bool record_confirmed(struct uftrace *u, const struct task_reader *t,
			     const struct uftrace_record *r, const uint8_t *p, size_t have)
{
	struct uftrace_record next;

	if (r->more || have < 2 * UFTRACE_RECORD_SIZE)
		return false;
	return record_unpack(u, p + UFTRACE_RECORD_SIZE, &next) && next.type != UFTRACE_LOST &&
	       next.time >= r->time && next.time - r->time < TASK_JUMP &&
	       names_something(u, t, &next);
}

/*
 * Could a record begin here? Its time should be after that of the previous record; if it is not
 * (the previous time may be the damaged one), the record after it must confirm it.
 */
static bool record_plausible(struct uftrace *u, const struct task_reader *t, const uint8_t *p,
			     size_t have)
{
	struct uftrace_record r;

	if (!record_unpack(u, p, &r))
		return false;
	if (r.type == UFTRACE_LOST)
		return r.addr && r.addr <= UINT32_MAX;
	if (!names_something(u, t, &r))
		return false;
	return !t->last || (r.time >= t->last && r.time - t->last < TASK_JUMP) ||
	       record_confirmed(u, t, &r, p, have);
}

/* Go to the next plausible record at or after the present position, and report what was skipped.
 * Returns 1 if found, 0 at the end of the file, -1. */
static int task_resynchronise(struct uftrace *u, struct task_reader *t, const char *message,
			      struct error *e)
{
	uint64_t from = t->file.offset;
	ssize_t have;
	int found = 0;

	for (;;) {
		have = window_need(&t->file, 2 * UFTRACE_RECORD_SIZE, e);
		if (have < 0)
			return -1;
		if (have < UFTRACE_RECORD_SIZE) {
			window_skip(&t->file, (size_t)have);
			break;
		}
		if (record_plausible(u, t, window_at(&t->file), (size_t)have)) {
			found = 1;
			break;
		}
		window_skip(&t->file, 8);
	}
	/* calls and returns may be missing */
	t->depth_known = false;
	if (task_gap(u, t, GAP_DAMAGE, t->file.offset - from, from, message))
		return -1;
	return found;
}

/* Remove a depth beyond 1023 from the address, to which the recorder added it. */
static void repair_depth(struct task_reader *t, struct uftrace_record *r, uint32_t *depth)
{
	uint32_t expected, d;

	if (!t->depth_known) {
		t->depth = r->depth + (r->type == UFTRACE_EXIT);
		t->depth_known = true;
	}
	expected = r->type == UFTRACE_ENTRY ? t->depth : t->depth ? t->depth - 1 : 0;
	/* the depth next to the expected one that has these ten low bits */
	d = (expected & ~1023u) | r->depth;
	if (d > expected && d - expected > 512 && d >= 1024)
		d -= 1024;
	else if (expected > d && expected - d > 512)
		d += 1024;
	r->addr = (r->addr - (d >> 10)) & UFTRACE_ADDR_MASK;
	*depth = d;
	t->depth = r->type == UFTRACE_ENTRY ? d + 1 : d;
}

/* An ENTRY or EXIT record, and what its row needs. */
struct call_record {
	struct uftrace_record r;
	uint32_t location, depth;
};

/* Write the row of a record without its values. */
static int row_without_values(struct uftrace *u, struct task_reader *t, const struct call_record *c)
{
	t->last = c->r.time;
	return writer_row(u->w, shifted(u, c->r.time), t->lane,
			  c->r.type == UFTRACE_ENTRY ? u->ids.entry : u->ids.leave, c->location,
			  c->depth);
}

/* Write the row, without values, of a record whose payload has an unknown size, and search the
 * next record. */
static int record_unmeasured(struct uftrace *u, struct task_reader *t, const struct call_record *c,
			     const char *what, struct error *e)
{
	task_damage(u, t, what);
	if (row_without_values(u, t, c))
		return -1;
	return task_resynchronise(u, t, what, e);
}

/* Write a function's record that has a payload. Returns 1, 0 if the file ended, -1. */
static int record_with_payload(struct uftrace *u, struct task_reader *t,
			       const struct call_record *c, struct error *e)
{
	bool leave = c->r.type == UFTRACE_EXIT;
	const struct uftrace_specs *specs = NULL;
	struct uftrace_where where;
	const uint8_t *payload;
	size_t have;
	ssize_t got;
	int64_t size;

	window_skip(&t->file, UFTRACE_RECORD_SIZE);
	if (t->session && uftrace_session_resolve(t->session, t->epoch, c->r.addr, &where))
		specs = uftrace_args_find(u->args, t->session, &where, leave);
	if (!specs)
		return record_unmeasured(
			u, t, c, "arguments of a function whose argument types are not known", e);
	payload = window_at(&t->file);
	have = window_have(&t->file);
	size = uftrace_args_size(specs, payload, have, u->info.swap);
	if (size < 0) {
		got = window_need(&t->file, PAYLOAD_LIMIT, e);
		if (got < 0)
			return -1;
		payload = window_at(&t->file);
		have = (size_t)got;
		size = uftrace_args_size(specs, payload, have, u->info.swap);
	}
	if (size < 0)
		return record_unmeasured(u, t, c,
					 have + t->file.offset >= t->file.size
						 ? "the file ends inside of a record's arguments"
						 : "a record's arguments do not end",
					 e);
	if (uftrace_values(u, specs, payload, (size_t)size, leave) ||
	    writer_row_data(u->w, (struct new_row){.time = shifted(u, c->r.time),
						   .lane = t->lane,
						   .type = leave ? u->ids.leave_values
								 : u->ids.entry_values,
						   .location = c->location,
						   .depth = c->depth,
						   .tail = u->tail.data,
						   .tail_size = (uint32_t)u->tail.size,
						   .has_tail = true}))
		return -1;
	t->last = c->r.time;
	window_skip(&t->file, (size_t)size);
	return 1;
}

static int event_record(struct uftrace *u, struct task_reader *t, const struct uftrace_record *r,
			struct error *e)
{
	const uint8_t *p = NULL;
	size_t n = 0, size = 0;
	ssize_t have = 0;

	window_skip(&t->file, UFTRACE_RECORD_SIZE);
	if (r->more) {
		have = window_need(&t->file, 2, e);
		if (have >= 2)
			n = (size_t)get_uint(window_at(&t->file), 2, u->info.big_endian);
		size = align_up(2 + n, 8);
		if (have >= 0)
			have = window_need(&t->file, size, e);
		if (have < 0)
			return -1;
		p = window_at(&t->file);
		if ((size_t)have < 2 + n) {
			task_damage(u, t, "the file ends inside of an event's data");
			return task_resynchronise(u, t, "damaged event data", e);
		}
	}
	if (uftrace_event(u, t, r, n ? p + 2 : NULL, n, r->more))
		return -1;
	t->last = r->time;
	window_skip(&t->file, size < (size_t)have ? size : (size_t)have);
	return 1;
}

static int lost_record(struct uftrace *u, struct task_reader *t, const struct uftrace_record *r)
{
	uint64_t offset = t->file.offset;

	window_skip(&t->file, UFTRACE_RECORD_SIZE);
	t->depth_known = false;
	return task_gap(u, t, GAP_LOST, r->addr, offset, NULL) ? -1 : 1;
}

/*
 * Check that times of a task ascend, except those of estimated returns. Of two times that do not
 * ascend, the record after them shows which one is damaged. Returns 1: leave out the present
 * record; 0; -1.
 */
static int check_time(struct uftrace *u, struct task_reader *t, const struct uftrace_record *r,
		      struct error *e)
{
	bool back = r->time < t->last;
	struct uftrace_record next;
	ssize_t have;

	if (!t->last || t->checked == t->file.offset + 1 ||
	    (!back && r->time - t->last < TASK_JUMP) ||
	    (back && u->info.feat_mask & UFTRACE_FEAT_ESTIMATE_RETURN))
		return 0;
	t->checked = t->file.offset + 1; /* reported once */
	have = r->more ? 0 : window_need(&t->file, 2 * UFTRACE_RECORD_SIZE, e);
	if (have < 0)
		return -1;
	if (have >= 2 * UFTRACE_RECORD_SIZE) {
		bool follows = record_unpack(u, window_at(&t->file) + UFTRACE_RECORD_SIZE, &next) &&
			       next.type != UFTRACE_LOST && next.time >= t->last &&
			       next.time - t->last < TASK_JUMP;

		if (follows && (back || next.time < r->time)) {
			task_damage(u, t, "a record whose time is not between those beside it");
			if (task_gap(u, t, GAP_DAMAGE, UFTRACE_RECORD_SIZE, t->file.offset,
				     "a damaged time"))
				return -1;
			window_skip(&t->file, UFTRACE_RECORD_SIZE);
			t->depth_known = false;
			return 1;
		}
	}
	if (back)
		task_damage(u, t, "the time steps back");
	return 0;
}

/* Set base.due.time to the next record's time, skipping damage. Returns 0, or -1. */
static int record_look_ahead(struct uftrace *u, struct task_reader *t, struct error *e)
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
			task_damage(u, t, "the file ends inside of a record");
			if (task_gap(u, t, GAP_DAMAGE, (uint64_t)have, t->file.offset,
				     "cut record"))
				return -1;
			break;
		}
		if (record_unpack(u, window_at(&t->file), &r)) {
			/* LOST has no time of its own: it has that of the record before it */
			t->base.due.time = r.type == UFTRACE_LOST ? t->last : r.time;
			got = r.type == UFTRACE_LOST ? 0 : check_time(u, t, &r, e);
			if (got <= 0)
				return got;
			continue;
		}
		if (!uftrace_record_unpack(window_at(&t->file), u->info.swap, &r))
			task_damage(u, t, "a record with a wrong magic");
		else if (r.type == UFTRACE_LOST)
			task_damage(u, t, "a LOST record with a time or depth");
		else if (r.time >= TIME_LIMIT)
			task_damage(u, t, "a record with an impossible time");
		else
			task_damage(u, t, "an event with an impossible id");
		got = task_resynchronise(u, t, "damaged records", e);
		if (got < 0)
			return -1;
		if (!got)
			break;
	}
	t->base.due.time = UINT64_MAX;
	window_close(&t->file);
	t->open = false;
	return 0;
}

/* Begin a task with its first call: if rows of the task may be left out, record which calls are
 * open. */
static int task_start(struct uftrace *u, struct task_reader *t, const struct uftrace_record *r)
{
	const struct row_filter *l = u->input->decoding->row_filter;
	uint32_t unseen = r->depth + (r->type == UFTRACE_EXIT);
	uint64_t time = shifted(u, r->time);

	t->started = true;
	if (!l || !l->cuts_threads || !unseen || time < l->first_time || time > l->last_time)
		return 0;
	return writer_thread(
		u->w, &(struct thread_entry){.lane = t->lane, .since = time, .unseen = unseen});
}

static int one_record(struct uftrace *u, struct task_reader *t, struct error *e)
{
	struct call_record c;

	uftrace_record_unpack(window_at(&t->file), u->info.swap, &c.r);
	if (c.r.type == UFTRACE_LOST)
		return lost_record(u, t, &c.r);
	if (c.r.time >= t->context_until || !t->context || c.r.time < t->last)
		if (uftrace_context(u, t, c.r.time))
			return -1;
	if (c.r.type == UFTRACE_EVENT)
		return event_record(u, t, &c.r, e);
	c.depth = c.r.depth;
	if (u->info.max_stack > 1024)
		repair_depth(t, &c.r, &c.depth);
	if (!t->started && task_start(u, t, &c.r))
		return -1;
	c.location = uftrace_location(u, t, c.r.addr);
	if (!c.location)
		return -1;
	if (c.r.more)
		return record_with_payload(u, t, &c, e);
	window_skip(&t->file, UFTRACE_RECORD_SIZE);
	return row_without_values(u, t, &c) ? -1 : 1;
}

/* End the task's file, which cannot be read further: damage of this task only. Returns 0, or -1
 * if the writer failed. */
static int task_failed(struct uftrace *u, struct task_reader *t, const struct error *e)
{
	if (!e->what[0])
		return -1;
	input_damage_error(u->input, e);
	t->base.due.time = UINT64_MAX;
	window_close(&t->file);
	t->open = false;
	return 0;
}

int task_look_ahead(struct uftrace *u, struct task_reader *t)
{
	struct error e;

	e.what[0] = '\0';
	return record_look_ahead(u, t, &e) ? task_failed(u, t, &e) : 0;
}

/* Write one event, and the gaps of damage after it; bare records are written by merge.c. */
static int task_run(struct uftrace *u, struct lane_reader *r)
{
	struct task_reader *t = (struct task_reader *)r;
	struct error e;

	e.what[0] = '\0';
	u->last_lane = t->lane;
	if (one_record(u, t, &e) < 0 || record_look_ahead(u, t, &e))
		return task_failed(u, t, &e);
	return 0;
}

/* Find the first time. A file may begin with LOST: the gap is before the first record that has a
 * time. */
static int first_time(struct uftrace *u, struct task_reader *t, struct error *e)
{
	ssize_t have = window_need(&t->file, t->file.capacity, e);

	if (have < 0)
		return -1;
	for (ssize_t at = 0; have - at >= UFTRACE_RECORD_SIZE; at += UFTRACE_RECORD_SIZE) {
		struct uftrace_record r;

		if (!record_unpack(u, window_at(&t->file) + at, &r))
			break;
		if (r.type != UFTRACE_LOST) {
			t->base.due.time = t->last = r.time;
			break;
		}
	}
	return 0;
}

int task_begin(struct uftrace *u, struct task_reader *t, struct error *e)
{
	struct error damaged;

	t->base.run = task_run;
	t->base.task = true;
	t->base.due.time = UINT64_MAX;
	if (!t->open)
		return 0;
	damaged.what[0] = '\0';
	if (record_look_ahead(u, t, &damaged) ||
	    (!t->base.due.time && first_time(u, t, &damaged))) {
		*e = damaged;
		return task_failed(u, t, &damaged);
	}
	return 0;
}
