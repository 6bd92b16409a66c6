/*
 * uftrace.c - as uftrace replay prints: the columns, calls and values
 *
 *     # DURATION     TID     FUNCTION
 *                 [ 13332] | main(1, 0x7ffdeaaa8b88) {
 *        0.230 us [ 13332] |   add(1, 2) = 3;
 */
#include "cmd/trencode/text/uftrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/trencode/text/layout.h"
#include "cmd/trencode/text/tracecmd.h"
#include "common/symbols/symbols.h"
#include "common/formats/uftrace.h"
#include "common/stream/event.h"
#include "common/stream/field.h"
#include "common/stream/reader.h"
#include "common/symbols/demangle.h"
#include "common/value/scalar.h"
#include "common/value/value_text.h"

/* --- names and data of uftrace events, as `uftrace replay` prints them --- */

static void put_three_digits(char *out, unsigned v, char pad)
{
	out[0] = v >= 100 ? (char)('0' + v / 100) : pad;
	out[1] = v >= 10 ? (char)('0' + v / 10 % 10) : pad;
	out[2] = (char)('0' + v % 10);
}

/* Split a duration into whole units and their thousandths, or seconds of a minute, or minutes of an
 * hour. Returns the unit. */
static const char *duration_split(uint64_t ns, uint64_t *whole, uint64_t *part)
{
	uint64_t v;

	/* by constants: a division by a variable costs more than all the rest */
	if (ns < 1000000) {
		*whole = ns / 1000;
		*part = ns % 1000;
		return "us";
	}
	v = ns / 1000;
	if (v < 1000000) {
		*whole = v / 1000;
		*part = v % 1000;
		return "ms";
	}
	v /= 1000;
	if (v < 60000) {
		*whole = v / 1000;
		*part = v % 1000;
		return " s";
	}
	v /= 1000;
	if (v < 3600) {
		*whole = v / 60;
		*part = v % 60;
		return " m";
	}
	v /= 60;
	*whole = v / 60;
	*part = v % 60;
	return " h";
}

void duration_text(char *out, uint64_t ns)
{
	uint64_t whole, part;
	const char *unit;

	if (!ns) {
		memset(out, ' ', DURATION_WIDTH);
		return;
	}
	unit = duration_split(ns > INT64_MAX ? -ns : ns, &whole, &part);
	if (whole > 999)
		whole = part = 999;
	put_three_digits(out, (unsigned)whole, ' ');
	out[3] = '.';
	put_three_digits(out + 4, (unsigned)part, '0');
	out[7] = ' ';
	memcpy(out + 8, unit, 2);
}

/* --- symbols --- */

enum { NAME_CACHE = 256 };

/* One META block with symbols, parsed when the first address is looked up in it. */
struct symbol_table {
	struct buffer text;
	struct symbols *symbols;
	bool bad; /* unusable: pieces are missing, or parsing ran out of memory */
};

struct text_symbols {
	struct symbol_table *tables; /* by number in names */
	size_t ntables;
	struct intern names; /* of the tables: source, u32, and name */
	struct {
		const struct symbol *symbol;
		char *name;
	} demangled[NAME_CACHE];
};

static void text_symbols_free(struct text_symbols *s)
{
	for (size_t i = 0; i < s->ntables; i++) {
		buffer_free(&s->tables[i].text);
		symbols_free(s->tables[i].symbols);
	}
	free(s->tables);
	for (size_t i = 0; i < NAME_CACHE; i++)
		free(s->demangled[i].name);
	intern_free(&s->names);
}

/* Get the number of a table, INTERN_NONE: it is not there, or out of memory. */
static uint32_t table_number(struct text_symbols *s, uint32_t source, const char *name, size_t n,
			     bool add)
{
	struct buffer b = {0};
	uint32_t number = INTERN_NONE;

	if (!buffer_u32(&b, source) && !buffer_append(&b, name, n))
		number = add ? intern(&s->names, b.data, b.size)
			     : intern_find(&s->names, b.data, b.size);
	buffer_free(&b);
	return number;
}

/* Take a piece of a META block. Returns -1 when out of memory. */
static int text_symbols_meta(struct text_symbols *s, const struct meta *m)
{
	struct symbol_table *t;
	uint32_t number;

	if (m->name_size <= 4 || memcmp(m->name + m->name_size - 4, ".sym", 4) ||
	    m->flags & META_REFERENCE)
		return 0;
	number = table_number(s, m->source, m->name, m->name_size, true);
	if (number == INTERN_NONE || ARRAY_REACH(s->tables, s->ntables, number))
		return -1;
	t = &s->tables[number];
	if (t->symbols || m->offset != t->text.size) {
		/* the same table again, or a piece is missing */
		t->bad |= !t->symbols && m->offset > t->text.size;
		return 0;
	}
	return buffer_append(&t->text, m->data, m->size);
}

static struct symbols *symbols_of(struct text_symbols *s, const struct space *space,
				  const struct map *map)
{
	struct symbol_table *t;
	uint32_t number;

	if (!map->table.size || !space->source)
		return NULL;
	number = table_number(s, space->source->number, map->table.text, map->table.size, false);
	t = number < s->ntables ? &s->tables[number] : NULL;
	if (!t || t->bad)
		return NULL;
	if (!t->symbols) {
		t->symbols = symbols_from_uftrace((const char *)t->text.data, t->text.size);
		t->bad = !t->symbols;
		buffer_free(&t->text);
	}
	return t->symbols;
}

static const struct symbol *find_in_map(struct text_symbols *s, const struct space *space,
					const struct map *map, uint64_t address, uint64_t *offset)
{
	struct symbols *symbols = symbols_of(s, space, map);
	const struct symbol *found;

	address = address - map->start + map->offset;
	found = symbols ? symbols_find(symbols, address) : NULL;
	if (found && offset)
		*offset = address - found->start;
	return found;
}

static const struct symbol *find_symbol(struct text_symbols *s, const struct space *space,
					uint64_t time, uint64_t address, bool loaded,
					uint64_t *offset)
{
	const struct symbol *found = NULL;
	size_t i;

	for (i = 0; i < space->nmaps; i++) {
		const struct map *map = &space->maps[i];

		if (!map->epoch && address >= map->start && address < map->end) {
			found = find_in_map(s, space, map, address, offset);
			break;
		}
	}
	for (i = space->nmaps; loaded && !found && i-- > 0;) {
		const struct map *map = &space->maps[i];

		/* a mapping without an end: only its symbols show which addresses it has */
		if (map->epoch && map->time <= time && (!map->end || address < map->end))
			found = find_in_map(s, space, map, address, offset);
	}
	return found;
}

/*
 * Return the demangled name of the symbol that contains an address in a space at a time, or NULL.
 * The symbol is searched in the initial mapping of the address and, with loaded, in the modules
 * that were loaded later, the latest first. *offset (may be NULL) is the distance of the address
 * from the symbol's start, bytes. The name is valid until the next call.
 */
static const char *text_symbols_find(struct text_symbols *s, const struct space *space,
				     uint64_t time, uint64_t address, bool loaded, uint64_t *offset)
{
	const struct symbol *symbol =
		space ? find_symbol(s, space, time, address, loaded, offset) : NULL;
	size_t i = hash_u64((uintptr_t)symbol) % NAME_CACHE;

	if (!symbol)
		return NULL;
	if (s->demangled[i].symbol != symbol) {
		free(s->demangled[i].name);
		s->demangled[i].symbol = symbol;
		s->demangled[i].name = demangle(symbol->name, DEMANGLE_SIMPLE);
	}
	return s->demangled[i].name ? s->demangled[i].name : symbol->name;
}

/* --- values --- */

enum { DECIMAL_LIMIT = 100000 }; /* larger numbers are printed in hexadecimal */

static int put_hex(struct buffer *out, uint64_t v)
{
	return v ? buffer_hex(out, v) : buffer_u8(out, '0');
}

static uint64_t truncate_bits(uint64_t v, unsigned size)
{
	return size < 8 ? v & ((1ull << 8 * size) - 1) : v;
}

/* Append a number whose signedness is unknown: small numbers in decimal, negative ones too if they
 * have the size of an int or a long, others in hexadecimal. */
static int put_auto(struct buffer *out, uint64_t bits, unsigned size)
{
	int64_t wide = size == 8 ? (int64_t)bits : (int64_t)truncate_bits(bits, size);

	if (wide >= -DECIMAL_LIMIT && wide <= DECIMAL_LIMIT)
		return buffer_signed(out, sign_extend(bits, size));
	if (wide > 0xffff0000 && wide <= 0xffffffff)
		return buffer_signed(out, (int32_t)wide);
	return put_hex(out, (uint64_t)wide);
}

static int put_escaped(struct buffer *out, char c)
{
	switch (c) {
	case '\0': return buffer_puts(out, "\\0");
	case '\b': return buffer_puts(out, "\\b");
	case '\n': return buffer_puts(out, "\\n");
	}
	return buffer_append(out, &c, 1);
}

/* Append a string up to its NUL, with escapes; strings with UTF-8 unchanged. */
static int text_columns_put_string(struct buffer *out, const uint8_t *p, size_t n)
{
	const uint8_t *end = memchr(p, 0, n);
	size_t i;

	if (end)
		n = (size_t)(end - p);
	for (i = 0; i < n && !(p[i] & 0x80);)
		i++;
	if (buffer_puts(out, "\""))
		return -1;
	if (i + 1 < n) {
		if (buffer_append(out, p, n))
			return -1;
	} else {
		for (i = 0; i < n; i++)
			if (put_escaped(out, (char)p[i]))
				return -1;
	}
	return buffer_puts(out, "\"");
}

/* Get the name of a variable or function at an address; NULL: none is known. */
static const char *pointer_name(const struct value_names *names, uint64_t address)
{
	return names->symbols ? text_symbols_find(names->symbols, names->space, names->time,
						  address, true, NULL)
			      : NULL;
}

static int put_pointer(struct buffer *out, const struct value_names *names, uint64_t address)
{
	const char *name = pointer_name(names, address);

	if (name)
		return buffer_puts(out, "&") || buffer_puts(out, name) ? -1 : 0;
	return put_hex(out, address);
}

/* Append a label, the labels that add up to the number, or the number. */
static int put_enum(struct buffer *out, const struct definition *d, int64_t v)
{
	const struct member *m = definition_member(d, (uint64_t)v);
	size_t before = out->size;

	if (m)
		return buffer_puts(out, m->name.text);
	if (value_sum_text(out, d, (uint64_t)v))
		return -1;
	if (out->size > before)
		return 0;
	return v > DECIMAL_LIMIT || v < -DECIMAL_LIMIT ? put_hex(out, (uint64_t)v)
						       : buffer_signed(out, v);
}

static int text_columns_put_real(struct buffer *out, const struct value *v)
{
	long double number;

	if (!value_real(v, &number))
		return buffer_puts(out, "?");
	return buffer_printf(out, "%#Lf", number);
}

static int text_columns_put_number(struct buffer *out, const struct value_names *names,
				   const struct value *v)
{
	uint64_t bits = truncate_bits(v->number, v->size);

	if (v->format == 'f')
		return text_columns_put_real(out, v);
	if (v->size > 8) {
		if (buffer_puts(out, "0x"))
			return -1;
		for (unsigned i = v->size; i-- > 0;)
			if (buffer_printf(out, "%02x", v->bytes[i]))
				return -1;
		return 0;
	}
	switch (v->format) {
	case 'd': return put_auto(out, bits, v->size);
	case 'u': return bits > DECIMAL_LIMIT ? put_hex(out, bits) : buffer_decimal(out, bits);
	case 'x': return put_hex(out, bits);
	case 'o': return buffer_printf(out, "%#" PRIo64, bits);
	case 'p': return put_pointer(out, names, bits);
	case 'c':
		return buffer_puts(out, "'") || put_escaped(out, (char)bits) ||
				       buffer_puts(out, "'")
			       ? -1
			       : 0;
	case 'e': return buffer_signed(out, (int64_t)v->number);
	}
	return buffer_signed(out, sign_extend(bits, v->size));
}

/* Append a std::string as a literal of C++. */
static int put_std_string(struct buffer *out, const struct value *v)
{
	return text_columns_put_string(out, v->bytes, v->n) || buffer_puts(out, "s") ? -1 : 0;
}

static bool text_columns_is_named(const struct value *v, const char *name)
{
	return v->type_name_size == strlen(name) && !memcmp(v->type_name, name, v->type_name_size);
}

/* Append a struct whose members were not recorded. */
static int text_columns_put_opaque(struct buffer *out, const struct value *v)
{
	if (text_columns_is_named(v, "std::string"))
		return put_std_string(out, v);
	/* gcc's name for a lambda is of no use */
	if (!text_columns_is_named(v, "<lambda") &&
	    buffer_append(out, v->type_name, v->type_name_size))
		return -1;
	return buffer_puts(out, v->n ? "{...}" : "{}");
}

static int replay_scalar(void *to, const struct value_item *item)
{
	const struct value_names *names = to;
	const struct value *v = &item->value;
	struct buffer *out = names->out;
	bool is_signed;
	uint64_t n;

	switch (v->tag) {
	case VALUE_NULL: return buffer_puts(out, "NULL");
	case VALUE_FALSE: return buffer_puts(out, "false");
	case VALUE_TRUE: return buffer_puts(out, "true");
	case VALUE_NEGATIVE: return buffer_signed(out, (int64_t)v->number);
	case VALUE_UINT: return buffer_decimal(out, v->number);
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return text_columns_put_real(out, v);
	case VALUE_STRING:
		return value_is_null_string(v) ? buffer_puts(out, "NULL")
					       : text_columns_put_string(out, v->bytes, v->n);
	case VALUE_BLOB: return put_std_string(out, v);
	case VALUE_ENUM:
		value_integer(v, item->definition, &n, &is_signed);
		return put_enum(out, item->definition, (int64_t)n);
	case VALUE_BITMASK: return value_bits_text(out, item->definition, v->number);
	case VALUE_POINTER: return put_pointer(out, names, v->number);
	case VALUE_NUMBER: return text_columns_put_number(out, names, v);
	case VALUE_OPAQUE: return text_columns_put_opaque(out, v);
	}
	return buffer_puts(out, "?");
}

/* uftrace has no values with children. */
static int replay_begin(void *to, const struct value_parent *v, const struct values *rest)
{
	(void)rest;
	return buffer_puts(((const struct value_names *)to)->out, v->count ? "{...}" : "{}")
		       ? -1
		       : VALUE_SKIP;
}

static const struct value_style replay_style = {.scalar = replay_scalar, .begin = replay_begin};

int value_text(void *names, struct values *v)
{
	return value_walk(&replay_style, names, ((const struct value_names *)names)->dictionary, v);
}

/* --- details --- */

/* Find repeated arguments, whose last value is the valid one. *last: the end of the last value of
 * each argument, by number; NULL if no argument is repeated. */
static int find_repeated(const uint8_t *tail, size_t n, const uint8_t ***last)
{
	uint8_t seen[VALUE_INDEX_LIMIT / 8 + 1];
	struct values v;
	struct detail d;
	uint64_t most = 0, cleared = 0;
	bool repeated = false;

	*last = NULL;
	for (values_begin(&v, tail, n); values_detail(&v, &d);) {
		if (d.what != DETAIL_ARGUMENT)
			continue;
		for (; cleared <= d.index / 8; cleared++)
			seen[cleared] = 0;
		repeated |= seen[d.index / 8] >> d.index % 8 & 1;
		seen[d.index / 8] |= (uint8_t)(1 << d.index % 8);
		most = d.index > most ? d.index : most;
	}
	if (!repeated)
		return 0;
	*last = calloc(most + 1, sizeof **last);
	if (!*last)
		return -1;
	for (values_begin(&v, tail, n); values_detail(&v, &d);)
		if (d.what == DETAIL_ARGUMENT)
			(*last)[d.index] = v.at;
	return 0;
}

int details_append_arguments(struct buffer *out, const uint8_t *tail, size_t n,
			     int (*value)(void *to, struct values *v), void *to)
{
	const uint8_t **last;
	struct values v;
	uint64_t index;
	uint8_t what;
	bool any = false;
	int bad;

	if (find_repeated(tail, n, &last))
		return -1;
	bad = buffer_puts(out, "(");
	values_begin(&v, tail, n);
	while (!bad && values_what(&v, &what, &index)) {
		size_t before = out->size;

		if (what != DETAIL_ARGUMENT) {
			bad = !values_skip(&v);
			continue;
		}
		bad = (any && buffer_puts(out, ", ")) || value(to, &v);
		if (last && last[index] != v.at)
			out->size = before;
		else
			any = true;
	}
	free(last);
	return bad || buffer_puts(out, ")") ? -1 : 0;
}

int details_append_return(struct buffer *out, const uint8_t *tail, size_t n,
			  int (*value)(void *to, struct values *v), void *to)
{
	struct values v;
	uint64_t index;
	uint8_t what;

	values_begin(&v, tail, n);
	while (values_what(&v, &what, &index)) {
		if (what == DETAIL_RETURN)
			return buffer_puts(out, " = ") || value(to, &v) ? -1 : 0;
		if (!values_skip(&v))
			return -1;
	}
	return 0;
}

/* --- calls that are too short --- */

/*
 * The time filter of a recording: calls shorter than a limit are not shown.
 *
 * The default.opts of a recording made with -t contains that option, and uftrace applies it again
 * when it prints. Its rules: a call shorter than the limit is dropped with the events inside it,
 * unless an event inside it was already shown; scheduling is filtered in the same way, apart from
 * functions. An event is queued here until it is decided, at the latest when the limit has passed
 * since the event.
 */

enum threshold_kind {
	THRESHOLD_ENTER, /* decided by its leave */
	THRESHOLD_LEAVE, /* decides the last undecided enter */
	THRESHOLD_EVENT, /* shown if the call around it is */
	THRESHOLD_SHOWN, /* shown, and all calls around it */
	THRESHOLD_ALONE, /* shown, decides no call */
};

enum { MOST_QUEUED = 8 * 1024 * 1024 }; /* bytes */

enum state { UNDECIDED, SHOWN, DROPPED };

/* An event in the queue or in the list of undecided events. */
struct report_node {
	struct report_node *next;  /* in the order of the trace */
	struct report_node *below; /* in its thread's list of undecided events */
	struct event event;
	size_t size;
	uint8_t kind, state;
	bool queued, listed;
	uint8_t data[];
};

/* The queue of one recording. */
struct duration_threshold {
	uint64_t limit;			  /* ns; 0: there is no filter */
	uint64_t now;			  /* time of the event queued last, ns */
	uint64_t undecided;		  /* calls shown undecided, as the queue was full */
	struct report_node *first, *last; /* the queue */
	struct report_node *current;	  /* the event taken last */
	/* undecided events, two lists for each thread: of functions, of scheduling */
	struct report_node **lists;
	size_t nlists;
	size_t size; /* of the queue, bytes */
};

/* Free a node that is in no list and not in use by the caller. */
static void node_release(struct duration_threshold *t, struct report_node *n)
{
	if (!n->queued && !n->listed && n != t->current)
		free(n);
}

static void node_unlist(struct duration_threshold *t, struct report_node **list, enum state state)
{
	struct report_node *n = *list;

	*list = n->below;
	n->listed = false;
	if (n->state == UNDECIDED)
		n->state = (uint8_t)state;
	node_release(t, n);
}

static void duration_threshold_free(struct duration_threshold *t)
{
	struct report_node *n;

	for (size_t i = 0; i < t->nlists; i++)
		while (t->lists[i])
			node_unlist(t, &t->lists[i], SHOWN);
	while ((n = t->first)) {
		t->first = n->next;
		if (n != t->current)
			free(n);
	}
	free(t->current);
	free(t->lists);
}

static struct report_node *node_new(const struct event *ev, enum threshold_kind kind)
{
	size_t fixed = ev->type->fixed_size, tail = ev->tail_size;
	struct report_node *n = malloc(sizeof *n + fixed + tail);

	if (!n)
		return NULL;
	*n = (struct report_node){.event = *ev,
				  .size = sizeof *n + fixed + tail,
				  .kind = (uint8_t)kind,
				  .queued = true};
	if (fixed)
		memcpy(n->data, ev->fixed, fixed);
	n->event.fixed = n->data;
	if (ev->tail) {
		memcpy(n->data + fixed, ev->tail, tail);
		n->event.tail = n->data + fixed;
	}
	return n;
}

/* Decide by a leave the last undecided enter. */
static void decide_call(struct duration_threshold *t, struct report_node **list,
			struct report_node *leave)
{
	const struct report_node *enter = *list;

	while (enter && enter->kind != THRESHOLD_ENTER)
		enter = enter->below;
	if (enter && leave->event.time - enter->event.time < t->limit) {
		bool more = true;

		leave->state = DROPPED;
		while (more) {
			more = *list != enter;
			node_unlist(t, list, DROPPED);
		}
		return;
	}
	leave->state = SHOWN;
	while (*list)
		node_unlist(t, list, SHOWN);
}

/* Queue a copy of an event and its data. scheduling: it is filtered with other scheduling, apart
 * from functions. Returns -1 when out of memory. */
static int duration_threshold_put(struct duration_threshold *t, const struct event *ev,
				  enum threshold_kind kind, bool scheduling)
{
	size_t i = (size_t)ev->lane->thread * 2 + scheduling;
	struct report_node **list, *n;

	if (ARRAY_REACH(t->lists, t->nlists, i))
		return -1;
	list = &t->lists[i];
	n = node_new(ev, kind);
	if (!n)
		return -1;
	t->now = ev->time;
	t->size += n->size;
	if (t->last)
		t->last->next = n;
	else
		t->first = n;
	t->last = n;
	switch (kind) {
	case THRESHOLD_ENTER:
	case THRESHOLD_EVENT:
		/* events already shown need no decision */
		while (*list && (*list)->kind == THRESHOLD_EVENT && !(*list)->queued)
			node_unlist(t, list, SHOWN);
		n->below = *list;
		n->listed = true;
		*list = n;
		break;
	case THRESHOLD_LEAVE: decide_call(t, list, n); break;
	case THRESHOLD_SHOWN:
		while (*list)
			node_unlist(t, list, SHOWN);
		n->state = SHOWN;
		break;
	case THRESHOLD_ALONE: n->state = SHOWN; break;
	}
	return 0;
}

/* Test whether the first event of the queue is decided, or need not be decided any more. */
static bool is_decided(struct duration_threshold *t, struct report_node *n)
{
	if (n->state == UNDECIDED) {
		if (n->kind == THRESHOLD_ENTER && t->now - n->event.time < t->limit) {
			if (t->size <= MOST_QUEUED)
				return false;
			t->undecided++;
		}
		n->state = SHOWN;
	}
	return true;
}

/* Take the next event that is shown, in order; returns false if the first event queued is not
 * decided. The event is valid until the next call of duration_threshold_put or
 * duration_threshold_get. */
static bool duration_threshold_get(struct duration_threshold *t, struct event *ev)
{
	struct report_node *n = t->current;

	t->current = NULL;
	if (n)
		node_release(t, n);
	while ((n = t->first) && is_decided(t, n)) {
		t->first = n->next;
		if (!t->first)
			t->last = NULL;
		t->size -= n->size;
		n->queued = false;
		if (n->state == SHOWN) {
			t->current = n;
			*ev = n->event;
			return true;
		}
		node_release(t, n);
	}
	return false;
}

/* Decide the queue, where the trace ends or does not follow what was queued: all events are shown.
 */
static void duration_threshold_flush(struct duration_threshold *t)
{
	for (size_t i = 0; t->first && i < t->nlists; i++)
		while (t->lists[i])
			node_unlist(t, &t->lists[i], SHOWN);
}

/* Parse a time of -t as uftrace does: "100us", "1.5ms". Returns false if it is not a time. */
static bool duration_threshold_parse(const char *s, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"", 1},
		     {"ns", 1},
		     {"nsec", 1},
		     {"us", 1000},
		     {"usec", 1000},
		     {"ms", 1000000},
		     {"msec", 1000000},
		     {"s", 1000000000},
		     {"sec", 1000000000},
		     {"m", 60000000000},
		     {"min", 60000000000}};
	uint64_t whole = 0, part = 0, scale = 1;
	const char *p = s;

	for (; *p >= '0' && *p <= '9' && whole < 1000000; p++)
		whole = whole * 10 + (uint64_t)(*p - '0');
	if (p == s)
		return false;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9' && scale < 1000000000; p++, scale *= 10)
			part = part * 10 + (uint64_t)(*p - '0');
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcasecmp(p, units[i].name))
			continue;
		*ns = whole * units[i].ns +
		      (uint64_t)((double)part / (double)scale * (double)units[i].ns + 0.5);
		return true;
	}
	return false;
}

/* --- the stacks of tasks --- */

/*
 * The state that `uftrace replay` has of each task while it prints.
 *
 * The line of a call depends on more than its depth: on the indent after a fork, lost records or a
 * longjmp, on the depth limit, and on the assumed start of frames whose enter is missing. The state
 * here is that of uftrace, so that numbers and indents are equal: each task has a stack that
 * follows its enters and leaves (scheduling is a call too). The recorded depth is used only at the
 * first record of a task and after a loss.
 */

enum {
	FRAME_EXEC = 1,	   /* an exec: the stack is empty after it */
	FRAME_LONGJMP = 2, /* returns to the frame of the last setjmp */
	FRAME_HIDDEN = 4,  /* beyond the depth limit */
};

/* One frame of the stack of a task. */
struct replay_frame {
	uint64_t time;	   /* time of the enter, ns; after the leave the duration */
	uint32_t location; /* 0: the enter is missing */
	int32_t allowance; /* levels that could still be shown at the enter */
	uint8_t flags;
	bool open; /* time is that of the enter */
};

enum { FRAME_CHUNK = 64 };

/* A thread of a recording. */
struct replay_task {
	struct recording *recording;
	const struct lane *lane;
	int count, calls;  /* number of frames; of these, functions outside of the kernel */
	int indent;	   /* display depth */
	int fork_indent;   /* indent of the child of the last fork, 0: none */
	int32_t allowance; /* levels that can still be shown */
	/*
	 * The number of frames with that of an exec, and the indent inside the exec. They are
	 * restored if the exec has failed. 0: no exec was entered.
	 */
	int exec_count, exec_indent;
	bool indent_known, begun, fork_taken, after_loss;
	bool in_kernel;		   /* the last call was in the kernel */
	uint64_t time, last_time;  /* of this printed row, of the printed row before, ns */
	uint64_t callsite;	   /* address that makes the next call, 0: unknown */
	const struct space *space; /* address space of the last function */
	uint64_t unseen_time;	   /* assumed enter of frames without one, ns */
	struct replay_frame **chunks;
	size_t nchunks;
	char tid[16]; /* "[%6d]" */
	uint8_t tid_size;
};

/* A source of the format uftrace. */
struct recording {
	const struct source *source;
	struct text_symbols symbols;
	struct kernel_events *kernel;
	struct duration_threshold threshold;
	struct buffer info, options; /* beginnings of these files */
	bool ready;		     /* recording_begin was called */
	bool recent;		     /* written by a uftrace whose symbols have sizes */
	bool odd_options;	     /* default.opts has options other than -t */

	int max_stack;			 /* largest number of frames */
	int32_t depth;			 /* levels of nested calls shown */
	int setjmp_indent, setjmp_count; /* of the last setjmp of all tasks, as in uftrace */
	bool setjmp_shown;
	uint64_t first; /* time of the first row that counts, ns; 0: none */
	uint64_t last;	/* time of the last row printed, ns */
	bool out_of_memory;
	struct idmap tids; /* from tid to index of the task + 1 */
	struct replay_task **tasks;
	size_t ntasks, capacity;
};

/* The effect of a row on a stack. */
enum row_kind { ROW_ENTER, ROW_LEAVE, ROW_SCHED_OUT, ROW_SCHED_IN, ROW_EVENT, ROW_LOSS };

struct replay_row {
	enum row_kind kind;
	uint64_t time;
	uint32_t location, depth;
	bool kernel; /* a call in the kernel; depth counts from the task's calls outside of it */
};

/* Functions that change the stack. */
enum fixup { FIXUP_NONE, FIXUP_EXEC, FIXUP_SETJMP, FIXUP_LONGJMP, FIXUP_FORK };

/* Returns frame i from the bottom, or NULL outside of the stack. */
static struct replay_frame *replay_frame_slow(struct replay_task *t, int i)
{
	size_t chunk = (size_t)i / FRAME_CHUNK;

	if (i < 0 || i >= t->recording->max_stack)
		return NULL;
	if (chunk >= t->nchunks) {
		void *p = realloc(t->chunks, (chunk + 1) * sizeof *t->chunks);

		if (!p)
			goto no_memory;
		t->chunks = p;
		while (t->nchunks <= chunk)
			t->chunks[t->nchunks++] = NULL;
	}
	if (!t->chunks[chunk]) {
		struct replay_frame *frames = malloc(FRAME_CHUNK * sizeof *frames);

		if (!frames)
			goto no_memory;
		for (int k = 0; k < FRAME_CHUNK; k++)
			frames[k] = (struct replay_frame){.time = t->unseen_time,
							  .allowance = t->recording->depth,
							  .open = t->unseen_time};
		t->chunks[chunk] = frames;
	}
	return &t->chunks[chunk][i % FRAME_CHUNK];
no_memory:
	t->recording->out_of_memory = true;
	return NULL;
}

static inline struct replay_frame *replay_frame(struct replay_task *t, int i)
{
	if (__builtin_expect(i >= 0 && i < t->recording->max_stack &&
				     (size_t)i / FRAME_CHUNK < t->nchunks &&
				     t->chunks[i / FRAME_CHUNK],
			     1))
		return &t->chunks[i / FRAME_CHUNK][i % FRAME_CHUNK];
	return replay_frame_slow(t, i);
}

/* --- columns --- */

enum { COMM_WIDTH = 15, MODULE_WIDTH = 16, ADDRESS_WIDTH = 12 };

static const struct {
	const char *name, *header;
	uint8_t width;
} columns_table[COLUMN_COUNT] = {
	[COLUMN_DURATION] = {"dur", " DURATION ", DURATION_WIDTH},
	[COLUMN_TID] = {"tid", "   TID  ", 8},
	[COLUMN_ADDRESS] = {"address", "   ADDRESS  ", ADDRESS_WIDTH},
	[COLUMN_TIME] = {"time", "     TIMESTAMP    ", 18},
	[COLUMN_DELTA] = {"delta", " TIMEDELTA", DURATION_WIDTH},
	[COLUMN_ELAPSED] = {"elapsed", "  ELAPSED ", DURATION_WIDTH},
	[COLUMN_TASK] = {"comm", "      TASK NAME", COMM_WIDTH},
	[COLUMN_MODULE] = {"module", "     MODULE NAME", MODULE_WIDTH},
};

static int column_unknown(const char *name, size_t n, struct error *e)
{
	char known[128] = "";
	struct nearest nearest;

	for (int i = 0; i < COLUMN_COUNT; i++) {
		strcat(known, " ");
		strcat(known, columns_table[i].name);
	}
	nearest_begin(&nearest, name, n);
	nearest_offer_words(&nearest, known);
	return error_set(e, NULL, NO_OFFSET, "no column '%.*s' of text%s (columns are%s all none)",
			 (int)(n < 100 ? n : 100), name, nearest_hint(&nearest), known);
}

static int column_parse(struct text_columns *c, const char *name, size_t n, struct error *e)
{
	bool all = n == 3 && !memcmp(name, "all", 3), found = all;

	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!all &&
		    (strlen(columns_table[i].name) != n || memcmp(columns_table[i].name, name, n)))
			continue;
		c->shown[i] = found = true;
	}
	return found ? 0 : column_unknown(name, n, e);
}

int text_columns_parse(struct text_columns *c, const char *names, struct error *e)
{
	*c = (struct text_columns){0};
	if (names && !strcmp(names, "none")) {
		c->none = true;
		return 0;
	}
	if (!names || *names == '+') {
		c->shown[COLUMN_DURATION] = c->shown[COLUMN_TID] = true;
		names = names ? names + 1 : "";
	}
	while (*names) {
		size_t n = strcspn(names, ",");

		if (n && column_parse(c, names, n, e))
			return -1;
		names += n + (names[n] == ',');
	}
	c->none = c->standard = true;
	for (int i = 0; i < COLUMN_COUNT; i++) {
		c->none &= !c->shown[i];
		c->standard &= c->shown[i] == (i == COLUMN_DURATION || i == COLUMN_TID);
	}
	return 0;
}

/* Print "# DURATION     TID     FUNCTION". */
static void columns_header(struct text *out, const struct text_columns *c)
{
	char mark = '#';

	if (c->none)
		return;
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!c->shown[i])
			continue;
		text_char(out, mark);
		text_puts(out, columns_table[i].header);
		mark = ' ';
	}
	text_puts(out, "   FUNCTION\n");
}

static void print_duration(struct text *out, uint64_t ns)
{
	char field[DURATION_WIDTH];

	duration_text(field, ns);
	text_put(out, field, sizeof field);
}

/* Get the address that uftrace shows: 48 bits in the kernel; for scheduling, which has no
 * address, uftrace's number of the event. */
static uint64_t column_address(const struct location *p)
{
	if (!p)
		return 0;
	if (p->space && p->space->flags & SPACE_KERNEL)
		return p->address & UFTRACE_ADDR_MASK;
	return p->space ? p->address : p->address - (p->address == 200003 || p->address == 200008);
}

static void print_right(struct text *out, const char *s, size_t n, size_t width)
{
	if (n < width)
		text_pad(out, ' ', width - n);
	text_masked(out, s, n);
}

static void print_module(struct text *out, const struct location *p)
{
	const struct text_ref *path = NULL;
	const char *name = "[unknown]", *slash;

	if (p && p->space) {
		for (size_t i = 0; i < p->space->nmaps && !path; i++) {
			const struct map *m = &p->space->maps[i];

			if (!m->epoch && p->address >= m->start && p->address < m->end)
				path = &m->path;
		}
		if (!path && p->symbol && p->symbol->module.size)
			path = &p->symbol->module;
		if (p->space->flags & SPACE_KERNEL)
			name = "[kernel]";
	} else if (p && p->name.size) {
		name = "[event]";
	}
	if (path) {
		slash = strrchr(path->text, '/');
		name = slash ? slash + 1 : path->text;
	}
	print_right(out, name, strnlen(name, MODULE_WIDTH), MODULE_WIDTH);
}

static void print_column(struct text *out, enum column column, const struct dictionary *d,
			 const struct replay_task *t, uint64_t duration,
			 const struct replay_frame *frame)
{
	const struct location *p = frame ? dictionary_location(d, frame->location) : NULL;

	switch (column) {
	case COLUMN_DURATION: print_duration(out, duration); break;
	case COLUMN_TID: text_put(out, t->tid, t->tid_size); break;
	case COLUMN_TIME: text_seconds(out, t->time, 8); break;
	case COLUMN_DELTA: print_duration(out, t->last_time ? t->time - t->last_time : 0); break;
	case COLUMN_ELAPSED: print_duration(out, t->time - t->recording->first); break;
	case COLUMN_TASK:
		print_right(out, t->lane->comm.text, t->lane->comm.size, COMM_WIDTH);
		break;
	case COLUMN_ADDRESS:
	case COLUMN_MODULE:
		if (!frame)
			text_pad(out, ' ', columns_table[column].width);
		else if (column == COLUMN_MODULE)
			print_module(out, p);
		else
			text_printf(out, "%*" PRIx64, ADDRESS_WIDTH, column_address(p));
		break;
	case COLUMN_COUNT: break;
	}
}

/* Print the columns of a line of that task, and the bar after them. duration, ns: 0 is blank;
 * frame NULL leaves address and module blank. */
static void columns_print(struct text *out, const struct text_columns *c,
			  const struct dictionary *d, const struct replay_task *t,
			  uint64_t duration, const struct replay_frame *frame)
{
	char line[64];

	if (c->none)
		return;
	if (c->standard) {
		/* most lines of most runs: written in one piece */
		line[0] = ' ';
		duration_text(line + 1, duration);
		line[1 + DURATION_WIDTH] = ' ';
		memcpy(line + 2 + DURATION_WIDTH, t->tid, sizeof t->tid);
		memcpy(line + 2 + DURATION_WIDTH + t->tid_size, " | ", 3);
		text_put(out, line, 2u + DURATION_WIDTH + t->tid_size + 3u);
		return;
	}
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!c->shown[i])
			continue;
		text_char(out, ' ');
		print_column(out, (enum column)i, d, t, duration, frame);
	}
	text_put(out, " | ", 3);
}

/* Print blank columns, and the bar. */
static void columns_blank(struct text *out, const struct text_columns *c)
{
	if (c->none)
		return;
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (c->shown[i])
			text_pad(out, ' ', 1u + columns_table[i].width);
	text_put(out, " | ", 3);
}

/* --- events --- */

/* Two or three counters that one event has: their values at a time, or their differences. */
static const struct {
	uint32_t read, diff; /* event ids */
	const char *fields[3], *labels[3], *unit;
	const char
		*ratio; /* name of the ratio of the second to the first; printed with differences */
	bool percent;	/* the ratio is the share of the first without the second, in percent */
} readings[] = {
	{UFTRACE_EV_READ_STATM,
	 UFTRACE_EV_DIFF_STATM,
	 {"vmsize", "vmrss", "shared"},
	 {"vmsize", "vmrss", "shared"},
	 "KB",
	 NULL,
	 false},
	{UFTRACE_EV_READ_PAGE_FAULT,
	 UFTRACE_EV_DIFF_PAGE_FAULT,
	 {"major", "minor"},
	 {"major", "minor"},
	 "",
	 NULL,
	 false},
	{UFTRACE_EV_READ_PMU_CYCLE,
	 UFTRACE_EV_DIFF_PMU_CYCLE,
	 {"cycles", "instructions"},
	 {"cycles", "instructions"},
	 "",
	 "IPC",
	 false},
	{UFTRACE_EV_READ_PMU_CACHE,
	 UFTRACE_EV_DIFF_PMU_CACHE,
	 {"refers", "misses"},
	 {"refers", "misses"},
	 "",
	 "hit",
	 true},
	{UFTRACE_EV_READ_PMU_BRANCH,
	 UFTRACE_EV_DIFF_PMU_BRANCH,
	 {"branches", "misses"},
	 {"branch", "misses"},
	 "",
	 "predict",
	 true},
};

enum { READINGS = sizeof readings / sizeof *readings };

/* Print " (vmsize=+4KB vmrss=+0KB shared=+0KB)"; nothing for an event without counters. */
static void print_reading(struct text *out, const struct event *ev)
{
	size_t r = 0;
	bool diff;
	uint64_t v[3];
	int n = 0;

	while (r < READINGS && readings[r].read != ev->type->native &&
	       readings[r].diff != ev->type->native)
		r++;
	if (r == READINGS)
		return;
	diff = ev->type->native == readings[r].diff;
	while (n < 3 && readings[r].fields[n] && field_number(ev, readings[r].fields[n], &v[n]))
		n++;
	if (!n || (n < 3 && readings[r].fields[n]))
		return;
	for (int i = 0; i < n; i++) {
		text_puts(out, i ? " " : " (");
		text_puts(out, readings[r].labels[i]);
		text_char(out, '=');
		if (!diff) {
			text_u64(out, v[i]);
		} else {
			if ((int64_t)v[i] >= 0)
				text_char(out, '+');
			text_i64(out, (int64_t)v[i]);
		}
		text_puts(out, readings[r].unit);
	}
	if (diff && readings[r].ratio && !readings[r].percent)
		text_printf(out, " %s=%.2f", readings[r].ratio,
			    (double)((float)v[1] / (float)v[0]));
	else if (diff && readings[r].ratio)
		text_printf(out, " %s=%.2f%%", readings[r].ratio,
			    100.0 * (double)(int64_t)(v[0] - v[1]) / (double)(int64_t)v[0]);
	text_char(out, ')');
}

static void print_watch(struct text *out, const struct value_names *names, const struct event *ev)
{
	uint64_t address, value;
	const char *name;

	if (!field_number(ev, "address", &address) || !field_number(ev, "value", &value))
		return;
	name = pointer_name(names, address);
	text_puts(out, " (");
	if (name) {
		text_masked(out, name, strlen(name));
	} else {
		text_puts(out, "[0x");
		text_hex(out, address, 1);
		text_char(out, ']');
	}
	text_char(out, '=');
	text_hex(out, value, 1);
	text_char(out, ')');
}

static void text_columns_print_text(struct text *out, const struct event *ev, const char *before,
				    const char *after)
{
	struct field_value v;

	field_get_role(ev, ROLE_MESSAGE, &v);
	if (v.form != FORM_TEXT)
		return;
	text_puts(out, before);
	text_masked(out, (const char *)v.text, v.size);
	text_puts(out, after);
}

/* Print the bytes of an event whose data do not have the expected layout. */
static void print_data(struct text *out, const struct event *ev)
{
	const struct field *f = field_find(ev->type, "data");
	const uint8_t *p = NULL;
	size_t n = 0;

	if (f)
		p = field_bytes(ev, f, &n);
	if (!p)
		return;
	text_puts(out, " (data=");
	for (size_t i = 0; i < n; i++)
		text_hex(out, p[i], 2);
	text_char(out, ')');
}

static void print_name(struct text *out, const struct type *type)
{
	const struct text_ref *name = &type->name;

	/* uftrace prints events of the kernel with their group */
	if (type->declaration.size && type->group.size) {
		text_masked(out, type->group.text, type->group.size);
		text_char(out, ':');
	}
	if (name->size < 6 || memcmp(name->text, "event:", 6)) {
		text_masked(out, name->text, name->size);
		return;
	}
	/* without a name: uftrace prints the range of its number */
	if (type->native >= UFTRACE_EV_USER_FIRST)
		text_puts(out, "user_event:");
	else if (type->native > UFTRACE_EV_KERNEL_LAST)
		text_puts(out, "builtin_event:");
	else
		text_puts(out, "event:");
	text_u64(out, type->native);
}

/* Print "read:proc/statm (vmsize=... )": name and data. names: for the names of watched variables.
 */
static void event_text(struct text *out, const struct value_names *names, const struct event *ev)
{
	uint32_t id = ev->type->native;
	uint64_t cpu;

	print_name(out, ev->type);
	print_reading(out, ev);
	if (id == UFTRACE_EV_WATCH_CPU && field_number(ev, "cpu", &cpu))
		text_printf(out, " (cpu=%" PRId32 ")", (int32_t)cpu);
	else if (id == UFTRACE_EV_WATCH_VAR)
		print_watch(out, names, ev);
	else if (id == UFTRACE_EV_TASK_COMM)
		text_columns_print_text(out, ev, " (comm=\"", "\")");
	else if (id == UFTRACE_EV_EXTERN)
		text_columns_print_text(out, ev, ": ", "");
	print_data(out, ev);
}

/* --- the state and functions that the files of the uftrace layout share --- */

/* The text of a location, for all its calls. */
struct location_text {
	const struct location_symbol *symbol; /* of the location when this was filled */
	const char *name;
	uint32_t size;
	uint8_t fixup; /* enum fixup */
	bool known;    /* filled */
	bool bare;     /* "()" is not added: the name has its parentheses */
};

enum pending_kind { PENDING_NONE, PENDING_CALL, PENDING_SCHED };

/* The state of the layout. */
struct text_uftrace {
	struct text *out;
	struct dictionary *dictionary;
	struct text_columns columns;
	int32_t depth;
	struct recording **recordings; /* by number of the source */
	size_t nrecordings;
	struct recording *recording; /* recording of the last event */
	struct replay_task **tasks;  /* by number of the thread */
	size_t ntasks;
	struct location_text *locations;
	size_t nlocations;

	/* the pending line: */
	enum pending_kind pending;
	struct replay_task *task;
	uint32_t location, row_depth;
	int indent, frame;
	bool preempted;
	struct buffer arguments, comment, result;

	uint64_t hidden; /* number of calls beyond the depth limit */
	bool header, warned_names, terminal, quiet;
};

static const struct location_text *text_uftrace_location_slow(struct text_uftrace *s,
							      uint32_t number);

static inline const struct location_text *text_uftrace_location(struct text_uftrace *s,
								uint32_t number)
{
	if (number < s->nlocations && s->locations[number].known) {
		const struct location *location = dictionary_location(s->dictionary, number);

		if (!location || location->symbol == s->locations[number].symbol)
			return &s->locations[number];
	}
	return text_uftrace_location_slow(s, number);
}

static inline void text_uftrace_indent(struct text_uftrace *s, int indent)
{
	if (indent > 0)
		text_pad(s->out, ' ', 2 * (size_t)indent);
}

static inline void text_uftrace_columns(struct text_uftrace *s, const struct replay_task *t,
					uint64_t duration, const struct replay_frame *frame)
{
	columns_print(s->out, &s->columns, s->dictionary, t, duration, frame);
}

static enum fixup fixup_of(const char *name)
{
	static const struct {
		const char *name;
		enum fixup fixup;
	} table[] = {{"execl", FIXUP_EXEC},	    {"execlp", FIXUP_EXEC},
		     {"execle", FIXUP_EXEC},	    {"execv", FIXUP_EXEC},
		     {"execve", FIXUP_EXEC},	    {"execvp", FIXUP_EXEC},
		     {"execvpe", FIXUP_EXEC},	    {"setjmp", FIXUP_SETJMP},
		     {"_setjmp", FIXUP_SETJMP},	    {"sigsetjmp", FIXUP_SETJMP},
		     {"__sigsetjmp", FIXUP_SETJMP}, {"longjmp", FIXUP_LONGJMP},
		     {"siglongjmp", FIXUP_LONGJMP}, {"__longjmp_chk", FIXUP_LONGJMP},
		     {"fork", FIXUP_FORK},	    {"vfork", FIXUP_FORK},
		     {"daemon", FIXUP_FORK},	    {"posix.fork", FIXUP_FORK}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].name, name))
			return table[i].fixup;
	return FIXUP_NONE;
}

/* Returns NULL when out of memory. */
static struct replay_task *replay_task_new(struct recording *r, const struct lane *lane)
{
	struct replay_task *t = calloc(1, sizeof *t);

	if (!t || ARRAY_GROW(r->tasks, r->capacity, r->ntasks) ||
	    idmap_set(&r->tids, (uint32_t)lane->tid, (uint32_t)r->ntasks + 1)) {
		free(t);
		r->out_of_memory = true;
		return NULL;
	}
	r->tasks[r->ntasks++] = t;
	t->recording = r;
	t->lane = lane;
	t->allowance = r->depth;
	t->indent_known = true;
	if (lane->flags & LANE_HAS_TID)
		t->tid_size = (uint8_t)snprintf(t->tid, sizeof t->tid, "[%6d]", lane->tid);
	else
		t->tid_size = (uint8_t)snprintf(t->tid, sizeof t->tid, "%8s", "");
	return t;
}

/* Set the time of the enter of n frames from first on. Frames that have no memory yet get none. */
static void replay_restart_frames(struct replay_task *t, int first, int n, uint64_t time, bool open)
{
	for (int i = first; i < first + n && i < t->recording->max_stack; i++) {
		struct replay_frame *f;

		if ((size_t)i / FRAME_CHUNK >= t->nchunks || !t->chunks[i / FRAME_CHUNK]) {
			t->unseen_time = time;
			i = (i / FRAME_CHUNK + 1) * FRAME_CHUNK - 1;
			continue;
		}
		f = replay_frame(t, i);
		f->time = time;
		f->open |= open;
	}
}

/* Begin the stack of a task again where reading begins inside a stream: only calls without an enter
 * are open, since a time. last: time of the task's last row. */
static void replay_restart(struct replay_task *t, int unseen, uint64_t since, uint64_t last)
{
	t->begun = t->indent_known = t->fork_taken = true;
	t->after_loss = t->in_kernel = false;
	t->count = unseen;
	t->calls = t->indent = t->exec_count = 0;
	t->allowance = t->recording->depth;
	t->time = last;
	replay_restart_frames(t, 0, unseen, since, true);
}

static bool row_enters(const struct replay_row *row)
{
	return row->kind == ROW_ENTER || row->kind == ROW_SCHED_OUT;
}

static bool row_leaves(const struct replay_row *row)
{
	return row->kind == ROW_LEAVE || row->kind == ROW_SCHED_IN;
}

/* Get the number of frames before the row. Scheduling is at depth 0, whatever is open. */
static int frames_before(const struct replay_row *row)
{
	return row->kind == ROW_ENTER || row->kind == ROW_LEAVE
		       ? (int)row->depth + (row->kind == ROW_LEAVE)
		       : row->kind == ROW_SCHED_IN;
}

static void replay_begin_task(struct replay_task *t, const struct replay_row *row)
{
	t->begun = true;
	t->count = frames_before(row) + (row->kernel ? t->calls : 0);
	if (!t->fork_taken && t->lane->ppid > 0) {
		uint32_t parent = idmap_get(&t->recording->tids, (uint32_t)t->lane->ppid);

		if (parent && t->recording->tasks[parent - 1]->fork_indent) {
			t->indent = t->recording->tasks[parent - 1]->fork_indent;
			t->indent_known = true;
		}
	}
	t->fork_taken = true;
	replay_restart_frames(t, 0, t->count, row->time, true);
	t->allowance = t->recording->depth;
}

static void replay_after_loss(struct replay_task *t, const struct replay_row *row)
{
	t->count = frames_before(row) + (row->kernel ? t->calls : 0);
	t->after_loss = false;
	/* known is only that these frames were open right before the row */
	replay_restart_frames(t, t->calls, frames_before(row) - (row_leaves(row) ? 1 : 0) + 1,
			      row->time - 1, false);
}

static void replay_account(struct replay_task *t, const struct replay_row *row)
{
	struct replay_frame *f;

	if (row->kind == ROW_EVENT)
		return;
	if (!t->begun)
		replay_begin_task(t, row);
	if (t->after_loss) {
		if (row->kind == ROW_LOSS)
			return;
		replay_after_loss(t, row);
	}
	/* for uftrace a call outside of the kernel ends all calls in it */
	if (t->in_kernel && !row->kernel && (row->kind == ROW_ENTER || row->kind == ROW_LEAVE)) {
		t->count = t->calls;
		t->allowance = t->recording->depth - t->count;
	}
	if (row_enters(row)) {
		f = replay_frame(t, t->count + t->exec_count);
		if (f) {
			f->location = row->location;
			f->time = row->time;
			f->open = true;
		}
	} else if (row_leaves(row)) {
		f = replay_frame(t, t->count + t->exec_count - 1);
		if (f) {
			f->time = f->open ? row->time - f->time : 0;
			f->open = false;
		}
	} else {
		t->after_loss = true;
		t->indent_known = false;
		t->exec_count = 0;
	}
}

/* Detect by the next row whether an exec has failed. */
static void replay_after_exec(struct replay_task *t, const struct replay_row *row)
{
	if (!t->exec_count || row->kernel || row->kind > ROW_LEAVE)
		return;
	if (row->kind == ROW_LEAVE || row->depth >= (uint32_t)t->exec_count) {
		t->count = t->calls = t->exec_count;
		t->indent = t->exec_indent;
	}
	t->exec_count = 0;
}

/* Update times and the number of frames by a row. */
static void replay_consume(struct replay_task *t, const struct replay_row *row)
{
	bool call = row->kind == ROW_ENTER || row->kind == ROW_LEAVE;
	struct recording *r = t->recording;

	if (row->kind != ROW_LOSS && ((call && !row->kernel) || t->count) &&
	    (!r->first || r->first > row->time))
		r->first = row->time;
	replay_account(t, row);
	if (row->kind != ROW_EVENT)
		t->in_kernel = row->kernel;
	call = call && !row->kernel;
	if (row_enters(row)) {
		t->count++;
		t->calls += call;
	} else if (row_leaves(row)) {
		t->count -= t->count > 0;
		t->calls -= call && t->calls > 0;
	}
}

/* Indent the lines that follow the line that opened the block of the frame. */
static void replay_entered(struct replay_task *t, struct replay_frame *f)
{
	struct replay_frame *setjmp;

	if (f->flags & FRAME_EXEC) {
		t->exec_count = t->count;
		t->exec_indent = t->indent + 1;
		t->indent = 0;
		t->count = t->calls = 0;
	} else if (f->flags & FRAME_LONGJMP) {
		t->count = t->calls = t->recording->setjmp_count;
		setjmp = replay_frame(t, t->count - 1);
		if (t->recording->setjmp_shown)
			t->indent = t->recording->setjmp_indent;
		else if (setjmp)
			setjmp->flags |= FRAME_HIDDEN;
	} else {
		t->indent++;
	}
	f->flags &= (uint8_t) ~(FRAME_EXEC | FRAME_LONGJMP);
}

/* Enter a function, after replay_consume. Returns whether it is shown. */
static bool replay_enter(struct replay_task *t, enum fixup fixup)
{
	struct replay_frame *f = replay_frame(t, t->count - 1);

	if (!f)
		return false;
	f->allowance = t->allowance;
	f->flags = 0;
	switch (fixup) {
	case FIXUP_EXEC: f->flags |= FRAME_EXEC; break;
	case FIXUP_LONGJMP: f->flags |= FRAME_LONGJMP; break;
	case FIXUP_SETJMP:
		t->recording->setjmp_indent = t->indent + 1;
		t->recording->setjmp_count = t->count;
		t->recording->setjmp_shown = t->allowance > 0;
		break;
	case FIXUP_FORK: t->fork_indent = t->indent + 1; break;
	case FIXUP_NONE: break;
	}
	if (t->allowance <= 0) {
		f->flags |= FRAME_HIDDEN;
		if (f->flags & FRAME_LONGJMP)
			replay_entered(t, f);
		return false;
	}
	t->allowance--;
	if (!t->indent_known) {
		t->indent = t->count - 1;
		t->indent_known = true;
	}
	return true;
}

/* Get the indent of the line that closes a block. */
static int replay_leaving(struct replay_task *t)
{
	if (!t->indent_known) {
		t->indent = t->count + 1;
		t->indent_known = true;
	}
	if (t->indent > 0)
		t->indent--;
	return t->indent;
}

/* Leave a function, after replay_consume and after its line was printed. */
static void replay_left(struct replay_task *t)
{
	struct replay_frame *f = replay_frame(t, t->count);

	if (!f)
		return;
	f->flags = 0;
	t->allowance = f->allowance;
}

/* --- recording --- */

enum {
	OPTIONS_MOST = 4096,
	STACK_MOST = 65536, /* depths of rows have 16 bits */
	DEPTH_SHOWN = 1024, /* the default of uftrace */
};

static void recording_free(struct recording *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->ntasks; i++) {
		for (size_t k = 0; k < r->tasks[i]->nchunks; k++)
			free(r->tasks[i]->chunks[k]);
		free(r->tasks[i]->chunks);
		free(r->tasks[i]);
	}
	free(r->tasks);
	idmap_free(&r->tids);
	text_symbols_free(&r->symbols);
	kernel_events_free(r->kernel);
	duration_threshold_free(&r->threshold);
	buffer_free(&r->info);
	buffer_free(&r->options);
	free(r);
}

/* Returns NULL when out of memory. */
static struct recording *recording_new(const struct source *source)
{
	struct recording *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->source = source;
	r->kernel = kernel_events_new();
	if (!r->kernel) {
		free(r);
		return NULL;
	}
	return r;
}

/* Append to the beginning of a file, of most bytes. */
static int append_beginning(struct buffer *b, const struct meta *m, size_t most)
{
	size_t n = most - b->size < m->size ? most - b->size : m->size;

	return m->offset != b->size || !n ? 0 : buffer_append(b, m->data, n);
}

/* Take a piece of a META block. Returns -1 when out of memory. */
static int recording_meta(struct recording *r, const struct meta *m)
{
	if (m->flags & META_REFERENCE)
		return 0;
	if (meta_is(m, "info"))
		return append_beginning(&r->info, m, UFTRACE_HEADER_SIZE);
	if (meta_is(m, "default.opts"))
		return append_beginning(&r->options, m, OPTIONS_MOST);
	return text_symbols_meta(&r->symbols, m) || kernel_events_meta(r->kernel, m) ? -1 : 0;
}

/* Read the largest depth of a stack, and whether the recording is recent. */
static int read_max_stack(struct recording *r)
{
	const uint8_t *p = r->info.data;
	uint64_t features;
	bool big;
	unsigned size;

	if (r->info.size < UFTRACE_HEADER_SIZE || memcmp(p, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE))
		return STACK_MOST;
	big = p[UFTRACE_HDR_ENDIAN] == 2;
	features = get_uint(p + UFTRACE_HDR_FEAT_MASK, 8, big);
	r->recent = features & UFTRACE_FEAT_SYM_SIZE;
	if (!(features & UFTRACE_FEAT_MAX_STACK))
		return UFTRACE_MAX_STACK;
	size = (unsigned)get_uint(p + UFTRACE_HDR_MAX_STACK, 2, big);
	return size ? (int)size : UFTRACE_MAX_STACK;
}

/* Get the argument of -t in "-t 100us", "-t100us", "--time-filter=100us" or "--time-filter
 * 100us". */
static const char *time_option(const char *word, char **rest)
{
	static const char *const names[] = {"-t", "--time-filter="};

	if (!strcmp(word, "-t") || !strcmp(word, "--time-filter"))
		return strtok_r(NULL, " \t\r\n", rest);
	for (size_t i = 0; i < 2; i++)
		if (!strncmp(word, names[i], strlen(names[i])))
			return word + strlen(names[i]);
	return NULL;
}

static int read_options(struct recording *r)
{
	char *rest, *word;

	if (buffer_append(&r->options, "", 1))
		return -1;
	word = strtok_r((char *)r->options.data, " \t\r\n", &rest);
	for (; word; word = strtok_r(NULL, " \t\r\n", &rest)) {
		const char *arg = time_option(word, &rest);

		if (!arg || !duration_threshold_parse(arg, &r->threshold.limit))
			r->odd_options = true;
	}
	return 0;
}

/* Evaluate the files, before the first event. depth: levels shown, 0: the default of uftrace.
 * Returns -1 when out of memory. */
static int recording_begin(struct recording *r, int32_t depth)
{
	r->ready = true;
	r->max_stack = read_max_stack(r);
	r->depth = depth ? depth : DEPTH_SHOWN;
	return read_options(r);
}

/* --- the lines of uftrace recordings --- */

/* Test whether a name has the parentheses of its call. For a recent uftrace the name of a function
 * object has not. */
static bool has_parentheses(const struct text_uftrace *s, struct text_ref name)
{
	static const char call[] = "operator()";
	enum { CALL = sizeof call - 1 };

	if (!name.size || name.text[name.size - 1] != ')')
		return false;
	return !(s->recording && s->recording->recent && name.size >= CALL &&
		 !memcmp(name.text + name.size - CALL, call, CALL));
}

/* Get the text of a location; NULL when out of memory. */
static const struct location_text *text_uftrace_location_slow(struct text_uftrace *s,
							      uint32_t number)
{
	const struct location *location = dictionary_location(s->dictionary, number);
	struct text_ref name = dictionary_location_name(s->dictionary, number);
	struct location_text *p;

	if (ARRAY_REACH(s->locations, s->nlocations, number))
		return NULL;
	p = &s->locations[number];
	*p = (struct location_text){.symbol = location ? location->symbol : NULL,
				    .name = name.text,
				    .size = name.size,
				    .known = true,
				    .bare = has_parentheses(s, name),
				    .fixup = (uint8_t)fixup_of(name.text)};
	if (location && location->space && !location->symbol && !location->name.size &&
	    !s->warned_names && !s->quiet) {
		s->warned_names = true;
		remark(NULL,
		       "some functions have an address but no name: run trsym before this program");
	}
	return p;
}

static inline void text_uftrace_put_name(struct text_uftrace *s, const struct location_text *p)
{
	if (s->terminal)
		text_masked(s->out, p->name, p->size);
	else
		text_put(s->out, p->name, p->size);
}

enum { LINE_PIECE = 8 };

/* The text before and after a name, of LINE_PIECE readable bytes each. */
struct line_pieces {
	const char *before;
	size_t nbefore;
	const char *after;
	size_t nafter;
};

/*
 * Print most kinds of lines at once: columns, indent, before, the name, after. Returns false if the
 * line has to be printed piece by piece. Without this 'trdecode | trsym | trencode -t text' of
 * t/bench/uftrace.sh takes 1.13 times the instructions.
 */
static inline bool quick_line(struct text_uftrace *s, const struct replay_task *t,
			      uint64_t duration, int indent, const struct location_text *p,
			      struct line_pieces pieces)
{
	struct text *out = s->out;
	size_t blank = indent > 0 ? 2 * (size_t)indent : 0;
	size_t most = DURATION_WIDTH + sizeof t->tid + blank + p->size + 8 * LINE_PIECE;
	char *at;

	if (!s->columns.standard || s->terminal || most > TEXT_BUFFER)
		return false;
	if (most > TEXT_BUFFER - out->used)
		text_make_room(out);
	at = out->buffer + out->used;
	*at++ = ' ';
	duration_text(at, duration);
	at += DURATION_WIDTH;
	*at++ = ' ';
	memcpy(at, t->tid, sizeof t->tid);
	at += t->tid_size;
	memcpy(at, " | ", 3);
	at += 3;
	if (blank <= 2 * LINE_PIECE)
		memset(at, ' ', 2 * LINE_PIECE);
	else
		memset(at, ' ', blank);
	at += blank;
	memcpy(at, pieces.before, LINE_PIECE);
	at += pieces.nbefore;
	memcpy(at, p->name, p->size);
	at += p->size;
	memcpy(at, pieces.after, LINE_PIECE);
	at += pieces.nafter;
	out->used = (size_t)(at - out->buffer);
	return true;
}

/* Print "f(1, 2)", after the columns. */
static void print_call(struct text_uftrace *s, const struct location_text *p)
{
	text_uftrace_indent(s, s->indent);
	text_uftrace_put_name(s, p);
	if (s->arguments.size)
		text_masked_buffer(s->out, &s->arguments);
	else if (!p->bare)
		text_put(s->out, "()", 2);
}

static void print_comment(struct text_uftrace *s, const char *end, size_t n)
{
	text_masked_buffer(s->out, &s->comment);
	text_put(s->out, end, n);
}

/* Print the pending call and its leave, which follows at once, in one line. */
static void text_uftrace_leaf(struct text_uftrace *s, const struct replay_frame *f)
{
	static const struct line_pieces bare = {"       ", 0, ";\n      ", 2},
					call = {"       ", 0, "();\n    ", 4};
	const struct location_text *p = &s->locations[s->location];

	if (!s->arguments.size && !s->result.size && !s->comment.size &&
	    quick_line(s, s->task, f->time, s->indent, p, p->bare ? bare : call))
		return;
	text_uftrace_columns(s, s->task, f->time, f);
	print_call(s, p);
	text_masked_buffer(s->out, &s->result);
	text_char(s->out, ';');
	print_comment(s, "\n", 1);
}

/* Print the pending enter, after which other rows come before the leave. */
static void text_uftrace_open(struct text_uftrace *s)
{
	static const struct line_pieces bare = {"       ", 0, " {\n     ", 3},
					call = {"       ", 0, "() {\n   ", 5};
	struct replay_frame *f = replay_frame(s->task, s->frame);
	const struct location_text *p = &s->locations[s->location];

	if (s->arguments.size || s->comment.size ||
	    !quick_line(s, s->task, 0, s->indent, p, p->bare ? bare : call)) {
		text_uftrace_columns(s, s->task, 0, f);
		print_call(s, p);
		text_put(s->out, " {", 2);
		print_comment(s, "\n", 1);
	}
	if (f)
		replay_entered(s->task, f);
}

static void text_uftrace_sched(struct text_uftrace *s, const struct replay_task *t, int indent,
			       const char *name, bool preempted, const struct replay_frame *timed)
{
	text_uftrace_columns(s, t, timed ? timed->time : 0, timed);
	text_uftrace_indent(s, indent);
	text_puts(s->out, "/* linux:");
	text_puts(s->out, name);
	if (preempted)
		text_puts(s->out, " (pre-empted)");
	text_puts(s->out, " */\n");
}

static void text_uftrace_leave(struct text_uftrace *s, const struct replay_task *t,
			       const struct replay_frame *f, int indent,
			       const struct location_text *p, bool values)
{
	static const struct line_pieces end = {"} /*   ", 5, " */\n   ", 4};

	if (!values && quick_line(s, t, f->time, indent, p, end))
		return;
	text_uftrace_columns(s, t, f->time, f);
	text_uftrace_indent(s, indent);
	text_char(s->out, '}');
	text_masked_buffer(s->out, &s->result);
	text_put(s->out, ";", values ? 1 : 0);
	text_put(s->out, " /* ", 4);
	text_uftrace_put_name(s, p);
	text_put(s->out, " */\n", 4);
}

static void text_uftrace_gap(struct text_uftrace *s, struct replay_task *t, const struct event *ev)
{
	struct gap_row g;

	if (!gap_get(ev, &g))
		return;
	text_uftrace_columns(s, t, 0, NULL);
	text_uftrace_indent(s, t->indent + 1);
	if (g.reason == GAP_LOST) {
		if (g.count == UINT64_MAX || (int32_t)g.count <= 0)
			text_puts(s->out, "/* LOST some records!! */\n");
		else
			text_printf(s->out, "/* LOST %" PRIu64 " records!! */\n", g.count);
		return;
	}
	text_puts(s->out, g.reason == GAP_DAMAGE ? "/* DAMAGED" : "/* NOT READ");
	if (g.count != UINT64_MAX)
		text_printf(s->out, " %" PRIu64 " %s", g.count,
			    g.unit == GAP_BYTES ? "bytes" : "records");
	if (g.file_size) {
		text_puts(s->out, " of ");
		text_masked(s->out, g.file, g.file_size);
	}
	if (g.offset != NO_OFFSET)
		text_printf(s->out, " at 0x%" PRIx64, g.offset);
	if (g.message_size) {
		text_puts(s->out, ": ");
		text_masked(s->out, g.message, g.message_size);
	}
	text_puts(s->out, "!! */\n");
}

/* Print that the time steps back. */
static void text_uftrace_inverted(struct text_uftrace *s, const struct replay_task *t)
{
	columns_blank(s->out, &s->columns);
	text_char(s->out, ' ');
	text_uftrace_indent(s, t->indent + 1);
	text_puts(s->out, "/* inverted time: broken data? */\n");
}

/* --- the calls that were open when the recording ended --- */

/* Count the frames at the bottom whose enter is missing. */
static int count_unseen(struct text_uftrace *s, struct replay_task *t)
{
	int n = 0;

	while (n < t->count) {
		const struct replay_frame *f = replay_frame(t, n);
		const struct location *p =
			f ? dictionary_location(s->dictionary, f->location) : NULL;

		if (p && (p->address || p->name.size))
			break;
		n++;
	}
	return n;
}

/* Test whether the only open frame is scheduling. */
static bool only_scheduled(struct text_uftrace *s, struct replay_task *t)
{
	const struct replay_frame *f = t->count == 1 ? replay_frame(t, 0) : NULL;
	const struct location *p = f ? dictionary_location(s->dictionary, f->location) : NULL;

	return p && !p->space;
}

static void print_stack(struct text_uftrace *s, struct replay_task *t)
{
	int bottom = count_unseen(s, t);

	if (bottom == t->count || only_scheduled(s, t))
		return;
	text_printf(s->out, "task: %" PRId32 "\n", t->lane->tid);
	for (int i = t->count; i-- > bottom;) {
		const struct replay_frame *f = replay_frame(t, i);
		struct text_ref name;

		if (!f)
			continue;
		name = dictionary_location_name(s->dictionary, f->location);
		text_printf(s->out, "[%d] ", i - bottom);
		text_masked(s->out, name.text, name.size);
		text_char(s->out, '\n');
	}
	text_char(s->out, '\n');
}

static int text_uftrace_by_tid(const void *a, const void *b)
{
	const struct replay_task *const *x = a, *const *y = b;

	return ((*x)->lane->tid > (*y)->lane->tid) - ((*x)->lane->tid < (*y)->lane->tid);
}

/* Print the calls that were open when the recording ended. */
static void text_uftrace_remaining(struct text_uftrace *s, struct recording *r)
{
	bool any = false;

	if (r->ntasks)
		qsort(r->tasks, r->ntasks, sizeof *r->tasks, text_uftrace_by_tid);
	for (size_t i = 0; i < r->ntasks && !any; i++)
		any = !only_scheduled(s, r->tasks[i]) &&
		      count_unseen(s, r->tasks[i]) < r->tasks[i]->count;
	if (!any)
		return;
	text_puts(s->out, "\nuftrace stopped tracing with remaining functions"
			  "\n================================================\n");
	for (size_t i = 0; i < r->ntasks; i++)
		print_stack(s, r->tasks[i]);
}

/*
 * The rows of uftrace recordings, as `uftrace replay` prints them.
 *
 * A call without calls inside is one line, so the line of an enter is pending until the next row
 * of any task; the line of scheduling out likewise. Other rows are printed at once.
 */

/* Get the recording of a source; NULL when out of memory. */
static struct recording *text_uftrace_recording(struct text_uftrace *s, const struct source *source)
{
	if (ARRAY_REACH(s->recordings, s->nrecordings, source->number))
		return NULL;
	if (!s->recordings[source->number])
		s->recordings[source->number] = recording_new(source);
	return s->recordings[source->number];
}

static struct replay_task *text_uftrace_task_of(struct text_uftrace *s, const struct lane *lane)
{
	uint32_t number = lane->thread;
	struct recording *r;

	if (__builtin_expect(number < s->ntasks && s->tasks[number], 1))
		return s->tasks[number];
	if (ARRAY_REACH(s->tasks, s->ntasks, number))
		return NULL;
	r = text_uftrace_recording(s, lane->source);
	return s->tasks[number] = r ? replay_task_new(r, lane) : NULL;
}

/* Get the frame that events belong to, in uftrace the frame above the top; NULL: events are not
 * shown. */
static const struct replay_frame *event_frame(struct replay_task *t)
{
	const struct replay_frame *f = replay_frame(t, t->count);

	return f && !(f->flags & FRAME_HIDDEN) ? f : NULL;
}

/* --- the pending line --- */

static void print_sched_pending(struct text_uftrace *s, bool both)
{
	const struct replay_frame *f = event_frame(s->task);

	if (f)
		text_uftrace_sched(s, s->task, s->indent, both ? "schedule" : "sched-out",
				   s->preempted, both && f->time ? f : NULL);
}

/* Print the pending line as one that no row completes. */
static void text_uftrace_settle(struct text_uftrace *s)
{
	if (s->pending == PENDING_CALL)
		text_uftrace_open(s);
	else if (s->pending == PENDING_SCHED)
		print_sched_pending(s, false);
	s->pending = PENDING_NONE;
}

/* Test whether a row in the kernel is outside of all calls, also of those that a filter left out.
 */
static bool is_outside(const struct text_uftrace *s, const struct replay_task *t,
		       const struct replay_row *row)
{
	uint32_t thread = t->lane->thread;

	return !dictionary_left_out(s->dictionary, thread) ||
	       dictionary_outside(s->dictionary, thread, row->time);
}

/* Consume a row that is not shown, so that the pending line stays pending. Returns false for a row
 * that is shown. */
static bool consume_hidden(struct text_uftrace *s, struct replay_task *t,
			   const struct replay_row *row)
{
	const struct replay_frame *f;
	const struct location_text *p;

	/* in the kernel, outside any call */
	if (row->kernel && t->calls == 0 && is_outside(s, t, row)) {
		replay_consume(t, row);
		return true;
	}
	switch (row->kind) {
	case ROW_LOSS: return false;
	case ROW_LEAVE:
		f = replay_frame(t, t->count - 1);
		if (!t->count || (f && !(f->flags & FRAME_HIDDEN)))
			return false;
		replay_consume(t, row);
		replay_left(t);
		return true;
	case ROW_ENTER:
		if (t->allowance > 0)
			return false;
		replay_consume(t, row);
		p = text_uftrace_location(s, row->location);
		/* the pending call is never left */
		if (p && p->fixup == FIXUP_LONGJMP && s->pending && s->task == t)
			text_uftrace_settle(s);
		replay_enter(t, p ? (enum fixup)p->fixup : FIXUP_NONE);
		s->hidden++;
		return true;
	default:
		if (t->calls && t->allowance > 0)
			return false;
		replay_consume(t, row);
		return true;
	}
}

static inline int take_result(struct text_uftrace *s, struct replay_task *t, const struct event *ev)
{
	const struct location *location;
	struct value_names names;

	buffer_clear(&s->result);
	s->result.spills = true;
	if (!(ev->type->flags & TYPE_VALUES))
		return 0;
	location = dictionary_location(s->dictionary, ev->location);
	names = (struct value_names){&s->result, s->dictionary, &t->recording->symbols,
				     location ? location->space : NULL, ev->time};
	return details_append_return(&s->result, ev->tail, ev->tail_size, value_text, &names);
}

/* Test whether the row, of the pending line's task, always ends the wait. */
static bool ends_wait(const struct text_uftrace *s, const struct replay_row *row,
		      const struct event *ev)
{
	if (s->pending == PENDING_SCHED)
		return row->kind == ROW_SCHED_IN || row->kind == ROW_SCHED_OUT;
	if (row->kind == ROW_EVENT) /* from the task's own file, not from the scheduler */
		return ev->type->native < UFTRACE_EV_SCHED_IN;
	/* depths in records have 10 bits: for uftrace greater depths start at 0 again */
	return row->kind <= ROW_LEAVE &&
	       row->depth % UFTRACE_MAX_STACK <= s->row_depth % UFTRACE_MAX_STACK;
}

/* Print the pending line, completed by the row where this is possible. Returns 1 if the row needs
 * no more work, -1 when out of memory. */
static int settle_with(struct text_uftrace *s, struct replay_task *t, const struct replay_row *row,
		       const struct event *ev)
{
	const struct replay_frame *f;

	if (!(t == s->task && ends_wait(s, row, ev)) && consume_hidden(s, t, row))
		return 1;
	if (t == s->task && s->pending == PENDING_CALL && row->kind == ROW_LEAVE &&
	    row->depth == s->row_depth) {
		replay_consume(t, row);
		f = replay_frame(t, s->frame);
		if (take_result(s, t, ev))
			return -1;
		if (f)
			text_uftrace_leaf(s, f);
		replay_left(t);
		s->pending = PENDING_NONE;
		return 1;
	}
	if (t == s->task && s->pending == PENDING_SCHED && row->kind == ROW_SCHED_IN) {
		replay_consume(t, row);
		print_sched_pending(s, true);
		s->pending = PENDING_NONE;
		return 1;
	}
	text_uftrace_settle(s);
	return 0;
}

/* --- rows --- */

/* Make the line of an enter or of scheduling out pending, unless no row can complete the line. */
static void wait_for_next(struct text_uftrace *s, enum pending_kind kind, struct replay_task *t,
			  const struct replay_row *row, int indent)
{
	const struct replay_frame *f = replay_frame(t, t->count - 1);

	s->pending = kind;
	s->task = t;
	s->location = row->location;
	s->row_depth = row->depth;
	s->indent = indent;
	s->frame = t->count - 1;
	if (!f || f->flags & (FRAME_EXEC | FRAME_LONGJMP))
		text_uftrace_settle(s);
}

/* Make the comment "from loop+0x20" by the address of the call, which an event before it has. */
static int take_callsite(struct text_uftrace *s, struct replay_task *t,
			 const struct location *location)
{
	uint64_t offset;
	const char *name;

	s->comment.size = 0;
	if (!t->callsite)
		return 0;
	name = text_symbols_find(&t->recording->symbols, location ? location->space : NULL, t->time,
				 t->callsite, false, &offset);
	t->callsite = 0;
	if (!name)
		return 0;
	return buffer_printf(&s->comment, " /* from %s+%#" PRIx64 " */", name, offset);
}

static int print_enter(struct text_uftrace *s, struct replay_task *t, const struct replay_row *row,
		       const struct event *ev)
{
	const struct location_text *p = text_uftrace_location(s, row->location);
	const struct location *location = dictionary_location(s->dictionary, row->location);
	struct value_names names = {&s->arguments, s->dictionary, &t->recording->symbols, NULL,
				    row->time};

	if (!p)
		return -1;
	if (location && location->space)
		t->space = names.space = location->space;
	if (take_callsite(s, t, location))
		return -1;
	if (!replay_enter(t, (enum fixup)p->fixup)) {
		s->hidden++;
		return 0;
	}
	buffer_clear(&s->arguments);
	s->arguments.spills = true;
	if (ev->type->flags & TYPE_VALUES &&
	    details_append_arguments(&s->arguments, ev->tail, ev->tail_size, value_text, &names))
		return -1;
	wait_for_next(s, PENDING_CALL, t, row, t->indent);
	return 0;
}

static int print_leave(struct text_uftrace *s, struct replay_task *t, const struct replay_row *row,
		       const struct event *ev)
{
	const struct replay_frame *f = replay_frame(t, t->count);
	struct replay_frame unmatched;

	/* the enter of the call that was left is missing */
	if (f && f->open) {
		unmatched = *f;
		unmatched.time = 0;
		f = &unmatched;
	}
	if (f && !(f->flags & FRAME_HIDDEN)) {
		const struct location_text *p = text_uftrace_location(s, row->location);
		int indent = replay_leaving(t);

		if (!p || take_result(s, t, ev))
			return -1;
		text_uftrace_leave(s, t, f, indent, p, s->result.size);
	}
	replay_left(t);
	return 0;
}

static bool is_preempted(const struct text_uftrace *s, const struct event *ev)
{
	const struct location *location = dictionary_location(s->dictionary, ev->location);

	return location && !location->space && location->address == UFTRACE_EV_SCHED_BOTH_PREEMPT;
}

static void print_sched_row(struct text_uftrace *s, struct replay_task *t,
			    const struct replay_row *row, const struct event *ev)
{
	const struct replay_frame *f;

	if (t->allowance <= 0)
		return;
	if (row->kind == ROW_SCHED_OUT) {
		s->preempted = is_preempted(s, ev);
		wait_for_next(s, PENDING_SCHED, t, row, t->indent);
		return;
	}
	f = event_frame(t);
	if (f)
		text_uftrace_sched(s, t, t->indent, "sched-in", false, f->time ? f : NULL);
}

static int print_instant(struct text_uftrace *s, struct replay_task *t, const struct event *ev)
{
	struct value_names names = {NULL, s->dictionary, &t->recording->symbols, t->space,
				    ev->time};

	if (ev->type->native == UFTRACE_EV_CALLSITE) {
		t->callsite = 0;
		field_number(ev, "address", &t->callsite);
		return 0;
	}
	if (t->allowance <= 0 || !event_frame(t))
		return 0;
	text_uftrace_columns(s, t, 0, NULL);
	/* events from outside of the process have no depth */
	text_uftrace_indent(s, ev->type->native == UFTRACE_EV_EXTERN ? 0 : t->indent);
	text_put(s->out, "/* ", 3);
	event_text(s->out, &names, ev);
	if (is_kernel_event(ev) && kernel_event_text(t->recording->kernel, s->out, ev))
		return -1;
	text_put(s->out, " */\n", 4);
	return 0;
}

static enum row_kind replay_row_kind(const struct type *type, const struct event *ev)
{
	struct gap_row g;

	switch (type->kind) {
	case KIND_ENTER: return type->flags & TYPE_INNER ? ROW_SCHED_OUT : ROW_ENTER;
	case KIND_LEAVE: return type->flags & TYPE_INNER ? ROW_SCHED_IN : ROW_LEAVE;
	case KIND_GAP:
		/* events left out on purpose do not cut the stack */
		return gap_get(ev, &g) && g.reason != GAP_UNREAD ? ROW_LOSS : ROW_EVENT;
	}
	return ROW_EVENT;
}

/* Open a call, without a line. */
static int restore_call(struct text_uftrace *s, struct replay_task *t, const struct frame *f)
{
	struct replay_row row = {f->inner ? ROW_SCHED_OUT : ROW_ENTER, f->start, f->location,
				 f->depth, f->type->flags & TYPE_KERNEL};
	const struct location *location = dictionary_location(s->dictionary, f->location);
	const struct location_text *p = text_uftrace_location(s, f->location);

	if (!p)
		return -1;
	if (location && location->space)
		t->space = location->space;
	replay_after_exec(t, &row);
	replay_consume(t, &row);
	if (row.kind == ROW_ENTER && t->calls && replay_enter(t, (enum fixup)p->fixup))
		replay_entered(t, replay_frame(t, t->count - 1));
	return 0;
}

/* Open the calls of a stack, without lines. first: time of the stream's first event, UINT64_MAX
 * unknown. -1: out of memory. */
static int text_uftrace_restored(struct text_uftrace *s, const struct stack *stack, uint64_t first)
{
	const struct stack *own_and_kernel[] = {stack, stack->kernel};
	struct replay_task *t = text_uftrace_task_of(s, stack->lane);
	size_t charged = stack->count && !stack->frames[0].begun;

	if (!t)
		return -1;
	text_uftrace_settle(s);
	replay_restart(t, (int)(stack->unseen + charged), stack->unseen_since, stack->last);
	if (!t->recording->first && first != UINT64_MAX)
		t->recording->first = first;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; own_and_kernel[k] && i < own_and_kernel[k]->count; i++) {
			const struct frame *f = &own_and_kernel[k]->frames[i];

			if (f->begun && restore_call(s, t, f))
				return -1;
		}
	return t->recording->out_of_memory ? -1 : 0;
}

/* Print an event, or keep it pending until the next row. */
static int text_uftrace_row(struct text_uftrace *s, const struct event *ev, struct error *e)
{
	struct replay_row row = {replay_row_kind(ev->type, ev), ev->time, ev->location, ev->depth,
				 ev->type->flags & TYPE_KERNEL};
	struct replay_task *t = text_uftrace_task_of(s, ev->lane);
	int used;

	if (!t)
		return error_no_memory(e);
	t->lane = ev->lane;
	replay_after_exec(t, &row);
	if (ev->type->kind == KIND_GAP) {
		text_uftrace_settle(s);
		replay_consume(t, &row);
		text_uftrace_gap(s, t, ev);
		return 0;
	}
	if (s->pending) {
		used = settle_with(s, t, &row, ev);
		if (used)
			return used < 0 ? error_no_memory(e) : 0;
	}
	replay_consume(t, &row);
	if (!t->calls && (row.kind > ROW_LEAVE || (row.kernel && is_outside(s, t, &row))))
		return 0;
	if (t->recording->last > row.time)
		text_uftrace_inverted(s, t);
	t->recording->last = row.time;
	t->last_time = t->time;
	t->time = row.time;
	used = 0;
	switch (row.kind) {
	case ROW_ENTER: used = print_enter(s, t, &row, ev); break;
	case ROW_LEAVE: used = print_leave(s, t, &row, ev); break;
	case ROW_SCHED_OUT:
	case ROW_SCHED_IN: print_sched_row(s, t, &row, ev); break;
	case ROW_EVENT:
	case ROW_LOSS: used = print_instant(s, t, ev);
	}
	return used || t->recording->out_of_memory ? error_no_memory(e) : 0;
}

/*
 * Text of uftrace recordings, as `uftrace replay` prints it: the functions of the layout.
 */

static int text_uftrace_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_uftrace *s = state;

	s->out = en->text;
	s->dictionary = en->dictionary;
	s->depth = en->options->depth;
	s->quiet = en->options->flags & ENCODE_QUIET;
	s->terminal = output_is_terminal(s->out->out);
	return text_columns_parse(&s->columns, en->options->columns, e);
}

static void uftrace_free_state(void *state)
{
	struct text_uftrace *s = state;

	for (size_t i = 0; i < s->nrecordings; i++)
		recording_free(s->recordings[i]);
	free(s->recordings);
	free(s->tasks);
	free(s->locations);
	buffer_free(&s->arguments);
	buffer_free(&s->comment);
	buffer_free(&s->result);
}

/* --- the layout --- */

static int text_uftrace_meta(void *state, const struct source *source, const struct meta *m,
			     struct error *e)
{
	struct recording *r = text_uftrace_recording(state, source);

	return r && !recording_meta(r, m) ? 0 : error_no_memory(e);
}

static enum threshold_kind threshold_kind(const struct event *ev)
{
	uint32_t id = ev->type->native;

	switch (ev->type->kind) {
	case KIND_ENTER: return THRESHOLD_ENTER;
	case KIND_LEAVE: return THRESHOLD_LEAVE;
	case KIND_GAP: return THRESHOLD_SHOWN;
	}
	if (id == UFTRACE_EV_EXTERN)
		return THRESHOLD_ALONE;
	return id >= UFTRACE_EV_USER_FIRST ? THRESHOLD_SHOWN : THRESHOLD_EVENT;
}

static bool is_scheduling(const struct event *ev)
{
	uint32_t id = ev->type->native;

	return ev->type->flags & TYPE_INNER ||
	       (ev->type->kind == KIND_INSTANT && id >= UFTRACE_EV_SCHED_IN &&
		id < UFTRACE_EV_USER_FIRST);
}

static int print_decided(struct text_uftrace *s, struct recording *r, struct error *e)
{
	struct event ev;

	while (duration_threshold_get(&r->threshold, &ev))
		if (text_uftrace_row(s, &ev, e))
			return -1;
	return 0;
}

static int uftrace_begin_recording(struct text_uftrace *s, struct recording *r, struct error *e)
{
	if (recording_begin(r, s->depth))
		return error_no_memory(e);
	if (r->odd_options && !s->quiet)
		remark(r->source->name.text,
		       "of its default.opts only the time filter (-t) is applied");
	if (!s->header)
		columns_header(s->out, &s->columns);
	s->header = true;
	return 0;
}

/* Get the recording of a source, which is begun. */
static struct recording *begun_recording(struct text_uftrace *s, const struct source *source,
					 struct error *e)
{
	struct recording *r = s->recording;

	if (__builtin_expect(r && r->source == source, 1))
		return r;
	r = text_uftrace_recording(s, source);
	if (!r)
		error_no_memory(e);
	else if (!r->ready && uftrace_begin_recording(s, r, e))
		return NULL;
	return s->recording = r;
}

static int text_uftrace_flush(struct text_uftrace *s, struct recording *r, struct error *e)
{
	if (!r || !r->threshold.limit)
		return 0;
	duration_threshold_flush(&r->threshold);
	return print_decided(s, r, e);
}

static int uftrace_restored(void *state, const struct stack *stack, uint64_t first, struct error *e)
{
	struct text_uftrace *s = state;
	struct recording *r = begun_recording(s, stack->lane->source, e);

	/* the stacks of what is queued are those before */
	if (!r || text_uftrace_flush(s, r, e))
		return -1;
	return text_uftrace_restored(s, stack, first) ? error_no_memory(e) : 0;
}

static int text_uftrace_event(void *state, const struct event *ev, struct error *e)
{
	struct text_uftrace *s = state;
	struct recording *r = begun_recording(s, ev->lane->source, e);

	if (!r)
		return -1;
	if (__builtin_expect(!r->threshold.limit, 1))
		return text_uftrace_row(s, ev, e);
	/* with a time filter uftrace counts times from the first row, shown or not */
	if (!r->first && ev->type->kind != KIND_GAP)
		r->first = ev->time;
	if (duration_threshold_put(&r->threshold, ev, threshold_kind(ev), is_scheduling(ev)))
		return error_no_memory(e);
	return print_decided(s, r, e);
}

/* Report on stderr the calls that are missing, or shown without need. */
static void uftrace_print_counts(struct text_uftrace *s)
{
	uint64_t undecided = 0;

	for (size_t i = 0; i < s->nrecordings && !s->quiet; i++)
		if (s->recordings[i])
			undecided += s->recordings[i]->threshold.undecided;
	if (!s->quiet)
		remark_count(s->hidden, "{call is|calls are} nested too deep to be shown (see -D)");
	remark_count(undecided,
		     "{call is|calls are} shown that may be shorter than the time filter");
}

static int text_uftrace_end(void *state, struct error *e)
{
	struct text_uftrace *s = state;

	for (size_t i = 0; i < s->nrecordings; i++)
		if (text_uftrace_flush(s, s->recordings[i], e))
			return -1;
	text_uftrace_settle(s);
	for (size_t i = 0; i < s->nrecordings; i++)
		if (s->recordings[i])
			text_uftrace_remaining(s, s->recordings[i]);
	uftrace_print_counts(s);
	return 0;
}

const struct text_layout text_uftrace = {
	.format = "uftrace",
	.state_size = sizeof(struct text_uftrace),
	.begin = text_uftrace_begin,
	.meta = text_uftrace_meta,
	.restored = uftrace_restored,
	.event = text_uftrace_event,
	.end = text_uftrace_end,
	.free = uftrace_free_state,
};
