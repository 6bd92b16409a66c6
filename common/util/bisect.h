/*
 * bisect.h - the search in a sorted array
 */
#ifndef TR_UTIL_BISECT_H
#define TR_UTIL_BISECT_H

#include <stddef.h>

/*
 * Return how many of the first `count` elements of an array satisfy `before`, an expression of the
 * index `i`: all elements that satisfy it are before all that do not.
 */
#define BISECT(count, i, before)                                                                   \
	({                                                                                         \
		size_t bisect_low = 0, bisect_high = (count);                                      \
                                                                                                   \
		while (bisect_low < bisect_high) {                                                 \
			size_t i = bisect_low + (bisect_high - bisect_low) / 2;                    \
                                                                                                   \
			if (before)                                                                \
				bisect_low = i + 1;                                                \
			else                                                                       \
				bisect_high = i;                                                   \
		}                                                                                  \
		bisect_low;                                                                        \
	})

#endif
