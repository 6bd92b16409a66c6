#include "limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"
#include "reader_tail.h"
#include "siphash.h"

static const unsigned of_calls = DEPENDS_LATER | DEPENDS_STACK;

void limits_free(struct limits *l)
{
	expression_free(l->from);
	expression_free(l->to);
	expression_free(l->by);
	pairing_free(&l->pairing);
	free(l->windows);
	free(l->inside);
}

int limits_sample(struct limits *l, const char *text)
{
	char *end;

	errno = 0;
	l->sample = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '/' || end[1] < '0' || end[1] > '9')
		return -1;
	l->of = strtoull(end + 1, &end, 10);
	return *end || errno || !l->of || l->sample > l->of ? -1 : 0;
}

struct node *limits_condition(const char *text, const char *option, struct error *e)
{
	struct node *n = expression_parse(text, e);

	if (!n || !(n->depends & of_calls))
		return n;
	expression_free(n);
	error_set(e, NULL, NO_OFFSET, "%s asks of single events, not of whole calls as '%s' does",
		  option, text);
	return NULL;
}

struct node *limits_field(const char *text, struct error *e)
{
	struct node *n = limits_condition(text, "--by", e);

	if (!n || (n->kind == NODE_TRUTH && !n->left.literal))
		return n;
	expression_free(n);
	error_set(e, NULL, NO_OFFSET, "--by takes the name of a field, not '%s'", text);
	return NULL;
}

/* --- the end of the input --- */

/* Where END has no events: the last one of other segments or streams before it. -1: no file, or it
 * is not whole. */
static int last_of_all(const char *path, uint64_t *last)
{
	char *paths[] = {(char *)path};
	struct reader r;
	struct stat st;
	struct block b;
	int got;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	*last = 0;
	got = reader_open(&r, paths, 1);
	while (!got && (got = reader_next(&r, &b)) > 0) {
		if (b.kind == BLOCK_END && r.end.events && r.end.last > *last)
			*last = r.end.last;
		got = 0;
	}
	reader_close(&r);
	return got;
}

int limits_find_end(struct limits *l, char **paths, int n, struct error *e)
{
	const char *path = n ? paths[n - 1] : "-";
	bool standard = !strcmp(path, "-");
	int fd, bad;

	if (l->since.from != MOMENT_END && l->until.from != MOMENT_END)
		return 0;
	fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(e, path, NO_OFFSET, "cannot open");
	bad = reader_tail_last(fd, &l->end) && last_of_all(standard ? "/dev/stdin" : path, &l->end);
	if (!standard)
		close(fd);
	if (bad)
		return error_set(e, standard ? "standard input" : path, NO_OFFSET,
				 "a time before the end wants a saved stream that is whole, for "
				 "its end is read first");
	return 0;
}

/* --- times --- */

void limits_block(struct limits *l, const struct block *b, bool new_stream)
{
	if (b->kind == BLOCK_HEAD && new_stream) {
		l->started = false;
		l->nwindows = 0;
	} else if (b->kind == BLOCK_EVENTS && b->rows && !l->started) {
		l->started = true;
		l->start = b->base;
	}
}

static int find(struct limits *l, const struct moment *m, const struct clock *c, uint64_t *time)
{
	const struct moment_base base = {.start = l->start,
					 .end = l->end,
					 .wall = c->wall,
					 .has_wall = c->flags & (CLOCK_HAS_WALL | CLOCK_IS_WALL)};

	bool ticks = m->unit && c->flags & CLOCK_TICKS;

	if (!m->from || (!ticks && !moment_time(m, &base, time)))
		return 0;
	if (!l->failed && ticks)
		error_set(&l->error, NULL, NO_OFFSET, MOMENT_TICKS);
	else if (!l->failed)
		error_set(&l->error, NULL, NO_OFFSET,
			  "the clock of the events, %s, has no wall time: give a time of its own",
			  c->name.text);
	l->failed = true;
	return -1;
}

static const struct window *window_of(struct limits *l, const struct clock *c)
{
	static const struct window none = {true, UINT64_MAX, 0};
	struct window *w = array_reach(l->windows, &l->nwindows, c->number, sizeof *w);

	if (!w) {
		l->pairing.out_of_memory = true;
		return &none;
	}
	l->windows = w;
	w = &l->windows[c->number];
	if (!w->known) {
		*w = (struct window){true, 0, UINT64_MAX};
		if (find(l, &l->since, c, &w->since) || find(l, &l->until, c, &w->until))
			return &none;
	}
	return w;
}

enum limits_says limits_of_block(struct limits *l, const struct block *b)
{
	bool before = true, inside = true;

	for (uint32_t i = 0; i < b->ntypes; i++)
		/* the leave of what was entered elsewhere, and what is never left out */
		if (b->types[i]->kind == KIND_ENTER || b->types[i]->kind == KIND_LEAVE ||
		    b->types[i]->kind == KIND_GAP)
			return LIMITS_ASK;
	for (uint32_t i = 0; i < b->nlanes; i++) {
		const struct window *w = window_of(l, b->lanes[i]->clock);

		before = before && (b->last < w->since || b->base >= w->until);
		inside = inside && b->base >= w->since && b->last < w->until;
	}
	if (before)
		return LIMITS_NO;
	return inside && !l->from && !l->by ? LIMITS_YES : LIMITS_ASK;
}

/* --- rows --- */

static bool between(struct limits *l, const struct event *e)
{
	uint32_t thread = e->lane->thread;
	bool leave = e->type->kind == KIND_LEAVE;
	uint8_t *inside = array_reach(l->inside, &l->ninside, thread, 1);

	if (!inside) {
		l->pairing.out_of_memory = true;
		return false;
	}
	l->inside = inside;
	inside = &l->inside[thread];
	/* a call is asked at its enter, but for who asks for leaves */
	if (!*inside) {
		if ((leave && !(l->from->depends & DEPENDS_KIND)) ||
		    !evaluate(&l->evaluation, l->from, e))
			return false;
		*inside = true;
		return true;
	}
	if (!(leave && !(l->to->depends & DEPENDS_KIND)) && evaluate(&l->evaluation, l->to, e))
		*inside = false;
	return true;
}

/* The same value is in the sample in every stream, on every machine. */
static bool sampled(struct limits *l, const struct event *e)
{
	static const struct siphash_key key = {0x7472757469, 0x6c73};
	const void *data;
	struct scalar s;
	uint64_t number;
	size_t n = 8;

	operand_value(&l->evaluation, &l->by->left, e, &s);
	if (s.form == SCALAR_NONE || s.form == SCALAR_OTHER)
		return false;
	number = htole64(s.form == SCALAR_REAL ? (uint64_t)(int64_t)s.real : s.u);
	data = &number;
	if (s.form == SCALAR_TEXT) {
		data = s.text;
		n = s.size;
	}
	return siphash(&key, data, n) % l->of < l->sample;
}

bool limits_row(struct limits *l, const struct event *e)
{
	const struct window *w = window_of(l, e->lane->clock);
	bool holds = e->time >= w->since && e->time < w->until;
	uint32_t at_enter;

	if (holds && l->from)
		holds = between(l, e);
	if (e->type->kind == KIND_LEAVE && pairing_leave(&l->pairing, e, &at_enter))
		return at_enter;
	if (holds && l->by)
		holds = sampled(l, e);
	if (e->type->kind == KIND_ENTER)
		pairing_enter(&l->pairing, e, holds);
	return holds;
}
