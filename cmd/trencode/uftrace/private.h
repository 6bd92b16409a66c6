/*
 * private.h - what uftrace.c (the recording, and its files that are copied) and records.c (rows as
 * records) share
 *
 * Functions return 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_UFTRACE_PRIVATE_H
#define TR_TRENCODE_UFTRACE_PRIVATE_H

#include "common/formats/uftrace.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/convert/tree_output.h"
#include "cmd/trencode/uftrace/kernel.h"
#include "cmd/trencode/uftrace/pack.h"

/* How the rows of a type are written. */
enum uftrace_plan {
	PLAN_UNKNOWN, /* not yet decided */
	PLAN_CALL,
	PLAN_EVENT,
	PLAN_SWITCH,
	PLAN_TASK_NEW,
	PLAN_TASK_EXIT,
	PLAN_TASK_NAME,
	PLAN_EXTERN,
	PLAN_GAP,
	PLAN_KERNEL,
	PLAN_NONE,
};

/* The state of the encoder. */
struct uftrace_output {
	struct tree_output tree;
	const struct source *source; /* NULL: none yet */
	struct uftrace_machine machine;
	struct buffer info, scratch;
	bool begun;	     /* machine and feat_mask are known */
	bool filtered;	     /* rows were left out */
	bool external;	     /* extern.dat is that of the source */
	struct calls *calls; /* of the run; NULL: in a conversion, which has paired them */
	uint64_t feat_mask;

	uint8_t *plans; /* enum uftrace_plan by type number */
	size_t nplans;
	uint32_t *tasks; /* by thread number: number of the task's file + 1; 0: none yet */
	size_t ntasks;

	struct kernel_output kernel;
	uint64_t damage, unfit, unmatched; /* gaps, rows or values, leaves: left out */
};

/* Write an event; events that cannot be written are counted (records.c). */
int uftrace_event(struct encoding *en, const struct event *ev, struct error *e);

/* uftrace.c */

/* Set the source: an error if there is another one, as a directory contains one recording. */
int uftrace_take_source(struct uftrace_output *s, const struct source *source, struct error *e);
/* Read machine and features from info, before the first row. */
int uftrace_read_info(struct uftrace_output *s, struct error *e);
/* Find or add the file of perf's records of a CPU. */
int uftrace_perf_member(struct uftrace_output *s, uint32_t cpu, uint32_t *number, struct error *e);

#endif
