/*
 * scalar_types.c - the integer, floating_point and string types of TSDL, and their attributes
 */
#include <stdio.h>
#include <string.h>

#include "cmd/trdecode/ctf/parser.h"

struct number {
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

static void set_number(struct ctf_type *t, struct number *n, const char *name, int64_t value)
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
static bool parse_attributes(struct ctf_parser *p, struct ctf_type *t, struct number *n)
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
			set_number(t, n, name, number);
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

struct ctf_type *ctf_parse_integer(struct ctf_parser *p)
{
	struct ctf_type *t = ctf_new_type(p, CTF_INTEGER);
	struct number n = {0};

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

struct ctf_type *ctf_parse_float(struct ctf_parser *p)
{
	struct ctf_type *t = ctf_new_type(p, CTF_FLOAT);
	struct number n = {0};

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

struct ctf_type *ctf_parse_string(struct ctf_parser *p)
{
	struct ctf_type *t = ctf_new_type(p, CTF_STRING);
	struct number n = {0};

	if (!t || (ctf_is_mark(&p->lexer, '{') && !parse_attributes(p, t, &n)))
		return NULL;
	t->align = 8;
	return t;
}
