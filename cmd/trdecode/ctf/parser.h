/*
 * parser.h - inside the reader of TSDL: types (types.c, scalar_types.c), and the blocks around them
 * (metadata.c)
 *
 * Functions return false or NULL after a fault; *error then contains the message.
 */
#ifndef TR_TRDECODE_CTF_PARSER_H
#define TR_TRDECODE_CTF_PARSER_H

#include "cmd/trdecode/ctf/lexer.h"
#include "cmd/trdecode/ctf/metadata.h"

/* A name given to a type, in a list of all names in scope. */
struct ctf_name {
	const char *name; /* "uint32_t", "unsigned long", "struct packet_context" */
	struct ctf_type *type;
	struct ctf_name *next;
	struct ctf_name *hidden; /* the same name, declared outside of the block; NULL: none */
};

/* The state of parsing one text. */
struct ctf_parser {
	struct ctf_lexer lexer;
	struct ctf_metadata *metadata;
	struct ctf_name *names; /* in scope, the newest first */
	const char *file;
	struct error *error;
	int depth;
};

/* Fill *error for the current token, and return false. */
bool ctf_wrong(struct ctf_parser *p, const char *what);
/* Skip a mark that must be here. */
bool ctf_expect(struct ctf_parser *p, int mark);
/* Skip a mark or word; false: the current token is another one. */
bool ctf_accept(struct ctf_parser *p, int mark);
bool ctf_accept_word(struct ctf_parser *p, const char *word);
/* Copy the current WORD, STRING or CHARACTER, and skip it. */
char *ctf_take_text(struct ctf_parser *p);
/* Copy words joined by dots, such as "clock.monotonic.value", and skip them. */
char *ctf_take_path(struct ctf_parser *p);
/* Read a number with its sign, or a character constant. */
bool ctf_take_number(struct ctf_parser *p, int64_t *number);

/* Allocate a type with the alignment and base of TSDL's defaults. */
struct ctf_type *ctf_new_type(struct ctf_parser *p, enum ctf_kind kind);
/* Is n a power of two, and not too large for an alignment? */
bool ctf_is_alignment(int64_t n);
/* Parse what follows the keyword (scalar_types.c). */
struct ctf_type *ctf_parse_integer(struct ctf_parser *p);
struct ctf_type *ctf_parse_float(struct ctf_parser *p);
struct ctf_type *ctf_parse_string(struct ctf_parser *p);

struct ctf_type *ctf_parse_type(struct ctf_parser *p);
/* Test whether a declaration begins: typealias, typedef, struct, enum or variant. */
bool ctf_at_declaration(const struct ctf_parser *p);
bool ctf_parse_declaration(struct ctf_parser *p);

/* Forget the names that were declared after these. */
void ctf_forget_names(struct ctf_parser *p, struct ctf_name *outside);

/* Find the clock of that name, or add it. NULL: out of memory. */
struct ctf_clock *ctf_clock_named(struct ctf_metadata *m, const char *name);

#endif
