/*
 * samples.c - read the parts of samples
 */
#include "cmd/trdecode/perf/sample.h"
#include "cmd/trdecode/perf/span.h"

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

static void skip_read(struct span *s, const struct perf_attr *a)
{
	uint64_t n = 1;

	if (a->read_format & PERF_READ_GROUP)
		n = span_number(s, 8);
	span_take(s, perf_read_times(a));
	if (n > PERF_RECORD_MOST)
		s->cut = true;
	else
		span_take(s, n * perf_value_size(a));
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
		out->branches = take_array(s, out->nbranches, PERF_BRANCH_SIZE);
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

bool perf_sample_time(struct perf *p, const struct perf_record *r, uint64_t *time, bool *has_time)
{
	const uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		       head = before | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	const struct perf_attr *a = attr_of(p, r);
	uint64_t has = a ? a->sample_type : 0;

	if (!a || r->size < PERF_RECORD_HEAD + 8 * (unsigned)__builtin_popcountll(has & head))
		return false;
	*has_time = has & PERF_SAMPLE_TIME;
	if (*has_time)
		*time = perf_u64(p, r->data + PERF_RECORD_HEAD +
					    8 * __builtin_popcountll(has & before));
	return true;
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

bool perf_sample_parse(struct perf *p, const struct perf_record *r, struct perf_sample *s)
{
	struct span left = span_of(p, r);
	uint64_t cookie;

	s->record = *r;
	s->attr = attr_of(p, r);
	s->origin = (struct perf_origin){0};
	s->chain = s->raw = s->branches = s->user_regs = NULL;
	s->period = s->stack_size = 0;
	if (!s->attr)
		return true;
	parse_head(&left, s->attr, s);
	parse_parts(&left, s->attr, s);
	parse_end(&left, s->attr, s);
	if (p->deferred.used)
		cut_mark(p, s, &cookie);
	return !left.cut;
}
