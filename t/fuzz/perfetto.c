/* links: cmd/trdecode */
/*
 * perfetto.c - any bytes as a trace of Perfetto, in the way of apitrace.c
 */
#define DECODER decoder_perfetto
#include "t/fuzz/apitrace.c"
