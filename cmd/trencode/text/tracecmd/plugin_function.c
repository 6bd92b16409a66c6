/* plugin_function.c - texts of the function tracer, of stacks and of raw data */
#include <stdlib.h>

#include "cmd/trencode/encoder.h"
#include "cmd/trencode/text/tracecmd/plugin_event.h"

enum { INDENT = 3, CALLS_MOST = 1024 };

/* The name of a function. */
struct called {
	const char *name; /* of the kernel's table; NULL: unknown */
	size_t size;
};

struct plugin_calls {
	struct called function[CALLS_MOST]; /* outermost first */
	size_t count;
};

static void set_call(struct plugin_calls *c, size_t level, struct called function)
{
	if (level >= CALLS_MOST || !function.name)
		return;
	c->function[level] = function;
	if (level >= c->count)
		c->count = level + 1;
}

static bool same_name(struct called a, struct called b)
{
	return a.size == b.size && (a.name == b.name || !memcmp(a.name, b.name, a.size));
}

/* Find the level of a function by that of its caller. Functions deeper than this one stay, as they
 * do in trace-cmd. */
static size_t level_of(struct plugin_calls *c, struct called parent, struct called function)
{
	for (size_t i = 0; i < c->count; i++)
		if (same_name(c->function[i], parent)) {
			set_call(c, i + 1, function);
			return i;
		}
	set_call(c, 0, parent);
	set_call(c, 1, function);
	return 0;
}

/* Append the offset in a function if the option offset asks for it. */
static void put_offset(const struct plugin_event *e, uint64_t offset, struct line *out)
{
	if (!(e->context->plugins & PLUGIN_OFFSET))
		return;
	line_puts(out, "+0x");
	line_hex(out, (uint32_t)offset, 1);
	line_char(out, ' ');
}

static void put_function(const struct plugin_event *e, uint64_t address, struct line *out)
{
	uint64_t offset;
	size_t size;

	function_text(out, address, "0x", e->context->names);
	if (plugin_symbol(e, address, &size, &offset))
		put_offset(e, offset, out);
}

enum { IP, PARENT_IP, COUNT, TOP_DELTA, BOTTOM_DELTA }; /* fields */

bool plugin_function(const struct plugin_event *e, struct line *out)
{
	struct plugin_indent *indent = e->context->indent;
	size_t cpu = e->ev->lane->cpu < 0 ? 0 : (size_t)e->ev->lane->cpu;
	struct called function, parent;
	uint64_t address, caller, offset;

	if (!plugin_require(e, IP, &address, out) || !plugin_require(e, PARENT_IP, &caller, out)) {
		line_char(out, '!');
		return false;
	}
	parent.name = plugin_symbol(e, caller, &parent.size, &offset);
	if (parent.name && !ARRAY_REACH(indent->cpu, indent->ncpus, cpu) &&
	    !(e->context->plugins & PLUGIN_NO_INDENT)) {
		function.name = plugin_symbol(e, address, &function.size, &offset);
		line_pad(out, ' ', INDENT * level_of(&indent->cpu[cpu], parent, function));
	}
	put_function(e, address, out);
	if (e->context->plugins & PLUGIN_PARENT) {
		line_puts(out, " <-- ");
		put_function(e, caller, out);
	}
	return true;
}

bool plugin_repeats(const struct plugin_event *e, struct line *out)
{
	uint64_t count, top, bottom;

	plugin_function(e, out);
	if (!plugin_require(e, COUNT, &count, out) || !plugin_require(e, TOP_DELTA, &top, out) ||
	    !plugin_require(e, BOTTOM_DELTA, &bottom, out)) {
		line_char(out, '!');
		return false;
	}
	line_puts(out, " (count: ");
	line_i64(out, (int64_t)count);
	line_puts(out, "  last_ts: ");
	time_text(out, e->ev->time - (top << 32 | bottom), e->context->seconds,
		  e->context->nanoseconds);
	line_char(out, ')');
	return true;
}

void plugin_indent_free(struct plugin_indent *indent)
{
	free(indent->cpu);
}

bool plugin_stack(const struct plugin_event *e, struct line *out)
{
	const struct event_field *f = e->type->field[0];
	unsigned word = e->ev->type->word_size == 4 ? 4 : 8;
	bool big = e->ev->type->flags & TYPE_BIG_ENDIAN;

	if (!f) {
		plugin_put_missing(e, 0, out);
		return true;
	}
	line_puts(out, "<stack trace >\n");
	for (size_t at = f->offset; at + word <= e->ev->tail_size; at += word) {
		uint64_t address = get_uint(e->ev->tail + at, word, big), offset;
		const char *name;
		size_t size;

		/* trace-cmd compares the low half of a long word too */
		if ((uint32_t)address == UINT32_MAX)
			break;
		line_puts(out, "=> ");
		name = plugin_symbol(e, address, &size, &offset);
		if (name) {
			line_put(out, name, size);
			put_offset(e, offset, out);
			line_puts(out, " (");
			line_hex(out, address, 1);
			line_puts(out, ")\n");
		} else {
			line_hex(out, address, 1);
			line_char(out, '\n');
		}
	}
	return true;
}

bool plugin_raw(const struct plugin_event *e, struct line *out)
{
	const struct event_field *f = e->type->field[1];
	uint64_t id;

	if (!plugin_require(e, 0, &id, out)) {
		line_char(out, '!');
		return false;
	}
	line_puts(out, "# ");
	line_hex(out, id, 1);
	if (!f)
		plugin_put_missing(e, 1, out);
	for (size_t at = f ? f->offset : SIZE_MAX; at < e->ev->tail_size; at++) {
		line_char(out, ' ');
		line_hex(out, e->ev->tail[at], 2);
	}
	return true;
}
