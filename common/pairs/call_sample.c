/*
 * call_sample.c - the slow calls of a trace and the others, samples with what is known of each call
 */
#include "common/pairs/call_sample.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scheduling/states.h"
#include "common/stream/field.h"
#include "common/util/heap.h"
#include "common/value/argument.h"

enum {
	ITEMS_MOST = 1 << 16, /* of all kept calls; further values are left out */
	CHILDREN_MOST = 32,   /* names of children of a call */
	FEATURES_MOST = 4096,
	MEMBERS_MOST = 32, /* of a struct */
	STRUCTS_MOST = 4,  /* inside each other */
};

struct child {
	uint32_t location;
	uint64_t time;
};

/* An open call for which the condition may be true. */
struct sampled_open {
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
	uint64_t open; /* index + 1 in call_sample.open */
};

/* The last wakeup of a thread. */
struct waker {
	uint64_t time;
	uint32_t name; /* in call_sample.wakers */
	bool waking;   /* it is of sched_waking, which has the cause of the sched_wakeup after it */
};

enum { MAY_NOT_KNOWN, MAY_BE, MAY_NOT };

/* --- features and items --- */

/* Get the number of a feature; INTERN_NONE: there are too many, or out of memory. */
static uint32_t feature_number(struct call_sample *m, enum feature_kind kind, const char *name,
			       size_t n)
{
	char key[1 + 2 * TEXT_MOST] = {(char)kind};
	uint32_t number;

	if (n >= sizeof key)
		return INTERN_NONE; /* a part of the name is no field */
	memcpy(key + 1, name, n);
	number = intern_find(&m->features, key, n + 1);
	return number != INTERN_NONE || m->features.count >= FEATURES_MOST
		       ? number
		       : intern(&m->features, key, n + 1);
}

/* Get the number of an item. INTERN_NONE: there are too many. */
static uint32_t item_number(struct call_sample *m, uint32_t feature, const struct field_value *v)
{
	struct {
		struct sample_item item;
		char text[TEXT_MOST];
	} key;
	size_t n = 0;
	uint32_t number;
	double real;

	memset(&key.item, 0, sizeof key.item);
	key.item.feature = feature;
	key.item.form = v->form;
	if (v->form == FORM_TEXT) {
		key.item.bits = v->size > TEXT_MOST;
		n = v->size;
		if (n > TEXT_MOST)
			/* of a whole number of characters */
			for (n = TEXT_MOST; n > TEXT_MOST - 4 && (v->text[n] & 0xc0) == 0x80; n--)
				;
		memcpy(key.text, v->text, n);
	} else if (v->form == FORM_REAL) {
		real = v->size == 4 ? shortest_widen((float)v->real) : v->real;
		real = real == 0 ? 0 : real; /* -0 is 0 */
		key.item.form = isnan(real) ? FORM_NONE : FORM_REAL;
		memcpy(&key.item.bits, &real, isnan(real) ? 0 : sizeof real);
	} else if (v->form != FORM_NONE) {
		key.item.bits = v->u;
		key.item.form = v->form == FORM_INT && v->i >= 0 ? FORM_UINT : v->form;
	}
	number = intern_find(&m->items, &key, sizeof key.item + n);
	return number != INTERN_NONE || m->items.count >= ITEMS_MOST
		       ? number
		       : intern(&m->items, &key, sizeof key.item + n);
}

/* Add an item to the call that ends. */
static void sample_add(struct call_sample *m, enum feature_kind kind, const char *name,
		       const struct field_value *v)
{
	uint32_t feature = feature_number(m, kind, name, strlen(name)), item;

	if (feature == INTERN_NONE || m->nitem == CALL_ITEMS)
		return;
	/* a leave may repeat the arguments of its enter */
	for (uint32_t i = 0; i < m->nitem && kind != FEATURE_CHILD; i++)
		if (item_get(m, m->item[i]).feature == feature)
			return;
	item = item_number(m, feature, v);
	/* beyond the number of items: it is there */
	if (item == INTERN_NONE)
		item = item_number(m, feature, &(struct field_value){.form = FORM_NONE});
	if (item != INTERN_NONE)
		m->item[m->nitem++] = item;
}

static void sample_add_text(struct call_sample *m, enum feature_kind kind, const char *name,
			    struct text_ref text)
{
	sample_add(m, kind, name,
		   &(struct field_value){.form = FORM_TEXT,
					 .text = (const uint8_t *)text.text,
					 .size = text.size});
}

static void sample_add_number(struct call_sample *m, enum feature_kind kind, const char *name,
			      int64_t number)
{
	sample_add(m, kind, name, &(struct field_value){.form = FORM_INT, .i = number});
}

/* Add a share of the duration of a call, in percent. */
static void sample_add_share(struct call_sample *m, enum feature_kind kind, const char *name,
			     uint64_t time, uint64_t total)
{
	if (total)
		sample_add_number(m, kind, name, (int64_t)((uint128)time * 100 / total));
}

/* --- the sample --- */

/* Mix the bits of a number (the last step of splitmix64). */
static uint64_t sample_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t sample_hash(const struct call *call)
{
	uint64_t thread = (uint64_t)(uint32_t)call->lane->tid << 32 | (uint32_t)call->lane->pid;

	return sample_mix(sample_mix(sample_mix(call->start + 0x9e3779b97f4a7c15) ^ call->end) ^
			  thread);
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
static int sample_forget_items(struct call_sample *m)
{
	struct intern kept = {0};
	int bad = 0;

	for (size_t i = 0; i < m->ncalls && !bad; i++)
		bad = move_items(&kept, &m->items, m->call[i]->item, m->call[i]->count);
	for (size_t i = 0; i < m->opens.count && !bad; i++)
		bad = move_items(&kept, &m->items, m->open[i].item, m->open[i].items);
	intern_free(&m->items);
	m->items = kept;
	return bad;
}

/* Leave out the calls that have SAMPLE_CALLS slower ones with smaller hashes, and note which
 * further calls need not be kept. */
static int sample_prune(struct call_sample *m)
{
	size_t kept = 0, in_heap = 0;
	uint32_t bucket = HISTOGRAM_BUCKETS;
	uint64_t *heap = m->heap;

	qsort(m->call, m->ncalls, sizeof(*m->call), compare_kept);
	for (size_t i = 0; i < m->ncalls; i++) {
		struct sampled_call *c = m->call[i];
		uint32_t of = histogram_index(c->total);

		while (bucket > of)
			m->limit[--bucket] = in_heap < SAMPLE_CALLS ? UINT64_MAX : heap[0];
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
		m->call[kept++] = c;
	}
	while (bucket)
		m->limit[--bucket] = in_heap < SAMPLE_CALLS ? UINT64_MAX : heap[0];
	m->ncalls = kept;
	m->prune_at = kept + (kept / 2 > SAMPLE_CALLS ? kept / 2 : SAMPLE_CALLS);
	return m->items.count > ITEMS_MOST / 2 ? sample_forget_items(m) : 0;
}

/* Keep the call that ends, whose items are known. */
static int sample_keep(struct call_sample *m, const struct call *call, uint64_t hash)
{
	struct sampled_call *c = malloc(sizeof(*c) + m->nitem * sizeof(*c->item));

	if (!c || ARRAY_GROW(m->call, m->calls_capacity, m->ncalls)) {
		free(c);
		return -1;
	}
	c->total = call->total;
	c->hash = hash;
	c->start = call->start;
	c->count = m->nitem;
	memcpy(c->item, m->item, m->nitem * sizeof(*c->item));
	m->call[m->ncalls++] = c;
	return m->ncalls >= m->prune_at ? sample_prune(m) : 0;
}

/* --- from calls to items --- */

/* Add the values of an event of a type without values: its fields. */
static void sample_add_fields(struct call_sample *m, const struct event *e)
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
		if (event_ref_field(m->dictionary, e, f->name.text, &v))
			sample_add(m, FEATURE_ARGUMENT, name, &v);
	}
}

/* Add the value of a path, or the members of its struct. v is before the value; out of memory the
 * members are left out. */
static void sample_add_value(struct call_sample *m, const struct event *e, struct buffer *path,
			     struct values v, unsigned structs)
{
	enum feature_kind kind = !memcmp(path->data, "ret", 3) ? FEATURE_RETURN : FEATURE_ARGUMENT;
	const struct definition *names;
	struct field_value value = {.form = FORM_NONE};
	struct value of = {.tag = VALUE_NULL};
	size_t size = path->size;

	if (buffer_u8(path, '\0') || m->nitem == CALL_ITEMS)
		return;
	event_ref_field(m->dictionary, e, (const char *)path->data, &value);
	sample_add(m, kind, (const char *)path->data, &value);
	while (value.form == FORM_NONE && values_value(&v, &of) &&
	       ((of.tag == VALUE_ARRAY && of.count == 1) || of.tag == VALUE_REPR))
		;
	if (of.tag != VALUE_STRUCT || structs == STRUCTS_MOST)
		return;
	names = dictionary_definition_id(m->dictionary, of.definition);
	for (uint32_t i = 0; names && i < of.count && i < names->count && i < MEMBERS_MOST; i++) {
		path->size = size;
		if (!buffer_u8(path, '.') && !buffer_puts(path, names->members[i].name.text))
			sample_add_value(m, e, path, v, structs + 1);
		if (!values_skip(&v))
			return;
	}
}

/* Add the arguments and the return value that an event has. */
static int sample_add_values(struct call_sample *m, const struct event *e)
{
	const struct location *p = dictionary_location(m->dictionary, e->location);
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
			sample_add_value(m, e, &name, values, 0);
		if (!values_skip(&values))
			break;
	}
	buffer_free(&name);
	return bad;
}

static int sample_add_event(struct call_sample *m, const struct event *e)
{
	if (e->type->flags & TYPE_VALUES)
		return sample_add_values(m, e);
	sample_add_fields(m, e);
	return 0;
}

/* Add the arguments of the enter. */
static int sample_add_enter(struct call_sample *m, const struct sampled_open *o,
			    const struct lane *lane)
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
	return sample_add_event(m, &e);
}

/* Make items of the arguments of all open calls, as the types and definitions of values are valid
 * in one segment. */
static int sample_end_segment(struct call_sample *m)
{
	static const struct lane no_lane;

	for (size_t i = 0; i < m->opens.count; i++) {
		struct sampled_open *o = &m->open[i];

		m->nitem = 0;
		if (!o->type)
			continue;
		if (sample_add_enter(m, o, &no_lane) ||
		    (m->nitem && ARRAY_REACH(o->item, o->items_capacity, m->nitem - 1)))
			return -1;
		if (m->nitem)
			memcpy(o->item, m->item, m->nitem * sizeof(*o->item));
		o->items = m->nitem;
		o->type = NULL;
	}
	return 0;
}

/* Add the children, those of the same name as one. */
static void sample_add_children(struct call_sample *m, struct sampled_open *o,
				const struct call *call)
{
	for (size_t i = 0; i < o->children; i++) {
		struct text_ref name =
			dictionary_location_name(m->dictionary, o->child[i].location);
		uint64_t time = o->child[i].time;

		for (size_t k = i + 1; k < o->children;) {
			struct text_ref other =
				dictionary_location_name(m->dictionary, o->child[k].location);

			if (other.size != name.size || memcmp(other.text, name.text, name.size)) {
				k++;
				continue;
			}
			time += o->child[k].time;
			o->child[k] = o->child[--o->children];
		}
		sample_add_text(m, FEATURE_CHILD, "child", name);
		sample_add_share(m, FEATURE_CHILD_TIME, name.text, time, call->total);
	}
}

/* Add the thread, its CPU, and who woke the thread last in the call. */
static void sample_add_lane(struct call_sample *m, const struct call *call)
{
	const struct lane *l = call->lane;
	uint32_t at;

	if (l->flags & LANE_HAS_TID)
		sample_add_number(m, FEATURE_TID, "tid", l->tid);
	if (l->flags & LANE_HAS_PID)
		sample_add_number(m, FEATURE_PID, "pid", l->pid);
	if (l->flags & LANE_HAS_CPU)
		sample_add_number(m, FEATURE_CPU, "cpu", l->cpu);
	if (l->comm.size)
		sample_add_text(m, FEATURE_COMM, "comm", l->comm);
	at = l->flags & LANE_HAS_TID ? idmap_get(&m->woken, (uint32_t)l->tid) : 0;
	if (at && m->waker[at - 1].time >= call->start) {
		uint32_t name = m->waker[at - 1].name;

		sample_add_text(m, FEATURE_WAKER, "waker",
				(struct text_ref){.text = intern_data(&m->wakers, name),
						  .size = intern_size(&m->wakers, name)});
	}
}

static void sample_add_states(struct call_sample *m, const uint64_t *of, const struct call *call)
{
	for (int i = 0; of && i < STATES; i++)
		if (of[i])
			sample_add_share(m, FEATURE_STATE, state_names[i], of[i], call->total);
}

/* Set the items of a call that ends. */
static int sample_items(struct call_sample *m, const struct call *call, const struct event *e,
			struct sampled_open *open, const uint64_t *states)
{
	if (open->items)
		memcpy(m->item, open->item, open->items * sizeof(*m->item));
	m->nitem = (uint32_t)open->items;
	if (sample_add_enter(m, open, call->lane) || sample_add_event(m, e))
		return -1;
	sample_add_text(m, FEATURE_NAME, "name",
			dictionary_location_name(m->dictionary, call->location));
	if (call->caller)
		sample_add_text(m, FEATURE_CALLER, "caller",
				dictionary_location_name(m->dictionary, call->caller));
	if (open->before)
		sample_add_text(m, FEATURE_BEFORE, "before",
				dictionary_location_name(m->dictionary, open->before));
	sample_add_lane(m, call);
	sample_add_states(m, states, call);
	sample_add_children(m, open, call);
	return 0;
}

/* --- events --- */

static const struct key_cell *sample_cell(void *ctx, size_t key)
{
	return &((const struct call_sample *)ctx)->cells[key];
}

/* Get the cell of a key that the enter of a call decides: of its name. */
static const struct key_cell *sample_name_cell(void *ctx, size_t key)
{
	const struct call_sample *m = ctx;
	const struct key *k = &m->where->keys.key[key];

	return k->kind == BY_NAME && !k->other ? &m->cells[key] : NULL;
}

/* Test whether the condition may be true of a call, as far as its name shows. -1: out of memory. */
static int sample_may(struct call_sample *m, const struct event *e)
{
	struct event_ref entered = event_ref_of(e);
	bool may;

	if (m->symbol_changes != m->dictionary->symbol_changes && m->nmay)
		memset(m->may, 0, m->nmay);
	m->symbol_changes = m->dictionary->symbol_changes;
	if (ARRAY_REACH(m->may, m->nmay, e->location))
		return -1;
	if (m->may[e->location])
		return m->may[e->location] == MAY_BE;
	entered.pending = entered.timed = true;
	if (keys_cells(&m->where->keys, m->dictionary, &m->texts, &entered, m->cells))
		return -1;
	may = condition_may_hold(m->where, &m->texts, sample_name_cell, m);
	if (e->location)
		m->may[e->location] = may ? MAY_BE : MAY_NOT;
	return may;
}

/* Keep what the call needs of its enter. */
static int sample_enter(struct call_sample *m, const struct event *e, struct open_data *data)
{
	struct event_ref entered = event_ref_of(e);
	uint32_t thread = calls_thread(e);
	int may = sample_may(m, e);
	struct sampled_open *o;
	size_t index;

	if (may <= 0)
		return may;
	if (keys_begin_cells(&m->where->keys, m->dictionary, &m->texts, &entered,
			     (struct key_cell *)(data + 1)) ||
	    indexes_take(&m->opens, &index) || ARRAY_REACH(m->open, m->open_capacity, index))
		return -1;
	data->open = index + 1;
	o = &m->open[index];
	o->type = e->type;
	o->location = e->location;
	o->tail_size = e->tail_size;
	o->payload.size = 0;
	o->items = o->children = 0;
	o->before = thread < m->nlast ? m->last[thread] : 0;
	return buffer_append(&o->payload, e->fixed, e->type->fixed_size) ||
			       (e->tail_size && buffer_append(&o->payload, e->tail, e->tail_size))
		       ? -1
		       : 0;
}

/* Give the slot of an open call back. */
static void sample_close(struct call_sample *m, const struct open_data *data)
{
	if (!data || !data->open)
		return;
	m->open[data->open - 1].type = NULL;
	m->open[data->open - 1].items = 0;
	indexes_give(&m->opens, data->open - 1);
}

static void sample_forget(void *ctx, struct stack *s, const struct frame *f, void *data)
{
	(void)s;
	(void)f;
	sample_close(ctx, data);
}

static void sample_lose(void *ctx, struct stack *s, const struct frame *f, void *data,
			enum calls_lost why)
{
	(void)why;
	sample_forget(ctx, s, f, data);
}

static int sample_restore(void *ctx, const struct event *e, const struct call *call)
{
	return sample_enter(ctx, e, call->data);
}

/* Get the open call that has made a call; NULL: none that matters. */
static struct sampled_open *sample_parent(struct call_sample *m, const struct call *call,
					  const struct event *e)
{
	const struct stack *s = call->on;
	const struct open_data *data;

	if (s && !s->count)
		s = calls_thread_stack(&m->calls, calls_thread(e));
	if (!s || !s->count || !s->frames[s->count - 1].begun)
		return NULL;
	data = calls_data(&m->calls, s, s->count - 1);
	return data->open ? &m->open[data->open - 1] : NULL;
}

/* Note that a call was a child. */
static int sample_note_child(struct sampled_open *o, const struct call *call)
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
static bool sample_counts(struct call_sample *m, const struct call *call, const struct event *e,
			  const uint64_t *states)
{
	const struct open_data *data = call->data;
	struct event_ref subject =
		event_ref_of_call(call, e->type, e, (const struct key_cell *)(data + 1));

	subject.states = states;
	return !keys_cells(&m->where->keys, m->dictionary, &m->texts, &subject, m->cells) &&
	       condition_holds(m->where, &m->texts, sample_cell, m);
}

/* Count a call that ends, if the condition is true of it. */
static int sample_count(struct call_sample *m, const struct call *call, const struct event *e,
			struct sampled_open *open)
{
	const struct state_span span = {.lane = call->lane,
					.start = call->start,
					.end = call->end,
					.total = call->total,
					.left = true};
	const uint64_t *states = NULL;
	uint64_t hash;

	if (m->states)
		states = states_of(m->states, &span);
	if (!sample_counts(m, call, e, states))
		return 0;
	m->first = m->count && m->first < call->start ? m->first : call->start;
	m->last_start = m->last_start > call->start ? m->last_start : call->start;
	m->count++;
	if (histogram_add(&m->histogram, call->total))
		return -1;
	hash = sample_hash(call);
	if (hash >= m->limit[histogram_index(call->total)])
		return 0;
	return sample_items(m, call, e, open, states) || sample_keep(m, call, hash) ? -1 : 0;
}

static int sample_leave(struct call_sample *m, const struct event *e, const struct call *call)
{
	const struct open_data *data = call->data;
	struct sampled_open *open = data && data->open ? &m->open[data->open - 1] : NULL;
	struct sampled_open *parent = sample_parent(m, call, e);
	uint32_t thread = calls_thread(e);
	int bad;

	m->any++;
	bad = open && sample_count(m, call, e, open);
	sample_close(m, data);
	if (bad || (parent && sample_note_child(parent, call)) ||
	    ARRAY_REACH(m->last, m->nlast, thread))
		return -1;
	m->last[thread] = call->location;
	return 0;
}

/* Note who wakes which thread. */
static int sample_wakeup(struct call_sample *m, const struct event *e)
{
	const struct scheduling_type *type = scheduling_types_get(&m->scheduling, e->type);
	char text[TEXT_MOST];
	uint32_t at, name;
	int64_t tid;

	if (!type)
		return -1;
	if ((type->kind != SCHEDULING_WAKING && type->kind != SCHEDULING_WAKEUP) ||
	    !scheduling_number(type, e, WAKE_TID, &tid))
		return 0;
	at = idmap_get(&m->woken, (uint32_t)tid);
	/* a wakeup follows the waking that has its cause */
	if (at && type->kind == SCHEDULING_WAKEUP && m->waker[at - 1].waking)
		return 0;
	snprintf(text, sizeof text, "thread %d", e->lane->tid);
	name = e->lane->comm.size ? intern(&m->wakers, e->lane->comm.text, e->lane->comm.size)
				  : intern_string(&m->wakers, text);
	if (name == INTERN_NONE)
		return -1;
	if (!at) {
		if (ARRAY_GROW(m->waker, m->wakers_capacity, m->nwakers) ||
		    idmap_set(&m->woken, (uint32_t)tid, (uint32_t)m->nwakers + 1))
			return -1;
		at = (uint32_t)++m->nwakers;
	}
	m->waker[at - 1] = (struct waker){e->time, name, type->kind == SCHEDULING_WAKING};
	return 0;
}

static int sample_take(struct call_sample *m, const struct event *e)
{
	struct call call;

	if (m->states && states_take(m->states, e))
		return -1;
	if (e->type->kind == KIND_GAP)
		return 0;
	switch (calls_next(&m->calls, e, &call)) {
	case CALLS_ENTER: return sample_enter(m, e, call.data);
	case CALLS_LEAVE: return sample_leave(m, e, &call);
	default: break;
	}
	if (kind_is_instant(e->type->kind) && sample_wakeup(m, e))
		return -1;
	return m->calls.out_of_memory ? -1 : 0;
}

/* Follow the states of threads from the first row on, if the stream declares events of them. */
static int sample_follow_states(struct call_sample *m)
{
	uint32_t used = 0;

	for (uint32_t i = 1; i < m->dictionary->types.count && !m->states; i++)
		used += dictionary_type(m->dictionary, i)->used;
	if (m->states || m->used == used)
		return 0;
	m->used = used;
	if (!states_declared(m->dictionary))
		return 0;
	m->states = malloc(sizeof(*m->states));
	if (m->states)
		states_init(m->states, m->dictionary, &m->calls);
	return m->states ? 0 : -1;
}

int call_sample_block(struct call_sample *m, const struct block *b)
{
	struct events it;
	struct event e;
	struct error error;

	if (b->kind == BLOCK_SNAPSHOT)
		return calls_restore(&m->calls, b, &error);
	if (b->kind == BLOCK_END)
		return sample_end_segment(m);
	if (b->kind != BLOCK_EVENTS || !b->rows)
		return 0;
	if (sample_follow_states(m))
		return -1;
	clocks_look(&m->clocks, b);
	events_begin(&it, b);
	while (event_next(&it, &e))
		if (sample_take(m, &e))
			return -1;
	return 0;
}

int call_sample_end(struct call_sample *m)
{
	struct call call;

	while (calls_finish(&m->calls, &call))
		;
	return m->calls.out_of_memory || sample_prune(m) ? -1 : 0;
}

/* --- the calls to compare --- */

static int compare_by_hash(const void *a, const void *b)
{
	const struct sampled_call *x = *(struct sampled_call *const *)a;
	const struct sampled_call *y = *(struct sampled_call *const *)b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return compare_kept(a, b);
}

/* Find the duration of a rank among the calls of a bucket, and the number of longer ones in the
 * bucket: in its sample, so exact where this has all calls of the bucket. */
static void find_in_bucket(const struct call_sample *m, const struct histogram_bucket *b,
			   uint64_t rank, struct chosen_calls *c)
{
	uint64_t n = 0, at = 0, longer = 0, wanted;

	for (size_t i = 0; i < m->ncalls; i++)
		n += histogram_index(m->call[i]->total) == b->index &&
		     m->call[i]->hash <= m->limit[b->index];
	wanted = (uint64_t)((uint128)(b->count - rank) * n / b->count);
	/* the slowest are the first ones */
	for (size_t i = 0; i < m->ncalls && at <= wanted; i++) {
		const struct sampled_call *k = m->call[i];

		if (histogram_index(k->total) != b->index || k->hash > m->limit[b->index])
			continue;
		longer = k->total == c->above ? longer : at;
		c->above = k->total;
		at++;
	}
	c->slow += n ? (uint64_t)((uint128)b->count * longer / n) : 0;
	c->about = n < b->count;
}

/* Find which calls are slow: those longer than the quantile. */
static void find_slow(const struct call_sample *m, double quantile, struct chosen_calls *c)
{
	const uint64_t denominator = 1000000000;
	uint64_t part = (uint64_t)llround(quantile * (double)denominator), rank, below = 0;
	struct histogram_iterator it;
	struct histogram_bucket b;
	bool found = false;

	c->all = m->count;
	rank = (uint64_t)(((uint128)c->all * part + denominator - 1) / denominator);
	histogram_begin(&it, &m->histogram);
	while (!found && histogram_next(&it, &b)) {
		found = below + b.count >= rank;
		below += b.count;
	}
	if (!found)
		return;
	c->slow = c->all - below;
	below -= b.count;
	c->above = b.high;
	find_in_bucket(m, &b, rank > below ? rank - below : 1, c);
}

int call_sample_choose(struct call_sample *m, double quantile, struct chosen_calls *to)
{
	size_t of_all = 0;

	*to = (struct chosen_calls){
		.call = calloc(2 * SAMPLE_CALLS + 1, sizeof(struct sampled_call *))};
	if (!to->call)
		return -1;
	find_slow(m, quantile, to);
	/* of the slow ones, and of all, those with the smallest hashes */
	if (m->ncalls)
		qsort(m->call, m->ncalls, sizeof(*m->call), compare_by_hash);
	for (size_t i = 0; i < m->ncalls && to->n < SAMPLE_CALLS; i++)
		if (m->call[i]->total > to->above)
			to->call[to->n++] = m->call[i];
	to->s = to->n;
	for (size_t i = 0; i < m->ncalls && of_all < SAMPLE_CALLS; i++, of_all++)
		if (m->call[i]->total <= to->above)
			to->call[to->n++] = m->call[i];
	/* fewer than that many are all; of more the number may be that of a sample */
	to->about &= to->s == SAMPLE_CALLS;
	to->slow = to->s < SAMPLE_CALLS || to->slow < to->s ? to->s : to->slow;
	to->slow = to->slow < to->all - (to->n - to->s) ? to->slow : to->all - (to->n - to->s);
	return 0;
}

/* --- begin and end --- */

static void sample_begin_calls(struct call_sample *m)
{
	calls_init(&m->calls, m->dictionary);
	m->calls.data_size =
		sizeof(struct open_data) + m->where->keys.begins * sizeof(struct key_cell);
	m->calls.on_lost = sample_lose;
	m->calls.on_forget = sample_forget;
	m->calls.on_lost_ctx = m;
	m->calls.on_restore = sample_restore;
	m->calls.on_restore_ctx = m;
}

int call_sample_init(struct call_sample *m, const struct condition *where, struct dictionary *d)
{
	*m = (struct call_sample){.dictionary = d,
				  .where = where,
				  .scheduling = {.dictionary = d},
				  .prune_at = 2 * SAMPLE_CALLS,
				  .cells = calloc(where->keys.count + 1, sizeof(struct key_cell)),
				  .limit = calloc(HISTOGRAM_BUCKETS, sizeof(uint64_t)),
				  .heap = calloc(SAMPLE_CALLS, sizeof(uint64_t))};
	key_texts_init(&m->texts);
	sample_begin_calls(m);
	for (size_t i = 0; m->limit && i < HISTOGRAM_BUCKETS; i++)
		m->limit[i] = UINT64_MAX;
	return m->cells && m->limit && m->heap ? 0 : -1;
}

void call_sample_free(struct call_sample *m)
{
	for (size_t i = 0; i < m->ncalls; i++)
		free(m->call[i]);
	for (size_t i = 0; i < m->open_capacity; i++) {
		buffer_free(&m->open[i].payload);
		free(m->open[i].item);
		free(m->open[i].child);
	}
	free(m->call);
	free(m->open);
	free(m->cells);
	free(m->limit);
	free(m->heap);
	free(m->may);
	free(m->last);
	free(m->waker);
	if (m->states)
		states_free(m->states);
	free(m->states);
	calls_free(&m->calls);
	key_texts_free(&m->texts);
	indexes_free(&m->opens);
	idmap_free(&m->woken);
	intern_free(&m->wakers);
	intern_free(&m->features);
	intern_free(&m->items);
	histogram_free(&m->histogram);
	scheduling_types_free(&m->scheduling);
}
