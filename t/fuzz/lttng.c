/* links: cmd/trdecode */
/*
 * lttng.c - any files as an LTTng trace, in the way of uftrace.c
 */
#define DECODER decoder_lttng
#include "t/fuzz/uftrace.c"
