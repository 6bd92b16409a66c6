/*
 * pattern.h - how large regular expressions become
 *
 * regcomp() writes repetitions out: "((a+)+)+" becomes "aaaaaaaa" with stars, and each '+' doubles
 * what is before it. For each '|', '?' and '*' it also keeps all characters that can follow.
 */
#ifndef TR_UTIL_PATTERN_H
#define TR_UTIL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Test whether an extended regular expression is small: it has at most `most` characters with its
 * repetitions written out. Each operator and group counts for 5. One that regcomp() refuses may be
 * small. */
bool pattern_is_small(const char *s, size_t most);

#endif
