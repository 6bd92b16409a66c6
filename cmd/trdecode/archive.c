/*
 * archive.c - trdecode --verify and --reindex: saved streams and their indexes
 *
 *     $ trdecode --verify night.trs
 *     night.trs: 51724210 events, 62 segments, 248 of 248 sections as the index has them
 */
#include "cmd/trdecode/archive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli/stage.h"
#include "common/stream/dictionary.h"
#include "common/stream/index.h"
#include "common/util/hash.h"
#include "common/util/memory.h"

/* A file that is read, and the section of its index that is compared. */
struct verify {
	struct stage stage;
	struct index index;
	size_t next; /* the section that the next block is in, or the first one after it */
	uint64_t events, first, last;
	uint64_t *rows; /* by type of the section */
	size_t capacity;
	uint64_t segments, same;
	bool differs;
};

static int verify_fails(struct verify *v, const struct index_section *s, const char *what)
{
	struct error e;

	if (!v->differs) {
		error_set(&e, v->stage.in.file, s->offset,
			  "the index does not match the stream: %s (trdecode --reindex makes a new "
			  "one)",
			  what);
		error_print(&e);
	}
	v->differs = true;
	v->stage.status = status_worse(v->stage.status, STATUS_DAMAGED);
	return 0;
}

/* Test whether the index has the header of a block as the first one of its section. */
static bool verify_header(const struct block *b, uint32_t check)
{
	uint8_t p[BLOCK_HEADER] = {0};

	put_u32(p, BLOCK_SYNC);
	put_u16(p + 4, b->kind);
	put_u16(p + 6, b->flags);
	put_u32(p + 8, b->length);
	put_u32(p + 12, b->crc);
	return checksum(0, p, BLOCK_CHECKED) == check;
}

static bool verify_has_lane(const struct index_section *s, const struct lane *l)
{
	uint32_t flags = l->flags & (LANE_HAS_CPU | LANE_HAS_TID);
	bool has = s->flags & SECTION_ANY_LANE;

	for (uint32_t i = 0; i < s->nlanes && !has; i++) {
		struct index_lane of = index_lane(s, i);

		has = of.flags == flags && (!(flags & LANE_HAS_CPU) || of.cpu == l->cpu) &&
		      (!(flags & LANE_HAS_TID) || of.tid == l->tid);
	}
	return has;
}

/* Find the index of a type in a section; UINT32_MAX: the section does not have it. */
static uint32_t verify_type(const struct index_section *s, const struct type *t)
{
	for (uint32_t i = 0; i < s->ntypes; i++) {
		struct index_type of = index_type(s, i);

		if (of.kind == t->kind && of.group_size == t->group.size &&
		    of.name_size == t->name.size &&
		    !memcmp(of.group, t->group.text, t->group.size) &&
		    !memcmp(of.name, t->name.text, t->name.size))
			return i;
	}
	return UINT32_MAX;
}

/* Compare the rows of a block with its section. -1: out of memory. */
static int verify_events(struct verify *v, const struct index_section *s, const struct block *b)
{
	uint32_t type[256], most = b->ntypes < 256 ? b->ntypes : 256;
	struct events it;
	struct event e;

	for (uint32_t i = 0; i < b->nlanes; i++)
		if (!verify_has_lane(s, b->lanes[i]))
			verify_fails(v, s, "it lacks a lane of the section");
	v->events += b->rows;
	v->first = b->base < v->first ? b->base : v->first;
	v->last = b->last > v->last ? b->last : v->last;
	if (s->flags & SECTION_ANY_TYPE)
		return 0;
	for (uint32_t i = 0; i < most; i++)
		type[i] = verify_type(s, b->types[i]);
	for (events_begin(&it, b); event_next(&it, &e);) {
		uint32_t i = 0;

		while (i < most && b->types[i] != e.type)
			i++;
		i = i < most ? type[i] : UINT32_MAX;
		if (i == UINT32_MAX)
			return verify_fails(v, s, "it lacks a type of the section");
		if (ARRAY_REACH(v->rows, v->capacity, i))
			return -1;
		v->rows[i]++;
	}
	return 0;
}

/* Compare the section that ends with what was read. */
static void verify_end(struct verify *v, const struct index_section *s)
{
	bool types = true;

	for (uint32_t i = 0; i < s->ntypes; i++)
		types = types && (i < v->capacity ? v->rows[i] : 0) == index_type(s, i).rows;
	if (v->events != s->events)
		verify_fails(v, s, "the number of events differs");
	else if (v->events && (v->first != s->first || v->last != s->last))
		verify_fails(v, s, "the times differ");
	else if (!types)
		verify_fails(v, s, "the numbers of events by type differ");
	else
		v->same++;
	memset(v->rows, 0, v->capacity * sizeof *v->rows);
	v->events = v->last = 0;
	v->first = UINT64_MAX;
	v->next++;
}

/* Compare a block with the index. -1: out of memory. */
static int verify_block(struct verify *v, const struct block *b)
{
	uint64_t begin = b->offset - (b->kind == BLOCK_HEAD ? MARKER_SIZE : 0);
	const struct index_section *s = v->index.sections;

	while (v->next < v->index.count && s[v->next].offset + s[v->next].length <= begin)
		verify_end(v, &s[v->next]);
	if (v->next == v->index.count || begin < s[v->next].offset)
		return 0;
	s += v->next;
	if (begin == s->offset && !verify_header(b, s->check))
		verify_fails(v, s, "another block begins the section");
	if (b->offset + BLOCK_HEADER + b->length > s->offset + s->length)
		verify_fails(v, s, "a section ends within a block");
	if (b->kind == BLOCK_END &&
	    (s->gaps != get_u64(b->payload + 8) || s->lost != get_u64(b->payload + 16)))
		verify_fails(v, s, "the counts of lost events differ");
	return b->kind == BLOCK_EVENTS ? verify_events(v, s, b) : 0;
}

/* Read a file. */
static void verify_run(struct verify *v)
{
	struct stage *s = &v->stage;
	bool opened = false;
	struct block b;

	s->in.reads_values = READS_ALL;
	while (stage_next(s, &b)) {
		if (!opened && index_open(&v->index, s->in.input.fd, s->in.input.frames)) {
			stage_no_memory(s);
			return;
		}
		if (!opened && v->index.fault)
			verify_fails(v, &(struct index_section){0}, v->index.fault);
		opened = true;
		v->segments += b.kind == BLOCK_HEAD;
		if (verify_block(v, &b)) {
			stage_no_memory(s);
			return;
		}
	}
	while (v->next < v->index.count)
		verify_end(v, &v->index.sections[v->next]);
}

static void verify_print(const struct verify *v, const char *path)
{
	printf("%s: %" PRIu64 " event%s, %" PRIu64 " segment%s, ", path, v->stage.events,
	       v->stage.events == 1 ? "" : "s", v->segments, v->segments == 1 ? "" : "s");
	if (v->index.count)
		printf("%" PRIu64 " of %zu section%s as the index has them\n", v->same,
		       v->index.count, v->index.count == 1 ? "" : "s");
	else
		printf("%s\n", v->index.fault ? v->index.fault : "no index");
}

int archive_verify(const struct common_options *common, char **paths, int n)
{
	char *standard[] = {(char *)"-"};
	struct verify v;
	int status = STATUS_OK;

	for (int i = 0; i < (n ? n : 1); i++) {
		char **path = n ? &paths[i] : standard;

		v = (struct verify){.first = UINT64_MAX};
		if (!stage_open(&v.stage, path, 1, common)) {
			verify_run(&v);
			if (v.stage.status != STATUS_FAILED && !common->quiet)
				verify_print(&v, *path);
		}
		index_close(&v.index);
		free(v.rows);
		status = status_worse(status, stage_finish(&v.stage));
	}
	if (fflush(stdout) || ferror(stdout))
		status = STATUS_FAILED;
	return status;
}

int archive_reindex(const struct common_options *common, int argc, char **argv, char **paths, int n)
{
	struct common_options options = *common;
	struct stage s;
	struct block b;

	options.index = true;
	if (!stage_open(&s, paths, n, &options) && !stage_create(&s, argc, argv)) {
		s.in.reads_values = READS_NO_VALUES;
		while (stage_next(&s, &b))
			if (b.kind == BLOCK_EVENTS && stage_pass(&s, &b))
				break;
	}
	return stage_finish(&s);
}
