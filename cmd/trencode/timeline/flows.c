#include "cmd/trencode/timeline/flows.h"

#include <stdlib.h>

#include "cmd/trencode/timeline/async_events.h"
#include "common/formats/chrome.h"
#include "common/formats/perfetto.h"
#include "common/stream/value.h"
#include "common/util/siphash.h"

enum { FLOWS_MOST = 1 << 18 };

void flows_free(struct flows *f)
{
	open_calls_free(&f->numbers.begun);
	open_calls_free(&f->numbers.owners);
	free(f->has);
}

static uint32_t source_of(const struct event *ev)
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

static uint64_t hash_key(const struct flow_key *of)
{
	static const struct siphash_key key = {0x66, 0x6c};

	return siphash(&key, of, sizeof *of);
}

static void add_part(struct flows *f, uint64_t id, bool ends)
{
	if (f->count < EVENT_FLOWS_MOST)
		f->parts[f->count++] = (struct flow_part){id, ends};
}

/* Return the id of a flow: that of the source if no other flow has it, else a hash. keep: it is
 * that of the source though too many others have one. */
static uint64_t id_of(struct flow_numbers *n, const struct flow_key *of, bool keep)
{
	uint64_t hash = hash_key(of), owner = hash;
	uint32_t high = (uint32_t)(of->id >> 32), low = (uint32_t)of->id;
	bool known;

	known = open_calls_take(&n->owners, high, low, &owner);
	if (!known && open_calls_count(&n->owners) >= FLOWS_MOST)
		return keep ? of->id : hash;
	if (open_calls_put(&n->owners, high, low, owner) && !keep)
		return hash;
	return owner == hash ? of->id : hash;
}

/* Add the ids in the next value: a number, or an ARRAY of them. */
static void add_ids(struct flows *f, const struct event *ev, struct values v, bool ends)
{
	struct flow_numbers *n = &f->numbers;
	uint32_t source = source_of(ev);
	bool perfetto = type_is_of(ev->type, "perfetto");
	struct value value;

	if (!n->source && perfetto)
		n->source = source + 1;
	for (uint64_t left = 1; left && values_value(&v, &value); left--) {
		struct flow_key of = {.id = value.number, .source = source};
		uint64_t id;

		if (value.tag == VALUE_ARRAY)
			left += value.count;
		if (value.tag != VALUE_UINT)
			continue;
		id = id_of(n, &of, perfetto && n->source == source + 1);
		f->same &= id == value.number;
		add_part(f, id, ends);
	}
}

/* Add the flow of an event s, t or f. */
static void add_chrome(struct flows *f, const struct event *ev)
{
	bool local = ev->type->native & CHROME_LOCAL;
	struct flow_key of = {.id = async_event_id(ev),
			      .name = ev->type->name.number,
			      .category = ev->type->group.number,
			      .source = source_of(ev),
			      .pid = local ? ev->lane->pid : 0,
			      .local = local};

	f->phase = async_event_phase(ev->type);
	f->enclosing = ev->type->native & CHROME_ENCLOSING;
	add_part(f, id_of(&f->numbers, &of, false), f->phase == 'f');
}

/* Read the phase of an event that trencode wrote for one of JSON. */
static void read_phase(struct flows *f, const struct event *ev, struct values v)
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
	uint8_t *has;

	if (ARRAY_REACH(f->has, f->nhas, number))
		return true;
	has = f->has;
	if (!has[number]) {
		has[number] = 1;
		for (uint32_t i = 0; l->arguments && i < l->arguments->count; i++)
			if (perfetto_is_flow(l->arguments->members[i].name.text))
				has[number] = 2;
	}
	return has[number] == 2;
}

static bool flows_of(const struct type *t)
{
	return type_is_of(t, "perfetto") || type_is_of(t, "chrome");
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
		add_chrome(f, ev);
	if (f->count || !(ev->type->flags & TYPE_VALUES))
		return f->count;
	l = dictionary_location(f->dictionary, ev->location);
	if (!l || !has_flows(f, ev->location, l) || !flows_of(ev->type))
		return 0;
	values_begin(&v, ev->tail, ev->tail_size);
	while (values_what(&v, &what, &index)) {
		const struct text_ref *name =
			what == DETAIL_ARGUMENT ? location_argument(l, index) : NULL;

		if (name && perfetto_is_flow(name->text))
			add_ids(f, ev, v, !strcmp(name->text, PERFETTO_ENDED_FLOWS));
		else if (name && !strcmp(name->text, PERFETTO_FLOW_PHASE))
			read_phase(f, ev, v);
		if (!values_skip(&v))
			break;
	}
	if (f->count != 1)
		f->phase = 0;
	return f->count;
}

char flow_phase(struct flows *f, const struct flow_part *part)
{
	struct open_calls *begun = &f->numbers.begun;
	uint32_t high = (uint32_t)(part->id >> 32), low = (uint32_t)part->id;
	uint64_t value;
	bool was = open_calls_take(begun, high, low, &value);

	if (part->ends)
		return 'f';
	/* beyond the limit each part is the first one */
	if (open_calls_count(begun) < FLOWS_MOST && open_calls_put(begun, high, low, 0))
		return 0;
	return was ? 't' : 's';
}
