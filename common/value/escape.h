/*
 * escape.h - decodes names in which bytes that a format forbids are written \xHH or _xHH
 */
#ifndef TR_VALUE_ESCAPE_H
#define TR_VALUE_ESCAPE_H

#include <stddef.h>
#include <string.h>

/* Decode in place: replace each mark followed by xHH (lower case, not 00) by its byte. Returns
 * the remaining size. */
static inline size_t escape_undo(char *name, size_t n, char mark)
{
	static const char digits[] = "0123456789abcdef";
	size_t to = 0;

	for (size_t i = 0; i < n; i++) {
		const char *high = NULL, *low = NULL;

		if (name[i] == mark && n - i > 3 && name[i + 1] == 'x' && name[i + 2] &&
		    name[i + 3]) {
			high = strchr(digits, name[i + 2]);
			low = strchr(digits, name[i + 3]);
		}
		if (high && low && (high > digits || low > digits)) {
			name[to++] = (char)((high - digits) << 4 | (low - digits));
			i += 3;
		} else {
			name[to++] = name[i];
		}
	}
	return to;
}

#endif
