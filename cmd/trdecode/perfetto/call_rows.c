/*
 * call_rows.c - the rows of calls
 *
 * The calls of a thread's track are a stack, whose depth the rows have. All other tracks have
 * asynchronous calls with numbers: an end closes the last begin of its track. Two tracks of a
 * thread that trencode writes become what they were: calls in the kernel, and calls open since
 * before the trace.
 */
#include <stdlib.h>

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

	r.type_name = enter ? p->texts.begin : p->texts.end;
	if (f->overlaps) {
		r.call = f->call;
		r.flags = TYPE_CALL_NUMBER;
		return r;
	}
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

	/* most rows: with the struct 'trdecode | trstat' of a trace of calls takes 1.12 times the
	 * instructions */
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
				     .end = UINT64_MAX,
				     .limit = c->depth > 1 ? f[-1].limit : UINT64_MAX,
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
	const struct perfetto_calls *c = perfetto_calls_of(p, t);
	bool complete = c->frames[depth].end != UINT64_MAX;

	while (c->depth > depth + 1) {
		uint64_t end = c->frames[c->depth - 1].end;

		p->counts.clipped += end > of->time && (complete || end != UINT64_MAX);
		if (perfetto_end_innermost(p, t, &inner, false))
			return -1;
	}
	return perfetto_end_innermost(p, t, of, unfinished);
}

/* Test whether an END is of a call: it has the call's name and category, or none, as
 * MatchingIncompleteSliceIndex() of Perfetto's slice_tracker.cc has it. */
static bool is_end_of(const struct perfetto *p, const struct perfetto_record *rec,
		      const struct perfetto_frame *f)
{
	if (f->end != UINT64_MAX || (rec->category && f->category != rec->category))
		return false;
	return !(rec->flags & PERFETTO_NAMED) || f->name == rec->name ||
	       f->name == p->texts.nothing;
}

/* Find the call that an END ends: its index + 1; 0: there is none. */
static size_t find_call(const struct perfetto *p, const struct perfetto_calls *c,
			const struct perfetto_record *rec)
{
	size_t depth = c->depth;

	while (depth && !is_end_of(p, rec, &c->frames[depth - 1]))
		depth--;
	return depth;
}

int perfetto_end_call(struct perfetto *p, struct perfetto_track *t,
		      const struct perfetto_record *rec, const struct perfetto_row *of)
{
	size_t depth = find_call(p, perfetto_calls_of(p, t), rec);

	if (!depth) {
		p->counts.unopened++;
		return 0;
	}
	return end_calls(p, t, depth - 1, of, rec->flags & PERFETTO_UNFINISHED);
}

/* --- calls with a duration --- */

/* The id, in async_calls.c, of an X that overlaps others. */
static struct perfetto_id id_of_complete(uint64_t serial)
{
	return (struct perfetto_id){.hash = serial | 1ull << 63};
}

int perfetto_begin_complete(struct perfetto *p, const struct perfetto_record *rec, uint64_t end,
			    const struct perfetto_row *of)
{
	struct perfetto_track *t = &p->tracks.track[rec->track];
	const struct perfetto_calls *c = perfetto_calls_of(p, t);
	uint64_t limit = c->depth ? c->frames[c->depth - 1].limit : UINT64_MAX;
	struct complete_end new_end = {.time = end,
				       .serial = ++p->completes.serial,
				       .thread = rec->track,
				       .depth = (uint32_t)c->depth};
	struct perfetto_row row = *of;
	struct perfetto_frame *f;

	new_end.overlaps = (t->role == PERFETTO_STACK || t->role == PERFETTO_ASYNC) &&
			   !perfetto_ids_full(p) &&
			   complete_calls_overlap(&p->completes, &new_end, limit, false);
	if (new_end.overlaps)
		return perfetto_id_begin(p, rec, id_of_complete(new_end.serial), of)
			       ? -1
			       : complete_calls_push(&p->completes, &new_end);
	row.track_id = new_end.serial;
	if (perfetto_begin_call(p, t, rec, &row))
		return -1;
	f = &c->frames[c->depth - 1];
	f->end = end;
	f->limit = end < limit ? end : limit;
	return complete_calls_push(&p->completes, &new_end);
}

int perfetto_end_complete(struct perfetto *p)
{
	struct complete_end end = complete_calls_pop(&p->completes);
	struct perfetto_track *t = &p->tracks.track[end.thread];
	const struct perfetto_record rec = {.track = end.thread};
	const struct perfetto_row row = {.time = end.time};
	const struct perfetto_calls *c = perfetto_calls_of(p, t);

	if (end.overlaps)
		return perfetto_id_end(p, &rec, id_of_complete(end.serial), &row);
	/* a call around it may have ended it, and the track may be of another thread now */
	if (c->depth <= end.depth || c->frames[end.depth].by_id ||
	    c->frames[end.depth].serial != end.serial)
		return 0;
	return end_calls(p, t, end.depth, &row, false);
}

/* --- calls that overlap others --- */

/* The open calls of all stacks while they are looked at. */
struct looked {
	struct id_cache numbers; /* by thread or track: index + 1 */
	struct perfetto_calls *calls;
	size_t count, capacity;
};

/* Get the number of the stack of a track, index + 1; 0: out of memory. The tracks of a thread share
 * it. */
static uint32_t looked_number(const struct perfetto *p, struct looked *l, uint32_t track)
{
	const struct perfetto_track *t = &p->tracks.track[track];
	bool stack = t->has_thread && !t->is_async;
	int32_t key[] = {stack, stack && p->tasks.shared_tids ? t->pid : -1,
			 stack ? t->tid : (int32_t)track};
	uint32_t *number = id_cache_number(&l->numbers, key, sizeof key);

	if (number && !*number) {
		if (ARRAY_GROW(l->calls, l->capacity, l->count))
			return 0;
		l->calls[l->count++] = (struct perfetto_calls){0};
		*number = (uint32_t)l->count;
	}
	return number ? *number : 0;
}

static int look_begin(struct perfetto *p, struct looked *l, const struct perfetto_record *rec,
		      uint64_t end)
{
	uint32_t number = looked_number(p, l, rec->track);
	struct perfetto_calls *c = number ? &l->calls[number - 1] : NULL;
	struct perfetto_frame f = {
		.name = rec->name, .category = rec->category, .end = end, .limit = UINT64_MAX};
	struct complete_end ends = {.time = end, .thread = number - 1};

	if (!c)
		return -1;
	ends.depth = (uint32_t)c->depth;
	if (c->depth)
		f.limit = c->frames[c->depth - 1].limit;
	if (end != UINT64_MAX) {
		f.serial = ends.serial = ++p->completes.serial;
		if (complete_calls_overlap(&p->completes, &ends, f.limit, false))
			return complete_calls_mark(&p->completes, ends.serial);
		if (complete_calls_push(&p->completes, &ends))
			return -1;
		f.limit = end < f.limit ? end : f.limit;
	}
	if (ARRAY_GROW(c->frames, c->capacity, c->depth))
		return -1;
	c->frames[c->depth++] = f;
	return 0;
}

/* End a call; the X in it that end later overlap it. */
static int look_end(struct perfetto *p, struct looked *l, const struct perfetto_record *rec,
		    uint64_t time)
{
	uint32_t number = looked_number(p, l, rec->track);
	struct perfetto_calls *c = number ? &l->calls[number - 1] : NULL;
	size_t depth = c ? find_call(p, c, rec) : 0;

	if (!c)
		return -1;
	for (size_t i = depth; depth && i < c->depth; i++)
		if (c->frames[i].serial && complete_ends_outside(c->frames[i].end, time, false) &&
		    complete_calls_mark(&p->completes, c->frames[i].serial))
			return -1;
	if (depth)
		c->depth = depth - 1;
	return 0;
}

static int look_at(struct perfetto *p, struct looked *l, const struct sorter_record *r)
{
	struct perfetto_record rec;
	uint64_t end = UINT64_MAX;

	memcpy(&rec, r->data, sizeof rec);
	while (complete_calls_next(&p->completes) <= r->key.time) {
		struct complete_end ended = complete_calls_pop(&p->completes);
		struct perfetto_calls *c = &l->calls[ended.thread];

		if (c->depth > ended.depth && c->frames[ended.depth].serial == ended.serial)
			c->depth = ended.depth;
	}
	if (rec.kind == PERFETTO_END)
		return look_end(p, l, &rec, r->key.time);
	if (rec.kind != PERFETTO_BEGIN)
		return 0;
	if (rec.flags & PERFETTO_COMPLETE)
		memcpy(&end, r->data + sizeof rec, sizeof end);
	return look_begin(p, l, &rec, end);
}

/* Look at all events, if a stack has X and B. */
static int look(struct perfetto *p, struct looked *l)
{
	struct sorter_record r;
	bool mixed = false;

	for (uint32_t i = 0; i < p->tracks.count; i++) {
		const struct perfetto_calls *of = &p->tracks.track[i].calls;
		uint32_t number;

		if (!of->begins && !of->completes)
			continue;
		number = looked_number(p, l, i);
		if (!number)
			return -1;
		l->calls[number - 1].begins |= of->begins;
		l->calls[number - 1].completes |= of->completes;
		mixed |= l->calls[number - 1].begins && l->calls[number - 1].completes;
	}
	if (!mixed)
		return 0;
	p->completes.looking = true;
	while (sorter_peek(&p->sorter, &r))
		if (look_at(p, l, &r) || sorter_advance(&p->sorter, &p->error))
			return -1;
	complete_calls_rewind(&p->completes);
	return sorter_rewind(&p->sorter, &p->error);
}

int perfetto_find_overlaps(struct perfetto *p)
{
	struct looked l = {0};
	int failed = look(p, &l);

	for (size_t i = 0; i < l.count; i++)
		free(l.calls[i].frames);
	free(l.calls);
	id_cache_free(&l.numbers);
	return failed;
}

/* --- states --- */

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
