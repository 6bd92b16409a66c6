/*
 * operands.h - the files that operands name: each a file, or a pattern of the shell
 *
 *     'old/?.trs'  b.trs      old/1.trs, old/2.trs, b.trs
 */
#ifndef TR_UTIL_OPERANDS_H
#define TR_UTIL_OPERANDS_H

#include <stddef.h>

struct error;

/* Zero-initialised is empty. */
struct operands {
	char **path;
	size_t count, capacity;
};

/* Add the files of an operand, in the order of their names; at most `most` in all. A pattern that
 * is the name of a file is that file; "-" is standard input. Returns -1 with e filled. */
int operands_add(struct operands *o, const char *operand, size_t most, struct error *e);
/* Refuse two that are the same file, whatever its names are. Returns -1 with e filled. */
int operands_check_twice(const struct operands *o, struct error *e);
void operands_free(struct operands *o);

#endif
