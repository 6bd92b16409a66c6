/*
 * metadata.c - write the metadata: TSDL of version 1.8, or JSON of version 2
 *
 * Packets are the same in both versions.
 */
#include <inttypes.h>
#include <string.h>

#include "common/util/version.h"
#include "cmd/trencode/ctf/ctf.h"
#include "common/formats/ctf.h"

#define SECOND 1000000000ll

static int put_text(struct buffer *b, const char *s)
{
	return buffer_append(b, s, strlen(s));
}

/* The time from 1970 to the clock's 0. */
struct offset {
	int64_t seconds, rest; /* rest: ns, below a second */
	bool wall;	       /* the clock is that of 1970 */
};

static struct offset offset_of(const struct clock *clock)
{
	int64_t ns = clock && clock->flags & CLOCK_HAS_WALL ? clock->wall : 0;
	struct offset o = {ns / SECOND, ns % SECOND,
			   clock && clock->flags & (CLOCK_HAS_WALL | CLOCK_IS_WALL)};

	if (o.rest < 0) {
		o.seconds--;
		o.rest += SECOND;
	}
	return o;
}

/* --- version 1.8 --- */

static int put_integers(struct buffer *b)
{
	for (unsigned size = 8; size <= 64; size *= 2)
		if (buffer_printf(
			    b,
			    "typealias integer { size = %u; align = 8; signed = false; } := u%u;\n"
			    "typealias integer { size = %u; align = 8; signed = true; } := s%u;\n"
			    "typealias integer { size = %u; align = 8; signed = false; base = 16; }"
			    " := x%u;\n",
			    size, size, size, size, size, size))
			return -1;
	return put_text(
		b,
		"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;\n\n");
}

static int put_uuid(struct buffer *b, const uint8_t uuid[16])
{
	for (int i = 0; i < 16; i++)
		if (buffer_printf(b, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
				  uuid[i]))
			return -1;
	return 0;
}

static int put_clock(struct buffer *b, const struct clock *clock)
{
	struct offset o = offset_of(clock);

	if (put_text(b, "clock {\n\tname = \"trace\";\n\tdescription = ") ||
	    ctf_quoted(b, clock ? clock->name.text : "", clock ? clock->name.size : 0))
		return -1;
	return buffer_printf(b,
			     ";\n\tfreq = 1000000000;\n\toffset_s = %" PRId64
			     ";\n\toffset = %" PRId64 ";\n\tabsolute = %s;\n};\n\n"
			     "typealias integer { size = 64; align = 8; signed = false;"
			     " map = clock.trace.value; } := stamp;\n\n",
			     o.seconds, o.rest, o.wall ? "true" : "false");
}

static int put_stream(struct buffer *b, enum ctf_stream_class stream)
{
	return buffer_printf(
		b,
		"stream {\n\tid = %d;\n\tpacket.context := struct {\n"
		"\t\tstamp timestamp_begin;\n\t\tstamp timestamp_end;\n"
		"\t\tu64 content_size;\n\t\tu64 packet_size;\n"
		"\t\tu64 events_discarded;\n\t\tu64 packet_seq_num;\n%s\t};\n"
		"\tevent.header := struct { u32 id; stamp timestamp; };\n"
		"\tevent.context := struct { s32 _pid; s32 _tid; string _procname; };\n"
		"};\n\n",
		stream, stream == CTF_OF_CPU ? "\t\tu32 cpu_id;\n" : "");
}

static int put_tsdl(const struct ctf_classes *c, const uint8_t uuid[16], const struct clock *clock,
		    const struct text_ref *source, struct buffer *to)
{
	if (put_text(to, "/* CTF 1.8 */\n\n") || put_integers(to) ||
	    put_text(to, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"") ||
	    put_uuid(to, uuid) ||
	    put_text(to,
		     "\";\n\tbyte_order = le;\n\tpacket.header := struct { u32 magic; u8 uuid[16]; "
		     "u32 stream_id; };\n};\n\nenv {\n\ttracer_name = \"trencode\";\n"
		     "\ttracer_version = \"" TRUTILS_VERSION "\";\n\tsource = ") ||
	    ctf_quoted(to, source ? source->text : "", source ? source->size : 0) ||
	    put_text(to, ";\n") ||
	    (c->arguments.size && buffer_append(to, c->arguments.data, c->arguments.size)) ||
	    put_text(to, "};\n\n") || put_clock(to, clock))
		return -1;
	for (int i = 0; i < CTF_STREAM_CLASSES; i++)
		if (c->ids[i] && put_stream(to, (enum ctf_stream_class)i))
			return -1;
	return buffer_append(to, c->text.data, c->text.size);
}

/* --- version 2 --- */

/* Append the member of a structure that is not the first one; role: NULL: none. */
static int put_member(struct buffer *b, const char *name, unsigned bits, const char *role)
{
	return buffer_printf(b,
			     "%s\n{\"name\":\"%s\",\"field-class\":{\"type\":"
			     "\"fixed-length-unsigned-integer\",\"length\":%u,\"alignment\":8,"
			     "\"byte-order\":\"little-endian\"%s%s%s}}",
			     b->data[b->size - 1] == '[' ? "" : ",", name, bits,
			     role ? ",\"roles\":[\"" : "", role ? role : "", role ? "\"]" : "");
}

static int put_aliases(struct buffer *b)
{
	for (unsigned size = 8; size <= 64; size *= 2)
		for (const char *kind = "usx"; *kind; kind++)
			if (buffer_printf(
				    b,
				    CTF_FRAGMENT
				    "field-class-alias\",\"name\":\"%c%u\",\"field-class\":"
				    "{\"type\":\"fixed-length-%ssigned-integer\",\"length\":%u,"
				    "\"alignment\":8,\"byte-order\":\"little-endian\"%s}}\n",
				    *kind, size, *kind == 's' ? "" : "un", size,
				    *kind == 'x' ? ",\"preferred-display-base\":16" : ""))
				return -1;
	return put_text(b, CTF_FRAGMENT
			"field-class-alias\",\"name\":\"f64\",\"field-class\":"
			"{\"type\":\"fixed-length-floating-point-number\",\"length\":64,"
			"\"alignment\":8,\"byte-order\":\"little-endian\"}}\n" CTF_FRAGMENT
			"field-class-alias\",\"name\":\"string\",\"field-class\":"
			"{\"type\":\"null-terminated-string\"}}\n");
}

static int put_trace(const struct ctf_classes *c, const uint8_t uuid[16],
		     const struct text_ref *source, struct buffer *b)
{
	if (put_text(b, CTF_FRAGMENT "preamble\",\"version\":2,\"uuid\":["))
		return -1;
	for (int i = 0; i < 16; i++)
		if (buffer_printf(b, "%s%u", i ? "," : "", uuid[i]))
			return -1;
	if (put_text(b, "]}\n") || put_aliases(b) ||
	    put_text(b, CTF_FRAGMENT "trace-class\",\"environment\":{\"tracer_name\":\"trencode\","
				     "\"tracer_version\":\"" TRUTILS_VERSION "\",\"source\":") ||
	    ctf_quoted(b, source ? source->text : "", source ? source->size : 0) ||
	    (c->arguments.size && buffer_append(b, c->arguments.data, c->arguments.size)))
		return -1;
	return put_text(b, "},\n\"packet-header-field-class\":" CTF_STRUCTURE) ||
			       put_member(b, "magic", 32, "packet-magic-number") ||
			       put_text(b, ",\n{\"name\":\"uuid\",\"field-class\":{\"type\":"
					   "\"static-length-blob\",\"length\":16,\"roles\":"
					   "[\"metadata-stream-uuid\"]}}") ||
			       put_member(b, "stream_id", 32, "data-stream-class-id") ||
			       put_text(b, "]}}\n")
		       ? -1
		       : 0;
}

static int put_clock_class(struct buffer *b, const struct clock *clock)
{
	struct offset o = offset_of(clock);

	return put_text(b, CTF_FRAGMENT "clock-class\",\"id\":\"trace\",\"name\":\"trace\","
					"\"frequency\":1000000000,\"description\":") ||
			       ctf_quoted(b, clock ? clock->name.text : "",
					  clock ? clock->name.size : 0) ||
			       buffer_printf(b,
					     "%s,\"offset-from-origin\":{\"seconds\":%" PRId64
					     ",\"cycles\":%" PRId64 "}}\n",
					     o.wall ? ",\"origin\":\"unix-epoch\"" : "", o.seconds,
					     o.rest)
		       ? -1
		       : 0;
}

static int put_stream_class(struct buffer *b, enum ctf_stream_class stream)
{
	return buffer_printf(b,
			     CTF_FRAGMENT "data-stream-class\",\"id\":%d,"
					  "\"default-clock-class-id\":\"trace\",\n"
					  "\"packet-context-field-class\":" CTF_STRUCTURE,
			     stream) ||
			       put_member(b, "timestamp_begin", 64, "default-clock-timestamp") ||
			       put_member(b, "timestamp_end", 64,
					  "packet-end-default-clock-timestamp") ||
			       put_member(b, "content_size", 64, "packet-content-length") ||
			       put_member(b, "packet_size", 64, "packet-total-length") ||
			       put_member(b, "events_discarded", 64, CTF2_DISCARDED) ||
			       put_member(b, "packet_seq_num", 64, "packet-sequence-number") ||
			       (stream == CTF_OF_CPU && put_member(b, "cpu_id", 32, NULL)) ||
			       put_text(
				       b,
				       "]},\n\"event-record-header-field-class\":" CTF_STRUCTURE) ||
			       put_member(b, "id", 32, "event-record-class-id") ||
			       put_member(b, "timestamp", 64, "default-clock-timestamp") ||
			       put_text(b,
					"]},\n\"event-record-common-context-field-"
					"class\":" CTF_STRUCTURE
					"{\"name\":\"pid\",\"field-class\":\"s32\"},"
					"{\"name\":\"tid\",\"field-class\":\"s32\"},"
					"{\"name\":\"procname\",\"field-class\":\"string\"}]}}\n")
		       ? -1
		       : 0;
}

int ctf_metadata(const struct ctf_classes *c, const uint8_t uuid[16], const struct clock *clock,
		 const struct text_ref *source, struct buffer *to)
{
	if (!c->json)
		return put_tsdl(c, uuid, clock, source, to);
	if (put_trace(c, uuid, source, to) || put_clock_class(to, clock))
		return -1;
	for (int i = 0; i < CTF_STREAM_CLASSES; i++)
		if (c->ids[i] && put_stream_class(to, (enum ctf_stream_class)i))
			return -1;
	return buffer_append(to, c->text.data, c->text.size);
}
