/*
 * fragments.h - inside the reader of the metadata of CTF 2: the fragments (fragments.c) and the
 * field classes in them (field_classes.c, scalar_classes.c)
 *
 * Functions return false or NULL after a fault; *error then contains the message.
 */
#ifndef TR_TRDECODE_CTF_FRAGMENTS_H
#define TR_TRDECODE_CTF_FRAGMENTS_H

#include "cmd/trdecode/ctf/json_tree.h"
#include "cmd/trdecode/ctf/parser.h"

/* The state of reading one metadata stream. */
struct ctf_fragments {
	struct ctf_metadata *metadata;
	struct json_source source;
	const char *file;
	struct error *error; /* of the current fragment */
	int depth;	     /* of the field class that is read */
	bool preamble, trace;
};

/* Fill *error for a value, unless it is filled, and return false. */
bool ctf_fragment_wrong(struct ctf_fragments *f, const struct json_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Refuse a value that has extensions, and name the first one. */
bool ctf_no_extensions(struct ctf_fragments *f, const struct json_node *node);
/* Copy a text to the metadata. NULL: out of memory. */
const char *ctf_copy_text(struct ctf_fragments *f, const struct json_node *at, const char *text);
/* Copy a name of a member; see metadata.h about '_'. */
const char *ctf_copy_name(struct ctf_fragments *f, const struct json_node *at, const char *name);
/* Find the text of a member that must be there. */
const char *ctf_need_text(struct ctf_fragments *f, const struct json_node *object, const char *key);
/* Read a number of at least 0 into *n, which is left as it is if there is none. */
bool ctf_take_count(struct ctf_fragments *f, const struct json_node *object, const char *key,
		    uint64_t *n);
/* Read an alignment likewise. */
bool ctf_take_alignment(struct ctf_fragments *f, const struct json_node *object, const char *key,
			uint32_t *align);

/* Read the field class, or the name of an alias, that is a member of an object. */
struct ctf_type *ctf_field_class(struct ctf_fragments *f, const struct json_node *object,
				 const char *key);
struct ctf_type *ctf_new_class(struct ctf_fragments *f, const struct json_node *at,
			       enum ctf_kind kind);
/* Append ranges of integers to a list, clipped to the integers of the given signedness. name: their
 * label; NULL: none. */
bool ctf_take_ranges(struct ctf_fragments *f, const struct json_node *set, bool is_signed,
		     const char *name, struct ctf_label **list);

/* Read a field class of one kind; variant distinguishes the kinds that share a function. */
struct ctf_type *ctf_bits_class(struct ctf_fragments *f, const struct json_node *node, int variant);
struct ctf_type *ctf_varying_class(struct ctf_fragments *f, const struct json_node *node,
				   int is_signed);
struct ctf_type *ctf_string_class(struct ctf_fragments *f, const struct json_node *node, int dummy);
struct ctf_type *ctf_text_class(struct ctf_fragments *f, const struct json_node *node, int variant);
/* Read the location of a length or tag, which must be there. */
bool ctf_take_location(struct ctf_fragments *f, const struct json_node *node, const char *key,
		       struct ctf_type *t);

/* The variants of ctf_bits_class and ctf_text_class. */
enum { BITS_ARRAY, BITS_MAP, BITS_BOOLEAN, BITS_UNSIGNED, BITS_SIGNED, BITS_FLOAT };
enum { TEXT_DYNAMIC = 1, TEXT_BLOB = 2 };

#endif
