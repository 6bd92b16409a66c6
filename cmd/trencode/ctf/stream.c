/*
 * stream.c - write files of packets
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/util/buffer_file.h"
#include "cmd/trencode/ctf/ctf.h"

/*
 * packet.header: u32 magic, uuid, u32 stream_id; packet.context: u64 timestamp_begin,
 * timestamp_end, content_size, packet_size (in bits), events_discarded, packet_seq_num; then, in
 * files of a CPU only, u32 cpu_id.
 */
enum {
	MAGIC = 0xc1fc1fc1u,
	AT_STREAM = 20,
	AT_CONTEXT = 24,
	HEADER_SIZE = AT_CONTEXT + 48,
};

static struct ctf_file *new_file(struct ctf_files *f, uint32_t key, enum ctf_stream_class stream,
				 const struct lane *lane, struct error *e)
{
	struct ctf_file *files;
	struct ctf_file *file;
	unsigned same = 1;
	char name[64];
	int n;

	if (ARRAY_GROW(f->files, f->capacity, f->count)) {
		error_no_memory(e);
		return NULL;
	}
	files = f->files;
	file = &files[f->count];
	*file = (struct ctf_file){.stream = (uint8_t)stream, .next = f->first[key]};
	n = snprintf(name, sizeof name, "thread_%zu", f->count);
	if (stream == CTF_OF_CPU) {
		file->cpu = lane->cpu;
		for (size_t i = 0; i < f->count; i++)
			same += files[i].stream == CTF_OF_CPU && files[i].cpu == lane->cpu;
		n = snprintf(name, sizeof name, "cpu_%" PRId32, lane->cpu);
		/* the CPU of another source, or times after a step back */
		if (same > 1)
			n = snprintf(name, sizeof name, "cpu_%" PRId32 "_%u", lane->cpu, same);
	}
	if (tree_output_member(&f->tree, name, (size_t)n, &file->member, e))
		return NULL;
	f->first[key] = (uint32_t)++f->count;
	return file;
}

struct ctf_file *ctf_file(struct ctf_files *f, uint32_t key, enum ctf_stream_class stream,
			  const struct lane *lane, uint64_t time, struct error *e)
{
	if (ARRAY_REACH(f->first, f->nfirst, key)) {
		error_no_memory(e);
		return NULL;
	}
	/* where a recorder's clock steps back, the following events get another file */
	for (uint32_t i = f->first[key]; i; i = f->files[i - 1].next)
		if (f->files[i - 1].last <= time)
			return &f->files[i - 1];
	return new_file(f, key, stream, lane, e);
}

static int begin_packet(struct ctf_files *f, struct ctf_file *file, uint64_t time)
{
	struct buffer *b = &file->packet;

	file->first = file->last = time;
	b->spills = true;
	if (buffer_u32(b, MAGIC) || buffer_append(b, f->uuid, sizeof f->uuid) ||
	    buffer_u32(b, file->stream) || buffer_zero(b, HEADER_SIZE - AT_CONTEXT))
		return -1;
	return file->stream == CTF_OF_CPU ? buffer_u32(b, (uint32_t)file->cpu) : 0;
}

static int end_packet(struct ctf_files *f, struct ctf_file *file, struct error *e)
{
	struct buffer *b = &file->packet;
	uint8_t *context = b->data + AT_CONTEXT;
	size_t piece;
	int r = 0;

	if (!b->size)
		return 0;
	put_u64(context, file->first);
	put_u64(context + 8, file->last);
	put_u64(context + 16, b->size * 8ull);
	put_u64(context + 24, b->size * 8ull);
	put_u64(context + 32, file->discarded);
	put_u64(context + 40, file->sequence++);
	for (size_t at = 0; at < b->size && !r; at += piece) {
		piece = b->file && b->size - at > BUFFER_PIECE ? BUFFER_PIECE : b->size - at;
		r = tree_output_put(&f->tree, file->member, b->data + at, piece, e);
		buffer_rest(b);
	}
	f->pending -= b->size;
	if (b->capacity > 2 * CTF_PACKET)
		buffer_free(b);
	b->size = 0;
	return r;
}

int ctf_file_lost(struct ctf_files *f, struct ctf_file *file, uint64_t time, uint64_t events,
		  uint64_t packets, struct error *e)
{
	size_t had = file->packet.size;

	if (!had && !file->sequence && begin_packet(f, file, time))
		return error_no_memory(e);
	f->pending += file->packet.size - had;
	file->last = time;
	if (end_packet(f, file, e))
		return -1;
	/* readers subtract the counters */
	if (__builtin_add_overflow(file->discarded, events, &file->discarded))
		file->discarded = UINT64_MAX;
	if (__builtin_add_overflow(file->sequence, packets, &file->sequence))
		file->sequence = UINT64_MAX;
	if (begin_packet(f, file, time))
		return error_no_memory(e);
	f->pending += file->packet.size;
	return 0;
}

int ctf_event_begin(struct ctf_files *f, struct ctf_file *file, uint32_t id, uint64_t time,
		    struct error *e)
{
	struct buffer *b = &file->packet;
	size_t had = b->size;

	if ((!had && begin_packet(f, file, time)) || buffer_u32(b, id) || buffer_u64(b, time))
		return error_no_memory(e);
	file->last = time;
	f->pending += b->size - had;
	return 0;
}

int ctf_event_end(struct ctf_files *f, struct ctf_file *file, size_t grown, struct error *e)
{
	f->pending += grown;
	if (file->packet.size >= CTF_PACKET && end_packet(f, file, e))
		return -1;
	return f->pending > CTF_PENDING_MOST ? ctf_files_flush(f, e) : 0;
}

int ctf_files_flush(struct ctf_files *f, struct error *e)
{
	for (size_t i = 0; i < f->count; i++) {
		if (end_packet(f, &f->files[i], e))
			return -1;
		buffer_free(&f->files[i].packet);
	}
	return 0;
}

void ctf_files_free(struct ctf_files *f)
{
	for (size_t i = 0; i < f->count; i++)
		buffer_free(&f->files[i].packet);
	free(f->files);
	free(f->first);
	tree_output_close(&f->tree);
}
