/*
 * entry.h - the encoding of the entries of a DICT payload
 *
 * The part that needs no dictionary: the content of each kind of entry, the step from one entry to
 * the next, and the layouts that several modules read or write. Entries name strings, sources,
 * definitions and all else by ids.
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
struct symbol_entry {
	uint64_t start, size;
	uint32_t line, flags;
	const char *name, *module, *file; /* NULL is "" */
	uint32_t name_size, module_size, file_size;
};

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

/* Append an entry. 0, or -1 when out of memory. */
int entry_append(struct buffer *b, enum entry_kind kind, uint32_t id, const void *data, size_t n);

/* Encode an entry about a thread into THREAD_SIZE bytes; decode it. */
void entry_put_thread(uint8_t *p, const struct thread_entry *t);
void entry_get_thread(const uint8_t *p, struct thread_entry *t);

/* Decode a lane; replace its LANE_STARTED and LANE_CPU_STARTED. */
void entry_get_lane(const uint8_t *p, struct lane_entry *e);
void entry_set_lane_flags(uint8_t *p, const struct lane_entry *e, uint32_t started);

/* Encode a type into TYPE_HEAD bytes and a field into FIELD_SIZE bytes. Reserved bytes are
 * unchanged. */
void entry_put_type(uint8_t *p, const struct type_entry *t);
void entry_put_field(uint8_t *p, const struct field_entry *f);
void entry_get_field(const uint8_t *p, struct field_entry *f);
/* Encode a DEFINITION without its members into DEFINITION_HEAD bytes, and a member into
 * MEMBER_SIZE bytes. */
void entry_put_definition(uint8_t *p, const struct definition_entry *d);
void entry_get_definition(const uint8_t *p, struct definition_entry *d);
void entry_put_member(uint8_t *p, const struct member_entry *m);
void entry_get_member(const uint8_t *p, struct member_entry *m);

#endif
