/* links: cmd/trdecode */
/*
 * services.c - any bytes as spans of OTLP, Jaeger or Zipkin, in the way of apitrace.c. The first
 * byte chooses the format
 */
#define DECODER		       (*services_decoder)
#define LLVMFuzzerTestOneInput fuzz_trace
#include "cmd/trdecode/formats.h"

static const struct decoder *services_decoder;

#include "t/fuzz/apitrace.c"
#include "cmd/trdecode/sorter.h"
#undef LLVMFuzzerTestOneInput

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct decoder *const formats[] = {&decoder_otlp, &decoder_jaeger,
							&decoder_zipkin};

	if (!size)
		return 0;
	sorter_memory = 4096;
	services_decoder = formats[*data % 3];
	/* the first bytes have no meaning of their own */
	output_limit_to(2ull * OUTPUT_UNPACKED, true);
	decode(data + 1, size - 1, NULL, 0);
	output_limit_end();
	return 0;
}
