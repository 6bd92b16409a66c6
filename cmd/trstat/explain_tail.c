/*
 * explain_tail.c - --explain-tail EXPR: what is different about the slow calls
 *
 *      slow    rest  risk ratio  95 % interval        p  difference
 *     97.0%  0.121%        4310    2800 - 6630  < 1e-99  child fsync
 *
 * One pass keeps a sample of the calls, in constant memory; the end of the trace shows which of
 * them are slow, and what differs between these and the rest is tested.
 *
 * The sample. A call has a hash of its thread and its times, and is kept while fewer than
 * SAMPLE_CALLS calls that are slower than it have a smaller hash:
 *
 *     duration   hash      with SAMPLE_CALLS 2
 *        9 ms     70       kept: no slower call
 *        8 ms     20       kept: one slower call, whose hash is larger
 *        5 ms     30       kept: one slower call has a smaller hash
 *        4 ms     90       left out: the three before have smaller ones
 *
 * So for each duration D, the SAMPLE_CALLS calls with the smallest hashes of all those longer than
 * D are among them: a uniform sample of the slow calls, wherever the quantile turns out to be, and
 * with D = 0 of all. Of n calls SAMPLE_CALLS * (1 + ln(n / SAMPLE_CALLS)) are kept, whatever their
 * order is, and the same ones in each run. A histogram (common/util/histogram.h) counts all calls,
 * for the quantile and for the sizes of both sets.
 *
 * A call that is kept is a list of items. An item is a feature with a value: "arg.mode is sync",
 * "child fsync", "cpu is 3". Values that no call of the sample has are forgotten. A value without a
 * number or a text, as a list, is an item without a value: the feature is there.
 *
 * The tests. A candidate is a set of calls: those with an item, or those in which a number is not
 * below a threshold, out of some quantiles of its values. Candidates that are in so few calls that
 * no result can be significant are left out (Tarone 1990), whatever their calls are. Then
 *
 *     1. the candidate that goes with the slow calls most, by the statistic of Cochran, Mantel and
 *        Haenszel, is named if its p is significant
 *     2. the calls are divided into strata by it, and 1 is done again within the strata
 *
 * What goes with the slow calls only by going with a cause makes no difference among calls with the
 * cause, and none among those without, so it is not named. p is Fisher's, from the hypergeometric
 * distribution, and in several strata that of the sum of such, from the normal distribution if
 * counts are large. By Holm's correction p is multiplied by the number of candidates left, which
 * bounds the probability that anything is named where nothing is different, whatever depends on
 * whatever: candidates go with each other, as "cpu is 3" and "comm is a" of a thread that is bound
 * to a CPU do.
 *
 * Shares of the time of a call, in a child or in a state, are candidates of a second kind. They
 * are parts of the duration, so they go with it whatever its cause is, and explain too much: they
 * would hide "arg.mode is sync" after "iowait". So they are tested apart, and within what the
 * others explain, unless having one of them tells TIMES_MORE times as much of the slow calls as
 * having one of the others.
 */
#include "cmd/trstat/explain_tail.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/run.h"
#include "common/calls/calls.h"
#include "common/expr/expression.h"
#include "common/scheduling/states.h"
#include "common/stream/clocks.h"
#include "common/stream/field.h"
#include "common/util/heap.h"
#include "common/util/histogram.h"
#include "common/util/screen.h"
#include "common/util/strata.h"
#include "common/value/aligned.h"
#include "common/value/argument.h"

enum {
	SAMPLE_CALLS = 4096,
	ITEMS_MOST = 1 << 16, /* of all kept calls; further values of a call are left out */
	CALL_ITEMS = 128,     /* of a call */
	CHILDREN_MOST = 32,   /* names of children of a call */
	FEATURES_MOST = 4096,
	TEXT_MOST = 96,	   /* bytes of a text: an item is that it begins with these */
	MEMBERS_MOST = 32, /* of a struct */
	STRUCTS_MOST = 4,  /* inside each other */
};

/* --- features and items --- */

/* Of candidates that are the same calls the first kind is named. */
enum feature_kind {
	FEATURE_ARGUMENT, /* and every other field of the events */
	FEATURE_CHILD,
	FEATURE_BEFORE,
	FEATURE_NAME,
	FEATURE_CALLER,
	FEATURE_WAKER,
	FEATURE_RETURN,
	FEATURE_COMM,
	FEATURE_TID,
	FEATURE_PID,
	FEATURE_CPU,
	FEATURE_STATE, /* percentage of the time */
	FEATURE_CHILD_TIME,
};

/* The value of an item. The bytes of a text come after it. */
struct tail_item {
	uint32_t feature; /* number in tail.features */
	uint32_t form;	  /* enum field_form */
	uint64_t bits;	  /* of a number */
};

/* A call of the sample. */
struct sampled_call {
	uint64_t total, hash, start;
	uint32_t count;
	uint32_t item[]; /* numbers in tail.items */
};

struct child {
	uint32_t location;
	uint64_t time;
};

/* An open call for which the condition may be true. */
struct tail_open {
	const struct type *type; /* of its enter; NULL: the arguments are items, or not known */
	uint32_t location, tail_size;
	struct buffer payload; /* of the enter: the fixed part, then the tail */
	uint32_t *item;
	size_t items, items_capacity;
	struct child *child;
	size_t children, children_capacity;
	uint32_t before; /* location of the call that the thread ended before; 0 none */
};

/* What each open call has; then come the cells of the condition that its enter gives. */
struct open_data {
	uint64_t open; /* index + 1 in tail.open */
};

/* The last wakeup of a thread. */
struct waker {
	uint64_t time;
	uint32_t name; /* in tail.wakers */
	bool waking;   /* it is of sched_waking, which has the cause of the sched_wakeup after it */
};

enum { MAY_NOT_KNOWN, MAY_BE, MAY_NOT };

struct tail {
	struct dictionary *dictionary;
	struct calls calls;
	struct clocks clocks;
	struct states *states; /* NULL: the stream has not declared any */
	uint32_t used;	       /* number of types that had events when that was looked up last */
	const struct condition *where;
	struct key_texts texts; /* of the condition's cells */
	struct key_cell *cells;
	uint8_t *may; /* by location: can the condition be true of its calls? */
	size_t nmay;
	uint32_t symbol_changes;
	struct indexes opens;
	struct tail_open *open;
	size_t open_capacity;
	uint32_t *last; /* by thread: location of the call that ended last */
	size_t nlast;
	struct scheduling_types scheduling;
	struct idmap woken; /* by tid: index + 1 in waker */
	struct waker *waker;
	size_t nwakers, wakers_capacity;
	struct intern wakers; /* names */
	struct intern features, items;
	struct histogram histogram;
	uint64_t any, count, first, last_start; /* calls of any kind; those that count */
	struct sampled_call **call;
	size_t ncalls, calls_capacity, prune_at;
	/* by bucket of the histogram: a call with this hash or more is left out */
	uint64_t *limit;
	uint64_t *heap;		   /* of tail_prune */
	uint32_t item[CALL_ITEMS]; /* of the call that ends */
	uint32_t nitem;
};

/* Get the number of a feature; INTERN_NONE: there are too many, or out of memory. */
static uint32_t feature_number(struct tail *t, enum feature_kind kind, const char *name, size_t n)
{
	char key[1 + 2 * TEXT_MOST] = {(char)kind};
	uint32_t number;

	if (n >= sizeof key)
		return INTERN_NONE; /* a part of the name is no field */
	memcpy(key + 1, name, n);
	number = intern_find(&t->features, key, n + 1);
	return number != INTERN_NONE || t->features.count >= FEATURES_MOST
		       ? number
		       : intern(&t->features, key, n + 1);
}

static enum feature_kind feature_kind(const struct tail *t, uint32_t feature)
{
	return (enum feature_kind) * intern_data(&t->features, feature);
}

static const char *feature_name(const struct tail *t, uint32_t feature)
{
	return intern_data(&t->features, feature) + 1;
}

static struct tail_item item_get(const struct tail *t, uint32_t number)
{
	struct tail_item item;

	memcpy(&item, intern_data(&t->items, number), sizeof item);
	return item;
}

/* Get the number of an item. INTERN_NONE: there are too many. */
static uint32_t item_number(struct tail *t, uint32_t feature, const struct field_value *v)
{
	struct {
		struct tail_item item;
		char text[TEXT_MOST];
	} key;
	size_t n = v->form == FORM_TEXT ? v->size : 0;
	uint32_t number;
	double real;

	memset(&key.item, 0, sizeof key.item);
	key.item.feature = feature;
	key.item.form = v->form;
	if (v->form == FORM_TEXT) {
		n = n < TEXT_MOST ? n : TEXT_MOST;
		memcpy(key.text, v->text, n);
	} else if (v->form == FORM_REAL) {
		real = v->size == 4 ? shortest_widen((float)v->real) : v->real;
		memcpy(&key.item.bits, &real, sizeof real);
	} else if (v->form != FORM_NONE) {
		key.item.bits = v->u;
		key.item.form = v->form == FORM_INT && v->i >= 0 ? FORM_UINT : v->form;
	}
	number = intern_find(&t->items, &key, sizeof key.item + n);
	return number != INTERN_NONE || t->items.count >= ITEMS_MOST
		       ? number
		       : intern(&t->items, &key, sizeof key.item + n);
}

static bool item_is_number(const struct tail_item *i)
{
	return i->form != FORM_TEXT && i->form != FORM_NONE;
}

/* Get the number of an item, which a long double has exactly. */
static long double item_value(const struct tail_item *i)
{
	double real;

	if (i->form == FORM_INT)
		return (int64_t)i->bits;
	if (i->form == FORM_UINT)
		return i->bits;
	memcpy(&real, &i->bits, sizeof real);
	return real;
}

/* Add an item to the call that ends. */
static void tail_add(struct tail *t, enum feature_kind kind, const char *name,
		     const struct field_value *v)
{
	uint32_t feature = feature_number(t, kind, name, strlen(name)), item;

	if (feature == INTERN_NONE || t->nitem == CALL_ITEMS)
		return;
	/* a leave may repeat the arguments of its enter */
	for (uint32_t i = 0; i < t->nitem && kind != FEATURE_CHILD; i++)
		if (item_get(t, t->item[i]).feature == feature)
			return;
	item = item_number(t, feature, v);
	/* beyond the number of items: it is there */
	if (item == INTERN_NONE)
		item = item_number(t, feature, &(struct field_value){.form = FORM_NONE});
	if (item != INTERN_NONE)
		t->item[t->nitem++] = item;
}

static void tail_add_text(struct tail *t, enum feature_kind kind, const char *name,
			  struct text_ref text)
{
	tail_add(t, kind, name,
		 &(struct field_value){
			 .form = FORM_TEXT, .text = (const uint8_t *)text.text, .size = text.size});
}

static void tail_add_number(struct tail *t, enum feature_kind kind, const char *name,
			    int64_t number)
{
	tail_add(t, kind, name, &(struct field_value){.form = FORM_INT, .i = number});
}

/* Add a share of the duration of a call, in percent. */
static void tail_add_share(struct tail *t, enum feature_kind kind, const char *name, uint64_t time,
			   uint64_t total)
{
	if (total)
		tail_add_number(t, kind, name, (int64_t)((uint128)time * 100 / total));
}

/* --- the sample --- */

/* Mix the bits of a number (the last step of splitmix64). */
static uint64_t tail_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t tail_hash(const struct call *call)
{
	uint64_t thread = (uint64_t)(uint32_t)call->lane->tid << 32 | (uint32_t)call->lane->pid;

	return tail_mix(tail_mix(tail_mix(call->start + 0x9e3779b97f4a7c15) ^ call->end) ^ thread);
}

/* Compare the slowest first, then by hash. */
static int compare_kept(const void *a, const void *b)
{
	const struct sampled_call *x = *(struct sampled_call *const *)a;
	const struct sampled_call *y = *(struct sampled_call *const *)b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

/* Replace the numbers of items in a list by those in another table. */
static int move_items(struct intern *to, const struct intern *from, uint32_t *item, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t number =
			intern(to, intern_data(from, item[i]), intern_size(from, item[i]));

		if (number == INTERN_NONE)
			return -1;
		item[i] = number;
	}
	return 0;
}

/* Forget the items that no call has. */
static int tail_forget_items(struct tail *t)
{
	struct intern kept = {0};
	int bad = 0;

	for (size_t i = 0; i < t->ncalls && !bad; i++)
		bad = move_items(&kept, &t->items, t->call[i]->item, t->call[i]->count);
	for (size_t i = 0; i < t->opens.count && !bad; i++)
		bad = move_items(&kept, &t->items, t->open[i].item, t->open[i].items);
	intern_free(&t->items);
	t->items = kept;
	return bad;
}

/* Leave out the calls that have SAMPLE_CALLS slower ones with smaller hashes, and note which
 * further calls need not be kept. */
static int tail_prune(struct tail *t)
{
	size_t kept = 0, in_heap = 0;
	uint32_t bucket = HISTOGRAM_BUCKETS;
	uint64_t *heap = t->heap;

	qsort(t->call, t->ncalls, sizeof(*t->call), compare_kept);
	for (size_t i = 0; i < t->ncalls; i++) {
		struct sampled_call *c = t->call[i];
		uint32_t of = histogram_index(c->total);

		while (bucket > of)
			t->limit[--bucket] = in_heap < SAMPLE_CALLS ? UINT64_MAX : heap[0];
		if (in_heap < SAMPLE_CALLS) {
			heap[in_heap++] = c->hash;
			HEAP_UP(heap, in_heap - 1, a, b, *a > *b);
		} else if (c->hash < heap[0]) {
			heap[0] = c->hash;
			HEAP_DOWN(heap, in_heap, 0, a, b, *a > *b);
		} else {
			free(c);
			continue;
		}
		t->call[kept++] = c;
	}
	while (bucket)
		t->limit[--bucket] = in_heap < SAMPLE_CALLS ? UINT64_MAX : heap[0];
	t->ncalls = kept;
	t->prune_at = kept + (kept / 2 > SAMPLE_CALLS ? kept / 2 : SAMPLE_CALLS);
	return t->items.count > ITEMS_MOST / 2 ? tail_forget_items(t) : 0;
}

/* Keep the call that ends, whose items are known. */
static int tail_keep(struct tail *t, const struct call *call, uint64_t hash)
{
	struct sampled_call *c = malloc(sizeof(*c) + t->nitem * sizeof(*c->item));

	if (!c || ARRAY_GROW(t->call, t->calls_capacity, t->ncalls)) {
		free(c);
		return -1;
	}
	c->total = call->total;
	c->hash = hash;
	c->start = call->start;
	c->count = t->nitem;
	memcpy(c->item, t->item, t->nitem * sizeof(*c->item));
	t->call[t->ncalls++] = c;
	return t->ncalls >= t->prune_at ? tail_prune(t) : 0;
}

/* --- from calls to items --- */

/* Add the values of an event of a type without values: its fields. */
static void tail_add_fields(struct tail *t, const struct event *e)
{
	for (uint32_t i = 0; i < e->type->nfields; i++) {
		const struct field *f = &e->type->fields[i];
		char name[TEXT_MOST];
		struct field_value v;

		if (!field_is_attribute(f) || f->role == ROLE_SOURCE_TIME ||
		    f->role == ROLE_STACK || field_is_array(e, f))
			continue;
		snprintf(name, sizeof name, "%s%s", keys_has_name(f->name.text) ? "." : "",
			 f->name.text);
		if (event_ref_field(t->dictionary, e, f->name.text, &v))
			tail_add(t, FEATURE_ARGUMENT, name, &v);
	}
}

/* Add the value of a path, or the members of its struct. v is before the value; out of memory the
 * members are left out. */
static void tail_add_value(struct tail *t, const struct event *e, struct buffer *path,
			   struct values v, unsigned structs)
{
	enum feature_kind kind = !memcmp(path->data, "ret", 3) ? FEATURE_RETURN : FEATURE_ARGUMENT;
	const struct definition *names;
	struct field_value value = {.form = FORM_NONE};
	struct value of = {.tag = VALUE_NULL};
	size_t size = path->size;

	if (buffer_u8(path, '\0') || t->nitem == CALL_ITEMS)
		return;
	event_ref_field(t->dictionary, e, (const char *)path->data, &value);
	tail_add(t, kind, (const char *)path->data, &value);
	while (value.form == FORM_NONE && values_value(&v, &of) &&
	       ((of.tag == VALUE_ARRAY && of.count == 1) || of.tag == VALUE_REPR))
		;
	if (of.tag != VALUE_STRUCT || structs == STRUCTS_MOST)
		return;
	names = dictionary_definition_id(t->dictionary, of.definition);
	for (uint32_t i = 0; names && i < of.count && i < names->count && i < MEMBERS_MOST; i++) {
		path->size = size;
		if (!buffer_u8(path, '.') && !buffer_puts(path, names->members[i].name.text))
			tail_add_value(t, e, path, v, structs + 1);
		if (!values_skip(&v))
			return;
	}
}

/* Add the arguments and the return value that an event has. */
static int tail_add_values(struct tail *t, const struct event *e)
{
	const struct location *p = dictionary_location(t->dictionary, e->location);
	struct buffer name = {0};
	struct values values;
	uint64_t index;
	uint8_t what;
	int bad = 0;

	values_begin(&values, e->tail, e->tail_size);
	while (!bad && values_what(&values, &what, &index)) {
		name.size = 0;
		if (what == DETAIL_ARGUMENT)
			bad = argument_put_name(&name, p, index, true);
		else if (what == DETAIL_RETURN)
			bad = buffer_puts(&name, "ret");
		if (!bad && name.size)
			tail_add_value(t, e, &name, values, 0);
		if (!values_skip(&values))
			break;
	}
	buffer_free(&name);
	return bad;
}

static int tail_add_event(struct tail *t, const struct event *e)
{
	if (e->type->flags & TYPE_VALUES)
		return tail_add_values(t, e);
	tail_add_fields(t, e);
	return 0;
}

/* Add the arguments of the enter. */
static int tail_add_enter(struct tail *t, const struct tail_open *o, const struct lane *lane)
{
	struct event e = {.type = o->type,
			  .lane = lane,
			  .location = o->location,
			  .fixed = o->payload.data,
			  .tail_size = o->tail_size};

	if (!o->type)
		return 0;
	if (o->tail_size)
		e.tail = o->payload.data + o->type->fixed_size;
	return tail_add_event(t, &e);
}

/* Make items of the arguments of all open calls, as the types and definitions of values are valid
 * in one segment. */
static int tail_end_segment(struct tail *t)
{
	static const struct lane no_lane;

	for (size_t i = 0; i < t->opens.count; i++) {
		struct tail_open *o = &t->open[i];

		t->nitem = 0;
		if (!o->type)
			continue;
		if (tail_add_enter(t, o, &no_lane) ||
		    (t->nitem && ARRAY_REACH(o->item, o->items_capacity, t->nitem - 1)))
			return -1;
		if (t->nitem)
			memcpy(o->item, t->item, t->nitem * sizeof(*o->item));
		o->items = t->nitem;
		o->type = NULL;
	}
	return 0;
}

/* Add the children, those of the same name as one. */
static void tail_add_children(struct tail *t, struct tail_open *o, const struct call *call)
{
	for (size_t i = 0; i < o->children; i++) {
		struct text_ref name =
			dictionary_location_name(t->dictionary, o->child[i].location);
		uint64_t time = o->child[i].time;

		for (size_t k = i + 1; k < o->children;) {
			struct text_ref other =
				dictionary_location_name(t->dictionary, o->child[k].location);

			if (other.size != name.size || memcmp(other.text, name.text, name.size)) {
				k++;
				continue;
			}
			time += o->child[k].time;
			o->child[k] = o->child[--o->children];
		}
		tail_add_text(t, FEATURE_CHILD, "child", name);
		tail_add_share(t, FEATURE_CHILD_TIME, name.text, time, call->total);
	}
}

/* Add the thread, its CPU, and who woke the thread last in the call. */
static void tail_add_lane(struct tail *t, const struct call *call)
{
	const struct lane *l = call->lane;
	uint32_t at;

	if (l->flags & LANE_HAS_TID)
		tail_add_number(t, FEATURE_TID, "tid", l->tid);
	if (l->flags & LANE_HAS_PID)
		tail_add_number(t, FEATURE_PID, "pid", l->pid);
	if (l->flags & LANE_HAS_CPU)
		tail_add_number(t, FEATURE_CPU, "cpu", l->cpu);
	if (l->comm.size)
		tail_add_text(t, FEATURE_COMM, "comm", l->comm);
	at = l->flags & LANE_HAS_TID ? idmap_get(&t->woken, (uint32_t)l->tid) : 0;
	if (at && t->waker[at - 1].time >= call->start) {
		uint32_t name = t->waker[at - 1].name;

		tail_add_text(t, FEATURE_WAKER, "waker",
			      (struct text_ref){.text = intern_data(&t->wakers, name),
						.size = intern_size(&t->wakers, name)});
	}
}

static void tail_add_states(struct tail *t, const uint64_t *of, const struct call *call)
{
	for (int i = 0; of && i < STATES; i++)
		if (of[i])
			tail_add_share(t, FEATURE_STATE, state_names[i], of[i], call->total);
}

/* Set the items of a call that ends. */
static int tail_items(struct tail *t, const struct call *call, const struct event *e,
		      struct tail_open *open, const uint64_t *states)
{
	if (open->items)
		memcpy(t->item, open->item, open->items * sizeof(*t->item));
	t->nitem = (uint32_t)open->items;
	if (tail_add_enter(t, open, call->lane) || tail_add_event(t, e))
		return -1;
	tail_add_text(t, FEATURE_NAME, "name",
		      dictionary_location_name(t->dictionary, call->location));
	if (call->caller)
		tail_add_text(t, FEATURE_CALLER, "caller",
			      dictionary_location_name(t->dictionary, call->caller));
	if (open->before)
		tail_add_text(t, FEATURE_BEFORE, "before",
			      dictionary_location_name(t->dictionary, open->before));
	tail_add_lane(t, call);
	tail_add_states(t, states, call);
	tail_add_children(t, open, call);
	return 0;
}

/* --- events --- */

static const struct key_cell *tail_cell(void *ctx, size_t key)
{
	return &((const struct tail *)ctx)->cells[key];
}

/* Get the cell of a key that the enter of a call decides: of its name. */
static const struct key_cell *tail_name_cell(void *ctx, size_t key)
{
	const struct tail *t = ctx;
	const struct key *k = &t->where->keys.key[key];

	return k->kind == BY_NAME && !k->other ? &t->cells[key] : NULL;
}

/* Test whether the condition may be true of a call, as far as its name shows. -1: out of memory. */
static int tail_may(struct tail *t, const struct event *e)
{
	struct event_ref entered = event_ref_of(e);
	bool may;

	if (t->symbol_changes != t->dictionary->symbol_changes && t->nmay)
		memset(t->may, 0, t->nmay);
	t->symbol_changes = t->dictionary->symbol_changes;
	if (ARRAY_REACH(t->may, t->nmay, e->location))
		return -1;
	if (t->may[e->location])
		return t->may[e->location] == MAY_BE;
	entered.pending = entered.timed = true;
	if (keys_cells(&t->where->keys, t->dictionary, &t->texts, &entered, t->cells))
		return -1;
	may = condition_may_hold(t->where, &t->texts, tail_name_cell, t);
	if (e->location)
		t->may[e->location] = may ? MAY_BE : MAY_NOT;
	return may;
}

/* Keep what the call needs of its enter. */
static int tail_enter(struct tail *t, const struct event *e, struct open_data *data)
{
	struct event_ref entered = event_ref_of(e);
	uint32_t thread = calls_thread(e);
	int may = tail_may(t, e);
	struct tail_open *o;
	size_t index;

	if (may <= 0)
		return may;
	if (keys_begin_cells(&t->where->keys, t->dictionary, &t->texts, &entered,
			     (struct key_cell *)(data + 1)) ||
	    indexes_take(&t->opens, &index) || ARRAY_REACH(t->open, t->open_capacity, index))
		return -1;
	data->open = index + 1;
	o = &t->open[index];
	o->type = e->type;
	o->location = e->location;
	o->tail_size = e->tail_size;
	o->payload.size = 0;
	o->items = o->children = 0;
	o->before = thread < t->nlast ? t->last[thread] : 0;
	return buffer_append(&o->payload, e->fixed, e->type->fixed_size) ||
			       (e->tail_size && buffer_append(&o->payload, e->tail, e->tail_size))
		       ? -1
		       : 0;
}

/* Give the slot of an open call back. */
static void tail_close(struct tail *t, const struct open_data *data)
{
	if (!data || !data->open)
		return;
	t->open[data->open - 1].type = NULL;
	t->open[data->open - 1].items = 0;
	indexes_give(&t->opens, data->open - 1);
}

static void tail_forget(void *ctx, struct stack *s, const struct frame *f, void *data)
{
	(void)s;
	(void)f;
	tail_close(ctx, data);
}

static void tail_lose(void *ctx, struct stack *s, const struct frame *f, void *data,
		      enum calls_lost why)
{
	(void)why;
	tail_forget(ctx, s, f, data);
}

static int tail_restore(void *ctx, const struct event *e, const struct call *call)
{
	return tail_enter(ctx, e, call->data);
}

/* Get the open call that has made a call; NULL: none that matters. */
static struct tail_open *tail_parent(struct tail *t, const struct call *call, const struct event *e)
{
	const struct stack *s = call->on;
	const struct open_data *data;

	if (s && !s->count)
		s = calls_thread_stack(&t->calls, calls_thread(e));
	if (!s || !s->count || !s->frames[s->count - 1].begun)
		return NULL;
	data = calls_data(&t->calls, s, s->count - 1);
	return data->open ? &t->open[data->open - 1] : NULL;
}

/* Note that a call was a child. */
static int tail_note_child(struct tail_open *o, const struct call *call)
{
	size_t i = 0;

	while (i < o->children && o->child[i].location != call->location)
		i++;
	if (i == CHILDREN_MOST)
		return 0;
	if (i == o->children) {
		if (ARRAY_GROW(o->child, o->children_capacity, i))
			return -1;
		o->child[o->children++] = (struct child){.location = call->location};
	}
	add_saturated(&o->child[i].time, call->total);
	return 0;
}

/* Test whether the condition is true of a call that ends. */
static bool tail_counts(struct tail *t, const struct call *call, const struct event *e,
			const uint64_t *states)
{
	const struct open_data *data = call->data;
	struct event_ref subject =
		event_ref_of_call(call, e->type, e, (const struct key_cell *)(data + 1));

	subject.states = states;
	return !keys_cells(&t->where->keys, t->dictionary, &t->texts, &subject, t->cells) &&
	       condition_holds(t->where, &t->texts, tail_cell, t);
}

/* Count a call that ends, if the condition is true of it. */
static int tail_count(struct tail *t, const struct call *call, const struct event *e,
		      struct tail_open *open)
{
	const struct state_span span = {.lane = call->lane,
					.start = call->start,
					.end = call->end,
					.total = call->total,
					.left = true};
	const uint64_t *states = NULL;
	uint64_t hash;

	if (t->states)
		states = states_of(t->states, &span);
	if (!tail_counts(t, call, e, states))
		return 0;
	t->first = t->count && t->first < call->start ? t->first : call->start;
	t->last_start = t->last_start > call->start ? t->last_start : call->start;
	t->count++;
	if (histogram_add(&t->histogram, call->total))
		return -1;
	hash = tail_hash(call);
	if (hash >= t->limit[histogram_index(call->total)])
		return 0;
	return tail_items(t, call, e, open, states) || tail_keep(t, call, hash) ? -1 : 0;
}

static int tail_leave(struct tail *t, const struct event *e, const struct call *call)
{
	const struct open_data *data = call->data;
	struct tail_open *open = data && data->open ? &t->open[data->open - 1] : NULL;
	struct tail_open *parent = tail_parent(t, call, e);
	uint32_t thread = calls_thread(e);
	int bad;

	t->any++;
	bad = open && tail_count(t, call, e, open);
	tail_close(t, data);
	if (bad || (parent && tail_note_child(parent, call)) ||
	    ARRAY_REACH(t->last, t->nlast, thread))
		return -1;
	t->last[thread] = call->location;
	return 0;
}

/* Note who wakes which thread. */
static int tail_wakeup(struct tail *t, const struct event *e)
{
	const struct scheduling_type *type = scheduling_types_get(&t->scheduling, e->type);
	char text[TEXT_MOST];
	uint32_t at, name;
	int64_t tid;

	if (!type)
		return -1;
	if ((type->kind != SCHEDULING_WAKING && type->kind != SCHEDULING_WAKEUP) ||
	    !scheduling_number(type, e, WAKE_TID, &tid))
		return 0;
	at = idmap_get(&t->woken, (uint32_t)tid);
	/* a wakeup follows the waking that has its cause */
	if (at && type->kind == SCHEDULING_WAKEUP && t->waker[at - 1].waking)
		return 0;
	snprintf(text, sizeof text, "thread %d", e->lane->tid);
	name = e->lane->comm.size ? intern(&t->wakers, e->lane->comm.text, e->lane->comm.size)
				  : intern_string(&t->wakers, text);
	if (name == INTERN_NONE)
		return -1;
	if (!at) {
		if (ARRAY_GROW(t->waker, t->wakers_capacity, t->nwakers) ||
		    idmap_set(&t->woken, (uint32_t)tid, (uint32_t)t->nwakers + 1))
			return -1;
		at = (uint32_t)++t->nwakers;
	}
	t->waker[at - 1] = (struct waker){e->time, name, type->kind == SCHEDULING_WAKING};
	return 0;
}

static int tail_take(struct tail *t, const struct event *e)
{
	struct call call;

	if (t->states && states_take(t->states, e))
		return -1;
	if (e->type->kind == KIND_GAP)
		return 0;
	switch (calls_next(&t->calls, e, &call)) {
	case CALLS_ENTER: return tail_enter(t, e, call.data);
	case CALLS_LEAVE: return tail_leave(t, e, &call);
	default: break;
	}
	if (kind_is_instant(e->type->kind) && tail_wakeup(t, e))
		return -1;
	return t->calls.out_of_memory ? -1 : 0;
}

/* Follow the states of threads from the first row on, if the stream declares events of them. */
static int tail_follow_states(struct tail *t)
{
	uint32_t used = 0;

	for (uint32_t i = 1; i < t->dictionary->types.count && !t->states; i++)
		used += dictionary_type(t->dictionary, i)->used;
	if (t->states || t->used == used)
		return 0;
	t->used = used;
	if (!states_declared(t->dictionary))
		return 0;
	t->states = malloc(sizeof(*t->states));
	if (t->states)
		states_init(t->states, t->dictionary, &t->calls);
	return t->states ? 0 : -1;
}

static int tail_block(struct tail *t, const struct block *b)
{
	struct events it;
	struct event e;
	struct error error;

	if (b->kind == BLOCK_SNAPSHOT)
		return calls_restore(&t->calls, b, &error);
	if (b->kind == BLOCK_END)
		return tail_end_segment(t);
	if (b->kind != BLOCK_EVENTS || !b->rows)
		return 0;
	if (tail_follow_states(t))
		return -1;
	clocks_look(&t->clocks, b);
	events_begin(&it, b);
	while (event_next(&it, &e))
		if (tail_take(t, &e))
			return -1;
	return 0;
}

/* --- candidates --- */

enum {
	CUTS = 15,	/* thresholds that are tested of a feature */
	RUNS_MOST = 64, /* bins of a feature in strata */
	NAMED_MOST = 12 /* rows of each kind */
};
/* How much more of the slow calls shares of the time must explain to come first. */
#define TIMES_MORE 1.25
/* Smaller ps are not calculated. */
#define P_LEAST 1e-15

/* Calls with an item, or the calls that have a number, of which those not below a threshold are
 * taken. Members are calls of the sample: of numbers in the order of their values. */
struct candidate {
	uint32_t feature, item; /* item: INTERN_NONE for numbers, and calls that have the feature */
	uint32_t begin, end;	/* in comparison.member */
	uint32_t cut[CUTS];	/* where the members of each threshold begin */
	uint32_t cuts;		/* 0: one item, or all of the feature */
	uint32_t tests;		/* that can be significant */
	uint32_t best;		/* of numbers: where the members of the best threshold begin */
	double z;		/* Cochran, Mantel, Haenszel; below 0: rarer among the slow ones */
	bool named;
};

/* A difference that is named. */
struct named {
	uint32_t feature, item, begin, end; /* as of the candidate, from its threshold on */
	bool number;
	bool whole;	     /* all compared calls have the feature, as a text or as a number */
	bool without;	     /* the calls without it are the slow ones */
	uint32_t slow, rest; /* compared calls with it */
	double ratio, low, high, p;
	char *note; /* what else the calls have; NULL: nothing */
};

struct tail_comparison {
	struct tail *t;
	struct sampled_call **call; /* the slow ones, then the others */
	uint32_t n, s;
	uint64_t slow, all; /* of all calls, not only of the sample */
	uint64_t above;	    /* slow calls are longer */
	bool about;	    /* slow is that of a sample */
	double quantile, alpha;
	uint32_t *member, nmembers;
	uint32_t *value; /* by member: its item */
	struct candidate *candidate;
	size_t candidates, candidates_capacity;
	uint64_t tests;
	uint32_t *stratum; /* by call */
	struct strata strata;
	uint32_t *at;  /* by call: its place in the order of time */
	double *x, *y; /* by place, of burst_inflation */
	struct named named[2 * NAMED_MOST];
	size_t nnamed;
	struct named with[NAMED_MOST]; /* what only goes with the first of named, a share */
	size_t nwith;
	double least; /* corrected p of the best that was not named */
};

static bool candidate_is_time(const struct tail_comparison *c, const struct candidate *k)
{
	return feature_kind(c->t, k->feature) >= FEATURE_STATE;
}

/* Compare items by feature, texts before numbers, then by value. */
static int compare_items(const void *a, const void *b, void *ctx)
{
	const struct tail *t = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	struct tail_item p = item_get(t, x), q = item_get(t, y);
	enum feature_kind of_p = feature_kind(t, p.feature), of_q = feature_kind(t, q.feature);

	if (of_p != of_q)
		return of_p < of_q ? -1 : 1;
	if (p.feature != q.feature)
		return p.feature < q.feature ? -1 : 1;
	if (item_is_number(&p) != item_is_number(&q))
		return item_is_number(&p) ? 1 : -1;
	if (item_is_number(&p) && item_value(&p) != item_value(&q))
		return item_value(&p) < item_value(&q) ? -1 : 1;
	return (x > y) - (x < y);
}

/* Fill member with the calls of each item, in the order of items, whose begins are in *begin. */
static int fill_members(struct tail_comparison *c, const uint32_t *order, uint32_t *begin)
{
	uint32_t items = c->t->items.count, sum = 0;
	uint32_t *at = calloc((size_t)items + 1, sizeof(*at));

	if (!at)
		return -1;
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < c->call[i]->count; k++)
			at[c->call[i]->item[k]]++;
	for (uint32_t i = 0; i < items; i++) {
		uint32_t count = at[order[i]];

		begin[i] = at[order[i]] = sum;
		sum += count;
	}
	begin[items] = c->nmembers = sum;
	c->member = calloc((size_t)sum + 1, sizeof(*c->member));
	for (uint32_t i = 0; c->member && i < c->n; i++)
		for (uint32_t k = 0; k < c->call[i]->count; k++)
			c->member[at[c->call[i]->item[k]]++] = i;
	free(at);
	return c->member ? 0 : -1;
}

static int tail_add_candidate(struct tail_comparison *c, const struct candidate *k)
{
	if (ARRAY_GROW(c->candidate, c->candidates_capacity, c->candidates))
		return -1;
	c->candidate[c->candidates++] = *k;
	return 0;
}

/* Add the thresholds of a feature whose values begin at begin[0] to begin[values - 1]. */
static int add_thresholds(struct tail_comparison *c, struct candidate k, const uint32_t *begin,
			  uint32_t values)
{
	static const uint8_t rank[CUTS] = {1,  2,  4,	8,   16,  32,  48, 64,
					   80, 96, 112, 120, 124, 126, 127};
	uint32_t at = 0;

	k.item = INTERN_NONE;
	for (int i = 0; i < CUTS; i++) {
		uint32_t to = k.begin + (uint32_t)((uint64_t)(k.end - k.begin) * rank[i] / 128);

		while (at + 1 < values && begin[at + 1] <= to)
			at++;
		/* of the values around the rank the one above, where most are the lower */
		if (at && (!k.cuts || k.cut[k.cuts - 1] != begin[at]))
			k.cut[k.cuts++] = begin[at];
	}
	if (!k.cuts && values > 1)
		k.cut[k.cuts++] = begin[1];
	return k.cuts ? tail_add_candidate(c, &k) : 0;
}

/* Add the candidates of one feature, items order[from] to order[to - 1]. */
static int add_feature(struct tail_comparison *c, const uint32_t *order, const uint32_t *begin,
		       uint32_t from, uint32_t to)
{
	uint32_t feature = item_get(c->t, order[from]).feature, first = to;
	enum feature_kind kind = feature_kind(c->t, feature);
	bool scalar = true;

	for (uint32_t i = from; i < to; i++) {
		struct tail_item item = item_get(c->t, order[i]);

		scalar &= item.form != FORM_NONE;

		if (item_is_number(&item) && first == to)
			first = i;
		if (kind < FEATURE_STATE && item.form != FORM_NONE && begin[i + 1] > begin[i] &&
		    tail_add_candidate(c, &(struct candidate){.feature = feature,
							      .item = order[i],
							      .begin = begin[i],
							      .end = begin[i + 1]}))
			return -1;
	}
	/* of a list has() is true only in trfilter */
	if ((kind == FEATURE_ARGUMENT || kind == FEATURE_RETURN) && scalar &&
	    begin[to] - begin[from] < c->n &&
	    tail_add_candidate(c, &(struct candidate){.feature = feature,
						      .item = INTERN_NONE,
						      .begin = begin[from],
						      .end = begin[to]}))
		return -1;
	/* numbers of threads and CPUs have no order */
	if (first == to ||
	    (kind != FEATURE_ARGUMENT && kind != FEATURE_RETURN && kind < FEATURE_STATE))
		return 0;
	return add_thresholds(
		c, (struct candidate){.feature = feature, .begin = begin[first], .end = begin[to]},
		begin + first, to - first);
}

/* Make the candidates. */
static int make_candidates(struct tail_comparison *c)
{
	uint32_t items = c->t->items.count, from = 0, n = 0;
	uint32_t *order = calloc((size_t)items + 1, sizeof(*order));
	uint32_t *begin = calloc((size_t)items + 1, sizeof(*begin));
	int bad;

	for (uint32_t i = 0; order && i < items; i++)
		order[i] = i;
	if (order && items)
		qsort_r(order, items, sizeof(*order), compare_items, c->t);
	bad = !order || !begin || fill_members(c, order, begin);
	/* items of calls that are not compared have no members */
	for (uint32_t i = 0; !bad && i < items; i++) {
		if (begin[i + 1] == begin[i])
			continue;
		order[n] = order[i];
		begin[n++] = begin[i];
	}
	if (!bad)
		begin[n] = c->nmembers;
	c->value = calloc((size_t)c->nmembers + 1, sizeof(*c->value));
	bad = bad || !c->value;
	for (uint32_t i = 0; !bad && i < n; i++)
		for (uint32_t k = begin[i]; k < begin[i + 1]; k++)
			c->value[k] = order[i];
	for (uint32_t i = 1; !bad && i <= n; i++) {
		if (i < n &&
		    item_get(c->t, order[i]).feature == item_get(c->t, order[from]).feature)
			continue;
		bad = add_feature(c, order, begin, from, i);
		from = i;
	}
	free(order);
	free(begin);
	return bad ? -1 : 0;
}

/* Get the least p that a set of m calls can have. */
static double tail_least_p(const struct tail_comparison *c, uint32_t m, bool time)
{
	return strata_least_p(&c->strata, &(struct stratum){.n = c->n, .s = c->s, .m = m}, time);
}

static int compare_ps(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Count the tests that can be significant if there are so many (Tarone 1990). */
static int count_tests(struct tail_comparison *c)
{
	double *p = calloc(c->candidates * CUTS + 1, sizeof(*p)), limit = 0;
	uint64_t n = 0, tests;

	if (!p)
		return -1;
	for (size_t i = 0; i < c->candidates; i++) {
		const struct candidate *k = &c->candidate[i];
		bool time = candidate_is_time(c, k);

		for (uint32_t j = 0; j < k->cuts; j++)
			p[n++] = tail_least_p(c, k->end - k->cut[j], time);
		if (!k->cuts)
			p[n++] = tail_least_p(c, k->end - k->begin, time);
	}
	qsort(p, n, sizeof(*p), compare_ps);
	tests = n;
	while (c->tests < tests) {
		limit = c->alpha / (double)++c->tests;
		while (tests && p[tests - 1] > limit)
			tests--;
	}
	for (size_t i = 0; i < c->candidates; i++) {
		struct candidate *k = &c->candidate[i];
		bool time = candidate_is_time(c, k);

		for (uint32_t j = 0; j < k->cuts; j++)
			k->tests += tail_least_p(c, k->end - k->cut[j], time) <= limit;
		if (!k->cuts)
			k->tests = tail_least_p(c, k->end - k->begin, time) <= limit;
	}
	free(p);
	return 0;
}

/* --- tests --- */

/* Count the calls from member `begin` on in the strata. */
static void fill_strata(struct tail_comparison *c, uint32_t begin, uint32_t end)
{
	for (uint32_t i = 0; i < c->strata.count; i++)
		c->strata.of[i].m = c->strata.of[i].a = 0;
	for (uint32_t i = begin; i < end; i++) {
		struct stratum *k = &c->strata.of[c->stratum[c->member[i]]];

		k->m++;
		k->a += c->member[i] < c->s;
	}
}

/* Find the threshold of numbers that goes with the slow calls most: over all their values, as the
 * thresholds that are tested may be far from the true one. */
static void find_best(struct tail_comparison *c, struct candidate *k)
{
	bool time = candidate_is_time(c, k);
	double excess = 0, variance = 0;

	k->z = 0;
	fill_strata(c, k->begin, k->begin);
	for (uint32_t i = k->end; i-- > k->begin + 1;) {
		struct stratum *of = &c->strata.of[c->stratum[c->member[i]]];
		bool slow = c->member[i] < c->s;
		double z;

		variance -= stratum_variance(of);
		of->m++;
		of->a += slow;
		excess += slow - (double)of->s / of->n;
		variance += stratum_variance(of);
		if (c->value[i] == c->value[i - 1])
			continue;
		z = z_of(excess, variance);
		if (time ? z > k->z : fabs(z) > fabs(k->z)) {
			k->z = z;
			k->best = i;
		}
	}
}

/* Get how many times as uncertain the number of slow calls among the members is, as both come in
 * bursts; the strata are filled with them. */
static double burst_inflation(struct tail_comparison *c, uint32_t begin, uint32_t end)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct stratum *k = &c->strata.of[c->stratum[i]];

		c->x[c->at[i]] = -(double)k->m / k->n;
		c->y[c->at[i]] = (i < c->s) - (double)k->s / k->n;
	}
	for (uint32_t i = begin; i < end; i++)
		c->x[c->at[c->member[i]]] += 1;
	return series_inflation(c->x, c->y, c->n);
}

/* Get p of the members from `begin` on; below the limit it is that with bursts: as of so many times
 * fewer calls, as the logarithm of a small p is proportional to their number. Negative: out of
 * memory. */
static double members_p(struct tail_comparison *c, uint32_t begin, const struct candidate *k,
			double limit)
{
	double p;

	fill_strata(c, begin, k->end);
	p = strata_p(&c->strata, candidate_is_time(c, k));
	if (p < 0 || p > limit)
		return p;
	return pow(fmax(p, DBL_MIN), 1 / burst_inflation(c, begin, k->end));
}

/* Get p of a candidate, corrected for its thresholds, not for other candidates. Negative: out of
 * memory. */
static double candidate_p(struct tail_comparison *c, const struct candidate *k, double limit)
{
	double least = k->cuts ? 1 : members_p(c, k->begin, k, limit);

	for (uint32_t i = 0; i < k->cuts && least >= 0; i++)
		least = fmin(least, members_p(c, k->cut[i], k, limit));
	return least;
}

/* Divide the strata by a candidate: of numbers also by the thresholds that were tested, as what
 * goes with the number may depend on more than one threshold. Returns -1 when out of memory. */
static int divide_strata(struct tail_comparison *c, const struct candidate *k)
{
	uint8_t *bin = calloc((size_t)c->n + 1, sizeof(*bin));
	uint32_t *number = calloc((size_t)c->strata.count * RUNS_MOST + 1, sizeof(*number));
	uint32_t count = 0, cut = 0;

	for (uint32_t i = k->begin; bin && i < k->end; i++) {
		while (cut < k->cuts && k->cut[cut] <= i)
			cut++;
		bin[c->member[i]] = (uint8_t)(1 + 2 * cut + (k->cuts && i >= k->best));
	}
	for (uint32_t i = 0; bin && number && i < c->n; i++) {
		uint32_t *to = &number[c->stratum[i] * RUNS_MOST + bin[i]];

		if (!*to)
			*to = ++count;
		c->stratum[i] = *to - 1;
	}
	free(number);
	memset(c->strata.of, 0, c->n * sizeof(*c->strata.of));
	c->strata.count = count;
	for (uint32_t i = 0; bin && i < c->n; i++) {
		c->strata.of[c->stratum[i]].n++;
		c->strata.of[c->stratum[i]].s += i < c->s;
	}
	free(bin);
	return bin && number ? 0 : -1;
}

/* Make one stratum of all calls. */
static void join_strata(struct tail_comparison *c)
{
	memset(c->stratum, 0, c->n * sizeof(*c->stratum));
	c->strata.count = 1;
	c->strata.of[0] = (struct stratum){.n = c->n, .s = c->s};
}

/* --- what is named --- */

/* Test whether all compared calls have the feature of a candidate, as a text or as a number. */
static bool is_whole(const struct tail_comparison *c, const struct candidate *k)
{
	struct tail_item item, other;
	uint32_t calls = 0;

	if (k->cuts || k->item == INTERN_NONE)
		return k->end - k->begin == c->n;
	item = item_get(c->t, k->item);
	for (size_t i = 0; i < c->candidates; i++) {
		const struct candidate *of = &c->candidate[i];

		if (of->cuts || of->feature != k->feature || of->item == INTERN_NONE)
			continue;
		other = item_get(c->t, of->item);
		if (item_is_number(&other) == item_is_number(&item))
			calls += of->end - of->begin;
	}
	return calls == c->n;
}

/* Keep the difference that a candidate makes. */
static void name_candidate(struct tail_comparison *c, struct candidate *k, double p)
{
	struct named *to = &c->named[c->nnamed++];
	struct risk_ratio risk = {.per_other = (double)(c->all - c->slow) / (c->n - c->s),
				  .per_slow = (double)c->slow / c->s};

	*to = (struct named){.feature = k->feature,
			     .item = k->item,
			     .begin = k->cuts ? k->best : k->begin,
			     .end = k->end,
			     .number = k->cuts,
			     .without = k->z < 0,
			     .p = p};
	if (to->number)
		to->item = c->value[to->begin];
	k->named = true;
	fill_strata(c, to->begin, to->end);
	for (uint32_t i = to->begin; i < to->end; i++) {
		to->slow += c->member[i] < c->s;
		to->rest += c->member[i] >= c->s;
	}
	to->whole = is_whole(c, k);
	if (to->without) {
		to->slow = c->s - to->slow;
		to->rest = c->n - c->s - to->rest;
	}
	risk.inflation = burst_inflation(c, to->begin, to->end);
	risk.without = to->without;
	strata_ratio(&c->strata, &risk);
	to->ratio = risk.ratio;
	to->low = risk.low;
	to->high = risk.high;
}

static int compare_by_z(const void *a, const void *b)
{
	const struct candidate *x = *(struct candidate *const *)a;
	const struct candidate *y = *(struct candidate *const *)b;
	double p = fabs(x->z), q = fabs(y->z);

	if (p != q)
		return p < q ? 1 : -1;
	/* what is there before what is not, then in the order of features */
	if ((x->z < 0) != (y->z < 0))
		return x->z < 0 ? 1 : -1;
	return (x > y) - (x < y);
}

/* Get the candidates of a kind that are left in the order of their z; and how many tests these
 * are. */
static size_t order_candidates(struct tail_comparison *c, bool time, struct candidate **order,
			       uint64_t *tests)
{
	size_t n = 0;

	*tests = c->tests;
	for (size_t i = 0; i < c->candidates; i++) {
		struct candidate *k = &c->candidate[i];

		if (k->named)
			*tests -= k->tests < *tests ? k->tests : *tests - 1;
		if (k->named || !k->tests || candidate_is_time(c, k) != time)
			continue;
		if (k->cuts) {
			find_best(c, k);
		} else {
			fill_strata(c, k->begin, k->end);
			k->z = strata_z(&c->strata);
		}
		if (time && k->z < 0)
			k->z = 0;
		order[n++] = k;
	}
	if (n)
		qsort(order, n, sizeof(*order), compare_by_z);
	return n;
}

/* Name the candidate of a kind that explains most of what is left. Returns 1; 0: none is
 * significant; -1: out of memory. */
static int name_next(struct tail_comparison *c, bool time, struct candidate **order)
{
	/* no p of a smaller z is significant after the correction */
	const double z_least = 2;
	uint64_t tests;
	size_t n = order_candidates(c, time, order, &tests);

	for (size_t i = 0; i < n && fabs(order[i]->z) > z_least; i++) {
		double p = candidate_p(c, order[i], c->alpha / (double)tests);

		if (p < 0)
			return -1;
		p = fmin(p * (double)tests, 1);
		c->least = p < c->least ? p : c->least;
		if (p > c->alpha)
			continue;
		name_candidate(c, order[i], fmax(p, P_LEAST));
		return divide_strata(c, order[i]) ? -1 : 1;
	}
	return 0;
}

/* Name what differs of one kind. Returns -1 when out of memory. */
static int name_all(struct tail_comparison *c, bool time)
{
	struct candidate **order = calloc(c->candidates + 1, sizeof(struct candidate *));
	size_t first = c->nnamed;
	int more = order ? 1 : -1;

	while (more > 0 && c->nnamed - first < NAMED_MOST)
		more = name_next(c, time, order);
	free(order);
	return more < 0 ? -1 : 0;
}

/* Set *most to how well the rows from `from` on, or the first of them, tell the slow calls: z
 * squared of having one of them. Two causes together have the slow calls; two decoys have other
 * calls too. Returns -1 when out of memory. */
static int named_explain(const struct tail_comparison *c, size_t from, double *most)
{
	uint8_t *any = calloc((size_t)c->n + 1, sizeof(*any));
	struct stratum k = {.n = c->n, .s = c->s};

	*most = 0;
	for (size_t i = from; any && i < c->nnamed; i++) {
		const struct named *d = &c->named[i];
		uint8_t *in = calloc((size_t)c->n + 1, sizeof(*in));
		double excess, z;

		for (uint32_t m = d->begin; in && m < d->end; m++)
			in[c->member[m]] = 1;
		k.m = k.a = 0;
		for (uint32_t m = 0; in && m < c->n; m++) {
			any[m] |= in[m] != d->without;
			k.m += any[m];
			k.a += any[m] && m < c->s;
		}
		excess = k.a - (double)k.m * k.s / k.n;
		z = z_of(excess, stratum_variance(&k));
		*most = fmax(*most, z > 0 ? z * z : 0);
		free(in);
	}
	free(any);
	return any ? 0 : -1;
}

/* Divide the strata by all that is named of a kind. Returns -1 when out of memory. */
static int divide_named(struct tail_comparison *c, bool time)
{
	join_strata(c);
	for (size_t i = 0; i < c->candidates; i++)
		if (c->candidate[i].named && candidate_is_time(c, &c->candidate[i]) == time &&
		    divide_strata(c, &c->candidate[i]))
			return -1;
	return 0;
}

/* Forget what is named of a kind. */
static void forget_named(struct tail_comparison *c, bool time)
{
	for (size_t i = 0; i < c->candidates; i++)
		if (candidate_is_time(c, &c->candidate[i]) == time)
			c->candidate[i].named = false;
}

static bool same_named(const struct named *a, const struct named *b)
{
	return a->feature == b->feature && a->number == b->number &&
	       (a->number || a->item == b->item);
}

/* With shares of the time first: name the others within what these explain. Those that make no
 * difference there only go with the first share. Returns -1 when out of memory. */
static int name_within_times(struct tail_comparison *c, size_t others)
{
	struct named alone[NAMED_MOST];
	size_t times = c->nnamed - others;

	memcpy(alone, c->named, others * sizeof(*alone));
	memmove(c->named, c->named + others, times * sizeof(*alone));
	c->nnamed = times;
	forget_named(c, false);
	if (divide_named(c, true) || name_all(c, false))
		return -1;
	for (size_t i = 0; i < others; i++) {
		size_t k = times;

		while (k < c->nnamed && !same_named(&alone[i], &c->named[k]))
			k++;
		if (k == c->nnamed)
			c->with[c->nwith++] = alone[i];
	}
	return 0;
}

/* Name what is different, in the order in which it is written. Returns -1 when out of memory. */
static int name_differences(struct tail_comparison *c)
{
	size_t others;
	double explained, by_times;

	join_strata(c);
	if (name_all(c, false) || named_explain(c, 0, &explained))
		return -1;
	others = c->nnamed;
	/* alone first: do shares of the time explain much more? */
	join_strata(c);
	if (name_all(c, true) || named_explain(c, others, &by_times))
		return -1;
	if (by_times > TIMES_MORE * explained)
		return name_within_times(c, others);
	/* no: what do they explain besides? */
	c->nnamed = others;
	forget_named(c, true);
	return divide_named(c, false) || name_all(c, true) ? -1 : 0;
}

/* --- the comparison of a trace --- */

static void comparison_free(struct tail_comparison *c)
{
	for (size_t i = 0; i < c->nnamed; i++)
		free(c->named[i].note);
	free(c->call);
	free(c->member);
	free(c->value);
	free(c->candidate);
	free(c->stratum);
	strata_free(&c->strata);
	free(c->at);
	free(c->x);
	free(c->y);
}

static int compare_by_hash(const void *a, const void *b)
{
	const struct sampled_call *x = *(struct sampled_call *const *)a;
	const struct sampled_call *y = *(struct sampled_call *const *)b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return compare_kept(a, b);
}

/* Choose the calls to compare: of the slow ones, and of all, those with the smallest hashes. */
static int choose_calls(struct tail_comparison *c)
{
	struct tail *t = c->t;
	size_t of_all = 0;

	c->call = calloc(2 * SAMPLE_CALLS + 1, sizeof(struct sampled_call *));
	if (!c->call)
		return -1;
	if (t->ncalls)
		qsort(t->call, t->ncalls, sizeof(*t->call), compare_by_hash);
	for (size_t i = 0; i < t->ncalls && c->n < SAMPLE_CALLS; i++)
		if (t->call[i]->total > c->above)
			c->call[c->n++] = t->call[i];
	c->s = c->n;
	for (size_t i = 0; i < t->ncalls && of_all < SAMPLE_CALLS; i++, of_all++)
		if (t->call[i]->total <= c->above)
			c->call[c->n++] = t->call[i];
	/* fewer than that many are all; of more the number may be that of a sample */
	c->about &= c->s == SAMPLE_CALLS;
	c->slow = c->s < SAMPLE_CALLS || c->slow < c->s ? c->s : c->slow;
	c->slow = c->slow < c->all - (c->n - c->s) ? c->slow : c->all - (c->n - c->s);
	return 0;
}

/* Find the duration of a rank among the calls of a bucket, and the number of longer ones in the
 * bucket: in its sample, so exact where this has all calls of the bucket. */
static void find_in_bucket(struct tail_comparison *c, const struct histogram_bucket *b,
			   uint64_t rank)
{
	const struct tail *t = c->t;
	uint64_t n = 0, at = 0, longer = 0, wanted;

	for (size_t i = 0; i < t->ncalls; i++)
		n += histogram_index(t->call[i]->total) == b->index &&
		     t->call[i]->hash <= t->limit[b->index];
	wanted = (uint64_t)((uint128)(b->count - rank) * n / b->count);
	/* the slowest are the first ones */
	for (size_t i = 0; i < t->ncalls && at <= wanted; i++) {
		const struct sampled_call *k = t->call[i];

		if (histogram_index(k->total) != b->index || k->hash > t->limit[b->index])
			continue;
		longer = k->total == c->above ? longer : at;
		c->above = k->total;
		at++;
	}
	c->slow += n ? (uint64_t)((uint128)b->count * longer / n) : 0;
	c->about = n < b->count;
}

/* Find which calls are slow: those longer than the quantile. */
static void find_slow(struct tail_comparison *c, double quantile)
{
	const uint64_t denominator = 1000000000;
	uint64_t part = (uint64_t)llround(quantile * (double)denominator), rank, below = 0;
	struct histogram_iterator it;
	struct histogram_bucket b;
	bool found = false;

	c->all = c->t->count;
	rank = (uint64_t)(((uint128)c->all * part + denominator - 1) / denominator);
	histogram_begin(&it, &c->t->histogram);
	while (!found && histogram_next(&it, &b)) {
		found = below + b.count >= rank;
		below += b.count;
	}
	if (!found)
		return;
	c->slow = c->all - below;
	below -= b.count;
	c->above = b.high;
	find_in_bucket(c, &b, rank > below ? rank - below : 1);
}

/* --- output --- */

/* Test whether an item is that a text begins with another one. */
static bool item_is_begin(const struct tail *t, uint32_t number)
{
	return item_get(t, number).form == FORM_TEXT &&
	       intern_size(&t->items, number) == sizeof(struct tail_item) + TEXT_MOST;
}

/* Append the value of an item. */
static int put_item_value(struct buffer *b, const struct tail *t, uint32_t number)
{
	struct tail_item item = item_get(t, number);
	char digits[SHORTEST_SIZE];
	const char *text = intern_data(&t->items, number) + sizeof item;
	size_t size;

	switch ((enum field_form)item.form) {
	case FORM_INT: return buffer_signed(b, (int64_t)item.bits);
	case FORM_UINT: return buffer_decimal(b, item.bits);
	case FORM_REAL:
		return buffer_append(b, digits, shortest_double(digits, (double)item_value(&item)));
	default: break;
	}
	size = intern_size(&t->items, number) - sizeof item;
	return buffer_append(b, text, size) || (item_is_begin(t, number) && buffer_puts(b, "..."))
		       ? -1
		       : 0;
}

/* Get the operator of a condition on the feature. */
static const char *relation_of(const struct tail *t, const struct named *d)
{
	if (d->number)
		return d->without ? "<" : ">=";
	if (d->item == INTERN_NONE)
		return d->without ? "!has" : "has";
	if (item_is_begin(t, d->item))
		return d->without ? "!~" : "=~";
	return d->without ? "!=" : "==";
}

/* Append the value of an item as the right side of a condition. */
static int put_operand(struct buffer *b, const struct tail *t, uint32_t number)
{
	const char *text = intern_data(&t->items, number) + sizeof(struct tail_item);
	struct buffer pattern = {0};
	int bad;

	if (item_get(t, number).form != FORM_TEXT)
		return put_item_value(b, t, number);
	if (!item_is_begin(t, number))
		return expression_put_string(
			b, text, intern_size(&t->items, number) - sizeof(struct tail_item));
	bad = buffer_u8(&pattern, '^');
	for (int i = 0; i < TEXT_MOST && !bad; i++) {
		if (strchr(".[]()*+?{}|\\^$", text[i]) && text[i])
			bad = buffer_u8(&pattern, '\\');
		bad = bad || buffer_u8(&pattern, (uint8_t)text[i]);
	}
	bad = bad || expression_put_string(b, (const char *)pattern.data, pattern.size);
	buffer_free(&pattern);
	return bad ? -1 : 0;
}

/* Append a difference: "arg.size >= 65536", "child fsync", "no child fsync". */
static int put_difference(struct buffer *b, const struct tail *t, const struct named *d)
{
	enum feature_kind kind = feature_kind(t, d->feature);
	const char *name = feature_name(t, d->feature), *words;
	struct named positive = *d;
	bool no = d->without;

	if (!d->number && d->item == INTERN_NONE)
		return buffer_printf(b, "%s(%s)", relation_of(t, d), name);
	switch (kind) {
	case FEATURE_CHILD: words = no ? "no child " : "child "; break;
	case FEATURE_BEFORE: words = no ? "not after " : "after "; break;
	case FEATURE_WAKER: words = no ? "not woken by " : "woken by "; break;
	case FEATURE_STATE:
	case FEATURE_CHILD_TIME:
		return buffer_printf(b, "%s%s %s ", kind == FEATURE_CHILD_TIME ? "child " : "",
				     name, relation_of(t, d)) ||
				       put_item_value(b, t, d->item) ||
				       buffer_puts(b, "% of the time")
			       ? -1
			       : 0;
	default:
		/* a comparison is false of calls that lack the feature */
		no = d->without && !d->whole;
		positive.without &= !no;
		return buffer_printf(b, "%s%s %s ", no ? "!(" : "", name,
				     relation_of(t, &positive)) ||
				       put_operand(b, t, d->item) || (no && buffer_puts(b, ")"))
			       ? -1
			       : 0;
	}
	return buffer_puts(b, words) || put_item_value(b, t, d->item) ? -1 : 0;
}

/* Test whether two sets are nearly the same: of the calls in either, 19 of 20 are in both. */
static bool is_alike(const struct tail_comparison *c, const struct named *d, const uint8_t *in,
		     const struct candidate *k)
{
	uint32_t both = 0, n = k->end - k->begin, of = d->end - d->begin, either;

	if (k->cuts || k->feature == d->feature)
		return false;
	for (uint32_t i = k->begin; i < k->end; i++)
		both += in[c->member[i]];
	either = n + of - both;
	if (d->without) {
		uint32_t neither = c->n - either;

		either = c->n - both;
		both = neither;
	}
	return (uint64_t)both * 20 >= (uint64_t)either * 19;
}

/* Note which other features nearly the same calls have, at most a few. */
static int note_alike(struct tail_comparison *c, const struct named *d, struct buffer *b)
{
	enum { ALIKE_MOST = 3 };
	uint8_t *in = calloc((size_t)c->n + 1, sizeof(*in));
	int bad = in ? 0 : -1;
	unsigned found = 0;

	for (uint32_t i = d->begin; in && i < d->end; i++)
		in[c->member[i]] = 1;
	for (size_t i = 0; i < c->candidates && !bad && found < ALIKE_MOST; i++) {
		const struct candidate *k = &c->candidate[i];
		const struct named other = {.feature = k->feature,
					    .item = k->item,
					    .without = d->without,
					    .whole = true};

		if (is_alike(c, d, in, k))
			bad = buffer_puts(b, found++ ? ", " : "as ") ||
			      put_difference(b, c->t, &other);
	}
	free(in);
	return bad ? -1 : 0;
}

/* Set the notes of what is named. Returns -1 when out of memory. */
static int note_named(struct tail_comparison *c)
{
	for (size_t i = 0; i < c->nnamed; i++) {
		struct named *d = &c->named[i];
		struct buffer b = {0};
		int bad = note_alike(c, d, &b);

		for (size_t k = 0; !i && k < c->nwith && !bad; k++)
			bad = buffer_puts(&b, k	       ? ", "
					      : b.size ? "; often with "
						       : "often with ") ||
			      put_difference(&b, c->t, &c->with[k]);
		if (!bad && b.size)
			bad = buffer_u8(&b, '\0');
		d->note = (char *)b.data;
		if (bad)
			return -1;
	}
	return 0;
}

static void put_cell(struct aligned *a, const char *fmt, double x)
{
	char text[40];

	aligned_cell(a, text, (size_t)snprintf(text, sizeof text, fmt, x), INK_PLAIN);
}

static void put_share(struct aligned *a, uint32_t n, uint32_t of)
{
	put_cell(a, n == of || !n || 100.0 * n / of >= 0.995 ? "%.1f%%" : "%.2g%%",
		 of ? 100.0 * n / of : 0);
}

/* Get a ratio with the digits that it deserves. */
static void format_ratio(char text[static 40], double x)
{
	snprintf(text, 40, x < 99.5 ? "%.2g" : x < 1e6 ? "%.0f" : "%.1e", x);
}

static int put_row(struct tail_comparison *c, const struct named *d, struct aligned *a)
{
	struct buffer b = {0};
	char text[40], low[40], both[96];
	int bad;

	put_share(a, d->slow, c->s);
	put_share(a, d->rest, c->n - c->s);
	format_ratio(text, d->ratio);
	aligned_cell(a, text, strlen(text), INK_PLAIN);
	format_ratio(low, d->low);
	format_ratio(text, d->high);
	aligned_cell(a, both, (size_t)snprintf(both, sizeof both, "%s - %s", low, text), INK_PLAIN);
	put_cell(a, d->p > P_LEAST ? "%.2g" : "< %.0e", d->p > P_LEAST ? d->p : P_LEAST);
	bad = put_difference(&b, c->t, d) || (d->note && buffer_printf(&b, " (%s)", d->note));
	if (!bad)
		aligned_cell(a, (const char *)b.data, b.size, INK_PLAIN);
	buffer_free(&b);
	return bad ? -1 : 0;
}

static int put_table(struct tail_comparison *c, struct screen *screen, struct text *out,
		     struct error *e)
{
	static const char *const names[] = {"slow",	     "rest", "risk ratio",
					    "95 % interval", "p",    "difference"};
	enum { COLUMNS = sizeof(names) / sizeof(*names) };
	struct aligned a;
	int bad = 0;

	aligned_begin(&a, COLUMNS);
	for (unsigned i = 0; i < COLUMNS && a.column; i++)
		a.column[i] = (struct aligned_column){
			.name = names[i], .text = i == COLUMNS - 1, .omit_order = i == 3 ? 1 : 0};
	for (size_t i = 0; i < c->nnamed && !bad; i++)
		bad = put_row(c, &c->named[i], &a);
	bad = bad ? error_no_memory(e) : aligned_write(&a, screen, out, e);
	aligned_free(&a);
	return bad;
}

/* Write in which tenth of the time most of the slow calls began, if they are not spread evenly. */
static void put_tenth(const struct tail_comparison *c, struct text *out)
{
	enum { TENTHS = 10 };
	const struct tail *t = c->t;
	struct stratum tenth[TENTHS] = {0};
	int most = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t at = c->call[i]->start - t->first;
		struct stratum *k = &tenth[(uint128)at * TENTHS / (t->last_start - t->first + 1)];

		k->m++;
		k->a += i < c->s;
	}
	for (int i = 0; i < TENTHS; i++) {
		tenth[i].n = c->n;
		tenth[i].s = c->s;
		most = tenth[i].a > tenth[most].a ? i : most;
	}
	if (strata_p(&(struct strata){&tenth[most], 1, c->strata.log_factorial}, true) * TENTHS <=
	    c->alpha)
		text_printf(out,
			    "slow calls come in bursts: %.2g%% of them and %.2g%% of the others "
			    "began in tenth %d of the time\n",
			    100.0 * tenth[most].a / c->s,
			    100.0 * (tenth[most].m - tenth[most].a) / (c->n - c->s), most + 1);
}

/* Write what is compared, the table, and what was not named. */
static int put_people(struct tail_comparison *c, const char *quantile, struct screen *screen,
		      struct text *out, struct error *e)
{
	char above[VALUE_SIZE];

	format_duration(above, c->above, c->t->clocks.ticks);
	text_printf(out,
		    "%s%" PRIu64 " of %" PRIu64
		    " calls are slow: longer than %s, the quantile %s\n",
		    c->about ? "about " : "", c->slow, c->all, above, quantile);
	if (c->s < c->slow || c->n - c->s < c->all - c->slow)
		text_printf(out,
			    "compared: samples of %" PRIu32 " slow calls and %" PRIu32 " others\n",
			    c->s, c->n - c->s);
	if (c->s && c->s < c->n)
		put_tenth(c, out);
	if (c->nnamed)
		return put_table(c, screen, out, e);
	if (!c->slow)
		return 0;
	text_printf(out, "nothing is significantly different: of %" PRIu64 " candidates ",
		    c->tests);
	if (c->least < 1)
		text_printf(out, "the best has p %.2g, corrected\n", c->least);
	else
		text_puts(out, "none differs by more than chance does\n");
	return 0;
}

static void put_real(struct cells *cells, double x)
{
	char text[40];

	cells_number(cells, text, (size_t)snprintf(text, sizeof text, "%.4g", x));
}

static int put_cells(struct tail_comparison *c, const struct named *d, struct cells *cells,
		     struct buffer *b)
{
	enum feature_kind kind = feature_kind(c->t, d->feature);
	bool value = d->item != INTERN_NONE;
	struct tail_item item = value ? item_get(c->t, d->item) : (struct tail_item){0};

	b->size = 0;
	if (put_difference(b, c->t, d))
		return -1;
	cells_text(cells, (const char *)b->data, b->size);
	b->size = 0;
	if (buffer_printf(b, "%s%s", feature_name(c->t, d->feature),
			  kind >= FEATURE_STATE ? "%" : ""))
		return -1;
	cells_text(cells, (const char *)b->data, b->size);
	cells_text(cells, relation_of(c->t, d), strlen(relation_of(c->t, d)));
	b->size = 0;
	if (value && put_item_value(b, c->t, d->item))
		return -1;
	if (!value)
		cells_none(cells);
	else if (item_is_number(&item))
		cells_number(cells, (const char *)b->data, b->size);
	else
		cells_text(cells, (const char *)b->data, b->size);
	cells_u64(cells, d->slow);
	cells_u64(cells, c->s);
	cells_u64(cells, d->rest);
	cells_u64(cells, c->n - c->s);
	put_real(cells, d->ratio);
	put_real(cells, d->low);
	put_real(cells, d->high);
	put_real(cells, d->p);
	if (d->note)
		cells_text(cells, d->note, strlen(d->note));
	else
		cells_none(cells);
	return 0;
}

static int put_differences(struct tail_comparison *c, enum table_format format, struct text *out)
{
	static const char *const names[] = {"difference", "feature", "relation", "value", "slow",
					    "slow_of",	  "rest",    "rest_of",	 "ratio", "low",
					    "high",	  "p",	     "note"};
	struct buffer b = {0};
	struct cells cells;
	int bad = 0;

	cells_begin(&cells, out, format, names, sizeof(names) / sizeof(*names));
	for (size_t i = 0; i < c->nnamed && !bad; i++)
		bad = put_cells(c, &c->named[i], &cells, &b);
	cells_end(&cells);
	buffer_free(&b);
	return bad;
}

static int compare_by_start(const void *a, const void *b, void *ctx)
{
	const struct tail_comparison *c = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	uint64_t x = c->call[i]->start, y = c->call[k]->start;

	return x != y ? (x > y) - (x < y) : (i > k) - (i < k);
}

/* Set the places of the calls in the order of time. Returns -1 when out of memory. */
static int order_by_time(struct tail_comparison *c)
{
	uint32_t *order = calloc((size_t)c->n + 1, sizeof(*order));

	c->at = calloc((size_t)c->n + 1, sizeof(*c->at));
	c->x = calloc((size_t)c->n + 1, sizeof(*c->x));
	c->y = calloc((size_t)c->n + 1, sizeof(*c->y));
	for (uint32_t i = 0; order && i < c->n; i++)
		order[i] = i;
	if (order && c->n)
		qsort_r(order, c->n, sizeof(*order), compare_by_start, c);
	for (uint32_t i = 0; order && c->at && i < c->n; i++)
		c->at[order[i]] = i;
	free(order);
	return order && c->at && c->x && c->y ? 0 : -1;
}

/* Compare the calls. Returns -1 when out of memory. */
static int compare_calls(struct tail_comparison *c)
{
	find_slow(c, c->quantile);
	if (choose_calls(c))
		return -1;
	c->stratum = calloc((size_t)c->n + 1, sizeof(*c->stratum));
	if (strata_init(&c->strata, c->n, c->s) || !c->stratum || order_by_time(c))
		return -1;
	/* with all calls slow, or none, there is nothing to compare */
	if (!c->s || c->s == c->n)
		return 0;
	return make_candidates(c) || count_tests(c) || name_differences(c) || note_named(c) ? -1
											    : 0;
}

/* --- a run --- */

static void tail_begin_calls(struct tail *t)
{
	calls_init(&t->calls, t->dictionary);
	t->calls.data_size =
		sizeof(struct open_data) + t->where->keys.begins * sizeof(struct key_cell);
	t->calls.on_lost = tail_lose;
	t->calls.on_forget = tail_forget;
	t->calls.on_lost_ctx = t;
	t->calls.on_restore = tail_restore;
	t->calls.on_restore_ctx = t;
}

static int tail_init(struct tail *t, const struct condition *where, struct dictionary *d)
{
	*t = (struct tail){.dictionary = d,
			   .where = where,
			   .scheduling = {.dictionary = d},
			   .prune_at = 2 * SAMPLE_CALLS,
			   .cells = calloc(where->keys.count + 1, sizeof(struct key_cell)),
			   .limit = calloc(HISTOGRAM_BUCKETS, sizeof(uint64_t)),
			   .heap = calloc(SAMPLE_CALLS, sizeof(uint64_t))};
	key_texts_init(&t->texts);
	tail_begin_calls(t);
	for (size_t i = 0; t->limit && i < HISTOGRAM_BUCKETS; i++)
		t->limit[i] = UINT64_MAX;
	return t->cells && t->limit && t->heap ? 0 : -1;
}

static void tail_free(struct tail *t)
{
	for (size_t i = 0; i < t->ncalls; i++)
		free(t->call[i]);
	for (size_t i = 0; i < t->open_capacity; i++) {
		buffer_free(&t->open[i].payload);
		free(t->open[i].item);
		free(t->open[i].child);
	}
	free(t->call);
	free(t->open);
	free(t->cells);
	free(t->limit);
	free(t->heap);
	free(t->may);
	free(t->last);
	free(t->waker);
	if (t->states)
		states_free(t->states);
	free(t->states);
	calls_free(&t->calls);
	key_texts_free(&t->texts);
	indexes_free(&t->opens);
	idmap_free(&t->woken);
	intern_free(&t->wakers);
	intern_free(&t->features);
	intern_free(&t->items);
	histogram_free(&t->histogram);
	scheduling_types_free(&t->scheduling);
}

/* Take all blocks. Returns -1 with e filled, or when out of memory. */
static int tail_run(struct tail *t, struct stage *stage, struct query *q, struct error *e)
{
	bool weights = false;
	struct block block;
	struct call call;

	while (stage_next(stage, &block)) {
		report_missed_calls(stage, &block);
		if (tail_block(t, &block) || clocks_check(&t->clocks, CLOCKS_HINT, e) ||
		    query_check_clocks(q, &t->clocks, weights, e))
			return -1;
	}
	while (calls_finish(&t->calls, &call))
		;
	return t->calls.out_of_memory || tail_prune(t) ? -1 : 0;
}

/* Write the result. Returns -1 with e filled. */
static int tail_write(struct tail *t, struct stage *stage, const struct query *q, struct error *e)
{
	const struct stat_settings *s = q->settings;
	const char *quantile = s->quantile_text ? s->quantile_text : "0.99";
	struct tail_comparison c = {.t = t,
				    .quantile = s->quantile_text ? s->quantile : 0.99,
				    .alpha = s->alpha,
				    .least = 1};
	struct text *text = malloc(sizeof(*text));
	int bad = !text || compare_calls(&c) ? error_no_memory(e) : 0;

	if (!bad) {
		text_init(text, &stage->output);
		screen_find(s->screen, &stage->output);
		if (s->format != TABLE_ALIGNED)
			bad = put_differences(&c, s->format, text) ? error_no_memory(e) : 0;
		else if (t->count)
			bad = put_people(&c, quantile, s->screen, text, e);
		bad = bad || text_flush(text, e) ? -1 : 0;
	}
	if (!bad && !stage->options->quiet && t->any && !t->count)
		warn(NULL, NO_OFFSET, "the condition is true of none of %" PRIu64 " calls", t->any);
	else if (!bad && !stage->options->quiet && t->count && !c.slow)
		warn(NULL, NO_OFFSET,
		     "no call is longer than the quantile %s of all: use a lower one", quantile);
	comparison_free(&c);
	free(text);
	return bad;
}

void run_explain_tail(struct stage *stage, struct query *q)
{
	struct tail t;
	struct error e = {0};
	int bad = tail_init(&t, &q->where, &stage->in.dictionary) || tail_run(&t, stage, q, &e);

	if (bad && e.what[0])
		stage_fail(stage, &e);
	else if (bad)
		stage_no_memory(stage);
	if (!query_check_names(stage, q, NULL)) {
		if (tail_write(&t, stage, q, &e))
			stage_fail(stage, &e);
		else if (!stage->options->quiet)
			report_events(stage, q, &t.calls.counts);
	}
	tail_free(&t);
}
