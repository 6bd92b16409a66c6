/* What the writer makes is what the reader gives back. */
#include "t/unit/stream.h"

static void test_round_trip(bool crc)
{
	struct maker m;
	struct blob b;
	struct seen s;

	make_begin(&m, 0, crc);
	make_rows(&m, 1000, 5000);
	b = make_end(&m);
	s = see(b.data, b.size);
	is_u64(s.errors, 0, "no errors");
	is_u64(s.rows, 5000, "all rows");
	is_u64(s.gaps, 1000, "all gaps");
	is_u64(s.calls, 1000, "values name a definition that is there");
	is_u64(s.ends, 1, "one end");
	free(b.data);
}

/* Rows one by one against what was written. */
struct expected {
	uint64_t time;
	uint32_t depth, location;
};

static void check_rows(const char *what, struct blob b, const struct expected *want, size_t n,
		       unsigned *blocks, unsigned *wide)
{
	struct reader r;
	struct block bl;
	size_t at = 0;
	bool same = true;
	int got;

	*blocks = *wide = 0;
	must(!reader_open_fd(&r, fd_of(b.data, b.size), "made", NULL, 0), "reader");
	while ((got = reader_next(&r, &bl)) > 0) {
		struct events it;
		struct event ev;

		if (bl.kind != BLOCK_EVENTS)
			continue;
		++*blocks;
		*wide += (bl.row_flags & EVENTS_WIDE) != 0;
		for (events_begin(&it, &bl); event_next(&it, &ev); at++)
			if (at >= n || ev.time != want[at].time || ev.depth != want[at].depth ||
			    (want[at].location &&
			     dictionary_location(&r.dictionary, ev.location)->address !=
				     want[at].location)) {
				printf("# row %zu: time %" PRIu64 " depth %u\n", at, ev.time,
				       ev.depth);
				same = false;
			}
	}
	if (got)
		printf("# %s\n", r.error.what);
	ok(!got && same && at == n, what);
	reader_close(&r);
	free(b.data);
}

static void test_depth_and_time(void)
{
	static const struct expected rows[] = {
		{1000, 0, 0},
		{1001, 255, 0},
		{1002, 256, 0},
		{1003, 65535, 0},
		{900, 1, 0},
		{900 + (1 << 24) - 1, 1, 0},
		{900 + (1 << 24), 1, 0},
		{1ull << 47, 1, 0},
		{1ull << 49, 2, 0},
		{UINT64_MAX - 1, 3, 0},
		{UINT64_MAX, 3, 0},
		{0, 4, 0},
	};
	struct maker m;
	unsigned blocks, wide;

	make_begin(&m, 0, true);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		must(!writer_row(&m.w, rows[i].time, m.lane, m.enter, 0, rows[i].depth), "row");
	check_rows("depths and times", make_end(&m), rows, sizeof rows / sizeof *rows, &blocks,
		   &wide);
	ok(wide > 0 && wide < blocks, "narrow and wide blocks");
}

static void test_widen_keeps_rows(void)
{
	struct expected rows[200];
	struct maker m;
	unsigned blocks, wide;

	/* a few rows are widened in place, many are sent first */
	for (unsigned few = 1; few <= 100; few += 33) {
		make_begin(&m, 0, false);
		for (unsigned i = 0; i <= few; i++) {
			rows[i] = (struct expected){1000 + i, i < few ? i % 255 : 300, 0x401000};
			must(!writer_row(&m.w, rows[i].time, m.lane, m.enter, m.location[1],
					 rows[i].depth),
			     "row");
		}
		check_rows("rows around a change of width", make_end(&m), rows, few + 1, &blocks,
			   &wide);
		is_u64(blocks, few > 64 ? 2 : 1, "blocks");
	}
}

/* A large row behind few narrow ones, wide by its depth: the block must not grow over its end. */
static void test_widen_without_room(void)
{
	struct maker m;
	struct blob b;
	struct seen s;
	char *text = calloc(1, 65536);

	for (uint32_t size = 63000; size < 65536; size += 17) {
		make_begin(&m, 0, false);
		for (unsigned i = 0; i < 64; i++)
			must(!writer_row(&m.w, i, m.lane, m.enter, m.location[1], 0), "row");
		must(!writer_row_data(&m.w, (struct new_row){.time = 64,
							     .lane = m.lane,
							     .type = m.instant,
							     .depth = 300,
							     .fixed = "12345678",
							     .fixed_size = 8,
							     .tail = text,
							     .tail_size = size,
							     .has_tail = true}),
		     "row");
		b = make_end(&m);
		s = see(b.data, b.size);
		free(b.data);
		if (s.rows != 65 || s.errors)
			break;
	}
	ok(s.rows == 65 && !s.errors, "a large row that widens the block");
	free(text);
}

static void test_sparse(void)
{
	struct maker m;
	struct blob b;
	struct seen s;

	make_begin(&m, 0, false);
	for (unsigned i = 0; i < 1000; i++)
		must(!writer_row_data(&m.w, (struct new_row){.time = i * 100000000ull,
							     .lane = m.lane,
							     .type = m.instant,
							     .fixed = "12345678",
							     .fixed_size = 8,
							     .tail = "x",
							     .tail_size = 1,
							     .has_tail = true}),
		     "row");
	b = make_end(&m);
	s = see(b.data, b.size);
	ok(s.rows == 1000 && !s.errors, "sparse rows with tails");
	ok(s.events_blocks < 20, "share blocks");
	free(b.data);
}

static void test_many(const char *what, unsigned lanes, unsigned types, unsigned locations)
{
	struct maker m;
	struct blob b;
	struct seen s;
	unsigned n = lanes > types ? lanes : types;
	uint32_t *lane = calloc(lanes, 4), *type = calloc(types, 4),
		 *location = calloc(locations, 4);
	char name[32];

	n = n > locations ? n : locations;
	make_begin(&m, 0, true);
	for (unsigned i = 0; i < lanes; i++)
		lane[i] =
			writer_lane(&m.w, &(struct lane_entry){m.source, m.clock, 0, 0,
							       LANE_HAS_TID, 0, (int32_t)i, 0, 0});
	for (unsigned i = 0; i < types; i++) {
		snprintf(name, sizeof name, "type %u", i);
		type[i] = writer_type(&m.w, &(struct type_entry){.name = writer_text(&m.w, name)});
	}
	for (unsigned i = 0; i < locations; i++)
		location[i] = writer_location(&m.w, &(struct location_entry){0, 0, i, 0, 0});
	for (unsigned i = 0; i < 2 * n; i++)
		must(!writer_row(&m.w, i, lane[i % lanes], type[i % types], location[i % locations],
				 0),
		     "row");
	b = make_end(&m);
	s = see(b.data, b.size);
	is_u64(s.errors, 0, what);
	is_u64(s.rows, 2 * n, "all rows");
	free(b.data);
	free(lane);
	free(type);
	free(location);
}

static void test_tails(void)
{
	struct maker m;
	struct blob b;
	struct reader r;
	struct block bl;
	unsigned i = 0;
	bool same = true;
	char text[64] = "0123456789abcdefghijklmnopqrstuvwxyz";

	make_begin(&m, 0, true);
	for (uint32_t n = 0; n < 37; n++)
		must(!writer_row_data(&m.w, (struct new_row){.time = n,
							     .lane = m.lane,
							     .type = m.instant,
							     .fixed = "abcdefgh",
							     .fixed_size = 8,
							     .tail = text,
							     .tail_size = n,
							     .has_tail = true}),
		     "row");
	b = make_end(&m);
	must(!reader_open_fd(&r, fd_of(b.data, b.size), "made", NULL, 0), "reader");
	while (reader_next(&r, &bl) > 0) {
		struct events it;
		struct event ev;

		if (bl.kind != BLOCK_EVENTS)
			continue;
		for (events_begin(&it, &bl); event_next(&it, &ev); i++) {
			static const uint8_t zero[4];

			if (ev.tail_size != i || memcmp(ev.tail, text, i) ||
			    memcmp(ev.fixed, "abcdefgh", 8) ||
			    memcmp(ev.tail + i, zero, align_up(i, 4) - i))
				same = false;
		}
	}
	ok(same && i == 37, "tails of every small size, padded with zeros");
	reader_close(&r);
	free(b.data);
}

static void test_huge(uint32_t size)
{
	struct maker m;
	struct blob b;
	struct seen s;
	uint8_t *text = malloc(size);

	memset(text, 'x', size);
	make_begin(&m, 0, false);
	make_rows(&m, 0, 10);
	must(!writer_row_data(&m.w, (struct new_row){.time = 1000,
						     .lane = m.lane,
						     .type = m.instant,
						     .fixed = "abcdefgh",
						     .fixed_size = 8,
						     .tail = text,
						     .tail_size = size,
						     .has_tail = true}),
	     "row");
	make_rows(&m, 2000, 10);
	b = make_end(&m);
	s = see(b.data, b.size);
	ok(s.rows == 21 && !s.errors, "a huge tail");
	ok(b.size < size + 65536, "takes no more than its bytes");
	free(b.data);
	free(text);
}

static void test_too_large(void)
{
	struct maker m;
	struct blob b;
	struct seen s;

	make_begin(&m, 0, false);
	make_rows(&m, 0, 10);
	ok(writer_row_data(&m.w, (struct new_row){.time = 1000,
						  .lane = m.lane,
						  .type = m.instant,
						  .fixed = "abcdefgh",
						  .fixed_size = 8,
						  .tail = "",
						  .tail_size = EVENTS_LIMIT,
						  .has_tail = true}),
	   "a tail beyond the limit is refused");
	make_rows(&m, 2000, 10);
	b = make_end(&m);
	s = see(b.data, b.size);
	ok(s.rows == 20 && !s.errors, "and the stream goes on");
	free(b.data);
}

/* Rows put in runs are the rows put one by one, whatever the time, depth and place. */
static void test_rows(void)
{
	struct maker m;
	struct blob b[2];
	struct seen s[2];

	for (int runs = 0; runs < 2; runs++) {
		struct row_bits bits = {0};
		uint64_t time = UINT64_MAX - (1ull << 33);
		struct rows rows;

		make_begin(&m, 100000, false);
		for (unsigned i = 0; i < 100000; i++) {
			uint32_t depth = i % 1000 == 999 ? 300 : i % 7,
				 location = m.location[i / 3000 % 3];
			bool leave = i & 1, put = false;

			time += i % 5000 == 4999 ? 1 << 26 : i % 3 ? 40 : (uint64_t)-20;
			if (runs) {
				rows_open(&rows, &m.w);
				if (bits.block == rows.block ||
				    rows_bits(&rows, &m.w, m.lane, m.enter, m.leave, &bits))
					put = rows.block &&
					      rows_put(&rows, &bits, time, location, depth, leave);
				rows_close(&rows, &m.w);
			}
			if (!put)
				must(!writer_row(&m.w, time, m.lane, leave ? m.leave : m.enter,
						 location, depth),
				     "row");
		}
		b[runs] = make_end(&m);
		s[runs] = see(b[runs].data, b[runs].size);
	}
	ok(s[0].rows == 100000 && !s[0].errors && s[0].ends > 5, "rows one by one");
	ok(b[0].size == b[1].size && !memcmp(b[0].data, b[1].data, b[0].size), "and in runs");
	free(b[0].data);
	free(b[1].data);
}

/* Many large symbols on places that were declared already. */
static void test_symbols(void)
{
	struct maker m;
	struct blob b;
	struct seen s;
	uint32_t location[100];
	char *name = malloc(60000);

	memset(name, 'n', 60000);
	make_begin(&m, 0, false);
	for (unsigned i = 0; i < 100; i++) {
		location[i] = writer_location(&m.w, &(struct location_entry){0, 0, i, 0, 0});
		must(!writer_row(&m.w, i, m.lane, m.enter, location[i], 0), "row");
	}
	for (unsigned i = 0; i < 100; i++)
		must(!writer_symbol(&m.w, location[i],
				    &(struct symbol_entry){.name = name, .name_size = 60000 - i}),
		     "symbol");
	for (unsigned i = 0; i < 100; i++)
		must(!writer_row(&m.w, i, m.lane, m.enter, location[i], 0), "row");
	b = make_end(&m);
	s = see(b.data, b.size);
	ok(s.rows == 200 && !s.errors, "declarations of more than a block");
	free(b.data);
	free(name);
}

/* Mappings of a process come with a lane of it, in every segment, though no place needs them. */
static void test_lane_space(void)
{
	struct maker m;
	struct reader r;
	struct block bl;
	struct blob b;
	uint32_t space;
	int got, segments = 0;
	size_t found = 0;

	make_begin(&m, 1000, false);
	must(!writer_row(&m.w, 1, m.lane, m.enter, 0, 0), "row");
	space = writer_space(&m.w, &(struct space_entry){m.source, writer_text(&m.w, "7"), 7, 0});
	must(!writer_map(&m.w, &(struct map_entry){.space = space, .start = 1, .end = 2}), "map");
	ok(!writer_lane_space(&m.w, m.lane, space), "a lane that was sent gets a space");
	must(!writer_map(&m.w, &(struct map_entry){.space = space, .start = 2, .end = 3}), "map");
	for (unsigned i = 0; i < 1000; i++)
		must(!writer_row(&m.w, 1ull << 49 | (uint64_t)(i & 1) << 60, m.lane, m.enter, 0, 0),
		     "row");
	b = make_end(&m);
	must(!reader_open_fd(&r, fd_of(b.data, b.size), "made", NULL, 0), "reader");
	while ((got = reader_next(&r, &bl)) > 0)
		if (bl.kind == BLOCK_END) {
			const struct pool *spaces = &r.dictionary.spaces;
			const struct space *last = pool_at(spaces, spaces->count - 1);

			segments++;
			found += spaces->count > 1 && last->pid == 7 && last->nmaps == 2;
		}
	ok(!got && segments > 2 && (int)found == segments,
	   "all segments have it with its mappings");
	reader_close(&r);
	free(b.data);
}

static void test_crc(void)
{
	struct maker m;
	struct blob b;
	size_t at = MARKER_SIZE;
	bool all = true;

	make_begin(&m, 0, true);
	make_rows(&m, 0, 10);
	b = make_end(&m);
	for (; at < b.size; at += BLOCK_HEADER + get_u32(b.data + at + 8))
		if (!(get_u16(b.data + at + 6) & BLOCK_HAS_CRC) ||
		    get_u32(b.data + at) != BLOCK_SYNC)
			all = false;
	ok(all && at == b.size, "every block in a file has a checksum");
	free(b.data);
}

static void test_status(void)
{
	struct maker m;
	struct blob b;
	struct reader r;
	struct block bl;

	make_begin(&m, 0, false);
	make_rows(&m, 50, 5);
	writer_status(&m.w, 1, "first", NULL);
	writer_status(&m.w, 1, "second", NULL);
	b = make_end(&m);
	must(!reader_open_fd(&r, fd_of(b.data, b.size), "made", NULL, 0), "reader");
	while (reader_next(&r, &bl) > 0)
		;
	is_u64(r.end.events, 5, "END counts events");
	is_u64(r.end.gaps, 1, "and gaps");
	is_u64(r.end.lost, 4, "and what was lost");
	is_u64(r.end.first, 50, "knows the first time");
	is_u64(r.end.last, 450, "and the last");
	is_u64(r.end.status, 1, "and the status");
	is_str(r.end.message.text, "first", "with the first message");
	is_u64(r.end.flags, END_LAST, "it is the last");
	reader_close(&r);
	free(b.data);
}

int main(void)
{
	alarm(100);
	test_round_trip(true);
	test_round_trip(false);
	test_depth_and_time();
	test_widen_keeps_rows();
	test_widen_without_room();
	test_sparse();
	test_many("300 lanes", 300, 1, 1);
	test_many("300 types", 1, 300, 1);
	test_many("70000 places", 1, 1, 70000);
	test_many("70000 lanes and types", 70000, 66000, 300);
	test_tails();
	test_huge(1 << 20);
	test_huge(100 << 20);
	test_too_large();
	test_rows();
	test_symbols();
	test_lane_space();
	test_crc();
	test_status();
	return done();
}
