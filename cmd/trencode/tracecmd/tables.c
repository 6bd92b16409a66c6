/*
 * tables.c - parts of a trace.dat that both versions share
 */
#include "common/formats/tracecmd.h"
#include "cmd/trencode/tracecmd/tracecmd.h"

#include <inttypes.h>
#include <stdio.h>

int tracecmd_number(const struct tracecmd_state *s, struct buffer *b, uint64_t v, unsigned size)
{
	uint8_t bytes[8];

	tracecmd_put_uint(bytes, v, size, s->big_endian);
	return buffer_append(b, bytes, size);
}

static int append_bytes(struct buffer *b, const void *data, size_t n)
{
	return n ? buffer_append(b, data, n) : 0;
}

int tracecmd_sized(const struct tracecmd_state *s, enum tracecmd_part part, unsigned size,
		   struct buffer *b)
{
	const struct buffer *from = &s->parts[part];

	return tracecmd_number(s, b, from->size, size) || append_bytes(b, from->data, from->size)
		       ? -1
		       : 0;
}

int tracecmd_header_info(const struct tracecmd_state *s, struct buffer *b)
{
	return buffer_append(b, TRACECMD_HEADER_PAGE, sizeof TRACECMD_HEADER_PAGE) ||
			       tracecmd_sized(s, PART_HEADER_PAGE, 8, b) ||
			       buffer_append(b, TRACECMD_HEADER_EVENT,
					     sizeof TRACECMD_HEADER_EVENT) ||
			       tracecmd_sized(s, PART_HEADER_EVENT, 8, b)
		       ? -1
		       : 0;
}

/* One format of the part "formats": u32 size of the system's name, u32 size of the text, the
 * name, the text. */
struct format_text {
	const uint8_t *system, *text;
	uint32_t system_size, size;
};

static bool next_format(const struct buffer *b, size_t *at, struct format_text *f)
{
	size_t left = b->size - *at;

	if (left < 8)
		return false;
	f->system_size = get_u32(b->data + *at);
	f->size = get_u32(b->data + *at + 4);
	left -= 8;
	if (f->system_size > left || f->size > left - f->system_size)
		return false;
	f->system = b->data + *at + 8;
	f->text = f->system + f->system_size;
	*at += 8 + (size_t)f->system_size + f->size;
	return true;
}

static bool is_ftrace(const struct format_text *f)
{
	return f->system_size == 6 && !memcmp(f->system, "ftrace", 6);
}

static bool same_system(const struct format_text *a, const struct format_text *b)
{
	return a->system_size == b->system_size && !memcmp(a->system, b->system, a->system_size);
}

static int append_format(const struct tracecmd_state *s, const struct format_text *f,
			 struct buffer *b)
{
	return tracecmd_number(s, b, f->size, 8) || append_bytes(b, f->text, f->size) ? -1 : 0;
}

int tracecmd_ftrace_formats(const struct tracecmd_state *s, struct buffer *b)
{
	const struct buffer *from = &s->parts[PART_FORMATS];
	struct format_text f;
	size_t at = 0, count_at = b->size;
	uint32_t n = 0;

	if (tracecmd_number(s, b, 0, 4))
		return -1;
	while (next_format(from, &at, &f))
		if (is_ftrace(&f)) {
			n++;
			if (append_format(s, &f, b))
				return -1;
		}
	tracecmd_put_uint(b->data + count_at, n, 4, s->big_endian);
	return 0;
}

int tracecmd_event_formats(const struct tracecmd_state *s, struct buffer *b)
{
	const struct buffer *from = &s->parts[PART_FORMATS];
	size_t at = 0, systems_at = b->size, count_at = 0;
	struct format_text f, before = {.system_size = 0};
	uint32_t systems = 0, n = 0;

	if (tracecmd_number(s, b, 0, 4))
		return -1;
	while (next_format(from, &at, &f)) {
		if (is_ftrace(&f))
			continue;
		if (!systems || !same_system(&f, &before)) {
			systems++;
			n = 0;
			if (append_bytes(b, f.system, f.system_size) || buffer_u8(b, 0))
				return -1;
			count_at = b->size;
			if (tracecmd_number(s, b, 0, 4))
				return -1;
			before = f;
		}
		if (append_format(s, &f, b))
			return -1;
		tracecmd_put_uint(b->data + count_at, ++n, 4, s->big_endian);
	}
	tracecmd_put_uint(b->data + systems_at, systems, 4, s->big_endian);
	return 0;
}

static int option_cpus(const struct tracecmd_state *s, struct buffer *b)
{
	return tracecmd_number(s, b, TRACECMD_CPUCOUNT, 2) || tracecmd_number(s, b, 4, 4) ||
			       tracecmd_number(s, b, s->cpus, 4)
		       ? -1
		       : 0;
}

/* Append the offset that trdecode was given; readers add all such options. */
static int option_offset(const struct tracecmd_state *s, struct buffer *b)
{
	char text[32];
	size_t n = (size_t)snprintf(text, sizeof text, "%" PRId64, s->offset_added) + 1;

	return tracecmd_number(s, b, TRACECMD_OFFSET, 2) || tracecmd_number(s, b, n, 4) ||
			       append_bytes(b, text, n)
		       ? -1
		       : 0;
}

int tracecmd_options(const struct tracecmd_state *s, struct buffer *b)
{
	const struct buffer *from = &s->parts[PART_OPTIONS];
	bool cpus = false;

	for (size_t at = 0; from->size - at >= 8;) {
		uint16_t id = get_u16(from->data + at);
		uint32_t size = get_u32(from->data + at + 4);

		at += 8;
		if (size > from->size - at)
			break;
		if (id == TRACECMD_CPUCOUNT) {
			if (!cpus && option_cpus(s, b))
				return -1;
			cpus = true;
		} else if (id != TRACECMD_DONE && id != TRACECMD_BUFFER) {
			if (tracecmd_number(s, b, id, 2) || tracecmd_number(s, b, size, 4) ||
			    append_bytes(b, from->data + at, size))
				return -1;
		}
		at += size;
	}
	if (s->offset_added && option_offset(s, b))
		return -1;
	return cpus || s->version == 6 ? 0 : option_cpus(s, b);
}
