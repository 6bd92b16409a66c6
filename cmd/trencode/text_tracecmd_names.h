/*
 * text_tracecmd_names.h - addresses of the recorded kernel: symbols of kallsyms and constant
 * strings of printk_formats, found as libtraceevent finds them
 *
 * A symbol reaches to the next one, whatever it is; those of type A, and with $ in front, do not
 * count. A table that hides its addresses names nothing.
 */
#ifndef TR_TEXT_TRACECMD_NAMES_H
#define TR_TEXT_TRACECMD_NAMES_H

#include "common/reader.h"

struct address_names {
	struct buffer text;
	struct address_name {
		uint64_t address;
		uint32_t at, size; /* in the text */
	} * names;
	size_t count, capacity;
	bool sorted;
};

/* A piece of the META. -1: memory is out. */
int address_names_add(struct address_names *n, const struct meta *m);
void address_names_free(struct address_names *n);

/* The symbol that an address lies in; NULL: none, or memory is out. */
const char *address_symbol(struct address_names *n, uint64_t address, size_t *size,
			   uint64_t *offset);
/* The string at exactly this address, still with its escapes. */
const char *address_string(struct address_names *n, uint64_t address, size_t *size);

#endif
