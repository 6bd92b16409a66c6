/* graph.c - function graphs as `trace-cmd report` draws them */
#include "cmd/trencode/text/tracecmd/tracecmd.h"

#include "cmd/trencode/encoder.h"

enum { INDENT = 2, DEPTH_MOST = 512 };

bool record_number(const struct event_field *f, const struct event *ev, uint64_t *v)
{
	if (f->offset > ev->tail_size || f->size > ev->tail_size - f->offset)
		return false;
	*v = get_uint(ev->tail + f->offset, f->size, ev->type->flags & TYPE_BIG_ENDIAN);
	return true;
}

void function_text(struct line *out, uint64_t address, const char *prefix,
		   const struct print_kernel *k)
{
	uint64_t offset;
	size_t size;
	const char *name = k->symbol(k->context, address, &size, &offset);

	if (name) {
		line_put(out, name, size);
		return;
	}
	line_puts(out, prefix);
	line_hex(out, address, 1);
}

static bool find_field(const struct event_format *fields, const char *name, struct event_field *out)
{
	const struct event_field *f = event_format_find(fields, name, strlen(name));

	if (f)
		*out = *f;
	return f;
}

static bool is_ftrace(const struct type *t, const char *name)
{
	return !strcmp(t->group.text, "ftrace") && !strcmp(t->name.text, name);
}

void graph_fields_find(struct graph_fields *g, const struct type *type,
		       const struct event_format *fields)
{
	*g = (struct graph_fields){0};
	if (is_ftrace(type, "funcgraph_entry"))
		g->kind = GRAPH_ENTRY;
	else if (is_ftrace(type, "funcgraph_exit"))
		g->kind = GRAPH_EXIT;
	if (!g->kind)
		return;
	if (!find_field(fields, "func", &g->func) || !find_field(fields, "depth", &g->depth) ||
	    (g->kind == GRAPH_EXIT && (!find_field(fields, "calltime", &g->calltime) ||
				       !find_field(fields, "rettime", &g->rettime))))
		g->kind = GRAPH_NONE;
}

bool graph_read(const struct graph_fields *g, const struct event *ev, struct graph_call *c)
{
	uint64_t called, returned;

	*c = (struct graph_call){0};
	if (!record_number(&g->func, ev, &c->func) || !record_number(&g->depth, ev, &c->depth))
		return false;
	c->level = c->depth;
	if (c->depth > DEPTH_MOST)
		c->depth = DEPTH_MOST;
	if (g->kind == GRAPH_ENTRY)
		return true;
	if (!record_number(&g->calltime, ev, &called) || !record_number(&g->rettime, ev, &returned))
		return false;
	c->duration = returned - called;
	return true;
}

static void graph_duration(struct line *out, uint64_t ns)
{
	static const struct {
		uint64_t above;
		char mark;
	} marks[] = {{1000000000, '$'}, {1000000, '#'}, {100000, '!'}, {10000, '+'}};
	char mark = ' ';
	size_t start;

	for (size_t i = 0; i < 4 && mark == ' '; i++)
		if (ns > marks[i].above)
			mark = marks[i].mark;
	line_char(out, mark);
	line_char(out, ' ');
	start = out->size;
	line_u64(out, ns / 1000);
	if (out->size - start < 7) {
		line_char(out, '.');
		line_u64_wide(out, ns % 1000, 3, '0');
	}
	start = out->size - start;
	line_puts(out, " us ");
	if (start < 7)
		line_pad(out, ' ', 7 - start);
	line_puts(out, "|  ");
}

static void graph_level(struct line *out, const struct graph_call *c, const struct graph_style *g)
{
	if (!(g->plugins & PLUGIN_DEPTH))
		return;
	line_puts(out, " (");
	line_i64(out, (int64_t)c->level);
	line_char(out, ')');
}

void graph_enter_text(struct line *out, const struct graph_call *c, const struct graph_style *g)
{
	line_puts(out, "             |  ");
	line_pad(out, ' ', c->depth * INDENT);
	function_text(out, c->func, "", g->names);
	line_puts(out, "() {");
	graph_level(out, c, g);
}

void graph_exit_text(struct line *out, const struct graph_call *c, const struct graph_style *g)
{
	graph_duration(out, c->duration);
	line_pad(out, ' ', c->depth * INDENT);
	line_char(out, '}');
	if (g->plugins & PLUGIN_TAILPRINT) {
		line_puts(out, " /* ");
		function_text(out, c->func, "", g->names);
		line_puts(out, " */");
	}
	graph_level(out, c, g);
}

void graph_leaf_text(struct line *out, const struct graph_call *c, const struct graph_style *g)
{
	graph_duration(out, c->duration);
	line_pad(out, ' ', c->depth * INDENT);
	function_text(out, c->func, "", g->names);
	line_puts(out, "();");
	graph_level(out, c, g);
}
