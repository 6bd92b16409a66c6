/* links: cmd/trdecode */
/*
 * uftrace.c - any files (packed_tar.h) as a uftrace directory: decoded, and the stream that comes
 * of it read again, which must be without a fault and hold as many rows as its END counts. The
 * lowest bits of the last byte choose a shift and segments.
 */
#include <stdint.h>
#include <unistd.h>

#include "cmd/trdecode/formats.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/input_tree.h"
#include "t/fuzz/decoded.h"
#include "t/fuzz/packed_tar.h"

#ifndef DECODER
#define DECODER decoder_uftrace /* lttng.c has another */
#endif

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
			   .faults.nkinds = FAULT_KINDS}; /* nothing on standard error */
	unsigned choice = size ? data[size - 1] : 0;
	int fd = unpack_tar(data, size);
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
			fd = memory_file("", 0);
			output_limit(size);
			decode(&in, &writer, fd, choice & 4);
			output_limit_end();
		}
		if (in.state)
			in.decoder->close(&in);
		writer_free(&writer);
	}
	tree_close(in.tree);
	return 0;
}
