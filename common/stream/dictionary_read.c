#include "common/stream/dictionary_private.h"

struct text_ref dictionary_string_of(struct dictionary_entry *en, uint32_t id)
{
	uint32_t number = idmap_get(&en->d->ids[ENTRY_STRING], id);

	if (id && !number)
		en->wrong = "a string that is not declared";
	return dictionary_string(en->d, number ? number - 1 : 0);
}

uint32_t dictionary_number_of(struct dictionary_entry *en, uint32_t id, enum entry_kind kind)
{
	uint32_t number = idmap_get(&en->d->ids[kind], id);

	if (id && !number)
		en->wrong = "an entry that is not declared";
	return number;
}

struct text_ref dictionary_string_at(struct dictionary_entry *en, size_t offset)
{
	return dictionary_string_of(en, get_u32(en->data + offset));
}

uint32_t dictionary_number_at(struct dictionary_entry *en, size_t offset, enum entry_kind kind)
{
	return dictionary_number_of(en, get_u32(en->data + offset), kind);
}

void *dictionary_by_content(struct dictionary_entry *en, enum entry_kind kind, struct pool *pool,
			    const void *key, size_t n, bool *fresh)
{
	struct dictionary *d = en->d;
	uint32_t number, before = idmap_get(&d->ids[kind], en->id);

	*fresh = false;
	if (!en->id) {
		en->wrong = "an entry without an id";
		return NULL;
	}
	number = intern(&d->keys[kind], key, n);
	if (number == INTERN_NONE)
		return NULL;
	if (number == pool->count) {
		if (!pool_add(pool))
			return NULL;
		*fresh = true;
	}
	if (before && before != number)
		d->redeclared = true;
	if (idmap_set(&d->ids[kind], en->id, number))
		return NULL;
	return pool_at(pool, number);
}

static int read_string(struct dictionary_entry *en)
{
	struct dictionary *d = en->d;
	uint32_t before = idmap_get(&d->ids[ENTRY_STRING], en->id), number;

	if (!en->id) {
		en->wrong = "a string without an id";
		return -1;
	}
	number = intern(&d->strings, en->data, en->size);
	if (number == INTERN_NONE)
		return -1;
	if (before && before != number + 1)
		d->redeclared = true;
	return idmap_set(&d->ids[ENTRY_STRING], en->id, number + 1);
}

static int read_clock(struct dictionary_entry *en)
{
	struct clock c = {.name = dictionary_string_at(en, 0),
			  .flags = get_u32(en->data + 4),
			  .wall = (int64_t)get_u64(en->data + 8)},
		     *p;
	struct {
		int64_t wall;
		uint32_t name, flags;
	} key = {c.wall, c.name.number, c.flags};
	bool fresh;

	/* a wall clock needs no offset */
	if (!(c.flags & CLOCK_HAS_WALL))
		c.wall = key.wall = 0;
	if (c.flags & CLOCK_IS_WALL)
		c.flags = key.flags |= CLOCK_HAS_WALL;
	p = dictionary_by_content(en, ENTRY_CLOCK, &en->d->clocks, &key, sizeof key, &fresh);
	if (!p)
		return -1;
	if (fresh) {
		c.number = en->d->clocks.count - 1;
		*p = c;
	}
	return 0;
}

static int read_source(struct dictionary_entry *en)
{
	struct source s = {.format = dictionary_string_at(en, 0),
			   .name = dictionary_string_at(en, 4),
			   .word_size = get_u32(en->data + 8),
			   .big_endian = get_u32(en->data + 12),
			   .stream = en->d->stream,
			   .id = en->id},
		      *p;
	/* Sources of one stream also differ by their id: two inputs may have one name. */
	uint32_t key[] = {s.stream,	 en->id,      s.format.number,
			  s.name.number, s.word_size, s.big_endian};
	bool fresh;

	p = dictionary_by_content(en, ENTRY_SOURCE, &en->d->sources, key, sizeof key, &fresh);
	if (!p)
		return -1;
	if (fresh) {
		s.number = en->d->sources.count - 1;
		*p = s;
	}
	return 0;
}

/* Make the key of the lanes that share one stack of calls. */
static void thread_key(const struct lane *l, bool per_cpu, uint32_t key[THREAD_WORDS])
{
	bool has_tid = l->flags & LANE_HAS_TID && !per_cpu;
	/* tid 0 is the idle task: one for every CPU */
	bool use_cpu = l->flags & LANE_HAS_CPU && (!has_tid || l->tid == 0);
	/* else the pid is not part of the key: it may be known late, and change after a fork */
	bool use_pid = has_tid && l->flags & LANE_PROCESS_TID;
	const uint32_t made[THREAD_WORDS] = {l->source->number,
					     has_tid,
					     has_tid ? (uint32_t)l->tid : 0,
					     use_cpu,
					     use_cpu ? (uint32_t)l->cpu : 0,
					     use_pid,
					     use_pid ? (uint32_t)l->pid : 0};

	memcpy(key, made, sizeof made);
}

uint32_t dictionary_find_thread(const struct dictionary *d, const struct lane *l, bool per_cpu)
{
	uint32_t key[THREAD_WORDS];

	thread_key(l, per_cpu, key);
	return intern_find(&d->threads, key, sizeof key);
}

static uint32_t thread_number(struct dictionary *d, const struct lane *l, bool per_cpu)
{
	uint32_t key[THREAD_WORDS], n;

	thread_key(l, per_cpu, key);
	n = intern(&d->threads, key, sizeof key);
	return n == INTERN_NONE ? 0 : n;
}

/* Note that the stack had rows before this segment. */
static int note_started(struct dictionary *d, uint32_t thread)
{
	uint8_t *started = array_reach(d->started, &d->nstarted, thread, 1);

	if (!started)
		return -1;
	d->started = started;
	started[thread] = 1;
	return 0;
}

#define LANES_STARTED (uint32_t)(LANE_STARTED | LANE_CPU_STARTED)

static int read_lane(struct dictionary_entry *en)
{
	struct dictionary *d = en->d;
	uint32_t flags = get_u32(en->data + 16);
	uint32_t source = dictionary_number_at(en, 0, ENTRY_SOURCE),
		 clock = dictionary_number_at(en, 4, ENTRY_CLOCK);
	struct lane l = {.source = pool_at(&d->sources, source),
			 .clock = pool_at(&d->clocks, clock),
			 .buffer = dictionary_string_at(en, 8),
			 .comm = dictionary_string_at(en, 12),
			 .flags = flags & ~LANES_STARTED,
			 .cpu = (int32_t)get_u32(en->data + 20),
			 .tid = (int32_t)get_u32(en->data + 24),
			 .pid = (int32_t)get_u32(en->data + 28),
			 .ppid = (int32_t)get_u32(en->data + 32)},
		    *p;
	uint32_t key[] = {source,	   clock,	    l.buffer.number,
			  l.comm.number,   l.flags,	    (uint32_t)l.cpu,
			  (uint32_t)l.tid, (uint32_t)l.pid, (uint32_t)l.ppid};
	bool fresh;

	p = dictionary_by_content(en, ENTRY_LANE, &d->lanes, key, sizeof key, &fresh);
	if (!p)
		return -1;
	if (fresh) {
		l.number = d->lanes.count - 1;
		l.thread = thread_number(d, &l, false);
		l.cpu_thread = thread_number(d, &l, true);
		*p = l;
	}
	if (flags & LANE_STARTED && note_started(d, p->thread))
		return -1;
	return flags & LANE_CPU_STARTED ? note_started(d, p->cpu_thread) : 0;
}

static int read_space(struct dictionary_entry *en)
{
	struct dictionary *d = en->d;
	uint32_t source = dictionary_number_at(en, 0, ENTRY_SOURCE);
	struct space s = {.source = pool_at(&d->sources, source),
			  .name = dictionary_string_at(en, 4),
			  .pid = (int32_t)get_u32(en->data + 8),
			  .flags = get_u32(en->data + 12)},
		     *p;
	uint32_t key[] = {source, s.name.number, (uint32_t)s.pid, s.flags};
	bool fresh;

	p = dictionary_by_content(en, ENTRY_SPACE, &d->spaces, key, sizeof key, &fresh);
	if (!p)
		return -1;
	if (fresh) {
		s.number = d->spaces.count - 1;
		*p = s;
	}
	return 0;
}

static int read_map(struct dictionary_entry *en)
{
	struct dictionary *d = en->d;
	uint32_t space = dictionary_number_at(en, 0, ENTRY_SPACE);
	struct map m = {.flags = get_u32(en->data + 4),
			.start = get_u64(en->data + 8),
			.end = get_u64(en->data + 16),
			.offset = get_u64(en->data + 24),
			.time = get_u64(en->data + 32),
			.epoch = get_u32(en->data + 40),
			.path = dictionary_string_at(en, 44),
			.build_id = dictionary_string_at(en, 48),
			.table = dictionary_string_at(en, 52)},
		   *maps;
	uint64_t key[] = {
		space,	 m.flags,	m.start,	   m.end,	  m.offset, m.time,
		m.epoch, m.path.number, m.build_id.number, m.table.number};
	struct space *s;
	uint32_t known = d->keys[ENTRY_MAP].count;

	if (!space) {
		en->wrong = "a mapping without an address space";
		return -1;
	}
	switch (intern(&d->keys[ENTRY_MAP], key, sizeof key)) {
	case INTERN_NONE: return -1;
	default:
		if (d->keys[ENTRY_MAP].count == known)
			return 0; /* repeated in a later segment */
	}
	s = pool_at(&d->spaces, space);
	maps = array_grow(s->maps, &s->maps_capacity, s->nmaps, sizeof *maps);
	if (!maps)
		return -1;
	s->maps = maps;
	maps[s->nmaps++] = m;
	return 0;
}

static int read_location(struct dictionary_entry *en)
{
	struct dictionary *d = en->d;
	uint32_t space = dictionary_number_at(en, 0, ENTRY_SPACE);
	struct location pl = {.epoch = get_u32(en->data + 4),
			      .address = get_u64(en->data + 8),
			      .name = dictionary_string_at(en, 16),
			      .space = space ? pool_at(&d->spaces, space) : NULL},
			*p;
	uint32_t arguments = dictionary_number_at(en, 20, ENTRY_DEFINITION);
	uint32_t key[] = {
		space,		pl.epoch, (uint32_t)pl.address, (uint32_t)(pl.address >> 32),
		pl.name.number, arguments};
	bool fresh;

	p = dictionary_by_content(en, ENTRY_LOCATION, &d->locations, key, sizeof key, &fresh);
	if (!p)
		return -1;
	if (fresh) {
		pl.number = d->locations.count - 1;
		pl.arguments = dictionary_definition(d, arguments);
		*p = pl;
	}
	return 0;
}

static bool same_symbol(const struct location_symbol *a, const struct location_symbol *b)
{
	return a->name.number == b->name.number && a->module.number == b->module.number &&
	       a->file.number == b->file.number && a->start == b->start && a->size == b->size &&
	       a->line == b->line && a->flags == b->flags;
}

/* Read a symbol. Symbols contain their texts: the program that adds them cannot allocate ids of
 * the segment. */
static int read_symbol(struct dictionary_entry *en)
{
	struct dictionary *d = en->d;
	uint32_t location = idmap_get(&d->ids[ENTRY_LOCATION], en->id),
		 name = get_u32(en->data + 24), module = get_u32(en->data + 28),
		 file = get_u32(en->data + 32);
	struct location_symbol s = {.start = get_u64(en->data),
				    .size = get_u64(en->data + 8),
				    .line = get_u32(en->data + 16),
				    .flags = get_u32(en->data + 20)},
			       *kept;
	const char *text = (const char *)en->data + 40;
	struct location *p;

	if (!location) {
		en->wrong = "a symbol of a location that is not declared";
		return -1;
	}
	if ((uint64_t)name + module + file > en->size - 40) {
		en->wrong = "longer texts than bytes";
		return -1;
	}
	s.name = dictionary_text(d, text, name);
	s.module = dictionary_text(d, text + name, module);
	s.file = dictionary_text(d, text + name + module, file);
	p = pool_at(&d->locations, location);
	if (p->symbol && same_symbol(p->symbol, &s))
		return 0;
	if (p->symbol) {
		d->symbol_changes++;
		d->redeclared = true;
	}
	kept = pool_add(&d->symbols);
	if (!kept)
		return -1;
	*kept = s;
	p->symbol = kept;
	return 0;
}

enum { DEPTHS = 65536 }; /* the maximum of a row */

/* Add a range of times outside all calls. The oldest ranges are dropped: the rows of MOST / 2 newer
 * ones do not fit in a block, so rows that need the older ones were read (trstream(5) THREAD). */
static int add_outside(struct thread_facts *f, uint64_t since, uint64_t last)
{
	enum { MOST = 64 * 1024 };
	struct time_span *ranges;

	if (f->noutside == MOST) {
		f->noutside /= 2;
		memmove(f->outside, f->outside + f->noutside, f->noutside * sizeof *ranges);
	}
	ranges = array_grow(f->outside, &f->outside_capacity, f->noutside, sizeof *ranges);
	if (!ranges)
		return -1;
	f->outside = ranges;
	ranges[f->noutside++] = (struct time_span){since, last};
	return 0;
}

/* Read an entry about a thread. Later entries of the same thread are merged into it. */
static int read_thread(struct dictionary_entry *en)
{
	struct dictionary *d = en->d;
	const struct lane *lane;
	struct thread_facts *f;
	struct thread_entry t;
	uint32_t thread;

	entry_get_thread(en->data, &t);
	lane = dictionary_lane(d, dictionary_number_of(en, t.lane, ENTRY_LANE));
	if (!lane) {
		en->wrong = "a thread without a lane";
		return -1;
	}
	if (t.unseen > DEPTHS) {
		en->wrong = "more unseen calls than a stack can have";
		return -1;
	}
	thread = t.flags & THREAD_PER_CPU ? lane->cpu_thread : lane->thread;
	f = array_reach(d->facts, &d->nfacts, thread, sizeof *f);
	if (!f)
		return -1;
	d->facts = f;
	f += thread;
	f->lane = lane;
	if (t.flags & THREAD_HAS_LAST && t.last > f->last)
		f->last = t.last;
	if (t.flags & THREAD_OUTSIDE)
		return add_outside(f, t.since, t.last);
	if (t.flags & THREAD_LEFT_OUT) {
		/* rows before it must not be moved after it */
		d->redeclared |= !f->left_out;
		f->left_out = true;
	}
	if (t.flags & THREAD_HAS_LAST)
		f->keeps_unseen = t.flags & THREAD_UNSEEN;
	if (t.flags & THREAD_HAS_OPEN) {
		f->has_open = true;
		f->open = t.open;
	}
	if (t.unseen) {
		f->unseen = t.unseen;
		f->since = t.since;
	}
	return 0;
}

static const struct {
	uint32_t least; /* bytes of payload */
	int (*read)(struct dictionary_entry *);
} readers[ENTRY_KINDS] = {
	[ENTRY_STRING] = {0, read_string},
	[ENTRY_CLOCK] = {16, read_clock},
	[ENTRY_SOURCE] = {16, read_source},
	[ENTRY_LANE] = {40, read_lane},
	[ENTRY_TYPE] = {TYPE_HEAD, dictionary_read_type},
	[ENTRY_DEFINITION] = {DEFINITION_HEAD, dictionary_read_definition},
	[ENTRY_SPACE] = {16, read_space},
	[ENTRY_MAP] = {56, read_map},
	[ENTRY_LOCATION] = {24, read_location},
	[ENTRY_SYMBOL] = {40, read_symbol},
	[ENTRY_THREAD] = {THREAD_SIZE, read_thread},
};

/* Read one entry. Returns its fault, NULL if it has none. */
static const char *read_entry(struct dictionary_entry *en, uint32_t kind)
{
	if (!kind || kind >= ENTRY_KINDS)
		return NULL; /* of a later version */
	if (en->size < readers[kind].least)
		return "too few bytes";
	if (readers[kind].read(en) || en->wrong)
		return en->wrong ? en->wrong : "what cannot be kept";
	return NULL;
}

int dictionary_read(struct dictionary *d, const uint8_t *payload, size_t n, size_t *where,
		    struct error *e)
{
	struct raw_entry raw;
	size_t at = 0;
	int result = 0, got;

	d->redeclared = false;
	do {
		size_t begin = at;
		const char *wrong = NULL;

		got = entry_next(payload, n, &at, &raw);
		if (got > 0) {
			struct dictionary_entry en = {d, raw.data, raw.size, raw.id, NULL};

			wrong = read_entry(&en, raw.kind);
		} else if (got < 0) {
			wrong = "more bytes than its block";
		}
		if (wrong && !result) {
			*where = begin;
			result = error_set(e, NULL, NO_OFFSET, "a dictionary entry with %s", wrong);
		}
	} while (got > 0);
	return result;
}
