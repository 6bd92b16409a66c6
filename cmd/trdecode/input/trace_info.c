#include "cmd/trdecode/input/trace_info.h"

#include <ctype.h>

#include "common/value/json.h"

void trace_info_open(struct text *text, bool json)
{
	if (json)
		text_puts(text, "[\n");
}

void trace_info_close(struct text *text, bool json)
{
	if (json)
		text_puts(text, "\n]\n");
}

static void end_list(struct trace_info *f)
{
	if (f->list && f->json)
		text_char(f->text, ']');
	f->list = NULL;
}

/* Begin a name and value. JSON names have no blanks: "max stack" is "max_stack". A name may be
 * from the trace. */
static void begin_fact(struct trace_info *f, const char *name)
{
	size_t n = strlen(name);

	end_list(f);
	if (f->json) {
		char key[512];

		if (n > sizeof key)
			n = sizeof key;
		for (size_t i = 0; i < n; i++)
			key[i] = name[i] == ' ' ? '_' : name[i];
		text_puts(f->text, f->any ? ",\n    " : "\n    ");
		json_string(f->text, key, n);
		text_puts(f->text, ": ");
	} else {
		text_masked(f->text, name, n);
		text_pad(f->text, ' ', n < 18 ? 18 - n : 1);
	}
	f->any = true;
}

void trace_info_begin(struct trace_info *f, struct text *text, bool json, const char *input,
		      bool first)
{
	*f = (struct trace_info){.text = text, .json = json};
	if (json)
		text_puts(text, first ? "  {" : ",\n  {");
	else if (!first)
		text_char(text, '\n');
	fact_text(f, "input", input);
}

void trace_info_end(struct trace_info *f)
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

static void put_value(struct trace_info *f, const char *value, size_t n)
{
	if (f->json) {
		json_string(f->text, value, n);
	} else {
		text_masked(f->text, value, n);
		text_char(f->text, '\n');
	}
}

void fact_text(struct trace_info *f, const char *name, const char *value)
{
	size_t n = trimmed(value);

	if (!n)
		return;
	begin_fact(f, name);
	put_value(f, value, n);
}

void fact_item(struct trace_info *f, const char *name, const char *value)
{
	bool further = f->list && !strcmp(f->list, name);

	if (!further || !f->json)
		begin_fact(f, name);
	if (f->json)
		text_puts(f->text, further ? ", " : "[");
	f->list = name;
	put_value(f, value, trimmed(value));
}

void fact_number(struct trace_info *f, const char *name, uint64_t value)
{
	begin_fact(f, name);
	text_u64(f->text, value);
	if (!f->json)
		text_char(f->text, '\n');
}
