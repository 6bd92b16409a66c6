#include "cmd/trfilter/rows/block_compact.h"
#include "cmd/trfilter/calls/duration_scan.h"

/* RUN: rows of a run that is worth its setup; BREAKS: shorter runs in a row that are tolerated. */
enum { RUN = 128, BREAKS = 4 };

static bool prepare(struct duration_scan *x)
{
	const struct block *b = x->b;
	struct call_filter *w = x->w;

	if (calls_rows(&w->calls, b, &x->rows)) {
		w->calls.out_of_memory = true;
		return false;
	}
	for (uint32_t i = 0; i < b->ntypes && i < DURATION_SCAN_TYPES; i++) {
		const struct type *t = b->types[i];

		/* the CPU's calls take the general path */
		if (t->flags & TYPE_PER_CPU)
			x->rows.types[i].kind = 0;
		x->leaves[i] = DURATION_SCAN_NONE;
		if (x->rows.types[i].kind && !t->fixed_size && !(t->flags & TYPE_TAIL))
			x->leaves[i] = t->kind == KIND_LEAVE;
	}
	x->shared = calls_rows_shared(&x->rows, b);
	for (uint32_t i = 0; i < b->nlanes && i < DURATION_SCAN_LANES; i++) {
		struct event e = {.lane = b->lanes[i], .type = b->types[0]};

		x->wanted[i] = call_filter_wanted(w, true, &e);
	}
	return true;
}

bool duration_scan_wanted(const struct duration_scan *x, uint32_t lane, uint32_t type,
			  uint32_t location)
{
	const struct event e = {.lane = x->b->lanes[lane],
				.type = x->b->types[type],
				.location = x->b->locations[location]};

	return x->wanted[lane] && call_filter_wanted(x->w, false, &e);
}

/* Find the undecided enters of this block. */
static bool find_waiting(const struct duration_scan *x)
{
	const struct block *b = x->b;
	struct call_filter *w = x->w;
	bool any = false;

	for (uint32_t i = 0; i < b->nlanes && i < DURATION_SCAN_LANES; i++) {
		const struct stack *s = x->rows.stacks[i];

		for (size_t n = s->count; n--;) {
			const struct call_data *f = calls_data(&w->calls, s, n);

			/* only an undecided enter is located in this block */
			if (f->block != x->block)
				break;
			if (!f->undecided)
				continue;
			w->rows.states[f->row] = row_flags(w->rows.states[f->row]) | ROW_UNDECIDED;
			w->rows.owners[f->row] = call_address_of(s, n);
			any = true;
		}
	}
	return any;
}

/* Take a row that the engine does not process in line. */
static void scan_general(struct duration_scan *x, const uint8_t *p, uint32_t row)
{
	struct call_filter *w = x->w;
	struct events it;
	struct event e;

	events_begin(&it, x->b);
	it.row = p;
	event_next(&it, &e);
	w->rows.row = row;
	w->rows.states[row] = call_filter_row(w, &e);
	/* this row, or the enter of a call that it ended */
	x->kept = true;
}

/* Take single rows, from number i on. */
static inline __attribute__((always_inline)) void scan_rows(struct duration_scan *x,
							    const uint8_t *p, uint32_t i, bool bare)
{
	struct call_filter *w = x->w;
	const struct block *b = x->b;

	for (; i < b->rows; i++, p += bare ? NARROW_ROW : row_size(b, p)) {
		struct plain_row r = row_read(p, b->base);
		enum calls_result got;
		struct call call;

		if (!bare)
			w->rows.offsets[i] = (uint32_t)(p - b->row_data);
		got = calls_quick_row(&w->calls, &x->rows, &r, &call, CALLS_CAREFUL);
		if (got == CALLS_SLOW) {
			scan_general(x, p, i);
			continue;
		}
		x->at[r.lane] = i + 1;
		if (got == CALLS_ENTER)
			duration_scan_enter(x, call.data, p, i);
		else
			duration_scan_leave(x, call.data, call.total, i);
	}
}

/* Find the last rows of lanes among n bare rows from number i on; usually all are found soon. */
static void find_last(struct duration_scan *x, const uint8_t *p, uint32_t i, uint32_t n)
{
	uint32_t left = x->b->nlanes;

	for (uint32_t k = n; k && left; k--) {
		uint32_t *at = &x->at[row_lane_at(p + NARROW_ROW * (size_t)(k - 1))];

		if (*at > i)
			continue;
		*at = i + k;
		left--;
	}
}

/* Note the last events of the lanes' threads, unless the general path noted later ones. */
static void note_last(const struct duration_scan *x)
{
	const struct block *b = x->b;
	bool bare = b->row_flags & EVENTS_BARE;

	for (uint32_t i = 0; i < b->nlanes && i < DURATION_SCAN_LANES; i++) {
		uint32_t thread = b->lanes[i]->thread, row = x->at[i] - 1;
		const uint8_t *p = b->row_data;

		if (x->at[i] <= x->w->ends.threads[thread].row)
			continue;
		p += bare ? NARROW_ROW * (size_t)row : x->w->rows.offsets[row];
		ends_note(&x->w->ends, thread, b->lanes[i], block_row(b, p).time, row);
	}
}

/* Take runs until they are too short, or to the end of the block. Returns the number of the
 * first row that is left; *at is its address. */
static uint32_t scan_runs(struct duration_scan *x, const uint8_t **at)
{
	const struct block *b = x->b;
	const uint8_t *p = b->row_data, *end;
	bool bare = b->row_flags & EVENTS_BARE;
	struct call_filter *w = x->w;
	uint32_t i = 0, n, breaks = 0;

	for (;;) {
		end = duration_scan_run(x, p, i);
		n = (uint32_t)((size_t)(end - p) / NARROW_ROW);
		find_last(x, p, i, n);
		for (uint32_t k = 0; !bare && k < n; k++)
			w->rows.offsets[i + k] = (uint32_t)(p - b->row_data) + k * NARROW_ROW;
		i += n;
		p = end;
		if (i == b->rows || ++breaks > BREAKS + i / RUN)
			break;
		w->rows.offsets[i] = (uint32_t)(p - b->row_data);
		scan_general(x, p, i++);
		p += row_size(b, p);
		if (i == b->rows || x->shared)
			break;
	}
	*at = p;
	return i;
}

bool duration_scan(struct call_filter *w, const struct block *b, bool *any)
{
	struct duration_scan x = {.w = w,
				  .b = b,
				  .block = block_queue_next(&w->queue),
				  .by_location = w->filter->nterms > 1};
	const uint8_t *p = b->row_data;
	uint32_t i = 0;

	if (b->row_flags & EVENTS_WIDE || !prepare(&x))
		return false;
	memset(w->rows.states, ROW_LEFT_OUT, b->rows);
	if (w->duration.quick && !x.shared)
		i = scan_runs(&x, &p);
	if (b->row_flags & EVENTS_BARE)
		scan_rows(&x, p, i, true);
	else
		scan_rows(&x, p, i, false);
	note_last(&x);
	*any = find_waiting(&x) || x.kept;
	return true;
}
