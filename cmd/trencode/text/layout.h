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

struct meta;

struct text_layout {
	const char *format; /* format of the sources; NULL: all others */
	size_t state_size;  /* of the data that the functions receive, zeroed before begin */
	int (*begin)(void *state, const struct encoding *en, struct error *e);
	/* take a piece of a META block of the source; may be NULL */
	int (*meta)(void *state, const struct source *source, const struct meta *m,
		    struct error *e);
	/* print an event, which en->calls has been fed; the data of a call are a pointer */
	int (*event)(void *state, const struct event *ev, struct error *e);
	/* take a call that is open where reading begins inside the stream, after en->calls has
	   opened it; and then the stack of each thread with such calls. first: time of the stream's
	   first event, UINT64_MAX unknown. NULL: the text of later events does not depend on them
	 */
	int (*restore)(void *state, const struct event *enter, const struct call *call,
		       struct error *e);
	int (*restored)(void *state, const struct stack *s, uint64_t first, struct error *e);
	int (*end)(void *state, struct error *e); /* may be NULL */
	void (*free)(void *state); /* free what state refers to, also where begin failed */
};

extern const struct text_layout text_uftrace, text_tracecmd, text_apitrace, text_lttng, text_ctf,
	text_generic;

#endif
