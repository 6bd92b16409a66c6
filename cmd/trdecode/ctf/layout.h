/*
 * layout.h - the layout of a packet's bits, by the declarations of the metadata
 *
 * A declared type may be used many times. A part (struct ctf_part) is one use of a type, with its
 * lengths and tags resolved.
 */
#ifndef TR_TRDECODE_CTF_LAYOUT_H
#define TR_TRDECODE_CTF_LAYOUT_H

#include "common/util/buffer.h"
#include "cmd/trdecode/ctf/metadata.h"

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

/* The parts of one event and its packet. */
struct ctf_layout {
	struct ctf_part *scope[SCOPES]; /* NULL: not declared */
};

/* Add a scope, after all scopes that precede it. -1 with *e filled: a length or tag is not
 * declared, too many parts, or out of memory. */
int ctf_layout_add(struct ctf_metadata *m, struct ctf_layout *l, enum ctf_scope scope,
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

/* Return the id of a process or thread, also of 32 bits without a sign; -1: the value is no id. */
static inline int32_t ctf_id_number(uint64_t value)
{
	int64_t id = (int64_t)value;

	return value <= UINT32_MAX || (id >= INT32_MIN && id < 0) ? (int32_t)value : -1;
}

/* Return the id that was read for a role; -1: none. */
static inline int32_t ctf_id_read(const struct ctf_cursor *c, enum ctf_role role)
{
	return ctf_seen(c, role) ? ctf_id_number(c->role[role]) : -1;
}

enum ctf_got { CTF_GOT, CTF_SHORT /* more bytes must be loaded */, CTF_BAD };

/* Read a number that is varying, reversed or boolean. */
enum ctf_got ctf_read_unusual(struct ctf_cursor *c, const struct ctf_part *p, uint64_t *n);
/* Read the number at the cursor, sign-extended. */
enum ctf_got ctf_read_number(struct ctf_cursor *c, const struct ctf_part *p, uint64_t *n);
/* Append the text at the cursor to b, in UTF-8 with a NUL. */
enum ctf_got ctf_put_text(struct ctf_cursor *c, const struct ctf_part *p, struct buffer *b);
/* Skip a part; keep the values of its roles and slots in the cursor. */
enum ctf_got ctf_step_over(struct ctf_cursor *c, const struct ctf_part *p);
/* Skip a part as ctf_step_over does, and append it to b as a value (value.h). */
enum ctf_got ctf_put_value(struct ctf_cursor *c, const struct ctf_part *p, struct buffer *b);

/* Read size bits, 1 to 64, at a position whose bytes are loaded. */
uint64_t ctf_bits(const uint8_t *data, uint64_t at, unsigned size, bool big);

/* Test whether so many bits after the cursor are loaded. */
static inline bool ctf_has(const struct ctf_cursor *c, uint64_t bits)
{
	return c->at <= c->have && bits <= c->have - c->at;
}

/* Extend the sign of a number of so many bits. */
static inline uint64_t ctf_sign_bits(uint64_t n, unsigned size)
{
	unsigned shift = 64 - size;

	return (uint64_t)((int64_t)(n << shift) >> shift);
}

/* Return the first time that is not before `last` and has these low bits. */
static inline uint64_t ctf_later(uint64_t last, uint64_t low, unsigned size)
{
	uint64_t mask = size < 64 ? (1ull << size) - 1 : UINT64_MAX, time;

	if (size >= 64)
		return low;
	time = (last & ~mask) | low;
	return time < last ? time + mask + 1 : time;
}

/* Return the bytes that a number of so many bits takes in the stream. */
static inline uint32_t ctf_bytes(unsigned bits)
{
	return bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : 1;
}

/* Round a position up to an alignment. */
static inline uint64_t ctf_align(uint64_t at, uint32_t align)
{
	return (at + align - 1) & ~(uint64_t)(align - 1);
}

/* Return a number that is in the order of the values of a tag. */
static inline uint64_t ctf_tag_key(const struct ctf_part *tag, uint64_t value)
{
	return tag->is_signed ? value ^ 1ull << 63 : value;
}

/* Return the option of a variant or optional that a value of the tag chooses, or NULL. */
const struct ctf_part *ctf_option(const struct ctf_part *variant, uint64_t value);
/* Test whether a part is a text: a string, or an array of characters. */
bool ctf_is_text(const struct ctf_part *p);

/* Return the name without the underscore that LTTng writes before each name, so that none is a
 * keyword. */
const char *ctf_bare_name(const char *name);

#endif
