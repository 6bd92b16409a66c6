/*
 * error.h - errors, passed up to main
 *
 * A function that fails fills the caller's struct error and returns -1 (or NULL); it prints nothing
 * and never exits. main, or a caller that continues, prints the error with error_print:
 *
 *     trdecode: uftrace.data/1234.dat: 0x1f40: record with a wrong magic
 */
#ifndef TR_UTIL_ERROR_H
#define TR_UTIL_ERROR_H

#include <stdint.h>

#define NO_OFFSET UINT64_MAX

struct error {
	uint64_t offset; /* byte offset in the file, NO_OFFSET: none */
	char file[512];	 /* file as named by the user, "" none */
	char what[512];	 /* description, one line without newline */
};

/* Fill e (may be NULL) and return -1. file may be NULL. */
int error_set(struct error *e, const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Fill e with "out of memory" and return -1. */
int error_no_memory(struct error *e);

/* Fill e as error_set does, and append ": " and the text of errno. */
int error_errno(struct error *e, const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Print "program: file: offset: what" on stderr; control characters of a trace are masked. */
void error_print(const struct error *e);

/* Print a remark in the same form: "program: file: offset: text". */
void warn(const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
