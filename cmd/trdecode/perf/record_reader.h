/*
 * record_reader.h - the records of a perf.data, read forward; packed ones are unpacked
 *
 * Damage is reported. After it the reader goes on at the next place that looks like records.
 */
#ifndef TR_TRDECODE_PERF_RECORD_READER_H
#define TR_TRDECODE_PERF_RECORD_READER_H

#include "common/util/buffer.h"
#include "cmd/trdecode/decoder.h"

struct perf_record;

/* Records in COMPRESSED ones: they continue in the next one. */
struct perf_unpacker {
	struct ZSTD_DCtx_s *zstd; /* made when first needed */
	struct buffer packed;	  /* content of the present record */
	size_t packed_at;
	struct buffer out; /* unpacked bytes; those before out_at were returned */
	size_t out_at;
	uint64_t offset; /* of the present record in the file */
	bool refused;	 /* damaged: what follows cannot be unpacked */
};

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
	bool ended;    /* of record_files.h: no more records */
	uint64_t time; /* the caller's: of the last record that has one */
	struct perf_unpacker unpacker;
	uint64_t aux_bytes; /* bytes after AUXTRACE records, which were skipped */
};

/* Begin at an offset of a file that can be read anywhere, and begins at base of fd. */
void perf_records_seek(struct perf_records *s, int fd, uint64_t base, uint64_t offset,
		       uint64_t end);
/* Begin with the n bytes that were already read from fd. */
int perf_records_pipe(struct perf_records *s, int fd, const uint8_t *head, size_t n);
void perf_records_free(struct perf_records *s);

/* Get the next record; its data are valid until the next call. Returns 1; 0 at the end; -1 with *e
 * filled. */
int perf_records_next(struct perf_records *s, struct perf_record *r, struct error *e);
/* Have the next call return the record that the last call returned. */
void perf_records_back(struct perf_records *s, const struct perf_record *r);

#endif
