#include "common/stream/reader_private.h"

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

int reader_resynchronise(struct reader *r)
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

void reader_go_on_after_damage(struct reader *r)
{
	struct error was = r->error;
	int got = reader_resynchronise(r);

	if (!got)
		reader_close_input(r);
	if (got >= 0)
		r->error = was;
}

bool reader_length_is_true(struct reader *r, size_t length)
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

bool reader_may_go_back(struct reader *r, size_t length)
{
	r->input.reread += length;
	return r->input.reread <= r->input.offset + REREAD_LIMIT;
}

void reader_distrust_length(struct reader *r, size_t length)
{
	r->pending = length;
	if (reader_may_go_back(r, length) && !reader_length_is_true(r, length) && !r->stop)
		reader_go_on_after_damage(r);
}
