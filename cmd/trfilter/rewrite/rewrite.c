#include "cmd/trfilter/rewrite/rewrite.h"

#include "cmd/trfilter/rewrite/change_values.h"

#include <stdlib.h>

#include "common/formats/chrome.h"

enum { LEFT_OUT_SAID = 200 }; /* most bytes of names in the message */

/* Rewrite HEAD without its properties: command lines contain names and keys, and unknown properties
 * may too. */
static int pass_head(struct rewrite *r, struct stage *s, const struct block *b,
		     const struct head *head)
{
	struct head changed = *head;

	if (!r->scrub.what)
		return stage_forward_plain(s, b, head, NULL);
	changed.properties_size = 0;
	return stage_forward_plain(s, b, &changed, NULL);
}

static int pass_end(struct rewrite *r, struct stage *s, const struct block *b,
		    const struct end *end)
{
	static const char hidden[] = "the trace was damaged";
	struct end changed = *end;

	if (r->scrub.what && end->message.size)
		changed.message = (struct text_ref){.text = hidden, .size = sizeof hidden - 1};
	return stage_forward_plain(s, b, NULL, &changed);
}

/* Test for a META block of that name. */
static bool is_named(const struct meta *m, const char *name)
{
	return m->name_size == strlen(name) && !memcmp(m->name, name, m->name_size);
}

/* Returns true if a META block may reveal names or values: names of functions, files and
 * threads, the command line, uftrace's messages of events, or what Trace Event JSON has beside its
 * events. */
static bool may_tell(struct rewrite *r, const struct meta *m)
{
	const struct field message = {.name = {.text = "message", .size = 7}};

	if (r->scrub.what & (SCRUB_NAMES | SCRUB_PATHS))
		return true;
	if (is_named(m, CHROME_META))
		return r->scrub.what & SCRUB_ARGS;
	if (!is_named(m, "extern.dat"))
		return false;
	return r->scrub.what & SCRUB_ARGS || !projection_field(&r->projection, &message);
}

static int pass_meta(struct rewrite *r, struct stage *s, const struct block *b)
{
	struct meta m;

	reader_meta(&s->in, b, &m);
	if (!may_tell(r, &m))
		return stage_forward_plain(s, b, NULL, NULL);
	if (m.offset)
		return 0;
	r->nleft_out++;
	if (r->left_out.size < LEFT_OUT_SAID &&
	    (buffer_append(&r->left_out, ", ", r->left_out.size ? 2 : 0) ||
	     buffer_append(&r->left_out, m.name, m.name_size)))
		return stage_no_memory(s);
	return 0;
}

/* Returns the layout of a type; NULL: out of memory. */
static struct layout *layout_of(struct rewrite *r, const struct type *t)
{
	struct layout *l;

	if (ARRAY_REACH(r->layouts, r->nlayouts, t->number))
		return NULL;
	l = &r->layouts[t->number];
	if (!l->fields && layout_make(l, t, &r->projection, &r->scrub))
		return NULL;
	return l;
}

static int values(struct rewrite *r, const struct event *e)
{
	const struct location *location = dictionary_location(r->dictionary, e->location);

	buffer_clear(&r->tail);
	r->tail.spills = true;
	return change_values(&r->projection, &r->scrub, location ? location->arguments : NULL,
			     e->tail, e->tail_size, &r->tail);
}

static int pass_row(void *ctx, struct stage *s, const struct block *b, const struct event *e)
{
	struct rewrite *r = ctx;
	const struct layout *l = layout_of(r, e->type);
	struct event changed = *e;

	if (!l)
		return stage_no_memory(s);
	if (!l->same) {
		if (layout_fixed(l, &r->scrub, e, &r->fixed) ||
		    (l->values ? values(r, e) : layout_tail(l, &r->scrub, e, &r->tail)))
			return stage_no_memory(s);
		changed.type = &l->type;
		changed.fixed = r->fixed.data;
		changed.tail = r->tail.data;
		changed.tail_size = (uint32_t)r->tail.size;
		s->out.tail_buffer = &r->tail;
	}
	if (writer_copy_row(&s->out, b, &changed))
		return stage_fail(s, &s->out.error);
	return 0;
}

static int pass_events(struct rewrite *r, struct stage *s, const struct block *b)
{
	bool same = true;
	struct events it;
	struct event e;

	for (uint32_t i = 0; i < b->ntypes; i++) {
		const struct layout *l = layout_of(r, b->types[i]);

		if (!l)
			return stage_no_memory(s);
		same &= l->same;
	}
	if (same)
		return stage_forward_plain(s, b, NULL, NULL);
	for (events_begin(&it, b); event_next(&it, &e);)
		if (pass_row(r, s, b, &e))
			return -1;
	return 0;
}

static int pass_block(void *ctx, struct stage *s, const struct block *b, const struct head *head,
		      const struct end *end)
{
	struct rewrite *r = ctx;

	switch (b->kind) {
	case BLOCK_HEAD: return pass_head(r, s, b, head);
	case BLOCK_DICT: return rewrite_dict(r, s, b);
	case BLOCK_EVENTS: return pass_events(r, s, b);
	case BLOCK_META: return pass_meta(r, s, b);
	case BLOCK_END: return pass_end(r, s, b, end);
	}
	/* the content is unknown */
	return r->scrub.what ? 0 : stage_forward_plain(s, b, NULL, NULL);
}

void rewrite_begin(struct rewrite *r, const struct dictionary *d)
{
	r->dictionary = d;
	r->hooks = (struct stage_rewrite){pass_block, pass_row, r};
}

void rewrite_report(const struct rewrite *r, bool quiet)
{
	if (r->nleft_out && !quiet)
		warn(NULL, NO_OFFSET, "left out, as it may contain %s: %.*s%s of the source",
		     r->scrub.what & (SCRUB_NAMES | SCRUB_PATHS) ? "names" : "values",
		     (int)r->left_out.size, (const char *)r->left_out.data,
		     r->left_out.size < LEFT_OUT_SAID ? "" : " and more");
}

void rewrite_free(struct rewrite *r)
{
	projection_free(&r->projection);
	intern_free(&r->texts);
	intern_free(&r->sent);
	idmap_free(&r->ids);
	buffer_free(&r->segments);
	buffer_free(&r->entry);
	buffer_free(&r->out);
	for (size_t i = 0; i < r->nlayouts; i++)
		layout_free(&r->layouts[i]);
	free(r->layouts);
	buffer_free(&r->fixed);
	buffer_free(&r->tail);
	buffer_free(&r->left_out);
}
