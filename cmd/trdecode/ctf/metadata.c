#include "cmd/trdecode/ctf/metadata.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/util/buffer.h"
#include "cmd/trdecode/ctf/parser.h"

struct ctf_allocation {
	struct ctf_allocation *next;
	max_align_t data[];
};

void *ctf_alloc(struct ctf_metadata *m, size_t size)
{
	struct ctf_allocation *a = calloc(1, sizeof *a + size);

	if (!a)
		return NULL;
	a->next = m->allocations;
	m->allocations = a;
	return a->data;
}

void ctf_metadata_free(struct ctf_metadata *m)
{
	while (m->allocations) {
		struct ctf_allocation *next = m->allocations->next;

		free(m->allocations);
		m->allocations = next;
	}
	id_cache_free(&m->named);
	free(m->places);
	m->places = NULL;
}

void **ctf_named(struct ctf_metadata *m, const void *owner, const void *name, size_t n)
{
	struct buffer key = {0};
	uint32_t *number = NULL;

	if (!buffer_append(&key, &owner, sizeof owner) && !buffer_append(&key, name, n))
		number = id_cache_number(&m->named, key.data, key.size);
	buffer_free(&key);
	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(m->places, m->places_capacity, m->nplaces))
			return NULL;
		m->places[m->nplaces++] = NULL;
		*number = (uint32_t)m->nplaces;
	}
	return &m->places[*number - 1];
}

bool ctf_env_add(struct ctf_metadata *m, struct ctf_env v)
{
	struct ctf_env *added = ctf_alloc(m, sizeof *added);
	void **place = ctf_named(m, &m->env, v.name, strlen(v.name));

	if (!added || !place)
		return false;
	*added = v;
	added->next = m->env;
	*place = m->env = added;
	return true;
}

const struct ctf_env *ctf_env_find(struct ctf_metadata *m, const char *name)
{
	void **place = ctf_named(m, &m->env, name, strlen(name));

	return place ? *place : NULL;
}

struct ctf_clock *ctf_clock_named(struct ctf_metadata *m, const char *name)
{
	void **place = ctf_named(m, &m->clocks, name, strlen(name));
	struct ctf_clock *c;
	char *copy;

	if (!place || *place)
		return place ? *place : NULL;
	c = ctf_alloc(m, sizeof *c);
	copy = ctf_alloc(m, strlen(name) + 1);
	if (!c || !copy)
		return NULL;
	c->name = strcpy(copy, name);
	c->frequency = 1000000000;
	c->next = m->clocks;
	*place = m->clocks = c;
	return c;
}

/* --- words --- */

bool ctf_wrong(struct ctf_parser *p, const char *what)
{
	const struct ctf_lexer *l = &p->lexer;

	if (p->error->what[0])
		return false;
	if (l->token == TOKEN_BAD)
		what = l->wrong;
	error_set(p->error, p->file, NO_OFFSET, "line %" PRIu32 ": %s%s%.60s%s", l->line, what,
		  l->token == TOKEN_WORD ? ", before '" : "", l->token == TOKEN_WORD ? l->text : "",
		  l->token == TOKEN_WORD ? "'" : "");
	return false;
}

bool ctf_accept(struct ctf_parser *p, int mark)
{
	if (!ctf_is_mark(&p->lexer, mark))
		return false;
	ctf_lexer_next(&p->lexer);
	return true;
}

bool ctf_accept_word(struct ctf_parser *p, const char *word)
{
	if (!ctf_is_word(&p->lexer, word))
		return false;
	ctf_lexer_next(&p->lexer);
	return true;
}

bool ctf_expect(struct ctf_parser *p, int mark)
{
	char what[32];

	if (ctf_accept(p, mark))
		return true;
	if (mark == MARK_ASSIGN_TYPE)
		snprintf(what, sizeof what, "':=' is missing");
	else
		snprintf(what, sizeof what, "'%c' is missing", mark);
	return ctf_wrong(p, what);
}

char *ctf_take_text(struct ctf_parser *p)
{
	char *copy = ctf_alloc(p->metadata, strlen(p->lexer.text) + 1);

	if (!copy) {
		ctf_wrong(p, "out of memory");
		return NULL;
	}
	strcpy(copy, p->lexer.text);
	ctf_lexer_next(&p->lexer);
	return copy;
}

char *ctf_take_path(struct ctf_parser *p)
{
	char path[4096], *copy;
	size_t n = 0;

	for (;;) {
		size_t size;

		/* other tokens have no text, or unterminated text */
		if (p->lexer.token != TOKEN_WORD) {
			ctf_wrong(p, "a name is missing");
			return NULL;
		}
		size = strlen(p->lexer.text);
		if (size >= sizeof path - n - 1) {
			ctf_wrong(p, "a path that is too long");
			return NULL;
		}
		if (n)
			path[n++] = '.';
		memcpy(path + n, p->lexer.text, size + 1);
		n += size;
		ctf_lexer_next(&p->lexer);
		if (!ctf_accept(p, '.') && !ctf_accept(p, MARK_ARROW))
			break;
	}
	copy = ctf_alloc(p->metadata, n + 1);
	if (!copy)
		ctf_wrong(p, "out of memory");
	else
		memcpy(copy, path, n + 1);
	return copy;
}

bool ctf_take_number(struct ctf_parser *p, int64_t *number)
{
	bool minus = ctf_accept(p, '-');

	if (!minus)
		ctf_accept(p, '+');
	if (p->lexer.token != TOKEN_NUMBER && p->lexer.token != TOKEN_CHARACTER)
		return ctf_wrong(p, "a number is missing");
	*number = (int64_t)(minus ? -p->lexer.number : p->lexer.number);
	ctf_lexer_next(&p->lexer);
	return true;
}

/* --- blocks --- */

/* One line of a block: "name = value" or "name := type". */
struct attribute {
	char *name;
	char *text; /* NULL: number */
	int64_t number;
	struct ctf_type *type; /* with := */
};

/* Parse one line of a block. The name may be a whole path, which begins with the block's name:
 * "stream.event.header". */
static bool parse_attribute(struct ctf_parser *p, struct attribute *a)
{
	*a = (struct attribute){0};
	if (p->lexer.token == TOKEN_STRING)
		a->name = ctf_take_text(p); /* of env */
	else
		a->name = ctf_take_path(p);
	if (!a->name)
		return false;
	if (ctf_accept(p, MARK_ASSIGN_TYPE)) {
		a->type = ctf_parse_type(p);
		return a->type && ctf_expect(p, ';');
	}
	if (!ctf_expect(p, '='))
		return false;
	if (p->lexer.token == TOKEN_STRING || p->lexer.token == TOKEN_CHARACTER)
		a->text = ctf_take_text(p);
	else if (p->lexer.token == TOKEN_WORD)
		a->text = ctf_take_path(p);
	else if (!ctf_take_number(p, &a->number))
		return false;
	/* C joins adjacent strings, although LTTng writes none */
	return !p->error->what[0] && ctf_expect(p, ';');
}

static bool parse_uuid(const char *text, uint8_t *uuid)
{
	int n = 0;

	for (; *text; text++) {
		unsigned value;
		int used;

		if (*text == '-')
			continue;
		if (n == 16 || sscanf(text, "%2x%n", &value, &used) != 1 || used != 2)
			return false;
		uuid[n++] = (uint8_t)value;
		text++;
	}
	return n == 16;
}

static bool trace_attribute(struct ctf_parser *p, void *block, const struct attribute *a)
{
	struct ctf_metadata *m = p->metadata;

	(void)block;
	if (!strcmp(a->name, "major"))
		m->major = (uint64_t)a->number;
	else if (!strcmp(a->name, "minor"))
		m->minor = (uint64_t)a->number;
	else if (!strcmp(a->name, "byte_order") && a->text)
		m->big = !strcmp(a->text, "be") || !strcmp(a->text, "network");
	else if (!strcmp(a->name, "uuid") && a->text)
		m->has_uuid = parse_uuid(a->text, m->uuid);
	else if (!strcmp(a->name, "packet.header") && a->type)
		m->packet_header = a->type;
	return true;
}

static bool stream_attribute(struct ctf_parser *p, void *block, const struct attribute *a)
{
	struct ctf_stream_class *s = block;

	(void)p;
	if (!strcmp(a->name, "id"))
		s->id = (uint64_t)a->number;
	else if (!strcmp(a->name, "packet.context"))
		s->packet_context = a->type;
	else if (!strcmp(a->name, "event.header"))
		s->header = a->type;
	else if (!strcmp(a->name, "event.context"))
		s->context = a->type;
	return true;
}

static bool event_attribute(struct ctf_parser *p, void *block, const struct attribute *a)
{
	struct ctf_event_class *c = block;

	(void)p;
	if (!strcmp(a->name, "id"))
		c->id = (uint64_t)a->number;
	else if (!strcmp(a->name, "stream_id")) {
		c->stream = (uint64_t)a->number;
		c->has_stream = true;
	} else if (!strcmp(a->name, "name") && a->text)
		c->name = a->text;
	else if (!strcmp(a->name, "model.emf.uri") && a->text)
		c->uri = a->text;
	else if (!strcmp(a->name, "context"))
		c->context = a->type;
	else if (!strcmp(a->name, "fields"))
		c->fields = a->type;
	return true;
}

static bool clock_attribute(struct ctf_parser *p, void *block, const struct attribute *a)
{
	struct ctf_clock *c = block;

	if (!strcmp(a->name, "name") && a->text)
		c->name = a->text;
	else if (!strcmp(a->name, "freq"))
		c->frequency = (uint64_t)a->number;
	else if (!strcmp(a->name, "offset_s"))
		c->offset_s = a->number;
	else if (!strcmp(a->name, "offset"))
		c->offset = a->number;
	else if (!strcmp(a->name, "absolute"))
		c->absolute = a->text ? !strcasecmp(a->text, "true") : a->number;
	if (!c->frequency)
		return ctf_wrong(p, "a clock of frequency 0");
	return true;
}

static bool env_attribute(struct ctf_parser *p, void *block, const struct attribute *a)
{
	(void)block;
	return ctf_env_add(p->metadata, (struct ctf_env){a->name, a->text, a->number, NULL}) ||
	       ctf_wrong(p, "out of memory");
}

static bool other_attribute(struct ctf_parser *p, void *block, const struct attribute *a)
{
	(void)p;
	(void)block;
	(void)a;
	return true;
}

static bool parse_block(struct ctf_parser *p, void *block,
			bool (*take)(struct ctf_parser *p, void *block, const struct attribute *a))
{
	struct ctf_name *outside = p->names;
	struct attribute a;

	if (!ctf_expect(p, '{'))
		return false;
	while (!ctf_accept(p, '}')) {
		if (ctf_at_declaration(p)) {
			if (!ctf_parse_declaration(p))
				return false;
			continue;
		}
		if (!parse_attribute(p, &a) || !take(p, block, &a))
			return false;
	}
	ctf_forget_names(p, outside);
	return ctf_expect(p, ';');
}

static bool parse_stream(struct ctf_parser *p)
{
	struct ctf_stream_class *s = ctf_alloc(p->metadata, sizeof *s);

	if (!s)
		return ctf_wrong(p, "out of memory");
	if (!parse_block(p, s, stream_attribute))
		return false;
	s->next = p->metadata->streams;
	p->metadata->streams = s;
	return true;
}

static bool parse_event(struct ctf_parser *p)
{
	struct ctf_event_class *c = ctf_alloc(p->metadata, sizeof *c);

	if (!c)
		return ctf_wrong(p, "out of memory");
	c->line = p->lexer.line;
	if (!parse_block(p, c, event_attribute))
		return false;
	if (!c->name)
		return ctf_wrong(p, "an event without a name");
	c->next = p->metadata->events;
	p->metadata->events = c;
	return true;
}

/* Parse a block "clock". If a type has named the clock already, fill in that clock. */
static bool parse_clock(struct ctf_parser *p)
{
	struct ctf_clock read = {.frequency = 1000000000}, *known, *next;

	if (!parse_block(p, &read, clock_attribute))
		return false;
	known = ctf_clock_named(p->metadata, read.name ? read.name : "");
	if (!known)
		return ctf_wrong(p, "out of memory");
	next = known->next;
	read.name = known->name;
	read.declared = true;
	*known = read;
	known->next = next;
	return true;
}

static bool parse_statement(struct ctf_parser *p)
{
	if (ctf_at_declaration(p))
		return ctf_parse_declaration(p);
	if (ctf_accept_word(p, "trace"))
		return parse_block(p, NULL, trace_attribute);
	if (ctf_accept_word(p, "stream"))
		return parse_stream(p);
	if (ctf_accept_word(p, "event"))
		return parse_event(p);
	if (ctf_accept_word(p, "clock"))
		return parse_clock(p);
	if (ctf_accept_word(p, "env"))
		return parse_block(p, NULL, env_attribute);
	if (ctf_accept_word(p, "callsite"))
		return parse_block(p, NULL, other_attribute);
	return ctf_wrong(p, "this is no statement of CTF 1.8");
}

int ctf_metadata_parse(struct ctf_metadata *m, const char *text, size_t n, const char *file,
		       struct error *e)
{
	struct ctf_parser p = {.metadata = m, .file = file, .error = e};

	*m = (struct ctf_metadata){.major = 1, .minor = 8};
	e->what[0] = '\0';
	ctf_lexer_begin(&p.lexer, text, n);
	while (p.lexer.token != TOKEN_END && !e->what[0])
		if (!ctf_accept(&p, ';'))
			parse_statement(&p);
	ctf_lexer_free(&p.lexer);
	m->complete = !e->what[0];
	return m->complete ? 0 : -1;
}
