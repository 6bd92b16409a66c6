#include "cmd/trencode/firefox/firefox.h"

#include <inttypes.h>

#include "common/stream/field.h"
#include "common/util/buffer_file.h"
#include "common/util/version.h"
#include "common/value/json.h"
#include "cmd/trencode/convert/convert.h"
#include "cmd/trencode/profile/names.h"
#include "cmd/trencode/profile/sample_profile.h"
#include "common/calls/calls.h"

/* The data of an open call with a number: the bytes of f->kept that are its attributes. */
struct kept_call {
	uint64_t at, size;
};

/* The key of a frame: its category, and the key of a function. */
static int frame_key(struct buffer *to, const struct location *p, struct text_ref name)
{
	bool kernel = p && ((p->symbol && p->symbol->flags & SYMBOL_KERNEL) ||
			    (p->space && p->space->flags & SPACE_KERNEL));
	/* times in which a task is scheduled out are calls of uftrace */
	enum firefox_category c = firefox_begins_with(name, "linux:schedule") ? CATEGORY_IDLE
				  : kernel				      ? CATEGORY_KERNEL
				  : p					      ? CATEGORY_USER
									      : CATEGORY_OTHER;

	return buffer_u8(to, (uint8_t)c) || profile_name_key(to, p, name) ? -1 : 0;
}

/* --- threads --- */

static int begin_thread(struct firefox *f, struct track *t, uint64_t time)
{
	struct firefox_thread *th;

	if (ARRAY_GROW(f->threads, f->capacity, f->nthreads))
		return -1;
	th = calloc(1, sizeof(*th));
	if (!th)
		return -1;
	*th = (struct firefox_thread){.pid = t->pid,
				      .tid = t->tid,
				      .first = time,
				      .last = time,
				      .since = time,
				      .node = STACK_ROOT,
				      .user = STACK_ROOT,
				      .kernel = STACK_ROOT};
	f->threads[f->nthreads++] = th;
	t->user = th;
	return 0;
}

static struct firefox_thread *thread_of(struct firefox *f, const struct event *ev)
{
	struct track *t = tracks_get(&f->tracks, calls_thread(ev), ev->lane);
	struct firefox_thread *th;

	if (!t || (!t->user && begin_thread(f, t, ev->time)))
		return NULL;
	th = t->user;
	if (t->renamed) {
		t->renamed = false;
		th->name.size = 0;
		if (track_name(t, ev->lane, &th->name))
			return NULL;
	}
	if (ev->time > th->last)
		th->last = ev->time;
	if (ev->time < th->first)
		th->first = ev->time;
	return th;
}

/* --- markers --- */

/* Get the index of the string that names an event: of its function, or of its type. */
static int event_name(struct firefox *f, const struct event *ev, uint32_t *name)
{
	struct text_ref text =
		ev->location && ev->type->kind != KIND_SAMPLE
			? dictionary_location_name(f->calls->dictionary, ev->location)
			: ev->type->name;

	*name = intern(&f->strings, text.text, text.size);
	return *name == INTERN_NONE ? -1 : 0;
}

/* Get the node of the stack that an event names in a field, as kernel_stack of ftrace does. */
static int named_stack(struct firefox *f, const struct event *ev, uint32_t *node)
{
	const struct field *field =
		ev->type->has_stacks ? field_by_role(ev->type, ROLE_STACK) : NULL;
	struct field_value v;

	if (!field)
		return 0;
	field_get(ev, field, 0, &v);
	return call_stacks_recorded(&f->stacks, STACK_ROOT,
				    dictionary_stack_id(f->calls->dictionary, (uint32_t)v.u), node);
}

static int32_t cpu_of(const struct lane *lane)
{
	return lane->flags & LANE_HAS_CPU ? lane->cpu : -1;
}

static int take_instant(struct firefox *f, struct firefox_thread *th, const struct event *ev,
			uint32_t node)
{
	struct firefox_marker m = {
		.start = ev->time, .end = ev->time, .node = node, .cpu = cpu_of(ev->lane)};

	buffer_clear(&f->bytes);
	if (named_stack(f, ev, &m.node) || event_name(f, ev, &m.name) ||
	    attributes_append(&f->attributes, ev, &f->bytes))
		return -1;
	return firefox_marker(f, th, m, ev->type->name, &f->bytes);
}

/* Keep the attributes of the enter of a call with a number. */
static int keep_enter(struct firefox *f, const struct event *ev, struct kept_call *kept)
{
	kept->at = f->kept.size;
	if (attributes_append(&f->attributes, ev, &f->kept))
		return -1;
	kept->size = f->kept.size - kept->at;
	return 0;
}

/* Add a call with a number, which may overlap others; leave NULL: it has none. */
static int take_numbered(struct firefox *f, struct firefox_thread *th, const struct call *call,
			 const struct event *leave)
{
	const struct kept_call *kept = call->data;
	struct firefox_marker m = {.start = call->end - call->total,
				   .end = call->end,
				   .interval = true,
				   .cpu = call->lane ? cpu_of(call->lane) : -1};
	struct text_ref name = dictionary_location_name(f->calls->dictionary, call->location);
	struct buffer *bytes = &f->bytes;

	m.name = intern(&f->strings, name.text, name.size);
	buffer_clear(bytes);
	return m.name == INTERN_NONE ||
			       (kept &&
				buffer_append_from(bytes, &f->kept, kept->at, kept->size)) ||
			       (leave && attributes_append(&f->attributes, leave, bytes)) ||
			       firefox_marker(f, th, m, name, bytes)
		       ? -1
		       : 0;
}

/* --- events --- */

static void count_lost(void *ctx, struct stack *s, const struct frame *frame, void *data,
		       enum calls_lost why)
{
	struct firefox *f = ctx;

	(void)s;
	(void)frame;
	(void)data;
	(void)why;
	f->counts.lost++;
}

/* Take the enter or the leave of a call. */
static int take_call(struct firefox *f, struct firefox_thread *th, const struct event *ev)
{
	bool numbered = ev->type->flags & TYPE_CALL_NUMBER;
	struct call done;
	uint32_t node;
	enum calls_result got = calls_next(f->calls, ev, &done);

	if (f->calls->out_of_memory)
		return -1;
	if (numbered) {
		if (got == CALLS_ENTER)
			return keep_enter(f, ev, done.data);
		return got == CALLS_LEAVE ? take_numbered(f, th, &done, ev) : 0;
	}
	if ((got == CALLS_ENTER && call_stacks_enter(&f->stacks, ev)) ||
	    (got == CALLS_LEAVE && call_stacks_leave(&f->stacks, ev, &done, &node)))
		return -1;
	f->counts.values += ev->tail_size != 0;
	if (f->subject == SUBJECT_UNKNOWN)
		f->subject = SUBJECT_CALLS;
	f->counts.left_out += f->subject != SUBJECT_CALLS && got == CALLS_LEAVE;
	return f->subject == SUBJECT_CALLS ? firefox_note_stack(f, th, ev) : 0;
}

static int take_other(struct firefox *f, struct firefox_thread *th, const struct event *ev)
{
	uint32_t node = STACK_ROOT;
	struct call done;

	calls_next(f->calls, ev, &done);
	if (f->calls->out_of_memory)
		return -1;
	if (f->subject == SUBJECT_CALLS && firefox_stack(f, th, ev, &node))
		return -1;
	if (ev->type->kind == KIND_SAMPLE) {
		if (call_stacks_recorded(&f->stacks, STACK_ROOT, ev->stack, &node) ||
		    firefox_sample(f, th, ev, node))
			return -1;
		if (!firefox_is_tracepoint(ev->type))
			return 0;
	}
	return ev->type->kind == KIND_DROP ? 0 : take_instant(f, th, ev, node);
}

static int firefox_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct firefox *f = en->state;
	struct firefox_thread *th = thread_of(f, ev);
	bool call = ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE;

	if (!th)
		return error_no_memory(e);
	if (!f->started) {
		f->started = true;
		f->first = ev->time;
		f->ticks = !en->options->tick && ev->lane->clock &&
			   ev->lane->clock->flags & CLOCK_TICKS;
	}
	f->last = ev->time > f->last ? ev->time : f->last;
	return (call ? take_call(f, th, ev) : take_other(f, th, ev)) ? error_no_memory(e) : 0;
}

static int firefox_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct firefox *f = en->state;

	return attributes_meta(&f->attributes, m) ? error_no_memory(e) : 0;
}

/* --- the run --- */

static int firefox_begin(struct encoding *en, struct error *e)
{
	const char *weight = en->options->weight;
	struct firefox *f = calloc(1, sizeof(*f));

	if (!f)
		return error_no_memory(e);
	en->state = f;
	if (weight && strcmp(weight, "count") != 0 && strcmp(weight, "period") != 0 &&
	    strcmp(weight, "dur") != 0)
		return error_set(e, NULL, NO_OFFSET,
				 "--weight of firefox is dur, count or period, not '%s'", weight);
	f->by_period = weight && !strcmp(weight, "period");
	f->keep_times = en->options->keep_times;
	f->quiet = en->options->quiet;
	f->data.spills = f->kept.spills = true;
	f->bytes.spills = f->json.spills = f->one.spills = true;
	rows_init(&f->samples, sizeof(struct firefox_sample));
	rows_init(&f->markers, sizeof(struct firefox_marker));
	f->calls = en->calls;
	f->calls->data_size = sizeof(struct kept_call);
	f->calls->on_lost = count_lost;
	f->calls->on_lost_ctx = f;
	attributes_init(&f->attributes, en->dictionary);
	if (call_stacks_init(&f->stacks, f->calls, frame_key))
		return error_no_memory(e);
	call_stacks_follow(&f->stacks, f->calls);
	f->stacks.tree.keep = true;
	return 0;
}

/* End all open calls, and the last stack of each thread. */
static int end_threads(struct firefox *f)
{
	struct firefox_thread *th;
	struct call done;
	uint32_t node;

	for (size_t i = 0; i < f->nthreads && f->subject == SUBJECT_CALLS; i++)
		if (firefox_end_stack(f, f->threads[i], f->threads[i]->last))
			return -1;
	if (call_stacks_catch_up(&f->stacks))
		return -1;
	while (calls_finish(f->calls, &done)) {
		if (!done.type || !(done.type->flags & TYPE_CALL_NUMBER)) {
			if (call_stacks_finish(&f->stacks, &done, &node))
				return -1;
			continue;
		}
		th = done.lane && done.lane->thread < f->tracks.count
			     ? f->tracks.tracks[done.lane->thread].user
			     : NULL;
		if (th && take_numbered(f, th, &done, NULL))
			return -1;
	}
	return call_stacks_end(&f->stacks) || f->calls->out_of_memory ? -1 : firefox_order(f);
}

static uint64_t firefox_origin(const struct firefox *f)
{
	uint64_t origin = f->keep_times || !f->started ? 0 : f->first;

	for (size_t i = 0; i < f->nthreads && !f->keep_times; i++)
		if (f->threads[i]->first < origin)
			origin = f->threads[i]->first;
	return origin;
}

/* Write the time between two samples of the thread that has most of them, in ms. */
static void put_interval(const struct firefox *f, struct text *out)
{
	const struct firefox_thread *most = NULL;

	for (size_t i = 0; i < f->nthreads; i++)
		if (!most || f->threads[i]->samples.count > most->samples.count)
			most = f->threads[i];
	if (most && most->samples.count > 1 && most->last > most->first)
		firefox_put_ms(f, out, (most->last - most->first) / most->samples.count);
	else
		text_char(out, '1');
}

static void put_meta(struct firefox *f, struct text *out)
{
	const char *cpu = firefox_cpu_unit(f);

	text_printf(
		out,
		"{\"meta\":{\"product\":\"trutils\",\"importedFrom\":\"trencode " TRUTILS_VERSION
		"\",\"version\":%d,\"preprocessedProfileVersion\":%d,\"processType\":0,"
		"\"stackwalk\":1,\"symbolicated\":true,\"symbolicationNotSupported\":true,"
		"\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		"\"startTime\":0,\"profilingStartTime\":0,\"profilingEndTime\":",
		FIREFOX_GECKO_VERSION, FIREFOX_VERSION);
	firefox_put_ms(f, out, f->last > f->origin ? f->last - f->origin : 1);
	text_puts(out, ",\"interval\":");
	put_interval(f, out);
	text_puts(
		out,
		",\n\"categories\":["
		"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Idle\",\"color\":\"transparent\",\"subcategories\":[\"Other\"]}],\n");
	if (cpu)
		text_printf(out,
			    "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
			    "\"threadCPUDelta\":\"%s\"},\n",
			    cpu);
	text_puts(out, "\"markerSchema\":");
	firefox_put_schemas(f, out);
	text_puts(out, "},\n");
}

static void firefox_report(const struct firefox *f)
{
	if (f->stacks.unnamed)
		remark(NULL,
		       "some functions have an address but no name: run trsym before this program");
	convert_report_calls(&f->calls->counts, f->counts.lost, false, false);
	if (f->counts.left_out && f->subject == SUBJECT_SAMPLES)
		remark(NULL,
		       "the profile is of the samples of '%s', the first type: choose others with "
		       "trfilter 'type == ...'",
		       f->type->name.text);
	remark_count(f->counts.left_out,
		     f->subject == SUBJECT_CALLS
			     ? "{sample|samples} left out: the profile is of calls"
			     : "{event|events} of calls and of other types of samples left out");
	remark_count(f->counts.negative, SAMPLES_NEGATIVE);
	remark_count(f->counts.values,
		     "{call|calls} without {its|their} arguments: stacks have no arguments");
	attributes_report(&f->attributes);
}

static int firefox_end(struct encoding *en, struct error *e)
{
	struct firefox *f = en->state;
	const char *weight = en->options->weight;

	if (f->subject == SUBJECT_SAMPLES && weight && !strcmp(weight, "dur"))
		return error_set(
			e, NULL, NO_OFFSET,
			"--weight dur: the trace has samples, which weigh count or period");
	if (end_threads(f))
		return error_no_memory(e);
	f->origin = firefox_origin(f);
	put_meta(f, en->text);
	if (firefox_put_threads(f, en->text) || firefox_put_shared(f, en->text))
		return error_no_memory(e);
	text_puts(en->text, "}\n");
	if (!f->quiet)
		firefox_report(f);
	return 0;
}

static void firefox_free(struct encoding *en)
{
	struct firefox *f = en->state;

	if (!f)
		return;
	for (size_t i = 0; i < f->nthreads; i++) {
		buffer_free(&f->threads[i]->name);
		free(f->threads[i]);
	}
	free(f->threads);
	rows_free(&f->samples);
	rows_free(&f->markers);
	buffer_free(&f->data);
	buffer_free(&f->kept);
	buffer_free(&f->bytes);
	buffer_free(&f->json);
	buffer_free(&f->one);
	intern_free(&f->strings);
	firefox_free_schemas(&f->schemas);
	tracks_free(&f->tracks);
	attributes_free(&f->attributes);
	call_stacks_free(&f->stacks);
	free(f->index);
	free(f->order);
	free(f);
	en->state = NULL;
}

const struct encoder encoder_firefox = {
	.name = "firefox",
	.suffixes = ".firefox.json",
	.purpose = "samples, calls and events, for profiler.firefox.com",
	.output = ENCODER_TEXT,
	.report = true,
	.deferred = true,
	.drops = true,
	.begin = firefox_begin,
	.meta = firefox_meta,
	.event = firefox_event,
	.end = firefox_end,
	.free = firefox_free,
};
