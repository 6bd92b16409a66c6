/*
 * error.h - the one way an error travels up to main
 *
 * A function that fails fills the caller's struct error and returns -1 (or NULL); it prints nothing
 * and never exits. main, or whoever decides to go on, prints it with error_print:
 *
 *     trdecode: uftrace.data/1234.dat: 0x1f40: record with a wrong magic
 */
#ifndef TR_UTIL_ERROR_H
#define TR_UTIL_ERROR_H

#include <stdint.h>

#define NO_OFFSET UINT64_MAX

struct error {
	uint64_t offset; /* byte offset in the file, NO_OFFSET where there is none */
	char file[512];	 /* the file as the user named it, "" where there is none */
	char what[512];	 /* what is wrong, one line, no newline at its end */
};

/* Fill e (may be NULL) and return -1. file may be NULL. */
int error_set(struct error *e, const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Out of memory. -1 */
int error_no_memory(struct error *e);

/* error_set with ": " and the text of errno at its end. */
int error_errno(struct error *e, const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* "program: file: offset: what" on stderr; control characters from a trace are masked. */
void error_print(const struct error *e);

/* A remark in the same form: "program: file: offset: text". */
void warn(const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
