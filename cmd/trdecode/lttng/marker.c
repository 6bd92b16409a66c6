/*
 * marker.c - the markers that the trace announces: channels, ids, names and formats
 */
#include "cmd/trdecode/lttng/lttng.h"

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
		return NULL; /* all files have channels: no event can use another one */
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

bool lttng_marker_known(struct lttng *l, const struct lttng_channel *c, const char *name, size_t n)
{
	return format_number(l, c, name, n, false) != INTERN_NONE;
}

static int set_format(struct lttng *l, const struct lttng_channel *c, const char *name, size_t n,
		      const char *format, size_t size)
{
	uint32_t number = format_number(l, c, name, n, true);
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

static const char *string_of(const struct lttng_event *ev, int number, size_t *n)
{
	return (const char *)lttng_event_text(ev, number, n);
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
