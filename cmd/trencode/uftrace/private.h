/*
 * private.h - what uftrace.c (the recording, and what of it comes as it was) and
 * uftrace_records.c (rows as records) share
 */
#ifndef TR_TRENCODE_UFTRACE_PRIVATE_H
#define TR_TRENCODE_UFTRACE_PRIVATE_H

#include "common/formats/uftrace.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/convert/tree_output.h"
#include "cmd/trencode/uftrace/kernel.h"
#include "cmd/trencode/uftrace/pack.h"

/* What becomes of the rows of a type. */
enum uftrace_plan {
	PLAN_UNKNOWN, /* not yet asked */
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

struct uftrace_task {
	uint32_t member; /* of its file + 1, 0 none yet */
	/* only of filtered streams: the calls that are open, by ascending depths */
	struct uftrace_open {
		uint32_t recorded, written; /* depths */
	} * open;
	size_t nopen, capacity;
	bool begun;	 /* a call was entered or left: */
	uint32_t unseen; /* calls are open from before that */
};

struct uftrace_output {
	struct tree_output tree;
	const struct source *source; /* NULL: none came yet */
	struct uftrace_machine machine;
	struct buffer info, scratch;
	bool begun; /* info was read */
	bool less;  /* rows were left out */
	uint64_t feat_mask;

	uint8_t *plans; /* enum uftrace_plan by type number */
	size_t nplans;
	struct uftrace_task *tasks; /* by thread number */
	size_t ntasks;

	struct kernel_output kernel;
	uint64_t damage, unfit, unmatched;
};

/* Functions return 0, or -1 with e filled. */

/* uftrace_records.c: the encoder's event(); what cannot be kept is counted. */
int uftrace_event(struct encoding *en, const struct event *ev, struct error *e);

/* uftrace.c */

/* A directory holds one recording: -1 if this is another one. */
int uftrace_take_source(struct uftrace_output *s, const struct source *source, struct error *e);
/* Before the first row: which machine recorded? */
int uftrace_read_info(struct uftrace_output *s, struct error *e);
/* The file of perf's records of a CPU. */
int uftrace_perf_member(struct uftrace_output *s, uint32_t cpu, uint32_t *number, struct error *e);

#endif
