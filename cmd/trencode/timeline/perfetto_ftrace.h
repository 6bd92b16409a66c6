/*
 * perfetto_ftrace.h - private to the encoder of Perfetto's format: events of the kernel's
 * scheduler, interrupts and power as FtraceEventBundles, from which viewers make the tracks of
 * CPUs, the states of threads, wakeups and counters
 *
 * A bundle has events of one CPU, in their order (protos/perfetto/trace/ftrace of google/perfetto:
 * ftrace_event_bundle.proto and ftrace_event.proto). Switches and wakings are in the columns of
 * CompactSched where the previous switch of the CPU implies the rest of their fields; else, as all
 * others, they are an FtraceEvent with all fields.
 *
 * CPUs and threads have no source in bundles, so only the events of one source are in bundles: of
 * the first that has such an event.
 *
 * Functions return 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_TIMELINE_PERFETTO_FTRACE_H
#define TR_TRENCODE_TIMELINE_PERFETTO_FTRACE_H

#include "cmd/trencode/timeline/perfetto_private.h"

struct perfetto_ftrace;

struct perfetto_ftrace *perfetto_ftrace_new(struct perfetto *s);
void perfetto_ftrace_free(struct perfetto_ftrace *f);

/* Take an event that is no enter or leave. *whole: it is in a bundle with all of its fields. */
int perfetto_ftrace_event(struct perfetto_ftrace *f, const struct event *ev, bool *whole,
			  struct error *e);
/* Note that events of all CPUs are missing. */
int perfetto_ftrace_lost(struct perfetto_ftrace *f, struct error *e);
/* Write the bundles that wait. */
int perfetto_ftrace_flush(struct perfetto_ftrace *f, struct error *e);

#endif
