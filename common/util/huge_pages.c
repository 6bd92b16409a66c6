#include "common/util/huge_pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

void *huge_zeroed(size_t size)
{
	void *table;

	if (size % HUGE_PAGE)
		return calloc(1, size);
	table = aligned_alloc(HUGE_PAGE, size);
	if (!table)
		return NULL;
	madvise(table, size, MADV_HUGEPAGE);
	return memset(table, 0, size);
}
