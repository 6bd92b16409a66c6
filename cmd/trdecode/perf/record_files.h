/*
 * record_files.h - the records of all files of a recording
 *
 * perf record --threads and --kcore write a directory, whose file `data` is a perf.data. With
 * --threads the records of the kernel are in data.0, data.1 and so on, without a header and without
 * FINISHED_ROUND; each file has the records of one or more CPUs. Source of the facts: perf's
 * documentation of the directory format, and recordings of perf 6.1.
 */
#ifndef TR_TRDECODE_PERF_RECORD_FILES_H
#define TR_TRDECODE_PERF_RECORD_FILES_H

#include "cmd/trdecode/perf/record_reader.h"

/* The files, of which the first one is the perf.data itself. */
struct perf_files {
	struct perf_records *files;
	size_t count;
	struct perf_records *last; /* the file of the record that was read last */
};

/* Begin with the perf.data alone. Returns it, or NULL: out of memory. */
struct perf_records *perf_files_begin(struct perf_files *f);
/* Add data.0 and so on of the directory. A missing number is damage, and with `some` their lack,
 * too; how many there were is not recorded. Returns 0, or -1 with *e filled. */
int perf_files_add(struct perf_files *f, struct tree *t, bool some, struct error *e);
/* Get the next record: that of the file whose last record is the earliest. Returns 1; 0 at the end
 * of all; -1 with *e filled. */
int perf_files_next(struct perf_files *f, struct perf_record *r, struct error *e);
void perf_files_free(struct perf_files *f);

#endif
