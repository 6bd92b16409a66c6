/* links: cmd/trdecode */
/*
 * strace.c - any bytes as the text of strace, ltrace or perf trace, in the way of apitrace.c
 */
#define DECODER decoder_strace
#include "t/fuzz/apitrace.c"
