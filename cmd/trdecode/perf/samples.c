/*
 * samples.c - write the rows of samples
 */
#include "cmd/trdecode/perf/perf.h"

#include "cmd/trdecode/input/merge.h"
#include "cmd/trdecode/perf/span.h"

enum { FIXED_MOST = 8 * (PERF_MEMBERS + 16 + 2 * 64) };

/* The parts of a sample, as its attribute has them. */
struct perf_sample {
	struct perf_origin origin;
	uint64_t ip, addr, period;
	const uint8_t *read, *chain, *raw, *branches;
	uint64_t nchain, nbranches;
	const uint8_t *user_chain; /* the deferred part of the chain; NULL: there is none */
	uint64_t nuser_chain;
	bool is_deferred; /* the chain says that there should be one */
	uint32_t raw_size;
	const uint8_t *user_regs, *intr_regs; /* NULL: none were recorded */
	uint64_t user_abi;
	const uint8_t *stack;
	uint64_t stack_size;
	uint64_t weight, data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
};

/* Read the numbers up to the period. */
static void parse_head(struct span *s, const struct perf_attr *a, struct perf_sample *out)
{
	uint64_t has = a->sample_type;
	struct perf_origin *o = &out->origin;

	o->has_id = has & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID);
	o->has_tid = has & PERF_SAMPLE_TID;
	o->has_time = has & PERF_SAMPLE_TIME;
	o->has_cpu = has & PERF_SAMPLE_CPU;
	if (has & PERF_SAMPLE_IDENTIFIER)
		o->id = span_number(s, 8);
	if (has & PERF_SAMPLE_IP)
		out->ip = span_number(s, 8);
	if (has & PERF_SAMPLE_TID) {
		o->pid = (int32_t)span_number(s, 4);
		o->tid = (int32_t)span_number(s, 4);
	}
	if (has & PERF_SAMPLE_TIME)
		o->time = span_number(s, 8);
	if (has & PERF_SAMPLE_ADDR)
		out->addr = span_number(s, 8);
	if (has & PERF_SAMPLE_ID)
		o->id = span_number(s, 8);
	if (has & PERF_SAMPLE_STREAM_ID)
		span_number(s, 8);
	if (has & PERF_SAMPLE_CPU) {
		o->cpu = (int32_t)span_number(s, 4);
		span_number(s, 4);
	}
	if (has & PERF_SAMPLE_PERIOD)
		out->period = span_number(s, 8);
}

/* Return the bytes of one value that a sample has read. */
static unsigned value_size(const struct perf_attr *a)
{
	return 8 + (a->read_format & PERF_READ_ID ? 8 : 0) +
	       (a->read_format & PERF_READ_LOST ? 8 : 0);
}

static unsigned read_times(const struct perf_attr *a)
{
	return (a->read_format & PERF_READ_ENABLED ? 8 : 0) +
	       (a->read_format & PERF_READ_RUNNING ? 8 : 0);
}

static void skip_read(struct span *s, const struct perf_attr *a)
{
	uint64_t n = 1;

	if (a->read_format & PERF_READ_GROUP)
		n = span_number(s, 8);
	span_take(s, read_times(a));
	if (n > PERF_RECORD_MOST)
		s->cut = true;
	else
		span_take(s, n * value_size(a));
}

/* Take an array of n elements. */
static const uint8_t *take_array(struct span *s, uint64_t n, unsigned element)
{
	if (n > PERF_RECORD_MOST) {
		s->cut = true;
		return NULL;
	}
	return span_take(s, n * element);
}

static const uint8_t *take_registers(struct span *s, uint64_t mask, uint64_t *abi)
{
	*abi = span_number(s, 8);
	return *abi ? span_take(s, 8 * (uint64_t)__builtin_popcountll(mask)) : NULL;
}

/* Read the parts whose sizes vary, up to the stack of the thread. */
static void parse_parts(struct span *s, const struct perf_attr *a, struct perf_sample *out)
{
	uint64_t has = a->sample_type, used;

	if (has & PERF_SAMPLE_READ) {
		out->read = s->at;
		skip_read(s, a);
	}
	if (has & PERF_SAMPLE_CALLCHAIN) {
		out->nchain = span_number(s, 8);
		out->chain = take_array(s, out->nchain, 8);
	}
	if (has & PERF_SAMPLE_RAW) {
		out->raw_size = (uint32_t)span_number(s, 4);
		out->raw = span_take(s, out->raw_size);
	}
	if (has & PERF_SAMPLE_BRANCH_STACK) {
		out->nbranches = span_number(s, 8);
		if (a->branch_type & PERF_BRANCH_HW_INDEX)
			span_number(s, 8);
		out->branches = take_array(s, out->nbranches, 24);
		if (a->branch_type & PERF_BRANCH_COUNTERS)
			take_array(s, out->nbranches, 8);
	}
	if (has & PERF_SAMPLE_REGS_USER)
		out->user_regs = take_registers(s, a->user_regs, &out->user_abi);
	if (has & PERF_SAMPLE_STACK_USER) {
		out->stack_size = span_number(s, 8);
		if (out->stack_size) {
			out->stack = take_array(s, out->stack_size, 1);
			/* how many of the bytes were in use */
			used = span_number(s, 8);
			if (used < out->stack_size)
				out->stack_size = used;
		}
	}
}

static void parse_end(struct span *s, const struct perf_attr *a, struct perf_sample *out)
{
	uint64_t has = a->sample_type, abi;

	if (has & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		out->weight = span_number(s, 8);
	if (has & PERF_SAMPLE_DATA_SRC)
		out->data_src = span_number(s, 8);
	if (has & PERF_SAMPLE_TRANSACTION)
		out->transaction = span_number(s, 8);
	if (has & PERF_SAMPLE_REGS_INTR)
		out->intr_regs = take_registers(s, a->intr_regs, &abi);
	if (has & PERF_SAMPLE_PHYS_ADDR)
		out->phys_addr = span_number(s, 8);
	if (has & PERF_SAMPLE_CGROUP)
		out->cgroup = span_number(s, 8);
	if (has & PERF_SAMPLE_DATA_PAGE_SIZE)
		out->data_page_size = span_number(s, 8);
	if (has & PERF_SAMPLE_CODE_PAGE_SIZE)
		out->code_page_size = span_number(s, 8);
}

static struct span span_of(const struct perf *p, const struct perf_record *r)
{
	return (struct span){r->data + PERF_RECORD_HEAD, r->data + r->size, p->h.big_endian, false};
}

static struct perf_attr *attr_of(struct perf *p, const struct perf_record *r)
{
	size_t at = PERF_RECORD_HEAD + 8 * (size_t)(p->id_at < 0 ? 0 : p->id_at);
	bool has_id = p->id_at >= 0 && at + 8 <= r->size;

	return perf_attr_of(p, has_id ? perf_u64(p, r->data + at) : 0, has_id);
}

bool perf_sample_origin(struct perf *p, const struct perf_record *r, struct perf_origin *o)
{
	const struct perf_attr *a = attr_of(p, r);
	struct span s = span_of(p, r);
	struct perf_sample sample = {.ip = 0};

	if (a)
		parse_head(&s, a, &sample);
	*o = sample.origin;
	return a && !s.cut;
}

/* Cut the mark of a deferred part, and the cookie after it, off a call chain. Returns whether it
 * has them. */
static bool cut_mark(const struct perf *p, struct perf_sample *s, uint64_t *cookie)
{
	const uint8_t *mark = s->chain && s->nchain >= 2 ? s->chain + 8 * (s->nchain - 2) : NULL;

	if (!mark || perf_u64(p, mark) != PERF_CONTEXT_USER_DEFERRED)
		return false;
	*cookie = perf_u64(p, mark + 8);
	s->nchain -= 2;
	return true;
}

bool perf_sample_is_deferred(struct perf *p, const struct perf_record *r, struct perf_deferral *d)
{
	const struct perf_attr *a = attr_of(p, r);
	struct span s = span_of(p, r);
	struct perf_sample sample = {.ip = 0};

	if (!a || !(a->sample_type & PERF_SAMPLE_CALLCHAIN))
		return false;
	parse_head(&s, a, &sample);
	parse_parts(&s, a, &sample);
	d->tid = sample.origin.has_tid ? sample.origin.tid : -1;
	return !s.cut && cut_mark(p, &sample, &d->cookie);
}

/* --- rows --- */

/* Find where the value is that a counter had when it was last read. An inherited counter counts in
 * each thread by itself. NULL: out of memory. */
static uint64_t *last_value(struct perf *p, const struct perf_attr *a, struct perf_id *known,
			    int32_t tid)
{
	struct perf_thread_counters *c = &p->thread_counters;
	uint64_t key[2] = {known->id, (uint32_t)tid}, *values;
	uint32_t *number;

	if (!perf_flag(a, PERF_FLAG_INHERIT) || c->count == PERF_THREAD_VALUES)
		return &known->last;
	number = id_cache_number(&c->numbers, key, sizeof key);
	if (!number)
		return NULL;
	if (!*number) {
		values = array_reach(c->values, &c->size, c->count, sizeof *values);
		if (!values)
			return NULL;
		c->values = values;
		*number = ++c->count;
	}
	return &c->values[*number - 1];
}

/* Fill the period and the fields of the other counters from the values that the sample has read: of
 * a group {number, times, {value, id, lost} of each}, else {value, times, id, lost}. Returns -1
 * when out of memory. */
static int fill_read(struct perf *p, const struct perf_attr *a, const struct perf_sample *s,
		     uint8_t *fixed)
{
	bool group = a->read_format & PERF_READ_GROUP;
	uint64_t n = group ? perf_u64(p, s->read) : 1;
	const uint8_t *d = s->read + (group ? 8 + read_times(a) : 0);
	unsigned size = value_size(a), id_at = 8 + (group ? 0 : read_times(a));

	put_u64(fixed, s->period);
	for (uint32_t i = 0; i < a->nmembers; i++)
		put_u64(fixed + a->members[i].offset, 0);
	for (uint64_t i = 0; i < n; i++, d += size) {
		uint64_t now = perf_u64(p, d), value, *last;
		uint64_t id = a->read_format & PERF_READ_ID ? perf_u64(p, d + id_at) : 0;
		struct perf_id *known = perf_id_find(p, id);

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
static int fill_fixed(struct perf *p, const struct perf_attr *a, const struct perf_sample *s,
		      uint8_t *fixed)
{
	uint64_t has = a->sample_type;
	uint8_t *to = fixed;

	if (has & PERF_SAMPLE_READ) {
		if (fill_read(p, a, s, fixed))
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

static uint32_t stack_of(struct perf *p, struct perf_thread *t, const struct perf_attr *a,
			 const struct perf_sample *s, unsigned mode, bool *bad)
{
	uint32_t stack = 0;

	if (p->unwinder && s->user_regs && s->stack_size)
		stack = perf_user_stack(p, t,
					&(struct perf_user_state){.registers = s->user_regs,
								  .mask = a->user_regs,
								  .abi = s->user_abi,
								  .stack = s->stack,
								  .size = s->stack_size,
								  .big_endian = p->h.big_endian},
					bad);
	if (s->user_chain && !*bad)
		stack = perf_chain_stack(
			p, t,
			&(struct perf_chain){s->user_chain, s->nuser_chain, PERF_MODE_USER, 0},
			bad);
	if (s->chain && !*bad)
		stack = perf_chain_stack(
			p, t, &(struct perf_chain){s->chain, s->nchain, mode, stack}, bad);
	if (!stack && !*bad && a->sample_type & PERF_SAMPLE_IP &&
	    (!s->chain || s->is_deferred || a->sample_type & PERF_SAMPLE_STACK_USER))
		stack = perf_frame_stack(p, t, s->ip, mode, 0, bad);
	return stack;
}

static int sample_row(struct perf *p, struct perf_attr *a, const struct perf_sample *s,
		      const struct perf_record *r)
{
	struct perf_thread *t = perf_thread_of(&p->threads, s->origin.has_tid ? s->origin.pid : -1,
					       s->origin.has_tid ? s->origin.tid : -1);
	uint8_t fixed[FIXED_MOST];
	struct new_row row = {.time = merge_shifted(r->time, p->input->shift),
			      .type = a->type,
			      .fixed = fixed,
			      .fixed_size = a->fixed_size,
			      .has_tail = a->has_tail};
	bool bad = false;

	if (!t)
		return -1;
	row.lane = perf_lane(p, t, &s->origin);
	row.location = stack_of(p, t, a, s, r->misc & PERF_MISC_MODE, &bad);
	if (!row.lane || bad || fill_fixed(p, a, s, fixed))
		return -1;
	if (s->raw) {
		row.tail = s->raw;
		row.tail_size = s->raw_size;
	} else if (s->branches) {
		row.tail = s->branches;
		row.tail_size = (uint32_t)s->nbranches * 24;
	}
	return writer_sample(p->w, row);
}

int perf_sample(struct perf *p, const struct perf_record *r)
{
	struct perf_attr *a = attr_of(p, r);
	struct span s = span_of(p, r);
	struct perf_sample sample = {.ip = 0};
	uint64_t cookie;

	if (!a) {
		p->counts.unknown_ids++;
		return 0;
	}
	parse_head(&s, a, &sample);
	parse_parts(&s, a, &sample);
	parse_end(&s, a, &sample);
	if (s.cut)
		return perf_damage_gap(p, r, "a sample that is shorter than its parts");
	if (!a->type && perf_declare_attr(p, a))
		return -1;
	sample.is_deferred = p->deferred.used && cut_mark(p, &sample, &cookie);
	sample.user_chain = r->user_chain;
	sample.nuser_chain = r->nuser_chain;
	return sample_row(p, a, &sample, r);
}
