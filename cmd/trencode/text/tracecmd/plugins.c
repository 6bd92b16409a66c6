#include "cmd/trencode/text/tracecmd/plugins.h"

#include <stdlib.h>

enum { INDENT = 3, CALLS_MOST = 1024 };

/* An event to print. */
struct plugin_event {
	const struct plugin_type *type;
	const struct event *ev;
	const struct print_kernel *names;
	struct plugin_indent *indent;
};

struct plugin {
	const char *system, *name;
	const char *fields[PLUGIN_FIELDS + 1];
	unsigned required; /* so many fields from the first on */
	bool (*text)(const struct plugin_event *e, struct line *out);
};

/* Read a number as the plug-ins do: without its sign. */
static bool number_of(const struct plugin_event *e, unsigned field, uint64_t *v)
{
	return e->type->has[field] && record_number(&e->type->field[field], e->ev, v);
}

static uint64_t number(const struct plugin_event *e, unsigned field)
{
	uint64_t v = 0;

	number_of(e, field, &v);
	return v;
}

/* --- sched_switch, sched_wakeup --- */

enum { COMM, PID, PRIO, SUCCESS, CPU }; /* fields of sched_wakeup */

/* Append "COMM:PID", and the priority. */
static void put_task(const struct plugin_event *e, unsigned comm, struct line *out)
{
	const struct event_field *f = &e->type->field[comm];
	uint64_t v;

	if (e->type->has[comm] && f->offset < e->ev->tail_size) {
		const char *text = (const char *)e->ev->tail + f->offset;
		size_t left = e->ev->tail_size - f->offset;

		line_put(out, text, strnlen(text, f->size < left ? f->size : left));
		line_char(out, ':');
	}
	line_i64(out, (int32_t)number(e, comm + 1));
	if (number_of(e, comm + 2, &v)) {
		line_puts(out, " [");
		line_i64(out, (int32_t)v);
		line_char(out, ']');
	}
}

static bool wakeup_text(const struct plugin_event *e, struct line *out)
{
	uint64_t v;

	put_task(e, COMM, out);
	if (number_of(e, SUCCESS, &v)) {
		line_puts(out, " success=");
		line_i64(out, (int32_t)v);
	}
	if (number_of(e, CPU, &v)) {
		line_puts(out, " CPU:");
		line_u64_wide(out, v, 3, '0');
	}
	return true;
}

static bool switch_text(const struct plugin_event *e, struct line *out)
{
	static const char states[] = "SDTtZXxW";
	uint64_t state;
	bool any = false;

	put_task(e, 0, out);
	line_char(out, ' ');
	if (number_of(e, 3, &state)) {
		for (unsigned i = 0; i < sizeof states - 1; i++) {
			if (!(state >> i & 1))
				continue;
			if (any)
				line_char(out, '|');
			line_char(out, states[i]);
			any = true;
		}
		if (!any)
			line_char(out, 'R');
	}
	line_puts(out, " ==> ");
	put_task(e, 4, out);
	return true;
}

/* --- hrtimer --- */

/* Append " function=NAME/OFFSET". */
static void put_function(const struct plugin_event *e, unsigned field, struct line *out)
{
	uint64_t address, offset;
	const char *name;
	size_t size;

	if (!number_of(e, field, &address))
		return;
	line_puts(out, " function=");
	name = e->names->symbol(e->names->context, address, &size, &offset);
	if (!name) {
		line_puts(out, "0x");
		line_hex(out, address, 8);
		return;
	}
	line_put(out, name, size);
	line_puts(out, "/0x");
	/* libtraceevent subtracts the address from the function's */
	line_hex(out, 0 - offset, 1);
}

static bool timer_start_text(const struct plugin_event *e, struct line *out)
{
	line_puts(out, "hrtimer=0x");
	line_hex(out, number(e, 0), 1);
	put_function(e, 1, out);
	line_puts(out, " expires=");
	line_u64(out, number(e, 2));
	line_puts(out, " softexpires=");
	line_u64(out, number(e, 3));
	return true;
}

static bool timer_expire_text(const struct plugin_event *e, struct line *out)
{
	line_puts(out, "hrtimer=0x");
	line_hex(out, number(e, 0), 1);
	line_puts(out, " now=");
	line_u64(out, number(e, 2));
	put_function(e, 1, out);
	return true;
}

/* --- function --- */

struct plugin_calls {
	uint64_t function[CALLS_MOST]; /* address of the symbol, outermost first */
	size_t count;
};

static void set_call(struct plugin_calls *c, size_t level, uint64_t function)
{
	if (level >= CALLS_MOST)
		return;
	c->function[level] = function;
	if (level >= c->count)
		c->count = level + 1;
}

/* Find the level of a function by that of its caller. Functions deeper than this one stay, as they
 * do in trace-cmd. */
static size_t level_of(struct plugin_calls *c, uint64_t parent, uint64_t function)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->function[i] == parent) {
			set_call(c, i + 1, function);
			return i;
		}
	set_call(c, 0, parent);
	set_call(c, 1, function);
	return 0;
}

static bool function_event_text(const struct plugin_event *e, struct line *out)
{
	uint64_t address = number(e, 0), parent = number(e, 1), offset = 0, below = 0;
	size_t cpu = e->ev->lane->cpu < 0 ? 0 : (size_t)e->ev->lane->cpu, size;
	struct plugin_calls *calls =
		array_reach(e->indent->cpu, &e->indent->ncpus, cpu, sizeof *calls);

	if (calls) {
		e->indent->cpu = calls;
		e->names->symbol(e->names->context, address, &size, &offset);
		if (e->names->symbol(e->names->context, parent, &size, &below))
			line_pad(out, ' ',
				 INDENT * level_of(&calls[cpu], parent - below, address - offset));
	}
	function_text(out, address, "0x", e->names);
	return true;
}

void plugin_indent_free(struct plugin_indent *indent)
{
	free(indent->cpu);
}

/* --- kernel_stack, raw_data --- */

static bool stack_text(const struct plugin_event *e, struct line *out)
{
	const struct event_field *f = &e->type->field[0];
	unsigned word = e->ev->type->word_size == 4 ? 4 : 8;
	bool big = e->ev->type->flags & TYPE_BIG_ENDIAN;

	line_puts(out, "<stack trace >\n");
	for (size_t at = f->offset; at + word <= e->ev->tail_size; at += word) {
		uint64_t address = get_uint(e->ev->tail + at, word, big), offset;
		const char *name;
		size_t size;

		if (address == (word == 4 ? UINT32_MAX : UINT64_MAX))
			break;
		line_puts(out, "=> ");
		name = e->names->symbol(e->names->context, address, &size, &offset);
		if (name) {
			line_put(out, name, size);
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

static bool raw_text(const struct plugin_event *e, struct line *out)
{
	const struct event_field *f = &e->type->field[1];

	line_puts(out, "# ");
	line_hex(out, number(e, 0), 1);
	for (size_t at = f->offset; at < e->ev->tail_size; at++) {
		line_char(out, ' ');
		line_hex(out, e->ev->tail[at], 2);
	}
	return true;
}

/* --- kmem, tlb, futex --- */

static bool call_site_text(const struct plugin_event *e, struct line *out)
{
	uint64_t address = number(e, 0), offset;
	size_t size;
	const char *name = e->names->symbol(e->names->context, address, &size, &offset);

	if (name) {
		line_char(out, '(');
		line_put(out, name, size);
		line_puts(out, "+0x");
		line_hex(out, (uint32_t)offset, 1);
		line_puts(out, ") ");
	}
	return false;
}

static bool flush_text(const struct plugin_event *e, struct line *out)
{
	static const char *const reasons[] = {"flush on task switch", "remote shootdown",
					      "local shootdown", "local mm shootdown"};
	uint64_t reason = number(e, 0);

	line_puts(out, "pages=");
	line_i64(out, (int64_t)number(e, 1));
	line_puts(out, " reason=");
	if (reason < sizeof reasons / sizeof *reasons)
		line_puts(out, reasons[reason]);
	line_puts(out, " (");
	line_i64(out, (int64_t)reason);
	line_char(out, ')');
	return true;
}

/* Append " NAME=VALUE": format 'x' hexadecimal, 'u' decimal, ' ' nothing. */
static void put_futex_value(char format, const char *name, uint64_t v, struct line *out)
{
	if (format == ' ')
		return;
	line_puts(out, name);
	if (format == 'u') {
		line_u64(out, v);
	} else {
		line_puts(out, "0x");
		line_hex(out, v, 8);
	}
}

static bool futex_text(const struct plugin_event *e, struct line *out)
{
	/* of val, utime or val2 (in decimal), uaddr2, val3 */
	static const struct {
		const char *name, *values;
	} operations[] = {
		{"WAIT", "xx  "},	    {"WAKE", "u   "},	     {"FD", "u   "},
		{"REQUEUE", "uux "},	    {"CMP_REQUEUE", "uuxx"}, {"WAKE_OP", "uuxx"},
		{"LOCK_PI", " x  "},	    {"UNLOCK_PI", "    "},   {"TRYLOCK_PI", "    "},
		{"WAIT_BITSET", "xx x"},    {"WAKE_BITSET", "u  x"}, {"WAIT_REQUEUE_PI", "xxxx"},
		{"CMP_REQUEUE_PI", "uuxx"},
	};
	enum { PRIVATE = 128, REALTIME = 256 };
	uint64_t op = number(e, 1), operation = op & ~(uint64_t)(PRIVATE | REALTIME);
	const char *values;

	if (operation >= sizeof operations / sizeof *operations)
		return false;
	values = operations[operation].values;
	line_puts(out, "op=FUTEX_");
	line_puts(out, operations[operation].name);
	if (op & PRIVATE)
		line_puts(out, "|FUTEX_PRIVATE_FLAG");
	if (op & REALTIME)
		line_puts(out, "|FUTEX_CLOCK_REALTIME");
	put_futex_value('x', " uaddr=", number(e, 0), out);
	put_futex_value(values[0], " val=", number(e, 2), out);
	put_futex_value(values[1], values[1] == 'u' ? " val2=" : " utime=", number(e, 3), out);
	put_futex_value(values[2], " uaddr2=", number(e, 4), out);
	put_futex_value(values[3], " val3=", number(e, 5), out);
	return true;
}

/* --- the table --- */

#define KMEM(name)                                                                                 \
	{                                                                                          \
		"kmem", name, {"call_site"}, 1, call_site_text                                     \
	}

static const struct plugin plugins[] = {
	{"sched",
	 "sched_switch",
	 {"prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"},
	 2,
	 switch_text},
	{"sched", "sched_wakeup", {"comm", "pid", "prio", "success", "target_cpu"}, 2, wakeup_text},
	{"sched",
	 "sched_wakeup_new",
	 {"comm", "pid", "prio", "success", "target_cpu"},
	 2,
	 wakeup_text},
	{"timer",
	 "hrtimer_start",
	 {"hrtimer", "function", "expires", "softexpires"},
	 1,
	 timer_start_text},
	{"timer", "hrtimer_expire_entry", {"hrtimer", "function", "now"}, 1, timer_expire_text},
	{"ftrace", "function", {"ip", "parent_ip"}, 2, function_event_text},
	{"ftrace", "kernel_stack", {"caller"}, 1, stack_text},
	{"ftrace", "raw_data", {"id", "buf"}, 2, raw_text},
	KMEM("kmalloc"),
	KMEM("kmalloc_node"),
	KMEM("kfree"),
	KMEM("kmem_cache_alloc"),
	KMEM("kmem_cache_alloc_node"),
	KMEM("kmem_cache_free"),
	{"tlb", "tlb_flush", {"reason", "pages"}, 2, flush_text},
	{"syscalls",
	 "sys_enter_futex",
	 {"uaddr", "op", "val", "utime", "uaddr2", "val3"},
	 6,
	 futex_text},
};

void plugin_find(struct plugin_type *p, const struct type *type, const struct event_format *fields)
{
	*p = (struct plugin_type){0};
	for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
		const struct plugin *plugin = &plugins[i];

		if (strcmp(plugin->name, type->name.text) != 0 ||
		    strcmp(plugin->system, type->group.text) != 0)
			continue;
		for (unsigned k = 0; plugin->fields[k]; k++) {
			const char *name = plugin->fields[k];
			const struct event_field *f = event_format_find(fields, name, strlen(name));

			if (!f && k < plugin->required)
				return;
			if (f)
				p->field[k] = *f;
			p->has[k] = f;
		}
		p->plugin = plugin;
	}
}

bool plugin_text(const struct plugin_type *p, const struct event *ev, const struct print_kernel *k,
		 struct plugin_indent *indent, struct line *out)
{
	struct plugin_event e = {p, ev, k, indent};

	for (unsigned i = 0; i < p->plugin->required; i++)
		if (p->field[i].offset >= ev->tail_size)
			return false;
	return p->plugin->text(&e, out);
}
