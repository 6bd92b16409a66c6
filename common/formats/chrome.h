/*
 * chrome.h - Trace Event JSON: constants shared by its decoder and encoder
 *
 * The native id of a type is the character of "ph". The last field of types of asynchronous events
 * (b, e, n, and S, F, T, p) is the event's id, a name that no argument of the trace has; types of
 * calls have a call number, too. No other type has fields.
 *
 * The encoder writes the origin of the file's times: "otherData":{"clock":"trace","origin":"5000",
 * "unit":"ns"}. The decoder adds the origin. "unit":"ticks": the numbers in "ts" and "dur" are
 * whole ticks, not microseconds.
 */
#ifndef TR_FORMATS_CHROME_H
#define TR_FORMATS_CHROME_H

/* The name of the field with the id if no argument of the trace has that name; else the second
 * name, with as many _ appended as needed. */
#define CHROME_ID_FIELD	  "id"
#define CHROME_ID_FIELD_2 "async_id"

enum {
	CHROME_PHASE = 0xff,
	CHROME_LOCAL = 0x100, /* in the native id: the event's id is local to its process (id2) */
};

#endif
