/*
 * deferred.h - holds samples back until the kernel has recorded the rest of their call chains
 *
 * If an event asks for it (PERF_FLAG_DEFER_CALLCHAIN), the chain of a sample has no addresses of
 * the program. It ends with PERF_CONTEXT_USER_DEFERRED and a cookie. When the thread returns to the
 * program, the kernel writes a record CALLCHAIN_DEFERRED with the cookie and these addresses. All
 * samples that the thread took since it had entered the kernel have the same cookie.
 *
 * Records are added in the order of their times and taken in this order. A sample that waits holds
 * back all records after it. A sample does not wait any longer if its thread has another chain,
 * ends, or runs another program; and if the records that are held back exceed a limit:
 * DEFERRED_MOST samples, DEFERRED_BYTES, or, where the input is read as it is recorded, a time.
 * Then the sample has the chain that it has. What exceeds memory is kept in a temporary file
 * (buffer_file.h).
 *
 * Functions return 0, or -1 when out of memory.
 */
#ifndef TR_TRDECODE_PERF_DEFERRED_H
#define TR_TRDECODE_PERF_DEFERRED_H

#include "common/util/buffer.h"

struct perf_record;

enum {
	DEFERRED_MOST = 1 << 14,    /* samples that wait */
	DEFERRED_BYTES = 64 << 20,  /* of all records that are held back */
	DEFERRED_SLOTS = 1 << 10,   /* of the hash table of threads */
	DEFERRED_LIVE = 1000000000, /* ns of the trace, for an input that is no file */
};

/* What a sample waits for. */
struct perf_deferral {
	uint64_t cookie;
	int32_t tid; /* -1: not recorded */
};

struct perf_deferred {
	bool used;			/* an event asks for deferred chains */
	struct buffer bytes;		/* of records and chains, from `begin` on */
	struct buffer records;		/* struct deferred_record, from `first` on */
	uint64_t dropped;		/* bytes before those in `bytes` */
	uint64_t first, end;		/* numbers of the records that are held back */
	uint64_t waiting;		/* samples */
	uint64_t longest;		/* ns that a sample waits; UINT64_MAX: as long as needed */
	uint64_t latest;		/* time of the last record */
	uint64_t last[DEFERRED_SLOTS];	/* by thread: number of the last sample that waits, + 1 */
	uint64_t incomplete, unmatched; /* samples without the rest; chains without a sample */
};

/* Add a record. d: what it waits for; NULL: nothing. */
int perf_deferred_add(struct perf_deferred *q, const struct perf_record *r,
		      const struct perf_deferral *d);
/* Give n addresses of 8 bytes each to the samples that wait for them. */
int perf_deferred_join(struct perf_deferred *q, const struct perf_deferral *d,
		       const uint8_t *addresses, uint64_t n);
/* Have the samples of a thread wait no longer. */
void perf_deferred_give_up(struct perf_deferred *q, int32_t tid);
/* Get the first record without taking it, with the addresses that it waited for. ending: no
 * sample waits any longer. Returns false if there is none. Its bytes are valid until records are
 * added. */
bool perf_deferred_peek(struct perf_deferred *q, struct perf_record *r, bool ending);
void perf_deferred_take(struct perf_deferred *q);
void perf_deferred_free(struct perf_deferred *q);

#endif
