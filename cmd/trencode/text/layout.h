/*
 * layout.h - the interface of a text layout, which prints the events of one source system
 *
 * `trencode -t text` prints each event as its source's own tool does. A layout is begun at the
 * first META block or event of such a source, and receives no others. Functions return 0, or -1
 * with *e filled.
 */
#ifndef TR_TRENCODE_TEXT_LAYOUT_H
#define TR_TRENCODE_TEXT_LAYOUT_H

#include "cmd/trencode/encoder.h"

struct text_layout {
	const char *format; /* format of the sources; NULL: all others */
	size_t state_size;  /* of the data that the functions receive, zeroed before begin */
	int (*begin)(void *state, const struct encoding *en, struct error *e);
	/* take a piece of a META block of the source; may be NULL */
	int (*meta)(void *state, const struct source *source, const struct meta *m,
		    struct error *e);
	/* print an event, which en->calls has been fed; the data of a call are a pointer */
	int (*event)(void *state, const struct event *ev, struct error *e);
	/* take the calls of a snapshot that are open in one thread; NULL: the text of later events
	   does not depend on them, or is kept in the data of en->calls */
	int (*adopt)(void *state, struct snapshot_walk *thread, struct error *e);
	int (*end)(void *state, struct error *e); /* may be NULL */
	void (*free)(void *state); /* free what state refers to, also where begin failed */
};

extern const struct text_layout text_uftrace, text_tracecmd, text_apitrace, text_lttng, text_ctf,
	text_generic;

#endif
