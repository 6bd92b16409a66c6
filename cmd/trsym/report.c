#include "cmd/trsym/report.h"

#include <inttypes.h>
#include <stdio.h>

static void put_row(const struct resolver *r, uint64_t found, uint64_t missed, uint64_t lines,
		    const char *origin, const char *path)
{
	fprintf(stderr, "%10" PRIu64 " %10" PRIu64 "  ", found, missed);
	if (r->lines)
		fprintf(stderr, "%10" PRIu64 "  ", lines);
	fprintf(stderr, "%-6s  %s", origin, path);
}

/* Returns why a module has no symbols, or not all; "": it has symbols. */
static const char *why_none(const struct module *m)
{
	bool stripped = m->missed && !m->found && m->symbols && symbols_stripped(m->symbols);

	return stripped && !m->why[0] ? "the file has no .symtab, and its debug file is not found"
				      : m->why;
}

void report_modules(const struct resolver *r, const char *missing)
{
	const struct tables *t = r->tables;

	fprintf(stderr, "%10s %10s  %s%-6s  %s\n", "found", "missed",
		r->lines ? "     lines  " : "", "from", "module");
	for (size_t i = 0; i < tables_count(t); i++) {
		const struct module *m = tables_at(t, i);

		put_row(r, m->found, m->missed, m->lines, m->origin, m->path);
		fprintf(stderr, "%s%s", *why_none(m) ? ": " : "", why_none(m));
		if (m->why_lines[0])
			fprintf(stderr, ": no %s: %s", missing, m->why_lines);
		fputc('\n', stderr);
	}
	if (r->unmapped) {
		put_row(r, 0, r->unmapped, 0, "none", "addresses that lie in no module");
		fputc('\n', stderr);
	}
}

void report_missing(const struct tables *t, const char *missing)
{
	for (size_t i = 0; i < tables_count(t); i++) {
		const struct module *m = tables_at(t, i);

		if (m->missed && *why_none(m))
			warn(m->path, NO_OFFSET, "no symbols: %s", why_none(m));
		if (m->why_lines[0])
			warn(m->path, NO_OFFSET, "no %s: %s", missing, m->why_lines);
	}
}
