/*
 * scalar_classes.c - the scalar field classes of CTF 2: numbers, texts and BLOBs
 */
#include <stdio.h>
#include <string.h>

#include "cmd/trdecode/ctf/fragments.h"
#include "common/formats/ctf.h"

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
			return ctf_fragment_wrong(f, n, "'%.100s' is no role", name ? name : "");
		t->roles |= 1u << roles[i].role;
	}
	return true;
}

static bool take_base(struct ctf_fragments *f, const struct json_node *node, struct ctf_type *t)
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
		return ctf_fragment_wrong(f, node, "'%.100s' is no byte order", order);
	if (!json_find(node, "bit-order"))
		return true;
	bits = ctf_need_text(f, node, "bit-order");
	if (!bits)
		return false;
	if (strcmp(bits, "first-to-last") != 0 && strcmp(bits, "last-to-first") != 0)
		return ctf_fragment_wrong(f, node, "'%.100s' is no bit order", bits);
	t->reversed = (t->order == CTF_BIG) == !strcmp(bits, "first-to-last");
	return true;
}

/* --- bits --- */

/* Add the label of one bit. A flag of several bits has their numbers in its labels. */
static bool add_flag(struct ctf_fragments *f, const struct json_node *at, struct ctf_label ***last,
		     unsigned bit, bool single)
{
	struct ctf_label *label = ctf_alloc(f->metadata, sizeof *label);
	char name[256];

	if (!label)
		return ctf_fragment_wrong(f, at, "out of memory");
	snprintf(name, sizeof name, "%.240s.%u", at->key, bit);
	label->name = ctf_copy_text(f, at, single ? at->key : name);
	label->first = label->last = (int64_t)(1ull << bit);
	**last = label;
	*last = &label->next;
	return label->name;
}

static bool take_flags(struct ctf_fragments *f, const struct json_node *node, struct ctf_type *t)
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

struct ctf_type *ctf_bits_class(struct ctf_fragments *f, const struct json_node *node, int variant)
{
	struct ctf_type *t =
		ctf_new_class(f, node, variant == BITS_FLOAT ? CTF_FLOAT : CTF_INTEGER);
	uint64_t length = 0;
	bool ok;

	if (!t || !ctf_take_count(f, node, "length", &length) ||
	    !ctf_take_alignment(f, node, "alignment", &t->align) || !take_order(f, node, t) ||
	    !take_roles(f, node, t))
		return NULL;
	if (variant == BITS_FLOAT ? length != 32 && length != 64 : !length || length > 64) {
		ctf_fragment_wrong(f, node, "a %s, which trutils does not read",
				   variant == BITS_FLOAT
					   ? "floating-point number of neither 32 nor 64 bits"
					   : "field of 0 or more than 64 bits");
		return NULL;
	}
	t->size = (uint8_t)length;
	t->is_signed = variant == BITS_SIGNED;
	switch (variant) {
	case BITS_ARRAY: t->base = 16; return t;
	case BITS_MAP: ok = take_flags(f, node, t); break;
	case BITS_BOOLEAN: ok = set_boolean(f, node, t); break;
	case BITS_FLOAT: return t;
	default: ok = take_base(f, node, t) && take_mappings(f, node, t); break;
	}
	return ok ? t : NULL;
}

struct ctf_type *ctf_varying_class(struct ctf_fragments *f, const struct json_node *node,
				   int is_signed)
{
	struct ctf_type *t = ctf_new_class(f, node, CTF_INTEGER);

	if (!t)
		return NULL;
	t->varying = true;
	t->size = 64;
	t->align = 8;
	t->is_signed = is_signed;
	return take_base(f, node, t) && take_mappings(f, node, t) && take_roles(f, node, t) ? t
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
	return ctf_fragment_wrong(f, node, "'%.100s' is no encoding", name ? name : "");
}

struct ctf_type *ctf_string_class(struct ctf_fragments *f, const struct json_node *node, int dummy)
{
	struct ctf_type *t = ctf_new_class(f, node, CTF_STRING);

	(void)dummy;
	if (!t || !take_encoding(f, node, t))
		return NULL;
	t->align = 8;
	return t;
}

/* Read a text or BLOB of so many bytes: an array of bytes, as in version 1.8. */
struct ctf_type *ctf_text_class(struct ctf_fragments *f, const struct json_node *node, int variant)
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
	if (!(variant & TEXT_DYNAMIC) && !json_find(node, "length")) {
		ctf_fragment_wrong(f, node, "'length' is missing");
		return NULL;
	}
	byte->size = byte->align = 8;
	byte->text = !(variant & TEXT_BLOB);
	byte->blob = variant & TEXT_BLOB;
	if (byte->blob)
		byte->base = 16;
	t->align = 8;
	t->element = byte;
	return t;
}
