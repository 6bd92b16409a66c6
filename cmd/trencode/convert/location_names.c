#include "cmd/trencode/convert/location_names.h"

#include <stdlib.h>

void location_names_init(struct location_names *p, struct dictionary *d,
			 int (*render)(struct buffer *to, const char *name, size_t n))
{
	*p = (struct location_names){
		.dictionary = d, .render = render, .symbol_changes = d->symbol_changes};
}

void location_names_init_strings(struct location_names *p, struct dictionary *d,
				 int (*render)(struct buffer *to, const char *name, size_t n))
{
	location_names_init(p, d, render);
	p->strings = true;
}

void location_names_free(struct location_names *p)
{
	free(p->names);
	buffer_free(&p->bytes);
	*p = (struct location_names){0};
}

static int location_names_reach(struct location_names *p, uint32_t location)
{
	if (ARRAY_REACH(p->names, p->count, location))
		return -1;
	return 0;
}

int location_names_make(struct location_names *p, uint32_t location)
{
	const struct location *pl =
		p->strings ? NULL : dictionary_location(p->dictionary, location);
	struct text_ref name;

	if (p->symbol_changes != p->dictionary->symbol_changes) {
		p->symbol_changes = p->dictionary->symbol_changes;
		p->bytes.size = 0;
		if (p->count)
			memset(p->names, 0, p->count * sizeof(*p->names));
	}
	if (location_names_reach(p, location))
		return -1;
	if (p->names[location].known)
		return 0;
	name = p->strings ? dictionary_string(p->dictionary, location)
			  : dictionary_location_name(p->dictionary, location);
	p->names[location].number = name.number;
	p->names[location].at = p->bytes.size;
	/* location_names_copy may read so many bytes after it */
	if ((p->render && p->render(&p->bytes, name.text, name.size)) ||
	    buffer_reserve(&p->bytes, LOCATION_NAME_SHORT))
		return -1;
	p->names[location].size = (uint32_t)(p->bytes.size - p->names[location].at);
	p->names[location].known = true;
	p->lines |= pl && pl->symbol && pl->symbol->line;
	p->unnamed |= pl && pl->space && !pl->symbol && !pl->name.size;
	return 0;
}

void location_names_report(const struct location_names *p)
{
	if (p->unnamed)
		remark(NULL,
		       "some functions have an address but no name: run trsym before this program");
}
