/*
 * uftrace.h - the encoder of uftrace's own streams, for what makes such a stream
 */
#ifndef TR_TRENCODE_UFTRACE_UFTRACE_H
#define TR_TRENCODE_UFTRACE_UFTRACE_H

#include "cmd/trencode/encoder.h"

/* The rows come before the part "info" that says how their records are: of a machine of 64 bits,
 * little-endian. en: of encoder_uftrace, begun. */
void uftrace_info_later(struct encoding *en, uint64_t feat_mask);

#endif
