/*
 * lttng_file.c - the bytes of a file of LTTng 0.x: blocks, markers and events
 *
 *     u32 id << 27 | time, then the values of the marker's format, each aligned
 *
 * is an event of 2.x in a block, whose header has the magic number, TSC and rate of the clock.
 */
#include "cmd/trdecode/lttng.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/row_filter.h"

/* --- the markers that the trace announces: channels, ids, names and formats --- */

enum { NAME_MOST = 4096, FORMAT_MOST = 64 * 1024 };

/* --- channels and ids --- */

struct lttng_channel *lttng_channel(struct lttng *l, const char *name, size_t n)
{
	struct lttng_channel *c;
	char *copy;

	for (size_t i = 0; i < l->nchannels; i++)
		if (!strncmp(l->channels[i].name, name, n) && !l->channels[i].name[n])
			return &l->channels[i];
	if (l->nchannels == l->channels_capacity)
		return NULL; /* all files have channels: no event can use another one */
	copy = strndup(name, n);
	if (!copy)
		return NULL;
	c = &l->channels[l->nchannels++];
	*c = (struct lttng_channel){.name = copy};
	return c;
}

static uint32_t lttng_file_format_number(struct lttng *l, const struct lttng_channel *c,
					 const char *name, size_t n, bool add)
{
	size_t channel = strlen(c->name) + 1;
	char key[2 * NAME_MOST];

	if (channel > NAME_MOST || n > NAME_MOST)
		return INTERN_NONE;
	memcpy(key, c->name, channel);
	memcpy(key + channel, name, n);
	return add ? intern(&l->formats, key, channel + n)
		   : intern_find(&l->formats, key, channel + n);
}

static int set_format(struct lttng *l, const struct lttng_channel *c, const char *name, size_t n,
		      const char *format, size_t size)
{
	uint32_t number = lttng_file_format_number(l, c, name, n, true);

	if (number == INTERN_NONE)
		return n > NAME_MOST ? 0 : -1;
	if (ARRAY_REACH(l->format_text, l->formats_capacity, number))
		return -1;
	if (!l->format_text[number]) /* a name has one format */
		l->format_text[number] = strndup(format, size < FORMAT_MOST ? size : FORMAT_MOST);
	return l->format_text[number] ? 0 : -1;
}

static int set_id(struct lttng_channel *c, uint32_t id, const char *name, size_t n,
		  const struct lttng_sizes *sizes, uint8_t alignment)
{
	struct lttng_marker *m;

	if (ARRAY_REACH(c->markers, c->size, id))
		return -1;
	if (c->markers[id])
		return 0; /* an id never gets another name */
	m = calloc(1, sizeof *m);
	if (!m || !(m->name = strndup(name, n))) {
		free(m);
		return -1;
	}
	m->channel = c;
	m->id = id;
	m->sizes = *sizes;
	m->alignment = alignment;
	c->markers[id] = m;
	return 0;
}

static bool power_of_two(uint64_t n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

int lttng_marker_core(struct lttng *l, struct lttng_channel *c)
{
	static const struct {
		const char *name, *format_global, *format;
	} core[] = {
		{"core_marker_id",
		 "name %s id %hu int #1u%zu long #1u%zu pointer #1u%zu size_t #1u%zu "
		 "alignment #1u%u",
		 "channel %s name %s event_id %hu int #1u%zu long #1u%zu pointer #1u%zu "
		 "size_t #1u%zu alignment #1u%u"},
		{"core_marker_format", "name %s format %s", "channel %s name %s format %s"},
		{"core_heartbeat_32", " ", NULL},
		{"core_heartbeat_64", "timestamp #8u%llu", NULL},
	};
	uint8_t word = l->header.word_size;
	struct lttng_sizes sizes = {4, word, word, word};

	for (uint32_t i = 0; i < (l->old ? 4 : 2); i++) {
		const char *format = l->one_table ? core[i].format_global : core[i].format;

		if (set_id(c, i, core[i].name, strlen(core[i].name), &sizes, l->header.alignment) ||
		    set_format(l, c, core[i].name, strlen(core[i].name), format, strlen(format)))
			return -1;
	}
	return 0;
}

int lttng_marker_take(struct lttng *l, struct lttng_cpu *cpu, const struct lttng_event *ev)
{
	const uint8_t *p = ev->fixed + 8;
	int first = l->one_table ? 0 : 1;
	size_t channel_size = 0, name_size, format_size;
	const char *channel = l->one_table ? "" : lttng_event_text(ev, 0, &channel_size),
		   *name = lttng_event_text(ev, first, &name_size), *format;
	struct lttng_channel *c;
	struct lttng_sizes sizes;

	(void)cpu;
	if (ev->marker->action != ACTION_MARKER_ID && ev->marker->action != ACTION_MARKER_FORMAT)
		return 0;
	if (!name_size || name_size > NAME_MOST || channel_size > 255)
		return 0;
	c = lttng_channel(l, channel, channel_size);
	if (!c)
		return 0;
	if (ev->marker->action == ACTION_MARKER_FORMAT) {
		format = lttng_event_text(ev, first + 1, &format_size);
		return set_format(l, c, name, name_size, format, format_size);
	}
	if (ev->marker->layout.fixed_size < 16)
		return 0;
	sizes = (struct lttng_sizes){p[2], p[3], p[4], p[5]};
	if (!power_of_two(sizes.integer) || !power_of_two(sizes.longer) ||
	    !power_of_two(sizes.pointer) || !power_of_two(sizes.size_t_) ||
	    (p[6] && !power_of_two(p[6])))
		return 0; /* events of this id will be unknown */
	return set_id(c, get_u16(p), name, name_size, &sizes, p[6]);
}

void lttng_markers_free(struct lttng *l)
{
	for (size_t i = 0; i < l->nchannels; i++) {
		struct lttng_channel *c = &l->channels[i];

		for (size_t k = 0; k < c->size; k++)
			if (c->markers[k]) {
				free(c->markers[k]->layout.steps);
				free(c->markers[k]->name);
				free(c->markers[k]);
			}
		free(c->markers);
		free((char *)c->name);
	}
	free(l->channels);
	for (size_t i = 0; i < l->formats_capacity; i++)
		free(l->format_text[i]);
	free(l->format_text);
	intern_free(&l->formats);
	intern_free(&l->pairs);
}

/* --- what a marker means, by the names of its channel, itself and its fields --- */

static bool lttng_ends_with(const char *s, size_t n, const char *end)
{
	size_t m = strlen(end);

	return n > m && !memcmp(s + n - m, end, m);
}

static bool lttng_contains(const char *s, size_t n, const char *part)
{
	return memmem(s, n, part, strlen(part));
}

static bool lttng_is_named(const struct lttng_field *f, const char *name)
{
	return f->name && f->name_size == strlen(name) && !memcmp(f->name, name, f->name_size);
}

/* Set offset and size of the next argument: the field of that name in the fixed part. */
static void set_arg(struct lttng_marker *m, const struct lttng_field *fields, int n,
		    const char *name, int index)
{
	m->arg[index] = -1;
	for (int i = 0; i < n; i++)
		if (fields[i].size && lttng_is_named(&fields[i], name)) {
			m->arg[index] = (int16_t)m->layout.steps[i].offset;
			m->arg_size[index] = fields[i].size;
			return;
		}
}

static void set_string_arg(struct lttng_marker *m, const struct lttng_field *fields, int n,
			   const char *name)
{
	int8_t number = 0;

	m->string_arg = -1;
	for (int i = 0; i < n; i++) {
		if (fields[i].size)
			continue;
		if (lttng_is_named(&fields[i], name)) {
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
	return lttng_file_format_number(l, m->channel, name, base + n, false) != INTERN_NONE;
}

/* Set the locations by the id at arg[3]. */
static void find_locations(struct lttng *l, struct lttng_marker *m)
{
	const uint32_t *locations = m->arg[3] < 0 ? NULL : lttng_names_locations(l, m->names);

	if (!locations)
		return;
	m->locations = locations;
	m->nlocations = NAMES_MOST;
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

			if (!lttng_ends_with(m->name, size, ending) ||
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
	m->per_cpu = lttng_contains(m->name, base, "irq") ||
		     lttng_contains(m->name, base, "tasklet") ||
		     lttng_contains(m->name, base, "nmi");
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		if (!lttng_contains(m->name, base, ids[i].part))
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

/* --- declares markers as types of the stream --- */

static uint32_t lttng_file_type_name(struct lttng *l, const struct lttng_field *f)
{
	char text[80];
	size_t n = f->literal_size < 64 ? f->literal_size : 64;
	char conversion = f->conversion;

	/* 1.0 prints numbers in decimal, whatever the format is */
	if (l->old) {
		n = 0;
		conversion = f->kind == LTTNG_SIGNED ? 'd' : f->kind == LTTNG_UNSIGNED ? 'u' : 'p';
	}
	if (f->kind == LTTNG_STRING)
		conversion = 's';
	else if (f->kind == LTTNG_POINTER)
		conversion = 'p', n = 0;
	if (n)
		memcpy(text, f->literal, n);
	text[n++] = '%';
	text[n++] = conversion;
	return writer_string(l->w, text, n);
}

static enum field_kind field_kind(const struct lttng *l, const struct lttng_field *f)
{
	switch (f->kind) {
	case LTTNG_SIGNED: return FIELD_INT;
	case LTTNG_POINTER: return FIELD_HEX;
	case LTTNG_STRING: return FIELD_STRING;
	}
	return !l->old && (f->conversion == 'x' || f->conversion == 'X') ? FIELD_HEX : FIELD_UINT;
}

/* Get the role of a field that trencode adds before or after those of an event. */
static enum field_role transcoded_role(const struct lttng_field *f)
{
	static const char *const row[] = {"_tid",   "_pid",	 "_order", "_comm",
					  "_depth", "_function", "_at"},
				 *const text[] = {"_arguments", "_outputs", "_return"};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		if (lttng_is_named(f, row[i]))
			return ROLE_ROW;
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		if (f->kind == LTTNG_STRING && lttng_is_named(f, text[i]))
			return ROLE_ARGUMENTS;
	return f->kind == LTTNG_STRING && f->name && f->name_size >= 6 && f->name[0] == '_' &&
			       (!memcmp(f->name + f->name_size - 6, "_enter", 6) ||
				!memcmp(f->name + f->name_size - 6, "_leave", 6))
		       ? ROLE_ROW
		       : ROLE_NONE;
}

static enum field_role field_role(const struct lttng_marker *m, const struct lttng_field *f)
{
	if (m->transcoded.tid)
		return transcoded_role(f);
	if (f->kind == LTTNG_STRING)
		return lttng_ends_with(m->name, strlen(m->name), "printk") &&
				       lttng_is_named(f, "string")
			       ? ROLE_MESSAGE
			       : ROLE_NONE;
	if (lttng_is_named(f, "ip") ||
	    (strstr(m->name, "page_fault") && lttng_is_named(f, "address")))
		return ROLE_ADDRESS;
	if (lttng_is_named(f, "count") && strstr(m->channel->name, "fs"))
		return ROLE_SIZE;
	return ROLE_NONE;
}

/* Get the length of the name without the number that trencode appends when a name has several
 * formats. */
static size_t lttng_file_plain_size(const struct lttng_marker *m)
{
	size_t n = strlen(m->name), end = n;

	while (end && m->name[end - 1] >= '0' && m->name[end - 1] <= '9')
		end--;
	return m->transcoded.tid && end > 1 && end < n && m->name[end] != '0' &&
			       m->name[end - 1] == LTTNG_ANOTHER
		       ? end - 1
		       : n;
}

static int lttng_file_hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Get the group of a marker as a string of the writer: its channel. Of markers that trencode
 * wrote, "_x2c" in the name of the channel is a byte of the group, and the number of the clock's
 * epoch after LTTNG_ANOTHER is not part of it. */
static uint32_t lttng_file_group_of(struct lttng *l, const struct lttng_marker *m)
{
	const char *at = m->channel->name;
	char text[256];
	size_t n = 0;

	if (!m->transcoded.tid)
		return writer_text(l->w, at);
	for (; *at && *at != LTTNG_ANOTHER && n < sizeof text; at++) {
		int high = -1, low = -1;

		if (at[0] == '_' && at[1] == 'x') {
			high = lttng_file_hex_digit(at[2]);
			low = high < 0 ? -1 : lttng_file_hex_digit(at[3]);
		}
		text[n++] = low < 0 ? *at : (char)(high << 4 | low);
		at += low < 0 ? 0 : 3;
	}
	return writer_string(l->w, text, n);
}

static uint32_t lttng_file_declare_type(struct lttng *l, const struct lttng_marker *m,
					enum type_kind kind, uint16_t flags)
{
	struct lttng_field fields[LTTNG_FIELDS];
	struct field_entry entries[LTTNG_FIELDS + 1];
	struct type_entry t = {.source = l->source,
			       .name = writer_string(l->w, m->name, lttng_file_plain_size(m)),
			       .group = lttng_file_group_of(l, m),
			       .declaration = writer_text(l->w, m->format),
			       .kind = (uint8_t)kind,
			       .word_size = m->sizes.pointer,
			       .flags = flags | (m->layout.nstrings ? TYPE_TAIL : 0),
			       .fixed_size = m->layout.fixed_size,
			       .native = m->id,
			       .fields = entries};
	uint32_t strings = 0;
	int n = lttng_format_parse(m->format, strlen(m->format), &m->sizes, m->eight, fields,
				   LTTNG_FIELDS);

	for (int i = 0; i < n; i++) {
		const struct lttng_field *f = &fields[i];
		char number[32];

		snprintf(number, sizeof number, "field %d", i + 1);
		entries[i] = (struct field_entry){
			.name = f->name ? writer_string(l->w, f->name, f->name_size)
					: writer_text(l->w, number),
			.type_name = lttng_file_type_name(l, f),
			.kind = field_kind(l, f),
			.role = f->size && m->transcoded.call == m->layout.steps[i].offset
					? ROLE_CALL
					: field_role(m, f),
			.where = f->size   ? WHERE_FIXED
				 : strings ? WHERE_STRING
					   : WHERE_REST,
			.offset = f->size ? m->layout.steps[i].offset : strings,
			.size = f->size ? f->size : 1};
		strings += !f->size;
	}
	entries[n] = (struct field_entry){.name = writer_text(l->w, "tsc"),
					  .kind = FIELD_UINT,
					  .role = ROLE_SOURCE_TIME,
					  .where = WHERE_FIXED,
					  .offset = 0,
					  .size = 8};
	t.nfields = (uint32_t)n + 1;
	return writer_type(l->w, &t);
}

int lttng_marker_declare(struct lttng *l, struct lttng_marker *m)
{
	uint16_t flags = 0;

	if (m->kind != KIND_INSTANT)
		flags = (m->transcoded.call		    ? TYPE_CALL_NUMBER
			 : m->transcoded.flags & TYPE_INNER ? 0
							    : TYPE_DEPTH) |
			(m->per_cpu ? TYPE_PER_CPU : 0) | m->transcoded.flags;
	m->type = lttng_file_declare_type(l, m, m->kind, flags);
	if (!m->type)
		return -1;
	/* the heartbeat of 1.0 also contains the time */
	if (!m->transcoded.tid && m->layout.plain_words && m->layout.plain <= LTTNG_QUICK_MOST &&
	    !(l->old && m->id < 8))
		m->quick =
			m->kind != KIND_INSTANT && m->action ? QUICK_ACTION
			: m->kind != KIND_INSTANT	     ? QUICK_CALL
			: m->action == ACTION_SCHEDULE && m->arg_size[0] == 4 && m->arg_size[1] == 4
				? QUICK_SCHEDULE
			: m->action ? QUICK_ACTION
				    : QUICK_INSTANT;
	return 0;
}

uint32_t lttng_marker_orphan(struct lttng *l, struct lttng_marker *m)
{
	if (!m->orphan)
		m->orphan = lttng_file_declare_type(l, m, m->kind, m->per_cpu ? TYPE_PER_CPU : 0);
	return m->orphan;
}

/* --- computes where the fields of a marker are in the payload and in the row --- */

/* Set steps and alignment of the payload by the parsed fields (ctf_metadata.c). */
static void lttng_marker_layout(const struct lttng_header *h, struct lttng_marker *m,
				const struct lttng_field *fields, int n)
{
	bool uncapped = h->major == 2 && (h->minor == 4 || h->minor == 5);
	unsigned largest = 1, start, at = 0;
	bool contiguous = true;

	m->layout.fixed_size = 8;
	m->layout.most = 8;
	m->layout.nstrings = 0;
	for (int i = 0; i < n; i++) {
		unsigned size = fields[i].size, align = 1;

		if (m->alignment)
			align = uncapped || m->alignment > size ? size : m->alignment;
		if (!size) {
			m->layout.steps[i] = (struct lttng_step){0, 1, false, 0};
			m->layout.nstrings++;
			continue;
		}
		m->layout.steps[i] = (struct lttng_step){(uint8_t)size, (uint8_t)align,
							 fields[i].network, m->layout.fixed_size};
		m->layout.fixed_size += (uint16_t)size;
		m->layout.most += size + align;
		largest = align > largest ? align : largest;
		contiguous &= !(at & (align - 1)) && !(fields[i].network && size > 1);
		at += size;
	}
	m->layout.nsteps = n;
	m->layout.align = (uint8_t)largest;
	start = largest; /* alignment of the beginning */
	if (h->major == 1)
		start = !h->alignment		      ? 1
			: h->alignment < h->word_size ? h->alignment
						      : h->word_size;
	m->layout.plain = !m->layout.nstrings && contiguous && start >= largest ? (uint16_t)at : 0;
	m->layout.plain_words = !m->layout.nstrings && contiguous && start >= largest && !h->big;
	m->layout.fixed_size = (uint16_t)align_up(m->layout.fixed_size, 4);
}

/*
 * Skips blocks by the times in their headers.
 *
 * Earlier events determine which thread runs on a CPU, and which call a leave ends. So blocks are
 * skipped only if the caller needs no more than the times of rows. Without this 'trdecode --since
 * -160ms | trstat' of t/bench/lttng.sh's trace of 1.7 s takes 1.8 times the instructions.
 */

/* Read the header of a block at offset. false: not a block of the same version as the first one. */
static bool header_at(struct lttng_file *f, uint64_t offset, struct lttng_header *h)
{
	uint8_t bytes[LTTNG_HEADER_MOST];
	uint32_t where;

	return window_peek(&f->window, offset, bytes, sizeof bytes) &&
	       !lttng_header_parse(h, bytes, sizeof bytes, &where) && h->major == f->first.major &&
	       h->minor == f->first.minor && h->big == f->first.big &&
	       h->size <= f->window.size - offset;
}

/* Get the bytes from a block to the next one. */
static uint64_t block_step(const struct lttng_file *f, const struct lttng_header *h)
{
	return f->first.major == 2 && f->first.minor >= 5 ? h->size : f->first.size;
}

/* Skip the blocks from offset on that end before the first wanted time, if only times are used.
 * Return the offset of the next block. */
static uint64_t lttng_skip_blocks(struct lttng *l, struct lttng_file *f, uint64_t offset)
{
	uint64_t first = row_filter_first(l->input), next;
	struct lttng_header h;

	if (!first || !l->input->decoding->times_only || !f->any)
		return offset;
	/* row_filter_first is unshifted, as rows are before the shift */
	for (; header_at(f, offset, &h) && !h.unfinished && h.end; offset = next) {
		int64_t end = lttng_clock_slow(&l->clock, h.end);

		next = offset + block_step(f, &h);
		if (end >= (int64_t)first || next >= f->window.size)
			break;
		/* losses of skipped blocks must not be counted for the next one */
		f->block.lost = h.lost;
		f->block.corrupt = h.corrupt;
	}
	return offset;
}

bool lttng_skip_late(struct input *in, uint64_t *latest)
{
	struct lttng *l = in->state;

	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_file *f = &l->files[i];
		uint64_t at = f->at, last = at;
		struct lttng_header h;
		int64_t time;

		if (f->done || !f->any)
			continue;
		/* all blocks have one size: the end of the file gives the last one */
		if (f->first.major == 1 || f->first.minor < 5)
			last = at + (f->window.size - at - 1) / f->first.size * f->first.size;
		else
			for (; header_at(f, at, &h); at += h.size)
				last = at;
		if (!header_at(f, last, &h))
			continue;
		time = lttng_clock_slow(&l->clock, h.begin) + l->shift;
		if (time > 0 && (uint64_t)time > *latest)
			*latest = (uint64_t)time;
	}
	return false;
}

/*
 * Finds the blocks of a tracefile.
 *
 * Damage costs at most the rest of its block: each block records where the next one begins.
 */

/* Slide the window, and read: the slow part of lttng_window. */
static const uint8_t *lttng_window_fill(struct lttng *l, struct lttng_file *f, uint64_t offset,
					size_t n, size_t *have)
{
	struct file_window *w = &f->window;
	struct error e;

	window_seek(w, offset);
	if (window_need(w, n, &e) < 0) {
		input_damage_error(l->input, &e);
		w->size = offset + window_have(w);
	}
	*have = window_have(w);
	return window_at(w);
}

/* Report damage at an offset of the file, and write a gap of count events. */
static int lttng_file_damage(struct lttng *l, struct lttng_file *f, uint64_t offset,
			     const char *what, uint64_t count)
{
	char path[512];
	struct gap gap = {.reason = GAP_DAMAGE,
			  .unit = GAP_EVENTS,
			  .count = count,
			  .offset = offset,
			  .file = f->member,
			  .message = what};
	int64_t ns;

	if (f->quiet)
		return 0;
	input_damage(l->input, tree_path(l->input->tree, f->member, path, sizeof path), offset,
		     "%s", what);
	if (!l->begun)
		return 0;
	ns = lttng_clock_ns(&l->clock, f->tsc ? f->tsc : l->clock.zero) + l->shift;
	return writer_gap(l->w, ns < 0 ? 0 : (uint64_t)ns, lttng_state_lane(l, f, l->cpus[f->cpu]),
			  &gap);
}

/* Report damage, and discard the rest of the block from position on. */
static int lttng_file_abandon(struct lttng *l, struct lttng_file *f, uint32_t position,
			      const char *what)
{
	f->position = f->used;
	/* an unfinished block may end anywhere */
	if (f->block.unfinished)
		return 0;
	if (f->cut) {
		/* reported already */
		return 0;
	}
	return lttng_file_damage(l, f, f->at + position, what, UINT64_MAX);
}

static bool same_trace(const struct lttng_header *a, const struct lttng_header *b)
{
	return a->major == b->major && a->minor == b->minor && a->big == b->big &&
	       a->word_size == b->word_size;
}

/* Returns n bytes of the file at offset, fewer at its end; NULL: error. */
static inline const uint8_t *lttng_window(struct lttng *l, struct lttng_file *f, uint64_t offset,
					  size_t n, size_t *have)
{
	uint64_t from = offset - f->window.offset;
	size_t filled = window_have(&f->window);

	if (__builtin_expect(offset >= f->window.offset && from <= filled && n <= filled - from,
			     1)) {
		*have = filled - (size_t)from;
		return window_at(&f->window) + from;
	}
	return lttng_window_fill(l, f, offset, n, have);
}

/* Search each page from *offset on for a block. */
static bool search_block(struct lttng *l, struct lttng_file *f, uint64_t *offset)
{
	struct lttng_header h;
	uint32_t where;
	size_t have;
	const uint8_t *p;

	for (; *offset < f->window.size; *offset += LTTNG_PAGE) {
		p = lttng_window(l, f, *offset, LTTNG_HEADER_MOST, &have);
		if (p && !lttng_header_parse(&h, p, have, &where) && h.major &&
		    (!f->any || same_trace(&h, &f->first)))
			return true;
	}
	return false;
}

/* Count the events lost since the last block, by the counters of the headers. */
static void lttng_file_count_lost(struct lttng_file *f, const struct lttng_header *before,
				  const struct lttng_header *now)
{
	uint32_t lost = now->lost - before->lost, blocks = now->corrupt - before->corrupt;

	/* a counter that fell was reset: another session */
	if (lost >> 31)
		lost = now->lost;
	if (blocks >> 31)
		blocks = now->corrupt;
	f->gap.lost = lost;
	f->gap.blocks = blocks;
	f->gap.pending = lost || blocks;
}

/* Find a smaller size for the first block, which extends beyond the file, by the next block. */
static bool shrink_block(struct lttng *l, struct lttng_file *f)
{
	uint64_t at = f->at + LTTNG_PAGE, before = f->at;
	uint32_t unused = f->block.size - f->block.used;

	if (before || !search_block(l, f, &at) || at - before > f->block.size)
		return false;
	f->block.size = f->first.size = (uint32_t)(at - before);
	if (f->first.major == 2 && f->first.minor >= 5)
		unused = 0;
	f->used = unused < f->block.size - f->block.length ? f->block.size - unused : f->block.size;
	return true;
}

/* Read the header of the next block from *at on; after damage search for one. 1: found; 0: no more
 * blocks, f->done is set; -1. */
static int find_header(struct lttng *l, struct lttng_file *f, uint64_t *at, struct lttng_header *h)
{
	while (!f->cut && *at < f->window.size) {
		uint32_t where;
		size_t have;
		const uint8_t *p = lttng_window(l, f, *at, LTTNG_HEADER_MOST, &have);
		const char *wrong;

		if (!p || !have)
			break;
		wrong = lttng_header_parse(h, p, have, &where);
		if (!wrong && !h->major)
			wrong = "a block of another version";
		if (!wrong && !same_trace(h, f->any ? &f->first : &l->header))
			wrong = "a block of another version, word size or byte order";
		if (!wrong)
			return 1;
		/* fewer bytes than a header after the last block: the end of a cut block */
		if (lttng_file_damage(l, f, *at + (where < have ? where : 0), wrong, UINT64_MAX))
			return -1;
		*at = (*at / LTTNG_PAGE + 1) * LTTNG_PAGE;
		if (!search_block(l, f, at))
			break;
	}
	f->done = true;
	return 0;
}

/* Correct the size of a block in a version where all blocks have the size of the first one. */
static int correct_size(struct lttng *l, struct lttng_file *f, uint64_t at, struct lttng_header *h)
{
	if ((h->major != 1 && h->minor >= 5) || h->size == f->first.size)
		return 0;
	if (lttng_file_damage(l, f, at, "a block whose size differs from the first", UINT64_MAX))
		return -1;
	h->used = h->size - h->used < f->first.size - h->length && !h->unfinished
			  ? f->first.size - (h->size - h->used)
			  : f->first.size;
	h->size = f->first.size;
	return 0;
}

static inline unsigned lttng_at_most(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Get the alignment of a datum of this size. */
static inline unsigned lttng_align_of(const struct lttng_header *h, unsigned alignment,
				      unsigned size)
{
	if (!alignment)
		return 1;
	/* 2.4 and 2.5 have no cap */
	if (h->major == 2 && (h->minor == 4 || h->minor == 5))
		return size;
	return lttng_at_most(alignment, size);
}

static void begin_block(struct lttng_file *f, uint64_t at, const struct lttng_header *h)
{
	f->any = true;
	f->at = at;
	f->block = *h;
	f->in_block = true;
	f->used = h->used;
	f->position = h->length;
	f->tsc = h->begin;
	f->headers.align = (uint8_t)lttng_align_of(h, h->alignment, 4);
	f->headers.compact = h->major == 2 && !h->unfinished;
	f->headers.old = h->major == 1 && !h->unfinished && h->heartbeat && !h->big && !f->compact;
	if (h->major == 1)
		f->headers.align = (uint8_t)lttng_at_most(h->alignment, h->word_size);
}

/* Report a block that is unfinished or extends beyond the file, and limit f->used to its events. */
static int check_end(struct lttng *l, struct lttng_file *f, const struct lttng_header *h)
{
	uint64_t left = f->window.size - f->at;

	if (f->used > left && shrink_block(l, f))
		return lttng_file_damage(l, f, f->at, "a block's size is beyond the next block",
					 UINT64_MAX);
	if (f->used > left) {
		if (lttng_file_damage(l, f, f->window.size, "the file ends inside of a block",
				      UINT64_MAX))
			return -1;
		f->used = (uint32_t)(f->window.size - f->at);
		f->cut = true;
		return 0;
	}
	if (h->unfinished) {
		if (lttng_file_damage(l, f, f->at, "a block that its writer did not finish",
				      UINT64_MAX))
			return -1;
		if (f->used > f->window.size - f->at)
			f->used = (uint32_t)(f->window.size - f->at);
		return 0;
	}
	/* the file has all its events */
	if (h->size > left && !f->quiet)
		return lttng_file_damage(l, f, f->window.size,
					 "the file ends inside a block, after its events", 0);
	return 0;
}

/* Go to the next block, or set f->done. */
static int lttng_file_block(struct lttng *l, struct lttng_file *f)
{
	struct lttng_header h, before;
	uint64_t at = f->at;
	int found;

	if (f->in_block) {
		at = lttng_skip_blocks(l, f, at + block_step(f, &f->block));
	}
	before = f->block;
	f->in_block = false;
	found = find_header(l, f, &at, &h);
	if (found <= 0)
		return found;
	if (!f->any)
		f->first = h;
	if (correct_size(l, f, at, &h))
		return -1;
	begin_block(f, at, &h);
	if (check_end(l, f, &h))
		return -1;
	if (f->used < f->position)
		f->position = f->used;
	lttng_file_count_lost(f, &before, &h);
	return 0;
}

int lttng_file_open(struct lttng *l, struct lttng_file *f, const char *member, size_t files)
{
	struct error e;

	f->member = member;
	f->next = UINT64_MAX;
	if (window_open_one(&f->window, l->input, member, files, &e)) {
		if (!f->quiet)
			input_damage_error(l->input, &e);
		f->done = true;
		return 0;
	}
	/* a CPU without events */
	if (f->window.size < 60) {
		f->done = true;
		return 0;
	}
	return lttng_file_next(l, f);
}

/* --- headers of blocks --- */

static const char *parse_1(struct lttng_header *h, const uint8_t *p, uint32_t *where)
{
	bool big = h->big;
	uint32_t lost;

	h->begin = get_uint(p, 8, big);
	h->end = get_uint(p + 16, 8, big);
	lost = (uint32_t)get_uint(p + 32, 4, big);
	h->size = (uint32_t)get_uint(p + 36, 4, big);
	h->word_size = p[56];
	h->flight = p[59];
	h->heartbeat = p[60];
	h->alignment = p[61];
	h->tsc_shift = p[62];
	h->tsc_bits = p[63];
	h->data_shift = p[64];
	h->scale = get_uint(p + 65, 4, big);
	h->frequency = get_uint(p + 69, 8, big);
	h->start_tsc = get_uint(p + 77, 8, big);
	h->seconds = get_uint(p + 93, 8, big);
	h->microseconds = get_uint(p + 101, 8, big);
	h->length = LTTNG_HEADER_1;
	h->unfinished = lost == UINT32_MAX;
	*where = 36;
	if (h->size < h->length || h->size % LTTNG_PAGE)
		return "the block's size is impossible";
	*where = 32;
	if (!h->unfinished && lost > h->size - h->length)
		return "more is unused than the block holds";
	h->used = h->unfinished ? h->size : h->size - lost;
	return NULL;
}

static const char *parse_2(struct lttng_header *h, const uint8_t *p, uint32_t *where)
{
	bool big = h->big;
	uint32_t n;

	h->begin = get_uint(p, 8, big);
	h->end = get_uint(p + 8, 8, big);
	h->word_size = p[22];
	h->alignment = p[23];
	h->seconds = get_uint(p + 24, 8, big);
	h->microseconds = get_uint(p + 32, 8, big);
	h->frequency = get_uint(p + 40, 8, big);
	h->scale = get_uint(p + 48, 4, big);
	n = (uint32_t)get_uint(p + 52, 4, big);
	h->size = (uint32_t)get_uint(p + 56, 4, big);
	h->length = h->minor == 0 ? 64 : h->minor == 1 ? 60 : LTTNG_HEADER_2;
	if (h->minor >= 2) {
		h->lost = (uint32_t)get_uint(p + 60, 4, big);
		h->corrupt = (uint32_t)get_uint(p + 64, 4, big);
	}
	*where = 56;
	if (h->size < h->length || h->size % LTTNG_PAGE)
		return "the block's size is impossible";
	h->unfinished = n == UINT32_MAX;
	*where = 52;
	if (h->unfinished)
		h->used = h->size;
	else if (n > h->size || (h->minor < 5 ? n > h->size - h->length : n < h->length))
		return "the block's length is impossible";
	else
		h->used = h->minor < 5 ? h->size - n : n;
	return NULL;
}

const char *lttng_header_parse(struct lttng_header *h, const uint8_t *data, size_t n,
			       uint32_t *where)
{
	const char *wrong;
	uint32_t magic;
	bool family_1;

	*h = (struct lttng_header){0};
	*where = 0;
	if (n < 60)
		return "too short for a block";
	for (int i = 0; i < 4; i++) {
		*where = i & 1 ? LTTNG_MAGIC_1 : LTTNG_MAGIC_2;
		magic = (uint32_t)get_uint(data + *where, 4, i & 2);
		if (magic == LTTNG_MAGIC) {
			h->big = i & 2;
			break;
		}
		if (i == 3)
			return "not an LTTng block (no magic 0x00d6b7ed)";
	}
	family_1 = *where == LTTNG_MAGIC_1;
	*where = family_1 ? 57 : 20;
	h->major = data[*where];
	h->minor = data[*where + 1];
	if (family_1 ? h->major > 1 || (h->major == 1 && h->minor) : h->major != 2 || h->minor > 6)
		return "a version of the format that is not known";
	if (!h->major)
		return NULL; /* the caller rejects the version */
	if (n < (family_1 ? LTTNG_HEADER_1 : h->minor < 2 ? 60 : LTTNG_HEADER_2))
		return "too short for a block";
	wrong = family_1 ? parse_1(h, data, where) : parse_2(h, data, where);
	if (wrong)
		return wrong;
	*where = family_1 ? 56 : 22;
	if (h->word_size != 4 && h->word_size != 8)
		return "a word size that is neither 4 nor 8";
	*where = family_1 ? 61 : 23;
	if (h->alignment > 8 || h->alignment & (h->alignment - 1))
		return "an impossible alignment";
	*where = 62;
	if (family_1 && (h->tsc_shift > 31 || h->tsc_bits > 32 || h->data_shift > 32))
		return "impossible numbers for the compact channel";
	*where = family_1 ? 16 : 8;
	if (!h->unfinished && h->end < h->begin && h->end)
		return "the block ends before it begins";
	return NULL;
}

/* --- markers with fields that contain the thread and the call of the event --- */

static int16_t lttng_number_at(const struct lttng_marker *m, const struct lttng_field *fields,
			       int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (fields[i].size == 4 && lttng_is_named(&fields[i], name))
			return (int16_t)m->layout.steps[i].offset;
	return 0;
}

/* Get the offset of _order in the payload: only numbers of four bytes precede it. 0: none. */
static int16_t order_at(const struct lttng_field *fields, int n)
{
	for (int16_t i = 0; i < n && fields[i].size == 4; i++)
		if (lttng_is_named(&fields[i], "_order"))
			return (int16_t)(4 * i);
	return 0;
}

/* Find the thread and call among the fields that trencode adds to a marker; called after all other
 * classification. */
static void lttng_transcoded_find(struct lttng_marker *m, const struct lttng_field *fields, int n)
{
	static const struct {
		const char *enter, *leave;
		uint16_t flags;
	} calls[] = {
		{"_enter", "_leave", 0},
		{"_cpu_enter", "_cpu_leave", TYPE_PER_CPU},
		{"_kernel_enter", "_kernel_leave", TYPE_KERNEL},
		{"_inner_enter", "_inner_leave", TYPE_INNER},
	};
	int8_t text = 0;

	memset(&m->transcoded, 0, sizeof m->transcoded);
	m->transcoded.comm = m->transcoded.name = -1;
	if (n < 1 || !lttng_is_named(&fields[0], "_tid") || fields[0].size != 4)
		return;
	m->transcoded.tid = lttng_number_at(m, fields, n, "_tid");
	m->transcoded.pid = lttng_number_at(m, fields, n, "_pid");
	m->transcoded.depth = lttng_number_at(m, fields, n, "_depth");
	m->transcoded.call = lttng_number_at(m, fields, n, "_call");
	m->transcoded.function = lttng_number_at(m, fields, n, "_function");
	m->transcoded.order = order_at(fields, n);
	m->action = ACTION_NONE;
	m->kind = KIND_INSTANT;
	m->names = NAMES_NONE;
	m->id_field = -1;
	m->per_cpu = false;
	for (int i = 0; i < n && text < INT8_MAX; i++) {
		if (fields[i].size)
			continue;
		if (lttng_is_named(&fields[i], "_comm"))
			m->transcoded.comm = text;
		for (size_t k = 0; k < sizeof calls / sizeof *calls &&
				   (m->transcoded.depth || m->transcoded.call);
		     k++) {
			bool leave = lttng_is_named(&fields[i], calls[k].leave);

			if (!leave && !lttng_is_named(&fields[i], calls[k].enter))
				continue;
			m->transcoded.name = text;
			m->transcoded.flags = calls[k].flags;
			m->kind = leave ? KIND_LEAVE : KIND_ENTER;
			m->per_cpu = m->transcoded.flags & TYPE_PER_CPU;
		}
		if (lttng_is_named(&fields[i], "_at"))
			m->transcoded.name = text;
		text++;
	}
}

static void parse_marker(struct lttng *l, struct lttng_marker *m)
{
	struct lttng_field fields[LTTNG_FIELDS];
	int n = lttng_format_parse(m->format, strlen(m->format), &m->sizes, m->eight, fields,
				   LTTNG_FIELDS);

	if (n < 0)
		return;
	free(m->layout.steps);
	m->layout.steps = calloc((size_t)n + 1, sizeof *m->layout.steps);
	if (!m->layout.steps)
		return;
	m->layout.nfields = n;
	lttng_marker_layout(&l->header, m, fields, n);
	m->layout.compact = n > 0 && fields[0].compact && fields[0].size;
	if (m->layout.compact)
		m->layout.plain = m->layout.plain_words = 0;
	m->action = ACTION_NONE;
	find_action(m, fields, n);
	if (!m->pair)
		find_pair(l, m, fields, n);
	lttng_transcoded_find(m, fields, n);
	m->usable = true;
}

/* Lay out the marker's payload again, with the other meaning of "#8". */
static void lttng_marker_reread(struct lttng *l, struct lttng_marker *m)
{
	m->eight = true;
	m->type = m->orphan = 0;
	m->quick = QUICK_NOT;
	parse_marker(l, m);
}

struct lttng_marker *lttng_marker_resolve(struct lttng *l, struct lttng_marker *m)
{
	uint32_t number;

	if (m->resolved)
		return NULL;
	number = lttng_file_format_number(l, m->channel, m->name, strlen(m->name), false);
	if (number == INTERN_NONE || number >= l->formats_capacity || !l->format_text[number]) {
		m->resolved = l->begun;
		return NULL;
	}
	m->resolved = true;
	m->format = l->format_text[number];
	m->has_eight =
		strstr(m->format, "#8") || strstr(m->format, "#b8") || strstr(m->format, "#n8");
	m->eight = !l->old;
	parse_marker(l, m);
	return m->usable ? m : NULL;
}

/* Returns n bytes at a position of the block, fewer at the end of its events; NULL: error. */
static inline const uint8_t *lttng_window_block(struct lttng *l, struct lttng_file *f,
						uint32_t position, size_t n, size_t *have)
{
	size_t left = f->used - position;
	const uint8_t *p = lttng_window(l, f, f->at + position, n < left ? n : left, have);

	if (*have > left)
		*have = left;
	return p;
}

/* Set f->order of the next event, whose marker has the field. -1: out of memory, or the output
 * failed. */
static int lttng_transcoded_order(struct lttng *l, struct lttng_file *f)
{
	size_t end = (size_t)f->marker->transcoded.order + 4;
	const uint8_t *p;
	size_t have;

	f->order = 0;
	if (f->payload > f->used)
		return 0;
	p = lttng_window_block(l, f, f->payload, end, &have);
	if (!p)
		return -1;
	if (have >= end)
		f->order = 1 + get_uint(p + end - 4, 4, f->block.big);
	return 0;
}

/* --- reads headers and payloads of events of every kind --- */

enum { EVENT_HEADER = 40 }; /* most bytes of the header of an event, with padding */

static const char *header_2(struct lttng_file *f, const uint8_t *p, uint32_t n, uint32_t position,
			    uint32_t *id, uint32_t *length)
{
	const struct lttng_header *h = &f->block;
	uint32_t i = lttng_pad(position, lttng_align_of(h, h->alignment, 4)), w;
	bool big = h->big;

	if (n < i + 4)
		return "an event's header runs past the end of its block";
	w = (uint32_t)get_uint(p + i, 4, big);
	i += 4;
	*id = w >> LTTNG_TIME_BITS;
	f->size = SIZE_UNKNOWN;
	f->tsc = lttng_advance(f->tsc, w & ((1u << LTTNG_TIME_BITS) - 1), LTTNG_TIME_BITS);
	if (__builtin_expect(*id < LTTNG_ID_FULL_TIME, 1)) {
		*length = i;
		return NULL;
	}
	w = *id;
	if (n < i + 16 && n < i + (w == LTTNG_ID_WIDE ? 2 : 4))
		return "an event's header runs past the end of its block";
	*id = (uint32_t)get_uint(p + i, 2, big);
	i += 2;
	if (w != LTTNG_ID_WIDE) {
		f->size = (uint32_t)get_uint(p + i, 2, big);
		i += 2;
		if (f->size == LTTNG_SIZE_WIDE) {
			if (n < i + 4)
				return "an event's header runs past the end of its block";
			f->size = (uint32_t)get_uint(p + i, 4, big);
			i += 4;
		}
	}
	if (w == LTTNG_ID_FULL_TIME) {
		i += lttng_pad(position + i, lttng_align_of(h, h->alignment, 8));
		if (n < i + 8)
			return "an event's header runs past the end of its block";
		f->tsc = get_uint(p + i, 8, big);
		i += 8;
	}
	*length = i;
	return NULL;
}

static const char *header_1(struct lttng_file *f, const uint8_t *p, uint32_t n, uint32_t position,
			    uint32_t *id, uint32_t *length)
{
	const struct lttng_header *h = &f->block;
	unsigned align = lttng_at_most(h->alignment, h->word_size), time = h->heartbeat ? 4 : 8;
	uint32_t i = lttng_pad(position, align);

	if (n < i + time + 4)
		return "an event's header runs past the end of its block";
	f->tsc = h->heartbeat ? lttng_advance(f->tsc, get_uint(p + i, 4, h->big), 32)
			      : get_uint(p + i, 8, h->big);
	*id = (uint32_t)get_uint(p + i + time, 2, h->big);
	f->size = (uint32_t)get_uint(p + i + time + 2, 2, h->big);
	if (f->size == LTTNG_SIZE_WIDE)
		f->size = SIZE_UNKNOWN;
	i += time + 4;
	*length = i + lttng_pad(position + i, align);
	return NULL;
}

static const char *header_compact(struct lttng_file *f, const uint8_t *p, uint32_t n,
				  uint32_t position, uint32_t *id, uint32_t *length)
{
	const struct lttng_header *h = &f->block;
	uint32_t i = lttng_pad(position, lttng_at_most(h->alignment, 4)), w;
	unsigned shift = h->tsc_shift;
	uint64_t rest = f->tsc & (((uint64_t)1 << shift) - 1);

	if (n < i + 4)
		return "an event's header runs past the end of its block";
	w = (uint32_t)get_uint(p + i, 4, h->big);
	f->tsc = lttng_advance(f->tsc >> shift, w & (((uint64_t)1 << h->tsc_bits) - 1), h->tsc_bits)
			 << shift |
		 rest;
	*id = (uint32_t)((w & (((uint64_t)1 << h->data_shift) - 1)) >> h->tsc_bits);
	f->data_bits = h->data_shift < 32 ? w >> h->data_shift : 0;
	f->size = SIZE_UNKNOWN;
	*length = i + 4;
	return NULL;
}

/* Skip an event that cannot be read, if its length is known. */
static int skip_unknown(struct lttng *l, struct lttng_file *f, uint32_t id)
{
	char what[80];

	snprintf(what, sizeof what, "an event of an unknown id (%u)", id);
	if (f->size == SIZE_UNKNOWN || f->size > f->used - f->payload || f->block.unfinished)
		return lttng_file_abandon(l, f, f->position, what);
	f->position = f->payload + f->size;
	return f->cut ? 0 : lttng_file_damage(l, f, f->at + f->payload, what, 1);
}

/* Read the header at f->position, in n bytes. Return NULL, or what is wrong. */
static const char *lttng_read_header(struct lttng_file *f, const uint8_t *p, uint32_t n,
				     uint32_t *id, uint32_t *length)
{
	if (f->block.major == 2)
		return header_2(f, p, n, f->position, id, length);
	if (f->compact)
		return header_compact(f, p, n, f->position, id, length);
	return header_1(f, p, n, f->position, id, length);
}

/* Take the full time from the payload of a heartbeat. false: the payload exceeds the block. */
static bool take_heartbeat(struct lttng *l, struct lttng_file *f)
{
	const uint8_t *p;
	size_t have;

	if (f->payload > f->used || f->used - f->payload < 8)
		return false;
	p = lttng_window_block(l, f, f->payload, 8, &have);
	if (p && have >= 8)
		f->tsc = get_uint(p, 8, f->block.big);
	return true;
}

int lttng_file_next(struct lttng *l, struct lttng_file *f)
{
	for (;;) {
		const char *wrong;
		const uint8_t *p;
		uint32_t id, length = 0;
		uint64_t before = f->tsc;
		size_t have;

		while (__builtin_expect(!f->in_block || f->position >= f->used, 0)) {
			if (lttng_file_block(l, f))
				return -1;
			f->order = 0;
			if (f->done || f->gap.pending) {
				f->next = f->done ? UINT64_MAX : f->tsc;
				return 0;
			}
		}
		p = lttng_window_block(l, f, f->position, EVENT_HEADER, &have);
		if (!p)
			return -1;
		if (have > UINT32_MAX)
			have = UINT32_MAX;
		wrong = lttng_read_header(f, p, (uint32_t)have, &id, &length);
		/* the memory's earlier content is older, and seems to follow a wrap */
		if (!wrong && f->block.unfinished &&
		    (f->tsc < before || f->tsc - before > (uint64_t)1 << 26))
			wrong = "";
		if (wrong) {
			f->tsc = before;
			if (lttng_file_abandon(l, f, f->position, wrong))
				return -1;
			continue;
		}
		f->payload = f->position + length;
		f->marker = lttng_marker(l, f->channel, id);
		if (__builtin_expect(!f->marker, 0)) {
			f->tsc = before;
			if (skip_unknown(l, f, id))
				return -1;
			continue;
		}
		if (f->block.major == 2) {
			f->payload += lttng_pad(f->payload, f->marker->layout.align);
		} else if (id == LTTNG_HEARTBEAT_64 && !take_heartbeat(l, f)) {
			f->tsc = before;
			if (lttng_file_abandon(l, f, f->position,
					       "a heartbeat runs past its block"))
				return -1;
			continue;
		}
		f->next = f->tsc;
		if (__builtin_expect(f->marker->transcoded.order, 0))
			return lttng_transcoded_order(l, f);
		f->order = 0;
		return 0;
	}
}

/* --- payloads --- */

/* Convert the payload at position, and return where it ends; 0: not within n bytes. */
static uint32_t take_steps(struct lttng *l, struct lttng_file *f, const uint8_t *p, size_t n,
			   uint32_t position, bool *strings)
{
	bool big = f->block.big, packed = f->compact;
	const struct lttng_marker *m = f->marker;
	size_t i = 0;
	const struct lttng_step *s = m->layout.steps, *end = s + m->layout.nsteps;

	if (f->compact && m->layout.compact) {
		uint8_t bits[8];

		put_u64(bits, f->data_bits);
		memcpy(l->fixed + s->offset, bits, s->size);
		s++;
	}
	for (; s < end; s++) {
		if (!packed)
			i += lttng_pad(position + (uint32_t)i, s->align);
		if (s->size) {
			uint8_t *to = l->fixed + s->offset;

			if (i > n || n - i < s->size)
				return 0;
			switch (s->size) {
			case 1: *to = p[i]; break;
			case 2: put_u16(to, (uint16_t)get_uint(p + i, 2, big || s->network)); break;
			case 4: put_u32(to, (uint32_t)get_uint(p + i, 4, big || s->network)); break;
			default: put_u64(to, get_uint(p + i, 8, big || s->network));
			}
			i += s->size;
		} else {
			const uint8_t *nul = i < n ? memchr(p + i, 0, n - i) : NULL;
			size_t size;

			*strings = true;
			if (!nul)
				return 0;
			size = (size_t)(nul - p) - i + 1;
			if (buffer_append(&l->tail, p + i, size))
				return UINT32_MAX;
			i += size;
		}
	}
	return position + (uint32_t)i;
}

int lttng_file_event(struct lttng *l, struct lttng_file *f, struct lttng_event *ev)
{
	struct lttng_marker *m = f->marker;
	uint32_t position = f->payload, end;
	size_t want = m->layout.most + (m->layout.nstrings ? 512 : 0), have;
	const uint8_t *p;

	ev->marker = m;
	ev->tsc = f->next;
	ev->fixed = l->fixed;
	put_u32(l->fixed + m->layout.fixed_size - 4, 0); /* padding */
	put_u64(l->fixed, f->next);
	if (position > f->used)
		return lttng_file_abandon(l, f, f->position,
					  "an event runs past the end of its block");
	if (f->size != SIZE_UNKNOWN && f->size > f->used - position)
		return lttng_file_abandon(l, f, f->position,
					  "an event's size reaches past the end of its block");
	for (;;) {
		p = lttng_window_block(l, f, position, want, &have);
		if (!p)
			return -1;
		if (m->layout.plain && !f->compact && !f->block.big && have >= m->layout.plain) {
			memcpy(l->fixed + 8, p, m->layout.plain);
			end = position + m->layout.plain;
			ev->tail = l->tail.data;
			ev->tail_size = 0;
			break;
		}
		bool strings = false;

		l->tail.size = 0;
		end = take_steps(l, f, p, have, position, &strings);
		if (end == UINT32_MAX)
			return -1;
		ev->tail = l->tail.data;
		ev->tail_size = (uint32_t)l->tail.size;
		if (end)
			break;
		if (have >= f->used - position || f->at + position + have >= f->window.size)
			return lttng_file_abandon(l, f, f->position,
						  "an event runs past the end of its block");
		want = 2 * have > 4096 ? 2 * have : 4096;
	}
	if (f->size != SIZE_UNKNOWN && __builtin_expect(f->size != end - position, 0)) {
		if (m->has_eight && !m->eight && f->block.major == 1) {
			lttng_marker_reread(l, m);
			return lttng_file_event(l, f, ev);
		}
		return lttng_file_abandon(l, f, f->position,
					  "an event's size is not that of its description");
	}
	f->position = end;
	return 1;
}

const char *lttng_event_text(const struct lttng_event *ev, int number, size_t *n)
{
	const char *p = (const char *)ev->tail, *end = p + ev->tail_size, *nul;

	for (; number >= 0 && p < end && (nul = memchr(p, 0, (size_t)(end - p))); p = nul + 1)
		if (!number--) {
			*n = (size_t)(nul - p);
			return p;
		}
	*n = 0;
	return "";
}
