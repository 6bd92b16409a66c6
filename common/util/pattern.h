/*
 * pattern.h - compile regular expressions within bounds
 *
 * regcomp() writes repetitions out, so "((a+)+)+" has the characters of "aaaaaaaa", and each
 * further
 * '+' doubles them. It also keeps for each '|', '?', '*' all characters that can follow.
 */
#ifndef TR_UTIL_PATTERN_H
#define TR_UTIL_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/* Test whether an extended regular expression is small: it has at most `most` characters with its
 * repetitions written out. Each operator and group counts for 5. One that regcomp() refuses may be
 * small. */
bool pattern_is_small(const char *s, size_t most);

#endif
