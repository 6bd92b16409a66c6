/* links: cmd/trdecode */
/*
 * tracecmd.c - any bytes as a trace.dat: decoded, and the stream that comes of it read again, which
 * must be without a fault and hold as many rows as its END says
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/facts.h"
#include "cmd/trdecode/merge.h"
#include "common/buffer.h"
#include "common/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 512, SEGMENT = 64 * 1024 };

static void need(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "tracecmd: %s\n", what);
	abort();
}

static void print_facts(struct input *in)
{
	struct text *text = malloc(sizeof(*text));
	struct output out;
	struct facts f;
	struct error e;

	need(text && !output_open(&out, "/dev/null", OUTPUT_TEXT, &e), "no /dev/null");
	text_init(text, &out);
	for (int json = 0; json < 2; json++) {
		facts_begin(&f, text, json, "fuzz", true);
		in->decoder->info(in, &f, &e);
		facts_end(&f);
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

static void decode(struct input *in, struct writer *w, int fd, bool segments)
{
	struct output out;
	struct error e = {.what = ""};
	char path[32];

	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	need(!output_open(&out, path, OUTPUT_BINARY, &e), e.what);
	w->output = &out;
	w->crc = false;
	need(!writer_begin(w, in->decoder->identity(in)), "out of memory");
	if (in->decoder->begin(in, &e)) {
		need(e.what[0], "an error without words");
	} else {
		/* in two turns, as beside another input */
		if (in->next < UINT64_MAX - 1000000)
			need(!in->decoder->run(in, in->next + 1000000, &e), e.what);
		need(!in->decoder->run(in, UINT64_MAX, &e), e.what);
		need(in->next == UINT64_MAX, "events are left");
	}
	need(!writer_finish(w), w->error.what);
	need(!output_close(&out, 0, &e), e.what);
	read_again(fd, segments ? UINT64_MAX : w->events, w->gaps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct writer writer;
	struct output none = {.fd = -1};
	struct decoding d = {.writer = &writer, .quiet = true};
	struct input in = {.name = "fuzz",
			   .decoder = &decoder_tracecmd,
			   .decoding = &d,
			   .next = UINT64_MAX,
			   .clock_name = "",
			   .reported = 1000}; /* nothing on standard error */
	unsigned choice = size ? data[size - 1] : 0;
	struct error e = {.what = ""};
	uint8_t head[HEAD];
	int out = memfd_create("stream", MFD_CLOEXEC);

	in.fd = memfd_create("trace.dat", MFD_CLOEXEC);
	need(in.fd >= 0 && out >= 0 && write(in.fd, data, size) == (ssize_t)size, "no memory file");
	lseek(in.fd, 0, SEEK_SET);
	in.head_size = (size_t)read(in.fd, head, sizeof(head));
	in.head = head;
	in.shift = choice & 1 ? -1000000000 : 0;
	d.clock = choice & 2 ? CLOCK_RAW : CLOCK_DEFAULT;
	need(!writer_init(&writer, &none, choice & 4 ? SEGMENT : 0), "out of memory");
	if (in.decoder->probe(&in) && !in.decoder->open(&in, &e)) {
		print_facts(&in);
		decode(&in, &writer, out, choice & 4);
	}
	if (in.state)
		in.decoder->close(&in);
	writer_free(&writer);
	close(in.fd);
	close(out);
	return 0;
}
