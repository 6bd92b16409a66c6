#include "cmd/trdecode/perf/jit_dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/util/bytes.h"

/* Sizes are those of the records of perf's jitdump-specification.txt. */
enum {
	MAGIC = 0x4a695444,
	HEAD = 40,
	RECORD_HEAD = 16,
	LOAD = 0,
	MOVE = 1,
	DEBUG_INFO = 2,
	CLOSE = 3,
	LOAD_BODY = 40,
	MOVE_BODY = 48,
	DEBUG_BODY = 16,
	DEBUG_LINE = 16,
	ARCH_TIMES = 1, /* flag of the file: times are not in nanoseconds */
	CODES_MOST = 1 << 20,
	LINES_MOST = 1 << 22,
	RECORD_MOST = 1 << 24, /* bytes that are read of a record; the code itself is skipped */
};

struct reader {
	FILE *file;
	const char *path;
	uint64_t offset; /* of the present record */
	bool swapped;
	struct buffer record; /* what is read of it, without its head */
	struct buffer debug;  /* the last DEBUG_INFO, for the function that follows */
	uint64_t debug_address;
	uint32_t module;
	uint32_t *by_index; /* function by its number in the file; 0: none */
	size_t nindex;
	struct jit_codes *codes;
	struct jit_events *events;
};

static uint64_t number(const struct reader *r, const uint8_t *d, unsigned size)
{
	return get_uint(d, size, r->swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
}

static int no_memory(const struct reader *r, struct error *e)
{
	return error_set(e, r->path, NO_OFFSET, "out of memory");
}

/* Keep a text. Returns its offset, 0 when out of memory: offset 0 is "". */
static uint32_t keep_text(struct jit_codes *c, const char *text, size_t n)
{
	size_t at = c->texts.size;

	if ((!at && buffer_append(&c->texts, "", 1)) || c->texts.size > UINT32_MAX - n - 2)
		return 0;
	at = c->texts.size;
	return buffer_append(&c->texts, text, n) || buffer_append(&c->texts, "", 1) ? 0
										    : (uint32_t)at;
}

/* Take the lines of the DEBUG_INFO before a function. */
static int take_lines(struct reader *r, struct jit_code *code)
{
	struct jit_codes *c = r->codes;
	const uint8_t *d = r->debug.data, *end = d + r->debug.size;
	uint64_t n = number(r, d + 8, 8);
	uint32_t file = 0;

	code->first_line = c->nline;
	for (d += DEBUG_BODY; n && (size_t)(end - d) > DEBUG_LINE; n--) {
		const char *name = (const char *)d + DEBUG_LINE;
		size_t size = strnlen(name, (size_t)(end - d) - DEBUG_LINE);
		struct jit_line *line;

		if (ARRAY_GROW(c->line, c->line_capacity, c->nline))
			return -1;
		line = c->line;
		/* one byte 0xff: the file of the line before */
		if (size != 1 || (uint8_t)*name != 0xff)
			file = keep_text(c, name, size);
		if (!file || c->nline == LINES_MOST)
			return file ? 0 : -1;
		line[c->nline++] =
			(struct jit_line){number(r, d, 8), file, (uint32_t)number(r, d + 8, 4)};
		code->nlines++;
		if ((size_t)(end - d) - DEBUG_LINE <= size)
			break;
		d += DEBUG_LINE + size + 1;
	}
	return 0;
}

static int add_event(struct reader *r, uint64_t time, uint64_t address, uint64_t size,
		     uint32_t code)
{
	struct jit_events *v = r->events;
	struct jit_event *event;

	if (ARRAY_GROW(v->event, v->capacity, v->count))
		return -1;
	event = v->event;
	event[v->count++] = (struct jit_event){time, address, size, code};
	return 0;
}

/* Note which function has a number. */
static int note_index(struct reader *r, uint64_t index, uint32_t code)
{
	uint32_t *by_index;

	if (index >= CODES_MOST)
		return 0;
	if (ARRAY_REACH(r->by_index, r->nindex, index))
		return -1;
	by_index = r->by_index;
	by_index[index] = code;
	return 0;
}

static int take_load(struct reader *r, uint64_t time)
{
	struct jit_codes *c = r->codes;
	const uint8_t *d = r->record.data;
	const char *name = (const char *)d + LOAD_BODY;
	struct jit_code *code;
	uint64_t address = number(r, d + 16, 8);

	if (ARRAY_GROW(c->code, c->code_capacity, c->ncode))
		return -1;
	code = c->code;
	code += c->ncode;
	*code = (struct jit_code){
		.address = address,
		.name = keep_text(c, name, strnlen(name, r->record.size - LOAD_BODY)),
		.module = r->module};
	if (!code->name ||
	    (r->debug.size >= DEBUG_BODY && r->debug_address == address && take_lines(r, code)))
		return -1;
	r->debug.size = 0;
	c->ncode++;
	if (note_index(r, number(r, d + 32, 8), (uint32_t)c->ncode))
		return -1;
	return add_event(r, time, address, number(r, d + 24, 8), (uint32_t)c->ncode);
}

static int take_move(struct reader *r, uint64_t time)
{
	const uint8_t *d = r->record.data;
	uint64_t index = number(r, d + 40, 8);
	uint32_t code = index < r->nindex ? r->by_index[index] : 0;

	return code ? add_event(r, time, number(r, d + 24, 8), number(r, d + 32, 8), code) : 0;
}

/* Returns 1 at the end, -1 when out of memory. */
static int take_record(struct reader *r, uint32_t kind, uint64_t time)
{
	switch (kind) {
	case LOAD:
		if (r->codes->ncode == CODES_MOST)
			return 1;
		return r->record.size > LOAD_BODY ? take_load(r, time) : 0;
	case MOVE: return r->record.size >= MOVE_BODY ? take_move(r, time) : 0;
	case DEBUG_INFO:
		r->debug.size = 0;
		if (r->record.size < DEBUG_BODY)
			return 0;
		r->debug_address = number(r, r->record.data, 8);
		return buffer_append(&r->debug, r->record.data, r->record.size);
	case CLOSE: return 1;
	default: return 0;
	}
}

/* Read a record but the code of a LOAD. Returns 1 for a record, 0 at the end, -1 with e filled. */
static int next_record(struct reader *r, uint32_t *kind, uint64_t *time, struct error *e)
{
	uint8_t head[RECORD_HEAD];
	size_t n = fread(head, 1, sizeof head, r->file), size, wanted;

	if (!n)
		return 0;
	*kind = (uint32_t)number(r, head, 4);
	size = (size_t)number(r, head + 4, 4);
	*time = number(r, head + 8, 8);
	if (n < sizeof head || size < RECORD_HEAD)
		return error_set(e, r->path, r->offset, "a damaged record: the rest is left out");
	size -= RECORD_HEAD;
	wanted = *kind == LOAD && size > LOAD_BODY + 4096 ? LOAD_BODY + 4096 : size;
	if (wanted > RECORD_MOST)
		wanted = RECORD_MOST;
	r->record.size = 0;
	if (buffer_reserve(&r->record, wanted))
		return no_memory(r, e);
	r->record.size = fread(r->record.data, 1, wanted, r->file);
	if (r->record.size < wanted || fseek(r->file, (long)(size - wanted), SEEK_CUR))
		return error_set(e, r->path, r->offset,
				 "the file ends within a record, which is left out");
	r->offset += RECORD_HEAD + size;
	return 1;
}

static int read_records(struct reader *r, struct error *e)
{
	uint32_t kind;
	uint64_t time;
	int got, taken = 0;

	while (!taken && (got = next_record(r, &kind, &time, e)) > 0)
		taken = take_record(r, kind, time);
	if (taken < 0)
		return no_memory(r, e);
	return taken ? 0 : got;
}

static int read_head(struct reader *r, struct error *e)
{
	uint8_t head[HEAD];
	uint32_t size;

	if (fread(head, 1, HEAD, r->file) < HEAD)
		return error_set(e, r->path, 0, "not a dump of a JIT compiler: too short");
	r->swapped = number(r, head, 4) != MAGIC;
	if (number(r, head, 4) != MAGIC)
		return error_set(e, r->path, 0, "not a dump of a JIT compiler: unknown magic");
	size = (uint32_t)number(r, head + 8, 4);
	if (number(r, head + 4, 4) != 1 || size < HEAD || fseek(r->file, (long)size, SEEK_SET))
		return error_set(e, r->path, 4, "unknown version of a JIT compiler's dump");
	if (number(r, head + 32, 8) & ARCH_TIMES)
		return error_set(e, r->path, 32,
				 "times of the machine's counter cannot be compared with those of "
				 "the trace");
	r->offset = size;
	return 0;
}

int jit_dump_read(const char *path, struct jit_codes *codes, struct jit_events *events,
		  struct error *e)
{
	struct reader r = {.path = path, .codes = codes, .events = events};
	struct stat st;
	int bad;

	if (stat(path, &st))
		return error_errno(e, path, NO_OFFSET, "cannot open");
	r.file = S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
	if (!r.file)
		return error_set(e, path, NO_OFFSET, "cannot open, or no regular file");
	r.module = keep_text(codes, path, strlen(path));
	bad = !r.module ? no_memory(&r, e) : read_head(&r, e) ? -1 : read_records(&r, e);
	free(r.by_index);
	buffer_free(&r.record);
	buffer_free(&r.debug);
	fclose(r.file);
	return bad;
}

uint32_t jit_codes_add(struct jit_codes *c, const char *name, size_t n)
{
	uint32_t text = keep_text(c, name, n);

	if (!text || ARRAY_GROW(c->code, c->code_capacity, c->ncode))
		return 0;
	c->code[c->ncode++] = (struct jit_code){.name = text, .module = text};
	return (uint32_t)c->ncode;
}

void jit_codes_free(struct jit_codes *c)
{
	free(c->code);
	free(c->line);
	buffer_free(&c->texts);
	*c = (struct jit_codes){0};
}
