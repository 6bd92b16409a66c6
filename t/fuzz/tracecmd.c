/* links: cmd/trdecode */
/*
 * tracecmd.c - any bytes as a trace.dat: decoded, and the stream that comes of it read again, which
 * must be without a fault and hold as many rows as its END counts
 */
#include "cmd/trdecode/formats.h"
#include "cmd/trdecode/input.h"
#include "t/fuzz/decoded.h"

enum { HEAD = 512 };

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
			   .faults.nkinds = FAULT_KINDS}; /* nothing on standard error */
	unsigned choice = size ? data[size - 1] : 0;
	struct error e = {.what = ""};
	uint8_t head[HEAD];
	int out = memory_file("", 0);

	in.fd = memory_file(data, size);
	in.head_size = (size_t)read(in.fd, head, sizeof(head));
	in.head = head;
	in.shift = choice & 1 ? -1000000000 : 0;
	d.clock = choice & 2 ? CLOCK_RAW : CLOCK_DEFAULT;
	need(!writer_init(&writer, &none, choice & 4 ? SEGMENT : 0), "out of memory");
	if (in.decoder->probe(&in) && !in.decoder->open(&in, &e)) {
		print_facts(&in);
		output_limit(size);
		decode(&in, &writer, out, choice & 4);
		output_limit_end();
	}
	if (in.state)
		in.decoder->close(&in);
	writer_free(&writer);
	close(in.fd);
	close(out);
	return 0;
}
