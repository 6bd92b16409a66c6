#include "cmd/trencode/text/events.h"

#include <inttypes.h>

#include "common/formats/uftrace.h"

/* Two or three counters that one event has: their values at a time, or their differences. */
struct reading {
	uint32_t read, diff; /* event ids */
	const char *fields[3], *labels[3], *unit;
	const char
		*ratio; /* name of the ratio of the second to the first; printed with differences */
	bool percent;	/* the ratio is the share of the first without the second, in percent */
};

static const struct reading readings[] = {
	{UFTRACE_EV_READ_STATM,
	 UFTRACE_EV_DIFF_STATM,
	 {"vmsize", "vmrss", "shared"},
	 {"vmsize", "vmrss", "shared"},
	 "KB",
	 NULL,
	 false},
	{UFTRACE_EV_READ_PAGE_FAULT,
	 UFTRACE_EV_DIFF_PAGE_FAULT,
	 {"major", "minor"},
	 {"major", "minor"},
	 "",
	 NULL,
	 false},
	{UFTRACE_EV_READ_PMU_CYCLE,
	 UFTRACE_EV_DIFF_PMU_CYCLE,
	 {"cycles", "instructions"},
	 {"cycles", "instructions"},
	 "",
	 "IPC",
	 false},
	{UFTRACE_EV_READ_PMU_CACHE,
	 UFTRACE_EV_DIFF_PMU_CACHE,
	 {"refers", "misses"},
	 {"refers", "misses"},
	 "",
	 "hit",
	 true},
	{UFTRACE_EV_READ_PMU_BRANCH,
	 UFTRACE_EV_DIFF_PMU_BRANCH,
	 {"branches", "misses"},
	 {"branch", "misses"},
	 "",
	 "predict",
	 true},
};

static const struct reading *reading_of(uint32_t id)
{
	for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
		if (readings[i].read == id || readings[i].diff == id)
			return &readings[i];
	return NULL;
}

static void print_reading(struct text *out, const struct reading *r, const struct event *ev)
{
	bool diff = ev->type->native == r->diff;
	uint64_t v[3];
	int n = 0;

	while (n < 3 && r->fields[n] && field_number(ev, r->fields[n], &v[n]))
		n++;
	if (!n || (n < 3 && r->fields[n]))
		return;
	for (int i = 0; i < n; i++) {
		text_puts(out, i ? " " : " (");
		text_puts(out, r->labels[i]);
		text_char(out, '=');
		if (!diff) {
			text_u64(out, v[i]);
		} else {
			if ((int64_t)v[i] >= 0)
				text_char(out, '+');
			text_i64(out, (int64_t)v[i]);
		}
		text_puts(out, r->unit);
	}
	if (diff && r->ratio && !r->percent)
		text_printf(out, " %s=%.2f", r->ratio, (double)((float)v[1] / (float)v[0]));
	else if (diff && r->ratio)
		text_printf(out, " %s=%.2f%%", r->ratio,
			    100.0 * (double)(int64_t)(v[0] - v[1]) / (double)(int64_t)v[0]);
	text_char(out, ')');
}

static void print_watch(struct text *out, const struct value_names *names, const struct event *ev)
{
	uint64_t address, value;
	const char *name = NULL;

	if (!field_number(ev, "address", &address) || !field_number(ev, "value", &value))
		return;
	if (names->symbols)
		name = text_symbols_find(names->symbols, names->space, ev->time, address, true,
					 NULL);
	text_puts(out, " (");
	if (name) {
		text_masked(out, name, strlen(name));
	} else {
		text_puts(out, "[0x");
		text_hex(out, address, 1);
		text_char(out, ']');
	}
	text_char(out, '=');
	text_hex(out, value, 1);
	text_char(out, ')');
}

static void print_text(struct text *out, const struct event *ev, const char *before,
		       const char *after)
{
	const struct field *f = field_by_role(ev->type, ROLE_MESSAGE);
	struct field_value v = {.form = FORM_NONE};

	if (f)
		field_get(ev, f, 0, &v);
	if (v.form != FORM_TEXT)
		return;
	text_puts(out, before);
	text_masked(out, (const char *)v.text, v.size);
	text_puts(out, after);
}

/* Print the bytes of an event whose data do not have the expected layout. */
static void print_data(struct text *out, const struct event *ev)
{
	const struct field *f = field_find(ev->type, "data");
	const uint8_t *p = NULL;
	size_t n = 0;

	if (f)
		p = field_bytes(ev, f, &n);
	if (!p)
		return;
	text_puts(out, " (data=");
	for (size_t i = 0; i < n; i++)
		text_hex(out, p[i], 2);
	text_char(out, ')');
}

static void print_name(struct text *out, const struct type *type)
{
	const struct text_ref *name = &type->name;

	/* uftrace prints events of the kernel with their group */
	if (type->declaration.size && type->group.size) {
		text_masked(out, type->group.text, type->group.size);
		text_char(out, ':');
	}
	if (name->size < 6 || memcmp(name->text, "event:", 6)) {
		text_masked(out, name->text, name->size);
		return;
	}
	/* without a name: uftrace prints the range of its number */
	if (type->native >= UFTRACE_EV_USER_FIRST)
		text_puts(out, "user_event:");
	else if (type->native > UFTRACE_EV_KERNEL_LAST)
		text_puts(out, "builtin_event:");
	else
		text_puts(out, "event:");
	text_u64(out, type->native);
}

void event_text(struct text *out, const struct value_names *names, const struct event *ev)
{
	uint32_t id = ev->type->native;
	const struct reading *reading = reading_of(id);
	uint64_t cpu;

	print_name(out, ev->type);
	if (reading)
		print_reading(out, reading, ev);
	else if (id == UFTRACE_EV_WATCH_CPU && field_number(ev, "cpu", &cpu))
		text_printf(out, " (cpu=%" PRId32 ")", (int32_t)cpu);
	else if (id == UFTRACE_EV_WATCH_VAR)
		print_watch(out, names, ev);
	else if (id == UFTRACE_EV_TASK_COMM)
		print_text(out, ev, " (comm=\"", "\")");
	else if (id == UFTRACE_EV_EXTERN)
		print_text(out, ev, ": ", "");
	print_data(out, ev);
}
