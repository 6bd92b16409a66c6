/*
 * lttng_file.c - the files and the events of LTTng 0.x, as markers describe them
 */
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/lttng.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/input.h"
#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/row_filter.h"
#include "common/util/error.h"
#include "common/util/u128.h"

static void lttng_marker_layout(const struct lttng_header *trace, struct lttng_marker *m,
				const struct lttng_field *fields, int n);
static const char *lttng_header_parse(struct lttng_header *h, const uint8_t *data, size_t n,
				      uint32_t *where);

enum { NAMES_MOST = 4096 };

static int lttng_file_set_name(struct lttng *l, enum lttng_names which, const char *prefix,
			       int64_t id, const uint8_t *name, size_t n)
{
	struct lttng_names_table *t = &l->names[which];
	const uint8_t *plus = memchr(name, '+', n);

	if (plus)
		n = (size_t)(plus - name);
	if (id < 0 || id >= NAMES_MOST || !n)
		return 0;
	if (!t->name) {
		t->name = calloc(NAMES_MOST, sizeof *t->name);
		if (!t->name)
			return -1;
	}
	if (t->name[id])
		return 0;
	if (which == NAMES_IRQ)
		return asprintf(&t->name[id], "%s%d %.*s", prefix, (int)id, (int)n, name) < 0 ? -1
											      : 0;
	return asprintf(&t->name[id], "%s%.*s", prefix, (int)n, name) < 0 ? -1 : 0;
}

int lttng_names_take(struct lttng *l, const struct lttng_event *ev)
{
	static const struct {
		enum lttng_names names;
		const char *prefix;
	} tables[] = {
		[ACTION_SYSCALL_NAME] = {NAMES_SYSCALL, ""},
		[ACTION_SOFTIRQ_NAME] = {NAMES_SOFTIRQ, "softirq "},
		[ACTION_TRAP_NAME] = {NAMES_TRAP, "trap "},
		[ACTION_IRQ_NAME] = {NAMES_IRQ, "irq "},
	};
	enum lttng_action action = ev->marker->action;
	const uint8_t *name;
	size_t n;

	if (action < ACTION_SYSCALL_NAME || action > ACTION_IRQ_NAME)
		return 0;
	name = lttng_event_text(ev, ev->marker->string_arg, &n);
	return lttng_file_set_name(l, tables[action].names, tables[action].prefix, lttng_arg(ev, 0),
				   name, n);
}

const uint32_t *lttng_names_locations(struct lttng *l, enum lttng_names which, uint32_t *n)
{
	struct lttng_names_table *t = &l->names[which];

	*n = NAMES_MOST;
	if (!t->location)
		t->location = calloc(NAMES_MOST, sizeof *t->location);
	return t->location;
}

uint32_t lttng_names_location(struct lttng *l, const struct lttng_marker *m, uint64_t id)
{
	static const char *const kinds[] = {"syscall ", "softirq ", "trap ", "irq "};
	struct lttng_names_table *t;
	const char *text = NULL;
	char name[64];

	if (id >= m->nlocations || m->locations == &m->location)
		return m->location;
	t = &l->names[m->names];
	if (t->name)
		text = t->name[id];
	if (!text) {
		snprintf(name, sizeof name, "%s%u", kinds[m->names], (unsigned)id);
		text = name;
	}
	t->location[id] =
		writer_location(l->w, &(struct location_entry){.name = writer_text(l->w, text)});
	return t->location[id];
}

void lttng_names_free(struct lttng *l)
{
	for (int k = 0; k < NAMES_COUNT; k++) {
		for (size_t i = 0; l->names[k].name && i < NAMES_MOST; i++)
			free(l->names[k].name[i]);
		free(l->names[k].name);
		free(l->names[k].location);
	}
}

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

bool lttng_marker_known(struct lttng *l, const struct lttng_channel *c, const char *name, size_t n)
{
	return lttng_file_format_number(l, c, name, n, false) != INTERN_NONE;
}

static int set_format(struct lttng *l, const struct lttng_channel *c, const char *name, size_t n,
		      const char *format, size_t size)
{
	uint32_t number = lttng_file_format_number(l, c, name, n, true);
	struct lttng_text *t;
	char *copy;

	if (number == INTERN_NONE)
		return n > NAME_MOST ? 0 : -1;
	if (ARRAY_REACH(l->format_text, l->formats_capacity, number))
		return -1;
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

/* Add the core events, which are not announced. */
static int lttng_marker_core(struct lttng *l, struct lttng_channel *c)
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

static const char *lttng_file_string_of(const struct lttng_event *ev, int number, size_t *n)
{
	return (const char *)lttng_event_text(ev, number, n);
}

int lttng_marker_take(struct lttng *l, const struct lttng_event *ev)
{
	const uint8_t *p = ev->fixed + 8;
	int first = l->one_table ? 0 : 1;
	size_t channel_size = 0, name_size, format_size;
	const char *channel = l->one_table ? "" : lttng_file_string_of(ev, 0, &channel_size),
		   *name = lttng_file_string_of(ev, first, &name_size), *format;
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
		format = lttng_file_string_of(ev, first + 1, &format_size);
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

static void parse_marker(struct lttng *l, struct lttng_marker *m)
{
	struct lttng_field fields[LTTNG_FIELDS];
	int n = lttng_format_parse(m->format, m->format_size, &m->sizes, m->eight, fields,
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
	lttng_marker_classify(l, m, fields, n);
	lttng_transcoded_find(m, fields, n);
	m->usable = true;
}

void lttng_marker_reread(struct lttng *l, struct lttng_marker *m)
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
	parse_marker(l, m);
	return m->usable ? m : NULL;
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
		free(l->format_text[i].text);
	free(l->format_text);
	intern_free(&l->formats);
	intern_free(&l->pairs);
}

/* --- declares markers as types of the stream --- */

static bool lttng_file_ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !memcmp(s + n - m, end, m);
}

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

static bool lttng_file_is_named(const struct lttng_field *f, const char *name)
{
	return f->name && f->name_size == strlen(name) && !memcmp(f->name, name, f->name_size);
}

/* Return the role of a field that trencode adds before or after those of an event. */
static enum field_role transcoded_role(const struct lttng_field *f)
{
	static const char *const row[] = {"_tid",   "_pid",	 "_order", "_comm",
					  "_depth", "_function", "_at"},
				 *const text[] = {"_arguments", "_outputs", "_return"};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		if (lttng_file_is_named(f, row[i]))
			return ROLE_ROW;
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		if (f->kind == LTTNG_STRING && lttng_file_is_named(f, text[i]))
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
		return lttng_file_ends_with(m->name, "printk") && lttng_file_is_named(f, "string")
			       ? ROLE_MESSAGE
			       : ROLE_NONE;
	if (lttng_file_is_named(f, "ip") ||
	    (strstr(m->name, "page_fault") && lttng_file_is_named(f, "address")))
		return ROLE_ADDRESS;
	if (lttng_file_is_named(f, "count") && strstr(m->channel->name, "fs"))
		return ROLE_SIZE;
	return ROLE_NONE;
}

/* Return the length of the name without the number that trencode appends when a name has several
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

/* Return the group of a marker as a string of the writer: its channel. Of markers that trencode
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
			       .declaration = writer_string(l->w, m->format, m->format_size),
			       .kind = (uint8_t)kind,
			       .word_size = m->sizes.pointer,
			       .flags = flags | (m->layout.nstrings ? TYPE_TAIL : 0),
			       .fixed_size = m->layout.fixed_size,
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

/* Return the bytes from a block to the next one. */
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

const uint8_t *lttng_window_fill(struct lttng *l, struct lttng_file *f, uint64_t offset, size_t n,
				 size_t *have)
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

int lttng_file_damage(struct lttng *l, struct lttng_file *f, uint64_t offset, const char *what,
		      uint64_t count)
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
	return writer_gap(l->w, ns < 0 ? 0 : (uint64_t)ns,
			  lttng_state_lane(l, f, lttng_state_cpu(l, f->cpu)), &gap);
}

int lttng_file_abandon(struct lttng *l, struct lttng_file *f, uint32_t position, const char *what)
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

int lttng_file_block(struct lttng *l, struct lttng_file *f)
{
	struct lttng_header h, before;
	uint64_t at = f->at;
	int found;

	if (f->in_block) {
		at += f->first.major == 2 && f->first.minor >= 5 ? f->block.size : f->first.size;
		at = lttng_skip_blocks(l, f, at);
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

void lttng_file_close(struct lttng_file *f)
{
	window_close(&f->window);
}

/* --- finds the tracefiles of a trace, its CPUs and channels --- */

enum { PROBED = 64, CHANNELS_MORE = 256 };

bool lttng_file_name(const char *member, size_t *base, int32_t *cpu)
{
	const char *slash = strrchr(member, '/'), *name = slash ? slash + 1 : member,
		   *line = strrchr(name, '_');
	int64_t n = 0;

	if (!line || line == name || name[0] == '.' || !line[1])
		return false;
	for (const char *p = line + 1; *p; p++) {
		if (!isdigit((unsigned char)*p) || n > 65535)
			return false;
		n = n * 10 + (*p - '0');
	}
	if (n > 65535)
		return false;
	*base = (size_t)(line - member);
	*cpu = (int32_t)n;
	return true;
}

const char *lttng_channel_name(const char *member, size_t base, size_t *n)
{
	const char *name = memrchr(member, '/', base);

	name = name ? name + 1 : member;
	*n = base - (size_t)(name - member);
	if (*n > 7 && !memcmp(name, "flight-", 7)) {
		name += 7;
		*n -= 7;
	}
	return name;
}

static bool lttng_file_is_metadata(const char *member, size_t base)
{
	size_t n;
	const char *name = lttng_channel_name(member, base, &n);

	return (n == 8 && !memcmp(name, "metadata", n)) ||
	       (n == 10 && !memcmp(name, "facilities", n));
}

/* Bid for the header of a block. */
static enum bid bid_header(const uint8_t *data, size_t n)
{
	struct lttng_header h;
	uint32_t where;

	if (!lttng_header_parse(&h, data, n, &where))
		return BID_HEADER;
	for (int big = 0; big < 2; big++)
		for (int i = 0; i < 2; i++) {
			size_t at = i ? LTTNG_MAGIC_1 : LTTNG_MAGIC_2;

			if (n >= at + 4 && get_uint(data + at, 4, big) == LTTNG_MAGIC)
				return BID_MAGIC;
		}
	return BID_NONE;
}

enum bid lttng_probe(const struct input *in)
{
	int32_t cpu;
	size_t base, probed = 0;
	uint8_t head[LTTNG_HEADER_MOST];
	enum bid best = BID_NONE;

	if (!in->tree || (in->member && !lttng_file_name(in->member, &base, &cpu)))
		return BID_NONE;
	/* the file given by the user may be empty (no events were recorded) beside others that
	 * have a header */
	if (in->member && in->head_size)
		return bid_header(in->head, in->head_size);
	for (size_t i = 0; best < BID_HEADER && probed < PROBED && i < tree_count(in->tree); i++) {
		const char *member = tree_member(in->tree, i);
		enum bid bid;

		if (!lttng_file_name(member, &base, &cpu) || (in->member && strchr(member, '/')))
			continue;
		bid = bid_header(head, tree_peek(in->tree, member, head, sizeof head));
		best = bid > best ? bid : best;
		probed += !in->member && !bid && !lttng_file_is_metadata(member, base);
	}
	return best;
}

int lttng_find_header(struct lttng *l, struct error *e)
{
	const struct tree *tree = l->input->tree;
	int32_t cpu, lowest = INT32_MAX;
	struct lttng_header h;
	uint8_t head[LTTNG_HEADER_MOST];
	bool found = false, found_metadata = false;
	uint32_t where;
	char path[512];
	size_t base;

	for (size_t i = 0; i < tree_count(tree); i++) {
		const char *member = tree_member(tree, i);
		bool metadata;
		size_t n;

		if (!lttng_file_name(member, &base, &cpu))
			continue;
		metadata = lttng_file_is_metadata(member, base);
		if (metadata ? found_metadata && cpu > lowest : found)
			continue;
		n = tree_peek(tree, member, head, sizeof head);
		if (!n || lttng_header_parse(&h, head, n, &where))
			continue;
		if (!h.major)
			return error_set(
				e, tree_path(tree, member, path, sizeof path), where,
				"LTTng format 0.%u: its events are described by XML files "
				"beside the trace (eventdefs), which are not read; 1.0 and "
				"2.0 to 2.6 are",
				h.minor);
		l->header = h;
		if (h.major == 2)
			l->header.start_tsc = h.begin;
		found = true;
		if (metadata) {
			found_metadata = true;
			lowest = cpu;
		}
	}
	if (!found)
		return error_set(e, l->input->name, NO_OFFSET,
				 "no tracefile with a readable LTTng header");
	if (!found_metadata)
		input_damage(l->input, l->input->name, NO_OFFSET,
			     "no readable metadata or facilities file: the start of the trace and "
			     "the fields of its events are unknown");
	return 0;
}

int lttng_find_files(struct lttng *l, struct error *e)
{
	const struct tree *tree = l->input->tree;
	size_t base, n = 0;
	int32_t cpu, most = -1;

	for (size_t i = 0; i < tree_count(tree); i++)
		n += lttng_file_name(tree_member(tree, i), &base, &cpu);
	l->files = calloc(n + 1, sizeof *l->files);
	l->heap = calloc(n + 1, sizeof *l->heap);
	l->channels_capacity = n + CHANNELS_MORE;
	l->channels = calloc(l->channels_capacity, sizeof *l->channels);
	if (!l->files || !l->heap || !l->channels)
		return error_no_memory(e);
	for (size_t i = 0; i < tree_count(tree); i++) {
		const char *member = tree_member(tree, i);
		struct lttng_file *f = &l->files[l->nfiles];

		if (!lttng_file_name(member, &base, &cpu))
			continue;
		*f = (struct lttng_file){.member = member,
					 .cpu = cpu,
					 .window.fd = -1,
					 .done = true,
					 .rank = (uint32_t)l->nfiles++};
		f->metadata = lttng_file_is_metadata(member, base);
		if (cpu > most)
			most = cpu;
		/* 2.0 to 2.2 have the metadata in control/, and ids unique in the trace */
		if (f->metadata && l->header.major == 2 && l->header.minor < 3 &&
		    !strncmp(member, "control/", 8))
			l->one_table = true;
	}
	if (l->old)
		l->one_table = true;
	l->cpus = calloc((size_t)most + 2, sizeof(void *));
	if (!l->cpus)
		return error_no_memory(e);
	l->ncpus = (size_t)(most + 1);
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_cpu *c;

		cpu = l->files[i].cpu;
		if (l->cpus[cpu])
			continue;
		c = l->cpus[cpu] = calloc(1, sizeof *c);
		if (!c)
			return error_no_memory(e);
		c->cpu = cpu;
		c->idle = (struct lttng_thread){.tid = 0, .pid = 0, .ppid = -1};
		c->unknown = (struct lttng_thread){.tid = -1, .pid = -1, .ppid = -1};
		lttng_cpu_run(c, &c->unknown);
		c->stacks[1] = &c->frames;
	}
	return 0;
}

int lttng_find_channels(struct lttng *l)
{
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_file *f = &l->files[i];
		size_t base, n;
		const char *name;
		int32_t cpu;

		lttng_file_name(f->member, &base, &cpu);
		name = lttng_channel_name(f->member, base, &n);
		f->compact = l->old && l->header.heartbeat && n == 7 && !memcmp(name, "compact", n);
		f->channel = lttng_channel(l, l->one_table ? "" : name, l->one_table ? 0 : n);
		if (!f->channel)
			return -1;
		/* where ids are unique in the trace, the core events have their own */
		if ((l->one_table || f->metadata) && lttng_marker_core(l, f->channel))
			return -1;
	}
	return 0;
}

/* --- headers of blocks, and the clock that they define --- */

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

/* Parse the header in the first n bytes of a block. Return NULL, or what is wrong, with the offset
 * of the fault in *where. */
static const char *lttng_header_parse(struct lttng_header *h, const uint8_t *data, size_t n,
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

/* --- the clock --- */

/* The most ns after an anchor. */
#define REACH_NS (1ull << 60)

/* start_freq and freq_scale: a factor at first, a divisor since late in 2.2. */
static bool scale_divides(const struct lttng_header *h)
{
	if (h->major == 1 || h->minor < 2)
		return false;
	/* no machine of that time ticked slower */
	return h->minor > 2 || h->frequency / h->scale >= 1000000;
}

uint64_t lttng_clock_hertz(const struct lttng_header *h)
{
	if (!h->frequency || !h->scale)
		return 0;
	return scale_divides(h) ? h->frequency / h->scale
				: multiply_saturated(h->frequency, h->scale);
}

int64_t lttng_clock_slow(struct lttng_clock *c, uint64_t tsc)
{
	/* round down, before zero too */
	__int128 x = ((__int128)tsc - c->zero) * c->numerator, q = x / c->denominator;
	uint64_t rest;

	if (q * c->denominator > x)
		q--;
	rest = (uint64_t)(x - q * c->denominator);
	q += c->base;
	/* no real clock reaches this limit; a shift can still be added */
	if (q >= (int64_t)TIME_LIMIT)
		return (int64_t)TIME_LIMIT - 1;
	if (q <= -(int64_t)TIME_LIMIT)
		return 1 - (int64_t)TIME_LIMIT;
	if (q >= (int64_t)TIME_LIMIT - (int64_t)REACH_NS)
		c->reach = 0; /* times after an anchor would pass the limit */
	if (c->reach) {
		c->anchor = tsc;
		c->anchor_ns = (int64_t)q;
		c->anchor_rest = rest;
	}
	return (int64_t)q;
}

int lttng_clock_init(struct lttng_clock *c, const struct lttng_header *h, uint64_t zero,
		     int64_t zero_ns)
{
	*c = (struct lttng_clock){.zero = zero, .base = zero_ns};
	if (!h->frequency || !h->scale)
		return -1;
	c->numerator = 1000000000;
	if (scale_divides(h)) {
		c->numerator *= h->scale;
		c->denominator = h->frequency;
	} else if (__builtin_mul_overflow(h->frequency, h->scale, &c->denominator)) {
		return -1;
	}
	if (c->denominator > 1) {
		c->inverse = (uint64_t)(((unsigned __int128)1 << 64) / c->denominator);
		/* x = ticks * numerator + rest is at most 2 * REACH_NS, and the ns half of it */
		if (c->denominator < REACH_NS)
			c->reach = REACH_NS / c->numerator;
	}
	lttng_clock_slow(c, zero);
	return 0;
}
