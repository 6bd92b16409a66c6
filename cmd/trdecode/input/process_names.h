/*
 * process_names.h - writes the names of processes as a META part (common/formats/process_names.h)
 */
#ifndef TR_TRDECODE_INPUT_PROCESS_NAMES_H
#define TR_TRDECODE_INPUT_PROCESS_NAMES_H

#include "common/stream/writer.h"
#include "common/util/intern.h"

/* Write the part of a source, unless there are no names. names: by pid, an int32_t, strings of the
 * writer; 0 none. Returns 0, or -1 when out of memory or with the writer's error. */
int process_names_write(struct writer *w, uint32_t source, const struct id_cache *names);

#endif
