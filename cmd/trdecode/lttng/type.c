/*
 * type.c - declares markers as types of the stream
 */
#include <stdio.h>

#include "cmd/trdecode/lttng/lttng.h"

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !memcmp(s + n - m, end, m);
}

static uint32_t type_name(struct lttng *l, const struct lttng_field *f)
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

static bool is_named(const struct lttng_field *f, const char *name)
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
		if (is_named(f, row[i]))
			return ROLE_ROW;
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		if (f->kind == LTTNG_STRING && is_named(f, text[i]))
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
		return ends_with(m->name, "printk") && is_named(f, "string") ? ROLE_MESSAGE
									     : ROLE_NONE;
	if (is_named(f, "ip") || (strstr(m->name, "page_fault") && is_named(f, "address")))
		return ROLE_ADDRESS;
	if (is_named(f, "count") && strstr(m->channel->name, "fs"))
		return ROLE_SIZE;
	return ROLE_NONE;
}

/* Return the length of the name without the number that trencode appends when a name has several
 * formats. */
static size_t plain_size(const struct lttng_marker *m)
{
	size_t n = strlen(m->name), end = n;

	while (end && m->name[end - 1] >= '0' && m->name[end - 1] <= '9')
		end--;
	return m->transcoded.tid && end > 1 && end < n && m->name[end] != '0' &&
			       m->name[end - 1] == LTTNG_ANOTHER
		       ? end - 1
		       : n;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Return the group of a marker as a string of the writer: its channel. Of markers that trencode
 * wrote, "_x2c" in the name of the channel is a byte of the group, and the number of the clock's
 * epoch after LTTNG_ANOTHER is not part of it. */
static uint32_t group_of(struct lttng *l, const struct lttng_marker *m)
{
	const char *at = m->channel->name;
	char text[256];
	size_t n = 0;

	if (!m->transcoded.tid)
		return writer_text(l->w, at);
	for (; *at && *at != LTTNG_ANOTHER && n < sizeof text; at++) {
		int high = -1, low = -1;

		if (at[0] == '_' && at[1] == 'x') {
			high = hex_digit(at[2]);
			low = high < 0 ? -1 : hex_digit(at[3]);
		}
		text[n++] = low < 0 ? *at : (char)(high << 4 | low);
		at += low < 0 ? 0 : 3;
	}
	return writer_string(l->w, text, n);
}

static uint32_t declare_type(struct lttng *l, const struct lttng_marker *m, enum type_kind kind,
			     uint16_t flags)
{
	struct lttng_field fields[LTTNG_FIELDS];
	struct field_entry entries[LTTNG_FIELDS + 1];
	struct type_entry t = {.source = l->source,
			       .name = writer_string(l->w, m->name, plain_size(m)),
			       .group = group_of(l, m),
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
			.type_name = type_name(l, f),
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
	m->type = declare_type(l, m, m->kind, flags);
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
		m->orphan = declare_type(l, m, m->kind, m->per_cpu ? TYPE_PER_CPU : 0);
	return m->orphan;
}
