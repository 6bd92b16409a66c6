/*
 * uftrace_args.h - arguments and return values of uftrace: specifications, enums, debug data
 */
#ifndef TR_TRDECODE_UFTRACE_ARGS_H
#define TR_TRDECODE_UFTRACE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/error.h"
#include "common/util/intern.h"

struct uftrace_info;
struct uftrace_session;
struct uftrace_sessions;
struct uftrace_where;

/*
 * Which values a record has, and where they are in its payload.
 *
 * The payload of an ENTRY or EXIT record has neither length nor types: it contains the values of
 * the specs that apply to the function, in an order that follows from how the recorder applied
 * them.
 */

/* The letters of specs, in the order of enum uftrace_fmt. */
#define UFTRACE_LETTERS "diuxoscfSpet"

enum uftrace_fmt {
	UFTRACE_FMT_AUTO, /* d: small numbers decimal, others hex */
	UFTRACE_FMT_SINT,
	UFTRACE_FMT_UINT,
	UFTRACE_FMT_HEX,
	UFTRACE_FMT_OCT,
	UFTRACE_FMT_STR,
	UFTRACE_FMT_CHAR,
	UFTRACE_FMT_FLOAT, /* size 4, 8, 10 (x87) */
	UFTRACE_FMT_STD_STRING,
	UFTRACE_FMT_PTR,
	UFTRACE_FMT_ENUM,
	UFTRACE_FMT_STRUCT, /* raw bytes */
};

enum uftrace_loc { UFTRACE_LOC_INDEX, UFTRACE_LOC_FLOAT, UFTRACE_LOC_REG, UFTRACE_LOC_STACK };

/* An enum's values from the largest to the smallest. */
struct uftrace_enum {
	const char *name;
	char *body; /* the text of the values; NULL once they are parsed */
	size_t nr;
	struct uftrace_enum_value {
		const char *name;
		int64_t value;
	} * values;
	uint32_t definition; /* its id in the stream; 0: not declared yet */
};

struct uftrace_spec {
	uint32_t index; /* argN and fpargN: N; retval: 0 */
	uint32_t size;	/* bytes of the value in the payload, without padding; of strings: of the
			   pointer */
	enum uftrace_fmt fmt;
	enum uftrace_loc loc;
	int32_t loc_number;	   /* stack offset, or the number of the register */
	bool exact;		   /* from a name, not a pattern */
	bool is_fp;		   /* fpargN, not argN */
	const char *type_name;	   /* of an enum or struct, NULL if none */
	struct uftrace_enum *type; /* of UFTRACE_FMT_ENUM, NULL if its definition is missing */
};

/* Specs that one function may have; a payload holds at most 1 KiB. */
#define UFTRACE_SPECS_MAX 512

/* Specs, in the order of the payload. */
struct uftrace_spec_list {
	struct uftrace_spec *specs;
	uint32_t nr;
	size_t room;
};

struct uftrace_args;

/* Parse the specs of info. Both arguments must outlive the result. NULL, with e filled, when out
 * of memory. */
struct uftrace_args *uftrace_args_new(struct uftrace_sessions *sessions,
				      const struct uftrace_info *info, struct error *e);
void uftrace_args_free(struct uftrace_args *a); /* a may be NULL */

/*
 * Find the specs for the ENTRY (exit false) or EXIT (true) records of the function that
 * uftrace_session_resolve found (where->symbol not NULL). NULL if there are none: the payload of a
 * record with `more` then has an unknown length. The result lives as long as a.
 */
const struct uftrace_spec_list *uftrace_args_find(struct uftrace_args *a, struct uftrace_session *s,
						  const struct uftrace_where *where, bool exit);

/*
 * Return the bytes that a payload takes with all its padding; -1 if it does not end within avail
 * bytes.
 */
int64_t uftrace_args_size(const struct uftrace_spec_list *specs, const void *payload, size_t avail,
			  bool swap);

/* A value of a payload, and where the next one is. Start with {0}. */
struct uftrace_arg {
	const struct uftrace_spec *spec;
	const uint8_t *bytes; /* in the trace's byte order, not aligned; strings: the text */
	uint32_t length;      /* strings: bytes of the text, else spec->size */
	bool is_string;
	uint32_t next; /* number of the next spec */
	size_t offset; /* of the next value */
};

/*
 * Get the next value of a payload of `size` bytes, as uftrace_args_size returned it. Returns 1; 0
 * at the end; -1 if the value does not fit.
 */
int uftrace_args_next(struct uftrace_arg *arg, const struct uftrace_spec_list *specs,
		      const void *payload, size_t size, bool swap);

/* --- definitions of enums: "enum NAME {A=1,B,...}" --- */

struct uftrace_enum_table {
	struct intern names;
	struct uftrace_enum *enums; /* by number of the name */
	size_t room;
};

/*
 * Add definitions separated by ';'. The table modifies the text and keeps pointers into it: text
 * must outlive the table. Returns 0, 1 if some of the text cannot be parsed (the table has what
 * precedes it), -1 when out of memory.
 */
int uftrace_enum_add(struct uftrace_enum_table *t, char *text);

/* Find a definition; of two of one name the first counts. NULL if there is none, or it has no
 * values. It is valid until the next uftrace_enum_add. */
struct uftrace_enum *uftrace_enum_find(struct uftrace_enum_table *t, const char *name);

void uftrace_enum_free(struct uftrace_enum_table *t);

/* --- parse the text of argument specs: "arg1/s,fparg2/32,arg3/t16:pair%rdi+rsi" --- */

/* The records whose specs are parsed: ENTRY or EXIT. */
enum uftrace_phase { UFTRACE_PHASE_ARGS, UFTRACE_PHASE_RETVAL };

/* Parse one spec. The text is modified, and type_name points into it. Returns 0, or -1 if the
 * text is not a spec. */
int uftrace_spec_parse(char *text, const struct uftrace_info *info, struct uftrace_spec *spec);

#endif
