#include "cmd/trdecode/input/gap_arguments.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/formats/perfetto.h"
#include "common/stream/field.h"
#include "common/stream/value.h"

static bool is_text(struct text_ref text, const char *name)
{
	return text.size == strlen(name) && !memcmp(text.text, name, text.size);
}

/* Copy a string; *to remains unchanged if the value is none. */
static void take_text(const struct value *v, char *text, size_t room, const char **to)
{
	if (v->tag != VALUE_STRING)
		return;
	snprintf(text, room, "%.*s", (int)(v->n < room ? v->n : room), (const char *)v->bytes);
	*to = text;
}

/* Read a number; in quotes, as --json-int64=string writes large ones. */
static void take_number(const struct value *v, uint64_t *number)
{
	char text[24], *end;
	uint64_t n;
	bool is_signed;

	if (v->tag == VALUE_STRING) {
		snprintf(text, sizeof text, "%.*s", (int)(v->n < 22 ? v->n : 22),
			 (const char *)v->bytes);
		n = strtoull(text, &end, 10);
		if (*text >= '0' && *text <= '9' && !*end)
			*number = n;
	} else if (value_integer(v, NULL, &n, &is_signed) && !(is_signed && n >> 63)) {
		*number = n;
	}
}

static void take_reason(const struct value *v, struct gap_arguments *a)
{
	struct text_ref text = {.text = (const char *)v->bytes, .size = (uint32_t)v->n};

	for (uint32_t reason = 0; reason <= GAP_UNREAD && v->tag == VALUE_STRING; reason++)
		if (is_text(text, gap_reason_name(reason))) {
			a->gap.reason = reason;
			a->has_reason = true;
		}
}

static void take_argument(struct gap_arguments *a, struct text_ref key, const struct value *v)
{
	struct gap *g = &a->gap;

	if (is_text(key, "reason"))
		take_reason(v, a);
	else if (is_text(key, "file"))
		take_text(v, a->file, sizeof a->file, &g->file);
	else if (is_text(key, "message"))
		take_text(v, a->message, sizeof a->message, &g->message);
	else if (is_text(key, "offset"))
		take_number(v, &g->offset);
	else if (is_text(key, PERFETTO_GAP_CPU) && v->tag == VALUE_UINT && v->number < UINT16_MAX)
		a->cpu = (int32_t)v->number;
	for (uint32_t unit = GAP_EVENTS; unit <= GAP_PACKETS; unit++)
		if (is_text(key, gap_unit_name(unit))) {
			g->unit = unit;
			take_number(v, &g->count);
		}
}

bool gap_arguments_read(struct gap_arguments *a, const struct writer *w, const uint8_t *values,
			uint32_t size)
{
	const uint8_t *end = values + size;

	*a = (struct gap_arguments){.gap = {.count = UINT64_MAX, .offset = NO_OFFSET}, .cpu = -1};
	for (const uint8_t *p = values; p < end; p += 8 + get_u32(p + 4)) {
		size_t n;
		const char *key = writer_string_of(w, get_u32(p), &n);
		struct values v;
		struct value value;

		values_begin(&v, p + 8, get_u32(p + 4));
		if (values_value(&v, &value))
			take_argument(a, (struct text_ref){.text = key, .size = (uint32_t)n},
				      &value);
	}
	return a->has_reason;
}
