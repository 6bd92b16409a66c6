/*
 * types.h - what is made once of each type and each lane for the lines of kernel
 * events
 */
#ifndef TR_TRENCODE_TEXT_TRACECMD_TYPES_H
#define TR_TRENCODE_TEXT_TRACECMD_TYPES_H

#include "cmd/trencode/text/tracecmd/sources.h"

struct tc_type {
	bool ready;
	bool line;		     /* a line of a latency tracer's text, as it is */
	struct print_format *format; /* NULL: it cannot be evaluated */
	struct format_fields fields; /* for those */
	struct graph_fields graph;
	struct bprint_fields bprint;
	char *name; /* " sched_switch:         " */
	size_t name_size;
};

struct tc_lane {
	struct tc_source *source;
	char *head; /* "            work-151   [001]" */
	size_t head_size, prefix_size;
	bool microseconds; /* else the clock's own numbers */
};

struct tc_types {
	struct tc_type *at; /* by number */
	size_t count;
	/* of the first format that cannot be evaluated */
	char why[PRINT_WHY], why_type[64];
};

struct tc_lanes {
	struct tc_lane *at; /* by number */
	size_t count;
};

/* names: of the source that the type is of. NULL: out of memory. */
struct tc_type *tc_type_at(struct tc_types *t, const struct type *type,
			   const struct print_kernel *names);
void tc_types_free(struct tc_types *t);

/* source: of the lane, begun. NULL: out of memory. */
struct tc_lane *tc_lane_new(struct tc_lanes *l, const struct tc_sources *sources,
			    struct tc_source *source, const struct lane *lane);
/* NULL: not yet made. */
static inline struct tc_lane *tc_lane_at(const struct tc_lanes *l, const struct lane *lane)
{
	return lane->number < l->count && l->at[lane->number].head ? &l->at[lane->number] : NULL;
}
void tc_lanes_free(struct tc_lanes *l);

#endif
