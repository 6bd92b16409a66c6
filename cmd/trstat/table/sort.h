/*
 * sort.h - the order of trstat's rows
 *
 * -s takes a comma-separated list of columns and group keys. Columns sort descending, group keys
 * ascending; "+" before a name means ascending, "-" descending. Empty cells are last either way.
 * Rows with equal sort keys are in ascending order of all their group keys (groups_compare), so the
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
	/* number of the group key, from 1, whose rows of one value stay together: values are in the
	   order of their first rows; 0: none */
	size_t together;
};

/*
 * Parse the argument of -s; keys are the names of the group keys. Columns that are not printed are
 * added to c, so this must precede the first aggregate. Returns -1 with e naming what is unknown.
 */
int sort_parse(struct sort *s, const char *list, const char *const *keys, size_t key_count,
	       struct columns *c, struct error *e);

void sort_free(struct sort *s);

/*
 * Returns the groups in order: an array of g->count pointers that the caller frees. NULL with e
 * filled when out of memory.
 */
const struct aggregate **sort_groups(const struct sort *s, const struct groups *g,
				     const struct columns *c, const struct columns_run *run,
				     struct error *e);

#endif
