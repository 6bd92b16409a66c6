/* dictionary.h: every kind of entry from the writer's hands to the dictionary's. */
#include "t/unit/stream.h"

/* An entry whose content is u32s. */
static void add(struct buffer *b, uint32_t kind, uint32_t id, const uint32_t *content, uint32_t n)
{
	must(!buffer_u32(b, kind) && !buffer_u32(b, 4 * n) && !buffer_u32(b, id) &&
		     !buffer_u32(b, 0),
	     "entry");
	for (uint32_t i = 0; i < n; i++)
		must(!buffer_u32(b, content[i]), "entry");
	must(!buffer_align(b, 8), "entry");
}

static void add_text(struct buffer *b, uint32_t id, const char *text)
{
	uint32_t n = (uint32_t)strlen(text);

	must(!buffer_u32(b, ENTRY_STRING) && !buffer_u32(b, n) && !buffer_u32(b, id) &&
		     !buffer_u32(b, 0) && !buffer_append(b, text, n) && !buffer_align(b, 8),
	     "string");
}

static int take(struct dictionary *d, struct buffer *b, size_t *where, struct error *e)
{
	int result = dictionary_read(d, b->data, b->size, where, e);

	b->size = 0;
	return result;
}

#define ADD(b, kind, id, ...)                                                                      \
	add(b, kind, id, (const uint32_t[]){__VA_ARGS__},                                          \
	    sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void test_writers_entries(void)
{
	struct maker m;
	struct blob b;
	struct reader r;
	struct block bl;
	const struct dictionary *d = &r.dictionary;
	bool lane = false, location = false, space = false, note = false;

	make_begin(&m, 0, false);
	make_rows(&m, 0, 20);
	b = make_end(&m);
	must(!reader_open_fd(&r, fd_of(b.data, b.size), "made", NULL, 0), "reader");
	while (reader_next(&r, &bl) > 0)
		;
	for (uint32_t i = 1; i < d->lanes.count; i++) {
		const struct lane *l = dictionary_lane(d, i);

		if (l->tid == 77)
			lane = l->pid == 76 && l->ppid == 1 && !strcmp(l->comm.text, "cat") &&
			       l->flags == (LANE_HAS_TID | LANE_HAS_PID) && l->number == i &&
			       !strcmp(l->source->format.text, "uftrace") &&
			       l->source->word_size == 8 && l->clock->wall == -5 &&
			       l->clock->flags == CLOCK_HAS_WALL && l->thread;
	}
	ok(lane, "lane, source and clock");
	for (uint32_t i = 1; i < d->locations.count; i++) {
		const struct location *p = dictionary_location(d, i);

		if (p->address == 0x401000) {
			location = p->symbol && !strcmp(p->symbol->name.text, "main") &&
				   !strcmp(p->symbol->module.text, "/bin/cat") &&
				   !strcmp(p->symbol->file.text, "cat.c") &&
				   p->symbol->line == 12 && p->symbol->start == 0x401000 &&
				   p->symbol->size == 64;
			space = p->space->nmaps == 1 && p->space->pid == 76 &&
				!strcmp(p->space->name.text, "1a2b") &&
				p->space->maps[0].end == 0x500000 &&
				!strcmp(p->space->maps[0].build_id.text, "abcd");
			is_str(dictionary_location_name(&r.dictionary, i).text, "main", "its name");
		}
	}
	ok(location, "place and symbol");
	ok(space, "space and map");
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		if (!strcmp(t->name.text, "note"))
			note = t->nfields == 3 && t->fixed_size == 8 && t->flags == TYPE_TAIL &&
			       !strcmp(t->declaration.text, "field: note") &&
			       t->fields[0].role == ROLE_CPU && t->fields[1].count == 2 &&
			       t->fields[1].offset == 4 && t->fields[2].where == WHERE_REST &&
			       !strcmp(t->fields[2].name.text, "text") && t->source;
	}
	ok(note, "type and fields");
	const struct definition *def = NULL;

	for (uint32_t i = 1; i < d->definitions.count; i++)
		if (!strcmp(dictionary_definition(d, i)->name.text, "colour"))
			def = dictionary_definition(d, i);
	ok(def && def->count == 3 && def->kind == DEFINITION_ENUM &&
		   !strcmp(def->members[1].name.text, "BLUE") &&
		   (int64_t)def->members[1].low == -2 && (int64_t)def->members[1].high == -2 &&
		   (int64_t)def->members[2].low == -3 && def->members[2].high == 1,
	   "definition");
	reader_close(&r);
	free(b.data);
}

static void test_identity(void)
{
	struct dictionary d;
	struct buffer b = {0};
	struct error e;
	size_t where;
	uint32_t first, source;

	must(!dictionary_init(&d), "dictionary");
	dictionary_segment(&d, true);
	add_text(&b, 5, "cat");
	ADD(&b, ENTRY_SOURCE, 1, 0, 5, 8, 0);
	ADD(&b, ENTRY_LANE, 3, 1, 0, 0, 5, LANE_HAS_TID, 0, 9, 0, 0, 0);
	ADD(&b, ENTRY_LANE, 4, 1, 0, 0, 5, LANE_HAS_TID, 0, 9, 0, 0, 0);
	ADD(&b, ENTRY_LANE, 5, 1, 0, 0, 0, LANE_HAS_TID, 0, 9, 0, 0, 0);
	ok(!take(&d, &b, &where, &e) && !d.redeclared, "entries");
	first = idmap_get(&d.ids[ENTRY_LANE], 3);
	source = idmap_get(&d.ids[ENTRY_SOURCE], 1);
	is_u64(idmap_get(&d.ids[ENTRY_LANE], 4), first, "the same content is the same lane");
	ok(idmap_get(&d.ids[ENTRY_LANE], 5) != first, "another comm is another lane");
	is_u64(dictionary_lane(&d, idmap_get(&d.ids[ENTRY_LANE], 5))->thread,
	       dictionary_lane(&d, first)->thread, "of the same thread");
	dictionary_segment(&d, false);
	is_u64(idmap_get(&d.ids[ENTRY_LANE], 3), 0, "ids start afresh in a segment");
	add_text(&b, 1, "cat");
	ADD(&b, ENTRY_SOURCE, 1, 0, 1, 8, 0);
	ADD(&b, ENTRY_LANE, 90, 1, 0, 0, 1, LANE_HAS_TID, 0, 9, 0, 0, 0);
	ok(!take(&d, &b, &where, &e), "entries of the next segment");
	is_u64(idmap_get(&d.ids[ENTRY_LANE], 90), first, "the same lane");
	dictionary_segment(&d, true);
	add_text(&b, 1, "cat");
	ADD(&b, ENTRY_SOURCE, 1, 0, 1, 8, 0);
	ADD(&b, ENTRY_LANE, 90, 1, 0, 0, 1, LANE_HAS_TID, 0, 9, 0, 0, 0);
	ok(!take(&d, &b, &where, &e), "entries of another stream");
	ok(idmap_get(&d.ids[ENTRY_LANE], 90) != first &&
		   idmap_get(&d.ids[ENTRY_SOURCE], 1) != source,
	   "other sources, other lanes");
	buffer_free(&b);
	dictionary_free(&d);
}

static void test_threads(void)
{
	struct dictionary d;
	struct buffer b = {0};
	struct error e;
	size_t where;
	uint32_t t[6], c[6];

	must(!dictionary_init(&d), "dictionary");
	dictionary_segment(&d, true);
	ADD(&b, ENTRY_SOURCE, 1, 0, 0, 8, 0);
	ADD(&b, ENTRY_LANE, 1, 1, 0, 0, 0, LANE_HAS_TID | LANE_HAS_CPU, 0, 9, 0, 0, 0);
	ADD(&b, ENTRY_LANE, 2, 1, 0, 0, 0, LANE_HAS_TID | LANE_HAS_CPU, 1, 9, 0, 0, 0);
	ADD(&b, ENTRY_LANE, 3, 1, 0, 0, 0, LANE_HAS_TID | LANE_HAS_CPU, 0, 0, 0, 0, 0);
	ADD(&b, ENTRY_LANE, 4, 1, 0, 0, 0, LANE_HAS_TID | LANE_HAS_CPU, 1, 0, 0, 0, 0);
	ADD(&b, ENTRY_LANE, 5, 1, 0, 0, 0, LANE_HAS_CPU, 1, 0, 0, 0, 0);
	must(!take(&d, &b, &where, &e), "entries");
	for (uint32_t i = 1; i < 6; i++) {
		const struct lane *l = dictionary_lane(&d, idmap_get(&d.ids[ENTRY_LANE], i));

		t[i] = l->thread;
		c[i] = l->cpu_thread;
	}
	ok(t[1] == t[2], "a thread is one on all CPUs");
	ok(t[3] != t[4], "the idle task is one for each");
	ok(t[5] != t[4] && t[5] != t[1], "a CPU without a thread");
	ok(c[1] == c[3] && c[2] == c[4] && c[2] == c[5] && c[1] != c[2], "stacks of CPUs");
	buffer_free(&b);
	dictionary_free(&d);
}

static void test_redeclared(void)
{
	struct dictionary d;
	struct buffer b = {0};
	struct error e;
	size_t where;

	must(!dictionary_init(&d), "dictionary");
	dictionary_segment(&d, true);
	add_text(&b, 1, "one");
	add_text(&b, 1, "one");
	ADD(&b, ENTRY_LOCATION, 1, 0, 0, 16, 0, 1, 0);
	ok(!take(&d, &b, &where, &e) && !d.redeclared, "said again");
	add_text(&b, 1, "two");
	ok(!take(&d, &b, &where, &e) && d.redeclared, "a string's new meaning");
	is_str(dictionary_location(&d, idmap_get(&d.ids[ENTRY_LOCATION], 1))->name.text, "one",
	       "what named it keeps the old");
	ADD(&b, ENTRY_LOCATION, 1, 0, 0, 16, 0, 1, 0);
	ok(!take(&d, &b, &where, &e) && d.redeclared, "a place's new meaning");
	ADD(&b, ENTRY_SYMBOL, 1, 16, 0, 4, 0, 0, 0, 2, 1, 1, 0, 0x64636261);
	ok(!take(&d, &b, &where, &e) && !d.redeclared && !d.symbol_changes, "a symbol");
	is_str(dictionary_location_name(&d, idmap_get(&d.ids[ENTRY_LOCATION], 1)).text, "ab",
	       "its name");
	ADD(&b, ENTRY_SYMBOL, 1, 16, 0, 4, 0, 0, 0, 3, 1, 0, 0, 0x64636261);
	ok(!take(&d, &b, &where, &e) && d.redeclared && d.symbol_changes == 1, "another symbol");
	is_str(dictionary_location_name(&d, 0).text, "<0>", "no place");
	ADD(&b, ENTRY_LOCATION, 7, 0, 0, 0xbeef, 0, 0, 0);
	must(!take(&d, &b, &where, &e), "place");
	is_str(dictionary_location_name(&d, idmap_get(&d.ids[ENTRY_LOCATION], 7)).text, "<beef>",
	       "a place without a name");
	buffer_free(&b);
	dictionary_free(&d);
}

/* What is wrong is said, and what follows is taken in all the same. */
static void expect_wrong(struct dictionary *d, struct buffer *b, const char *what)
{
	struct error e = {.what = ""};
	size_t where = 99;
	static uint32_t id = 1000;

	add_text(b, ++id, "behind");
	ok(take(d, b, &where, &e) && e.what[0] && where == 0, what);
	if (!idmap_get(&d->ids[ENTRY_STRING], id))
		ok(false, "and the entry after it is read");
}

static void test_wrong(void)
{
	struct dictionary d;
	struct buffer b = {0};
	struct error e;
	size_t where;

	must(!dictionary_init(&d), "dictionary");
	dictionary_segment(&d, true);
	add_text(&b, 0, "no id");
	expect_wrong(&d, &b, "a string without an id");
	ADD(&b, ENTRY_LANE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	expect_wrong(&d, &b, "a lane without an id");
	ADD(&b, ENTRY_LANE, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	ok(!take(&d, &b, &where, &e) && idmap_get(&d.ids[ENTRY_LANE], 1) == 1, "one with an id");
	ADD(&b, ENTRY_LANE, 1, 0, 0, 0, 0, 0, 0, 0, 0);
	expect_wrong(&d, &b, "a lane too short");
	ADD(&b, ENTRY_LANE, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	expect_wrong(&d, &b, "a lane of no source");
	ADD(&b, ENTRY_LANE, 1, 0, 0, 9999, 0, 0, 0, 0, 0, 0, 0);
	expect_wrong(&d, &b, "a lane of no string");
	ADD(&b, ENTRY_DEFINITION, 1, 0, 1, UINT32_MAX, 0, 0, 0, 0, 0);
	expect_wrong(&d, &b, "more members than bytes");
	ADD(&b, ENTRY_DEFINITION, 1, 0, DEFINITION_ENUM, 1, 0, 0, 0, 1, 0, 0, 0);
	expect_wrong(&d, &b, "a range that ends before it begins");
	ADD(&b, ENTRY_DEFINITION, 1, 0, DEFINITION_ENUM, 1, 0, 0, 0, 1, 0, 0, 1u << 31);
	expect_wrong(&d, &b, "the same of signed numbers");
	ADD(&b, ENTRY_DEFINITION, 1, 0, DEFINITION_ENUM | DEFINITION_UNSIGNED << 16, 1, 0, 0, 0, 1,
	    0, 0, 1u << 31);
	ok(!take(&d, &b, &where, &e), "not of unsigned ones");
	ADD(&b, ENTRY_DEFINITION, 1, 0, DEFINITION_BITMASK, 1, 0, 0, 0, 1, 0, 2, 0);
	expect_wrong(&d, &b, "a range of bits");
	ADD(&b, ENTRY_TYPE, 1, 0, 0, 0, 0, 0, 0, 0, UINT32_MAX, 0, 0);
	expect_wrong(&d, &b, "more fields than bytes");
	ADD(&b, ENTRY_TYPE, 1, 0, 0, 0, 0, 77, 0, 0, 0, 0, 0);
	expect_wrong(&d, &b, "a kind of type that is none");
	ADD(&b, ENTRY_TYPE, 1, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0);
	expect_wrong(&d, &b, "a fixed part of an odd size");
	ADD(&b, ENTRY_TYPE, 1, 0, 0, 0, 0, TYPE_VALUES << 16, 0, 0, 0, 0, 0);
	expect_wrong(&d, &b, "values without a tail");
	ADD(&b, ENTRY_TYPE, 1, 0, 0, 0, 0, (TYPE_VALUES | TYPE_TAIL) << 16, 0, 0, 0, 0, 0);
	ok(!take(&d, &b, &where, &e), "values with one");
	ADD(&b, ENTRY_TYPE, 1, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0);
	expect_wrong(&d, &b, "a field beyond the fixed part");
	ADD(&b, ENTRY_TYPE, 1, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0, 0, 0x10000, 1, 4, 0, 0, 0);
	expect_wrong(&d, &b, "a field of a tail that is not there");
	ADD(&b, ENTRY_TYPE, 1, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0, 0, 0x770000, 1, 4, 0, 0, 0);
	ok(!take(&d, &b, &where, &e), "a field at a place of later days");
	ADD(&b, ENTRY_MAP, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	expect_wrong(&d, &b, "a mapping of no space");
	ADD(&b, ENTRY_SYMBOL, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	expect_wrong(&d, &b, "a symbol of no place");
	ADD(&b, ENTRY_LOCATION, 5, 0, 0, 16, 0, 0, 0);
	must(!take(&d, &b, &where, &e), "place");
	ADD(&b, ENTRY_SYMBOL, 5, 0, 0, 0, 0, 0, 0, UINT32_MAX, UINT32_MAX, 2, 0);
	expect_wrong(&d, &b, "texts longer than bytes");
	ADD(&b, 55, 5, 1, 2, 3);
	ok(!take(&d, &b, &where, &e), "an unknown kind");
	ADD(&b, ENTRY_CLOCK, 5, 0, 0, 0, 0, 1, 2, 3, 4);
	ok(!take(&d, &b, &where, &e), "a longer entry");
	add_text(&b, 6, "cut");
	b.data[4] = 200;
	ok(take(&d, &b, &where, &e) && where == 0, "an entry longer than its block");
	/* nothing of this has upset the count of what is kept */
	for (uint32_t i = 0; i < 1000; i++)
		ADD(&b, ENTRY_LOCATION, i + 1, 0, 0, i, 3, 0, 0);
	ok(!take(&d, &b, &where, &e) &&
		   dictionary_location(&d, idmap_get(&d.ids[ENTRY_LOCATION], 1000))->address ==
			   (999 | 3ull << 32),
	   "a thousand places");
	buffer_free(&b);
	dictionary_free(&d);
}

/* A value of longest: members in order, adjacent or with gaps between them, as most traces have. */
#define IN_ORDER UINT64_MAX

/* A definition of count members whose names are their indexes, with ranges near each other. */
static const struct definition *random_enum(struct dictionary *d, uint32_t count, uint64_t longest,
					    uint16_t flags)
{
	struct definition_entry head = {.kind = DEFINITION_ENUM, .flags = flags, .nmembers = count};
	struct member_entry *members = calloc(count + (size_t)1, sizeof *members);
	struct buffer b = {0};
	struct error e;
	size_t where;
	uint64_t next = flags & DEFINITION_UNSIGNED ? 3 : -(uint64_t)20;

	must(members != NULL, "members");
	head.members = members;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t low = -(uint64_t)count + (uint64_t)rand() % (2 * (uint64_t)count),
			 span = longest ? (uint64_t)rand() % longest : 0;
		uint64_t last = flags & DEFINITION_UNSIGNED ? UINT64_MAX : INT64_MAX;

		/* some at the end of the numbers */
		if (longest && i % 7 == 0)
			low = last - span;
		if (longest == IN_ORDER) {
			low = next;
			span = (uint64_t)rand() % 3;
			next = low + span + 1 + (uint64_t)rand() % 2;
		}
		if (flags & DEFINITION_UNSIGNED && span > last - low)
			span = last - low;
		members[i] = (struct member_entry){0, low, low + span};
	}
	must(!entry_append_content(&b, ENTRY_DEFINITION, 1, &head), "entry");
	ok(!take(d, &b, &where, &e), "an enum");
	free(members);
	buffer_free(&b);
	return dictionary_definition_id(d, 1);
}

static bool has_number(const struct definition *d, const struct member *m, uint64_t n)
{
	if (definition_is_unsigned(d))
		return m->low <= n && n <= m->high;
	return (int64_t)m->low <= (int64_t)n && (int64_t)n <= (int64_t)m->high;
}

/* Every number at and beside the borders of ranges has all its labels, in their order. */
static void test_labels(uint32_t count, uint64_t longest, uint16_t flags)
{
	struct dictionary d;
	const struct definition *def;
	uint64_t wrong = 0, labels = 0;

	must(!dictionary_init(&d), "dictionary");
	dictionary_segment(&d, true);
	def = random_enum(&d, count, longest, flags);
	must(def != NULL, "definition");
	for (uint32_t i = 0; i < 6 * def->count; i++) {
		const struct member *of = &def->members[i / 6], *m;
		uint64_t n = (i / 3 % 2 ? of->high : of->low) + i % 3 - 1;

		m = definition_member(def, n);
		for (uint32_t k = 0; k < def->count; k++) {
			if (!has_number(def, &def->members[k], n))
				continue;
			labels++;
			wrong += m != &def->members[k];
			m = m ? definition_next_member(def, m, n) : NULL;
		}
		wrong += m != NULL;
	}
	is_u64(wrong, 0, "the labels of each number");
	ok(!count || labels >= 2 * count, "at least its own");
	ok(!definition_member(NULL, 1), "no definition, no label");
	dictionary_free(&d);
}

/* A wall clock is one even if it does not say that nothing is to be added. */
static void test_wall(void)
{
	struct dictionary d;
	struct buffer b = {0};
	struct error e;
	size_t where;
	const struct clock *c;

	must(!dictionary_init(&d), "dictionary");
	dictionary_segment(&d, true);
	ADD(&b, ENTRY_CLOCK, 1, 0, CLOCK_IS_WALL, 5, 0);
	ok(!take(&d, &b, &where, &e), "a clock");
	c = pool_at(&d.clocks, idmap_get(&d.ids[ENTRY_CLOCK], 1));
	ok(c->flags == (CLOCK_IS_WALL | CLOCK_HAS_WALL) && !c->wall, "IS_WALL alone");
	dictionary_free(&d);
	buffer_free(&b);
}

/* What a payload is without the entries that have no effect. */
static void test_taken(void)
{
	struct buffer b = {0}, taken = {0};
	struct dictionary d;
	struct error e;
	size_t where;

	must(!dictionary_init(&d), "dictionary");
	dictionary_segment(&d, true);
	/* the first is refused: a type of 3 bytes; the location without its name is taken */
	ADD(&b, ENTRY_TYPE, 7, 0, 0, 0, 0, KIND_INSTANT, 3, 0, 0, 1, 0);
	add_text(&taken, 1, "one");
	ADD(&taken, ENTRY_TYPE, 7, 0, 0, 0, 0, KIND_INSTANT, 8, 0, 0, 1, 0);
	ADD(&taken, ENTRY_LOCATION, 4, 0, 99, 0, 0, 0, 0);
	ADD(&taken, 900, 2, 5, 6);
	must(!buffer_append(&b, taken.data, taken.size), "memory");
	ADD(&b, ENTRY_TYPE, 7, 0, 0, 0, 0, KIND_INSTANT, 6, 0, 0, 1, 0);
	must(!buffer_u32(&b, ENTRY_STRING), "memory"); /* cut */
	ok(take(&d, &b, &where, &e) && !where, "a refused entry is a fault");
	ok(d.refused && d.taken->size == taken.size &&
		   !memcmp(d.taken->data, taken.data, taken.size),
	   "the payload without refused entries");
	ok(dictionary_type(&d, idmap_get(&d.ids[ENTRY_TYPE], 7))->fixed_size == 8,
	   "a refused entry changes no id");
	add_text(&b, 2, "two");
	ok(!take(&d, &b, &where, &e) && !d.refused, "a payload without a fault");
	dictionary_free(&d);
	buffer_free(&b);
	buffer_free(&taken);
}

int main(void)
{
	test_writers_entries();
	for (uint16_t flags = 0; flags <= DEFINITION_UNSIGNED; flags++) {
		test_labels(0, 0, flags);
		test_labels(8, 5, flags);
		test_labels(9, 1, flags);
		test_labels(500, 0, flags);
		test_labels(500, 4, flags);
		test_labels(500, 600, flags);
		test_labels(500, IN_ORDER, flags);
	}
	test_identity();
	test_wall();
	test_threads();
	test_redeclared();
	test_wrong();
	test_taken();
	return done();
}
