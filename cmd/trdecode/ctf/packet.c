/*
 * packet.c - the headers and contexts of packets
 *
 * After a damaged header the next packet is searched by its magic number.
 */
#include <stdio.h>

#include "cmd/trdecode/ctf/ctf.h"

#define PACKET_MAGIC 0xc1fc1fc1u

enum {
	PACKET_NEED = 512, /* bytes loaded at the beginning of a packet, if the file has them */
	PACKET_BEGIN = 64 << 20, /* most bytes of its header and context */
	PASSING = 4096,		 /* bytes read of a packet that is skipped */
};

bool ctf_packet_is(const uint8_t *data, size_t n)
{
	return n >= 4 && (get_uint(data, 4, false) == PACKET_MAGIC ||
			  get_uint(data, 4, true) == PACKET_MAGIC);
}

static bool is_packet(const struct ctf_file *f, const uint8_t *p, size_t n)
{
	const struct ctf_metadata *m = &f->trace->metadata;
	/* compare with the packets before: some writers give the metadata another UUID */
	const uint8_t *uuid = f->packet.has_uuid ? f->packet.uuid : m->has_uuid ? m->uuid : NULL;

	return n >= 4 && get_uint(p, 4, m->big) == PACKET_MAGIC &&
	       (!uuid || n < 20 || !memcmp(p + 4, uuid, 16));
}

/* Find the next byte after *at that can begin a packet. */
static int search_packet(struct ctf_file *f, uint64_t *at, bool *found, struct error *e)
{
	*found = false;
	for (;;) {
		const uint8_t *p;
		ssize_t got;
		size_t i;

		++*at;
		window_skip(&f->window, (size_t)(*at - f->window.offset));
		got = window_need(&f->window, PACKET_NEED, e);
		if (got < 0)
			return -1;
		if (got < 20)
			return 0;
		p = window_at(&f->window);
		got = (ssize_t)window_have(&f->window);
		for (i = 0; i + 20 <= (size_t)got; i++)
			if (is_packet(f, p + i, 20)) {
				*at += i;
				*found = true;
				return 0;
			}
		*at += i - 1;
	}
}

static bool declares_magic(const struct ctf_trace *t)
{
	const struct ctf_stream *s = t->streams;
	const struct ctf_part *header = t->nstreams ? s->layout.scope[SCOPE_PACKET_HEADER] : NULL;

	return header && header->children && header->children->role == CTF_MAGIC;
}

/* Read the packet's header or context. Return NULL, or what is wrong. */
static const char *packet_scope(struct ctf_file *f, enum ctf_scope scope)
{
	const struct ctf_part *p = f->stream->layout.scope[scope];

	if (!p)
		return NULL;
	switch (ctf_step_over(&f->cursor, p)) {
	case CTF_GOT: return NULL;
	case CTF_SHORT: return "a packet's beginning is cut short";
	default: return "a packet's header is not as the metadata declares it";
	}
}

/* Read header and context of the packet at f->packet.at. Return NULL, or what is wrong. */
static const char *read_packet(struct ctf_file *f)
{
	struct ctf_trace *t = f->trace;
	struct ctf_cursor *c = &f->cursor;
	uint64_t left = f->window.size - f->packet.at, bits;
	const char *wrong;

	c->at = 0;
	c->seen = 0;
	c->uuid = c->comm = NULL;
	c->budget = CTF_BUDGET;
	f->stream = t->last_stream;
	if (!f->stream)
		return "the metadata declares no stream that can be read";
	wrong = packet_scope(f, SCOPE_PACKET_HEADER);
	if (wrong)
		return wrong;
	if (ctf_seen(c, CTF_MAGIC) && c->role[CTF_MAGIC] != PACKET_MAGIC)
		return "no packet begins here";
	if (ctf_seen(c, CTF_STREAM_ID)) {
		f->stream = ctf_stream_of(t, c->role[CTF_STREAM_ID]);
		if (!f->stream)
			return "a packet of a stream that the metadata does not declare";
	}
	wrong = packet_scope(f, SCOPE_PACKET_CONTEXT);
	if (wrong)
		return wrong;
	f->packet.size = left;
	if (ctf_seen(c, CTF_PACKET_SIZE)) {
		bits = c->role[CTF_PACKET_SIZE];
		if (bits % 8 || bits < c->at)
			return "a packet's size cannot be";
		f->packet.size = bits / 8;
	}
	f->packet.content = left < UINT64_MAX / 8 ? 8 * left : UINT64_MAX;
	if (f->packet.size < left)
		f->packet.content = 8 * f->packet.size;
	if (ctf_seen(c, CTF_CONTENT_SIZE)) {
		bits = c->role[CTF_CONTENT_SIZE];
		if (bits < c->at || bits / 8 > f->packet.size)
			return "a packet's content is larger than the packet";
		if (bits < f->packet.content)
			f->packet.content = bits;
		if (!ctf_seen(c, CTF_PACKET_SIZE))
			f->packet.size = bits / 8 + (bits % 8 != 0);
	}
	return f->packet.size ? NULL : "a packet of no bytes";
}

/* Take the clock and the CPU from the packet's context. */
static void begin_packet(struct ctf_file *f)
{
	struct ctf_cursor *c = &f->cursor;
	f->packet.cpu = ctf_seen(c, CTF_CPU) && c->role[CTF_CPU] <= INT32_MAX
				? (int32_t)c->role[CTF_CPU]
				: -1;
	f->lane = f->packet_lane = 0;
	f->packet.thread =
		(struct ctf_thread){.tid = ctf_id_read(c, CTF_TID),
				    .pid = ctf_id_read(c, CTF_PID),
				    .ppid = -1,
				    .comm_size = !c->comm ? 0
						 : c->comm_size < sizeof f->packet.thread.comm
							 ? c->comm_size
							 : sizeof f->packet.thread.comm};
	if (c->comm)
		memcpy(f->packet.thread.comm, c->comm, f->packet.thread.comm_size);
	if (c->uuid) {
		memcpy(f->packet.uuid, c->uuid, sizeof f->packet.uuid);
		f->packet.has_uuid = true;
	}
	if (ctf_seen(c, CTF_TIME_BEGIN))
		c->time = c->role[CTF_TIME_BEGIN];
	else if (f->trace->metadata.major == 2)
		c->time = 0;
	f->packet.counted = c->seen;
	for (int role = 0; role <= CTF_CPU; role++)
		f->packet.counters[role] = ctf_seen(c, (enum ctf_role)role) ? c->role[role] : 0;
	f->in_packet = true;
	f->packet.lost = f->packet.packets_lost = 0;
	/* packets before the first one may be in another file, which is read up to here first */
	f->packet.fresh = !f->packet.at && !f->survey &&
			  (ctf_seen(c, CTF_INSTANCE) ||
			   (ctf_seen(c, CTF_DISCARDED) && c->role[CTF_DISCARDED]));
	if (c->have > f->packet.content)
		c->have = f->packet.content;
}

/* Keep the header and context, whose fields events repeat. */
static int keep_beginning(struct ctf_file *f)
{
	const struct ctf_cursor *c = &f->cursor;

	f->packet.context.size = f->packet.beginning.size = 0;
	f->packet.has_context = false;
	if (!f->stream->carried || f->survey)
		return 0;
	return buffer_append(&f->packet.beginning, c->data, (size_t)(c->at + 7) / 8);
}

static int next_packet(struct ctf_file *f, struct error *e)
{
	uint64_t at = f->opened ? f->packet.at + f->packet.size : 0;
	bool found;

	f->opened = true;
	f->in_packet = false;
	for (;;) {
		const char *wrong;

		if (f->cut || at >= f->window.size) {
			f->done = true;
			return 0;
		}
		f->packet.at = at;
		f->packet.size = 0;
		f->packet.content = UINT64_MAX;
		if (ctf_file_refill(f, 0, PACKET_NEED, e))
			return -1;
		wrong = read_packet(f);
		while (wrong && f->cursor.have - f->cursor.origin < 8 * (f->window.size - at) &&
		       f->cursor.have / 8 < PACKET_BEGIN && strstr(wrong, "cut short")) {
			/* a large header or context */
			if (ctf_file_refill(f, 0, (size_t)(f->cursor.have / 8) * 2, e))
				return -1;
			wrong = read_packet(f);
		}
		if (!wrong) {
			if (keep_beginning(f))
				return error_no_memory(e);
			begin_packet(f);
			if (f->packet.size > f->window.size - f->packet.at || !ctf_skip_packet(f))
				break;
			f->in_packet = f->packet.fresh = false;
			if (!f->survey && ctf_loss_pass(f))
				return error_no_memory(e);
			at += f->packet.size;
			f->window.piece = PASSING;
			continue;
		}
		if (ctf_file_damage(f, at, wrong))
			return -1;
		if (!declares_magic(f->trace)) {
			f->done = true;
			return 0;
		}
		if (search_packet(f, &at, &found, e))
			return -1;
		if (!found)
			at = f->window.size;
	}
	if (f->packet.size > f->window.size - f->packet.at) {
		f->cut = true;
		return ctf_file_damage(f, f->window.size, "a packet is cut short");
	}
	return 0;
}

int ctf_packet_next(struct ctf_file *f, struct error *e)
{
	size_t piece = f->window.piece;
	int bad = next_packet(f, e);

	f->window.piece = piece;
	return bad;
}
