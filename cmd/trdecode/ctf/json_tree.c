#include "cmd/trdecode/ctf/json_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void json_tree_free(struct json_source *s)
{
	json_close(&s->reader);
	ctf_metadata_free(&s->nodes);
}

static const char *copy_text(struct json_source *s)
{
	const struct buffer *text = &s->reader.text;
	char *copy = ctf_alloc(&s->nodes, text->size + 1);

	if (copy)
		memcpy(copy, text->data, text->size);
	return copy;
}

static bool json_bad(struct json_source *s, const char *what)
{
	error_set(s->error, s->file, NO_OFFSET, "line %" PRIu32 ": %.300s", s->line, what);
	return false;
}

/* Count the lines up to the current token. */
static void count_lines(struct json_source *s, const char *text, size_t *counted)
{
	size_t to = (size_t)json_offset(&s->reader);

	for (; *counted < to; ++*counted)
		s->line += text[*counted] == '\n';
}

/* Read all tokens of s->reader. */
static bool read_nodes(struct json_source *s, const char *text, struct json_node **root)
{
	struct json_node **open[JSON_DEPTH + 1], *node;
	const char *key = NULL;
	size_t depth = 0, counted = 0;
	uint32_t nodes = 0;

	open[0] = root;
	for (;;) {
		enum json_token token = json_next(&s->reader);

		count_lines(s, text, &counted);
		switch (token) {
		case JSON_END: return true;
		case JSON_BAD: return json_bad(s, s->reader.error.what);
		case JSON_OBJECT_END:
		case JSON_ARRAY_END: depth--; continue;
		case JSON_KEY:
			key = copy_text(s);
			if (!key)
				return json_bad(s, "out of memory");
			continue;
		default: break;
		}
		if (++nodes > JSON_NODES)
			return json_bad(s, "a fragment has too many values");
		node = ctf_alloc(&s->nodes, sizeof *node);
		if (!node)
			return json_bad(s, "out of memory");
		*node = (struct json_node){.kind = token, .line = s->line, .key = key};
		key = NULL;
		*open[depth] = node;
		open[depth] = &node->next;
		if (token == JSON_OBJECT || token == JSON_ARRAY)
			open[++depth] = &node->first;
		else if (token == JSON_STRING || token == JSON_NUMBER)
			node->text = copy_text(s);
		if ((token == JSON_STRING || token == JSON_NUMBER) && !node->text)
			return json_bad(s, "out of memory");
	}
}

bool json_tree_read(struct json_source *s, const char *text, size_t n, struct json_node **root)
{
	size_t blank = 0;

	*root = NULL;
	ctf_metadata_free(&s->nodes);
	for (; blank < n && text[blank] && strchr(" \t\r\n", text[blank]); blank++)
		s->line += text[blank] == '\n';
	if (blank == n)
		return true;
	json_open_text(&s->reader, text + blank, n - blank);
	return read_nodes(s, text + blank, root);
}

const struct json_node *json_find(const struct json_node *object, const char *key)
{
	if (!object || object->kind != JSON_OBJECT)
		return NULL;
	for (const struct json_node *n = object->first; n; n = n->next)
		if (!strcmp(n->key, key))
			return n;
	return NULL;
}

const char *json_text(const struct json_node *node)
{
	return node && node->kind == JSON_STRING ? node->text : NULL;
}

bool json_integer(const struct json_node *node, uint64_t *magnitude, bool *negative)
{
	const char *p;
	char *end;

	if (!node || node->kind != JSON_NUMBER)
		return false;
	p = node->text;
	*negative = *p == '-';
	*magnitude = strtoull(p + *negative, &end, 10);
	return !*end;
}
