/* Streams of calls at random, and what is in a stream: for the tests of trfilter. */
#include <stdlib.h>
#include <unistd.h>

#include "common/stream/reader.h"
#include "t/unit/tap.h"
#include "common/stream/value.h"
#include "common/stream/writer.h"

enum { ROWS = 15000, LANES = 2, LOCATIONS = 5, STACK = 400 };

static char dir[] = "/tmp/filter.XXXXXX";

static inline const char *in_dir(const char *name)
{
	static char paths[4][128];
	static int at;

	at = (at + 1) % 4;
	snprintf(paths[at], sizeof paths[at], "%s/%s", dir, name);
	return paths[at];
}

struct ids {
	uint32_t source, clock, lane[LANES], location[LOCATIONS], enter, enter_values, leave,
		instant;
};

static void declare(struct writer *w, struct ids *ids)
{
	uint32_t source = writer_source(
		w, &(struct source_entry){writer_text(w, "uftrace"), writer_text(w, "x"), 8, 0});
	uint32_t clock = writer_clock(w, &(struct clock_entry){writer_text(w, "monotonic"), 0, 0});
	uint32_t space = writer_space(w, &(struct space_entry){source, writer_text(w, "s"), 1, 0});
	uint32_t group = writer_text(w, "uftrace");
	struct field_entry field = {
		.name = writer_text(w, "cpu"), .kind = FIELD_UINT, .role = ROLE_CPU, .size = 4};
	struct type_entry t = {.source = source, .group = group};

	ids->source = source;
	ids->clock = clock;
	for (int i = 0; i < LANES; i++)
		ids->lane[i] = writer_lane(
			w, &(struct lane_entry){source, clock, 0, writer_text(w, i ? "b" : "a"),
						LANE_HAS_TID | LANE_HAS_PID, 0, 10 + i, 10, 1});
	for (int i = 0; i < LOCATIONS; i++) {
		char name[] = {'f', (char)('0' + i), 0};

		ids->location[i] = writer_location(
			w, &(struct location_entry){space, 0, 0x1000u + (unsigned)i, 0, 0});
		writer_symbol(w, ids->location[i],
			      &(struct symbol_entry){.name = name,
						     .name_size = 2,
						     .module = i & 1 ? "/lib/l.so" : "/bin/p",
						     .module_size = i & 1 ? 9 : 6});
	}
	t.name = writer_text(w, "entry");
	t.kind = KIND_ENTER;
	t.flags = TYPE_DEPTH;
	ids->enter = writer_type(w, &t);
	t.flags |= TYPE_TAIL | TYPE_VALUES;
	ids->enter_values = writer_type(w, &t);
	t.name = writer_text(w, "exit");
	t.kind = KIND_LEAVE;
	t.flags = TYPE_DEPTH;
	ids->leave = writer_type(w, &t);
	t.name = writer_text(w, "tick");
	t.kind = KIND_INSTANT;
	t.flags = 0;
	t.fixed_size = 4;
	t.nfields = 1;
	t.fields = &field;
	ids->instant = writer_type(w, &t);
}

static uint32_t next(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

/* Calls at random; bare: nothing but calls, all in blocks of bare rows; shortest: blocks have fewer
 * rows than that, as those of live streams, 0: they are full. */
static inline void make_blocks(const char *path, bool bare, uint32_t seed, uint32_t shortest)
{
	uint32_t cut = seed ^ 0x5bd1e995, rows = 0;
	struct buffer tail = {0};
	unsigned depth[LANES] = {0}, stack[LANES][STACK];
	uint64_t time = 1000;
	struct output output;
	struct writer w;
	struct error e;
	struct ids ids;

	output_open(&output, path, OUTPUT_BINARY, &e);
	writer_init(&w, &output, 0);
	writer_begin(&w, seed);
	declare(&w, &ids);
	for (int i = 0; i < ROWS; i++) {
		uint32_t x = next(&seed), l = x >> 5 & 1, location = x >> 8 & 31 ? x >> 8 & 3 : 4,
			 cpu = x >> 12 & 3;

		if (shortest && !rows--) {
			rows = next(&cut) % shortest;
			writer_flush(&w);
		}
		time += x >> 16 & 63;
		if (!bare && (x >> 20) == 7)
			time += 1ull << 33; /* wide rows, or a new block */
		if (!bare && (x >> 22) == 3) {
			struct gap g = {GAP_LOST, GAP_EVENTS, 5, NO_OFFSET, "f", "m"};

			writer_gap(&w, time, ids.lane[l], &g);
		} else if (!bare && (x >> 24) % 9 == 0) {
			writer_row_data(&w, (struct new_row){.time = time,
							     .lane = ids.lane[l],
							     .type = ids.instant,
							     .depth = depth[l],
							     .fixed = &cpu,
							     .fixed_size = 4});
		} else if (depth[l] && (depth[l] == STACK || x & 4)) {
			depth[l]--;
			if (!bare && (x >> 26) == 5)
				continue; /* this leave was lost */
			writer_row(&w, time, ids.lane[l], ids.leave,
				   ids.location[stack[l][depth[l]]], depth[l]);
		} else {
			stack[l][depth[l]] = location;
			tail.size = 0;
			value_put_detail(&tail, DETAIL_ARGUMENT, 1);
			value_put_uint(&tail, VALUE_UINT, x >> 28);
			if (bare || x & 2)
				writer_row(&w, time, ids.lane[l], ids.enter, ids.location[location],
					   depth[l]++);
			else
				writer_row_data(&w,
						(struct new_row){.time = time,
								 .lane = ids.lane[l],
								 .type = ids.enter_values,
								 .location = ids.location[location],
								 .depth = depth[l]++,
								 .tail = tail.data,
								 .tail_size = (uint32_t)tail.size,
								 .has_tail = true});
		}
	}
	writer_finish(&w);
	output_close(&output, 0, &e);
	writer_free(&w);
	buffer_free(&tail);
}

static inline void make(const char *path, bool bare, uint32_t seed)
{
	make_blocks(path, bare, seed, 0);
}

/* A stream's rows, each as a hash. */
struct list {
	uint64_t row[ROWS];
	size_t partner[ROWS]; /* of a call its other row, where none is lost; else the row itself */
	uint8_t lane[ROWS], kind[ROWS];
	bool open_enter[ROWS]; /* of a call that has no leave */
	size_t n, gaps, open, unmatched;
	bool good; /* sound to its end, with the right times in END */
};

static inline void read_rows(const char *path, struct list *list)
{
	char *paths[] = {(char *)path};
	unsigned depth[LANES] = {0};
	size_t entered[LANES][STACK + 1];
	uint64_t low = UINT64_MAX, high = 0, drops = 0;
	struct reader r;
	struct block b;
	struct events it;
	struct event e;
	int got;

	*list = (struct list){.good = true};
	reader_open(&r, paths, 1);
	while ((got = reader_next(&r, &b))) {
		if (got < 0) {
			printf("# %s\n", r.error.what);
			list->good = false;
			continue;
		}
		if (b.kind != BLOCK_EVENTS)
			continue;
		for (events_begin(&it, &b); event_next(&it, &e);) {
			uint64_t key[] = {e.time, e.lane->number, e.type->name.number, e.location,
					  e.depth};
			uint64_t h = hash_bytes(key, sizeof key, 0);
			int lane = e.lane->tid - 10;

			low = e.time < low ? e.time : low;
			high = e.time > high ? e.time : high;
			list->good &= e.time >= b.base && e.time <= b.last;
			/* they may differ where the calls do not */
			if (e.type->kind == KIND_DROP) {
				drops++;
				continue;
			}
			h = hash_bytes(e.fixed, e.type->fixed_size, h);
			if (list->n == ROWS)
				break;
			list->partner[list->n] = list->n;
			list->lane[list->n] = (uint8_t)lane;
			list->kind[list->n] = e.type->kind;
			list->open_enter[list->n] = e.type->kind == KIND_ENTER;
			list->gaps += e.type->kind == KIND_GAP;
			if (e.type->kind == KIND_ENTER && depth[lane]++ < STACK)
				entered[lane][depth[lane]] = list->n;
			if (e.type->kind == KIND_LEAVE && depth[lane]) {
				if (depth[lane] <= STACK) {
					list->partner[list->n] = entered[lane][depth[lane]];
					list->partner[list->partner[list->n]] = list->n;
					list->open_enter[list->partner[list->n]] = false;
				}
				depth[lane]--;
			} else if (e.type->kind == KIND_LEAVE)
				list->unmatched++;
			list->row[list->n++] = hash_bytes(e.tail, e.tail_size, h);
		}
	}
	for (int i = 0; i < LANES; i++)
		list->open += depth[i];
	list->good &= !(list->n + drops) || (r.end.first == low && r.end.last == high);
	list->good &= r.end.events == list->n + drops && r.end.gaps == list->gaps;
	reader_close(&r);
}

/* Returns the number of rows of a stream, without gaps and rows of KIND_DROP. */
static inline uint64_t rows_in(const char *path)
{
	char *paths[] = {(char *)path};
	uint64_t rows = 0;
	struct reader r;
	struct block b;
	struct events it;
	struct event e;
	int got;

	reader_open(&r, paths, 1);
	while ((got = reader_next(&r, &b)))
		if (got > 0 && b.kind == BLOCK_EVENTS)
			for (events_begin(&it, &b); event_next(&it, &e);)
				rows += e.type->kind != KIND_GAP && e.type->kind != KIND_DROP;
	reader_close(&r);
	return rows;
}
