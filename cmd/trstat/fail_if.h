/*
 * fail_if.h - --fail-if 'p99(name == "commit") > 5ms': conditions that give exit status 3
 *
 *     alarm = column [ "(" condition ")" ] comparison number
 *
 * The column (columns.h) is that of all groups together for which the condition (condition.h)
 * holds; without one, of everything. Where the table's own groups tell the keys of the condition
 * they are asked, else events are grouped by these keys a second time.
 */
#ifndef TR_TRSTAT_FAIL_IF_H
#define TR_TRSTAT_FAIL_IF_H

#include "cmd/trstat/conditions/condition.h"
#include "cmd/trstat/query.h"
#include "cmd/trstat/groups/statistics.h"

struct alarm {
	const char *text; /* as the user wrote it */
	char *column_name;
	struct condition condition;
	enum token_kind comparison;
	struct scalar limit;
	bool time_unit; /* the number has one */
	/* by key of the condition: which of the groups' keys it is */
	size_t *key;
	size_t column;
	/* where the table's groups do not tell */
	bool own;
	struct columns columns;
	struct pair pair;
	struct statistics *statistics;
};

struct alarms {
	struct alarm *alarm;
	size_t count;
};

/* -1 with e; alarms_free in any case. text must stay. */
int alarms_add(struct alarms *a, const char *text, struct error *e);
void alarms_free(struct alarms *a);

/* Before the first event: find the alarms' columns and keys in the query, or groups of their own.
 * Adds columns to the query, which are not printed. */
int alarms_begin(struct alarms *a, struct query *q, struct dictionary *d, struct error *e);
/* -1 with e if one has groups of its own, where there are no events to count. */
int alarms_check_told(const struct alarms *a, struct error *e);
int alarms_block(struct alarms *a, const struct block *b);
/* As the functions of statistics.h. */
int alarms_show(struct alarms *a);
int alarms_until(struct alarms *a, const struct block *b, struct events it, uint64_t end);
int alarms_reset(struct alarms *a);
int alarms_finish(struct alarms *a);

/* -1 with e if one means nothing for a clock that counts ticks, or for one beside others. */
int alarms_check_ticks(const struct alarms *a, const struct clocks *clocks, struct error *e);

/*
 * Which of them hold, in an interval or (NULL) in all? 1: some do, 0: none, -1: out of memory.
 * Those that do are said on stderr unless quiet.
 */
int alarms_judge(const struct alarms *a, const struct query *q, const struct statistics *st,
		 const struct interval *interval, bool quiet);

#endif
