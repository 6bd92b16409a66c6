/*
 * rows_arrow.h - the rows of streams and files of Apache Arrow, as cells of a table
 */
#ifndef TR_TRDECODE_ROWS_ARROW_H
#define TR_TRDECODE_ROWS_ARROW_H

#include "cmd/trdecode/input.h"
#include "common/value/json.h"

/* A cell: a text, or a token of JSON. */
struct in_cell {
	const char *text;
	size_t size;
	/* STRING, NUMBER, TRUE, FALSE, NULL; of csv STRING; of Arrow ARRAY and OBJECT, too: then
	 * the text is JSON */
	enum json_token token;
	bool quoted; /* a text that is not missing if it is empty */
};

/* An input. */
struct arrow_input {
	struct input *input;
	struct input_lines *lines; /* its bytes */
	uint64_t *scales;	   /* by column: ns of a unit; 0: none */
	struct arrow_rows *rows;   /* NULL: nothing was read */
};

/* Get the cells of the next row, of which there is room for `most`. The first row are the names of
 * the columns; their scales are set then. Cells are valid until the next call. *offset: of the
 * message of the row. Returns 1; 0: no more; -1 with *e filled. Batches that cannot be read are
 * damage. */
int arrow_rows_next(struct arrow_input *in, struct in_cell *cells, size_t most, size_t *n,
		    uint64_t *offset, struct error *e);
void arrow_rows_free(struct arrow_input *in);

#endif
