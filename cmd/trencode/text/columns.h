/*
 * columns.h - the columns in front of a line, as `uftrace replay -f` has them
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

struct columns {
	bool shown[COLUMN_COUNT];
	bool none;     /* no column, and no bar in front of the line */
	bool standard; /* duration and tid alone */
};

/* What -f says: names with commas between, a "+" before them for beside the standard ones; NULL the
 * standard ones. They are shown in the order of enum column, as by uftrace. -1: e says which name
 * is unknown. */
int columns_parse(struct columns *c, const char *names, struct error *e);

/* "# DURATION     TID     FUNCTION". */
void columns_header(struct text *out, const struct columns *c);

/* The columns of a line of that task with the bar behind them. duration 0 is blank; frame NULL
 * leaves address and module blank. */
void columns_print(struct text *out, const struct columns *c, const struct dictionary *d,
		   const struct replay_task *t, uint64_t duration,
		   const struct replay_frame *frame);

/* All of them blank, and the bar. */
void columns_blank(struct text *out, const struct columns *c);

#endif
