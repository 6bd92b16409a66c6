/*
 * rows.c - a compiled condition, evaluated row by row in the order of the stream
 */
#include "cmd/trfilter/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trfilter/block_compact.h"
#include "cmd/trfilter/pairing.h"
#include "cmd/trfilter/row_state.h"
#include "cmd/trfilter/emit.h"
#include "common/util/buffer.h"
#include "common/util/hash.h"

/*
 * The result of the leading terms depends on a row's lane, type and location alone, so each
 * combination of these in the block's tables is a cell that is evaluated once. An index that does
 * not matter has the stride 0. Names are those of the location if there is one, else of the type:
 * then the types are after the locations.
 */
enum cell {
	DROP = 0,
	KEEP = 1,
	UNKNOWN = 2,
	/* with cells.call: KEEP is the result of that term alone */
	REACHED = 4, /* the terms before it are true */
	PASSES = 8,  /* the terms after it are true too */
};

enum { CELLS_LIMIT = 64 * 1024, NO_TERM = INT32_MAX };

struct result_cells {
	uint8_t *at;
	size_t first, end; /* range of terms */
	size_t call;	   /* the term whose calls must be followed; or NO_TERM */
	size_t count;
	size_t location, lane, type; /* strides */
	uint32_t nlocations;	     /* number of indexes of locations; 0 is for none */
	bool name;		     /* a row without a location has the index nlocations + type */
};

struct kept {
	uint8_t *rows, *end; /* output in select.payload */
	uint64_t low, high;  /* lowest and highest time */
	uint32_t count;
};

static inline size_t cell_of(const struct result_cells *c, uint32_t location, uint32_t lane,
			     uint32_t type)
{
	if (c->name && !location)
		location = c->nlocations + type;
	return location * c->location + lane * c->lane + type * c->type;
}

static uint8_t select_ask(struct select *s, const struct block *b, const struct result_cells *c,
			  uint32_t location, uint32_t lane, uint32_t type);

static inline uint8_t select_cell(struct select *s, const struct block *b,
				  const struct result_cells *c, uint32_t location, uint32_t lane,
				  uint32_t type)
{
	uint8_t *cell = &c->at[cell_of(c, location, lane, type)];

	if (__builtin_expect(*cell == UNKNOWN, 0))
		*cell = select_ask(s, b, c, location, lane, type);
	return *cell;
}

/* Returns the first row from p on whose location has another cell. Cells must depend on the
 * location alone. */
static inline const uint8_t *select_skip(const uint8_t *p, const uint8_t *end, const uint8_t *cells,
					 uint8_t same)
{
	for (; end - p >= 4 * NARROW_ROW; p += 4 * NARROW_ROW)
		if ((cells[row_location_at(p)] ^ same) |
		    (cells[row_location_at(p + NARROW_ROW)] ^ same) |
		    (cells[row_location_at(p + 2 * NARROW_ROW)] ^ same) |
		    (cells[row_location_at(p + 3 * NARROW_ROW)] ^ same))
			break;
	while (p < end && cells[row_location_at(p)] == same)
		p += NARROW_ROW;
	return p;
}

static int select_end(struct select *s, const struct kept *k, uint8_t state);

void time_range_free(struct time_range *l)
{
	filter_condition_free(l->from);
	filter_condition_free(l->to);
	filter_condition_free(l->by);
	pairing_free(&l->pairing);
	time_window_free(&l->window);
	free(l->inside);
}

bool time_range_read_values(const struct time_range *l)
{
	return (l->from && (condition_reads_values(l->from) || condition_reads_values(l->to))) ||
	       (l->by && condition_reads_values(l->by));
}

int time_range_sample(struct time_range *l, const char *text)
{
	char *end;

	errno = 0;
	l->sample = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '/' || end[1] < '0' || end[1] > '9')
		return -1;
	l->of = strtoull(end + 1, &end, 10);
	return *end || errno || !l->of || l->sample > l->of ? -1 : 0;
}

struct node *time_range_condition(const char *text, const char *option, struct error *e)
{
	struct node *n = filter_condition_parse(text, e);

	if (!n || !condition_of_calls(n))
		return n;
	filter_condition_free(n);
	error_set(e, NULL, NO_OFFSET, "%s tests single events, not whole calls as '%s' does",
		  option, text);
	return NULL;
}

struct node *time_range_field(const char *text, struct error *e)
{
	struct node *n = time_range_condition(text, "--by", e);

	if (!n || (n->kind == NODE_TRUTH && operand_field(n->left)))
		return n;
	filter_condition_free(n);
	error_set(e, NULL, NO_OFFSET, "--by takes the name of a field, not '%s'", text);
	return NULL;
}

/* --- times --- */

void time_range_block(struct time_range *l, const struct block *b, bool new_stream)
{
	if (!l->pairing.calls.dictionary)
		pairing_init(&l->pairing, l->evaluation.dictionary);
	time_window_block(&l->window, b, new_stream);
	if (b->kind != BLOCK_HEAD || !new_stream)
		return;
	/* ranges never continue in the next stream */
	pairing_forget(&l->pairing);
	if (l->ninside)
		memset(l->inside, 0, l->ninside);
}

static enum time_range_answer time_range_of_block(struct time_range *l, const struct block *b)
{
	bool before = true, inside = true;

	for (uint32_t i = 0; i < b->ntypes; i++)
		/* leaves whose enters were in the range, and rows that are always kept */
		if (b->types[i]->kind == KIND_ENTER || b->types[i]->kind == KIND_LEAVE ||
		    !kind_is_event(b->types[i]->kind))
			return TIME_RANGE_ASK;
	for (uint32_t i = 0; i < b->nlanes; i++) {
		const struct clock_window *w = time_window_of(&l->window, b->lanes[i]->clock);

		before = before && (b->last < w->since || b->base >= w->until);
		inside = inside && b->base >= w->since && b->last < w->until;
	}
	if (before)
		return TIME_RANGE_NO;
	l->in_window |= inside;
	return inside && !l->from && !l->by ? TIME_RANGE_YES : TIME_RANGE_ASK;
}

/* --- rows --- */

/* Position of an event relative to the ranges of its thread. */
enum range { RANGE_OUTSIDE, RANGE_INSIDE, RANGE_BORDER };

/* Update the thread's range. closes: the leave of a call that was tested at its enter. */
static enum range in_between(struct time_range *l, const struct event *e, bool closes)
{
	uint32_t thread = e->lane->thread;
	uint8_t *inside;
	struct node *n;

	if (ARRAY_REACH(l->inside, l->ninside, thread)) {
		l->pairing.calls.out_of_memory = true;
		return RANGE_OUTSIDE;
	}
	inside = l->inside;
	inside = &l->inside[thread];
	n = *inside ? l->to : l->from;
	/* unless the condition names leaves */
	if ((closes && !(n->depends & DEPENDS_KIND)) || !evaluate(&l->evaluation, n, e))
		return *inside ? RANGE_INSIDE : RANGE_OUTSIDE;
	*inside = !*inside;
	return RANGE_BORDER;
}

/* Returns true if the event's value is in the sample, which is the same in every stream and on
 * every machine. */
static bool is_sampled(struct time_range *l, const struct event *e)
{
	static const struct siphash_key key = {0x7472757469, 0x6c73};
	const void *data;
	struct scalar s = {.form = SCALAR_NONE};
	uint64_t number;
	size_t n = 8;

	operand_value(&l->evaluation, l->by->left, e, &s);
	if (s.form == SCALAR_NONE || s.form == SCALAR_OTHER) {
		l->unsampled++;
		return false;
	}
	number = htole64(s.form == SCALAR_REAL ? (uint64_t)(int64_t)s.real : s.u);
	data = &number;
	if (s.form == SCALAR_TEXT) {
		data = s.text;
		n = s.size;
	}
	return siphash(&key, data, n) % l->of < l->sample;
}

bool time_range_row(struct time_range *l, const struct event *e)
{
	const struct clock_window *w = time_window_of(&l->window, e->lane->clock);
	bool holds = e->time >= w->since && e->time < w->until;
	uint32_t at_enter = false;
	bool closes = e->type->kind == KIND_LEAVE && pairing_leave(&l->pairing, e, &at_enter);
	enum range range = RANGE_INSIDE;

	l->in_window |= holds;
	if (holds && l->from) {
		range = in_between(l, e, closes);
		holds = range != RANGE_OUTSIDE;
	}
	/* a leave that is itself a border belongs to the range, wherever its enter is */
	if (closes && (at_enter || range != RANGE_BORDER))
		return at_enter;
	l->in_between |= holds;
	if (holds && l->by)
		holds = is_sampled(l, e);
	l->in_sample |= holds;
	if (e->type->kind == KIND_ENTER)
		pairing_enter(&l->pairing, e, holds);
	return holds;
}

void time_range_report(const struct time_range *l, bool whole)
{
	const struct operand *o = l->by ? l->by->left : NULL;
	const struct field_lookup *lookup = o ? o->data : NULL;

	if (whole && !l->in_window)
		time_window_report(&l->window);
	else if (whole && !l->in_between && l->from)
		warn(NULL, NO_OFFSET, "no event matches the first condition of --between");
	else if (whole && !l->in_sample && l->by && !l->unsampled)
		warn(NULL, NO_OFFSET,
		     "no value of %s%s is in the sample: --sample keeps %" PRIu64 " of %" PRIu64,
		     lookup->is_argument ? "arg." : "", o->name, l->sample, l->of);
	if (l->unsampled)
		warn_count(NULL, l->unsampled,
			   "{event|events} without the field %s%s {is|are} not in the sample",
			   lookup->is_argument ? "arg." : "", o->name);
}

/* --- filter --- */

static struct filter_term make_term(struct node *n)
{
	/* threads and CPUs are the row's own: a leave may have others */
	enum { CALL = DEPENDS_CALL | DEPENDS_LOCATION | DEPENDS_NAME | DEPENDS_TYPE };

	return (struct filter_term){
		.node = n,
		.by_entry = !(n->depends & DEPENDS_ROW),
		.by_call = n->depends & CALL && !(n->depends & DEPENDS_KIND),
		.by_row = n->depends & DEPENDS_KIND &&
			  !(n->depends & (DEPENDS_LATER | DEPENDS_STACK)),
		.by_both =
			n->depends & DEPENDS_KIND && n->depends & (DEPENDS_LATER | DEPENDS_STACK),
	};
}

/* Count the conditions joined by &&; with terms, fill them in. */
static size_t filter_rows_split(struct node *n, struct filter_term *terms)
{
	size_t count = 0;

	if (n->kind != NODE_AND) {
		if (terms)
			*terms = make_term(n);
		return 1;
	}
	for (size_t i = 0; i < n->nchildren; i++)
		count += filter_rows_split(n->children[i], terms ? terms + count : NULL);
	return count;
}

int filter_compile(struct filter *f, const char *expression, struct error *e)
{
	*f = (struct filter){.tree = filter_condition_parse(expression, e)};
	if (!f->tree)
		return -1;
	f->terms = calloc(filter_rows_split(f->tree, NULL), sizeof *f->terms);
	if (!f->terms)
		return error_no_memory(e);
	f->nterms = filter_rows_split(f->tree, f->terms);
	for (size_t i = 0; i < f->nterms; i++) {
		f->by_both |= f->terms[i].by_both;
		f->by_kind |= f->terms[i].node->depends & DEPENDS_KIND;
	}
	while (f->leading < f->nterms && f->terms[f->leading].by_entry)
		f->calls |= f->terms[f->leading++].by_call;
	return 0;
}

void filter_begin(struct filter *f)
{
	for (size_t i = 0; i < f->nterms; i++) {
		pairing_free(&f->terms[i].pairing);
		pairing_init(&f->terms[i].pairing, f->evaluation.dictionary);
	}
}

void filter_free(struct filter *f)
{
	for (size_t i = 0; i < f->nterms; i++)
		pairing_free(&f->terms[i].pairing);
	free(f->terms);
	filter_condition_free(f->tree);
}

static bool term_is_true(struct filter *f, struct filter_term *p, const struct event *e)
{
	uint32_t at_enter;
	bool result;

	if (p->by_call && e->type->kind == KIND_LEAVE && pairing_leave(&p->pairing, e, &at_enter))
		return at_enter;
	result = evaluate(&f->evaluation, p->node, e);
	if (p->by_call && e->type->kind == KIND_ENTER)
		pairing_enter(&p->pairing, e, result);
	return result;
}

/* End the calls in the terms from first on that a row ended which does not reach these, as a row of
 * KIND_DROP in its place does (rows/drops.h). ended: those of the term before. */
static __attribute__((noinline)) void end_in_terms(struct filter *f, size_t first, uint8_t ended,
						   const struct event *e)
{
	struct type t = *e->type;
	struct event drop = *e;
	uint16_t flags = t.flags;

	if (flags & TYPE_CALL_NUMBER)
		return;
	t.kind = KIND_DROP;
	drop.type = &t;
	drop.depth += e->type->kind == KIND_LEAVE && !(ended & PAIRING_ENDED_OWN);
	for (size_t i = first; i < f->nterms; i++) {
		if (!f->terms[i].by_call)
			continue;
		t.flags = flags & ~TYPE_INNER;
		if (flags & TYPE_DEPTH && !(flags & TYPE_INNER))
			pairing_drop(&f->terms[i].pairing, &drop);
		t.flags = flags | TYPE_INNER;
		if (pairing_flags(ended) & ROW_ENDS_INNER)
			pairing_drop(&f->terms[i].pairing, &drop);
		f->any_ended |= f->terms[i].pairing.ended != 0;
	}
}

bool filter_from(struct filter *f, size_t first, const struct event *e)
{
	for (size_t i = first; i < f->nterms; i++) {
		struct filter_term *p = &f->terms[i];
		bool result = term_is_true(f, p, e);

		f->any_ended |= p->pairing.ended != 0;
		if (result)
			continue;
		if (__builtin_expect(p->pairing.ended, 0))
			end_in_terms(f, i + 1, p->pairing.ended, e);
		return false;
	}
	return true;
}

/* Returns the calls of a pairing that ended, with that mark or any. */
static unsigned take_ended(struct pairing *p, unsigned marks)
{
	unsigned ended = p->ended & (marks | marks << 2 | PAIRING_ENDED_OWN);

	p->ended = 0;
	return ended;
}

uint8_t filter_ends(struct filter *f, struct time_range *range, bool invert)
{
	/* if the expression is false as a whole, any term may be */
	unsigned marks = !invert ? 2 : f->nterms > 1 ? 3 : 1, ended = 0;

	f->any_ended = false;
	for (size_t i = 0; i < f->nterms; i++)
		ended |= take_ended(&f->terms[i].pairing, marks);
	if (range)
		ended |= take_ended(&range->pairing, 2);
	return f->by_kind ? 0 : pairing_flags(ended);
}

uint8_t filter_drop(struct filter *f, struct time_range *range, bool invert, const struct event *e)
{
	bool by_call = range, passes = true;

	if (range)
		pairing_drop(&range->pairing, e);
	for (size_t i = 0; i < f->nterms; i++) {
		struct filter_term *p = &f->terms[i];

		by_call |= p->by_call;
		if (p->by_call)
			pairing_drop(&p->pairing, e);
		else
			passes = passes && evaluate(&f->evaluation, p->node, e);
	}
	if (by_call)
		return filter_ends(f, range, invert);
	if (passes == invert)
		return 0;
	return e->type->flags & TYPE_INNER ? ROW_ENDS_INNER : ROW_ENDS;
}

bool filter_out_of_memory(const struct filter *f)
{
	for (size_t i = 0; i < f->nterms; i++)
		if (f->terms[i].pairing.calls.out_of_memory)
			return true;
	return false;
}

/* --- results --- */

/* A call that was taken has ended without a leave. */
static void results_lost(void *ctx, uint32_t mark, uint8_t flag)
{
	struct results *r = ctx;

	(void)flag;
	r->open -= mark;
}

void results_init(struct results *r, uint64_t limit, struct dictionary *d)
{
	*r = (struct results){.limit = limit};
	r->pairing.lost = results_lost;
	r->pairing.ctx = r;
	pairing_init(&r->pairing, d);
}

void results_free(struct results *r)
{
	pairing_free(&r->pairing);
}

void results_begin(struct results *r)
{
	pairing_forget(&r->pairing);
	r->open = 0;
}

/* Take an event that is kept; caller: the event counts as nothing by itself. Returns false if the
 * event is beyond the limit. */
static bool results_take(struct results *r, const struct event *e, bool caller)
{
	bool room = !results_full(r);
	uint32_t taken;

	switch (e->type->kind) {
	case KIND_GAP: return true;
	case KIND_ENTER:
		r->open += room;
		pairing_enter(&r->pairing, e, room);
		break;
	case KIND_LEAVE:
		if (!pairing_leave(&r->pairing, e, &taken))
			break;
		r->open -= taken;
		return taken;
	default: break;
	}
	r->count += room && !caller;
	return room;
}

/* End the calls that a row with flags ends. */
static void results_end_calls(struct results *r, const struct event *e, uint8_t state)
{
	struct drop_row drops[2];
	unsigned n = drops_of(e, state, drops);

	for (unsigned i = 0; i < n; i++) {
		struct type t = {.kind = KIND_DROP, .flags = drops[i].flags};
		struct event drop = *e;

		drop.type = &t;
		drop.depth = drops[i].depth;
		pairing_drop(&r->pairing, &drop);
	}
}

uint8_t results_row(struct results *r, const struct event *e, uint8_t state)
{
	if (results_done(r))
		return ROW_LEFT_OUT;
	if (row_flags(state))
		results_end_calls(r, e, state);
	if (!row_passes(state) || results_take(r, e, row_state(state) == ROW_CALLER))
		return state;
	return row_flags(state) | ROW_LEFT_OUT;
}

/*
 * Select calls of narrow rows: by the enter, for the leave too.
 *
 * Instructions of 'trdecode | trsym | trfilter | trstat' of t/bench/uftrace.sh with the condition
 * name == "fib": without this file 2.0 times as many, without runs 1.33 times. Without
 * keep_by_location 'trfilter SAVED | trstat' takes 1.33 times the instructions where the condition
 * is true for every second call.
 */

enum { RUN = 64 }; /* rows of a run; fewer are taken one by one */

/* Returns true if a row is kept. */
static inline __attribute__((always_inline)) bool
rows_is_kept(struct pairing_block *pb, const uint8_t *row, uint64_t w, uint8_t cell)
{
	uint32_t holds = cell & KEEP;

	if (pb->enters[row_type(w)] && cell & REACHED)
		holds = pairing_row(pb, row, w, holds);
	return holds && cell & PASSES;
}

static inline void rows_put_row(struct kept *k, const uint8_t *row, size_t n)
{
	memcpy(k->end, row, n);
	k->end += n;
}

/* Returns the first row from p on that has another cell, which the location decides, or is not
 * fit for runs. */
static const uint8_t *skip_rows(const struct pairing_block *pb, const uint8_t *p,
				const uint8_t *cells, uint8_t same)
{
	const uint8_t *end = pb->block->row_data + pb->block->row_size;

	if (pb->fit)
		return select_skip(p, end, cells, same);
	while (end - p >= NARROW_ROW &&
	       !((cells[row_location_at(p)] ^ same) | pb->unfit[row_type_at(p)]))
		p += NARROW_ROW;
	return p;
}

/*
 * Take a run of rows with the same cell from p on. Returns the row after it, or p if the run was
 * not taken; *until: rows before it must be taken one by one.
 */
static const uint8_t *take_run(struct select *s, struct pairing_block *pb,
			       const struct result_cells *c, struct kept *k, const uint8_t *p,
			       const uint8_t **until)
{
	uint8_t cell = c->at[row_location_at(p)];

	*until = p + NARROW_ROW;
	if (cell == UNKNOWN)
		return p;
	*until = skip_rows(pb, p, c->at, cell);
	if (*until - p < RUN * NARROW_ROW ||
	    (cell & REACHED && !pairing_run(pb, p, *until, cell & KEEP)))
		return p;
	if (((cell & (KEEP | PASSES)) == (KEEP | PASSES)) != s->invert) {
		k->count += (uint32_t)((*until - p) / NARROW_ROW);
		rows_put_row(k, p, (size_t)(*until - p));
	}
	return *until;
}

/* Take single rows, except for runs. */
static int keep_exactly(struct select *s, struct pairing_block *pb, const struct result_cells *c,
			struct kept *k)
{
	struct pairing *pairing = pb->pairing;
	const struct block *b = pb->block;
	const uint8_t *p = b->row_data, *end = p + b->row_size, *until = p;
	bool runs = s->lopsided && pb->runs && !c->lane && !c->type;

	while (p < end) {
		uint64_t w = get_u64(p);
		uint8_t cell, flags;
		bool keep;
		size_t n;

		if (runs && p >= until) {
			const uint8_t *next = take_run(s, pb, c, k, p, &until);

			if (next > p) {
				p = next;
				continue;
			}
		}
		n = pb->fit ? NARROW_ROW : row_size(b, p);
		cell = select_cell(s, b, c, row_location(w), row_lane(w), row_type(w));
		keep = rows_is_kept(pb, p, w, cell) != s->invert;
		flags = 0;
		if (__builtin_expect(pairing->ended, 0)) {
			flags = filter_ends(s->filter, NULL, s->invert);
			flags &= keep ? ROW_ENDS_INNER : ROW_ENDS_ANY;
			if (flags && select_end(s, k, flags | (keep ? ROW_KEEP : ROW_LEFT_OUT)))
				return -1;
		}
		if (keep || flags) {
			/* the row of a block of one row, which may be large, is not copied */
			if (b->rows > 1 || flags)
				rows_put_row(k, p, n);
			else
				k->end += n;
			k->count++;
		}
		p += n;
	}
	return 0;
}

/*
 * Select by the location alone, without a branch, because kept rows have no pattern. This suits
 * blocks where leaves have their enters' locations. Returns false, with nothing done, if some leave
 * has another mark than its enter, if a kept call ends without a leave, or if the block does not
 * suit.
 */
static bool keep_by_location(struct select *s, struct pairing_block *pb,
			     const struct result_cells *c, struct kept *k)
{
	const struct block *b = pb->block;
	const uint8_t *p = b->row_data, *end = p + b->row_size;
	uint32_t leaves[256] = {0}, wrong = 0, invert = s->invert;
	struct pairing_marks marks;
	uint8_t *out = k->end;

	if (!pb->runs || !pb->fit || c->first != c->call || c->end != c->call + 1)
		return false;
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++) {
		if (!pb->kinds[i])
			return false;
		leaves[i] = pb->kinds[i] == KIND_LEAVE;
	}
	if (!pairing_marks(pb, &marks))
		return false;
	for (; p < end; p += NARROW_ROW) {
		uint64_t w = get_u64(p);
		uint32_t lane = row_lane(w), type = row_type(w), leave = leaves[type];
		uint32_t holds = select_cell(s, b, c, row_location(w), lane, type) & KEEP;
		uint8_t *mark = &marks.at[lane << 8 | row_depth(w)];

		/* an enter at the depth of an open call that is kept: its leave is missing */
		wrong |= (*mark ^ (leave ? holds : invert)) & ~(*mark >> 1);
		*mark = (uint8_t)(holds | leave * PAIRING_FREE);
		put_u64(out, w);
		out += NARROW_ROW & -(size_t)(holds ^ invert);
	}
	if (wrong & 1 || !pairing_found(pb, &marks, !invert))
		return false;
	k->count = (uint32_t)((size_t)(out - k->end) / NARROW_ROW);
	k->end = out;
	return true;
}

static void find_times(const struct block *b, struct kept *k)
{
	uint32_t low = UINT32_MAX, high = 0, n;

	for (const uint8_t *p = k->rows; p < k->end; p += n) {
		uint32_t delta = row_delta_at(p);

		n = (uint32_t)row_size(b, p);
		low = delta < low ? delta : low;
		high = delta > high ? delta : high;
	}
	k->low = b->base + low;
	k->high = b->base + high;
}

/* Select from narrow rows without gaps, where the cells decide all and c->call is set. Returns -1
 * when out of memory. */
static int select_calls(struct select *s, struct pairing_block *pb, const struct result_cells *c,
			struct kept *k)
{
	const struct block *b = pb->block;

	pb->pairing->ended = 0;
	if ((s->lopsided || !keep_by_location(s, pb, c, k)) && keep_exactly(s, pb, c, k))
		return -1;
	if (k->count < b->rows || s->nends)
		find_times(b, k);
	s->lopsided = k->count < b->rows / 16 || b->rows - k->count < b->rows / 16;
	return 0;
}

/* --- select --- */

void select_free(struct select *s)
{
	free(s->payload);
	free(s->cells);
	free(s->ends);
	free(s->next_ends);
}

static int select_grow(uint8_t **data, size_t *capacity, size_t n)
{
	uint8_t *grown;

	if (n <= *capacity)
		return 0;
	grown = realloc(*data, n);
	if (!grown)
		return -1;
	*data = grown;
	*capacity = n;
	return 0;
}

static bool has_gaps(const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++)
		if (!kind_is_event(b->types[i]->kind))
			return true;
	return false;
}

/* Allocate the cells of the terms from first to end. Returns false if there are too many to be
 * worthwhile, or no memory, or if rows have stacks in place of the locations that the terms need.
 */
static bool make_cells(struct select *s, const struct block *b, struct result_cells *c,
		       size_t first, size_t end)
{
	bool by_location, by_type, by_lane;
	unsigned depends = 0;
	uint64_t count = 1;

	for (size_t i = first; i < end; i++)
		depends |= s->filter->terms[i].node->depends;
	by_location = depends & (DEPENDS_LOCATION | DEPENDS_NAME);
	by_type = depends & DEPENDS_TYPE;
	by_lane = depends & DEPENDS_LANE;
	if (by_location && b->stacks.sampled)
		return false;
	*c = (struct result_cells){.first = first,
				   .end = end,
				   .call = NO_TERM,
				   .name = depends & DEPENDS_NAME && !by_type,
				   .nlocations = b->nlocations + 1};
	if (by_type) {
		c->type = count;
		count *= b->ntypes;
	}
	if (by_lane) {
		c->lane = count;
		count *= b->nlanes;
	}
	if (by_location) {
		c->location = count;
		count *= (uint64_t)c->nlocations + (c->name ? b->ntypes : 0);
	}
	if (count > CELLS_LIMIT || select_grow(&s->cells, &s->cells_capacity, count))
		return false;
	c->count = count;
	c->at = s->cells;
	memset(c->at, UNKNOWN, count);
	return true;
}

/* Evaluate terms without their knowledge of calls. */
static bool parts_are_true(struct select *s, size_t first, size_t end, const struct event *e)
{
	struct filter *f = s->filter;

	for (size_t i = first; i < end; i++)
		if (!evaluate(&f->evaluation, f->terms[i].node, e))
			return false;
	return true;
}

/* Evaluate the terms for a row's cell. */
static uint8_t select_ask(struct select *s, const struct block *b, const struct result_cells *c,
			  uint32_t location, uint32_t lane, uint32_t type)
{
	struct event e = {
		.location = b->locations[location], .lane = b->lanes[lane], .type = b->types[type]};

	if (c->call == NO_TERM)
		return parts_are_true(s, c->first, c->end, &e) ? KEEP : DROP;
	if (!parts_are_true(s, c->first, c->call, &e))
		return DROP;
	return (parts_are_true(s, c->call, c->call + 1, &e) ? KEEP : DROP) | REACHED |
	       (parts_are_true(s, c->call + 1, c->end, &e) ? PASSES : 0);
}

/* Evaluate all cells. Returns their common result, or UNKNOWN. */
static uint8_t ask_all(struct select *s, const struct block *b, struct result_cells *c)
{
	uint32_t locations = c->location ? c->nlocations : 1, lanes = c->lane ? b->nlanes : 1;
	uint32_t types = c->type || c->name ? b->ntypes : 1;
	size_t kept = 0, asked = 0;

	for (uint32_t p = 0; p < locations; p++)
		for (uint32_t l = 0; l < lanes; l++)
			for (uint32_t t = 0; t < (p && c->name ? 1 : types); t++) {
				uint8_t says = select_ask(s, b, c, p, l, t);

				c->at[cell_of(c, p, l, t)] = says;
				kept += says;
				asked++;
			}
	return kept == asked ? KEEP : kept ? UNKNOWN : DROP;
}

/* Returns the common result of the cells of some terms, if there are at most as many cells as
 * rows. */
static uint8_t ask_parts(struct select *s, const struct block *b, size_t first, size_t end)
{
	struct result_cells c;

	if (first == end)
		return KEEP;
	return make_cells(s, b, &c, first, end) && c.count <= b->rows ? ask_all(s, b, &c) : UNKNOWN;
}

/* All rows seem to have one result: returns true if calls that end in the block have it too. */
static bool same_mind(struct filter_term *p, const struct block *b, uint8_t says)
{
	struct pairing_block pb;

	return (b->row_flags & (EVENTS_BARE | EVENTS_WIDE)) == EVENTS_BARE &&
	       pairing_block_begin(&pb, &p->pairing, b) && pb.fit &&
	       pairing_run(&pb, b->row_data, b->row_data + b->row_size, says);
}

/* Evaluate the leading terms by the tables, in sequence: terms from s->first on must be
 * evaluated for each row. */
static void ask_tables(struct select *s, const struct block *b)
{
	struct filter *f = s->filter;
	bool calls = f->calls && pairing_has_calls(b);

	s->says = KEEP;
	while (s->first < f->leading && s->says == KEEP) {
		struct filter_term *p = &f->terms[s->first];
		size_t end = calls ? s->first + 1 : f->leading;
		uint8_t says = ask_parts(s, b, s->first, end);

		if (calls && p->by_call && says != UNKNOWN && !same_mind(p, b, says))
			says = UNKNOWN;
		s->says = says;
		if (s->says == KEEP)
			s->first = end;
	}
	/* rows that the leading terms drop do not reach the others */
	if (s->says == KEEP && f->leading < f->nterms)
		s->says = UNKNOWN;
}

/* Note that the next row of k has flags, and its state. Returns -1 when out of memory. */
static int select_end(struct select *s, const struct kept *k, uint8_t state)
{
	struct row_ends *grown;

	if (ARRAY_GROW(s->ends, s->ends_capacity, s->nends))
		return -1;
	grown = s->ends;
	grown[s->nends++] = (struct row_ends){k->count, state};
	return 0;
}

static int keep_any(struct select *s, const struct block *b, struct kept *k)
{
	struct events it;
	struct event e;
	const struct pairing *range = s->time_range ? &s->time_range->pairing : NULL;
	uint8_t flags;

	for (events_begin(&it, b); event_next(&it, &e);) {
		size_t n = (size_t)(it.row - e.row);
		bool gap = e.type->kind == KIND_GAP, keep = gap, drop = e.type->kind == KIND_DROP;

		if (!gap && !drop && (!s->limited || time_range_row(s->time_range, &e))) {
			keep = s->says == UNKNOWN ? filter_from(s->filter, s->first, &e)
						  : s->says == KEEP;
			keep = keep != s->invert;
		}
		flags = 0;
		if (__builtin_expect(drop, 0))
			flags = filter_drop(s->filter, s->time_range, s->invert, &e);
		else if (__builtin_expect(filter_any_ended(s->filter, range), 0))
			flags = filter_ends(s->filter, s->time_range, s->invert);
		flags &= keep ? ROW_ENDS_INNER : ROW_ENDS_ANY;
		if (flags && select_end(s, k, flags | (keep ? ROW_KEEP : ROW_LEFT_OUT)))
			return -1;
		if (!keep && !flags)
			continue;
		/* the row of a block of one row, which may be large, is not copied */
		if (b->rows > 1 || flags)
			memcpy(k->end, e.row, n);
		k->end += n;
		k->count++;
		k->low = e.time < k->low ? e.time : k->low;
		k->high = e.time > k->high ? e.time : k->high;
	}
	return 0;
}

int select_block(struct select *s, const struct block *b, enum selected *selected)
{
	enum time_range_answer inside =
		s->time_range ? time_range_of_block(s->time_range, b) : TIME_RANGE_YES;

	*selected = inside == TIME_RANGE_NO ? SELECTED_NONE : SELECTED_ROWS;
	s->limited = inside == TIME_RANGE_ASK;
	s->says = UNKNOWN;
	s->first = 0;
	s->nends = 0;
	if (inside != TIME_RANGE_YES || has_gaps(b))
		return 0;
	ask_tables(s, b);
	if (filter_out_of_memory(s->filter))
		return -1;
	if (s->says != UNKNOWN)
		*selected = (s->says == KEEP) == s->invert ? SELECTED_NONE : SELECTED_ALL;
	return 0;
}

/* Returns true if cells decide all rows of the block, which has calls, and one term follows calls.
 */
static bool is_fast(struct select *s, const struct block *b, struct result_cells *c)
{
	struct filter *f = s->filter;
	size_t ncalls = 0;

	if (!f->calls || !pairing_has_calls(b) || s->says != UNKNOWN || s->limited ||
	    f->leading < f->nterms || has_gaps(b) || b->row_flags & EVENTS_WIDE ||
	    !make_cells(s, b, c, s->first, f->leading))
		return false;
	for (size_t i = s->first; i < f->leading; i++)
		if (f->terms[i].by_call) {
			c->call = i;
			ncalls++;
		}
	return ncalls == 1;
}

int select_rows(struct select *s, const struct block *b, enum selected *selected)
{
	struct kept k = {.low = UINT64_MAX};
	size_t front = b->front;
	struct pairing_block pb;
	struct result_cells c;
	int bad;

	*selected = SELECTED_NONE;
	if (select_grow(&s->payload, &s->capacity,
			b->length + 16 > 80 * 1024 ? b->length + 16 : 80 * 1024))
		return -1;
	k.rows = k.end = s->payload + front;
	if (is_fast(s, b, &c) && pairing_block_begin(&pb, &s->filter->terms[c.call].pairing, b))
		bad = select_calls(s, &pb, &c, &k);
	else
		bad = keep_any(s, b, &k);
	if (bad)
		return -1;
	if (filter_out_of_memory(s->filter) ||
	    (s->time_range && s->time_range->pairing.calls.out_of_memory))
		return -1;
	if (!k.count)
		return 0;
	if (k.count == b->rows && !s->nends) {
		*selected = SELECTED_ALL;
		return 0;
	}
	compact_block(&s->block, b, s->payload,
		      &(struct compact_rows){(size_t)(k.end - k.rows), k.count, k.low, k.high});
	*selected = SELECTED_SOME;
	return 0;
}

/* Note the state of a row in the list of select_limit. */
static int limit_row(struct select *s, size_t *n, uint32_t row, uint8_t state)
{
	struct row_ends *grown;

	if (ARRAY_GROW(s->next_ends, s->next_capacity, *n))
		return -1;
	grown = s->next_ends;
	grown[(*n)++] = (struct row_ends){row, state};
	return 0;
}

int select_limit(struct select *s, const struct block *b, struct results *r,
		 enum selected *selected)
{
	const struct block *kept = *selected == SELECTED_ALL ? b : &s->block;
	struct row_ends *list;
	struct events it;
	struct event e;
	bool changed = false, any = false;
	size_t n = 0, i = 0, capacity;
	uint32_t row = 0;

	if (*selected == SELECTED_NONE)
		return 0;
	for (events_begin(&it, kept); event_next(&it, &e); row++) {
		bool listed = i < s->nends && s->ends[i].row == row;
		uint8_t before = listed ? s->ends[i++].state : ROW_KEEP;
		uint8_t state = results_row(r, &e, before);

		changed |= state != before;
		any |= state != ROW_LEFT_OUT;
		if (state != ROW_KEEP && limit_row(s, &n, row, state))
			return -1;
	}
	if (r->pairing.calls.out_of_memory)
		return -1;
	if (!changed)
		return 0;
	*selected = any ? SELECTED_SOME : SELECTED_NONE;
	s->block = *kept;
	list = s->ends;
	capacity = s->ends_capacity;
	s->ends = s->next_ends;
	s->ends_capacity = s->next_capacity;
	s->nends = n;
	s->next_ends = list;
	s->next_capacity = capacity;
	return 0;
}
