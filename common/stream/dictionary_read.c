#include "common/stream/dictionary_private.h"

/* Get the number of an entry by its id in the segment: 0 for id 0, and for an undeclared id, which
 * is a fault of the entry. The number of a string is that of its text. */
static uint32_t number_of(struct dictionary_entry *en, enum entry_kind kind, uint32_t id)
{
	uint32_t number = idmap_get(&en->d->ids[kind], id);

	if (id && !number)
		en->wrong = kind == ENTRY_STRING ? "a string that is not declared"
						 : "an entry that is not declared";
	return kind == ENTRY_STRING && number ? number - 1 : number;
}

/* Copy the fields of an entry, or of a part, with numbers in place of ids. Other bytes of the copy
 * are zero, so equal copies have equal content. */
static void resolve(struct dictionary_entry *en, const struct entry_layout *l, const uint8_t *from,
		    uint8_t *to)
{
	for (const struct entry_field *f = l->fields; f < l->fields + l->nfields; f++)
		if (f->refers)
			put_u32(to + f->at, number_of(en, f->refers, get_u32(from + f->at)));
		else
			memcpy(to + f->at, from + f->at, f->width);
}

static int resolve_entry(struct dictionary_entry *en, const struct entry_layout *l, uint32_t *parts)
{
	struct buffer *key = en->d->scratch;
	uint32_t n = entry_parts(l, en->data, en->size);

	if (n == UINT32_MAX) {
		en->wrong = "more fields or members than bytes";
		return -1;
	}
	key->size = 0;
	if (buffer_zero(key, n ? entry_part(l, n) : l->size))
		return -1;
	resolve(en, l, en->data, key->data);
	for (uint32_t i = 0; i < n; i++)
		resolve(en, l->part, en->data + entry_part(l, i), key->data + entry_part(l, i));
	*parts = n;
	return 0;
}

static struct pool *pool_of(struct dictionary *d, enum entry_kind kind)
{
	switch (kind) {
	case ENTRY_CLOCK: return &d->clocks;
	case ENTRY_SOURCE: return &d->sources;
	case ENTRY_LANE: return &d->lanes;
	case ENTRY_TYPE: return &d->types;
	case ENTRY_DEFINITION: return &d->definitions;
	case ENTRY_SPACE: return &d->spaces;
	case ENTRY_LOCATION: return &d->locations;
	default: return NULL;
	}
}

/* Fill in an object, or a part of one, from a copy that resolve made. */
static void fill(struct dictionary *d, const struct entry_layout *l, const uint8_t *from,
		 void *object)
{
	for (const struct entry_field *f = l->fields; f < l->fields + l->nfields; f++) {
		void *to = (uint8_t *)object + f->object;
		uint32_t number = f->refers ? get_u32(from + f->at) : 0;
		struct text_ref text;
		const void *entry;

		if (!f->refers) {
			entry_number(to, from + f->at, f->width);
		} else if (f->refers == ENTRY_STRING) {
			text = dictionary_string(d, number);
			memcpy(to, &text, sizeof text);
		} else {
			entry = number || !f->or_null ? pool_at(pool_of(d, f->refers), number)
						      : NULL;
			memcpy(to, &entry, sizeof entry);
		}
	}
}

/* Fill in an object with its parts, which are new. */
static int fill_parts(struct dictionary *d, const struct entry_layout *l, const uint8_t *from,
		      uint32_t n, void *object)
{
	static const uint32_t none;
	uint8_t *to = object, *parts;

	fill(d, l, from, object);
	if (!l->part)
		return 0;
	memcpy(to + l->object_count, &none, sizeof none);
	parts = dictionary_keep(d, n * (size_t)l->object_size);
	if (!parts)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		fill(d, l->part, from + entry_part(l, i), parts + (size_t)l->object_size * i);
	memcpy(to + l->object_parts, &parts, sizeof parts);
	memcpy(to + l->object_count, &n, sizeof n);
	return 0;
}

/* Find or add the object of the content in scratch; the entry's id now names it. *fresh: the object
 * is new and must be filled in. NULL: the entry has no id, or out of memory. */
static void *object_of(struct dictionary_entry *en, enum entry_kind kind, bool *fresh)
{
	struct dictionary *d = en->d;
	struct pool *pool = pool_of(d, kind);
	uint32_t number, before = idmap_get(&d->ids[kind], en->id);

	*fresh = false;
	if (!en->id) {
		en->wrong = "an entry without an id";
		return NULL;
	}
	number = intern(&d->keys[kind], d->scratch->data, d->scratch->size);
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

static void adjust_clock(uint8_t *key)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_CLOCK];
	struct clock_entry c;

	entry_get(l, key, &c);
	/* a wall clock needs no offset */
	if (!(c.flags & CLOCK_HAS_WALL))
		c.wall = 0;
	if (c.flags & CLOCK_IS_WALL)
		c.flags |= CLOCK_HAS_WALL;
	entry_put(l, key, &c);
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
	uint8_t *started;

	if (ARRAY_REACH(d->started, d->nstarted, thread))
		return -1;
	started = d->started;
	started[thread] = 1;
	return 0;
}

static int read_lane_flags(struct dictionary_entry *en, const struct lane *l)
{
	struct lane_entry e;

	entry_get(&entry_layouts[ENTRY_LANE], en->data, &e);
	if (e.flags & LANE_STARTED && note_started(en->d, l->thread))
		return -1;
	return e.flags & LANE_CPU_STARTED ? note_started(en->d, l->cpu_thread) : 0;
}

/* Test and adjust the content in scratch. -1: the entry cannot be used. */
static int check(struct dictionary_entry *en, enum entry_kind kind, uint32_t parts)
{
	struct buffer *key = en->d->scratch;
	const char *fault = NULL;
	struct lane_entry lane;

	switch (kind) {
	case ENTRY_CLOCK: adjust_clock(key->data); return 0;
	case ENTRY_SOURCE:
		/* sources of one stream also differ by their id: two inputs may have one name */
		return buffer_u32(key, en->d->stream) || buffer_u32(key, en->id);
	case ENTRY_LANE:
		entry_get(&entry_layouts[ENTRY_LANE], key->data, &lane);
		entry_set_started(key->data, &lane, 0);
		return 0;
	case ENTRY_TYPE: fault = dictionary_type_fault(key->data, parts); break;
	case ENTRY_DEFINITION: fault = dictionary_definition_fault(key->data, parts); break;
	default: break;
	}
	if (fault)
		en->wrong = fault;
	return fault ? -1 : 0;
}

/* Fill in what is not in the content. */
static int finish(struct dictionary_entry *en, enum entry_kind kind, void *object)
{
	struct dictionary *d = en->d;
	struct source *source = object;
	struct lane *lane = object;

	switch (kind) {
	case ENTRY_SOURCE:
		source->stream = d->stream;
		source->id = en->id;
		return 0;
	case ENTRY_LANE:
		lane->thread = thread_number(d, lane, false);
		lane->cpu_thread = thread_number(d, lane, true);
		return 0;
	case ENTRY_DEFINITION: return dictionary_reserve_labels(d, object);
	case ENTRY_TYPE: dictionary_type_finish(object); return 0;
	default: return 0;
	}
}

/* Read an entry of a kind whose content makes an object. */
static int read_object(struct dictionary_entry *en, enum entry_kind kind)
{
	const struct entry_layout *l = &entry_layouts[kind];
	struct dictionary *d = en->d;
	uint32_t parts;
	void *object;
	bool fresh;

	if (resolve_entry(en, l, &parts) || check(en, kind, parts))
		return -1;
	object = object_of(en, kind, &fresh);
	if (!object)
		return -1;
	if (fresh) {
		*(uint32_t *)object = pool_of(d, kind)->count - 1;
		if (fill_parts(d, l, d->scratch->data, parts, object) || finish(en, kind, object))
			return -1;
	}
	return kind == ENTRY_LANE ? read_lane_flags(en, object) : 0;
}

static int read_map(struct dictionary_entry *en)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_MAP];
	struct dictionary *d = en->d;
	struct intern *keys = &d->keys[ENTRY_MAP];
	uint32_t known = keys->count, parts;
	struct map m = {0}, *maps;
	struct space *s;

	if (resolve_entry(en, l, &parts))
		return -1;
	fill(d, l, d->scratch->data, &m);
	if (!m.space) {
		en->wrong = "a mapping without an address space";
		return -1;
	}
	if (intern(keys, d->scratch->data, d->scratch->size) == INTERN_NONE)
		return -1;
	if (keys->count == known)
		return 0; /* repeated in a later segment */
	s = pool_at(&d->spaces, m.space->number);
	if (ARRAY_GROW(s->maps, s->maps_capacity, s->nmaps))
		return -1;
	maps = s->maps;
	maps[s->nmaps++] = m;
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
	if (ARRAY_GROW(f->outside, f->outside_capacity, f->noutside))
		return -1;
	ranges = f->outside;
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

	entry_get(&entry_layouts[ENTRY_THREAD], en->data, &t);
	lane = dictionary_lane(d, number_of(en, ENTRY_LANE, t.lane));
	if (!lane) {
		en->wrong = "a thread without a lane";
		return -1;
	}
	if (t.unseen > DEPTHS) {
		en->wrong = "more unseen calls than a stack can have";
		return -1;
	}
	thread = t.flags & THREAD_PER_CPU ? lane->cpu_thread : lane->thread;
	if (ARRAY_REACH(d->facts, d->nfacts, thread))
		return -1;
	f = d->facts;
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

/* Fetch what the stack needs that is some entries after the one at p, if there is one: most entries
 * between are stacks. */
static inline __attribute__((always_inline)) void fetch_stack(const struct dictionary *d,
							      const uint8_t *p, const uint8_t *end)
{
	enum { SIZE = ENTRY_HEADER + 8, AHEAD = 8 };
	const struct idmap *ids = d->ids;
	uint32_t parent, location;

	if (end - p < (AHEAD + 1) * SIZE)
		return;
	p += AHEAD * SIZE;
	if (get_u16(p) != ENTRY_STACK)
		return;
	parent = get_u32(p + ENTRY_HEADER);
	location = get_u32(p + ENTRY_HEADER + 4);
	/* of a parent that is not yet declared, another slot is fetched */
	if (parent < ids[ENTRY_STACK].direct_size && location < ids[ENTRY_LOCATION].direct_size)
		stack_table_fetch_slot(&d->stacks, ids[ENTRY_STACK].direct[parent],
				       ids[ENTRY_LOCATION].direct[location]);
}

static int read_stack(struct dictionary_entry *en)
{
	struct dictionary *d = en->d;
	uint32_t before = idmap_get(&d->ids[ENTRY_STACK], en->id), number;
	struct stack_entry s;

	entry_get(&entry_layouts[ENTRY_STACK], en->data, &s);
	s.parent = number_of(en, ENTRY_STACK, s.parent);
	s.location = number_of(en, ENTRY_LOCATION, s.location);
	if (!en->id)
		en->wrong = "a stack without an id";
	else if (!stack_table_fits(&d->stacks, s.parent))
		en->wrong = "a stack of too many frames";
	if (!en->id || !stack_table_fits(&d->stacks, s.parent))
		return -1;
	number = stack_table_add(&d->stacks, s.parent, s.location);
	if (!number)
		return -1;
	if (before && before != number)
		d->redeclared = true;
	return idmap_set(&d->ids[ENTRY_STACK], en->id, number);
}

/* Read one entry. Returns its fault, NULL if it has none. *refused: it has no effect. */
static const char *read_entry(struct dictionary_entry *en, const struct raw_entry *raw,
			      bool *refused)
{
	int bad;

	*refused = false;
	if (!raw->kind || raw->kind >= ENTRY_KINDS)
		return NULL; /* of a later version */
	*refused = !entry_complete(raw);
	if (*refused)
		return "too few bytes";
	switch (raw->kind) {
	case ENTRY_STRING: bad = read_string(en); break;
	case ENTRY_MAP: bad = read_map(en); break;
	case ENTRY_SYMBOL: bad = dictionary_read_symbol(en); break;
	case ENTRY_THREAD: bad = read_thread(en); break;
	case ENTRY_STACK: bad = read_stack(en); break;
	default: bad = read_object(en, raw->kind);
	}
	*refused = bad;
	return bad && !en->wrong ? "what cannot be kept" : en->wrong;
}

/* Keep the taken entries of a payload apart, from the first refused one on. */
static int keep_taken(struct dictionary *d, const uint8_t *payload, size_t begin, size_t end,
		      bool refused)
{
	bool first = refused && !d->refused;

	d->refused |= refused;
	d->taken->size = first ? 0 : d->taken->size;
	if (first)
		return buffer_append(d->taken, payload, begin);
	return d->refused && !refused ? buffer_append(d->taken, payload + begin, end - begin) : 0;
}

int dictionary_read(struct dictionary *d, const uint8_t *payload, size_t n, size_t *where,
		    struct error *e)
{
	struct raw_entry raw;
	size_t at = 0;
	int result = 0, got;

	d->redeclared = d->refused = false;
	do {
		size_t begin = at;
		const char *wrong = NULL;
		bool refused = false;

		got = entry_next(payload, n, &at, &raw);
		if (got > 0) {
			struct dictionary_entry en = {d, raw.data, raw.size, raw.id, NULL};

			if (raw.kind == ENTRY_STACK)
				fetch_stack(d, payload + begin, payload + n);
			wrong = read_entry(&en, &raw, &refused);
		} else if (got < 0) {
			wrong = "more bytes than its block";
			refused = true;
		}
		if (keep_taken(d, payload, begin, at, refused))
			return error_no_memory(e);
		if (wrong && !result) {
			*where = begin;
			result = error_set(e, NULL, NO_OFFSET, "a dictionary entry with %s", wrong);
		}
	} while (got > 0);
	return result;
}
