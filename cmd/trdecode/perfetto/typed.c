/*
 * typed.c - typed arguments of track events: messages of known types, mostly Chrome's
 *
 * A message becomes a STRUCT, whose members have the names of its fields; a field that is repeated
 * becomes an ARRAY. A field that no table has is named by its number: a text if it can be one, else
 * a message if it can be one.
 *
 * Source: protos/perfetto/trace/track_event of the project perfetto.
 */
#include <ctype.h>
#include <stdio.h>

#include "cmd/trdecode/perfetto/annotations.h"
#include "common/stream/value.h"

enum { NUMBERS = 64, TYPED_DEPTH = 8 };

/* What a field is. */
enum typed_form {
	TYPED_ANY,
	TYPED_UINT,
	TYPED_INT,
	TYPED_BOOL,
	TYPED_TEXT,
	TYPED_BYTES,
	TYPED_REAL,  /* a double */
	TYPED_PLACE, /* iid of a SourceLocation */
	TYPED_MESSAGE,
};

struct typed_field {
	const char *name; /* NULL: the table does not have the number */
	enum typed_form form;
	const struct typed_field *fields; /* of a MESSAGE: NUMBERS by number; NULL: none is known */
};

#define MESSAGE(name)		  static const struct typed_field name[NUMBERS]
#define FIELD(number, text, kind) [number] = {.name = (text), .form = TYPED_##kind}

MESSAGE(task_execution) = {FIELD(1, "posted_from", PLACE)};
MESSAGE(user_event) = {FIELD(1, "action", TEXT), FIELD(2, "action_hash", UINT)};
MESSAGE(keyed_service) = {FIELD(1, "name", TEXT)};
MESSAGE(legacy_ipc) = {FIELD(1, "message_class", UINT), FIELD(2, "message_line", UINT)};
MESSAGE(histogram_sample) = {FIELD(1, "name_hash", UINT), FIELD(2, "name", TEXT),
			     FIELD(3, "sample", INT), FIELD(4, "name_iid", UINT)};
MESSAGE(latency_component) = {FIELD(1, "component_type", UINT), FIELD(2, "time_us", UINT)};
MESSAGE(latency_info) = {FIELD(1, "trace_id", INT),
			 FIELD(2, "step", UINT),
			 FIELD(3, "frame_tree_node_id", INT),
			 [4] = {"component_info", TYPED_MESSAGE, latency_component},
			 FIELD(5, "is_coalesced", BOOL),
			 FIELD(6, "gesture_scroll_id", INT),
			 FIELD(7, "touch_id", INT),
			 FIELD(8, "input_type", UINT)};
MESSAGE(frame_reporter) = {FIELD(1, "state", UINT),
			   FIELD(2, "reason", UINT),
			   FIELD(3, "frame_source", UINT),
			   FIELD(4, "frame_sequence", UINT),
			   FIELD(5, "affects_smoothness", BOOL),
			   FIELD(6, "scroll_state", UINT),
			   FIELD(7, "has_main_animation", BOOL),
			   FIELD(8, "has_compositor_animation", BOOL),
			   FIELD(9, "has_smooth_input_main", BOOL),
			   FIELD(10, "has_missing_content", BOOL),
			   FIELD(11, "layer_tree_host_id", UINT),
			   FIELD(12, "has_high_latency", BOOL),
			   FIELD(13, "frame_type", UINT),
			   FIELD(14, "high_latency_contribution_stage", TEXT),
			   FIELD(15, "checkerboarded_needs_raster", BOOL),
			   FIELD(16, "checkerboarded_needs_record", BOOL),
			   FIELD(17, "surface_frame_trace_id", INT),
			   FIELD(18, "display_trace_id", INT)};
MESSAGE(application_state) = {FIELD(1, "application_state", UINT)};
MESSAGE(renderer_state) = {FIELD(1, "rail_mode", UINT), FIELD(2, "is_backgrounded", BOOL),
			   FIELD(3, "is_hidden", BOOL)};
MESSAGE(window_handle) = {FIELD(1, "dpi", UINT), FIELD(2, "message_id", UINT),
			  FIELD(3, "hwnd_ptr", UINT)};
MESSAGE(content_settings) = {FIELD(1, "number_of_exceptions", UINT)};
MESSAGE(active_processes) = {FIELD(1, "pid", INT)};
MESSAGE(screenshot) = {FIELD(1, "jpg_image", BYTES), FIELD(2, "pam_image", BYTES),
		       FIELD(3, "ppm_image", BYTES)};
MESSAGE(message_pump) = {FIELD(1, "sent_messages_in_queue", BOOL),
			 FIELD(2, "io_handler_location", PLACE)};
MESSAGE(mojo_event) = {FIELD(1, "watcher_notify_interface_tag", TEXT),
		       FIELD(2, "ipc_hash", UINT),
		       FIELD(3, "mojo_interface_tag", TEXT),
		       FIELD(4, "mojo_interface_method_iid", UINT),
		       FIELD(5, "is_reply", BOOL),
		       FIELD(6, "payload_size", UINT),
		       FIELD(7, "data_num_bytes", UINT)};
MESSAGE(scheduler_state) = {FIELD(1, "state_machine", MESSAGE),
			    FIELD(2, "observing_begin_frame_source", BOOL),
			    FIELD(3, "begin_impl_frame_deadline_task", BOOL),
			    FIELD(4, "pending_begin_frame_task", BOOL),
			    FIELD(5, "skipped_last_frame_missed_exceeded_deadline", BOOL),
			    FIELD(7, "inside_action", UINT),
			    FIELD(8, "deadline_mode", UINT),
			    FIELD(9, "deadline_us", INT),
			    FIELD(10, "deadline_scheduled_at_us", INT),
			    FIELD(11, "now_us", INT),
			    FIELD(12, "now_to_deadline_delta_us", INT),
			    FIELD(13, "now_to_deadline_scheduled_at_delta_us", INT),
			    FIELD(14, "begin_impl_frame_args", MESSAGE),
			    FIELD(15, "begin_frame_observer_state", MESSAGE),
			    FIELD(16, "begin_frame_source_state", MESSAGE),
			    FIELD(17, "compositor_timing_history", MESSAGE)};

/* TrackEvent */
MESSAGE(arguments) = {
	[5] = {"task_execution", TYPED_MESSAGE, task_execution},
	FIELD(8, "thread_instruction_count_delta", INT),
	FIELD(20, "thread_instruction_count", INT),
	[24] = {"cc_scheduler_state", TYPED_MESSAGE, scheduler_state},
	[25] = {"chrome_user_event", TYPED_MESSAGE, user_event},
	[26] = {"chrome_keyed_service", TYPED_MESSAGE, keyed_service},
	[27] = {"chrome_legacy_ipc", TYPED_MESSAGE, legacy_ipc},
	[28] = {"chrome_histogram_sample", TYPED_MESSAGE, histogram_sample},
	[29] = {"chrome_latency_info", TYPED_MESSAGE, latency_info},
	[32] = {"chrome_frame_reporter", TYPED_MESSAGE, frame_reporter},
	[35] = {"chrome_message_pump", TYPED_MESSAGE, message_pump},
	[38] = {"chrome_mojo_event_info", TYPED_MESSAGE, mojo_event},
	[39] = {"chrome_application_state_info", TYPED_MESSAGE, application_state},
	[40] = {"chrome_renderer_scheduler_state", TYPED_MESSAGE, renderer_state},
	[41] = {"chrome_window_handle_event_info", TYPED_MESSAGE, window_handle},
	[43] = {"chrome_content_settings_event_info", TYPED_MESSAGE, content_settings},
	[49] = {"chrome_active_processes", TYPED_MESSAGE, active_processes},
	[50] = {"screenshot", TYPED_MESSAGE, screenshot},
	FIELD(57, "callstack_weight", REAL),
};

/* What is read. */
struct typed {
	struct perfetto *p;
	const struct perfetto_sequence *s;
	struct perfetto_annotated *found;
};

static uint32_t name_of(struct perfetto *p, const struct typed_field *of, uint32_t number)
{
	char text[32];

	if (of && of->name)
		return writer_text(p->w, of->name);
	snprintf(text, sizeof text, "field %u", (unsigned)number);
	return writer_text(p->w, text);
}

/* Append a string of the writer; 0: "". */
static int put_string(struct perfetto *p, uint32_t string)
{
	size_t n = 0;
	const char *text = string ? writer_string_of(p->w, string, &n) : "";

	return value_put_bytes(&p->scratch.arguments, VALUE_STRING, text, n);
}

/* Append the STRUCT of a source location. */
static int put_place(struct typed *t, uint64_t iid)
{
	struct perfetto *p = t->p;
	struct buffer *b = &p->scratch.arguments, *names = &p->scratch.key;
	uint32_t number = perfetto_interned(p, t->s, OF_SOURCE_LOCATION, iid);
	struct perfetto_source_location l;
	size_t start;

	if (!number)
		return value_put_simple(b, VALUE_NULL);
	memcpy(&l, p->source_locations.data + (number - 1) * sizeof l, sizeof l);
	if (buffer_align(names, 4))
		return -1;
	start = names->size;
	if (buffer_u32(names, writer_text(p->w, "file")) ||
	    buffer_u32(names, writer_text(p->w, "function")) ||
	    buffer_u32(names, writer_text(p->w, "line")) || perfetto_put_struct(p, start))
		return -1;
	names->size = start;
	t->found->structs = true;
	return put_string(p, l.file) || put_string(p, l.function) ||
			       value_put_uint(b, VALUE_UINT, l.line)
		       ? -1
		       : 0;
}

static bool is_text(struct protobuf_view v)
{
	for (; v.at < v.end; v.at++)
		if (!isprint(*v.at) && *v.at < 0x80 && !isspace(*v.at))
			return false;
	return true;
}

static bool is_message(struct protobuf_view v)
{
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&v, &f)) > 0)
		;
	return !got;
}

static int put_bytes(struct buffer *b, enum value_tag tag, struct protobuf_view v)
{
	return value_put_bytes(b, tag, v.at ? (const void *)v.at : "", protobuf_size(v));
}

static int put_message(struct typed *t, struct protobuf_view message,
		       const struct typed_field *fields, unsigned depth);

static int put_value(struct typed *t, const struct protobuf_field *f, const struct typed_field *of,
		     unsigned depth)
{
	struct buffer *b = &t->p->scratch.arguments;
	enum typed_form form = of ? of->form : TYPED_ANY;

	if (f->wire == PROTOBUF_LENGTH) {
		if (form == TYPED_MESSAGE && depth < TYPED_DEPTH && is_message(f->bytes))
			return put_message(t, f->bytes, of->fields, depth + 1);
		if (form == TYPED_TEXT || (form != TYPED_BYTES && is_text(f->bytes)))
			return put_bytes(b, VALUE_STRING, f->bytes);
		if (form == TYPED_ANY && depth < TYPED_DEPTH && is_message(f->bytes))
			return put_message(t, f->bytes, NULL, depth + 1);
		return put_bytes(b, VALUE_BLOB, f->bytes);
	}
	switch (form) {
	case TYPED_INT:
		return (int64_t)f->value < 0 ? value_put_uint(b, VALUE_NEGATIVE, -f->value)
					     : value_put_uint(b, VALUE_UINT, f->value);
	case TYPED_BOOL: return value_put_simple(b, f->value ? VALUE_TRUE : VALUE_FALSE);
	case TYPED_PLACE: return put_place(t, f->value);
	case TYPED_REAL:
		if (f->wire == PROTOBUF_FIXED64)
			return value_put_float(b, &(uint64_t){htole64(f->value)}, 8);
		break;
	default: break;
	}
	return value_put_uint(b, VALUE_UINT, f->value);
}

/* Append the values of the fields with a number. */
static int put_values(struct typed *t, struct protobuf_view message, uint32_t number,
		      const struct typed_field *of, unsigned depth)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		if (f.number == number && put_value(t, &f, of, depth))
			return -1;
	return 0;
}

static int put_message(struct typed *t, struct protobuf_view message,
		       const struct typed_field *fields, unsigned depth)
{
	struct buffer *names = &t->p->scratch.key;
	struct protobuf_view rest = message;
	uint32_t counts[NUMBERS] = {0};
	struct protobuf_field f;
	size_t start;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number < NUMBERS)
			counts[f.number]++;
	if (buffer_align(names, 4))
		return -1;
	start = names->size;
	for (uint32_t i = 1; i < NUMBERS; i++)
		if (counts[i] && buffer_u32(names, name_of(t->p, fields ? &fields[i] : NULL, i)))
			return -1;
	if (perfetto_put_struct(t->p, start))
		return -1;
	names->size = start;
	t->found->structs = true;
	for (uint32_t i = 1; i < NUMBERS; i++)
		if ((counts[i] > 1 && value_put_array(&t->p->scratch.arguments, counts[i])) ||
		    (counts[i] && put_values(t, message, i, fields ? &fields[i] : NULL, depth)))
			return -1;
	return 0;
}

int perfetto_typed(struct perfetto *p, const struct perfetto_sequence *s,
		   const struct protobuf_field *f, struct perfetto_annotated *found)
{
	struct typed t = {p, s, found};
	const struct typed_field *of = f->number < NUMBERS ? &arguments[f->number] : NULL;
	size_t at = perfetto_begin_named(p, name_of(p, of, f->number));

	p->scratch.key.size = 0;
	return at == SIZE_MAX || put_value(&t, f, of, 0) ? -1 : perfetto_end_named(p, at);
}
