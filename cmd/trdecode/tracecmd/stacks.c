/*
 * stacks.c - the stacks of kernel_stack, user_stack and function
 *
 * The frames of kernel_stack are those of the kernel. The frames of user_stack are in the space of
 * its process, whose mappings are those of the option PROCMAPS: for each process a line "PID COUNT
 * COMMAND" and COUNT lines "START END PATH", all numbers hexadecimal. The lines have no offsets:
 * the segments of a file are taken to be as far apart in the file as in memory.
 */
#include <stdio.h>

#include "cmd/trdecode/tracecmd/tracecmd.h"
#include "common/formats/tracecmd.h"
#include "common/util/lines.h"

/* --- spaces of processes --- */

/* Take a hexadecimal number, and the blank after it, off the front of a line. */
static bool take_hex(struct lines *l, uint64_t *number)
{
	const char *end = l->line + l->size;
	char *p = l->line;

	*number = 0;
	for (; p < end && *p != ' '; p++) {
		char c = *p;
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : -1;

		if (digit < 0 || *number >> 60)
			return false;
		*number = *number << 4 | (unsigned)digit;
	}
	if (p == l->line)
		return false;
	p += p < end;
	l->line = p;
	l->size = (size_t)(end - p);
	return true;
}

/* Declare the mappings of a process from an option, which may be of another. */
static int declare_maps(struct tracecmd *t, uint32_t space, uint32_t process, const uint8_t *text,
			size_t size)
{
	uint64_t pid, count = 0, base = 0;
	uint32_t path = 0;
	bool wanted = false;

	for (struct lines l = lines_of((const char *)text, size); lines_next(&l);) {
		struct map_entry map = {.space = space};

		if (!count) {
			if (!take_hex(&l, &pid) || !take_hex(&l, &count))
				return 0;
			wanted = pid == process;
			continue;
		}
		count--;
		if (!wanted || !take_hex(&l, &map.start) || !take_hex(&l, &map.end) ||
		    map.end <= map.start || !l.size)
			continue;
		map.path = writer_string(t->w, l.line, strnlen(l.line, l.size));
		base = map.path == path ? base : map.start;
		path = map.path;
		map.offset = map.start - base;
		if (writer_map(t->w, &map))
			return -1;
	}
	return 0;
}

/* Get the space of a process. 0: out of memory. */
static uint32_t space_of(struct tracecmd *t, uint32_t process)
{
	uint32_t space = idmap_get(&t->spaces, process);
	const struct buffer *options = &t->h.options;
	char name[24];

	if (space)
		return space;
	snprintf(name, sizeof name, "pid.%u", process);
	space = writer_space(t->w, &(struct space_entry){.source = t->source,
							 .name = writer_text(t->w, name),
							 .pid = (int32_t)process});
	if (!space || idmap_set(&t->spaces, process, space))
		return 0;
	for (size_t at = 0; options->size - at >= 8;) {
		uint32_t size = get_u32(options->data + at + 4);

		if (size > options->size - at - 8)
			break;
		if (get_u32(options->data + at) == TRACECMD_PROCMAPS &&
		    declare_maps(t, space, process, options->data + at + 8, size))
			return 0;
		at += 8 + (size_t)size;
	}
	return space;
}

/* --- frames --- */

/* Declare the stack of a function and its caller. */
static uint32_t stack_of_pair(struct tracecmd *t, uint64_t address, uint64_t parent)
{
	struct pair_slot *s = &t->pairs[hash_u64(address ^ parent * 31) % LOCATION_SLOTS];
	uint32_t locations[2];

	if (s->stack && s->address == address && s->parent == parent)
		return s->stack;
	locations[0] = tracecmd_location(t, address);
	locations[1] = tracecmd_location(t, parent);
	s->stack = locations[0] && locations[1] ? writer_stack_of(t->w, locations, 2) : 0;
	s->address = address;
	s->parent = parent;
	return s->stack;
}

/* Put the locations of the frames in t->frames. -1: out of memory. */
static int take_frames(struct tracecmd *t, const struct ftrace_event *v,
		       const struct ring_record *r)
{
	struct number_at at = v->stack.caller;
	bool big = t->h.big_endian;
	uint64_t most = UINT64_MAX, end = at.size == 4 ? UINT32_MAX : UINT64_MAX;
	uint32_t space = t->space, location;

	t->frames.size = 0;
	if (v->stack.count.size && ftrace_number_fits(r, v->stack.count))
		most = ftrace_number(r, v->stack.count, big);
	if (v->stack.tgid.size && ftrace_number_fits(r, v->stack.tgid))
		space = space_of(t, (uint32_t)ftrace_number(r, v->stack.tgid, big));
	if (!space)
		return -1;
	for (; most && ftrace_number_fits(r, at); most--, at.offset += at.size) {
		uint64_t address = ftrace_number(r, at, big);

		/* what is not used of an array of a fixed size */
		if (!address || address == end)
			break;
		location = space == t->space
				   ? tracecmd_location(t, address)
				   : writer_location(t->w,
						     &(struct location_entry){.space = space,
									      .address = address});
		if (!location || buffer_u32(&t->frames, location))
			return -1;
	}
	return 0;
}

uint32_t tracecmd_stack(struct tracecmd *t, const struct ftrace_event *v,
			const struct ring_record *record, bool *bad)
{
	bool big = t->h.big_endian;
	uint32_t stack;
	size_t n;

	if (v->stack.is_parent) {
		if (!v->address.size || !ftrace_number_fits(record, v->address) ||
		    !ftrace_number_fits(record, v->stack.caller))
			return 0;
		stack = stack_of_pair(t, ftrace_number(record, v->address, big),
				      ftrace_number(record, v->stack.caller, big));
		*bad = !stack;
		return stack;
	}
	*bad = take_frames(t, v, record) != 0;
	n = t->frames.size / 4;
	if (*bad || !n)
		return 0;
	stack = writer_stack_of(t->w, (const uint32_t *)(void *)t->frames.data, n);
	*bad = !stack;
	return stack;
}
