/*
 * condition_nodes.h - the tree of a condition: built by condition_parse.c, evaluated by condition.c
 */
#ifndef TR_TRSTAT_CONDITIONS_CONDITION_NODES_H
#define TR_TRSTAT_CONDITIONS_CONDITION_NODES_H

#include <regex.h>

#include "cmd/trstat/conditions/condition.h"

enum node_kind {
	NODE_OR,
	NODE_AND,
	NODE_NOT,
	NODE_COMPARE,
	NODE_IN,
	NODE_MATCH,
	NODE_HAS,
	NODE_TRUTH, /* an operand alone */
};

struct operand {
	bool literal, path; /* path: texts also compare by the part after their last '/' */
	size_t key;
	struct scalar value; /* of a literal */
	char *text;	     /* the text that value points to, or NULL */
};

struct condition_node {
	enum node_kind kind;
	struct condition_node *left, *right; /* OR, AND; NOT: left */
	struct operand operand;
	enum token_kind comparison;
	bool negated; /* MATCH */
	regex_t regex;
	bool has_regex;
	struct operand *others; /* right operands: COMPARE one, IN the literals */
	size_t count;
};

void condition_node_free(struct condition_node *n);

#endif
