/*
 * demangle.c - any bytes as a mangled name, and as tables of symbols in text
 */
#include <string.h>

#include "common/symbols/demangle.h"
#include "common/symbols/symbols.h"
#include "t/fuzz/fuzz.h"

/* A mangled name may name a part of itself again and again, each in two others. */
enum { NAME_LEAST = 4 << 20 };

static void look_at(struct symbols *s)
{
	for (size_t i = 0; s && i < symbols_count(s); i++)
		need(symbols_at(s, i)->name != NULL, "a symbol without a name");
	if (s)
		symbols_find(s, 0x1000);
	symbols_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	need(text != NULL, "out of memory");
	memcpy(text, data, size);
	text[size] = '\0';
	for (int style = DEMANGLE_NO; style <= DEMANGLE_FULL; style++) {
		char *name = demangle(text, style);

		need(!name || strlen(name) <= NAME_LEAST + OUTPUT_FACTOR * size, "too long a name");
		free(name);
	}
	look_at(symbols_from_uftrace(text, size));
	look_at(symbols_from_kallsyms(text, size));
	free(text);
	return 0;
}
