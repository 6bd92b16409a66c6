/*
 * trsym - add symbols to the places of a stream
 *
 * Each distinct place is resolved once, when it is declared; events pass untouched.
 */
#include <unistd.h>

#include "common/stage.h"
#include "kallsyms.h"
#include "report.h"
#include "resolve.h"

enum { OPT_DEMANGLE = 256, OPT_SYSROOT, OPT_REPORT, OPT_KALLSYMS };

static const struct option_row option_rows[] = {
	{OPT_DEMANGLE, "demangle", "STYLE",
	 "names of C++ and Rust: simple (the default: scopes and\nname), full (with parameters), "
	 "no",
	 "simple full no"},
	{'l', "lines", NULL, "add the file and line where each function is declared", NULL},
	{OPT_KALLSYMS, "kallsyms", "FILE",
	 "names of a kernel that came without: a copy of its\n/proc/kallsyms", "file"},
	{OPT_SYSROOT, "sysroot", "DIR", "look for programs and libraries below DIR", "dir"},
	{OPT_REPORT, "report", NULL, "say on stderr where each module's symbols came from", NULL},
	{0},
};

struct settings {
	enum demangle_style style;
	const char *sysroot, *kallsyms;
	bool lines, report;
};

static int option(void *ctx, int key, const char *arg, struct error *e)
{
	struct settings *s = ctx;

	switch (key) {
	case OPT_DEMANGLE:
		if (demangle_style_parse(arg, &s->style))
			return error_set(e, NULL, NO_OFFSET,
					 "--demangle takes simple, full or no, not '%s'", arg);
		return 0;
	case 'l': s->lines = true; return 0;
	case OPT_KALLSYMS: s->kallsyms = arg; return 0;
	case OPT_SYSROOT: s->sysroot = arg; return 0;
	case OPT_REPORT: s->report = true; return 0;
	}
	return -1;
}

static const struct program program = {
	.name = "trsym",
	.operands = "[FILE]...",
	.purpose = "Add symbols to the places of an event stream.",
	.options = option_rows,
	.option = option,
};

static int out_of_memory(struct stage *s)
{
	struct error e;

	error_set(&e, NULL, NO_OFFSET, "out of memory");
	return stage_fail(s, &e);
}

/* The place of a wire id, if it is one that can have a symbol. */
static const struct place *place_of(const struct dictionary *d, uint32_t id)
{
	const struct place *p = dictionary_place(d, idmap_get(&d->ids[ENTRY_PLACE], id));

	return p && p->space ? p : NULL; /* others are named by their source */
}

static int send_symbol(struct stage *s, uint32_t id, const struct symbol_entry *symbol)
{
	return writer_pass_symbol(&s->out, id, symbol) ? stage_fail(s, &s->out.error) : 0;
}

static bool is_same(const struct place_symbol *theirs, const struct symbol_entry *ours)
{
	return theirs->name.size == ours->name_size &&
	       !memcmp(theirs->name.text, ours->name, ours->name_size) &&
	       theirs->module.size == ours->module_size &&
	       !memcmp(theirs->module.text, ours->module, ours->module_size) &&
	       theirs->file.size == ours->file_size &&
	       !(ours->file_size && memcmp(theirs->file.text, ours->file, ours->file_size)) &&
	       theirs->line == ours->line && theirs->start == ours->start &&
	       theirs->size == ours->size && theirs->flags == ours->flags;
}

static struct symbol_entry entry_of(const struct place_symbol *p)
{
	return (struct symbol_entry){.start = p->start,
				     .size = p->size,
				     .line = p->line,
				     .flags = p->flags,
				     .name = p->name.text,
				     .name_size = p->name.size,
				     .module = p->module.text,
				     .module_size = p->module.size,
				     .file = p->file.text,
				     .file_size = p->file.size};
}

/* The line that an earlier trsym found for the same function stays if this one has none. */
static void keep_line(const struct place_symbol *theirs, struct symbol_entry *ours)
{
	if (ours->file_size || theirs->start != ours->start || theirs->size != ours->size)
		return;
	ours->line = theirs->line;
	ours->file = theirs->file.text;
	ours->file_size = theirs->file.size;
}

/*
 * The places that this block declares, each followed by its symbol. A symbol that an earlier trsym
 * has sent comes in a later block, and may overtake ours or be overtaken: then the better one is
 * sent once more, ours if there is one.
 */
static int add_symbols(struct stage *s, struct resolver *r, const struct block *b)
{
	struct dictionary *d = &s->in.dictionary;
	const struct place *p;
	struct symbol_entry symbol;
	size_t at = 0;
	uint32_t id;

	while (entry_next_of(ENTRY_PLACE, b->payload, b->length, &at, &id)) {
		p = place_of(d, id);
		if (!p)
			continue;
		if (resolve(r, p, true, &symbol) < 0)
			return out_of_memory(s);
		if (p->symbol)
			keep_line(p->symbol, &symbol);
		if (send_symbol(s, id, &symbol))
			return -1;
	}
	for (at = 0; entry_next_of(ENTRY_SYMBOL, b->payload, b->length, &at, &id);) {
		int got;

		p = place_of(d, id);
		if (!p || !p->symbol)
			continue;
		got = resolve(r, p, false, &symbol);
		if (got < 0)
			return out_of_memory(s);
		if (!got)
			symbol = entry_of(p->symbol);
		else if (is_same(p->symbol, &symbol))
			continue;
		else
			keep_line(p->symbol, &symbol);
		if (send_symbol(s, id, &symbol))
			return -1;
	}
	return 0;
}

static int take_declarations(struct stage *s, struct resolver *r, struct kallsyms *k,
			     const struct block *b)
{
	return kallsyms_declared(k, b) ? out_of_memory(s) : add_symbols(s, r, b);
}

static int take_meta(struct stage *s, struct tables *t, struct kallsyms *k, const struct block *b)
{
	struct meta m;

	if (reader_meta(&s->in, b, &m)) {
		error_print(&s->in.error);
		s->status = status_worse(s->status, STATUS_DAMAGED);
		return 0;
	}
	return tables_meta(t, &m) || kallsyms_meta(k, &m) ? out_of_memory(s) : 0;
}

int main(int argc, char **argv)
{
	struct settings settings = {.style = DEMANGLE_SIMPLE};
	struct common_options common;
	struct resolver resolver = {0};
	struct kallsyms kernel = {0};
	struct stage stage;
	struct block block;
	struct error e;
	int status = program_start(&program, argc, argv, &settings, &common);

	if (status >= 0)
		return status;
	if (settings.kallsyms && kallsyms_read(&kernel, settings.kallsyms, &e)) {
		error_print(&e);
		kallsyms_free(&kernel);
		return STATUS_FAILED;
	}
	resolver.lines = settings.lines;
	resolver.tables = tables_new(&(struct tables_options){settings.sysroot, kernel.symbols,
							      settings.style, settings.lines});
	if (stage_open(&stage, argv + optind, argc - optind, &common) ||
	    stage_create(&stage, argc, argv))
		goto out;
	if (!resolver.tables) {
		out_of_memory(&stage);
		goto out;
	}
	reader_on_demand(&stage.in);
	while (stage_next(&stage, &block)) {
		if (block.kind == BLOCK_META && take_meta(&stage, resolver.tables, &kernel, &block))
			break;
		if (block.kind == BLOCK_DICT &&
		    take_declarations(&stage, &resolver, &kernel, &block))
			break;
		if (block.kind == BLOCK_EVENTS && kernel.nwaiting &&
		    kallsyms_send(&kernel, &stage.out, &stage.in.dictionary)) {
			stage_fail(&stage, &stage.out.error);
			break;
		}
		if (block.kind == BLOCK_EVENTS && stage_pass(&stage, &block))
			break;
	}
	if (settings.report)
		report_modules(&resolver);
	else if (!common.quiet)
		report_missing(resolver.tables);
out:
	/* before the stage, whose dictionary holds their texts */
	tables_free(resolver.tables);
	resolver_free(&resolver);
	kallsyms_free(&kernel);
	return stage_finish(&stage);
}
