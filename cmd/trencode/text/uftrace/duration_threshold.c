#include "cmd/trencode/text/uftrace/duration_threshold.h"

#include <stdlib.h>
#include <strings.h>

#include "common/util/buffer.h"

enum { MOST_QUEUED = 8 * 1024 * 1024 }; /* bytes */

enum state { UNDECIDED, SHOWN, DROPPED };

/* An event in the queue or in the list of undecided events. */
struct node {
	struct node *next;  /* in the order of the trace */
	struct node *below; /* in its thread's list of undecided events */
	struct event event;
	size_t size;
	uint8_t kind, state;
	bool queued, listed;
	uint8_t data[];
};

struct duration_threshold {
	uint64_t limit, now;	   /* ns; now: time of the event queued last */
	uint64_t undecided;	   /* calls shown undecided */
	struct node *first, *last; /* the queue */
	struct node *current;	   /* the event taken last */
	/* undecided events, two lists for each thread: of functions, of scheduling */
	struct node **lists;
	size_t nlists;
	size_t size; /* of the queue, bytes */
};

struct duration_threshold *duration_threshold_new(uint64_t limit)
{
	struct duration_threshold *t = calloc(1, sizeof *t);

	if (t)
		t->limit = limit;
	return t;
}

/* Free a node that is in no list and not in use by the caller. */
static void node_release(struct duration_threshold *t, struct node *n)
{
	if (!n->queued && !n->listed && n != t->current)
		free(n);
}

static void node_unlist(struct duration_threshold *t, struct node **list, enum state state)
{
	struct node *n = *list;

	*list = n->below;
	n->listed = false;
	if (n->state == UNDECIDED)
		n->state = (uint8_t)state;
	node_release(t, n);
}

void duration_threshold_free(struct duration_threshold *t)
{
	struct node *n;

	if (!t)
		return;
	for (size_t i = 0; i < t->nlists; i++)
		while (t->lists[i])
			node_unlist(t, &t->lists[i], SHOWN);
	while ((n = t->first)) {
		t->first = n->next;
		if (n != t->current)
			free(n);
	}
	free(t->current);
	free(t->lists);
	free(t);
}

static struct node **list_of(struct duration_threshold *t, const struct threshold_row *row)
{
	size_t i = (size_t)row->event.lane->thread * 2 + row->scheduling;

	if (ARRAY_REACH(t->lists, t->nlists, i))
		return NULL;
	return &t->lists[i];
}

static struct node *node_new(const struct threshold_row *row)
{
	size_t fixed = row->event.type->fixed_size, tail = row->event.tail_size;
	struct node *n = malloc(sizeof *n + fixed + tail);

	if (!n)
		return NULL;
	*n = (struct node){.event = row->event,
			   .size = sizeof *n + fixed + tail,
			   .kind = (uint8_t)row->kind,
			   .queued = true};
	if (fixed)
		memcpy(n->data, row->event.fixed, fixed);
	n->event.fixed = n->data;
	if (row->event.tail) {
		memcpy(n->data + fixed, row->event.tail, tail);
		n->event.tail = n->data + fixed;
	}
	return n;
}

/* Decide by a leave the last undecided enter. */
static void decide_call(struct duration_threshold *t, struct node **list, struct node *leave)
{
	const struct node *enter = *list;

	while (enter && enter->kind != THRESHOLD_ENTER)
		enter = enter->below;
	if (enter && leave->event.time - enter->event.time < t->limit) {
		bool more = true;

		leave->state = DROPPED;
		while (more) {
			more = *list != enter;
			node_unlist(t, list, DROPPED);
		}
		return;
	}
	leave->state = SHOWN;
	while (*list)
		node_unlist(t, list, SHOWN);
}

int duration_threshold_put(struct duration_threshold *t, const struct threshold_row *row)
{
	struct node **list = list_of(t, row);
	struct node *n = list ? node_new(row) : NULL;

	if (!n)
		return -1;
	t->now = row->event.time;
	t->size += n->size;
	if (t->last)
		t->last->next = n;
	else
		t->first = n;
	t->last = n;
	switch (row->kind) {
	case THRESHOLD_ENTER:
	case THRESHOLD_EVENT:
		/* events already shown need no decision */
		while (*list && (*list)->kind == THRESHOLD_EVENT && !(*list)->queued)
			node_unlist(t, list, SHOWN);
		n->below = *list;
		n->listed = true;
		*list = n;
		break;
	case THRESHOLD_LEAVE: decide_call(t, list, n); break;
	case THRESHOLD_SHOWN:
		while (*list)
			node_unlist(t, list, SHOWN);
		n->state = SHOWN;
		break;
	case THRESHOLD_ALONE: n->state = SHOWN; break;
	}
	return 0;
}

/* Test whether the first event of the queue is decided, or need not be decided any more. */
static bool is_decided(struct duration_threshold *t, struct node *n)
{
	if (n->state == UNDECIDED) {
		if (n->kind == THRESHOLD_ENTER && t->now - n->event.time < t->limit) {
			if (t->size <= MOST_QUEUED)
				return false;
			t->undecided++;
		}
		n->state = SHOWN;
	}
	return true;
}

bool duration_threshold_get(struct duration_threshold *t, struct event *ev)
{
	struct node *n = t->current;

	t->current = NULL;
	if (n)
		node_release(t, n);
	while ((n = t->first) && is_decided(t, n)) {
		t->first = n->next;
		if (!t->first)
			t->last = NULL;
		t->size -= n->size;
		n->queued = false;
		if (n->state == SHOWN) {
			t->current = n;
			*ev = n->event;
			return true;
		}
		node_release(t, n);
	}
	return false;
}

void duration_threshold_flush(struct duration_threshold *t)
{
	for (size_t i = 0; t->first && i < t->nlists; i++)
		while (t->lists[i])
			node_unlist(t, &t->lists[i], SHOWN);
}

uint64_t duration_threshold_undecided(const struct duration_threshold *t)
{
	return t->undecided;
}

bool duration_threshold_parse(const char *s, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"", 1},
		     {"ns", 1},
		     {"nsec", 1},
		     {"us", 1000},
		     {"usec", 1000},
		     {"ms", 1000000},
		     {"msec", 1000000},
		     {"s", 1000000000},
		     {"sec", 1000000000},
		     {"m", 60000000000},
		     {"min", 60000000000}};
	uint64_t whole = 0, part = 0, scale = 1;
	const char *p = s;

	for (; *p >= '0' && *p <= '9' && whole < 1000000; p++)
		whole = whole * 10 + (uint64_t)(*p - '0');
	if (p == s)
		return false;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9' && scale < 1000000000; p++, scale *= 10)
			part = part * 10 + (uint64_t)(*p - '0');
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcasecmp(p, units[i].name))
			continue;
		*ns = whole * units[i].ns +
		      (uint64_t)((double)part / (double)scale * (double)units[i].ns + 0.5);
		return true;
	}
	return false;
}
