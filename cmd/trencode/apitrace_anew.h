/*
 * apitrace_anew.h - a .trace out of the events of any source: between its files
 */
#ifndef TR_APITRACE_ANEW_H
#define TR_APITRACE_ANEW_H

#include "anew.h"

/* Values of any source as apitrace has them. */
struct apitrace_anew_values {
	const struct dictionary *from;
	struct dialect *to;
	uint32_t *definitions; /* in to, by number in from; 0 not yet */
	size_t size;
	uint64_t rounded, opaque;
};

/* The definition as the trace to be has it; 0: memory is out. */
uint32_t apitrace_anew_definition(struct apitrace_anew_values *a, const struct definition *d);
/*
 * Append the details of a row's VALUES to b, arguments numbered from 1 on in the order in which
 * they first come; those beyond n are left out and counted in *lost. keep: they have their numbers
 * already. 0, 1: the rest of the tail is no list of values; -1.
 */
int apitrace_anew_convert(struct apitrace_anew_values *a, struct buffer *b, const struct event *ev,
			  bool keep, uint32_t n, uint64_t *lost);

#endif
