/*
 * rows_table.c - reads the rows of tables: JSON lines, csv and tsv, as trencode or other programs
 * write them
 *
 *     {"time":1000,"dur":50,"type":"exit","pid":7,"tid":7,"name":"read","args":{"arg1":3}}
 *
 *     ts,elapsed,op,status          trdecode -f csv --map time=ts:ms,dur=elapsed:us,name=op
 *     1764486000123,250,GET /,200
 *
 * The columns of trencode have their own names; --map names those of other tables.
 *
 * Sources: RFC 4180 (csv), RFC 8259 (JSON), ISO 8601 (times), trencode(1) (ROWS).
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "cmd/trdecode/rows_table.h"
#include "common/ftrace/kernel_names.h"
#include "common/stream/value.h"
#include "common/util/text_span.h"
#include "common/value/moment.h"
#include "common/value/scalar.h"
#include "common/value/units.h"

enum {
	IN_CELL_LINES = 1 << 20,  /* bytes of a record of several lines */
	IN_FORMS_BYTES = 8 << 20, /* bytes that decide the types of the columns of csv */
	IN_FORMS_MS = 1000,	  /* the same of a pipe: ms */
};

static const char *const in_names[IN_ROLES] = {
	[IN_TIME] = "time",
	[IN_DUR] = "dur",
	[IN_END] = "end",
	[IN_PID] = "pid",
	[IN_TID] = "tid",
	[IN_CPU] = "cpu",
	[IN_DEPTH] = "depth",
	[IN_LINE] = "line",
	[IN_WEIGHT] = "weight",
	[IN_WEIGHT_TOTAL] = "weight_total",
	[IN_WEIGHT_COUNT] = "weight_count",
	[IN_NAME] = "name",
	[IN_TYPE] = "type",
	[IN_GROUP] = "group",
	[IN_COMM] = "comm",
	[IN_FILE] = "file",
	[IN_MODULE] = "module",
	[IN_KIND] = "kind",
	[IN_STACK] = "stack",
	[IN_ARGS] = "args",
	[IN_VALUE] = "value",
	[IN_UNFINISHED] = "unfinished",
	[IN_WEIGHT_UNIT] = "weight_unit",
	[IN_TIME_UNIT] = "time_unit",
	[IN_NESTING] = "nesting",
	[IN_ERROR] = "ret.name",
};

/* Columns of trencode that follow from others. */
static const char *const in_derived[] = {"self", "caller", "recursive", "class", "input"};

/* Names that other programs give to the time, the duration, ... */
static const struct {
	enum in_role role;
	const char *name;
	const char *unit;
} in_guesses[] = {
	{IN_TIME, "timestamp", NULL},	 {IN_TIME, "@timestamp", NULL},
	{IN_TIME, "ts", NULL},		 {IN_TIME, "datetime", NULL},
	{IN_TIME, "date", NULL},	 {IN_TIME, "time_ns", "ns"},
	{IN_TIME, "time_us", "us"},	 {IN_TIME, "time_ms", "ms"},
	{IN_TIME, "timestamp_ns", "ns"}, {IN_TIME, "timestamp_us", "us"},
	{IN_TIME, "timestamp_ms", "ms"}, {IN_TIME, "ts_ns", "ns"},
	{IN_TIME, "ts_us", "us"},	 {IN_TIME, "ts_ms", "ms"},
	{IN_DUR, "duration_ns", "ns"},	 {IN_DUR, "duration_us", "us"},
	{IN_DUR, "duration_ms", "ms"},	 {IN_DUR, "dur_ns", "ns"},
	{IN_DUR, "dur_us", "us"},	 {IN_DUR, "dur_ms", "ms"},
	{IN_DUR, "elapsed_ns", "ns"},	 {IN_DUR, "elapsed_us", "us"},
	{IN_DUR, "elapsed_ms", "ms"},	 {IN_DUR, "duration", NULL},
	{IN_DUR, "elapsed", NULL},	 {IN_TID, "thread_id", NULL},
	{IN_PID, "process_id", NULL},
};

/* --- times --- */

/* Take so many digits off a span. false: they are not there. */
static bool in_take_digits(struct text_span *s, unsigned digits, unsigned *number)
{
	*number = 0;
	for (; digits; digits--, s->at++) {
		if (s->at == s->end || (unsigned char)(*s->at - '0') > 9)
			return false;
		*number = *number * 10 + (unsigned)(*s->at - '0');
	}
	return true;
}

/* Take digits after a point off a span, as ns; those beyond ns are left out. */
static bool in_take_fraction(struct text_span *s, uint64_t *ns)
{
	uint64_t unit = IN_SECOND / 10;
	const char *first = s->at;

	for (*ns = 0; s->at < s->end && (unsigned char)(*s->at - '0') <= 9; s->at++, unit /= 10)
		*ns += unit * (unsigned)(*s->at - '0');
	return s->at > first;
}

/* Take a zone off a span: Z, +HH, +HHMM or +HH:MM. Returns 0: there is none; -1: it is wrong. */
static int in_take_zone(struct text_span *s, int64_t *seconds)
{
	unsigned hours, minutes = 0;
	bool minus = s->at < s->end && *s->at == '-';

	if (span_skip(s, "Z") || span_skip(s, "z")) {
		*seconds = 0;
		return 1;
	}
	if (s->at == s->end || (*s->at != '+' && !minus))
		return 0;
	s->at++;
	if (!in_take_digits(s, 2, &hours))
		return -1;
	if ((span_skip(s, ":") || s->at < s->end) && !in_take_digits(s, 2, &minutes))
		return -1;
	*seconds = (minus ? -1 : 1) * (int64_t)(hours * 3600 + minutes * 60);
	return hours > 24 || minutes > 59 ? -1 : 1;
}

/* Of what zone a date is: tm_isdst of the local one, which its name may tell, or UTC. */
enum in_zone { IN_LOCAL = -1, IN_STANDARD, IN_SUMMER, IN_UTC };

/* Get the time of a minute: mktime takes longer than all else, and rows are often of the same
 * minute. */
static int64_t in_minute(struct rows_table *r, const char *text, size_t n, const unsigned *of,
			 enum in_zone zone)
{
	struct tm tm = {.tm_year = (int)of[0] - 1900,
			.tm_mon = (int)of[1] - 1,
			.tm_mday = (int)of[2],
			.tm_hour = (int)of[3],
			.tm_min = (int)of[4],
			.tm_isdst = zone};

	if (zone != r->minute_zone || n >= sizeof r->minute_text ||
	    strncmp(r->minute_text, text, n) != 0 || r->minute_text[n]) {
		r->minute = zone == IN_UTC ? timegm(&tm) : mktime(&tm);
		r->minute_zone = zone;
		n = n < sizeof r->minute_text ? n : 0;
		memcpy(r->minute_text, text, n);
		r->minute_text[n] = '\0';
	}
	return r->minute;
}

/* Convert seconds since 1970 and ns to a time of the stream; UINT64_MAX: it is out of range. */
static uint64_t in_since_1970(int64_t seconds, uint64_t ns)
{
	return seconds < 0 || (uint64_t)seconds >= TIME_LIMIT / IN_SECOND
		       ? UINT64_MAX
		       : (uint64_t)seconds * IN_SECOND + ns;
}

/* Find the zone by its name at the end of a date, which may be empty. Returns false if it is none
 * that is known. */
static bool in_named_zone(struct rows_table *r, struct text_span s, enum in_zone none,
			  enum in_zone *zone)
{
	*zone = none;
	if (!span_size(s))
		return true;
	if (none != IN_LOCAL)
		return false;
	*zone = span_is(s, "UTC") || span_is(s, "GMT") ? IN_UTC
		: span_is(s, tzname[0])		       ? IN_STANDARD
		: span_is(s, tzname[1])		       ? IN_SUMMER
						       : IN_LOCAL;
	if (*zone == IN_LOCAL && (*s.at | 0x20) >= 'a' && (*s.at | 0x20) <= 'z')
		r->why = "; its zone is not the local one: set TZ, as in TZ=Europe/Berlin trdecode";
	return *zone != IN_LOCAL;
}

/* Read "YYYY-MM-DD[ HH:MM[:SS[.FRACTION]]][ZONE]", also with a T or a comma of ISO 8601. */
static bool in_iso_time(struct rows_table *r, struct text_span s, uint64_t *time)
{
	unsigned of[5] = {0}, second = 0;
	const char *begin = s.at;
	int64_t zone = 0, seconds;
	uint64_t ns = 0;
	enum in_zone named;
	size_t n;
	int zoned;

	if (!in_take_digits(&s, 4, &of[0]) || !span_skip(&s, "-") ||
	    !in_take_digits(&s, 2, &of[1]) || !span_skip(&s, "-") ||
	    !in_take_digits(&s, 2, &of[2]) || !moment_is_date((int)of[0], (int)of[1], (int)of[2]))
		return false;
	if ((span_skip(&s, "T") || span_skip(&s, "t") || span_skip(&s, " ")) &&
	    (!in_take_digits(&s, 2, &of[3]) || !span_skip(&s, ":") ||
	     !in_take_digits(&s, 2, &of[4]) || of[3] > 23 || of[4] > 59))
		return false;
	n = (size_t)(s.at - begin);
	if (span_skip(&s, ":") && (!in_take_digits(&s, 2, &second) || second > 60))
		return false;
	if ((span_skip(&s, ".") || span_skip(&s, ",")) && !in_take_fraction(&s, &ns))
		return false;
	s.at = span_skip_blanks(s.at, s.end);
	zoned = in_take_zone(&s, &zone);
	if (zoned < 0 || !in_named_zone(r, s, zoned ? IN_UTC : IN_LOCAL, &named))
		return false;
	seconds = in_minute(r, begin, n, of, named) - zone;
	*time = in_since_1970(seconds + second, ns);
	return true;
}

/* Read a time by the pattern of strptime, in which %f is the digits of a fraction. */
static bool in_pattern_time(struct rows_table *r, const struct in_times *t, struct text_span s,
			    uint64_t *time)
{
	struct tm tm = {.tm_isdst = -1, .tm_mday = -1};
	uint64_t ns = 0;
	bool zoned = strstr(t->pattern, "%z") || (t->after && strstr(t->after, "%z"));
	const char *end;
	int64_t seconds, zone;

	if (span_size(s) >= sizeof r->when)
		return false;
	memcpy(r->when, s.at, span_size(s));
	r->when[span_size(s)] = '\0';
	end = strptime(r->when, t->pattern, &tm);
	if (end && t->after) {
		struct text_span rest = {end, r->when + span_size(s)};

		end = in_take_fraction(&rest, &ns) ? strptime(rest.at, t->after, &tm) : NULL;
	}
	if (!end || *end)
		return false;
	if (tm.tm_mday > 0 && !moment_is_date(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday))
		return false;
	if (tm.tm_mday < 1) { /* a time of day */
		*time = (uint64_t)(tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * IN_SECOND + ns;
		return true;
	}
	zone = zoned ? tm.tm_gmtoff : 0;
	seconds = (zoned ? timegm(&tm) : mktime(&tm)) - zone;
	*time = in_since_1970(seconds, ns);
	return true;
}

/* Read "DIGITS[.DIGITS]" in units of scale; 0: with a point they are seconds, without one they have
 * no unit. *ns is UINT64_MAX if that is too late. */
static bool in_scaled(struct text_span s, uint64_t scale, uint64_t *ns)
{
	unsigned __int128 product;
	uint64_t whole = 0, fraction = 0;
	const char *p = s.at;
	bool wide;

	for (; p < s.end && (unsigned char)(*p - '0') <= 9; p++)
		whole = whole * 10 + (unsigned char)(*p - '0');
	wide = p - s.at > 19; /* more than 64 bits */
	if (p == s.at || (p == s.end && !scale))
		return false;
	scale = scale ? scale : IN_SECOND;
	if (p < s.end) {
		uint64_t unit = scale * 10;

		if (*p++ != '.')
			return false;
		for (; p < s.end && (unsigned char)(*p - '0') <= 9; p++) {
			unit /= 10;
			fraction += unit / 10 * (unsigned)(*p - '0') +
				    unit % 10 * (unsigned)(*p - '0') / 10;
		}
		if (p < s.end)
			return false;
	}
	product = (unsigned __int128)whole * scale + fraction;
	*ns = wide || product >= TIME_LIMIT ? UINT64_MAX : (uint64_t)product;
	return true;
}

/* Take ".0" off a number, which pandas and others write where a column has empty cells. */
static struct text_span in_without_zeros(struct text_span s)
{
	const char *end = s.end;

	while (end > s.at && end[-1] == '0')
		end--;
	if (end < s.end && end > s.at && end[-1] == '.')
		s.end = end - 1;
	return s;
}

/* Read a number of a column. Without a unit of --map, a number with a point is seconds, and so are
 * those after it; but not 50.0 after a time in whole ns. */
static bool in_take_scaled(struct rows_table *r, struct in_column *c, struct text_span s,
			   uint64_t *ns)
{
	struct in_times *t = &c->times;
	bool point = memchr(s.at, '.', span_size(s));

	if (t->scale && !t->named)
		return in_scaled(s, t->scale, ns);
	if (point && c->role == IN_DUR) {
		const struct in_column *time = table_column_of_role(r, IN_TIME);

		s = time && time->times.whole ? in_without_zeros(s) : s;
		point = memchr(s.at, '.', span_size(s));
	}
	if (!in_scaled(s, point || t->points ? IN_SECOND : t->scale, ns))
		return false;
	if (point && t->whole) {
		r->why = "; it has a point, and those before it are whole numbers, of ns: give a "
			 "unit with --map";
		return false;
	}
	t->points |= point;
	t->whole |= !t->points && *ns;
	return true;
}

/* Read a time, or a duration, of a column; *ns is TIME_LIMIT or more if that is out of range. */
static bool in_read_time(struct rows_table *r, struct in_column *c, struct text_span s,
			 uint64_t *ns)
{
	char text[40];
	int64_t number;

	s = span_trim(s);
	if (c->times.pattern)
		return in_pattern_time(r, &c->times, s, ns);
	if (in_take_scaled(r, c, s, ns) || (c->role != IN_DUR && in_iso_time(r, s, ns)))
		return true;
	if (*r->why || span_size(s) >= sizeof text || !span_size(s) ||
	    (unsigned char)(*s.at - '0') > 9)
		return false;
	/* with a unit of its own: 1.5ms */
	memcpy(text, s.at, span_size(s));
	text[span_size(s)] = '\0';
	if (strpbrk(text, "eE") && !strpbrk(text, "smhun") && c->times.scale) {
		double d = strtod(text, NULL) * (double)c->times.scale;

		*ns = d < (double)TIME_LIMIT ? (uint64_t)d : UINT64_MAX;
		return true;
	}
	if (!time_has_unit(text) || parse_time(text, &number) || number < 0)
		return false;
	*ns = (uint64_t)number;
	return true;
}

static bool in_is_negative(struct text_span s)
{
	s = span_trim(s);
	return span_size(s) > 1 && *s.at == '-' && (unsigned char)(s.at[1] - '0') <= 9;
}

/* Read the time of a row. Returns false, and notes in r->fault why, if it cannot be one of the
 * stream. */
static bool in_take_time(struct rows_table *r, struct in_column *c, struct text_span s,
			 uint64_t *ns)
{
	bool read;

	r->why = "";
	read = in_read_time(r, c, s, ns);
	if (read && *ns < TIME_LIMIT)
		return true;
	if (in_is_negative(s))
		r->why = ": it is negative";
	error_set(&r->fault, NULL, NO_OFFSET,
		  read ? "its %s '%.*s' is out of range: times begin with 1970, and have fewer "
			 "than 2^62 ns"
		       : "its %s '%.*s' cannot be read%s",
		  in_names[c->role], (int)(span_size(s) < 40 ? span_size(s) : 40), s.at, r->why);
	return false;
}

/* --- --map --- */

static const struct {
	const char *name;
	uint64_t scale;
} in_units[] = {{"s", IN_SECOND}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}, {"ticks", 1}};

/* Set how a column is written from the unit of --map. Returns false if there is no such unit. */
static bool in_unit(struct in_column *c, char *unit)
{
	char *after;

	if (c->role == IN_FIELD) {
		c->form = !strcmp(unit, "int")	  ? IN_VALUE_INT
			  : !strcmp(unit, "real") ? IN_VALUE_REAL
			  : !strcmp(unit, "text") ? IN_VALUE_TEXT
						  : IN_VALUE_ANY;
		return c->form != IN_VALUE_ANY;
	}
	if (c->role != IN_TIME && c->role != IN_DUR && c->role != IN_END)
		return false;
	if (strchr(unit, '%')) {
		c->times.pattern = unit;
		after = strstr(unit, "%f");
		if (after) {
			*after = '\0';
			c->times.after = after + 2;
		}
		return c->role != IN_DUR;
	}
	for (size_t i = 0; i < sizeof in_units / sizeof *in_units; i++)
		if (!strcmp(unit, in_units[i].name)) {
			c->times.scale = in_units[i].scale;
			c->times.ticks = !strcmp(unit, "ticks");
			return true;
		}
	return false;
}

/* Take a part of an item of --map, up to one of the characters `ends`: a text in quotes, or one in
 * which a backslash takes the character after it as it is. *at moves after that character, which is
 * *end; 0: the end of the list. */
static char *in_map_part(char **at, const char *ends, char *end, bool *quoted)
{
	char *text = *at, *from = text, *to = text;
	char *close = *text == '\'' || *text == '"' ? strchr(text + 1, *text) : NULL;

	*quoted = close && strchr(ends, close[1]);
	if (*quoted) {
		text++;
		to = close;
		from = close + 1;
	}
	for (; !strchr(ends, *from); *to++ = *from++)
		from += *from == '\\' && from[1] && strchr("\\=:,'\"", from[1]);
	*end = *from;
	*at = from + (*end != '\0');
	*to = '\0';
	return text;
}

static enum in_role in_role_of(const char *name, size_t n)
{
	unsigned i = 0;

	while (i < IN_ROLES && (strlen(in_names[i]) != n || memcmp(in_names[i], name, n) != 0))
		i++;
	return (enum in_role)i;
}

static bool in_map_has_name(const struct in_column *c, size_t n, uint32_t name)
{
	while (n && c[n - 1].name != name)
		n--;
	return n > 0;
}

/* Take one "FIELD=COLUMN[:UNIT]" or "FIELD=CONSTANT". *end: the character after it. */
static int in_map_add(struct rows_table *r, char **at, char *end, struct error *e)
{
	bool quoted, constant;
	char *item = in_map_part(at, "=,", end, &quoted);
	char *column = *end == '=' ? in_map_part(at, ":,", end, &quoted) : NULL;
	char *unit = column && *end == ':' ? in_map_part(at, ",", end, &constant) : NULL;
	struct in_column c = {.role = in_role_of(item, strlen(item)), .text = column};

	if (!column || !*item || (!*column && !quoted))
		return error_set(e, NULL, NO_OFFSET,
				 "--map takes FIELD=COLUMN[:UNIT],..., such as time=ts:ms,name=op, "
				 "not '%s'",
				 item);
	c.name = writer_text(r->w, item);
	c.size = strlen(c.text);
	constant = !unit && (quoted || strspn(column, "0123456789") == c.size);
	if (unit && strstr(unit, "%Z"))
		return error_set(e, NULL, NO_OFFSET,
				 "--map: %%Z is the name of a zone, which has no offset: write "
				 "the name in the pattern, such as CET, and set TZ, as in "
				 "TZ=Europe/Berlin; %%z is an offset");
	if (unit && !in_unit(&c, unit))
		return error_set(e, NULL, NO_OFFSET, "--map: %s has no unit '%s'; %s", item, unit,
				 c.role == IN_FIELD ? "a field is int, real or text"
				 : c.role == IN_TIME || c.role == IN_END
					 ? "there are s, ms, us, ns, ticks, and patterns such as "
					   "%d/%b/%Y:%H:%M:%S %z"
				 : c.role == IN_DUR ? "there are s, ms, us, ns and ticks"
						    : "times and fields have one");
	if (in_map_has_name(r->maps, r->nmaps, c.name) ||
	    in_map_has_name(r->constants, r->nconstants, c.name))
		return error_set(e, NULL, NO_OFFSET, "--map has %s twice", item);
	if (constant) {
		if (ARRAY_GROW(r->constants, r->constants_capacity, r->nconstants))
			return error_no_memory(e);
		r->constants[r->nconstants++] = c;
		return 0;
	}
	if (ARRAY_GROW(r->maps, r->maps_capacity, r->nmaps))
		return error_no_memory(e);
	r->maps[r->nmaps++] = c;
	return 0;
}

static int in_map_parse(struct rows_table *r, const char *map, struct error *e)
{
	char *at, end;

	if (!map)
		return 0;
	r->map = at = strdup(map);
	if (!r->map)
		return error_no_memory(e);
	do {
		if (in_map_add(r, &at, &end, e))
			return -1;
	} while (end);
	return 0;
}

/* --- columns --- */

/* Test whether --map gives a role to a column, or a constant. */
static bool in_map_has_role(const struct rows_table *r, enum in_role role)
{
	for (size_t i = 0; i < r->nmaps; i++)
		if (r->maps[i].role == role)
			return true;
	for (size_t i = 0; i < r->nconstants; i++)
		if (r->constants[i].role == role)
			return true;
	return false;
}

/* Set the role of a column by --map. false: --map does not name it. */
static bool in_role_by_map(const struct rows_table *r, struct in_column *c)
{
	for (size_t i = 0; i < r->nmaps; i++) {
		const struct in_column *m = &r->maps[i];

		if (m->size == c->size && !memcmp(m->text, c->text, c->size)) {
			c->role = m->role;
			c->form = m->form;
			c->times = m->times;
			c->name = m->name;
			return true;
		}
		if (m->size > c->size && m->text[c->size] == '.' &&
		    !memcmp(m->text, c->text, c->size))
			c->role = IN_INSIDE;
	}
	return c->role == IN_INSIDE;
}

/* Get the name of a field: pandas writes a column without one. 0: out of memory. */
static uint32_t in_field_name(struct rows_table *r, const char *text, size_t n)
{
	return n ? writer_string(r->w, text, n) : writer_text(r->w, "unnamed");
}

/* Set the name of a field by that of its column: trencode names arguments arg.NAME, and fields with
 * the name of another column .NAME. args has both. */
static int in_name_field(struct rows_table *r, struct in_column *c)
{
	size_t skip =
		c->size > 4 && !memcmp(c->text, "arg.", 4) ? 4 : c->size > 1 && *c->text == '.';

	c->name = in_field_name(r, c->text + skip, c->size - skip);
	if (skip && table_column_of_role(r, IN_ARGS))
		c->role = IN_SKIPPED;
	return c->name ? 0 : -1;
}

/* Set the role of a column by its name. */
static void in_role_by_name(struct rows_table *r, struct in_column *c)
{
	enum in_role role = in_role_of(c->text, c->size);

	if (role < IN_ROLES) {
		c->role = in_map_has_role(r, role) ? IN_FIELD : role;
		c->times.scale = 1;
		c->times.named = true;
		return;
	}
	if (r->nmaps)
		return;
	for (size_t i = 0; i < sizeof in_derived / sizeof *in_derived; i++)
		if (strlen(in_derived[i]) == c->size && !memcmp(in_derived[i], c->text, c->size) &&
		    table_column_of_role(r, IN_DUR) &&
		    table_column_of_role(r, IN_DUR)->times.scale == 1)
			c->role = IN_SKIPPED;
	for (size_t i = 0; i < sizeof in_guesses / sizeof *in_guesses; i++) {
		const char *unit = in_guesses[i].unit;

		if (strlen(in_guesses[i].name) != c->size ||
		    strncasecmp(in_guesses[i].name, c->text, c->size) != 0)
			continue;
		c->role = in_guesses[i].role;
		for (size_t u = 0; unit && u < sizeof in_units / sizeof *in_units; u++)
			if (!strcmp(in_units[u].name, unit))
				c->times.scale = in_units[u].scale;
	}
}

/* Get the column of a name, which may be new. NULL: out of memory, or too many (then *most). */
static struct in_column *in_find_or_add_column(struct rows_table *r, const char *text, size_t n,
					       bool *most)
{
	uint32_t *number;
	struct in_column c = {.role = IN_FIELD, .size = n};

	*most = false;
	if (r->guess < r->ncolumns && r->columns[r->guess].size == n &&
	    !memcmp(r->columns[r->guess].text, text, n))
		return &r->columns[r->guess++];
	if (r->ncolumns == IN_COLUMNS_MOST && intern_find(&r->names.keys, text, n) == INTERN_NONE) {
		*most = true;
		return NULL;
	}
	number = id_cache_number(&r->names, text, n);
	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(r->columns, r->columns_capacity, r->ncolumns))
			return NULL;
		c.text = intern_data(&r->names.keys, intern_find(&r->names.keys, text, n));
		if (in_name_field(r, &c))
			return NULL;
		if (!in_role_by_map(r, &c))
			in_role_by_name(r, &c);
		if (c.role < IN_ROLES && c.role != IN_ARGS && table_column_of_role(r, c.role) &&
		    r->nmaps)
			c.role = IN_FIELD;
		r->columns[r->ncolumns++] = c;
		*number = (uint32_t)r->ncolumns;
	}
	r->guess = *number;
	return &r->columns[*number - 1];
}

/* Append names of columns to a text, for messages. */
static void in_list_columns(const struct rows_table *r, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < r->ncolumns && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%.*s", i ? ", " : "",
				       (int)(r->columns[i].size < 40 ? r->columns[i].size : 40),
				       r->columns[i].text);
}

/* Find the column that may be the time or the name, for the example of a message. */
static const struct in_column *in_example(const struct rows_table *r, const char *const *words)
{
	for (; *words; words++)
		for (size_t i = 0; i < r->ncolumns; i++)
			if (strcasestr(r->columns[i].text, *words))
				return &r->columns[i];
	return NULL;
}

/* Test for the columns of trencode, of which --map may say that times are in ticks. */
static bool in_is_of_trencode(struct rows_table *r)
{
	const struct in_column *dur = table_column_of_role(r, IN_DUR);
	bool depth = table_column_of_role(r, IN_DEPTH);

	if (r->nmaps)
		return r->nmaps == 1 && r->maps[0].times.ticks && depth;
	return dur && dur->times.scale == 1 && table_column_of_role(r, IN_TIME) &&
	       (depth || table_column_of_role(r, IN_TYPE));
}

/* Refuse columns that leave open what the time is. */
static int in_check_columns(struct rows_table *r, struct error *e)
{
	static const char *const times[] = {"time", "ts", "date", "start", "stamp", "at", NULL};
	static const char *const names[] = {"name", "op", "msg", "message", "event", NULL};
	const struct in_column *time = in_example(r, times), *name = in_example(r, names);
	bool has_time = in_map_has_role(r, IN_TIME) || in_map_has_role(r, IN_END);
	char list[300];

	in_list_columns(r, list, sizeof list);
	for (size_t i = 0; i < r->ncolumns; i++) {
		const struct in_column *c = &r->columns[i],
				       *first = c->role < IN_ROLES
							? table_column_of_role(r, c->role)
							: c;

		has_time |= c->role == IN_TIME || c->role == IN_END;
		if (first != c && !r->nmaps && c->role != IN_ARGS)
			return error_set(e, r->input->name, NO_OFFSET,
					 "'%s' and '%s' may both be the %s: choose one with --map "
					 "%s=%s",
					 first->text, c->text, in_names[c->role], in_names[c->role],
					 first->text);
	}
	if (has_time)
		return 0;
	time = time ? time : r->ncolumns ? r->columns : NULL;
	return error_set(e, r->input->name, NO_OFFSET,
			 "no column is known to be the time; name the columns, as in --map "
			 "time=%.40s:ms%s%.40s; there are %s%s",
			 time ? time->text : "ts", name && name != time ? ",name=" : "",
			 name && name != time ? name->text : "", list,
			 r->format != IN_NDJSON && r->ncolumns &&
					 strspn(r->columns->text, "0123456789.") == r->columns->size
				 ? ": is there a header?"
				 : "");
}

/* Check, at the end, that the columns of --map are there. */
static int in_check_map(struct rows_table *r, struct error *e)
{
	char list[300];

	for (size_t i = 0; i < r->nmaps; i++) {
		const struct in_column *m = &r->maps[i];
		struct nearest nearest;

		if (intern_find(&r->names.keys, m->text, m->size) != INTERN_NONE)
			continue;
		nearest_begin(&nearest, m->text, m->size);
		for (size_t c = 0; c < r->ncolumns; c++)
			nearest_offer(&nearest, r->columns[c].text, r->columns[c].size);
		in_list_columns(r, list, sizeof list);
		return error_set(e, r->input->name, NO_OFFSET,
				 "--map: no row has the column '%.64s'%s; there are %s", m->text,
				 nearest_hint(&nearest), list);
	}
	return 0;
}

/* --- cells --- */

static bool in_integer(struct text_span s, int64_t *number)
{
	bool minus = s.at < s.end && *s.at == '-';
	uint64_t n;

	s.at += minus;
	if (s.at == s.end || span_digits(s.at, s.end, &n) != s.end)
		return false;
	*number = minus ? -(int64_t)n : (int64_t)n;
	return true;
}

/* Test for a whole number of more than 64 bits: as a number with a point it would be another. */
static bool in_is_beyond(const char *text)
{
	size_t n = strlen(text);
	__int128 number;

	return strspn(text, "-0123456789") == n &&
	       !span_integer((struct text_span){text, text + n}, &number);
}

/* Begin a named value. *at: the offset for in_value_end. */
static int in_value_begin(struct rows_table *r, uint32_t name, size_t *at)
{
	struct buffer *b = &r->values;

	if (buffer_u64(b, name)) /* and its size, 0 */
		return -1;
	r->row.nvalues++;
	*at = b->size;
	if (name == r->texts_return && !r->row.has_return) {
		r->row.has_return = true;
		r->row.return_at = (uint32_t)(b->size - 8);
	}
	return 0;
}

static void in_value_end(struct rows_table *r, size_t at)
{
	put_u32(r->values.data + at - 4, (uint32_t)(r->values.size - at));
}

/* Add a field whose value is a text or a token. */
static int in_put_field(struct rows_table *r, struct in_column *c, const struct in_cell *cell)
{
	struct buffer *b = &r->values;
	struct text_span s = {cell->text, cell->text + cell->size};
	int64_t whole;
	bool number =
		cell->token == JSON_NUMBER || (c->form == IN_VALUE_INT || c->form == IN_VALUE_REAL);
	bool integer = number && in_integer(s, &whole);
	size_t at;
	int failed;

	/* a column beside args, which has it, too */
	if (r->of_trencode && c->name == r->texts_return && r->row.has_return)
		return 0;
	if (in_value_begin(r, c->name, &at))
		return -1;
	/* -0 is a real number */
	if (integer && (whole || *cell->text != '-')) {
		failed = value_put_uint(b, whole < 0 ? VALUE_NEGATIVE : VALUE_UINT,
					whole < 0 ? -(uint64_t)whole : (uint64_t)whole);
	} else if (cell->token == JSON_STRING && number) {
		/* the number may have a NUL after it only in a copy */
		r->path.size = 0;
		if (buffer_append(&r->path, cell->text, cell->size) || buffer_u8(&r->path, 0))
			return -1;
		number = cell->size && json_is_number((const char *)r->path.data) &&
			 (c->form == IN_VALUE_REAL || cell->size > 18 || integer) &&
			 !in_is_beyond((const char *)r->path.data);
		r->unlike += !number;
		failed = number ? json_put_number(b, (const char *)r->path.data, cell->size)
				: value_put_bytes(b, VALUE_STRING, cell->text, cell->size);
	} else if (cell->token == JSON_STRING || (c->form == IN_VALUE_TEXT && number)) {
		failed = value_put_bytes(b, VALUE_STRING, cell->text, cell->size);
	} else if (cell->token == JSON_NUMBER) {
		failed = json_put_number(b, cell->text, cell->size);
	} else {
		failed = value_put_simple(b, cell->token == JSON_TRUE	 ? VALUE_TRUE
					     : cell->token == JSON_FALSE ? VALUE_FALSE
									 : VALUE_NULL);
	}
	in_value_end(r, at);
	return failed;
}

/* Add an object or array as a field; what exceeds the limits is a text. */
static int in_put_nested(struct rows_table *r, uint32_t name, const char *text, size_t n)
{
	struct buffer *b = &r->values;
	size_t at;
	int status;

	if (in_value_begin(r, name, &at))
		return -1;
	status = nested_json_put(&r->objects, r->w, text, n, b);
	if (status > 0) {
		b->size = at;
		status = value_put_bytes(b, VALUE_STRING, text, n);
	}
	in_value_end(r, at);
	return status;
}

/* Add a frame, called by those before it. */
static int in_put_frame(struct rows_table *r, const char *text, size_t n)
{
	if (table_row_push_frame(r))
		return -1;
	r->row.frame = n ? writer_string(r->w, text, n) : writer_text(r->w, "?");
	return r->row.frame ? 0 : -1;
}

/* Take a stack from a text: frames with ";" between, outermost first, or a list of JSON. Returns
 * 1: it is none. */
static int in_put_stack(struct rows_table *r, const char *text, size_t n)
{
	const char *end = text + n, *next;
	enum json_token token;

	r->row.stack = r->row.frame = 0;
	if (n && *text == '[') {
		json_open_text(&r->frames_json, text, n);
		json_next(&r->frames_json);
		while ((token = json_next(&r->frames_json)) == JSON_STRING)
			if (in_put_frame(r, (const char *)r->frames_json.text.data,
					 r->frames_json.text.size))
				return -1;
		if (token == JSON_ARRAY_END)
			return 0;
		r->row.stack = r->row.frame = 0;
		return 1;
	}
	for (; text <= end && n; text = next + 1) {
		next = memchr(text, ';', (size_t)(end - text));
		next = next ? next : end;
		if (in_put_frame(r, text, (size_t)(next - text)))
			return -1;
	}
	return n ? 0 : 1;
}

/* Take a number of the row. Returns false if the cell is none. */
static bool in_take_number(struct rows_table *r, struct in_column *c, struct text_span s)
{
	struct in_row *row = &r->row;
	int64_t n;

	switch (c->role) {
	case IN_TIME: return in_take_time(r, c, s, &row->time);
	case IN_DUR: return in_take_time(r, c, s, &row->dur);
	case IN_END: return in_take_time(r, c, s, &row->end);
	default:
		if (!in_integer(in_without_zeros(span_trim(s)), &n))
			return false;
	}
	switch (c->role) {
	case IN_WEIGHT:
		row->weight = (uint64_t)n;
		row->negative = n < 0;
		return true;
	case IN_WEIGHT_TOTAL: row->total = (uint64_t)n; return true;
	case IN_WEIGHT_COUNT: row->calls = (uint64_t)n; return n >= 0;
	case IN_PID: row->pid = n; break;
	case IN_TID: row->tid = n; break;
	case IN_CPU: row->cpu = n; break;
	case IN_DEPTH: row->depth = n; return n >= 0 && n < UINT16_MAX;
	default: row->line = n; return n >= 0 && n <= INT32_MAX;
	}
	return n >= INT32_MIN && n <= INT32_MAX;
}

/* Get the number of an error; 0: there is no such error. */
static uint16_t in_error_of(struct text_span s)
{
	for (uint16_t i = 1; i < ERRORS_END; i++)
		if (kernel_error_name(i) && span_is(s, kernel_error_name(i)))
			return i;
	return 0;
}

static bool in_take_kind(struct in_row *row, struct text_span s)
{
	static const struct {
		const char *name;
		enum type_kind kind;
	} kinds[] = {{"call", KIND_ENTER},
		     {"instant", KIND_INSTANT},
		     {"counter", KIND_COUNTER},
		     {"sample", KIND_SAMPLE},
		     {"gap", KIND_GAP}};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (span_is(s, kinds[i].name)) {
			row->kind = (uint8_t)kinds[i].kind;
			return true;
		}
	return false;
}

/* Take a cell of a column with a role. Returns 1; 0: it does not fit the role; -1: out of memory.
 */
static int in_take_cell(struct rows_table *r, struct in_column *c, const struct in_cell *cell)
{
	struct text_span s = {cell->text, cell->text + cell->size};
	struct in_row *row = &r->row;
	bool text = cell->token == JSON_STRING || cell->token == JSON_NUMBER;
	int status;

	switch (c->role) {
	case IN_STACK:
		status = text ? in_put_stack(r, cell->text, cell->size) : 1;
		return status < 0 ? -1 : !status;
	case IN_KIND: return text && in_take_kind(row, s);
	case IN_UNFINISHED: row->unfinished = cell->token == JSON_TRUE || span_is(s, "1"); return 1;
	case IN_WEIGHT_UNIT: return row->timed = span_is(s, "ns");
	case IN_TIME_UNIT: return row->ticks = span_is(s, "ticks");
	case IN_NESTING:
		row->nesting = span_is(s, "cpu")      ? IN_OF_CPU
			       : span_is(s, "none")   ? IN_OF_NONE
			       : span_is(s, "kernel") ? IN_OF_KERNEL
			       : span_is(s, "inner")  ? IN_INNER
						      : IN_OF_THREAD;
		return row->nesting != IN_OF_THREAD;
	case IN_ERROR: row->error = in_error_of(s); return row->error > 0;
	case IN_ARGS:
	case IN_VALUE: return 0;
	default: break;
	}
	if (!text)
		return 0;
	if (c->role < IN_NAME)
		return in_take_number(r, c, s);
	row->texts[c->role - IN_NAME] = writer_string(r->w, cell->text, cell->size);
	return row->texts[c->role - IN_NAME] || !cell->size;
}

/* Take a cell without children. Returns 0, or -1 when out of memory. */
static int in_put_cell(struct rows_table *r, struct in_column *c, const struct in_cell *cell)
{
	int taken;

	if (c->role == IN_FIELD)
		return in_put_field(r, c, cell);
	if (c->role >= IN_SKIPPED || cell->token == JSON_NULL)
		return 0;
	taken = in_take_cell(r, c, cell);
	if (taken > 0 || c->role == IN_VALUE)
		r->row.present |= 1u << c->role;
	if (taken)
		return taken < 0 ? -1 : 0;
	if (c->role == IN_DUR &&
	    in_is_negative((struct text_span){cell->text, cell->text + cell->size})) {
		input_damage(r->input, r->input->name, r->row_offset,
			     "the row is read without a duration: %s", r->fault.what);
		return 0;
	}
	r->unlike += c->role != IN_TIME && c->role < IN_VALUE;
	return in_put_field(r, c, cell);
}

/* --- JSON lines --- */

/* Take the object or array that token began as the value of a column. */
static int in_copy_nested(struct rows_table *r, struct json_reader *json, struct in_column *c,
			  enum json_token token)
{
	int status;

	r->json_text.size = 0;
	if (json_copy(json, token, &r->json_text, SIZE_MAX))
		return json->failed ? -1 : 1;
	if (c->role == IN_STACK) {
		status = in_put_stack(r, (const char *)r->json_text.data, r->json_text.size);
		if (status <= 0) {
			r->row.present |= status ? 0 : 1u << IN_STACK;
			return status;
		}
	}
	return in_put_nested(r, c->name, (const char *)r->json_text.data, r->json_text.size);
}

/* Read the members of args, whose '{' was read: each is a field. The list "stack" of an instant is
 * its stack, too. Returns 1: they are no JSON. */
static int in_read_args(struct rows_table *r, struct json_reader *json)
{
	struct in_column field = {.role = IN_FIELD};
	enum json_token token;
	int status = 0;
	bool stack;

	while (!status) {
		token = json_next(json);
		if (token != JSON_KEY)
			return token == JSON_OBJECT_END ? 0 : 1;
		field.name = in_field_name(r, (const char *)json->text.data, json->text.size);
		stack = json_is(json, "stack") && !(r->row.present >> IN_STACK & 1);
		token = json_next(json);
		if (token == JSON_BAD)
			return 1;
		if (token != JSON_OBJECT && token != JSON_ARRAY) {
			struct in_cell cell = {(const char *)json->text.data, json->text.size,
					       token, false};

			status = in_put_field(r, &field, &cell);
			continue;
		}
		status = in_copy_nested(r, json, &field, token);
		if (!status && stack && token == JSON_ARRAY)
			r->row.in_args = !in_put_stack(r, (const char *)r->json_text.data,
						       r->json_text.size);
	}
	return status;
}

/* Get the column of the key that was read, in an object of that name. */
static struct in_column *in_key_column(struct rows_table *r, const struct json_reader *json,
				       const char *prefix, bool *most)
{
	if (!prefix)
		return in_find_or_add_column(r, (const char *)json->text.data, json->text.size,
					     most);
	r->path.size = 0;
	*most = false;
	if (buffer_puts(&r->path, prefix) || buffer_u8(&r->path, '.') ||
	    buffer_append(&r->path, json->text.data, json->text.size))
		return NULL;
	return in_find_or_add_column(r, (const char *)r->path.data, r->path.size, most);
}

/* Read the members of an object, whose '{' was read. Returns 1: they are no JSON. */
static int in_read_object(struct rows_table *r, struct json_reader *json, const char *prefix,
			  unsigned depth)
{
	int status = 0;

	while (!status) {
		enum json_token token = json_next(json);
		struct in_column *c;
		bool most;

		if (token != JSON_KEY)
			return token == JSON_OBJECT_END ? 0 : 1;
		c = in_key_column(r, json, prefix, &most);
		if (!c && !most)
			return -1;
		token = json_next(json);
		if (token == JSON_BAD)
			return 1;
		if (!c) {
			r->beyond_columns++;
			status = !json_skip(json, token);
		} else if (token == JSON_OBJECT && c->role == IN_ARGS) {
			status = in_read_args(r, json);
		} else if (token == JSON_OBJECT && c->role == IN_INSIDE && depth) {
			status = in_read_object(r, json, c->text, depth - 1);
		} else if (token == JSON_OBJECT || token == JSON_ARRAY) {
			status = in_copy_nested(r, json, c, token);
		} else {
			status = in_put_cell(r, c,
					     &(struct in_cell){(const char *)json->text.data,
							       json->text.size, token, false});
		}
	}
	return status;
}

/* --- lines and records --- */

/* Get the next line: one that is read again, or one of the input. */
static int in_line(struct rows_table *r, const char **text, size_t *n, struct error *e)
{
	int got;

	if (r->again_at < r->again.size) {
		const char *at = (const char *)r->again.data + r->again_at;
		const char *end = memchr(at, '\n', r->again.size - r->again_at);

		*text = at;
		*n = (size_t)(end - at);
		r->row_offset = r->again_offset + r->again_at;
		r->again_at += *n + 1;
		return 1;
	}
	do {
		got = input_lines_next(&r->lines, r->input, text, n, e);
		r->row_offset = r->lines.offset;
		if (got > 0 && r->lines.cut)
			input_damage(r->input, r->input->name, r->row_offset,
				     "a row of more than %d MiB is left out", LINE_MOST >> 20);
	} while (got > 0 && r->lines.cut);
	if (got > 0 && !r->row_offset && *n >= 3 && !memcmp(*text, "\xef\xbb\xbf", 3)) {
		*text += 3;
		*n -= 3;
	}
	return got;
}

/* Test for an empty line, or one of a bracket around all rows. Takes brackets and commas between
 * rows off, as sqlite3 -json writes them. */
static bool in_is_blank(struct text_span *s)
{
	*s = span_trim(*s);
	while (s->at < s->end && (*s->at == '[' || *s->at == ','))
		*s = span_trim((struct text_span){s->at + 1, s->end});
	while (s->at < s->end && (s->end[-1] == ']' || s->end[-1] == ','))
		*s = span_trim((struct text_span){s->at, s->end - 1});
	return s->at == s->end;
}

/* Begin a row, with the constants of --map. */
static int in_row_begin(struct rows_table *r)
{
	r->values.size = 0;
	r->row = (struct in_row){.kind = KIND_COUNT};
	r->fault.what[0] = '\0';
	r->guess = 0;
	for (size_t i = 0; i < r->nconstants; i++) {
		struct in_cell cell = {r->constants[i].text, r->constants[i].size, JSON_STRING,
				       false};

		if (in_put_cell(r, &r->constants[i], &cell))
			return -1;
	}
	return 0;
}

/* Note why a row is left out. Returns what the functions below return then. */
#define IN_LEAVE_OUT(r, at, ...) (error_set(&(r)->fault, NULL, at, __VA_ARGS__), IN_LEFT_OUT)
enum { IN_LEFT_OUT = 2 };

/* Read the next row of JSON lines. Returns 1; 0: no more; IN_LEFT_OUT; -1 with *e. */
static int in_ndjson_row(struct rows_table *r, struct error *e)
{
	const char *text;
	struct text_span s;
	size_t n;
	int status;

	do {
		status = in_line(r, &text, &n, e);
		if (status <= 0)
			return status;
		s = (struct text_span){text, text + n};
		r->listed |= span_begins(span_trim(s), "[");
	} while (in_is_blank(&s));
	if (in_row_begin(r))
		return error_no_memory(e);
	json_open_text(&r->json, s.at, span_size(s));
	if (json_next(&r->json) != JSON_OBJECT)
		return IN_LEAVE_OUT(r, r->row_offset, "it is no object of JSON");
	status = in_read_object(r, &r->json, NULL, JSON_DEPTH);
	if (status < 0)
		return error_no_memory(e);
	if (!status && json_next(&r->json) == JSON_END)
		return 1;
	return IN_LEAVE_OUT(r, r->row_offset + r->json.at, "%s%s",
			    status && r->json.error.what[0] ? r->json.error.what
							    : "text after its object",
			    status && span_size(s) > 1 ? ""
			    : r->listed ? "; jq -c '.[]' writes each object of a list as a line"
					: "; jq -c . writes each object as a line");
}

/* --- csv and tsv --- */

enum in_split_status { IN_SPLIT, IN_OPEN_QUOTE, IN_BAD_QUOTE, IN_MANY_CELLS, IN_NO_MEMORY };

/* Take a quoted cell whose quote was read off a record; undo doubled quotes. */
static enum in_split_status in_take_quoted(struct rows_table *r, struct text_span *s,
					   struct in_cell *cell)
{
	size_t begin = r->cell.size;
	const char *quote;

	for (;;) {
		quote = memchr(s->at, '"', span_size(*s));
		if (!quote)
			return IN_OPEN_QUOTE;
		if (quote + 1 == s->end || quote[1] != '"')
			break;
		if (buffer_append(&r->cell, s->at, (size_t)(quote + 1 - s->at)))
			return IN_NO_MEMORY;
		s->at = quote + 2;
	}
	if (r->cell.size == begin) {
		*cell = (struct in_cell){s->at, (size_t)(quote - s->at), JSON_STRING, true};
	} else {
		if (buffer_append(&r->cell, s->at, (size_t)(quote - s->at)))
			return IN_NO_MEMORY;
		*cell = (struct in_cell){(char *)r->cell.data + begin, r->cell.size - begin,
					 JSON_STRING, true};
	}
	s->at = quote + 1;
	return s->at == s->end || *s->at == ',' ? IN_SPLIT : IN_BAD_QUOTE;
}

/* Undo the escapes \t \n \r \\ of a cell of tsv. */
static int in_undo_tsv(struct rows_table *r, struct in_cell *cell)
{
	static const char from[] = "tnr\\", to[] = "\t\n\r\\";
	const char *p = cell->text, *end = p + cell->size;
	size_t begin = r->cell.size;

	if (p == end)
		return 0;
	for (; p < end; p++) {
		const char *letter = *p == '\\' && p + 1 < end && p[1] ? strchr(from, p[1]) : NULL;

		if (buffer_u8(&r->cell, (uint8_t)(letter ? to[letter - from] : *p)))
			return -1;
		p += letter != NULL;
	}
	cell->text = (char *)r->cell.data + begin;
	cell->size = r->cell.size - begin;
	return 0;
}

/* Find a separator, or the end. Cells have a few bytes: memchr takes longer, and so do single
 * bytes, as the number of a loop's turns is not predicted (a twentieth of reading csv). */
static inline const char *in_cell_end(const char *at, const char *end, char separator)
{
	const uint64_t ones = UINT64_MAX / 255, high = ones << 7;

	for (; end - at >= 8; at += 8) {
		uint64_t x = get_u64((const uint8_t *)at) ^ ones * (uint8_t)separator;

		x = (x - ones) & ~x & high; /* the lowest bit is of the first byte that is equal */
		if (x)
			return at + __builtin_ctzll(x) / 8;
	}
	while (at < end && *at != separator)
		at++;
	return at;
}

/* Split a record into r->cells. */
static enum in_split_status in_split(struct rows_table *r, const char *text, size_t n)
{
	struct text_span s = {text, text + n};
	bool csv = r->format == IN_CSV;
	struct in_cell *cell = r->cells, *most = cell + IN_COLUMNS_MOST;

	r->cell.size = 0;
	/* what is appended never moves */
	if (buffer_reserve(&r->cell, n + 1))
		return IN_NO_MEMORY;
	for (;; s.at++) {
		const char *begin = s.at;

		if (cell == most)
			return IN_MANY_CELLS;
		if (csv && s.at < s.end && *s.at == '"') {
			enum in_split_status status;

			s.at++;
			status = in_take_quoted(r, &s, cell);
			if (status)
				return status;
		} else {
			s.at = in_cell_end(s.at, s.end, csv ? ',' : '\t');
			*cell = (struct in_cell){begin, (size_t)(s.at - begin), JSON_STRING, false};
			if (!csv && memchr(begin, '\\', cell->size) && in_undo_tsv(r, cell))
				return IN_NO_MEMORY;
		}
		cell++;
		if (s.at == s.end)
			break;
	}
	r->ncells = (size_t)(cell - r->cells);
	return IN_SPLIT;
}

static bool in_odd_quotes(const char *p, size_t n)
{
	const char *end = p + n;
	bool odd = false;

	while ((p = memchr(p, '"', (size_t)(end - p)))) {
		odd = !odd;
		p++;
	}
	return odd;
}

/* Join the lines of a record with a quoted cell of several lines, and split the record. If its end
 * is not found, the lines after the first are read again, unless they were before. */
static int in_join(struct rows_table *r, const char *text, size_t n, struct error *e)
{
	uint64_t offset = r->row_offset, again = 0, next = r->lines.next;
	bool closed = false, memory = true;
	size_t first = n, at = r->again_at;

	r->record.size = 0;
	memory = !buffer_append(&r->record, text, n);
	while (memory && !closed && r->record.size < IN_CELL_LINES) {
		int got = in_line(r, &text, &n, e);

		if (got < 0)
			return -1;
		if (!got)
			break;
		again = again ? again : r->row_offset;
		closed = in_odd_quotes(text, n);
		memory = !buffer_u8(&r->record, '\n') && !buffer_append(&r->record, text, n);
	}
	r->row_offset = offset;
	if (!memory)
		return error_no_memory(e);
	if (closed && in_split(r, (char *)r->record.data, r->record.size) == IN_SPLIT)
		return 1;
	if (r->record.size > first && r->reread + r->record.size < r->lines.next) {
		if (r->lines.next == next) {
			/* all are among those that are read again */
			r->again_at = at;
		} else {
			r->again.size = r->again_at = 0;
			r->again_offset = again;
			if (buffer_append(&r->again, r->record.data + first + 1,
					  r->record.size - first - 1) ||
			    buffer_u8(&r->again, '\n'))
				return error_no_memory(e);
		}
		r->reread += r->record.size;
	}
	return IN_LEAVE_OUT(r, offset, "a quote has no end");
}

/* Read the next record into r->cells. Returns as in_ndjson_row. */
static int in_record_next(struct rows_table *r, struct error *e)
{
	const char *text;
	size_t n;
	int got;

	if (r->format == IN_ARROW)
		return arrow_rows_next(&r->arrow, r->cells, IN_COLUMNS_MOST, &r->ncells,
				       &r->row_offset, e);
	do {
		got = in_line(r, &text, &n, e);
		if (got <= 0)
			return got;
	} while (!n);
	switch (in_split(r, text, n)) {
	case IN_SPLIT: return 1;
	case IN_OPEN_QUOTE: return in_join(r, text, n, e);
	case IN_NO_MEMORY: return error_no_memory(e);
	case IN_MANY_CELLS:
		return IN_LEAVE_OUT(r, r->row_offset, "it has more than %d cells", IN_COLUMNS_MOST);
	default: return IN_LEAVE_OUT(r, r->row_offset, "text after a quoted cell");
	}
}

/* Read the header, the names of the columns. */
static int in_read_header(struct rows_table *r, struct error *e)
{
	int got = in_record_next(r, e);

	if (got == IN_LEFT_OUT)
		return error_set(e, r->input->name, r->fault.offset, "the header: %s",
				 r->fault.what);
	for (size_t i = 0; got > 0 && i < r->ncells; i++) {
		bool most;
		struct text_span name = span_trim(
			(struct text_span){r->cells[i].text, r->cells[i].text + r->cells[i].size});
		struct in_column *c = in_find_or_add_column(r, name.at, span_size(name), &most);

		if (!c || ARRAY_REACH(r->order, r->order_capacity, i))
			return error_no_memory(e);
		r->order[r->norder++] = (uint32_t)(c - r->columns);
	}
	if (r->norder == 1 && r->columns->size && strpbrk(r->columns->text, ",;|\t"))
		return error_set(e, r->input->name, NO_OFFSET,
				 "the header has one column, '%.40s': there is a comma between "
				 "cells of csv, and a tab between those of tsv",
				 r->columns->text);
	return got < 0 ? -1 : 0;
}

/* Take the cells of a line into account for the types of the columns. *inside: the line is in a
 * record of several lines, which is left out. */
static void in_note_forms(struct rows_table *r, const char *line, size_t n, bool *inside)
{
	enum in_split_status status = IN_OPEN_QUOTE;

	if (*inside)
		*inside = !in_odd_quotes(line, n);
	else
		*inside = (status = in_split(r, line, n)) == IN_OPEN_QUOTE;
	for (size_t i = 0; status == IN_SPLIT && r->ncells == r->norder && i < r->norder; i++) {
		struct in_column *c = &r->columns[r->order[i]];
		const struct in_cell *cell = &r->cells[i];
		char text[64];
		int64_t whole;

		if (c->form != IN_VALUE_ANY || c->looked_text || !cell->size)
			continue;
		c->any = true;
		if (in_integer((struct text_span){cell->text, cell->text + cell->size}, &whole) &&
		    (cell->size < 2 || *cell->text != '0'))
			continue;
		if (cell->size < sizeof text) {
			memcpy(text, cell->text, cell->size);
			text[cell->size] = '\0';
			if (json_is_number(text) && !in_is_beyond(text)) {
				c->looked_real = true;
				continue;
			}
		}
		c->looked_text = true;
	}
}

/* The place of a file that is read beforehand. */
struct in_ahead {
	int fd;
	uint64_t at;
};

static ssize_t in_read_ahead(void *ctx, void *to, size_t n, struct error *e)
{
	struct in_ahead *l = ctx;
	ssize_t got = io_read_at(l->fd, to, n, l->at);

	(void)e;
	l->at += got > 0 ? (uint64_t)got : 0;
	return got > 0 ? got : 0;
}

/* Look at the first 8 MiB of a file: they need not be in memory. */
static int in_note_file(struct rows_table *r, struct error *e)
{
	size_t have = r->lines.data.size - r->lines.begin, n;
	struct in_ahead at = {r->input->fd, (uint64_t)lseek(r->input->fd, 0, SEEK_CUR) - have};
	struct input_lines look = {.source = {in_read_ahead, &at}};
	bool inside = false;
	const char *text;
	int got = 0;

	while (look.next < IN_FORMS_BYTES &&
	       (got = input_lines_next(&look, r->input, &text, &n, e)) > 0)
		in_note_forms(r, text, n, &inside);
	input_lines_free(&look);
	return got < 0 ? -1 : 0;
}

/* Read the first 8 MiB, or what a pipe gives in a second, and look at their values. */
static int in_note_pipe(struct rows_table *r, struct error *e)
{
	struct input_lines *l = &r->lines;
	struct pollfd p = {.fd = r->input->fd, .events = POLLIN};
	struct timespec start, now;
	const char *at, *end, *next;
	int left = IN_FORMS_MS;
	bool inside = false;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (!l->ended && l->data.size - l->begin < IN_FORMS_BYTES && left > 0) {
		if (l->begun && r->input->file.live && poll(&p, 1, left) == 0)
			break;
		if (input_lines_fill(l, r->input, l->data.size - l->begin + 1, e))
			return -1;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (r->input->file.live)
			left = IN_FORMS_MS - (int)((now.tv_sec - start.tv_sec) * 1000 +
						   (now.tv_nsec - start.tv_nsec) / 1000000);
	}
	at = (const char *)l->data.data + l->begin;
	end = (const char *)l->data.data + l->data.size;
	for (; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (!next && !l->ended)
			break;
		next = next ? next : end;
		in_note_forms(r, at, (size_t)(next - at) - (next > at && next[-1] == '\r'),
			      &inside);
	}
	return 0;
}

/* Find the types of the fields by their first values. */
static int in_find_forms(struct rows_table *r, struct error *e)
{
	if (input_is_file(r->input->fd) ? in_note_file(r, e) : in_note_pipe(r, e))
		return -1;
	for (size_t i = 0; i < r->ncolumns; i++) {
		struct in_column *c = &r->columns[i];

		if (c->form == IN_VALUE_ANY && c->any)
			c->form = c->looked_text   ? IN_VALUE_TEXT
				  : c->looked_real ? IN_VALUE_REAL
						   : IN_VALUE_INT;
	}
	return 0;
}

/* Test whether the type of a column depends on its values. */
static bool in_needs_forms(const struct rows_table *r)
{
	for (size_t i = 0; i < r->ncolumns && r->format != IN_ARROW; i++)
		if ((r->columns[i].role == IN_FIELD || r->columns[i].role == IN_VALUE) &&
		    r->columns[i].form == IN_VALUE_ANY)
			return true;
	return false;
}

/* Take a cell of a record. */
static int in_put_record_cell(struct rows_table *r, struct in_column *c, const struct in_cell *cell)
{
	enum json_token token;

	if (!cell->size && !cell->quoted)
		return 0;
	if (cell->token == JSON_ARRAY || cell->token == JSON_OBJECT) {
		if (c->role == IN_STACK)
			return in_put_cell(
				r, c, &(struct in_cell){cell->text, cell->size, JSON_STRING, true});
		if (c->role != IN_ARGS || cell->token == JSON_ARRAY)
			return c->role == IN_SKIPPED
				       ? 0
				       : in_put_nested(r, c->name, cell->text, cell->size);
	}
	if (c->role == IN_FIELD)
		return in_put_field(r, c, cell);
	if (c->role != IN_ARGS || *cell->text != '{')
		return in_put_cell(r, c, cell);
	json_open_text(&r->json, cell->text, cell->size);
	token = json_next(&r->json);
	return token == JSON_OBJECT ? in_read_args(r, &r->json) : in_put_cell(r, c, cell);
}

/* Read the next row of csv, tsv or Arrow; as in_ndjson_row. */
static int in_delimited_row(struct rows_table *r, struct error *e)
{
	int got = in_record_next(r, e);

	if (got != 1)
		return got;
	if (r->ncells != r->norder)
		return IN_LEAVE_OUT(r, r->row_offset,
				    "it has %s cells than the header, which has %zu",
				    r->ncells < r->norder ? "fewer" : "more", r->norder);
	if (in_row_begin(r))
		return error_no_memory(e);
	for (size_t i = 0; i < r->ncells; i++) {
		int status = in_put_record_cell(r, &r->columns[r->order[i]], &r->cells[i]);

		if (status < 0)
			return error_no_memory(e);
		if (status)
			return IN_LEAVE_OUT(r, r->row_offset, "its args are no JSON");
	}
	return 1;
}

/* --- the first row, and the times of each --- */

/* Refuse times without a unit, by the first row. */
static int in_check_units(struct rows_table *r, struct error *e)
{
	for (size_t i = 0; i < r->ncolumns; i++) {
		const struct in_column *c = &r->columns[i];

		if ((c->role != IN_TIME && c->role != IN_DUR && c->role != IN_END) ||
		    table_row_has(&r->row, c->role) || c->times.scale || c->times.pattern)
			continue;
		r->unlike = 0;
		return error_set(e, r->input->name, NO_OFFSET,
				 "the numbers in '%.40s' have no unit: give one, as in --map "
				 "%s=%.40s:ms (s, ms, us, ns, ticks, or a pattern of strptime)",
				 c->text, in_names[c->role], c->text);
	}
	return 0;
}

/* Read the next row. Returns 1; 0: no more; -1 with *e. */
static int in_next_row(struct rows_table *r, struct error *e)
{
	int got;

	for (;;) {
		got = r->format == IN_NDJSON ? in_ndjson_row(r, e) : in_delimited_row(r, e);
		if (got != IN_LEFT_OUT)
			return got;
		input_damage(r->input, r->input->name, r->fault.offset, "a row is left out: %s",
			     r->fault.what);
	}
}

/* Report that the row has no time. */
static void in_timeless(struct rows_table *r)
{
	input_damage(r->input, r->input->name, r->row_offset, "a row is left out: %s",
		     r->fault.what[0] ? r->fault.what : "it has no time");
}

/* Get the ns of a time's last digit, as far as its column shows them. */
static uint64_t in_precision(struct rows_table *r, enum in_role role)
{
	const struct in_column *c = table_column_of_role(r, role);

	return !c || !c->times.scale || c->times.points ? 1000000 : c->times.scale;
}

/* Report times of a row that contradict each other. */
static void in_check_times(struct rows_table *r)
{
	const struct in_row *row = &r->row;
	uint64_t span = row->end - row->time, rounded;

	if (row->end < row->time) {
		input_damage(r->input, r->input->name, r->row_offset,
			     "the end of a row is before its time: it is left out");
		return;
	}
	rounded = in_precision(r, IN_TIME) + in_precision(r, IN_END) + in_precision(r, IN_DUR);
	if (table_row_has(row, IN_DUR) &&
	    (row->dur > span ? row->dur - span : span - row->dur) > rounded)
		input_damage(r->input, r->input->name, r->row_offset,
			     "the end of a row is not its time and dur: it is left out");
}

/* Set the start and the duration of the row by its end. Returns false if it has no time. */
static bool in_set_times(struct rows_table *r)
{
	struct in_row *row = &r->row;

	if (table_row_has(row, IN_END) && table_row_has(row, IN_TIME)) {
		in_check_times(r);
		if (!table_row_has(row, IN_DUR) && row->end >= row->time) {
			row->dur = row->end - row->time;
			row->present |= 1u << IN_DUR;
		}
	} else if (table_row_has(row, IN_END) && row->end >= row->dur) {
		row->time = row->end - row->dur;
		row->present |= 1u << IN_TIME;
	} else if (table_row_has(row, IN_END)) {
		error_set(&r->fault, NULL, NO_OFFSET,
			  "its dur is more than its end: it begins before 0");
	}
	row->present &= ~(1u << IN_END);
	return table_row_has(row, IN_TIME);
}

/* Get the error that a row returned, if its name is that of the number, which is a text in a column
 * that has others. */
static uint16_t in_returned_error(const struct rows_table *r)
{
	const uint8_t *at;
	struct values v;
	struct value value;
	int64_t number;

	if (!r->row.error || !r->row.has_return)
		return 0;
	at = r->values.data + r->row.return_at + 8;
	values_begin(&v, at, get_u32(at - 4));
	if (!values_value(&v, &value))
		return 0;
	number = (int64_t)value.number;
	if (value.tag == VALUE_STRING &&
	    !in_integer((struct text_span){(const char *)value.bytes,
					   (const char *)value.bytes + value.n},
			&number))
		return 0;
	return number == -r->row.error ? r->row.error : 0;
}

/* Set the units of the times of Arrow, which --map may replace. */
static void in_set_scales(struct rows_table *r)
{
	for (size_t i = 0; r->arrow.scales && i < r->norder; i++) {
		struct in_times *t = &r->columns[r->order[i]].times;
		uint64_t scale = r->arrow.scales[i];

		if (scale && !t->pattern && (t->named || !t->scale)) {
			t->scale = scale;
			t->named = false;
		}
	}
}

/* Read the header, the names of the columns, and find the types of these. */
static int in_begin_delimited(struct rows_table *r, struct error *e)
{
	if (in_read_header(r, e))
		return -1;
	in_set_scales(r);
	if (r->norder && (in_check_columns(r, e) || in_check_map(r, e)))
		return -1;
	r->checked = true;
	r->of_trencode = in_is_of_trencode(r);
	return in_needs_forms(r) ? in_find_forms(r, e) : 0;
}

/* Check the columns by the rows up to the first with a time. */
static int in_check_first(struct rows_table *r, struct error *e)
{
	if (!r->checked && in_check_columns(r, e))
		return -1;
	r->checked = true;
	r->of_trencode = in_is_of_trencode(r);
	return in_check_units(r, e);
}

int rows_table_next(struct rows_table *r, struct error *e)
{
	if (!r->checked && r->format != IN_NDJSON && in_begin_delimited(r, e))
		return -1;
	for (;;) {
		int got = in_next_row(r, e);

		if (got <= 0)
			return got < 0 || (r->begun && in_check_map(r, e)) ? -1 : 0;
		if (!r->begun && in_check_first(r, e))
			return -1;
		if (in_set_times(r)) {
			r->begun = true;
			r->row.error = in_returned_error(r);
			return 1;
		}
		in_timeless(r);
	}
}

/* --- which inputs are tables --- */

static bool in_is_format(const struct input *in, const char *name)
{
	return in->format && !strcmp(in->format, name);
}

/* Get the text of the head, after a byte order mark. */
static struct text_span in_head(const struct input *in)
{
	struct text_span s = input_head(in);

	span_skip(&s, "\xef\xbb\xbf");
	return s;
}

static bool in_is_wide(struct text_span s)
{
	return span_begins(s, "\xff\xfe") || span_begins(s, "\xfe\xff");
}

/* Test for a text: in_check_encoding has a message about those of UTF-16. */
static bool in_is_text(struct text_span s)
{
	return in_is_wide(s) || !memchr(s.at, 0, span_size(s));
}

/* Test whether a name is that of the time, in any table. */
static bool in_is_time_name(struct text_span s)
{
	for (size_t i = 0; i < sizeof in_guesses / sizeof *in_guesses; i++)
		if (in_guesses[i].role == IN_TIME && span_size(s) == strlen(in_guesses[i].name) &&
		    !strncasecmp(s.at, in_guesses[i].name, span_size(s)))
			return true;
	return span_is(s, "time");
}

/* Bid for lines each of which is an object with a time; with --map, any object. */
static enum bid in_probe_objects(const struct input *in)
{
	struct text_span s = in_head(in), name;
	const char *newline = span_find(s, "\n"), *at;

	if (in->tree || !span_size(s))
		return BID_NONE;
	if (in->format)
		return in_is_format(in, "ndjson") ? BID_CHANCE : BID_NONE;
	if (in->decoding && in->decoding->map)
		return span_begins(s, "{") || span_begins(s, "[{") ? BID_LIKELY : BID_NONE;
	if (*s.at != '{' || (newline && newline + 1 < s.end && newline[1] != '{'))
		return BID_NONE;
	if (newline && span_trim_space((struct text_span){s.at, newline}).end[-1] != '}')
		return BID_NONE;
	if (span_begins(s, "{\"time\":"))
		return BID_MAGIC;
	if (!newline)
		return BID_NONE;
	for (at = s.at; (at = memchr(at, '"', (size_t)(newline - at))); at = name.end + 1) {
		name.at = at + 1;
		name.end = memchr(name.at, '"', (size_t)(newline - name.at));
		if (!name.end)
			break;
		if (name.end[1] == ':' && in_is_time_name(name))
			return BID_LIKELY;
	}
	return BID_NONE;
}

/* Bid for a header with the name of the time and another name; with --map, any names. */
static enum bid in_probe_delimited(const struct input *in, const char *format, char separator)
{
	struct text_span s = in_head(in), name;
	const char *newline = span_find(s, "\n"), *next;
	bool time = false, known = in->decoding && in->decoding->map, mapped = known;
	unsigned names = 0;

	if (in->tree || !span_size(s))
		return BID_NONE;
	if (in->format)
		return in_is_format(in, format) ? BID_CHANCE : BID_NONE;
	if (!newline || !in_is_text((struct text_span){s.at, newline}) ||
	    (mapped && (*s.at == '{' || *s.at == '[')))
		return BID_NONE;
	s.end = newline - (newline > s.at && newline[-1] == '\r');
	for (; s.at <= s.end; s.at = next + 1, names++) {
		next = s.at < s.end ? memchr(s.at, separator, span_size(s)) : NULL;
		next = next ? next : s.end;
		name = span_trim((struct text_span){s.at, next});
		if (span_size(name) > 1 && *name.at == '"')
			name = (struct text_span){name.at + 1, name.end - 1};
		if (!mapped && (!span_size(name) || memchr(name.at, ' ', span_size(name))))
			return BID_NONE;
		known |= names && in_role_of(name.at, span_size(name)) < IN_ROLES;
		time |= in_is_time_name(name);
	}
	return (!time && !mapped) || names < 2 ? BID_NONE : known ? BID_LIKELY : BID_CHANCE;
}

/* Bid for the mark of a file of Arrow, or a message, whose metadata is a multiple of 8 bytes and
 * begins with the place of its table. */
static enum bid in_probe_messages(const struct input *in)
{
	struct text_span s = input_head(in);
	uint32_t size;

	if (in->tree || span_size(s) < 12)
		return BID_NONE;
	if (in->format)
		return in_is_format(in, "arrow") ? BID_CHANCE : BID_NONE;
	if (!memcmp(s.at, "ARROW1\0", 8))
		return BID_MAGIC;
	size = get_u32(s.at + 4);
	return get_u32(s.at) == UINT32_MAX && size && size % 8 == 0 && get_u32(s.at + 8) < size
		       ? BID_LIKELY
		       : BID_NONE;
}

enum bid rows_table_probe(const struct input *in, enum in_format format)
{
	switch (format) {
	case IN_NDJSON: return in_probe_objects(in);
	case IN_CSV: return in_probe_delimited(in, "csv", ',');
	case IN_ARROW: return in_probe_messages(in);
	default: return in_probe_delimited(in, "tsv", '\t');
	}
}

/* Refuse texts of other systems, of which no row could be read. */
static int in_check_encoding(const struct rows_table *r, struct error *e)
{
	struct text_span s = in_head(r->input);
	const char *at = span_find(s, "\r");

	if (in_is_wide(s))
		return error_set(e, r->input->name, 0,
				 "is UTF-16: convert it with iconv -f UTF-16");
	if (r->format != IN_NDJSON && at && at + 1 < s.end && !span_find(s, "\n"))
		return error_set(
			e, r->input->name, 0,
			"lines end with a carriage return alone: convert it with tr '\\r' '\\n'");
	return 0;
}

/* --- a table --- */

int rows_table_open(struct rows_table *r, struct input *in, enum in_format format, struct error *e)
{
	r->input = in;
	r->w = in->decoding->writer;
	r->locations.w = r->w;
	r->format = format;
	r->cells = calloc(IN_COLUMNS_MOST, sizeof *r->cells);
	if (!r->cells)
		return error_no_memory(e);
	tzset();
	r->arrow = (struct arrow_input){.input = in, .lines = &r->lines};
	if (format != IN_ARROW && in_check_encoding(r, e))
		return -1;
	r->texts_return = writer_text(r->w, "ret");
	return in_map_parse(r, in->decoding->map, e);
}

void rows_table_close(struct rows_table *r)
{
	struct buffer *buffers[] = {&r->values, &r->again,     &r->record,
				    &r->cell,	&r->json_text, &r->path};

	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_free(buffers[i]);
	free(r->columns);
	free(r->maps);
	free(r->constants);
	free(r->map);
	free(r->order);
	free(r->cells);
	id_cache_free(&r->names);
	frame_locations_free(&r->locations);
	nested_json_free(&r->objects);
	arrow_rows_free(&r->arrow);
	json_close(&r->json);
	json_close(&r->frames_json);
	input_lines_free(&r->lines);
}
