/* links: cmd/trdecode */
/*
 * pstats.c - any bytes as a profile of Python or a table of pstats, in the way of apitrace.c
 */
#define DECODER decoder_pstats
#include "t/fuzz/apitrace.c"
