/*
 * text.c - the format text: lines as the system of each source prints them
 */
#include "cmd/trencode/text/layout.h"
#include "cmd/trencode/text/uftrace.h"
#include "common/stream/reader.h"

#include <stdlib.h>

static const struct text_layout *const layouts[] = {&text_uftrace, &text_tracecmd, &text_apitrace,
						    &text_lttng,   &text_ctf,	   &text_generic};

enum { LAYOUTS = sizeof layouts / sizeof *layouts };

struct layouts {
	void *layout[LAYOUTS];	     /* NULL: not begun */
	const struct source *source; /* source of the last event */
	int of_source;		     /* index of its layout */
};

static int text_layout_of(const struct source *source)
{
	int i = 0;

	while (layouts[i]->format && (!source || strcmp(layouts[i]->format, source->format.text)))
		i++;
	return i;
}

static int layouts_need(struct encoding *en, int i, struct error *e)
{
	struct layouts *s = en->state;

	if (s->layout[i])
		return 0;
	s->layout[i] = calloc(1, layouts[i]->state_size);
	return s->layout[i] ? layouts[i]->begin(s->layout[i], en, e) : error_no_memory(e);
}

static int layouts_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct layouts *s = en->state;
	const struct source *source = meta_source(en->dictionary, m);
	int i = text_layout_of(source);

	if (!layouts[i]->meta)
		return 0;
	return layouts_need(en, i, e) ? -1 : layouts[i]->meta(s->layout[i], source, m, e);
}

/* Pass a call that is open where reading begins inside the stream. */
static int layouts_restore(void *ctx, const struct event *enter, const struct call *call)
{
	struct encoding *en = ctx;
	struct layouts *s = en->state;
	int i = text_layout_of(enter->lane->source);

	if (layouts_need(en, i, en->calls->restored.error))
		return -1;
	return layouts[i]->restore
		       ? layouts[i]->restore(s->layout[i], enter, call, en->calls->restored.error)
		       : 0;
}

/* Pass the stacks of such calls. */
static int layouts_restored(void *ctx, bool last)
{
	struct encoding *en = ctx;
	struct layouts *s = en->state;
	const struct calls *c = en->calls;

	(void)last;
	for (size_t n = 0; n < c->size; n++) {
		const struct stack *stack = c->stacks[n];
		int i;

		if (!stack || stack->restores != c->restored.blocks)
			continue;
		i = text_layout_of(stack->lane->source);
		if (layouts_need(en, i, c->restored.error) ||
		    (layouts[i]->restored &&
		     layouts[i]->restored(s->layout[i], stack, c->restored.first,
					  c->restored.error)))
			return -1;
	}
	return 0;
}

static int layouts_begin(struct encoding *en, struct error *e)
{
	struct text_columns columns;

	/* report an error in -c before the input is read */
	if (text_columns_parse(&columns, en->options->columns, e))
		return -1;
	en->calls->data_size = sizeof(void *);
	en->calls->on_restore = layouts_restore;
	en->calls->restored.done = layouts_restored;
	en->calls->on_restore_ctx = en->calls->restored.ctx = en;
	en->state = calloc(1, sizeof(struct layouts));
	if (!en->state)
		return error_no_memory(e);
	return 0;
}

/* Test whether a source of that format was declared. */
static bool has_source(const struct encoding *en, const char *format)
{
	const struct pool *sources = &en->dictionary->sources;

	for (uint32_t i = 1; i < sources->count; i++) {
		const struct source *source = pool_at(sources, i);

		if (!strcmp(source->format.text, format))
			return true;
	}
	return sources->count < 2;
}

/* Refuse options that apply only to the text of another format. */
static int check_options(const struct encoding *en, struct error *e)
{
	const struct encode_options *o = en->options;
	const struct {
		bool given;
		const char *name, *format;
	} rows[] = {
		{o->flags & ENCODE_RAW, "raw", "trace-cmd"},
		{o->flags & ENCODE_NO_PLUGINS, "no-plugins", "trace-cmd"},
		{o->flags & ENCODE_PLUGINS_GIVEN, "plugin-option", "trace-cmd"},
		{o->flags & ENCODE_NS, "ns", "trace-cmd"},
		{o->flags & ENCODE_TS_DIFF, "ts-diff", "trace-cmd"},
		{o->depth, "depth", "uftrace"},
		{o->flags & ENCODE_ALL_CALLS, "all-calls", "apitrace"},
		{o->flags & ENCODE_THREAD_IDS, "thread-ids", "apitrace"},
		{o->flags & ENCODE_PLAIN_OCTAL, "octal", "apitrace"},
		{o->blobs, "blobs", "apitrace"},
	};

	if (o->flags & ENCODE_PLUGINS_GIVEN &&
	    (o->flags & ENCODE_RAW || o->flags & ENCODE_NO_PLUGINS))
		return error_set(e, NULL, NO_OFFSET, "--plugin-option has no effect with --%s",
				 o->flags & ENCODE_RAW ? "raw" : "no-plugins");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].given && !has_source(en, rows[i].format))
			return error_set(e, NULL, NO_OFFSET,
					 "--%s has no effect on this trace; it is for text of %s",
					 rows[i].name, rows[i].format);
	return 0;
}

static int layouts_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct layouts *s = en->state;

	if (__builtin_expect(ev->lane->source != s->source || !s->source, 0)) {
		s->of_source = text_layout_of(ev->lane->source);
		if (!s->source && en->single && check_options(en, e))
			return -1;
		if (layouts_need(en, s->of_source, e))
			return -1;
		s->source = ev->lane->source;
	}
	return layouts[s->of_source]->event(s->layout[s->of_source], ev, e);
}

static int layouts_end(struct encoding *en, struct error *e)
{
	struct layouts *s = en->state;

	if (check_options(en, e))
		return -1;
	for (int i = 0; i < LAYOUTS; i++)
		if (s->layout[i] && layouts[i]->end && layouts[i]->end(s->layout[i], e))
			return -1;
	return 0;
}

static void layouts_free(struct encoding *en)
{
	struct layouts *s = en->state;

	for (int i = 0; s && i < LAYOUTS; i++) {
		if (s->layout[i])
			layouts[i]->free(s->layout[i]);
		free(s->layout[i]);
	}
	free(s);
}

const struct encoder encoder_text = {
	.name = "text",
	.purpose = "lines as the source's own tool prints them",
	.suffixes = ".txt",
	.output = ENCODER_TEXT,
	.counts_calls = true,
	.begin = layouts_begin,
	.meta = layouts_meta,
	.event = layouts_event,
	.end = layouts_end,
	.free = layouts_free,
};
