/*
 * declared_names.h - check the names in keys, conditions and pairs against what a stream declares
 *
 * Functions return 0, or -1 with *e naming what no event has (common/expr/declared.h).
 */
#ifndef TR_PAIRS_DECLARED_NAMES_H
#define TR_PAIRS_DECLARED_NAMES_H

#include "common/expr/declared.h"
#include "common/pairs/pair.h"

/* Returns what the stream lacks that the events of a pair are, as "no sched_wakeup and no
 * sched_switch"; NULL: the stream has declared both, or there is no memory. To be freed. */
char *pair_lacks(struct dictionary *d, const struct pair *p);

/* Returns what to write instead of a key of "on" that is no field of the event, although the event
 * has a field of that name, as "pid is the process that made the event; .pid is the field"; NULL:
 * there is none, or no memory. To be freed. */
char *pair_hint(const struct dictionary *d, const struct pair *p);

int condition_check_names(struct declared *check, const struct condition *c, struct error *e);
/* Check the field of a column, which may be a key. */
int key_check_name(const struct declared *check, const char *name, struct error *e);
int keys_check_names(const struct declared *check, const struct keys *k, struct error *e);
/* Check a pair that is no preset, whose keys have alternatives for several recorders. */
int pair_check_names(struct declared *check, const struct pair *p, struct error *e);

#endif
