#include "cmd/trencode/text/tracecmd/plan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 128, CONVERSIONS = 128 };

struct span {
	const char *at, *end;
};

/* A conversion of print fmt. */
struct conversion {
	struct span text; /* "%08llx" */
	int argument;	  /* index of its argument */
	bool prefix;	  /* "0x" is before it */
};

static struct span trim(struct span s)
{
	while (s.at < s.end && isspace((unsigned char)*s.at))
		s.at++;
	while (s.end > s.at && isspace((unsigned char)s.end[-1]))
		s.end--;
	return s;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Return the end of the string literal that begins at p. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

/* Return the end of an argument: a comma outside of brackets, or the end of the text. */
static const char *argument_end(const char *p, const char *end)
{
	int open = 0;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		if (*p == ',' && !open)
			return p;
		if (*p == '(' || *p == '{' || *p == '[')
			open++;
		if (*p == ')' || *p == '}' || *p == ']')
			open--;
		p++;
	}
	return end;
}

static const char *closing_bracket(const char *p, const char *end)
{
	int open = 0;

	for (; p < end; p++) {
		open += *p == '(';
		open -= *p == ')';
		if (!open)
			return p;
	}
	return NULL;
}

static bool is_one_of(struct span s, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == (size_t)(s.end - s.at) &&
		    !memcmp(names[i], s.at, strlen(names[i])))
			return true;
	return false;
}

/* Test whether a word may be followed by a bracket. At other words trace-cmd gives up the format.
 */
static bool is_function(struct span s, bool plugins)
{
	static const char *const known[] = {"__print_flags",
					    "__print_symbolic",
					    "__print_hex",
					    "__print_hex_str",
					    "__print_array",
					    "__get_str",
					    "__get_rel_str",
					    "__get_dynamic_array",
					    "__get_rel_dynamic_array",
					    "__get_dynamic_array_len",
					    "__get_rel_dynamic_array_len",
					    "__get_bitmask",
					    "__get_rel_bitmask",
					    "__get_cpumask",
					    "__get_rel_cpumask",
					    "sizeof",
					    "__builtin_expect",
					    "__print_symbolic_u64",
					    "__print_flags_u64"};
	static const char *const of_plugins[] = {"is_writable_pte",    "jbd2_dev_to_name",
						 "jiffies_to_msecs",   "__le16_to_cpup",
						 "xen_hypercall_name", "scsi_trace_parse_cdb"};

	return is_one_of(s, known, sizeof known / sizeof *known) ||
	       (plugins && is_one_of(s, of_plugins, sizeof of_plugins / sizeof *of_plugins));
}

static bool is_readable(struct span s, bool plugins)
{
	const char *p = s.at, *word;

	while (p < s.end) {
		if (*p == '"') {
			p = skip_string(p, s.end);
		} else if (isalpha((unsigned char)*p) || *p == '_') {
			for (word = p; p < s.end && is_word(*p); p++)
				;
			if (p < s.end && *p == '(' && !is_function((struct span){word, p}, plugins))
				return false;
		} else if (*p == '(' && p + 1 < s.end && p[1] == '{') {
			return false;
		} else {
			p++;
		}
	}
	return true;
}

static bool is_type(struct span s)
{
	bool any = false;

	for (const char *p = s.at; p < s.end; p++) {
		if (!is_word(*p) && *p != '*' && *p != ' ')
			return false;
		any = any || isalpha((unsigned char)*p);
	}
	return any && !memmem(s.at, (size_t)(s.end - s.at), "REC", 3);
}

static bool has_word(struct span s, const char *word)
{
	return memmem(s.at, (size_t)(s.end - s.at), word, strlen(word));
}

static void take_cast(struct plan_field *f, struct span type, uint8_t word)
{
	bool no_sign = has_word(type, "unsigned") || has_word(type, "u8") ||
		       has_word(type, "u16") || has_word(type, "u32") || has_word(type, "u64") ||
		       has_word(type, "size_t") || has_word(type, "*");
	uint8_t size = has_word(type, "*") || has_word(type, "size_t")		  ? word
		       : has_word(type, "long long") || has_word(type, "64")	  ? 8
		       : has_word(type, "long")					  ? word
		       : has_word(type, "short") || has_word(type, "16")	  ? 2
		       : has_word(type, "char") || has_word(type, "8")		  ? 1
		       : has_word(type, "int") || has_word(type, "32") || no_sign ? 4
										  : 0;

	/* of several casts the innermost counts, which is the last */
	if (size && (!f->cast || size < f->cast)) {
		f->cast = size;
		f->cast_signed = !no_sign;
	}
}

/* Return the name of the field that the argument is, without casts and brackets. The span is empty
 * if the argument is not a field. */
static struct span plain_field(struct span s, struct plan_field *f, uint8_t word)
{
	const struct span none = {s.end, s.end};

	for (;;) {
		const char *close;

		s = trim(s);
		if (s.at == s.end || *s.at != '(')
			break;
		close = closing_bracket(s.at, s.end);
		if (!close)
			return none;
		if (close + 1 == s.end) {
			s = (struct span){s.at + 1, close};
			continue;
		}
		if (close - s.at == 4 && !memcmp(s.at, "(REC)", 5)) {
			s.at = close + 1;
			break;
		}
		if (!is_type(trim((struct span){s.at + 1, close})))
			return none;
		take_cast(f, (struct span){s.at + 1, close}, word);
		s.at = close + 1;
	}
	if (s.end - s.at > 3 && !memcmp(s.at, "REC", 3))
		s.at += 3;
	if (s.end - s.at < 3 || memcmp(s.at, "->", 2))
		return none;
	s = trim((struct span){s.at + 2, s.end});
	for (const char *p = s.at; p < s.end; p++)
		if (!is_word(*p))
			return none;
	return s;
}

/* Read the conversions of the format and the arguments they take. Returns their number. */
static size_t read_conversions(struct span format, struct conversion *out, size_t room)
{
	size_t n = 0;
	int argument = 0;
	bool prefix = false;

	for (const char *p = format.at; p < format.end && n < room;) {
		const char *begin = p;

		if (*p != '%') {
			p += *p == '\\' && p + 1 < format.end ? 2 : 1;
			/* only a "0x" directly before the conversion counts, as in trace-cmd */
			prefix = p - begin == 1 && p - format.at >= 2 && p[-1] == 'x' &&
				 p[-2] == '0';
			continue;
		}
		if (p + 1 < format.end && p[1] == '%') {
			p += 2;
			prefix = false;
			continue;
		}
		for (p++; p < format.end &&
			  (strchr("#-+ 0'.*hlLqjzt", *p) || isdigit((unsigned char)*p));
		     p++)
			argument += *p == '*';
		if (p == format.end)
			break;
		p++;
		out[n++] = (struct conversion){{begin, p}, argument, prefix};
		/* libtraceevent 1.7.1 does not know %c and takes no argument for it */
		argument++;
		prefix = false;
	}
	return n;
}

/* Make the conversion for a number of 64 bits; set bits to those that the given one takes. */
static void take_conversion(struct plan_field *f, struct span c, uint8_t word)
{
	size_t n = 0;
	int l = 0, h = 0;
	char last = c.end[-1];

	for (const char *p = c.at; p < c.end - 1; p++) {
		l += *p == 'l' || *p == 'q' || *p == 'L' || *p == 'j' ? 1 + (*p != 'l') : 0;
		l += *p == 'z' || *p == 't';
		h += *p == 'h';
		if (!strchr("lLqjzth*", *p) && n < sizeof f->conversion - 5)
			f->conversion[n++] = *p;
	}
	f->bits = (uint8_t)(l >= 2 ? 64 : l == 1 ? word * 8 : h == 1 ? 16 : h >= 2 ? 8 : 32);
	f->conversion[n++] = 'l';
	f->conversion[n++] = 'l';
	f->conversion[n++] = last;
	f->conversion[n] = '\0';
}

static void apply_conversion(struct plan_field *f, const struct conversion *c, uint8_t word)
{
	const char *p = memchr(c->text.at, 'p', (size_t)(c->text.end - c->text.at));
	char last = c->text.end[-1];

	f->prefix = c->prefix;
	if (p) {
		char kind = c->text.end[0];

		f->how = strchr("sf", kind) && kind   ? PLAN_FUNCTION
			 : strchr("SF", kind) && kind ? PLAN_FUNCTION_AT
						      : PLAN_POINTER;
	} else if (last == 's') {
		f->how = PLAN_STRING;
	} else if (strchr("diuxXoc", last)) {
		f->how = PLAN_NUMBER;
		take_conversion(f, c->text, word);
	}
}

/* Return the end of the conversion with its letter of a function: "%pS". */
static const char *conversion_end(const struct conversion *c, const char *end)
{
	const char *p = c->text.end;

	return p < end && p[-1] == 'p' && strchr("sSfF", *p) ? p + 1 : p;
}

/* Find the format in "print fmt: "...", args": the literal without its quotes, and the rest. */
static bool find_format(const struct type *t, struct span *format, struct span *rest)
{
	const char *text = t->declaration.text, *end = text + t->declaration.size,
		   *p = memmem(text, (size_t)(end - text), "print fmt:", 10), *q;

	if (!p)
		return false;
	p += 10;
	while (p < end && isspace((unsigned char)*p))
		p++;
	if (p == end || *p != '"')
		return false;
	q = skip_string(p, end);
	*format = (struct span){p + 1, q > p + 1 ? q - 1 : q};
	*rest = trim((struct span){q, end});
	/* formats of several literals are ignored: none of them prints a plain field */
	return rest->at == rest->end || *rest->at == ',';
}

static void plan_describe(struct plan_field *f, const struct field *field)
{
	const char *type = field->type_name.text;

	f->field = field;
	f->array = strchr(type, '[') || !strncmp(type, "__data_loc", 10) ||
		   !strncmp(type, "__rel_loc", 9);
	f->string = strstr(type, "char") || strstr(type, "u8") || strstr(type, "s8");
	f->pointer = strchr(type, '*') != NULL;
	f->is_long = strstr(type, "long") != NULL;
	f->is_signed = field->kind == FIELD_INT || field->kind == FIELD_CHAR ||
		       (field->kind == FIELD_ENUM && !definition_is_unsigned(field->definition));
}

static void plan_find_conversions(struct plan *plan, const struct type *t, bool plugins)
{
	struct conversion conversions[CONVERSIONS];
	struct span arguments[ARGUMENTS], format, rest;
	size_t nconversions, narguments = 0, next = 0;

	if (!find_format(t, &format, &rest) || !is_readable(rest, plugins))
		return;
	nconversions = read_conversions(format, conversions, CONVERSIONS);
	for (const char *p = rest.at; p < rest.end && narguments < ARGUMENTS;) {
		const char *end = argument_end(p + 1, rest.end);

		arguments[narguments++] = trim((struct span){p + 1, end});
		p = end;
	}
	/* fields are searched from the conversion after the last one used, with wrap-around; once
	   the last conversion is used, the remaining fields are printed by their type */
	for (size_t i = 0; i < plan->count && next < nconversions; i++) {
		struct plan_field *f = &plan->fields[i];

		for (size_t k = 0; k < nconversions && !f->array; k++) {
			size_t at = (next + k) % nconversions;
			const struct conversion *c = &conversions[at];
			struct plan_field with = *f;
			struct span name;

			if ((size_t)c->argument >= narguments)
				continue;
			name = plain_field(arguments[c->argument], &with, t->word_size);
			if ((size_t)(name.end - name.at) != f->field->name.size ||
			    !f->field->name.size ||
			    memcmp(name.at, f->field->name.text, f->field->name.size))
				continue;
			apply_conversion(&with, c, t->word_size);
			*f = with;
			next = at + 1;
			/* with text after the last conversion the search wraps around */
			if (next == nconversions && conversion_end(c, format.end) < format.end)
				next = 0;
			break;
		}
	}
}

struct plan *plan_make(const struct type *t, bool plugins)
{
	struct plan *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->fields = calloc(t->nfields + 1, sizeof *p->fields);
	if (!p->fields) {
		free(p);
		return NULL;
	}
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];

		if (f->where != WHERE_FIXED && strncmp(f->name.text, "common_", 7))
			plan_describe(&p->fields[p->count++], f);
	}
	/* print fmt of bprint is a placeholder for the format that the event carries */
	if (strcmp(t->name.text, "bprint") || strcmp(t->group.text, "ftrace"))
		plan_find_conversions(p, t, plugins);
	return p;
}

void plan_free(struct plan *p)
{
	if (p)
		free(p->fields);
	free(p);
}
