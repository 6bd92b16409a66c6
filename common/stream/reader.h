/*
 * reader.h - reads an event stream
 *
 *     while ((r = reader_next(&reader, &block)) != 0) {
 *             if (r < 0) { error_print(&reader.error); status = STATUS_DAMAGED; continue; }
 *             ...
 *     }
 *
 * reader_next returns 1 (a block), 0 (the clean end of all inputs) or -1 (damage or truncation,
 * described in reader.error). After -1 the caller may call it again: the reader continues with the
 * next readable block or segment, or with the next input, and returns 0 at the end. Other functions
 * that return int return 0, or -1 with reader.error filled.
 */
#ifndef TR_STREAM_READER_H
#define TR_STREAM_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/stream/dictionary.h"
#include "common/stream/snapshot.h"
#include "common/util/buffer.h"
#include "common/util/error.h"

struct index;
struct index_section;
struct writer;

/* The content of an END block. */
struct end {
	uint64_t events, gaps,
		lost;	      /* rows written; gap rows among them; events lost by the recorder */
	uint64_t first, last; /* times, only if events > 0 */
	uint32_t status;      /* output.h */
	uint32_t flags;	      /* enum end_flags */
	struct text_ref message; /* the error, "" none */
	struct printed printed;	 /* where it was printed; none if the input is a file */
};

struct head {
	uint16_t major, minor;
	uint64_t stream_id;
	uint32_t sequence;
	uint32_t flags;		   /* enum head_flags */
	const uint8_t *properties; /* {u16 key, u16 zero, u32 length, bytes, padding to 8}... */
	size_t properties_size;
};

/* A property of a HEAD: enum head_key, and size bytes. */
struct head_property {
	uint16_t key;
	uint32_t size;
	const uint8_t *data;
};

/* Get the next property; *at starts at 0. false: there are no more. */
bool head_next(const struct head *h, size_t *at, struct head_property *p);

struct meta {
	uint32_t source; /* number of the source in the dictionary; of a writer, its id */
	uint32_t flags;	 /* enum meta_flags */
	uint64_t hash, total, offset;
	const char *name;
	uint32_t name_size;
	const uint8_t *data;
	size_t size;
};

/* Get the source of the block; NULL: it has none. */
static inline const struct source *meta_source(const struct dictionary *d, const struct meta *m)
{
	return m->source ? pool_at(&d->sources, m->source) : NULL;
}

/* Test whether the block has that name. */
static inline bool meta_is(const struct meta *m, const char *name)
{
	return m->name_size == strlen(name) && !memcmp(m->name, name, m->name_size);
}

struct reader {
	struct dictionary dictionary;
	struct error error;
	const char *file; /* the present input, for messages */
	struct end end;	  /* of the last END block */
	struct head head; /* of the last HEAD block; valid until the next block */
	bool cut;	  /* the error is the end that a signal made, no damage */
	bool fatal;	  /* cannot open or read, not a stream, out of memory: exit status 2 */
	const struct output
		*output; /* the output file, which may not be an input; NULL: not checked */
	uint64_t size;	 /* total bytes of the inputs, 0 unknown */
	bool partial_ok; /* segments of a stream may be missing or in any order */
	bool summaries;	 /* inputs must be summaries (HEAD_SUMMARY), else they must not */
	bool either;	 /* the first HEAD decides which */
	/*
	 * Rows of an EVENTS block with a valid checksum are checked only by reader_rows. Before
	 * that they may be malformed, but the number of bare rows is right.
	 */
	bool rows_on_demand;
	enum reads_values
		reads_values; /* set by the caller: values that are checked with the rows */

	/*
	 * Test whether rows of a section of a file (index.h) are wanted: the reader leaves out what
	 * is not, if the file has an index. It may be set between two blocks. Of a segment with
	 * calls, what is before a section that is wanted is read, unless left_out_is_read. NULL:
	 * the whole is read.
	 */
	bool (*wants)(void *ctx, const struct index *x, const struct index_section *s);
	/* called for each section that is left out; NULL: no. true: its rows count as read */
	bool (*leaves_out)(void *ctx, const struct index_section *s);
	void *wants_ctx;
	/* rows that were left out count as read: the open calls of a later segment are not needed
	 */
	bool left_out_is_read;
	/* what END has of the segments that were left out */
	struct {
		uint64_t lost, gaps;
		bool lost_more, any;
	} left_out;

	/* called before a read that would block */
	int (*before_block)(void *ctx);
	void *before_block_ctx;

	/* the rest is private to the reader */
	/* The inputs, and the bytes that were read of the present one. */
	struct {
		char **paths;
		int npaths, path;
		int fd;
		uint8_t *data;
		size_t capacity, begin, filled;
		uint64_t offset;	  /* in the file, of data[begin] */
		uint64_t reread;	  /* bytes of this input that were scanned again */
		struct frames_in *frames; /* unpacks the input; NULL: it is not compressed */
		const char *fault;	  /* damage of a frame that is to be reported; NULL: none */
		uint64_t fault_at;	  /* in the file */
		bool pipe, regular, eof;
		bool waits; /* before_block is called before the input is read */
	} input;
	/* The present segment, and its place in the stream. */
	struct {
		uint64_t stream_id, rows;
		uint32_t sequence;
		bool inside;	    /* after a marker, before END */
		bool head_seen;	    /* and after HEAD */
		bool has_crc;	    /* its blocks have checksums */
		char marker[9];	    /* digits of its marker, "" where that is damaged */
		bool open_stream;   /* the stream has not had its last END */
		bool more_expected; /* the stream has had an END with more segments to follow */
		bool hurt;	    /* damage in this segment was reported */
		bool whole;	    /* the segment before was read whole, without damage */
		bool alone;   /* rows before it were not read, so the open calls are not known */
		bool apart;   /* the same, and not because the index showed that they are not wanted
			       */
		bool skipped; /* the segment before was left out by the index */
	} segment;
	/* the index of the present input; NULL: it has none, or it was not looked for */
	struct reader_archive *archive;
	bool on_demand; /* payloads of EVENTS are read by reader_load */
	bool loaded;	/* the payload of the last block was read */
	bool stop;	/* reading has ended: out of memory, or the output failed */
	bool truncated; /* the input ended inside the last block */
	bool astray;	/* the present bytes were found and reported to be damaged */
	bool holding;	/* held is returned next; its error was returned first */
	struct block held;
	size_t pending; /* payload bytes of the last block that must be skipped */
	struct events_tables tables;
	struct snapshot snapshot;
};

/* Open the inputs, which are read in sequence; no paths, or "-", mean standard input. The caller
 * keeps paths valid. A terminal is refused. The caller calls reader_close after an error too. */
int reader_open(struct reader *r, char **paths, int n);
void reader_close(struct reader *r);

/* Continue after bytes that were already read from fd (a probe of its content). Takes ownership
 * of fd. */
int reader_open_fd(struct reader *r, int fd, const char *name, const void *peeked, size_t n);

/* Leave the payloads of EVENTS in the input until reader_load or reader_pass. */
void reader_on_demand(struct reader *r);

int reader_next(struct reader *r, struct block *b);

/* Go on with the segment at an offset of the present input, a file. Its place in the stream is not
 * checked any more. */
int reader_jump(struct reader *r, uint64_t offset);

/* Read the payload of an on-demand EVENTS block. */
int reader_load(struct reader *r, struct block *b);

/* Check the rows of a block before they are read, with rows_on_demand. -1: the rows are damaged,
 * and the block has none any more. */
int reader_rows(struct reader *r, struct block *b);

/* Pass the block on unchanged; by splice(2) where both ends are pipes and it was not loaded. -1:
 * r->error describes an input error, or *e an output error (e->what is "" otherwise). */
int reader_pass(struct reader *r, struct block *b, struct writer *w, struct error *e);

/* Decode a META block. */
void reader_meta(const struct reader *r, const struct block *b, struct meta *m);
/* Append a piece of the META of that name to the pieces before it. Returns 1 when the META is
 * whole; 0: it is not, or the piece is of another META; -1: out of memory. */
int meta_join(struct buffer *whole, const struct meta *m, const char *name);

/* Get the flags of the first HEAD (enum head_flags) from the first bytes of a stream. */
uint32_t reader_head_flags(const void *data, size_t n);

/* Test whether the data begins a stream; false if n < MARKER_SIZE. */
bool reader_is_stream(const void *data, size_t n);

/* Test whether the marker is that of a stream of an unknown version. */
bool reader_other_version(const void *data, size_t n, unsigned *version);

/* --- reads END blocks without reading the stream before them --- */

/* Get the last time of a stream's events. -1: no regular file, no complete stream, or no events.
 * */
int reader_tail_last(int fd, uint64_t *last);

/* A segment of a file, as the headers of its blocks, its HEAD and its END show it. */
struct segment_span {
	uint64_t begin, size; /* bytes of the file */
	uint64_t stream_id;
	uint32_t sequence;
	struct end end; /* without its message */
};

/* Call note for each segment of a file from the offset of fd on. Only the headers of blocks are
 * read; the offset of fd is unchanged. 0, or -1: no regular file, not only complete segments, or
 * note returned an error. */
int reader_tail_segments(int fd, int (*note)(void *ctx, const struct segment_span *s), void *ctx);

#endif
