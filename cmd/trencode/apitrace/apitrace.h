/*
 * apitrace.h - write a .trace: definitions where they are first used, values in their order
 */
#ifndef TR_TRENCODE_APITRACE_APITRACE_H
#define TR_TRENCODE_APITRACE_APITRACE_H

#include "cmd/trencode/apitrace/pack.h"
#include "common/stream/dictionary.h"
#include "common/stream/event.h"

/* One definition or function of the trace: whether it is written, and its encoded id. */
struct apitrace_written {
	uint8_t kind; /* enum definition_kind, 1 for a function; 0: not written yet */
	uint8_t size; /* of id, bytes; 0: id is too long for the array */
	uint8_t id[6];
};

/* All definitions, or all functions, of the trace. */
struct apitrace_written_set {
	struct apitrace_written *at; /* by number in the dictionary */
	size_t size;
};

/* One .trace being written. */
struct apitrace_target {
	struct dictionary *dictionary;
	struct pack pack;
	uint64_t version;
	struct apitrace_written_set definitions, locations;
};

/* Functions that return int return 0, or -1 when out of memory. pack.error has errors of writing.
 */

/* Begin a trace of this version: no definition is written yet. */
void apitrace_target_begin(struct apitrace_target *t, uint64_t version);
void apitrace_target_free(struct apitrace_target *t);
/* Write the id of a function, and its declaration when it is new. */
int apitrace_put_function(struct apitrace_target *t, const struct location *location);
/* Return the definition of an id of the segment; NULL: it is missing, or of another kind. */
const struct definition *apitrace_definition(const struct apitrace_target *t, uint32_t id,
					     enum definition_kind kind);
/* Write the id of a definition, and its members when it is new. */
int apitrace_put_definition(struct apitrace_target *t, const struct definition *d);
/* Write a signed integer with its tag. */
void apitrace_put_sint(struct pack *p, int64_t n);
/* Write the values of an event and the end mark. */
int apitrace_put_details(struct apitrace_target *t, const struct event *ev);

#endif
