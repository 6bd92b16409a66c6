/*
 * columns.h - the columns in front of a line, as `uftrace replay -f` prints them
 */
#ifndef TR_TRENCODE_TEXT_COLUMNS_H
#define TR_TRENCODE_TEXT_COLUMNS_H

#include "common/util/error.h"
#include "common/util/text.h"
#include "cmd/trencode/text/uftrace/stack.h"

enum column {
	COLUMN_DURATION,
	COLUMN_TID,
	COLUMN_ADDRESS,
	COLUMN_TIME,
	COLUMN_DELTA,
	COLUMN_ELAPSED,
	COLUMN_TASK,
	COLUMN_MODULE,
	COLUMN_COUNT
};

/* The choice of columns. */
struct columns {
	bool shown[COLUMN_COUNT];
	bool none;     /* no column, and no bar in front of the line */
	bool standard; /* duration and tid alone */
};

/* Parse the names of -f, separated by commas; "+" before them adds them to the standard columns,
 * NULL gives the standard columns. Columns are shown in the order of enum column, as by uftrace.
 * Returns -1 with *e filled if a name is unknown. */
int columns_parse(struct columns *c, const char *names, struct error *e);

/* Print "# DURATION     TID     FUNCTION". */
void columns_header(struct text *out, const struct columns *c);

/* Print the columns of a line of that task, and the bar after them. duration, ns: 0 is blank;
 * frame NULL leaves address and module blank. */
void columns_print(struct text *out, const struct columns *c, const struct dictionary *d,
		   const struct replay_task *t, uint64_t duration,
		   const struct replay_frame *frame);

/* Print blank columns, and the bar. */
void columns_blank(struct text *out, const struct columns *c);

#endif
