/*
 * part.h - consecutive segments of a stream, as a summary lists them
 *
 * Each segment begins with the calls that are open, so its finished rows are in the groups. A part
 * has what is decided when parts are joined: the calls open at its end, and the pairs that it does
 * not decide.
 */
#ifndef TR_TRSTAT_SUMMARY_PART_H
#define TR_TRSTAT_SUMMARY_PART_H

#include "cmd/trstat/groups/statistics.h"
#include "cmd/trstat/views/slowest.h"

/*
 * What closing the calls open at the end of a part adds, where that is the end of the trace. Their
 * groups have the number as CELL_TAIL.
 */
struct part_tail {
	uint32_t number; /* 0: none */
	uint64_t unfinished, ignored_kernel;
	struct slow_list slowest;
};

struct part {
	uint64_t stream_id;
	uint32_t first, last; /* sequence numbers of its first and last segment */
	bool ends;	      /* the last segment is the stream's last one */
	const char *file;     /* file that it was read from, for messages */
	/* programs that the stream went through, separated by " | "; or NULL */
	char *stages;
	struct part_tail tail;
	struct pair_edges *edges; /* NULL without --pair */
};

struct parts {
	struct part *part;
	size_t count, capacity;
	uint32_t tails; /* numbers given to tails so far */
};

void parts_free(struct parts *ps);
/* Add an empty part; NULL when out of memory. */
struct part *parts_add(struct parts *ps);
/* Free the parts from that index on. */
void parts_truncate(struct parts *ps, size_t count);

/*
 * Sort the parts by stream and position, and drop the tails of those that are not the last of their
 * stream. Returns -1 with e filled if a segment occurs twice.
 */
int parts_sort(struct parts *ps, struct error *e);

/* Make each consecutive run of segments one part, and count the pairs that this decides in s. The
 * parts are sorted. Returns -1 when out of memory, or (EOVERFLOW) if their numbers are impossible.
 */
int parts_join(struct parts *ps, struct statistics *s);

/* Count the pairs of all parts, each stream whole, in s. The parts are sorted. */
int parts_count_pairs(struct parts *ps, struct statistics *s);

#endif
