/* links: cmd/trdecode */
/*
 * ctf.c - any files as a CTF trace, in the way of uftrace.c
 */
#define DECODER decoder_ctf
#include "t/fuzz/uftrace.c"
