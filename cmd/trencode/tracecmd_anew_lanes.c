#include <inttypes.h>
#include <stdlib.h>

#include "tracecmd_anew.h"

void tracecmd_lanes_head(struct tracecmd_lanes *l, const struct head *h)
{
	/* the next segment of one stream goes on where it was */
	l->border |= l->begun && (h->stream_id != l->stream_id || h->sequence != l->sequence + 1);
	l->begun = true;
	l->stream_id = h->stream_id;
	l->sequence = h->sequence;
}

static void look_at_time(struct tracecmd_lanes *l, uint64_t time)
{
	l->rounds += l->border && time < l->latest;
	l->border = false;
	if (time > l->latest)
		l->latest = time;
}

/* The buffer of an instance has a name, the top one has none. */
static int name_buffer(struct lane *made, struct dialect *d, struct text_ref name, uint32_t rounds)
{
	struct buffer b = {0};
	int result = 0;

	made->buffer = name;
	if (!rounds)
		return 0;
	if ((name.size && buffer_append(&b, name.text, name.size)) ||
	    buffer_printf(&b, "~%" PRIu32, rounds + 1))
		result = -1;
	else
		made->buffer = dialect_text(d, b.data, b.size);
	buffer_free(&b);
	return result;
}

int tracecmd_lane_of(struct tracecmd_lanes *l, struct dialect *d, const struct lane *from,
		     uint64_t time, const struct lane **out)
{
	bool instance = from->source && !strcmp(from->source->format.text, "trace-cmd");
	bool has_cpu = from->flags & LANE_HAS_CPU && (uint32_t)from->cpu < TRACECMD_CPUS_MOST;
	struct text_ref name = dialect_text(d, from->buffer.text, instance ? from->buffer.size : 0);
	uint32_t key[] = {name.number, has_cpu ? (uint32_t)from->cpu : 0, 0}, number, *lanes;
	struct lane *made;

	look_at_time(l, time);
	key[2] = l->rounds;
	l->no_cpu += !has_cpu;
	number = intern(&l->keys, key, sizeof key);
	if (number == INTERN_NONE)
		return -1;
	lanes = array_reach(l->lanes, &l->size, number, sizeof *lanes);
	if (!lanes)
		return -1;
	l->lanes = lanes;
	if (!lanes[number]) {
		made = dialect_lane(d);
		if (!made || name_buffer(made, d, name, l->rounds))
			return -1;
		made->flags = LANE_HAS_CPU;
		made->cpu = (int32_t)key[1];
		lanes[number] = made->number;
	}
	*out = dictionary_lane(&d->dictionary, lanes[number]);
	return 0;
}

void tracecmd_lanes_free(struct tracecmd_lanes *l)
{
	free(l->lanes);
	intern_free(&l->keys);
}
