/*
 * jit_dump.h - read a jit-PID.dump
 */
#ifndef TR_TRDECODE_PERF_JIT_DUMP_H
#define TR_TRDECODE_PERF_JIT_DUMP_H

#include "common/util/buffer.h"
#include "common/util/error.h"

/* A source line of a function. Texts are offsets in jit_codes.texts. */
struct jit_line {
	uint64_t address;
	uint32_t file, line;
};

/* A function: name is an offset in jit_codes.texts. */
struct jit_code {
	uint64_t address; /* where it was compiled; its lines have addresses relative to that */
	uint32_t name, module;
	size_t first_line, nlines;
};

/* The functions of all dumps, by number from 1. */
struct jit_codes {
	struct jit_code *code;
	size_t ncode, code_capacity;
	struct jit_line *line;
	size_t nline, line_capacity;
	struct buffer texts;
};

/* From its time on, a function is at [address, address + size). */
struct jit_event {
	uint64_t time, address, size;
	uint32_t code;
};

struct jit_events {
	struct jit_event *event; /* as in the file, whose times do not fall */
	size_t count, capacity;
};

/* Read a dump. Returns -1 with e filled if it is damaged; the events up to there are kept. */
int jit_dump_read(const char *path, struct jit_codes *codes, struct jit_events *events,
		  struct error *e);
/* Add a function without lines, whose module has its name. Returns its number, 0 when out of
 * memory.
 */
uint32_t jit_codes_add(struct jit_codes *c, const char *name, size_t n);
void jit_codes_free(struct jit_codes *c);

#endif
