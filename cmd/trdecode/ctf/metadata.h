/*
 * metadata.h - the declarations in the metadata of a CTF 1.8 trace, in the language TSDL
 *
 * Sources: the CTF 1.8.3 specification, sections 4 to 7 and its appendices, and the metadata that
 * lttng-tools 2.0 to 2.13 write.
 */
#ifndef TR_TRDECODE_CTF_METADATA_H
#define TR_TRDECODE_CTF_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/error.h"
#include "cmd/trdecode/bid.h"

/* Limits: the nesting of types; the parts of all packets, contexts and events of a trace; the steps
 * of all searches for names. Types are used again, so the text's size bounds neither. */
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
};

enum ctf_order { CTF_NATIVE, CTF_LITTLE, CTF_BIG };

/* A clock that is declared, or that a type names. */
struct ctf_clock {
	char *name;
	uint64_t frequency; /* ticks per second */
	int64_t offset_s;   /* seconds from 1970 to tick 0 */
	int64_t offset;	    /* ticks to add to offset_s */
	bool declared;	    /* false: only a type names it */
	struct ctf_clock *next;
};

/* A label of an enumeration, for the numbers first to last of the container. */
struct ctf_label {
	char *name;
	int64_t first, last;
	struct ctf_label *next;
};

struct ctf_type;

/* A member of a struct or variant. */
struct ctf_member {
	char *name;
	struct ctf_type *type;
	struct ctf_member *next;
};

/* A type of TSDL. */
struct ctf_type {
	enum ctf_kind kind;
	uint32_t align; /* bits, a power of two; of a struct: as declared, else 1 */
	/* INTEGER, FLOAT, and the container of an ENUM */
	uint8_t size; /* bits, 1 to 64 */
	bool is_signed, text;
	uint8_t base; /* 2, 8, 10, 16 */
	enum ctf_order order;
	const struct ctf_clock *clock; /* the clock whose time it is; may be NULL */
	struct ctf_label *labels;      /* ENUM, in the order of the text */
	struct ctf_member *members;    /* STRUCT, VARIANT */
	const struct ctf_type *element;
	uint64_t count;	       /* ARRAY */
	const char *reference; /* SEQUENCE: its length; VARIANT: its tag */
};

/* A block "event". */
struct ctf_event_class {
	uint64_t id, stream;
	bool has_stream;
	char *name;
	char *uri;				 /* model.emf.uri; may be NULL */
	const struct ctf_type *context, *fields; /* may be NULL */
	uint32_t line;				 /* line of the declaration */
	struct ctf_event_class *next;
};

/* A block "stream". */
struct ctf_stream_class {
	uint64_t id;
	const struct ctf_type *packet_context, *header, *context; /* may be NULL */
	struct ctf_stream_class *next;
};

/* A variable of the block "env". */
struct ctf_env {
	char *name;
	char *text; /* NULL: a number */
	int64_t number;
	struct ctf_env *next;
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
	struct ctf_env *env;
	uint32_t slots; /* end of the slot numbers in use, for values of lengths and tags; the first
			   is 1 */
	uint32_t parts, steps; /* used so far, of CTF_PARTS and CTF_STEPS */
	struct ctf_allocation *allocations;
};

enum { CTF_SLOTS = 1 << 16 };

/* Parse n bytes of TSDL text; messages name it `file`. -1 with *e filled: the line and what is
 * wrong there, or out of memory. Declarations before that line are kept. */
int ctf_metadata_parse(struct ctf_metadata *m, const char *text, size_t n, const char *file,
		       struct error *e);
void ctf_metadata_free(struct ctf_metadata *m);

/* Extract the text of a metadata file: plain text, or the packets that LTTng writes, without their
 * headers. *text ends with a NUL; the caller frees it. -1 with *e filled: damaged; *text is then
 * the text before the damage, or NULL when there is none or its version is not 1.8. */
int ctf_metadata_text(const uint8_t *data, size_t size, const char *file, char **text, size_t *n,
		      struct error *e);
/* Bid for the first bytes of a file as metadata. */
enum bid ctf_metadata_bid(const uint8_t *data, size_t n);

/* Find a variable of the environment; NULL: not declared. */
const struct ctf_env *ctf_env_find(const struct ctf_metadata *m, const char *name);

/* Allocate zeroed memory that lives as long as the metadata; NULL: out of memory. */
void *ctf_alloc(struct ctf_metadata *m, size_t size);

#endif
