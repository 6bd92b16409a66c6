/*
 * apitrace.h - a .trace being written: definitions where they are first used, values in their order
 */
#ifndef TR_TRENCODE_APITRACE_APITRACE_H
#define TR_TRENCODE_APITRACE_APITRACE_H

#include "cmd/trencode/apitrace/pack.h"
#include "common/stream/dictionary.h"
#include "common/stream/event.h"

/* What stands in the trace already, and its id there as a uint, ready to be copied. */
struct apitrace_written {
	uint8_t kind; /* enum definition_kind, of a place 1; 0: not written yet */
	uint8_t size; /* of id; 0: too long to stand here */
	uint8_t id[6];
};

struct apitrace_written_set {
	struct apitrace_written *at; /* by number in the dictionary */
	size_t size;
};

struct apitrace_target {
	struct dictionary *dictionary;
	struct pack pack;
	uint64_t version;
	struct apitrace_written_set definitions, locations;
};

/* Those that return int return 0, or -1: out of memory. Errors of writing are in pack.error. */

/* A trace begins: nothing is written yet. */
void apitrace_target_begin(struct apitrace_target *t, uint64_t version);
void apitrace_target_free(struct apitrace_target *t);
int apitrace_put_function(struct apitrace_target *t, const struct location *location);
/* The definition of that id in the segment; NULL: it is missing, or of another kind. */
const struct definition *apitrace_definition(const struct apitrace_target *t, uint32_t id,
					     enum definition_kind kind);
int apitrace_put_definition(struct apitrace_target *t, const struct definition *d);
void apitrace_put_sint(struct pack *p, int64_t n);
/* The values of an event, and the mark of their end. */
int apitrace_put_details(struct apitrace_target *t, const struct event *ev);

#endif
