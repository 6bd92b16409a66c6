/*
 * bpftrace.c - the decoder of what bpftrace and the tools of bcc print: maps, stacks, histograms
 *
 *     @[bash, 712]: 5                   a value of the map @ with the keys "bash" and 712
 *     @stacks[
 *         vfs_read+12
 *         ksys_read+103
 *     , bash]: 5                        a stack, the innermost frame first, and the key "bash"
 *     @bytes[bash]:
 *     [512, 1K)       9 |@@@@|          9 values from 512 to 1023
 *     {"type": "map", "data": {"@": {"bash,712": 5}}}         the same of bpftrace -f json, with
 * any white space and order
 *
 *         vfs_read                      a stack of profile, offcputime or stackcount of bcc
 *         ksys_read
 *         -                bash (712)
 *             5
 *
 *          usecs     : count     distribution                 of biolatency and others of bcc
 *         2 -> 3     : 13       |***     |
 *
 * Each value is a sample: its weight is the number, its stack that of the key, and the other keys
 * are fields. The text has no times: a sample has its number.
 *
 * Sources: the texts of bpftrace 0.17 and its manual, and the examples of bcc 0.26.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/frames.h"
#include "cmd/trdecode/input.h"
#include "common/util/text_span.h"
#include "common/util/u128.h"
#include "common/value/json.h"

enum {
	BPF_KEYS_MOST = 32,	  /* keys of a map; the last one has the text of all others */
	BPF_KEY_SIZE = 16 << 20,  /* bytes of the keys of a value, with their stacks */
	BPF_TITLE_SIZE = 1 << 10, /* bytes of the name of a map that are used */
	BPF_ADDRESS_DIGITS = 8,	  /* of an address before a name */
	BPF_KEY_LINES = 64,	  /* lines of a key that is a text */
};

/* What the value of a map is. */
enum bpf_kind {
	BPF_NUMBER,
	BPF_BUCKET, /* of a histogram: low and high, and how often */
	BPF_STATS,  /* count, average and total */
	BPF_TEXT,   /* no number: an instant */
	BPF_LOST,   /* no value: so many events were lost */
};

/* A key of a map: a part of the text of all keys. */
struct bpf_key {
	size_t begin, size;
	bool is_stack;	/* lines of frames, or empty */
	bool is_number; /* of 64 bits with a sign */
	int64_t number;
};

/* A value of a map. Its keys, and the name of the map, are those of struct bpftrace. */
struct bpf_value {
	enum bpf_kind kind;
	int128 weight; /* of 64 bits, with or without a sign */
	bool has_low, has_high;
	int64_t low, high; /* both are in the bucket */
	uint64_t count;
	int64_t average;
	struct text_span text; /* of a bucket, or of a value that is no number: of the line */
};

/* Where in the text the next line is. */
enum bpf_place {
	BPF_OUTSIDE,
	BPF_IN_KEY,	/* in the keys of a map of bpftrace, after a stack began */
	BPF_AFTER_KEY,	/* its value is on the next lines: buckets, or a stack */
	BPF_IN_STACK,	/* in a stack of bcc, whose frames are the key */
	BPF_IN_BUCKETS, /* of bcc */
	BPF_IN_JSON	/* in an object whose end has not been seen */
};

/* Where in an object of JSON the next token is. */
enum bpf_json {
	BPF_JSON_NONE,	  /* in none */
	BPF_JSON_OBJECT,  /* in its members */
	BPF_JSON_DATA,	  /* in its member data: the key is a map */
	BPF_JSON_MAP,	  /* in a map: the key has its keys */
	BPF_JSON_BUCKETS, /* in the array of a histogram */
};

struct bpftrace {
	struct input *input;
	struct writer *w;
	struct input_lines lines;
	enum bpf_place place;
	bool is_bpftrace; /* some line is of bpftrace: no indented line is of bcc */
	bool any_stack;	  /* of bcc */
	bool is_known;	  /* some line is of bpftrace or bcc */
	struct text_span line;
	bool again;	 /* take the line: it is new, or ended what was before it */
	bool in_text;	 /* the last line of the keys ended in a text */
	bool has_frames; /* the keys have a stack */

	struct {
		struct json_reader reader;
		enum bpf_json place;
		bool in_map; /* the buckets are of a key */
		char type[16];
		struct buffer text; /* of the object */
		uint64_t begin;	    /* its offset */
		int64_t depth;	    /* brackets that are open */
		bool is_named;	    /* it has a member */
	} json;
	struct buffer title; /* the name of the map, or what bcc measures */
	struct buffer unit;  /* of the histogram of bcc: "usecs" */
	struct buffer keys;  /* their text */
	struct bpf_key key[BPF_KEYS_MOST];
	unsigned nkeys;
	struct buffer key_name; /* of bcc, "disk"; "": key1, key2, ... */
	struct buffer text;	/* of a value: several lines, or made of JSON */
	struct buffer comm;	/* of bcc */
	int32_t pid, tid;	/* of bcc: -1 none */
	bool in_us;		/* of bcc: weights are microseconds */
	uint64_t pending;	/* lines of the stack that is read */

	struct bpf_value value; /* the next sample */
	uint64_t number;	/* of the next sample */
	uint64_t skipped;	/* lines of other output */
	uint32_t source, clock;
	struct id_cache lanes, types;
	struct frame_locations locations;
	struct buffer frames, outermost, fixed, tail, signature;
};

static struct text_span bpf_span(const struct buffer *b)
{
	const char *at = b->data ? (const char *)b->data : "";

	return (struct text_span){at, at + b->size};
}

static int bpf_set(struct buffer *b, struct text_span s)
{
	b->size = 0;
	return buffer_append(b, s.at, span_size(s));
}

/* --- keys --- */

static void bpf_no_keys(struct bpftrace *p)
{
	p->keys.size = p->key_name.size = p->comm.size = 0;
	p->nkeys = 0;
	p->pid = p->tid = -1;
}

static void bpf_add_key(struct bpftrace *p, size_t begin, size_t end, bool is_stack)
{
	struct bpf_key *k = &p->key[p->nkeys++];
	struct text_span s = {(const char *)p->keys.data + begin, (const char *)p->keys.data + end};
	bool zeros = (span_begins(s, "0") && span_size(s) > 1) || span_begins(s, "-0");
	int128 number = 0;

	*k = (struct bpf_key){.begin = begin, .size = end - begin};
	k->is_stack = is_stack || begin == end;
	k->is_number =
		!k->is_stack && !zeros && span_integer(s, &number) && number == (int64_t)number;
	k->number = (int64_t)number;
}

/* Find the end of a stack, which begins with a newline: after its last line. */
static size_t bpf_stack_end(struct text_span s, size_t at)
{
	const char *p = s.at + at;

	while (p + 1 < s.end && (p[1] == ' ' || p[1] == '\t')) {
		p = memchr(p + 1, '\n', (size_t)(s.end - p - 1));
		if (!p)
			return span_size(s);
	}
	return (size_t)(p - s.at) + 1;
}

/* Test whether the brackets of a text are in pairs: then "f(int, char)" is one key. */
static bool bpf_has_pairs(struct text_span s)
{
	size_t depth = 0;

	for (; s.at < s.end; s.at++)
		if (strchr("([{<", *s.at) && *s.at)
			depth++;
		else if (strchr(")]}>", *s.at) && *s.at && !depth--)
			return false;
	return !depth;
}

/* Find the end of a key that is no stack. */
static size_t bpf_key_end(struct text_span s, size_t at, struct text_span separator, bool pairs)
{
	size_t depth = 0, n = span_size(s);

	for (; at < n; at++) {
		char c = s.at[at];

		depth += pairs && c && strchr("([{<", c);
		depth -= pairs && c && strchr(")]}>", c);
		if (!depth && n - at >= span_size(separator) &&
		    !memcmp(s.at + at, separator.at, span_size(separator)))
			break;
	}
	return at;
}

/* Divide the text of all keys. */
static void bpf_split_keys(struct bpftrace *p, struct text_span separator)
{
	struct text_span s = bpf_span(&p->keys);
	size_t at = 0, n = p->keys.size, end;
	bool pairs = bpf_has_pairs(s);

	for (p->nkeys = 0; n && at <= n; at = end + span_size(separator)) {
		bool is_stack = at < n && s.at[at] == '\n';

		end = p->nkeys == BPF_KEYS_MOST - 1 ? n
		      : is_stack		    ? bpf_stack_end(s, at)
						    : bpf_key_end(s, at, separator, pairs);
		bpf_add_key(p, at, end, is_stack);
	}
}

/* --- the lines of bpftrace --- */

/* Read what follows the keys of a map. false: neither a number nor "count 3, average 4, total 12".
 */
static bool bpf_read_number(struct text_span s, struct bpf_value *v)
{
	struct text_span count = s, average, total;
	int128 numbers[2];

	*v = (struct bpf_value){.kind = BPF_NUMBER};
	if (span_integer(s, &v->weight))
		return true;
	if (!span_skip(&count, "count "))
		return false;
	average.at = span_find(count, ", average ");
	if (!average.at)
		return false;
	average.end = s.end;
	count.end = average.at;
	span_skip(&average, ", average ");
	total.at = span_find(average, ", total ");
	if (!total.at)
		return false;
	total.end = s.end;
	average.end = total.at;
	span_skip(&total, ", total ");
	v->kind = BPF_STATS;
	if (!span_integer(count, &numbers[0]) || !span_integer(average, &numbers[1]) ||
	    !span_integer(total, &v->weight))
		return false;
	v->count = saturated_u64(numbers[0]);
	v->average = saturated_i64(numbers[1]);
	return true;
}

/* Test for a whole number, and report it: it has more than 64 bits. */
static void bpf_report_number(struct bpftrace *p, struct text_span s)
{
	const char *digit = s.at + span_begins(s, "-");

	while (digit < s.end && isdigit((unsigned char)*digit))
		digit++;
	if (digit == s.end && isdigit((unsigned char)s.end[-1]))
		input_damage(p->input, p->input->name, p->lines.offset,
			     "a number of more than 64 bits, kept as a text");
}

/* Find the end of the keys of a map: the last "]:" before a number, or the first one of all. NULL:
 * there is none. */
static const char *bpf_keys_end(struct text_span s)
{
	const char *first = NULL, *last = NULL, *at = s.at;
	struct bpf_value v;

	while ((at = span_find((struct text_span){at, s.end}, "]:"))) {
		struct text_span rest = span_trim((struct text_span){at + 2, s.end});

		first = first ? first : at;
		if (rest.at == rest.end || bpf_read_number(rest, &v))
			last = at;
		at += 2;
	}
	return last ? last : first;
}

/* Take the value of the map whose name and keys were read. Returns 1: it is on this line. */
static int bpf_take_value(struct bpftrace *p, struct text_span s)
{
	s = span_trim(s);
	p->place = BPF_AFTER_KEY;
	p->text.size = 0;
	if (s.at == s.end)
		return 0;
	p->place = BPF_OUTSIDE;
	if (!bpf_read_number(s, &p->value)) {
		bpf_report_number(p, s);
		p->value = (struct bpf_value){.kind = BPF_TEXT, .text = s};
	}
	return 1;
}

/* Take a part of the keys of a map from a line, and the value if the keys end there. Returns as
 * bpf_take_value; -1: out of memory. */
static int bpf_take_keys(struct bpftrace *p, struct text_span s)
{
	const char *end = bpf_keys_end(s);

	if (buffer_append(&p->keys, s.at, (size_t)((end ? end : s.end) - s.at)))
		return -1;
	if (end) {
		p->pending = 0;
		bpf_split_keys(p, SPAN(", "));
		return bpf_take_value(p, (struct text_span){end + 2, s.end});
	}
	p->place = BPF_IN_KEY;
	p->in_text = s.at < s.end && !span_ends(s, ", ");
	p->pending += p->in_text;
	return buffer_append(&p->keys, "\n", 1);
}

/* Take the name of a map: "@name". Returns its end; NULL: it is none. */
static const char *bpf_map_name(struct text_span s)
{
	if (!span_begins(s, "@"))
		return NULL;
	for (s.at++; s.at < s.end && (isalnum((unsigned char)*s.at) || *s.at == '_');)
		s.at++;
	return s.at;
}

/* Take a line that begins with the name of a map. Returns 1: a value; 0; -1: out of memory. */
static int bpf_take_map(struct bpftrace *p, struct text_span line)
{
	struct text_span name = {line.at, bpf_map_name(line)}, rest = {name.end, line.end};
	bool has_keys = span_skip(&rest, "[");

	if (!has_keys && !span_skip(&rest, ":")) {
		p->skipped++;
		return 0;
	}
	p->is_bpftrace |=
		!has_keys || bpf_keys_end(rest) || rest.at == rest.end || span_ends(rest, ", ");
	p->has_frames = false;
	p->pending = p->unit.size = 0;
	bpf_no_keys(p);
	name.end = span_size(name) > BPF_TITLE_SIZE ? name.at + BPF_TITLE_SIZE : name.end;
	if (bpf_set(&p->title, name))
		return -1;
	return has_keys ? bpf_take_keys(p, rest) : bpf_take_value(p, rest);
}

/* Take a bound of a bucket: "-5", "512", "1K". */
static bool bpf_take_bound(struct text_span s, int64_t *bound)
{
	static const char units[] = "KMGTPE";
	const char *unit = s.at < s.end ? memchr(units, s.end[-1], sizeof units - 1) : NULL;
	int128 number;

	s.end -= unit != NULL;
	if (!span_integer(s, &number) || number != (int64_t)number)
		return false;
	*bound = saturated_i64(unit ? number * ((int128)1 << (10 * (unit - units + 1))) : number);
	return true;
}

/* Read the label of a bucket: "[1]", "[512, 1K)", "(..., 0)", "[1000, ...)". */
static bool bpf_read_label(struct text_span s, struct bpf_value *v)
{
	struct text_span low = {s.at + 1, s.end - 1}, high = low;
	const char *comma;

	if (span_size(s) < 3 || (*s.at != '[' && *s.at != '('))
		return false;
	comma = span_find(low, ", ");
	if (!comma) {
		v->has_low = v->has_high = bpf_take_bound(low, &v->low);
		v->high = v->low;
		return v->has_low && s.end[-1] == ']';
	}
	low.end = comma;
	high.at = comma + 2;
	v->has_low = !span_is(low, "...");
	v->has_high = !span_is(high, "...");
	if ((v->has_low && !bpf_take_bound(low, &v->low)) ||
	    (v->has_high && (!bpf_take_bound(high, &v->high) || v->high == INT64_MIN)))
		return false;
	v->high -= v->has_high;
	return true;
}

/* Read a bucket: "[512, 1K)       9 |@@@@|". */
static bool bpf_read_bucket(struct text_span line, struct bpf_value *v)
{
	struct text_span label = line, count = line;

	*v = (struct bpf_value){.kind = BPF_BUCKET};
	if (!span_ends(line, "|"))
		return false;
	count.end = memchr(line.at, '|', span_size(line));
	count = span_trim(count);
	for (count.at = count.end; count.at > line.at && isdigit((unsigned char)count.at[-1]);)
		count.at--;
	label.end = count.at;
	label = span_trim(label);
	v->text = label;
	return span_integer(count, &v->weight) && bpf_read_label(label, v);
}

/* Take a line after the keys of a map that had no value on their line. *again: it is no part of
 * the value. */
static int bpf_take_after(struct bpftrace *p, struct text_span line, bool *again)
{
	struct text_span s = span_trim(line);

	if (bpf_read_bucket(line, &p->value))
		return p->value.weight != 0;
	if ((span_begins(line, "[") || span_begins(line, "(")) && span_ends(line, "|")) {
		input_damage(p->input, p->input->name, p->lines.offset,
			     "a line of a histogram of bpftrace without a range and a count");
		return 0;
	}
	if (s.at < s.end && s.at > line.at && p->text.size < BPF_KEY_SIZE) {
		/* a stack as a value */
		return (p->text.size && buffer_append(&p->text, ";", 1)) ||
				       buffer_append(&p->text, s.at, span_size(s))
			       ? -1
			       : 0;
	}
	p->place = BPF_OUTSIDE;
	*again = s.at < s.end;
	if (!p->text.size)
		return 0;
	p->value = (struct bpf_value){.kind = BPF_TEXT, .text = bpf_span(&p->text)};
	return 1;
}

/* The keys have no end. If they are but a text, the program has printed it. */
static void bpf_end_keys(struct bpftrace *p)
{
	p->place = BPF_OUTSIDE;
	if (p->in_text && !p->has_frames)
		p->skipped += p->pending;
	else
		input_damage(p->input, p->input->name, p->lines.offset,
			     "the keys of a map of bpftrace have no end");
	p->pending = 0;
}

/* Take a line after a stack of the keys, or a line of a text of the keys, began. */
static int bpf_take_in_key(struct bpftrace *p, struct text_span line, bool *again)
{
	bool is_frame = !p->in_text && (span_begins(line, " ") || span_begins(line, "\t"));
	bool is_end = p->in_text
			      ? line.at == line.end || span_begins(line, "@") ||
					p->pending >= BPF_KEY_LINES
			      : !is_frame && !span_begins(line, "]:") && !span_begins(line, ", ");

	if (p->keys.size > BPF_KEY_SIZE || is_end) {
		bpf_end_keys(p);
		*again = true;
		return 0;
	}
	if (!is_frame)
		return bpf_take_keys(p, line);
	p->has_frames = true;
	return buffer_append(&p->keys, line.at, span_size(line)) || buffer_append(&p->keys, "\n", 1)
		       ? -1
		       : 0;
}

/* --- the lines of bcc --- */

/* Take the quotes off a name that Python printed as bytes: "b'vfs_read'". */
static struct text_span bpf_unquote(struct text_span s)
{
	if (span_size(s) > 2 && *s.at == 'b' && (s.at[1] == '\'' || s.at[1] == '"') &&
	    s.end[-1] == s.at[1])
		return (struct text_span){s.at + 2, s.end - 1};
	return s;
}

/* Take "bash (712)" or "bash [712]" apart. */
static bool bpf_read_process(struct text_span s, char open, char close, struct text_span *comm,
			     int32_t *pid)
{
	struct text_span number = s;
	int128 n;

	number.at = memrchr(s.at, open, span_size(s));
	if (!number.at || s.end[-1] != close)
		return false;
	comm->at = s.at;
	comm->end = number.at++;
	number.end--;
	if (!span_integer(number, &n) || n < 0 || n > INT32_MAX)
		return false;
	*comm = bpf_unquote(span_trim(*comm));
	*pid = (int32_t)n;
	return true;
}

/* The first line of a tool, "Tracing 2 functions for \"vfs_*\"... Hit Ctrl-C to end.": what it
 * measures is the name of the samples. false: it is none. */
static bool bpf_take_title(struct bpftrace *p, struct text_span line, int *bad)
{
	struct text_span title = line;

	if ((!span_begins(line, "Tracing ") && !span_begins(line, "Sampling ")) ||
	    !span_find(line, "Hit Ctrl-C to end"))
		return false;
	p->in_us = span_begins(line, "Tracing off-CPU time (us)");
	title.at = memchr(line.at, '"', span_size(line));
	title.end = title.at ? memrchr(title.at + 1, '"', (size_t)(line.end - title.at - 1)) : NULL;
	if (p->in_us)
		title = SPAN("off-CPU");
	else if (span_begins(line, "Sampling "))
		title = SPAN("profile");
	else if (title.end)
		title = bpf_unquote((struct text_span){title.at + 1, title.end});
	else
		title = SPAN("samples");
	if (span_size(title) > BPF_TITLE_SIZE)
		title.end = title.at + BPF_TITLE_SIZE;
	*bad |= bpf_set(&p->title, title);
	return true;
}

/* End a stack: its lines were those of another output, unless it had a number. */
static void bpf_end_stack(struct bpftrace *p)
{
	p->skipped += p->pending;
	p->pending = 0;
	p->place = BPF_OUTSIDE;
}

/* Take a line of a stack of bcc: a frame, the process, or the number. */
static int bpf_take_in_stack(struct bpftrace *p, struct text_span line, bool *again)
{
	struct text_span s = span_trim(line), comm;

	if (s.at == s.end || s.at == line.at || p->keys.size > BPF_KEY_SIZE) {
		*again = s.at < s.end;
		bpf_end_stack(p);
		return 0;
	}
	p->pending++;
	if (span_is(s, "--"))
		return 0;
	if ((span_begins(s, "- ") &&
	     bpf_read_process((struct text_span){s.at + 2, s.end}, '(', ')', &comm, &p->pid)) ||
	    bpf_read_process(s, '[', ']', &comm, &p->pid))
		return bpf_set(&p->comm, comm);
	if (!span_integer(s, &p->value.weight))
		return buffer_append(&p->keys, line.at, span_size(line)) ||
				       buffer_append(&p->keys, "\n", 1)
			       ? -1
			       : 0;
	if (p->keys.size < 2 && p->pid < 0) {
		bpf_end_stack(p);
		return 0;
	}
	p->value = (struct bpf_value){.kind = BPF_NUMBER, .weight = p->value.weight};
	bpf_add_key(p, 0, p->keys.size, true);
	p->pending = 0;
	p->any_stack = true;
	bpf_end_stack(p);
	return 1;
}

/* Begin a stack of bcc with its first line. */
static int bpf_begin_stack(struct bpftrace *p, struct text_span line, bool *again)
{
	bpf_no_keys(p);
	p->place = BPF_IN_STACK;
	return buffer_append(&p->keys, "\n", 1) ? -1 : bpf_take_in_stack(p, line, again);
}

/* Take a line "disk = 'xvdb'" before a histogram: its key. */
static bool bpf_take_section(struct bpftrace *p, struct text_span line, int *bad)
{
	const char *equals = span_find(line, " = ");
	struct text_span name = {line.at, equals}, value = {equals ? equals + 3 : NULL, line.end};
	struct text_span number;
	int32_t *id;
	int128 n;

	if (!equals || !isalpha((unsigned char)*line.at))
		return false;
	for (name.at = name.end; name.at > line.at && isalnum((unsigned char)name.at[-1]);)
		name.at--;
	value = span_trim(value);
	value.at += span_begins(value, "b'");
	if (span_size(value) > 1 && *value.at == '\'' && value.end[-1] == '\'') {
		value.at++;
		value.end--;
	}
	bpf_no_keys(p);
	*bad |= bpf_set(&p->keys, value);
	number = span_take_word(&value);
	id = span_is(name, "pid") ? &p->pid : span_is(name, "tid") ? &p->tid : NULL;
	if (id && span_integer(number, &n) && n >= 0 && n <= INT32_MAX) {
		*id = (int32_t)n;
		*bad |= bpf_set(&p->comm, span_trim(value));
	} else if (p->keys.size && !*bad) {
		bpf_add_key(p, 0, p->keys.size, false);
		*bad |= bpf_set(&p->key_name, name);
	}
	return true;
}

/* Take the line "usecs    : count     distribution" before the buckets of a histogram. */
static bool bpf_take_header(struct bpftrace *p, struct text_span line, int *bad)
{
	struct text_span unit = span_trim(line), rest = unit;

	rest.at = span_find(unit, " : count ");
	if (!rest.at || !span_ends(rest, " distribution"))
		return false;
	unit.end = rest.at;
	unit = span_trim(unit);
	if (unit.at == unit.end)
		unit = SPAN("value");
	if (span_size(unit) > BPF_TITLE_SIZE)
		unit.end = unit.at + BPF_TITLE_SIZE;
	*bad |= bpf_set(&p->title, SPAN("values")) || bpf_set(&p->unit, unit);
	p->place = BPF_IN_BUCKETS;
	return true;
}

/* Take a bucket of bcc: "2 -> 3     : 13       |***  |", or of one number "2     : 13  |***  |". */
static int bpf_take_in_buckets(struct bpftrace *p, struct text_span line, bool *again)
{
	struct text_span label = span_trim(line), count = label, low, high;
	int128 from, to;

	label.end = memchr(label.at, ':', span_size(label));
	if (!label.end || !span_ends(count, "|")) {
		p->place = BPF_OUTSIDE;
		*again = true;
		bpf_no_keys(p);
		return 0;
	}
	count.at = label.end + 1;
	count = span_take_word(&count);
	label = span_trim(label);
	low = high = label;
	if (span_find(label, " -> ")) {
		low = span_take_word(&high);
		high = span_trim((struct text_span){span_find(high, "-> ") + 3, high.end});
	}
	p->value = (struct bpf_value){.kind = BPF_BUCKET, .has_low = true, .has_high = true};
	if (!span_integer(low, &from) || !span_integer(high, &to) ||
	    !span_integer(count, &p->value.weight)) {
		input_damage(p->input, p->input->name, p->lines.offset,
			     "a line of a histogram of bcc without a range and a count");
		return 0;
	}
	p->value.low = saturated_i64(from);
	p->value.high = saturated_i64(to);
	/* "2 -> 3": the blanks between are those of the column */
	p->text.size = 0;
	if (buffer_append(&p->text, low.at, span_size(low)) ||
	    (high.at != low.at && (buffer_append(&p->text, " -> ", 4) ||
				   buffer_append(&p->text, high.at, span_size(high)))))
		return -1;
	p->value.text = bpf_span(&p->text);
	return p->value.weight != 0;
}

/* --- objects of JSON --- */

/* Report an object of JSON that cannot be read, and leave the rest of it out. */
static int bpf_json_bad(struct bpftrace *p, const char *what)
{
	p->json.place = BPF_JSON_NONE;
	input_damage(p->input, p->input->name, p->json.begin + json_offset(&p->json.reader),
		     "%s: the rest of the object is left out", what);
	return 0;
}

static struct text_span bpf_json_text(const struct bpftrace *p)
{
	return bpf_span(&p->json.reader.text);
}

/* Put a bound of a bucket as bpftrace prints it in text. */
static int bpf_put_bound(struct buffer *b, int64_t bound)
{
	static const char units[] = "KMGTPE";
	int shift = 0;

	while (bound && shift < 60 && !(bound & 1023)) {
		bound /= 1024;
		shift += 10;
	}
	return buffer_signed(b, bound) || (shift && buffer_append(b, &units[shift / 10 - 1], 1));
}

/* Put the label of a bucket as bpftrace prints it in text: "[512, 1K)". */
static int bpf_put_label(struct bpftrace *p)
{
	struct bpf_value *v = &p->value;
	struct buffer *b = &p->text;
	int bad;

	b->size = 0;
	if (v->has_low && v->has_high && v->low == v->high)
		bad = buffer_puts(b, "[") || bpf_put_bound(b, v->low) || buffer_puts(b, "]");
	else
		bad = buffer_puts(b, v->has_low ? "[" : "(") ||
		      (v->has_low ? bpf_put_bound(b, v->low) : buffer_puts(b, "...")) ||
		      buffer_puts(b, ", ") ||
		      (v->has_high ? bpf_put_bound(b, v->high == INT64_MAX ? v->high : v->high + 1)
				   : buffer_puts(b, "...")) ||
		      buffer_puts(b, ")");
	v->text = bpf_span(b);
	return bad ? -1 : 0;
}

/* Read the numbers of an object: of a bucket, min, max and count; of stats, count, average and
 * total. value: members to read, whose first key was read. Returns 1; 0: no such object. */
static int bpf_json_numbers(struct bpftrace *p, enum bpf_kind kind, bool keyed)
{
	struct json_reader *r = &p->json.reader;
	enum json_token token = keyed ? JSON_KEY : json_next(r);
	struct bpf_value v = {.kind = kind};
	char name[16];
	int128 n;

	for (; token == JSON_KEY; token = json_next(r)) {
		snprintf(name, sizeof name, "%.*s", (int)r->text.size, (char *)r->text.data);
		token = json_next(r);
		if (token != JSON_NUMBER || !span_integer(bpf_json_text(p), &n)) {
			if (!json_skip(r, token))
				return bpf_json_bad(p, r->error.what);
			continue;
		}
		if (!strcmp(name, kind == BPF_STATS ? "total" : "count"))
			v.weight = n;
		else if (!strcmp(name, "count"))
			v.count = saturated_u64(n);
		else if (!strcmp(name, "average"))
			v.average = saturated_i64(n);
		else if (!strcmp(name, "min"))
			v.has_low = (v.low = saturated_i64(n), true);
		else if (!strcmp(name, "max"))
			v.has_high = (v.high = saturated_i64(n), true);
	}
	if (token == JSON_BAD)
		return bpf_json_bad(p, r->error.what);
	p->value = v;
	if (kind == BPF_BUCKET && bpf_put_label(p))
		return -1;
	return kind != BPF_BUCKET || v.weight;
}

/* Take the value of a map, or of a key of a map. */
static int bpf_json_value(struct bpftrace *p, enum json_token token, bool in_map)
{
	struct json_reader *r = &p->json.reader;
	int got;

	p->text.size = 0;
	p->json.in_map = in_map;
	if (token == JSON_ARRAY && strstr(p->json.type, "hist")) {
		p->json.place = BPF_JSON_BUCKETS;
		return 0;
	}
	if (token == JSON_OBJECT && in_map && !strcmp(p->json.type, "stats"))
		return bpf_json_numbers(p, BPF_STATS, false);
	p->value = (struct bpf_value){.kind = BPF_NUMBER};
	if (token == JSON_NUMBER && span_integer(bpf_json_text(p), &p->value.weight))
		return 1;
	if (token == JSON_NUMBER)
		bpf_report_number(p, bpf_json_text(p));
	if (token == JSON_STRING || token == JSON_NUMBER)
		got = bpf_set(&p->text, bpf_json_text(p));
	else
		got = json_copy(r, token, &p->text, BPF_KEY_SIZE);
	if (got < 0)
		return r->error.what[0] ? bpf_json_bad(p, r->error.what) : -1;
	p->value = (struct bpf_value){.kind = BPF_TEXT, .text = bpf_span(&p->text)};
	return 1;
}

/* Find the type of the object, whose members may have any order. */
static void bpf_json_find_type(struct bpftrace *p)
{
	struct json_reader *r = &p->json.reader;
	bool is_type = false;
	enum json_token token;

	p->json.type[0] = '\0';
	json_next(r);
	while (!is_type && json_next(r) == JSON_KEY) {
		is_type = json_is(r, "type");
		token = json_next(r);
		is_type &= token == JSON_STRING;
		if (!is_type && !json_skip(r, token))
			return;
	}
	if (!is_type)
		return;
	snprintf(p->json.type, sizeof p->json.type, "%.*s", (int)r->text.size,
		 (char *)r->text.data);
	p->skipped += json_is(r, "printf") || json_is(r, "time") || json_is(r, "cat") ||
		      json_is(r, "join") || json_is(r, "value");
}

/* Begin to read the object whose lines were taken. */
static void bpf_json_begin(struct bpftrace *p)
{
	struct json_reader *r = &p->json.reader;
	const char *text = (const char *)p->json.text.data;

	json_open_text(r, text, p->json.text.size);
	r->name = p->input->name;
	bpf_json_find_type(p);
	json_open_text(r, text, p->json.text.size);
	r->name = p->input->name;
	json_next(r);
	p->json.place = BPF_JSON_OBJECT;
	p->place = BPF_OUTSIDE;
	p->is_bpftrace = true;
}

/* Take a token of JSON with the white space before it. */
static bool bpf_skip_token(struct text_span *s, const char *token)
{
	while (s->at < s->end && isspace((unsigned char)*s->at))
		s->at++;
	return span_skip(s, token);
}

/* Test for the first member of an object of bpftrace, or nothing at all. */
static bool bpf_begins_member(struct text_span s)
{
	if (bpf_skip_token(&s, "\"type\"") || bpf_skip_token(&s, "\"data\""))
		return bpf_skip_token(&s, ":");
	return s.at == s.end;
}

/* Test for the first line of an object of bpftrace. */
static bool bpf_begins_json(struct text_span line)
{
	return span_skip(&line, "{") && bpf_begins_member(line);
}

/* Count the brackets that a line of JSON leaves open. */
static int64_t bpf_json_depth(struct text_span line)
{
	bool in_string = false;
	int64_t depth = 0;

	for (const char *p = line.at; p < line.end; p++) {
		if (*p == '"')
			in_string = !in_string;
		else if (in_string)
			p += *p == '\\';
		else if (*p == '{' || *p == '[')
			depth++;
		else if (*p == '}' || *p == ']')
			depth--;
	}
	return depth;
}

/* Test whether a line, which may have no newline, is the last one of an object. */
static bool bpf_ends_json(const struct bpftrace *p, struct text_span line)
{
	if (p->place == BPF_IN_JSON)
		return p->json.depth + bpf_json_depth(line) == 0;
	return bpf_begins_json(line) && bpf_json_depth(line) == 0;
}

/* Take a line of an object of JSON. */
static int bpf_take_in_json(struct bpftrace *p, struct text_span line, bool *again)
{
	static const char inside[] = " \t{}[]\",:-0123456789tfn";
	struct buffer *b = &p->json.text;
	bool is_first = !b->size;
	bool goes_on = line.at == line.end || memchr(inside, *line.at, sizeof inside - 1);

	goes_on &= p->json.is_named ? span_size(line) < 2 || !bpf_begins_json(line)
				    : is_first || bpf_begins_member(line);
	if (!is_first && (!goes_on || b->size > BPF_KEY_SIZE)) {
		*again = true;
		p->place = BPF_OUTSIDE;
		if (p->json.is_named)
			bpf_json_begin(p);
		else
			p->skipped++;
		return 0;
	}
	p->json.depth += bpf_json_depth(line);
	p->json.is_named |= memchr(line.at, '"', span_size(line)) != NULL;
	if (buffer_append(b, line.at, span_size(line)) || buffer_append(b, "\n", 1))
		return -1;
	if (p->json.depth <= 0)
		bpf_json_begin(p);
	return 0;
}

/* Take a member of the object. */
static int bpf_json_member(struct bpftrace *p)
{
	struct json_reader *r = &p->json.reader;
	bool is_data = json_is(r, "data");
	enum json_token token = json_next(r);

	if (is_data && token == JSON_OBJECT) {
		p->json.place = BPF_JSON_DATA;
		return 0;
	}
	return json_skip(r, token) ? 0 : bpf_json_bad(p, r->error.what);
}

/* Take a member of data: a map. */
static int bpf_json_map(struct bpftrace *p)
{
	struct json_reader *r = &p->json.reader;
	struct text_span name = bpf_json_text(p);
	bool is_map = bpf_map_name(name) != NULL, is_lost = json_is(r, "events");
	enum json_token token;
	int128 n;

	name.end = span_size(name) > BPF_TITLE_SIZE ? name.at + BPF_TITLE_SIZE : name.end;
	bpf_no_keys(p);
	if (bpf_set(&p->title, name))
		return -1;
	token = json_next(r);
	if (is_map && token == JSON_OBJECT) {
		p->json.place = BPF_JSON_MAP;
		return 0;
	}
	if (is_map && token != JSON_BAD)
		return bpf_json_value(p, token, false);
	if (is_lost && !strcmp(p->json.type, "lost_events") && token == JSON_NUMBER &&
	    span_integer(bpf_json_text(p), &n)) {
		p->value = (struct bpf_value){.kind = BPF_LOST, .count = saturated_u64(n)};
		return 1;
	}
	return json_skip(r, token) ? 0 : bpf_json_bad(p, r->error.what);
}

/* Take a key of a map and its value. */
static int bpf_json_key(struct bpftrace *p)
{
	struct json_reader *r = &p->json.reader;

	/* stats() of a map without keys */
	if (!p->nkeys && !strcmp(p->json.type, "stats") && json_is(r, "count")) {
		p->json.place = BPF_JSON_DATA;
		return bpf_json_numbers(p, BPF_STATS, true);
	}
	bpf_no_keys(p);
	if (bpf_set(&p->keys, bpf_json_text(p)))
		return -1;
	bpf_split_keys(p, SPAN(","));
	return bpf_json_value(p, json_next(r), true);
}

/* Take the next token of an object of JSON. Returns 1: a value; 0; -1: out of memory. */
static int bpf_json_step(struct bpftrace *p)
{
	struct json_reader *r = &p->json.reader;
	enum json_token token = json_next(r);

	switch (token) {
	case JSON_BAD: return r->failed ? -1 : bpf_json_bad(p, r->error.what);
	case JSON_END: p->json.place = BPF_JSON_NONE; return 0;
	case JSON_KEY:
		return p->json.place == BPF_JSON_OBJECT ? bpf_json_member(p)
		       : p->json.place == BPF_JSON_DATA ? bpf_json_map(p)
							: bpf_json_key(p);
	case JSON_OBJECT:
		return p->json.place == BPF_JSON_BUCKETS ? bpf_json_numbers(p, BPF_BUCKET, false)
							 : 0;
	case JSON_OBJECT_END:
		p->json.place = p->json.place == BPF_JSON_MAP ? BPF_JSON_DATA : BPF_JSON_OBJECT;
		return 0;
	case JSON_ARRAY_END:
		p->json.place = p->json.in_map ? BPF_JSON_MAP : BPF_JSON_DATA;
		return 0;
	default: return json_skip(r, token) ? 0 : bpf_json_bad(p, r->error.what);
	}
}

/* --- lines of any form --- */

/* Take a line outside of maps, stacks and histograms. */
static int bpf_take_outside(struct bpftrace *p, struct text_span line, bool *again)
{
	int bad = 0;

	if (span_begins(line, "@"))
		return bpf_take_map(p, line);
	if (bpf_begins_json(line)) {
		p->json.text.size = 0;
		p->json.begin = p->lines.offset;
		p->json.depth = 0;
		p->json.is_named = false;
		p->place = BPF_IN_JSON;
		return bpf_take_in_json(p, line, again);
	}
	if (bpf_take_title(p, line, &bad) || bpf_take_header(p, line, &bad)) {
		p->is_known = true;
		return bad ? -1 : 0;
	}
	if (bpf_take_section(p, line, &bad))
		return bad ? -1 : 0;
	bpf_no_keys(p);
	if (!p->is_bpftrace && (span_begins(line, "  ") || span_begins(line, "\t")))
		return bpf_begin_stack(p, line, again);
	if (span_begins(line, "Lost ") && span_ends(line, " events")) {
		struct text_span n = {line.at + 5, line.end - 7};
		int128 lost;

		if (span_integer(n, &lost)) {
			p->value =
				(struct bpf_value){.kind = BPF_LOST, .count = saturated_u64(lost)};
			return 1;
		}
	}
	if (span_begins(line, "Attaching ") || span_begins(line, "Attached "))
		p->is_bpftrace = true;
	else
		p->skipped += line.at < line.end;
	return 0;
}

/* Take a line. *again: it ended what was before it, and is to be taken again. */
static int bpf_take_line(struct bpftrace *p, struct text_span line, bool *again)
{
	switch (p->place) {
	case BPF_IN_KEY: return bpf_take_in_key(p, line, again);
	case BPF_AFTER_KEY: return bpf_take_after(p, line, again);
	case BPF_IN_STACK: return bpf_take_in_stack(p, line, again);
	case BPF_IN_BUCKETS: return bpf_take_in_buckets(p, line, again);
	case BPF_IN_JSON: return bpf_take_in_json(p, line, again);
	case BPF_OUTSIDE: break;
	}
	return bpf_take_outside(p, line, again);
}

/* The text has ended: report what is not whole. */
static void bpf_end(struct bpftrace *p)
{
	struct input *in = p->input;

	if (p->place == BPF_IN_KEY && (!p->in_text || p->has_frames))
		input_damage(in, in->name, p->lines.next,
			     "the text ends in the keys of a map of bpftrace");
	if (p->place == BPF_IN_STACK && p->any_stack && p->pending)
		input_damage(in, in->name, p->lines.next, "the text ends in a stack of bcc");
	bpf_end_stack(p);
	if (!p->is_bpftrace && !p->is_known)
		input_damage(in, in->name, NO_OFFSET, "the text has nothing of bpftrace or bcc");
}

/* Read the next line. Returns 1; 0: there are no more; -1. */
static int bpf_next_line(struct bpftrace *p, struct error *e)
{
	struct input *in = p->input;
	size_t n;
	int got;

	/* what is there must show before the next line is waited for */
	if (p->number && !input_lines_ready(&p->lines, in, LIVE_WAIT) && writer_flush(p->w))
		return -1;
	got = input_lines_next(&p->lines, in, &p->line.at, &n, e);
	if (got <= 0)
		return got;
	p->line.end = p->line.at + n;
	p->again = !p->lines.cut && (p->lines.whole || bpf_ends_json(p, p->line));
	if (!p->again)
		input_damage(in, in->name, p->lines.offset,
			     p->lines.cut ? "the line is too long" : "the last line is cut");
	return 1;
}

/* Read the next value. Returns 1; 0: there are no more; -1. */
static int bpf_read(struct bpftrace *p, struct error *e)
{
	int got = 0, more = 1;

	e->what[0] = '\0';
	while (!got && more > 0) {
		if (p->json.place != BPF_JSON_NONE) {
			got = bpf_json_step(p);
		} else if (p->again) {
			p->again = false;
			got = bpf_take_line(p, p->line, &p->again);
		} else {
			more = bpf_next_line(p, e);
			if (!more && p->place == BPF_IN_JSON) {
				bpf_json_begin(p);
				more = 1;
			}
		}
	}
	got = more < 0 ? -1 : got;
	p->is_known |= got > 0;
	if (!got)
		bpf_end(p);
	return got < 0 && !e->what[0] ? error_no_memory(e) : got;
}

static int bpf_advance(struct bpftrace *p, struct error *e)
{
	struct input *in = p->input;
	int got = bpf_read(p, e);

	p->number += got > 0;
	in->next = got > 0 ? merge_shifted(p->number, in->shift) : UINT64_MAX;
	return got < 0 ? -1 : 0;
}

/* --- rows --- */

/* The parts of the line of a frame. */
struct bpf_frame {
	struct text_span name, module;
};

/* Read the line of a frame: "vfs_read+12", "ext4_iget+0x5 [ext4]", and of bpftrace's mode perf
 * "7f4e12 malloc+12 (/lib/libc.so.6)", of verbose bcc "ffffffff811bd3f5 vfs_read". */
static struct bpf_frame bpf_read_frame(struct text_span s)
{
	struct bpf_frame f = {.name = bpf_unquote(span_trim(s))};
	const char *at = f.name.at, *open;
	uint64_t number;

	if (digits_hex(&at, f.name.end, &number) && at < f.name.end && *at == ' ' &&
	    (span_ends(f.name, ")") || at - f.name.at >= BPF_ADDRESS_DIGITS)) {
		f.name.at = at + 1;
		f.name = bpf_unquote(span_trim(f.name));
	}
	if (span_ends(f.name, ")") && (open = memrchr(f.name.at, '(', span_size(f.name))) &&
	    open > f.name.at + 1 && open[-1] == ' ') {
		f.module = (struct text_span){open + 1, f.name.end - 1};
		f.name.end = open - 1;
	} else if (span_ends(f.name, "]") && (open = memrchr(f.name.at, '[', span_size(f.name))) &&
		   open > f.name.at + 1 && open[-1] == ' ') {
		f.module = (struct text_span){open + 1, f.name.end - 1};
		f.name.end = open - 1;
	}
	if (span_is(f.module, "[unknown]") || span_is(f.module, "unknown"))
		f.module.end = f.module.at;
	/* the offset */
	for (at = f.name.end; at > f.name.at && isxdigit((unsigned char)at[-1]);)
		at--;
	at -= at > f.name.at + 1 && at[-1] == 'x' && at[-2] == '0' ? 2 : 0;
	if (at > f.name.at + 1 && at[-1] == '+' && at < f.name.end && isdigit((unsigned char)*at))
		f.name.end = at - 1;
	return f;
}

/* Add the location of a name to the frames of the row. */
static int bpf_put_location(struct bpftrace *p, struct text_span name, struct text_span module)
{
	struct named_frame frame = {.name = writer_string(p->w, name.at, span_size(name)),
				    .module = writer_string(p->w, module.at, span_size(module))};
	uint32_t location = frame_location(&p->locations, &frame);

	return location ? buffer_u32(&p->frames, location) : -1;
}

/* Add the frames of a stack. */
static int bpf_put_frames(struct bpftrace *p, struct text_span s)
{
	struct text_span line;
	struct bpf_frame f;

	for (; s.at < s.end; s.at = line.end + 1) {
		line = s;
		line.end = memchr(s.at, '\n', span_size(s));
		line.end = line.end ? line.end : s.end;
		f = bpf_read_frame(line);
		if (f.name.at < f.name.end && bpf_put_location(p, f.name, f.module))
			return -1;
	}
	return 0;
}

static struct text_span bpf_key_text(const struct bpftrace *p, unsigned key)
{
	const char *at = (const char *)p->keys.data + p->key[key].begin;

	return (struct text_span){at, at + p->key[key].size};
}

/* Put the frames of the value: the bucket, the stacks of its key, and the other keys as the
 * outermost frame. Returns the stack; 0: out of memory. */
static uint32_t bpf_stack(struct bpftrace *p)
{
	struct text_span none = SPAN("");

	p->frames.size = p->outermost.size = 0;
	if (p->value.kind == BPF_BUCKET && bpf_put_location(p, p->value.text, none))
		return 0;
	for (unsigned i = 0; i < p->nkeys; i++) {
		struct text_span s = bpf_key_text(p, i);

		if (p->key[i].is_stack
			    ? bpf_put_frames(p, s)
			    : (p->outermost.size && buffer_append(&p->outermost, ", ", 2)) ||
				      buffer_append(&p->outermost, s.at, span_size(s)))
			return 0;
	}
	if (p->outermost.size && bpf_put_location(p, bpf_span(&p->outermost), none))
		return 0;
	if (!p->frames.size && bpf_put_location(p, bpf_span(&p->title), none))
		return 0;
	return writer_stack_of(p->w, (const uint32_t *)(void *)p->frames.data, p->frames.size / 4);
}

/* Add a field of 8 bytes with a number. */
static int bpf_field(struct bpftrace *p, struct field_entry *f, uint32_t name, enum field_role role,
		     int64_t number)
{
	*f = (struct field_entry){.name = name,
				  .kind = FIELD_INT,
				  .role = role,
				  .offset = (uint32_t)p->fixed.size,
				  .size = 8};
	return buffer_u64(&p->fixed, (uint64_t)number);
}

/* Add a field with a text, which ends with its NUL. */
static int bpf_text_field(struct bpftrace *p, struct field_entry *f, uint32_t name, unsigned texts,
			  struct text_span s)
{
	const char *nul = s.at < s.end ? memchr(s.at, '\0', span_size(s)) : NULL;

	s.end = nul ? nul : s.end;
	*f = (struct field_entry){.name = name,
				  .kind = FIELD_STRING,
				  .where = WHERE_STRING,
				  .offset = texts,
				  .size = 1};
	return buffer_append(&p->tail, s.at, span_size(s)) || buffer_u8(&p->tail, 0) ? -1 : 0;
}

/* Put the keys that are no stacks. */
static int bpf_put_keys(struct bpftrace *p, struct field_entry *fields, unsigned *n, unsigned texts)
{
	char name[16];

	for (unsigned i = 0; i < p->nkeys; i++) {
		struct text_span key_name = bpf_span(&p->key_name);
		uint32_t id;
		int bad;

		if (p->key[i].is_stack)
			continue;
		snprintf(name, sizeof name, "key%u", i + 1);
		id = p->key_name.size ? writer_string(p->w, key_name.at, span_size(key_name))
				      : writer_text(p->w, name);
		bad = p->key[i].is_number
			      ? bpf_field(p, &fields[*n], id, ROLE_NONE, p->key[i].number)
			      : bpf_text_field(p, &fields[*n], id, texts++, bpf_key_text(p, i));
		++*n;
		if (bad || !id)
			return -1;
	}
	return 0;
}

enum { BPF_FIELDS_MOST = BPF_KEYS_MOST + 4 };

/* Put the fields of the value into p->fixed and p->tail. Returns their number; -1. */
static int bpf_put_fields(struct bpftrace *p, struct field_entry fields[BPF_FIELDS_MOST])
{
	const struct bpf_value *v = &p->value;
	struct writer *w = p->w;
	unsigned n = 0;
	int bad = 0;

	p->fixed.size = p->tail.size = 0;
	if (v->kind == BPF_TEXT) {
		bad = bpf_text_field(p, &fields[n++], writer_text(w, "value"), 0, v->text);
	} else {
		int128 weight = saturated_64(p->in_us ? v->weight * 1000 : v->weight);

		bad = bpf_field(p, &fields[n], writer_text(w, "value"), ROLE_PERIOD,
				(int64_t)(uint64_t)weight);
		fields[n++].kind = v->weight < 0 ? FIELD_INT : FIELD_UINT;
	}
	if (v->has_low)
		bad |= bpf_field(p, &fields[n++], writer_text(w, "low"), ROLE_NONE, v->low);
	if (v->has_high)
		bad |= bpf_field(p, &fields[n++], writer_text(w, "high"), ROLE_NONE, v->high);
	if (v->kind == BPF_STATS) {
		bad |= bpf_field(p, &fields[n], writer_text(w, "count"), ROLE_COUNT,
				 (int64_t)v->count);
		fields[n++].kind = FIELD_UINT;
		bad |= bpf_field(p, &fields[n++], writer_text(w, "average"), ROLE_NONE, v->average);
	}
	return bad || bpf_put_keys(p, fields, &n, v->kind == BPF_TEXT) ? -1 : (int)n;
}

/* Declare the type of a value whose fields were put. 0: out of memory. */
static uint32_t bpf_type(struct bpftrace *p, const struct field_entry *fields, int n)
{
	struct type_entry type = {.source = p->source,
				  .kind = p->value.kind == BPF_TEXT ? KIND_INSTANT : KIND_SAMPLE,
				  .fixed_size = (uint32_t)p->fixed.size,
				  .flags = (uint16_t)((p->tail.size ? TYPE_TAIL : 0) |
						      (p->in_us ? TYPE_WEIGHT_TIME : 0)),
				  .nfields = (uint32_t)n,
				  .fields = fields};
	uint32_t *id;

	p->signature.size = 0;
	for (int i = 0; i < n; i++)
		if (buffer_u32(&p->signature, fields[i].name) ||
		    buffer_u8(&p->signature, (uint8_t)fields[i].kind) ||
		    buffer_u8(&p->signature, (uint8_t)fields[i].role))
			return 0;
	if (p->value.kind == BPF_BUCKET && p->unit.size)
		type.group = writer_string(p->w, p->unit.data, p->unit.size);
	if (buffer_u32(&p->signature, type.group) ||
	    buffer_u8(&p->signature, (uint8_t)type.flags) ||
	    buffer_append(&p->signature, p->title.data, p->title.size))
		return 0;
	id = id_cache_number(&p->types, p->signature.data, p->signature.size);
	if (id && !*id) {
		type.name = p->title.size ? writer_string(p->w, p->title.data, p->title.size)
					  : writer_text(p->w, "samples");
		*id = writer_type(p->w, &type);
		if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
			return 0;
	}
	return id ? *id : 0;
}

static int bpf_write(struct bpftrace *p)
{
	struct field_entry fields[BPF_FIELDS_MOST];
	struct lane_entry lane = {.source = p->source, .clock = p->clock, .pid = -1};
	struct new_row row = {.time = p->input->next};
	int n;

	if (p->comm.size)
		lane.comm = writer_string(p->w, p->comm.data, p->comm.size);
	if (p->pid >= 0) {
		lane.flags |= LANE_HAS_PID;
		lane.pid = p->pid;
	}
	if (p->tid >= 0) {
		lane.flags |= LANE_HAS_TID;
		lane.tid = p->tid;
	}
	row.lane = writer_lane_once(p->w, &p->lanes, &lane);
	if (!row.lane)
		return -1;
	if (p->value.kind == BPF_LOST)
		return writer_gap(p->w, row.time, row.lane,
				  &(struct gap){.reason = GAP_LOST,
						.unit = GAP_EVENTS,
						.count = p->value.count,
						.offset = p->lines.offset,
						.file = p->input->name});
	n = bpf_put_fields(p, fields);
	row.type = n < 0 ? 0 : bpf_type(p, fields, n);
	if (!row.type)
		return -1;
	row.fixed = p->fixed.data;
	row.fixed_size = (uint32_t)p->fixed.size;
	row.tail = p->tail.data;
	row.tail_size = (uint32_t)p->tail.size;
	row.has_tail = p->tail.size > 0;
	if (p->value.kind == BPF_TEXT)
		return writer_row_data(p->w, row);
	row.location = bpf_stack(p);
	return row.location ? writer_sample(p->w, row) : -1;
}

/* --- the decoder --- */

/* Test for a line that other text seldom has. */
static bool bpf_is_line(struct text_span line)
{
	const char *end = bpf_map_name(line);
	struct text_span rest = {end, line.end};
	struct bpf_value v;

	if (end) {
		if (span_skip(&rest, ": "))
			return bpf_read_number(rest, &v) || rest.at == rest.end;
		return span_skip(&rest, "[") &&
		       (rest.at == rest.end || bpf_keys_end(rest) || span_ends(rest, ", "));
	}
	if (span_begins(line, "Attaching ") || span_begins(line, "Attached "))
		return span_find(line, " probe");
	if (span_begins(line, "Tracing ") || span_begins(line, "Sampling "))
		return span_find(line, "Hit Ctrl-C to end");
	return false;
}

/* Test for an object of JSON as bpftrace writes it. */
static bool bpf_is_json(struct text_span s)
{
	static const char *const types[] = {
		"attached_probes", "map",  "hist", "lhist", "tseries", "stats",
		"printf",	   "time", "cat",  "join",  "value",   "lost_events"};
	struct text_span type;

	if (!span_skip(&s, "{"))
		return false;
	if (bpf_skip_token(&s, "\"data\""))
		return bpf_skip_token(&s, ":") && bpf_skip_token(&s, "{") &&
		       (bpf_skip_token(&s, "\"@") || bpf_skip_token(&s, "\"probes\""));
	if (!bpf_skip_token(&s, "\"type\"") || !bpf_skip_token(&s, ":") ||
	    !bpf_skip_token(&s, "\""))
		return false;
	for (type = (struct text_span){s.at, s.at};
	     type.end < s.end && (isalpha((unsigned char)*type.end) || *type.end == '_');)
		type.end++;
	s.at = type.end;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (span_is(type, types[i]))
			return span_skip(&s, "\"") && bpf_skip_token(&s, ",") &&
			       bpf_skip_token(&s, "\"data\"");
	return false;
}

/* Test for the line before buckets, or for the process of a stack, of bcc. */
static bool bpf_is_bcc_line(struct text_span line)
{
	struct text_span s = span_trim(line), comm;
	int32_t pid;

	return s.at > line.at &&
	       ((span_find(s, " : count ") && span_ends(s, " distribution")) ||
		(span_begins(s, "-    ") && bpf_read_process(s, '(', ')', &comm, &pid)));
}

/* Test for the name of a map that is a histogram, whose first bucket follows. */
static bool bpf_is_histogram(struct text_span line, struct text_span next)
{
	const char *end = bpf_map_name(line);

	return end && end + 1 == line.end && *end == ':' &&
	       (span_begins(next, "[") || span_begins(next, "(..., "));
}

static enum bid bpftrace_probe(const struct input *in)
{
	struct text_span s = input_head(in);
	struct text_span line;
	bool is_count = false, was_frame = false;
	const char *next;

	if (in->tree || !in->head_size || memchr(s.at, '\0', span_size(s)))
		return BID_NONE;
	if (in->format)
		return strcmp(in->format, "bpftrace") ? BID_NONE : BID_CHANCE;
	for (; s.at < s.end; s.at = line.end + 1) {
		line = s;
		if (bpf_is_json(line))
			return BID_LIKELY;
		line.end = memchr(s.at, '\n', span_size(s));
		if (!line.end)
			break;
		line.end -= line.end > line.at && line.end[-1] == '\r';
		next = memchr(line.end, '\n', (size_t)(s.end - line.end));
		if (bpf_is_line(line) || bpf_is_bcc_line(line) ||
		    bpf_is_histogram(line, (struct text_span){next + 1, s.end}))
			return BID_LIKELY;
		/* stacks of stackcount alone: a number ends each */
		is_count |= was_frame && span_size(span_trim(line)) < 19 &&
			    span_begins(line, "    ") && isdigit((unsigned char)line.end[-1]) &&
			    isdigit((unsigned char)*span_trim(line).at);
		was_frame = span_begins(line, "  ") && isalpha((unsigned char)*span_trim(line).at);
		line.end = next;
	}
	return is_count ? BID_CHANCE : BID_NONE;
}

static int bpftrace_open(struct input *in, struct error *e)
{
	struct bpftrace *p = in->state = calloc(1, sizeof *p);

	if (!p)
		return error_no_memory(e);
	p->input = in;
	p->w = p->locations.w = in->decoding->writer;
	p->pid = p->tid = -1;
	merge_count_rows(in, "values");
	return 0;
}

static int bpftrace_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct bpftrace *p = in->state;
	uint64_t values = 0, buckets = 0;
	uint32_t *known;
	int got;

	fact_text(facts, "format", "bpftrace");
	while ((got = bpf_read(p, e)) > 0) {
		values += p->value.kind != BPF_LOST;
		buckets += p->value.kind == BPF_BUCKET;
		known = id_cache_number(&p->types, p->title.data, p->title.size);
		if (!known || buffer_append(&p->title, "", 1))
			return error_no_memory(e);
		if (!*known && p->value.kind != BPF_LOST)
			fact_item(facts, "maps",
				  p->title.size > 1 ? (char *)p->title.data : "samples");
		p->title.size--;
		*known = 1;
	}
	fact_number(facts, "values", values);
	fact_number(facts, "buckets", buckets);
	fact_number(facts, "other lines", p->skipped);
	return got;
}

static int bpftrace_begin(struct input *in, struct error *e)
{
	struct bpftrace *p = in->state;

	if (merge_choose_clock(in, e))
		return -1;
	p->source = writer_source(p->w, &(struct source_entry){writer_text(p->w, "bpftrace"),
							       writer_text(p->w, in->name), 0, 0});
	p->clock = input_declare_clock(in, false);
	e->what[0] = '\0';
	if (!p->source || !p->clock || bpf_advance(p, e))
		return -1;
	return in->next == UINT64_MAX ? 0 : merge_first(in, p->number, e);
}

static int bpftrace_run(struct input *in, uint64_t until, struct error *e)
{
	struct bpftrace *p = in->state;

	e->what[0] = '\0';
	while (in->next <= until && in->next != UINT64_MAX)
		if (bpf_write(p) || bpf_advance(p, e))
			return -1;
	return 0;
}

static void bpftrace_close(struct input *in)
{
	struct bpftrace *p = in->state;

	if (!p)
		return;
	if (!in->decoding->quiet)
		warn_count(in->name, p->skipped, "{line|lines} of other output, skipped");
	input_lines_free(&p->lines);
	json_close(&p->json.reader);
	buffer_free(&p->json.text);
	buffer_free(&p->title);
	buffer_free(&p->unit);
	buffer_free(&p->keys);
	buffer_free(&p->key_name);
	buffer_free(&p->text);
	buffer_free(&p->comm);
	buffer_free(&p->frames);
	buffer_free(&p->outermost);
	buffer_free(&p->fixed);
	buffer_free(&p->tail);
	buffer_free(&p->signature);
	id_cache_free(&p->lanes);
	id_cache_free(&p->types);
	frame_locations_free(&p->locations);
	free(p);
	in->state = NULL;
}

const struct decoder decoder_bpftrace = {
	.name = "bpftrace",
	.in_order = true,
	.probe = bpftrace_probe,
	.open = bpftrace_open,
	.info = bpftrace_info,
	.begin = bpftrace_begin,
	.run = bpftrace_run,
	.close = bpftrace_close,
};
