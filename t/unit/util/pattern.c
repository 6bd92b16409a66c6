/* How large the program of a regular expression becomes: patterns below and above a limit. */
#include "t/unit/tap.h"

#include <string.h>

#include "common/util/pattern.h"

/* Check that a pattern has so many characters: less is too few for it. */
static void is_size(const char *pattern, size_t size)
{
	ok(pattern_is_small(pattern, size) && !pattern_is_small(pattern, size - 1), pattern);
}

static void nested(size_t depth, bool small)
{
	char s[1001] = {0};

	memset(s, '(', depth);
	memset(s + depth, ')', depth);
	ok(pattern_is_small(s, 1 << 20) == small, "groups");
}

int main(void)
{
	char plus[80] = "a";

	is_size("abc", 3);
	is_size("a\\+\\(b\\\\", 5);
	is_size("a|b", 7);
	is_size("ab*c?", 1 + 6 + 6);
	is_size("ab+", 1 + 2 + 5);
	is_size("(ab)+", 2 * (2 + 5) + 5);
	is_size("a{3}", 4 + 5); /* as {3,} */
	is_size("a{2,7}b", 7 + 5 + 1);
	is_size("((a{9}){9}){9}", 10 * (10 * (15 + 5) + 5 + 5) + 5 + 0);
	is_size("[]a+{}(]b", 2);
	is_size("[^]|]b", 2);
	is_size("[[:alpha:]|*]b", 2);
	is_size("[a[.].]]b", 2);
	/* regcomp() refuses these */
	is_size("[ab", 1);
	is_size("a)b", 2 + 6);
	is_size("ab\\", 3);
	ok(!pattern_is_small("a{99999999999999999999}", 65536), "more copies than 64 bits");
	memset(plus + 1, '+', sizeof(plus) - 2);
	ok(!pattern_is_small(plus, SIZE_MAX / 8), "each + doubles");
	nested(250, true);
	nested(251, false);
	return done();
}
