/*
 * field_classes.c - the field classes of CTF 2: which kind, and those that contain others
 */
#include <stdio.h>
#include <string.h>

#include "cmd/trdecode/ctf/fragments.h"

struct ctf_type *ctf_new_class(struct ctf_fragments *f, const struct json_node *at,
			       enum ctf_kind kind)
{
	struct ctf_type *t = ctf_alloc(f->metadata, sizeof *t);

	if (!t) {
		ctf_fragment_wrong(f, at, "out of memory");
		return NULL;
	}
	t->kind = kind;
	t->align = 1;
	t->base = 10;
	return t;
}

/* --- ranges --- */

struct bound {
	uint64_t magnitude;
	bool negative;
};

static bool take_bounds(struct ctf_fragments *f, const struct json_node *n, struct bound b[2])
{
	const struct json_node *low = n->kind == JSON_ARRAY ? n->first : NULL,
			       *high = low ? low->next : NULL;
	__int128 first, last;

	if (!high || high->next || !json_integer(low, &b[0].magnitude, &b[0].negative) ||
	    !json_integer(high, &b[1].magnitude, &b[1].negative))
		return ctf_fragment_wrong(f, n, "a range must be two integers");
	first = b[0].negative ? -(__int128)b[0].magnitude : (__int128)b[0].magnitude;
	last = b[1].negative ? -(__int128)b[1].magnitude : (__int128)b[1].magnitude;
	return first <= last || ctf_fragment_wrong(f, n, "a range that ends before it begins");
}

/* Set the integers of 64 bits that are in the range. false: none is. */
static bool clip(const struct bound b[2], bool is_signed, struct ctf_label *range)
{
	uint64_t most = is_signed ? INT64_MAX : UINT64_MAX, least = is_signed ? 1ull << 63 : 0;

	if ((b[1].negative && b[1].magnitude > least) || (!b[0].negative && b[0].magnitude > most))
		return false;
	if (b[0].negative)
		range->first = (int64_t) - (b[0].magnitude < least ? b[0].magnitude : least);
	else
		range->first = (int64_t)b[0].magnitude;
	if (b[1].negative)
		range->last = (int64_t)-b[1].magnitude;
	else
		range->last = (int64_t)(b[1].magnitude < most ? b[1].magnitude : most);
	return true;
}

bool ctf_take_ranges(struct ctf_fragments *f, const struct json_node *set, bool is_signed,
		     const char *name, struct ctf_label **list)
{
	if (!set || set->kind != JSON_ARRAY || !set->first)
		return ctf_fragment_wrong(f, set, "a set of ranges must be an array of them");
	for (const struct json_node *n = set->first; n; n = n->next) {
		struct ctf_label *range = ctf_alloc(f->metadata, sizeof *range);
		struct bound b[2] = {{0}};

		if (!range)
			return ctf_fragment_wrong(f, n, "out of memory");
		if (!take_bounds(f, n, b))
			return false;
		/* a set without such integers chooses nothing */
		if (!clip(b, is_signed, range)) {
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
static bool take_path(struct ctf_fragments *f, const struct json_node *path,
		      struct ctf_location *location)
{
	size_t n = 0;

	for (const struct json_node *p = path; p; p = p->next)
		n++;
	location->names = n ? ctf_alloc(f->metadata, n * sizeof *location->names) : NULL;
	if (!location->names)
		return ctf_fragment_wrong(f, path, n ? "out of memory" : "an empty path");
	for (const struct json_node *p = path; p; p = p->next) {
		if (p->kind == JSON_NULL && location->n)
			location->n--;
		else if (p->kind == JSON_NULL)
			location->up++;
		else if (!json_text(p))
			return ctf_fragment_wrong(f, p, "a path must be names and nulls");
		else if (!(location->names[location->n++] = ctf_copy_name(f, p, json_text(p))))
			return false;
	}
	return location->n || ctf_fragment_wrong(f, path, "a path that ends at a structure");
}

bool ctf_take_location(struct ctf_fragments *f, const struct json_node *node, const char *key,
		       struct ctf_type *t)
{
	const struct json_node *n = json_find(node, key), *path, *origin;
	struct ctf_location *location = ctf_alloc(f->metadata, sizeof *location);

	if (!location)
		return ctf_fragment_wrong(f, node, "out of memory");
	if (!n)
		return ctf_fragment_wrong(f, node, "'%s' is missing", key);
	/* proposals for CTF 2, which LTTng 2.14 writes, have an array that begins with the origin
	 */
	origin = n->kind == JSON_ARRAY ? n->first : json_find(n, "origin");
	path = n->kind == JSON_ARRAY ? origin : json_find(n, "path");
	path = !path ? NULL : n->kind == JSON_ARRAY ? path->next : path->first;
	location->scope = -1;
	for (int i = 0; origin && i < SCOPES; i++)
		if (json_text(origin) && !strcmp(origins[i], json_text(origin)))
			location->scope = i;
	if (origin && location->scope < 0)
		return ctf_fragment_wrong(f, n, "'%.100s' is no origin",
					  json_text(origin) ? json_text(origin) : "");
	t->location = location;
	if (!path)
		return ctf_fragment_wrong(f, n, "'path' is missing");
	return take_path(f, path, location);
}

/* --- field classes that contain others --- */

/* Append a member or option. node: has its field class, and its ranges if it has any. */
static bool add_member(struct ctf_fragments *f, const struct json_node *node, const char *name,
		       struct ctf_member ***last)
{
	struct ctf_member *m = ctf_alloc(f->metadata, sizeof *m);
	const struct json_node *ranges = json_find(node, "selector-field-ranges");

	if (!m)
		return ctf_fragment_wrong(f, node, "out of memory");
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
	if (list && list->kind != JSON_ARRAY) {
		ctf_fragment_wrong(f, list, "'member-classes' must be an array");
		return NULL;
	}
	for (const struct json_node *n = list ? list->first : NULL; n; n = n->next) {
		const char *name = ctf_need_text(f, n, "name");

		if (!name || !ctf_no_extensions(f, n) || !add_member(f, n, name, &last))
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
	if (!dynamic && !json_find(node, "length")) {
		ctf_fragment_wrong(f, node, "'length' is missing");
		return NULL;
	}
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
			       add_member(f, node, "optional", &last)
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
	if (!list || list->kind != JSON_ARRAY || !list->first) {
		ctf_fragment_wrong(f, node, "a variant without options");
		return NULL;
	}
	for (const struct json_node *n = list->first; n; n = n->next) {
		const char *name = json_text(json_find(n, "name"));

		snprintf(number, sizeof number, "%u", i++);
		if (!json_find(n, "selector-field-ranges")) {
			ctf_fragment_wrong(f, n, "'selector-field-ranges' is missing");
			return NULL;
		}
		if (!ctf_no_extensions(f, n) || !add_member(f, n, name ? name : number, &last))
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

static struct ctf_type *look_up(struct ctf_fragments *f, const struct json_node *at,
				const char *name)
{
	void **place = ctf_named(f->metadata, f, name, strlen(name));

	if (place && *place)
		return *place;
	ctf_fragment_wrong(f, at, "the field class '%.100s' is not declared", name);
	return NULL;
}

struct ctf_type *ctf_field_class(struct ctf_fragments *f, const struct json_node *object,
				 const char *key)
{
	const struct json_node *node = json_find(object, key);
	struct ctf_type *t = NULL;
	const char *type;
	size_t i;

	if (!node) {
		ctf_fragment_wrong(f, object, "'%s' is missing", key);
		return NULL;
	}
	if (json_text(node))
		return look_up(f, node, json_text(node));
	type = ctf_need_text(f, node, "type");
	if (!type || !ctf_no_extensions(f, node))
		return NULL;
	if (f->depth == CTF_DEPTH) {
		ctf_fragment_wrong(f, node, "field classes are nested too deep");
		return NULL;
	}
	for (i = 0; i < sizeof kinds / sizeof *kinds && strcmp(kinds[i].name, type) != 0; i++)
		continue;
	if (i == sizeof kinds / sizeof *kinds) {
		ctf_fragment_wrong(f, node, "'%.100s' is no type of a field class", type);
		return NULL;
	}
	f->depth++;
	t = kinds[i].read(f, node, kinds[i].variant);
	f->depth--;
	return t;
}
