/* links: cmd/trdecode */
/*
 * glprofile.c - any bytes as the profile of a replay, in the way of apitrace.c
 */
#define DECODER decoder_glprofile
#include "t/fuzz/apitrace.c"
