#include "common/symbols/demangle.h"
#include "common/symbols/demangle_simple.h"

#include <stdlib.h>
#include <string.h>

#include "common/symbols/demangle_full.h"

bool demangle_append(struct demangle_text *t, const char *s, size_t n)
{
	bool own = t->buf && s >= t->buf && s <= t->buf + t->length;
	size_t offset = own ? (size_t)(s - t->buf) : 0;

	if (t->full || t->no_memory)
		return false;
	if (n > DEMANGLE_MAX - t->length) {
		t->full = true;
		return false;
	}
	if (t->length + n >= t->room) {
		size_t room = t->room ? t->room : 64;
		char *buf;

		while (room <= t->length + n)
			room *= 2;
		buf = realloc(t->buf, room);
		if (!buf) {
			t->no_memory = true;
			return false;
		}
		t->buf = buf;
		t->room = room;
	}
	if (n)
		memcpy(t->buf + t->length, own ? t->buf + offset : s, n);
	t->length += n;
	t->buf[t->length] = '\0';
	return true;
}

bool demangle_puts(struct demangle_text *t, const char *s)
{
	return demangle_append(t, s, strlen(s));
}

/* Return the length of what precedes a mangled name and is not part of it: initialisers of a
 * file, CUDA stubs. */
static size_t prefix_length(const char *name)
{
	static const char *const prefixes[] = {"_GLOBAL__sub_I_", "__device_stub_"};
	size_t i;

	for (i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return strlen(prefixes[i]);
	return 0;
}

static enum demangle_result demangle_by_grammar(struct demangle_text *t, const char *name,
						size_t length)
{
	size_t prefix = prefix_length(name);
	const char *mangled = name + prefix;
	struct demangle_text rest = {0};
	enum demangle_result result;

	if (!strncmp(name, "_R", 2))
		return demangle_simple_rust(t, name, length);
	if (strncmp(mangled, "_Z", 2))
		return DEMANGLE_UNREADABLE;
	result = demangle_simple_cxx(&rest, mangled, length - prefix, NULL);
	if (result == DEMANGLE_DONE &&
	    (!demangle_append(t, name, prefix) || !demangle_append(t, rest.buf, rest.length)))
		result = DEMANGLE_EXCESSIVE;
	t->no_memory |= rest.no_memory;
	free(rest.buf);
	return result;
}

char *demangle(const char *name, enum demangle_style style)
{
	struct demangle_text t = {0};
	enum demangle_result result = DEMANGLE_UNREADABLE;
	size_t length;

	/* most names of C programs return here */
	if (style == DEMANGLE_NO || name[0] != '_')
		return strdup(name);
	length = strnlen(name, DEMANGLE_MAX + 1);
	if (length <= DEMANGLE_MAX)
		result = style == DEMANGLE_SIMPLE ? demangle_by_grammar(&t, name, length)
						  : demangle_full(&t, name, length);
	if (result == DEMANGLE_DONE && t.buf && !t.no_memory)
		return t.buf;
	free(t.buf);
	return t.no_memory ? NULL : strdup(name);
}

int demangle_style_parse(const char *word, enum demangle_style *style)
{
	static const char *const words[] = {
		[DEMANGLE_NO] = "no",
		[DEMANGLE_SIMPLE] = "simple",
		[DEMANGLE_FULL] = "full",
	};
	size_t i;

	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(word, words[i])) {
			*style = (enum demangle_style)i;
			return 0;
		}
	return -1;
}
