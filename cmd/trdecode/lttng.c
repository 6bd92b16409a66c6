/*
 * lttng.c - the decoder of legacy LTTng traces: finding the tracefiles, the metadata first, merging
 * all by TSC, and what --info says
 */
#include "lttng.h"
#include "merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WINDOW = 128 * 1024, WINDOWS = 4 << 20, PROBED = 64, CHANNELS_MORE = 256 };

/* --- finding the files --- */

/* "control/flight-processes_0": its last part, and without the prefix of overwritten channels. */
static const char *channel_name(const char *member, size_t base, bool strip, size_t *n)
{
	const char *name = memrchr(member, '/', base);

	name = name ? name + 1 : member;
	*n = base - (size_t)(name - member);
	if (strip && *n > 7 && !memcmp(name, "flight-", 7)) {
		name += 7;
		*n -= 7;
	}
	return name;
}

static bool is_metadata(const char *member, size_t base)
{
	size_t n;
	const char *name = channel_name(member, base, true, &n);

	return (n == 8 && !memcmp(name, "metadata", n)) ||
	       (n == 10 && !memcmp(name, "facilities", n));
}

/* The first bytes of a member. */
static size_t peek(const struct tree *tree, const char *member, uint8_t *data, size_t n)
{
	uint64_t start, size;
	struct error e;
	int fd = tree_fd(tree, member, &start, &size, &e);
	ssize_t got;

	if (fd < 0)
		return 0;
	got = pread(fd, data, n < size ? n : (size_t)size, (off_t)start);
	close(fd);
	return got > 0 ? (size_t)got : 0;
}

static bool has_magic(const uint8_t *data, size_t n)
{
	for (int big = 0; big < 2; big++)
		if ((n >= LTTNG_MAGIC_2 + 4 &&
		     get_uint(data + LTTNG_MAGIC_2, 4, big) == LTTNG_MAGIC) ||
		    (n >= LTTNG_MAGIC_1 + 4 &&
		     get_uint(data + LTTNG_MAGIC_1, 4, big) == LTTNG_MAGIC))
			return true;
	return false;
}

static bool lttng_probe(const struct input *in)
{
	int32_t cpu;
	size_t base, probed = 0;
	uint8_t head[LTTNG_HEADER_MOST];

	for (size_t i = 0; in->tree && i < tree_count(in->tree); i++) {
		const char *member = tree_member(in->tree, i);

		if (!lttng_file_name(member, &base, &cpu))
			continue;
		if (has_magic(head, peek(in->tree, member, head, sizeof head)))
			return true;
		if (!is_metadata(member, base) && ++probed == PROBED)
			break;
	}
	return false;
}

/* --- opening --- */

/* The trace's own header: of the first metadata file that has one, else of any file. */
static int find_header(struct lttng *l, struct error *e)
{
	const struct tree *tree = l->input->tree;
	int32_t cpu, lowest = INT32_MAX;
	struct lttng_header h;
	uint8_t head[LTTNG_HEADER_MOST];
	bool found = false, found_metadata = false;
	uint32_t where;
	char path[512];
	size_t base;

	for (size_t i = 0; i < tree_count(tree); i++) {
		const char *member = tree_member(tree, i);
		bool metadata;
		size_t n;

		if (!lttng_file_name(member, &base, &cpu))
			continue;
		metadata = is_metadata(member, base);
		if (metadata ? found_metadata && cpu > lowest : found)
			continue;
		n = peek(tree, member, head, sizeof head);
		if (!n || lttng_header_parse(&h, head, n, &where))
			continue;
		if (!h.major)
			return error_set(
				e, tree_path(tree, member, path, sizeof path), where,
				"LTTng format 0.%u: its events are described by XML files "
				"beside the trace (eventdefs), which are not read; 1.0 and "
				"2.0 to 2.6 are",
				h.minor);
		l->header = h;
		if (h.major == 2)
			l->header.start_tsc = h.begin;
		found = true;
		if (metadata) {
			found_metadata = true;
			lowest = cpu;
		}
	}
	if (!found)
		return error_set(e, l->input->name, NO_OFFSET,
				 "no tracefile of it has a readable LTTng header");
	if (!found_metadata)
		input_damage(
			l->input, l->input->name, NO_OFFSET,
			"no readable metadata or facilities file: when the trace began, and what "
			"its events hold, is not known");
	return 0;
}

static bool wanted(const struct lttng *l, const char *member)
{
	const char *only = l->input->member;

	return !only || !strcmp(only, member);
}

static int find_files(struct lttng *l, struct error *e)
{
	const struct tree *tree = l->input->tree;
	size_t base, n = 0;
	int32_t cpu, most = -1;

	for (size_t i = 0; i < tree_count(tree); i++)
		n += lttng_file_name(tree_member(tree, i), &base, &cpu);
	l->files = calloc(n + 1, sizeof *l->files);
	l->heap = calloc(n + 1, sizeof *l->heap);
	l->channels_capacity = n + CHANNELS_MORE;
	l->channels = calloc(l->channels_capacity, sizeof *l->channels);
	if (!l->files || !l->heap || !l->channels)
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	for (size_t i = 0; i < tree_count(tree); i++) {
		const char *member = tree_member(tree, i);
		struct lttng_file *f = &l->files[l->nfiles];

		if (!lttng_file_name(member, &base, &cpu))
			continue;
		*f = (struct lttng_file){.member = member,
					 .cpu = cpu,
					 .fd = -1,
					 .done = true,
					 .rank = (uint32_t)l->nfiles++};
		f->metadata = is_metadata(member, base);
		if (cpu > most)
			most = cpu;
		/* 2.0 to 2.2 have it in control/, and number the events of all channels together */
		if (f->metadata && l->header.major == 2 && l->header.minor < 3 &&
		    !strncmp(member, "control/", 8))
			l->one_table = true;
	}
	if (l->old)
		l->one_table = true;
	l->ncpus = (size_t)(most + 1);
	l->cpus = calloc(l->ncpus + 1, sizeof(void *));
	if (!l->cpus)
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_cpu *c;

		cpu = l->files[i].cpu;
		if (l->cpus[cpu])
			continue;
		c = l->cpus[cpu] = calloc(1, sizeof *c);
		if (!c)
			return error_set(e, NULL, NO_OFFSET, "out of memory");
		c->cpu = cpu;
		c->idle = (struct lttng_thread){.tid = 0, .pid = 0, .ppid = -1};
		c->unknown = (struct lttng_thread){.tid = -1, .pid = -1, .ppid = -1};
		c->thread = &c->unknown;
	}
	return 0;
}

static int find_channels(struct lttng *l)
{
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_file *f = &l->files[i];
		size_t base, n;
		const char *name;
		int32_t cpu;

		lttng_file_name(f->member, &base, &cpu);
		name = channel_name(f->member, base, true, &n);
		f->compact = l->old && l->header.heartbeat && n == 7 && !memcmp(name, "compact", n);
		f->channel = lttng_channel(l, l->one_table ? "" : name, l->one_table ? 0 : n);
		if (!f->channel)
			return -1;
		/* the core events have ids of their own where all ids are the trace's */
		if ((l->one_table || f->metadata) && lttng_marker_core(l, f->channel))
			return -1;
	}
	return 0;
}

/* All events of a file, quietly: what they announce is needed before the first row. */
static int read_ahead(struct lttng *l, const struct lttng_file *of, size_t limit)
{
	struct lttng_file f = {.fd = -1,
			       .channel = of->channel,
			       .cpu = of->cpu,
			       .compact = of->compact,
			       .metadata = of->metadata,
			       .quiet = true};
	struct lttng_event ev;
	int got = lttng_file_open(l, &f, of->member, WINDOW, true);

	while (!got && !f.done && f.at < limit) {
		if (!f.gap_pending) {
			got = lttng_file_event(l, &f, &ev);
			if (got > 0)
				got = of->metadata ? lttng_marker_take(l, &ev)
						   : lttng_state_ahead(l, l->cpus[f.cpu], &ev);
		}
		f.gap_pending = false;
		if (!got)
			got = lttng_file_next(l, &f);
	}
	lttng_file_close(&f);
	return got;
}

static int open_trace(struct lttng *l, struct error *e)
{
	const struct lttng_header *h = &l->header;
	struct input *in = l->input;
	int64_t wall = 0;
	uint64_t us;

	if (find_header(l, e))
		return -1;
	l->old = h->major == 1;
	if (find_files(l, e))
		return -1;
	if (find_channels(l))
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	for (size_t i = 0; i < l->nfiles; i++)
		if (l->files[i].metadata && read_ahead(l, &l->files[i], SIZE_MAX))
			return error_set(e, NULL, NO_OFFSET, "out of memory");
	if (h->seconds < 1ull << 33 && !__builtin_mul_overflow(h->seconds, 1000000u, &us) &&
	    h->microseconds < 1ull << 40)
		wall = (int64_t)((us + h->microseconds) * 1000);
	in->has_wall = wall != 0;
	in->clock_name = "wall";
	if (in->decoding->clock == CLOCK_RAW || !in->has_wall) {
		in->clock_name = "tsc";
		if (lttng_clock_init(&l->clock, h, 0, 0))
			goto no_rate;
		if (in->has_wall)
			in->wall = wall - lttng_clock_slow(&l->clock, h->start_tsc);
	} else if (lttng_clock_init(&l->clock, h, h->start_tsc, wall)) {
		goto no_rate;
	}
	return 0;
no_rate:
	/* ticks are better than nothing */
	input_damage(in, in->name, NO_OFFSET,
		     "the trace does not tell how fast its clock ticks: 1 ns is assumed");
	in->has_wall = false;
	in->wall = 0;
	in->clock_name = "tsc";
	l->header.frequency = 1000000000;
	l->header.scale = 1;
	return lttng_clock_init(&l->clock, h, 0, 0);
}

static int lttng_open(struct input *in, struct error *e)
{
	struct lttng *l = calloc(1, sizeof *l);

	in->state = l;
	if (!l)
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	l->input = in;
	l->w = in->decoding->writer;
	/* so that it is never NULL */
	if (buffer_reserve(&l->tail, 4096))
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	if (tree_damage(in->tree, e))
		input_damage_error(in, e);
	e->what[0] = '\0';
	return open_trace(l, e);
}

static uint64_t lttng_identity(const struct input *in)
{
	const struct lttng *l = in->state;
	const struct lttng_header *h = &l->header;
	uint64_t key[4] = {h->start_tsc, h->seconds, h->microseconds, h->frequency};
	uint64_t id = hash_bytes(key, sizeof key, 0);

	for (size_t i = 0; i < l->nfiles; i++)
		id = hash_bytes(l->files[i].member, strlen(l->files[i].member), id);
	return in->member ? hash_bytes(in->member, strlen(in->member), id) : id;
}

static int lttng_info(struct input *in, struct facts *facts, struct error *e)
{
	static const char *const flights[] = {"no", "all channels but the metadata",
					      "the cpu channel"};
	struct lttng *l = in->state;
	const struct lttng_header *h = &l->header;
	uint64_t bytes = 0, start, size, cpus = 0, markers = 0;
	char text[32];

	(void)e;
	snprintf(text, sizeof text, "%u.%u", h->major, h->minor);
	fact_text(facts, "version", text);
	fact_text(facts, "byte order", h->big ? "big-endian" : "little-endian");
	fact_number(facts, "word size", h->word_size);
	fact_number(facts, "alignment", h->alignment);
	if (l->old) {
		fact_text(facts, "heartbeat", h->heartbeat ? "yes" : "no");
		fact_text(facts, "flight recorder", flights[h->flight < 3 ? h->flight : 0]);
	}
	fact_number(facts, "clock rate", lttng_clock_hertz(h));
	fact_number(facts, "start TSC", h->start_tsc);
	snprintf(text, sizeof text, "%" PRIu64 ".%06" PRIu64, h->seconds, h->microseconds);
	fact_text(facts, "start time", text);
	for (size_t i = 0; i < l->ncpus; i++)
		cpus += l->cpus[i] != NULL;
	fact_number(facts, "cpus", cpus);
	fact_number(facts, "tracefiles", l->nfiles);
	for (size_t i = 0; i < l->nfiles; i++) {
		struct error ignored;
		int fd = tree_fd(in->tree, l->files[i].member, &start, &size, &ignored);

		if (fd >= 0) {
			bytes += size;
			close(fd);
		}
	}
	fact_number(facts, "bytes", bytes);
	for (size_t i = 0; i < l->nchannels; i++)
		for (size_t k = 0; k < l->channels[i].size; k++)
			markers += l->channels[i].markers[k] != NULL;
	fact_number(facts, "markers", markers);
	return 0;
}

/* --- beginning --- */

static int declare(struct lttng *l)
{
	struct writer *w = l->w;
	const struct lttng_header *h = &l->header;
	struct input *in = l->input;
	char text[512];
	int n;

	l->source = writer_source(w, &(struct source_entry){writer_text(w, "lttng"),
							    writer_text(w, in->name), h->word_size,
							    h->big});
	l->clock_id = writer_clock(
		w,
		&(struct clock_entry){writer_text(w, in->clock_name),
				      (in->has_wall ? CLOCK_HAS_WALL : 0) |
					      (!strcmp(in->clock_name, "wall") ? CLOCK_IS_WALL : 0),
				      in->wall});
	/* what makes times of TSCs, for those who write the trace again: the rate as 2.3 has it,
	   start_freq / freq_scale ticks a second, whatever it meant in this version */
	n = snprintf(text, sizeof text,
		     "version %u.%u\nstart_freq %" PRIu64 "\nfreq_scale %" PRIu64
		     "\nstart_tsc %" PRIu64 "\nstart_time_sec %" PRIu64 "\nstart_time_usec %" PRIu64
		     "\n",
		     h->major, h->minor, l->clock.denominator, l->clock.numerator / 1000000000,
		     h->start_tsc, h->seconds, h->microseconds);
	if (writer_meta(w, l->source, "lttng.trace", text, (size_t)n))
		return -1;
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_file *f = &l->files[i];
		size_t base;
		int32_t cpu;

		lttng_file_name(f->member, &base, &cpu);
		f->buffer = writer_string(w, f->member, base);
	}
	return w->out_of_memory ? -1 : 0;
}

/* Do events of this channel tell what is needed ahead? */
static bool tells(struct lttng *l, const struct lttng_file *f)
{
	static const char *const names[] = {"interrupts", "processes", "modules"};
	size_t base, n;
	int32_t cpu;
	const char *name;

	if (f->metadata)
		return false;
	lttng_file_name(f->member, &base, &cpu);
	name = channel_name(f->member, base, true, &n);
	if (!l->one_table)
		return n > 6 && !memcmp(name + n - 6, "_state", 6);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == n && !memcmp(names[i], name, n))
			return true;
	return n > 6 && !memcmp(name + n - 6, "_state", 6);
}

/* Does the channel have an event that names something? */
static bool names_something(struct lttng *l, const struct lttng_channel *c)
{
	for (size_t i = 0; i < c->size; i++) {
		const struct lttng_marker *m = lttng_marker(l, c, (uint32_t)i);

		if (m && m->action >= ACTION_SYSCALL_NAME && m->action <= ACTION_IRQ_NAME)
			return true;
		if (m && m->action == ACTION_PROCESS)
			return true;
	}
	return false;
}

enum { AHEAD_MOST = 64 << 20, FIRST_SCHEDULE = 1 << 20 };

/* Which thread ran before the first switch is told by that switch. */
static int first_thread(struct lttng *l, const struct lttng_file *of)
{
	struct lttng_cpu *c = l->cpus[of->cpu];
	struct lttng_file f = {.fd = -1,
			       .channel = of->channel,
			       .cpu = of->cpu,
			       .compact = of->compact,
			       .quiet = true};
	struct lttng_event ev;
	int got = lttng_file_open(l, &f, of->member, WINDOW, true);

	while (!got && !f.done && f.at < FIRST_SCHEDULE) {
		if (!f.gap_pending) {
			got = lttng_file_event(l, &f, &ev);
			if (got > 0 && ev.marker->action == ACTION_SCHEDULE) {
				got = lttng_state_before(l, c, &ev);
				break;
			}
			got = got < 0 ? -1 : 0;
		}
		f.gap_pending = false;
		if (!got)
			got = lttng_file_next(l, &f);
	}
	lttng_file_close(&f);
	return got;
}

static bool schedules(struct lttng *l, const struct lttng_channel *c)
{
	for (size_t i = 0; i < c->size; i++) {
		const struct lttng_marker *m = lttng_marker(l, c, (uint32_t)i);

		if (m && m->action == ACTION_SCHEDULE)
			return true;
	}
	return false;
}

static int look_ahead(struct lttng *l)
{
	for (size_t i = 0; i < l->nfiles; i++)
		if (tells(l, &l->files[i]) && names_something(l, l->files[i].channel) &&
		    read_ahead(l, &l->files[i], AHEAD_MOST))
			return -1;
	for (size_t i = 0; i < l->nfiles; i++)
		if (!l->files[i].metadata && !l->files[i].compact &&
		    l->cpus[l->files[i].cpu]->thread->tid < 0 &&
		    schedules(l, l->files[i].channel) && first_thread(l, &l->files[i]))
			return -1;
	return 0;
}

static inline bool earlier(const struct lttng_file *a, const struct lttng_file *b)
{
	return a->next < b->next || (a->next == b->next && a->rank < b->rank);
}

static void sift_down(struct lttng *l, size_t i)
{
	struct lttng_file **h = l->heap, *f = h[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= l->nheap)
			break;
		if (child + 1 < l->nheap && earlier(h[child + 1], h[child]))
			child++;
		if (!earlier(h[child], f))
			break;
		h[i] = h[child];
		i = child;
	}
	h[i] = f;
}

static inline uint64_t row_time(struct lttng *l, uint64_t tsc)
{
	int64_t ns = lttng_clock_ns(&l->clock, tsc) + l->shift;

	return ns < 0 ? 0 : (uint64_t)ns;
}

static void set_next(struct lttng *l)
{
	uint64_t time = l->nheap ? row_time(l, l->heap[0]->next) : UINT64_MAX;

	/* UINT64_MAX would say that there is none */
	l->input->next = l->nheap && time == UINT64_MAX ? time - 1 : time;
}

static int out_of_memory(struct lttng *l, struct error *e)
{
	*e = l->w->error;
	if (!e->what[0])
		error_set(e, l->input->name, NO_OFFSET, "out of memory");
	return -1;
}

static int lttng_begin(struct input *in, struct error *e)
{
	struct lttng *l = in->state;
	struct decoding *d = in->decoding;
	bool keep = true;
	size_t window = WINDOWS / (l->nfiles + 1);

	window = window > WINDOW ? WINDOW : window < 4096 ? 4096 : window & ~(size_t)4095;
	if (merge_choose_clock(in, e))
		return -1;
	l->shift = in->shift;
	if (l->nfiles > DESCRIPTORS_KEPT || d->descriptors + l->nfiles > DESCRIPTORS_KEPT)
		keep = false;
	else
		d->descriptors += (unsigned)l->nfiles;
	if (declare(l) || look_ahead(l))
		return out_of_memory(l, e);
	l->begun = true;
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_file *f = &l->files[i];

		if (!wanted(l, f->member))
			continue;
		f->done = false;
		if (lttng_file_open(l, f, f->member, window, keep))
			return out_of_memory(l, e);
		if (!f->done)
			l->heap[l->nheap++] = f;
	}
	for (size_t i = l->nheap; i--;)
		sift_down(l, i);
	set_next(l);
	return 0;
}

/* --- rows --- */

static int put_lost(struct lttng *l, struct lttng_file *f, uint64_t time, uint32_t lane)
{
	char path[512], message[80];
	struct gap gap = {.reason = GAP_LOST,
			  .unit = GAP_EVENTS,
			  .count = f->gap_lost,
			  .offset = f->at,
			  .file = tree_path(l->input->tree, f->member, path, sizeof path)};

	l->input->decoding->lost += f->gap_lost;
	if (f->gap_lost && writer_gap(l->w, time, lane, &gap))
		return -1;
	if (!f->gap_blocks)
		return 0;
	snprintf(message, sizeof message, "%" PRIu64 " sub-buffers were lost", f->gap_blocks);
	gap.message = message;
	gap.count = UINT64_MAX;
	return writer_gap(l->w, time, lane, &gap);
}

static inline int put_row(struct lttng *l, const struct lttng_event *ev, uint32_t lane,
			  uint32_t type, uint32_t place, uint32_t depth)
{
	const struct lttng_marker *m = ev->marker;
	uint64_t time = row_time(l, ev->tsc);
	size_t size = m->fixed_size;
	uint8_t *to = NULL;

	if (!m->nstrings)
		to = writer_row_put(l->w, time, lane, type, place, depth, size);
	if (__builtin_expect(!to, 0))
		return writer_row_data(l->w, time, lane, type, place, depth, ev->fixed,
				       m->fixed_size, ev->tail, ev->tail_size, m->nstrings > 0);
	/* whole words: there is room behind both */
	if (__builtin_expect(size <= 32 && (size_t)(l->w->limit - to) >= 32, 1)) {
		memcpy(to, ev->fixed, 32);
		return 0;
	}
	for (size_t i = 0; i < size; i += 8)
		memcpy(to + i, ev->fixed + i, 8);
	return 0;
}

static int put_event(struct lttng *l, struct lttng_file *f)
{
	struct lttng_cpu *c = l->cpus[f->cpu];
	struct lttng_event ev;
	uint32_t place = 0, depth = 0, lane, type;
	const struct lttng_known_lane *known;
	struct lttng_marker *m;
	int got;

	if (__builtin_expect(f->gap_pending, 0)) {
		f->gap_pending = false;
		lane = lttng_state_lane(l, f, c);
		return put_lost(l, f, row_time(l, f->next), lane);
	}
	got = lttng_file_event(l, f, &ev);
	if (__builtin_expect(got <= 0, 0))
		return got;
	m = ev.marker;
	if (__builtin_expect(!m->type, 0) && lttng_marker_declare(l, m))
		return -1;
	type = m->type;
	if (m->action && lttng_state_before(l, c, &ev))
		return -1;
	if (m->told.tid && lttng_told_thread(l, c, &ev))
		return -1;
	if (m->told.name >= 0 && m->told.tid) {
		if (lttng_told_call(l, &ev, &place, &depth))
			return -1;
	} else if (m->kind != KIND_INSTANT && !lttng_state_call(l, c, &ev, &place, &depth)) {
		type = lttng_marker_orphan(l, m);
	}
	known = lttng_known_lane(f, c->thread);
	lane = known->thread == c->thread && known->version == c->thread->version
		       ? known->lane
		       : lttng_state_lane(l, f, c);
	if (put_row(l, &ev, lane, type, place, depth))
		return -1;
	return m->action ? lttng_state_after(l, c, &ev) : 0;
}

static int lttng_run(struct input *in, uint64_t until, struct error *e)
{
	struct lttng *l = in->state;

	while (l->nheap) {
		struct lttng_file *first = l->heap[0], *second = NULL;

		if (l->nheap > 1)
			second = l->heap[1];
		if (l->nheap > 2 && earlier(l->heap[2], second))
			second = l->heap[2];
		do {
			if (until != UINT64_MAX && row_time(l, first->next) > until)
				goto out;
			if (put_event(l, first) || lttng_file_next(l, first))
				return out_of_memory(l, e);
		} while (!first->done && (!second || earlier(first, second)));
		if (first->done) {
			lttng_file_close(first);
			l->heap[0] = l->heap[--l->nheap];
		}
		if (l->nheap)
			sift_down(l, 0);
	}
out:
	set_next(l);
	return 0;
}

static void lttng_close(struct input *in)
{
	struct lttng *l = in->state;

	for (size_t i = 0; i < l->nfiles; i++)
		lttng_file_close(&l->files[i]);
	free(l->files);
	free(l->heap);
	lttng_markers_free(l);
	lttng_state_free(l);
	buffer_free(&l->tail);
	free(l);
	in->state = NULL;
}

const struct decoder decoder_lttng = {
	.name = "lttng",
	.probe = lttng_probe,
	.open = lttng_open,
	.identity = lttng_identity,
	.info = lttng_info,
	.begin = lttng_begin,
	.run = lttng_run,
	.close = lttng_close,
};
