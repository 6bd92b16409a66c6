/*
 * perfetto.c - reads traces of Perfetto: packets, clocks, stacks, samples and heaps
 *
 *     packet { timestamp: 1000  trusted_packet_sequence_id: 2  track_event { ... } }
 *
 * A packet is field 1 of the trace, and has a length. perfetto_packets.c has the state of its
 * sequence, perfetto_events.c the events, perfetto_tracks.c the rows.
 */
#include "cmd/trdecode/perfetto.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/frames.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/perfetto_tables.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "common/cli/program.h"
#include "common/formats/chrome.h"
#include "common/formats/perfetto.h"
#include "common/protobuf/protobuf.h"
#include "common/util/bisect.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/intern.h"
#include "common/util/output.h"
#include "common/util/u128.h"

/*
 * Call stacks: their frames, and the files that are mapped.
 *
 * A frame with a function is a named location with the file and the line; any other frame is an
 * address in the space of the file that is mapped, where a MAP relates addresses to the file. The
 * symbols of modules, which are often the last packets, name such addresses.
 */

/* --- frames --- */

/* Declare the space of a file. Addresses are those of the ELF file: offset + load_bias. */
static uint32_t perfetto_declare_space(struct perfetto *p, uint32_t path, uint32_t build_id,
				       uint64_t bias)
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

/* A file that is mapped. */
struct perfetto_mapped {
	uint64_t bias;
	uint32_t path, build_id;
};

uint32_t perfetto_mapping(struct perfetto *p, const struct perfetto_sequence *s,
			  struct protobuf_view message)
{
	struct buffer *b = &p->scratch.text;
	struct perfetto_mapped key = {0};
	struct protobuf_field f;
	uint32_t *space;

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
	space = id_cache_number(&p->modules.mappings, &key, sizeof key);
	if (space && !*space)
		*space = perfetto_declare_space(p, key.path, key.build_id, key.bias);
	return space && *space ? (uint32_t)(space - p->modules.mappings.numbers) + 1 : 0;
}

/* Get the file of a mapping, and its space. number: as interned; 0: none. */
static struct perfetto_mapped mapped_of(const struct perfetto *p, uint32_t number, uint32_t *space)
{
	struct perfetto_mapped mapped = {0};

	*space = number ? p->modules.mappings.numbers[number - 1] : 0;
	if (number)
		memcpy(&mapped, intern_data(&p->modules.mappings.keys, number - 1), sizeof mapped);
	return mapped;
}

/* Give a location the name and the address of the entry, the file and the line of the source, and
 * the module: string of its path, 0: none. Returns 0, or -1 when out of memory. */
static int perfetto_name_location(struct perfetto *p, uint32_t location,
				  const struct location_entry *entry,
				  const struct perfetto_source_location *source, uint32_t module)
{
	struct symbol_entry symbol = {.start = entry->address, .line = source->line};
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
	return writer_symbol(p->w, location, &symbol);
}

/* Declare the location of a function with its file and line. module: string of its path, 0: none.
 */
static uint32_t perfetto_named_location(struct perfetto *p, const struct location_entry *entry,
					const struct perfetto_source_location *source,
					uint32_t module)
{
	uint32_t location = writer_location(p->w, entry);

	if (location && (source->file || module) &&
	    perfetto_name_location(p, location, entry, source, module))
		return 0;
	return location;
}

/* Declare the location of a function without an address: those of other files are other ones. */
static uint32_t perfetto_function(struct perfetto *p, uint32_t name,
				  const struct perfetto_source_location *source, uint32_t module)
{
	return frame_location(p->functions, &(struct named_frame){.name = name,
								  .file = source->file,
								  .module = module,
								  .line = source->line,
								  .inside = true});
}

/* What a frame is; equal frames have one location. */
struct profile_frame {
	uint64_t address;
	uint32_t name, mapping, file, line;
};

/* Read the message Frame. */
static struct profile_frame perfetto_read_frame(struct perfetto *p,
						const struct perfetto_sequence *s,
						struct protobuf_view message)
{
	struct profile_frame frame = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case FRAME_FUNCTION:
			frame.name = perfetto_interned(p, s, OF_FUNCTION, f.value);
			break;
		case FRAME_MAPPING:
			frame.mapping = perfetto_interned(p, s, OF_MAPPING, f.value);
			break;
		case FRAME_ADDRESS: frame.address = f.value; break;
		case FRAME_SOURCE_PATH:
			frame.file = perfetto_interned(p, s, OF_SOURCE_PATH, f.value);
			break;
		case FRAME_LINE: frame.line = (uint32_t)f.value; break;
		}
	if (!frame.mapping)
		frame.address = 0;
	return frame;
}

uint32_t perfetto_frame(struct perfetto *p, const struct perfetto_sequence *s,
			struct protobuf_view message)
{
	struct profile_frame frame = perfetto_read_frame(p, s, message);
	struct perfetto_source_location source = {.file = frame.file, .line = frame.line};
	struct location_entry entry = {.name = frame.name, .address = frame.address};
	uint32_t *location = id_cache_number(&p->modules.frames, &frame, sizeof frame);
	struct perfetto_mapped mapped;

	if (!location || *location)
		return location ? *location : 0;
	mapped = mapped_of(p, frame.mapping, &entry.space);
	if (entry.name && !entry.address)
		return *location = perfetto_function(p, entry.name, &source, mapped.path);
	if (entry.name)
		return *location = perfetto_named_location(p, &entry, &source, mapped.path);
	if (!frame.mapping)
		entry.name = writer_text(p->w, "?");
	return *location = writer_location(p->w, &entry);
}

/* Read a line of a function: a frame of InlineCallstack has the same fields. */
static struct perfetto_source_location perfetto_read_line(struct perfetto *p,
							  struct protobuf_view message)
{
	struct perfetto_source_location line = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case INLINE_FUNCTION: line.function = perfetto_text(p, f.bytes); break;
		case INLINE_FILE: line.file = perfetto_text(p, f.bytes); break;
		case INLINE_LINE: line.line = (uint32_t)f.value; break;
		}
	return line;
}

uint32_t perfetto_inline_stack(struct perfetto *p, struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t stack = 0;

	while (protobuf_next(&message, &f) > 0) {
		struct perfetto_source_location line;
		uint32_t location;

		if (f.number != INLINE_FRAME)
			continue;
		line = perfetto_read_line(p, f.bytes);
		location = perfetto_function(p, line.function, &line, 0);
		stack = location ? writer_stack(p->w, stack, location) : stack;
	}
	return stack;
}

/*
 * The symbols of modules: functions of addresses, and what is inlined there.
 *
 * Several lines of one address are the functions that are inlined in each other, the innermost
 * first: the last one is that of the function which the address belongs to. A stack with such an
 * address has a frame for each. As symbols may come after the stacks, these frames are added when
 * the rows are written.
 *
 * Source: protos/perfetto/trace/profiling/profile_common.proto of the project perfetto, and the
 * order of the table stack_profile_symbol of its trace processor.
 */

enum { LINES_MOST = 64 }; /* of one address; the innermost ones beyond are left out */

/* Take the message AddressSymbols. module: string of the build-id, or else of the path. */
static int take_symbol(struct perfetto *p, uint32_t module, struct protobuf_view message)
{
	uint64_t key[2] = {0, module};
	struct buffer *all = &p->modules.symbols;
	struct perfetto_source_location line = {0};
	struct protobuf_view rest = message;
	struct protobuf_field f;
	size_t at = all->size;
	uint64_t lines = 0, kept = 0;
	uint32_t *number;

	while (protobuf_next(&rest, &f) > 0) {
		if (f.number == SYMBOLS_AT)
			key[0] = f.value;
		lines += f.number == SYMBOLS_LINE && f.wire == PROTOBUF_LENGTH;
	}
	if (buffer_u64(all, 0))
		return -1;
	for (rest = message; protobuf_next(&rest, &f) > 0;) {
		if (f.number != SYMBOLS_LINE || f.wire != PROTOBUF_LENGTH || lines-- > LINES_MOST)
			continue;
		line = perfetto_read_line(p, f.bytes);
		if (buffer_append(all, &line, sizeof line))
			return -1;
		kept++;
	}
	/* that of the function */
	if (!line.function) {
		all->size = at;
		return 0;
	}
	put_u64(all->data + at, kept);
	number = id_cache_number(&p->modules.symbol_numbers, key, sizeof key);
	if (!number)
		return -1;
	*number = (uint32_t)(at / 4) + 1;
	return 0;
}

int perfetto_module_symbols(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload;
	struct buffer *b = &p->scratch.text;
	uint32_t path = 0, build_id = 0;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0) {
		size_t n = protobuf_size(f.bytes);

		b->size = 0;
		if (f.number == MODULE_PATH)
			path = perfetto_text(p, f.bytes);
		if (f.number != MODULE_BUILD_ID || !n || n > BUILD_ID_MOST)
			continue;
		if (buffer_hex_bytes(b, f.bytes.at, n))
			return -1;
		build_id = writer_string(p->w, b->data, b->size);
	}
	rest = packet->payload;
	while (protobuf_next(&rest, &f) > 0)
		if (f.number == MODULE_SYMBOLS && f.wire == PROTOBUF_LENGTH &&
		    take_symbol(p, build_id ? build_id : path, f.bytes))
			return -1;
	return 0;
}

/* --- names of addresses --- */

/* Declare the functions that are inlined at an address, for the stacks with its location. at: the
 * space and the address. */
static int inline_functions(struct perfetto *p, uint32_t location, const struct location_entry *at,
			    uint32_t path, const uint8_t *lines, uint32_t n)
{
	size_t chain = p->modules.chains.size;

	if (ARRAY_REACH(p->modules.inlined, p->modules.ninlined, location) ||
	    buffer_u32(&p->modules.chains, n))
		return -1;
	while (n-- > 0) {
		struct location_entry entry = *at;
		struct perfetto_source_location line;
		uint32_t inlined;

		memcpy(&line, lines + n * sizeof line, sizeof line);
		entry.name = line.function ? line.function : writer_text(p->w, "?");
		inlined = perfetto_named_location(p, &entry, &line, path);
		if (!inlined || buffer_u32(&p->modules.chains, inlined))
			return -1;
	}
	p->modules.inlined[location] = (uint32_t)(chain / 4) + 1;
	return 0;
}

/* Name the location of an address that the symbols of its module have. */
static int name_frame(struct perfetto *p, const struct profile_frame *frame, uint32_t location)
{
	struct location_entry entry = {.address = frame->address}, at = entry;
	struct perfetto_mapped mapped = mapped_of(p, frame->mapping, &at.space);
	uint64_t key[2] = {frame->address, mapped.build_id ? mapped.build_id : mapped.path};
	uint32_t number = intern_find(&p->modules.symbol_numbers.keys, key, sizeof key), lines;
	struct perfetto_source_location line;
	const uint8_t *symbol;

	if (number == INTERN_NONE)
		return 0;
	number = p->modules.symbol_numbers.numbers[number] - 1;
	symbol = p->modules.symbols.data + (size_t)number * 4;
	lines = (uint32_t)get_u64(symbol) - 1;
	symbol += 8;
	memcpy(&line, symbol + lines * sizeof line, sizeof line);
	entry.name = line.function;
	if (perfetto_name_location(p, location, &entry, &line, 0))
		return -1;
	return lines ? inline_functions(p, location, &at, mapped.path, symbol, lines) : 0;
}

static int perfetto_name_frames(struct perfetto *p)
{
	const struct id_cache *frames = &p->modules.frames;

	for (uint32_t i = 0; i < frames->keys.count; i++) {
		struct profile_frame frame;

		memcpy(&frame, intern_data(&frames->keys, i), sizeof frame);
		if (frame.mapping && !frame.name && name_frame(p, &frame, frames->numbers[i]))
			return -1;
	}
	return 0;
}

/* --- stacks --- */

/* Add a frame to a stack, and after it those of its inlined functions. */
static uint32_t perfetto_add_frames(struct perfetto *p, uint32_t stack, uint32_t location)
{
	uint32_t at = location < p->modules.ninlined ? p->modules.inlined[location] : 0;
	const uint8_t *chain = at ? p->modules.chains.data + (size_t)(at - 1) * 4 : NULL;

	stack = writer_stack(p->w, stack, location);
	for (uint32_t i = 0; stack && chain && i < get_u32(chain); i++)
		stack = writer_stack(p->w, stack, get_u32(chain + 4 + (size_t)4 * i));
	return stack;
}

int perfetto_add_inlined(struct perfetto *p, uint32_t *stack)
{
	struct buffer *open = &p->scratch.key;
	uint32_t caller = *stack, *full;

	if (!p->modules.ninlined || !*stack)
		return 0;
	if (ARRAY_REACH(p->modules.full, p->modules.nfull, *stack))
		return -1;
	full = p->modules.full;
	/* the callers whose stacks are not yet known */
	for (open->size = 0; caller && !full[caller]; caller = writer_stack_at(p->w, caller).parent)
		if (buffer_u32(open, caller))
			return -1;
	caller = caller ? full[caller] : 0;
	for (size_t at = open->size; at > 0; at -= 4) {
		uint32_t id = get_u32(open->data + at - 4);

		caller = perfetto_add_frames(p, caller, writer_stack_at(p->w, id).location);
		if (!caller)
			return -1;
		full[id] = caller;
	}
	*stack = caller;
	return 0;
}

/*
 * Converts times of all clocks to that of the stream, by the ClockSnapshots of the trace.
 *
 * A ClockSnapshot has the times of several clocks at one moment. The stream's clock is that which
 * the first ClockSnapshot names, else BOOTTIME. A time of another clock is converted by the last
 * one before that time, else by the first one. Clocks 64 to 127 belong to a sequence; their times
 * may be differences to the previous time.
 */

enum { CLOCKS_MOST = 64 }; /* of a ClockSnapshot */

/* A time of a clock, and that of the stream's clock at the same moment. */
struct clock_point {
	uint64_t own, trace;
};

enum { RUNS_MOST = 64 };

/* A clock other than the stream's. Its points are runs in ascending order, each at least twice as
 * long as the next one: a ClockSnapshot in order extends the last run, any other begins one. So n
 * of these in any order cost n log n, and are one run if they are in order. */
struct perfetto_clock {
	struct clock_point *points;
	size_t count, capacity;
	size_t runs[RUNS_MOST]; /* where each begins */
	unsigned nruns;
};

static bool of_sequence(uint32_t id)
{
	return id >= CLOCK_OF_SEQUENCE_FIRST && id <= CLOCK_OF_SEQUENCE_LAST;
}

static const char *perfetto_clock_name(const struct perfetto *p)
{
	switch (p->clocks.trace) {
	case CLOCK_REALTIME_ID: return "realtime";
	case CLOCK_MONOTONIC_ID: return "mono";
	case CLOCK_MONOTONIC_COARSE_ID: return "mono_coarse";
	case CLOCK_MONOTONIC_RAW_ID: return "mono_raw";
	case 0:
	case CLOCK_BOOTTIME_ID: return "boot";
	}
	return "trace";
}

static uint64_t perfetto_clock_key(uint32_t sequence, uint32_t id)
{
	return (uint64_t)(of_sequence(id) ? sequence : 0) << 32 | id;
}

/* Find a clock; NULL: no ClockSnapshot has it. */
static struct perfetto_clock *find_clock(struct perfetto *p, uint32_t sequence, uint32_t id)
{
	uint64_t number = key_map_get(&p->clocks.numbers, perfetto_clock_key(sequence, id));

	return number ? &p->clocks.clock[number - 1] : NULL;
}

/* Find a clock or add it. NULL: out of memory. */
static struct perfetto_clock *new_clock(struct perfetto *p, uint32_t sequence, uint32_t id)
{
	uint32_t *number = key_map_number(&p->clocks.numbers, perfetto_clock_key(sequence, id));

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(p->clocks.clock, p->clocks.capacity, p->clocks.count))
			return NULL;
		p->clocks.clock[p->clocks.count++] = (struct perfetto_clock){0};
		*number = (uint32_t)p->clocks.count;
	}
	return &p->clocks.clock[*number - 1];
}

/* Merge the last two runs. Of equal times the later one is after the earlier one. */
static int perfetto_merge_runs(struct perfetto_clock *c)
{
	size_t first = c->runs[c->nruns - 2], i = c->runs[c->nruns - 1], to = c->count;
	size_t n = c->count - i;
	struct clock_point *last = malloc(n * sizeof *last), *points = c->points;

	if (!last)
		return -1;
	memcpy(last, points + i, n * sizeof *last);
	while (n)
		points[--to] =
			i > first && points[i - 1].own > last[n - 1].own ? points[--i] : last[--n];
	free(last);
	c->nruns--;
	return 0;
}

static int add_point(struct perfetto_clock *c, struct clock_point point)
{
	if (ARRAY_GROW(c->points, c->capacity, c->count))
		return -1;
	if (!c->count || c->points[c->count - 1].own > point.own)
		c->runs[c->nruns++] = c->count;
	c->points[c->count++] = point;
	while (c->nruns > 1 && c->runs[c->nruns - 1] - c->runs[c->nruns - 2] <
				       2 * (c->count - c->runs[c->nruns - 1]))
		if (perfetto_merge_runs(c))
			return -1;
	return 0;
}

/* Find the last point at or before a time, else the first one. */
static const struct clock_point *point_of(const struct perfetto_clock *c, uint64_t own)
{
	const struct clock_point *found = NULL, *first = c->points;

	for (unsigned run = 0; run < c->nruns; run++) {
		const struct clock_point *p = c->points + c->runs[run];
		size_t n = (run + 1 < c->nruns ? c->runs[run + 1] : c->count) - c->runs[run];
		size_t upto = p[n - 1].own <= own ? n : BISECT(n, i, p[i].own <= own);

		if (upto && (!found || p[upto - 1].own >= found->own))
			found = &p[upto - 1];
		if (p->own < first->own)
			first = p;
	}
	return found ? found : first;
}

/* Convert a time; UINT64_MAX is no time. */
static uint64_t perfetto_packets_convert(const struct perfetto_clock *c, uint64_t own)
{
	const struct clock_point *point = point_of(c, own);
	int128 time = (int128)own - point->own + point->trace;

	return own == UINT64_MAX || time < 0 ? UINT64_MAX : saturated_u64(time);
}

int perfetto_clock_relate(struct perfetto *p, uint32_t clock, uint64_t own, uint64_t trace)
{
	struct perfetto_clock *c;

	if (clock == perfetto_trace_clock(p))
		return 0;
	c = new_clock(p, 0, clock);
	return c ? add_point(c, (struct clock_point){own, trace}) : -1;
}

/* Take a time of an own clock of the sequence, or a difference to the last one. Returns its ns;
 * UINT64_MAX: they are beyond all times, and a next difference is to the time before. */
static uint64_t own_time(const struct perfetto_sequence *s, uint32_t id, uint64_t time)
{
	struct perfetto_clock_time *c;
	uint64_t unit;
	int128 sum;

	if (!s->clocks || !of_sequence(id))
		return time;
	c = &s->clocks[id - CLOCK_OF_SEQUENCE_FIRST];
	unit = c->unit ? c->unit : 1;
	if (!c->incremental)
		return multiply_saturated(time, unit);
	sum = (int128)(int64_t)time * unit + c->time;
	if (sum < 0 || sum >= UINT64_MAX)
		return UINT64_MAX;
	return c->time = (uint64_t)sum;
}

/* Test for a clock whose times mean nothing without a ClockSnapshot. The kernel's clocks differ
 * little; those of a program have any origin. */
static bool of_program(uint32_t clock)
{
	return clock > CLOCK_BUILTIN_LAST;
}

bool perfetto_clock_usable(struct perfetto *p, const struct perfetto_sequence *s, uint32_t clock)
{
	return !of_program(clock) || clock == perfetto_trace_clock(p) ||
	       find_clock(p, s->number, clock);
}

bool perfetto_convert_time(struct perfetto *p, struct perfetto_sequence *s, uint32_t clock,
			   uint64_t *time)
{
	const struct perfetto_clock *c;

	if (clock != perfetto_trace_clock(p)) {
		c = find_clock(p, s->number, clock);
		*time = own_time(s, clock, *time);
		if (c) {
			*time = perfetto_packets_convert(c, *time);
		} else if (of_program(clock)) {
			p->counts.unplaced++;
			return false;
		} else {
			p->counts.unsynchronised++;
		}
	}
	if (*time < TIME_LIMIT)
		return true;
	p->counts.wrong_times++;
	return false;
}

/* --- ClockSnapshots --- */

/* Read the clocks of a ClockSnapshot. Returns their number. */
static unsigned read_clocks(struct perfetto *p, const struct perfetto_packet *packet,
			    struct perfetto_clock_time *clocks, uint32_t *primary)
{
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f, of;
	unsigned n = 0;

	while (protobuf_next(&rest, &f) > 0) {
		if (f.number == SNAPSHOT_PRIMARY)
			*primary = (uint32_t)f.value;
		if (f.number != SNAPSHOT_CLOCK)
			continue;
		if (n == CLOCKS_MOST) {
			perfetto_damage(p, packet, "a snapshot of more than 64 clocks");
			break;
		}
		clocks[n] = (struct perfetto_clock_time){0};
		while (protobuf_next(&f.bytes, &of) > 0)
			switch (of.number) {
			case CLOCK_ID: clocks[n].id = (uint32_t)of.value; break;
			case CLOCK_TIMESTAMP: clocks[n].time = of.value; break;
			case CLOCK_INCREMENTAL: clocks[n].incremental = of.value; break;
			case CLOCK_UNIT: clocks[n].unit = of.value; break;
			}
		if (clocks[n].unit)
			clocks[n].time = multiply_saturated(clocks[n].time, clocks[n].unit);
		n++;
	}
	return n;
}

/* Find the time of the stream's clock in a ClockSnapshot. */
static bool find_trace_time(struct perfetto *p, const struct perfetto_clock_time *clocks,
			    unsigned n, uint64_t *trace)
{
	for (unsigned i = 0; i < n; i++)
		if (clocks[i].id == perfetto_trace_clock(p)) {
			*trace = clocks[i].time;
			return true;
		}
	for (unsigned i = 0; i < n; i++) {
		const struct perfetto_clock *c =
			of_sequence(clocks[i].id) ? NULL : find_clock(p, 0, clocks[i].id);

		if (c) {
			*trace = perfetto_packets_convert(c, clocks[i].time);
			return true;
		}
	}
	return false;
}

static int set_own_clock(struct perfetto_sequence *s, const struct perfetto_clock_time *t)
{
	enum { OWN = CLOCK_OF_SEQUENCE_LAST - CLOCK_OF_SEQUENCE_FIRST + 1 };

	if (!s->clocks)
		s->clocks = calloc(OWN, sizeof *s->clocks);
	if (!s->clocks)
		return -1;
	s->clocks[t->id - CLOCK_OF_SEQUENCE_FIRST] = *t;
	return 0;
}

static int perfetto_take_clocks(struct perfetto *p, struct perfetto_sequence *s,
				const struct perfetto_packet *packet)
{
	struct perfetto_clock_time clocks[CLOCKS_MOST];
	uint32_t primary = 0;
	uint64_t trace = 0;
	unsigned n = read_clocks(p, packet, clocks, &primary);
	bool found;

	if (!p->clocks.trace)
		p->clocks.trace = primary ? primary : CLOCK_BOOTTIME_ID;
	found = find_trace_time(p, clocks, n, &trace);
	for (unsigned i = 0; i < n; i++) {
		const struct perfetto_clock_time *t = &clocks[i];
		struct perfetto_clock *c;

		if (of_sequence(t->id) && set_own_clock(s, t))
			return -1;
		if (!found || t->id == perfetto_trace_clock(p))
			continue;
		c = new_clock(p, s->number, t->id);
		if (!c || add_point(c, (struct clock_point){t->time, trace}))
			return -1;
	}
	for (unsigned i = 0; i < n && found && !p->clocks.has_wall; i++)
		if (clocks[i].id == CLOCK_REALTIME_ID) {
			p->clocks.has_wall = true;
			p->clocks.wall = saturated_i64((int128)clocks[i].time - trace);
		}
	return 0;
}

static void perfetto_clocks_free(struct perfetto *p)
{
	for (size_t i = 0; i < p->clocks.count; i++)
		free(p->clocks.clock[i].points);
	free(p->clocks.clock);
	key_map_free(&p->clocks.numbers);
}

/* --- samples of call stacks: of perf, and of Chrome's profiler --- */

/* Get the name of a tracepoint: a string of the writer, or 0. */
static uint32_t tracepoint_name(struct perfetto *p, struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t name = 0;

	while (protobuf_next(&message, &f) > 0)
		if (f.number == TRACEPOINT_NAME)
			name = perfetto_text(p, f.bytes);
	return name;
}

/* Add the name of a counter that is read with each sample. */
static void read_follower(struct perfetto *p, struct perfetto_sequence *s,
			  struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t name = 0, own = 0;
	const char *counter;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case FOLLOWER_NAME: own = perfetto_text(p, f.bytes); break;
		case FOLLOWER_TRACEPOINT: name = tracepoint_name(p, f.bytes); break;
		case FOLLOWER_COUNTER:
			counter = perfetto_field_of(p, VALUES_EVENT_COUNTER, f.value)->name;
			name = counter ? writer_text(p->w, counter) : name;
			break;
		}
	if (s->defaults.nfollowers < PERFETTO_EXTRA)
		s->defaults.followers[s->defaults.nfollowers++] = own ? own : name;
}

/* Read the event that a timebase counts: its name and period. */
static void read_timebase(struct perfetto *p, struct perfetto_sequence *s,
			  struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t name = 0;
	const char *counter;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case TIMEBASE_PERIOD: s->defaults.period = f.value; break;
		case TIMEBASE_NAME: name = perfetto_text(p, f.bytes); break;
		case TIMEBASE_COUNTER:
			counter = perfetto_field_of(p, VALUES_EVENT_COUNTER, f.value)->name;
			if (counter)
				s->defaults.sample_name = writer_text(p->w, counter);
			break;
		case TIMEBASE_TRACEPOINT:
			s->defaults.sample_name = tracepoint_name(p, f.bytes);
			break;
		}
	if (name)
		s->defaults.sample_name = name;
}

int perfetto_sample_defaults(struct perfetto *p, struct perfetto_sequence *s,
			     struct protobuf_view message)
{
	struct protobuf_field f;

	s->defaults.nfollowers = 0;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case SAMPLE_TIMEBASE: read_timebase(p, s, f.bytes); break;
		case SAMPLE_FOLLOWER: read_follower(p, s, f.bytes); break;
		}
	return 0;
}

/* Get what the counter of a sample has counted since the sample before on the CPU, or from 0 if the
 * counter began again. cpu: -1, unknown. */
static int counted_weight(struct perfetto *p, const struct perfetto_sequence *s, int32_t cpu,
			  uint64_t count, uint64_t *weight)
{
	struct buffer *counts = &p->counts.sample_counts;
	uint32_t *number =
		key_map_number(&p->counts.sample_cpus, (uint64_t)s->number << 32 | (uint32_t)cpu);
	uint64_t before;

	if (!number || (!*number && buffer_u64(counts, 0)))
		return -1;
	if (!*number)
		*number = (uint32_t)(counts->size / 8);
	before = get_u64(counts->data + 8 * (*number - 1));
	put_u64(counts->data + 8 * (*number - 1), count);
	*weight = count >= before ? count - before : count;
	return 0;
}

/* Keep the other counters of a sample, as the CPU had counted them. */
static int keep_followers(struct perfetto *p, const struct perfetto_sequence *s, uint64_t time,
			  int32_t cpu, struct protobuf_view rest)
{
	struct protobuf_field f;
	unsigned n = 0;
	uint64_t value;

	while (protobuf_next(&rest, &f) > 0) {
		struct protobuf_view list = f.bytes;

		while (f.number == SAMPLE_FOLLOWERS && protobuf_each(&f, &list, &value)) {
			uint32_t name = n < s->defaults.nfollowers ? s->defaults.followers[n] : 0;
			char unnamed[32];

			snprintf(unnamed, sizeof unnamed, "follower %u", ++n);
			if (perfetto_keep_counter(p, time, name ? name : writer_text(p->w, unnamed),
						  -1, cpu, value))
				return -1;
		}
	}
	return 0;
}

static int perfetto_sample(struct perfetto *p, struct perfetto_sequence *s,
			   const struct perfetto_packet *packet)
{
	struct gap gap = {.offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_EVENTS};
	struct perfetto_record r = {.kind = PERFETTO_SAMPLE, .flags = PERFETTO_VALUE};
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_THREAD, .pid = -1, .tid = -1, .cpu = -1};
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;
	uint64_t count = 0, weight = 1;
	bool producer = false, has_followers = false, has_count = false;
	int32_t cpu;

	while (protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case SAMPLE_CPU:
			r.cpu = (uint16_t)f.value;
			r.flags |= PERFETTO_HAS_CPU;
			break;
		case SAMPLE_PID: key.pid = perfetto_take_id(f.value); break;
		case SAMPLE_TID: key.tid = perfetto_take_id(f.value); break;
		case SAMPLE_CALLSTACK:
			r.stack = perfetto_interned(p, s, OF_CALLSTACK, f.value);
			break;
		case SAMPLE_COUNT:
			has_count = true;
			count = f.value;
			break;
		case SAMPLE_LOST: gap.count = f.value; break;
		case SAMPLE_SKIPPED: gap.reason = GAP_UNREAD; break;
		case SAMPLE_PRODUCER: producer = true; break;
		case SAMPLE_FOLLOWERS: has_followers = true; break;
		}
	cpu = r.flags & PERFETTO_HAS_CPU ? r.cpu : -1;
	p->scratch.arguments.size = 0;
	if (gap.count || gap.reason == GAP_UNREAD) {
		gap.count = gap.count ? gap.count : 1;
		return perfetto_keep_gap(p, packet->time, &gap, cpu);
	}
	if (producer)
		return 0;
	if ((has_followers && keep_followers(p, s, packet->time, cpu, packet->payload)) ||
	    (has_count && counted_weight(p, s, cpu, count, &weight)))
		return -1;
	if (s->defaults.period) {
		/* only a count that the period shows is in the stream */
		p->counts.left_out[MESSAGE_PERF_SAMPLE][SAMPLE_COUNT] +=
			has_count && weight != s->defaults.period;
		weight = s->defaults.period;
	}
	r.track = perfetto_other_track(p, &key) - 1;
	r.name = s->defaults.sample_name ? s->defaults.sample_name : writer_text(p->w, "samples");
	return r.track == UINT32_MAX ? -1 : perfetto_keep(p, packet->time, &r, weight);
}

/* Add a delta of microseconds to a time. Returns false if the result is out of range. */
static bool add_delta(uint64_t *time, int64_t us)
{
	int64_t ns;

	return !__builtin_mul_overflow(us, (int64_t)1000, &ns) &&
	       !__builtin_add_overflow(*time, ns, time) && *time < TIME_LIMIT;
}

static int perfetto_streaming_profile(struct perfetto *p, struct perfetto_sequence *s,
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
	if (!packet->has_time && !perfetto_time_us(p, s, s->time, &time))
		return 0;
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
			s->time = add_wrapping(s->time, us);
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

/*
 * Profiles of heaps: samples of call stacks that weigh the bytes allocated by them.
 *
 * A dump has the totals of each call stack since the profile began. So that the samples of all
 * dumps add up, a sample has the difference to the dump before, of the same process, heap and
 * stack.
 *
 * Source: protos/perfetto/trace/profiling/profile_packet.proto of the project perfetto.
 */

/* ProfilePacket (its tables are in perfetto.h), ProcessHeapSamples, HeapSample */
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

/* Replace totals by their differences to those of the dump before. A total that is less began
 * again. */
static int subtract_before(struct perfetto *p, const struct perfetto_sequence *s,
			   const struct perfetto_record *r, uint64_t totals[TOTALS])
{
	struct buffer *all = &p->heaps.totals;
	uint32_t key[] = {s->number, r->track, r->name, r->stack};
	uint32_t *number = id_cache_number(&p->heaps.numbers, key, sizeof key);
	uint8_t *before;

	if (!number)
		return -1;
	if (!*number) {
		if (buffer_zero(all, 8 * TOTALS))
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

/* Keep a sample of a dump: the record has its track and the name of its heap. */
static int perfetto_keep_sample(struct perfetto *p, const struct perfetto_sequence *s,
				uint64_t time, struct perfetto_record r,
				struct protobuf_view message)
{
	uint64_t totals[TOTALS] = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case HEAP_CALLSTACK:
			r.stack = perfetto_interned(p, s, OF_CALLSTACK, f.value);
			break;
		case HEAP_ALLOCATED:
		case HEAP_MAX: totals[ALLOCATED] = f.value; break;
		case HEAP_FREED: totals[FREED] = f.value; break;
		case HEAP_ALLOCATIONS:
		case HEAP_MAX_ALLOCATIONS: totals[ALLOCATIONS] = f.value; break;
		case HEAP_FREES: totals[FREES] = f.value; break;
		}
	if (subtract_before(p, s, &r, totals))
		return -1;
	if (!totals[ALLOCATED] && !totals[ALLOCATIONS] && !totals[FREED] && !totals[FREES])
		return 0;
	return perfetto_keep_data(p, (struct sorter_key){time, PERFETTO_ORDER}, &r, totals,
				  sizeof totals);
}

static int perfetto_read_dump(struct perfetto *p, struct perfetto_sequence *s, uint64_t time,
			      struct protobuf_view message)
{
	struct gap gap = {
		.count = UINT64_MAX, .offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_EVENTS};
	struct perfetto_record r = {.kind = PERFETTO_HEAP, .name = writer_text(p->w, "malloc")};
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_PROCESS, .pid = -1, .tid = -1, .cpu = -1};
	struct protobuf_view rest = message;
	struct protobuf_field f;
	uint64_t own = 0;
	bool lost = false;

	while (protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case DUMP_PID: key.pid = perfetto_take_id(f.value); break;
		case DUMP_CONCURRENT:
		case DUMP_BUFFER_OVERRAN: lost |= f.value != 0; break;
		case DUMP_TIME: own = f.value; break;
		case DUMP_HEAP_NAME:
			if (protobuf_size(f.bytes))
				r.name = perfetto_text(p, f.bytes);
			break;
		}
	time = own ? own : time;
	if (own && !perfetto_time(p, s, CLOCK_MONOTONIC_COARSE_ID, &time))
		return 0;
	if (lost && perfetto_keep_gap(p, time, &gap, -1))
		return -1;
	r.track = perfetto_other_track(p, &key) - 1;
	if (r.track == UINT32_MAX || !r.name)
		return -1;
	while (protobuf_next(&message, &f) > 0)
		if (f.number == DUMP_SAMPLE && f.wire == PROTOBUF_LENGTH &&
		    perfetto_keep_sample(p, s, time, r, f.bytes))
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
		    perfetto_read_dump(p, s, packet->time, f.bytes))
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
	*id = perfetto_declare_type(p, &(struct type_entry){.source = p->source,
							    .name = heap,
							    .group = writer_text(p->w, "heap"),
							    .kind = KIND_SAMPLE,
							    .native = 'H',
							    .fixed_size = 8 * (TOTALS + 1),
							    .nfields = TOTALS + 1,
							    .fields = entries});
	return *id;
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

/*
 * Android's timeline of frames: when a frame was expected to begin and end, and when it did. A
 * frame is an asynchronous call of its process; its end has the cookie of its begin.
 *
 * Source: protos/perfetto/trace/android/frame_timeline_event.proto of the project perfetto.
 */

/* FrameTimelineEvent, and FrameEnd; the begins have the cookie in the same field */
enum { FRAME_COOKIE = 1, DISPLAY_PID = 3, SURFACE_PID = 4, SURFACE_EXPECTED = 3, FRAME_END = 5 };

/* Keep the begin or the end of a frame: a message of that number. */
static int keep_frame(struct perfetto *p, const struct perfetto_packet *packet, uint32_t number,
		      struct protobuf_view message)
{
	static const char *const names[] = {NULL, "expected display frame", "actual display frame",
					    "expected surface frame", "actual surface frame"};
	bool begins = number < FRAME_END, display = number < SURFACE_EXPECTED;
	struct perfetto_track_key track = {
		.kind = PERFETTO_OF_PROCESS, .pid = -1, .tid = -1, .cpu = -1};
	struct perfetto_track_key key = {.kind = PERFETTO_OF_FRAME};
	struct perfetto_record r = {.kind = begins ? PERFETTO_ID_BEGIN : PERFETTO_ID_END};
	struct protobuf_field f;

	p->scratch.arguments.size = 0;
	while (protobuf_next(&message, &f) > 0) {
		/* what is expected has the first fields of what is actual */
		const struct perfetto_field *of = perfetto_field_of(
			p, display ? MESSAGE_ACTUAL_DISPLAY : MESSAGE_ACTUAL_SURFACE, f.number);

		if (f.number == FRAME_COOKIE)
			key.id = f.value;
		else if (begins && f.number == (display ? DISPLAY_PID : SURFACE_PID))
			track.pid = perfetto_take_id(f.value);
		else if (!begins || !of->name || of->kind == '-')
			perfetto_check_field(p, MESSAGE_FRAME_TIMELINE + number, &f);
		else if (perfetto_argument_field(p, of, &f))
			return -1;
	}
	if (begins) {
		r.name = writer_text(p->w, names[number]);
		r.category = writer_text(p->w, "frame_timeline");
		p->async.frames = perfetto_other_track(p, &track);
		if (!p->async.frames)
			return -1;
	} else if (!p->async.frames) {
		p->counts.unopened++;
		return 0;
	}
	/* an end is on the track of its begin, whichever it has here */
	r.track = p->async.frames - 1;
	return perfetto_keep_id(p, packet->time, &r, &key);
}

int perfetto_frame_timeline(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number > FRAME_END || f.wire != PROTOBUF_LENGTH)
			perfetto_check_field(p, MESSAGE_FRAME_TIMELINE, &f);
		else if (keep_frame(p, packet, f.number, f.bytes))
			return -1;
	return 0;
}

enum {
	PACKET_READER_READ = 256 * 1024,
	PACKET_MOST = 64 << 20,
	RESYNC_MOST = 64 * 1024, /* bytes of a packet that is found after damage */
	HEADER_MOST = 11,	 /* bytes of a field's key and length */
	PAYLOAD_LAST = 2000,	 /* largest number of a payload's field */
	FIELDS_MOST = 64,	 /* of a message that are looked at: packets may overlap */
};

/* The bytes of the file, or those that a packet of compressed packets contains. */
struct packet_reader {
	struct perfetto *p;
	/* Read at most n bytes. Returns their number, 0 at the end, or -1 with *e filled. */
	ssize_t (*read)(struct packet_reader *r, uint8_t *to, size_t n, struct error *e);
	uint64_t offset; /* of data[begin] */
	uint8_t *data;
	size_t begin, filled, capacity;
	bool ended;
	const struct perfetto_packet *packed; /* the compressed packet; NULL: of the file */
	z_stream zlib;
	ZSTD_DStream *zstd;
	ZSTD_inBuffer in;
	bool unpacked; /* all of it */
};

/* Begin with n bytes of the file. -1: out of memory. */
static int packet_reader_open(struct packet_reader *r, const uint8_t *head, size_t n)
{
	r->capacity = n > PACKET_READER_READ ? n : PACKET_READER_READ;
	r->data = malloc(r->capacity);
	if (!r->data)
		return -1;
	if (n)
		memcpy(r->data, head, n);
	r->begin = 0;
	r->filled = n;
	return 0;
}

static size_t have(const struct packet_reader *r)
{
	return r->filled - r->begin;
}

static struct protobuf_view view(const struct packet_reader *r)
{
	return (struct protobuf_view){r->data + r->begin, r->data + r->filled};
}

/* Make room for n bytes at begin; the buffer at most doubles, since n is no evidence of data. */
static int perfetto_reserve(struct packet_reader *r, size_t n)
{
	uint8_t *data;

	if (r->begin) {
		memmove(r->data, r->data + r->begin, have(r));
		r->filled -= r->begin;
		r->begin = 0;
	}
	if (n <= r->capacity || r->filled < r->capacity)
		return 0;
	data = realloc(r->data, 2 * r->capacity);
	if (!data)
		return -1;
	r->data = data;
	r->capacity *= 2;
	return 0;
}

/* Read until there are n bytes, fewer only at the end. -1: *e is filled. */
static int perfetto_fill(struct packet_reader *r, size_t n, struct error *e)
{
	while (have(r) < n && !r->ended) {
		ssize_t got;

		if (r->begin + n > r->capacity && perfetto_reserve(r, n))
			return error_no_memory(e);
		got = r->read(r, r->data + r->filled, r->capacity - r->filled, e);
		if (got < 0)
			return -1;
		r->ended = !got;
		r->filled += (size_t)got;
	}
	return 0;
}

static inline int need(struct packet_reader *r, size_t n, struct error *e)
{
	return have(r) < n ? perfetto_fill(r, n, e) : 0;
}

static void packet_skip(struct packet_reader *r, size_t size)
{
	r->begin += size;
	r->offset += size;
}

enum packet_got {
	PACKET_FAILED = -1, /* *e is filled */
	PACKET_ENDED,
	PACKET_GOT,
	PACKET_BAD, /* no packet, *e says why; packet_resync goes on */
};

/* Get the next packet without skipping it. The message is valid until the next call; the packet
 * ends with it. */
static enum packet_got packet_next(struct packet_reader *r, struct protobuf_view *message,
				   struct error *e)
{
	struct protobuf_view rest;
	uint64_t length;
	size_t header;

	if (need(r, HEADER_MOST, e))
		return PACKET_FAILED;
	if (!have(r))
		return PACKET_ENDED;
	rest = view(r);
	if (*rest.at++ != (TRACE_PACKET << 3 | PROTOBUF_LENGTH)) {
		error_set(e, r->p->input->name, r->offset, "no packet");
		return PACKET_BAD;
	}
	if (!protobuf_varint(&rest, &length) || length > PACKET_MOST) {
		error_set(e, r->p->input->name, r->offset, "a packet with an impossible length");
		return PACKET_BAD;
	}
	header = (size_t)(rest.at - r->data) - r->begin;
	if (need(r, header + (size_t)length, e))
		return PACKET_FAILED;
	if (have(r) < header + length) {
		error_set(e, r->p->input->name, r->offset,
			  "truncated: a packet of %llu bytes has %zu", (unsigned long long)length,
			  have(r) - header);
		return PACKET_BAD;
	}
	message->at = r->data + r->begin + header;
	message->end = message->at + length;
	return PACKET_GOT;
}

/* --- payloads --- */

/* Get the wires of a payload that the decoder reads: of its fields from 1 on, 'n' a number, 'm' a
 * message or text, 'l' a list of numbers, packed or not, 'r' eight bytes, '-' none; "": the probe
 * does not look at them. NULL: the payload is not read.
 * Source: protos/perfetto/trace of the project perfetto. */
static const char *payload_wires(uint32_t number)
{
	static const struct {
		uint32_t number;
		const char *wires;
	} payloads[] = {
		{0, ""},
		{PACKET_FTRACE, "nmnmnnnmnnm"},
		{PACKET_PROCESS_TREE, "mmn"},
		{PACKET_CLOCK_SNAPSHOT, "mn"},
		{PACKET_SYS_STATS, "mmmnnmnmnmlmmmmmlm"},
		{PACKET_PROCESS_STATS, "mn"},
		{PACKET_TRACK_EVENT, "nnlmmm-nnnnl---nn--nmmmmmmmmmnlmmnml-mmmml-rlrrrmm-nmnmnr"},
		{PACKET_TRACE_CONFIG, "mmnnnmmnnnmnnn-nmmnmmmnnm-nnmnn-mmmn-mmnn-nnn-mn"},
		{PACKET_TRACE_STATS, "mnnnnnnnnnmnnnn-lm"},
		{PACKET_PROFILE, "mmmmmnn"},
		{PACKET_ANDROID_LOG, "mm"},
		{PACKET_PROCESS_DESCRIPTOR, "nmnnnmnm"},
		{PACKET_THREAD_DESCRIPTOR, "nnnnmnnn"},
		{PACKET_TRIGGER, "mmnn"},
		{PACKET_PACKAGES, "mnn"},
		{PACKET_COMPRESSED, ""},
		{PACKET_STREAMING_PROFILE, "lln"},
		{PACKET_TRACK_DESCRIPTOR, "nmmmnmmmnmnnmmnmnmnn"},
		{PACKET_MODULE_SYMBOLS, "mmm"},
		{PACKET_PERF_SAMPLE, "nnnnnnl--------nnnm"},
		{PACKET_SERVICE_EVENT, "nnnnnnmmnnn"},
		{PACKET_FRAME_TIMELINE, "mmmmm"},
		{PACKET_CLONE_TRIGGER, "mmnn"},
		{PACKET_ZSTD_COMPRESSED, ""},
	};

	for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++)
		if (payloads[i].number == number)
			return payloads[i].wires;
	return NULL;
}

/* Get the name of a payload's field. NULL: it is not known. */
static const char *packet_payload_name(const struct perfetto *p, uint32_t number)
{
	return number ? perfetto_field_of(p, MESSAGE_PACKET, number)->name : "no payload";
}

/* Test for a wire type of a kind of wires. */
static bool is_wire(char kind, enum protobuf_wire wire)
{
	switch (kind) {
	case 'n': return wire == PROTOBUF_VARINT;
	case 'm': return wire == PROTOBUF_LENGTH;
	case 'r': return wire == PROTOBUF_FIXED64;
	case 'l': return wire == PROTOBUF_LENGTH || wire == PROTOBUF_VARINT;
	}
	return false;
}

/* Test whether a message has fields, of which the first are only such as the wires have. Fields
 * beyond the wires are messages if more is true, else none. */
static bool has_wires(struct protobuf_view message, const char *wires, bool more)
{
	const uint32_t n = (uint32_t)strlen(wires);
	struct protobuf_field f;
	unsigned fields = 0;
	int got = 0;

	for (; fields < FIELDS_MOST && (got = protobuf_next(&message, &f)) > 0; fields++)
		if (!is_wire(f.number <= n ? wires[f.number - 1] : more ? 'm' : '-', f.wire))
			return false;
	return got >= 0 && fields;
}

/* Test whether the first events of ftrace have a time and an event. */
static bool has_ftrace_events(struct protobuf_view bundle)
{
	struct protobuf_field f;
	unsigned events = 0;

	for (unsigned i = 0; i < FIELDS_MOST && protobuf_next(&bundle, &f) > 0; i++)
		if (f.number == BUNDLE_EVENT && (events++, !has_wires(f.bytes, "nnmmn", true)))
			return false;
	return events;
}

/* Test for a sound packet that no other message of Protocol Buffers is likely to have: a known
 * payload has the fields of its kind. The numbers of some payloads are those of fields that most
 * messages have: these need a time, or events. */
static bool packet_is_likely(struct protobuf_view packet)
{
	struct protobuf_field f, content = {0};
	const char *wires = "";
	bool has_time = false;

	while (protobuf_next(&packet, &f) > 0) {
		const char *known = payload_wires(f.number);

		has_time |= f.number == PACKET_TIMESTAMP;
		if (!known || !*known)
			continue;
		wires = known;
		content = f;
	}
	if (!*wires || !has_wires(content.bytes, wires, false))
		return false;
	return content.number == PACKET_FTRACE ? has_ftrace_events(content.bytes)
					       : has_time || content.number > 15;
}

/* --- after damage --- */

/* Get the bit of a field that a packet has at most once besides its payload. */
static unsigned field_bit(uint32_t number)
{
	switch (number) {
	case PACKET_UID: return 1;
	case PACKET_TIMESTAMP: return 2;
	case PACKET_SEQUENCE_ID: return 4;
	case PACKET_INTERNED_DATA: return 8;
	case PACKET_SEQUENCE_FLAGS: return 16;
	case PACKET_STATE_CLEARED: return 32;
	case PACKET_PREVIOUS_DROPPED: return 64;
	case PACKET_CLOCK_ID: return 128;
	case PACKET_DEFAULTS: return 256;
	case PACKET_PID: return 512;
	case PACKET_FIRST: return 1024;
	case PACKET_MACHINE: return 2048;
	}
	return 4096; /* the payload */
}

/* Test whether a message of that number can be a payload: garbage has any number. */
static bool packet_is_payload(uint32_t number)
{
	return number && number <= PAYLOAD_LAST && field_bit(number) == 4096;
}

/* Test whether a message has the fields of a packet, each at most once and with its wire type. cut:
 * its end may be missing. sure: it must have a sequence. */
static bool packet_is_sound(struct protobuf_view message, bool cut, bool sure)
{
	const unsigned messages = 8 | 256 | 4096;
	struct protobuf_field f;
	unsigned found = 0;
	int got;

	while ((got = protobuf_next(&message, &f)) > 0) {
		unsigned bit = field_bit(f.number);

		if (found & bit || f.number > PAYLOAD_LAST ||
		    f.wire != (bit & messages ? PROTOBUF_LENGTH : PROTOBUF_VARINT))
			return false;
		found |= bit;
	}
	/* the last field may be cut */
	return (cut || (!got && found)) && (!sure || found & 4);
}

/* Test for a packet of compressed packets, which has no sequence: the bytes begin as those of zlib
 * or zstd do. The packet may be cut. */
static bool packet_is_compressed(struct protobuf_view packet)
{
	static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	uint64_t key, length;

	if (!protobuf_varint(&packet, &key) || !protobuf_varint(&packet, &length) ||
	    protobuf_size(packet) < sizeof zstd)
		return false;
	if (key == (PACKET_ZSTD_COMPRESSED << 3 | PROTOBUF_LENGTH))
		return !memcmp(packet.at, zstd, sizeof zstd);
	return key == (PACKET_COMPRESSED << 3 | PROTOBUF_LENGTH) && (packet.at[0] & 15) == 8 &&
	       (packet.at[0] << 8 | packet.at[1]) % 31 == 0;
}

/* Test for a packet at an offset from begin, and for another one, or the end, after it. */
static bool perfetto_is_packet(const struct packet_reader *r, bool sequences, size_t at)
{
	struct protobuf_view rest = view(r), message;
	uint64_t length;

	rest.at += at + 1;
	if (!protobuf_varint(&rest, &length) || !length || length > RESYNC_MOST ||
	    length > protobuf_size(rest))
		return false;
	message = (struct protobuf_view){rest.at, rest.at + length};
	if (message.end < rest.end ? *message.end != (TRACE_PACKET << 3 | PROTOBUF_LENGTH)
				   : !r->ended)
		return false;
	return packet_is_sound(message, false, true) || packet_is_compressed(message) ||
	       (!sequences && packet_is_sound(message, false, false) && packet_is_likely(message));
}

/* Skip bytes up to the next packet. sequences: packets of the trace have one. *skipped: the number
 * of bytes. 0, or -1 with *e filled. */
static int packet_resync(struct packet_reader *r, bool sequences, uint64_t *skipped,
			 struct error *e)
{
	uint64_t start = r->offset;
	size_t at = 1; /* from begin */

	for (;;) {
		const uint8_t *next;

		next = at < have(r) ? memchr(r->data + r->begin + at, '\n', have(r) - at) : NULL;
		at = next ? (size_t)(next - r->data) - r->begin : have(r);
		if (!r->ended && have(r) - at < RESYNC_MOST + HEADER_MOST) {
			packet_skip(r, at);
			at = 0;
			if (need(r, 2 * RESYNC_MOST, e))
				return -1;
			continue;
		}
		if (!next || perfetto_is_packet(r, sequences, at))
			break;
		at++;
	}
	packet_skip(r, at);
	*skipped = r->offset - start;
	return 0;
}

/* --- reads the packets of a trace, and passes each to the file that knows its payload --- */

enum { ZSTD_WINDOW_LOG = 27 }; /* 128 MiB */

void perfetto_damage(struct perfetto *p, const struct perfetto_packet *packet, const char *what)
{
	input_damage(p->input, p->input->name, packet->offset, "%s", what);
}

/* --- packets --- */

static int count_kind(struct perfetto *p, uint32_t kind)
{
	uint32_t *number;

	p->counts.packets++;
	if (kind < PERFETTO_KINDS) {
		p->counts.kinds[kind]++;
		return 0;
	}
	number = id_cache_number(&p->counts.far_kinds, &kind, sizeof kind);
	if (!number || (!*number && buffer_u64(&p->counts.far, 0)))
		return -1;
	if (!*number)
		*number = (uint32_t)(p->counts.far.size / 8);
	put_u64(p->counts.far.data + 8 * (*number - 1),
		get_u64(p->counts.far.data + 8 * (*number - 1)) + 1);
	return 0;
}

/* Take a payload: of several, the one that is read. Returns false if a packet cannot have it. */
static bool perfetto_take_payload(struct perfetto_packet *packet, const struct protobuf_field *f)
{
	if (packet->kind) {
		bool first_read = payload_wires(packet->kind);

		/* garbage has any number */
		if ((first_read && payload_wires(f->number)) || !packet_is_payload(f->number) ||
		    !packet_is_payload(packet->kind))
			return false;
		packet->has_more = true;
		if (first_read || !payload_wires(f->number))
			return true;
	}
	packet->kind = f->number;
	packet->payload = f->bytes;
	return true;
}

/* Take the fields of a packet. Returns false if the message is damaged. */
static bool take_fields(struct protobuf_view message, struct perfetto_packet *packet)
{
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&message, &f)) > 0) {
		bool is_message = f.wire == PROTOBUF_LENGTH;

		switch (f.number) {
		case PACKET_TIMESTAMP:
			packet->time = f.value;
			packet->has_time = true;
			break;
		case PACKET_SEQUENCE_ID: packet->sequence = (uint32_t)f.value; break;
		case PACKET_SEQUENCE_FLAGS: packet->flags = (uint32_t)f.value; break;
		case PACKET_CLOCK_ID: packet->clock = (uint32_t)f.value; break;
		case PACKET_STATE_CLEARED: packet->cleared = f.value; break;
		case PACKET_PREVIOUS_DROPPED: packet->dropped = f.value; break;
		case PACKET_FIRST: packet->first = f.value; break;
		case PACKET_MACHINE: packet->machine = (uint32_t)f.value; break;
		case PACKET_UID:
		case PACKET_PID: break;
		case PACKET_INTERNED_DATA:
			packet->has_interned = true;
			packet->interned = f.bytes;
			if (!is_message)
				return false;
			break;
		case PACKET_DEFAULTS:
			packet->has_defaults = true;
			packet->defaults = f.bytes;
			if (!is_message)
				return false;
			break;
		default:
			/* a number of a later version; garbage has any */
			if (!is_message && f.number < PERFETTO_KINDS) {
				packet->others++;
				break;
			}
			if (!is_message || !perfetto_take_payload(packet, &f))
				return false;
		}
	}
	return !got;
}

/* Count the payloads of a packet beside the one that is taken. */
static int count_more(struct perfetto *p, const struct perfetto_packet *packet,
		      struct protobuf_view message)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		if (f.wire == PROTOBUF_LENGTH && packet_is_payload(f.number) &&
		    f.bytes.at != packet->payload.at) {
			if (count_kind(p, f.number))
				return -1;
			p->counts.packets--;
		}
	return 0;
}

/* Test for a payload that describes something, at whatever time. */
static bool is_description(uint32_t kind)
{
	switch (kind) {
	case PACKET_TRACK_DESCRIPTOR:
	case PACKET_THREAD_DESCRIPTOR:
	case PACKET_PROCESS_DESCRIPTOR:
	case PACKET_PROCESS_TREE:
	case PACKET_PACKAGES:
	case PACKET_MODULE_SYMBOLS:
	case PACKET_TRACE_CONFIG: return true;
	}
	return false;
}

/* Test for a packet whose time is used: a description needs none, and its clock may be unknown. */
static bool packet_has_time(struct perfetto *p, struct perfetto_sequence *s,
			    const struct perfetto_packet *packet)
{
	if (!packet->has_time || packet->kind == PACKET_FTRACE)
		return false;
	return packet->kind == PACKET_TRACK_EVENT || !is_description(packet->kind) ||
	       perfetto_clock_usable(p, s, packet->clock ? packet->clock : s->defaults.clock);
}

/* Pass the payload on. */
static int payload_read(struct perfetto *p, struct perfetto_sequence *s,
			struct perfetto_packet *packet)
{
	/* events with a track may have an older form of time */
	if (packet_has_time(p, s, packet)) {
		uint32_t clock = packet->clock ? packet->clock : s->defaults.clock;

		if (perfetto_time(p, s, clock ? clock : CLOCK_BOOTTIME_ID, &packet->time))
			s->last_time = packet->time;
		else if (is_description(packet->kind))
			packet->time = s->last_time;
		else
			return 0;
	} else if (packet->kind != PACKET_TRACK_EVENT) {
		packet->time = s->last_time;
	}
	switch (packet->kind) {
	case PACKET_TRACK_EVENT: return perfetto_track_event(p, s, packet);
	case PACKET_FTRACE:
		return s->id == PERFETTO_DERIVED_SEQUENCE ? 0
							  : perfetto_ftrace_bundle(p, s, packet);
	case PACKET_TRACK_DESCRIPTOR: return perfetto_track_descriptor(p, s, packet);
	case PACKET_THREAD_DESCRIPTOR: return perfetto_thread_descriptor(p, s, packet);
	case PACKET_PROCESS_DESCRIPTOR: return perfetto_process_descriptor(p, packet);
	case PACKET_PROCESS_TREE: return perfetto_process_tree(p, packet);
	case PACKET_PERF_SAMPLE: return perfetto_sample(p, s, packet);
	case PACKET_STREAMING_PROFILE: return perfetto_streaming_profile(p, s, packet);
	case PACKET_TRACE_CONFIG: return 0;
	default: return perfetto_other_packet(p, s, packet);
	}
}

/* Test for a packet that does not change the state of the sequence that was used last. Without this
 * test 'trdecode | trstat' of a trace of calls takes 1.05 times the instructions. */
static inline bool perfetto_is_plain(const struct perfetto *p, const struct perfetto_packet *packet)
{
	const struct perfetto_sequence *s = p->recent_sequence;

	return s && s->valid && s->id == packet->sequence && s->machine == packet->machine &&
	       !packet->dropped && !packet->cleared && !(packet->flags & STATE_CLEARED) &&
	       !packet->has_defaults && !packet->has_interned;
}

static int perfetto_read_packed(struct perfetto *p, const struct perfetto_packet *packet);

/* Read a message. *bad: it is no packet. */
static int packet_read(struct perfetto *p, struct protobuf_view message, uint64_t offset,
		       bool packed, bool *bad)
{
	struct perfetto_packet packet;
	struct perfetto_sequence *s;
	bool skip;

	/* to clear the views, too, takes 1.03 times as long for a trace of calls */
	memset(&packet, 0, offsetof(struct perfetto_packet, payload));
	packet.offset = offset;
	packet.has_interned = packet.has_defaults = false;
	*bad = !take_fields(message, &packet);
	if (*bad)
		return 0;
	p->counts.left_out[MESSAGE_PACKET][0] += packet.others;
	if (packet.has_more && count_more(p, &packet, message))
		return -1;
	if (packet.kind == PACKET_COMPRESSED || packet.kind == PACKET_ZSTD_COMPRESSED) {
		if (count_kind(p, packet.kind))
			return -1;
		if (!packed)
			return perfetto_read_packed(p, &packet);
		perfetto_damage(p, &packet, "compressed packets in compressed packets: left out");
		return 0;
	}
	if (packet.kind == PACKET_TRACK_EVENT && perfetto_is_plain(p, &packet)) {
		p->counts.packets++;
		p->counts.kinds[PACKET_TRACK_EVENT]++;
		return payload_read(p, p->recent_sequence, &packet);
	}
	if (count_kind(p, packet.kind) || perfetto_sequence(p, &packet, &s, &skip))
		return -1;
	if (!skip)
		perfetto_check_packet(p, &packet);
	if (packet.kind == PACKET_CLOCK_SNAPSHOT)
		return perfetto_take_clocks(p, s, &packet);
	return skip || !packet.kind ? 0 : payload_read(p, s, &packet);
}

/* Go on after bytes that are no packet. */
static int after_damage(struct packet_reader *r)
{
	struct perfetto *p = r->p;
	struct gap gap = {.offset = r->offset, .reason = GAP_DAMAGE, .unit = GAP_BYTES};

	if (packet_resync(r, p->counts.sequences, &gap.count, &p->error))
		return -1;
	if (r->packed)
		gap.offset = NO_OFFSET;
	p->scratch.arguments.size = 0;
	return perfetto_keep_gap(p, p->last, &gap, -1);
}

/* Read all packets. */
static int packets_read(struct packet_reader *r)
{
	struct perfetto *p = r->p;
	struct protobuf_view message = {NULL, NULL};
	struct error e;
	enum packet_got got;
	bool bad;

	while ((got = packet_next(r, &message, &e)) != PACKET_ENDED) {
		uint64_t offset = r->packed ? r->packed->offset : r->offset;

		if (got == PACKET_FAILED) {
			p->error = e;
			return -1;
		}
		if (got == PACKET_GOT) {
			if (packet_read(p, message, offset, r->packed, &bad))
				return -1;
			if (!bad) {
				packet_skip(r, (size_t)(message.end - view(r).at));
				continue;
			}
			error_set(&e, p->input->name, offset, "no packet");
		}
		e.offset = offset;
		input_damage_error(p->input, &e);
		if (after_damage(r))
			return -1;
	}
	return 0;
}

/* --- compressed packets --- */

static ssize_t perfetto_read_zlib(struct packet_reader *r, uint8_t *to, size_t n, struct error *e)
{
	int got;

	(void)e;
	if (r->unpacked)
		return 0;
	r->zlib.next_out = to;
	r->zlib.avail_out = (uInt)n;
	got = inflate(&r->zlib, Z_NO_FLUSH);
	r->unpacked = got != Z_OK;
	if (got != Z_OK && got != Z_STREAM_END)
		perfetto_damage(r->p, r->packed, "compressed packets are damaged");
	return (ssize_t)(n - r->zlib.avail_out);
}

static ssize_t read_zstd(struct packet_reader *r, uint8_t *to, size_t n, struct error *e)
{
	ZSTD_outBuffer out = {to, n, 0};
	size_t left = 0;

	(void)e;
	while (!r->unpacked && !out.pos) {
		left = ZSTD_decompressStream(r->zstd, &out, &r->in);
		r->unpacked = ZSTD_isError(left) || (r->in.pos == r->in.size && out.pos < out.size);
	}
	if (r->unpacked && left)
		perfetto_damage(r->p, r->packed, "compressed packets are damaged");
	return (ssize_t)out.pos;
}

/* Prepare to unpack. Returns false when out of memory. */
static bool packed_begin(struct packet_reader *r)
{
	const struct protobuf_view *in = &r->packed->payload;

	if (r->packed->kind == PACKET_COMPRESSED) {
		r->read = perfetto_read_zlib;
		r->zlib.next_in = (Bytef *)(uintptr_t)in->at;
		r->zlib.avail_in = (uInt)protobuf_size(*in);
		return inflateInit(&r->zlib) == Z_OK;
	}
	r->read = read_zstd;
	r->in = (ZSTD_inBuffer){in->at, protobuf_size(*in), 0};
	r->zstd = ZSTD_createDStream();
	return r->zstd &&
	       !ZSTD_isError(ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG));
}

static int perfetto_read_packed(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct packet_reader r = {.p = p, .packed = packet};
	int failed = -1;

	if (packed_begin(&r) && !packet_reader_open(&r, NULL, 0))
		failed = packets_read(&r);
	free(r.data);
	if (packet->kind == PACKET_COMPRESSED)
		inflateEnd(&r.zlib);
	ZSTD_freeDStream(r.zstd);
	return failed;
}

/* --- the file --- */

static ssize_t perfetto_read_file(struct packet_reader *r, uint8_t *to, size_t n, struct error *e)
{
	const struct input *in = r->p->input;
	ssize_t got = io_read(in->fd, to, n);

	return got < 0 ? error_errno(e, in->name, NO_OFFSET, "cannot read") : got;
}

/* Read the whole input. */
static int perfetto_read(struct perfetto *p)
{
	struct packet_reader r = {.p = p, .read = perfetto_read_file};
	int failed;

	failed = packet_reader_open(&r, p->input->head, p->input->head_size) || packets_read(&r) ||
		 perfetto_sequences_end(p) || perfetto_name_frames(p);
	free(r.data);
	return failed ? -1 : 0;
}

/* --- the decoder of Perfetto's traces --- */

/* Test the field that the end of the first bytes cuts, and all after it: the message of a known
 * payload, or of interned data or defaults, that fits into the packet and begins with sound fields.
 * The sequence, which the service writes last, is after it. size: bytes of the packet. */
static bool is_known_payload(struct protobuf_view message, uint64_t size)
{
	const char *row = perfetto_messages[MESSAGE_PACKET];
	struct text_span rest = {row, row + strlen(row)}, name, kind;
	const uint8_t *begin = message.at;
	struct protobuf_field f;
	uint64_t key, length;
	unsigned fields = 0;
	uint32_t number = 0, wanted;

	while (protobuf_next(&message, &f) > 0)
		;
	if (!protobuf_varint(&message, &key) || !protobuf_varint(&message, &length) ||
	    (key & 7) != PROTOBUF_LENGTH || length > size - (uint64_t)(message.at - begin))
		return false;
	wanted = (uint32_t)(key >> 3);
	span_take_word(&rest);
	while (perfetto_table_field(&rest, &number, &name, &kind) && number != wanted)
		;
	if (name.at == name.end && wanted != PACKET_INTERNED_DATA && wanted != PACKET_DEFAULTS)
		return false;
	while (protobuf_next(&message, &f) > 0)
		fields++;
	/* the next field is cut, too */
	return fields || (protobuf_varint(&message, &key) && (key & 7) == PROTOBUF_LENGTH);
}

/* What the probe finds in packets. */
enum { FOUND_SERVICE = 1, FOUND_LIKELY = 2, FOUND_CUT = 4 };

/* Take a packet from the first bytes, and set bits of *found. Returns false if there is none. */
static bool probe_packet(struct protobuf_view *rest, bool first, unsigned *found)
{
	enum { LONGEST = 10 }; /* of a length */
	struct protobuf_view message;
	uint64_t length;
	bool cut;

	if (*rest->at++ != (TRACE_PACKET << 3 | PROTOBUF_LENGTH))
		return false;
	if (!protobuf_varint(rest, &length)) {
		cut = protobuf_size(*rest) < LONGEST;
		rest->at = rest->end;
		return cut && !first;
	}
	if (!length && first)
		return false;
	cut = length > protobuf_size(*rest);
	message = (struct protobuf_view){rest->at, cut ? rest->end : rest->at + length};
	if (!packet_is_sound(message, cut, false))
		return false;
	if (packet_is_sound(message, cut, true) || packet_is_compressed(message))
		*found |= FOUND_SERVICE;
	else if (!cut && packet_is_likely(message))
		*found |= FOUND_LIKELY;
	if (cut && (io_cut() || is_known_payload(message, length)))
		*found |= FOUND_CUT;
	rest->at = message.end;
	return true;
}

/* Test the packets in the first bytes: each field has the wire type of its number, and is there at
 * most once. Packets of a service have a sequence, and what is after one may be damaged. Of packets
 * without, which a program wrote, all in the first bytes are sound. With -f accept any packet. */
static enum bid perfetto_probe(const struct input *in)
{
	struct protobuf_view rest = {in->head, in->head};
	bool any = in->format && !strcmp(in->format, "perfetto"), good = true;
	unsigned found = 0;

	if (in->tree || !in->head_size)
		return BID_NONE;
	rest.end += in->head_size;
	while (good && rest.at < rest.end)
		good = probe_packet(&rest, rest.at == in->head, &found);
	if (found & FOUND_SERVICE)
		return BID_LIKELY;
	if (found & FOUND_CUT || (good && found & FOUND_LIKELY))
		return BID_CHANCE;
	return any && *in->head == (TRACE_PACKET << 3 | PROTOBUF_LENGTH) ? BID_CHANCE : BID_NONE;
}

static int perfetto_open(struct input *in, struct error *e)
{
	struct perfetto *p = calloc(1, sizeof *p);

	in->state = p;
	if (!p)
		return error_no_memory(e);
	p->input = in;
	p->w = in->decoding->writer;
	p->clocks.first = UINT64_MAX;
	sorter_init(&p->sorter);
	p->functions = calloc(1, sizeof *p->functions);
	if (!p->functions || perfetto_tables_read(p))
		return error_no_memory(e);
	p->functions->w = p->w;
	in->clock_name = "boot";
	return 0;
}

/* Declare the texts that are compared and used often. */
static int declare_texts(struct perfetto *p)
{
	struct {
		uint32_t *to;
		const char *text;
	} texts[] = {
		{&p->texts.call_id, PERFETTO_CALL_ID},
		{&p->texts.begin, "begin"},
		{&p->texts.end, "end"},
		{&p->texts.async_begin, "async begin"},
		{&p->texts.state_begin, "state begin"},
		{&p->texts.state_end, "state end"},
		{&p->texts.async_end, "async end"},
		{&p->texts.gap, CHROME_GAP},
		{&p->texts.gap_category, CHROME_GAP_CATEGORY},
		{&p->texts.unfinished, CHROME_UNFINISHED},
		{&p->texts.leave_name, CHROME_LEAVE_NAME},
		{&p->texts.kernel, "kernel"},
		{&p->texts.before, "called before the trace"},
		{&p->texts.nothing, "(no name)"},
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		*texts[i].to = writer_text(p->w, texts[i].text);
		if (!*texts[i].to)
			return -1;
	}
	return 0;
}

/* Get the error of a function that failed. */
static int perfetto_failed(const struct perfetto *p, struct error *e)
{
	if (p->error.what[0])
		*e = p->error;
	else
		error_no_memory(e);
	return -1;
}

uint32_t perfetto_text(struct perfetto *p, struct protobuf_view v)
{
	return writer_string(p->w, v.at, protobuf_size(v));
}

/* --- information --- */

/* Count the kinds of packets that counted_kind has. */
static uint32_t counted_kinds(const struct perfetto *p)
{
	return PERFETTO_KINDS + p->counts.far_kinds.keys.count;
}

/* Get a kind, and the number of its packets: from PERFETTO_KINDS on fields of larger numbers. */
static uint32_t counted_kind(const struct perfetto *p, uint32_t i, uint64_t *packets)
{
	uint32_t kind, far = i - PERFETTO_KINDS;

	if (i < PERFETTO_KINDS) {
		*packets = p->counts.kinds[i];
		return i;
	}
	memcpy(&kind, intern_data(&p->counts.far_kinds.keys, far), sizeof kind);
	*packets = get_u64(p->counts.far.data + 8 * (p->counts.far_kinds.numbers[far] - 1));
	return kind;
}

/* Print the number of packets of a kind. */
static void fact_kind(const struct perfetto *p, struct trace_info *info, uint32_t kind,
		      uint64_t count)
{
	const char *name = packet_payload_name(p, kind);
	char text[80];

	if (!count)
		return;
	if (name)
		snprintf(text, sizeof text, "%s %" PRIu64, name, count);
	else
		snprintf(text, sizeof text, "field %" PRIu32 " %" PRIu64, kind, count);
	fact_item(info, "packet", text);
}

static int perfetto_info(struct input *in, struct trace_info *info, struct error *e)
{
	struct perfetto *p = in->state;

	p->counting = true;
	if (declare_texts(p) || perfetto_read(p))
		return perfetto_failed(p, e);
	fact_text(info, "format", "perfetto");
	fact_text(info, "clock", perfetto_clock_name(p));
	fact_number(info, "events", p->counts.events);
	fact_number(info, "tracks", p->tracks.count);
	fact_number(info, "sequences", p->sequences.size / sizeof(struct perfetto_sequence *));
	fact_number(info, "packets", p->counts.packets);
	for (uint32_t i = 0; i < counted_kinds(p); i++) {
		uint64_t packets;
		uint32_t kind = counted_kind(p, i, &packets);

		fact_kind(p, info, kind, packets);
	}
	return 0;
}

/* --- decoding --- */

static int decode_perfetto_begin(struct input *in, struct error *e)
{
	struct perfetto *p = in->state;
	struct writer *w = p->w;

	p->source = writer_source(w, &(struct source_entry){writer_text(w, "perfetto"),
							    writer_text(w, in->name), 0, 0});
	if (!p->source || declare_texts(p) || perfetto_read(p) ||
	    sorter_finish(&p->sorter, &p->error) || perfetto_find_overlaps(p))
		return perfetto_failed(p, e);
	if (io_cut() && !p->counts.packets)
		return error_set(e, in->name, 0, "the first packet is cut");
	perfetto_first_names(p);
	in->clock_name = perfetto_clock_name(p);
	in->has_wall = p->clocks.has_wall;
	in->wall = p->clocks.wall;
	if (merge_choose_clock(in, e))
		return -1;
	p->clock = input_declare_clock(in, in->has_wall && !merge_wall(in));
	if (!p->clock || process_names_write(w, p->source, &p->tracks.process_names) ||
	    (p->packages.size &&
	     writer_meta(w, p->source, "perfetto.packages", p->packages.data, p->packages.size)))
		return perfetto_failed(p, e);
	return p->clocks.first != UINT64_MAX ? merge_first(in, p->clocks.first, e) : 0;
}

static int perfetto_run(struct input *in, uint64_t until, struct error *e)
{
	struct perfetto *p = in->state;
	uint64_t limit;

	if (!merge_unshifted(until, in->shift, &limit))
		return 0;
	if (perfetto_rows(p, limit, &in->next)) {
		*e = p->error;
		return -1;
	}
	if (in->next != UINT64_MAX)
		in->next = merge_shifted(in->next, in->shift);
	return 0;
}

/* Print a remark with the kinds in a text, and begin the next text. */
static int print_kinds(const struct perfetto *p, struct buffer *b, uint64_t *count)
{
	if (buffer_u8(b, 0))
		return -1;
	warn_count(p->input->name, *count,
		   "{packet|packets} of {a kind|kinds} that trdecode does not read {was|were} left "
		   "out, by name or number: %s",
		   (const char *)b->data);
	b->size = 0;
	*count = 0;
	return 0;
}

/* Append the name of a payload that is not read and the number of its packets. */
static int add_unread(const struct perfetto *p, struct buffer *b, uint64_t *count, uint32_t kind,
		      uint64_t packets)
{
	enum { TEXT_MOST = 300 }; /* before the last name: a remark has 512 bytes */
	const char *name = packet_payload_name(p, kind);

	if (!packets || payload_wires(kind))
		return 0;
	if (b->size > TEXT_MOST && print_kinds(p, b, count))
		return -1;
	*count += packets;
	if (buffer_printf(b, "%s", b->size ? ", " : ""))
		return -1;
	return name ? buffer_printf(b, "%s (%" PRIu64 ")", name, packets)
		    : buffer_printf(b, "%" PRIu32 " (%" PRIu64 ")", kind, packets);
}

/* Name the packets that the stream does not contain. */
static void print_unread(const struct perfetto *p)
{
	struct buffer b = {0};
	uint64_t count = 0;
	int failed = 0;

	for (uint32_t i = 1; i < counted_kinds(p) && !failed; i++) {
		uint64_t packets;
		uint32_t kind = counted_kind(p, i, &packets);

		failed = add_unread(p, &b, &count, kind, packets);
	}
	if (!failed && count)
		print_kinds(p, &b, &count);
	buffer_free(&b);
}

/* Report the events that the stream does not contain, or contains in another form. */
static void perfetto_print_remarks(struct perfetto *p)
{
	const char *file = p->input->name;

	print_unread(p);
	perfetto_print_left_out(p);
	warn_count(file, p->counts.unopened,
		   "{end|ends} of calls without {a begin|begins} {was|were} left out");
	complete_calls_clipped(file, p->counts.clipped);
	warn_count(file, p->counts.unkept,
		   "{begin|begins} of asynchronous calls {was|were} left out: too many calls are "
		   "open");
	warn_count(file, p->counts.unsynchronised,
		   "{time|times} of clocks without a snapshot {was|were} not converted");
	warn_count(file, p->counts.unplaced,
		   "{packet or event|packets or events} of unknown clocks {was|were} left out: the "
		   "trace has no snapshot of {its clock|their clocks}");
	warn_count(file, p->counts.too_deep,
		   "{value|values} of annotations {is|are} nested more than 64 deep: {its|their} "
		   "contents are left out");
	warn_count(file, p->counts.uninterned,
		   "{id|ids} of interned data {is|are} not in the file: names are missing");
	arguments_report(&p->arguments.table, file);
	warn_count(file, p->counts.unknown_ftrace,
		   "{event|events} of ftrace {has|have} an unknown number: {its|their} fields are "
		   "left out");
}

static void free_buffers(struct perfetto *p)
{
	struct buffer *const buffers[] = {&p->scratch.record,
					  &p->scratch.arguments,
					  &p->scratch.details,
					  &p->scratch.key,
					  &p->scratch.text,
					  &p->counts.far,
					  &p->counts.sample_counts,
					  &p->source_locations,
					  &p->packages,
					  &p->heaps.totals,
					  &p->modules.symbols,
					  &p->modules.chains,
					  &p->tracks.reached,
					  &p->ftrace.fixed,
					  &p->ftrace.tail,
					  &p->ftrace.key};

	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_free(buffers[i]);
}

static void perfetto_close(struct input *in)
{
	struct perfetto *p = in->state;

	if (!p)
		return;
	if (p->counts.wrong_times)
		input_damage(in, in->name, NO_OFFSET, "%" PRIu64 " event%s with an impossible time",
			     p->counts.wrong_times, p->counts.wrong_times == 1 ? "" : "s");
	if (!in->decoding->quiet)
		perfetto_print_remarks(p);
	sorter_free(&p->sorter);
	arguments_free(&p->arguments.table);
	name_uses_free(&p->arguments.uses);
	if (p->functions)
		frame_locations_free(p->functions);
	free(p->functions);
	perfetto_sequences_free(p);
	perfetto_clocks_free(p);
	perfetto_tracks_free(p);
	perfetto_ftrace_free(p);
	open_calls_free(&p->async.keys);
	free(p->async.open);
	complete_calls_free(&p->completes);
	for (unsigned m = 0; m < PERFETTO_MESSAGES; m++)
		free(p->known[m].field);
	intern_free(&p->names);
	id_cache_free(&p->counts.far_kinds);
	key_map_free(&p->counts.sample_cpus);
	id_cache_free(&p->types.ids);
	id_cache_free(&p->definitions);
	id_cache_free(&p->modules.mappings);
	id_cache_free(&p->modules.frames);
	id_cache_free(&p->modules.symbol_numbers);
	free(p->modules.inlined);
	free(p->modules.full);
	id_cache_free(&p->heaps.numbers);
	free(p->locations);
	free_buffers(p);
	free(p);
	in->state = NULL;
}

const struct decoder decoder_perfetto = {
	.name = "perfetto",
	.in_order = true,
	.probe = perfetto_probe,
	.open = perfetto_open,
	.info = perfetto_info,
	.begin = decode_perfetto_begin,
	.run = perfetto_run,
	.close = perfetto_close,
};
