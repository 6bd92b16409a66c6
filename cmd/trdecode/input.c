/*
 * input.c - inputs: their formats, times and order
 */
#include "cmd/trdecode/input.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/row_filter.h"
#include "common/cli/program.h"
#include "common/stream/reader.h"
#include "common/util/output.h"
#include "common/util/memory.h"
#include "common/util/u128.h"
#include "common/value/json.h"
#include "common/value/units.h"

int window_open(struct file_window *w, const struct tree *tree, const char *member, size_t capacity,
		bool keep, struct error *e)
{
	*w = (struct file_window){.tree = tree, .member = member, .fd = -1};
	w->fd = tree_fd(tree, member, &w->start, &w->size, e);
	if (w->fd < 0)
		return -1;
	/* most files are smaller than the capacity */
	if (w->size < capacity)
		capacity = w->size > 64 ? (size_t)align_up(w->size, 16) : 64;
	w->capacity = w->piece = capacity;
	if (!keep) {
		close(w->fd);
		w->fd = -1;
	}
	return 0;
}

bool window_keep(struct decoding *d, size_t files)
{
	if (files > DESCRIPTORS_KEPT || d->descriptors >= DESCRIPTORS_KEPT)
		return false;
	d->descriptors++;
	return true;
}

int window_open_one(struct file_window *w, const struct input *in, const char *member, size_t files,
		    struct error *e)
{
	enum { ALL = 4 << 20, MOST = 64 * 1024, LEAST = 1024 };
	size_t share = ALL / (files ? files : 1) & ~(size_t)15;
	bool keep = window_keep(in->decoding, files);
	int failed = window_open(w, in->tree, member,
				 share > MOST	 ? MOST
				 : share < LEAST ? LEAST
						 : share,
				 keep, e);

	if (keep)
		w->descriptors = &in->decoding->descriptors;
	return failed;
}

/* Read at an offset; if no descriptor is kept, open one for this read. */
static ssize_t read_at(struct file_window *w, void *data, size_t n, uint64_t offset,
		       struct error *e)
{
	char path[512];
	uint64_t start, size;
	int fd = w->fd;
	ssize_t got;

	if (fd < 0) {
		fd = tree_fd(w->tree, w->member, &start, &size, e);
		if (fd < 0)
			return -1;
	}
	got = io_read_at(fd, data, n, w->start + offset);
	if (got < 0)
		error_errno(e, tree_path(w->tree, w->member, path, sizeof(path)), offset,
			    "cannot read");
	if (fd != w->fd)
		close(fd);
	return got;
}

bool window_peek(struct file_window *w, uint64_t offset, void *to, size_t n)
{
	struct error e;

	return offset < w->size && w->size - offset >= n &&
	       read_at(w, to, n, offset, &e) == (ssize_t)n;
}

void window_close(struct file_window *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->descriptors)
		--*w->descriptors;
	w->descriptors = NULL;
	free(w->data);
	w->fd = -1;
	w->data = NULL;
	w->begin = w->filled = 0;
}

/* Read a piece after the bytes of the window. Returns 0 at the end of the file. */
static ssize_t window_read(struct file_window *w, struct error *e)
{
	uint64_t at = w->offset + w->filled;
	size_t n = w->capacity - w->filled;
	ssize_t got;

	if (at >= w->size)
		return 0;
	n = n < w->piece ? n : w->piece;
	got = read_at(w, w->data + w->filled, n < w->size - at ? n : (size_t)(w->size - at), at, e);
	if (got > 0)
		w->filled += (size_t)got;
	else if (!got)
		w->size = at; /* the file was truncated since */
	return got;
}

ssize_t window_need(struct file_window *w, size_t n, struct error *e)
{
	uint8_t *data = w->data;
	ssize_t got = 1;

	while (window_have(w) < n && got > 0) {
		if (w->begin) {
			memmove(data, data + w->begin, window_have(w));
			w->filled -= w->begin;
			w->begin = 0;
		}
		if (!data || w->filled == w->capacity) {
			/* a length in the file proves nothing: grow only as bytes arrive */
			size_t capacity = data ? 2 * w->capacity : w->capacity;

			data = realloc(data, capacity);
			if (!data)
				return error_set(e, w->member, NO_OFFSET, "out of memory");
			w->data = data;
			w->capacity = capacity;
		}
		got = window_read(w, e);
	}
	return got < 0 ? -1 : (ssize_t)window_have(w);
}

/* --- lines --- */

enum { PIECE = 64 * 1024 };

/* Read more bytes after those that are there. */
static int input_read_more(struct input_lines *l, const struct input *in, struct error *e)
{
	ssize_t got;

	if (!l->begun && !l->source.read) {
		l->begun = true;
		return buffer_append(&l->data, in->head, in->head_size) ? error_no_memory(e) : 0;
	}
	if (l->begin) {
		memmove(l->data.data, l->data.data + l->begin, l->data.size - l->begin);
		l->data.size -= l->begin;
		l->begin = 0;
	}
	if (buffer_reserve(&l->data, PIECE))
		return error_no_memory(e);
	l->begun = true;
	if (l->source.read)
		got = l->source.read(l->source.ctx, l->data.data + l->data.size, PIECE, e);
	else
		got = io_read(in->fd, l->data.data + l->data.size, PIECE);
	if (got < 0)
		return l->source.read ? -1 : error_errno(e, in->name, NO_OFFSET, "cannot read");
	l->ended = got == 0;
	l->data.size += (size_t)got;
	return 0;
}

int input_lines_next(struct input_lines *l, const struct input *in, const char **text, size_t *n,
		     struct error *e)
{
	const uint8_t *end = NULL;
	size_t have;

	l->cut = false;
	l->offset = l->next;
	for (;;) {
		have = l->data.size - l->begin;
		if (have > l->searched)
			end = memchr(l->data.data + l->begin + l->searched, '\n',
				     have - l->searched);
		if (end || l->ended)
			break;
		l->searched = have;
		if (have > LINE_MOST) {
			/* keep what is delivered, and read over the rest */
			l->next += have - LINE_MOST;
			l->data.size -= have - LINE_MOST;
			l->searched = LINE_MOST;
			l->cut = true;
		}
		if (input_read_more(l, in, e))
			return -1;
	}
	l->searched = 0;
	if (!have)
		return 0;
	*text = (const char *)l->data.data + l->begin;
	l->whole = end != NULL;
	*n = end ? (size_t)(end - l->data.data) - l->begin : have;
	l->begin += *n + (end != NULL);
	l->next += *n + (end != NULL);
	l->cut |= *n > LINE_MOST;
	*n = *n > LINE_MOST ? LINE_MOST : *n;
	if (*n && (*text)[*n - 1] == '\r')
		--*n;
	return 1;
}

int input_lines_fill(struct input_lines *l, const struct input *in, size_t size, struct error *e)
{
	while (!l->ended && l->data.size - l->begin < size)
		if (input_read_more(l, in, e))
			return -1;
	return 0;
}

bool input_lines_ready(const struct input_lines *l, const struct input *in, int ms)
{
	size_t have = l->data.size - l->begin;
	struct pollfd p = {.fd = in->fd, .events = POLLIN};

	return !l->begun || l->ended ||
	       (have > l->searched &&
		memchr(l->data.data + l->begin + l->searched, '\n', have - l->searched)) ||
	       poll(&p, 1, ms) != 0;
}

void input_lines_free(struct input_lines *l)
{
	buffer_free(&l->data);
}

/* --- merge --- */

/* ns. utc_offset and similar fields are whole seconds, which two recordings may have rounded
 * differently. */
static const uint64_t WALL_TOLERANCE = 1000000000;

/* Is it too much to be added to a time? */
static bool is_beyond(int128 ns)
{
	return ns >= (int128)TIME_LIMIT || ns <= -(int128)TIME_LIMIT;
}

int merge_choose_clock(struct input *in, struct error *e)
{
	bool wall = in->decoding->clock == CLOCK_WALL;

	if (in->has_wall && is_beyond(in->wall)) {
		input_damage(in, in->name, NO_OFFSET,
			     "the wall time of its clock is impossible: it is left out");
		in->has_wall = false;
		in->wall = 0;
	}
	if (wall && (!in->has_wall || in->ticks))
		return error_set(e, in->name, NO_OFFSET,
				 "the trace does not record its wall time (--clock wall)");
	in->shift = saturated_i64((int128)in->shift + (wall ? in->wall : 0));
	if (is_beyond(in->shift))
		return error_set(e, in->name, NO_OFFSET,
				 "--offset or --align moves its events by 146 years or more");
	if (wall)
		in->clock_name = "wall";
	return 0;
}

int merge_first(struct input *in, uint64_t first, struct error *e)
{
	if (in->shift < 0 && first < -(uint64_t)in->shift)
		return error_set(e, in->name, NO_OFFSET, "--offset moves its events before time 0");
	in->next = merge_shifted(first, in->shift);
	return 0;
}

/* Are the times of guest on the clock of host? Some recorders give the host no id. */
static bool is_guest_of(const struct input *guest, const struct input *host)
{
	if (!guest->on_host_clock)
		return false;
	for (size_t i = 0; i < host->nguest_ids; i++)
		if (host->guest_ids[i] == guest->trace_id && guest->trace_id)
			return true;
	return guest->host_id && guest->host_id == host->trace_id;
}

static bool share_host(const struct input *a, const struct input *b)
{
	return a->on_host_clock && b->on_host_clock && a->host_id && a->host_id == b->host_id;
}

static bool clocks_meet(const struct input *a, const struct input *b)
{
	uint64_t x = (uint64_t)merge_wall(a), y = (uint64_t)merge_wall(b);

	if (is_guest_of(a, b) || is_guest_of(b, a) || share_host(a, b))
		return true;
	if (a->ticks != b->ticks || strcmp(a->clock_name, b->clock_name))
		return false;
	/* ticks that each input counts from the same number, as those of apitrace, do not agree */
	if (a->ticks)
		return a->next != b->next;
	if (!a->has_wall || !b->has_wall)
		return true;
	return ((int64_t)x > (int64_t)y ? x - y : y - x) <= WALL_TOLERANCE;
}

/* Print a remark if one input has ticks and another one ns: --offset and --align add the same
 * number to both. */
static void remark_units(const struct input *inputs, int n)
{
	const struct input *of[2] = {NULL, NULL}; /* ns, ticks */

	for (int i = 0; i < n; i++)
		if (inputs[i].next != UINT64_MAX && !of[inputs[i].ticks])
			of[inputs[i].ticks] = &inputs[i];
	if (of[0] && of[1] && !of[0]->decoding->quiet)
		warn(of[1]->name, NO_OFFSET,
		     "its clock counts ticks, the clock of %s (%s) ns: their times agree only if a "
		     "tick is 1 ns",
		     of[0]->name, of[0]->clock_name);
}

int merge_check_clocks(const struct input *inputs, int n, struct error *e)
{
	const struct input *a = NULL;

	for (int i = 0; i < n; i++) {
		const struct input *b = &inputs[i];

		if (b->next != UINT64_MAX && b->shift_text &&
		    time_check_clock(b->name, "--offset", b->shift_text, b->ticks, e))
			return -1;
		if (b->next == UINT64_MAX || b->placed)
			continue;
		if (a && !clocks_meet(a, b))
			return error_set(e, b->name, NO_OFFSET,
					 "its clock (%s) and the clock of %s (%s) cannot be "
					 "compared: align them with --offset FILE=TIME, or with "
					 "--align start",
					 b->clock_name, a->name, a->clock_name);
		if (!a)
			a = b;
	}
	remark_units(inputs, n);
	return 0;
}

/*
 * Run inputs that may have an earlier event after the next one to their ends: the writer refuses
 * the later events. A live input may have no end, so it ends here.
 */
static int run_rest(struct input *inputs, int n, struct error *e)
{
	for (struct input *in = inputs; in < inputs + n; in++) {
		if (in->next == UINT64_MAX || in->decoder->in_order || (in->file.live && !in->tree))
			continue;
		writer_refuse_rows(in->decoding->writer);
		if (input_run(in, UINT64_MAX, e))
			return -1;
	}
	return 0;
}

int merge_run(struct input *inputs, int n, uint64_t last, struct error *e)
{
	for (;;) {
		struct input *first = NULL;
		uint64_t until = last;

		for (int i = 0; i < n; i++)
			if (inputs[i].next != UINT64_MAX &&
			    (!first || inputs[i].next < first->next))
				first = &inputs[i];
		if (!first || first->next > last)
			return run_rest(inputs, n, e);
		/* run the first input until another one is due; at equal times the earlier
		 * operand is first */
		for (int i = 0; i < n; i++) {
			uint64_t next = inputs[i].next;

			if (&inputs[i] == first || next == UINT64_MAX)
				continue;
			if (&inputs[i] < first) /* not at the same time, or it would be first */
				next--;
			if (next < until)
				until = next;
		}
		if (input_run(first, until, e))
			return -1;
	}
}

/* --- trace info --- */

void trace_info_open(struct text *text, bool json)
{
	if (json)
		text_puts(text, "[\n");
}

void trace_info_close(struct text *text, bool json)
{
	if (json)
		text_puts(text, "\n]\n");
}

static void end_list(struct trace_info *f)
{
	if (f->list && f->json)
		text_char(f->text, ']');
	f->list = NULL;
}

/* Begin a name and value. JSON names have no blanks: "max stack" is "max_stack". A name may be
 * from the trace. */
static void begin_fact(struct trace_info *f, const char *name)
{
	size_t n = strlen(name);

	end_list(f);
	if (f->json) {
		char key[512];

		if (n > sizeof key)
			n = sizeof key;
		for (size_t i = 0; i < n; i++)
			key[i] = name[i] == ' ' ? '_' : name[i];
		text_puts(f->text, f->any ? ",\n    " : "\n    ");
		json_string(f->text, key, n);
		text_puts(f->text, ": ");
	} else {
		text_masked(f->text, name, n);
		text_pad(f->text, ' ', n < 18 ? 18 - n : 1);
	}
	f->any = true;
}

void trace_info_begin(struct trace_info *f, struct text *text, bool json, const char *input,
		      bool first)
{
	*f = (struct trace_info){.text = text, .json = json};
	if (json)
		text_puts(text, first ? "  {" : ",\n  {");
	else if (!first)
		text_char(text, '\n');
	fact_text(f, "input", input);
}

void trace_info_end(struct trace_info *f)
{
	end_list(f);
	if (f->json)
		text_puts(f->text, "\n  }");
}

static size_t trimmed(const char *value)
{
	size_t n = value ? strlen(value) : 0;

	while (n && isspace((unsigned char)value[n - 1]))
		n--;
	return n;
}

static void input_put_value(struct trace_info *f, const char *value, size_t n)
{
	if (f->json) {
		json_string(f->text, value, n);
	} else {
		text_masked(f->text, value, n);
		text_char(f->text, '\n');
	}
}

void fact_text(struct trace_info *f, const char *name, const char *value)
{
	size_t n = trimmed(value);

	if (!n)
		return;
	begin_fact(f, name);
	input_put_value(f, value, n);
}

void fact_item(struct trace_info *f, const char *name, const char *value)
{
	bool further = f->list && !strcmp(f->list, name);

	if (!further || !f->json)
		begin_fact(f, name);
	if (f->json)
		text_puts(f->text, further ? ", " : "[");
	f->list = name;
	input_put_value(f, value, trimmed(value));
}

void fact_number(struct trace_info *f, const char *name, uint64_t value)
{
	begin_fact(f, name);
	text_u64(f->text, value);
	if (!f->json)
		text_char(f->text, '\n');
}

/* --- trace times --- */

/* One decoding of all inputs, without output, that finds the highest time. */
struct pass {
	struct decoding decoding;
	struct row_filter row_filter;
	struct output nowhere;
	struct writer writer;
	struct input *inputs;
	int opened;
	uint64_t last;
	bool any;
};

static bool pass_note(void *ctx, uint64_t time, uint32_t lane, uint32_t type, const void *fixed)
{
	struct pass *p = ctx;

	(void)lane;
	(void)type;
	(void)fixed;
	p->any = true;
	p->last = time > p->last ? time : p->last;
	return true;
}

/* Test whether a regular file, which need not be open, can be read again. */
static bool decode_input_is_file(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	bool is = fd < 0 || input_is_file(fd); /* the error of opening is reported later */

	if (fd >= 0)
		close(fd);
	return is;
}

static int can_seek(const char *name, const char *what, struct error *e)
{
	bool standard = !strcmp(name, "-");
	struct stat st;

	if (standard ? fstat(STDIN_FILENO, &st) : stat(name, &st))
		return error_errno(e, standard ? "<stdin>" : name, NO_OFFSET, "cannot open");
	if (S_ISDIR(st.st_mode) ||
	    (S_ISREG(st.st_mode) &&
	     (standard ? !lseek(STDIN_FILENO, 0, SEEK_CUR) : decode_input_is_file(name))))
		return 0;
	return error_set(e, standard ? "<stdin>" : name, NO_OFFSET,
			 "%s needs a file or directory, not a pipe: save the trace first", what);
}

static int pass_begin(struct pass *p, const struct trace_times *l, struct error *e)
{
	p->nowhere.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (p->nowhere.fd < 0)
		return error_errno(e, "/dev/null", NO_OFFSET, "cannot open");
	p->inputs = calloc((size_t)l->n, sizeof *p->inputs);
	if (!p->inputs || writer_init(&p->writer, &p->nowhere, 0))
		return error_no_memory(e);
	p->decoding = (struct decoding){.writer = &p->writer,
					.clock = l->clock,
					.quiet = true,
					.times_only = true,
					.row_filter = &p->row_filter};
	p->row_filter.last_time = UINT64_MAX;
	p->writer.refusal.row = pass_note;
	p->writer.refusal.ctx = p;
	for (; p->opened < l->n; p->opened++) {
		struct input *in = &p->inputs[p->opened];
		const char *name = l->names[p->opened];

		in->fd = -1;
		if (input_open(in, strcmp(name, "-") ? name : "/dev/stdin", l->format, l->decoders,
			       &p->decoding, e) ||
		    input_open_trace(in, e)) {
			p->opened++;
			return -1;
		}
		if (l->shift)
			l->shift(in, name, p->opened, l->ctx);
	}
	if (writer_begin(&p->writer, 0)) {
		*e = p->writer.error;
		return -1;
	}
	for (int i = 0; i < l->n; i++)
		if (input_begin(&p->inputs[i], e))
			return -1;
	return 0;
}

/* Have decoders skip the events before a time near the end. Return false if the end itself is
 * known. */
static bool look_late(struct pass *p, int n)
{
	uint64_t latest = 0;
	bool known = true;

	for (int i = 0; i < n; i++) {
		struct input *in = &p->inputs[i];
		uint64_t time = 0;

		if (in->next == UINT64_MAX)
			continue;
		if (!in->decoder->late || !in->decoder->late(in, &time))
			known = false;
		latest = time > latest ? time : latest;
	}
	p->row_filter.first_time = latest;
	if (!known)
		return true;
	p->last = latest;
	p->any = latest;
	return false;
}

static void input_pass_end(struct pass *p)
{
	for (int i = 0; i < p->opened; i++) {
		p->inputs[i].faults = (struct faults){0};
		input_close(&p->inputs[i]);
	}
	free(p->inputs);
	writer_free(&p->writer);
	if (p->nowhere.fd >= 0)
		close(p->nowhere.fd);
}

/* Decode all inputs. late: trust the times that decoders give for the end. */
static int pass_decode(const struct trace_times *l, bool late, uint64_t *last, bool *any,
		       struct error *e)
{
	struct pass p = {.nowhere.fd = -1};
	int bad = pass_begin(&p, l, e);

	if (!bad && (!late || look_late(&p, l->n)))
		bad = merge_run(p.inputs, l->n, UINT64_MAX, e);
	*last = p.last;
	/* the highest time is known only if it is not below the first time decoded */
	*any = p.any && p.last >= p.row_filter.first_time;
	input_pass_end(&p);
	return bad;
}

int trace_times_last(const struct trace_times *l, uint64_t *last, struct error *e)
{
	bool any;

	for (int i = 0; i < l->n; i++)
		if (can_seek(l->names[i], "a time before the end", e))
			return -1;
	if (pass_decode(l, true, last, &any, e))
		return -1;
	/* damage made the late time wrong: decode everything */
	return any ? 0 : pass_decode(l, false, last, &any, e);
}

int trace_times_first(const struct trace_times *l, uint64_t *first, struct error *e)
{
	struct pass p = {.nowhere.fd = -1};
	int bad = 0;

	for (int i = 0; i < l->n; i++)
		if (can_seek(l->names[i], "--align", e))
			return -1;
	bad = pass_begin(&p, l, e);
	for (int i = 0; !bad && i < l->n; i++)
		first[i] = p.inputs[i].next;
	input_pass_end(&p);
	return bad;
}

/* --- input --- */

enum {
	LIVE_PAUSE = 20, /* ms without bytes after which a live text is probed */
	HEAD_SIZE = 4096,
	HEADER_SIZE = 16,	     /* by which each binary format is recognised */
	HEAD_SIZE_ZSTD = 132 * 1024, /* of its first block, before whose end zstd unpacks nothing */
};

/* Print the first damage of its kind. */
static void damage_print(struct input *in, const struct error *e)
{
	if (faults_add(&in->faults, e, NULL) || in->decoding->verbose)
		error_print(e);
}

/* Record damage, and print the first of its kind. */
static void damage_add(struct input *in, const struct error *e)
{
	struct decoding *d = in->decoding;
	char message[600];
	struct error named = *e;

	d->status = status_worse(d->status, STATUS_DAMAGED);
	if (d->writer) {
		if (!named.file[0])
			error_set(&named, in->name, e->offset, "%s", e->what);
		error_text(&named, message, sizeof message);
		writer_status(d->writer, STATUS_DAMAGED, message, NULL);
	}
	damage_print(in, e);
}

/*
 * After the end that a signal made, the last damage is the record that was cut there. Damage before
 * it is damage. What an archive lacks that was cut there is printed, but is no damage.
 */
void input_damage_error(struct input *in, const struct error *e)
{
	if (in->decoding->times_only || in->decoding->ended)
		return;
	if (in->tree && tree_cut(in->tree)) {
		if (!in->decoding->quiet)
			damage_print(in, e);
		return;
	}
	if (!io_cut()) {
		damage_add(in, e);
		return;
	}
	if (in->faults.held && in->faults.held->offset != e->offset)
		damage_add(in, in->faults.held);
	if (!in->faults.held)
		in->faults.held = malloc(sizeof *in->faults.held);
	if (in->faults.held)
		*in->faults.held = *e;
}

bool input_left(const struct input *in)
{
	struct stat st;

	/* an archive from a pipe was read to the end of the pipe */
	if (in->tree)
		return !in->file.live;
	return in->fd >= 0 && !fstat(in->fd, &st) && S_ISREG(st.st_mode) && st.st_size &&
	       lseek(in->fd, 0, SEEK_CUR) < st.st_size;
}

static void damage_text(struct input *in, const char *file, uint64_t offset, const char *fmt,
			va_list ap)
{
	struct error e;
	char what[sizeof(e.what)];

	vsnprintf(what, sizeof(what), fmt, ap);
	error_set(&e, file, offset, "%s", what);
	input_damage_error(in, &e);
}

void input_damage(struct input *in, const char *file, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	damage_text(in, file, offset, fmt, ap);
	va_end(ap);
}

void input_short(struct input *in, const char *file, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	if (io_cut())
		return;
	va_start(ap, fmt);
	damage_text(in, file, offset, fmt, ap);
	va_end(ap);
}

/* Return how many bytes of a stream are read before it is decoded: those up to the end of HEAD,
 * at most room. */
static size_t stream_head(const struct input *in, size_t room)
{
	size_t headers = MARKER_SIZE + BLOCK_HEADER, n;

	if (in->head_size < headers)
		return headers;
	n = get_u32(in->head + MARKER_SIZE + 8);
	return n > room - headers ? room : headers + n;
}

/* Test whether a live text pauses after a line, and the lines so far show its format: a tar has
 * more bytes than a few events. */
static bool live_text(const struct input *in, const struct decoder *const *decoders)
{
	struct pollfd p = {.fd = in->fd, .events = POLLIN};

	if (!decoders || in->head[in->head_size - 1] != '\n' || poll(&p, 1, LIVE_PAUSE))
		return false;
	for (; *decoders; decoders++)
		if ((!in->format || !strcmp(in->format, (*decoders)->name)) &&
		    (*decoders)->probe(in) >= BID_LIKELY)
			return true;
	return false;
}

/* Read n bytes of the file or pipe, if it has so many, into a buffer of `room` bytes. decoders: a
 * text may be live; NULL: it is not. */
static int read_until(struct input *in, size_t n, size_t room,
		      const struct decoder *const *decoders, struct error *e)
{
	uint8_t *head = realloc(in->head, room);

	if (!head)
		return error_no_memory(e);
	in->head = head;
	while (in->head_size < n) {
		ssize_t got = io_read(in->fd, in->head + in->head_size, room - in->head_size);

		if (got < 0)
			return error_errno(e, in->name, NO_OFFSET, "cannot read");
		if (!got)
			break;
		in->head_size += (size_t)got;
		/* a live stream may begin with fewer bytes than a tar has, except its HEAD */
		if (reader_is_stream(in->head, in->head_size)) {
			io_set_patience(PATIENCE_FILTER);
			n = stream_head(in, room);
		} else if (in->head_size < n && live_text(in, decoders)) {
			break;
		}
	}
	return 0;
}

/* Read the first bytes of a file or pipe, up to the number by which a format is recognised. */
static int input_read_head(struct input *in, const struct decoder *const *decoders, struct error *e)
{
	if (read_until(in, TREE_PROBE, HEAD_SIZE, decoders, e))
		return -1;
	if (unpack_is_zstd(in->head, in->head_size))
		return read_until(in, HEAD_SIZE_ZSTD, HEAD_SIZE_ZSTD, NULL, e);
	return 0;
}

/* Open the directory of this file, where the file may be a part of a trace. */
static int open_part(struct input *in, struct error *e)
{
	char *slash;

	in->path = strdup(in->name);
	if (!in->path)
		return error_no_memory(e);
	slash = strrchr(in->path, '/');
	if (slash) {
		in->member = in->name + (slash - in->path) + 1;
		slash[slash == in->path] = '\0';
	} else {
		in->member = in->name;
		strcpy(in->path, ".");
	}
	in->tree = tree_open_near(in->path, e);
	return in->tree ? 0 : -1;
}

static const struct decoder *probe_decoders(const struct input *in, const char *format,
					    const struct decoder *const *decoders)
{
	const struct decoder *best = NULL;
	enum bid highest = BID_NONE;

	for (; *decoders; decoders++) {
		const struct decoder *d = *decoders;
		enum bid bid = format && strcmp(format, d->name) ? BID_NONE : d->probe(in);

		if (bid > highest || (best && bid == highest && strcmp(d->name, best->name) < 0)) {
			best = d;
			highest = bid;
		}
	}
	return best;
}

/* Find the damage of a compressed file whose content is read. Returns true, once, if it has any. */
static bool input_packed_damage(const struct input *in, struct error *e)
{
	char rest[4096];

	/* what a decoder leaves */
	while (in->packed && in->fd >= 0 && io_read(in->fd, rest, sizeof rest) > 0)
		;
	return in->packed && decompress_damage(in->packed, e);
}

static int unknown_format(const struct input *in, const char *format,
			  const struct decoder *const *decoders, struct error *e)
{
	const struct decoder *other = format ? probe_decoders(in, NULL, decoders) : NULL;
	unsigned version;

	if (reader_other_version(in->head, in->head_size, &version))
		return error_set(e, in->name, NO_OFFSET, "event stream version %u is not supported",
				 version);
	/* content that is so short was read to its end */
	if (in->tree ? tree_damage(in->tree, e)
		     : in->head_size < TREE_PROBE && input_packed_damage(in, e))
		return -1;
	if (!other && !in->head_size && (!in->tree || in->member))
		return error_set(e, in->name, NO_OFFSET, "empty, not a trace");
	if (other)
		return error_set(e, in->name, NO_OFFSET, "not a trace of the format %s (but of %s)",
				 format, other->name);
	if (format)
		return error_set(e, in->name, NO_OFFSET, "not a trace of the format %s", format);
	return error_set(e, in->name, NO_OFFSET, "%snot a trace of a known format%s",
			 in->packed ? "the compressed data are " : "",
			 in->tree && !in->path && !in->head_size
				 ? " (a directory without the files of one)"
				 : "");
}

static int input_open_file(struct input *in, const char *name, struct stat *st, struct error *e)
{
	if (!strcmp(name, "-")) {
		in->name = "<stdin>";
		in->fd = STDIN_FILENO;
		if (isatty(in->fd))
			return error_set(e, in->name, NO_OFFSET, "a terminal, not a trace");
	} else {
		in->fd = io_open(name, O_RDONLY | O_CLOEXEC);
		if (in->fd < 0)
			return error_errno(e, name, NO_OFFSET, "cannot open");
		if (isatty(in->fd))
			return error_set(e, name, NO_OFFSET, "a terminal, not a trace");
	}
	if (fstat(in->fd, st))
		return error_errno(e, in->name, NO_OFFSET, "cannot open");
	in->file = (struct operand_file){st->st_dev, st->st_ino,
					 !S_ISDIR(st->st_mode) &&
						 (!S_ISREG(st->st_mode) || !st->st_size)};
	return 0;
}

/* Close the operand's descriptor: the tree of a directory or an archive reads from its own. */
static void input_close_file(struct input *in)
{
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	in->fd = -1;
}

static int input_open_tree(struct input *in, struct error *e)
{
	struct error packed;

	in->tree = tree_open_fd(in->fd, in->name, in->head, in->head_size, e);
	if (input_packed_damage(in, &packed)) {
		if (!in->tree)
			*e = packed;
		else if (!io_cut())
			tree_set_damage(in->tree, &packed);
	}
	if (!in->tree)
		return -1;
	input_close_file(in);
	return 0;
}

/* Read the content of a compressed file in place of the file. */
static int open_packed(struct input *in, struct error *e)
{
	const struct unpack_file file = {in->fd, in->name, in->head, in->head_size};
	int fd;

	in->packed = decompress_open(&file, &fd, e);
	if (!in->packed)
		return -1;
	in->fd = fd;
	in->head_size = 0;
	return input_read_head(in, NULL, e);
}

/* Find the decoder of a file or pipe. A compressed one may be a trace itself, as a .trace is;
 * else its content is. */
static int open_content(struct input *in, const struct decoder *const *decoders, struct error *e)
{
	if (input_read_head(in, decoders, e))
		return -1;
	in->decoder = probe_decoders(in, in->format, decoders);
	if (!in->decoder && decompress_known(in->head, in->head_size)) {
		if (open_packed(in, e))
			return -1;
		in->decoder = probe_decoders(in, in->format, decoders);
	}
	if (in->decoder || !tree_is_archive(in->head, in->head_size))
		return 0;
	return input_open_tree(in, e);
}

static int ended_open(struct input *in, struct error *e)
{
	(void)in;
	(void)e;
	return 0;
}

static int ended_info(struct input *in, struct trace_info *f, struct error *e)
{
	(void)in;
	(void)f;
	(void)e;
	return 0;
}

static int ended_run(struct input *in, uint64_t until, struct error *e)
{
	(void)in;
	(void)until;
	(void)e;
	return 0;
}

/* Of a live source that a signal ended before its first byte or within its header, which is an
 * empty recording of any format. */
static const struct decoder ended = {.name = "ended",
				     .raw_clock = true,
				     .in_order = true,
				     .open = ended_open,
				     .info = ended_info,
				     .begin = ended_open,
				     .run = ended_run};

bool input_ended_early(const struct input *in)
{
	return in->decoder == &ended;
}

/* Make an input empty that a signal ended where its remark says. Returns 0. */
static int end_early(struct input *in, const char *fmt, ...)
{
	char where[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(where, sizeof where, fmt, ap);
	va_end(ap);
	if (!in->decoding->quiet)
		warn(in->name, NO_OFFSET, "ended by a signal %s", where);
	if (in->decoder && in->state)
		in->decoder->close(in);
	in->state = NULL;
	in->decoder = &ended;
	in->next = UINT64_MAX;
	return 0;
}

/* Find the decoder of an operand that is open. */
static int find_decoder(struct input *in, const struct stat *st,
			const struct decoder *const *decoders, struct error *e)
{
	const char *format = in->format;

	if (S_ISDIR(st->st_mode) ? input_open_tree(in, e) : open_content(in, decoders, e))
		return -1;
	if (!in->decoder)
		in->decoder = probe_decoders(in, format, decoders);
	if (!in->decoder && !in->tree && !in->packed && !io_cut() && S_ISREG(st->st_mode) &&
	    strcmp(in->name, "<stdin>")) {
		struct error none;

		/* a directory that cannot be read is treated as one that is not a trace */
		if (!open_part(in, &none))
			in->decoder = probe_decoders(in, format, decoders);
		if (in->decoder)
			input_close_file(in);
	}
	return in->decoder ? 0 : unknown_format(in, format, decoders, e);
}

/* Test whether the bytes read so far can be the beginning of any format: they end within the first
 * line, or are fewer than a header has. */
static bool may_begin_any(const struct input *in, const struct decoder *const *decoders)
{
	return !probe_decoders(in, NULL, decoders) &&
	       (in->head_size < HEADER_SIZE || !memchr(in->head, '\n', in->head_size));
}

int input_open(struct input *in, const char *name, const char *format,
	       const struct decoder *const *decoders, struct decoding *decoding, struct error *e)
{
	struct stat st;

	*in = (struct input){.name = name,
			     .format = format,
			     .fd = -1,
			     .decoding = decoding,
			     .next = UINT64_MAX,
			     .clock_name = ""};
	e->what[0] = '\0';
	/* also while the stream's writer waits for its own first byte */
	if (format && !strcmp(format, "stream"))
		io_set_patience(PATIENCE_FILTER);
	if (input_open_file(in, name, &st, e))
		return -1;
	if (!find_decoder(in, &st, decoders, e))
		return 0;
	if (!io_cut() || memory_failed())
		return -1;
	if (in->tree || in->packed || tree_is_archive(in->head, in->head_size))
		return end_early(in, "within its header: no events (%s)", e->what);
	if (!in->head_size)
		return end_early(in, "before its first byte: no events");
	if (!may_begin_any(in, decoders))
		return -1;
	return end_early(in, "after %zu byte%s, too few to recognise its format: no events",
			 in->head_size, in->head_size == 1 ? "" : "s");
}

/* After an error of a decoder's open or begin: it is none if a signal cut the header. A stream
 * records why it ends. */
static int header_failed(struct input *in, const struct error *e)
{
	const struct writer *w = in->decoding->writer;

	if (!io_cut() || memory_failed() || !e->what[0] || w->error.what[0] ||
	    reader_is_stream(in->head, in->head_size))
		return -1;
	return end_early(in, "within its header: no events (%s)", e->what);
}

int input_open_trace(struct input *in, struct error *e)
{
	e->what[0] = '\0';
	return in->decoder->open(in, e) ? header_failed(in, e) : 0;
}

bool input_is_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) >= 0;
}

int input_twice(char *const *names, int i, struct error *e)
{
	for (int k = 0; k < i && !strcmp(names[i], "-"); k++)
		if (!strcmp(names[k], "-"))
			return error_set(e, "<stdin>", NO_OFFSET,
					 "given twice: its events would be counted twice");
	return 0;
}

int input_same(const struct input *inputs, int i, struct error *e)
{
	for (int k = 0; k < i; k++)
		if (!input_ended_early(&inputs[i]) &&
		    inputs[k].file.device == inputs[i].file.device &&
		    inputs[k].file.inode == inputs[i].file.inode)
			return error_set(e, inputs[i].name, NO_OFFSET,
					 "given twice%s%s: its events would be counted twice",
					 strcmp(inputs[k].name, inputs[i].name) ? ", also as " : "",
					 strcmp(inputs[k].name, inputs[i].name) ? inputs[k].name
										: "");
	return 0;
}

int input_is(const struct input *in, const struct output *out, struct error *e)
{
	bool standard = !strcmp(in->name, "<stdin>"), same;
	struct stat st;
	int fd = STDIN_FILENO;

	if (!standard) {
		/* not a fifo: opening a fifo has effects */
		if (stat(in->name, &st) || !S_ISREG(st.st_mode))
			return 0;
		fd = open(in->name, O_RDONLY | O_CLOEXEC);
	}
	same = fd >= 0 && output_same_file(out, fd);
	if (!standard && fd >= 0)
		close(fd);
	return same ? error_set(e, in->name, NO_OFFSET, "is also the output") : 0;
}

/* Return -1 with an error that has a text. */
static int decoder_failed(const struct input *in, struct error *e)
{
	const struct writer *w = in->decoding->writer;

	if (!e->what[0] && w)
		*e = w->error;
	return e->what[0] ? -1 : error_set(e, in->name, NO_OFFSET, "out of memory");
}

/* Report the damage of a compressed file that is read to its end. */
static void report_packed(struct input *in)
{
	struct error damage;

	if (in->next == UINT64_MAX && in->decoding->shared != in &&
	    input_packed_damage(in, &damage) && !io_cut())
		input_damage_error(in, &damage);
}

void input_end_shared(struct input *in)
{
	in->decoding->shared = NULL;
	report_packed(in);
}

int input_begin(struct input *in, struct error *e)
{
	e->what[0] = '\0';
	if (in->decoder->begin(in, e) && header_failed(in, e))
		return decoder_failed(in, e);
	report_packed(in);
	return 0;
}

int input_run(struct input *in, uint64_t until, struct error *e)
{
	e->what[0] = '\0';
	in->decoding->running = in;
	if (in->decoder->run(in, until, e))
		return decoder_failed(in, e);
	report_packed(in);
	return 0;
}

void input_close(struct input *in)
{
	if (in->decoder && in->state)
		in->decoder->close(in);
	if (in->faults.total && !in->decoding->verbose)
		faults_report(&in->faults, in->name, " (--verbose prints them)");
	tree_close(in->tree);
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	decompress_close(in->packed);
	free(in->head);
	free(in->faults.held);
	free(in->path);
}
