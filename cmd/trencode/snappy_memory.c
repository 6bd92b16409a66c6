/*
 * snappy_memory.c - the memory of Snappy's compressor
 *
 * The compressor is C++: without memory its operator new throws an exception, which ends a program
 * in C. The functions here take the place of operator new and delete. Without memory, a reserve is
 * lent, so that the program ends with an error as after any other failure.
 */
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/util/error.h"
#include "common/util/memory.h"
#include "common/util/output.h"

/* A hash table and two buffers for pieces of 64 KiB. */
enum { RESERVE = 256 * 1024 };

static _Alignas(max_align_t) char reserve[RESERVE];
static bool lent;

/* The names of operator new and delete. */
void *_Znwm(size_t n);
void _ZdlPv(void *p);
void _ZdlPvm(void *p, size_t n);

void *_Znwm(size_t n)
{
	void *p = malloc(n ? n : 1);
	struct error e;

	if (p)
		return p;
	if (n <= RESERVE && !__atomic_exchange_n(&lent, true, __ATOMIC_ACQUIRE))
		return reserve;
	temporary_remove_names();
	error_no_memory(&e);
	error_print(&e);
	_exit(STATUS_FAILED);
}

void _ZdlPv(void *p)
{
	if (p == reserve)
		__atomic_store_n(&lent, false, __ATOMIC_RELEASE);
	else
		free(p);
}

void _ZdlPvm(void *p, size_t n)
{
	(void)n;
	_ZdlPv(p);
}
