/*
 * reader.c - reads a stream
 */
#include "common/stream/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/stream/index.h"
#include "common/stream/value.h"
#include "common/stream/writer.h"
#include "common/util/frames.h"
#include "common/util/hash.h"
#include "common/util/output.h"

enum {
	READ_SIZE = 128 * 1024,
	LARGE = 4 << 20, /* size of the buffer above which it is released after the block */
};

#define READER_NO_END	"the stream ends without its end mark: did the previous command fail?"
#define READER_NO_BLOCK "no block of the stream begins here"

static inline void reader_consume(struct reader *r, size_t n)
{
	r->input.begin += n;
	r->input.offset += n;
}

/* Get how many bytes to read at once. For a block of EVENTS in a file these are the block and
 * the header of the next one: so every block is at the same address, which the processor's cache
 * contains. */
static inline size_t reader_at_once(const struct reader *r, const struct block *b, size_t otherwise)
{
	size_t have = r->input.filled - r->input.begin, all = (size_t)b->length + BLOCK_HEADER;

	return r->input.regular && b->kind == BLOCK_EVENTS && all > have ? all - have : otherwise;
}

/* Test whether a block of this kind may have this length. */
static bool reader_header_sane(const struct block *b)
{
	static const uint32_t least[] = {0, 24, 0, EVENTS_HEADER, 40, 56, SNAPSHOT_HEAD, 0};
	bool large = b->kind == BLOCK_EVENTS || b->kind == BLOCK_SNAPSHOT;
	uint32_t limit = large ? EVENTS_LIMIT : BLOCK_LIMIT;

	if (b->length % 8 || b->length > limit || !b->kind)
		return false;
	return b->kind >= BLOCK_KINDS || b->length >= least[b->kind];
}

/* Decode the header of a block; false if there is none at p. */
static bool reader_parse_header(const uint8_t *p, struct block *b)
{
	*b = (struct block){.kind = get_u16(p + 4),
			    .flags = get_u16(p + 6),
			    .length = get_u32(p + 8),
			    .crc = get_u32(p + 12)};
	return get_u32(p) == BLOCK_SYNC &&
	       get_u32(p + BLOCK_CHECKED) == checksum(0, p, BLOCK_CHECKED) &&
	       reader_header_sane(b) && (b->kind < BLOCK_KINDS || b->flags & BLOCK_MAY_SKIP);
}

/* Find the fault of the payload by its checksum; NULL: none. */
static const char *reader_crc_fault(const struct block *b)
{
	return b->flags & BLOCK_HAS_CRC && checksum(0, b->payload, b->length) != b->crc
		       ? "a block with a wrong checksum"
		       : NULL;
}

static int reader_damaged(struct reader *r, uint64_t offset, const char *what)
{
	r->segment.hurt = true;
	return error_set(&r->error, r->file, offset, "%s", what);
}

/* Report that the input ended too early. After a signal that is no damage (reader.cut). */
static int reader_ended(struct reader *r, uint64_t offset, const char *what)
{
	r->cut = io_cut();
	return reader_damaged(r, offset, what);
}

/* --- reader input --- */

/* Fill the error and return -1. */
static int reader_fatal(struct reader *r, const char *what)
{
	r->fatal = true;
	return error_set(&r->error, r->file, NO_OFFSET, "%s", what);
}

/* Report an input that may be a trace, with the pipe that reads the trace. Returns -1. */
static int reader_no_stream(struct reader *r, const char *what, const char *path)
{
	static const char beside[] = "; if it is a trace: ";
	char command[sizeof r->error.what];

	r->fatal = true;
	if (r->summaries || !command_after(command, sizeof command - strlen(what) - sizeof beside,
					   "trdecode", path))
		return error_set(&r->error, r->file, NO_OFFSET,
				 "%s (trdecode makes one of a trace)", what);
	return error_set(&r->error, r->file, NO_OFFSET, "%s%s%s", what, beside, command);
}

static int reader_no_memory(struct reader *r)
{
	r->stop = true;
	return reader_fatal(r, "out of memory");
}

static int init(struct reader *r)
{
	*r = (struct reader){.input.fd = -1, .file = ""};
	if (dictionary_init(&r->dictionary) || !(r->input.data = malloc(READ_SIZE)))
		return reader_no_memory(r);
	r->input.capacity = READ_SIZE;
	return 0;
}

/* Sum the sizes of all inputs; 0 if one is not a regular file. */
static uint64_t reader_size_of(char **paths, int n)
{
	uint64_t size = 0;
	struct stat st;

	for (int i = 0; i < n; i++) {
		/* no operands at all: standard input */
		bool file = paths && strcmp(paths[i], "-") != 0;

		if (file ? stat(paths[i], &st) : fstat(STDIN_FILENO, &st))
			return 0;
		if (!S_ISREG(st.st_mode))
			return 0;
		size += (uint64_t)st.st_size;
	}
	return size;
}

int reader_open(struct reader *r, char **paths, int n)
{
	if (init(r))
		return -1;
	r->input.paths = n ? paths : NULL; /* NULL: standard input alone */
	r->input.npaths = n ? n : 1;
	r->size = reader_size_of(n ? paths : (char *[]){"-"}, r->input.npaths);
	return 0;
}

int reader_open_fd(struct reader *r, int fd, const char *name, const void *peeked, size_t n)
{
	struct stat st;

	if (init(r))
		return -1;
	r->input.fd = fd;
	r->file = name;
	r->input.regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
	r->input.pipe = r->input.waits = !fstat(fd, &st) && S_ISFIFO(st.st_mode);
	if (n > r->input.capacity) {
		uint8_t *data = realloc(r->input.data, n);

		if (!data)
			return reader_no_memory(r);
		r->input.data = data;
		r->input.capacity = n;
	}
	if (n)
		memcpy(r->input.data, peeked, n);
	r->input.filled = n;
	return 0;
}

void reader_on_demand(struct reader *r)
{
	r->on_demand = true;
}

/* What is known of the sections of an input. */
struct reader_archive {
	struct index index;
	size_t next; /* the section that begins at the present offset or later */
	/* of the segment of section `next`: its end, and that of the last section that is wanted */
	size_t end, wanted;
};

static void archive_free(struct reader_archive *a)
{
	if (!a)
		return;
	index_close(&a->index);
	free(a);
}

static void close_fd(struct reader *r)
{
	archive_free(r->archive);
	r->archive = NULL;
	frames_close(r->input.frames);
	r->input.frames = NULL;
	if (r->input.fd > STDERR_FILENO)
		close(r->input.fd);
	r->input.fd = -1;
}

/* Open the next input. 1, 0: there is none, -1 (the next call opens the one after it). */
static int reader_open_next(struct reader *r)
{
	const char *path;
	struct stat st;

	/* a signal ends the first inputs and those after them */
	if (r->input.path >= r->input.npaths || (r->input.path && io_cut()))
		return 0;
	path = r->input.paths ? r->input.paths[r->input.path] : "-";
	r->input.path++;
	r->input.begin = r->input.filled = r->pending = 0;
	r->input.offset = 0;
	r->input.reread = 0;
	r->input.eof = r->input.pipe = r->input.regular = r->input.waits = false;
	if (!strcmp(path, "-")) {
		r->input.fd = STDIN_FILENO;
		r->file = "<stdin>";
	} else {
		r->file = path;
		r->input.fd = io_open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
		if (r->input.fd < 0) {
			r->fatal = true;
			return error_errno(&r->error, path, NO_OFFSET, "cannot open");
		}
	}
	if (isatty(r->input.fd)) {
		close_fd(r);
		return reader_fatal(r, "is a terminal; a stream comes from trdecode or a file");
	}
	if (r->output && output_same_file(r->output, r->input.fd)) {
		close_fd(r);
		return reader_fatal(r, "is also the output");
	}
	if (!fstat(r->input.fd, &st)) {
		if (S_ISDIR(st.st_mode)) {
			close_fd(r);
			return reader_no_stream(r, "is a directory, not an event stream", path);
		}
		r->input.pipe = S_ISFIFO(st.st_mode);
		r->input.waits = r->input.pipe || r->input.fd == STDIN_FILENO;
		r->input.regular = S_ISREG(st.st_mode);
	}
	return 1;
}

static void reader_close_input(struct reader *r)
{
	close_fd(r);
	r->segment.inside = r->segment.open_stream = r->segment.more_expected = r->truncated =
		r->astray = false;
	r->pending = 0;
}

/* Call before_block before waiting for more input. 0, or -1. */
static int reader_wait(struct reader *r)
{
	struct pollfd p = {r->input.fd, POLLIN, 0};

	if (r->before_block && poll(&p, 1, 0) == 0)
		return r->before_block(r->before_block_ctx);
	return 0;
}

/* Release the memory of a large block when less than LARGE is needed. */
static void shrink(struct reader *r, size_t n)
{
	size_t have = r->input.filled - r->input.begin;
	uint8_t *data;

	if (have > LARGE || n > LARGE)
		return;
	memmove(r->input.data, r->input.data + r->input.begin, have);
	r->input.begin = 0;
	r->input.filled = have;
	data = realloc(r->input.data, LARGE);
	if (!data)
		return;
	r->input.data = data;
	r->input.capacity = LARGE;
}

/* Read from the input, or from the frames in it. Damage of a frame is reported later. */
static ssize_t reader_get(struct reader *r, uint8_t *to, size_t n)
{
	uint64_t at;
	const char *fault;
	ssize_t got;

	if (!r->input.frames)
		return io_read(r->input.fd, to, n);
	got = frames_read(r->input.frames, to, n);
	fault = frames_fault(r->input.frames, &at);
	if (fault && !r->input.fault) {
		r->input.fault = fault;
		r->input.fault_at = at;
	}
	r->segment.hurt |= fault != NULL;
	return got;
}

/* Read until n bytes are at data[begin], at most `most` bytes. 1, or 0 at the end of the input
 * with fewer, or -1. */
static int reader_fill(struct reader *r, size_t n, size_t most)
{
	if (r->input.capacity > LARGE)
		shrink(r, n);
	while (r->input.filled - r->input.begin < n) {
		size_t room;
		ssize_t got;

		if (r->input.eof)
			return 0;
		if (r->input.begin &&
		    (r->input.capacity - r->input.begin < n || r->input.begin == r->input.filled)) {
			memmove(r->input.data, r->input.data + r->input.begin,
				r->input.filled - r->input.begin);
			r->input.filled -= r->input.begin;
			r->input.begin = 0;
		}
		if (r->input.filled == r->input.capacity) {
			/* a count does not prove that data exists: grow only as bytes arrive */
			uint8_t *data = realloc(r->input.data, r->input.capacity * 2);

			if (!data)
				return reader_no_memory(r);
			r->input.data = data;
			r->input.capacity *= 2;
		}
		room = r->input.capacity - r->input.filled;
		if (room > most)
			room = most;
		/* never two large blocks at a time */
		if (n > LARGE && room > n - (r->input.filled - r->input.begin))
			room = n - (r->input.filled - r->input.begin);
		if (r->input.waits)
			if (reader_wait(r)) {
				r->fatal = r->stop = true;
				return -1;
			}
		got = reader_get(r, r->input.data + r->input.filled, room);
		if (got < 0) {
			r->fatal = true;
			r->input.eof = true;
			return error_errno(&r->error, r->file,
					   r->input.offset + r->input.filled - r->input.begin,
					   "cannot read");
		}
		if (!got)
			r->input.eof = true;
		r->input.filled += (size_t)got;
	}
	return 1;
}

/* Skip the rest of the last block. */
static int reader_skip_pending(struct reader *r)
{
	while (r->pending) {
		size_t have = r->input.filled - r->input.begin,
		       n = have < r->pending ? have : r->pending;
		int got;

		reader_consume(r, n);
		r->pending -= n;
		if (!r->pending)
			break;
		got = reader_fill(r, 1, READ_SIZE);
		if (got < 0)
			return -1;
		if (!got) {
			r->pending = 0;
			return reader_ended(r, r->input.offset, READER_NO_END);
		}
	}
	return 0;
}

enum { REREAD_LIMIT = 64 * 1024 * 1024 };

/* Test whether the stream can continue at p, where there are bytes enough for a marker and a
 * block header. */
static bool anchor(const struct reader *r, const uint8_t *p)
{
	struct block b;

	if (*p == (uint8_t)MARKER_PREFIX[0])
		return reader_is_stream(p, MARKER_SIZE) &&
		       reader_parse_header(p + MARKER_SIZE, &b) && b.kind == BLOCK_HEAD;
	if (*p != (BLOCK_SYNC & 0xff) || !reader_parse_header(p, &b))
		return false;
	return r->segment.inside || b.kind == BLOCK_HEAD;
}

/*
 * Search from here on for the marker of a segment or, within a segment, for a
 * block (its ids stay valid; declarations of the damaged part are found to be missing where they
 * are used). 1 found, 0 the input ended, -1. The caller has found that the stream cannot continue
 * at the present offset unchanged, so the search never returns to it endlessly.
 */
static int reader_resynchronise(struct reader *r)
{
	enum { ANCHOR = MARKER_SIZE + BLOCK_HEADER };

	r->pending = 0;
	for (;;) {
		int got = reader_fill(r, ANCHOR, READ_SIZE);
		const uint8_t *p = r->input.data + r->input.begin, *end;
		struct block b;

		if (got <= 0) {
			reader_consume(r, r->input.filled - r->input.begin);
			return got;
		}
		end = r->input.data + r->input.filled - (ANCHOR - 1);
		while (p < end && !anchor(r, p))
			p++;
		reader_consume(r, (size_t)(p - (r->input.data + r->input.begin)));
		if (p == end)
			continue;
		r->truncated = false;
		if (*p == (uint8_t)MARKER_PREFIX[0]) {
			r->segment.inside = false;
		} else if (reader_parse_header(p, &b) && b.kind == BLOCK_HEAD) {
			/* a segment whose marker is damaged */
			r->segment.inside = true;
			r->segment.head_seen = false;
			r->segment.marker[0] = '\0';
		}
		return 1;
	}
}

/* Do the same, and open the next input if nothing is found. The error is unchanged. */
static void reader_go_on_after_damage(struct reader *r)
{
	struct error was = r->error;
	int got = reader_resynchronise(r);

	if (!got)
		reader_close_input(r);
	if (got >= 0)
		r->error = was;
}

/* Test whether valid stream data follows a block whose content is damaged. */
static bool reader_length_is_true(struct reader *r, size_t length)
{
	struct error was = r->error;
	int got = reader_fill(r, length + BLOCK_HEADER, READ_SIZE);
	const uint8_t *next = r->input.data + r->input.begin + length;
	struct block b;

	if (got < 0)
		return false;
	r->error = was;
	if (!got)
		return r->input.filled - r->input.begin == length;
	return reader_parse_header(next, &b) || reader_is_stream(next, MARKER_SIZE);
}

/*
 * Test whether that many bytes may be scanned again. Nested blocks that are each damaged at their
 * end must not cost quadratic time.
 */
static bool reader_may_go_back(struct reader *r, size_t length)
{
	r->input.reread += length;
	return r->input.reread <= r->input.offset + REREAD_LIMIT;
}

/* If the length is wrong, search the next block from the beginning of this payload. */
static void reader_distrust_length(struct reader *r, size_t length)
{
	r->pending = length;
	if (reader_may_go_back(r, length) && !reader_length_is_true(r, length) && !r->stop)
		reader_go_on_after_damage(r);
}

/* --- reader rows --- */

const char *const EVENTS_NO_MEMORY = "out of memory";

void events_tables_free(struct events_tables *t)
{
	free(t->types);
	free(t->lanes);
	free(t->locations);
	free(t->stacks);
	free(t->innermost);
	*t = (struct events_tables){0};
}

static bool reader_make_room(struct events_tables *t, const struct block *b)
{
	return !ARRAY_GROW(t->types, t->types_capacity, b->ntypes) &&
	       !ARRAY_GROW(t->lanes, t->lanes_capacity, b->nlanes) &&
	       !ARRAY_GROW(t->locations, t->locations_capacity, b->nlocations);
}

const char *events_block_head(struct block *b)
{
	const uint8_t *p = b->payload;

	b->base = get_u64(p);
	b->last = get_u64(p + 8);
	b->rows = get_u32(p + 16);
	b->row_flags = get_u16(p + 20);
	b->ntypes = get_u16(p + 22);
	b->nlanes = get_u16(p + 24);
	b->nlocations = get_u32(p + 28);
	memset(&b->stacks, 0, sizeof b->stacks);
	b->stacks.count = get_u16(p + 26);
	b->stacks.locations = b->nlocations;
	return b->last < b->base || (uint64_t)b->rows * NARROW_ROW > b->length
		       ? "an event block with an impossible head"
		       : NULL;
}

/* Resolve the ids of the stacks. A row of a sample may have a larger index than there are
 * locations, so loops that look at rows of all kinds find 0 there. */
static const char *stacks_table(struct events_tables *t, const struct dictionary *d,
				struct block *b)
{
	uint32_t count = b->stacks.count, locations = b->stacks.locations, number;

	b->stacks.ids = b->location_ids + 4 * (size_t)locations;
	for (uint32_t i = 0; i < b->ntypes && !b->stacks.sampled; i++)
		b->stacks.sampled = b->types[i]->kind == KIND_SAMPLE;
	if (!b->stacks.sampled && !count)
		return NULL;
	if (b->stacks.sampled && b->nlocations < count)
		b->nlocations = count;
	if (!reader_make_room(t, b) || ARRAY_GROW(t->stacks, t->stacks_capacity, count) ||
	    ARRAY_GROW(t->innermost, t->innermost_capacity, count))
		return EVENTS_NO_MEMORY;
	memset(t->locations + locations + 1, 0, (b->nlocations - locations) * sizeof(number));
	t->stacks[0] = t->innermost[0] = 0;
	for (uint32_t i = 0; i < count; i++) {
		number = idmap_get(&d->ids[ENTRY_STACK], get_u32(b->stacks.ids + 4 * (size_t)i));
		if (!number)
			return "an event block of an undeclared stack";
		t->stacks[i + 1] = number;
		stack_table_fetch(&d->stacks, number);
	}
	for (uint32_t i = 1; i <= count; i++)
		t->innermost[i] = dictionary_stack_location(d, t->stacks[i]);
	b->stacks.numbers = t->stacks;
	b->stacks.innermost = t->innermost;
	return NULL;
}

const char *events_block_tables(struct events_tables *t, const struct dictionary *d,
				struct block *b)
{
	size_t n = (size_t)b->ntypes + b->nlanes + b->nlocations + b->stacks.count,
	       table = align_up(4 * n, 8);
	const uint8_t *p = b->payload + EVENTS_HEADER;
	const char *fault;
	uint32_t number;

	if (table > b->length - EVENTS_HEADER || !b->ntypes || !b->nlanes)
		return "an event block whose tables are cut short";
	if (!reader_make_room(t, b))
		return EVENTS_NO_MEMORY;
	b->type_ids = p;
	for (uint32_t i = 0; i < b->ntypes; i++, p += 4) {
		number = idmap_get(&d->ids[ENTRY_TYPE], get_u32(p));
		if (!number)
			return "an event block of an undeclared type";
		t->types[i] = dictionary_use_type(d, number);
	}
	b->lane_ids = p;
	for (uint32_t i = 0; i < b->nlanes; i++, p += 4) {
		number = idmap_get(&d->ids[ENTRY_LANE], get_u32(p));
		if (!number)
			return "an event block of an undeclared lane";
		t->lanes[i] = dictionary_lane(d, number);
	}
	b->location_ids = p;
	t->locations[0] = 0;
	for (uint32_t i = 0; i < b->nlocations; i++, p += 4) {
		number = idmap_get(&d->ids[ENTRY_LOCATION], get_u32(p));
		if (!number)
			return "an event block of an undeclared location";
		t->locations[i + 1] = number;
	}
	b->types = t->types;
	b->lanes = t->lanes;
	fault = stacks_table(t, d, b);
	b->locations = t->locations;
	b->front = (uint32_t)(EVENTS_HEADER + table);
	b->row_data = b->payload + b->front;
	b->row_size = b->length - b->front;
	return fault;
}

/* Resolve the ids of the block's tables. 0, or -1. */
static int reader_tables(struct reader *r, struct block *b)
{
	const char *fault = events_block_tables(&r->tables, &r->dictionary, b);

	if (fault == EVENTS_NO_MEMORY)
		return reader_no_memory(r);
	return fault ? reader_damaged(r, b->offset, fault) : 0;
}

/* Test whether every type of the block makes rows without a fixed part and tail. */
static bool reader_all_bare(const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++)
		if (b->types[i]->fixed_size || b->types[i]->flags & TYPE_TAIL)
			return false;
	return true;
}

/* Test whether a row's indexes are within the block's tables, and its time is at most span. */
static inline bool row_sane(const struct block *b, uint64_t span, const struct plain_row *r)
{
	if (r->time > span || r->type >= b->ntypes || r->lane >= b->nlanes)
		return false;
	return r->location <=
	       (b->types[r->type]->kind == KIND_SAMPLE ? b->stacks.count : b->stacks.locations);
}

/* Check consecutive rows of either form. */
static bool rows_sane(const struct block *b, bool wide)
{
	size_t size = wide ? WIDE_ROW : NARROW_ROW;

	for (const uint8_t *p = b->row_data; p < b->row_data + b->row_size; p += size) {
		struct plain_row r = row_load(p, 0, wide);

		if (!row_sane(b, b->last - b->base, &r))
			return false;
	}
	return true;
}

/*
 * Limits of the fields of a narrow row. The number is split into two halves, with free bits between
 * the fields. Each field is subtracted from its limit, with a guard bit above the limit. A field
 * that is larger borrows its guard bit, so the guard bits of all rows show whether one was larger.
 * The depth, which has no limit, is at one end of the number: FREE takes it from the lower end.
 */
struct row_limits {
	uint64_t time_location, lane_type;
};

enum { FREE = NARROW_DEPTH ? 0 : 8 };
#define FIELD(name) ((uint64_t)name##_MOST << (name - FREE))
#define GUARD(name) (((uint64_t)name##_MOST + 1) << (name - FREE))
#define LIMIT(value, name)                                                                         \
	((uint64_t)((value) < name##_MOST ? (value) : name##_MOST) << (name - FREE))
#define TIME_LOCATION (FIELD(NARROW_DELTA) | FIELD(NARROW_LOCATION))
#define LANE_TYPE     (FIELD(NARROW_LANE) | FIELD(NARROW_TYPE))
#define TIME_GUARDS   (GUARD(NARROW_DELTA) | GUARD(NARROW_LOCATION))
#define LANE_GUARDS   (GUARD(NARROW_LANE) | GUARD(NARROW_TYPE))

static struct row_limits narrow_limits(const struct block *b)
{
	return (struct row_limits){LIMIT(b->last - b->base, NARROW_DELTA) |
					   LIMIT(b->stacks.locations, NARROW_LOCATION) |
					   TIME_GUARDS,
				   LIMIT(b->nlanes - 1, NARROW_LANE) |
					   LIMIT(b->ntypes - 1, NARROW_TYPE) | LANE_GUARDS};
}

static inline bool narrow_row_sane(const struct row_limits *l, uint64_t row)
{
	row >>= FREE;
	return !((~(l->time_location - (row & TIME_LOCATION)) & TIME_GUARDS) |
		 (~(l->lane_type - (row & LANE_TYPE)) & LANE_GUARDS));
}

typedef uint64_t pair __attribute__((vector_size(16)));

static inline pair two_rows(const uint8_t *p)
{
	pair v;

	memcpy(&v, p, sizeof v);
	return v >> FREE;
}

/* Check consecutive rows of 8 bytes. Every program calls this function for every row: it must
 * cost almost nothing. 'trfilter SAVED | trstat' with the condition name == "fib" takes 1.12 times
 * the instructions without the pairs, and 1.22 times with rows_sane. */
static bool narrow_rows_sane(const struct block *b, const uint8_t *p, const uint8_t *end)
{
	struct row_limits l = narrow_limits(b);
#if __BYTE_ORDER == __LITTLE_ENDIAN
	pair time_location = {TIME_GUARDS, TIME_GUARDS}, lane_type = {LANE_GUARDS, LANE_GUARDS};

	for (; end - p >= 4 * NARROW_ROW; p += 4 * NARROW_ROW) {
		pair v = two_rows(p), w = two_rows(p + 2 * NARROW_ROW);

		time_location &= (l.time_location - (v & TIME_LOCATION)) &
				 (l.time_location - (w & TIME_LOCATION));
		lane_type &= (l.lane_type - (v & LANE_TYPE)) & (l.lane_type - (w & LANE_TYPE));
	}
	if ((time_location[0] & time_location[1] & TIME_GUARDS) != TIME_GUARDS ||
	    (lane_type[0] & lane_type[1] & LANE_GUARDS) != LANE_GUARDS)
		return false;
#endif
	for (; p < end; p += NARROW_ROW)
		if (!narrow_row_sane(&l, get_u64(p)))
			return false;
	return true;
}

/* Test whether a block with EVENTS_BARE contains as many rows as it declares. Sets row_size to
 * their bytes. */
static bool reader_bare_rows_fit(struct block *b)
{
	size_t stride = b->row_flags & EVENTS_WIDE ? WIDE_ROW : NARROW_ROW;

	if (!reader_all_bare(b) || b->row_size / stride != b->rows ||
	    b->row_size - b->rows * stride >= 8)
		return false;
	b->row_size = b->rows * stride;
	return true;
}

static bool bare_rows_sane(struct block *b)
{
	if (!reader_bare_rows_fit(b))
		return false;
	if (b->row_flags & EVENTS_WIDE || b->stacks.sampled)
		return rows_sane(b, b->row_flags & EVENTS_WIDE);
	return narrow_rows_sane(b, b->row_data, b->row_data + b->row_size);
}

/* Find the types whose narrow rows have 8 bytes, and need no other check than that of their
 * indexes and times. Returns false if no row of the block is such. */
static bool find_bare(const struct block *b, bool bare[256])
{
	bool any = false;

	for (uint32_t i = 0; i < 256; i++) {
		const struct type *t = i < b->ntypes ? b->types[i] : NULL;

		bare[i] = t && t->kind != KIND_SAMPLE && !t->fixed_size && !(t->flags & TYPE_TAIL);
		any |= bare[i];
	}
	return any && !(b->row_flags & EVENTS_WIDE);
}

/* Count the complete rows at the front into *rows, and return their bytes. Sets bad_values: for the
 * encoders of apitrace a second loop would cost 6 % of the time. Without the test for bare rows,
 * which most are, 'trfilter 'dur > 1ms' SAVED' of t/bench/uftrace.sh takes 1.08 times as long. */
static size_t reader_walk_rows(enum reads_values reads, struct block *b, uint32_t *rows)
{
	bool wide = b->row_flags & EVENTS_WIDE, bare[256], any_bare = find_bare(b, bare);
	struct row_limits limits = narrow_limits(b);
	uint64_t span = b->last - b->base;
	const uint8_t *p = b->row_data;
	size_t left = b->row_size;
	uint32_t n;

	for (n = 0; n < b->rows; n++) {
		uint64_t size = wide ? WIDE_ROW : NARROW_ROW;
		const struct type *t;
		struct plain_row r;
		uint32_t tail = 0;

		if (left < size)
			break;
		if (any_bare && bare[row_type_at(p)] && narrow_row_sane(&limits, get_u64(p))) {
			p += NARROW_ROW;
			left -= NARROW_ROW;
			continue;
		}
		r = row_load(p, 0, wide);
		if (!row_sane(b, span, &r))
			break;
		t = b->types[r.type];
		size += t->fixed_size;
		if (t->flags & TYPE_TAIL) {
			if (left < size + 4)
				break;
			tail = get_u32(p + size);
			size += 4 + align_up(tail, 4);
		}
		if (left < size)
			break;
		if (tail && bad_values_matter(t, reads))
			b->bad_values |= !values_sound(p + size - align_up(tail, 4), tail);
		p += size;
		left -= size;
	}
	*rows = n;
	return b->row_size - left;
}

const char *events_block_rows(struct block *b, enum reads_values reads)
{
	const char *fault = "an event block with impossible rows";
	uint32_t rows;
	size_t size;

	if (b->row_flags & EVENTS_BARE)
		return bare_rows_sane(b) ? NULL : fault;
	size = reader_walk_rows(reads, b, &rows);
	if (rows != b->rows || b->row_size - size >= 8)
		return fault;
	b->row_size = size;
	return NULL;
}

/* --- leaves out sections of a file that are not wanted --- */

/* Read the index of the input, which has been read from its beginning. -1: it is damaged. */
static int archive_open(struct reader *r)
{
	struct reader_archive *a = r->archive = calloc(1, sizeof *a);
	off_t read = (off_t)(r->input.offset + r->input.filled - r->input.begin);

	if (!a)
		return reader_no_memory(r);
	/* else the stream begins after the beginning of the file */
	if ((r->input.frames || lseek(r->input.fd, 0, SEEK_CUR) == read) &&
	    index_open(&a->index, r->input.fd, r->input.frames))
		return reader_no_memory(r);
	if (!a->index.fault)
		return 0;
	return error_set(&r->error, r->file, NO_OFFSET,
			 "%s: all is read (trdecode --reindex makes a new one)", a->index.fault);
}

/* Go to an offset of the stream. */
static int archive_go(struct reader *r, uint64_t offset)
{
	if (r->input.frames ? frames_seek(r->input.frames, offset)
			    : lseek(r->input.fd, (off_t)offset, SEEK_SET) < 0)
		return -1;
	r->input.begin = r->input.filled = 0;
	r->input.offset = offset;
	r->input.eof = false;
	return 0;
}

/* Test whether a section, or what follows the last one (NULL), begins at the present offset. */
static bool archive_here(struct reader *r, const struct index_section *s)
{
	size_t before = s && s->flags & SECTION_BEGIN ? MARKER_SIZE : 0;
	struct block b;
	const uint8_t *p;

	if (reader_fill(r, before + BLOCK_HEADER, before + BLOCK_HEADER) <= 0)
		return false;
	p = r->input.data + r->input.begin;
	if (before && !reader_is_stream(p, MARKER_SIZE))
		return false;
	if (!reader_parse_header(p + before, &b))
		return false;
	return s ? get_u32(p + before + BLOCK_CHECKED) == s->check
		 : b.kind == (r->input.frames ? BLOCK_END : BLOCK_INDEX);
}

/* Find the end of the segment that has section i, and the last of its sections that is wanted. */
static void archive_look(struct reader *r, size_t i)
{
	struct reader_archive *a = r->archive;
	const struct index_section *s = a->index.sections;
	size_t j = i;

	/* what is left out may depend on what was read */
	if (i < a->wanted && !(i && s[i - 1].flags & SECTION_KEEP))
		return;
	a->wanted = i;
	do {
		if (s[j].flags & SECTION_KEEP || r->wants(r->wants_ctx, &a->index, &s[j]))
			a->wanted = j + 1;
		j++;
	} while (j < a->index.count && !(s[j].flags & SECTION_BEGIN) &&
		 s[j].sequence == s[i].sequence && s[j].stream_id == s[i].stream_id);
	a->end = j;
}

/* Count a section as read. Returns whether the calls that are open after it are not needed. */
static bool archive_count(struct reader *r, const struct index_section *s)
{
	r->segment.rows += s->events;
	r->left_out.any = true;
	return (r->leaves_out && r->leaves_out(r->wants_ctx, s)) || r->left_out_is_read;
}

/* Test whether a section is the last one of its stream, and calls that are open there are needed.
 */
static bool archive_ends_open(struct reader *r, const struct index_section *s)
{
	return !(s->flags & SECTION_END) && r->archive->index.calls && !r->left_out_is_read &&
	       !(r->leaves_out && r->leaves_out(r->wants_ctx, s));
}

/* Count the sections from i on to the end of their segment as read. */
static void archive_pass(struct reader *r, size_t i)
{
	struct reader_archive *a = r->archive;
	const struct index_section *end = &a->index.sections[a->end - 1];

	bool read = true;

	if (a->index.sections[i].flags & SECTION_BEGIN) {
		r->segment.rows = 0;
		r->segment.hurt = false;
		r->segment.inside = true;
		r->segment.sequence = end->sequence;
	}
	for (; i < a->end; i++)
		read = archive_count(r, &a->index.sections[i]);
	/* else the END follows */
	if (!(end->flags & SECTION_END))
		return;
	r->left_out.lost += end->lost;
	r->left_out.gaps += end->gaps;
	r->left_out.lost_more |= (end->flags & SECTION_LOST_MORE) != 0;
	r->segment.inside = false;
	r->segment.open_stream = r->segment.more_expected = true;
	r->segment.whole = read && !r->segment.hurt;
	r->segment.sequence = end->sequence;
	r->segment.skipped = true;
}

/* Find the first section from i on, which begins here, that is to be read. */
static size_t archive_leave_out(struct reader *r, size_t i)
{
	const struct reader_archive *a = r->archive;
	const struct index_section *s = a->index.sections;

	while (i < a->index.count) {
		archive_look(r, i);
		if (s[i].flags & SECTION_BEGIN) {
			if (r->segment.inside || a->wanted > i || !r->segment.open_stream ||
			    s[i].stream_id != r->segment.stream_id ||
			    s[i].sequence != r->segment.sequence + 1 ||
			    archive_ends_open(r, &s[a->end - 1]))
				break;
			archive_pass(r, i);
			i = a->end;
			if (r->segment.inside)
				break;
		} else if (!r->segment.inside || s[i].sequence != r->segment.sequence ||
			   s[i].stream_id != r->segment.stream_id) {
			break;
		} else if (i >= a->wanted) {
			archive_pass(r, i);
			i = a->end;
			if (r->segment.inside)
				break;
		} else if (s[i].flags & (SECTION_KEEP | SECTION_DECLARES) ||
			   (a->index.calls && !r->left_out_is_read) ||
			   r->wants(r->wants_ctx, &a->index, &s[i])) {
			break;
		} else {
			archive_count(r, &s[i++]);
		}
	}
	return i;
}

/* Go past what is not wanted. -1: the index is wrong. */
static int reader_leave_out(struct reader *r)
{
	struct reader_archive *a = r->archive;
	uint64_t from = r->input.offset;
	const struct index_section *s;
	__typeof__(r->segment) segment;
	__typeof__(r->left_out) left_out;
	size_t i;

	if (!a && archive_open(r))
		return -1;
	a = r->archive;
	while (a->next < a->index.count && a->index.sections[a->next].offset < from)
		a->next++;
	if (a->next == a->index.count || a->index.sections[a->next].offset != from)
		return 0;
	segment = r->segment;
	left_out = r->left_out;
	i = archive_leave_out(r, a->next);
	if (i == a->next)
		return 0;
	s = i < a->index.count ? &a->index.sections[i] : NULL;
	/* after the last section of a stream is its INDEX, or its END */
	if (r->segment.inside && (!s || s->flags & SECTION_BEGIN)) {
		const struct index_section *last = &a->index.sections[i - 1];

		if (!archive_go(r, last->offset + last->length) && archive_here(r, NULL))
			return 0;
	} else if (s && !archive_go(r, s->offset) && archive_here(r, s)) {
		a->next = i;
		return 0;
	}
	r->segment = segment;
	r->left_out = left_out;
	a->index.count = 0;
	if (archive_go(r, from))
		return reader_fatal(r, "cannot go back to read what the index leaves out");
	return error_set(&r->error, r->file, NO_OFFSET,
			 "an index that does not match its stream: all is read (trdecode --reindex "
			 "makes a new one)");
}

/* --- reader events --- */

/* Read the complete rows of a block in which the input ended; the next call reports the
 * truncation. */
static int load_cut(struct reader *r, struct block *b)
{
	uint32_t rows;

	b->length = b->available = (uint32_t)(r->input.filled - r->input.begin);
	b->flags &= (uint16_t)~BLOCK_HAS_CRC;
	b->truncated = r->truncated = true;
	if (reader_tables(r, b)) {
		if (r->stop)
			return -1;
		reader_ended(r, r->input.offset + b->length, READER_NO_END);
		if (reader_may_go_back(r, b->length))
			reader_go_on_after_damage(r);
		else
			reader_close_input(r);
		return -1;
	}
	if (b->row_flags & EVENTS_BARE && !reader_all_bare(b))
		b->rows = 0;
	b->row_flags &= (uint16_t)~EVENTS_BARE;
	b->row_size = reader_walk_rows(r->reads_values, b, &rows);
	b->rows = rows;
	/* if only its length was damaged, other blocks follow the rows */
	r->pending = (size_t)(b->row_data - b->payload) + b->row_size;
	return 0;
}

int reader_load(struct reader *r, struct block *b)
{
	const char *fault;
	int got;

	if (b->kind != BLOCK_EVENTS || r->loaded)
		return 0;
	got = reader_fill(r, b->length, reader_at_once(r, b, b->length));
	if (got < 0)
		return -1;
	b->payload = r->input.data + r->input.begin;
	r->loaded = true;
	if (!got)
		return load_cut(r, b);
	b->available = b->length;
	fault = reader_crc_fault(b);
	if ((fault && reader_damaged(r, b->offset, fault)) || reader_tables(r, b)) {
		if (!r->stop)
			reader_distrust_length(r, b->length);
		return -1;
	}
	b->unchecked = true;
	if (r->rows_on_demand && b->flags & BLOCK_HAS_CRC &&
	    (!(b->row_flags & EVENTS_BARE) || reader_bare_rows_fit(b)))
		return 0;
	return reader_rows(r, b);
}

int reader_rows(struct reader *r, struct block *b)
{
	const char *fault;

	if (!b->unchecked)
		return 0;
	b->unchecked = false;
	fault = events_block_rows(b, r->reads_values);
	if (!fault)
		return 0;
	b->rows = 0;
	b->row_size = 0;
	reader_damaged(r, b->offset, fault);
	reader_distrust_length(r, b->length);
	return -1;
}

/* Read the head of an EVENTS block, and its rows except on demand. */
static int reader_read_events(struct reader *r, struct block *b)
{
	const char *fault = events_block_head(b);

	if (fault) {
		reader_damaged(r, b->offset, fault);
		reader_distrust_length(r, b->length);
		return -1;
	}
	r->loaded = false;
	if (!r->on_demand && reader_load(r, b))
		return -1;
	r->segment.rows += b->rows;
	return 0;
}

/* --- reader segment --- */

uint32_t reader_head_flags(const void *data, size_t n)
{
	const uint8_t *block = (const uint8_t *)data + MARKER_SIZE;

	if (n < MARKER_SIZE + BLOCK_HEADER + 24 || get_u16(block + 4) != BLOCK_HEAD)
		return 0;
	return get_u32(block + BLOCK_HEADER + 16);
}

bool reader_is_stream(const void *data, size_t n)
{
	return n >= MARKER_SIZE && !memcmp(data, MARKER_PREFIX, sizeof MARKER_PREFIX - 1);
}

bool reader_other_version(const void *data, size_t n, unsigned *version)
{
	enum { DIGIT = sizeof MARKER_PREFIX - 3 };
	const char *p = data;

	if (n <= DIGIT + 1 || memcmp(p, MARKER_PREFIX, DIGIT) || p[DIGIT + 1] != ':' ||
	    p[DIGIT] < '0' || p[DIGIT] > '9' || p[DIGIT] == MARKER_PREFIX[DIGIT])
		return false;
	*version = (unsigned)(p[DIGIT] - '0');
	return true;
}

/* Get the tool that prints the content of a compressed file; NULL: it is none. */
static const char *unpacker(const uint8_t *head, size_t n)
{
	static const struct {
		const char *tool, *magic;
	} known[] = {{"zcat", "\x1f\x8b\x08"},
		     {"zstdcat", "\x28\xb5\x2f\xfd"},
		     {"xzcat", "\xfd\x37\x7a\x58\x5a"},
		     {"bzcat", "BZh"},
		     {"lz4cat", "\x04\x22\x4d\x18"}};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (n > strlen(known[i].magic) &&
		    !memcmp(head, known[i].magic, strlen(known[i].magic)))
			return known[i].tool;
	return NULL;
}

/* Report an input that does not begin with a marker. */
static int no_stream(struct reader *r, size_t n)
{
	const uint8_t *head = r->input.data + r->input.begin;
	unsigned version;
	bool other = reader_other_version(head, n, &version);
	const char *tool = r->input.frames ? NULL : unpacker(head, n),
		   *file = r->input.fd != STDIN_FILENO ? r->file : NULL;
	char unpacked[200], what[250];

	reader_close_input(r);
	r->fatal = true;
	if (tool && command_after(unpacked, sizeof unpacked, tool, file)) {
		snprintf(what, sizeof what, "is compressed; if it is a %s: %s",
			 r->summaries ? "summary" : "stream", unpacked);
		return r->summaries ? error_set(&r->error, r->file, NO_OFFSET, "%s", what)
				    : reader_no_stream(r, what, file);
	}
	if (tool)
		return error_set(&r->error, r->file, NO_OFFSET, "is compressed; unpack it: %s",
				 tool);
	if (!other)
		return reader_no_stream(r, "is not an event stream", file);
	return error_set(&r->error, r->file, NO_OFFSET, "event stream version %u is not supported",
			 version);
}

/* Handle the end of the input between segments. 2: normal. */
static int end_of_input(struct reader *r)
{
	size_t rest = r->input.filled - r->input.begin;
	bool first = r->input.offset == 0 && !r->input.fault,
	     wanted = r->segment.more_expected && !r->partial_ok,
	     marker = !memcmp(r->input.data + r->input.begin, MARKER_PREFIX, rest < 8 ? rest : 8);
	uint64_t at = r->input.offset + rest;

	if (rest && first && !marker)
		return no_stream(r, rest);
	reader_close_input(r);
	if (first && !rest && !io_cut())
		return reader_fatal(r, "no input: did the previous command fail?");
	if (first && !rest)
		return reader_ended(r, NO_OFFSET, "no input");
	if (rest)
		return reader_ended(r, at, marker ? READER_NO_END : READER_NO_BLOCK);
	return wanted ? reader_ended(r, at, "the stream ends before its last segment") : 2;
}

/* Unpack the input from its beginning. */
static int reader_unpack(struct reader *r)
{
	r->input.frames = frames_open(r->input.fd, r->input.data + r->input.begin,
				      r->input.filled - r->input.begin);
	r->input.begin = r->input.filled = 0;
	r->input.pipe = r->input.eof = false;
	return r->input.frames ? 0 : reader_no_memory(r);
}

/* Read what follows a segment: another marker (1), or the end of the input (2:
 * normal, -1). */
static int reader_begin_segment(struct reader *r)
{
	size_t most = r->on_demand ? MARKER_SIZE + BLOCK_HEADER : READ_SIZE;
	int got = reader_fill(r, MARKER_SIZE, most);

	if (got > 0 && !r->input.offset && !r->input.frames &&
	    frames_begin(r->input.data + r->input.begin, MARKER_SIZE))
		got = reader_unpack(r) ? -1 : reader_fill(r, MARKER_SIZE, most);
	if (got <= 0)
		return got < 0 ? -1 : end_of_input(r);
	if (!reader_is_stream(r->input.data + r->input.begin, r->input.filled - r->input.begin)) {
		if (!r->input.offset && !r->input.fault)
			return no_stream(r, r->input.filled - r->input.begin);
		reader_damaged(r, r->input.offset, "not part of an event stream");
		reader_go_on_after_damage(r);
		return -1;
	}
	memcpy(r->segment.marker, r->input.data + r->input.begin + MARKER_SIZE - 8, 8);
	reader_consume(r, MARKER_SIZE);
	r->segment.inside = true;
	r->segment.head_seen = false;
	return 1;
}

/* Check that the first block of a segment, and no other, is HEAD, and that all blocks have
 * checksums or none has. A fault is reported once and passed over. After -1 the same block is
 * checked again, except a second HEAD. */
static int reader_check_order(struct reader *r, const struct block *b)
{
	bool head = b->kind == BLOCK_HEAD, has_crc = b->flags & BLOCK_HAS_CRC,
	     first = !r->segment.head_seen, same = has_crc == r->segment.has_crc;

	r->segment.head_seen = true;
	r->segment.has_crc = has_crc;
	if (first && head) {
		r->segment.rows = 0;
		r->segment.hurt = false;
		return 0;
	}
	if (first) {
		dictionary_segment(&r->dictionary, true);
		return reader_damaged(r, r->input.offset,
				      "a segment that does not begin with its head");
	}
	if (head) {
		reader_damaged(r, r->input.offset, "a head within a segment");
		reader_consume(r, BLOCK_HEADER);
		reader_distrust_length(r, b->length);
		return -1;
	}
	return same ? 0
		    : reader_damaged(r, r->input.offset,
				     has_crc ? "a block with a checksum among others without"
					     : "a block without a checksum among others with one");
}

/* Refuse a stream of an unknown version, or skip to the next segment of a known one. */
static int reader_check_version(struct reader *r, const struct block *b)
{
	unsigned major = get_u16(b->payload), minor = get_u16(b->payload + 2);

	if (major == STREAM_MAJOR)
		return 0;
	r->segment.inside = r->segment.open_stream = false;
	r->segment.hurt = true;
	if (!r->head.major) {
		reader_close_input(r);
		r->fatal = true;
		return error_set(&r->error, r->file, NO_OFFSET,
				 "event stream version %u.%u is not supported", major, minor);
	}
	error_set(&r->error, r->file, b->offset, "stream version %u.%u is not supported", major,
		  minor);
	reader_go_on_after_damage(r);
	return -1;
}

/* Check that all inputs are summaries or none is: one program reads summaries, and only them. */
static int reader_check_summary(struct reader *r, const struct block *b)
{
	uint32_t flags = get_u32(b->payload + 16);
	/* the flags of a truncated HEAD are arbitrary */
	bool summary = flags & HEAD_SUMMARY &&
		       !(flags & ~(uint32_t)(HEAD_SUMMARY | HEAD_FILTERED | HEAD_REDUCED));

	if (r->either) {
		r->either = false;
		r->summaries = summary;
	}
	if (summary == r->summaries)
		return 0;
	r->segment.inside = r->segment.open_stream = false;
	reader_close_input(r);
	return reader_fatal(
		r, summary ? "is a summary, no event stream; trstat --merge reads it"
			   : "is an event stream, no summary; trstat --partial makes one of it");
}

/* Test whether a segment has the id of its marker. A marker without digits was damaged and
 * reported. */
static bool matches_marker(const struct reader *r, uint64_t stream_id)
{
	char digits[9];

	snprintf(digits, sizeof digits, "%08x", (uint32_t)stream_id);
	return !r->segment.marker[0] || !strcmp(r->segment.marker, digits);
}

/* Find the fault that makes a HEAD or END block useless; NULL: none. */
static const char *reader_head_fault(const struct reader *r, const struct block *b)
{
	/* if the block has a checksum, the marker is the damaged part */
	return b->flags & BLOCK_HAS_CRC || matches_marker(r, get_u64(b->payload + 8))
		       ? NULL
		       : "a head that does not match its marker";
}

bool head_next(const struct head *h, size_t *at, struct head_property *p)
{
	const uint8_t *from = h->properties + *at;
	uint64_t next;

	if (h->properties_size - *at < 8)
		return false;
	*p = (struct head_property){get_u16(from), get_u32(from + 4), from + 8};
	next = *at + 8 + align_up((uint64_t)p->size, 8);
	if (next > h->properties_size)
		return false;
	*at = (size_t)next;
	return true;
}

/* Leave out the properties from the first invalid one on. */
static void limit_properties(struct head *h)
{
	struct head_property p;
	size_t at = 0;

	while (head_next(h, &at, &p))
		;
	h->properties_size = at;
}

/* Decode HEAD and END. -1: with the error; the block can be used nevertheless. */
static int reader_read_head(struct reader *r, const struct block *b)
{
	const uint8_t *p = b->payload;
	struct head *h = &r->head;
	bool same, missing;

	*h = (struct head){.major = get_u16(p),
			   .minor = get_u16(p + 2),
			   .sequence = get_u32(p + 4),
			   .stream_id = get_u64(p + 8),
			   .flags = get_u32(p + 16),
			   .properties = p + 24,
			   .properties_size = b->length - 24};
	limit_properties(h);
	r->dictionary.less = h->flags & HEAD_FILTERED;
	r->dictionary.reduced = h->flags & HEAD_REDUCED;
	same = r->segment.open_stream && h->stream_id == r->segment.stream_id;
	if (r->partial_ok || (same && h->sequence == r->segment.sequence + 1))
		missing = false;
	else
		missing = h->sequence ? true : r->segment.more_expected;
	/* where it is allowed, each segment may come from a file of its own, in any order */
	dictionary_segment(&r->dictionary, r->partial_ok
						   ? h->stream_id != r->segment.stream_id
						   : !same || h->sequence <= r->segment.sequence);
	r->segment.alone = !(same && h->sequence == r->segment.sequence + 1 && r->segment.whole);
	r->segment.apart = r->segment.alone && !r->segment.skipped;
	r->segment.whole = r->segment.skipped = false;
	if (r->segment.alone && h->flags & HEAD_SEGMENTED)
		dictionary_forget_threads(&r->dictionary);
	r->segment.stream_id = h->stream_id;
	r->segment.sequence = h->sequence;
	r->segment.open_stream = true;
	r->segment.more_expected = false;
	if (!matches_marker(r, h->stream_id))
		return reader_damaged(r, b->offset - MARKER_SIZE,
				      "a marker that does not match its head");
	if (h->properties_size < b->length - 24)
		return reader_damaged(r, b->offset, "a head with a property beyond its block");
	if (!missing)
		return 0;
	return error_set(&r->error, r->file, b->offset,
			 "a segment of the stream is missing before this one");
}

static const char *reader_end_fault(const struct block *b)
{
	if (get_u32(b->payload + 48) > b->length - 56)
		return "an end mark whose message is longer than its block";
	if (get_u32(b->payload + 40) > STATUS_FAILED)
		return "an end mark with an impossible status";
	return NULL;
}

/* Get the marks of END, which follow its message. */
static struct printed end_marks(const struct reader *r, const struct block *b, size_t message)
{
	struct printed printed = {.n = get_u32(b->payload + 52)};
	size_t at = 56 + align_up(message, 8);

	if (r->input.regular || printed.n > PRINTED_MARKS || at > b->length ||
	    printed.n > (b->length - at) / 8)
		printed.n = 0;
	for (unsigned i = 0; i < printed.n; i++)
		printed.mark[i] = get_u64(b->payload + at + 8 * (size_t)i);
	return printed;
}

static int reader_read_end(struct reader *r, const struct block *b)
{
	const uint8_t *p = b->payload;
	uint32_t length = get_u32(p + 48);
	struct end *end = &r->end;

	*end = (struct end){.events = get_u64(p),
			    .gaps = get_u64(p + 8),
			    .lost = get_u64(p + 16),
			    .first = get_u64(p + 24),
			    .last = get_u64(p + 32),
			    .status = get_u32(p + 40),
			    .flags = get_u32(p + 44),
			    .message = dictionary_text(&r->dictionary, p + 56, length),
			    .printed = end_marks(r, b, length)};
	r->segment.inside = false;
	r->segment.open_stream = r->segment.more_expected = !(end->flags & END_LAST);
	r->segment.whole = end->events == r->segment.rows && !r->segment.hurt;
	if (r->segment.whole || r->segment.hurt)
		return 0;
	return error_set(&r->error, r->file, b->offset,
			 "%" PRIu64 " event%s read, but the end mark counts %" PRIu64,
			 r->segment.rows, r->segment.rows == 1 ? "" : "s", end->events);
}

/* --- reader pass --- */

/* Move the payload bytes that were not read from pipe to pipe. */
static int splice_rest(struct reader *r, struct writer *w, size_t n, struct error *e)
{
	while (n) {
		ssize_t moved;

		if (reader_wait(r)) {
			r->fatal = r->stop = true;
			return -1;
		}
		moved = io_over(r->input.fd) ? 0
					     : splice(r->input.fd, NULL, output_fd(w->output), NULL,
						      n, SPLICE_F_MOVE);
		if (moved < 0) {
			struct pollfd in = {r->input.fd, POLLIN, 0};
			struct pollfd out = {output_fd(w->output), POLLOUT, 0};

			if (errno == EINTR)
				continue;
			if (errno == EAGAIN) {
				poll(&in, 1, -1);
				poll(&out, 1, -1);
				continue;
			}
			w->broken = true;
			return error_errno(e, w->output->name, NO_OFFSET, "cannot write");
		}
		if (!moved) {
			w->broken =
				true; /* the block was written in part: no block may follow it */
			reader_ended(r, r->input.offset, READER_NO_END);
			reader_close_input(r);
			return -1;
		}
		r->input.offset += (size_t)moved;
		r->pending -= (size_t)moved;
		n -= (size_t)moved;
	}
	return 0;
}

int reader_pass(struct reader *r, struct block *b, struct writer *w, struct error *e)
{
	size_t have;

	e->what[0] = '\0';
	if (r->loaded || !r->input.pipe || !output_is_pipe(w->output) || w->index) {
		if (reader_load(r, b))
			return -1;
		return writer_pass(w, b, e);
	}
	have = r->input.filled - r->input.begin < b->length ? r->input.filled - r->input.begin
							    : b->length;
	if (writer_pass_begin(w, b, r->input.data + r->input.begin, have, e))
		return -1;
	reader_consume(r, have);
	r->pending -= have;
	r->loaded = true;
	return splice_rest(r, w, r->pending, e);
}

/* --- reader tail --- */

enum {
	TAIL = 8192, /* maximum length of END */
	END_LEAST = 56,
};

/* --- from the beginning, block by block --- */

struct block_walk {
	int fd;
	uint64_t at, size; /* in the file */
	uint8_t window[TAIL];
	uint64_t window_at;
	size_t filled;
};

/* Get n bytes at w->at; NULL: they do not exist. */
static const uint8_t *reader_look(struct block_walk *w, size_t n)
{
	uint64_t into = w->at - w->window_at;
	ssize_t got;

	if (w->at > w->size || n > w->size - w->at)
		return NULL;
	if (w->at < w->window_at || into > w->filled || n > w->filled - into) {
		got = pread(w->fd, w->window, sizeof w->window, (off_t)w->at);
		w->window_at = w->at;
		w->filled = got < 0 ? 0 : (size_t)got;
		into = 0;
		if (w->filled < n)
			return NULL;
	}
	return w->window + into;
}

/* Skip a segment, and note what it is. */
static int walk_segment(struct block_walk *w, struct segment_span *s)
{
	const uint8_t *p = reader_look(w, MARKER_SIZE);
	bool head = true;

	*s = (struct segment_span){.begin = w->at};
	if (!p || memcmp(p, MARKER_PREFIX, sizeof MARKER_PREFIX - 1) != 0)
		return -1;
	w->at += MARKER_SIZE;
	for (;; head = false) {
		struct block b;

		p = reader_look(w, BLOCK_HEADER);
		if (!p || !reader_parse_header(p, &b) || head != (b.kind == BLOCK_HEAD))
			return -1;
		w->at += BLOCK_HEADER;
		p = b.kind == BLOCK_HEAD || b.kind == BLOCK_END
			    ? reader_look(w, head ? 16 : END_LEAST)
			    : NULL;
		if (!p && (b.kind == BLOCK_HEAD || b.kind == BLOCK_END))
			return -1;
		if (b.kind == BLOCK_HEAD) {
			s->sequence = get_u32(p + 4);
			s->stream_id = get_u64(p + 8);
		}
		if (b.kind == BLOCK_END)
			s->end = (struct end){.events = get_u64(p),
					      .gaps = get_u64(p + 8),
					      .lost = get_u64(p + 16),
					      .first = get_u64(p + 24),
					      .last = get_u64(p + 32),
					      .status = get_u32(p + 40),
					      .flags = get_u32(p + 44)};
		w->at += b.length;
		if (b.kind != BLOCK_END)
			continue;
		s->size = w->at - s->begin;
		return w->at <= w->size ? 0 : -1;
	}
}

int reader_tail_segments(int fd, int (*note)(void *ctx, const struct segment_span *s), void *ctx)
{
	off_t begin = lseek(fd, 0, SEEK_CUR);
	struct segment_span span;
	struct stat st;
	struct block_walk w;

	if (begin < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || begin >= st.st_size)
		return -1;
	w = (struct block_walk){.fd = fd, .at = (uint64_t)begin, .size = (uint64_t)st.st_size};
	while (w.at < w.size)
		if (walk_segment(&w, &span) || note(ctx, &span))
			return -1;
	return 0;
}

/* --- from the end --- */

int reader_tail_last(int fd, uint64_t *last)
{
	uint8_t tail[TAIL];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -1;
	n = pread(fd, tail, sizeof tail, st.st_size > TAIL ? st.st_size - TAIL : 0);
	for (ssize_t at = n - BLOCK_HEADER - END_LEAST; at >= 0; at -= 8) {
		const uint8_t *p = tail + at;
		struct block b;

		if (!reader_parse_header(p, &b) || b.kind != BLOCK_END ||
		    b.length != (size_t)(n - at) - BLOCK_HEADER)
			continue;
		*last = get_u64(p + BLOCK_HEADER + 32);
		return get_u64(p + BLOCK_HEADER) ? 0 : -1;
	}
	return -1;
}

/* --- reader --- */

void reader_meta(const struct reader *r, const struct block *b, struct meta *m)
{
	const uint8_t *p = b->payload;
	uint32_t source = get_u32(p), name = get_u32(p + 32);

	*m = (struct meta){.source = idmap_get(&r->dictionary.ids[ENTRY_SOURCE], source),
			   .flags = get_u32(p + 4),
			   .hash = get_u64(p + 8),
			   .total = get_u64(p + 16),
			   .offset = get_u64(p + 24),
			   .name = (const char *)p + 40,
			   .name_size = name,
			   .data = p + 40 + name,
			   .size = get_u32(p + 36)};
}

int meta_join(struct buffer *whole, const struct meta *m, const char *name)
{
	if (m->flags & META_REFERENCE || m->name_size != strlen(name) ||
	    memcmp(m->name, name, m->name_size) != 0)
		return 0;
	if (!m->offset)
		whole->size = 0;
	if (m->offset != whole->size)
		return 0;
	if (buffer_append(whole, m->data, m->size))
		return -1;
	return whole->size == m->total;
}

/* Find the fault of a META block; NULL: none. */
static const char *meta_fault(const struct reader *r, const struct block *b)
{
	const uint8_t *p = b->payload;
	uint32_t source = get_u32(p), name = get_u32(p + 32), size = get_u32(p + 36);
	uint64_t total = get_u64(p + 16), offset = get_u64(p + 24);

	if ((uint64_t)name + size > b->length - 40)
		return "a part of the source longer than its block";
	if (offset > total || size > total - offset)
		return "a piece beyond its part of the source";
	if (source && !idmap_get(&r->dictionary.ids[ENTRY_SOURCE], source))
		return "a part of a source that is not declared";
	return NULL;
}

/* Report that the input ended within a block, or that the block's length is wrong and other
 * blocks follow its header. */
static int ends_here(struct reader *r)
{
	reader_ended(r, r->input.offset + (r->input.filled - r->input.begin), READER_NO_END);
	reader_go_on_after_damage(r);
	return -1;
}

static int common_reader_next_block(struct reader *r, struct block *b)
{
	size_t need;
	int got = reader_fill(r, BLOCK_HEADER,
			      r->on_demand ? BLOCK_HEADER + EVENTS_HEADER : READ_SIZE);

	if (got <= 0)
		return got < 0 ? -1 : ends_here(r);
	if (!reader_parse_header(r->input.data + r->input.begin, b)) {
		if (r->truncated)
			return ends_here(r);
		reader_damaged(r, r->input.offset,
			       reader_is_stream(r->input.data + r->input.begin,
						r->input.filled - r->input.begin)
				       ? READER_NO_END
				       : READER_NO_BLOCK);
		reader_go_on_after_damage(r);
		return -1;
	}
	if (r->truncated) {
		r->truncated = false;
		return reader_damaged(r, r->input.offset,
				      "the block before this one has a wrong length");
	}
	if (reader_check_order(r, b))
		return -1;
	b->offset = r->input.offset;
	b->file = r->file;
	/* an EVENTS block may be large and be passed on without being read */
	need = b->kind == BLOCK_EVENTS ? EVENTS_HEADER : b->length;
	reader_consume(r, BLOCK_HEADER);
	got = reader_fill(r, need, r->on_demand ? need : reader_at_once(r, b, READ_SIZE));
	if (got <= 0)
		return got < 0 ? -1 : ends_here(r);
	r->pending = b->length;
	b->payload = r->input.data + r->input.begin;
	b->available = (uint32_t)need;
	r->loaded = b->kind != BLOCK_EVENTS;
	return 1;
}

static int read_dict(struct reader *r, struct block *b)
{
	struct error e;
	size_t where = 0;
	int bad = dictionary_read(&r->dictionary, b->payload, b->length, &where, &e);

	b->redeclares = r->dictionary.redeclared;
	if (!bad)
		return 0;
	if (reader_may_go_back(r, b->length) && !reader_length_is_true(r, b->length)) {
		/* its length covers other blocks: they are searched from its beginning on */
		r->pending = 0;
		r->astray = true;
	}
	b->payload = r->input.data + r->input.begin;
	if (r->dictionary.refused) {
		/* programs see, and pass on, only what the dictionary has: the rows that follow
		   mean the same to all */
		b->payload = r->dictionary.taken->data;
		b->length = b->available = (uint32_t)r->dictionary.taken->size;
		b->flags &= (uint16_t)~BLOCK_HAS_CRC;
	}
	return reader_damaged(r, b->offset + BLOCK_HEADER + where, e.what);
}

/* Read a SNAPSHOT block, and set its field snapshot if its calls are not known. */
static const char *snapshot_fault(struct reader *r, struct block *b)
{
	const char *fault = snapshot_read(&r->snapshot, &r->dictionary, b, r->reads_values);

	if (fault)
		return fault;
	if (r->segment.alone || r->snapshot.head.flags & SNAPSHOT_RESTART)
		b->snapshot = &r->snapshot;
	b->base = b->snapshot ? b->snapshot->head.first : UINT64_MAX;
	b->last = b->snapshot ? b->snapshot->head.latest : 0;
	return NULL;
}

/* Find out why a block other than EVENTS cannot be used; NULL: it can. */
static const char *block_fault(struct reader *r, struct block *b)
{
	const char *fault = reader_crc_fault(b);

	if (fault)
		return fault;
	switch (b->kind) {
	case BLOCK_HEAD: return reader_head_fault(r, b);
	case BLOCK_META: return meta_fault(r, b);
	case BLOCK_END: return reader_end_fault(b);
	case BLOCK_SNAPSHOT: return snapshot_fault(r, b);
	}
	return NULL;
}

/* Read the content of a block. 1, or -1: it cannot be used; 2: it can, but an error is reported
 * before the block is returned. */
static int reader_take_block(struct reader *r, struct block *b)
{
	const char *fault;

	if (b->kind == BLOCK_EVENTS) {
		if (reader_read_events(r, b))
			return -1;
		r->snapshot.done = true; /* rows precede no SNAPSHOT */
		return 1;
	}
	fault = block_fault(r, b);
	if (fault == EVENTS_NO_MEMORY)
		return reader_no_memory(r);
	if (fault) {
		reader_damaged(r, b->offset, fault);
		if (b->kind == BLOCK_HEAD)
			dictionary_segment(&r->dictionary, true);
		reader_distrust_length(r, b->length);
		return -1;
	}
	switch (b->kind) {
	case BLOCK_HEAD:
		if (reader_check_version(r, b) || reader_check_summary(r, b))
			return -1;
		snapshot_segment(&r->snapshot, false);
		return reader_read_head(r, b) ? 2 : 1;
	case BLOCK_DICT: return read_dict(r, b) ? 2 : 1;
	case BLOCK_END: return reader_read_end(r, b) ? 2 : 1;
	}
	return 1;
}

/* Read the next block of the present input. 1, 0, -1; 2: the input ended normally. */
static int next_of_input(struct reader *r, struct block *b)
{
	int got = 1;

	if (r->pending && reader_skip_pending(r)) {
		reader_close_input(r);
		return -1;
	}
	if (r->astray) {
		r->astray = false;
		got = reader_resynchronise(r);
		if (got <= 0) {
			reader_close_input(r);
			return got ? -1 : 2;
		}
	}
	if (r->wants && r->input.regular && r->input.offset && !r->truncated && reader_leave_out(r))
		return -1;
	if (!r->segment.inside)
		got = reader_begin_segment(r);
	if (got == 1)
		got = common_reader_next_block(r, b);
	else
		return got;
	if (got == 1)
		got = reader_take_block(r, b);
	if (got == 2) {
		r->held = *b;
		r->holding = true;
		return -1;
	}
	return got;
}

int reader_next(struct reader *r, struct block *b)
{
	int got;

	if (r->holding) {
		r->holding = false;
		*b = r->held;
		return 1;
	}
	while (!r->stop) {
		bool was_fatal = r->fatal;

		if (r->input.fault) {
			error_set(&r->error, r->file, r->input.fault_at, "%s", r->input.fault);
			r->input.fault = NULL;
			return -1;
		}
		if (r->input.fd < 0) {
			got = reader_open_next(r);
			if (got <= 0)
				return got;
		}
		got = next_of_input(r, b);
		if (got < 0 && r->fatal && !was_fatal)
			reader_close_input(r); /* the input cannot be read */
		if (got != 2)
			return got;
	}
	return 0;
}

int reader_jump(struct reader *r, uint64_t offset)
{
	if (lseek(r->input.fd, (off_t)offset, SEEK_SET) < 0)
		return error_errno(&r->error, r->file, offset, "cannot seek");
	r->input.begin = r->input.filled = r->pending = 0;
	r->input.offset = offset;
	r->input.eof = r->segment.inside = r->astray = r->truncated = r->holding = false;
	r->partial_ok = true;
	return 0;
}

void reader_close(struct reader *r)
{
	close_fd(r);
	dictionary_free(&r->dictionary);
	free(r->input.data);
	events_tables_free(&r->tables);
	snapshot_free(&r->snapshot);
	r->input.data = NULL;
}
