/*
 * declared_private.h - shared by the files of the checks: declared.c (fields, conditions),
 * declared_name.c (names)
 */
#ifndef TR_EXPR_DECLARED_PRIVATE_H
#define TR_EXPR_DECLARED_PRIVATE_H

#include "common/expr/declared.h"

#define NAMELESS "; the stream has no symbols: run trsym before this program"

/* Print a warning, once, and not with k->quiet. */
void declared_warn(const struct declared *k, const char *what);

#endif
