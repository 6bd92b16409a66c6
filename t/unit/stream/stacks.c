/* Stacks and samples: what the writer makes is what the reader gives back, in each segment. */
#include "t/unit/stream.h"

#include "common/util/stack_limit.h"

static uint32_t sample_type(struct maker *m, uint32_t fixed)
{
	struct field_entry period = {.name = writer_text(&m->w, "period"),
				     .kind = FIELD_UINT,
				     .role = ROLE_PERIOD,
				     .size = 8};
	struct type_entry t = {.source = m->source,
			       .name = writer_text(&m->w, "cycles"),
			       .kind = KIND_SAMPLE,
			       .fixed_size = fixed,
			       .nfields = fixed ? 1 : 0,
			       .fields = &period,
			       .weight = 9};

	return writer_type(&m->w, &t);
}

static uint32_t place(struct maker *m, uint32_t i)
{
	return writer_location(&m->w, &(struct location_entry){.address = i});
}

/* A sample with the weight time, and a call between the samples. */
static void put(struct maker *m, uint32_t type, uint64_t time, uint32_t stack, bool varies)
{
	uint8_t weight[8];

	put_u64(weight, time);
	must(!writer_sample(&m->w, (struct new_row){.time = time,
						    .lane = m->lane,
						    .type = type,
						    .location = stack,
						    .fixed = varies ? weight : NULL,
						    .fixed_size = varies ? 8 : 0}),
	     "sample");
	if (time % 3 == 0)
		must(!writer_row(&m->w, time, m->lane, time % 2 ? m->enter : m->leave,
				 m->location[1], 0),
		     "row");
}

/* The sum over the frames of a stack: each is an address times its number from the innermost on. */
static uint64_t sum_of(const struct dictionary *d, uint32_t stack)
{
	uint64_t sum = 0, n = 1;

	for (; stack; stack = dictionary_stack_parent(d, stack), n++)
		sum += n * dictionary_location(d, dictionary_stack_location(d, stack))->address;
	return sum;
}

/* Count the stacks that a DICT declares; false: one is declared twice, or before its parent. */
static bool declared_once(const struct block *b, struct idmap *seen, unsigned *stacks)
{
	struct raw_entry e;

	for (size_t at = 0; entry_next(b->payload, b->length, &at, &e) > 0;) {
		uint32_t parent;

		if (e.kind != ENTRY_STACK)
			continue;
		parent = get_u32(e.data);
		if (idmap_get(seen, e.id) || (parent && !idmap_get(seen, parent)))
			return false;
		must(!idmap_set(seen, e.id, 1), "map");
		++*stacks;
	}
	return true;
}

static void test_segments(uint64_t limit, bool varies, unsigned step)
{
	struct idmap seen = {0};
	unsigned stacks = 0, segments = 0, calls = 0;
	uint32_t ids[200] = {0}, type;
	uint64_t want[200] = {0}, at = 1000;
	bool once = true, same = true;
	struct reader r;
	struct maker m;
	struct block b;
	struct blob made;

	make_begin(&m, limit, true);
	type = sample_type(&m, varies ? 8 : 0);
	for (uint32_t i = 1; i < 200; i++) {
		uint32_t location = place(&m, i), parent = ids[i / 2], chain[16];
		size_t n = 0;

		ids[i] = writer_stack(&m.w, parent, location);
		must(ids[i] && ids[i] == writer_stack(&m.w, parent, location), "the same stack");
		for (uint32_t j = i, k = 1; j; j /= 2, k++) {
			want[i] += (uint64_t)k * j;
			chain[n++] = m.location[2] + j;
		}
		must(writer_stack_of(&m.w, chain, n) == ids[i], "the same stack as a chain");
	}
	for (unsigned i = 0; i < 20000; i++)
		put(&m, type, 1000 + (uint64_t)i * step, ids[i % 200], varies);
	made = make_end(&m);
	must(!reader_open_fd(&r, fd_of(made.data, made.size), "made", NULL, 0), "reader");
	while (reader_next(&r, &b) > 0) {
		struct events it;
		struct event ev;

		if (b.kind == BLOCK_HEAD) {
			idmap_clear(&seen);
			segments++;
		}
		if (b.kind == BLOCK_DICT)
			once &= declared_once(&b, &seen, &stacks);
		for (events_begin(&it, &b); b.kind == BLOCK_EVENTS && event_next(&it, &ev);) {
			if (ev.type->kind != KIND_SAMPLE) {
				calls += ev.location &&
					 dictionary_location(&r.dictionary, ev.location)->address ==
						 0x401000;
				continue;
			}
			same &= ev.time == at &&
				sum_of(&r.dictionary, ev.stack) ==
					want[(ev.time - 1000) / step % 200] &&
				sample_weight(&ev) == (varies ? at : 9) &&
				ev.location == dictionary_stack_location(&r.dictionary, ev.stack);
			at += step;
		}
	}
	ok(same && at == 1000 + 20000 * (uint64_t)step, "samples with their stacks and weights");
	is_u64(calls, 6666, "calls between them");
	ok(once, "stacks are declared once in a segment, after their callers");
	ok(limit ? segments > 3 : segments == 1, "segments");
	is_u64(stacks, 199 * segments, "all of them in each segment");
	is_u64(stack_table_count(&r.dictionary.stacks), 199, "and one number for each");
	reader_close(&r);
	idmap_free(&seen);
	free(made.data);
}

/* More frames than a stack may have, as a writer and as a hostile stream. */
static void test_deep(void)
{
	enum { FRAMES = STACK_FRAMES_MOST + 100 };
	uint32_t *locations = calloc(FRAMES, sizeof *locations), stack, type;
	struct dictionary d;
	struct buffer dict = {0};
	struct error e;
	struct maker m;
	struct seen s;
	struct blob b;
	size_t where;

	must(locations, "memory");
	make_begin(&m, 0, false);
	type = sample_type(&m, 0);
	for (size_t i = 0; i < FRAMES; i++)
		locations[i] = m.location[1 + i % 2];
	stack = writer_stack_of(&m.w, locations, FRAMES);
	is_u64(stack_table_at(&m.w.stacks.table, stack).frames, STACK_FRAMES_MOST,
	       "a stack that is too deep is cut");
	is_u64(stack_table_at(&m.w.stacks.table, stack_table_at(&m.w.stacks.table, stack).limited)
		       .frames,
	       STACK_FRAMES + 1, "formats write so many of its frames");
	is_u64(writer_stack(&m.w, stack, locations[0]), stack, "and takes no more frames");
	put(&m, type, 1000, stack, false);
	b = make_end(&m);
	s = see(b.data, b.size);
	is_u64(s.errors, 0, "a deep stack can be read");
	free(b.data);
	free(locations);

	must(!dictionary_init(&d), "dictionary");
	dictionary_segment(&d, true);
	for (uint32_t i = 1; i <= STACK_FRAMES_MOST + 2; i++)
		must(!entry_append_content(&dict, ENTRY_STACK, i, &(struct stack_entry){i - 1, 0}),
		     "entry");
	ok(dictionary_read(&d, dict.data, dict.size, &where, &e), "a stack too deep");
	is_str(e.what, "a dictionary entry with a stack of too many frames", "is reported");
	is_u64(where, STACK_FRAMES_MOST * 24ull, "is the first that is too deep");
	is_u64(dictionary_stack_frames(&d, dictionary_stack_id(&d, STACK_FRAMES_MOST)),
	       STACK_FRAMES_MOST, "the one before is used");
	is_u64(dictionary_stack_id(&d, STACK_FRAMES_MOST + 1), 0, "and none after it");
	is_u64(dictionary_stack_frames(&d, dictionary_stack_id(&d, STACK_FRAMES_MOST + 2)), 1,
	       "but the caller of the next is not declared");
	dictionary_free(&d);
	buffer_free(&dict);
}

/* More stacks than a block may name. */
static void test_many(void)
{
	enum { STACKS = 70000 };
	struct maker m;
	struct reader r;
	struct block b;
	struct blob made;
	uint32_t type;
	uint64_t n = 0;
	bool same = true;

	make_begin(&m, 0, false);
	type = sample_type(&m, 0);
	for (uint32_t i = 0; i < STACKS; i++)
		put(&m, type, 1 + 3 * (uint64_t)i, writer_stack(&m.w, 0, place(&m, i)), false);
	made = make_end(&m);
	must(!reader_open_fd(&r, fd_of(made.data, made.size), "made", NULL, 0), "reader");
	while (reader_next(&r, &b) > 0) {
		struct events it;
		struct event ev;

		for (events_begin(&it, &b); b.kind == BLOCK_EVENTS && event_next(&it, &ev); n++)
			same &= dictionary_location(&r.dictionary, ev.location)->address == n;
	}
	ok(same && n == STACKS, "70000 stacks");
	reader_close(&r);
	free(made.data);
}

int main(void)
{
	alarm(100);
	test_segments(0, false, 1);
	test_segments(0, true, 1);
	test_segments(50000, true, 1);
	test_segments(50000, false, 10000000);
	test_deep();
	test_many();
	return done();
}
