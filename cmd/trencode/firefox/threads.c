/*
 * threads.c - the threads of a profile, with their samples and markers
 */
#include <inttypes.h>

#include "cmd/trencode/firefox/firefox.h"
#include "common/value/json.h"

enum { NS_MS = 1000000, TICKS_MS = 1000 };

void firefox_put_ms(const struct firefox *f, struct text *out, uint64_t time)
{
	unsigned unit = f->ticks ? TICKS_MS : NS_MS, width = f->ticks ? 3 : 6;
	uint64_t rest = time % unit;

	text_u64(out, time / unit);
	if (!rest)
		return;
	for (; rest % 10 == 0; width--)
		rest /= 10;
	text_char(out, '.');
	text_u64_wide(out, rest, width, '0');
}

/* A column of samples, or of markers. */
typedef void put_cell(const struct firefox *f, struct text *out, const void *record, void *last);

static void put_rows(struct firefox *f, struct text *out, struct rows *rows,
		     const struct row_list *list, put_cell *put)
{
	struct row_cursor at = {0};
	uint64_t last = f->origin;
	const void *record;

	for (bool first = true; (record = rows_next(rows, list, &at)) && !text_failed(out);
	     first = false) {
		if (!first)
			text_char(out, ',');
		put(f, out, record, &last);
	}
	text_char(out, ']');
}

static struct firefox_sample sample_at(const void *record)
{
	struct firefox_sample s;

	memcpy(&s, record, sizeof s);
	return s;
}

static struct firefox_marker marker_at(const void *record)
{
	struct firefox_marker m;

	memcpy(&m, record, sizeof m);
	return m;
}

static void put_stack(const struct firefox *f, struct text *out, uint32_t node)
{
	if (node == STACK_ROOT)
		text_puts(out, "null");
	else
		text_u64(out, f->index[stack_tree_resolve(
				      (struct stack_tree *)(uintptr_t)&f->stacks.tree, node)]);
}

/* A clock may step back; the times of the format must not. */
static void put_sample_time(const struct firefox *f, struct text *out, const void *record,
			    void *last)
{
	uint64_t *latest = last, time = sample_at(record).time;

	*latest = time > *latest ? time : *latest;
	firefox_put_ms(f, out, *latest - f->origin);
}

static void put_sample_stack(const struct firefox *f, struct text *out, const void *record,
			     void *last)
{
	(void)last;
	put_stack(f, out, sample_at(record).node);
}

static void put_sample_weight(const struct firefox *f, struct text *out, const void *record,
			      void *last)
{
	(void)last;
	if (f->subject == SUBJECT_CALLS || f->type->flags & TYPE_WEIGHT_TIME)
		firefox_put_ms(f, out, sample_at(record).weight);
	else
		text_u64(out, sample_at(record).weight);
}

static void put_sample_cpu(const struct firefox *f, struct text *out, const void *record,
			   void *last)
{
	(void)f;
	(void)last;
	text_u64(out, sample_at(record).weight);
}

static void put_marker_start(const struct firefox *f, struct text *out, const void *record,
			     void *last)
{
	(void)last;
	firefox_put_ms(f, out, marker_at(record).start - f->origin);
}

static void put_marker_end(const struct firefox *f, struct text *out, const void *record,
			   void *last)
{
	struct firefox_marker m = marker_at(record);

	(void)last;
	if (m.interval)
		firefox_put_ms(f, out, m.end - f->origin);
	else
		text_puts(out, "null");
}

static void put_marker_name(const struct firefox *f, struct text *out, const void *record,
			    void *last)
{
	(void)f;
	(void)last;
	text_u64(out, marker_at(record).name);
}

static void put_marker_phase(const struct firefox *f, struct text *out, const void *record,
			     void *last)
{
	(void)f;
	(void)last;
	text_char(out, marker_at(record).interval ? '1' : '0');
}

static void put_marker_category(const struct firefox *f, struct text *out, const void *record,
				void *last)
{
	(void)f;
	(void)record;
	(void)last;
	text_char(out, '0' + CATEGORY_OTHER);
}

static void put_marker_data(const struct firefox *f, struct text *out, const void *record,
			    void *last)
{
	struct firefox_marker m = marker_at(record);

	(void)last;
	text_put_buffer(out, &f->data, m.data, m.size);
	if (m.node != STACK_ROOT) {
		text_puts(out, ",\"cause\":{\"time\":");
		firefox_put_ms(f, out, m.start - f->origin);
		text_puts(out, ",\"stack\":");
		put_stack(f, out, m.node);
		text_char(out, '}');
	}
	text_char(out, '}');
}

static void put_samples(struct firefox *f, struct text *out, const struct firefox_thread *th)
{
	bool weighs = f->subject == SUBJECT_CALLS || f->by_period;
	bool time = f->subject == SUBJECT_CALLS ||
		    (f->by_period && f->type && f->type->flags & TYPE_WEIGHT_TIME);

	text_printf(out, "\"samples\":{\"length\":%" PRIu64 ",\"weightType\":\"%s\",\n\"time\":[",
		    th->samples.count, time ? "tracing-ms" : "samples");
	put_rows(f, out, &f->samples, &th->samples, put_sample_time);
	text_puts(out, ",\n\"stack\":[");
	put_rows(f, out, &f->samples, &th->samples, put_sample_stack);
	text_puts(out, weighs ? ",\n\"weight\":[" : ",\n\"weight\":null");
	if (weighs)
		put_rows(f, out, &f->samples, &th->samples, put_sample_weight);
	if (firefox_cpu_unit(f)) {
		text_puts(out, ",\n\"threadCPUDelta\":[");
		put_rows(f, out, &f->samples, &th->samples, put_sample_cpu);
	}
	text_puts(out, "},\n");
}

static void put_markers(struct firefox *f, struct text *out, const struct firefox_thread *th)
{
	static const struct {
		const char *name;
		put_cell *put;
	} columns[] = {
		{"startTime", put_marker_start},   {"endTime", put_marker_end},
		{"name", put_marker_name},	   {"phase", put_marker_phase},
		{"category", put_marker_category}, {"data", put_marker_data},
	};

	text_printf(out, "\"markers\":{\"length\":%" PRIu64, th->markers.count);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		text_printf(out, ",\n\"%s\":[", columns[i].name);
		put_rows(f, out, &f->markers, &th->markers, columns[i].put);
	}
	text_char(out, '}');
}

/* The name of each process, by its number: that of its main thread, else of its first one. */
struct processes {
	struct intern pids;
	const struct firefox_thread **named; /* by number in pids */
	size_t capacity;
};

static int name_processes(const struct firefox *f, struct processes *p)
{
	for (size_t i = 0; i < f->nthreads; i++) {
		const struct firefox_thread *th = f->threads[i], **named;
		uint32_t had = p->pids.count, number = intern(&p->pids, &th->pid, sizeof th->pid);
		if (number == INTERN_NONE || ARRAY_GROW(p->named, p->capacity, number))
			return -1;
		named = p->named;
		if (number == had || th->tid == th->pid)
			named[number] = th;
	}
	return 0;
}

static void put_thread(struct firefox *f, struct text *out, const struct firefox_thread *th,
		       const struct firefox_thread *process)
{
	text_puts(out, "{\"name\":");
	json_string(out, (const char *)th->name.data, th->name.size);
	text_puts(out, ",\"processName\":");
	json_string(out, (const char *)process->name.data, process->name.size);
	text_printf(out,
		    ",\"pid\":\"%d\",\"tid\":%d,\"isMainThread\":%s,\"processType\":\"default\","
		    "\"showMarkersInTimeline\":true,\"pausedRanges\":[],\"processStartupTime\":0,"
		    "\"processShutdownTime\":null,\"registerTime\":",
		    th->pid, th->tid, th->pid == th->tid ? "true" : "false");
	firefox_put_ms(f, out, th->first - f->origin);
	text_puts(out, ",\"unregisterTime\":");
	firefox_put_ms(f, out, th->last - f->origin);
	text_puts(out, ",\n");
	put_samples(f, out, th);
	put_markers(f, out, th);
	text_char(out, '}');
}

int firefox_put_threads(struct firefox *f, struct text *out)
{
	const struct firefox_thread nothing = {0};
	struct processes p = {0};
	int bad = name_processes(f, &p);

	text_puts(out, "\"threads\":[");
	for (size_t i = 0; i < f->nthreads && !bad; i++) {
		const struct firefox_thread *th = f->threads[i];

		text_puts(out, i ? ",\n" : "\n");
		put_thread(f, out, th, p.named[intern_find(&p.pids, &th->pid, sizeof th->pid)]);
	}
	/* readers take no profile without a thread */
	if (!f->nthreads)
		put_thread(f, out, &nothing, &nothing);
	text_puts(out, "],\n");
	intern_free(&p.pids);
	free(p.named);
	return bad;
}
