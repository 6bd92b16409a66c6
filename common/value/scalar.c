/*
 * scalar.c - numbers: scalars, and their shortest text
 */
#include "common/value/scalar.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/text.h"
#include "common/stream/dictionary.h"

/* Distances. A name that differs by a prefix or suffix is between those that differ by one and by
 * two characters; the length of the prefix or suffix is added. */
enum { SYNONYM = 1, EDIT = 2 * NEAREST_SIZE, AFFIX = 3 * NEAREST_SIZE };
/* Characters that are enough for a prefix or suffix, and for a suffix without a separator. */
enum { AFFIX_SHORTEST = 3, SUFFIX_IN_WORD = 5 };

void nearest_begin(struct nearest *n, const char *word, size_t size)
{
	*n = (struct nearest){.word = word, .size = size};
	/* a third of the characters may differ, and one of a short word */
	n->distance = (unsigned)(size < NEAREST_SIZE ? EDIT * ((size + 1) / 3 + 1) : 0);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool scalar_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Count the characters to insert, remove, replace or exchange with the next. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned rows[3][NEAREST_SIZE], *before = rows[0], *last = rows[1], *now = rows[2], *spare;

	for (size_t j = 0; j <= nb; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			now[j] = least(last[j - 1] + !scalar_same(a[i - 1], b[j - 1]),
				       least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && scalar_same(a[i - 1], b[j - 2]) &&
			    scalar_same(a[i - 2], b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[nb];
}

/* Test whether the shorter text begins the longer ("duration", "dur") or ends it ("sched_switch",
 * "switch"). A short end is preceded by a separator, so that "stupid" does not end with "pid". */
static bool is_affix(const char *longer, size_t nlonger, const char *shorter, size_t nshorter)
{
	const char *end = longer + (nlonger - nshorter);

	if (nshorter < AFFIX_SHORTEST)
		return false;
	if (!strncasecmp(longer, shorter, nshorter))
		return true;
	return !strncasecmp(end, shorter, nshorter) &&
	       (nshorter >= SUFFIX_IN_WORD || (end > longer && !isalnum((unsigned char)end[-1])));
}

/* Test whether a word abbreviates a name: "cnt", "count". */
static bool is_abbreviation(const struct nearest *n, const char *name, size_t size)
{
	size_t at = 0;

	if (n->size < AFFIX_SHORTEST || n->size >= size || size > 2 * n->size ||
	    !scalar_same(*n->word, *name) || !scalar_same(n->word[n->size - 1], name[size - 1]))
		return false;
	for (size_t i = 0; i < size && at < n->size; i++)
		at += scalar_same(n->word[at], name[i]);
	return at == n->size;
}

/* Get how far the word is from a name, or from a part of one; at least n->distance where it is
 * too far. */
static unsigned distance_to(const struct nearest *n, const char *name, size_t size)
{
	bool longer = size > n->size;
	size_t differ = longer ? size - n->size : n->size - size;
	unsigned d = n->distance;

	if (longer ? is_affix(name, size, n->word, n->size)
		   : is_affix(n->word, n->size, name, size))
		d = AFFIX + (unsigned)differ;
	else if (is_abbreviation(n, name, size))
		d = least(d, AFFIX + (unsigned)differ);
	if (EDIT * differ >= n->distance)
		return d;
	return least(d, EDIT * distance(n->word, n->size, name, size));
}

/* Words of other tools, and the names that they mean: columns, fields and keys, formats, options.
 */
static const struct {
	const char *word, *names;
} synonyms[] = {
	{"not", "!"},
	{"mean", "avg"},
	{"average", "avg"},
	{"median", "p50"},
	{"calls", "count"},
	{"hits", "count"},
	{"std", "total_stdev"},
	{"func", "name"},
	{"function", "name"},
	{"symbol", "name"},
	{"event", "type"},
	{"ts", "time"},
	{"timestamp", "time"},
	{"start", "time"},
	{"duration", "dur total"},
	{"total", "dur"},
	{"elapsed", "dur total"},
	{"thread", "tid comm"},
	{"process", "pid comm"},
	{"tgid", "pid"},
	{"task", "comm"},
	{"source", "input"},
	{"src", "file"},
	{"dso", "module"},
	{"lib", "module"},
	{"retval", "ret"},
	{"level", "depth"},
	{"arg1", "arg.1"},
	{"arg2", "arg.2"},
	{"json", "ndjson chrome"},
	{"jsonl", "ndjson"},
	{"html", "svg"},
	{"flamegraph", "svg"},
	{"flame", "svg"},
	{"graphviz", "dot"},
	{"pb", "pprof"},
	{"ctrace", "ctf"},
	{"babeltrace", "ctf"},
	{"trace.dat", "trace-cmd"},
	{"tracecmd", "trace-cmd"},
	{"ftrace", "trace-cmd"},
	{"catapult", "chrome"},
	{"--top", "--limit"},
	{"--head", "--limit"},
	{"--max", "--limit"},
	{"--filter", "--where"},
	{"--format", "--to --from"},
	{"--input-format", "--from"},
	{"--by", "--group"},
	{"--order", "--sort"},
	{"--fields", "--columns"},
	{"--from", "--since"},
	{"--begin", "--since"},
	{"--end", "--until"},
	{"--silent", "--quiet"},
};

static bool is_synonym(const struct nearest *n, const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
		const char *at = synonyms[i].names;

		if (strlen(synonyms[i].word) != n->size ||
		    memcmp(synonyms[i].word, n->word, n->size) != 0)
			continue;
		for (size_t one; *at; at += one + (at[one] == ' ')) {
			one = strcspn(at, " ");
			if (one == size && !memcmp(at, name, size))
				return true;
		}
	}
	return false;
}

void nearest_offer(struct nearest *n, const char *name, size_t size)
{
	const char *colon = memrchr(name, ':', size);
	unsigned d;

	if (!size || size >= NEAREST_SIZE || n->size >= NEAREST_SIZE)
		return;
	if (size == n->size && !memcmp(name, n->word, size)) {
		n->distance = 0;
		n->name[0] = n->second[0] = '\0';
		return;
	}
	if (is_synonym(n, name, size)) {
		bool more = n->distance == SYNONYM;

		if (!n->distance ||
		    (more && strlen(n->name) == size && !memcmp(n->name, name, size)))
			return;
		n->distance = SYNONYM;
		snprintf(more ? n->second : n->name, NEAREST_SIZE, "%.*s", (int)size, name);
		return;
	}
	d = distance_to(n, name, size);
	/* "sched_switch" for "sched:sched_switch" */
	if (colon && !memchr(n->word, ':', n->size))
		d = least(d, EDIT + distance_to(n, colon + 1, size - (size_t)(colon + 1 - name)));
	if (d >= n->distance || d >= EDIT * n->size)
		return;
	n->distance = d;
	memcpy(n->name, name, size);
	n->name[size] = '\0';
}

void nearest_offer_words(struct nearest *n, const char *words)
{
	for (size_t size; *(words += strspn(words, " ")); words += size) {
		size = strcspn(words, " ");
		nearest_offer(n, words, size);
	}
}

bool nearest_means(const struct nearest *n)
{
	return n->distance <= SYNONYM && n->size < NEAREST_SIZE;
}

const char *nearest_hint(struct nearest *n)
{
	if (!n->name[0])
		return "";
	snprintf(n->hint, sizeof n->hint, "; did you mean '%s%s%s'?", n->name,
		 *n->second ? "' or '" : "", n->second);
	return n->hint;
}

/*
 * The algorithm is Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles", 2020),
 * with the powers of ten computed at the first use instead of 617 lines of constants.
 */

__extension__ typedef unsigned __int128 u128;

enum {
	POWER_LEAST = -292, /* of ten */
	POWER_MOST = 324,
	WORDS = 14, /* 64 bits each: for 5^324, and for 2^832 */
	PLAIN_DIGITS = 15,
	DIGITS_MOST = 17,
	POINT_LEAST = -4, /* numbers with a point further left are written with an exponent */
};

#define PLAIN_LIMIT 1000000000000000 /* with more than PLAIN_DIGITS */

/* digits * 10^exponent */
struct decimal {
	uint64_t digits;
	int exponent;
};

/* Powers of ten, each times the power of two that leaves 128 bits, rounded up. */
static _Thread_local u128 powers[POWER_MOST - POWER_LEAST + 1];

/* The upper 128 bits of a large number; *rest: bits are left below them. */
static u128 upper_bits(const uint64_t *words, bool *rest)
{
	int high = WORDS - 1, shift;
	uint64_t w[3];

	while (!words[high])
		high--;
	for (int i = 0; i < 3; i++)
		w[i] = high >= i ? words[high - i] : 0;
	shift = __builtin_clzll(w[0]);
	*rest = high >= 2;
	if (shift) {
		w[0] = w[0] << shift | w[1] >> (64 - shift);
		w[1] = w[1] << shift | w[2] >> (64 - shift);
		*rest = high > 2 || w[2] << shift;
	}
	return (u128)w[0] << 64 | w[1];
}

static void make_powers(void)
{
	uint64_t words[WORDS] = {1};
	bool rest;

	for (int k = 0; k <= POWER_MOST; k++) {
		u128 carry = 0;

		powers[k - POWER_LEAST] = upper_bits(words, &rest);
		powers[k - POWER_LEAST] += rest;
		for (int i = 0; i < WORDS; i++) {
			carry += (u128)words[i] * 5;
			words[i] = (uint64_t)carry;
			carry >>= 64;
		}
	}
	memset(words, 0, sizeof words);
	words[WORDS - 1] = 1;
	for (int k = -1; k >= POWER_LEAST; k--) {
		u128 left = 0;

		for (int i = WORDS - 1; i >= 0; i--) {
			left = left << 64 | words[i];
			words[i] = (uint64_t)(left / 5);
			left %= 5;
		}
		/* no power of two is a multiple of 5 */
		powers[k - POWER_LEAST] = upper_bits(words, &rest) + 1;
	}
}

static inline int floor_shift(int64_t n, unsigned bits)
{
	return (int)(n >> bits);
}

/* The upper 64 bits of n * power; bit 0 is set where there are others. */
static inline uint64_t round_to_odd(u128 power, uint64_t n)
{
	u128 low = (u128)(uint64_t)power * n, product = (u128)(uint64_t)(power >> 64) * n;

	product += (uint64_t)(low >> 64);
	return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

/* The shortest decimal that is nearer to n * 2^q than to its neighbours. closer: the next smaller
 * one is half as far away as the next larger one. The names of the paper. */
static struct decimal shortest(uint64_t n, int q, bool closer)
{
	bool odd = n & 1;
	int k = floor_shift((int64_t)q * 1262611 - (closer ? 524031 : 0), 22);
	int h = q + floor_shift((int64_t)-k * 1741647, 19) + 1;
	u128 g = powers[-k - POWER_LEAST];
	uint64_t lower = round_to_odd(g, (4 * n - 2 + closer) << h) + odd;
	uint64_t upper = round_to_odd(g, (4 * n + 2) << h) - odd;
	uint64_t v = round_to_odd(g, 4 * n << h), s = v / 4;

	if (s >= 10) {
		uint64_t ten = s / 10;
		bool down = lower <= 40 * ten, up = 40 * ten + 40 <= upper;

		if (down != up)
			return (struct decimal){ten + up, k + 1};
	}
	{
		bool down = lower <= 4 * s, up = 4 * s + 4 <= upper;
		bool half_up = v > 4 * s + 2 || (v == 4 * s + 2 && s & 1);

		return (struct decimal){s + (down != up ? up : half_up), k};
	}
}

/* Get the decimal of a number above 0, of `fraction` bits and the exponent as they are stored.
 * */
static struct decimal decimal_of(uint64_t bits, unsigned exponent, int fraction, int bias)
{
	uint64_t n = bits | 1ull << fraction;
	int q = (int)exponent - bias - fraction;

	if (!powers[0])
		make_powers();
	if (!exponent)
		return shortest(bits, 1 - bias - fraction, false);
	/* an integer whose neighbours the type also represents */
	if (q <= 0 && q >= -fraction && !(n & ((1ull << -q) - 1)))
		return (struct decimal){n >> -q, 0};
	return shortest(n, q, !bits && exponent > 1);
}

static struct decimal decimal_of_float(uint32_t bits)
{
	return decimal_of(bits & 0x7fffff, bits >> 23 & 0xff, 23, 127);
}

/* --- layout --- */

static char *put_exponent(char *out, int exponent)
{
	char text[8], *end = text + sizeof text, *p;

	*out++ = 'e';
	*out++ = exponent < 0 ? '-' : '+';
	p = digits_decimal(end, (uint64_t)abs(exponent));
	p = digits_fill(p, end, 2, 2, '0');
	memcpy(out, p, (size_t)(end - p));
	return out + (end - p);
}

/* Remove trailing zeros. */
static struct decimal strip(struct decimal d)
{
	if (d.digits % 100000000 == 0) {
		d.digits /= 100000000;
		d.exponent += 8;
	}
	for (; d.digits % 10 == 0; d.exponent++)
		d.digits /= 10;
	return d;
}

static char *put_decimal(char *out, struct decimal d)
{
	char text[24 + DIGITS_MOST] = {0}, *end = text + 24, *p;
	int n, point; /* digits; of them before the point */

	if (d.exponent || d.digits >= PLAIN_LIMIT)
		d = strip(d);
	p = digits_decimal(end, d.digits);
	n = (int)(end - p);
	point = n + d.exponent;
	if (point <= POINT_LEAST || point > (n > PLAIN_DIGITS ? n : PLAIN_DIGITS)) {
		*out++ = *p++;
		if (--n) {
			*out++ = '.';
			memcpy(out, p, (size_t)n);
		}
		return put_exponent(out + n, point - 1);
	}
	/* copies of DIGITS_MOST bytes are of a length the compiler knows */
	if (point >= n) {
		memcpy(out, p, DIGITS_MOST);
		memset(out + n, '0', (size_t)(point - n));
		return out + point;
	}
	if (point > 0) {
		memcpy(out, p, DIGITS_MOST);
		out[point] = '.';
		memcpy(out + point + 1, p + point, DIGITS_MOST);
		return out + n + 1;
	}
	memcpy(out, "0.000", 5);
	memcpy(out + 2 - point, p, DIGITS_MOST);
	return out + 2 - point + n;
}

size_t shortest_layout(char *out, uint64_t digits, int exponent)
{
	return (size_t)(put_decimal(out, (struct decimal){digits, exponent}) - out);
}

/* Write a number without digits. */
static size_t scalar_put_special(char *out, bool minus, bool nan)
{
	if (nan || !minus) {
		memcpy(out, nan ? "nan" : "inf", 3);
		return 3;
	}
	memcpy(out, "-inf", 4);
	return 4;
}

size_t shortest_double(char *out, double x)
{
	const uint64_t fraction = (1ull << 52) - 1;
	uint64_t bits;
	char *p = out;

	memcpy(&bits, &x, sizeof bits);
	if ((bits >> 52 & 0x7ff) == 0x7ff)
		return scalar_put_special(out, bits >> 63, bits & fraction);
	if (bits >> 63)
		*p++ = '-';
	if (bits << 1)
		p = put_decimal(p, decimal_of(bits & fraction, bits >> 52 & 0x7ff, 52, 1023));
	else
		*p++ = '0';
	return (size_t)(p - out);
}

size_t shortest_float(char *out, float x)
{
	uint32_t bits;
	char *p = out;

	memcpy(&bits, &x, sizeof bits);
	if ((bits >> 23 & 0xff) == 0xff)
		return scalar_put_special(out, bits >> 31, bits & 0x7fffff);
	/* the common elements of matrices */
	if (!(bits >> 31) && x < 10 && x == (float)(int)x) {
		*out = (char)('0' + (int)x);
		return 1;
	}
	if (bits >> 31)
		*p++ = '-';
	if (bits << 1)
		p = put_decimal(p, decimal_of_float(bits));
	else
		*p++ = '0';
	return (size_t)(p - out);
}

double shortest_widen(float x)
{
	/* doubles hold these, and the digits, so that one operation rounds once */
	static const double tens[] = {1e0,  1e1,  1e2,	1e3,  1e4,  1e5,  1e6,	1e7,
				      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	enum { TENS = sizeof tens / sizeof *tens };
	char text[SHORTEST_SIZE + 1];
	struct decimal d;
	uint32_t bits;
	double wide;

	memcpy(&bits, &x, sizeof bits);
	if (!(bits << 1) || (bits >> 23 & 0xff) == 0xff)
		return x;
	d = decimal_of_float(bits);
	if (d.exponent > -TENS && d.exponent < TENS) {
		wide = d.exponent < 0 ? (double)d.digits / tens[-d.exponent]
				      : (double)d.digits * tens[d.exponent];
		return bits >> 31 ? -wide : wide;
	}
	text[shortest_float(text, x)] = '\0';
	return strtod(text, NULL);
}

/* --- scalar --- */

static enum scalar_order order(int sign)
{
	return sign < 0 ? ORDER_LESS : sign > 0 ? ORDER_GREATER : ORDER_EQUAL;
}

/* Convert a number to compare it with another one. */
static long double scalar_as_real(const struct scalar *s, const struct scalar *other)
{
	if (s->form == SCALAR_REAL && s->written && other->form == SCALAR_REAL && other->real_size)
		return other->real_size == 4 ? s->as_float : s->as_double;
	return s->form == SCALAR_REAL  ? s->real
	       : s->form == SCALAR_INT ? (long double)s->i
				       : (long double)s->u;
}

static enum scalar_order scalar_compare_numbers(const struct scalar *a, const struct scalar *b)
{
	bool a_negative = a->form == SCALAR_INT && a->i < 0;
	bool b_negative = b->form == SCALAR_INT && b->i < 0;

	if (a->form == SCALAR_REAL || b->form == SCALAR_REAL) {
		long double x = scalar_as_real(a, b), y = scalar_as_real(b, a);

		if (x != x || y != y)
			return ORDER_UNORDERED;
		return order((x > y) - (x < y));
	}
	if (a_negative != b_negative)
		return a_negative ? ORDER_LESS : ORDER_GREATER;
	/* of the same sign two's complement keeps the order */
	return order((a->u > b->u) - (a->u < b->u));
}

static int compare_bytes(const char *a, size_t an, const char *b, size_t bn)
{
	int sign = memcmp(a, b, an < bn ? an : bn);

	return sign ? sign : (an > bn) - (an < bn);
}

void scalar_basename(const char **text, size_t *size)
{
	const char *slash = memrchr(*text, '/', *size);

	if (slash) {
		*size -= (size_t)(slash + 1 - *text);
		*text = slash + 1;
	}
}

static enum scalar_order compare_texts(const struct scalar *a, const struct scalar *b)
{
	enum scalar_order o = order(compare_bytes(a->text, a->size, b->text, b->size));
	struct scalar x = *a, y = *b;

	if (o == ORDER_EQUAL || !(a->path || b->path))
		return o;
	/* a path and the name of a file in it are equal */
	if (a->path && !(b->path || memchr(b->text, '/', b->size)))
		scalar_basename(&x.text, &x.size);
	if (b->path && !(a->path || memchr(a->text, '/', a->size)))
		scalar_basename(&y.text, &y.size);
	return order(compare_bytes(x.text, x.size, y.text, y.size));
}

/* Test whether the text names a bit that is set, or several. For 0: whether none is. */
static bool scalar_has_bits(const struct scalar *number, const struct scalar *text)
{
	for (uint32_t i = 0; number->names && i < number->names->count; i++) {
		const struct member *m = &number->names->members[i];

		if ((m->low ? (number->u & m->low) == m->low : !number->u) &&
		    !compare_bytes(m->name.text, m->name.size, text->text, text->size))
			return true;
	}
	return false;
}

/* Test whether the text is the spelling of the number. Blanks around each '|' are ignored. */
static bool same_spelling(const struct scalar *number, const struct scalar *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->size; i++) {
		bool blank =
			text->text[i] == ' ' && ((i + 1 < text->size && text->text[i + 1] == '|') ||
						 (i && text->text[i - 1] == '|'));

		if (blank)
			continue;
		if (n == number->size || number->text[n++] != text->text[i])
			return false;
	}
	return n == number->size;
}

/* Compare a number with names with a text. Several names may have one number. */
static enum scalar_order scalar_compare_name(const struct scalar *number, const struct scalar *text)
{
	if (number->character) {
		char c = (char)number->u;

		return order(compare_bytes(&c, 1, text->text, text->size));
	}
	if (number->text && same_spelling(number, text))
		return ORDER_EQUAL;
	if (number->bits)
		return scalar_has_bits(number, text) ? ORDER_EQUAL : ORDER_UNORDERED;
	if (!number->names)
		return number->text ? ORDER_UNORDERED : ORDER_NONE;
	for (const struct member *m = definition_member(number->names, number->u); m;
	     m = definition_next_member(number->names, m, number->u))
		if (!compare_bytes(m->name.text, m->name.size, text->text, text->size))
			return ORDER_EQUAL;
	return ORDER_UNORDERED;
}

enum scalar_order scalar_compare(const struct scalar *a, const struct scalar *b)
{
	enum scalar_order o;

	if (scalar_is_number(a) && scalar_is_number(b))
		return scalar_compare_numbers(a, b);
	if (a->form == SCALAR_TEXT && b->form == SCALAR_TEXT)
		return compare_texts(a, b);
	if (scalar_is_number(a) && b->form == SCALAR_TEXT)
		return scalar_compare_name(a, b);
	if (a->form == SCALAR_TEXT && scalar_is_number(b)) {
		o = scalar_compare_name(b, a);
		return o == ORDER_LESS ? ORDER_GREATER : o == ORDER_GREATER ? ORDER_LESS : o;
	}
	return ORDER_NONE;
}

bool scalar_constant(const char *text, size_t size, struct scalar *s)
{
	static const char *const words[] = {"NULL", "false", "true"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i]) == size && !memcmp(words[i], text, size)) {
			*s = (struct scalar){.form = SCALAR_UINT, .u = i == 2};
			return true;
		}
	return false;
}

bool scalar_true(const struct scalar *s)
{
	switch (s->form) {
	case SCALAR_NONE: return false;
	case SCALAR_OTHER: return true;
	case SCALAR_TEXT: return s->size > 0;
	case SCALAR_REAL: return s->real != 0;
	case SCALAR_INT:
	case SCALAR_UINT: break;
	}
	return s->u != 0;
}

bool scalar_text(const struct scalar *s, char *c, const char **text, size_t *size)
{
	const struct member *m;

	if (s->form == SCALAR_TEXT || (s->text && scalar_is_number(s))) {
		*text = s->text;
		*size = s->size;
		return true;
	}
	if (!scalar_is_number(s))
		return false;
	if (s->character) {
		*c = (char)s->u;
		*text = c;
		*size = 1;
		return true;
	}
	m = definition_member(s->names, s->u);
	if (!m)
		return false;
	*text = m->name.text;
	*size = m->name.size;
	return true;
}
