/*
 * json_tree.h - a JSON text as a tree of nodes
 *
 * Functions that return false have filled *error.
 */
#ifndef TR_TRDECODE_CTF_JSON_TREE_H
#define TR_TRDECODE_CTF_JSON_TREE_H

#include "common/value/json_reader.h"
#include "cmd/trdecode/ctf/metadata.h"

/* Most nodes of one text. */
enum { JSON_NODES = 1 << 20 };

/* A value of a JSON text. */
struct json_node {
	enum json_token kind; /* OBJECT, ARRAY, STRING, NUMBER, TRUE, FALSE or NULL */
	uint32_t line;
	const char *key;  /* of a member of an object; else NULL */
	const char *text; /* of STRING and NUMBER */
	struct json_node *first, *next;
};

/* The texts of a file that are read one after the other. */
struct json_source {
	const char *file; /* name in messages */
	uint32_t line;	  /* line of the next text */
	struct error *error;
	struct json_reader reader;
	struct ctf_metadata nodes; /* owns the nodes of the current text */
};

/* Read n bytes as one JSON text. *root is valid until the next call; NULL: only white space. */
bool json_tree_read(struct json_source *s, const char *text, size_t n, struct json_node **root);
void json_tree_free(struct json_source *s);

/* Find a member of an object; NULL: none, or no object. */
const struct json_node *json_find(const struct json_node *object, const char *key);
/* Return the text of a string; NULL: another kind. node may be NULL. */
const char *json_text(const struct json_node *node);
/* Read an integer with its sign. Numbers out of range become the nearest one of 64 bits. */
bool json_integer(const struct json_node *node, uint64_t *magnitude, bool *negative);

#endif
