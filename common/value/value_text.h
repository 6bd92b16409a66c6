/*
 * value_text.h - values and fields as text: {name = "a\n", flags = 3}, [1, 2]
 *
 * Strings are in quotes with the escapes of C, and bytes that are no UTF-8 are \xHH. Characters are
 * 'c', arrays [1, 2], structs {a = 1}; a field that the row does not have is "?".
 */
#ifndef TR_VALUE_VALUE_TEXT_H
#define TR_VALUE_VALUE_TEXT_H

#include "common/stream/dictionary.h"
#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/stack_limit.h"
#include "common/util/u128.h"

/* --- the texts of values that are stored in parts --- */

/* Write the number of an ENUM in decimal, whatever its size, and a NUL; d may be NULL. Returns the
 * length without the NUL. */
size_t value_enum_decimal(char out[static I128_SIZE], const struct definition *d,
			  const struct value *v);

/* Get the label of an ENUM, the first in declaration order, else its number as above, written into
 * room. */
struct text_ref value_enum_text(char room[static I128_SIZE], const struct definition *d,
				const struct value *v);

/* Append the labels of a DEFINITION_SUMS that add up to a number without a label, taken in the
 * order of the members, and what is left: "F_C|F_A+0x8". Appends nothing if no member is in the
 * number. */
int value_sum_text(struct buffer *b, const struct definition *d, uint64_t number);

/* Append the names of the bits that are set, as "A|B|0x40"; d may be NULL. -1: out of memory.
 */
int value_bits_text(struct buffer *b, const struct definition *d, uint64_t bits);

/* Append the functions of a back trace of count FRAMEs, the outermost first, with ';' between them;
 * of a frame without a name its module and offset. -1: out of memory. */
int value_backtrace_text(struct buffer *b, const struct dictionary *d, const struct values *v,
			 uint64_t count);

/*
 * One walk over a value and the values in it, in the style of each output.
 *
 * A style is a constant, and the walk is in line, so that the compiler makes one loop of both. The
 * functions of a style return 0, -1 to end the walk, or VALUE_SKIP where that is stated.
 */

enum { VALUE_SKIP = 1 };

/* Tags of the elements of fields, beside those of values. */
enum {
	VALUE_MISSING = VALUE_TAGS, /* the row does not have the field */
	VALUE_BYTES,		    /* bytes without a meaning, printed in hexadecimal */
};

/* One value in a walk. */
struct value_item {
	struct value value;
	const struct definition *definition; /* of value; NULL: none */
	uint8_t bytes[8];		     /* of a number in a field, little-endian */
};

/* A value with children. v[-1] is the value that contains v; its tag is VALUE_NULL if v is the
 * outermost value. */
struct value_parent {
	const struct definition *definition; /* of a STRUCT; NULL: none */
	uint64_t index, count;		     /* number of the next child; of all */
	uint8_t tag;			     /* ARRAY, STRUCT, REPR */
};

struct value_style {
	bool raw; /* a REPR is written with both its forms, else only as its display form */
	int (*scalar)(void *to, const struct value_item *v); /* write a value without children */
	/* Write what is before the children. VALUE_SKIP: the children are not wanted, and the value
	 * is complete. rest: the bytes of the children; NULL: elements of a field. */
	int (*begin)(void *to, const struct value_parent *v, const struct values *rest);
	/* Write what is before child v->index. VALUE_SKIP: the child is not wanted. rest: from the
	 * child on. */
	int (*child)(void *to, const struct value_parent *v, const struct values *rest);
	/* Write what is after the children. child and end may be NULL: nothing. */
	int (*end)(void *to, const struct value_parent *v);
	/* Write a FLOAT, or a small UINT, of which there are many; NULL: scalar does. */
	int (*single)(void *to, float number);
	int (*small)(void *to, uint8_t number);
};

/* Get the name of child v->index, or NULL. */
static inline const struct text_ref *value_child_name(const struct value_parent *v)
{
	const struct definition *d = v->definition;

	return v->tag == VALUE_STRUCT && d && v->index < d->count ? &d->members[v->index].name
								  : NULL;
}

#define VALUE_INLINE static inline __attribute__((always_inline))

/* Write the value after v, without its children. Returns 1 if these are wanted: *parent is set. */
VALUE_INLINE int value_walk_one(const struct value_style *style, void *to,
				const struct dictionary *d, struct values *v,
				struct value_parent *parent)
{
	const uint8_t *p = v->at;
	struct value_item item;
	int r;

	if (style->single && v->end - p >= 5 && *p == VALUE_FLOAT) {
		v->at += 5;
		return style->single(to, get_float(p + 1));
	}
	if (style->small && v->end - p >= 2 && *p == VALUE_UINT && p[1] < 0x80) {
		v->at += 2;
		return style->small(to, p[1]);
	}
	if (!values_value(v, &item.value))
		return -1;
	item.definition =
		item.value.definition ? dictionary_definition_id(d, item.value.definition) : NULL;
	if (item.value.tag != VALUE_ARRAY && item.value.tag != VALUE_STRUCT &&
	    item.value.tag != VALUE_REPR)
		return style->scalar(to, &item);
	*parent = (struct value_parent){item.definition, 0, item.value.count, item.value.tag};
	if (item.value.tag == VALUE_REPR && !style->raw)
		return 1;
	r = style->begin(to, parent, v);
	if (r != VALUE_SKIP)
		return r ? -1 : 1;
	for (uint64_t i = 0; i < item.value.count; i++)
		if (!values_skip(v))
			return -1;
	return 0;
}

/* Go to the next child that is wanted, after a child or, with begun, at the first. Returns its
 * parent; outer: there is none; NULL: on errors. */
VALUE_INLINE struct value_parent *value_walk_next(const struct value_style *style, void *to,
						  struct values *v, struct value_parent *outer,
						  struct value_parent *parent, bool begun)
{
	for (parent->index += !begun; parent != outer; parent->index++) {
		int r = parent->index > 0;

		if (parent->index == parent->count) {
			if ((parent->tag != VALUE_REPR || style->raw) && style->end &&
			    style->end(to, parent))
				return NULL;
			parent--;
			continue;
		}
		if (parent->tag != VALUE_REPR || style->raw)
			r = style->child ? style->child(to, parent, v) : 0;
		if (!r)
			break;
		if (r < 0 || !values_skip(v))
			return NULL;
	}
	return parent;
}

/* Write the value after v, with all its children, and step over it. Returns -1 also for malformed
 * bytes, with v->bad set. */
VALUE_INLINE int value_walk(const struct value_style *style, void *to, const struct dictionary *d,
			    struct values *v)
{
	struct value_parent outer[VALUE_DEPTH + 2], *parent = outer;
	int r;

	*parent = (struct value_parent){0};
	do {
		v->bad |= parent == outer + VALUE_DEPTH + 1;
		r = v->bad ? -1 : value_walk_one(style, to, d, v, parent + 1);
		if (r < 0)
			return -1;
		parent = value_walk_next(style, to, v, outer, parent + r, r);
	} while (parent && parent != outer);
	return parent ? 0 : -1;
}

/* Get an element of a field as a value. */
void field_item(const struct field *f, const struct field_value *v, struct value_item *item);
/* Get as a value what of a field a name selects, by which field_find found the field. */
void field_named_item(const struct event *e, const struct field *f, const char *name,
		      struct value_item *item);

/* Write a field in that style: an array, or its only element. single and small are not used. */
VALUE_INLINE int field_walk(const struct value_style *style, void *to, const struct event *ev,
			    const struct field *f)
{
	struct value_parent outer[2] = {0}, *parent = outer + 1;
	struct value_item item;
	struct field_value v;
	int r;

	field_get(ev, f, 0, &v);
	field_item(f, &v, &item);
	if ((f->count <= 1 && f->where < WHERE_DATA_LOC) || v.form == FORM_TEXT)
		return style->scalar(to, &item);
	parent->tag = VALUE_ARRAY;
	parent->count = field_count(ev, f);
	if (parent->count <= 1 && !field_is_array(ev, f))
		return style->scalar(to, &item);
	r = style->begin(to, parent, NULL);
	if (r)
		return r == VALUE_SKIP ? 0 : -1;
	for (; parent->index < parent->count; parent->index++) {
		field_get(ev, f, (uint32_t)parent->index, &v);
		field_item(f, &v, &item);
		r = style->child ? style->child(to, parent, NULL) : 0;
		if (r == VALUE_SKIP)
			continue;
		if (r || style->scalar(to, &item))
			return -1;
	}
	return style->end ? style->end(to, parent) : 0;
}

/* Append the numbers of the locations of a stack's frames, u32 each, outermost first. If there are
 * more than STACK_FRAMES, frame STACK_FRAMES is the last one, and has the name STACK_DEEPER.
 * Returns 0, or -1 when out of memory. */
int stack_frames(const struct dictionary *d, uint32_t stack, struct buffer *locations);

/* Get the name of a frame of stack_frames by its index; an address is in the caller's buffer. */
static inline struct text_ref stack_frame_name(const struct dictionary *d,
					       const struct buffer *locations, size_t index,
					       char address[static LOCATION_TEXT])
{
	if (index == STACK_FRAMES)
		return (struct text_ref){.text = STACK_DEEPER, .size = sizeof STACK_DEEPER - 1};
	return dictionary_location_text(d, get_u32(locations->data + 4 * index), address);
}

/* Test whether stack_frames leaves out frames, for a remark STACK_DEEP. */
static inline bool stack_is_deep(const struct dictionary *d, uint32_t stack)
{
	return dictionary_stack_frames(d, stack) > STACK_FRAMES;
}

/* Write a stack in that style: an array of the names of its frames, outermost first. */
VALUE_INLINE int stack_walk(const struct value_style *style, void *to, const struct dictionary *d,
			    uint32_t stack)
{
	struct value_parent outer[2] = {0}, *parent = outer + 1;
	struct buffer frames = {0};
	int r = stack_frames(d, stack, &frames);

	parent->tag = VALUE_ARRAY;
	parent->count = frames.size / 4;
	r = r ? r : style->begin(to, parent, NULL);
	for (; !r && parent->index < parent->count; parent->index++) {
		char address[LOCATION_TEXT];
		struct text_ref name = stack_frame_name(d, &frames, parent->index, address);
		struct value_item item = {.value = {.tag = VALUE_STRING,
						    .format = 's',
						    .bytes = (const uint8_t *)name.text,
						    .n = name.size}};

		r = style->child ? style->child(to, parent, NULL) : 0;
		if (r != VALUE_SKIP)
			r = r ? r : style->scalar(to, &item);
		else
			r = 0;
	}
	buffer_free(&frames);
	if (r)
		return r == VALUE_SKIP ? 0 : -1;
	return style->end ? style->end(to, parent) : 0;
}

/*
 * One value without children, spelled as all programs spell it.
 *
 * Rows, keys and conditions share this spelling: a number, a truth value, or a text where the value
 * has names, or is a pointer, a blob or a string.
 */

enum plain_kind {
	PLAIN_NULL,
	PLAIN_BOOL, /* number: 0 or 1 */
	PLAIN_INT,  /* number: two's complement */
	PLAIN_UINT,
	PLAIN_REAL,
	PLAIN_TEXT, /* any bytes */
};

struct plain_value {
	enum plain_kind kind;
	uint8_t size;	 /* REAL: bytes of the value */
	uint64_t number; /* TEXT: its size */
	double real;	 /* of a float, the double nearest to its shortest digits */
	const char *text;
};

struct plain_source {
	const struct dictionary *dictionary;
	struct buffer *scratch; /* buffer of a text, which is valid until the next one */
	bool blobs;		/* BLOB is data, spelled by its size (argument_blobs); else text */
	bool names;		/* numbers that have names are spelled by these */
};

/* Test whether a number has a name: a label, or at least one of its bits, in the definition of its
 * field. */
bool value_is_named(const struct value_item *item);

/* Spell the value of a walk, or an element of a field; ARRAY, STRUCT, REPR and MISSING are NULL.
 * -1: out of memory. */
int value_plain(const struct plain_source *s, const struct value_item *item,
		struct plain_value *out);

/* Append the spelling, without quotes. -1: out of memory. */
int plain_append(struct buffer *b, const struct plain_value *p);

/* Get the text that conditions compare with texts: of TEXT its own, "NULL", "true", "false",
 * "nan", "inf" and "-inf". false: other numbers have none. */
bool plain_text(const struct plain_value *p, const char **text, size_t *size);

/* What values are appended to, and how much of them. What is left out is "...". */
struct value_text {
	struct buffer *out;
	struct plain_source plain;
	size_t bytes, elements; /* most of a string, and of an array or struct */
	unsigned depth;		/* most nested arrays and structs */
	size_t end;		/* the text after this size of out may be dropped */
	uint64_t *blobs;	/* counts BLOBs; may be NULL */
};

/* Append the value after v with its children, or a field. -1: out of memory, or v->bad. */
int value_text_value(struct value_text *t, struct values *v);
int value_text_field(struct value_text *t, const struct event *ev, const struct field *f);

#endif
