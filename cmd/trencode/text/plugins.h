/*
 * plugins.h - texts of events as the plug-ins of trace-cmd 3.1.6 (libtraceevent 1.7) print them
 *
 * The fields of an event are found once for each type. A field that the type does not have is
 * reported in the text, as trace-cmd does.
 *
 * Source: the output of trace-cmd report, with and without -N; t/tools/plugin_events.py writes
 * traces for it.
 */
#ifndef TR_TRENCODE_TEXT_PLUGINS_H
#define TR_TRENCODE_TEXT_PLUGINS_H

#include "cmd/trencode/text/tracecmd.h"

struct event_format;
struct print_line;

enum { PLUGIN_FIELDS = 14, PLUGIN_CALLS_MOST = 1024 };

struct plugin;

/* The plug-in of a type. */
struct plugin_type {
	const struct plugin *plugin;			/* NULL: none */
	const struct event_field *field[PLUGIN_FIELDS]; /* NULL: the type does not have it */
};

/* The functions that the function tracer recorded last: each is indented below its caller. The
 * caller frees cpus; the rest is private. */
struct plugin_indent {
	struct {
		struct text_ref functions[PLUGIN_CALLS_MOST]; /* outermost first */
		size_t count;
	} * cpus;
	size_t ncpus;
};

/* An event to print, and what its text depends on. */
struct plugin_event {
	const struct plugin_type *type;
	const struct event *ev;
	const struct print_kernel *names;
	struct tc_sources *sources; /* with the kernels of guests */
	struct plugin_indent *indent;
	bool seconds, nanoseconds; /* how times are printed: time_text() */
	unsigned plugins;	   /* enum plugin_option */
};

/* Find the plug-in of a type. fields: valid as long as p. */
void plugin_find(struct plugin_type *p, const struct type *type, const struct event_format *fields);
/* Append the text of an event. Returns true if it is complete; false: the text of the print fmt
 * follows. */
bool plugin_text(const struct plugin_event *e, struct print_line *out);

#endif
