/*
 * packed.c - kernel text that is in a page, or compressed
 *
 *     TRACE:\n, then a stream of zlib                    `atrace -z`, and bug reports of Android
 *     <script id="viewer-data" type="text/plain">        a page of trace2html: Base64 of the text
 *     ...                                                itself, of gzip or of zlib
 *     </script>
 *     <script class="trace-data" type="application/text">   a page of systrace: the text as it is,
 *     ...                                                or Base64 of gzip or of zlib
 *     </script>
 *
 * A page is read line by line: what is in Base64 is replaced by its text. Data begin and end in a
 * line of their own, whatever is beside their tags. Other texts of a page are in it as they are
 * (ftrace.c).
 *
 * Source: catapult, systrace/tracing_agents/atrace_agent.py and tracing_build/html2trace.py.
 */
#include <stdlib.h>
#include <zlib.h>

#include "cmd/trdecode/ftrace/ftrace.h"
#include "common/util/io.h"

enum { PACKED_PIECE = 16 * 1024, WINDOW_BITS_AUTO = 15 + 32, HEADER_MOST = 512 };

static const char trace_word[] = "TRACE:\n";

enum data_tag {
	TAG_NONE,
	TAG_VIEWER, /* Base64 */
	TAG_TRACE,  /* Base64 of what is compressed, or text */
};

struct ftrace_packed {
	struct ftrace *f;
	struct lines page; /* of a page */
	bool is_page;
	struct span rest;    /* of the line of the page: what is not read */
	enum data_tag begun; /* a tag after which nothing was read */
	bool in_data;	     /* Base64 follows */
	bool closed;	     /* "</html>" was read */
	z_stream z;
	bool inflating;
	bool ended;    /* of the compressed text */
	uint32_t bits; /* of Base64 that are no byte yet */
	unsigned nbits;
	size_t head; /* bytes of the input's head that were read */
	uint8_t in[PACKED_PIECE];
	size_t in_size, in_at;
	struct buffer line; /* text of the page that is still to be read */
	size_t line_at;
};

/* Find what follows "TRACE:". NULL: it is not there. */
static const char *after_word(const char *head, size_t n)
{
	struct span s = {head, head + (n < HEADER_MOST ? n : HEADER_MOST)};
	const char *p = span_find(s, trace_word);

	return p && (p == head || p[-1] == '\n') ? p + sizeof trace_word - 1 : NULL;
}

/* Test for the header of zlib: deflate, and a check. */
static bool is_zlib(const void *data, size_t n)
{
	const uint8_t *p = data;

	return n >= 2 && (p[0] & 0x0f) == Z_DEFLATED && (p[0] << 8 | p[1]) % 31 == 0;
}

bool ftrace_is_packed(const char *head, size_t n)
{
	const char *p = after_word(head, n);

	return p && is_zlib(p, (size_t)(head + n - p));
}

bool ftrace_is_page(const char *head, size_t n)
{
	return n > 5 && (!strncasecmp(head, "<!doc", 5) || !strncasecmp(head, "<html", 5));
}

static void packed_damage(struct ftrace_packed *p, const char *what)
{
	input_damage(p->f->input, p->f->input->name, p->is_page ? p->page.offset : NO_OFFSET, "%s",
		     what);
	p->ended = true;
}

/* --- the compressed bytes --- */

static int base64_digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

/* Decode a line of Base64 into the text after `line`. */
static int decode_base64(struct ftrace_packed *p, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int digit = base64_digit(text[i]);

		if (digit < 0)
			continue; /* blanks and padding */
		p->bits = p->bits << 6 | (uint32_t)digit;
		p->nbits += 6;
		if (p->nbits < 8)
			continue;
		p->nbits -= 8;
		if (buffer_u8(&p->line, (uint8_t)(p->bits >> p->nbits)))
			return -1;
	}
	return 0;
}

/* --- the page --- */

/* Find a text that begins with '<', in small or in capital letters. NULL: it is not there. */
static const char *find_tag(struct span s, const char *tag)
{
	size_t n = strlen(tag);

	for (const char *p = s.at;
	     p < s.end && (p = memchr(p, '<', span_size((struct span){p, s.end}))); p++)
		if ((size_t)(s.end - p) >= n && !strncasecmp(p, tag, n))
			return p;
	return NULL;
}

/* Find the end of a tag that data follow. NULL: there is none. */
static const char *find_data(struct span s, enum data_tag *which)
{
	while ((s.at = find_tag(s, "<script"))) {
		struct span tag = {s.at, memchr(s.at, '>', span_size(s))};

		if (!tag.end)
			return NULL;
		*which = span_find(tag, "\"viewer-data\"") ? TAG_VIEWER
			 : span_find(tag, "trace-data")	   ? TAG_TRACE
							   : TAG_NONE;
		s.at = tag.end + 1;
		if (*which)
			return s.at;
	}
	return NULL;
}

static bool begins_end(struct span s)
{
	return find_tag((struct span){s.at, s.end - s.at > 8 ? s.at + 8 : s.end}, "</script") ==
	       s.at;
}

/* Take a piece of a line of the page: up to a tag that ends data, after one that data follow, or to
 * the end. *which: the tag at its end. Returns as lines_next. */
static int take_piece(struct ftrace_packed *p, struct span *piece, enum data_tag *which,
		      struct error *e)
{
	const char *text, *ends, *begins;
	size_t n;
	int got;

	*which = TAG_NONE;
	if (p->rest.at == p->rest.end) {
		got = lines_next(&p->page, p->f->input, &text, &n, e);
		if (got <= 0)
			return got;
		p->rest = (struct span){text, text + n};
	}
	*piece = p->rest;
	ends = find_tag((struct span){piece->at + (piece->at < piece->end), piece->end},
			"</script");
	begins = p->in_data ? NULL : find_data(*piece, which);
	if (begins && (!ends || begins <= ends))
		piece->end = begins;
	else if (ends)
		piece->end = ends;
	if (piece->end != begins)
		*which = TAG_NONE;
	p->rest.at = piece->end;
	return 1;
}

static int append_text(struct ftrace_packed *p, struct span piece)
{
	bool newline = p->rest.at < p->rest.end || p->page.whole;

	p->closed |= find_tag(piece, "</html>") != NULL;
	return buffer_append(&p->line, piece.at, span_size(piece)) ||
			       buffer_append(&p->line, "\n", newline)
		       ? -1
		       : 0;
}

static int inflate_begin(struct ftrace_packed *p, struct error *e);

/* Read the first piece after a tag: find out whether it is Base64, and how its bytes are packed. If
 * it is Base64, the bytes are in `line`. */
static int data_begin(struct ftrace_packed *p, struct span piece, struct error *e)
{
	bool packed, viewer = p->begun == TAG_VIEWER;

	p->begun = TAG_NONE;
	for (const char *c = piece.at; !viewer && c < piece.end; c++)
		if (base64_digit(*c) < 0 && *c != '=' && *c != ' ' && *c != '\t')
			return 0;
	p->nbits = 0;
	if (decode_base64(p, piece.at, span_size(piece)))
		return error_no_memory(e);
	packed = p->line.size > 1 && ((p->line.data[0] == 0x1f && p->line.data[1] == 0x8b) ||
				      (p->line.data[0] == 0x78 && is_zlib(p->line.data, 2)));
	p->in_data = viewer || packed;
	p->ended = false;
	if (!p->in_data)
		p->line.size = 0;
	return packed ? inflate_begin(p, e) : 0;
}

/* Read the next piece of the page: its text, or bytes of Base64, in `line`. Returns as lines_next.
 */
static int next_page_piece(struct ftrace_packed *p, struct error *e)
{
	enum data_tag which;
	struct span piece;
	int got = take_piece(p, &piece, &which, e);

	p->line.size = p->line_at = 0;
	if (!got && !p->closed)
		packed_damage(p, "the page ends early");
	if (got <= 0)
		return got;
	if (p->in_data && begins_end(piece)) {
		/* the tag is the next piece; the text may end without a newline */
		p->in_data = false;
		p->rest.at = piece.at;
		return buffer_append(&p->line, "\n", 1) ? error_no_memory(e) : 1;
	}
	if (p->in_data) {
		if (decode_base64(p, piece.at, span_size(piece)))
			return error_no_memory(e);
	} else if (p->begun && !begins_end(piece) && span_size(span_trim(piece))) {
		if (data_begin(p, piece, e))
			return -1;
	}
	if (p->in_data) {
		if (p->page.cut)
			packed_damage(p, "a line of Base64 is too long");
		return 1;
	}
	if (which || begins_end(piece))
		p->begun = which;
	return append_text(p, piece) ? error_no_memory(e) : 1;
}

/* Read bytes of the input. Returns their number; -1 with *e filled. */
static ssize_t read_input(struct ftrace_packed *p, void *to, size_t n, struct error *e)
{
	struct input *in = p->f->input;
	size_t rest = in->head_size - p->head;
	ssize_t got;

	if (rest) {
		n = n < rest ? n : rest;
		memcpy(to, in->head + p->head, n);
		p->head += n;
		return (ssize_t)n;
	}
	got = io_read(in->fd, to, n);
	return got < 0 ? error_errno(e, in->name, NO_OFFSET, "cannot read") : got;
}

/* --- inflating --- */

static int inflate_begin(struct ftrace_packed *p, struct error *e)
{
	if (p->inflating)
		inflateEnd(&p->z);
	p->z = (z_stream){.next_in = NULL};
	p->inflating = inflateInit2(&p->z, WINDOW_BITS_AUTO) == Z_OK;
	return p->inflating ? 0 : error_no_memory(e);
}

/* Inflate what is in [*from, end) into to. Returns the number of bytes. */
static size_t inflate_some(struct ftrace_packed *p, const uint8_t **from, const uint8_t *end,
			   void *to, size_t n)
{
	int status;

	p->z.next_in = (uint8_t *)(uintptr_t)*from;
	p->z.avail_in = (unsigned)(end - *from);
	p->z.next_out = to;
	p->z.avail_out = (unsigned)n;
	status = inflate(&p->z, Z_NO_FLUSH);
	*from = p->z.next_in;
	if (status == Z_STREAM_END)
		p->ended = true;
	else if (status != Z_OK && status != Z_BUF_ERROR)
		packed_damage(p, "the compressed text is damaged");
	return n - p->z.avail_out;
}

static ssize_t read_zlib(void *ctx, void *to, size_t n, struct error *e)
{
	struct ftrace_packed *p = ctx;

	while (!p->ended) {
		const uint8_t *at = p->in + p->in_at;
		size_t made;

		if (p->in_at == p->in_size) {
			ssize_t got = read_input(p, p->in, sizeof p->in, e);

			if (got < 0)
				return -1;
			if (!got) {
				packed_damage(p, "the compressed text ends early");
				break;
			}
			p->in_at = 0;
			p->in_size = (size_t)got;
			at = p->in;
		}
		made = inflate_some(p, &at, p->in + p->in_size, to, n);
		p->in_at = (size_t)(at - p->in);
		if (made)
			return (ssize_t)made;
	}
	return 0;
}

static ssize_t read_page(void *ctx, void *to, size_t n, struct error *e)
{
	struct ftrace_packed *p = ctx;
	const uint8_t *at, *end;
	bool had_data;
	size_t made;
	int got;

	for (;;) {
		while (p->line_at == p->line.size) {
			had_data = p->in_data;
			got = next_page_piece(p, e);
			if (got <= 0)
				return got;
			if (had_data && !p->in_data && p->inflating) {
				if (!p->ended)
					packed_damage(p, "the compressed text ends early");
				inflateEnd(&p->z);
				p->inflating = false;
			}
		}
		at = p->line.data + p->line_at;
		end = p->line.data + p->line.size;
		if (!p->in_data || !p->inflating) {
			made = (size_t)(end - at) < n ? (size_t)(end - at) : n;
			memcpy(to, at, made);
			p->line_at += made;
			return (ssize_t)made;
		}
		made = p->ended ? 0 : inflate_some(p, &at, end, to, n);
		p->line_at = p->ended ? p->line.size : (size_t)(at - p->line.data);
		if (made)
			return (ssize_t)made;
	}
}

int ftrace_packed_open(struct ftrace *f, struct error *e)
{
	struct input *in = f->input;
	const char *head = (const char *)in->head, *data = after_word(head, in->head_size);
	struct ftrace_packed *p = f->packed = calloc(1, sizeof *p);

	if (!p)
		return error_no_memory(e);
	p->f = f;
	p->is_page = ftrace_is_page(head, in->head_size);
	f->lines.source = (struct lines_source){p->is_page ? read_page : read_zlib, p};
	if (p->is_page)
		return 0;
	p->head = (size_t)(data - head);
	return inflate_begin(p, e);
}

void ftrace_packed_close(struct ftrace *f)
{
	struct ftrace_packed *p = f->packed;

	if (!p)
		return;
	if (p->inflating)
		inflateEnd(&p->z);
	lines_free(&p->page);
	buffer_free(&p->line);
	free(p);
}
