/*
 * failure.h - writes a stream that contains only the cause of its program's failure
 */
#ifndef TR_CLI_FAILURE_H
#define TR_CLI_FAILURE_H

#include <stdint.h>

#include <stdbool.h>

struct error;
struct output;
struct printed;
struct writer;

enum { FAILURE_CAUSE = 1200 };

/* Write "program: file: offset: what is wrong", as error_print prints it. */
void failure_cause(const struct error *e, char cause[FAILURE_CAUSE]);

/* Write the complete stream: a HEAD with these flags, and an END. A file that has content
 * already is unchanged. Errors are ignored. printed: as of writer_status. */
void failure_write(struct output *o, uint32_t head_flags, const char *cause,
		   const struct printed *printed);

/* With --strict: report the events that the recorder lost, and record them in the END of a writer;
 * NULL: none. Returns the status of damage if events were lost, else STATUS_OK. */
int failure_of_lost(struct writer *w, uint64_t lost, bool lost_more);

#endif
