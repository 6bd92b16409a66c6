/*
 * perf.c - the decoder of perf.data: open it, put its records in order, write their rows
 */
#include "cmd/trdecode/perf/jit.h"
#include "cmd/trdecode/perf/perf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/input/merge.h"

static enum bid perf_probe(const struct input *in)
{
	const uint8_t *d = in->head;
	uint8_t peeked[PERF_PIPE_HEADER];
	uint64_t little, big;

	if (in->tree) {
		size_t n = in->member ? 0
				      : tree_peek(in->tree, PERF_DIRECTORY_DATA, peeked,
						  sizeof peeked);

		d = n == sizeof peeked ? peeked : NULL;
	} else if (in->head_size < PERF_PIPE_HEADER) {
		d = NULL;
	}
	if (!d)
		return BID_NONE;
	little = get_u64(d);
	big = __builtin_bswap64(little);
	if (little != get_u64(PERF_MAGIC_2) && big != get_u64(PERF_MAGIC_2) &&
	    little != get_u64(PERF_MAGIC_1))
		return BID_NONE;
	return BID_HEADER;
}

/* Read the records that a pipe begins with, up to the first one of the kernel. */
static int read_pipe_header(struct perf *p, struct error *e)
{
	for (;;) {
		struct perf_record r;
		int got = perf_files_next(&p->files, &r, e);

		if (got <= 0)
			return got;
		if (r.type < PERF_RECORD_OF_PERF) {
			perf_records_back(p->files.last, &r);
			return 0;
		}
		if (perf_header_record(p, &r, e))
			return -1;
	}
}

static const char *clock_name(int32_t id)
{
	static const char *const names[] = {"realtime",	     "monotonic", "", "",
					    "monotonic_raw", "",	  "", "boot"};
	size_t n = sizeof names / sizeof *names;

	if (id == 11)
		return "tai";
	return id >= 0 && (size_t)id < n && *names[id] ? names[id] : "perf";
}

static void choose_clock(struct perf *p)
{
	struct input *in = p->input;
	const struct perf_attr *a = p->attrs;

	in->clock_name = "perf";
	if (p->nattrs && !(a->sample_type & PERF_SAMPLE_TIME)) {
		in->clock_name = "ticks";
		in->ticks = true;
		return;
	}
	if (p->nattrs && perf_flag(a, PERF_FLAG_USE_CLOCK_ID)) {
		in->clock_name = clock_name(a->clock_id);
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
	if (perf_header_read(p, e) || (p->h.pipe && read_pipe_header(p, e)))
		return -1;
	if (!p->nattrs)
		return error_set(e, in->name, NO_OFFSET, "no event was recorded");
	if (p->h.in_directory && !in->tree)
		return error_set(e, in->name, NO_OFFSET,
				 "the samples are in files beside it: name the directory");
	if (perf_attrs_name(p))
		return error_no_memory(e);
	choose_clock(p);
	return 0;
}

/* Name a thread of which no record has the name, as perf does. */
static uint32_t name_unnamed(struct perf *p, int32_t tid)
{
	char text[16];

	snprintf(text, sizeof text, ":%" PRId32, tid);
	return writer_text(p->w, tid ? text : "swapper");
}

uint32_t perf_lane(struct perf *p, struct perf_thread *t, const struct perf_origin *o)
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

/* --- records in order --- */

/* Find the time of a record; 0: it has none, and is taken at once. */
static uint64_t time_of(struct perf *p, const struct perf_record *r)
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

static int put_record(struct perf *p, const struct perf_record *r)
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
static int take_record(struct perf *p, struct perf_record *r)
{
	r->time = time_of(p, r);
	if (r->time)
		p->read_time = p->files.last->time = r->time;
	if (!r->time && r->type != PERF_RECORD_SAMPLE)
		return put_record(p, r);
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
		int got = perf_files_next(&p->files, &r, e);

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
		} else if (r.type >= PERF_RECORD_KNOWN) {
			input_damage(p->input, p->file.name, r.offset,
				     "a record of type %u, which perf does not have", r.type);
		} else if (r.type >= PERF_RECORD_OF_PERF) {
			p->counts.stat += r.type == PERF_RECORD_STAT;
			if (perf_header_record(p, &r, e))
				return -1;
		} else if (r.type > PERF_RECORD_CALLCHAIN_DEFERRED) {
			p->counts.unknown_types++;
		} else if (take_record(p, &r)) {
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
	struct perf_deferral d;
	struct perf_origin o;
	const uint8_t *body = r->data + PERF_RECORD_HEAD;
	uint64_t n;

	if (r->type == PERF_RECORD_SAMPLE)
		return perf_deferred_add(&p->deferred, r,
					 perf_sample_is_deferred(p, r, &d) ? &d : NULL);
	perf_record_origin(p, r, &o);
	if (r->type == PERF_RECORD_EXIT && o.body >= PERF_FORK_BODY)
		perf_deferred_give_up(&p->deferred, (int32_t)perf_u32(p, body + 8));
	/* the addresses are those of the new program */
	if (r->type == PERF_RECORD_COMM && r->misc & PERF_MISC_COMM_EXEC &&
	    o.body >= PERF_COMM_BODY)
		perf_deferred_give_up(&p->deferred, (int32_t)perf_u32(p, body + 4));
	if (r->type != PERF_RECORD_CALLCHAIN_DEFERRED)
		return perf_deferred_add(&p->deferred, r, NULL);
	n = o.body < PERF_DEFERRED_BODY ? UINT64_MAX : perf_u64(p, body + 8);
	if (n > (o.body - PERF_DEFERRED_BODY) / 8) {
		input_damage(p->input, p->file.name, r->offset,
			     "a deferred call chain that is cut");
		return 0;
	}
	d = (struct perf_deferral){perf_u64(p, body), o.has_tid ? o.tid : -1};
	return perf_deferred_join(&p->deferred, &d, body + PERF_DEFERRED_BODY, n);
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

static int perf_begin(struct input *in, struct error *e)
{
	struct perf *p = in->state;
	struct perf_record r;
	int got;

	if (merge_choose_clock(in, e))
		return -1;
	perf_attrs_settle(p);
	/* the records may come from a process that still records */
	p->deferred.longest = in->file.live && !in->tree ? DEFERRED_LIVE : UINT64_MAX;
	p->pending = perf_pending_new();
	p->spaces.jit = perf_jit_new(in->decoding->sysroot, in->name,
				     strcmp(in->clock_name, "monotonic") != 0);
	if (!p->pending || !p->spaces.jit || perf_spaces_init(&p->spaces, p->w) ||
	    perf_declare(p) || begin_unwinding(p, e))
		return -1;
	got = next_in_order(p, &r, e);
	return got > 0 ? merge_first(in, r.time, e) : got;
}

static int perf_run(struct input *in, uint64_t until, struct error *e)
{
	struct perf *p = in->state;
	struct perf_record r;
	uint64_t limit;
	int got;

	if (!merge_unshifted(until, in->shift, &limit))
		return 0;
	while ((got = next_in_order(p, &r, e)) > 0 && r.time <= limit) {
		p->time = r.time;
		if (put_record(p, &r))
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

static void report(const struct perf *p)
{
	const char *name = p->input->name;
	uint64_t aux_bytes = 0;

	report_unwinding(p);
	warn_count(name, p->counts.unknown_types, "{record has|records have} an unknown type");
	warn_count(name, p->deferred.incomplete,
		   "{sample lacks its|samples lack their} deferred call {chain|chains}");
	warn_count(name, p->deferred.unmatched,
		   "deferred call {chain belongs|chains belong} to no sample");
	warn_count(name, p->counts.stat,
		   "{count|counts} of perf stat were left out: use perf stat report");
	for (size_t i = 0; i < p->files.count; i++)
		aux_bytes += p->files.files[i].aux_bytes;
	warn_count(name, aux_bytes,
		   "{byte|bytes} of an AUX area (Intel PT and the like) were left out");
}

static void perf_close(struct input *in)
{
	struct perf *p = in->state;

	if (!p)
		return;
	if (!in->decoding->quiet)
		report(p);
	perf_unwinder_free(p->unwinder);
	perf_files_free(&p->files);
	perf_queue_free(&p->queue);
	perf_deferred_free(&p->deferred);
	perf_threads_free(&p->threads);
	perf_spaces_free(&p->spaces);
	perf_attrs_free(p);
	if (p->events)
		ftrace_events_free(p->events);
	free(p->events);
	perf_header_free(&p->h);
	if (!p->h.pipe)
		tracecmd_file_close(&p->file);
	free(p->own_name);
	id_cache_free(&p->thread_counters.numbers);
	free(p->thread_counters.values);
	perf_pending_free(p->pending);
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
	.begin = perf_begin,
	.run = perf_run,
	.close = perf_close,
};
