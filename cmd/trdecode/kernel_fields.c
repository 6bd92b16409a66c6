/*
 * kernel_fields.c - the fields and types of events in the kernel's text
 *
 *     comm=sh pid=12 prio=120 target_cpu=000     a text and three numbers
 *
 * A type has the fields that its events have shown so far, and what a page of the kernel says
 * about them.
 */
#include <ctype.h>
#include <stdlib.h>
#include <zlib.h>

#include "cmd/trdecode/kernel_text.h"
#include "common/ftrace/kernel_names.h"
#include "common/util/output.h"

/*
 * Kernel text that is in a page, or compressed.
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
.
 *
 * Source: catapult, systrace/tracing_agents/atrace_agent.py and tracing_build/html2trace.py.
 */

enum { PACKED_PIECE = 16 * 1024, WINDOW_BITS_AUTO = 15 + 32, HEADER_MOST = 512 };

static const char trace_word[] = "TRACE:\n";

enum data_tag {
	TAG_NONE,
	TAG_VIEWER, /* Base64 */
	TAG_TRACE,  /* Base64 of what is compressed, or text */
};

struct ftrace_packed {
	struct ftrace *f;
	struct input_lines page; /* of a page */
	struct text_span rest;	 /* of the line of the page: what is not read */
	enum data_tag begun;	 /* a tag after which nothing was read */
	bool in_data;		 /* Base64 follows */
	bool closed;		 /* "</html>" was read */
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
	struct text_span s = {head, head + (n < HEADER_MOST ? n : HEADER_MOST)};
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

static void kernel_fields_packed_damage(struct ftrace_packed *p, const char *what)
{
	input_damage(p->f->input, p->f->input->name, p->f->html ? p->page.offset : NO_OFFSET, "%s",
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
static const char *find_tag(struct text_span s, const char *tag)
{
	size_t n = strlen(tag);

	for (const char *p = s.at;
	     p < s.end && (p = memchr(p, '<', span_size((struct text_span){p, s.end}))); p++)
		if ((size_t)(s.end - p) >= n && !strncasecmp(p, tag, n))
			return p;
	return NULL;
}

/* Find the end of a tag that data follow. NULL: there is none. */
static const char *kernel_fields_find_data(struct text_span s, enum data_tag *which)
{
	while ((s.at = find_tag(s, "<script"))) {
		struct text_span tag = {s.at, memchr(s.at, '>', span_size(s))};

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

static bool begins_end(struct text_span s)
{
	return find_tag((struct text_span){s.at, s.end - s.at > 8 ? s.at + 8 : s.end},
			"</script") == s.at;
}

/* Take a piece of a line of the page: up to a tag that ends data, after one that data follow, or to
 * the end. *which: the tag at its end. Returns as input_lines_next. */
static int take_piece(struct ftrace_packed *p, struct text_span *piece, enum data_tag *which,
		      struct error *e)
{
	const char *text, *ends, *begins;
	size_t n;
	int got;

	*which = TAG_NONE;
	if (p->rest.at == p->rest.end) {
		got = input_lines_next(&p->page, p->f->input, &text, &n, e);
		if (got <= 0)
			return got;
		p->rest = (struct text_span){text, text + n};
	}
	*piece = p->rest;
	ends = find_tag((struct text_span){piece->at + (piece->at < piece->end), piece->end},
			"</script");
	begins = p->in_data ? NULL : kernel_fields_find_data(*piece, which);
	if (begins && (!ends || begins <= ends))
		piece->end = begins;
	else if (ends)
		piece->end = ends;
	if (piece->end != begins)
		*which = TAG_NONE;
	p->rest.at = piece->end;
	return 1;
}

static int append_text(struct ftrace_packed *p, struct text_span piece)
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
static int data_begin(struct ftrace_packed *p, struct text_span piece, struct error *e)
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

/* Read the next piece of the page: its text, or bytes of Base64, in `line`. Returns as
 * input_lines_next.
 */
static int next_page_piece(struct ftrace_packed *p, struct error *e)
{
	enum data_tag which;
	struct text_span piece;
	int got = take_piece(p, &piece, &which, e);

	p->line.size = p->line_at = 0;
	if (!got && !p->closed)
		kernel_fields_packed_damage(p, "the page ends early");
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
			kernel_fields_packed_damage(p, "a line of Base64 is too long");
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
		kernel_fields_packed_damage(p, "the compressed text is damaged");
	return n - p->z.avail_out;
}

static ssize_t kernel_fields_read_zlib(void *ctx, void *to, size_t n, struct error *e)
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
				kernel_fields_packed_damage(p, "the compressed text ends early");
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
					kernel_fields_packed_damage(
						p, "the compressed text ends early");
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
	f->lines.source = (struct lines_source){f->html ? read_page : kernel_fields_read_zlib, p};
	if (f->html)
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
	input_lines_free(&p->page);
	buffer_free(&p->line);
	free(p);
}

/* --- events with a name: "KEY=VALUE" texts become fields, and their kinds a type --- */

bool ftrace_number(struct text_span s, uint8_t *kind, uint64_t *number)
{
	bool minus = s.at < s.end && *s.at == '-';
	const char *p = s.at + minus;
	uint64_t n = 0;

	if (s.end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && !minus) {
		p += 2;
		*kind = FIELD_HEX;
		return digits_hex(&p, s.end, number) && p == s.end;
	}
	*kind = minus ? FIELD_INT : FIELD_UINT;
	if (p == s.end || s.end - p > 20)
		return false;
	for (; p < s.end; p++) {
		unsigned digit = (unsigned char)(*p - '0');

		if (digit > 9 || __builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, digit, &n))
			return false;
	}
	if (minus && n > 1ull << 63)
		return false;
	*number = minus ? -n : n;
	return true;
}

/* --- fields of a text --- */

/* Test for keys whose values are text, whatever their first value is. */
static bool is_text_key(struct text_span key)
{
	return span_ends(key, "comm") || span_ends(key, "name");
}

/* Test for numbers that trace-cmd -R prints in hexadecimal without 0x. */
static bool is_bare_hex(struct text_span key)
{
	return span_is(key, "calltime") || span_is(key, "rettime");
}

static void value_set(struct ftrace_value *v)
{
	struct text_span s = v->text;
	const char *p = s.at;

	if (is_text_key(v->key)) {
		v->kind = FIELD_STRING;
	} else if (is_bare_hex(v->key)) {
		v->kind =
			digits_hex(&p, s.end, &v->number) && p == s.end ? FIELD_HEX : FIELD_STRING;
	} else if (!ftrace_number(s, &v->kind, &v->number)) {
		/* the option fields prints both: "0x10 (16)" */
		p = span_begins(s, "0x") && span_ends(s, ")") ? span_find(s, " (") : NULL;
		if (p && ftrace_number((struct text_span){p + 2, s.end - 1}, &v->kind, &v->number))
			return;
		/* a unit in brackets may follow: "[ns]" */
		s.end = memchr(s.at, ' ', span_size(s));
		if (!s.end || v->text.end[-1] != ']' || s.end[1] != '[' ||
		    !ftrace_number(s, &v->kind, &v->number))
			v->kind = FIELD_STRING;
	}
}

void ftrace_value_add(struct ftrace *f, const char *key, struct text_span text, bool number)
{
	struct ftrace_value *v = &f->values[f->nvalues++];

	*v = (struct ftrace_value){.key = {key, key + strlen(key)}, .text = text};
	if (number)
		value_set(v);
	else
		v->kind = FIELD_STRING;
}

static bool kernel_fields_is_open(char c)
{
	return c == '[' || c == '(' || c == '{';
}

static bool is_key_end(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Find the next "KEY=" from at on. Returns its '='; NULL: there is none. */
static const char *next_key(const char *from, struct text_span text, const char **key)
{
	const char *equal = from;

	for (; (equal = memchr(equal, '=', (size_t)(text.end - equal))); equal++) {
		const char *p = equal;

		if (equal + 1 < text.end && (equal[1] == '=' || equal[1] == '>'))
			continue;
		while (p > from && is_key_end(p[-1]))
			p--;
		if (p == equal || isdigit((unsigned char)*p))
			continue;
		if (p > text.at && !kernel_fields_is_open(p[-1]) && p[-1] != ' ' && p[-1] != '\t' &&
		    p[-1] != ',')
			continue;
		*key = p;
		return equal;
	}
	return NULL;
}

/* Take off what separates a value from the next key. */
static struct text_span value_end(struct text_span v, char before)
{
	v = span_trim(v);
	if (span_ends(v, "==>"))
		v.end -= 3;
	v = span_trim(v);
	if (v.end > v.at && v.end[-1] == ',')
		v.end--;
	if (v.end > v.at &&
	    ((before == '[' && v.end[-1] == ']') || (before == '(' && v.end[-1] == ')')))
		v.end--;
	return span_trim(v);
}

const char *ftrace_string_end(struct text_span s, bool (*is_end)(struct text_span after))
{
	const char *p = s.at + 1, *escaped = NULL;

	for (; p < s.end && (p = memchr(p, '"', (size_t)(s.end - p))); p++) {
		const char *slash = p;

		while (slash[-1] == '\\')
			slash--;
		if ((p - slash) % 2 == 0) {
			if (is_end((struct text_span){p + 1, s.end}))
				return p + 1;
			if (escaped) /* another string begins */
				return escaped;
		} else if (!escaped && is_end((struct text_span){p + 1, s.end})) {
			escaped = p + 1;
		}
	}
	return escaped;
}

/* Test for the end of the text, or the next key, after a string and the brackets around it. */
static bool fields_is_string_end(struct text_span after)
{
	const char *p = after.at, *key;

	while (p < after.end && (*p == '}' || *p == ']' || *p == ')' || *p == ','))
		p++;
	key = span_skip_blanks(p, after.end);
	if (key == after.end)
		return true;
	if (key == p)
		return false;
	while (key < after.end && kernel_fields_is_open(*key))
		key++;
	for (p = key; p < after.end && is_key_end(*p); p++)
		;
	return p > key && p < after.end && *p == '=';
}

/* Skip a string, or the array of strings of a probe, FIELD={"A","B"}, at the begin of a value: its
 * blanks and keys are of the value. */
static const char *kernel_fields_skip_string(const char *p, const char *end)
{
	const char *quote = p + (p < end && *p == '{'), *after = NULL;

	if (quote < end && *quote == '"')
		after = ftrace_string_end((struct text_span){quote, end}, fields_is_string_end);
	return after ? after : p;
}

void ftrace_split(struct ftrace *f, struct text_span text)
{
	const char *key, *equal = next_key(text.at, text, &key), *next = NULL, *next_equal;
	const char *lead_end = equal ? key : text.end;
	struct text_span lead = {text.at, lead_end};

	if (equal && lead.end > lead.at && kernel_fields_is_open(lead.end[-1]))
		lead.end--;
	lead = span_trim(lead);
	if (lead.at < lead.end)
		ftrace_value_add(f, "message", lead, false);
	for (; equal; key = next, equal = next_equal) {
		struct ftrace_value *v = &f->values[f->nvalues++];
		const char *after = kernel_fields_skip_string(equal + 1, text.end);

		next_equal = f->nvalues < FTRACE_FIELDS_MOST ? next_key(after, text, &next) : NULL;
		*v = (struct ftrace_value){.key = {key, equal},
					   .text = {equal + 1, next_equal ? next : text.end}};
		/* the bracket is of the next key */
		if (next_equal && kernel_fields_is_open(next[-1]))
			v->text.end--;
		v->text = value_end(v->text, key > text.at ? key[-1] : ' ');
		value_set(v);
		/* the quotes are not of the string */
		if (after > equal + 1 && after == v->text.end && *v->text.at == '"') {
			v->kind = FIELD_STRING;
			v->text = (struct text_span){v->text.at + 1, after - 1};
		}
	}
}

/* --- types --- */

/* Get the kind of a field that has values of both kinds, which is a number if both are:
 *
 *     field  | UINT    HEX     INT     STRING
 *     -------+-------------------------------
 *     UINT   | UINT    HEX     INT     STRING
 *     HEX    | UINT *  HEX     INT     STRING    * HEX for 0, which some texts have without 0x
 *     INT    | INT +   INT +   INT     STRING    + -1, none, for a number above INT64_MAX
 *     STRING | STRING  STRING  STRING  STRING
 *
 * Values that are not 0 have the base of their name, so UINT and HEX meet only in zeros. */
static int common_kind(uint8_t kind, const struct ftrace_value *v)
{
	if (kind == FIELD_STRING || v->kind == FIELD_STRING)
		return FIELD_STRING;
	if (kind == FIELD_INT)
		return v->kind != FIELD_INT && v->number > INT64_MAX ? -1 : FIELD_INT;
	return kind == FIELD_HEX && v->kind == FIELD_UINT && !v->number ? FIELD_HEX : v->kind;
}

/* Give a number the base that numbers of that field have in the trace: 0x3 and 3 are of one kind.
 */
static void kernel_fields_take_base(struct ftrace *f, uint32_t name, struct ftrace_value *v)
{
	uint8_t *base = &f->declared.bases[name];

	if (v->kind == FIELD_STRING || v->count)
		return;
	/* zero has no 0x in some texts of the kernel */
	if (!*base && v->number)
		*base = (v->kind == FIELD_HEX ? FIELD_HEX : FIELD_UINT) + 1;
	if (*base && v->kind != FIELD_INT)
		v->kind = *base - 1;
}

/* Count the fields of a variant whose kind the present values change. -1: one has no kind in common
 * with its value. */
static int kind_changes(struct ftrace *f, const struct ftrace_type *t)
{
	int changes = 0;

	for (size_t i = 0; i < t->nfields; i++) {
		struct ftrace_value *v = &f->values[i];
		int kind = t->fields[i].kind;

		/* most values */
		if (kind == v->kind &&
		    (kind == FIELD_STRING || f->declared.bases[t->fields[i].name] == kind + 1))
			continue;
		kernel_fields_take_base(f, t->fields[i].name, v);
		kind = common_kind(t->fields[i].kind, v);
		if (kind < 0)
			return -1;
		changes += kind != t->fields[i].kind;
	}
	return changes;
}

static bool same_keys(const struct ftrace *f, const struct ftrace_type *t)
{
	if (t->nfields != f->nvalues)
		return false;
	for (size_t i = 0; i < f->nvalues; i++) {
		uint32_t name = t->fields[i].name;
		size_t n = intern_size(&f->names, name);

		if (n != span_size(f->values[i].key) || t->fields[i].count != f->values[i].count ||
		    memcmp(intern_data(&f->names, name), f->values[i].key.at, n))
			return false;
	}
	return true;
}

/* Add a variant with the keys of the present values, before all others of its name. */
static struct ftrace_type *new_variant(struct ftrace *f, uint32_t *first)
{
	struct ftrace_type *t;

	if (ARRAY_GROW(f->declared.types, f->declared.types_capacity, f->declared.ntypes))
		return NULL;
	t = &f->declared.types[f->declared.ntypes];
	*t = (struct ftrace_type){.next = *first, .nfields = (uint32_t)f->nvalues};
	t->fields = calloc(f->nvalues + 1, sizeof *t->fields);
	if (!t->fields)
		return NULL;
	f->declared.ntypes++;
	for (size_t i = 0; i < f->nvalues; i++) {
		struct text_span key = f->values[i].key;

		t->fields[i].name = intern(&f->names, key.at, span_size(key));
		if (t->fields[i].name == INTERN_NONE ||
		    ARRAY_REACH(f->declared.bases, f->declared.nbases, t->fields[i].name))
			return NULL;
		kernel_fields_take_base(f, t->fields[i].name, &f->values[i]);
		t->fields[i].kind = f->values[i].kind;
		t->fields[i].count = f->values[i].count;
	}
	*first = (uint32_t)f->declared.ntypes;
	return t;
}

/* Test for the number of a softirq, whose field is an enum in trace.dat too. */
static bool kernel_fields_is_softirq(struct text_span type, const char *key)
{
	return span_begins(type, "softirq_") && !strcmp(key, "vec");
}

/* Declare the type of a variant, as its fields are now. */
static int declare_variant(struct ftrace *f, struct ftrace_type *t, struct text_span name,
			   const struct type_entry *like)
{
	struct field_entry fields[FTRACE_FIELDS_MOST + 1];
	bool numbered = like && like->flags & TYPE_CALL_NUMBER;
	struct type_entry e = {.source = f->declared.source,
			       .name = writer_string(f->w, name.at, span_size(name)),
			       .group = like ? like->group : 0,
			       .kind = like ? like->kind : KIND_INSTANT,
			       .fields = fields};
	uint32_t texts = 0;

	if (!f->declared.kernel)
		f->declared.kernel = calloc(1, sizeof *f->declared.kernel);
	if (numbered) {
		fields[e.nfields++] = (struct field_entry){.name = writer_text(f->w, "call"),
							   .kind = FIELD_UINT,
							   .role = ROLE_CALL,
							   .where = WHERE_FIXED,
							   .size = 4};
		e.fixed_size = 4;
	}
	for (uint32_t i = 0; i < t->nfields; i++) {
		const char *key = intern_data(&f->names, t->fields[i].name);
		uint8_t kind = t->fields[i].kind, count = t->fields[i].count;
		bool text = kind == FIELD_STRING;
		bool softirq = kind == FIELD_UINT && kernel_fields_is_softirq(name, key);

		fields[e.nfields++] = (struct field_entry){
			.name = writer_text(f->w, key),
			.kind = softirq ? FIELD_ENUM : kind,
			.role = !strcmp(key, "message") ? ROLE_MESSAGE : ROLE_NONE,
			.where = text ? WHERE_STRING : WHERE_FIXED,
			.offset = text ? texts : e.fixed_size,
			.size = text ? 1 : 8,
			.count = count,
			.definition = text || count
					      ? 0
					      : kernel_names_of(f->declared.kernel, f->w, name.at,
								span_size(name), key, strlen(key))};
		texts += text;
		e.fixed_size += text ? 0 : 8 * (count ? count : 1);
	}
	e.flags = (uint16_t)((texts ? TYPE_TAIL : 0) | (like ? like->flags : 0));
	t->type = writer_type(f->w, &e);
	return t->type && !row_filter_announce(f->input->decoding->row_filter, t->type, 0) ? 0 : -1;
}

/* Find the variant of a name with the present keys and kinds, or one whose kinds change, or add it.
 * *full: the name has too many for a new one, which may have only a message. NULL: *full, or out of
 * memory. */
static struct ftrace_type *find_variant(struct ftrace *f, struct text_span name, bool *full,
					bool *changes)
{
	struct ftrace_type *other = NULL;
	uint32_t *first = id_cache_number(&f->declared.names, name.at, span_size(name));
	unsigned variants = 0;

	*full = *changes = false;
	if (!first)
		return NULL;
	for (uint32_t i = *first; i; i = f->declared.types[i - 1].next, variants++) {
		int changed = same_keys(f, &f->declared.types[i - 1])
				      ? kind_changes(f, &f->declared.types[i - 1])
				      : -1;

		if (!changed)
			return &f->declared.types[i - 1];
		if (changed > 0 && !other)
			other = &f->declared.types[i - 1];
	}
	*changes = true;
	*full = !other && variants >= FTRACE_VARIANTS_MOST &&
		(f->nvalues > 1 || (f->nvalues && !span_is(f->values[0].key, "message")));
	return other || *full ? other : new_variant(f, first);
}

/* As find_variant. If there are too many, the text of the line becomes the message. */
static struct ftrace_type *find_or_message(struct ftrace *f, struct text_span name, bool *changes)
{
	bool full;
	struct ftrace_type *t = find_variant(f, name, &full, changes);

	if (!full)
		return t;
	f->nvalues = 0;
	ftrace_value_add(f, "message", f->line.text, false);
	return find_variant(f, name, &full, changes);
}

static int put_numbers(struct buffer *to, const struct ftrace_value *v)
{
	for (unsigned i = 0; i < v->count; i++)
		if (buffer_u64(to, v->numbers[i]))
			return -1;
	return 0;
}

/* Make the row of an event of a variant. changes: the values change its kinds. */
static int kernel_fields_fill_row(struct ftrace *f, struct ftrace_type *t, struct text_span name,
				  const struct type_entry *like, bool changes)
{
	f->row.fresh = !t->type;
	f->row.odd = f->row.fresh ? t->next : changes;
	for (uint32_t i = 0; changes && i < t->nfields; i++)
		t->fields[i].kind =
			f->row.fresh ? f->values[i].kind
				     : (uint8_t)common_kind(t->fields[i].kind, &f->values[i]);
	if ((changes || f->row.fresh) && declare_variant(f, t, name, like))
		return -1;
	f->row.type = t->type;
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct ftrace_value *v = &f->values[i];

		if (t->fields[i].kind != FIELD_STRING) {
			if (v->count ? put_numbers(&f->row.fixed, v)
				     : buffer_u64(&f->row.fixed, v->number))
				return -1;
			continue;
		}
		f->row.has_tail = true;
		if (buffer_append(&f->row.tail, v->text.at, span_size(v->text)) ||
		    buffer_append(&f->row.tail, "", 1))
			return -1;
	}
	f->row.instant_text = t->nfields && t->fields[t->nfields - 1].kind == FIELD_STRING;
	return 0;
}

int ftrace_typed(struct ftrace *f, struct text_span name, const struct type_entry *like)
{
	bool changes;
	struct ftrace_type *t = find_or_message(f, name, &changes);

	return t ? kernel_fields_fill_row(f, t, name, like, changes) : -1;
}

int ftrace_keyed(struct ftrace *f, struct text_span name, const struct type_entry *like)
{
	bool changes;
	struct ftrace_type *t = find_or_message(f, name, &changes);
	const struct ftrace_value *last = &f->values[f->nvalues ? f->nvalues - 1 : 0];

	if (!t)
		return -1;
	if ((t->longer || !t->type || (changes && f->nvalues && last->kind == FIELD_STRING)) &&
	    ftrace_cut_event(f, t)) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	if (kernel_fields_fill_row(f, t, name, like, changes))
		return -1;
	ftrace_cut_count(f, t);
	return 0;
}
