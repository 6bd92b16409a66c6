/*
 * projection.h - which fields and arguments stay in the rows: --keep, --drop
 */
#ifndef TRFILTER_PROJECTION_H
#define TRFILTER_PROJECTION_H

#include "common/stream/dictionary.h"
#include "common/stream/value.h"

struct projected;

struct projection {
	bool keep; /* the fields named stay, else they go */
	struct projected *named;
	size_t count; /* 0: all stay */
};

/* Take a list with commas: names of fields, arg.N, fparg.N, arg.NAME, arg for all of them, ret,
 * backtrace. 0, or -1 with e filled. */
int projection_parse(struct projection *p, const char *list, bool keep, struct error *e);
void projection_free(struct projection *p);

/* Does a field of an event stay? Numbers of calls do, for without them there are no calls. */
bool projection_field(struct projection *p, const struct field *f);
/* Does an argument, a returned value or a backtrace? names: of the arguments, or NULL. */
bool projection_detail(struct projection *p, uint8_t what, uint64_t index,
		       const struct definition *names);
/* A name that was given and no event had, NULL none; *at begins at 0. */
const char *projection_unseen(const struct projection *p, size_t *at);

#endif
