/*
 * die_reader.h - reads the DIEs of one unit of DWARF in place
 *
 * libdw looks up each attribute by itself and locks for each; a program with inlined functions has
 * millions of attributes. This reader skips what is not needed: the abbreviations say how many
 * bytes a DIE has. Without it and die_ranges.h, `trsym -i | trstat` of 10,000 addresses takes 1.30
 * times the instructions for a program with 8 MB of debug information, and 1.63 times for libpython
 * with 9 MB; with -il 1.19 and 1.30 times.
 * The layout is that of DWARF 2 to 5, section 7.5. Every read ends at the end of the unit, which is
 * inside its section.
 *
 * Private to common/symbols/debug_info*.c.
 */
#ifndef TR_SYMBOLS_DIE_READER_H
#define TR_SYMBOLS_DIE_READER_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/idmap.h"

/* An attribute as its abbreviation declares it. */
struct die_attribute {
	uint16_t name, form;
	uint32_t constant; /* DW_FORM_implicit_const; 0: not in 32 bits */
};

/* What the DIEs of one abbreviation have in common. */
struct die_shape {
	uint32_t code;
	uint32_t first, count; /* attributes: the index of the first, and their number */
	int32_t size;	       /* bytes of the attributes; -1: they vary */
	int32_t sibling;       /* bytes before DW_AT_sibling; -1: none, or they vary */
	uint16_t tag, sibling_form;
	bool children, ranges; /* ranges: the DIE has addresses */
};

/* A unit. Zero-initialised is empty. */
struct die_reader {
	const uint8_t *start, *end; /* the unit with its header */
	const uint8_t *first;	    /* its first DIE */
	uint8_t version, address_size, offset_size;
	bool big; /* the byte order */
	struct die_shape *shapes;
	size_t nshapes, shapes_capacity;
	struct die_attribute *attributes;
	size_t nattributes, attributes_capacity;
	struct idmap codes; /* codes: 1 + index of the shape */
};

/* A DIE that was read. */
struct die {
	const uint8_t *at;
	const uint8_t *attributes;
	const uint8_t *next; /* its first child; without children its sibling */
	const struct die_shape *shape;
};

/* Is it the name of a section, as "info" for .debug_info? Older compilers packed it as
 * .zdebug_info; of split DWARF it is .debug_info.dwo. */
bool die_is_section(const char *name, const char *kind);

/* Open the unit of the first DIE. Returns OUTCOME_NO if it is damaged, OUTCOME_FAILED when out of
 * memory. */
enum outcome die_reader_open(struct die_reader *r, Dwarf_Die *unit);
void die_reader_close(struct die_reader *r);

/* Return the bytes of a unit's abbreviations, which start at p. */
uint64_t die_shapes_size(const uint8_t *p, const uint8_t *end);

/* Return the end of a value, or NULL if the unit ends before it. */
const uint8_t *die_skip(const struct die_reader *r, unsigned form, const uint8_t *p);

/* Read the DIE at p. Returns 1; 0: p ends a list of siblings, and d->next is after that list; -1:
 * the unit ends there, or is damaged. */
int die_read(const struct die_reader *r, const uint8_t *p, struct die *d);

/* Get the next sibling of a DIE if the DIE records it, after its first child; else NULL. */
const uint8_t *die_sibling(const struct die_reader *r, const struct die *d);

/* Get the DIE of the same unit that a value refers to; NULL: it is in another unit, or damaged. */
const uint8_t *die_reference(const struct die_reader *r, unsigned form, const uint8_t *value);

/* Find the value of an attribute. NULL: the DIE has none. */
const uint8_t *die_value(const struct die_reader *r, const struct die *d, unsigned name,
			 unsigned *form);

/* Return the value of an attribute that is an unsigned constant; 0: there is none. */
uint64_t die_number(const struct die_reader *r, const struct die *d, unsigned name);

/* Read a number of 7 bits a byte and move *p after it; at the end *p is NULL, the number 0. */
static inline uint64_t die_uleb(const uint8_t **p, const uint8_t *end)
{
	uint64_t n = 0;

	if (*p < end && **p < 0x80)
		return *(*p)++;
	for (unsigned shift = 0; *p < end; shift += 7) {
		uint8_t byte = *(*p)++;

		if (shift < 64)
			n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return n;
	}
	*p = NULL;
	return 0;
}

#endif
