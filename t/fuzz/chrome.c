/* links: cmd/trdecode */
/*
 * chrome.c - any bytes as a trace of Chrome, in the way of apitrace.c
 */
#define DECODER decoder_chrome
#include "t/fuzz/apitrace.c"
