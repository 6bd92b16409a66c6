/*
 * intern.h - tables of numbers: of bytes, of ids, of objects, of stacks
 */
#ifndef TR_UTIL_INTERN_H
#define TR_UTIL_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/map.h"

/*
 * Byte strings, each stored once and named by a small number.
 *
 * Numbers are dense from 0 in the order of first use. A stored string never moves and is followed
 * by a NUL. A zero-initialised table is empty.
 */

struct intern {
	struct {
		const char *data;
		uint32_t size;
	} * keys;
	struct key_map numbers; /* number + 1, by the hash of the bytes */
	uint32_t count;
	uint64_t factor; /* secret factor of that hash */
	size_t capacity;
	struct text_chunk *chunks;
};

#define INTERN_NONE UINT32_MAX

/* Copy n bytes, followed by a NUL, to a place where they stay until text_chunks_free; NULL when out
 * of memory. *chunks: NULL at first. */
char *text_keep(struct text_chunk **chunks, const void *data, size_t n);
void text_chunks_free(struct text_chunk *chunks);

/* Get the number of these bytes, stored now or earlier; INTERN_NONE when out of memory. */
uint32_t intern(struct intern *in, const void *data, size_t n);
uint32_t intern_string(struct intern *in, const char *s);
/* Find the number of these bytes, or INTERN_NONE if they were never stored. */
uint32_t intern_find(const struct intern *in, const void *data, size_t n);
void intern_free(struct intern *in);

static inline const char *intern_data(const struct intern *in, uint32_t number)
{
	return in->keys[number].data;
}

static inline uint32_t intern_size(const struct intern *in, uint32_t number)
{
	return in->keys[number].size;
}

/* Maps byte strings to numbers, for callers that declare an entry when they first meet it, and
 * need its id again later. A zero-initialised cache is empty. */
struct id_cache {
	struct intern keys;
	uint32_t *numbers;
	size_t capacity;
};

/* Find the number of a key of n bytes: 0 the first time, and the caller sets it. The pointer is
 * valid until the next call. NULL: out of memory. */
uint32_t *id_cache_number(struct id_cache *k, const void *key, size_t n);
/* Free the cache, which is then empty. */
void id_cache_free(struct id_cache *k);

/*
 * Maps a segment's ids to this program's numbers.
 *
 * Ids are any number. Dense ids are looked up in an array, others in a hash table, so a hostile id
 * costs no memory. 0 means no number. A zero-initialised map is empty.
 */

struct idmap {
	uint32_t *direct;
	size_t direct_size;
	size_t direct_end;    /* ids from here on were not set since idmap_clear */
	uint32_t direct_used; /* number of ids that were set */
	struct key_map far;   /* ids beyond direct; those below were moved */
};

int idmap_set(struct idmap *m, uint64_t id, uint32_t number);
/* Remove all ids, at a cost proportional to those set since the last call. */
void idmap_clear(struct idmap *m);
void idmap_free(struct idmap *m);
uint32_t idmap_far(const struct idmap *m, uint64_t id);

static inline uint32_t idmap_get(const struct idmap *m, uint64_t id)
{
	return id < m->direct_size ? m->direct[id] : idmap_far(m, id);
}

/*
 * Memory of large arrays: that grow without moving their elements, or are read at random.
 */

enum { POOL_SHIFT = 8, POOL_CHUNK = 1 << POOL_SHIFT };

/* An array that grows. Zero-initialised except for element. New elements are zero bytes. */
struct pool {
	size_t element; /* bytes of one element */
	uint32_t count;
	size_t capacity;
	char **chunks;
};

/* Add an element, number count; NULL when out of memory. */
void *pool_add(struct pool *p);
void pool_free(struct pool *p);

/*
 * Allocate a table of zeros, in huge pages if its size is a multiple of theirs and the system has
 * any. free() releases it. NULL: out of memory.
 *
 * A look-up in a table of some MB mostly misses the TLB for pages of 4 KB, and a fetch ahead waits
 * for it. With huge pages, trdecode of 204,000 stacks takes 0.85 times the CPU.
 */
void *huge_zeroed(size_t size);

/*
 * Have malloc() take the next size bytes from huge pages, if the system has any. Memory that is
 * freed stays with the process from then on.
 *
 * For a library that reads a large file into memory once: the first access to a page of 4 KB costs
 * more than reading its content. trsym -i of a program of 15 MB takes 0.7 times the CPU.
 */
void huge_heap(size_t size);

static inline void *pool_at(const struct pool *p, uint32_t number)
{
	return p->chunks[number >> POOL_SHIFT] + (number & (POOL_CHUNK - 1)) * p->element;
}

/*
 * Recorded stacks, each stored once and named by a small number.
 *
 * A stack is a frame, and the stack of its caller. Numbers are dense from 1 in the order of first
 * use; 0 is no stack. The number of a caller's stack is below that of the stack. A table takes
 * about 45 bytes for each stack.
 */

enum { STACK_FRAMES_MOST = 65535 }; /* a stream has no stack with more frames */

/* A stack: the location of its innermost frame, the stack of that frame's caller (0 none), the
 * number of frames, and the stack of its outermost STACK_FRAMES + 1 frames (stack_limit.h), which
 * is itself if it has no more. */
struct stack_key {
	uint32_t parent, location, frames, limited;
};

/* Zero-initialised is empty. */
struct stack_table {
	struct stack_key *stacks; /* by number - 1 */
	struct key_map numbers;	  /* by stack_table_key */
	size_t capacity;
	uint32_t count;
};

/* Get the number of the stack of a frame that parent calls, stored now or earlier. The frame fits.
 * 0 when out of memory. */
uint32_t stack_table_add(struct stack_table *t, uint32_t parent, uint32_t location);
void stack_table_free(struct stack_table *t);

static inline uint64_t stack_table_key(uint32_t parent, uint32_t location)
{
	return (uint64_t)parent << 32 | location;
}

/* Get a stack by its number, which is not 0. */
static inline struct stack_key stack_table_at(const struct stack_table *t, uint32_t number)
{
	return t->stacks[number - 1];
}

/* Fetch a stack before it is needed: tables of 100 000 stacks are not in the CPU's caches. A
 * function that only fetches is always in line: gcc takes a call of it as one without effect, and
 * removes the call. */
static inline __attribute__((always_inline)) void stack_table_fetch(const struct stack_table *t,
								    uint32_t number)
{
	__builtin_prefetch(&t->stacks[number - 1]);
}

/* Fetch what stack_table_add needs for a stack. */
static inline __attribute__((always_inline)) void
stack_table_fetch_slot(const struct stack_table *t, uint32_t parent, uint32_t location)
{
	key_map_fetch(&t->numbers, stack_table_key(parent, location));
}

/* Test whether a frame can be added to a stack. */
static inline bool stack_table_fits(const struct stack_table *t, uint32_t parent)
{
	return !parent || stack_table_at(t, parent).frames < STACK_FRAMES_MOST;
}

/* Count the stacks; their numbers are 1 to this count. */
static inline uint32_t stack_table_count(const struct stack_table *t)
{
	return t->count;
}

#endif
