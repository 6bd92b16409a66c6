/*
 * flows.c - flows of calls with a "bind_id": the argument flow_ids, or terminating_flow_ids of the
 * flow's end
 *
 * A call with "flow_in" alone receives the flow, which goes on if other calls receive it later. So
 * whether the flow ends there is known when all events were read.
 */
#include "cmd/trdecode/chrome/chrome.h"

#include <stdlib.h>

#include "common/formats/perfetto.h"
#include "common/stream/value.h"

enum { FLOWS_MOST = 1 << 18 }; /* the ends of other flows are not found */

/* The last event of a flow so far. */
struct chrome_flow {
	int64_t time;
	uint32_t event;
};

/* Note an event of the flow that is read. *event: its number. */
static int note_event(struct chrome *c, int64_t time, uint32_t *event)
{
	struct chrome_flows *f = &c->flows;
	uint64_t id = c->read.bind.number;
	struct chrome_flow *last;
	uint32_t *number;

	*event = 0;
	if (f->count == FLOWS_MOST && intern_find(&f->ids.keys, &id, sizeof id) == INTERN_NONE)
		return 0;
	number = id_cache_number(&f->ids, &id, sizeof id);
	if (!number)
		return -1;
	if (!*number) {
		if (ARRAY_GROW(f->last, f->capacity, f->count))
			return -1;
		last = f->last;
		last[f->count++] = (struct chrome_flow){.time = INT64_MIN};
		*number = f->count;
	}
	*event = ++f->events;
	last = &f->last[*number - 1];
	if (time >= last->time)
		*last = (struct chrome_flow){time, *event};
	return 0;
}

int chrome_flow_add(struct chrome *c, struct chrome_record *record, int64_t time)
{
	struct buffer *to = &c->read.arguments, *value = &c->read.values;
	uint32_t event;

	if (!c->texts.flows) {
		c->texts.flows = writer_text(c->w, PERFETTO_FLOWS);
		c->texts.ended_flows = writer_text(c->w, PERFETTO_ENDED_FLOWS);
	}
	value->size = 0;
	if (!c->texts.flows || !c->texts.ended_flows || note_event(c, time, &event) ||
	    value_put_uint(value, VALUE_UINT, c->read.bind.number) ||
	    buffer_u32(to, c->texts.flows) || buffer_u32(to, (uint32_t)value->size))
		return -1;
	if (!c->read.flow_out)
		record->flow = event;
	return buffer_append(to, value->data, value->size);
}

/* Test for the last event of the flow whose id is a value. */
static bool is_end(const struct chrome *c, const uint8_t *p, uint32_t size, uint32_t event)
{
	const struct chrome_flows *f = &c->flows;
	struct values v;
	struct value id;
	uint32_t at;

	values_begin(&v, p, size);
	if (!values_value(&v, &id))
		return false;
	at = intern_find(&f->ids.keys, &id.number, sizeof id.number);
	return at != INTERN_NONE && f->last[f->ids.numbers[at] - 1].event == event;
}

int chrome_flow_end(struct chrome *c, const struct chrome_record *r, const uint8_t **values)
{
	struct buffer *b = &c->read.record;
	uint32_t last = 0;

	b->size = 0;
	if (buffer_append(b, *values, r->values))
		return -1;
	/* the flow is the last argument */
	for (uint32_t i = 0; i < r->values; i += 8 + get_u32(b->data + i + 4))
		last = i;
	if (is_end(c, b->data + last + 8, get_u32(b->data + last + 4), r->flow))
		put_u32(b->data + last, c->texts.ended_flows);
	*values = b->data;
	return 0;
}

void chrome_flows_free(struct chrome_flows *f)
{
	id_cache_free(&f->ids);
	free(f->last);
}
