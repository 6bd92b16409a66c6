/*
 * convert.h - convert the events of any source to a trace.dat: what the files share
 *
 * Functions that return int return 0, or -1: with *e filled where they take it, else out of memory.
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
	TRACECMD_ID_OWN = 300, /* the kernel's tracers have the ids below */
	TRACECMD_ID_MOST = 65535,
	TRACECMD_COMMON = 8, /* bytes of the common fields */
	TRACECMD_RECORD_MOST = 4000,
	TRACECMD_FIELDS_MOST = 150,
};

/* How the rows of one type become records. */
struct tracecmd_made {
	bool known;
	uint16_t id;		      /* TRACECMD_ID_PRINT: the rows are written as text */
	bool raw;		      /* the record is the source's, with another id and thread */
	bool print;		      /* a print of a 32-bit kernel */
	struct convert_field *fields; /* of a record with a format of its own */
	uint32_t nfields, size;	      /* bytes before the texts */
	bool values;		      /* the record is one text with all values */
};

/* One format of the target trace. */
struct tracecmd_made_format {
	struct text_ref system, text;
};

/* The formats of the target trace. */
struct tracecmd_formats {
	struct tracecmd_made_format *list;
	size_t count, capacity;
	struct intern names; /* system and name of each event */
	uint32_t *next_name; /* by number in names: the next suffix for that name */
	size_t next_name_size;
	struct intern bodies; /* format text after the id, with system and name */
	uint16_t *ids;	      /* by number in bodies */
	size_t ids_size;
	uint32_t next;			  /* the next id */
	uint32_t ftrace[TRACECMD_ID_OWN]; /* kernel's own formats: number of the text + 1, by id */
	uint64_t fields_lost, as_text;	  /* fields, types without an id */
	struct buffer text;
};

/* Add the formats that every trace has: calls and print. */
int tracecmd_formats_begin(struct tracecmd_formats *f, struct target_dictionary *d);
/* Decide how rows of a type become records, and add the format where it is new. */
int tracecmd_formats_add(struct tracecmd_formats *f, struct target_dictionary *d,
			 const struct type *t, struct tracecmd_made *made);
/* Convert a record of a big-endian machine to little-endian (convert_swap.c). */
void tracecmd_swap_record(uint8_t *record, size_t size, const struct type *t);
/* Append all formats as the native encoder's part "formats". */
int tracecmd_formats_end(struct tracecmd_formats *f, struct buffer *to);
void tracecmd_formats_free(struct tracecmd_formats *f);

/* --- convert_parts.c --- */

/* What the target file has beside its records. */
struct tracecmd_parts {
	struct buffer kallsyms, printk; /* of all sources */
	struct buffer cmdlines;		/* of named threads */
	struct buffer symbols;		/* of functions, like kallsyms */
	uint64_t *locations;		/* addresses by number of the location; 0: none yet */
	size_t locations_size;
	uint64_t functions; /* with an address */
};

/* Write the headers, and the clock of the first event's lane (NULL: there is no event). */
int tracecmd_parts_begin(struct conversion *a, const struct lane *lane, struct error *e);
/* Keep a piece of a source's part if the target file needs it. */
int tracecmd_parts_meta(struct tracecmd_parts *p, const struct dictionary *d, const struct meta *m,
			struct error *e);
/* Take the parts that the native encoder has received. */
void tracecmd_parts_take_over(struct tracecmd_parts *p, struct tracecmd_state *native);
/* Add the name of a thread, once. */
int tracecmd_parts_thread(struct tracecmd_parts *p, struct convert_thread *t);
/* Return the synthesised address of a function, by its location. */
int tracecmd_parts_address(struct tracecmd_parts *p, struct conversion *a, uint32_t number,
			   uint64_t *address);
/* Give all parts to the native encoder. */
int tracecmd_parts_end(const struct tracecmd_parts *p, struct tracecmd_state *native);
void tracecmd_parts_free(struct tracecmd_parts *p);

#endif
