/*
 * row.c - converts the data of an event into a row of the stream
 */
#include <stdlib.h>

#include "cmd/trdecode/ctf/ctf.h"

enum { CONTEXT_MOST = 4096 }; /* bytes of a packet's context that each event may repeat */

/* --- data --- */

static inline void put_size(uint8_t *to, uint64_t n, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		to[i] = (uint8_t)(n >> 8 * i);
}

/* Not in line: in line it costs traces without such moves 6 % of CPU. */
static __attribute__((noinline)) enum ctf_got
move_unusual(struct ctf_cursor *c, const struct ctf_move *m, uint8_t *fixed, struct buffer *tail)
{
	enum ctf_got got;
	uint64_t n;

	if (ctf_is_text(m->part))
		return ctf_put_text(c, m->part, tail);
	got = ctf_read_number(c, m->part, &n);
	if (got != CTF_GOT)
		return got;
	if (m->slot)
		c->slots[m->slot] = n;
	put_size(fixed + m->to, n, m->n);
	return CTF_GOT;
}

static enum ctf_got move(struct ctf_cursor *c, const struct ctf_move *m, uint8_t *fixed,
			 struct buffer *tail)
{
	const uint8_t *from, *end;
	uint64_t n;

	c->at = ctf_align(c->at, m->align);
	if (c->at > c->have)
		return CTF_SHORT;
	from = c->data + (c->at - c->origin) / 8;
	switch (m->kind) {
	case MOVE_BYTES:
		if (c->have - c->at < 8ull * m->n)
			return CTF_SHORT;
		memcpy(fixed + m->to, from, m->n);
		c->at += 8ull * m->n;
		return CTF_GOT;
	case MOVE_NUMBER:
		if (c->have - c->at < m->size)
			return CTF_SHORT;
		n = ctf_bits(c->data, c->at - c->origin, m->size, m->big);
		if (m->is_signed)
			n = (uint64_t)((int64_t)(n << (64 - m->size)) >> (64 - m->size));
		if (m->slot)
			c->slots[m->slot] = n;
		put_size(fixed + m->to, n, m->n);
		c->at += m->size;
		return CTF_GOT;
	case MOVE_STRING:
		end = memchr(from, 0, (size_t)(c->have - c->at) / 8);
		if (!end)
			return CTF_SHORT;
		n = (uint64_t)(end - from) + 1;
		c->at += 8 * n;
		return buffer_append(tail, from, n) ? CTF_BAD : CTF_GOT;
	case MOVE_TEXT:
		n = c->slots[m->slot];
		if (n > UINT64_MAX / 8 || c->have - c->at < 8 * n)
			return CTF_SHORT;
		c->at += 8 * n;
		return buffer_append(tail, from, strnlen((const char *)from, n)) ||
				       buffer_u8(tail, 0)
			       ? CTF_BAD
			       : CTF_GOT;
	case MOVE_UNUSUAL: return move_unusual(c, m, fixed, tail);
	}
	return CTF_BAD;
}

/* Convert the fields of the packet's context into details, once for all events of the packet. */
static enum ctf_got make_context(struct ctf_file *f)
{
	const struct ctf_part *header = f->stream->layout.scope[SCOPE_PACKET_HEADER],
			      *context = f->stream->layout.scope[SCOPE_PACKET_CONTEXT];
	struct ctf_cursor c = {.data = f->packet.beginning.data,
			       .have = 8 * (uint64_t)f->packet.beginning.size,
			       .slots = f->cursor.slots,
			       .budget = CTF_BUDGET,
			       .empty = CTF_EMPTY_LEAST};
	enum ctf_got got = header ? ctf_step_over(&c, header) : CTF_GOT;
	uint64_t number = 0;

	c.at = ctf_align(c.at, context->align);
	for (const struct ctf_part *p = context->children; p && got == CTF_GOT; p = p->next) {
		if (ctf_is_own(p))
			got = ctf_step_over(&c, p);
		else if (value_put_detail(&f->packet.context, DETAIL_ARGUMENT, ++number))
			return CTF_BAD;
		else
			got = ctf_put_value(&c, p, &f->packet.context);
	}
	f->packet.has_context = true;
	if (f->packet.context.size <= CONTEXT_MOST)
		return got;
	/* each of many small events would repeat it */
	f->packet.context.size = 0;
	if (!f->trace->ctf->context_left_out)
		warn(f->member, f->packet.at,
		     "the context of a packet is too large to be part of its events");
	f->trace->ctf->context_left_out = true;
	return got;
}

/* Append the event's data as details. */
static enum ctf_got put_values(struct ctf_file *f, struct buffer *tail)
{
	struct ctf_cursor *c = &f->cursor;
	enum ctf_got got = CTF_GOT;
	struct ctf_frames *frames = &f->trace->ctf->frames;
	uint64_t number = 0;

	c->seen = 0;
	c->comm = c->next_comm = NULL;
	c->budget = CTF_BUDGET;
	frames->kernel.size = frames->user.size = 0;
	if (f->stream->carried) {
		if (!f->packet.has_context)
			got = make_context(f);
		if (got != CTF_GOT)
			return CTF_BAD;
		if (buffer_append(tail, f->packet.context.data, f->packet.context.size))
			return CTF_BAD;
		number = f->stream->carried;
	}
	for (size_t i = 0; i < CTF_DATA_SCOPES; i++) {
		const struct ctf_part *s = f->class->layout.scope[ctf_data_scopes[i]];

		if (s)
			c->at = ctf_align(c->at, s->align);
		for (const struct ctf_part *p = s ? s->children : NULL; p && got == CTF_GOT;
		     p = p->next) {
			uint64_t at = c->at;

			if (value_put_detail(tail, DETAIL_ARGUMENT, ++number))
				return CTF_BAD;
			got = ctf_put_value(c, p, tail);
			if (got == CTF_GOT && ctf_is_callstack(p) &&
			    ctf_stack_take(c, p, at, frames))
				return CTF_BAD;
		}
	}
	return got;
}

static enum ctf_got read_data(struct ctf_file *f)
{
	struct ctf *ctf = f->trace->ctf;
	const struct ctf_class *k = f->class;
	enum ctf_got got = CTF_GOT;

	ctf->tail.size = 0;
	if (!k->plain)
		return put_values(f, &ctf->tail);
	for (uint32_t i = 0; i < k->nmoves && got == CTF_GOT; i++)
		got = move(&f->cursor, &k->moves[i], ctf->fixed.data, &ctf->tail);
	return got;
}

/* --- rows --- */

static int32_t number_at(const uint8_t *fixed, struct ctf_spot s)
{
	return s.at < 0 ? -1 : ctf_id_number(ctf_spot(fixed, s));
}

/* Find the lane by the fields of the event that was read, or its packet. 0: out of memory. Without
 * the lane used last 'trdecode | trstat -g name -c count' of a trace of calls takes 1.27 times the
 * instructions. */
static inline uint32_t find_lane(struct ctf_file *f)
{
	struct ctf *ctf = f->trace->ctf;
	const struct ctf_class *k = f->class;
	const struct ctf_cursor *c = &f->cursor;
	const uint8_t *fixed = ctf->fixed.data, *comm = NULL;
	struct ctf_thread *t = &f->thread;
	int32_t tid, pid, ppid;
	size_t comm_size = 0;

	if (k->plain) {
		tid = number_at(fixed, k->tid);
		pid = number_at(fixed, k->pid);
		ppid = number_at(fixed, k->ppid);
		if (k->comm.at >= 0) {
			comm = fixed + k->comm.at;
			comm_size = strnlen((const char *)comm, k->comm.size);
		} else if (k->comm_string) {
			comm = (const uint8_t *)ctf_calls_string(&ctf->tail, k->comm_string - 1,
								 &comm_size);
		}
	} else {
		tid = ctf_id_read(c, CTF_TID);
		pid = ctf_id_read(c, CTF_PID);
		ppid = ctf_id_read(c, CTF_PPID);
		comm = c->comm;
		comm_size = comm ? c->comm_size : 0;
	}
	if (tid < 0)
		tid = f->packet.thread.tid;
	if (pid < 0)
		pid = f->packet.thread.pid;
	if (tid < 0 && f->trace->kernel) {
		const struct ctf_cpu *cpu = ctf_calls_cpu(f->trace, f->packet.cpu);

		tid = cpu ? cpu->tid : -1;
		comm = cpu ? cpu->comm : NULL;
		comm_size = cpu ? cpu->comm_size : 0;
	}
	if (!comm_size && f->packet.thread.comm_size) {
		comm = f->packet.thread.comm;
		comm_size = f->packet.thread.comm_size;
	}
	if (comm_size > sizeof t->comm)
		comm_size = sizeof t->comm;
	if (__builtin_expect(f->lane && t->tid == tid && t->pid == pid && t->ppid == ppid &&
				     t->comm_size == comm_size &&
				     (!comm_size || !memcmp(t->comm, comm, comm_size)),
			     1))
		return f->lane;
	t->tid = tid;
	t->pid = pid;
	t->ppid = ppid;
	t->comm_size = comm_size;
	if (comm_size)
		memcpy(t->comm, comm, comm_size);
	f->lane = ctf_lane(f, tid, pid, ppid, t->comm, comm_size);
	return f->lane;
}

/* Test whether the fields of events may record the thread, or events of the kernel do. */
static inline bool has_thread(const struct ctf_file *f)
{
	const struct ctf_class *k = f->class;

	return !k->plain || f->trace->kernel || k->comm_string ||
	       (k->tid.at & k->pid.at & k->ppid.at & k->comm.at) >= 0;
}

static inline uint32_t lane_of(struct ctf_file *f)
{
	if (has_thread(f))
		return find_lane(f);
	if (!f->packet_lane)
		f->packet_lane = find_lane(f);
	return f->packet_lane;
}

/* Write the gap that the event is. */
static int put_own_gap(struct ctf_file *f, uint32_t lane)
{
	struct ctf *ctf = f->trace->ctf;
	struct gap gap;

	ctf_calls_gap(f->class, ctf->fixed.data, &ctf->tail, &gap);
	return writer_gap(ctf->w, f->next.time, lane, &gap);
}

static int put_row(struct ctf_file *f)
{
	struct ctf *ctf = f->trace->ctf;
	struct ctf_class *k = f->class;
	uint8_t *fixed = ctf->fixed.data;
	const struct buffer *tail = &ctf->tail, *values = tail;
	uint32_t lane, location = 0,
		       depth = k->call.depth.at < 0 ? 0 : (uint32_t)ctf_spot(fixed, k->call.depth);

	lane = lane_of(f);
	if (!lane)
		return -1;
	if (k->call.kind != CALL_NONE || !k->plain) {
		if (k->call.kind == CALL_GAP)
			return put_own_gap(f, lane);
		if (k->has_arguments) {
			/* before the location, which declares their names */
			if (ctf_arguments_read(k, f, tail))
				return -1;
			values = &ctf->arguments.values;
		}
		location = k->plain ? ctf_calls_location(k, f, fixed, tail) : k->location;
		if (!location)
			return -1;
	}
	if (k->has_stack && ctf_stack_put(f, fixed))
		return -1;
	for (size_t i = 0; k->has_arguments && i < ctf->arguments.nused; i++)
		if (writer_use_definition(ctf->w, ctf->arguments.used[i]))
			return -1;
	if (writer_row_data(ctf->w, (struct new_row){.time = f->next.time,
						     .lane = lane,
						     .type = k->type,
						     .location = location,
						     .depth = depth,
						     .fixed = fixed,
						     .fixed_size = k->fixed_size,
						     .tail = values->data,
						     .tail_size = (uint32_t)values->size,
						     .has_tail = k->nstrings || !k->plain}))
		return -1;
	return k->action ? ctf_calls_after(k, f, fixed, tail) : 0;
}

static int put_lost(struct ctf_file *f)
{
	struct ctf *ctf = f->trace->ctf;
	struct gap events = {.reason = GAP_LOST,
			     .unit = GAP_EVENTS,
			     .count = f->packet.lost,
			     .offset = NO_OFFSET};
	struct gap packets = {.reason = GAP_LOST,
			      .unit = GAP_PACKETS,
			      .count = f->packet.packets_lost,
			      .offset = NO_OFFSET};
	uint32_t lane = ctf_lane(f, -1, -1, -1, NULL, 0);

	if (!lane || (f->packet.lost && writer_gap(ctf->w, f->next.time, lane, &events)) ||
	    (f->packet.packets_lost && writer_gap(ctf->w, f->next.time, lane, &packets)))
		return -1;
	f->packet.lost = f->packet.packets_lost = 0;
	return 0;
}

int ctf_row(struct ctf_file *f, struct error *e)
{
	uint64_t empty = f->cursor.empty;

	if (__builtin_expect(f->packet.fresh, 0) && ctf_file_begun(f, e))
		return -1;
	if (__builtin_expect(f->packet.lost || f->packet.packets_lost, 0) && put_lost(f))
		return -1;
	if (__builtin_expect(!f->class || !f->in_packet, 0))
		return 0;
	for (;;) {
		enum ctf_got got;
		int grown;

		got = read_data(f);
		if (__builtin_expect(f->cursor.at == f->header, 0) && got == CTF_GOT)
			return ctf_file_abandon(f, f->header, "an event that takes no bits");
		if (__builtin_expect(got == CTF_GOT, 1))
			return put_row(f) ? -1 : 0;
		f->cursor.empty = empty;
		grown = got == CTF_SHORT ? ctf_file_more(f, f->payload, e) : 0;
		if (grown < 0)
			return -1;
		if (!grown)
			return ctf_file_abandon(
				f, f->payload,
				got == CTF_SHORT
					? "an event is cut short"
					: "an event's data are not as the metadata declares them");
	}
}
