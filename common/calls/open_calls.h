/*
 * open_calls.h - open calls, by their numbers
 *
 * For sources that number their calls (TYPE_CALL_NUMBER): the value stored at an enter is returned
 * at the call's leave, whatever was entered or left in between. The call entered last, which is
 * nearly always the next to be left, is kept outside the table. A zero-initialised table is empty.
 */
#ifndef TR_CALLS_OPEN_CALLS_H
#define TR_CALLS_OPEN_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/map.h"

struct open_calls {
	/* the call entered last; key 0 none: a call with that key is not kept here */
	struct {
		uint64_t key; /* source << 32 | number, + 1, modulo 2^64 */
		uint64_t value;
	} recent;
	struct key_map others; /* value + 1, by key */
	size_t at;	       /* open_calls_take_any has emptied the slots before it */
};

int open_calls_put_far(struct open_calls *o, uint64_t key, uint64_t value);
bool open_calls_take_far(struct open_calls *o, uint64_t key, uint64_t *value);
void open_calls_free(struct open_calls *o);
/* Remove any one of the open calls, with its open_calls_key; false: none is left. Until then no
 * call may be added, or removed by its number. */
bool open_calls_take_next(struct open_calls *o, uint64_t *key, uint64_t *value);

static inline bool open_calls_take_any(struct open_calls *o, uint64_t *value)
{
	uint64_t key;

	return open_calls_take_next(o, &key, value);
}

static inline size_t open_calls_count(const struct open_calls *o)
{
	return o->others.count + (o->recent.key != 0);
}

static inline uint64_t open_calls_key(uint32_t source, uint32_t number)
{
	return ((uint64_t)source << 32 | number) + 1;
}

/* Add a call, whose value is less than UINT64_MAX. An open one of the same number is forgotten. -1:
 * out of memory. */
static inline int open_calls_put(struct open_calls *o, uint32_t source, uint32_t number,
				 uint64_t value)
{
	uint64_t key = open_calls_key(source, number);

	if (__builtin_expect(!key, 0))
		return open_calls_put_far(o, key, value);
	if (o->recent.key && open_calls_put_far(o, o->recent.key, o->recent.value))
		return -1;
	o->recent.key = key;
	o->recent.value = value;
	return 0;
}

/* Remove a call at its leave: true and its value, or false if no call of that number is open. */
static inline bool open_calls_take(struct open_calls *o, uint32_t source, uint32_t number,
				   uint64_t *value)
{
	uint64_t key = open_calls_key(source, number);

	if (__builtin_expect(key && o->recent.key == key, 1)) {
		*value = o->recent.value;
		o->recent.key = 0;
		return true;
	}
	return o->others.count && open_calls_take_far(o, key, value);
}

/* Test whether a call of that number is open. */
bool open_calls_has(const struct open_calls *o, uint32_t source, uint32_t number);

#endif
