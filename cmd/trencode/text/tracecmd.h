/*
 * tracecmd.h - as trace-cmd report prints, and the messages of kernel events
 */
#ifndef TR_TRENCODE_TEXT_TRACECMD_H
#define TR_TRENCODE_TEXT_TRACECMD_H

#include "common/ftrace/event_format.h"
#include "common/ftrace/print_format.h"
#include "common/stream/event.h"
#include "common/stream/reader.h"
#include "common/util/intern.h"
#include "common/util/text.h"

/* --- names of the kernel that a trace.dat was recorded on --- */

/*
 * Symbols are read from kallsyms, constant strings from printk_formats. They are looked up as by
 * libtraceevent, so that the same names are printed: all symbols are used, those of data too; a
 * symbol names the addresses up to the next symbol, the last symbol only its own address.
 */

/* Symbols or strings, sorted by address once read. */
struct kernel_table {
	struct buffer text;
	struct kernel_name *rows;
	size_t count, capacity;
	uint32_t *by_name; /* indexes of rows; NULL until a name is searched */
	bool read;
};

/* A kernel, which must not move once its names are in use. */
struct text_kernel {
	struct kernel_table symbols, strings;
	struct print_kernel names; /* look-ups in the tables, valid after they were read */
};

/* --- the messages of kernel events, made by the print fmt of their format files --- */

struct kernel_events;

/* Returns NULL when out of memory. */
struct kernel_events *kernel_events_new(void);
void kernel_events_free(struct kernel_events *k);

/* Take a piece of a META block; kallsyms has the names of functions. Returns -1 when out of memory.
 */
int kernel_events_meta(struct kernel_events *k, const struct meta *m);

/* Test whether the event is from the kernel's ring buffer, with the format file of its type. */
static inline bool is_kernel_event(const struct event *ev)
{
	return ev->type->kind == KIND_INSTANT && ev->type->declaration.size;
}

/* Print " (prev_comm=a ...)", or nothing where the message is empty. Prints the fields where print
 * fmt cannot be evaluated. Returns -1 when out of memory. */
int kernel_event_text(struct kernel_events *k, struct text *out, const struct event *ev);

/*
 * Declarations that the files of the text of kernel events share.
 */

struct tc_source;

/* The places of the fields in a bprint record. */
struct bprint_fields {
	bool is; /* the type is bprint */
	struct event_field ip, fmt, buf;
};

void bprint_fields_find(struct bprint_fields *b, const struct type *type,
			const struct event_format *fields);
/* Append the text that the call of trace_bprintk() printed. Returns 1, 0 if its format is unknown,
 * -1 when out of memory. */
int bprint_message(struct tc_source *source, const struct bprint_fields *b, const struct event *ev,
		   struct print_line *out);

/* Read a number. Returns false if the field is outside of the record. */
bool record_number(const struct event_field *f, const struct event *ev, uint64_t *v);

/* Append the name of the function at that address, or prefix and the address in hexadecimal. */
void function_text(struct print_line *out, uint64_t address, const char *prefix,
		   const struct print_kernel *k);

/* Append a time: seconds with nine decimals (nanoseconds) or rounded to six; if the clock has no
 * seconds, the number. */
void time_text(struct print_line *out, uint64_t time, bool seconds, bool nanoseconds);

/*
 * The inputs whose kernel events are printed: the names of their kernels, and the column of files
 * and instances in front of the lines.
 *
 * Functions return 0, or -1 when out of memory; those that return a pointer, NULL.
 */

/* An input with the format trace-cmd. */
struct tc_source {
	const struct source *source;
	struct text_kernel kernel;
	struct buffer buffers; /* META block "buffers": name, clock, page size, CPUs */
	struct buffer options; /* META block "options": u32 id, u32 length, content */
	struct {
		struct intern addresses;
		struct print_format **formats; /* NULL: cannot be compiled */
		size_t capacity;
	} binary;	/* formats of trace_bprintk(), by their address in the kernel */
	bool ready;	/* tc_source_begin was called */
	bool has_clock; /* the trace.dat names its clock; those of trace-cmd split do not */
};

/* All inputs. */
struct tc_sources {
	struct tc_source **at;
	size_t count, capacity;
	struct idmap numbers; /* index in `at` + 1, by the number of the source */
	int width;	      /* width of the column; 0: no column */
	bool header;	      /* tc_header was called */
	bool has_vcpus;	      /* they were searched */
	/* virtual CPUs, which are threads of the host: index in `at` of the guest, by thread */
	struct key_map vcpus;
};

void tc_sources_free(struct tc_sources *s);
/* Get the source of that input; make it at the first call. */
struct tc_source *tc_source_of(struct tc_sources *s, const struct source *source);
/* Take a piece of a META block. */
int tc_sources_meta(struct tc_sources *s, const struct source *source, const struct meta *m);
/* Parse the META blocks, which are complete before the first event. */
int tc_source_begin(struct tc_source *t);

/* Find the kernel of the guest whose virtual CPU that thread of the first source is; NULL: none, or
 * out of memory. big: byte order of the machine. */
const struct print_kernel *tc_guest(struct tc_sources *s, uint32_t tid, bool big);

/*
 * The text that the kernel's trace_printk() wrote, for formats that show fields.
 *
 * A bprint event has the address of a format and its arguments, a bputs event the address of a
 * text; META parts of the recording contain both texts. All zero is valid and knows no text.
 */

/* The texts of one stream's recordings. */
struct kernel_messages {
	struct tc_sources sources;
	struct {
		bool ready, bputs;
		struct bprint_fields bprint;
		struct event_field text; /* of bputs */
	} * types;			 /* by number: the fields, parsed once */
	size_t ntypes;
	struct print_line line;
};

/* Test whether events of that type may have a message. */
static inline bool kernel_messages_has(const struct type *t)
{
	return t->group.size == 6 && !memcmp(t->group.text, "ftrace", 6) &&
	       (!strcmp(t->name.text, "bprint") || !strcmp(t->name.text, "bputs"));
}

/* Get the message of such an event, without the newline at its end, valid until the next call;
 * *size is 0 if the recording does not contain its text. Returns 0, or -1 when out of memory. */
int kernel_message(struct kernel_messages *k, const struct event *ev, const char **text,
		   size_t *size);

#endif
