/*
 * tracecmd.h - declarations that the files of the text of kernel events share
 */
#ifndef TR_TRENCODE_TEXT_TRACECMD_TRACECMD_H
#define TR_TRENCODE_TEXT_TRACECMD_TRACECMD_H

#include "common/stream/event.h"
#include "cmd/trencode/text/kernel.h"

/* The lines of a function graph: funcgraph_entry and funcgraph_exit, drawn as trace-cmd does. */
enum graph_kind { GRAPH_NONE, GRAPH_ENTRY, GRAPH_EXIT };

/* The places of the fields in a record of one type. */
struct graph_fields {
	enum graph_kind kind;
	struct event_field func, depth, calltime, rettime;
};

/* The data of a record of the graph. */
struct graph_call {
	uint64_t func, depth, duration; /* address; levels; ns, of an exit only */
	uint64_t level;			/* the depth as recorded */
};

/* Find the kind and the fields of a type; GRAPH_NONE also if a required field is missing. */
void graph_fields_find(struct graph_fields *g, const struct type *type,
		       const struct event_format *fields);
/* Read a record. Returns false if it is too short. */
bool graph_read(const struct graph_fields *g, const struct event *ev, struct graph_call *c);
/* How calls are drawn. */
struct graph_style {
	const struct print_kernel *names;
	unsigned plugins; /* enum plugin_option */
};

/* Draw a call before other events, its end, and a call without events inside. */
void graph_enter_text(struct line *out, const struct graph_call *c, const struct graph_style *g);
void graph_exit_text(struct line *out, const struct graph_call *c, const struct graph_style *g);
void graph_leaf_text(struct line *out, const struct graph_call *c, const struct graph_style *g);

/* The formats of trace_bprintk(), by their address in the kernel. */
struct binary_formats {
	struct intern addresses;
	struct print_format **formats; /* NULL: unknown, or cannot be compiled */
	size_t capacity;
};

/* The places of the fields in a bprint record. */
struct bprint_fields {
	bool is; /* the type is bprint */
	struct event_field ip, fmt, buf;
};

void bprint_fields_find(struct bprint_fields *b, const struct type *type,
			const struct event_format *fields);
/* Append the text that the call of trace_bprintk() printed. Returns 1, 0 if its format is unknown,
 * -1 when out of memory. */
int bprint_message(struct binary_formats *all, const struct bprint_fields *b,
		   const struct event *ev, const struct print_kernel *k, struct line *out);
/* Append the calling function and the text. Returns -1 when out of memory. */
int bprint_text(struct binary_formats *all, const struct bprint_fields *b, const struct event *ev,
		const struct print_kernel *k, struct line *out);
void binary_formats_free(struct binary_formats *all);

/* Read a number. Returns false if the field is outside of the record. */
bool record_number(const struct event_field *f, const struct event *ev, uint64_t *v);

/* Append the name of the function at that address, or prefix and the address in hexadecimal. */
void function_text(struct line *out, uint64_t address, const char *prefix,
		   const struct print_kernel *k);

/* Append a time: seconds with nine decimals (nanoseconds) or rounded to six; if the clock has no
 * seconds, the number. */
void time_text(struct line *out, uint64_t time, bool seconds, bool nanoseconds);

#endif
