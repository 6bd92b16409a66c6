/*
 * layout.h - how the text of one source system looks
 *
 * `trencode -t text` prints each event as its source's own tool does. A layout is begun at the
 * first META or event of such a source, and sees nothing of the others.
 */
#ifndef TR_TRENCODE_TEXT_LAYOUT_H
#define TR_TRENCODE_TEXT_LAYOUT_H

#include "cmd/trencode/encoder.h"

struct text_layout {
	const char *format; /* of the sources it is for; NULL: of all others */
	bool raw;	    /* only with --raw, and before others of the format */
	size_t state_size;  /* of what the functions have for state, which begins as zeros */
	int (*begin)(void *state, const struct encoding *en, struct error *e);
	/* Some of source's META; may be NULL. */
	int (*meta)(void *state, const struct source *source, const struct meta *m,
		    struct error *e);
	int (*event)(void *state, const struct event *ev, struct error *e);
	int (*end)(void *state, struct error *e); /* may be NULL */
	void (*free)(void *state);		  /* what is in it; also where begin failed */
};

extern const struct text_layout text_uftrace, text_tracecmd_raw, text_tracecmd, text_apitrace,
	text_lttng, text_ctf, text_generic;

#endif
