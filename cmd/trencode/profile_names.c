#include "profile_names.h"

#include "common/utf8.h"

/* u32 line, and three texts each with its NUL */
static int put_text(struct buffer *to, struct text_ref text)
{
	size_t from = to->size;

	if (utf8_append(to, text.text, text.size))
		return -1;
	for (size_t i = from; i < to->size; i++)
		if (to->data[i] < 0x20 || to->data[i] == 0x7f)
			to->data[i] = '?';
	return buffer_u8(to, 0);
}

int profile_name_key(struct buffer *to, const struct place *p, struct text_ref name)
{
	const struct place_symbol *s = p ? p->symbol : NULL;
	struct text_ref none = {"", 0, 0};

	return buffer_u32(to, s ? s->line : 0) || put_text(to, name) ||
			       put_text(to, s ? s->module : none) ||
			       put_text(to, s ? s->file : none)
		       ? -1
		       : 0;
}

struct profile_name profile_name_of(const struct intern *names, uint32_t number)
{
	const char *data = intern_data(names, number);
	struct profile_name n = {.line = get_u32(data), .name = data + 4};

	n.module = n.name + strlen(n.name) + 1;
	n.file = n.module + strlen(n.module) + 1;
	return n;
}
