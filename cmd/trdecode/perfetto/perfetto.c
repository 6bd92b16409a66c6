/*
 * perfetto.c - the decoder of Perfetto's traces
 */
#include "cmd/trdecode/perfetto/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cli/program.h"
#include "common/formats/chrome.h"
#include "common/util/io.h"
#include "cmd/trdecode/input/merge.h"
#include "cmd/trdecode/input/process_names.h"
#include "cmd/trdecode/perfetto/packet_reader.h"

/* Test the field that the end of the first bytes cuts, and all after it: the message of a known
 * payload, or of interned data or defaults, that fits into the packet and begins with sound fields.
 * The sequence, which the service writes last, is after it. size: bytes of the packet. */
static bool is_known_payload(struct protobuf_view message, uint64_t size)
{
	const uint8_t *begin = message.at;
	struct protobuf_field f;
	uint64_t key, length;
	unsigned fields = 0;
	uint32_t number;

	while (protobuf_next(&message, &f) > 0)
		;
	if (!protobuf_varint(&message, &key) || !protobuf_varint(&message, &length) ||
	    (key & 7) != PROTOBUF_LENGTH || length > size - (uint64_t)(message.at - begin))
		return false;
	number = (uint32_t)(key >> 3);
	if (!number || (number != PACKET_INTERNED_DATA && number != PACKET_DEFAULTS &&
			!packet_payload_name(number)))
		return false;
	while (protobuf_next(&message, &f) > 0)
		fields++;
	/* the next field is cut, too */
	return fields || (protobuf_varint(&message, &key) && (key & 7) == PROTOBUF_LENGTH);
}

/* What the probe finds in packets. */
enum { FOUND_SERVICE = 1, FOUND_LIKELY = 2, FOUND_CUT = 4 };

/* Take a packet from the first bytes, and set bits of *found. Returns false if there is none. */
static bool probe_packet(struct protobuf_view *rest, bool first, unsigned *found)
{
	enum { LONGEST = 10 }; /* of a length */
	struct protobuf_view message;
	uint64_t length;
	bool cut;

	if (*rest->at++ != (TRACE_PACKET << 3 | PROTOBUF_LENGTH))
		return false;
	if (!protobuf_varint(rest, &length)) {
		cut = protobuf_size(*rest) < LONGEST;
		rest->at = rest->end;
		return cut && !first;
	}
	if (!length && first)
		return false;
	cut = length > protobuf_size(*rest);
	message = (struct protobuf_view){rest->at, cut ? rest->end : rest->at + length};
	if (!packet_is_sound(message, cut, false))
		return false;
	if (packet_is_sound(message, cut, true) || packet_is_compressed(message))
		*found |= FOUND_SERVICE;
	else if (!cut && packet_is_likely(message))
		*found |= FOUND_LIKELY;
	if (cut && (io_cut() || is_known_payload(message, length)))
		*found |= FOUND_CUT;
	rest->at = message.end;
	return true;
}

/* Test the packets in the first bytes: each field has the wire type of its number, and is there at
 * most once. Packets of a service have a sequence, and what is after one may be damaged. Of packets
 * without, which a program wrote, all in the first bytes are sound. With -f accept any packet. */
static enum bid perfetto_probe(const struct input *in)
{
	struct protobuf_view rest = {in->head, in->head};
	bool any = in->format && !strcmp(in->format, "perfetto"), good = true;
	unsigned found = 0;

	if (in->tree || !in->head_size)
		return BID_NONE;
	rest.end += in->head_size;
	while (good && rest.at < rest.end)
		good = probe_packet(&rest, rest.at == in->head, &found);
	if (found & FOUND_SERVICE)
		return BID_LIKELY;
	if (found & FOUND_CUT || (good && found & FOUND_LIKELY))
		return BID_CHANCE;
	return any && *in->head == (TRACE_PACKET << 3 | PROTOBUF_LENGTH) ? BID_CHANCE : BID_NONE;
}

static int perfetto_open(struct input *in, struct error *e)
{
	struct perfetto *p = calloc(1, sizeof *p);

	in->state = p;
	if (!p)
		return error_no_memory(e);
	p->input = in;
	p->w = in->decoding->writer;
	p->clocks.first = UINT64_MAX;
	sorter_init(&p->sorter);
	in->clock_name = "boot";
	return 0;
}

/* Declare the texts that are compared and used often. */
static int declare_texts(struct perfetto *p)
{
	struct {
		uint32_t *to;
		const char *text;
	} texts[] = {
		{&p->texts.call_id, PERFETTO_CALL_ID},
		{&p->texts.begin, "begin"},
		{&p->texts.end, "end"},
		{&p->texts.async_begin, "async begin"},
		{&p->texts.state_begin, "state begin"},
		{&p->texts.state_end, "state end"},
		{&p->texts.async_end, "async end"},
		{&p->texts.gap, CHROME_GAP},
		{&p->texts.gap_category, CHROME_GAP_CATEGORY},
		{&p->texts.unfinished, CHROME_UNFINISHED},
		{&p->texts.leave_name, CHROME_LEAVE_NAME},
		{&p->texts.kernel, "kernel"},
		{&p->texts.before, "called before the trace"},
		{&p->texts.nothing, "(no name)"},
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		*texts[i].to = writer_text(p->w, texts[i].text);
		if (!*texts[i].to)
			return -1;
	}
	return 0;
}

/* Return the error of a function that failed. */
static int perfetto_failed(const struct perfetto *p, struct error *e)
{
	if (p->error.what[0])
		*e = p->error;
	else
		error_no_memory(e);
	return -1;
}

uint32_t perfetto_text(struct perfetto *p, struct protobuf_view v)
{
	return writer_string(p->w, v.at, protobuf_size(v));
}

/* --- information --- */

/* Get the number of a field beyond PERFETTO_KINDS, and that of its packets. */
static uint32_t far_kind(const struct perfetto_counts *n, uint32_t i, uint64_t *packets)
{
	uint32_t kind;

	memcpy(&kind, intern_data(&n->far_kinds.keys, i), sizeof kind);
	*packets = get_u64(n->far.data + 8 * (n->far_kinds.numbers[i] - 1));
	return kind;
}

/* Print the number of packets of a kind. */
static void fact_kind(struct trace_info *info, uint32_t kind, uint64_t count)
{
	const char *name = packet_payload_name(kind);
	char text[80];

	if (!count)
		return;
	if (name)
		snprintf(text, sizeof text, "%s %" PRIu64, name, count);
	else
		snprintf(text, sizeof text, "field %" PRIu32 " %" PRIu64, kind, count);
	fact_item(info, "packet", text);
}

static int perfetto_info(struct input *in, struct trace_info *info, struct error *e)
{
	struct perfetto *p = in->state;
	const struct perfetto_counts *n = &p->counts;

	p->counting = true;
	if (declare_texts(p) || perfetto_read(p))
		return perfetto_failed(p, e);
	fact_text(info, "format", "perfetto");
	fact_text(info, "clock", perfetto_clock_name(p));
	fact_number(info, "events", n->events);
	fact_number(info, "tracks", p->tracks.count);
	fact_number(info, "sequences", p->sequences.size / sizeof(struct perfetto_sequence *));
	fact_number(info, "packets", n->packets);
	for (uint32_t i = 0; i < PERFETTO_KINDS; i++)
		fact_kind(info, i, n->kinds[i]);
	for (uint32_t i = 0; i < n->far_kinds.keys.count; i++) {
		uint64_t packets;
		uint32_t kind = far_kind(n, i, &packets);

		fact_kind(info, kind, packets);
	}
	return 0;
}

/* --- decoding --- */

static int perfetto_begin(struct input *in, struct error *e)
{
	struct perfetto *p = in->state;
	struct writer *w = p->w;
	int64_t wall;

	p->source = writer_source(w, &(struct source_entry){writer_text(w, "perfetto"),
							    writer_text(w, in->name), 0, 0});
	if (!p->source || declare_texts(p) || perfetto_read(p) ||
	    sorter_finish(&p->sorter, &p->error) || perfetto_find_overlaps(p))
		return perfetto_failed(p, e);
	if (io_cut() && !p->counts.packets)
		return error_set(e, in->name, 0, "the first packet is cut");
	perfetto_first_names(p);
	in->clock_name = perfetto_clock_name(p);
	in->has_wall = p->clocks.has_wall;
	in->wall = p->clocks.wall;
	if (merge_choose_clock(in, e))
		return -1;
	wall = merge_wall(in);
	p->clock = writer_clock(
		w, &(struct clock_entry){.name = writer_text(w, in->clock_name),
					 .flags = (in->has_wall ? CLOCK_HAS_WALL : 0) |
						  (in->has_wall && !wall ? CLOCK_IS_WALL : 0),
					 .wall = wall});
	if (!p->clock || process_names_write(w, p->source, &p->tracks.process_names) ||
	    (p->packages.size &&
	     writer_meta(w, p->source, "perfetto.packages", p->packages.data, p->packages.size)))
		return perfetto_failed(p, e);
	return p->clocks.first != UINT64_MAX ? merge_first(in, p->clocks.first, e) : 0;
}

static int perfetto_run(struct input *in, uint64_t until, struct error *e)
{
	struct perfetto *p = in->state;
	uint64_t limit;

	if (!merge_unshifted(until, in->shift, &limit))
		return 0;
	if (perfetto_rows(p, limit, &in->next)) {
		*e = p->error;
		return -1;
	}
	if (in->next != UINT64_MAX)
		in->next = merge_shifted(in->next, in->shift);
	return 0;
}

/* Print a remark with the kinds in a text, and begin the next text. */
static int print_kinds(const struct perfetto *p, struct buffer *b, uint64_t *count)
{
	if (buffer_u8(b, 0))
		return -1;
	warn_count(p->input->name, *count,
		   "{packet|packets} of {a kind|kinds} that trdecode does not read {was|were} left "
		   "out, by name or number: %s",
		   (const char *)b->data);
	b->size = 0;
	*count = 0;
	return 0;
}

/* Append the name of a payload that is not read and the number of its packets. */
static int add_unread(const struct perfetto *p, struct buffer *b, uint64_t *count, uint32_t kind,
		      uint64_t packets)
{
	enum { TEXT_MOST = 300 }; /* before the last name: a remark has 512 bytes */
	const char *name = packet_payload_name(kind);

	if (!packets || packet_is_read(kind))
		return 0;
	if (b->size > TEXT_MOST && print_kinds(p, b, count))
		return -1;
	*count += packets;
	if (buffer_printf(b, "%s", b->size ? ", " : ""))
		return -1;
	return name ? buffer_printf(b, "%s (%" PRIu64 ")", name, packets)
		    : buffer_printf(b, "%" PRIu32 " (%" PRIu64 ")", kind, packets);
}

/* Name the packets that the stream does not contain. */
static void print_unread(const struct perfetto *p)
{
	const struct perfetto_counts *n = &p->counts;
	struct buffer b = {0};
	uint64_t count = 0;
	int failed = 0;

	for (uint32_t i = 1; i < PERFETTO_KINDS && !failed; i++)
		failed = add_unread(p, &b, &count, i, n->kinds[i]);
	for (uint32_t i = 0; i < n->far_kinds.keys.count && !failed; i++) {
		uint64_t packets;
		uint32_t kind = far_kind(n, i, &packets);

		failed = add_unread(p, &b, &count, kind, packets);
	}
	if (!failed && count)
		print_kinds(p, &b, &count);
	buffer_free(&b);
}

/* Report the events that the stream does not contain, or contains in another form. */
static void print_remarks(struct perfetto *p)
{
	const struct perfetto_counts *n = &p->counts;
	const char *file = p->input->name;

	print_unread(p);
	perfetto_print_left_out(p);
	warn_count(file, n->unopened,
		   "{end|ends} of calls without {a begin|begins} {was|were} left out");
	complete_calls_clipped(file, n->clipped);
	warn_count(file, n->unkept,
		   "{begin|begins} of asynchronous calls {was|were} left out: too many calls are "
		   "open");
	warn_count(file, n->unsynchronised,
		   "{time|times} of clocks without a snapshot {was|were} not converted");
	warn_count(file, n->unplaced,
		   "{packet or event|packets or events} of unknown clocks {was|were} left out: the "
		   "trace has no snapshot of {its clock|their clocks}");
	warn_count(file, n->too_deep,
		   "{value|values} of annotations {is|are} nested more than 64 deep: {its|their} "
		   "contents are left out");
	warn_count(file, n->uninterned,
		   "{id|ids} of interned data {is|are} not in the file: names are missing");
	warn_count(
		file, p->arguments.table.nameless,
		"{argument|arguments} of names that have more than 4096 different ones {was|were} "
		"left out");
	warn_count(file, n->unknown_ftrace,
		   "{event|events} of ftrace {has|have} an unknown number: {its|their} fields are "
		   "left out");
}

static void free_buffers(struct perfetto *p)
{
	struct buffer *const buffers[] = {
		&p->scratch.record,	  &p->scratch.arguments, &p->scratch.details,
		&p->scratch.key,	  &p->scratch.text,	 &p->counts.far,
		&p->counts.sample_counts, &p->source_locations,	 &p->packages,
		&p->heaps.totals};

	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_free(buffers[i]);
}

static void perfetto_close(struct input *in)
{
	struct perfetto *p = in->state;

	if (!p)
		return;
	if (p->counts.wrong_times)
		input_damage(in, in->name, NO_OFFSET, "%" PRIu64 " event%s with an impossible time",
			     p->counts.wrong_times, p->counts.wrong_times == 1 ? "" : "s");
	if (!in->decoding->quiet)
		print_remarks(p);
	sorter_free(&p->sorter);
	arguments_free(&p->arguments.table);
	free(p->arguments.uses);
	perfetto_sequences_free(p);
	perfetto_clocks_free(p);
	perfetto_tracks_free(p);
	perfetto_ftrace_free(p);
	perfetto_async_free(p);
	complete_calls_free(&p->completes);
	id_cache_free(&p->counts.far_kinds);
	id_cache_free(&p->counts.sample_cpus);
	id_cache_free(&p->types.ids);
	id_cache_free(&p->definitions);
	perfetto_modules_free(&p->modules);
	id_cache_free(&p->heaps.numbers);
	free(p->locations);
	free_buffers(p);
	free(p);
	in->state = NULL;
}

const struct decoder decoder_perfetto = {
	.name = "perfetto",
	.in_order = true,
	.probe = perfetto_probe,
	.open = perfetto_open,
	.info = perfetto_info,
	.begin = perfetto_begin,
	.run = perfetto_run,
	.close = perfetto_close,
};
