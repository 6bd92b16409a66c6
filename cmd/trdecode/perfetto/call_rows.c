/*
 * call_rows.c - the rows of calls
 *
 * The calls of a thread's track are a stack, whose depth the rows have. All other tracks have
 * asynchronous calls with numbers: an end closes the last begin of its track. Two tracks of a
 * thread that trencode writes become what they were: calls in the kernel, and calls open since
 * before the trace.
 */
#include "cmd/trdecode/input/merge.h"
#include "cmd/trdecode/perfetto/rows.h"

/* Begin a row of a call. */
static struct perfetto_row call_row(const struct perfetto *p, const struct perfetto_track *t,
				    const struct perfetto_frame *f, enum type_kind kind,
				    uint64_t time)
{
	bool enter = kind == KIND_ENTER;
	struct perfetto_row r = {.time = time,
				 .kind = kind,
				 .lane = t->lane,
				 .category = f->category,
				 .location = f->location,
				 .name = f->name};

	if (f->call) {
		r.track_id = f->by_id ? f->serial : t->uuid;
		r.call = f->call;
		r.by_id = f->by_id;
		r.flags = TYPE_CALL_NUMBER;
		if (t->is_state && !f->by_id)
			r.type_name = enter ? p->texts.state_begin : p->texts.state_end;
		else
			r.type_name = enter ? p->texts.async_begin : p->texts.async_end;
		return r;
	}
	r.type_name = enter ? p->texts.begin : p->texts.end;
	r.level = f->level;
	r.flags = (f->level <= DEPTH_MOST ? TYPE_DEPTH : 0) | (f->kernel ? TYPE_KERNEL : 0);
	return r;
}

int perfetto_put_call(struct perfetto *p, const struct perfetto_track *t,
		      const struct perfetto_frame *f, enum type_kind kind,
		      const struct perfetto_row *of)
{
	struct perfetto_bare_types *bare = &p->types.bare[kind == KIND_LEAVE];
	bool is_bare = !f->call && !f->kernel && !of->size && !of->stack && f->level <= DEPTH_MOST;
	struct perfetto_row r;

	/* most rows: with the struct they cost 8 % more of the time */
	if (is_bare && bare->type && bare->category == f->category)
		return writer_row(p->w, merge_shifted(of->time, p->input->shift), t->lane,
				  bare->type, f->location, f->level);
	r = call_row(p, t, f, kind, of->time);
	r.values = of->values;
	r.size = of->size;
	r.structs = of->structs;
	r.stack = of->stack;
	if (is_bare) {
		bare->category = f->category;
		bare->type = perfetto_row_type(p, &r);
	}
	return perfetto_put_row(p, &r);
}

/* --- calls --- */

struct perfetto_thread *perfetto_track_thread(const struct perfetto *p,
					      const struct perfetto_track *t)
{
	return t->thread ? &p->tracks.thread[t->thread - 1] : NULL;
}

/* Get the calls that a track's begins and ends are of. */
struct perfetto_calls *perfetto_calls_of(const struct perfetto *p, struct perfetto_track *t)
{
	return t->role == PERFETTO_STACK ? &perfetto_track_thread(p, t)->calls : &t->calls;
}

int perfetto_begin_call(struct perfetto *p, struct perfetto_track *t,
			const struct perfetto_record *rec, const struct perfetto_row *of)
{
	struct perfetto_thread *thread = perfetto_track_thread(p, t);
	struct perfetto_calls *c = perfetto_calls_of(p, t);
	struct perfetto_frame *f;

	if (ARRAY_GROW(c->frames, c->capacity, c->depth))
		return -1;
	f = &c->frames[c->depth++];
	*f = (struct perfetto_frame){.serial = of->track_id,
				     .by_id = rec->flags & PERFETTO_BY_ID,
				     .name = rec->name,
				     .category = rec->category,
				     .location = perfetto_location(p, rec->name)};
	if (!f->location)
		return -1;
	if (t->role == PERFETTO_BEFORE) {
		/* the call has no enter */
		thread->unseen++;
		return 0;
	}
	/* the stream counts no calls in the kernel outside of others */
	f->kernel = t->role == PERFETTO_KERNEL && thread->calls.depth + thread->unseen;
	if (t->role == PERFETTO_STACK)
		f->level = (uint32_t)c->depth - 1 + thread->unseen;
	else if (f->kernel)
		f->level = thread->kernel++;
	else
		f->call = ++p->calls;
	return perfetto_put_call(p, t, f, KIND_ENTER, of);
}

/* End the innermost call of a track. */
int perfetto_end_innermost(struct perfetto *p, struct perfetto_track *t,
			   const struct perfetto_row *of, bool unfinished)
{
	struct perfetto_thread *thread = perfetto_track_thread(p, t);
	struct perfetto_calls *c = perfetto_calls_of(p, t);
	struct perfetto_frame *f = &c->frames[--c->depth];

	thread = f->kernel || t->role == PERFETTO_BEFORE ? thread : NULL;
	if (f->kernel)
		thread->kernel--;
	else if (thread)
		f->level = --thread->unseen + (uint32_t)thread->calls.depth;
	if (unfinished)
		return 0;
	if (of->name) {
		f->name = of->name;
		f->location = perfetto_location(p, of->name);
		if (!f->location)
			return -1;
	}
	return perfetto_put_call(p, t, f, KIND_LEAVE, of);
}

/* End calls of a track until so many are left; the last one has the values of the row. */
static int end_calls(struct perfetto *p, struct perfetto_track *t, size_t depth,
		     const struct perfetto_row *of, bool unfinished)
{
	const struct perfetto_row inner = {.time = of->time};

	while (perfetto_calls_of(p, t)->depth > depth + 1)
		if (perfetto_end_innermost(p, t, &inner, false))
			return -1;
	return perfetto_end_innermost(p, t, of, unfinished);
}

/* Test whether an end is of a call: it has the call's name and category, or none, as
 * MatchingIncompleteSliceIndex() of Perfetto's slice_tracker.cc has it. */
static bool is_end_of(const struct perfetto *p, const struct perfetto_record *rec, uint64_t serial,
		      const struct perfetto_frame *f)
{
	if (rec->kind == PERFETTO_COMPLETE_END)
		return f->serial == serial;
	if (rec->category && f->category != rec->category)
		return false;
	return !(rec->flags & PERFETTO_NAMED) || f->name == rec->name ||
	       f->name == p->texts.nothing;
}

int perfetto_end_call(struct perfetto *p, struct perfetto_track *t,
		      const struct perfetto_record *rec, uint64_t serial,
		      const struct perfetto_row *of)
{
	const struct perfetto_calls *c = perfetto_calls_of(p, t);
	size_t depth = c->depth;

	while (depth && !is_end_of(p, rec, serial, &c->frames[depth - 1]))
		depth--;
	if (!depth) {
		p->counts.unopened += rec->kind == PERFETTO_END;
		return 0;
	}
	return end_calls(p, t, depth - 1, of, rec->flags & PERFETTO_UNFINISHED);
}

int perfetto_state(struct perfetto *p, struct perfetto_track *t, const struct perfetto_record *rec,
		   const struct perfetto_row *of)
{
	const struct perfetto_calls *c = &t->calls;
	struct perfetto_row end = {.time = of->time};

	/* the end of a state has arguments only if no state follows */
	if (c->depth && perfetto_end_innermost(p, t, rec->name ? &end : of, false))
		return -1;
	return rec->name ? perfetto_begin_call(p, t, rec, of) : 0;
}
