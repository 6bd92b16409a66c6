/*
 * layout.h - how the bits of a packet are to be read, made from what the metadata declares
 *
 * A declared type may be used in many places; a part (struct ctf_part) is one of these places, with
 * lengths and tags looked up.
 */
#ifndef TR_TRDECODE_CTF_LAYOUT_H
#define TR_TRDECODE_CTF_LAYOUT_H

#include "common/util/buffer.h"
#include "cmd/trdecode/ctf/metadata.h"

/* What the decoder itself must know of a packet and an event. */
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
	CTF_NEXT_TID,
	CTF_NEXT_COMM,
	CTF_ROLES
};

/* Where a part stands. */
enum ctf_scope {
	SCOPE_PACKET_HEADER,
	SCOPE_PACKET_CONTEXT,
	SCOPE_EVENT_HEADER,
	SCOPE_STREAM_CONTEXT,
	SCOPE_EVENT_CONTEXT,
	SCOPE_FIELDS,
	SCOPES
};

struct ctf_part {
	enum ctf_kind kind;
	enum ctf_role role;
	const struct ctf_type *type;
	const char *name;
	uint32_t align; /* bits */
	uint8_t size;	/* bits, of numbers */
	bool big, is_signed;
	uint32_t slot; /* below metadata.slots, where its value is kept; 0 it is not */
	const struct ctf_part *refers; /* SEQUENCE: its length; VARIANT: its tag */
	uint64_t count;		       /* ARRAY: elements */
	struct ctf_part *children;     /* members, or the element */
	struct ctf_part *next;	       /* member of the same struct */
	uint32_t definition;	       /* of ENUM and STRUCT in the stream; 0 not yet */
	uint32_t option; /* of a member of a VARIANT: the struct that says it was chosen */
};

/* Parts of one event and its packet. */
struct ctf_layout {
	struct ctf_part *scope[SCOPES]; /* NULL where nothing is declared */
};

/*
 * Add a scope; those before it are there already. -1 and e: a length or tag that is not there, too
 * many parts, memory.
 */
int ctf_layout_add(struct ctf_metadata *m, struct ctf_layout *l, enum ctf_scope scope,
		   const struct ctf_type *type, struct error *e);

/* --- reading --- */

/* Bits of a packet; positions count from its first bit. */
struct ctf_cursor {
	const uint8_t *data; /* at bit origin, a multiple of 8 */
	uint64_t origin, at;
	uint64_t have; /* position behind the last bit at hand */
	uint64_t time; /* the clock's value, of the last TIME read */
	uint64_t role[CTF_ROLES];
	uint32_t seen;				/* bit of each role whose value is in role[] */
	const uint8_t *uuid, *comm, *next_comm; /* 16 bytes; texts */
	size_t comm_size, next_comm_size;
	uint64_t *slots;
	uint32_t budget; /* elements and members that may yet be read of this event */
	uint64_t empty;	 /* those of no bits that may yet be read of the file */
};

/* No size bounds the number of those that take no bits: they are at most as many as the file has
 * bytes, and CTF_EMPTY_LEAST. */
enum { CTF_BUDGET = 1 << 24, CTF_EMPTY_LEAST = 1 << 16 };

static inline bool ctf_seen(const struct ctf_cursor *c, enum ctf_role role)
{
	return c->seen >> role & 1;
}

enum ctf_got { CTF_GOT, CTF_SHORT /* more bytes must be at hand */, CTF_BAD };

enum ctf_got ctf_step_over(struct ctf_cursor *c, const struct ctf_part *p);
/* The same, written to b as a value (value.h). */
enum ctf_got ctf_put_value(struct ctf_cursor *c, const struct ctf_part *p, struct buffer *b);

/* size bits, 1 to 64, at a position whose bytes are there. */
uint64_t ctf_bits(const uint8_t *data, uint64_t at, unsigned size, bool big);

/* Of a value whose low bits are given: the first such time that is not before the last one. */
static inline uint64_t ctf_later(uint64_t last, uint64_t low, unsigned size)
{
	uint64_t mask = size < 64 ? (1ull << size) - 1 : UINT64_MAX, time;

	if (size >= 64)
		return low;
	time = (last & ~mask) | low;
	return time < last ? time + mask + 1 : time;
}

/* Bytes that a number of so many bits takes in the stream. */
static inline uint32_t ctf_bytes(unsigned bits)
{
	return bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : 1;
}

/* Round up to the part's alignment. */
static inline uint64_t ctf_align(uint64_t at, uint32_t align)
{
	return (at + align - 1) & ~(uint64_t)(align - 1);
}

/* The label of a value, or NULL. */
const char *ctf_label(const struct ctf_type *t, uint64_t value, bool is_signed);

/* LTTng writes an underscore before each name, so that none is a keyword; it is not part of it. */
const char *ctf_bare_name(const char *name);

/* The member of a variant that its tag chooses; NULL: none. */
const struct ctf_part *ctf_chosen(const struct ctf_cursor *c, const struct ctf_part *variant);

#endif
