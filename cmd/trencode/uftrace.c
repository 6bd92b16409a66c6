/*
 * uftrace.c - a uftrace recording out of a stream of one
 *
 * What describes the recording comes as it was (META); the records of each task, and perf's of each
 * CPU, are made of the rows. A row that a filter left out is left out here: then the depths are
 * those of the calls that are there, as uftrace takes the depth of the record for the depth of its
 * stack.
 */
#include "uftrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/formats/uftrace.h"
#include "tree_output.h"
#include "uftrace_kernel.h"
#include "uftrace_pack.h"

enum {
	INFO_LIMIT = 16 << 20, /* what of info is looked at */
	CPU_LIMIT = 8192,
	NO_MEMBER = UINT32_MAX,
};

/* What becomes of the rows of a type. */
enum plan {
	PLAN_UNKNOWN, /* not yet asked */
	PLAN_CALL,
	PLAN_EVENT,
	PLAN_SWITCH,
	PLAN_TASK_NEW,
	PLAN_TASK_EXIT,
	PLAN_TASK_NAME,
	PLAN_EXTERN,
	PLAN_GAP,
	PLAN_KERNEL,
	PLAN_NONE,
};

struct task {
	uint32_t member; /* of its file + 1, 0 none yet */
	/* recorded depths of the calls that are open, ascending; only of filtered streams */
	uint32_t *open;
	size_t nopen, capacity;
};

struct state {
	struct tree_output tree;
	const struct source *source; /* NULL: none came yet */
	struct uftrace_machine machine;
	struct buffer info, scratch;
	bool begun;    /* info was read */
	bool filtered; /* a trfilter is upstream */
	uint64_t feat_mask;

	uint8_t *plans; /* enum plan by type number */
	size_t nplans;
	struct task *tasks; /* by thread number */
	size_t ntasks;

	struct kernel_output kernel;
	uint64_t damage, unfit, unmatched;
};

static int uftrace_begin(struct encoding *en, struct error *e)
{
	struct state *s = calloc(1, sizeof(*s));
	uint32_t number;

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->kernel.tree = &s->tree;
	if (tree_output_open(&s->tree, en->options->output, "uftrace.data", e))
		return -1;
	/* the first comes into its place last: without info this is no recording */
	return tree_output_member(&s->tree, "info", 4, &number, e);
}

static int uftrace_head(struct encoding *en, const struct head *h, struct error *e)
{
	struct state *s = en->state;

	(void)e;
	s->filtered |= h->flags & HEAD_FILTERED;
	return 0;
}

/* A directory holds one recording. */
static int take_source(struct state *s, const struct source *source, struct error *e)
{
	if (strcmp(source->format.text, "uftrace") != 0)
		return error_set(e, source->name.text, NO_OFFSET,
				 "events of %s come behind those of a uftrace recording: --anew "
				 "makes one recording of both",
				 source->format.text);
	/* halves that went through trdecode apart, or streams one behind the other */
	if (s->source && !strcmp(s->source->name.text, source->name.text))
		return error_set(e, NULL, NO_OFFSET,
				 "a uftrace directory holds one recording, and the stream has two, "
				 "or one twice: both are named '%s'; --anew makes one of them",
				 source->name.text);
	if (s->source)
		return error_set(e, NULL, NO_OFFSET,
				 "a uftrace directory holds one recording, and the stream has more "
				 "than one: '%s' and '%s'; --anew makes one of them",
				 s->source->name.text, source->name.text);
	s->source = source;
	return 0;
}

/* --- what comes as it was --- */

static bool is_name(const struct meta *m, const char *name)
{
	return m->name_size == strlen(name) && !memcmp(m->name, name, m->name_size);
}

/* Files that are made of the rows. */
static bool is_rebuilt(const struct state *s, const struct meta *m)
{
	if (is_name(m, "extern.dat"))
		return s->filtered;
	return m->name_size >= 4 && !memcmp(m->name + m->name_size - 4, ".dat", 4);
}

static int uftrace_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct state *s = en->state;
	const struct source *source;
	uint32_t number;

	if (!m->source || m->source >= en->dictionary->sources.count)
		return 0;
	source = pool_at(&en->dictionary->sources, m->source);
	if (source != s->source && take_source(s, source, e))
		return -1;
	if (m->flags & META_REFERENCE || is_rebuilt(s, m))
		return 0;
	if (!tree_output_name_ok(m->name, m->name_size)) {
		warn(source->name.text, NO_OFFSET,
		     "a part of the recording with a name that no file can have is left out");
		return 0;
	}
	if (tree_output_member(&s->tree, m->name, m->name_size, &number, e))
		return -1;
	/* a piece that was there already, or behind one that is missing (which the reader said) */
	if (m->offset != tree_output_size(&s->tree, number))
		return 0;
	if (is_name(m, "kernel_header") && kernel_output_header(&s->kernel, m))
		return error_no_memory(e);
	if (is_name(m, "info") && s->info.size + m->size <= INFO_LIMIT &&
	    buffer_append(&s->info, m->data, m->size))
		return error_no_memory(e);
	if (tree_output_put(&s->tree, number, m->data, m->size, e))
		return -1;
	return tree_output_settle(&s->tree, number, e);
}

/* Before the first row: which machine recorded? */
static int read_info(struct state *s, struct error *e)
{
	const uint8_t *p = s->info.data;
	uint64_t feat;

	if (!s->source)
		return error_set(e, NULL, NO_OFFSET,
				 "nothing of a uftrace recording came: none can be written");
	if (!s->info.size)
		return error_set(e, s->source->name.text, NO_OFFSET,
				 "the stream does not have the recording's 'info', without which "
				 "there is no uftrace directory (is its first segment missing?)");
	if (s->info.size < UFTRACE_HEADER_SIZE || memcmp(p, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE) != 0)
		return error_set(e, s->source->name.text, NO_OFFSET,
				 "the recording's 'info' in the stream is damaged");
	s->machine.big_endian = p[UFTRACE_HDR_ENDIAN] == 2;
	s->machine.swap = s->machine.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	s->machine.word = p[UFTRACE_HDR_CLASS] == 1 ? 4 : 8;
	memcpy(&feat, p + UFTRACE_HDR_FEAT_MASK, 8);
	s->feat_mask = uftrace_swap64(feat, s->machine.swap);
	s->begun = true;
	return 0;
}

void uftrace_info_later(struct encoding *en, uint64_t feat_mask)
{
	struct state *s = en->state;

	s->machine.word = 8;
	s->machine.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	s->feat_mask = feat_mask;
	s->begun = true;
}

/* --- tasks --- */

static struct task *task_of(struct state *s, const struct lane *lane, struct error *e)
{
	struct task *tasks = array_reach(s->tasks, &s->ntasks, lane->thread, sizeof(*tasks));

	if (!tasks) {
		error_no_memory(e);
		return NULL;
	}
	s->tasks = tasks;
	return &tasks[lane->thread];
}

static int open_task(struct state *s, struct task *t, const struct lane *lane, struct error *e)
{
	char name[32];
	int n = snprintf(name, sizeof(name), "%" PRId32 ".dat", lane->tid);
	uint32_t number;

	if (tree_output_member(&s->tree, name, (size_t)n, &number, e))
		return -1;
	t->member = number + 1;
	return 0;
}

static int push_open(struct task *t, uint32_t depth, struct error *e)
{
	uint32_t *open = array_grow(t->open, &t->capacity, t->nopen, sizeof(*open));

	if (!open)
		return error_no_memory(e);
	t->open = open;
	open[t->nopen++] = depth;
	return 0;
}

/*
 * The depth of a call among those that passed the filter. 1: a leave without its enter, of which
 * uftrace would make a call that never was; 0; -1.
 */
static int filtered_depth(struct task *t, const struct event *ev, uint32_t *depth, struct error *e)
{
	bool leave = ev->type->kind == KIND_LEAVE;
	uint32_t recorded = ev->type->flags & TYPE_DEPTH ? ev->depth : (uint32_t)t->nopen - leave;

	while (t->nopen && t->open[t->nopen - 1] >= recorded + leave)
		t->nopen--;
	if (!leave) {
		*depth = (uint32_t)t->nopen;
		return push_open(t, recorded, e);
	}
	if (!t->nopen || t->open[t->nopen - 1] != recorded)
		return 1;
	*depth = (uint32_t)--t->nopen;
	return 0;
}

/* --- records --- */

static int put_record(struct state *s, struct task *t, const struct event *ev,
		      struct uftrace_record *r, struct error *e)
{
	uint8_t bytes[UFTRACE_RECORD_SIZE];

	if (!t->member && open_task(s, t, ev->lane, e))
		return -1;
	uftrace_record_pack(bytes, s->machine.swap, r);
	if (tree_output_put(&s->tree, t->member - 1, bytes, sizeof(bytes), e))
		return -1;
	if (!r->more || !s->scratch.size)
		return 0;
	return tree_output_put(&s->tree, t->member - 1, s->scratch.data, s->scratch.size, e);
}

static int call_record(struct encoding *en, struct task *t, const struct event *ev, struct error *e)
{
	struct state *s = en->state;
	const struct place *place = dictionary_place(en->dictionary, ev->place);
	struct uftrace_record r = {
		.time = ev->time,
		.addr = place ? place->address : 0,
		.type = ev->type->kind == KIND_LEAVE ? UFTRACE_EXIT : UFTRACE_ENTRY,
		.more = ev->type->flags & TYPE_VALUES,
	};
	uint32_t depth = ev->depth;
	int got;

	if (s->filtered) {
		got = filtered_depth(t, ev, &depth, e);
		if (got) {
			s->unmatched += got > 0;
			return got < 0 ? -1 : 0;
		}
	}
	r.depth = (uint16_t)depth;
	if (r.more) {
		s->scratch.size = 0;
		got = uftrace_pack_values(&s->scratch, &s->machine, ev->tail, ev->tail_size);
		if (got < 0)
			return error_no_memory(e);
		r.more = !got;
		s->unfit += (uint64_t)got;
	}
	return put_record(s, t, ev, &r, e);
}

static int event_record(struct state *s, struct task *t, const struct event *ev, struct error *e)
{
	struct uftrace_record r = {
		.time = ev->time,
		.addr = ev->type->native,
		.type = UFTRACE_EVENT,
		.depth = (uint16_t)ev->depth,
		.more = uftrace_event_has_data(ev->type),
	};
	int got = 0;

	s->scratch.size = 0;
	if (r.more)
		got = uftrace_pack_event(&s->scratch, &s->machine, ev);
	if (got < 0)
		return error_no_memory(e);
	if (got) {
		s->unfit++;
		return 0;
	}
	return put_record(s, t, ev, &r, e);
}

static int gap_record(struct state *s, struct task *t, const struct event *ev, struct error *e)
{
	struct uftrace_record r = {.type = UFTRACE_LOST};
	bool thread = ev->lane->flags & LANE_HAS_TID;
	struct gap_row g;
	int got = 1;

	if (gap_get(ev, &g) && g.reason == GAP_LOST) {
		/* of unknown number: uftrace shows none, and restarts its stack all the same */
		r.addr = g.count > UFTRACE_ADDR_MASK ? 0 : g.count;
		got = thread ? put_record(s, t, ev, &r, e)
			     : kernel_output_gap(&s->kernel, ev, g.count, e);
	}
	s->damage += got > 0;
	return got < 0 ? -1 : 0;
}

static int kernel_record(struct state *s, struct task *t, const struct event *ev, struct error *e)
{
	int got;

	/* uftrace takes the kernel's records only of tasks that have a file, be it empty */
	if (!t->member && open_task(s, t, ev->lane, e))
		return -1;
	got = kernel_output_event(&s->kernel, ev, e);
	s->unfit += got > 0;
	return got < 0 ? -1 : 0;
}

static int perf_member(struct state *s, uint32_t cpu, uint32_t *number, struct error *e)
{
	char name[32];
	int n = snprintf(name, sizeof(name), "perf-cpu%" PRIu32 ".dat", cpu);

	return tree_output_member(&s->tree, name, (size_t)n, number, e);
}

static int perf_record(struct state *s, struct task *t, const struct event *ev, enum plan plan,
		       struct error *e)
{
	const struct field *f = field_by_role(ev->type, ROLE_CPU);
	struct field_value cpu = {.form = FORM_NONE};
	uint32_t number;
	int got;

	if (f)
		field_get(ev, f, 0, &cpu);
	s->scratch.size = 0;
	if (plan == PLAN_SWITCH)
		got = uftrace_pack_switch(&s->scratch, &s->machine, ev);
	else if (plan == PLAN_TASK_NAME)
		got = uftrace_pack_comm(&s->scratch, &s->machine, ev);
	else
		got = uftrace_pack_life(&s->scratch, &s->machine, ev,
					plan == PLAN_TASK_NEW ? UFTRACE_PERF_FORK
							      : UFTRACE_PERF_EXIT);
	if (got < 0)
		return error_no_memory(e);
	if (got || cpu.form == FORM_NONE) {
		s->unfit++;
		return 0;
	}
	/* uftrace takes perf's records only of tasks that have a file, be it empty */
	if (!t->member && open_task(s, t, ev->lane, e))
		return -1;
	if (perf_member(s, (uint32_t)cpu.u, &number, e))
		return -1;
	return tree_output_put(&s->tree, number, s->scratch.data, s->scratch.size, e);
}

/* A line of extern.dat. Of a stream that was not filtered the file came as it was. */
static int extern_line(struct state *s, const struct event *ev, struct error *e)
{
	const struct field *f = field_by_role(ev->type, ROLE_MESSAGE);
	struct field_value text = {.form = FORM_NONE};
	uint32_t number;

	if (!s->filtered)
		return 0;
	if (f)
		field_get(ev, f, 0, &text);
	if (text.form != FORM_TEXT || memchr(text.text, '\n', text.size)) {
		s->unfit++;
		return 0;
	}
	s->scratch.size = 0;
	if (buffer_printf(&s->scratch, "%" PRIu64 ".%09" PRIu64 " ", ev->time / 1000000000,
			  ev->time % 1000000000) ||
	    buffer_append(&s->scratch, text.text, text.size) || buffer_u8(&s->scratch, '\n'))
		return error_no_memory(e);
	if (tree_output_member(&s->tree, "extern.dat", 10, &number, e))
		return -1;
	return tree_output_put(&s->tree, number, s->scratch.data, s->scratch.size, e);
}

/* --- rows --- */

static enum plan plan_instant(const struct type *t)
{
	switch (t->native) {
	case UFTRACE_EV_TASK_NEW: return PLAN_TASK_NEW;
	case UFTRACE_EV_TASK_EXIT: return PLAN_TASK_EXIT;
	case UFTRACE_EV_TASK_COMM: return PLAN_TASK_NAME;
	case UFTRACE_EV_EXTERN: return PLAN_EXTERN;
	}
	return PLAN_EVENT;
}

static enum plan plan_of(const struct type *t)
{
	if (kernel_output_type(t))
		return PLAN_KERNEL;
	switch (t->kind) {
	case KIND_ENTER:
	case KIND_LEAVE: return t->flags & TYPE_INNER ? PLAN_SWITCH : PLAN_CALL;
	case KIND_INSTANT: return plan_instant(t);
	case KIND_GAP: return PLAN_GAP;
	}
	return PLAN_NONE;
}

static int ask_plan(struct state *s, const struct type *t, struct error *e)
{
	size_t n = s->nplans ? s->nplans : 64;
	uint8_t *plans;

	while (n <= t->number)
		n *= 2;
	if (n > s->nplans) {
		plans = realloc(s->plans, n);
		if (!plans)
			return error_no_memory(e);
		memset(plans + s->nplans, PLAN_UNKNOWN, n - s->nplans);
		s->plans = plans;
		s->nplans = n;
	}
	s->plans[t->number] = plan_of(t);
	return 0;
}

static int uftrace_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct state *s = en->state;
	uint32_t type = ev->type->number;
	struct task *t;
	enum plan plan;

	if (ev->lane->source != s->source && take_source(s, ev->lane->source, e))
		return -1;
	if (!s->begun && read_info(s, e))
		return -1;
	if ((type >= s->nplans || !s->plans[type]) && ask_plan(s, ev->type, e))
		return -1;
	plan = s->plans[type];
	if (!(ev->lane->flags & LANE_HAS_TID) && plan != PLAN_EXTERN && plan != PLAN_GAP)
		plan = PLAN_NONE;
	t = task_of(s, ev->lane, e);
	if (!t)
		return -1;
	switch (plan) {
	case PLAN_CALL: return call_record(en, t, ev, e);
	case PLAN_EVENT: return event_record(s, t, ev, e);
	case PLAN_KERNEL: return kernel_record(s, t, ev, e);
	case PLAN_GAP: return gap_record(s, t, ev, e);
	case PLAN_EXTERN: return extern_line(s, ev, e);
	case PLAN_SWITCH:
	case PLAN_TASK_NEW:
	case PLAN_TASK_EXIT:
	case PLAN_TASK_NAME: return perf_record(s, t, ev, plan, e);
	default: s->unfit++; return 0;
	}
}

/* --- the end --- */

/* The recorder makes a file for each CPU that is online, though nothing may come from it. */
static int perf_files(struct state *s, struct error *e)
{
	static const char key[] = "\ncpuinfo:nr_cpus=";
	const char *p;
	uint32_t number, cpus = 0;

	if (!(s->feat_mask & UFTRACE_FEAT_PERF_EVENT))
		return 0;
	p = memmem(s->info.data, s->info.size, key, sizeof(key) - 1);
	if (!p)
		return 0;
	p += sizeof(key) - 1;
	for (; p < (char *)s->info.data + s->info.size && *p >= '0' && *p <= '9'; p++)
		cpus = cpus < CPU_LIMIT ? 10 * cpus + (uint32_t)(*p - '0') : CPU_LIMIT;
	for (uint32_t i = 0; i < cpus && i < CPU_LIMIT; i++)
		if (perf_member(s, i, &number, e))
			return -1;
	return 0;
}

static int uftrace_end(struct encoding *en, struct error *e)
{
	struct state *s = en->state;

	if (!s->begun && read_info(s, e))
		return -1;
	if (perf_files(s, e) || kernel_output_end(&s->kernel, e))
		return -1;
	if (s->damage && !en->options->quiet)
		warn(NULL, NO_OFFSET,
		     "uftrace has no record for damaged or unread input: gaps left out: %" PRIu64,
		     s->damage);
	if (s->unfit && !en->options->quiet)
		warn(NULL, NO_OFFSET, "events or values that uftrace cannot hold: %" PRIu64,
		     s->unfit);
	if (s->unmatched && !en->options->quiet)
		warn(NULL, NO_OFFSET, "leaves without their enter, left out: %" PRIu64,
		     s->unmatched);
	return tree_output_finish(&s->tree, e);
}

static void uftrace_free(struct encoding *en)
{
	struct state *s = en->state;

	if (!s)
		return;
	tree_output_close(&s->tree);
	kernel_output_free(&s->kernel);
	for (size_t i = 0; i < s->ntasks; i++)
		free(s->tasks[i].open);
	free(s->tasks);
	free(s->plans);
	buffer_free(&s->info);
	buffer_free(&s->scratch);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_uftrace = {
	.name = "uftrace",
	.purpose = "a uftrace data directory (-o DIR), or a tar of it",
	.suffixes = "uftrace.data",
	.anew = &encoder_uftrace_anew,
	.needs_meta = true,
	.output = ENCODER_TREE,
	.begin = uftrace_begin,
	.head = uftrace_head,
	.meta = uftrace_meta,
	.event = uftrace_event,
	.end = uftrace_end,
	.free = uftrace_free,
};
