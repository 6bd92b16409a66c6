/*
 * formats.h - the table of the formats that trdecode reads
 *
 * A new format is one line: F(NAME) for the struct decoder decoder_NAME. The order has no effect on
 * decoding; it is that of lists.
 */
#ifndef TR_TRDECODE_FORMATS_H
#define TR_TRDECODE_FORMATS_H

#include "cmd/trdecode/decoder.h"

#define TRDECODE_FORMATS(F)                                                                        \
	F(uftrace)                                                                                 \
	F(tracecmd)                                                                                \
	F(apitrace)                                                                                \
	F(glprofile)                                                                               \
	F(lttng)                                                                                   \
	F(ctf)                                                                                     \
	F(chrome)                                                                                  \
	F(ftrace)                                                                                  \
	F(folded)                                                                                  \
	F(perf)                                                                                    \
	F(perf_script)                                                                             \
	F(perfetto)                                                                                \
	F(pprof)                                                                                   \
	F(ndjson)                                                                                  \
	F(csv)                                                                                     \
	F(tsv)                                                                                     \
	F(arrow)                                                                                   \
	F(cpuprofile)                                                                              \
	F(heapprofile)                                                                             \
	F(speedscope)                                                                              \
	F(firefox)                                                                                 \
	F(strace)                                                                                  \
	F(callgrind)                                                                               \
	F(gmon)                                                                                    \
	F(bpftrace)                                                                                \
	F(pstats)                                                                                  \
	F(ninja_log)                                                                               \
	F(otlp)                                                                                    \
	F(jaeger)                                                                                  \
	F(zipkin)                                                                                  \
	F(stream)

#define FORMAT_DECLARE(name) extern const struct decoder decoder_##name;
TRDECODE_FORMATS(FORMAT_DECLARE)
#undef FORMAT_DECLARE

#endif
