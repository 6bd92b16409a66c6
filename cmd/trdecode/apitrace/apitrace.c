/*
 * apitrace.c - the decoder of apitrace's .trace files
 */
#include "cmd/trdecode/apitrace/timed.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cmd/trdecode/input/merge.h"

static enum bid apitrace_probe(const struct input *in)
{
	enum container container;

	return in->tree || !in->head_size ? BID_NONE
					  : unpack_probe(in->head, in->head_size, &container);
}

static int apitrace_open(struct input *in, struct error *e)
{
	const struct unpack_file file = {in->fd, in->name, in->head, in->head_size};
	enum container container;
	struct apitrace *a = calloc(1, sizeof *a);

	if (!a)
		return error_no_memory(e);
	in->state = a;
	a->input = in;
	a->values.limit =
		in->decoding->max_value ? (size_t)in->decoding->max_value : APITRACE_VALUES_LIMIT;
	/* large buffers then grow by remapping, and freed ones (values, windows of brotli)
	   return to the system */
	mallopt(M_MMAP_THRESHOLD, 256 * 1024);
	unpack_probe(in->head, in->head_size, &container);
	/* never NULL, even if all names are empty */
	if (buffer_reserve(&a->values.members, 256) || buffer_reserve(&a->header, 16))
		return error_no_memory(e);
	if (unpack_open(&a->unpack, container, &file, e))
		return -1;
	if (in->decoding->writer && in->decoding->writer->in_segment) {
		a->unpack.before_block = writer_flush;
		a->unpack.before_block_ctx = in->decoding->writer;
	}
	in->clock_name = "ticks";
	in->ticks = true;
	in->decoding->profile_has_trace = true;
	if (!apitrace_header(a))
		return 0;
	if (a->failure == FAILURE_FATAL) {
		*e = a->error;
		return -1;
	}
	if (a->version > APITRACE_LATEST && !a->unpack.damage.what[0])
		return error_set(e, in->name, NO_OFFSET, "%s", a->message);
	if (!a->unpack.total && a->unpack.refused[0]) {
		*e = a->unpack.damage;
		return -1;
	}
	if (!a->unpack.total && container == CONTAINER_BROTLI)
		return error_set(e, in->name, NO_OFFSET, "not a trace of a known format");
	/* a cut header: --info reports the part that was read; no event can follow */
	if (a->unpack.damage.what[0] && (a->failure == FAILURE_END || a->version > APITRACE_LATEST))
		input_damage_error(in, &a->unpack.damage);
	else
		input_damage(in, in->name, a->unpack.chunk_at, "%s %" PRIu64 ": %s",
			     unpack_part(container), a->unpack.chunk,
			     a->failure == FAILURE_BAD ? a->message
						       : "the trace ends inside of its header");
	a->done = true;
	return 0;
}

/* Return the size of the input; 0: not a regular file. */
static uint64_t file_size(const struct input *in)
{
	struct stat st;

	return !fstat(in->fd, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

static int apitrace_begin(struct input *in, struct error *e)
{
	struct apitrace *a = in->state;

	if (merge_choose_clock(in, e))
		return -1;
	a->w = in->decoding->writer;
	a->segments = a->w->segment_limit > 0;
	a->unpack.before_block = writer_flush;
	a->unpack.before_block_ctx = a->w;
	a->timed.profile = in->decoding->profile;
	if (a->timed.profile) {
		/* only the first trace */
		in->decoding->profile = NULL;
		a->timed.profile->input->shift = in->shift;
		in->clock_name = "replay";
		in->ticks = false;
		if (glprofile_declare(a->timed.profile))
			return -1;
		a->clock = a->timed.profile->clock;
	}
	if (apitrace_declare(a)) {
		*e = a->error;
		return -1;
	}
	return a->done ? 0 : merge_first(in, 0, e);
}

static int apitrace_run(struct input *in, uint64_t until, struct error *e)
{
	struct apitrace *a = in->state;
	int got;

	do {
		bool timed = a->timed.profile, done = a->done;

		got = !timed && apitrace_quick_events(a, until) ? 1 : apitrace_event(a);
		if (!got && !done && timed && timed_end(a))
			got = -1;
		if (got >= 0 && timed && timed_write(a, until, !got))
			got = -1;
		if (got < 0) {
			*e = a->error;
			return -1;
		}
		if (!timed)
			in->next = got ? a->tick + (uint64_t)in->shift : UINT64_MAX;
	} while (got && in->next <= until);
	return 0;
}

/* Copy a string of a header stored by apitrace_header, and move *p after it. */
static void header_text(const uint8_t **p, char *text, size_t size)
{
	unsigned shift = 0;
	uint64_t n = 0;
	size_t keep;

	do
		n |= (uint64_t)(**p & 0x7f) << shift;
	while (shift += 7, *(*p)++ & 0x80);
	keep = n < size ? (size_t)n : size - 1;
	memcpy(text, *p, keep);
	text[keep] = '\0';
	*p += n;
}

/* Add the properties of all traces of the file, from their adjacent headers. */
static void add_properties(struct trace_info *f, const struct buffer *headers)
{
	const uint8_t *p = headers->data, *end = p + headers->size;
	char name[512], key[400], value[400];

	for (unsigned trace = 1; p < end; trace++) {
		if (*p++ < APITRACE_PROPERTIES || p == end)
			continue;
		for (p++; p < end && *p;) {
			header_text(&p, key, sizeof key);
			header_text(&p, value, sizeof value);
			if (trace > 1)
				snprintf(name, sizeof name, "trace %u property %s", trace, key);
			else
				snprintf(name, sizeof name, "property %s", key);
			fact_text(f, name, value);
		}
		p++;
	}
}

/* Read the rest of the trace, and count. */
static int count_all(struct apitrace *a)
{
	int got = 1;

	while (got > 0)
		got = a->done ? 0 : apitrace_event(a);
	return got;
}

static int apitrace_info(struct input *in, struct trace_info *f, struct error *e)
{
	struct apitrace *a = in->state;
	struct apitrace_totals *t = &a->totals;
	uint64_t version = a->version, semantic = a->semantic; /* of the first trace */
	uint64_t size = file_size(in); /* damage may prevent reading to the end */

	if (apitrace_declare(a) || count_all(a)) {
		*e = a->error;
		return -1;
	}
	fact_text(f, "format", "apitrace");
	fact_number(f, "version", version);
	fact_number(f, "container version", semantic);
	fact_text(f, "container type", unpack_name(a->unpack.container));
	fact_text(f, "api", t->api[0] ? t->api : "Unknown API");
	fact_number(f, "frames count", t->frames);
	fact_number(f, "actual data size", a->unpack.total);
	fact_number(f, "container size", size ? size : a->unpack.packed);
	fact_number(f, "calls", t->calls);
	fact_number(f, "calls without leave", t->incomplete);
	fact_number(f, "threads", t->threads);
	if (t->traces > 1)
		fact_number(f, "traces", t->traces);
	add_properties(f, &a->headers);
	return 0;
}

static void apitrace_close(struct input *in)
{
	struct apitrace *a = in->state;

	apitrace_forget(a);
	unpack_close(&a->unpack);
	open_calls_free(&a->timed.unknown);
	buffer_free(&a->header);
	buffer_free(&a->headers);
	buffer_free(&a->values.tail);
	buffer_free(&a->values.used);
	buffer_free(&a->values.frames);
	buffer_free(&a->values.members);
	free(a);
	in->state = NULL;
}

const struct decoder decoder_apitrace = {
	.name = "apitrace",
	.in_order = true,
	.probe = apitrace_probe,
	.open = apitrace_open,
	.info = apitrace_info,
	.begin = apitrace_begin,
	.run = apitrace_run,
	.close = apitrace_close,
};
