/*
 * chrome.h - Trace Event JSON: constants shared by its decoder and encoder
 *
 * The native id of a type is the character of "ph". The last field of types of asynchronous events
 * (b, e, n, and S, F, T, p) and of flows (s, t, f) is the event's id, a name that no argument of
 * the trace has; types of calls have a call number, too. No other type has fields.
 *
 * The encoder writes the origin of the file's times: "otherData":{"clock":"trace","origin":"5000",
 * "unit":"ns"}. The decoder adds the origin. "unit":"ticks": the numbers in "ts" and "dur" are
 * whole ticks, not microseconds. "kernel_category":"kernel": the calls of this category are on the
 * second stack of their thread (KERNEL in trstream(5)); those that overlap calls of the first stack
 * are pairs of b and e.
 *
 * "unfinished":true, a member of events: the call ended without a leave. It is in X, E, and b and e
 * (S and F); the last argument "unfinished" of X, E, b and S repeats it for viewers.
 *
 * "unseen":true, of X and of B without an E: a call without an enter, which the first row of its
 * thread shows to be open (CALLS in trstream(5)). "enter_name", of X, and "leave_name", of E: the
 * name of the call's enter, or of its leave, if that is not "name", or not that of B.
 *
 * "overlaps":true, of X: the call is on no stack, as it overlaps others of its thread.
 *
 * "cpu":3, of instants and samples: the CPU on which the thread was.
 * "unit":"ns", of samples: the weight is a time.
 *
 * Events of the category "trutils.scheduling" are made from the events of the kernel's scheduler,
 * which are in the file too (trencode -t chrome). The decoder leaves them out.
 *
 * "derived":true, of s, t and f with the name and the category of flows: the event at that time has
 * the id among its arguments. "derived":true of M: it describes a track of these events. The
 * decoder leaves them out.
 *
 * "s":"g" or "p", of instants: the event is of all threads, or of its process; the types of such
 * events have the scope in their native id. An instant of no thread that Perfetto recorded has the
 * scope g, and neither "pid" nor "tid".
 *
 * An instant with the name and the category of gaps, and a reason, is a gap.
 *
 * The META CHROME_META has what a file has beside its events, and is Trace Event JSON. Its metadata
 * events are those of the file, with the pids and tids of the stream; those with names are of
 * threads and processes without events. The other members are copies, but traceEvents, samples and
 * stackFrames. "origin" of otherData is the time in the stream of the file's time 0.
 */
#ifndef TR_FORMATS_CHROME_H
#define TR_FORMATS_CHROME_H

/* The name of the field with the id if no argument of the trace has that name; else the second
 * name, with as many _ appended as needed. */
#define CHROME_ID_FIELD	  "id"
#define CHROME_ID_FIELD_2 "async_id"

#define CHROME_META "chrome.metadata"

/* The member and argument of calls without a leave. */
#define CHROME_UNFINISHED "unfinished"

#define CHROME_UNSEEN	  "unseen"
#define CHROME_ENTER_NAME "enter_name"
#define CHROME_LEAVE_NAME "leave_name"

#define CHROME_WEIGHT_UNIT "unit"

#define CHROME_OVERLAPS "overlaps"

/* The argument with the name of the track of an instant or call that Perfetto recorded. */
#define CHROME_TRACK "track"

/* The category of calls in the kernel, and the member of otherData that has its name. */
#define CHROME_KERNEL	       "kernel"
#define CHROME_KERNEL_CATEGORY "kernel_category"

/* The category and the name of flows between events that have others. */
#define CHROME_FLOW "flow"

/* The member of such a flow, and of metadata events that name such tracks. */
#define CHROME_DERIVED_MARK "derived"

/* The category of tracks that are made from other events of the file. */
#define CHROME_DERIVED "trutils.scheduling"

/* The name and category of gaps. */
#define CHROME_GAP	    "gap"
#define CHROME_GAP_CATEGORY "trutils"

enum {
	CHROME_PHASE = 0xff,
	/* in the native id: the event's id is local to its process (id2) */
	CHROME_LOCAL = 0x100,
	CHROME_ENCLOSING = 0x200, /* of a flow: "bp":"e" */
	CHROME_GLOBAL = 0x400,	  /* of an instant: "s":"g" */
	CHROME_PROCESS = 0x800,	  /* "s":"p" */
};

#endif
