/*
 * ctf.c - the decoder of CTF 1.8: finding the traces of an input, and merging their files by time
 */
#include "cmd/trdecode/ctf/ctf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/trdecode/input/merge.h"

enum {
	WINDOW = 64 * 1024,
	WINDOWS = 4 << 20,
	WINDOW_LEAST = 4096,
	METADATA_MOST = 64 << 20,
	HEAD = 8192, /* bytes that tell metadata from other files */
};

/* --- finding the traces --- */

/* "ust/uid/0/64-bit/metadata": the length of what stands before the name. */
static size_t prefix_of(const char *member)
{
	const char *slash = strrchr(member, '/');

	return slash ? (size_t)(slash - member) + 1 : 0;
}

static bool is_metadata(const struct tree *tree, const char *member)
{
	uint8_t head[HEAD];
	uint64_t start, size;
	struct error e;
	ssize_t got;
	int fd;

	if (strcmp(member + prefix_of(member), "metadata"))
		return false;
	fd = tree_fd(tree, member, &start, &size, &e);
	if (fd < 0)
		return false;
	got = pread(fd, head, size < sizeof head ? (size_t)size : sizeof head, (off_t)start);
	close(fd);
	return got > 0 && ctf_metadata_is(head, (size_t)got);
}

/*
 * The file that was given, beside a metadata file: itself, or a file whose first packet has the
 * magic number. (A trace whose packets have none is to be given as a whole.)
 */
static bool is_part(const struct input *in)
{
	if (!is_metadata(in->tree, "metadata"))
		return false;
	return !strcmp(in->member, "metadata") || ctf_packet_is(in->head, in->head_size);
}

static bool ctf_probe(const struct input *in)
{
	if (in->tree && in->member)
		return is_part(in);
	for (size_t i = 0; in->tree && i < tree_count(in->tree); i++)
		if (is_metadata(in->tree, tree_member(in->tree, i)))
			return true;
	return false;
}

/* --- opening --- */

/* Traces of drafts and of later versions would be misread. */
static int check_version(const struct ctf_metadata *m, const char *path, struct error *e)
{
	if (m->major == 1 && m->minor == 8)
		return 0;
	return error_set(e, path, NO_OFFSET,
			 "the version is CTF %" PRIu64 ".%" PRIu64 ": only 1.8 can be read",
			 m->major, m->minor);
}

static int read_metadata(struct ctf_trace *t, const char *member, struct error *e)
{
	struct input *in = t->ctf->input;
	char path[512], *text;
	void *data;
	size_t size, n;

	tree_path(in->tree, member, path, sizeof path);
	if (tree_read(in->tree, member, METADATA_MOST, &data, &size, e))
		return -1;
	e->what[0] = '\0';
	if (ctf_metadata_text(data, size, path, &text, &n, e) && text)
		input_damage_error(in, e);
	free(data);
	if (!text)
		return -1;
	if (ctf_metadata_parse(&t->metadata, text, n, path, e))
		input_damage_error(in, e);
	free(text);
	return check_version(&t->metadata, path, e);
}

/* ns since 1970 at 0 of the clock, rounded down. false: no time can be that. */
static bool wall_of(const struct ctf_clock *c, int64_t *wall)
{
	__int128 ns = (__int128)c->offset * 1000000000, f = (__int128)c->frequency;

	ns = ns / f - (ns % f < 0) + (__int128)c->offset_s * 1000000000;
	*wall = (int64_t)ns;
	return ns < (__int128)TIME_LIMIT && ns > -(__int128)TIME_LIMIT;
}

/* Set what makes ns of the stream's times. */
static void set_offset(struct ctf_stream *s)
{
	const struct ctf_clock *c = s->clock;
	struct input *in = s->trace->ctf->input;
	char path[512], member[300];
	int64_t wall;

	s->frequency = c ? c->frequency : 1000000000;
	if (!c)
		return;
	if (wall_of(c, &wall)) {
		s->offset_s = c->offset_s;
		s->offset = c->offset;
		return;
	}
	snprintf(member, sizeof member, "%.280smetadata", s->trace->prefix);
	input_damage(in, tree_path(in->tree, member, path, sizeof path), NO_OFFSET,
		     "the offset of the clock '%.100s' cannot be: times are the clock's own",
		     c->name);
}

static const struct ctf_clock *clock_of(const struct ctf_trace *t)
{
	for (size_t i = 0; i < t->nstreams; i++)
		if (t->streams[i].clock)
			return t->streams[i].clock;
	return NULL;
}

static bool has_time(const struct ctf_trace *t)
{
	for (size_t i = 0; i < t->nstreams; i++)
		if (t->streams[i].has_time)
			return true;
	return false;
}

static void free_trace(struct ctf_trace *t)
{
	ctf_classes_free(t);
	ctf_metadata_free(&t->metadata);
	free(t->own_prefix);
	free(t->cpus);
}

/* Add a trace. -1 with e: none, it cannot be read. */
static int open_trace(struct ctf *ctf, const char *member, struct error *e)
{
	struct ctf_trace *t =
		array_grow(ctf->traces, &ctf->traces_capacity, ctf->ntraces, sizeof *t);
	const struct ctf_env *domain, *tracer;

	if (!t)
		return error_no_memory(e);
	ctf->traces = t;
	t = &t[ctf->ntraces];
	*t = (struct ctf_trace){.ctf = ctf};
	t->prefix = t->own_prefix = strndup(member, prefix_of(member));
	if (!t->prefix ? error_no_memory(e) : read_metadata(t, member, e)) {
		free_trace(t);
		return -1;
	}
	ctf->ntraces++;
	tracer = ctf_env_find(&t->metadata, "tracer_name");
	t->own = tracer && tracer->text && !strcmp(tracer->text, "trencode");
	domain = ctf_env_find(&t->metadata, "domain");
	t->kernel = domain && domain->text && !strcmp(domain->text, "kernel");
	return 0;
}

/* The members of one trace are those beside its metadata. */
static bool is_tracefile(const struct ctf *ctf, const struct ctf_trace *t, const char *member)
{
	const char *only = ctf->input->member, *name = member + prefix_of(member);

	return prefix_of(member) == strlen(t->prefix) &&
	       !memcmp(member, t->prefix, strlen(t->prefix)) && name[0] != '.' &&
	       strcmp(name, "metadata") && (!only || !strcmp(only, member));
}

static int find_files(struct ctf *ctf, struct error *e)
{
	const struct tree *tree = ctf->input->tree;
	size_t n = 0;

	for (size_t i = 0; i < ctf->ntraces; i++)
		for (size_t k = 0; k < tree_count(tree); k++)
			n += is_tracefile(ctf, &ctf->traces[i], tree_member(tree, k));
	ctf->files = calloc(n + 1, sizeof *ctf->files);
	ctf->heap.items = calloc(n + 1, sizeof *ctf->heap.items);
	if (!ctf->files || !ctf->heap.items)
		return error_no_memory(e);
	for (size_t i = 0; i < ctf->ntraces; i++)
		for (size_t k = 0; k < tree_count(tree); k++) {
			struct ctf_file *f = &ctf->files[ctf->nfiles];

			if (!is_tracefile(ctf, &ctf->traces[i], tree_member(tree, k)))
				continue;
			*f = (struct ctf_file){.trace = &ctf->traces[i],
					       .member = tree_member(tree, k),
					       .next = {UINT64_MAX, (uint32_t)ctf->nfiles++},
					       .done = true};
		}
	return 0;
}

static void set_clock(struct ctf *ctf)
{
	struct input *in = ctf->input;
	const struct ctf_clock *first = NULL;
	bool time = false;

	for (size_t i = 0; i < ctf->ntraces; i++) {
		struct ctf_trace *t = &ctf->traces[i];
		const struct ctf_clock *c = clock_of(t);

		for (size_t k = 0; k < t->nstreams; k++)
			set_offset(&t->streams[k]);
		if (!first && c) {
			first = c;
			if (!wall_of(c, &in->wall))
				in->wall = 0;
		}
		time |= has_time(t);
	}
	in->ticks = !time;
	in->has_wall = first && in->wall;
	/* a stream has no wall times before 1970: its clock has an offset below 0 then */
	ctf->raw = in->decoding->clock == CLOCK_RAW || !in->has_wall || in->wall < 0;
	in->clock_name = !time ? "none" : !ctf->raw ? "wall" : first ? first->name : "ticks";
	if (!ctf->raw)
		in->wall = 0;
}

/* Of several traces those that can be read are. -1: there is none. */
static int open_traces(struct ctf *ctf, struct error *e)
{
	struct input *in = ctf->input;
	struct error bad = {.what = ""}, other;

	for (size_t i = 0; i < tree_count(in->tree); i++) {
		const char *member = tree_member(in->tree, i);

		if ((in->member && prefix_of(member)) || !is_metadata(in->tree, member) ||
		    !open_trace(ctf, member, &other))
			continue;
		if (bad.what[0])
			input_damage_error(in, &other);
		else
			bad = other;
	}
	if (bad.what[0] && !ctf->ntraces) {
		*e = bad;
		return -1;
	}
	if (bad.what[0])
		input_damage_error(in, &bad);
	return 0;
}

static int ctf_open(struct input *in, struct error *e)
{
	struct ctf *ctf = calloc(1, sizeof *ctf);
	const struct tree *tree = in->tree;

	in->state = ctf;
	if (!ctf)
		return error_no_memory(e);
	ctf->input = in;
	ctf->w = in->decoding->writer;
	ctf->flows = ctf_flows_join(&in->decoding->ctf_flows);
	if (!ctf->flows)
		return error_no_memory(e);
	if (tree_damage(tree, e))
		input_damage_error(in, e);
	e->what[0] = '\0';
	if (in->member && !strcmp(in->member, "metadata"))
		return error_set(e, in->name, NO_OFFSET,
				 "metadata alone hold no events: give the directory around them");
	if (open_traces(ctf, e))
		return -1;
	/* traces do not move any more */
	for (size_t i = 0; i < ctf->ntraces; i++) {
		if (ctf_classes_make(&ctf->traces[i], e))
			return -1;
		ctf_skip_prepare(&ctf->traces[i]);
	}
	set_clock(ctf);
	return find_files(ctf, e);
}

static uint64_t ctf_identity(const struct input *in)
{
	const struct ctf *ctf = in->state;
	uint64_t id = 0;

	for (size_t i = 0; i < ctf->ntraces; i++) {
		const struct ctf_clock *c = clock_of(&ctf->traces[i]);
		int64_t wall = 0;

		if (c)
			wall_of(c, &wall);
		id = hash_bytes(ctf->traces[i].metadata.uuid, 16, id + (uint64_t)wall);
	}
	for (size_t i = 0; i < ctf->nfiles; i++)
		id = hash_bytes(ctf->files[i].member, strlen(ctf->files[i].member), id);
	return id;
}

static int ctf_info(struct input *in, struct trace_info *facts, struct error *e)
{
	static const char *const told[] = {"domain", "hostname", "tracer_name", "trace_name"};
	struct ctf *ctf = in->state;
	uint64_t bytes = 0, start, size;

	fact_text(facts, "format", "ctf");
	for (size_t i = 0; i < ctf->ntraces; i++) {
		const struct ctf_trace *t = &ctf->traces[i];
		const struct ctf_clock *c = clock_of(t);
		char text[64], uuid[40];
		const uint8_t *u = t->metadata.uuid;

		if (ctf->ntraces > 1)
			fact_text(facts, "trace", t->prefix);
		snprintf(text, sizeof text, "%" PRIu64 ".%" PRIu64, t->metadata.major,
			 t->metadata.minor);
		fact_text(facts, "version", text);
		fact_text(facts, "byte order", t->metadata.big ? "big-endian" : "little-endian");
		if (t->metadata.has_uuid) {
			snprintf(uuid, sizeof uuid,
				 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
				 "%02x%02x%02x%02x%02x%02x",
				 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10],
				 u[11], u[12], u[13], u[14], u[15]);
			fact_text(facts, "uuid", uuid);
		}
		for (size_t k = 0; k < sizeof told / sizeof *told; k++) {
			const struct ctf_env *v = ctf_env_find(&t->metadata, told[k]);

			if (v && v->text)
				fact_text(facts, told[k], v->text);
		}
		if (c) {
			fact_text(facts, "clock", c->name);
			fact_number(facts, "clock rate", c->frequency);
		}
		fact_number(facts, "streams", t->nstreams);
		fact_number(facts, "event types", t->nclasses);
	}
	fact_number(facts, "tracefiles", ctf->nfiles);
	for (size_t i = 0; i < ctf->nfiles; i++) {
		int fd = tree_fd(in->tree, ctf->files[i].member, &start, &size, e);

		if (fd >= 0) {
			bytes += size;
			close(fd);
		}
	}
	fact_number(facts, "bytes", bytes);
	return 0;
}

/* --- merging --- */

/* What text and re-encoding want of the env of a trace. */
static int declare_trace(struct ctf_trace *t)
{
	struct ctf *ctf = t->ctf;
	struct writer *w = ctf->w;
	struct buffer text = {0};
	int failed = 0;

	t->source = writer_source(w, &(struct source_entry){writer_text(w, "ctf"),
							    writer_text(w, ctf->input->name), 8,
							    t->metadata.big});
	for (const struct ctf_env *v = t->metadata.env; v && !failed; v = v->next)
		failed = v->text ? buffer_printf(&text, "%s %s\n", v->name, v->text)
				 : buffer_printf(&text, "%s %" PRId64 "\n", v->name, v->number);
	if (!failed && text.size)
		failed = writer_meta(w, t->source, "ctf.env", text.data, text.size);
	buffer_free(&text);
	return failed || !t->source ? -1 : 0;
}

static int failed(struct ctf *ctf, struct error *e)
{
	if (!e->what[0])
		*e = ctf->w->error;
	return e->what[0] ? -1 : error_no_memory(e);
}

/* "channel0_3": the channel's name. */
static size_t channel_size(const char *name)
{
	size_t n = strlen(name), digits = n;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	return digits > 1 && digits < n && name[digits - 1] == '_' ? digits - 1 : n;
}

static int open_files(struct ctf *ctf, struct error *e)
{
	struct decoding *d = ctf->input->decoding;
	size_t window = ctf->nfiles ? WINDOWS / ctf->nfiles : WINDOW;

	if (window > WINDOW)
		window = WINDOW;
	if (window < WINDOW_LEAST)
		window = WINDOW_LEAST;
	for (size_t i = 0; i < ctf->nfiles; i++) {
		struct ctf_file *f = &ctf->files[i];
		const char *name = f->member + prefix_of(f->member);
		bool keep = d->descriptors < DESCRIPTORS_KEPT;

		d->descriptors += keep;
		f->buffer = writer_string(ctf->w, name, channel_size(name));
		f->done = false;
		if (ctf_file_open(f, window, keep, e))
			return -1;
		if (f->done)
			ctf_file_close(f);
		else
			ctf->heap.items[ctf->heap.count++] = &f->next;
	}
	heap_build(&ctf->heap);
	return 0;
}

static int ctf_begin(struct input *in, struct error *e)
{
	struct ctf *ctf = in->state;
	struct writer *w = ctf->w;
	const struct ctf_file *first;
	uint64_t time;

	e->what[0] = '\0';
	if (merge_choose_clock(in, e))
		return -1;
	ctf->clock = writer_clock(
		w, &(struct clock_entry){
			   writer_text(w, in->clock_name),
			   (in->ticks ? CLOCK_TICKS : 0) | (in->has_wall ? CLOCK_HAS_WALL : 0) |
				   (!strcmp(in->clock_name, "wall") ? CLOCK_IS_WALL : 0),
			   merge_wall(in)});
	/* so that neither is ever NULL */
	if (!ctf->clock || buffer_reserve(&ctf->fixed, 8192) || buffer_reserve(&ctf->tail, 4096))
		return failed(ctf, e);
	memset(ctf->fixed.data, 0, ctf->fixed.capacity);
	for (size_t i = 0; i < ctf->ntraces; i++)
		if (declare_trace(&ctf->traces[i]))
			return failed(ctf, e);
	if (open_files(ctf, e))
		return failed(ctf, e);
	ctf->begun = true;
	first = ctf->heap.count ? (const struct ctf_file *)ctf->heap.items[0] : NULL;
	return first && ctf_file_own_time(first, first->cursor.time, &time)
		       ? merge_first(in, time, e)
		       : 0;
}

static int ctf_run(struct input *in, uint64_t until, struct error *e)
{
	struct ctf *ctf = in->state;
	struct heap *heap = &ctf->heap;

	e->what[0] = '\0';
	while (heap->count && heap->items[0]->time <= until) {
		struct ctf_file *first = (struct ctf_file *)heap->items[0];
		const struct heap_item *second = heap_second(heap);

		do {
			if (ctf_row(first, e) || ctf_file_next(first, e))
				return failed(ctf, e);
		} while (first->next.time <= until && !first->done &&
			 (!second || heap_earlier(&first->next, second)));
		if (first->done)
			ctf_file_close(first);
		heap_settle(heap);
	}
	in->next = heap->count ? heap->items[0]->time : UINT64_MAX;
	return 0;
}

static void ctf_close(struct input *in)
{
	struct ctf *ctf = in->state;

	if (ctf->early && !in->decoding->quiet)
		warn(in->name, NO_OFFSET,
		     "%" PRIu64 " time%s below 0, of events or packets: %s 0 in the stream",
		     ctf->early, ctf->early == 1 ? " is" : "s are",
		     ctf->early == 1 ? "it is" : "they are");
	for (size_t i = 0; i < ctf->nfiles; i++)
		ctf_file_close(&ctf->files[i]);
	for (size_t i = 0; i < ctf->ntraces; i++)
		free_trace(&ctf->traces[i]);
	free(ctf->files);
	free(ctf->heap.items);
	free(ctf->traces);
	id_cache_free(&ctf->known);
	if (ctf->flows)
		ctf_flows_leave(&in->decoding->ctf_flows);
	buffer_free(&ctf->fixed);
	buffer_free(&ctf->tail);
	free(ctf);
	in->state = NULL;
}

const struct decoder decoder_ctf = {
	.name = "ctf",
	.probe = ctf_probe,
	.open = ctf_open,
	.identity = ctf_identity,
	.info = ctf_info,
	.begin = ctf_begin,
	.late = ctf_skip_late,
	.run = ctf_run,
	.close = ctf_close,
};
