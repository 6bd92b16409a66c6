/*
 * statistics_samples.c - count samples
 *
 * A sample counts as one call of each function on its stack. The total of these calls is the
 * sample's weight; the self value is the weight too in the innermost function, else 0. So all keys,
 * columns and views of calls have one meaning for both. Where the keys depend on no frame, a sample
 * counts once, with --where if one of its frames is selected.
 */
#include <stdlib.h>

#include "cmd/trstat/groups/statistics_private.h"

/* --- functions --- */

/* Forget the functions after symbols changed. */
static void begin_functions(struct sample_counts *c, const struct dictionary *d)
{
	if (c->symbol_changes != d->symbol_changes && c->nfunctions)
		memset(c->functions, 0, c->nfunctions * sizeof(*c->functions));
	c->symbol_changes = d->symbol_changes;
}

/* Append what a key has of a location, which decides the row together with the other keys. */
static int append_cell(struct statistics *s, size_t key, uint32_t location, struct buffer *b)
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
static uint32_t function_of(struct statistics *s, uint32_t location)
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
			bad |= append_cell(s, i, location, &key);
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
	struct seen_function *seen;

	if (ARRAY_REACH(c->seen, c->nseen, function))
		return 0;
	seen = c->seen;
	seen += function;
	if (seen->serial != c->serial)
		*seen = (struct seen_function){c->serial, stack};
	return seen->first;
}

/* --- frames --- */

/* Add the total and a self value of a sample. */
static int add_weight(const struct statistics *s, struct aggregate *a,
		      const struct event_ref *subject, uint64_t self, bool recursive)
{
	const struct columns_wanted *w = &s->columns->wanted;

	if (type_weight_is_signed(subject->type))
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
	return w->field_count ? statistics_add_fields(s, a, subject->event, subject->lane, false,
						      &(struct statistics_times){
							      true, false, subject->total,
							      subject->self, subject->location})
			      : 0;
}

/* Put the stacks of a stack's frames, innermost first, in c->frames. Returns their number; 0: out
 * of memory. */
static size_t take_frames(struct statistics *s, uint32_t stack)
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
	size_t n = take_frames(s, innermost);

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
static int add_frames(struct statistics *s, struct event_ref *subject, uint32_t innermost)
{
	size_t n = take_frames(s, innermost);

	if (!n)
		return -1;
	begin_functions(&s->samples, s->dictionary);
	s->samples.serial++;
	for (size_t i = n; i-- > 0;) {
		uint32_t stack = set_frame(s, subject, n, i), function, first;

		function = function_of(s, subject->location);
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

int statistics_learn_frames(struct statistics *s, uint32_t stack)
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
		uint32_t function = function_of(s, dictionary_stack_location(s->dictionary, at));

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

static bool is_by_type(const struct keys *k)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->key[i].kind == BY_TYPE)
			return true;
	return false;
}

int statistics_note_samples(struct statistics *s, const char *type)
{
	struct sample_counts *c = &s->samples;

	if (!c->type) {
		c->typed = is_by_type(s->keys);
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
	if (!s->samples.other)
		return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "samples of '%.100s' and of '%.100s': weights of different types are not "
			 "added; add type to -g, or choose a type with trfilter 'type == ...'",
			 s->samples.type, s->samples.other);
}

int statistics_take_sample(struct statistics *s, const struct event *e)
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
	if (!(s->keys->needs & NEEDS_FRAME))
		return add_selected(s, &subject, stack);
	if ((s->keys->needs | tested) & (NEEDS_CALLER | NEEDS_LEVEL | NEEDS_STACK))
		return add_frames(s, &subject, stack);
	got = statistics_sum_sample(s, &subject, stack);
	if (got != OUTCOME_NO)
		return got == OUTCOME_FAILED ? -1 : 0;
	return add_functions(s, &subject, stack);
}

void statistics_free_samples(struct statistics *s)
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
