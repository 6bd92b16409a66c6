/*
 * reader.h - a stream coming in
 *
 *     while ((r = reader_next(&reader, &block)) != 0) {
 *             if (r < 0) { error_print(&reader.error); status = STATUS_DAMAGED; continue; }
 *             ...
 *     }
 *
 * reader_next returns 1 (a block), 0 (the clean end of all inputs) or -1 (damage or truncation,
 * described in reader.error). After -1 it may be called again: it goes on at the next block or
 * segment that can be read, or with the next input, and returns 0 when nothing is left.
 */
#ifndef TR_STREAM_READER_H
#define TR_STREAM_READER_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"
#include "common/util/error.h"
#include "common/stream/event.h"

struct writer;

/* What an END block says. */
struct end {
	uint64_t events, gaps,
		lost;		 /* rows written; gap rows among them; events the recorder lost */
	uint64_t first, last;	 /* times, only if events > 0 */
	uint32_t status;	 /* status.h */
	uint32_t flags;		 /* enum end_flags */
	struct text_ref message; /* what was wrong, "" nothing */
};

struct head {
	uint16_t major, minor;
	uint64_t stream_id;
	uint32_t sequence;
	uint32_t flags;		   /* enum head_flags */
	const uint8_t *properties; /* {u16 key, u16 zero, u32 length, bytes, padding to 8}... */
	size_t properties_size;
};

struct meta {
	uint32_t source; /* number of the source in the dictionary */
	uint32_t flags;	 /* enum meta_flags */
	uint64_t hash, total, offset;
	const char *name;
	uint32_t name_size;
	const uint8_t *data;
	size_t size;
};

struct reader {
	struct dictionary dictionary;
	struct error error;
	struct end end;	  /* of the last END block */
	struct head head; /* of the last HEAD block; valid until the next block */
	bool lossy;	  /* some input was damaged, or says in its END that it is */
	bool fatal;	  /* cannot open or read, not a stream, out of memory: exit status 2 */
	const struct output *output; /* a file that no input may be; NULL any */
	uint64_t size;		     /* of the inputs together, 0 where one of them does not tell */
	bool partial_ok; /* segments of a stream may be missing, and come in any order */
	bool summaries;	 /* inputs are summaries (HEAD_SUMMARY), else they are none */
	bool either;	 /* the first head that comes says which */
	/*
	 * Rows of an EVENTS block whose checksum is right are checked only when reader_rows asks
	 * for it: until then they may be anything, but bare ones are as many as the block says.
	 */
	bool rows_on_demand;
	enum reads_values reads_values; /* set by the caller: these are checked with the rows */

	/* before a read that would block */
	int (*before_block)(void *ctx);
	void *before_block_ctx;

	/* the rest is the reader's own */
	char **paths;
	int npaths, path;
	int fd;
	const char *file;
	uint8_t *data;
	size_t capacity, begin, filled;
	uint64_t offset; /* in the file, of data[begin] */
	uint64_t stream_id, rows;
	uint64_t reread; /* bytes of this input that were gone through again */
	uint32_t sequence;
	bool on_demand, pipe, regular, eof, loaded;
	bool stop;	    /* nothing more is read: out of memory, or the output failed */
	bool in_segment;    /* behind a marker, before END */
	bool head_seen;	    /* and behind HEAD */
	bool has_crc;	    /* the blocks of the segment have checksums */
	char marker[9];	    /* digits of the segment's marker, "" where that is damaged */
	bool open_stream;   /* the stream has not had its last END */
	bool more_expected; /* it has had one that is not its last */
	bool hurt;	    /* damage in this segment was reported */
	bool cut;	    /* the last block was cut by the end of the input */
	bool astray;	    /* what stands here was found to be damaged and said to be */
	bool holding;	    /* held is to be given out; what is wrong with it was said first */
	struct block held;
	size_t pending; /* payload bytes of the last block still to be stepped over */
	const struct type **types;
	const struct lane **lanes;
	uint32_t *locations;
	size_t types_capacity, lanes_capacity, locations_capacity;
};

/* Inputs are read one behind the other; none, or "-", is standard input. paths stays the caller's.
 * A terminal is refused. -1 with r->error filled; reader_close is to be called in any case. */
int reader_open(struct reader *r, char **paths, int n);
void reader_close(struct reader *r);

/* Go on from bytes that were read from fd already (a probe of its content). Takes fd over. */
int reader_open_fd(struct reader *r, int fd, const char *name, const void *peeked, size_t n);

/* Payloads of EVENTS are left in the input until reader_load or reader_pass asks for them. */
void reader_on_demand(struct reader *r);

int reader_next(struct reader *r, struct block *b);

/* Have the payload of an on-demand EVENTS block at hand. 0 or -1 (r->error). */
int reader_load(struct reader *r, struct block *b);

/* Have the rows of a block checked before anyone looks at them, with rows_on_demand. 0, or -1: they
 * are damaged (r->error), and the block is of no use. */
int reader_rows(struct reader *r, struct block *b);

/* Pass the block on unchanged, as it came; by splice(2) where both ends are pipes and it was not
 * loaded. 0, or -1: r->error says what is wrong with the input, or *e with the output (e->what is
 * empty otherwise). */
int reader_pass(struct reader *r, struct block *b, struct writer *w, struct error *e);

/* Take a META block apart. */
void reader_meta(const struct reader *r, const struct block *b, struct meta *m);

/* The flags of the first HEAD (enum head_flags), from the first bytes of a stream. */
uint32_t reader_head_flags(const void *data, size_t n);

/* Is this the beginning of a stream? n >= MARKER_SIZE, or false. */
bool reader_is_stream(const void *data, size_t n);

/* Is this the beginning of a stream of a version that is not known here, by its marker? */
bool reader_other_version(const void *data, size_t n, unsigned *version);

#endif
