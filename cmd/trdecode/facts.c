#include "facts.h"

#include <ctype.h>

#include "common/json.h"

void facts_open(struct text *text, bool json)
{
	if (json)
		text_puts(text, "[\n");
}

void facts_close(struct text *text, bool json)
{
	if (json)
		text_puts(text, "\n]\n");
}

static void end_list(struct facts *f)
{
	if (f->list && f->json)
		text_char(f->text, ']');
	f->list = NULL;
}

/* JSON names have no blanks: "max stack" is "max_stack". */
static void begin_fact(struct facts *f, const char *name)
{
	end_list(f);
	if (f->json) {
		text_puts(f->text, f->any ? ",\n    \"" : "\n    \"");
		for (; *name; name++)
			text_char(f->text, *name == ' ' ? '_' : *name);
		text_puts(f->text, "\": ");
	} else {
		size_t n = strlen(name);

		text_puts(f->text, name);
		text_pad(f->text, ' ', n < 18 ? 18 - n : 1);
	}
	f->any = true;
}

void facts_begin(struct facts *f, struct text *text, bool json, const char *input, bool first)
{
	*f = (struct facts){.text = text, .json = json};
	if (json)
		text_puts(text, first ? "  {" : ",\n  {");
	else if (!first)
		text_char(text, '\n');
	fact_text(f, "input", input);
}

void facts_end(struct facts *f)
{
	end_list(f);
	if (f->json)
		text_puts(f->text, "\n  }");
}

static size_t trimmed(const char *value)
{
	size_t n = value ? strlen(value) : 0;

	while (n && isspace((unsigned char)value[n - 1]))
		n--;
	return n;
}

static void put_value(struct facts *f, const char *value, size_t n)
{
	if (f->json) {
		json_string(f->text, value, n);
	} else {
		text_masked(f->text, value, n);
		text_char(f->text, '\n');
	}
}

void fact_text(struct facts *f, const char *name, const char *value)
{
	size_t n = trimmed(value);

	if (!n)
		return;
	begin_fact(f, name);
	put_value(f, value, n);
}

void fact_item(struct facts *f, const char *name, const char *value)
{
	bool further = f->list && !strcmp(f->list, name);

	if (!further || !f->json)
		begin_fact(f, name);
	if (f->json)
		text_puts(f->text, further ? ", " : "[");
	f->list = name;
	put_value(f, value, trimmed(value));
}

void fact_number(struct facts *f, const char *name, uint64_t value)
{
	begin_fact(f, name);
	text_u64(f->text, value);
	if (!f->json)
		text_char(f->text, '\n');
}
