/*
 * ctf_json.c - the metadata of CTF 2, in JSON
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/ctf_metadata.h"
#include "common/formats/ctf.h"
#include "common/value/json.h"

/*
 * A JSON text as a tree of nodes.
 *
 * Functions that return false have filled *error.
 */

/* Most nodes of one text. */
enum { JSON_NODES = 1 << 20 };

/* A value of a JSON text. */
struct json_node {
	enum json_token kind; /* OBJECT, ARRAY, STRING, NUMBER, TRUE, FALSE or NULL */
	uint32_t line;
	const char *key;  /* of a member of an object; else NULL */
	const char *text; /* of STRING and NUMBER */
	struct json_node *first, *next;
};

/*
 * Inside the reader of the metadata of CTF 2: the fragments and the field classes in
 * them.
 *
 * Functions return false or NULL after a fault; *error then contains the message.
 */

/* The state of reading one metadata stream. */
struct ctf_fragments {
	struct ctf_metadata *metadata;
	const char *file; /* name in messages */
	uint32_t line;	  /* line of the next text */
	struct json_reader reader;
	struct ctf_metadata nodes; /* owns the nodes of the current text */
	struct error *error;	   /* of the current fragment */
	int depth;		   /* of the field class that is read */
	bool preamble, trace;
};

/* The variants of ctf_bits_class and ctf_text_class. */
enum { BITS_ARRAY, BITS_MAP, BITS_BOOLEAN, BITS_UNSIGNED, BITS_SIGNED, BITS_FLOAT };
enum { TEXT_DYNAMIC = 1, TEXT_BLOB = 2 };

static const char *copy_text(struct ctf_fragments *f)
{
	const struct buffer *text = &f->reader.text;
	char *copy = ctf_alloc(&f->nodes, text->size + 1);

	if (copy)
		memcpy(copy, text->data, text->size);
	return copy;
}

static bool ctf_json_bad(struct ctf_fragments *f, const char *what)
{
	error_set(f->error, f->file, NO_OFFSET, "line %" PRIu32 ": %.300s", f->line, what);
	return false;
}

/* Count the lines up to the current token. */
static void count_lines(struct ctf_fragments *f, const char *text, size_t *counted)
{
	size_t to = (size_t)json_offset(&f->reader);

	for (; *counted < to; ++*counted)
		f->line += text[*counted] == '\n';
}

/* Read all tokens of f->reader. */
static bool read_nodes(struct ctf_fragments *f, const char *text, struct json_node **root)
{
	struct json_node **open[JSON_DEPTH + 1], *node;
	const char *key = NULL;
	size_t depth = 0, counted = 0;
	uint32_t nodes = 0;

	open[0] = root;
	for (;;) {
		enum json_token token = json_next(&f->reader);

		count_lines(f, text, &counted);
		switch (token) {
		case JSON_END: return true;
		case JSON_BAD: return ctf_json_bad(f, f->reader.error.what);
		case JSON_OBJECT_END:
		case JSON_ARRAY_END: depth--; continue;
		case JSON_KEY:
			key = copy_text(f);
			if (!key)
				return ctf_json_bad(f, "out of memory");
			continue;
		default: break;
		}
		if (++nodes > JSON_NODES)
			return ctf_json_bad(f, "a fragment has too many values");
		node = ctf_alloc(&f->nodes, sizeof *node);
		if (!node)
			return ctf_json_bad(f, "out of memory");
		*node = (struct json_node){.kind = token, .line = f->line, .key = key};
		key = NULL;
		*open[depth] = node;
		open[depth] = &node->next;
		if (token == JSON_OBJECT || token == JSON_ARRAY)
			open[++depth] = &node->first;
		else if (token == JSON_STRING || token == JSON_NUMBER)
			node->text = copy_text(f);
		if ((token == JSON_STRING || token == JSON_NUMBER) && !node->text)
			return ctf_json_bad(f, "out of memory");
	}
}

/* Read n bytes as one JSON text. *root is valid until the next call; NULL: only white space. */
static bool json_tree_read(struct ctf_fragments *f, const char *text, size_t n,
			   struct json_node **root)
{
	size_t blank = 0;

	*root = NULL;
	ctf_metadata_free(&f->nodes);
	for (; blank < n && text[blank] && strchr(" \t\r\n", text[blank]); blank++)
		f->line += text[blank] == '\n';
	if (blank == n)
		return true;
	json_open_text(&f->reader, text + blank, n - blank);
	return read_nodes(f, text + blank, root);
}

/* Find a member of an object; NULL: none, or no object. */
static const struct json_node *json_find(const struct json_node *object, const char *key)
{
	if (!object || object->kind != JSON_OBJECT)
		return NULL;
	for (const struct json_node *n = object->first; n; n = n->next)
		if (!strcmp(n->key, key))
			return n;
	return NULL;
}

/* Get the text of a string; NULL: another kind. node may be NULL. */
static const char *json_text(const struct json_node *node)
{
	return node && node->kind == JSON_STRING ? node->text : NULL;
}

/* Read an integer with its sign. Numbers out of range become the nearest one of 64 bits. */
static bool json_integer(const struct json_node *node, uint64_t *magnitude, bool *negative)
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

/* --- values --- */

/* Fill *error for a value, unless it is filled. Returns NULL: of a function that returns a bool,
 * false. */
static void *ctf_fragment_wrong(struct ctf_fragments *f, const struct json_node *at,
				const char *fmt, ...)
{
	char what[300];
	va_list args;

	if (f->error->what[0])
		return NULL;
	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	error_set(f->error, f->file, NO_OFFSET, "line %" PRIu32 ": %s", at ? at->line : f->line,
		  what);
	return NULL;
}

/* Refuse a value that has extensions, and name the first one. */
static bool ctf_no_extensions(struct ctf_fragments *f, const struct json_node *node)
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

/* Allocate as ctf_alloc does, and fill *error when out of memory. */
static void *ctf_json_alloc(struct ctf_fragments *f, const struct json_node *at, size_t size)
{
	void *made = ctf_alloc(f->metadata, size);

	return made ? made : ctf_fragment_wrong(f, at, "out of memory");
}

/* Copy a text to the metadata. NULL: out of memory. */
static const char *ctf_copy_text(struct ctf_fragments *f, const struct json_node *at,
				 const char *text)
{
	char *copy = ctf_json_alloc(f, at, strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

/* Copy a name of a member; see ctf_metadata.h about '_'. */
static const char *ctf_copy_name(struct ctf_fragments *f, const struct json_node *at,
				 const char *name)
{
	char *copy = ctf_json_alloc(f, at, strlen(name) + 2);

	if (!copy)
		return NULL;
	copy[0] = '_';
	strcpy(copy + (name[0] == '_' && name[1]), name);
	return copy;
}

/* Find the text of a member that must be there. */
static const char *ctf_need_text(struct ctf_fragments *f, const struct json_node *object,
				 const char *key)
{
	const struct json_node *n = json_find(object, key);

	if (!n)
		ctf_fragment_wrong(f, object, "'%s' is missing", key);
	else if (!json_text(n))
		ctf_fragment_wrong(f, n, "'%s' must be a string", key);
	return json_text(n);
}

/* Copy the text of a member into *text, if there is one. */
static bool ctf_json_take_text(struct ctf_fragments *f, const struct json_node *object,
			       const char *key, const char **text)
{
	if (!json_find(object, key))
		return true;
	*text = ctf_need_text(f, object, key);
	*text = *text ? ctf_copy_text(f, object, *text) : NULL;
	return *text;
}

/* Read a number of at least 0 into *n, which is left as it is if there is none. */
static bool ctf_take_count(struct ctf_fragments *f, const struct json_node *object, const char *key,
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

/* Read an alignment likewise. */
static bool ctf_take_alignment(struct ctf_fragments *f, const struct json_node *object,
			       const char *key, uint32_t *align)
{
	uint64_t n = *align;

	if (!ctf_take_count(f, object, key, &n))
		return false;
	if (n > INT64_MAX || !ctf_is_alignment((int64_t)n))
		return ctf_fragment_wrong(f, object, "an alignment that is not a power of two");
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

/* --- ranges --- */

/* Read the first and the last number of a range. */
static bool take_bounds(struct ctf_fragments *f, const struct json_node *n, __int128 bounds[2])
{
	const struct json_node *at = n->kind == JSON_ARRAY ? n->first : NULL;
	uint64_t magnitude;
	bool negative;

	for (int i = 0; i < 2; i++, at = at->next) {
		if (!json_integer(at, &magnitude, &negative) || (i && at->next))
			return ctf_fragment_wrong(f, n, "a range must be two integers");
		bounds[i] = negative ? -(__int128)magnitude : (__int128)magnitude;
	}
	return bounds[0] <= bounds[1] ||
	       ctf_fragment_wrong(f, n, "a range that ends before it begins");
}

/* Set the integers of 64 bits that are in the range. false: none is. */
static bool clip(const __int128 bounds[2], bool is_signed, struct ctf_label *range)
{
	__int128 least = is_signed ? INT64_MIN : 0, most = is_signed ? INT64_MAX : UINT64_MAX;

	if (bounds[1] < least || bounds[0] > most)
		return false;
	range->first = (int64_t)(bounds[0] < least ? least : bounds[0]);
	range->last = (int64_t)(bounds[1] > most ? most : bounds[1]);
	return true;
}

/* Append ranges of integers to a list, clipped to the integers of the given signedness. name: their
 * label; NULL: none. */
static bool ctf_take_ranges(struct ctf_fragments *f, const struct json_node *set, bool is_signed,
			    const char *name, struct ctf_label **list)
{
	if (!set || set->kind != JSON_ARRAY || !set->first)
		return ctf_fragment_wrong(f, set, "a set of ranges must be an array of them");
	for (const struct json_node *n = set->first; n; n = n->next) {
		struct ctf_label *range = ctf_alloc(f->metadata, sizeof *range);
		__int128 bounds[2] = {0};

		if (!range)
			return ctf_fragment_wrong(f, n, "out of memory");
		if (!take_bounds(f, n, bounds))
			return false;
		/* a set without such integers chooses nothing */
		if (!clip(bounds, is_signed, range)) {
			if (name)
				continue;
			range->first = 1;
		}
		range->name = name;
		*list = range;
		list = &range->next;
	}
	return true;
}

/* --- locations --- */

static const char *const origins[SCOPES] = {"packet-header",
					    "packet-context",
					    "event-record-header",
					    "event-record-common-context",
					    "event-record-specific-context",
					    "event-record-payload"};

/* Resolve the path: names, and nulls that leave a struct. */
static bool take_path(struct ctf_fragments *f, const struct json_node *path, struct ctf_type *t)
{
	size_t n = 0;

	for (const struct json_node *p = path; p; p = p->next)
		n++;
	t->location.names = n ? ctf_alloc(f->metadata, n * sizeof *t->location.names) : NULL;
	if (!t->location.names)
		return ctf_fragment_wrong(f, path, n ? "out of memory" : "an empty path");
	for (const struct json_node *p = path; p; p = p->next) {
		if (p->kind == JSON_NULL && t->location.n)
			t->location.n--;
		else if (p->kind == JSON_NULL)
			t->location.up++;
		else if (!json_text(p))
			return ctf_fragment_wrong(f, p, "a path must be names and nulls");
		else if (!(t->location.names[t->location.n++] = ctf_copy_name(f, p, json_text(p))))
			return false;
	}
	return t->location.n || ctf_fragment_wrong(f, path, "a path that ends at a structure");
}

/* Read the location of a length or tag, which must be there. */
static bool ctf_take_location(struct ctf_fragments *f, const struct json_node *node,
			      const char *key, struct ctf_type *t)
{
	const struct json_node *n = json_find(node, key), *path, *origin;

	if (!n)
		return ctf_fragment_wrong(f, node, "'%s' is missing", key);
	/* proposals for CTF 2, which LTTng 2.14 writes, have an array that begins with the origin
	 */
	origin = n->kind == JSON_ARRAY ? n->first : json_find(n, "origin");
	path = n->kind == JSON_ARRAY ? origin : json_find(n, "path");
	path = !path ? NULL : n->kind == JSON_ARRAY ? path->next : path->first;
	t->location.scope = -1;
	for (int i = 0; origin && i < SCOPES; i++)
		if (json_text(origin) && !strcmp(origins[i], json_text(origin)))
			t->location.scope = i;
	if (origin && t->location.scope < 0)
		return ctf_fragment_wrong(f, n, "'%.100s' is not an origin",
					  json_text(origin) ? json_text(origin) : "");
	if (!path)
		return ctf_fragment_wrong(f, n, "'path' is missing");
	return take_path(f, path, t);
}

/* --- the scalar field classes of CTF 2: numbers, texts and BLOBs --- */

static struct ctf_type *ctf_new_class(struct ctf_fragments *f, const struct json_node *at,
				      enum ctf_kind kind)
{
	struct ctf_type *t = ctf_json_alloc(f, at, sizeof *t);

	if (!t)
		return NULL;
	t->kind = kind;
	t->align = 1;
	t->base = 10;
	return t;
}

/* --- properties --- */

static const struct {
	const char *name;
	enum ctf_role role;
} roles[] = {{"packet-magic-number", CTF_MAGIC},
	     {"metadata-stream-uuid", CTF_UUID},
	     {"data-stream-class-id", CTF_STREAM_ID},
	     {"data-stream-id", CTF_INSTANCE},
	     {"packet-total-length", CTF_PACKET_SIZE},
	     {"packet-content-length", CTF_CONTENT_SIZE},
	     {"default-clock-timestamp", CTF_TIME},
	     {"packet-end-default-clock-timestamp", CTF_TIME_END},
	     {CTF2_DISCARDED, CTF_DISCARDED},
	     {"packet-sequence-number", CTF_SEQUENCE_NUMBER},
	     {"event-record-class-id", CTF_ID}};

static bool take_roles(struct ctf_fragments *f, const struct json_node *node, struct ctf_type *t)
{
	const struct json_node *list = json_find(node, "roles");
	size_t i;

	if (!list)
		return true;
	if (list->kind != JSON_ARRAY)
		return ctf_fragment_wrong(f, list, "roles must be an array");
	for (const struct json_node *n = list->first; n; n = n->next) {
		const char *name = json_text(n);

		for (i = 0; name && i < sizeof roles / sizeof *roles; i++)
			if (!strcmp(roles[i].name, name))
				break;
		if (!name || i == sizeof roles / sizeof *roles)
			return ctf_fragment_wrong(f, n, "'%.100s' is not a role", name ? name : "");
		t->roles |= 1u << roles[i].role;
	}
	return true;
}

static bool ctf_json_take_base(struct ctf_fragments *f, const struct json_node *node,
			       struct ctf_type *t)
{
	uint64_t base = 10;

	if (!ctf_take_count(f, node, "preferred-display-base", &base))
		return false;
	if (base != 2 && base != 8 && base != 10 && base != 16)
		return ctf_fragment_wrong(f, node, "a base that is not 2, 8, 10 or 16");
	t->base = (uint8_t)base;
	return true;
}

/* Read the labels of an integer, which make it an enumeration. */
static bool take_mappings(struct ctf_fragments *f, const struct json_node *node, struct ctf_type *t)
{
	const struct json_node *mappings = json_find(node, "mappings");
	struct ctf_label **last = &t->labels;

	if (mappings && mappings->kind != JSON_OBJECT)
		return ctf_fragment_wrong(f, mappings, "mappings must be an object");
	for (const struct json_node *n = mappings ? mappings->first : NULL; n; n = n->next) {
		const char *name = ctf_copy_text(f, n, n->key);

		if (!name || !ctf_take_ranges(f, n, t->is_signed, name, last))
			return false;
		while (*last)
			last = &(*last)->next;
	}
	if (t->labels)
		t->kind = CTF_ENUM;
	return true;
}

static bool take_order(struct ctf_fragments *f, const struct json_node *node, struct ctf_type *t)
{
	const char *order = ctf_need_text(f, node, "byte-order"), *bits;

	if (!order)
		return false;
	if (!strcmp(order, "big-endian"))
		t->order = CTF_BIG;
	else if (!strcmp(order, "little-endian"))
		t->order = CTF_LITTLE;
	else
		return ctf_fragment_wrong(f, node, "'%.100s' is not a byte order", order);
	if (!json_find(node, "bit-order"))
		return true;
	bits = ctf_need_text(f, node, "bit-order");
	if (!bits)
		return false;
	if (strcmp(bits, "first-to-last") != 0 && strcmp(bits, "last-to-first") != 0)
		return ctf_fragment_wrong(f, node, "'%.100s' is not a bit order", bits);
	t->reversed = (t->order == CTF_BIG) == !strcmp(bits, "first-to-last");
	return true;
}

/* --- bits --- */

/* Add the label of one bit. A flag of several bits has their numbers in its labels. */
static bool add_flag(struct ctf_fragments *f, const struct json_node *at, struct ctf_label ***last,
		     unsigned bit, bool single)
{
	struct ctf_label *label = ctf_json_alloc(f, at, sizeof *label);
	char name[256];

	if (!label)
		return false;
	snprintf(name, sizeof name, "%.240s.%u", at->key, bit);
	label->name = ctf_copy_text(f, at, single ? at->key : name);
	label->first = label->last = (int64_t)(1ull << bit);
	**last = label;
	*last = &label->next;
	return label->name;
}

static bool ctf_json_take_flags(struct ctf_fragments *f, const struct json_node *node,
				struct ctf_type *t)
{
	const struct json_node *flags = json_find(node, "flags");
	struct ctf_label **last = &t->labels;
	if (!flags || flags->kind != JSON_OBJECT || !flags->first)
		return ctf_fragment_wrong(f, node, "a bit map without flags");
	for (const struct json_node *n = flags->first; n; n = n->next) {
		struct ctf_label *ranges = NULL;

		if (!ctf_take_ranges(f, n, false, NULL, &ranges))
			return false;
		for (const struct ctf_label *r = ranges; r; r = r->next)
			for (uint64_t bit = (uint64_t)r->first;
			     bit <= (uint64_t)r->last && bit < t->size; bit++)
				if (++f->metadata->parts > CTF_PARTS)
					return ctf_fragment_wrong(f, n, "too many flags");
				else if (!add_flag(f, n, &last, (unsigned)bit,
						   !ranges->next && ranges->first == ranges->last))
					return false;
	}
	t->kind = CTF_ENUM;
	t->flags = true;
	return true;
}

/* Make an enumeration of 0 and 1. */
static bool set_boolean(struct ctf_fragments *f, const struct json_node *node, struct ctf_type *t)
{
	static const char *const names[] = {"true", "false"};

	for (int i = 0; i < 2; i++) {
		struct ctf_label *label = ctf_alloc(f->metadata, sizeof *label);

		if (!label)
			return ctf_fragment_wrong(f, node, "out of memory");
		*label = (struct ctf_label){names[i], !i, !i, t->labels};
		t->labels = label;
	}
	t->kind = CTF_ENUM;
	t->boolean = true;
	return true;
}

/* Read a field class of one kind; variant distinguishes the kinds that share a function. */
static struct ctf_type *ctf_bits_class(struct ctf_fragments *f, const struct json_node *node,
				       int variant)
{
	struct ctf_type *t =
		ctf_new_class(f, node, variant == BITS_FLOAT ? CTF_FLOAT : CTF_INTEGER);
	uint64_t length = 0;
	bool ok;

	if (!t || !ctf_take_count(f, node, "length", &length) ||
	    !ctf_take_alignment(f, node, "alignment", &t->align) || !take_order(f, node, t) ||
	    !take_roles(f, node, t))
		return NULL;
	if (variant == BITS_FLOAT ? length != 32 && length != 64 : !length || length > 64)
		return ctf_fragment_wrong(
			f, node, "a %s, which trutils does not read",
			variant == BITS_FLOAT ? "floating-point number of neither 32 nor 64 bits"
					      : "field of 0 or more than 64 bits");
	t->size = (uint8_t)length;
	t->is_signed = variant == BITS_SIGNED;
	switch (variant) {
	case BITS_ARRAY: t->base = 16; return t;
	case BITS_MAP: ok = ctf_json_take_flags(f, node, t); break;
	case BITS_BOOLEAN: ok = set_boolean(f, node, t); break;
	case BITS_FLOAT: return t;
	default: ok = ctf_json_take_base(f, node, t) && take_mappings(f, node, t); break;
	}
	return ok ? t : NULL;
}

static struct ctf_type *ctf_varying_class(struct ctf_fragments *f, const struct json_node *node,
					  int is_signed)
{
	struct ctf_type *t = ctf_new_class(f, node, CTF_INTEGER);

	if (!t)
		return NULL;
	t->varying = true;
	t->size = 64;
	t->align = 8;
	t->is_signed = is_signed;
	return ctf_json_take_base(f, node, t) && take_mappings(f, node, t) && take_roles(f, node, t)
		       ? t
		       : NULL;
}

/* --- texts and BLOBs --- */

static bool take_encoding(struct ctf_fragments *f, const struct json_node *node, struct ctf_type *t)
{
	static const struct {
		const char *name;
		uint8_t unit;
		enum ctf_order order;
	} encodings[] = {{"utf-8", 0, CTF_NATIVE},
			 {"utf-16be", 2, CTF_BIG},
			 {"utf-16le", 2, CTF_LITTLE},
			 {"utf-32be", 4, CTF_BIG},
			 {"utf-32le", 4, CTF_LITTLE}};
	const char *name;

	if (!json_find(node, "encoding"))
		return true;
	name = ctf_need_text(f, node, "encoding");
	for (size_t i = 0; name && i < sizeof encodings / sizeof *encodings; i++)
		if (!strcmp(encodings[i].name, name)) {
			t->unit = encodings[i].unit;
			t->order = encodings[i].order;
			return true;
		}
	return ctf_fragment_wrong(f, node, "'%.100s' is not an encoding", name ? name : "");
}

static struct ctf_type *ctf_string_class(struct ctf_fragments *f, const struct json_node *node,
					 int dummy)
{
	struct ctf_type *t = ctf_new_class(f, node, CTF_STRING);

	(void)dummy;
	if (!t || !take_encoding(f, node, t))
		return NULL;
	t->align = 8;
	return t;
}

/* Read a text or BLOB of so many bytes: an array of bytes, as in version 1.8. */
static struct ctf_type *ctf_text_class(struct ctf_fragments *f, const struct json_node *node,
				       int variant)
{
	struct ctf_type *t =
		ctf_new_class(f, node, variant & TEXT_DYNAMIC ? CTF_SEQUENCE : CTF_ARRAY);
	struct ctf_type *byte = ctf_new_class(f, node, CTF_INTEGER);

	if (!t || !byte || !take_roles(f, node, t))
		return NULL;
	if (!(variant & TEXT_BLOB) && !take_encoding(f, node, t))
		return NULL;
	if (variant & TEXT_DYNAMIC ? !ctf_take_location(f, node, "length-field-location", t)
				   : !ctf_take_count(f, node, "length", &t->count))
		return NULL;
	if (!(variant & TEXT_DYNAMIC) && !json_find(node, "length"))
		return ctf_fragment_wrong(f, node, "'length' is missing");
	byte->size = byte->align = 8;
	byte->text = !(variant & TEXT_BLOB);
	byte->blob = variant & TEXT_BLOB;
	if (byte->blob)
		byte->base = 16;
	t->align = 8;
	t->element = byte;
	return t;
}

/* --- field classes that contain others --- */

static struct ctf_type *ctf_field_class(struct ctf_fragments *f, const struct json_node *object,
					const char *key);

/* Append a member or option. node: has its field class, and its ranges if it has any. */
static bool ctf_json_add_member(struct ctf_fragments *f, const struct json_node *node,
				const char *name, struct ctf_member ***last)
{
	struct ctf_member *m = ctf_json_alloc(f, node, sizeof *m);
	const struct json_node *ranges = json_find(node, "selector-field-ranges");

	if (!m)
		return false;
	m->name = ctf_copy_name(f, node, name);
	m->type = m->name ? ctf_field_class(f, node, "field-class") : NULL;
	if (!m->type)
		return false;
	/* whether the tag is signed is known later */
	for (int is_signed = 0; ranges && is_signed < 2; is_signed++)
		if (!ctf_take_ranges(f, ranges, is_signed, NULL, &m->ranges[is_signed]))
			return false;
	**last = m;
	*last = &m->next;
	return true;
}

static struct ctf_type *structure_class(struct ctf_fragments *f, const struct json_node *node,
					int dummy)
{
	struct ctf_type *t = ctf_new_class(f, node, CTF_STRUCT);
	const struct json_node *list = json_find(node, "member-classes");
	struct ctf_member **last = t ? &t->members : NULL;

	(void)dummy;
	if (!t || !ctf_take_alignment(f, node, "minimum-alignment", &t->align))
		return NULL;
	if (list && list->kind != JSON_ARRAY)
		return ctf_fragment_wrong(f, list, "'member-classes' must be an array");
	for (const struct json_node *n = list ? list->first : NULL; n; n = n->next) {
		const char *name = ctf_need_text(f, n, "name");

		if (!name || !ctf_no_extensions(f, n) || !ctf_json_add_member(f, n, name, &last))
			return NULL;
	}
	return t;
}

static struct ctf_type *array_class(struct ctf_fragments *f, const struct json_node *node,
				    int dynamic)
{
	struct ctf_type *t = ctf_new_class(f, node, dynamic ? CTF_SEQUENCE : CTF_ARRAY);

	if (!t || !ctf_take_alignment(f, node, "minimum-alignment", &t->align))
		return NULL;
	if (dynamic ? !ctf_take_location(f, node, "length-field-location", t)
		    : !ctf_take_count(f, node, "length", &t->count))
		return NULL;
	if (!dynamic && !json_find(node, "length"))
		return ctf_fragment_wrong(f, node, "'length' is missing");
	t->element = ctf_field_class(f, node, "element-field-class");
	return t->element ? t : NULL;
}

static struct ctf_type *optional_class(struct ctf_fragments *f, const struct json_node *node,
				       int dummy)
{
	struct ctf_type *t = ctf_new_class(f, node, CTF_OPTIONAL);
	struct ctf_member **last = t ? &t->members : NULL;

	(void)dummy;
	return t && ctf_take_location(f, node, "selector-field-location", t) &&
			       ctf_json_add_member(f, node, "optional", &last)
		       ? t
		       : NULL;
}

static struct ctf_type *variant_class(struct ctf_fragments *f, const struct json_node *node,
				      int dummy)
{
	struct ctf_type *t = ctf_new_class(f, node, CTF_VARIANT);
	const struct json_node *list = json_find(node, "options");
	struct ctf_member **last = t ? &t->members : NULL;
	char number[24];
	unsigned i = 0;

	(void)dummy;
	if (!t || !ctf_take_location(f, node, "selector-field-location", t))
		return NULL;
	if (!list || list->kind != JSON_ARRAY || !list->first)
		return ctf_fragment_wrong(f, node, "a variant without options");
	for (const struct json_node *n = list->first; n; n = n->next) {
		const char *name = json_text(json_find(n, "name"));

		snprintf(number, sizeof number, "%u", i++);
		if (!json_find(n, "selector-field-ranges"))
			return ctf_fragment_wrong(f, n, "'selector-field-ranges' is missing");
		if (!ctf_no_extensions(f, n) ||
		    !ctf_json_add_member(f, n, name ? name : number, &last))
			return NULL;
	}
	return t;
}

/* --- all field classes --- */

/* The enumerations are of the proposals for CTF 2. */
static const struct {
	const char *name;
	struct ctf_type *(*read)(struct ctf_fragments *f, const struct json_node *node,
				 int variant);
	int variant;
} kinds[] = {{"fixed-length-bit-array", ctf_bits_class, BITS_ARRAY},
	     {"fixed-length-bit-map", ctf_bits_class, BITS_MAP},
	     {"fixed-length-boolean", ctf_bits_class, BITS_BOOLEAN},
	     {"fixed-length-unsigned-integer", ctf_bits_class, BITS_UNSIGNED},
	     {"fixed-length-signed-integer", ctf_bits_class, BITS_SIGNED},
	     {"fixed-length-floating-point-number", ctf_bits_class, BITS_FLOAT},
	     {"variable-length-unsigned-integer", ctf_varying_class, false},
	     {"variable-length-signed-integer", ctf_varying_class, true},
	     {"null-terminated-string", ctf_string_class, 0},
	     {"static-length-string", ctf_text_class, 0},
	     {"static-length-blob", ctf_text_class, TEXT_BLOB},
	     {"dynamic-length-string", ctf_text_class, TEXT_DYNAMIC},
	     {"dynamic-length-blob", ctf_text_class, TEXT_DYNAMIC | TEXT_BLOB},
	     {"structure", structure_class, 0},
	     {"static-length-array", array_class, false},
	     {"dynamic-length-array", array_class, true},
	     {"optional", optional_class, 0},
	     {"variant", variant_class, 0},
	     {"fixed-length-unsigned-enumeration", ctf_bits_class, BITS_UNSIGNED},
	     {"fixed-length-signed-enumeration", ctf_bits_class, BITS_SIGNED},
	     {"variable-length-unsigned-enumeration", ctf_varying_class, false},
	     {"variable-length-signed-enumeration", ctf_varying_class, true}};

static struct ctf_type *ctf_json_look_up(struct ctf_fragments *f, const struct json_node *at,
					 const char *name)
{
	void **place = ctf_named(f->metadata, f, name, strlen(name));

	if (place && *place)
		return *place;
	return ctf_fragment_wrong(f, at, "the field class '%.100s' is not declared", name);
}

/* Read the field class, or the name of an alias, that is a member of an object. */
static struct ctf_type *ctf_field_class(struct ctf_fragments *f, const struct json_node *object,
					const char *key)
{
	const struct json_node *node = json_find(object, key);
	struct ctf_type *t = NULL;
	const char *type;
	size_t i;

	if (!node)
		return ctf_fragment_wrong(f, object, "'%s' is missing", key);
	if (json_text(node))
		return ctf_json_look_up(f, node, json_text(node));
	type = ctf_need_text(f, node, "type");
	if (!type || !ctf_no_extensions(f, node))
		return NULL;
	if (f->depth == CTF_DEPTH)
		return ctf_fragment_wrong(f, node, "field classes are nested too deep");
	for (i = 0; i < sizeof kinds / sizeof *kinds && strcmp(kinds[i].name, type) != 0; i++)
		continue;
	if (i == sizeof kinds / sizeof *kinds)
		return ctf_fragment_wrong(f, node, "'%.100s' is not a type of a field class", type);
	f->depth++;
	t = kinds[i].read(f, node, kinds[i].variant);
	f->depth--;
	return t;
}

/*
 * The metadata of CTF 2: a JSON text sequence (RFC 7464) of fragments.
 *
 * Each fragment is a JSON object after an RS character. The first one is the preamble. A fragment
 * that cannot be read costs what it declares.
 *
 * LTTng 2.14 writes the proposals for CTF 2: clocks have names and no ids, and their origin is
 * 1970.
 */

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
	struct ctf_attribute v = {.name = ctf_copy_text(f, n, n->key)};

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
static bool ctf_json_take_origin(struct ctf_fragments *f, const struct json_node *node,
				 struct ctf_clock *c)
{
	const struct json_node *origin = json_find(node, "origin");
	const char *parts[3], *text = json_text(origin);
	char name[300];

	c->absolute = text && !strcmp(text, "unix-epoch");
	if (!origin || text)
		return !text || c->absolute ||
		       ctf_fragment_wrong(f, origin, "'%.100s' is not an origin", text);
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
	struct ctf_clock *c = ctf_json_alloc(f, node, sizeof *c);
	const struct json_node *offset = json_find(node, "offset-from-origin");

	if (!c)
		return false;
	if (!offset)
		offset = json_find(node, "offset");
	if (!ctf_json_take_text(f, node, "id", &c->id) ||
	    !ctf_json_take_text(f, node, "name", &c->name) || !ctf_json_take_origin(f, node, c) ||
	    !ctf_take_count(f, node, "frequency", &c->frequency) ||
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
static void **ctf_json_stream_of(struct ctf_metadata *m, uint64_t id)
{
	return ctf_named(m, &m->streams, &id, sizeof id);
}

static bool ctf_json_read_stream(struct ctf_fragments *f, const struct json_node *node)
{
	struct ctf_stream_class *s = ctf_json_alloc(f, node, sizeof *s);
	void **place;

	if (!s)
		return false;
	if (!ctf_take_count(f, node, "id", &s->id) || !take_clock(f, node, s) ||
	    !take_scope(f, node, "packet-context-field-class", &s->packet_context) ||
	    !take_scope(f, node, "event-record-header-field-class", &s->header) ||
	    !take_scope(f, node, "event-record-common-context-field-class", &s->context))
		return false;
	place = ctf_json_stream_of(f->metadata, s->id);
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
		if (json_text(json_find(n, "emf-uri")) &&
		    !ctf_json_take_text(f, n, "emf-uri", &c->uri))
			return false;
	return true;
}

static bool ctf_json_read_event(struct ctf_fragments *f, const struct json_node *node)
{
	struct ctf_event_class *c = ctf_json_alloc(f, node, sizeof *c);
	void **place;
	char name[32];

	if (!c)
		return false;
	c->line = node->line;
	c->has_stream = true;
	if (!ctf_take_count(f, node, "id", &c->id) ||
	    !ctf_take_count(f, node, "data-stream-class-id", &c->stream) ||
	    !ctf_json_take_text(f, node, "name", &c->name) || !take_uri(f, node, c) ||
	    !take_scope(f, node, "specific-context-field-class", &c->context) ||
	    !take_scope(f, node, "payload-field-class", &c->fields))
		return false;
	place = ctf_json_stream_of(f->metadata, c->stream);
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
	} types[] = {{"preamble", read_preamble},
		     {"field-class-alias", read_alias},
		     {"trace-class", read_trace},
		     {"clock-class", read_clock},
		     {"data-stream-class", ctf_json_read_stream},
		     {"event-record-class", ctf_json_read_event}};
	const char *type = ctf_need_text(f, node, "type");

	if (!type)
		return false;
	if (!f->preamble && strcmp(type, "preamble") != 0)
		return ctf_fragment_wrong(f, node, "the first fragment is not a preamble");
	if (f->preamble && !ctf_no_extensions(f, node))
		return false;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(types[i].type, type))
			return types[i].read(f, node);
	return ctf_fragment_wrong(f, node, "'%.100s' is not a type of a fragment", type);
}

int ctf_metadata_fragments(struct ctf_metadata *m, const char *text, size_t n, const char *file,
			   struct error *e)
{
	struct error error = {.what = ""};
	struct ctf_fragments f = {.metadata = m, .file = file, .line = 1, .error = &error};
	const char *at = text + 1, *end = text + n, *next;
	struct json_node *node;

	*m = (struct ctf_metadata){.major = 2};
	e->what[0] = '\0';
	for (; at < end; at = next + 1) {
		next = memchr(at, RECORD_SEPARATOR, (size_t)(end - at));
		if (!next)
			next = end;
		error.what[0] = '\0';
		if (json_tree_read(&f, at, (size_t)(next - at), &node) && node)
			read_fragment(&f, node);
		if (error.what[0] && !e->what[0])
			*e = error;
		if (m->major != 2)
			break;
	}
	json_close(&f.reader);
	ctf_metadata_free(&f.nodes);
	m->complete = !e->what[0];
	return m->complete ? 0 : -1;
}
