/* links: cmd/trfilter */
/* The fast way of conditions on durations gives what the general one gives, on rough streams too.
 */
#include "t/unit/filter_run.h"

/*
 * Calm stretches, in which calls follow one another as they should, and between them whatever a
 * stream may hold: depths that jump, leaves of nothing, a clock that steps back, callees without a
 * depth, a second lane of a thread. Short blocks.
 */
static void make_rough(const char *path, uint32_t seed)
{
	unsigned depth[LANES] = {0, 3}, calm = 0;
	struct type_entry inner = {.kind = KIND_ENTER, .flags = TYPE_INNER};
	uint32_t lanes[LANES + 1], pause[2];
	uint64_t time = 100000;
	struct output output;
	struct writer w;
	struct error e;
	struct ids ids;

	output_open(&output, path, OUTPUT_BINARY, &e);
	writer_init(&w, &output, 0);
	writer_begin(&w, seed);
	declare(&w, &ids);
	inner.name = writer_text(&w, "schedule");
	pause[0] = writer_type(&w, &inner);
	inner.kind = KIND_LEAVE;
	pause[1] = writer_type(&w, &inner);
	for (int i = 0; i <= LANES; i++)
		lanes[i] = ids.lane[i % LANES];
	if (seed & 1)
		lanes[LANES] = writer_lane(&w, &(struct lane_entry){ids.source, ids.clock, 0,
								    writer_text(&w, "c"),
								    LANE_HAS_TID, 0, 10, 10, 1});
	for (int i = 0; i < ROWS / 10; i++) {
		uint32_t x = next(&seed), l = x >> 5 & 1,
			 lane = x >> 25 & 1 ? lanes[l] : lanes[l ? l : LANES],
			 location = ids.location[x >> 8 & 3];

		time += x >> 16 & 15;
		if (!(x >> 9 & 127))
			writer_flush(&w);
		if (calm ? calm-- : x >> 24 & 7) {
			bool leave = depth[l] && (depth[l] > 12 || x & 4);

			depth[l] -= leave;
			writer_row(&w, time, lane, leave ? ids.leave : ids.enter, location,
				   depth[l]);
			depth[l] += !leave;
			continue;
		}
		switch (x >> 27) {
		case 0: time -= x >> 12 & 255; break;
		case 1:
		case 2: writer_row(&w, time, lane, pause[x & 1], 0, 0); break;
		case 3: depth[l] += x & 3; break;
		case 4: depth[l] -= depth[l] < (x & 3) ? depth[l] : x & 3; break;
		case 5: writer_row(&w, time, lane, ids.leave, location, x & 15); break;
		case 6: writer_row(&w, time, lane, ids.enter, location, x & 15); break;
		case 7:
			writer_row_data(&w, (struct new_row){.time = time,
							     .lane = lane,
							     .type = ids.instant,
							     .fixed = &x,
							     .fixed_size = 4});
			break;
		default: calm = x >> 12 & 255;
		}
	}
	writer_finish(&w);
	output_close(&output, 0, &e);
	writer_free(&w);
}

static struct list one, other;

/* Conditions for the fast way, with another part that is always true and that it cannot take. */
static void both(const char *what, uint32_t seed)
{
	static const char *const quick[] = {"dur > 40",
					    "dur > 300",
					    "dur > 2000",
					    "dur >= 100 && dur < 110",
					    "dur > 150 && name == 'f1'",
					    "dur > 60 && tid == 10"};
	char path[100], general[100], title[100];

	snprintf(path, sizeof path, "%s/in", dir);
	for (size_t i = 0; i < sizeof quick / sizeof *quick; i++) {
		uint64_t n, m;

		snprintf(general, sizeof general, "%s && depth >= 0", quick[i]);
		n = run(path, quick[i], (struct how){.memory = NEVER}, in_dir("one"));
		m = run(path, general, (struct how){.memory = NEVER}, in_dir("other"));
		read_rows(in_dir("one"), &one);
		read_rows(in_dir("other"), &other);
		snprintf(title, sizeof title, "%s, seed %u: %s in both ways", what, seed, quick[i]);
		ok(n == m && n && same(&one, &other), title);
	}
}

int main(void)
{
	char command[200], path[100];

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof path, "%s/in", dir);
	for (uint32_t seed = 10; seed < 40; seed++) {
		make_rough(path, seed);
		both("rough", seed);
	}
	for (uint32_t seed = 50; seed < 54; seed++) {
		make(path, seed & 1, seed);
		both(seed & 1 ? "calls" : "all sorts", seed);
	}
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command) ? 1 : done();
}
