/*
 * tracks.c - the timelines of viewers: a process and a thread number for each thread of a stream,
 * no pair twice; lists of records
 */
#include "cmd/trencode/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "common/formats/process_names.h"
#include "common/util/buffer.h"

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
