/*
 * lttng_marker.c - what the events of a trace hold: markers as it announces them, as types of the
 * stream
 */
#include "lttng.h"

#include <stdio.h>
#include <stdlib.h>

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
		return NULL; /* room for all files, and what else is announced is of no use */
	copy = strndup(name, n);
	if (!copy)
		return NULL;
	c = &l->channels[l->nchannels++];
	*c = (struct lttng_channel){.name = copy};
	return c;
}

static uint32_t format_number(struct lttng *l, const struct lttng_channel *c, const char *name,
			      size_t n, bool add)
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
	uint32_t number = format_number(l, c, name, n, true);
	struct lttng_text *t;
	char *copy;

	if (number == INTERN_NONE)
		return n > NAME_MOST ? 0 : -1;
	while (number >= l->formats_capacity) {
		size_t had = l->formats_capacity;

		t = array_grow(l->format_text, &l->formats_capacity, had, sizeof *t);
		if (!t)
			return -1;
		memset(t + had, 0, (l->formats_capacity - had) * sizeof *t);
		l->format_text = t;
	}
	t = &l->format_text[number];
	if (t->text)
		return 0; /* a name has one format */
	if (size > FORMAT_MOST)
		size = FORMAT_MOST;
	copy = strndup(format, size);
	if (!copy)
		return -1;
	*t = (struct lttng_text){copy, size};
	return 0;
}

static int set_id(struct lttng *l, struct lttng_channel *c, uint32_t id, const char *name, size_t n,
		  const struct lttng_sizes *sizes, uint8_t alignment)
{
	struct lttng_marker *m, **markers;
	size_t size = c->size;

	(void)l;
	if (id >= size) {
		size = id < 32 ? 64 : 2 * (size_t)id;
		markers = realloc(c->markers, size * sizeof *markers);
		if (!markers)
			return -1;
		memset(markers + c->size, 0, (size - c->size) * sizeof *markers);
		c->markers = markers;
		c->size = size;
	}
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

		if (set_id(l, c, i, core[i].name, strlen(core[i].name), &sizes,
			   l->header.alignment) ||
		    set_format(l, c, core[i].name, strlen(core[i].name), format, strlen(format)))
			return -1;
	}
	return 0;
}

static const char *string_of(const struct lttng_event *ev, int number, size_t *n)
{
	const uint8_t *p = ev->tail, *end = p + ev->tail_size, *nul;

	for (; p < end; p = nul + 1) {
		nul = memchr(p, 0, (size_t)(end - p));
		if (!nul)
			break;
		if (!number--) {
			*n = (size_t)(nul - p);
			return (const char *)p;
		}
	}
	*n = 0;
	return "";
}

int lttng_marker_take(struct lttng *l, const struct lttng_event *ev)
{
	const uint8_t *p = ev->fixed + 8;
	int first = l->one_table ? 0 : 1;
	size_t channel_size = 0, name_size, format_size;
	const char *channel = l->one_table ? "" : string_of(ev, 0, &channel_size),
		   *name = string_of(ev, first, &name_size), *format;
	struct lttng_channel *c;
	struct lttng_sizes sizes;

	if (ev->marker->action != ACTION_MARKER_ID && ev->marker->action != ACTION_MARKER_FORMAT)
		return 0;
	if (!name_size || name_size > NAME_MOST || channel_size > 255)
		return 0;
	c = lttng_channel(l, channel, channel_size);
	if (!c)
		return 0;
	if (ev->marker->action == ACTION_MARKER_FORMAT) {
		format = string_of(ev, first + 1, &format_size);
		return set_format(l, c, name, name_size, format, format_size);
	}
	if (ev->marker->fixed_size < 16)
		return 0;
	sizes = (struct lttng_sizes){p[2], p[3], p[4], p[5]};
	if (!power_of_two(sizes.integer) || !power_of_two(sizes.longer) ||
	    !power_of_two(sizes.pointer) || !power_of_two(sizes.size_t_) ||
	    (p[6] && !power_of_two(p[6])))
		return 0; /* events of this id will be unknown */
	return set_id(l, c, get_u16(p), name, name_size, &sizes, p[6]);
}

/* --- the payload --- */

static bool ends_with(const char *s, size_t n, const char *end)
{
	size_t m = strlen(end);

	return n > m && !memcmp(s + n - m, end, m);
}

static void layout(struct lttng *l, struct lttng_marker *m, const struct lttng_field *fields, int n)
{
	const struct lttng_header *h = &l->header;
	bool uncapped = h->major == 2 && (h->minor == 4 || h->minor == 5);
	unsigned largest = 1, start, at = 0;
	bool contiguous = true;

	m->fixed_size = 8;
	m->most = 8;
	m->nstrings = 0;
	for (int i = 0; i < n; i++) {
		unsigned size = fields[i].size, align = 1;

		if (m->alignment)
			align = uncapped || m->alignment > size ? size : m->alignment;
		if (!size) {
			m->steps[i] = (struct lttng_step){0, 1, false, 0};
			m->nstrings++;
			continue;
		}
		m->steps[i] = (struct lttng_step){(uint8_t)size, (uint8_t)align, fields[i].network,
						  m->fixed_size};
		m->fixed_size += (uint16_t)size;
		m->most += size + align;
		largest = align > largest ? align : largest;
		contiguous &= !(at & (align - 1)) && !(fields[i].network && size > 1);
		at += size;
	}
	m->nsteps = n;
	m->payload_align = (uint8_t)largest;
	start = largest;
	if (h->major == 1)
		start = h->alignment < h->word_size ? h->alignment : h->word_size;
	m->plain = !m->nstrings && contiguous && start >= largest ? (uint16_t)at : 0;
	m->plain_words = !m->nstrings && contiguous && start >= largest && !h->big;
	m->fixed_size = (uint16_t)align_up(m->fixed_size, 4);
}

/* Fields of the row, and what the decoder wants to know of them. */
struct wanted {
	const char *name;
	int index; /* in arg */
};

static void want(struct lttng_marker *m, const struct lttng_field *fields, int n, const char *name,
		 int index)
{
	size_t size = strlen(name);

	m->arg[index] = -1;
	for (int i = 0; i < n; i++)
		if (fields[i].size && fields[i].name && fields[i].name_size == size &&
		    !memcmp(fields[i].name, name, size)) {
			m->arg[index] = (int16_t)m->steps[i].offset;
			m->arg_size[index] = fields[i].size;
			return;
		}
}

static void want_string(struct lttng_marker *m, const struct lttng_field *fields, int n,
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

/* Events that tell of threads and names; those of 1.0 have the facility in front of their names. */
static void find_action(struct lttng_marker *m, const struct lttng_field *fields, int n)
{
	static const struct {
		const char *ending;
		enum lttng_action action;
		const char *arg[4], *string;
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
	};
	size_t size = strlen(m->name);

	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
		const char *ending = actions[i].ending;
		size_t length = strlen(ending);
		bool there = true;

		if (size < length || strcmp(m->name + size - length, ending) ||
		    (size > length && m->name[size - length - 1] != '_'))
			continue;
		for (int k = 0; k < 4; k++) {
			m->arg[k] = -1;
			if (actions[i].arg[k])
				want(m, fields, n, actions[i].arg[k], k);
		}
		/* the first two of the names are needed, a tgid is not */
		there = (!actions[i].arg[0] || m->arg[0] >= 0) &&
			(!actions[i].arg[1] || m->arg[1] >= 0);
		if (actions[i].string) {
			want_string(m, fields, n, actions[i].string);
			there &= m->string_arg >= 0;
		}
		if (there)
			m->action = actions[i].action;
		return;
	}
}

/* --- calls --- */

static bool has_marker(struct lttng *l, const struct lttng_marker *m, size_t base,
		       const char *ending)
{
	char name[NAME_MOST + 16];
	size_t n = strlen(ending);

	if (base > NAME_MOST)
		return false;
	memcpy(name, m->name, base);
	memcpy(name + base, ending, n);
	return format_number(l, m->channel, name, base + n, false) != INTERN_NONE;
}

static bool contains(const char *s, size_t n, const char *part)
{
	return memmem(s, n, part, strlen(part));
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
	m->id_field = -1;
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
	m->place =
		writer_place(l->w, &(struct place_entry){.name = writer_string(l->w, key, base)});
	m->per_cpu = contains(m->name, base, "irq") || contains(m->name, base, "tasklet") ||
		     contains(m->name, base, "nmi");
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		if (!contains(m->name, base, ids[i].part))
			continue;
		m->names = ids[i].names;
		want(m, fields, n, ids[i].field, 3);
		if (m->action == ACTION_NONE && m->kind == KIND_ENTER) {
			m->id_field = m->arg[3];
			m->id_size = m->arg_size[3];
		}
		return;
	}
}

/* --- types --- */

static uint32_t type_name(struct lttng *l, const struct lttng_field *f)
{
	char text[80];
	size_t n = f->literal_size < 64 ? f->literal_size : 64;
	char conversion = f->conversion;

	/* 1.0 prints numbers in decimal, whatever the format says */
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

static bool is_named(const struct lttng_field *f, const char *name)
{
	return f->name && f->name_size == strlen(name) && !memcmp(f->name, name, f->name_size);
}

static enum field_role field_role(const struct lttng_marker *m, const struct lttng_field *f)
{
	if (f->kind == LTTNG_STRING)
		return ends_with(m->name, strlen(m->name), "printk") && is_named(f, "string")
			       ? ROLE_MESSAGE
			       : ROLE_NONE;
	if (is_named(f, "ip") ||
	    (contains(m->name, strlen(m->name), "page_fault") && is_named(f, "address")))
		return ROLE_ADDRESS;
	if (is_named(f, "count") && contains(m->channel->name, strlen(m->channel->name), "fs"))
		return ROLE_SIZE;
	return ROLE_NONE;
}

static uint32_t declare(struct lttng *l, const struct lttng_marker *m, enum type_kind kind,
			uint16_t flags)
{
	struct lttng_field fields[LTTNG_FIELDS];
	struct field_entry entries[LTTNG_FIELDS + 1];
	struct type_entry t = {.source = l->source,
			       .name = writer_text(l->w, m->name),
			       .group = writer_text(l->w, m->channel->name),
			       .declaration = writer_string(l->w, m->format, m->format_size),
			       .kind = (uint8_t)kind,
			       .word_size = m->sizes.pointer,
			       .flags = flags | (m->nstrings ? TYPE_TAIL : 0),
			       .fixed_size = m->fixed_size,
			       .native = m->id,
			       .fields = entries};
	uint32_t strings = 0;
	int n = lttng_format_parse(m->format, m->format_size, &m->sizes, m->eight, fields,
				   LTTNG_FIELDS);

	for (int i = 0; i < n; i++) {
		const struct lttng_field *f = &fields[i];
		char number[32];

		snprintf(number, sizeof number, "field %d", i + 1);
		entries[i] = (struct field_entry){
			.name = f->name ? writer_string(l->w, f->name, f->name_size)
					: writer_text(l->w, number),
			.type_name = type_name(l, f),
			.kind = field_kind(l, f),
			.role = f->size && m->told.call == m->steps[i].offset ? ROLE_CALL
									      : field_role(m, f),
			.where = f->size   ? WHERE_FIXED
				 : strings ? WHERE_STRING
					   : WHERE_REST,
			.offset = f->size ? m->steps[i].offset : strings,
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
	m->type =
		declare(l, m, m->kind,
			(m->kind == KIND_INSTANT ? 0
			 : m->told.call		 ? TYPE_CALL_NUMBER
						 : TYPE_DEPTH) |
				(m->kind != KIND_INSTANT && m->per_cpu ? TYPE_PER_CPU : 0));
	return m->type ? 0 : -1;
}

uint32_t lttng_marker_orphan(struct lttng *l, struct lttng_marker *m)
{
	if (!m->orphan)
		m->orphan = declare(l, m, m->kind, m->per_cpu ? TYPE_PER_CPU : 0);
	return m->orphan;
}

static void resolve(struct lttng *l, struct lttng_marker *m)
{
	struct lttng_field fields[LTTNG_FIELDS];
	int n = lttng_format_parse(m->format, m->format_size, &m->sizes, m->eight, fields,
				   LTTNG_FIELDS);

	if (n < 0)
		return;
	free(m->steps);
	m->steps = calloc((size_t)n + 1, sizeof *m->steps);
	if (!m->steps)
		return;
	m->nfields = n;
	layout(l, m, fields, n);
	m->compact = n > 0 && fields[0].compact && fields[0].size;
	m->action = ACTION_NONE;
	find_action(m, fields, n);
	if (!m->pair)
		find_pair(l, m, fields, n);
	lttng_told_find(m, fields, n);
	m->usable = true;
}

void lttng_marker_reread(struct lttng *l, struct lttng_marker *m)
{
	m->eight = true;
	m->type = m->orphan = 0;
	resolve(l, m);
}

struct lttng_marker *lttng_marker_resolve(struct lttng *l, struct lttng_marker *m)
{
	uint32_t number;

	if (m->resolved)
		return NULL;
	number = format_number(l, m->channel, m->name, strlen(m->name), false);
	if (number == INTERN_NONE || number >= l->formats_capacity ||
	    !l->format_text[number].text) {
		m->resolved = l->begun;
		return NULL;
	}
	m->resolved = true;
	m->format = l->format_text[number].text;
	m->format_size = l->format_text[number].size;
	m->has_eight = memmem(m->format, m->format_size, "#8", 2) ||
		       memmem(m->format, m->format_size, "#b8", 3) ||
		       memmem(m->format, m->format_size, "#n8", 3);
	m->eight = !l->old;
	resolve(l, m);
	return m->usable ? m : NULL;
}

void lttng_markers_free(struct lttng *l)
{
	for (size_t i = 0; i < l->nchannels; i++) {
		struct lttng_channel *c = &l->channels[i];

		for (size_t k = 0; k < c->size; k++)
			if (c->markers[k]) {
				free(c->markers[k]->steps);
				free(c->markers[k]->name);
				free(c->markers[k]);
			}
		free(c->markers);
		free((char *)c->name);
	}
	free(l->channels);
	for (size_t i = 0; i < l->formats_capacity; i++)
		free(l->format_text[i].text);
	free(l->format_text);
	intern_free(&l->formats);
	intern_free(&l->pairs);
}
