/*
 * recorded_lines.h - the source lines of functions that uftrace record --srcline recorded
 *
 * A .dbg file: "F: ADDRESS NAME" begins a function, "L: LINE FILE" is its declaration. Other lines
 * are about arguments.
 */
#ifndef TR_TRSYM_RECORDED_LINES_H
#define TR_TRSYM_RECORDED_LINES_H

#include <stddef.h>
#include <stdint.h>

struct recorded_line {
	uint64_t address; /* of the function, relative to the module's base */
	const char *file; /* points into the text */
	uint32_t line;
};

struct recorded_lines {
	struct recorded_line *at;
	size_t count, capacity;
	char *text;
};

/* Parse the lines of a text, which may have none. Returns 0, or -1 when out of memory. */
int recorded_lines_read(struct recorded_lines *r, const char *text, size_t size);

/* Return the line of the function that begins at the address, or NULL. */
const struct recorded_line *recorded_lines_find(const struct recorded_lines *r, uint64_t address);

void recorded_lines_free(struct recorded_lines *r);

#endif
