/*
 * statistics.c - count the rows of a stream in groups
 */
#include "cmd/trstat/statistics.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/pair_list.h"
#include "common/calls/call_stacks.h"
#include "common/calls/calls.h"
#include "common/pairs/flows.h"
#include "common/scheduling/states.h"
#include "common/stream/field.h"
#include "common/value/argument.h"
#include "common/value/scalar.h"

/* The times of a call, or of an event without duration. */
struct statistics_times {
	bool known;
	bool pending; /* total and self are not known yet */
	uint64_t total, self;
	uint32_t location;	/* of a call: the location that names it */
	const uint64_t *states; /* times in states (states.h), or NULL */
};

static inline void statistics_note_time(struct statistics *s, uint64_t time)
{
	s->first = time < s->first ? time : s->first;
	s->last = time > s->last ? time : s->last;
}

/* --- selection --- */

/* Returns true if not all rows count. */
static inline bool statistics_selects(const struct statistics *s)
{
	return s->outside || s->where;
}

static int statistics_add_sums(struct statistics *s);
static void statistics_forget_samples(struct statistics *s);
static int statistics_learn_frames(struct statistics *s, uint32_t stack);
static int statistics_where_cells(struct statistics *s, const struct event_ref *entered,
				  struct key_cell *cells);
static bool statistics_is_selected(struct statistics *s, const struct event_ref *subject);
static void statistics_begin_block(struct statistics *s, const struct block *b);

/* Add a time of pairs to their group, or to that of a bucket. */
static void add_busy_time(const struct statistics *s, struct aggregate *a, uint64_t begin,
			  uint64_t end)
{
	uint128 *busy = aggregate_part(a, s->columns->wanted.busy);

	busy[0] += end - begin;
	begin = begin > s->stray.begin ? begin : s->stray.begin;
	busy[1] += end > begin ? end - begin : 0;
}

int statistics_add_busy(struct statistics *s, uint64_t begin, uint64_t end)
{
	for (bool first = true; begin < end; first = false) {
		uint64_t next = end, after;
		struct aggregate *a;

		for (size_t i = 0; i < s->keys->count; i++) {
			const struct key *k = &s->keys->key[i];

			if (!key_is_time_bucket(k))
				continue;
			s->cells[i] = key_unsigned(begin - begin % k->width);
			if (!__builtin_add_overflow(s->cells[i].value, k->width, &after) &&
			    after < next)
				next = after;
		}
		if (!first && s->busy++ >= BUSY_MOST)
			return 0;
		a = groups_find(&s->groups, s->cells);
		if (!a)
			return -1;
		add_busy_time(s, a, begin, next);
		begin = next;
	}
	return 0;
}

int statistics_check_busy(const struct statistics *s, struct error *e)
{
	if (s->busy <= BUSY_MOST)
		return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "pairs cover more than %d buckets of time: use wider ones", BUSY_MOST);
}

struct columns_run statistics_run(const struct statistics *s, bool whole)
{
	size_t key = keys_time_bucket(s->keys);

	struct columns_run run = {.first = s->since ? s->since : s->first,
				  .last = s->last,
				  .bucket = key ? s->keys->key[key - 1].width : 0,
				  .bucket_key = key,
				  .parts = s->covered.span,
				  .nparts = s->covered.count};

	for (size_t i = 0; i < run.nparts; i++) {
		run.first = i && run.first < run.parts[i].since ? run.first : run.parts[i].since;
		run.last = i && run.last > run.parts[i].last ? run.last : run.parts[i].last;
	}
	run.bucket = whole ? 0 : run.bucket;
	/* strays are one of a thousand at most */
	if (whole && s->stray.begin && s->stray.count <= s->stray.rows / 1000 && run.nparts < 2) {
		run.first = s->stray.begin;
		run.stray = s->stray.count;
		run.nparts = 0;
	}
	return run;
}

enum { STRAY_MOST = 1000, STRAY_PAUSE = 1000000000 };

/* Look for a pause among the first events. A part of the run that was chosen has no strays. */
static void note_strays(struct statistics *s, const struct block *b)
{
	struct events it;
	struct event e;
	uint64_t n = s->stray.rows;

	s->stray.rows += b->rows;
	if (n && s->stray.stream != s->dictionary->stream)
		n = STRAY_MOST;
	s->stray.stream = s->dictionary->stream;
	events_begin(&it, b);
	for (; n < STRAY_MOST && !s->ticks && event_next(&it, &e); n++) {
		if (n && e.time > s->stray.last && e.time - s->stray.last >= STRAY_PAUSE) {
			s->stray.begin = e.time;
			s->stray.count = n;
			for (size_t i = 0; s->columns->wanted.busy && i < s->groups.count; i++)
				((uint128 *)aggregate_part(groups_at(&s->groups, i),
							   s->columns->wanted.busy))[1] = 0;
		}
		s->stray.last = e.time > s->stray.last ? e.time : s->stray.last;
	}
}

/* With --cover: note that a stream has ended. Streams may be of other times, between
 * which no trace shows that all was idle. Returns -1 when out of memory. */
static int cover_end_stream(struct statistics *s)
{
	if (s->first > s->last)
		return 0;
	if (ARRAY_GROW(s->covered.span, s->covered.capacity, s->covered.count))
		return -1;
	s->covered.span[s->covered.count++] = (struct time_span){s->first, s->last};
	s->first = UINT64_MAX;
	s->last = 0;
	return 0;
}

static int cover_next_stream(struct statistics *s)
{
	uint32_t before = s->covered.stream;

	s->covered.stream = s->dictionary->stream;
	return s->pair && s->pair->cover && before != s->covered.stream ? cover_end_stream(s) : 0;
}

/* --- fields of rows for the columns sum(F), min(F), max(F), avg(F), uniq(F) --- */

/* Get a field for columns: the time of a call, in a state too, else the event's field of that name,
 * else the name of the call or event, else the lane's field. l is NULL for a row that does not
 * count. */
static bool wanted_value(struct dictionary *d, const struct event *e, const struct lane *l,
			 const struct wanted_field *f, const struct statistics_times *times,
			 struct field_value *v)
{
	const char *name = f->name;

	if (f->state >= 0) {
		v->form = times->states ? FORM_UINT : FORM_NONE;
		v->u = times->states ? times->states[f->state] : 0;
		return times->states;
	}
	if (f->time && times->known) {
		v->form = e && e->type->kind == KIND_SAMPLE && type_weight_is_signed(e->type)
				  ? FORM_INT
				  : FORM_UINT;
		v->u = f->time == TIME_TOTAL ? times->total : times->self;
		return true;
	}
	if (e && event_ref_field(d, e, name + f->quoted, v))
		return true;
	if (!l)
		return false;
	if (!strcmp(name, "name")) {
		uint32_t location = times->known ? times->location : e->location;
		struct text_ref text = times->known || location
					       ? dictionary_location_name(d, location)
					       : e->type->name;

		*v = (struct field_value){
			.form = FORM_TEXT, .text = (const uint8_t *)text.text, .size = text.size};
		return true;
	}
	v->form = FORM_INT;
	if (!strcmp(name, "tid") && l->flags & LANE_HAS_TID)
		v->i = l->tid;
	else if (!strcmp(name, "pid") && l->flags & LANE_HAS_PID)
		v->i = l->pid;
	else if (!strcmp(name, "cpu") && l->flags & LANE_HAS_CPU)
		v->i = l->cpu;
	else if (!strcmp(name, "comm") && l->comm.size)
		*v = (struct field_value){.form = FORM_TEXT,
					  .text = (const uint8_t *)l->comm.text,
					  .size = l->comm.size};
	else
		v->form = FORM_NONE;
	return v->form != FORM_NONE;
}

/* Make the cell of a number; other values have none. Equal numbers have one cell. */
static struct key_cell number_cell(const struct field_value *v)
{
	double real;

	if (v->form == FORM_INT)
		return key_signed(v->i);
	if (v->form == FORM_UINT)
		return key_unsigned(v->u);
	if (v->form != FORM_REAL)
		return (struct key_cell){0};
	real = v->size == 4 ? shortest_widen((float)v->real) : v->real;
	return key_real(real, v->size == 4);
}

static int add_number_cell(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
			   const struct key_cell *cell)
{
	switch (cell->kind) {
	case KEY_SIGNED: return aggregate_number(a, w, field, (int64_t)cell->value);
	case KEY_UNSIGNED: return aggregate_number(a, w, field, (int128)cell->value);
	case KEY_REAL: return aggregate_real(a, w, field, key_real_value(cell));
	default: return 0;
	}
}

/* Test whether it is an argument of calls, or an element of one: arg.N. */
static bool columns_is_argument(const struct wanted_field *f)
{
	return !f->time && !strncmp(f->name, "arg.", 4);
}

/* Get how many of the first n fields are arguments. */
static size_t columns_arguments(const struct columns_wanted *w, uint32_t n)
{
	size_t arguments = 0;

	for (uint32_t i = 0; i < n; i++)
		arguments += columns_is_argument(&w->field[i]);
	return arguments;
}

/* Get the number of arguments among the columns' fields that are kept until the leave, two
 * cells each after those of the keys: all of them, or 0 where each row counts by itself. */
static size_t statistics_arguments(const struct keys *k, const struct columns_wanted *w)
{
	return k->by_type ? 0 : columns_arguments(w, w->field_count);
}

/* Make the cells of an enter's arguments, two for each: a number or nothing, a hash or nothing. */
static void statistics_argument_cells(const struct statistics *s, const struct event *e,
				      struct key_cell *cells)
{
	const struct columns_wanted *w = &s->columns->wanted;
	struct field_value v;

	for (uint32_t i = 0; i < w->field_count; i++) {
		const struct wanted_field *f = &w->field[i];

		if (!columns_is_argument(f))
			continue;
		cells[0] = cells[1] = (struct key_cell){0};
		if (event_ref_field(s->dictionary, e, f->name, &v)) {
			cells[0] = number_cell(&v);
			if (v.form == FORM_TEXT && f->uniq)
				cells[1] = key_unsigned(distinct_hash_bytes(v.text, v.size));
		}
		cells += 2;
	}
}

/* Add the enter's arguments that the leave does not have; e is NULL for a call without a leave. */
static int statistics_add_arguments(struct statistics *s, struct aggregate *a,
				    const struct event *e, const struct key_cell *cells)
{
	const struct columns_wanted *w = &s->columns->wanted;

	for (uint32_t i = 0; i < w->field_count; i++) {
		int bad = 0;

		if (!columns_is_argument(&w->field[i]))
			continue;
		if (!e || !argument_given(s->dictionary, e, w->field[i].name + 4)) {
			bad = add_number_cell(a, w, i, &cells[0]);
			if (cells[1].kind == KEY_UNSIGNED)
				bad = aggregate_hash(a, w, i, cells[1].value);
		}
		if (bad)
			return -1;
		cells += 2;
	}
	return 0;
}

/* Returns true if a row that does not count has a value for a column. waits: its arguments are
 * ignored. */
static bool statistics_has_fields(struct statistics *s, const struct event *e, bool waits)
{
	const struct columns_wanted *w = &s->columns->wanted;
	const struct statistics_times none = {0};
	struct field_value v;

	for (uint32_t i = 0; i < w->field_count; i++)
		if (!(waits && columns_is_argument(&w->field[i])) &&
		    wanted_value(s->dictionary, e, NULL, &w->field[i], &none, &v))
			return true;
	return false;
}

/* Add the values that the columns need: the row's fields, its times, and values of the row's
 * lane; lane is NULL if the row does not count. waits: its arguments are ignored. e is NULL for a
 * call that the end of the trace closed. */
static int statistics_add_fields(struct statistics *s, struct aggregate *a, const struct event *e,
				 const struct lane *lane, bool waits,
				 const struct statistics_times *times)
{
	const struct columns_wanted *w = &s->columns->wanted;

	for (uint32_t i = 0; i < w->field_count; i++) {
		struct field_value v;
		int bad = 0;

		if ((waits && columns_is_argument(&w->field[i])) ||
		    (times->pending && w->field[i].time) ||
		    !wanted_value(s->dictionary, e, lane, &w->field[i], times, &v))
			continue;
		aggregate_field_seen(a, w, i);
		if (v.form == FORM_INT)
			bad = aggregate_number(a, w, i, v.i);
		else if (v.form == FORM_UINT)
			bad = aggregate_number(a, w, i, (int128)v.u);
		else if (v.form == FORM_TEXT)
			bad = aggregate_text(a, w, i, v.text, v.size);
		else if (v.form == FORM_REAL) {
			struct key_cell cell = number_cell(&v);

			bad = add_number_cell(a, w, i, &cell);
		}
		if (bad) {
			s->out_of_memory = true;
			return -1;
		}
	}
	return 0;
}

/*
 * The group of a row, cached by what the keys depend on.
 *
 * Without caches.by_key 'trdecode | trsym | trstat -g caller,name' of t/bench/uftrace.sh takes 1.6
 * times the instructions.
 */

static struct aggregate *find_group(struct statistics *s, const struct event_ref *subject)
{
	struct aggregate *a = NULL;

	if (!keys_cells(s->keys, s->dictionary, &s->groups.texts, subject, s->cells))
		a = groups_find(&s->groups, s->cells);
	if (!a)
		s->out_of_memory = true;
	return a;
}

static struct aggregate *find_by_location(struct statistics *s, const struct event_ref *subject)
{
	uint32_t location = subject->location;
	struct aggregate **a;

	if (ARRAY_REACH(s->caches.by_location, s->caches.by_location_size, location)) {
		s->out_of_memory = true;
		return NULL;
	}
	a = &s->caches.by_location[location];
	if (!*a)
		*a = find_group(s, subject);
	return *a;
}

/* Returns true if a key depends on more of the row than the caches do. */
static bool is_singular(const struct statistics *s, const struct event_ref *subject)
{
	return !subject->event || s->keys->needs & (NEEDS_EVENT | NEEDS_TIME) ||
	       (s->keys->needs & NEEDS_CPU && !(subject->lane->flags & LANE_HAS_CPU) &&
		field_by_role(subject->type, ROLE_CPU));
}

/* Get the group of a row, from the caches where possible. NULL: out of memory. */
static struct aggregate *statistics_group(struct statistics *s, const struct event_ref *subject)
{
	uint32_t needs = s->keys->needs;
	struct group_key key;
	size_t at;

	if (s->name_only && subject->location && !subject->syscall)
		return find_by_location(s, subject);
	if (is_singular(s, subject))
		return find_group(s, subject);
	key = (struct group_key){
		.lane = needs & NEEDS_LANE ? subject->lane->number : 0,
		.type = needs & NEEDS_TYPE ? subject->type->number : 0,
		.location = needs & NEEDS_LOCATION ? subject->location : 0,
		.caller = needs & NEEDS_CALLER ? subject->caller : 0,
		.level = needs & NEEDS_LEVEL ? subject->level : 0,
		.stack = subject->stack,
	};
	at = hash_bytes(&key, sizeof(key), 0) % GROUP_CACHE;
	if (!s->caches.by_key[at].aggregate ||
	    memcmp(&s->caches.by_key[at].key, &key, sizeof(key)) != 0) {
		s->caches.by_key[at].aggregate = find_group(s, subject);
		s->caches.by_key[at].key = key;
	}
	return s->caches.by_key[at].aggregate;
}

/* Set in each group the sum of the self values of all groups, with the key type of those of its
 * type. Returns -1 when out of memory. */
static int statistics_share(struct statistics *s)
{
	const struct groups *g = &s->groups;
	int128 *whole = NULL;
	size_t type = 0, size = 0;

	while (type < s->keys->count && s->keys->key[type].kind != BY_TYPE)
		type++;
	for (size_t i = 0; i < 2 * g->count; i++) {
		struct aggregate *a = groups_at(g, i % g->count);
		const struct key_cell *c = &groups_cells(g, a)[type];
		size_t at = type < s->keys->count && c->kind == KEY_TEXT ? c->text + 1 : 0;

		if (ARRAY_REACH(whole, size, at)) {
			free(whole);
			return -1;
		}
		if (i >= g->count)
			*(int128 *)aggregate_part(a, s->columns->wanted.whole) = whole[at];
		else if (__builtin_add_overflow(whole[at], a->self, &whole[at]))
			whole[at] = INT128_MAX;
	}
	free(whole);
	return 0;
}

/* Clear the caches after groups were merged or names changed. */
static void statistics_forget_names(struct statistics *s)
{
	memset(s->caches.by_key, 0, GROUP_CACHE * sizeof(*s->caches.by_key));
	if (s->caches.begun)
		memset(s->caches.begun, 0, GROUP_CACHE * sizeof(*s->caches.begun));
	if (s->caches.by_location)
		memset(s->caches.by_location, 0,
		       s->caches.by_location_size * sizeof(*s->caches.by_location));
	statistics_forget_samples(s);
	s->caches.symbol_changes = s->dictionary->symbol_changes;
}

/*
 * Samples summed by their stacks, before they count in the groups of the frames.
 *
 * A sample of N frames counts in up to N groups. The columns that most tables have need only sums
 * and extremes of the weights: samples are summed for their stack, and at the end each sum is added
 * to those of its callers, from the highest number down, as a caller's number is below those of
 * its callees. Without the sums, 'trdecode | trstat' of t/bench/perf.sh takes 1.20 times the
 * instructions.
 */

/* Larger weights, and negative ones, are not summed, so the sums of 2^20 samples do not overflow.
 */
#define WEIGHT_MOST ((uint64_t)1 << 44)

/* Find the sums of a type, or free ones. NULL: there are no more. */
static struct type_sums *sums_of(struct statistics *s, uint32_t type)
{
	for (struct type_sums *t = s->samples.sums; t < s->samples.sums + SUMMED_TYPES; t++)
		if (!t->type || t->type == type) {
			t->type = type;
			return t;
		}
	return NULL;
}

/* Make room for a stack. */
static int statistics_reach(struct type_sums *t, uint32_t stack)
{
	return ARRAY_REACH(t->frame, t->nframes, stack) || ARRAY_REACH(t->sum, t->nsums, stack) ? -1
												: 0;
}

/* Set the group and the next frame of each frame; the callers of one that has them have them. */
static int learn_groups(struct statistics *s, struct type_sums *t, struct event_ref *subject,
			uint32_t stack)
{
	const struct known_frame *known = s->samples.known;
	struct buffer *frames = &s->samples.frames;

	frames->size = 0;
	if (statistics_reach(t, stack))
		return -1;
	for (; stack && !t->frame[stack].group && !t->frame[stack].next;
	     stack = known[stack].caller) {
		if (buffer_u32(frames, stack))
			return -1;
		if (known[stack].first != stack)
			continue;
		subject->location = dictionary_stack_location(s->dictionary, stack);
		t->frame[stack].group = statistics_group(s, subject);
		if (!t->frame[stack].group)
			return -1;
	}
	for (size_t i = frames->size; i; i -= 4) {
		struct counted_frame *f = &t->frame[get_u32(frames->data + i - 4)];
		uint32_t caller = known[f - t->frame].caller;

		f->next = t->frame[caller].group ? caller : t->frame[caller].next;
	}
	return 0;
}

/* Learn the groups of the frames of a sample's stack, which are known. Returns them by stack. NULL
 * without out_of_memory: the type is one too many. */
static const struct counted_frame *
statistics_learn_groups(struct statistics *s, struct event_ref *subject, uint32_t stack)
{
	struct type_sums *t = sums_of(s, subject->type->number);

	if (t && learn_groups(s, t, subject, stack)) {
		s->out_of_memory = true;
		return NULL;
	}
	return t ? t->frame : NULL;
}

/* --- sums --- */

static bool suffices(const struct statistics *s)
{
	const struct columns_wanted *w = &s->columns->wanted;

	return !(s->keys->needs & ~(unsigned)(NEEDS_LOCATION | NEEDS_TYPE)) && !w->field_count &&
	       !w->rarely && !statistics_selects(s);
}

/* Add values of one bucket to the histograms of the frames from a stack on. */
static int add_values(const struct statistics *s, const struct type_sums *t, uint32_t stack,
		      uint32_t bucket, uint32_t n)
{
	uint32_t histogram = s->columns->wanted.histogram;
	uint32_t at = t->frame[stack].group ? stack : t->frame[stack].next;

	for (; n && histogram && at; at = t->frame[at].next)
		if (histogram_add_bucket(aggregate_part(t->frame[at].group, histogram), bucket, n))
			return -1;
	return 0;
}

/* Add a sum to that of a stack. Values of another bucket are added to histograms at once. */
static int statistics_add_sum(const struct statistics *s, struct type_sums *t, uint32_t stack,
			      const struct stack_sum *from)
{
	struct stack_sum *to = &t->sum[stack];

	if (!to->count || from->least < to->least)
		to->least = from->least;
	if (!to->count || from->most > to->most)
		to->most = from->most;
	to->weight += from->weight;
	to->count += from->count;
	if (to->bucketed && to->bucket != from->bucket)
		return add_values(s, t, stack, from->bucket, from->bucketed);
	to->bucket = from->bucket;
	to->bucketed += from->bucketed;
	return 0;
}

/* Add a sample to the sum of its stack. OUTCOME_NO: the columns need each sample by itself. */
static enum outcome statistics_sum_sample(struct statistics *s, struct event_ref *subject,
					  uint32_t stack)
{
	struct sample_counts *c = &s->samples;
	uint64_t weight = subject->total;
	struct type_sums *t;

	if (weight > WEIGHT_MOST || !suffices(s))
		return OUTCOME_NO;
	t = sums_of(s, subject->type->number);
	if (!t)
		return OUTCOME_NO;
	if (stack >= t->nsums || !t->sum[stack].count) {
		if ((stack >= c->nknown || !c->known[stack].function) &&
		    statistics_learn_frames(s, stack))
			return OUTCOME_FAILED;
		if (learn_groups(s, t, subject, stack))
			return OUTCOME_FAILED;
	}
	if ((c->summed > UINT64_MAX - weight || c->nsummed == UINT32_MAX) && statistics_add_sums(s))
		return OUTCOME_FAILED;
	c->summed += weight;
	c->nsummed++;
	return statistics_add_sum(s, t, stack,
				  &(struct stack_sum){.weight = weight,
						      .least = weight,
						      .most = weight,
						      .count = 1,
						      .bucketed = 1,
						      .bucket = histogram_index(weight)})
		       ? OUTCOME_FAILED
		       : OUTCOME_YES;
}

/* --- the end --- */

/* Add the sums of the samples themselves to the groups of their innermost functions. */
static void statistics_add_own(struct type_sums *t, const struct known_frame *known)
{
	for (size_t i = 1; i < t->nsums; i++) {
		const struct stack_sum *sum = &t->sum[i];
		struct aggregate *a;

		if (!sum->count)
			continue;
		t->sum[known[i].first].own += sum->count;
		a = t->frame[known[i].first].group;
		a->self += sum->weight;
		aggregate_self_extremes(a, (int64_t)sum->least, (int64_t)sum->most);
	}
}

/* Add a sum to the group of its innermost frame. */
static int add_to_frame(const struct statistics *s, struct aggregate *a,
			const struct stack_sum *sum)
{
	uint32_t histogram = s->columns->wanted.histogram;

	a->calls += sum->count;
	a->total += sum->weight;
	aggregate_total_extremes(a, (int64_t)sum->least, (int64_t)sum->most);
	/* samples of callees have no self value in the group */
	if (sum->count > sum->own)
		aggregate_self_extremes(a, 0, 0);
	return histogram && sum->bucketed ? histogram_add_bucket(aggregate_part(a, histogram),
								 sum->bucket, sum->bucketed)
					  : 0;
}

/* Add the sums to those of the callers and to the groups of all frames, and clear them. */
static int add_all(const struct statistics *s, struct type_sums *t)
{
	const struct known_frame *known = s->samples.known;

	for (size_t i = t->nsums; i-- > 1;) {
		struct stack_sum *sum = &t->sum[i];

		if (!sum->count)
			continue;
		if ((known[i].caller && statistics_add_sum(s, t, known[i].caller, sum)) ||
		    (t->frame[i].group && add_to_frame(s, t->frame[i].group, sum)))
			return -1;
		*sum = (struct stack_sum){0};
	}
	return 0;
}

/* Add the sums to the groups. To be called before the groups are looked at. */
static int statistics_add_sums(struct statistics *s)
{
	struct sample_counts *c = &s->samples;

	for (struct type_sums *t = c->sums; c->nsummed && t < c->sums + SUMMED_TYPES; t++) {
		statistics_add_own(t, c->known);
		if (add_all(s, t)) {
			s->out_of_memory = true;
			return -1;
		}
	}
	c->summed = c->nsummed = 0;
	return 0;
}

/* Add the sums to the groups, and forget the groups and names of the stacks. */
static void statistics_forget_samples(struct statistics *s)
{
	struct sample_counts *c = &s->samples;

	statistics_add_sums(s);
	if (c->known)
		memset(c->known, 0, c->nknown * sizeof(*c->known));
	for (struct type_sums *t = c->sums; t < c->sums + SUMMED_TYPES; t++)
		if (t->frame)
			memset(t->frame, 0, t->nframes * sizeof(*t->frame));
}

static void statistics_free_sums(struct statistics *s)
{
	for (struct type_sums *t = s->samples.sums; t < s->samples.sums + SUMMED_TYPES; t++) {
		free(t->frame);
		free(t->sum);
	}
}

/* Fetch the sums of the stacks of a block before its rows are read. */
static void statistics_fetch_sums(const struct statistics *s, const struct block *b)
{
	const struct type_sums *t = s->samples.sums;

	for (uint32_t i = 1; t->type && i <= b->stacks.count; i++)
		if (b->stacks.numbers[i] < t->nsums)
			__builtin_prefetch(&t->sum[b->stacks.numbers[i]], 1);
}

/*
 * Count samples.
 *
 * A sample counts as one call of each function on its stack. The total of these calls is the
 * sample's weight; the self value is the weight too in the innermost function, else 0. So all keys,
 * columns and views of calls have one meaning for both. Where the keys depend on no frame, a sample
 * counts once, with --where if one of its frames is selected. A sample whose type has a total is a
 * sum of calls of its innermost function, and counts as these.
 */

/* --- functions --- */

/* Forget the functions after symbols changed. */
static void begin_functions(struct sample_counts *c, const struct dictionary *d)
{
	if (c->symbol_changes != d->symbol_changes && c->nfunctions)
		memset(c->functions, 0, c->nfunctions * sizeof(*c->functions));
	c->symbol_changes = d->symbol_changes;
}

/* Append what a key has of a location, which decides the row together with the other keys. */
static int statistics_append_cell(struct statistics *s, size_t key, uint32_t location,
				  struct buffer *b)
{
	static const struct lane lane;
	static const struct type type;
	struct event_ref frame = {
		.lane = &lane, .type = &type, .location = location, .frame = true};
	struct key_cell cell;

	return keys_cell(s->keys, key, s->dictionary, &s->groups.texts, &frame, &cell) ||
	       buffer_u64(b, cell.kind) ||
	       buffer_u64(b, cell.kind == KEY_TEXT ? cell.text : cell.value);
}

/* Get the number of a location's function from 1; 0: out of memory. Locations whose frames would
 * count in one row have one function: by name, two functions of that name are one. */
static uint32_t statistics_function_of(struct statistics *s, uint32_t location)
{
	struct sample_counts *c = &s->samples;
	struct buffer key = {0};
	uint32_t number, *functions;
	int bad = 0;

	if (location < c->nfunctions && c->functions[location])
		return c->functions[location];
	if (ARRAY_REACH(c->functions, c->nfunctions, location))
		return 0;
	functions = c->functions;
	for (size_t i = 0; i < s->keys->count; i++)
		if (s->keys->key[i].needs & NEEDS_LOCATION)
			bad |= statistics_append_cell(s, i, location, &key);
	if (!key.size)
		bad |= buffer_u32(&key, dictionary_location_name(s->dictionary, location).number);
	number = bad ? INTERN_NONE : intern(&c->keys, key.data, key.size);
	buffer_free(&key);
	return number == INTERN_NONE ? 0 : (functions[location] = number + 1);
}

/* Note that the present sample has a frame with a function. Returns the stack of the first such
 * frame, 0 when out of memory. */
static uint32_t note_function(struct sample_counts *c, uint32_t function, uint32_t stack)
{
	if (ARRAY_REACH(c->seen, c->nseen, function))
		return 0;
	if (c->seen[function].serial != c->serial) {
		c->seen[function].serial = c->serial;
		c->seen[function].first = stack;
	}
	return c->seen[function].first;
}

/* --- frames --- */

/* Add the total and a self value of a sample. */
static int add_weight(const struct statistics *s, struct aggregate *a,
		      const struct event_ref *subject, uint64_t self, bool recursive)
{
	const struct columns_wanted *w = &s->columns->wanted;
	bool is_signed = type_weight_is_signed(subject->type);

	/* a sum of calls: extremes, deviations and percentiles are not known */
	if (subject->type->total) {
		add_saturated(&a->calls, sample_calls(subject->event));
		a->total += is_signed ? (int64_t)subject->total : (int128)subject->total;
		a->self += is_signed ? (int64_t)self : (int128)self;
		aggregate_rows(a, w, subject->time, subject->time);
		return 0;
	}
	if (is_signed)
		return aggregate_signed(a, w, (int64_t)subject->total, (int64_t)self, recursive,
					subject->time);
	return aggregate_call(a, w, subject->total, self, recursive, subject->time);
}

/* Count a sample in one group. */
static int add_to_group(struct statistics *s, const struct event_ref *subject, bool recursive)
{
	const struct columns_wanted *w = &s->columns->wanted;
	struct aggregate *a;

	if (statistics_selects(s) && !statistics_is_selected(s, subject))
		return s->out_of_memory ? -1 : 0;
	a = statistics_group(s, subject);
	if (!a || add_weight(s, a, subject, subject->self, recursive))
		return -1;
	return w->field_count
		       ? statistics_add_fields(
				 s, a, subject->event, subject->lane, false,
				 &(struct statistics_times){true, false, subject->total,
							    subject->self, subject->location, NULL})
		       : 0;
}

/* Put the stacks of a stack's frames, innermost first, in c->frames. Returns their number; 0: out
 * of memory. */
static size_t statistics_take_frames(struct statistics *s, uint32_t stack)
{
	struct buffer *frames = &s->samples.frames;

	frames->size = 0;
	for (; stack; stack = dictionary_stack_parent(s->dictionary, stack))
		if (buffer_u32(frames, stack)) {
			s->out_of_memory = true;
			return 0;
		}
	return frames->size / 4;
}

static uint32_t frame_at(const struct statistics *s, size_t i)
{
	return get_u32(s->samples.frames.data + 4 * i);
}

/* Set what one of n frames, 0 the innermost, has of its own. Returns its stack. */
static uint32_t set_frame(const struct statistics *s, struct event_ref *subject, size_t n, size_t i)
{
	const struct dictionary *d = s->dictionary;
	uint32_t stack = frame_at(s, i);

	subject->location = dictionary_stack_location(d, stack);
	subject->caller = i + 1 < n ? dictionary_stack_location(d, frame_at(s, i + 1)) : 0;
	subject->level = (uint32_t)(n - 1 - i);
	subject->self = i ? 0 : subject->total;
	return stack;
}

/* Count the sample once if --where selects one of its frames; keys do not depend on frames. */
static int add_selected(struct statistics *s, struct event_ref *subject, uint32_t innermost)
{
	size_t n = statistics_take_frames(s, innermost);

	for (size_t i = 0; i < n; i++) {
		set_frame(s, subject, n, i);
		if (statistics_is_selected(s, subject))
			return add_to_group(s, subject, false);
		if (s->out_of_memory)
			return -1;
	}
	return n ? 0 : -1;
}

/* Count the sample in the group of each frame, outermost first, as keys depend on their callers. A
 * function with several frames counts in the total of its outermost one. */
static int statistics_add_frames(struct statistics *s, struct event_ref *subject,
				 uint32_t innermost)
{
	size_t n = statistics_take_frames(s, innermost);

	if (!n)
		return -1;
	begin_functions(&s->samples, s->dictionary);
	s->samples.serial++;
	for (size_t i = n; i-- > 0;) {
		uint32_t stack = set_frame(s, subject, n, i), function, first;

		function = statistics_function_of(s, subject->location);
		first = function ? note_function(&s->samples, function, stack) : 0;
		if (!first)
			return -1;
		if (s->stacks &&
		    call_stacks_recorded(s->stacks, STACK_ROOT, stack, &subject->stack))
			return -1;
		if (add_to_group(s, subject, first != stack && !s->stacks))
			return -1;
	}
	return 0;
}

/* --- frames that keys tell apart by their functions only --- */

/* Find the first of a frame's callers, which are known, with its function; the frame if there is
 * none. */
static uint32_t first_of(const struct known_frame *known, uint32_t at, uint32_t function)
{
	uint32_t outer = known[at].caller;

	while (outer && known[outer].function != function)
		outer = known[outer].caller;
	return outer ? known[outer].first : at;
}

/* Learn the functions of a stack's frames. */
static int statistics_learn_frames(struct statistics *s, uint32_t stack)
{
	enum { FEW = 8 }; /* of more, each frame does not look at all callers */
	struct sample_counts *c = &s->samples;
	struct known_frame *known;
	size_t n = 0;

	if (ARRAY_REACH(c->known, c->nknown, stack))
		return -1;
	known = c->known;
	begin_functions(c, s->dictionary);
	c->serial++;
	c->frames.size = 0;
	for (; stack && !known[stack].function; stack = known[stack].caller, n++) {
		known[stack].caller = dictionary_stack_parent(s->dictionary, stack);
		if (buffer_u32(&c->frames, stack))
			return -1;
	}
	for (; n > FEW && stack; stack = known[stack].caller)
		if (!note_function(c, known[stack].function, known[stack].first))
			return -1;
	for (size_t i = n; i-- > 0;) {
		uint32_t at = frame_at(s, i);
		uint32_t function =
			statistics_function_of(s, dictionary_stack_location(s->dictionary, at));

		if (!function)
			return -1;
		known[at].first =
			n > FEW ? note_function(c, function, at) : first_of(known, at, function);
		if (!known[at].first)
			return -1;
		known[at].function = function;
	}
	return 0;
}

/* Count the sample in the groups of its frames, which are known. */
static int add_to_frames(struct statistics *s, const struct event_ref *subject,
			 const struct counted_frame *frames, uint32_t stack)
{
	uint32_t first = s->samples.known[stack].first;

	for (uint32_t at = frames[stack].group ? stack : frames[stack].next; at;
	     at = frames[at].next)
		if (add_weight(s, frames[at].group, subject, at == first ? subject->total : 0,
			       false))
			return -1;
	return 0;
}

/* Count the sample in the group of each function, once for all frames of a function. */
static int add_functions(struct statistics *s, struct event_ref *subject, uint32_t stack)
{
	bool cached = !(s->keys->needs & ~(unsigned)(NEEDS_LOCATION | NEEDS_TYPE)) &&
		      !s->columns->wanted.field_count && !statistics_selects(s);
	struct sample_counts *c = &s->samples;
	const struct counted_frame *frames = NULL;
	uint32_t innermost;

	if ((stack >= c->nknown || !c->known[stack].function) && statistics_learn_frames(s, stack))
		return -1;
	if (cached)
		frames = statistics_learn_groups(s, subject, stack);
	if (s->out_of_memory)
		return -1;
	if (frames)
		return add_to_frames(s, subject, frames, stack);
	innermost = c->known[stack].function;
	for (; stack; stack = c->known[stack].caller) {
		if (c->known[stack].first != stack)
			continue;
		subject->self = c->known[stack].function == innermost ? subject->total : 0;
		subject->location = dictionary_stack_location(s->dictionary, stack);
		if (add_to_group(s, subject, false))
			return -1;
	}
	return 0;
}

/* --- types --- */

int statistics_note_samples(struct statistics *s, const char *type)
{
	struct sample_counts *c = &s->samples;

	if (!c->type) {
		c->typed = s->keys->by_type;
		c->type = strdup(type);
		return c->type ? 0 : -1;
	}
	if (c->typed || c->other || !strcmp(c->type, type))
		return 0;
	c->other = strdup(type);
	return c->other ? 0 : -1;
}

int statistics_check_samples(const struct statistics *s, struct error *e)
{
	if (s->samples.type && !s->samples.typed && s->columns->ns && s->columns->weights &&
	    !s->samples.other)
		return error_set(e, NULL, NO_OFFSET,
				 "samples of '%.100s' weigh times in some inputs, and other values "
				 "in others: they are not added; count these inputs apart",
				 s->samples.type);
	if (!s->samples.other)
		return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "samples of '%.100s' and of '%.100s': weights of different types are not "
			 "added; add type to -g, or choose a type with trfilter 'type == ...'",
			 s->samples.type, s->samples.other);
}

/* Count a sample that is a sum of calls, in the group of its innermost frame alone. */
static int add_sum(struct statistics *s, struct event_ref *subject, uint32_t stack)
{
	size_t n = statistics_take_frames(s, stack);

	if (!n)
		return -1;
	set_frame(s, subject, n, 0);
	if (s->stacks && call_stacks_recorded(s->stacks, STACK_ROOT, stack, &subject->stack))
		return -1;
	if (s->keys->needs & NEEDS_FRAME)
		subject->total = sample_total(subject->event);
	return add_to_group(s, subject, false);
}

/* Count a sample. */
static int statistics_take_sample(struct statistics *s, const struct event *e)
{
	struct event_ref subject = event_ref_of(e);
	uint32_t tested = s->where ? s->where->keys.needs : 0;
	uint32_t stack = (s->keys->needs | tested) & NEEDS_FRAME ? e->stack : 0;
	enum outcome got;
	bool ns;

	if (s->samples.string != e->type->name.number + 1 && !s->samples.typed) {
		s->samples.string = e->type->name.number + 1;
		if (statistics_note_samples(s, e->type->name.text))
			return -1;
	}
	subject.timed = true;
	subject.total = subject.self = sample_weight(e);
	ns = e->type->flags & TYPE_WEIGHT_TIME;
	if (!(ns ? s->columns->ns : s->columns->weights))
		columns_set_weights(s->columns, ns);
	subject.frame = stack;
	if (!e->stack && s->stacks && s->keys->needs & NEEDS_STACK &&
	    call_stacks_named(s->stacks, STACK_ROOT, e->type->name, &subject.stack))
		return -1;
	if (!stack)
		return add_to_group(s, &subject, false);
	if (e->type->total)
		return add_sum(s, &subject, stack);
	if (!(s->keys->needs & NEEDS_FRAME))
		return add_selected(s, &subject, stack);
	if ((s->keys->needs | tested) & (NEEDS_CALLER | NEEDS_LEVEL | NEEDS_STACK))
		return statistics_add_frames(s, &subject, stack);
	got = statistics_sum_sample(s, &subject, stack);
	if (got != OUTCOME_NO)
		return got == OUTCOME_FAILED ? -1 : 0;
	return add_functions(s, &subject, stack);
}

static void statistics_free_samples(struct statistics *s)
{
	free(s->samples.functions);
	free(s->samples.known);
	statistics_free_sums(s);
	free(s->samples.seen);
	free(s->samples.type);
	free(s->samples.other);
	intern_free(&s->samples.keys);
	buffer_free(&s->samples.frames);
}

/* --- count single rows: calls, with recursion, and other events --- */

/*
 * Recursion by group: `-g arg.detail` of "a.h > b.h > a.h" has one call of a.h inside another call
 * of a.h, though all of them are calls of one function.
 *
 * Where the enter shows the group, a call is recursive if a call of its group is open below. The
 * cells of an open call's group and whether it is recursive are in its data, after all others.
 * The calls below a call are the same when it begins, when it ends and when a part of the trace
 * begins between; so a part finds the same. Calls in the kernel are different: a call of their
 * thread may end before them. At their end they are compared with those that are open then.
 *
 * Other groups, and which calls --where selects, are known when a call ends: from its time that of
 * the calls of its group is subtracted that have ended inside it (groups.h). A part that begins
 * inside a call does not know those that ended before. So fields, most of which enters have, are
 * not judged so, except `ret`: where an enter has no such field, the function is the key instead.
 */

/* Test whether a key has another value in each call of a stack. */
static bool is_depth(const struct key *k)
{
	return k->kind == BY_DEPTH && !k->transform;
}

/* Test whether a key is equal in all calls of a thread. */
static bool is_of_thread(enum key_kind kind)
{
	switch (kind) {
	case BY_INPUT:
	case BY_BUFFER:
	case BY_TID:
	case BY_PID:
	case BY_PPID:
	case BY_COMM: return true;
	default: return false;
	}
}

/* Test whether a key other than the time is one that only the ends of calls show. */
static bool has_late_key(const struct keys *k)
{
	if (keys_state(k) || k->needs & (NEEDS_CALL | NEEDS_CPU))
		return true;
	for (size_t i = 0; i < k->count; i++)
		for (const struct key *a = &k->key[i]; a; a = a->other)
			if (a->kind == BY_FIELD &&
			    (!strcmp(a->field, "ret") || !strcmp(a->field, REQUEST_KEY)))
				return true;
	return false;
}

/* Test whether a group has calls of one function of a thread; those that return at a time are taken
 * from them, as with -i. */
static bool is_of_function(const struct keys *k)
{
	bool name = false;

	for (size_t i = 0; i < k->count; i++) {
		enum key_kind kind = k->key[i].kind;

		name |= kind == BY_NAME;
		if (k->key[i].other ||
		    (kind != BY_NAME && kind != BY_KIND && kind != BY_TIME && !is_of_thread(kind)))
			return false;
	}
	return name;
}

/* Get how it is found which calls are inside another one of their group. */
static enum recursion_of statistics_recursion(const struct statistics *s)
{
	const struct keys *k = s->keys;

	/* paths of calls are in no other one; of more than STACK_FRAMES frames too */
	if (k->needs & NEEDS_STACK)
		return RECURSION_NONE;
	for (size_t i = 0; i < k->count; i++)
		if (is_depth(&k->key[i]))
			return RECURSION_NONE;
	/* 0.38 of the instructions of -g type -c count; summaries have all sums */
	if (!s->columns->wanted.totals && !s->more)
		return RECURSION_OF_FUNCTION;
	if (s->where || has_late_key(k))
		return RECURSION_OF_TIMES;
	if (is_of_function(k))
		return RECURSION_OF_FUNCTION;
	if (k->needs & NEEDS_TIME)
		return RECURSION_OF_TIMES;
	for (size_t i = 0; i < k->count; i++)
		if (!is_of_thread(k->key[i].kind) || k->key[i].other)
			return RECURSION_OF_GROUP;
	return RECURSION_OF_THREAD;
}

/* Test whether the data of a call have whether it is recursive. */
static bool notes_group(const struct statistics *s)
{
	return s->recursion.of == RECURSION_OF_GROUP || s->recursion.of == RECURSION_OF_THREAD;
}

static size_t group_cells_at(const struct statistics *s)
{
	return s->keys->begins + 2 * s->arguments + (s->where ? s->where->keys.begins : 0);
}

static int begin_cells(struct statistics *s, const struct event_ref *ref, struct key_cell *cells)
{
	if (keys_cells(s->keys, s->dictionary, &s->groups.texts, ref, cells))
		return -1;
	for (size_t i = 0; i < s->keys->count; i++)
		if (s->keys->key[i].kind == BY_FIELD && cells[i].kind == KEY_MISSING)
			cells[i] = (struct key_cell){.kind = KEY_PENDING, .value = ref->location};
	return 0;
}

/* Make the cells of the group of a call that begins, on top of a stack. What is below the lowest
 * call in the kernel may change, and is left out. The cells of calls with the same function
 * and caller are kept: else 'trdecode | trsym | trstat -g caller,name' of t/bench/uftrace.sh
 * takes 1.45 times the instructions. */
static int begin_group(struct statistics *s, const struct event *e, const struct stack *stack,
		       const struct key_cell *begun, struct key_cell *cells)
{
	struct event_ref ref = event_ref_of(e);
	size_t below = stack->count - 1, count = s->keys->count;
	uint32_t needs = s->keys->needs;
	struct key_cell *kept;
	struct group_key key;
	size_t at;

	ref.entered = begun;
	ref.level = (uint32_t)below + stack->unseen;
	ref.caller = below ? stack->frames[below - 1].location : 0;
	if (!s->caches.begun)
		return begin_cells(s, &ref, cells);
	key = (struct group_key){
		.lane = needs & NEEDS_LANE ? ref.lane->number : 0,
		.type = needs & NEEDS_TYPE ? ref.type->number : 0,
		.location = ref.location,
		.caller = needs & NEEDS_CALLER ? ref.caller : 0,
		.level = needs & NEEDS_LEVEL ? ref.level : 0,
	};
	at = hash_bytes(&key, sizeof(key), 0) % GROUP_CACHE;
	kept = s->caches.begun_cells + at * count;
	if (!s->caches.begun[at].known ||
	    memcmp(&s->caches.begun[at].key, &key, sizeof(key)) != 0) {
		s->caches.begun[at].known = false;
		if (begin_cells(s, &ref, kept))
			return -1;
		s->caches.begun[at].key = key;
		s->caches.begun[at].known = true;
	}
	memcpy(cells, kept, count * sizeof(*cells));
	return 0;
}

static const struct key_cell *frame_cells(const struct statistics *s, const struct stack *stack,
					  size_t frame)
{
	return (const struct key_cell *)calls_data(&s->calls, stack, frame) + group_cells_at(s);
}

/* Find the outermost of the first n frames of a stack that is of a group. Returns its number + 1.
 * If there is none, returns 0 and notes frame n as the outermost; note false: there is no such
 * frame. -1: out of memory. */
static int is_group_open(struct statistics *s, const struct stack *stack, size_t n,
			 const struct key_cell *cells, bool note)
{
	bool kernel = stack != s->calls.stacks[stack->number];
	uint32_t thread = (2 * stack->number + kernel) * 0x9e3779b1u, hash, outermost;
	const struct key_cell *other;

	if (s->recursion.of == RECURSION_OF_THREAD) {
		outermost = n && !stack->frames[0].begun ? 2 : 1;
		return outermost <= n ? (int)outermost : 0;
	}
	hash = (uint32_t)key_cells_hash(&s->groups.texts, cells, s->keys->count) + thread;
	outermost = idmap_get(&s->recursion.outermost, hash);
	if (outermost && outermost <= n && stack->frames[outermost - 1].begun) {
		other = frame_cells(s, stack, outermost - 1);
		if (key_cells_same(other, cells, s->keys->count))
			return (int)outermost;
		/* a group with the same hash keeps the place while it is open */
		if ((uint32_t)key_cells_hash(&s->groups.texts, other, s->keys->count) + thread ==
		    hash) {
			for (size_t i = outermost; i < n; i++)
				if (stack->frames[i].begun &&
				    key_cells_same(frame_cells(s, stack, i), cells, s->keys->count))
					return (int)i + 1;
			return 0;
		}
	}
	return note && idmap_set(&s->recursion.outermost, hash, (uint32_t)n + 1) ? -1 : 0;
}

enum { RECURSIVE_NO, RECURSIVE_YES, RECURSIVE_ASK }; /* ASK: in the kernel, decided at the end */

/* Note the group of a call that begins, and whether a call of the group is open below. */
static int note_group(struct statistics *s, const struct event *e, const struct stack *stack,
		      struct key_cell *data)
{
	struct key_cell *cells = data + group_cells_at(s), *recursive = cells + s->keys->count;
	bool kernel = stack != s->calls.stacks[stack->number];
	int got;

	if (s->recursion.of == RECURSION_OF_GROUP && begin_group(s, e, stack, data, cells))
		return -1;
	got = is_group_open(s, stack, stack->count - 1, cells, true);
	*recursive = key_unsigned(got > 0 ? RECURSIVE_YES : kernel ? RECURSIVE_ASK : RECURSIVE_NO);
	return got < 0 ? -1 : 0;
}

/* Get the stack of the thread of a call that has ended; e: its leave or NULL. */
static const struct stack *thread_stack(const struct statistics *s, const struct event *e)
{
	return s->calls.stacks[e ? calls_thread(e) : (uint32_t)s->calls.end.thread];
}

/* Test whether a call in the kernel, which has ended, is inside a call of its group of the thread's
 * other calls. cells: those noted when it began. */
static bool is_below_group(struct statistics *s, const struct call *call, const struct event *e,
			   struct key_cell *cells)
{
	const struct stack *stack = thread_stack(s, e);
	struct event_ref ref = {.lane = call->lane,
				.type = e ? e->type : pool_at(&s->dictionary->types, 0),
				.location = call->location,
				.caller = call->caller,
				.level = call->level};
	int got;

	for (size_t i = 0; i < s->keys->count; i++) {
		enum key_kind kind = s->keys->key[i].kind;

		if ((kind == BY_DEPTH || (kind == BY_CALLER && call->caller)) &&
		    keys_cell(s->keys, i, s->dictionary, &s->groups.texts, &ref, &cells[i])) {
			s->out_of_memory = true;
			return false;
		}
	}
	got = is_group_open(s, stack, stack->count, cells, false);
	/* calls of the thread that began later are not below a call in the kernel */
	return got > 0 && stack->frames[got - 1].start <= call->start;
}

/* Get the time of a call in the kernel, which has ended, until the last call of its thread ended.
 */
static uint64_t kernel_time(const struct statistics *s, const struct call *call,
			    const struct event *e)
{
	const struct stack *stack = thread_stack(s, e);

	return stack->kernel_since > call->start ? stack->kernel_since - call->start : 0;
}

/* Get the start of the innermost call of a thread that is open, or open in the kernel; 0: none. */
static uint64_t innermost_start(const struct stack *s)
{
	const struct stack *k = s->kernel;
	uint64_t start = s->count ? s->frames[s->count - 1].start : s->unseen ? s->unseen_since : 0;

	return k && k->count && k->frames[k->count - 1].start > start
		       ? k->frames[k->count - 1].start
		       : start;
}

/* Get the times of a group, whose key has n cells, in a thread; NULL when out of memory. The next
 * call makes the pointer invalid. */
static struct counted_group *counted_find(struct statistics *s, uint32_t thread,
					  const struct key_cell *cells, size_t n)
{
	struct buffer *key = &s->recursion.counted.key;
	uint32_t number;
	int bad;

	key->size = 0;
	bad = buffer_u32(key, thread);
	for (size_t i = 0; i < n; i++)
		bad |= key_cell_append(key, &cells[i]);
	number = bad ? INTERN_NONE : intern(&s->recursion.counted.keys, key->data, key->size);
	if (number == INTERN_NONE ||
	    ARRAY_REACH(s->recursion.counted.groups, s->recursion.counted.capacity, number))
		return NULL;
	return &s->recursion.counted.groups[number];
}

/* Take out the spans that begin at start or later. Returns their time in all. */
static struct counted_span take_from(struct counted_group *g, uint64_t start)
{
	struct counted_span taken = {.start = start};

	while (g->count && g->spans[g->count - 1].start >= start) {
		const struct counted_span *s = &g->spans[--g->count];

		add_saturated(&taken.time, s->time);
		taken.end = s->end > taken.end ? s->end : taken.end;
	}
	return taken;
}

/* Count a call from start to end. Returns 0, or -1 when out of memory. *inside is set to its time
 * that was counted before. innermost: the start of the innermost open call of the thread, 0 none.
 */
static int counted_add(struct counted_group *g, uint64_t start, uint64_t end, uint64_t innermost,
		       uint64_t *inside)
{
	struct counted_span span = take_from(g, start), *last;
	uint64_t before = g->count ? g->spans[g->count - 1].end : 0, counted = span.time;

	/* a call in the kernel may end after the call that it began in */
	if (before > start)
		add_saturated(&counted, (before < end ? before : end) - start);
	*inside = counted < end - start ? counted : end - start;
	add_saturated(&span.time, end - start - *inside);
	span.end = end > span.end ? end : span.end;
	if (ARRAY_GROW(g->spans, g->capacity, g->count))
		return -1;
	g->spans[g->count++] = span;
	while (g->count > 1 && (last = &g->spans[g->count - 1])[-1].start >= innermost) {
		add_saturated(&last[-1].time, last->time);
		last[-1].end = last->end > last[-1].end ? last->end : last[-1].end;
		g->count--;
	}
	return 0;
}

/* Forget all times. */
static void counted_free(struct statistics *s)
{
	for (size_t i = 0; i < s->recursion.counted.capacity; i++)
		free(s->recursion.counted.groups[i].spans);
	free(s->recursion.counted.groups);
	intern_free(&s->recursion.counted.keys);
	buffer_free(&s->recursion.counted.key);
	memset(&s->recursion.counted, 0, sizeof(s->recursion.counted));
}

/* Get the time of a call of a group that calls of the group inside it have counted. */
static uint64_t counted_inside(struct statistics *s, const struct aggregate *a,
			       const struct call *call, const struct event *e)
{
	const struct stack *stack = thread_stack(s, e);
	struct counted_group *g =
		counted_find(s, stack->number, groups_cells(&s->groups, a), s->keys->count);
	uint64_t inside = 0;

	/* the total is 0, and not call->end - call->start, where the clock stepped back */
	if (!g ||
	    counted_add(g, call->start, call->start + call->total, innermost_start(stack), &inside))
		s->out_of_memory = true;
	return inside;
}

/* Get the time of a call with the cells of its enter that is inside another call of its group. */
static uint64_t noted_inside(struct statistics *s, const struct call *call, const struct event *e)
{
	struct key_cell *data = call->data;
	bool of_thread = s->recursion.of == RECURSION_OF_THREAD;
	uint64_t noted;

	/* of a call that was open before the first row, the callees are counted */
	if (!data)
		return of_thread ? call->total - call->self : 0;
	data += group_cells_at(s);
	noted = data[s->keys->count].value;
	if (noted != RECURSIVE_ASK)
		return noted == RECURSIVE_YES ? call->total : 0;
	if (is_below_group(s, call, e, data))
		return call->total;
	return of_thread ? kernel_time(s, call, e) : 0;
}

/* Get the time of a call that is inside another call of its group. */
static uint64_t time_inside(struct statistics *s, const struct aggregate *a,
			    const struct call *call, const struct type *type, const struct event *e)
{
	/* calls with numbers are inside no other one */
	if (type->flags & TYPE_CALL_NUMBER)
		return 0;
	switch (s->recursion.of) {
	case RECURSION_NONE: return 0;
	case RECURSION_OF_FUNCTION: return call->recursive ? call->total : 0;
	case RECURSION_OF_THREAD:
	case RECURSION_OF_GROUP: return noted_inside(s, call, e);
	case RECURSION_OF_TIMES: return counted_inside(s, a, call, e);
	}
	return 0;
}

/* Get the times of a finished call in states; e is its leave or NULL. NULL: they are not needed. */
static const uint64_t *statistics_states(struct statistics *s, const struct call *call,
					 const struct event *e)
{
	return s->states ? states_of(s->states, &(struct state_span){.lane = call->lane,
								     .start = call->start,
								     .end = call->end,
								     .total = call->total,
								     .left = e})
			 : NULL;
}

/* --- trace_id of sources that have flows: the request that a call or event is of --- */

static uint64_t request_of(const struct key_cell *cell)
{
	return cell->kind == KEY_UNSIGNED ? cell->value + 1 : 0;
}

static void set_request(struct key_cell *cell, uint64_t set)
{
	if (set && cell->kind == KEY_MISSING)
		*cell = key_unsigned(set - 1);
}

/* Get the cell of the innermost but `above` calls of a stack; NULL: there is none. */
static struct key_cell *request_cell(const struct statistics *s, const struct stack *stack,
				     size_t above)
{
	if (!stack || stack->count <= above)
		return NULL;
	return (struct key_cell *)calls_data(&s->calls, stack, stack->count - 1 - above) +
	       s->request_cell;
}

/* Find the request of a call that begins: that of a flow that leads to it, or of the call around
 * it. */
static void enter_request(struct statistics *s, const struct event *e, const struct stack *stack,
			  struct key_cell *cells)
{
	struct flow_sets *r = s->requests;
	const struct key_cell *around = request_cell(s, stack, 1);
	uint64_t set = around ? request_of(around) : 0;

	if (cells[s->request_cell].kind != KEY_MISSING)
		return;
	if (stack && e->lane->thread < r->nnext && r->next[e->lane->thread]) {
		set = r->next[e->lane->thread];
		r->next[e->lane->thread] = 0;
	}
	set_request(cells + s->request_cell, flow_sets_read(r, e, set));
}

/* Find the request of an event that is no call, and of the call that its flow belongs to: the call
 * around it or, of the end of a flow in Trace Event JSON, the next one. */
static int event_request(struct statistics *s, const struct event *e)
{
	struct flow_sets *r = s->requests;
	const struct stack *stack = calls_thread_stack(&s->calls, e->lane->thread);
	struct key_cell *around = request_cell(s, stack, 0);
	uint64_t set = flow_sets_read(r, e, around ? request_of(around) : 0);
	size_t n = r->flows.count ? flows_call_of(&r->flows, e, stack) : 0;

	s->request_row[s->request_cell] = (struct key_cell){0};
	set_request(s->request_row + s->request_cell, set);
	if (!r->flows.count)
		return 0;
	if (!n && flows_call_is_next(&r->flows)) {
		if (ARRAY_REACH(r->next, r->nnext, e->lane->thread))
			return -1;
		r->next[e->lane->thread] = set;
	} else if (n) {
		set_request(request_cell(s, stack, stack->count - n), set);
	}
	return 0;
}

bool statistics_has_requests(const struct statistics *s)
{
	return s->requests && s->requests->any;
}

/* Prepare for the key trace_id, if it is one. -1: out of memory. */
static int begin_requests(struct statistics *s)
{
	const struct keys *k = s->keys;
	size_t cell = 0;

	for (size_t i = 0; i < k->count; cell += k->key[i++].begins)
		if (k->key[i].begins && k->key[i].kind == BY_FIELD && !k->key[i].other &&
		    !strcmp(k->key[i].field, REQUEST_KEY) && !s->requests) {
			s->requests = calloc(1, sizeof(*s->requests));
			s->request_row = calloc(k->begins, sizeof(*s->request_row));
			if (!s->requests || !s->request_row)
				return -1;
			s->requests->flows.dictionary = s->dictionary;
			s->request_cell = cell;
		}
	return 0;
}

/* Keep the cells of an enter. stack: NULL for a call with a number. */
static int put_entered(struct statistics *s, const struct event *e, const struct stack *stack,
		       struct key_cell *cells)
{
	struct event_ref entered = event_ref_of(e);

	if (e->type->flags & TYPE_CALL_NUMBER && s->arguments)
		statistics_argument_cells(s, e, cells + s->keys->begins);
	if (s->where && statistics_where_cells(s, &entered, cells))
		return -1;
	if (keys_begin_cells(s->keys, s->dictionary, &s->groups.texts, &entered, cells))
		return -1;
	if (s->requests)
		enter_request(s, e, stack, cells);
	return notes_group(s) && stack ? note_group(s, e, stack, cells) : 0;
}

/* Keep what the leave of a call of calls_restore needs of its enter. */
static int statistics_restore(void *ctx, const struct event *e, const struct call *call)
{
	struct statistics *s = ctx;

	return s->calls.data_size ? put_entered(s, e, call->on, call->data) : 0;
}

/* Test whether the pairs are of memory that calls allocate. */
static bool follows_memory(const struct statistics *s)
{
	return s->pair && s->pair->preset && s->pair->preset->calls;
}

/* Make the calls, without any. */
static void statistics_begin_calls(struct statistics *s)
{
	calls_init(&s->calls, s->dictionary);
	s->calls.on_restore = statistics_restore;
	s->calls.on_restore_ctx = s;
	if (s->stacks)
		call_stacks_follow(s->stacks, &s->calls);
	s->calls.data_size =
		follows_memory(s)
			? sizeof(struct pair_call)
			: (group_cells_at(s) + (notes_group(s) ? s->keys->count + 1 : 0)) *
				  sizeof(struct key_cell);
}

/* Keep what the leave needs of the enter. By value, so that the event of the fast path can stay
 * in registers. */
static __attribute__((noinline)) int take_enter(struct statistics *s, struct event e,
						const struct stack *stack, struct key_cell *data)
{
	if ((s->calls.data_size && put_entered(s, &e, stack, data)) ||
	    (s->stacks && call_stacks_enter(s->stacks, &e))) {
		s->out_of_memory = true;
		return -1;
	}
	return 0;
}

/* Get the group of a finished call; e is its leave or NULL. NULL without out_of_memory: the
 * call does not count. */
static __attribute__((noinline)) struct aggregate *
group_of_call(struct statistics *s, const struct call *call, const struct type *type,
	      const struct event *e, const uint64_t *states)
{
	struct event_ref subject = event_ref_of_call(call, type, e, call->data);

	subject.states = states;
	s->taken = subject.entered;
	if (s->stacks && (e ? call_stacks_leave(s->stacks, e, call, &subject.stack)
			    : call_stacks_finish(s->stacks, call, &subject.stack))) {
		s->out_of_memory = true;
		return NULL;
	}
	if (statistics_selects(s) && !statistics_is_selected(s, &subject))
		return NULL;
	return statistics_group(s, &subject);
}

static inline __attribute__((always_inline)) int statistics_add_call(struct statistics *s,
								     const struct call *call,
								     const struct type *type,
								     const struct event *e)
{
	struct event copy = e ? *e : (struct event){0};
	struct aggregate *a;
	uint64_t inside;
	const uint64_t *states = statistics_states(s, call, e);

	a = group_of_call(s, call, type, e ? &copy : NULL, states);
	if (!a)
		return s->out_of_memory ? -1 : 0;
	inside = time_inside(s, a, call, type, e);
	if (__builtin_expect(s->out_of_memory, 0))
		return -1;
	if (aggregate_call(a, &s->columns->wanted, call->total, call->self, inside, call->end)) {
		s->out_of_memory = true;
		return -1;
	}
	if (__builtin_expect(inside && inside < call->total, 0))
		aggregate_outside(a, call->total - inside);
	if (__builtin_expect(s->columns->wanted.field_count, 0)) {
		const struct statistics_times times = {true,	   false,	   call->total,
						       call->self, call->location, states};

		if (s->taken && s->arguments &&
		    statistics_add_arguments(s, a, e ? &copy : NULL, s->taken + s->keys->begins)) {
			s->out_of_memory = true;
			return -1;
		}
		return statistics_add_fields(s, a, e ? &copy : NULL, call->lane, false, &times);
	}
	return 0;
}

/* Count a row that is not a finished call: an instant, and with the key `type` every row. waits:
 * its arguments are ignored. */
static __attribute__((noinline)) int statistics_add_row(struct statistics *s, struct event ev,
							bool counts, bool waits)
{
	const struct event *e = &ev;
	const struct stack *stack = calls_stack(&s->calls, e);
	size_t open = stack ? stack->count : 0;
	struct event_ref subject = event_ref_of(e);
	uint32_t recorded = s->stacks ? event_stack(s->dictionary, e) : 0;
	struct aggregate *a;

	if (s->requests && kind_is_instant(e->type->kind)) {
		if (event_request(s, e))
			return -1;
		subject.entered = s->request_row;
	}
	if (!counts && !statistics_has_fields(s, e, waits))
		return 0;
	/* an enter has pushed its own frame, unless scheduled-out types are ignored here */
	if (e->type->kind == KIND_ENTER && open && !(e->type->flags & TYPE_CALL_NUMBER))
		open -= !(e->type->flags & TYPE_INNER) || stack->frames[open - 1].inner;
	subject.level = (uint32_t)open + (stack ? stack->unseen : 0);
	subject.caller = open ? stack->frames[open - 1].location : 0;
	if (s->stacks &&
	    (recorded ? call_stacks_recorded(s->stacks, STACK_ROOT, recorded, &subject.stack)
		      : call_stacks_here(s->stacks, e, &subject.stack)))
		return -1;
	if (statistics_selects(s) && !statistics_is_selected(s, &subject))
		return s->out_of_memory ? -1 : 0;
	a = statistics_group(s, &subject);
	if (!a)
		return -1;
	if (counts)
		aggregate_instant(a, &s->columns->wanted, e->time);
	return s->columns->wanted.field_count && !s->only_states
		       ? statistics_add_fields(s, a, e, counts ? e->lane : NULL, waits,
					       &(struct statistics_times){0})
		       : 0;
}

/* Count one event of any kind. */
static inline __attribute__((always_inline)) int statistics_take_event(struct statistics *s,
								       struct event *e,
								       bool by_type, bool fields,
								       bool waiting)
{
	enum calls_result got;
	struct call call;
	int bad = 0;

	if (__builtin_expect(s->states != NULL, 0) && states_take(s->states, e))
		return -1;
	if (__builtin_expect(e->type->kind == KIND_GAP, 0))
		return 0; /* END counts lost events */
	got = calls_next(&s->calls, e, &call);
	if (__builtin_expect(waiting && got == CALLS_ENTER, 0) &&
	    take_enter(s, *e, call.on, call.data))
		return -1;
	if (got == CALLS_LEAVE)
		bad = statistics_add_call(s, &call, e->type, e);
	else if (e->type->kind == KIND_SAMPLE)
		/* no weight is added to the times of calls, which alone have states */
		bad = s->states || s->no_samples ? 0 : statistics_take_sample(s, e);
	else if (kind_is_instant(e->type->kind))
		bad = statistics_add_row(s, *e, true, false);
	else if ((by_type || fields) && e->type->kind != KIND_DROP)
		bad = statistics_add_row(s, *e, by_type,
					 s->arguments && got == CALLS_ENTER &&
						 e->type->flags & TYPE_CALL_NUMBER);
	return bad || s->calls.out_of_memory ? -1 : 0;
}

/* Count one event of any kind. */
static int statistics_take(struct statistics *s, struct event *e)
{
	return statistics_take_event(s, e, s->keys->by_type,
				     s->columns->wanted.field_count && !s->only_states,
				     s->calls.data_size || s->stacks);
}

/* Count all rows that are left. */
static int statistics_take_rows(struct statistics *s, struct events *it)
{
	bool fields = s->columns->wanted.field_count && !s->only_states;
	bool by_type = s->keys->by_type;
	bool waiting = s->calls.data_size || s->stacks;
	struct event e;

	while (event_next(it, &e))
		if (statistics_take_event(s, &e, by_type, fields, waiting))
			return -1;
	return 0;
}

/* Count one row of the block that all iterates. */
static int statistics_take_row(struct statistics *s, const struct events *all, const uint8_t *row)
{
	struct events it = *all;
	struct event e = {.row = row};

	it.row = row;
	event_next(&it, &e);
	return statistics_take_event(s, &e, s->keys->by_type, false, false);
}

/* Fill the entry of a B whose A may be in an earlier part. */
static int open_pair(struct statistics *s, const struct event *e, const struct event_ref *b,
		     struct aggregate *entry)
{
	const struct statistics_times times = {
		.known = true, .pending = true, .location = e->location};
	struct pair_edges *edges = s->pair->edges;
	struct key_cell *cells = pair_edge_b(edges, entry);
	struct event_ref subject = *b;

	pair_edge(edges, entry)->b = e->time;
	subject.entered = s->pending;
	subject.pending = true;
	if (keys_cells(s->keys, s->dictionary, &s->groups.texts, &subject, cells))
		return -1;
	memcpy(cells + s->keys->count, s->cells + s->keys->count, s->more * sizeof(*cells));
	if (keys_end_cells(s->keys, s->dictionary, &s->groups.texts, &subject,
			   pair_edge_other(edges, entry)))
		return -1;
	return s->columns->wanted.field_count
		       ? statistics_add_fields(s, entry, e, e->lane, false, &times)
		       : 0;
}

/* Add a pair's time to its group, or where that is of a bucket of time to those of all buckets
 * that the pair covers. */
static int add_busy(struct statistics *s, struct aggregate *a, uint64_t begin, uint64_t end)
{
	if (s->keys->needs & NEEDS_TIME)
		return statistics_add_busy(s, begin, end); /* cells are those of the group */
	add_busy_time(s, a, begin, end);
	return 0;
}

bool statistics_to_caller(struct statistics *s)
{
	struct key_cell *stack;

	if (!s->keys->each_frame)
		return false;
	stack = &s->cells[s->keys->count - 1];
	if (stack->kind != KEY_STACK)
		return false;
	stack->value = s->stacks->tree.nodes[stack->value].parent;
	return stack->value != STACK_ROOT;
}

/* Count the times of a pair or span that ended at that time. */
static int statistics_add_span(struct statistics *s, struct aggregate *a, uint64_t end,
			       const struct statistics_times *times)
{
	uint64_t begin = end - times->total;

	if (aggregate_call(a, &s->columns->wanted, times->total, times->self, false, end))
		return -1;
	return s->columns->wanted.busy ? add_busy(s, a, begin > s->since ? begin : s->since, end)
				       : 0;
}

/* Count a pair in its group. */
static int statistics_add_pair(struct statistics *s, struct aggregate *a, const struct event *e,
			       const struct statistics_times *times)
{
	if (statistics_add_span(s, a, e->time, times))
		return -1;
	return s->columns->wanted.field_count
		       ? statistics_add_fields(s, a, e, e->lane, false, times)
		       : 0;
}

/* Count the spans of --cover that have ended, as far as they are in the window. */
static int statistics_add_covers(struct statistics *s)
{
	struct statistics_times times = {.known = true};
	struct pair_end end;
	struct aggregate *a;

	while (cover_next(s->pair, &end)) {
		struct event_ref subject = {.type = pool_at(&s->dictionary->types, 0),
					    .time = end.at,
					    .entered = end.entered,
					    .level = end.level,
					    .timed = true};

		if (end.at <= s->since)
			continue;
		times.total = end.time < end.at - s->since ? end.time : end.at - s->since;
		times.self = subject.total = subject.self = times.total;
		a = statistics_group(s, &subject);
		if (!a || (end.time && statistics_add_span(s, a, end.at, &times)))
			return -1;
	}
	return 0;
}

/* Count memory that is allocated or (sign -1) freed at that time. What was allocated before the
 * window is not in it. */
static int add_memory(struct statistics *s, const struct pair_memory *m, int sign, uint64_t time)
{
	struct event_ref subject = {
		.type = pool_at(&s->dictionary->types, 0), .time = time, .entered = m->cells};
	struct aggregate *a;

	if (!m->cells || s->outside || m->since < s->since)
		return 0;
	for (a = statistics_group(s, &subject); a; a = groups_find(&s->groups, s->cells)) {
		struct aggregate_memory *sum = aggregate_part(a, s->columns->wanted.memory);

		sum->bytes += sign > 0 ? m->bytes : 0;
		sum->outstanding += sign * (int128)m->bytes;
		sum->left += sign;
		if (!statistics_to_caller(s))
			return 0;
	}
	return -1;
}

/* Follow the calls that allocate memory, for the pair. */
static int follow_memory(struct statistics *s, const struct event *e)
{
	struct pair *p = s->pair;
	enum calls_result got;
	struct call call;

	p->call.data = NULL;
	p->call.caller = p->call.stack = 0;
	got = calls_next(&s->calls, e, &call);
	if (got == CALLS_ENTER || got == CALLS_LEAVE)
		p->call.data = call.data;
	if (got == CALLS_LEAVE)
		p->call.caller = call.caller;
	return s->calls.out_of_memory ||
			       (s->stacks && got == CALLS_ENTER &&
				call_stacks_enter(s->stacks, e)) ||
			       (s->stacks && got == CALLS_LEAVE &&
				call_stacks_leave(s->stacks, e, &call, &p->call.stack))
		       ? -1
		       : 0;
}

/* Take an event that may end a pair; the pair counts as a call of that time. */
static int statistics_take_pair(struct statistics *s, const struct event *e)
{
	struct statistics_times times = {.known = true, .location = e->location};
	struct event_ref subject;
	struct aggregate *a;
	struct pair_end end;
	enum outcome got;

	if (s->states && states_take(s->states, e))
		return -1;
	if (!kind_is_event(e->type->kind))
		return 0;
	if (follows_memory(s) && follow_memory(s, e))
		return -1;
	got = pair_feed(s->pair, e, &end);
	if (got != OUTCOME_FAILED && s->columns->wanted.memory &&
	    (add_memory(s, &s->pair->memory.freed, -1, e->time) ||
	     add_memory(s, &s->pair->memory.lost, -1, e->time) ||
	     add_memory(s, &s->pair->memory.allocated, 1, e->time)))
		return -1;
	if (got != OUTCOME_YES)
		return got == OUTCOME_FAILED || (s->pair->cover && statistics_add_covers(s)) ? -1
											     : 0;
	if (s->outside)
		return 0;
	if (pair_event_ref(s->pair, e, &subject))
		return -1;
	subject.timed = true;
	if (end.open)
		return open_pair(s, e, &subject, end.open);
	subject.total = subject.self = times.total = times.self = end.time;
	if (s->states)
		subject.states = times.states = states_of(
			s->states,
			&(struct state_span){.mark = end.mark, .end = e->time, .total = end.time});
	subject.entered = end.entered;
	a = statistics_group(s, &subject);
	while (a && !statistics_add_pair(s, a, e, &times)) {
		if (!statistics_to_caller(s))
			return 0;
		times.self = 0;
		a = groups_find(&s->groups, s->cells);
	}
	return -1;
}

/*
 * Blocks of narrow rows in loops that stay in registers.
 *
 * Instructions of whole pipes without narrow_calls: 'trdecode | trsym | trstat' of
 * t/bench/uftrace.sh 1.14 times as many. Without narrow_rows 'trdecode | trstat -g name -c count':
 * apitrace.sh 1.5 times, ctf.sh 1.5 times, lttng.sh 1.16 times.
 */

/* A bit that is set in the words of row_groups, and is of no index. */
#define WORD_KNOWN (1ull << NARROW_DELTA)

/* Get the bits of a narrow row's word (event.h) that decide the group; 0: they do not
 * suffice. */
static uint64_t statistics_row_mask(const struct statistics *s)
{
	uint32_t needs = s->keys->needs;

	if (needs & (NEEDS_CALLER | NEEDS_LEVEL | NEEDS_EVENT | NEEDS_STACK) || s->keys->begins ||
	    (s->columns->wanted.field_count && !s->only_states))
		return 0;
	return WORD_KNOWN | row_make(0, needs & NEEDS_LANE ? NARROW_LANE_MOST : 0,
				     needs & NEEDS_LOCATION ? NARROW_LOCATION_MOST : 0,
				     needs & NEEDS_TYPE ? NARROW_TYPE_MOST : 0, 0);
}

/* Cache the groups of the block's locations, where known. */
static int plan_locations(struct statistics *s, const struct block *b)
{
	size_t n = (size_t)b->nlocations + 1;

	if (n > s->caches.planned_size) {
		struct aggregate **planned = realloc(s->caches.planned, n * sizeof(*planned));

		if (!planned)
			return -1;
		s->caches.planned = planned;
		s->caches.planned_size = n;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t location = b->locations[i];

		s->caches.planned[i] = location && location < s->caches.by_location_size
					       ? s->caches.by_location[location]
					       : NULL;
	}
	return 0;
}

/* Add the times of a call in states. */
static int add_states(struct statistics *s, struct aggregate *a, const uint64_t *states)
{
	const struct columns_wanted *w = &s->columns->wanted;
	struct aggregate_field *fields = aggregate_part(a, w->fields);

	for (uint32_t i = 0; i < w->field_count; i++) {
		uint64_t time = states[w->field[i].state];

		if (!w->field[i].each)
			fields[i].sum.whole += time;
		else if (aggregate_number(a, w, i, time))
			return -1;
	}
	return 0;
}

/* The same of a call whose thread was in several states. */
static __attribute__((noinline)) int add_several_states(struct statistics *s, struct aggregate *a,
							struct state_span span)
{
	return add_states(s, a, states_of(s->states, &span));
}

/* The same of a call whose thread was in one state, where some columns need single calls. */
static __attribute__((noinline)) int add_one_state(struct statistics *s, struct aggregate *a,
						   uint8_t state, uint64_t total)
{
	const struct columns_wanted *w = &s->columns->wanted;
	struct aggregate_field *fields = aggregate_part(a, w->fields);

	for (uint32_t i = 0; i < w->field_count; i++) {
		uint64_t time = w->field[i].state == state ? total : 0;

		if (!w->field[i].each)
			fields[i].sum.whole += time;
		else if (aggregate_number(a, w, i, time))
			return -1;
	}
	return 0;
}

/* Note that a group has times in states, be they 0. */
static __attribute__((noinline)) int note_states(struct statistics *s, struct aggregate *a)
{
	const struct columns_wanted *w = &s->columns->wanted;

	for (uint32_t i = 0; i < w->field_count; i++) {
		aggregate_field_seen(a, w, i);
		/* others count themselves */
		if (!w->field[i].each && aggregate_number(a, w, i, 0))
			return -1;
	}
	return 0;
}

/* Add the times of a call in states to a group that has such times. */
static inline __attribute__((always_inline)) int narrow_states(struct statistics *s,
							       struct aggregate *a,
							       const struct state_period *now,
							       const struct call *call)
{
	uint32_t sum = s->state_sums[now->state];

	if (__builtin_expect(a->calls == 1, 0) && note_states(s, a))
		return -1;
	if (__builtin_expect(call->start < now->since, 0))
		return add_several_states(s, a,
					  (struct state_span){.lane = call->lane,
							      .start = call->start,
							      .end = call->end,
							      .total = call->total,
							      .left = true});
	if (s->state_each)
		return add_one_state(s, a, now->state, call->total);
	if (sum)
		((struct aggregate_field *)aggregate_part(a, s->columns->wanted.fields))[sum - 1]
			.sum.whole += call->total;
	return 0;
}

/*
 * Narrow rows, calls by name: the engine's fast path stays in registers. sr: NULL without states.
 */
static inline __attribute__((always_inline)) int
narrow_calls(struct statistics *s, const struct calls_rows *cr, struct states_rows *sr,
	     const struct events *it, bool bare, unsigned how)
{
	const struct columns_wanted *wanted = &s->columns->wanted;
	const uint8_t *next = it->row, *end = it->end;
	struct aggregate *const *planned = s->caches.planned;

	while (next < end) {
		const uint8_t *row = next;
		struct plain_row r = plain_row(it, row);
		struct aggregate *a = planned[r.location];
		enum calls_result got;
		struct call call;

		next = bare ? row + NARROW_ROW : row_after(it->types[r.type], row);
		got = a && (!sr || states_pass(sr, r.lane, r.time))
			      ? calls_quick_row(&s->calls, cr, &r, &call, how)
			      : CALLS_SLOW;
		if (got == CALLS_LEAVE) {
			if (aggregate_call(a, wanted, call.total, call.self, call.recursive,
					   call.end) ||
			    (sr && narrow_states(s, a, sr->now[r.lane], &call)))
				return -1;
		} else if (__builtin_expect(got == CALLS_SLOW, 0)) {
			if (statistics_take_row(s, it, row))
				return -1;
		}
	}
	return 0;
}

static int statistics_take_calls(struct statistics *s, const struct block *b,
				 const struct events *it)
{
	struct states_rows sr;
	struct calls_rows cr;
	int bad;

	if (plan_locations(s, b) || calls_rows(&s->calls, b, &cr))
		return -1;
	if (s->states) {
		if (states_rows_begin(s->states, b, &sr))
			return -1;
		bad = cr.careful ? narrow_calls(s, &cr, &sr, it, false, CALLS_CAREFUL)
				 : narrow_calls(s, &cr, &sr, it, false, 0);
		states_rows_end(s->states);
		return bad;
	}
	if (cr.careful)
		return narrow_calls(s, &cr, NULL, it, false, CALLS_CAREFUL);
	return it->bare ? narrow_calls(s, &cr, NULL, it, true, 0)
			: narrow_calls(s, &cr, NULL, it, false, 0);
}

/* Returns true for blocks of function tracers: nearly all rows are calls without a payload. */
static bool has_bare_calls(const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++) {
		const struct type *t = b->types[i];

		if ((t->kind == KIND_ENTER || t->kind == KIND_LEAVE) && !t->fixed_size &&
		    !(t->flags & TYPE_TAIL))
			return true;
	}
	return false;
}

/* Returns true if all groups of the block depend on row_mask alone. */
static bool is_by_word(const struct statistics *s, const struct block *b)
{
	if (!s->caches.row_mask)
		return false;
	for (uint32_t i = 0; s->recursion.of >= RECURSION_OF_THREAD && i < b->ntypes; i++)
		if (b->types[i]->kind == KIND_ENTER || b->types[i]->kind == KIND_LEAVE)
			return false;
	for (uint32_t i = 0; s->keys->needs & NEEDS_CPU && i < b->nlanes; i++)
		if (!(b->lanes[i]->flags & LANE_HAS_CPU))
			return false;
	return !(s->keys->needs & NEEDS_TIME) || keys_same_time(s->keys, b->base, b->last);
}

/* Find the group of a row whose word is new in this block. */
static __attribute__((noinline)) struct aggregate *find_row_group(struct statistics *s,
								  const struct events *all,
								  const uint8_t *row,
								  struct row_group *g)
{
	struct events it = *all;
	struct event e;
	struct event_ref subject;
	struct aggregate *a;

	it.row = row;
	if (!event_next(&it, &e))
		return NULL;
	subject = (struct event_ref){.lane = e.lane,
				     .type = e.type,
				     .event = &e,
				     .location = e.location,
				     .time = e.time,
				     .timed = e.type->kind == KIND_LEAVE};
	a = statistics_group(s, &subject);
	if (a)
		*g = (struct row_group){(get_u64(row) & s->caches.row_mask) | WORD_KNOWN, a};
	return a;
}

enum row_does { ROW_COUNTS, ROW_CALLS, ROW_IS_NOTHING, ROW_CHANGES_STATES };

struct row_type {
	uint32_t size;
	uint8_t tail, does;
};

static void plan_types(const struct statistics *s, const struct block *b, struct row_type *types)
{
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++) {
		const struct type *t = b->types[i];

		types[i].size = NARROW_ROW + t->fixed_size;
		types[i].tail = (t->flags & TYPE_TAIL) != 0;
		types[i].does = s->states && states_changed_by(s->states, t) ? ROW_CHANGES_STATES
				: t->kind == KIND_GAP			     ? ROW_IS_NOTHING
				: kind_is_instant(t->kind)		     ? ROW_COUNTS
									     : ROW_CALLS;
	}
}

static inline const uint8_t *row_behind(const struct row_type *t, const uint8_t *row)
{
	row += t->size;
	return t->tail ? row + 4 + align_up(get_u32(row), 4) : row;
}

/* Get the group of a row with that word; NULL when out of memory. */
static inline struct aggregate *row_aggregate(struct statistics *s, const struct events *it,
					      const uint8_t *row, uint64_t word)
{
	struct row_group *g =
		&s->caches.row_groups[word * 0x9e3779b97f4a7c15u >> (64 - ROW_GROUPS_BITS)];

	if (__builtin_expect(g->word == word, 1))
		return g->aggregate;
	return find_row_group(s, it, row, g);
}

/*
 * Count calls with numbers whose leave directly follows the enter, as many as follow from here.
 * Returns the first row after them; NULL: out of memory. Without this 'trdecode | trstat -g name
 * -c count' of t/bench/apitrace.sh takes 1.65 times the instructions.
 */
static __attribute__((noinline)) const uint8_t *
numbered_calls(struct statistics *s, const struct events *it, const struct row_type *types,
	       const struct calls_rows *cr, const uint8_t *row)
{
	const struct columns_wanted *wanted = &s->columns->wanted;
	uint64_t mask = s->caches.row_mask & ~WORD_KNOWN;

	while (row < it->end) {
		struct plain_row e = plain_row(it, row), l;
		const uint8_t *next = row_behind(&types[e.type], row);
		struct aggregate *a;
		uint64_t total;

		if (next == it->end)
			break;
		l = plain_row(it, next);
		if (!l.location || !calls_try_numbered(&s->calls, cr, row, &e, next, &l))
			break;
		a = row_aggregate(s, it, next, (get_u64(next) & mask) | WORD_KNOWN);
		if (!a)
			return NULL;
		total = l.time > e.time ? l.time - e.time : 0;
		if (aggregate_call(a, wanted, total, total, false, l.time))
			return NULL;
		row = row_behind(&types[l.type], next);
	}
	return row;
}

/* Count narrow rows of all kinds, for keys that depend on lane, type and location only. sr: NULL
 * without states. */
static inline __attribute__((always_inline)) int
narrow_rows(struct statistics *s, const struct events *it, const struct row_type *types,
	    struct calls_rows *cr, struct states_rows *sr)
{
	const struct columns_wanted *wanted = &s->columns->wanted;
	uint64_t mask = s->caches.row_mask & ~WORD_KNOWN;
	bool by_type = s->keys->by_type;
	const uint8_t *row = it->row, *end = it->end;

	while (row < end) {
		const uint8_t *this = row;
		struct plain_row r = plain_row(it, row);
		const struct row_type *t = &types[r.type];
		enum calls_result got = CALLS_NONE;
		struct aggregate *a;
		struct call call;

		if (!sr && cr->types[r.type].numbered == KIND_ENTER && !by_type) {
			row = numbered_calls(s, it, types, cr, row);
			if (!row)
				return -1;
			if (row != this)
				continue;
		}
		row = row_behind(t, row);
		if (sr && (t->does == ROW_CHANGES_STATES || !states_pass(sr, r.lane, r.time))) {
			if (statistics_take_row(s, it, this))
				return -1;
			continue;
		}
		call.total = 0;
		if (t->does == ROW_CALLS) {
			got = r.location ? calls_quick_row(&s->calls, cr, &r, &call, CALLS_CAREFUL)
					 : CALLS_SLOW;
			if (__builtin_expect(got == CALLS_SLOW, 0)) {
				if (statistics_take_row(s, it, this))
					return -1;
				continue;
			}
			if (got == CALLS_ENTER && !by_type)
				continue;
		} else if (t->does == ROW_COUNTS) {
			calls_pass(cr, &r);
		} else {
			continue;
		}
		a = row_aggregate(s, it, this, (get_u64(this) & mask) | WORD_KNOWN);
		if (!a)
			return -1;
		if (got != CALLS_LEAVE)
			aggregate_instant(a, wanted, r.time);
		else if (aggregate_call(a, wanted, call.total, call.self, call.recursive, r.time) ||
			 (sr && narrow_states(s, a, sr->now[r.lane], &call)))
			return -1;
	}
	return 0;
}

static __attribute__((noinline)) int
statistics_take_words(struct statistics *s, const struct block *b, const struct events *it)
{
	struct row_type types[256];
	struct states_rows sr;
	struct calls_rows cr;
	int bad;

	if (calls_rows(&s->calls, b, &cr))
		return -1;
	plan_types(s, b, types);
	memset(s->caches.row_groups, 0, sizeof(s->caches.row_groups));
	if (!s->states)
		return narrow_rows(s, it, types, &cr, NULL);
	if (states_rows_begin(s->states, b, &sr))
		return -1;
	bad = narrow_rows(s, it, types, &cr, &sr);
	states_rows_end(s->states);
	return bad;
}

/* Count the rows of a block. OUTCOME_NO: the block does not suit these loops. */
static enum outcome statistics_narrow(struct statistics *s, const struct block *b,
				      const struct events *it)
{
	bool fields = s->columns->wanted.field_count && !s->only_states;
	bool plain = !fields && !s->calls.data_size && !s->stacks;
	int bad;

	if (!it->plain || statistics_selects(s) || s->requests)
		return OUTCOME_NO;
	if (s->name_only && plain && !s->keys->by_type && has_bare_calls(b))
		bad = statistics_take_calls(s, b, it);
	else if (is_by_word(s, b))
		bad = statistics_take_words(s, b, it);
	else
		return OUTCOME_NO;
	return bad ? OUTCOME_FAILED : OUTCOME_YES;
}

/*
 * Which rows count: --where, --since and --until.
 *
 * All rows are followed, so that the calls that count have the times and callers that they have in
 * the whole trace.
 */

/* Follow the states of threads from the first row on. */
static int statistics_follow_states(struct statistics *s)
{
	if (s->states)
		return 0;
	s->states = malloc(sizeof(*s->states));
	if (!s->states)
		return -1;
	states_init(s->states, s->dictionary, &s->calls);
	return 0;
}

int statistics_where(struct statistics *s, const struct condition *where)
{
	s->where_cells = calloc(where->keys.count + 1, sizeof(*s->where_cells));
	if (!s->where_cells)
		return -1;
	s->where = where;
	if (keys_state(&where->keys) && statistics_follow_states(s))
		return -1;
	s->recursion.of = statistics_recursion(s);
	statistics_begin_calls(s);
	return 0;
}

/* Get the number of cells of an enter before those of the condition. */
static size_t own_cells(const struct statistics *s)
{
	return s->keys->begins + 2 * s->arguments;
}

/* Keep what the condition needs of an enter. */
static int statistics_where_cells(struct statistics *s, const struct event_ref *entered,
				  struct key_cell *cells)
{
	return keys_begin_cells(&s->where->keys, s->dictionary, &s->groups.texts, entered,
				cells + own_cells(s));
}

static const struct key_cell *where_cell(void *ctx, size_t key)
{
	const struct statistics *s = ctx;

	return &s->where_cells[key];
}

/* Returns true if a row counts; false with out_of_memory set, too. */
static bool statistics_is_selected(struct statistics *s, const struct event_ref *subject)
{
	struct event_ref of = *subject;

	if (s->outside || !s->where)
		return !s->outside;
	if (of.entered)
		of.entered += own_cells(s);
	if (keys_cells(&s->where->keys, s->dictionary, &s->groups.texts, &of, s->where_cells)) {
		s->out_of_memory = true;
		return false;
	}
	return condition_holds(s->where, &s->groups.texts, where_cell, s);
}

/* With --cover: an event is after the window, which is covered until its end. */
static void cover_until(struct statistics *s, uint64_t until)
{
	if (!s->pair || !s->pair->cover)
		return;
	cover_pass(s->pair, until);
	if (s->first < until)
		s->last = until;
}

/* Note that the threads of a block have events after the window. */
static void pass_until(struct statistics *s, const struct block *b)
{
	cover_until(s, s->calls.end.until);
	for (uint32_t i = 0; i < b->nlanes; i++) {
		calls_pass_until(&s->calls, b->lanes[i]->thread);
		calls_pass_until(&s->calls, b->lanes[i]->cpu_thread);
	}
}

int statistics_window(struct statistics *s, const struct block *b, uint64_t since, uint64_t until)
{
	struct events it;
	struct event e;
	int bad = cover_next_stream(s);

	s->calls.since = since;
	s->stray.rows = STRAY_MOST; /* the range was chosen */
	if (bad || (b->base >= since && b->last < until))
		return bad ? bad : statistics_block(s, b);
	s->calls.end.until = until;
	if (b->base >= until) {
		pass_until(s, b);
		return 0;
	}
	statistics_begin_block(s, b);
	for (events_begin(&it, b); !bad && event_next(&it, &e);) {
		if (e.time >= until) {
			cover_until(s, until);
			if (e.type->kind != KIND_GAP)
				calls_pass_until(&s->calls, calls_thread(&e));
			continue;
		}
		s->outside = e.time < since;
		/* what is open at the beginning of the window begins there */
		s->calls.moved_from = s->outside && !s->pair ? e.time : 0;
		if (s->outside && !s->pair)
			e.time = since;
		if (s->outside)
			s->since = since;
		if (!s->outside)
			statistics_note_time(s, e.time);
		else if (s->pair && s->pair->cover)
			statistics_note_time(s, since);
		bad = s->pair ? statistics_take_pair(s, &e) : statistics_take(s, &e);
	}
	s->outside = false;
	s->calls.moved_from = 0;
	return bad;
}

/* --- statistics --- */

/* Test whether a key or a column is the time of calls in a state. */
static bool needs_states(const struct keys *k, const struct columns_wanted *w)
{
	bool is = keys_state(k);

	for (uint32_t i = 0; i < w->field_count; i++)
		is |= w->field[i].state >= 0;
	return is;
}

/* Note which columns are times in states. */
static void statistics_note_states(struct statistics *s, const struct columns_wanted *w)
{
	_Static_assert(sizeof s->state_sums == STATES * sizeof *s->state_sums, "one for each");

	s->only_states = w->field_count > 0;
	for (uint32_t i = 0; i < w->field_count; i++) {
		s->only_states &= w->field[i].state >= 0;
		if (w->field[i].state >= 0)
			s->state_sums[w->field[i].state] = i + 1;
		s->state_each |= w->field[i].each;
	}
}

static int statistics_begin(struct statistics *s, const struct keys *k, struct columns *c,
			    struct dictionary *d, size_t more)
{
	*s = (struct statistics){.keys = k,
				 .columns = c,
				 .dictionary = d,
				 .more = more,
				 .first = UINT64_MAX,
				 .last = 0};
	groups_init(&s->groups, k->count + more, &c->wanted);
	s->groups.whole_stacks = k->whole_stacks;
	if (needs_states(k, &c->wanted) && statistics_follow_states(s))
		return -1;
	statistics_note_states(s, &c->wanted);
	s->arguments = statistics_arguments(k, &c->wanted);
	s->recursion.of = statistics_recursion(s);
	s->caches.row_mask = statistics_row_mask(s);
	s->name_only = k->count == 1 && k->key[0].kind == BY_NAME && !k->begins;
	if (k->needs & NEEDS_STACK) {
		s->stacks = calloc(1, sizeof(*s->stacks));
		if (!s->stacks || call_stacks_init(s->stacks, &s->calls, call_stacks_clean_name))
			return -1;
		s->stacks->tree.keep = true;
	}
	if (begin_requests(s))
		return -1;
	statistics_begin_calls(s);
	s->cells = calloc(k->count + more + 1, sizeof(*s->cells));
	s->pending = calloc(k->begins + 1, sizeof(*s->pending));
	s->caches.by_key = calloc(GROUP_CACHE, sizeof(*s->caches.by_key));
	for (size_t i = 0; s->pending && i < k->begins; i++)
		s->pending[i] = (struct key_cell){.kind = KEY_PENDING, .value = i};
	if (s->recursion.of == RECURSION_OF_GROUP && !(k->needs & NEEDS_EVENT)) {
		s->caches.begun = calloc(GROUP_CACHE, sizeof(*s->caches.begun));
		s->caches.begun_cells =
			calloc(GROUP_CACHE * (k->count + 1), sizeof(*s->caches.begun_cells));
		if (!s->caches.begun || !s->caches.begun_cells)
			return -1;
	}
	return s->cells && s->pending && s->caches.by_key ? 0 : -1;
}

int statistics_init(struct statistics *s, const struct keys *k, struct columns *c,
		    struct dictionary *d)
{
	return statistics_begin(s, k, c, d, 0);
}

int statistics_init_summary(struct statistics *s, const struct keys *k, struct columns *c,
			    struct dictionary *d)
{
	return statistics_begin(s, k, c, d, SUMMARY_CELLS);
}

void statistics_name_stacks(struct statistics *s, bool named)
{
	if (s->stacks)
		s->stacks->nameless = !named;
}

void statistics_set_cell(struct statistics *s, size_t cell, struct key_cell value)
{
	statistics_forget_names(s);
	/* the groups of each interval are others */
	if (cell == CELL_INTERVAL)
		counted_free(s);
	s->cells[s->keys->count + cell] = value;
}

int statistics_pair(struct statistics *s, struct pair *p)
{
	s->pair = p;
	statistics_begin_calls(s);
	if (p->where && keys_state(&p->where->keys) && statistics_follow_states(s))
		return -1;
	p->states = s->states;
	if (s->states)
		s->states->calls = NULL;
	s->clocks.pairs = true;
	p->stacks = s->stacks;
	return pair_begin(p, s->keys, s->dictionary, &s->groups.texts);
}

bool statistics_nameless(const struct statistics *s)
{
	const struct keys *k = s->keys;
	bool events = s->pair && s->pair->preset && s->pair->preset->syscalls;
	bool asked = false;

	for (size_t i = 0; i < k->count; i++)
		asked |= (k->key[i].kind == BY_NAME && !events) || k->key[i].kind == BY_CALLER ||
			 k->key[i].kind == BY_MODULE || k->key[i].kind == BY_STACK;
	for (uint32_t i = 1; asked && !s->nameless && i < s->dictionary->locations.count; i++) {
		const struct location *p = dictionary_location(s->dictionary, i);

		if (p->space && !p->symbol && !p->name.size)
			return true;
	}
	return s->nameless;
}

void statistics_free(struct statistics *s)
{
	groups_free(&s->groups);
	idmap_free(&s->recursion.outermost);
	counted_free(s);
	statistics_free_samples(s);
	calls_free(&s->calls);
	if (s->stacks)
		call_stacks_free(s->stacks);
	free(s->stacks);
	if (s->states)
		states_free(s->states);
	free(s->states);
	if (s->requests)
		flow_sets_free(s->requests);
	free(s->requests);
	free(s->request_row);
	free(s->covered.span);
	free(s->cells);
	free(s->pending);
	free(s->where_cells);
	free(s->caches.by_key);
	free(s->caches.begun);
	free(s->caches.begun_cells);
	free(s->caches.by_location);
	free(s->caches.planned);
}

/* Prepare for the rows of a block. */
static void statistics_begin_block(struct statistics *s, const struct block *b)
{
	if (s->caches.symbol_changes != s->dictionary->symbol_changes)
		statistics_forget_names(s);
	clocks_look(&s->clocks, b);
	s->ticks |= s->clocks.ticks;
	if (b->stacks.sampled)
		statistics_fetch_sums(s, b);
}

int statistics_until(struct statistics *s, const struct block *b, struct events *it, uint64_t end)
{
	statistics_begin_block(s, b);
	for (;;) {
		struct events here = *it;
		struct event e;

		if (!event_next(it, &e))
			return 0;
		if (e.time >= end && end != UINT64_MAX) {
			*it = here;
			return 0;
		}
		statistics_note_time(s, e.time);
		if (s->pair ? statistics_take_pair(s, &e) : statistics_take(s, &e))
			return -1;
	}
}

/* Before the groups are printed: numbers of a key are hexadecimal only if all of them are. */
static void groups_spell_numbers(struct groups *g)
{
	for (size_t key = 0; key < g->keys; key++) {
		bool decimal = false, address = false;

		for (size_t i = 0; i < g->count; i++) {
			uint8_t kind = groups_cells(g, groups_at(g, i))[key].kind;

			decimal |= kind == KEY_UNSIGNED || kind == KEY_SIGNED || kind == KEY_REAL;
			address |= kind == KEY_ADDRESS;
		}
		for (size_t i = 0; decimal && address && i < g->count; i++) {
			struct aggregate *a = groups_at(g, i);
			struct key_cell *cell = (struct key_cell *)((char *)a + g->wanted->size);

			if (cell[key].kind == KEY_ADDRESS)
				cell[key].kind = KEY_UNSIGNED;
		}
	}
}

int statistics_show(struct statistics *s)
{
	if (statistics_add_sums(s))
		return -1;
	if (s->stacks) {
		/* groups may have been merged */
		statistics_forget_names(s);
		if (groups_stacks(&s->groups, s->stacks))
			return -1;
	}
	groups_spell_numbers(&s->groups);
	return s->columns->wanted.whole ? statistics_share(s) : 0;
}

int statistics_reset(struct statistics *s)
{
	statistics_forget_names(s);
	groups_clear(&s->groups);
	counted_free(s);
	s->first = UINT64_MAX;
	s->last = 0;
	return 0;
}

int statistics_widen(struct statistics *s, size_t key)
{
	uint64_t width = s->keys->key[key].width;
	struct groups old;
	int bad = 0;

	statistics_forget_names(s);
	old = groups_take(&s->groups);
	for (size_t i = 0; i < old.count && !bad; i++) {
		struct aggregate *from = groups_at(&old, i), *into;

		memcpy(s->cells, groups_cells(&old, from), s->groups.keys * sizeof(*s->cells));
		s->cells[key].value -= s->cells[key].value % width;
		into = groups_find(&s->groups, s->cells);
		bad = into ? aggregate_merge(into, from, s->groups.wanted) : -1;
	}
	groups_clear(&old);
	return bad;
}

int statistics_block(struct statistics *s, const struct block *b)
{
	struct events it;
	struct event e;
	struct error error;
	enum outcome taken;

	if (cover_next_stream(s))
		return -1;
	if (b->kind != BLOCK_EVENTS)
		return !s->pair		? calls_restore(&s->calls, b, &error)
		       : s->pair->cover ? cover_restore(s->pair, b)
					: 0;
	statistics_begin_block(s, b);
	if (!b->rows)
		return 0;
	s->first = b->base < s->first ? b->base : s->first;
	s->last = b->last > s->last ? b->last : s->last;
	note_strays(s, b);
	events_begin(&it, b);
	while (s->pair && event_next(&it, &e))
		if (statistics_take_pair(s, &e))
			return -1;
	if (s->pair)
		return 0;
	taken = statistics_narrow(s, b, &it);
	if (taken != OUTCOME_NO)
		return taken == OUTCOME_FAILED ? -1 : 0;
	return statistics_take_rows(s, &it);
}

int statistics_close(struct statistics *s)
{
	const struct type *none = pool_at(&s->dictionary->types, 0);
	struct call call;

	if (statistics_add_sums(s) || (s->stacks && call_stacks_catch_up(s->stacks)))
		return -1;
	if (s->pair && s->pair->cover &&
	    (cover_end(s->pair) || statistics_add_covers(s) || cover_end_stream(s)))
		return -1;
	while (calls_finish(&s->calls, &call)) {
		/* with the key type, times are those of leaves; calls of pairs do not count */
		if (!s->pair && !s->keys->by_type && !call_is_unnamed(&call) &&
		    statistics_add_call(s, &call, call.type ? call.type : none, NULL))
			return -1;
	}
	return s->calls.out_of_memory ? -1 : 0;
}

int statistics_finish(struct statistics *s)
{
	if (statistics_close(s))
		return -1;
	return (s->stacks && call_stacks_end(s->stacks)) || statistics_show(s) ? -1 : 0;
}

void statistics_forget_calls(struct statistics *s)
{
	struct calls_counts counts = s->calls.counts;

	calls_free(&s->calls);
	counted_free(s);
	statistics_begin_calls(s);
	s->calls.counts = counts;
	if (s->stacks)
		call_stacks_forget(s->stacks);
}
