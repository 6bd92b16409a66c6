/*
 * apitrace.h - apitrace's .trace: constants shared by its decoder and encoder
 */
#ifndef TR_FORMATS_APITRACE_H
#define TR_FORMATS_APITRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	APITRACE_LATEST = 6, /* versions 0 to 6 are known */
	/* first versions with a feature */
	APITRACE_ENUM_SETS = 3,	  /* an enum's definition contains all its names */
	APITRACE_THREADS = 4,	  /* an enter has its thread */
	APITRACE_PROPERTIES = 6,  /* header with semantic version and properties */
	APITRACE_CHUNK = 1 << 20, /* bytes of the stream in a snappy chunk of apitrace */
	APITRACE_ZSTD_FRAME =
		2 << 20, /* bytes of the stream in a frame of zstd's seekable format */
};

enum apitrace_event { APITRACE_ENTER = 0, APITRACE_LEAVE = 1 };

enum apitrace_detail {
	APITRACE_END = 0,
	APITRACE_ARGUMENT = 1,
	APITRACE_RETURN = 2,
	APITRACE_BACKTRACE = 4,
	APITRACE_FLAGS = 5,
};

enum apitrace_type {
	APITRACE_NULL = 0,
	APITRACE_FALSE = 1,
	APITRACE_TRUE = 2,
	APITRACE_SINT = 3, /* negative: its magnitude follows */
	APITRACE_UINT = 4,
	APITRACE_FLOAT = 5,
	APITRACE_DOUBLE = 6,
	APITRACE_STRING = 7,
	APITRACE_BLOB = 8,
	APITRACE_ENUM = 9,
	APITRACE_BITMASK = 10,
	APITRACE_ARRAY = 11,
	APITRACE_STRUCT = 12,
	APITRACE_OPAQUE = 13,
	APITRACE_REPR = 14,
	APITRACE_WSTRING = 15,
};

enum apitrace_frame {
	APITRACE_FRAME_END = 0,
	APITRACE_FRAME_MODULE = 1,
	APITRACE_FRAME_FUNCTION = 2,
	APITRACE_FRAME_FILE = 3,
	APITRACE_FRAME_LINE = 4,
	APITRACE_FRAME_OFFSET = 5,
};

/* Names of the members of a definition of kind FRAME (common/stream), by enum apitrace_frame. */
#define APITRACE_FRAME_NAMES                                                                       \
	{                                                                                          \
		"", "module", "function", "file", "line", "offset"                                 \
	}

/* Name of the META that contains the header of a trace, as in the file without its container. */
#define APITRACE_META_HEADER "apitrace.header"

/* Offsets in the fixed part of the types of the stream: the call's number, its frame, and in that
 * of enters with a backtrace the stack. */
enum {
	APITRACE_FIXED_CALL = 0,
	APITRACE_FIXED_FRAME = 4,
	APITRACE_FIXED_SIZE = 8,
	APITRACE_FIXED_STACK = 8,
	APITRACE_FIXED_MOST = 12,
};

/* What apitrace knows of a function by its name: bits as in `apitrace pickle`. */
enum apitrace_known {
	APITRACE_FAKE = 1,
	APITRACE_NO_SIDE_EFFECTS = 4,
	APITRACE_RENDER = 8,
	APITRACE_SWAP_TARGET = 16,
	APITRACE_END_FRAME = 32,
	APITRACE_VERBOSE = 128,
	APITRACE_MARKER = 256,
};
unsigned apitrace_known(const char *function, size_t n);
/*
 * Return the class of a function: "frame" ends a frame; "draw" draws, "render" renders otherwise
 * (clears, blits, lists of commands), both render for apitrace; "target" sets a render target;
 * "marker" marks; "query" has no side effects. NULL: none of these.
 */
const char *apitrace_class(const char *function, size_t n);

/* Get the name of a COM identifier "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", or NULL. */
const char *apitrace_guid(const char *uuid);

#endif
