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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_OFFSET UINT64_MAX

struct error {
	uint64_t offset; /* byte offset in the file, NO_OFFSET: none */
	char file[512];	 /* file as named by the user, "" none */
	char what[512];	 /* description, one line without newline */
	bool printed;	 /* by an earlier program of the pipe, on this stderr: not printed again */
};

/* The result of a test or of a search that may fail. */
enum outcome {
	OUTCOME_FAILED = -1, /* out of memory, unless the function says otherwise */
	OUTCOME_NO,	     /* false, or not found */
	OUTCOME_YES,
};

/* Fill e (may be NULL) and return -1. file may be NULL. */
int error_set(struct error *e, const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Name the file of an error that names none. Returns e. */
struct error *error_in_file(struct error *e, const char *file);

/* Fill e with "out of memory" and return -1. */
int error_no_memory(struct error *e);

/* Fill e as error_set does, and append ": " and the text of errno. */
int error_errno(struct error *e, const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Write "file: 0xoffset: what" to a text of size bytes. */
void error_text(const struct error *e, char *text, size_t size);

/*
 * The outputs on which the error of an END was printed. A mark is the hash of host and file of a
 * stderr in the low half, and the seconds since boot in the high half: a stream that was stored
 * must be reported again.
 */
enum { PRINTED_MARKS = 4 };

struct printed {
	unsigned n;
	uint64_t mark[PRINTED_MARKS];
};

/* State that this process prints each error of its output stream on its stderr. */
void printed_by_program(void);
/* Add stderr, if the process prints its errors. The oldest mark makes room. */
void printed_add(struct printed *p);
/* Test whether one of the marks is this stderr's, of the last minute. */
bool printed_here(const struct printed *p);

/* Note the n words of the command line with the program, its options and its expression, which are
 * valid until the program ends, for command_after. */
void command_note(char *const *words, int n);
/* Append a blank and a word, in quotes if a shell would change it. Returns false if it does not
 * fit, or has characters that a message masks. */
bool command_word(char *text, size_t size, const char *word);

/* Write the pipe of a tool that reads a file and of the noted command, as typed in a shell:
 * "zcat a.gz | trstat -g comm", and of trdecode "trdecode a.dat | trsym | trstat -g comm". file:
 * NULL: standard input. Returns false if it is not known or does not fit. */
bool command_after(char *text, size_t size, const char *tool, const char *file);

/* Print "program: file: offset: what" on stderr; control characters of a trace are masked. */
void error_print(const struct error *e);

/* Write bytes to stderr, at once: the lines of several programs are not mixed. */
void error_write(const char *text, size_t n);

enum { FAULT_KINDS = 8 };

/* The faults of an input: the first of each kind is printed, the others are counted. Errors of one
 * kind have descriptions that differ only in numbers. All zero is valid. */
struct faults {
	struct {
		uint64_t key, count;
		char what[128]; /* description of the first one */
	} kinds[FAULT_KINDS];
	unsigned nkinds;
	uint64_t others; /* of further kinds */
	uint64_t total;
	struct error *held; /* a fault that may be none, not counted yet; NULL: none */
};

/* Count a fault. file: NULL, or the input if several inputs share f. Faults without an offset are
 * of one kind only in one file. Returns whether the fault is the first of its kind, which the
 * caller prints. */
bool faults_add(struct faults *f, const struct error *e, const char *file);
/* Print a line for each kind with more than one fault: how many more. hint: after it, "" none. */
void faults_report(const struct faults *f, const char *file, const char *hint);

/* Print a remark in the same form: "program: file: offset: text". */
void warn(const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Print the remark "COUNT fmt" if count is not 0. Of "{call|calls}" in fmt one form is printed. */
void warn_count(const char *file, uint64_t count, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Copy fmt with one form of each "{call|calls}": the first if one is true. */
void warn_choose_forms(char *to, size_t size, const char *fmt, bool one);

#endif
