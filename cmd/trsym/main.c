/*
 * main.c - the command line of trsym, and its remarks
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/trsym/resolve.h"
#include "cmd/trsym/stack_frames.h"

/* --- print the state of each module on standard error --- */

/* In these functions, missing says what the debug information is needed for. */

/* Print a line for each module whose symbols or debug information exist but are of another build,
 * or that has none. */
void report_missing(const struct tables *t, const char *missing);

static void sym_put_row(const struct resolver *r, uint64_t found, uint64_t missed, uint64_t lines,
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

/* Print a row for each module (--report). */
static void report_modules(const struct resolver *r, const char *missing)
{
	const struct tables *t = r->tables;

	fprintf(stderr, "%10s %10s  %s%-6s  %s\n", "found", "missed",
		r->lines ? "     lines  " : "", "from", "module");
	for (size_t i = 0; i < tables_count(t); i++) {
		const struct module *m = tables_at(t, i);

		sym_put_row(r, m->found, m->missed, m->lines, m->origin, m->path);
		fprintf(stderr, "%s%s", *why_none(m) ? ": " : "", why_none(m));
		if (m->why_lines[0])
			fprintf(stderr, ": no %s: %s", missing, m->why_lines);
		fputc('\n', stderr);
	}
	if (r->unmapped) {
		sym_put_row(r, 0, r->unmapped, 0, "none", "addresses that lie in no module");
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

/*
 * Trsym - add symbols to the locations of a stream.
 *
 * Each distinct location is resolved once, when it is declared; events are passed through.
 */

enum { OPT_DEMANGLE = 256, OPT_SYSROOT, OPT_KALLSYMS, OPT_REPORT = OPTION_ASIDE };

static const struct option_row option_rows[] = {
	{OPT_DEMANGLE, "demangle", "STYLE",
	 "names of C++ and Rust: simple (default: scopes and\nname), full (with parameters), no",
	 "simple full no"},
	{'l', "lines", NULL, "add the source file and line of each function", NULL},
	{'i', "inline", NULL, "add inlined functions to the frames of recorded stacks", NULL},
	{OPT_KALLSYMS, "kallsyms", "FILE",
	 "symbols of the kernel, if the trace has none: a copy\nof its /proc/kallsyms", "file"},
	{OPT_SYSROOT, "sysroot", "DIR", "search programs and libraries below DIR (default: /)",
	 "directory"},
	{OPT_REPORT, "report", NULL, "print the source of each module's symbols on stderr", NULL},
	{0},
};

struct sym_settings {
	enum demangle_style style;
	const char *sysroot, *kallsyms;
	bool lines, inlined, report;
};

static int option(void *ctx, int key, const char *arg, struct error *e)
{
	struct sym_settings *s = ctx;

	switch (key) {
	case OPT_DEMANGLE:
		if (demangle_style_parse(arg, &s->style))
			return error_set(e, NULL, NO_OFFSET,
					 "--demangle takes simple, full or no, not '%s'", arg);
		return 0;
	case 'l': s->lines = true; return 0;
	case 'i': s->inlined = true; return 0;
	case OPT_KALLSYMS: s->kallsyms = arg; return 0;
	case OPT_SYSROOT: s->sysroot = arg; return 0;
	case OPT_REPORT: s->report = true; return 0;
	}
	return -1;
}

static int sym_streams(const void *ctx)
{
	(void)ctx;
	return 0;
}

static const struct program program = {
	.name = "trsym",
	.operands = "[FILE]...",
	.purpose = "Add symbols to the locations of an event stream.",
	.options = option_rows,
	.option = option,
	.patience = PATIENCE_FILTER,
	.streams = sym_streams,
};

/* What finds the symbols of a stream. */
struct symboliser {
	struct resolver resolver;
	struct kallsyms kernel;
	struct stack_frames *frames; /* NULL: frames of recorded stacks stay as they are */
};

/* Prepare what the settings need. Returns 0, or -1 after stage_fail. */
static int sym_prepare(struct symboliser *y, const struct sym_settings *settings, struct stage *s)
{
	struct stack_frames_options options = {settings->inlined, settings->lines, settings->style};

	y->resolver.lines = settings->lines;
	y->resolver.tables = tables_new(&(struct tables_options){
		settings->sysroot, y->kernel.symbols, settings->style, settings->lines});
	if (y->resolver.tables && (settings->inlined || settings->lines))
		y->frames = stack_frames_new(&y->resolver, &options);
	return !y->resolver.tables || (!y->frames && (settings->inlined || settings->lines))
		       ? stage_no_memory(s)
		       : 0;
}

/* Update the resolver with a block, and write symbols. */
static int sym_take_block(struct symboliser *y, struct stage *s, struct block *b)
{
	struct meta m;

	switch (b->kind) {
	case BLOCK_HEAD:
		if (y->frames)
			stack_frames_begin(y->frames, &s->in.head);
		return 0;
	case BLOCK_META:
		reader_meta(&s->in, b, &m);
		if (tables_meta(y->resolver.tables, &m) || kallsyms_meta(&y->kernel, &m))
			return stage_no_memory(s);
		return 0;
	case BLOCK_DICT:
		if (kallsyms_declared(&y->kernel, b))
			return stage_no_memory(s);
		return add_symbols(s, &y->resolver, b) ||
				       (y->frames && stack_frames_add(y->frames, s, b))
			       ? -1
			       : 0;
	case BLOCK_EVENTS:
		if (y->kernel.npending && kallsyms_send(&y->kernel, &s->out, &s->in.dictionary))
			return stage_fail(s, &s->out.error);
		return stage_pass(s, b);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *missing;
	struct sym_settings settings = {.style = DEMANGLE_SIMPLE};
	struct common_options common;
	struct symboliser y = {0};
	struct stage stage;
	struct block block;
	struct error e;
	int status = program_start(&program, argc, argv, &settings, &common);

	if (status >= 0)
		return status;
	if (settings.kallsyms && kallsyms_read(&y.kernel, settings.kallsyms, &e)) {
		error_print(&e);
		kallsyms_free(&y.kernel);
		return program_failed(&common, &e);
	}
	if (stage_open(&stage, argv + optind, argc - optind, &common))
		goto out;
	if (stage_create(&stage, argc, argv) || sym_prepare(&y, &settings, &stage))
		goto out;
	reader_on_demand(&stage.in);
	while (stage_next(&stage, &block) && !sym_take_block(&y, &stage, &block))
		;
	if (stage.status == STATUS_OK && kallsyms_check(&y.kernel, &stage.in.dictionary, &e))
		stage_fail(&stage, &e);
	missing = !settings.inlined ? "source lines"
		  : !settings.lines ? "inlined functions"
				    : "inlined functions and source lines";
	if (settings.report)
		report_modules(&y.resolver, missing);
	else if (!common.quiet)
		report_missing(y.resolver.tables, missing);
out:
	/* before the stage, whose dictionary owns their texts */
	stack_frames_free(y.frames);
	tables_free(y.resolver.tables);
	resolver_free(&y.resolver);
	kallsyms_free(&y.kernel);
	return stage_finish(&stage);
}
