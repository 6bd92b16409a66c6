/*
 * apitrace.c - the decoder of apitrace's .trace files
 */
#include "apitrace.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool apitrace_probe(const struct input *in)
{
	enum container container;

	return !in->tree && in->head_size && unpack_probe(in->head, in->head_size, &container);
}

static int apitrace_open(struct input *in, struct error *e)
{
	enum container container;
	struct apitrace *a = calloc(1, sizeof *a);

	if (!a)
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	in->state = a;
	a->input = in;
	/* large values grow by remapping, not by copies in a heap that keeps the old ones; and a
	   window of brotli goes back when it is done with */
	mallopt(M_MMAP_THRESHOLD, 256 * 1024);
	unpack_probe(in->head, in->head_size, &container);
	/* never NULL, however short the names */
	if (buffer_reserve(&a->members, 256) || buffer_reserve(&a->header, 16))
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	if (unpack_open(&a->unpack, container, in->fd, in->name, in->head, in->head_size, e))
		return -1;
	if (in->decoding->writer && in->decoding->writer->in_segment) {
		a->unpack.before_block = writer_flush;
		a->unpack.before_block_ctx = in->decoding->writer;
	}
	in->clock_name = "ticks";
	in->ticks = true;
	if (!apitrace_header(a))
		return 0;
	if (a->failure == FAILURE_FATAL) {
		*e = a->error;
		return -1;
	}
	if (a->version > APITRACE_LATEST)
		return error_set(e, in->name, NO_OFFSET, "%s", a->message);
	if (!a->unpack.total && container == CONTAINER_BROTLI)
		return error_set(e, in->name, NO_OFFSET, "not a trace of a known format");
	/* of a cut header the rest is told; nothing can follow it */
	if (a->unpack.damage.what[0] && a->failure == FAILURE_END)
		input_damage_error(in, &a->unpack.damage);
	else
		input_damage(in, in->name, a->unpack.chunk_at, "%s %" PRIu64 ": %s",
			     unpack_part(container), a->unpack.chunk,
			     a->failure == FAILURE_BAD ? a->message
						       : "the trace ends inside of its header");
	a->done = true;
	return 0;
}

static uint64_t apitrace_identity(const struct input *in)
{
	struct stat st;
	uint64_t size = !fstat(in->fd, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;

	return hash_bytes(in->head, in->head_size, size);
}

static int apitrace_begin(struct input *in, struct error *e)
{
	struct apitrace *a = in->state;

	a->w = in->decoding->writer;
	a->segments = a->w->segment_limit > 0;
	a->unpack.before_block = writer_flush;
	a->unpack.before_block_ctx = a->w;
	if (apitrace_declare(a)) {
		*e = a->error;
		return -1;
	}
	in->next = a->done ? UINT64_MAX : (uint64_t)in->shift;
	return 0;
}

static int apitrace_run(struct input *in, uint64_t until, struct error *e)
{
	struct apitrace *a = in->state;
	int got;

	do {
		got = apitrace_event(a);
		if (got < 0) {
			*e = a->error;
			return -1;
		}
		in->next = got ? a->tick + (uint64_t)in->shift : UINT64_MAX;
	} while (got && in->next <= until);
	return 0;
}

static int apitrace_info(struct input *in, struct facts *f, struct error *e)
{
	struct apitrace *a = in->state;
	struct apitrace_totals *t = &a->totals;
	struct buffer header = {0};
	uint64_t version = a->version, semantic = a->semantic;
	const uint8_t *p, *end;
	char name[512];
	int got;

	/* the first trace's, where there are several */
	if (buffer_append(&header, a->header.data, a->header.size))
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	if (apitrace_declare(a) || (!a->done && (got = 1))) {
		while ((got = apitrace_event(a)) > 0)
			;
		if (got < 0) {
			*e = a->error;
			buffer_free(&header);
			return -1;
		}
	}
	fact_text(f, "format", "apitrace");
	fact_number(f, "version", version);
	fact_number(f, "container version", semantic);
	fact_text(f, "container type", unpack_name(a->unpack.container));
	fact_text(f, "api", t->api[0] ? t->api : "Unknown API");
	fact_number(f, "frames count", t->frames);
	fact_number(f, "actual data size", a->unpack.total);
	fact_number(f, "container size", a->unpack.packed);
	fact_number(f, "calls", t->calls);
	fact_number(f, "calls without leave", t->incomplete);
	fact_number(f, "threads", t->threads);
	if (t->traces > 1)
		fact_number(f, "traces", t->traces);
	/* names and values as apitrace_header has put them there */
	p = header.data + (header.size > 2 ? 2 : header.size);
	end = header.data + header.size;
	while (p < end && *p) {
		char text[2][400];

		for (int i = 0; i < 2; i++) {
			uint64_t n = 0;
			unsigned shift = 0;
			size_t keep;

			do
				n |= (uint64_t)(*p & 0x7f) << shift;
			while (shift += 7, *p++ & 0x80);
			keep = n < sizeof text[i] ? (size_t)n : sizeof text[i] - 1;
			memcpy(text[i], p, keep);
			text[i][keep] = '\0';
			p += n;
		}
		snprintf(name, sizeof name, "property %s", text[0]);
		fact_text(f, name, text[1]);
	}
	buffer_free(&header);
	return 0;
}

static void apitrace_close(struct input *in)
{
	struct apitrace *a = in->state;

	apitrace_forget(a);
	unpack_close(&a->unpack);
	buffer_free(&a->header);
	buffer_free(&a->tail);
	buffer_free(&a->used);
	buffer_free(&a->members);
	free(a);
	in->state = NULL;
}

const struct decoder decoder_apitrace = {
	.name = "apitrace",
	.probe = apitrace_probe,
	.open = apitrace_open,
	.identity = apitrace_identity,
	.info = apitrace_info,
	.begin = apitrace_begin,
	.run = apitrace_run,
	.close = apitrace_close,
};
