/*
 * tracecmd_convert.c - other systems' traces as trace.dat
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/convert.h"
#include "cmd/trencode/formats.h"
#include "cmd/trencode/tracecmd.h"
#include "common/formats/tracecmd.h"
#include "common/ftrace/event_format.h"
#include "common/stream/field.h"
#include "common/util/version.h"

/*
 * Convert the events of any source to a trace.dat: what the files share.
 *
 * Functions that return int return 0, or -1: with *e filled where they take it, else out of memory.
 */

enum {
	TRACECMD_ID_FUNCTION = 1,
	TRACECMD_ID_PRINT = 5,
	TRACECMD_ID_EXIT = 10,
	TRACECMD_ID_ENTRY = 11,
	TRACECMD_ID_OWN = 300, /* the kernel's tracers have the ids below */
	TRACECMD_ID_MOST = 65535,
	TRACECMD_COMMON = 8, /* bytes of the common fields */
	TRACECMD_RECORD_MOST = 4000,
	TRACECMD_FIELDS_MOST = 150,
};

/* How the rows of one type become records. */
struct tracecmd_made {
	bool known;
	uint16_t id;		      /* TRACECMD_ID_PRINT: the rows are written as text */
	bool raw;		      /* the record is the source's, with another id and thread */
	bool print;		      /* a print of a 32-bit kernel */
	struct convert_field *fields; /* of a record with a format of its own */
	uint32_t nfields, size;	      /* bytes before the texts */
	bool values;		      /* the record is one text with all values */
};

/* One format of the target trace. */
struct tracecmd_made_format {
	struct text_ref system, text;
};

/* The state of the conversion. */
struct tracecmd_conversion {
	struct conversion conversion;
	struct {
		struct tracecmd_made_format *list;
		size_t count, capacity;
		struct unique_names names; /* system, a NUL and name of each event */
		struct intern bodies;	   /* format text after the id, with system and name */
		uint16_t *ids;		   /* by number in bodies */
		size_t ids_size;
		uint32_t next; /* the next id */
		/* kernel's own formats: number of the text + 1, by id */
		uint32_t ftrace[TRACECMD_ID_OWN];
		uint64_t fields_lost, as_text; /* fields, types without an id */
		struct buffer text;
	} formats;		     /* of the target trace */
	struct tracecmd_made *types; /* by the stream's number */
	size_t types_size;
	struct type *record;
	/* what the target file has beside its records: */
	struct buffer kallsyms, printk; /* of all sources */
	struct buffer cmdlines;		/* of named threads */
	struct buffer symbols;		/* of functions, like kallsyms */
	uint64_t *locations;		/* addresses by number of the location; 0: none yet */
	size_t locations_size;
	uint64_t functions; /* with an address */
	struct buffer data, text;
	uint64_t no_cpu;     /* events without CPU */
	uint64_t blobs, cut; /* blobs, texts */
};

#define COMMON_FIELDS                                                                              \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* The field of events that have values instead of fields: all values as one text. */
#define VALUES_FIELD                                                                               \
	"\tfield:__data_loc char[] values;\toffset:8;\tsize:4;\tsigned:0;\n\n"                     \
	"print fmt: \"%%s\", __get_str(values)\n"

static const struct {
	uint16_t id;
	const char *text;
} kernel_formats[] = {
	{TRACECMD_ID_PRINT, "name: print\nID: 5\nformat:\n" COMMON_FIELDS
			    "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
			    "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:1;\n\n"
			    "print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n"},
	{TRACECMD_ID_ENTRY, "name: funcgraph_entry\nID: 11\nformat:\n" COMMON_FIELDS
			    "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
			    "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n\n"
			    "print fmt: \"--> %ps (%d)\", (void *)REC->func, REC->depth\n"},
	{TRACECMD_ID_EXIT,
	 "name: funcgraph_exit\nID: 10\nformat:\n" COMMON_FIELDS
	 "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	 "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
	 "\tfield:unsigned int overrun;\toffset:20;\tsize:4;\tsigned:0;\n"
	 "\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
	 "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n\n"
	 "print fmt: \"<-- %ps (%d) (start: %llx  end: %llx) over: %d\", (void *)REC->func, "
	 "REC->depth, REC->calltime, REC->rettime, REC->depth\n"},
};

static int add_format(struct tracecmd_conversion *s, struct text_ref system, const void *text,
		      size_t n)
{
	if (ARRAY_GROW(s->formats.list, s->formats.capacity, s->formats.count))
		return -1;
	s->formats.list[s->formats.count++] =
		(struct tracecmd_made_format){system, target_string(&s->conversion.d, text, n)};
	return 0;
}

/* Add the formats that every trace has: calls and print. */
static int tracecmd_formats_begin(struct tracecmd_conversion *s)
{
	struct text_ref ftrace = target_string(&s->conversion.d, "ftrace", 6);

	s->formats.next = TRACECMD_ID_OWN;
	for (size_t i = 0; i < sizeof kernel_formats / sizeof *kernel_formats; i++) {
		const char *text = kernel_formats[i].text;

		if (add_format(s, ftrace, text, strlen(text)))
			return -1;
		s->formats.ftrace[kernel_formats[i].id] = s->formats.list[i].text.number + 1;
	}
	return 0;
}

/* --- formats of another kernel trace --- */

static bool field_is_at(const struct type *t, const char *name, uint32_t offset, uint32_t size)
{
	const struct field *f = field_find(t, name);

	return f && f->where == WHERE_TAIL && f->offset == offset && f->size == size;
}

/*
 * Test whether records of the type can be kept, converted to this trace's byte order. A format
 * contains the sizes of all fields, so records of a 32-bit machine can be kept. Those of the
 * kernel's own tracers cannot: readers take the size of their longs from the file. Big-endian
 * records with packed arguments cannot be kept either: only their text gives the arguments'
 * offsets.
 */
static bool is_kernels(const struct type *t)
{
	bool ftrace = !strcmp(t->group.text, "ftrace"), big = t->flags & TYPE_BIG_ENDIAN;

	if (ftrace && ((t->word_size != 8 && strcmp(t->name.text, "raw_data") != 0) ||
		       (big && field_find(t, "fmt"))))
		return false;
	return t->declaration.size && t->flags & TYPE_TAIL && field_is_at(t, "common_type", 0, 2) &&
	       field_is_at(t, "common_pid", 4, 4) && strstr(t->declaration.text, "\nID: ");
}

/* Add the format of an event. body: the text after the id; own: the name was escaped. Types of one
 * name and body share a format. *id 0: no id is left, nothing was added. */
static int add_named(struct tracecmd_conversion *s, struct text_ref system, struct text_ref name,
		     struct text_ref body, bool own, uint16_t *id)
{
	uint32_t had = s->formats.bodies.count, number;
	struct buffer b = {0};
	size_t at;
	int result = -1;

	*id = 0;
	if (buffer_u32(&b, body.number) || buffer_append(&b, system.text, system.size + 1) ||
	    buffer_append(&b, name.text, name.size))
		goto out;
	number = intern(&s->formats.bodies, b.data, b.size);
	if (number == INTERN_NONE || ARRAY_REACH(s->formats.ids, s->formats.ids_size, number))
		goto out;
	result = 0;
	if (number < had || s->formats.next > TRACECMD_ID_MOST) {
		*id = s->formats.ids[number];
		goto out;
	}
	*id = s->formats.ids[number] = (uint16_t)s->formats.next++;
	memmove(b.data, b.data + 4, b.size - 4);
	b.size -= 4;
	at = system.size + 1;
	s->formats.text.size = 0;
	if (unique_name(&s->formats.names, &b, TRACECMD_ANOTHER) == INTERN_NONE ||
	    buffer_printf(&s->formats.text, own ? TRACECMD_ESCAPED_NAME : "name: ") ||
	    buffer_append(&s->formats.text, b.data + at, b.size - at) ||
	    buffer_printf(&s->formats.text, "\nID: %u", *id) ||
	    buffer_append(&s->formats.text, body.text, body.size) ||
	    add_format(s, system, s->formats.text.data, s->formats.text.size))
		result = -1;
out:
	buffer_free(&b);
	return result;
}

/* Add the format of a kernel's event. 1: the format cannot be used unchanged. */
static int add_kernels(struct tracecmd_conversion *s, const struct type *t,
		       struct tracecmd_made *made)
{
	bool ftrace = !strcmp(t->group.text, "ftrace");
	const char *id = strstr(t->declaration.text, "\nID: ") + 5, *body = id + strcspn(id, "\n");
	struct text_ref name = {0};
	size_t size;

	if (ftrace && t->native && t->native < TRACECMD_ID_OWN) {
		uint32_t *had = &s->formats.ftrace[t->native];
		struct text_ref text =
			target_string(&s->conversion.d, t->declaration.text, t->declaration.size);

		if (!*had) {
			if (add_format(s, target_string(&s->conversion.d, "ftrace", 6), text.text,
				       text.size))
				return -1;
			*had = text.number + 1;
		} else if (t->native != TRACECMD_ID_PRINT && *had != text.number + 1) {
			return 1;
		}
		made->id = (uint16_t)t->native;
		made->raw = true;
		return 0;
	}
	if (ftrace || !t->group.size)
		return 1;
	name.text = ftrace_event_name(t, &size);
	name.size = (uint32_t)size;
	if (add_named(s, target_string(&s->conversion.d, t->group.text, t->group.size), name,
		      target_string(&s->conversion.d, body, strlen(body)), false, &made->id))
		return -1;
	made->raw = made->id;
	return !made->id;
}

/* --- synthesised formats --- */

static int tracecmd_convert_put_name(struct tracecmd_conversion *s, const struct convert_field *w)
{
	return convert_name_identifier(&s->formats.text, w->from->name.text, w->from->name.size);
}

static int tracecmd_convert_put_field(struct tracecmd_conversion *s, const struct convert_field *w,
				      uint32_t offset)
{
	static const char *const types[] = {
		[1] = "char", [2] = "short", [4] = "int", [8] = "long long"};

	if (w->size ? buffer_printf(&s->formats.text, "\tfield:%s %s ",
				    w->is_signed ? "signed" : "unsigned", types[w->size])
		    : buffer_printf(&s->formats.text, "\tfield:__data_loc char[] "))
		return -1;
	return tracecmd_convert_put_name(s, w) ||
	       buffer_printf(&s->formats.text, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n", offset,
			     w->size ? w->size : 4, w->is_signed);
}

static int convert_formats_put_print(struct tracecmd_conversion *s,
				     const struct tracecmd_made *made)
{
	if (buffer_printf(&s->formats.text, "\nprint fmt: \""))
		return -1;
	for (uint32_t i = 0; i < made->nfields; i++) {
		const struct convert_field *w = &made->fields[i];

		if ((i && buffer_u8(&s->formats.text, ' ')) || tracecmd_convert_put_name(s, w) ||
		    buffer_printf(&s->formats.text, "=%s",
				  !w->size				       ? "%s"
				  : w->from->kind == FIELD_HEX && w->size == 8 ? "0x%llx"
				  : w->from->kind == FIELD_HEX		       ? "0x%x"
				  : w->size == 8 ? w->is_signed ? "%lld" : "%llu"
				  : w->is_signed ? "%d"
						 : "%u"))
			return -1;
	}
	if (buffer_u8(&s->formats.text, '"'))
		return -1;
	for (uint32_t i = 0; i < made->nfields; i++) {
		const struct convert_field *w = &made->fields[i];

		if (buffer_printf(&s->formats.text, w->size ? ", REC->" : ", __get_str(") ||
		    tracecmd_convert_put_name(s, w) ||
		    (!w->size && buffer_u8(&s->formats.text, ')')))
			return -1;
	}
	return buffer_u8(&s->formats.text, '\n');
}

/* Get the offset after the last field, where texts begin. */
static uint32_t fields_end(struct tracecmd_made *made)
{
	uint32_t at = TRACECMD_COMMON;

	for (uint32_t i = 0; i < made->nfields; i++) {
		unsigned size = made->fields[i].size ? made->fields[i].size : 4;

		at = (uint32_t)align_up(at, size) + size;
	}
	return at;
}

static int tracecmd_convert_add_own(struct tracecmd_conversion *s, const struct type *t,
				    struct tracecmd_made *made)
{
	const char *group = t->group.size ? t->group.text
			    : t->source	  ? t->source->format.text
					  : "trace";
	struct buffer system = {0}, name = {0};
	uint32_t at = TRACECMD_COMMON;
	int result = -1;

	made->fields = convert_fields_plan(t, TRACECMD_FIELDS_MOST, false, &made->nfields,
					   &s->formats.fields_lost);
	if (!made->fields || convert_name_identifier(&system, group, strlen(group)) ||
	    convert_name_identifier(&name, t->name.text, t->name.size))
		goto out;
	/* the kernel's own tracers have this system */
	if (system.size == 6 && !memcmp(system.data, "ftrace", 6) &&
	    buffer_append(&system, "_other", 6))
		goto out;
	made->values = t->flags & TYPE_VALUES;
	if (made->values)
		made->nfields = 0; /* the text has them too */
	made->size = made->values ? TRACECMD_COMMON + 4 : fields_end(made);
	s->formats.text.size = 0;
	if (buffer_printf(&s->formats.text, "\nformat:\n" COMMON_FIELDS))
		goto out;
	for (uint32_t i = 0; i < made->nfields; i++) {
		unsigned size = made->fields[i].size ? made->fields[i].size : 4;

		at = (uint32_t)align_up(at, size);
		if (tracecmd_convert_put_field(s, &made->fields[i], at))
			goto out;
		at += size;
	}
	if ((made->values ? buffer_printf(&s->formats.text, VALUES_FIELD)
			  : convert_formats_put_print(s, made)) ||
	    add_named(
		    s, target_string(&s->conversion.d, system.data, system.size),
		    (struct text_ref){.text = (const char *)name.data, .size = (uint32_t)name.size},
		    target_string(&s->conversion.d, s->formats.text.data, s->formats.text.size),
		    true, &made->id))
		goto out;
	if (!made->id) {
		made->id = TRACECMD_ID_PRINT;
		s->formats.as_text++;
	}
	result = 0;
out:
	buffer_free(&system);
	buffer_free(&name);
	return result;
}

/* Decide how rows of a type become records, and add the format where it is new. */
static int tracecmd_formats_add(struct tracecmd_conversion *s, const struct type *t,
				struct tracecmd_made *made)
{
	int got = is_kernels(t) ? add_kernels(s, t, made) : 1;

	made->known = true;
	if (got > 0 && !strcmp(t->group.text, "ftrace") && t->native == TRACECMD_ID_PRINT &&
	    field_find(t, "ip") && field_find(t, "buf")) {
		made->id = TRACECMD_ID_PRINT;
		made->print = true;
		return 0;
	}
	return got > 0 ? tracecmd_convert_add_own(s, t, made) : got;
}

/* --- the end --- */

static int by_system(const void *a, const void *b)
{
	const struct tracecmd_made_format *x = a, *y = b;
	int c = strcmp(x->system.text, y->system.text);

	return c ? c : (x->text.number > y->text.number) - (x->text.number < y->text.number);
}

/* Append all formats as the native encoder's part "formats". */
static int tracecmd_formats_end(struct tracecmd_conversion *s, struct buffer *to)
{
	qsort(s->formats.list, s->formats.count, sizeof *s->formats.list, by_system);
	for (size_t i = 0; i < s->formats.count; i++) {
		const struct tracecmd_made_format *x = &s->formats.list[i];

		if (buffer_u32(to, x->system.size) || buffer_u32(to, x->text.size) ||
		    buffer_append(to, x->system.text, x->system.size) ||
		    buffer_append(to, x->text.text, x->text.size))
			return -1;
	}
	return 0;
}

/*
 * Make what a converted trace.dat has beside its records: headers, the clock's name, kallsyms,
 * formats of messages, names of threads.
 */

/* An address that neither programs nor the kernel use. */
static const uint64_t FIRST_ADDRESS = 1ull << 48;

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static const char header_event[] = "# compressed entry header\n"
				   "\ttype_len    :    5 bits\n"
				   "\ttime_delta  :   27 bits\n"
				   "\tarray       :   32 bits\n\n"
				   "\tpadding     : type == 29\n"
				   "\ttime_extend : type == 30\n"
				   "\ttime_stamp : type == 31\n"
				   "\tdata max type_len  == 28\n";

/* Get the name of the clock, by which readers choose the format of times. A trace.dat's clock
 * keeps its name. */
static const char *tracecmd_convert_clock_name(const struct conversion *a, const struct lane *lane)
{
	static const char *const known[] = {"local", "global",	"counter", "uptime",
					    "perf",  "mono",	"boot",	   "mono_raw",
					    "tai",   "x86-tsc", "ppc-tb",  "s390-tod"};
	const struct clock *clock = lane ? lane->clock : NULL;
	bool ticks = clock && clock->flags & CLOCK_TICKS;

	if (ticks && a->options->tick)
		return "local";
	if (clock && lane->source && !strcmp(lane->source->format.text, "trace-cmd"))
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (!strcmp(clock->name.text, known[i]))
				return known[i];
	return ticks ? "counter" : "local";
}

/* Write the options as trdecode does. Readers know the clock by its option only. The version
 * records that trencode escaped the names. */
static int put_options(struct conversion *a, const char *clock, struct error *e)
{
	static const char version[] = TRACECMD_OWN " " TRUTILS_VERSION;
	struct buffer b = {0};
	size_t n = strlen(clock) + 3;
	int result = buffer_u32(&b, TRACECMD_VERSION) || buffer_u32(&b, sizeof version) ||
				     buffer_append(&b, version, sizeof version) ||
				     buffer_u32(&b, TRACECMD_TRACECLOCK) ||
				     buffer_u32(&b, (uint32_t)n) ||
				     buffer_printf(&b, "[%s]", clock) || buffer_u8(&b, 0)
			     ? error_no_memory(e)
			     : target_meta(&a->d, "options", b.data, b.size, 0, e);

	buffer_free(&b);
	return result;
}

/* Write the headers, and the clock of the first event's lane (NULL: there is no event). */
static int tracecmd_convert_start(void *state, const struct lane *lane, struct error *e)
{
	struct conversion *a = state;
	static const char file[] = "version 6\nlong_size 8\npage_size 4096\ncompression none\n"
				   "compression_version \ntime_added 0\ncpus 1\n";
	const char *clock = tracecmd_convert_clock_name(a, lane);
	char buffers[64];
	int n = snprintf(buffers, sizeof buffers, "\t%s\t4096\t1\n", clock);

	a->d.clock->name = target_string(&a->d, clock, strlen(clock));
	return target_meta(&a->d, "file", file, sizeof file - 1, 0, e) ||
			       target_meta(&a->d, "buffers", buffers, (size_t)n, 0, e) ||
			       target_meta(&a->d, "header_page", header_page,
					   sizeof header_page - 1, 0, e) ||
			       target_meta(&a->d, "header_event", header_event,
					   sizeof header_event - 1, 0, e) ||
			       put_options(a, clock, e)
		       ? -1
		       : 0;
}

/* Keep kallsyms and the formats of messages, by which readers print pointers of kernel events. */
static int tracecmd_convert_meta(void *state, const struct meta *m, struct error *e)
{
	struct tracecmd_conversion *s = state;
	const struct source *source = meta_source(s->conversion.dictionary, m);
	struct buffer *b = meta_is(m, "kallsyms")	  ? &s->kallsyms
			   : meta_is(m, "printk_formats") ? &s->printk
							  : NULL;

	if (!b || !source || strcmp(source->format.text, "trace-cmd") != 0 || !m->size)
		return 0;
	if (!m->offset && b->size && b->data[b->size - 1] != '\n' && buffer_u8(b, '\n'))
		return error_no_memory(e);
	return buffer_append(b, m->data, m->size) ? error_no_memory(e) : 0;
}

/* Take the first source's parts from the native encoder, which received them. */
static void tracecmd_convert_take_over(void *state, void *native)
{
	struct tracecmd_conversion *s = state;
	struct buffer *parts = ((struct tracecmd_state *)native)->parts;

	s->kallsyms = parts[PART_KALLSYMS];
	s->printk = parts[PART_PRINTK];
	parts[PART_KALLSYMS] = parts[PART_PRINTK] = (struct buffer){0};
}

/* Add the name of a thread, once. */
static int tracecmd_add_thread(struct tracecmd_conversion *s, struct convert_thread *t)
{
	struct buffer *b = &s->cmdlines;

	if (t->announced || !t->tid || (!t->comm.size && !t->per_cpu))
		return 0;
	t->announced = true;
	return buffer_printf(b, "%" PRId32 " ", t->tid) ||
	       (t->per_cpu ? buffer_printf(b, "interrupts")
			   : convert_name_escaped(b, t->comm.text, t->comm.size, "")) ||
	       buffer_u8(b, '\n');
}

/* Get the synthesised address of a function, by its location. */
static int tracecmd_address(struct tracecmd_conversion *s, uint32_t number, uint64_t *address)
{
	struct dictionary *d = s->conversion.dictionary;
	const struct location *location = dictionary_location(d, number);
	struct text_ref name;
	struct buffer *b = &s->symbols;

	if (ARRAY_REACH(s->locations, s->locations_size, number))
		return -1;
	*address = s->locations[number];
	if (*address)
		return 0;
	*address = s->locations[number] = FIRST_ADDRESS + 16 * ++s->functions;
	convert_use_location(&s->conversion, number);
	name = dictionary_location_name(d, number);
	/* spaces and $ have a meaning in kallsyms */
	if (buffer_printf(b, "%016" PRIx64 " T ", *address) ||
	    convert_name_escaped(b, name.text, name.size, " $"))
		return -1;
	if (location && location->symbol && location->symbol->module.size &&
	    (buffer_printf(b, "\t[") ||
	     convert_name_escaped(b, location->symbol->module.text, location->symbol->module.size,
				  " []") ||
	     buffer_u8(b, ']')))
		return -1;
	return buffer_u8(b, '\n');
}

/*
 * Convert records of big-endian kernels to little-endian, field by field.
 *
 * Fields whose parts are not described (structs, network addresses) are unchanged.
 */

static void swap_bytes(uint8_t *p, unsigned size)
{
	for (unsigned i = 0; i < size / 2; i++) {
		uint8_t c = p[i];

		p[i] = p[size - 1 - i];
		p[size - 1 - i] = c;
	}
}

static void swap_elements(uint8_t *record, size_t size, uint64_t offset, uint64_t n,
			  unsigned element)
{
	if (element < 2 || element > 8 || offset > size)
		return;
	if (n > size - offset)
		n = size - offset;
	for (; n >= element; n -= element, offset += element)
		swap_bytes(record + offset, element);
}

static void swap_field(uint8_t *record, size_t size, const struct type *t, const struct field *f)
{
	/* masks are made of longs */
	unsigned element = f->kind == FIELD_BITMAP ? t->word_size : f->size;
	uint64_t count = f->count ? f->count : 1, offset = f->offset, n;
	uint32_t loc;

	switch (f->where) {
	case WHERE_TAIL:
		n = f->size * count;
		/* a stack ends with its record, whatever count the format declares */
		if (f->count > 1 && !strcmp(t->group.text, "ftrace") &&
		    !strcmp(f->name.text, "caller"))
			n = size;
		swap_elements(record, size, offset, n, element);
		return;
	case WHERE_REST: swap_elements(record, size, offset, size, element); return;
	case WHERE_DATA_LOC:
	case WHERE_REL_LOC:
		if (offset + 4 > size)
			return;
		loc = (uint32_t)get_uint(record + offset, 4, true);
		swap_bytes(record + offset, 4);
		offset = (loc & 0xffff) + (f->where == WHERE_REL_LOC ? offset + 4 : 0);
		swap_elements(record, size, offset, loc >> 16, element);
	}
}

/* Convert a record of a big-endian machine to little-endian. */
static void tracecmd_swap_record(uint8_t *record, size_t size, const struct type *t)
{
	for (uint32_t i = 0; i < t->nfields; i++)
		swap_field(record, size, t, &t->fields[i]);
}

/*
 * Convert the events of any source to a trace.dat.
 *
 * Calls become funcgraph_entry and funcgraph_exit records of functions that have synthesised
 * addresses in kallsyms. A print record beside each has the arguments and return value. Other
 * events get formats of their own. tracecmd_write.c, the encoder of
 * trace.dat's own streams, makes the rest of the file and writes the ring buffers.
 */

enum { TEXT_MOST = TRACECMD_RECORD_MOST - 32 };

/* --- records --- */

/* Begin a record in s->data. */
static int begin_record(struct tracecmd_conversion *s, uint16_t id, int32_t tid)
{
	s->data.size = 0;
	return buffer_zero(&s->data, TRACECMD_COMMON)
		       ? -1
		       : (put_u16(s->data.data, id), put_u32(s->data.data + 4, (uint32_t)tid), 0);
}

/* Find the buffer of a row. */
static const struct lane *tracecmd_convert_lane_of(struct tracecmd_conversion *s,
						   const struct convert_row *r)
{
	const struct lane *from = r->ev->lane;
	bool instance = from->source && !strcmp(from->source->format.text, "trace-cmd");
	bool has_cpu = from->flags & LANE_HAS_CPU && (uint32_t)from->cpu < TRACECMD_CPUS_MOST;
	struct text_ref name = target_string(&s->conversion.d, from->buffer.text,
					     instance ? from->buffer.size : 0);

	s->no_cpu += !has_cpu;
	return convert_buffer_lane(&s->conversion, name, has_cpu ? (uint32_t)from->cpu : 0,
				   r->time);
}

static int tracecmd_convert_put_record(struct tracecmd_conversion *s, const struct convert_row *r,
				       struct error *e)
{
	struct event ev = {.time = r->time,
			   .type = s->record,
			   .lane = tracecmd_convert_lane_of(s, r),
			   .tail = s->data.data,
			   .tail_size = (uint32_t)s->data.size};

	if (!ev.lane || tracecmd_add_thread(s, r->thread))
		return error_no_memory(e);
	return target_event(&s->conversion.d, &ev, e);
}

static int convert_put_print(struct tracecmd_conversion *s, const struct convert_row *r,
			     uint64_t ip, struct error *e)
{
	if (!s->text.size)
		return 0;
	convert_text_cut(&s->text, 0, TEXT_MOST, &s->cut);
	if (begin_record(s, TRACECMD_ID_PRINT, r->thread->tid) || buffer_u64(&s->data, ip) ||
	    buffer_append(&s->data, s->text.data, s->text.size) || buffer_u8(&s->data, 0))
		return error_no_memory(e);
	return tracecmd_convert_put_record(s, r, e);
}

/* Fill s->text with the values of a call, for the print record beside it. */
static int values_text(struct tracecmd_conversion *s, const struct convert_row *r)
{
	const struct event *ev = r->ev;

	s->text.size = 0;
	if (r->cut || !strcmp(ev->type->group.text, "ftrace"))
		return 0;
	return convert_text_row(&s->text, s->conversion.dictionary, ev, &s->blobs);
}

/* Append the fields of a funcgraph_exit record after the depth: what the kernel recorded of the
 * return, or the times of the call. */
static int put_exit(struct tracecmd_conversion *s, const struct convert_row *r)
{
	uint64_t overrun = 0, calltime = r->start, rettime = r->time;

	if (!r->cut && !strcmp(r->ev->type->group.text, "ftrace")) {
		field_number(r->ev, "overrun", &overrun);
		field_number(r->ev, "calltime", &calltime);
		field_number(r->ev, "rettime", &rettime);
	}
	return buffer_u32(&s->data, (uint32_t)overrun) || buffer_u64(&s->data, calltime) ||
	       buffer_u64(&s->data, rettime);
}

static int tracecmd_convert_call(void *state, const struct convert_row *r, struct error *e)
{
	struct tracecmd_conversion *s = state;
	bool leave = r->what == CONVERT_LEAVE;
	uint64_t address;

	if (tracecmd_address(s, r->location, &address) || values_text(s, r))
		return error_no_memory(e);
	if (leave && convert_put_print(s, r, address, e))
		return -1;
	if (begin_record(s, leave ? TRACECMD_ID_EXIT : TRACECMD_ID_ENTRY, r->thread->tid) ||
	    buffer_u64(&s->data, address) || buffer_u32(&s->data, r->depth) ||
	    (leave && put_exit(s, r)))
		return error_no_memory(e);
	if (tracecmd_convert_put_record(s, r, e))
		return -1;
	return leave ? 0 : convert_put_print(s, r, address, e);
}

/* --- other events --- */

static int put_raw(struct tracecmd_conversion *s, const struct convert_row *r,
		   const struct tracecmd_made *made)
{
	const struct event *ev = r->ev;

	s->data.size = 0;
	if (ev->tail_size < TRACECMD_COMMON)
		return 1;
	if (buffer_append(&s->data, ev->tail, ev->tail_size))
		return -1;
	if (ev->type->flags & TYPE_BIG_ENDIAN)
		tracecmd_swap_record(s->data.data, s->data.size, ev->type);
	put_u16(s->data.data, made->id);
	put_u32(s->data.data + 4, (uint32_t)r->thread->tid);
	return 0;
}

/* End a text that begins at from, with space for the ends of others after it; *loc is its
 * __data_loc. */
static int tracecmd_convert_end_text(struct tracecmd_conversion *s, size_t from, uint32_t others,
				     uint32_t *loc)
{
	size_t end = TRACECMD_RECORD_MOST - 1 - others;

	convert_text_cut(&s->data, from, from < end ? end - from : 0, &s->cut);
	if (buffer_u8(&s->data, 0))
		return -1;
	*loc = (uint32_t)((s->data.size - from) << 16 | from);
	return 0;
}

static int tracecmd_convert_put_values(struct tracecmd_conversion *s, const struct convert_row *r,
				       const struct tracecmd_made *made)
{
	uint32_t loc;

	if (begin_record(s, made->id, r->thread->tid) || buffer_u32(&s->data, 0) ||
	    convert_text_row(&s->data, s->conversion.dictionary, r->ev, &s->blobs) ||
	    tracecmd_convert_end_text(s, made->size, 0, &loc))
		return -1;
	put_u32(s->data.data + TRACECMD_COMMON, loc);
	return 0;
}

static int tracecmd_convert_put_fields(struct tracecmd_conversion *s, const struct convert_row *r,
				       const struct tracecmd_made *made)
{
	uint32_t at = TRACECMD_COMMON;

	if (begin_record(s, made->id, r->thread->tid) ||
	    buffer_zero(&s->data, made->size - TRACECMD_COMMON))
		return -1;
	for (uint32_t i = 0; i < made->nfields; i++) {
		const struct convert_field *w = &made->fields[i];
		unsigned size = w->size ? w->size : 4;
		uint8_t bytes[8];

		at = (uint32_t)align_up(at, size);
		if (w->size) {
			put_u64(bytes, convert_field_number(w, r->ev));
		} else {
			size_t from = s->data.size;
			uint32_t loc;

			if (convert_field_text(&s->data, s->conversion.dictionary, w, r->ev) ||
			    tracecmd_convert_end_text(s, from, made->nfields - i - 1, &loc))
				return -1;
			put_u32(bytes, loc);
		}
		memcpy(s->data.data + at, bytes, size);
		at += size;
	}
	return 0;
}

static int put_as_text(struct tracecmd_conversion *s, const struct convert_row *r, struct error *e)
{
	struct text_ref name = r->ev->type->name;

	s->text.size = 0;
	if (convert_name_escaped(&s->text, name.text, name.size, "") ||
	    buffer_printf(&s->text, ": ") ||
	    convert_text_row(&s->text, s->conversion.dictionary, r->ev, &s->blobs))
		return error_no_memory(e);
	return convert_put_print(s, r, 0, e);
}

/* Write the print of a kernel whose print record has another layout. */
static int put_kernel_print(struct tracecmd_conversion *s, const struct convert_row *r,
			    struct error *e)
{
	uint64_t ip = 0;
	size_t n = 0;
	const uint8_t *text = field_bytes(r->ev, field_find(r->ev->type, "buf"), &n);

	field_number(r->ev, "ip", &ip);
	s->text.size = 0;
	if (text && n && buffer_append(&s->text, text, strnlen((const char *)text, n)))
		return error_no_memory(e);
	return convert_put_print(s, r, ip, e);
}

static int tracecmd_convert_instant(void *state, const struct convert_row *r, struct error *e)
{
	struct tracecmd_conversion *s = state;
	const struct type *t = r->ev->type;
	struct tracecmd_made *made;

	if (ARRAY_REACH(s->types, s->types_size, t->number))
		return error_no_memory(e);
	made = &s->types[t->number];
	if (!made->known && tracecmd_formats_add(s, t, made))
		return error_no_memory(e);
	if (made->print)
		return put_kernel_print(s, r, e);
	if (made->id == TRACECMD_ID_PRINT && !made->raw)
		return put_as_text(s, r, e);
	if (made->raw	   ? put_raw(s, r, made)
	    : made->values ? tracecmd_convert_put_values(s, r, made)
			   : tracecmd_convert_put_fields(s, r, made))
		return error_no_memory(e);
	return tracecmd_convert_put_record(s, r, e);
}

static int tracecmd_convert_gap(void *state, const struct convert_row *r, struct error *e)
{
	struct tracecmd_conversion *s = state;

	return convert_put_gap(&s->conversion, r, tracecmd_convert_lane_of(s, r), e);
}

static void tracecmd_convert_drop(void *state)
{
	struct tracecmd_conversion *s = state;

	free(s->formats.list);
	unique_names_free(&s->formats.names);
	intern_free(&s->formats.bodies);
	free(s->formats.ids);
	buffer_free(&s->formats.text);
	for (size_t i = 0; i < s->types_size; i++)
		free(s->types[i].fields);
	free(s->types);
	free(s->locations);
	buffer_free(&s->kallsyms);
	buffer_free(&s->printk);
	buffer_free(&s->cmdlines);
	buffer_free(&s->symbols);
	buffer_free(&s->data);
	buffer_free(&s->text);
}

static int tracecmd_convert_init(void *state, struct error *e)
{
	struct tracecmd_conversion *s = state;

	s->record = target_type(&s->conversion.d, "record", "trace");
	if (!s->record || tracecmd_formats_begin(s))
		return error_no_memory(e);
	s->record->flags = TYPE_TAIL;
	s->record->native = TRACECMD_ID_OWN;
	return 0;
}

/* --- the end --- */

static int tracecmd_convert_end(void *state, struct error *e)
{
	struct tracecmd_conversion *s = state;
	struct buffer *parts = ((struct tracecmd_state *)s->conversion.d.encoding.state)->parts;

	return buffer_append(&parts[PART_KALLSYMS], s->symbols.data, s->symbols.size) ||
			       buffer_append(&parts[PART_KALLSYMS], s->kallsyms.data,
					     s->kallsyms.size) ||
			       buffer_append(&parts[PART_PRINTK], s->printk.data, s->printk.size) ||
			       buffer_append(&parts[PART_CMDLINES], s->cmdlines.data,
					     s->cmdlines.size) ||
			       tracecmd_formats_end(s, &parts[PART_FORMATS])
		       ? error_no_memory(e)
		       : 0;
}

static void tracecmd_convert_report(void *state)
{
	struct tracecmd_conversion *s = state;
	struct conversion *a = &s->conversion;

	convert_lost(a, s->no_cpu,
		     "{event without a CPU is|events without a CPU are} written to CPU 0");
	convert_lost(a, a->clock_epoch.count,
		     "{stream overlaps an earlier one: its|streams overlap earlier ones: their} "
		     "buffers are instances named ~2 and so on");
	convert_lost(a, a->counts.comms,
		     "{event is|events are} written with a name that {its thread|their threads} "
		     "had at another time");
	convert_lost(a, a->counts.with_wall,
		     "{event is|events are} written without wall time: the trace has the source's "
		     "clock");
	convert_lost(a, s->blobs, "{blob is written as its size|blobs are written as their sizes}");
	convert_lost(a, s->cut,
		     "{text was|texts were} cut to what a page of the ring buffer holds");
	convert_lost(a, s->formats.fields_lost,
		     "{field is|fields are} left out, of types with more than 150 fields");
	convert_lost(a, s->formats.as_text,
		     "{type of events exceeds|types of events exceed} the ids of a trace.dat: "
		     "written as print records");
}

/* Test whether the calls of a type are written as the records that they are: marks. */
static bool tracecmd_keeps(const struct type *t)
{
	return t->kind != KIND_DROP && !(t->flags & TYPE_DEPTH) && is_kernels(t);
}

const struct convert_target tracecmd_target = {
	.native = &encoder_tracecmd,
	.format = "trace-cmd",
	.state_size = sizeof(struct tracecmd_conversion),
	.buffers = true,
	.nests = true,
	.init = tracecmd_convert_init,
	.meta = tracecmd_convert_meta,
	.take_over = tracecmd_convert_take_over,
	.begin = tracecmd_convert_start,
	.keeps = tracecmd_keeps,
	.call = tracecmd_convert_call,
	.instant = tracecmd_convert_instant,
	.gap = tracecmd_convert_gap,
	.end = tracecmd_convert_end,
	.report = tracecmd_convert_report,
	.drop = tracecmd_convert_drop,
};
