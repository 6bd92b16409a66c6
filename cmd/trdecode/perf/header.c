/*
 * header.c - the header of a file, its attributes and sections; and the records that a pipe has in
 * their place
 */
#include "cmd/trdecode/perf/perf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ATTR_MOST = 4096,   /* bytes of an attribute */
	SECTION_LEAST = 16, /* u64 offset, u64 size */
	SECTION_MOST = 64 << 20,
	PATH_MOST = 4096,
	TYPES_MOST = 4096,
};

struct perf_section {
	uint64_t offset, size;
};

static struct perf_section section_at(const struct perf *p, const uint8_t *d)
{
	return (struct perf_section){perf_u64(p, d), perf_u64(p, d + 8)};
}

/* Read a section, as far as the file has it. -1: *e. */
static int read_section(struct perf *p, struct perf_section section, struct buffer *b,
			struct error *e)
{
	uint64_t have = section.offset < p->file.size ? p->file.size - section.offset : 0;
	struct cursor c = {.file = &p->file, .base = section.offset};

	b->size = 0;
	c.size = section.size < have ? section.size : have;
	if (c.size > SECTION_MOST)
		c.size = SECTION_MOST;
	if (c.size < section.size)
		input_short(p->input, p->file.name, section.offset,
			    "the file ends inside of a section of its header");
	return cursor_append(&c, b, c.size, e);
}

static int read_attrs(struct perf *p, struct perf_section section, struct error *e)
{
	struct buffer attrs = {0}, ids = {0};
	size_t size = (size_t)p->h.attr_size;
	int result = read_section(p, section, &attrs, e);

	for (size_t at = 0; !result && attrs.size - at >= size; at += size) {
		const uint8_t *d = attrs.data + at;

		result = read_section(p, section_at(p, d + size - SECTION_LEAST), &ids, e);
		if (!result && perf_attr_add(p, d, size - SECTION_LEAST, ids.data, ids.size / 8))
			result = error_no_memory(e);
	}
	buffer_free(&attrs);
	buffer_free(&ids);
	return result;
}

/* The names of tracepoints in old files. */
static int read_event_types(struct perf *p, struct perf_section section, struct error *e)
{
	const size_t each = 8 + PERF_EVENT_NAME;
	struct buffer types = {0};
	int result = section.size > TYPES_MOST * each ? 0 : read_section(p, section, &types, e);

	for (size_t at = 0; !result && types.size - at >= each; at += each) {
		uint64_t id = perf_u64(p, types.data + at);

		for (size_t i = 0; i < p->nattrs; i++) {
			struct perf_attr *a = &p->attrs[i];

			if (a->name || a->kind != PERF_TYPE_TRACEPOINT || a->config != id)
				continue;
			a->name = strndup((char *)types.data + at + 8, PERF_EVENT_NAME);
			if (!a->name)
				result = error_no_memory(e);
		}
	}
	buffer_free(&types);
	return result;
}

static int read_features(struct perf *p, uint64_t offset, struct error *e)
{
	struct buffer content = {0};
	int result = 0;

	for (unsigned i = 1; i < PERF_FEATURES && !result; i++) {
		uint8_t d[SECTION_LEAST];

		if (!(p->h.features[i / 64] >> i % 64 & 1))
			continue;
		if (tracecmd_file_read(&p->file, d, sizeof d, offset, e) != sizeof d) {
			input_short(p->input, p->file.name, offset,
				    "the file ends before the sections of its header");
			break;
		}
		offset += sizeof d;
		result = read_section(p, section_at(p, d), &content, e);
		if (!result && perf_feature(p, i, content.data, content.size))
			result = error_no_memory(e);
	}
	buffer_free(&content);
	return result;
}

/* Read the bits of features, which a 32-bit big-endian machine has in words of 4 bytes. */
static void read_feature_bits(struct perf *p, const uint8_t *d)
{
	uint64_t *features = p->h.features;

	for (int i = 0; i < PERF_FEATURES / 64; i++)
		features[i] = perf_u64(p, d + 8 * i);
	if (!p->h.big_endian || features[0] >> PERF_FEATURE_HOSTNAME & 1)
		return;
	for (int i = 0; i < PERF_FEATURES / 64; i++)
		features[i] = features[i] << 32 | features[i] >> 32;
}

static int read_file(struct perf *p, struct error *e)
{
	struct input *in = p->input;
	struct perf_section attrs, data;
	uint8_t d[PERF_FILE_HEADER];
	uint64_t end;

	if (tracecmd_file_read(&p->file, d, sizeof d, 0, e) != sizeof d)
		return error_set(e, p->file.name, 0, "the header of perf.data is cut");
	p->h.attr_size = perf_u64(p, d + PERF_AT_ATTR_SIZE);
	attrs = section_at(p, d + PERF_AT_ATTRS);
	data = section_at(p, d + PERF_AT_DATA);
	if (p->h.attr_size < PERF_ATTR_LEAST + SECTION_LEAST || p->h.attr_size > ATTR_MOST)
		return error_set(e, p->file.name, PERF_AT_ATTR_SIZE,
				 "attributes of %" PRIu64 " bytes", p->h.attr_size);
	if (read_attrs(p, attrs, e) ||
	    read_event_types(p, section_at(p, d + PERF_AT_EVENT_TYPES), e))
		return -1;
	read_feature_bits(p, d + PERF_AT_FEATURES);
	end = data.offset + data.size;
	if (!data.size || end < data.offset || end > p->file.size) {
		const char *what = data.size ? "the file ends before its records do"
					     : "the size of the records is 0 (perf record did not "
					       "end): they are read up to the end of the file";

		input_short(in, p->file.name, PERF_AT_DATA, "%s", what);
		end = p->file.size;
		if (data.offset > end)
			data.offset = end;
	} else if (read_features(p, end, e)) {
		return -1;
	}
	perf_records_seek(p->files.files, p->file.fd, p->file.base, data.offset, end);
	return 0;
}

/* Find version and byte order. Returns false if the bytes are no perf.data. */
static bool read_magic(struct perf_header *h, const uint8_t *d)
{
	h->version = 2;
	h->big_endian = get_u64(d) == __builtin_bswap64(get_u64(PERF_MAGIC_2));
	if (h->big_endian || !memcmp(d, PERF_MAGIC_2, 8))
		return true;
	h->version = 1;
	/* the size of the header is small */
	h->big_endian = get_u64(d + PERF_AT_SIZE) > UINT32_MAX;
	return !memcmp(d, PERF_MAGIC_1, 8);
}

/* Open the file `data` of a directory. */
static int open_member(struct perf *p, struct error *e)
{
	struct input *in = p->input;
	char path[PATH_MOST];

	p->file.fd = tree_fd(in->tree, PERF_DIRECTORY_DATA, &p->file.base, &p->file.size, e);
	if (p->file.fd < 0)
		return -1;
	p->file.own = true;
	p->own_name = strdup(tree_path(in->tree, PERF_DIRECTORY_DATA, path, sizeof path));
	p->file.name = p->own_name;
	return p->own_name ? 0 : error_no_memory(e);
}

static int read_directory(struct perf *p, struct error *e)
{
	uint8_t d[PERF_PIPE_HEADER];

	if (open_member(p, e))
		return -1;
	if (tracecmd_file_read(&p->file, d, sizeof d, 0, e) != sizeof d || !read_magic(&p->h, d))
		return error_set(e, p->file.name, 0, "the header of perf.data is cut");
	p->files.files->big_endian = p->h.big_endian;
	p->files.files->name = p->file.name;
	return read_file(p, e) ? -1
			       : perf_files_add(&p->files, p->input->tree, p->h.in_directory, e);
}

int perf_header_read(struct perf *p, struct error *e)
{
	struct input *in = p->input;
	struct perf_records *records = perf_files_begin(&p->files);

	if (!records)
		return error_no_memory(e);
	records->input = in;
	records->name = in->name;
	if (in->tree)
		return read_directory(p, e);
	if (in->head_size < PERF_PIPE_HEADER || !read_magic(&p->h, in->head))
		return error_set(e, in->name, 0, "the header of perf.data is cut");
	records->big_endian = p->h.big_endian;
	p->h.pipe = perf_u64(p, in->head + PERF_AT_SIZE) == PERF_PIPE_HEADER;
	if (!p->h.pipe)
		return tracecmd_file_open(&p->file, in->name, in->fd, in->head, in->head_size, e) ||
				       read_file(p, e)
			       ? -1
			       : 0;
	p->file.name = in->name;
	records->offset = PERF_PIPE_HEADER;
	return perf_records_pipe(records, in->fd, in->head + PERF_PIPE_HEADER,
				 in->head_size - PERF_PIPE_HEADER)
		       ? error_no_memory(e)
		       : 0;
}

/* --- records of a pipe --- */

static int take_attr(struct perf *p, const struct perf_record *r)
{
	const uint8_t *d = r->data + PERF_RECORD_HEAD;
	size_t have = r->size - PERF_RECORD_HEAD, size;

	if (have < PERF_ATTR_LEAST) {
		input_damage(p->input, p->file.name, r->offset, "an attribute that is cut");
		return 0;
	}
	size = perf_u32(p, d + PERF_ATTR_SIZE);
	if (size < PERF_ATTR_LEAST)
		size = PERF_ATTR_LEAST;
	if (size > have)
		size = have;
	return perf_attr_add(p, d, size, d + size, (have - size) / 8);
}

static int take_update(struct perf *p, const struct perf_record *r)
{
	enum { UPDATE_NAME = 2, UPDATE_BODY = 24 };
	const struct perf_id *id;
	struct perf_attr *a;

	if (r->size <= UPDATE_BODY || perf_u64(p, r->data + 8) != UPDATE_NAME)
		return 0;
	id = perf_id_find(p, perf_u64(p, r->data + 16));
	a = id ? &p->attrs[id->attr - 1] : NULL;
	if (!a || a->name)
		return 0;
	a->name = strndup((const char *)r->data + UPDATE_BODY, r->size - UPDATE_BODY);
	return a->name ? 0 : -1;
}

int perf_header_record(struct perf *p, const struct perf_record *r, struct error *e)
{
	const uint8_t *d = r->data + PERF_RECORD_HEAD;
	size_t n = r->size - PERF_RECORD_HEAD, own;
	int bad = 0;

	switch (r->type) {
	case PERF_RECORD_HEADER_ATTR: bad = take_attr(p, r); break;
	case PERF_RECORD_EVENT_UPDATE: bad = take_update(p, r); break;
	case PERF_RECORD_HEADER_BUILD_ID: bad = perf_build_id_record(p, r->data, r->size); break;
	case PERF_RECORD_HEADER_TRACING_DATA:
		/* the data follow the record, whose own size is 12 or, with padding, 16 */
		own = perf_u16(p, r->data + 6);
		if (r->size > own && own >= 12)
			bad = perf_tracing_data(p, r->data + own, r->size - own);
		break;
	case PERF_RECORD_HEADER_FEATURE:
		if (n >= 8 && perf_u64(p, d) < PERF_FEATURES)
			bad = perf_feature(p, (unsigned)perf_u64(p, d), d + 8, n - 8);
		break;
	default: break;
	}
	return bad ? error_no_memory(e) : 0;
}

void perf_header_free(struct perf_header *h)
{
	for (size_t i = 0; i < h->nfacts; i++)
		free(h->facts[i].text);
	free(h->facts);
	free(h->arch);
	buffer_free(&h->formats);
	buffer_free(&h->build_id_texts);
	id_cache_free(&h->build_ids);
}
