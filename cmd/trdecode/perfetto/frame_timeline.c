/*
 * frame_timeline.c - Android's timeline of frames: when a frame was expected to begin and end, and
 * when it did. A frame is an asynchronous call of its process; its end has the cookie of its begin.
 *
 * Source: protos/perfetto/trace/android/frame_timeline_event.proto of the project perfetto.
 */
#include "cmd/trdecode/perfetto/annotations.h"

/* FrameTimelineEvent, and FrameEnd; the begins have the cookie in the same field */
enum { FRAME_COOKIE = 1, FRAME_KINDS = 5, FRAME_END = 5, FRAME_FIELDS = 13 };

/* What a field is. */
enum frame_form {
	FRAME_NONE,
	FRAME_NUMBER,
	FRAME_BOOL,
	FRAME_TEXT,
	FRAME_PRESENT, /* a number of an enum */
	FRAME_PREDICTION,
	FRAME_SEVERITY,
	FRAME_JANK, /* bits of an enum */
	FRAME_PID,
};

static const char *const present_types[] = {"UNSPECIFIED", "ON_TIME", "LATE",
					    "EARLY",	   "DROPPED", "UNKNOWN"};
static const char *const prediction_types[] = {"UNSPECIFIED", "VALID", "EXPIRED", "UNKNOWN"};
static const char *const severity_types[] = {"UNKNOWN", "NONE", "PARTIAL", "FULL"};
static const char *const jank_types[] = {"NONE",
					 "SF_SCHEDULING",
					 "PREDICTION_ERROR",
					 "DISPLAY_HAL",
					 "SF_CPU_DEADLINE_MISSED",
					 "SF_GPU_DEADLINE_MISSED",
					 "APP_DEADLINE_MISSED",
					 "BUFFER_STUFFING",
					 "UNKNOWN",
					 "SF_STUFFING",
					 "DROPPED",
					 "NON_ANIMATING",
					 "APP_RESYNCED_JITTER",
					 "DISPLAY_NOT_ON",
					 "DISPLAY_MODE_CHANGE_IN_PROGRESS",
					 "DISPLAY_POWER_MODE_CHANGE_IN_PROGRESS"};

static const struct frame_names {
	const char *const *names;
	unsigned count;
} frame_names[] = {
	[FRAME_PRESENT] = {present_types, sizeof present_types / sizeof *present_types},
	[FRAME_PREDICTION] = {prediction_types, sizeof prediction_types / sizeof *prediction_types},
	[FRAME_SEVERITY] = {severity_types, sizeof severity_types / sizeof *severity_types},
	[FRAME_JANK] = {jank_types, sizeof jank_types / sizeof *jank_types},
};

struct frame_field {
	const char *name;
	enum frame_form form;
};

/* The fields of the begins, by number. */
static const struct frame_field display_fields[FRAME_FIELDS] = {
	[2] = {"token", FRAME_NUMBER},
	[3] = {"pid", FRAME_PID},
	[4] = {"present_type", FRAME_PRESENT},
	[5] = {"on_time_finish", FRAME_BOOL},
	[6] = {"gpu_composition", FRAME_BOOL},
	[7] = {"jank_type", FRAME_JANK},
	[8] = {"prediction_type", FRAME_PREDICTION},
	[9] = {"jank_severity_type", FRAME_SEVERITY},
};
static const struct frame_field surface_fields[FRAME_FIELDS] = {
	[2] = {"token", FRAME_NUMBER},
	[3] = {"display_frame_token", FRAME_NUMBER},
	[4] = {"pid", FRAME_PID},
	[5] = {"layer_name", FRAME_TEXT},
	[6] = {"present_type", FRAME_PRESENT},
	[7] = {"on_time_finish", FRAME_BOOL},
	[8] = {"gpu_composition", FRAME_BOOL},
	[9] = {"jank_type", FRAME_JANK},
	[10] = {"prediction_type", FRAME_PREDICTION},
	[11] = {"is_buffer", FRAME_BOOL},
	[12] = {"jank_severity_type", FRAME_SEVERITY},
};

/* The messages of FrameTimelineEvent, by number. */
static const struct frame_kind {
	const char *name;
	const struct frame_field *fields;
} frame_kinds[FRAME_KINDS] = {
	[1] = {"expected display frame", display_fields},
	[2] = {"actual display frame", display_fields},
	[3] = {"expected surface frame", surface_fields},
	[4] = {"actual surface frame", surface_fields},
};

/* Add the argument of an enum: its name, or the names of its bits, else the number. */
static int add_names(struct perfetto *p, const struct frame_field *of, uint64_t number)
{
	const struct frame_names *n = &frame_names[of->form];
	struct buffer *b = &p->scratch.text;
	uint32_t string;

	b->size = 0;
	if (of->form != FRAME_JANK) {
		if (number >= n->count)
			return perfetto_argument_uint(p, of->name, number);
		string = writer_text(p->w, n->names[number]);
		return string ? perfetto_argument_string(p, of->name, string) : -1;
	}
	if (!number || number >> n->count)
		return perfetto_argument_uint(p, of->name, number);
	for (unsigned i = 0; i < n->count; i++)
		if (number >> i & 1 &&
		    ((b->size && buffer_u8(b, '|')) || buffer_puts(b, n->names[i])))
			return -1;
	string = writer_string(p->w, b->data, b->size);
	return string ? perfetto_argument_string(p, of->name, string) : -1;
}

static int add_argument(struct perfetto *p, const struct frame_field *of,
			const struct protobuf_field *f)
{
	uint32_t string;

	switch (of->form) {
	case FRAME_NONE:
	case FRAME_PID: return 0;
	case FRAME_NUMBER: return perfetto_argument_int(p, of->name, (int64_t)f->value);
	case FRAME_BOOL: return perfetto_argument_bool(p, of->name, f->value);
	case FRAME_TEXT:
		string = perfetto_text(p, f->bytes);
		return string ? perfetto_argument_string(p, of->name, string) : 0;
	default: return add_names(p, of, f->value);
	}
}

/* Keep the begin or the end of a frame: a message of that number. */
static int keep_frame(struct perfetto *p, const struct perfetto_packet *packet, uint32_t number,
		      struct protobuf_view message)
{
	const struct frame_kind *kind = number == FRAME_END ? NULL : &frame_kinds[number];
	struct perfetto_track_key track = {
		.kind = PERFETTO_OF_PROCESS, .pid = -1, .tid = -1, .cpu = -1};
	struct perfetto_track_key key = {.kind = PERFETTO_OF_FRAME};
	struct perfetto_record r = {.kind = kind ? PERFETTO_ID_BEGIN : PERFETTO_ID_END};
	struct protobuf_field f;

	p->scratch.arguments.size = 0;
	while (protobuf_next(&message, &f) > 0) {
		const struct frame_field *of =
			kind && f.number < FRAME_FIELDS ? &kind->fields[f.number] : NULL;

		if (f.number == FRAME_COOKIE)
			key.id = f.value;
		else if (of && of->form == FRAME_PID && f.value <= INT32_MAX)
			track.pid = (int32_t)f.value;
		else if (!of || of->form == FRAME_NONE)
			perfetto_check_field(p, MESSAGE_FRAME_TIMELINE + number, &f);
		else if (add_argument(p, of, &f))
			return -1;
	}
	if (kind) {
		r.name = writer_text(p->w, kind->name);
		r.category = writer_text(p->w, "frame_timeline");
		p->async.frames = perfetto_other_track(p, &track);
		if (!p->async.frames)
			return -1;
	} else if (!p->async.frames) {
		p->counts.unopened++;
		return 0;
	}
	/* an end is on the track of its begin, whichever it has here */
	r.track = p->async.frames - 1;
	return perfetto_keep_id(p, packet->time, &r, &key);
}

int perfetto_frame_timeline(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number > FRAME_END || f.wire != PROTOBUF_LENGTH)
			perfetto_check_field(p, MESSAGE_FRAME_TIMELINE, &f);
		else if (keep_frame(p, packet, f.number, f.bytes))
			return -1;
	return 0;
}
