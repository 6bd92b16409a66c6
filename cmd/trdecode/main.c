/*
 * main.c - trdecode: convert traces of any format into one event stream
 *
 *     trdecode --offset b.json:2ms a.json b.json >merged.trs
 *
 * reads the options, opens the inputs, and merges their events by time.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/formats.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/list.h"
#include "common/calls/calls_writer.h"
#include "common/cli/program.h"
#include "common/stream/reader.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/memory.h"
#include "common/util/output.h"
#include "common/util/text.h"
#include "common/util/u128.h"
#include "common/value/units.h"

/* --- options --- */

enum {
	OPT_FORMATS = 256,
	OPT_CLOCK,
	OPT_INFO,
	OPT_LIST,
	OPT_ALL,
	OPT_JSON,
	OPT_SEGMENT,
	OPT_MAX_VALUE,
	OPT_NO_UNWIND,
	OPT_SYSROOT,
	OPT_OFFSET,
	OPT_ALIGN,
	OPT_STRICT,
	OPT_SINCE,
	OPT_UNTIL,
	OPT_CPU,
	OPT_TID,
	OPT_TYPE
};

static char settings_formats[256];

static const struct option_row settings_rows[] = {
	{'f', "from", "FORMAT",
	 "read the inputs as FORMAT (default: the format\nfound):", settings_formats},
	{OPT_FORMATS, "formats", NULL, "list the formats", NULL},
	{OPT_CLOCK, "clock", "CLOCK",
	 "raw: times as recorded; wall: times since 1970, if\nthe trace records them", "raw wall"},
	{OPT_OFFSET, "offset", "FILE=TIME",
	 "add TIME, such as 1.5s or -20ms, to all times of\nFILE", "file"},
	{OPT_ALIGN, "align", "WHERE",
	 "start: the inputs begin at the same time, whatever\ntheir clocks are", "start"},
	{OPT_SINCE, "since", "TIME",
	 "drop events before TIME: 12.5s, +1.5s from the first\nevent, -10s before the last, or a "
	 "date",
	 NULL},
	{OPT_UNTIL, "until", "TIME", "drop events at TIME and later", NULL},
	{OPT_CPU, "cpu", "LIST", "keep the events of these CPUs, such as 0-3,7", NULL},
	{OPT_TID, "tid", "LIST", "keep the events of these threads", NULL},
	{OPT_TYPE, "type", "GLOB",
	 "keep the events of these types, such as 'sched:*';\nmay be repeated", NULL},
	{OPT_SEGMENT, "segment", "SIZE",
	 "begin a new segment after SIZE bytes, such as 64M\n(default: one segment)", NULL},
	{OPT_MAX_VALUE, "max-value", "SIZE",
	 "apitrace: leave out values of a call beyond SIZE\nbytes (default: 256M)", NULL},
	{OPT_NO_UNWIND, "no-unwind", NULL,
	 "perf: do not unwind the stacks recorded as memory\n(--call-graph dwarf)", NULL},
	{OPT_SYSROOT, "sysroot", "DIR",
	 "perf: read programs, libraries and the files of JIT\ncompilers below DIR (default: /)",
	 "directory"},
	{OPT_INFO, "info", NULL, "print what the inputs are, and write no stream", NULL},
	{OPT_LIST, "list", NULL,
	 "print the types of events with counts, fields and\nexamples, and write no stream", NULL},
	{OPT_ALL, "all", NULL, "with --list: print the types without events, too", NULL},
	{OPT_JSON, "json", NULL, "print --info or --list as JSON", NULL},
	{OPT_STRICT, "strict", NULL, "exit 1 if the recorder lost events", NULL},
	{0},
};

struct clock_offset {
	const char *file; /* the first length bytes */
	size_t length;
	int64_t ns;
	const char *text; /* ns as the user wrote it */
	bool used;	  /* there is such an input */
};

struct decode_settings {
	const struct decoder *const *decoders; /* every format that can be read, ended by NULL */
	const char *format;		       /* NULL: by the inputs' content */
	enum clock_choice clock;
	uint64_t segment, max_value;
	bool formats, info, list, all, json, strict, no_unwind, align;
	const char *sysroot;	      /* NULL: / */
	struct clock_offset *offsets; /* times to add to an input's times */
	size_t noffsets, offsets_capacity;
	int64_t *aligned; /* times to add so that all inputs begin together (--align); NULL: none */
	struct row_filter row_filter;
};

static int add_offset(struct decode_settings *s, const char *arg, struct error *e)
{
	const char *equals = strrchr(arg, '=');
	struct clock_offset *o;
	if (ARRAY_GROW(s->offsets, s->offsets_capacity, s->noffsets))
		return error_no_memory(e);
	o = s->offsets;
	o[s->noffsets] = (struct clock_offset){.file = arg};
	if (!equals || equals == arg || parse_time(equals + 1, &o[s->noffsets].ns) ||
	    o[s->noffsets].ns >= (int64_t)TIME_LIMIT || o[s->noffsets].ns <= -(int64_t)TIME_LIMIT)
		return error_set(
			e, NULL, NO_OFFSET,
			"--offset takes FILE=TIME, where TIME is such as 1.5s or -20ms, not '%s'",
			arg);
	o[s->noffsets].text = equals + 1;
	o[s->noffsets++].length = (size_t)(equals - arg);
	return 0;
}

static int parse_numbers(const char *option, const char *arg, struct number_list *l,
			 struct error *e)
{
	if (row_filter_add_numbers(l, arg))
		return error_set(e, NULL, NO_OFFSET, "%s takes a list such as 0-3,7, not '%s'",
				 option, arg);
	return 0;
}

/* Handle an option for struct program; ctx is the settings. */
static int decode_settings_option(void *ctx, int key, const char *arg, struct error *e)
{
	struct decode_settings *s = ctx;

	switch (key) {
	case 'f':
		s->format = arg;
		for (int i = 0; s->decoders[i]; i++)
			if (!strcmp(arg, s->decoders[i]->name))
				return 0;
		return error_set(e, NULL, NO_OFFSET, "no such format: '%s'; there are %s", arg,
				 settings_formats);
	case OPT_CLOCK:
		if (!strcmp(arg, "raw"))
			s->clock = CLOCK_RAW;
		else if (!strcmp(arg, "wall"))
			s->clock = CLOCK_WALL;
		else
			return error_set(e, NULL, NO_OFFSET, "--clock takes raw or wall, not '%s'",
					 arg);
		return 0;
	case OPT_OFFSET: return add_offset(s, arg, e);
	case OPT_ALIGN:
		s->align = !strcmp(arg, "start");
		return s->align ? 0
				: error_set(e, NULL, NO_OFFSET, "--align takes start, not '%s'",
					    arg);
	case OPT_SINCE: return moment_option(&s->row_filter.since, "--since", arg, e);
	case OPT_UNTIL: return moment_option(&s->row_filter.until, "--until", arg, e);
	case OPT_CPU: return parse_numbers("--cpu", arg, &s->row_filter.cpus, e);
	case OPT_TID: return parse_numbers("--tid", arg, &s->row_filter.tids, e);
	case OPT_TYPE: return row_filter_add_type(&s->row_filter, arg, e);
	case OPT_SEGMENT:
		if (parse_size(arg, &s->segment) || s->segment < 64)
			return error_set(e, NULL, NO_OFFSET,
					 "--segment takes a size of at least 64 bytes, not '%s'",
					 arg);
		return 0;
	case OPT_MAX_VALUE:
		if (parse_size(arg, &s->max_value) || s->max_value < 64 || s->max_value > MAX_VALUE)
			return error_set(e, NULL, NO_OFFSET,
					 "--max-value takes a size from 64 to 256M, not '%s'", arg);
		return 0;
	case OPT_NO_UNWIND: s->no_unwind = true; return 0;
	case OPT_SYSROOT: s->sysroot = arg; return 0;
	case OPT_FORMATS: s->formats = true; return 0;
	case OPT_INFO: s->info = true; return 0;
	case OPT_LIST: s->list = true; return 0;
	case OPT_ALL: s->all = true; return 0;
	case OPT_JSON: s->json = true; return 0;
	case OPT_STRICT: s->strict = true; return 0;
	}
	return -1;
}

static void decode_settings_free(struct decode_settings *s)
{
	free(s->aligned);
	free(s->offsets);
	row_filter_free(&s->row_filter);
}

/* Is the offset that of an input with this name? */
static bool is_offset_of(const struct clock_offset *o, const char *name)
{
	return strlen(name) == o->length && !strncmp(name, o->file, o->length);
}

/* Set the time to add to the times of an input (--offset, --align). The input is named as on the
 * command line ("-" for standard input) or as in messages; number: of the operand, from 0. */
static void settings_shift(struct decode_settings *s, struct input *in, const char *operand,
			   int number)
{
	for (size_t i = 0; i < s->noffsets; i++) {
		struct clock_offset *o = &s->offsets[i];

		if (is_offset_of(o, operand) || is_offset_of(o, in->name)) {
			in->shift = o->ns;
			in->shift_text = o->text;
			in->placed = o->used = true;
		}
	}
	if (s->aligned) {
		in->shift = saturated_i64((int128)in->shift + s->aligned[number]);
		in->placed = true;
	}
}

/* Fail if an --offset names no input. Called after settings_shift of all inputs. */
static int settings_check_offsets(const struct decode_settings *s, struct error *e)
{
	for (size_t i = 0; i < s->noffsets; i++)
		if (!s->offsets[i].used)
			return error_set(e, NULL, NO_OFFSET, "--offset %s: no input of that name",
					 s->offsets[i].file);
	return 0;
}

/*
 * --- find when a trace begins or ends before it is decoded ---
 *
 * For times that count from the end (--since -10s), and for inputs that begin at the same time
 * (--align start). The inputs are decoded once more, beforehand, without output. Where a decoder
 * gives a time near the end (struct decoder, late), the events before that time are skipped and
 * little is read.
 */

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

struct trace_times {
	char *const *names; /* operands, as input_open takes them */
	int n;
	const char *format;
	const struct decoder *const *decoders;
	enum clock_choice clock;
	/* sets in->shift and the other fields of --offset and --align; NULL: times of the inputs'
	   own clocks */
	void (*shift)(struct input *in, const char *name, int number, void *ctx);
	void *ctx;
};

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

/* Find the latest time of all inputs, shifted; 0 if there are no events. Returns 0, or -1 with
 * *e filled: an input cannot seek, or cannot be decoded at all. Damage is not reported here, but
 * by the decoding that follows. */
static int trace_times_last(const struct trace_times *l, uint64_t *last, struct error *e)
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

/* Find the time of the first event of each input; UINT64_MAX: it has none. Returns as
 * trace_times_last. */
static int trace_times_first(const struct trace_times *l, uint64_t *first, struct error *e)
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

/* --- the fingerprint of the stream: of the inputs, and of the options that change it --- */

enum {
	WHOLE = 1 << 20, /* files up to this size are read whole */
	PIECE = 4096,	 /* bytes of each piece of a larger file, and the number of pieces */
	PIECES = 64,
	TREE_BYTES = 2 << 20, /* bytes read of all files of a directory together */
	TREE_LEAST = 64,      /* least bytes read of each file */
};

/* Hash the n bytes from offset on, as far as they can be read. */
static uint64_t hash_piece(int fd, uint64_t offset, uint64_t n, uint64_t hash)
{
	uint8_t data[PIECE];

	while (n) {
		ssize_t got = io_read_at(fd, data, n < PIECE ? (size_t)n : PIECE, offset);

		if (got <= 0)
			break;
		hash = hash_bytes(data, (size_t)got, hash);
		offset += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return hash;
}

/* Hash n pieces, spread from the first byte to the last one. */
static uint64_t hash_pieces(int fd, uint64_t offset, uint64_t size, uint64_t n, uint64_t bytes,
			    uint64_t hash)
{
	hash = hash_u64(hash ^ size);
	if (size <= n * bytes)
		return hash_piece(fd, offset, size, hash);
	for (uint64_t i = 0; i < n; i++)
		hash = hash_piece(fd, offset + (size - bytes) / (n - 1) * i, bytes, hash);
	return hash_piece(fd, offset + size - bytes, bytes, hash);
}

static uint64_t hash_member(const struct input *in, const char *name, uint64_t bytes, uint64_t hash)
{
	uint64_t offset, size;
	int fd;

	hash = hash_bytes(name, strlen(name), hash);
	fd = tree_fd(in->tree, name, &offset, &size, NULL);
	if (fd < 0)
		return hash;
	hash = hash_pieces(fd, offset, size, 4, bytes, hash);
	close(fd);
	return hash;
}

static uint64_t hash_tree(const struct input *in, uint64_t hash)
{
	size_t n = tree_count(in->tree);
	uint64_t bytes = TREE_BYTES / 4 / (n ? n : 1);

	if (in->member)
		return hash_member(in, in->member, PIECE, hash);
	bytes = bytes < TREE_LEAST ? TREE_LEAST : bytes > PIECE ? PIECE : bytes;
	for (size_t i = 0; i < n; i++)
		hash = hash_member(in, tree_member(in->tree, i), bytes, hash);
	return hash;
}

static uint64_t hash_content(const struct input *in)
{
	const struct decoder *d = in->decoder;
	uint64_t hash = hash_bytes(d->name, strlen(d->name), 0);
	struct stat st;

	if (d->fingerprint)
		hash = hash_u64(hash ^ d->fingerprint(in));
	if (in->tree)
		return hash_tree(in, hash);
	if (in->fd < 0)
		return hash;
	if (!fstat(in->fd, &st) && S_ISREG(st.st_mode)) {
		uint64_t size = (uint64_t)st.st_size;

		return size <= WHOLE ? hash_piece(in->fd, 0, size, hash_u64(hash ^ size))
				     : hash_pieces(in->fd, 0, size, PIECES, PIECE, hash);
	}
	/* how many bytes beyond these a pipe has given is chance */
	return hash_bytes(in->head, in->head_size < TREE_PROBE ? in->head_size : TREE_PROBE, hash);
}

/*
 * Hash all inputs and the options that change the stream: the row filter, clock, shifts, --segment
 * and --max-value. Small files are hashed whole; of large files, the size and pieces at many
 * offsets; of inputs that can only be read forward, the first bytes.
 */
static uint64_t stream_fingerprint(const struct input *inputs, int n, const struct decoding *d)
{
	uint64_t id = d->row_filter ? row_filter_fingerprint(d->row_filter) : 0;

	id = hash_u64(id ^ d->writer->segment_limit);
	id = hash_u64(id ^ (d->max_value ? d->max_value : MAX_VALUE));
	id = hash_u64(id ^ d->clock);
	id = hash_u64(id ^ d->no_unwind);
	for (int i = 0; i < n; i++)
		id = hash_u64(hash_u64(id ^ hash_content(&inputs[i])) ^ (uint64_t)inputs[i].shift);
	return id;
}

/* --- decode the inputs --- */

/* What is decoded, and to where. */
struct run {
	struct input *inputs;
	int n;
	struct decode_settings *settings;
	const struct common_options *common;
	struct decoding *d;
	struct output out;
};

static int run_fail(struct decoding *d, const struct error *e)
{
	/* to a decoder a full disk and a lack of memory are the same: -1 */
	if (d->writer && d->writer->error.what[0] && !memory_failed())
		e = &d->writer->error;
	error_print(e);
	if (!d->failure.what[0])
		d->failure = *e;
	return STATUS_FAILED;
}

/* Open the output, which must be none of the inputs. Returns -1, the error printed. */

/* Fail if operand number i and an earlier operand are both standard input. */
static int input_twice(char *const *names, int i, struct error *e)
{
	for (int k = 0; k < i && !strcmp(names[i], "-"); k++)
		if (!strcmp(names[k], "-"))
			return error_set(e, "<stdin>", NO_OFFSET,
					 "given twice: its events would be counted twice");
	return 0;
}

/* Fail if operand number i is the same file as an earlier operand: each of its events would be
 * written twice. */
static int input_same(const struct input *inputs, int i, struct error *e)
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

/* Fail if the input is the regular file that the output is written to. */
static int input_is(const struct input *in, const struct output *out, struct error *e)
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

/* Refuse an output that would replace an input. path NULL: standard output. */
static int check_replaced(const struct run *r, const char *path, struct error *e)
{
	struct stat st;

	if (!path || stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	for (int i = 0; i < r->n; i++)
		if (r->inputs[i].file.device == st.st_dev && r->inputs[i].file.inode == st.st_ino)
			return error_set(e, path, NO_OFFSET,
					 "the output would replace the input: name another file");
	return 0;
}

static int open_output(struct run *r, const char *path, enum output_kind kind)
{
	struct error e, ignored;

	if (check_replaced(r, path, &e) || output_open(&r->out, path, kind, &e)) {
		run_fail(r->d, &e);
		return -1;
	}
	for (int i = 0; i < r->n; i++)
		if (input_is(&r->inputs[i], &r->out, &e)) {
			output_close(&r->out, run_fail(r->d, &e), &ignored);
			return -1;
		}
	return 0;
}

/* Open the output of a text that is printed in place of the stream. NULL: the error was printed. */
static struct text *run_text_begin(struct run *r)
{
	struct text *text = malloc(sizeof(*text));
	struct error e;

	if (!text) {
		error_no_memory(&e);
		run_fail(r->d, &e);
	} else if (open_output(r, r->common->output, OUTPUT_TEXT)) {
		free(text);
		text = NULL;
	} else {
		text_init(text, &r->out);
	}
	return text;
}

static int run_text_end(struct text *text, struct run *r, int status)
{
	struct error e;

	if (text_flush(text, &e))
		status = run_fail(r->d, &e);
	if (output_close(&r->out, status, &e) && status != STATUS_FAILED)
		status = run_fail(r->d, &e);
	free(text);
	return status;
}

static int print_info(struct run *r)
{
	bool json = r->settings->json;
	struct error e;
	struct trace_info f;
	struct text *text = run_text_begin(r);
	int status = STATUS_OK;

	if (!text)
		return STATUS_FAILED;
	trace_info_open(text, json);
	for (int i = 0; i < r->n && status != STATUS_FAILED; i++) {
		trace_info_begin(&f, text, json, r->inputs[i].name, i == 0);
		if (r->inputs[i].decoder->info(&r->inputs[i], &f, &e))
			status = run_fail(r->d, &e);
		trace_info_end(&f);
	}
	trace_info_close(text, json);
	return run_text_end(text, r, status_worse(status, r->d->status));
}

/* Print the list of what was decoded. */
static int print_list(struct type_list *l, struct run *r, int status)
{
	const struct decode_settings *s = r->settings;
	enum list_style style = s->json				 ? LIST_JSON
				: s->all || s->row_filter.ntypes ? LIST_ALL
								 : LIST_TEXT;
	struct text *text;
	struct error e;

	if (list_wait(l, &e))
		return run_fail(r->d, &e);
	text = status == STATUS_FAILED ? NULL : run_text_begin(r);
	if (!text)
		return STATUS_FAILED;
	if (list_print(l, text, style)) {
		error_no_memory(&e);
		status = run_fail(r->d, &e);
	}
	return run_text_end(text, r, status);
}

/* End the inputs that are read at any place, where a signal ended the others: they have no end that
 * a read could return. */
static int end_by_signal(void *ctx)
{
	struct decoding *d = ctx;

	if (!io_stopped() || !d->running || !input_left(d->running))
		return 0;
	io_leave();
	d->ended = true;
	return -1;
}

/* Decode all inputs, which have begun. */
static int run_decoders(struct input *inputs, int n, struct decoding *d, struct row_filter *filter,
			struct error *e)
{
	int bad;

	d->writer->sent.after = end_by_signal;
	d->writer->sent.after_ctx = d;
	bad = merge_run(inputs, n, filter->last_time, e);
	d->writer->sent.after = NULL;
	return bad && !d->ended ? -1 : 0;
}

static int decode_inputs(struct input *inputs, int n, struct decoding *d, struct row_filter *filter)
{
	struct writer *w = d->writer;
	struct error e = {.what = ""};

	row_filter_begin(filter, w);
	if (w->segment_limit)
		w->head.flags |= HEAD_SEGMENTED;
	/* of an input with segments the first may be missing */
	if (w->head.flags & HEAD_SEGMENTED) {
		d->calls = calls_writer_new(w);
		if (!d->calls) {
			error_no_memory(&e);
			return run_fail(d, &e);
		}
	}
	if (w->error.what[0] || writer_begin(w, stream_fingerprint(inputs, n, d))) {
		e = w->error;
		return run_fail(d, &e);
	}
	for (int i = 0; i < n; i++)
		if (input_begin(&inputs[i], &e))
			return run_fail(d, &e);
	/* an input that goes on after a loss leaves the calls of the others open */
	if (!w->segment_limit && !d->inside && n == 1) {
		calls_writer_free(d->calls);
		d->calls = NULL;
	}
	if (merge_check_clocks(inputs, n, &e) || row_filter_times(filter, inputs, n, &e) ||
	    run_decoders(inputs, n, d, filter, &e))
		return run_fail(d, &e);
	return d->status;
}

static void shift_input(struct input *in, const char *name, int number, void *ctx)
{
	settings_shift(ctx, in, name, number);
}

/* Find what to add to the times of each input, so that all begin with the first one that has
 * events (--align start). */
static int align_starts(char **names, int n, struct decode_settings *s, struct decoding *d)
{
	const struct trace_times l = {.names = names,
				      .n = n,
				      .format = s->format,
				      .decoders = s->decoders,
				      .clock = s->clock};
	uint64_t *first, start = UINT64_MAX;
	struct error e = {.what = ""};
	int bad;

	if (!s->align || s->info)
		return STATUS_OK;
	first = calloc((size_t)n, sizeof *first);
	s->aligned = calloc((size_t)n, sizeof *s->aligned);
	bad = first && s->aligned ? trace_times_first(&l, first, &e) : error_no_memory(&e);
	for (int i = 0; !bad && i < n; i++) {
		start = start == UINT64_MAX ? first[i] : start;
		s->aligned[i] =
			first[i] == UINT64_MAX ? 0 : saturated_i64((int128)start - first[i]);
	}
	free(first);
	return bad ? run_fail(d, &e) : STATUS_OK;
}

static int find_end(char **names, int n, struct decode_settings *s, struct decoding *d)
{
	const struct trace_times l = {.names = names,
				      .n = n,
				      .format = s->format,
				      .decoders = s->decoders,
				      .clock = s->clock,
				      .shift = shift_input,
				      .ctx = s};
	struct error e = {.what = ""};

	if (!row_filter_from_end(&s->row_filter) || s->info)
		return STATUS_OK;
	return trace_times_last(&l, &s->row_filter.end, &e) ? run_fail(d, &e) : STATUS_OK;
}

/* Get the inputs of the command line: standard input if it names none. Returns their number. */
static int input_names(int argc, char **argv, char ***names)
{
	static char name[] = "-";
	static char *standard_input[] = {name};

	*names = optind < argc ? argv + optind : standard_input;
	return optind < argc ? argc - optind : 1;
}

/* Refuse an option that was given and is only for a format that no input has. */
static int check_format_option(const struct input *inputs, int n, const char *option,
			       const char *format, struct error *e)
{
	for (int i = 0; i < n; i++)
		if (input_ended_early(&inputs[i]) || !strcmp(inputs[i].decoder->name, format))
			return 0;
	return error_set(e, NULL, NO_OFFSET, "%s has no effect on %s; it is for %s", option,
			 inputs[0].decoder->name, format);
}

static int check_format_options(const struct input *inputs, int n, const struct decode_settings *s,
				struct error *e)
{
	if (s->max_value && check_format_option(inputs, n, "--max-value", "apitrace", e))
		return -1;
	if (s->no_unwind && check_format_option(inputs, n, "--no-unwind", "perf", e))
		return -1;
	return s->sysroot ? check_format_option(inputs, n, "--sysroot", "perf", e) : 0;
}

/* Refuse --clock raw if all inputs have the recorder's times anyway. */
static int check_raw_clock(const struct input *inputs, int n, const struct decode_settings *s,
			   struct error *e)
{
	for (int i = 0; i < n; i++)
		if (s->clock != CLOCK_RAW || inputs[i].decoder->raw_clock)
			return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "--clock raw has no effect on %s, whose times are those of its clock",
			 inputs[0].decoder->name);
}

static int open_inputs(struct input *inputs, char **names, int n, struct decode_settings *s,
		       struct decoding *d)
{
	struct error e;

	if (align_starts(names, n, s, d) || find_end(names, n, s, d))
		return STATUS_FAILED;
	for (int i = 0; i < n; i++) {
		if (input_twice(names, i, &e) ||
		    input_open(&inputs[i], names[i], s->format, s->decoders, d, &e) ||
		    input_same(inputs, i, &e) || input_open_trace(&inputs[i], &e))
			return run_fail(d, &e);
	}
	if (check_format_options(inputs, n, s, &e) || check_raw_clock(inputs, n, s, &e))
		return run_fail(d, &e);
	if (s->info)
		return STATUS_OK;
	for (int i = 0; i < n; i++)
		settings_shift(s, &inputs[i], names[i], i);
	return settings_check_offsets(s, &e) ? run_fail(d, &e) : STATUS_OK;
}

/* Write the stream to a path; NULL: to standard output. */
static int write_stream(struct run *r, const char *path)
{
	struct decode_settings *s = r->settings;
	struct decoding *d = r->d;
	struct writer *w = d->writer;
	struct progress progress;
	char cause[FAILURE_CAUSE];
	struct error e;
	int status;

	if (open_output(r, path, OUTPUT_BINARY))
		return STATUS_FAILED;
	w->output = &r->out;
	w->segment_limit = s->segment;
	w->crc = output_is_file(&r->out);
	w->sent.progress = &progress;
	progress_begin(&progress, r->common->progress, output_is_file(&r->out));
	status = decode_inputs(r->inputs, r->n, d, &s->row_filter);
	if (memory_failed() && status != STATUS_FAILED) {
		error_no_memory(&e);
		status = run_fail(d, &e);
	}
	if (status == STATUS_FAILED) {
		failure_cause(&d->failure, cause);
		writer_status(w, STATUS_FAILED, cause, NULL);
	}
	if (s->strict)
		status = status_worse(status,
				      failure_of_lost(w, w->end.ever_lost, w->end.ever_lost_more));
	if (!w->error.what[0] && row_filter_end(&s->row_filter))
		status = run_fail(d, &w->error);
	if (writer_finish(w) && status != STATUS_FAILED)
		status = run_fail(d, &w->error);
	if (!d->quiet && status != STATUS_FAILED)
		row_filter_report(&s->row_filter);
	if (!d->quiet && status == STATUS_OK && !w->sent.events &&
	    !row_filter_any(&s->row_filter) && !(r->n == 1 && input_ended_early(r->inputs)))
		warn(r->n == 1 ? r->inputs[0].name : NULL, NO_OFFSET, "no events");
	if (!d->quiet && status != STATUS_FAILED && io_left())
		warn(r->n == 1 ? r->inputs[0].name : NULL, NO_OFFSET, "%s", io_left());
	progress_end(&progress, w->sent.bytes, 0, w->sent.events);
	if (output_close(&r->out, status, &e) && status != STATUS_FAILED)
		status = run_fail(d, &e);
	return status;
}

/* Print the list of what is decoded. */
static int list_inputs(struct run *r)
{
	char path[32];
	struct error e;
	struct type_list *l = list_open(&e);
	int status;

	if (!l)
		return run_fail(r->d, &e);
	snprintf(path, sizeof path, "/dev/fd/%d", list_fd(l));
	status = write_stream(r, path);
	close(list_fd(l));
	status = print_list(l, r, status_worse(status, r->d->status));
	list_free(l);
	return status;
}

/* Decode the operands of a command line. */
static int run_inputs(struct run *r, char **names)
{
	if (open_inputs(r->inputs, names, r->n, r->settings, r->d))
		return STATUS_FAILED;
	if (r->settings->info)
		return print_info(r);
	return r->settings->list ? list_inputs(r) : write_stream(r, r->common->output);
}

/* Decode the operands argv[optind] and all later ones, at least one, or print their --info.
 * Errors are printed. Returns the exit status. */
static int run_operands(struct decode_settings *s, const struct common_options *common, int argc,
			char **argv)
{
	struct writer writer = {.output = NULL};
	struct output none = {.fd = -1};
	struct decoding d = {.writer = &writer,
			     .quiet = common->quiet,
			     .verbose = common->verbose,
			     .strict = s->strict,
			     .clock = s->clock,
			     .row_filter = &s->row_filter,
			     .no_unwind = s->no_unwind,
			     .sysroot = s->sysroot,
			     .max_value = s->max_value};
	char **names;
	int status, n = input_names(argc, argv, &names);
	struct input *inputs = calloc((size_t)n, sizeof(*inputs));

	for (int i = 0; inputs && i < n; i++)
		inputs[i].fd = -1;
	if (!inputs || writer_init(&writer, &none, s->segment)) {
		writer_free(&writer);
		free(inputs);
		error_no_memory(&d.failure);
		error_print(&d.failure);
		return program_failed(common, &d.failure);
	}
	writer_command(&writer, argc, argv);
	status = run_inputs(
		&(struct run){.inputs = inputs, .n = n, .settings = s, .common = common, .d = &d},
		names);
	if (status == STATUS_FAILED && !writer.segment)
		program_failed(common, &d.failure);
	for (int i = 0; i < n; i++)
		input_close(&inputs[i]);
	status = status_worse(status, d.status);
	calls_writer_free(d.calls);
	writer_free(&writer);
	free(inputs);
	return status;
}

/* --- command line --- */

#define FORMAT_ROW(name) &decoder_##name,
static const struct decoder *const decoders[] = {TRDECODE_FORMATS(FORMAT_ROW) NULL};

static int decode_streams(const void *ctx)
{
	const struct decode_settings *s = ctx;

	return s->info || s->list || s->formats ? -1 : 0;
}

static const struct program program = {
	.name = "trdecode",
	.operands = "[INPUT]...",
	.purpose = "Decode traces into an event stream.",
	.options = settings_rows,
	.option = decode_settings_option,
	.patience = PATIENCE_FIRST,
	.streams = decode_streams,
};

/* Print the formats, one a line. */
static int list_formats(void)
{
	struct error e;

	for (size_t i = 0; decoders[i]; i++)
		puts(decoders[i]->name);
	if (!fflush(stdout) && !ferror(stdout))
		return STATUS_OK;
	error_errno(&e, "standard output", NO_OFFSET, "%s", "");
	error_print(&e);
	return STATUS_FAILED;
}

int main(int argc, char **argv)
{
	struct decode_settings s = {.decoders = decoders};
	struct common_options common;
	struct error e;
	int status;

	for (size_t i = 0; decoders[i]; i++)
		options_add_word(settings_formats, sizeof settings_formats, decoders[i]->name);
	status = program_start(&program, argc, argv, &s, &common);
	if (status < 0 && s.formats)
		status = list_formats();
	if (status < 0 && s.info && s.list)
		status = program_usage(&common, "use --info or --list, not both");
	if (status < 0 && s.json && !s.info && !s.list)
		status = program_usage(&common, "--json goes with --info or --list");
	if (status < 0 && s.all && (!s.list || s.json))
		status = program_usage(&common, s.list ? "--all has no effect with --json, which "
							 "has all types"
						       : "--all goes with --list");
	if (status < 0 && s.segment && (s.info || s.list))
		status = program_usage(&common, "--segment has no effect with --%s",
				       s.info ? "info" : "list");
	if (status < 0 && s.info && row_filter_any(&s.row_filter))
		status = program_usage(&common, "--cpu, --tid, --type, --since and --until have no "
						"effect with --info");
	if (status < 0 && moment_check_range(&s.row_filter.since, &s.row_filter.until, &e))
		status = program_usage(&common, "%s", e.what);
	if (status < 0)
		status = run_operands(&s, &common, argc, argv);
	decode_settings_free(&s);
	return status;
}
