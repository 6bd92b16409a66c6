/*
 * formats.h - the table of the formats that trencode writes
 *
 * A new format is one line: F(NAME) for the struct encoder encoder_NAME. The order is that of
 * lists.
 */
#ifndef TR_TRENCODE_FORMATS_H
#define TR_TRENCODE_FORMATS_H

#include "cmd/trencode/encoder.h"

#define TRENCODE_FORMATS(F)                                                                        \
	F(text)                                                                                    \
	F(uftrace)                                                                                 \
	F(apitrace)                                                                                \
	F(tracecmd)                                                                                \
	F(lttng)                                                                                   \
	F(folded)                                                                                  \
	F(svg)                                                                                     \
	F(dot)                                                                                     \
	F(mermaid)                                                                                 \
	F(chrome)                                                                                  \
	F(ndjson)                                                                                  \
	F(csv)                                                                                     \
	F(tsv)                                                                                     \
	F(ctf)                                                                                     \
	F(speedscope)                                                                              \
	F(callgrind)                                                                               \
	F(pprof)                                                                                   \
	F(perfetto)                                                                                \
	F(firefox)                                                                                 \
	F(parquet)                                                                                 \
	F(arrow)

#define FORMAT_DECLARE(name) extern const struct encoder encoder_##name;
TRENCODE_FORMATS(FORMAT_DECLARE)
#undef FORMAT_DECLARE

#endif
