/*
 * memory.h - remembers that the program ran out of memory
 *
 * A program that lacks memory fails: it prints "out of memory" once, leaves no output and exits
 * with status 2. A caller of malloc may make less of it: a table that is not read, an input that is
 * damaged. So the linker puts the functions of memory.c in the place of malloc and of the other
 * functions that allocate (WRAP in the Makefile), and what ends a program looks here:
 * output_close, tree_output_finish, stage_finish, and trdecode at its end. error_print prints the
 * first error after that as "out of memory", and no other one.
 *
 * Allocations of shared libraries do not pass here: their callers look at the library's error. In
 * libtrstream nothing is replaced, and every function reports its own errors.
 */
#ifndef TR_UTIL_MEMORY_H
#define TR_UTIL_MEMORY_H

#include <stdbool.h>

bool memory_failed(void);
/* For an allocation of a library. */
void memory_fail(void);
/* End the program with "out of memory", status 2 and no output file: for a library that cannot
 * report the error. A stream on standard output has no END. */
void memory_exit(void) __attribute__((noreturn));

#endif
