/*
 * perf.c - reads perf.data: samples, and the records that say what they are of
 *
 *     MMAP2  pid 7  400000-401000 /usr/bin/p
 *     SAMPLE pid 7 tid 7 time 1000 period 250 ip 400123 callchain ...
 *
 * is an event of the kind sample in thread 7 at 1,000 ns, with the weight 250 and the stack of
 * perf_unwind.c. Records are ordered by time (perf_records.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/trdecode/atrace.h"
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/perf_records.h"
#include "cmd/trdecode/perf_unwind.h"
#include "common/formats/perf.h"
#include "common/formats/tracecmd.h"
#include "common/ftrace/event_format.h"
#include "common/ftrace/ring.h"
#include "common/stream/writer.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/heap.h"
#include "common/util/intern.h"
#include "common/util/output.h"
#include "common/util/text.h"
#include "common/util/u128.h"

/*
 * Names of events that the file does not name, as perf prints them.
 *
 * Facts: tools/perf/util/evsel.c of Linux.
 */

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

static const char *const cache_names[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
					  "iTLB",      "branch",    "node"};
static const char *const cache_actions[] = {"load", "store", "prefetch"};

/* Append "-loads" or "-load-misses". */
static void name_cache(char *name, size_t n, uint64_t config)
{
	uint64_t cache = config & 0xff, action = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= COUNT(cache_names) || action >= COUNT(cache_actions) || result > 1)
		snprintf(name, n, "cache 0x%" PRIx64, config);
	else
		snprintf(name, n, "%s-%s%s", cache_names[cache], cache_actions[action],
			 result	       ? "-misses"
			 : action == 2 ? "es"
				       : "s");
}

static void name_base(const struct perf_attr *a, char *name, size_t n)
{
	uint64_t number = a->config & 0xffffffff;

	if (a->kind == PERF_TYPE_HARDWARE && number < COUNT(hardware_names))
		snprintf(name, n, "%s", hardware_names[number]);
	else if (a->kind == PERF_TYPE_SOFTWARE && a->config < COUNT(software_names))
		snprintf(name, n, "%s", software_names[a->config]);
	else if (a->kind == PERF_TYPE_CACHE)
		name_cache(name, n, a->config);
	else if (a->kind == PERF_TYPE_TRACEPOINT)
		snprintf(name, n, "tracepoint:%" PRIu64, a->config);
	else if (a->kind == PERF_TYPE_BREAKPOINT)
		snprintf(name, n, "breakpoint");
	else if (a->kind == PERF_TYPE_RAW)
		snprintf(name, n, "raw 0x%" PRIx64, a->config);
	else
		snprintf(name, n, "pmu-%u/config=0x%" PRIx64 "/", a->kind, a->config);
}

/* Append what the event does not count: ":u", ":ppp", ":H". */
static void name_modifiers(const struct perf_attr *a, char *name, size_t n)
{
	bool kernel = perf_flag(a, PERF_FLAG_EXCLUDE_KERNEL),
	     user = perf_flag(a, PERF_FLAG_EXCLUDE_USER), hv = perf_flag(a, PERF_FLAG_EXCLUDE_HV),
	     host = perf_flag(a, PERF_FLAG_EXCLUDE_HOST),
	     guest = perf_flag(a, PERF_FLAG_EXCLUDE_GUEST);
	unsigned precise = a->flags >> PERF_FLAG_PRECISE & 3;
	bool some = kernel || user || hv, usual = some || precise;
	char text[16] = "";

	if (some)
		snprintf(text, sizeof text, "%s%s%s", kernel ? "" : "k", user ? "" : "u",
			 hv ? "" : "h");
	strncat(text, &"ppp"[3 - precise], 4);
	if (host || guest == usual) {
		strncat(text, host ? "" : "H", 2);
		strncat(text, guest ? "" : "G", 2);
	}
	if (*text)
		snprintf(name + strlen(name), n - strlen(name), ":%s", text);
}

/* Name the events that have no name. */
static int perf_attrs_name(struct perf *p)
{
	char name[128];

	for (size_t i = 0; i < p->nattrs; i++) {
		struct perf_attr *a = &p->attrs[i];

		if (a->name || a->tracepoint)
			continue;
		name_base(a, name, sizeof name);
		if (a->kind == PERF_TYPE_HARDWARE || a->kind == PERF_TYPE_SOFTWARE ||
		    a->kind == PERF_TYPE_RAW)
			name_modifiers(a, name, sizeof name);
		a->name = strdup(name);
		if (!a->name)
			return -1;
	}
	return 0;
}

/* A type being declared. */
struct type_fields {
	struct writer *w;
	struct field_entry fields[PERF_MEMBERS + 32 + FTRACE_FIELDS];
	struct type_entry type;
};

static struct field_entry *perf_add_field(struct type_fields *f, const char *name,
					  enum field_kind kind, uint32_t size, uint32_t count)
{
	struct field_entry *field = &f->fields[f->type.nfields++];

	*field = (struct field_entry){.name = writer_text(f->w, name),
				      .kind = (uint8_t)kind,
				      .offset = f->type.fixed_size,
				      .size = size,
				      .count = count};
	f->type.fixed_size += size * (count ? count : 1);
	return field;
}

static bool leads_group(const struct perf_attr *a)
{
	return a->sample_type & PERF_SAMPLE_READ && a->read_format & PERF_READ_GROUP && a->period;
}

/* Guess the counters that the event's samples read: the events after it that take no samples. */
static int guess_members(struct perf *p, struct perf_attr *a)
{
	size_t first = (size_t)(a - p->attrs) + 1, i = first;

	while (i < p->nattrs && i - first < PERF_MEMBERS && !p->attrs[i].period &&
	       p->attrs[i].read_format & PERF_READ_GROUP)
		i++;
	free(a->members);
	a->members = calloc(i - first + 1, sizeof *a->members);
	if (!a->members)
		return -1;
	a->nmembers = (uint32_t)(i - first);
	for (uint32_t k = 0; k < a->nmembers; k++)
		a->members[k] = (uint32_t)first + k;
	return 0;
}

static int add_members(struct perf *p, struct perf_attr *a, struct type_fields *f)
{
	if (!a->knows_members && leads_group(a) && guess_members(p, a))
		return -1;
	for (uint32_t k = 0; k < a->nmembers; k++) {
		const char *name = p->attrs[a->members[k]].name;

		perf_add_field(f, name ? name : "counter", FIELD_UINT, 8, 0)->role = ROLE_WEIGHT;
	}
	return 0;
}

/* The parts of a sample that are a field each, or of PERF_SAMPLE_WEIGHT_STRUCT three. */
static const struct {
	uint64_t part;
	const char *name;
	uint8_t kind, size, role;
} fixed_parts[] = {
	{PERF_SAMPLE_ADDR, "addr", FIELD_HEX, 8, ROLE_ADDRESS},
	{PERF_SAMPLE_WEIGHT, "weight", FIELD_UINT, 8, ROLE_NONE},
	{PERF_SAMPLE_WEIGHT_STRUCT, "weight", FIELD_UINT, 4, ROLE_NONE},
	{PERF_SAMPLE_WEIGHT_STRUCT, "ins_lat", FIELD_UINT, 2, ROLE_NONE},
	{PERF_SAMPLE_WEIGHT_STRUCT, "retire_lat", FIELD_UINT, 2, ROLE_NONE},
	{PERF_SAMPLE_DATA_SRC, "data_src", FIELD_HEX, 8, ROLE_NONE},
	{PERF_SAMPLE_TRANSACTION, "transaction", FIELD_HEX, 8, ROLE_NONE},
	{PERF_SAMPLE_PHYS_ADDR, "phys_addr", FIELD_HEX, 8, ROLE_NONE},
	{PERF_SAMPLE_CGROUP, "cgroup", FIELD_UINT, 8, ROLE_NONE},
	{PERF_SAMPLE_DATA_PAGE_SIZE, "data_page_size", FIELD_UINT, 8, ROLE_SIZE},
	{PERF_SAMPLE_CODE_PAGE_SIZE, "code_page_size", FIELD_UINT, 8, ROLE_SIZE},
};

/* Add the fields in the order in which fill_fixed writes them. */
static int add_fixed(struct perf *p, struct perf_attr *a, struct type_fields *f)
{
	uint64_t has = a->sample_type;

	if (has & (PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ))
		perf_add_field(f, "period", FIELD_UINT, 8, 0)->role = ROLE_PERIOD;
	if (add_members(p, a, f))
		return -1;
	if (a->has_ip)
		perf_add_field(f, "ip", FIELD_HEX, 8, 0)->role = ROLE_ADDRESS;
	if (has & PERF_SAMPLE_WEIGHT)
		has &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
	for (size_t i = 0; i < COUNT(fixed_parts); i++)
		if (has & fixed_parts[i].part)
			perf_add_field(f, fixed_parts[i].name, fixed_parts[i].kind,
				       fixed_parts[i].size, 0)
				->role = fixed_parts[i].role;
	if (has & PERF_SAMPLE_REGS_USER && !(has & PERF_SAMPLE_STACK_USER) && a->user_regs)
		perf_add_field(f, "user_regs", FIELD_HEX, 8,
			       (uint32_t)__builtin_popcountll(a->user_regs));
	if (has & PERF_SAMPLE_REGS_INTR && a->intr_regs)
		perf_add_field(f, "intr_regs", FIELD_HEX, 8,
			       (uint32_t)__builtin_popcountll(a->intr_regs));
	return 0;
}

/* Add the fields of the tail, which fill_tail makes. */
static void add_tail(struct perf *p, const struct perf_attr *a, struct type_fields *f)
{
	bool raw = a->sample_type & PERF_SAMPLE_RAW,
	     branches = a->sample_type & PERF_SAMPLE_BRANCH_STACK;

	if (raw && a->tracepoint) {
		f->type.flags |= TYPE_TAIL;
		ftrace_fields(p->events, a->tracepoint, p->w, f->fields, &f->type);
		return;
	}
	if (raw || branches)
		f->type.flags |= TYPE_TAIL;
	if (raw)
		f->fields[f->type.nfields++] =
			(struct field_entry){.name = writer_text(p->w, "raw"),
					     .kind = FIELD_BYTES,
					     .where = branches ? WHERE_DATA_LOC : WHERE_REST,
					     .size = 1};
	if (branches)
		f->fields[f->type.nfields++] =
			(struct field_entry){.name = writer_text(p->w, "branch_stack"),
					     .kind = FIELD_HEX,
					     .where = raw ? WHERE_DATA_LOC : WHERE_REST,
					     .offset = raw ? 4 : 0,
					     .size = 8};
}

static const char *perf_group_of(const struct perf_attr *a)
{
	static const char *const groups[] = {"hardware", "software", "tracepoint",
					     "cache",	 "raw",	     "breakpoint"};

	return a->kind < sizeof groups / sizeof *groups ? groups[a->kind] : "pmu";
}

/* Set name, group and declaration: a tracepoint has those of its format. */
static void set_names(struct perf *p, const struct perf_attr *a, struct type_entry *type)
{
	const char *colon = a->name ? strchr(a->name, ':') : NULL;
	const struct ftrace_event *v = a->tracepoint;
	char name[PERF_HYBRID_NAME];
	size_t pmu = a->name ? perf_hybrid_event(a->name, strlen(a->name), name) : 0;

	if (v) {
		type->name = writer_string(p->w, v->format.name, v->format.name_size);
		type->group = writer_string(p->w, v->system, v->system_size);
		type->declaration = writer_string(p->w, v->text, v->text_size);
	} else if (a->kind == PERF_TYPE_TRACEPOINT && colon) {
		type->name = writer_text(p->w, colon + 1);
		type->group = writer_string(p->w, a->name, (size_t)(colon - a->name));
	} else if (pmu) {
		type->name = writer_text(p->w, name);
		type->group = writer_string(p->w, a->name, pmu);
	} else {
		type->name = writer_text(p->w, a->name);
		type->group = writer_text(p->w, perf_group_of(a));
	}
}

/* Find the format of a tracepoint. */
static struct ftrace_event *tracepoint_of(const struct perf *p, const struct perf_attr *a)
{
	if (a->kind != PERF_TYPE_TRACEPOINT || a->config > UINT16_MAX || !p->events)
		return NULL;
	return ftrace_events_find(p->events, (uint16_t)a->config);
}

/* Test whether the weight of the event's samples is a time. Without a period of its own, and with a
 * frequency in place of a common one, a sample counts 1. */
static bool weighs_time(const struct perf_attr *a)
{
	return a->kind == PERF_TYPE_SOFTWARE &&
	       (a->config == PERF_SOFTWARE_CPU_CLOCK || a->config == PERF_SOFTWARE_TASK_CLOCK) &&
	       (!perf_flag(a, PERF_FLAG_FREQ) ||
		a->sample_type & (PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ));
}

/* Declare the types of the events. Until a sample shows the members of a group,
 * they are the events after the leader that take no samples. */
static int perf_declare_attr(struct perf *p, struct perf_attr *a)
{
	struct type_fields f = {.w = p->w};
	int bad;

	a->tracepoint = tracepoint_of(p, a);
	bad = perf_attrs_name(p);
	/* samples with a precise address have an address that is not the stack's */
	a->has_ip = a->flags >> PERF_FLAG_PRECISE & 3 && a->kind != PERF_TYPE_SOFTWARE &&
		    a->sample_type & PERF_SAMPLE_CALLCHAIN && a->sample_type & PERF_SAMPLE_IP;
	f.type = (struct type_entry){.source = p->source,
				     .kind = KIND_SAMPLE,
				     .word_size = (uint8_t)p->h.long_size,
				     .flags = (weighs_time(a) ? TYPE_WEIGHT_TIME : 0) |
					      (p->h.big_endian ? TYPE_BIG_ENDIAN : 0),
				     .native = (uint32_t)(a - p->attrs),
				     .weight = perf_flag(a, PERF_FLAG_FREQ) ? 0 : a->period,
				     .fields = f.fields};
	set_names(p, a, &f.type);
	bad = bad || add_fixed(p, a, &f);
	add_tail(p, a, &f);
	a->has_tail = f.type.flags & TYPE_TAIL;
	a->fixed_size = f.type.fixed_size;
	a->type = bad ? 0 : writer_type(p->w, &f.type);
	return a->type && !row_filter_announce(p->input->decoding->row_filter, a->type, 0) ? 0 : -1;
}

/* --- read the parts of samples --- */

/* A sample as its attribute has it. Pointers are into its record. */
struct perf_sample {
	struct perf_record record;
	struct perf_attr *attr; /* NULL: of no declared event */
	struct perf_origin origin;
	uint64_t ip, addr, period;
	const uint8_t *chain, *raw, *branches, *user_regs; /* NULL: there are none */
	const uint8_t *read, *intr_regs;
	uint64_t nchain, nbranches;
	uint32_t raw_size;
	uint64_t user_abi;
	const uint8_t *stack;
	uint64_t stack_size; /* 0: there is none */
	uint64_t weight, data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
};

/* Read the numbers up to the period. */
static void parse_head(struct byte_span *s, const struct perf_attr *a, struct perf_sample *out)
{
	uint64_t has = a->sample_type;
	struct perf_origin *o = &out->origin;

	o->has_tid = has & PERF_SAMPLE_TID;
	o->has_time = has & PERF_SAMPLE_TIME;
	o->has_cpu = has & PERF_SAMPLE_CPU;
	/* samples_attr_of has read the id */
	if (has & PERF_SAMPLE_IDENTIFIER)
		unwind_span_number(s, 8);
	if (has & PERF_SAMPLE_IP)
		out->ip = unwind_span_number(s, 8);
	if (has & PERF_SAMPLE_TID) {
		o->pid = (int32_t)unwind_span_number(s, 4);
		o->tid = (int32_t)unwind_span_number(s, 4);
	}
	if (has & PERF_SAMPLE_TIME)
		o->time = unwind_span_number(s, 8);
	if (has & PERF_SAMPLE_ADDR)
		out->addr = unwind_span_number(s, 8);
	if (has & PERF_SAMPLE_ID)
		unwind_span_number(s, 8);
	if (has & PERF_SAMPLE_STREAM_ID)
		unwind_span_number(s, 8);
	if (has & PERF_SAMPLE_CPU) {
		o->cpu = (int32_t)unwind_span_number(s, 4);
		unwind_span_number(s, 4);
	}
	if (has & PERF_SAMPLE_PERIOD)
		out->period = unwind_span_number(s, 8);
}

static inline unsigned perf_read_times(const struct perf_attr *a)
{
	return (a->read_format & PERF_READ_ENABLED ? 8 : 0) +
	       (a->read_format & PERF_READ_RUNNING ? 8 : 0);
}

/* Get the bytes of one value that a sample has read. */
static inline unsigned perf_value_size(const struct perf_attr *a)
{
	return 8 + (a->read_format & PERF_READ_ID ? 8 : 0) +
	       (a->read_format & PERF_READ_LOST ? 8 : 0);
}

static void skip_read(struct byte_span *s, const struct perf_attr *a)
{
	uint64_t n = 1;

	if (a->read_format & PERF_READ_GROUP)
		n = unwind_span_number(s, 8);
	span_take(s, perf_read_times(a));
	if (n > PERF_RECORD_MOST)
		s->cut = true;
	else
		span_take(s, n * perf_value_size(a));
}

/* Take an array of n elements. */
static const uint8_t *take_array(struct byte_span *s, uint64_t n, unsigned element)
{
	if (n > PERF_RECORD_MOST) {
		s->cut = true;
		return NULL;
	}
	return span_take(s, n * element);
}

static const uint8_t *take_registers(struct byte_span *s, uint64_t mask, uint64_t *abi)
{
	*abi = unwind_span_number(s, 8);
	return *abi ? span_take(s, 8 * (uint64_t)__builtin_popcountll(mask)) : NULL;
}

/* Read the parts whose sizes vary, up to the stack of the thread. */
static void parse_parts(struct byte_span *s, const struct perf_attr *a, struct perf_sample *out)
{
	uint64_t has = a->sample_type, used;

	if (has & PERF_SAMPLE_READ) {
		out->read = s->at;
		skip_read(s, a);
	}
	if (has & PERF_SAMPLE_CALLCHAIN) {
		out->nchain = unwind_span_number(s, 8);
		out->chain = take_array(s, out->nchain, 8);
	}
	if (has & PERF_SAMPLE_RAW) {
		out->raw_size = (uint32_t)unwind_span_number(s, 4);
		out->raw = span_take(s, out->raw_size);
	}
	if (has & PERF_SAMPLE_BRANCH_STACK) {
		out->nbranches = unwind_span_number(s, 8);
		if (a->branch_type & PERF_BRANCH_HW_INDEX)
			unwind_span_number(s, 8);
		out->branches = take_array(s, out->nbranches, PERF_BRANCH_SIZE);
		if (a->branch_type & PERF_BRANCH_COUNTERS)
			take_array(s, out->nbranches, 8);
	}
	if (has & PERF_SAMPLE_REGS_USER)
		out->user_regs = take_registers(s, a->user_regs, &out->user_abi);
	if (has & PERF_SAMPLE_STACK_USER) {
		out->stack_size = unwind_span_number(s, 8);
		if (out->stack_size) {
			out->stack = take_array(s, out->stack_size, 1);
			/* how many of the bytes were in use */
			used = unwind_span_number(s, 8);
			if (used < out->stack_size)
				out->stack_size = used;
		}
	}
}

static void parse_end(struct byte_span *s, const struct perf_attr *a, struct perf_sample *out)
{
	uint64_t has = a->sample_type, abi;

	if (has & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		out->weight = unwind_span_number(s, 8);
	if (has & PERF_SAMPLE_DATA_SRC)
		out->data_src = unwind_span_number(s, 8);
	if (has & PERF_SAMPLE_TRANSACTION)
		out->transaction = unwind_span_number(s, 8);
	if (has & PERF_SAMPLE_REGS_INTR)
		out->intr_regs = take_registers(s, a->intr_regs, &abi);
	if (has & PERF_SAMPLE_PHYS_ADDR)
		out->phys_addr = unwind_span_number(s, 8);
	if (has & PERF_SAMPLE_CGROUP)
		out->cgroup = unwind_span_number(s, 8);
	if (has & PERF_SAMPLE_DATA_PAGE_SIZE)
		out->data_page_size = unwind_span_number(s, 8);
	if (has & PERF_SAMPLE_CODE_PAGE_SIZE)
		out->code_page_size = unwind_span_number(s, 8);
}

static struct byte_span perf_span_of(const struct perf *p, const struct perf_record *r)
{
	return (struct byte_span){r->data + PERF_RECORD_HEAD, r->data + r->size, p->h.big_endian,
				  false};
}

static struct perf_attr *samples_attr_of(struct perf *p, const struct perf_record *r)
{
	size_t at = PERF_RECORD_HEAD + 8 * (size_t)(p->id_at < 0 ? 0 : p->id_at);
	bool has_id = p->id_at >= 0 && at + 8 <= r->size;

	return perf_attr_of(p, has_id ? perf_u64(p, r->data + at) : 0, has_id);
}

/* Read the time of a sample. Returns whether the sample has all parts up to its period. */
static bool perf_sample_time(struct perf *p, const struct perf_record *r, uint64_t *time,
			     bool *has_time)
{
	const uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		       head = before | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	const struct perf_attr *a = samples_attr_of(p, r);
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

/* Test whether a part of a sample's call chain is in a later record. */
static bool perf_sample_is_deferred(struct perf *p, const struct perf_record *r, int32_t *tid,
				    uint64_t *cookie)
{
	const struct perf_attr *a = samples_attr_of(p, r);
	struct byte_span s = perf_span_of(p, r);
	struct perf_sample sample = {.ip = 0};

	if (!a || !(a->sample_type & PERF_SAMPLE_CALLCHAIN))
		return false;
	parse_head(&s, a, &sample);
	parse_parts(&s, a, &sample);
	*tid = sample.origin.has_tid ? sample.origin.tid : -1;
	return !s.cut && cut_mark(p, &sample, cookie);
}

/* Read the parts of a sample. Those that its attribute lacks are not set, but for the origin, the
 * period, and the pointers that are NULL. Returns false if the record is shorter than its parts. */
static bool perf_sample_parse(struct perf *p, const struct perf_record *r, struct perf_sample *s)
{
	struct byte_span left = perf_span_of(p, r);
	uint64_t cookie;

	s->record = *r;
	s->attr = samples_attr_of(p, r);
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

/*
 * Write the rows of samples.
 *
 * A sample takes three steps: its parts and the digest of its call chain, its stack, its row. The
 * steps of several samples overlap: what the next step reads of large tables is fetched meanwhile.
 * 'trdecode | trstat' of t/bench/perf.sh takes 1.3 times the CPU where each sample takes its steps
 * at once.
 */

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

/* --- the parts of rows --- */

/* Find where the value is that a counter had when it was last read. An inherited counter counts in
 * each thread by itself. NULL: out of memory. */
static uint64_t *last_value(struct perf *p, const struct perf_attr *a, struct perf_id *known,
			    int32_t tid)
{
	uint64_t key[2] = {known->id, (uint32_t)tid};
	uint32_t *number;

	if (!perf_flag(a, PERF_FLAG_INHERIT) || p->thread_counters.count == PERF_THREAD_VALUES)
		return &known->last;
	number = id_cache_number(&p->thread_counters.numbers, key, sizeof key);
	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_REACH(p->thread_counters.values, p->thread_counters.size,
				p->thread_counters.count))
			return NULL;
		*number = ++p->thread_counters.count;
	}
	return &p->thread_counters.values[*number - 1];
}

/* Get the number of values that a sample has read: of a group {number, times, {value, id, lost} of
 * each}, else {value, times, id, lost}. */
static uint64_t values_read(const struct perf *p, const struct perf_sample *s)
{
	return s->attr->read_format & PERF_READ_GROUP ? perf_u64(p, s->read) : 1;
}

/* Find the counter of value number i, and the value. NULL: the counter is not known. */
static struct perf_id *counter_of(const struct perf *p, const struct perf_sample *s, uint64_t i,
				  uint64_t *value)
{
	const struct perf_attr *a = s->attr;
	const uint8_t *at = s->read, *id = at + 8 + perf_read_times(a);

	if (a->read_format & PERF_READ_GROUP) {
		at += 8 + perf_read_times(a) + i * perf_value_size(a);
		id = at + 8;
	}
	*value = perf_u64(p, at);
	return a->read_format & PERF_READ_ID ? perf_id_find(p, perf_u64(p, id)) : NULL;
}

static bool has_member(const uint32_t *members, uint32_t n, uint32_t attr)
{
	for (uint32_t i = 0; i < n; i++)
		if (members[i] == attr)
			return true;
	return false;
}

/* Fill the period and the fields of the other counters. Returns -1 when out of memory. */
static int fill_read(struct perf *p, const struct perf_sample *s, uint8_t *fixed)
{
	const struct perf_attr *a = s->attr;
	uint64_t n = values_read(p, s);

	put_u64(fixed, s->period);
	memset(fixed + 8, 0, 8 * (size_t)a->nmembers);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t now, value, *last;
		struct perf_id *known = counter_of(p, s, i, &now);

		if (!known)
			continue;
		last = last_value(p, a, known, s->origin.tid);
		if (!last)
			return -1;
		value = now - *last;
		*last = now;
		if (&p->attrs[known->attr] == a)
			put_u64(fixed, value);
		for (uint32_t k = 0; k < a->nmembers; k++)
			if (a->members[k] == known->attr)
				put_u64(fixed + 8 + 8 * k, value);
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

static uint8_t *perf_put_number(uint8_t *to, uint64_t v)
{
	put_u64(to, v);
	return to + 8;
}

/* Fill the fixed part, in the order of add_fixed. Returns -1 when out of memory.
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
		to = perf_put_number(to, s->period);
	}
	if (a->has_ip)
		to = perf_put_number(to, s->ip);
	if (has & PERF_SAMPLE_ADDR)
		to = perf_put_number(to, s->addr);
	/* of three numbers the first is the lowest 4 bytes, in both byte orders */
	if (has & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		to = perf_put_number(to, s->weight);
	if (has & PERF_SAMPLE_DATA_SRC)
		to = perf_put_number(to, s->data_src);
	if (has & PERF_SAMPLE_TRANSACTION)
		to = perf_put_number(to, s->transaction);
	if (has & PERF_SAMPLE_PHYS_ADDR)
		to = perf_put_number(to, s->phys_addr);
	if (has & PERF_SAMPLE_CGROUP)
		to = perf_put_number(to, s->cgroup);
	if (has & PERF_SAMPLE_DATA_PAGE_SIZE)
		to = perf_put_number(to, s->data_page_size);
	if (has & PERF_SAMPLE_CODE_PAGE_SIZE)
		to = perf_put_number(to, s->code_page_size);
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
	struct buffer *b = &p->pending.tail;
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
static uint32_t perf_stack_of(struct perf *p, struct perf_process *process,
			      const struct perf_sample *s, bool *bad)
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
static int perf_find_stack(struct perf *p)
{
	struct pending_sample *s = &p->pending.samples[p->pending.found++ % PENDING];
	bool bad = false;

	s->stack = s->has_digest ? known_stacks_find(p->spaces.known, s->digest) : 0;
	if (!s->stack)
		s->stack = perf_stack_of(p, s->process, &s->sample, &bad);
	writer_fetch_stack(p->w, s->stack);
	return bad ? -1 : 0;
}

/* Declare the type of marks that the samples of a tracepoint are. 0: out of memory. */
static uint32_t perf_mark_type(struct perf *p, const struct perf_attr *a,
			       const struct atrace_row *mark)
{
	struct type_fields f = {.w = p->w};

	f.type = (struct type_entry){.source = p->source,
				     .word_size = (uint8_t)p->h.long_size,
				     .flags = p->h.big_endian ? TYPE_BIG_ENDIAN : 0,
				     .native = (uint32_t)(a - p->attrs),
				     .fields = f.fields};
	set_names(p, a, &f.type);
	atrace_set_type(mark, p->w, f.fields, &f.type);
	perf_add_field(&f, "stack", FIELD_UINT, 4, 0)->role = ROLE_STACK;
	add_tail(p, a, &f);
	return writer_type(p->w, &f.type);
}

/* Write the row of a sample whose text may be a mark. Returns 1; 0: the sample is no mark; -1: an
 * error. */
static int perf_write_mark(struct perf *p, const struct pending_sample *from)
{
	const struct perf_sample *s = &from->sample;
	const struct ftrace_event *v = s->attr->tracepoint;
	size_t index = (size_t)(v - p->events->event);
	struct atrace_record record = {.event = v,
				       .data = s->raw,
				       .size = s->raw_size,
				       .thread = (uint32_t)s->origin.tid,
				       .long_size = (uint8_t)p->h.long_size,
				       .big_endian = p->h.big_endian};
	uint8_t fixed[ATRACE_FIXED + 4];
	uint32_t *type, fixed_size;
	struct atrace_row mark;
	int got;

	if (!p->marks)
		p->marks = calloc(1, sizeof *p->marks);
	got = p->marks ? atrace_event_row(p->marks, p->w, index, &record, &mark) : -1;
	if (got <= 0)
		return got;
	type = atrace_type(p->marks, p->w, (size_t)(s->attr - p->attrs), &mark);
	if (!type || (from->stack && writer_use_stack(p->w, from->stack)))
		return -1;
	fixed_size = atrace_put_fixed(&mark, fixed);
	put_u32(fixed + fixed_size, from->stack);
	if (!*type) {
		*type = perf_mark_type(p, s->attr, &mark);
		if (!*type || row_filter_announce(p->input->decoding->row_filter, *type, 0))
			return -1;
	}
	return writer_row_data(p->w, (struct new_row){.time = merge_shifted(s->record.time,
									    p->input->shift),
						      .lane = from->lane,
						      .type = *type,
						      .location = mark.location,
						      .fixed = fixed,
						      .fixed_size = fixed_size + 4,
						      .tail = s->raw,
						      .tail_size = s->raw_size,
						      .has_tail = true})
		       ? -1
		       : 1;
}

/* Write the row of the next sample. */
static int perf_write_row(struct perf *p)
{
	const struct pending_sample *from = &p->pending.samples[p->pending.written++ % PENDING];
	const struct perf_sample *s = &from->sample;
	bool may_be_mark = s->raw && s->attr->tracepoint && s->attr->tracepoint->mark;
	int mark = may_be_mark ? perf_write_mark(p, from) : 0;
	uint8_t fixed[FIXED_MOST];
	struct new_row row = {.time = merge_shifted(s->record.time, p->input->shift),
			      .lane = from->lane,
			      .type = s->attr->type,
			      .location = from->stack,
			      .fixed = fixed,
			      .fixed_size = s->attr->fixed_size,
			      .has_tail = s->attr->has_tail};

	if (mark)
		return mark < 0 ? -1 : 0;
	if (fill_fixed(p, s, fixed) || fill_tail(p, s, &row))
		return -1;
	return writer_sample(p->w, row);
}

/* Write the rows of all samples so far, before other rows, and before what a sample depends on
 * changes. */
static int perf_samples_flush(struct perf *p)
{
	while (p->pending.found < p->pending.begun)
		if (perf_find_stack(p))
			return -1;
	while (p->pending.written < p->pending.begun)
		if (perf_write_row(p))
			return -1;
	return 0;
}

/* Name a thread of which no record has the name, as perf does. */
static uint32_t name_unnamed(struct perf *p, int32_t tid)
{
	char text[16];

	snprintf(text, sizeof text, ":%" PRId32, tid);
	return writer_text(p->w, tid ? text : "swapper");
}

/* Get the lane of an event of a thread. 0: out of memory. */
static uint32_t perf_lane(struct perf *p, struct perf_thread *t, const struct perf_origin *o)
{
	int32_t cpu = o->has_cpu ? o->cpu : -1;
	/* samples of an exiting thread have the tid -1; what has no tid at all is of no thread */
	bool unnamed = !t->comm && (t->tid != -1 || o->has_tid);
	uint32_t key[] = {(uint32_t)t->tid, (uint32_t)t->pid, unnamed ? UINT32_MAX : t->comm,
			  (uint32_t)cpu};
	uint32_t *lane;
	struct lane_entry entry = {.source = p->source,
				   .clock = p->clock,
				   .comm = t->comm,
				   .cpu = cpu,
				   .tid = t->tid,
				   .pid = t->pid};

	if (t->lane && t->lane_cpu == cpu)
		return t->lane;
	lane = id_cache_number(&p->threads.lanes, key, sizeof key);
	if (!lane)
		return 0;
	if (!*lane) {
		/* ids in the order of the rows */
		if (perf_samples_flush(p))
			return 0;
		entry.flags = (cpu >= 0 ? LANE_HAS_CPU : 0) | (t->tid != -1 ? LANE_HAS_TID : 0) |
			      (t->pid != -1 ? LANE_HAS_PID : 0);
		if (unnamed)
			entry.comm = name_unnamed(p, t->tid);
		*lane = writer_lane(p->w, &entry);
	}
	t->lane = *lane;
	t->lane_cpu = cpu;
	return *lane;
}

/* Get the time of a record in the stream, or of the row before it. */
static uint64_t gaps_time_of(const struct perf *p, const struct perf_record *r)
{
	return merge_shifted(r->time ? r->time : p->time, p->input->shift);
}

/* Get the lane of what no thread has done. 0: out of memory. */
static uint32_t recorder_lane(struct perf *p)
{
	struct perf_thread *t = perf_thread_of(p, -1, -1);

	return t ? perf_lane(p, t, &(struct perf_origin){.pid = -1}) : 0;
}

static int perf_damage_gap(struct perf *p, const struct perf_record *r, const char *what)
{
	uint32_t lane = recorder_lane(p);

	input_damage(p->input, p->file.name, r->offset, "%s", what);
	return lane ? writer_gap(p->w, gaps_time_of(p, r), lane,
				 &(struct gap){.reason = GAP_DAMAGE,
					       .unit = GAP_EVENTS,
					       .count = 1,
					       .offset = r->offset,
					       .file = p->file.name,
					       .message = what})
		    : -1;
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
	uint64_t count = values_read(p, s), value;
	uint32_t members[PERF_MEMBERS], n = 0, missing = 0;

	/* what was guessed is kept only if the first sample has all of it */
	if (a->knows_members)
		for (; n < a->nmembers; n++)
			members[n] = a->members[n];
	for (uint64_t i = 0; i < count && n < PERF_MEMBERS; i++) {
		const struct perf_id *known = counter_of(p, s, i, &value);
		uint32_t attr = known ? known->attr : 0;

		if (!known || &p->attrs[attr] == a || has_member(members, n, attr))
			continue;
		missing += !has_member(a->members, a->nmembers, attr);
		members[n++] = attr;
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
static int perf_begin_sample(struct perf *p, struct pending_sample *s)
{
	const struct perf_origin *o = &s->sample.origin;
	struct perf_thread *t =
		perf_thread_of(p, o->has_tid ? o->pid : -1, o->has_tid ? o->tid : -1);
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

/* Write the row of a sample, at once or in perf_samples_flush. Its record is valid until then. */
static int perf_sample(struct perf *p, const struct perf_record *r)
{
	struct pending_sample *s = &p->pending.samples[p->pending.begun % PENDING];
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
	if (perf_begin_sample(p, s))
		return -1;
	p->pending.begun++;
	/* the bytes of a deferred record are not kept, nor the mappings of a JIT compiler */
	if (p->deferred.used || s->process->dump)
		return perf_samples_flush(p);
	if (p->pending.begun - p->pending.found > STEP && perf_find_stack(p))
		return -1;
	return p->pending.begun - p->pending.written == PENDING ? perf_write_row(p) : 0;
}

/* --- what is missing: events that the kernel has lost, and damaged records --- */

/* Take a LOST_SAMPLES that perf record wrote at its end, without a time: all samples that an event
 * has lost, most of which LOST has counted. Returns whether it is one. */
static bool perf_lost_total(struct perf *p, const struct perf_record *r,
			    const struct perf_origin *o)
{
	bool counted = false;

	if (r->type != PERF_RECORD_LOST_SAMPLES || r->misc & PERF_MISC_LOST_BY_BPF || o->body < 8 ||
	    (o->has_time && o->time))
		return false;
	for (size_t i = 0; i < p->nattrs; i++)
		counted |= p->attrs[i].read_format & PERF_READ_LOST;
	if (counted)
		add_saturated(&p->counts.lost_samples, perf_u64(p, r->data + PERF_RECORD_HEAD));
	return counted;
}

/* Write the gap of the lost samples that LOST has not counted, after all rows. */
static int perf_lost_rest(struct perf *p)
{
	uint64_t all = p->counts.lost_samples, lost = p->counts.lost;
	uint32_t lane;

	p->counts.lost_samples = 0;
	if (all <= lost)
		return 0;
	lane = recorder_lane(p);
	return lane ? writer_gap(p->w, merge_shifted(p->time, p->input->shift), lane,
				 &(struct gap){.reason = GAP_LOST,
					       .unit = GAP_EVENTS,
					       .count = all - lost,
					       .offset = NO_OFFSET})
		    : -1;
}

/* Write the gap of a record for lost events, with a body of so many bytes. */
static int perf_lost(struct perf *p, const struct perf_record *r, uint32_t lane, size_t body)
{
	bool samples = r->type == PERF_RECORD_LOST_SAMPLES;
	size_t at = samples ? 0 : 8;
	struct gap g = {.reason =
				samples && r->misc & PERF_MISC_LOST_BY_BPF ? GAP_UNREAD : GAP_LOST,
			.unit = GAP_EVENTS,
			.offset = NO_OFFSET};

	if (body < at + 8)
		return 0;
	g.count = perf_u64(p, r->data + PERF_RECORD_HEAD + at);
	if (!samples)
		add_saturated(&p->counts.lost, g.count);
	return g.count ? writer_gap(p->w, gaps_time_of(p, r), lane, &g) : 0;
}

/*
 * Records that are no samples: they change threads and mappings, and become rows.
 *
 * What perf read from /proc when the recording began has the time 0, and becomes no row.
 */

enum {
	FIELDS = 8,
	AT_BIT_13 = 254, /* in place of an offset: a bit of misc */
	AT_BIT_14 = 255,
};

/* The rows of a type of record. */
struct side_type {
	uint32_t record;
	const char *name;
	uint8_t announced_by; /* enum perf_attr_flag; 0: none */
	uint8_t text_at;      /* of a text in the body; 0: none */
	const char *text;     /* name of its field */
	struct {
		const char *name;
		uint8_t at, size; /* of the number in the body */
		uint8_t kind, role;
	} fields[FIELDS]; /* up to one without a name */
};

/* The name that perf prints; what announces the record; the text of a TEXT_RECORD. */
#define RECORD(name, flag)	PERF_RECORD_##name, "PERF_RECORD_" #name, flag, 0, NULL
#define SWITCH(name, way, flag) PERF_RECORD_##name, "PERF_RECORD_SWITCH_" way, flag, 0, NULL
#define TEXT_RECORD(name, text)                                                                    \
	PERF_RECORD_##name, "PERF_RECORD_" #name, PERF_FLAG_##name, PERF_##name##_BODY, text
#define INT(name, at)	     name, at, 4, FIELD_INT, ROLE_NONE
#define UINT(name, at, size) name, at, size, FIELD_UINT, ROLE_NONE
#define HEX(name, at, size)  name, at, size, FIELD_HEX, ROLE_NONE
#define SIZE(name, at, size) name, at, size, FIELD_UINT, ROLE_SIZE

/* Of a record for a switch, the first is for SWITCH_OUT, the second for none. */
static const struct side_type side_types[] = {
	{TEXT_RECORD(MMAP, "filename"),
	 {{INT("pid", 0)},
	  {INT("tid", 4)},
	  {"addr", 8, 8, FIELD_HEX, ROLE_ADDRESS},
	  {SIZE("len", 16, 8)},
	  {HEX("pgoff", 24, 8)}}},
	{TEXT_RECORD(MMAP2, "filename"),
	 {{INT("pid", 0)},
	  {INT("tid", 4)},
	  {"addr", 8, 8, FIELD_HEX, ROLE_ADDRESS},
	  {SIZE("len", 16, 8)},
	  {HEX("pgoff", 24, 8)}}},
	{TEXT_RECORD(COMM, "comm"),
	 {{INT("pid", 0)}, {INT("tid", 4)}, {UINT("exec", AT_BIT_13, 4)}}},
	{RECORD(FORK, PERF_FLAG_TASK),
	 {{INT("pid", 0)}, {INT("ppid", 4)}, {INT("tid", 8)}, {INT("ptid", 12)}}},
	{RECORD(EXIT, PERF_FLAG_TASK),
	 {{INT("pid", 0)}, {INT("ppid", 4)}, {INT("tid", 8)}, {INT("ptid", 12)}}},
	{RECORD(THROTTLE, 0), {{UINT("id", 8, 8)}}},
	{RECORD(UNTHROTTLE, 0), {{UINT("id", 8, 8)}}},
	{SWITCH(SWITCH, "OUT", PERF_FLAG_SWITCH), {{UINT("preempt", AT_BIT_14, 4)}}},
	{SWITCH(SWITCH, "IN", PERF_FLAG_SWITCH), {{NULL, 0, 0, 0, 0}}},
	{SWITCH(SWITCH_CPU_WIDE, "OUT", 0),
	 {{UINT("preempt", AT_BIT_14, 4)}, {INT("next_pid", 0)}, {INT("next_tid", 4)}}},
	{SWITCH(SWITCH_CPU_WIDE, "IN", 0), {{INT("prev_pid", 0)}, {INT("prev_tid", 4)}}},
	{RECORD(NAMESPACES, PERF_FLAG_NAMESPACES),
	 {{UINT("net", 24, 8)},
	  {UINT("uts", 40, 8)},
	  {UINT("ipc", 56, 8)},
	  {UINT("pid_ns", 72, 8)},
	  {UINT("user", 88, 8)},
	  {UINT("mnt", 104, 8)},
	  {UINT("cgroup", 120, 8)}}},
	{TEXT_RECORD(KSYMBOL, "symbol"),
	 {{HEX("addr", 0, 8)},
	  {SIZE("len", 8, 4)},
	  {UINT("ksym_type", 12, 2)},
	  {HEX("flags", 14, 2)}}},
	{RECORD(BPF_EVENT, PERF_FLAG_BPF),
	 {{UINT("bpf_type", 0, 2)}, {HEX("flags", 2, 2)}, {UINT("prog_id", 4, 4)}}},
	{TEXT_RECORD(CGROUP, "path"), {{UINT("id", 0, 8)}}},
	{RECORD(TEXT_POKE, PERF_FLAG_TEXT_POKE),
	 {{HEX("addr", 0, 8)}, {SIZE("old_len", 8, 2)}, {SIZE("new_len", 10, 2)}}},
	{RECORD(READ, 0), {{INT("pid", 0)}, {INT("tid", 4)}, {UINT("value", 8, 8)}}},
	{RECORD(AUX_OUTPUT_HW_ID, 0), {{HEX("hw_id", 0, 8)}}},
	{RECORD(ITRACE_START, 0), {{INT("pid", 0)}, {INT("tid", 4)}}},
	{RECORD(AUX, 0),
	 {{HEX("aux_offset", 0, 8)}, {SIZE("aux_size", 8, 8)}, {HEX("flags", 16, 8)}}},
};

enum { SIDE_TYPES = sizeof side_types / sizeof *side_types };
_Static_assert((int)SIDE_TYPES <= (int)PERF_SIDE_TYPES, "ids of the types");

static int perf_declare_type(struct perf *p, size_t number)
{
	const struct side_type *s = &side_types[number];
	struct field_entry fields[FIELDS + 1];
	struct type_entry type = {.source = p->source,
				  .name = writer_text(p->w, s->name),
				  .group = writer_text(p->w, "perf"),
				  .kind = KIND_INSTANT,
				  .flags = s->text ? TYPE_TAIL : 0,
				  .native = s->record,
				  .fields = fields};

	for (; type.nfields < FIELDS && s->fields[type.nfields].name; type.nfields++) {
		fields[type.nfields] = (struct field_entry){
			.name = writer_text(p->w, s->fields[type.nfields].name),
			.kind = s->fields[type.nfields].kind,
			.role = s->fields[type.nfields].role,
			.offset = type.fixed_size,
			.size = s->fields[type.nfields].size};
		type.fixed_size += s->fields[type.nfields].size;
	}
	if (s->text)
		fields[type.nfields++] = (struct field_entry){.name = writer_text(p->w, s->text),
							      .kind = FIELD_STRING,
							      .role = ROLE_MESSAGE,
							      .where = WHERE_REST,
							      .size = 1};
	type.fixed_size = (uint32_t)align_up(type.fixed_size, 4);
	p->side_types[number] = writer_type(p->w, &type);
	return p->side_types[number] ? 0 : -1;
}

/* Declare the types of records that the attributes announce. */
static int perf_declare_records(struct perf *p)
{
	uint64_t flags = 0;

	for (size_t i = 0; i < p->nattrs; i++)
		flags |= p->attrs[i].flags;
	for (size_t i = 0; i < SIDE_TYPES; i++) {
		if (!side_types[i].announced_by || !(flags >> side_types[i].announced_by & 1))
			continue;
		if (perf_declare_type(p, i) ||
		    row_filter_announce(p->input->decoding->row_filter, p->side_types[i], 0))
			return -1;
	}
	return 0;
}

static unsigned word_size(const struct perf *p)
{
	if (p->h.long_size || !p->h.arch)
		return p->h.long_size;
	return strstr(p->h.arch, "64") || !strncmp(p->h.arch, "s390x", 5) ? 8 : 4;
}

static int perf_declare(struct perf *p)
{
	struct writer *w = p->w;
	struct input *in = p->input;

	p->h.long_size = word_size(p);
	p->source = writer_source(w, &(struct source_entry){writer_text(w, "perf"),
							    writer_text(w, in->name),
							    p->h.long_size, p->h.big_endian});
	p->clock = input_declare_clock(in, in->has_wall && !merge_wall(in));
	p->spaces.source = p->source;
	if (!p->source || !p->clock)
		return -1;
	for (size_t i = 0; i < p->nattrs; i++)
		if (perf_declare_attr(p, &p->attrs[i]))
			return -1;
	return perf_declare_records(p);
}

/* --- origin --- */

/* Get the bytes of the origin at the end of records of an event. */
static unsigned origin_size(const struct perf_attr *a)
{
	const uint64_t parts = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	return perf_flag(a, PERF_FLAG_SAMPLE_ID_ALL)
		       ? 8 * (unsigned)__builtin_popcountll(a->sample_type & parts)
		       : 0;
}

static const struct perf_attr *side_records_attr_of(struct perf *p, const struct perf_record *r)
{
	size_t from_end = p->id_from_end < 0 ? 0 : 8 * (size_t)p->id_from_end;
	bool has_id = p->id_from_end > 0 && r->size >= PERF_RECORD_HEAD + from_end;

	return perf_attr_of(p, has_id ? perf_u64(p, r->data + r->size - from_end) : 0, has_id);
}

/* Read the origin at the end of a record that is no sample. */
static void perf_record_origin(struct perf *p, const struct perf_record *r, struct perf_origin *o)
{
	const struct perf_attr *a = side_records_attr_of(p, r);
	unsigned size = a ? origin_size(a) : 0;
	const uint8_t *d = r->data + r->size - size;

	*o = (struct perf_origin){.pid = -1, .tid = -1, .body = r->size - PERF_RECORD_HEAD};
	if (!size || size > o->body)
		return;
	o->body -= size;
	o->has_tid = a->sample_type & PERF_SAMPLE_TID;
	o->has_time = a->sample_type & PERF_SAMPLE_TIME;
	o->has_cpu = a->sample_type & PERF_SAMPLE_CPU;
	if (o->has_tid) {
		o->pid = (int32_t)perf_u32(p, d);
		o->tid = (int32_t)perf_u32(p, d + 4);
		d += 8;
	}
	if (o->has_time) {
		o->time = perf_u64(p, d);
		d += 8;
	}
	if (a->sample_type & PERF_SAMPLE_ID)
		d += 8;
	if (a->sample_type & PERF_SAMPLE_STREAM_ID)
		d += 8;
	if (o->has_cpu)
		o->cpu = (int32_t)perf_u32(p, d);
}

/* --- rows --- */

static int side_row(struct perf *p, const struct perf_record *r, size_t number, uint32_t lane,
		    size_t body)
{
	const struct side_type *s = &side_types[number];
	uint8_t fixed[8 * FIELDS + 8] = {0};
	struct new_row row = {.time = merge_shifted(r->time, p->input->shift),
			      .lane = lane,
			      .fixed = fixed,
			      .has_tail = s->text};

	if (!p->side_types[number] && perf_declare_type(p, number))
		return -1;
	row.type = p->side_types[number];
	for (size_t i = 0; i < FIELDS && s->fields[i].name; i++) {
		uint8_t at = s->fields[i].at, size = s->fields[i].size;
		uint64_t value = 0;

		if (at == AT_BIT_13 || at == AT_BIT_14)
			value = r->misc >> (at == AT_BIT_13 ? 13 : 14) & 1;
		else if ((size_t)at + size <= body)
			value = get_uint(r->data + PERF_RECORD_HEAD + at, size, p->h.big_endian);
		put_u64(fixed + row.fixed_size, value);
		row.fixed_size += size;
	}
	row.fixed_size = (uint32_t)align_up(row.fixed_size, 4);
	if (s->text && body > s->text_at) {
		row.tail = r->data + PERF_RECORD_HEAD + s->text_at;
		row.tail_size = (uint32_t)strnlen(row.tail, body - s->text_at);
	}
	return writer_row_data(p->w, row);
}

static int perf_put_row(struct perf *p, const struct perf_record *r, uint32_t lane, size_t body)
{
	bool is_switch = r->type == PERF_RECORD_SWITCH || r->type == PERF_RECORD_SWITCH_CPU_WIDE;

	for (size_t i = 0; i < SIDE_TYPES; i++)
		if (side_types[i].record == r->type)
			return side_row(p, r, i + (is_switch && !(r->misc & PERF_MISC_SWITCH_OUT)),
					lane, body);
	return 0;
}

/* Take a record that is no sample: it changes threads and mappings, and becomes a row. */
static int perf_side_record(struct perf *p, const struct perf_record *r)
{
	struct perf_origin o;
	struct perf_thread *t;
	uint32_t lane;

	perf_record_origin(p, r, &o);
	if (perf_apply(p, r, &o, &t))
		return -1;
	if (perf_lost_total(p, r, &o))
		return 0;
	if (!r->time && !(r->type == PERF_RECORD_LOST || r->type == PERF_RECORD_LOST_SAMPLES))
		return 0;
	if (o.has_tid || !t)
		t = perf_thread_of(p, o.pid, o.tid);
	lane = t ? perf_lane(p, t, &o) : 0;
	if (!lane)
		return -1;
	if (r->type == PERF_RECORD_LOST || r->type == PERF_RECORD_LOST_SAMPLES)
		return perf_lost(p, r, lane, o.body);
	return perf_put_row(p, r, lane, o.body);
}

/* --- print the properties of a perf.data for --info --- */

static void event_fact(struct trace_info *f, const struct perf_attr *a)
{
	char text[256];

	snprintf(text, sizeof text, "%.160s, %s %" PRIu64 "%s%s", a->name,
		 perf_flag(a, PERF_FLAG_FREQ) ? "frequency" : "period", a->period,
		 a->sample_type & PERF_SAMPLE_CALLCHAIN ? ", call chains" : "",
		 a->sample_type & PERF_SAMPLE_STACK_USER ? ", stacks of the thread" : "");
	fact_item(f, "events", text);
}

static int perf_info(struct input *in, struct trace_info *f, struct error *e)
{
	const struct perf *p = in->state;

	(void)e;
	fact_text(f, "format", "perf");
	fact_number(f, "version", p->h.version);
	fact_text(f, "mode", p->h.pipe ? "pipe" : "file");
	fact_text(f, "byte order", p->h.big_endian ? "big-endian" : "little-endian");
	fact_text(f, "clock", in->clock_name);
	for (size_t i = 0; i < p->nattrs; i++)
		event_fact(f, &p->attrs[i]);
	fact_number(f, "build ids", p->h.build_ids.keys.count);
	fact_number(f, "event formats", p->events ? p->events->count : 0);
	for (size_t i = 0; i < p->h.nfacts; i++)
		if (p->h.facts[i].item)
			fact_item(f, p->h.facts[i].name, p->h.facts[i].text);
		else
			fact_text(f, p->h.facts[i].name, p->h.facts[i].text);
	return 0;
}

/* --- the decoder of perf.data: open it, put its records in order, write their rows --- */

static enum bid perf_probe(const struct input *in)
{
	const uint8_t *d = in->head;
	uint8_t peeked[PERF_PIPE_HEADER];
	size_t n = in->head_size;
	uint64_t magic;

	if (in->tree) {
		d = peeked;
		n = in->member ? 0
			       : tree_peek(in->tree, PERF_DIRECTORY_DATA, peeked, sizeof peeked);
	}
	if (n < PERF_PIPE_HEADER)
		return BID_NONE;
	magic = get_u64(d);
	return magic == get_u64(PERF_MAGIC_2) ||
			       __builtin_bswap64(magic) == get_u64(PERF_MAGIC_2) ||
			       magic == get_u64(PERF_MAGIC_1)
		       ? BID_HEADER
		       : BID_NONE;
}

static const char *perf_clock_name(int32_t id)
{
	static const char *const names[] = {"realtime",	     "monotonic", "", "",
					    "monotonic_raw", "",	  "", "boot"};
	size_t n = sizeof names / sizeof *names;

	if (id == 11)
		return "tai";
	return id >= 0 && (size_t)id < n && *names[id] ? names[id] : "perf";
}

static void perf_choose_clock(struct perf *p)
{
	struct input *in = p->input;
	const struct perf_attr *a = p->attrs;

	in->clock_name = "perf";
	if (p->nattrs && !(a->sample_type & PERF_SAMPLE_TIME)) {
		merge_count_rows(in, "ticks");
		return;
	}
	if (p->nattrs && perf_flag(a, PERF_FLAG_USE_CLOCK_ID)) {
		in->clock_name = perf_clock_name(a->clock_id);
		in->has_wall = !strcmp(in->clock_name, "realtime");
	}
	if (p->h.has_clock_data) {
		in->has_wall = true;
		in->wall = p->h.wall;
	}
}

static int perf_open(struct input *in, struct error *e)
{
	struct perf *p = calloc(1, sizeof *p);

	in->state = p;
	if (!p)
		return error_no_memory(e);
	p->input = in;
	p->w = in->decoding->writer;
	p->file.name = in->name;
	if (perf_header_read(p, e))
		return -1;
	if (!p->nattrs)
		return error_set(e, in->name, NO_OFFSET, "no event was recorded");
	if (p->h.in_directory && !in->tree)
		return error_set(e, in->name, NO_OFFSET,
				 "the samples are in files beside it: name the directory");
	if (perf_attrs_name(p))
		return error_no_memory(e);
	perf_choose_clock(p);
	return 0;
}

/* --- the queue of records, ordered by time --- */

static bool is_earlier(const struct perf_run *a, const struct perf_run *b)
{
	return a->time < b->time || (a->time == b->time && a->number < b->number);
}

/* A record in a round. */
struct perf_queued {
	uint64_t time, offset; /* of the record in the file */
	uint32_t at;	       /* offset of its bytes in the round's */
	uint32_t size;
};

static const struct perf_queued *queued_at(const struct perf_queue *q, const struct perf_run *run)
{
	return (const struct perf_queued *)(void *)q->rounds[run->round].records.data + run->next;
}

/* Put the run that is added to into the heap. */
static int close_run(struct perf_queue *q)
{
	if (!q->open.end)
		return 0;
	if (ARRAY_GROW(q->runs, q->runs_capacity, q->nruns))
		return -1;
	q->runs[q->nruns] = q->open;
	HEAP_UP(q->runs, q->nruns, a, b, is_earlier(a, b));
	q->nruns++;
	q->open.end = 0;
	return 0;
}

enum {
	PERF_QUEUE_MEMORY = 2 << 20, /* bytes of one round in memory */
	PERF_ROUND_MOST = 64 << 20,
	PERF_ROUND_SORTED = 1 << 20, /* bytes of a round where a file is sorted without rounds */
};

/* Add a record. Returns 0, or -1: out of memory. */
static int perf_queue_add(struct perf_queue *q, uint64_t time, uint64_t offset, const uint8_t *data,
			  size_t size)
{
	struct buffer *bytes = &q->rounds[q->present].bytes,
		      *records = &q->rounds[q->present].records;
	struct perf_queued record = {time, offset, (uint32_t)bytes->size, (uint32_t)size};
	size_t number = records->size / sizeof record;

	bytes->spills = bytes->size > PERF_QUEUE_MEMORY;
	records->spills = records->size > PERF_QUEUE_MEMORY;
	if (buffer_put(bytes, data, size) || buffer_align(bytes, 8) ||
	    buffer_put(records, &record, sizeof record))
		return -1;
	if (time > q->highest)
		q->highest = time;
	if (q->open.end && time < q->open_last && close_run(q))
		return -1;
	q->open_last = time;
	if (!q->open.end)
		q->open = (struct perf_run){q->present, number, number, time, ++q->begun};
	q->open.end = number + 1;
	return 0;
}

/* Test whether the present round has to end. */
static bool perf_queue_full(const struct perf_queue *q)
{
	size_t size = q->rounds[q->present].bytes.size;

	return size > PERF_ROUND_MOST || (q->sorted && !q->nruns && size > PERF_ROUND_SORTED);
}

/* End the round: what is in order can be taken. finished: the file says so. 0, or -1: out of
 * memory. */
static int perf_queue_end_round(struct perf_queue *q, bool finished)
{
	q->has_rounds |= finished;
	q->sorted = !q->has_rounds && !q->nruns;
	if (close_run(q))
		return -1;
	q->limit = q->sorted ? q->highest : q->before;
	q->before = q->highest;
	q->ending = true;
	return 0;
}

/* End the input: all records can be taken. 0, or -1: out of memory. */
static int perf_queue_end(struct perf_queue *q)
{
	q->limit = UINT64_MAX;
	q->ending = true;
	return close_run(q);
}

/* Begin another round if one was ended, whose records in order were all taken. */
static void perf_queue_change_round(struct perf_queue *q)
{
	if (!q->ending)
		return;
	q->ending = false;
	buffer_clear(&q->rounds[!q->present].bytes);
	buffer_clear(&q->rounds[!q->present].records);
	buffer_rest(&q->rounds[q->present].bytes);
	buffer_rest(&q->rounds[q->present].records);
	q->present = !q->present;
}

/* Get the next record in order without taking it. NULL: records must be added first, after
 * perf_queue_change_round. *data: its bytes, valid until then. */
static const struct perf_queued *perf_queue_peek(struct perf_queue *q, const uint8_t **data)
{
	const struct perf_run *top = q->runs;
	const struct perf_queued *record;

	if (!q->ending || !q->nruns || top->time > q->limit)
		return NULL;
	record = queued_at(q, top);
	*data = q->rounds[top->round].bytes.data + record->at;
	return record;
}

static void perf_queue_take(struct perf_queue *q)
{
	struct perf_run *top = q->runs;

	if (++top->next == top->end) {
		*top = q->runs[--q->nruns];
		if (!q->nruns)
			return;
	} else {
		top->time = queued_at(q, top)->time;
	}
	if (q->nruns > 1)
		HEAP_DOWN(q->runs, q->nruns, 0, a, b, is_earlier(a, b));
}

/* --- deferred --- */

/* A record that is held back. */
struct deferred_record {
	uint64_t time, offset; /* as of perf_record */
	uint64_t at, chain; /* of its bytes, of the addresses; counted from the first byte ever */
	uint64_t earlier;   /* number + 1 of the sample before it in the slot of its thread */
	/* what a sample waits for; tid -1: not recorded */
	uint64_t cookie;
	int32_t tid;
	uint32_t size, nchain, type;
	uint16_t misc;
	bool waits;
};

static size_t kept_records(const struct perf_deferred *q)
{
	return q->records.size / sizeof(struct deferred_record);
}

static struct deferred_record *record_at(const struct perf_deferred *q, uint64_t number)
{
	struct deferred_record *all = (void *)q->records.data;

	return &all[number - (q->end - kept_records(q))];
}

static const uint8_t *bytes_at(const struct perf_deferred *q, uint64_t at)
{
	return q->bytes.data + (at - q->dropped);
}

static uint64_t *unwind_slot_of(struct perf_deferred *q, int32_t tid)
{
	return &q->last[hash_u64((uint32_t)tid) % DEFERRED_SLOTS];
}

static int unwind_put_bytes(struct perf_deferred *q, const uint8_t *data, size_t n, uint64_t *at)
{
	q->bytes.spills = true;
	*at = q->dropped + q->bytes.size;
	return buffer_append(&q->bytes, data, n) || buffer_align(&q->bytes, 8) ? -1 : 0;
}

/* Add a record. waits: it is a sample of the thread tid, which waits for the chain with the cookie.
 */
static int perf_deferred_add(struct perf_deferred *q, const struct perf_record *r, bool waits,
			     int32_t tid, uint64_t cookie)
{
	uint64_t *last = unwind_slot_of(q, tid);
	struct deferred_record record = {.time = r->time,
					 .offset = r->offset,
					 .earlier = *last,
					 .cookie = cookie,
					 .tid = tid,
					 .size = r->size,
					 .type = r->type,
					 .misc = r->misc,
					 .waits = waits};

	q->records.spills = true;
	if (unwind_put_bytes(q, r->data, r->size, &record.at) ||
	    buffer_append(&q->records, &record, sizeof record))
		return -1;
	q->latest = r->time;
	q->end++;
	if (waits) {
		*last = q->end;
		q->waiting++;
	}
	return 0;
}

static void end_wait(struct perf_deferred *q, struct deferred_record *record)
{
	record->waits = false;
	q->waiting--;
	q->incomplete += !record->chain;
}

/* Give n addresses of 8 bytes each to the samples of a thread that wait for them, by their cookie.
 * The others of the thread wait no longer; without a cookie all do not. */
static int perf_deferred_join(struct perf_deferred *q, int32_t tid, const uint64_t *cookie,
			      const uint8_t *addresses, uint64_t n)
{
	uint64_t *link = unwind_slot_of(q, tid), chain = 0;

	/* those before the first have waited too long */
	while (*link > q->first) {
		struct deferred_record *record = record_at(q, *link - 1);
		bool same = cookie && record->cookie == *cookie;

		if (record->tid != tid || (cookie && !same && tid == -1)) {
			link = &record->earlier;
			continue;
		}
		*link = record->earlier;
		if (same && !chain && unwind_put_bytes(q, addresses, 8 * n, &chain))
			return -1;
		if (same) {
			record->chain = chain;
			record->nchain = (uint32_t)n;
		}
		/* the chains of a thread are in the order of its samples */
		end_wait(q, record);
	}
	*link = 0;
	q->unmatched += cookie && !chain;
	return 0;
}

static bool waits_too_long(const struct perf_deferred *q, const struct deferred_record *record)
{
	size_t bytes = (size_t)(q->dropped + q->bytes.size - record->at) +
		       (size_t)(q->end - q->first) * sizeof *record;

	return q->waiting > DEFERRED_MOST || bytes > DEFERRED_BYTES ||
	       (q->latest > record->time && q->latest - record->time > q->longest);
}

/* Get the first record without taking it, with the addresses that it waited for. ending: no
 * sample waits any longer. Returns false if there is none. Its bytes are valid until records are
 * added. */
static bool perf_deferred_peek(struct perf_deferred *q, struct perf_record *r, bool ending)
{
	struct deferred_record *record;

	if (q->first == q->end)
		return false;
	record = record_at(q, q->first);
	if (record->waits) {
		if (!ending && !waits_too_long(q, record))
			return false;
		end_wait(q, record);
	}
	*r = (struct perf_record){.data = bytes_at(q, record->at),
				  .time = record->time,
				  .offset = record->offset,
				  .type = record->type,
				  .size = record->size,
				  .misc = record->misc,
				  .user_chain = record->chain ? bytes_at(q, record->chain) : NULL,
				  .nuser_chain = record->nchain};
	return true;
}

/* Remove the part of a buffer before byte n, if it is the larger part. Returns whether it did. */
static bool drop_front(struct buffer *b, size_t n)
{
	if (n < BUFFER_PIECE || n < b->size - n)
		return false;
	memmove(b->data, b->data + n, b->size - n);
	b->size -= n;
	buffer_rest(b);
	return true;
}

static void perf_deferred_take(struct perf_deferred *q)
{
	size_t had = (size_t)(record_at(q, q->first)->at - q->dropped), taken, bytes;

	if (++q->first == q->end) {
		q->dropped += q->bytes.size;
		buffer_clear(&q->bytes);
		buffer_clear(&q->records);
		return;
	}
	bytes = (size_t)(record_at(q, q->first)->at - q->dropped);
	if (had / BUFFER_PIECE != bytes / BUFFER_PIECE) {
		buffer_rest(&q->bytes);
		buffer_rest(&q->records);
	}
	if (drop_front(&q->bytes, bytes))
		q->dropped += bytes;
	taken = (size_t)(kept_records(q) - (q->end - q->first)) * sizeof(struct deferred_record);
	drop_front(&q->records, taken);
}

/* --- records in order --- */

/* Find the time of a record; 0: it has none, and is taken at once. */
static uint64_t perf_time_of(struct perf *p, const struct perf_record *r)
{
	struct perf_origin o;

	if (r->type != PERF_RECORD_SAMPLE)
		perf_record_origin(p, r, &o);
	else if (!perf_sample_time(p, r, &o.time, &o.has_time))
		return p->queue.highest;
	if (o.has_time && o.time < TIME_LIMIT)
		return o.time;
	if (o.has_time && o.time != UINT64_MAX)
		input_damage(p->input, p->file.name, r->offset, "an impossible time");
	/* the place among the others */
	if (r->type == PERF_RECORD_SAMPLE)
		return p->input->ticks ? ++p->ticks : p->queue.highest;
	if (r->type == PERF_RECORD_CALLCHAIN_DEFERRED)
		return p->queue.highest;
	/* kernels before 2.6.38 write a time into samples only */
	return o.has_time || p->input->ticks ? 0 : p->read_time;
}

static int perf_put_record(struct perf *p, const struct perf_record *r)
{
	if (r->type == PERF_RECORD_SAMPLE)
		return perf_sample(p, r);
	if (perf_samples_flush(p))
		return -1;
	if (r->type == PERF_RECORD_CALLCHAIN_DEFERRED) {
		p->deferred.unmatched++;
		return 0;
	}
	return perf_side_record(p, r);
}

/* Queue a record of the kernel. */
static int perf_take_record(struct perf *p, struct perf_record *r)
{
	r->time = perf_time_of(p, r);
	if (r->time)
		p->read_time = p->files.last->time = r->time;
	if (!r->time && r->type != PERF_RECORD_SAMPLE)
		return perf_put_record(p, r);
	if (perf_queue_add(&p->queue, r->time, r->offset, r->data, r->size))
		return -1;
	return perf_queue_full(&p->queue) ? perf_queue_end_round(&p->queue, false) : 0;
}

/* Read records until some are in order, or to the end. */
static int fill_queue(struct perf *p, struct error *e)
{
	perf_queue_change_round(&p->queue);
	while (!p->queue.ending) {
		struct perf_record r;
		int got = perf_files_next(p, &r, e);

		if (got < 0)
			return -1;
		if (!got) {
			p->ended = true;
			return perf_queue_end(&p->queue);
		}
		if (r.type == PERF_RECORD_FINISHED_ROUND) {
			/* of one file, it says nothing of the others */
			if (p->files.count == 1 && perf_queue_end_round(&p->queue, true))
				return -1;
		} else if (r.type >= SIMPLEPERF_KERNEL_SYMBOL && r.type < SIMPLEPERF_KNOWN) {
			if (perf_header_record(p, &r, e))
				return -1;
		} else if (r.type >= PERF_RECORD_KNOWN) {
			input_damage(p->input, p->file.name, r.offset,
				     "a record of type %u, which perf does not have", r.type);
		} else if (r.type >= PERF_RECORD_OF_PERF) {
			p->counts.stat += r.type == PERF_RECORD_STAT;
			if (perf_header_record(p, &r, e))
				return -1;
		} else if (r.type > PERF_RECORD_CALLCHAIN_DEFERRED) {
			p->counts.unknown_types++;
		} else if (perf_take_record(p, &r)) {
			return -1;
		}
	}
	return 0;
}

/* Get the next record of the queue: 1; 0: no more; -1. */
static int next_queued(struct perf *p, struct perf_record *r, struct error *e)
{
	for (;;) {
		const uint8_t *data;
		const struct perf_queued *q = perf_queue_peek(&p->queue, &data);

		if (q) {
			*r = (struct perf_record){.data = data,
						  .time = q->time,
						  .offset = q->offset,
						  .type = perf_u32(p, data),
						  .size = q->size,
						  .misc = perf_u16(p, data + 4)};
			return 1;
		}
		if (perf_samples_flush(p))
			return -1;
		if (p->ended)
			return 0;
		if (fill_queue(p, e))
			return -1;
	}
}

/* Hold a record back, or what it has of samples that are held back. */
static int hold_record(struct perf *p, const struct perf_record *r)
{
	struct perf_origin o;
	const uint8_t *body = r->data + PERF_RECORD_HEAD;
	uint64_t n, cookie = 0;
	int32_t tid = -1;
	bool waits, ends;

	if (r->type == PERF_RECORD_SAMPLE) {
		waits = perf_sample_is_deferred(p, r, &tid, &cookie);
		return perf_deferred_add(&p->deferred, r, waits, tid, cookie);
	}
	perf_record_origin(p, r, &o);
	ends = r->type == PERF_RECORD_EXIT && o.body >= PERF_FORK_BODY;
	/* the addresses are those of the new program */
	if (ends || (r->type == PERF_RECORD_COMM && r->misc & PERF_MISC_COMM_EXEC &&
		     o.body >= PERF_COMM_BODY))
		perf_deferred_join(&p->deferred, (int32_t)perf_u32(p, body + (ends ? 8 : 4)), NULL,
				   NULL, 0);
	if (r->type != PERF_RECORD_CALLCHAIN_DEFERRED)
		return perf_deferred_add(&p->deferred, r, false, tid, cookie);
	n = o.body < PERF_DEFERRED_BODY ? UINT64_MAX : perf_u64(p, body + 8);
	if (n > (o.body - PERF_DEFERRED_BODY) / 8) {
		input_damage(p->input, p->file.name, r->offset,
			     "a deferred call chain that is cut");
		return 0;
	}
	cookie = perf_u64(p, body);
	return perf_deferred_join(&p->deferred, o.has_tid ? o.tid : -1, &cookie,
				  body + PERF_DEFERRED_BODY, n);
}

/* Get the next record in order, whose deferred call chain is there: 1; 0: no more; -1. */
static int next_in_order(struct perf *p, struct perf_record *r, struct error *e)
{
	if (!p->deferred.used)
		return next_queued(p, r, e);
	while (!perf_deferred_peek(&p->deferred, r, false)) {
		int got = next_queued(p, r, e);

		if (got <= 0)
			return got ? got : perf_deferred_peek(&p->deferred, r, true);
		if (hold_record(p, r))
			return -1;
		perf_queue_take(&p->queue);
	}
	return 1;
}

static void take_in_order(struct perf *p)
{
	if (p->deferred.used)
		perf_deferred_take(&p->deferred);
	else
		perf_queue_take(&p->queue);
}

static bool records_stacks(const struct perf *p)
{
	const uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	for (size_t i = 0; i < p->nattrs; i++)
		if ((p->attrs[i].sample_type & both) == both)
			return true;
	return false;
}

/* Prepare to unwind the recorded stacks, unless no caller wants them. */
static int begin_unwinding(struct perf *p, struct error *e)
{
	const struct decoding *d = p->input->decoding;

	if (!records_stacks(p) || d->no_unwind || d->times_only)
		return 0;
	e->what[0] = '\0';
	p->unwinder = perf_unwinder_new(p->h.arch, d->sysroot, e);
	if (!p->unwinder && !e->what[0] && !d->quiet)
		warn(p->input->name, NO_OFFSET, "stacks of %s are not unwound", p->h.arch);
	return p->unwinder || !e->what[0] ? 0 : -1;
}

static int decode_perf_begin(struct input *in, struct error *e)
{
	struct perf *p = in->state;
	struct perf_record r;
	int got;

	if (merge_choose_clock(in, e))
		return -1;
	perf_attrs_settle(p);
	/* the records may come from a process that still records */
	p->deferred.longest = in->file.live && !in->tree ? DEFERRED_LIVE : UINT64_MAX;
	p->pending.samples = calloc(PENDING, sizeof *p->pending.samples);
	p->spaces.jit = perf_jit_new(in->decoding->sysroot, in->name,
				     strcmp(in->clock_name, "monotonic") != 0);
	if (!p->pending.samples || !p->spaces.jit || perf_spaces_init(&p->spaces, p->w) ||
	    perf_declare(p) || begin_unwinding(p, e))
		return -1;
	got = next_in_order(p, &r, e);
	return got > 0 ? merge_first(in, r.time, e) : got;
}

static int decode_perf_run(struct input *in, uint64_t until, struct error *e)
{
	struct perf *p = in->state;
	struct perf_record r;
	uint64_t limit;
	int got;

	if (!merge_unshifted(until, in->shift, &limit))
		return 0;
	while ((got = next_in_order(p, &r, e)) > 0 && r.time <= limit) {
		p->time = r.time;
		if (perf_put_record(p, &r))
			return -1;
		take_in_order(p);
	}
	in->next = got > 0 ? merge_shifted(r.time, in->shift) : UINT64_MAX;
	return got < 0 || perf_samples_flush(p) || (!got && perf_lost_rest(p)) ? -1 : 0;
}

static void report_unwinding(const struct perf *p)
{
	struct error first;
	uint64_t missing = p->unwinder ? perf_unwinder_missing(p->unwinder, &first) : 0;
	char text[sizeof first];

	if (!missing)
		return;
	error_text(&first, text, sizeof text);
	warn_count(p->input->name, missing,
		   "{file|files} could not be read to unwind stacks; the first: %s", text);
}

static void perf_report(const struct perf *p)
{
	const char *name = p->input->name;
	uint64_t aux_bytes = 0;

	report_unwinding(p);
	warn_count(name, p->counts.unknown_types, "{record has|records have} an unknown type");
	warn_count(name, p->deferred.incomplete,
		   "{sample lacks its|samples lack their} deferred call {chain|chains}");
	warn_count(name, p->deferred.unmatched,
		   "deferred call {chain belongs|chains belong} to no sample");
	warn_count(name, p->counts.old_symbols,
		   "{name|names} of functions by simpleperf before 2017 were left out");
	warn_count(name, p->counts.stat,
		   "{count|counts} of perf stat were left out: use perf stat report");
	for (size_t i = 0; i < p->files.count; i++)
		aux_bytes += p->files.at[i].aux_bytes;
	warn_count(name, aux_bytes,
		   "{byte|bytes} of an AUX area (Intel PT and the like) were left out: use perf "
		   "script --call-ret-trace | trdecode");
}

static void decode_perf_close(struct input *in)
{
	struct perf *p = in->state;

	if (!p)
		return;
	if (!in->decoding->quiet)
		perf_report(p);
	perf_unwinder_free(p->unwinder);
	for (int i = 0; i < 2; i++) {
		buffer_free(&p->queue.rounds[i].bytes);
		buffer_free(&p->queue.rounds[i].records);
	}
	free(p->queue.runs);
	buffer_free(&p->deferred.bytes);
	buffer_free(&p->deferred.records);
	perf_threads_free(p);
	perf_spaces_free(&p->spaces);
	if (p->events)
		ftrace_events_free(p->events);
	if (p->marks)
		atrace_free(p->marks);
	free(p->marks);
	free(p->events);
	perf_header_free(p);
	if (!p->h.pipe)
		tracecmd_file_close(&p->file);
	free(p->own_name);
	id_cache_free(&p->thread_counters.numbers);
	free(p->thread_counters.values);
	for (int i = 0; p->pending.samples && i < PENDING; i++)
		buffer_free(&p->pending.samples[i].own_chain);
	free(p->pending.samples);
	buffer_free(&p->pending.tail);
	perf_jit_free(p->spaces.jit);
	free(p);
	in->state = NULL;
}

const struct decoder decoder_perf = {
	.name = "perf",
	.in_order = true,
	.probe = perf_probe,
	.open = perf_open,
	.info = perf_info,
	.begin = decode_perf_begin,
	.run = decode_perf_run,
	.close = decode_perf_close,
};
