/*
 * columns.c - the columns in front of a line, as `uftrace replay -f` prints them
 */
#include "cmd/trencode/text/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/formats/uftrace.h"
#include "common/symbols/demangle.h"
#include "common/value/scalar.h"
#include "common/value/value_text.h"

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

size_t difference_text(struct time_difference *d, uint64_t time, bool ns, char out[DIFFERENCE_MOST])
{
	char text[DIFFERENCE_MOST - 2] = "";

	if (!ns)
		time = time / 1000 + (time % 1000 >= 500);
	if (d->has_last)
		snprintf(text, sizeof text, "(+%" PRId64 ")", (int64_t)(time - d->last));
	d->has_last = time != 0;
	d->last = time;
	return (size_t)snprintf(out, DIFFERENCE_MOST, " %-8s", text);
}

bool clock_in_seconds(const char *clock)
{
	static const char *const names[] = {"local", "global",	 "uptime", "perf",
					    "tai",   "tsc2nsec", "wall"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(clock, names[i]))
			return true;
	return !strncmp(clock, "mono", 4);
}

/* --- symbols --- */

enum { NAME_CACHE = 256 };

/* One META block with symbols, parsed when the first address is looked up in it. */
struct symbol_table {
	uint32_t source;
	char *name;
	struct buffer text;
	struct symbols *symbols;
	bool bad; /* unusable: pieces are missing, or parsing ran out of memory */
};

/* A demangled name. */
struct demangled_name {
	const struct symbol *symbol;
	char *name;
};

struct text_symbols {
	struct symbol_table *tables;
	size_t ntables, capacity;
	struct intern names; /* number: index of the table */
	struct demangled_name cache[NAME_CACHE];
};

struct text_symbols *text_symbols_new(void)
{
	return calloc(1, sizeof(struct text_symbols));
}

void text_symbols_free(struct text_symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->ntables; i++) {
		free(s->tables[i].name);
		buffer_free(&s->tables[i].text);
		symbols_free(s->tables[i].symbols);
	}
	free(s->tables);
	for (size_t i = 0; i < NAME_CACHE; i++)
		free(s->cache[i].name);
	intern_free(&s->names);
	free(s);
}

/* Append the key of a table: the number of its source, and its name. */
static int table_key(struct buffer *b, uint32_t source, const char *name, size_t n)
{
	return buffer_u32(b, source) || buffer_append(b, name, n) ? -1 : 0;
}

static struct symbol_table *table_find(const struct text_symbols *s, uint32_t source,
				       const char *name, size_t n)
{
	struct buffer b = {0};
	uint32_t number = table_key(&b, source, name, n) ? INTERN_NONE
							 : intern_find(&s->names, b.data, b.size);

	buffer_free(&b);
	return number < s->ntables ? &s->tables[number] : NULL;
}

static struct symbol_table *text_columns_table_add(struct text_symbols *s, uint32_t source,
						   const char *name, size_t n)
{
	struct symbol_table *t;
	struct buffer b = {0};
	uint32_t number;

	if (ARRAY_GROW(s->tables, s->capacity, s->ntables))
		return NULL;
	t = s->tables;
	number = table_key(&b, source, name, n) ? INTERN_NONE : intern(&s->names, b.data, b.size);
	buffer_free(&b);
	if (number != s->ntables)
		return NULL;
	t += s->ntables++;
	*t = (struct symbol_table){.source = source};
	return t;
}

static bool is_symbol_table(const struct meta *m)
{
	return m->name_size > 4 && !memcmp(m->name + m->name_size - 4, ".sym", 4);
}

int text_symbols_meta(struct text_symbols *s, const struct meta *m)
{
	struct symbol_table *t;

	if (!is_symbol_table(m) || m->flags & META_REFERENCE)
		return 0;
	t = table_find(s, m->source, m->name, m->name_size);
	if (!t)
		t = text_columns_table_add(s, m->source, m->name, m->name_size);
	if (!t)
		return -1;
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

	if (!map->table.size || !space->source)
		return NULL;
	t = table_find(s, space->source->number, map->table.text, map->table.size);
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

const char *text_symbols_find(struct text_symbols *s, const struct space *space, uint64_t time,
			      uint64_t address, bool loaded, uint64_t *offset)
{
	const struct symbol *symbol =
		space ? find_symbol(s, space, time, address, loaded, offset) : NULL;
	struct demangled_name *named;

	if (!symbol)
		return NULL;
	named = &s->cache[hash_u64((uintptr_t)symbol) % NAME_CACHE];
	if (named->symbol != symbol) {
		free(named->name);
		named->symbol = symbol;
		named->name = demangle(symbol->name, DEMANGLE_SIMPLE);
	}
	return named->name ? named->name : symbol->name;
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

static int put_pointer(struct buffer *out, const struct value_names *names, uint64_t address)
{
	const char *name = NULL;

	if (names->symbols)
		name = text_symbols_find(names->symbols, names->space, names->time, address, true,
					 NULL);
	if (name)
		return buffer_puts(out, "&") || buffer_puts(out, name) ? -1 : 0;
	return put_hex(out, address);
}

static int put_enum_number(struct buffer *out, int64_t v)
{
	return v > DECIMAL_LIMIT || v < -DECIMAL_LIMIT ? put_hex(out, (uint64_t)v)
						       : buffer_signed(out, v);
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
	return out->size > before ? 0 : put_enum_number(out, v);
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

/* --- columns --- */

enum { COMM_WIDTH = 15, MODULE_WIDTH = 16, ADDRESS_WIDTH = 12 };

static const struct {
	const char *name, *header;
	uint8_t width;
} table[COLUMN_COUNT] = {
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
		strcat(known, table[i].name);
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
		if (!all && (strlen(table[i].name) != n || memcmp(table[i].name, name, n)))
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

void columns_header(struct text *out, const struct text_columns *c)
{
	char mark = '#';

	if (c->none)
		return;
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!c->shown[i])
			continue;
		text_char(out, mark);
		text_puts(out, table[i].header);
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

/* Return the address that uftrace shows: 48 bits in the kernel; for scheduling, which has no
 * address, uftrace's number of the event. */
static uint64_t column_address(const struct location *p)
{
	if (!p)
		return 0;
	if (p->space && p->space->flags & SPACE_KERNEL)
		return p->address & UFTRACE_ADDR_MASK;
	return p->space ? p->address : p->address - (p->address == 200003 || p->address == 200008);
}

static void print_address(struct text *out, const struct location *p)
{
	char field[24];

	text_put(out, field,
		 (size_t)snprintf(field, sizeof field, "%*" PRIx64, ADDRESS_WIDTH,
				  column_address(p)));
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
	case COLUMN_ELAPSED: print_duration(out, t->time - t->replay->first); break;
	case COLUMN_TASK:
		print_right(out, t->lane->comm.text, t->lane->comm.size, COMM_WIDTH);
		break;
	case COLUMN_ADDRESS:
		if (frame)
			print_address(out, p);
		else
			text_pad(out, ' ', ADDRESS_WIDTH);
		break;
	case COLUMN_MODULE:
		if (frame)
			print_module(out, p);
		else
			text_pad(out, ' ', MODULE_WIDTH);
		break;
	case COLUMN_COUNT: break;
	}
}

void columns_print(struct text *out, const struct text_columns *c, const struct dictionary *d,
		   const struct replay_task *t, uint64_t duration, const struct replay_frame *frame)
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

void columns_blank(struct text *out, const struct text_columns *c)
{
	if (c->none)
		return;
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (c->shown[i])
			text_pad(out, ' ', 1u + table[i].width);
	text_put(out, " | ", 3);
}

/* --- events --- */

/* Two or three counters that one event has: their values at a time, or their differences. */
struct reading {
	uint32_t read, diff; /* event ids */
	const char *fields[3], *labels[3], *unit;
	const char
		*ratio; /* name of the ratio of the second to the first; printed with differences */
	bool percent;	/* the ratio is the share of the first without the second, in percent */
};

static const struct reading readings[] = {
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

static const struct reading *reading_of(uint32_t id)
{
	for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
		if (readings[i].read == id || readings[i].diff == id)
			return &readings[i];
	return NULL;
}

static void print_reading(struct text *out, const struct reading *r, const struct event *ev)
{
	bool diff = ev->type->native == r->diff;
	uint64_t v[3];
	int n = 0;

	while (n < 3 && r->fields[n] && field_number(ev, r->fields[n], &v[n]))
		n++;
	if (!n || (n < 3 && r->fields[n]))
		return;
	for (int i = 0; i < n; i++) {
		text_puts(out, i ? " " : " (");
		text_puts(out, r->labels[i]);
		text_char(out, '=');
		if (!diff) {
			text_u64(out, v[i]);
		} else {
			if ((int64_t)v[i] >= 0)
				text_char(out, '+');
			text_i64(out, (int64_t)v[i]);
		}
		text_puts(out, r->unit);
	}
	if (diff && r->ratio && !r->percent)
		text_printf(out, " %s=%.2f", r->ratio, (double)((float)v[1] / (float)v[0]));
	else if (diff && r->ratio)
		text_printf(out, " %s=%.2f%%", r->ratio,
			    100.0 * (double)(int64_t)(v[0] - v[1]) / (double)(int64_t)v[0]);
	text_char(out, ')');
}

static void print_watch(struct text *out, const struct value_names *names, const struct event *ev)
{
	uint64_t address, value;
	const char *name = NULL;

	if (!field_number(ev, "address", &address) || !field_number(ev, "value", &value))
		return;
	if (names->symbols)
		name = text_symbols_find(names->symbols, names->space, ev->time, address, true,
					 NULL);
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
	const struct field *f = field_by_role(ev->type, ROLE_MESSAGE);
	struct field_value v = {.form = FORM_NONE};

	if (f)
		field_get(ev, f, 0, &v);
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

void event_text(struct text *out, const struct value_names *names, const struct event *ev)
{
	uint32_t id = ev->type->native;
	const struct reading *reading = reading_of(id);
	uint64_t cpu;

	print_name(out, ev->type);
	if (reading)
		print_reading(out, reading, ev);
	else if (id == UFTRACE_EV_WATCH_CPU && field_number(ev, "cpu", &cpu))
		text_printf(out, " (cpu=%" PRId32 ")", (int32_t)cpu);
	else if (id == UFTRACE_EV_WATCH_VAR)
		print_watch(out, names, ev);
	else if (id == UFTRACE_EV_TASK_COMM)
		text_columns_print_text(out, ev, " (comm=\"", "\")");
	else if (id == UFTRACE_EV_EXTERN)
		text_columns_print_text(out, ev, ": ", "");
	print_data(out, ev);
}
