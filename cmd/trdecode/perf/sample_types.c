/*
 * sample_types.c - declare the source, the clock and the types of the events
 */
#include "cmd/trdecode/perf/perf.h"

#include <stdlib.h>

#include "cmd/trdecode/input/merge.h"

/* A type being declared. */
struct type_fields {
	struct writer *w;
	struct field_entry fields[PERF_MEMBERS + 32 + FTRACE_FIELDS];
	struct type_entry type;
};

static struct field_entry *add_field(struct type_fields *f, const char *name, enum field_kind kind,
				     uint32_t size, uint32_t count)
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
		a->members[k].attr = (uint32_t)first + k;
	return 0;
}

static int add_members(struct perf *p, struct perf_attr *a, struct type_fields *f)
{
	if (!a->knows_members && leads_group(a) && guess_members(p, a))
		return -1;
	for (uint32_t k = 0; k < a->nmembers; k++) {
		const char *name = p->attrs[a->members[k].attr].name;

		a->members[k].offset = f->type.fixed_size;
		add_field(f, name ? name : "counter", FIELD_UINT, 8, 0)->role = ROLE_WEIGHT;
	}
	return 0;
}

/* Add the fields in the order in which fill_fixed of sample_rows.c writes them. */
static int add_fixed(struct perf *p, struct perf_attr *a, struct type_fields *f)
{
	uint64_t has = a->sample_type;

	if (has & (PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ))
		add_field(f, "period", FIELD_UINT, 8, 0)->role = ROLE_PERIOD;
	if (add_members(p, a, f))
		return -1;
	if (a->has_ip)
		add_field(f, "ip", FIELD_HEX, 8, 0)->role = ROLE_ADDRESS;
	if (has & PERF_SAMPLE_ADDR)
		add_field(f, "addr", FIELD_HEX, 8, 0)->role = ROLE_ADDRESS;
	if (has & PERF_SAMPLE_WEIGHT) {
		add_field(f, "weight", FIELD_UINT, 8, 0);
	} else if (has & PERF_SAMPLE_WEIGHT_STRUCT) {
		add_field(f, "weight", FIELD_UINT, 4, 0);
		add_field(f, "ins_lat", FIELD_UINT, 2, 0);
		add_field(f, "retire_lat", FIELD_UINT, 2, 0);
	}
	if (has & PERF_SAMPLE_DATA_SRC)
		add_field(f, "data_src", FIELD_HEX, 8, 0);
	if (has & PERF_SAMPLE_TRANSACTION)
		add_field(f, "transaction", FIELD_HEX, 8, 0);
	if (has & PERF_SAMPLE_PHYS_ADDR)
		add_field(f, "phys_addr", FIELD_HEX, 8, 0);
	if (has & PERF_SAMPLE_CGROUP)
		add_field(f, "cgroup", FIELD_UINT, 8, 0);
	if (has & PERF_SAMPLE_DATA_PAGE_SIZE)
		add_field(f, "data_page_size", FIELD_UINT, 8, 0)->role = ROLE_SIZE;
	if (has & PERF_SAMPLE_CODE_PAGE_SIZE)
		add_field(f, "code_page_size", FIELD_UINT, 8, 0)->role = ROLE_SIZE;
	if (has & PERF_SAMPLE_REGS_USER && !(has & PERF_SAMPLE_STACK_USER) && a->user_regs)
		add_field(f, "user_regs", FIELD_HEX, 8,
			  (uint32_t)__builtin_popcountll(a->user_regs));
	if (has & PERF_SAMPLE_REGS_INTR && a->intr_regs)
		add_field(f, "intr_regs", FIELD_HEX, 8,
			  (uint32_t)__builtin_popcountll(a->intr_regs));
	return 0;
}

/* Add the fields of the tail, which fill_tail of sample_rows.c makes. */
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

static const char *group_of(const struct perf_attr *a)
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

	if (v) {
		type->name = writer_string(p->w, v->format.name, v->format.name_size);
		type->group = writer_string(p->w, v->system, v->system_size);
		type->declaration = writer_string(p->w, v->text, v->text_size);
	} else if (a->kind == PERF_TYPE_TRACEPOINT && colon) {
		type->name = writer_text(p->w, colon + 1);
		type->group = writer_string(p->w, a->name, (size_t)(colon - a->name));
	} else {
		type->name = writer_text(p->w, a->name);
		type->group = writer_text(p->w, group_of(a));
	}
}

/* Find the format of a tracepoint. */
static struct ftrace_event *tracepoint_of(const struct perf *p, const struct perf_attr *a)
{
	if (a->kind != PERF_TYPE_TRACEPOINT || a->config > UINT16_MAX || !p->events)
		return NULL;
	return ftrace_events_find(p->events, (uint16_t)a->config);
}

/* Is the weight of the event's samples a time? Without a period of its own, and with a frequency in
 * place of a common one, a sample counts 1. */
static bool weighs_time(const struct perf_attr *a)
{
	return a->kind == PERF_TYPE_SOFTWARE &&
	       (a->config == PERF_SOFTWARE_CPU_CLOCK || a->config == PERF_SOFTWARE_TASK_CLOCK) &&
	       (!perf_flag(a, PERF_FLAG_FREQ) ||
		a->sample_type & (PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ));
}

int perf_declare_attr(struct perf *p, struct perf_attr *a)
{
	struct type_fields *f = calloc(1, sizeof *f);
	int bad;

	if (!f)
		return -1;
	a->tracepoint = tracepoint_of(p, a);
	bad = perf_attrs_name(p);
	/* samples with a precise address have an address that is not the stack's */
	a->has_ip = a->flags >> PERF_FLAG_PRECISE & 3 && a->kind != PERF_TYPE_SOFTWARE &&
		    a->sample_type & PERF_SAMPLE_CALLCHAIN && a->sample_type & PERF_SAMPLE_IP;
	f->w = p->w;
	f->type = (struct type_entry){.source = p->source,
				      .kind = KIND_SAMPLE,
				      .word_size = (uint8_t)p->h.long_size,
				      .flags = (weighs_time(a) ? TYPE_WEIGHT_TIME : 0) |
					       (p->h.big_endian ? TYPE_BIG_ENDIAN : 0),
				      .native = (uint32_t)(a - p->attrs),
				      .weight = perf_flag(a, PERF_FLAG_FREQ) ? 0 : a->period,
				      .fields = f->fields};
	set_names(p, a, &f->type);
	bad = bad || add_fixed(p, a, f);
	add_tail(p, a, f);
	a->has_tail = f->type.flags & TYPE_TAIL;
	a->fixed_size = f->type.fixed_size;
	a->type = bad ? 0 : writer_type(p->w, &f->type);
	free(f);
	return a->type && !row_filter_announce(p->input->decoding->row_filter, a->type, 0) ? 0 : -1;
}

static unsigned word_size(const struct perf *p)
{
	if (p->h.long_size || !p->h.arch)
		return p->h.long_size;
	return strstr(p->h.arch, "64") || !strncmp(p->h.arch, "s390x", 5) ? 8 : 4;
}

int perf_declare(struct perf *p)
{
	struct writer *w = p->w;
	struct input *in = p->input;

	p->h.long_size = word_size(p);
	p->source = writer_source(w, &(struct source_entry){writer_text(w, "perf"),
							    writer_text(w, in->name),
							    p->h.long_size, p->h.big_endian});
	p->clock = writer_clock(
		w, &(struct clock_entry){
			   writer_text(w, in->clock_name),
			   (in->ticks ? CLOCK_TICKS : 0) | (in->has_wall ? CLOCK_HAS_WALL : 0) |
				   (in->has_wall && !merge_wall(in) ? CLOCK_IS_WALL : 0),
			   merge_wall(in)});
	p->spaces.source = p->source;
	if (!p->source || !p->clock)
		return -1;
	for (size_t i = 0; i < p->nattrs; i++)
		if (perf_declare_attr(p, &p->attrs[i]))
			return -1;
	return perf_declare_records(p);
}
