/*
 * print_types.c - parses types in casts: the words of C, and the kernel's names of types
 */
#include "common/ftrace/print_parser.h"

struct type_words {
	int longs, words;
	bool is_unsigned, known;
	struct parsed_type named;
};

static bool named_type(const struct print_token *t, unsigned word, struct parsed_type *out)
{
	static const struct {
		const char *name;
		uint8_t size; /* 0: a long */
		bool is_signed;
	} types[] = {
		{"char", 1, true},	   {"short", 2, true},	   {"int", 4, true},
		{"u8", 1, false},	   {"u16", 2, false},	   {"u32", 4, false},
		{"u64", 8, false},	   {"s8", 1, true},	   {"s16", 2, true},
		{"s32", 4, true},	   {"s64", 8, true},	   {"__u8", 1, false},
		{"__u16", 2, false},	   {"__u32", 4, false},	   {"__u64", 8, false},
		{"__s8", 1, true},	   {"__s16", 2, true},	   {"__s32", 4, true},
		{"__s64", 8, true},	   {"__be16", 2, false},   {"__be32", 4, false},
		{"__be64", 8, false},	   {"__le16", 2, false},   {"__le32", 4, false},
		{"__le64", 8, false},	   {"uint8_t", 1, false},  {"uint16_t", 2, false},
		{"uint32_t", 4, false},	   {"uint64_t", 8, false}, {"int8_t", 1, true},
		{"int16_t", 2, true},	   {"int32_t", 4, true},   {"int64_t", 8, true},
		{"size_t", 0, false},	   {"ssize_t", 0, true},   {"uintptr_t", 0, false},
		{"pid_t", 4, true},	   {"dev_t", 4, false},	   {"gfp_t", 4, false},
		{"loff_t", 8, true},	   {"sector_t", 8, false}, {"ktime_t", 8, true},
		{"umode_t", 2, false},	   {"pgoff_t", 0, false},  {"dma_addr_t", 8, false},
		{"phys_addr_t", 8, false},
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (parse_name_is(t, types[i].name)) {
			out->size = types[i].size ? types[i].size : (uint8_t)word;
			out->is_signed = types[i].is_signed;
			return true;
		}
	if (parse_name_is(t, "bool") || parse_name_is(t, "_Bool")) {
		out->size = 1;
		out->boolean = true;
		return true;
	}
	return false;
}

/* Read one word of a type: "unsigned long", "struct sk_buff". */
static void type_word(struct parser *p, struct type_words *w)
{
	const struct print_token *t = &p->lexer.token;

	w->words++;
	if (parse_name_is(t, "unsigned")) {
		w->is_unsigned = w->known = true;
	} else if (parse_name_is(t, "long")) {
		w->longs++;
		w->known = true;
	} else if (parse_name_is(t, "signed") || parse_name_is(t, "const") ||
		   parse_name_is(t, "volatile") || parse_name_is(t, "void")) {
		w->known = true;
	} else if (parse_name_is(t, "struct") || parse_name_is(t, "union") ||
		   parse_name_is(t, "enum")) {
		w->known = true;
		w->named = (struct parsed_type){0};
		if (parse_name_is(t, "enum"))
			w->named = (struct parsed_type){.size = 4};
	} else if (named_type(t, p->lexer.word, &w->named)) {
		w->known = true;
	} else if (t->size > 2 && !memcmp(t->text + t->size - 2, "_t", 2)) {
		w->known = true;
	}
}

bool parse_cast_type(struct parser *p, struct parsed_type *out)
{
	struct print_lexer before = p->lexer;
	struct type_words w = {0};
	bool star = false;

	for (; p->lexer.token.kind == TOKEN_NAME; parse_next(p)) {
		if (parse_name_is(&p->lexer.token, "REC") ||
		    parse_name_is(&p->lexer.token, "sizeof"))
			goto none;
		type_word(p, &w);
	}
	*out = w.named;
	if (w.longs)
		*out = (struct parsed_type){.size = (uint8_t)(w.longs > 1 ? 8 : p->lexer.word),
					    .is_signed = true};
	else if (w.is_unsigned && !out->size)
		out->size = 4;
	if (w.is_unsigned)
		out->is_signed = false;
	for (; parse_is(p, "*") || (star && p->lexer.token.kind == TOKEN_NAME); parse_next(p)) {
		uint8_t target = star ? (uint8_t)p->lexer.word : out->size;

		if (!parse_is(p, "*"))
			continue;
		*out = (struct parsed_type){.size = (uint8_t)p->lexer.word,
					    .pointer = true,
					    .target = target,
					    .target_signed = out->is_signed};
		star = true;
	}
	if (!w.words || !parse_is(p, ")"))
		goto none;
	parse_next(p);
	if (w.known || star)
		return true;
	/* a name may be a type only if an operand follows */
	if (p->lexer.token.kind == TOKEN_NAME || p->lexer.token.kind == TOKEN_NUMBER ||
	    p->lexer.token.kind == TOKEN_STRING || parse_is(p, "("))
		return true;
none:
	p->lexer = before;
	return false;
}
