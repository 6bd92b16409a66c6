/* links: cmd/trdecode */
/*
 * ninja_log.c - any bytes as the log of ninja, in the way of apitrace.c
 */
#define DECODER decoder_ninja_log
#include "t/fuzz/apitrace.c"
