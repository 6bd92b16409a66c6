/*
 * callgrind.c - profiles of callgrind and cachegrind, as valgrind, Xdebug and `pprof -callgrind`
 * write them
 *
 *     positions: line           what a position is: "instr", "line" or both
 *     events: Ir Dr             the costs of a line
 *     event: Sum = Ir + 16 Dr   an event that is computed from others, up to ": long name"
 *     ob=(1) /bin/work          object, file and function of the lines that follow; a number in
 *     fl=(1) work.pl            parentheses has the name that follows its first use, for objects,
 *     fn=(1) main               files and functions each
 *     16 400 20                 400 Ir and 20 Dr of line 16
 *     fi=(2) part.pl            file of an inlined part, up to the next fi= or fe=
 *     +3 30                     line 19: a position may be +N, -N or * against the last one
 *     cob=, cfi= or cfl=        object and file of the callee, if they differ from the caller's
 *     cfn=(2) checksum
 *     calls=90 4                calls of cfn, whose line is 4
 *     * 9000 100                the position of the calls, and their costs with those of callees
 *
 * Each line is a sum of calls (rows.h) for each event: of its function the own cost, and of a
 * callee for its caller the inclusive cost and the number of calls. The inclusive cost of a
 * function is that of its calls. One that no other calls has its own cost and that of its callees,
 * in a row at the end. So all are the numbers of callgrind_annotate.
 *
 * Source: "Callgrind Format Specification" of valgrind's manual; printCallgrind of pprof.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "common/util/intern.h"
#include "common/util/text_span.h"
#include "common/util/u128.h"

#define CG_MARK "\xef\xbb\xbf" /* of the byte order, before the first line of an edited file */

enum { CG_EVENTS = 32, CG_FRAMES = 2, CG_FORMULAS_SIZE = 1024 };
enum cg_name { CG_OBJECT, CG_FILE, CG_FUNCTION, CG_NAMES };

/* A kind of cost. */
struct cg_event {
	uint32_t name, type;
	uint64_t ns; /* of its unit; 0: it is no time */
};

/* Strings of the writer, 0 unknown. */
struct cg_function {
	uint32_t name[CG_NAMES];
};

/* The sums of a function in a thread. */
struct cg_sums {
	struct cg_function function;
	uint32_t lane;
	bool called;
	int64_t cost[CG_EVENTS]; /* by event: own, and of calls from it */
};

struct callgrind_file {
	struct input *input;
	struct writer *w;
	struct input_lines lines;
	uint64_t line; /* number of the present line of the text */
	/* headers */
	uint32_t pid, thread, comm; /* pid, thread: + 1; comm: a string */
	bool has_instr, has_line;   /* parts of a position */
	struct cg_event events[CG_EVENTS];
	unsigned nevents, ncolumns;
	unsigned nall;			 /* columns with those that are computed */
	uint8_t columns[CG_EVENTS];	 /* events of the costs of a line */
	char formulas[CG_FORMULAS_SIZE]; /* "Sum = Ir + 16 Dr\n" of each computed event */
	size_t formulas_size;
	bool derived;			       /* they are columns */
	int64_t factors[CG_EVENTS][CG_EVENTS]; /* by its column, then by that of a term */
	bool ends;  /* sums follow the costs of each part that is whole */
	bool exact; /* they are those of the costs */
	struct {
		bool begun;				  /* it has a header or costs */
		bool has_costs;				  /* of functions */
		bool has_summary;			  /* before its costs */
		bool ended;				  /* its sums are after its costs */
		int64_t sums[CG_EVENTS], seen[CG_EVENTS]; /* by column */
	} part;
	/* the present function with its file, the same with the file of an inlined part, and the
	 * next callee */
	struct cg_function function, inlined, callee;
	bool has_function, has_callee, is_call;
	uint64_t calls, instr, position, callee_position;
	struct key_map numbers[CG_NAMES]; /* strings by number in parentheses */
	uint32_t source, clock, lane;	  /* lane 0: headers have changed */
	struct id_cache lanes, spaces, locations, functions;
	struct cg_sums *sums;
	size_t nsums, capacity;
	/* the next rows: of a line, or of functions that are not called, from next_sum on */
	uint32_t stack;
	bool rows_of_call;
	int64_t cost[CG_EVENTS]; /* by column */
	bool at_end;
	size_t next_sum;
};

/* --- numbers and names --- */

/* Take a number, which may be negative or hexadecimal. false: there is none. */
static bool cg_take_number(struct text_span *s, int64_t *number)
{
	const char *at = span_skip_blanks(s->at, s->end), *digits;
	bool minus = at < s->end && *at == '-', hex;
	uint64_t n = 0;

	at += minus;
	hex = s->end - at > 2 && at[0] == '0' && at[1] == 'x';
	at += hex ? 2 : 0;
	for (digits = at;
	     at < s->end && (hex ? isxdigit((unsigned char)*at) : isdigit((unsigned char)*at));
	     at++)
		if (__builtin_mul_overflow(n, hex ? 16u : 10u, &n) ||
		    __builtin_add_overflow(
			    n, (unsigned)(*at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10), &n))
			return false;
	if (at == digits || (at < s->end && *at != ' ' && *at != '\t'))
		return false;
	s->at = at;
	n = n > INT64_MAX && !hex ? INT64_MAX : n;
	*number = (int64_t)(minus ? 0 - n : n);
	return true;
}

/* Take a position, which may be relative to the last one. */
static bool cg_take_position(struct text_span *s, uint64_t *position)
{
	int64_t n;
	char first;

	s->at = span_skip_blanks(s->at, s->end);
	first = s->at < s->end ? *s->at : '\0';
	if (first == '*') {
		s->at++;
		return s->at == s->end || *s->at == ' ' || *s->at == '\t';
	}
	s->at += first == '+';
	if (!cg_take_number(s, &n))
		return false;
	*position = first == '+' || first == '-' ? *position + (uint64_t)n : (uint64_t)n;
	return true;
}

static bool cg_take_positions(const struct callgrind_file *g, struct text_span *s, uint64_t *instr,
			      uint64_t *line)
{
	return (!g->has_instr || cg_take_position(s, instr)) &&
	       (!g->has_line || cg_take_position(s, line));
}

/* Get the string of "(3) name", "(3)" or "name". 0: it has no name; *bad: a number without one. */
static uint32_t cg_name(struct callgrind_file *g, enum cg_name kind, struct text_span s, bool *bad)
{
	uint64_t number = 0;
	const char *end = s.at < s.end ? span_digits(s.at + 1, s.end, &number) : s.at;
	uint32_t *known;

	if (s.at == s.end || *s.at != '(' || end == s.at + 1 || end == s.end || *end != ')')
		return writer_string(g->w, s.at, span_size(s));
	known = key_map_number(&g->numbers[kind], number);
	*bad |= !known;
	if (!known)
		return 0;
	s.at = span_skip_blanks(end + 1, s.end);
	if (s.at < s.end)
		*known = writer_string(g->w, s.at, span_size(s));
	*bad |= !*known;
	return *known;
}

/* --- events and headers --- */

/* Set the name and unit of an event. Time_(10ns) is Time, in units of 10 ns. */
static int cg_add_event(struct callgrind_file *g, struct text_span name)
{
	struct text_span unit = {name.end, name.end};
	uint64_t factor = 1;
	struct cg_event e = {0};
	const char *open = memrchr(name.at, '(', span_size(name));
	unsigned i = 0;

	if (open && open > name.at && span_ends(name, ")")) {
		unit = (struct text_span){open + 1, name.end - 1};
		unit.at = span_digits(unit.at, unit.end, &factor);
		factor = unit.at == open + 1 ? 1 : factor;
	} else if (span_is(name, "ns")) {
		unit = name;
	}
	if (__builtin_mul_overflow(factor, profile_time_unit(unit), &e.ns))
		e.ns = 0;
	if (e.ns && open)
		name.end = open - (open - name.at > 1 && open[-1] == '_');
	e.name = writer_string(g->w, name.at, span_size(name));
	while (i < g->nevents && (g->events[i].name != e.name || g->events[i].ns != e.ns))
		i++;
	if (i == CG_EVENTS || g->nall == CG_EVENTS) {
		input_damage(g->input, g->input->name, g->lines.offset,
			     "more than %d events: the rest are left out", CG_EVENTS);
		return -1;
	}
	if (i == g->nevents) {
		struct type_entry type = {
			.source = g->source, .name = e.name, .flags = e.ns ? TYPE_WEIGHT_TIME : 0};

		e.type = call_sum_type(g->input, type);
		g->events[g->nevents++] = e;
	}
	g->columns[g->nall++] = (uint8_t)i;
	return 0;
}

static void cg_set_events(struct callgrind_file *g, struct text_span s)
{
	struct text_span name;

	g->derived = false;
	g->nall = 0;
	while (span_size(name = span_take_word(&s)) && !cg_add_event(g, name))
		;
	g->ncolumns = g->nall;
}

/* Keep "Sum = Ir + 16 Dw : long name"; an event without a formula has only a long name. */
static void cg_add_formula(struct callgrind_file *g, struct text_span s)
{
	const char *colon = span_find(s, ":");
	char *to = g->formulas + g->formulas_size;
	size_t n;

	s.end = colon ? colon : s.end;
	n = span_size(s) + 1;
	if (!span_find(s, "="))
		return;
	if (n > CG_FORMULAS_SIZE - g->formulas_size) {
		input_damage(g->input, g->input->name, g->lines.offset,
			     "more than %d bytes of formulas of events: the rest are left out",
			     CG_FORMULAS_SIZE);
		return;
	}
	memcpy(to, s.at, n - 1);
	to[n - 1] = '\n';
	/* each part may repeat it */
	if (!memmem(g->formulas, g->formulas_size, to, n))
		g->formulas_size += n;
}

/* Take the term "+ 16 * Dr" of a formula. false: there is none. */
static bool cg_take_term(struct text_span *s, int64_t *factor, struct text_span *name)
{
	const char *at = span_skip_blanks(s->at, s->end), *digits;
	bool minus = at < s->end && *at == '-';
	uint64_t n = 0;

	at = span_skip_blanks(at + (at < s->end && (minus || *at == '+')), s->end);
	digits = at;
	at = span_digits(at, s->end, &n);
	*factor = at == digits ? 1 : n > INT64_MAX ? INT64_MAX : (int64_t)n;
	*factor *= minus ? -1 : 1;
	at = span_skip_blanks(at, s->end);
	at = span_skip_blanks(at + (at < s->end && *at == '*'), s->end);
	name->at = at;
	while (at < s->end && !strchr(" \t+-*", *at))
		at++;
	name->end = s->at = at;
	return name->at < name->end;
}

/* Get the column of an event by its name; the number of columns: there is none. */
static unsigned cg_column(struct callgrind_file *g, struct text_span name)
{
	uint32_t text = writer_string(g->w, name.at, span_size(name));
	unsigned i = 0;

	while (i < g->nall && g->events[g->columns[i]].name != text)
		i++;
	return i;
}

/* Add the event of a formula as a column, unless the formula names none of the columns. */
static void cg_add_derived(struct callgrind_file *g, struct text_span name,
			   struct text_span formula)
{
	int64_t factors[CG_EVENTS + 1] = {0}, factor;
	unsigned column, n = g->nall;
	struct text_span term;
	bool any = false;

	while (cg_take_term(&formula, &factor, &term)) {
		column = cg_column(g, term);
		factors[column] = add_wrapping(factors[column], factor);
		any |= column < n;
	}
	if (any && span_size(name) && cg_column(g, name) == n && !cg_add_event(g, name))
		memcpy(g->factors[n], factors, sizeof g->factors[n]);
}

/* Add the events that are computed. */
static void cg_derive(struct callgrind_file *g)
{
	struct text_span all = {g->formulas, g->formulas + g->formulas_size}, name, formula;

	g->derived = true;
	g->nall = g->ncolumns;
	for (; all.at < all.end; all.at = formula.end + 1) {
		name.at = all.at;
		formula.end = memchr(all.at, '\n', span_size(all));
		name.end = memchr(all.at, '=', span_size(all));
		formula.at = name.end + 1;
		cg_add_derived(g, span_trim(name), formula);
	}
}

/* Take a cost; "." is 0. */
static bool cg_take_cost(struct text_span *s, int64_t *cost)
{
	struct text_span after = *s;
	struct text_span word = span_take_word(&after);

	*cost = 0;
	if (!span_is(word, "."))
		return cg_take_number(s, cost);
	s->at = word.end;
	return true;
}

/* Take the sums of a summary or totals. */
static void cg_take_sums(struct callgrind_file *g, struct text_span s, bool totals)
{
	bool any = false;

	for (unsigned i = 0; i < CG_EVENTS; i++) {
		g->part.sums[i] = 0;
		any |= span_size(span_trim(s)) && cg_take_cost(&s, &g->part.sums[i]);
	}
	g->part.ended |= totals || g->part.has_costs;
	g->part.has_summary |= any;
}

/* End a part, and report one that was cut. */
static void cg_end_part(struct callgrind_file *g)
{
	bool less = false, compared = g->part.ended ? g->exact : g->part.has_summary;

	for (unsigned i = 0; compared && i < g->ncolumns; i++)
		less |= g->part.seen[i] < g->part.sums[i];
	if (less || (g->part.begun && !g->part.ended && g->ends))
		input_short(g->input, g->input->name, g->lines.offset, "%s: the file was cut",
			    less ? "the costs are less than the summary"
				 : "no summary of the costs");
	memset(&g->part, 0, sizeof g->part);
}

/* Set the lane of the lines that follow. */
static int cg_set_lane(struct callgrind_file *g)
{
	struct lane_entry e = {.source = g->source,
			       .clock = g->clock,
			       .comm = g->comm,
			       .flags =
				       (g->pid ? LANE_HAS_PID : 0) | (g->thread ? LANE_HAS_TID : 0),
			       .pid = (int32_t)g->pid - 1,
			       .tid = (int32_t)g->thread - 1,
			       .ppid = -1};

	g->lane = writer_lane_once(g->w, &g->lanes, &e);
	return g->lane ? 0 : -1;
}

/* Read a number of a process or thread, + 1; 0: it is none. */
static uint32_t cg_read_id(struct text_span s)
{
	int64_t n;

	return cg_take_number(&s, &n) && n >= 0 && n < INT32_MAX ? (uint32_t)n + 1 : 0;
}

/* Set the name of the program from its command line. */
static void cg_set_command(struct callgrind_file *g, struct text_span s)
{
	struct text_span program = span_take_word(&s);
	const char *slash = memrchr(program.at, '/', span_size(program));

	program.at = slash ? slash + 1 : program.at;
	g->comm = writer_string(g->w, program.at, span_size(program));
}

/* Take a header "key: value". false: the line is none. */
static bool cg_header(struct callgrind_file *g, struct text_span line)
{
	struct text_span key = line, value;
	const char *colon = span_find(line, ":");

	if (!colon || !isalpha((unsigned char)*line.at))
		return false;
	key.end = colon;
	for (const char *p = key.at; p < key.end; p++)
		if (!isalpha((unsigned char)*p))
			return false;
	value = span_trim((struct text_span){colon + 1, line.end});
	if (span_is(key, "positions")) {
		g->has_instr = span_find(value, "instr");
		g->has_line = span_find(value, "line") || !g->has_instr;
	} else if (span_is(key, "events")) {
		cg_set_events(g, value);
	} else if (span_is(key, "event")) {
		cg_add_formula(g, value);
		g->derived = false;
	} else if (span_is(key, "summary") || span_is(key, "totals")) {
		cg_take_sums(g, value, span_is(key, "totals"));
	} else if (span_is(key, "part") || span_is(key, "version")) {
		cg_end_part(g);
		g->part.begun = span_is(key, "part"); /* which follows the version */
	} else if (span_is(key, "creator")) {
		g->exact = span_begins(value, "callgrind-");
		g->ends = g->exact || span_begins(value, "xdebug");
	} else if (span_is(key, "desc") && g->line == 1) {
		/* cachegrind, whose files begin with it, writes its summary last */
		g->exact = g->ends = true;
	} else if (span_is(key, "pid")) {
		g->pid = cg_read_id(value);
	} else if (span_is(key, "thread")) {
		g->thread = cg_read_id(value);
	} else if (span_is(key, "cmd")) {
		cg_set_command(g, value);
	}
	g->lane = 0;
	return true;
}

/* --- functions --- */

/* Get the space of the lines of a file; 0: out of memory. */
static uint32_t cg_space(struct callgrind_file *g, const struct cg_function *f)
{
	uint32_t *id = id_cache_number(&g->spaces, f->name, 2 * sizeof *f->name);

	if (id && !*id)
		*id = writer_space(g->w, &(struct space_entry){.source = g->source,
							       .name = f->name[CG_FILE],
							       .pid = -1});
	return id ? *id : 0;
}

/* Get the location of a function at a line, which is its address in the space of the file; 0: out
 * of memory. */
static uint32_t cg_location(struct callgrind_file *g, const struct cg_function *f, uint64_t line)
{
	uint32_t key[] = {f->name[CG_OBJECT], f->name[CG_FILE], f->name[CG_FUNCTION],
			  line > UINT32_MAX ? 0 : (uint32_t)line};
	uint32_t *id = id_cache_number(&g->locations, key, sizeof key);
	struct symbol_entry symbol = {.line = key[CG_NAMES], .start = key[CG_NAMES]};
	struct location_entry entry = {.name = key[CG_FUNCTION], .address = key[CG_NAMES]};
	size_t size[CG_NAMES];

	if (!id || *id)
		return id ? *id : 0;
	entry.space = cg_space(g, f);
	if (!entry.name)
		entry.name = writer_text(g->w, "???");
	*id = entry.space ? writer_location(g->w, &entry) : 0;
	symbol.name = writer_string_of(g->w, entry.name, &size[CG_FUNCTION]);
	symbol.name_size = (uint32_t)size[CG_FUNCTION];
	symbol.file = writer_string_of(g->w, key[CG_FILE], &size[CG_FILE]);
	symbol.file_size = (uint32_t)size[CG_FILE];
	symbol.module = writer_string_of(g->w, key[CG_OBJECT], &size[CG_OBJECT]);
	symbol.module_size = (uint32_t)size[CG_OBJECT];
	return *id && !writer_symbol(g->w, *id, &symbol) ? *id : 0;
}

/* Get the sums of a function; NULL: out of memory. */
static struct cg_sums *cg_sums_of(struct callgrind_file *g, const struct cg_function *f)
{
	/* pprof does not write the object of a callee */
	uint32_t key[] = {g->lane, f->name[CG_FILE], f->name[CG_FUNCTION]};
	uint32_t *number = id_cache_number(&g->functions, key, sizeof key);

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(g->sums, g->capacity, g->nsums))
			return NULL;
		g->sums[g->nsums] = (struct cg_sums){.lane = g->lane, .function = *f};
		*number = (uint32_t)++g->nsums;
	}
	return &g->sums[*number - 1];
}

/* --- lines --- */

/* Get the next line, without a byte order mark. As input_lines_next. */
static int cg_next_line(struct callgrind_file *g, struct text_span *line, struct error *e)
{
	size_t n;
	int got = input_lines_next(&g->lines, g->input, &line->at, &n, e);

	if (got <= 0)
		return got;
	line->end = line->at + n;
	if (!g->line++)
		span_skip(line, CG_MARK);
	return 1;
}

static void cg_add(int64_t *sum, int64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = n < 0 ? INT64_MIN : INT64_MAX;
}

/* Compute a cost from the n costs before it. */
static int64_t cg_compute(const struct callgrind_file *g, const int64_t *factors, unsigned n)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		cg_add(&sum, saturated_i64((int128)factors[i] * g->cost[i]));
	return sum;
}

/* Add the costs of the present line to what is known of its functions, and set its stack. 1: it has
 * rows; 0: it has none; -1: out of memory. */
static int cg_count_line(struct callgrind_file *g)
{
	struct cg_sums *sums;
	uint32_t frames[CG_FRAMES];
	int64_t any = g->is_call;

	if (!g->lane && cg_set_lane(g))
		return -1;
	if (!g->derived)
		cg_derive(g);
	for (unsigned i = g->ncolumns; i < g->nall; i++)
		g->cost[i] = cg_compute(g, g->factors[i], i);
	sums = cg_sums_of(g, &g->function);
	if (!sums)
		return -1;
	for (unsigned i = 0; i < g->nall; i++) {
		cg_add(&sums->cost[g->columns[i]], g->cost[i]);
		any |= g->cost[i];
	}
	frames[0] = cg_location(g, &g->inlined, g->position);
	if (g->is_call) {
		frames[1] = frames[0];
		frames[0] = cg_location(g, &g->callee, g->callee_position);
		sums = cg_sums_of(g, &g->callee);
		if (!sums || !frames[1])
			return -1;
		sums->called = true;
	}
	for (unsigned i = 0; !g->is_call && i < g->ncolumns; i++)
		cg_add(&g->part.seen[i], g->cost[i]);
	g->part.begun = g->part.has_costs = true;
	if (!any)
		return 0;
	g->stack = frames[0] ? writer_stack_of(g->w, frames, g->is_call ? 2 : 1) : 0;
	return g->stack ? 1 : -1;
}

/* Take a line of a position and costs. As cg_count_line; -2: it is none. */
static int cg_costs(struct callgrind_file *g, struct text_span s)
{
	int got;

	if (!g->has_function || !cg_take_positions(g, &s, &g->instr, &g->position))
		return -2;
	for (unsigned i = 0; i < g->ncolumns; i++) {
		g->cost[i] = 0;
		if (span_size(span_trim(s)) && !cg_take_cost(&s, &g->cost[i]))
			return -2;
	}
	if (span_size(span_trim(s)))
		return -2;
	got = cg_count_line(g);
	g->rows_of_call = g->is_call;
	g->has_callee &= !g->is_call;
	g->is_call = false;
	return got;
}

/* Take the name of an object, file or function. */
static bool cg_set_name(struct callgrind_file *g, struct text_span key, struct text_span value)
{
	static const struct {
		const char *key;
		enum cg_name kind;
	} keys[] = {{"ob", CG_OBJECT},	  {"fl", CG_FILE},    {"fi", CG_FILE},	   {"fe", CG_FILE},
		    {"fn", CG_FUNCTION},  {"cob", CG_OBJECT}, {"cfi", CG_FILE},	   {"cfl", CG_FILE},
		    {"cfn", CG_FUNCTION}, {"jfi", CG_FILE},   {"jfn", CG_FUNCTION}};
	enum { KEYS = sizeof keys / sizeof *keys };
	unsigned i = 0;
	uint32_t name;
	bool bad = false;

	while (i < KEYS && !span_is(key, keys[i].key))
		i++;
	if (i == KEYS)
		return false;
	name = cg_name(g, keys[i].kind, value, &bad);
	if (keys[i].kind != CG_FUNCTION && name == writer_text(g->w, "???"))
		name = 0; /* not known */
	if (*key.at == 'c' && !g->has_callee) {
		g->callee = g->inlined;
		g->has_callee = true;
	}
	if (*key.at == 'c')
		g->callee.name[keys[i].kind] = name;
	else if (*key.at != 'j')
		g->inlined.name[keys[i].kind] = name;
	if (span_is(key, "fn")) {
		g->function = g->inlined;
		g->has_function = true;
		g->has_callee = false;
	}
	return !bad;
}

/* Take a line KEY=VALUE. false: it is none. */
static bool cg_assign(struct callgrind_file *g, struct text_span line)
{
	const char *equals = span_find(line, "=");
	struct text_span key = {line.at, equals}, value = line;
	int64_t calls;

	if (!equals)
		return false;
	value.at = equals + 1;
	if (span_is(key, "jump") || span_is(key, "jcnd"))
		return true;
	if (!span_is(key, "calls"))
		return cg_set_name(g, key, span_trim(value));
	if (!g->has_callee || !cg_take_number(&value, &calls) || calls < 0)
		return false;
	g->calls = (uint64_t)calls;
	g->callee_position = g->position;
	g->is_call = true;
	return !span_size(span_trim(value)) ||
	       cg_take_positions(g, &value, &(uint64_t){g->instr}, &g->callee_position);
}

/* Take a line. 1: it has rows; 0: it has none; -1: out of memory. */
static int cg_take_line(struct callgrind_file *g, struct text_span line)
{
	int got = 0;

	line = span_trim(line);
	if (!span_size(line) || *line.at == '#')
		return 0;
	if (!g->lines.whole && !g->lines.cut) {
		input_damage(g->input, g->input->name, g->lines.offset, "the last line is cut");
		memset(&g->part, 0, sizeof g->part); /* its sums say no more */
		return 0;
	}
	if (g->lines.cut)
		got = -2;
	else if (isdigit((unsigned char)*line.at) || strchr("+-*", *line.at))
		got = cg_costs(g, line);
	else if (!cg_header(g, line) && !cg_assign(g, line))
		got = -2;
	if (got != -2)
		return got;
	g->is_call = false;
	input_damage(g->input, g->input->name, g->lines.offset,
		     "not a line of a profile of callgrind");
	return 0;
}

/* Go to the next line with rows, or after the last one to the next function that is not called. */
static int cg_advance(struct input *in, struct error *e)
{
	struct callgrind_file *g = in->state;
	struct text_span line;
	int got = 1, rows = 0;

	in->next = UINT64_MAX;
	while (!g->at_end && !rows) {
		got = cg_next_line(g, &line, e);
		if (got < 0)
			return -1;
		g->at_end = !got;
		rows = got ? cg_take_line(g, line) : 0;
		if (rows < 0)
			return -1;
		if (g->at_end)
			cg_end_part(g);
	}
	while (!rows && g->next_sum < g->nsums && g->sums[g->next_sum].called)
		g->next_sum++;
	if (rows || g->next_sum < g->nsums)
		in->next = merge_shifted(g->line, in->shift);
	return 0;
}

/* --- rows --- */

static int64_t cg_scaled(const struct cg_event *e, int64_t cost)
{
	int64_t n = cost;

	if (e->ns && __builtin_mul_overflow(cost, e->ns, &n))
		n = cost < 0 ? INT64_MIN : INT64_MAX;
	return n;
}

/* Write the rows of the present line, one for each event. */
static int cg_put_line(struct callgrind_file *g)
{
	bool is_call = g->rows_of_call;

	for (unsigned i = 0; i < g->nall; i++) {
		const struct cg_event *e = &g->events[g->columns[i]];
		int64_t cost = cg_scaled(e, g->cost[i]);
		struct call_sum sum = {.calls = is_call ? g->calls : 0};
		struct new_row r = {.time = g->input->next,
				    .lane = g->lane,
				    .type = e->type,
				    .location = g->stack};

		*(is_call ? &sum.total : &sum.self) = cost;
		if ((cost || is_call) && call_sum_write(g->w, r, &sum))
			return -1;
	}
	return 0;
}

/* Write the total of a function that is not called. */
static int cg_put_sum(struct callgrind_file *g, const struct cg_sums *s)
{
	uint32_t location = cg_location(g, &s->function, 0);
	struct new_row r = {.time = g->input->next, .lane = s->lane};

	r.location = location ? writer_stack_of(g->w, &location, 1) : 0;
	if (!r.location)
		return -1;
	for (unsigned i = 0; i < g->nevents; i++) {
		struct call_sum sum = {.total = cg_scaled(&g->events[i], s->cost[i])};

		r.type = g->events[i].type;
		if (sum.total && call_sum_write(g->w, r, &sum))
			return -1;
	}
	return 0;
}

static int callgrind_run(struct input *in, uint64_t until, struct error *e)
{
	struct callgrind_file *g = in->state;

	while (in->next <= until && in->next != UINT64_MAX) {
		if (g->at_end ? cg_put_sum(g, &g->sums[g->next_sum++]) : cg_put_line(g))
			return -1;
		if (cg_advance(in, e))
			return -1;
	}
	return 0;
}

/* --- the decoder --- */

/* Accept headers up to "events:" or "positions:". */
static enum bid callgrind_probe(const struct input *in)
{
	static const char *const keys[] = {"version", "creator",   "pid",    "cmd",
					   "part",    "thread",	   "desc",   "events",
					   "event",   "positions", "summary"};
	bool forced = in->format && !strcmp(in->format, "callgrind"), known = false;
	struct text_span head = input_head(in);
	const char *at, *end, *next;

	if (in->tree || !in->head_size)
		return BID_NONE;
	span_skip(&head, CG_MARK);
	if (span_begins(head, "# callgrind format\n"))
		return BID_HEADER;
	for (at = head.at, end = head.end; at < end; at = next + 1) {
		struct text_span line = {at, NULL};
		unsigned i = 0;

		next = memchr(at, '\n', (size_t)(end - at));
		line.end = next ? next : end;
		line = span_trim_space(line);
		if (!next)
			break;
		if (!span_size(line) || *line.at == '#')
			continue;
		while (i < sizeof keys / sizeof *keys &&
		       !(span_begins(line, keys[i]) &&
			 line.end - line.at > (ptrdiff_t)strlen(keys[i]) &&
			 line.at[strlen(keys[i])] == ':'))
			i++;
		if (i == sizeof keys / sizeof *keys)
			break;
		known |= !strcmp(keys[i], "events") || !strcmp(keys[i], "positions");
	}
	return known || forced ? BID_LIKELY : BID_NONE;
}

static int callgrind_open(struct input *in, struct error *e)
{
	struct callgrind_file *g = calloc(1, sizeof *g);

	in->state = g;
	if (!g)
		return error_no_memory(e);
	g->input = in;
	g->w = in->decoding->writer;
	g->has_line = true;
	merge_count_rows(in, "lines");
	return 0;
}

/* Print the headers and how many lines have calls. */
static int callgrind_info(struct input *in, struct trace_info *facts, struct error *e)
{
	static const char *const keys[] = {"creator", "cmd",	"pid",	 "part",    "thread",
					   "desc",    "events", "event", "summary", "totals"};
	struct callgrind_file *g = in->state;
	struct text_span line;
	uint64_t functions = 0, calls = 0;
	char text[1024];
	size_t n;
	int got;

	fact_text(facts, "format", "callgrind");
	while ((got = cg_next_line(g, &line, e)) > 0) {
		functions += span_begins(line, "fn=");
		calls += span_begins(line, "calls=");
		for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
			struct text_span value = line;

			if (!span_skip(&value, keys[i]) || !span_skip(&value, ":"))
				continue;
			value = span_trim(value);
			n = span_size(value) < sizeof text ? span_size(value) : sizeof text - 1;
			snprintf(text, sizeof text, "%.*s", (int)n, value.at);
			/* the name of a description without a value, as of a cache that was not
			 * simulated, says nothing */
			if (!span_ends(value, ":"))
				fact_item(facts, keys[i], text);
		}
	}
	fact_number(facts, "functions", functions);
	fact_number(facts, "lines of calls", calls);
	return got;
}

static int callgrind_begin_file(struct input *in, struct error *e)
{
	struct callgrind_file *g = in->state;
	struct writer *w = g->w;

	if (merge_choose_clock(in, e))
		return -1;
	g->source = writer_source(w, &(struct source_entry){writer_text(w, "callgrind"),
							    writer_text(w, in->name), 0, 0});
	g->clock = input_declare_clock(in, false);
	if (!g->source || !g->clock)
		return error_no_memory(e);
	if (cg_advance(in, e))
		return -1;
	return in->next == UINT64_MAX ? 0 : merge_first(in, g->line, e);
}

static void callgrind_close(struct input *in)
{
	struct callgrind_file *g = in->state;

	if (!g)
		return;
	input_lines_free(&g->lines);
	for (unsigned i = 0; i < CG_NAMES; i++)
		key_map_free(&g->numbers[i]);
	id_cache_free(&g->lanes);
	id_cache_free(&g->spaces);
	id_cache_free(&g->locations);
	id_cache_free(&g->functions);
	free(g->sums);
	free(g);
	in->state = NULL;
}

const struct decoder decoder_callgrind = {
	.name = "callgrind",
	.in_order = true,
	.probe = callgrind_probe,
	.open = callgrind_open,
	.info = callgrind_info,
	.begin = callgrind_begin_file,
	.run = callgrind_run,
	.close = callgrind_close,
};
