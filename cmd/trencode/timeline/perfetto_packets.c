#include "cmd/trencode/timeline/perfetto_private.h"

#include "common/formats/perfetto.h"
#include "common/util/utf8.h"

enum { SEQUENCE = 1 };

int perfetto_write_out(struct encoding *en, struct error *e)
{
	struct perfetto *s = en->state;
	int r = output_write_buffer(en->out, &s->out, e);

	buffer_clear(&s->out);
	return r;
}

int perfetto_put_packet(struct perfetto *s, uint64_t *token, struct error *e)
{
	struct buffer *out = s->drop ? &s->clean : &s->out;

	if (s->drop)
		buffer_clear(out);
	if (protobuf_message(out, TRACE_PACKET, &s->packet))
		return error_no_memory(e);
	buffer_clear(&s->packet);
	return s->drop ? spill_journal_add(&s->held, out, token, e) : 0;
}

int perfetto_put_bundle(struct perfetto *s, bool derived, const struct buffer *message,
			struct error *e)
{
	uint32_t sequence = derived ? PERFETTO_DERIVED_SEQUENCE : SEQUENCE;
	uint64_t token;

	buffer_clear(&s->packet);
	if (protobuf_uint(&s->packet, PACKET_SEQUENCE_ID, sequence) ||
	    protobuf_message(&s->packet, PACKET_FTRACE, message))
		return error_no_memory(e);
	return perfetto_put_packet(s, &token, e);
}

int perfetto_begin_packet(struct perfetto *s, uint64_t time, unsigned flags)
{
	s->packet.size = 0;
	return protobuf_uint(&s->packet, PACKET_TIMESTAMP, time) ||
			       protobuf_uint(&s->packet, PACKET_SEQUENCE_ID, SEQUENCE) ||
			       protobuf_uint(&s->packet, PACKET_SEQUENCE_FLAGS, flags)
		       ? -1
		       : 0;
}

int perfetto_put_interned(struct perfetto *s, uint64_t time, struct error *e)
{
	uint64_t token;

	if (!s->interned.size)
		return 0;
	if (perfetto_begin_packet(s, time, STATE_NEEDED) ||
	    protobuf_message(&s->packet, PACKET_INTERNED_DATA, &s->interned))
		return error_no_memory(e);
	s->interned.size = 0;
	return perfetto_put_packet(s, &token, e);
}

static int perfetto_put_clocks(struct perfetto *s, const struct clock *clock, uint64_t time)
{
	int64_t wall = clock && clock->flags & CLOCK_HAS_WALL ? clock->wall : 0;
	uint64_t times[2] = {time, time + (uint64_t)wall};
	static const uint8_t ids[2] = {CLOCK_BOOTTIME_ID, CLOCK_REALTIME_ID};

	if (!clock || !(clock->flags & (CLOCK_HAS_WALL | CLOCK_IS_WALL)))
		return 0;
	s->part.size = 0;
	for (int i = 0; i < 2; i++) {
		s->bit.size = 0;
		if (protobuf_uint(&s->bit, CLOCK_ID, ids[i]) ||
		    protobuf_uint(&s->bit, CLOCK_TIMESTAMP, times[i]) ||
		    protobuf_message(&s->part, SNAPSHOT_CLOCK, &s->bit))
			return -1;
	}
	return protobuf_message(&s->packet, PACKET_CLOCK_SNAPSHOT, &s->part);
}

int perfetto_put_first(struct perfetto *s, const struct event *ev, struct error *e)
{
	uint64_t token;

	if (perfetto_begin_packet(s, ev->time, STATE_CLEARED) ||
	    protobuf_uint(&s->packet, PACKET_FIRST, 1) ||
	    perfetto_put_clocks(s, ev->lane->clock, ev->time))
		return error_no_memory(e);
	return perfetto_put_packet(s, &token, e);
}

int perfetto_put_text(struct perfetto *s, struct buffer *to, uint32_t field, const void *p,
		      size_t n)
{
	s->bit.size = 0;
	return utf8_append(&s->bit, p, n) || protobuf_message(to, field, &s->bit) ? -1 : 0;
}

int perfetto_put_descriptor(struct perfetto *s, uint64_t time, struct error *e)
{
	uint64_t token;
	struct buffer descriptor = s->part;

	if (perfetto_begin_packet(s, time, STATE_NEEDED) ||
	    protobuf_message(&s->packet, PACKET_TRACK_DESCRIPTOR, &descriptor))
		return error_no_memory(e);
	return perfetto_put_packet(s, &token, e);
}

/* Note that a number is interned. Returns 1 if it was, 0 if it is new, -1 when out of memory. */
static int intern_known(struct perfetto *s, unsigned kind, uint32_t number)
{
	uint8_t *known;
	int was;

	if (ARRAY_REACH(s->known[kind], s->nknown[kind], number))
		return -1;
	known = s->known[kind];
	was = known[number];
	known[number] = 1;
	return was;
}

int perfetto_intern_line(struct perfetto *s, uint32_t location,
			 const struct location_symbol *symbol)
{
	int known = intern_known(s, INTERNED_SOURCE_LOCATION, location);

	if (known)
		return known < 0 ? -1 : 0;
	s->clean.size = 0;
	return protobuf_uint(&s->clean, ENTRY_IID, location) ||
			       perfetto_put_text(s, &s->clean, SOURCE_FILE, symbol->file.text,
						 symbol->file.size) ||
			       protobuf_uint(&s->clean, SOURCE_LINE, symbol->line) ||
			       protobuf_message(&s->interned, INTERNED_SOURCE_LOCATION, &s->clean)
		       ? -1
		       : 0;
}

int perfetto_intern_name(struct perfetto *s, unsigned kind, uint32_t number)
{
	struct text_ref text;
	int known = intern_known(s, kind, number);

	if (known)
		return known < 0 ? -1 : 0;
	text = dictionary_string(s->names.dictionary, number);
	s->clean.size = 0;
	return protobuf_uint(&s->clean, 1, number) ||
			       perfetto_put_text(s, &s->clean, 2, text.text, text.size) ||
			       protobuf_message(&s->interned, kind, &s->clean)
		       ? -1
		       : 0;
}
