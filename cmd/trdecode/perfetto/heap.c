/*
 * heap.c - profiles of heaps: samples of call stacks that weigh the bytes allocated by them
 *
 * A dump has the totals of each call stack since the profile began. So that the samples of all
 * dumps add up, a sample has the difference to the dump before, of the same process, heap and
 * stack.
 *
 * Source: protos/perfetto/trace/profiling/profile_packet.proto of the project perfetto.
 */
#include "cmd/trdecode/perfetto/rows.h"
#include "cmd/trdecode/input/merge.h"
#include "common/util/bytes.h"

/* ProfilePacket (its tables are in sequence.h), ProcessHeapSamples, HeapSample */
enum {
	PROFILE_DUMP = 5,
	DUMP_PID = 1,
	DUMP_SAMPLE = 2,
	DUMP_CONCURRENT = 4,
	DUMP_BUFFER_OVERRAN = 7,
	DUMP_TIME = 9,
	DUMP_HEAP_NAME = 11,
	HEAP_CALLSTACK = 1,
	HEAP_ALLOCATED = 2,
	HEAP_FREED = 3,
	HEAP_ALLOCATIONS = 5,
	HEAP_FREES = 6,
	HEAP_MAX = 8,
	HEAP_MAX_ALLOCATIONS = 9,
};

/* The totals of a call stack: bytes, and numbers of calls. */
enum { ALLOCATED, ALLOCATIONS, FREED, FREES, TOTALS };

/* A dump of one process. */
struct dump {
	struct perfetto_sequence *s;
	uint64_t time;
	int32_t pid;
	uint32_t heap; /* string of the writer: its name */
	uint32_t track;
};

/* Replace totals by their differences to those of the dump before. A total that is less began
 * again. */
static int subtract_before(struct perfetto *p, const struct dump *d, uint32_t stack,
			   uint64_t totals[TOTALS])
{
	struct buffer *all = &p->heaps.totals;
	uint32_t key[] = {d->s->number, (uint32_t)d->pid, d->heap, stack};
	uint32_t *number = id_cache_number(&p->heaps.numbers, key, sizeof key);
	uint8_t *before;

	if (!number)
		return -1;
	if (!*number) {
		for (unsigned i = 0; i < TOTALS; i++)
			if (buffer_u64(all, 0))
				return -1;
		*number = (uint32_t)(all->size / (8 * TOTALS));
	}
	before = all->data + (size_t)(*number - 1) * 8 * TOTALS;
	for (unsigned i = 0; i < TOTALS; i++) {
		uint64_t total = totals[i], had = get_u64(before + 8 * i);

		put_u64(before + 8 * i, total);
		totals[i] = total >= had ? total - had : total;
	}
	return 0;
}

static int keep_sample(struct perfetto *p, const struct dump *d, struct protobuf_view message)
{
	struct perfetto_record r = {
		.kind = PERFETTO_HEAP, .track = d->track, .name = d->heap, .stack = 0};
	uint64_t totals[TOTALS] = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case HEAP_CALLSTACK:
			r.stack = perfetto_interned(p, d->s, OF_CALLSTACK, f.value);
			break;
		case HEAP_ALLOCATED:
		case HEAP_MAX: totals[ALLOCATED] = f.value; break;
		case HEAP_FREED: totals[FREED] = f.value; break;
		case HEAP_ALLOCATIONS:
		case HEAP_MAX_ALLOCATIONS: totals[ALLOCATIONS] = f.value; break;
		case HEAP_FREES: totals[FREES] = f.value; break;
		}
	if (subtract_before(p, d, r.stack, totals))
		return -1;
	if (!totals[ALLOCATED] && !totals[ALLOCATIONS] && !totals[FREED] && !totals[FREES])
		return 0;
	return perfetto_keep_data(p, (struct sorter_key){d->time, PERFETTO_ORDER}, &r, totals,
				  sizeof totals);
}

static int read_dump(struct perfetto *p, struct perfetto_sequence *s, uint64_t time,
		     struct protobuf_view message)
{
	struct perfetto_loss loss = {
		.count = UINT64_MAX, .offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_EVENTS};
	struct dump d = {.s = s, .time = time, .pid = -1, .heap = writer_text(p->w, "malloc")};
	struct perfetto_track_key key = {.kind = PERFETTO_OF_PROCESS, .tid = -1, .cpu = -1};
	struct protobuf_view rest = message;
	struct protobuf_field f;
	bool has_time = false, lost = false;

	while (protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case DUMP_PID: d.pid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		case DUMP_CONCURRENT:
		case DUMP_BUFFER_OVERRAN: lost |= f.value != 0; break;
		case DUMP_TIME:
			d.time = f.value;
			has_time = f.value;
			break;
		case DUMP_HEAP_NAME:
			if (protobuf_size(f.bytes))
				d.heap = perfetto_text(p, f.bytes);
			break;
		}
	if (has_time && !perfetto_time(p, s, CLOCK_MONOTONIC_COARSE_ID, &d.time))
		return 0;
	if (!has_time)
		d.time = time;
	if (lost && perfetto_keep_gap(p, d.time, &loss, -1))
		return -1;
	key.pid = d.pid;
	d.track = perfetto_other_track(p, &key) - 1;
	if (d.track == UINT32_MAX || !d.heap)
		return -1;
	while (protobuf_next(&message, &f) > 0)
		if (f.number == DUMP_SAMPLE && f.wire == PROTOBUF_LENGTH &&
		    keep_sample(p, &d, f.bytes))
			return -1;
	return 0;
}

int perfetto_heap_profile(struct perfetto *p, struct perfetto_sequence *s,
			  const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;

	if (perfetto_profile_tables(p, s, rest))
		return -1;
	while (protobuf_next(&rest, &f) > 0)
		if (f.number == PROFILE_DUMP && f.wire == PROTOBUF_LENGTH &&
		    read_dump(p, s, packet->time, f.bytes))
			return -1;
	return 0;
}

/* --- rows --- */

static uint32_t heap_type(struct perfetto *p, uint32_t heap)
{
	static const struct {
		const char *name;
		enum field_kind kind;
		enum field_role role;
	} fields[] = {[ALLOCATED] = {"allocated", FIELD_UINT, ROLE_PERIOD},
		      [ALLOCATIONS] = {"allocations", FIELD_UINT, ROLE_COUNT},
		      [FREED] = {"freed", FIELD_UINT, ROLE_WEIGHT},
		      [FREES] = {"frees", FIELD_UINT, ROLE_NONE},
		      [TOTALS] = {"unreleased", FIELD_INT, ROLE_WEIGHT}};
	struct field_entry entries[TOTALS + 1];
	uint32_t key[] = {'h', heap}, *id = id_cache_number(&p->types.ids, &key, sizeof key);

	if (!id || *id)
		return id ? *id : 0;
	for (unsigned i = 0; i <= TOTALS; i++)
		entries[i] = (struct field_entry){.name = writer_text(p->w, fields[i].name),
						  .kind = fields[i].kind,
						  .role = fields[i].role,
						  .offset = 8 * i,
						  .size = 8};
	*id = writer_type(p->w, &(struct type_entry){.source = p->source,
						     .name = heap,
						     .group = writer_text(p->w, "heap"),
						     .kind = KIND_SAMPLE,
						     .native = 'H',
						     .fixed_size = 8 * (TOTALS + 1),
						     .nfields = TOTALS + 1,
						     .fields = entries});
	return *id && row_filter_announce(p->input->decoding->row_filter, *id, 0) ? 0 : *id;
}

int perfetto_heap_row(struct perfetto *p, const struct perfetto_track *t,
		      const struct perfetto_record *rec, uint64_t time, const uint8_t *data)
{
	uint8_t fixed[8 * (TOTALS + 1)];
	struct new_row r = {.time = merge_shifted(time, p->input->shift),
			    .lane = t->lane,
			    .type = heap_type(p, rec->name),
			    .location = rec->stack,
			    .fixed = fixed,
			    .fixed_size = sizeof fixed};
	uint64_t totals[TOTALS];

	memcpy(totals, data, sizeof totals);
	for (unsigned i = 0; i < TOTALS; i++)
		put_u64(fixed + 8 * i, totals[i]);
	put_u64(fixed + 8 * TOTALS, totals[ALLOCATED] - totals[FREED]);
	return r.type && r.lane ? writer_sample(p->w, r) : -1;
}
