/*
 * arrow.h - numbers of Apache Arrow's IPC streams, which trdecode reads and trencode writes
 *
 *     ffffffff, u32 size of the metadata, metadata, body     a message
 *     ffffffff 00000000                                      the end
 *
 * The metadata is a table of FlatBuffers. Source: Message.fbs and Schema.fbs of apache/arrow.
 */
#ifndef TR_FORMATS_ARROW_H
#define TR_FORMATS_ARROW_H

/* Versions, and the headers of messages. */
enum { ARROW_V5 = 4 };
enum { ARROW_SCHEMA = 1, ARROW_DICTIONARY = 2, ARROW_BATCH = 3 };

/* Types of fields. */
enum arrow_type {
	ARROW_NULL = 1,
	ARROW_INT = 2,
	ARROW_FLOAT = 3,
	ARROW_BINARY = 4,
	ARROW_UTF8 = 5,
	ARROW_BOOL = 6,
	ARROW_DATE = 8,
	ARROW_TIME = 9,
	ARROW_TIMESTAMP = 10,
	ARROW_LIST = 12,
	ARROW_STRUCT = 13,
	ARROW_FIXED_LIST = 16,
	ARROW_MAP = 17,
	ARROW_DURATION = 18,
	ARROW_LARGE_BINARY = 19,
	ARROW_LARGE_UTF8 = 20,
	ARROW_LARGE_LIST = 21,
	ARROW_BINARY_VIEW = 23,
	ARROW_UTF8_VIEW = 24,
};

enum { ARROW_HALF = 0, ARROW_SINGLE = 1, ARROW_DOUBLE = 2 };
enum { ARROW_SECOND = 0, ARROW_MILLISECOND = 1, ARROW_MICROSECOND = 2, ARROW_NANOSECOND = 3 };
enum { ARROW_LZ4 = 0, ARROW_ZSTD = 1 };

#endif
