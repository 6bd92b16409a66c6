/*
 * event.c - reads headers and payloads of events of every kind
 */
#include "cmd/trdecode/lttng/event.h"

#include <stdio.h>

#include "cmd/trdecode/lttng/lttng.h"

enum { EVENT_HEADER = 40 }; /* most bytes of the header of an event, with padding */

static const char *header_2(struct lttng_file *f, const uint8_t *p, uint32_t n, uint32_t position,
			    uint32_t *id, uint32_t *length)
{
	const struct lttng_header *h = &f->block;
	uint32_t i = lttng_pad(position, lttng_align_of(h, h->alignment, 4)), w;
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
		i += lttng_pad(position + i, lttng_align_of(h, h->alignment, 8));
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
	unsigned align = lttng_at_most(h->alignment, h->word_size), time = h->heartbeat ? 4 : 8;
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
	uint32_t i = lttng_pad(position, lttng_at_most(h->alignment, 4)), w;
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

/* Skip an event that cannot be read, if its length is known. */
static int skip_unknown(struct lttng *l, struct lttng_file *f, uint32_t id)
{
	char what[80];

	snprintf(what, sizeof what, "an event of an unknown id (%u)", id);
	if (f->size == SIZE_UNKNOWN || f->size > f->used - f->payload || f->block.unfinished)
		return lttng_file_abandon(l, f, f->position, what);
	f->position = f->payload + f->size;
	return f->cut ? 0 : lttng_file_damage(l, f, f->at + f->payload, what, 1);
}

/* Read the header at f->position, in n bytes. Return NULL, or what is wrong. */
static const char *read_header(struct lttng_file *f, const uint8_t *p, uint32_t n, uint32_t *id,
			       uint32_t *length)
{
	if (f->block.major == 2)
		return header_2(f, p, n, f->position, id, length);
	if (f->compact)
		return header_compact(f, p, n, f->position, id, length);
	return header_1(f, p, n, f->position, id, length);
}

/* Take the full time from the payload of a heartbeat. false: the payload exceeds the block. */
static bool take_heartbeat(struct lttng *l, struct lttng_file *f)
{
	const uint8_t *p;
	size_t have;

	if (f->payload > f->used || f->used - f->payload < 8)
		return false;
	p = lttng_window_block(l, f, f->payload, 8, &have);
	if (p && have >= 8)
		f->tsc = get_uint(p, 8, f->block.big);
	return true;
}

int lttng_file_next(struct lttng *l, struct lttng_file *f)
{
	for (;;) {
		const char *wrong;
		const uint8_t *p;
		uint32_t id, length = 0;
		uint64_t before = f->tsc;
		size_t have;

		while (__builtin_expect(!f->in_block || f->position >= f->used, 0)) {
			if (lttng_file_block(l, f))
				return -1;
			f->order = 0;
			if (f->done || f->gap.pending) {
				f->next = f->done ? UINT64_MAX : f->tsc;
				return 0;
			}
		}
		p = lttng_window_block(l, f, f->position, EVENT_HEADER, &have);
		if (!p)
			return -1;
		if (have > UINT32_MAX)
			have = UINT32_MAX;
		wrong = read_header(f, p, (uint32_t)have, &id, &length);
		/* the memory's earlier content is older, and seems to follow a wrap */
		if (!wrong && f->block.unfinished &&
		    (f->tsc < before || f->tsc - before > (uint64_t)1 << 26))
			wrong = "";
		if (wrong) {
			f->tsc = before;
			if (lttng_file_abandon(l, f, f->position, wrong))
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
			f->payload += lttng_pad(f->payload, f->marker->layout.align);
		} else if (id == LTTNG_HEARTBEAT_64 && !take_heartbeat(l, f)) {
			f->tsc = before;
			if (lttng_file_abandon(l, f, f->position,
					       "a heartbeat runs past its block"))
				return -1;
			continue;
		}
		f->next = f->tsc;
		if (__builtin_expect(f->marker->transcoded.order, 0))
			return lttng_transcoded_order(l, f);
		f->order = 0;
		return 0;
	}
}

/* --- payloads --- */

/* Convert the payload at position, and return where it ends; 0: not within n bytes. */
static uint32_t take_steps(struct lttng *l, struct lttng_file *f, const uint8_t *p, size_t n,
			   uint32_t position, bool *strings)
{
	bool big = f->block.big, packed = f->compact;
	const struct lttng_marker *m = f->marker;
	size_t i = 0;
	const struct lttng_step *s = m->layout.steps, *end = s + m->layout.nsteps;

	if (f->compact && m->layout.compact) {
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
	size_t want = m->layout.most + (m->layout.nstrings ? 512 : 0), have;
	const uint8_t *p;

	ev->marker = m;
	ev->tsc = f->next;
	ev->fixed = l->fixed;
	put_u32(l->fixed + m->layout.fixed_size - 4, 0); /* padding */
	put_u64(l->fixed, f->next);
	if (position > f->used)
		return lttng_file_abandon(l, f, f->position,
					  "an event runs past the end of its block");
	if (f->size != SIZE_UNKNOWN && f->size > f->used - position)
		return lttng_file_abandon(l, f, f->position,
					  "an event's size reaches past the end of its block");
	for (;;) {
		p = lttng_window_block(l, f, position, want, &have);
		if (!p)
			return -1;
		if (m->layout.plain && !f->compact && !f->block.big && have >= m->layout.plain) {
			memcpy(l->fixed + 8, p, m->layout.plain);
			end = position + m->layout.plain;
			ev->tail = l->tail.data;
			ev->tail_size = 0;
			break;
		}
		bool strings = false;

		l->tail.size = 0;
		end = take_steps(l, f, p, have, position, &strings);
		if (end == UINT32_MAX)
			return -1;
		ev->tail = l->tail.data;
		ev->tail_size = (uint32_t)l->tail.size;
		if (end)
			break;
		if (have >= f->used - position || f->at + position + have >= f->window.size)
			return lttng_file_abandon(l, f, f->position,
						  "an event runs past the end of its block");
		want = 2 * have > 4096 ? 2 * have : 4096;
	}
	if (f->size != SIZE_UNKNOWN && __builtin_expect(f->size != end - position, 0)) {
		if (m->has_eight && !m->eight && f->block.major == 1) {
			lttng_marker_reread(l, m);
			return lttng_file_event(l, f, ev);
		}
		return lttng_file_abandon(l, f, f->position,
					  "an event's size is not that of its description");
	}
	f->position = end;
	return 1;
}

const uint8_t *lttng_event_text(const struct lttng_event *ev, int number, size_t *n)
{
	const uint8_t *p = ev->tail, *end = p + ev->tail_size, *nul;

	for (; number >= 0 && p < end && (nul = memchr(p, 0, (size_t)(end - p))); p = nul + 1)
		if (!number--) {
			*n = (size_t)(nul - p);
			return p;
		}
	*n = 0;
	return (const uint8_t *)"";
}
