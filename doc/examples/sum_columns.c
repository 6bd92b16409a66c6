/*
 * sum_columns.c - prints the number of calls of each function, and their self time, from columns
 *
 *     cc sum_columns.c $(pkg-config --cflags --libs libtrstream) -o sum_columns
 *     trdecode uftrace.data | trsym | ./sum_columns +1s +2s
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <trstream.h>

#define TEXTS (1 << 20) /* names with higher numbers are not counted here */

int main(int argc, char **argv)
{
	static struct {
		uint64_t calls, self;
	} sums[TEXTS];
	const char *columns[] = {"name", "self"};
	struct trstream_query q = {.table = TRSTREAM_CALLS, .columns = columns, .ncolumns = 2};
	struct trstream_reader *r = trstream_reader_open("-");
	struct trstream_totals totals;
	struct trstream_batch *b;
	size_t size;
	int got;

	q.since = argc > 1 ? argv[1] : NULL;
	q.until = argc > 2 ? argv[2] : NULL;
	if (!r)
		return perror("sum_columns"), 2;
	if (trstream_reader_select(r, &q))
		return fprintf(stderr, "sum_columns: %s\n", trstream_reader_error(r)), 2;
	while ((got = trstream_reader_next_batch(r, &b))) {
		if (got < 0) {
			fprintf(stderr, "sum_columns: %s\n", trstream_reader_error(r));
			continue; /* after the damage */
		}
		const uint32_t *name = b->columns[0].values;
		const int64_t *self = b->columns[1].values;

		for (size_t i = 0; i < b->rows; i++)
			if (name[i] < TEXTS) {
				sums[name[i]].calls++;
				sums[name[i]].self += (uint64_t)self[i];
			}
		trstream_batch_free(b);
	}
	for (uint32_t i = 0; i < TEXTS; i++)
		if (sums[i].calls)
			printf("%" PRIu64 "\t%" PRIu64 "\t%s\n", sums[i].calls, sums[i].self,
			       trstream_reader_text(r, i, &size));
	trstream_reader_totals(r, &totals);
	trstream_reader_close(r);
	return totals.status;
}
