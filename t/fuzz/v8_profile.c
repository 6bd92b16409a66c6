/* links: cmd/trdecode */
/*
 * v8_profile.c - any bytes as a profile of V8, in the way of apitrace.c
 */
#define DECODER decoder_cpuprofile
#include "t/fuzz/apitrace.c"
