/*
 * A reader written from trstream(5) alone, with nothing of common/: what it sees of a stream is
 * what our own reader sees. And the example of the page is what the writer makes.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- by the page --- */

struct page_entry {
	uint32_t id, length;
	const uint8_t *content;
};

/* Entries of one kind, the latest of an id last. What a row names is looked up when it is read. */
struct page_kind {
	struct page_entry *entry;
	size_t count;
};

struct page {
	FILE *out;
	const char *wrong;
	struct page_kind kinds[12];
	uint64_t rows;
};

static uint64_t page_number(const uint8_t *p, int size)
{
	uint64_t n = 0;

	for (int i = size; i-- > 0;)
		n = n << 8 | p[i];
	return n;
}

static uint32_t page_u32(const uint8_t *p)
{
	return (uint32_t)page_number(p, 4);
}

static const struct page_entry *page_find(struct page *pg, int kind, uint32_t id)
{
	for (size_t i = pg->kinds[kind].count; id && i-- > 0;)
		if (pg->kinds[kind].entry[i].id == id)
			return &pg->kinds[kind].entry[i];
	return NULL;
}

static void page_string(struct page *pg, uint32_t id)
{
	const struct page_entry *e = page_find(pg, 1, id);

	fprintf(pg->out, "'%.*s'", e ? (int)e->length : 0, e ? (const char *)e->content : "");
}

static void page_hex(struct page *pg, const uint8_t *p, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		fprintf(pg->out, "%02x", p[i]);
}

static void page_dict(struct page *pg, const uint8_t *p, uint32_t n)
{
	while (n) {
		uint32_t kind = (uint32_t)page_number(p, 2), length = page_u32(p + 4),
			 whole = 16 + (length + 7) / 8 * 8;
		struct page_kind *k = &pg->kinds[kind <= 11 ? kind : 0];

		k->entry = realloc(k->entry, (k->count + 1) * sizeof *k->entry);
		k->entry[k->count++] = (struct page_entry){page_u32(p + 8), length, p + 16};
		p += whole;
		n -= whole;
	}
}

static uint64_t page_uleb(const uint8_t **p)
{
	uint64_t n = 0;
	int shift = 0;

	do
		n |= (uint64_t)(**p & 0x7f) << shift, shift += 7;
	while (*(*p)++ & 0x80);
	return n;
}

/* All labels of a number of an ENUM. */
static void page_labels(struct page *pg, const uint8_t *d, const uint8_t *bytes, uint64_t size)
{
	int is_unsigned = d[6] & 1;
	int64_t n = (int64_t)page_number(bytes, (int)size);

	if (!is_unsigned && size < 8 && bytes[size - 1] & 0x80)
		n -= 1ll << 8 * size;
	for (uint32_t i = 0; i < page_u32(d + 8); i++) {
		const uint8_t *m = d + 16 + 24 * i;
		int64_t low = (int64_t)page_number(m + 8, 8),
			high = (int64_t)page_number(m + 16, 8);

		if (is_unsigned ? (uint64_t)low <= (uint64_t)n && (uint64_t)n <= (uint64_t)high
				: low <= n && n <= high)
			page_string(pg, page_u32(m));
	}
}

static void page_value(struct page *pg, const uint8_t **p)
{
	uint8_t tag = *(*p)++;
	uint64_t n = 0, count = 0;
	const struct page_entry *d = NULL;

	fprintf(pg->out, " %u", tag);
	if (tag == 9 || tag == 10 || tag == 12) {
		d = page_find(pg, 6, (uint32_t)page_uleb(p));
		page_string(pg, d ? page_u32(d->content) : 0);
	}
	if (tag == 14)
		fprintf(pg->out, "%c", *(*p)++);
	switch (tag) {
	case 5:
	case 6: n = tag == 5 ? 4 : 8; break;
	case 7:
	case 8: n = page_uleb(p); break;
	case 9:
	case 14: n = *(*p)++; break;
	case 3:
	case 4:
	case 10:
	case 13: fprintf(pg->out, "=%llu", (unsigned long long)page_uleb(p)); break;
	case 11:
	case 12:
		count = page_uleb(p);
		fprintf(pg->out, "[%llu", (unsigned long long)count);
		break;
	case 15:
		n = page_uleb(p);
		fprintf(pg->out, "(%.*s)", (int)n, (const char *)*p);
		*p += n;
		n = page_uleb(p);
		break;
	}
	page_hex(pg, *p, n);
	if (tag == 9 && d && n <= 8)
		page_labels(pg, d->content, *p, n);
	*p += n;
	while (count--)
		page_value(pg, p);
}

static void page_fields(struct page *pg, const struct page_entry *type, const uint8_t *fixed,
			const uint8_t *tail, uint32_t size)
{
	for (uint32_t i = 0; i < page_u32(type->content + 28); i++) {
		const uint8_t *f = type->content + 40 + 32 * i;
		uint32_t count = page_u32(f + 20) ? page_u32(f + 20) : 1, offset = page_u32(f + 12),
			 length = page_u32(f + 16) * count;
		const uint8_t *from = f[10] ? tail : fixed;

		if (f[10] == 4)
			length = size > offset ? size - offset : 0;
		if (f[10] == 2 || f[10] == 3) {
			uint32_t at = offset, loc = page_u32(tail + at);

			length = loc >> 16;
			offset = (loc & 0xffff) + (f[10] == 3 ? at + 4 : 0);
		}
		fprintf(pg->out, " ");
		page_string(pg, page_u32(f));
		fprintf(pg->out, ":%u:%u:", f[8], f[9]);
		page_hex(pg, from + offset, length);
	}
}

static void page_location(struct page *pg, uint32_t id)
{
	const struct page_entry *location = page_find(pg, 9, id), *symbol = page_find(pg, 10, id);

	if (!location)
		return;
	fprintf(pg->out, " @%llx ", (unsigned long long)page_number(location->content + 8, 8));
	page_string(pg, page_u32(location->content + 16));
	if (symbol)
		fprintf(pg->out, " %.*s:%u", (int)page_u32(symbol->content + 24),
			(const char *)symbol->content + 40, page_u32(symbol->content + 16));
}

static const uint8_t *page_row(struct page *pg, const uint8_t *block, const uint8_t *p)
{
	int wide = block[20] & 1;
	uint32_t ntypes = (uint32_t)page_number(block + 22, 2),
		 nlanes = (uint32_t)page_number(block + 24, 2);
	uint64_t time = page_number(block, 8) + page_number(p, wide ? 6 : 3);
	uint32_t type = (uint32_t)(wide ? page_number(p + 6, 2) : p[6]),
		 lane = (uint32_t)(wide ? page_number(p + 12, 2) : p[3]),
		 location = (uint32_t)(wide ? page_u32(p + 8) : page_number(p + 4, 2)),
		 depth = (uint32_t)(wide ? page_number(p + 14, 2) : p[7]), size = 0, fixed;
	const uint8_t *ids = block + 32, *tail = NULL, *end;
	const struct page_entry *t = page_find(pg, 5, page_u32(ids + 4 * type)),
				*l = page_find(pg, 4, page_u32(ids + 4 * (ntypes + lane)));

	if (!t || !l) {
		pg->wrong = "a row of what is not declared";
		return p;
	}
	p += wide ? 16 : 8;
	fixed = page_u32(t->content + 20);
	end = p + fixed;
	if (t->content[18] & 1) {
		size = page_u32(end);
		tail = end + 4;
		end = tail + (size + 3) / 4 * 4;
	}
	fprintf(pg->out, "%llu %u ", (unsigned long long)time, depth);
	page_string(pg, page_u32(t->content + 4));
	fprintf(pg->out, " %u %u tid %d cpu %d ", t->content[16], page_u32(t->content + 24),
		(int)page_u32(l->content + 24), (int)page_u32(l->content + 20));
	page_string(pg, page_u32(l->content + 12));
	if (location)
		page_location(pg, page_u32(ids + 4 * (ntypes + nlanes + location - 1)));
	page_fields(pg, t, p, tail, size);
	if (t->content[18] & 2)
		for (const uint8_t *v = tail; v < tail + size;) {
			fprintf(pg->out, " %u", *v++);
			fprintf(pg->out, "#%llu", (unsigned long long)page_uleb(&v));
			page_value(pg, &v);
		}
	fprintf(pg->out, "\n");
	pg->rows++;
	return end;
}

static void page_events(struct page *pg, const uint8_t *p)
{
	uint64_t n = page_number(p + 22, 2) + page_number(p + 24, 2) + page_u32(p + 28);
	const uint8_t *row = p + 32 + (4 * n + 7) / 8 * 8;

	for (uint32_t i = 0; i < page_u32(p + 16) && !pg->wrong; i++)
		row = page_row(pg, p, row);
}

/* The name of a type of a record. */
static void page_type(struct page *pg, uint32_t id)
{
	const struct page_entry *t = page_find(pg, 5, id);

	if (t)
		page_string(pg, page_u32(t->content + 4));
	else
		fprintf(pg->out, "-");
}

static void page_snapshot(struct page *pg, const uint8_t *p, uint32_t length)
{
	uint32_t threads = page_u32(p + 20), frames = page_u32(p + 24), gone = page_u32(p + 28),
		 rows = page_u32(p + 36);
	const uint8_t *t = p + 40, *f = t + (uint64_t)threads * page_number(p + 32, 2),
		      *g = f + (uint64_t)frames * page_number(p + 34, 2),
		      *r = g + (4 * (uint64_t)gone + 7) / 8 * 8;
	uint64_t counted = pg->rows;

	if (r + rows != p + length) {
		pg->wrong = "the parts of a snapshot";
		return;
	}
	fprintf(pg->out, "snapshot %llu %llu %u\n", (unsigned long long)page_number(p, 8),
		(unsigned long long)page_number(p + 8, 8), page_u32(p + 16));
	for (uint32_t i = 0; i < threads; i++, t += page_number(p + 32, 2)) {
		const struct page_entry *l = page_find(pg, 4, page_u32(t));

		fprintf(pg->out, "thread %d", l ? (int)page_u32(l->content + 24) : -1);
		for (int k = 4; k < 64; k += 4)
			if (k != 40 && k != 44)
				fprintf(pg->out, " %u", page_u32(t + k));
		page_type(pg, page_u32(t + 40));
		page_type(pg, page_u32(t + 44));
		fprintf(pg->out, "\n");
		for (uint32_t k = 0; k < page_u32(t + 60); k++, g += 4)
			page_location(pg, page_u32(g));
	}
	for (uint32_t i = 0; i < frames; i++, f += page_number(p + 34, 2))
		fprintf(pg->out, "call %llu %llu %u %u\n", (unsigned long long)page_number(f, 8),
			(unsigned long long)page_number(f + 8, 8), page_u32(f + 16),
			page_u32(f + 20));
	if (rows)
		page_events(pg, r);
	/* they are none of the segment */
	if (pg->rows - counted != frames)
		pg->wrong = "the rows of a snapshot";
	pg->rows = counted;
}

static void page_forget(struct page *pg)
{
	for (int k = 0; k < 12; k++) {
		free(pg->kinds[k].entry);
		pg->kinds[k] = (struct page_kind){0};
	}
	pg->rows = 0;
}

/* As in zlib, gzip and PNG. */
static uint32_t page_crc(const uint8_t *p, size_t n)
{
	uint32_t crc = UINT32_MAX;

	for (; n--; p++) {
		crc ^= *p;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

/* The whole of a sound stream. */
static const char *page_stream(const uint8_t *p, size_t n, FILE *out)
{
	struct page pg = {.out = out};
	const uint8_t *end = p + n;
	unsigned marker = 0;
	int has_crc = 0;

	while (p < end && !pg.wrong) {
		uint32_t kind, length;

		if (!memcmp(p, "trstrm1:", 8)) {
			page_forget(&pg);
			sscanf((const char *)p + 8, "%8x", &marker);
			p += 16;
		}
		if (page_u32(p) != 0x1a535254)
			return "no sync";
		kind = (uint32_t)page_number(p + 4, 2);
		length = page_u32(p + 8);
		if (page_u32(p + 20) != page_crc(p, 20))
			pg.wrong = "a wrong check";
		if (p[6] & 4 ? page_u32(p + 12) != page_crc(p + 24, length) : page_u32(p + 12))
			pg.wrong = "a wrong checksum";
		if (kind == 1)
			has_crc = p[6] & 4;
		if (has_crc != (p[6] & 4))
			pg.wrong = "a block with a checksum among others without";
		p += 24;
		if (kind == 1 && page_number(p, 2) != 1)
			pg.wrong = "another version";
		if (kind == 1 && page_u32(p + 8) != marker)
			pg.wrong = "the marker of another stream";
		if (kind == 2)
			page_dict(&pg, p, length);
		if (kind == 3)
			page_events(&pg, p);
		if (kind == 6)
			page_snapshot(&pg, p, length);
		if (kind == 5 && page_number(p, 8) != pg.rows)
			pg.wrong = "END counts other rows";
		if (kind == 5 && (page_u32(p + 44) & 1) != (p + length == end))
			pg.wrong = "not the last";
		p += length;
	}
	page_forget(&pg);
	return pg.wrong;
}

/* --- by common/ --- */

#include "common/stream/writer.h"
#include "t/unit/random_trace.h"

static void our_hex(FILE *out, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%02x", p[i]);
}

static void our_value(FILE *out, const struct dictionary *d, struct values *at)
{
	struct value v;
	const struct definition *def;
	bool is_signed;
	uint64_t n;

	if (!values_value(at, &v))
		return;
	def = dictionary_definition_id(d, v.definition);
	fprintf(out, " %u", v.tag);
	if (v.tag == VALUE_ENUM || v.tag == VALUE_BITMASK || v.tag == VALUE_STRUCT)
		fprintf(out, "'%s'", def ? def->name.text : "");
	if (v.tag == VALUE_NUMBER)
		fprintf(out, "%c", v.format);
	if (v.tag == VALUE_UINT || v.tag == VALUE_POINTER || v.tag == VALUE_BITMASK)
		fprintf(out, "=%" PRIu64, v.number);
	if (v.tag == VALUE_NEGATIVE)
		fprintf(out, "=%" PRIu64, -v.number);
	if (v.tag == VALUE_ARRAY || v.tag == VALUE_STRUCT)
		fprintf(out, "[%" PRIu64, v.count);
	if (v.tag == VALUE_OPAQUE)
		fprintf(out, "(%.*s)", (int)v.type_name_size, v.type_name);
	our_hex(out, v.bytes, v.n);
	if (v.tag == VALUE_ENUM && value_integer(&v, def, &n, &is_signed))
		for (const struct member *m = definition_member(def, n); m;
		     m = definition_next_member(def, m, n))
			fprintf(out, "'%s'", m->name.text);
	for (uint64_t i = 0; i < v.count; i++)
		our_value(out, d, at);
}

static void our_values(FILE *out, const struct dictionary *d, const struct event *ev)
{
	struct values whole, part;
	struct detail detail;

	values_begin(&whole, ev->tail, ev->tail_size);
	for (part = whole; values_detail(&whole, &detail); part = whole) {
		fprintf(out, " %u#%" PRIu64, detail.what, detail.index);
		/* behind what and index, which are small here */
		part.at += 2;
		our_value(out, d, &part);
	}
}

static void our_location(FILE *out, const struct dictionary *d, uint32_t location)
{
	const struct location *p = dictionary_location(d, location);

	if (p)
		fprintf(out, " @%" PRIx64 " '%s'", p->address, p->name.text);
	if (p && p->symbol)
		fprintf(out, " %s:%u", p->symbol->name.text, p->symbol->line);
}

static void our_row(FILE *out, const struct dictionary *d, const struct event *ev)
{
	const struct type *t = ev->type;

	fprintf(out, "%" PRIu64 " %u '%s' %u %u tid %d cpu %d '%s'", ev->time, ev->depth,
		t->name.text, t->kind, t->native, ev->lane->tid, ev->lane->cpu,
		ev->lane->comm.text);
	our_location(out, d, ev->location);
	for (uint32_t i = 0; i < t->nfields; i++) {
		size_t n;
		const uint8_t *bytes = field_bytes(ev, &t->fields[i], &n);

		fprintf(out, " '%s':%u:%u:", t->fields[i].name.text, t->fields[i].kind,
			t->fields[i].role);
		our_hex(out, bytes, n);
	}
	if (t->flags & TYPE_VALUES)
		our_values(out, d, ev);
	fprintf(out, "\n");
}

static void our_type(FILE *out, const struct type *t)
{
	if (t)
		fprintf(out, "'%s'", t->name.text);
	else
		fprintf(out, "-");
}

static void our_u64(FILE *out, uint64_t n)
{
	fprintf(out, " %u %u", (uint32_t)n, (uint32_t)(n >> 32));
}

static void our_thread(FILE *out, const struct dictionary *d, const struct snapshot_walk *w)
{
	const struct snapshot_thread *t = &w->thread;

	fprintf(out, "thread %d %u", w->lane->tid, t->flags);
	our_u64(out, t->last);
	our_u64(out, t->since);
	our_u64(out, t->child);
	our_u64(out, t->kernel_since);
	fprintf(out, " %u %u %u %u", t->unseen, t->frames, t->base, t->gone);
	our_type(out, w->type);
	our_type(out, w->kernel_type);
	fprintf(out, "\n");
	for (uint32_t i = 0; i < t->gone; i++)
		our_location(out, d, snapshot_gone(w, i));
}

static void our_snapshot(FILE *out, const struct dictionary *d, const struct snapshot *s)
{
	struct snapshot_walk w;
	struct event e;

	fprintf(out, "snapshot %" PRIu64 " %" PRIu64 " %u\n", s->head.first, s->head.latest,
		s->head.flags);
	for (snapshot_walk(&w, s); snapshot_next_thread(&w);) {
		our_thread(out, d, &w);
		while (snapshot_next_frame(&w))
			;
	}
	for (snapshot_walk(&w, s); snapshot_next_thread(&w);)
		while (snapshot_next_frame(&w))
			fprintf(out, "call %" PRIu64 " %" PRIu64 " %u %u\n", w.enter.time,
				w.frame.child, w.frame.depth, w.frame.flags);
	for (snapshot_walk(&w, s); snapshot_next_thread(&w);)
		while (snapshot_next_frame(&w)) {
			e = w.enter;
			e.time = 0;
			our_row(out, d, &e);
		}
}

static void our_stream(struct blob b, FILE *out)
{
	struct reader r;
	struct block bl;

	must(!reader_open_fd(&r, fd_of(b.data, b.size), "made", NULL, 0), "reader");
	while (reader_next(&r, &bl) > 0) {
		struct events it;
		struct event ev;

		if (bl.kind == BLOCK_EVENTS)
			for (events_begin(&it, &bl); event_next(&it, &ev);)
				our_row(out, &r.dictionary, &ev);
		if (bl.kind == BLOCK_SNAPSHOT)
			our_snapshot(out, &r.dictionary, &r.snapshot);
	}
	reader_close(&r);
}

/* All values there are. */
static void add_values(struct maker *m)
{
	struct buffer b = {0};
	uint32_t bits[] = {0xdeadbeef, 7};
	int bad = 0;

	bad |= value_put_detail(&b, DETAIL_ARGUMENT, 1) | value_put_simple(&b, VALUE_NULL);
	bad |= value_put_detail(&b, DETAIL_ARGUMENT, 2) | value_put_simple(&b, VALUE_TRUE);
	bad |= value_put_detail(&b, DETAIL_ARGUMENT, 3) |
	       value_put_uint(&b, VALUE_UINT, UINT64_MAX);
	bad |= value_put_detail(&b, DETAIL_ARGUMENT, 4) | value_put_uint(&b, VALUE_NEGATIVE, 300);
	bad |= value_put_detail(&b, DETAIL_ARGUMENT, 5) | value_put_uint(&b, VALUE_POINTER, 127);
	bad |= value_put_detail(&b, DETAIL_ARGUMENT, 6) | value_put_float(&b, bits, 4);
	bad |= value_put_detail(&b, DETAIL_ARGUMENT, 7) | value_put_float(&b, bits, 8);
	bad |= value_put_detail(&b, DETAIL_ARGUMENT, 8) | value_put_number(&b, 'x', bits, 8);
	bad |= value_put_detail(&b, DETAIL_ARGUMENT, 9) | value_put_array(&b, 3) |
	       value_put_bitmask(&b, m->definition, 5) | value_put_struct(&b, m->definition, 2) |
	       value_put_bytes(&b, VALUE_BLOB, "\0\1", 2) |
	       value_put_bytes(&b, VALUE_STRING, "s", 1) | value_put_simple(&b, VALUE_FALSE);
	bad |= value_put_detail(&b, DETAIL_RETURN, 0) | value_put_opaque(&b, "struct s", bits, 3);
	bad |= writer_use_definition(&m->w, m->definition);
	bad |= writer_row_data(&m->w, (struct new_row){.time = 7,
						       .lane = m->lane,
						       .type = m->call,
						       .location = m->location[2],
						       .tail = b.data,
						       .tail_size = (uint32_t)b.size,
						       .has_tail = true});
	must(!bad, "values");
	buffer_free(&b);
}

static void compare(const char *what, struct blob b)
{
	char *page = NULL, *ours = NULL;
	size_t page_size, our_size;
	FILE *out = open_memstream(&page, &page_size);
	const char *wrong = page_stream(b.data, b.size, out);

	fclose(out);
	out = open_memstream(&ours, &our_size);
	our_stream(b, out);
	fclose(out);
	ok(!wrong, what);
	if (wrong)
		printf("# %s\n", wrong);
	if (!ok(page_size && page_size == our_size && !memcmp(page, ours, page_size),
		"the same rows")) {
		size_t at = 0;

		while (at < page_size && page[at] == ours[at])
			at++;
		printf("# by the page: %.60s\n# by common/: %.60s\n", page + at, ours + at);
	}
	free(page);
	free(ours);
	free(b.data);
}

/* --- the page's example --- */

static struct blob example(void)
{
	struct maker m = {.fd = memfd_create("made", 0)};
	struct writer *w = &m.w;
	char *argv[] = {(char *)"trdecode", (char *)"d", NULL};
	struct type_entry type = {.kind = KIND_ENTER, .flags = TYPE_DEPTH};
	struct lane_entry lane = {.flags = LANE_HAS_TID, .tid = 42};

	output_to_fd(&m.output, m.fd);
	must(!writer_init(w, &m.output, 0) && !writer_command(w, 2, argv) &&
		     !writer_begin(w, 0x0123456789abcdef),
	     "begin");
	lane.source = writer_source(
		w, &(struct source_entry){writer_text(w, "uftrace"), writer_text(w, "d"), 8, 0});
	lane.clock = writer_clock(w, &(struct clock_entry){writer_text(w, "monotonic"), 0, 0});
	lane.comm = writer_text(w, "cat");
	m.lane = writer_lane(w, &lane);
	type.source = lane.source;
	type.name = writer_text(w, "entry");
	m.enter = writer_type(w, &type);
	type.name = writer_text(w, "exit");
	type.kind = KIND_LEAVE;
	m.leave = writer_type(w, &type);
	m.location[1] = writer_location(
		w, &(struct location_entry){0, 0, 0x1139, writer_text(w, "main"), 0});
	must(!writer_row(w, 1000, m.lane, m.enter, m.location[1], 0) &&
		     !writer_row(w, 1500, m.lane, m.leave, m.location[1], 0),
	     "rows");
	return make_end(&m);
}

/* The bytes of the page: lines of 8 digits, two blanks, pairs of digits, two blanks and a remark.
 */
static struct blob example_of_page(const char *path)
{
	struct blob b = {malloc(65536), 0};
	FILE *f = fopen(path, "r");
	char line[256];
	unsigned offset;
	int at;

	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%8x%n", &offset, &at) != 1 || at != 8 || line[8] != ' ' ||
		    offset != b.size)
			continue;
		at++; /* two blanks after the offset */
		for (unsigned byte;
		     sscanf(line + at, " %2x", &byte) == 1 && line[at + 1] != ' ' && b.size < 65536;
		     at += 3)
			b.data[b.size++] = (uint8_t)byte;
	}
	if (f)
		fclose(f);
	return b;
}

static void print_example(struct blob b)
{
	for (size_t at = 0; at < b.size; at += 16) {
		printf("%08zx ", at);
		for (size_t i = at; i < at + 16 && i < b.size; i++)
			printf(" %02x", b.data[i]);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	struct maker m;
	struct blob ours = example(), pages;

	(void)argv;
	if (argc > 1) {
		print_example(ours);
		return 0;
	}
	alarm(60);
	for (int crc = 0; crc < 2; crc++) {
		make_begin(&m, 0, crc);
		add_values(&m);
		make_rows(&m, 1000, 500);
		compare("one segment", make_end(&m));
		make_begin(&m, 1000, crc);
		make_rows(&m, 1000, 5);
		must(!writer_row(&m.w, 1u << 31, m.lane, m.enter, m.location[1], 700), "row");
		make_rows(&m, 5000000000, 20000);
		add_values(&m);
		compare("many segments", make_end(&m));
	}
	random_snapshots = true;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		int fd = memfd_create("random", 0);

		random_seed(seed);
		random_trace(fd);
		compare("snapshots", blob_of_fd(fd));
		close(fd);
	}
	pages = example_of_page("man5/trstream.5");
	is_u64(pages.size, ours.size, "size of the example in trstream(5)");
	ok(pages.size == ours.size && !memcmp(pages.data, ours.data, ours.size),
	   "the example in trstream(5) is what the writer makes");
	free(pages.data);
	compare("the example", ours);
	return done();
}
