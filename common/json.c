#include "json.h"

#include "utf8.h"

/* Does the byte stand for itself inside a string? */
static bool plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* One character or bad byte; returns how many bytes it took. */
static size_t put_other(struct text *t, const char *p, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char c = (unsigned char)*p;
	size_t length;

	switch (c) {
	case '"': text_puts(t, "\\\""); return 1;
	case '\\': text_puts(t, "\\\\"); return 1;
	case '\b': text_puts(t, "\\b"); return 1;
	case '\f': text_puts(t, "\\f"); return 1;
	case '\n': text_puts(t, "\\n"); return 1;
	case '\r': text_puts(t, "\\r"); return 1;
	case '\t': text_puts(t, "\\t"); return 1;
	default: break;
	}
	if (c < 0x20 || c == 0x7f) {
		char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

		text_put(t, escape, sizeof escape);
		return 1;
	}
	length = utf8_length(p, n);
	if (!length) {
		text_puts(t, "\xef\xbf\xbd");
		return 1;
	}
	text_put(t, p, length);
	return length;
}

void json_string(struct text *t, const char *p, size_t n)
{
	text_char(t, '"');
	while (n) {
		size_t run = 0;

		while (run < n && plain((unsigned char)p[run]))
			run++;
		if (run)
			text_put(t, p, run);
		else
			run = put_other(t, p, n);
		p += run;
		n -= run;
	}
	text_char(t, '"');
}
