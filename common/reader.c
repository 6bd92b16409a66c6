#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "reader_private.h"
#include "writer.h"

enum {
	READ_SIZE = 128 * 1024,
	REREAD_LIMIT = 64 * 1024 * 1024,
};

static const char no_end[] = "the stream ends without its end mark (did the program before fail?)";
static const char no_block[] = "here should stand a block of the stream";

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

unsigned reader_other_version(const void *data, size_t n)
{
	enum { DIGIT = sizeof MARKER_PREFIX - 3 };
	const char *p = data;

	if (n <= DIGIT + 1 || memcmp(p, MARKER_PREFIX, DIGIT) || p[DIGIT + 1] != ':' ||
	    p[DIGIT] < '2' || p[DIGIT] > '9')
		return 0;
	return (unsigned)(p[DIGIT] - '0');
}

static int fatal(struct reader *r, const char *what)
{
	r->fatal = true;
	return error_set(&r->error, r->file, NO_OFFSET, "%s", what);
}

int reader_no_memory(struct reader *r)
{
	r->stop = true;
	return fatal(r, "out of memory");
}

static int init(struct reader *r)
{
	*r = (struct reader){.fd = -1, .file = ""};
	if (dictionary_init(&r->dictionary) || !(r->data = malloc(READ_SIZE)))
		return reader_no_memory(r);
	r->capacity = READ_SIZE;
	return 0;
}

/* Bytes of all the files; 0 if some of them are none. */
static uint64_t size_of(char **paths, int n)
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
	r->paths = n ? paths : NULL; /* NULL: standard input alone */
	r->npaths = n ? n : 1;
	r->size = size_of(n ? paths : (char *[]){"-"}, r->npaths);
	return 0;
}

int reader_open_fd(struct reader *r, int fd, const char *name, const void *peeked, size_t n)
{
	struct stat st;

	if (init(r))
		return -1;
	r->fd = fd;
	r->file = name;
	r->pipe = !fstat(fd, &st) && S_ISFIFO(st.st_mode);
	if (n > r->capacity) {
		uint8_t *data = realloc(r->data, n);

		if (!data)
			return reader_no_memory(r);
		r->data = data;
		r->capacity = n;
	}
	if (n)
		memcpy(r->data, peeked, n);
	r->filled = n;
	return 0;
}

void reader_close(struct reader *r)
{
	if (r->fd > STDERR_FILENO)
		close(r->fd);
	dictionary_free(&r->dictionary);
	free(r->data);
	free(r->types);
	free(r->lanes);
	free(r->places);
	r->data = NULL;
}

void reader_on_demand(struct reader *r)
{
	r->on_demand = true;
}

static void close_fd(struct reader *r)
{
	if (r->fd > STDERR_FILENO)
		close(r->fd);
	r->fd = -1;
}

/* 1: the next input is open, 0: there is none, -1 (and the one after it next time). */
static int open_next(struct reader *r)
{
	const char *path;
	struct stat st;

	if (r->path >= r->npaths)
		return 0;
	path = r->paths ? r->paths[r->path] : "-";
	r->path++;
	r->begin = r->filled = r->pending = 0;
	r->offset = 0;
	r->reread = 0;
	r->eof = r->pipe = false;
	if (!strcmp(path, "-")) {
		r->fd = STDIN_FILENO;
		r->file = "<stdin>";
	} else {
		r->file = path;
		r->fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
		if (r->fd < 0) {
			r->fatal = true;
			return error_errno(&r->error, path, NO_OFFSET, "cannot open");
		}
	}
	if (isatty(r->fd)) {
		close_fd(r);
		return fatal(r, "is a terminal; a stream comes from trdecode or a file");
	}
	if (r->output && output_same_file(r->output, r->fd)) {
		close_fd(r);
		return fatal(r, "is also where the output goes");
	}
	if (!fstat(r->fd, &st)) {
		if (S_ISDIR(st.st_mode)) {
			close_fd(r);
			return fatal(r, "is a directory, not a stream; trdecode makes one of it");
		}
		r->pipe = S_ISFIFO(st.st_mode);
	}
	return 1;
}

static void close_input(struct reader *r)
{
	close_fd(r);
	r->in_segment = r->open_stream = r->more_expected = r->cut = r->astray = false;
	r->pending = 0;
}

/* Let what was made of the input so far go out before waiting for more of it. */
static int wait_for_input(struct reader *r)
{
	struct pollfd p = {r->fd, POLLIN, 0};

	if (r->before_block && poll(&p, 1, 0) == 0)
		return r->before_block(r->before_block_ctx);
	return 0;
}

/* Have n bytes at data[begin], reading at most `most` bytes. 1, or 0 at the end of the input with
 * fewer, or -1. */
static int fill(struct reader *r, size_t n, size_t most)
{
	while (r->filled - r->begin < n) {
		size_t room;
		ssize_t got;

		if (r->eof)
			return 0;
		if (r->begin && (r->capacity - r->begin < n || r->begin == r->filled)) {
			memmove(r->data, r->data + r->begin, r->filled - r->begin);
			r->filled -= r->begin;
			r->begin = 0;
		}
		if (r->filled == r->capacity) {
			/* counts are no evidence of data: grow only as bytes arrive */
			uint8_t *data = realloc(r->data, r->capacity * 2);

			if (!data)
				return reader_no_memory(r);
			r->data = data;
			r->capacity *= 2;
		}
		room = r->capacity - r->filled;
		if (room > most)
			room = most;
		if (r->pipe || r->fd == STDIN_FILENO)
			if (wait_for_input(r)) {
				r->fatal = r->stop = true;
				return -1;
			}
		got = read(r->fd, r->data + r->filled, room);
		if (got < 0) {
			struct pollfd p = {r->fd, POLLIN, 0};

			if (errno == EAGAIN) {
				poll(&p, 1, -1);
				continue;
			}
			if (errno == EINTR)
				continue;
			r->fatal = true;
			r->eof = true;
			return error_errno(&r->error, r->file, r->offset + r->filled - r->begin,
					   "cannot read");
		}
		if (!got)
			r->eof = true;
		r->filled += (size_t)got;
	}
	return 1;
}

static void consume(struct reader *r, size_t n)
{
	r->begin += n;
	r->offset += n;
}

int reader_damaged(struct reader *r, uint64_t offset, const char *what)
{
	r->lossy = r->hurt = true;
	return error_set(&r->error, r->file, offset, "%s", what);
}

/* Step over what is left of the last block. */
static int skip_pending(struct reader *r)
{
	while (r->pending) {
		size_t have = r->filled - r->begin, n = have < r->pending ? have : r->pending;
		int got;

		consume(r, n);
		r->pending -= n;
		if (!r->pending)
			break;
		got = fill(r, 1, READ_SIZE);
		if (got < 0)
			return -1;
		if (!got) {
			r->pending = 0;
			return reader_damaged(r, r->offset, no_end);
		}
	}
	return 0;
}

/* May a block of this kind be that long? */
static bool header_sane(const struct block *b)
{
	uint32_t limit = b->kind == BLOCK_EVENTS ? EVENTS_LIMIT : BLOCK_LIMIT;
	static const uint32_t least[] = {0, 24, 0, EVENTS_HEADER, 40, 56};

	if (b->length % 8 || b->length > limit || !b->kind)
		return false;
	return b->kind > BLOCK_END || b->length >= least[b->kind];
}

/* The header of a block; false if none stands at p. */
static bool parse_header(const uint8_t *p, struct block *b)
{
	*b = (struct block){.kind = get_u16(p + 4),
			    .flags = get_u16(p + 6),
			    .length = get_u32(p + 8),
			    .crc = get_u32(p + 12)};
	return get_u32(p) == BLOCK_SYNC && header_sane(b) &&
	       (b->kind <= BLOCK_END || b->flags & BLOCK_MAY_SKIP);
}

/* Of a kind that is known here: amid damage others are rather an accident. */
static bool known_header(const uint8_t *p, uint16_t *kind)
{
	struct block b;
	bool good = parse_header(p, &b) && b.kind <= BLOCK_END && b.flags < 8;

	*kind = b.kind;
	return good;
}

/* Can the stream go on at p, where a marker and a block header have room? */
static bool anchor(const struct reader *r, const uint8_t *p)
{
	uint16_t kind;

	if (*p == (uint8_t)MARKER_PREFIX[0])
		return reader_is_stream(p, MARKER_SIZE) && known_header(p + MARKER_SIZE, &kind) &&
		       kind == BLOCK_HEAD;
	if (*p != (BLOCK_SYNC & 0xff) || !known_header(p, &kind))
		return false;
	return r->in_segment || kind == BLOCK_HEAD;
}

/*
 * From here on look for the marker of a segment or, within a segment, for a block (its ids stay;
 * what the damaged part declared is found to be missing where it is used). 1 found, 0 the input
 * ended, -1. Who calls has found that nothing can go on at the present place as it is, so this does
 * not come back to the same place for ever.
 */
static int resynchronise(struct reader *r)
{
	enum { ANCHOR = MARKER_SIZE + BLOCK_HEADER };

	r->pending = 0;
	for (;;) {
		int got = fill(r, ANCHOR, READ_SIZE);
		const uint8_t *p = r->data + r->begin, *end;
		uint16_t kind;

		if (got <= 0) {
			consume(r, r->filled - r->begin);
			return got;
		}
		end = r->data + r->filled - (ANCHOR - 1);
		while (p < end && !anchor(r, p))
			p++;
		consume(r, (size_t)(p - (r->data + r->begin)));
		if (p == end)
			continue;
		r->cut = false;
		if (*p == (uint8_t)MARKER_PREFIX[0]) {
			r->in_segment = false;
		} else if (known_header(p, &kind) && kind == BLOCK_HEAD) {
			/* a segment whose marker is damaged */
			r->in_segment = true;
			r->head_seen = false;
		}
		return 1;
	}
}

/* The same, and to the next input if nothing is found. The error stays as it is. */
static void go_on_behind_damage(struct reader *r)
{
	struct error was = r->error;
	int got = resynchronise(r);

	if (!got)
		close_input(r);
	if (got >= 0)
		r->error = was;
}

/* The content of a block is damaged: does what belongs into a stream stand behind it at least? */
static bool length_is_true(struct reader *r, size_t length)
{
	struct error was = r->error;
	int got = fill(r, length + BLOCK_HEADER, READ_SIZE);
	const uint8_t *behind = r->data + r->begin + length;

	if (got < 0)
		return false;
	r->error = was;
	if (!got)
		return r->filled - r->begin == length;
	return get_u32(behind) == BLOCK_SYNC || reader_is_stream(behind, MARKER_SIZE);
}

/*
 * May so many bytes that were looked at be gone through again? Blocks that lie within each other,
 * every one of them damaged at its end, must not cost the square of their bytes.
 */
static bool may_go_back(struct reader *r, size_t length)
{
	r->reread += length;
	return r->reread <= r->offset + REREAD_LIMIT;
}

/* If not, the next block is looked for from the beginning of this one's payload. */
static void distrust_length(struct reader *r, size_t length)
{
	r->pending = length;
	if (may_go_back(r, length) && !length_is_true(r, length) && !r->stop)
		go_on_behind_damage(r);
}

static int check_crc(struct reader *r, const struct block *b)
{
	if (b->flags & BLOCK_HAS_CRC && crc32(0, b->payload, b->length) != b->crc)
		return reader_damaged(r, b->offset, "a block with a wrong checksum");
	return 0;
}

static int read_head(struct reader *r, const struct block *b)
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
	r->dictionary.filtered = h->flags & HEAD_FILTERED;
	r->dictionary.reduced = h->flags & HEAD_REDUCED;
	same = r->open_stream && h->stream_id == r->stream_id;
	if (r->partial_ok || (same && h->sequence == r->sequence + 1))
		missing = false;
	else
		missing = h->sequence ? true : r->more_expected;
	/* segments may come each from a file, and in any order, where that is allowed */
	dictionary_segment(&r->dictionary, r->partial_ok ? h->stream_id != r->stream_id
							 : !same || h->sequence <= r->sequence);
	r->stream_id = h->stream_id;
	r->sequence = h->sequence;
	r->open_stream = true;
	r->more_expected = false;
	if (!missing)
		return 0;
	r->lossy = true;
	return error_set(&r->error, r->file, b->offset,
			 "a segment of the stream is missing before this one");
}

static int read_end(struct reader *r, const struct block *b)
{
	const uint8_t *p = b->payload;
	uint32_t length = get_u32(p + 48);
	struct end *end = &r->end;

	if (length > b->length - 56)
		length = b->length - 56;
	*end = (struct end){.events = get_u64(p),
			    .gaps = get_u64(p + 8),
			    .lost = get_u64(p + 16),
			    .first = get_u64(p + 24),
			    .last = get_u64(p + 32),
			    .status = get_u32(p + 40),
			    .flags = get_u32(p + 44),
			    .message = dictionary_text(&r->dictionary, p + 56, length)};
	r->in_segment = false;
	r->open_stream = r->more_expected = !(end->flags & END_LAST);
	if (end->status)
		r->lossy = true;
	if (end->events == r->rows || r->hurt)
		return 0;
	r->lossy = true;
	return error_set(&r->error, r->file, b->offset,
			 "%" PRIu64 " events came, but the end mark counts %" PRIu64, r->rows,
			 end->events);
}

/* What is whole of a block in which the input ended; that it ended is reported by the next call. */
static int load_cut(struct reader *r, struct block *b)
{
	uint32_t rows;

	b->length = b->available = (uint32_t)(r->filled - r->begin);
	b->flags &= (uint16_t)~BLOCK_HAS_CRC;
	b->cut = r->cut = true;
	if (reader_tables(r, b)) {
		if (r->stop)
			return -1;
		reader_damaged(r, r->offset + b->length, no_end);
		if (may_go_back(r, b->length))
			go_on_behind_damage(r);
		else
			close_input(r);
		return -1;
	}
	if (b->row_flags & EVENTS_BARE && !reader_all_bare(b))
		b->rows = 0;
	b->row_flags &= (uint16_t)~EVENTS_BARE;
	b->row_size = reader_walk_rows(b, &rows);
	b->rows = rows;
	/* if its length was but a flipped bit, there are other blocks behind the rows */
	r->pending = (size_t)(b->row_data - b->payload) + b->row_size;
	return 0;
}

int reader_load(struct reader *r, struct block *b)
{
	int got;

	if (b->kind != BLOCK_EVENTS || r->loaded)
		return 0;
	got = fill(r, b->length, b->length);
	if (got < 0)
		return -1;
	b->payload = r->data + r->begin;
	r->loaded = true;
	if (!got)
		return load_cut(r, b);
	b->available = b->length;
	if (!check_crc(r, b) && !reader_tables(r, b)) {
		if (b->row_flags & EVENTS_BARE ? reader_bare_rows_sane(b) : reader_rows_sane(b))
			return 0;
		reader_damaged(r, b->offset, "an event block with impossible rows");
	}
	if (!r->stop)
		distrust_length(r, b->length);
	return -1;
}

static int read_events(struct reader *r, struct block *b)
{
	const uint8_t *p = b->payload;

	b->base = get_u64(p);
	b->last = get_u64(p + 8);
	b->rows = get_u32(p + 16);
	b->row_flags = get_u16(p + 20);
	b->ntypes = get_u16(p + 22);
	b->nlanes = get_u16(p + 24);
	b->nplaces = get_u32(p + 28);
	if (b->last < b->base || (uint64_t)b->rows * NARROW_ROW > b->length) {
		reader_damaged(r, b->offset, "an event block with an impossible head");
		distrust_length(r, b->length);
		return -1;
	}
	r->loaded = false;
	if (!r->on_demand && reader_load(r, b))
		return -1;
	r->rows += b->rows;
	return 0;
}

int reader_meta(struct reader *r, const struct block *b, struct meta *m)
{
	const uint8_t *p = b->payload;
	uint32_t source = get_u32(p), name = get_u32(p + 32);

	if (name > b->length - 40)
		return reader_damaged(r, b->offset, "a part of the source with an impossible name");
	*m = (struct meta){.source = idmap_get(&r->dictionary.ids[ENTRY_SOURCE], source),
			   .flags = get_u32(p + 4),
			   .hash = get_u64(p + 8),
			   .total = get_u64(p + 16),
			   .offset = get_u64(p + 24),
			   .name = (const char *)p + 40,
			   .name_size = name,
			   .data = p + 40 + name,
			   .size = get_u32(p + 36)};
	if (m->size > b->length - 40 - name)
		return reader_damaged(r, b->offset, "a part of the source longer than its block");
	return 0;
}

/* What stands at the beginning of an input instead of a marker. */
static int no_stream(struct reader *r, size_t n)
{
	unsigned version = reader_other_version(r->data + r->begin, n);

	close_input(r);
	if (!version)
		return fatal(r, "is not an event stream (trdecode makes one of a trace)");
	r->fatal = true;
	return error_set(&r->error, r->file, NO_OFFSET,
			 "is an event stream of version %u, which is not known here", version);
}

/* The input ends where a segment should begin. 2: as it should. */
static int end_of_input(struct reader *r)
{
	size_t rest = r->filled - r->begin;
	bool first = r->offset == 0, wanted = r->more_expected && !r->partial_ok,
	     marker = !memcmp(r->data + r->begin, MARKER_PREFIX, rest < 8 ? rest : 8);
	uint64_t at = r->offset + rest;

	if (rest && first && !marker)
		return no_stream(r, rest);
	close_input(r);
	if (first && !rest)
		return reader_damaged(
			r, NO_OFFSET,
			"empty: not even an event stream without events (did the program "
			"before fail?)");
	if (rest)
		return reader_damaged(r, at, marker ? no_end : no_block);
	return wanted ? reader_damaged(r, at, "the stream ends before its last segment") : 2;
}

/* Between segments: another marker, or the end of the input. */
static int begin_segment(struct reader *r)
{
	int got = fill(r, MARKER_SIZE, r->on_demand ? MARKER_SIZE + BLOCK_HEADER : READ_SIZE);

	if (got <= 0)
		return got < 0 ? -1 : end_of_input(r);
	if (!reader_is_stream(r->data + r->begin, r->filled - r->begin)) {
		if (!r->offset)
			return no_stream(r, r->filled - r->begin);
		reader_damaged(r, r->offset, "this is no event stream any more");
		go_on_behind_damage(r);
		return -1;
	}
	consume(r, MARKER_SIZE);
	r->in_segment = true;
	r->head_seen = false;
	return 1;
}

/* The first block of a segment, and no other, is HEAD. What is not so is said once and gone past.
 */
static int check_head(struct reader *r, const struct block *b)
{
	bool head = b->kind == BLOCK_HEAD;

	if (head != r->head_seen) {
		if (head) {
			r->rows = 0;
			r->hurt = false;
		}
		r->head_seen = true;
		return 0;
	}
	reader_damaged(r, r->offset,
		       head ? "a head within a segment"
			    : "a segment that does not begin with its head");
	if (head) {
		consume(r, BLOCK_HEADER);
		distrust_length(r, b->length);
	} else {
		dictionary_segment(&r->dictionary, true);
		r->head_seen = true;
	}
	return -1;
}

/* A version of later days: no stream for us, or on to another segment of one that we know. */
static int check_version(struct reader *r, const struct block *b)
{
	unsigned major = get_u16(b->payload), minor = get_u16(b->payload + 2);

	if (major == STREAM_MAJOR)
		return 0;
	r->in_segment = r->open_stream = false;
	r->lossy = r->hurt = true;
	/* a head that was cut has any number */
	if (!r->head.major && major && major < 100) {
		close_input(r);
		r->fatal = true;
		return error_set(&r->error, r->file, NO_OFFSET,
				 "is an event stream of version %u.%u, which is not known here",
				 major, minor);
	}
	error_set(&r->error, r->file, b->offset, "stream version %u.%u is not known here", major,
		  minor);
	go_on_behind_damage(r);
	return -1;
}

/* Summaries are for one program, and that one takes nothing else with them. */
static int check_summary(struct reader *r, const struct block *b)
{
	uint32_t flags = get_u32(b->payload + 16);
	/* a head that was cut has any flags */
	bool summary = flags & HEAD_SUMMARY &&
		       !(flags & ~(uint32_t)(HEAD_SUMMARY | HEAD_FILTERED | HEAD_REDUCED));

	if (r->either) {
		r->either = false;
		r->summaries = summary;
	}
	if (summary == r->summaries)
		return 0;
	r->in_segment = r->open_stream = false;
	close_input(r);
	return fatal(r,
		     summary ? "is a summary, no event stream; trstat --merge reads it"
			     : "is an event stream, no summary; trstat --partial makes one of it");
}

/* The input has ended within a block. Or its length was a lie, and others are behind its header. */
static int ends_here(struct reader *r)
{
	reader_damaged(r, r->offset + (r->filled - r->begin), no_end);
	go_on_behind_damage(r);
	return -1;
}

static int next_block(struct reader *r, struct block *b)
{
	size_t need;
	int got = fill(r, BLOCK_HEADER, r->on_demand ? BLOCK_HEADER + EVENTS_HEADER : READ_SIZE);

	if (got <= 0)
		return got < 0 ? -1 : ends_here(r);
	if (!parse_header(r->data + r->begin, b)) {
		if (r->cut)
			return ends_here(r);
		reader_damaged(r, r->offset,
			       reader_is_stream(r->data + r->begin, r->filled - r->begin)
				       ? no_end
				       : no_block);
		go_on_behind_damage(r);
		return -1;
	}
	if (check_head(r, b))
		return -1;
	b->offset = r->offset;
	b->file = r->file;
	/* an EVENTS block may be large and may be passed on unseen */
	need = b->kind == BLOCK_EVENTS ? EVENTS_HEADER : b->length;
	consume(r, BLOCK_HEADER);
	got = fill(r, need, r->on_demand ? need : READ_SIZE);
	if (got <= 0)
		return got < 0 ? -1 : ends_here(r);
	r->pending = b->length;
	b->payload = r->data + r->begin;
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
	if (may_go_back(r, b->length) && !length_is_true(r, b->length)) {
		/* it ran into other blocks, which are looked for from its beginning on */
		b->payload = r->data + r->begin;
		b->length = b->available = (uint32_t)where;
		r->pending = 0;
		r->astray = true;
	}
	return reader_damaged(r, b->offset + BLOCK_HEADER + where, e.what);
}

/* What a block says is taken in here. 1, or -1: it is of no use; 2: something is wrong with it,
 * which is to be said before the block is given out. */
static int take_block(struct reader *r, struct block *b)
{
	if (b->kind == BLOCK_EVENTS)
		return read_events(r, b) ? -1 : 1;
	if (check_crc(r, b)) {
		if (b->kind == BLOCK_HEAD)
			dictionary_segment(&r->dictionary, true);
		distrust_length(r, b->length);
		return -1;
	}
	switch (b->kind) {
	case BLOCK_HEAD:
		if (check_version(r, b) || check_summary(r, b))
			return -1;
		return read_head(r, b) ? 2 : 1;
	case BLOCK_DICT: return read_dict(r, b) ? 2 : 1;
	case BLOCK_END: return read_end(r, b) ? 2 : 1;
	}
	return 1;
}

/* 1, 0, -1; 2: the input has ended as it should. */
static int next_of_input(struct reader *r, struct block *b)
{
	int got = 1;

	if (r->pending && skip_pending(r)) {
		close_input(r);
		return -1;
	}
	if (r->astray) {
		r->astray = false;
		got = resynchronise(r);
		if (got <= 0) {
			close_input(r);
			return got ? -1 : 2;
		}
	}
	if (!r->in_segment)
		got = begin_segment(r);
	if (got == 1)
		got = next_block(r, b);
	else
		return got;
	if (got == 1)
		got = take_block(r, b);
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

		if (r->fd < 0) {
			got = open_next(r);
			if (got <= 0)
				return got;
		}
		got = next_of_input(r, b);
		if (got < 0 && r->fatal && !was_fatal)
			close_input(r); /* it cannot be read */
		if (got != 2)
			return got;
	}
	return 0;
}

/* Payload bytes that are not in the buffer go from pipe to pipe without being looked at. */
static int splice_rest(struct reader *r, struct writer *w, size_t n, struct error *e)
{
	while (n) {
		ssize_t moved;

		if (wait_for_input(r)) {
			r->fatal = r->stop = true;
			return -1;
		}
		moved = splice(r->fd, NULL, output_fd(w->output), NULL, n, SPLICE_F_MOVE);
		if (moved < 0) {
			struct pollfd in = {r->fd, POLLIN, 0};
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
			w->broken = true; /* half a block is out: nothing may follow it */
			reader_damaged(r, r->offset, no_end);
			close_input(r);
			return -1;
		}
		r->offset += (size_t)moved;
		r->pending -= (size_t)moved;
		n -= (size_t)moved;
	}
	return 0;
}

int reader_pass(struct reader *r, struct block *b, struct writer *w, struct error *e)
{
	size_t have;

	e->what[0] = '\0';
	if (r->loaded || !r->pipe || !output_is_pipe(w->output)) {
		if (reader_load(r, b))
			return -1;
		return writer_pass(w, b, e);
	}
	have = r->filled - r->begin < b->length ? r->filled - r->begin : b->length;
	if (writer_pass_begin(w, b, r->data + r->begin, have, e))
		return -1;
	consume(r, have);
	r->pending -= have;
	r->loaded = true;
	return splice_rest(r, w, r->pending, e);
}
