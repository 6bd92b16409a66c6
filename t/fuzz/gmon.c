/* links: cmd/trdecode */
/*
 * gmon.c - any bytes as a gmon.out, in the way of apitrace.c
 */
#define DECODER decoder_gmon
#include "t/fuzz/apitrace.c"
