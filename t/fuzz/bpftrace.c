/* links: cmd/trdecode */
/*
 * bpftrace.c - any bytes as the output of bpftrace or bcc, in the way of apitrace.c
 */
#define DECODER decoder_bpftrace
#include "t/fuzz/apitrace.c"
