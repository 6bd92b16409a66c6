/*
 * tables.c - the tables of stacks, frames, functions, resources and strings
 *
 * The index of a frame is that of its function, which is the number of its name in the stacks'
 * names.
 */
#include "cmd/trencode/firefox/firefox.h"
#include "cmd/trencode/profile/names.h"
#include "common/value/json.h"

/* What the frames name, as indexes of strings and of modules. */
struct frame_tables {
	struct intern modules, files;	/* texts */
	uint32_t *name, *module, *file; /* by function; module and file: number + 1, 0 none */
};

static struct profile_name name_of(const struct firefox *f, uint32_t number)
{
	return profile_name_at(intern_data(&f->stacks.names, number) + FRAME_KEY_CATEGORY);
}

int firefox_order(struct firefox *f)
{
	const struct stack_tree *t = &f->stacks.tree;
	size_t n;

	f->order = calloc(t->live + 1, sizeof(*f->order));
	f->index = calloc(t->count, sizeof(*f->index));
	n = f->order && f->index ? stack_tree_order(t, &f->stacks.names, f->order) : 0;
	for (size_t i = 1; i < n; i++)
		f->index[f->order[i]] = (uint32_t)i - 1;
	f->nstacks = n ? n - 1 : 0;
	return n ? 0 : -1;
}

/* Write "name":[ and the column of n numbers that value gives; -1 is null where null is set. */
static void put_column(struct firefox *f, struct text *out, const char *name, size_t n,
		       int64_t (*value)(const struct firefox *f, const struct frame_tables *t,
					size_t i),
		       const struct frame_tables *t)
{
	text_puts(out, ",\n\"");
	text_puts(out, name);
	text_puts(out, "\":[");
	for (size_t i = 0; i < n && !text_failed(out); i++) {
		int64_t v = value(f, t, i);

		if (i)
			text_char(out, ',');
		if (v == INT64_MIN)
			text_puts(out, "null");
		else
			text_i64(out, v);
	}
	text_char(out, ']');
}

#define COLUMN(NAME, VALUE)                                                                        \
	static int64_t NAME(const struct firefox *f, const struct frame_tables *t, size_t i)       \
	{                                                                                          \
		(void)f;                                                                           \
		(void)t;                                                                           \
		(void)i;                                                                           \
		return VALUE;                                                                      \
	}

static int64_t or_null(uint32_t number)
{
	return number ? (int64_t)number - 1 : INT64_MIN;
}

static int64_t prefix_of(const struct firefox *f, size_t i)
{
	uint32_t parent = f->stacks.tree.nodes[f->order[i + 1]].parent;

	return parent == STACK_ROOT ? INT64_MIN : f->index[parent];
}

COLUMN(stack_frame, f->stacks.tree.nodes[f->order[i + 1]].name)
COLUMN(stack_prefix, prefix_of(f, i))
COLUMN(same, (int64_t)i)
COLUMN(zero, 0)
COLUMN(one, 1)
COLUMN(none, -1)
COLUMN(null, INT64_MIN)
COLUMN(category, *intern_data(&f->stacks.names, (uint32_t)i))
COLUMN(line, name_of(f, (uint32_t)i).line ? (int64_t)name_of(f, (uint32_t)i).line : INT64_MIN)
COLUMN(func_name, t->name[i])
COLUMN(func_resource, (int64_t)t->module[i] - 1)
COLUMN(func_source, or_null(t->file[i]))

/* Write "name":[ of n times the same word. */
static void put_words(struct text *out, const char *name, size_t n, const char *word)
{
	text_puts(out, ",\n\"");
	text_puts(out, name);
	text_puts(out, "\":[");
	for (size_t i = 0; i < n && !text_failed(out); i++) {
		if (i)
			text_char(out, ',');
		text_puts(out, word);
	}
	text_char(out, ']');
}

/* Write "name":[ and the indexes of the strings of all texts. */
static int put_strings(struct firefox *f, struct text *out, const char *name,
		       const struct intern *texts)
{
	text_puts(out, ",\n\"");
	text_puts(out, name);
	text_puts(out, "\":[");
	for (uint32_t i = 0; i < texts->count; i++) {
		uint32_t number = intern(&f->strings, intern_data(texts, i), intern_size(texts, i));

		if (number == INTERN_NONE)
			return -1;
		if (i)
			text_char(out, ',');
		text_u64(out, number);
	}
	text_char(out, ']');
	return 0;
}

/* Get the number + 1 of a text; 0: it is empty. */
static int number_of(struct intern *in, const char *text, uint32_t *number)
{
	uint32_t n = *text ? intern_string(in, text) : 0;

	*number = *text ? n + 1 : 0;
	return n == INTERN_NONE ? -1 : 0;
}

static int make_frames(struct firefox *f, struct frame_tables *t)
{
	uint32_t n = f->stacks.names.count;

	*t = (struct frame_tables){0};
	t->name = calloc(n + (size_t)1, sizeof(*t->name));
	t->module = calloc(n + (size_t)1, sizeof(*t->module));
	t->file = calloc(n + (size_t)1, sizeof(*t->file));
	if (!t->name || !t->module || !t->file)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		struct profile_name p = name_of(f, i);

		t->name[i] = intern_string(&f->strings, p.name);
		if (t->name[i] == INTERN_NONE || number_of(&t->modules, p.module, &t->module[i]) ||
		    number_of(&t->files, p.file, &t->file[i]))
			return -1;
	}
	return 0;
}

static void free_frames(struct frame_tables *t)
{
	intern_free(&t->modules);
	intern_free(&t->files);
	free(t->name);
	free(t->module);
	free(t->file);
}

static void begin_table(struct text *out, const char *name, size_t n)
{
	text_printf(out, "\"%s\":{\"length\":%zu", name, n);
}

static void put_frames(struct firefox *f, struct text *out, const struct frame_tables *t)
{
	size_t n = f->stacks.names.count;

	begin_table(out, "stackTable", f->nstacks);
	put_column(f, out, "frame", f->nstacks, stack_frame, t);
	put_column(f, out, "prefix", f->nstacks, stack_prefix, t);
	text_puts(out, "},\n");
	begin_table(out, "frameTable", n);
	put_column(f, out, "address", n, none, t);
	put_column(f, out, "inlineDepth", n, zero, t);
	put_column(f, out, "category", n, category, t);
	put_column(f, out, "subcategory", n, zero, t);
	put_column(f, out, "func", n, same, t);
	put_column(f, out, "nativeSymbol", n, null, t);
	put_column(f, out, "innerWindowID", n, zero, t);
	put_column(f, out, "line", n, line, t);
	put_column(f, out, "column", n, null, t);
	text_puts(out, "},\n");
	begin_table(out, "funcTable", n);
	put_words(out, "isJS", n, "false");
	put_words(out, "relevantForJS", n, "false");
	put_column(f, out, "name", n, func_name, t);
	put_column(f, out, "resource", n, func_resource, t);
	put_column(f, out, "source", n, func_source, t);
	put_column(f, out, "lineNumber", n, line, t);
	put_column(f, out, "columnNumber", n, null, t);
	text_puts(out, "},\n");
}

static int put_resources(struct firefox *f, struct text *out, const struct frame_tables *t)
{
	size_t n = t->modules.count, sources = t->files.count;

	begin_table(out, "resourceTable", n);
	put_column(f, out, "lib", n, same, t);
	if (put_strings(f, out, "name", &t->modules))
		return -1;
	put_column(f, out, "host", n, null, t);
	put_column(f, out, "type", n, one, t);
	text_puts(out, "},\n");
	begin_table(out, "nativeSymbols", 0);
	text_puts(out, ",\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]},\n");
	begin_table(out, "sources", sources);
	put_column(f, out, "id", sources, null, t);
	if (put_strings(f, out, "filename", &t->files))
		return -1;
	put_column(f, out, "startLine", sources, one, t);
	put_column(f, out, "startColumn", sources, one, t);
	put_column(f, out, "sourceMapURL", sources, null, t);
	text_puts(out, "},\n");
	return 0;
}

int firefox_put_shared(struct firefox *f, struct text *out)
{
	struct frame_tables t;
	int bad = make_frames(f, &t);

	if (!bad) {
		text_puts(out, "\"shared\":{");
		put_frames(f, out, &t);
		bad = put_resources(f, out, &t);
	}
	text_puts(out, "\"stringArray\":[");
	for (uint32_t i = 0; i < f->strings.count && !bad && !text_failed(out); i++) {
		text_puts(out, i ? ",\n" : "\n");
		json_string(out, intern_data(&f->strings, i), intern_size(&f->strings, i));
	}
	text_puts(out, "]},\n\"libs\":[");
	for (uint32_t i = 0; i < t.modules.count && !bad; i++) {
		const char *path = intern_data(&t.modules, i), *base = strrchr(path, '/');
		size_t size = intern_size(&t.modules, i),
		       skip = base ? (size_t)(base - path) + 1 : 0;

		text_puts(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		json_string(out, path + skip, size - skip);
		text_puts(out, ",\"path\":");
		json_string(out, path, size);
		text_puts(out, ",\"debugName\":");
		json_string(out, path + skip, size - skip);
		text_puts(out, ",\"debugPath\":");
		json_string(out, path, size);
		text_puts(out, ",\"arch\":\"\",\"breakpadId\":\"\",\"codeId\":null}");
	}
	text_char(out, ']');
	free_frames(&t);
	return bad;
}
