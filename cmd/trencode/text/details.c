#include "cmd/trencode/text/details.h"

#include <stdlib.h>

/* Find repeated arguments, whose last value is the valid one. *last: the end of the last value of
 * each argument, by number; NULL if no argument is repeated. */
static int find_repeated(const uint8_t *tail, size_t n, const uint8_t ***last)
{
	uint8_t seen[VALUE_INDEX_LIMIT / 8 + 1];
	struct values v;
	struct detail d;
	uint64_t most = 0, cleared = 0;
	bool repeated = false;

	*last = NULL;
	for (values_begin(&v, tail, n); values_detail(&v, &d);) {
		if (d.what != DETAIL_ARGUMENT)
			continue;
		for (; cleared <= d.index / 8; cleared++)
			seen[cleared] = 0;
		repeated |= seen[d.index / 8] >> d.index % 8 & 1;
		seen[d.index / 8] |= (uint8_t)(1 << d.index % 8);
		most = d.index > most ? d.index : most;
	}
	if (!repeated)
		return 0;
	*last = calloc(most + 1, sizeof **last);
	if (!*last)
		return -1;
	for (values_begin(&v, tail, n); values_detail(&v, &d);)
		if (d.what == DETAIL_ARGUMENT)
			(*last)[d.index] = v.at;
	return 0;
}

int details_append_arguments(struct buffer *out, const uint8_t *tail, size_t n,
			     int (*value)(void *to, struct values *v), void *to)
{
	const uint8_t **last;
	struct values v;
	uint64_t index;
	uint8_t what;
	bool any = false;
	int bad;

	if (find_repeated(tail, n, &last))
		return -1;
	bad = buffer_puts(out, "(");
	values_begin(&v, tail, n);
	while (!bad && values_what(&v, &what, &index)) {
		size_t before = out->size;

		if (what != DETAIL_ARGUMENT) {
			bad = !values_skip(&v);
			continue;
		}
		bad = (any && buffer_puts(out, ", ")) || value(to, &v);
		if (last && last[index] != v.at)
			out->size = before;
		else
			any = true;
	}
	free(last);
	return bad || buffer_puts(out, ")") ? -1 : 0;
}

int details_append_return(struct buffer *out, const uint8_t *tail, size_t n,
			  int (*value)(void *to, struct values *v), void *to)
{
	struct values v;
	uint64_t index;
	uint8_t what;

	values_begin(&v, tail, n);
	while (values_what(&v, &what, &index)) {
		if (what == DETAIL_RETURN)
			return buffer_puts(out, " = ") || value(to, &v) ? -1 : 0;
		if (!values_skip(&v))
			return -1;
	}
	return 0;
}
