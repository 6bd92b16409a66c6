/* links: cmd/trdecode */
/*
 * perf.c - any bytes as a perf.data, in the way of apitrace.c
 */
#define DECODER decoder_perf
#include "t/fuzz/apitrace.c"
