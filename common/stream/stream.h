/*
 * stream.h - the event stream on the wire, as trstream(5) specifies it
 *
 * Numbers are little-endian. Only common/ reads or writes these layouts.
 */
#ifndef TR_STREAM_STREAM_H
#define TR_STREAM_STREAM_H

#include <stdbool.h>
#include <stdint.h>

enum {
	STREAM_MAJOR = 1,
	STREAM_MINOR = 0,
	MARKER_SIZE = 16, /* "trstrm1:" and 8 hex digits of the stream id */
	BLOCK_HEADER =
		24, /* u32 sync, u16 kind, u16 flags, u32 length, u32 crc, u32 zero, u32 check */
	BLOCK_CHECKED = 20,	   /* bytes of the header that check is the CRC-32 of */
	EVENTS_HEADER = 32,	   /* u64 base, u64 last, u32 rows, u16 flags, u16 types, u16 lanes,
				      u16 stacks, u32 locations */
	ENTRY_HEADER = 16,	   /* u16 kind, u16 flags, u32 length, u32 id, u32 zero */
	BLOCK_TARGET = 64 * 1024,  /* approximate size of the rows of an EVENTS block */
	BLOCK_LIMIT = 1024 * 1024, /* payload of any block but EVENTS */
	META_PIECE = 60 * 1024,
	GAP_FIXED = 24, /* least fixed part of a gap: u64 count, u64 offset, u32 reason, u32 unit */
	SNAPSHOT_HEAD = 40, /* snapshot.h */
	SNAPSHOT_THREAD = 64,
	SNAPSHOT_FRAME = 24,
};

#define MARKER_PREFIX "trstrm1:"
#define BLOCK_SYNC    0x1a535254u			 /* "TRS\x1a" */
#define EVENTS_LIMIT  (256u * 1024 * 1024 + BLOCK_LIMIT) /* one value may be that large */

enum block_kind {
	BLOCK_HEAD = 1,
	BLOCK_DICT = 2,
	BLOCK_EVENTS = 3,
	BLOCK_META = 4,
	BLOCK_END = 5,
	BLOCK_SNAPSHOT = 6,
	BLOCK_INDEX = 7, /* index.h */
	BLOCK_KINDS
};

enum block_flags {
	BLOCK_MAY_SKIP = 1, /* a program that does not know this kind skips it */
	BLOCK_MAY_COPY = 2, /* and may pass it on, even if it changes other events */
	BLOCK_HAS_CRC = 4,  /* crc is the CRC-32 (zlib's) of the payload; in all blocks of a
			       segment, or in none */
};

enum head_flags {
	HEAD_FILTERED = 1,  /* rows of the source were left out on purpose */
	HEAD_REDUCED = 4,   /* fields of rows were taken out on purpose */
	HEAD_SUMMARY = 2,   /* no events, but a summary of them, for trstat --merge */
	HEAD_SEGMENTED = 8, /* more segments may follow */
};

enum head_key { HEAD_COMMAND = 1, HEAD_SOURCE = 2, HEAD_STAGE = 4 };

enum end_flags {
	END_LAST = 1,
	END_LOST_MORE = 2, /* more than counted: packets, or an unknown number of events */
};

enum events_flags {
	EVENTS_WIDE = 1, /* rows of 16 bytes, else 8 */
	EVENTS_BARE = 2, /* no row has a fixed part or a tail: constant stride */
};

enum meta_flags { META_REFERENCE = 1 }; /* name and hash only: an earlier segment had the data */

enum entry_kind {
	ENTRY_STRING = 1,
	ENTRY_CLOCK = 2,
	ENTRY_SOURCE = 3,
	ENTRY_LANE = 4,
	ENTRY_TYPE = 5,
	ENTRY_DEFINITION = 6,
	ENTRY_SPACE = 7,
	ENTRY_MAP = 8,
	ENTRY_LOCATION = 9,
	ENTRY_SYMBOL = 10,
	ENTRY_THREAD = 11,
	ENTRY_STACK = 12,
	ENTRY_KINDS
};

enum clock_flags {
	CLOCK_TICKS = 1,     /* no unit of time: rates have no meaning */
	CLOCK_HAS_WALL = 2,  /* wall is to be added to give nanoseconds since 1970 */
	CLOCK_IS_WALL = 4,   /* is itself wall time */
	CLOCK_ROWS = 8,	     /* with TICKS: counts rows, only to keep their order */
	CLOCK_OWN_ZERO = 16, /* counts from the beginning of its trace, wall is exact */
};

enum lane_flags {
	LANE_HAS_CPU = 1,
	LANE_HAS_TID = 2,
	LANE_HAS_PID = 4,
	LANE_PROCESS_TID = 8, /* the tid is valid within the process: the same tid with another pid
				 is another thread; without a tid: so is each process */
	/* the stack of the thread, of the CPU, had a row with a depth in an earlier segment; no
	   part of the lane's identity */
	LANE_STARTED = 16,
	LANE_CPU_STARTED = 32,
};

enum snapshot_flags {
	SNAPSHOT_MORE = 1,	  /* another SNAPSHOT follows */
	SNAPSHOT_APPROXIMATE = 2, /* calls may be missing */
	SNAPSHOT_RESTART = 4,	  /* also for readers that have read everything before it */
};

enum snapshot_thread_flags {
	SNAPSHOT_PER_CPU = 1,
	SNAPSHOT_CHARGED = 2,	 /* a callee of the innermost unseen call ended */
	SNAPSHOT_PASSED = 4,	 /* a row of the first stack was read since the kernel's last */
	SNAPSHOT_CONTINUED = 8,	 /* more frames of the last record */
	SNAPSHOT_UNSTARTED = 16, /* LANE_STARTED of the lane is wrong */
};

enum snapshot_frame_flags {
	SNAPSHOT_IN_KERNEL = 1,
	SNAPSHOT_OUTSIDE = 2,  /* entered in the kernel outside any call */
	SNAPSHOT_LEFT_OUT = 4, /* a filter has left the call out: it is not open */
};

/* Facts about a thread that a filter derives from rows that it leaves out. */
enum thread_flags {
	THREAD_PER_CPU = 1,  /* the stack of the lane's CPU, for TYPE_PER_CPU */
	THREAD_HAS_LAST = 2, /* last is known */
	THREAD_HAS_OPEN = 4, /* open is known */
	THREAD_LEFT_OUT = 8, /* from here on rows of the stack's calls are left out */
	THREAD_OUTSIDE =
		32, /* from since to last calls of the kernel, and inner ones, are ignored */
	THREAD_UNSEEN = 16, /* with HAS_LAST: calls with neither an enter nor a leave count */
};

/* What an event of a type is. */
enum type_kind {
	KIND_INSTANT = 0,
	KIND_ENTER = 1,
	KIND_LEAVE = 2,
	KIND_COUNTER = 3,
	KIND_GAP = 4,
	KIND_DROP = 5,	 /* of a filter: ends open calls without a leave (CALLS in trstream(5)) */
	KIND_SAMPLE = 6, /* an instant with a stack and a weight; the row's location is the stack */
	KIND_COUNT
};

/* Test whether rows of a kind are events of the trace. */
static inline bool kind_is_event(unsigned kind)
{
	return kind != KIND_GAP && kind != KIND_DROP;
}

/* Test whether rows of a kind are events that neither begin nor end a call. */
static inline bool kind_is_instant(unsigned kind)
{
	return kind == KIND_INSTANT || kind == KIND_COUNTER || kind == KIND_SAMPLE;
}

enum type_flags {
	TYPE_TAIL = 1,	 /* a row has u32 length and a tail after its fixed part */
	TYPE_VALUES = 2, /* the tail is a list of values (value.h) */
	TYPE_DEPTH = 4,	 /* the row's depth was recorded: stacks synchronise on it */
	TYPE_INNER = 8,	 /* a callee of the open call, without a depth; ignored outside any call */
	TYPE_PER_CPU = 16,     /* its calls nest per CPU, not per thread */
	TYPE_BIG_ENDIAN = 32,  /* fields of the tail are big-endian; the fixed part never is */
	TYPE_CALL_NUMBER = 64, /* enter and leave pair by their field of ROLE_CALL, not by stack:
				  calls of one thread may overlap */
	TYPE_KERNEL = 128, /* its calls have a separate stack, on top of the thread's other calls:
			      depths count from there; ignored outside any call */
	TYPE_WEIGHT_TIME = 256, /* the weight of its samples is a time in ns */
};

enum field_kind {
	FIELD_UINT = 0,
	FIELD_INT = 1,
	FIELD_HEX = 2,	 /* unsigned, shown in hexadecimal */
	FIELD_CHAR = 3,	 /* characters; count > 1: up to a NUL */
	FIELD_FLOAT = 4, /* 4 or 8 bytes */
	FIELD_BYTES = 5,
	FIELD_ENUM =
		6, /* a number with names in a definition, which records whether it is signed */
	FIELD_BITMASK = 7, /* a number with names for its bits */
	FIELD_BITMAP = 8,  /* cpumask and the like: any number of words */
	FIELD_STRING = 9,  /* text; `where` defines its length */
};

enum field_where {
	WHERE_FIXED = 0,    /* at offset of the fixed part */
	WHERE_TAIL = 1,	    /* at offset of the tail */
	WHERE_DATA_LOC = 2, /* at offset of the tail: u32 length << 16 | offset in the tail */
	WHERE_REL_LOC = 3,  /* the same, the offset counted from the end of this u32 */
	WHERE_REST = 4,	    /* from offset of the tail to its end */
	WHERE_STRING = 5,   /* the tail is texts, each with a NUL: number offset of them, from 0 */
};

enum field_role {
	ROLE_NONE = 0,
	ROLE_ADDRESS = 1,
	ROLE_DURATION = 2,
	ROLE_SIZE = 3,
	ROLE_MESSAGE = 4,
	ROLE_COUNT = 5, /* gap: missing units, UINT64_MAX unknown; sample: number of samples in
			   the row */
	ROLE_SOURCE_TIME =
		6, /* the source's own time, if it differs from the row's time by no constant */
	ROLE_CPU = 7,
	ROLE_TID = 8,
	ROLE_CALL = 9, /* u32 in the fixed part: number of the call among its source's */
	ROLE_ROW = 10, /* a copy of data of the row: its thread, the depth and name of its call */
	ROLE_ARGUMENTS = 11, /* text: arguments or return values of a call */
	ROLE_STACK = 12,     /* u32 in the fixed part: id of a stack in the segment */
	ROLE_PERIOD = 13,    /* u64 or, if an INT, i64 in the fixed part: the weight of a sample */
	ROLE_WEIGHT = 14,    /* another weight of a sample: of another counter of its group */
	ROLE_TOTAL = 15,     /* u64 or, if an INT, i64 in the fixed part: the total of a sample
				that is a sum of calls; ROLE_COUNT is their number */
};

enum definition_kind {
	DEFINITION_ENUM = 1,
	DEFINITION_BITMASK = 2,
	DEFINITION_STRUCT = 3, /* names of its members; of a location: of its arguments */
	/* A frame of a backtrace: members named "module", "function" or "file", each followed by
	   one whose name is the text, or "line" or "offset", whose value is the number. */
	DEFINITION_FRAME = 4,
};

enum definition_flags {
	DEFINITION_UNSIGNED = 1, /* ENUM: its numbers are unsigned */
	DEFINITION_SUMS = 2, /* ENUM: a number without a label may be the sum of several members */
};

enum space_flags { SPACE_KERNEL = 1 };

/* MAP_FILE_OFFSET: the offset is that in the file; MAP_ADDRESS: an address as the symbols of the
 * file have it; else against the first byte that the file has in memory. */
enum map_flags { MAP_FILE_OFFSET = 1, MAP_ADDRESS = 2 };

enum symbol_flags {
	SYMBOL_PLT = 1, /* a library call through the PLT */
	SYMBOL_KERNEL = 2,
	SYMBOL_UNKNOWN = 4, /* looked for and not found: name is empty */
};

/* The reason of a gap. */
enum gap_reason {
	GAP_LOST = 1,	/* the recorder ran out of buffers */
	GAP_DAMAGE = 2, /* the input is damaged here */
	GAP_UNREAD = 3, /* left out on purpose, or of an unknown encoding */
};

enum gap_unit { GAP_EVENTS = 0, GAP_BYTES = 1, GAP_PACKETS = 2 };

#endif
