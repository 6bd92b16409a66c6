/*
 * tree.h - --tree, --callers F and --callees F: groups by stack as an indented tree
 *
 * The last key of the groups is the stack. The keys before it, if any, make a tree for each of
 * their groups. The output is a table with the keys, then `depth` and `name`. Each row is below its
 * caller's row; siblings are in the order of -s.
 *
 *     TREE_ALL      every stack, from the outermost call down
 *     TREE_CALLEES  the callees of F, over all calls of F; a call of F below another is part of
 *                   that call's tree
 *     TREE_CALLERS  the calls of F, split by caller, by the caller's caller ...: a row has the
 *                   numbers of F. A sample counts once, with the callers of its outermost F. At
 *                   most TREE_CALLERS_DEEP callers are distinguished.
 */
#ifndef TR_TRSTAT_TREE_H
#define TR_TRSTAT_TREE_H

#include "cmd/trstat/table.h"

enum tree_kind { TREE_ALL, TREE_CALLERS, TREE_CALLEES };

enum { TREE_CALLERS_DEEP = 255 };

/* Write the tree. t->sort may have columns only. function: F. Returns -1 with e filled when out
 * of memory. */
int view_tree(const struct table *t, enum tree_kind kind, const char *function,
	      enum table_format format, struct text *out, struct error *e);

#endif
