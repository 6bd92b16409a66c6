/*
 * types.h - the parts of lines that are made once for each type and each lane
 */
#ifndef TR_TRENCODE_TEXT_TRACECMD_TYPES_H
#define TR_TRENCODE_TEXT_TRACECMD_TYPES_H

#include "cmd/trencode/text/tracecmd/plan.h"
#include "cmd/trencode/text/tracecmd/plugins.h"
#include "cmd/trencode/text/tracecmd/sources.h"

/* A type of events. */
struct tc_type {
	bool ready;
	bool line; /* its events are lines of a latency tracer's text, printed unchanged */
	struct print_format *format; /* NULL: print fmt cannot be evaluated */
	struct event_format fields;  /* printed where format is NULL */
	struct graph_fields graph;
	struct bprint_fields bprint;
	struct plugin_type plugin;
	struct plan *plan; /* of --raw; then the fields above are not set */
	char *name;	   /* " sched_switch:         " */
	size_t name_size;
};

/* A lane. */
struct tc_lane {
	struct tc_source *source;
	char *head; /* "            work-151   [001]" */
	size_t head_size, prefix_size;
	bool microseconds; /* times have seconds and microseconds; else they are printed as numbers
			    */
};

struct tc_types {
	bool no_plugins, raw;
	struct tc_type *at; /* by number */
	size_t count;
	/* of the first format that cannot be evaluated */
	char why[PRINT_WHY], why_type[64];
};

struct tc_lanes {
	struct tc_lane *at; /* by number */
	size_t count;
};

/* Return the type, made at its first event. names: of its source. Returns NULL when out of memory.
 */
struct tc_type *tc_type_at(struct tc_types *t, const struct type *type,
			   const struct print_kernel *names);
void tc_types_free(struct tc_types *t);

/* source: that of the lane, after tc_source_begin. Returns NULL when out of memory. */
struct tc_lane *tc_lane_new(struct tc_lanes *l, const struct tc_sources *sources,
			    struct tc_source *source, const struct lane *lane);
/* Return the lane, or NULL before tc_lane_new. */
static inline struct tc_lane *tc_lane_at(const struct tc_lanes *l, const struct lane *lane)
{
	return lane->number < l->count && l->at[lane->number].head ? &l->at[lane->number] : NULL;
}
void tc_lanes_free(struct tc_lanes *l);

#endif
