/* A symbol by its name */
#include "common/symbols/symbols.h"

static inline const struct symbol *symbol_named(const struct symbols *s, const char *name)
{
	for (size_t i = 0; i < symbols_count(s); i++)
		if (!strcmp(symbols_at(s, i)->name, name))
			return symbols_at(s, i);
	return NULL;
}
