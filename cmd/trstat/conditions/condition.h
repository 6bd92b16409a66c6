/*
 * condition.h - a condition on keys: of a group (--fail-if) or of an event (--pair)
 *
 *     condition  = and { "||" and }
 *     and        = not { "&&" not }
 *     not        = "!" not | "(" condition ")" | "has" "(" key ")"
 *                | operand [ comparison operand | ("=~" | "!~") string | "in" "{" literals "}" ]
 *     operand    = key | "field" "(" string ")" | number | string
 *
 * The language is trfilter's (common/lexer.h has its words), without under() and over(); a key is
 * any of keys.h that is a name. What a group or an event has no cell of makes the comparison false.
 */
#ifndef TR_TRSTAT_CONDITIONS_CONDITION_H
#define TR_TRSTAT_CONDITIONS_CONDITION_H

#include "common/expr/lexer.h"
#include "cmd/trstat/groups/keys.h"

struct condition_node;

struct condition {
	struct keys keys;	     /* those it asks for, each once */
	struct condition_node *root; /* NULL: always holds */
	bool time_unit;		     /* it names a time with a unit */
};

/*
 * Parse from the lexer, which has its first token, as far as the condition goes. -1 with
 * l->error; condition_free in any case.
 */
int condition_parse(struct condition *c, struct lexer *l);
void condition_free(struct condition *c);

/* The cell of a key, by its index in c->keys; its texts are in the groups g. */
typedef const struct key_cell *condition_cell(void *ctx, size_t key);

bool condition_holds(const struct condition *c, const struct groups *g, condition_cell *cell,
		     void *ctx);

#endif
