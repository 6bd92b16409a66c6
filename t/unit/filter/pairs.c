/* links: cmd/trfilter */
/*
 * Conditions on functions where leaves may have another place than their enters: each call is kept
 * whole or not at all, by its enter, in all ways that blocks are gone through.
 */
#include "cmd/trfilter/run.h"

#include "t/unit/filter_streams.h"

enum { MOST = 9000, DEEP = 60 };

/* What a stream holds. Times are distinct, so they identify rows. */
struct row {
	uint64_t time;
	uint32_t thread, depth, location; /* place 0 to 4: f0 to f4; else 9 */
	uint8_t kind;
	bool inner, plain; /* without a depth: scheduled out; a call */
	int partner;	   /* the other row of the call, -1 none */
};

static struct row rows[MOST];
static int nrows;

static void note(uint64_t time, uint32_t thread, uint8_t kind, uint32_t location, uint32_t depth)
{
	rows[nrows++] = (struct row){time, thread, depth, location, kind, location == 9, false, -1};
}

/* The open calls of a thread: their rows, -1 for calls that were open before its first row. */
struct model {
	int row[MOST];
	uint32_t depth[MOST];
	int n, outside[MOST], noutside; /* outside: scheduled out outside of any call */
	bool started;
};

static void model_push(struct model *m, int row, uint32_t depth)
{
	m->row[m->n] = row;
	m->depth[m->n++] = depth;
}

/* As trstream(5) says: stacks follow the recorded depth. Returns the row of the enter, -1 none. */
static int model_row(struct model *m, const struct row *r, int i)
{
	bool recorded = !r->inner && !r->plain, enter = r->kind == KIND_ENTER;
	uint32_t depth = recorded ? r->depth : m->n ? m->depth[m->n - 1] + 1 : 0;

	if (r->inner && enter && !m->n) {
		m->outside[m->noutside++] = i;
		return -1;
	}
	if (r->inner && !enter && (!m->n || m->row[m->n - 1] < 0 || !rows[m->row[m->n - 1]].inner))
		return m->noutside ? m->outside[--m->noutside] : -1;
	if (!r->inner)
		m->noutside = 0;
	for (uint32_t d = 0; recorded && !m->started && d < depth + !enter; d++)
		model_push(m, -1, d);
	m->started |= !r->inner && (enter || recorded);
	if (enter) {
		while (recorded && m->n && m->depth[m->n - 1] >= depth)
			m->n--;
		model_push(m, i, depth);
		return -1;
	}
	while (m->n && (recorded    ? m->depth[m->n - 1] > depth
			: !r->inner ? m->row[m->n - 1] >= 0 && rows[m->row[m->n - 1]].inner
				    : false))
		m->n--;
	if (!m->n || (recorded && m->depth[m->n - 1] != depth))
		return -1;
	return m->row[--m->n];
}

static void pair_up(void)
{
	static struct model models[2];

	models[0] = models[1] = (struct model){.n = 0};
	for (int i = 0; i < nrows; i++) {
		struct row *r = &rows[i];

		if (r->kind != KIND_ENTER && r->kind != KIND_LEAVE)
			continue;
		r->partner = model_row(&models[r->thread], r, i);
		if (r->partner >= 0)
			rows[r->partner].partner = i;
	}
}

/* How a stream is made. */
struct style {
	unsigned odd;	/* one leave in so many has a place of its own; 0 none */
	unsigned jumps; /* one row in so many goes to another depth */
	unsigned other; /* one in so many is no plain call */
	unsigned block; /* rows between flushes, about */
	bool rare;	/* f1 to f4 are */
	bool two_lanes; /* of one thread */
};

static void make_pairs(const char *path, const struct style *y, uint32_t seed)
{
	unsigned depth[2] = {0, 3}, location[2][DEEP + 8] = {{0}};
	struct type_entry inner = {.kind = KIND_ENTER, .flags = TYPE_INNER};
	struct type_entry call = {.kind = KIND_ENTER};
	uint32_t lanes[3], pause[2], calls[2];
	uint64_t time = 1000;
	struct output output;
	struct writer w;
	struct error e;
	struct ids ids;

	output_open(&output, path, OUTPUT_BINARY, &e);
	writer_init(&w, &output, 0);
	w.crc = seed & 1;
	writer_begin(&w, seed);
	declare(&w, &ids);
	inner.name = writer_text(&w, "pause");
	pause[0] = writer_type(&w, &inner);
	inner.kind = KIND_LEAVE;
	pause[1] = writer_type(&w, &inner);
	call.name = writer_text(&w, "call");
	calls[0] = writer_type(&w, &call);
	call.kind = KIND_LEAVE;
	calls[1] = writer_type(&w, &call);
	lanes[0] = ids.lane[0];
	lanes[1] = ids.lane[1];
	lanes[2] =
		writer_lane(&w, &(struct lane_entry){ids.source, ids.clock, 0, writer_text(&w, "c"),
						     LANE_HAS_TID, 0, 10, 10, 1});
	for (nrows = 0; nrows < MOST;) {
		uint32_t x = next(&seed), t = (x >> 4 & 15) < 3, lane = lanes[t], d;
		bool leave;

		if (y->two_lanes && !t && x >> 27 & 1)
			lane = lanes[2];
		time += 1 + (x >> 8 & 7);
		if (!(next(&seed) % y->block))
			writer_flush(&w);
		if (!(next(&seed) % y->jumps)) {
			/* leaves whose enters are not there */
			depth[t] = next(&seed) % 6;
			location[t][next(&seed) % 6] = next(&seed) % LOCATIONS;
		}
		if (y->other && !(next(&seed) % y->other)) {
			uint32_t which = next(&seed) % 6;

			if (which > 3 && y->jumps > 20 && !y->two_lanes) {
				uint32_t f = next(&seed) % LOCATIONS;

				writer_row(&w, time, lane, calls[which - 4], ids.location[f], 0);
				note(time, t, which - 4 ? KIND_LEAVE : KIND_ENTER, f, 0);
				rows[nrows - 1].plain = true;
			} else if (which < 2) {
				writer_row(&w, time, lane, pause[which], 0, 0);
				note(time, t, which ? KIND_LEAVE : KIND_ENTER, 9, 0);
			} else {
				writer_row_data(&w, (struct new_row){.time = time,
								     .lane = lane,
								     .type = ids.instant,
								     .fixed = &x,
								     .fixed_size = 4});
				note(time, t, KIND_INSTANT, 9, 0);
			}
			continue;
		}
		leave = depth[t] && (depth[t] == DEEP || x >> 12 & 1);
		depth[t] -= leave;
		d = depth[t];
		if (!leave)
			location[t][d] = y->rare && next(&seed) % 300 ? 0 : next(&seed) % LOCATIONS;
		else if (y->odd && !(next(&seed) % y->odd))
			location[t][d] = next(&seed) % LOCATIONS;
		else if (y->rare && y->odd && x >> 28 & 1)
			location[t][d] = 0;
		writer_row(&w, time, lane, leave ? ids.leave : ids.enter,
			   ids.location[location[t][d]], d);
		note(time, t, leave ? KIND_LEAVE : KIND_ENTER, location[t][d], d);
		depth[t] += !leave;
	}
	writer_finish(&w);
	output_close(&output, 0, &e);
	writer_free(&w);
	pair_up();
}

/* A condition over a file. Returns how many events matched. */
static uint64_t run(const char *from, const char *expression, bool invert, const char *to)
{
	struct common_options common = {.output = to, .quiet = true};
	char *paths[] = {(char *)from}, *argv[] = {(char *)"trfilter", NULL};
	struct select select = {.invert = invert};
	struct filter f;
	struct emit_rows x = {0};
	struct stage s;
	struct block b;
	struct error e;

	if (filter_compile(&f, expression, &e))
		printf("# %s: %s\n", expression, e.what);
	select.filter = &f;
	if (!stage_open(&s, paths, 1, &common) && !stage_create(&s, 1, argv)) {
		s.in.rows_on_demand = true;
		f.evaluation.dictionary = &s.in.dictionary;
		emit_rows_init(&x, &s, &select);
		while (stage_next(&s, &b))
			if (b.kind == BLOCK_EVENTS && emit_block(&x, &b))
				break;
	}
	if (stage_finish(&s))
		printf("# %s: failed\n", expression);
	emit_rows_free(&x);
	select_free(&select);
	filter_free(&f);
	return rows_in(to);
}

/* Which rows of the stream are in a file. false: it has others. */
static bool find_kept(const char *path, bool *kept)
{
	char *paths[] = {(char *)path};
	struct reader r;
	struct events it;
	struct event e;
	struct block b;
	bool good = true;
	int got, i = 0;

	memset(kept, 0, MOST);
	reader_open(&r, paths, 1);
	while ((got = reader_next(&r, &b))) {
		good &= got > 0;
		if (got < 0 || b.kind != BLOCK_EVENTS)
			continue;
		for (events_begin(&it, &b); event_next(&it, &e);) {
			if (e.type->kind == KIND_DROP)
				continue;
			while (i < nrows && rows[i].time != e.time)
				i++;
			if (i == nrows)
				break;
			kept[i++] = true;
			good &= e.time >= b.base && e.time <= b.last;
		}
		good &= i < nrows || it.row == it.end;
	}
	reader_close(&r);
	return good;
}

static bool one[MOST], other[MOST];

/* name == f: by the enter where there is one. */
static void by_name(const char *from, const char *what)
{
	char text[40], title[200];

	for (uint32_t f = 0; f < LOCATIONS; f++) {
		uint64_t n, m, wanted = 0;
		bool good;

		snprintf(text, sizeof text, "name == 'f%u'", f);
		n = run(from, text, false, in_dir("one"));
		m = run(from, text, true, in_dir("other"));
		good = find_kept(in_dir("one"), one) && find_kept(in_dir("other"), other) &&
		       n + m == (uint64_t)nrows;
		for (int i = 0; i < nrows; i++) {
			const struct row *r = &rows[i];
			bool keep = r->location == f;

			if (r->kind == KIND_LEAVE && r->partner >= 0)
				keep = rows[r->partner].location == f;
			wanted += keep;
			good &= one[i] == keep && other[i] == !keep;
		}
		snprintf(title, sizeof title, "%s: %s keeps whole calls", what, text);
		ok(good && n == wanted, title);
	}
}

static const char *const conditions[] = {
	"name == 'f3'",
	"name != 'f3'",
	"name =~ '[02]'",
	"module == 'l.so'",
	"group == 'uftrace'",
	"tid == 10",
	"comm == 'a'",
	"address >= 0x1002 && tid == 10",
	"name != 'pause'",
	"kind != leave",
	"name == 'f1' || tid == 11",
	"name == 'f0'",
};

enum { CONDITIONS = sizeof conditions / sizeof *conditions };

/* Conditions of several parts, in which something is asked of each row, and without that. */
static void joined(const char *from, const char *what, size_t seed)
{
	char fast[300], slow[400], title[500];

	for (size_t i = 0; i < CONDITIONS; i++)
		for (size_t k = 0; k < CONDITIONS; k++) {
			uint64_t n, m;
			bool good;

			if ((7 * i + k) % 6 != seed % 6)
				continue;
			snprintf(fast, sizeof fast, "(%s) && (%s)", conditions[i], conditions[k]);
			n = run(from, fast, false, in_dir("one"));
			m = run(from, fast, true, in_dir("other"));
			good = find_kept(in_dir("one"), one) && find_kept(in_dir("other"), other) &&
			       n + m == (uint64_t)nrows;
			for (int r = 0; r < nrows; r++)
				good &= one[r] != other[r];
			snprintf(slow, sizeof slow, "depth < 100000 && (%s) && (%s)", conditions[i],
				 conditions[k]);
			good &= run(from, slow, false, in_dir("other")) == n &&
				find_kept(in_dir("other"), other) &&
				!memcmp(one, other, sizeof one);
			run(from, conditions[i], false, in_dir("both"));
			good &= run(in_dir("both"), conditions[k], false, in_dir("other")) == n &&
				find_kept(in_dir("other"), other) &&
				!memcmp(one, other, sizeof one);
			snprintf(title, sizeof title,
				 "%s: %s: as row by row, in two passes, and inverted", what, fast);
			if (!good)
				ok(good, title);
		}
	snprintf(title, sizeof title, "%s: two conditions in all ways", what);
	ok(true, title);
}

int main(void)
{
	static const struct style styles[] = {
		{.odd = 0, .jumps = 1000000, .other = 0, .block = 1000000},
		{.odd = 0, .jumps = 3000, .other = 0, .block = 2000},
		{.odd = 400, .jumps = 3000, .other = 0, .block = 500},
		{.odd = 100, .jumps = 100, .other = 300, .block = 100},
		{.odd = 400, .jumps = 3000, .other = 0, .block = 300, .rare = true},
		{.odd = 2000, .jumps = 1000000, .other = 0, .block = 300, .rare = true},
		{.odd = 300, .jumps = 300, .other = 200, .block = 1000, .rare = true},
		{.odd = 20, .jumps = 20, .other = 20, .block = 60},
		{.odd = 0, .jumps = 30, .other = 0, .block = 60, .rare = true},
		{.odd = 20, .jumps = 50, .other = 0, .block = 100, .two_lanes = true},
		{.odd = 300,
		 .jumps = 50,
		 .other = 300,
		 .block = 100,
		 .rare = true,
		 .two_lanes = true},
	};
	char command[200], path[100], what[40];

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof path, "%s/in", dir);
	for (uint32_t i = 0; i < 2 * sizeof styles / sizeof *styles; i++) {
		make_pairs(path, &styles[i / 2], 77 + i);
		snprintf(what, sizeof what, "style %u, seed %u", i / 2, 77 + i);
		by_name(path, what);
		joined(path, what, i);
	}
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command) ? 1 : done();
}
