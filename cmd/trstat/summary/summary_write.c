/*
 * summary_write.c - write a summary as a stream
 *
 *     content = version precision head stacks? groups parts slowest
 *     head    = flags keys columns options first last counts pairs?
 *     groups  = count (cells aggregate)*
 *     parts   = count (stream first last flags stages tail? edges?)*
 *
 * Numbers and bytes are those of common/util/packed.h. A group's cells are those of the keys, then
 * the SUMMARY_CELLS; the number of a tail is the index of its part + 1.
 */
#include <stdlib.h>

#include "cmd/trstat/summary/pack.h"
#include "cmd/trstat/summary/summary.h"
#include "cmd/trstat/table/sort.h"

struct packer {
	const struct summary *sm;
	struct buffer *b;
	struct packed_stacks stacks;
	uint32_t *tails; /* by number of a tail: index of its part + 1; 0: it was dropped */
	bool bad;
};

static void summary_put(struct packer *p, uint64_t v)
{
	p->bad = p->bad || buffer_uleb(p->b, v);
}

static void put_text(struct packer *p, const char *s)
{
	p->bad = p->bad || packed_put_bytes(p->b, s, strlen(s));
}

/* Write a text that may be missing. */
static void put_option(struct packer *p, const char *s)
{
	summary_put(p, s != NULL);
	if (s)
		put_text(p, s);
}

static void put_pair_counts(struct packer *p, const struct pair *pair)
{
	summary_put(p, pair->pairs);
	summary_put(p, pair->replaced);
	summary_put(p, pair->ended);
	summary_put(p, pair->forgotten);
	summary_put(p, pair->left);
}

static void put_head(struct packer *p)
{
	const struct settings *asked = p->sm->asked;
	const struct statistics *s = p->sm->s;

	summary_put(p, (s->ticks ? SUMMARY_TICKS : 0) |
			       (statistics_nameless(s) ? SUMMARY_NAMELESS : 0) |
			       (s->columns->weights ? SUMMARY_WEIGHTS : 0) |
			       (s->samples.type ? SUMMARY_SAMPLES : 0));
	summary_put(p, s->keys->count);
	for (size_t i = 0; i < s->keys->count; i++)
		put_text(p, s->keys->names[i]);
	summary_put(p, s->columns->count);
	for (size_t i = 0; i < s->columns->count; i++)
		put_text(p, s->columns->column[i].name);
	put_option(p, asked->keys);
	put_option(p, asked->columns);
	put_option(p, asked->sort);
	summary_put(p, asked->view);
	put_option(p, asked->view_argument);
	put_option(p, asked->interval);
	put_option(p, asked->pair);
	summary_put(p, s->first);
	summary_put(p, s->last);
	summary_put(p, s->calls.counts.unmatched);
	summary_put(p, s->calls.counts.unfinished);
	summary_put(p, s->calls.counts.ignored_kernel);
	if (asked->pair)
		put_pair_counts(p, s->pair);
	if (s->samples.type)
		put_text(p, s->samples.type);
}

/* Copy a group's cells, with the number that its tail has in the summary. Returns false if the
 * tail was dropped. */
static bool group_cells(const struct packer *p, const struct aggregate *a, struct key_cell *cells)
{
	const struct statistics *s = p->sm->s;
	struct key_cell *tail = &cells[s->keys->count + CELL_TAIL];

	memcpy(cells, groups_cells(&s->groups, a), s->groups.keys * sizeof(*cells));
	if (tail->kind == KEY_MISSING)
		return true;
	tail->value = p->tails[tail->value];
	return tail->value;
}

/* Write all groups in the order of their cells; the order of creation has no meaning. */
static int put_groups(struct packer *p, struct error *e)
{
	const struct statistics *s = p->sm->s;
	const struct columns_run run = {.first = s->first, .last = s->last};
	const struct sort by_cells = {0};
	const struct aggregate **groups = sort_groups(&by_cells, &s->groups, s->columns, &run, e);
	struct key_cell *cells = s->cells;
	size_t n = 0;

	if (!groups)
		return -1;
	for (size_t i = 0; i < s->groups.count; i++)
		n += group_cells(p, groups[i], cells);
	summary_put(p, n);
	for (size_t i = 0; i < s->groups.count && !p->bad; i++) {
		if (!group_cells(p, groups[i], cells))
			continue;
		p->bad = pack_cells(p->b, &s->groups, cells, s->groups.keys, &p->stacks) ||
			 pack_aggregate(p->b, groups[i], &s->columns->wanted);
	}
	free(groups);
	return 0;
}

static void put_slowest(struct packer *p, const struct slow_list *l)
{
	summary_put(p, l->count);
	for (size_t i = 0; i < l->count; i++) {
		const struct slow_call *c = &l->call[i];

		summary_put(p, c->total);
		summary_put(p, c->self);
		summary_put(p, c->start);
		summary_put(p, c->end);
		summary_put(p, c->has);
		summary_put(p, (uint32_t)c->tid);
		summary_put(p, (uint32_t)c->pid);
		summary_put(p, (uint32_t)c->cpu);
		put_text(p, c->name);
		put_text(p, c->arguments);
		put_text(p, c->returned);
		put_text(p, c->stack);
		put_text(p, c->comm);
	}
}

static void put_edges(struct packer *p, const struct pair_edges *e)
{
	const struct groups *texts = &p->sm->s->groups;
	const struct packed_stacks *stacks = &p->stacks;

	summary_put(p, e->map.count);
	for (size_t i = 0; i < e->map.count && !p->bad; i++) {
		const struct aggregate *a = groups_at(&e->map, i);
		const struct pair_edge *edge = pair_edge(e, a);

		p->bad = pack_cells(p->b, texts, groups_cells(&e->map, a), e->on, NULL);
		summary_put(p, edge->first);
		summary_put(p, edge->waiting);
		if (edge->first == PAIR_B) {
			summary_put(p, edge->b);
			p->bad = p->bad ||
				 pack_cells(p->b, texts, pair_edge_b(e, a), e->b_cells, stacks) ||
				 pack_cells(p->b, texts, pair_edge_other(e, a), e->a_cells,
					    stacks) ||
				 pack_aggregate(p->b, a, &p->sm->s->columns->wanted);
		}
		if (edge->waiting) {
			summary_put(p, edge->a);
			p->bad = p->bad ||
				 pack_cells(p->b, texts, pair_edge_a(e, a), e->a_cells, stacks);
		}
	}
}

static void put_parts(struct packer *p)
{
	const struct parts *ps = &p->sm->parts;

	summary_put(p, ps->count);
	for (size_t i = 0; i < ps->count; i++) {
		const struct part *part = &ps->part[i];
		const struct part_tail *tail = &part->tail;

		summary_put(p, part->stream_id);
		summary_put(p, part->first);
		summary_put(p, part->last);
		summary_put(p, (part->ends ? PART_ENDS : 0) | (tail->number ? PART_TAIL : 0) |
				       (part->edges ? PART_EDGES : 0));
		put_text(p, part->stages ? part->stages : "");
		if (tail->number) {
			summary_put(p, tail->unfinished);
			summary_put(p, tail->ignored_kernel);
			put_slowest(p, &tail->slowest);
		}
		if (part->edges)
			put_edges(p, part->edges);
	}
}

static int put_content(struct packer *p, struct error *e)
{
	const struct summary *sm = p->sm;

	p->tails = calloc(sm->parts.tails + (size_t)1, sizeof(*p->tails));
	if (!p->tails)
		return error_no_memory(e);
	for (size_t i = 0; i < sm->parts.count; i++)
		if (sm->parts.part[i].tail.number)
			p->tails[sm->parts.part[i].tail.number] = (uint32_t)i + 1;
	summary_put(p, SUMMARY_VERSION);
	summary_put(p, HISTOGRAM_PRECISION);
	put_head(p);
	p->bad = p->bad || (sm->s->stacks && summary_put_stacks(p->b, sm, &p->stacks));
	if (!p->bad && put_groups(p, e))
		return -1;
	put_parts(p);
	put_slowest(p, &sm->slowest);
	return p->bad ? error_no_memory(e) : 0;
}

int summary_write(struct writer *w, const struct summary *sm, const struct summary_end *end,
		  struct error *e)
{
	struct buffer b = {0};
	struct packer p = {.sm = sm, .b = &b};
	struct head h = {.flags = HEAD_SUMMARY};
	int bad = put_content(&p, e);

	writer_status(w, (uint32_t)end->status, end->message, &end->printed);
	h.stream_id = hash_bytes(b.data, b.size, sm->parts.count);
	if (!bad && (writer_pass_head(w, &h) || writer_meta(w, 0, SUMMARY_META, b.data, b.size) ||
		     writer_pass_end(w, END_LAST | (end->lost_more ? END_LOST_MORE : 0), end->gaps,
				     end->lost) ||
		     writer_finish(w))) {
		*e = w->error;
		bad = -1;
	}
	free(p.tails);
	packed_stacks_free(&p.stacks);
	buffer_free(&b);
	return bad ? -1 : 0;
}
