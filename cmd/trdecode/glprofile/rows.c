/*
 * rows.c - the rows of the calls of a profile
 */
#include "cmd/trdecode/glprofile/glprofile.h"
#include "cmd/trdecode/input/merge.h"

/* Types of a profile's own rows. */
enum { TYPE_ENTER, TYPE_LEAVE, TYPE_GPU, TYPE_GPU_END, TYPE_CALL = TYPE_GPU_END + 1 };

static const char gpu_prefix[] = "GPU ";

static uint32_t declare_lane(struct glprofile *p, uint32_t source, const char *comm, int32_t tid)
{
	struct writer *w = p->input->decoding->writer;

	return writer_lane(w, &(struct lane_entry){.source = source,
						   .clock = p->clock,
						   .comm = writer_text(w, comm),
						   .flags = LANE_HAS_TID,
						   .tid = tid,
						   .ppid = -1});
}

int glprofile_declare(struct glprofile *p)
{
	struct writer *w = p->input->decoding->writer;
	struct source_entry e = {writer_text(w, "glprofile"), writer_text(w, p->input->name), 0, 0};

	p->queue.w = w;
	/* a call has one number on both: each has numbers of its own */
	p->cpu_source = writer_source(w, &e);
	p->gpu_source = writer_source(w, &e);
	p->clock = writer_clock(w, &(struct clock_entry){.name = writer_text(w, "replay")});
	p->cpu_lane = declare_lane(p, p->cpu_source, "CPU", 0);
	p->gpu_lane = declare_lane(p, p->gpu_source, "GPU", 1);
	return p->cpu_source && p->gpu_source && p->clock && p->cpu_lane && p->gpu_lane ? 0 : -1;
}

unsigned glprofile_variant(const struct glprofile_call *c, bool gpu)
{
	bool pixels = c->value[COLUMN_PIXELS] >= 0 && (gpu || !glprofile_has_gpu(c));
	bool memory = !gpu && (c->value[COLUMN_VSIZE_START] || c->value[COLUMN_RSS_START]);

	return (pixels ? GLPROFILE_PIXELS : 0) | (memory ? GLPROFILE_MEMORY : 0);
}

static void add_field(struct writer *w, struct field_entry *f, const char *name, uint32_t *offset,
		      uint32_t size)
{
	*f = (struct field_entry){.name = writer_text(w, name),
				  .kind = size == 4 ? FIELD_UINT : FIELD_INT,
				  .where = WHERE_FIXED,
				  .offset = *offset,
				  .size = size};
	*offset += size;
}

uint32_t glprofile_fields(struct writer *w, unsigned variant, struct field_entry *fields,
			  uint32_t *size)
{
	static const char *const memory[] = {"vsize_start", "vsize_dura", "rss_start", "rss_dura"};
	uint32_t n = 0;

	add_field(w, &fields[n++], "program", size, 4);
	if (variant & GLPROFILE_PIXELS)
		add_field(w, &fields[n++], "pixels", size, 8);
	for (unsigned i = 0; variant & GLPROFILE_MEMORY && i < 4; i++)
		add_field(w, &fields[n++], memory[i], size, 8);
	return n;
}

uint32_t glprofile_fixed(const struct glprofile_call *c, unsigned variant, uint8_t *to)
{
	uint8_t *p = to;

	put_u32(p, (uint32_t)c->value[COLUMN_PROGRAM]);
	p += 4;
	if (variant & GLPROFILE_PIXELS) {
		put_u64(p, (uint64_t)c->value[COLUMN_PIXELS]);
		p += 8;
	}
	for (unsigned i = COLUMN_VSIZE_START; variant & GLPROFILE_MEMORY && i < COLUMN_PIXELS;
	     i++) {
		put_u64(p, (uint64_t)c->value[i]);
		p += 8;
	}
	return (uint32_t)(p - to);
}

/* Get the type of a row. A leave has no fields but the number and the frame. */
static uint32_t type_of(struct glprofile *p, unsigned type, unsigned variant)
{
	static const char *const names[] = {"enter", "leave", "enter", "leave", "call"};
	struct writer *w = p->input->decoding->writer;
	bool leave = type == TYPE_LEAVE || type == TYPE_GPU_END, instant = type == TYPE_CALL;
	bool gpu = type == TYPE_GPU || type == TYPE_GPU_END;
	struct field_entry fields[GLPROFILE_FIELDS_MOST];
	uint32_t *id = &p->types[type][variant];
	struct type_entry e = {.source = gpu ? p->gpu_source : p->cpu_source,
			       .name = writer_text(w, names[type]),
			       .group = writer_text(w, "glprofile"),
			       .kind = instant ? KIND_INSTANT
				       : leave ? KIND_LEAVE
					       : KIND_ENTER,
			       .flags = instant ? 0 : TYPE_CALL_NUMBER,
			       .fields = fields};

	if (*id)
		return *id;
	add_field(w, &fields[e.nfields++], "call", &e.fixed_size, 4);
	fields[0].role = ROLE_CALL;
	add_field(w, &fields[e.nfields++], "frame", &e.fixed_size, 4);
	if (!leave)
		e.nfields += glprofile_fields(w, variant, fields + 2, &e.fixed_size);
	*id = writer_type(w, &e);
	if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
		*id = 0;
	return *id;
}

/* Declare the function of a call. 0: out of memory. */
static uint32_t location_of(struct glprofile *p, const struct glprofile_call *c, bool gpu)
{
	char text[sizeof gpu_prefix + GLPROFILE_NAME_MOST];
	size_t prefix = gpu ? sizeof gpu_prefix - 1 : 0, n = intern_size(&p->names, c->name);
	struct writer *w = p->input->decoding->writer;
	uint32_t *id;

	memcpy(text, gpu_prefix, prefix);
	memcpy(text + prefix, intern_data(&p->names, c->name), n);
	id = id_cache_number(&p->locations, text, prefix + n);
	if (id && !*id)
		*id = writer_location(
			w, &(struct location_entry){.name = writer_string(w, text, prefix + n)});
	return id ? *id : 0;
}

/* Add the row of a call to the queue. */
static int put_row(struct glprofile *p, const struct glprofile_call *c, uint32_t frame,
		   unsigned type, uint64_t time)
{
	bool gpu = type == TYPE_GPU || type == TYPE_GPU_END;
	bool leave = type == TYPE_LEAVE || type == TYPE_GPU_END;
	unsigned variant = leave ? 0 : glprofile_variant(c, gpu);
	uint8_t fixed[8 + GLPROFILE_FIXED_MOST];
	struct new_row r = {.time = merge_shifted(time, p->input->shift),
			    .lane = gpu ? p->gpu_lane : p->cpu_lane,
			    .type = type_of(p, type, variant),
			    .location = location_of(p, c, gpu),
			    .fixed = fixed,
			    .fixed_size = 8};

	if (!r.type || !r.location)
		return -1;
	put_u32(fixed, (uint32_t)c->value[COLUMN_NO]);
	put_u32(fixed + 4, frame);
	if (!leave)
		r.fixed_size += glprofile_fixed(c, variant, fixed + 8);
	return row_queue_put(&p->queue, &r, NULL);
}

int glprofile_gpu(struct glprofile *p, const struct glprofile_call *c, uint32_t frame)
{
	uint64_t start = (uint64_t)c->value[COLUMN_GPU_START];
	uint64_t duration = (uint64_t)c->value[COLUMN_GPU_DURA];

	if (!glprofile_has_gpu(c))
		return 0;
	if (!start) {
		/* drivers without timestamps have only durations: after the call before, once the
		 * CPU has begun it */
		start = glprofile_cpu_time(c, false);
		start = start < p->gpu_end ? p->gpu_end : start;
		if (start + duration >= TIME_LIMIT)
			start = TIME_LIMIT - 1 - duration;
	}
	p->gpu_end = start + duration;
	return put_row(p, c, frame, TYPE_GPU, start) ||
			       put_row(p, c, frame, TYPE_GPU_END, start + duration)
		       ? -1
		       : 0;
}

int glprofile_cpu(struct glprofile *p, const struct glprofile_call *c)
{
	if (glprofile_has_cpu(c))
		return put_row(p, c, p->frame, TYPE_ENTER, glprofile_cpu_time(c, false)) ||
				       put_row(p, c, p->frame, TYPE_LEAVE,
					       glprofile_cpu_time(c, true))
			       ? -1
			       : 0;
	return glprofile_has_gpu(c) ? 0 : put_row(p, c, p->frame, TYPE_CALL, p->now);
}
