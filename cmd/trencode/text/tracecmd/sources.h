/*
 * sources.h - the inputs whose kernel events are printed: the names of their kernels, and the
 * column of files and instances in front of the lines
 *
 * Functions return 0, or -1 when out of memory; those that return a pointer, NULL.
 */
#ifndef TR_TRENCODE_TEXT_TRACECMD_SOURCES_H
#define TR_TRENCODE_TEXT_TRACECMD_SOURCES_H

#include "cmd/trencode/text/tracecmd/tracecmd.h"
#include "common/util/idmap.h"

/* An input with the format trace-cmd. */
struct tc_source {
	const struct source *source;
	struct text_kernel *kernel;
	struct print_kernel names;
	struct buffer buffers; /* META block "buffers": name, clock, page size, CPUs */
	struct buffer options; /* META block "options": u32 id, u32 length, content */
	struct binary_formats binary;
	bool ready;	/* tc_source_begin was called */
	bool has_clock; /* the trace.dat names its clock; those of trace-cmd split do not */
};

/* A virtual CPU of a guest: a thread of the host. */
struct tc_vcpu {
	uint32_t tid;
	struct tc_source *guest;
};

/* All inputs. */
struct tc_sources {
	struct tc_source **at;
	size_t count, capacity;
	struct idmap numbers;  /* index in `at` + 1, by the number of the source */
	int width;	       /* width of the column; 0: no column */
	bool header;	       /* tc_header was called */
	struct tc_vcpu *vcpus; /* sorted by thread */
	size_t nvcpus, vcpus_capacity;
	bool has_vcpus; /* they were searched */
};

void tc_sources_free(struct tc_sources *s);
/* Return the source of that input; make it at the first call. */
struct tc_source *tc_source_of(struct tc_sources *s, const struct source *source);
/* Take a piece of a META block. */
int tc_sources_meta(struct tc_sources *s, const struct source *source, const struct meta *m);
/* Parse the META blocks, which are complete before the first event. */
int tc_source_begin(struct tc_source *t);

/* Find the kernel of the guest whose virtual CPU that thread of the first source is; NULL: none, or
 * out of memory. big: byte order of the machine. */
const struct print_kernel *tc_guest(struct tc_sources *s, uint32_t tid, bool big);

/* Print "cpus=2", the first lines of the report, when all META blocks were read. Later calls print
 * nothing. */
void tc_header(struct tc_sources *s, struct line *out);
/* Print "instance: " or "file: "; blanks for the top buffer of a single file. */
void tc_prefix(const struct tc_sources *s, const struct lane *lane, struct line *out);

#endif
