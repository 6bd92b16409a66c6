/*
 * frame_name.h - the names of frames in the text of perf script, by the rules of
 * stackcollapse-perf.pl
 */
#ifndef TR_TRDECODE_PERF_SCRIPT_FRAME_NAME_H
#define TR_TRDECODE_PERF_SCRIPT_FRAME_NAME_H

#include "cmd/trdecode/perf_script/sample_line.h"
#include "common/util/buffer.h"

/* Put the name of a function in *name: without parameters, or the name of its file if perf did not
 * know it. java: of a thread of Java. Returns -1 when out of memory. */
int frame_name(struct buffer *name, struct span function, struct span file, bool java);
/* Is it the name of a process, "(java)", and no function? */
bool frame_is_process(struct span function);

#endif
