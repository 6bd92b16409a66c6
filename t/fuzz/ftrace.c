/* links: cmd/trdecode */
/*
 * ftrace.c - any bytes as kernel trace text, in the way of apitrace.c
 */
#define DECODER decoder_ftrace
#include "t/fuzz/apitrace.c"
