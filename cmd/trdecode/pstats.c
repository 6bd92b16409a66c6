/*
 * pstats.c - profiles of Python's cProfile and profile, which pstats reads: the dictionary
 *
 *     {("work.py", 12, "fib"): (1, 57313, 0.02, 0.02,
 *                               {("work.py", 20, "main"): (1, 1, 0.0, 0.02)})}
 *
 * as marshal writes it: of a function the primitive calls, all calls, seconds in itself and with
 * its callees; for each caller all calls, the primitive ones, and seconds. profile has only the
 * number of calls of a caller.
 *
 *     byte  type, | 0x80: number it for TYPE_REF
 *     '{'   values up to '0'         ')' '('  u8 or u32 n, n values
 *     'i'   i32      'I' i64         'g'      f64          'f'  u8 n, digits
 *     'z' 'Z'  u8 n, bytes           'a' 'A' 's' 't' 'u'   u32 n, bytes
 *     'r'   u32 number of a value    'R'  u32 number of a string of type 't'
 *
 * Files of Python's profiling.sampling are the same with numbers of samples, and ("__sampled__",)
 * as their last key. The tables that pstats and profiling.sampling print are read, too:
 *
 *       ncalls  tottime  percall  cumtime  percall filename:lineno(function)
 *      57313/1    0.020    0.000    0.020    0.020 work.py:12(fib)
 *
 *       nsamples   sample%  tottime (ms)    cumul%  cumtime (ms)  filename:lineno(function)
 *          12/40       6.0        12.000      20.0        40.000  work.py:12(fib)
 *
 * Each caller is a sum of calls (rows.h), and what no caller has is a sum without one.
 *
 * Source: the modules marshal, pstats and _lsprof of Python 2.7 to 3.14, and the manual of 3.15.
 */
#include <math.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/frames.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "common/util/buffer.h"
#include "common/util/text_span.h"
#include "common/util/u128.h"

/* Types of marshal. */
enum {
	PY_NULL = '0',
	PY_NONE = 'N',
	PY_FALSE = 'F',
	PY_TRUE = 'T',
	PY_INT = 'i',
	PY_INT64 = 'I',
	PY_LONG = 'l',
	PY_FLOAT = 'f',
	PY_BINARY_FLOAT = 'g',
	PY_STRING = 's',
	PY_INTERNED = 't',
	PY_STRING_REF = 'R',
	PY_REF = 'r',
	PY_UNICODE = 'u',
	PY_ASCII = 'a',
	PY_ASCII_INTERNED = 'A',
	PY_SHORT_ASCII = 'z',
	PY_SHORT_ASCII_INTERNED = 'Z',
	PY_TUPLE = '(',
	PY_SMALL_TUPLE = ')',
	PY_DICT = '{',
	PY_CODE = 'c',
	PY_FLAG_REF = 0x80,
};

enum {
	PY_DEPTH = 8,	    /* nested values: a profile has 3 */
	PY_TUPLE_MOST = 16, /* values of a tuple: a profile has up to 5 */
	PY_LONG_DIGITS = 5, /* of 15 bits: 63 bits are 5 */
	PY_FLOAT_SIZE = 64, /* bytes of a number as text */
	PY_SECOND = 1000 * 1000 * 1000,
	PY_COLUMNS_MOST = 8, /* before the function */
};

enum py_kind { PY_IS_OTHER, PY_IS_INT, PY_IS_REAL, PY_IS_TEXT, PY_IS_TUPLE, PY_IS_DICT, PY_IS_END };

/* A value. Texts are in the file; of a tuple or dictionary the values are items. */
struct py_value {
	enum py_kind kind;
	uint32_t count; /* of items, in a dictionary keys and values; bytes of a text */
	union {
		int64_t number;
		double real;
		uint64_t at; /* offset of the text, or number of the first item */
	};
};

/* Values, in an array that grows. */
struct py_values {
	struct py_value *v;
	size_t count, capacity;
};

/* A function. */
struct py_function {
	struct text_span file, name;
	uint64_t line;
};

/* What a column of a table is. */
enum py_column {
	PY_COLUMN_OTHER,
	PY_COLUMN_CALLS,
	PY_COLUMN_SAMPLES,
	PY_COLUMN_SELF,
	PY_COLUMN_TOTAL,
	PY_COLUMN_PER_CALL /* blank if there were no calls */
};

/* A sum of pstats: of a function, or of a function for a caller. */
struct py_sum {
	int64_t primitive, calls, self, total; /* ns */
};

struct pstats {
	struct input *input;
	struct writer *w;
	struct buffer data;
	size_t at; /* of the next byte */
	struct py_values items, refs, strings, stack;
	bool no_memory, any_row;
	const char *fault; /* why the value cannot be read; NULL: it can */
	struct {
		struct input_lines lines;
		bool is;	  /* the profile is text */
		bool has_callers; /* it has a table of print_callers() or print_callees() */
		enum py_column columns[PY_COLUMNS_MOST];
		uint64_t unit[PY_COLUMNS_MOST]; /* of times: ns */
		unsigned ncolumns;		/* 0: the next line is in no table */
		uint32_t number;		/* of the table */
		struct buffer profile;		/* "13 function calls in 3.000 seconds" */
		struct id_cache rows;		/* by profile and line: its first table */
	} table;
	struct py_function function; /* the present one */
	struct py_value callers;     /* those that are not written */
	uint32_t caller;	     /* number of the next one */
	struct py_sum rest;	     /* of the function, without the callers that were written */
	bool has_function;
	uint64_t elapsed; /* ns: self times of the sums before it */
	uint32_t source, lane, type;
	struct frame_locations locations;
	struct buffer text;
};

/* --- marshal --- */

static struct py_value py_fault(struct pstats *p, const char *what)
{
	p->fault = p->fault ? p->fault : what;
	return (struct py_value){.kind = PY_IS_OTHER};
}

static void py_add(struct pstats *p, struct py_values *l, struct py_value v)
{
	if (ARRAY_GROW(l->v, l->capacity, l->count)) {
		p->no_memory = true;
		py_fault(p, "out of memory");
	} else {
		l->v[l->count++] = v;
	}
}

/* Take n bytes, whose number in the file is then p->at - n. */
static const uint8_t *py_take(struct pstats *p, size_t n)
{
	if (p->data.size - p->at < n) {
		py_fault(p, "the file ends within a value");
		return NULL;
	}
	p->at += n;
	return p->data.data + p->at - n;
}

static uint64_t py_number(struct pstats *p, unsigned n)
{
	const uint8_t *at = py_take(p, n);

	return at ? get_uint(at, n, false) : 0;
}

static struct py_value py_text(struct pstats *p, uint64_t n)
{
	struct py_value v = {.kind = PY_IS_TEXT, .count = (uint32_t)n, .at = p->at};

	return n <= INT32_MAX && py_take(p, n) ? v : py_fault(p, "the file ends within a value");
}

/* Take a number as text: u8 n, digits. */
static struct py_value py_float(struct pstats *p)
{
	char text[PY_FLOAT_SIZE + 1];
	uint64_t n = py_number(p, 1);
	const uint8_t *at = n <= PY_FLOAT_SIZE ? py_take(p, n) : NULL;

	if (!at)
		return py_fault(p, "a number is too long");
	memcpy(text, at, n);
	text[n] = '\0';
	return (struct py_value){.kind = PY_IS_REAL, .real = strtod(text, NULL)};
}

/* Take an integer of digits of 15 bits. */
static struct py_value py_long(struct pstats *p)
{
	int32_t n = (int32_t)(uint32_t)py_number(p, 4);
	struct py_value v = {.kind = PY_IS_INT};
	uint64_t sum = 0;

	if (n > PY_LONG_DIGITS || n < -PY_LONG_DIGITS)
		return py_fault(p, "a number has more than 64 bits");
	for (int32_t i = 0; i < abs(n); i++)
		sum |= (py_number(p, 2) & 0x7fff) << (15 * i);
	if (sum > INT64_MAX)
		return py_fault(p, "a number has more than 64 bits");
	v.number = n < 0 ? -(int64_t)sum : (int64_t)sum;
	return v;
}

/* Get a value that was numbered. */
static struct py_value py_ref(struct pstats *p, const struct py_values *l)
{
	uint64_t n = py_number(p, 4);

	return n < l->count ? l->v[n] : py_fault(p, "a reference to no value");
}

static struct py_value py_take_value(struct pstats *p, unsigned depth);

/* Take the values of a tuple, or of a dictionary up to its end. */
static struct py_value py_container(struct pstats *p, enum py_kind kind, uint64_t count,
				    unsigned depth)
{
	struct py_value v = {.kind = kind}, item = {0};
	size_t base = p->stack.count;

	if (!depth || (kind == PY_IS_TUPLE && count > PY_TUPLE_MOST))
		return py_fault(p, "a value that profiles do not have");
	while (!p->fault && (kind == PY_IS_DICT || p->stack.count - base < count)) {
		item = py_take_value(p, depth - 1);
		if (item.kind == PY_IS_END)
			break;
		py_add(p, &p->stack, item);
	}
	count = p->stack.count - base;
	if (kind == PY_IS_DICT ? count % 2 : item.kind == PY_IS_END)
		py_fault(p, "a tuple or dictionary without all its values");
	v.at = p->items.count;
	v.count = (uint32_t)count;
	for (size_t i = 0; i < count; i++)
		py_add(p, &p->items, p->stack.v[base + i]);
	p->stack.count = base;
	return v;
}

/* Take a value whose type is known. */
static struct py_value py_value_of(struct pstats *p, uint8_t type, unsigned depth)
{
	struct py_value v = {.kind = PY_IS_OTHER};
	const uint8_t *at;

	switch (type) {
	case PY_NULL: v.kind = PY_IS_END; return v;
	case PY_NONE:
	case PY_FALSE:
	case PY_TRUE: return v;
	case PY_INT:
		v.kind = PY_IS_INT;
		v.number = (int32_t)(uint32_t)py_number(p, 4);
		return v;
	case PY_INT64:
		v.kind = PY_IS_INT;
		v.number = (int64_t)py_number(p, 8);
		return v;
	case PY_LONG: return py_long(p);
	case PY_FLOAT: return py_float(p);
	case PY_BINARY_FLOAT:
		at = py_take(p, 8);
		v.kind = PY_IS_REAL;
		v.real = at ? get_double(at) : 0;
		return v;
	case PY_STRING:
	case PY_UNICODE:
	case PY_ASCII:
	case PY_ASCII_INTERNED: return py_text(p, py_number(p, 4));
	case PY_SHORT_ASCII:
	case PY_SHORT_ASCII_INTERNED: return py_text(p, py_number(p, 1));
	case PY_INTERNED:
		v = py_text(p, py_number(p, 4));
		py_add(p, &p->strings, v);
		return v;
	case PY_STRING_REF: return py_ref(p, &p->strings);
	case PY_REF: return py_ref(p, &p->refs);
	case PY_TUPLE: return py_container(p, PY_IS_TUPLE, py_number(p, 4), depth);
	case PY_SMALL_TUPLE: return py_container(p, PY_IS_TUPLE, py_number(p, 1), depth);
	case PY_DICT: return py_container(p, PY_IS_DICT, 0, depth);
	}
	return py_fault(p, type == PY_CODE ? "a code object, of python -m profile: record with "
					     "python -m cProfile"
					   : "a value that profiles do not have");
}

/* Take the next value, and number it if its type says so. Numbers follow the beginnings of the
 * values. */
static struct py_value py_take_value(struct pstats *p, unsigned depth)
{
	uint8_t type = (uint8_t)py_number(p, 1);
	size_t number = p->refs.count;
	struct py_value v;

	if (type & PY_FLAG_REF)
		py_add(p, &p->refs, (struct py_value){.kind = PY_IS_OTHER});
	v = py_value_of(p, type & ~PY_FLAG_REF, depth);
	if (type & PY_FLAG_REF && number < p->refs.count)
		p->refs.v[number] = v;
	return v;
}

/* --- profiles --- */

static struct py_value py_item(const struct pstats *p, struct py_value of, uint32_t i)
{
	return p->items.v[of.at + i];
}

/* Get a function from a tuple of a file, a line and a name. false: it is none. */
static bool py_read_function(const struct pstats *p, struct py_value v, struct py_function *f)
{
	const char *data = (const char *)p->data.data;
	struct py_value file, line, name;

	if (v.kind != PY_IS_TUPLE || v.count != 3)
		return false;
	file = py_item(p, v, 0);
	line = py_item(p, v, 1);
	name = py_item(p, v, 2);
	if (file.kind != PY_IS_TEXT || line.kind != PY_IS_INT || name.kind != PY_IS_TEXT)
		return false;
	f->file = (struct text_span){data + file.at, data + file.at + file.count};
	f->name = (struct text_span){data + name.at, data + name.at + name.count};
	f->line = line.number < 0 ? 0 : (uint64_t)line.number;
	return true;
}

/* Test for the last key of a file of profiling.sampling, whose value is no function's. */
static bool py_is_mark(const struct pstats *p, struct py_value v)
{
	return v.kind == PY_IS_TUPLE && v.count == 1 && py_item(p, v, 0).kind == PY_IS_TEXT;
}

/* Get a time in ns. false: it is no number, or beyond what a clock has. */
static bool py_ns(struct py_value v, int64_t *ns)
{
	double seconds = v.kind == PY_IS_INT ? (double)v.number : v.real;

	if ((v.kind != PY_IS_INT && v.kind != PY_IS_REAL) ||
	    !(fabs(seconds) < (double)TIME_LIMIT / 1e9))
		return false;
	*ns = llround(seconds * 1e9);
	return true;
}

/* Read the numbers of a function, which begin with the primitive calls, or of a caller, which begin
 * with all calls. false: they are none. */
static bool py_read_sum(const struct pstats *p, struct py_value v, bool is_caller,
			struct py_sum *sum)
{
	struct py_value calls, primitive;

	*sum = (struct py_sum){0};
	if (v.kind == PY_IS_INT) {
		/* of profile: a caller has only a number */
		sum->calls = v.number;
		return v.number >= 0;
	}
	if (v.kind != PY_IS_TUPLE || v.count < 4)
		return false;
	primitive = py_item(p, v, is_caller);
	calls = py_item(p, v, !is_caller);
	sum->primitive = primitive.number;
	sum->calls = calls.number;
	return calls.kind == PY_IS_INT && primitive.kind == PY_IS_INT && sum->calls >= 0 &&
	       sum->primitive >= 0 && py_ns(py_item(p, v, 2), &sum->self) &&
	       py_ns(py_item(p, v, 3), &sum->total);
}

/* Read the next function of a file of marshal. 1; 0: there are no more, or the rest cannot be read;
 * -1: out of memory. */
static int pstats_next_value(struct pstats *p)
{
	struct input *in = p->input;

	for (;;) {
		size_t at = p->at;
		struct py_value key = py_take_value(p, PY_DEPTH), numbers;

		if (key.kind == PY_IS_END && !p->fault) {
			if (p->at < p->data.size)
				input_damage(in, in->name, p->at,
					     "data after the profile, left out");
			return 0;
		}
		numbers = p->fault ? key : py_take_value(p, PY_DEPTH);
		if (p->fault) {
			if (!p->no_memory)
				input_damage(in, in->name, p->at,
					     "%s: the rest of the profile is left out", p->fault);
			return p->no_memory ? -1 : 0;
		}
		if (py_read_function(p, key, &p->function) &&
		    py_read_sum(p, numbers, false, &p->rest) && numbers.count == 5 &&
		    py_item(p, numbers, 4).kind == PY_IS_DICT) {
			p->callers = py_item(p, numbers, 4);
			p->caller = 0;
			return 1;
		}
		if (!py_is_mark(p, key))
			input_damage(in, in->name, at, "no function with its numbers, left out");
	}
}

/* --- tables --- */

/* Take the next word of a line, without colours. */
static struct text_span py_word(struct text_span *s)
{
	struct text_span word;
	const char *end;

	do {
		word = span_take_word(s);
		while (span_begins(word, "\x1b[") && (end = memchr(word.at, 'm', span_size(word))))
			word.at = end + 1;
	} while (word.at == word.end && span_size(span_trim(*s)));
	end = memchr(word.at, '\x1b', span_size(word));
	word.end = end ? end : word.end;
	return word;
}

/* Read the line with the names of the columns. false: it is none. */
static bool py_read_header(struct pstats *p, struct text_span line)
{
	static const char *const names[] = {[PY_COLUMN_CALLS] = "ncalls",
					    [PY_COLUMN_SAMPLES] = "nsamples",
					    [PY_COLUMN_SELF] = "tottime",
					    [PY_COLUMN_TOTAL] = "cumtime",
					    [PY_COLUMN_PER_CALL] = "percall"};
	unsigned n = 0, found = 0;

	if (!span_find(line, "filename:lineno(function)"))
		return false;
	while (n < PY_COLUMNS_MOST) {
		struct text_span word = py_word(&line);

		if (word.at == word.end || span_begins(word, "filename:lineno"))
			break;
		if (n && span_begins(word, "(")) {
			word.at++;
			word.end -= span_ends(word, ")");
			p->table.unit[n - 1] = profile_time_unit(word);
			continue;
		}
		p->table.columns[n] = PY_COLUMN_OTHER;
		p->table.unit[n] = PY_SECOND;
		for (enum py_column c = PY_COLUMN_CALLS; c <= PY_COLUMN_PER_CALL; c++)
			if (span_is(word, names[c])) {
				p->table.columns[n] = c;
				found |= 1u << c;
			}
		n++;
	}
	if (!(found & 1u << PY_COLUMN_SELF) || !(found & 1u << PY_COLUMN_TOTAL))
		return false;
	p->table.ncolumns = n;
	p->table.number++;
	return true;
}

/* Read "57313/1" of calls, all and primitive; of samples, those in the function and all. */
static bool py_read_calls(struct pstats *p, struct text_span s, enum py_column column)
{
	struct text_span first = s, second = s;
	const char *slash = memchr(s.at, '/', span_size(s));
	int128 a, b;

	if (slash) {
		first.end = slash;
		second.at = slash + 1;
	}
	if (!span_integer(first, &a) || !span_integer(second, &b) || a < 0 || b < 0 ||
	    a > INT64_MAX || b > INT64_MAX)
		return false;
	p->rest.calls = (int64_t)(column == PY_COLUMN_CALLS ? a : b);
	p->rest.primitive = (int64_t)(column == PY_COLUMN_CALLS ? b : a);
	return true;
}

/* Read "work.py:12(fib)"; ":0(exec)", of profile, which has no file; or "{built-in method exec}",
 * whose file is "~" and whose name is "<built-in method exec>". */
static bool py_read_place(char *text, size_t n, struct py_function *f)
{
	struct text_span s = {text, text + n};
	const char *open = text, *colon = NULL;

	if (n > 2 && text[0] == '{' && text[n - 1] == '}') {
		text[0] = '<';
		text[n - 1] = '>';
		*f = (struct py_function){.file = SPAN("~"), .name = s};
		return true;
	}
	while ((open = memchr(open, '(', (size_t)(s.end - open)))) {
		for (colon = open; colon > s.at && isdigit((unsigned char)colon[-1]);)
			colon--;
		if (colon < open && colon > s.at && colon[-1] == ':' && s.end[-1] == ')')
			break;
		open++;
	}
	if (!open)
		return false;
	*f = (struct py_function){.file = {s.at, colon - 1}, .name = {open + 1, s.end - 1}};
	return span_digits(colon, open, &f->line) == open;
}

/* Test for the first line of a table of print_callers() or print_callees(). */
static bool py_begins_callers(struct text_span line)
{
	return span_begins(line, "Function ") && (span_ends(span_trim(line), " was called by...") ||
						  span_ends(span_trim(line), " called..."));
}

/* Take the line before a table with the calls and the time of the profile. false: it is none. */
static bool py_take_profile(struct pstats *p, struct text_span line)
{
	struct text_span s = span_trim(line);

	if (!span_ends(s, " seconds") || !span_find(s, " function calls "))
		return false;
	p->table.profile.size = 0;
	p->table.ncolumns = 0;
	p->no_memory |= buffer_append(&p->table.profile, s.at, span_size(s)) != 0;
	return true;
}

/* Test whether an earlier table of the same profile, which was sorted otherwise, has the line. */
static bool py_is_known(struct pstats *p, struct text_span line)
{
	struct buffer *key = &p->table.profile;
	size_t n = key->size;
	uint32_t *first = NULL;

	if (!n)
		return false;
	if (!buffer_append(key, "\n", 1) && !buffer_append(key, line.at, span_size(line)))
		first = id_cache_number(&p->table.rows, key->data, key->size);
	key->size = n;
	if (!first) {
		p->no_memory = true;
		return false;
	}
	*first = *first ? *first : p->table.number;
	return *first != p->table.number;
}

/* Read a line of a table. */
static bool py_read_row(struct pstats *p, struct text_span line)
{
	p->rest = (struct py_sum){0};
	for (unsigned i = 0; i < p->table.ncolumns; i++) {
		enum py_column column = p->table.columns[i];
		struct text_span word;
		uint64_t ns;

		if (column == PY_COLUMN_PER_CALL &&
		    !(i && p->table.columns[i - 1] == PY_COLUMN_SELF ? p->rest.calls
								     : p->rest.primitive))
			continue;
		word = py_word(&line);
		if (column == PY_COLUMN_CALLS || column == PY_COLUMN_SAMPLES) {
			if (!py_read_calls(p, word, column))
				return false;
		} else if (column == PY_COLUMN_SELF || column == PY_COLUMN_TOTAL) {
			if (!span_seconds(word, TIME_LIMIT, &ns))
				return false;
			ns = (uint64_t)((uint128)ns * p->table.unit[i] / PY_SECOND);
			*(column == PY_COLUMN_SELF ? &p->rest.self : &p->rest.total) = (int64_t)ns;
		}
	}
	/* the names have colours of their own */
	p->text.size = 0;
	for (line = span_trim(line); line.at < line.end; line.at++) {
		if (*line.at == '\x1b') {
			line.at = memchr(line.at, 'm', span_size(line));
			if (!line.at)
				return false;
		} else if (buffer_append(&p->text, line.at, 1)) {
			p->no_memory = true;
			return false;
		}
	}
	return p->text.size && py_read_place((char *)p->text.data, p->text.size, &p->function);
}

/* Read the next line of a table: as pstats_next_value. */
static int pstats_next_row(struct pstats *p, struct error *e)
{
	struct input *in = p->input;
	struct text_span line;
	size_t n;
	int got;

	while ((got = input_lines_next(&p->table.lines, in, &line.at, &n, e)) > 0) {
		line.end = line.at + n;
		if (!p->table.lines.whole || p->table.lines.cut) {
			input_damage(in, in->name, p->table.lines.offset, "the line is cut");
			continue;
		}
		if (py_begins_callers(line)) {
			p->table.has_callers = true;
			p->table.ncolumns = 0;
			continue;
		}
		if (py_take_profile(p, line) || py_read_header(p, line) || !p->table.ncolumns)
			continue;
		if (!span_size(span_trim(line))) {
			if (p->any_row)
				p->table.ncolumns = p->table.profile.size = 0;
			continue;
		}
		p->any_row = py_read_row(p, line);
		if (p->any_row && !py_is_known(p, span_trim(line)) && !p->no_memory)
			return 1;
		if (p->no_memory)
			return -1;
		if (p->any_row)
			continue;
		input_damage(in, in->name, p->table.lines.offset,
			     "a line of a table of pstats without its numbers and function");
	}
	return got;
}

static int pstats_next(struct pstats *p, struct error *e)
{
	e->what[0] = '\0';
	return p->table.is ? pstats_next_row(p, e) : pstats_next_value(p);
}

/* --- rows --- */

/* Get the location of a function; 0: out of memory. */
static uint32_t pstats_location(struct pstats *p, const struct py_function *f)
{
	struct named_frame frame = {.line = f->line > UINT32_MAX ? 0 : (uint32_t)f->line};

	frame.name = writer_string(p->w, f->name.at, span_size(f->name));
	frame.file = writer_string(p->w, f->file.at, span_size(f->file));
	return frame_location(&p->locations, &frame);
}

/* Write a sum of the present function, for a caller or, NULL, for none. */
static int pstats_put(struct pstats *p, const struct py_function *caller, const struct py_sum *s)
{
	uint32_t frames[2] = {pstats_location(p, &p->function),
			      caller ? pstats_location(p, caller) : 0};
	struct call_sum sum = {.self = s->self,
			       .total = s->total,
			       .calls = s->calls < 0 ? 0 : (uint64_t)s->calls,
			       .more = (uint64_t)s->primitive};
	struct new_row row = {.time = p->input->next,
			      .lane = p->lane,
			      .type = p->type,
			      .fixed_size = sizeof sum.more};

	if (!frames[0] || (caller && !frames[1]))
		return -1;
	row.location = writer_stack_of(p->w, frames, caller ? 2 : 1);
	if (!row.location || call_sum_write(p->w, row, &sum))
		return -1;
	if (s->self > 0)
		p->elapsed += (uint64_t)s->self > TIME_LIMIT - 1 - p->elapsed
				      ? TIME_LIMIT - 1 - p->elapsed
				      : (uint64_t)s->self;
	return 0;
}

static void pstats_subtract(struct py_sum *from, const struct py_sum *s)
{
	from->primitive = add_wrapping(from->primitive, -s->primitive);
	from->calls = add_wrapping(from->calls, -s->calls);
	from->self = add_wrapping(from->self, -s->self);
	from->total = add_wrapping(from->total, -s->total);
}

/* Test whether nothing but rounding to ns is left of a function with n callers. */
static bool pstats_is_rounding(const struct py_sum *rest, int64_t n)
{
	return !rest->calls && rest->self <= n && rest->self >= -n && rest->total <= n &&
	       rest->total >= -n;
}

/* Write the next sum of the present function. 1; 0: it has no more; -1. */
static int pstats_step(struct pstats *p)
{
	uint32_t n = p->callers.count / 2;
	struct py_function caller;
	struct py_sum s;

	while (p->caller < n) {
		uint32_t at = 2 * p->caller++;

		if (!py_read_function(p, py_item(p, p->callers, at), &caller) ||
		    !py_read_sum(p, py_item(p, p->callers, at + 1), true, &s)) {
			input_damage(p->input, p->input->name, p->at,
				     "a caller without its function or numbers, left out");
			continue;
		}
		/* samples of a recursion are counted once for the function */
		s.calls = s.calls > p->rest.calls ? p->rest.calls : s.calls;
		pstats_subtract(&p->rest, &s);
		if (p->caller == n && pstats_is_rounding(&p->rest, n)) {
			s.self += p->rest.self;
			s.total += p->rest.total;
			p->has_function = false;
		}
		return pstats_put(p, &caller, &s) ? -1 : 1;
	}
	if (!p->has_function)
		return 0;
	p->has_function = false;
	return pstats_put(p, NULL, &p->rest) ? -1 : 1;
}

/* --- the decoder --- */

/* Test for the beginning of a dictionary whose first key is a tuple that begins with a text. */
static bool pstats_is_marshal(const struct input *in)
{
	const uint8_t *p = in->head;
	size_t n = in->head_size;
	uint8_t tuple;

	if (n < 8 || (p[0] & ~PY_FLAG_REF) != PY_DICT)
		return false;
	tuple = p[1] & ~PY_FLAG_REF;
	if (tuple == PY_TUPLE ? get_uint(p + 2, 4, false) != 3
			      : tuple != PY_SMALL_TUPLE || (p[2] != 3 && p[2] != 1))
		return false;
	return memchr("stuaAzZ", p[tuple == PY_TUPLE ? 6 : 3] & ~PY_FLAG_REF, 7);
}

static enum bid pstats_probe(const struct input *in)
{
	struct text_span s = input_head(in);

	if (in->tree || !in->head_size)
		return BID_NONE;
	if (pstats_is_marshal(in))
		return BID_HEADER;
	if (memchr(s.at, '\0', span_size(s)))
		return BID_NONE;
	if ((span_find(s, "filename:lineno(function)") || span_find(s, " called...\n") ||
	     span_find(s, " was called by...\n")) &&
	    span_find(s, "tottime"))
		return BID_LIKELY;
	return in->format && !strcmp(in->format, "pstats") ? BID_CHANCE : BID_NONE;
}

static int pstats_open(struct input *in, struct error *e)
{
	struct pstats *p = in->state = calloc(1, sizeof *p);

	if (!p)
		return error_no_memory(e);
	p->input = in;
	p->w = p->locations.w = in->decoding->writer;
	in->clock_name = "time";
	p->table.is = !pstats_is_marshal(in);
	if (p->table.is)
		return 0;
	if (input_read_all(in, &p->data, e))
		return -1;
	/* the dictionary, whose values are taken one by one */
	if (!p->data.size || (py_number(p, 1) & ~PY_FLAG_REF) != PY_DICT)
		return error_set(e, in->name, 0, "no profile of Python's cProfile");
	if (p->data.data[0] & PY_FLAG_REF)
		py_add(p, &p->refs, (struct py_value){.kind = PY_IS_OTHER});
	return p->no_memory ? error_no_memory(e) : 0;
}

static int pstats_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct pstats *p = in->state;
	uint64_t functions = 0, calls = 0, primitive = 0, self = 0;
	int got;

	fact_text(facts, "format", "pstats");
	while ((got = pstats_next(p, e)) > 0) {
		functions++;
		add_saturated(&calls, (uint64_t)p->rest.calls);
		add_saturated(&primitive, (uint64_t)p->rest.primitive);
		add_saturated(&self, p->rest.self > 0 ? (uint64_t)p->rest.self : 0);
	}
	fact_number(facts, "functions", functions);
	fact_number(facts, "calls", calls);
	fact_number(facts, "primitive calls", primitive);
	fact_number(facts, "time, ns", self);
	return got < 0 && !e->what[0] ? error_no_memory(e) : got;
}

static int pstats_advance(struct pstats *p, struct error *e)
{
	int got = pstats_next(p, e);

	p->has_function = got > 0;
	p->input->next = got > 0 ? merge_shifted(p->elapsed, p->input->shift) : UINT64_MAX;
	return got;
}

static int pstats_begin(struct input *in, struct error *e)
{
	struct pstats *p = in->state;
	struct writer *w = p->w;
	struct field_entry primitive = {.name = writer_text(w, "primitive"), .kind = FIELD_INT};
	int got;

	if (merge_choose_clock(in, e))
		return -1;
	p->source = writer_source(w, &(struct source_entry){writer_text(w, "pstats"),
							    writer_text(w, in->name), 0, 0});
	p->lane = writer_lane(w, &(struct lane_entry){.source = p->source,
						      .clock = input_declare_clock(in, false)});
	p->type = call_sum_type(in, (struct type_entry){.source = p->source,
							.name = writer_text(w, "time"),
							.flags = TYPE_WEIGHT_TIME,
							.fields = &primitive,
							.nfields = 1});
	if (!p->lane || !p->type)
		return error_no_memory(e);
	got = pstats_advance(p, e);
	if (!got && p->table.is)
		input_damage(in, in->name, NO_OFFSET, "%s",
			     p->table.has_callers
				     ? "only tables of callers or callees: print_stats() prints "
				       "the table that trdecode reads, and the file of the profile "
				       "has the callers, too"
				     : "the text has no table of pstats");
	return got > 0 ? merge_first(in, 0, e) : got;
}

static int pstats_run(struct input *in, uint64_t until, struct error *e)
{
	struct pstats *p = in->state;
	int got;

	e->what[0] = '\0';
	while (in->next <= until && in->next != UINT64_MAX) {
		got = pstats_step(p);
		if (!got)
			got = pstats_advance(p, e);
		if (got < 0)
			return -1;
		if (in->next != UINT64_MAX)
			in->next = merge_shifted(p->elapsed, in->shift);
	}
	return 0;
}

static void pstats_close(struct input *in)
{
	struct pstats *p = in->state;

	if (!p)
		return;
	buffer_free(&p->data);
	buffer_free(&p->text);
	input_lines_free(&p->table.lines);
	buffer_free(&p->table.profile);
	id_cache_free(&p->table.rows);
	free(p->items.v);
	free(p->refs.v);
	free(p->strings.v);
	free(p->stack.v);
	frame_locations_free(&p->locations);
	free(p);
	in->state = NULL;
}

const struct decoder decoder_pstats = {
	.name = "pstats",
	.in_order = true,
	.probe = pstats_probe,
	.open = pstats_open,
	.info = pstats_info,
	.begin = pstats_begin,
	.run = pstats_run,
	.close = pstats_close,
};
