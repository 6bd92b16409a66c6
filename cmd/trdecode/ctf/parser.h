/*
 * parser.h - inside the reader of TSDL: types (ctf_types.c), and the blocks around them
 * (ctf_metadata.c)
 *
 * Functions return false, or NULL, once anything went wrong; error says what.
 */
#ifndef TR_TRDECODE_CTF_PARSER_H
#define TR_TRDECODE_CTF_PARSER_H

#include "cmd/trdecode/ctf/lexer.h"
#include "cmd/trdecode/ctf/metadata.h"

struct ctf_name {
	const char *name; /* "uint32_t", "unsigned long", "struct packet_context" */
	struct ctf_type *type;
	const struct ctf_name *next;
};

struct ctf_parser {
	struct ctf_lexer lexer;
	struct ctf_metadata *metadata;
	const struct ctf_name *names; /* in sight here, the newest first */
	const char *file;
	struct error *error;
	int depth;
};

/* error says what is wrong at the present word. */
bool ctf_wrong(struct ctf_parser *p, const char *what);
/* Step over what must stand here. */
bool ctf_expect(struct ctf_parser *p, int mark);
/* The same where it may be missing. */
bool ctf_accept(struct ctf_parser *p, int mark);
bool ctf_accept_word(struct ctf_parser *p, const char *word);
/* A copy of the present WORD, STRING or CHARACTER, which is stepped over. */
char *ctf_take_text(struct ctf_parser *p);
/* Words joined by dots: "event.header", "clock.monotonic.value". */
char *ctf_take_path(struct ctf_parser *p);
/* A number with its sign, or a character constant. */
bool ctf_take_number(struct ctf_parser *p, int64_t *number);

struct ctf_type *ctf_parse_type(struct ctf_parser *p);
/* typealias, typedef, or a struct, enum or variant that is declared for later: does one begin? */
bool ctf_at_declaration(const struct ctf_parser *p);
bool ctf_parse_declaration(struct ctf_parser *p);

/* The clock of that name, made if it is not there yet. NULL: out of memory, or CTF_STEPS were
 * taken. */
struct ctf_clock *ctf_clock_named(struct ctf_metadata *m, const char *name);

#endif
