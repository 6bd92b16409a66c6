/*
 * stack_profile.c - what a profile is of: calls, the samples of one type, or pairs of events
 * (stack_profile.h); and what these weigh
 */
#include "cmd/trencode/stack_profile.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/convert.h"
#include "cmd/trencode/encode.h"
#include "common/calls/calls.h"
#include "common/cli/program.h"
#include "common/expr/declared.h"
#include "common/pairs/pair.h"
#include "common/stream/field.h"
#include "common/util/intern.h"
#include "common/util/stack_limit.h"
#include "common/util/text.h"

/* Test whether \xHH is at p. */
static bool profile_looks_escaped(const char *p, size_t n)
{
	return n > 3 && p[0] == '\\' && p[1] == 'x' && isxdigit((unsigned char)p[2]) &&
	       isxdigit((unsigned char)p[3]);
}

/* Append the text and a NUL. Control characters, bytes that are no UTF-8, and the backslash of an
 * \xHH become \xHH, so different names remain different. */
static int profile_put_text(struct buffer *to, struct text_ref text)
{
	const char *p = text.text;

	for (size_t n = text.size, size; n; p += size, n -= size) {
		size = utf8_length(p, n);
		if (!size || (unsigned char)*p < 0x20 || *p == 0x7f ||
		    profile_looks_escaped(p, n)) {
			size = 1;
			if (buffer_printf(to, "\\x%02x", (unsigned char)*p))
				return -1;
		} else if (buffer_append(to, p, size)) {
			return -1;
		}
	}
	return buffer_u8(to, 0);
}

int profile_name_key(struct buffer *to, const struct location *p, struct text_ref name)
{
	const struct location_symbol *s = p ? p->symbol : NULL;
	struct text_ref none = {"", 0, 0};

	return buffer_u32(to, s ? s->line : 0) || profile_put_text(to, name) ||
			       profile_put_text(to, s ? s->module : none) ||
			       profile_put_text(to, s ? s->file : none)
		       ? -1
		       : 0;
}

struct profile_name profile_name_of(const struct intern *names, uint32_t number)
{
	return profile_name_at(intern_data(names, number));
}

struct profile_name profile_name_at(const char *data)
{
	struct profile_name n = {.line = get_u32(data), .name = data + 4};

	n.module = n.name + strlen(n.name) + 1;
	n.file = n.module + strlen(n.module) + 1;
	return n;
}

/* Test whether --weight is that. */
static bool weighs(const struct stack_profile *s, const char *what)
{
	return s->samples.weight && !strcmp(s->samples.weight, what);
}

/* --- pair profile --- */

/* The cells of the keys. */
enum { CELL_COMM, CELL_STACK, CELL_WAKER, CELL_WAKER_STACK };

/* Begin; the text was parsed before. */
static int pair_profile_init(struct stack_profile *s, struct dictionary *d)
{
	struct pair_profile *p = s->pairs = calloc(1, sizeof *p);
	struct error e;

	if (!p)
		return -1;
	key_texts_init(&p->texts);
	if (call_stacks_init(&p->stacks, s->calls, s->stacks.key) ||
	    pair_parse(&p->pair, s->samples.pair, &e) ||
	    keys_parse(&p->keys,
		       p->pair.preset && p->pair.preset->waker ? "comm,stack,w.comm,w.stack"
							       : "comm,stack",
		       &e) ||
	    pair_keys(&p->pair, &p->keys, &e))
		return -1;
	p->pair.stacks = &p->stacks;
	return pair_begin(&p->pair, &p->keys, d, &p->texts);
}

static void pair_profile_free(struct pair_profile *p)
{
	pair_free(&p->pair);
	keys_free(&p->keys);
	key_texts_free(&p->texts);
	call_stacks_free(&p->stacks);
	free(p->names);
	free(p);
}

/* Add the frame of a node of p->stacks to *node of the profile's stacks. */
static int stack_profile_add_frame(struct stack_profile *s, uint32_t from, uint32_t *node)
{
	struct pair_profile *p = s->pairs;
	uint32_t name = p->stacks.tree.nodes[from].name;
	const struct intern *all = &p->stacks.names;

	if (ARRAY_REACH(p->names, p->nnames, name))
		return -1;
	if (!p->names[name]) {
		uint32_t added =
			intern(&s->stacks.names, intern_data(all, name), intern_size(all, name));

		if (added == INTERN_NONE)
			return -1;
		p->names[name] = added + 1;
	}
	*node = stack_tree_child(&s->stacks.tree, *node, p->names[name] - 1);
	return *node ? 0 : -1;
}

/* Add the frames of a stack, the outermost one first. */
static int stack_profile_add_stack(struct stack_profile *s, const struct key_cell *cell,
				   uint32_t *node)
{
	struct pair_profile *p = s->pairs;
	const struct stack_node *nodes = p->stacks.tree.nodes;
	struct buffer *path = &p->stacks.recorded.frames;
	uint32_t from = cell->kind == KEY_STACK ? (uint32_t)cell->value : STACK_ROOT;

	for (path->size = 0; from != STACK_ROOT; from = nodes[from].parent)
		if (buffer_u32(path, from))
			return -1;
	for (size_t i = path->size; i; i -= 4)
		if (stack_profile_add_frame(s, get_u32(path->data + i - 4), node))
			return -1;
	return 0;
}

static int add_thread(struct stack_profile *s, const struct key_cell *cell, uint32_t *node)
{
	const struct intern *texts = &s->pairs->texts.intern;
	struct text_ref comm = {"", 0, 0};

	if (cell->kind != KEY_TEXT)
		return 0;
	comm.text = intern_data(texts, cell->text);
	comm.size = intern_size(texts, cell->text);
	return call_stacks_named(&s->stacks, *node, comm, node);
}

/* Add the waker, whose frames are in the order from the one that wakes to its thread. */
static int add_waker(struct stack_profile *s, const struct key_cell *cells, uint32_t *node)
{
	const struct stack_node *nodes = s->pairs->stacks.tree.nodes;
	const struct key_cell *cell = &cells[CELL_WAKER_STACK];
	uint32_t from = cell->kind == KEY_STACK ? (uint32_t)cell->value : STACK_ROOT;

	if (call_stacks_named(&s->stacks, *node, (struct text_ref){"--", 2, 0}, node))
		return -1;
	for (; from != STACK_ROOT; from = nodes[from].parent)
		if (stack_profile_add_frame(s, from, node))
			return -1;
	return add_thread(s, &cells[CELL_WAKER], node);
}

/* Take an event, and add a pair that the event ends to the stacks. */
static int pair_profile_event(struct stack_profile *s, const struct event *ev)
{
	struct pair_profile *p = s->pairs;
	struct key_cell cells[PAIR_PROFILE_CELLS] = {0};
	uint32_t node = STACK_ROOT;
	struct event_ref subject;
	struct pair_end end;
	enum outcome got;

	if (!kind_is_event(ev->type->kind))
		return 0;
	got = pair_feed(&p->pair, ev, &end);
	if (got != OUTCOME_YES)
		return got == OUTCOME_FAILED ? -1 : 0;
	if (pair_event_ref(&p->pair, ev, &subject))
		return -1;
	subject.entered = end.entered;
	if (keys_cells(&p->keys, p->pair.dictionary, &p->texts, &subject, cells) ||
	    (s->samples.by_comm && add_thread(s, &cells[CELL_COMM], &node)) ||
	    stack_profile_add_stack(s, &cells[CELL_STACK], &node))
		return -1;
	if (s->samples.by_comm &&
	    (cells[CELL_WAKER].kind != KEY_MISSING ||
	     cells[CELL_WAKER_STACK].kind != KEY_MISSING) &&
	    add_waker(s, cells, &node))
		return -1;
	p->stackless += node == STACK_ROOT;
	if (node != STACK_ROOT)
		stack_tree_call(&s->stacks.tree, node, weighs(s, "count") ? 1 : end.time, 0);
	return 0;
}

/* Check the names in the pair, after the last event; partial: declarations may be missing. Returns
 * 0, or -1 with *e filled. */
static int pair_profile_check(const struct pair_profile *p, bool partial, bool quiet,
			      struct error *e)
{
	struct intern warned = {0};
	struct declared check = {.dictionary = p->pair.dictionary,
				 .warned = &warned,
				 .partial = partial,
				 .quiet = quiet};
	int bad = pair_check_names(&check, &p->pair, e);

	intern_free(&warned);
	return bad;
}

/* --- sample profile --- */

static bool weighs_field(const struct stack_profile *s)
{
	return s->samples.weight && !weighs(s, "dur") && !weighs(s, "count") &&
	       !weighs(s, "period");
}

/* Test whether calls are counted; the first event of a call makes them the subject. */
static bool sample_profile_calls(struct stack_profile *s)
{
	bool undecided =
		s->samples.subject == SUBJECT_UNKNOWN || s->samples.subject == SUBJECT_STACKS;

	if (undecided && !weighs_field(s) && !weighs(s, "period"))
		s->samples.subject = SUBJECT_CALLS;
	s->samples.calls += s->samples.subject != SUBJECT_CALLS;
	return s->samples.subject == SUBJECT_CALLS;
}

bool sample_profile_same_type(const struct type *a, const struct type *b)
{
	return a == b || (a->name.number == b->name.number && !a->total == !b->total &&
			  (a->flags & TYPE_WEIGHT_TIME) == (b->flags & TYPE_WEIGHT_TIME));
}

/* Get the weight of a sample. false: it has none. */
static bool weight_of(struct stack_profile *s, const struct event *ev, int128 *weight)
{
	bool field = weighs_field(s);
	struct field_value v;

	*weight = type_weight_is_signed(ev->type) ? (int64_t)sample_weight(ev)
						  : (int128)sample_weight(ev);
	if (weighs(s, "count"))
		*weight = 1;
	if (!field && !weighs(s, "count"))
		return true;
	if (s->samples.fields != ev->type)
		s->samples.field = field ? field_find(ev->type, s->samples.weight)
					 : field_by_role(ev->type, ROLE_COUNT);
	s->samples.fields = ev->type;
	if (!s->samples.field)
		return !field;
	field_get(ev, s->samples.field, 0, &v);
	if (v.form != FORM_UINT && v.form != FORM_INT)
		return !field;
	*weight = v.form == FORM_INT ? v.i : (int128)v.u;
	return true;
}

/* Get the node of the thread of a sample, mostly that of the last one. Returns 0, or -1 when out of
 * memory. */
static int sample_root(struct stack_profile *s, const struct lane *lane)
{
	if (!s->samples.by_comm || (s->samples.rooted && s->samples.comm == lane->comm.number))
		return 0;
	s->samples.rooted = true;
	s->samples.comm = lane->comm.number;
	return call_stacks_named(&s->stacks, STACK_ROOT, lane->comm, &s->samples.root);
}

/* Forget the samples of all types but the first. */
static void drop_typed(struct stack_profile *s)
{
	for (size_t i = 0; i < s->samples.ntyped; i++) {
		s->samples.samples += s->samples.typed[i].samples;
		idmap_free(&s->samples.typed[i].numbers);
		free(s->samples.typed[i].sums);
	}
	s->samples.ntyped = 0;
}

/* Choose the subject, if the event may be it. */
static void choose_subject(struct stack_profile *s, const struct event *ev)
{
	bool sample = ev->type->kind == KIND_SAMPLE;

	if (weighs(s, "dur") || (s->samples.subject != SUBJECT_UNKNOWN &&
				 !(sample && s->samples.subject == SUBJECT_STACKS)))
		return;
	drop_typed(s);
	s->samples.subject = sample ? SUBJECT_SAMPLES : SUBJECT_STACKS;
	s->samples.type = ev->type;
}

/* Get the samples of a type; NULL: out of memory. */
static struct typed_samples *typed_of(struct stack_profile *s, const struct type *type)
{
	for (size_t i = 0; i < s->samples.ntyped; i++)
		if (sample_profile_same_type(s->samples.typed[i].type, type))
			return &s->samples.typed[i];
	if (ARRAY_GROW(s->samples.typed, s->samples.typed_capacity, s->samples.ntyped))
		return NULL;
	s->samples.typed[s->samples.ntyped] = (struct typed_samples){.type = type};
	return &s->samples.typed[s->samples.ntyped++];
}

/* What a sample adds to its stack. */
struct sample_share {
	int128 weight, total; /* total: of a sum of calls, else 0 */
	uint64_t calls;	      /* of a sum of calls, else 1 */
};

static struct sample_share sample_share_of(const struct stack_profile *s, const struct event *ev,
					   int128 weight)
{
	struct sample_share share = {weight, 0, 1};

	if (!ev->type->total)
		return share;
	share.calls = sample_calls(ev);
	share.total = weight;
	if (!s->samples.weight || weighs(s, "period"))
		share.total = type_weight_is_signed(ev->type) ? (int64_t)sample_total(ev)
							      : (int128)sample_total(ev);
	return share;
}

/* Add a sample of a type that is not the first. */
static int add_typed(struct stack_profile *s, const struct type *type, uint32_t node,
		     struct sample_share share)
{
	struct typed_samples *t = typed_of(s, type);
	uint32_t number = t ? idmap_get(&t->numbers, node) : 0;

	if (!t)
		return -1;
	if (!number) {
		if (t->count == UINT32_MAX || ARRAY_GROW(t->sums, t->capacity, t->count))
			return -1;
		number = (uint32_t)t->count + 1;
		if (idmap_set(&t->numbers, node, number))
			return -1;
		t->sums[t->count].node = node;
		t->sums[t->count].weight = t->sums[t->count].total = 0;
		t->sums[t->count++].samples = 0;
	}
	t->samples++;
	t->sums[number - 1].samples += share.calls;
	t->sums[number - 1].weight += share.weight;
	t->sums[number - 1].total += share.total;
	return 0;
}

/* Add a sample, or an instant, at a stack, to the tree. Returns 0, or -1 when out of memory. */
static int sample_profile_add(struct stack_profile *s, const struct event *ev, uint32_t stack)
{
	enum profile_subject subject =
		ev->type->kind == KIND_SAMPLE ? SUBJECT_SAMPLES : SUBJECT_STACKS;
	struct sample_share share;
	uint32_t node;
	int128 weight;

	choose_subject(s, ev);
	if (s->samples.subject != subject) {
		s->samples.samples++;
		return 0;
	}
	if (!weight_of(s, ev, &weight)) {
		s->samples.weightless++;
		return 0;
	}
	if (sample_root(s, ev->lane) ||
	    call_stacks_recorded(&s->stacks, s->samples.root, stack, &node))
		return -1;
	/* without a stack and the frame of a thread, a sample is a function of its type, as in
	 * trstat */
	if (node == STACK_ROOT && call_stacks_named(&s->stacks, STACK_ROOT, ev->type->name, &node))
		return -1;
	if (node == STACK_ROOT)
		return 0;
	share = sample_share_of(s, ev, weight);
	if (subject == SUBJECT_STACKS || !sample_profile_same_type(s->samples.type, ev->type))
		return add_typed(s, ev->type, node, share);
	s->samples.first++;
	s->stacks.tree.nodes[node].calls += share.calls;
	stack_tree_add(&s->stacks.tree, node, share.weight);
	add_saturated(&s->stacks.tree.nodes[node].total, saturated_u64(share.total));
	return 0;
}

/* Put the type with the most samples into the tree. */
static void stack_profile_choose_type(struct stack_profile *s)
{
	struct stack_tree *t = &s->stacks.tree;
	struct typed_samples *most = NULL;

	for (size_t i = 0; i < s->samples.ntyped; i++)
		if (s->samples.typed[i].samples > (most ? most->samples : s->samples.first))
			most = &s->samples.typed[i];
	if (most) {
		for (size_t i = 1; i < t->count; i++) {
			t->nodes[i].self = 0;
			t->nodes[i].calls = t->nodes[i].total = 0;
		}
		for (size_t i = 0; i < most->count; i++) {
			t->nodes[most->sums[i].node].self = most->sums[i].weight;
			t->nodes[most->sums[i].node].calls = most->sums[i].samples;
			t->nodes[most->sums[i].node].total = saturated_u64(most->sums[i].total);
		}
		s->samples.samples += s->samples.first;
		s->samples.type = most->type;
		most->samples = 0;
	}
	if (weighs_field(s))
		s->samples.field = field_find(s->samples.type, s->samples.weight);
	drop_typed(s);
}

/* Choose the type of the samples, and set the totals of all nodes, and what calls weigh, after the
 * last event. */
static void sample_profile_finish(struct stack_profile *s)
{
	struct stack_tree *t = &s->stacks.tree;
	bool several = s->samples.ntyped;

	if (s->samples.subject == SUBJECT_STACKS)
		s->samples.subject = SUBJECT_SAMPLES;
	if (s->samples.subject == SUBJECT_SAMPLES)
		stack_profile_choose_type(s);
	if (s->samples.subject == SUBJECT_CALLS) {
		for (size_t i = 1; weighs(s, "count") && i < t->count; i++)
			t->nodes[i].self = t->nodes[i].calls;
		return;
	}
	t->sums = s->samples.subject == SUBJECT_SAMPLES && s->samples.type->total;
	/* a caller's number is below those of its callees, as nodes of samples are never joined */
	for (size_t i = t->count; i-- > 1;) {
		struct stack_node *n = &t->nodes[i];

		if (n->parent == STACK_LOOSE)
			continue;
		if (n->self < 0 && !s->samples.is_signed) {
			s->samples.negative++;
			n->self = 0;
			n->calls = 0;
		}
		if (t->sums)
			continue;
		add_saturated(&n->total, saturated_u64(n->self));
		if (n->parent != STACK_ROOT)
			add_saturated(&t->nodes[n->parent].total, n->total);
	}
	if (several)
		stack_tree_prune(t);
}

const char *sample_profile_type(const struct stack_profile *s, const char **unit)
{
	if (s->samples.subject != SUBJECT_SAMPLES && s->samples.subject != SUBJECT_PAIRS)
		return NULL;
	*unit = "count";
	if (weighs(s, "count"))
		return s->samples.pair ? "pairs" : "samples";
	if (s->samples.pair) {
		*unit = s->samples.ticks ? "count" : "nanoseconds";
		return s->samples.pair;
	}
	if (weighs_field(s))
		return s->samples.weight;
	if (s->samples.type->flags & TYPE_WEIGHT_TIME)
		*unit = "nanoseconds";
	return s->samples.type->name.text;
}

/* Check --weight against what the trace has. Returns 0, or -1 with *e filled. */
static int sample_profile_check(const struct stack_profile *s, struct error *e)
{
	if (s->samples.pair && s->samples.weight && !weighs(s, "dur") && !weighs(s, "count"))
		return error_set(e, NULL, NO_OFFSET, "--weight of pairs is dur or count, not '%s'",
				 s->samples.weight);
	if (s->samples.subject == SUBJECT_UNKNOWN && s->samples.calls)
		return error_set(e, NULL, NO_OFFSET,
				 "--weight %s: the trace has calls, which weigh dur or count",
				 s->samples.weight);
	if (s->samples.subject == SUBJECT_UNKNOWN && s->samples.samples)
		return error_set(e, NULL, NO_OFFSET,
				 "--weight dur: the trace has samples, which weigh period, count "
				 "or a field");
	if (s->samples.subject == SUBJECT_SAMPLES && s->samples.weight && weighs_field(s) &&
	    !s->samples.field)
		return error_set(e, NULL, NO_OFFSET, "--weight: '%s' has no field '%s'",
				 s->samples.type->name.text, s->samples.weight);
	return 0;
}

static void sample_profile_report(const struct stack_profile *s)
{
	if (s->samples.subject == SUBJECT_SAMPLES && s->samples.samples)
		remark(NULL,
		       "the profile is of the samples of '%s', the most frequent type: choose "
		       "others with trfilter 'type == ...'",
		       s->samples.type->name.text);
	remark_count(s->samples.samples,
		     s->samples.subject == SUBJECT_CALLS
			     ? "{sample|samples} left out: the profile is of calls"
			     : "{sample|samples} of other types left out");
	remark_count(s->samples.calls, "{row|rows} of calls left out: the profile is of samples");
	remark_count(
		s->samples.negative,
		"{stack|stacks} with a negative weight left out: -t folded and -t pprof hold them");
	remark_count(s->samples.weightless,
		     "{sample|samples} without the field of --weight left out");
}

int other_events_add(struct other_events *o, const struct type *type)
{
	enum { MOST = 5 };

	o->count++;
	if (type == o->last || o->types.count > MOST)
		return 0;
	o->last = type;
	return intern(&o->types, type->name.text, type->name.size) == INTERN_NONE ? -1 : 0;
}

void other_events_report_empty(const struct other_events *o)
{
	char names[256];
	size_t at = 0;

	if (!o->count)
		return;
	for (uint32_t i = 0; i < o->types.count && i < 5 && at < sizeof names; i++)
		at += (size_t)snprintf(names + at, sizeof names - at, "%s%.*s", i ? ", " : "",
				       (int)intern_size(&o->types, i), intern_data(&o->types, i));
	remark(NULL,
	       "nothing to show: the trace has no calls and no samples, only other events (%s%s); "
	       "--pair shows the times between two of them",
	       names, o->types.count > 5 ? ", ..." : "");
}

/* --- stack profile --- */

/* Count a call that ended; node STACK_ROOT: its stack is unknown, and it is not counted. */
static void profile_add(struct stack_profile *s, uint32_t node, const struct call *c)
{
	if (node == STACK_ROOT)
		return;
	stack_tree_call(&s->stacks.tree, node, c->self, c->total);
}

/* Count a call that ended without a leave. Its time is its own, not its caller's. */
static void profile_lose(void *ctx, struct stack *stack, const struct frame *f, void *data,
			 enum calls_lost why)
{
	struct stack_profile *s = ctx;
	uint64_t last = s->calls->stacks[stack->number]->last;
	uint64_t total = last > f->start ? last - f->start : 0;
	bool numbered = why == LOST_NUMBER;
	uint32_t node;

	(void)data;
	s->cut++;
	if (s->drop)
		return;
	if (numbered && call_stacks_alone(&s->stacks, f->location, 0, &node)) {
		s->calls->out_of_memory = true;
		return;
	}
	if (!numbered)
		node = call_stacks_lost(&s->stacks, stack);
	if (node == STACK_ROOT)
		return;
	stack_tree_call(&s->stacks.tree, node, f->child < total ? total - f->child : 0, total);
	if (!numbered)
		calls_charge_lost(s->calls, stack, total);
}

/* --- events --- */

static int profile_take_event(struct stack_profile *s, const struct event *ev)
{
	struct call call;
	uint32_t node, stack;
	int r = 0;

	if (s->pairs)
		return pair_profile_event(s, ev);
	stack = event_stack(s->calls->dictionary, ev);
	if (ev->type->kind == KIND_SAMPLE ||
	    (stack && ev->type->kind == KIND_INSTANT && s->samples.subject != SUBJECT_CALLS &&
	     s->samples.subject != SUBJECT_SAMPLES))
		return sample_profile_add(s, ev, stack);
	if ((ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE) &&
	    !sample_profile_calls(s))
		return 0;
	switch (calls_next(s->calls, ev, &call)) {
	case CALLS_ENTER: r = call_stacks_enter(&s->stacks, ev); break;
	case CALLS_LEAVE:
		r = call_stacks_leave(&s->stacks, ev, &call, &node);
		if (!r)
			profile_add(s, node, &call);
		break;
	default: r = s->calls->out_of_memory ? -1 : 0;
	}
	if (ev->type->kind == KIND_GAP)
		s->gaps++;
	else if (kind_is_instant(ev->type->kind))
		r = r || other_events_add(&s->others, ev->type) ? -1 : 0;
	else if (ev->tail_size)
		s->values++;
	return r;
}

/* Find the names of a block's locations, where they were used. */
static int profile_plan(struct stack_profile *s, const struct block *b)
{
	uint32_t *planned;

	if (b->nlocations >= s->nplanned) {
		/* index 0 is not a location, and not counted */
		planned = realloc(s->planned, (b->nlocations + (size_t)1) * sizeof(*planned));
		if (!planned)
			return -1;
		s->planned = planned;
		s->nplanned = b->nlocations + (size_t)1;
	}
	for (uint32_t i = 0; i <= b->nlocations; i++) {
		uint32_t location = b->locations[i], name;

		s->planned[i] = 0;
		/* names are numbered as they are used */
		if (location >= s->stacks.nnames || !s->stacks.name[location])
			continue;
		if (call_stacks_name(&s->stacks, location, &name))
			return -1;
		s->planned[i] = name + 1;
	}
	return 0;
}

/* Threads of one block by lane. */
struct profile_lanes {
	struct call_stacks_thread *threads[256];
	const struct call_stacks_thread *base; /* s->stacks.threads when they were looked up */
};

static int profile_find_lanes(struct stack_profile *s, const struct block *b,
			      struct profile_lanes *l)
{
	do {
		l->base = s->stacks.threads;
		for (uint32_t i = 0; i < b->nlanes && i < 256; i++) {
			l->threads[i] = call_stacks_thread(&s->stacks, b->lanes[i]->thread);
			if (!l->threads[i])
				return -1;
		}
	} while (l->base != s->stacks.threads);
	return 0;
}

static int profile_slow_row(struct stack_profile *s, const struct events *it, const uint8_t *row,
			    struct profile_lanes *l)
{
	struct events one = *it;
	struct event ev;

	one.row = row;
	event_next(&one, &ev);
	if (profile_take_event(s, &ev))
		return -1;
	return l->base == s->stacks.threads ? 0 : profile_find_lanes(s, it->block, l);
}

/* Test whether a block has rows of calls with numbers. */
static bool profile_any_numbered(const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++)
		if (b->types[i]->flags & TYPE_CALL_NUMBER)
			return true;
	return false;
}

static bool row_has_tail(const struct type *t, const uint8_t *row)
{
	return t->flags & TYPE_TAIL && get_u32(row + NARROW_ROW + t->fixed_size);
}

/*
 * Count calls with numbers whose leave directly follows the enter, as many as follow from here.
 * Returns the first row after them; NULL: out of memory. Without this 'trdecode | trencode -t
 * folded' of t/bench/apitrace.sh's trace takes 1.63 times the instructions.
 */
static __attribute__((noinline)) const uint8_t *profile_numbered(struct stack_profile *s,
								 const struct calls_rows *cr,
								 const struct events *at,
								 const uint8_t *row)
{
	struct events it = *at;

	for (it.row = row; it.row < it.end; row = it.row) {
		struct plain_row e = plain_row(&it, row), l;
		const uint8_t *next;
		uint32_t node;
		uint64_t total;

		event_skip(&it, e.type);
		next = it.row;
		if (next == it.end)
			break;
		l = plain_row(&it, next);
		if (!l.location || !calls_try_numbered(s->calls, cr, row, &e, next, &l))
			break;
		if (call_stacks_alone(&s->stacks, it.locations[l.location], 0, &node))
			return NULL;
		total = l.time > e.time ? l.time - e.time : 0;
		stack_tree_call(&s->stacks.tree, node, total, total);
		s->values += row_has_tail(it.types[e.type], row);
		s->values += row_has_tail(it.types[l.type], next);
		event_skip(&it, l.type);
	}
	return row;
}

/* Take the rows of a block. Nearly all are the enter or the leave of the call on top, or of a call
 * with a number. */
static inline __attribute__((always_inline)) int
profile_rows(struct stack_profile *s, const struct events *it, const struct calls_rows *cr,
	     bool bare, bool numbered, unsigned how)
{
	const uint8_t *next = it->row;
	struct profile_lanes l;

	if (profile_find_lanes(s, it->block, &l))
		return -1;
	while (next < it->end) {
		const uint8_t *row = next;
		struct plain_row r = plain_row(it, row);
		struct call_stacks_thread *th = l.threads[r.lane];
		uint32_t name = s->planned[r.location];
		enum calls_result got;
		struct call call;

		if (numbered) {
			next = profile_numbered(s, cr, it, row);
			if (!next)
				return -1;
			if (next != row)
				continue;
		}
		next = bare ? row + NARROW_ROW : row_after(it->types[r.type], row);
		got = name && th->started ? calls_quick_row(s->calls, cr, &r, &call, how)
					  : CALLS_SLOW;
		if (got == CALLS_LEAVE) {
			stack_tree_call(&s->stacks.tree, th->node[call.level], call.self,
					call.total);
		} else if (got == CALLS_ENTER) {
			if (call_stacks_push(&s->stacks, th, call.level, name - 1))
				return -1;
		} else {
			if (profile_slow_row(s, it, row, &l))
				return -1;
			continue;
		}
		if (!bare)
			s->values += row_has_tail(it->types[r.type], row);
	}
	return 0;
}

/* Without this 'trdecode | trsym | trencode -t folded' of t/bench/uftrace.sh takes 2.3 times the
 * instructions. */
static int profile_narrow(struct stack_profile *s, const struct block *b)
{
	bool numbered = profile_any_numbered(b);
	struct calls_rows cr;
	struct events it;

	events_begin(&it, b);
	if (calls_rows(s->calls, b, &cr) || profile_plan(s, b))
		return -1;
	/* the stacks of CPUs are not those of the lanes' threads */
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++)
		if (cr.types[i].stack)
			cr.types[i].kind = 0;
	if (cr.careful || numbered)
		return profile_rows(s, &it, &cr, false, numbered, CALLS_CAREFUL);
	return it.bare ? profile_rows(s, &it, &cr, true, false, 0)
		       : profile_rows(s, &it, &cr, false, false, 0);
}

int stack_profile_block(struct stack_profile *s, const struct block *b)
{
	struct events it;
	struct event ev;

	if (!s->seen && b->nlanes) {
		s->seen = true;
		s->ticks = b->lanes[0]->clock && b->lanes[0]->clock->flags & CLOCK_TICKS;
	}
	if (!(b->row_flags & EVENTS_WIDE) && !s->ticking && !b->stacks.sampled &&
	    s->samples.subject == SUBJECT_CALLS)
		return profile_narrow(s, b);
	if (b->stacks.sampled)
		call_stacks_fetch_recorded(&s->stacks, b);
	events_begin(&it, b);
	while (event_next(&it, &ev)) {
		ev.time = tick_time(ev.lane, ev.time);
		if (profile_take_event(s, &ev))
			return -1;
	}
	return 0;
}

/* --- the run --- */

int stack_profile_init(struct stack_profile *s, struct encoding *en, call_stacks_key *key)
{
	const struct encode_options *options = en->options;

	*s = (struct stack_profile){.drop = options->flags & ENCODE_DROP,
				    .ticking = options->tick > 0,
				    .samples.weight = options->weight};
	s->calls = en->calls;
	s->calls->on_lost = profile_lose;
	s->calls->on_lost_ctx = s;
	if (call_stacks_init(&s->stacks, s->calls, key))
		return -1;
	call_stacks_follow(&s->stacks, s->calls);
	if (!options->pair)
		return 0;
	s->samples.pair = options->pair;
	s->samples.subject = SUBJECT_PAIRS;
	return pair_profile_init(s, en->dictionary);
}

void stack_profile_free(struct stack_profile *s)
{
	free(s->planned);
	intern_free(&s->others.types);
	drop_typed(s);
	free(s->samples.typed);
	if (s->pairs)
		pair_profile_free(s->pairs);
	call_stacks_free(&s->stacks);
}

static int stack_profile_end_calls(struct stack_profile *s)
{
	struct call done;
	uint32_t node;

	if (call_stacks_catch_up(&s->stacks))
		return -1;
	while (calls_finish(s->calls, &done)) {
		if (s->drop || call_is_unnamed(&done))
			continue;
		if (call_stacks_finish(&s->stacks, &done, &node))
			return -1;
		profile_add(s, node, &done);
	}
	return call_stacks_end(&s->stacks) || s->calls->out_of_memory ? -1 : 0;
}

int stack_profile_finish(struct stack_profile *s, struct error *e)
{
	if (stack_profile_end_calls(s))
		return error_no_memory(e);
	s->samples.ticks = s->ticks && !s->ticking;
	if (s->pairs &&
	    pair_check_clocks(&s->pairs->pair, s->ticks, s->seen && !s->ticks && !s->ticking, e))
		return -1;
	sample_profile_finish(s);
	return sample_profile_check(s, e);
}

int stack_profile_check(struct encoding *en, bool partial, struct error *e)
{
	const struct stack_profile *s = en->state;

	return s->pairs ? pair_profile_check(s->pairs, partial || en->early,
					     en->options->flags & ENCODE_QUIET, e)
			: 0;
}

/* Report the stacks whose sums are beyond the least or the largest number of a format. Formats
 * without negative numbers have the totals too, up to that of all stacks. */
static void report_clipped(const struct stack_profile *s, const char *format, uint64_t most)
{
	const struct stack_tree *t = &s->stacks.tree;
	bool totals = !s->samples.is_signed;
	uint64_t above = 0, below = 0;
	int128 whole = 0;

	for (size_t i = 1; i < t->count; i++) {
		const struct stack_node *n = &t->nodes[i];

		if (n->parent == STACK_LOOSE)
			continue;
		above += n->self > most || (totals && n->total == UINT64_MAX);
		below += n->self < INT64_MIN;
		whole += n->self;
	}
	above += totals && whole > UINT64_MAX;
	remark_count(above,
		     "{sum of a stack was|sums of stacks were} clipped to %" PRIu64
		     ": %s no larger numbers",
		     most, format);
	remark_count(below,
		     "{sum of a stack was|sums of stacks were} clipped to %" PRId64
		     ": %s no smaller numbers",
		     INT64_MIN, format);
}

void stack_profile_report(const struct encoding *en, const struct stack_profile *s,
			  const char *format, uint64_t most)
{
	if (!s->stacks.tree.live && !s->pairs)
		other_events_report_empty(&s->others);
	if (en->options->flags & ENCODE_QUIET)
		return;
	if (s->stacks.unnamed)
		remark(NULL,
		       "some functions have an address but no name: run trsym before this program");
	if (s->pairs) {
		pair_report(&s->pairs->pair, false);
		remark_count(s->pairs->stackless, "{pair|pairs} without a stack left out");
	}
	convert_report_calls(&s->calls->counts, s->cut, s->drop, false);
	sample_profile_report(s);
	remark_count(s->stacks.deep, STACK_DEEP);
	report_clipped(s, format, most);
	remark_count(s->others.count, "other {event|events} left out: %s calls and samples only",
		     format);
	remark_count(s->values, "{call|calls} without {its|their} arguments: %s no arguments",
		     format);
	remark_count(s->gaps, "{gap|gaps}, around which stacks may be wrong");
}
