/*
 * tracks.c - the timelines of viewers: a process and a thread number for each thread of a stream,
 * no pair twice; the flows and the asynchronous calls between them; lists of records
 */
#include "cmd/trencode/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "common/formats/chrome.h"
#include "common/formats/perfetto.h"
#include "common/formats/process_names.h"
#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/hash.h"

enum { CHUNK_HEADER = 16 };

void record_store_init(struct record_store *r, size_t record)
{
	*r = (struct record_store){.record = record, .bytes.spills = true};
}

void record_store_free(struct record_store *r)
{
	buffer_free(&r->bytes);
}

/* Release the memory now and then. */
static void record_store_touch(struct record_store *r)
{
	r->touched += r->record;
	if (r->touched < BUFFER_PIECE)
		return;
	r->touched = 0;
	buffer_rest(&r->bytes);
}

int record_add(struct record_store *r, struct record_list *list, const void *record)
{
	size_t within = list->count % RECORDS_CHUNK;

	if (!within) {
		size_t chunk = r->bytes.size;

		if (buffer_zero(&r->bytes, CHUNK_HEADER + RECORDS_CHUNK * r->record))
			return -1;
		put_u64(r->bytes.data + chunk + 8, list->last);
		if (list->count)
			put_u64(r->bytes.data + list->last, chunk);
		else
			list->first = chunk;
		list->last = chunk;
	}
	memcpy(r->bytes.data + list->last + CHUNK_HEADER + within * r->record, record, r->record);
	list->count++;
	record_store_touch(r);
	return 0;
}

const void *record_next(struct record_store *r, const struct record_list *list,
			struct record_cursor *c)
{
	size_t within = c->at % RECORDS_CHUNK;

	if (c->at == list->count)
		return NULL;
	if (!within)
		c->chunk = c->at ? (size_t)get_u64(r->bytes.data + c->chunk) : list->first;
	c->at++;
	record_store_touch(r);
	return r->bytes.data + c->chunk + CHUNK_HEADER + within * r->record;
}

const void *record_take_last(struct record_store *r, struct record_list *list)
{
	const uint8_t *chunk = r->bytes.data + list->last;
	size_t within;

	if (!list->count)
		return NULL;
	within = --list->count % RECORDS_CHUNK;
	if (!within)
		list->last = (size_t)get_u64(chunk + 8);
	record_store_touch(r);
	return chunk + CHUNK_HEADER + within * r->record;
}

/* --- async events --- */

bool async_event_is(const struct type *t)
{
	return t && t->nfields && type_is_of(t, "chrome") &&
	       t->fields[t->nfields - 1].where == WHERE_FIXED &&
	       t->fields[t->nfields - 1].role == ROLE_NONE;
}

char async_event_phase(const struct type *t)
{
	char phase = (char)(t->native & CHROME_PHASE);

	return phase && strchr("bnSTpstf", phase) ? phase : 'n';
}

uint64_t async_event_id(const struct event *ev)
{
	struct field_value id;

	if (!async_event_is(ev->type))
		return 0;
	field_get(ev, &ev->type->fields[ev->type->nfields - 1], 0, &id);
	return id.form == FORM_NONE ? 0 : id.u;
}

/* --- flows --- */

enum { FLOWS_MOST = 1 << 18 };

void flows_free(struct flows *f)
{
	open_calls_free(&f->begun);
	open_calls_free(&f->owners);
	free(f->has);
}

static uint32_t tracks_source_of(const struct event *ev)
{
	return ev->lane->source ? ev->lane->source->number : 0;
}

/* What makes two flows with one id different. */
struct flow_key {
	uint64_t id;
	uint32_t name, category, source;
	int32_t pid, local;
	uint32_t zero;
};

static void tracks_add_part(struct flows *f, uint64_t id, bool ends)
{
	if (f->count < EVENT_FLOWS_MOST)
		f->parts[f->count++] = (struct flow_part){id, ends};
}

/* Get the id of a flow: that of the source if no other flow has it, else a hash. keep: it is
 * that of the source though too many others have one. */
static uint64_t tracks_id_of(struct flows *f, const struct flow_key *of, bool keep)
{
	static const struct siphash_key key = {0x66, 0x6c};
	uint64_t hash = siphash(&key, of, sizeof *of), owner = hash;
	uint32_t high = (uint32_t)(of->id >> 32), low = (uint32_t)of->id;
	bool known;

	known = open_calls_take(&f->owners, high, low, &owner);
	if (!known && open_calls_count(&f->owners) >= FLOWS_MOST)
		return keep ? of->id : hash;
	if (open_calls_put(&f->owners, high, low, owner) && !keep)
		return hash;
	return owner == hash ? of->id : hash;
}

/* Add the ids in the next value: a number, or an ARRAY of them. */
static void add_ids(struct flows *f, const struct event *ev, struct values v, bool ends)
{
	uint32_t source = tracks_source_of(ev);
	bool perfetto = type_is_of(ev->type, "perfetto");
	struct value value;

	if (!f->source && perfetto)
		f->source = source + 1;
	for (uint64_t left = 1; left && values_value(&v, &value); left--) {
		struct flow_key of = {.id = value.number, .source = source};
		uint64_t id;

		if (value.tag == VALUE_ARRAY)
			left += value.count;
		if (value.tag != VALUE_UINT)
			continue;
		id = tracks_id_of(f, &of, perfetto && f->source == source + 1);
		f->same &= id == value.number;
		tracks_add_part(f, id, ends);
	}
}

/* Add the flow of an event s, t or f. */
static void add_chrome(struct flows *f, const struct event *ev)
{
	bool local = ev->type->native & CHROME_LOCAL;
	struct flow_key of = {.id = async_event_id(ev),
			      .name = ev->type->name.number,
			      .category = ev->type->group.number,
			      .source = tracks_source_of(ev),
			      .pid = local ? ev->lane->pid : 0,
			      .local = local};

	f->phase = async_event_phase(ev->type);
	f->enclosing = ev->type->native & CHROME_ENCLOSING;
	tracks_add_part(f, tracks_id_of(f, &of, false), f->phase == 'f');
}

/* Read the phase of an event that trencode wrote for one of JSON. */
static void read_phase(struct flows *f, const struct event *ev, struct values v)
{
	struct value value;

	if (ev->type->kind != KIND_INSTANT || !values_value(&v, &value) ||
	    value.tag != VALUE_STRING || !value.n || !strchr("stf", value.bytes[0]))
		return;
	f->phase = (char)value.bytes[0];
	f->enclosing = value.n > 1 && value.bytes[1] == PERFETTO_FLOW_ENCLOSING;
}

/* Test whether a location has an argument with flows; true when out of memory. */
static bool has_flows(struct flows *f, uint32_t number, const struct location *l)
{
	if (ARRAY_REACH(f->has, f->nhas, number))
		return true;
	if (!f->has[number]) {
		f->has[number] = 1;
		for (uint32_t i = 0; l->arguments && i < l->arguments->count; i++)
			if (perfetto_is_flow(l->arguments->members[i].name.text))
				f->has[number] = 2;
	}
	return f->has[number] == 2;
}

unsigned flows_read(struct flows *f, const struct event *ev)
{
	const struct location *l;
	struct values v;
	uint64_t index;
	uint8_t what;

	f->count = 0;
	f->phase = 0;
	f->same = true;
	if (async_event_is_flow(ev->type))
		add_chrome(f, ev);
	if (f->count || !(ev->type->flags & TYPE_VALUES))
		return f->count;
	l = dictionary_location(f->dictionary, ev->location);
	if (!l || !has_flows(f, ev->location, l) || !flows_are_of(ev->type))
		return 0;
	values_begin(&v, ev->tail, ev->tail_size);
	while (values_what(&v, &what, &index)) {
		const struct text_ref *name =
			what == DETAIL_ARGUMENT ? location_argument(l, index) : NULL;

		if (name && perfetto_is_flow(name->text))
			add_ids(f, ev, v, !strcmp(name->text, PERFETTO_ENDED_FLOWS));
		else if (name && !strcmp(name->text, PERFETTO_FLOW_PHASE))
			read_phase(f, ev, v);
		if (!values_skip(&v))
			break;
	}
	if (f->count != 1)
		f->phase = 0;
	return f->count;
}

char flow_phase(struct flows *f, const struct flow_part *part)
{
	uint32_t high = (uint32_t)(part->id >> 32), low = (uint32_t)part->id;
	uint64_t value;
	bool was = open_calls_take(&f->begun, high, low, &value);

	if (part->ends)
		return 'f';
	/* beyond the limit each part is the first one */
	if (open_calls_count(&f->begun) < FLOWS_MOST && open_calls_put(&f->begun, high, low, 0))
		return 0;
	return was ? 't' : 's';
}

/* --- tracks --- */

static void numbers_free(struct track_numbers *n)
{
	intern_free(&n->keys);
	free(n->given);
	intern_free(&n->used);
}

void tracks_free(struct tracks *t)
{
	free(t->tracks);
	free(t->processes);
	numbers_free(&t->process_numbers);
	numbers_free(&t->thread_numbers);
	intern_free(&t->keys);
	intern_free(&t->names.keys);
	free(t->names.name);
	buffer_free(&t->names.part);
	*t = (struct tracks){0};
}

/* --- names of processes in the stream --- */

static int tracks_add_name(struct tracks *t, const int32_t key[2], uint32_t name)
{
	uint32_t number = intern(&t->names.keys, key, 2 * sizeof *key);

	if (number == INTERN_NONE || ARRAY_REACH(t->names.name, t->names.capacity, number))
		return -1;
	t->names.name[number] = name;
	return 0;
}

/* Get the name of a process of a source, a string of the dictionary; 0: the stream has none. */
static uint32_t tracks_name_of(const struct tracks *t, const int32_t key[2])
{
	uint32_t number = intern_find(&t->names.keys, key, 2 * sizeof *key);

	return number == INTERN_NONE ? 0 : t->names.name[number];
}

int tracks_meta(struct tracks *t, struct dictionary *d, const struct meta *m)
{
	struct buffer *b = &t->names.part;
	const struct source *source = m->source ? pool_at(&d->sources, m->source) : NULL;
	int32_t key[2] = {(int32_t)(source ? source->number : 0), 0};
	size_t size;
	int whole = meta_join(b, m, PROCESS_NAMES_META);

	if (whole <= 0)
		return whole;
	for (size_t at = 0; b->size - at >= PROCESS_NAMES_RECORD; at += size) {
		key[1] = (int32_t)get_u32(b->data + at);
		size = get_u32(b->data + at + 4);
		at += PROCESS_NAMES_RECORD;
		if (size > b->size - at)
			return 0;
		if (tracks_add_name(t, key, dictionary_text(d, b->data + at, size).number))
			return -1;
	}
	return 0;
}

/* --- numbers --- */

/* Take the number `wanted` if it is not in use, else a made-up number. process: `wanted` is unique
 * within this process; -1: within all. Returns 0, or -1 when out of memory. */
static int tracks_take_number(struct track_numbers *n, int32_t process, int32_t wanted,
			      int32_t *given)
{
	int32_t key[2] = {wanted, process};
	uint32_t had = n->used.count;

	if (wanted >= 0) {
		if (intern(&n->used, key, process >= 0 ? sizeof key : sizeof *key) == INTERN_NONE)
			return -1;
		if (n->used.count > had) {
			*given = wanted;
			return 0;
		}
	}
	do {
		had = n->used.count;
		*given = TRACK_MADE_UP + ++n->next;
		if (intern(&n->used, given, sizeof *given) == INTERN_NONE)
			return -1;
	} while (n->used.count == had);
	return 0;
}

/* Get the number of a key, or take one for it as tracks_take_number does. */
static int tracks_number_of(struct track_numbers *n, const int32_t key[2], int32_t process,
			    int32_t wanted, int32_t *given)
{
	uint32_t had = n->keys.count, number = intern(&n->keys, key, 2 * sizeof *key);

	if (number == INTERN_NONE)
		return -1;
	if (number < had) {
		*given = n->given[number];
		return 0;
	}
	if (ARRAY_GROW(n->given, n->capacity, number))
		return -1;
	n->given[number] = 0;
	if (tracks_take_number(n, process, wanted, given))
		return -1;
	n->given[number] = *given;
	return 0;
}

int tracks_new_process(struct tracks *t, uint32_t source, int32_t which, int32_t *pid)
{
	const int32_t key[2] = {(int32_t)~source, which}; /* no source has a number below 0 */

	return tracks_number_of(&t->process_numbers, key, -1, -1, pid);
}

int tracks_pid(struct tracks *t, uint32_t source, int32_t pid, int32_t *shown)
{
	const int32_t key[2] = {(int32_t)source, pid};

	return tracks_number_of(&t->process_numbers, key, -1, pid, shown);
}

static bool is_chrome(const struct lane *lane)
{
	return lane->source && !strcmp(lane->source->format.text, "chrome");
}

static int tracks_process_of(struct tracks *t, const struct lane *lane, int32_t pid,
			     uint32_t *index)
{
	int32_t key[2] = {(int32_t)(lane->source ? lane->source->number : 0), pid};
	uint32_t had = t->keys.count;
	struct track_process *p;

	*index = intern(&t->keys, key, sizeof key);
	if (*index == INTERN_NONE)
		return -1;
	if (t->keys.count == had)
		return 0;
	if (ARRAY_GROW(t->processes, t->processes_capacity, t->nprocesses))
		return -1;
	p = &t->processes[t->nprocesses++];
	*p = (struct track_process){.source = (uint32_t)key[0],
				    .pid = pid,
				    .comm = tracks_name_of(t, key),
				    .renamed = true};
	p->named = p->comm || is_chrome(lane);
	return tracks_number_of(&t->process_numbers, key, -1, pid, &p->shown);
}

static int tracks_new_track(struct tracks *t, struct track *tr, uint32_t thread,
			    const struct lane *lane)
{
	bool per_cpu = thread == lane->cpu_thread && thread != lane->thread;
	int32_t tid = !per_cpu && lane->flags & LANE_HAS_TID ? lane->tid : -1, pid = 0,
		process = -1;

	/* an unknown process is the thread itself */
	if (!per_cpu)
		pid = lane->flags & LANE_HAS_PID ? lane->pid : tid >= 0 ? tid : 0;
	*tr = (struct track){.per_cpu = per_cpu || tid == -1};
	if (tracks_process_of(t, lane, pid, &tr->process))
		return -1;
	if (t->process_tids && lane->flags & LANE_PROCESS_TID)
		process = t->processes[tr->process].shown;
	if (tracks_number_of(&t->thread_numbers, (int32_t[2]){(int32_t)thread, 0}, process, tid,
			     &tr->tid))
		return -1;
	tr->made_up = tr->tid != tid;
	tr->pid = t->processes[tr->process].shown;
	tr->thread = thread + 1;
	tr->renamed = true;
	return 0;
}

struct track *tracks_new(struct tracks *t, uint32_t thread, const struct lane *lane)
{
	struct track *tr;

	if (ARRAY_REACH(t->tracks, t->count, thread))
		return NULL;
	tr = &t->tracks[thread];
	if (!tr->thread && tracks_new_track(t, tr, thread, lane))
		return NULL;
	if (tr->comm != lane->comm.number) {
		tr->comm = lane->comm.number;
		tr->renamed |= !tr->per_cpu;
	}
	if (tr->renamed && !tr->per_cpu) {
		struct track_process *p = &t->processes[tr->process];

		/* a process without a name has that of its first thread */
		if (!p->named && (p->pid == lane->tid || !p->comm) &&
		    p->comm != lane->comm.number) {
			p->comm = lane->comm.number;
			p->renamed = true;
		}
	}
	return tr;
}

bool track_is_other(const struct lane *lane)
{
	return lane->buffer.size && lane->source && !strcmp(lane->source->format.text, "perfetto");
}

int track_name(const struct track *t, const struct lane *lane, struct buffer *to)
{
	if (t->per_cpu && lane->flags & LANE_HAS_CPU)
		return buffer_printf(to, "CPU %d", lane->cpu);
	/* what has a process and no threads, such as a service, has its name */
	if (t->per_cpu)
		return lane->comm.size ? buffer_append(to, lane->comm.text, lane->comm.size)
				       : buffer_append(to, "events", 6);
	if (lane->comm.size ? buffer_append(to, lane->comm.text, lane->comm.size)
			    : buffer_append(to, "thread", 6))
		return -1;
	if (!t->made_up)
		return 0;
	if (lane->tid || !(lane->flags & LANE_HAS_CPU))
		return buffer_printf(to, " [%d]", lane->tid);
	return buffer_printf(to, " [CPU %d]", lane->cpu);
}

int track_rename(struct track *t, const struct lane *lane, struct buffer *name)
{
	if (!t->renamed)
		return 0;
	t->renamed = false;
	name->size = 0;
	return track_name(t, lane, name) ||
			       (!t->per_cpu && !t->made_up && buffer_printf(name, " [%d]", t->tid))
		       ? -1
		       : 0;
}
