#include "cmd/trencode/timeline/flows.h"

#include "cmd/trencode/timeline/async_events.h"
#include "common/formats/chrome.h"
#include "common/formats/perfetto.h"
#include "common/stream/value.h"
#include "common/util/siphash.h"

enum { BEGUN_MOST = 1 << 18 };

void flows_free(struct flows *f)
{
	open_calls_free(&f->begun);
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

/* Add the ids in the next value: a number, or an ARRAY of them. */
static void add_ids(struct flows *f, const struct event *ev, struct values v, bool ends)
{
	uint32_t source = source_of(ev);
	struct value value;

	if (!f->source)
		f->source = source + 1;
	for (uint64_t left = 1; left && values_value(&v, &value); left--) {
		struct flow_key of = {.id = value.number, .source = source};

		if (value.tag == VALUE_ARRAY)
			left += value.count;
		else if (value.tag == VALUE_UINT)
			add_part(f, f->source == source + 1 ? value.number : hash_key(&of), ends);
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

	add_part(f, hash_key(&of), async_event_phase(ev->type) == 'f');
}

unsigned flows_read(struct flows *f, const struct event *ev)
{
	const struct location *l;
	struct values v;
	uint64_t index;
	uint8_t what;

	f->count = 0;
	if (async_event_is_flow(ev->type))
		add_chrome(f, ev);
	if (!(ev->type->flags & TYPE_VALUES) || !type_is_of(ev->type, "perfetto"))
		return f->count;
	l = dictionary_location(f->dictionary, ev->location);
	values_begin(&v, ev->tail, ev->tail_size);
	while (l && values_what(&v, &what, &index)) {
		const struct text_ref *name =
			what == DETAIL_ARGUMENT ? location_argument(l, index) : NULL;

		if (name && perfetto_is_flow(name->text))
			add_ids(f, ev, v, !strcmp(name->text, PERFETTO_ENDED_FLOWS));
		if (!values_skip(&v))
			break;
	}
	return f->count;
}

char flow_phase(struct flows *f, const struct flow_part *part)
{
	uint32_t high = (uint32_t)(part->id >> 32), low = (uint32_t)part->id;
	uint64_t value;
	bool begun = open_calls_take(&f->begun, high, low, &value);

	if (part->ends)
		return 'f';
	/* beyond the limit each part is the first one */
	if (open_calls_count(&f->begun) < BEGUN_MOST && open_calls_put(&f->begun, high, low, 0))
		return 0;
	return begun ? 't' : 's';
}
