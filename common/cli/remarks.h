/*
 * remarks.h - remarks of which a run prints each once
 *
 * For a run whose work has parts, each of which makes the same remarks. Counts are summed over the
 * parts. Where a function takes remarks, NULL prints at once, as warn and warn_count do. A
 * zero-initialised struct has no remark.
 */
#ifndef TR_CLI_REMARKS_H
#define TR_CLI_REMARKS_H

#include "common/util/intern.h"

#include <stdbool.h>

/* A counted remark. */
struct remark {
	uint64_t count;
	char *one, *many; /* text for a count of 1, for other counts */
};

struct remarks {
	struct intern printed;	/* remarks without a count */
	struct intern formats;	/* of counted remarks */
	struct remark *counted; /* by number of the format */
	size_t capacity;
	struct intern things; /* that were counted */
};

/* Things that a remark counts, which may occur in several parts. */
enum remark_thing {
	REMARK_LOCATION, /* without a name */
	REMARK_THREAD,	 /* that is written otherwise */
	REMARK_FIELDS,	 /* a type that is written without some of its fields */
};

/* Print a remark, as warn does, unless the same text was printed. */
void remark(struct remarks *r, const char *file, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Add to the count of the remark with this format. The arguments are those of the first call. */
void remark_count(struct remarks *r, uint64_t count, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Test whether a thing was not met in an earlier call with the same kind and number. */
bool remark_is_new(struct remarks *r, enum remark_thing kind, uint32_t number);
/* Print the counted remarks, in the order of their first calls. */
void remarks_print(struct remarks *r);
void remarks_free(struct remarks *r);

#endif
