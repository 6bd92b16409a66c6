/*
 * timed.h - the calls of a trace with the times of its replay's profile (glprofile.h)
 *
 * A call has the times that the replay measured on the CPU, and its enter has the fields of the
 * profile. A call that the profile does not have begins and ends where the replay has come to,
 * without a duration. Rows are written in the order of their times, which is not the trace's where
 * threads overlap: a replay runs one call at a time. The rows of the GPU are among them.
 *
 * A call that is open while more than GLPROFILE_WINDOW / 2 other calls of the profile end counts
 * as one that the profile does not have.
 */
#ifndef TR_TRDECODE_APITRACE_TIMED_H
#define TR_TRDECODE_APITRACE_TIMED_H

#include "cmd/trdecode/apitrace/apitrace.h"
#include "cmd/trdecode/glprofile/glprofile.h"

/* Bytes of the fixed part of a row. */
enum { TIMED_FIXED_MOST = APITRACE_FIXED_MOST + GLPROFILE_FIXED_MOST };

/* Functions return 0, or -1 with apitrace.failure set. */

/* Add a row with the time of its call, which is set in r. r->fixed is an array of TIMED_FIXED_MOST
 * bytes. */
int timed_row(struct apitrace *a, struct new_row *r, uint8_t *fixed, const struct row_needs *needs,
	      uint32_t call);
/* Write the rows up to a time, and set in->next. ended: no more rows follow. */
int timed_write(struct apitrace *a, uint64_t until, bool ended);
/* Report calls of the profile that the trace does not have. */
int timed_end(struct apitrace *a);

#endif
