/*
 * convert_formats.c - make formats for events of any source
 *
 * An event of a kernel trace keeps its format, with an id of the target trace. Any other event gets
 * a synthesised format: numbers in the record, texts as __data_loc.
 */
#include <stdlib.h>

#include "common/stream/field.h"
#include "common/formats/tracecmd.h"
#include "cmd/trencode/tracecmd/convert.h"

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

static int add_format(struct tracecmd_formats *f, struct target_dictionary *d,
		      struct text_ref system, const void *text, size_t n)
{
	struct tracecmd_made_format *list;

	if (ARRAY_GROW(f->list, f->capacity, f->count))
		return -1;
	list = f->list;
	list[f->count++] = (struct tracecmd_made_format){system, target_string(d, text, n)};
	return 0;
}

int tracecmd_formats_begin(struct tracecmd_formats *f, struct target_dictionary *d)
{
	struct text_ref ftrace = target_string(d, "ftrace", 6);

	f->next = TRACECMD_ID_OWN;
	for (size_t i = 0; i < sizeof kernel_formats / sizeof *kernel_formats; i++) {
		const char *text = kernel_formats[i].text;

		if (add_format(f, d, ftrace, text, strlen(text)))
			return -1;
		f->ftrace[kernel_formats[i].id] = f->list[i].text.number + 1;
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

/* Make an event's name unique: b is the system, a NUL and the name, and gets a suffix if the name
 * is taken. */
static int name_make_unique(struct tracecmd_formats *f, struct buffer *b)
{
	uint32_t had = f->names.count, plain, number, *next;
	size_t size = b->size;

	plain = number = intern(&f->names, b->data, b->size);
	if (plain == INTERN_NONE || ARRAY_REACH(f->next_name, f->next_name_size, plain))
		return -1;
	next = f->next_name;
	while (number < had) {
		b->size = size;
		if (buffer_printf(b, TRACECMD_ANOTHER "%u", 2 + next[plain]++))
			return -1;
		had = f->names.count;
		number = intern(&f->names, b->data, b->size);
		if (number == INTERN_NONE)
			return -1;
	}
	return 0;
}

/* The format of an event. */
struct new_format {
	struct text_ref system, body; /* body: the text after the id */
	const struct buffer *name;
	bool own; /* the name was escaped */
};

/* Add a format. Types of one name and body share one. *id 0: no id is left, nothing was added. */
static int add_named(struct tracecmd_formats *f, struct target_dictionary *d,
		     const struct new_format *new, uint16_t *id)
{
	struct text_ref system = new->system, body = new->body;
	const struct buffer *name = new->name;
	uint32_t had = f->bodies.count, number;
	struct buffer b = {0};
	uint16_t *ids;
	size_t at;
	int result = -1;

	*id = 0;
	if (buffer_u32(&b, body.number) || buffer_append(&b, system.text, system.size + 1) ||
	    (name->size && buffer_append(&b, name->data, name->size)))
		goto out;
	number = intern(&f->bodies, b.data, b.size);
	if (number == INTERN_NONE || ARRAY_REACH(f->ids, f->ids_size, number))
		goto out;
	ids = f->ids;
	result = 0;
	if (number < had || f->next > TRACECMD_ID_MOST) {
		*id = ids[number];
		goto out;
	}
	*id = ids[number] = (uint16_t)f->next++;
	memmove(b.data, b.data + 4, b.size - 4);
	b.size -= 4;
	at = system.size + 1;
	f->text.size = 0;
	if (name_make_unique(f, &b) ||
	    buffer_printf(&f->text, new->own ? TRACECMD_ESCAPED_NAME : "name: ") ||
	    buffer_append(&f->text, b.data + at, b.size - at) ||
	    buffer_printf(&f->text, "\nID: %u", *id) ||
	    buffer_append(&f->text, body.text, body.size) ||
	    add_format(f, d, system, f->text.data, f->text.size))
		result = -1;
out:
	buffer_free(&b);
	return result;
}

/* Add the format of a kernel's event. 1: the format cannot be used unchanged. */
static int add_kernels(struct tracecmd_formats *f, struct target_dictionary *d,
		       const struct type *t, struct tracecmd_made *made)
{
	bool ftrace = !strcmp(t->group.text, "ftrace");
	const char *id = strstr(t->declaration.text, "\nID: ") + 5, *body = id + strcspn(id, "\n");

	if (ftrace && t->native && t->native < TRACECMD_ID_OWN) {
		uint32_t *had = &f->ftrace[t->native];
		struct text_ref text = target_string(d, t->declaration.text, t->declaration.size);

		if (!*had) {
			if (add_format(f, d, target_string(d, "ftrace", 6), text.text, text.size))
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
	if (add_named(f, d,
		      &(struct new_format){target_string(d, t->group.text, t->group.size),
					   target_string(d, body, strlen(body)),
					   &(struct buffer){.data = (uint8_t *)t->name.text,
							    .size = t->name.size},
					   false},
		      &made->id))
		return -1;
	made->raw = made->id;
	return !made->id;
}

/* --- synthesised formats --- */

static int put_name(struct tracecmd_formats *f, const struct convert_field *w)
{
	return convert_name_identifier(&f->text, w->from->name.text, w->from->name.size);
}

static int put_field(struct tracecmd_formats *f, const struct convert_field *w, uint32_t offset)
{
	static const char *const types[] = {
		[1] = "char", [2] = "short", [4] = "int", [8] = "long long"};

	if (w->size ? buffer_printf(&f->text, "\tfield:%s %s ",
				    w->is_signed ? "signed" : "unsigned", types[w->size])
		    : buffer_printf(&f->text, "\tfield:__data_loc char[] "))
		return -1;
	return put_name(f, w) || buffer_printf(&f->text, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n",
					       offset, w->size ? w->size : 4, w->is_signed);
}

static int put_print(struct tracecmd_formats *f, const struct tracecmd_made *made)
{
	if (buffer_printf(&f->text, "\nprint fmt: \""))
		return -1;
	for (uint32_t i = 0; i < made->nfields; i++) {
		const struct convert_field *w = &made->fields[i];

		if ((i && buffer_u8(&f->text, ' ')) || put_name(f, w) ||
		    buffer_printf(&f->text, "=%s",
				  !w->size				       ? "%s"
				  : w->from->kind == FIELD_HEX && w->size == 8 ? "0x%llx"
				  : w->from->kind == FIELD_HEX		       ? "0x%x"
				  : w->size == 8 ? w->is_signed ? "%lld" : "%llu"
				  : w->is_signed ? "%d"
						 : "%u"))
			return -1;
	}
	if (buffer_u8(&f->text, '"'))
		return -1;
	for (uint32_t i = 0; i < made->nfields; i++) {
		const struct convert_field *w = &made->fields[i];

		if (buffer_printf(&f->text, w->size ? ", REC->" : ", __get_str(") ||
		    put_name(f, w) || (!w->size && buffer_u8(&f->text, ')')))
			return -1;
	}
	return buffer_u8(&f->text, '\n');
}

/* Return the offset after the last field, where texts begin. */
static uint32_t fields_end(struct tracecmd_made *made)
{
	uint32_t at = TRACECMD_COMMON;

	for (uint32_t i = 0; i < made->nfields; i++) {
		unsigned size = made->fields[i].size ? made->fields[i].size : 4;

		at = (uint32_t)align_up(at, size) + size;
	}
	return at;
}

static int add_own(struct tracecmd_formats *f, struct target_dictionary *d, const struct type *t,
		   struct tracecmd_made *made)
{
	const char *group = t->group.size ? t->group.text
			    : t->source	  ? t->source->format.text
					  : "trace";
	struct buffer system = {0}, name = {0};
	uint32_t at = TRACECMD_COMMON;
	int result = -1;

	made->fields = convert_fields_plan(t, TRACECMD_FIELDS_MOST, false, &made->nfields,
					   &f->fields_lost);
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
	f->text.size = 0;
	if (buffer_printf(&f->text, "\nformat:\n" COMMON_FIELDS))
		goto out;
	for (uint32_t i = 0; i < made->nfields; i++) {
		unsigned size = made->fields[i].size ? made->fields[i].size : 4;

		at = (uint32_t)align_up(at, size);
		if (put_field(f, &made->fields[i], at))
			goto out;
		at += size;
	}
	if ((made->values ? buffer_printf(&f->text, VALUES_FIELD) : put_print(f, made)) ||
	    add_named(f, d,
		      &(struct new_format){target_string(d, system.data, system.size),
					   target_string(d, f->text.data, f->text.size), &name,
					   true},
		      &made->id))
		goto out;
	if (!made->id) {
		made->id = TRACECMD_ID_PRINT;
		f->as_text++;
	}
	result = 0;
out:
	buffer_free(&system);
	buffer_free(&name);
	return result;
}

int tracecmd_formats_add(struct tracecmd_formats *f, struct target_dictionary *d,
			 const struct type *t, struct tracecmd_made *made)
{
	int got = is_kernels(t) ? add_kernels(f, d, t, made) : 1;

	made->known = true;
	if (got > 0 && !strcmp(t->group.text, "ftrace") && t->native == TRACECMD_ID_PRINT &&
	    field_find(t, "ip") && field_find(t, "buf")) {
		made->id = TRACECMD_ID_PRINT;
		made->print = true;
		return 0;
	}
	return got > 0 ? add_own(f, d, t, made) : got;
}

/* --- the end --- */

static int by_system(const void *a, const void *b)
{
	const struct tracecmd_made_format *x = a, *y = b;
	int c = strcmp(x->system.text, y->system.text);

	return c ? c : (x->text.number > y->text.number) - (x->text.number < y->text.number);
}

int tracecmd_formats_end(struct tracecmd_formats *f, struct buffer *to)
{
	qsort(f->list, f->count, sizeof *f->list, by_system);
	for (size_t i = 0; i < f->count; i++) {
		const struct tracecmd_made_format *x = &f->list[i];

		if (buffer_u32(to, x->system.size) || buffer_u32(to, x->text.size) ||
		    buffer_append(to, x->system.text, x->system.size) ||
		    buffer_append(to, x->text.text, x->text.size))
			return -1;
	}
	return 0;
}

void tracecmd_formats_free(struct tracecmd_formats *f)
{
	free(f->list);
	intern_free(&f->names);
	intern_free(&f->bodies);
	free(f->ids);
	free(f->next_name);
	buffer_free(&f->text);
}
