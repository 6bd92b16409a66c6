/*
 * summary_head.c - the head of a summary, compared with the query and the other summaries' heads
 */
#include <stdlib.h>

#include "cmd/trstat/summary/summary_unpack.h"

enum { LIST_LIMIT = 4096 }; /* most keys or columns */

/* Read texts into a comma-separated list. */
static int take_list(struct unpacker *u, char **list, uint64_t n)
{
	struct buffer b = {0};

	for (uint64_t i = 0; i < n && !u->in.bad; i++) {
		size_t size;
		const uint8_t *text = packed_bytes(&u->in, &size);

		if (u->in.bad || (!size && n > 1) || (size && memchr(text, '\0', size))) {
			u->in.bad = true;
			break;
		}
		if (buffer_append(&b, ",", i > 0) || buffer_append(&b, text, size)) {
			buffer_free(&b);
			return unpack_no_memory(u);
		}
	}
	if (u->in.bad || buffer_u8(&b, 0)) {
		buffer_free(&b);
		return u->in.bad ? -1 : unpack_no_memory(u);
	}
	*list = (char *)b.data;
	return 0;
}

/* Read a text that may be missing. */
static int take_option(struct unpacker *u, char **option)
{
	return packed_limited(&u->in, 1) ? take_list(u, option, 1) : 0;
}

static void free_head(struct summary_head *h)
{
	free(h->keys);
	free(h->columns);
	free(h->group);
	free(h->asked);
	free(h->sort);
	free(h->view_argument);
	free(h->interval);
	free(h->pair);
	free(h->sampled);
	h->keys = h->columns = h->group = h->asked = h->sort = h->view_argument = h->interval =
		h->pair = h->sampled = NULL;
}

static int take_head(struct unpacker *u, struct summary_head *h)
{
	struct packed *in = &u->in;
	uint64_t flags;

	flags = packed_u64(in);
	h->ticks = flags & SUMMARY_TICKS;
	h->nameless = flags & SUMMARY_NAMELESS;
	h->weights = flags & SUMMARY_WEIGHTS;
	if (take_list(u, &h->keys, packed_limited(in, LIST_LIMIT)))
		return -1;
	if (take_list(u, &h->columns, packed_limited(in, LIST_LIMIT)) ||
	    take_option(u, &h->group) || take_option(u, &h->asked) || take_option(u, &h->sort))
		return -1;
	h->view = (uint32_t)packed_limited(in, VIEW_SLOWEST);
	if (take_option(u, &h->view_argument) || take_option(u, &h->interval) ||
	    take_option(u, &h->pair))
		return -1;
	/* the argument of these views is never left out */
	if (!h->view_argument && h->view != VIEW_TABLE && h->view != VIEW_TREE &&
	    h->view != VIEW_HIST)
		in->bad = true;
	h->first = packed_u64(in);
	h->last = packed_u64(in);
	h->unmatched = packed_u64(in);
	h->unfinished = packed_u64(in);
	h->ignored_kernel = packed_u64(in);
	if (h->pair)
		h->pairs = (struct summary_pairs){packed_u64(in), packed_u64(in), packed_u64(in),
						  packed_u64(in), packed_u64(in)};
	if (flags & SUMMARY_SAMPLES && take_list(u, &h->sampled, 1))
		return -1;
	return in->bad ? -1 : 0;
}

/* Returns true if there has the parts that here needs, apart from fields. */
static bool columns_given(const struct columns_wanted *there, const struct columns_wanted *here)
{
	return (there->histogram || !here->histogram) && (there->times || !here->times) &&
	       (there->total_stdev || !here->total_stdev) &&
	       (there->self_stdev || !here->self_stdev) && (there->busy || !here->busy);
}

/* Check that the summary has all needed columns, and find the numbers of their fields in it. */
static int match_columns(struct unpacker *u, const struct summary_head *h)
{
	struct summaries *ss = u->ss;
	const struct columns_wanted *here = &ss->to->s->columns->wanted;
	const struct columns_wanted *there = &ss->stored.wanted;
	bool enough = columns_given(there, here);
	uint32_t *fields = realloc(ss->fields, (here->field_count + 1) * sizeof(*fields));

	if (!fields)
		return unpack_no_memory(u);
	ss->fields = fields;
	for (uint32_t i = 0; enough && i < here->field_count; i++) {
		int at = columns_field(&ss->stored, here->field[i].name);

		enough = at >= 0 && (there->field[at].uniq || !here->field[i].uniq);
		fields[i] = (uint32_t)at;
	}
	if (enough)
		return 0;
	return error_set(
		u->e, ss->file, NO_OFFSET,
		"the summary has the columns '%s', from which these columns cannot be calculated",
		h->columns);
}

/* Returns the names of keys as a list. */
static char *join_keys(const struct keys *k)
{
	struct buffer b = {0};
	int bad = 0;

	for (size_t i = 0; i < k->count; i++)
		bad |= buffer_append(&b, ",", i > 0) ||
		       buffer_append(&b, k->names[i], strlen(k->names[i]));
	if (!bad && !buffer_u8(&b, 0))
		return (char *)b.data;
	buffer_free(&b);
	return NULL;
}

/* Check an option that the summary and the table must have in common. */
static int match_option(struct unpacker *u, const char *option, const char *there, const char *here)
{
	if (!there == !here && (!there || !strcmp(there, here)))
		return 0;
	return error_set(u->e, u->ss->file, NO_OFFSET, "a summary %s%s%s%s, and not %s%s%s%s",
			 there ? "with " : "without ", option, there ? " " : "", there ? there : "",
			 here ? "with " : "without ", option, here ? " " : "", here ? here : "");
}

/* Check that both are of slowest calls, or neither is. */
static int match_slowest(struct unpacker *u, const struct summary_head *h)
{
	const struct summary *to = u->ss->to;
	bool there = h->view == VIEW_SLOWEST, here = to->asked->view == VIEW_SLOWEST;

	if (there != here)
		return error_set(u->e, u->ss->file, NO_OFFSET, "a summary %s the slowest calls",
				 there ? "of" : "without");
	if (!there ||
	    (h->view_argument && strtoul(h->view_argument, NULL, 10) >= to->slowest.limit))
		return 0;
	return error_set(u->e, u->ss->file, NO_OFFSET,
			 "the summary has the %s slowest calls, not %zu",
			 h->view_argument ? h->view_argument : "0", to->slowest.limit);
}

static int match_head(struct unpacker *u, struct summary_head *h)
{
	struct summaries *ss = u->ss;

	columns_free(&ss->stored); /* stored is out of date from here on */
	if (columns_parse(&ss->stored, h->columns, u->e)) {
		u->in.bad = true;
		return -1;
	}
	h->histograms = ss->stored.wanted.histogram;
	if (!ss->keys) {
		if (ss->begin(ss->ctx, h, u->e))
			return -1;
		ss->keys = join_keys(ss->to->s->keys);
		if (!ss->keys)
			return unpack_no_memory(u);
	}
	if (match_option(u, "-i", h->interval, ss->to->asked->interval) ||
	    match_option(u, "--pair", h->pair, ss->to->asked->pair) || match_slowest(u, h))
		return -1;
	if (strcmp(ss->keys, h->keys) != 0)
		return error_set(u->e, ss->file, NO_OFFSET,
				 "the summary has the keys '%s', not '%s'", h->keys, ss->keys);
	return match_columns(u, h);
}

int unpack_head(struct unpacker *u)
{
	struct summary_head h = {0};
	int bad = take_head(u, &h) || match_head(u, &h);

	free(u->ss->sampled);
	u->ss->sampled = h.sampled;
	h.sampled = NULL;
	free_head(&h);
	u->ss->head = h;
	return bad ? -1 : 0;
}
