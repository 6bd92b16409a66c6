/*
 * keys.c - the keys of groups and pairs
 */
#include "common/pairs/keys.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/calls/call_stacks.h"
#include "common/calls/calls.h"
#include "common/formats/apitrace.h"
#include "common/scheduling/states.h"
#include "common/stream/clocks.h"
#include "common/stream/field.h"
#include "common/util/buffer.h"
#include "common/util/histogram.h"
#include "common/util/stack_limit.h"
#include "common/util/u128.h"
#include "common/value/argument.h"
#include "common/value/units.h"
#include "common/value/value_text.h"

enum { DEEP_STACK_MOST = 256 }; /* bytes of innermost frames */

void key_texts_init(struct key_texts *t)
{
	*t = (struct key_texts){0};
	/* The seed decides only the slots of hash tables, which no output shows. */
	t->seed = secret_factor(t);
}

void key_texts_free(struct key_texts *t)
{
	intern_free(&t->intern);
	if (t->path)
		buffer_free(t->path);
	free(t->path);
	*t = (struct key_texts){0};
}

int key_text(struct key_texts *t, const void *data, size_t size, struct key_cell *cell)
{
	uint32_t text = intern(&t->intern, data, size);

	if (text == INTERN_NONE)
		return -1;
	*cell = (struct key_cell){.kind = KEY_TEXT, .text = text};
	return 0;
}

struct key_cell key_real(double real, bool single)
{
	struct key_cell cell = {.kind = KEY_REAL, .single = single};
	double exact = single ? (double)(float)real : real;

	if (exact < 0 && exact >= -0x1p63 && (double)(int64_t)exact == exact)
		return key_signed((int64_t)exact);
	if (exact >= 0 && exact < 0x1p64 && (double)(uint64_t)exact == exact)
		return key_unsigned((uint64_t)exact);
	memcpy(&cell.value, &real, sizeof real);
	return cell;
}

/* Get the kind by which a cell is compared: equal numbers are one key, whatever the base in
 * which the source prints them. */
static uint8_t compared_kind(const struct key_cell *cell)
{
	return cell->kind == KEY_ADDRESS ? KEY_UNSIGNED : cell->kind;
}

uint64_t key_cells_hash(const struct key_texts *t, const struct key_cell *cells, size_t n)
{
	uint64_t h = t->seed;

	for (size_t i = 0; i < n; i++) {
		uint64_t v = cells[i].kind == KEY_TEXT ? cells[i].text : cells[i].value;

		h = hash_fold(h ^ v ^ (uint64_t)compared_kind(&cells[i]) << 62,
			      t->seed | 0x9e3779b97f4a7c15u);
	}
	return hash_fold(h, 0xd6e8feb86659fd93u);
}

bool key_cells_same(const struct key_cell *a, const struct key_cell *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (compared_kind(&a[i]) != compared_kind(&b[i]) ||
		    (a[i].kind == KEY_TEXT ? a[i].text != b[i].text : a[i].value != b[i].value))
			return false;
	}
	return true;
}

int key_cell_append(struct buffer *b, const struct key_cell *cell)
{
	bool address = cell->kind == KEY_ADDRESS;

	return buffer_u32(b, address ? KEY_UNSIGNED : cell->kind) ||
	       buffer_u64(b, cell->kind == KEY_TEXT ? cell->text : cell->value);
}

/* Cut the text of a stack of more than STACK_FRAMES frames to its innermost frames. */
static void cut_deep_stack(const struct key_texts *t, const char **text, size_t *size)
{
	static const char deeper[] = ";" STACK_DEEPER;
	char *p = (char *)t->path->data;
	size_t end = sizeof deeper - 1, from;

	if (!t->cut_stacks || *size <= DEEP_STACK_MOST || memcmp(p + *size - end, deeper, end) != 0)
		return;
	from = *size - DEEP_STACK_MOST;
	while (p[from] != ';')
		from++;
	from -= sizeof STACK_DEEPER - 1;
	memcpy(p + from, STACK_DEEPER, sizeof STACK_DEEPER - 1);
	*text += from;
	*size -= from;
}

bool key_cell_text(const struct key_texts *t, const struct key_cell *cell, const char **text,
		   size_t *size)
{
	if (cell->kind == KEY_TEXT || (cell->label && intern_size(&t->intern, cell->text))) {
		*text = intern_data(&t->intern, cell->text);
		*size = intern_size(&t->intern, cell->text);
		return true;
	}
	if (cell->kind != KEY_STACK)
		return false;
	*text = "";
	*size = 0;
	if (!call_stacks_path(t->stacks, (uint32_t)cell->value, t->path) && t->path->size) {
		*text = (const char *)t->path->data;
		*size = t->path->size;
		cut_deep_stack(t, text, size);
	}
	return true;
}

/* --- parse the list of keys --- */

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *name;
	enum key_kind kind;
	uint32_t needs;
} key_names[] = {
	/* the name of an event without a location is that of its type */
	{"name", BY_NAME, NEEDS_LOCATION | NEEDS_TYPE},
	{"type", BY_TYPE, NEEDS_TYPE},
	{"group", BY_GROUP, NEEDS_TYPE},
	{"kind", BY_KIND, NEEDS_TYPE},
	{"input", BY_INPUT, NEEDS_LANE},
	{"buffer", BY_BUFFER, NEEDS_LANE},
	{"tid", BY_TID, NEEDS_LANE},
	{"pid", BY_PID, NEEDS_LANE},
	{"ppid", BY_PPID, NEEDS_LANE},
	{"comm", BY_COMM, NEEDS_LANE},
	{"cpu", BY_CPU, NEEDS_LANE | NEEDS_TYPE | NEEDS_CPU},
	{"module", BY_MODULE, NEEDS_LOCATION},
	{"symkind", BY_SYMKIND, NEEDS_LOCATION},
	{"file", BY_FILE, NEEDS_LOCATION},
	{"line", BY_LINE, NEEDS_LOCATION},
	{"address", BY_ADDRESS, NEEDS_LOCATION},
	{"class", BY_CLASS, NEEDS_LOCATION},
	{"caller", BY_CALLER, NEEDS_CALLER},
	{"depth", BY_DEPTH, NEEDS_LEVEL},
	{"stack", BY_STACK, NEEDS_STACK},
	{"time", BY_TIME, NEEDS_TIME},
	{"dur", BY_DURATION, NEEDS_EVENT | NEEDS_CALL},
	{"self", BY_SELF, NEEDS_EVENT | NEEDS_CALL},
};

bool keys_has_name(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(key_names); i++)
		if (!strcmp(name, key_names[i].name))
			return true;
	return false;
}

void keys_offer_names(struct nearest *nearest)
{
	for (size_t i = 0; i < COUNT_OF(key_names); i++)
		nearest_offer(nearest, key_names[i].name, strlen(key_names[i].name));
	nearest_offer_words(nearest, "arg.1 ret");
}

int keys_refuse_children(struct error *e)
{
	return error_set(e, NULL, NO_OFFSET,
			 "trstat does not count children: use trfilter 'children > 2' (a field of "
			 "that name is .children)");
}

size_t keys_item_length(const char *list)
{
	size_t n = 0;

	for (int depth = 0; list[n] && (list[n] != ',' || depth > 0); n++)
		depth += list[n] == '(' ? 1 : list[n] == ')' ? -1 : 0;
	return n;
}

static bool keys_is_name(const char *s)
{
	uint64_t index;

	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (*s) {
		size_t size = field_index(s, &index);

		if (!size && !isalnum((unsigned char)*s) && !strchr("_.-:", *s))
			return false;
		s += size ? size : 1;
	}
	return true;
}

static int keys_refuse(const char *name, struct error *e)
{
	struct nearest nearest;

	nearest_begin(&nearest, name, strcspn(name, "("));
	nearest_offer_words(&nearest, "bucket log2 hist");
	return error_set(
		e, NULL, NO_OFFSET,
		"no such key: '%.64s'%s (keys are name type group kind input buffer tid pid "
		"ppid comm cpu module symkind file line address class caller stack depth time "
		"dur self running runnable sleeping blocked iowait irq offcpu unknown "
		"bucket(time,T) bucket(F,N) log2(F) log2(F,N) hist(F), and fields of the events)",
		name, nearest_hint(&nearest));
}

/* Parse a plain key: one of the names above, or a field. */
static int parse_plain(struct key *k, const char *name, uint32_t *needs, struct error *e)
{
	bool field = *name == '.';

	if (!strcmp(name, KEYS_CHILDREN))
		return keys_refuse_children(e);
	for (size_t i = 0; !field && i < COUNT_OF(key_names); i++)
		if (!strcmp(name, key_names[i].name)) {
			k->kind = key_names[i].kind;
			*needs |= key_names[i].needs;
			if (!(key_names[i].needs & NEEDS_CALL))
				return 0;
			k->field = strdup(name);
			return k->field ? 0 : error_no_memory(e);
		}
	k->quoted = field;
	name += field;
	if (!keys_is_name(name))
		return keys_refuse(k->name, e);
	*needs |= NEEDS_EVENT;
	k->kind = BY_FIELD;
	/* irq is a field of interrupts, which are not distributed as times are */
	if (!field && (k->transform == KEY_HIST || strcmp(name, state_names[STATE_IRQ]) != 0))
		k->state = (uint8_t)(1 + state_by_name(name));
	k->field = strdup(name);
	return k->field ? 0 : error_no_memory(e);
}

static const struct {
	const char *name;
	enum key_transform transform;
} transforms[] = {
	{"bucket(", KEY_BUCKET},
	{"log2(", KEY_LOG2},
	{"hist(", KEY_HIST},
};

/* Parse the width of bucket(F,WIDTH) or log2(F,WIDTH): a time if F is a time, else a number. */
static int keys_parse_width(struct key *k, const char *width, struct error *e)
{
	int64_t ns;

	if (parse_time(width, &ns) || ns <= 0)
		return error_set(e, NULL, NO_OFFSET,
				 "no such key: '%s' (a bucket is bucket(time,1s) or bucket(F,64))",
				 k->name);
	k->width = (uint64_t)ns;
	k->unit = time_has_unit(width);
	return 0;
}

/* Parse bucket(F,WIDTH), log2(F), log2(F,WIDTH), hist(F). */
static int keys_parse_function(struct key *k, char *inside, uint32_t *needs, struct error *e)
{
	size_t n = strlen(inside);
	char *comma;

	if (!n || inside[n - 1] != ')')
		return keys_refuse(k->name, e);
	inside[n - 1] = '\0';
	comma = strchr(inside, ',');
	if (comma ? k->transform == KEY_HIST : k->transform == KEY_BUCKET)
		return keys_parse_width(k, "", e);
	if (comma) {
		*comma++ = '\0';
		if (keys_parse_width(k, comma + strspn(comma, " "), e))
			return -1;
	}
	return parse_plain(k, inside, needs, e);
}

/* Parse the alternatives after the first bar of A|B. The key's header is A. */
static int parse_others(struct key *k, char *bar, uint32_t *needs, struct error *e)
{
	char *next;

	for (; bar; bar = next, k = k->other) {
		next = strchr(bar, '|');
		if (next)
			*next++ = '\0';
		k->other = calloc(1, sizeof(*k->other));
		if (!k->other)
			return error_no_memory(e);
		k->other->name = strdup(bar);
		if (!k->other->name)
			return error_no_memory(e);
		if (parse_plain(k->other, bar, needs, e))
			return -1;
		if (k->other->kind == BY_CALLER || k->other->kind == BY_DEPTH ||
		    k->other->kind == BY_STACK)
			return error_set(e, NULL, NO_OFFSET,
					 "'%s' cannot be an alternative of another key", bar);
	}
	return 0;
}

static int parse_key(struct key *k, uint32_t *needs, struct error *e)
{
	char *inside, *bar = strchr(k->name, '|');
	int r;

	if (bar) {
		*bar = '\0';
		if (parse_others(k, bar + 1, needs, e))
			return -1;
	}

	for (size_t i = 0; i < COUNT_OF(transforms); i++) {
		size_t n = strlen(transforms[i].name);

		if (strncmp(k->name, transforms[i].name, n) != 0)
			continue;
		k->transform = transforms[i].transform;
		inside = strdup(k->name + n);
		if (!inside)
			return error_no_memory(e);
		r = keys_parse_function(k, inside, needs, e);
		free(inside);
		return r;
	}
	return parse_plain(k, k->name, needs, e);
}

/* Add an empty key of that name. Returns NULL when out of memory. */
static struct key *add_key(struct keys *k, const char *name, size_t n)
{
	struct key *key = realloc(k->key, (k->count + 1) * sizeof(*key));
	const char **text = realloc(k->names, (k->count + 1) * sizeof(*text));
	char *copy = strndup(name, n);

	if (key)
		k->key = key;
	if (text)
		k->names = text;
	if (!key || !text || !copy) {
		free(copy);
		return NULL;
	}
	key[k->count] = (struct key){.name = copy};
	text[k->count] = copy;
	return &key[k->count++];
}

int keys_parse(struct keys *k, const char *list, struct error *e)
{
	while (*list) {
		size_t n = keys_item_length(list);
		struct key *key = add_key(k, list, n);

		if (!key)
			return error_no_memory(e);
		if (parse_key(key, &key->needs, e))
			return -1;
		k->needs |= key->needs;
		for (size_t i = 0; i + 1 < k->count; i++)
			if (!strcmp(k->names[i], key->name))
				return error_set(e, NULL, NO_OFFSET, "the key '%s' is given twice",
						 key->name);
		k->by_type |= key->kind == BY_TYPE;
		key->begins = key->kind == BY_FIELD;
		k->begins += key->begins;
		list += n;
		if (*list == ',' && !*++list)
			return error_set(e, NULL, NO_OFFSET,
					 "a key is missing after the last comma");
	}
	return 0;
}

enum key_side keys_side(const struct key *k)
{
	const char *sides = "abw", *side;

	if (k->quoted || k->kind != BY_FIELD || !*k->field || k->field[1] != '.')
		return KEY_OF_EITHER;
	side = strchr(sides, *k->field);
	return side ? KEY_OF_A + (enum key_side)(side - sides) : KEY_OF_EITHER;
}

/* Resolve the prefix of one key, which is still the name of a field. */
static int resolve_side(struct key *k, const char *end_fields, uint32_t *needs, struct error *e)
{
	k->side = keys_side(k);
	if (k->side == KEY_OF_EITHER) {
		if (end_fields && k->kind == BY_FIELD &&
		    !strncmp(k->field, end_fields, strlen(end_fields)))
			k->side = KEY_OF_B;
		if (k->kind == BY_STACK) {
			k->side = KEY_OF_A;
			*needs |= NEEDS_EVENT;
		}
		return 0;
	}
	memmove(k->field, k->field + 2, strlen(k->field) - 1);
	if (*k->field == '.' && keys_is_name(k->field + 1)) {
		memmove(k->field, k->field + 1, strlen(k->field));
		return 0;
	}
	for (size_t i = 0; i < COUNT_OF(key_names); i++) {
		if (strcmp(k->field, key_names[i].name) != 0 || key_names[i].needs & NEEDS_CALL)
			continue;
		k->kind = key_names[i].kind;
		*needs |= key_names[i].needs;
		if (key_names[i].needs & (NEEDS_CALLER | NEEDS_LEVEL))
			return error_set(e, NULL, NO_OFFSET,
					 "pairs are not calls: they have no caller and no depth");
	}
	return keys_is_name(k->field) ? 0 : keys_refuse(k->name, e);
}

/* Make of the keys tid, pid, comm and stack those of the pair's task. */
static int name_task(struct key *k, const struct pair_task *task, uint32_t *needs, struct error *e)
{
	const char *of_task = k->kind == BY_TID	    ? task->tid
			      : k->kind == BY_PID   ? task->pid
			      : k->kind == BY_COMM  ? task->comm
			      : k->kind == BY_STACK ? task->stack
						    : k->name;
	struct key *rest = k->other;
	char *copy, *others;
	int bad;

	if (of_task == k->name)
		return 0;
	if (!of_task)
		return error_set(e, NULL, NO_OFFSET,
				 "no event of these pairs records the %.64s of their task; use "
				 "a.%.64s or b.%.64s, of one event",
				 k->name, k->name, k->name);
	copy = strdup(of_task);
	if (!copy)
		return error_no_memory(e);
	others = strchr(copy, '|');
	if (others)
		*others++ = '\0';
	k->other = NULL;
	bad = parse_plain(k, copy, needs, e) || parse_others(k, others, needs, e);
	while (k->other)
		k = k->other;
	k->other = rest;
	free(copy);
	return bad ? -1 : 0;
}

int keys_of_pair(struct keys *k, const char *end_fields, const struct pair_task *task,
		 struct error *e)
{
	k->pairs = true;
	k->begins = 0;
	for (size_t i = 0; i < k->count; i++) {
		struct key *key = &k->key[i];

		key->begins = false;
		for (struct key *a = key, *rest; a; a = rest) {
			/* those that name the task are not named again */
			rest = a->other;
			if (task && name_task(a, task, &k->needs, e))
				return -1;
			for (struct key *b = a; b != rest; b = b->other) {
				if (resolve_side(b, end_fields, &k->needs, e))
					return -1;
				key->begins |= key_begins(b);
				if (b->side == KEY_OF_W && key->other)
					return error_set(
						e, NULL, NO_OFFSET,
						"'%s' cannot be an alternative of another key",
						b->name);
			}
		}
		k->wakers += key->side == KEY_OF_W;
		k->begins += key->begins;
	}
	return 0;
}

/* Returns true for a key that is a time of a clock in ns, or of a duration that is one: durations
 * may be weights of samples. */
static bool key_is_time(const struct key *k, const struct clocks *clocks)
{
	switch (k->kind) {
	case BY_TIME: return clocks->times;
	case BY_DURATION:
	case BY_SELF: return clocks_durations(clocks);
	default: return false;
	}
}

int keys_check_clocks(const struct keys *k, const struct clocks *clocks, struct error *e)
{
	for (size_t i = 0; i < k->count; i++) {
		const struct key *key = &k->key[i];
		char width[24];

		if (clocks->ticks && key->unit)
			return error_set(
				e, NULL, NO_OFFSET,
				"the clock counts ticks: use a number without a unit, not '%s'",
				key->name);
		if (key->unit || !key->width || !key_is_time(key, clocks))
			continue;
		snprintf(width, sizeof width, "%" PRIu64, key->width);
		return time_needs_unit(NULL, key->name, width, e);
	}
	return 0;
}

void keys_free(struct keys *k)
{
	for (size_t i = 0; i < k->count; i++) {
		struct key *other = k->key[i].other, *next;

		for (; other; other = next) {
			next = other->other;
			free(other->name);
			free(other->field);
			free(other);
		}
		free(k->key[i].name);
		free(k->key[i].field);
	}
	free(k->key);
	free(k->names);
}

/* --- numbers as keys: bucket(F,N), log2(F), log2(F,N), hist(F) --- */

static struct key_cell with_sign(bool negative, uint64_t size)
{
	/* a negative size is at most that of INT64_MIN */
	return negative ? key_signed((int64_t)-size) : key_unsigned(size);
}

/* Get the key of a number that may have more than 64 bits. */
static struct key_cell key_wide(int128 number)
{
	if (number != saturated_64(number))
		return key_real((double)number, false);
	return number < 0 ? key_signed((int64_t)number) : key_unsigned((uint64_t)number);
}

/* Get the bucket of an integer: rounded down, also negative numbers. */
static struct key_cell keys_bucket_of(int128 number, uint64_t width)
{
	int128 rest = number % width;

	return key_wide(number - rest - (rest < 0 ? width : 0));
}

/* Get what the powers of two are multiples of. */
static uint64_t log2_width(const struct key *k)
{
	return k->width ? k->width : 1;
}

/* Get N times the largest power of two that is not above size/N; 0: there is none. */
static uint64_t log2_of(uint64_t size, uint64_t n)
{
	return size < n ? 0 : n << (63 - __builtin_clzll(size / n));
}

/* Get the key of a float beyond the integers of 64 bits, of a bucket beyond those of 127. */
static struct key_cell transform_large(const struct key *k, double real)
{
	enum { HIST = 2 << HISTOGRAM_PRECISION }; /* the fraction is in [0.5, 1) */
	double fraction, sign = real < 0 ? -1 : 1;
	long double rest;
	int exponent;

	if (k->transform == KEY_BUCKET) {
		rest = fmodl(real, k->width);
		return key_real((double)(real - rest - (rest < 0 ? k->width : 0)), false);
	}
	fraction = frexp(fabs(real) / log2_width(k), &exponent);
	fraction = k->transform == KEY_LOG2 ? 0.5 * log2_width(k) : floor(fraction * HIST) / HIST;
	return key_real(ldexp(sign * fraction, exponent), false);
}

static struct key_cell transform_real(const struct key *k, double real)
{
	if (k->transform == KEY_BUCKET && fabs(real) < 0x1p126)
		return keys_bucket_of((int128)floor(real), k->width);
	if (real >= 0x1p64 || real < -0x1p63)
		return transform_large(k, real);
	return key_transform(k, key_wide((int128)real));
}

struct key_cell key_transform(const struct key *k, struct key_cell c)
{
	bool negative = c.kind == KEY_SIGNED;
	uint64_t size = negative ? -c.value : c.value;

	if (c.kind == KEY_PENDING || k->transform == KEY_AS_IT_IS)
		return c;
	if (c.kind == KEY_REAL)
		return transform_real(k, key_real_value(&c));
	if (c.kind != KEY_SIGNED && c.kind != KEY_UNSIGNED && c.kind != KEY_ADDRESS)
		return (struct key_cell){0};
	switch (k->transform) {
	case KEY_AS_IT_IS: break;
	case KEY_BUCKET: return keys_bucket_of(negative ? -(int128)size : size, k->width);
	case KEY_LOG2: return with_sign(negative, log2_of(size, log2_width(k)));
	case KEY_HIST: return with_sign(negative, histogram_low(histogram_index(size)));
	}
	return c;
}

size_t keys_time_bucket(const struct keys *k)
{
	size_t least = 0;

	for (size_t i = 0; i < k->count; i++)
		if (key_is_time_bucket(&k->key[i]) &&
		    (!least || k->key[i].width < k->key[least - 1].width))
			least = i + 1;
	return least;
}

const char *keys_state(const struct keys *k)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->key[i].state)
			return k->key[i].field;
	return NULL;
}

bool keys_same_time(const struct keys *k, uint64_t first, uint64_t last)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->key[i].kind == BY_TIME &&
		    key_transform(&k->key[i], key_unsigned(first)).value !=
			    key_transform(&k->key[i], key_unsigned(last)).value)
			return false;
	return true;
}

/* --- keys --- */

/* Take the label of an enum's number, where it has one. */
static void keys_take_label(const struct definition *names, struct field_value *out)
{
	const struct member *label = definition_member(names, out->u);

	if (!label)
		return;
	out->form = FORM_TEXT;
	out->text = (const uint8_t *)label->name.text;
	out->size = label->name.size;
}

/* Set a text: the spelling as a key of a value that is no number. */
static void set_spelling(struct field_value *out, const char *text)
{
	out->form = FORM_TEXT;
	out->text = (const uint8_t *)text;
	out->size = strlen(text);
}

static void from_value(const struct dictionary *d, const struct value *v, struct field_value *out)
{
	const struct definition *names =
		v->tag == VALUE_ENUM ? dictionary_definition_id(d, v->definition) : NULL;
	long double real;
	bool is_signed;
	uint64_t n;

	if (value_integer(v, names, &n, &is_signed)) {
		out->form = is_signed ? FORM_INT : FORM_UINT;
		out->u = n;
		keys_take_label(names, out);
	} else if (v->tag == VALUE_NULL || (v->tag == VALUE_STRING && value_is_null_string(v))) {
		set_spelling(out, "NULL");
	} else if (value_real(v, &real)) {
		out->form = FORM_REAL;
		out->real = (double)real;
		out->size = v->size;
	} else if (v->tag == VALUE_STRING || v->tag == VALUE_BLOB || v->tag == VALUE_OPAQUE) {
		out->form = FORM_TEXT;
		out->text = v->bytes;
		out->size = v->n;
	}
}

bool event_ref_field(const struct dictionary *d, const struct event *e, const char *name,
		     struct field_value *out)
{
	const struct field *f = field_find(e->type, name);
	struct field_part part;
	struct value v;

	out->form = FORM_NONE;
	if (f) {
		part = field_part(f, name);
		field_get(e, f, part.index, out);
		if ((f->kind == FIELD_ENUM || part.name) && out->form != FORM_NONE)
			keys_take_label(f->definition, out);
	} else if (argument_by_key(d, e, name, &v)) {
		from_value(d, &v, out);
	}
	if (out->form == FORM_REAL && !isfinite(out->real))
		set_spelling(out, isnan(out->real) ? "nan" : out->real < 0 ? "-inf" : "inf");
	return out->form != FORM_NONE;
}

static int text_cell(struct key_texts *g, struct text_ref t, struct key_cell *cell)
{
	return key_text(g, t.text, t.size, cell);
}

static int name_cell(struct dictionary *d, struct key_texts *g, const struct event_ref *s,
		     struct key_cell *cell)
{
	bool call = !s->syscall && (s->location || s->frame || s->type->kind == KIND_ENTER ||
				    s->type->kind == KIND_LEAVE);
	struct text_ref type = s->type->name;
	uint32_t prefix = s->syscall ? syscall_prefix(type) : 0;

	if (prefix)
		return key_text(g, type.text + prefix, type.size - prefix, cell);
	return text_cell(g, call ? dictionary_location_name(d, s->location) : type, cell);
}

/* Make a cell of the text in b, which is freed; bad: the text is missing. */
static int buffer_cell(struct key_texts *g, struct buffer *b, int bad, struct key_cell *cell)
{
	bad = bad || key_text(g, b->data, b->size, cell) ? -1 : 0;
	buffer_free(b);
	return bad;
}

static int plain_cell_of(struct key_texts *g, const struct plain_value *v, struct key_cell *cell)
{
	const char *text;
	size_t size;

	if (v->kind == PLAIN_INT)
		*cell = key_signed((int64_t)v->number);
	else if (v->kind == PLAIN_UINT)
		*cell = key_unsigned(v->number);
	else if (v->kind == PLAIN_REAL && isfinite(v->real))
		*cell = key_real(v->real, v->size == 4);
	else if (plain_text(v, &text, &size))
		return key_text(g, text, size, cell);
	return 0;
}

/* Returns true if the value is always shown in hexadecimal. */
static bool is_hex(const struct value *v)
{
	return v->tag == VALUE_POINTER ||
	       (v->tag == VALUE_NUMBER && v->size <= 8 && v->format && strchr("xop", v->format));
}

/* Add the name of a number to its cell. */
static int name_number(const struct plain_source *source, struct key_texts *g,
		       const struct value_item *item, struct key_cell *cell)
{
	struct plain_value plain = {.text = ""};
	struct key_cell name;

	if (!item->definition || !key_is_number(cell))
		return 0;
	if ((value_is_named(item) && value_plain(source, item, &plain)) ||
	    key_text(g, plain.text, plain.number, &name))
		return -1;
	cell->text = name.text;
	cell->label = true;
	return 0;
}

/* Make the cell of a value, or of an element of a field. */
static int item_cell(const struct dictionary *d, struct key_texts *g, const struct event *e,
		     const struct value_item *item, struct key_cell *cell)
{
	struct buffer scratch = {0};
	struct plain_source source = {d, &scratch, argument_blobs(e->type), false};
	const struct value *v = &item->value;
	struct plain_value plain;
	uint64_t bits = v->number, number;
	bool is_signed;
	int bad;

	/* the cell sorts by its number */
	if (is_hex(v)) {
		if (v->tag == VALUE_NUMBER && v->size < 8)
			bits &= (1ull << 8 * v->size) - 1;
		*cell = (struct key_cell){.kind = KEY_ADDRESS, .value = bits};
	}
	/* a value with children is not a key */
	if (v->tag == VALUE_ARRAY || v->tag == VALUE_STRUCT || v->tag == VALUE_MISSING)
		return 0;
	bad = cell->kind == KEY_MISSING &&
	      (value_plain(&source, item, &plain) || plain_cell_of(g, &plain, cell));
	source.names = true;
	bad = bad || name_number(&source, g, item, cell);
	buffer_free(&scratch);
	if (cell->kind == KEY_TEXT && item->definition &&
	    value_integer(v, item->definition, &number, &is_signed)) {
		cell->label = true;
		cell->is_signed = is_signed;
		cell->value = number;
	}
	return bad ? -1 : 0;
}

/* Make the cell of a call's detail other than its arguments. */
static int detail_cell(const struct dictionary *d, struct key_texts *g, const struct event *e,
		       const char *name, struct key_cell *cell)
{
	struct values frames;
	struct buffer b = {0};
	uint64_t count;
	bool fake;

	if (!strcmp(name, "fake") && argument_fake(e, &fake))
		return key_text(g, fake ? "true" : "false", fake ? 4 : 5, cell);
	else if (!strcmp(name, "backtrace") && argument_backtrace(e, &frames, &count))
		return buffer_cell(g, &b,
				   buffer_reserve(&b, 64) ||
					   value_backtrace_text(&b, d, &frames, count),
				   cell);
	return 0;
}

static int field_cell(const struct dictionary *d, struct key_texts *g, const struct event *e,
		      const char *name, struct key_cell *cell)
{
	const struct field *f;
	struct value_item item;

	/* most events of function tracers: 0.8 of the instructions of --where 'running > 5us' */
	if (!e || !(e->type->nfields || e->type->flags & TYPE_VALUES))
		return 0;
	f = field_find(e->type, name);
	if (f) {
		field_named_item(e, f, name, &item);
		return item_cell(d, g, e, &item, cell);
	}
	if (!argument_by_key(d, e, name, &item.value))
		return detail_cell(d, g, e, name, cell);
	item.definition = dictionary_definition_id(d, item.value.definition);
	return item_cell(d, g, e, &item, cell);
}

static void cpu_cell(const struct event_ref *s, struct key_cell *cell)
{
	int64_t cpu;

	if (field_cpu(s->lane, s->event, &cpu))
		*cell = key_signed(cpu);
}

static int location_cell(struct dictionary *d, struct key_texts *g, const struct event_ref *s,
			 enum key_kind kind, struct key_cell *cell)
{
	const struct location *p = dictionary_location(d, s->location);

	if (!p)
		return 0;
	if (kind == BY_ADDRESS) {
		*cell = (struct key_cell){.kind = KEY_ADDRESS, .value = p->address};
		return 0;
	}
	if (!p->symbol)
		return 0;
	if (kind == BY_MODULE && p->symbol->module.size)
		return text_cell(g, p->symbol->module, cell);
	if (kind == BY_FILE && p->symbol->file.size)
		return text_cell(g, p->symbol->file, cell);
	if (kind == BY_LINE && p->symbol->line)
		*cell = key_unsigned(p->symbol->line);
	return 0;
}

enum symkind { SYMKIND_PLT, SYMKIND_KERNEL, SYMKIND_FUNCTION, SYMKINDS };

const char *const key_symkinds[] = {[SYMKIND_PLT] = "plt",
				    [SYMKIND_KERNEL] = "kernel",
				    [SYMKIND_FUNCTION] = "function",
				    [SYMKINDS] = NULL};

/* Make the cell of symkind: a function called through the PLT, in the kernel, or another one. */
static int symkind_cell(struct dictionary *d, struct key_texts *g, const struct event_ref *s,
			struct key_cell *cell)
{
	const struct location *p = dictionary_location(d, s->location);
	uint32_t flags = p && p->symbol ? p->symbol->flags : 0;
	enum symkind is = SYMKIND_FUNCTION;

	if (!p)
		return 0;
	if (flags & SYMBOL_PLT)
		is = SYMKIND_PLT;
	else if (flags & SYMBOL_KERNEL || (p->space && p->space->flags & SPACE_KERNEL))
		is = SYMKIND_KERNEL;
	return key_text(g, key_symkinds[is], strlen(key_symkinds[is]), cell);
}

static int class_cell(struct dictionary *d, struct key_texts *g, const struct event_ref *s,
		      struct key_cell *cell)
{
	struct text_ref name = dictionary_location_name(d, s->location);
	const char *class = apitrace_class(name.text, name.size);

	return class ? key_text(g, class, strlen(class), cell) : 0;
}

/* Make the cell before key_transform. */
static int plain_cell(const struct key *k, struct dictionary *d, struct key_texts *g,
		      const struct event_ref *s, struct key_cell *cell)
{
	const char *kind = type_kind_name(s->type->kind);

	switch (k->kind) {
	case BY_NAME: return name_cell(d, g, s, cell);
	case BY_TYPE: return text_cell(g, s->type->name, cell);
	case BY_GROUP: return text_cell(g, s->type->group, cell);
	case BY_KIND: return key_text(g, kind, strlen(kind), cell);
	case BY_INPUT: return text_cell(g, s->lane->source->name, cell);
	case BY_BUFFER: return text_cell(g, s->lane->buffer, cell);
	case BY_TID:
		if (s->lane->flags & LANE_HAS_TID)
			*cell = key_signed(s->lane->tid);
		return 0;
	case BY_PID:
		if (s->lane->flags & LANE_HAS_PID)
			*cell = key_signed(s->lane->pid);
		return 0;
	case BY_PPID:
		if (s->lane->flags & LANE_HAS_PID)
			*cell = key_signed(s->lane->ppid);
		return 0;
	case BY_COMM: return s->lane->comm.size ? text_cell(g, s->lane->comm, cell) : 0;
	case BY_CPU: cpu_cell(s, cell); return 0;
	case BY_MODULE:
	case BY_FILE:
	case BY_LINE:
	case BY_ADDRESS: return location_cell(d, g, s, k->kind, cell);
	case BY_CALLER:
		if (s->caller)
			return text_cell(g, dictionary_location_name(d, s->caller), cell);
		return 0;
	case BY_DEPTH: *cell = key_unsigned(s->level); return 0;
	case BY_CLASS: return class_cell(d, g, s, cell);
	case BY_SYMKIND: return symkind_cell(d, g, s, cell);
	case BY_STACK:
		if (s->stack)
			*cell = (struct key_cell){.kind = KEY_STACK, .value = s->stack};
		return 0;
	case BY_TIME: *cell = key_unsigned(s->time); return 0;
	case BY_DURATION:
	case BY_SELF:
		if (!s->timed)
			return field_cell(d, g, s->event, k->field, cell);
		*cell = s->type->kind == KIND_SAMPLE && type_weight_is_signed(s->type)
				? key_signed((int64_t)(k->kind == BY_DURATION ? s->total : s->self))
				: key_unsigned(k->kind == BY_DURATION ? s->total : s->self);
		if (s->pending)
			*cell = (struct key_cell){.kind = KEY_PENDING, .value = KEY_PENDING_TIME};
		return 0;
	case BY_FIELD: return field_cell(d, g, s->event, k->field, cell);
	}
	return 0;
}

/* Make the cell of B or C, for A|B|C. */
static int other_cell(const struct key *k, struct dictionary *d, struct key_texts *g,
		      const struct event_ref *s, struct key_cell *cell)
{
	int bad = 0;

	*cell = (struct key_cell){0};
	for (k = k->other; k && !bad && cell->kind == KEY_MISSING; k = k->other)
		bad = plain_cell(k, d, g, s, cell);
	return bad;
}

/* Make the cell of A|B: the first alternative that the row has. */
static int first_cell(const struct key *k, struct dictionary *d, struct key_texts *g,
		      const struct event_ref *s, struct key_cell *cell)
{
	int bad = plain_cell(k, d, g, s, cell);

	return bad || cell->kind != KEY_MISSING || !k->other ? bad : other_cell(k, d, g, s, cell);
}

int keys_cell(const struct keys *k, size_t key, struct dictionary *d, struct key_texts *g,
	      const struct event_ref *s, struct key_cell *cell)
{
	*cell = (struct key_cell){0};
	if (first_cell(&k->key[key], d, g, s, cell))
		return -1;
	if (k->key[key].transform)
		*cell = key_transform(&k->key[key], *cell);
	return 0;
}

/* Returns true if the leave has the argument, though without the part that the key selects. */
static bool keys_is_given(const struct key *k, const struct dictionary *d, const struct event *e)
{
	if (!e || k->other || k->kind != BY_FIELD)
		return false;
	return argument_given(d, e, k->field + (strncmp(k->field, "arg.", 4) ? 0 : 4));
}

/* Make the cell of a pair that its B gives. */
static int end_cell(const struct key *k, struct dictionary *d, struct key_texts *g,
		    const struct event_ref *s, struct key_cell *cell)
{
	int bad = 0;

	*cell = (struct key_cell){0};
	for (; k && !bad && cell->kind == KEY_MISSING; k = k->other)
		if (k->side != KEY_OF_A && k->side != KEY_OF_W)
			bad = plain_cell(k, d, g, s, cell);
	return bad;
}

static int pair_cell(const struct key *k, struct dictionary *d, struct key_texts *g,
		     const struct event_ref *s, const struct key_cell *begun, struct key_cell *cell)
{
	if (begun && begun->kind != KEY_MISSING) {
		*cell = *begun;
		return 0;
	}
	return end_cell(k, d, g, s, cell);
}

static int call_cell(const struct key *k, struct dictionary *d, struct key_texts *g,
		     const struct event_ref *s, const struct key_cell *begun, struct key_cell *cell)
{
	if (first_cell(k, d, g, s, cell))
		return -1;
	if (begun && cell->kind == KEY_MISSING && !keys_is_given(k, d, s->event))
		*cell = *begun;
	return 0;
}

struct event_ref event_ref_of_call(const struct call *call, const struct type *type,
				   const struct event *e, const struct key_cell *entered)
{
	return (struct event_ref){.lane = call->lane,
				  .type = type,
				  .event = e,
				  .location = call->location,
				  .caller = call->caller,
				  .level = call->level,
				  .time = call->end,
				  .entered = entered,
				  .timed = true,
				  .total = call->total,
				  .self = call->self};
}

/* Test whether the row is a call: a sample, or a pair, has times too. */
static bool keys_is_call(const struct event_ref *s)
{
	return s->timed && (s->type->kind == KIND_ENTER || s->type->kind == KIND_LEAVE);
}

int keys_cells(const struct keys *k, struct dictionary *d, struct key_texts *g,
	       const struct event_ref *s, struct key_cell *cells)
{
	const struct key_cell *entered = s->entered;

	for (size_t i = 0; i < k->count; i++) {
		const struct key *key = &k->key[i];
		const struct key_cell *begun = key->begins && entered ? entered++ : NULL;

		cells[i] = (struct key_cell){0};
		if (k->pairs ? pair_cell(key, d, g, s, begun, &cells[i])
			     : call_cell(key, d, g, s, begun, &cells[i]))
			return -1;
		/* with the key type, an enter and its leave are in two groups */
		if (key->kind == BY_KIND && !k->pairs && !k->by_type && keys_is_call(s) &&
		    key_text(g, "call", 4, &cells[i]))
			return -1;
		if (key->state && key->transform == KEY_HIST)
			cells[i] = (struct key_cell){0};
		if (key->state && cells[i].kind == KEY_MISSING && s->states)
			cells[i] = key_unsigned(s->states[key->state - 1]);
		if (key->transform)
			cells[i] = key_transform(key, cells[i]);
	}
	return 0;
}

int keys_begin_cells(const struct keys *k, struct dictionary *d, struct key_texts *g,
		     const struct event_ref *s, struct key_cell *cells)
{
	for (size_t i = 0; i < k->count; i++) {
		if (!k->key[i].begins)
			continue;
		*cells = (struct key_cell){0};
		for (const struct key *a = &k->key[i]; a && cells->kind == KEY_MISSING;
		     a = a->other)
			if (key_begins(a) && a->side != KEY_OF_W && plain_cell(a, d, g, s, cells))
				return -1;
		cells++;
	}
	return 0;
}

int keys_waker_cells(const struct keys *k, struct dictionary *d, struct key_texts *g,
		     const struct event_ref *s, struct key_cell *cells)
{
	for (size_t i = 0; i < k->count; i++) {
		if (k->key[i].side == KEY_OF_W && plain_cell(&k->key[i], d, g, s, cells))
			return -1;
		cells += k->key[i].begins;
	}
	return 0;
}

int keys_end_cells(const struct keys *k, struct dictionary *d, struct key_texts *g,
		   const struct event_ref *s, struct key_cell *cells)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->key[i].begins && end_cell(&k->key[i], d, g, s, cells++))
			return -1;
	return 0;
}
