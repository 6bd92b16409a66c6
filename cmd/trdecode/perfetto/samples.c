/*
 * samples.c - samples of call stacks, and the frames that they name
 *
 * A frame with a function is a named location with the file and the line; any other frame is an
 * address in the space of the file that is mapped, where a MAP relates addresses to the file.
 */
#include "cmd/trdecode/perfetto/perfetto.h"

/* --- frames --- */

/* Declare the space of a file. Addresses are those of the ELF file: offset + load_bias. */
static uint32_t declare_space(struct perfetto *p, uint32_t path, uint32_t build_id, uint64_t bias)
{
	uint32_t space =
		writer_space(p->w, &(struct space_entry){.source = p->source, .name = path});

	if (space && writer_map(p->w, &(struct map_entry){.space = space,
							  .start = bias,
							  .end = UINT64_MAX,
							  .path = path,
							  .build_id = build_id}))
		return 0;
	return space;
}

/* Append the parts of a path to a text. */
static int add_parts(struct perfetto *p, const struct perfetto_sequence *s,
		     struct protobuf_field *f, struct buffer *b)
{
	struct protobuf_view rest = f->bytes;
	uint64_t iid;

	while (protobuf_each(f, &rest, &iid)) {
		uint32_t part = perfetto_interned(p, s, OF_PATH, iid);
		size_t n;
		const char *text = part ? writer_string_of(p->w, part, &n) : NULL;

		if (text && (buffer_u8(b, '/') || buffer_append(b, text, n)))
			return -1;
	}
	return 0;
}

uint32_t perfetto_mapping(struct perfetto *p, const struct perfetto_sequence *s,
			  struct protobuf_view message)
{
	struct buffer *b = &p->scratch.text;
	struct perfetto_mapped mapped;
	struct protobuf_field f;
	uint32_t *number;
	struct {
		uint64_t bias;
		uint32_t path, build_id;
	} key = {0};

	b->size = 0;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case MAPPING_BUILD_ID:
			key.build_id = perfetto_interned(p, s, OF_BUILD_ID, f.value);
			break;
		case MAPPING_LOAD_BIAS: key.bias = f.value; break;
		case MAPPING_PATH:
			if (add_parts(p, s, &f, b))
				return 0;
			break;
		}
	key.path = writer_string(p->w, b->data, b->size);
	number = id_cache_number(&p->mapping_numbers, &key, sizeof key);
	if (!number || *number)
		return number ? *number : 0;
	mapped.path = key.path;
	mapped.space = declare_space(p, key.path, key.build_id, key.bias);
	if (!mapped.space || buffer_append(&p->mappings, &mapped, sizeof mapped))
		return 0;
	return *number = (uint32_t)(p->mappings.size / sizeof mapped);
}

/* Declare the location of a function with its file and line. */
static uint32_t named_location(struct perfetto *p, const struct location_entry *entry,
			       const struct perfetto_source_location *source, uint32_t module)
{
	struct symbol_entry symbol = {.start = entry->address, .line = source->line};
	uint32_t location = writer_location(p->w, entry);
	size_t n;

	symbol.name = writer_string_of(p->w, entry->name, &n);
	symbol.name_size = (uint32_t)n;
	if (source->file) {
		symbol.file = writer_string_of(p->w, source->file, &n);
		symbol.file_size = (uint32_t)n;
	}
	if (module) {
		symbol.module = writer_string_of(p->w, module, &n);
		symbol.module_size = (uint32_t)n;
	}
	if (location && (source->file || module) && writer_symbol(p->w, location, &symbol))
		return 0;
	return location;
}

uint32_t perfetto_frame(struct perfetto *p, const struct perfetto_sequence *s,
			struct protobuf_view message)
{
	struct perfetto_source_location source = {0};
	struct location_entry entry = {0};
	struct perfetto_mapped mapped = {0};
	struct protobuf_field f;
	uint32_t mapping = 0;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case FRAME_FUNCTION:
			entry.name = perfetto_interned(p, s, OF_FUNCTION, f.value);
			break;
		case FRAME_MAPPING: mapping = perfetto_interned(p, s, OF_MAPPING, f.value); break;
		case FRAME_ADDRESS: entry.address = f.value; break;
		case FRAME_SOURCE_PATH:
			source.file = perfetto_interned(p, s, OF_SOURCE_PATH, f.value);
			break;
		case FRAME_LINE: source.line = (uint32_t)f.value; break;
		}
	if (mapping)
		memcpy(&mapped, p->mappings.data + (mapping - 1) * sizeof mapped, sizeof mapped);
	if (mapping)
		entry.space = mapped.space;
	else
		entry.address = 0;
	if (entry.name)
		return named_location(p, &entry, &source, mapped.path);
	if (!mapping)
		entry.name = writer_text(p->w, "?");
	return writer_location(p->w, &entry);
}

uint32_t perfetto_callstack(struct perfetto *p, const struct perfetto_sequence *s,
			    struct protobuf_view message)
{
	struct protobuf_view rest;
	struct protobuf_field f;
	uint32_t stack = 0;
	uint64_t iid;

	/* the outermost frame is first */
	while (protobuf_next(&message, &f) > 0) {
		if (f.number != CALLSTACK_FRAME)
			continue;
		for (rest = f.bytes; protobuf_each(&f, &rest, &iid);) {
			uint32_t location = perfetto_interned(p, s, OF_FRAME, iid);

			if (location)
				stack = writer_stack(p->w, stack, location);
		}
	}
	return stack;
}

uint32_t perfetto_inline_stack(struct perfetto *p, struct protobuf_view message)
{
	struct protobuf_field f, of;
	uint32_t stack = 0;

	while (protobuf_next(&message, &f) > 0) {
		struct perfetto_source_location source = {0};
		struct location_entry entry = {0};
		uint32_t location;

		if (f.number != INLINE_FRAME)
			continue;
		while (protobuf_next(&f.bytes, &of) > 0)
			switch (of.number) {
			case INLINE_FUNCTION: entry.name = perfetto_text(p, of.bytes); break;
			case INLINE_FILE: source.file = perfetto_text(p, of.bytes); break;
			case INLINE_LINE: source.line = (uint32_t)of.value; break;
			}
		if (!entry.name)
			entry.name = writer_text(p->w, "?");
		location = named_location(p, &entry, &source, 0);
		stack = location ? writer_stack(p->w, stack, location) : stack;
	}
	return stack;
}

/* --- samples --- */

/* Read the event that a timebase counts: its name and period. */
static void read_timebase(struct perfetto *p, struct perfetto_defaults *d,
			  struct protobuf_view message)
{
	static const char *const counters[] = {NULL,
					       "cpu-clock",
					       "page-faults",
					       "task-clock",
					       "context-switches",
					       "cpu-migrations",
					       "minor-faults",
					       "major-faults",
					       "alignment-faults",
					       "emulation-faults",
					       "cpu-cycles",
					       "instructions",
					       "cache-references",
					       "cache-misses",
					       "branch-instructions",
					       "branch-misses",
					       "bus-cycles",
					       "stalled-cycles-frontend",
					       "stalled-cycles-backend",
					       "ref-cycles",
					       "dummy"};
	struct protobuf_field f, of;
	uint32_t name = 0;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case TIMEBASE_PERIOD: d->period = f.value; break;
		case TIMEBASE_NAME: name = perfetto_text(p, f.bytes); break;
		case TIMEBASE_COUNTER:
			if (f.value < sizeof counters / sizeof *counters)
				d->sample_name = writer_text(p->w, counters[f.value]);
			break;
		case TIMEBASE_TRACEPOINT:
			while (protobuf_next(&f.bytes, &of) > 0)
				if (of.number == TRACEPOINT_NAME)
					d->sample_name = perfetto_text(p, of.bytes);
			break;
		}
	if (name)
		d->sample_name = name;
}

int perfetto_sample_defaults(struct perfetto *p, struct perfetto_sequence *s,
			     struct protobuf_view message)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		if (f.number == SAMPLE_TIMEBASE)
			read_timebase(p, &s->defaults, f.bytes);
	return 0;
}

/* Get the weight of a sample: the difference of its counter to the one before on the CPU. 0: out of
 * memory. */
static uint64_t counted_weight(struct perfetto *p, const struct perfetto_sequence *s, uint16_t cpu,
			       uint64_t count)
{
	struct buffer *counts = &p->counts.sample_counts;
	uint32_t key[2] = {s->number, cpu};
	uint32_t *number = id_cache_number(&p->counts.sample_cpus, key, sizeof key);
	uint64_t before;

	if (!number || (!*number && buffer_u64(counts, 0)))
		return 0;
	if (!*number)
		*number = (uint32_t)(counts->size / 8);
	before = get_u64(counts->data + 8 * (*number - 1));
	put_u64(counts->data + 8 * (*number - 1), count);
	if (count == before)
		return 1;
	return count > before ? count - before : count ? count : 1;
}

int perfetto_sample(struct perfetto *p, struct perfetto_sequence *s,
		    const struct perfetto_packet *packet)
{
	struct perfetto_loss loss = {.offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_EVENTS};
	struct perfetto_record r = {.kind = PERFETTO_SAMPLE, .flags = PERFETTO_VALUE};
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_THREAD, .pid = -1, .tid = -1, .cpu = -1};
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;
	uint64_t count = 0, weight = s->defaults.period;
	bool producer = false;

	while (protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case SAMPLE_CPU:
			r.cpu = (uint16_t)f.value;
			r.flags |= PERFETTO_HAS_CPU;
			break;
		case SAMPLE_PID: key.pid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		case SAMPLE_TID: key.tid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		case SAMPLE_CALLSTACK:
			r.stack = perfetto_interned(p, s, OF_CALLSTACK, f.value);
			break;
		case SAMPLE_COUNT: count = f.value; break;
		case SAMPLE_LOST: loss.count = f.value; break;
		case SAMPLE_SKIPPED: loss.reason = GAP_UNREAD; break;
		case SAMPLE_PRODUCER: producer = true; break;
		}
	p->scratch.arguments.size = 0;
	if (loss.count || loss.reason == GAP_UNREAD) {
		loss.count = loss.count ? loss.count : 1;
		return perfetto_keep_gap(p, packet->time, &loss,
					 r.flags & PERFETTO_HAS_CPU ? r.cpu : -1);
	}
	if (producer)
		return 0;
	r.track = perfetto_other_track(p, &key) - 1;
	r.name = s->defaults.sample_name ? s->defaults.sample_name : writer_text(p->w, "samples");
	if (r.track == UINT32_MAX)
		return -1;
	if (!weight)
		weight = count ? counted_weight(p, s, r.cpu, count) : 1;
	return weight ? perfetto_keep(p, packet->time, &r, weight) : -1;
}

/* Add a delta of microseconds to a time. Returns false if the result is out of range. */
static bool add_delta(uint64_t *time, int64_t us)
{
	int64_t ns;

	return !__builtin_mul_overflow(us, (int64_t)1000, &ns) &&
	       !__builtin_add_overflow(*time, ns, time) && *time < TIME_LIMIT;
}

int perfetto_streaming_profile(struct perfetto *p, struct perfetto_sequence *s,
			       const struct perfetto_packet *packet)
{
	struct perfetto_record r = {.kind = PERFETTO_SAMPLE, .flags = PERFETTO_VALUE};
	struct protobuf_view rest = packet->payload, list;
	struct protobuf_field f;
	struct buffer *deltas = &p->scratch.key, *stacks = &p->scratch.text;
	uint64_t n, time = packet->time;
	size_t nstacks, ndeltas;

	deltas->size = stacks->size = 0;
	while (protobuf_next(&rest, &f) > 0) {
		struct buffer *to = f.number == STREAMING_CALLSTACK ? stacks
				    : f.number == STREAMING_DELTA   ? deltas
								    : NULL;

		for (list = f.bytes; to && protobuf_each(&f, &list, &n);)
			if (buffer_u64(to, n))
				return -1;
	}
	if (!s->has_thread)
		r.track = perfetto_track(p, s->defaults.track) - 1;
	else
		r.track = s->thread_track - 1;
	if (r.track == UINT32_MAX)
		return -1;
	if (!packet->has_time) {
		time = (uint64_t)s->time * 1000;
		if (!perfetto_time(p, s, CLOCK_MONOTONIC_ID, &time))
			return 0;
	}
	r.name = writer_text(p->w, "cpu_profile");
	nstacks = stacks->size / 8;
	ndeltas = deltas->size / 8;
	for (size_t i = 0; i < nstacks; i++) {
		int64_t us = i < ndeltas ? (int64_t)get_u64(p->scratch.key.data + 8 * i) : 0;

		if (!add_delta(&time, us)) {
			p->counts.wrong_times++;
			return 0;
		}
		if (!packet->has_time)
			s->time = (int64_t)((uint64_t)s->time + (uint64_t)us);
		r.stack = perfetto_interned(p, s, OF_CALLSTACK,
					    get_u64(p->scratch.text.data + 8 * i));
		p->scratch.arguments.size = 0;
		/* the record is made in other buffers */
		if (perfetto_keep_data(p, (struct sorter_key){time, PERFETTO_ORDER}, &r,
				       &(uint64_t){1}, sizeof(uint64_t)))
			return -1;
	}
	return 0;
}
