/*
 * tracecmd.h - constants of trace-cmd's trace.dat, versions 6 and 7, shared by the decoder and the
 * encoder
 *
 * Sources: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5) and recordings by trace-cmd 1.x to 3.4.
 */
#ifndef TR_FORMATS_TRACECMD_H
#define TR_FORMATS_TRACECMD_H

#include <stdbool.h>
#include <string.h>

#define TRACECMD_MAGIC	    "\x17\x08\x44tracing" /* 10 bytes, no NUL */
#define TRACECMD_MAGIC_SIZE 10

/* tags of version 6, with their NULs */
#define TRACECMD_HEADER_PAGE  "header_page"  /* 12 bytes */
#define TRACECMD_HEADER_EVENT "header_event" /* 13 bytes */
#define TRACECMD_TAG_OPTIONS  "options  "    /* 10 bytes, as the next two */
#define TRACECMD_TAG_LATENCY  "latency  "
#define TRACECMD_TAG_DATA     "flyrecord"

enum { TRACECMD_TAG_SIZE = 10, TRACECMD_SECTION_HEADER = 16 };

/* Options; those from HEADER_INFO on, BUFFER and STRINGS are sections in version 7. */
enum tracecmd_option {
	TRACECMD_DONE = 0,
	TRACECMD_DATE = 1,
	TRACECMD_CPUSTAT = 2,
	TRACECMD_BUFFER = 3,
	TRACECMD_TRACECLOCK = 4,
	TRACECMD_UNAME = 5,
	TRACECMD_HOOK = 6,
	TRACECMD_OFFSET = 7,
	TRACECMD_CPUCOUNT = 8,
	TRACECMD_VERSION = 9,
	TRACECMD_PROCMAPS = 10,
	TRACECMD_TRACEID = 11,
	TRACECMD_TIME_SHIFT = 12,
	TRACECMD_GUEST = 13,
	TRACECMD_TSC2NSEC = 14,
	TRACECMD_STRINGS = 15,
	TRACECMD_HEADER_INFO = 16,
	TRACECMD_FTRACE_EVENTS = 17,
	TRACECMD_EVENT_FORMATS = 18,
	TRACECMD_KALLSYMS = 19,
	TRACECMD_PRINTK = 20,
	TRACECMD_CMDLINES = 21,
	TRACECMD_BUFFER_TEXT = 22,
	TRACECMD_BTF = 23,
	TRACECMD_LAST_BOOT = 24,
	TRACECMD_MODULES = 25,
};

enum { TRACECMD_COMPRESSED = 1 }; /* flag of a section */

/* The start of the option VERSION in a trace.dat of trencode, whose names of threads have \xHH
 * for control characters. */
#define TRACECMD_OWN "trencode"

/* In a format of trencode, instead of "name: ": name and system have _xHH for each character
 * that is not a letter, digit or _. */
#define TRACECMD_ESCAPED_NAME "name:  "

/* After a name of an event, with a number: another event of that name, which has another layout.
 * Names that trencode escapes never end so: other characters than letters and digits become
 * _xHH, a _ only before an x. */
#define TRACECMD_ANOTHER "_x5f"

/* The types of the lines of a latency trace: of an event, and of the heading or a further line. */
#define TRACECMD_TEXT_EVENT "latency"
#define TRACECMD_TEXT_OTHER "latency_other"

/* Test for the name of one of them. */
static inline bool tracecmd_is_text(const char *name)
{
	return !strcmp(name, TRACECMD_TEXT_EVENT) || !strcmp(name, TRACECMD_TEXT_OTHER);
}

/* Ring buffer: the kinds of a record, in its lowest (little-endian) or highest 5 bits; 1 to 28
 * are words of payload. */
enum {
	RING_LONG = 0, /* u32 length follows, which includes itself */
	RING_PADDING = 29,
	RING_TIME_EXTEND = 30,
	RING_TIME_STAMP = 31,
};

#define RING_COMMIT_MASK 0x07ffffffu
#define RING_MISSED	 (1u << 31) /* events before this sub-buffer were lost */
#define RING_MISSED_SIZE (1u << 30) /* the number of lost events, a long, is after the data */

#endif
