/*
 * entry.h - the encoding of the entries of a DICT payload
 *
 * The part that needs no dictionary: the content of each kind of entry, the step from one entry to
 * the next, and the table of their fields (entry_table.c), which drives reading, declaring,
 * writing, filtering and copying. Entries name strings, sources, definitions and all else by ids.
 */
#ifndef TR_STREAM_ENTRY_H
#define TR_STREAM_ENTRY_H

#include "common/util/buffer.h"
#include "common/stream/stream.h"

/* The content of the entries, by kind. */
struct clock_entry {
	uint32_t name, flags;
	int64_t wall;
};
struct source_entry {
	uint32_t format, name, word_size, big_endian;
};
struct lane_entry {
	uint32_t source, clock, buffer, comm, flags;
	int32_t cpu, tid, pid, ppid;
};
struct field_entry {
	uint32_t name, type_name;
	uint8_t kind, role, where;
	uint32_t offset, size, count, definition;
};
struct type_entry {
	uint32_t source, name, group, declaration;
	uint8_t kind, word_size;
	uint16_t flags;
	uint32_t fixed_size, native, nfields;
	const struct field_entry *fields;
	uint64_t weight; /* of a sample without ROLE_PERIOD; 0 is 1 */
};
struct member_entry {
	uint32_t name;
	uint64_t low, high; /* inclusive; they differ only in an ENUM */
};
struct definition_entry {
	uint32_t name;
	uint16_t kind, flags;
	uint32_t native, nmembers;
	const struct member_entry *members;
};
struct space_entry {
	uint32_t source, name;
	int32_t pid;
	uint32_t flags;
};
struct map_entry {
	uint32_t space, flags;
	uint64_t start, end, offset, time;
	uint32_t epoch, path, build_id, table;
};
struct location_entry {
	uint32_t space, epoch;
	uint64_t address;
	uint32_t name;
	uint32_t arguments; /* definition of kind STRUCT: names of the arguments */
};
struct thread_entry {
	uint32_t lane, flags; /* enum thread_flags */
	uint64_t last;	      /* time of the thread's last event */
	uint64_t since;	      /* time of its first enter or leave */
	uint32_t unseen;      /* calls that were open before that */
	uint32_t open;	      /* no call of this depth or deeper is open after its last event */
};
struct stack_entry {
	uint32_t parent; /* the stack of the caller, 0 none */
	uint32_t location;
};
struct symbol_entry {
	uint64_t start, size;
	uint32_t line, flags;
	const char *name, *module, *file; /* NULL is "" */
	uint32_t name_size, module_size, file_size;
};

/* What a string is the name of, for programs that hide names. */
enum entry_use {
	USE_PLAIN,
	USE_NAME,	 /* a function or a thread */
	USE_PATH,	 /* a file */
	USE_TITLE,	 /* a file, or what contains the name of a program */
	USE_BUILD_ID,	 /* identifies a file */
	USE_META,	 /* a META, which has names */
	USE_DECLARATION, /* a type: its text has the names of all fields */
	USE_DEFINITION,	 /* a definition, or a member, whose kind shows what the name is of */
};

/* A field of an entry: a number, or the id of another entry. */
struct entry_field {
	uint8_t at, width; /* in the payload: offset and bytes */
	uint8_t refers;	   /* enum entry_kind of the id; 0: a number */
	uint8_t use;	   /* of a string: enum entry_use */
	bool or_null;	   /* id 0 gives the dictionary's object a null pointer, not object 0 */
	uint8_t content;   /* offset in the structs above */
	uint8_t object;	   /* offset in the structs of dictionary.h, ENTRY_NO_OBJECT: none */
};

enum { ENTRY_NO_OBJECT = UINT8_MAX };

/* The layout of an entry, or of a part that repeats after it: the fields of a type, the members of
 * a definition. */
struct entry_layout {
	uint8_t size; /* bytes without parts */
	uint8_t nfields;
	const struct entry_field *fields;
	const struct entry_layout *part; /* NULL: none */
	/* with parts, the number of them and the pointer to them */
	uint8_t count, content_count, content_parts, object_count, object_parts;
	uint8_t content_size, object_size; /* bytes of a part's structs */
};

extern const struct entry_layout entry_layouts[ENTRY_KINDS];

/* An encoded entry in a payload. */
struct raw_entry {
	uint32_t kind; /* enum entry_kind, or one of a later version */
	uint32_t id, size;
	const uint8_t *data;
};

/* Get the entry at *at, and move *at after it; *at starts at 0. Returns 1; 0: no more entries;
 * -1: the entry claims to be longer than the rest of the payload. */
int entry_next(const uint8_t *payload, size_t n, size_t *at, struct raw_entry *e);

/* Get the ids of the entries of one kind, one per call; *at starts at 0. */
bool entry_next_of(enum entry_kind kind, const uint8_t *payload, size_t n, size_t *at,
		   uint32_t *id);

/* Append an entry of n bytes, or of a content. 0, or -1 when out of memory. */
int entry_append(struct buffer *b, enum entry_kind kind, uint32_t id, const void *data, size_t n);
int entry_append_content(struct buffer *b, enum entry_kind kind, uint32_t id, const void *content);

/* Copy a number between the host's order and the stream's. */
void entry_number(void *to, const void *from, unsigned width);

/* Encode the content of an entry without its parts, and decode it. p: size bytes of the layout. */
void entry_put(const struct entry_layout *l, uint8_t *p, const void *content);
void entry_get(const struct entry_layout *l, const uint8_t *p, void *content);
/* Append the encoded content of an entry: without a SYMBOL's texts. 0, or -1 when out of memory. */
int entry_encode(struct buffer *b, enum entry_kind kind, const void *content);

/* Encode a SYMBOL with its texts, of at most 64 KiB each, as the buffer's content. 0, or not. */
int entry_symbol(struct buffer *b, const struct symbol_entry *symbol);

/* Get the number of parts of an entry of at least the layout's size, and the offset of a part.
 * UINT32_MAX: more parts than bytes. */
uint32_t entry_parts(const struct entry_layout *l, const uint8_t *p, size_t size);
static inline size_t entry_part(const struct entry_layout *l, uint32_t i)
{
	return l->size + (size_t)l->part->size * i;
}

/* Test whether an entry has the bytes that its kind needs. Kinds of later versions have not. */
static inline bool entry_complete(const struct raw_entry *e)
{
	return e->kind && e->kind < ENTRY_KINDS && e->size >= entry_layouts[e->kind].size;
}

/* Replace LANE_STARTED and LANE_CPU_STARTED of an encoded lane. */
void entry_set_started(uint8_t *p, struct lane_entry *e, uint32_t started);

#endif
