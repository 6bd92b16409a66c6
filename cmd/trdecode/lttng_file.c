/*
 * lttng_file.c - a tracefile read forward: its blocks, the headers of its events, their payloads
 *
 * Damage costs what cannot be told apart any more, which is the rest of a block at most, as every
 * block says where the next one is.
 */
#include "lttng.h"
#include "lttng_event.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PLAIN_SHORT = 24 };
enum { EVENT_HEADER = 40 }; /* bytes that the header of an event takes at most, with padding */

bool lttng_file_name(const char *member, size_t *base, int32_t *cpu)
{
	const char *slash = strrchr(member, '/'), *name = slash ? slash + 1 : member,
		   *line = strrchr(name, '_');
	int64_t n = 0;

	if (!line || line == name || name[0] == '.' || !line[1])
		return false;
	for (const char *p = line + 1; *p; p++) {
		if (!isdigit((unsigned char)*p) || n > 65535)
			return false;
		n = n * 10 + (*p - '0');
	}
	if (n > 65535)
		return false;
	*base = (size_t)(line - member);
	*cpu = (int32_t)n;
	return true;
}

/* --- bytes --- */

static ssize_t read_at(struct lttng *l, struct lttng_file *f, uint8_t *to, size_t n,
		       uint64_t offset, struct error *e)
{
	uint64_t start = f->start, size;
	char path[512];
	int fd = f->fd;
	ssize_t got;

	if (fd < 0) {
		fd = tree_fd(l->input->tree, f->member, &start, &size, e);
		if (fd < 0)
			return -1;
	}
	do
		got = pread(fd, to, n, (off_t)(start + offset));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		error_errno(e, tree_path(l->input->tree, f->member, path, sizeof path), offset,
			    "cannot read");
	if (fd != f->fd)
		close(fd);
	return got;
}

/* Slow part of lttng_file_bytes: slide the window, make it larger for a large event, read. */
static const uint8_t *fill(struct lttng *l, struct lttng_file *f, uint64_t offset, size_t n,
			   size_t *have)
{
	struct error e;
	uint8_t *data;
	ssize_t got;

	*have = 0;
	if (offset >= f->file_size)
		return f->data;
	if (n > f->file_size - offset)
		n = (size_t)(f->file_size - offset);
	if (offset < f->offset || offset > f->offset + f->filled) {
		f->filled = 0;
	} else {
		size_t gone = (size_t)(offset - f->offset);

		f->filled -= gone;
		memmove(f->data, f->data + gone, f->filled);
	}
	f->offset = offset;
	while (f->filled < n) {
		size_t room;

		if (f->filled == f->capacity) {
			/* as bytes arrive, no faster */
			data = realloc(f->data, 2 * f->capacity);
			if (!data)
				break;
			f->data = data;
			f->capacity *= 2;
		}
		room = f->capacity - f->filled;
		if (room > f->file_size - offset - f->filled)
			room = (size_t)(f->file_size - offset - f->filled);
		got = read_at(l, f, f->data + f->filled, room, offset + f->filled, &e);
		if (got < 0) {
			input_damage_error(l->input, &e);
			f->file_size = offset + f->filled;
			break;
		}
		if (!got) {
			f->file_size = offset + f->filled; /* it is shorter than it was */
			break;
		}
		f->filled += (size_t)got;
	}
	*have = f->filled;
	return f->data;
}

static inline const uint8_t *bytes(struct lttng *l, struct lttng_file *f, uint64_t offset, size_t n,
				   size_t *have)
{
	uint64_t from = offset - f->offset;

	if (__builtin_expect(offset >= f->offset && from <= f->filled && n <= f->filled - from,
			     1)) {
		*have = f->filled - (size_t)from;
		return f->data + from;
	}
	return fill(l, f, offset, n, have);
}

const uint8_t *lttng_file_bytes(struct lttng *l, struct lttng_file *f, uint64_t offset, size_t n,
				size_t *have)
{
	return bytes(l, f, offset, n, have);
}

/* At a position of the block: n bytes or what is left of its events. */
static inline const uint8_t *block_bytes(struct lttng *l, struct lttng_file *f, uint32_t position,
					 size_t n, size_t *have)
{
	size_t left = f->used - position;
	const uint8_t *p = bytes(l, f, f->at + position, n < left ? n : left, have);

	if (*have > left)
		*have = left;
	return p;
}

/* --- damage --- */

static int damage(struct lttng *l, struct lttng_file *f, uint64_t offset, const char *what,
		  uint64_t count)
{
	char path[512];
	struct gap gap = {.reason = GAP_DAMAGE,
			  .unit = GAP_EVENTS,
			  .count = count,
			  .offset = offset,
			  .file = f->member,
			  .message = what};
	int64_t ns;

	if (f->quiet)
		return 0;
	input_damage(l->input, tree_path(l->input->tree, f->member, path, sizeof path), offset,
		     "%s", what);
	if (!l->begun)
		return 0;
	ns = lttng_clock_ns(&l->clock, f->tsc ? f->tsc : l->clock.zero) + l->shift;
	return writer_gap(l->w, ns < 0 ? 0 : (uint64_t)ns,
			  lttng_state_lane(l, f, lttng_state_cpu(l, f->cpu)), &gap);
}

/* The rest of the block is lost. */
static int abandon(struct lttng *l, struct lttng_file *f, uint32_t position, const char *what)
{
	f->position = f->used;
	/* a block that its writer never finished ends somewhere */
	if (f->block.unfinished)
		return 0;
	if (f->cut) {
		/* said already */
		return 0;
	}
	return damage(l, f, f->at + position, what, UINT64_MAX);
}

/* --- alignment --- */

static inline unsigned at_most(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* How a datum of this size is aligned where alignment is in force. */
static inline unsigned align_of(const struct lttng_header *h, unsigned alignment, unsigned size)
{
	if (!alignment)
		return 1;
	/* 2.4 and 2.5 have no cap */
	if (h->major == 2 && (h->minor == 4 || h->minor == 5))
		return size;
	return at_most(alignment, size);
}

/* --- blocks --- */

static bool same_trace(const struct lttng_header *a, const struct lttng_header *b)
{
	return a->major == b->major && a->minor == b->minor && a->big == b->big &&
	       a->word_size == b->word_size;
}

/* From offset on, look at each page for a block. */
static bool search(struct lttng *l, struct lttng_file *f, uint64_t *offset)
{
	struct lttng_header h;
	uint32_t where;
	size_t have;
	const uint8_t *p;

	for (; *offset < f->file_size; *offset += LTTNG_PAGE) {
		p = bytes(l, f, *offset, LTTNG_HEADER_MOST, &have);
		if (p && !lttng_header_parse(&h, p, have, &where) && h.major &&
		    (!f->any || same_trace(&h, &f->first)))
			return true;
	}
	return false;
}

/* What the counters of lost events say since the last block. */
static void count_lost(struct lttng_file *f, const struct lttng_header *before,
		       const struct lttng_header *now)
{
	uint32_t lost = now->lost - before->lost, blocks = now->corrupt - before->corrupt;

	/* a counter that fell began anew: another session */
	if (lost >> 31)
		lost = now->lost;
	if (blocks >> 31)
		blocks = now->corrupt;
	f->gap_lost = lost;
	f->gap_blocks = blocks;
	f->gap_pending = lost || blocks;
}

/* The size of the first block is beyond the file, but the next one may be there. */
static bool shrink(struct lttng *l, struct lttng_file *f)
{
	uint64_t at = f->at + LTTNG_PAGE, before = f->at;
	uint32_t unused = f->block.size - f->block.used;

	if (before || !search(l, f, &at) || at - before > f->block.size)
		return false;
	f->block.size = f->first.size = (uint32_t)(at - before);
	if (f->first.major == 2 && f->first.minor >= 5)
		unused = 0;
	f->used = unused < f->block.size - f->block.length ? f->block.size - unused : f->block.size;
	return true;
}

static int next_block(struct lttng *l, struct lttng_file *f)
{
	struct lttng_header h, before = f->block;
	uint64_t at = f->at;
	const char *wrong;
	const uint8_t *p;
	uint32_t where;
	size_t have;

	if (f->in_block)
		at += f->first.major == 2 && f->first.minor >= 5 ? f->block.size : f->first.size;
	f->in_block = false;
	for (;;) {
		if (f->cut || at >= f->file_size) {
			f->done = true;
			return 0;
		}
		p = bytes(l, f, at, LTTNG_HEADER_MOST, &have);
		if (!p || !have) {
			f->done = true;
			return 0;
		}
		wrong = lttng_header_parse(&h, p, have, &where);
		if (!wrong && !h.major)
			wrong = "a block of another version";
		if (!wrong && !same_trace(&h, f->any ? &f->first : &l->header))
			wrong = "a block of another version, word size or byte order";
		if (!wrong)
			break;
		/* what follows the last block, a header's length at most, is the end of a cut one
		 */
		if (damage(l, f, at + (where < have ? where : 0), wrong, UINT64_MAX))
			return -1;
		at = (at / LTTNG_PAGE + 1) * LTTNG_PAGE;
		if (!search(l, f, &at)) {
			f->done = true;
			return 0;
		}
	}
	if (!f->any)
		f->first = h;
	if (h.major == 1 || h.minor < 5) {
		/* blocks of one size only: the first one's says where the next one is */
		if (h.size != f->first.size) {
			if (damage(l, f, at, "a block of another size than the first", UINT64_MAX))
				return -1;
			h.used = h.size - h.used < f->first.size - h.length && !h.unfinished
					 ? f->first.size - (h.size - h.used)
					 : f->first.size;
			h.size = f->first.size;
		}
	}
	f->any = true;
	f->at = at;
	f->block = h;
	f->in_block = true;
	f->used = h.used;
	f->position = h.length;
	f->tsc = h.begin;
	f->header_align = (uint8_t)align_of(&h, h.alignment, 4);
	f->short_headers = h.major == 2 && !h.unfinished;
	f->old_headers = h.major == 1 && !h.unfinished && h.heartbeat && !h.big && !f->compact;
	if (h.major == 1)
		f->header_align = (uint8_t)at_most(h.alignment, h.word_size);
	if (f->used > f->file_size - at && shrink(l, f)) {
		if (damage(l, f, at, "a block's size is beyond the next block", UINT64_MAX))
			return -1;
	} else if (f->used > f->file_size - at) {
		if (damage(l, f, f->file_size, "the file ends inside of a block", UINT64_MAX))
			return -1;
		f->used = (uint32_t)(f->file_size - at);
		f->cut = true;
	} else if (h.unfinished) {
		if (damage(l, f, at, "a block that its writer did not finish", UINT64_MAX))
			return -1;
		if (f->used > f->file_size - at)
			f->used = (uint32_t)(f->file_size - at);
	} else if (h.size > f->file_size - at && !f->quiet) {
		/* all its events are there */
		if (damage(l, f, f->file_size, "the file ends inside of a block, behind its events",
			   0))
			return -1;
	}
	if (f->used < f->position)
		f->position = f->used;
	count_lost(f, &before, &h);
	return 0;
}

/* --- headers of events --- */

static const char *header_2(struct lttng_file *f, const uint8_t *p, uint32_t n, uint32_t position,
			    uint32_t *id, uint32_t *length)
{
	const struct lttng_header *h = &f->block;
	uint32_t i = lttng_pad(position, align_of(h, h->alignment, 4)), w;
	bool big = h->big;

	if (n < i + 4)
		return "an event's header runs past the end of its block";
	w = (uint32_t)get_uint(p + i, 4, big);
	i += 4;
	*id = w >> LTTNG_TIME_BITS;
	f->size = SIZE_UNKNOWN;
	f->tsc = lttng_advance(f->tsc, w & ((1u << LTTNG_TIME_BITS) - 1), LTTNG_TIME_BITS);
	if (__builtin_expect(*id < LTTNG_ID_FULL_TIME, 1)) {
		*length = i;
		return NULL;
	}
	w = *id;
	if (n < i + 16 && n < i + (w == LTTNG_ID_WIDE ? 2 : 4))
		return "an event's header runs past the end of its block";
	*id = (uint32_t)get_uint(p + i, 2, big);
	i += 2;
	if (w != LTTNG_ID_WIDE) {
		f->size = (uint32_t)get_uint(p + i, 2, big);
		i += 2;
		if (f->size == LTTNG_SIZE_WIDE) {
			if (n < i + 4)
				return "an event's header runs past the end of its block";
			f->size = (uint32_t)get_uint(p + i, 4, big);
			i += 4;
		}
	}
	if (w == LTTNG_ID_FULL_TIME) {
		i += lttng_pad(position + i, align_of(h, h->alignment, 8));
		if (n < i + 8)
			return "an event's header runs past the end of its block";
		f->tsc = get_uint(p + i, 8, big);
		i += 8;
	}
	*length = i;
	return NULL;
}

static const char *header_1(struct lttng_file *f, const uint8_t *p, uint32_t n, uint32_t position,
			    uint32_t *id, uint32_t *length)
{
	const struct lttng_header *h = &f->block;
	unsigned align = at_most(h->alignment, h->word_size), time = h->heartbeat ? 4 : 8;
	uint32_t i = lttng_pad(position, align);

	if (n < i + time + 4)
		return "an event's header runs past the end of its block";
	f->tsc = h->heartbeat ? lttng_advance(f->tsc, get_uint(p + i, 4, h->big), 32)
			      : get_uint(p + i, 8, h->big);
	*id = (uint32_t)get_uint(p + i + time, 2, h->big);
	f->size = (uint32_t)get_uint(p + i + time + 2, 2, h->big);
	if (f->size == LTTNG_SIZE_WIDE)
		f->size = SIZE_UNKNOWN;
	i += time + 4;
	*length = i + lttng_pad(position + i, align);
	return NULL;
}

static const char *header_compact(struct lttng_file *f, const uint8_t *p, uint32_t n,
				  uint32_t position, uint32_t *id, uint32_t *length)
{
	const struct lttng_header *h = &f->block;
	uint32_t i = lttng_pad(position, at_most(h->alignment, 4)), w;
	unsigned shift = h->tsc_shift;
	uint64_t rest = f->tsc & (((uint64_t)1 << shift) - 1);

	if (n < i + 4)
		return "an event's header runs past the end of its block";
	w = (uint32_t)get_uint(p + i, 4, h->big);
	f->tsc = lttng_advance(f->tsc >> shift, w & (((uint64_t)1 << h->tsc_bits) - 1), h->tsc_bits)
			 << shift |
		 rest;
	*id = (uint32_t)((w & (((uint64_t)1 << h->data_shift) - 1)) >> h->tsc_bits);
	f->data_bits = h->data_shift < 32 ? w >> h->data_shift : 0;
	f->size = SIZE_UNKNOWN;
	*length = i + 4;
	return NULL;
}

/* An event that cannot be read: over it where its length is known. */
static int skip_unknown(struct lttng *l, struct lttng_file *f, uint32_t id)
{
	char what[80];

	snprintf(what, sizeof what, "an event of an unknown id (%u)", id);
	if (f->size == SIZE_UNKNOWN || f->size > f->used - f->payload || f->block.unfinished)
		return abandon(l, f, f->position, what);
	f->position = f->payload + f->size;
	return f->cut ? 0 : damage(l, f, f->at + f->payload, what, 1);
}

int lttng_file_next(struct lttng *l, struct lttng_file *f)
{
	for (;;) {
		const char *wrong;
		const uint8_t *p;
		uint32_t id, length = 0;
		uint64_t before = f->tsc, from;
		size_t have;

		/* what nearly all are: 2.x, of a low id, all of its header at hand */
		from = f->at + f->position - f->offset;
		if (__builtin_expect(f->short_headers && f->position < f->used &&
					     f->used - f->position >= EVENT_HEADER &&
					     from + EVENT_HEADER <= f->filled,
				     1)) {
			uint32_t pad = lttng_pad(f->position, f->header_align), w;

			memcpy(&w, f->data + from + pad, 4);
			w = f->block.big ? be32toh(w) : le32toh(w);
			id = w >> LTTNG_TIME_BITS;
			if (id < LTTNG_ID_FULL_TIME && id < f->channel->size &&
			    f->channel->markers[id] && f->channel->markers[id]->usable) {
				f->marker = f->channel->markers[id];
				f->size = SIZE_UNKNOWN;
				f->next = f->tsc = lttng_advance(
					f->tsc, w & ((1u << LTTNG_TIME_BITS) - 1), LTTNG_TIME_BITS);
				f->payload = f->position + pad + 4;
				f->payload += lttng_pad(f->payload, f->marker->payload_align);
				return 0;
			}
		}
		/* and 1.0, with its time and sizes */
		if (f->old_headers && f->position < f->used &&
		    f->used - f->position >= EVENT_HEADER && from + EVENT_HEADER <= f->filled) {
			uint32_t at = f->position + lttng_pad(f->position, f->header_align);
			uint64_t w = get_u64(f->data + from + (at - f->position));

			id = w >> 32 & 0xffff;
			if (id != LTTNG_HEARTBEAT_64 && id < f->channel->size &&
			    f->channel->markers[id] && f->channel->markers[id]->usable) {
				f->marker = f->channel->markers[id];
				f->size = (uint32_t)(w >> 48);
				if (f->size == LTTNG_SIZE_WIDE)
					f->size = SIZE_UNKNOWN;
				f->next = f->tsc = lttng_advance(f->tsc, w & 0xffffffff, 32);
				f->payload = at + 8 + lttng_pad(at + 8, f->header_align);
				return 0;
			}
		}
		while (__builtin_expect(!f->in_block || f->position >= f->used, 0)) {
			if (next_block(l, f))
				return -1;
			if (f->done) {
				f->next = UINT64_MAX;
				return 0;
			}
			if (f->gap_pending) {
				f->next = f->tsc;
				return 0;
			}
		}
		p = block_bytes(l, f, f->position, EVENT_HEADER, &have);
		if (!p)
			return -1;
		if (have > UINT32_MAX)
			have = UINT32_MAX;
		if (f->block.major == 2)
			wrong = header_2(f, p, (uint32_t)have, f->position, &id, &length);
		else if (f->compact)
			wrong = header_compact(f, p, (uint32_t)have, f->position, &id, &length);
		else
			wrong = header_1(f, p, (uint32_t)have, f->position, &id, &length);
		/* what was in the memory before is older, and seems to come after a wrap */
		if (!wrong && f->block.unfinished &&
		    (f->tsc < before || f->tsc - before > (uint64_t)1 << 26))
			wrong = "";
		if (wrong) {
			f->tsc = before;
			if (abandon(l, f, f->position, wrong))
				return -1;
			continue;
		}
		f->payload = f->position + length;
		f->marker = lttng_marker(l, f->channel, id);
		if (__builtin_expect(!f->marker, 0)) {
			f->tsc = before;
			if (skip_unknown(l, f, id))
				return -1;
			continue;
		}
		if (f->block.major == 2) {
			f->payload += lttng_pad(f->payload, f->marker->payload_align);
		} else if (id == LTTNG_HEARTBEAT_64) {
			/* its payload is the full time */
			if (f->payload > f->used || f->used - f->payload < 8) {
				f->tsc = before;
				if (abandon(l, f, f->position, "a heartbeat runs past its block"))
					return -1;
				continue;
			}
			p = block_bytes(l, f, f->payload, 8, &have);
			if (p && have >= 8)
				f->tsc = get_uint(p, 8, f->block.big);
		}
		f->next = f->tsc;
		return 0;
	}
}

/* --- payloads --- */

/* Where the payload ends that begins at position; 0: not within n bytes. */
static uint32_t take_steps(struct lttng *l, struct lttng_file *f, const struct lttng_marker *m,
			   const uint8_t *p, size_t n, uint32_t position, bool *strings)
{
	bool big = f->block.big, packed = f->compact;
	size_t i = 0;
	const struct lttng_step *s = m->steps, *end = s + m->nsteps;

	if (f->compact && m->compact) {
		uint8_t bits[8];

		put_u64(bits, f->data_bits);
		memcpy(l->fixed + s->offset, bits, s->size);
		s++;
	}
	for (; s < end; s++) {
		if (!packed)
			i += lttng_pad(position + (uint32_t)i, s->align);
		if (s->size) {
			uint8_t *to = l->fixed + s->offset;

			if (i > n || n - i < s->size)
				return 0;
			switch (s->size) {
			case 1: *to = p[i]; break;
			case 2: put_u16(to, (uint16_t)get_uint(p + i, 2, big || s->network)); break;
			case 4: put_u32(to, (uint32_t)get_uint(p + i, 4, big || s->network)); break;
			default: put_u64(to, get_uint(p + i, 8, big || s->network));
			}
			i += s->size;
		} else {
			const uint8_t *nul = i < n ? memchr(p + i, 0, n - i) : NULL;
			size_t size;

			*strings = true;
			if (!nul)
				return 0;
			size = (size_t)(nul - p) - i + 1;
			if (buffer_append(&l->tail, p + i, size))
				return UINT32_MAX;
			i += size;
		}
	}
	return position + (uint32_t)i;
}

int lttng_file_event(struct lttng *l, struct lttng_file *f, struct lttng_event *ev)
{
	struct lttng_marker *m = f->marker;
	uint32_t position = f->payload, end;
	size_t want = m->most + (m->nstrings ? 512 : 0), have;
	const uint8_t *p;

	ev->marker = m;
	ev->tsc = f->next;
	ev->fixed = l->fixed;
	put_u32(l->fixed + m->fixed_size - 4, 0); /* padding */
	put_u64(l->fixed, f->next);
	if (__builtin_expect(
		    m->plain_words && position <= f->used && m->plain <= f->used - position &&
			    (f->size == SIZE_UNKNOWN || f->size == m->plain) &&
			    f->at + position - f->offset + PLAIN_SHORT + m->plain <= f->filled,
		    1)) {
		p = f->data + (f->at + position - f->offset);
		/* most are short: the same for all, which needs no guess how often */
		memcpy(l->fixed + 8, p, PLAIN_SHORT);
		if (m->plain > PLAIN_SHORT)
			memcpy(l->fixed + 8 + PLAIN_SHORT, p + PLAIN_SHORT, m->plain - PLAIN_SHORT);
		memset(l->fixed + 8 + m->plain, 0, 4); /* padding, if there is some */
		ev->tail = l->tail.data;
		ev->tail_size = 0;
		f->position = position + m->plain;
		return 1;
	}
	if (position > f->used)
		return abandon(l, f, f->position, "an event runs past the end of its block");
	if (f->size != SIZE_UNKNOWN && f->size > f->used - position)
		return abandon(l, f, f->position,
			       "an event's size reaches past the end of its block");
	for (;;) {
		p = block_bytes(l, f, position, want, &have);
		if (!p)
			return -1;
		if (m->plain && !f->compact && !f->block.big && have >= m->plain) {
			memcpy(l->fixed + 8, p, m->plain);
			end = position + m->plain;
			ev->tail = l->tail.data;
			ev->tail_size = 0;
			break;
		}
		bool strings = false;

		l->tail.size = 0;
		end = take_steps(l, f, m, p, have, position, &strings);
		if (end == UINT32_MAX)
			return -1;
		ev->tail = l->tail.data;
		ev->tail_size = (uint32_t)l->tail.size;
		if (end)
			break;
		if (have >= f->used - position || f->at + position + have >= f->file_size)
			return abandon(l, f, f->position,
				       "an event runs past the end of its block");
		want = 2 * have > 4096 ? 2 * have : 4096;
	}
	if (f->size != SIZE_UNKNOWN && __builtin_expect(f->size != end - position, 0)) {
		if (m->has_eight && !m->eight && f->block.major == 1) {
			lttng_marker_reread(l, m);
			return lttng_file_event(l, f, ev);
		}
		return abandon(l, f, f->position, "an event's size is not that of its description");
	}
	f->position = end;
	return 1;
}

/* --- opening --- */

int lttng_file_open(struct lttng *l, struct lttng_file *f, const char *member, size_t window,
		    bool keep)
{
	struct error e;

	f->member = member;
	f->keep = keep;
	f->next = UINT64_MAX;
	f->fd = tree_fd(l->input->tree, member, &f->start, &f->file_size, &e);
	if (f->fd < 0) {
		if (!f->quiet)
			input_damage_error(l->input, &e);
		f->done = true;
		return 0;
	}
	if (!keep) {
		close(f->fd);
		f->fd = -1;
	}
	/* a CPU that never wrote */
	if (f->file_size < 60) {
		f->done = true;
		return 0;
	}
	if (window > f->file_size)
		window = (size_t)align_up(f->file_size, LTTNG_PAGE);
	f->capacity = window;
	f->data = malloc(window);
	return f->data ? lttng_file_next(l, f) : -1;
}

void lttng_file_close(struct lttng_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	free(f->data);
	f->data = NULL;
	f->filled = 0;
}
