/*
 * chrome.h - Trace Event JSON: what its decoder and its encoder share
 *
 * The native id of a type is the character of "ph". Types of asynchronous events (b, e, n, and
 * S, F, T, p) have a field "id"; those of calls have a call number, too.
 */
#ifndef TR_FORMATS_CHROME_H
#define TR_FORMATS_CHROME_H

enum {
	CHROME_PHASE = 0xff,
	CHROME_LOCAL = 0x100, /* in the native id: the event's id is local to its process (id2) */
};

#endif
