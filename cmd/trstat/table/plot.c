#include "cmd/trstat/table/plot.h"

#include <langinfo.h>
#include <locale.h>

#include "common/util/u128.h"

bool plot_utf8(const struct output *o)
{
	locale_t l;
	bool utf8;

	if (!output_is_terminal(o))
		return false;
	l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	if (!l)
		return false;
	utf8 = !strcmp(nl_langinfo_l(CODESET, l), "UTF-8");
	freelocale(l);
	return utf8;
}

/* Returns value / max of n, rounded down, but at least 1 if value is not 0. */
static uint64_t share(uint64_t value, uint64_t max, uint64_t n)
{
	uint64_t part = max ? (uint64_t)((uint128)value * n / max) : 0;

	return part ? part : value != 0;
}

size_t plot_bar(struct text *out, uint64_t value, uint64_t max, size_t width, bool utf8)
{
	static const char *const part[8] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	uint64_t eighths = utf8 ? share(value, max, width * 8) : share(value, max, width) * 8;
	size_t full = (size_t)(eighths / 8), used = full + (eighths % 8 != 0);

	for (size_t i = 0; i < full; i++)
		text_puts(out, utf8 ? "█" : "#");
	text_puts(out, part[eighths % 8]);
	return used;
}

void plot_level(struct text *out, uint64_t value, uint64_t max, bool utf8)
{
	static const char *const levels[9] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char ascii[9] = {' ', '.', '-', ':', '=', '+', '*', '#', '@'};
	uint64_t level = share(value, max, 8);

	if (utf8)
		text_puts(out, levels[level]);
	else
		text_char(out, ascii[level]);
}
