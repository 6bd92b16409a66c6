#include "writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zlib.h>

#include "field.h"
#include "reader.h"

enum {
	ROWS_CAPACITY = BLOCK_TARGET,
	FEW_ROWS = 64,		  /* so few are widened rather than sent */
	DICT_LIMIT = 256 * 1024,  /* pending declarations that are sent at once */
	ENTRY_LIMIT = 512 * 1024, /* what is longer is cut */
	SYMBOL_TEXT = 64 * 1024,
	ROW_LIMIT = EVENTS_LIMIT - 4096, /* one such row, its block's head and tables */
	OLD_NS = 50 * 1000 * 1000,
};

/* A declaration: its payload in the arena, and in which segment it was sent last. */
struct stored_entry {
	size_t offset;
	uint32_t size;
	uint32_t segment;
	uint32_t child; /* first of those that are sent behind it: maps of a space, symbol of a
			   place */
	uint32_t next;
};

struct sent_meta {
	uint32_t source;
	char *name;
	uint64_t hash, total;
};

static int no_memory(struct writer *w)
{
	w->out_of_memory = true;
	return error_set(&w->error, NULL, NO_OFFSET, "out of memory");
}

int writer_init(struct writer *w, struct output *output, uint64_t segment_limit)
{
	*w = (struct writer){.output = output, .segment_limit = segment_limit, .block = 1};
	w->crc = output_is_file(output);
	w->rows = malloc(ROWS_CAPACITY);
	if (!w->rows)
		return no_memory(w);
	w->row = w->rows;
	w->limit = w->rows + ROWS_CAPACITY;
	/* id 0 is none, for every kind */
	for (int k = 1; k < ENTRY_KINDS; k++) {
		struct stored_entries *s = &w->entries[k];

		s->entry = array_grow(NULL, &s->capacity, 0, sizeof *s->entry);
		if (!s->entry)
			return no_memory(w);
		s->entry[0] = (struct stored_entry){0};
		s->count = 1;
	}
	if (intern(&w->strings, "", 0) == INTERN_NONE)
		return no_memory(w);
	return 0;
}

static void free_slots(struct slots *s)
{
	free(s->slot);
	free(s->ids);
}

void writer_free(struct writer *w)
{
	free(w->rows);
	free_slots(&w->types);
	free_slots(&w->lanes);
	free_slots(&w->places);
	for (int k = 0; k < ENTRY_KINDS; k++)
		free(w->entries[k].entry);
	for (size_t i = 0; i < w->nmetas; i++)
		free(w->metas[i].name);
	free(w->metas);
	intern_free(&w->strings);
	buffer_free(&w->arena);
	buffer_free(&w->dict);
	buffer_free(&w->scratch);
	buffer_free(&w->properties);
	buffer_free(&w->used);
	w->rows = NULL;
}

int writer_property(struct writer *w, uint16_t key, const void *data, size_t n)
{
	uint8_t head[8] = {0};

	put_u16(head, key);
	put_u32(head + 4, (uint32_t)n);
	if (buffer_append(&w->properties, head, sizeof head) ||
	    buffer_append(&w->properties, data, n) || buffer_align(&w->properties, 8))
		return no_memory(w);
	return 0;
}

int writer_command(struct writer *w, int argc, char **argv)
{
	struct buffer line = {0};
	int result = 0;

	for (int i = 0; i < argc && line.size < 65536; i++)
		if (buffer_append(&line, " ", i > 0) ||
		    buffer_append(&line, argv[i], strlen(argv[i])))
			result = no_memory(w);
	if (!result)
		result = writer_property(w, HEAD_COMMAND, line.data,
					 line.size < 65536 ? line.size : 65536);
	buffer_free(&line);
	return result;
}

/* --- blocks on their way out --- */

static void block_header(const struct writer *w, uint8_t *p, uint16_t kind, uint16_t flags,
			 uint32_t length)
{
	put_u32(p, BLOCK_SYNC);
	put_u16(p + 4, kind);
	put_u16(p + 6, (uint16_t)((flags & ~BLOCK_HAS_CRC) | (w->crc ? BLOCK_HAS_CRC : 0)));
	put_u32(p + 8, length);
	put_u32(p + 12, 0);
}

/* Nothing may follow a block that went out in part. */
static int send(struct writer *w, struct iovec *v, int n, struct error *e)
{
	if (w->broken || !output_writev(w->output, v, n, e))
		return 0;
	w->broken = true;
	return -1;
}

/* One block of up to three parts, whose sizes add up to a multiple of 8. */
static int send_block(struct writer *w, uint16_t kind, uint16_t flags, const struct iovec *parts,
		      int n)
{
	uint8_t header[BLOCK_HEADER];
	struct iovec v[4] = {{header, sizeof header}};
	size_t length = 0;
	uint32_t crc = 0;

	for (int i = 0; i < n; i++) {
		v[i + 1] = parts[i];
		length += parts[i].iov_len;
		if (w->crc && parts[i].iov_len) /* of no bytes at NULL it would begin anew */
			crc = (uint32_t)crc32_z(crc, parts[i].iov_base, parts[i].iov_len);
	}
	block_header(w, header, kind, flags, (uint32_t)length);
	if (w->crc)
		put_u32(header + 12, crc);
	w->segment_bytes += length + BLOCK_HEADER;
	return send(w, v, n + 1, &w->error);
}

static int send_head(struct writer *w, uint64_t stream_id, uint32_t sequence, const void *before,
		     size_t before_size)
{
	char marker[MARKER_SIZE + 1];
	uint8_t head[24] = {0};
	struct iovec mark = {marker, MARKER_SIZE};
	struct iovec parts[] = {{head, sizeof head},
				{(void *)before, before_size},
				{w->properties.data, w->properties.size}};

	snprintf(marker, sizeof marker, MARKER_PREFIX "%08x", (uint32_t)stream_id);
	put_u16(head, STREAM_MAJOR);
	put_u16(head + 2, STREAM_MINOR);
	put_u32(head + 4, sequence);
	put_u64(head + 8, stream_id);
	if (sizeof head + before_size + w->properties.size > BLOCK_LIMIT)
		parts[2].iov_len = 0; /* of very many stages: the last are not told */
	w->stream_id = stream_id;
	w->sequence = sequence;
	w->segment++;
	w->segment_bytes = MARKER_SIZE;
	w->in_segment = true;
	w->events = w->gaps = w->lost = 0;
	w->first = UINT64_MAX;
	w->last_time = 0;
	if (send(w, &mark, 1, &w->error))
		return -1;
	return send_block(w, BLOCK_HEAD, 0, parts, 3);
}

/* What upstream sent outside of a segment (its HEAD was damaged) goes into one. */
static int need_segment(struct writer *w)
{
	if (w->in_segment)
		return 0;
	return send_head(w, w->stream_id, w->more_follows ? w->sequence + 1 : 0, NULL, 0);
}

int writer_begin(struct writer *w, uint64_t stream_id)
{
	return send_head(w, stream_id, 0, NULL, 0);
}

static int send_dict(struct writer *w)
{
	struct iovec part = {w->dict.data, w->dict.size};
	int result;

	if (!w->dict.size)
		return 0;
	result = send_block(w, BLOCK_DICT, 0, &part, 1);
	w->dict.size = 0;
	return result;
}

/* The tables of the present block behind the EVENTS header, in scratch. */
static int build_tables(struct writer *w)
{
	const struct slots *all[] = {&w->types, &w->lanes, &w->places};
	uint8_t head[EVENTS_HEADER] = {0};
	struct buffer *b = &w->scratch;

	put_u64(head, w->base);
	put_u64(head + 8, w->last);
	put_u32(head + 16, w->count);
	put_u16(head + 20, (uint16_t)((w->narrow ? 0 : EVENTS_WIDE) | (w->bare ? EVENTS_BARE : 0)));
	put_u16(head + 22, (uint16_t)w->types.count);
	put_u16(head + 24, (uint16_t)w->lanes.count);
	put_u32(head + 28, w->places.count);
	b->size = 0;
	if (buffer_append(b, head, sizeof head))
		return -1;
	for (int k = 0; k < 3; k++)
		for (uint32_t i = 0; i < all[k]->count; i++)
			if (buffer_u32(b, all[k]->ids[i]))
				return -1;
	return buffer_align(b, 8);
}

static void count_events(struct writer *w, uint64_t rows, uint64_t base, uint64_t last)
{
	w->events += rows;
	if (base < w->first)
		w->first = base;
	if (last > w->last_time)
		w->last_time = last;
}

static int end_segment(struct writer *w, uint32_t flags);

/* The block being made is empty again. */
static void clear_block(struct writer *w)
{
	w->count = 0;
	w->row = w->rows;
	w->limit = w->rows + ROWS_CAPACITY;
	w->narrow = w->started = false;
	w->block++;
	w->types.count = w->lanes.count = w->places.count = 0;
}

static int send_events(struct writer *w)
{
	struct iovec parts[2];
	size_t n;

	if (!w->count)
		return 0;
	if (build_tables(w))
		return no_memory(w);
	n = (size_t)(w->row - w->rows);
	if (n % 8) { /* rows are 4-aligned, blocks 8-aligned; there is always room for it */
		put_u32(w->row, 0);
		n += 4;
	}
	parts[0] = (struct iovec){w->scratch.data, w->scratch.size};
	parts[1] = (struct iovec){w->rows, n};
	count_events(w, w->count, w->base, w->last);
	clear_block(w);
	return send_block(w, BLOCK_EVENTS, 0, parts, 2);
}

int writer_flush(void *writer)
{
	struct writer *w = writer;

	if (w->out_of_memory)
		return no_memory(w);
	return send_dict(w) || send_events(w) ? -1 : 0;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int writer_flush_old(struct writer *w)
{
	return w->count && now() - w->started_at > OLD_NS ? writer_flush(w) : 0;
}

static int send_meta(struct writer *w, const struct sent_meta *m, uint32_t flags, uint64_t offset,
		     const void *data, size_t n)
{
	size_t name = strlen(m->name);
	uint8_t head[40];
	struct iovec parts[2];
	struct buffer *b = &w->scratch;

	put_u32(head, m->source);
	put_u32(head + 4, flags);
	put_u64(head + 8, m->hash);
	put_u64(head + 16, m->total);
	put_u64(head + 24, offset);
	put_u32(head + 32, (uint32_t)name);
	put_u32(head + 36, (uint32_t)n);
	b->size = 0;
	if (buffer_append(b, head, sizeof head) || buffer_append(b, m->name, name) ||
	    buffer_append(b, data, n) || buffer_align(b, 8))
		return no_memory(w);
	parts[0] = (struct iovec){b->data, b->size};
	return send_block(w, BLOCK_META, BLOCK_MAY_SKIP | BLOCK_MAY_COPY, parts, 1);
}

static int declare(struct writer *w, enum entry_kind kind, uint32_t id);

int writer_meta(struct writer *w, uint32_t source, const char *name, const void *data, size_t n)
{
	struct sent_meta m = {source, NULL, hash_bytes(data, n, 0), n}, *metas;
	const char *p = data;
	size_t done = 0;

	metas = array_grow(w->metas, &w->metas_capacity, w->nmetas, sizeof *metas);
	if (!metas)
		return no_memory(w);
	w->metas = metas;
	m.name = strndup(name, 4096);
	if (!m.name)
		return no_memory(w);
	metas[w->nmetas++] = m;
	if (declare(w, ENTRY_SOURCE, source) || writer_flush(w))
		return -1;
	do {
		size_t piece = n - done < META_PIECE ? n - done : META_PIECE;

		if (send_meta(w, &m, 0, done, p + done, piece))
			return -1;
		done += piece;
	} while (done < n);
	/* the source's parts are no reason to begin a new segment */
	w->segment_bytes = 0;
	return 0;
}

static int send_end(struct writer *w, uint32_t flags)
{
	uint8_t head[56] = {0};
	struct buffer *b = &w->scratch;
	struct iovec part;
	size_t n = strlen(w->message);

	put_u64(head, w->events);
	put_u64(head + 8, w->gaps);
	put_u64(head + 16, w->lost);
	put_u64(head + 24, w->events ? w->first : 0);
	put_u64(head + 32, w->last_time);
	put_u32(head + 40, w->status);
	put_u32(head + 44, flags);
	put_u32(head + 48, (uint32_t)n);
	b->size = 0;
	if (buffer_append(b, head, sizeof head) || buffer_append(b, w->message, n) ||
	    buffer_align(b, 8))
		return no_memory(w);
	part = (struct iovec){b->data, b->size};
	w->in_segment = false;
	w->more_follows = !(flags & END_LAST);
	return send_block(w, BLOCK_END, 0, &part, 1);
}

static int end_segment(struct writer *w, uint32_t flags)
{
	if (writer_flush(w))
		return -1;
	return send_end(w, flags);
}

static int declare_used(struct writer *w)
{
	for (size_t i = 0; i < w->used.size; i += 4)
		if (declare(w, ENTRY_DEFINITION, get_u32(w->used.data + i)))
			return -1;
	return 0;
}

static int next_segment(struct writer *w)
{
	if (end_segment(w, 0) || send_head(w, w->stream_id, w->sequence + 1, NULL, 0))
		return -1;
	for (size_t i = 0; i < w->nmetas; i++)
		if (declare(w, ENTRY_SOURCE, w->metas[i].source))
			return -1;
	if (send_dict(w))
		return -1;
	for (size_t i = 0; i < w->nmetas; i++)
		if (send_meta(w, &w->metas[i], META_REFERENCE, 0, NULL, 0))
			return -1;
	w->segment_bytes = 0;
	return declare_used(w);
}

void writer_status(struct writer *w, uint32_t status, const char *message)
{
	if (!w->message[0] && message)
		snprintf(w->message, sizeof w->message, "%s", message);
	if (status > w->status)
		w->status = status;
}

int writer_finish(struct writer *w)
{
	if (w->broken || !w->in_segment)
		return 0;
	return end_segment(w, END_LAST);
}

/* --- declarations --- */

/* Where the ids of other entries stand in an entry, and behind what size they repeat. */
struct reference {
	uint16_t offset, kind;
};

struct layout {
	uint16_t size, stride; /* of the head and of what repeats behind it */
	struct reference head[6], repeated[4];
};

static const struct layout layouts[ENTRY_KINDS] = {
	[ENTRY_CLOCK] = {16, 0, {{0, ENTRY_STRING}}, {{0}}},
	[ENTRY_SOURCE] = {16, 0, {{0, ENTRY_STRING}, {4, ENTRY_STRING}}, {{0}}},
	[ENTRY_LANE] =
		{40,
		 0,
		 {{0, ENTRY_SOURCE}, {4, ENTRY_CLOCK}, {8, ENTRY_STRING}, {12, ENTRY_STRING}},
		 {{0}}},
	[ENTRY_TYPE] =
		{40,
		 FIELD_SIZE,
		 {{0, ENTRY_SOURCE}, {4, ENTRY_STRING}, {8, ENTRY_STRING}, {12, ENTRY_STRING}},
		 {{0, ENTRY_STRING}, {4, ENTRY_STRING}, {24, ENTRY_DEFINITION}}},
	[ENTRY_DEFINITION] = {16, 16, {{0, ENTRY_STRING}}, {{0, ENTRY_STRING}}},
	[ENTRY_SPACE] = {16, 0, {{0, ENTRY_SOURCE}, {4, ENTRY_STRING}}, {{0}}},
	[ENTRY_MAP] =
		{56,
		 0,
		 {{0, ENTRY_SPACE}, {44, ENTRY_STRING}, {48, ENTRY_STRING}, {52, ENTRY_STRING}},
		 {{0}}},
	[ENTRY_PLACE] =
		{24, 0, {{0, ENTRY_SPACE}, {16, ENTRY_STRING}, {20, ENTRY_DEFINITION}}, {{0}}},
};

static int append_entry(struct writer *w, enum entry_kind kind, uint32_t id, const void *data,
			uint32_t size)
{
	uint8_t head[ENTRY_HEADER] = {0};

	if (w->dict.size + size > DICT_LIMIT && send_dict(w))
		return -1;
	put_u16(head, (uint16_t)kind);
	put_u32(head + 4, size);
	put_u32(head + 8, id);
	if (buffer_append(&w->dict, head, sizeof head) || buffer_append(&w->dict, data, size) ||
	    buffer_align(&w->dict, 8))
		return no_memory(w);
	return 0;
}

static int declare_references(struct writer *w, size_t entry, const struct reference *r, int n)
{
	for (int i = 0; i < n && r[i].kind; i++)
		if (declare(w, r[i].kind, get_u32(w->arena.data + entry + r[i].offset)))
			return -1;
	return 0;
}

/* Send an entry, and before it what it names, unless this segment has it. */
static int declare(struct writer *w, enum entry_kind kind, uint32_t id)
{
	const struct layout *l = &layouts[kind];
	struct stored_entry *e;
	size_t at, end;

	if (!id)
		return 0;
	e = &w->entries[kind].entry[id];
	if (e->segment == w->segment)
		return 0;
	e->segment = w->segment;
	at = e->offset;
	end = at + e->size;
	if (declare_references(w, at, l->head, 6))
		return -1;
	for (size_t more = at + l->size; l->stride && more < end; more += l->stride)
		if (declare_references(w, more, l->repeated, 4))
			return -1;
	if (append_entry(w, kind, id, w->arena.data + at, e->size))
		return -1;
	for (uint32_t child = e->child; child;) {
		enum entry_kind what = kind == ENTRY_SPACE ? ENTRY_MAP : ENTRY_SYMBOL;

		if (what == ENTRY_MAP) {
			if (declare(w, what, child))
				return -1;
		} else {
			const struct stored_entry *s = &w->entries[what].entry[child];

			if (append_entry(w, what, id, w->arena.data + s->offset, s->size))
				return -1;
		}
		child = w->entries[what].entry[child].next;
	}
	return 0;
}

/* Keep a declaration; it is sent when something uses it. */
static uint32_t store(struct writer *w, enum entry_kind kind, const void *data, size_t size)
{
	struct stored_entries *s = &w->entries[kind];
	struct stored_entry *entry = array_grow(s->entry, &s->capacity, s->count, sizeof *entry);

	if (entry)
		s->entry = entry;
	if (!entry || s->count >= UINT32_MAX || size > ENTRY_LIMIT ||
	    buffer_append(&w->arena, data, size)) {
		no_memory(w);
		return 0;
	}
	entry[s->count] =
		(struct stored_entry){.offset = w->arena.size - size, .size = (uint32_t)size};
	return (uint32_t)s->count++;
}

uint32_t writer_string(struct writer *w, const void *data, size_t n)
{
	uint32_t id;

	if (!n)
		return 0;
	if (n > ENTRY_LIMIT)
		n = ENTRY_LIMIT;
	id = intern(&w->strings, data, n);
	if (id == INTERN_NONE) {
		no_memory(w);
		return 0;
	}
	if (id == w->entries[ENTRY_STRING].count)
		return store(w, ENTRY_STRING, data, n);
	return id;
}

uint32_t writer_text(struct writer *w, const char *s)
{
	return s ? writer_string(w, s, strlen(s)) : 0;
}

uint32_t writer_clock(struct writer *w, const struct clock_entry *e)
{
	uint8_t p[16];

	put_u32(p, e->name);
	put_u32(p + 4, e->flags);
	put_u64(p + 8, (uint64_t)e->wall);
	return store(w, ENTRY_CLOCK, p, sizeof p);
}

uint32_t writer_source(struct writer *w, const struct source_entry *e)
{
	uint8_t p[16];

	put_u32(p, e->format);
	put_u32(p + 4, e->name);
	put_u32(p + 8, e->word_size);
	put_u32(p + 12, e->big_endian);
	return store(w, ENTRY_SOURCE, p, sizeof p);
}

uint32_t writer_lane(struct writer *w, const struct lane_entry *e)
{
	uint8_t p[40] = {0};

	put_u32(p, e->source);
	put_u32(p + 4, e->clock);
	put_u32(p + 8, e->buffer);
	put_u32(p + 12, e->comm);
	put_u32(p + 16, e->flags);
	put_u32(p + 20, (uint32_t)e->cpu);
	put_u32(p + 24, (uint32_t)e->tid);
	put_u32(p + 28, (uint32_t)e->pid);
	put_u32(p + 32, (uint32_t)e->ppid);
	return store(w, ENTRY_LANE, p, sizeof p);
}

uint32_t writer_definition(struct writer *w, uint32_t name, enum definition_kind kind,
			   const struct member_entry *members, uint32_t n)
{
	return writer_definition_native(w, 0, name, kind, members, n);
}

uint32_t writer_definition_native(struct writer *w, uint32_t native, uint32_t name,
				  enum definition_kind kind, const struct member_entry *members,
				  uint32_t n)
{
	struct buffer b = {0};
	uint32_t id = 0;
	int bad;

	if (n > (ENTRY_LIMIT - 16) / 16)
		n = (ENTRY_LIMIT - 16) / 16;
	bad = buffer_u32(&b, name) || buffer_u32(&b, kind) || buffer_u32(&b, n) ||
	      buffer_u32(&b, native);
	for (uint32_t i = 0; i < n && !bad; i++)
		bad = buffer_u32(&b, members[i].name) || buffer_u32(&b, 0) ||
		      buffer_u64(&b, members[i].value);
	if (bad)
		no_memory(w);
	else
		id = store(w, ENTRY_DEFINITION, b.data, b.size);
	buffer_free(&b);
	return id;
}

uint32_t writer_type(struct writer *w, const struct type_entry *e)
{
	struct buffer b = {0};
	uint8_t p[40] = {0};
	uint32_t id = 0, nfields = e->nfields;
	int bad;

	if (nfields > (ENTRY_LIMIT - sizeof p) / FIELD_SIZE)
		nfields = (ENTRY_LIMIT - sizeof p) / FIELD_SIZE;
	put_u32(p, e->source);
	put_u32(p + 4, e->name);
	put_u32(p + 8, e->group);
	put_u32(p + 12, e->declaration);
	p[16] = e->kind;
	p[17] = e->word_size;
	put_u16(p + 18, e->flags);
	put_u32(p + 20, e->fixed_size);
	put_u32(p + 24, e->native);
	put_u32(p + 28, nfields);
	bad = buffer_append(&b, p, sizeof p);
	for (uint32_t i = 0; i < nfields && !bad; i++) {
		const struct field_entry *f = &e->fields[i];
		uint8_t q[FIELD_SIZE] = {0};

		put_u32(q, f->name);
		put_u32(q + 4, f->type_name);
		q[8] = f->kind;
		q[9] = f->role;
		q[10] = f->where;
		put_u32(q + 12, f->offset);
		put_u32(q + 16, f->size);
		put_u32(q + 20, f->count);
		put_u32(q + 24, f->definition);
		bad = buffer_append(&b, q, sizeof q);
	}
	if (bad)
		no_memory(w);
	else
		id = store(w, ENTRY_TYPE, b.data, b.size);
	buffer_free(&b);
	return id;
}

uint32_t writer_space(struct writer *w, const struct space_entry *e)
{
	uint8_t p[16];

	put_u32(p, e->source);
	put_u32(p + 4, e->name);
	put_u32(p + 8, (uint32_t)e->pid);
	put_u32(p + 12, e->flags);
	return store(w, ENTRY_SPACE, p, sizeof p);
}

int writer_map(struct writer *w, const struct map_entry *e)
{
	struct stored_entry *space;
	uint8_t p[56] = {0};
	uint32_t id;

	put_u32(p, e->space);
	put_u32(p + 4, e->flags);
	put_u64(p + 8, e->start);
	put_u64(p + 16, e->end);
	put_u64(p + 24, e->offset);
	put_u64(p + 32, e->time);
	put_u32(p + 40, e->epoch);
	put_u32(p + 44, e->path);
	put_u32(p + 48, e->build_id);
	put_u32(p + 52, e->table);
	id = store(w, ENTRY_MAP, p, sizeof p);
	if (!id || !e->space)
		return -1;
	space = &w->entries[ENTRY_SPACE].entry[e->space];
	/* in their order, behind the space */
	if (space->child)
		w->entries[ENTRY_MAP].entry[space->next].next = id;
	else
		space->child = id;
	space->next = id;
	return space->segment == w->segment ? declare(w, ENTRY_MAP, id) : 0;
}

uint32_t writer_place(struct writer *w, const struct place_entry *e)
{
	uint8_t p[24] = {0};

	put_u32(p, e->space);
	put_u32(p + 4, e->epoch);
	put_u64(p + 8, e->address);
	put_u32(p + 16, e->name);
	put_u32(p + 20, e->arguments);
	return store(w, ENTRY_PLACE, p, sizeof p);
}

static uint32_t at_most(uint32_t n, uint32_t limit)
{
	return n < limit ? n : limit;
}

static int symbol_payload(struct buffer *b, const struct symbol_entry *e)
{
	uint32_t name = at_most(e->name_size, SYMBOL_TEXT),
		 file = at_most(e->file_size, SYMBOL_TEXT),
		 module = at_most(e->module_size, SYMBOL_TEXT);
	uint8_t p[40] = {0};

	put_u64(p, e->start);
	put_u64(p + 8, e->size);
	put_u32(p + 16, e->line);
	put_u32(p + 20, e->flags);
	put_u32(p + 24, name);
	put_u32(p + 28, module);
	put_u32(p + 32, file);
	b->size = 0;
	return buffer_append(b, p, sizeof p) || buffer_append(b, e->name, name) ||
	       buffer_append(b, e->module, module) || buffer_append(b, e->file, file);
}

int writer_symbol(struct writer *w, uint32_t place, const struct symbol_entry *e)
{
	struct stored_entry *p;
	uint32_t id;

	if (!place)
		return w->out_of_memory ? no_memory(w) : 0;
	if (symbol_payload(&w->scratch, e))
		return no_memory(w);
	id = store(w, ENTRY_SYMBOL, w->scratch.data, w->scratch.size);
	if (!id)
		return -1;
	p = &w->entries[ENTRY_PLACE].entry[place];
	p->child = id;
	if (p->segment != w->segment)
		return 0;
	return append_entry(w, ENTRY_SYMBOL, place,
			    w->arena.data + w->entries[ENTRY_SYMBOL].entry[id].offset,
			    w->entries[ENTRY_SYMBOL].entry[id].size);
}

int writer_use_definition(struct writer *w, uint32_t id)
{
	/* the row may begin another segment, which must have it too */
	if (buffer_u32(&w->used, id))
		return no_memory(w);
	return declare(w, ENTRY_DEFINITION, id);
}

/* --- rows --- */

static int add_slot(struct slots *s, uint32_t number, uint32_t id, uint32_t block, uint32_t offset)
{
	uint32_t *ids;

	if (number >= s->size) {
		size_t size = s->size ? s->size : 64;
		struct slot *slot;

		while (size <= number)
			size *= 2;
		slot = realloc(s->slot, size * sizeof *slot);
		if (!slot)
			return -1;
		memset(slot + s->size, 0, (size - s->size) * sizeof *slot);
		s->slot = slot;
		s->size = size;
	}
	ids = array_grow(s->ids, &s->capacity, s->count, sizeof *ids);
	if (!ids)
		return -1;
	s->ids = ids;
	ids[s->count] = id;
	s->slot[number] = (struct slot){block, s->count++ + offset};
	return 0;
}

static inline bool has_slot(const struct slots *s, uint32_t number, uint32_t block)
{
	return number < s->size && s->slot[number].block == block;
}

/* The rows so far in the wide form. Few of them. */
static int widen(struct writer *w)
{
	size_t size = (size_t)(w->row - w->rows), room = (size_t)(w->limit - w->rows);
	uint8_t *old, *from, *to;

	if (w->count) {
		/* a bare block's rows are known in size; others are walked by the types' shapes */
		if (!w->bare || size * 2 + 4096 > room)
			return 1;
		old = malloc(size);
		if (!old)
			return no_memory(w);
		memcpy(old, w->rows, size);
		for (from = old, to = w->rows; from < old + size;
		     from += NARROW_ROW, to += WIDE_ROW) {
			uint64_t v = get_u64(from);

			put_u64(to, (v & 0xffffff) | (v >> 48 & 0xff) << 48);
			put_u64(to + 8,
				(v >> 32 & 0xffff) | (v >> 24 & 0xff) << 32 | (v >> 56) << 48);
		}
		w->row = to;
		free(old);
	}
	w->narrow = false;
	return 0;
}

static void start_block(struct writer *w, uint64_t time)
{
	w->base = w->last = time;
	w->bare = w->started = true;
	/* in the last 16 ms of all time a step back would look like a step forward */
	w->narrow = !w->sparse && time <= UINT64_MAX - (1 << 24);
	w->sparse = false;
	w->started_at = now();
}

/* Room for a row of n bytes, and 8 of padding behind it. */
static int room_for(struct writer *w, size_t n)
{
	size_t used = (size_t)(w->row - w->rows), have = (size_t)(w->limit - w->rows);
	uint8_t *rows;

	if (have - used >= n + 8)
		return 0;
	if (w->count)
		return 1; /* this block is full */
	rows = realloc(w->rows, n + 8 > ROWS_CAPACITY ? n + 8 : ROWS_CAPACITY);
	if (!rows)
		return no_memory(w);
	w->rows = w->row = rows;
	w->limit = rows + (n + 8 > ROWS_CAPACITY ? n + 8 : ROWS_CAPACITY);
	return 0;
}

struct row {
	uint64_t time;
	uint32_t lane, type, place, depth;   /* numbers of slots */
	uint32_t lane_id, type_id, place_id; /* on the wire */
	const void *fixed, *tail;
	uint32_t fixed_size, tail_size;
	bool has_tail, declared;
};

/* Does the row fit this block as it is? 1 no: a new one is needed; 0 yes; -1. */
static int fit(struct writer *w, const struct row *r)
{
	uint64_t delta = r->time - w->base;
	bool small =
		delta < 1 << 24 && r->depth < 256 &&
		(w->types.count < 256 || has_slot(&w->types, r->type, w->block)) &&
		(w->lanes.count < 256 || has_slot(&w->lanes, r->lane, w->block)) &&
		(w->places.count < 65535 || !r->place || has_slot(&w->places, r->place, w->block));

	if (r->time < w->base || delta >> 48)
		return 1;
	if (!has_slot(&w->types, r->type, w->block) && w->types.count == 65535)
		return 1;
	if (!has_slot(&w->lanes, r->lane, w->block) && w->lanes.count == 65535)
		return 1;
	if (w->narrow && !small) {
		int full = w->count > FEW_ROWS ? 1 : widen(w);

		/* rows that come so rarely are better off in a wide block from its start */
		w->sparse = full > 0 && w->count <= FEW_ROWS && delta >= 1 << 24;
		return full;
	}
	return 0;
}

static int tables_for(struct writer *w, const struct row *r)
{
	if (!r->declared &&
	    (declare(w, ENTRY_TYPE, r->type_id) || declare(w, ENTRY_LANE, r->lane_id) ||
	     declare(w, ENTRY_PLACE, r->place_id)))
		return -1;
	if (!has_slot(&w->types, r->type, w->block) &&
	    add_slot(&w->types, r->type, r->type_id, w->block, 0))
		return no_memory(w);
	if (!has_slot(&w->lanes, r->lane, w->block) &&
	    add_slot(&w->lanes, r->lane, r->lane_id, w->block, 0))
		return no_memory(w);
	if (!has_slot(&w->places, r->place, w->block)) {
		if (!r->place) {
			/* index 0 is no place and stands in no table */
			if (add_slot(&w->places, 0, 0, w->block, 0))
				return no_memory(w);
			w->places.count--;
			w->places.slot[0].index = 0;
		} else if (add_slot(&w->places, r->place, r->place_id, w->block, 1)) {
			return no_memory(w);
		}
	}
	return 0;
}

static void put_row(struct writer *w, const struct row *r)
{
	uint64_t delta = r->time - w->base, lane = w->lanes.slot[r->lane].index,
		 type = w->types.slot[r->type].index, place = w->places.slot[r->place].index;
	uint8_t *p = w->row;

	if (w->narrow) {
		put_u64(p,
			delta | lane << 24 | place << 32 | type << 48 | (uint64_t)r->depth << 56);
		p += NARROW_ROW;
	} else {
		put_u64(p, delta | type << 48);
		put_u64(p + 8,
			place | lane << 32 | (uint64_t)(r->depth < 65535 ? r->depth : 65535) << 48);
		p += WIDE_ROW;
	}
	if (r->fixed_size) {
		memcpy(p, r->fixed, r->fixed_size);
		p += r->fixed_size;
	}
	if (r->has_tail) {
		size_t padded = align_up(r->tail_size, 4);

		put_u32(p, r->tail_size);
		p += 4;
		memset(p + padded - (padded ? 4 : 0), 0, padded ? 4 : 0);
		if (r->tail_size)
			memcpy(p, r->tail, r->tail_size);
		p += padded;
	}
	w->row = p;
	w->count++;
	if (r->fixed_size || r->has_tail)
		w->bare = false;
	if (r->time > w->last)
		w->last = r->time;
}

static int add_row(struct writer *w, const struct row *r)
{
	size_t size = WIDE_ROW + (size_t)r->fixed_size +
		      (r->has_tail ? 4 + align_up(r->tail_size, 4) : 0);
	int full = 1;

	if (w->out_of_memory)
		return no_memory(w);
	if (size > ROW_LIMIT)
		return error_set(&w->error, NULL, NO_OFFSET, "an event of %zu bytes is too large",
				 size);
	if (need_segment(w))
		return -1;
	if (w->started) {
		/* in this order: the block may get larger when it is made to fit */
		full = fit(w, r);
		if (!full)
			full = room_for(w, size);
		if (full < 0)
			return -1;
	}
	if (full) {
		if (w->started && writer_flush(w))
			return -1;
		if (w->segment_limit && w->segment_bytes >= w->segment_limit && !r->declared &&
		    next_segment(w))
			return -1;
		clear_block(w);
		start_block(w, r->time);
		if (fit(w, r) || room_for(w, size))
			return no_memory(w);
	}
	if (tables_for(w, r))
		return -1;
	put_row(w, r);
	return 0;
}

int writer_row_slow(struct writer *w, uint64_t time, uint32_t lane, uint32_t type, uint32_t place,
		    uint32_t depth, const void *fixed, uint32_t fixed_size, const void *tail,
		    uint32_t tail_size, bool has_tail)
{
	struct row r = {time,  lane,  type, place,	depth,	   lane,     type,
			place, fixed, tail, fixed_size, tail_size, has_tail, false};
	int result = add_row(w, &r);

	w->used.size = 0;
	return result;
}

static void count_gap(struct writer *w, const struct event *e)
{
	struct gap_row g;

	w->gaps++;
	if (gap_get(e, &g) && g.reason == GAP_LOST && g.unit == GAP_EVENTS && g.count != UINT64_MAX)
		w->lost += g.count;
}

int writer_copy_row(struct writer *w, const struct block *b, const struct event *e)
{
	struct row r = {.time = e->time,
			.lane = e->lane->number,
			.type = e->type->number,
			.place = e->place,
			.depth = e->depth,
			.fixed = e->fixed,
			.fixed_size = e->type->fixed_size,
			.tail = e->tail,
			.tail_size = e->tail_size,
			.has_tail = e->type->flags & TYPE_TAIL,
			.declared = true};
	uint64_t delta = e->time - w->base;

	if (w->narrow && !r.fixed_size && !r.has_tail && delta < 1 << 24 && r.depth < 256 &&
	    w->limit - w->row >= NARROW_ROW + 8 && has_slot(&w->types, r.type, w->block) &&
	    has_slot(&w->lanes, r.lane, w->block) && has_slot(&w->places, r.place, w->block)) {
		put_row(w, &r);
		return 0;
	}
	r.lane_id = get_u32(b->lane_ids + 4 * e->lane_index);
	r.type_id = get_u32(b->type_ids + 4 * e->type_index);
	r.place_id = e->place_index ? get_u32(b->place_ids + 4 * (e->place_index - 1)) : 0;
	if (add_row(w, &r))
		return -1;
	if (e->type->kind == KIND_GAP)
		count_gap(w, e);
	return 0;
}

/* --- gaps --- */

static uint32_t gap_type(struct writer *w)
{
	struct field_entry fields[] = {
		{writer_text(w, "count"), 0, FIELD_UINT, ROLE_COUNT, WHERE_FIXED, 0, 8, 0, 0},
		{writer_text(w, "offset"), 0, FIELD_UINT, ROLE_NONE, WHERE_FIXED, 8, 8, 0, 0},
		{writer_text(w, "reason"), 0, FIELD_UINT, ROLE_NONE, WHERE_FIXED, 16, 4, 0, 0},
		{writer_text(w, "unit"), 0, FIELD_UINT, ROLE_NONE, WHERE_FIXED, 20, 4, 0, 0},
		{writer_text(w, "file"), 0, FIELD_STRING, ROLE_NONE, WHERE_REST, 4, 1, 0, 0},
	};
	struct member_entry reasons[] = {{writer_text(w, "lost"), GAP_LOST},
					 {writer_text(w, "damage"), GAP_DAMAGE},
					 {writer_text(w, "unread"), GAP_UNREAD}};
	struct type_entry t = {.name = writer_text(w, "gap"),
			       .group = writer_text(w, "trutils"),
			       .kind = KIND_GAP,
			       .flags = TYPE_TAIL,
			       .fixed_size = 24,
			       .nfields = 5,
			       .fields = fields};

	fields[2].kind = FIELD_ENUM;
	fields[2].definition =
		writer_definition(w, writer_text(w, "gap_reason"), DEFINITION_ENUM, reasons, 3);
	/* the tail: u32 bytes of the file name, the name, the message */
	return writer_type(w, &t);
}

int writer_gap(struct writer *w, uint64_t time, uint32_t lane, const struct gap *g)
{
	size_t file = g->file ? strlen(g->file) : 0, message = g->message ? strlen(g->message) : 0;
	uint8_t fixed[24], tail[4 + 2048];

	if (!w->gap_type)
		w->gap_type = gap_type(w);
	if (file > 1024)
		file = 1024;
	if (message > 1000)
		message = 1000;
	put_u64(fixed, g->count);
	put_u64(fixed + 8, g->offset);
	put_u32(fixed + 16, g->reason);
	put_u32(fixed + 20, g->unit);
	put_u32(tail, (uint32_t)file);
	if (file)
		memcpy(tail + 4, g->file, file);
	if (message)
		memcpy(tail + 4 + file, g->message, message);
	if (writer_row_data(w, time, lane, w->gap_type, 0, 0, fixed, sizeof fixed, tail,
			    (uint32_t)(4 + file + message), true))
		return -1;
	w->gaps++;
	if (g->reason == GAP_LOST && g->unit == GAP_EVENTS && g->count != UINT64_MAX)
		w->lost += g->count;
	return 0;
}

/* --- passing on --- */

int writer_pass_head(struct writer *w, const struct head *h)
{
	bool same = h->sequence && h->stream_id == w->stream_id;

	if (w->in_segment && end_segment(w, same ? 0 : END_LAST))
		return -1;
	return send_head(w, h->stream_id, h->sequence, h->properties, h->properties_size);
}

int writer_pass(struct writer *w, const struct block *b, struct error *e)
{
	struct iovec part = {(void *)b->payload, b->length};

	e->what[0] = '\0';
	/* declarations may overtake pending rows unless they change what those rows mean */
	if (need_segment(w) || ((b->kind != BLOCK_DICT || b->redeclares) && writer_flush(w)))
		goto fail;
	if (b->kind == BLOCK_EVENTS) {
		struct events it;
		struct event ev;

		if (b->cut) {
			/* its length is no longer what its head says: row by row */
			for (events_begin(&it, b); event_next(&it, &ev);)
				if (writer_copy_row(w, b, &ev))
					goto fail;
			return 0;
		}
		count_events(w, b->rows, b->base, b->last);
		for (uint32_t i = 0; i < b->ntypes; i++)
			if (b->types[i]->kind == KIND_GAP) {
				for (events_begin(&it, b); event_next(&it, &ev);)
					if (ev.type->kind == KIND_GAP)
						count_gap(w, &ev);
				break;
			}
	}
	if (!send_block(w, b->kind, b->flags, &part, 1))
		return 0;
fail:
	*e = w->error;
	return -1;
}

int writer_pass_begin(struct writer *w, const struct block *b, const uint8_t *payload, size_t have,
		      struct error *e)
{
	uint8_t header[BLOCK_HEADER];
	struct iovec v[] = {{header, sizeof header}, {(void *)payload, have}};

	if (need_segment(w) || writer_flush(w)) {
		*e = w->error;
		return -1;
	}
	block_header(w, header, b->kind, b->flags, b->length);
	count_events(w, b->rows, b->base, b->last);
	return send(w, v, 2, e);
}

int writer_pass_symbol(struct writer *w, uint32_t wire_place, const struct symbol_entry *e)
{
	if (symbol_payload(&w->scratch, e))
		return no_memory(w);
	return append_entry(w, ENTRY_SYMBOL, wire_place, w->scratch.data,
			    (uint32_t)w->scratch.size);
}

int writer_pass_end(struct writer *w, uint32_t flags, uint64_t gaps, uint64_t lost)
{
	if (need_segment(w) || writer_flush(w))
		return -1;
	w->gaps = gaps;
	w->lost = lost;
	return end_segment(w, flags);
}
