#include "common/ftrace/cpu_data.h"

#include <stdlib.h>

/* trace-cmd packs ten pages to a chunk. */
enum { CHUNK_LIMIT = 64 << 20 };

void cpu_data_begin(struct cpu_data *c, uint64_t offset, uint64_t size, uint32_t page_size,
		    uint32_t read_ahead)
{
	c->offset = offset;
	c->end = offset + size;
	c->page_size = page_size;
	c->read_ahead = read_ahead < page_size ? page_size : read_ahead / page_size * page_size;
}

void cpu_data_free(struct cpu_data *c)
{
	buffer_free(&c->window);
}

/* Note damage. Of several before one record, the first is reported. */
static void cpu_damage(struct cpu_data *c, uint64_t offset, const char *what)
{
	if (c->damaged)
		return;
	c->damaged = true;
	error_set(&c->damage, c->file->name, offset, "%s", what);
}

static int read_window(struct cpu_data *c, size_t n, struct buffer *to, struct error *e)
{
	ssize_t got;

	to->size = 0;
	if (buffer_reserve(to, n + 1))
		return error_no_memory(e);
	got = tracecmd_file_read(c->file, to->data, n, c->offset, e);
	if (got < 0)
		return -1;
	to->size = (size_t)got;
	c->offset += (uint64_t)got;
	return 0;
}

static int next_plain(struct cpu_data *c, struct error *e)
{
	uint64_t left = c->end - c->offset;

	if (!left)
		return 0;
	c->chunk_offset = c->offset;
	if (read_window(c, left < c->read_ahead ? (size_t)left : c->read_ahead, &c->window, e))
		return -1;
	if (!c->window.size) {
		cpu_damage(c, c->offset, "the file ends inside a CPU's data");
		c->end = c->offset;
		return 0;
	}
	return 1;
}

/* End the CPU's data: nothing can be found after damaged lengths. */
static int cpu_give_up(struct cpu_data *c, const char *what)
{
	cpu_damage(c, c->offset, what);
	c->chunks = 0;
	c->offset = c->end;
	return 0;
}

static int read_number(struct cpu_data *c, uint32_t *number, struct error *e)
{
	uint8_t bytes[4];
	ssize_t got =
		c->end - c->offset < 4 ? 0 : tracecmd_file_read(c->file, bytes, 4, c->offset, e);

	if (got < 0)
		return -1;
	if (got < 4)
		return cpu_give_up(c, "the file ends inside a CPU's data");
	*number = (uint32_t)get_uint(bytes, 4, c->layout.big_endian);
	c->offset += 4;
	return 1;
}

static int next_chunk(struct cpu_data *c, struct error *e)
{
	uint32_t packed, size, count;
	const char *what;
	int got;

	if (!c->started) {
		c->started = true;
		got = read_number(c, &count, e);
		if (got <= 0)
			return got;
		c->chunks = count;
	}
	if (!c->chunks)
		return 0;
	c->chunks--;
	c->chunk_offset = c->offset;
	got = read_number(c, &packed, e);
	if (got > 0)
		got = read_number(c, &size, e);
	if (got <= 0)
		return got;
	if (packed > c->end - c->offset && c->end < c->file->size)
		return cpu_give_up(c, "compressed data reach beyond those of their CPU");
	if (size > CHUNK_LIMIT)
		return cpu_give_up(c, "compressed data of more than 64 MiB in one piece");
	if (packed > c->end - c->offset) {
		packed = (uint32_t)(c->end - c->offset);
		c->chunks = 0;
		cpu_damage(c, c->file->size, "the file ends inside compressed data");
	}
	if (read_window(c, packed, c->packed, e))
		return -1;
	if (tracecmd_unpack(c->unpacker, c->packed->data, c->packed->size, size, &c->window,
			    &what)) {
		cpu_damage(c, c->chunk_offset, what);
		/* whole pages before the damage are valid */
		c->window.size -= c->window.size % c->page_size;
	}
	return 1;
}

bool cpu_data_chunk(const struct cpu_data *c, uint64_t offset, struct buffer *to, uint64_t *next)
{
	uint8_t lengths[8];
	uint32_t packed, size;
	const char *what;
	struct error e;

	if (offset > c->end || c->end - offset < 8 ||
	    tracecmd_file_read(c->file, lengths, 8, offset, &e) != 8)
		return false;
	packed = (uint32_t)get_uint(lengths, 4, c->layout.big_endian);
	size = (uint32_t)get_uint(lengths + 4, 4, c->layout.big_endian);
	if (packed > c->end - offset - 8 || size > CHUNK_LIMIT)
		return false;
	*next = offset + 8 + packed;
	if (!to)
		return true;
	c->packed->size = 0;
	if (buffer_reserve(c->packed, (size_t)packed + 1) ||
	    tracecmd_file_read(c->file, c->packed->data, packed, offset + 8, &e) != packed)
		return false;
	return !tracecmd_unpack(c->unpacker, c->packed->data, packed, size, to, &what);
}

static uint64_t page_offset(const struct cpu_data *c)
{
	/* the offset of the chunk: packed data have no offset of their own */
	return c->unpacker ? c->chunk_offset
			   : c->chunk_offset + (uint64_t)(c->page_begin - c->window.data);
}

static void count_missed(struct cpu_data *c, uint64_t missed)
{
	if (!missed)
		return;
	if (missed == UINT64_MAX || c->missed == UINT64_MAX || missed > UINT64_MAX - 1 - c->missed)
		c->missed = UINT64_MAX;
	else
		c->missed += missed;
}

int cpu_data_bytes(struct cpu_data *c, struct error *e)
{
	int got;

	do
		got = c->unpacker ? next_chunk(c, e) : next_plain(c, e);
	while (got > 0 && !c->window.size);
	return got;
}

int cpu_data_page(struct cpu_data *c, struct ring_record *r, struct error *e)
{
	int got;

	for (;;) {
		size_t n;

		if (c->page.what)
			cpu_damage(
				c,
				page_offset(c) +
					(c->unpacker ? 0 : (uint64_t)(c->page.at - c->page_begin)),
				c->page.what);
		c->page = (struct ring_page){0};
		if (c->at >= c->window.size) {
			got = cpu_data_bytes(c, e);
			c->at = 0;
			if (got <= 0) {
				c->window.size = 0;
				return got;
			}
		}
		n = c->window.size - c->at;
		if (n > c->page_size)
			n = c->page_size;
		c->page_begin = c->window.data + c->at;
		c->at += n;
		if (!ring_page_begin(&c->page, &c->layout, c->page_begin, n, c->page_size)) {
			count_missed(c, c->page.missed);
			if (ring_next(&c->page, r) > 0)
				return 1;
		}
	}
}
