/* links: cmd/trdecode */
/*
 * apitrace.c - any bytes as a .trace, in a container or (after a first byte of 0) as the stream
 * that is in one, packed here: decoded into a stream that is read back. After a first byte of 1 the
 * profile of a replay is before that stream, up to a NUL
 */
#include <snappy-c.h>
#include <string.h>

#include "cmd/trdecode/formats.h"
#include "common/stream/reader.h"
#include "common/stream/value.h"
#include "t/fuzz/fuzz.h"

#ifndef DECODER
#define DECODER decoder_apitrace
#endif
#ifndef SYSROOT
#define SYSROOT NULL
#endif
#ifndef MAP /* of rows */
#define FORMAT NULL
#define MAP    NULL
#define SORT   false
#endif

enum { HEAD = 4096, MOST_EVENTS = 50000 };

/* What the decoder made must be a stream without a fault. */
static void read_back(int fd)
{
	struct reader r;
	struct block b;
	struct events it;
	struct event e;

	if (reader_open_fd(&r, fd, "made", NULL, 0))
		abort();
	while (reader_next(&r, &b) > 0) {
		if (b.kind != BLOCK_EVENTS)
			continue;
		for (events_begin(&it, &b); event_next(&it, &e);) {
			struct values v;
			struct detail d;

			if (!(e.type->flags & TYPE_VALUES))
				continue;
			values_begin(&v, e.tail, e.tail_size);
			while (values_detail(&v, &d))
				;
			if (v.bad)
				abort();
		}
	}
	if (r.error.what[0])
		abort();
	reader_close(&r);
}

static void open_input(struct input *in, struct decoding *d, const uint8_t *data, size_t size)
{
	*in = (struct input){.name = "trace",
			     .decoder = &DECODER,
			     .format = FORMAT,
			     .fd = memory_file(data, size),
			     .decoding = d,
			     .faults.nkinds = FAULT_KINDS, /* nothing is printed */
			     .next = UINT64_MAX,
			     .clock_name = ""};
	in->head_size = size < HEAD ? size : HEAD;
	in->head = malloc(in->head_size + 1);
	if (!in->head || read(in->fd, in->head, in->head_size) != (ssize_t)in->head_size)
		abort();
}

static void close_input(struct input *in)
{
	close(in->fd);
	free(in->head);
}

/* Decode a trace, with the profile of its replay (NULL: without). */
static void decode(const uint8_t *data, size_t size, const uint8_t *profile, size_t profile_size)
{
	struct writer writer;
	struct output out = {.fd = memory_file("", 0), .name = "stream"};
	struct decoding d = {.writer = &writer,
			     .quiet = true,
			     .max_value = 1 << 20,
			     .sysroot = SYSROOT,
			     .map = MAP,
			     .sort = SORT};
	struct input in, times = {.state = NULL};
	struct error e;

	open_input(&in, &d, data, size);
	if (profile) {
		open_input(&times, &d, profile, profile_size);
		if (decoder_glprofile.open(&times, &e))
			abort();
	}
	if (writer_init(&writer, &out, size % 3 ? 0 : 64 * 1024))
		abort();
	if (DECODER.probe(&in)) {
		if (!DECODER.open(&in, &e) && !writer_begin(&writer, 1) &&
		    !DECODER.begin(&in, &e)) {
			/* a few bytes may unpack to very many events */
			for (int n = 0; n < MOST_EVENTS && in.next != UINT64_MAX &&
					lseek(out.fd, 0, SEEK_CUR) < OUTPUT_UNPACKED;
			     n++)
				if (DECODER.run(&in, in.next, &e))
					break;
			writer_finish(&writer);
			lseek(out.fd, 0, SEEK_SET);
			read_back(dup(out.fd));
		}
		if (in.state)
			DECODER.close(&in);
	}
	if (profile) {
		decoder_glprofile.close(&times);
		close_input(&times);
	}
	writer_free(&writer);
	close(out.fd);
	close_input(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = snappy_max_compressed_length(size), profile_size = 0;
	const uint8_t *profile = NULL, *zero = size ? memchr(data, 0, size) : NULL;
	uint8_t *packed;

	if (size && *data == 1 && zero) {
		profile = data + 1;
		profile_size = (size_t)(zero - profile);
		size -= (size_t)(zero - data);
		data = zero;
	}
	if (!size || *data) {
		/* anything may be Brotli */
		output_limit_to(2ull * OUTPUT_UNPACKED, true);
		decode(data, size, NULL, 0);
		output_limit_end();
		return 0;
	}
	packed = malloc(n + 6);
	if (!packed || snappy_compress((const char *)data + 1, size - 1, (char *)packed + 6, &n))
		abort();
	memcpy(packed, "at", 2);
	packed[2] = (uint8_t)n;
	packed[3] = (uint8_t)(n >> 8);
	packed[4] = (uint8_t)(n >> 16);
	packed[5] = (uint8_t)(n >> 24);
	output_limit(size);
	decode(packed, n + 6, profile, profile_size);
	output_limit_end();
	free(packed);
	return 0;
}
