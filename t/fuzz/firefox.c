/* links: cmd/trdecode */
/*
 * firefox.c - any bytes as a profile of the Firefox Profiler, in the way of apitrace.c
 */
#define DECODER decoder_firefox
#include "t/fuzz/apitrace.c"
