/*
 * classify.c - classifies events by the names of marker and fields: changes of threads, names,
 * calls
 */
#include <stdio.h>

#include "cmd/trdecode/lttng/lttng.h"

enum { NAME_MOST = 4096 };

static bool ends_with(const char *s, size_t n, const char *end)
{
	size_t m = strlen(end);

	return n > m && !memcmp(s + n - m, end, m);
}

static bool contains(const char *s, size_t n, const char *part)
{
	return memmem(s, n, part, strlen(part));
}

/* Set offset and size of the next argument: the field of that name in the fixed part. */
static void set_arg(struct lttng_marker *m, const struct lttng_field *fields, int n,
		    const char *name, int index)
{
	size_t size = strlen(name);

	m->arg[index] = -1;
	for (int i = 0; i < n; i++)
		if (fields[i].size && fields[i].name && fields[i].name_size == size &&
		    !memcmp(fields[i].name, name, size)) {
			m->arg[index] = (int16_t)m->layout.steps[i].offset;
			m->arg_size[index] = fields[i].size;
			return;
		}
}

static void set_string_arg(struct lttng_marker *m, const struct lttng_field *fields, int n,
			   const char *name)
{
	size_t size = strlen(name);
	int8_t number = 0;

	m->string_arg = -1;
	for (int i = 0; i < n; i++) {
		if (fields[i].size)
			continue;
		if (fields[i].name && fields[i].name_size == size &&
		    !memcmp(fields[i].name, name, size)) {
			m->string_arg = number;
			return;
		}
		if (number++ == INT8_MAX)
			return;
	}
}

/* Set the action of events that record threads or names. In 1.0 the facility precedes their names.
 */
static void find_action(struct lttng_marker *m, const struct lttng_field *fields, int n)
{
	static const struct {
		const char *ending;
		enum lttng_action action;
		const char *arg[LTTNG_ARGS], *string;
	} actions[] = {
		{"core_marker_id", ACTION_MARKER_ID, {0}, NULL},
		{"core_marker_format", ACTION_MARKER_FORMAT, {0}, NULL},
		{"sched_schedule", ACTION_SCHEDULE, {"prev_pid", "next_pid"}, NULL},
		{"sched_change", ACTION_SCHEDULE, {"prev_pid", "next_pid"}, NULL},
		{"process_state", ACTION_PROCESS, {"pid", "parent_pid", "tgid"}, "name"},
		{"proc_state", ACTION_PROCESS, {"pid", "parent_pid", "tgid"}, "name"},
		{"process_fork", ACTION_FORK, {"parent_pid", "child_pid", "child_tgid"}, NULL},
		{"proc_fork", ACTION_FORK, {"parent_pid", "child_pid", "child_tgid"}, NULL},
		{"process_free", ACTION_EXIT, {"pid"}, NULL},
		{"exec", ACTION_EXEC, {0}, "filename"},
		{"sys_call_table", ACTION_SYSCALL_NAME, {"id"}, "symbol"},
		{"softirq_vec", ACTION_SOFTIRQ_NAME, {"id"}, "symbol"},
		{"idt_table", ACTION_TRAP_NAME, {"irq"}, "symbol"},
		{"interrupt", ACTION_IRQ_NAME, {"irq_id"}, "action"},
		{"irq_line", ACTION_IRQ_NAME, {"irq_id"}, "action"},
		{"vm_map", ACTION_MAP, {"pid", "start", "end", "pgoff", "inode"}, NULL},
	};
	size_t size = strlen(m->name);

	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
		const char *ending = actions[i].ending;
		size_t length = strlen(ending);
		bool there = true;

		if (size < length || strcmp(m->name + size - length, ending) ||
		    (size > length && m->name[size - length - 1] != '_'))
			continue;
		for (int k = 0; k < LTTNG_ARGS; k++) {
			m->arg[k] = -1;
			if (actions[i].arg[k])
				set_arg(m, fields, n, actions[i].arg[k], k);
		}
		/* the first two names are required, a tgid is not */
		there = (!actions[i].arg[0] || m->arg[0] >= 0) &&
			(!actions[i].arg[1] || m->arg[1] >= 0);
		if (actions[i].string) {
			set_string_arg(m, fields, n, actions[i].string);
			there &= m->string_arg >= 0;
		}
		if (there)
			m->action = actions[i].action;
		return;
	}
}

static bool has_marker(struct lttng *l, const struct lttng_marker *m, size_t base,
		       const char *ending)
{
	char name[NAME_MOST + 16];
	size_t n = strlen(ending);

	if (base > NAME_MOST)
		return false;
	memcpy(name, m->name, base);
	memcpy(name + base, ending, n);
	return lttng_marker_known(l, m->channel, name, base + n);
}

/* Set the locations by the id at arg[3]. */
static void find_locations(struct lttng *l, struct lttng_marker *m)
{
	const uint32_t *locations;
	uint32_t n;

	if (m->arg[3] < 0 || !(locations = lttng_names_locations(l, m->names, &n)))
		return;
	m->locations = locations;
	m->nlocations = n;
	m->id_field = (uint16_t)m->arg[3];
	m->id_mask = UINT64_MAX >> (64 - 8 * m->arg_size[3]);
}

static void find_pair(struct lttng *l, struct lttng_marker *m, const struct lttng_field *fields,
		      int n)
{
	static const char *const endings[][2] = {
		{"_entry", "_exit"}, {"_begin", "_end"}, {"_start", "_end"}};
	static const struct {
		const char *part, *field;
		enum lttng_names names;
	} ids[] = {{"softirq", "softirq_id", NAMES_SOFTIRQ},
		   {"irq", "irq_id", NAMES_IRQ},
		   {"sysc", "syscall_id", NAMES_SYSCALL},
		   {"trap", "trap_id", NAMES_TRAP}};
	size_t size = strlen(m->name), base = 0;
	char key[NAME_MOST + 256];

	m->kind = KIND_INSTANT;
	m->names = NAMES_NONE;
	m->locations = &m->location;
	m->nlocations = 1;
	m->keep = UINT32_MAX;
	for (int i = 0; i < 3 && !base; i++)
		for (int leave = 0; leave < 2 && !base; leave++) {
			const char *ending = endings[i][leave];

			if (!ends_with(m->name, size, ending) ||
			    !has_marker(l, m, size - strlen(ending), endings[i][!leave]))
				continue;
			base = size - strlen(ending);
			m->kind = leave ? KIND_LEAVE : KIND_ENTER;
		}
	if (!base || base > NAME_MOST)
		return;
	memcpy(key, m->name, base);
	key[base] = '\0';
	snprintf(key + base + 1, 255, "%.250s", m->channel->name);
	m->pair = intern(&l->pairs, key, base + 1 + strlen(key + base + 1)) + 1;
	m->location = writer_location(
		l->w, &(struct location_entry){.name = writer_string(l->w, key, base)});
	m->per_cpu = contains(m->name, base, "irq") || contains(m->name, base, "tasklet") ||
		     contains(m->name, base, "nmi");
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		if (!contains(m->name, base, ids[i].part))
			continue;
		m->names = ids[i].names;
		set_arg(m, fields, n, ids[i].field, 3);
		if (m->action == ACTION_NONE && m->kind == KIND_ENTER)
			find_locations(l, m);
		/* a thread begins a system call in user mode: calls that are open have lost their
		 * ends */
		if (m->names == NAMES_SYSCALL)
			m->keep = 0;
		return;
	}
}

void lttng_marker_classify(struct lttng *l, struct lttng_marker *m,
			   const struct lttng_field *fields, int n)
{
	m->action = ACTION_NONE;
	find_action(m, fields, n);
	if (!m->pair)
		find_pair(l, m, fields, n);
}
