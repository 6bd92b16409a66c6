/*
 * condition.h - a condition on keys: of a group (--fail-if) or of an event (--pair)
 *
 * The language is that of common/expr/expression.h without under() and over(). A field is any key
 * of keys.h that is a name. A comparison with a key that a group or an event has no cell of is
 * false.
 */
#ifndef TR_PAIRS_CONDITION_H
#define TR_PAIRS_CONDITION_H

#include "common/expr/expression.h"
#include "common/pairs/keys.h"

struct condition {
	struct keys keys;  /* the keys of the condition, each once */
	struct node *root; /* NULL: always true */
};

/*
 * Parse a condition; the lexer has read its first token. Returns 0, or -1 with l->error filled. The
 * caller calls condition_free in either case.
 */
int condition_parse(struct condition *c, struct lexer *l);
/* Parse a text that is a condition. */
int condition_parse_text(struct condition *c, const char *text, struct error *e);
void condition_free(struct condition *c);

/* Returns the words of a key, for struct operand; NULL: any text. */
const char *const *condition_words(const struct key *k);

/* Refuse a condition that compares times of clocks in ns with an integer without a unit, or of
 * clocks that count ticks with one in a unit. Durations that are weights of samples, or fields of
 * events, are numbers. weights: those of a clock of ticks are times. Returns 0, or -1 with e
 * filled. */
int condition_check_clocks(const struct condition *c, const char *option,
			   const struct clocks *clocks, bool weights, struct error *e);

/* Returns the value of a cell as conditions have it; NONE: the cell is empty. path: a text is the
 * path of a file. */
struct scalar condition_scalar(const struct key_texts *g, const struct key_cell *cell, bool path);

/* Returns the cell of the key with that index in c->keys; texts of cells are in g. */
typedef const struct key_cell *condition_cell(void *ctx, size_t key);

bool condition_holds(const struct condition *c, const struct key_texts *g, condition_cell *cell,
		     void *ctx);

#endif
