/*
 * decoded.h - what the fuzz targets of the decoders do with an input that could be opened: its
 * facts are printed, it is decoded, and the stream that comes of it is read again, which must be
 * without a fault and hold as many rows as its END counts
 */
#ifndef TR_T_FUZZ_DECODED_H
#define TR_T_FUZZ_DECODED_H

#include "cmd/trdecode/input.h"
#include "cmd/trdecode/decoder.h"
#include "common/stream/reader.h"
#include "t/fuzz/fuzz.h"

enum { SEGMENT = 64 * 1024 };

static void print_facts(struct input *in)
{
	struct text *text = malloc(sizeof(*text));
	struct output out;
	struct trace_info f = {.width = 30};
	struct error e;

	need(text && !output_open(&out, "/dev/null", OUTPUT_TEXT, &e), "no /dev/null");
	text_init(text, &out);
	for (int json = 0; json < 2; json++) {
		trace_info_begin(&f, text, json, "fuzz", true);
		in->decoder->info(in, &f, &e);
		trace_info_end(&f);
	}
	text_flush(text, &e);
	output_close(&out, 0, &e);
	free(text);
}

/* What was written must be read without a complaint. */
static void read_again(int fd, uint64_t rows, uint64_t gaps)
{
	struct reader r;
	struct block b;
	struct events it;
	struct event ev;
	uint64_t seen = 0, seen_gaps = 0;
	int got;

	lseek(fd, 0, SEEK_SET);
	need(!reader_open_fd(&r, fd, "stream", NULL, 0), "the stream cannot be opened");
	while ((got = reader_next(&r, &b)) != 0) {
		need(got > 0, r.error.what);
		if (b.kind != BLOCK_EVENTS)
			continue;
		for (events_begin(&it, &b); event_next(&it, &ev); seen++)
			seen_gaps += ev.type->kind == KIND_GAP;
	}
	reader_close(&r);
	if (rows != UINT64_MAX)
		need(seen == rows && seen_gaps == gaps, "END counts other rows than there are");
}

/* An opened input to a stream in fd, which is then read again. */
static void decode(struct input *in, struct writer *w, int fd, bool segments)
{
	struct output out;
	struct error e = {.what = ""};
	char path[32];

	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	need(!output_open(&out, path, OUTPUT_BINARY, &e), e.what);
	w->output = &out;
	w->crc = false;
	need(!writer_begin(w, in->decoder->fingerprint ? in->decoder->fingerprint(in) : 0),
	     "out of memory");
	if (input_begin(in, &e)) {
		need(e.what[0], "an error without words");
	} else {
		/* in two turns, as beside another input */
		if (in->next < UINT64_MAX - 1000000)
			need(!input_run(in, in->next + 1000000, &e), e.what);
		need(!input_run(in, UINT64_MAX, &e), e.what);
		need(in->next == UINT64_MAX, "events are left");
	}
	need(!writer_finish(w), w->error.what);
	need(!output_close(&out, 0, &e), e.what);
	read_again(fd, segments ? UINT64_MAX : w->end.events, w->end.gaps);
}

#endif
