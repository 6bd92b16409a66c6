/* links: cmd/trdecode */
/*
 * speedscope.c - any bytes as a file of speedscope, in the way of apitrace.c
 */
#define DECODER decoder_speedscope
#include "t/fuzz/apitrace.c"
