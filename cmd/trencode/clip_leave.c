/*
 * clip_leave.c - the leave of a call that is open at a cut
 */
#include "cmd/trencode/clip.h"

#include <stdlib.h>

#include "common/util/buffer.h"

enum { TAIL_MOST = 65536 };

/* Flags that an enter and its leave share. */
enum { PAIRED = TYPE_INNER | TYPE_PER_CPU | TYPE_CALL_NUMBER | TYPE_KERNEL | TYPE_DEPTH };

/* Count the bytes that two names have in common at their begin and at their end. */
static size_t common_bytes(struct text_ref a, struct text_ref b)
{
	size_t n = a.size < b.size ? a.size : b.size, front = 0, back = 0;

	while (front < n && a.text[front] == b.text[front])
		front++;
	while (back < n - front && a.text[a.size - 1 - back] == b.text[b.size - 1 - back])
		back++;
	return front + back;
}

/* Rate a type as that of the leaves of calls that an enter begins; 0: impossible. */
static size_t rate_leave(const struct type *enter, const struct type *leave)
{
	if (leave->kind != KIND_LEAVE || leave->source != enter->source ||
	    (leave->flags ^ enter->flags) & PAIRED)
		return 0;
	/* the group and the names count more than values, which a cut has not */
	return 1 + !(leave->flags & TYPE_VALUES) + 4 * common_bytes(enter->name, leave->name) +
	       (leave->group.number == enter->group.number ? 1 << 20 : 0);
}

/* Make a type of leaves like that of the enters, for a source that has not declared one so far. */
static const struct type *make_type(struct clip *c, const struct type *enter)
{
	struct type *t = dictionary_add_type(c->calls.dictionary, enter);

	if (t)
		t->kind = KIND_LEAVE;
	return t;
}

static const struct type *find_type(struct clip *c, const struct type *enter)
{
	const struct type *best = NULL;
	size_t most = 0;

	for (uint32_t i = 1; i < c->calls.dictionary->types.count; i++) {
		const struct type *t = dictionary_type(c->calls.dictionary, i);
		size_t rating = rate_leave(enter, t);

		if (rating > most) {
			most = rating;
			best = t;
		}
	}
	return best ? best : make_type(c, enter);
}

/* Get the type of the leaves of calls that an enter begins. NULL: out of memory. */
static const struct type *leave_type(struct clip *c, const struct type *enter)
{
	const struct type **leaves;

	if (ARRAY_REACH(c->leaves, c->nleaves, enter->number))
		return NULL;
	leaves = c->leaves;
	if (!leaves[enter->number])
		leaves[enter->number] = find_type(c, enter);
	return leaves[enter->number];
}

/* Get the bytes of the tail of a row whose texts are empty and whose arrays have no elements. */
static size_t tail_size(const struct type *t)
{
	size_t size = 0;

	if (t->flags & TYPE_VALUES)
		return 0;
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];
		size_t end = 0;

		switch (f->where) {
		case WHERE_TAIL:
			end = f->offset + (size_t)f->size * (f->count ? f->count : 1);
			break;
		case WHERE_DATA_LOC:
		case WHERE_REL_LOC: end = f->offset + 4; break;
		case WHERE_REST: end = f->offset; break;
		case WHERE_STRING: end = f->offset + 1; break;
		}
		/* a field further on has no value */
		size = end > size && end <= TAIL_MOST ? end : size;
	}
	return size;
}

/* Get the bytes of a field in a row; NULL: they are not in its fixed part or at a constant place of
 * its tail. *n: their number. */
static uint8_t *field_in_row(const struct type *t, uint8_t *fixed, const struct field *f, size_t *n)
{
	uint8_t *tail = fixed + t->fixed_size + 4;
	size_t size = t->flags & TYPE_TAIL ? get_u32(tail - 4) : 0;

	*n = (size_t)f->size * (f->count ? f->count : 1);
	if (f->where == WHERE_FIXED)
		return fixed + f->offset;
	if (f->where != WHERE_TAIL || f->offset > size || size - f->offset < *n)
		return NULL;
	return tail + f->offset;
}

static const struct field *find_field(const struct type *t, struct text_ref name)
{
	for (uint32_t i = t->nfields; i-- > 0;)
		if (t->fields[i].name.number == name.number)
			return &t->fields[i];
	return NULL;
}

static bool has_name(const struct field *f, const char *name)
{
	return !strcmp(f->name.text, name);
}

/* Copy a field that the enter has, too. */
static void copy_field(const struct copied_row *enter, struct copied_row *leave,
		       const struct field *f)
{
	const struct field *same = find_field(enter->type, f->name);
	size_t n, size;
	uint8_t *to, *from;

	/* misc of perf's records distinguishes the enter from the leave */
	if (!same || same->where != f->where || has_name(f, "misc"))
		return;
	to = field_in_row(leave->type, leave->row + WIDE_ROW, f, &n);
	from = field_in_row(enter->type, (uint8_t *)enter->row + WIDE_ROW, same, &size);
	if (to && from && n == size)
		memcpy(to, from, n);
}

static void put_number(struct copied_row *row, const struct field *f, uint64_t number)
{
	bool big = row->type->flags & TYPE_BIG_ENDIAN && f->where == WHERE_TAIL;
	size_t n;
	uint8_t *to = field_in_row(row->type, row->row + WIDE_ROW, f, &n);

	for (size_t i = 0; to && i < n; i++, number >>= i < 8 ? 8 : 0)
		to[big ? n - 1 - i : i] = i < 8 ? (uint8_t)number : 0;
}

/* Fill in the fields that the enter does not have. */
static void fill_field(const struct copied_row *enter, struct copied_row *leave,
		       const struct field *f, uint64_t source_time)
{
	/* the record of the kernel's function graph repeats both times */
	bool kernel = !strcmp(leave->type->group.text, "ftrace");

	if (f->role == ROLE_SOURCE_TIME)
		put_number(leave, f, source_time);
	else if (kernel && has_name(f, "calltime"))
		put_number(leave, f, enter->time);
	else if (kernel && has_name(f, "rettime"))
		put_number(leave, f, leave->time);
	else if (has_name(f, "common_type"))
		put_number(leave, f, leave->type->native);
}

int clip_leave(struct clip *c, const struct copied_row *enter, const struct split_cut *cut,
	       struct copied_row **row, struct error *e)
{
	const struct type *t = leave_type(c, enter->type);
	struct plain_row plain = row_load(enter->row, 0, true);
	struct event ev = {.time = cut->time,
			   .type = t,
			   .lane = enter->lane,
			   .location = enter->location,
			   .depth = plain.depth};
	uint8_t *zeros;

	if (!t)
		return error_no_memory(e);
	ev.tail_size = (uint32_t)tail_size(t);
	zeros = calloc(1, (t->fixed_size > ev.tail_size ? t->fixed_size : ev.tail_size) + 1);
	if (!zeros)
		return error_no_memory(e);
	ev.fixed = ev.tail = zeros;
	*row = copied_row_new(&ev);
	free(zeros);
	if (!*row)
		return error_no_memory(e);
	for (uint32_t i = 0; i < t->nfields; i++) {
		copy_field(enter, *row, &t->fields[i]);
		fill_field(enter, *row, &t->fields[i], cut->source_time);
	}
	return 0;
}
