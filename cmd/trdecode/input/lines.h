/*
 * lines.h - the lines of an input that is text
 */
#ifndef TR_TRDECODE_INPUT_LINES_H
#define TR_TRDECODE_INPUT_LINES_H

#include <sys/types.h>

#include "common/util/buffer.h"
#include "cmd/trdecode/decoder.h"

enum { LINE_MOST = 16 << 20 }; /* bytes of a line; the rest of a longer one is left out */

/* A source of text in place of the input itself. */
struct lines_source {
	/* Read up to n bytes. Returns their number; 0: the end; -1 with *e filled. */
	ssize_t (*read)(void *ctx, void *to, size_t n, struct error *e);
	void *ctx;
};

/* A text that is read from the beginning of an input. Zero-initialised: nothing was read. */
struct input_lines {
	struct lines_source source; /* read NULL: the input */
	struct buffer data;
	size_t begin, searched; /* of data: the next line; bytes of it without a newline */
	uint64_t offset;	/* of the last line in the input */
	uint64_t next;		/* of the next one */
	bool begun, ended;
	bool cut;   /* the last line was longer than LINE_MOST */
	bool whole; /* a newline ended the last line; false: the input did */
};

/* Get the next line, without its newline and a carriage return before it. The text is valid until
 * the next call. Returns 1; 0: no more lines; -1 with *e filled: cannot read, or out of memory. */
int input_lines_next(struct input_lines *l, const struct input *in, const char **text, size_t *n,
	       struct error *e);
/* Read until so many bytes follow the last line, or to the end. */
int input_lines_fill(struct input_lines *l, const struct input *in, size_t size, struct error *e);
/* Test whether input_lines_next need not wait: a line is there, the input has ended, or bytes of it can
 * be read within so many ms. */
bool input_lines_ready(const struct input_lines *l, const struct input *in, int ms);
void input_lines_free(struct input_lines *l);

#endif
