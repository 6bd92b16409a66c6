#include "cmd/trencode/text/uftrace/duration_threshold.h"

#include <stdlib.h>
#include <strings.h>

#include "common/util/buffer.h"

enum { MOST_WAITING = 8 * 1024 * 1024 }; /* bytes */

enum state { WAITING, SHOWN, DROPPED };

struct node {
	struct node *next;  /* in the order of the trace */
	struct node *below; /* in its thread's list of what is not decided */
	struct event event;
	size_t size;
	uint8_t kind, state;
	bool queued, listed;
	uint8_t data[];
};

struct hold {
	uint64_t limit, now, undecided;
	struct node *first, *last, *current;
	struct node **lists; /* two for each thread */
	size_t nlists;
	size_t size;
	bool ended;
};

struct hold *hold_new(uint64_t limit)
{
	struct hold *h = calloc(1, sizeof *h);

	if (h)
		h->limit = limit;
	return h;
}

/* A node is gone when it is in no list and was given out. */
static void release(struct hold *h, struct node *n)
{
	if (!n->queued && !n->listed && n != h->current)
		free(n);
}

static void unlist(struct hold *h, struct node **list, enum state state)
{
	struct node *n = *list;

	*list = n->below;
	n->listed = false;
	if (n->state == WAITING)
		n->state = (uint8_t)state;
	release(h, n);
}

void hold_free(struct hold *h)
{
	struct node *n;

	if (!h)
		return;
	for (size_t i = 0; i < h->nlists; i++)
		while (h->lists[i])
			unlist(h, &h->lists[i], SHOWN);
	while ((n = h->first)) {
		h->first = n->next;
		if (n != h->current)
			free(n);
	}
	free(h->current);
	free(h->lists);
	free(h);
}

static struct node **list_of(struct hold *h, const struct hold_row *row)
{
	size_t i = (size_t)row->event.lane->thread * 2 + row->scheduling;
	struct node **lists = array_reach(h->lists, &h->nlists, i, sizeof *lists);

	if (!lists)
		return NULL;
	h->lists = lists;
	return &h->lists[i];
}

static struct node *node_new(const struct hold_row *row)
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

/* A leave decides its call: the last enter that still waits for one. */
static void decide(struct hold *h, struct node **list, struct node *leave)
{
	const struct node *enter = *list;

	while (enter && enter->kind != HOLD_ENTER)
		enter = enter->below;
	if (enter && leave->event.time - enter->event.time < h->limit) {
		bool more = true;

		leave->state = DROPPED;
		while (more) {
			more = *list != enter;
			unlist(h, list, DROPPED);
		}
		return;
	}
	leave->state = SHOWN;
	while (*list)
		unlist(h, list, SHOWN);
}

int hold_put(struct hold *h, const struct hold_row *row)
{
	struct node **list = list_of(h, row);
	struct node *n = list ? node_new(row) : NULL;

	if (!n)
		return -1;
	h->now = row->event.time;
	h->size += n->size;
	if (h->last)
		h->last->next = n;
	else
		h->first = n;
	h->last = n;
	switch (row->kind) {
	case HOLD_ENTER:
	case HOLD_EVENT:
		/* events that went out decide nothing */
		while (*list && (*list)->kind == HOLD_EVENT && !(*list)->queued)
			unlist(h, list, SHOWN);
		n->below = *list;
		n->listed = true;
		*list = n;
		break;
	case HOLD_LEAVE: decide(h, list, n); break;
	case HOLD_SHOWN:
		while (*list)
			unlist(h, list, SHOWN);
		n->state = SHOWN;
		break;
	case HOLD_ALONE: n->state = SHOWN; break;
	}
	return 0;
}

/* May the oldest row that waits go out? All before it is decided. */
static bool decided(struct hold *h, struct node *n)
{
	if (n->state == WAITING) {
		if (n->kind == HOLD_ENTER && !h->ended && h->now - n->event.time < h->limit) {
			if (h->size <= MOST_WAITING)
				return false;
			h->undecided++;
		}
		n->state = SHOWN;
	}
	return true;
}

bool hold_get(struct hold *h, struct event *ev)
{
	struct node *n = h->current;

	h->current = NULL;
	if (n)
		release(h, n);
	while ((n = h->first) && decided(h, n)) {
		h->first = n->next;
		if (!h->first)
			h->last = NULL;
		h->size -= n->size;
		n->queued = false;
		if (n->state == SHOWN) {
			h->current = n;
			*ev = n->event;
			return true;
		}
		release(h, n);
	}
	return false;
}

void hold_end(struct hold *h)
{
	h->ended = true;
}

uint64_t hold_undecided(const struct hold *h)
{
	return h->undecided;
}

bool hold_parse_limit(const char *s, uint64_t *ns)
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
