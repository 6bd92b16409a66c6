/* links: cmd/trdecode */
/*
 * rows_in.c - any bytes as JSON lines, csv, tsv or Arrow, in the way of apitrace.c. The first byte
 * chooses the format and --sort; the text after it, up to a NUL, is --map
 */
#define DECODER		       (*rows_decoder)
#define FORMAT		       rows_decoder->name
#define MAP		       rows_map
#define SORT		       rows_sort
#define LLVMFuzzerTestOneInput fuzz_trace
#include "cmd/trdecode/formats.h"

static const struct decoder *rows_decoder;
static const char *rows_map;
static bool rows_sort;

#include "t/fuzz/apitrace.c"
#include "cmd/trdecode/sorter.h"
#undef LLVMFuzzerTestOneInput

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct decoder *const formats[] = {&decoder_ndjson, &decoder_csv,
							&decoder_tsv};
	const uint8_t *zero = size ? memchr(data + 1, 0, size - 1) : NULL;

	if (!zero || zero == data)
		return 0;
	sorter_memory = 4096;
	rows_decoder = *data & 128 ? &decoder_arrow : formats[*data % 3];
	rows_sort = *data & 64;
	rows_map = zero > data + 1 ? (const char *)data + 1 : NULL;
	size -= (size_t)(zero + 1 - data);
	/* the first bytes have no meaning of their own */
	output_limit_to(2ull * OUTPUT_UNPACKED, true);
	decode(zero + 1, size, NULL, 0);
	output_limit_end();
	return 0;
}
