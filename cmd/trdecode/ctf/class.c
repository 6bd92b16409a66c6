/*
 * class.c - prepares each event class once: its header, and the moves of its data into a row
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/ctf/ctf.h"

/* Bytes of the fixed part of a row; events with more data carry them as values. */
enum { FIXED_MOST = 2048 };

/* Labels or ranges of the ids in a header of LTTng, at most. */
/* Test whether the stream can contain the trace's bytes unchanged. */
static bool as_it_is(const struct ctf_part *p)
{
	return !p->slot && !p->unusual && !(p->big && p->size > 8) && !(p->align % 8) &&
	       p->size == 8 * ctf_bytes(p->size);
}

/* --- moves --- */

/* Add a move, or extend the last one by it. */
static int add_move(struct ctf_class *c, const struct ctf_move *m)
{
	struct ctf_move *last = c->nmoves ? &c->moves[c->nmoves - 1] : NULL;

	if (last && m->kind == MOVE_BYTES && last->kind == MOVE_BYTES && m->align == 8 &&
	    last->to + last->n == m->to) {
		last->n += m->n;
		return 0;
	}
	if (ARRAY_GROW(c->moves, c->moves_capacity, c->nmoves))
		return -1;
	c->moves[c->nmoves++] = *m;
	return 0;
}

/* Add the moves of a part. align: least alignment, by the parts that contain it. 1: done; 0: the
 * part cannot be moved; -1: out of memory. */
static int move_part(struct ctf_class *c, const struct ctf_part *p, uint32_t align)
{
	struct ctf_move m = {
		.to = c->fixed_size, .align = p->align > align ? p->align : align, .part = p};
	const struct ctf_part *element = p->children;
	uint64_t n;

	if (p->type->unit) {
		m.kind = MOVE_UNUSUAL;
		c->nstrings++;
		return add_move(c, &m) ? -1 : 1;
	}

	switch (p->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
	case CTF_FLOAT:
		m.kind = p->unusual ? MOVE_UNUSUAL : as_it_is(p) ? MOVE_BYTES : MOVE_NUMBER;
		m.size = p->size;
		m.n = ctf_bytes(p->size);
		m.big = p->big;
		m.is_signed = p->is_signed;
		m.slot = p->slot;
		c->fixed_size += m.n;
		break;
	case CTF_STRING:
		m.kind = MOVE_STRING;
		m.align = m.align > 8 ? m.align : 8;
		c->nstrings++;
		break;
	case CTF_ARRAY:
		n = p->count;
		if (element->kind != CTF_INTEGER || !as_it_is(element) || element->align != 8u ||
		    !n || n > FIXED_MOST)
			return 0;
		m.kind = MOVE_BYTES;
		m.n = (uint32_t)n * element->size / 8;
		c->fixed_size += m.n;
		break;
	case CTF_SEQUENCE:
		if (element->kind != CTF_INTEGER || element->size != 8 || element->align != 8 ||
		    !element->type->text)
			return 0;
		m.kind = MOVE_TEXT;
		m.slot = p->refers->slot;
		c->nstrings++;
		break;
	default: return 0;
	}
	if (c->fixed_size > FIXED_MOST)
		return 0;
	return add_move(c, &m) ? -1 : 1;
}

static void spot(struct ctf_spot *s, uint32_t at, uint32_t size)
{
	s->at = (int32_t)at;
	s->size = size;
}

static void note_roles(struct ctf_class *c, const struct ctf_part *p, uint32_t at, uint32_t string)
{
	const char *name = ctf_bare_name(p->name);
	uint32_t size = c->fixed_size - at;

	switch (p->role) {
	case CTF_TID: spot(&c->tid, at, size); break;
	case CTF_PID: spot(&c->pid, at, size); break;
	case CTF_PPID: spot(&c->ppid, at, size); break;
	case CTF_COMM:
		if (p->kind == CTF_ARRAY)
			spot(&c->comm, at, size);
		else if (p->kind == CTF_STRING)
			c->comm_string = string + 1;
		break;
	default: break;
	}
	if (c->call.kind == CALL_TEXT && !strcmp(name, "depth") && p->kind == CTF_INTEGER)
		spot(&c->call.depth, at, size);
	if (c->numbered && !strcmp(name, "call") && p->kind == CTF_INTEGER && size == 4)
		spot(&c->call.number, at, size);
	if (c->call.kind == CALL_TEXT && !strcmp(name, "name") && p->kind == CTF_STRING &&
	    c->string == CTF_NO_STRING)
		c->string = string;
	if (c->call.kind == CALL_TEXT && !strcmp(name, "args") && p->kind == CTF_STRING &&
	    c->call.arguments == CTF_NO_STRING)
		c->call.arguments = string;
	if (c->call.kind == CALL_GAP && !strcmp(name, "reason") && p->kind == CTF_STRING)
		c->string = string;
	if (c->call.kind == CALL_GAP && !strcmp(name, "count") && size == 8)
		spot(&c->argument[0], at, size);
	if (c->call.kind == CALL_GAP && !strcmp(name, "offset") && size == 8)
		spot(&c->argument[1], at, size);
	if (c->action == CTF_SWITCH && !strcmp(name, "next_tid") && size)
		spot(&c->argument[0], at, size);
	if (c->action == CTF_SWITCH && !strcmp(name, "next_comm")) {
		if (p->kind == CTF_ARRAY)
			spot(&c->argument[1], at, size);
		else if (p->kind == CTF_STRING || p->kind == CTF_SEQUENCE)
			c->string = string;
	}
	if (c->action == CTF_BIN_INFO && !strcmp(name, "baddr"))
		spot(&c->argument[0], at, size);
	if (c->action == CTF_BIN_INFO && !strcmp(name, "memsz"))
		spot(&c->argument[1], at, size);
	if (c->action == CTF_BIN_INFO && !strcmp(name, "path") && p->kind == CTF_STRING)
		c->string = string;
	if ((c->call.kind == CALL_ADDRESS && !strcmp(name, "addr")) ||
	    (c->call.kind == CALL_IRQ && !strcmp(name, "irq")) ||
	    (c->call.kind == CALL_SOFTIRQ && !strcmp(name, "vec")))
		if (p->kind == CTF_INTEGER || p->kind == CTF_ENUM)
			spot(&c->call.location, at, size);
}

/* Add the moves of all data, and set c->plain if there are moves for all. */
static int make_moves(struct ctf_class *c)
{
	uint32_t fields = 0;

	c->plain = !c->stream->carried;
	for (int i = 0; i < CTF_DATA_SCOPES; i++) {
		const struct ctf_part *s = c->layout.scope[ctf_data_scopes[i]];
		uint32_t align = s ? s->align : 1;

		for (const struct ctf_part *p = s ? s->children : NULL; p; p = p->next) {
			uint32_t at = c->fixed_size, string = c->nstrings;
			int done = ++fields > CTF_FIELDS ? 0 : move_part(c, p, align);

			if (done < 0)
				return -1;
			if (!done) {
				c->plain = false;
				return 0;
			}
			note_roles(c, p, at, string);
			align = 1;
		}
	}
	return 0;
}

/* --- headers --- */

static bool is_int(const struct ctf_part *p, unsigned size, uint32_t align)
{
	return p && (p->kind == CTF_INTEGER || p->kind == CTF_ENUM) && p->size == size &&
	       p->align == align && !p->big && !p->is_signed && !p->unusual && !p->roles;
}

/* enum id; variant <id> { struct { time } ; struct { u32 id; u64 time } } */
static bool is_lttng(const struct ctf_part *h, unsigned id, unsigned time, uint32_t align)
{
	const struct ctf_part *first = h->children, *v = first ? first->next : NULL, *a, *b;

	if (h->align != 8 || !v || v->next || v->kind != CTF_VARIANT || v->refers != first ||
	    first->role != CTF_ID || !is_int(first, id, align))
		return false;
	a = v->children;
	b = a ? a->next : NULL;
	if (!b || b->next || a->kind != CTF_STRUCT || b->kind != CTF_STRUCT || a->align != align ||
	    b->align != 8 || !a->children || a->children->next ||
	    !is_int(a->children, time, align) || a->children->role != CTF_TIME ||
	    !is_int(b->children, 32, 8) || b->children->role != CTF_ID ||
	    !is_int(b->children->next, 64, 8) || b->children->next->role != CTF_TIME ||
	    b->children->next->next)
		return false;
	/* all ids but the highest choose the first option */
	for (uint64_t i = 0; i < 1ull << id; i++)
		if (ctf_option(v, i) != (i + 1 < 1ull << id ? a : b))
			return false;
	return true;
}

static void find_shape(struct ctf_stream *s)
{
	const struct ctf_part *h = s->layout.scope[SCOPE_EVENT_HEADER], *p = h ? h->children : NULL;

	if (!p)
		return;
	if (is_lttng(h, 5, 27, 1)) {
		s->shape = SHAPE_COMPACT;
	} else if (is_lttng(h, 16, 32, 8)) {
		s->shape = SHAPE_LARGE;
	} else if (p->role == CTF_ID && h->align == 8 && is_int(p, p->size, 8) &&
		   p->size == 8 * ctf_bytes(p->size) && p->next && !p->next->next &&
		   p->next->role == CTF_TIME && is_int(p->next, 64, 8) && !p->slot &&
		   !p->next->slot) {
		s->shape = SHAPE_SIMPLE;
		s->id_size = p->size / 8;
	}
}

/* Find the clock of the first part that records a time. */
static const struct ctf_clock *clock_of(const struct ctf_part *p, bool *has_time)
{
	const struct ctf_clock *c = NULL;

	for (; p; p = p->next) {
		if (p->role == CTF_TIME || p->role == CTF_TIME_BEGIN)
			*has_time = true;
		if (p->type->clock)
			return p->type->clock;
		c = p->children ? clock_of(p->children, has_time) : NULL;
		if (c)
			return c;
	}
	return NULL;
}

static bool has_role(const struct ctf_part *p, enum ctf_role role)
{
	for (; p; p = p->next)
		if (p->role == role || has_role(p->children, role))
			return true;
	return false;
}

/* Set which fields of the packet's context events repeat. A CPU alone is in their lanes. */
static void find_carried(struct ctf_stream *s)
{
	const struct ctf_part *context = s->layout.scope[SCOPE_PACKET_CONTEXT];

	for (const struct ctf_part *p = context ? context->children : NULL; p; p = p->next) {
		if (p->role == CTF_DISCARDED)
			s->discarded_bits = p->size;
		if (ctf_is_own(p))
			continue;
		s->carried++;
		s->cpu_alone = p->role == CTF_CPU && p->kind == CTF_INTEGER && p->type->base == 10;
	}
	s->cpu_alone = s->cpu_alone && s->carried == 1;
	if (s->cpu_alone)
		s->carried = 0;
}

/* --- all of a trace --- */

/* Return the clock of times that name none: the only clock declared, else NULL. */
static const struct ctf_clock *only_clock(const struct ctf_metadata *m)
{
	const struct ctf_clock *only = NULL;

	for (const struct ctf_clock *c = m->clocks; c; c = c->next) {
		if (c->declared && only)
			return NULL;
		if (c->declared)
			only = c;
	}
	return only;
}

/* only: the clock of times that name none; may be NULL. */
static int make_stream(struct ctf_stream *s, const struct ctf_clock *only, struct error *e)
{
	struct ctf_metadata *m = &s->trace->metadata;
	const struct ctf_stream_class *d = s->declared;

	if (ctf_layout_add(m, &s->layout, SCOPE_PACKET_HEADER, m->packet_header, e) ||
	    ctf_layout_add(m, &s->layout, SCOPE_PACKET_CONTEXT, d->packet_context, e) ||
	    ctf_layout_add(m, &s->layout, SCOPE_EVENT_HEADER, d->header, e) ||
	    ctf_layout_add(m, &s->layout, SCOPE_STREAM_CONTEXT, d->context, e))
		return -1;
	find_shape(s);
	s->clock = clock_of(s->layout.scope[SCOPE_EVENT_HEADER], &s->has_time);
	if (!s->clock)
		s->clock = clock_of(s->layout.scope[SCOPE_PACKET_CONTEXT], &s->has_time);
	if (m->major == 2)
		s->clock = d->clock;
	else if (!s->clock && s->has_time)
		s->clock = only;
	if (m->major == 2 && s->has_time && !s->clock)
		return error_set(e, NULL, NO_OFFSET, "it has times and no default clock");
	s->has_id = has_role(s->layout.scope[SCOPE_EVENT_HEADER], CTF_ID);
	find_carried(s);
	s->usable = true;
	return 0;
}

static int make_class(struct ctf_class *c, struct error *e)
{
	struct ctf_metadata *m = &c->stream->trace->metadata;
	static const struct ctf_spot none = {.at = -1};

	c->layout = c->stream->layout;
	c->call.depth = c->call.number = c->tid = c->pid = c->ppid = c->comm = c->call.location =
		c->argument[0] = c->argument[1] = none;
	if (ctf_layout_add(m, &c->layout, SCOPE_EVENT_CONTEXT, c->declared->context, e) ||
	    ctf_layout_add(m, &c->layout, SCOPE_FIELDS, c->declared->fields, e))
		return -1;
	c->usable = true;
	return 0;
}

/* Report a declaration that cannot be used. -1: out of memory. */
static int unusable(struct ctf_trace *t, const char *what, const char *name, struct error *e)
{
	char path[512], member[300];

	if (!strcmp(e->what, "out of memory"))
		return -1;
	snprintf(member, sizeof member, "%.280smetadata", t->prefix);
	input_damage(t->ctf->input, tree_path(t->ctf->input->tree, member, path, sizeof path),
		     NO_OFFSET, "%s '%.100s' cannot be read: %.300s", what, name, e->what);
	e->what[0] = '\0';
	return 0;
}

struct ctf_stream *ctf_stream_of(const struct ctf_trace *t, uint64_t id)
{
	uint32_t at = t->nstreams ? intern_find(&t->numbers.keys, &id, sizeof id) : INTERN_NONE;

	return at == INTERN_NONE ? NULL : &t->streams[t->numbers.numbers[at] - 1];
}

/* Make a stream. Of usable ones with the same id the first one is used. */
static int add_stream(struct ctf_trace *t, const struct ctf_stream_class *d,
		      const struct ctf_clock *only, struct error *e)
{
	struct ctf_stream *s = &t->streams[t->nstreams++];
	uint32_t *number;

	s->declared = d;
	s->trace = t;
	if (make_stream(s, only, e) && unusable(t, "a stream", "", e))
		return -1;
	if (!s->usable)
		return 0;
	t->last_stream = s;
	number = id_cache_number(&t->numbers, &d->id, sizeof d->id);
	if (!number)
		return error_no_memory(e);
	if (!*number)
		*number = (uint32_t)t->nstreams;
	return 0;
}

struct ctf_class *ctf_class_of(struct ctf_stream *s, uint64_t id)
{
	uint32_t number = id <= UINT32_MAX ? idmap_get(&s->ids, (uint32_t)id) : 0;

	if (!number)
		number = s->only;
	return number ? &s->trace->classes[number - 1] : NULL;
}

/* Test whether the event's data contain the name of its call, or all of a gap. */
static bool has_name(const struct ctf_class *c)
{
	if (c->call.kind == CALL_TEXT)
		return c->string != CTF_NO_STRING;
	if (c->call.kind == CALL_GAP)
		return c->string != CTF_NO_STRING && c->argument[0].at >= 0 &&
		       c->argument[1].at >= 0;
	return c->kind == KIND_INSTANT || c->call.kind == CALL_NAMED || c->call.location.at >= 0;
}

/* Set the moves of a class, and what its events mean to the decoder. */
static int finish_class(struct ctf_class *c)
{
	ctf_calls_classify(c);
	if (make_moves(c))
		return -1;
	if (!c->plain)
		ctf_stack_find(c);
	if (c->plain ? !has_name(c) : c->call.kind != CALL_NAMED) {
		c->kind = KIND_INSTANT;
		c->call.kind = CALL_NONE;
	}
	/* the name, the arguments, and of own traces the comm */
	c->has_arguments = c->plain && c->call.kind == CALL_TEXT &&
			   c->call.arguments != CTF_NO_STRING &&
			   c->nstrings == 2u + (c->stream->trace->own && c->comm_string);
	c->stream->trace->has_gaps |= c->call.kind == CALL_GAP;
	c->numbered = c->numbered && c->call.number.at >= 0 && c->kind != KIND_INSTANT;
	if (c->action == CTF_SWITCH ? c->plain && c->argument[0].at < 0
				    : !c->plain || c->argument[0].at < 0 || c->argument[1].at < 0)
		c->action = CTF_NO_ACTION;
	return 0;
}

int ctf_classes_make(struct ctf_trace *t, struct error *e)
{
	struct ctf_metadata *m = &t->metadata;
	const struct ctf_clock *only = only_clock(m);
	size_t n = 0;

	/* events may be declared without a stream: make one for them */
	if (!m->streams && m->events && m->complete) {
		m->streams = ctf_alloc(m, sizeof *m->streams);
		if (!m->streams)
			return error_no_memory(e);
	}
	for (const struct ctf_stream_class *s = t->metadata.streams; s; s = s->next)
		n++;
	t->streams = calloc(n + 1, sizeof *t->streams);
	n = 0;
	for (const struct ctf_event_class *c = t->metadata.events; c; c = c->next)
		n++;
	t->classes = calloc(n + 1, sizeof *t->classes);
	if (!t->streams || !t->classes)
		return error_no_memory(e);
	for (const struct ctf_stream_class *d = t->metadata.streams; d; d = d->next)
		if (add_stream(t, d, only, e))
			return -1;
	/* the newest class is first: of two with the same id the later one is used */
	for (const struct ctf_event_class *d = t->metadata.events; d; d = d->next) {
		struct ctf_class *c = &t->classes[t->nclasses++];

		c->declared = d;
		/* the only stream if the class names none */
		c->stream = !d->has_stream && t->nstreams == 1 ? t->streams
							       : ctf_stream_of(t, d->stream);
		if (!c->stream || !c->stream->usable || d->id > UINT32_MAX ||
		    idmap_get(&c->stream->ids, (uint32_t)d->id))
			continue;
		if (idmap_set(&c->stream->ids, (uint32_t)d->id, (uint32_t)t->nclasses))
			return error_no_memory(e);
		if (make_class(c, e) && unusable(t, "the event", d->name, e))
			return -1;
		c->stream->only =
			!c->stream->has_id && !c->stream->nclasses++ ? (uint32_t)t->nclasses : 0;
	}
	/* from here on it is known which lengths and tags need slots */
	for (size_t i = 0; i < t->nclasses; i++)
		if (t->classes[i].usable && finish_class(&t->classes[i]))
			return error_no_memory(e);
	return 0;
}

void ctf_classes_free(struct ctf_trace *t)
{
	for (size_t i = 0; i < t->nstreams; i++)
		idmap_free(&t->streams[i].ids);
	for (size_t i = 0; i < t->nclasses; i++) {
		free(t->classes[i].moves);
	}
	free(t->streams);
	free(t->classes);
	id_cache_free(&t->numbers);
}
