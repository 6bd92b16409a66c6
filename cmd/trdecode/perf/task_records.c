/*
 * task_records.c - what records change: names of threads, their processes, and the mappings
 * (map_records.c)
 */
#include "cmd/trdecode/perf/perf.h"

static int apply_comm(struct perf *p, const struct perf_record *r, struct perf_thread *t,
		      size_t body)
{
	const char *comm = (const char *)r->data + PERF_RECORD_HEAD + PERF_COMM_BODY;
	size_t n = strnlen(comm, body - PERF_COMM_BODY);
	uint32_t name = writer_string(p->w, comm, n);

	if (n && !name)
		return -1;
	perf_thread_rename(t, name);
	if (r->misc & PERF_MISC_COMM_EXEC) {
		t->process->dump = NULL;
		return perf_maps_exec(&p->spaces, &t->process->maps, t->process->pid);
	}
	return 0;
}

static int apply_fork(struct perf *p, const struct perf_record *r, struct perf_thread **t)
{
	const uint8_t *d = r->data + PERF_RECORD_HEAD;
	struct perf_thread *parent = perf_thread_of(&p->threads, (int32_t)perf_u32(p, d + 4),
						    (int32_t)perf_u32(p, d + 12));

	*t = perf_thread_of(&p->threads, (int32_t)perf_u32(p, d), (int32_t)perf_u32(p, d + 8));
	if (!*t || !parent)
		return -1;
	if (*t != parent && r->type == PERF_RECORD_FORK)
		perf_thread_fork(*t, parent);
	return 0;
}

int perf_apply(struct perf *p, const struct perf_record *r, const struct perf_origin *o,
	       struct perf_thread **t)
{
	const uint8_t *d = r->data + PERF_RECORD_HEAD;
	size_t least = r->type == PERF_RECORD_FORK || r->type == PERF_RECORD_EXIT ? PERF_FORK_BODY
										  : PERF_COMM_BODY;

	*t = NULL;
	switch (r->type) {
	case PERF_RECORD_KSYMBOL: return perf_apply_ksymbol(p, r, o->body);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: break;
	default: return 0;
	}
	if (o->body < least) {
		input_damage(p->input, p->file.name, r->offset, "a record of type %u that is cut",
			     r->type);
		return 0;
	}
	if (r->type == PERF_RECORD_FORK || r->type == PERF_RECORD_EXIT)
		return apply_fork(p, r, t);
	*t = perf_thread_of(&p->threads, (int32_t)perf_u32(p, d), (int32_t)perf_u32(p, d + 4));
	if (!*t)
		return -1;
	return r->type == PERF_RECORD_COMM ? apply_comm(p, r, *t, o->body)
					   : perf_apply_mmap(p, r, o->body);
}
