/*
 * chrome_scheduling.h - private to the encoder of Trace Event JSON: tracks of CPUs and of the
 * states of threads
 *
 * Each source with events of the scheduler has two processes: "CPUs", with a thread for each CPU
 * and for its interrupts and softirqs, and "Thread states", with a thread for each thread. Their
 * events have the category CHROME_DERIVED (common/formats/chrome.h): the decoder leaves them out,
 * as the events of the scheduler are in the file too. Of their arguments "unseen" means a slice
 * without a beginning, "unfinished" one without an end, "open" one without an end at the end of the
 * trace.
 *
 * Functions that return int return 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_TIMELINE_CHROME_SCHEDULING_H
#define TR_TRENCODE_TIMELINE_CHROME_SCHEDULING_H

#include "cmd/trencode/timeline/chrome.h"

struct chrome_scheduling;

struct chrome_scheduling *chrome_scheduling_new(struct chrome_output *s);
void chrome_scheduling_free(struct chrome_scheduling *c);

/* Take an event that is no enter or leave. */
int chrome_scheduling_event(struct chrome_scheduling *c, const struct event *ev, struct error *e);
/* End what is open: a part of the stream is missing. */
int chrome_scheduling_lost(struct chrome_scheduling *c, struct error *e);
/* End what is open, at the end, and report unless quiet. */
int chrome_scheduling_finish(struct chrome_scheduling *c, struct error *e);

#endif
