#include "cmd/trencode/text/columns.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/formats/uftrace.h"
#include "common/value/nearest.h"
#include "cmd/trencode/text/time_format.h"

enum { COMM_WIDTH = 15, MODULE_WIDTH = 16, ADDRESS_WIDTH = 12 };

static const struct {
	const char *name, *header;
	uint8_t width;
} table[COLUMN_COUNT] = {
	[COLUMN_DURATION] = {"dur", " DURATION ", DURATION_WIDTH},
	[COLUMN_TID] = {"tid", "   TID  ", 8},
	[COLUMN_ADDRESS] = {"address", "   ADDRESS  ", ADDRESS_WIDTH},
	[COLUMN_TIME] = {"time", "     TIMESTAMP    ", 18},
	[COLUMN_DELTA] = {"delta", " TIMEDELTA", DURATION_WIDTH},
	[COLUMN_ELAPSED] = {"elapsed", "  ELAPSED ", DURATION_WIDTH},
	[COLUMN_TASK] = {"comm", "      TASK NAME", COMM_WIDTH},
	[COLUMN_MODULE] = {"module", "     MODULE NAME", MODULE_WIDTH},
};

static int column_unknown(const char *name, size_t n, struct error *e)
{
	char known[128] = "";
	struct nearest nearest;

	for (int i = 0; i < COLUMN_COUNT; i++) {
		strcat(known, " ");
		strcat(known, table[i].name);
	}
	nearest_begin(&nearest, name, n);
	nearest_offer_words(&nearest, known);
	return error_set(e, NULL, NO_OFFSET, "no column '%.*s' of text%s (columns are%s all none)",
			 (int)(n < 100 ? n : 100), name, nearest_hint(&nearest), known);
}

static int column_parse(struct columns *c, const char *name, size_t n, struct error *e)
{
	bool all = n == 3 && !memcmp(name, "all", 3), found = all;

	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!all && (strlen(table[i].name) != n || memcmp(table[i].name, name, n)))
			continue;
		c->shown[i] = found = true;
	}
	return found ? 0 : column_unknown(name, n, e);
}

int columns_parse(struct columns *c, const char *names, struct error *e)
{
	*c = (struct columns){0};
	if (names && !strcmp(names, "none")) {
		c->none = true;
		return 0;
	}
	if (!names || *names == '+') {
		c->shown[COLUMN_DURATION] = c->shown[COLUMN_TID] = true;
		names = names ? names + 1 : "";
	}
	while (*names) {
		size_t n = strcspn(names, ",");

		if (n && column_parse(c, names, n, e))
			return -1;
		names += n + (names[n] == ',');
	}
	c->none = c->standard = true;
	for (int i = 0; i < COLUMN_COUNT; i++) {
		c->none &= !c->shown[i];
		c->standard &= c->shown[i] == (i == COLUMN_DURATION || i == COLUMN_TID);
	}
	return 0;
}

void columns_header(struct text *out, const struct columns *c)
{
	char mark = '#';

	if (c->none)
		return;
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!c->shown[i])
			continue;
		text_char(out, mark);
		text_puts(out, table[i].header);
		mark = ' ';
	}
	text_puts(out, "   FUNCTION\n");
}

static void print_duration(struct text *out, uint64_t ns)
{
	char field[DURATION_WIDTH];

	duration_text(field, ns);
	text_put(out, field, sizeof field);
}

/* Return the address that uftrace shows: 48 bits in the kernel; for scheduling, which has no
 * address, uftrace's number of the event. */
static uint64_t column_address(const struct location *p)
{
	if (!p)
		return 0;
	if (p->space && p->space->flags & SPACE_KERNEL)
		return p->address & UFTRACE_ADDR_MASK;
	return p->space ? p->address : p->address - (p->address == 200003 || p->address == 200008);
}

static void print_address(struct text *out, const struct location *p)
{
	char field[24];

	text_put(out, field,
		 (size_t)snprintf(field, sizeof field, "%*" PRIx64, ADDRESS_WIDTH,
				  column_address(p)));
}

static void print_right(struct text *out, const char *s, size_t n, size_t width)
{
	if (n < width)
		text_pad(out, ' ', width - n);
	text_masked(out, s, n);
}

static void print_module(struct text *out, const struct location *p)
{
	const struct text_ref *path = NULL;
	const char *name = "[unknown]", *slash;

	if (p && p->space) {
		for (size_t i = 0; i < p->space->nmaps && !path; i++) {
			const struct map *m = &p->space->maps[i];

			if (!m->epoch && p->address >= m->start && p->address < m->end)
				path = &m->path;
		}
		if (!path && p->symbol && p->symbol->module.size)
			path = &p->symbol->module;
		if (p->space->flags & SPACE_KERNEL)
			name = "[kernel]";
	} else if (p && p->name.size) {
		name = "[event]";
	}
	if (path) {
		slash = strrchr(path->text, '/');
		name = slash ? slash + 1 : path->text;
	}
	print_right(out, name, strnlen(name, MODULE_WIDTH), MODULE_WIDTH);
}

static void print_column(struct text *out, enum column column, const struct dictionary *d,
			 const struct replay_task *t, uint64_t duration,
			 const struct replay_frame *frame)
{
	const struct location *p = frame ? dictionary_location(d, frame->location) : NULL;

	switch (column) {
	case COLUMN_DURATION: print_duration(out, duration); break;
	case COLUMN_TID: text_put(out, t->tid, t->tid_size); break;
	case COLUMN_TIME: text_seconds(out, t->time, 8); break;
	case COLUMN_DELTA: print_duration(out, t->last_time ? t->time - t->last_time : 0); break;
	case COLUMN_ELAPSED: print_duration(out, t->time - t->replay->first); break;
	case COLUMN_TASK:
		print_right(out, t->lane->comm.text, t->lane->comm.size, COMM_WIDTH);
		break;
	case COLUMN_ADDRESS:
		if (frame)
			print_address(out, p);
		else
			text_pad(out, ' ', ADDRESS_WIDTH);
		break;
	case COLUMN_MODULE:
		if (frame)
			print_module(out, p);
		else
			text_pad(out, ' ', MODULE_WIDTH);
		break;
	case COLUMN_COUNT: break;
	}
}

void columns_print(struct text *out, const struct columns *c, const struct dictionary *d,
		   const struct replay_task *t, uint64_t duration, const struct replay_frame *frame)
{
	char line[64];

	if (c->none)
		return;
	if (c->standard) {
		/* most lines of most runs: written in one piece */
		line[0] = ' ';
		duration_text(line + 1, duration);
		line[1 + DURATION_WIDTH] = ' ';
		memcpy(line + 2 + DURATION_WIDTH, t->tid, sizeof t->tid);
		memcpy(line + 2 + DURATION_WIDTH + t->tid_size, " | ", 3);
		text_put(out, line, 2u + DURATION_WIDTH + t->tid_size + 3u);
		return;
	}
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!c->shown[i])
			continue;
		text_char(out, ' ');
		print_column(out, (enum column)i, d, t, duration, frame);
	}
	text_put(out, " | ", 3);
}

void columns_blank(struct text *out, const struct columns *c)
{
	if (c->none)
		return;
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (c->shown[i])
			text_pad(out, ' ', 1u + table[i].width);
	text_put(out, " | ", 3);
}
