/*
 * extern.c - extern.dat: lines of "<sec.nsec> <message>" that a user added to the trace
 *
 * A line belongs to the task of the event before it. Blank lines and lines that begin with # are
 * skipped.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/uftrace/uftrace.h"
#include "common/util/lines.h"

static void extern_damage(struct uftrace *u, struct extern_reader *x, uint64_t offset)
{
	char path[512];

	(void)x;
	input_damage(u->input, tree_path(u->input->tree, "extern.dat", path, sizeof(path)), offset,
		     "a line without a time");
}

/* Parse "sec.nsec" with one to nine decimals; -1 if the text is not a time. */
static int parse_time(char **at, uint64_t *time)
{
	uint64_t sec = 0, nsec = 0, unit = 1000000000;
	char *p = *at;

	if (!isdigit((unsigned char)*p))
		return -1;
	for (; isdigit((unsigned char)*p); p++) {
		sec = sec * 10 + (uint64_t)(*p - '0');
		if (sec >= TIME_LIMIT / 1000000000)
			return -1;
	}
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p); p++)
			nsec += (uint64_t)(*p - '0') * (unit /= 10);
	*time = sec * 1000000000 + nsec;
	*at = p;
	return 0;
}

/* Find the next line with an event: set base.due.time and line. */
static void extern_look_ahead(struct uftrace *u, struct extern_reader *x)
{
	struct lines l = lines_of(x->text, x->size);

	x->base.due.time = UINT64_MAX;
	for (l.next += x->offset; lines_next(&l); x->offset = (uint64_t)(l.next - x->text)) {
		char *p = l.line;
		uint64_t time;

		l.line[l.size] = '\0';
		while (isspace((unsigned char)*p))
			p++;
		if (*p && *p != '#') {
			if (!parse_time(&p, &time)) {
				while (*p == ' ' || *p == '\t')
					p++;
				x->line = p;
				x->base.due.time = time;
				return;
			}
			extern_damage(u, x, x->offset);
		}
	}
}

static int extern_run(struct uftrace *u, struct lane_reader *r)
{
	struct extern_reader *x = (struct extern_reader *)r;
	size_t n = strlen(x->line);

	/* before all other events it belongs to the first task, as in uftrace */
	if (!u->last_lane && u->ntasks)
		u->last_lane = u->task_readers[0].lane;
	if (u->last_lane && writer_row_data(u->w, (struct new_row){.time = shifted(u, r->due.time),
								   .lane = u->last_lane,
								   .type = uftrace_extern_type(u),
								   .tail = x->line,
								   .tail_size = (uint32_t)n,
								   .has_tail = true}))
		return -1;
	x->offset = (uint64_t)(x->line - x->text) + n + 1;
	extern_look_ahead(u, x);
	return 0;
}

int extern_begin(struct uftrace *u, struct error *e)
{
	struct extern_reader *x = &u->external;
	void *data;

	x->base.due.time = UINT64_MAX;
	x->base.run = extern_run;
	if (u->input->member || !tree_has(u->input->tree, "extern.dat"))
		return 0;
	if (tree_read(u->input->tree, "extern.dat", 256 << 20, &data, &x->size, e)) {
		input_damage_error(u->input, e);
		e->what[0] = '\0';
		return 0;
	}
	x->text = data;
	extern_look_ahead(u, x);
	return 0;
}
