/*
 * ctf_tsdl.c - TSDL, the metadata of CTF 1.8
 */
#include "cmd/trdecode/ctf_metadata.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/ctf.h"
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input_tree.h"
#include "common/util/buffer.h"

static struct ctf_type *ctf_parse_integer(struct ctf_parser *p);
static struct ctf_type *ctf_parse_float(struct ctf_parser *p);
static struct ctf_type *ctf_parse_string(struct ctf_parser *p);

#define PACKET_MAGIC 0x75d11d57u
#define PLAIN_BEGIN  "/* CTF"

enum { PACKET_HEADER = 37, AT_CONTENT = 24, AT_PACKET = 28, AT_COMPRESSION = 32, AT_VERSION = 35 };

static bool is_packets(const uint8_t *data, size_t n)
{
	return n >= 4 && (get_uint(data, 4, false) == PACKET_MAGIC ||
			  get_uint(data, 4, true) == PACKET_MAGIC);
}

static bool has_signature(const uint8_t *data, size_t n)
{
	return n >= strlen(PLAIN_BEGIN) && !memcmp(data, PLAIN_BEGIN, strlen(PLAIN_BEGIN));
}

/* Return the length of the comment at p; 0: no comment begins there. */
static size_t comment_size(const char *p, size_t n)
{
	const char *end = NULL;

	if (n < 2 || p[0] != '/')
		return 0;
	if (p[1] == '*')
		end = memmem(p + 2, n - 2, "*/", 2);
	else if (p[1] == '/')
		end = memchr(p, '\n', n);
	else
		return 0;
	return end ? (size_t)(end - p) + (p[1] == '*' ? 2 : 1) : n;
}

/* Test whether a word that begins a statement follows blanks and comments. */
static bool ctf_tsdl_is_bare(const char *p, size_t n)
{
	static const char *const words[] = {"typealias", "typedef", "trace",   "stream",
					    "event",	 "clock",   "env",     "struct",
					    "enum",	 "variant", "callsite"};
	size_t skip;

	while (n) {
		skip = isspace((unsigned char)*p) ? 1 : comment_size(p, n);
		if (!skip)
			break;
		p += skip;
		n -= skip;
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t size = strlen(words[i]);

		if (n > size && !memcmp(p, words[i], size) &&
		    (isspace((unsigned char)p[size]) || p[size] == '{'))
			return true;
	}
	return false;
}

enum bid ctf_metadata_bid(const uint8_t *data, size_t n)
{
	if (is_packets(data, n) || has_signature(data, n) ||
	    ctf_metadata_is_json((const char *)data, n))
		return BID_HEADER;
	return ctf_tsdl_is_bare((const char *)data, n) ? BID_LIKELY : BID_NONE;
}

/* Require version 1.8 or 2, in the packets or after the signature of plain text. */
static int ctf_tsdl_check_version(const uint8_t *data, size_t size, const char *file,
				  struct error *e)
{
	unsigned major = 1, minor = 8;
	char text[32];
	size_t n = size - 1 < sizeof text - 1 ? size - 1 : sizeof text - 1;

	if (is_packets(data, size) && size >= PACKET_HEADER) {
		major = data[AT_VERSION];
		minor = data[AT_VERSION + 1];
	} else if (has_signature(data, size)) {
		memcpy(text, data, n);
		text[n] = '\0';
		if (sscanf(text, PLAIN_BEGIN " %5u.%5u", &major, &minor) != 2)
			return 0;
	}
	return (major == 1 && minor == 8) || (major == 2 && is_packets(data, size))
		       ? 0
		       : error_set(e, file, 0,
				   "the version is CTF %u.%u: only 1.8 and 2 can be read", major,
				   minor);
}

/* Append the text of all packets. */
static int unpack_text(const uint8_t *data, size_t size, const char *file, struct buffer *text,
		       struct error *e)
{
	bool big = get_uint(data, 4, false) != PACKET_MAGIC;
	size_t at = 0;

	while (at < size) {
		const uint8_t *p = data + at;
		uint64_t content, packet;

		if (size - at < PACKET_HEADER)
			return error_set(e, file, at, "a packet of the metadata is cut short");
		if (get_uint(p, 4, big) != PACKET_MAGIC)
			return error_set(e, file, at, "no packet of metadata");
		content = get_uint(p + AT_CONTENT, 4, big) / 8;
		packet = get_uint(p + AT_PACKET, 4, big) / 8;
		if (p[AT_COMPRESSION] || p[AT_COMPRESSION + 1])
			return error_set(e, file, at + AT_COMPRESSION,
					 "compressed or encrypted metadata");
		if (content < PACKET_HEADER || packet < content)
			return error_set(e, file, at + AT_CONTENT,
					 "a packet's sizes contradict each other");
		if (content > size - at) {
			if (buffer_append(text, p + PACKET_HEADER, size - at - PACKET_HEADER))
				return error_no_memory(e);
			return error_set(e, file, size, "a packet of the metadata is cut short");
		}
		if (buffer_append(text, p + PACKET_HEADER, (size_t)content - PACKET_HEADER))
			return error_no_memory(e);
		/* the file may end before the padding of the last packet */
		at = packet < size - at ? at + (size_t)packet : size;
	}
	return 0;
}

int ctf_metadata_text(const uint8_t *data, size_t size, const char *file, char **text, size_t *n,
		      struct error *e)
{
	struct buffer b = {0};
	int failed = 0;

	*text = NULL;
	*n = 0;
	if (!ctf_metadata_bid(data, size))
		return error_set(e, file, 0, "no CTF metadata");
	if (ctf_tsdl_check_version(data, size, file, e))
		return -1;
	if (is_packets(data, size))
		failed = unpack_text(data, size, file, &b, e);
	else
		failed = buffer_append(&b, data, size) ? error_no_memory(e) : 0;
	*n = b.size;
	if (buffer_u8(&b, 0)) {
		buffer_free(&b);
		*n = 0;
		return error_no_memory(e);
	}
	*text = (char *)b.data;
	return failed;
}

/* --- lexer --- */

void ctf_lexer_begin(struct ctf_lexer *l, const char *text, size_t n)
{
	*l = (struct ctf_lexer){.at = text, .end = text + n, .line = 1};
	ctf_lexer_next(l);
}

void ctf_lexer_free(struct ctf_lexer *l)
{
	free(l->text);
}

bool ctf_is_word(const struct ctf_lexer *l, const char *word)
{
	return l->token == TOKEN_WORD && !strcmp(l->text, word);
}

static void bad(struct ctf_lexer *l, const char *wrong)
{
	l->token = TOKEN_BAD;
	l->wrong = wrong;
}

/* Skip a backslash at the end of a line, which continues the line. */
static bool skip_continuation(struct ctf_lexer *l)
{
	const char *p = l->at;

	if (l->end - p < 2 || *p++ != '\\')
		return false;
	if (*p == '\r' && l->end - p >= 2)
		p++;
	if (*p != '\n')
		return false;
	l->line++;
	l->at = p + 1;
	return true;
}

static void skip_line(struct ctf_lexer *l)
{
	while (l->at < l->end && *l->at != '\n')
		if (!skip_continuation(l))
			l->at++;
}

/* Skip a comment. false: the comment never ends. */
static bool skip_comment(struct ctf_lexer *l)
{
	for (l->at += 2; l->end - l->at >= 2; l->at++) {
		if (l->at[0] == '*' && l->at[1] == '/') {
			l->at += 2;
			return true;
		}
		l->line += *l->at == '\n';
	}
	return false;
}

/* Skip blanks and comments before the next token. */
static bool ctf_tsdl_skip_blanks(struct ctf_lexer *l)
{
	while (l->at < l->end) {
		if (*l->at == '\n') {
			l->line++;
			l->at++;
		} else if (skip_continuation(l)) {
			continue;
		} else if (isspace((unsigned char)*l->at)) {
			l->at++;
		} else if (l->end - l->at >= 2 && l->at[0] == '/' && l->at[1] == '/') {
			skip_line(l);
		} else if (l->end - l->at >= 2 && l->at[0] == '/' && l->at[1] == '*') {
			if (!skip_comment(l))
				return false;
		} else {
			return true;
		}
	}
	return true;
}

/* Reserve space for n characters and a NUL. */
static bool reserve_text(struct ctf_lexer *l, size_t n)
{
	char *text;

	if (n < l->capacity)
		return true;
	text = realloc(l->text, 2 * n + 64);
	if (!text) {
		bad(l, "out of memory");
		return false;
	}
	l->text = text;
	l->capacity = 2 * n + 64;
	return true;
}

static void word(struct ctf_lexer *l)
{
	const char *from = l->at;
	size_t n;

	while (l->at < l->end && (isalnum((unsigned char)*l->at) || *l->at == '_'))
		l->at++;
	n = (size_t)(l->at - from);
	if (!reserve_text(l, n))
		return;
	memcpy(l->text, from, n);
	l->text[n] = '\0';
	l->token = TOKEN_WORD;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

static void lex_number(struct ctf_lexer *l)
{
	unsigned base = 10;
	uint64_t n = 0;

	if (*l->at == '0') {
		base = 8;
		if (l->end - l->at >= 3 && (l->at[1] == 'x' || l->at[1] == 'X') &&
		    digit_of(l->at[2]) < 16) {
			base = 16;
			l->at += 2;
		} else if (l->end - l->at >= 3 && (l->at[1] == 'b' || l->at[1] == 'B') &&
			   digit_of(l->at[2]) < 2) {
			base = 2;
			l->at += 2;
		}
	}
	for (; l->at < l->end && (unsigned)digit_of(*l->at) < base; l->at++)
		if (__builtin_mul_overflow(n, base, &n) ||
		    __builtin_add_overflow(n, (unsigned)digit_of(*l->at), &n)) {
			bad(l, "a number beyond 64 bits");
			return;
		}
	while (l->at < l->end && strchr("uUlL", *l->at) && *l->at)
		l->at++;
	if (l->at < l->end && (isalnum((unsigned char)*l->at) || *l->at == '_')) {
		bad(l, "a number that goes on with letters or wrong digits");
		return;
	}
	l->token = TOKEN_NUMBER;
	l->number = n;
}

/* Read an escape sequence after its backslash, and return the character. */
static char lex_escape(struct ctf_lexer *l)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	char c = *l->at++;
	const char *known = c ? strchr(from, c) : NULL;
	int n = 0;

	if (known)
		return to[known - from];
	if (c == 'x') {
		for (int i = 0; i < 2 && l->at < l->end && digit_of(*l->at) < 16; i++)
			n = n * 16 + digit_of(*l->at++);
		return (char)n;
	}
	if (c >= '0' && c <= '7') {
		n = c - '0';
		for (int i = 0; i < 2 && l->at < l->end && *l->at >= '0' && *l->at <= '7'; i++)
			n = n * 8 + (*l->at++ - '0');
		return (char)n;
	}
	return c;
}

/* Read a string or character constant; each ends with the character that begins it. */
static void lex_quoted(struct ctf_lexer *l)
{
	char quote = *l->at++;
	size_t n = 0;

	while (l->at < l->end && *l->at != quote && *l->at != '\n') {
		if (skip_continuation(l))
			continue;
		if (!reserve_text(l, n + 1))
			return;
		if (*l->at == '\\' && l->end - l->at >= 2) {
			l->at++;
			l->text[n++] = lex_escape(l);
		} else {
			l->text[n++] = *l->at++;
		}
	}
	if (l->at == l->end || *l->at != quote) {
		bad(l, quote == '"' ? "a string that does not end"
				    : "a character constant that does not end");
		return;
	}
	l->at++;
	if (!reserve_text(l, n))
		return;
	l->text[n] = '\0';
	l->token = quote == '"' ? TOKEN_STRING : TOKEN_CHARACTER;
	l->number = n ? (uint64_t)(signed char)l->text[0] : 0;
}

static void ctf_tsdl_mark(struct ctf_lexer *l)
{
	static const struct {
		const char *text;
		int mark;
	} longer[] = {{":=", MARK_ASSIGN_TYPE}, {"->", MARK_ARROW}, {"...", MARK_DOTS}};

	l->token = TOKEN_MARK;
	for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
		size_t n = strlen(longer[i].text);

		if ((size_t)(l->end - l->at) >= n && !memcmp(l->at, longer[i].text, n)) {
			l->mark = longer[i].mark;
			l->at += n;
			return;
		}
	}
	l->mark = (unsigned char)*l->at++;
}

void ctf_lexer_next(struct ctf_lexer *l)
{
	if (!ctf_tsdl_skip_blanks(l)) {
		bad(l, "a comment that does not end");
		return;
	}
	/* a constant of wide characters */
	if (l->end - l->at >= 2 && *l->at == 'L' && (l->at[1] == '"' || l->at[1] == '\''))
		l->at++;
	if (l->at == l->end)
		l->token = TOKEN_END;
	else if (isalpha((unsigned char)*l->at) || *l->at == '_')
		word(l);
	else if (isdigit((unsigned char)*l->at))
		lex_number(l);
	else if (*l->at == '"' || *l->at == '\'')
		lex_quoted(l);
	else
		ctf_tsdl_mark(l);
}

/*
 * The types of TSDL.
 *
 * As in C, a type may be written where it is used, or declared with a name first. A name is valid
 * up to the end of the block that declares it.
 */

/* Allocate a type with the alignment and base of TSDL's defaults. */
static struct ctf_type *ctf_new_type(struct ctf_parser *p, enum ctf_kind kind)
{
	struct ctf_type *t = ctf_alloc(p->metadata, sizeof *t);

	if (!t) {
		ctf_wrong(p, "out of memory");
		return NULL;
	}
	t->kind = kind;
	t->align = 1;
	t->base = 10;
	return t;
}

/* --- names --- */

static bool declare_name(struct ctf_parser *p, const char *name, struct ctf_type *type)
{
	struct ctf_name *n = ctf_alloc(p->metadata, sizeof *n);
	void **place = ctf_named(p->metadata, p, name, strlen(name));

	if (!n || !place)
		return ctf_wrong(p, "out of memory");
	*n = (struct ctf_name){name, type, p->names, *place};
	*place = p->names = n;
	return true;
}

void ctf_forget_names(struct ctf_parser *p, struct ctf_name *outside)
{
	while (p->names != outside) {
		struct ctf_name *n = p->names;
		void **place = ctf_named(p->metadata, p, n->name, strlen(n->name));

		if (place)
			*place = n->hidden;
		p->names = n->next;
	}
}

static struct ctf_type *ctf_tsdl_look_up(struct ctf_parser *p, const char *name)
{
	void **place = ctf_named(p->metadata, p, name, strlen(name));
	char what[256];

	if (place && *place)
		return ((struct ctf_name *)*place)->type;
	snprintf(what, sizeof what, "type '%.200s' is not declared", name);
	ctf_wrong(p, what);
	return NULL;
}

/* Make the name that "struct x" has in the list, of "struct" and "x". */
static char *tagged_name(struct ctf_parser *p, const char *kind, const char *name)
{
	size_t n = strlen(kind) + strlen(name) + 2;
	char *text = ctf_alloc(p->metadata, n);

	if (!text)
		ctf_wrong(p, "out of memory");
	else
		snprintf(text, n, "%s %s", kind, name);
	return text;
}

static bool is_c_word(const struct ctf_lexer *l)
{
	static const char *const words[] = {"unsigned", "signed", "long",     "short",
					    "int",	"char",	  "float",    "double",
					    "void",	"_Bool",  "_Complex", "const"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (ctf_is_word(l, words[i]))
			return true;
	return false;
}

/* Read a name of several words of C: "unsigned long". */
static char *take_c_words(struct ctf_parser *p)
{
	char name[256] = "", *copy;
	size_t n = 0;

	while (is_c_word(&p->lexer)) {
		if (n > sizeof name - 16) {
			ctf_wrong(p, "the name of a type is too long");
			return NULL;
		}
		if (!ctf_is_word(&p->lexer, "const"))
			n += (size_t)sprintf(name + n, "%s%s", n ? " " : "", p->lexer.text);
		ctf_lexer_next(&p->lexer);
	}
	copy = ctf_alloc(p->metadata, n + 1);
	if (!copy)
		ctf_wrong(p, "out of memory");
	else
		memcpy(copy, name, n + 1);
	return copy;
}

/* Read the name of a type: words of C ("unsigned long"), or one word ("uint32_t"), and stars. */
static char *ctf_tsdl_take_name(struct ctf_parser *p)
{
	char *name, *pointer;

	while (ctf_accept_word(p, "const"))
		continue;
	if (p->lexer.token != TOKEN_WORD) {
		ctf_wrong(p, "a type is missing");
		return NULL;
	}
	name = is_c_word(&p->lexer) ? take_c_words(p) : ctf_take_text(p);
	for (int n = 0; name && ctf_accept(p, '*'); n++) {
		if (n == CTF_DEPTH) {
			ctf_wrong(p, "types are nested too deep");
			return NULL;
		}
		pointer = ctf_alloc(p->metadata, strlen(name) + 3);
		if (!pointer)
			ctf_wrong(p, "out of memory");
		else
			sprintf(pointer, "%s *", name);
		name = pointer;
	}
	return name;
}

/* --- structs and variants --- */

/* Parse name, name[4] or name[length]; *type is base, or arrays of base. */
static bool parse_declarator(struct ctf_parser *p, struct ctf_type *base, const char **name,
			     struct ctf_type **type)
{
	struct ctf_type **inner = type;

	*type = base;
	if (p->lexer.token != TOKEN_WORD)
		return ctf_wrong(p, "a name is missing");
	*name = ctf_take_text(p);
	if (!*name)
		return false;
	/* a[2][3] is two arrays of three: the first brackets are the outermost array */
	while (ctf_accept(p, '[')) {
		struct ctf_type *t;
		int64_t count;

		if (p->lexer.token == TOKEN_NUMBER) {
			t = ctf_new_type(p, CTF_ARRAY);
			if (!t || !ctf_take_number(p, &count))
				return false;
			t->count = (uint64_t)count;
		} else {
			t = ctf_new_type(p, CTF_SEQUENCE);
			if (!t)
				return false;
			t->reference = ctf_take_path(p);
			if (!t->reference)
				return false;
		}
		if (!ctf_expect(p, ']'))
			return false;
		t->element = base;
		*inner = t;
		inner = (struct ctf_type **)(void *)&t->element;
	}
	return true;
}

static bool parse_members(struct ctf_parser *p, struct ctf_type *t)
{
	struct ctf_name *outside = p->names;
	struct ctf_member **last = &t->members;

	while (!ctf_accept(p, '}')) {
		struct ctf_type *base;

		if (ctf_is_word(&p->lexer, "typealias") || ctf_is_word(&p->lexer, "typedef")) {
			if (!ctf_parse_declaration(p))
				return false;
			continue;
		}
		base = ctf_parse_type(p);
		if (!base)
			return false;
		/* a declaration of a struct, variant or enum, without a member */
		if (ctf_accept(p, ';'))
			continue;
		do {
			struct ctf_member *m = ctf_alloc(p->metadata, sizeof *m);

			if (!m)
				return ctf_wrong(p, "out of memory");
			if (!parse_declarator(p, base, &m->name, &m->type))
				return false;
			*last = m;
			last = &m->next;
		} while (ctf_accept(p, ','));
		if (!ctf_expect(p, ';'))
			return false;
	}
	ctf_forget_names(p, outside);
	return true;
}

static bool parse_align(struct ctf_parser *p, struct ctf_type *t)
{
	int64_t align;

	if (!ctf_accept_word(p, "align"))
		return true;
	if (!ctf_expect(p, '(') || !ctf_take_number(p, &align) || !ctf_expect(p, ')'))
		return false;
	if (!ctf_is_alignment(align))
		return ctf_wrong(p, "an alignment that is no power of two");
	t->align = (uint32_t)align;
	return true;
}

static struct ctf_type *ctf_tsdl_parse_struct(struct ctf_parser *p)
{
	char *name = NULL;
	struct ctf_type *t;

	if (p->lexer.token == TOKEN_WORD && !(name = ctf_take_text(p)))
		return NULL;
	if (name && !(name = tagged_name(p, "struct", name)))
		return NULL;
	if (!ctf_accept(p, '{')) {
		if (name)
			return ctf_tsdl_look_up(p, name);
		ctf_wrong(p, "'{' is missing");
		return NULL;
	}
	t = ctf_new_type(p, CTF_STRUCT);
	if (!t || !parse_members(p, t) || !parse_align(p, t) || (name && !declare_name(p, name, t)))
		return NULL;
	return t;
}

static struct ctf_type *parse_variant(struct ctf_parser *p)
{
	char *name = NULL, *tag = NULL;
	struct ctf_type *t, *known;

	if (p->lexer.token == TOKEN_WORD && !(name = ctf_take_text(p)))
		return NULL;
	if (name && !(name = tagged_name(p, "variant", name)))
		return NULL;
	if (ctf_accept(p, '<') && (!(tag = ctf_take_path(p)) || !ctf_expect(p, '>')))
		return NULL;
	if (ctf_accept(p, '{')) {
		t = ctf_new_type(p, CTF_VARIANT);
		if (!t || !parse_members(p, t))
			return NULL;
		t->reference = tag;
		if (name && !declare_name(p, name, t))
			return NULL;
		return t;
	}
	if (!name) {
		ctf_wrong(p, "'{' is missing");
		return NULL;
	}
	/* a variant declared before, with the tag given here */
	known = ctf_tsdl_look_up(p, name);
	t = known ? ctf_new_type(p, CTF_VARIANT) : NULL;
	if (!t)
		return NULL;
	*t = *known;
	if (tag)
		t->reference = tag;
	return t;
}

/* --- enumerations --- */

static bool parse_labels(struct ctf_parser *p, struct ctf_type *t)
{
	struct ctf_label **last = &t->labels;
	int64_t next = 0;

	while (!ctf_accept(p, '}')) {
		struct ctf_label *label = ctf_alloc(p->metadata, sizeof *label);

		if (!label)
			return ctf_wrong(p, "out of memory");
		if (p->lexer.token != TOKEN_WORD && p->lexer.token != TOKEN_STRING)
			return ctf_wrong(p, "a label is missing");
		label->name = ctf_take_text(p);
		if (!label->name)
			return false;
		label->first = label->last = next;
		if (ctf_accept(p, '=')) {
			if (!ctf_take_number(p, &label->first))
				return false;
			label->last = label->first;
			if (ctf_accept(p, MARK_DOTS) && !ctf_take_number(p, &label->last))
				return false;
			if (t->is_signed ? label->last < label->first
					 : (uint64_t)label->last < (uint64_t)label->first)
				return ctf_wrong(p, "a range that ends before it begins");
		}
		next = (int64_t)((uint64_t)label->last + 1);
		*last = label;
		last = &label->next;
		if (!ctf_accept(p, ',') && !ctf_is_mark(&p->lexer, '}'))
			return ctf_wrong(p, "',' is missing");
	}
	return true;
}

static struct ctf_type *parse_enum(struct ctf_parser *p)
{
	struct ctf_type *t, *container;
	char *name = NULL;

	if (p->lexer.token == TOKEN_WORD && !(name = ctf_take_text(p)))
		return NULL;
	if (name && !(name = tagged_name(p, "enum", name)))
		return NULL;
	if (name && !ctf_is_mark(&p->lexer, ':') && !ctf_is_mark(&p->lexer, '{'))
		return ctf_tsdl_look_up(p, name);
	container = ctf_accept(p, ':') ? ctf_parse_type(p) : ctf_tsdl_look_up(p, "int");
	if (!container)
		return NULL;
	if (container->kind != CTF_INTEGER) {
		ctf_wrong(p, "an enumeration's container must be an integer");
		return NULL;
	}
	t = ctf_new_type(p, CTF_ENUM);
	if (!t)
		return NULL;
	*t = *container;
	t->kind = CTF_ENUM;
	if (!ctf_expect(p, '{') || !parse_labels(p, t) || (name && !declare_name(p, name, t)))
		return NULL;
	return t;
}

/* --- types and declarations --- */

struct ctf_type *ctf_parse_type(struct ctf_parser *p)
{
	static const struct {
		const char *word;
		struct ctf_type *(*parse)(struct ctf_parser *p);
	} kinds[] = {{"integer", ctf_parse_integer}, {"floating_point", ctf_parse_float},
		     {"string", ctf_parse_string},   {"struct", ctf_tsdl_parse_struct},
		     {"variant", parse_variant},     {"enum", parse_enum}};
	struct ctf_type *t = NULL;
	char *name;

	if (p->depth == CTF_DEPTH) {
		ctf_wrong(p, "types are nested too deep");
		return NULL;
	}
	p->depth++;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (ctf_accept_word(p, kinds[i].word)) {
			t = kinds[i].parse(p);
			goto out;
		}
	name = ctf_tsdl_take_name(p);
	if (name)
		t = ctf_tsdl_look_up(p, name);
out:
	p->depth--;
	return t;
}

bool ctf_at_declaration(const struct ctf_parser *p)
{
	static const char *const words[] = {"typealias", "typedef", "struct", "variant", "enum"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (ctf_is_word(&p->lexer, words[i]))
			return true;
	return false;
}

bool ctf_parse_declaration(struct ctf_parser *p)
{
	struct ctf_type *t;
	const char *name;

	if (ctf_accept_word(p, "typealias")) {
		t = ctf_parse_type(p);
		if (!t || !ctf_expect(p, MARK_ASSIGN_TYPE))
			return false;
		name = ctf_tsdl_take_name(p);
		return name && declare_name(p, name, t) && ctf_expect(p, ';');
	}
	if (ctf_accept_word(p, "typedef")) {
		struct ctf_type *base = ctf_parse_type(p);

		if (!base)
			return false;
		do {
			if (!parse_declarator(p, base, &name, &t) || !declare_name(p, name, t))
				return false;
		} while (ctf_accept(p, ','));
		return ctf_expect(p, ';');
	}
	return ctf_parse_type(p) && ctf_expect(p, ';');
}

/* --- prepares each event class once: its header, and the moves of its data into a row --- */

/* Bytes of the fixed part of a row; events with more data carry them as values. */
enum { FIXED_MOST = 2048 };

/* Labels or ranges of the ids in a header of LTTng, at most. */
/* Test whether the stream can contain the trace's bytes unchanged. */
static bool as_it_is(const struct ctf_part *p)
{
	return !p->slot && !p->unusual && !(p->big && p->size > 8) && !(p->align % 8) &&
	       p->size == 8 * ctf_bytes(p->size);
}

/* --- moves --- */

/* Add a move, or extend the last one by it. */
static int add_move(struct ctf_class *c, const struct ctf_move *m)
{
	struct ctf_move *last = c->nmoves ? &c->moves[c->nmoves - 1] : NULL;

	if (last && m->kind == MOVE_BYTES && last->kind == MOVE_BYTES && m->align == 8 &&
	    last->to + last->n == m->to) {
		last->n += m->n;
		return 0;
	}
	if (ARRAY_GROW(c->moves, c->moves_capacity, c->nmoves))
		return -1;
	c->moves[c->nmoves++] = *m;
	return 0;
}

/* Add the moves of a part. align: least alignment, by the parts that contain it. 1: done; 0: the
 * part cannot be moved; -1: out of memory. */
static int move_part(struct ctf_class *c, const struct ctf_part *p, uint32_t align)
{
	struct ctf_move m = {
		.to = c->fixed_size, .align = p->align > align ? p->align : align, .part = p};
	const struct ctf_part *element = p->children;
	uint64_t n;

	if (p->type->unit) {
		m.kind = MOVE_UNUSUAL;
		c->nstrings++;
		return add_move(c, &m) ? -1 : 1;
	}

	switch (p->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
	case CTF_FLOAT:
		m.kind = p->unusual ? MOVE_UNUSUAL : as_it_is(p) ? MOVE_BYTES : MOVE_NUMBER;
		m.size = p->size;
		m.n = ctf_bytes(p->size);
		m.big = p->big;
		m.is_signed = p->is_signed;
		m.slot = p->slot;
		c->fixed_size += m.n;
		break;
	case CTF_STRING:
		m.kind = MOVE_STRING;
		m.align = m.align > 8 ? m.align : 8;
		c->nstrings++;
		break;
	case CTF_ARRAY:
		n = p->count;
		if (element->kind != CTF_INTEGER || !as_it_is(element) || element->align != 8u ||
		    !n || n > FIXED_MOST)
			return 0;
		m.kind = MOVE_BYTES;
		m.n = (uint32_t)n * element->size / 8;
		c->fixed_size += m.n;
		break;
	case CTF_SEQUENCE:
		if (element->kind != CTF_INTEGER || element->size != 8 || element->align != 8 ||
		    !element->type->text)
			return 0;
		m.kind = MOVE_TEXT;
		m.slot = p->refers->slot;
		c->nstrings++;
		break;
	default: return 0;
	}
	if (c->fixed_size > FIXED_MOST)
		return 0;
	return add_move(c, &m) ? -1 : 1;
}

static void spot(struct ctf_spot *s, uint32_t at, uint32_t size)
{
	s->at = (int32_t)at;
	s->size = size;
}

static void note_roles(struct ctf_class *c, const struct ctf_part *p, uint32_t at, uint32_t string)
{
	const char *name = ctf_bare_name(p->name);
	uint32_t size = c->fixed_size - at;

	switch (p->role) {
	case CTF_TID: spot(&c->tid, at, size); break;
	case CTF_PID: spot(&c->pid, at, size); break;
	case CTF_PPID: spot(&c->ppid, at, size); break;
	case CTF_COMM:
		if (p->kind == CTF_ARRAY)
			spot(&c->comm, at, size);
		else if (p->kind == CTF_STRING)
			c->comm_string = string + 1;
		break;
	default: break;
	}
	if (c->call.kind == CALL_TEXT && !strcmp(name, "depth") && p->kind == CTF_INTEGER)
		spot(&c->call.depth, at, size);
	if (c->numbered && !strcmp(name, "call") && p->kind == CTF_INTEGER && size == 4)
		spot(&c->call.number, at, size);
	if (c->call.kind == CALL_TEXT && !strcmp(name, "name") && p->kind == CTF_STRING &&
	    c->string == CTF_NO_STRING)
		c->string = string;
	if (c->call.kind == CALL_TEXT && !strcmp(name, "args") && p->kind == CTF_STRING &&
	    c->call.arguments == CTF_NO_STRING)
		c->call.arguments = string;
	if (c->call.kind == CALL_GAP && !strcmp(name, "reason") && p->kind == CTF_STRING)
		c->string = string;
	if (c->call.kind == CALL_GAP && !strcmp(name, "count") && size == 8)
		spot(&c->argument[0], at, size);
	if (c->call.kind == CALL_GAP && !strcmp(name, "offset") && size == 8)
		spot(&c->argument[1], at, size);
	if (c->action == CTF_SWITCH && !strcmp(name, "next_tid") && size)
		spot(&c->argument[0], at, size);
	if (c->action == CTF_SWITCH && !strcmp(name, "next_comm")) {
		if (p->kind == CTF_ARRAY)
			spot(&c->argument[1], at, size);
		else if (p->kind == CTF_STRING || p->kind == CTF_SEQUENCE)
			c->string = string;
	}
	if (c->action == CTF_BIN_INFO && !strcmp(name, "baddr"))
		spot(&c->argument[0], at, size);
	if (c->action == CTF_BIN_INFO && !strcmp(name, "memsz"))
		spot(&c->argument[1], at, size);
	if (c->action == CTF_BIN_INFO && !strcmp(name, "path") && p->kind == CTF_STRING)
		c->string = string;
	if ((c->call.kind == CALL_ADDRESS && !strcmp(name, "addr")) ||
	    (c->call.kind == CALL_IRQ && !strcmp(name, "irq")) ||
	    (c->call.kind == CALL_SOFTIRQ && !strcmp(name, "vec")))
		if (p->kind == CTF_INTEGER || p->kind == CTF_ENUM)
			spot(&c->call.location, at, size);
}

/* Add the moves of all data, and set c->plain if there are moves for all. */
static int make_moves(struct ctf_class *c)
{
	uint32_t fields = 0;

	c->plain = !c->stream->carried;
	for (int i = 0; i < CTF_DATA_SCOPES; i++) {
		const struct ctf_part *s = c->layout.scope[ctf_data_scopes[i]];
		uint32_t align = s ? s->align : 1;

		for (const struct ctf_part *p = s ? s->children : NULL; p; p = p->next) {
			uint32_t at = c->fixed_size, string = c->nstrings;
			int done = ++fields > CTF_FIELDS ? 0 : move_part(c, p, align);

			if (done < 0)
				return -1;
			if (!done) {
				c->plain = false;
				return 0;
			}
			note_roles(c, p, at, string);
			align = 1;
		}
	}
	return 0;
}

/* --- headers --- */

static bool is_int(const struct ctf_part *p, unsigned size, uint32_t align)
{
	return p && (p->kind == CTF_INTEGER || p->kind == CTF_ENUM) && p->size == size &&
	       p->align == align && !p->big && !p->is_signed && !p->unusual && !p->roles;
}

/* enum id; variant <id> { struct { time } ; struct { u32 id; u64 time } } */
static bool is_lttng(const struct ctf_part *h, unsigned id, unsigned time, uint32_t align)
{
	const struct ctf_part *first = h->children, *v = first ? first->next : NULL, *a, *b;

	if (h->align != 8 || !v || v->next || v->kind != CTF_VARIANT || v->refers != first ||
	    first->role != CTF_ID || !is_int(first, id, align))
		return false;
	a = v->children;
	b = a ? a->next : NULL;
	if (!b || b->next || a->kind != CTF_STRUCT || b->kind != CTF_STRUCT || a->align != align ||
	    b->align != 8 || !a->children || a->children->next ||
	    !is_int(a->children, time, align) || a->children->role != CTF_TIME ||
	    !is_int(b->children, 32, 8) || b->children->role != CTF_ID ||
	    !is_int(b->children->next, 64, 8) || b->children->next->role != CTF_TIME ||
	    b->children->next->next)
		return false;
	/* all ids but the highest choose the first option */
	for (uint64_t i = 0; i < 1ull << id; i++)
		if (ctf_option(v, i) != (i + 1 < 1ull << id ? a : b))
			return false;
	return true;
}

static void find_shape(struct ctf_stream *s)
{
	const struct ctf_part *h = s->layout.scope[SCOPE_EVENT_HEADER], *p = h ? h->children : NULL;

	if (!p)
		return;
	if (is_lttng(h, 5, 27, 1)) {
		s->shape = SHAPE_COMPACT;
	} else if (is_lttng(h, 16, 32, 8)) {
		s->shape = SHAPE_LARGE;
	} else if (p->role == CTF_ID && h->align == 8 && is_int(p, p->size, 8) &&
		   p->size == 8 * ctf_bytes(p->size) && p->next && !p->next->next &&
		   p->next->role == CTF_TIME && is_int(p->next, 64, 8) && !p->slot &&
		   !p->next->slot) {
		s->shape = SHAPE_SIMPLE;
		s->id_size = p->size / 8;
	}
}

/* Find the clock of the first part that records a time. */
static const struct ctf_clock *clock_of(const struct ctf_part *p, bool *has_time)
{
	const struct ctf_clock *c = NULL;

	for (; p; p = p->next) {
		if (p->role == CTF_TIME || p->role == CTF_TIME_BEGIN)
			*has_time = true;
		if (p->type->clock)
			return p->type->clock;
		c = p->children ? clock_of(p->children, has_time) : NULL;
		if (c)
			return c;
	}
	return NULL;
}

static bool has_role(const struct ctf_part *p, enum ctf_role role)
{
	for (; p; p = p->next)
		if (p->role == role || has_role(p->children, role))
			return true;
	return false;
}

/* Set which fields of the packet's context events repeat. A CPU alone is in their lanes. */
static void ctf_tsdl_find_carried(struct ctf_stream *s)
{
	const struct ctf_part *context = s->layout.scope[SCOPE_PACKET_CONTEXT];

	for (const struct ctf_part *p = context ? context->children : NULL; p; p = p->next) {
		if (p->role == CTF_DISCARDED)
			s->discarded_bits = p->size;
		if (ctf_is_own(p))
			continue;
		s->carried++;
		s->cpu_alone = p->role == CTF_CPU && p->kind == CTF_INTEGER && p->type->base == 10;
	}
	s->cpu_alone = s->cpu_alone && s->carried == 1;
	if (s->cpu_alone)
		s->carried = 0;
}

/* --- all of a trace --- */

/* Return the clock of times that name none: the only clock declared, else NULL. */
static const struct ctf_clock *only_clock(const struct ctf_metadata *m)
{
	const struct ctf_clock *only = NULL;

	for (const struct ctf_clock *c = m->clocks; c; c = c->next) {
		if (c->declared && only)
			return NULL;
		if (c->declared)
			only = c;
	}
	return only;
}

/* only: the clock of times that name none; may be NULL. */
static int make_stream(struct ctf_stream *s, const struct ctf_clock *only, struct error *e)
{
	struct ctf_metadata *m = &s->trace->metadata;
	const struct ctf_stream_class *d = s->declared;

	if (ctf_layout_add(m, &s->layout, SCOPE_PACKET_HEADER, m->packet_header, e) ||
	    ctf_layout_add(m, &s->layout, SCOPE_PACKET_CONTEXT, d->packet_context, e) ||
	    ctf_layout_add(m, &s->layout, SCOPE_EVENT_HEADER, d->header, e) ||
	    ctf_layout_add(m, &s->layout, SCOPE_STREAM_CONTEXT, d->context, e))
		return -1;
	find_shape(s);
	s->clock = clock_of(s->layout.scope[SCOPE_EVENT_HEADER], &s->has_time);
	if (!s->clock)
		s->clock = clock_of(s->layout.scope[SCOPE_PACKET_CONTEXT], &s->has_time);
	if (m->major == 2)
		s->clock = d->clock;
	else if (!s->clock && s->has_time)
		s->clock = only;
	if (m->major == 2 && s->has_time && !s->clock)
		return error_set(e, NULL, NO_OFFSET, "it has times and no default clock");
	s->has_id = has_role(s->layout.scope[SCOPE_EVENT_HEADER], CTF_ID);
	ctf_tsdl_find_carried(s);
	s->usable = true;
	return 0;
}

static int make_class(struct ctf_class *c, struct error *e)
{
	struct ctf_metadata *m = &c->stream->trace->metadata;
	static const struct ctf_spot none = {.at = -1};

	c->layout = c->stream->layout;
	c->call.depth = c->call.number = c->tid = c->pid = c->ppid = c->comm = c->call.location =
		c->argument[0] = c->argument[1] = none;
	if (ctf_layout_add(m, &c->layout, SCOPE_EVENT_CONTEXT, c->declared->context, e) ||
	    ctf_layout_add(m, &c->layout, SCOPE_FIELDS, c->declared->fields, e))
		return -1;
	c->usable = true;
	return 0;
}

/* Report a declaration that cannot be used. -1: out of memory. */
static int unusable(struct ctf_trace *t, const char *what, const char *name, struct error *e)
{
	char path[512], member[300];

	if (!strcmp(e->what, "out of memory"))
		return -1;
	snprintf(member, sizeof member, "%.280smetadata", t->prefix);
	input_damage(t->ctf->input, tree_path(t->ctf->input->tree, member, path, sizeof path),
		     NO_OFFSET, "%s '%.100s' cannot be read: %.300s", what, name, e->what);
	e->what[0] = '\0';
	return 0;
}

struct ctf_stream *ctf_stream_of(const struct ctf_trace *t, uint64_t id)
{
	uint32_t at = t->nstreams ? intern_find(&t->numbers.keys, &id, sizeof id) : INTERN_NONE;

	return at == INTERN_NONE ? NULL : &t->streams[t->numbers.numbers[at] - 1];
}

/* Make a stream. Of usable ones with the same id the first one is used. */
static int add_stream(struct ctf_trace *t, const struct ctf_stream_class *d,
		      const struct ctf_clock *only, struct error *e)
{
	struct ctf_stream *s = &t->streams[t->nstreams++];
	uint32_t *number;

	s->declared = d;
	s->trace = t;
	if (make_stream(s, only, e) && unusable(t, "a stream", "", e))
		return -1;
	if (!s->usable)
		return 0;
	t->last_stream = s;
	number = id_cache_number(&t->numbers, &d->id, sizeof d->id);
	if (!number)
		return error_no_memory(e);
	if (!*number)
		*number = (uint32_t)t->nstreams;
	return 0;
}

struct ctf_class *ctf_class_of(struct ctf_stream *s, uint64_t id)
{
	uint32_t number = id <= UINT32_MAX ? idmap_get(&s->ids, (uint32_t)id) : 0;

	if (!number)
		number = s->only;
	return number ? &s->trace->classes[number - 1] : NULL;
}

/* Test whether the event's data contain the name of its call, or all of a gap. */
static bool ctf_tsdl_has_name(const struct ctf_class *c)
{
	if (c->call.kind == CALL_TEXT)
		return c->string != CTF_NO_STRING;
	if (c->call.kind == CALL_GAP)
		return c->string != CTF_NO_STRING && c->argument[0].at >= 0 &&
		       c->argument[1].at >= 0;
	return c->kind == KIND_INSTANT || c->call.kind == CALL_NAMED || c->call.location.at >= 0;
}

/* Set the moves of a class, and what its events mean to the decoder. */
static int finish_class(struct ctf_class *c)
{
	ctf_calls_classify(c);
	if (make_moves(c))
		return -1;
	if (!c->plain)
		ctf_stack_find(c);
	if (c->plain ? !ctf_tsdl_has_name(c) : c->call.kind != CALL_NAMED) {
		c->kind = KIND_INSTANT;
		c->call.kind = CALL_NONE;
	}
	/* the name, the arguments, and of own traces the comm */
	c->has_arguments = c->plain && c->call.kind == CALL_TEXT &&
			   c->call.arguments != CTF_NO_STRING &&
			   c->nstrings == 2u + (c->stream->trace->own && c->comm_string);
	c->stream->trace->has_gaps |= c->call.kind == CALL_GAP;
	c->numbered = c->numbered && c->call.number.at >= 0 && c->kind != KIND_INSTANT;
	if (c->action == CTF_SWITCH ? c->plain && c->argument[0].at < 0
				    : !c->plain || c->argument[0].at < 0 || c->argument[1].at < 0)
		c->action = CTF_NO_ACTION;
	return 0;
}

int ctf_classes_make(struct ctf_trace *t, struct error *e)
{
	struct ctf_metadata *m = &t->metadata;
	const struct ctf_clock *only = only_clock(m);
	size_t n = 0;

	/* events may be declared without a stream: make one for them */
	if (!m->streams && m->events && m->complete) {
		m->streams = ctf_alloc(m, sizeof *m->streams);
		if (!m->streams)
			return error_no_memory(e);
	}
	for (const struct ctf_stream_class *s = t->metadata.streams; s; s = s->next)
		n++;
	t->streams = calloc(n + 1, sizeof *t->streams);
	n = 0;
	for (const struct ctf_event_class *c = t->metadata.events; c; c = c->next)
		n++;
	t->classes = calloc(n + 1, sizeof *t->classes);
	if (!t->streams || !t->classes)
		return error_no_memory(e);
	for (const struct ctf_stream_class *d = t->metadata.streams; d; d = d->next)
		if (add_stream(t, d, only, e))
			return -1;
	/* the newest class is first: of two with the same id the later one is used */
	for (const struct ctf_event_class *d = t->metadata.events; d; d = d->next) {
		struct ctf_class *c = &t->classes[t->nclasses++];

		c->declared = d;
		/* the only stream if the class names none */
		c->stream = !d->has_stream && t->nstreams == 1 ? t->streams
							       : ctf_stream_of(t, d->stream);
		if (!c->stream || !c->stream->usable || d->id > UINT32_MAX ||
		    idmap_get(&c->stream->ids, (uint32_t)d->id))
			continue;
		if (idmap_set(&c->stream->ids, (uint32_t)d->id, (uint32_t)t->nclasses))
			return error_no_memory(e);
		if (make_class(c, e) && unusable(t, "the event", d->name, e))
			return -1;
		c->stream->only =
			!c->stream->has_id && !c->stream->nclasses++ ? (uint32_t)t->nclasses : 0;
	}
	/* from here on it is known which lengths and tags need slots */
	for (size_t i = 0; i < t->nclasses; i++)
		if (t->classes[i].usable && finish_class(&t->classes[i]))
			return error_no_memory(e);
	return 0;
}

void ctf_classes_free(struct ctf_trace *t)
{
	for (size_t i = 0; i < t->nstreams; i++)
		idmap_free(&t->streams[i].ids);
	for (size_t i = 0; i < t->nclasses; i++) {
		free(t->classes[i].moves);
	}
	free(t->streams);
	free(t->classes);
	id_cache_free(&t->numbers);
}

/* --- the integer, floating_point and string types of TSDL, and their attributes --- */

struct tsdl_number {
	int64_t size, align, exponent, mantissa;
	bool align_given;
};

static bool set_word(struct ctf_parser *p, struct ctf_type *t, const char *name, const char *value)
{
	static const struct {
		const char *word;
		uint8_t base;
	} bases[] = {{"decimal", 10},	  {"dec", 10}, {"d", 10}, {"i", 10},	 {"u", 10},
		     {"hexadecimal", 16}, {"hex", 16}, {"x", 16}, {"X", 16},	 {"p", 16},
		     {"octal", 8},	  {"oct", 8},  {"o", 8},  {"binary", 2}, {"b", 2}};
	const char *dot;

	if (!strcmp(name, "signed")) {
		t->is_signed = !strcmp(value, "true") || !strcmp(value, "TRUE");
	} else if (!strcmp(name, "byte_order")) {
		if (!strcmp(value, "be") || !strcmp(value, "network"))
			t->order = CTF_BIG;
		else if (!strcmp(value, "le"))
			t->order = CTF_LITTLE;
	} else if (!strcmp(name, "encoding")) {
		t->text = !strcmp(value, "UTF8") || !strcmp(value, "utf8") ||
			  !strcmp(value, "UTF-8") || !strcmp(value, "utf-8") ||
			  !strcmp(value, "ASCII") || !strcmp(value, "ascii");
	} else if (!strcmp(name, "base")) {
		for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
			if (!strcmp(value, bases[i].word))
				t->base = bases[i].base;
	} else if (!strcmp(name, "map") && !strncmp(value, "clock.", 6)) {
		/* clock.NAME.value */
		char clock[256];

		dot = strchr(value + 6, '.');
		snprintf(clock, sizeof clock, "%.*s",
			 dot ? (int)(dot - value - 6) : (int)strlen(value + 6), value + 6);
		t->clock = ctf_clock_named(p->metadata, clock);
		if (!t->clock)
			return ctf_wrong(p, "too many clocks, or out of memory");
	}
	return true;
}

static void ctf_tsdl_set_number(struct ctf_type *t, struct tsdl_number *n, const char *name,
				int64_t value)
{
	if (!strcmp(name, "size")) {
		n->size = value;
	} else if (!strcmp(name, "align")) {
		n->align = value;
		n->align_given = true;
	} else if (!strcmp(name, "exp_dig")) {
		n->exponent = value;
	} else if (!strcmp(name, "mant_dig")) {
		n->mantissa = value;
	} else if (!strcmp(name, "signed")) {
		t->is_signed = value != 0;
	} else if (!strcmp(name, "base")) {
		if (value == 2 || value == 8 || value == 10 || value == 16)
			t->base = (uint8_t)value;
	}
}

/* { name = value; ... } */
static bool parse_attributes(struct ctf_parser *p, struct ctf_type *t, struct tsdl_number *n)
{
	if (!ctf_expect(p, '{'))
		return false;
	while (!ctf_accept(p, '}')) {
		char *name = ctf_take_path(p), *value;
		int64_t number;

		if (!name || !ctf_expect(p, '='))
			return false;
		if (p->lexer.token == TOKEN_WORD) {
			value = ctf_take_path(p);
			if (!value || !set_word(p, t, name, value))
				return false;
		} else if (p->lexer.token == TOKEN_STRING || p->lexer.token == TOKEN_CHARACTER) {
			value = ctf_take_text(p);
			if (!value || !set_word(p, t, name, value))
				return false;
		} else {
			if (!ctf_take_number(p, &number))
				return false;
			ctf_tsdl_set_number(t, n, name, number);
		}
		if (!ctf_expect(p, ';'))
			return false;
	}
	return true;
}

bool ctf_is_alignment(int64_t n)
{
	return n > 0 && n <= 1 << 20 && !(n & (n - 1));
}

/* Parse what follows the keyword. */
static struct ctf_type *ctf_parse_integer(struct ctf_parser *p)
{
	struct ctf_type *t = ctf_new_type(p, CTF_INTEGER);
	struct tsdl_number n = {0};

	if (!t || !parse_attributes(p, t, &n))
		return NULL;
	if (n.size < 1 || n.size > 64) {
		ctf_wrong(p, "an integer's size must be 1 to 64 bits");
		return NULL;
	}
	if (!n.align_given)
		n.align = n.size % 8 ? 1 : 8;
	if (!ctf_is_alignment(n.align)) {
		ctf_wrong(p, "an alignment that is no power of two");
		return NULL;
	}
	t->size = (uint8_t)n.size;
	t->align = (uint32_t)n.align;
	return t;
}

static struct ctf_type *ctf_parse_float(struct ctf_parser *p)
{
	struct ctf_type *t = ctf_new_type(p, CTF_FLOAT);
	struct tsdl_number n = {0};

	if (!t || !parse_attributes(p, t, &n))
		return NULL;
	if (!(n.exponent == 8 && n.mantissa == 24) && !(n.exponent == 11 && n.mantissa == 53)) {
		ctf_wrong(p, "a floating-point number of neither 32 nor 64 bits");
		return NULL;
	}
	t->size = n.exponent == 8 ? 32 : 64;
	if (!n.align_given)
		n.align = 8;
	if (!ctf_is_alignment(n.align)) {
		ctf_wrong(p, "an alignment that is no power of two");
		return NULL;
	}
	t->align = (uint32_t)n.align;
	return t;
}

static struct ctf_type *ctf_parse_string(struct ctf_parser *p)
{
	struct ctf_type *t = ctf_new_type(p, CTF_STRING);
	struct tsdl_number n = {0};

	if (!t || (ctf_is_mark(&p->lexer, '{') && !parse_attributes(p, t, &n)))
		return NULL;
	t->align = 8;
	return t;
}
