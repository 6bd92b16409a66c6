/*
 * rows.h - rows of the stream while they are made: rows.c and call_rows.c
 */
#ifndef TR_TRDECODE_PERFETTO_ROWS_H
#define TR_TRDECODE_PERFETTO_ROWS_H

#include "cmd/trdecode/perfetto/perfetto.h"

enum { DEPTH_MOST = 65535 }; /* of a row */

/* A row to write. */
struct perfetto_row {
	uint64_t time;
	uint64_t track_id; /* of an asynchronous call */
	enum type_kind kind;
	uint32_t lane, type_name, category; /* strings of the writer */
	uint32_t flags;			    /* of the type */
	uint32_t level, location, stack;
	uint32_t call; /* number of an asynchronous call; 0: none */
	bool by_id;    /* it has an id */
	uint32_t name; /* whose arguments are values */
	bool structs;  /* the values contain STRUCTs */
	const uint8_t *values;
	uint32_t size;
};

/* Get the type of a row. */
uint32_t perfetto_row_type(struct perfetto *p, const struct perfetto_row *r);
int perfetto_put_row(struct perfetto *p, const struct perfetto_row *r);

/* Get the thread of a resolved track; NULL: it has none. */
struct perfetto_thread *perfetto_track_thread(const struct perfetto *p,
					      const struct perfetto_track *t);
/* Get the calls that a track's begins and ends are of. */
struct perfetto_calls *perfetto_calls_of(const struct perfetto *p, struct perfetto_track *t);
/* Begin a call. of: the time, the values and the stack of the row; as track_id the id.
 */
int perfetto_begin_call(struct perfetto *p, struct perfetto_track *t,
			const struct perfetto_record *rec, const struct perfetto_row *of);
/* Write the row of a call: values and stack are those of the row `of`. */
int perfetto_put_call(struct perfetto *p, const struct perfetto_track *t,
		      const struct perfetto_frame *f, enum type_kind kind,
		      const struct perfetto_row *of);
/* Begin and end a call with an id (async_calls.c). */
int perfetto_id_begin(struct perfetto *p, const struct perfetto_record *rec, struct perfetto_id id,
		      const struct perfetto_row *of);
int perfetto_id_end(struct perfetto *p, const struct perfetto_record *rec, struct perfetto_id id,
		    const struct perfetto_row *of);
/* End the innermost call of a track; a name of the row is that of its leave. */
int perfetto_end_innermost(struct perfetto *p, struct perfetto_track *t,
			   const struct perfetto_row *of, bool unfinished);
/* Begin the state of a record, which is not the one that the track has; name 0: none begins. The
 * state before it ends. */
int perfetto_state(struct perfetto *p, struct perfetto_track *t, const struct perfetto_record *rec,
		   const struct perfetto_row *of);
/* End the call of a record, and the calls inside it. */
int perfetto_end_call(struct perfetto *p, struct perfetto_track *t,
		      const struct perfetto_record *rec, const struct perfetto_row *of);
/* Begin a call that will end at a time; end the first of them to end. */
int perfetto_begin_complete(struct perfetto *p, const struct perfetto_record *rec, uint64_t end,
			    const struct perfetto_row *of);
int perfetto_end_complete(struct perfetto *p);
/* Test whether as many calls with an id are open as may be. */
bool perfetto_ids_full(const struct perfetto *p);

#endif
