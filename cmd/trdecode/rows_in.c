/*
 * rows_in.c - the decoders of tables: JSON lines, csv and tsv, as trencode or other programs write
 * them
 *
 *     {"time":1000,"dur":50,"type":"exit","pid":7,"tid":7,"name":"read","args":{"arg1":3}}
 *
 *     ts,elapsed,op,status          trdecode -f csv --map time=ts:ms,dur=elapsed:us,name=op
 *     1764486000123,250,GET /,200
 *
 * A row with a duration is a call, with a stack a sample, with a value a counter, else an instant.
 * The columns of trencode have their own names; --map names those of other tables.
 *
 * Sources: RFC 4180 (csv), RFC 8259 (JSON), trencode(1) (ROWS).
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "cmd/trdecode/formats.h"
#include "cmd/trdecode/frames.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "common/ftrace/kernel_names.h"
#include "common/stream/value.h"
#include "common/util/intern.h"
#include "common/util/text_span.h"
#include "common/value/json.h"
#include "common/value/moment.h"
#include "common/value/scalar.h"
#include "common/value/units.h"

/* What a column is. */
enum in_role {
	IN_TIME,
	IN_DUR,
	IN_END,
	IN_PID,
	IN_TID,
	IN_CPU,
	IN_DEPTH,
	IN_LINE,
	IN_WEIGHT,
	IN_WEIGHT_TOTAL, /* of a sum of calls */
	IN_WEIGHT_COUNT,
	IN_NAME,
	IN_TYPE,
	IN_GROUP,
	IN_COMM,
	IN_FILE,
	IN_MODULE,
	IN_KIND,
	IN_UNFINISHED,
	IN_WEIGHT_UNIT,
	IN_TIME_UNIT,
	IN_NESTING,
	IN_ERROR,
	IN_STACK,
	IN_ARGS,  /* its members are fields */
	IN_VALUE, /* a field, and the row is a counter */
	IN_ROLES,
	IN_FIELD = IN_ROLES, /* a field of the event */
	IN_SKIPPED,	     /* follows from other columns */
	IN_INSIDE,	     /* an object, of which a member has a role */
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

enum {
	IN_COLUMNS_MOST = 4096,	 /* distinct names of columns */
	IN_TYPES_MOST = 4096,	 /* types that have the names of their rows */
	IN_CELL_LINES = 1 << 20, /* bytes of a record of several lines */
	IN_LOOK = 8 << 20,	 /* bytes that decide the types of the columns of csv */
	IN_LOOK_MS = 1000,	 /* the same of a pipe: ms */
	IN_OVERLAPPING_MOST = 1 << 20,
	IN_FRAMES_MOST = 4096, /* open calls of a thread on a stack; others have numbers */
	IN_KEY_DEPTH = 13,     /* bits of a key for such a depth */
};

#define IN_SECOND 1000000000ull
/* ns: a first time of 30 years or more counts from 1970 */
#define IN_WALL (30ull * 365 * 86400 * IN_SECOND)

/* How the times of a column are written. */
struct in_times {
	uint64_t scale;	     /* ns of an integer; 0: not known */
	bool ticks;	     /* the clock counts ticks */
	bool named;	     /* ns by the name of the column: numbers with a point are seconds */
	bool points, whole;  /* without a unit: numbers with a point were read, and without one */
	const char *pattern; /* of strptime; NULL: a number, or ISO 8601 */
	const char *after;   /* what follows %f in the pattern, the fraction; NULL: none */
};

enum in_form { IN_ANY, IN_INT, IN_REAL, IN_TEXT };

/* A column, or a constant of --map. */
struct in_column {
	enum in_role role;
	enum in_form form;     /* of a field */
	bool looked_text, any; /* csv: values that were looked at */
	bool looked_real;
	uint32_t name;	  /* string of the writer: of the field */
	const char *text; /* as the input names it; of a constant its text */
	size_t size;
	struct in_times times;
};

/* A cell: a text, or a token of JSON. */
struct in_cell {
	const char *text;
	size_t size;
	enum json_token token; /* STRING, NUMBER, TRUE, FALSE, NULL; of csv STRING */
	bool quoted;
};

/* A row, while it is read. */
struct in_row {
	uint32_t present; /* bits by role */
	uint64_t time, dur, end, weight, total, calls;
	int64_t pid, tid, cpu, depth, line;
	uint32_t texts[IN_KIND - IN_NAME]; /* by role from IN_NAME on: strings of the writer */
	uint8_t kind;			   /* enum type_kind; KIND_COUNT: not given */
	bool unfinished, negative, timed;  /* negative, timed: the weight */
	bool ticks, on_cpu, unstacked;	   /* of a call: on the stack of its CPU, on none */
	bool has_return;
	uint32_t nvalues;
	uint32_t stack, frame; /* of the writer: the callers, and the name of the innermost frame;
				  0 none */
	bool in_args;	       /* the stack is a member of args: it is no field of its own */
	uint32_t return_at;    /* offset of the return value in the values */
	uint16_t error;	       /* that was returned, by its name; 0 none */
};

/* A row in the sorter. Its details follow, or the named values of a gap. */
struct in_record {
	union {
		uint64_t dur;	 /* of a call */
		uint64_t weight; /* of a sample */
	};
	uint64_t total, calls; /* of a sample */
	uint64_t serial;
	uint32_t thread, lane, kinds, stack; /* lane: number in rows_in.lanes, until the record is
						written; stack: of a sample that of its callers */
	uint32_t function, arguments;	     /* function: from 1; 0: no location */
	uint32_t enter_size;   /* bytes of the details of the enter; the rest is the leave's */
	uint16_t depth, error; /* error: returned, with a name; 0 none */
	uint8_t kind;
	bool unfinished : 1, has_depth : 1, in_args : 1;
	bool negative : 1, timed : 1; /* the weight; it is a time */
	bool on_cpu : 1, unstacked : 1;
	bool has_total : 1, has_calls : 1;
};

/* Variants of the types of one name, group and kind. */
enum {
	IN_TAILED = 1,
	IN_NUMBERED = 2, /* of a sample: its weight may be negative; of others but calls: a stack */
	IN_DEEP = 4,	 /* of a sample: its weight is a time; of others but calls: args has the
			    stack, too */
	IN_ON_CPU = 8,	 /* of a sample: it has a total */
	IN_COUNTED = 16,
	IN_FAILED = 32, /* ret is an error, which has a name */
	IN_VARIANTS = 64
};

/* A list of names of arguments, of functions with the same ones. New names are declared with those
 * before them; where that costs more than the rows themselves, a function begins another list. */
struct in_list {
	uint64_t declared, taken; /* names in its declarations, and in its rows */
};

/* Numbers of functions: that of the name, or of what else the function has. */
#define IN_FUNCTION_MORE (1u << 31)

enum { IN_DECLARED_MOST = 256, IN_DECLARED_TIMES = 4 }; /* names, and times those of the rows */

/* An open call of a thread. */
struct in_frame {
	uint64_t end, limit, serial; /* limit: the earliest end of it and those around it */
	uint32_t depth;		     /* as given */
	uint32_t level; /* calls on the stack below: others of less depth have no row */
	bool has_depth, unfinished, on_cpu;
	uint32_t number; /* of the call, on no stack; 0 on a stack */
	uint32_t lane, kinds, location, next;
	uint64_t heap_serial;
	uint8_t *values; /* details of the leave; owned */
	uint32_t size;
	uint16_t error;
};

struct in_thread {
	struct in_frame *frames;
	size_t depth, capacity;
	/* of the rows of trencode: number of the first row inside of the next call, by its depth */
	uint64_t *firsts;
	size_t nfirsts, firsts_capacity;
	uint64_t end;	 /* of the last call that was read */
	uint64_t latest; /* time of the latest row that was read, and of the latest return */
	/* of the calls without a return that are open at the end: the last end, at which the last
	   row of the source may be; a lane, 0 no such call; they nest per CPU */
	uint64_t last;
	uint32_t last_lane;
	bool last_on_cpu;
	bool inside;   /* the last call that was read is inside of one whose row follows */
	uint64_t left; /* time of the last row of a call that was written */
};

/* What was looked up last for a key: of 256, by a hash of the key. */
struct in_memo {
	uint64_t key[3];
	uint32_t numbers[2];
};

/* The state of decoding one input. */
struct rows_in {
	struct input *input;
	struct writer *w;
	struct input_lines lines;
	enum { IN_NDJSON, IN_CSV, IN_TSV } format;
	bool ended;
	bool own, sorts; /* the columns are those of trencode; all rows are sorted */
	bool typed;	 /* one of them is the type: a row without one has a type without a name */
	bool mixed;	 /* calls are not in the order of their ends, as trencode writes them */
	/* columns */
	struct in_column *columns;
	size_t ncolumns, columns_capacity;
	struct id_cache names;	/* by text: number + 1 */
	struct in_column *maps; /* of --map: text is the input's name; constants */
	size_t nmaps, maps_capacity, nconstants;
	struct in_column *constants;
	size_t constants_capacity;
	char *map;	 /* the option's text, cut at its commas */
	uint32_t *order; /* csv: columns by place */
	size_t norder, order_capacity;
	size_t guess; /* ndjson: the next column, if the keys are in the order of the line before */
	struct in_row row;
	struct error fault;   /* why the row is left out */
	const char *why;      /* a time cannot be read: what follows in the message */
	struct buffer values; /* of the row: u32 name, u32 size, value */
	/* lines that are read again after a record without an end, and the record of several */
	struct buffer again, record, cell, json_text, path;
	size_t again_at;
	uint64_t again_offset, reread, row_offset;
	struct json_reader json, frames_json;
	struct nested_json objects;
	/* declared */
	struct argument_table arguments;
	struct intern functions; /* with more than a name: name, file, module, line */
	struct key_map listed;	 /* by function: its list */
	struct in_list *lists;	 /* of names of arguments: number - 1 */
	size_t nlists, lists_capacity;
	struct frame_locations locations;
	struct id_cache lanes;
	struct in_memo memos[256];
	struct intern kinds_known, threads_known;
	struct key_map types; /* by kinds, kind and variant */
	struct in_thread *threads;
	size_t nthreads, threads_capacity;
	struct kernel_names errors;
	uint32_t drops[2]; /* types, by frame.on_cpu */
	uint32_t source, clock, texts_return, texts_stack, texts_unknown, texts_call, texts_row;
	/* in the order of times: rows from `from` on for a second, and those after it */
	struct sorter now, later;
	uint64_t from, floor, latest; /* all rows before floor are written; latest: time or end */
	/* the end of the last row; calls that wait and may be inside of one whose row follows: of
	   trencode, threads with such calls */
	uint64_t last_end, inside;
	bool has_from, draining, has_pending;
	bool next_end;		   /* the end of a call is written next */
	uint64_t in_now, in_later; /* rows in them that wait */
	struct sorter_key pending; /* of the record in waiting */
	struct buffer waiting;
	uint64_t serial;
	struct complete_calls completes;
	struct in_frame *overlapping;
	size_t noverlapping, overlapping_capacity, overlapping_free;
	uint32_t calls;
	struct in_cell *cells; /* of a record of csv: IN_COLUMNS_MOST */
	size_t ncells;
	char when[512]; /* a time, for strptime */
	int64_t minute; /* seconds since 1970 of the minute of minute_text; its text */
	char minute_text[20];
	int minute_zone; /* enum in_zone */
	struct {
		uint64_t unlike, columns, late;
	} counts;
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
static int64_t in_minute(struct rows_in *r, const char *text, size_t n, const unsigned *of,
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
static bool in_named_zone(struct rows_in *r, struct text_span s, enum in_zone none,
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
static bool in_iso_time(struct rows_in *r, struct text_span s, uint64_t *time)
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
static bool in_pattern_time(struct rows_in *r, const struct in_times *t, struct text_span s,
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

static struct in_column *in_column_of_role(struct rows_in *r, enum in_role role)
{
	for (size_t i = 0; i < r->ncolumns; i++)
		if (r->columns[i].role == role)
			return &r->columns[i];
	return NULL;
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
static bool in_take_scaled(struct rows_in *r, struct in_column *c, struct text_span s, uint64_t *ns)
{
	struct in_times *t = &c->times;
	bool point = memchr(s.at, '.', span_size(s));

	if (t->scale && !t->named)
		return in_scaled(s, t->scale, ns);
	if (point && c->role == IN_DUR) {
		const struct in_column *time = in_column_of_role(r, IN_TIME);

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
static bool in_read_time(struct rows_in *r, struct in_column *c, struct text_span s, uint64_t *ns)
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
static bool in_take_time(struct rows_in *r, struct in_column *c, struct text_span s, uint64_t *ns)
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
		c->form = !strcmp(unit, "int")	  ? IN_INT
			  : !strcmp(unit, "real") ? IN_REAL
			  : !strcmp(unit, "text") ? IN_TEXT
						  : IN_ANY;
		return c->form != IN_ANY;
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

/* Take one "FIELD=COLUMN[:UNIT]" or "FIELD=CONSTANT". *end: the character after it. */
static int in_map_add(struct rows_in *r, char **at, char *end, struct error *e)
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

static int in_map_parse(struct rows_in *r, const char *map, struct error *e)
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
static bool in_is_mapped(const struct rows_in *r, enum in_role role)
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
static bool in_role_by_map(const struct rows_in *r, struct in_column *c)
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

/* Set the name of a field by that of its column: trencode names arguments arg.NAME, and fields with
 * the name of another column .NAME. args has both. */
static int in_name_field(struct rows_in *r, struct in_column *c)
{
	size_t skip =
		c->size > 4 && !memcmp(c->text, "arg.", 4) ? 4 : c->size > 1 && *c->text == '.';

	c->name = writer_string(r->w, c->text + skip, c->size - skip);
	if (skip && in_column_of_role(r, IN_ARGS))
		c->role = IN_SKIPPED;
	return c->name ? 0 : -1;
}

/* Set the role of a column by its name. */
static void in_role_by_name(struct rows_in *r, struct in_column *c)
{
	enum in_role role = in_role_of(c->text, c->size);

	if (role < IN_ROLES) {
		c->role = in_is_mapped(r, role) ? IN_FIELD : role;
		c->times.scale = 1;
		c->times.named = true;
		return;
	}
	if (r->nmaps)
		return;
	for (size_t i = 0; i < sizeof in_derived / sizeof *in_derived; i++)
		if (strlen(in_derived[i]) == c->size && !memcmp(in_derived[i], c->text, c->size) &&
		    in_column_of_role(r, IN_DUR) && in_column_of_role(r, IN_DUR)->times.scale == 1)
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
static struct in_column *in_column(struct rows_in *r, const char *text, size_t n, bool *most)
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
		if (c.role < IN_ROLES && c.role != IN_ARGS && in_column_of_role(r, c.role) &&
		    r->nmaps)
			c.role = IN_FIELD;
		r->columns[r->ncolumns++] = c;
		*number = (uint32_t)r->ncolumns;
	}
	r->guess = *number;
	return &r->columns[*number - 1];
}

/* Append names of columns to a text, for messages. */
static void in_list_columns(const struct rows_in *r, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < r->ncolumns && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%.*s", i ? ", " : "",
				       (int)(r->columns[i].size < 40 ? r->columns[i].size : 40),
				       r->columns[i].text);
}

/* Find the column that may be the time or the name, for the example of a message. */
static const struct in_column *in_example(const struct rows_in *r, const char *const *words)
{
	for (; *words; words++)
		for (size_t i = 0; i < r->ncolumns; i++)
			if (strcasestr(r->columns[i].text, *words))
				return &r->columns[i];
	return NULL;
}

/* Test for the columns of trencode, of which --map may say that times are in ticks. */
static bool in_is_own(struct rows_in *r)
{
	const struct in_column *dur = in_column_of_role(r, IN_DUR);
	bool depth = in_column_of_role(r, IN_DEPTH);

	if (r->nmaps)
		return r->nmaps == 1 && r->maps[0].times.ticks && depth;
	return dur && dur->times.scale == 1 && in_column_of_role(r, IN_TIME) &&
	       (depth || in_column_of_role(r, IN_TYPE));
}

/* Refuse columns that leave open what the time is. */
static int in_check_columns(struct rows_in *r, struct error *e)
{
	static const char *const times[] = {"time", "ts", "date", "start", "stamp", "at", NULL};
	static const char *const names[] = {"name", "op", "msg", "message", "event", NULL};
	const struct in_column *time = in_example(r, times), *name = in_example(r, names);
	bool has_time = in_is_mapped(r, IN_TIME) || in_is_mapped(r, IN_END);
	char list[300];

	in_list_columns(r, list, sizeof list);
	for (size_t i = 0; i < r->ncolumns; i++) {
		const struct in_column *c = &r->columns[i],
				       *first = c->role < IN_ROLES ? in_column_of_role(r, c->role)
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
			 "time=%.40s:ms%s%.40s; there are %s",
			 time ? time->text : "ts", name && name != time ? ",name=" : "",
			 name && name != time ? name->text : "", list);
}

/* Check, at the end, that the columns of --map are there. */
static int in_check_map(struct rows_in *r, struct error *e)
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

/* Begin a named value. *at: the offset for in_value_end. */
static int in_value_begin(struct rows_in *r, uint32_t name, size_t *at)
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

static void in_value_end(struct rows_in *r, size_t at)
{
	put_u32(r->values.data + at - 4, (uint32_t)(r->values.size - at));
}

/* Add a field whose value is a text or a token. */
static int in_put_field(struct rows_in *r, struct in_column *c, const struct in_cell *cell)
{
	struct buffer *b = &r->values;
	struct text_span s = {cell->text, cell->text + cell->size};
	int64_t whole;
	bool number = cell->token == JSON_NUMBER || (c->form == IN_INT || c->form == IN_REAL);
	bool integer = number && in_integer(s, &whole);
	size_t at;
	int failed;

	/* a column beside args, which has it, too */
	if (r->own && c->name == r->texts_return && r->row.has_return)
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
			 (c->form == IN_REAL || cell->size > 18 || integer);
		r->counts.unlike += !number;
		failed = number ? json_put_number(b, (const char *)r->path.data, cell->size)
				: value_put_bytes(b, VALUE_STRING, cell->text, cell->size);
	} else if (cell->token == JSON_STRING || (c->form == IN_TEXT && number)) {
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
static int in_put_nested(struct rows_in *r, uint32_t name, const char *text, size_t n)
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

/* Add the innermost frame to the stack of its callers. */
static int in_push_frame(struct rows_in *r)
{
	uint32_t location;

	if (!r->row.frame)
		return 0;
	location = frame_location(&r->locations, &(struct named_frame){.name = r->row.frame});
	r->row.stack = location ? writer_stack(r->w, r->row.stack, location) : 0;
	return r->row.stack ? 0 : -1;
}

/* Add a frame, called by those before it. */
static int in_put_frame(struct rows_in *r, const char *text, size_t n)
{
	if (in_push_frame(r))
		return -1;
	r->row.frame = n ? writer_string(r->w, text, n) : writer_text(r->w, "?");
	return r->row.frame ? 0 : -1;
}

/* Take a stack from a text: frames with ";" between, outermost first, or a list of JSON. Returns
 * 1: it is none. */
static int in_put_stack(struct rows_in *r, const char *text, size_t n)
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
static bool in_take_number(struct rows_in *r, struct in_column *c, struct text_span s)
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
static int in_take_cell(struct rows_in *r, struct in_column *c, const struct in_cell *cell)
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
		row->on_cpu = span_is(s, "cpu");
		row->unstacked = span_is(s, "none");
		return row->on_cpu || row->unstacked;
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
static int in_put_cell(struct rows_in *r, struct in_column *c, const struct in_cell *cell)
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
	r->counts.unlike += c->role != IN_TIME && c->role < IN_VALUE;
	return in_put_field(r, c, cell);
}

/* --- JSON lines --- */

/* Take the object or array that token began as the value of a column. */
static int in_copy_nested(struct rows_in *r, struct json_reader *json, struct in_column *c,
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
static int in_read_args(struct rows_in *r, struct json_reader *json)
{
	struct in_column field = {.role = IN_FIELD};
	enum json_token token;
	int status = 0;
	bool stack;

	while (!status) {
		token = json_next(json);
		if (token != JSON_KEY)
			return token == JSON_OBJECT_END ? 0 : 1;
		field.name = writer_string(r->w, json->text.data, json->text.size);
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
static struct in_column *in_key_column(struct rows_in *r, const struct json_reader *json,
				       const char *prefix, bool *most)
{
	if (!prefix)
		return in_column(r, (const char *)json->text.data, json->text.size, most);
	r->path.size = 0;
	*most = false;
	if (buffer_puts(&r->path, prefix) || buffer_u8(&r->path, '.') ||
	    buffer_append(&r->path, json->text.data, json->text.size))
		return NULL;
	return in_column(r, (const char *)r->path.data, r->path.size, most);
}

/* Read the members of an object, whose '{' was read. Returns 1: they are no JSON. */
static int in_read_object(struct rows_in *r, struct json_reader *json, const char *prefix,
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
			r->counts.columns++;
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
static int in_line(struct rows_in *r, const char **text, size_t *n, struct error *e)
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
static int in_row_begin(struct rows_in *r)
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
static int in_ndjson_row(struct rows_in *r, struct error *e)
{
	const char *text;
	struct text_span s;
	size_t n;
	int status;
	bool several;

	do {
		status = in_line(r, &text, &n, e);
		if (status <= 0)
			return status;
		s = (struct text_span){text, text + n};
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
	several =
		!status || span_size(s) == 1; /* a line has several rows, or a row several lines */
	return IN_LEAVE_OUT(r, r->row_offset + r->json.at, "%s%s",
			    status && r->json.error.what[0] ? r->json.error.what
							    : "text after its object",
			    several ? "; jq -c '.[]' writes each object of a list as a line" : "");
}

/* --- csv and tsv --- */

enum in_split_status { IN_SPLIT, IN_OPEN_QUOTE, IN_BAD_QUOTE, IN_MANY_CELLS, IN_NO_MEMORY };

/* Take a quoted cell whose quote was read off a record; undo doubled quotes. */
static enum in_split_status in_take_quoted(struct rows_in *r, struct text_span *s,
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
static int in_undo_tsv(struct rows_in *r, struct in_cell *cell)
{
	static const char from[] = "tnr\\", to[] = "\t\n\r\\";
	const char *p = cell->text, *end = p + cell->size;
	size_t begin = r->cell.size;

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
static enum in_split_status in_split(struct rows_in *r, const char *text, size_t n)
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
static int in_join(struct rows_in *r, const char *text, size_t n, struct error *e)
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
static int in_record_next(struct rows_in *r, struct error *e)
{
	const char *text;
	size_t n;
	int got;

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
static int in_read_header(struct rows_in *r, struct error *e)
{
	int got = in_record_next(r, e);

	if (got == IN_LEFT_OUT)
		return error_set(e, r->input->name, r->fault.offset, "the header: %s",
				 r->fault.what);
	for (size_t i = 0; got > 0 && i < r->ncells; i++) {
		bool most;
		struct text_span name = span_trim(
			(struct text_span){r->cells[i].text, r->cells[i].text + r->cells[i].size});
		struct in_column *c = in_column(r, name.at, span_size(name), &most);

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
static void in_look_line(struct rows_in *r, const char *line, size_t n, bool *inside)
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

		if (c->form != IN_ANY || c->looked_text || !cell->size)
			continue;
		c->any = true;
		if (in_integer((struct text_span){cell->text, cell->text + cell->size}, &whole) &&
		    (cell->size < 2 || *cell->text != '0'))
			continue;
		if (cell->size < sizeof text) {
			memcpy(text, cell->text, cell->size);
			text[cell->size] = '\0';
			if (json_is_number(text)) {
				c->looked_real = true;
				continue;
			}
		}
		c->looked_text = true;
	}
}

/* The place of a file that is read beforehand. */
struct in_look_at {
	int fd;
	uint64_t at;
};

static ssize_t in_look_read(void *ctx, void *to, size_t n, struct error *e)
{
	struct in_look_at *l = ctx;
	ssize_t got = io_read_at(l->fd, to, n, l->at);

	(void)e;
	l->at += got > 0 ? (uint64_t)got : 0;
	return got > 0 ? got : 0;
}

/* Look at the first 8 MiB of a file: they need not be in memory. */
static int in_look_file(struct rows_in *r, struct error *e)
{
	size_t have = r->lines.data.size - r->lines.begin, n;
	struct in_look_at at = {r->input->fd, (uint64_t)lseek(r->input->fd, 0, SEEK_CUR) - have};
	struct input_lines look = {.source = {in_look_read, &at}};
	bool inside = false;
	const char *text;
	int got = 0;

	while (look.next < IN_LOOK && (got = input_lines_next(&look, r->input, &text, &n, e)) > 0)
		in_look_line(r, text, n, &inside);
	input_lines_free(&look);
	return got < 0 ? -1 : 0;
}

/* Read the first 8 MiB, or what a pipe gives in a second, and look at their values. */
static int in_look_pipe(struct rows_in *r, struct error *e)
{
	struct input_lines *l = &r->lines;
	struct pollfd p = {.fd = r->input->fd, .events = POLLIN};
	struct timespec start, now;
	const char *at, *end, *next;
	int left = IN_LOOK_MS;
	bool inside = false;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (!l->ended && l->data.size - l->begin < IN_LOOK && left > 0) {
		if (l->begun && r->input->file.live && poll(&p, 1, left) == 0)
			break;
		if (input_lines_fill(l, r->input, l->data.size - l->begin + 1, e))
			return -1;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (r->input->file.live)
			left = IN_LOOK_MS - (int)((now.tv_sec - start.tv_sec) * 1000 +
						  (now.tv_nsec - start.tv_nsec) / 1000000);
	}
	at = (const char *)l->data.data + l->begin;
	end = (const char *)l->data.data + l->data.size;
	for (; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (!next && !l->ended)
			break;
		next = next ? next : end;
		in_look_line(r, at, (size_t)(next - at) - (next > at && next[-1] == '\r'), &inside);
	}
	return 0;
}

/* Find the types of the fields by their first values. */
static int in_look(struct rows_in *r, struct error *e)
{
	if (input_is_file(r->input->fd) ? in_look_file(r, e) : in_look_pipe(r, e))
		return -1;
	for (size_t i = 0; i < r->ncolumns; i++) {
		struct in_column *c = &r->columns[i];

		if (c->form == IN_ANY && c->any)
			c->form = c->looked_text ? IN_TEXT : c->looked_real ? IN_REAL : IN_INT;
	}
	return 0;
}

/* Test whether the type of a column depends on its values. */
static bool in_needs_look(const struct rows_in *r)
{
	for (size_t i = 0; i < r->ncolumns; i++)
		if ((r->columns[i].role == IN_FIELD || r->columns[i].role == IN_VALUE) &&
		    r->columns[i].form == IN_ANY)
			return true;
	return false;
}

/* Take a cell of a record. */
static int in_put_record_cell(struct rows_in *r, struct in_column *c, const struct in_cell *cell)
{
	enum json_token token;

	if (!cell->size && !cell->quoted)
		return 0;
	if (c->role == IN_FIELD)
		return in_put_field(r, c, cell);
	if (c->role != IN_ARGS || *cell->text != '{')
		return in_put_cell(r, c, cell);
	json_open_text(&r->json, cell->text, cell->size);
	token = json_next(&r->json);
	return token == JSON_OBJECT ? in_read_args(r, &r->json) : in_put_cell(r, c, cell);
}

/* Read the next row of csv or tsv; as in_ndjson_row. */
static int in_delimited_row(struct rows_in *r, struct error *e)
{
	int got = in_record_next(r, e);

	if (got != 1)
		return got;
	if (r->ncells != r->norder)
		return IN_LEAVE_OUT(r, r->row_offset, "it has %zu cells, and the header %zu",
				    r->ncells, r->norder);
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

/* --- a row becomes a record: what it names is declared --- */

/* Read the next row. Returns 1; 0: no more; -1 with *e. */
static int in_next_row(struct rows_in *r, struct error *e)
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
static void in_timeless(struct rows_in *r)
{
	input_damage(r->input, r->input->name, r->row_offset, "a row is left out: %s",
		     r->fault.what[0] ? r->fault.what : "it has no time");
}

static bool in_has(const struct rows_in *r, enum in_role role)
{
	return r->row.present >> role & 1;
}

static uint32_t in_text(const struct rows_in *r, enum in_role role)
{
	return r->row.texts[role - IN_NAME];
}

/* Get the ns of a time's last digit, as far as its column shows them. */
static uint64_t in_precision(struct rows_in *r, enum in_role role)
{
	const struct in_column *c = in_column_of_role(r, role);

	return !c || !c->times.scale || c->times.points ? 1000000 : c->times.scale;
}

/* Report times of a row that contradict each other. */
static void in_check_times(struct rows_in *r)
{
	const struct in_row *row = &r->row;
	uint64_t span = row->end - row->time, rounded;

	if (row->end < row->time) {
		input_damage(r->input, r->input->name, r->row_offset,
			     "the end of a row is before its time: it is left out");
		return;
	}
	rounded = in_precision(r, IN_TIME) + in_precision(r, IN_END) + in_precision(r, IN_DUR);
	if (in_has(r, IN_DUR) && (row->dur > span ? row->dur - span : span - row->dur) > rounded)
		input_damage(r->input, r->input->name, r->row_offset,
			     "the end of a row is not its time and dur: it is left out");
}

/* Set the start and the duration of the row by its end. Returns false if it has no time. */
static bool in_set_times(struct rows_in *r)
{
	struct in_row *row = &r->row;

	if (in_has(r, IN_END) && in_has(r, IN_TIME)) {
		in_check_times(r);
		if (!in_has(r, IN_DUR) && row->end >= row->time) {
			row->dur = row->end - row->time;
			row->present |= 1u << IN_DUR;
		}
	} else if (in_has(r, IN_END) && row->end >= row->dur) {
		row->time = row->end - row->dur;
		row->present |= 1u << IN_TIME;
	} else if (in_has(r, IN_END)) {
		error_set(&r->fault, NULL, NO_OFFSET,
			  "its dur is more than its end: it begins before 0");
	}
	row->present &= ~(1u << IN_END);
	return in_has(r, IN_TIME);
}

/* Get two numbers as a part of a key. */
static uint64_t in_both(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

/* Test whether a name may be that of a type: of very many names, programs have groups, but not of
 * types. */
static bool in_has_type(const struct rows_in *r, uint32_t name)
{
	uint64_t key = in_both(name, in_text(r, IN_GROUP));

	return r->kinds_known.count < IN_TYPES_MOST ||
	       intern_find(&r->kinds_known, &key, sizeof key) != INTERN_NONE;
}

/* Set what the row is, and its name. */
static void in_complete(struct rows_in *r)
{
	struct in_row *row = &r->row;
	bool dur = in_has(r, IN_DUR);

	if (row->kind == KIND_COUNT)
		row->kind = dur ? KIND_ENTER
			    : in_has(r, IN_STACK)
				    ? in_has(r, IN_TYPE) && !in_has(r, IN_WEIGHT) && r->own
					      ? KIND_INSTANT
					      : KIND_SAMPLE
			    : in_has(r, IN_VALUE) ? KIND_COUNTER
						  : KIND_INSTANT;
	if (row->kind == KIND_ENTER && !dur)
		row->kind = KIND_INSTANT;
	if (row->kind == KIND_SAMPLE && row->frame) {
		if (!in_text(r, IN_TYPE))
			row->texts[IN_TYPE - IN_NAME] = in_text(r, IN_NAME);
		row->texts[0] = row->frame;
	}
	if (!in_text(r, IN_NAME))
		row->texts[0] =
			in_text(r, IN_TYPE) || r->typed ? in_text(r, IN_TYPE) : r->texts_row;
	if (!in_text(r, IN_TYPE) && !r->typed)
		row->texts[IN_TYPE - IN_NAME] = row->kind == KIND_ENTER		? r->texts_call
						: in_has_type(r, row->texts[0]) ? row->texts[0]
										: r->texts_row;
}

/* Find what was looked up for a key, whose last number says what it is of and is not 0. Returns
 * its place; *known: it is there. */
static struct in_memo *in_memo(struct rows_in *r, const uint64_t key[3], bool *known)
{
	uint64_t hash = key[0] * 0x9e3779b97f4a7c15u ^ key[1] * 0xbf58476d1ce4e5b9u ^
			key[2] * 0x94d049bb133111ebu;
	struct in_memo *m = &r->memos[hash >> 56];

	*known = m->key[0] == key[0] && m->key[1] == key[1] && m->key[2] == key[2];
	if (!*known)
		memcpy(m->key, key, sizeof m->key);
	return m;
}

/* Test whether the last list has the names of all values of the row. */
static bool in_last_list_fits(const struct rows_in *r)
{
	const uint8_t *p = r->values.data, *end = p + r->values.size;

	for (; r->nlists && p < end; p += 8 + get_u32(p + 4))
		if (!key_map_get(&r->arguments.pairs, (uint64_t)r->nlists << 32 | get_u32(p)))
			return false;
	return r->nlists;
}

/* Set the list of the names of a function's arguments; a function without any has none. */
static int in_record_list(struct rows_in *r, struct in_record *record)
{
	uint32_t n = r->row.nvalues, *list;
	struct in_list *l;

	if (!n)
		return 0;
	list = key_map_number(&r->listed, record->function);
	if (!list)
		return -1;
	if (!*list && in_last_list_fits(r))
		*list = (uint32_t)r->nlists;
	l = *list ? &r->lists[*list - 1] : NULL;
	if (!l || l->declared > IN_DECLARED_MOST + IN_DECLARED_TIMES * (l->taken + n)) {
		struct in_list next = {.taken = l ? l->taken : 0, .declared = l ? l->declared : 0};

		if (ARRAY_GROW(r->lists, r->lists_capacity, r->nlists))
			return -1;
		l = &r->lists[r->nlists++];
		*l = next;
		*list = (uint32_t)r->nlists;
	}
	l->taken += n;
	record->arguments = *list;
	return 0;
}

/* Set the function of the row, and the list of the names of its arguments. */
static int in_record_function(struct rows_in *r, struct in_record *record)
{
	uint32_t file = in_text(r, IN_FILE), name = in_text(r, IN_NAME);
	uint32_t function[4] = {name, file, in_text(r, IN_MODULE),
				file && in_has(r, IN_LINE) ? (uint32_t)r->row.line : 0};
	uint32_t more;

	record->function = name;
	if (!name || function[1] || function[2]) {
		uint64_t key[3] = {in_both(name, file), in_both(function[2], function[3]), 1 << 16};
		bool known;
		struct in_memo *m = in_memo(r, key, &known);

		if (!known)
			m->numbers[0] = intern(&r->functions, function, sizeof function);
		more = m->numbers[0];
		record->function = IN_FUNCTION_MORE | more;
		if (more >= IN_FUNCTION_MORE)
			return -1;
	}
	return in_record_list(r, record);
}

/* Get the location of a record's function with all arguments that it has so far; 0: out of memory.
 * It is declared when the record is written: rows of the same second may have other arguments. */
static uint32_t in_location(struct rows_in *r, const struct in_record *record)
{
	struct named_frame frame = {.name = record->function};
	struct argument_names *names;
	uint32_t function[4], list = record->arguments;
	size_t declared;
	struct in_memo *m;
	bool known;

	if (record->function & IN_FUNCTION_MORE) {
		memcpy(function, intern_data(&r->functions, record->function & ~IN_FUNCTION_MORE),
		       sizeof function);
		frame = (struct named_frame){.name = function[0],
					     .file = function[1],
					     .module = function[2],
					     .line = function[3]};
	}
	/* rows without arguments have the location of those with some: it is the same function */
	if (!list)
		list = (uint32_t)key_map_get(&r->listed, record->function);
	if (!list)
		return frame_location(&r->locations, &frame);
	names = arguments_of(&r->arguments, list);
	if (!names)
		return 0;
	m = in_memo(r, (uint64_t[3]){in_both(record->function, list), names->count, 4 << 16},
		    &known);
	if (known)
		return m->numbers[0];
	/* of a list it is the definition */
	if (!names->location)
		names->location = arguments_struct(r->w, names->names, names->count);
	frame.arguments = names->location;
	declared = r->locations.count;
	m->numbers[0] = names->location ? frame_location(&r->locations, &frame) : 0;
	if (r->locations.count > declared)
		r->lists[list - 1].declared += names->count;
	return m->numbers[0];
}

/* Append to r->waiting what follows the record: details, or the named values of a gap. A call that
 * returns a value has the arguments before that value at its enter, and the others at its leave. */
static int in_convert_values(struct rows_in *r, struct in_record *record)
{
	struct argument_table *t = &r->arguments;
	uint32_t function = record->arguments;
	const uint8_t *values = r->values.data;
	uint32_t size = (uint32_t)r->values.size, at = size, n;
	struct buffer *to = &r->waiting;

	if (record->kind == KIND_GAP)
		return buffer_append(to, values, size);
	if (record->kind == KIND_ENTER && r->row.has_return)
		at = r->row.return_at;
	if (arguments_values(t, function, values, at, true, to))
		return -1;
	record->enter_size = (uint32_t)(to->size - sizeof *record);
	if (at == size)
		return 0;
	n = 8 + get_u32(values + at + 4);
	return value_put_detail(to, DETAIL_RETURN, 0) ||
			       buffer_append(to, values + at + 8, n - 8) ||
			       arguments_values(t, function, values + at + n, size - at - n, true,
						to)
		       ? -1
		       : 0;
}

/* Set the name and group of the row's type. */
static int in_record_kinds(struct rows_in *r, struct in_record *record)
{
	uint64_t key[3] = {in_both(in_text(r, IN_TYPE), in_text(r, IN_GROUP)), 0, 2 << 16};
	bool known;
	struct in_memo *m = in_memo(r, key, &known);

	if (!known)
		m->numbers[0] = intern(&r->kinds_known, key, 8);
	record->kinds = m->numbers[0];
	return record->kinds == INTERN_NONE ? -1 : 0;
}

/* Set the lane and the thread of the row. */
static int in_place(struct rows_in *r, struct in_record *record)
{
	const struct in_row *row = &r->row;
	struct lane_entry lane = {.source = r->source,
				  .clock = r->clock,
				  .comm = in_text(r, IN_COMM),
				  .cpu = in_has(r, IN_CPU) ? (int32_t)row->cpu : -1,
				  .tid = in_has(r, IN_TID) ? (int32_t)row->tid : -1,
				  .pid = in_has(r, IN_PID) ? (int32_t)row->pid : -1,
				  .ppid = -1};
	struct {
		int32_t pid, tid, cpu;
	} key = {lane.pid, lane.tid, lane.tid > 0 ? -1 : lane.cpu};
	bool on_cpu = record->on_cpu;
	struct in_memo *m;
	bool known;

	lane.flags = (in_has(r, IN_CPU) ? LANE_HAS_CPU : 0) |
		     (in_has(r, IN_TID) ? LANE_HAS_TID : 0) |
		     (in_has(r, IN_PID) ? LANE_HAS_PID : 0) |
		     (in_has(r, IN_TID) && in_has(r, IN_PID) ? LANE_PROCESS_TID : 0);
	m = in_memo(r,
		    (uint64_t[3]){in_both(lane.comm, (uint32_t)lane.pid),
				  in_both((uint32_t)lane.tid, (uint32_t)lane.cpu),
				  3 << 16 | on_cpu << 8 | lane.flags},
		    &known);
	if (!known) {
		if (on_cpu)
			key.pid = key.tid = INT32_MIN, key.cpu = lane.cpu;
		m->numbers[0] = intern(&r->lanes.keys, &lane, sizeof lane);
		m->numbers[1] = intern(&r->threads_known, &key, sizeof key);
	}
	record->lane = m->numbers[0];
	record->thread = m->numbers[1];
	if (record->lane == INTERN_NONE || record->thread == INTERN_NONE ||
	    ARRAY_REACH(r->threads, r->threads_capacity, record->thread))
		return -1;
	if (record->thread >= r->nthreads)
		r->nthreads = record->thread + 1;
	return 0;
}

/*
 * Get the order among rows of one time.
 *
 * A call of trencode is written at its end, after the calls inside of it. So the first row inside
 * of a call, by the depths, is before all rows of the calls after it, and a call is before its
 * first row. Elsewhere the longer call is before the shorter one.
 */
static int in_second_key(struct rows_in *r, const struct in_record *record, uint64_t time,
			 uint64_t *key)
{
	struct in_thread *t = &r->threads[record->thread];
	uint64_t first = record->serial;
	size_t depth = record->depth < IN_FRAMES_MOST ? record->depth : IN_FRAMES_MOST;

	if (record->kind == KIND_ENTER) {
		r->mixed |= time + record->dur < t->end && !record->unfinished;
		t->end = time + record->dur;
	}
	r->last_end = time + record->dur;
	if (record->kind != KIND_GAP) {
		uint64_t last = record->unfinished ? time : time + record->dur;

		t->latest = last > t->latest ? last : t->latest;
	}
	if (!r->own || r->mixed || record->kind != KIND_ENTER || !record->has_depth) {
		*key = !r->own			       ? UINT64_MAX - record->dur
		       : r->mixed && record->has_depth ? record->depth
						       : first << IN_KEY_DEPTH | IN_FRAMES_MOST;
		return 0;
	}
	for (; t->nfirsts > depth + 1; t->nfirsts--) {
		uint64_t inside = t->firsts[t->nfirsts - 1];

		if (inside && inside < first)
			first = inside;
	}
	if (ARRAY_REACH(t->firsts, t->firsts_capacity, depth))
		return -1;
	for (; t->nfirsts <= depth; t->nfirsts++)
		t->firsts[t->nfirsts] = 0;
	if (!t->firsts[depth])
		t->firsts[depth] = first;
	*key = first << IN_KEY_DEPTH | depth;
	return 0;
}

/* Note whether a call may be inside of one whose row follows. */
static void in_note_inside(struct rows_in *r, const struct in_record *record)
{
	struct in_thread *t = &r->threads[record->thread];

	if (record->kind != KIND_ENTER || record->unstacked)
		return;
	if (!r->own) {
		r->inside++;
		return;
	}
	r->inside -= t->inside;
	t->inside = record->depth > 0;
	r->inside += t->inside;
}

/* Set the stack of a record: of a sample that of its callers. */
static int in_record_stack(struct rows_in *r, struct in_record *record)
{
	if (record->kind == KIND_ENTER)
		return 0;
	if (record->kind != KIND_SAMPLE && r->row.frame && in_push_frame(r))
		return -1;
	if (record->kind == KIND_SAMPLE ? record->function : r->row.frame)
		record->stack = r->row.stack;
	return 0;
}

/* Test for a row with a location: trencode writes <0> as the name of a call without one, and the
 * type's as the name of a sample without a stack. */
static bool in_has_location(const struct rows_in *r)
{
	const struct in_row *row = &r->row;
	uint32_t name = in_text(r, IN_NAME);

	if (r->values.size || in_text(r, IN_FILE))
		return true;
	if (row->kind == KIND_ENTER)
		return !r->own || name != r->texts_unknown;
	return name != in_text(r, IN_TYPE) || (row->kind == KIND_SAMPLE && (!r->own || row->frame));
}

/* Get the error that a row returned, if its name is that of the number, which is a text in a column
 * that has others. */
static uint16_t in_returned_error(const struct rows_in *r)
{
	const uint8_t *at = r->values.data + r->row.return_at + 8;
	struct values v;
	struct value value;
	int64_t number;

	if (!r->row.error || !r->row.has_return)
		return 0;
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

/* Declare a type of rows. 0: out of memory. */
static uint32_t in_declare_type(struct rows_in *r, uint32_t kinds, enum type_kind kind,
				unsigned variant)
{
	bool call = kind == KIND_ENTER || kind == KIND_LEAVE, sample = kind == KIND_SAMPLE;
	bool numbered = variant & IN_NUMBERED, deep = variant & IN_DEEP;
	uint32_t size = sample ? 8 : 4, n = 0;
	struct field_entry fields[4] = {0};
	struct type_entry type = {.source = r->source,
				  .kind = (uint8_t)kind,
				  .flags = (variant & IN_TAILED ? TYPE_TAIL | TYPE_VALUES : 0) |
					   (call && numbered ? TYPE_CALL_NUMBER : 0) |
					   (call && deep ? TYPE_DEPTH : 0) |
					   (call && variant & IN_ON_CPU ? TYPE_PER_CPU : 0) |
					   (sample && deep ? TYPE_WEIGHT_TIME : 0),
				  .fields = fields};
	uint64_t key;

	/* without a name it is no field that programs print */
	if (sample || numbered)
		fields[n++] =
			(struct field_entry){.kind = sample && numbered ? FIELD_INT : FIELD_UINT,
					     .role = sample ? ROLE_PERIOD
						     : call ? ROLE_CALL
							    : ROLE_STACK,
					     .name = call || sample || deep ? 0 : r->texts_stack,
					     .size = size};
	if (sample && variant & IN_ON_CPU)
		fields[n++] =
			(struct field_entry){.kind = FIELD_INT, .role = ROLE_TOTAL, .size = 8};
	if (variant & IN_COUNTED)
		fields[n++] =
			(struct field_entry){.kind = FIELD_UINT, .role = ROLE_COUNT, .size = 8};
	if (variant & IN_FAILED)
		fields[n++] = (struct field_entry){
			.kind = FIELD_INT,
			.name = r->texts_return,
			.size = 4,
			.definition = kernel_names_of(&r->errors, r->w, "sys_exit", 8, "ret", 3)};
	for (uint32_t i = 0; i < n; i++) {
		fields[i].offset = type.fixed_size;
		type.fixed_size += fields[i].size;
	}
	type.nfields = n;
	memcpy(&key, intern_data(&r->kinds_known, kinds), sizeof key);
	type.name = (uint32_t)(key >> 32);
	type.group = (uint32_t)key;
	return writer_type(r->w, &type);
}

/* Get the type of rows; 0: out of memory. */
static uint32_t in_type(struct rows_in *r, uint32_t kinds, enum type_kind kind, unsigned variant)
{
	uint32_t *id = key_map_number(
		&r->types, ((uint64_t)kinds * KIND_COUNT + kind) * IN_VARIANTS + variant);

	if (id && !*id)
		*id = in_declare_type(r, kinds, kind, variant);
	return id ? *id : 0;
}

/* Get the type of a sample with details of so many bytes. */
static uint32_t in_sample_type(struct rows_in *r, const struct in_record *record, size_t size)
{
	return in_type(r, record->kinds, KIND_SAMPLE,
		       (size ? IN_TAILED : 0) | (record->negative ? IN_NUMBERED : 0) |
			       (record->timed ? IN_DEEP : 0) | (record->has_total ? IN_ON_CPU : 0) |
			       (record->has_calls ? IN_COUNTED : 0) |
			       (record->error ? IN_FAILED : 0));
}

/* Declare the type of a sample before the first row: weights of different types are not added. */
static int in_announce(struct rows_in *r, const struct in_record *record)
{
	size_t known = r->types.count;
	uint32_t type = in_sample_type(r, record, r->waiting.size - sizeof *record);

	if (!type || r->types.count == known)
		return type ? 0 : -1;
	return row_filter_announce(r->input->decoding->row_filter, type, 0);
}

/* Put the row into r->waiting as a record, with its key. Returns 1: it has no time. */
static int in_make_record(struct rows_in *r, struct sorter_key *key)
{
	struct in_record record = {0};

	if (!in_set_times(r))
		return 1;
	in_complete(r);
	record.kind = r->row.kind;
	record.dur = r->row.dur;
	if (record.kind == KIND_SAMPLE)
		record.weight = in_has(r, IN_WEIGHT) ? r->row.weight : 1;
	record.total = r->row.total;
	record.calls = r->row.calls;
	record.has_total = in_has(r, IN_WEIGHT_TOTAL);
	record.has_calls = in_has(r, IN_WEIGHT_COUNT);
	/* the total is signed as the weight is */
	record.negative = r->row.negative || record.has_total;
	record.unfinished = r->row.unfinished;
	record.serial = ++r->serial;
	record.on_cpu = r->row.on_cpu;
	record.unstacked = r->row.unstacked;
	record.has_depth = in_has(r, IN_DEPTH) && !record.unstacked;
	record.depth = (uint16_t)r->row.depth;
	record.timed = r->row.timed;
	record.error = in_returned_error(r);
	record.in_args =
		r->row.in_args || (r->own && in_has(r, IN_STACK) && in_column_of_role(r, IN_ARGS));
	r->waiting.size = 0;
	if (in_record_function(r, &record) || buffer_zero(&r->waiting, sizeof record) ||
	    in_record_kinds(r, &record) || in_place(r, &record) || in_convert_values(r, &record))
		return -1;
	if (!in_has_location(r))
		record.function = 0;
	if (in_record_stack(r, &record))
		return -1;
	key->time = r->row.time;
	in_note_inside(r, &record);
	if (in_second_key(r, &record, key->time, &key->second))
		return -1;
	memcpy(r->waiting.data, &record, sizeof record);
	return r->sorts && record.kind == KIND_SAMPLE ? in_announce(r, &record) : 0;
}

/* --- rows in the order of their times --- */

/* Write a row of a call, an instant or a counter, with the time, location, depth and tail of *row,
 * which is filled. number: of the call, or the stack. */
static int in_write(struct rows_in *r, const struct in_record *record, struct new_row *row,
		    enum type_kind kind, uint32_t number)
{
	bool call = kind == KIND_ENTER || kind == KIND_LEAVE;
	bool deep = call ? !number && record->has_depth : number && record->in_args;
	bool failed = record->error && kind != KIND_ENTER;
	unsigned variant = (row->tail_size ? IN_TAILED : 0) | (number ? IN_NUMBERED : 0) |
			   (deep ? IN_DEEP : 0) | (record->on_cpu ? IN_ON_CPU : 0) |
			   (failed ? IN_FAILED : 0);
	struct buffer details = {.data = (uint8_t *)(uintptr_t)row->tail, .size = row->tail_size};
	uint32_t numbers = number ? 4 : 0;
	uint8_t fixed[8];

	put_u32(fixed, number);
	put_u32(fixed + numbers, failed ? -(uint32_t)record->error : number);
	row->time = merge_shifted(row->time, r->input->shift);
	row->type = in_type(r, record->kinds, kind, variant);
	row->lane = record->lane;
	row->fixed = fixed;
	row->fixed_size = numbers + (failed ? 4 : 0);
	row->has_tail = row->tail_size > 0;
	if (!row->type ||
	    (row->has_tail && r->objects.definitions && arguments_use_structs(r->w, &details)))
		return -1;
	if (!call && number && writer_use_stack(r->w, number))
		return -1;
	return writer_row_data(r->w, *row);
}

/* End a call without a return, which other calls of its thread follow. */
static int in_drop(struct rows_in *r, const struct in_frame *f, uint64_t time)
{
	uint32_t *type = &r->drops[f->on_cpu];

	if (!*type)
		*type = writer_type(
			r->w,
			&(struct type_entry){.kind = KIND_DROP,
					     .flags = TYPE_DEPTH | (f->on_cpu ? TYPE_PER_CPU : 0)});
	return *type ? writer_row_data(
			       r->w, (struct new_row){.time = merge_shifted(time, r->input->shift),
						      .lane = f->lane,
						      .type = *type,
						      .depth = f->level})
		     : -1;
}

/* End a call: at its leave, or with the call around it. */
static int in_leave(struct rows_in *r, struct in_frame *f, uint64_t time)
{
	struct in_record record = {.lane = f->lane,
				   .kinds = f->kinds,
				   .has_depth = f->has_depth,
				   .on_cpu = f->on_cpu,
				   .error = f->error};
	int failed = 0;

	if (!f->unfinished)
		failed = in_write(r, &record,
				  &(struct new_row){.time = time,
						    .location = f->location,
						    .depth = f->has_depth ? f->level : 0,
						    .tail = f->values,
						    .tail_size = f->size},
				  KIND_LEAVE, f->number);
	else if (!f->has_depth && !f->number)
		failed = in_drop(r, f, time);
	free(f->values);
	f->values = NULL;
	return failed;
}

/* Get a frame that is on no stack. NULL: out of memory. */
static struct in_frame *in_free_frame(struct rows_in *r, uint32_t *index)
{
	struct in_frame *f;

	if (!r->overlapping_free) {
		if (ARRAY_GROW(r->overlapping, r->overlapping_capacity, r->noverlapping))
			return NULL;
		r->overlapping[r->noverlapping].next = 0;
		r->overlapping_free = (uint32_t)++r->noverlapping;
	}
	*index = r->overlapping_free - 1;
	f = &r->overlapping[*index];
	r->overlapping_free = f->next;
	*f = (struct in_frame){.number = ++r->calls};
	return f;
}

/* Test for a call that cannot be on the stack of its thread. */
static bool in_overlaps(struct rows_in *r, const struct in_record *record,
			const struct complete_end *end)
{
	uint64_t time = end->time - record->dur;
	const struct in_thread *t = &r->threads[record->thread];
	const struct in_frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;

	if (r->noverlapping == IN_OVERLAPPING_MOST && !r->overlapping_free)
		return false;
	if (record->unstacked || t->depth == IN_FRAMES_MOST)
		return true;
	if (time < t->left) {
		r->counts.late++;
		return true;
	}
	return top && ((record->has_depth && top->has_depth && top->depth >= record->depth) ||
		       complete_calls_overlap(&r->completes, end, top->limit, false));
}

/* End the calls without a return that have ended before a call begins. */
static int in_drop_ended(struct rows_in *r, struct in_thread *t, const struct in_record *record,
			 uint64_t time)
{
	while (t->depth && t->frames[t->depth - 1].unfinished) {
		struct in_frame *top = &t->frames[t->depth - 1];
		/* the enter itself ends a call of its depth */
		bool same = record->has_depth && top->has_depth && top->depth >= record->depth;

		if (top->end > time || (top->end == time && !same))
			break;
		if (!same && in_drop(r, top, time))
			return -1;
		free(top->values);
		t->depth--;
	}
	return 0;
}

/* Write the enter of a call, and note its end. */
static int in_enter(struct rows_in *r, const struct in_record *record, uint32_t location,
		    uint64_t time, const uint8_t *details, uint32_t size)
{
	struct in_thread *t = &r->threads[record->thread];
	struct complete_end end = {.time = time + record->dur, .thread = record->thread};
	uint64_t limit;
	struct in_frame *f;
	uint32_t number;

	if (in_drop_ended(r, t, record, time))
		return -1;
	/* of one time, ends are in the order of the rows of trencode; elsewhere in that of a stack
	 */
	end.serial = r->own && !r->mixed ? UINT64_MAX - record->serial : ++r->completes.serial;
	end.depth = (uint32_t)t->depth;
	limit = t->depth ? t->frames[t->depth - 1].limit : UINT64_MAX;
	end.overlaps = in_overlaps(r, record, &end);
	if (end.overlaps) {
		f = in_free_frame(r, &end.depth);
	} else {
		f = ARRAY_GROW(t->frames, t->capacity, t->depth) ? NULL : &t->frames[t->depth++];
		if (f)
			*f = (struct in_frame){0};
	}
	if (!f)
		return -1;
	number = f->number;
	if (!number)
		t->left = time;
	*f = (struct in_frame){.end = end.time,
			       .limit = end.time < limit ? end.time : limit,
			       .serial = record->serial,
			       .depth = record->depth,
			       .level = end.depth,
			       .has_depth = record->has_depth,
			       .unfinished = record->unfinished,
			       .on_cpu = record->on_cpu,
			       .error = record->error,
			       .number = number,
			       .lane = record->lane,
			       .kinds = record->kinds,
			       .location = location,
			       .heap_serial = end.serial};
	if (size > record->enter_size) {
		f->size = size - record->enter_size;
		f->values = malloc(f->size);
		if (!f->values)
			return -1;
		memcpy(f->values, details + record->enter_size, f->size);
	}
	if (in_write(r, record,
		     &(struct new_row){.time = time,
				       .location = location,
				       .depth = record->has_depth && !number ? end.depth : 0,
				       .tail = details,
				       .tail_size = record->enter_size},
		     KIND_ENTER, number))
		return -1;
	return complete_calls_push(&r->completes, &end);
}

static struct in_frame *in_frame_of(const struct rows_in *r, const struct complete_end *end)
{
	const struct in_thread *t = &r->threads[end->thread];

	if (end->overlaps)
		return &r->overlapping[end->depth];
	return t->depth > end->depth && t->frames[end->depth].heap_serial == end->serial
		       ? &t->frames[end->depth]
		       : NULL;
}

/* Take the earliest end from the heap, and end its call. */
static int in_take_end(struct rows_in *r)
{
	struct complete_end end = complete_calls_pop(&r->completes);
	struct in_thread *t = &r->threads[end.thread];
	struct in_frame *f = in_frame_of(r, &end);

	if (f && f->unfinished && t->latest <= end.time) {
		/* it may be open at the end */
		t->last = end.time;
		t->last_lane = f->lane;
		t->last_on_cpu = f->on_cpu;
		if (!end.overlaps)
			return 0;
	} else if (f && f->unfinished && !end.overlaps) {
		if (in_drop(r, f, end.time))
			return -1;
		f->has_depth = true;
	} else if (f) {
		/* the stream has no other end of a call with a number */
		f->unfinished = false;
	}
	if (end.overlaps) {
		if (in_leave(r, f, end.time))
			return -1;
		f->next = r->overlapping_free;
		r->overlapping_free = end.depth + 1;
		return 0;
	}
	t->left = f && end.time > t->left ? end.time : t->left;
	while (f && t->depth > end.depth)
		if (in_leave(r, &t->frames[--t->depth], end.time))
			return -1;
	return 0;
}

/* --- samples --- */

static int in_sample(struct rows_in *r, const struct in_record *record, uint64_t time,
		     const uint8_t *details, uint32_t size)
{
	struct new_row row = {.time = merge_shifted(time, r->input->shift),
			      .lane = record->lane,
			      .type = in_sample_type(r, record, size),
			      .location = record->stack,
			      .tail = details,
			      .tail_size = size,
			      .has_tail = size > 0};
	struct buffer values = {.data = (uint8_t *)(uintptr_t)details, .size = size};
	uint8_t fixed[28], *at = fixed;

	put_u64(at, record->weight);
	at += 8;
	if (record->has_total) {
		put_u64(at, record->total);
		at += 8;
	}
	if (record->has_calls) {
		put_u64(at, record->calls);
		at += 8;
	}
	if (record->error) {
		put_u32(at, -(uint32_t)record->error);
		at += 4;
	}
	row.fixed = fixed;
	row.fixed_size = (uint32_t)(at - fixed);
	if (!row.type || (size && r->objects.definitions && arguments_use_structs(r->w, &values)))
		return -1;
	return writer_sample(r->w, row);
}

/* Declare the lane of the next record: threads are in the order of their first rows. 0: out of
 * memory. */
static uint32_t in_lane(struct rows_in *r, uint32_t number)
{
	struct lane_entry lane;

	if (number < r->lanes.capacity && r->lanes.numbers[number])
		return r->lanes.numbers[number];
	memcpy(&lane, intern_data(&r->lanes.keys, number), sizeof lane);
	return writer_lane_once(r->w, &r->lanes, &lane);
}

/* Write the rows of the next record. */
static int in_event(struct rows_in *r, const struct sorter_record *next)
{
	const uint8_t *details = next->data + sizeof(struct in_record);
	uint32_t size = (uint32_t)(next->size - sizeof(struct in_record));
	struct gap_arguments gap;
	struct in_record record;
	uint32_t location = 0;

	memcpy(&record, next->data, sizeof record);
	record.lane = in_lane(r, record.lane);
	if (!record.lane)
		return -1;
	if (record.function) {
		location = in_location(r, &record);
		if (!location)
			return -1;
	}
	if (record.kind == KIND_ENTER)
		return in_enter(r, &record, location, next->key.time, details, size);
	if (record.kind == KIND_SAMPLE && location) {
		record.stack = writer_stack(r->w, record.stack, location);
		if (!record.stack)
			return -1;
	}
	if (record.kind == KIND_SAMPLE)
		return in_sample(r, &record, next->key.time, details, size);
	if (record.kind == KIND_GAP) {
		gap_arguments_read(&gap, r->w, details, size);
		gap.gap.reason = gap.has_reason ? gap.gap.reason : GAP_LOST;
		return writer_gap(r->w, merge_shifted(next->key.time, r->input->shift), record.lane,
				  &gap.gap);
	}
	return in_write(r, &record,
			&(struct new_row){.time = next->key.time,
					  .location = location,
					  .tail = details,
					  .tail_size = size},
			(enum type_kind)record.kind, record.stack);
}

/* --- the window: rows up to a second out of order are sorted --- */

/* Begin to write the rows of the present second. */
static int in_drain(struct rows_in *r, struct error *e)
{
	r->draining = true;
	if (r->has_from) {
		r->from += IN_SECOND;
		r->floor = r->from;
	}
	r->in_now = 0;
	if (!r->own && !r->in_later)
		r->inside = 0;
	return sorter_finish(&r->now, e);
}

/* Continue with the rows of the next second. */
static void in_next_second(struct rows_in *r)
{
	struct sorter written = r->now;

	sorter_clear(&written);
	r->now = r->later;
	r->later = written;
	r->in_now = r->in_later;
	r->in_later = 0;
	r->draining = false;
}

/* Add the record that waits to those of the present second, or of the next. */
static int in_add(struct rows_in *r, bool later, struct error *e)
{
	*(later ? &r->in_later : &r->in_now) += 1;
	return sorter_add(later ? &r->later : &r->now, r->pending, r->waiting.data, r->waiting.size,
			  e);
}

/* Add the record that waits. Returns 1: the rows of the present second are to be written
 * before it. */
static int in_admit(struct rows_in *r, struct error *e)
{
	struct sorter_key key = r->pending;

	if (r->sorts)
		return in_add(r, false, e);
	if (!r->has_from || (!r->in_now && !r->in_later && key.time >= r->from + IN_SECOND)) {
		r->has_from = true;
		r->from = key.time > IN_SECOND ? key.time - IN_SECOND : 0;
	}
	r->latest = r->last_end > r->latest ? r->last_end : r->latest;
	if (key.time < r->floor || key.time < r->from) {
		/* from a pipe it is written after others */
		if (r->input->file.live)
			return in_add(r, false, e);
		input_damage(r->input, r->input->name, r->row_offset,
			     "a row is left out: its time is more than 1 s before that of a row "
			     "before it; sort all rows with --sort");
		return 0;
	}
	if (key.time - r->from >= 2 * IN_SECOND && !(r->own && r->inside))
		return 1;
	return in_add(r, key.time - r->from >= IN_SECOND, e);
}

/* Read a row into r->waiting. Returns 1; 0: no more. */
static int in_take_row(struct rows_in *r, struct error *e)
{
	int got;

	for (;;) {
		got = in_next_row(r, e);
		if (got <= 0)
			return got;
		got = in_make_record(r, &r->pending);
		if (got < 0)
			return error_no_memory(e);
		if (!got)
			return 1;
		in_timeless(r);
	}
}

/*
 * Begin to write the rows that wait, and the ends of their calls, before a live table is waited
 * for. Calls may be inside of one whose row follows: they wait for a second. Returns 1: some are
 * written; 0: the next row is there; -1 with *e.
 */
static int in_release(struct rows_in *r, struct error *e)
{
	bool held = r->in_now || r->in_later || r->completes.count;
	const struct input_lines *l = &r->lines;

	if (held && !r->has_from)
		return in_drain(r, e) ? -1 : 1; /* those after the present second */
	if (r->again_at < r->again.size || input_lines_ready(l, r->input, LIVE_WAIT))
		return 0;
	/* what is written must show, and what waits, too */
	if (writer_flush(r->w))
		return -1;
	if (!held || (r->inside && input_lines_ready(l, r->input, IN_LOOK_MS - LIVE_WAIT)))
		return 0;
	r->floor = r->latest + 1;
	r->has_from = false;
	return in_drain(r, e) ? -1 : 1;
}

/* Read rows until those of a second are complete, and drain them. */
static int in_fill(struct rows_in *r, struct error *e)
{
	while (!r->draining && !r->ended) {
		int got = 1;

		if (r->input->file.live && !r->has_pending && !r->sorts) {
			got = in_release(r, e);
			if (got)
				return got < 0 ? -1 : 0;
			got = 1;
		}
		if (!r->has_pending)
			got = in_take_row(r, e);
		if (got < 0)
			return -1;
		r->has_pending = got;
		r->ended = !got;
		if (!got)
			break;
		got = in_admit(r, e);
		if (got < 0)
			return -1;
		r->has_pending = got;
		if (got && in_drain(r, e))
			return -1;
	}
	if (r->ended && !r->draining) {
		if (in_check_map(r, e))
			return -1;
		return in_drain(r, e);
	}
	return 0;
}

/* Test whether the call that ends first ends before a row of that time. Of trencode, the row of a
 * call is at its end, and its key has the first row inside of the call. */
static bool in_ends_before(const struct rows_in *r, const struct sorter_record *next)
{
	const struct in_frame *f =
		r->completes.count ? in_frame_of(r, &r->completes.heap[0]) : NULL;

	return !f || r->mixed || !r->own || f->serial < next->key.second >> IN_KEY_DEPTH;
}

/* Declare the ends of the threads whose last calls have no return. */
static int in_end_threads(struct rows_in *r)
{
	for (size_t i = 0; i < r->nthreads; i++) {
		struct in_thread *t = &r->threads[i];
		struct thread_entry end = {.lane = t->last_lane,
					   .flags = THREAD_HAS_LAST |
						    (t->last_on_cpu ? THREAD_PER_CPU : 0),
					   .last = merge_shifted(t->last, r->input->shift)};

		if (t->last_lane && writer_thread(r->w, &end))
			return -1;
		t->last_lane = 0;
	}
	return 0;
}

/* Find the next thing to write: r->next_end: it is the end of a call, at in->next. */
static int in_advance(struct rows_in *r, struct error *e)
{
	struct sorter_record next;
	uint64_t end, time;

	for (;;) {
		if (!r->draining && in_fill(r, e))
			return -1;
		end = complete_calls_next(&r->completes);
		if (!r->draining)
			continue;
		if (sorter_peek(&r->now, &next)) {
			time = next.key.time;
			r->next_end = end < time || (end == time && in_ends_before(r, &next));
			time = r->next_end ? end : time;
			break;
		}
		/* no row before r->floor follows */
		if (end < r->floor || (r->ended && !r->in_later)) {
			r->next_end = true;
			time = end;
			break;
		}
		in_next_second(r);
	}
	r->input->next = time == UINT64_MAX ? UINT64_MAX : merge_shifted(time, r->input->shift);
	return time == UINT64_MAX ? in_end_threads(r) : 0;
}

/* --- the decoder --- */

static bool in_is_format(const struct input *in, const char *name)
{
	return in->format && !strcmp(in->format, name);
}

/* Get the text of the head, after a byte order mark. */
static struct text_span in_head(const struct input *in)
{
	struct text_span s = {(const char *)in->head, (const char *)in->head + in->head_size};

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
static enum bid in_probe_ndjson(const struct input *in)
{
	struct text_span s = in_head(in), name;
	const char *newline = span_find(s, "\n"), *at;

	if (in->tree || !span_size(s))
		return BID_NONE;
	if (in->format)
		return in_is_format(in, "ndjson") && in_is_text(s) ? BID_CHANCE : BID_NONE;
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
		return in_is_format(in, format) && in_is_text(s) ? BID_CHANCE : BID_NONE;
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

static enum bid in_probe_csv(const struct input *in)
{
	return in_probe_delimited(in, "csv", ',');
}

static enum bid in_probe_tsv(const struct input *in)
{
	return in_probe_delimited(in, "tsv", '\t');
}

/* Refuse texts of other systems, of which no row could be read. */
static int in_check_encoding(const struct rows_in *r, struct error *e)
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

static int in_open(struct input *in, struct error *e)
{
	struct rows_in *r = calloc(1, sizeof *r);

	in->state = r;
	if (!r)
		return error_no_memory(e);
	r->cells = calloc(IN_COLUMNS_MOST, sizeof *r->cells);
	if (!r->cells)
		return error_no_memory(e);
	r->input = in;
	r->w = in->decoding->writer;
	r->locations.w = r->w;
	tzset();
	r->format = in->decoder == &decoder_csv	  ? IN_CSV
		    : in->decoder == &decoder_tsv ? IN_TSV
						  : IN_NDJSON;
	if (in_check_encoding(r, e))
		return -1;
	in->clock_name = "rows";
	sorter_init(&r->now);
	sorter_init(&r->later);
	r->texts_return = writer_text(r->w, "ret");
	r->texts_stack = writer_text(r->w, "stack");
	r->texts_unknown = writer_text(r->w, "<0>");
	r->texts_call = writer_text(r->w, "call");
	r->texts_row = writer_text(r->w, "row");
	return in_map_parse(r, in->decoding->map, e);
}

/* Refuse times without a unit, by the first row. */
static int in_check_units(struct rows_in *r, struct error *e)
{
	for (size_t i = 0; i < r->ncolumns; i++) {
		const struct in_column *c = &r->columns[i];

		if ((c->role != IN_TIME && c->role != IN_DUR && c->role != IN_END) ||
		    in_has(r, c->role) || c->times.scale || c->times.pattern)
			continue;
		r->counts.unlike = 0;
		return error_set(e, r->input->name, NO_OFFSET,
				 "the numbers in '%.40s' have no unit: give one, as in --map "
				 "%s=%.40s:ms (s, ms, us, ns, ticks, or a pattern of strptime)",
				 c->text, in_names[c->role], c->text);
	}
	return 0;
}

/* Read the header, and rows up to the first with a time, into r->row. Returns 0: there is none. */
static int in_first_row(struct rows_in *r, struct error *e)
{
	bool checked = false;
	int got;

	if (r->format != IN_NDJSON) {
		if (in_read_header(r, e))
			return -1;
		if (r->norder && (in_check_columns(r, e) || in_check_map(r, e)))
			return -1;
		checked = true;
		r->own = in_is_own(r);
		if (in_needs_look(r) && in_look(r, e))
			return -1;
	}
	for (;;) {
		got = in_next_row(r, e);
		if (got <= 0)
			return got;
		if (!checked && in_check_columns(r, e))
			return -1;
		checked = true;
		r->own = in_is_own(r);
		if (in_check_units(r, e))
			return -1;
		if (in_set_times(r))
			return 1;
		in_timeless(r);
	}
}

/* Choose the clock by the first row. */
static int in_choose_clock(struct rows_in *r, struct error *e)
{
	struct input *in = r->input;
	const struct in_column *time = in_column_of_role(r, IN_TIME);

	time = time ? time : in_column_of_role(r, IN_END);
	in->ticks = time && (time->times.ticks || r->row.ticks);
	in->has_wall = !in->ticks && r->row.time >= IN_WALL;
	if (in->has_wall)
		in->clock_name = "wall";
	r->typed = r->own && in_column_of_role(r, IN_TYPE);
	/* a file of samples is read to its end first: all their types are known then */
	r->sorts = in->decoding->sort ||
		   (!in->file.live &&
		    (r->own || in_column_of_role(r, IN_STACK) || in_column_of_role(r, IN_WEIGHT)));
	return merge_choose_clock(in, e);
}

static int in_begin(struct input *in, struct error *e)
{
	struct rows_in *r = in->state;
	struct writer *w = r->w;
	int got;

	got = in_first_row(r, e);
	if (got < 0 || in_choose_clock(r, e))
		return -1;
	r->source = writer_source(w, &(struct source_entry){writer_text(w, in->decoder->name),
							    writer_text(w, in->name), 0, 0});
	r->clock = input_declare_clock(in, in->has_wall);
	in->next = UINT64_MAX;
	if (!got)
		return 0;
	got = in_make_record(r, &r->pending);
	if (got < 0)
		return -1;
	r->has_pending = true;
	if (in_advance(r, e))
		return -1;
	return in->next == UINT64_MAX ? 0 : merge_first(in, in->next - (uint64_t)in->shift, e);
}

static int in_run(struct input *in, uint64_t until, struct error *e)
{
	struct rows_in *r = in->state;
	struct sorter_record next;

	while (in->next <= until && in->next != UINT64_MAX) {
		if (r->next_end) {
			if (in_take_end(r))
				return -1;
		} else if (!sorter_peek(&r->now, &next) || in_event(r, &next) ||
			   sorter_advance(&r->now, e)) {
			return -1;
		}
		if (in_advance(r, e))
			return -1;
	}
	return 0;
}

static int in_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct rows_in *r = in->state;
	uint64_t rows = 0;
	int got = in_first_row(r, e);

	if (got < 0)
		return -1;
	fact_text(facts, "format", in->decoder->name);
	for (; got > 0; got = in_next_row(r, e))
		rows++;
	if (got < 0)
		return -1;
	fact_number(facts, "rows", rows);
	for (size_t i = 0; i < r->ncolumns && i < 64; i++)
		fact_item(facts, "column", r->columns[i].text);
	return 0;
}

static void in_free(struct rows_in *r)
{
	struct buffer *buffers[] = {&r->values,	   &r->again, &r->record, &r->cell,
				    &r->json_text, &r->path,  &r->waiting};

	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_free(buffers[i]);
	for (size_t i = 0; i < r->nthreads; i++) {
		for (size_t f = 0; f < r->threads[i].depth; f++)
			free(r->threads[i].frames[f].values);
		free(r->threads[i].frames);
		free(r->threads[i].firsts);
	}
	for (size_t i = 0; i < r->noverlapping; i++)
		free(r->overlapping[i].values);
	free(r->threads);
	free(r->overlapping);
	free(r->columns);
	free(r->maps);
	free(r->constants);
	free(r->map);
	free(r->order);
	free(r->cells);
	id_cache_free(&r->names);
	id_cache_free(&r->lanes);
	intern_free(&r->kinds_known);
	key_map_free(&r->types);
	intern_free(&r->functions);
	key_map_free(&r->listed);
	free(r->lists);
	frame_locations_free(&r->locations);
	intern_free(&r->threads_known);
	arguments_free(&r->arguments);
	nested_json_free(&r->objects);
	json_close(&r->json);
	json_close(&r->frames_json);
	sorter_free(&r->now);
	sorter_free(&r->later);
	complete_calls_free(&r->completes);
	input_lines_free(&r->lines);
	free(r);
}

static void in_close(struct input *in)
{
	struct rows_in *r = in->state;

	if (!r)
		return;
	if (!in->decoding->quiet) {
		warn_count(in->name, r->counts.unlike,
			   "{value does|values do} not fit the type of {its column|their columns}: "
			   "written as text");
		warn_count(
			in->name, r->counts.late,
			"{call|calls} came after calls inside of {it|them} were written: self is "
			"the whole time; sort all rows with --sort");
		warn_count(in->name, r->counts.columns + r->arguments.nameless,
			   "{field|fields} beyond %d names {is|are} left out", IN_COLUMNS_MOST);
	}
	in_free(r);
	in->state = NULL;
}

#define ROWS_DECODER(format)                                                                       \
	const struct decoder decoder_##format = {                                                  \
		.name = #format,                                                                   \
		.probe = in_probe_##format,                                                        \
		.in_order = true,                                                                  \
		.open = in_open,                                                                   \
		.info = in_info,                                                                   \
		.begin = in_begin,                                                                 \
		.run = in_run,                                                                     \
		.close = in_close,                                                                 \
	}

ROWS_DECODER(ndjson);
ROWS_DECODER(csv);
ROWS_DECODER(tsv);
