/* links: cmd/trdecode */
/*
 * uftrace.c - any files as a uftrace directory: decoded, and the stream that comes of it read
 * again, which must be without a fault and hold as many rows as its END says
 *
 * An input is members one behind the other: u8 length of the name, u16 length of the data, name,
 * data. The lowest bits of the last byte choose a shift and segments. t/fuzz/pack.sh packs a
 * directory so.
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

#ifndef DECODER
#define DECODER decoder_uftrace /* lttng.c has another */
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TAR_BLOCK = 512, MEMBERS_MOST = 64, SEGMENT = 64 * 1024 };

static void need(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "uftrace: %s\n", what);
	abort();
}

/* A tar's header; the checksum is that of the header with blanks in its place. */
static void tar_header(uint8_t *h, const uint8_t *name, size_t n, size_t size)
{
	unsigned sum = 0;

	memset(h, 0, TAR_BLOCK);
	memcpy(h, name, n < 99 ? n : 99);
	memcpy(h + 100, "0000644", 8);
	snprintf((char *)h + 124, 12, "%011zo", size);
	memset(h + 148, ' ', 8);
	h[156] = '0';
	memcpy(h + 257, "ustar\00000", 8);
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += h[i];
	snprintf((char *)h + 148, 8, "%06o", sum);
}

/* The members as a tar in memory; -1 when there are none. */
static int make_tar(const uint8_t *data, size_t size)
{
	static const uint8_t zeros[2 * TAR_BLOCK];
	struct buffer tar = {0};
	int fd, members = 0;

	while (size >= 3 && members < MEMBERS_MOST) {
		size_t name = data[0], n = data[1] | (size_t)data[2] << 8;
		uint8_t header[TAR_BLOCK];

		if (name > size - 3)
			name = size - 3;
		if (n > size - 3 - name)
			n = size - 3 - name;
		tar_header(header, data + 3, name, n);
		need(!buffer_append(&tar, header, sizeof(header)) &&
			     !buffer_append(&tar, data + 3 + name, n) &&
			     !buffer_align(&tar, TAR_BLOCK),
		     "out of memory");
		data += 3 + name + n;
		size -= 3 + name + n;
		members++;
	}
	need(!buffer_append(&tar, zeros, sizeof(zeros)), "out of memory");
	fd = members ? memfd_create("tar", MFD_CLOEXEC) : -1;
	need(fd < 0 || write(fd, tar.data, tar.size) == (ssize_t)tar.size, "cannot write");
	buffer_free(&tar);
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
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
			   .decoder = &DECODER,
			   .decoding = &d,
			   .next = UINT64_MAX,
			   .fd = -1,
			   .clock_name = "",
			   .reported = 1000}; /* nothing on standard error */
	unsigned choice = size ? data[size - 1] : 0;
	int fd = make_tar(data, size);
	struct error e;

	if (fd < 0)
		return 0;
	in.tree = tree_open_fd(fd, "fuzz", NULL, 0, &e);
	close(fd);
	if (in.tree && in.decoder->probe(&in)) {
		in.shift = choice & 1 ? -1000000000 : choice & 2 ? 1000000000 : 0;
		need(!writer_init(&writer, &none, choice & 4 ? SEGMENT : 0), "out of memory");
		if (!in.decoder->open(&in, &e)) {
			print_facts(&in);
			fd = memfd_create("stream", MFD_CLOEXEC);
			decode(&in, &writer, fd, choice & 4);
		}
		if (in.state)
			in.decoder->close(&in);
		writer_free(&writer);
	}
	tree_close(in.tree);
	return 0;
}
