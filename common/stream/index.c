/*
 * index.c - the INDEX blocks of a stream: what its sections have
 */
#include "common/stream/index.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "common/stream/dictionary.h"
#include "common/stream/events_block.h"
#include "common/stream/stream.h"
#include "common/util/error.h"
#include "common/util/frames.h"
#include "common/util/hash.h"
#include "common/util/intern.h"
#include "common/util/memory.h"
#include "common/util/output.h"

enum {
	SECTION_TARGET = 4 << 20,  /* bytes of a section, about */
	INDEX_TARGET = 512 * 1024, /* bytes of a block from which it is sent */
	SECTION_TYPES = 512,	   /* that are listed */
	SECTION_LANES = 1024,
	TYPE_TEXT = 512,   /* longest group and name together that are listed */
	INDEX_TAIL = 8192, /* longest END */
	INDEX_END_LEAST = 56,
	INDEX_TYPE_HEAD = 8,
	INDEX_LANE = 16,
	INDEX_MARK = 16, /* offset of INDEX_MAGIC in the foot */
	INDEX_TYPE_ROWS = 8,
};

#define INDEX_MAGIC   "trindex1"
#define INDEX_DAMAGED "an index that is damaged"

/* --- writing --- */

struct index_writer {
	struct dictionary dictionary;
	struct events_tables tables;
	uint64_t stream_id, offset; /* of the next byte in the stream */
	uint64_t previous;	    /* offset of the last INDEX, 0 none */
	bool apart;		    /* INDEX blocks are not in the stream */
	uint32_t sequence;
	struct index_section now; /* the open one, if its length is not 0 */
	/* of the open section: rows by number of the type, and the types; the lanes */
	struct {
		uint64_t *rows;
		size_t size;
		struct buffer used; /* numbers, u32 each */
	} types;
	struct buffer lanes; /* indexes, u32 each */
	uint8_t *lane_used;  /* by index */
	size_t lane_size;
	/* of the next INDEX: encoded types and lanes, and sections */
	struct intern type_table, lane_table;
	size_t type_bytes;
	struct buffer sections, block;
	uint32_t count;
	struct intern known_types;  /* encoded, of the stream */
	uint32_t seen[ENTRY_KINDS]; /* numbers in the dictionary that a section has declared */
	bool failed;		    /* without memory there is no index */
};

struct index_writer *index_writer_new(bool apart)
{
	struct index_writer *x = calloc(1, sizeof *x);

	if (!x || dictionary_init(&x->dictionary)) {
		free(x);
		return NULL;
	}
	x->apart = apart;
	return x;
}

void index_writer_free(struct index_writer *x)
{
	if (!x)
		return;
	dictionary_free(&x->dictionary);
	events_tables_free(&x->tables);
	free(x->types.rows);
	buffer_free(&x->types.used);
	buffer_free(&x->lanes);
	free(x->lane_used);
	intern_free(&x->type_table);
	intern_free(&x->lane_table);
	intern_free(&x->known_types);
	buffer_free(&x->sections);
	buffer_free(&x->block);
	free(x);
}

static void index_clear_tables(struct index_writer *x)
{
	intern_free(&x->type_table);
	intern_free(&x->lane_table);
	x->type_table = x->lane_table = (struct intern){0};
	x->type_bytes = 0;
	x->sections.size = 0;
	x->count = 0;
}

static void index_take_head(struct index_writer *x, const struct block *b)
{
	uint64_t id = get_u64(b->payload + 8);
	uint32_t sequence = get_u32(b->payload + 4);
	bool same = x->offset && id == x->stream_id && sequence == x->sequence + 1;

	x->stream_id = id;
	x->sequence = sequence;
	dictionary_segment(&x->dictionary, !same);
	if (!same) {
		index_clear_tables(x);
		x->offset = x->previous = 0;
		for (int i = 0; i < ENTRY_KINDS; i++)
			x->seen[i] = 0;
		intern_free(&x->known_types);
		x->known_types = (struct intern){0};
	}
	x->now = (struct index_section){.offset = x->offset,
					.length = MARKER_SIZE,
					.first = UINT64_MAX,
					.flags = SECTION_BEGIN | (same ? 0 : SECTION_KEEP)};
	x->offset += MARKER_SIZE;
}

/* Test whether the dictionary has entries of a kind that no section before has declared. */
static bool index_new_entries(struct index_writer *x, enum entry_kind kind, uint32_t count)
{
	bool more = count > x->seen[kind];

	x->seen[kind] = count;
	return more;
}

/* Encode a type. Returns the bytes; 0: its texts are too long. */
static size_t index_type_text(const struct type *t, uint8_t text[INDEX_TYPE_HEAD + TYPE_TEXT + 8])
{
	size_t size = (size_t)t->group.size + t->name.size;

	if (size > TYPE_TEXT)
		return 0;
	memset(text, 0, align_up(INDEX_TYPE_HEAD + size, 8));
	put_u32(text, t->kind);
	put_u16(text + 4, (uint16_t)t->group.size);
	put_u16(text + 6, (uint16_t)t->name.size);
	memcpy(text + INDEX_TYPE_HEAD, t->group.text, t->group.size);
	memcpy(text + INDEX_TYPE_HEAD + t->group.size, t->name.text, t->name.size);
	return align_up(INDEX_TYPE_HEAD + size, 8);
}

/* Test whether types are declared that no section before has: each source has types of its own. */
static bool index_new_types(struct index_writer *x)
{
	uint8_t text[INDEX_TYPE_HEAD + TYPE_TEXT + 8];
	uint32_t from = x->seen[ENTRY_TYPE], known = x->known_types.count;
	bool keep = false;

	if (!index_new_entries(x, ENTRY_TYPE, x->dictionary.types.count))
		return false;
	for (uint32_t i = from ? from : 1; i < x->dictionary.types.count; i++) {
		size_t size = index_type_text(dictionary_type(&x->dictionary, i), text);

		keep |= !size || intern(&x->known_types, text, size) == INTERN_NONE;
	}
	return keep || x->known_types.count > known;
}

static void index_take_dict(struct index_writer *x, const struct block *b)
{
	const struct dictionary *d = &x->dictionary;
	struct error ignored; /* every reader of the stream reports it */
	struct raw_entry e;
	uint32_t from = x->seen[ENTRY_LOCATION];
	size_t at = 0;
	bool keep;

	dictionary_read(&x->dictionary, b->payload, b->length, &at, &ignored);
	keep = index_new_types(x);
	keep |= index_new_entries(x, ENTRY_CLOCK, d->clocks.count);
	if (index_new_entries(x, ENTRY_LOCATION, d->locations.count))
		for (uint32_t i = from ? from : 1; i < d->locations.count; i++)
			keep |= dictionary_location(d, i)->arguments != NULL;
	at = 0;
	while (entry_next(b->payload, b->length, &at, &e) > 0)
		keep |= e.kind == ENTRY_THREAD || e.kind >= ENTRY_KINDS;
	if (keep)
		x->now.flags |= SECTION_KEEP;
}

/* Count n rows of a type. */
static int index_count(struct index_writer *x, const struct type *t, uint64_t n)
{
	if (ARRAY_REACH(x->types.rows, x->types.size, t->number))
		return -1;
	if (!x->types.rows[t->number] && buffer_u32(&x->types.used, t->number))
		return -1;
	x->types.rows[t->number] += n;
	return 0;
}

static int index_take_lane(struct index_writer *x, const struct lane *l)
{
	uint32_t flags = l->flags & (LANE_HAS_CPU | LANE_HAS_TID), i;
	uint8_t lane[INDEX_LANE] = {0};

	if (x->now.flags & SECTION_ANY_LANE)
		return 0;
	put_u32(lane, flags);
	put_u32(lane + 4, flags & LANE_HAS_CPU ? (uint32_t)l->cpu : 0);
	put_u32(lane + 8, flags & LANE_HAS_TID ? (uint32_t)l->tid : 0);
	i = intern_find(&x->lane_table, lane, sizeof lane);
	if (i != INTERN_NONE && i < x->lane_size && x->lane_used[i])
		return 0;
	if (x->lanes.size / 4 == SECTION_LANES) {
		x->now.flags |= SECTION_ANY_LANE;
		return 0;
	}
	i = intern(&x->lane_table, lane, sizeof lane);
	if (i == INTERN_NONE || ARRAY_REACH(x->lane_used, x->lane_size, i))
		return -1;
	x->lane_used[i] = 1;
	return buffer_u32(&x->lanes, i);
}

static int index_take_events(struct index_writer *x, const struct block *sent)
{
	struct block b = *sent;
	struct events it;
	struct event ev;
	int bad = 0;

	if (events_block_head(&b) || events_block_tables(&x->tables, &x->dictionary, &b))
		return memory_failed() ? -1 : 0; /* a block that a reader leaves out */
	if (sent->row_data) {
		b.row_data = sent->row_data;
		b.row_size = sent->row_size;
	} else if (events_block_rows(&b, READS_NO_VALUES)) {
		return 0;
	}
	x->now.events += b.rows;
	x->now.first = b.base < x->now.first ? b.base : x->now.first;
	x->now.last = b.last > x->now.last ? b.last : x->now.last;
	for (uint32_t i = 0; i < b.nlanes; i++)
		bad |= index_take_lane(x, b.lanes[i]);
	/* the tail of an only row may be apart */
	if (b.ntypes == 1 || b.rows == 1)
		return bad || index_count(x, b.types[block_row(&b, b.row_data).type], b.rows) ? -1
											      : 0;
	for (events_begin(&it, &b); !bad && event_next(&it, &ev);)
		bad = index_count(x, ev.type, 1);
	return bad;
}

static void index_take_end(struct index_writer *x, const struct block *b)
{
	x->now.flags |= SECTION_END;
	x->now.gaps = get_u64(b->payload + 8);
	x->now.lost = get_u64(b->payload + 16);
	if (get_u32(b->payload + 40))
		x->now.flags |= SECTION_KEEP;
	if (get_u32(b->payload + 44) & END_LOST_MORE)
		x->now.flags |= SECTION_LOST_MORE;
}

/* Get the index of a type in the table of the next INDEX; INTERN_NONE: it is not listed. */
static uint32_t index_type_number(struct index_writer *x, const struct type *t)
{
	uint8_t text[INDEX_TYPE_HEAD + TYPE_TEXT + 8];
	size_t whole = index_type_text(t, text);
	uint32_t count = x->type_table.count, i;

	if (!whole)
		return INTERN_NONE;
	i = intern(&x->type_table, text, whole);
	x->failed |= i == INTERN_NONE;
	x->type_bytes += x->type_table.count > count ? whole : 0;
	return i;
}

/* Append the rows of each type of the open section, and begin to count again. Returns the number
 * of types. */
static uint32_t index_put_types(struct index_writer *x, struct buffer *to)
{
	size_t begin = to->size;
	bool any = x->types.used.size / 4 > SECTION_TYPES;

	for (size_t i = 0; i < x->types.used.size; i += 4) {
		uint32_t number = get_u32(x->types.used.data + i);
		uint64_t rows = x->types.rows[number];
		uint32_t type = any ? INTERN_NONE
				    : index_type_number(x, dictionary_type(&x->dictionary, number));

		x->types.rows[number] = 0;
		any |= type == INTERN_NONE;
		x->failed |= buffer_u32(to, type) ||
			     buffer_u32(to, rows > UINT32_MAX ? UINT32_MAX : (uint32_t)rows);
	}
	x->types.used.size = 0;
	if (!any)
		return (uint32_t)((to->size - begin) / INDEX_TYPE_ROWS);
	to->size = begin;
	x->now.flags |= SECTION_ANY_TYPE;
	return 0;
}

/* Append the open section to the next INDEX. */
static void index_close_section(struct index_writer *x)
{
	struct index_section *s = &x->now;
	struct buffer *to = &x->sections;
	size_t at = to->size;
	uint8_t *p;

	if (!s->length || x->failed || buffer_zero(to, INDEX_SECTION)) {
		x->failed |= s->length != 0;
		return;
	}
	s->ntypes = index_put_types(x, to);
	for (size_t i = 0; i < x->lanes.size; i += 4)
		x->lane_used[get_u32(x->lanes.data + i)] = 0;
	if (s->flags & SECTION_ANY_LANE)
		x->lanes.size = 0;
	s->nlanes = (uint32_t)(x->lanes.size / 4);
	x->failed |= buffer_append(to, x->lanes.data, x->lanes.size) || buffer_align(to, 8);
	x->lanes.size = 0;
	p = to->data + at;
	put_u64(p, s->offset);
	put_u64(p + 8, s->length);
	put_u64(p + 16, s->events ? s->first : 0);
	put_u64(p + 24, s->last);
	put_u64(p + 32, s->events);
	put_u64(p + 40, s->gaps);
	put_u64(p + 48, s->lost);
	put_u32(p + 56, x->sequence);
	put_u32(p + 60, s->flags);
	put_u32(p + 64, s->check);
	put_u32(p + 68, s->ntypes);
	put_u32(p + 72, s->nlanes);
	x->count++;
	*s = (struct index_section){.first = UINT64_MAX};
}

/* Add a block to the open section. */
static void index_take(struct index_writer *x, const struct block *b, const uint8_t *header)
{
	bool end = b->kind == BLOCK_END;

	if (b->kind == BLOCK_HEAD)
		index_take_head(x, b);
	if (!x->now.length)
		x->now.offset = x->offset;
	if (!x->now.length || b->kind == BLOCK_HEAD)
		x->now.check = get_u32(header + BLOCK_CHECKED);
	x->offset += BLOCK_HEADER + b->length;
	x->now.length += BLOCK_HEADER + b->length;
	if (b->kind != BLOCK_EVENTS && !end)
		x->now.flags |= SECTION_DECLARES;
	switch (b->kind) {
	case BLOCK_DICT: index_take_dict(x, b); break;
	case BLOCK_EVENTS: x->failed |= index_take_events(x, b) != 0; break;
	case BLOCK_END: index_take_end(x, b); break;
	case BLOCK_META:
		if (!(get_u32(b->payload + 4) & META_REFERENCE))
			x->now.flags |= SECTION_KEEP;
		break;
	case BLOCK_HEAD:
	case BLOCK_SNAPSHOT: break;
	default: x->now.flags |= SECTION_KEEP;
	}
}

/* Make the next INDEX. NULL: out of memory. */
static const struct buffer *index_block(struct index_writer *x)
{
	uint8_t head[INDEX_HEAD] = {0}, foot[INDEX_FOOT] = {0};
	struct buffer *b = &x->block;
	bool bad;

	put_u64(head, x->stream_id);
	put_u32(head + 8, x->type_table.count);
	put_u32(head + 12, x->lane_table.count);
	put_u32(head + 16, x->count);
	b->size = 0;
	bad = buffer_append(b, head, sizeof head);
	for (uint32_t i = 0; i < x->type_table.count; i++)
		bad |= buffer_append(b, intern_data(&x->type_table, i),
				     intern_size(&x->type_table, i));
	for (uint32_t i = 0; i < x->lane_table.count; i++)
		bad |= buffer_append(b, intern_data(&x->lane_table, i), INDEX_LANE);
	bad |= buffer_append(b, x->sections.data, x->sections.size);
	put_u64(foot, x->offset);
	put_u64(foot + 8, x->previous);
	memcpy(foot + INDEX_MARK, INDEX_MAGIC, 8);
	put_u32(foot + 24, (uint32_t)(b->size + INDEX_FOOT));
	bad |= buffer_append(b, foot, sizeof foot - 4);
	bad |= buffer_u32(b, checksum(0, b->data, b->size));
	x->failed |= bad || b->size > BLOCK_LIMIT;
	if (x->failed)
		return NULL;
	if (!x->apart) {
		x->previous = x->offset;
		x->offset += BLOCK_HEADER + b->size;
	}
	index_clear_tables(x);
	return b;
}

bool index_writer_take(struct index_writer *x, const struct block *b, const uint8_t *header,
		       const struct buffer **payload)
{
	*payload = NULL;
	if (b)
		index_take(x, b, header);
	if (b && b->kind != BLOCK_END && x->now.length < SECTION_TARGET)
		return false;
	index_close_section(x);
	if (!x->failed && x->count &&
	    (!b || x->sections.size + x->type_bytes + x->lane_table.count * (size_t)INDEX_LANE >=
			   INDEX_TARGET))
		*payload = index_block(x);
	return true;
}

/* --- reading --- */

struct index_table {
	struct index_table *next;
	uint8_t *payload;
	uint32_t *types; /* offsets in the payload */
	const uint8_t *lanes;
	uint32_t ntypes, nlanes, nsections;
	uint32_t length;
	uint64_t at, offset,
		previous; /* of the block in the file, in the stream; of the one before */
	uint64_t stream_id;
	size_t sections; /* offset in the payload */
};

struct index_type index_type(const struct index_section *s, uint32_t i)
{
	const uint8_t *of = s->lists + (size_t)i * INDEX_TYPE_ROWS,
		      *p = s->table->payload + s->table->types[get_u32(of)];
	struct index_type t = {.kind = get_u32(p),
			       .group_size = get_u16(p + 4),
			       .name_size = get_u16(p + 6),
			       .rows = get_u32(of + 4)};

	t.group = (const char *)p + INDEX_TYPE_HEAD;
	t.name = t.group + t.group_size;
	return t;
}

struct index_lane index_lane(const struct index_section *s, uint32_t i)
{
	const uint8_t *of = s->lists + (size_t)s->ntypes * INDEX_TYPE_ROWS + 4 * (size_t)i,
		      *p = s->table->lanes + (size_t)get_u32(of) * INDEX_LANE;

	return (struct index_lane){get_u32(p), (int32_t)get_u32(p + 4), (int32_t)get_u32(p + 8)};
}

static void index_table_free(struct index_table *t)
{
	if (!t)
		return;
	free(t->payload);
	free(t->types);
	free(t);
}

void index_close(struct index *x)
{
	while (x->tables) {
		struct index_table *next = x->tables->next;

		index_table_free(x->tables);
		x->tables = next;
	}
	free(x->sections);
	*x = (struct index){0};
}

/* Test for the header of a block of a kind. */
static bool index_header(const uint8_t *p, unsigned kind, uint32_t *length)
{
	*length = get_u32(p + 8);
	return get_u32(p) == BLOCK_SYNC && get_u16(p + 4) == kind && *length % 8 == 0 &&
	       get_u32(p + BLOCK_CHECKED) == checksum(0, p, BLOCK_CHECKED);
}

static bool index_get(int fd, uint64_t offset, void *to, size_t n)
{
	return io_read_at(fd, to, n, offset) == (ssize_t)n;
}

/* Find the END that ends at an offset. Returns its offset; UINT64_MAX: there is none. */
static uint64_t index_find_end(uint64_t end, int fd)
{
	uint8_t tail[INDEX_TAIL];
	size_t n = end < sizeof tail ? (size_t)end : sizeof tail;
	uint32_t length;

	if (n < BLOCK_HEADER + INDEX_END_LEAST || !index_get(fd, end - n, tail, n))
		return UINT64_MAX;
	for (size_t at = n - BLOCK_HEADER - INDEX_END_LEAST;; at -= 8) {
		if (index_header(tail + at, BLOCK_END, &length) && length == n - at - BLOCK_HEADER)
			return end - n + at;
		if (at < 8)
			return UINT64_MAX;
	}
}

/* Find the lists of the payload. false: they exceed the payload. */
static bool index_lay_out(struct index_table *t)
{
	const uint8_t *p = t->payload;
	size_t end = t->length - INDEX_FOOT, at = INDEX_HEAD;

	t->stream_id = get_u64(p);
	t->ntypes = get_u32(p + 8);
	t->nlanes = get_u32(p + 12);
	t->nsections = get_u32(p + 16);
	if (t->ntypes > end / INDEX_TYPE_HEAD || t->nlanes > end / INDEX_LANE ||
	    t->nsections > end / INDEX_SECTION)
		return false;
	t->types = malloc(((size_t)t->ntypes + 1) * sizeof *t->types);
	for (uint32_t i = 0; t->types && i < t->ntypes; i++) {
		size_t size = INDEX_TYPE_HEAD;

		if (size > end - at)
			return false;
		size += (size_t)get_u16(p + at + 4) + get_u16(p + at + 6);
		size = align_up(size, 8);
		if (size > end - at)
			return false;
		t->types[i] = (uint32_t)at;
		at += size;
	}
	t->lanes = p + at;
	if (!t->types || t->nlanes > (end - at) / INDEX_LANE)
		return false;
	t->sections = at + (size_t)t->nlanes * INDEX_LANE;
	return true;
}

/* Take the payload of an INDEX at an offset of the stream of the file. NULL: it is damaged, or
 * there is no memory. */
static struct index_table *index_parse(struct buffer *payload, uint64_t at)
{
	struct index_table *t = calloc(1, sizeof *t);
	const uint8_t *foot;

	if (!t || payload->size < INDEX_HEAD + INDEX_FOOT || payload->size > BLOCK_LIMIT) {
		free(t);
		return NULL;
	}
	t->payload = payload->data;
	t->length = (uint32_t)payload->size;
	*payload = (struct buffer){0};
	t->at = at;
	foot = t->payload + t->length - INDEX_FOOT;
	t->offset = get_u64(foot);
	t->previous = get_u64(foot + 8);
	if (memcmp(foot + INDEX_MARK, INDEX_MAGIC, 8) != 0 || get_u32(foot + 24) != t->length ||
	    get_u32(foot + 28) != checksum(0, t->payload, t->length - 4) || t->offset > at ||
	    !index_lay_out(t)) {
		index_table_free(t);
		return NULL;
	}
	return t;
}

/* Read the INDEX whose header is at an offset of the file. NULL: it is damaged, or there is no
 * memory. */
static struct index_table *index_read_block(uint64_t at, uint32_t length, int fd)
{
	struct index_table *t = NULL;
	struct buffer b = {0};

	if (length <= BLOCK_LIMIT && !buffer_reserve(&b, length) &&
	    index_get(fd, at + BLOCK_HEADER, b.data, length)) {
		b.size = length;
		t = index_parse(&b, at);
	}
	buffer_free(&b);
	return t;
}

static bool index_lists_fit(const struct index_section *s)
{
	const uint8_t *lanes = s->lists + (size_t)s->ntypes * INDEX_TYPE_ROWS;

	for (uint32_t i = 0; i < s->ntypes; i++)
		if (get_u32(s->lists + (size_t)i * INDEX_TYPE_ROWS) >= s->table->ntypes)
			return false;
	for (uint32_t i = 0; i < s->nlanes; i++)
		if (get_u32(lanes + 4 * (size_t)i) >= s->table->nlanes)
			return false;
	return true;
}

/* Test whether a section may have enters or leaves. */
static bool index_section_calls(const struct index_section *s)
{
	bool calls = s->flags & SECTION_ANY_TYPE;

	for (uint32_t i = 0; i < s->ntypes && !calls; i++) {
		uint32_t kind = index_type(s, i).kind;

		calls = kind == KIND_ENTER || kind == KIND_LEAVE;
	}
	return calls;
}

/* Add the sections of a block, which end where the block is. false: they are wrong. */
static bool index_add_sections(struct index *x, struct index_table *t)
{
	uint64_t stream = t->at - t->offset, next = 0;
	size_t at = t->sections, end = t->length - INDEX_FOOT;

	t->next = x->tables;
	x->tables = t;
	if (end - at >= INDEX_SECTION)
		next = get_u64(t->payload + at);
	if (next > t->offset)
		return false;
	for (uint32_t i = 0; i < t->nsections; i++) {
		const uint8_t *p = t->payload + at;
		struct index_section s = {
			.table = t, .stream_id = t->stream_id, .lists = p + INDEX_SECTION};
		size_t lists;

		if (end - at < INDEX_SECTION)
			return false;
		s.offset = get_u64(p);
		s.length = get_u64(p + 8);
		s.first = get_u64(p + 16);
		s.last = get_u64(p + 24);
		s.events = get_u64(p + 32);
		s.gaps = get_u64(p + 40);
		s.lost = get_u64(p + 48);
		s.sequence = get_u32(p + 56);
		s.flags = get_u32(p + 60);
		s.check = get_u32(p + 64);
		s.ntypes = get_u32(p + 68);
		s.nlanes = get_u32(p + 72);
		lists = align_up((uint64_t)s.ntypes * INDEX_TYPE_ROWS + 4 * (uint64_t)s.nlanes, 8);
		at += INDEX_SECTION;
		if (s.offset != next || s.length > t->offset - next || s.length < BLOCK_HEADER ||
		    s.first > s.last || lists > end - at || !index_lists_fit(&s) ||
		    ARRAY_GROW(x->sections, x->capacity, x->count))
			return false;
		next += s.length;
		at += lists;
		s.offset += stream;
		x->calls |= index_section_calls(&s);
		x->sections[x->count++] = s;
	}
	return next == t->offset && at == end;
}

/* Add the blocks of a stream, from the last one backwards. false: one is damaged. */
static bool index_add_stream(struct index *x, struct index_table *t, int fd)
{
	uint64_t stream = t->at - t->offset;
	uint8_t header[BLOCK_HEADER];
	uint32_t length;

	while (t) {
		struct index_table *before;

		if (!index_add_sections(x, t))
			return false;
		if (!t->previous)
			return true;
		if (t->previous >= t->offset ||
		    !index_get(fd, stream + t->previous, header, sizeof header) ||
		    !index_header(header, BLOCK_INDEX, &length))
			return false;
		before = index_read_block(stream + t->previous, length, fd);
		if (before &&
		    (before->offset != t->previous || before->stream_id != t->stream_id)) {
			index_table_free(before);
			return false;
		}
		t = before;
	}
	return false;
}

static int index_by_offset(const void *a, const void *b)
{
	const struct index_section *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Add the INDEX blocks that are in the stream of a file of size bytes. */
static void index_find(struct index *x, uint64_t size, int fd)
{
	uint64_t end = size, at;
	uint8_t foot[INDEX_FOOT];

	while (end && !x->fault && (at = index_find_end(end, fd)) != UINT64_MAX) {
		struct index_table *t;
		uint32_t length;

		if (at < BLOCK_HEADER + INDEX_HEAD + INDEX_FOOT ||
		    !index_get(fd, at - INDEX_FOOT, foot, sizeof foot) ||
		    memcmp(foot + INDEX_MARK, INDEX_MAGIC, 8) != 0)
			break;
		length = get_u32(foot + 24);
		t = (uint64_t)length + BLOCK_HEADER <= at
			    ? index_read_block(at - BLOCK_HEADER - length, length, fd)
			    : NULL;
		end = t ? t->at - t->offset : 0;
		if (!t || !index_add_stream(x, t, fd))
			x->fault = INDEX_DAMAGED;
	}
}

/* Add those that are beside the stream. */
static void index_find_aside(struct index *x, struct frames_in *frames)
{
	struct buffer payload = {0};
	uint64_t offset;
	size_t at = 0;

	while (!x->fault && frames_aside(frames, &at, &payload, &offset) > 0) {
		struct index_table *t = index_parse(&payload, offset);

		if (!t || !index_add_sections(x, t))
			x->fault = INDEX_DAMAGED;
	}
	buffer_free(&payload);
}

int index_open(struct index *x, int fd, struct frames_in *frames)
{
	struct stat st;

	*x = (struct index){0};
	if (frames)
		index_find_aside(x, frames);
	else if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		index_find(x, (uint64_t)st.st_size, fd);
	if (x->count)
		qsort(x->sections, x->count, sizeof *x->sections, index_by_offset);
	for (size_t i = 1; i < x->count && !x->fault; i++)
		if (x->sections[i].offset - x->sections[i - 1].offset < x->sections[i - 1].length)
			x->fault = INDEX_DAMAGED;
	if (x->fault)
		x->count = 0;
	return memory_failed() ? -1 : 0;
}
