/*
 * sample_rows.c - write the rows of samples
 *
 * A sample takes three steps: its parts and the digest of its call chain, its stack, its row. The
 * steps of several samples overlap: what the next step reads of large tables is fetched meanwhile.
 * 'trdecode | trstat' of t/bench/perf.sh takes 1.3 times the CPU where each sample takes its steps
 * at once.
 */
#include "cmd/trdecode/perf/known_stacks.h"
#include "cmd/trdecode/perf/sample.h"

#include <stdlib.h>

#include "cmd/trdecode/input/merge.h"
#include "common/stream/writer_rows.h"

enum {
	FIXED_MOST = 8 * (PERF_MEMBERS + 16 + 2 * 64),
	STEP = 4, /* samples between two steps of one */
	PENDING = 2 * STEP,
};

/* A sample whose row is not yet written. */
struct pending_sample {
	struct perf_sample sample;
	struct perf_process *process; /* that of its thread at that time */
	uint32_t lane, stack;
	bool has_digest;
	uint64_t digest;	 /* of the call chain */
	struct buffer own_chain; /* the chain, if not that of the record */
};

/* Samples in their order: the next is number `begun`. */
struct perf_pending {
	struct pending_sample samples[PENDING]; /* by number % PENDING */
	uint64_t begun, found, written;		/* numbers of those that took each step */
	struct buffer tail;
};

struct perf_pending *perf_pending_new(void)
{
	return calloc(1, sizeof(struct perf_pending));
}

void perf_pending_free(struct perf_pending *q)
{
	for (int i = 0; q && i < PENDING; i++)
		buffer_free(&q->samples[i].own_chain);
	if (q)
		buffer_free(&q->tail);
	free(q);
}

/* --- the parts of rows --- */

/* Find where the value is that a counter had when it was last read. An inherited counter counts in
 * each thread by itself. NULL: out of memory. */
static uint64_t *last_value(struct perf *p, const struct perf_attr *a, struct perf_id *known,
			    int32_t tid)
{
	struct perf_thread_counters *c = &p->thread_counters;
	uint64_t key[2] = {known->id, (uint32_t)tid};
	uint32_t *number;

	if (!perf_flag(a, PERF_FLAG_INHERIT) || c->count == PERF_THREAD_VALUES)
		return &known->last;
	number = id_cache_number(&c->numbers, key, sizeof key);
	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_REACH(c->values, c->size, c->count))
			return NULL;
		*number = ++c->count;
	}
	return &c->values[*number - 1];
}

/* The values that a sample has read: of a group {number, times, {value, id, lost} of each}, else
 * {value, times, id, lost}. */
struct read_values {
	const uint8_t *at;
	uint64_t n;
	unsigned size, id_at; /* of one; of the id in it */
};

static struct read_values values_of(const struct perf *p, const struct perf_sample *s)
{
	const struct perf_attr *a = s->attr;
	bool group = a->read_format & PERF_READ_GROUP;

	return (struct read_values){.at = s->read + (group ? 8 + perf_read_times(a) : 0),
				    .n = group ? perf_u64(p, s->read) : 1,
				    .size = perf_value_size(a),
				    .id_at = 8 + (group ? 0 : perf_read_times(a))};
}

/* Find the counter of value number i. NULL: it is not known. */
static struct perf_id *counter_of(struct perf *p, const struct perf_attr *a,
				  const struct read_values *v, uint64_t i)
{
	const uint8_t *id = v->at + i * v->size + v->id_at;

	return a->read_format & PERF_READ_ID ? perf_id_find(p, perf_u64(p, id)) : NULL;
}

static bool has_member(const struct perf_member *members, uint32_t n, uint32_t attr)
{
	for (uint32_t i = 0; i < n; i++)
		if (members[i].attr == attr)
			return true;
	return false;
}

/* Fill the period and the fields of the other counters. Returns -1 when out of memory. */
static int fill_read(struct perf *p, const struct perf_sample *s, uint8_t *fixed)
{
	const struct perf_attr *a = s->attr;
	struct read_values v = values_of(p, s);

	put_u64(fixed, s->period);
	for (uint32_t i = 0; i < a->nmembers; i++)
		put_u64(fixed + a->members[i].offset, 0);
	for (uint64_t i = 0; i < v.n; i++) {
		uint64_t now = perf_u64(p, v.at + i * v.size), value, *last;
		struct perf_id *known = counter_of(p, a, &v, i);

		if (!known)
			continue;
		last = last_value(p, a, known, s->origin.tid);
		if (!last)
			return -1;
		value = now - *last;
		*last = now;
		if (&p->attrs[known->attr - 1] == a)
			put_u64(fixed, value);
		for (uint32_t k = 0; k < a->nmembers; k++)
			if (a->members[k].attr == known->attr - 1)
				put_u64(fixed + a->members[k].offset, value);
	}
	return 0;
}

static uint8_t *fill_registers(const struct perf *p, uint8_t *to, const uint8_t *regs,
			       uint64_t mask)
{
	int n = __builtin_popcountll(mask);

	for (int i = 0; i < n; i++, to += 8)
		put_u64(to, regs ? perf_u64(p, regs + 8 * i) : 0);
	return to;
}

static uint8_t *put_number(uint8_t *to, uint64_t v)
{
	put_u64(to, v);
	return to + 8;
}

/* Fill the fixed part, in the order of add_fixed of sample_types.c. Returns -1 when out of memory.
 */
static int fill_fixed(struct perf *p, const struct perf_sample *s, uint8_t *fixed)
{
	const struct perf_attr *a = s->attr;
	uint64_t has = a->sample_type;
	uint8_t *to = fixed;

	if (has & PERF_SAMPLE_READ) {
		if (fill_read(p, s, fixed))
			return -1;
		to += 8 + 8 * (size_t)a->nmembers;
	} else if (has & PERF_SAMPLE_PERIOD) {
		to = put_number(to, s->period);
	}
	if (a->has_ip)
		to = put_number(to, s->ip);
	if (has & PERF_SAMPLE_ADDR)
		to = put_number(to, s->addr);
	/* of three numbers the first is the lowest 4 bytes, in both byte orders */
	if (has & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		to = put_number(to, s->weight);
	if (has & PERF_SAMPLE_DATA_SRC)
		to = put_number(to, s->data_src);
	if (has & PERF_SAMPLE_TRANSACTION)
		to = put_number(to, s->transaction);
	if (has & PERF_SAMPLE_PHYS_ADDR)
		to = put_number(to, s->phys_addr);
	if (has & PERF_SAMPLE_CGROUP)
		to = put_number(to, s->cgroup);
	if (has & PERF_SAMPLE_DATA_PAGE_SIZE)
		to = put_number(to, s->data_page_size);
	if (has & PERF_SAMPLE_CODE_PAGE_SIZE)
		to = put_number(to, s->code_page_size);
	if (has & PERF_SAMPLE_REGS_USER && !(has & PERF_SAMPLE_STACK_USER))
		to = fill_registers(p, to, s->user_regs, a->user_regs);
	if (has & PERF_SAMPLE_REGS_INTR)
		fill_registers(p, to, s->intr_regs, a->intr_regs);
	return 0;
}

static int append_location(const struct perf *p, struct buffer *b, uint32_t offset, uint32_t size)
{
	uint32_t at = size << 16 | offset;
	uint8_t location[4];

	put_u32(location, p->h.big_endian ? __builtin_bswap32(at) : at);
	return buffer_append(b, location, 4);
}

/* Set the tail of a row: the raw data or the branch stack, or both after their locations. */
static int fill_tail(struct perf *p, const struct perf_sample *s, struct new_row *row)
{
	struct buffer *b = &p->pending->tail;
	uint32_t branch_size = s->branches ? (uint32_t)s->nbranches * PERF_BRANCH_SIZE : 0;

	if (!s->raw && !s->branches)
		return 0;
	row->tail = s->raw ? s->raw : s->branches;
	row->tail_size = s->raw ? s->raw_size : branch_size;
	if (!s->raw || !s->branches || s->attr->tracepoint)
		return 0;
	buffer_clear(b);
	if (append_location(p, b, 8, s->raw_size) ||
	    append_location(p, b, 8 + (uint32_t)align_up(s->raw_size, 8), branch_size) ||
	    buffer_append(b, s->raw, s->raw_size) || buffer_align(b, 8) ||
	    buffer_append(b, s->branches, branch_size))
		return -1;
	row->tail = b->data;
	row->tail_size = (uint32_t)b->size;
	return 0;
}

/* --- the steps --- */

static bool has_user_state(const struct perf_sample *s)
{
	return s->user_regs && s->stack_size;
}

static struct perf_chain chain_of(const struct perf_sample *s, uint32_t parent)
{
	return (struct perf_chain){s->chain, s->nchain, s->record.misc & PERF_MISC_MODE, parent};
}

/* Get the stack of a sample that has no known digest. 0: it has none, or with *bad, out of memory.
 */
static uint32_t stack_of(struct perf *p, struct perf_process *process, const struct perf_sample *s,
			 bool *bad)
{
	const struct perf_record *r = &s->record;
	const struct perf_attr *a = s->attr;
	uint32_t stack = 0;

	if (has_user_state(s)) {
		struct perf_user_state state = {.registers = s->user_regs,
						.mask = a->user_regs,
						.abi = s->user_abi,
						.stack = s->stack,
						.size = s->stack_size,
						.big_endian = p->h.big_endian};

		stack = p->unwinder ? perf_user_stack(p, process, &state, bad)
				    : perf_user_frame(p, process, &state, bad);
	}
	if (r->user_chain && !*bad)
		stack = perf_chain_stack(
			p, process,
			&(struct perf_chain){r->user_chain, r->nuser_chain, PERF_MODE_USER, 0},
			bad);
	if (s->chain && !*bad) {
		struct perf_chain chain = chain_of(s, stack);

		stack = perf_chain_stack(p, process, &chain, bad);
	}
	/* a chain is empty if it excludes the mode in which the sample was taken */
	if (!stack && !*bad && a->sample_type & PERF_SAMPLE_IP)
		stack = perf_frame_stack(p, process, s->ip, r->misc & PERF_MISC_MODE, 0, bad);
	return stack;
}

/* Find the stack of the next sample. */
static int find_stack(struct perf *p)
{
	struct perf_pending *q = p->pending;
	struct pending_sample *s = &q->samples[q->found++ % PENDING];
	bool bad = false;

	s->stack = s->has_digest ? known_stacks_find(p->spaces.known, s->digest) : 0;
	if (!s->stack)
		s->stack = stack_of(p, s->process, &s->sample, &bad);
	writer_fetch_stack(p->w, s->stack);
	return bad ? -1 : 0;
}

/* Write the row of the next sample. */
static int write_row(struct perf *p)
{
	struct perf_pending *q = p->pending;
	const struct pending_sample *from = &q->samples[q->written++ % PENDING];
	const struct perf_sample *s = &from->sample;
	uint8_t fixed[FIXED_MOST];
	struct new_row row = {.time = merge_shifted(s->record.time, p->input->shift),
			      .lane = from->lane,
			      .type = s->attr->type,
			      .location = from->stack,
			      .fixed = fixed,
			      .fixed_size = s->attr->fixed_size,
			      .has_tail = s->attr->has_tail};

	if (fill_fixed(p, s, fixed))
		return -1;
	if (fill_tail(p, s, &row))
		return -1;
	return writer_sample(p->w, row);
}

int perf_samples_flush(struct perf *p)
{
	struct perf_pending *q = p->pending;

	while (q->found < q->begun)
		if (find_stack(p))
			return -1;
	while (q->written < q->begun)
		if (write_row(p))
			return -1;
	return 0;
}

/* Have a recorded stack of calls in place of the user's part of the call chain: where the last call
 * went, and the calls, of which the innermost is first (resolve_lbr_callchain_sample of perf). */
static int chain_of_branches(const struct perf *p, struct pending_sample *pending)
{
	struct perf_sample *s = &pending->sample;
	struct buffer *b = &pending->own_chain;
	uint64_t i = 0;

	if (!(s->attr->branch_type & PERF_BRANCH_CALL_STACK) || !s->branches || !s->nbranches ||
	    !s->chain)
		return 0;
	while (i < s->nchain && perf_u64(p, s->chain + 8 * i) != PERF_CONTEXT_USER)
		i++;
	if (i == s->nchain)
		return 0;
	buffer_clear(b);
	if (buffer_append(b, s->chain, 8 * (i + 1)) ||
	    buffer_append(b, s->branches + PERF_BRANCH_TO, 8))
		return -1;
	for (uint64_t k = 0; k < s->nbranches; k++)
		if (buffer_append(b, s->branches + k * PERF_BRANCH_SIZE + PERF_BRANCH_FROM, 8))
			return -1;
	s->chain = b->data;
	s->nchain = b->size / 8;
	return 0;
}

/* Have the counters of a group that the type of its samples lacks as fields in a new type, by the
 * ids of a sample. */
static int settle_members(struct perf *p, const struct perf_sample *s)
{
	struct perf_attr *a = s->attr;
	struct read_values v = values_of(p, s);
	struct perf_member members[PERF_MEMBERS];
	uint32_t n = 0, missing = 0;

	/* what was guessed is kept only if the first sample has all of it */
	if (a->knows_members)
		for (; n < a->nmembers; n++)
			members[n] = a->members[n];
	for (uint64_t i = 0; i < v.n && n < PERF_MEMBERS; i++) {
		const struct perf_id *known = counter_of(p, a, &v, i);
		uint32_t attr = known ? known->attr - 1 : 0;

		if (!known || &p->attrs[attr] == a || has_member(members, n, attr))
			continue;
		missing += !has_member(a->members, a->nmembers, attr);
		members[n++].attr = attr;
	}
	a->knows_members = true;
	if (!missing && n == a->nmembers)
		return 0;
	/* the rows of the samples before have the type and the members so far */
	if (perf_samples_flush(p))
		return -1;
	free(a->members);
	a->members = malloc(sizeof members);
	if (!a->members)
		return -1;
	memcpy(a->members, members, n * sizeof *members);
	a->nmembers = n;
	return perf_declare_attr(p, a);
}

/* Find whose sample it is, and the digest of its call chain. */
static int begin_sample(struct perf *p, struct pending_sample *s)
{
	const struct perf_origin *o = &s->sample.origin;
	struct perf_thread *t =
		perf_thread_of(&p->threads, o->has_tid ? o->pid : -1, o->has_tid ? o->tid : -1);
	struct perf_chain chain;
	bool bad = false;

	if (!t || chain_of_branches(p, s))
		return -1;
	/* a JIT compiler's mappings may change at each sample */
	if (t->process->dump && perf_samples_flush(p))
		return -1;
	s->lane = perf_lane(p, t, o);
	s->process = t->process;
	chain = chain_of(&s->sample, 0);
	s->has_digest = chain.addresses && !s->sample.record.user_chain &&
			!has_user_state(&s->sample) &&
			perf_chain_digest(p, s->process, &chain, &s->digest, &bad);
	return s->lane && !bad ? 0 : -1;
}

int perf_sample(struct perf *p, const struct perf_record *r)
{
	struct perf_pending *q = p->pending;
	struct pending_sample *s = &q->samples[q->begun % PENDING];
	bool whole = perf_sample_parse(p, r, &s->sample);
	struct perf_attr *a = s->sample.attr;

	if (!a || !whole)
		return perf_samples_flush(p) ||
				       perf_damage_gap(p, r,
						       a ? "a sample that is shorter than its parts"
							 : "a sample of no declared event")
			       ? -1
			       : 0;
	if (!a->type && (perf_samples_flush(p) || perf_declare_attr(p, a)))
		return -1;
	if (a->sample_type & PERF_SAMPLE_READ && a->read_format & PERF_READ_GROUP &&
	    settle_members(p, &s->sample))
		return -1;
	if (begin_sample(p, s))
		return -1;
	q->begun++;
	/* the bytes of a deferred record are not kept, nor the mappings of a JIT compiler */
	if (p->deferred.used || s->process->dump)
		return perf_samples_flush(p);
	if (q->begun - q->found > STEP && find_stack(p))
		return -1;
	return q->begun - q->written == PENDING ? write_row(p) : 0;
}
