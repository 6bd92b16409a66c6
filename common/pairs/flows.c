/*
 * flows.c - the flows between events, and the events of Trace Event JSON that have an id
 */
#include "common/pairs/flows.h"

#include <stdlib.h>
#include <string.h>

#include "common/formats/chrome.h"
#include "common/formats/perfetto.h"
#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/hash.h"

/* --- async events --- */

bool async_event_is(const struct type *t)
{
	return t && t->nfields && type_is_of(t, "chrome") &&
	       t->fields[t->nfields - 1].where == WHERE_FIXED &&
	       t->fields[t->nfields - 1].role == ROLE_NONE;
}

char async_event_phase(const struct type *t)
{
	char phase = (char)(t->native & CHROME_PHASE);

	return phase && strchr("bnSTpstf", phase) ? phase : 'n';
}

uint64_t async_event_id(const struct event *ev)
{
	struct field_value id;

	if (!async_event_is(ev->type))
		return 0;
	field_get(ev, &ev->type->fields[ev->type->nfields - 1], 0, &id);
	return id.form == FORM_NONE ? 0 : id.u;
}

/* --- flows --- */

enum { FLOWS_MOST = 1 << 18 };

void flows_free(struct flows *f)
{
	open_calls_free(&f->begun);
	open_calls_free(&f->owners);
	free(f->has);
}

static uint32_t flows_source_of(const struct event *ev)
{
	return ev->lane->source ? ev->lane->source->number : 0;
}

/* What makes two flows with one id different. */
struct flow_key {
	uint64_t id;
	uint32_t name, category, source;
	int32_t pid, local;
	uint32_t zero;
};

static void flows_add_part(struct flows *f, uint64_t id, bool ends)
{
	if (f->count < EVENT_FLOWS_MOST)
		f->parts[f->count++] = (struct flow_part){id, ends};
}

/* Get the id of a flow: that of the source if no other flow has it, else a hash. keep: it is
 * that of the source though too many others have one. */
static uint64_t flows_id_of(struct flows *f, const struct flow_key *of, bool keep)
{
	static const struct siphash_key key = {0x66, 0x6c};
	uint64_t hash = siphash(&key, of, sizeof *of), owner = hash;
	uint32_t high = (uint32_t)(of->id >> 32), low = (uint32_t)of->id;
	bool known;

	known = open_calls_take(&f->owners, high, low, &owner);
	if (!known && open_calls_count(&f->owners) >= FLOWS_MOST)
		return keep ? of->id : hash;
	if (open_calls_put(&f->owners, high, low, owner) && !keep)
		return hash;
	return owner == hash ? of->id : hash;
}

/* Add the ids in the next value: a number, or an ARRAY of them. */
static void flows_add_ids(struct flows *f, const struct event *ev, struct values v, bool ends)
{
	uint32_t source = flows_source_of(ev);
	bool perfetto = type_is_of(ev->type, "perfetto");
	struct value value;

	if (!f->source && perfetto)
		f->source = source + 1;
	for (uint64_t left = 1; left && values_value(&v, &value); left--) {
		struct flow_key of = {.id = value.number, .source = source};
		uint64_t id;

		if (value.tag == VALUE_ARRAY)
			left += value.count;
		if (value.tag != VALUE_UINT)
			continue;
		id = flows_id_of(f, &of, perfetto && f->source == source + 1);
		f->same &= id == value.number;
		flows_add_part(f, id, ends);
	}
}

/* Add the flow of an event s, t or f. */
static void flows_add_chrome(struct flows *f, const struct event *ev)
{
	bool local = ev->type->native & CHROME_LOCAL;
	struct flow_key of = {.id = async_event_id(ev),
			      .name = ev->type->name.number,
			      .category = ev->type->group.number,
			      .source = flows_source_of(ev),
			      .pid = local ? ev->lane->pid : 0,
			      .local = local};

	f->phase = async_event_phase(ev->type);
	f->enclosing = ev->type->native & CHROME_ENCLOSING;
	flows_add_part(f, flows_id_of(f, &of, false), f->phase == 'f');
}

/* Read the phase of an event that trencode wrote for one of JSON. */
static void flows_read_phase(struct flows *f, const struct event *ev, struct values v)
{
	struct value value;

	if (ev->type->kind != KIND_INSTANT || !values_value(&v, &value) ||
	    value.tag != VALUE_STRING || !value.n || !strchr("stf", value.bytes[0]))
		return;
	f->phase = (char)value.bytes[0];
	f->enclosing = value.n > 1 && value.bytes[1] == PERFETTO_FLOW_ENCLOSING;
}

/* Test whether a location has an argument with flows; true when out of memory. */
static bool has_flows(struct flows *f, uint32_t number, const struct location *l)
{
	if (ARRAY_REACH(f->has, f->nhas, number))
		return true;
	if (!f->has[number]) {
		f->has[number] = 1;
		for (uint32_t i = 0; l->arguments && i < l->arguments->count; i++)
			if (perfetto_is_flow(l->arguments->members[i].name.text))
				f->has[number] = 2;
	}
	return f->has[number] == 2;
}

unsigned flows_read(struct flows *f, const struct event *ev)
{
	const struct location *l;
	struct values v;
	uint64_t index;
	uint8_t what;

	f->count = 0;
	f->phase = 0;
	f->same = true;
	if (async_event_is_flow(ev->type))
		flows_add_chrome(f, ev);
	if (f->count || !(ev->type->flags & TYPE_VALUES))
		return f->count;
	l = dictionary_location(f->dictionary, ev->location);
	if (!l || !has_flows(f, ev->location, l) || !flows_are_of(ev->type))
		return 0;
	values_begin(&v, ev->tail, ev->tail_size);
	while (values_what(&v, &what, &index)) {
		const struct text_ref *name =
			what == DETAIL_ARGUMENT ? location_argument(l, index) : NULL;

		if (name && perfetto_is_flow(name->text))
			flows_add_ids(f, ev, v, !strcmp(name->text, PERFETTO_ENDED_FLOWS));
		else if (name && !strcmp(name->text, PERFETTO_FLOW_PHASE))
			flows_read_phase(f, ev, v);
		if (!values_skip(&v))
			break;
	}
	if (f->count != 1)
		f->phase = 0;
	return f->count;
}

size_t flows_call_of(const struct flows *f, const struct event *ev, const struct stack *thread)
{
	size_t n = thread ? thread->count : 0, at = n;

	if (!flows_call_is_next(f))
		return n;
	while (at && thread->frames[at - 1].start == ev->time)
		at--;
	return at < n ? at + 1 : 0;
}

char flow_phase(struct flows *f, const struct flow_part *part)
{
	uint32_t high = (uint32_t)(part->id >> 32), low = (uint32_t)part->id;
	uint64_t value;
	bool was = open_calls_take(&f->begun, high, low, &value);

	if (part->ends)
		return 'f';
	/* beyond the limit each part is the first one */
	if (open_calls_count(&f->begun) < FLOWS_MOST && open_calls_put(&f->begun, high, low, 0))
		return 0;
	return was ? 't' : 's';
}

bool flows_declared(const struct dictionary *d)
{
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		if (t->used && flows_are_of(t))
			return true;
	}
	return false;
}

/* --- sets of flows --- */

void flow_sets_free(struct flow_sets *f)
{
	flows_free(&f->flows);
	key_map_free(&f->of);
	free(f->next);
}

uint64_t flow_sets_read(struct flow_sets *f, const struct event *e, uint64_t around)
{
	unsigned n = flows_read(&f->flows, e);
	const struct flow_part *parts = f->flows.parts;
	uint64_t set = 0;

	for (unsigned i = 0; i < n && !set; i++)
		set = key_map_get(&f->of, parts[i].id);
	if (!set)
		set = around || !n ? around : parts[0].id + 1;
	for (unsigned i = 0; i < n; i++)
		if (parts[i].ends)
			key_map_remove(&f->of, parts[i].id);
		else if (!key_map_get(&f->of, parts[i].id) && f->of.count < FLOWS_MOST && set)
			key_map_set(&f->of, parts[i].id, set);
	f->any |= n > 0;
	return set;
}
