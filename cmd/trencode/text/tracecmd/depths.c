#include "cmd/trencode/text/tracecmd/depths.h"

#include <stdlib.h>

#include "common/util/buffer.h"

struct tc_open_depths {
	uint64_t *at; /* recorded depths, ascending */
	size_t count, capacity;
};

void tc_depths_free(struct tc_depths *d)
{
	for (size_t i = 0; i < d->size; i++)
		free(d->threads[i].at);
	free(d->threads);
}

int tc_depths_row(struct tc_depths *d, uint32_t thread, uint64_t recorded, bool leave,
		  uint64_t *depth)
{
	struct tc_open_depths *o = array_reach(d->threads, &d->size, thread, sizeof *o);
	uint64_t *at;

	if (!o)
		return -1;
	d->threads = o;
	o += thread;
	/* an enter ends the calls at its depth or deeper, a leave those deeper and its own call */
	while (o->count && o->at[o->count - 1] >= recorded + leave)
		o->count--;
	if (leave) {
		o->count -= o->count && o->at[o->count - 1] == recorded;
		*depth = o->count;
		return 0;
	}
	at = array_grow(o->at, &o->capacity, o->count, sizeof *at);
	if (!at)
		return -1;
	o->at = at;
	*depth = o->count;
	at[o->count++] = recorded;
	return 0;
}
