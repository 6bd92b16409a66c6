/*
 * projection.h - the fields and arguments to be kept in rows: --keep, --drop
 */
#ifndef TR_TRFILTER_EXPRESSION_PROJECTION_H
#define TR_TRFILTER_EXPRESSION_PROJECTION_H

#include "common/expr/declared.h"
#include "common/stream/dictionary.h"
#include "common/stream/value.h"

struct projected;

struct projection {
	bool keep; /* keep the named fields, else drop them */
	struct projected *named;
	size_t count; /* 0: keep all */
};

/* Parse a comma-separated list: names of fields, arg.N, fparg.N, arg.NAME, arg for all of them,
 * ret, backtrace. Returns 0, or -1 with e filled. */
int projection_parse(struct projection *p, const char *list, bool keep, struct error *e);
void projection_free(struct projection *p);

/* Returns true if a field is kept. Numbers of calls always are, because calls are paired by
 * them. */
bool projection_field(struct projection *p, const struct field *f);
/* Returns true if an argument, a return value or a backtrace is kept. names: of the arguments,
 * or NULL. */
bool projection_detail(struct projection *p, uint8_t what, uint64_t index,
		       const struct definition *names);
/* Refuse names that no event of the streams read has (declared_field), and warn of those that no
 * kept event had. all has no functions. Returns 0, or -1 with e filled. */
int projection_check(const struct projection *p, const struct declared *all, struct error *e);

#endif
