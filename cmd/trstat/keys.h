/*
 * keys.h - what -g groups by: names of keys to cells
 *
 *     name type group kind source buffer tid pid ppid comm cpu module file line address
 *     caller depth bucket(time,T), and any field of the events, arg.N and ret
 */
#ifndef TR_KEYS_H
#define TR_KEYS_H

#include "common/calls.h"
#include "common/field.h"
#include "common/value.h"
#include "groups.h"

enum key_what {
	BY_NAME,
	BY_TYPE,
	BY_GROUP,
	BY_KIND,
	BY_SOURCE,
	BY_BUFFER,
	BY_TID,
	BY_PID,
	BY_PPID,
	BY_COMM,
	BY_CPU,
	BY_MODULE,
	BY_FILE,
	BY_LINE,
	BY_ADDRESS,
	BY_CALLER,
	BY_DEPTH,
	BY_BUCKET,
	BY_FIELD,
};

struct key {
	enum key_what what;
	char *name;      /* as the user wrote it: the column's header */
	uint64_t width;  /* BY_BUCKET: ns */
};

struct keys {
	struct key *key;
	const char **names;
	size_t count;
	bool by_type;    /* one is the type: then every row counts */
	bool by_event;   /* one depends on more than place, lane, type, caller and depth */
};

/* What a row is, to be grouped. event is NULL for a call that the end of the trace closed. */
struct subject {
	const struct lane *lane;
	const struct type *type;
	const struct event *event;
	uint32_t place, caller, level;
	uint64_t time;
};

int keys_parse(struct keys *k, const char *list, struct error *e);
void keys_free(struct keys *k);

/* The cells of a row's group. -1 when memory is out. */
int keys_cells(const struct keys *k, struct dictionary *d, struct groups *g,
	       const struct subject *s, struct key_cell *cells);

/* A field of a row by name: a field of its type, arg.N or ret. false if it has none. */
bool subject_field(const struct event *e, const char *name, struct field_value *out);

#endif
