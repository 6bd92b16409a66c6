/*
 * ctf_packet.c - packets of CTF, and what is lost between them
 */
#include <stdlib.h>

#include "cmd/trdecode/ctf.h"
#include "cmd/trdecode/ctf_metadata.h"
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/row_filter.h"
#include "common/util/error.h"

/*
 * What the recorder lost, by the counters of packets.
 *
 * events_discarded counts from the beginning of the recording to the end of the packet, and
 * packet_seq_num numbers the packets. A flow is all packets of a stream instance: they continue
 * from one tracefile to the next, and from one chunk of a rotated recording to the next. UUID,
 * stream_id and stream_instance_id identify a flow. If the input has the first packet of a flow,
 * all events that this packet counts were lost before the packet; else their number is unknown.
 * Snapshots of one recording may contain the same packets: each packet is read once.
 */

enum { RECENT = 32 };

struct ctf_packet_key {
	uint64_t sequence, begin, end, size;
};

/* The packets of one stream instance, from all files. */
struct ctf_flow {
	bool begun;
	const struct ctf_file *file; /* the file that contained the last packet */
	struct ctf_packet_key last;
	uint64_t discarded;
	/* the last packets, to recognise them in another file */
	struct ctf_packet_key recent[RECENT];
	unsigned nrecent;
};

/* The flows of all inputs. */
struct ctf_flows {
	unsigned users;
	struct id_cache numbers; /* of flows, by key: index + 1 in flows */
	struct ctf_flow **flows;
	size_t count, capacity;
};

struct ctf_flows *ctf_flows_join(struct ctf_flows **shared)
{
	if (!*shared)
		*shared = calloc(1, sizeof **shared);
	if (*shared)
		(*shared)->users++;
	return *shared;
}

void ctf_flows_leave(struct ctf_flows **shared)
{
	struct ctf_flows *all = *shared;

	if (!all || --all->users)
		return;
	for (size_t i = 0; i < all->count; i++)
		free(all->flows[i]);
	free(all->flows);
	id_cache_free(&all->numbers);
	free(all);
	*shared = NULL;
}

static struct ctf_flow *find_flow(const struct ctf_file *f, char kind, const void *owner,
				  uint64_t number)
{
	struct ctf_flows *all = f->trace->ctf->flows;
	const struct ctf_metadata *m = &f->trace->metadata;
	/* What identifies a flow. */
	struct {
		uint8_t uuid[16];
		const void *owner; /* the trace if it has no UUID, or the file */
		uint64_t stream, number;
		char kind; /* kind of number: 'i' instance, 'c' CPU, 'f' none */
	} key;
	uint32_t *id;

	memset(&key, 0, sizeof key);
	if (m->has_uuid)
		memcpy(key.uuid, m->uuid, sizeof key.uuid);
	key.owner = owner ? owner : m->has_uuid ? NULL : f->trace;
	key.stream = f->stream->declared->id;
	key.number = number;
	key.kind = kind;
	id = id_cache_number(&all->numbers, &key, sizeof key);
	if (!id)
		return NULL;
	if (*id)
		return all->flows[*id - 1];
	if (ARRAY_GROW(all->flows, all->capacity, all->count))
		return NULL;
	all->flows[all->count] = calloc(1, sizeof **all->flows);
	if (!all->flows[all->count])
		return NULL;
	*id = (uint32_t)++all->count;
	return all->flows[all->count - 1];
}

/* Test whether the packet contains this member. */
static bool has_counter(const struct ctf_file *f, enum ctf_role role)
{
	return f->packet.counted >> role & 1;
}

static struct ctf_flow *flow_of(const struct ctf_file *f)
{
	if (has_counter(f, CTF_INSTANCE))
		return find_flow(f, 'i', NULL, f->packet.counters[CTF_INSTANCE]);
	return find_flow(f, 'f', f, 0);
}

static struct ctf_packet_key ctf_packet_key_of(const struct ctf_file *f)
{
	return (struct ctf_packet_key){f->packet.counters[CTF_SEQUENCE_NUMBER],
				       f->packet.counters[CTF_TIME_BEGIN],
				       f->packet.counters[CTF_TIME_END], f->packet.size};
}

/* Test whether another file contained this packet. */
static bool ctf_packet_is_again(const struct ctf_flow *flow, const struct ctf_file *f)
{
	struct ctf_packet_key key = ctf_packet_key_of(f);

	if (!has_counter(f, CTF_SEQUENCE_NUMBER) || !flow->begun || flow->file == f)
		return false;
	for (unsigned i = 0; i < RECENT && i < flow->nrecent; i++)
		if (!memcmp(&flow->recent[i], &key, sizeof key))
			return true;
	return false;
}

static void follow_flow(struct ctf_flow *flow, const struct ctf_file *f)
{
	flow->begun = true;
	flow->file = f;
	flow->last = ctf_packet_key_of(f);
	flow->recent[flow->nrecent++ % RECENT] = flow->last;
	if (has_counter(f, CTF_DISCARDED))
		flow->discarded = f->packet.counters[CTF_DISCARDED];
}

/* Get the flow of the CPU if the packet can follow its last packet, else NULL. Tracefiles
 * without stream_instance_id (LTTng before 2.8) continue that flow. */
static const struct ctf_flow *before_file(const struct ctf_file *f, const struct ctf_flow *cpu)
{
	bool numbered = has_counter(f, CTF_SEQUENCE_NUMBER);

	if (!cpu->begun || cpu->file == f ||
	    (numbered && !f->packet.counters[CTF_SEQUENCE_NUMBER]) ||
	    !has_counter(f, CTF_TIME_BEGIN) || f->packet.counters[CTF_TIME_BEGIN] < cpu->last.end ||
	    (numbered && f->packet.counters[CTF_SEQUENCE_NUMBER] <= cpu->last.sequence) ||
	    f->packet.counters[CTF_DISCARDED] < cpu->discarded)
		return NULL;
	return cpu;
}

/* Get how many events were lost between the last packet, if any, and the end of this packet;
 * UINT64_MAX: unknown. */
static uint64_t events_lost(const struct ctf_file *f, const struct ctf_flow *last)
{
	bool numbered = has_counter(f, CTF_SEQUENCE_NUMBER);
	uint64_t counted = f->packet.counters[CTF_DISCARDED],
		 sequence = f->packet.counters[CTF_SEQUENCE_NUMBER];
	unsigned bits = f->stream->discarded_bits;

	if (!has_counter(f, CTF_DISCARDED) || !counted)
		return 0;
	/* the recording begins, or restarts */
	if (numbered && !sequence)
		return counted;
	if (!last)
		return numbered ? UINT64_MAX : counted;
	if (counted >= last->discarded)
		return counted - last->discarded;
	/* if this is the next packet, the counter wrapped */
	if (numbered && sequence == last->last.sequence + 1 && bits < 64)
		return counted + (1ull << bits) - last->discarded;
	return UINT64_MAX;
}

static uint64_t ctf_packet_packets_lost(const struct ctf_file *f, const struct ctf_flow *last)
{
	uint64_t sequence = f->packet.counters[CTF_SEQUENCE_NUMBER];

	if (!last || !has_counter(f, CTF_SEQUENCE_NUMBER) || sequence <= last->last.sequence)
		return 0;
	return sequence - last->last.sequence - 1;
}

/* Set f->lost and f->packet.packets_lost for the current packet. The caller passes packets of a
 * stream in the order of time. 1: the packet was already read from another file. */
static int ctf_loss_take(struct ctf_file *f)
{
	struct ctf_flow *flow = flow_of(f), *cpu = NULL;
	const struct ctf_flow *last = flow;

	if (!flow)
		return -1;
	if (!has_counter(f, CTF_INSTANCE) && has_counter(f, CTF_CPU)) {
		cpu = find_flow(f, 'c', NULL, f->packet.counters[CTF_CPU]);
		if (!cpu)
			return -1;
	}
	if (ctf_packet_is_again(flow, f))
		return 1;
	if (!flow->begun)
		last = cpu ? before_file(f, cpu) : NULL;
	f->packet.lost = f->trace->has_gaps ? 0 : events_lost(f, last);
	f->packet.packets_lost = f->trace->has_gaps ? 0 : ctf_packet_packets_lost(f, last);
	follow_flow(flow, f);
	if (cpu)
		follow_flow(cpu, f);
	return 0;
}

/* Record that the current packet was skipped. */
static int ctf_loss_pass(const struct ctf_file *f)
{
	struct ctf_flow *flow = flow_of(f);

	if (!flow)
		return -1;
	/* files are skipped one by one, not in the order of time */
	if (!flow->begun || ctf_packet_key_of(f).begin >= flow->last.begin)
		follow_flow(flow, f);
	return 0;
}

/*
 * Reads a tracefile forward: loads bytes, converts times, reads the headers of events.
 *
 * Damage costs the rest of its packet: each packet records where the next one begins.
 */

enum {
	SECOND = 1000000000,
	EVENT_MOST = 256 << 20, /* bytes of one event */
	SHAPE_NEED = 16,	/* most bytes of the header of a shape, with padding */
};

/* --- loading bytes --- */

/* Load n bytes, fewer at the end of the file, and let the cursor's data begin at the byte of
 * position `from`. */
static int ctf_file_refill(struct ctf_file *f, uint64_t from, size_t n, struct error *e)
{
	struct ctf_cursor *c = &f->cursor;
	uint64_t offset = f->packet.at + from / 8, left;
	ssize_t have;

	window_skip(&f->window, (size_t)(offset - f->window.offset));
	have = window_need(&f->window, n, e);
	if (have < 0)
		return -1;
	c->data = window_at(&f->window);
	c->origin = from / 8 * 8;
	c->have = c->origin + 8 * (uint64_t)have;
	left = f->packet.content > c->origin ? f->packet.content : c->origin;
	if (c->have > left)
		c->have = left;
	return 0;
}

int ctf_file_more(struct ctf_file *f, uint64_t from, struct error *e)
{
	struct ctf_cursor *c = &f->cursor;
	uint64_t had = c->have - c->origin;
	size_t n = f->window.capacity;

	/* slide the window first, then grow it */
	if (from / 8 * 8 == c->origin) {
		if (had / 8 >= EVENT_MOST)
			return 0;
		n = (size_t)(had / 8) * 2;
		if (n < f->window.capacity)
			n = f->window.capacity;
	}
	had = c->have;
	if (ctf_file_refill(f, from, n, e))
		return -1;
	c->at = from;
	return c->have > had;
}

/* --- time --- */

bool ctf_file_own_time(const struct ctf_file *f, uint64_t value, uint64_t *ns)
{
	const struct ctf_stream *s = f->stream;
	bool raw = f->trace->ctf->raw;
	/* below 2^65, so that ns are below 2^95 */
	__int128 time = (__int128)value + (raw ? 0 : s->offset);

	/* one division for ticks and rest, rounded down: exact to the ns */
	if (s->frequency != SECOND) {
		time = time * SECOND;
		time = time / s->frequency - (time % s->frequency < 0);
	}
	time += raw ? 0 : (__int128)s->offset_s * SECOND;
	if (time < 0) {
		f->trace->ctf->early += !f->survey;
		time = 0;
	}
	if (time >= (__int128)TIME_LIMIT)
		return false;
	*ns = (uint64_t)time;
	return true;
}

/* The same, shifted. */
static bool ctf_file_time(const struct ctf_file *f, uint64_t value, uint64_t *ns)
{
	if (!ctf_file_own_time(f, value, ns))
		return false;
	*ns = merge_shifted(*ns, f->trace->ctf->input->shift);
	return true;
}

/* --- damage --- */

static void ctf_packet_report_damage(const struct ctf_file *f, uint64_t offset, const char *what)
{
	struct input *in = f->trace->ctf->input;
	char path[512];

	input_damage(in, tree_path(in->tree, f->member, path, sizeof path), offset, "%s", what);
}

/* Report damage, and write a gap. */
static int ctf_file_damage(struct ctf_file *f, uint64_t offset, const char *what)
{
	struct gap gap = {.reason = GAP_DAMAGE,
			  .unit = GAP_EVENTS,
			  .count = UINT64_MAX,
			  .offset = offset,
			  .file = f->member,
			  .message = what};
	uint64_t time;
	uint32_t lane;

	/* it is reported where the file is read */
	if (f->survey)
		return 0;
	ctf_packet_report_damage(f, offset, what);
	if (!f->trace->ctf->begun)
		return 0;
	lane = ctf_lane(f, NULL);
	if (!f->stream || !ctf_file_time(f, f->cursor.time, &time))
		time = f->last_time;
	return !lane || writer_gap(f->trace->ctf->w, time, lane, &gap) ? -1 : 0;
}

int ctf_file_abandon(struct ctf_file *f, uint64_t at, const char *what)
{
	f->in_packet = false;
	/* the cut of a file was reported at the beginning of its packet */
	return f->cut ? 0 : ctf_file_damage(f, f->packet.at + at / 8, what);
}

/* Test whether the current packet can be skipped: it ends before the first wanted time, and later
 * events do not need it. */
static bool ctf_skip_packet(const struct ctf_file *f)
{
	const struct decoding *d = f->trace->ctf->input->decoding;
	const struct ctf_cursor *c = &f->cursor;
	uint64_t end;

	return d->row_filter && d->row_filter->first_time &&
	       (d->times_only || f->stream->stateless) && ctf_seen(c, CTF_TIME_BEGIN) &&
	       ctf_seen(c, CTF_TIME_END) && c->role[CTF_TIME_END] >= c->role[CTF_TIME_BEGIN] &&
	       ctf_file_time(f, c->role[CTF_TIME_END], &end) && end < d->row_filter->first_time;
}

/*
 * The headers and contexts of packets.
 *
 * After a damaged header the next packet is searched by its magic number.
 */

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

static bool ctf_packet_is_packet(const struct ctf_file *f, const uint8_t *p, size_t n)
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
			if (ctf_packet_is_packet(f, p + i, 20)) {
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
	const struct ctf_part *header = t->nstreams ? s->layout[SCOPE_PACKET_HEADER] : NULL;

	return header && header->children && header->children->role == CTF_MAGIC;
}

/* Read the packet's header or context. Return NULL, or what is wrong. */
static const char *packet_scope(struct ctf_file *f, enum ctf_scope scope)
{
	const struct ctf_part *p = f->stream->layout[scope];

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
static void ctf_packet_begin_packet(struct ctf_file *f)
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
			ctf_packet_begin_packet(f);
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

/* Read the header and context of the next packet, or set f->done. */
static int ctf_packet_next(struct ctf_file *f, struct error *e)
{
	size_t piece = f->window.piece;
	int bad = next_packet(f, e);

	f->window.piece = piece;
	return bad;
}

/* --- packets that are skipped, as later events do not need them --- */

void ctf_skip_prepare(struct ctf_trace *t)
{
	for (size_t i = 0; i < t->nstreams; i++)
		t->streams[i].stateless = true;
	for (size_t i = 0; i < t->nclasses; i++) {
		const struct ctf_class *c = &t->classes[i];

		if (c->stream &&
		    (c->action == CTF_BIN_INFO || (c->action == CTF_SWITCH && t->kernel)))
			c->stream->stateless = false;
	}
}

enum { HEAD_WINDOW = 4096 }; /* bytes read at once where only packets are looked at */

void ctf_file_close(struct ctf_file *f)
{
	window_close(&f->window);
	buffer_free(&f->packet.beginning);
	buffer_free(&f->packet.context);
	free(f->cursor.slots);
	f->cursor.slots = NULL;
	f->done = true;
}

/* Find the highest time at which a packet with events begins. */
static void late_of(const struct ctf_file *of, uint64_t *latest)
{
	struct ctf_file f = {
		.trace = of->trace, .member = of->member, .packet.cpu = -1, .survey = true};
	struct input *in = f.trace->ctf->input;
	uint64_t time;
	struct error e;

	f.cursor.slots = calloc(f.trace->metadata.slots + 1u, sizeof(uint64_t));
	if (!f.cursor.slots)
		return;
	if (!window_open(&f.window, in->tree, f.member, HEAD_WINDOW, true, &e)) {
		f.cursor.empty = CTF_EMPTY_LEAST + f.window.size;
		while (!ctf_packet_next(&f, &e) && !f.done)
			if (f.packet.content > f.cursor.at && ctf_seen(&f.cursor, CTF_TIME_BEGIN) &&
			    ctf_file_time(&f, f.cursor.role[CTF_TIME_BEGIN], &time) &&
			    time > *latest)
				*latest = time;
	}
	ctf_file_close(&f);
}

bool ctf_skip_late(struct input *in, uint64_t *latest)
{
	const struct ctf *ctf = in->state;

	for (size_t i = 0; i < ctf->nfiles; i++)
		if (!ctf->files[i].done)
			late_of(&ctf->files[i], latest);
	return false;
}

/* --- events --- */

/* Read the header of an event in one of the usual shapes. false: not enough bytes. Without this
 * 'trdecode | trstat -g name -c count' of t/bench/ctf.sh takes 1.7 times the instructions. */
static inline bool ctf_packet_read_shape(struct ctf_cursor *c, const struct ctf_stream *s,
					 uint64_t *id)
{
	uint64_t at = align_up(c->at, 8);
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

static enum ctf_got ctf_packet_read_header(struct ctf_file *f, uint64_t *id)
{
	struct ctf_cursor *c = &f->cursor;
	const struct ctf_part *p = f->stream->layout[SCOPE_EVENT_HEADER];
	uint64_t time = c->time;
	enum ctf_got got;

	if (f->stream->shape != SHAPE_ANY && ctf_packet_read_shape(c, f->stream, id))
		return CTF_GOT;
	*id = 0;
	if (!p)
		return CTF_GOT;
	c->seen = 0;
	c->budget = CTF_BUDGET;
	got = ctf_step_over(c, p);
	if (got != CTF_GOT)
		c->time = time;
	else if (ctf_seen(c, CTF_ID))
		*id = c->role[CTF_ID];
	return got;
}

/* Test whether the packet has no more events; padding smaller than an event may follow the last
 * one. */
static bool at_end(const struct ctf_file *f)
{
	return f->cursor.at >= f->packet.content;
}

/* Skip the packet if another file contained it. */
int ctf_file_begun(struct ctf_file *f, struct error *e)
{
	int again = ctf_loss_take(f);

	f->packet.fresh = false;
	if (again > 0)
		f->in_packet = false;
	return again < 0 ? error_no_memory(e) : 0;
}

/* Go to the next packet with events, or with losses before it, unless the present one has more. -1:
 * failure. */
static int find_packet(struct ctf_file *f, struct error *e)
{
	/* losses before the first packet are computed when other files have reached it */
	while ((!f->in_packet || at_end(f)) && !f->packet.fresh) {
		if (ctf_packet_next(f, e))
			return -1;
		if (!f->done && !f->packet.fresh && ctf_file_begun(f, e))
			return -1;
		if (f->done || f->packet.lost || f->packet.packets_lost)
			break;
	}
	return 0;
}

/* Set the time of the next event. Returns false, with the time of the event before, if the cursor's
 * time is out of range. */
static bool set_next_time(struct ctf_file *f)
{
	if (ctf_file_time(f, f->cursor.time, &f->next.time))
		return true;
	f->next.time = f->last_time;
	return false;
}

/* Count a time that is earlier than that of the event before it; report the first one. */
static void note_step_back(struct ctf_file *f, uint64_t offset)
{
	struct ctf *ctf = f->trace->ctf;
	char path[512];

	if (!ctf->back++ && !ctf->input->decoding->quiet && !ctf->input->decoding->times_only)
		warn(tree_path(ctf->input->tree, f->member, path, sizeof path), offset,
		     "the time steps back: the events are in the order of the file");
}

/* Find the class of an event by its id. NULL: not declared. */
static struct ctf_class *ctf_class_of(struct ctf_stream *s, uint64_t id)
{
	uint32_t number = id <= UINT32_MAX ? idmap_get(&s->ids, (uint32_t)id) : 0;

	if (!number)
		number = s->only;
	return number ? &s->trace->classes[number - 1] : NULL;
}

int ctf_file_next(struct ctf_file *f, struct error *e)
{
	struct ctf_cursor *c = &f->cursor;

	for (;;) {
		uint64_t from, id, time;
		enum ctf_got got;
		int grown;

		if (find_packet(f, e))
			return -1;
		if (f->done) {
			f->next.time = UINT64_MAX;
			return 0;
		}
		if (f->packet.lost || f->packet.packets_lost || !f->in_packet || at_end(f)) {
			/* a gap, or a first packet without events: at the packet's beginning */
			set_next_time(f);
			f->class = NULL;
			return 0;
		}
		from = f->header = c->at;
		time = c->time;
		got = ctf_packet_read_header(f, &id);
		if (__builtin_expect(got == CTF_SHORT, 0)) {
			grown = ctf_file_more(f, from, e);
			if (grown < 0)
				return -1;
			if (grown)
				continue;
		}
		if (got == CTF_GOT)
			f->class = ctf_class_of(f->stream, id);
		if (__builtin_expect(got == CTF_GOT && f->class && f->class->usable, 1)) {
			f->payload = c->at;
			if (set_next_time(f)) {
				if (f->next.time < f->last_time)
					note_step_back(f, f->packet.at + from / 8);
				f->last_time = f->next.time;
				return 0;
			}
			c->time = time; /* keep the event */
			ctf_packet_report_damage(f, f->packet.at + from / 8,
						 "an event with an impossible time");
			return 0;
		}
		if (ctf_file_abandon(f, from,
				     got == CTF_GOT ? "an event that the metadata does not declare"
						    : "the header of an event is cut short"))
			return -1;
	}
}

int ctf_file_open(struct ctf_file *f, struct error *e)
{
	struct ctf *ctf = f->trace->ctf;

	f->next.time = UINT64_MAX;
	f->packet.cpu = -1;
	f->cursor.slots = calloc(f->trace->metadata.slots + 1u, sizeof(uint64_t));
	if (!f->cursor.slots)
		return error_no_memory(e);
	if (window_open_one(&f->window, ctf->input, f->member, ctf->nfiles, e)) {
		input_damage_error(ctf->input, e);
		e->what[0] = '\0';
		f->done = true;
		return 0;
	}
	f->cursor.empty = CTF_EMPTY_LEAST + f->window.size;
	return ctf_file_next(f, e);
}
