/*
 * profile.h - the tables of a profile.proto: strings, functions, locations, mappings
 *
 * The message is kept as it is, in memory or in a temporary file. Its tables are views of it, which
 * are found in one pass; the content of an entry is read when a sample first needs it.
 *
 * Source: proto/profile.proto of github.com/google/pprof, whose fields the numbers below are.
 */
#ifndef TR_TRDECODE_PPROF_PROFILE_H
#define TR_TRDECODE_PPROF_PROFILE_H

#include "common/protobuf/protobuf_reader.h"
#include "common/util/buffer.h"
#include "common/util/intern.h"
#include "cmd/trdecode/decoder.h"

/* Profile */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	PROFILE_LAST = 15,
};

/* ValueType, and the field that Mapping, Location and Function have first */
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { ENTRY_ID = 1 };

enum { VALUES_MOST = 16 }; /* values of a sample; the format has no limit, programs use up to 6 */

/* A name as an index of the strings. */
struct value_type {
	uint64_t type, unit;
};

/* Entries of a table, and their numbers by id. */
struct profile_table {
	struct protobuf_view *entry;
	size_t count, capacity;
	struct id_cache numbers; /* + 1 */
};

struct profile {
	struct buffer data;	      /* the message; it spills */
	struct protobuf_view samples; /* from the first sample on */
	struct profile_table strings, mappings, locations, functions;
	struct value_type types[VALUES_MOST], period_type;
	unsigned ntypes;
	uint64_t nsamples, time, duration, period, default_type; /* ns; default_type: a string */
	struct buffer comments;					 /* u64 each: a string */
};

/* Test whether bytes, of which there may be more, begin a profile: all fields are those of one, and
 * there is a type of its values. any: the type may come later. */
bool profile_begins(struct protobuf_view head, bool any);
/* Read the input and find its tables. Damage is reported. 0, or -1 with *e filled. */
int profile_read(struct profile *p, struct input *in, struct error *e);
void profile_free(struct profile *p);

/* Get a string; an index beyond them gives an empty one. */
struct protobuf_view profile_string(const struct profile *p, uint64_t index);
/* Find an entry by its id. Returns its number + 1; 0: there is none, or out of memory. */
uint32_t profile_find(struct profile_table *t, uint64_t id);

#endif
