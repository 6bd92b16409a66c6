/*
 * file.c - reads a tracefile forward: loads bytes, converts times, reads the headers of events
 *
 * Damage costs the rest of its packet: each packet records where the next one begins.
 */
#include <stdlib.h>

#include "cmd/trdecode/ctf/ctf.h"
#include "cmd/trdecode/input/merge.h"

enum {
	SECOND = 1000000000,
	EVENT_MOST = 256 << 20, /* bytes of one event */
	SHAPE_NEED = 16,	/* most bytes of the header of a shape, with padding */
};

/* --- loading bytes --- */

int ctf_file_refill(struct ctf_file *f, uint64_t from, size_t n, struct error *e)
{
	struct ctf_cursor *c = &f->cursor;
	uint64_t offset = f->packet.at + from / 8, left;
	ssize_t have;

	window_skip(&f->window, (size_t)(offset - f->window.offset));
	have = window_need(&f->window, n, e);
	if (have < 0)
		return -1;
	c->data = window_at(&f->window);
	c->origin = from / 8 * 8;
	c->have = c->origin + 8 * (uint64_t)have;
	left = f->packet.content > c->origin ? f->packet.content : c->origin;
	if (c->have > left)
		c->have = left;
	return 0;
}

int ctf_file_more(struct ctf_file *f, uint64_t from, struct error *e)
{
	struct ctf_cursor *c = &f->cursor;
	uint64_t had = c->have - c->origin;
	size_t n = f->window.capacity;

	/* slide the window first, then grow it */
	if (from / 8 * 8 == c->origin) {
		if (had / 8 >= EVENT_MOST)
			return 0;
		n = (size_t)(had / 8) * 2;
		if (n < f->window.capacity)
			n = f->window.capacity;
	}
	had = c->have;
	if (ctf_file_refill(f, from, n, e))
		return -1;
	c->at = from;
	return c->have > had;
}

/* --- time --- */

bool ctf_file_own_time(const struct ctf_file *f, uint64_t value, uint64_t *ns)
{
	const struct ctf_stream *s = f->stream;
	bool raw = f->trace->ctf->raw;
	/* below 2^65, so that ns are below 2^95 */
	__int128 time = (__int128)value + (raw ? 0 : s->offset);

	/* one division for ticks and rest, rounded down: exact to the ns */
	if (s->frequency != SECOND) {
		time = time * SECOND;
		time = time / s->frequency - (time % s->frequency < 0);
	}
	time += raw ? 0 : (__int128)s->offset_s * SECOND;
	if (time < 0) {
		f->trace->ctf->early += !f->survey;
		time = 0;
	}
	if (time >= (__int128)TIME_LIMIT)
		return false;
	*ns = (uint64_t)time;
	return true;
}

bool ctf_file_time(const struct ctf_file *f, uint64_t value, uint64_t *ns)
{
	if (!ctf_file_own_time(f, value, ns))
		return false;
	*ns = merge_shifted(*ns, f->trace->ctf->input->shift);
	return true;
}

/* --- damage --- */

static void report_damage(const struct ctf_file *f, uint64_t offset, const char *what)
{
	struct input *in = f->trace->ctf->input;
	char path[512];

	input_damage(in, tree_path(in->tree, f->member, path, sizeof path), offset, "%s", what);
}

int ctf_file_damage(struct ctf_file *f, uint64_t offset, const char *what)
{
	struct gap gap = {.reason = GAP_DAMAGE,
			  .unit = GAP_EVENTS,
			  .count = UINT64_MAX,
			  .offset = offset,
			  .file = f->member,
			  .message = what};
	uint64_t time;
	uint32_t lane;

	/* it is reported where the file is read */
	if (f->survey)
		return 0;
	report_damage(f, offset, what);
	if (!f->trace->ctf->begun)
		return 0;
	lane = ctf_lane(f, -1, -1, -1, NULL, 0);
	if (!f->stream || !ctf_file_time(f, f->cursor.time, &time))
		time = f->last_time;
	return !lane || writer_gap(f->trace->ctf->w, time, lane, &gap) ? -1 : 0;
}

int ctf_file_abandon(struct ctf_file *f, uint64_t at, const char *what)
{
	f->in_packet = false;
	/* the cut of a file was reported at the beginning of its packet */
	return f->cut ? 0 : ctf_file_damage(f, f->packet.at + at / 8, what);
}

/* --- events --- */

/* Read the header of an event in one of the usual shapes. false: not enough bytes. Without this
 * 'trdecode | trstat -g name -c count' of t/bench/ctf.sh takes 1.7 times the instructions. */
static inline bool read_shape(struct ctf_cursor *c, const struct ctf_stream *s, uint64_t *id)
{
	uint64_t at = ctf_align(c->at, 8);
	const uint8_t *p = c->data + (at - c->origin) / 8;
	unsigned size = s->id_size;
	uint32_t word;

	if (at > c->have || c->have - at < 8 * SHAPE_NEED)
		return false;
	switch (s->shape) {
	case SHAPE_COMPACT:
		word = get_u32(p);
		*id = word & 31;
		if (*id < 31) {
			c->time = ctf_later(c->time, word >> 5, 27);
			c->at = at + 32;
			return true;
		}
		size = 1;
		break;
	case SHAPE_LARGE:
		*id = get_u16(p);
		if (*id < 65535) {
			c->time = ctf_later(c->time, get_u32(p + 2), 32);
			c->at = at + 48;
			return true;
		}
		size = 2;
		break;
	default:
		*id = get_uint(p, size, false);
		c->time = get_u64(p + size);
		c->at = at + 8 * size + 64;
		return true;
	}
	*id = get_u32(p + size);
	c->time = get_u64(p + size + 4);
	c->at = at + 8 * size + 96;
	return true;
}

static enum ctf_got read_header(struct ctf_file *f, uint64_t *id)
{
	struct ctf_cursor *c = &f->cursor;
	const struct ctf_part *p = f->stream->layout.scope[SCOPE_EVENT_HEADER];
	uint64_t time = c->time;
	enum ctf_got got;

	if (f->stream->shape != SHAPE_ANY && read_shape(c, f->stream, id))
		return CTF_GOT;
	*id = 0;
	if (!p)
		return CTF_GOT;
	c->seen = 0;
	c->budget = CTF_BUDGET;
	got = ctf_step_over(c, p);
	if (got != CTF_GOT)
		c->time = time;
	else if (ctf_seen(c, CTF_ID))
		*id = c->role[CTF_ID];
	return got;
}

/* Test whether the packet has no more events; padding smaller than an event may follow the last
 * one. */
static bool at_end(const struct ctf_file *f)
{
	return f->cursor.at >= f->packet.content;
}

/* Skip the packet if another file contained it. */
int ctf_file_begun(struct ctf_file *f, struct error *e)
{
	int again = ctf_loss_take(f);

	f->packet.fresh = false;
	if (again > 0)
		f->in_packet = false;
	return again < 0 ? error_no_memory(e) : 0;
}

/* Go to the next packet with events, or with losses before it, unless the present one has more. -1:
 * failure. */
static int find_packet(struct ctf_file *f, struct error *e)
{
	/* losses before the first packet are computed when other files have reached it */
	while ((!f->in_packet || at_end(f)) && !f->packet.fresh) {
		if (ctf_packet_next(f, e))
			return -1;
		if (!f->done && !f->packet.fresh && ctf_file_begun(f, e))
			return -1;
		if (f->done || f->packet.lost || f->packet.packets_lost)
			break;
	}
	return 0;
}

/* Set the time of the next event. Returns false, with the time of the event before, if the cursor's
 * time is out of range. */
static bool set_next_time(struct ctf_file *f)
{
	if (ctf_file_time(f, f->cursor.time, &f->next.time))
		return true;
	f->next.time = f->last_time;
	return false;
}

/* Count a time that is earlier than that of the event before it; report the first one. */
static void note_step_back(struct ctf_file *f, uint64_t offset)
{
	struct ctf *ctf = f->trace->ctf;
	char path[512];

	if (!ctf->back++ && !ctf->input->decoding->quiet && !ctf->input->decoding->times_only)
		warn(tree_path(ctf->input->tree, f->member, path, sizeof path), offset,
		     "the time steps back: the events are in the order of the file");
}

int ctf_file_next(struct ctf_file *f, struct error *e)
{
	struct ctf_cursor *c = &f->cursor;

	for (;;) {
		uint64_t from, id, time;
		enum ctf_got got;
		int grown;

		if (find_packet(f, e))
			return -1;
		if (f->done) {
			f->next.time = UINT64_MAX;
			return 0;
		}
		if (f->packet.lost || f->packet.packets_lost || !f->in_packet || at_end(f)) {
			/* a gap, or a first packet without events: at the packet's beginning */
			set_next_time(f);
			f->class = NULL;
			return 0;
		}
		from = f->header = c->at;
		time = c->time;
		got = read_header(f, &id);
		if (__builtin_expect(got == CTF_SHORT, 0)) {
			grown = ctf_file_more(f, from, e);
			if (grown < 0)
				return -1;
			if (grown)
				continue;
		}
		if (got == CTF_GOT)
			f->class = ctf_class_of(f->stream, id);
		if (__builtin_expect(got == CTF_GOT && f->class && f->class->usable, 1)) {
			f->payload = c->at;
			if (set_next_time(f)) {
				if (f->next.time < f->last_time)
					note_step_back(f, f->packet.at + from / 8);
				f->last_time = f->next.time;
				return 0;
			}
			c->time = time; /* keep the event */
			report_damage(f, f->packet.at + from / 8,
				      "an event with an impossible time");
			return 0;
		}
		if (ctf_file_abandon(f, from,
				     got == CTF_GOT ? "an event that the metadata does not declare"
						    : "the header of an event is cut short"))
			return -1;
	}
}

int ctf_file_open(struct ctf_file *f, struct error *e)
{
	struct ctf *ctf = f->trace->ctf;

	f->next.time = UINT64_MAX;
	f->packet.cpu = -1;
	f->cursor.slots = calloc(f->trace->metadata.slots + 1u, sizeof(uint64_t));
	if (!f->cursor.slots)
		return error_no_memory(e);
	if (window_open_one(&f->window, ctf->input, f->member, ctf->nfiles, e)) {
		input_damage_error(ctf->input, e);
		e->what[0] = '\0';
		f->done = true;
		return 0;
	}
	f->cursor.empty = CTF_EMPTY_LEAST + f->window.size;
	return ctf_file_next(f, e);
}

void ctf_file_close(struct ctf_file *f)
{
	window_close(&f->window);
	buffer_free(&f->packet.beginning);
	buffer_free(&f->packet.context);
	free(f->cursor.slots);
	f->cursor.slots = NULL;
	f->done = true;
}
