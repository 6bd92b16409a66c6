/*
 * async_calls.c - calls with an id: Chrome's phases b, e, S and F, and marks of atrace; and the X
 * that overlap others, whose serial is their id
 *
 * An end belongs to the innermost open call of its id and name, or of any name if the end has none.
 * The call belongs to the track that began it.
 */
#include <stdlib.h>

#include "cmd/trdecode/perfetto/rows.h"
#include "common/util/siphash.h"

enum { OPEN_MOST = 1 << 20, SEARCHED = 256 };

/* An open call. */
struct perfetto_open {
	struct perfetto_frame frame;
	uint32_t track; /* index */
	size_t below; /* index + 1 of the next outer call of this id, or of the next free element; 0
			 none */
};

struct perfetto_id perfetto_id_of(const struct perfetto_track_key *key)
{
	static const struct siphash_key secret = {0x70, 0x66};

	return (struct perfetto_id){siphash(&secret, key, sizeof *key) >> 1, key->id};
}

static bool take_id(struct perfetto_async *a, uint64_t hash, uint64_t *index)
{
	return open_calls_take(&a->keys, (uint32_t)(hash >> 32), (uint32_t)hash, index);
}

static int put_id(struct perfetto_async *a, uint64_t hash, uint64_t index)
{
	return open_calls_put(&a->keys, (uint32_t)(hash >> 32), (uint32_t)hash, index);
}

/* Return the index + 1 of a free element; 0: out of memory. */
static size_t new_open(struct perfetto_async *a)
{
	size_t index = a->free;

	if (index) {
		a->free = a->open[index - 1].below;
		return index;
	}
	if (ARRAY_GROW(a->open, a->capacity, a->count))
		return 0;
	return ++a->count;
}

bool perfetto_ids_full(const struct perfetto *p)
{
	return p->async.count == OPEN_MOST && !p->async.free;
}

int perfetto_id_begin(struct perfetto *p, const struct perfetto_record *rec, struct perfetto_id id,
		      const struct perfetto_row *of)
{
	struct perfetto_async *a = &p->async;
	struct perfetto_open *open;
	uint64_t below = 0;
	size_t index;

	if (perfetto_ids_full(p)) {
		p->counts.unkept++;
		return 0;
	}
	index = new_open(a);
	if (!index)
		return -1;
	take_id(a, id.hash, &below);
	open = &a->open[index - 1];
	*open = (struct perfetto_open){.frame = {.serial = id.number,
						 .name = rec->name,
						 .category = rec->category,
						 .location = perfetto_location(p, rec->name),
						 .call = ++p->calls,
						 .by_id = !(id.hash >> 63),
						 .overlaps = id.hash >> 63},
				       .track = rec->track,
				       .below = (size_t)below};
	if (!open->frame.location || put_id(a, id.hash, index))
		return -1;
	return perfetto_put_call(p, &p->tracks.track[rec->track], &open->frame, KIND_ENTER, of);
}

/* Find the call to end among the innermost, in the list from *head on; return the pointer to its
 * index + 1. NULL: there is none. */
static size_t *find_open(struct perfetto_async *a, uint32_t name, size_t *head)
{
	size_t *at = head;

	for (unsigned i = 0; *at && i < SEARCHED; i++, at = &a->open[*at - 1].below)
		if (!name || a->open[*at - 1].frame.name == name)
			return at;
	return NULL;
}

int perfetto_id_end(struct perfetto *p, const struct perfetto_record *rec, struct perfetto_id id,
		    const struct perfetto_row *of)
{
	struct perfetto_async *a = &p->async;
	struct perfetto_open open;
	uint64_t index = 0;
	size_t head, *at, ended;

	take_id(a, id.hash, &index);
	head = (size_t)index;
	at = find_open(a, rec->name, &head);
	if (!at) {
		p->counts.unopened++;
		return head ? put_id(a, id.hash, head) : 0;
	}
	ended = *at;
	open = a->open[ended - 1];
	*at = open.below;
	a->open[ended - 1].below = a->free;
	a->free = ended;
	if (head && put_id(a, id.hash, head))
		return -1;
	return perfetto_put_call(p, &p->tracks.track[open.track], &open.frame, KIND_LEAVE, of);
}

void perfetto_async_free(struct perfetto *p)
{
	open_calls_free(&p->async.keys);
	free(p->async.open);
}
