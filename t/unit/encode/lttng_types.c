/* links: cmd/trencode */
/* Names of the events that the LTTng encoder writes. */
#include "cmd/trencode/lttng.h"

#include <stdlib.h>

#include "t/unit/tap.h"

enum { EVENTS = 3 };

/* Copy the formats that events of one type get, in the order of the events. location: of each. */
static void formats(const uint32_t *location, char text[EVENTS][256])
{
	struct target_dictionary *d = calloc(1, sizeof *d);
	struct type type = {.name = {"e", 1, 0}, .group = {"", 0, 0}, .kind = KIND_INSTANT};
	struct lttng_types types = {0};

	dictionary_init(&d->dictionary);
	d->source = pool_add(&d->dictionary.sources);
	for (int i = 0; i < EVENTS; i++) {
		struct event ev = {.type = &type, .location = location[i]};
		const struct lttng_converted_type *w;

		ok(!lttng_types_find(&types, d, &ev, &w), "a form");
		snprintf(text[i], sizeof text[i], "%s", w->type->declaration.text);
	}
	lttng_types_free(&types);
	for (size_t i = 0; i < d->nkept; i++)
		free(d->kept[i]);
	free(d->kept);
	dictionary_free(&d->dictionary);
	free(d);
}

int main(void)
{
	static const uint32_t with_first[EVENTS] = {7, 0, 7}, without_first[EVENTS] = {0, 7, 0};
	char a[EVENTS][256], b[EVENTS][256];

	formats(with_first, a);
	formats(without_first, b);
	ok(strstr(a[0], "_at %s"), "an event at a location has the name of the location");
	ok(!strstr(a[1], "_at"), "an event without a location has no name");
	is_str(a[2], a[0], "each event has the form of its own");
	is_str(b[1], a[0], "after events without a location, too");
	is_str(b[0], a[1], "events without a location: the same form before and after others");
	is_str(b[2], a[1], "and between them");
	return done();
}
