/*
 * random_trace.h - traces as the four systems make them, and worse ones, with segments that end
 * anywhere
 *
 * Threads run functions that call each other and themselves, are scheduled out, call the kernel,
 * put other programs in their place; events get lost.
 */
#ifndef TR_T_UNIT_RANDOM_TRACE_H
#define TR_T_UNIT_RANDOM_TRACE_H

#include "common/calls/calls_writer.h"
#include "t/unit/stream.h"

static uint64_t random_state;
static bool random_snapshots; /* the segments have snapshots */

static inline void random_seed(uint64_t seed)
{
	random_state = hash_u64(seed + 0x9e3779b97f4a7c15u);
}

/* 0 to n - 1. */
static inline unsigned pick(unsigned n)
{
	random_state += 0x9e3779b97f4a7c15u;
	return (unsigned)(hash_u64(random_state) >> 33) % n;
}

enum { RT_LANES = 4, RT_LOCATIONS = 8, RT_DEPTH = 40 };

enum rt_system { RT_UFTRACE, RT_FTRACE, RT_APITRACE, RT_LTTNG, RT_CHAOS, RT_SYSTEMS };

struct random_trace {
	struct writer w;
	struct calls_writer *maker;
	uint64_t time;
	enum rt_system system;
	uint32_t lanes[RT_LANES], locations[RT_LOCATIONS];
	/* with and without a recorded depth, on CPUs, in the kernel, with numbers; scheduled */
	uint32_t enter, enter_args, leave, leave_value, plain_enter, plain_leave, irq_enter,
		irq_leave, cpu_enter, cpu_leave, kernel_enter, kernel_leave, call_enter, call_leave,
		out, in, note, kernel_note;
	struct rt_stack {
		uint32_t location[RT_DEPTH];
		unsigned depth, kernel;
		bool away;
	} stacks[RT_LANES];
	uint32_t open[16], nopen, calls;
	unsigned lossy; /* one row in so many is lost; 0 none */
	unsigned cuts;	/* one border in so many rows */
};

static inline uint32_t rt_type(struct random_trace *t, const char *name, int kind, uint16_t flags,
			       bool number)
{
	struct writer *w = &t->w;
	struct field_entry fields[] = {
		{writer_text(w, number ? "call" : "size"), 0, FIELD_UINT,
		 number ? ROLE_CALL : ROLE_NONE, WHERE_FIXED, 0, 4, 0, 0},
		{writer_text(w, "note"), 0, FIELD_STRING, ROLE_NONE, WHERE_REST, 0, 1, 0, 0},
	};
	bool instant = kind == KIND_INSTANT;

	return writer_type(w, &(struct type_entry){.source = 1,
						   .name = writer_text(w, name),
						   .group = writer_text(w, "random"),
						   .kind = (uint8_t)kind,
						   .flags = flags,
						   .fixed_size = number || instant ? 4 : 0,
						   .nfields = instant ? 2 : number,
						   .fields = fields});
}

static inline void rt_types(struct random_trace *t)
{
	t->enter = rt_type(t, "entry", KIND_ENTER, TYPE_DEPTH, false);
	t->enter_args =
		rt_type(t, "entry", KIND_ENTER, TYPE_DEPTH | TYPE_TAIL | TYPE_VALUES, false);
	t->leave = rt_type(t, "exit", KIND_LEAVE, TYPE_DEPTH, false);
	t->leave_value =
		rt_type(t, "exit", KIND_LEAVE, TYPE_DEPTH | TYPE_TAIL | TYPE_VALUES, false);
	t->plain_enter = rt_type(t, "sys_enter", KIND_ENTER, 0, false);
	t->plain_leave = rt_type(t, "sys_exit", KIND_LEAVE, 0, false);
	t->irq_enter = rt_type(t, "irq_entry", KIND_ENTER, TYPE_PER_CPU, false);
	t->irq_leave = rt_type(t, "irq_exit", KIND_LEAVE, TYPE_PER_CPU, false);
	t->cpu_enter = rt_type(t, "cpu_entry", KIND_ENTER, TYPE_PER_CPU | TYPE_DEPTH, false);
	t->cpu_leave = rt_type(t, "cpu_exit", KIND_LEAVE, TYPE_PER_CPU | TYPE_DEPTH, false);
	t->kernel_enter = rt_type(t, "k_entry", KIND_ENTER, TYPE_DEPTH | TYPE_KERNEL, false);
	t->kernel_leave = rt_type(t, "k_exit", KIND_LEAVE, TYPE_DEPTH | TYPE_KERNEL, false);
	t->call_enter =
		rt_type(t, "enter", KIND_ENTER, TYPE_CALL_NUMBER | TYPE_TAIL | TYPE_VALUES, true);
	t->call_leave =
		rt_type(t, "leave", KIND_LEAVE, TYPE_CALL_NUMBER | TYPE_TAIL | TYPE_VALUES, true);
	t->out = rt_type(t, "sched-out", KIND_ENTER, TYPE_INNER, false);
	t->in = rt_type(t, "sched-in", KIND_LEAVE, TYPE_INNER, false);
	t->note = rt_type(t, "note", KIND_INSTANT, TYPE_TAIL, false);
	t->kernel_note = rt_type(t, "k_note", KIND_INSTANT, TYPE_TAIL | TYPE_KERNEL, false);
}

static inline void rt_begin(struct random_trace *t, struct output *o)
{
	static const char *const names[RT_LOCATIONS] = {"main", "f", "g",      "h",
							"leaf", "",  "execve", "execl"};
	struct writer *w = &t->w;
	uint32_t space, source, clock;
	uint64_t id = (uint64_t)pick(1u << 31) << 32 | pick(1u << 31);

	must(!writer_init(w, o, 0), "writer");
	if (pick(8) == 0)
		w->head.flags = HEAD_FILTERED;
	if (random_snapshots) {
		w->head.flags |= HEAD_SEGMENTED;
		t->maker = calls_writer_new(w);
		must(t->maker, "maker");
	}
	must(!writer_begin(w, id), "begin");
	clock = writer_clock(w,
			     &(struct clock_entry){writer_text(w, "monotonic"),
						   t->system == RT_APITRACE ? CLOCK_TICKS : 0, 0});
	source = writer_source(
		w, &(struct source_entry){writer_text(w, "random"), writer_text(w, "x"), 8, 0});
	space = writer_space(w, &(struct space_entry){source, writer_text(w, "s"), 7, 0});
	must(source == 1 && space, "declarations");
	for (unsigned i = 0; i < RT_LANES; i++)
		t->lanes[i] = writer_lane(
			w, &(struct lane_entry){
				   source, clock, 0, writer_text(w, i & 1 ? "a" : "b"),
				   LANE_HAS_TID | LANE_HAS_PID |
					   (t->system == RT_UFTRACE ? 0 : LANE_HAS_CPU),
				   (int32_t)(i & 1), i == 3 ? 0 : (int32_t)(10 + i / 2), 7, 1});
	for (unsigned i = 0; i < RT_LOCATIONS; i++) {
		uint32_t p = t->locations[i] =
			writer_location(w, &(struct location_entry){space, 0, 0x1000 + i, 0, 0});

		if (*names[i])
			must(!writer_symbol(w, p,
					    &(struct symbol_entry){
						    .start = 0x1000 + i,
						    .name = names[i],
						    .name_size = (uint32_t)strlen(names[i])}),
			     "symbol");
	}
	rt_types(t);
}

static inline void rt_row(struct random_trace *t, unsigned lane, uint32_t type, uint32_t location,
			  uint32_t depth)
{
	if (t->lossy && !pick(t->lossy))
		return;
	must(!writer_row(&t->w, t->time, t->lanes[lane], type, location, depth), "row");
}

static inline void rt_value(struct buffer *b, enum detail_kind what, uint64_t index)
{
	static const char *const texts[] = {"red", "green", "blue"};
	const char *text = texts[pick(3)];
	int32_t value = (int32_t)pick(5);

	must(!value_put_detail(b, what, index), "detail");
	if (index == 2 && pick(2))
		must(!value_put_bytes(b, VALUE_STRING, text, strlen(text)), "text");
	else
		must(!value_put_number(b, 'i', &value, 4), "number");
}

/* The first argument or a returned value; and of calls with a number more arguments, some of them
 * at enter and at leave. */
static inline void rt_values(struct random_trace *t, unsigned lane, uint32_t type,
			     uint32_t location, uint32_t depth, enum detail_kind what,
			     const void *fixed, uint32_t n)
{
	struct buffer b = {0};

	if (t->lossy && !pick(t->lossy))
		return;
	rt_value(&b, what, what == DETAIL_ARGUMENT);
	for (unsigned i = 1; fixed && i <= 3; i++)
		if ((i > 1 || what == DETAIL_RETURN) && !pick(3))
			rt_value(&b, DETAIL_ARGUMENT, i);
	must(!writer_row_data(&t->w, (struct new_row){.time = t->time,
						      .lane = t->lanes[lane],
						      .type = type,
						      .location = location,
						      .depth = depth,
						      .fixed = fixed,
						      .fixed_size = n,
						      .tail = b.data,
						      .tail_size = (uint32_t)b.size,
						      .has_tail = true}),
	     "row with values");
	buffer_free(&b);
}

static inline void rt_note(struct random_trace *t, unsigned lane, uint32_t type)
{
	static const char *const texts[] = {"one", "two", "three"};
	uint8_t fixed[4] = {(uint8_t)pick(9)};
	const char *text = texts[pick(3)];

	must(!writer_row_data(&t->w, (struct new_row){.time = t->time,
						      .lane = t->lanes[lane],
						      .type = type,
						      .fixed = fixed,
						      .fixed_size = 4,
						      .tail = text,
						      .tail_size = (uint32_t)strlen(text),
						      .has_tail = true}),
	     "note");
}

static inline void rt_enter(struct random_trace *t, unsigned lane)
{
	struct rt_stack *s = &t->stacks[lane];
	/* execs are rare, but for some traces */
	uint32_t location = t->locations[pick(pick(12) ? RT_LOCATIONS - 2 : RT_LOCATIONS)];

	if (s->depth == RT_DEPTH)
		return;
	s->location[s->depth] = location;
	if (t->system == RT_UFTRACE && !pick(3))
		rt_values(t, lane, t->enter_args, location, s->depth, DETAIL_ARGUMENT, NULL, 0);
	else
		rt_row(t, lane, t->enter, location, s->depth);
	s->depth++;
	if (location >= t->locations[RT_LOCATIONS - 2] && pick(2))
		s->depth = pick(2); /* it succeeded */
}

static inline void rt_leave(struct random_trace *t, unsigned lane)
{
	struct rt_stack *s = &t->stacks[lane];

	if (!s->depth)
		return;
	s->depth--;
	if (!pick(30)) {
		s->depth -= pick(s->depth + 1); /* longjmp */
		return;
	}
	if (t->system == RT_UFTRACE && !pick(3))
		rt_values(t, lane, t->leave_value, s->location[s->depth], s->depth, DETAIL_RETURN,
			  NULL, 0);
	else
		rt_row(t, lane, t->leave, pick(20) ? s->location[s->depth] : 0, s->depth);
}

static inline void rt_kernel(struct random_trace *t, unsigned lane)
{
	struct rt_stack *s = &t->stacks[lane];

	if (s->kernel < 4 && (!s->kernel || pick(2)))
		rt_row(t, lane, t->kernel_enter, t->locations[1 + pick(4)], s->kernel++);
	else
		rt_row(t, lane, t->kernel_leave, pick(9) ? t->locations[1 + pick(4)] : 0,
		       --s->kernel);
}

static inline void rt_number(struct random_trace *t, unsigned lane)
{
	uint8_t fixed[4];

	if (t->nopen < 16 && pick(2)) {
		put_u32(fixed, t->open[t->nopen++] = t->calls++);
		rt_values(t, lane, t->call_enter, t->locations[pick(RT_LOCATIONS)], 0,
			  DETAIL_ARGUMENT, fixed, 4);
	} else if (t->nopen) {
		unsigned which = pick(t->nopen);

		put_u32(fixed, t->open[which]);
		t->open[which] = t->open[--t->nopen];
		rt_values(t, lane, t->call_leave, pick(2) ? t->locations[pick(RT_LOCATIONS)] : 0, 0,
			  DETAIL_RETURN, fixed, 4);
	}
}

static inline void rt_any(struct random_trace *t, unsigned lane)
{
	const uint32_t types[] = {t->enter,	   t->leave,	    t->plain_enter, t->plain_leave,
				  t->irq_enter,	   t->irq_leave,    t->cpu_enter,   t->cpu_leave,
				  t->kernel_enter, t->kernel_leave, t->out,	    t->in};

	rt_row(t, lane, types[pick(12)], pick(9) ? t->locations[pick(RT_LOCATIONS)] : 0, pick(6));
}

static inline void rt_schedule(struct random_trace *t, unsigned lane)
{
	struct rt_stack *s = &t->stacks[lane];

	rt_row(t, lane, s->away ? t->in : t->out, t->locations[5], 0);
	s->away = !s->away;
}

static inline void rt_step(struct random_trace *t)
{
	unsigned lane = pick(RT_LANES), what = pick(20);

	if (what == 0) {
		rt_note(t, lane, pick(3) ? t->note : t->kernel_note);
	} else if (t->system == RT_CHAOS) {
		rt_any(t, lane);
	} else if (t->system == RT_APITRACE) {
		rt_number(t, lane);
	} else if (t->system == RT_UFTRACE && t->stacks[lane].kernel && pick(12)) {
		rt_kernel(t, lane);
	} else if (t->system == RT_UFTRACE && t->stacks[lane].away && pick(12)) {
		rt_schedule(t, lane);
	} else if (t->system == RT_UFTRACE && what <= 3) {
		if (what == 1)
			rt_kernel(t, lane);
		else
			rt_schedule(t, lane);
	} else if (t->system == RT_FTRACE && what <= 5) {
		rt_row(t, lane,
		       what == 1   ? t->irq_enter
		       : what == 2 ? t->irq_leave
		       : what == 3 ? t->plain_enter
				   : t->plain_leave,
		       t->locations[pick(5)], 0);
	} else if (t->system == RT_LTTNG && what <= 3) {
		rt_row(t, lane,
		       what == 1   ? t->cpu_enter
		       : what == 2 ? t->cpu_leave
				   : t->plain_leave,
		       t->locations[pick(5)], pick(3));
	} else if (pick(2)) {
		rt_enter(t, lane);
	} else {
		rt_leave(t, lane);
	}
}

/* A stream into the file. What it is of. */
static inline enum rt_system random_trace(int fd)
{
	static const unsigned cuts[] = {2, 3, 5, 9, 30, 100};
	struct random_trace t = {.time = 1000 + pick(1000)};
	unsigned rows = 3 + pick(pick(3) ? 60 : 400);
	struct output o;
	struct error e;

	t.system = pick(RT_SYSTEMS);
	t.lossy = pick(3) ? 0 : 5 + pick(50);
	t.cuts = cuts[pick(6)];
	output_to_fd(&o, fd);
	rt_begin(&t, &o);
	for (unsigned i = 0; i < rows; i++) {
		/* seen first in the middle of things */
		if (!pick(40))
			t.stacks[pick(RT_LANES)].depth = pick(5);
		rt_step(&t);
		t.time += pick(4) ? pick(200) : 0;
		if (t.time > 50 && !pick(100))
			t.time -= pick(50); /* a clock that steps back */
		if (!pick(t.cuts))
			must(!writer_next_segment(&t.w), "segment");
	}
	must(!writer_finish(&t.w), "finish");
	calls_writer_free(t.maker);
	writer_free(&t.w);
	must(!output_close(&o, 0, &e), "close");
	return t.system;
}

#endif
