/*
 * names.c - locations by id, for the names of system calls, interrupts and the like, which the
 * trace dumps
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/lttng/lttng.h"

enum { NAMES_MOST = 4096 };

static int set_name(struct lttng *l, enum lttng_names which, const char *prefix, int64_t id,
		    const uint8_t *name, size_t n)
{
	struct lttng_names_table *t = &l->names[which];
	const uint8_t *plus = memchr(name, '+', n);

	if (plus)
		n = (size_t)(plus - name);
	if (id < 0 || id >= NAMES_MOST || !n)
		return 0;
	if (!t->name) {
		t->name = calloc(NAMES_MOST, sizeof *t->name);
		if (!t->name)
			return -1;
	}
	if (t->name[id])
		return 0;
	if (which == NAMES_IRQ)
		return asprintf(&t->name[id], "%s%d %.*s", prefix, (int)id, (int)n, name) < 0 ? -1
											      : 0;
	return asprintf(&t->name[id], "%s%.*s", prefix, (int)n, name) < 0 ? -1 : 0;
}

int lttng_names_take(struct lttng *l, const struct lttng_event *ev)
{
	static const struct {
		enum lttng_names names;
		const char *prefix;
	} tables[] = {
		[ACTION_SYSCALL_NAME] = {NAMES_SYSCALL, ""},
		[ACTION_SOFTIRQ_NAME] = {NAMES_SOFTIRQ, "softirq "},
		[ACTION_TRAP_NAME] = {NAMES_TRAP, "trap "},
		[ACTION_IRQ_NAME] = {NAMES_IRQ, "irq "},
	};
	enum lttng_action action = ev->marker->action;
	const uint8_t *name;
	size_t n;

	if (action < ACTION_SYSCALL_NAME || action > ACTION_IRQ_NAME)
		return 0;
	name = lttng_event_text(ev, ev->marker->string_arg, &n);
	return set_name(l, tables[action].names, tables[action].prefix, lttng_arg(ev, 0), name, n);
}

const uint32_t *lttng_names_locations(struct lttng *l, enum lttng_names which, uint32_t *n)
{
	struct lttng_names_table *t = &l->names[which];

	*n = NAMES_MOST;
	if (!t->location)
		t->location = calloc(NAMES_MOST, sizeof *t->location);
	return t->location;
}

uint32_t lttng_names_location(struct lttng *l, const struct lttng_marker *m, uint64_t id)
{
	static const char *const kinds[] = {"syscall ", "softirq ", "trap ", "irq "};
	struct lttng_names_table *t;
	const char *text = NULL;
	char name[64];

	if (id >= m->nlocations || m->locations == &m->location)
		return m->location;
	t = &l->names[m->names];
	if (t->name)
		text = t->name[id];
	if (!text) {
		snprintf(name, sizeof name, "%s%u", kinds[m->names], (unsigned)id);
		text = name;
	}
	t->location[id] =
		writer_location(l->w, &(struct location_entry){.name = writer_text(l->w, text)});
	return t->location[id];
}

void lttng_names_free(struct lttng *l)
{
	for (int k = 0; k < NAMES_COUNT; k++) {
		for (size_t i = 0; l->names[k].name && i < NAMES_MOST; i++)
			free(l->names[k].name[i]);
		free(l->names[k].name);
		free(l->names[k].location);
	}
}
