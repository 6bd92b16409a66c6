/*
 * summary_read.c - summaries into groups and parts; nothing that they say is believed unchecked
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/value.h"
#include "pack.h"
#include "summary.h"

enum {
	META_LIMIT = 1 << 30,
	DEPTH_LIMIT = 65536, /* of a row, and one more */
	LIST_LIMIT = 4096,   /* keys, columns */
};

void parts_free(struct parts *ps)
{
	for (size_t i = 0; i < ps->count; i++)
		part_free(&ps->part[i]);
	free(ps->part);
	*ps = (struct parts){0};
}

struct part *parts_add(struct parts *ps)
{
	struct part *p = array_grow(ps->part, &ps->capacity, ps->count, sizeof(*p));

	if (!p)
		return NULL;
	ps->part = p;
	p += ps->count++;
	*p = (struct part){0};
	return p;
}

void summaries_free(struct summaries *ss)
{
	parts_free(&ss->parts);
	columns_free(&ss->stored);
	buffer_free(&ss->meta);
	free(ss->fields);
	free(ss->groups);
	free(ss->streams);
	free(ss->keys);
}

/* One payload being taken apart. */
struct unpacker {
	struct summaries *ss;
	struct packed in;
	struct error *e;
	struct part *part;
	bool out_of_memory;
};

static int no_memory(struct unpacker *u)
{
	u->out_of_memory = true;
	return -1;
}

/* --- the head --- */

/* Texts of the payload as a list with commas. */
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
			return no_memory(u);
		}
	}
	if (u->in.bad || buffer_u8(&b, 0)) {
		buffer_free(&b);
		return u->in.bad ? -1 : no_memory(u);
	}
	*list = (char *)b.data;
	return 0;
}

/* A text that may be missing. */
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
}

static int take_head(struct unpacker *u, struct summary_head *h)
{
	struct packed *in = &u->in;

	h->ticks = packed_u64(in) & SUMMARY_TICKS;
	if (take_list(u, &h->keys, packed_limited(in, LIST_LIMIT)))
		return -1;
	if (take_list(u, &h->columns, packed_limited(in, LIST_LIMIT)) ||
	    take_option(u, &h->group) || take_option(u, &h->asked) || take_option(u, &h->sort))
		return -1;
	h->view = (uint32_t)packed_limited(in, VIEW_TIMELINE);
	if (take_option(u, &h->view_argument))
		return -1;
	h->first = packed_u64(in);
	h->last = packed_u64(in);
	h->unmatched = packed_u64(in);
	h->unfinished = packed_u64(in);
	h->outside = packed_u64(in);
	return in->bad ? -1 : 0;
}

static bool same_parts(const struct columns_wanted *a, const struct columns_wanted *b)
{
	return !a->histogram == !b->histogram && !a->times == !b->times &&
	       !a->total_stdev == !b->total_stdev && !a->self_stdev == !b->self_stdev &&
	       a->field_count == b->field_count;
}

/* Where its fields stand here; that it has all that is asked for, and is asked for all it has. */
static int match_columns(struct unpacker *u, const struct summary_head *h)
{
	struct summaries *ss = u->ss;
	const struct columns_wanted *here = &ss->s->columns->wanted, *there = &ss->stored.wanted;
	bool same = same_parts(here, there);
	uint32_t *fields = realloc(ss->fields, (there->field_count + 1) * sizeof(*fields));

	if (!fields)
		return no_memory(u);
	ss->fields = fields;
	for (uint32_t i = 0; same && i < there->field_count; i++) {
		int at = columns_field(ss->s->columns, there->field[i].name);

		same = at >= 0 && here->field[at].uniq == there->field[i].uniq;
		fields[i] = (uint32_t)at;
	}
	if (same)
		return 0;
	return error_set(
		u->e, ss->file, NO_OFFSET,
		"a summary of the columns '%s', which do not give those that are asked for",
		h->columns);
}

/* Names of keys as a list. */
static char *joined(const struct keys *k)
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

static int match(struct unpacker *u, const struct summary_head *h)
{
	struct summaries *ss = u->ss;

	columns_free(&ss->stored);
	ss->stored = (struct columns){0};
	if (columns_parse(&ss->stored, h->columns, u->e)) {
		u->in.bad = true;
		return -1;
	}
	if (!ss->keys) {
		if (ss->begin(ss->ctx, h, u->e))
			return -1;
		ss->keys = joined(ss->s->keys);
		if (!ss->keys)
			return no_memory(u);
	}
	if (strcmp(ss->keys, h->keys) != 0)
		return error_set(u->e, ss->file, NO_OFFSET,
				 "a summary by the keys '%s', and not by '%s'", h->keys, ss->keys);
	if (match_columns(u, h))
		return -1;
	ss->s->ticks |= h->ticks; /* one without rows does not know */
	ss->s->first = h->first < ss->s->first ? h->first : ss->s->first;
	ss->s->last = h->last > ss->s->last ? h->last : ss->s->last;
	ss->s->calls.unmatched += h->unmatched;
	ss->s->calls.unfinished += h->unfinished;
	ss->s->calls.outside += h->outside;
	return 0;
}

/* An aggregate of the payload is added to a; scratch: an empty one. */
static int take_aggregate(struct unpacker *u, struct aggregate *a)
{
	struct summaries *ss = u->ss;
	const struct columns_wanted *w = &ss->s->columns->wanted;
	struct aggregate *one = aligned_alloc(16, w->size);
	int bad = -1;

	if (!one)
		return no_memory(u);
	memset(one, 0, w->size);
	aggregate_init(one, w);
	errno = 0;
	if (unpack_aggregate(&u->in, one, w, &ss->stored.wanted, ss->fields))
		no_memory(u);
	else if (!u->in.bad)
		bad = aggregate_merge(a, one, w);
	if (bad && errno == ENOMEM)
		no_memory(u);
	aggregate_free(one, w);
	free(one);
	return bad;
}

static int take_groups(struct unpacker *u)
{
	struct summaries *ss = u->ss;
	struct statistics *s = ss->s;
	uint64_t n = packed_count(&u->in, 2);
	struct aggregate **groups = realloc(ss->groups, (n + 1) * sizeof(struct aggregate *));

	if (!groups)
		return no_memory(u);
	ss->groups = groups;
	ss->ngroups = 0;
	for (uint64_t i = 0; i < n && !u->in.bad; i++) {
		if (unpack_cells(&u->in, &s->groups, s->cells, s->keys->count, false))
			return no_memory(u);
		if (u->in.bad)
			return -1;
		groups[i] = groups_find(&s->groups, s->cells);
		if (!groups[i])
			return no_memory(u);
		if (take_aggregate(u, groups[i]))
			return -1;
		ss->ngroups++;
	}
	return u->in.bad ? -1 : 0;
}

/* --- a part --- */

/* What an id names in the present segment; NULL for none. */
static const void *entry(struct unpacker *u, enum entry_kind kind, const struct pool *pool)
{
	struct dictionary *d = &u->ss->reader->dictionary;
	uint32_t id = packed_u32(&u->in), number = id ? idmap_get(&d->ids[kind], id) : 0;

	if (!number) {
		u->in.bad |= id != 0;
		return NULL;
	}
	return pool_at(pool, number);
}

static const struct lane *take_lane(struct unpacker *u)
{
	return entry(u, ENTRY_LANE, &u->ss->reader->dictionary.lanes);
}

static uint32_t take_place(struct unpacker *u)
{
	const struct place *p = entry(u, ENTRY_PLACE, &u->ss->reader->dictionary.places);

	return p ? p->number : 0;
}

static uint32_t definition(void *ctx, uint32_t id)
{
	const struct definition *d = dictionary_definition_id(ctx, id);

	return d ? d->number : 0;
}

static int take_tail(struct unpacker *u, struct cut *list, const struct cut_op *op)
{
	struct dictionary *d = &u->ss->reader->dictionary;
	size_t size, before = list->bytes.size;
	const uint8_t *tail = packed_bytes(&u->in, &size);

	if (u->in.bad || size > EVENTS_LIMIT) {
		u->in.bad = true;
		return -1;
	}
	if (op->type->flags & TYPE_VALUES && !values_copy(&list->bytes, tail, size, definition, d))
		return 0;
	list->bytes.size = before;
	return buffer_append(&list->bytes, tail, size) ? no_memory(u) : 0;
}

static int take_row(struct unpacker *u, struct cut *list, struct cut_op *op)
{
	const uint8_t *fixed;

	if (!op->type || !op->lane || op->depth >= DEPTH_LIMIT) {
		u->in.bad = true;
		return -1;
	}
	op->data = list->bytes.size;
	fixed = packed_take(&u->in, op->type->fixed_size);
	if (u->in.bad)
		return -1;
	if (buffer_append(&list->bytes, fixed, op->type->fixed_size))
		return no_memory(u);
	if (op->type->flags & TYPE_TAIL && take_tail(u, list, op))
		return -1;
	op->tail_size = (uint32_t)(list->bytes.size - op->data - op->type->fixed_size);
	return 0;
}

/* May such an operation stand in such a list, with all that it needs? */
static bool op_sane(const struct unpacker *u, const struct cut_op *op, size_t index, bool numbered)
{
	if (op->entered > u->part->nentered ||
	    (!index && op->kind != CUT_BEGIN && op->kind != CUT_SET))
		return false;
	switch (op->kind) {
	case CUT_BEGIN: return !index;
	case CUT_SET: return !index && !numbered && op->depth <= DEPTH_LIMIT;
	case CUT_ROW: return numbered == !!(op->type->flags & TYPE_CALL_NUMBER);
	case CUT_TOUCH: return !numbered && op->type && op->lane && op->depth < DEPTH_LIMIT;
	case CUT_PUSH_NUMBERED:
		return numbered && op->lane && op->type && op->type->flags & TYPE_CALL_NUMBER;
	case CUT_LAST: return !numbered && op->lane;
	default: return !numbered && op->kind < CUT_KINDS;
	}
}

static int take_op(struct unpacker *u, struct cut *list, struct cut_op *op, uint64_t *last,
		   bool numbered)
{
	struct dictionary *d = &u->ss->reader->dictionary;
	struct packed *in = &u->in;
	size_t index = list->count - 1;

	op->kind = (uint8_t)packed_limited(in, CUT_KINDS - 1);
	if (op->kind != CUT_BEGIN && op->kind != CUT_FORGET && op->kind != CUT_CLEAR) {
		op->flags = (uint8_t)packed_limited(in, UINT8_MAX);
		op->time = *last += (uint64_t)packed_i128(in);
		op->lane = take_lane(u);
		op->type = entry(u, ENTRY_TYPE, &d->types);
		op->place = op->kind == CUT_SET ? packed_u32(in) : take_place(u);
		op->depth = packed_u32(in);
		op->entered = packed_u32(in);
	}
	if (op->kind == CUT_ROW && (in->bad || take_row(u, list, op)))
		return -1;
	op->charge = packed_u64(in);
	op->inner_charge = packed_u64(in);
	if (in->bad || !op_sane(u, op, index, numbered)) {
		in->bad = true;
		return -1;
	}
	return 0;
}

static int take_list_of(struct unpacker *u, struct cut **out, bool numbered)
{
	uint64_t n = packed_count(&u->in, 3), last = 0;
	struct cut *list;

	if (!n || u->in.bad)
		return u->in.bad ? -1 : 0;
	list = calloc(1, sizeof(*list));
	if (!list)
		return no_memory(u);
	*out = list;
	for (uint64_t i = 0; i < n; i++) {
		struct cut_op *op =
			array_grow(list->ops, &list->capacity, list->count, sizeof(*op));

		if (!op)
			return no_memory(u);
		list->ops = op;
		op += list->count++;
		*op = (struct cut_op){0};
		if (take_op(u, list, op, &last, numbered))
			return -1;
	}
	return 0;
}

static int take_held(struct unpacker *u, struct part_thread *t)
{
	struct statistics *s = u->ss->s;
	uint64_t n = packed_count(&u->in, 4), last = 0;

	for (uint64_t i = 0; i < n; i++) {
		struct part_held *h;
		uint64_t position = packed_u64(&u->in);
		uint32_t open = packed_u32(&u->in);
		struct aggregate *a;

		if (position < last || position >= t->list->count ||
		    open & ~(uint32_t)(OPEN_IF_CALL | OPEN_NO_EXEC))
			u->in.bad = true;
		if (unpack_cells(&u->in, &s->groups, s->cells, s->keys->count, true))
			return no_memory(u);
		if (u->in.bad)
			return -1;
		/* the number makes each one a group of its own */
		a = bracket_hold(&u->part->bracket, (uint32_t)u->part->nthreads, i, open, s->cells);
		h = array_grow(t->held, &t->held_capacity, t->nheld, sizeof(*h));
		if (!a || !h)
			return no_memory(u);
		t->held = h;
		h[t->nheld++] = (struct part_held){
			position, open, groups_cells(&u->part->bracket.held, a) + HELD_CELLS, a};
		last = position;
		if (take_aggregate(u, a))
			return -1;
	}
	return u->in.bad ? -1 : 0;
}

static int take_doubts(struct unpacker *u, struct part_thread *t)
{
	uint64_t n = packed_count(&u->in, 5), last = 0;

	for (uint64_t i = 0; i < n; i++) {
		struct part_doubt *d =
			array_grow(t->doubts, &t->doubts_capacity, t->ndoubts, sizeof(*d));
		uint64_t group;

		if (!d)
			return no_memory(u);
		t->doubts = d;
		d += t->ndoubts++;
		*d = (struct part_doubt){.position = packed_u64(&u->in), .place = take_place(u)};
		d->held = packed_u32(&u->in);
		group = packed_u64(&u->in);
		d->total = packed_u128(&u->in);
		if (d->position < last || d->position >= t->list->count || d->held > t->nheld ||
		    (d->held && t->held[d->held - 1].position > d->position) ||
		    (!d->held && group >= u->ss->ngroups))
			u->in.bad = true;
		if (u->in.bad)
			return -1;
		d->group = d->held ? NULL : u->ss->groups[group];
		last = d->position;
	}
	return u->in.bad ? -1 : 0;
}

/* Rows of a list are the thread's own. */
static bool rows_are_of(const struct part_thread *t)
{
	uint32_t number = part_thread_number(t->lane, t->per_cpu);

	for (size_t i = 0; i < t->list->count; i++) {
		const struct cut_op *op = &t->list->ops[i];
		struct event e = {.type = op->type, .lane = op->lane};

		if (op->kind == CUT_ROW && calls_thread(&e) != number)
			return false;
	}
	return true;
}

static int take_thread(struct unpacker *u)
{
	struct part *p = u->part;
	struct part_thread *t =
		array_grow(p->threads, &p->threads_capacity, p->nthreads, sizeof(*t));

	if (!t)
		return no_memory(u);
	p->threads = t;
	t += p->nthreads;
	*t = (struct part_thread){.lane = take_lane(u)};
	p->nthreads++;
	t->per_cpu = packed_limited(&u->in, 1);
	if (take_list_of(u, &t->list, false))
		return -1;
	if (!t->lane || !t->list || !rows_are_of(t)) {
		u->in.bad = true;
		return -1;
	}
	return take_held(u, t) || take_doubts(u, t) ? -1 : 0;
}

static int take_entered(struct unpacker *u)
{
	struct statistics *s = u->ss->s;
	struct part *p = u->part;
	size_t fields = s->entered.fields;
	uint64_t n = packed_count(&u->in, fields ? fields : 1);

	if (!n || u->in.bad)
		return u->in.bad ? -1 : 0;
	if (!fields || n >= UINT32_MAX) {
		u->in.bad = true;
		return -1;
	}
	p->entered = calloc(n * fields, sizeof(*p->entered));
	if (!p->entered || unpack_cells(&u->in, &s->groups, p->entered, n * fields, false))
		return no_memory(u);
	p->nentered = p->entered_capacity = n;
	return u->in.bad ? -1 : 0;
}

static int take_part(struct unpacker *u)
{
	struct packed *in = &u->in;
	struct part *p = u->part;
	uint64_t flags, n;

	p->stream_id = packed_u64(in);
	p->first = packed_u32(in);
	p->last = packed_u32(in);
	flags = packed_u64(in);
	p->ends = flags & PART_ENDS;
	p->filtered = flags & PART_FILTERED;
	if (in->bad || p->last < p->first || p->last == UINT32_MAX) {
		in->bad = true;
		return -1;
	}
	if (take_entered(u) || take_list_of(u, &p->numbered, true))
		return -1;
	n = packed_count(in, 3);
	for (uint64_t i = 0; i < n; i++)
		if (take_thread(u))
			return -1;
	return in->bad ? -1 : 0;
}

/* --- a whole payload --- */

static int take_all(struct unpacker *u)
{
	struct summaries *ss = u->ss;
	struct summary_head h = {0};
	uint64_t version = packed_u64(&u->in), precision = packed_u64(&u->in), first;

	if (!u->in.bad && (version != SUMMARY_VERSION || precision != HISTOGRAM_PRECISION))
		return error_set(u->e, ss->file, NO_OFFSET,
				 "a summary of version %" PRIu64 " with histograms of precision "
				 "%" PRIu64 ", here are known %d and %d",
				 version, precision, SUMMARY_VERSION, HISTOGRAM_PRECISION);
	first = packed_limited(&u->in, 1);
	if (u->in.bad || first == ss->expecting) {
		u->in.bad = true;
		return -1;
	}
	if (first) {
		int bad = take_head(u, &h);

		bad = bad || match(u, &h);
		free_head(&h);
		if (bad || take_groups(u))
			return -1;
	}
	u->part = parts_add(&ss->parts);
	if (!u->part ||
	    bracket_init(&u->part->bracket, ss->s->keys->count, &ss->s->columns->wanted))
		return no_memory(u);
	u->part->file = ss->file;
	if (take_part(u))
		return -1;
	u->in.bad |= u->in.p != u->in.end;
	return u->in.bad ? -1 : 0;
}

static int take_payload(struct summaries *ss, uint64_t offset, struct error *e)
{
	struct unpacker u = {
		.ss = ss, .in = {ss->meta.data, ss->meta.data + ss->meta.size, false}, .e = e};

	e->what[0] = '\0';
	if (!take_all(&u))
		return 0;
	if (u.out_of_memory)
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	if (e->what[0] && !u.in.bad)
		return -1;
	return error_set(e, ss->file, offset, "a summary that is damaged");
}

/* Streams that summaries are of, however many there are, keep their sources apart and their own
 * together. */
static int choose_stream(struct summaries *ss)
{
	const struct head *h = &ss->reader->head;
	uint64_t id = 0, *streams;
	size_t i;

	if (h->properties_size >= 16 && get_u16(h->properties) == HEAD_PART &&
	    get_u32(h->properties + 4) == 8)
		id = get_u64(h->properties + 8);
	for (i = 0; i < ss->nstreams && ss->streams[i] != id; i++)
		;
	if (i == ss->nstreams) {
		streams = array_grow(ss->streams, &ss->streams_capacity, ss->nstreams,
				     sizeof(*streams));
		if (!streams)
			return -1;
		ss->streams = streams;
		streams[ss->nstreams++] = id;
	}
	ss->reader->dictionary.stream = (uint32_t)i + 1;
	return 0;
}

static int take_meta(struct summaries *ss, const struct block *b, struct error *e)
{
	struct meta m;

	if (reader_meta(ss->reader, b, &m)) {
		*e = ss->reader->error;
		return -1;
	}
	if (m.name_size != strlen(SUMMARY_META) || memcmp(m.name, SUMMARY_META, m.name_size) != 0)
		return 0;
	if (m.offset != ss->meta.size || m.total > META_LIMIT || m.size > m.total - m.offset)
		return error_set(e, ss->file, b->offset, "a summary that is damaged");
	if (buffer_append(&ss->meta, m.data, m.size))
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	if (ss->meta.size < m.total)
		return 0;
	if (hash_bytes(ss->meta.data, ss->meta.size, 0) != m.hash)
		return error_set(e, ss->file, b->offset, "a summary that is damaged");
	if (take_payload(ss, b->offset, e))
		return -1;
	ss->expecting = false; /* till END says that there is more */
	ss->taken = true;
	return 0;
}

int summaries_block(struct summaries *ss, const struct block *b, struct error *e)
{
	switch (b->kind) {
	case BLOCK_HEAD:
		ss->file = b->file;
		ss->meta.size = 0;
		ss->taken = false;
		ss->expecting = ss->reader->head.sequence > 0;
		return choose_stream(ss) ? error_set(e, NULL, NO_OFFSET, "out of memory") : 0;
	case BLOCK_META: return ss->taken ? 0 : take_meta(ss, b, e);
	case BLOCK_END:
		return ss->taken ? 0
				 : error_set(e, ss->file, b->offset, "a summary that is damaged");
	}
	return 0;
}
