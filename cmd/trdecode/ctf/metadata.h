/*
 * metadata.h - what the metadata of a CTF 1.8 trace declares (TSDL, its own language)
 *
 * Facts: the CTF 1.8.3 specification, sections 4 to 7 and its appendices, and the metadata that
 * lttng-tools 2.0 to 2.13 write.
 */
#ifndef TR_TRDECODE_CTF_METADATA_H
#define TR_TRDECODE_CTF_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/error.h"

/* Types are at most so deep. The parts of all packets, contexts and events of a trace, and the
 * steps that the search for names takes, are at most so many: declared types are used again. */
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

struct ctf_clock {
	char *name;
	uint64_t frequency; /* ticks per second */
	int64_t offset_s;   /* of tick 0 since 1970: seconds, and ticks behind them */
	int64_t offset;
	bool declared; /* not only named by a type */
	struct ctf_clock *next;
};

/* first to last, as numbers of the container. */
struct ctf_label {
	char *name;
	int64_t first, last;
	struct ctf_label *next;
};

struct ctf_type;

struct ctf_member {
	char *name;
	struct ctf_type *type;
	struct ctf_member *next;
};

struct ctf_type {
	enum ctf_kind kind;
	uint32_t align; /* bits, a power of two; of a struct as declared, 1 if it was not */
	/* INTEGER, FLOAT, and the container of an ENUM */
	uint8_t size; /* bits, 1 to 64 */
	bool is_signed, text;
	uint8_t base; /* 2, 8, 10, 16 */
	enum ctf_order order;
	const struct ctf_clock *clock; /* whose time it is; may be NULL */
	struct ctf_label *labels;      /* ENUM, in their order */
	struct ctf_member *members;    /* STRUCT, VARIANT */
	const struct ctf_type *element;
	uint64_t count;	       /* ARRAY */
	const char *reference; /* SEQUENCE: its length; VARIANT: its tag */
};

struct ctf_event_class {
	uint64_t id, stream;
	bool has_stream;
	char *name;
	char *uri;				 /* model.emf.uri; may be NULL */
	const struct ctf_type *context, *fields; /* may be NULL */
	uint32_t line;				 /* where it is declared */
	struct ctf_event_class *next;
};

struct ctf_stream_class {
	uint64_t id;
	const struct ctf_type *packet_context, *header, *context; /* may be NULL */
	struct ctf_stream_class *next;
};

struct ctf_env {
	char *name;
	char *text; /* NULL: a number */
	int64_t number;
	struct ctf_env *next;
};

struct ctf_metadata {
	bool big, has_uuid;
	bool whole; /* all of the text was understood */
	uint64_t major, minor;
	uint8_t uuid[16];
	const struct ctf_type *packet_header; /* may be NULL */
	struct ctf_clock *clocks;
	struct ctf_stream_class *streams;
	struct ctf_event_class *events;
	struct ctf_env *env;
	uint32_t slots;	       /* for the values of lengths and tags; the first is 1 */
	uint32_t parts, steps; /* so far, of CTF_PARTS and CTF_STEPS */
	struct ctf_allocation *allocations;
};

enum { CTF_SLOTS = 1 << 16 };

/*
 * Read n bytes of TSDL text. 0; or -1 with e: line number and what is not understood, or memory is
 * out; what was declared before that line holds nevertheless. file is what messages call it.
 */
int ctf_metadata_parse(struct ctf_metadata *m, const char *text, size_t n, const char *file,
		       struct error *e);
void ctf_metadata_free(struct ctf_metadata *m);

/*
 * Text out of a metadata file: plain text, or packets as LTTng writes them, whose headers are left
 * out. The result has a NUL behind it. -1 and e: damaged (offset), with the text before the damage
 * in *text all the same, or NULL when there is none or its version is not 1.8.
 */
int ctf_metadata_text(const uint8_t *data, size_t size, const char *file, char **text, size_t *n,
		      struct error *e);
/* Do these first bytes of a file look like it? */
bool ctf_metadata_is(const uint8_t *data, size_t n);

const struct ctf_env *ctf_env_find(const struct ctf_metadata *m, const char *name);

/* Zeroed memory that lives as long as the metadata; NULL when out of memory. */
void *ctf_alloc(struct ctf_metadata *m, size_t size);

#endif
