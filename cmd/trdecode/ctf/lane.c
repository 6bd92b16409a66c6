/*
 * lane.c - lanes: the channel, the CPU, and the thread as far as contexts record it
 */
#include <stdlib.h>

#include "cmd/trdecode/ctf/ctf.h"

uint32_t ctf_lane(struct ctf_file *f, int32_t tid, int32_t pid, int32_t ppid, const uint8_t *comm,
		  size_t comm_size)
{
	struct ctf *ctf = f->trace->ctf;
	struct writer *w = ctf->w;
	struct lane_entry lane = {.source = f->trace->source,
				  .clock = ctf->clock,
				  .buffer = f->buffer,
				  .comm = comm_size ? writer_string(w, comm, comm_size) : 0,
				  .flags = (f->packet.cpu >= 0 ? LANE_HAS_CPU : 0) |
					   (tid >= 0 ? LANE_HAS_TID : 0) |
					   (pid >= 0 ? LANE_HAS_PID : 0),
				  .cpu = f->packet.cpu,
				  .tid = tid,
				  .pid = pid,
				  .ppid = ppid};
	uint32_t *id = id_cache_number(&ctf->declared, &lane, sizeof lane);

	if (!id)
		return 0;
	if (!*id)
		*id = writer_lane(w, &lane);
	return *id;
}
