/* links: cmd/trdecode */
/*
 * pprof.c - any bytes as a profile of pprof, in the way of apitrace.c
 */
#define DECODER decoder_pprof
#include "t/fuzz/apitrace.c"
