/*
 * uftrace.c - uftrace's directory
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/clip.h"
#include "cmd/trencode/convert.h"
#include "cmd/trencode/tree_output.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/formats.h"
#include "cmd/trencode/tracecmd.h"
#include "common/calls/calls.h"
#include "common/formats/perf.h"
#include "common/formats/uftrace.h"
#include "common/stream/event.h"
#include "common/stream/field.h"
#include "common/stream/reader.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/intern.h"

/*
 * Write kernel-cpuN.dat of a uftrace recording: the kernel's records, in pages of its ring buffer.
 *
 * Functions that return int return 0, or -1: with *e filled where they take it, else out of memory.
 */

/*
 * Encode rows of the stream as the bytes of a uftrace data directory.
 *
 * Layouts: common/formats/uftrace.h. Functions with b append to b. They return 0, or -1 when out of
 * memory, or 1 if the row has another form or does not fit: then b is unchanged.
 */

/* How the rows of a type are written. */
enum uftrace_plan {
	PLAN_UNKNOWN, /* not yet decided */
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

/* The state of the encoder. */
struct uftrace_output {
	struct tree_output tree;
	const struct source *source; /* NULL: none yet */
	struct {
		bool big_endian;
		bool swap;    /* big_endian differs from this machine's order */
		uint8_t word; /* bytes: 4 or 8 */
	} machine;	      /* that made the recording */
	struct buffer info, scratch;
	bool begun;	     /* machine and feat_mask are known */
	bool filtered;	     /* rows were left out */
	bool external;	     /* extern.dat is that of the source */
	struct calls *calls; /* of the run; NULL: in a conversion, which has paired them */
	uint64_t feat_mask;

	uint8_t *plans; /* enum uftrace_plan by type number */
	size_t nplans;
	uint32_t *tasks; /* by thread number: number of the task's file + 1; 0: none yet */
	size_t ntasks;

	struct {
		struct buffer header;	   /* the beginning of kernel_header */
		struct pool cpus;	   /* in the order of their first record */
	} kernel;			   /* its kernel-cpuN.dat files */
	uint64_t damage, unfit, unmatched; /* gaps, rows or values, leaves: left out */
};

enum { COMM_LIMIT = 4096 };

static int uftrace_put_number(struct buffer *b, const struct uftrace_output *s, uint64_t v,
			      unsigned size)
{
	uint8_t p[8];

	tracecmd_put_uint(p, v, size, s->machine.big_endian);
	return buffer_append(b, p, size);
}

/* Append a number that is little-endian in the stream, in the machine's byte order. */
static int put_machine(struct buffer *b, const struct uftrace_output *s, const uint8_t *p, size_t n)
{
	uint8_t turned[16];

	if (!s->machine.big_endian)
		return buffer_append(b, p, n);
	for (size_t i = 0; i < n; i++)
		turned[i] = p[n - 1 - i];
	return buffer_append(b, turned, n);
}

/* Append zeros up to a multiple of `to` bytes after from. */
static int uftrace_pad(struct buffer *b, size_t from, unsigned to)
{
	size_t n = b->size - from;

	return buffer_zero(b, align_up(n, to) - n);
}

static int pack_put_value(struct buffer *b, const struct uftrace_output *s, const struct value *v)
{
	switch (v->tag) {
	case VALUE_NUMBER:
	case VALUE_ENUM: return put_machine(b, s, v->bytes, v->n);
	case VALUE_STRING:
	case VALUE_BLOB:
		if (v->n > UINT16_MAX)
			return 1;
		if (uftrace_put_number(b, s, v->n, 2))
			return -1;
		return buffer_append(b, v->bytes, v->n);
	case VALUE_OPAQUE: return buffer_append(b, v->bytes, v->n);
	}
	return 1;
}

/* Append the values of an ENTRY or EXIT record, in the layout of the function's argument specs. */
static int uftrace_pack_values(struct buffer *b, const struct uftrace_output *s,
			       const uint8_t *tail, size_t n)
{
	size_t from = b->size;
	struct values v;
	struct detail d;
	int r = 0;

	values_begin(&v, tail, n);
	while (!r && values_detail(&v, &d)) {
		r = pack_put_value(b, s, &d.value);
		if (!r)
			r = uftrace_pad(b, from, 4);
	}
	if (!r && v.bad)
		r = 1;
	if (!r)
		r = uftrace_pad(b, from, 8);
	if (r)
		b->size = from;
	return r;
}

/* --- EVENT --- */

/* Append the payload of watch:var: an address, and a value of `size` bytes. */
static int put_watched(struct buffer *b, const struct uftrace_output *s, const struct event *ev)
{
	uint64_t size, value, address;

	if (!field_number(ev, "size", &size) || !field_number(ev, "value", &value) ||
	    !field_number(ev, "address", &address) ||
	    (size != 1 && size != 2 && size != 4 && size != 8))
		return 1;
	return uftrace_put_number(b, s, address, s->machine.word) ||
			       uftrace_put_number(b, s, value, (unsigned)size)
		       ? -1
		       : 0;
}

static int uftrace_put_fields(struct buffer *b, const struct uftrace_output *s,
			      const struct event *ev)
{
	for (uint32_t i = 0; i < ev->type->nfields; i++) {
		const struct field *f = &ev->type->fields[i];
		size_t n;
		const uint8_t *p = field_bytes(ev, f, &n);
		int r;

		if (!p)
			return 1;
		if (f->where == WHERE_FIXED && f->kind != FIELD_BYTES && n <= 8)
			r = put_machine(b, s, p, n);
		else
			r = buffer_append(b, p, n);
		if (r)
			return r;
	}
	return 0;
}

/* Append the payload of an EVENT record: its length, and data from the fields of the row. */
static int uftrace_pack_event(struct buffer *b, const struct uftrace_output *s,
			      const struct event *ev)
{
	size_t from = b->size, n;
	uint16_t length;
	int r = buffer_zero(b, 2);

	if (!r && ev->type->native == UFTRACE_EV_WATCH_VAR && ev->type->fixed_size)
		r = put_watched(b, s, ev);
	else if (!r)
		r = uftrace_put_fields(b, s, ev);
	n = b->size - from - 2;
	if (!r && n > UINT16_MAX)
		r = 1;
	if (!r) {
		length = uftrace_swap16((uint16_t)n, s->machine.swap);
		memcpy(b->data + from, &length, 2);
		r = uftrace_pad(b, from, 8);
	}
	if (r)
		b->size = from;
	return r;
}

/* --- perf --- */

static uint32_t pack_number_of(const struct event *ev, const char *name, uint32_t otherwise)
{
	uint64_t number = otherwise;

	field_number(ev, name, &number);
	return (uint32_t)number;
}

static int pack_put_header(struct buffer *b, const struct uftrace_output *s, uint32_t type,
			   uint32_t misc, size_t size)
{
	return uftrace_put_number(b, s, type, 4) || uftrace_put_number(b, s, misc, 2) ||
	       uftrace_put_number(b, s, size, 2);
}

/* Append the sample that ends each record. */
static int uftrace_put_sample(struct buffer *b, const struct uftrace_output *s, uint32_t pid,
			      uint32_t tid, uint64_t time)
{
	return uftrace_put_number(b, s, pid, 4) || uftrace_put_number(b, s, tid, 4) ||
	       uftrace_put_number(b, s, time, 8);
}

/* Append a SWITCH record, from a sched-out (enter) or sched-in row. */
static int uftrace_pack_switch(struct buffer *b, const struct uftrace_output *s,
			       const struct event *ev, uint64_t time)
{
	bool out = ev->type->kind == KIND_ENTER;
	uint32_t misc = pack_number_of(ev, "misc", out ? PERF_MISC_SWITCH_OUT : 0);

	return pack_put_header(b, s, PERF_RECORD_SWITCH, misc, 24) ||
			       uftrace_put_sample(b, s, (uint32_t)ev->lane->pid,
						  (uint32_t)ev->lane->tid, time)
		       ? -1
		       : 0;
}

/* Append a FORK or EXIT record (perf_type), from a linux:task-new or linux:task-exit row. */
static int uftrace_pack_life(struct buffer *b, const struct uftrace_output *s,
			     const struct event *ev, uint32_t perf_type)
{
	uint32_t pid = pack_number_of(ev, "pid", (uint32_t)ev->lane->pid);
	uint32_t tid = pack_number_of(ev, "tid", (uint32_t)ev->lane->tid);
	struct field_value sampled;

	field_get_role(ev, ROLE_SOURCE_TIME, &sampled);
	if (pack_put_header(b, s, perf_type, pack_number_of(ev, "misc", 0), 48) ||
	    uftrace_put_number(b, s, pid, 4) ||
	    uftrace_put_number(b, s, pack_number_of(ev, "ppid", pid), 4) ||
	    uftrace_put_number(b, s, tid, 4) ||
	    uftrace_put_number(b, s, pack_number_of(ev, "ptid", tid), 4) ||
	    uftrace_put_number(b, s, ev->time, 8) ||
	    uftrace_put_sample(b, s, pack_number_of(ev, "sample_pid", pid),
			       pack_number_of(ev, "sample_tid", tid),
			       sampled.form == FORM_UINT ? sampled.u : ev->time))
		return -1;
	return 0;
}

/* Append a COMM record, from a linux:task-name row. */
static int uftrace_pack_comm(struct buffer *b, const struct uftrace_output *s,
			     const struct event *ev)
{
	uint32_t pid = pack_number_of(ev, "pid", (uint32_t)ev->lane->pid);
	uint32_t tid = pack_number_of(ev, "tid", (uint32_t)ev->lane->tid);
	struct field_value comm;
	size_t padded;

	field_get_role(ev, ROLE_MESSAGE, &comm);
	if (comm.form != FORM_TEXT || comm.size > COMM_LIMIT)
		return 1;
	padded = align_up(comm.size + 1, 8);
	if (pack_put_header(b, s, PERF_RECORD_COMM, pack_number_of(ev, "misc", 0), 32 + padded) ||
	    uftrace_put_number(b, s, pid, 4) || uftrace_put_number(b, s, tid, 4) ||
	    buffer_append(b, comm.text, comm.size) || buffer_zero(b, padded - comm.size) ||
	    uftrace_put_sample(b, s, pid, tid, ev->time))
		return -1;
	return 0;
}

/* --- write kernel-cpuN.dat of a uftrace recording --- */

enum { HEADER_LIMIT = 4096, PAGE_LEAST = 256, PAGE_MOST = 1 << 20, CPUS_MOST = 8192 };

/* The file of one CPU. */
struct kernel_cpu {
	struct tree_output *tree;
	uint32_t cpu, member;
	struct tracecmd_pages pages;
};

/* Append a piece of kernel_header, which records the layout of pages. */
static int kernel_output_header(struct uftrace_output *s, const struct meta *m)
{
	size_t n = HEADER_LIMIT - s->kernel.header.size < m->size
			   ? HEADER_LIMIT - s->kernel.header.size
			   : m->size;

	return m->offset != s->kernel.header.size || !n
		       ? 0
		       : buffer_append(&s->kernel.header, m->data, n);
}

/* Get the number after a key such as "PAGE_SIZE: ", or one that is at least most; 0: there is none.
 */
static uint32_t uftrace_number_after(const struct buffer *b, const char *key, uint32_t most)
{
	const char *p = memmem(b->data, b->size, key, strlen(key)),
		   *end = (const char *)b->data + b->size;
	uint32_t v = 0;

	for (p = p ? p + strlen(key) : end; p < end && *p >= '0' && *p <= '9' && v < most; p++)
		v = 10 * v + (uint32_t)(*p - '0');
	return v;
}

static void set_page_layout(const struct uftrace_output *s, struct tracecmd_pages *p)
{
	uint32_t size = uftrace_number_after(&s->kernel.header, "PAGE_SIZE: ", PAGE_MOST + 1);
	bool valid = size >= PAGE_LEAST && size <= PAGE_MOST && !(size & (size - 1));

	p->big_endian = memmem(s->kernel.header.data, s->kernel.header.size, "ENDIAN: B", 9);
	p->word = uftrace_number_after(&s->kernel.header, "LONG_SIZE: ", 9) == 4 ? 4 : 8;
	p->page_size = valid ? size : 4096;
}

static int uftrace_put_pages(void *context, const void *pages, size_t n, struct error *e)
{
	struct kernel_cpu *c = context;

	return tree_output_put(c->tree, c->member, pages, n, e);
}

/* Find or add the file of a CPU. NULL: e is filled. */
static struct kernel_cpu *uftrace_cpu_of(struct uftrace_output *s, uint32_t cpu, struct error *e)
{
	struct kernel_cpu *c;
	char name[32];
	int n;

	for (uint32_t i = 0; i < s->kernel.cpus.count; i++) {
		c = pool_at(&s->kernel.cpus, i);
		if (c->cpu == cpu)
			return c;
	}
	s->kernel.cpus.element = sizeof(*c);
	c = pool_add(&s->kernel.cpus);
	if (!c) {
		error_no_memory(e);
		return NULL;
	}
	c->tree = &s->tree;
	c->cpu = cpu;
	set_page_layout(s, &c->pages);
	c->pages.put = uftrace_put_pages;
	c->pages.context = c;
	n = snprintf(name, sizeof(name), "kernel-cpu%" PRIu32 ".dat", cpu);
	return tree_output_member(&s->tree, name, (size_t)n, &c->member, e) ? NULL : c;
}

/* Write a row as a record. Returns also 1: the row has no CPU or no record that fits into a page.
 */
static int kernel_output_event(struct uftrace_output *s, const struct event *ev, struct error *e)
{
	struct field_value cpu;
	struct kernel_cpu *c;

	field_get_role(ev, ROLE_CPU, &cpu);
	if (cpu.form == FORM_NONE || cpu.u >= CPUS_MOST || !ev->tail_size)
		return 1;
	c = uftrace_cpu_of(s, (uint32_t)cpu.u, e);
	return c ? tracecmd_pages_record(&c->pages, ev->time, ev->tail, ev->tail_size, e) : -1;
}

/* Write a gap of a CPU: count lost events (UINT64_MAX: unknown). Returns also 1: the lane is not a
 * CPU's. */
static int kernel_output_gap(struct uftrace_output *s, const struct event *ev, uint64_t count,
			     struct error *e)
{
	const struct lane *lane = ev->lane;
	struct kernel_cpu *c;

	if (!(lane->flags & LANE_HAS_CPU) || lane->flags & LANE_HAS_TID || lane->cpu < 0 ||
	    lane->cpu >= CPUS_MOST)
		return 1;
	c = uftrace_cpu_of(s, (uint32_t)lane->cpu, e);
	if (!c)
		return -1;
	if (!c->pages.time)
		c->pages.time = ev->time;
	return tracecmd_pages_lost(&c->pages, count, e);
}

/* Write the remaining pages. */
static int kernel_output_end(struct uftrace_output *s, struct error *e)
{
	for (uint32_t i = 0; i < s->kernel.cpus.count; i++)
		if (tracecmd_pages_end(&((struct kernel_cpu *)pool_at(&s->kernel.cpus, i))->pages,
				       e))
			return -1;
	return 0;
}

static void kernel_output_free(struct uftrace_output *s)
{
	for (uint32_t i = 0; i < s->kernel.cpus.count; i++)
		buffer_free(&((struct kernel_cpu *)pool_at(&s->kernel.cpus, i))->pages.data);
	pool_free(&s->kernel.cpus);
	buffer_free(&s->kernel.header);
}

/* --- the source --- */

/* Set the source: an error if there is another one, as a directory contains one recording. */
static int uftrace_take_source(struct uftrace_output *s, const struct source *source,
			       struct error *e)
{
	if (strcmp(source->format.text, "uftrace") != 0)
		return error_set(e, source->name.text, NO_OFFSET,
				 "events of %s follow events of a uftrace recording: "
				 "--resynthesize writes one recording of both",
				 source->format.text);
	/* parts of one recording decoded separately, or concatenated streams */
	if (s->source && !strcmp(s->source->name.text, source->name.text))
		return error_set(e, NULL, NO_OFFSET,
				 "a uftrace directory contains one recording, and the stream has "
				 "two named '%s': use --resynthesize",
				 source->name.text);
	if (s->source)
		return error_set(e, NULL, NO_OFFSET,
				 "a uftrace directory contains one recording, and the stream has "
				 "'%s' and '%s': use --resynthesize",
				 s->source->name.text, source->name.text);
	s->source = source;
	return 0;
}

/* Read machine and features from info, before the first row. */
static int uftrace_read_info(struct uftrace_output *s, struct error *e)
{
	const uint8_t *p = s->info.data;
	uint64_t feat;

	if (!s->source)
		return error_set(
			e, NULL, NO_OFFSET,
			"the stream has no events of a uftrace recording: nothing to write");
	if (!s->info.size)
		return error_set(e, s->source->name.text, NO_OFFSET,
				 "the recording's 'info' is missing: " WITHOUT_FIRST_SEGMENT);
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

/* --- write rows as records of the files of tasks, perf and the kernel --- */

static int open_task(struct uftrace_output *s, uint32_t *task, const struct lane *lane,
		     struct error *e)
{
	char name[32];
	int n = snprintf(name, sizeof(name), "%" PRId32 ".dat", lane->tid);
	uint32_t number;

	if (tree_output_member(&s->tree, name, (size_t)n, &number, e))
		return -1;
	*task = number + 1;
	return 0;
}

/*
 * Find the depth of a call in a filtered stream: among the calls that are left. Returns also 1: a
 * leave without its enter, which uftrace would show as a call.
 */
static int filtered_depth(struct uftrace_output *s, const struct event *ev, uint32_t *depth,
			  struct error *e)
{
	struct call done;
	enum calls_result got;

	if (!s->calls)
		return 0;
	got = calls_next(s->calls, ev, &done);
	if (s->calls->out_of_memory)
		return error_no_memory(e);
	if (!dictionary_left_out(s->calls->dictionary, ev->lane->thread))
		return 0;
	*depth = calls_depth(s->calls, ev);
	return got == CALLS_NONE;
}

/* --- records --- */

static int uftrace_put_record(struct uftrace_output *s, uint32_t *task, const struct event *ev,
			      struct uftrace_record *r, struct error *e)
{
	uint8_t bytes[UFTRACE_RECORD_SIZE];

	if (!*task && open_task(s, task, ev->lane, e))
		return -1;
	uftrace_record_pack(bytes, s->machine.swap, r);
	if (tree_output_put(&s->tree, *task - 1, bytes, sizeof(bytes), e))
		return -1;
	if (!r->more || !s->scratch.size)
		return 0;
	return tree_output_put(&s->tree, *task - 1, s->scratch.data, s->scratch.size, e);
}

static int call_record(struct encoding *en, uint32_t *task, const struct event *ev, struct error *e)
{
	struct uftrace_output *s = en->state;
	const struct location *location = dictionary_location(en->dictionary, ev->location);
	struct uftrace_record r = {
		.time = ev->time,
		.addr = location ? location->address : 0,
		.type = ev->type->kind == KIND_LEAVE ? UFTRACE_EXIT : UFTRACE_ENTRY,
		.more = ev->type->flags & TYPE_VALUES,
	};
	uint32_t depth = ev->depth;
	int got;

	if (s->filtered) {
		got = filtered_depth(s, ev, &depth, e);
		if (got) {
			s->unmatched += got > 0;
			return got < 0 ? -1 : 0;
		}
	}
	r.depth = (uint16_t)depth;
	if (r.more) {
		s->scratch.size = 0;
		got = uftrace_pack_values(&s->scratch, s, ev->tail, ev->tail_size);
		if (got < 0)
			return error_no_memory(e);
		r.more = !got;
		s->unfit += (uint64_t)got;
	}
	return uftrace_put_record(s, task, ev, &r, e);
}

static int encode_uftrace_event_record(struct uftrace_output *s, uint32_t *task,
				       const struct event *ev, struct error *e)
{
	struct uftrace_record r = {
		.time = ev->time,
		.addr = ev->type->native,
		.type = UFTRACE_EVENT,
		.depth = (uint16_t)ev->depth,
		.more = ev->type->nfields,
	};
	int got = 0;

	s->scratch.size = 0;
	if (r.more)
		got = uftrace_pack_event(&s->scratch, s, ev);
	if (got < 0)
		return error_no_memory(e);
	if (got) {
		s->unfit++;
		return 0;
	}
	return uftrace_put_record(s, task, ev, &r, e);
}

static int gap_record(struct uftrace_output *s, uint32_t *task, const struct event *ev,
		      struct error *e)
{
	struct uftrace_record r = {.type = UFTRACE_LOST};
	bool thread = ev->lane->flags & LANE_HAS_TID;
	struct gap_row g;
	int got = 1;

	if (gap_get(ev, &g) && g.reason == GAP_LOST) {
		/* 0: unknown number; uftrace does not show it, but also clears its stack */
		r.addr = g.count > UFTRACE_ADDR_MASK ? 0 : g.count;
		got = thread ? uftrace_put_record(s, task, ev, &r, e)
			     : kernel_output_gap(s, ev, g.count, e);
	}
	s->damage += got > 0;
	return got < 0 ? -1 : 0;
}

static int kernel_record(struct uftrace_output *s, uint32_t *task, const struct event *ev,
			 struct error *e)
{
	int got;

	/* uftrace reads the kernel's records only of tasks that have a file, even an empty one; the
	 * thread 0 is no task */
	if (!*task && ev->lane->tid && open_task(s, task, ev->lane, e))
		return -1;
	got = kernel_output_event(s, ev, e);
	s->unfit += got > 0;
	return got < 0 ? -1 : 0;
}

/* Find or add the file of perf's records of a CPU. */
static int uftrace_perf_member(struct uftrace_output *s, uint32_t cpu, uint32_t *number,
			       struct error *e)
{
	char name[32];
	int n = snprintf(name, sizeof(name), "perf-cpu%" PRIu32 ".dat", cpu);

	return tree_output_member(&s->tree, name, (size_t)n, number, e);
}

static int perf_record(struct encoding *en, uint32_t *task, const struct event *ev,
		       enum uftrace_plan plan, struct error *e)
{
	struct uftrace_output *s = en->state;
	const struct clip *clip = en->options->clip;
	/* uftrace reads records of perf after those of tasks at the same time, and would end the
	   task's calls before */
	bool cut = clip && clip->closing && ev->time;
	struct field_value cpu;
	uint32_t number;
	int got;

	field_get_role(ev, ROLE_CPU, &cpu);
	s->scratch.size = 0;
	if (plan == PLAN_SWITCH)
		got = uftrace_pack_switch(&s->scratch, s, ev, ev->time - cut);
	else if (plan == PLAN_TASK_NAME)
		got = uftrace_pack_comm(&s->scratch, s, ev);
	else
		got = uftrace_pack_life(&s->scratch, s, ev,
					plan == PLAN_TASK_NEW ? PERF_RECORD_FORK
							      : PERF_RECORD_EXIT);
	if (got < 0)
		return error_no_memory(e);
	if (got || cpu.form == FORM_NONE) {
		s->unfit++;
		return 0;
	}
	/* uftrace reads perf's records only of tasks that have a file, even an empty one */
	if ((!*task && open_task(s, task, ev->lane, e)) ||
	    uftrace_perf_member(s, (uint32_t)cpu.u, &number, e))
		return -1;
	return tree_output_put(&s->tree, number, s->scratch.data, s->scratch.size, e);
}

static int extern_line(struct uftrace_output *s, const struct event *ev, struct error *e)
{
	struct field_value text;
	uint32_t number;

	if (s->external)
		return 0;
	field_get_role(ev, ROLE_MESSAGE, &text);
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

static enum uftrace_plan plan_instant(const struct type *t)
{
	switch (t->native) {
	case UFTRACE_EV_TASK_NEW: return PLAN_TASK_NEW;
	case UFTRACE_EV_TASK_EXIT: return PLAN_TASK_EXIT;
	case UFTRACE_EV_TASK_COMM: return PLAN_TASK_NAME;
	case UFTRACE_EV_EXTERN: return PLAN_EXTERN;
	}
	return PLAN_EVENT;
}

static enum uftrace_plan plan_of(const struct type *t)
{
	/* only types of the kernel's ring buffer have a format file */
	if (t->kind != KIND_GAP && (t->flags & TYPE_KERNEL || t->declaration.size))
		return PLAN_KERNEL;
	switch (t->kind) {
	case KIND_ENTER:
	case KIND_LEAVE: return t->flags & TYPE_INNER ? PLAN_SWITCH : PLAN_CALL;
	case KIND_INSTANT: return plan_instant(t);
	case KIND_GAP: return PLAN_GAP;
	}
	return PLAN_NONE;
}

/* Write an event; events that cannot be written are counted. */
static int uftrace_put_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct uftrace_output *s = en->state;
	uint32_t type = ev->type->number;
	uint32_t *task;
	enum uftrace_plan plan;

	if (ev->lane->source != s->source && uftrace_take_source(s, ev->lane->source, e))
		return -1;
	if (!s->begun && uftrace_read_info(s, e))
		return -1;
	if (ARRAY_REACH(s->plans, s->nplans, type) ||
	    ARRAY_REACH(s->tasks, s->ntasks, ev->lane->thread))
		return error_no_memory(e);
	if (!s->plans[type])
		s->plans[type] = (uint8_t)plan_of(ev->type);
	plan = s->plans[type];
	if (!(ev->lane->flags & LANE_HAS_TID) && plan != PLAN_EXTERN && plan != PLAN_GAP)
		plan = PLAN_NONE;
	task = &s->tasks[ev->lane->thread];
	switch (plan) {
	case PLAN_CALL: return call_record(en, task, ev, e);
	case PLAN_EVENT: return encode_uftrace_event_record(s, task, ev, e);
	case PLAN_KERNEL: return kernel_record(s, task, ev, e);
	case PLAN_GAP: return gap_record(s, task, ev, e);
	case PLAN_EXTERN: return extern_line(s, ev, e);
	case PLAN_SWITCH:
	case PLAN_TASK_NEW:
	case PLAN_TASK_EXIT:
	case PLAN_TASK_NAME: return perf_record(en, task, ev, plan, e);
	default: s->unfit++; return 0;
	}
}

/*
 * Write a uftrace recording from the stream of a uftrace recording.
 *
 * Files that describe the recording are copied (META). The records of each task, and perf's records
 * of each CPU, are made of the rows. If a filter left rows out, depths count the remaining calls
 * only, as uftrace takes the depth of a record as the depth of its stack.
 */

enum {
	INFO_LIMIT = 16 << 20, /* bytes of info that are kept */
	CPU_LIMIT = 8192,
};

static int encode_uftrace_begin(struct encoding *en, struct error *e)
{
	struct uftrace_output *s = calloc(1, sizeof(*s));
	uint32_t number;

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->calls = en->calls;
	if (tree_output_open(&s->tree, en->options->output, "uftrace.data", e))
		return -1;
	/* the first member is moved to its path last: without info there is no recording */
	return tree_output_member(&s->tree, "info", 4, &number, e);
}

static int uftrace_head(struct encoding *en, const struct head *h, struct error *e)
{
	struct uftrace_output *s = en->state;

	(void)e;
	s->filtered |= h->flags & HEAD_FILTERED || en->options->clip;
	return 0;
}

/* Test whether the file is not that of the source, but made of the rows. */
static bool is_rebuilt(const struct uftrace_output *s, const struct meta *m)
{
	if (meta_is(m, "extern.dat"))
		return s->filtered;
	return m->name_size >= 4 && !memcmp(m->name + m->name_size - 4, ".dat", 4);
}

static int encode_uftrace_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct uftrace_output *s = en->state;
	const struct source *source;
	uint32_t number;

	if (!m->source || m->source >= en->dictionary->sources.count)
		return 0;
	source = pool_at(&en->dictionary->sources, m->source);
	if (source != s->source && uftrace_take_source(s, source, e))
		return -1;
	if (m->flags & META_REFERENCE || is_rebuilt(s, m))
		return 0;
	if (!tree_output_name_ok(m->name, m->name_size)) {
		remark(source->name.text,
		       "a part of the recording is left out: its name is not a file name");
		return 0;
	}
	if (tree_output_member(&s->tree, m->name, m->name_size, &number, e))
		return -1;
	s->external |= meta_is(m, "extern.dat");
	/* a repeated piece, or a piece after a missing one (which the reader reported) */
	if (m->offset != tree_output_size(&s->tree, number))
		return 0;
	if (meta_is(m, "kernel_header") && kernel_output_header(s, m))
		return error_no_memory(e);
	if (meta_is(m, "info") && s->info.size + m->size <= INFO_LIMIT &&
	    buffer_append(&s->info, m->data, m->size))
		return error_no_memory(e);
	if (tree_output_put(&s->tree, number, m->data, m->size, e))
		return -1;
	return tree_output_settle(&s->tree, number, e);
}

/* Declare that rows precede the part "info": the records are of a 64-bit, little-endian machine.
 * en: begun by encoder_uftrace. */
static void uftrace_info_later(struct encoding *en, uint64_t feat_mask)
{
	struct uftrace_output *s = en->state;

	s->machine.word = 8;
	s->machine.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	s->feat_mask = feat_mask;
	s->begun = true;
}

/* --- the end --- */

/* Add a file for each CPU, as the recorder does for each online CPU, even without records. */
static int perf_files(struct uftrace_output *s, struct error *e)
{
	uint32_t number, cpus = uftrace_number_after(&s->info, "\ncpuinfo:nr_cpus=", CPU_LIMIT);

	if (!(s->feat_mask & UFTRACE_FEAT_PERF_EVENT))
		return 0;
	for (uint32_t i = 0; i < cpus && i < CPU_LIMIT; i++)
		if (uftrace_perf_member(s, i, &number, e))
			return -1;
	return 0;
}

/* Note beside empty files of tasks that nothing is missing in them. */
static int note_empty(struct uftrace_output *s, struct error *e)
{
	uint32_t number;

	for (size_t i = 0; i < s->ntasks; i++)
		if (s->tasks[i] && !tree_output_size(&s->tree, s->tasks[i] - 1))
			return tree_output_member(&s->tree, UFTRACE_EMPTY, strlen(UFTRACE_EMPTY),
						  &number, e);
	return 0;
}

static uint64_t uftrace_size(const struct encoding *en)
{
	const struct uftrace_output *s = en->state;

	return s->tree.total;
}

static int encode_uftrace_end(struct encoding *en, struct error *e)
{
	struct uftrace_output *s = en->state;

	if ((!s->begun && uftrace_read_info(s, e)) || perf_files(s, e) || kernel_output_end(s, e) ||
	    note_empty(s, e))
		return -1;
	if (!(en->options->flags & ENCODE_QUIET)) {
		remark_count(
			s->damage,
			"{gap|gaps} left out: uftrace has no record for damaged or unread input");
		remark_count(s->unfit,
			     "{event or value|events or values} that uftrace cannot contain");
		remark_count(s->unmatched,
			     "{leave|leaves} without {its|their} enter {is|are} left out");
	}
	return tree_output_finish(&s->tree, e);
}

static void uftrace_free(struct encoding *en)
{
	struct uftrace_output *s = en->state;

	if (!s)
		return;
	tree_output_close(&s->tree);
	kernel_output_free(s);
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
	.conversion = &uftrace_target,
	.needs_meta = true,
	.needs_calls = true,
	.output = ENCODER_TREE,
	.begin = encode_uftrace_begin,
	.head = uftrace_head,
	.meta = encode_uftrace_meta,
	.event = uftrace_put_event,
	.end = encode_uftrace_end,
	.size = uftrace_size,
	.free = uftrace_free,
};

/* --- convert the events of any source to a uftrace recording --- */

/* How one value of a function is stored, in terms of uftrace's argument specifications. */
struct uftrace_stored {
	uint16_t index; /* argument from 1; 0: none */
	char letter;
	uint8_t size; /* bytes; 0: a text */
};

/* The state of the conversion. */
struct uftrace_conversion {
	struct conversion conversion;
	struct {
		struct intern names; /* of modules; the number is the index in list */
		struct uftrace_made_module {
			struct text_ref file; /* basename of the module */
			struct buffer symbols;
			uint32_t count; /* functions */
		} * list;
		size_t capacity;
		struct unique_names files;
	} modules; /* in which functions have addresses, and their symbols */
	struct {
		const struct event *row; /* the row of the call, as read */
		struct intern names;	 /* of functions; the number is the index in list */
		struct uftrace_out_spec {
			bool has[2];		     /* args, ret are decided */
			struct uftrace_stored *args; /* ends with index 0; NULL: none */
			struct uftrace_stored ret[2];
		} * list;
		size_t capacity;
		struct buffer text[2]; /* argspec and retspec of info */
		struct buffer tail, scratch;
		uint64_t changed, some; /* calls that lost all, some values */
		uint64_t cut, blobs;	/* texts, blobs */
	} specs;			/* of the arguments and return values of functions */
	/* numbers in the target dictionary by the stream's; 0: none yet */
	uint32_t *locations;
	size_t locations_size;
	struct type *calls[2][2]; /* [leave][with values] */
	struct convert_arguments arguments;
	struct {
		const struct convert_thread **list; /* in the order of their first row */
		size_t count, capacity;
		uint64_t own; /* threads written as processes, as they have names of their own */
	} tasks;
	struct {
		uint32_t *numbers; /* in the target dictionary by the stream's; 0: none yet */
		size_t size;
		struct buffer events_txt;
		struct buffer external; /* extern.dat from `written` on */
		uint64_t written;	/* bytes of extern.dat */
		struct buffer scratch;
		uint64_t count;
		uint64_t blobs, cut, names_cut; /* blobs, texts, names and groups */
	} events;	  /* user events, whose fields or values are texts in extern.dat */
	uint32_t deepest; /* depth of a call */
	uint64_t calls_written, too_deep, gaps;
	const struct clock *clock; /* of the first event */
};

/*
 * Write .sym files and a map for functions with synthesised addresses.
 *
 * Every function is 16 bytes long (.sym files of uftrace 0.13 contain no sizes), and every module
 * begins at a multiple of 4 GiB, and has the addresses up to the next one.
 */

enum { STRIDE = 16, FIRST = 0x1000, MODULE_SHIFT = 32, MODULES_MOST = 16000 };
enum { FUNCTIONS_MOST = 1 << 27, FILE_MOST = 200 };

static const char *uftrace_basename_of(struct text_ref path, size_t *n)
{
	const char *slash = memrchr(path.text, '/', path.size);

	*n = slash ? path.size - (size_t)(slash + 1 - path.text) : path.size;
	return slash ? slash + 1 : path.text;
}

/* Choose a unique file name for a module. */
static int name_file(struct uftrace_conversion *s, struct text_ref module, struct text_ref *file)
{
	struct buffer b = {0};
	size_t n;
	const char *base = uftrace_basename_of(module, &n);
	int result = -1;

	if (!n || *base == '[')
		base = n ? base + 1 : "unknown", n = n ? n - 1 : 7;
	if (n && base[n - 1] == ']')
		n--;
	if (n > FILE_MOST)
		n = FILE_MOST;
	if ((*base == '.' && buffer_u8(&b, '_')) || convert_name_escaped(&b, base, n, " \"/"))
		goto out;
	if (unique_name(&s->modules.files, &b, "~") == INTERN_NONE)
		goto out;
	*file = target_string(&s->conversion.d, b.data, b.size);
	result = 0;
out:
	buffer_free(&b);
	return result;
}

static int module_of(struct uftrace_conversion *s, struct text_ref name, uint32_t *number)
{
	struct uftrace_made_module *x;
	uint32_t had = s->modules.names.count;

	*number = intern(&s->modules.names, name.text, name.size);
	if (*number == INTERN_NONE)
		return -1;
	if (*number < had || *number >= MODULES_MOST) {
		*number = *number < MODULES_MOST ? *number : MODULES_MOST - 1;
		return 0;
	}
	if (ARRAY_GROW(s->modules.list, s->modules.capacity, had))
		return -1;
	x = &s->modules.list[had];
	*x = (struct uftrace_made_module){.symbols.spills = true};
	return name_file(s, name, &x->file) ||
			       buffer_printf(&x->symbols, "# path name: /%s\n", x->file.text)
		       ? -1
		       : 0;
}

/* Write the table of a module. */
static int put_symbols(struct uftrace_conversion *s, struct uftrace_made_module *x, uint64_t end,
		       struct error *e)
{
	char name[FILE_MOST * 4 + 32];
	int result;

	snprintf(name, sizeof name, "%.*s.sym", FILE_MOST * 4 + 20, x->file.text);
	if (buffer_printf(&x->symbols, "%016" PRIx64 " ? __sym_end\n", end))
		return error_no_memory(e);
	result = target_meta(&s->conversion.d, name, x->symbols.data, x->symbols.size, 0, e);
	buffer_rest(&x->symbols);
	return result;
}

/* Add a function to a module. *address is the new address. */
static int uftrace_symbol(struct uftrace_conversion *s, struct text_ref name,
			  struct text_ref module, uint64_t *address, struct error *e)
{
	struct uftrace_made_module *x;
	uint64_t offset;
	uint32_t number;

	if (module_of(s, module, &number))
		return error_no_memory(e);
	x = &s->modules.list[number];
	if (x->count == FUNCTIONS_MOST)
		return error_set(e, NULL, NO_OFFSET,
				 "more functions in '%.200s' than can be "
				 "written",
				 module.text);
	offset = FIRST + (uint64_t)STRIDE * x->count++;
	*address = ((uint64_t)number + 1) << MODULE_SHIFT | offset;
	if (buffer_printf(&x->symbols, "%016" PRIx64 " T ", offset) ||
	    convert_name_escaped(&x->symbols, name.text, name.size, "") ||
	    buffer_u8(&x->symbols, '\n'))
		return error_no_memory(e);
	return 0;
}

/* Write the symbol tables and the map. */
static int uftrace_symbols_end(struct uftrace_conversion *s, struct error *e)
{
	struct buffer map = {0};
	int result = 0;

	for (uint32_t i = 0; i < s->modules.names.count && i < MODULES_MOST && !result; i++) {
		struct uftrace_made_module *x = &s->modules.list[i];
		uint64_t start = ((uint64_t)i + 1) << MODULE_SHIFT;

		if (buffer_printf(&map,
				  "%012" PRIx64 "-%012" PRIx64
				  " r-xp 00000000 00:00 0                          /%s\n",
				  start, start + ((uint64_t)1 << MODULE_SHIFT), x->file.text))
			result = error_no_memory(e);
		else
			result = put_symbols(s, x, FIRST + (uint64_t)STRIDE * x->count, e);
	}
	/* readers derive the start of the kernel's addresses from the stack's */
	if (!result && buffer_printf(&map, "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0      "
					   "                    [stack]\n"))
		result = error_no_memory(e);
	if (!result)
		result = target_meta(&s->conversion.d, "sid-" UFTRACE_CONVERTED_SID ".map",
				     map.data, map.size, 0, e);
	buffer_free(&map);
	return result;
}

static void uftrace_symbols_free(struct uftrace_conversion *s)
{
	for (uint32_t i = 0; i < s->modules.names.count && i < MODULES_MOST && s->modules.list; i++)
		buffer_free(&s->modules.list[i].symbols);
	free(s->modules.list);
	intern_free(&s->modules.names);
	unique_names_free(&s->modules.files);
}

/*
 * Write task.txt: the threads and their processes.
 *
 * uftrace names processes only, by the programs of their sessions. So a thread with another name
 * than its process is written as a process of its own; a thread without a name is not.
 */

static bool uftrace_has_name(const struct convert_thread *t)
{
	return t->per_cpu || t->comm.size;
}

static bool uftrace_same_name(const struct convert_thread *a, const struct convert_thread *b)
{
	return a->per_cpu == b->per_cpu && a->comm.size == b->comm.size &&
	       !memcmp(a->comm.text, b->comm.text, a->comm.size);
}

static int uftrace_put_name(struct buffer *b, const struct convert_thread *named, int32_t pid)
{
	if (!named)
		return buffer_printf(b, "process-%" PRId32, pid);
	if (named->per_cpu)
		return buffer_printf(b, "interrupts");
	return convert_name_escaped(b, named->comm.text, named->comm.size, "/\"");
}

static int put_session(struct buffer *b, const struct convert_thread *named, int32_t pid)
{
	return buffer_printf(b,
			     "SESS timestamp=0.000000000 pid=%" PRId32 " sid=" UFTRACE_CONVERTED_SID
			     " exename=\"",
			     pid) ||
			       uftrace_put_name(b, named, pid) || buffer_printf(b, "\"\n")
		       ? -1
		       : 0;
}

/* Find the thread that names each process: its main thread, or its first thread with a name. named:
 * by pid, index of the thread + 1. */
static int uftrace_name_processes(const struct uftrace_conversion *s, struct key_map *named)
{
	for (size_t i = 0; i < s->tasks.count; i++) {
		const struct convert_thread *t = s->tasks.list[i];
		uint64_t *thread = key_map_value(named, (uint32_t)t->pid);

		if (!thread)
			return -1;
		if (uftrace_has_name(t) && (!*thread || t->tid == t->pid))
			*thread = i + 1;
	}
	return 0;
}

/* written: by pid, whether the session of the process is. */
static int put_tasks(struct uftrace_conversion *s, const struct key_map *named,
		     struct idmap *written, struct buffer *b)
{
	for (size_t i = 0; i < s->tasks.count; i++) {
		const struct convert_thread *t = s->tasks.list[i];
		uint64_t thread = key_map_get(named, (uint32_t)t->pid);
		const struct convert_thread *process = thread ? s->tasks.list[thread - 1] : NULL;
		bool own = uftrace_has_name(t) && !uftrace_same_name(process, t);
		int32_t pid = own ? t->tid : t->pid;

		s->tasks.own += own;
		if ((own || !idmap_get(written, (uint32_t)t->pid)) &&
		    put_session(b, own ? t : process, pid))
			return -1;
		if ((!own && idmap_set(written, (uint32_t)t->pid, 1)) ||
		    buffer_printf(b, "TASK timestamp=0.000000000 tid=%" PRId32 " pid=%" PRId32 "\n",
				  t->tid, pid))
			return -1;
	}
	return 0;
}

/* Write task.txt. */
static int uftrace_tasks_end(struct uftrace_conversion *s, struct error *e)
{
	struct key_map named = {0};
	struct idmap written = {0};
	struct buffer b = {0};
	int result = uftrace_name_processes(s, &named) || put_tasks(s, &named, &written, &b)
			     ? error_no_memory(e)
			     : target_meta(&s->conversion.d, "task.txt", b.data, b.size, 0, e);

	key_map_free(&named);
	idmap_free(&written);
	buffer_free(&b);
	return result;
}

/* Append the tids, separated by commas. */
static int uftrace_tasks_list(const struct uftrace_conversion *s, struct buffer *b)
{
	for (size_t i = 0; i < s->tasks.count; i++)
		if (buffer_printf(b, "%s%" PRId32, i ? "," : "", s->tasks.list[i]->tid))
			return -1;
	return 0;
}

/*
 * Convert values of any source to those of a uftrace recording.
 *
 * Values in a recording have no types: info declares once for each function how its values are
 * stored. So the function's first call decides. Machine numbers are unchanged, other integers are
 * i64, and all other values are texts.
 */

enum { ARGUMENTS_MOST = 64, CONVERT_VALUES_TEXT_MOST = 1000, FLOATING = 1000, RETVAL = 0xffff };

static bool has_number(const struct value *v, uint64_t *number)
{
	bool is_signed;

	if (v->tag == VALUE_NULL || v->tag == VALUE_FALSE)
		*number = 0;
	else if (v->tag == VALUE_TRUE)
		*number = 1;
	else if (v->tag == VALUE_POINTER || v->tag == VALUE_BITMASK)
		*number = v->number;
	else
		return value_integer(v, NULL, number, &is_signed);
	return true;
}

/* Choose how a value is stored, for the first call of a function. */
static void choose_stored(const struct value *v, struct uftrace_stored *s)
{
	s->letter = 's';
	s->size = 0;
	switch (v->tag) {
	case VALUE_NUMBER:
		/* uftrace 0.13 does not know octal numbers */
		if (v->size != 1 && v->size != 2 && v->size != 4 && v->size != 8 &&
		    !(v->format == 'f' && v->size == 10))
			return;
		s->letter = v->format == 'o' ? 'x' : (char)v->format;
		s->size = v->format == 'c' ? 1 : v->format == 'p' ? 8 : v->size;
		return;
	case VALUE_UINT:
	case VALUE_NEGATIVE:
		s->letter = v->tag == VALUE_UINT && v->number > INT64_MAX ? 'x' : 'i';
		s->size = 8;
		return;
	case VALUE_POINTER:
		s->letter = 'p';
		s->size = 8;
		return;
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		s->letter = 'f';
		s->size = v->tag == VALUE_FLOAT ? 4 : 8;
		return;
	}
}

/* Append the arguments that a leave recorded, in parentheses after the return value. */
static int put_outputs(struct uftrace_conversion *s)
{
	struct buffer *b = &s->specs.scratch;
	size_t from = b->size;

	if (buffer_printf(b, " (") ||
	    convert_text_arguments(b, s->conversion.dictionary, s->specs.row, &s->specs.blobs))
		return -1;
	if (b->size == from + 2)
		b->size = from;
	else
		return buffer_u8(b, ')');
	return 0;
}

static int uftrace_put_text(struct uftrace_conversion *s, const struct uftrace_stored *as,
			    const struct value *v, struct values *at)
{
	struct buffer *b = &s->specs.scratch;

	b->size = 0;
	if (v->tag == VALUE_STRING) {
		const uint8_t *end = v->n ? memchr(v->bytes, 0, v->n) : NULL;
		size_t n = end ? (size_t)(end - v->bytes) : v->n;

		/* a few bytes more, so that convert_text_cut sees the excess */
		n = n < CONVERT_VALUES_TEXT_MOST + 8 ? n : CONVERT_VALUES_TEXT_MOST + 8;
		if (n && buffer_append(b, v->bytes, n))
			return -1;
	} else if (convert_text_value(b, s->conversion.dictionary, at, &s->specs.blobs)) {
		return -1;
	}
	if (as->index == RETVAL && put_outputs(s))
		return -1;
	convert_text_cut(b, 0, CONVERT_VALUES_TEXT_MOST, &s->specs.cut);
	return value_put_bytes(&s->specs.tail, VALUE_STRING, b->data, b->size);
}

/* Append a value, which is at `at`, as `as` requires. 1: the value cannot be stored so. */
static int convert_values_put_value(struct uftrace_conversion *s, const struct uftrace_stored *as,
				    const struct value *v, struct values *at)
{
	uint64_t number;
	uint8_t bytes[8];
	long double real;

	if (value_put_detail(&s->specs.tail, as->index == RETVAL ? DETAIL_RETURN : DETAIL_ARGUMENT,
			     as->index == RETVAL ? 0 : as->index))
		return -1;
	if (as->letter == 's')
		return uftrace_put_text(s, as, v, at);
	if (v->tag == VALUE_NUMBER && v->size == as->size)
		return value_put_number(&s->specs.tail, as->letter, v->bytes, v->size);
	if (as->letter == 'f') {
		float single;
		double twice;

		if (as->size > 8)
			return 1;
		if (!value_real(v, &real)) {
			if (!has_number(v, &number))
				return 1;
			real = (long double)(int64_t)number;
		}
		single = (float)real;
		twice = (double)real;
		memcpy(bytes, as->size == 4 ? (void *)&single : (void *)&twice, as->size);
		return value_put_number(&s->specs.tail, 'f', bytes, as->size);
	}
	if (!has_number(v, &number))
		return 1;
	put_u64(bytes, number);
	return value_put_number(&s->specs.tail, as->letter, bytes, as->size);
}

static int spec_text(struct buffer *b, const struct uftrace_stored *x, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char sep = i ? ',' : '@';

		if (x[i].index == RETVAL ? buffer_printf(b, "%cretval", sep)
		    : x[i].index > FLOATING
			    ? buffer_printf(b, "%cfparg%u", sep, x[i].index - FLOATING)
			    : buffer_printf(b, "%carg%u", sep, x[i].index))
			return -1;
		if (strchr("scp", x[i].letter)
			    ? buffer_printf(b, "/%c", x[i].letter)
			    : buffer_printf(b, "/%c%u", x[i].letter, 8 * x[i].size))
			return -1;
	}
	return buffer_u8(b, ';');
}

static bool has_arguments(const struct event *ev)
{
	struct values v;
	struct detail d;

	values_begin(&v, ev->tail, ev->tail_size);
	while (values_detail(&v, &d))
		if (d.what == DETAIL_ARGUMENT)
			return true;
	return false;
}

static struct uftrace_out_spec *spec_of(struct uftrace_conversion *s, struct text_ref name)
{
	uint32_t number = intern(&s->specs.names, name.text, name.size);

	if (number == INTERN_NONE || ARRAY_REACH(s->specs.list, s->specs.capacity, number))
		return NULL;
	return &s->specs.list[number];
}

/* Decide by the values of the first call how those of later calls are stored. */
static int decide_spec(struct uftrace_conversion *s, struct uftrace_out_spec *spec,
		       const struct event *ev, struct text_ref name, bool leave)
{
	struct uftrace_stored x[ARGUMENTS_MOST + 1] = {{0}};
	struct buffer *text = &s->specs.text[leave];
	unsigned n = 0;
	struct values v;
	struct detail d;

	values_begin(&v, ev->tail, ev->tail_size);
	while (values_detail(&v, &d)) {
		bool wanted = leave ? d.what == DETAIL_RETURN
				    : d.what == DETAIL_ARGUMENT && d.index && d.index < RETVAL;
		unsigned i = 0;

		if (!wanted || n == ARGUMENTS_MOST)
			continue;
		x[n].index = leave ? RETVAL : (uint16_t)d.index;
		while (i < n && x[i].index != x[n].index)
			i++;
		if (i < n) {
			x[n].index = 0; /* the end */
			continue;
		}
		choose_stored(&d.value, &x[n++]);
	}
	if (leave && has_arguments(ev))
		x[0] = (struct uftrace_stored){RETVAL, 's', 0}, n = 1;
	spec->has[leave] = true;
	if (!n || strpbrk(name.text, ";@"))
		return 0;
	if (convert_name_escaped(text, name.text, name.size, "") || spec_text(text, x, n))
		return -1;
	if (leave) {
		spec->ret[0] = x[0];
		return 0;
	}
	spec->args = malloc((n + 1) * sizeof *x);
	if (!spec->args)
		return -1;
	memcpy(spec->args, x, (n + 1) * sizeof *x);
	return 0;
}

/* Append the arguments that a leave without return value recorded. 1: there are none. */
static int put_outputs_alone(struct uftrace_conversion *s, const struct event *ev)
{
	struct buffer *b = &s->specs.scratch;

	b->size = 0;
	if (!has_arguments(ev))
		return 1;
	if (put_outputs(s) || value_put_detail(&s->specs.tail, DETAIL_RETURN, 0))
		return -1;
	convert_text_cut(b, 0, CONVERT_VALUES_TEXT_MOST, &s->specs.cut);
	/* without the leading space */
	return value_put_bytes(&s->specs.tail, VALUE_STRING, b->data + (b->size > 0),
			       b->size - (b->size > 0));
}

/* Append the last recorded value of an argument or return value. 1: there is none. */
static int put_one(struct uftrace_conversion *s, const struct uftrace_stored *as,
		   const struct event *ev)
{
	size_t from = s->specs.tail.size;
	struct values v;
	uint64_t index;
	uint8_t what;
	int got = 1;

	for (values_begin(&v, ev->tail, ev->tail_size); v.at < v.end;) {
		struct values at, after;
		struct value x;

		if (!values_what(&v, &what, &index))
			break;
		if (as->index == RETVAL ? what != DETAIL_RETURN
					: what != DETAIL_ARGUMENT || index != as->index) {
			if (!values_skip(&v))
				break;
			continue;
		}
		at = after = v;
		if (!values_value(&after, &x) || !values_skip(&v))
			break;
		s->specs.tail.size = from;
		got = convert_values_put_value(s, as, &x, &at);
		if (got < 0)
			return -1;
	}
	return got == 1 && as->index == RETVAL && as->letter == 's' ? put_outputs_alone(s, ev)
								    : got;
}

/* Test whether the call has values that the function's specification does not contain. */
static bool has_others(const struct uftrace_stored *x, const struct event *ev, bool leave)
{
	struct values v;
	struct detail d;

	values_begin(&v, ev->tail, ev->tail_size);
	while (values_detail(&v, &d)) {
		const struct uftrace_stored *is = x;

		if (leave) {
			if (d.what == DETAIL_ARGUMENT && x->letter != 's')
				return true;
			continue;
		}
		while (is->index && (d.what != DETAIL_ARGUMENT || is->index != d.index))
			is++;
		if (d.what == DETAIL_ARGUMENT && !is->index)
			return true;
	}
	return false;
}

/*
 * Fill s->specs.tail with the values of a call, in the form that uftrace_pack_values takes; the
 * tail is empty if there are none. ev: the row with its fields as arguments. The first call of a
 * function decides how values of the function are stored. Values of later calls that cannot be
 * stored so are left out and counted.
 */
static int uftrace_put_values(struct uftrace_conversion *s, const struct convert_row *r,
			      const struct event *ev, struct text_ref name)
{
	bool leave = r->what == CONVERT_LEAVE;
	const struct uftrace_stored *x;
	struct uftrace_out_spec *spec;
	unsigned wanted = 0, n = 0;
	struct values v;
	struct detail d;

	s->specs.tail.size = 0;
	if (!ev->tail_size || r->cut)
		return 0;
	s->specs.row = r->ev;
	values_begin(&v, ev->tail, ev->tail_size);
	while (values_detail(&v, &d))
		wanted += d.what == DETAIL_ARGUMENT || (leave && d.what == DETAIL_RETURN);
	if (!wanted)
		return 0;
	spec = spec_of(s, name);
	if (!spec || (!spec->has[leave] && decide_spec(s, spec, ev, name, leave)))
		return -1;
	x = leave ? spec->ret : spec->args;
	for (; x && x->index; x++, n++) {
		int got = put_one(s, x, ev);

		if (got < 0)
			return -1;
		if (got) {
			n = 0;
			break;
		}
	}
	if (!n) {
		s->specs.tail.size = 0;
		s->specs.changed++;
	} else {
		s->specs.some += has_others(leave ? spec->ret : spec->args, ev, leave);
	}
	return 0;
}

static void uftrace_specs_free(struct uftrace_conversion *s)
{
	for (uint32_t i = 0; i < s->specs.names.count && i < s->specs.capacity; i++)
		free(s->specs.list[i].args);
	free(s->specs.list);
	intern_free(&s->specs.names);
	for (int i = 0; i < 2; i++)
		buffer_free(&s->specs.text[i]);
	buffer_free(&s->specs.tail);
	buffer_free(&s->specs.scratch);
}

/* --- events of any source as user events of uftrace --- */

enum { PIECE = 48 * 1024, CONVERT_EVENTS_TEXT_MOST = 2000 };
/* Bytes of an event's group or name: uftrace 0.13 reads each into a buffer without a bounds check.
 */
enum { EVENT_NAME_MOST = 511 };

static int flush_external(struct uftrace_conversion *s, struct error *e)
{
	if (target_meta(&s->conversion.d, "extern.dat", s->events.external.data,
			s->events.external.size, s->events.written, e))
		return -1;
	s->events.written += s->events.external.size;
	s->events.external.size = 0;
	return 0;
}

/* Get the group and name of a user event: uftrace's own names have their group before a colon. */
static void event_name_of(const struct type *t, struct text_ref *group, struct text_ref *name)
{
	const char *colon = memchr(t->name.text, ':', t->name.size);

	*group = t->group.size ? t->group : (struct text_ref){.text = "trace", .size = 5};
	*name = t->name.size ? t->name : (struct text_ref){.text = "unnamed", .size = 7};
	if (colon && type_is_of(t, "uftrace")) {
		*group = (struct text_ref){.text = t->name.text,
					   .size = (uint32_t)(colon - t->name.text)};
		*name = (struct text_ref){.text = colon + 1,
					  .size = t->name.size - group->size - 1};
	}
}

/* Cut an escaped name to at most n bytes after from, not inside of an escape or a character. */
static void convert_name_cut(struct buffer *b, size_t from, size_t n, uint64_t *cut)
{
	const uint8_t *p = b->data + from;

	if (b->size - from <= n)
		return;
	for (size_t back = 1; back < 4 && back <= n; back++)
		if (p[n - back] == '\\' && p[n - back + 1] == 'x') {
			n -= back;
			break;
		}
	convert_text_cut(b, from, n, cut);
}

/* Add a user event of a type to events.txt. */
static int uftrace_new_event(struct uftrace_conversion *s, const struct type *from,
			     uint32_t *number, struct error *e)
{
	struct type *t = target_type(&s->conversion.d, from->name.text, from->group.text);
	struct buffer *b = &s->events.events_txt;
	struct text_ref group, name;
	size_t at;

	if (!t)
		return error_no_memory(e);
	t->native = UFTRACE_EV_USER_FIRST + (uint32_t)s->events.count;
	if (t->native >= UFTRACE_EV_EXTERN)
		return error_set(e, NULL, NO_OFFSET,
				 "uftrace cannot have more than %d types of events",
				 UFTRACE_EV_EXTERN - UFTRACE_EV_USER_FIRST);
	s->events.count++;
	if (buffer_printf(b, "EVENT: %" PRIu32 " ", t->native))
		return error_no_memory(e);
	event_name_of(from, &group, &name);
	at = b->size;
	if (convert_name_escaped(b, group.text, group.size, " :"))
		return error_no_memory(e);
	convert_name_cut(b, at, EVENT_NAME_MOST, &s->events.names_cut);
	if (buffer_u8(b, ':'))
		return error_no_memory(e);
	at = b->size;
	if (convert_name_escaped(b, name.text, name.size, " "))
		return error_no_memory(e);
	convert_name_cut(b, at, EVENT_NAME_MOST, &s->events.names_cut);
	*number = t->number;
	return buffer_u8(b, '\n') ? error_no_memory(e) : 0;
}

/* Find or add the user event of a type. */
static int uftrace_event_type(struct uftrace_conversion *s, const struct type *from,
			      const struct type **out, struct error *e)
{
	if (ARRAY_REACH(s->events.numbers, s->events.size, from->number))
		return error_no_memory(e);
	if (!s->events.numbers[from->number] &&
	    uftrace_new_event(s, from, &s->events.numbers[from->number], e))
		return -1;
	*out = dictionary_type(&s->conversion.d.dictionary, s->events.numbers[from->number]);
	return 0;
}

/* Write the fields or values of an event as a line of extern.dat. */
static int uftrace_event_text(struct uftrace_conversion *s, const struct convert_row *r,
			      struct error *e)
{
	struct buffer *b = &s->events.scratch, *to = &s->events.external;
	const struct event *ev = r->ev;
	struct text_ref name;

	b->size = 0;
	if (ev->location) {
		name = dictionary_location_name(s->conversion.dictionary, ev->location);
		if (buffer_append(b, name.text, name.size) || buffer_u8(b, ' '))
			return error_no_memory(e);
	}
	if (convert_text_row(b, s->conversion.dictionary, ev, &s->events.blobs))
		return error_no_memory(e);
	if (!b->size)
		return 0;
	convert_text_cut(b, 0, CONVERT_EVENTS_TEXT_MOST, &s->events.cut);
	if (buffer_printf(to, "%" PRIu64 ".%09" PRIu64 " ", r->time / 1000000000,
			  r->time % 1000000000) ||
	    convert_name_escaped(to, ev->type->name.text, ev->type->name.size, "") ||
	    buffer_printf(to, "[%" PRId32 "]: ", r->thread->tid) ||
	    convert_name_escaped(to, (const char *)b->data, b->size, "") || buffer_u8(to, '\n'))
		return error_no_memory(e);
	return to->size < PIECE ? 0 : flush_external(s, e);
}

/* Write events.txt and the rest of extern.dat. */
static int uftrace_events_end(struct uftrace_conversion *s, struct error *e)
{
	if (s->events.count &&
	    target_meta(&s->conversion.d, "events.txt", s->events.events_txt.data,
			s->events.events_txt.size, 0, e))
		return -1;
	return s->events.external.size || s->events.written ? flush_external(s, e) : 0;
}

static void uftrace_events_free(struct uftrace_conversion *s)
{
	free(s->events.numbers);
	buffer_free(&s->events.events_txt);
	buffer_free(&s->events.external);
	buffer_free(&s->events.scratch);
}

/*
 * Convert the events of any source to a uftrace recording.
 *
 * Calls become records of functions in synthesised modules. Other events become user events, with
 * their fields or values as text in extern.dat. Each thread becomes a task; all tasks have the same
 * session. The encoder of uftrace's own streams writes the records.
 */

enum { FIELDS_MOST = 64 };
/* Frames of a task that uftrace records and shows by default. */
enum { STACK_USUAL = 1024 };
static const uint64_t FEATURES = UFTRACE_FEAT_PLTHOOK | UFTRACE_FEAT_TASK_SESSION |
				 UFTRACE_FEAT_ARGUMENT | UFTRACE_FEAT_RETVAL |
				 UFTRACE_FEAT_SYM_REL_ADDR | UFTRACE_FEAT_MAX_STACK |
				 UFTRACE_FEAT_EVENT;

static int begin_types(struct uftrace_conversion *s)
{
	static const char *const names[] = {"entry", "exit"};

	for (int leave = 0; leave < 2; leave++)
		for (int values = 0; values < 2; values++) {
			struct type *t = target_type(&s->conversion.d, names[leave], "uftrace");

			if (!t)
				return -1;
			t->kind = leave ? KIND_LEAVE : KIND_ENTER;
			t->flags = TYPE_DEPTH | (values ? TYPE_VALUES | TYPE_TAIL : 0);
			t->native = (uint32_t)leave;
			s->calls[leave][values] = t;
		}
	return 0;
}

/* --- threads --- */

static int uftrace_lane_of(struct uftrace_conversion *s, const struct convert_row *r,
			   const struct lane **out, struct error *e)
{
	if (!r->thread->lane) {
		if (ARRAY_GROW(s->tasks.list, s->tasks.capacity, s->tasks.count))
			return error_no_memory(e);
		s->tasks.list[s->tasks.count++] = r->thread;
	}
	*out = convert_thread_lane(&s->conversion, r->thread);
	return *out ? 0 : error_no_memory(e);
}

/* --- calls --- */

static int uftrace_location_of(struct uftrace_conversion *s, uint32_t number, uint32_t *out,
			       struct error *e)
{
	struct dictionary *from = s->conversion.dictionary;
	const struct location *location = dictionary_location(from, number);
	struct text_ref module = {"", 0, 0};
	struct location *p;

	if (ARRAY_REACH(s->locations, s->locations_size, number))
		return error_no_memory(e);
	if (!s->locations[number]) {
		if (location && location->symbol)
			module = location->symbol->module;
		convert_use_location(&s->conversion, number);
		p = target_location(&s->conversion.d);
		if (!p)
			return error_no_memory(e);
		if (uftrace_symbol(s, dictionary_location_name(from, number), module, &p->address,
				   e))
			return -1;
		s->locations[number] = p->number;
	}
	*out = s->locations[number];
	return 0;
}

static int uftrace_convert_call(void *state, const struct convert_row *r, struct error *e)
{
	struct uftrace_conversion *s = state;
	bool leave = r->what == CONVERT_LEAVE;
	struct event ev = {.time = r->time, .depth = r->depth}, joined;

	if (uftrace_lane_of(s, r, &ev.lane, e) ||
	    uftrace_location_of(s, r->location, &ev.location, e))
		return -1;
	if (convert_arguments_join(&s->arguments, r->ev, &joined) ||
	    uftrace_put_values(s, r, &joined,
			       dictionary_location_name(s->conversion.dictionary, r->location)))
		return error_no_memory(e);
	ev.type = s->calls[leave][s->specs.tail.size > 0];
	if (s->specs.tail.size) {
		ev.tail = s->specs.tail.data;
		ev.tail_size = (uint32_t)s->specs.tail.size;
	}
	s->calls_written++;
	s->too_deep += !leave && r->depth >= STACK_USUAL;
	if (r->depth > s->deepest)
		s->deepest = r->depth;
	return target_event(&s->conversion.d, &ev, e);
}

/* --- other events --- */

static int uftrace_convert_instant(void *state, const struct convert_row *r, struct error *e)
{
	struct uftrace_conversion *s = state;
	struct target_dictionary *d = &s->conversion.d;
	struct event ev = {.time = r->time, .depth = r->thread->below + (uint32_t)r->thread->count};

	if (uftrace_event_type(s, r->ev->type, &ev.type, e) || uftrace_lane_of(s, r, &ev.lane, e) ||
	    target_event(d, &ev, e))
		return -1;
	return uftrace_event_text(s, r, e);
}

static int uftrace_convert_gap(void *state, const struct convert_row *r, struct error *e)
{
	struct uftrace_conversion *s = state;
	const struct lane *lane;
	struct gap_row g;

	if (!r->thread || r->ev->type->fixed_size < 24 || !gap_get(r->ev, &g) ||
	    g.reason != GAP_LOST) {
		s->gaps++;
		return 0;
	}
	return uftrace_lane_of(s, r, &lane, e) || convert_put_gap(&s->conversion, r, lane, e) ? -1
											      : 0;
}

static int uftrace_convert_start(void *state, const struct lane *lane, struct error *e)
{
	struct uftrace_conversion *s = state;

	(void)e;
	if (lane)
		s->clock = lane->clock;
	uftrace_info_later(&s->conversion.d.encoding, FEATURES);
	return 0;
}

static void uftrace_convert_drop(void *state)
{
	struct uftrace_conversion *s = state;

	uftrace_symbols_free(s);
	uftrace_specs_free(s);
	free(s->locations);
	convert_arguments_free(&s->arguments);
	uftrace_events_free(s);
	free(s->tasks.list);
}

static int uftrace_convert_init(void *state, struct error *e)
{
	struct uftrace_conversion *s = state;

	s->arguments.dictionary = s->conversion.dictionary;
	s->arguments.most = FIELDS_MOST;
	return begin_types(s) ? error_no_memory(e) : 0;
}

/* --- the end --- */

/* Get the frames that readers keep for each task; at least the recorder's default. */
static uint16_t max_stack(const struct uftrace_conversion *s)
{
	return s->deepest < STACK_USUAL	  ? STACK_USUAL
	       : s->deepest >= UINT16_MAX ? UINT16_MAX
					  : (uint16_t)(s->deepest + 1);
}

static int convert_put_header(const struct uftrace_conversion *s, struct buffer *b)
{
	uint64_t info = 1u << UFTRACE_INFO_EXE_NAME | 1u << UFTRACE_INFO_CMDLINE |
			1u << UFTRACE_INFO_TASKINFO | 1u << UFTRACE_INFO_ARG_SPEC |
			1u << UFTRACE_INFO_PATTERN_TYPE | 1u << UFTRACE_INFO_VERSION;
	uint8_t h[UFTRACE_HEADER_SIZE] = UFTRACE_MAGIC;

	if (s->clock->flags & CLOCK_HAS_WALL)
		info |= 1u << UFTRACE_INFO_UTC_OFFSET;
	put_u32(h + UFTRACE_HDR_VERSION, UFTRACE_VERSION);
	put_u16(h + UFTRACE_HDR_SIZE, UFTRACE_HEADER_SIZE);
	h[UFTRACE_HDR_ENDIAN] = 1;
	h[UFTRACE_HDR_CLASS] = 2;
	put_u64(h + UFTRACE_HDR_FEAT_MASK, FEATURES);
	put_u64(h + UFTRACE_HDR_INFO_MASK, info);
	put_u16(h + UFTRACE_HDR_MAX_STACK, max_stack(s));
	return buffer_append(b, h, sizeof h);
}

static int put_info(struct uftrace_conversion *s, struct error *e)
{
	struct buffer b = {0};
	int result = 0;

	if (convert_put_header(s, &b) ||
	    buffer_printf(&b,
			  "exename:/trace\ncmdline:trencode -t uftrace \ntaskinfo:lines=2\n"
			  "taskinfo:nr_tid=%zu\ntaskinfo:tids=",
			  s->tasks.count) ||
	    uftrace_tasks_list(s, &b) || buffer_printf(&b, "\nargspec:lines=2\nargspec:") ||
	    buffer_append(&b, s->specs.text[0].data, s->specs.text[0].size) ||
	    buffer_printf(&b, "\nretspec:") ||
	    buffer_append(&b, s->specs.text[1].data, s->specs.text[1].size) ||
	    buffer_printf(&b, "\npattern_type:simple\nuftrace_version:v0.13 ( x86_64 )\n") ||
	    (s->clock->flags & CLOCK_HAS_WALL &&
	     buffer_printf(&b, "utc_offset:%" PRId64 "\n", s->clock->wall / 1000000000)))
		result = error_no_memory(e);
	if (!result)
		result = target_meta(&s->conversion.d, "info", b.data, b.size, 0, e);
	buffer_free(&b);
	return result;
}

static void uftrace_convert_report(void *state)
{
	struct uftrace_conversion *s = state;
	struct conversion *a = &s->conversion;

	convert_lost(a, a->counts.with_cpu,
		     "{event is|events are} written without {its|their} CPU: uftrace has none");
	convert_lost(a, a->counts.comms,
		     "{event is|events are} written with a name that {its thread|their threads} "
		     "had at another time");
	convert_lost(a, s->tasks.own,
		     "{thread is a process|threads are processes} of {its|their} own, as {it has a "
		     "name|they have names} of {its|their} own");
	convert_lost(a, s->gaps, "{gap|gaps} of a CPU, or of damaged input, {is|are} left out");
	convert_lost(a, s->specs.changed,
		     "{call is|calls are} written without {its|their} values: their types differ "
		     "from the function's first call");
	convert_lost(a, s->specs.some,
		     "{call is|calls are} written without the values that the function's first "
		     "call lacks");
	convert_lost(a, s->too_deep,
		     "{call is|calls are} deeper than 1024 levels: uftrace shows {it|them} only if "
		     "its -D is "
		     "larger");
	convert_lost(a, s->specs.blobs + s->events.blobs,
		     "{blob is written as its size|blobs are written as their sizes}");
	convert_lost(a, s->arguments.lost,
		     "{field is|fields are} left out, of calls with more than 64 fields");
	convert_lost(a, s->specs.cut + s->events.cut,
		     "{text was|texts were} cut to 1000 bytes (of events: 2000)");
	convert_lost(a, s->events.names_cut,
		     "{name or group|names and groups} of events {is|are} cut to 511 bytes, as "
		     "uftrace reads no more");
}

static int uftrace_convert_end(void *state, struct error *e)
{
	struct uftrace_conversion *s = state;
	const struct clip *clip = s->conversion.options->clip;

	/* the last part of --split may have events only */
	if (!s->calls_written && !(clip && clip->part.number))
		return error_set(e, NULL, NO_OFFSET,
				 "the stream has no calls, and uftrace shows nothing else "
				 "(%" PRIu64 " other events came)",
				 s->conversion.rows);
	return uftrace_symbols_end(s, e) || uftrace_tasks_end(s, e) || uftrace_events_end(s, e) ||
			       put_info(s, e)
		       ? -1
		       : 0;
}

const struct convert_target uftrace_target = {
	.native = &encoder_uftrace,
	.format = "uftrace",
	.state_size = sizeof(struct uftrace_conversion),
	.closes = true,
	.nests = true,
	.replays = true,
	.needs_time = true,
	.no_zero = true,
	.init = uftrace_convert_init,
	.begin = uftrace_convert_start,
	.call = uftrace_convert_call,
	.instant = uftrace_convert_instant,
	.gap = uftrace_convert_gap,
	.end = uftrace_convert_end,
	.report = uftrace_convert_report,
	.drop = uftrace_convert_drop,
};
