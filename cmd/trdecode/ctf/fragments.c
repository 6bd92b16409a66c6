/*
 * fragments.c - the metadata of CTF 2: a JSON text sequence (RFC 7464) of fragments
 *
 * Each fragment is a JSON object after an RS character. The first one is the preamble. A fragment
 * that cannot be read costs what it declares.
 *
 * LTTng 2.14 writes the proposals for CTF 2: clocks have names and no ids, and their origin is
 * 1970.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd/trdecode/ctf/fragments.h"

enum { RECORD_SEPARATOR = 0x1e };

bool ctf_metadata_is_json(const char *text, size_t n)
{
	size_t i = 1;

	if (n < 2 || text[0] != RECORD_SEPARATOR)
		return false;
	while (i < n && text[i] && strchr(" \t\r\n", text[i]))
		i++;
	return i == n || text[i] == '{';
}

/* --- values --- */

bool ctf_fragment_wrong(struct ctf_fragments *f, const struct json_node *at, const char *fmt, ...)
{
	char what[300];
	va_list args;

	if (f->error->what[0])
		return false;
	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	error_set(f->error, f->file, NO_OFFSET, "line %" PRIu32 ": %s",
		  at ? at->line : f->source.line, what);
	return false;
}

bool ctf_no_extensions(struct ctf_fragments *f, const struct json_node *node)
{
	const struct json_node *group = json_find(node, "extensions"), *name;

	group = group ? group->first : NULL;
	if (!group || !group->key)
		return true;
	name = group->first;
	return ctf_fragment_wrong(f, group, "the extension '%.100s%s%.100s' is not supported",
				  group->key, name && name->key ? "/" : "",
				  name && name->key ? name->key : "");
}

const char *ctf_copy_text(struct ctf_fragments *f, const struct json_node *at, const char *text)
{
	char *copy = ctf_alloc(f->metadata, strlen(text) + 1);

	if (!copy)
		ctf_fragment_wrong(f, at, "out of memory");
	else
		strcpy(copy, text);
	return copy;
}

const char *ctf_copy_name(struct ctf_fragments *f, const struct json_node *at, const char *name)
{
	bool escaped = name[0] == '_' && name[1];
	char *copy = ctf_alloc(f->metadata, strlen(name) + 2);

	if (!copy) {
		ctf_fragment_wrong(f, at, "out of memory");
		return NULL;
	}
	copy[0] = '_';
	strcpy(copy + escaped, name);
	return copy;
}

const char *ctf_need_text(struct ctf_fragments *f, const struct json_node *object, const char *key)
{
	const struct json_node *n = json_find(object, key);

	if (!n)
		ctf_fragment_wrong(f, object, "'%s' is missing", key);
	else if (!json_text(n))
		ctf_fragment_wrong(f, n, "'%s' must be a string", key);
	return json_text(n);
}

/* Copy the text of a member into *text, if there is one. */
static bool take_text(struct ctf_fragments *f, const struct json_node *object, const char *key,
		      const char **text)
{
	if (!json_find(object, key))
		return true;
	*text = ctf_need_text(f, object, key);
	*text = *text ? ctf_copy_text(f, object, *text) : NULL;
	return *text;
}

bool ctf_take_count(struct ctf_fragments *f, const struct json_node *object, const char *key,
		    uint64_t *n)
{
	const struct json_node *node = json_find(object, key);
	bool negative;

	if (!node)
		return true;
	if (json_integer(node, n, &negative) && !negative)
		return true;
	return ctf_fragment_wrong(f, node, "'%s' must be an integer of at least 0", key);
}

bool ctf_take_alignment(struct ctf_fragments *f, const struct json_node *object, const char *key,
			uint32_t *align)
{
	uint64_t n = *align;

	if (!ctf_take_count(f, object, key, &n))
		return false;
	if (n > INT64_MAX || !ctf_is_alignment((int64_t)n))
		return ctf_fragment_wrong(f, object, "an alignment that is no power of two");
	*align = (uint32_t)n;
	return true;
}

/* Read a signed number into *n, which is left as it is if there is none. */
static bool take_signed(struct ctf_fragments *f, const struct json_node *node, int64_t *n)
{
	uint64_t magnitude;
	bool negative;

	if (!node)
		return true;
	if (!json_integer(node, &magnitude, &negative) || magnitude > INT64_MAX)
		return ctf_fragment_wrong(f, node, "'%.100s' must be an integer of 64 bits",
					  node->key ? node->key : "");
	*n = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return true;
}

/* --- fragments --- */

static bool take_uuid(struct ctf_fragments *f, const struct json_node *node)
{
	const struct json_node *list = json_find(node, "uuid"), *n;
	struct ctf_metadata *m = f->metadata;
	uint64_t byte;
	bool negative;
	int i = 0;

	if (!list)
		return true;
	for (n = list->kind == JSON_ARRAY ? list->first : NULL; n && i < 16; n = n->next) {
		if (!json_integer(n, &byte, &negative) || negative || byte > 255)
			break;
		m->uuid[i++] = (uint8_t)byte;
	}
	m->has_uuid = i == 16 && !n;
	return m->has_uuid || ctf_fragment_wrong(f, list, "a UUID must be 16 bytes");
}

static bool read_preamble(struct ctf_fragments *f, const struct json_node *node)
{
	uint64_t version = 0;

	if (f->preamble)
		return ctf_fragment_wrong(f, node, "a second preamble");
	f->preamble = true;
	if (!ctf_take_count(f, node, "version", &version))
		return false;
	f->metadata->major = version;
	if (version != 2)
		return ctf_fragment_wrong(f, node, "the version is CTF %" PRIu64, version);
	if (ctf_no_extensions(f, node))
		return take_uuid(f, node);
	/* it may change the meaning of all that follows */
	f->metadata->major = 0;
	return false;
}

static bool read_alias(struct ctf_fragments *f, const struct json_node *node)
{
	const char *name = ctf_need_text(f, node, "name");
	struct ctf_type *type = name ? ctf_field_class(f, node, "field-class") : NULL;
	void **place = type ? ctf_named(f->metadata, f, name, strlen(name)) : NULL;

	if (place)
		*place = type;
	return place || (type && ctf_fragment_wrong(f, node, "out of memory"));
}

/* Read the structure of a scope into *type, if there is one. */
static bool take_scope(struct ctf_fragments *f, const struct json_node *node, const char *key,
		       const struct ctf_type **type)
{
	const struct ctf_type *t;

	if (!json_find(node, key))
		return true;
	t = ctf_field_class(f, node, key);
	if (!t)
		return false;
	if (t->kind != CTF_STRUCT)
		return ctf_fragment_wrong(f, node, "'%s' must be a structure", key);
	*type = t;
	return true;
}

static bool add_env(struct ctf_fragments *f, const struct json_node *n)
{
	struct ctf_env v = {.name = ctf_copy_text(f, n, n->key)};

	if (!v.name)
		return false;
	if (json_text(n))
		v.text = ctf_copy_text(f, n, n->text);
	if (json_text(n) ? !v.text : !take_signed(f, n, &v.number))
		return false;
	return ctf_env_add(f->metadata, v) || ctf_fragment_wrong(f, n, "out of memory");
}

static bool read_trace(struct ctf_fragments *f, const struct json_node *node)
{
	const struct json_node *env = json_find(node, "environment");
	struct ctf_metadata *m = f->metadata;

	if (f->trace || m->streams)
		return ctf_fragment_wrong(f, node,
					  "a trace class after a trace or data stream class");
	f->trace = true;
	for (const struct json_node *n = env ? env->first : NULL; n && n->key; n = n->next)
		if (!add_env(f, n))
			return false;
	if (!take_scope(f, node, "packet-header-field-class", &m->packet_header))
		return false;
	if (m->packet_header && m->packet_header->members)
		m->big = m->packet_header->members->type->order == CTF_BIG;
	return true;
}

/* Read what the times of the clock count from. */
static bool take_origin(struct ctf_fragments *f, const struct json_node *node, struct ctf_clock *c)
{
	const struct json_node *origin = json_find(node, "origin");
	const char *parts[3], *text = json_text(origin);
	char name[300];

	c->absolute = text && !strcmp(text, "unix-epoch");
	if (!origin || text)
		return !text || c->absolute ||
		       ctf_fragment_wrong(f, origin, "'%.100s' is no origin", text);
	parts[0] = json_text(json_find(origin, "namespace"));
	parts[1] = json_text(json_find(origin, "name"));
	parts[2] = json_text(json_find(origin, "uid"));
	if (!parts[1] || !parts[2])
		return ctf_fragment_wrong(f, origin, "an origin without name or uid");
	snprintf(name, sizeof name, "%.90s%s%.90s/%.90s", parts[0] ? parts[0] : "",
		 parts[0] ? "/" : "", parts[1], parts[2]);
	c->origin = ctf_copy_text(f, origin, name);
	return c->origin;
}

/* By what a data stream class names its clock, each an owner of names (ctf_named). */
static const char *const clock_keys[] = {"default-clock-class-id", "default-clock-class-name"};

static bool add_clock(struct ctf_metadata *m, struct ctf_clock *c)
{
	const char *names[] = {c->id, c->name};

	for (int by_name = 0; by_name < 2; by_name++) {
		void **place = names[by_name] ? ctf_named(m, &clock_keys[by_name], names[by_name],
							  strlen(names[by_name]))
					      : NULL;

		if (names[by_name] && !place)
			return false;
		if (place)
			*place = c;
	}
	c->next = m->clocks;
	m->clocks = c;
	return true;
}

static bool read_clock(struct ctf_fragments *f, const struct json_node *node)
{
	struct ctf_clock *c = ctf_alloc(f->metadata, sizeof *c);
	const struct json_node *offset = json_find(node, "offset-from-origin");

	if (!c)
		return ctf_fragment_wrong(f, node, "out of memory");
	if (!offset)
		offset = json_find(node, "offset");
	if (!take_text(f, node, "id", &c->id) || !take_text(f, node, "name", &c->name) ||
	    !take_origin(f, node, c) || !ctf_take_count(f, node, "frequency", &c->frequency) ||
	    !take_signed(f, json_find(offset, "seconds"), &c->offset_s) ||
	    !take_signed(f, json_find(offset, "cycles"), &c->offset) ||
	    !ctf_take_count(f, node, "precision", &c->precision) ||
	    !ctf_take_count(f, node, "accuracy", &c->accuracy))
		return false;
	if (!c->frequency)
		return ctf_fragment_wrong(f, node, "a clock of frequency 0");
	if (!c->id && !c->name)
		return ctf_fragment_wrong(f, node, "'id' is missing");
	if (!c->name)
		c->name = c->id;
	c->has_precision = json_find(node, "precision");
	c->has_accuracy = json_find(node, "accuracy");
	c->declared = true;
	return add_clock(f->metadata, c) || ctf_fragment_wrong(f, node, "out of memory");
}

static bool take_clock(struct ctf_fragments *f, const struct json_node *node,
		       struct ctf_stream_class *s)
{
	bool by_name = !json_find(node, "default-clock-class-id");
	const char *key = clock_keys[by_name], *id;
	void **place;

	if (!json_find(node, key))
		return true;
	id = ctf_need_text(f, node, key);
	if (!id)
		return false;
	place = ctf_named(f->metadata, &clock_keys[by_name], id, strlen(id));
	s->clock = place ? *place : NULL;
	return s->clock || ctf_fragment_wrong(f, node, "the clock '%.100s' is not declared", id);
}

/* Find the place of the data stream class of that id. */
static void **stream_of(struct ctf_metadata *m, uint64_t id)
{
	return ctf_named(m, &m->streams, &id, sizeof id);
}

static bool read_stream(struct ctf_fragments *f, const struct json_node *node)
{
	struct ctf_stream_class *s = ctf_alloc(f->metadata, sizeof *s);
	void **place;

	if (!s)
		return ctf_fragment_wrong(f, node, "out of memory");
	if (!ctf_take_count(f, node, "id", &s->id) || !take_clock(f, node, s) ||
	    !take_scope(f, node, "packet-context-field-class", &s->packet_context) ||
	    !take_scope(f, node, "event-record-header-field-class", &s->header) ||
	    !take_scope(f, node, "event-record-common-context-field-class", &s->context))
		return false;
	place = stream_of(f->metadata, s->id);
	if (!place || *place)
		return ctf_fragment_wrong(
			f, node, "the data stream class %" PRIu64 " is declared twice", s->id);
	s->next = f->metadata->streams;
	*place = f->metadata->streams = s;
	return true;
}

/* Read the URI that CTF 1.8 calls model.emf.uri, from the attributes of any namespace. */
static bool take_uri(struct ctf_fragments *f, const struct json_node *node,
		     struct ctf_event_class *c)
{
	const struct json_node *attributes = json_find(node, "attributes");

	for (const struct json_node *n = attributes ? attributes->first : NULL; n; n = n->next)
		if (json_text(json_find(n, "emf-uri")) && !take_text(f, n, "emf-uri", &c->uri))
			return false;
	return true;
}

static bool read_event(struct ctf_fragments *f, const struct json_node *node)
{
	struct ctf_event_class *c = ctf_alloc(f->metadata, sizeof *c);
	void **place;
	char name[32];

	if (!c)
		return ctf_fragment_wrong(f, node, "out of memory");
	c->line = node->line;
	c->has_stream = true;
	if (!ctf_take_count(f, node, "id", &c->id) ||
	    !ctf_take_count(f, node, "data-stream-class-id", &c->stream) ||
	    !take_text(f, node, "name", &c->name) || !take_uri(f, node, c) ||
	    !take_scope(f, node, "specific-context-field-class", &c->context) ||
	    !take_scope(f, node, "payload-field-class", &c->fields))
		return false;
	place = stream_of(f->metadata, c->stream);
	if (!place || !*place)
		return ctf_fragment_wrong(
			f, node, "the data stream class %" PRIu64 " is not declared", c->stream);
	if (!c->name) {
		snprintf(name, sizeof name, "event_%" PRIu64, c->id);
		c->name = ctf_copy_text(f, node, name);
	}
	if (!c->name)
		return false;
	c->next = f->metadata->events;
	f->metadata->events = c;
	return true;
}

static bool read_fragment(struct ctf_fragments *f, const struct json_node *node)
{
	static const struct {
		const char *type;
		bool (*read)(struct ctf_fragments *f, const struct json_node *node);
	} types[] = {{"preamble", read_preamble},	 {"field-class-alias", read_alias},
		     {"trace-class", read_trace},	 {"clock-class", read_clock},
		     {"data-stream-class", read_stream}, {"event-record-class", read_event}};
	const char *type = ctf_need_text(f, node, "type");

	if (!type)
		return false;
	if (!f->preamble && strcmp(type, "preamble") != 0)
		return ctf_fragment_wrong(f, node, "the first fragment is no preamble");
	if (f->preamble && !ctf_no_extensions(f, node))
		return false;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(types[i].type, type))
			return types[i].read(f, node);
	return ctf_fragment_wrong(f, node, "'%.100s' is no type of a fragment", type);
}

int ctf_metadata_fragments(struct ctf_metadata *m, const char *text, size_t n, const char *file,
			   struct error *e)
{
	struct error error = {.what = ""};
	struct ctf_fragments f = {.metadata = m,
				  .file = file,
				  .error = &error,
				  .source = {.file = file, .line = 1, .error = &error}};
	const char *at = text + 1, *end = text + n, *next;
	struct json_node *node;

	*m = (struct ctf_metadata){.major = 2};
	e->what[0] = '\0';
	for (; at < end; at = next + 1) {
		next = memchr(at, RECORD_SEPARATOR, (size_t)(end - at));
		if (!next)
			next = end;
		error.what[0] = '\0';
		if (json_tree_read(&f.source, at, (size_t)(next - at), &node) && node)
			read_fragment(&f, node);
		if (error.what[0] && !e->what[0])
			*e = error;
		if (m->major != 2)
			break;
	}
	json_tree_free(&f.source);
	m->complete = !e->what[0];
	return m->complete ? 0 : -1;
}
