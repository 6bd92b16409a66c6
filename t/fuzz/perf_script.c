/* links: cmd/trdecode */
/*
 * perf_script.c - any bytes as the text of perf script, in the way of apitrace.c
 */
#define DECODER decoder_perf_script
#include "t/fuzz/apitrace.c"
