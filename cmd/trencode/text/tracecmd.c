/*
 * tracecmd.c - as trace-cmd report prints, with the names of the kernel that was recorded
 *
 *     <idle>-0     [000]    39.283920: softirq_raise:        vec=1 [action=TIMER]
 */
#include "cmd/trencode/text/tracecmd.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trencode/convert.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/text/layout.h"
#include "cmd/trencode/text/plugins.h"
#include "cmd/trencode/text/uftrace.h"
#include "common/formats/tracecmd.h"
#include "common/stream/field.h"
#include "common/util/bisect.h"
#include "common/util/buffer.h"
#include "common/util/lines.h"
#include "common/util/text_span.h"

/* --- names of the kernel that a trace.dat was recorded on --- */

/* The symbol or the string of an address. */
struct kernel_name {
	uint64_t address;
	uint32_t at, size; /* offset and length in the text */
};

static void text_kernel_table_free(struct kernel_table *t)
{
	buffer_free(&t->text);
	free(t->rows);
	free(t->by_name);
}

static void text_kernel_free(struct text_kernel *k)
{
	text_kernel_table_free(&k->symbols);
	text_kernel_table_free(&k->strings);
}

static int table_append(struct kernel_table *t, const struct meta *m)
{
	if (m->offset != t->text.size || t->read || m->size > UINT32_MAX / 2 - t->text.size)
		return 0;
	return buffer_append(&t->text, m->data, m->size);
}

/* Take a piece of a META block; blocks other than the two above are ignored. Returns -1 when out of
 * memory. */
static int text_kernel_meta(struct text_kernel *k, const struct meta *m)
{
	if (meta_is(m, "kallsyms"))
		return table_append(&k->symbols, m);
	if (meta_is(m, "printk_formats"))
		return table_append(&k->strings, m);
	return 0;
}

static int text_kernel_table_add(struct kernel_table *t, uint64_t address, size_t at, size_t size)
{
	if (ARRAY_GROW(t->rows, t->capacity, t->count))
		return -1;
	t->rows[t->count++] = (struct kernel_name){address, (uint32_t)at, (uint32_t)size};
	return 0;
}

/* Read a hexadecimal number, with or without 0x. Returns false if there is none. */
static bool read_address(const char **p, const char *end, uint64_t *v)
{
	if (end - *p > 1 && !memcmp(*p, "0x", 2))
		*p += 2;
	return digits_hex(p, end, v);
}

/* Read "ffffffff81000000 T name[\t[module]]". *good is false if the line is not of this form; the
 * table then ends here. */
static int text_kernel_read_symbol(struct kernel_table *t, const char *p, const char *end,
				   bool *good)
{
	const char *text = (const char *)t->text.data, *name;
	uint64_t address;
	char type;

	*good = false;
	if (!read_address(&p, end, &address))
		return 0;
	while (p < end && *p == ' ')
		p++;
	if (p == end)
		return 0;
	type = *p++;
	while (p < end && *p == ' ')
		p++;
	name = p;
	while (p < end && *p != ' ' && *p != '\t')
		p++;
	if (p == name)
		return 0;
	*good = true;
	/* offsets in per-CPU data, and marks between ARM and Thumb code */
	if (type == 'A' || type == 'a' || *name == '$')
		return 0;
	return text_kernel_table_add(t, address, (size_t)(name - text), (size_t)(p - name));
}

/* Read '0xffffffff81000000 : "text\n"', without the newline at the end of the text. */
static int text_kernel_read_string(struct kernel_table *t, char *p, char *end, bool *good)
{
	char *text = (char *)t->text.data, *from;
	const char *q = p;
	uint64_t address;
	size_t size;

	*good = true;
	while (q < end && *q == ' ')
		q++;
	if (!read_address(&q, end, &address))
		return 0;
	from = memchr(q, ':', (size_t)(end - q));
	if (!from)
		return 0;
	from++;
	if (from < end && *from == ' ')
		from++;
	if (from < end && *from == '"')
		from++;
	if (end > from && end[-1] == '"')
		end--;
	size = print_unescape(from, from, (size_t)(end - from));
	if (size && from[size - 1] == '\n')
		size--;
	return text_kernel_table_add(t, address, (size_t)(from - text), size);
}

/* Compare for qsort. Of symbols with one address libtraceevent puts the last of the file first. */
static int by_address(const void *a, const void *b)
{
	const struct kernel_name *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->at > y->at ? -1 : x->at < y->at;
}

static int table_read(struct kernel_table *t, bool symbols)
{
	struct lines l = lines_of((char *)t->text.data, t->text.size);
	bool good = true;

	if (t->read)
		return 0;
	t->read = true;
	while (good && lines_next(&l))
		if (l.size &&
		    (symbols ? text_kernel_read_symbol(t, l.line, l.line + l.size, &good)
			     : text_kernel_read_string(t, l.line, l.line + l.size, &good)))
			return -1;
	if (t->count)
		qsort(t->rows, t->count, sizeof *t->rows, by_address);
	return 0;
}

/* Get the index + 1 of the row, or 0. Bisects as bsearch of the C library does, so that of
 * several rows with one address the same one is found. */
static uint32_t table_search(const struct kernel_table *t, uint64_t address, bool exact)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t i = low + (high - low) / 2;
		uint64_t next = i + 1 < t->count ? t->rows[i + 1].address : 0;

		if (address == t->rows[i].address ||
		    (!exact && address > t->rows[i].address && address < next))
			return (uint32_t)i + 1;
		if (address < t->rows[i].address)
			high = i;
		else
			low = i + 1;
	}
	return 0;
}

static const char *kernel_symbol(void *context, uint64_t address, size_t *size, uint64_t *offset)
{
	const struct text_kernel *k = context;
	uint32_t number = table_search(&k->symbols, address, false);
	const struct kernel_name *row;

	if (!number)
		return NULL;
	row = &k->symbols.rows[number - 1];
	*size = row->size;
	*offset = address - row->address;
	return (const char *)k->symbols.text.data + row->at;
}

/* Compare the name of a row: negative if it is before these bytes. */
static int text_kernel_compare_name(const struct kernel_table *t, uint32_t row, const void *name,
				    size_t size)
{
	const struct kernel_name *r = &t->rows[row];

	if (r->size != size)
		return r->size < size ? -1 : 1;
	return memcmp(t->text.data + r->at, name, size);
}

/* Compare for qsort_r. Of symbols with one name the lowest address is first. */
static int text_kernel_by_name(const void *a, const void *b, void *table)
{
	const struct kernel_table *t = table;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = text_kernel_compare_name(t, x, t->text.data + t->rows[y].at, t->rows[y].size);

	return c ? c : (x > y) - (x < y);
}

static uint64_t kernel_address(void *context, const char *name, size_t size)
{
	struct kernel_table *t = &((struct text_kernel *)context)->symbols;
	size_t low;

	if (!t->by_name && t->count) {
		t->by_name = malloc(t->count * sizeof *t->by_name);
		if (!t->by_name)
			return 0;
		for (size_t i = 0; i < t->count; i++)
			t->by_name[i] = (uint32_t)i;
		qsort_r(t->by_name, t->count, sizeof *t->by_name, text_kernel_by_name, t);
	}
	low = BISECT(t->count, i, text_kernel_compare_name(t, t->by_name[i], name, size) < 0);
	if (low == t->count || text_kernel_compare_name(t, t->by_name[low], name, size))
		return 0;
	return t->rows[t->by_name[low]].address;
}

static const char *kernel_string(void *context, uint64_t address, size_t *size)
{
	const struct kernel_table *t = &((struct text_kernel *)context)->strings;
	uint32_t row = table_search(t, address, true);

	if (!row)
		return NULL;
	*size = t->rows[row - 1].size;
	return (const char *)t->text.data + t->rows[row - 1].at;
}

/* Read the tables, unless they were read, for k->names. Returns -1 when out of memory. */
static int text_kernel_read(struct text_kernel *k)
{
	k->names = (struct print_kernel){.context = k,
					 .symbol = kernel_symbol,
					 .address = kernel_address,
					 .string = kernel_string};
	return table_read(&k->symbols, true) || table_read(&k->strings, false) ? -1 : 0;
}

/* --- messages --- */

struct kernel_events {
	struct text_kernel kernel;
	/* the print fmt of types, compiled at their first event */
	struct {
		bool ready;
		struct print_format *format; /* NULL: print fmt cannot be evaluated */
		struct event_format fields;  /* read where format is NULL */
	} * messages;			     /* by number of the type */
	size_t count;
	struct print_line line;
};

struct kernel_events *kernel_events_new(void)
{
	return calloc(1, sizeof(struct kernel_events));
}

void kernel_events_free(struct kernel_events *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->count; i++) {
		print_format_free(k->messages[i].format);
		event_format_free(&k->messages[i].fields);
	}
	free(k->messages);
	text_kernel_free(&k->kernel);
	line_free(&k->line);
	free(k);
}

int kernel_events_meta(struct kernel_events *k, const struct meta *m)
{
	return text_kernel_meta(&k->kernel, m);
}

static int message_make(struct kernel_events *k, const struct type *type)
{
	const struct text_ref *text = &type->declaration;
	struct print_format **format = &k->messages[type->number].format;
	char why[PRINT_WHY];

	if (text_kernel_read(&k->kernel))
		return -1;
	k->messages[type->number].ready = true;
	*format = print_format_compile(text->text, text->size, type->word_size,
				       type->flags & TYPE_BIG_ENDIAN, &k->kernel.names, why);
	if (*format)
		return 0;
	return !*why || event_format_parse(&k->messages[type->number].fields, text->text,
					   text->size, type->word_size) < 0
		       ? -1
		       : 0;
}

int kernel_event_text(struct kernel_events *k, struct text *out, const struct event *ev)
{
	uint32_t number = ev->type->number;
	size_t n;

	if (ARRAY_REACH(k->messages, k->count, number) ||
	    (!k->messages[number].ready && message_make(k, ev->type)))
		return -1;
	k->line.size = 0;
	if (k->messages[number].format)
		print_format_text(k->messages[number].format, &k->kernel.names, ev->tail,
				  ev->tail_size, &k->line);
	else
		print_fields_text(&k->messages[number].fields, ev->tail, ev->tail_size,
				  ev->type->flags & TYPE_BIG_ENDIAN, &k->line);
	if (k->line.failed)
		return -1;
	n = k->line.size;
	while (n && k->line.data[n - 1] == '\n')
		n--;
	if (!n)
		return 0;
	text_puts(out, " (");
	text_masked(out, k->line.data, n);
	text_char(out, ')');
	return 0;
}

/* --- lines --- */

/* The data of a record of the graph. */
struct graph_call {
	uint64_t func, depth, duration; /* address; levels; ns, of an exit only */
	uint64_t level;			/* the depth as recorded */
};

/*
 * The way in which `trace-cmd report -R` prints the fields of one event type.
 *
 * A scalar that is an argument of print fmt (REC->field, also after casts) is printed by its
 * conversion there; other fields by their type. Observed with trace-cmd 3.1.6 and libtraceevent
 * 1.7.1.
 */

enum conversion_kind {
	PLAN_PLAIN,	  /* by the type of the field */
	PLAN_NUMBER,	  /* by a conversion of printf */
	PLAN_FUNCTION,	  /* %ps */
	PLAN_FUNCTION_AT, /* %pS: with the offset */
	PLAN_POINTER,	  /* %p */
	PLAN_STRING,	  /* %s of a pointer: a constant string */
};

/* One printed field. */
struct plan_field {
	const struct field *field;
	enum conversion_kind how;
	bool prefix;	    /* print fmt has "0x" before the conversion */
	bool array, string; /* an array; one of characters, printed as text if it is printable */
	bool pointer, is_long, is_signed;
	char conversion[24]; /* "%08llx", for 64 bits */
	uint8_t bits;	     /* bits that the conversion of print fmt takes */
	uint8_t cast;	     /* bytes that a cast leaves, 0: no cast */
	bool cast_signed;
};

/* --- the parts of lines that are made once for each type and each lane --- */

/* A type of events. */
struct tc_type {
	bool ready;
	bool line; /* its events are lines of a latency tracer's text, printed unchanged */
	struct print_format *format; /* NULL: print fmt cannot be evaluated */
	struct event_format fields;  /* printed where format is NULL */
	struct {
		enum { GRAPH_NONE, GRAPH_ENTRY, GRAPH_EXIT } kind;
		struct event_field func, depth, calltime, rettime; /* places in a record */
	} graph; /* of funcgraph_entry and funcgraph_exit, drawn as trace-cmd does */
	struct bprint_fields bprint;
	struct plugin_type plugin;
	struct plan_field *plan; /* of --raw: the printed fields; then those above are not set */
	size_t nplan;
	char *name; /* " sched_switch:         " */
	size_t name_size;
};

/* A lane. */
struct tc_lane {
	struct tc_source *source;
	char *head; /* "            work-151   [001]" */
	size_t head_size, prefix_size;
	bool microseconds; /* times have seconds and microseconds; else they are printed as numbers
			    */
};

struct text_tracecmd {
	struct text *out;
	const struct dictionary *dictionary;
	const struct calls *calls;
	bool nanoseconds, differences, no_plugins, raw, quiet;
	unsigned plugins; /* enum plugin_option */
	struct tc_sources sources;
	struct tc_type *types; /* by number */
	size_t ntypes;
	struct tc_lane *lanes; /* by number */
	size_t nlanes;
	struct plugin_indent indent;
	struct print_line line;
	struct {
		bool is; /* there is such a call */
		const struct lane *lane;
		struct graph_call call;
		const struct print_kernel *names;
		size_t size;  /* length of its line so far, in queue */
	} open;		      /* call whose enter is not drawn yet */
	struct buffer fields; /* fields of an event, as text */
	struct buffer queue;  /* the line of the open call, then lines of other buffers */
	uint64_t last_time;   /* --ts-diff: of the line before; 0: there is none, or it is 0 */
	bool latency;	      /* there are lines of a latency tracer's text */
	uint64_t not_evaluated;
	/* of the first format that cannot be evaluated */
	char why[PRINT_WHY], why_type[64];
};

/* --- sources --- */

enum { META_MOST = 1 << 20 };

void tc_sources_free(struct tc_sources *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct tc_source *t = s->at[i];

		text_kernel_free(&t->kernel);
		buffer_free(&t->buffers);
		buffer_free(&t->options);
		for (uint32_t k = 0; k < t->binary.addresses.count && t->binary.formats; k++)
			print_format_free(t->binary.formats[k]);
		free(t->binary.formats);
		intern_free(&t->binary.addresses);
		free(t);
	}
	free(s->at);
	idmap_free(&s->numbers);
	key_map_free(&s->vcpus);
}

struct tc_source *tc_source_of(struct tc_sources *s, const struct source *source)
{
	uint32_t id = source ? source->number : 0, known = idmap_get(&s->numbers, id);
	struct tc_source *t;

	if (known)
		return s->at[known - 1];
	if (ARRAY_GROW(s->at, s->capacity, s->count))
		return NULL;
	t = calloc(1, sizeof *t);
	if (!t || idmap_set(&s->numbers, id, (uint32_t)s->count + 1)) {
		free(t);
		return NULL;
	}
	t->source = source;
	return s->at[s->count++] = t;
}

int tc_sources_meta(struct tc_sources *s, const struct source *source, const struct meta *m)
{
	struct tc_source *t = tc_source_of(s, source);
	struct buffer *b;

	if (!t)
		return -1;
	b = meta_is(m, "buffers") ? &t->buffers : meta_is(m, "options") ? &t->options : NULL;
	if (!b)
		return text_kernel_meta(&t->kernel, m);
	if (m->offset != b->size || m->size > META_MOST - b->size)
		return 0;
	return buffer_append(b, m->data, m->size);
}

/* An option of the trace.dat. */
struct option {
	uint32_t id;
	const uint8_t *data;
	size_t size;
};

/* Read the next option from *at on. */
static bool next_option(const struct tc_source *t, size_t *at, struct option *o)
{
	const uint8_t *p = t->options.data ? t->options.data + *at : NULL;
	size_t left = t->options.size - *at;

	if (left < 8)
		return false;
	*o = (struct option){get_u32(p), p + 8, get_u32(p + 4)};
	if (o->size > left - 8)
		return false;
	*at += 8 + o->size;
	return true;
}

int tc_source_begin(struct tc_source *t)
{
	struct option option;
	size_t at = 0;

	if (t->ready)
		return 0;
	t->ready = true;
	while (next_option(t, &at, &option))
		t->has_clock = t->has_clock || option.id == TRACECMD_TRACECLOCK;
	return text_kernel_read(&t->kernel);
}

/* --- guests --- */

static bool has_id(const struct tc_source *t, uint64_t id, bool big)
{
	struct option o;
	size_t at = 0;

	while (next_option(t, &at, &o))
		if (o.id == TRACECMD_TRACEID && o.size >= 8 && get_uint(o.data, 8, big) == id)
			return true;
	return false;
}

/* Add the virtual CPUs of a guest whose trace is another source. The option: name, NUL, u64 id of
 * the trace, u32 number of virtual CPUs, u32 number and u32 thread of each. */
static int add_guest(struct tc_sources *s, const struct option *o, bool big)
{
	const uint8_t *end = o->data + o->size, *p = memchr(o->data, 0, o->size);
	size_t guest = 1;

	if (!p || end - p < 13)
		return 0;
	while (guest < s->count && !has_id(s->at[guest], get_uint(p + 1, 8, big), big))
		guest++;
	if (guest >= s->count)
		return 0;
	if (tc_source_begin(s->at[guest]))
		return -1;
	for (p += 13; end - p >= 8; p += 8)
		if (key_map_set(&s->vcpus, get_uint(p + 4, 4, big), guest))
			return -1;
	return 0;
}

const struct print_kernel *tc_guest(struct tc_sources *s, uint32_t tid, bool big)
{
	struct option o;
	size_t at = 0, guest;

	if (!s->has_vcpus) {
		s->has_vcpus = true;
		while (s->count > 1 && next_option(s->at[0], &at, &o))
			if (o.id == TRACECMD_GUEST && add_guest(s, &o, big))
				return NULL;
	}
	guest = key_map_get(&s->vcpus, tid);
	return guest ? &s->at[guest]->kernel.names : NULL;
}

/* Read the next line of the META block "buffers" from *at on: name and number of CPUs. */
static bool next_buffer(const struct tc_source *t, size_t *at, const char **name, size_t *size,
			uint64_t *cpus)
{
	struct lines l = lines_of((const char *)t->buffers.data, t->buffers.size);
	const char *p, *end, *q;

	if (*at >= t->buffers.size)
		return false;
	l.next += *at;
	lines_next(&l);
	p = l.line;
	q = p + l.size;
	*at = t->buffers.size - (size_t)(l.end - l.next);
	*name = p;
	end = memchr(p, '\t', (size_t)(q - p));
	*size = (size_t)((end ? end : q) - p);
	*cpus = 0;
	for (end = q; end > p && end[-1] >= '0' && end[-1] <= '9';)
		end--;
	for (; end < q; end++)
		*cpus = *cpus * 10 + (uint64_t)(*end - '0');
	return true;
}

/* Get what is in front of the lines of a source without an instance: its file, if there are several
 * sources. */
static const char *source_prefix(const struct tc_sources *s, const struct source *source)
{
	const char *name = s->count > 1 && source ? source->name.text : "";
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* Set the width of the column to the longest name of a file, if there are several, or of an
 * instance. */
static void find_width(struct tc_sources *s)
{
	size_t width = 0;

	for (size_t i = 0; i < s->count; i++) {
		size_t at = 0, size = strlen(source_prefix(s, s->at[i]->source));
		const char *name;
		uint64_t cpus;

		do {
			width = size > width ? size : width;
		} while (next_buffer(s->at[i], &at, &name, &size, &cpus));
	}
	s->width = (int)(width < 256 ? width : 256);
}

static void text_tracecmd_put_prefix(const struct tc_sources *s, const char *name, size_t n,
				     struct print_line *out)
{
	size_t start = out->size;

	if (!s->width)
		return;
	line_put(out, name, n);
	line_column(out, start, s->width, s->width, false);
	line_puts(out, n ? ": " : "  ");
}

/* Print "instance: " or "file: "; blanks for the top buffer of a single file. */
static void tc_prefix(const struct tc_sources *s, const struct lane *lane, struct print_line *out)
{
	const char *name = source_prefix(s, lane->source);

	if (lane->buffer.size)
		text_tracecmd_put_prefix(s, lane->buffer.text, lane->buffer.size, out);
	else
		text_tracecmd_put_prefix(s, name, strlen(name), out);
}

/* Print "cpus=2", the first lines of the report, when all META blocks were read. Later calls print
 * nothing. */
static void tc_header(struct tc_sources *s, struct print_line *out)
{
	if (s->header)
		return;
	s->header = true;
	find_width(s);
	for (size_t i = 0; i < s->count; i++) {
		const struct tc_source *t = s->at[i];
		const char *name;
		size_t at = 0, size;
		uint64_t cpus = 0;

		if (!next_buffer(t, &at, &name, &size, &cpus))
			continue;
		name = source_prefix(s, t->source);
		if (s->count > 1 && t->source)
			text_tracecmd_put_prefix(s, name, strlen(name), out);
		line_puts(out, "cpus=");
		line_u64(out, cpus);
		line_char(out, '\n');
	}
}

/* --- events of trace_bprintk(): the address of a format, and packed arguments --- */

void bprint_fields_find(struct bprint_fields *b, const struct type *type,
			const struct event_format *fields)
{
	const struct event_field *ip, *fmt, *buf;

	*b = (struct bprint_fields){0};
	if (strcmp(type->group.text, "ftrace") || strcmp(type->name.text, "bprint"))
		return;
	ip = event_format_find(fields, "ip", 2);
	fmt = event_format_find(fields, "fmt", 3);
	buf = event_format_find(fields, "buf", 3);
	if (!ip || !fmt || !buf)
		return;
	*b = (struct bprint_fields){true, *ip, *fmt, *buf};
}

/* Find the format at an address. *out is NULL if the kernel's formats do not have it, or if it
 * cannot be compiled. Returns -1 when out of memory. */
static int format_at(struct tc_source *source, const struct event *ev, uint64_t address,
		     const struct print_format **out)
{
	const struct print_kernel *k = &source->kernel.names;
	uint32_t i = intern_find(&source->binary.addresses, &address, sizeof address);
	char why[PRINT_WHY];
	const char *s;
	size_t size;

	*out = NULL;
	if (i == INTERN_NONE) {
		s = k->string(k->context, address, &size);
		if (!s)
			return 0;
		if (ARRAY_GROW(source->binary.formats, source->binary.capacity,
			       source->binary.addresses.count))
			return -1;
		i = intern(&source->binary.addresses, &address, sizeof address);
		if (i == INTERN_NONE)
			return -1;
		source->binary.formats[i] = print_format_compile_binary(
			s, size, ev->type->word_size, ev->type->flags & TYPE_BIG_ENDIAN, why);
	}
	*out = source->binary.formats[i];
	return 0;
}

int bprint_message(struct tc_source *source, const struct bprint_fields *b, const struct event *ev,
		   struct print_line *out)
{
	const struct print_format *f;
	uint64_t fmt;

	if (!record_number(&b->fmt, ev, &fmt))
		return 0;
	if (format_at(source, ev, fmt, &f))
		return -1;
	if (!f)
		return 0;
	if (b->buf.offset <= ev->tail_size)
		print_format_text(f, &source->kernel.names, ev->tail + b->buf.offset,
				  ev->tail_size - b->buf.offset, out);
	return 1;
}

/* Append the calling function and the text. Returns -1 when out of memory. */
static int bprint_text(struct tc_source *source, const struct bprint_fields *b,
		       const struct event *ev, struct print_line *out)
{
	uint64_t ip, fmt;
	int known;

	if (!record_number(&b->ip, ev, &ip) || !record_number(&b->fmt, ev, &fmt))
		return 0;
	function_text(out, ip, "0x", &source->kernel.names);
	line_puts(out, ": ");
	known = bprint_message(source, b, ev, out);
	if (!known) {
		line_puts(out, "(NO FORMAT FOUND at ");
		line_hex(out, fmt, 1);
		line_char(out, ')');
	}
	return known < 0 ? -1 : 0;
}

/* --- plan --- */

enum { ARGUMENTS = 128, CONVERSIONS = 128 };

/* A conversion of print fmt. */
struct plan_conversion {
	struct text_span text; /* "%08llx" */
	int argument;	       /* index of its argument */
	bool prefix;	       /* "0x" is before it */
};

static bool text_tracecmd_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Get the end of the string literal that begins at p. */
static const char *text_tracecmd_skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

/* Get the end of an argument: a comma outside of brackets, or the end of the text. */
static const char *argument_end(const char *p, const char *end)
{
	int open = 0;

	while (p < end) {
		if (*p == '"') {
			p = text_tracecmd_skip_string(p, end);
			continue;
		}
		if (*p == ',' && !open)
			return p;
		if (*p == '(' || *p == '{' || *p == '[')
			open++;
		if (*p == ')' || *p == '}' || *p == ']')
			open--;
		p++;
	}
	return end;
}

static const char *closing_bracket(const char *p, const char *end)
{
	int open = 0;

	for (; p < end; p++) {
		open += *p == '(';
		open -= *p == ')';
		if (!open)
			return p;
	}
	return NULL;
}

static bool text_tracecmd_is_one_of(struct text_span s, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (span_is(s, names[i]))
			return true;
	return false;
}

/* Test whether a word may be followed by a bracket. At other words trace-cmd gives up the format.
 */
static bool is_function(struct text_span s, bool plugins)
{
	static const char *const known[] = {"__print_flags",
					    "__print_symbolic",
					    "__print_hex",
					    "__print_hex_str",
					    "__print_array",
					    "__get_str",
					    "__get_rel_str",
					    "__get_dynamic_array",
					    "__get_rel_dynamic_array",
					    "__get_dynamic_array_len",
					    "__get_rel_dynamic_array_len",
					    "__get_bitmask",
					    "__get_rel_bitmask",
					    "__get_cpumask",
					    "__get_rel_cpumask",
					    "sizeof",
					    "__builtin_expect",
					    "__print_symbolic_u64",
					    "__print_flags_u64"};
	static const char *const of_plugins[] = {"is_writable_pte",    "jbd2_dev_to_name",
						 "jiffies_to_msecs",   "__le16_to_cpup",
						 "xen_hypercall_name", "scsi_trace_parse_cdb"};

	return text_tracecmd_is_one_of(s, known, sizeof known / sizeof *known) ||
	       (plugins &&
		text_tracecmd_is_one_of(s, of_plugins, sizeof of_plugins / sizeof *of_plugins));
}

static bool is_readable(struct text_span s, bool plugins)
{
	const char *p = s.at, *word;

	while (p < s.end) {
		if (*p == '"') {
			p = text_tracecmd_skip_string(p, s.end);
		} else if (isalpha((unsigned char)*p) || *p == '_') {
			for (word = p; p < s.end && text_tracecmd_is_word(*p); p++)
				;
			if (p < s.end && *p == '(' &&
			    !is_function((struct text_span){word, p}, plugins))
				return false;
		} else if (*p == '(' && p + 1 < s.end && p[1] == '{') {
			return false;
		} else {
			p++;
		}
	}
	return true;
}

static bool is_type(struct text_span s)
{
	bool any = false;

	for (const char *p = s.at; p < s.end; p++) {
		if (!text_tracecmd_is_word(*p) && *p != '*' && *p != ' ')
			return false;
		any = any || isalpha((unsigned char)*p);
	}
	return any && !memmem(s.at, (size_t)(s.end - s.at), "REC", 3);
}

static void take_cast(struct plan_field *f, struct text_span type, uint8_t word)
{
	static const char *const no_signs[] = {"unsigned", "u8",     "u16", "u32",
					       "u64",	   "size_t", "*"};
	static const struct {
		const char *in; /* the first that is in the type */
		uint8_t size;	/* 0: that of a word */
	} sizes[] = {{"*", 0},	  {"size_t", 0}, {"long long", 8}, {"64", 8},
		     {"long", 0}, {"short", 2},	 {"16", 2},	   {"char", 1},
		     {"8", 1},	  {"int", 4},	 {"32", 4},	   {"unsigned", 4}};
	bool no_sign = false;
	uint8_t size = 0;

	for (size_t i = 0; i < sizeof no_signs / sizeof *no_signs; i++)
		no_sign |= span_find(type, no_signs[i]) != NULL;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (span_find(type, sizes[i].in)) {
			size = sizes[i].size ? sizes[i].size : word;
			break;
		}
	/* of several casts the innermost counts, which is the last */
	if (size && (!f->cast || size < f->cast)) {
		f->cast = size;
		f->cast_signed = !no_sign;
	}
}

/* Get the name of the field that the argument is, without casts and brackets. The span is empty
 * if the argument is not a field. */
static struct text_span plain_field(struct text_span s, struct plan_field *f, uint8_t word)
{
	const struct text_span none = {s.end, s.end};

	for (;;) {
		const char *close;

		s = span_trim_space(s);
		if (s.at == s.end || *s.at != '(')
			break;
		close = closing_bracket(s.at, s.end);
		if (!close)
			return none;
		if (close + 1 == s.end) {
			s = (struct text_span){s.at + 1, close};
			continue;
		}
		if (close - s.at == 4 && !memcmp(s.at, "(REC)", 5)) {
			s.at = close + 1;
			break;
		}
		if (!is_type(span_trim_space((struct text_span){s.at + 1, close})))
			return none;
		take_cast(f, (struct text_span){s.at + 1, close}, word);
		s.at = close + 1;
	}
	if (s.end - s.at > 3 && !memcmp(s.at, "REC", 3))
		s.at += 3;
	if (s.end - s.at < 3 || memcmp(s.at, "->", 2))
		return none;
	s = span_trim_space((struct text_span){s.at + 2, s.end});
	for (const char *p = s.at; p < s.end; p++)
		if (!text_tracecmd_is_word(*p))
			return none;
	return s;
}

/* Read the conversions of the format and the arguments they take. Returns their number. */
static size_t read_conversions(struct text_span format, struct plan_conversion *out, size_t room)
{
	size_t n = 0;
	int argument = 0;
	bool prefix = false;

	for (const char *p = format.at; p < format.end && n < room;) {
		const char *begin = p;

		if (*p != '%') {
			p += *p == '\\' && p + 1 < format.end ? 2 : 1;
			/* only a "0x" directly before the conversion counts, as in trace-cmd */
			prefix = p - begin == 1 && p - format.at >= 2 && p[-1] == 'x' &&
				 p[-2] == '0';
			continue;
		}
		if (p + 1 < format.end && p[1] == '%') {
			p += 2;
			prefix = false;
			continue;
		}
		for (p++; p < format.end &&
			  (strchr("#-+ 0'.*hlLqjzt", *p) || isdigit((unsigned char)*p));
		     p++)
			argument += *p == '*';
		if (p == format.end)
			break;
		p++;
		out[n++] = (struct plan_conversion){{begin, p}, argument, prefix};
		/* libtraceevent 1.7.1 does not know %c and takes no argument for it */
		argument++;
		prefix = false;
	}
	return n;
}

/* Make the conversion for a number of 64 bits; set bits to those that the given one takes. */
static void take_conversion(struct plan_field *f, struct text_span c, uint8_t word)
{
	size_t n = 0;
	int l = 0, h = 0;
	char last = c.end[-1];

	for (const char *p = c.at; p < c.end - 1; p++) {
		l += *p == 'l' || *p == 'q' || *p == 'L' || *p == 'j' ? 1 + (*p != 'l') : 0;
		l += *p == 'z' || *p == 't';
		h += *p == 'h';
		if (!strchr("lLqjzth*", *p) && n < sizeof f->conversion - 5)
			f->conversion[n++] = *p;
	}
	f->bits = (uint8_t)(l >= 2 ? 64 : l == 1 ? word * 8 : h == 1 ? 16 : h >= 2 ? 8 : 32);
	f->conversion[n++] = 'l';
	f->conversion[n++] = 'l';
	f->conversion[n++] = last;
	f->conversion[n] = '\0';
}

static void apply_conversion(struct plan_field *f, const struct plan_conversion *c, uint8_t word)
{
	const char *p = memchr(c->text.at, 'p', (size_t)(c->text.end - c->text.at));
	char last = c->text.end[-1];

	f->prefix = c->prefix;
	if (p) {
		char kind = c->text.end[0];

		f->how = strchr("sf", kind) && kind   ? PLAN_FUNCTION
			 : strchr("SF", kind) && kind ? PLAN_FUNCTION_AT
						      : PLAN_POINTER;
	} else if (last == 's') {
		f->how = PLAN_STRING;
	} else if (strchr("diuxXoc", last)) {
		f->how = PLAN_NUMBER;
		take_conversion(f, c->text, word);
	}
}

/* Get the end of the conversion with its letter of a function: "%pS". */
static const char *text_tracecmd_conversion_end(const struct plan_conversion *c, const char *end)
{
	const char *p = c->text.end;

	return p < end && p[-1] == 'p' && strchr("sSfF", *p) ? p + 1 : p;
}

/* Find the format in "print fmt: "...", args": the literal without its quotes, and the rest. */
static bool find_format(const struct type *t, struct text_span *format, struct text_span *rest)
{
	const char *text = t->declaration.text, *end = text + t->declaration.size,
		   *p = memmem(text, (size_t)(end - text), "print fmt:", 10), *q;

	if (!p)
		return false;
	p += 10;
	while (p < end && isspace((unsigned char)*p))
		p++;
	if (p == end || *p != '"')
		return false;
	q = text_tracecmd_skip_string(p, end);
	*format = (struct text_span){p + 1, q > p + 1 ? q - 1 : q};
	*rest = span_trim_space((struct text_span){q, end});
	/* formats of several literals are ignored: none of them prints a plain field */
	return rest->at == rest->end || *rest->at == ',';
}

static void plan_describe(struct plan_field *f, const struct field *field)
{
	const char *type = field->type_name.text;

	f->field = field;
	f->array = strchr(type, '[') || !strncmp(type, "__data_loc", 10) ||
		   !strncmp(type, "__rel_loc", 9);
	f->string = strstr(type, "char") || strstr(type, "u8") || strstr(type, "s8");
	f->pointer = strchr(type, '*') != NULL;
	f->is_long = strstr(type, "long") != NULL;
	f->is_signed = field->kind == FIELD_INT || field->kind == FIELD_CHAR ||
		       (field->kind == FIELD_ENUM && !definition_is_unsigned(field->definition));
}

static void plan_find_conversions(const struct tc_type *plan, const struct type *t, bool plugins)
{
	struct plan_conversion conversions[CONVERSIONS];
	struct text_span arguments[ARGUMENTS], format, rest;
	size_t nconversions, narguments = 0, next = 0;

	if (!find_format(t, &format, &rest) || !is_readable(rest, plugins))
		return;
	nconversions = read_conversions(format, conversions, CONVERSIONS);
	for (const char *p = rest.at; p < rest.end && narguments < ARGUMENTS;) {
		const char *end = argument_end(p + 1, rest.end);

		arguments[narguments++] = span_trim_space((struct text_span){p + 1, end});
		p = end;
	}
	/* fields are searched from the conversion after the last one used, with wrap-around; once
	   the last conversion is used, the remaining fields are printed by their type */
	for (size_t i = 0; i < plan->nplan && next < nconversions; i++) {
		struct plan_field *f = &plan->plan[i];

		for (size_t k = 0; k < nconversions && !f->array; k++) {
			size_t at = (next + k) % nconversions;
			const struct plan_conversion *c = &conversions[at];
			struct plan_field with = *f;
			struct text_span name;

			if ((size_t)c->argument >= narguments)
				continue;
			name = plain_field(arguments[c->argument], &with, t->word_size);
			if ((size_t)(name.end - name.at) != f->field->name.size ||
			    !f->field->name.size ||
			    memcmp(name.at, f->field->name.text, f->field->name.size))
				continue;
			apply_conversion(&with, c, t->word_size);
			*f = with;
			next = at + 1;
			/* with text after the last conversion the search wraps around */
			if (next == nconversions &&
			    text_tracecmd_conversion_end(c, format.end) < format.end)
				next = 0;
			break;
		}
	}
}

/* Make out->plan. plugins: a print fmt may call the functions of trace-cmd's plug-ins. Returns -1
 * when out of memory. */
static int plan_make(struct tc_type *out, const struct type *t, bool plugins)
{
	out->plan = calloc(t->nfields + 1, sizeof *out->plan);
	if (!out->plan)
		return -1;
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];

		if (f->where != WHERE_FIXED && strncmp(f->name.text, "common_", 7))
			plan_describe(&out->plan[out->nplan++], f);
	}
	/* print fmt of bprint is a placeholder for the format that the event carries */
	if (strcmp(t->name.text, "bprint") || strcmp(t->group.text, "ftrace"))
		plan_find_conversions(out, t, plugins);
	return 0;
}

/*
 * The fields of an event as `trace-cmd report -R` prints them.
 *
 * Small signed numbers are printed with their sign; libtraceevent prints them as unsigned.
 */

static uint64_t raw_number(const struct event *ev, const struct plan_field *f)
{
	struct field_value v;

	/* a field with neither size nor brackets is not an array for trace-cmd, and its number is 0
	 */
	if (f->field->where == WHERE_REST)
		return 0;
	field_get(ev, f->field, 0, &v);
	if (v.form == FORM_INT)
		return (uint64_t)v.i;
	if (v.form == FORM_UINT)
		return v.u;
	/* one character, or a structure: the number that its bytes are */
	if (v.form == FORM_TEXT && v.size && v.size <= 8)
		return get_uint(v.text, (unsigned)v.size, ev->type->flags & TYPE_BIG_ENDIAN);
	return 0;
}

static bool is_printable(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n && p[i]; i++)
		if (p[i] >= 0x80 || (!isprint(p[i]) && !isspace(p[i])))
			return false;
	return true;
}

/* Get the size in bytes of an array by the brackets of its type; 0: no brackets. The callers of
 * a stack may exceed it. */
static size_t declared_size(const struct field *f)
{
	const char *bracket = strchr(f->type_name.text, '[');

	return bracket ? f->size * (size_t)strtoul(bracket + 1, NULL, 10) : 0;
}

static void raw_print_array(struct print_line *out, const struct event *ev, struct plan_field *f)
{
	size_t n, most = f->field->where == WHERE_REST ? declared_size(f->field) : SIZE_MAX;
	bool rest = !most;
	const uint8_t *p = field_bytes(ev, f->field, &n), *nul;

	if (!rest && n > most)
		n = most;

	/* the record is shorter than its format: print the part there is */
	if (!p && f->field->where == WHERE_TAIL && f->field->offset < ev->tail_size) {
		p = ev->tail + f->field->offset;
		n = ev->tail_size - f->field->offset;
	}
	if (!p)
		return;
	/* without a length the field is text up to its NUL, printable or not; with one, it is no
	   text any more after the first record where it is not printable */
	f->string = f->string && (rest || is_printable(p, n));
	if (f->string) {
		nul = memchr(p, 0, n);
		line_put(out, (const char *)p, nul ? (size_t)(nul - p) : n);
		return;
	}
	line_puts(out, "ARRAY[");
	for (size_t i = 0; i < n && !rest; i++) {
		if (i)
			line_puts(out, ", ");
		line_hex(out, p[i], 2);
	}
	line_char(out, ']');
}

static void raw_print_plain(struct print_line *out, const struct plan_field *f, uint64_t v)
{
	if (f->pointer || (f->is_long && (!f->is_signed || f->field->size == 4))) {
		line_puts(out, "0x");
		line_hex(out, f->field->size == 4 ? (uint32_t)v : v, 1);
	} else if (f->is_signed) {
		line_i64(out, (int64_t)v);
	} else {
		line_u64(out, v);
	}
}

static void raw_print_function(struct print_line *out, const struct print_kernel *k,
			       const struct plan_field *f, uint64_t v)
{
	size_t n;
	uint64_t offset;
	const char *name = k->symbol(k->context, v, &n, &offset);

	if (!name) {
		line_puts(out, "0x");
		line_hex(out, v, 1);
		return;
	}
	line_put(out, name, n);
	if (f->how == PLAN_FUNCTION_AT) {
		line_puts(out, "+0x");
		line_hex(out, offset, 1);
	}
}

/* Convert a number to one of so many bytes. */
static uint64_t truncate_to(uint64_t v, unsigned bytes, bool is_signed)
{
	if (bytes >= 8)
		return v;
	if (is_signed)
		return (uint64_t)sign_extend(v, bytes);
	return v & ((1ull << 8 * bytes) - 1);
}

static void raw_print_number(struct print_line *out, const struct plan_field *f, uint64_t v)
{
	char last = f->conversion[strlen(f->conversion) - 1], text[512], c = (char)v;
	bool is_signed = last == 'd' || last == 'i';

	if (f->cast)
		v = truncate_to(v, f->cast, f->cast_signed);
	if (last == 'c') {
		if (c)
			line_char(out, c);
		return;
	}
	v = truncate_to(v, f->bits / 8, is_signed);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	/* the format consists of flags and digits, see take_conversion */
	snprintf(text, sizeof text, f->conversion, (unsigned long long)v);
#pragma GCC diagnostic pop
	line_puts(out, text);
}

static void raw_print_value(struct print_line *out, const struct event *ev, struct plan_field *f,
			    const struct print_kernel *k)
{
	const char *string;
	const uint8_t *rest;
	uint64_t v;
	size_t n;

	if (f->array) {
		raw_print_array(out, ev, f);
		return;
	}
	v = raw_number(ev, f);
	if (f->prefix && f->how != PLAN_PLAIN)
		line_puts(out, "0x");
	switch (f->how) {
	case PLAN_PLAIN: raw_print_plain(out, f, v); break;
	case PLAN_NUMBER: raw_print_number(out, f, v); break;
	case PLAN_FUNCTION:
	case PLAN_FUNCTION_AT: raw_print_function(out, k, f, v); break;
	case PLAN_POINTER:
		if (!v) {
			line_puts(out, "(nil)");
			break;
		}
		line_puts(out, "0x");
		line_hex(out, v, 1);
		break;
	case PLAN_STRING:
		/* old kernels declare the text of a marker with size 0 */
		rest = f->field->where == WHERE_REST ? field_bytes(ev, f->field, &n) : NULL;
		if (rest) {
			line_put(out, (const char *)rest, strnlen((const char *)rest, n));
			break;
		}
		string = k->string(k->context, v, &n);
		if (string)
			line_put(out, string, n);
		else
			line_hex(out, v, 1);
		break;
	}
}

/* Append " NAME=VALUE" for each field. */
static void plan_text(struct tc_type *t, const struct event *ev, const struct print_kernel *k,
		      struct print_line *out)
{
	for (size_t i = 0; i < t->nplan; i++) {
		struct plan_field *f = &t->plan[i];

		line_char(out, ' ');
		line_put(out, f->field->name.text, f->field->name.size);
		line_char(out, '=');
		raw_print_value(out, ev, f, k);
	}
}

/* --- function graphs as `trace-cmd report` draws them --- */

enum { INDENT = 2, DEPTH_MOST = 512 };

bool record_number(const struct event_field *f, const struct event *ev, uint64_t *v)
{
	if (f->offset > ev->tail_size || f->size > ev->tail_size - f->offset)
		return false;
	*v = get_uint(ev->tail + f->offset, f->size, ev->type->flags & TYPE_BIG_ENDIAN);
	return true;
}

void function_text(struct print_line *out, uint64_t address, const char *prefix,
		   const struct print_kernel *k)
{
	uint64_t offset;
	size_t size;
	const char *name = k->symbol(k->context, address, &size, &offset);

	if (name) {
		line_put(out, name, size);
		return;
	}
	line_puts(out, prefix);
	line_hex(out, address, 1);
}

static bool find_field(const struct event_format *fields, const char *name, struct event_field *out)
{
	const struct event_field *f = event_format_find(fields, name, strlen(name));

	if (f)
		*out = *f;
	return f;
}

static bool is_ftrace(const struct type *t, const char *name)
{
	return !strcmp(t->group.text, "ftrace") && !strcmp(t->name.text, name);
}

/* Find t->graph by t->fields; GRAPH_NONE also if a required field is missing. */
static void graph_fields_find(struct tc_type *t, const struct type *type)
{
	bool exit = is_ftrace(type, "funcgraph_exit");

	if ((exit || is_ftrace(type, "funcgraph_entry")) &&
	    find_field(&t->fields, "func", &t->graph.func) &&
	    find_field(&t->fields, "depth", &t->graph.depth) &&
	    (!exit || (find_field(&t->fields, "calltime", &t->graph.calltime) &&
		       find_field(&t->fields, "rettime", &t->graph.rettime))))
		t->graph.kind = exit ? GRAPH_EXIT : GRAPH_ENTRY;
}

/* Read a record. Returns false if it is too short. */
static bool graph_read(const struct tc_type *t, const struct event *ev, struct graph_call *c)
{
	uint64_t called, returned;

	*c = (struct graph_call){0};
	if (!record_number(&t->graph.func, ev, &c->func) ||
	    !record_number(&t->graph.depth, ev, &c->depth))
		return false;
	c->level = c->depth;
	if (c->depth > DEPTH_MOST)
		c->depth = DEPTH_MOST;
	if (t->graph.kind == GRAPH_ENTRY)
		return true;
	if (!record_number(&t->graph.calltime, ev, &called) ||
	    !record_number(&t->graph.rettime, ev, &returned))
		return false;
	c->duration = returned - called;
	return true;
}

static void graph_duration(struct print_line *out, uint64_t ns)
{
	static const struct {
		uint64_t above;
		char mark;
	} marks[] = {{1000000000, '$'}, {1000000, '#'}, {100000, '!'}, {10000, '+'}};
	char mark = ' ';
	size_t start;

	for (size_t i = 0; i < 4 && mark == ' '; i++)
		if (ns > marks[i].above)
			mark = marks[i].mark;
	line_char(out, mark);
	line_char(out, ' ');
	start = out->size;
	line_u64(out, ns / 1000);
	if (out->size - start < 7) {
		line_char(out, '.');
		line_u64_wide(out, ns % 1000, 3, '0');
	}
	start = out->size - start;
	line_puts(out, " us ");
	if (start < 7)
		line_pad(out, ' ', 7 - start);
	line_puts(out, "|  ");
}

static void graph_level(struct print_line *out, const struct graph_call *c, unsigned plugins)
{
	if (!(plugins & PLUGIN_DEPTH))
		return;
	line_puts(out, " (");
	line_i64(out, (int64_t)c->level);
	line_char(out, ')');
}

/* Draw a call before other events, its end, and a call without events inside. */
static void graph_enter_text(struct print_line *out, const struct graph_call *c,
			     const struct print_kernel *names, unsigned plugins)
{
	line_puts(out, "             |  ");
	line_pad(out, ' ', c->depth * INDENT);
	function_text(out, c->func, "", names);
	line_puts(out, "() {");
	graph_level(out, c, plugins);
}

static void graph_exit_text(struct print_line *out, const struct graph_call *c,
			    const struct print_kernel *names, unsigned plugins)
{
	graph_duration(out, c->duration);
	line_pad(out, ' ', c->depth * INDENT);
	line_char(out, '}');
	if (plugins & PLUGIN_TAILPRINT) {
		line_puts(out, " /* ");
		function_text(out, c->func, "", names);
		line_puts(out, " */");
	}
	graph_level(out, c, plugins);
}

static void graph_leaf_text(struct print_line *out, const struct graph_call *c,
			    const struct print_kernel *names, unsigned plugins)
{
	graph_duration(out, c->duration);
	line_pad(out, ' ', c->depth * INDENT);
	function_text(out, c->func, "", names);
	line_puts(out, "();");
	graph_level(out, c, plugins);
}

/* --- types --- */

enum { NAME_WIDTH = 20 };

static int tc_type_make(struct text_tracecmd *s, struct tc_type *t, const struct type *type,
			const struct print_kernel *names)
{
	bool big = type->flags & TYPE_BIG_ENDIAN;
	size_t size;
	const char *event = ftrace_event_name(type, &size);
	struct print_line name = {0};
	char why[PRINT_WHY];

	t->ready = true;
	if (!type->declaration.size && tracecmd_is_text(type->name.text)) {
		t->line = true;
		return 0;
	}
	line_char(&name, ' ');
	line_put(&name, event, size);
	line_puts(&name, ": ");
	if (size < NAME_WIDTH)
		line_pad(&name, ' ', NAME_WIDTH - size);
	t->name = name.data;
	t->name_size = name.size;
	if (s->raw)
		return name.failed || plan_make(t, type, !s->no_plugins) ? -1 : 0;
	t->format = print_format_compile(type->declaration.text, type->declaration.size,
					 type->word_size, big, names, why);
	if (name.failed || (!t->format && !*why) ||
	    event_format_parse(&t->fields, type->declaration.text, type->declaration.size,
			       type->word_size) < 0)
		return -1;
	if (!t->format && !*s->why) {
		memcpy(s->why, why, sizeof why);
		memcpy(s->why_type, type->name.text,
		       type->name.size < sizeof s->why_type ? type->name.size
							    : sizeof s->why_type - 1);
	}
	bprint_fields_find(&t->bprint, type, &t->fields);
	if (!s->no_plugins) {
		graph_fields_find(t, type);
		plugin_find(&t->plugin, type, &t->fields);
	}
	return 0;
}

/* Get the type, made at its first event. names: of its source. Returns NULL when out of memory.
 */
static struct tc_type *tc_type_at(struct text_tracecmd *s, const struct type *type,
				  const struct print_kernel *names)
{
	struct tc_type *t;

	if (ARRAY_REACH(s->types, s->ntypes, type->number))
		return NULL;
	t = &s->types[type->number];
	return !t->ready && tc_type_make(s, t, type, names) ? NULL : t;
}

/* --- lanes --- */

enum { DIFFERENCE_MOST = 32 };

/*
 * Write the difference of trace-cmd report --ts-diff, " (+7961) ", to out, without a NUL. Returns
 * its length, at least 9. Without ns the times are rounded to microseconds before they are
 * subtracted, also those of clocks that have no unit.
 */
static size_t difference_text(struct text_tracecmd *s, uint64_t time, bool ns,
			      char out[DIFFERENCE_MOST])
{
	char text[DIFFERENCE_MOST - 2] = "";

	if (!ns)
		time = time / 1000 + (time % 1000 >= 500);
	if (s->last_time)
		snprintf(text, sizeof text, "(+%" PRId64 ")", (int64_t)(time - s->last_time));
	s->last_time = time;
	return (size_t)snprintf(out, DIFFERENCE_MOST, " %-8s", text);
}

/* Test whether trace-cmd prints times of that clock as seconds; it prints others unchanged. */
static bool clock_in_seconds(const char *clock)
{
	static const char *const names[] = {"local", "global",	 "uptime", "perf",
					    "tai",   "tsc2nsec", "wall"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(clock, names[i]))
			return true;
	return !strncmp(clock, "mono", 4);
}

static int tc_lane_make(struct tc_lane *l, const struct tc_sources *sources,
			const struct lane *lane)
{
	struct print_line line = {0};
	size_t start;

	l->microseconds = !lane->clock || clock_in_seconds(lane->clock->name.text);
	tc_prefix(sources, lane, &line);
	l->prefix_size = start = line.size;
	if (lane->comm.size || !lane->tid)
		line_put(&line, lane->comm.text, lane->comm.size);
	else
		line_puts(&line, "<...>");
	line_column(&line, start, 16, -1, false);
	line_char(&line, '-');
	start = line.size;
	line_i64(&line, lane->tid);
	line_column(&line, start, 5, -1, true);
	line_puts(&line, " [");
	line_u64_wide(&line, (uint64_t)(lane->cpu < 0 ? 0 : lane->cpu), 3, '0');
	line_char(&line, ']');
	if (line.failed) {
		line_free(&line);
		return -1;
	}
	l->head = line.data;
	l->head_size = line.size;
	return 0;
}

/*
 * Kernel events as `trace-cmd report` prints them, with --no-plugins as its option -N does, with
 * --raw as its option -R.
 *
 * The enter of a call is drawn only when the next event of its buffer is read: if that event is the
 * leave, both are one line. Lines of other buffers are queued until then.
 */

enum { QUEUE_MOST = 65536 };

static int text_tracecmd_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_tracecmd *s = state;

	(void)e;
	s->out = en->text;
	s->dictionary = en->dictionary;
	s->calls = en->calls;
	s->nanoseconds = en->options->flags & ENCODE_NS;
	s->differences = en->options->flags & ENCODE_TS_DIFF;
	s->quiet = en->options->flags & ENCODE_QUIET;
	s->no_plugins = en->options->flags & ENCODE_NO_PLUGINS;
	s->raw = en->options->flags & ENCODE_RAW;
	s->plugins = en->options->plugins;
	return 0;
}

/* ---- lines ---- */

/* Print text. On a terminal control characters are masked, except newlines and tabs, which messages
 * of the kernel contain. */
static void tracecmd_put(struct text *out, const char *p, size_t n)
{
	if (!output_is_terminal(out->out)) {
		text_put(out, p, n);
		return;
	}
	while (n) {
		size_t i = 0;

		while (i < n && p[i] != '\n' && p[i] != '\t')
			i++;
		text_masked(out, p, i);
		if (i < n)
			text_char(out, p[i++]);
		p += i;
		n -= i;
	}
}

/* Print or queue the line. */
static int tracecmd_put_line(struct text_tracecmd *s, struct error *e)
{
	struct print_line *l = &s->line;
	int r = 0;

	if (l->failed)
		return error_no_memory(e);
	if (s->open.is)
		r = buffer_append(&s->queue, l->data, l->size);
	else
		tracecmd_put(s->out, l->data, l->size);
	l->size = 0;
	return r ? error_no_memory(e) : 0;
}

/* Print the line of the open call, which s->line completes, and the queued lines. */
static void close_open(struct text_tracecmd *s)
{
	s->open.is = false;
	tracecmd_put(s->out, (const char *)s->queue.data, s->open.size);
	line_char(&s->line, '\n');
	tracecmd_put(s->out, s->line.data, s->line.size);
	tracecmd_put(s->out, (const char *)s->queue.data + s->open.size,
		     s->queue.size - s->open.size);
	s->line.size = 0;
	s->queue.size = 0;
}

static void resolve_open(struct text_tracecmd *s)
{
	if (!s->open.is)
		return;
	s->line.size = 0;
	graph_enter_text(&s->line, &s->open.call, s->open.names, s->plugins);
	close_open(s);
}

/* ---- events ---- */

static int text_tracecmd_meta(void *state, const struct source *source, const struct meta *m,
			      struct error *e)
{
	struct text_tracecmd *s = state;

	return tc_sources_meta(&s->sources, source, m) ? error_no_memory(e) : 0;
}

static int print_header(struct text_tracecmd *s, struct error *e)
{
	tc_header(&s->sources, &s->line);
	return s->line.size ? tracecmd_put_line(s, e) : 0;
}

static struct tc_lane *make_lane(struct text_tracecmd *s, const struct lane *lane, struct error *e)
{
	struct tc_source *source = tc_source_of(&s->sources, lane->source);

	if (!source || tc_source_begin(source))
		goto no_memory;
	source->kernel.names.plugins = !s->no_plugins;
	if (print_header(s, e))
		return NULL;
	if (ARRAY_REACH(s->lanes, s->nlanes, lane->number))
		goto no_memory;
	s->lanes[lane->number].source = source;
	if (!tc_lane_make(&s->lanes[lane->number], &s->sources, lane))
		return &s->lanes[lane->number];
no_memory:
	error_no_memory(e);
	return NULL;
}

static inline struct tc_lane *lane_at(struct text_tracecmd *s, const struct lane *lane,
				      struct error *e)
{
	if (__builtin_expect(lane->number < s->nlanes && s->lanes[lane->number].head, 1))
		return &s->lanes[lane->number];
	return make_lane(s, lane, e);
}

void time_text(struct print_line *out, uint64_t time, bool seconds, bool nanoseconds)
{
	uint64_t second = nanoseconds ? 1000000000 : 1000000;

	if (!seconds) {
		line_u64_wide(out, time, 12, ' ');
		return;
	}
	if (!nanoseconds)
		time = (time + 500) / 1000;
	line_u64_wide(out, time / second, 5, ' ');
	line_char(out, '.');
	line_u64_wide(out, time % second, nanoseconds ? 9 : 6, '0');
}

static void text_tracecmd_put_head(struct text_tracecmd *s, const struct tc_lane *l,
				   const struct tc_type *t, uint64_t time)
{
	char text[DIFFERENCE_MOST];

	line_put(&s->line, l->head, l->head_size);
	if (l->microseconds)
		line_char(&s->line, ' ');
	time_text(&s->line, time, l->microseconds, s->nanoseconds);
	line_char(&s->line, ':');
	/* trace-cmd rounds times only where the trace names its clock */
	if (s->differences)
		line_put(&s->line, text,
			 difference_text(s, time, s->nanoseconds || !l->source->has_clock, text));
	line_put(&s->line, t->name, t->name_size);
}

/* Read a record of the graph; of a filtered stream with the depth among the calls that are left.
 * Returns false if the record is too short. */
static bool text_tracecmd_read_call(const struct text_tracecmd *s, const struct tc_type *t,
				    const struct event *ev, struct graph_call *c)
{
	if (!graph_read(t, ev, c))
		return false;
	if (dictionary_left_out(s->dictionary, ev->lane->thread))
		c->depth = calls_depth(s->calls, ev);
	return true;
}

static int text_tracecmd_put_message(struct text_tracecmd *s, const struct tc_lane *l,
				     struct tc_type *t, const struct event *ev, struct error *e)
{
	const struct print_kernel *names = &l->source->kernel.names;
	const struct plugin_event event = {.type = &t->plugin,
					   .ev = ev,
					   .names = names,
					   .sources = &s->sources,
					   .indent = &s->indent,
					   .seconds = l->microseconds,
					   .nanoseconds = s->nanoseconds,
					   .plugins = s->plugins};
	struct print_line *out = &s->line;
	struct graph_call call;

	if (t->plan) {
		plan_text(t, ev, names, out);
	} else if (t->graph.kind == GRAPH_EXIT && text_tracecmd_read_call(s, t, ev, &call)) {
		graph_exit_text(out, &call, names, s->plugins);
	} else if (t->plugin.plugin && plugin_text(&event, out)) {
		/* the text is complete */
	} else if (t->bprint.is) {
		if (bprint_text(l->source, &t->bprint, ev, out))
			return error_no_memory(e);
	} else if (t->format) {
		print_format_text(t->format, names, ev->tail, ev->tail_size, out);
	} else if (!ev->type->declaration.size) {
		/* a filter removed fields and with them the declaration of the source */
		s->fields.size = 0;
		if (convert_text_fields(&s->fields, s->dictionary, ev))
			return error_no_memory(e);
		line_put(out, (const char *)s->fields.data, s->fields.size);
	} else {
		s->not_evaluated++;
		line_puts(out, "[FAILED TO PARSE]");
		print_fields_text(&t->fields, ev->tail, ev->tail_size,
				  ev->type->flags & TYPE_BIG_ENDIAN, out);
	}
	if (out->size && out->data[out->size - 1] == '\n')
		out->size--;
	line_char(out, '\n');
	return 0;
}

static bool same_buffer(const struct lane *a, const struct lane *b)
{
	return a->source == b->source && a->buffer.number == b->buffer.number;
}

/* Test whether the event is the leave of the open call. */
static bool ends_open(const struct text_tracecmd *s, const struct tc_type *t,
		      const struct event *ev, struct graph_call *end)
{
	return t->graph.kind == GRAPH_EXIT && ev->lane->tid == s->open.lane->tid &&
	       graph_read(t, ev, end) && end->func == s->open.call.func;
}

/* Make a call the open call. Returns 1, 0 if the record is too short, -1 with *e filled. */
static int set_open(struct text_tracecmd *s, const struct tc_lane *l, const struct tc_type *t,
		    const struct event *ev, struct error *e)
{
	if (!text_tracecmd_read_call(s, t, ev, &s->open.call))
		return 0;
	text_tracecmd_put_head(s, l, t, ev->time);
	if (s->line.failed || buffer_append(&s->queue, s->line.data, s->line.size))
		return error_no_memory(e);
	s->open.is = true;
	s->open.lane = ev->lane;
	s->open.names = &l->source->kernel.names;
	s->open.size = s->line.size;
	s->line.size = 0;
	return 1;
}

static int text_tracecmd_put_gap(struct text_tracecmd *s, const struct event *ev, struct error *e)
{
	const struct tc_lane *l = lane_at(s, ev->lane, e);
	struct print_line *out = &s->line;
	struct gap_row g;

	if (!l)
		return -1;
	if (!gap_get(ev, &g))
		return 0;
	if (s->open.is && same_buffer(ev->lane, s->open.lane))
		resolve_open(s);
	line_put(out, l->head, l->prefix_size);
	line_puts(out, "CPU:");
	line_i64(out, ev->lane->cpu);
	line_puts(out, " [");
	if (g.count != UINT64_MAX) {
		line_u64(out, g.count);
		line_char(out, ' ');
	}
	line_puts(out, g.unit == GAP_BYTES ? "BYTES " : "EVENTS ");
	line_puts(out, g.reason == GAP_LOST	? "DROPPED"
		       : g.reason == GAP_DAMAGE ? "DAMAGED"
						: "NOT READ");
	if (g.message_size) {
		line_puts(out, ": ");
		line_put(out, g.message, g.message_size);
	}
	line_puts(out, "]\n");
	return tracecmd_put_line(s, e);
}

static int text_tracecmd_event(void *state, const struct event *ev, struct error *e)
{
	struct text_tracecmd *s = state;
	struct event without_data;
	struct tc_lane *l;
	struct tc_type *t;
	struct graph_call end;
	int r;

	if (ev->type->kind == KIND_GAP)
		return text_tracecmd_put_gap(s, ev, e);
	if (__builtin_expect(!ev->tail, 0)) {
		/* a type without data gets an empty tail, not NULL */
		without_data = *ev;
		without_data.tail = (const uint8_t *)"";
		ev = &without_data;
	}
	l = lane_at(s, ev->lane, e);
	if (!l)
		return -1;
	t = tc_type_at(s, ev->type, &l->source->kernel.names);
	if (!t)
		return error_no_memory(e);
	if (__builtin_expect(s->open.is, 0)) {
		if (same_buffer(ev->lane, s->open.lane)) {
			if (ends_open(s, t, ev, &end)) {
				end.depth = s->open.call.depth;
				graph_leaf_text(&s->line, &end, s->open.names, s->plugins);
				close_open(s);
				return 0;
			}
			resolve_open(s);
		} else if (s->queue.size > QUEUE_MOST) {
			resolve_open(s);
		}
	}
	if (__builtin_expect(t->line, 0)) {
		s->latency = true;
		line_put(&s->line, (const char *)ev->tail, ev->tail_size);
		line_char(&s->line, '\n');
		return tracecmd_put_line(s, e);
	}
	if (t->graph.kind == GRAPH_ENTRY && !s->open.is && (r = set_open(s, l, t, ev, e)))
		return r < 0 ? -1 : 0;
	text_tracecmd_put_head(s, l, t, ev->time);
	if (t->graph.kind == GRAPH_ENTRY && text_tracecmd_read_call(s, t, ev, &end)) {
		graph_enter_text(&s->line, &end, &l->source->kernel.names, s->plugins);
		line_char(&s->line, '\n');
	} else if (text_tracecmd_put_message(s, l, t, ev, e)) {
		return -1;
	}
	return tracecmd_put_line(s, e);
}

static int text_tracecmd_end(void *state, struct error *e)
{
	struct text_tracecmd *s = state;

	resolve_open(s);
	if (print_header(s, e))
		return -1;
	if (s->latency)
		text_char(s->out, '\n');
	if (!s->quiet)
		remark_count(s->not_evaluated,
			     "{event is shown by its fields: its|events are shown by their fields: "
			     "their} print fmt cannot be evaluated (%s: %s)",
			     s->why_type, s->why);
	return 0;
}

static void tracecmd_free_state(void *state)
{
	struct text_tracecmd *s = state;

	tc_sources_free(&s->sources);
	for (size_t i = 0; i < s->ntypes; i++) {
		print_format_free(s->types[i].format);
		event_format_free(&s->types[i].fields);
		free(s->types[i].plan);
		free(s->types[i].name);
	}
	free(s->types);
	for (size_t i = 0; i < s->nlanes; i++)
		free(s->lanes[i].head);
	free(s->lanes);
	free(s->indent.cpus);
	line_free(&s->line);
	buffer_free(&s->fields);
	buffer_free(&s->queue);
}

const struct text_layout text_tracecmd = {
	.format = "trace-cmd",
	.state_size = sizeof(struct text_tracecmd),
	.begin = text_tracecmd_begin,
	.meta = text_tracecmd_meta,
	.event = text_tracecmd_event,
	.end = text_tracecmd_end,
	.free = tracecmd_free_state,
};
