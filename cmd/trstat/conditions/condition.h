/*
 * condition.h - a condition on keys: of a group (--fail-if) or of an event (--pair)
 *
 *     condition  = and { "||" and }
 *     and        = not { "&&" not }
 *     not        = "!" not | "(" condition ")" | "has" "(" key ")"
 *                | operand [ comparison operand | ("=~" | "!~") string | "in" "{" literals "}" ]
 *     operand    = key | "field" "(" string ")" | number | string
 *
 * The language is trfilter's (tokens: common/expr/lexer.h), without under() and over(). A key is
 * any key of keys.h that is a name. A comparison with a key that a group or an event has no cell of
 * is false.
 */
#ifndef TR_TRSTAT_CONDITIONS_CONDITION_H
#define TR_TRSTAT_CONDITIONS_CONDITION_H

#include "common/expr/lexer.h"
#include "cmd/trstat/groups/keys.h"

struct condition_node;

struct condition {
	struct keys keys;	     /* the keys of the condition, each once */
	struct condition_node *root; /* NULL: always true */
	bool time_unit;		     /* some constant is a time with a unit */
};

/*
 * Parse a condition; the lexer has read its first token. Returns 0, or -1 with l->error filled. The
 * caller calls condition_free in either case.
 */
int condition_parse(struct condition *c, struct lexer *l);
void condition_free(struct condition *c);

/* Returns the cell of the key with that index in c->keys; texts of cells are in the groups g. */
typedef const struct key_cell *condition_cell(void *ctx, size_t key);

bool condition_holds(const struct condition *c, const struct groups *g, condition_cell *cell,
		     void *ctx);

#endif
