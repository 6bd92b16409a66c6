/* Pairs of events: requests of a block device, more of them than may wait. */
/* links: cmd/trstat */
#include "t/unit/stream.h"

#include "cmd/trstat/statistics.h"

enum { REQUESTS = 3 * PAIR_LIMIT };

static uint32_t request_type(struct maker *m, const char *name)
{
	struct writer *w = &m->w;
	struct field_entry fields[] = {
		{writer_text(w, "dev"), 0, FIELD_UINT, ROLE_NONE, WHERE_FIXED, 0, 4, 0, 0},
		{writer_text(w, "sector"), 0, FIELD_UINT, ROLE_NONE, WHERE_FIXED, 4, 4, 0, 0},
	};

	return writer_type(w, &(struct type_entry){.source = m->source,
						   .name = writer_text(w, name),
						   .group = writer_text(w, "block"),
						   .kind = KIND_INSTANT,
						   .fixed_size = 8,
						   .nfields = 2,
						   .fields = fields});
}

static void put_request(struct maker *m, uint32_t type, uint64_t t, uint32_t dev, uint32_t sector)
{
	uint8_t fixed[8];

	put_u32(fixed, dev);
	put_u32(fixed + 4, sector);
	must(!writer_row_data(&m->w, (struct new_row){.time = t,
						      .lane = m->lane,
						      .type = type,
						      .fixed = fixed,
						      .fixed_size = 8}),
	     "row");
}

/* All are issued, one a microsecond; then all are completed, the last one first. */
static struct blob requests(void)
{
	struct maker m;
	uint32_t issue, complete;

	make_begin(&m, 0, false);
	issue = request_type(&m, "block_rq_issue");
	complete = request_type(&m, "block_rq_complete");
	for (uint32_t i = 0; i < REQUESTS; i++)
		put_request(&m, issue, 1000 * (uint64_t)i, 8, i);
	put_request(&m, complete, 1000 * (uint64_t)REQUESTS, 9, REQUESTS - 1);
	for (uint32_t i = REQUESTS; i-- > 0;)
		put_request(&m, complete, 1000 * (uint64_t)(2 * REQUESTS - i), 8, i);
	/* one that comes twice, and one that ends when it began */
	put_request(&m, issue, 9000000000, 7, 1);
	put_request(&m, issue, 9000000010, 7, 1);
	put_request(&m, complete, 9000000010, 7, 1);
	put_request(&m, issue, 9000000020, 7, 2);
	return make_end(&m);
}

static void test_block(void)
{
	struct blob b = requests();
	struct keys keys = {0};
	struct columns columns = {0};
	struct statistics st;
	struct pair pair;
	struct reader r;
	struct block block;
	struct error e;
	const struct aggregate *a;
	int128 sum = 0;

	must(!pair_parse(&pair, "block", &e) && !keys_parse(&keys, pair.preset->keys, &e) &&
		     !columns_parse(&columns, "count,p50", &e),
	     "parse");
	must(!reader_open_fd(&r, fd_of(b.data, b.size), "made", NULL, 0), "reader");
	must(!statistics_init(&st, &keys, &columns, &r.dictionary) && !statistics_pair(&st, &pair),
	     "statistics");
	while (reader_next(&r, &block) > 0)
		if (block.kind == BLOCK_EVENTS)
			must(!statistics_block(&st, &block), "rows");
	must(!statistics_finish(&st), "finish");

	/* of request i, issued at i us: 2 * REQUESTS - 2 * i us */
	for (uint64_t i = REQUESTS - PAIR_LIMIT; i < REQUESTS; i++)
		sum += 1000 * (2 * REQUESTS - 2 * i);
	is_u64(st.groups.count, 2, "a group for each device");
	a = groups_at(&st.groups, 0);
	is_u64(groups_cells(&st.groups, a)[0].value, 8, "its number");
	is_u64(a->calls, PAIR_LIMIT, "pairs of those that could wait");
	ok(a->total == sum && a->self == sum, "their times");
	is_u64(a->total_min, 2000, "the shortest");
	is_u64(pair.forgotten, REQUESTS - PAIR_LIMIT, "those that gave way");
	is_u64(pair.ended, REQUESTS - PAIR_LIMIT + 1, "ends without a beginning");
	is_u64(pair.replaced, 1, "one that came again");
	is_u64(pair_pending(&pair), 1, "one that has no end");
	ok(groups_at(&st.groups, 1)->total == 0, "a pair of no time, from the later beginning");
	ok(pair.pending.count <= 2 * PAIR_LIMIT, "memory is bounded");
	statistics_free(&st);
	pair_free(&pair);
	columns_free(&columns);
	keys_free(&keys);
	reader_close(&r);
	free(b.data);
}

int main(void)
{
	test_block();
	return done();
}
