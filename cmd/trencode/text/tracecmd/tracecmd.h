/*
 * tracecmd.h - what the parts of the text of kernel events share
 */
#ifndef TR_TRENCODE_TEXT_TRACECMD_TRACECMD_H
#define TR_TRENCODE_TEXT_TRACECMD_TRACECMD_H

#include "common/stream/event.h"
#include "cmd/trencode/text/kernel.h"

/* The lines of a function graph: funcgraph_entry and funcgraph_exit, drawn as trace-cmd does. */
enum graph_kind { GRAPH_NONE, GRAPH_ENTRY, GRAPH_EXIT };

/* Where its fields stand; read once for each type. */
struct graph_fields {
	enum graph_kind kind;
	struct format_field func, depth, calltime, rettime;
};

struct graph_call {
	uint64_t func, depth, duration;
};

/* What the type is to the graph: GRAPH_NONE, too, if a field is missing that is needed. */
void graph_fields_find(struct graph_fields *g, const struct type *type,
		       const struct format_fields *fields);
/* False: the record is too short. */
bool graph_read(const struct graph_fields *g, const struct event *ev, struct graph_call *c);
/* A call that other events follow before it returns; its end; one with nothing between. */
void graph_enter_text(struct line *out, const struct graph_call *c, const struct print_kernel *k);
void graph_exit_text(struct line *out, const struct graph_call *c);
void graph_leaf_text(struct line *out, const struct graph_call *c, const struct print_kernel *k);

/* trace_bprintk(): the formats seen, by their address in the kernel. */
struct binary_formats {
	struct intern addresses;
	struct print_format **formats; /* NULL: not known, or not to be compiled */
	size_t capacity;
};

struct bprint_fields {
	bool is; /* it is a bprint event */
	struct format_field ip, fmt, buf;
};

void bprint_fields_find(struct bprint_fields *b, const struct type *type,
			const struct format_fields *fields);
/* Append what the call printed. 1; 0: its format is not known; -1: out of memory. */
int bprint_message(struct binary_formats *all, const struct bprint_fields *b,
		   const struct event *ev, const struct print_kernel *k, struct line *out);
/* The same after the function that called it. -1: out of memory. */
int bprint_text(struct binary_formats *all, const struct bprint_fields *b, const struct event *ev,
		const struct print_kernel *k, struct line *out);
void binary_formats_free(struct binary_formats *all);

/* A number at its place; false: it is not inside of the record. */
bool record_number(const struct format_field *f, const struct event *ev, uint64_t *v);

/* The name of the function at that address, or the address as hexadecimal. */
void function_text(struct line *out, uint64_t address, const char *prefix,
		   const struct print_kernel *k);

#endif
