/*
 * loss.c - what the recorder lost, by the counters of packets
 *
 * events_discarded counts from the beginning of the recording to the end of the packet, and
 * packet_seq_num numbers the packets. A flow is all packets of a stream instance: they continue
 * from one tracefile to the next, and from one chunk of a rotated recording to the next. UUID,
 * stream_id and stream_instance_id identify a flow. If the input has the first packet of a flow,
 * all events that this packet counts were lost before the packet; else their number is unknown.
 * Snapshots of one recording may contain the same packets: each packet is read once.
 */
#include <stdlib.h>

#include "cmd/trdecode/ctf/ctf.h"

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

/* What identifies a flow. */
struct flow_key {
	uint8_t uuid[16];
	const void *owner; /* the trace if it has no UUID, or the file */
	uint64_t stream, number;
	char kind; /* kind of number: 'i' instance, 'c' CPU, 'f' none */
};

static struct ctf_flow *find_flow(const struct ctf_file *f, char kind, const void *owner,
				  uint64_t number)
{
	struct ctf_flows *all = f->trace->ctf->flows;
	const struct ctf_metadata *m = &f->trace->metadata;
	struct flow_key key;
	struct ctf_flow **flows;
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
	flows = all->flows;
	flows[all->count] = calloc(1, sizeof **flows);
	if (!flows[all->count])
		return NULL;
	*id = (uint32_t)++all->count;
	return flows[all->count - 1];
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

static struct ctf_packet_key key_of(const struct ctf_file *f)
{
	return (struct ctf_packet_key){f->packet.counters[CTF_SEQUENCE_NUMBER],
				       f->packet.counters[CTF_TIME_BEGIN],
				       f->packet.counters[CTF_TIME_END], f->packet.size};
}

/* Test whether another file contained this packet. */
static bool is_again(const struct ctf_flow *flow, const struct ctf_file *f)
{
	struct ctf_packet_key key = key_of(f);

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
	flow->last = key_of(f);
	flow->recent[flow->nrecent++ % RECENT] = flow->last;
	if (has_counter(f, CTF_DISCARDED))
		flow->discarded = f->packet.counters[CTF_DISCARDED];
}

/* Return the flow of the CPU if the packet can follow its last packet, else NULL. Tracefiles
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

/* Return how many events were lost between the last packet, if any, and the end of this packet;
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

static uint64_t packets_lost(const struct ctf_file *f, const struct ctf_flow *last)
{
	uint64_t sequence = f->packet.counters[CTF_SEQUENCE_NUMBER];

	if (!last || !has_counter(f, CTF_SEQUENCE_NUMBER) || sequence <= last->last.sequence)
		return 0;
	return sequence - last->last.sequence - 1;
}

int ctf_loss_take(struct ctf_file *f)
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
	if (is_again(flow, f))
		return 1;
	if (!flow->begun)
		last = cpu ? before_file(f, cpu) : NULL;
	f->packet.lost = f->trace->has_gaps ? 0 : events_lost(f, last);
	f->packet.packets_lost = f->trace->has_gaps ? 0 : packets_lost(f, last);
	follow_flow(flow, f);
	if (cpu)
		follow_flow(cpu, f);
	return 0;
}

int ctf_loss_pass(const struct ctf_file *f)
{
	struct ctf_flow *flow = flow_of(f);

	if (!flow)
		return -1;
	/* files are skipped one by one, not in the order of time */
	if (!flow->begun || key_of(f).begin >= flow->last.begin)
		follow_flow(flow, f);
	return 0;
}
