/*
 * convert.h - a trace.dat out of the events of any source: between its files
 */
#ifndef TR_TRENCODE_TRACECMD_CONVERT_H
#define TR_TRENCODE_TRACECMD_CONVERT_H

#include "cmd/trencode/convert/convert.h"
#include "cmd/trencode/tracecmd/tracecmd.h"

enum {
	TRACECMD_ID_FUNCTION = 1,
	TRACECMD_ID_PRINT = 5,
	TRACECMD_ID_EXIT = 10,
	TRACECMD_ID_ENTRY = 11,
	TRACECMD_ID_OWN = 300, /* ids of the kernel's tracers lie below */
	TRACECMD_ID_MOST = 65535,
	TRACECMD_COMMON = 8, /* bytes of the common fields */
	TRACECMD_RECORD_MOST = 4000,
	TRACECMD_FIELDS_MOST = 150,
};

/* How rows of a type become records. */
struct tracecmd_made {
	bool known;
	uint16_t id;		      /* TRACECMD_ID_PRINT: as text */
	bool raw;		      /* the record is the source's, but for id and thread */
	bool print;		      /* it is a print of a kernel of 32 bits */
	struct convert_field *fields; /* else */
	uint32_t nfields, size;	      /* bytes before the texts */
	bool values;		      /* and one text more, of what is no field */
};

/* One format of the trace to be. */
struct tracecmd_made_format {
	struct text_ref system, text;
};

struct tracecmd_formats {
	struct tracecmd_made_format *list;
	size_t count, capacity;
	struct intern names; /* of events, within their systems */
	uint32_t *next_name; /* by their number: what the next one of that name counts on from */
	size_t next_name_size;
	struct intern bodies; /* the same with the format's text behind the id */
	uint16_t *ids;	      /* by their number */
	size_t ids_size;
	uint32_t next;			  /* id */
	uint16_t ftrace[TRACECMD_ID_OWN]; /* index + 1 in list of the kernel's own, by id */
	uint64_t fields_lost, as_text;
	struct buffer text;
};

/* The formats that all have: calls and print. */
int tracecmd_formats_begin(struct tracecmd_formats *f, struct target_dictionary *d);
int tracecmd_formats_add(struct tracecmd_formats *f, struct target_dictionary *d,
			 const struct type *t, struct tracecmd_made *made);
/* tracecmd_convert_swap.c: turn a record round that came from a machine of the other order of
 * bytes.
 */
void tracecmd_swap_record(uint8_t *record, size_t size, const struct type *t);
/* All of them as the native encoder wants them. */
int tracecmd_formats_end(struct tracecmd_formats *f, struct buffer *to);
void tracecmd_formats_free(struct tracecmd_formats *f);

/*
 * tracecmd_convert_lanes.c: where events are written, which is a buffer on a CPU
 */
struct tracecmd_lanes {
	struct intern keys; /* buffer, CPU and round */
	uint32_t *lanes;    /* in the dialect */
	size_t size;
	uint64_t no_cpu; /* events of none */
};

/* -1: out of memory. */
int tracecmd_lane_of(struct tracecmd_lanes *l, struct conversion *a, const struct lane *from,
		     uint64_t time, const struct lane **out);
void tracecmd_lanes_free(struct tracecmd_lanes *l);

/*
 * tracecmd_convert_parts.c: what the file has beside its records
 */
struct tracecmd_parts {
	struct buffer kallsyms, printk; /* of the sources */
	struct buffer cmdlines;		/* of threads that were named */
	struct buffer symbols;		/* of functions, like kallsyms */
	uint64_t *locations;		/* their addresses, by the stream's number; 0: none yet */
	size_t locations_size;
	uint64_t functions;
};

/* Headers, and the clock by the first event's lane (NULL: there is no event). */
int tracecmd_parts_begin(struct conversion *a, const struct lane *lane, struct error *e);
/* A part of a source goes by: those that are wanted are kept. */
int tracecmd_parts_meta(struct tracecmd_parts *p, const struct dictionary *d, const struct meta *m,
			struct error *e);
/* What the native encoder has had of them. */
void tracecmd_parts_take_over(struct tracecmd_parts *p, struct tracecmd_state *native);
/* The thread's name, once. -1: out of memory. */
int tracecmd_parts_thread(struct tracecmd_parts *p, struct convert_thread *t);
/* The made-up address of a function. -1: out of memory. */
int tracecmd_parts_address(struct tracecmd_parts *p, struct conversion *a, uint32_t number,
			   uint64_t *address);
/* All of it to the native encoder. -1: out of memory. */
int tracecmd_parts_end(const struct tracecmd_parts *p, struct tracecmd_state *native);
void tracecmd_parts_free(struct tracecmd_parts *p);

#endif
