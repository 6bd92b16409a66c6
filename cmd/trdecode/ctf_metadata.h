/*
 * ctf_metadata.h - the declarations in the metadata of a CTF trace: version 1.8 in the language
 * TSDL (ctf_metadata.c), version 2 in JSON (ctf_json.c)
 *
 * Both versions become the same tables. A name of version 2 that begins with '_' gets another one,
 * since ctf_bare_name drops it.
 *
 * Sources: the CTF 1.8.3 specification, sections 4 to 7 and its appendices; the metadata that
 * lttng-tools 2.0 to 2.14 write; CTF2-SPEC-2.0, section 5, and CTF2-PMETA-1.0.
 */
#ifndef TR_TRDECODE_CTF_METADATA_H
#define TR_TRDECODE_CTF_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/trdecode/bid.h"
#include "common/util/error.h"
#include "common/util/intern.h"

/* Limits: the nesting of types; the parts of all packets, contexts and events of a trace; the steps
 * of all searches for the fields of a location. Types are used again, so the text's size bounds
 * neither. */
enum { CTF_DEPTH = 32, CTF_PARTS = 1 << 20, CTF_STEPS = 1 << 28 };

enum ctf_kind {
	CTF_INTEGER,
	CTF_FLOAT,
	CTF_ENUM,
	CTF_STRING,
	CTF_STRUCT,
	CTF_VARIANT,
	CTF_ARRAY,
	CTF_SEQUENCE,
	CTF_OPTIONAL, /* its only member, or nothing */
};

/* The members of packets and events that the decoder itself needs. */
enum ctf_role {
	CTF_NO_ROLE,
	CTF_MAGIC,
	CTF_UUID,
	CTF_STREAM_ID,
	CTF_TIME_BEGIN,
	CTF_TIME_END,
	CTF_CONTENT_SIZE,
	CTF_PACKET_SIZE,
	CTF_DISCARDED,
	CTF_SEQUENCE_NUMBER,
	CTF_INSTANCE,
	CTF_CPU,
	CTF_ID,
	CTF_TIME,
	CTF_TID,
	CTF_PID,
	CTF_PPID,
	CTF_COMM,
	CTF_KERNEL_STACK,
	CTF_USER_STACK,
	CTF_NEXT_TID,
	CTF_NEXT_COMM,
	CTF_ROLES
};

/* The scope that contains a field. */
enum ctf_scope {
	SCOPE_PACKET_HEADER,
	SCOPE_PACKET_CONTEXT,
	SCOPE_EVENT_HEADER,
	SCOPE_STREAM_CONTEXT,
	SCOPE_EVENT_CONTEXT,
	SCOPE_FIELDS,
	SCOPES
};

enum ctf_order { CTF_NATIVE, CTF_LITTLE, CTF_BIG };

/* A clock that is declared, or that a type names. */
struct ctf_clock {
	const char *name;
	uint64_t frequency; /* ticks per second */
	int64_t offset_s;   /* seconds from 1970 to tick 0 */
	int64_t offset;	    /* ticks to add to offset_s */
	bool declared;	    /* false: only a type names it */
	bool absolute;	    /* counts from 1970, with any offset */
	/* version 2 */
	const char *id;	    /* data stream classes name it so */
	const char *origin; /* a named origin other than 1970; NULL: none */
	bool has_precision, has_accuracy;
	uint64_t precision, accuracy; /* ticks */
	struct ctf_clock *next;
};

/* A label of an enumeration, for the numbers first to last of the container; or a range of the
 * numbers that choose an option, without a name. */
struct ctf_label {
	const char *name;
	int64_t first, last;
	struct ctf_label *next;
};

struct ctf_type;

/* A member of a struct, variant or optional. */
struct ctf_member {
	const char *name;
	struct ctf_type *type;
	struct ctf_label *ranges[2]; /* version 2: values of an unsigned, and of a signed tag that
					choose this option; NULL of an optional: all but 0 */
	struct ctf_member *next;
};

/* A type of TSDL, or a field class of version 2. */
struct ctf_type {
	enum ctf_kind kind;
	uint32_t align; /* bits, a power of two; of a struct: as declared, else 1 */
	/* INTEGER, FLOAT, and the container of an ENUM */
	uint8_t size; /* bits, 1 to 64 */
	bool is_signed, text;
	uint8_t base;	/* 2, 8, 10, 16 */
	bool varying;	/* LEB128; size is 64 */
	bool reversed;	/* the bits are in the reverse of the order usual for the byte order */
	bool boolean;	/* ENUM: any number but 0 is 1 */
	bool flags;	/* ENUM: the labels are masks */
	bool blob;	/* element of an array of bytes that is one value */
	uint8_t unit;	/* of a text: bytes of a unit, 2 UTF-16, 4 UTF-32; else 0 */
	uint32_t roles; /* version 2: bits of enum ctf_role; CTF_TIME in a packet's context: its
			   begin */
	enum ctf_order order;
	const struct ctf_clock *clock; /* the clock whose time it is; may be NULL */
	struct ctf_label *labels;      /* ENUM, in the order of the text */
	struct ctf_member *members;    /* STRUCT, VARIANT */
	const struct ctf_type *element;
	uint64_t count;	       /* ARRAY */
	const char *reference; /* SEQUENCE: its length; VARIANT: its tag */
	/* the same in version 2, also of OPTIONAL */
	struct {
		int scope; /* origin; -1: the struct that contains the field */
		size_t up; /* number of structs to leave first */
		size_t n;  /* names of the path; 0: no location */
		const char **names;
	} location;
};

/* A block "event". */
struct ctf_event_class {
	uint64_t id, stream;
	bool has_stream;
	const char *name;
	const char *uri;			 /* model.emf.uri; may be NULL */
	const struct ctf_type *context, *fields; /* may be NULL */
	uint32_t line;				 /* line of the declaration */
	struct ctf_event_class *next;
};

/* A block "stream". */
struct ctf_stream_class {
	uint64_t id;
	const struct ctf_type *packet_context, *header, *context; /* may be NULL */
	const struct ctf_clock *clock; /* version 2: the default clock; may be NULL */
	struct ctf_stream_class *next;
};

/* A line of a block: "name = value" or "name := type"; or a variable of the environment. */
struct ctf_attribute {
	const char *name;
	const char *text; /* NULL: a number */
	int64_t number;
	struct ctf_type *type;	    /* with := */
	struct ctf_attribute *next; /* of the environment */
};

/* All declarations of a trace. */
struct ctf_metadata {
	bool big, has_uuid;
	bool complete; /* all of the text was understood */
	uint64_t major, minor;
	uint8_t uuid[16];
	const struct ctf_type *packet_header; /* may be NULL */
	struct ctf_clock *clocks;
	struct ctf_stream_class *streams;
	struct ctf_event_class *events;
	struct ctf_attribute *env;
	uint32_t slots; /* end of the slot numbers in use, for values of lengths and tags; the first
			   is 1 */
	uint32_t parts, steps; /* used so far, of CTF_PARTS and CTF_STEPS */
	struct id_cache named; /* numbers in `places` + 1, by owner and name (ctf_named) */
	void **places;
	size_t nplaces, places_capacity;
	void **allocations; /* each owned */
	size_t nallocations, allocations_capacity;
};

/* Read n bytes of the JSON of version 2 likewise (ctf_json.c). Fragments after a bad one are read;
 * *e describes the first. After an extension is declared m->major is 0: the trace must not be read.
 */
int ctf_metadata_fragments(struct ctf_metadata *m, const char *text, size_t n, const char *file,
			   struct error *e);
/* Test whether a text of metadata is that of version 2. */
bool ctf_metadata_is_json(const char *text, size_t n);
void ctf_metadata_free(struct ctf_metadata *m);

/* Bid for the first bytes of a file as metadata. */
enum bid ctf_metadata_bid(const uint8_t *data, size_t n);

/* Find the place of what has this name, of n bytes, among the names of an owner: an address, such
 * as that of a list. It contains NULL the first time, and is valid until the next call. NULL: out
 * of memory. */
void **ctf_named(struct ctf_metadata *m, const void *owner, const void *name, size_t n);
/* Add a variable of the environment. false: out of memory. */
bool ctf_env_add(struct ctf_metadata *m, struct ctf_attribute v);

/* Allocate zeroed memory that lives as long as the metadata; NULL: out of memory. */
void *ctf_alloc(struct ctf_metadata *m, size_t size);

/*
 * The layout of a packet's bits, by the declarations of the metadata.
 *
 * A declared type may be used many times. A part (struct ctf_part) is one use of a type, with its
 * lengths and tags resolved.
 */

struct ctf_part;

/* Values of a tag, by their sign and then their size as ctf_tag_key has them, that choose an
 * option, or none (NULL). */
struct ctf_choice {
	uint64_t first, last;
	const struct ctf_part *option;
};

/* One use of a declared type: a member, an element or a whole scope. */
struct ctf_part {
	enum ctf_kind kind;
	enum ctf_role role;
	const struct ctf_type *type;
	const char *name;
	uint32_t align; /* bits */
	uint8_t size;	/* bits, of numbers */
	bool big, is_signed;
	bool unusual;		       /* a number that is varying, reversed or boolean */
	uint32_t roles;		       /* bits of its further roles */
	uint32_t slot;		       /* slot that keeps its value, below metadata.slots; 0 none */
	const struct ctf_part *refers; /* SEQUENCE: its length; VARIANT, OPTIONAL: its tag. One of
					  several parts that share its slot */
	const struct ctf_label *ranges; /* of an option: as in struct ctf_member */
	struct ctf_choice *choices;	/* VARIANT, OPTIONAL with ranges: in order, none overlap */
	size_t nchoices;
	uint64_t count;		   /* ARRAY: elements */
	struct ctf_part *children; /* members, or the element */
	struct ctf_part *next;	   /* member of the same struct */
	struct ctf_part *found;	   /* the last child that a search by name knows; NULL: none */
	uint32_t definition;	   /* id in the stream, of ENUM and STRUCT; 0 not declared yet */
	uint32_t option; /* of a member of a VARIANT: definition of the struct that contains only
			    this member */
};

/* Add a scope to the layout of an event and its packet, which has SCOPES parts, NULL where a scope
 * is not declared; all scopes that precede it were added. -1 with *e filled: a length or tag is not
 * declared, too many parts, or out of memory. */
int ctf_layout_add(struct ctf_metadata *m, struct ctf_part **layout, enum ctf_scope scope,
		   const struct ctf_type *type, struct error *e);

/* --- reading --- */

/* A position in a packet, in bits from its first bit, and the values read so far. */
struct ctf_cursor {
	const uint8_t *data; /* at bit origin, a multiple of 8 */
	uint64_t origin, at;
	uint64_t have;	/* position after the last loaded bit */
	uint64_t time;	/* the clock's value at the last TIME read */
	unsigned width; /* bits of the last varying number read */
	uint64_t role[CTF_ROLES];
	uint32_t seen;				/* bit of each role whose value is in role[] */
	const uint8_t *uuid, *comm, *next_comm; /* 16 bytes; texts */
	size_t comm_size, next_comm_size;
	uint64_t *slots;
	uint32_t budget; /* elements and members that this event may still contain */
	uint64_t empty;	 /* elements and members of no bits that the file may still contain */
};

/* The file's size does not bound the number of elements of no bits. A file may have as many of them
 * as it has bytes, and at least CTF_EMPTY_LEAST. */
enum { CTF_BUDGET = 1 << 24, CTF_EMPTY_LEAST = 1 << 16 };

static inline bool ctf_seen(const struct ctf_cursor *c, enum ctf_role role)
{
	return c->seen >> role & 1;
}

/* Get the id of a process or thread, also of 32 bits without a sign; -1: the value is no id. */
static inline int32_t ctf_id_number(uint64_t value)
{
	int64_t id = (int64_t)value;

	return value <= UINT32_MAX || (id >= INT32_MIN && id < 0) ? (int32_t)value : -1;
}

/* Get the id that was read for a role; -1: none. */
static inline int32_t ctf_id_read(const struct ctf_cursor *c, enum ctf_role role)
{
	return ctf_seen(c, role) ? ctf_id_number(c->role[role]) : -1;
}

enum ctf_got { CTF_GOT, CTF_SHORT /* more bytes must be loaded */, CTF_BAD };

/* Skip a part; keep the values of its roles and slots in the cursor. */
enum ctf_got ctf_step_over(struct ctf_cursor *c, const struct ctf_part *p);

/* Get the first time that is not before `last` and has these low bits. */
static inline uint64_t ctf_later(uint64_t last, uint64_t low, unsigned size)
{
	uint64_t mask = size < 64 ? (1ull << size) - 1 : UINT64_MAX, time;

	if (size >= 64)
		return low;
	time = (last & ~mask) | low;
	return time < last ? time + mask + 1 : time;
}

/* Get a number that is in the order of the values of a tag. */
static inline uint64_t ctf_tag_key(const struct ctf_part *tag, uint64_t value)
{
	return tag->is_signed ? value ^ 1ull << 63 : value;
}

/* Get the name without the underscore that LTTng writes before each name, so that none is a
 * keyword. */
const char *ctf_bare_name(const char *name);

/* --- the tokens of TSDL --- */

/* Test whether n is a power of two, and not too large for an alignment. */
bool ctf_is_alignment(int64_t n);

#endif
