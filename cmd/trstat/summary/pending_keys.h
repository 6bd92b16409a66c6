/*
 * pending_keys.h - key cells of the enters of open calls, kept for their leaves
 *
 * A call is counted by its leave, but its arguments are in its enter. With a field among the keys
 * of -g, the enter's cells are kept here until the leave: for each thread one array of frames, as
 * deep as its stack of calls (common/calls/calls.h).
 */
#ifndef TR_TRSTAT_SUMMARY_PENDING_KEYS_H
#define TR_TRSTAT_SUMMARY_PENDING_KEYS_H

#include "common/calls/calls.h"
#include "cmd/trstat/groups/groups.h"
#include "cmd/trstat/groups/indexes.h"

struct pending_keys {
	size_t fields; /* number of cells of a frame; 0: nothing is kept */
	struct pending_keys_thread {
		struct key_cell *cells;
		/* time of the enter, to distinguish a frame from an earlier one */
		uint64_t *starts;
		size_t capacity;
	} * threads;
	size_t size;
	/* of numbered calls (TYPE_CALL_NUMBER): index in cells */
	struct open_calls open;
	struct indexes indexes; /* indexes in cells, counted in frames */
	struct key_cell *cells;
	size_t capacity;
};

void pending_keys_init(struct pending_keys *en, size_t fields);
void pending_keys_free(struct pending_keys *en);

/* Keep the cells of the enter that has just pushed the top frame. Returns -1 when out of memory. */
int pending_keys_put(struct pending_keys *en, uint32_t thread, const struct stack *s,
		     const struct key_cell *cells);

/* Take the cells of the call that has just left the stack; NULL if its enter was not seen. Valid
 * until the next pending_keys_put. */
const struct key_cell *pending_keys_take(struct pending_keys *en, uint32_t thread,
					 const struct stack *s, uint64_t start);

/* Keep the cells of a call with a number. */
int pending_keys_put_numbered(struct pending_keys *en, uint32_t source, uint32_t call,
			      const struct key_cell *cells);
const struct key_cell *pending_keys_take_numbered(struct pending_keys *en, uint32_t source,
						  uint32_t call);

#endif
