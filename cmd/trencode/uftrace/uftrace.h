/*
 * uftrace.h - the encoder of uftrace's own streams, for convert.c, which makes such a stream
 */
#ifndef TR_TRENCODE_UFTRACE_UFTRACE_H
#define TR_TRENCODE_UFTRACE_UFTRACE_H

#include "cmd/trencode/encoder.h"

/* Declare that rows precede the part "info": the records are of a 64-bit, little-endian machine.
 * en: begun by encoder_uftrace. */
void uftrace_info_later(struct encoding *en, uint64_t feat_mask);

#endif
