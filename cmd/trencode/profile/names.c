#include "cmd/trencode/profile/names.h"

#include <ctype.h>

#include "common/util/utf8.h"

/* Test whether \xHH is at p. */
static bool profile_looks_escaped(const char *p, size_t n)
{
	return n > 3 && p[0] == '\\' && p[1] == 'x' && isxdigit((unsigned char)p[2]) &&
	       isxdigit((unsigned char)p[3]);
}

/* Append the text and a NUL. Control characters, bytes that are no UTF-8, and the backslash of an
 * \xHH become \xHH, so different names remain different. */
static int profile_put_text(struct buffer *to, struct text_ref text)
{
	const char *p = text.text;

	for (size_t n = text.size, size; n; p += size, n -= size) {
		size = utf8_length(p, n);
		if (!size || (unsigned char)*p < 0x20 || *p == 0x7f ||
		    profile_looks_escaped(p, n)) {
			size = 1;
			if (buffer_printf(to, "\\x%02x", (unsigned char)*p))
				return -1;
		} else if (buffer_append(to, p, size)) {
			return -1;
		}
	}
	return buffer_u8(to, 0);
}

int profile_name_key(struct buffer *to, const struct location *p, struct text_ref name)
{
	const struct location_symbol *s = p ? p->symbol : NULL;
	struct text_ref none = {"", 0, 0};

	return buffer_u32(to, s ? s->line : 0) || profile_put_text(to, name) ||
			       profile_put_text(to, s ? s->module : none) ||
			       profile_put_text(to, s ? s->file : none)
		       ? -1
		       : 0;
}

struct profile_name profile_name_of(const struct intern *names, uint32_t number)
{
	return profile_name_at(intern_data(names, number));
}

struct profile_name profile_name_at(const char *data)
{
	struct profile_name n = {.line = get_u32(data), .name = data + 4};

	n.module = n.name + strlen(n.name) + 1;
	n.file = n.module + strlen(n.module) + 1;
	return n;
}
