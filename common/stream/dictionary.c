/*
 * dictionary.c - the declarations of a stream
 */
#include "common/stream/dictionary.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/stream/field.h"
#include "common/util/bisect.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"

/* The entry being read: its payload and the segment's ids in it. */
struct dictionary_entry {
	struct dictionary *d;
	const uint8_t *data;
	size_t size;
	uint32_t id;
	const char *wrong; /* the first fault of the entry, NULL none */
};

struct allocation {
	struct allocation *next;
	max_align_t data[];
};

/* Allocate memory that lives as long as the dictionary: fields, members. NULL: out
 * of memory. */
static void *dictionary_keep(struct dictionary *d, size_t n)
{
	struct allocation *a = calloc(1, sizeof *a + n);

	if (!a)
		return NULL;
	a->next = d->allocations;
	d->allocations = a;
	return a->data;
}

#define WIDTH(type, name) sizeof(((struct type *)0)->name)
#define NUMBER(at, type, name)                                                                     \
	{                                                                                          \
		at, WIDTH(type##_entry, name), 0, USE_PLAIN, false,                                \
			offsetof(struct type##_entry, name), offsetof(struct type, name)           \
	}
/* a field that the dictionary's object does not have */
#define ONLY(at, type, name, kind)                                                                 \
	{                                                                                          \
		at, WIDTH(type##_entry, name), kind, USE_PLAIN, false,                             \
			offsetof(struct type##_entry, name), ENTRY_NO_OBJECT                       \
	}
#define ID(at, type, name, kind, or_null)                                                          \
	{                                                                                          \
		at, 4, kind, USE_PLAIN, or_null, offsetof(struct type##_entry, name),              \
			offsetof(struct type, name)                                                \
	}
#define TEXT(at, type, name, use)                                                                  \
	{                                                                                          \
		at, 4, ENTRY_STRING, use, false, offsetof(struct type##_entry, name),              \
			offsetof(struct type, name)                                                \
	}

static const struct entry_field clock_fields[] = {
	TEXT(0, clock, name, USE_PLAIN),
	NUMBER(4, clock, flags),
	NUMBER(8, clock, wall),
};

static const struct entry_field source_fields[] = {
	TEXT(0, source, format, USE_PLAIN),
	TEXT(4, source, name, USE_TITLE),
	NUMBER(8, source, word_size),
	NUMBER(12, source, big_endian),
};

static const struct entry_field lane_fields[] = {
	ID(0, lane, source, ENTRY_SOURCE, false),
	ID(4, lane, clock, ENTRY_CLOCK, false),
	TEXT(8, lane, buffer, USE_PLAIN),
	TEXT(12, lane, comm, USE_NAME),
	NUMBER(16, lane, flags),
	NUMBER(20, lane, cpu),
	NUMBER(24, lane, tid),
	NUMBER(28, lane, pid),
	NUMBER(32, lane, ppid),
};

static const struct entry_field type_fields[] = {
	ID(0, type, source, ENTRY_SOURCE, true),
	TEXT(4, type, name, USE_PLAIN),
	TEXT(8, type, group, USE_PLAIN),
	TEXT(12, type, declaration, USE_DECLARATION),
	NUMBER(16, type, kind),
	NUMBER(17, type, word_size),
	NUMBER(18, type, flags),
	NUMBER(20, type, fixed_size),
	NUMBER(24, type, native),
	NUMBER(28, type, nfields),
	NUMBER(32, type, weight),
};

static const struct entry_field field_fields[] = {
	TEXT(0, field, name, USE_PLAIN),
	TEXT(4, field, type_name, USE_PLAIN),
	NUMBER(8, field, kind),
	NUMBER(9, field, role),
	NUMBER(10, field, where),
	NUMBER(12, field, offset),
	NUMBER(16, field, size),
	NUMBER(20, field, count),
	ID(24, field, definition, ENTRY_DEFINITION, true),
};

static const struct entry_field definition_fields[] = {
	TEXT(0, definition, name, USE_DEFINITION),
	NUMBER(4, definition, kind),
	NUMBER(6, definition, flags),
	{8, 4, 0, USE_PLAIN, false, offsetof(struct definition_entry, nmembers),
	 offsetof(struct definition, count)},
	NUMBER(12, definition, native),
};

static const struct entry_field member_fields[] = {
	TEXT(0, member, name, USE_DEFINITION),
	NUMBER(8, member, low),
	NUMBER(16, member, high),
};

static const struct entry_field space_fields[] = {
	ID(0, space, source, ENTRY_SOURCE, false),
	TEXT(4, space, name, USE_TITLE),
	NUMBER(8, space, pid),
	NUMBER(12, space, flags),
};

static const struct entry_field map_fields[] = {
	ID(0, map, space, ENTRY_SPACE, true),
	NUMBER(4, map, flags),
	NUMBER(8, map, start),
	NUMBER(16, map, end),
	NUMBER(24, map, offset),
	NUMBER(32, map, time),
	NUMBER(40, map, epoch),
	TEXT(44, map, path, USE_PATH),
	TEXT(48, map, build_id, USE_BUILD_ID),
	TEXT(52, map, table, USE_META),
};

static const struct entry_field location_fields[] = {
	ID(0, location, space, ENTRY_SPACE, true),
	NUMBER(4, location, epoch),
	NUMBER(8, location, address),
	TEXT(16, location, name, USE_NAME),
	ID(20, location, arguments, ENTRY_DEFINITION, true),
};

static const struct entry_field symbol_fields[] = {
	ONLY(0, symbol, start, 0),	ONLY(8, symbol, size, 0),
	ONLY(16, symbol, line, 0),	ONLY(20, symbol, flags, 0),
	ONLY(24, symbol, name_size, 0), ONLY(28, symbol, module_size, 0),
	ONLY(32, symbol, file_size, 0),
};

static const struct entry_field thread_fields[] = {
	ONLY(0, thread, lane, ENTRY_LANE), ONLY(4, thread, flags, 0),	ONLY(8, thread, last, 0),
	ONLY(16, thread, since, 0),	   ONLY(24, thread, unseen, 0), ONLY(28, thread, open, 0),
};

static const struct entry_field stack_fields[] = {
	ONLY(0, stack, parent, ENTRY_STACK),
	ONLY(4, stack, location, ENTRY_LOCATION),
};

#define FIELDS(name) .nfields = sizeof name / sizeof *name, .fields = name

static const struct entry_layout field_layout = {32, FIELDS(field_fields)};
static const struct entry_layout member_layout = {24, FIELDS(member_fields)};

#define PARTS(type, name, number, at, element, object_number)                                      \
	.part = &element##_layout, .count = at,                                                    \
	.content_count = offsetof(struct type##_entry, number),                                    \
	.content_parts = offsetof(struct type##_entry, name),                                      \
	.object_count = offsetof(struct type, object_number),                                      \
	.object_parts = offsetof(struct type, name),                                               \
	.content_size = sizeof(struct element##_entry), .object_size = sizeof(struct element)

const struct entry_layout entry_layouts[ENTRY_KINDS] = {
	[ENTRY_CLOCK] = {16, FIELDS(clock_fields)},
	[ENTRY_SOURCE] = {16, FIELDS(source_fields)},
	[ENTRY_LANE] = {40, FIELDS(lane_fields)},
	[ENTRY_TYPE] = {40, FIELDS(type_fields), PARTS(type, fields, nfields, 28, field, nfields)},
	[ENTRY_DEFINITION] = {16, FIELDS(definition_fields),
			      PARTS(definition, members, nmembers, 8, member, count)},
	[ENTRY_SPACE] = {16, FIELDS(space_fields)},
	[ENTRY_MAP] = {56, FIELDS(map_fields)},
	[ENTRY_LOCATION] = {24, FIELDS(location_fields)},
	[ENTRY_SYMBOL] = {40, FIELDS(symbol_fields)},
	[ENTRY_THREAD] = {32, FIELDS(thread_fields)},
	[ENTRY_STACK] = {8, FIELDS(stack_fields)},
};

/* --- entry --- */

int entry_next(const uint8_t *payload, size_t n, size_t *at, struct raw_entry *e)
{
	size_t left = n - *at;
	const uint8_t *p;
	uint64_t next;

	if (!left)
		return 0;
	if (left < ENTRY_HEADER)
		return -1;
	p = payload + *at;
	*e = (struct raw_entry){.kind = get_u16(p),
				.id = get_u32(p + 8),
				.size = get_u32(p + 4),
				.data = p + ENTRY_HEADER};
	if (e->size > left - ENTRY_HEADER)
		return -1;
	next = *at + ENTRY_HEADER + align_up(e->size, 8);
	*at = next > n ? n : (size_t)next;
	return 1;
}

bool entry_next_of(enum entry_kind kind, const uint8_t *payload, size_t n, size_t *at, uint32_t *id)
{
	struct raw_entry e;

	while (entry_next(payload, n, at, &e) > 0)
		if (e.kind == kind) {
			*id = e.id;
			return true;
		}
	return false;
}

int entry_append(struct buffer *b, enum entry_kind kind, uint32_t id, const void *data, size_t n)
{
	uint8_t head[ENTRY_HEADER] = {0};

	put_u16(head, (uint16_t)kind);
	put_u32(head + 4, (uint32_t)n);
	put_u32(head + 8, id);
	return buffer_put(b, head, sizeof head) || buffer_put(b, data, n) || buffer_align(b, 8) ? -1
												: 0;
}

/* Copy a number between the host's order and the stream's. */
static void entry_number(void *to, const void *from, unsigned width)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	/* the loads swap bytes, or not, in both directions */
	switch (width) {
	case 1: memcpy(to, from, 1); break;
	case 2:
		two = get_u16(from);
		memcpy(to, &two, sizeof two);
		break;
	case 4:
		four = get_u32(from);
		memcpy(to, &four, sizeof four);
		break;
	case 8:
		eight = get_u64(from);
		memcpy(to, &eight, sizeof eight);
		break;
	}
}

void entry_put(const struct entry_layout *l, uint8_t *p, const void *content)
{
	memset(p, 0, l->size);
	for (const struct entry_field *f = l->fields; f < l->fields + l->nfields; f++)
		entry_number(p + f->at, (const uint8_t *)content + f->content, f->width);
}

void entry_get(const struct entry_layout *l, const uint8_t *p, void *content)
{
	for (const struct entry_field *f = l->fields; f < l->fields + l->nfields; f++)
		entry_number((uint8_t *)content + f->content, p + f->at, f->width);
}

int entry_encode(struct buffer *b, enum entry_kind kind, const void *content)
{
	const struct entry_layout *l = &entry_layouts[kind];
	const uint8_t *from = content, *parts = NULL;
	size_t at = b->size;
	uint32_t n = 0;

	if (l->part) {
		memcpy(&n, from + l->content_count, sizeof n);
		memcpy(&parts, from + l->content_parts, sizeof parts);
	}
	if (buffer_zero(b, l->size + (l->part ? (size_t)l->part->size * n : 0)))
		return -1;
	entry_put(l, b->data + at, content);
	for (uint32_t i = 0; i < n; i++, parts += l->content_size)
		entry_put(l->part, b->data + at + entry_part(l, i), parts);
	return 0;
}

int entry_append_content(struct buffer *b, enum entry_kind kind, uint32_t id, const void *content)
{
	size_t at = b->size;

	if (entry_append(b, kind, id, "", 0) || entry_encode(b, kind, content))
		return -1;
	put_u32(b->data + at + 4, (uint32_t)(b->size - at - ENTRY_HEADER));
	return buffer_align(b, 8);
}

static uint32_t at_most(uint32_t n, uint32_t limit)
{
	return n < limit ? n : limit;
}

int entry_symbol(struct buffer *b, const struct symbol_entry *symbol)
{
	enum { ENTRY_MOST = 64 * 1024 };
	struct symbol_entry e = *symbol;

	e.name_size = at_most(e.name_size, ENTRY_MOST);
	e.module_size = at_most(e.module_size, ENTRY_MOST);
	e.file_size = at_most(e.file_size, ENTRY_MOST);
	b->size = 0;
	return entry_encode(b, ENTRY_SYMBOL, &e) || buffer_append(b, e.name, e.name_size) ||
	       buffer_append(b, e.module, e.module_size) || buffer_append(b, e.file, e.file_size);
}

uint32_t entry_parts(const struct entry_layout *l, const uint8_t *p, size_t size)
{
	uint32_t n = l->part ? get_u32(p + l->count) : 0;

	return n && n > (size - l->size) / l->part->size ? UINT32_MAX : n;
}

void entry_set_started(uint8_t *p, struct lane_entry *e, uint32_t started)
{
	e->flags = (e->flags & ~(uint32_t)(LANE_STARTED | LANE_CPU_STARTED)) | started;
	entry_put(&entry_layouts[ENTRY_LANE], p, e);
}

/* --- dictionary type --- */

static bool field_sane(const struct field_entry *f, const struct type_entry *t)
{
	uint64_t count = f->count ? f->count : 1;

	if (f->size > 65536 || f->count > 1 << 20 || f->offset > 1 << 24)
		return false;
	if (f->where == WHERE_FIXED)
		return f->offset + f->size * count <= t->fixed_size;
	/* a `where` of a later version is neither an error nor readable */
	return t->flags & TYPE_TAIL || f->where > WHERE_STRING;
}

/* Find the fault of a type, and of a definition, with that many parts; ids in the entry's bytes are
 * replaced by numbers. NULL: none. */
static const char *dictionary_type_fault(const uint8_t *p, uint32_t parts)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_TYPE];
	struct type_entry t;
	struct field_entry f;

	entry_get(l, p, &t);
	if (t.kind >= KIND_COUNT || t.fixed_size % 4 || t.fixed_size > 65536)
		return "a type of an impossible kind or size";
	if (t.kind == KIND_GAP && (t.fixed_size < GAP_FIXED || !(t.flags & TYPE_TAIL)))
		return "a type of gaps without their numbers or their text";
	if (t.flags & TYPE_VALUES && !(t.flags & TYPE_TAIL))
		return "a type with values and no tail for them";
	for (uint32_t i = 0; i < parts; i++) {
		entry_get(l->part, p + entry_part(l, i), &f);
		if (!field_sane(&f, &t))
			return "a field outside its row";
	}
	return NULL;
}

/* Note which fields of a new type have roles that programs need for each row. */
static void dictionary_type_finish(struct type *t)
{
	t->weight = t->weight ? t->weight : 1;
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];

		t->has_stacks |= field_is_stack(f);
		if (f->where != WHERE_FIXED || f->size != 8 || t->kind != KIND_SAMPLE)
			continue;
		if (f->role == ROLE_PERIOD)
			t->period = f;
		if (f->role == ROLE_TOTAL)
			t->total = f;
		if (f->role == ROLE_COUNT)
			t->calls = f;
	}
}

struct type *dictionary_add_type(struct dictionary *d, const struct type *like)
{
	uint32_t number = d->types.count;
	struct type *t;

	/* no content of an entry is that short */
	if (intern(&d->keys[ENTRY_TYPE], &number, sizeof number) == INTERN_NONE)
		return NULL;
	t = pool_add(&d->types);
	if (!t)
		return NULL;
	*t = *like;
	t->number = number;
	return t;
}

const char *type_kind_name(unsigned kind)
{
	static const char *const kinds[KIND_COUNT] = {
		[KIND_INSTANT] = "instant", [KIND_ENTER] = "enter", [KIND_LEAVE] = "leave",
		[KIND_COUNTER] = "counter", [KIND_GAP] = "gap",	    [KIND_DROP] = "drop",
		[KIND_SAMPLE] = "sample",
	};

	return kind < KIND_COUNT ? kinds[kind] : "";
}

/* --- dictionary definition --- */

/* Enums with fewer members are searched linearly. */
enum { INDEXED_LEAST = 9 };

/* The numbers from low up to the next range's low, which have the same members: the first and
 * the last one, as index + 1; 0: none. */
struct label_range {
	uint64_t low; /* sort_key of the number */
	uint32_t first, last;
};

/* The index of an ENUM, built when the first number is looked up: many programs look up none. */
struct labels {
	uint32_t count; /* 0: not built yet */
	struct label_range ranges[];
};

/* Map numbers of either signedness to unsigned ones of the same order. */
static uint64_t sort_key(const struct definition *d, uint64_t number)
{
	return definition_is_unsigned(d) ? number : number ^ 1ull << 63;
}

static int dictionary_compare_ranges(const void *a, const void *b)
{
	const struct label_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* Find the range of the number; NULL: the number is below all. */
static struct label_range *range_of(const struct label_range *r, uint32_t n, uint64_t key)
{
	size_t at = BISECT(n, i, r[i].low <= key);

	return at ? (struct label_range *)&r[at - 1] : NULL;
}

/* Get the index of the range that begins at the key; of members in order it is `near` or the next
 * one. */
static uint32_t range_near(const struct label_range *r, uint32_t n, uint32_t near, uint64_t key)
{
	for (uint32_t at = near; at < n && at < near + 2; at++)
		if (r[at].low == key)
			return at;
	return (uint32_t)(range_of(r, n, key) - r);
}

/* Find the first range from r on without a member. next: for each range, one not before it where
 * the search continues. */
static uint32_t free_range(uint32_t *next, uint32_t r)
{
	while (next[r] != r) {
		next[r] = next[next[r]];
		r = next[r];
	}
	return r;
}

/* Give each range its first members, in the order of declaration. */
static void give_ranges(const struct definition *d, struct label_range *ranges, uint32_t n,
			uint32_t *next, bool backwards)
{
	uint32_t near = backwards ? n : 0;

	for (uint32_t i = 0; i <= n; i++)
		next[i] = i;
	for (uint32_t i = 0; i < d->count; i++) {
		uint32_t index = backwards ? d->count - 1 - i : i;
		const struct member *m = &d->members[index];
		uint64_t high = sort_key(d, m->high);
		uint32_t begin = range_near(ranges, n, near, sort_key(d, m->low)), r = begin;

		for (r = free_range(next, r); r < n && ranges[r].low <= high;
		     r = free_range(next, r)) {
			*(backwards ? &ranges[r].last : &ranges[r].first) = index + 1;
			next[r] = r + 1;
		}
		near = !backwards ? r : begin < 2 ? 0 : begin - 2;
	}
}

/* Reserve the index by number of a new definition. -1: out of memory. */
static int dictionary_reserve_labels(struct dictionary *dictionary, struct definition *d)
{
	if (d->kind != DEFINITION_ENUM || d->count < INDEXED_LEAST)
		return 0;
	d->labels = dictionary_keep(
		dictionary, sizeof *d->labels + 2 * (size_t)d->count * sizeof *d->labels->ranges);
	return d->labels ? 0 : -1;
}

/* Build the index. -1: out of memory. */
static int index_labels(const struct definition *d)
{
	struct label_range *ranges = d->labels->ranges;
	uint32_t n = 0, kept = 0, *next = calloc(2 * (size_t)d->count + 1, sizeof *next);
	bool sorted = true;

	if (!next)
		return -1;
	for (uint32_t i = 0; i < d->count; i++) {
		uint64_t low = sort_key(d, d->members[i].low),
			 high = sort_key(d, d->members[i].high);

		sorted &= !n || ranges[n - 1].low <= low;
		ranges[n++].low = low;
		if (high != UINT64_MAX)
			ranges[n++].low = high + 1;
	}
	/* many recorders declare the members in order */
	if (!sorted)
		qsort(ranges, n, sizeof *ranges, dictionary_compare_ranges);
	for (uint32_t i = 0; i < n; i++)
		if (!i || ranges[i].low != ranges[kept - 1].low)
			ranges[kept++] = ranges[i];
	give_ranges(d, ranges, kept, next, false);
	give_ranges(d, ranges, kept, next, true);
	free(next);
	d->labels->count = kept;
	return 0;
}

static const struct member *dictionary_find(const struct definition *d, uint32_t from,
					    uint64_t number)
{
	uint64_t key = sort_key(d, number);
	uint32_t end = d->count;

	/* without memory for the index the search is linear */
	if (d->labels && (d->labels->count || !index_labels(d))) {
		const struct label_range *r = range_of(d->labels->ranges, d->labels->count, key);

		if (!r)
			return NULL;
		end = r->last;
		if (from + 1 < r->first)
			from = r->first - 1;
	}
	for (; from < end; from++) {
		const struct member *m = &d->members[from];

		if (sort_key(d, m->low) <= key && key <= sort_key(d, m->high))
			return m;
	}
	return NULL;
}

const struct member *definition_member(const struct definition *d, uint64_t number)
{
	return d ? dictionary_find(d, 0, number) : NULL;
}

const struct member *definition_next_member(const struct definition *d, const struct member *m,
					    uint64_t number)
{
	return dictionary_find(d, (uint32_t)(m - d->members) + 1, number);
}

static const char *dictionary_definition_fault(const uint8_t *p, uint32_t parts)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_DEFINITION];
	struct definition_entry e;
	struct definition d;

	entry_get(l, p, &e);
	d = (struct definition){.kind = e.kind, .flags = e.flags};
	if (d.kind < DEFINITION_ENUM || d.kind > DEFINITION_FRAME)
		return "a definition of an unknown kind";
	for (uint32_t i = 0; i < parts; i++) {
		struct member_entry m;

		entry_get(l->part, p + entry_part(l, i), &m);
		if (m.low != m.high &&
		    (d.kind != DEFINITION_ENUM || sort_key(&d, m.low) > sort_key(&d, m.high)))
			return "a member of an impossible range";
	}
	return NULL;
}

/* --- dictionary read --- */

/* Get the number of an entry by its id in the segment: 0 for id 0, and for an undeclared id, which
 * is a fault of the entry. The number of a string is that of its text. */
static uint32_t dictionary_number_of(struct dictionary_entry *en, enum entry_kind kind, uint32_t id)
{
	uint32_t number = idmap_get(&en->d->ids[kind], id);

	if (id && !number)
		en->wrong = kind == ENTRY_STRING ? "a string that is not declared"
						 : "an entry that is not declared";
	return kind == ENTRY_STRING && number ? number - 1 : number;
}

/* Copy the fields of an entry, or of a part, with numbers in place of ids. Other bytes of the copy
 * are zero, so equal copies have equal content. */
static void dictionary_resolve(struct dictionary_entry *en, const struct entry_layout *l,
			       const uint8_t *from, uint8_t *to)
{
	for (const struct entry_field *f = l->fields; f < l->fields + l->nfields; f++)
		if (f->refers)
			put_u32(to + f->at,
				dictionary_number_of(en, f->refers, get_u32(from + f->at)));
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
	dictionary_resolve(en, l, en->data, key->data);
	for (uint32_t i = 0; i < n; i++)
		dictionary_resolve(en, l->part, en->data + entry_part(l, i),
				   key->data + entry_part(l, i));
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
static void dictionary_fill(struct dictionary *d, const struct entry_layout *l, const uint8_t *from,
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

	dictionary_fill(d, l, from, object);
	if (!l->part)
		return 0;
	memcpy(to + l->object_count, &none, sizeof none);
	parts = dictionary_keep(d, n * (size_t)l->object_size);
	if (!parts)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		dictionary_fill(d, l->part, from + entry_part(l, i),
				parts + (size_t)l->object_size * i);
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

static int dictionary_read_string(struct dictionary_entry *en)
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
	bool use_pid = !per_cpu && l->flags & LANE_PROCESS_TID;
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

static uint32_t dictionary_thread_number(struct dictionary *d, const struct lane *l, bool per_cpu)
{
	uint32_t key[THREAD_WORDS], n;

	thread_key(l, per_cpu, key);
	n = intern(&d->threads, key, sizeof key);
	return n == INTERN_NONE ? 0 : n;
}

/* Note that the stack had rows before this segment. */
static int dictionary_note_started(struct dictionary *d, uint32_t thread)
{
	if (ARRAY_REACH(d->started, d->nstarted, thread))
		return -1;
	d->started[thread] = 1;
	return 0;
}

static int read_lane_flags(struct dictionary_entry *en, const struct lane *l)
{
	struct lane_entry e;

	entry_get(&entry_layouts[ENTRY_LANE], en->data, &e);
	if (e.flags & LANE_STARTED && dictionary_note_started(en->d, l->thread))
		return -1;
	return e.flags & LANE_CPU_STARTED ? dictionary_note_started(en->d, l->cpu_thread) : 0;
}

/* Test and adjust the content in scratch. -1: the entry cannot be used. */
static int dictionary_check(struct dictionary_entry *en, enum entry_kind kind, uint32_t parts)
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
static int dictionary_finish(struct dictionary_entry *en, enum entry_kind kind, void *object)
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
		lane->thread = dictionary_thread_number(d, lane, false);
		lane->cpu_thread = dictionary_thread_number(d, lane, true);
		return 0;
	case ENTRY_DEFINITION: return dictionary_reserve_labels(d, object);
	case ENTRY_TYPE: dictionary_type_finish(object); return 0;
	default: return 0;
	}
}

/* Read an entry of a kind whose content makes an object. */
static int dictionary_read_object(struct dictionary_entry *en, enum entry_kind kind)
{
	const struct entry_layout *l = &entry_layouts[kind];
	struct dictionary *d = en->d;
	uint32_t parts;
	void *object;
	bool fresh;

	if (resolve_entry(en, l, &parts) || dictionary_check(en, kind, parts))
		return -1;
	object = object_of(en, kind, &fresh);
	if (!object)
		return -1;
	if (fresh) {
		*(uint32_t *)object = pool_of(d, kind)->count - 1;
		if (fill_parts(d, l, d->scratch->data, parts, object) ||
		    dictionary_finish(en, kind, object))
			return -1;
	}
	return kind == ENTRY_LANE ? read_lane_flags(en, object) : 0;
}

static int dictionary_read_map(struct dictionary_entry *en)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_MAP];
	struct dictionary *d = en->d;
	struct intern *keys = &d->keys[ENTRY_MAP];
	uint32_t known = keys->count, parts;
	struct map m = {0};
	struct space *s;

	if (resolve_entry(en, l, &parts))
		return -1;
	dictionary_fill(d, l, d->scratch->data, &m);
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
	s->maps[s->nmaps++] = m;
	return 0;
}

enum { DEPTHS = 65536 }; /* the maximum of a row */

/* Add a range of times outside all calls. The oldest ranges are dropped: the rows of MOST / 2 newer
 * ones do not fit in a block, so rows that need the older ones were read (trstream(5) THREAD). */
static int add_outside(struct thread_facts *f, uint64_t since, uint64_t last)
{
	enum { DICTIONARY_READ_MOST = 64 * 1024 };

	if (f->noutside == DICTIONARY_READ_MOST) {
		f->noutside /= 2;
		memmove(f->outside, f->outside + f->noutside, f->noutside * sizeof *f->outside);
	}
	if (ARRAY_GROW(f->outside, f->outside_capacity, f->noutside))
		return -1;
	f->outside[f->noutside++] = (struct time_span){since, last};
	return 0;
}

/* Read an entry about a thread. Later entries of the same thread are merged into it. */
static int dictionary_read_thread(struct dictionary_entry *en)
{
	struct dictionary *d = en->d;
	const struct lane *lane;
	struct thread_facts *f;
	struct thread_entry t;
	uint32_t thread;

	entry_get(&entry_layouts[ENTRY_THREAD], en->data, &t);
	lane = dictionary_lane(d, dictionary_number_of(en, ENTRY_LANE, t.lane));
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
	f = &d->facts[thread];
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
	s.parent = dictionary_number_of(en, ENTRY_STACK, s.parent);
	s.location = dictionary_number_of(en, ENTRY_LOCATION, s.location);
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

static bool same_symbol(const struct location_symbol *a, const struct location_symbol *b)
{
	return a->name.number == b->name.number && a->module.number == b->module.number &&
	       a->file.number == b->file.number && a->start == b->start && a->size == b->size &&
	       a->line == b->line && a->flags == b->flags;
}

/* Read a symbol. Symbols contain their texts: the program that adds them cannot allocate ids of the
 * segment. -1: a fault, or out of memory. */
static int dictionary_read_symbol(struct dictionary_entry *en)
{
	size_t head = entry_layouts[ENTRY_SYMBOL].size;
	struct dictionary *d = en->d;
	uint32_t location = idmap_get(&d->ids[ENTRY_LOCATION], en->id);
	const char *text = (const char *)en->data + head;
	struct location_symbol s, *kept;
	struct symbol_entry e;
	struct location *p;

	if (!location) {
		en->wrong = "a symbol of a location that is not declared";
		return -1;
	}
	entry_get(&entry_layouts[ENTRY_SYMBOL], en->data, &e);
	if ((uint64_t)e.name_size + e.module_size + e.file_size > en->size - head) {
		en->wrong = "longer texts than bytes";
		return -1;
	}
	s = (struct location_symbol){
		.start = e.start,
		.size = e.size,
		.line = e.line,
		.flags = e.flags,
		.name = dictionary_text(d, text, e.name_size),
		.module = dictionary_text(d, text + e.name_size, e.module_size),
		.file = dictionary_text(d, text + e.name_size + e.module_size, e.file_size)};
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
	case ENTRY_STRING: bad = dictionary_read_string(en); break;
	case ENTRY_MAP: bad = dictionary_read_map(en); break;
	case ENTRY_SYMBOL: bad = dictionary_read_symbol(en); break;
	case ENTRY_THREAD: bad = dictionary_read_thread(en); break;
	case ENTRY_STACK: bad = read_stack(en); break;
	default: bad = dictionary_read_object(en, raw->kind);
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

/* --- dictionary --- */

/* Numbers start at 1: element 0 of each pool and key table is unused. */
int dictionary_init(struct dictionary *d)
{
	struct pool *pools[] = {&d->clocks,	 &d->sources, &d->lanes,     &d->types,
				&d->definitions, &d->spaces,  &d->locations, &d->symbols};
	static const size_t elements[] = {
		sizeof(struct clock),	 sizeof(struct source),		sizeof(struct lane),
		sizeof(struct type),	 sizeof(struct definition),	sizeof(struct space),
		sizeof(struct location), sizeof(struct location_symbol)};
	struct text_ref empty;
	struct source *source;
	struct lane *lane;
	struct clock *clock;
	struct type *type;
	struct location *location;

	*d = (struct dictionary){0};
	if (intern(&d->strings, "", 0) == INTERN_NONE)
		return -1;
	for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
		pools[i]->element = elements[i];
		if (!pool_add(pools[i]))
			goto fail;
	}
	for (int k = 1; k < ENTRY_KINDS; k++)
		if (intern(&d->keys[k], "", 0) == INTERN_NONE)
			goto fail;
	if (intern(&d->threads, "", 0) == INTERN_NONE)
		goto fail;
	d->scratch = calloc(1, sizeof *d->scratch);
	d->taken = calloc(1, sizeof *d->taken);
	if (!d->scratch || !d->taken)
		goto fail;
	empty = dictionary_string(d, 0);
	clock = pool_at(&d->clocks, 0);
	clock->name = empty;
	source = pool_at(&d->sources, 0);
	source->format = source->name = empty;
	lane = pool_at(&d->lanes, 0);
	*lane = (struct lane){.source = source, .clock = clock, .buffer = empty, .comm = empty};
	type = pool_at(&d->types, 0);
	type->name = type->group = type->declaration = empty;
	type->weight = 1;
	location = pool_at(&d->locations, 0);
	location->name = empty;
	return 0;
fail:
	dictionary_free(d);
	return -1;
}

void dictionary_free(struct dictionary *d)
{
	struct allocation *a, *next;

	for (uint32_t i = 1; i < d->spaces.count; i++)
		free(((struct space *)pool_at(&d->spaces, i))->maps);
	pool_free(&d->clocks);
	pool_free(&d->sources);
	pool_free(&d->lanes);
	pool_free(&d->types);
	pool_free(&d->definitions);
	pool_free(&d->spaces);
	pool_free(&d->locations);
	pool_free(&d->symbols);
	for (int k = 0; k < ENTRY_KINDS; k++) {
		intern_free(&d->keys[k]);
		idmap_free(&d->ids[k]);
	}
	intern_free(&d->strings);
	intern_free(&d->threads);
	stack_table_free(&d->stacks);
	for (size_t i = 0; i < d->nfacts; i++)
		free(d->facts[i].outside);
	free(d->facts);
	free(d->started);
	for (a = d->allocations; a; a = next) {
		next = a->next;
		free(a);
	}
	if (d->scratch)
		buffer_free(d->scratch);
	free(d->scratch);
	if (d->taken)
		buffer_free(d->taken);
	free(d->taken);
	*d = (struct dictionary){0};
}

void dictionary_segment(struct dictionary *d, bool new_stream)
{
	for (int k = 0; k < ENTRY_KINDS; k++)
		idmap_clear(&d->ids[k]);
	d->segment++;
	if (new_stream)
		d->stream++;
}

void dictionary_forget_threads(struct dictionary *d)
{
	for (uint32_t i = 1; i < d->lanes.count; i++) {
		const struct lane *l = dictionary_lane(d, i);
		const uint32_t stacks[] = {l->thread, l->cpu_thread};

		for (int j = 0; j < 2; j++) {
			uint32_t stack = stacks[j];

			/* lanes without a source are of any stream */
			if (l->source->number && l->source->stream != d->stream)
				continue;
			if (stack < d->nstarted)
				d->started[stack] = 0;
			if (stack < d->nfacts) {
				free(d->facts[stack].outside);
				d->facts[stack] = (struct thread_facts){0};
			}
		}
	}
}

uint32_t dictionary_thread(const struct dictionary *d, uint32_t thread, uint32_t *words)
{
	const struct source *source;

	memcpy(words, intern_data(&d->threads, thread), THREAD_WORDS * sizeof(*words));
	source = pool_at(&d->sources, words[0]);
	words[0] = source->id;
	return source->stream;
}

struct text_ref dictionary_text(struct dictionary *d, const void *data, size_t n)
{
	uint32_t number = intern(&d->strings, data, n);

	return dictionary_string(d, number == INTERN_NONE ? 0 : number);
}

struct text_ref dictionary_location_text(const struct dictionary *d, uint32_t location,
					 char address[static LOCATION_TEXT])
{
	const struct location *p = dictionary_location(d, location);
	int n;

	if (p && p->symbol && p->symbol->name.size)
		return p->symbol->name;
	if (p && p->name.size)
		return p->name;
	n = snprintf(address, LOCATION_TEXT, "<%" PRIx64 ">", p ? p->address : 0);
	return (struct text_ref){.text = address, .size = (uint32_t)n};
}

struct text_ref dictionary_location_name(struct dictionary *d, uint32_t location)
{
	char address[LOCATION_TEXT];
	struct text_ref name = dictionary_location_text(d, location, address);

	return name.text == address ? dictionary_text(d, address, name.size) : name;
}

bool dictionary_outside(const struct dictionary *d, uint32_t thread, uint64_t time)
{
	const struct thread_facts *f = dictionary_facts(d, thread);
	size_t low = BISECT(f ? f->noutside : 0, i, f->outside[i].since <= time);

	return low && f->outside[low - 1].last >= time;
}

/* --- declare --- */

/* Encode the fields of an object, or of a part of one, at an offset of the buffer. */
static void encode(struct buffer *b, size_t at, const struct entry_layout *l, const void *object,
		   declare_id id, void *ctx)
{
	for (const struct entry_field *f = l->fields; f < l->fields + l->nfields; f++) {
		const uint8_t *from = (const uint8_t *)object + f->object;
		struct text_ref text = {0};
		const void *entry = NULL;

		if (!f->refers) {
			entry_number(b->data + at + f->at, from, f->width);
			continue;
		}
		if (f->refers == ENTRY_STRING)
			memcpy(&text, from, sizeof text);
		else
			memcpy(&entry, from, sizeof entry);
		put_u32(b->data + at + f->at, id(ctx, f, text, entry));
	}
}

int declare_encode(struct buffer *b, enum entry_kind kind, const void *object, declare_id id,
		   void *ctx)
{
	const struct entry_layout *l = &entry_layouts[kind];
	const uint8_t *parts = NULL;
	size_t at = b->size;
	uint32_t n = 0;

	if (l->part) {
		memcpy(&n, (const uint8_t *)object + l->object_count, sizeof n);
		memcpy(&parts, (const uint8_t *)object + l->object_parts, sizeof parts);
	}
	if (buffer_zero(b, l->size + (n ? (size_t)l->part->size * n : 0)))
		return -1;
	encode(b, at, l, object, id, ctx);
	for (uint32_t i = 0; i < n; i++, parts += l->object_size)
		encode(b, at + entry_part(l, i), l->part, parts, id, ctx);
	return 0;
}

struct symbol_entry declare_symbol(const struct location_symbol *s)
{
	return (struct symbol_entry){.start = s->start,
				     .size = s->size,
				     .line = s->line,
				     .flags = s->flags,
				     .name = s->name.text,
				     .module = s->module.text,
				     .file = s->file.text,
				     .name_size = s->name.size,
				     .module_size = s->module.size,
				     .file_size = s->file.size};
}
