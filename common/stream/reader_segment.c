#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/util/status.h"
#include "common/stream/reader_private.h"
#include "common/util/io.h"

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

/* Return the tool that prints the content of a compressed file; NULL: it is none. */
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
	const char *tool = unpacker(head, n);
	bool file = r->input.fd != STDIN_FILENO;

	reader_close_input(r);
	r->fatal = true;
	if (tool)
		return error_set(&r->error, r->file, NO_OFFSET,
				 "is compressed; unpack it first: %s%s%s | %s", tool,
				 file ? " " : "", file ? r->file : "",
				 program_invocation_short_name);
	if (!other)
		return reader_fatal(r, "is not an event stream (trdecode makes one of a trace)");
	return error_set(&r->error, r->file, NO_OFFSET, "event stream version %u is not supported",
			 version);
}

/* Handle the end of the input between segments. 2: normal. */
static int end_of_input(struct reader *r)
{
	size_t rest = r->input.filled - r->input.begin;
	bool first = r->input.offset == 0, wanted = r->segment.more_expected && !r->partial_ok,
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

int reader_begin_segment(struct reader *r)
{
	int got =
		reader_fill(r, MARKER_SIZE, r->on_demand ? MARKER_SIZE + BLOCK_HEADER : READ_SIZE);

	if (got <= 0)
		return got < 0 ? -1 : end_of_input(r);
	if (!reader_is_stream(r->input.data + r->input.begin, r->input.filled - r->input.begin)) {
		if (!r->input.offset)
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

/* After -1 the same block is checked again, except a second HEAD. */
int reader_check_order(struct reader *r, const struct block *b)
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

int reader_check_version(struct reader *r, const struct block *b)
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

int reader_check_summary(struct reader *r, const struct block *b)
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

const char *reader_head_fault(const struct reader *r, const struct block *b)
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

int reader_read_head(struct reader *r, const struct block *b)
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
	r->segment.whole = false;
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

const char *reader_end_fault(const struct block *b)
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

int reader_read_end(struct reader *r, const struct block *b)
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
