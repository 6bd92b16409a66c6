/*
 * perf_records.h - the records of a perf.data, in the order of their times
 */
#ifndef TR_TRDECODE_PERF_RECORDS_H
#define TR_TRDECODE_PERF_RECORDS_H

#include <stdbool.h>

#include "cmd/trdecode/decoder.h"
#include "common/util/buffer.h"

/*
 * Puts the records of several CPUs in the order of their times.
 *
 * perf writes what it finds in the buffers of all CPUs, one after another, and then a record
 * FINISHED_ROUND. A record of a later round is not before the last one of the round before this
 * round. So at the end of a round, all records up to the last time of the round before are in
 * order. The queue has the records of two rounds. In each round the records of a CPU are a run in
 * the order of their times; runs are merged. Records with equal times stay in the order of the
 * file.
 *
 * What exceeds PERF_QUEUE_MEMORY is kept in a temporary file (buffer.h). A round that exceeds
 * PERF_ROUND_MOST is ended early.
 */

/* Records in the order of their times: the next one, and the end. */
struct perf_run {
	unsigned round;	  /* index in rounds */
	size_t next, end; /* indexes in the round's records */
	uint64_t time;	  /* of the next record */
	uint64_t number;  /* runs begin in this order */
};

struct perf_queue {
	struct {
		struct buffer bytes;
		struct buffer records; /* struct perf_queued */
	} rounds[2];
	unsigned present;      /* index of the round that is added to */
	struct perf_run *runs; /* a heap, the earliest next time on top */
	size_t nruns, runs_capacity;
	struct perf_run open; /* the run that is added to, not in the heap; end 0: none */
	uint64_t open_last;   /* time of its last record */
	uint64_t begun;	      /* runs so far */
	uint64_t highest;     /* latest time of all records */
	uint64_t before;      /* highest at the end of the round before */
	bool ending;	      /* records up to `limit` are to be taken before others are added */
	uint64_t limit;
	bool has_rounds; /* a FINISHED_ROUND was read */
	bool sorted;	 /* no rounds, and all records so far were one run */
};

/*
 * The records of a perf.data, read forward; packed ones are unpacked.
 *
 * Damage is reported. After it the reader goes on at the next place that looks like records.
 */

struct perf;
struct perf_record;

struct perf_records {
	struct input *input;
	const char *name;
	char *own_name; /* NULL: the name is the caller's */
	bool big_endian;
	int fd;
	bool seeks;	      /* the file is read at offsets, else from where fd is */
	uint64_t base;	      /* bytes of fd before the file */
	uint64_t offset, end; /* of data[begin]; of the last record, UINT64_MAX: not known */
	uint8_t *data;
	size_t begin, filled, capacity;
	bool eof;
	bool ended;    /* there are no more records */
	uint64_t time; /* the caller's: of the last record that has one */
	/* records in COMPRESSED ones: they continue in the next one */
	struct {
		struct ZSTD_DCtx_s *zstd; /* made when first needed */
		struct buffer packed;	  /* content of the present record */
		size_t packed_at;
		struct buffer out; /* unpacked bytes; those before out_at were returned */
		size_t out_at;
		uint64_t offset; /* of the present record in the file */
		bool refused;	 /* damaged: what follows cannot be unpacked */
	} unpacker;
	uint64_t aux_bytes; /* bytes after AUXTRACE records, which were skipped */
};

/*
 * The records of all files of a recording.
 *
 * perf record --threads and --kcore write a directory, whose file `data` is a perf.data. With
 * --threads the records of the kernel are in data.0, data.1 and so on, without a header and without
 * FINISHED_ROUND; each file has the records of one or more CPUs. Source of the facts: perf's
 * documentation of the directory format, and recordings of perf 6.1.
 */

/* Get the next record: that of the file whose last record is the earliest. Returns 1; 0 at the end
 * of all; -1 with *e filled. */
int perf_files_next(struct perf *p, struct perf_record *r, struct error *e);

#endif
