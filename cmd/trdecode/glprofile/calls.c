/*
 * calls.c - the lines of a profile, and the calls that a trace takes from it
 */
#include <stdlib.h>

#include "cmd/trdecode/glprofile/glprofile.h"

/* A word of a line. */
struct word {
	const char *at;
	size_t n;
};

/* Take the next word off [*p, end). n 0: there is none. */
static struct word next_word(const char **p, const char *end)
{
	struct word w;

	while (*p < end && (**p == ' ' || **p == '\t'))
		++*p;
	w.at = *p;
	while (*p < end && **p != ' ' && **p != '\t')
		++*p;
	w.n = (size_t)(*p - w.at);
	return w;
}

static bool word_is(struct word w, const char *text)
{
	return w.n == strlen(text) && !memcmp(w.at, text, w.n);
}

static bool begins(const char *text, size_t n, const char *with)
{
	size_t size = strlen(with);

	return n >= size && !memcmp(text, with, size);
}

bool glprofile_columns(struct glprofile *p, const char *text, size_t n)
{
	static const char *const names[] = {"no",	"gpu_start",   "gpu_dura",   "cpu_start",
					    "cpu_dura", "vsize_start", "vsize_dura", "rss_start",
					    "rss_dura", "pixels",      "program",    "name"};
	const char *at = text, *end = text + n;
	struct word w;

	if (!begins(text, n, "# call no "))
		return false;
	at += 6;
	p->ncolumns = 0;
	while ((w = next_word(&at, end)).n && p->ncolumns < GLPROFILE_COLUMNS_MOST) {
		uint8_t column = 0;

		while (column < COLUMN_OTHER && !word_is(w, names[column]))
			column++;
		p->column[p->ncolumns++] = column;
	}
	return true;
}

static bool read_number(struct word w, int64_t *number)
{
	bool minus = w.n && *w.at == '-';
	uint64_t n = 0;

	if (w.n == minus || w.n > 19 + (size_t)minus)
		return false;
	for (size_t i = minus; i < w.n; i++) {
		if (w.at[i] < '0' || w.at[i] > '9')
			return false;
		n = n * 10 + (uint64_t)(w.at[i] - '0');
	}
	if (n > INT64_MAX)
		return false;
	*number = minus ? -(int64_t)n : (int64_t)n;
	return true;
}

/* Test times. A start before the base of the times is as good as none. */
static bool times_are_good(int64_t *start, int64_t duration)
{
	if (*start < 0)
		*start = 0;
	return duration >= 0 && (uint64_t)*start < TIME_LIMIT && (uint64_t)duration < TIME_LIMIT &&
	       (uint64_t)*start + (uint64_t)duration < TIME_LIMIT;
}

/* Read the words after "call". */
static bool read_call(struct glprofile *p, const char *at, const char *end,
		      struct glprofile_call *c)
{
	struct word name = {at, 0};

	*c = (struct glprofile_call){.value[COLUMN_NO] = -1, .value[COLUMN_PIXELS] = -1};
	for (unsigned i = 0; i < p->ncolumns; i++) {
		struct word w = next_word(&at, end);

		if (!w.n)
			return false;
		if (p->column[i] == COLUMN_NAME)
			name = w;
		else if (p->column[i] < COLUMN_NUMBERS && !read_number(w, &c->value[p->column[i]]))
			return false;
	}
	if (!name.n || name.n > GLPROFILE_NAME_MOST || c->value[COLUMN_NO] < 0 ||
	    c->value[COLUMN_NO] > UINT32_MAX || c->value[COLUMN_PROGRAM] < 0 ||
	    c->value[COLUMN_PROGRAM] > UINT32_MAX ||
	    !times_are_good(&c->value[COLUMN_CPU_START], c->value[COLUMN_CPU_DURA]) ||
	    !times_are_good(&c->value[COLUMN_GPU_START], c->value[COLUMN_GPU_DURA]))
		return false;
	c->name = intern(&p->names, name.at, name.n);
	return true;
}

/* Test for a message of the replay, "NO: text", and for its summary. */
static bool is_message(const char *text, size_t n)
{
	size_t digits = 0;

	while (digits < n && text[digits] >= '0' && text[digits] <= '9')
		digits++;
	return !n || *text == '#' || begins(text, n, "Rendered ") ||
	       (digits && digits + 1 < n && text[digits] == ':' && text[digits + 1] == ' ');
}

/* Test for the line of a call, whose columns may not be known. */
static bool is_call(const char *text, size_t n)
{
	return begins(text, n, "call ") && n > 5 && text[5] >= '0' && text[5] <= '9';
}

static void report(struct glprofile *p, const char *text, size_t n)
{
	int shown = n > 200 ? 200 : (int)n;

	if (begins(text, n, "error: "))
		input_damage(p->input, p->input->name, p->lines.offset, "the replay failed: %.*s",
			     shown - 7, text + 7);
	else if (!p->strange++)
		input_damage(p->input, p->input->name, p->lines.offset,
			     p->ncolumns ? "a line that is no call of a replay"
					 : "a call before the line of the columns, # call no ...");
}

int glprofile_next(struct glprofile *p, struct glprofile_call *c, struct error *e)
{
	const char *text;
	size_t n;
	int got;

	while ((got = lines_next(&p->lines, p->input, &text, &n, e)) > 0) {
		if (glprofile_columns(p, text, n))
			continue;
		/* what is before the columns is of the program that replays */
		if (!p->ncolumns && !begins(text, n, "error: ") && !is_call(text, n))
			continue;
		if (begins(text, n, "call ") && !p->lines.cut &&
		    read_call(p, text + 5, text + n, c)) {
			p->calls++;
			return c->name == INTERN_NONE ? error_no_memory(e) : 1;
		}
		if (n == 9 && begins(text, n, "frame_end"))
			p->frame++;
		else if (!is_message(text, n))
			report(p, text, n);
	}
	return got;
}

/* --- calls by number --- */

/* Read one more call into the window. Returns 1; 0: no more. */
static int read_ahead(struct glprofile *p, struct error *e)
{
	struct glprofile_call *c = &p->window[p->read % GLPROFILE_WINDOW];
	struct glprofile_call next;
	uint64_t position;
	int got = glprofile_next(p, &next, e);

	if (got <= 0) {
		p->ended = true;
		return got;
	}
	if (p->read >= GLPROFILE_WINDOW) {
		uint32_t old = (uint32_t)c->value[COLUMN_NO];

		p->missing += !c->taken;
		/* a later call may have its number */
		if (open_calls_take(&p->by_number, 0, old, &position) &&
		    position != p->read - GLPROFILE_WINDOW &&
		    open_calls_put(&p->by_number, 0, old, position))
			return error_no_memory(e);
	}
	*c = next;
	if (open_calls_put(&p->by_number, 0, (uint32_t)next.value[COLUMN_NO], p->read++))
		return error_no_memory(e);
	return 1;
}

int glprofile_find(struct glprofile *p, uint32_t number, bool again, struct glprofile_call **found,
		   struct error *e)
{
	struct glprofile_call *c;
	uint64_t position;
	int got = 1;

	*found = NULL;
	if (!p->window) {
		p->window = calloc(GLPROFILE_WINDOW, sizeof *p->window);
		if (!p->window)
			return error_no_memory(e);
	}
	while (!open_calls_take(&p->by_number, 0, number, &position)) {
		if (again || p->ended || p->read - p->matched >= GLPROFILE_WINDOW / 2)
			return 0;
		got = read_ahead(p, e);
		if (got < 0)
			return -1;
	}
	if (open_calls_put(&p->by_number, 0, number, position))
		return error_no_memory(e);
	c = &p->window[position % GLPROFILE_WINDOW];
	if (c->taken != again)
		return 0;
	c->taken = true;
	if (position > p->matched)
		p->matched = position;
	*found = c;
	return 0;
}

int glprofile_missing(struct glprofile *p, uint64_t *missing, struct error *e)
{
	struct glprofile_call c;
	int got;

	while ((got = glprofile_next(p, &c, e)) > 0)
		p->missing++;
	*missing = p->missing;
	for (uint64_t i = 0; p->window && i < p->read && i < GLPROFILE_WINDOW; i++)
		*missing += !p->window[i].taken;
	return got;
}
