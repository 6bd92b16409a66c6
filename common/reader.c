#include <inttypes.h>
#include <stdlib.h>

#include "checksum.h"
#include "reader_private.h"

enum { REREAD_LIMIT = 64 * 1024 * 1024 };

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
		int got = reader_fill(r, ANCHOR, READ_SIZE);
		const uint8_t *p = r->data + r->begin, *end;
		uint16_t kind;

		if (got <= 0) {
			reader_consume(r, r->filled - r->begin);
			return got;
		}
		end = r->data + r->filled - (ANCHOR - 1);
		while (p < end && !anchor(r, p))
			p++;
		reader_consume(r, (size_t)(p - (r->data + r->begin)));
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
		reader_close_input(r);
	if (got >= 0)
		r->error = was;
}

/* The content of a block is damaged: does what belongs into a stream stand behind it at least? */
static bool length_is_true(struct reader *r, size_t length)
{
	struct error was = r->error;
	int got = reader_fill(r, length + BLOCK_HEADER, READ_SIZE);
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
	if (b->flags & BLOCK_HAS_CRC && checksum(0, b->payload, b->length) != b->crc)
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
		reader_damaged(r, r->offset + b->length, READER_NO_END);
		if (may_go_back(r, b->length))
			go_on_behind_damage(r);
		else
			reader_close_input(r);
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

/* How much to read for a block of EVENTS, or otherwise. Of a file that is the block with the header
 * of the next one: so each of them comes to the same place in memory, where the processor has it at
 * hand. */
static size_t read_at_once(const struct reader *r, const struct block *b, size_t otherwise)
{
	size_t have = r->filled - r->begin, all = (size_t)b->length + BLOCK_HEADER;

	return r->regular && b->kind == BLOCK_EVENTS && all > have ? all - have : otherwise;
}

int reader_load(struct reader *r, struct block *b)
{
	int got;

	if (b->kind != BLOCK_EVENTS || r->loaded)
		return 0;
	got = reader_fill(r, b->length, read_at_once(r, b, b->length));
	if (got < 0)
		return -1;
	b->payload = r->data + r->begin;
	r->loaded = true;
	if (!got)
		return load_cut(r, b);
	b->available = b->length;
	if (check_crc(r, b) || reader_tables(r, b)) {
		if (!r->stop)
			distrust_length(r, b->length);
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
	if (!b->unchecked)
		return 0;
	b->unchecked = false;
	if (reader_rows_sane(b))
		return 0;
	reader_damaged(r, b->offset, "an event block with impossible rows");
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

	reader_close_input(r);
	if (!version)
		return reader_fatal(r, "is not an event stream (trdecode makes one of a trace)");
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
	reader_close_input(r);
	if (first && !rest)
		return reader_damaged(
			r, NO_OFFSET,
			"empty: not even an event stream without events (did the program "
			"before fail?)");
	if (rest)
		return reader_damaged(r, at, marker ? READER_NO_END : no_block);
	return wanted ? reader_damaged(r, at, "the stream ends before its last segment") : 2;
}

/* Between segments: another marker, or the end of the input. */
static int begin_segment(struct reader *r)
{
	int got =
		reader_fill(r, MARKER_SIZE, r->on_demand ? MARKER_SIZE + BLOCK_HEADER : READ_SIZE);

	if (got <= 0)
		return got < 0 ? -1 : end_of_input(r);
	if (!reader_is_stream(r->data + r->begin, r->filled - r->begin)) {
		if (!r->offset)
			return no_stream(r, r->filled - r->begin);
		reader_damaged(r, r->offset, "this is no event stream any more");
		go_on_behind_damage(r);
		return -1;
	}
	reader_consume(r, MARKER_SIZE);
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
		reader_consume(r, BLOCK_HEADER);
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
		reader_close_input(r);
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
	reader_close_input(r);
	return reader_fatal(
		r, summary ? "is a summary, no event stream; trstat --merge reads it"
			   : "is an event stream, no summary; trstat --partial makes one of it");
}

/* The input has ended within a block. Or its length was a lie, and others are behind its header. */
static int ends_here(struct reader *r)
{
	reader_damaged(r, r->offset + (r->filled - r->begin), READER_NO_END);
	go_on_behind_damage(r);
	return -1;
}

static int next_block(struct reader *r, struct block *b)
{
	size_t need;
	int got = reader_fill(r, BLOCK_HEADER,
			      r->on_demand ? BLOCK_HEADER + EVENTS_HEADER : READ_SIZE);

	if (got <= 0)
		return got < 0 ? -1 : ends_here(r);
	if (!parse_header(r->data + r->begin, b)) {
		if (r->cut)
			return ends_here(r);
		reader_damaged(r, r->offset,
			       reader_is_stream(r->data + r->begin, r->filled - r->begin)
				       ? READER_NO_END
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
	reader_consume(r, BLOCK_HEADER);
	got = reader_fill(r, need, r->on_demand ? need : read_at_once(r, b, READ_SIZE));
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
		b->flags &= (uint16_t)~BLOCK_HAS_CRC;
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

	if (r->pending && reader_skip_pending(r)) {
		reader_close_input(r);
		return -1;
	}
	if (r->astray) {
		r->astray = false;
		got = resynchronise(r);
		if (got <= 0) {
			reader_close_input(r);
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
			got = reader_open_next(r);
			if (got <= 0)
				return got;
		}
		got = next_of_input(r, b);
		if (got < 0 && r->fatal && !was_fatal)
			reader_close_input(r); /* it cannot be read */
		if (got != 2)
			return got;
	}
	return 0;
}
