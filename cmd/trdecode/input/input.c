#include "cmd/trdecode/input/input.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli/program.h"
#include "common/stream/reader.h"
#include "cmd/trdecode/input/decompress.h"
#include "common/util/io.h"
#include "common/util/memory.h"

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
static int read_head(struct input *in, const struct decoder *const *decoders, struct error *e)
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
static bool packed_damage(const struct input *in, struct error *e)
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
		     : in->head_size < TREE_PROBE && packed_damage(in, e))
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

static int open_file(struct input *in, const char *name, struct stat *st, struct error *e)
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
static void close_file(struct input *in)
{
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	in->fd = -1;
}

static int open_tree(struct input *in, struct error *e)
{
	struct error packed;

	in->tree = tree_open_fd(in->fd, in->name, in->head, in->head_size, e);
	if (packed_damage(in, &packed)) {
		if (!in->tree)
			*e = packed;
		else if (!io_cut())
			tree_set_damage(in->tree, &packed);
	}
	if (!in->tree)
		return -1;
	close_file(in);
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
	return read_head(in, NULL, e);
}

/* Find the decoder of a file or pipe. A compressed one may be a trace itself, as a .trace is;
 * else its content is. */
static int open_content(struct input *in, const struct decoder *const *decoders, struct error *e)
{
	if (read_head(in, decoders, e))
		return -1;
	in->decoder = probe_decoders(in, in->format, decoders);
	if (!in->decoder && decompress_known(in->head, in->head_size)) {
		if (open_packed(in, e))
			return -1;
		in->decoder = probe_decoders(in, in->format, decoders);
	}
	if (in->decoder || !tree_is_archive(in->head, in->head_size))
		return 0;
	return open_tree(in, e);
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

	if (S_ISDIR(st->st_mode) ? open_tree(in, e) : open_content(in, decoders, e))
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
			close_file(in);
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
	if (open_file(in, name, &st, e))
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

	if (in->next == UINT64_MAX && in->decoding->shared != in && packed_damage(in, &damage) &&
	    !io_cut())
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
