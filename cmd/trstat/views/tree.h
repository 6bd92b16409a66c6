/*
 * tree.h - --tree, --callers F and --callees F: groups by stack as an indented tree
 *
 * The last key of the groups is the stack. The keys before it, if any, make a tree for each of
 * their groups. What is printed is a table with the keys, then `depth` and `name`, each row below
 * that of the stack it hangs on; siblings stand in the order of -s.
 *
 *     TREE_ALL      every stack, from the outermost call down
 *     TREE_CALLEES  what F called, wherever it was called; below another call of F it is part of it
 *     TREE_CALLERS  the calls of F, split by who called them, by who called those ...: a row has
 * the numbers of F. At most TREE_CALLERS_DEEP callers are told apart.
 */
#ifndef TR_TRSTAT_VIEWS_TREE_H
#define TR_TRSTAT_VIEWS_TREE_H

#include "cmd/trstat/table/table.h"

enum tree_kind { TREE_ALL, TREE_CALLERS, TREE_CALLEES };

enum { TREE_CALLERS_DEEP = 255 };

/* t->sort may have columns only. function: F. -1 with e when out of memory. */
int view_tree(const struct table *t, enum tree_kind kind, const char *function,
	      enum table_format format, struct text *out, struct error *e);

#endif
