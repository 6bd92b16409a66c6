#include "cmd/trencode/timeline/chrome_scheduling.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/timeline/scheduling.h"
#include "common/value/json.h"

/* The processes of one source. */
struct source_processes {
	int32_t cpus, states; /* pids; 0: none yet */
};

struct chrome_scheduling {
	struct scheduling scheduling;
	struct chrome_output *out;
	struct source_processes *processes; /* by source */
	size_t nprocesses;
	struct intern tracks; /* pid and tid of the tracks that have a name */
	uint32_t *comms;      /* of each track: the string that is its name */
	size_t ncomms;
	bool several; /* more than one source has processes */
};

/* --- names of processes and tracks --- */

static void put_metadata(struct chrome_scheduling *c, const char *what, int32_t pid, int32_t tid)
{
	struct chrome_output *s = c->out;

	text_puts(s->out, s->any ? ",\n" : "");
	s->any = true;
	text_printf(s->out,
		    "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"" CHROME_DERIVED_MARK
		    "\":true,\"name\":\"%s\",\"args\":{",
		    pid, tid, what);
}

static void put_process(struct chrome_scheduling *c, int32_t pid, const char *name,
			const struct source *source, int order)
{
	struct text *out = c->out->out;

	put_metadata(c, "process_name", pid, 0);
	text_puts(out, "\"name\":");
	if (c->several && source) {
		struct buffer *b = &c->out->bytes;

		buffer_clear(b);
		/* a name that memory does not suffice for is the plain one */
		if (!buffer_printf(b, "%s of %s", name, source->name.text))
			json_string(out, (const char *)b->data, b->size);
		else
			json_string(out, name, strlen(name));
	} else {
		json_string(out, name, strlen(name));
	}
	text_puts(out, "}}");
	put_metadata(c, "process_sort_index", pid, 0);
	text_printf(out, "\"sort_index\":%d}}", order);
}

static struct source_processes *processes_of(struct chrome_scheduling *c,
					     const struct source *source)
{
	uint32_t number = source ? source->number : 0;
	struct source_processes *p;

	if (ARRAY_REACH(c->processes, c->nprocesses, number))
		return NULL;
	p = c->processes;
	p += number;
	if (p->cpus)
		return p;
	if (tracks_new_process(&c->out->tracks, number, 0, &p->cpus) ||
	    tracks_new_process(&c->out->tracks, number, 1, &p->states))
		return NULL;
	put_process(c, p->cpus, "CPUs", source, -2);
	put_process(c, p->states, "Thread states", source, -1);
	c->several = true;
	return p;
}

struct place {
	int32_t pid, tid;
};

/* Get the numbers of a track. A new track, or a thread with a new name, gets its name. */
static int place_of(struct chrome_scheduling *c, enum scheduling_track track,
		    const struct scheduling_cpu *cpu, const struct scheduling_thread *thread,
		    struct place *place, struct error *e)
{
	static const char *const names[] = {"CPU %d", "CPU %d irq", "CPU %d softirq"};
	bool state = track == TRACK_STATE;
	struct source_processes *p = processes_of(c, state ? thread->source : cpu->source);
	uint32_t had = c->tracks.count, number, *comms;
	struct text_ref comm;

	if (!p)
		return error_no_memory(e);
	place->pid = state ? p->states : p->cpus;
	/* numbers of CPUs that no machine has share tracks: modulo 2^32 */
	place->tid = state ? thread->tid : (int32_t)((uint32_t)cpu->cpu * 3 + track + 1);
	number = intern(&c->tracks, place, sizeof *place);
	if (number == INTERN_NONE || ARRAY_REACH(c->comms, c->ncomms, number))
		return error_no_memory(e);
	comms = c->comms;
	if (c->tracks.count == had && (!state || comms[number] == thread->comm))
		return 0;
	put_metadata(c, "thread_name", place->pid, place->tid);
	if (!state) {
		text_puts(c->out->out, "\"name\":\"");
		text_printf(c->out->out, names[track], cpu->cpu);
		text_puts(c->out->out, "\"}}");
		put_metadata(c, "thread_sort_index", place->pid, place->tid);
		text_printf(c->out->out, "\"sort_index\":%d}}", place->tid);
		return 0;
	}
	comms[number] = thread->comm;
	comm = dictionary_string(c->scheduling.dictionary, thread->comm);
	buffer_clear(&c->out->bytes);
	if (buffer_append(&c->out->bytes, comm.text, comm.size) ||
	    buffer_printf(&c->out->bytes, "%s%d", comm.size ? " " : "", thread->tid))
		return error_no_memory(e);
	text_puts(c->out->out, "\"name\":");
	json_string(c->out->out, (const char *)c->out->bytes.data, c->out->bytes.size);
	text_puts(c->out->out, "}}");
	return 0;
}

/* --- events --- */

static bool ticks_of(const struct chrome_scheduling *c)
{
	return c->out->clock && c->out->clock->flags & CLOCK_TICKS;
}

/* Write the beginning of a line, up to the time. */
static void put_line(struct chrome_scheduling *c, const char *phase, const struct place *place,
		     uint64_t time)
{
	struct chrome_output *s = c->out;
	char *p = line_room(s);

	p = PUT(p, "{\"ph\":\"");
	p = put(p, phase, strlen(phase));
	p += sprintf(p,
		     "\",\"pid\":%d,\"tid\":%d,\"cat\":\"" CHROME_DERIVED "\",\"ts\":", place->pid,
		     place->tid);
	text_wrote(s->out, put_stamp(s, p, time, ticks_of(c)));
}

static void put_thread_name(struct chrome_scheduling *c, const struct scheduling_thread *t)
{
	struct text *out = c->out->out;
	struct text_ref comm = dictionary_string(c->scheduling.dictionary, t->comm);

	if (comm.size)
		json_string(out, comm.text, comm.size);
	else
		text_printf(out, t->tid ? "\"thread %d\"" : "\"idle\"", t->tid);
}

/* What viewers show of each state; the colours are names that Chrome's viewer has. */
static const struct state_look {
	const char *name, *colour;
} looks[THREAD_STATES] = {
	[THREAD_RUNNING] = {"Running", "thread_state_running"},
	[THREAD_RUNNABLE] = {"Runnable", "thread_state_runnable"},
	[THREAD_SLEEPING] = {"Sleeping", "thread_state_sleeping"},
	[THREAD_UNINTERRUPTIBLE] = {"Uninterruptible", "thread_state_uninterruptible"},
	[THREAD_STOPPED] = {"Stopped", "thread_state_unknown"},
	[THREAD_TRACED] = {"Traced", "thread_state_unknown"},
	[THREAD_PARKED] = {"Parked", "thread_state_sleeping"},
	[THREAD_IDLE] = {"Idle", "thread_state_sleeping"},
};

/* Write the name of a slice, and its arguments; each argument but the first has a comma. */
static void put_cpu_slice(struct chrome_scheduling *c, const struct scheduling_slice *slice)
{
	struct text *out = c->out->out;

	put_thread_name(c, slice->thread);
	if (!slice->thread->tid)
		text_puts(out, ",\"cname\":\"grey\"");
	text_printf(out, ",\"args\":{\"tid\":%d", slice->thread->tid);
	if (slice->cpu->has_prio && !slice->unseen)
		text_printf(out, ",\"prio\":%d", slice->cpu->prio);
	if (*slice->end_state) {
		text_puts(out, ",\"end_state\":");
		json_string(out, slice->end_state, strlen(slice->end_state));
	}
}

static void put_state_slice(struct chrome_scheduling *c, const struct scheduling_slice *slice)
{
	struct text *out = c->out->out;

	text_printf(out, "\"%s\",\"cname\":\"%s\",\"args\":{", looks[slice->state].name,
		    looks[slice->state].colour);
	text_printf(out, "\"cpu\":%d", slice->cpu->cpu);
	if (slice->waker) {
		text_printf(out, ",\"waker_tid\":%d,\"waker\":", slice->waker->tid);
		put_thread_name(c, slice->waker);
	}
}

static void put_irq_slice(struct chrome_scheduling *c, const struct scheduling_slice *slice)
{
	bool soft = slice->track == TRACK_SOFTIRQ;
	struct text_ref name = dictionary_string(c->scheduling.dictionary, slice->irq->name);
	struct text *out = c->out->out;

	if (name.size)
		json_string(out, name.text, name.size);
	else
		text_printf(out, soft ? "\"softirq %" PRId64 "\"" : "\"irq %" PRId64 "\"",
			    slice->irq->number);
	text_printf(out, soft ? ",\"args\":{\"vec\":%" PRId64 : ",\"args\":{\"irq\":%" PRId64,
		    slice->irq->number);
	if (slice->has_ret)
		text_printf(out, ",\"ret\":%" PRId64, slice->ret);
}

static int chrome_put_slice(void *ctx, const struct scheduling_slice *slice, struct error *e)
{
	struct chrome_scheduling *c = ctx;
	struct text *out = c->out->out;
	struct place place;
	char *p;

	if (slice->unfinished && c->out->options->drop)
		return 0;
	if (place_of(c, slice->track, slice->cpu, slice->thread, &place, e))
		return -1;
	put_line(c, "X", &place, slice->start);
	p = PUT(text_room(out, LINE_FIXED), ",\"dur\":");
	p = put_time(p, slice->end - slice->start, ticks_of(c));
	text_wrote(out, PUT(p, ",\"name\":"));
	switch (slice->track) {
	case TRACK_CPU: put_cpu_slice(c, slice); break;
	case TRACK_STATE: put_state_slice(c, slice); break;
	default: put_irq_slice(c, slice);
	}
	if (slice->unseen)
		text_puts(out, ",\"" CHROME_UNSEEN "\":true");
	/* viewers end a B without an E at the last event of its track, so there is none */
	if (slice->unfinished)
		text_puts(out, c->scheduling.at_end ? ",\"open\":true"
						    : ",\"" CHROME_UNFINISHED "\":true");
	text_puts(out, "}}");
	return 0;
}

static int chrome_put_flow(void *ctx, const struct scheduling_flow *flow, struct error *e)
{
	struct chrome_scheduling *c = ctx;
	struct place from, to;

	if (place_of(c, flow->track, flow->from, NULL, &from, e) ||
	    place_of(c, TRACK_CPU, flow->to, NULL, &to, e))
		return -1;
	put_line(c, "s", &from, flow->start);
	text_printf(c->out->out, ",\"id\":%" PRIu64 ",\"name\":\"wakeup\"}", flow->number);
	put_line(c, "f", &to, flow->end);
	text_printf(c->out->out, ",\"id\":%" PRIu64 ",\"bp\":\"e\",\"name\":\"wakeup\"}",
		    flow->number);
	return 0;
}

/* Write a counter of a CPU, or of the process whose thread the event is of. */
static void put_counter(struct chrome_scheduling *c, const struct place *place, uint64_t time,
			const char *name)
{
	put_line(c, "C", place, time);
	text_puts(c->out->out, ",\"name\":");
	json_string(c->out->out, name, strlen(name));
}

static int memory_counter(struct chrome_scheduling *c, const struct scheduling_type *t,
			  const struct event *ev, struct error *e)
{
	static const char *const members[] = {"file", "anon", "swap", "shmem"};
	struct place place;
	const struct track *track;
	int64_t member, size, current = 1, id = 0;
	char name[64];

	if (!scheduling_number(t, ev, MEMORY_MEMBER, &member) ||
	    !scheduling_number(t, ev, MEMORY_SIZE, &size))
		return 0;
	track = tracks_get(&c->out->tracks, calls_thread(ev), ev->lane);
	if (!track)
		return error_no_memory(e);
	place = (struct place){track->pid, track->tid};
	if (member >= 0 && member < 4)
		snprintf(name, sizeof name, "rss %s", members[member]);
	else
		snprintf(name, sizeof name, "rss %" PRId64, member);
	/* of a process that does not run here only the number of its memory is known */
	if (scheduling_number(t, ev, MEMORY_CURRENT, &current) && !current &&
	    scheduling_number(t, ev, MEMORY_ID, &id))
		snprintf(name + strlen(name), sizeof name - strlen(name), " of mm %" PRId64, id);
	put_counter(c, &place, ev->time, name);
	text_printf(c->out->out, ",\"args\":{\"size\":%" PRId64 "}}", size);
	return 0;
}

static int chrome_counter(void *ctx, const struct scheduling_type *t, const struct event *ev,
			  struct error *e)
{
	struct chrome_scheduling *c = ctx;
	struct scheduling_cpu cpu = {.source = ev->lane->source};
	int64_t number = 0, state = 0, high = 0;
	struct place place;
	char name[64];

	if (t->kind == SCHEDULING_MEMORY)
		return memory_counter(c, t, ev, e);
	if (!scheduling_number(t, ev, t->kind == SCHEDULING_LIMITS ? LIMITS_CPU : POWER_CPU,
			       &number) ||
	    number < 0 || number >= 1 << 16 || !scheduling_number(t, ev, POWER_STATE, &state))
		return 0;
	cpu.cpu = (int32_t)number;
	if (place_of(c, TRACK_CPU, &cpu, NULL, &place, e))
		return -1;
	snprintf(name, sizeof name, "CPU %d %s", cpu.cpu,
		 t->kind == SCHEDULING_IDLE	   ? "idle state"
		 : t->kind == SCHEDULING_FREQUENCY ? "frequency"
						   : "frequency limits");
	put_counter(c, &place, ev->time, name);
	if (t->kind == SCHEDULING_LIMITS) {
		scheduling_number(t, ev, LIMITS_HIGH, &high);
		text_printf(c->out->out, ",\"args\":{\"min\":%" PRId64 ",\"max\":%" PRId64 "}}",
			    state, high);
	} else if (t->kind == SCHEDULING_FREQUENCY) {
		text_printf(c->out->out, ",\"args\":{\"kHz\":%" PRId64 "}}", state);
	} else {
		/* viewers draw from 0 on: the deeper the state the higher */
		text_printf(c->out->out, ",\"args\":{\"state\":%" PRId64 "}}",
			    (uint32_t)state == UINT32_MAX ? 0 : state + 1);
	}
	return 0;
}

static const struct scheduling_sink sink = {
	.slice = chrome_put_slice, .flow = chrome_put_flow, .counter = chrome_counter};

/* --- the interface --- */

struct chrome_scheduling *chrome_scheduling_new(struct chrome_output *s)
{
	struct chrome_scheduling *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->out = s;
	scheduling_init(&c->scheduling, s->names.dictionary, &sink, c);
	return c;
}

void chrome_scheduling_free(struct chrome_scheduling *c)
{
	if (!c)
		return;
	scheduling_free(&c->scheduling);
	intern_free(&c->tracks);
	free(c->processes);
	free(c->comms);
	free(c);
}

int chrome_scheduling_event(struct chrome_scheduling *c, const struct event *ev, struct error *e)
{
	return scheduling_event(&c->scheduling, ev, e);
}

int chrome_scheduling_lost(struct chrome_scheduling *c, struct error *e)
{
	return scheduling_lost(&c->scheduling, e);
}

int chrome_scheduling_finish(struct chrome_scheduling *c, struct error *e)
{
	if (scheduling_finish(&c->scheduling, e))
		return -1;
	if (!c->out->options->quiet)
		remark_count(c->scheduling.unpaired,
			     "{end|ends} of interrupts without a beginning: no slice");
	return 0;
}
