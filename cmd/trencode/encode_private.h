/*
 * encode_private.h - shared by encode.c, which passes a stream to an encoder, and parts.c, which
 * gives each part of a split stream an encoder of its own
 *
 * Functions return 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_ENCODE_PRIVATE_H
#define TR_TRENCODE_ENCODE_PRIVATE_H

#include "cmd/trencode/clip.h"
#include "cmd/trencode/encoder.h"
#include "common/stream/clocks.h"

/* The META blocks read so far; a segment may refer to those of earlier segments. */
struct known_metas {
	struct intern seen;    /* hashes of the META blocks read */
	struct intern missing; /* hashes of references to META blocks not read */
};

/* What a new part begins with: the HEAD of the present stream, and its META blocks. */
struct kept_blocks {
	struct head head;
	struct buffer properties;
	bool has_head;
	struct buffer metas; /* each a struct meta, then its name and its data; it spills */
};

/* One run of trencode. */
struct encode_run {
	struct stage *s;
	const struct encoder *encoder; /* as chosen; en.encoder may be a conversion */
	struct encode_options options; /* of the present part */
	struct encoding en;
	struct known_metas known;
	struct clocks clocks;
	struct calls calls; /* en.calls, if the encoder counts_calls */
	struct text *text;
	struct clip *clip;   /* NULL: all is written */
	struct split *split; /* NULL: to one output */
	struct kept_blocks kept;
	char *path; /* of the present part */
};

/* --- encode.c --- */

/* Open the output of the encoder. -1: the error was printed. */
int encode_open(struct encode_run *r);
/* Begin the encoder. */
int encode_begin(struct encoding *en, struct error *e);
/* Convert the stream after all if its sources, or META blocks that are missing before the first
 * rows, show that the encoder cannot write it. */
int encode_prepare(struct encode_run *r, bool rows, struct error *e);
/* Encode rows, or a snapshot. ctx: the run. */
int encode_rows(void *ctx, const struct block *b, struct error *e);
/* End the encoder. last: the stream has ended. */
int encode_end(struct encode_run *r, bool last, struct error *e);
/* Begin and end the pairing of calls for an encoder with counts_calls. */
void encode_begin_calls(struct encode_run *r);
void encode_end_calls(struct encode_run *r);

/* --- parts.c --- */

/* Prepare to write parts, and name the first of them. */
int parts_begin(struct encode_run *r, struct error *e);
/* Keep the HEAD, a META block, for later parts, if there are any. */
int parts_keep_head(struct encode_run *r, const struct head *h, struct error *e);
int parts_keep_meta(struct encode_run *r, const struct meta *m, struct error *e);
/* Free what parts_begin allocated, and mention files of an earlier run. Does nothing without parts.
 */
void parts_end(struct encode_run *r);

#endif
