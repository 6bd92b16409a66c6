#include "cmd/trencode/convert/attributes.h"

int attributes_append_named(struct attributes *a, const char *name, const struct attribute *item,
			    struct buffer *to)
{
	struct attribute named = *item;

	named.name = dictionary_text(a->dictionary, name, strlen(name)).number;
	return named.name ? attributes_append_item(a, to, &named) : -1;
}

int attributes_append_bool(struct attributes *a, const char *name, bool value, struct buffer *to)
{
	return attributes_append_named(
		a, name, &(struct attribute){.kind = ATTRIBUTE_BOOL, .number = value}, to);
}

int attributes_append_line(struct attributes *a, uint32_t location, struct buffer *to)
{
	const struct location *l = dictionary_location(a->dictionary, location);
	const struct location_symbol *symbol = l ? l->symbol : NULL;

	if (!symbol || !symbol->line || !symbol->file.size)
		return 0;
	return attributes_append_named(a, "file",
				       &(struct attribute){.kind = ATTRIBUTE_TEXT,
							   .text = symbol->file.text,
							   .number = symbol->file.size},
				       to) ||
			       attributes_append_named(a, "line",
						       &(struct attribute){.kind = ATTRIBUTE_UINT,
									   .number = symbol->line},
						       to)
		       ? -1
		       : 0;
}
