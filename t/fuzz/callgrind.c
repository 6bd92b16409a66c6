/* links: cmd/trdecode */
/*
 * callgrind.c - any bytes as a profile of callgrind, in the way of apitrace.c
 */
#define DECODER decoder_callgrind
#include "t/fuzz/apitrace.c"
