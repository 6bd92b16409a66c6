/*
 * convert.c - convert the events of any source to a trace.dat
 *
 * Calls become funcgraph_entry and funcgraph_exit records of functions that have synthesised
 * addresses in kallsyms. A print record beside each has the arguments and return value. Other
 * events get formats of their own (convert_formats.c). convert_parts.c makes the rest of the file;
 * tracecmd.c, the encoder of trace.dat's own streams, writes the ring buffers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/stream/field.h"
#include "common/formats/tracecmd.h"
#include "cmd/trencode/tracecmd/convert.h"
#include "cmd/trencode/formats.h"

enum { TEXT_MOST = TRACECMD_RECORD_MOST - 32 };

/* The state of the conversion. */
struct tracecmd_conversion {
	struct conversion conversion;
	struct tracecmd_formats formats;
	struct tracecmd_made *types; /* by the stream's number */
	size_t types_size;
	struct type *record;
	struct tracecmd_parts parts;
	struct buffer data, text;
	uint64_t no_cpu;     /* events without CPU */
	uint64_t blobs, cut; /* blobs, texts */
};

/* Keep kallsyms and the formats of messages, by which readers print pointers of kernel events. */
static int tracecmd_convert_meta(void *state, const struct meta *m, struct error *e)
{
	struct tracecmd_conversion *s = state;

	return tracecmd_parts_meta(&s->parts, s->conversion.dictionary, m, e);
}

/* Take the first source's parts from the native encoder, which received them. */
static void tracecmd_convert_take_over(void *state, void *native)
{
	struct tracecmd_conversion *s = state;

	tracecmd_parts_take_over(&s->parts, native);
}

static int tracecmd_convert_start(void *state, const struct lane *lane, struct error *e)
{
	return tracecmd_parts_begin(state, lane, e);
}

/* --- records --- */

/* Begin a record in s->data. */
static int begin_record(struct tracecmd_conversion *s, uint16_t id, int32_t tid)
{
	s->data.size = 0;
	return buffer_zero(&s->data, TRACECMD_COMMON)
		       ? -1
		       : (put_u16(s->data.data, id), put_u32(s->data.data + 4, (uint32_t)tid), 0);
}

/* Find the buffer of a row. */
static const struct lane *lane_of(struct tracecmd_conversion *s, const struct convert_row *r)
{
	const struct lane *from = r->ev->lane;
	bool instance = from->source && !strcmp(from->source->format.text, "trace-cmd");
	bool has_cpu = from->flags & LANE_HAS_CPU && (uint32_t)from->cpu < TRACECMD_CPUS_MOST;
	struct text_ref name = target_string(&s->conversion.d, from->buffer.text,
					     instance ? from->buffer.size : 0);

	s->no_cpu += !has_cpu;
	return convert_buffer_lane(&s->conversion, name, has_cpu ? (uint32_t)from->cpu : 0,
				   r->time);
}

static int put_record(struct tracecmd_conversion *s, const struct convert_row *r, struct error *e)
{
	struct event ev = {.time = r->time,
			   .type = s->record,
			   .lane = lane_of(s, r),
			   .tail = s->data.data,
			   .tail_size = (uint32_t)s->data.size};

	if (!ev.lane || tracecmd_parts_thread(&s->parts, r->thread))
		return error_no_memory(e);
	return target_event(&s->conversion.d, &ev, e);
}

static int put_print(struct tracecmd_conversion *s, const struct convert_row *r, uint64_t ip,
		     struct error *e)
{
	if (!s->text.size)
		return 0;
	convert_text_cut(&s->text, 0, TEXT_MOST, &s->cut);
	if (begin_record(s, TRACECMD_ID_PRINT, r->thread->tid) || buffer_u64(&s->data, ip) ||
	    buffer_append(&s->data, s->text.data, s->text.size) || buffer_u8(&s->data, 0))
		return error_no_memory(e);
	return put_record(s, r, e);
}

/* Fill s->text with the values of a call, for the print record beside it. */
static int values_text(struct tracecmd_conversion *s, const struct convert_row *r)
{
	const struct event *ev = r->ev;

	s->text.size = 0;
	if (r->cut || !strcmp(ev->type->group.text, "ftrace"))
		return 0;
	return convert_text_row(&s->text, s->conversion.dictionary, ev, &s->blobs);
}

/* The fields of a funcgraph_exit record beside function and depth. */
struct exit_fields {
	uint32_t overrun;
	uint64_t calltime, rettime;
};

/* Return what the kernel recorded of a return, or the times of the call. */
static struct exit_fields exit_fields_of(const struct convert_row *r)
{
	struct exit_fields x = {.calltime = r->start, .rettime = r->time};
	uint64_t overrun = 0;

	if (r->cut || strcmp(r->ev->type->group.text, "ftrace") != 0)
		return x;
	field_number(r->ev, "overrun", &overrun);
	field_number(r->ev, "calltime", &x.calltime);
	field_number(r->ev, "rettime", &x.rettime);
	x.overrun = (uint32_t)overrun;
	return x;
}

static int tracecmd_convert_call(void *state, const struct convert_row *r, struct error *e)
{
	struct tracecmd_conversion *s = state;
	bool leave = r->what == CONVERT_LEAVE;
	struct exit_fields exit;
	uint64_t address;

	if (tracecmd_parts_address(&s->parts, &s->conversion, r->location, &address) ||
	    values_text(s, r))
		return error_no_memory(e);
	if (leave && put_print(s, r, address, e))
		return -1;
	exit = leave ? exit_fields_of(r) : (struct exit_fields){0};
	if (begin_record(s, leave ? TRACECMD_ID_EXIT : TRACECMD_ID_ENTRY, r->thread->tid) ||
	    buffer_u64(&s->data, address) || buffer_u32(&s->data, r->depth) ||
	    (leave && (buffer_u32(&s->data, exit.overrun) || buffer_u64(&s->data, exit.calltime) ||
		       buffer_u64(&s->data, exit.rettime))))
		return error_no_memory(e);
	if (put_record(s, r, e))
		return -1;
	return leave ? 0 : put_print(s, r, address, e);
}

/* --- other events --- */

static int put_raw(struct tracecmd_conversion *s, const struct convert_row *r,
		   const struct tracecmd_made *made)
{
	const struct event *ev = r->ev;

	s->data.size = 0;
	if (ev->tail_size < TRACECMD_COMMON)
		return 1;
	if (buffer_append(&s->data, ev->tail, ev->tail_size))
		return -1;
	if (ev->type->flags & TYPE_BIG_ENDIAN)
		tracecmd_swap_record(s->data.data, s->data.size, ev->type);
	put_u16(s->data.data, made->id);
	put_u32(s->data.data + 4, (uint32_t)r->thread->tid);
	return 0;
}

/* End a text that begins at from, with space for the ends of others after it; *loc is its
 * __data_loc. */
static int end_text(struct tracecmd_conversion *s, size_t from, uint32_t others, uint32_t *loc)
{
	size_t end = TRACECMD_RECORD_MOST - 1 - others;

	convert_text_cut(&s->data, from, from < end ? end - from : 0, &s->cut);
	if (buffer_u8(&s->data, 0))
		return -1;
	*loc = (uint32_t)((s->data.size - from) << 16 | from);
	return 0;
}

static int put_values(struct tracecmd_conversion *s, const struct convert_row *r,
		      const struct tracecmd_made *made)
{
	uint32_t loc;

	if (begin_record(s, made->id, r->thread->tid) || buffer_u32(&s->data, 0) ||
	    convert_text_row(&s->data, s->conversion.dictionary, r->ev, &s->blobs) ||
	    end_text(s, made->size, 0, &loc))
		return -1;
	put_u32(s->data.data + TRACECMD_COMMON, loc);
	return 0;
}

static int put_fields(struct tracecmd_conversion *s, const struct convert_row *r,
		      const struct tracecmd_made *made)
{
	uint32_t at = TRACECMD_COMMON;

	if (begin_record(s, made->id, r->thread->tid) ||
	    buffer_zero(&s->data, made->size - TRACECMD_COMMON))
		return -1;
	for (uint32_t i = 0; i < made->nfields; i++) {
		const struct convert_field *w = &made->fields[i];
		unsigned size = w->size ? w->size : 4;
		uint8_t bytes[8];

		at = (uint32_t)align_up(at, size);
		if (w->size) {
			put_u64(bytes, convert_field_number(w, r->ev));
		} else {
			size_t from = s->data.size;
			uint32_t loc;

			if (convert_field_text(&s->data, s->conversion.dictionary, w, r->ev) ||
			    end_text(s, from, made->nfields - i - 1, &loc))
				return -1;
			put_u32(bytes, loc);
		}
		memcpy(s->data.data + at, bytes, size);
		at += size;
	}
	return 0;
}

static int put_as_text(struct tracecmd_conversion *s, const struct convert_row *r, struct error *e)
{
	struct text_ref name = r->ev->type->name;

	s->text.size = 0;
	if (convert_name_escaped(&s->text, name.text, name.size, "") ||
	    buffer_printf(&s->text, ": ") ||
	    convert_text_row(&s->text, s->conversion.dictionary, r->ev, &s->blobs))
		return error_no_memory(e);
	return put_print(s, r, 0, e);
}

/* Write the print of a kernel whose print record has another layout. */
static int put_kernel_print(struct tracecmd_conversion *s, const struct convert_row *r,
			    struct error *e)
{
	struct field_value v = {.form = FORM_NONE};
	uint64_t ip = 0;

	field_number(r->ev, "ip", &ip);
	field_get(r->ev, field_find(r->ev->type, "buf"), 0, &v);
	s->text.size = 0;
	if (v.form == FORM_TEXT && v.size && buffer_append(&s->text, v.text, v.size))
		return error_no_memory(e);
	return put_print(s, r, ip, e);
}

static int tracecmd_convert_instant(void *state, const struct convert_row *r, struct error *e)
{
	struct tracecmd_conversion *s = state;
	const struct type *t = r->ev->type;
	struct tracecmd_made *made;

	if (ARRAY_REACH(s->types, s->types_size, t->number))
		return error_no_memory(e);
	made = &s->types[t->number];
	if (!made->known && tracecmd_formats_add(&s->formats, &s->conversion.d, t, made))
		return error_no_memory(e);
	if (made->print)
		return put_kernel_print(s, r, e);
	if (made->id == TRACECMD_ID_PRINT && !made->raw)
		return put_as_text(s, r, e);
	if (made->raw	   ? put_raw(s, r, made)
	    : made->values ? put_values(s, r, made)
			   : put_fields(s, r, made))
		return error_no_memory(e);
	return put_record(s, r, e);
}

static int tracecmd_convert_gap(void *state, const struct convert_row *r, struct error *e)
{
	struct tracecmd_conversion *s = state;

	return convert_put_gap(&s->conversion, r, lane_of(s, r), e);
}

static void tracecmd_convert_drop(void *state)
{
	struct tracecmd_conversion *s = state;

	tracecmd_formats_free(&s->formats);
	for (size_t i = 0; i < s->types_size; i++)
		free(s->types[i].fields);
	free(s->types);
	tracecmd_parts_free(&s->parts);
	buffer_free(&s->data);
	buffer_free(&s->text);
}

static int tracecmd_convert_init(void *state, struct error *e)
{
	struct tracecmd_conversion *s = state;

	s->record = target_type(&s->conversion.d, "record", "trace");
	if (!s->record || tracecmd_formats_begin(&s->formats, &s->conversion.d))
		return error_no_memory(e);
	s->record->flags = TYPE_TAIL;
	s->record->native = TRACECMD_ID_OWN;
	return 0;
}

/* --- the end --- */

static int tracecmd_convert_end(void *state, struct error *e)
{
	struct tracecmd_conversion *s = state;
	struct tracecmd_state *native = s->conversion.d.encoding.state;

	return tracecmd_parts_end(&s->parts, native) ||
			       tracecmd_formats_end(&s->formats, &native->parts[PART_FORMATS])
		       ? error_no_memory(e)
		       : 0;
}

static void tracecmd_convert_report(void *state)
{
	struct tracecmd_conversion *s = state;
	struct conversion *a = &s->conversion;

	convert_lost(a, s->no_cpu,
		     "{event without a CPU is|events without a CPU are} written to CPU 0");
	convert_lost(a, a->clock_epoch.count,
		     "{stream overlaps an earlier one: its|streams overlap earlier ones: their} "
		     "buffers are instances named ~2 and so on");
	convert_lost(a, a->counts.comms,
		     "{event is|events are} written with a name that {its thread|their threads} "
		     "had at another time");
	convert_lost(a, a->counts.with_wall,
		     "{event is|events are} written without wall time: the trace has the source's "
		     "clock");
	convert_lost(a, s->blobs, "{blob is written as its size|blobs are written as their sizes}");
	convert_lost(a, s->cut,
		     "{text was|texts were} cut to what a page of the ring buffer holds");
	convert_lost(a, s->formats.fields_lost,
		     "{field is|fields are} left out, of types with more than 150 fields");
	convert_lost(a, s->formats.as_text,
		     "{type of events exceeds|types of events exceed} the ids of a trace.dat: "
		     "written as print records");
}

const struct convert_target tracecmd_target = {
	.native = &encoder_tracecmd,
	.format = "trace-cmd",
	.state_size = sizeof(struct tracecmd_conversion),
	.buffers = true,
	.nests = true,
	.init = tracecmd_convert_init,
	.meta = tracecmd_convert_meta,
	.take_over = tracecmd_convert_take_over,
	.begin = tracecmd_convert_start,
	.call = tracecmd_convert_call,
	.instant = tracecmd_convert_instant,
	.gap = tracecmd_convert_gap,
	.end = tracecmd_convert_end,
	.report = tracecmd_convert_report,
	.drop = tracecmd_convert_drop,
};
