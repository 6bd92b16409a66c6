/*
 * ctf_file.c - a tracefile read forward: its packets, the headers of its events, their data
 *
 * Damage costs what is left of its packet, as each packet says where the next one is. Where even
 * that is damaged the next packet is searched for by its magic.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctf.h"
#include "merge.h"

#define PACKET_MAGIC 0xc1fc1fc1u

enum {
	PACKET_NEED = 512,	/* bytes at hand where a packet begins, if there are so many */
	EVENT_MOST = 256 << 20, /* bytes of one event */
	SHAPE_NEED = 16,	/* bytes that the header of a shape takes at most, and padding */
};

/* --- bytes at hand --- */

/* The cursor's data begin at the byte of position `from`; have n bytes or what is left. */
static int refill(struct ctf_file *f, uint64_t from, size_t n, struct error *e)
{
	struct ctf_cursor *c = &f->cursor;
	uint64_t offset = f->packet + from / 8, left;
	const uint8_t *p;
	size_t have;

	window_skip(&f->window, (size_t)(offset - f->window.offset));
	p = window_large(&f->window, n, &f->large, &have, e);
	if (!p)
		return -1;
	c->data = p;
	c->origin = from / 8 * 8;
	c->have = c->origin + 8 * (uint64_t)have;
	left = f->content > c->origin ? f->content : c->origin;
	if (c->have > left)
		c->have = left;
	return 0;
}

/* What was tried at position `from` ran out of bytes: have more. 1: there are more; 0: no; -1. */
static int more(struct ctf_file *f, uint64_t from, struct error *e)
{
	struct ctf_cursor *c = &f->cursor;
	uint64_t had = c->have - c->origin;
	size_t n = f->window.capacity;

	/* slide first, then grow */
	if (from / 8 * 8 == c->origin) {
		if (had / 8 >= EVENT_MOST)
			return 0;
		n = (size_t)(had / 8) * 2;
		if (n < f->window.capacity)
			n = f->window.capacity;
	}
	had = c->have;
	if (refill(f, from, n, e))
		return -1;
	c->at = from;
	return c->have > had;
}

/* --- time --- */

/* Shifted ns of a clock's value. false: no time can be that. */
static bool time_of(const struct ctf_file *f, uint64_t value, uint64_t *ns)
{
	const struct ctf_trace *t = f->trace;
	struct ctf *ctf = t->ctf;
	unsigned __int128 n = value;
	__int128 time;

	if (t->frequency != 1000000000)
		n = n * 1000000000 / t->frequency;
	time = (__int128)n + (ctf->raw ? 0 : t->wall);
	if (time < 0)
		time = 0;
	if (time >= (__int128)TIME_LIMIT)
		return false;
	*ns = merge_shifted((uint64_t)time, ctf->input->shift);
	return true;
}

/* --- damage --- */

static int damage(struct ctf_file *f, uint64_t offset, const char *what, struct error *e)
{
	struct input *in = f->trace->ctf->input;
	char path[512];
	struct gap gap = {.reason = GAP_DAMAGE,
			  .unit = GAP_EVENTS,
			  .count = UINT64_MAX,
			  .offset = offset,
			  .file = f->member,
			  .message = what};
	uint64_t time;
	uint32_t lane;

	input_damage(in, tree_path(in->tree, f->member, path, sizeof path), offset, "%s", what);
	if (!f->trace->ctf->begun)
		return 0;
	lane = ctf_lane(f, -1, -1, -1, NULL, 0);
	if (!time_of(f, f->cursor.time, &time))
		time = f->next;
	if (!lane || writer_gap(f->trace->ctf->w, time, lane, &gap)) {
		*e = f->trace->ctf->w->error;
		return -1;
	}
	return 0;
}

/* What is left of the packet is lost. */
static int abandon(struct ctf_file *f, uint64_t at, const char *what, struct error *e)
{
	f->in_packet = false;
	/* a cut file was reported where its packet began */
	return f->cut ? 0 : damage(f, f->packet + at / 8, what, e);
}

/* --- packets --- */

static bool is_packet(const struct ctf_file *f, const uint8_t *p, size_t n)
{
	const struct ctf_metadata *m = &f->trace->metadata;

	return n >= 4 && get_uint(p, 4, m->big) == PACKET_MAGIC &&
	       (!m->has_uuid || n < 20 || !memcmp(p + 4, m->uuid, 16));
}

/* From the byte behind `at` on, the next one that can begin a packet. */
static int search(struct ctf_file *f, uint64_t *at, bool *found, struct error *e)
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

/* A part of the packet's beginning. */
static const char *packet_scope(struct ctf_file *f, enum ctf_scope scope)
{
	const struct ctf_part *p = f->stream->layout.scope[scope];

	if (!p)
		return NULL;
	switch (ctf_step_over(&f->cursor, p)) {
	case CTF_GOT: return NULL;
	case CTF_SHORT: return "a packet's beginning is cut short";
	default: return "a packet's beginning is not as the metadata says";
	}
}

static struct ctf_stream *find_stream(struct ctf_trace *t, uint64_t id)
{
	for (size_t i = 0; i < t->nstreams; i++)
		if (t->streams[i].declared->id == id && t->streams[i].usable)
			return &t->streams[i];
	return NULL;
}

static bool seen(const struct ctf_cursor *c, enum ctf_role role)
{
	return c->seen >> role & 1;
}

/* Header and context of the packet at f->packet. NULL, or what is wrong. */
static const char *read_packet(struct ctf_file *f)
{
	struct ctf_trace *t = f->trace;
	struct ctf_cursor *c = &f->cursor;
	uint64_t left = f->window.size - f->packet, bits;
	const char *wrong;

	c->at = 0;
	c->seen = 0;
	c->uuid = c->comm = NULL;
	c->budget = CTF_BUDGET;
	f->stream = t->nstreams ? &t->streams[0] : NULL;
	for (size_t i = 0; i < t->nstreams; i++)
		if (t->streams[i].usable)
			f->stream = &t->streams[i];
	if (!f->stream || !f->stream->usable)
		return "the metadata tells of no stream that can be read";
	wrong = packet_scope(f, SCOPE_PACKET_HEADER);
	if (wrong)
		return wrong;
	if (seen(c, CTF_MAGIC) && c->role[CTF_MAGIC] != PACKET_MAGIC)
		return "no packet begins here";
	if (c->uuid && t->metadata.has_uuid && memcmp(c->uuid, t->metadata.uuid, 16))
		return "a packet of another trace";
	if (seen(c, CTF_STREAM_ID)) {
		f->stream = find_stream(t, c->role[CTF_STREAM_ID]);
		if (!f->stream)
			return "a packet of a stream that the metadata does not tell of";
	}
	wrong = packet_scope(f, SCOPE_PACKET_CONTEXT);
	if (wrong)
		return wrong;
	f->packet_size = left;
	if (seen(c, CTF_PACKET_SIZE)) {
		bits = c->role[CTF_PACKET_SIZE];
		if (bits % 8 || bits < c->at)
			return "a packet's size cannot be";
		f->packet_size = bits / 8;
	}
	f->content = left < UINT64_MAX / 8 ? 8 * left : UINT64_MAX;
	if (f->packet_size < left)
		f->content = 8 * f->packet_size;
	if (seen(c, CTF_CONTENT_SIZE)) {
		bits = c->role[CTF_CONTENT_SIZE];
		if (bits < c->at || bits / 8 > f->packet_size)
			return "a packet's content is larger than the packet";
		if (bits < f->content)
			f->content = bits;
	}
	return NULL;
}

/* What the packet's context says of its clock, CPU and losses. */
static void begin_packet(struct ctf_file *f)
{
	struct ctf_cursor *c = &f->cursor;
	uint64_t counted = c->role[CTF_DISCARDED];

	f->cpu = seen(c, CTF_CPU) && c->role[CTF_CPU] <= INT32_MAX ? (int32_t)c->role[CTF_CPU] : -1;
	f->lane = 0;
	if (seen(c, CTF_TIME_BEGIN))
		c->time = c->role[CTF_TIME_BEGIN];
	if (seen(c, CTF_DISCARDED)) {
		/* a counter that fell began anew, or wrapped: then nothing is known */
		f->lost = counted >= f->discarded ? counted - f->discarded : 0;
		f->discarded = counted;
	}
	f->in_packet = true;
	if (c->have > f->content)
		c->have = f->content;
}

/* Stand behind the beginning of the next packet, or be done. */
static int next_packet(struct ctf_file *f, struct error *e)
{
	uint64_t at = f->opened ? f->packet + f->packet_size : 0;
	bool found;

	f->opened = true;
	f->in_packet = false;
	for (;;) {
		const char *wrong;

		if (f->cut || at >= f->window.size) {
			f->done = true;
			return 0;
		}
		f->packet = at;
		f->packet_size = 0;
		f->content = UINT64_MAX;
		if (refill(f, 0, PACKET_NEED, e))
			return -1;
		wrong = read_packet(f);
		while (wrong && f->cursor.have - f->cursor.origin < 8 * (f->window.size - at) &&
		       f->cursor.have / 8 < EVENT_MOST && strstr(wrong, "cut short")) {
			/* a long beginning */
			if (refill(f, 0, (size_t)(f->cursor.have / 8) * 2, e))
				return -1;
			wrong = read_packet(f);
		}
		if (!wrong)
			break;
		if (damage(f, at, wrong, e))
			return -1;
		if (!declares_magic(f->trace)) {
			f->done = true;
			return 0;
		}
		if (search(f, &at, &found, e))
			return -1;
		if (!found)
			at = f->window.size;
	}
	begin_packet(f);
	if (f->packet_size > f->window.size - f->packet) {
		f->cut = true;
		return damage(f, f->window.size, "a packet is cut short", e);
	}
	return 0;
}

/* --- events --- */

/* The header of an event in one of the usual shapes. false: not enough bytes. */
static inline bool read_shape(struct ctf_cursor *c, const struct ctf_stream *s, uint64_t *id)
{
	uint64_t at = ctf_align(c->at, 8);
	const uint8_t *p = c->data + (at - c->origin) / 8;
	unsigned size = s->id_size;
	uint32_t word;

	if (at > c->have || c->have - at < 8 * SHAPE_NEED)
		return false;
	switch (s->shape) {
	case SHAPE_COMPACT:
		word = get_u32(p);
		*id = word & 31;
		if (*id < 31) {
			c->time = ctf_later(c->time, word >> 5, 27);
			c->at = at + 32;
			return true;
		}
		size = 1;
		break;
	case SHAPE_LARGE:
		*id = get_u16(p);
		if (*id < 65535) {
			c->time = ctf_later(c->time, get_u32(p + 2), 32);
			c->at = at + 48;
			return true;
		}
		size = 2;
		break;
	default:
		*id = get_uint(p, size, false);
		c->time = get_u64(p + size);
		c->at = at + 8 * size + 64;
		return true;
	}
	*id = get_u32(p + size);
	c->time = get_u64(p + size + 4);
	c->at = at + 8 * size + 96;
	return true;
}

static enum ctf_got read_header(struct ctf_file *f, uint64_t *id)
{
	struct ctf_cursor *c = &f->cursor;
	const struct ctf_part *p = f->stream->layout.scope[SCOPE_EVENT_HEADER];
	uint64_t time = c->time;
	enum ctf_got got;

	if (f->stream->shape != SHAPE_ANY && read_shape(c, f->stream, id))
		return CTF_GOT;
	*id = 0;
	if (!p)
		return CTF_GOT;
	c->seen = 0;
	c->budget = CTF_BUDGET;
	got = ctf_step_over(c, p);
	if (got != CTF_GOT)
		c->time = time;
	else if (seen(c, CTF_ID))
		*id = c->role[CTF_ID];
	return got;
}

/* Padding of less than an event at the end of a packet is none. */
static bool at_end(const struct ctf_file *f)
{
	return f->cursor.at >= f->content;
}

int ctf_file_next(struct ctf_file *f, struct error *e)
{
	struct ctf_cursor *c = &f->cursor;

	for (;;) {
		uint64_t from, id;
		enum ctf_got got;
		int grown;

		while (!f->in_packet || at_end(f)) {
			if (next_packet(f, e))
				return -1;
			if (f->done) {
				f->next = UINT64_MAX;
				return 0;
			}
			if (f->lost)
				break;
		}
		if (f->lost) {
			/* told at the time where the packet begins */
			f->class = NULL;
			if (time_of(f, c->time, &f->next))
				return 0;
			f->lost = 0;
		}
		if (at_end(f))
			continue;
		from = c->at;
		got = read_header(f, &id);
		if (__builtin_expect(got == CTF_SHORT, 0)) {
			grown = more(f, from, e);
			if (grown < 0)
				return -1;
			if (grown)
				continue;
		}
		if (got == CTF_GOT)
			f->class = ctf_class_of(f->stream, id);
		if (__builtin_expect(got == CTF_GOT && f->class && f->class->usable, 1)) {
			f->payload = c->at;
			if (time_of(f, c->time, &f->next))
				return 0;
			if (abandon(f, from, "an event's time cannot be", e))
				return -1;
			continue;
		}
		if (abandon(f, from,
			    got == CTF_GOT ? "an event that the metadata does not tell of"
					   : "the header of an event is cut short",
			    e))
			return -1;
	}
}

/* --- data --- */

static inline void put_size(uint8_t *to, uint64_t n, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		to[i] = (uint8_t)(n >> 8 * i);
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
	}
	return CTF_BAD;
}

static const enum ctf_scope data_scopes[] = {SCOPE_STREAM_CONTEXT, SCOPE_EVENT_CONTEXT,
					     SCOPE_FIELDS};

/* The event's data as details of a call. */
static enum ctf_got put_values(struct ctf_file *f, struct buffer *tail)
{
	struct ctf_cursor *c = &f->cursor;
	enum ctf_got got = CTF_GOT;
	uint64_t number = 0;

	c->seen = 0;
	c->comm = NULL;
	c->budget = CTF_BUDGET;
	for (size_t i = 0; i < sizeof data_scopes / sizeof *data_scopes; i++) {
		const struct ctf_part *s = f->class->layout.scope[data_scopes[i]];

		if (s)
			c->at = ctf_align(c->at, s->align);
		for (const struct ctf_part *p = s ? s->children : NULL; p && got == CTF_GOT;
		     p = p->next) {
			if (value_put_detail(tail, DETAIL_ARGUMENT, ++number))
				return CTF_BAD;
			got = ctf_put_value(c, p, tail);
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
	return s.at < 0 ? -1 : (int32_t)ctf_spot(fixed, s);
}

/* The lane of the event that was read. 0: memory. */
static inline uint32_t lane_of(struct ctf_file *f)
{
	struct ctf *ctf = f->trace->ctf;
	const struct ctf_class *k = f->class;
	const struct ctf_cursor *c = &f->cursor;
	const uint8_t *fixed = ctf->fixed.data, *comm = NULL;
	int32_t tid, pid, ppid;
	size_t comm_size = 0;

	if (k->plain) {
		tid = number_at(fixed, k->tid);
		pid = number_at(fixed, k->pid);
		ppid = number_at(fixed, k->ppid);
		if (k->comm.at >= 0) {
			comm = fixed + k->comm.at;
			comm_size = strnlen((const char *)comm, k->comm.size);
		}
	} else {
		tid = seen(c, CTF_TID) ? (int32_t)c->role[CTF_TID] : -1;
		pid = seen(c, CTF_PID) ? (int32_t)c->role[CTF_PID] : -1;
		ppid = seen(c, CTF_PPID) ? (int32_t)c->role[CTF_PPID] : -1;
		comm = c->comm;
		comm_size = comm ? c->comm_size : 0;
	}
	if (tid < 0 && f->trace->kernel) {
		const struct ctf_cpu *cpu = ctf_calls_cpu(f->trace, f->cpu);

		tid = cpu ? cpu->tid : -1;
		comm = cpu ? cpu->comm : NULL;
		comm_size = cpu ? cpu->comm_size : 0;
	}
	if (comm_size > sizeof f->comm)
		comm_size = sizeof f->comm;
	if (__builtin_expect(f->lane && f->tid == tid && f->pid == pid && f->ppid == ppid &&
				     f->comm_size == comm_size &&
				     (!comm_size || !memcmp(f->comm, comm, comm_size)),
			     1))
		return f->lane;
	f->tid = tid;
	f->pid = pid;
	f->ppid = ppid;
	f->comm_size = comm_size;
	if (comm_size)
		memcpy(f->comm, comm, comm_size);
	f->lane = ctf_lane(f, tid, pid, ppid, f->comm, comm_size);
	return f->lane;
}

static int put_row(struct ctf_file *f)
{
	struct ctf *ctf = f->trace->ctf;
	struct ctf_class *k = f->class;
	const uint8_t *fixed = ctf->fixed.data;
	const struct buffer *tail = &ctf->tail;
	uint32_t lane, place = 0;

	lane = lane_of(f);
	if (!lane)
		return -1;
	if (k->kind != KIND_INSTANT || !k->plain) {
		place = k->plain ? ctf_calls_place(k, f, fixed) : k->place;
		if (!place)
			return -1;
	}
	for (uint32_t i = 0; i < k->ndefinitions; i++)
		if (writer_use_definition(ctf->w, k->definitions[i]))
			return -1;
	if (writer_row_data(ctf->w, f->next, lane, k->type, place, 0, fixed, k->fixed_size,
			    tail->data, (uint32_t)tail->size, k->nstrings || !k->plain))
		return -1;
	return k->action ? ctf_calls_after(k, f, fixed, tail) : 0;
}

static int put_lost(struct ctf_file *f)
{
	struct ctf *ctf = f->trace->ctf;
	struct gap gap = {
		.reason = GAP_LOST, .unit = GAP_EVENTS, .count = f->lost, .offset = NO_OFFSET};
	uint32_t lane = ctf_lane(f, -1, -1, -1, NULL, 0);

	ctf->input->decoding->lost += f->lost;
	f->lost = 0;
	return lane ? writer_gap(ctf->w, f->next, lane, &gap) : -1;
}

static int failed(struct ctf_file *f, struct error *e)
{
	*e = f->trace->ctf->w->error;
	return e->what[0] ? -1 : error_set(e, NULL, NO_OFFSET, "out of memory");
}

int ctf_file_event(struct ctf_file *f, struct error *e)
{
	for (;;) {
		enum ctf_got got;
		int grown;

		if (__builtin_expect(f->lost, 0))
			return put_lost(f) ? failed(f, e) : 0;
		if (__builtin_expect(!f->class->type, 0) && ctf_class_declare(f->class))
			return failed(f, e);
		got = read_data(f);
		if (__builtin_expect(got == CTF_GOT, 1))
			return put_row(f) ? failed(f, e) : 0;
		grown = got == CTF_SHORT ? more(f, f->payload, e) : 0;
		if (grown < 0)
			return -1;
		if (!grown)
			return abandon(f, f->payload,
				       got == CTF_SHORT
					       ? "an event is cut short"
					       : "an event's data are not as the metadata says",
				       e);
	}
}

int ctf_file_open(struct ctf_file *f, size_t window, bool keep, struct error *e)
{
	struct ctf *ctf = f->trace->ctf;

	f->next = UINT64_MAX;
	f->cpu = -1;
	f->cursor.slots = calloc(f->trace->metadata.slots + 1u, sizeof(uint64_t));
	if (!f->cursor.slots)
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	if (window_open(&f->window, ctf->input->tree, f->member, window, keep, e)) {
		input_damage_error(ctf->input, e);
		f->done = true;
		return 0;
	}
	return ctf_file_next(f, e);
}

void ctf_file_close(struct ctf_file *f)
{
	window_close(&f->window);
	buffer_free(&f->large);
	free(f->cursor.slots);
	f->cursor.slots = NULL;
	f->done = true;
}
