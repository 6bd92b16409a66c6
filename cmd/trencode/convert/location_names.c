#include "cmd/trencode/convert/location_names.h"

#include <stdlib.h>

void place_names_init(struct place_names *p, struct dictionary *d,
		      int (*render)(struct buffer *to, const char *name, size_t n))
{
	*p = (struct place_names){
		.dictionary = d, .render = render, .symbol_changes = d->symbol_changes};
}

void place_names_init_strings(struct place_names *p, struct dictionary *d,
			      int (*render)(struct buffer *to, const char *name, size_t n))
{
	place_names_init(p, d, render);
	p->strings = true;
}

void place_names_free(struct place_names *p)
{
	free(p->names);
	buffer_free(&p->bytes);
	*p = (struct place_names){0};
}

static int make_room(struct place_names *p, uint32_t place)
{
	struct place_name *names = array_reach(p->names, &p->count, place, sizeof(*names));

	if (!names)
		return -1;
	p->names = names;
	return 0;
}

int place_names_make(struct place_names *p, uint32_t place)
{
	const struct place *pl = p->strings ? NULL : dictionary_place(p->dictionary, place);
	struct text_ref name;

	if (p->symbol_changes != p->dictionary->symbol_changes) {
		p->symbol_changes = p->dictionary->symbol_changes;
		p->bytes.size = 0;
		if (p->count)
			memset(p->names, 0, p->count * sizeof(*p->names));
	}
	if (make_room(p, place))
		return -1;
	if (p->names[place].known)
		return 0;
	name = p->strings ? dictionary_string(p->dictionary, place)
			  : dictionary_place_name(p->dictionary, place);
	p->names[place].number = name.number;
	p->names[place].at = p->bytes.size;
	/* with bytes after it that place_names_copy may read */
	if (p->render(&p->bytes, name.text, name.size) ||
	    buffer_reserve(&p->bytes, PLACE_NAME_SHORT))
		return -1;
	p->names[place].size = (uint32_t)(p->bytes.size - p->names[place].at);
	p->names[place].known = true;
	p->unnamed |= pl && pl->space && !pl->symbol && !pl->name.size;
	return 0;
}

void place_names_report(const struct place_names *p)
{
	if (p->unnamed)
		warn(NULL, NO_OFFSET,
		     "functions have no names yet: trsym belongs before this program");
}
