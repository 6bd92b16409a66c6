#include "cmd/trdecode/input/atrace_mark.h"

#include <string.h>

enum { PARTS = 6 };

static const char no_name[] = "(no name)"; /* as other traces that name calls have it */

bool atrace_mark_number(struct mark_text s, int64_t *number)
{
	bool minus = s.size && *s.at == '-';
	uint64_t n = 0;

	while (s.size && s.at[s.size - 1] == ' ')
		s.size--;
	if (s.size == minus)
		return false;
	for (size_t i = minus; i < s.size; i++) {
		unsigned digit = (unsigned char)(s.at[i] - '0');

		if (digit > 9 || __builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, digit, &n))
			return false;
	}
	if (n > (minus ? 1ull << 63 : INT64_MAX))
		return false;
	*number = (int64_t)(minus ? -n : n);
	return true;
}

/* Split the text after the letter at its bars; the last of at most `most` parts has the rest. */
static unsigned split(struct mark_text s, struct mark_text *parts, unsigned most)
{
	unsigned n = 0;

	while (n + 1 < most) {
		const char *bar = s.size ? memchr(s.at, '|', s.size) : NULL;
		size_t size;

		if (!bar)
			break;
		size = (size_t)(bar - s.at);
		parts[n++] = (struct mark_text){s.at, size};
		s = (struct mark_text){bar + 1, s.size - size - 1};
	}
	parts[n++] = s;
	return n;
}

bool atrace_mark_argument(struct mark_text *arguments, struct mark_text *key,
			  struct mark_text *value)
{
	const char *at = arguments->at, *end, *equal, *semicolon;

	if (!arguments->size)
		return false;
	semicolon = memchr(at, ';', arguments->size);
	end = semicolon ? semicolon : at + arguments->size;
	equal = memchr(at, '=', (size_t)(end - at));
	if (!equal || equal == at)
		return false;
	*key = (struct mark_text){at, (size_t)(equal - at)};
	*value = (struct mark_text){equal + 1, (size_t)(end - equal - 1)};
	end += semicolon != NULL;
	arguments->size -= (size_t)(end - at);
	arguments->at = end;
	return true;
}

/* Take the arguments and the category from parts. Returns false if they are none. */
static bool take_arguments(struct atrace_mark *m, const struct mark_text *p, unsigned n)
{
	struct mark_text rest = n ? p[0] : (struct mark_text){0}, key, value;

	while (atrace_mark_argument(&rest, &key, &value))
		;
	if (rest.size || n > 2)
		return false;
	if (n)
		m->arguments = p[0];
	if (n > 1)
		m->category = p[1];
	return true;
}

/* Return the text from a part to the end of the last one. */
static struct mark_text from(const struct mark_text *p, unsigned n)
{
	return (struct mark_text){p[0].at, (size_t)(p[n - 1].at + p[n - 1].size - p[0].at)};
}

/* Take the n parts; the first one is TGID. */
static bool take_parts(struct atrace_mark *m, const struct mark_text *p, unsigned n)
{
	static const char letters[] = "EBICSFNGH";
	static const unsigned char least[] = {1, 2, 2, 3, 3, 3, 3, 4, 3};

	if (n < least[strchr(letters, m->what) - letters])
		return false;
	/* a call of a thread may have no name */
	if (m->what != 'E' && m->what != 'B' && !p[1].size)
		return false;
	switch (m->what) {
	case 'E':
		if (n > 2)
			take_arguments(m, p + 2, n - 2);
		return true;
	case 'B':
		m->name = take_arguments(m, p + 2, n - 2) ? p[1] : from(p + 1, n - 1);
		return true;
	case 'I': m->name = from(p + 1, n - 1); return true;
	case 'N':
		m->track = p[1];
		m->name = from(p + 2, n - 2);
		return true;
	case 'C':
		m->name = p[1];
		m->category = n > 3 ? p[3] : m->category;
		return atrace_mark_number(p[2], &m->value);
	case 'S':
	case 'F':
		m->name = p[1];
		m->cookie = p[2];
		m->id = from(p, 3);
		return take_arguments(m, p + 3, n - 3);
	default:
		m->track = p[1];
		m->name = n > 3 ? p[2] : (struct mark_text){0};
		m->cookie = p[n > 3 ? 3 : 2];
		return true;
	}
}

bool atrace_mark_read(struct atrace_mark *m, const char *text, size_t n)
{
	struct mark_text parts[PARTS] = {{0}};
	unsigned count;

	*m = (struct atrace_mark){0};
	if (!n || !memchr("BEISFCNGH", *text, 9) || (n > 1 && text[1] != '|'))
		return false;
	m->what = *text;
	if (n < 2)
		return m->what == 'E';
	count = split((struct mark_text){text + 2, n - 2}, parts, PARTS);
	m->has_tgid = atrace_mark_number(parts[0], &m->tgid);
	if ((!m->has_tgid && parts[0].size) || !take_parts(m, parts, count))
		return false;
	if (strchr("BGN", m->what) && !m->name.size)
		m->name = (struct mark_text){no_name, sizeof no_name - 1};
	return true;
}
