#include "cmd/trdecode/perf/deferred.h"

#include "cmd/trdecode/perf/perf.h"
#include "common/util/buffer_file.h"

/* A record that is held back. */
struct deferred_record {
	uint64_t time, offset; /* as of perf_record */
	uint64_t at, chain; /* of its bytes, of the addresses; counted from the first byte ever */
	uint64_t earlier;   /* number + 1 of the sample before it in the slot of its thread */
	struct perf_deferral d; /* of a sample that waits */
	uint32_t size, nchain, type;
	uint16_t misc;
	bool waits;
};

static size_t kept_records(const struct perf_deferred *q)
{
	return q->records.size / sizeof(struct deferred_record);
}

static struct deferred_record *record_at(const struct perf_deferred *q, uint64_t number)
{
	struct deferred_record *all = (void *)q->records.data;

	return &all[number - (q->end - kept_records(q))];
}

static const uint8_t *bytes_at(const struct perf_deferred *q, uint64_t at)
{
	return q->bytes.data + (at - q->dropped);
}

static uint64_t *slot_of(struct perf_deferred *q, int32_t tid)
{
	return &q->last[hash_u64((uint32_t)tid) % DEFERRED_SLOTS];
}

static int put_bytes(struct perf_deferred *q, const uint8_t *data, size_t n, uint64_t *at)
{
	q->bytes.spills = true;
	*at = q->dropped + q->bytes.size;
	return buffer_append(&q->bytes, data, n) || buffer_align(&q->bytes, 8) ? -1 : 0;
}

int perf_deferred_add(struct perf_deferred *q, const struct perf_record *r,
		      const struct perf_deferral *d)
{
	struct deferred_record record = {.time = r->time,
					 .offset = r->offset,
					 .size = r->size,
					 .type = r->type,
					 .misc = r->misc};

	q->records.spills = true;
	if (d) {
		record.d = *d;
		record.waits = true;
		record.earlier = *slot_of(q, d->tid);
	}
	if (put_bytes(q, r->data, r->size, &record.at) ||
	    buffer_append(&q->records, &record, sizeof record))
		return -1;
	q->latest = r->time;
	q->end++;
	if (d) {
		*slot_of(q, d->tid) = q->end;
		q->waiting++;
	}
	return 0;
}

static void end_wait(struct perf_deferred *q, struct deferred_record *record)
{
	record->waits = false;
	q->waiting--;
	q->incomplete += !record->chain;
}

int perf_deferred_join(struct perf_deferred *q, const struct perf_deferral *d,
		       const uint8_t *addresses, uint64_t n)
{
	uint64_t *link = slot_of(q, d->tid), chain = 0;

	/* those before the first have waited too long */
	while (*link > q->first) {
		struct deferred_record *record = record_at(q, *link - 1);
		bool same = record->d.cookie == d->cookie;

		if (record->d.tid != d->tid || (!same && d->tid == -1)) {
			link = &record->earlier;
			continue;
		}
		*link = record->earlier;
		if (same && !chain && put_bytes(q, addresses, 8 * n, &chain))
			return -1;
		if (same) {
			record->chain = chain;
			record->nchain = (uint32_t)n;
		}
		/* the chains of a thread are in the order of its samples */
		end_wait(q, record);
	}
	*link = 0;
	q->unmatched += !chain;
	return 0;
}

void perf_deferred_give_up(struct perf_deferred *q, int32_t tid)
{
	uint64_t *link = slot_of(q, tid);

	while (*link > q->first) {
		struct deferred_record *record = record_at(q, *link - 1);

		if (record->d.tid != tid) {
			link = &record->earlier;
			continue;
		}
		*link = record->earlier;
		end_wait(q, record);
	}
	*link = 0;
}

static bool waits_too_long(const struct perf_deferred *q, const struct deferred_record *record)
{
	size_t bytes = (size_t)(q->dropped + q->bytes.size - record->at) +
		       (size_t)(q->end - q->first) * sizeof *record;

	return q->waiting > DEFERRED_MOST || bytes > DEFERRED_BYTES ||
	       (q->latest > record->time && q->latest - record->time > q->longest);
}

bool perf_deferred_peek(struct perf_deferred *q, struct perf_record *r, bool ending)
{
	struct deferred_record *record;

	if (q->first == q->end)
		return false;
	record = record_at(q, q->first);
	if (record->waits) {
		if (!ending && !waits_too_long(q, record))
			return false;
		end_wait(q, record);
	}
	*r = (struct perf_record){.data = bytes_at(q, record->at),
				  .time = record->time,
				  .offset = record->offset,
				  .type = record->type,
				  .size = record->size,
				  .misc = record->misc,
				  .user_chain = record->chain ? bytes_at(q, record->chain) : NULL,
				  .nuser_chain = record->nchain};
	return true;
}

/* Remove the part of a buffer before byte n, if it is the larger part. Returns whether it did. */
static bool drop_front(struct buffer *b, size_t n)
{
	if (n < BUFFER_PIECE || n < b->size - n)
		return false;
	memmove(b->data, b->data + n, b->size - n);
	b->size -= n;
	buffer_rest(b);
	return true;
}

void perf_deferred_take(struct perf_deferred *q)
{
	size_t had = (size_t)(record_at(q, q->first)->at - q->dropped), taken, bytes;

	if (++q->first == q->end) {
		q->dropped += q->bytes.size;
		buffer_clear(&q->bytes);
		buffer_clear(&q->records);
		return;
	}
	bytes = (size_t)(record_at(q, q->first)->at - q->dropped);
	if (had / BUFFER_PIECE != bytes / BUFFER_PIECE) {
		buffer_rest(&q->bytes);
		buffer_rest(&q->records);
	}
	if (drop_front(&q->bytes, bytes))
		q->dropped += bytes;
	taken = (size_t)(kept_records(q) - (q->end - q->first)) * sizeof(struct deferred_record);
	drop_front(&q->records, taken);
}

void perf_deferred_free(struct perf_deferred *q)
{
	buffer_free(&q->bytes);
	buffer_free(&q->records);
}
