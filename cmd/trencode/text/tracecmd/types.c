#include "cmd/trencode/text/tracecmd/types.h"

#include <stdlib.h>

#include "cmd/trencode/text/time_format.h"
#include "common/formats/tracecmd.h"

enum { NAME_WIDTH = 20 };

/* --- types --- */

static int tc_type_make(struct tc_types *all, struct tc_type *t, const struct type *type,
			const struct print_kernel *names)
{
	bool big = type->flags & TYPE_BIG_ENDIAN;
	struct line name = {0};
	char why[PRINT_WHY];

	t->ready = true;
	if (!type->declaration.size && tracecmd_is_text(type->name.text)) {
		t->line = true;
		return 0;
	}
	line_char(&name, ' ');
	line_put(&name, type->name.text, type->name.size);
	line_puts(&name, ": ");
	if (type->name.size < NAME_WIDTH)
		line_pad(&name, ' ', NAME_WIDTH - type->name.size);
	t->name = name.data;
	t->name_size = name.size;
	if (all->raw) {
		t->plan = plan_make(type, !all->no_plugins);
		return name.failed || !t->plan ? -1 : 0;
	}
	t->format = print_format_compile(type->declaration.text, type->declaration.size,
					 type->word_size, big, names, why);
	if (name.failed || (!t->format && !*why) ||
	    event_format_parse(&t->fields, type->declaration.text, type->declaration.size,
			       type->word_size) < 0)
		return -1;
	if (!t->format && !*all->why) {
		memcpy(all->why, why, sizeof why);
		memcpy(all->why_type, type->name.text,
		       type->name.size < sizeof all->why_type ? type->name.size
							      : sizeof all->why_type - 1);
	}
	bprint_fields_find(&t->bprint, type, &t->fields);
	if (!all->no_plugins) {
		graph_fields_find(&t->graph, type, &t->fields);
		plugin_find(&t->plugin, type, &t->fields);
	}
	return 0;
}

struct tc_type *tc_type_at(struct tc_types *all, const struct type *type,
			   const struct print_kernel *names)
{
	struct tc_type *types;

	if (ARRAY_REACH(all->at, all->count, type->number))
		return NULL;
	types = all->at;
	if (!types[type->number].ready && tc_type_make(all, &types[type->number], type, names))
		return NULL;
	return &types[type->number];
}

void tc_types_free(struct tc_types *all)
{
	for (size_t i = 0; i < all->count; i++) {
		print_format_free(all->at[i].format);
		event_format_free(&all->at[i].fields);
		plan_free(all->at[i].plan);
		free(all->at[i].name);
	}
	free(all->at);
}

/* --- lanes --- */

static int tc_lane_make(struct tc_lane *l, const struct tc_sources *sources,
			const struct lane *lane)
{
	struct line line = {0};
	size_t start;

	l->microseconds = !lane->clock || clock_in_seconds(lane->clock->name.text);
	tc_prefix(sources, lane, &line);
	l->prefix_size = start = line.size;
	if (lane->comm.size || !lane->tid)
		line_put(&line, lane->comm.text, lane->comm.size);
	else
		line_puts(&line, "<...>");
	line_column(&line, start, 16, -1, false);
	line_char(&line, '-');
	start = line.size;
	line_i64(&line, lane->tid);
	line_column(&line, start, 5, -1, true);
	line_puts(&line, " [");
	line_u64_wide(&line, (uint64_t)(lane->cpu < 0 ? 0 : lane->cpu), 3, '0');
	line_char(&line, ']');
	if (line.failed) {
		line_free(&line);
		return -1;
	}
	l->head = line.data;
	l->head_size = line.size;
	return 0;
}

struct tc_lane *tc_lane_new(struct tc_lanes *l, const struct tc_sources *sources,
			    struct tc_source *source, const struct lane *lane)
{
	struct tc_lane *lanes;

	if (ARRAY_REACH(l->at, l->count, lane->number))
		return NULL;
	lanes = l->at;
	lanes[lane->number].source = source;
	return tc_lane_make(&lanes[lane->number], sources, lane) ? NULL : &lanes[lane->number];
}

void tc_lanes_free(struct tc_lanes *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->at[i].head);
	free(l->at);
}
