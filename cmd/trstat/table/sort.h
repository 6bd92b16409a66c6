/*
 * sort.h - the order of trstat's rows
 *
 * -s takes a comma-separated list of columns and group keys. Columns sort descending, group keys
 * ascending; "+" before a name asks for ascending, "-" for descending. Empty cells come last either
 * way. Rows that tie stand in ascending order of all their group keys (groups_compare), so the
 * order of the output depends on the rows alone.
 */
#ifndef TR_TRSTAT_TABLE_SORT_H
#define TR_TRSTAT_TABLE_SORT_H

#include "cmd/trstat/table/columns.h"
#include "cmd/trstat/groups/groups.h"

struct sort_key {
	bool group_key; /* index is that of a group key, else of a column */
	bool descending;
	size_t index;
};

/* Zero-initialised sorts by the group keys. */
struct sort {
	struct sort_key *key;
	size_t count;
};

/*
 * Parse what -s was given; keys are the names of the group keys. Columns that are not printed are
 * added to c, so this comes before the first aggregate. -1 with e, which names what is unknown.
 */
int sort_parse(struct sort *s, const char *list, const char *const *keys, size_t key_count,
	       struct columns *c, struct error *e);

void sort_free(struct sort *s);

/*
 * The groups in order: an array of g->count pointers, the caller's to free. NULL when memory is
 * out, with e.
 */
const struct aggregate **sort_groups(const struct sort *s, const struct groups *g,
				     const struct columns *c, const struct columns_run *run,
				     struct error *e);

#endif
