/*
 * convert_lanes.c - lanes of the target trace: a buffer on a CPU
 */
#include <stdlib.h>

#include "cmd/trencode/tracecmd/convert.h"

/* Name the buffer of a lane: the top buffer has no name in the first epoch. */
static int name_buffer(struct lane *made, struct target_dictionary *d, struct text_ref name,
		       uint32_t epoch)
{
	struct buffer b = {0};
	int result = 0;

	made->buffer = name;
	if (!epoch)
		return 0;
	if ((name.size && buffer_append(&b, name.text, name.size)) || clock_epoch_name(epoch, &b))
		result = -1;
	else
		made->buffer = target_string(d, b.data, b.size);
	buffer_free(&b);
	return result;
}

int tracecmd_lane_of(struct tracecmd_lanes *l, struct conversion *a, const struct lane *from,
		     uint64_t time, const struct lane **out)
{
	struct target_dictionary *d = &a->d;
	bool instance = from->source && !strcmp(from->source->format.text, "trace-cmd");
	bool has_cpu = from->flags & LANE_HAS_CPU && (uint32_t)from->cpu < TRACECMD_CPUS_MOST;
	struct text_ref name =
		target_string(d, from->buffer.text, instance ? from->buffer.size : 0);
	uint32_t key[] = {name.number, has_cpu ? (uint32_t)from->cpu : 0, 0}, number, *lanes;
	struct lane *made;

	key[2] = clock_epoch_at(&a->clock_epoch, time);
	l->no_cpu += !has_cpu;
	number = intern(&l->keys, key, sizeof key);
	if (number == INTERN_NONE)
		return -1;
	lanes = array_reach(l->lanes, &l->size, number, sizeof *lanes);
	if (!lanes)
		return -1;
	l->lanes = lanes;
	if (!lanes[number]) {
		made = target_lane(d);
		if (!made || name_buffer(made, d, name, key[2]))
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
