/*
 * convert.c - what all conversions to other systems' traces share
 */
#include "cmd/trencode/text/tracecmd.h"
#include "common/ftrace/event_format.h"
#include "cmd/trencode/convert.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/encoder.h"
#include "cmd/trencode/encode.h"
#include "common/calls/calls.h"
#include "common/stream/field.h"
#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/value/argument.h"
#include "common/value/value_text.h"

/* --- kernel messages --- */

/* Find the fields of a type, once. -1: out of memory. */
static int kernel_message_fields(struct kernel_messages *k, const struct type *type)
{
	uint32_t n = type->number;
	const struct event_field *text;
	struct event_format fields;

	if (ARRAY_REACH(k->types, k->ntypes, n))
		return -1;
	if (k->types[n].ready)
		return 0;
	if (event_format_parse(&fields, type->declaration.text, type->declaration.size,
			       type->word_size) < 0)
		return -1;
	k->types[n].ready = true;
	bprint_fields_find(&k->types[n].bprint, type, &fields);
	text = event_format_find(&fields, "str", 3);
	k->types[n].bputs = text && !strcmp(type->name.text, "bputs");
	if (k->types[n].bputs)
		k->types[n].text = *text;
	event_format_free(&fields);
	return 0;
}

/* Append the text that a bputs event names by its address. */
static void put_constant(struct kernel_messages *k, const struct event_field *f,
			 const struct event *ev, const struct print_kernel *names)
{
	const char *s = NULL;
	uint64_t address;
	size_t size;

	if (record_number(f, ev, &address))
		s = names->string(names->context, address, &size);
	if (s)
		line_put(&k->line, s, size);
}

int kernel_message(struct kernel_messages *k, const struct event *ev, const char **text,
		   size_t *size)
{
	struct tc_source *source = tc_source_of(&k->sources, ev->lane->source);
	uint32_t n = ev->type->number;

	*size = 0;
	if (kernel_message_fields(k, ev->type) || !source || tc_source_begin(source))
		return -1;
	k->line.size = 0;
	if (k->types[n].bputs)
		put_constant(k, &k->types[n].text, ev, &source->kernel.names);
	if ((k->types[n].bprint.is &&
	     bprint_message(source, &k->types[n].bprint, ev, &k->line) < 0) ||
	    k->line.failed)
		return -1;
	*text = k->line.data;
	*size = k->line.size;
	while (*size && k->line.data[*size - 1] == '\n')
		--*size;
	return 0;
}

/* --- location names --- */

void location_names_init(struct location_names *p, struct dictionary *d,
			 int (*render)(struct buffer *to, const char *name, size_t n))
{
	*p = (struct location_names){
		.dictionary = d, .render = render, .symbol_changes = d->symbol_changes};
}

void location_names_init_strings(struct location_names *p, struct dictionary *d,
				 int (*render)(struct buffer *to, const char *name, size_t n))
{
	location_names_init(p, d, render);
	p->strings = true;
}

void location_names_free(struct location_names *p)
{
	free(p->names);
	buffer_free(&p->bytes);
	*p = (struct location_names){0};
}

int location_names_make(struct location_names *p, uint32_t location)
{
	const struct location *pl =
		p->strings ? NULL : dictionary_location(p->dictionary, location);
	struct text_ref name;

	if (p->symbol_changes != p->dictionary->symbol_changes) {
		p->symbol_changes = p->dictionary->symbol_changes;
		p->bytes.size = 0;
		if (p->count)
			memset(p->names, 0, p->count * sizeof(*p->names));
	}
	if (ARRAY_REACH(p->names, p->count, location))
		return -1;
	if (p->names[location].known)
		return 0;
	name = p->strings ? dictionary_string(p->dictionary, location)
			  : dictionary_location_name(p->dictionary, location);
	p->names[location].number = name.number;
	p->names[location].at = p->bytes.size;
	/* location_names_copy may read so many bytes after it */
	if ((p->render && p->render(&p->bytes, name.text, name.size)) ||
	    buffer_reserve(&p->bytes, LOCATION_NAME_SHORT))
		return -1;
	p->names[location].size = (uint32_t)(p->bytes.size - p->names[location].at);
	p->names[location].known = true;
	p->lines |= pl && pl->symbol && pl->symbol->line;
	p->unnamed |= pl && pl->space && !pl->symbol && !pl->name.size;
	return 0;
}

void location_names_report(const struct location_names *p)
{
	if (p->unnamed)
		remark(NULL,
		       "some functions have an address but no name: run trsym before this program");
}

/* --- names in formats that forbid some bytes, with escapes that can be reversed --- */

static bool convert_hex(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

int convert_name_escaped(struct buffer *b, const char *name, size_t n, const char *others)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)name[i];
		bool forbidden = c < 0x20 || c == 0x7f || (c && strchr(others, c));

		if (c == '\\' && n - i > 3)
			forbidden |= name[i + 1] == 'x' && convert_hex(name[i + 2]) &&
				     convert_hex(name[i + 3]);
		if (forbidden ? buffer_printf(b, "\\x%02x", c) : buffer_u8(b, c))
			return -1;
	}
	return 0;
}

int convert_name_no_nul(struct buffer *b, const char *name, size_t n)
{
	if (!n || (!memchr(name, 0, n) && !memmem(name, n, "\\x", 2)))
		return buffer_append(b, name, n);
	for (size_t i = 0; i < n; i++) {
		bool looks = n - i > 3 &&
			     (!memcmp(name + i, "\\x00", 4) || !memcmp(name + i, "\\x5c", 4));

		if (!name[i] || looks ? buffer_printf(b, "\\x%02x", (unsigned char)name[i])
				      : buffer_u8(b, (uint8_t)name[i]))
			return -1;
	}
	return 0;
}

static bool convert_is_word(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

int convert_name_identifier(struct buffer *b, const char *name, size_t n)
{
	if (!n)
		return buffer_append(b, "_x", 2);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)name[i];
		bool forbidden = !convert_is_word(c) || (!i && c >= '0' && c <= '9');

		if (c == '_' && n - i > 3)
			forbidden |= name[i + 1] == 'x' && convert_hex(name[i + 2]) &&
				     convert_hex(name[i + 3]);
		if (c == '_' && n == 2 && name[1] == 'x')
			forbidden |= !i;
		if (forbidden ? buffer_printf(b, "_x%02x", c) : buffer_u8(b, c))
			return -1;
	}
	return 0;
}

uint32_t unique_name(struct unique_names *u, struct buffer *b, const char *before)
{
	uint32_t had = u->names.count, plain, number;
	size_t size = b->size;

	plain = number = intern(&u->names, b->data, size);
	if (plain == INTERN_NONE || ARRAY_REACH(u->next, u->size, plain))
		return INTERN_NONE;
	while (number < had) {
		b->size = size;
		if (buffer_printf(b, "%s%" PRIu32, before, 2 + u->next[plain]++))
			return INTERN_NONE;
		had = u->names.count;
		number = intern(&u->names, b->data, b->size);
	}
	return number;
}

void unique_names_free(struct unique_names *u)
{
	intern_free(&u->names);
	free(u->next);
}

/*
 * Values and fields as text (value_text.h), for targets that have no other form for them.
 */

static struct value_text text_text_of(struct buffer *b, const struct dictionary *d,
				      struct buffer *scratch, uint64_t *blobs)
{
	return (struct value_text){.out = b,
				   .plain = {d, scratch, true, false},
				   .bytes = CONVERT_TEXT_MOST,
				   .elements = SIZE_MAX,
				   .depth = VALUE_DEPTH,
				   .end = b->size + CONVERT_TEXT_MOST,
				   .blobs = blobs};
}

int convert_text_value(struct buffer *b, const struct dictionary *d, struct values *v,
		       uint64_t *blobs)
{
	struct buffer scratch = {0};
	struct value_text t = text_text_of(b, d, &scratch, blobs);
	int bad = value_text_value(&t, v) && !v->bad ? -1 : 0;

	buffer_free(&scratch);
	return bad;
}

int convert_text_values(struct buffer *b, const struct dictionary *d, const struct event *ev,
			enum detail_kind what, uint64_t *blobs)
{
	const struct location *location = dictionary_location(d, ev->location);
	size_t from = b->size;
	const struct text_ref *name;
	struct values v;
	uint64_t index;
	uint8_t kind;

	values_begin(&v, ev->tail, ev->tail_size);
	while (values_what(&v, &kind, &index)) {
		if (kind != what) {
			if (!values_skip(&v))
				break;
			continue;
		}
		if (b->size > from && buffer_puts(b, ", "))
			return -1;
		name = what == DETAIL_ARGUMENT ? location_argument(location, index) : NULL;
		if (name && (buffer_append(b, name->text, name->size) || buffer_puts(b, " = ")))
			return -1;
		if (convert_text_value(b, d, &v, blobs))
			return -1;
		/* the values after the end are read to count their blobs */
		if (b->size > from + CONVERT_TEXT_MOST)
			b->size = from + CONVERT_TEXT_MOST;
	}
	return 0;
}

/* --- fields --- */

/* Test whether a field has a value that other systems do not need: common_type of ftrace, a TSC,
 * apitrace's number of the frame. */
static bool convert_is_own_field(const struct type *t, const struct field *f)
{
	if (f->role == ROLE_SOURCE_TIME || f->role == ROLE_ROW ||
	    (t->flags & TYPE_CALL_NUMBER && type_is_of(t, "apitrace")))
		return true;
	return (t->declaration.size || f->role == ROLE_TID) && !strncmp(f->name.text, "common_", 7);
}

/* Append the value of one field, without its name. */
static int convert_text_field(struct buffer *b, const struct dictionary *d, const struct event *ev,
			      const struct field *f)
{
	struct buffer scratch = {0};
	struct value_text t = text_text_of(b, d, &scratch, NULL);
	int bad = value_text_field(&t, ev, f);

	buffer_free(&scratch);
	return bad;
}

/* Test for a field of a leave whose value the enter has too: the id of an asynchronous call. */
static bool convert_is_repeated(const struct type *t, const struct field *f)
{
	return t->kind == KIND_LEAVE && type_is_of(t, "chrome") && f->role == ROLE_NONE;
}

bool convert_is_return(const struct type *t, const struct field *f)
{
	return t->kind == KIND_LEAVE &&
	       (!strcmp(f->name.text, "ret") || !strcmp(f->name.text, "return"));
}

/* Append the fields after text that begins at from: as `a = 1, b = 2` if apart, else as `a=1 b=2`;
 * with the return value only if result. */
static int convert_put_fields(struct buffer *b, const struct dictionary *d, const struct event *ev,
			      size_t from, bool apart, bool result)
{
	const char *is = apart ? " = " : "=", *between = apart ? ", " : " ";
	struct field_value v;

	for (uint32_t i = 0; i < ev->type->nfields; i++) {
		const struct field *f = &ev->type->fields[i];

		if (convert_is_own_field(ev->type, f) || f->role == ROLE_CALL ||
		    convert_is_repeated(ev->type, f) || (!result && convert_is_return(ev->type, f)))
			continue;
		field_get(ev, f, 0, &v);
		if (v.form == FORM_NONE)
			continue;
		if ((b->size > from && buffer_puts(b, between)) ||
		    buffer_append(b, f->name.text, f->name.size) || buffer_puts(b, is) ||
		    convert_text_field(b, d, ev, f))
			return -1;
	}
	return 0;
}

int convert_text_fields(struct buffer *b, const struct dictionary *d, const struct event *ev)
{
	return convert_put_fields(b, d, ev, b->size, false, true);
}

int convert_text_arguments(struct buffer *b, const struct dictionary *d, const struct event *ev,
			   uint64_t *blobs)
{
	size_t from = b->size;

	if (ev->type->kind == KIND_GAP)
		return 0;
	if (!(ev->type->flags & TYPE_VALUES))
		return convert_put_fields(b, d, ev, from, false, false);
	return convert_text_values(b, d, ev, DETAIL_ARGUMENT, blobs) ||
			       convert_put_fields(b, d, ev, from, true, false)
		       ? -1
		       : 0;
}

/* Append the return value: of the values, or the field. */
static int convert_put_result(struct buffer *b, const struct dictionary *d, const struct event *ev,
			      uint64_t *blobs)
{
	size_t from = b->size;

	if (ev->type->flags & TYPE_VALUES && convert_text_values(b, d, ev, DETAIL_RETURN, blobs))
		return -1;
	for (uint32_t i = 0; i < ev->type->nfields && b->size == from; i++)
		if (convert_is_return(ev->type, &ev->type->fields[i]))
			return convert_text_field(b, d, ev, &ev->type->fields[i]);
	return 0;
}

int convert_text_row(struct buffer *b, const struct dictionary *d, const struct event *ev,
		     uint64_t *blobs)
{
	bool call = ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE;
	size_t from = b->size, inside;

	if (call && buffer_puts(b, "("))
		return -1;
	inside = b->size;
	if (convert_text_arguments(b, d, ev, blobs))
		return -1;
	if (call && b->size == inside)
		b->size = from;
	else if (call && buffer_puts(b, ")"))
		return -1;
	inside = b->size;
	if (buffer_puts(b, b->size > from ? " = " : "= "))
		return -1;
	from = b->size;
	if (convert_put_result(b, d, ev, blobs))
		return -1;
	if (b->size == from)
		b->size = inside;
	return 0;
}

void convert_text_cut(struct buffer *b, size_t from, size_t n, uint64_t *cut)
{
	if (b->size - from <= n)
		return;
	++*cut;
	while (n && (b->data[from + n] & 0xc0) == 0x80)
		n--;
	b->size = from + n;
}

/* --- thread ids --- */

enum { MADE_UP = 1 << 22 /* PID_MAX_LIMIT of Linux */ };

/* Assign a number. Returns 1 if it was free, 0 if it is taken, -1 when out of memory. cpu: of
 * thread 0. */
static int thread_ids_take(struct thread_ids *t, int32_t tid, int32_t cpu)
{
	struct idmap *map = &t->taken;
	uint32_t id = (uint32_t)tid;

	if (tid < 0 || (!tid && (t->no_zero || (cpu < 0 && !t->zero))))
		return 0;
	if (!tid) {
		map = &t->idle;
		id = cpu < 0 || t->no_cpus ? 1 : (uint32_t)cpu + 2;
	}
	if (idmap_get(map, id))
		return 0;
	return idmap_set(map, id, 1) ? -1 : 1;
}

/* Get the number in the written trace of a thread or process of the source. */
static int32_t thread_ids_id(struct thread_ids *t, const struct lane *lane, bool has_tid,
			     int32_t tid, int32_t cpu, bool per_cpu)
{
	bool use_cpu = !has_tid || !tid || per_cpu;
	bool use_pid = has_tid && !per_cpu && lane->flags & LANE_PROCESS_TID;
	int32_t key[7] = {lane->source ? (int32_t)lane->source->number : 0,
			  has_tid && !per_cpu,
			  has_tid && !per_cpu ? tid : 0,
			  use_cpu ? cpu : 0,
			  per_cpu,
			  use_pid,
			  use_pid ? lane->pid : 0};
	uint32_t number = intern(&t->keys, key, sizeof key);
	int got = 0;

	if (number == INTERN_NONE)
		return -1;
	if (number < t->capacity && t->ids[number])
		return t->ids[number] - 1;
	if (ARRAY_REACH(t->ids, t->capacity, number))
		return -1;
	if (has_tid && !per_cpu && tid < INT32_MAX)
		got = thread_ids_take(t, tid, cpu);
	if (!got) {
		t->renamed++;
		do
			tid = (int32_t)(MADE_UP + ++t->next);
		while (tid < INT32_MAX && !(got = thread_ids_take(t, tid, 0)));
	}
	if (got < 0)
		return -1;
	t->ids[number] = tid + 1;
	return tid;
}

static int32_t convert_cpu_of(const struct lane *lane)
{
	return lane->flags & LANE_HAS_CPU && lane->cpu >= 0 ? lane->cpu : -1;
}

int32_t thread_ids_thread(struct thread_ids *t, const struct lane *lane, bool per_cpu)
{
	uint32_t process = LANE_HAS_PID | LANE_PROCESS_TID;
	bool has_tid = lane->flags & LANE_HAS_TID;

	/* a process without threads is its own one */
	if (!has_tid && !per_cpu && (lane->flags & process) == process && lane->pid)
		return thread_ids_process(t, lane);
	return thread_ids_id(t, lane, has_tid, lane->tid, convert_cpu_of(lane), per_cpu);
}

int32_t thread_ids_process(struct thread_ids *t, const struct lane *lane)
{
	bool of_threads =
		lane->flags & LANE_PROCESS_TID || (lane->flags & LANE_HAS_TID && lane->tid);

	if (!of_threads || !(lane->flags & LANE_HAS_PID) || !lane->pid)
		return thread_ids_thread(t, lane, false);
	return thread_ids_id(t, lane, true, lane->pid, convert_cpu_of(lane), false);
}

void thread_ids_free(struct thread_ids *t)
{
	intern_free(&t->keys);
	free(t->ids);
	idmap_free(&t->taken);
	idmap_free(&t->idle);
	*t = (struct thread_ids){0};
}

/* --- the threads of rows --- */

static struct convert_thread *convert_new_thread(struct conversion *a, const struct lane *lane,
						 bool per_cpu)
{
	struct convert_thread *t = calloc(1, sizeof *t);

	if (!t || ARRAY_GROW(a->by_number, a->by_number_capacity, a->nthreads))
		goto failed;
	t->per_cpu = per_cpu;
	t->tid = thread_ids_thread(&a->ids, lane, per_cpu);
	t->pid = per_cpu ? t->tid : thread_ids_process(&a->ids, lane);
	if (t->tid < 0 || t->pid < 0)
		goto failed;
	if (!per_cpu)
		t->comm = lane->comm;
	if (!t->comm.text)
		t->comm = (struct text_ref){"", 0, 0};
	t->number = (uint32_t)a->nthreads;
	return a->by_number[a->nthreads++] = t;
failed:
	free(t);
	return NULL;
}

struct convert_thread *convert_thread(struct conversion *a, const struct lane *lane, bool per_cpu)
{
	uint32_t number = per_cpu ? lane->cpu_thread : lane->thread;
	struct convert_thread *t;

	if (ARRAY_REACH(a->threads, a->threads_size, number))
		return NULL;
	t = a->threads[number];
	if (!t)
		return a->threads[number] = convert_new_thread(a, lane, per_cpu);
	if (lane->comm.number != t->comm.number && lane->comm.size && !per_cpu) {
		if (t->comm.size)
			a->counts.comms++;
		else
			t->comm = lane->comm;
	}
	return t;
}

/* --- fields of events as numbers of a size, or as text --- */

static void plan_field(struct convert_field *w, const struct field *f)
{
	*w = (struct convert_field){.from = f};
	if (f->count > 1 || f->where > WHERE_TAIL ||
	    (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8))
		return;
	if (f->kind == FIELD_UINT || f->kind == FIELD_HEX || f->kind == FIELD_BITMASK ||
	    (f->kind == FIELD_CHAR && f->size == 1)) {
		w->size = (uint8_t)f->size;
	} else if (f->kind == FIELD_INT || (f->kind == FIELD_ENUM && !f->definition)) {
		w->size = (uint8_t)f->size;
		w->is_signed = true;
	}
}

/* Test for the fields of ftrace's own calls that the row has anyway: the function and the depth. */
static bool is_in_row(const struct field *f)
{
	return f->role == ROLE_ADDRESS || !strcmp(f->name.text, "depth");
}

struct convert_field *convert_fields_plan(const struct type *t, uint32_t most, bool all,
					  uint32_t *n, uint64_t *lost)
{
	struct convert_field *fields = calloc(t->nfields + (size_t)1, sizeof *fields);
	bool call = t->kind == KIND_ENTER || t->kind == KIND_LEAVE;

	bool ftrace = call && !strcmp(t->group.text, "ftrace");

	*n = 0;
	if (ftrace && !all)
		return fields;
	for (uint32_t i = 0; fields && i < t->nfields; i++) {
		const struct field *f = &t->fields[i];

		if (convert_is_own_field(t, f) || (call && f->role == ROLE_CALL) ||
		    (ftrace && is_in_row(f)) || (!all && convert_is_repeated(t, f)))
			continue;
		if (*n == most)
			++*lost;
		else
			plan_field(&fields[(*n)++], f);
	}
	return fields;
}

uint64_t convert_field_number(const struct convert_field *w, const struct event *ev)
{
	struct field_value v;

	field_get(ev, w->from, 0, &v);
	return v.form == FORM_NONE ? 0 : v.u;
}

int convert_field_text(struct buffer *b, const struct dictionary *d, const struct convert_field *w,
		       const struct event *ev)
{
	struct field_value v;

	field_get(ev, w->from, 0, &v);
	if (v.form == FORM_NONE)
		return 0;
	if (v.form == FORM_TEXT && w->from->kind != FIELD_BYTES && w->from->kind != FIELD_BITMAP)
		return buffer_append(b, v.text, v.size);
	return convert_text_field(b, d, ev, w->from);
}

/* --- as values --- */

static int convert_put_scalar(void *to, const struct value_item *item)
{
	const struct value *v = &item->value;
	bool is_signed;
	uint64_t n;

	switch (v->tag) {
	case VALUE_POINTER: return value_put_uint(to, VALUE_POINTER, v->number);
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return value_put_float(to, v->bytes, v->size);
	case VALUE_STRING: return value_put_bytes(to, VALUE_STRING, v->bytes, v->n);
	case VALUE_BYTES: return value_put_bytes(to, VALUE_BLOB, v->bytes, v->n);
	}
	if (!value_integer(v, item->definition, &n, &is_signed))
		return value_put_simple(to, VALUE_NULL);
	return is_signed && (int64_t)n < 0 ? value_put_uint(to, VALUE_NEGATIVE, -n)
					   : value_put_uint(to, VALUE_UINT, n);
}

static int convert_put_array(void *to, const struct value_parent *v, const struct values *rest)
{
	(void)rest;
	return value_put_array(to, v->count);
}

static const struct value_style field_style = {.scalar = convert_put_scalar,
					       .begin = convert_put_array};

int convert_field_value(struct buffer *b, const struct convert_field *field, const struct event *ev,
			enum detail_kind what, uint64_t index)
{
	return value_put_detail(b, what, index) || field_walk(&field_style, b, ev, field->from) ? -1
												: 0;
}

/* --- as arguments --- */

const struct convert_fields *convert_arguments_fields(struct convert_arguments *a,
						      const struct type *t)
{
	struct convert_fields *fields;

	if (ARRAY_REACH(a->types, a->size, t->number))
		return NULL;
	fields = &a->types[t->number];
	if (!fields->list)
		fields->list = convert_fields_plan(t, a->most, false, &fields->n, &a->lost);
	return fields->list ? fields : NULL;
}

/* Get the number of names that the location of a row has for its arguments: fields follow. */
static uint32_t convert_arguments_named(const struct convert_arguments *a, const struct event *ev)
{
	const struct location *location = dictionary_location(a->dictionary, ev->location);

	return location && location->arguments ? location->arguments->count : 0;
}

int convert_arguments_join(struct convert_arguments *a, const struct event *ev, struct event *out)
{
	const struct convert_fields *fields = convert_arguments_fields(a, ev->type);
	bool values = ev->type->flags & TYPE_VALUES;
	uint32_t named;

	if (!fields)
		return -1;
	*out = *ev;
	if (!fields->n && values)
		return 0;
	a->values.size = 0;
	if (values && buffer_append(&a->values, ev->tail, ev->tail_size))
		return -1;
	named = convert_arguments_named(a, ev);
	for (uint32_t i = 0; i < fields->n; i++) {
		bool result = convert_is_return(ev->type, fields->list[i].from);

		if (convert_field_value(&a->values, &fields->list[i], ev,
					result ? DETAIL_RETURN : DETAIL_ARGUMENT,
					result ? 0 : named + i + 1))
			return -1;
	}
	out->tail = a->values.data;
	out->tail_size = (uint32_t)a->values.size;
	return 0;
}

void convert_arguments_free(struct convert_arguments *a)
{
	for (size_t i = 0; i < a->size; i++)
		free(a->types[i].list);
	free(a->types);
	buffer_free(&a->values);
}

/* --- the dictionary that a native encoder gets from a converted trace --- */

enum { META_MOST = 60 * 1024 };

static struct text_ref target_dictionary_text_of(struct target_dictionary *d, const char *text)
{
	return dictionary_text(&d->dictionary, text, strlen(text));
}

static void target_free(struct target_dictionary *d)
{
	if (!d->encoding.encoder)
		return;
	d->encoding.encoder->free(&d->encoding);
	for (size_t i = 0; i < d->nkept; i++)
		free(d->kept[i]);
	free(d->kept);
	intern_free(&d->lane_keys);
	dictionary_free(&d->dictionary);
	d->encoding.encoder = NULL;
}

static struct lane *target_lane(struct target_dictionary *d)
{
	struct lane *l = pool_add(&d->dictionary.lanes);

	if (l)
		*l = (struct lane){.number = d->dictionary.lanes.count - 1,
				   .source = d->source,
				   .clock = d->clock,
				   .buffer = target_dictionary_text_of(d, ""),
				   .comm = target_dictionary_text_of(d, "")};
	return l;
}

const struct lane *convert_thread_lane(struct conversion *a, struct convert_thread *t)
{
	struct lane *l = t->lane ? NULL : target_lane(&a->d);

	if (!l)
		return t->lane;
	l->flags = LANE_HAS_TID | LANE_HAS_PID;
	l->tid = t->tid;
	l->pid = t->pid;
	l->thread = t->number;
	return t->lane = l;
}

/* Get the epoch of a row of that time, from 0. */
static uint32_t epoch_at(struct conversion *a, uint64_t time)
{
	a->clock_epoch.count += a->clock_epoch.border && time < a->clock_epoch.latest;
	a->clock_epoch.border = false;
	if (time > a->clock_epoch.latest)
		a->clock_epoch.latest = time;
	return a->clock_epoch.count;
}

/* Name the buffer of an epoch: a later epoch has its own buffers, "NAME~2" and so on. */
static int name_buffer(struct target_dictionary *d, struct lane *l, struct text_ref name,
		       uint32_t epoch)
{
	struct buffer b = {0};
	int bad;

	l->buffer = name;
	if (!epoch)
		return 0;
	bad = buffer_append(&b, name.text, name.size) || buffer_printf(&b, "~%" PRIu32, epoch + 1);
	if (!bad)
		l->buffer = target_string(d, b.data, b.size);
	buffer_free(&b);
	return bad ? -1 : 0;
}

const struct lane *convert_buffer_lane(struct conversion *a, struct text_ref buffer, uint32_t cpu,
				       uint64_t time)
{
	struct target_dictionary *d = &a->d;
	uint32_t key[] = {buffer.number, cpu, epoch_at(a, time)}, number;
	struct lane *l;

	number = intern(&d->lane_keys, key, sizeof key);
	if (number == INTERN_NONE)
		return NULL;
	if (number + 1 < d->dictionary.lanes.count)
		return dictionary_lane(&d->dictionary, number + 1);
	l = target_lane(d);
	if (!l || name_buffer(d, l, buffer, key[2]))
		return NULL;
	l->flags = LANE_HAS_CPU;
	l->cpu = (int32_t)cpu;
	return l;
}

struct type *target_type(struct target_dictionary *d, const char *name, const char *group)
{
	struct type *t = pool_add(&d->dictionary.types);

	if (t)
		*t = (struct type){.number = d->dictionary.types.count - 1,
				   .name = target_dictionary_text_of(d, name),
				   .group = target_dictionary_text_of(d, group),
				   .declaration = target_dictionary_text_of(d, ""),
				   .word_size = 8,
				   .source = d->source};
	return t;
}

/* Declare the type of gaps, with the fixed part of a gap, and a message. */
static struct type *target_gap(struct target_dictionary *d)
{
	struct type *t = target_type(d, "gap", "");

	if (!t)
		return NULL;
	t->kind = KIND_GAP;
	t->flags = TYPE_TAIL;
	t->fixed_size = 24;
	return t;
}

int convert_put_gap(struct conversion *a, const struct convert_row *r, const struct lane *lane,
		    struct error *e)
{
	struct event ev = *r->ev;

	if (!lane)
		return error_no_memory(e);
	if (ev.type->fixed_size < 24)
		return 0;
	ev.time = r->time;
	ev.type = a->d.gap;
	ev.lane = lane;
	return target_event(&a->d, &ev, e);
}

/* Make the dictionary, and begin the native encoder with the options and the output of en. */
static int target_begin(struct target_dictionary *d, const struct encoder *native,
			const char *format, const struct encoding *en, struct error *e)
{
	struct dictionary *dictionary = &d->dictionary;

	*d = (struct target_dictionary){.encoding = *en};
	d->encoding.calls = NULL;
	d->encoding.encoder = native;
	d->encoding.dictionary = dictionary;
	d->encoding.state = NULL;
	if (dictionary_init(dictionary))
		return error_no_memory(e);
	d->source = pool_add(&dictionary->sources);
	d->clock = pool_add(&dictionary->clocks);
	if (!d->source || !d->clock)
		return error_no_memory(e);
	*d->source = (struct source){.number = dictionary->sources.count - 1,
				     .format = target_dictionary_text_of(d, format),
				     .name = target_dictionary_text_of(d, "the converted trace"),
				     .word_size = 8,
				     .stream = 1};
	*d->clock = (struct clock){.number = dictionary->clocks.count - 1,
				   .name = target_dictionary_text_of(d, "")};
	d->gap = target_gap(d);
	return d->gap ? native->begin(&d->encoding, e) : error_no_memory(e);
}

/* Allocate memory that lives as long as the dictionary. */
static void *convert_keep(struct target_dictionary *d, size_t n, size_t element)
{
	void *p = calloc(n + 1, element);

	if (!p || ARRAY_GROW(d->kept, d->kept_capacity, d->nkept)) {
		free(p);
		return NULL;
	}
	return d->kept[d->nkept++] = p;
}

struct field *target_fields(struct target_dictionary *d, uint32_t n)
{
	struct field *f = convert_keep(d, n, sizeof *f);

	for (uint32_t i = 0; f && i < n; i++)
		f[i].name = f[i].type_name = target_dictionary_text_of(d, "");
	return f;
}

struct member *target_members(struct target_dictionary *d, uint32_t n)
{
	struct member *m = convert_keep(d, n, sizeof *m);

	for (uint32_t i = 0; m && i < n; i++)
		m[i].name = target_dictionary_text_of(d, "");
	return m;
}

struct text_ref target_string(struct target_dictionary *d, const void *text, size_t n)
{
	return dictionary_text(&d->dictionary, text, n);
}

struct location *target_location(struct target_dictionary *d)
{
	struct location *p = pool_add(&d->dictionary.locations);

	if (p)
		*p = (struct location){.number = d->dictionary.locations.count - 1,
				       .name = target_dictionary_text_of(d, "")};
	return p;
}

int target_meta(struct target_dictionary *d, const char *name, const void *data, size_t n,
		uint64_t offset, struct error *e)
{
	const uint8_t *p = data; /* NULL: it is empty */

	for (;;) {
		size_t part = n < META_MOST ? n : META_MOST;
		struct meta m = {.source = d->source->number,
				 .offset = offset,
				 .total = offset + n,
				 .name = name,
				 .name_size = (uint32_t)strlen(name),
				 .data = p,
				 .size = part};

		if (d->encoding.encoder->meta(&d->encoding, &m, e))
			return -1;
		n -= part;
		if (!n)
			return 0;
		p += part;
		offset += part;
	}
}

/* --- restored calls --- */

int restored_calls_add(struct restored_calls *r, const struct calls *c, const struct event *enter,
		       const struct call *call)
{
	struct restored_call *list;
	const struct stack *s = calls_stack(c, enter);

	if (ARRAY_GROW(r->list, r->capacity, r->count))
		return -1;
	list = &r->list[r->count++];
	*list = (struct restored_call){.enter = *enter, .order = r->count};
	if (enter->type->flags & TYPE_CALL_NUMBER && !c->numbers_on_stacks) {
		list->index = c->data_size ? (size_t)((uint8_t *)call->data - c->numbered.data) /
						     c->data_size
					   : 0;
	} else {
		list->stack = s;
		list->index = s->count - 1;
	}
	return 0;
}

static int convert_by_time(const void *a, const void *b)
{
	const struct restored_call *x = a, *y = b;

	if (x->enter.time != y->enter.time)
		return x->enter.time > y->enter.time ? 1 : -1;
	return x->order > y->order ? 1 : -1;
}

size_t restored_calls_sort(struct restored_calls *r)
{
	size_t n = r->count;

	if (n)
		qsort(r->list, n, sizeof *r->list, convert_by_time);
	r->count = 0;
	return n;
}

/* --- overlap --- */

enum { ROWS_MOST = 4096, BYTES_MOST = 1 << 20, OPEN_MOST = 1 << 20 };

/* states of a row in the ring */
enum { READY, WAITING, LEFT_OUT };

/* The data of an open call. */
struct overlap_call {
	uint64_t row; /* number of its enter's row + 1; 0: it does not wait */
	uint32_t number;
	bool numbered; /* has a number, and was not left */
};

static struct overlap_row *overlap_row_at(struct overlap *o, uint64_t number)
{
	return &o->rows[(o->first + (size_t)(number - o->number)) & (o->capacity - 1)];
}

/* Set the state of a call's enter, if it waits. Returns whether it does. */
static bool overlap_decide(struct overlap *o, const struct overlap_call *c, uint8_t state)
{
	if (c->row <= o->number)
		return false;
	overlap_row_at(o, c->row - 1)->state = state;
	o->left_out += state == LEFT_OUT;
	return true;
}

/* Leave out the leave of a call, too. */
static int overlap_leave_out(struct overlap *o, uint32_t source, uint32_t call)
{
	return open_calls_count(&o->leave) < OPEN_MOST ? open_calls_put(&o->leave, source, call, 0)
						       : 0;
}

/* Decide a call that waited too long to know whether it nests. In a thread with calls of a stack it
 * must nest, so it is left out there. */
static int overlap_too_long(struct overlap *o, struct overlap_row *r)
{
	uint32_t call = 0;

	if (!o->calls.stacks[calls_thread(&r->ev)]->started || !field_call(&r->ev, &call))
		return 0;
	r->state = LEFT_OUT;
	o->left_out++;
	return overlap_leave_out(o, r->ev.lane->source->number, call);
}

/* Pass the first rows that need not wait to next. force: the first row, even if it waits. */
static int overlap_flush(struct overlap *o, bool force, struct error *e)
{
	while (o->count) {
		struct overlap_row *r = &o->rows[o->first];

		if (r->state == WAITING && !force)
			break;
		if (r->state == WAITING && overlap_too_long(o, r))
			return error_no_memory(e);
		force = false;
		if (r->state != LEFT_OUT && o->next(o->ctx, &r->ev, e))
			return -1;
		o->bytes -= r->size;
		free(r->data);
		r->data = NULL;
		o->first = (o->first + 1) & (o->capacity - 1);
		o->count--;
		o->number++;
	}
	return 0;
}

static int overlap_grow(struct overlap *o)
{
	size_t capacity = o->capacity ? 2 * o->capacity : 64;
	struct overlap_row *rows = calloc(capacity, sizeof *rows);

	if (!rows)
		return -1;
	for (size_t i = 0; i < o->count; i++)
		rows[i] = o->rows[(o->first + i) & (o->capacity - 1)];
	free(o->rows);
	o->rows = rows;
	o->capacity = capacity;
	o->first = 0;
	return 0;
}

/* Append a row to the waiting rows, or pass it to next at once if none waits. */
static int overlap_put(struct overlap *o, const struct event *ev, uint8_t state, struct error *e)
{
	size_t fixed = align_up(ev->type->fixed_size, 8), size = fixed + ev->tail_size;
	struct overlap_row *r;

	if (!o->count && state == READY) {
		o->number++;
		return o->next(o->ctx, ev, e);
	}
	while (o->count && (o->count >= ROWS_MOST || o->bytes + size > BYTES_MOST))
		if (overlap_flush(o, true, e))
			return -1;
	if (o->count == o->capacity && overlap_grow(o))
		return error_no_memory(e);
	r = &o->rows[(o->first + o->count) & (o->capacity - 1)];
	*r = (struct overlap_row){.ev = *ev, .size = size, .state = state};
	r->data = malloc(size + 1);
	if (!r->data)
		return error_no_memory(e);
	if (ev->type->fixed_size)
		memcpy(r->data, ev->fixed, ev->type->fixed_size);
	if (ev->tail_size)
		memcpy(r->data + fixed, ev->tail, ev->tail_size);
	r->ev.fixed = r->data;
	r->ev.tail = ev->tail ? r->data + fixed : NULL;
	o->bytes += size;
	o->count++;
	return overlap_flush(o, false, e);
}

/* Leave out a call with a number that is open while a call below it is left. */
static void overlap_lose(void *ctx, struct stack *s, const struct frame *f, void *data,
			 enum calls_lost why)
{
	struct overlap *o = ctx;
	const struct overlap_call *c = data;
	uint32_t source;

	(void)f;
	(void)why;
	if (!c->numbered)
		return;
	source = s->lane->source->number;
	overlap_decide(o, c, LEFT_OUT);
	/* another call may have its number now */
	if (!open_calls_has(&o->calls.open, source, c->number) &&
	    overlap_leave_out(o, source, c->number))
		o->calls.out_of_memory = true;
}

/* Leave out a call with a number in which a call of the stack is open, if it still waits. */
static bool leave_out_below(struct overlap *o, const struct event *ev, uint32_t call)
{
	const struct stack *s = calls_stack(&o->calls, ev);
	size_t at = s ? s->count : 0, least = at > ROWS_MOST ? at - ROWS_MOST : 0;
	bool stack = false;

	while (at-- > least) {
		struct overlap_call *c = calls_data(&o->calls, s, at);

		stack |= !s->frames[at].numbered;
		if (!c->numbered || c->number != call)
			continue;
		c->numbered = !stack || !overlap_decide(o, c, LEFT_OUT);
		return !c->numbered;
	}
	return false;
}

static int overlap_numbered(struct overlap *o, const struct event *ev, uint32_t call,
			    struct error *e)
{
	const struct stack *s = calls_stack(&o->calls, ev);
	bool enter = ev->type->kind == KIND_ENTER;
	/* in a trace of numbered calls alone the outermost call nests */
	bool waits = enter && ((s && s->count) || !encoder_all_numbered(ev->type));
	struct overlap_call *c;
	struct call done;
	uint64_t none;

	if (open_calls_take(&o->leave, ev->lane->source->number, call, &none) && !enter)
		return 0;
	if (!enter && leave_out_below(o, ev, call))
		return overlap_flush(o, false, e);
	if (calls_next(&o->calls, ev, &done) == CALLS_NONE)
		return o->calls.out_of_memory ? error_no_memory(e) : overlap_put(o, ev, READY, e);
	c = done.data;
	if (enter)
		*c = (struct overlap_call){o->number + o->count + 1, call, true};
	else
		overlap_decide(o, c, READY);
	return overlap_put(o, ev, waits ? WAITING : READY, e);
}

/* Take a call of the stack. */
static int overlap_stack_call(struct overlap *o, const struct event *ev, struct error *e)
{
	struct call done;

	if (o->numbered && !(ev->type->flags & (TYPE_INNER | TYPE_KERNEL | TYPE_PER_CPU)))
		calls_next(&o->calls, ev, &done);
	return o->calls.out_of_memory ? error_no_memory(e) : overlap_put(o, ev, READY, e);
}

int overlap_take(struct overlap *o, const struct event *ev, struct error *e)
{
	uint8_t kind = ev->type->kind;
	uint32_t call;

	if ((kind != KIND_ENTER && kind != KIND_LEAVE && kind != KIND_DROP) ||
	    (o->keeps && o->keeps(ev->type)))
		return overlap_put(o, ev, READY, e);
	if (!(ev->type->flags & TYPE_CALL_NUMBER) || !field_call(ev, &call))
		return overlap_stack_call(o, ev, e);
	if (!o->numbered && o->before && calls_copy(&o->calls, o->before))
		return error_no_memory(e);
	o->numbered = true;
	return overlap_numbered(o, ev, call, e);
}

static int overlap_restore(void *ctx, const struct event *enter, const struct call *call)
{
	struct overlap_call *c = call->data;

	(void)ctx;
	if (enter->type->flags & TYPE_CALL_NUMBER && field_call(enter, &c->number))
		c->numbered = true;
	return 0;
}

static int overlap_restored(void *ctx, bool last)
{
	struct overlap *o = ctx;

	(void)last;
	o->numbered = true;
	return 0;
}

void overlap_init(struct overlap *o, struct dictionary *d, overlap_next *next, void *ctx)
{
	*o = (struct overlap){.next = next, .ctx = ctx};
	calls_init(&o->calls, d);
	o->calls.numbers_on_stacks = true;
	o->calls.data_size = sizeof(struct overlap_call);
	o->calls.on_lost = overlap_lose;
	o->calls.on_restore = overlap_restore;
	o->calls.restored.done = overlap_restored;
	o->calls.on_lost_ctx = o->calls.on_restore_ctx = o->calls.restored.ctx = o;
}

int overlap_end(struct overlap *o, struct error *e)
{
	while (o->count)
		if (overlap_flush(o, true, e))
			return -1;
	return 0;
}

void overlap_free(struct overlap *o)
{
	while (o->count) {
		free(o->rows[o->first].data);
		o->first = (o->first + 1) & (o->capacity - 1);
		o->count--;
	}
	free(o->rows);
	calls_free(&o->calls);
	open_calls_free(&o->leave);
	*o = (struct overlap){0};
}

/*
 * Calls of any source on stacks of their threads, as common/calls pairs them.
 *
 * A leave without a call is left out. If the target needs every leave, a call whose leave was not
 * recorded ends at the next event of its thread. Both are counted.
 */

/* --- rows for the target --- */

static int convert_give(struct conversion *a, const struct convert_row *r, struct error *e)
{
	switch (r->what) {
	case CONVERT_ENTER:
	case CONVERT_LEAVE: return a->target->call(a, r, e);
	case CONVERT_EVENT: return a->target->instant(a, r, e);
	case CONVERT_GAP: break;
	}
	return a->target->gap(a, r, e);
}

static int convert_emit(struct conversion *a, struct convert_row *r, const struct event *ev,
			struct error *e)
{
	const struct clock *clock = ev->lane->clock;
	bool ticks = clock && clock->flags & CLOCK_TICKS;

	r->ev = ev;
	r->time = ev->time;
	if (!r->mark) {
		a->unmarked = UINT32_MAX;
		r->mark = &a->unmarked;
	}
	a->counts.with_time += r->what != CONVERT_GAP && !ticks;
	a->counts.with_buffer += ev->lane->buffer.size && r->what != CONVERT_GAP &&
				 ev->lane->source &&
				 !strcmp(ev->lane->source->format.text, "trace-cmd");
	a->counts.with_wall += clock && clock->flags & CLOCK_HAS_WALL && clock->wall;
	if (a->options->tick && ticks &&
	    (__builtin_mul_overflow(ev->time, a->options->tick, &r->time) ||
	     __builtin_mul_overflow(r->start, a->options->tick, &r->start)))
		return tick_overflow(ev->lane, ev->time, a->options->tick, e);
	return convert_give(a, r, e);
}

static bool is_longjmp(const char *name)
{
	return !strcmp(name, "longjmp") || !strcmp(name, "siglongjmp") ||
	       !strcmp(name, "__longjmp_chk");
}

/* Test whether the target's reader empties the stack itself, by the call on top. */
static bool forgets(struct conversion *a, const struct convert_thread *t, uint32_t location)
{
	if (!a->target->replays || a->ev->type->flags & TYPE_CALL_NUMBER)
		return false;
	return t->lost || calls_enters_exec(a->calls, location) ||
	       is_longjmp(dictionary_location_name(a->dictionary, location).text);
}

/* --- calls of the target --- */

static int target_enter(struct conversion *a, struct convert_thread *t, uint32_t *mark)
{
	struct convert_row r = {.what = CONVERT_ENTER,
				.thread = t,
				.start = a->ev->time,
				.location = a->ev->location,
				.depth = t->below + t->count,
				.mark = mark};

	t->count++;
	return convert_emit(a, &r, a->ev, a->error);
}

static int target_leave(struct conversion *a, struct convert_thread *t, struct convert_frame *f,
			struct convert_row *r)
{
	r->what = CONVERT_LEAVE;
	r->thread = t;
	r->depth = t->below + --t->count;
	r->mark = &f->mark;
	f->open = false;
	return convert_emit(a, r, a->ev, a->error);
}

/* End a call whose leave was not recorded, which is on top in the target. */
static int target_cut(struct conversion *a, struct convert_thread *t, struct convert_frame *f,
		      const struct frame *call, bool kernel)
{
	/* a call in the kernel may outlast the call around it: each has its own clock */
	bool outlasts = kernel && !(a->ev->type->flags & TYPE_KERNEL);

	if (a->lost == FIRST_LOST)
		a->lost = forgets(a, t, call->location) ? FORGOTTEN : CLOSED;
	if (a->lost == CLOSED) {
		a->counts.outlasting += outlasts;
		a->counts.cut += !outlasts;
		if (a->target->closes || outlasts)
			return target_leave(a, t, f,
					    &(struct convert_row){.start = f->start,
								  .location = call->location,
								  .cut = true});
	}
	f->open = false;
	t->count--;
	return 0;
}

/* End the calls in the kernel, as the row is of the thread's other calls. */
static int cut_kernel(struct conversion *a, struct convert_thread *t, const struct stack *kernel)
{
	for (size_t i = kernel ? kernel->count : 0; i--;) {
		struct convert_frame *f = calls_data(a->calls, kernel, i);

		if (f->open && target_cut(a, t, f, &kernel->frames[i], true))
			return -1;
	}
	return 0;
}

static void convert_lose(void *ctx, struct stack *s, const struct frame *f, void *data,
			 enum calls_lost why)
{
	struct conversion *a = ctx;
	struct convert_thread *t = a->threads[s->number];
	const struct stack *base = a->calls->stacks[s->number];
	struct convert_frame *open = data;

	if (!open->open || a->failed)
		return;
	if (why == LOST_NUMBER) {
		a->counts.cut++;
		return;
	}
	a->failed =
		(s == base && cut_kernel(a, t, s->kernel)) || target_cut(a, t, open, f, s != base);
}

/* --- calls of the source --- */

/* Emit a row of a call with a number, for a target that has such calls. */
static int convert_numbered(struct conversion *a, struct convert_thread *t, enum convert_what what,
			    uint32_t location, struct convert_frame *f)
{
	struct convert_row r = {.what = what,
				.thread = t,
				.location = location,
				.start = a->ev->time,
				.mark = &f->mark};

	f->open = f->numbered = what == CONVERT_ENTER;
	return convert_emit(a, &r, a->ev, a->error);
}

static int convert_enter(struct conversion *a, struct convert_thread *t, struct convert_frame *f)
{
	const struct stack *base = a->calls->stacks[calls_thread(a->ev)];
	uint32_t below;

	f->open = true;
	f->start = a->ev->time;
	f->kernel = calls_stack(a->calls, a->ev) != base;
	if (!f->kernel && cut_kernel(a, t, base->kernel))
		return -1;
	below = base->unseen + (base->count && !base->frames[0].begun);
	if (!t->count && (!t->begun || t->below > below))
		t->below = below;
	t->begun = true;
	return target_enter(a, t, &f->mark);
}

static int convert_leave(struct conversion *a, struct convert_thread *t, const struct call *done)
{
	struct convert_frame *f = done->data;
	struct convert_row r = {.start = f ? f->start : done->start, .location = done->location};
	bool kernel = f ? f->kernel : a->ev->type->flags & TYPE_KERNEL;

	if (!kernel && cut_kernel(a, t, a->calls->stacks[calls_thread(a->ev)]->kernel))
		return -1;
	if (f)
		return f->open ? target_leave(a, t, f, &r) : 0;
	/* the target's readers know what is open */
	if (t->count || (t->begun && t->below <= done->level)) {
		a->counts.unmatched++;
		return 0;
	}
	r.what = CONVERT_LEAVE;
	r.thread = t;
	r.depth = t->below = done->level;
	r.unseen = true;
	t->begun = true;
	return convert_emit(a, &r, a->ev, a->error);
}

/* Emit the enter or leave of a call that need not nest, unchanged. */
static int convert_unchanged(struct conversion *a, struct convert_thread *t, const struct event *ev,
			     struct error *e)
{
	struct convert_row r = {
		.what = ev->type->kind == KIND_ENTER ? CONVERT_ENTER : CONVERT_LEAVE,
		.thread = t,
		.start = ev->time,
		.location = ev->location,
		.depth = ev->type->flags & TYPE_INNER ? t->below + t->count : ev->depth};

	return convert_emit(a, &r, ev, e);
}

static int convert_call(struct conversion *a, struct convert_thread *t, const struct event *ev,
			struct error *e)
{
	bool numbered = ev->type->flags & TYPE_CALL_NUMBER;
	uint64_t unmatched = a->calls->counts.unmatched;
	enum calls_result got;
	struct call done;

	got = calls_next(a->calls, ev, &done);
	if (a->failed)
		return -1;
	if (a->calls->out_of_memory)
		return error_no_memory(e);
	if (ev->type->kind == KIND_DROP)
		return 0;
	if (a->target->keeps_kernel && ev->type->flags & (TYPE_KERNEL | TYPE_INNER)) {
		a->calls->counts.unmatched = unmatched;
		return convert_unchanged(a, t, ev, e);
	}
	if (got == CALLS_NONE)
		return 0;
	if (numbered && !a->target->nests)
		return convert_numbered(a, t, got == CALLS_ENTER ? CONVERT_ENTER : CONVERT_LEAVE,
					done.location, done.data);
	t->lost = t->lost && numbered && got == CALLS_ENTER;
	return got == CALLS_ENTER ? convert_enter(a, t, done.data) : convert_leave(a, t, &done);
}

/* --- calls of calls_restore --- */

/* End a call that is open in the target, but maybe not in the trace: a part of it is missing. */
static void convert_forget(void *ctx, struct stack *s, const struct frame *f, void *data)
{
	static const struct type type = {
		.kind = KIND_LEAVE, .name = {"", 0, 0}, .group = {"", 0, 0}, .word_size = 8};
	struct conversion *a = ctx;
	const struct stack *base = a->calls->stacks[s->number];
	struct event ev = {.type = &type, .lane = base->lane, .time = base->last};
	struct convert_frame *open = data;

	if (!open->open || a->failed)
		return;
	if (open->numbered) {
		a->counts.cut++;
		return;
	}
	a->ev = &ev;
	a->error = a->calls->restored.error;
	a->lost = CLOSED;
	a->failed = target_cut(a, a->threads[s->number], open, f, false);
}

static int convert_restore(void *ctx, const struct event *enter, const struct call *call)
{
	struct conversion *a = ctx;

	if (!a->failed && restored_calls_add(&a->restored, a->calls, enter, call))
		a->failed = error_no_memory(a->calls->restored.error);
	return a->failed ? -1 : 0;
}

/* Test whether a call in the kernel has ended in the target, by a later row of the thread's other
 * calls (cut_kernel). */
static bool was_cut(const struct conversion *a, const struct restored_call *r)
{
	const struct stack *base = a->calls->stacks[r->stack->number];

	return r->stack != base && (base->passed || r->enter.time < base->kernel_since);
}

/* Begin an open call. */
static int convert_begin_call(struct conversion *a, const struct restored_call *r, struct error *e)
{
	const struct event *ev = &r->enter;
	struct convert_thread *t = convert_thread(a, ev->lane, ev->type->flags & TYPE_PER_CPU);
	struct convert_frame *f;

	if (!t)
		return error_no_memory(e);
	if (a->target->keeps_kernel && ev->type->flags & (TYPE_KERNEL | TYPE_INNER))
		return convert_unchanged(a, t, ev, e);
	if (a->target->keeps && a->target->keeps(ev->type))
		return convert_emit(a, &(struct convert_row){.what = CONVERT_EVENT, .thread = t},
				    ev, e);
	if (r->stack && (r->stack->frames[0].outside || was_cut(a, r)))
		return 0;
	a->ev = ev;
	f = r->stack ? calls_data(a->calls, r->stack, r->index)
		     : calls_numbered_data(a->calls, r->index);
	return r->stack ? convert_enter(a, t, f)
			: convert_numbered(a, t, CONVERT_ENTER, ev->location, f);
}

/* --- all rows --- */

static int convert_take(void *ctx, const struct event *ev, struct error *e)
{
	struct conversion *a = ctx;
	uint8_t kind = ev->type->kind;
	bool call = kind == KIND_ENTER || kind == KIND_LEAVE || kind == KIND_DROP;
	bool no_thread = kind == KIND_GAP && !(ev->lane->flags & LANE_HAS_TID);
	struct convert_row r = {.what = kind == KIND_GAP ? CONVERT_GAP : CONVERT_EVENT};
	struct convert_thread *t;
	struct values frames;
	struct call done;
	uint64_t count;

	t = no_thread ? NULL : convert_thread(a, ev->lane, call && ev->type->flags & TYPE_PER_CPU);
	if (!t && !no_thread)
		return error_no_memory(e);
	r.thread = t;
	a->rows++;
	a->counts.backtraces += argument_backtrace(ev, &frames, &count);
	a->ev = ev;
	a->error = e;
	a->lost = FIRST_LOST;
	if (call && a->target->keeps && a->target->keeps(ev->type))
		return convert_emit(a, &r, ev, e);
	if (call)
		return convert_call(a, t, ev, e);
	/* open calls last until this row */
	calls_next(a->calls, ev, &done);
	if (convert_emit(a, &r, ev, e))
		return -1;
	if (t)
		t->lost |= kind == KIND_GAP;
	return 0;
}

static int convert_start(struct conversion *a, const struct lane *lane, struct error *e)
{
	a->begun = true;
	return a->target->begin ? a->target->begin(a, lane, e) : 0;
}

/* Begin the trace at its first event, and check the clock of each. */
static int check_clock(struct conversion *a, const struct event *ev, struct error *e)
{
	const struct source *source = ev->lane->source;
	bool ticks = ev->lane->clock && ev->lane->clock->flags & CLOCK_TICKS;

	if (!a->begun && convert_start(a, ev->lane, e))
		return -1;
	if (ticks && a->options->tick)
		return 0;
	if (ticks && a->target->needs_time)
		return error_set(e, source ? source->name.text : NULL, NO_OFFSET,
				 "the clock of the trace counts ticks%s; " TICK_HINT,
				 source && !strcmp(source->format.text, "apitrace")
					 ? ", one for each call and return"
					 : "");
	clocks_note(&a->clocks, ev->lane);
	return clocks_check(&a->clocks, TICK_HINT, e);
}

static int convert_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct conversion *a = en->state;

	if (check_clock(a, ev, e))
		return -1;
	a->counts.with_cpu += ev->lane->flags & LANE_HAS_CPU && ev->type->kind != KIND_GAP;
	return a->target->nests ? overlap_take(&a->overlap, ev, e) : convert_take(a, ev, e);
}

/* Begin the open calls, at the times of their enters. No row waits: a HEAD precedes them. */
static int convert_restored(void *ctx, bool last)
{
	struct conversion *a = ctx;
	size_t n = restored_calls_sort(&a->restored);

	(void)last;
	a->error = a->calls->restored.error;
	for (size_t i = 0; i < n && !a->failed; i++)
		if (check_clock(a, &a->restored.list[i].enter, a->error) ||
		    convert_begin_call(a, &a->restored.list[i], a->error))
			return -1;
	return a->failed ? -1 : 0;
}

/* --- report what a conversion could not keep --- */

void convert_use_location(struct conversion *a, uint32_t location)
{
	const struct location *p = dictionary_location(a->dictionary, location);

	if (ARRAY_REACH(a->used, a->used_size, location))
		return;
	a->counts.unnamed += !a->used[location] && p && !p->symbol && !p->name.size;
	a->used[location] = 1;
}

/* Report on stderr what could not be kept of the calls and threads, a line each. The calls end. */
static void convert_report(struct conversion *a)
{
	bool kernel = a->target->keeps_kernel;
	struct call done;

	a->calls->on_lost = NULL;
	while (calls_finish(a->calls, &done))
		a->counts.open++;
	convert_lost(a, a->counts.unnamed,
		     "{function is|functions are} named by {its address|their addresses}: run "
		     "trsym before trencode");
	convert_lost(a, a->counts.open, "{call|calls} had not returned at the end of the trace");
	convert_lost(a, a->counts.unmatched + a->calls->counts.unmatched,
		     "{return|returns} without a call {is|are} left out");
	convert_lost(a, a->counts.cut,
		     a->target->closes ? CALLS_CUT "closed at the next event of {its|their} thread"
				       : CALLS_CUT "written without one");
	convert_lost(a, a->counts.outlasting,
		     "{kernel call outlasts its caller and is|kernel calls outlast their callers "
		     "and are} closed with {it|them}; the time after that is the caller's");
	convert_lost(a, kernel ? 0 : a->calls->counts.ignored_kernel, CALLS_IGNORED_KERNEL);
	convert_lost(a, kernel ? 0 : a->calls->counts.ignored_inner, CALLS_IGNORED_INNER);
	convert_lost(a, a->overlap.left_out,
		     "{call that overlaps another of its thread is|calls that overlap others of "
		     "their threads are} left out");
	convert_lost(a, a->target->buffers ? 0 : a->counts.with_buffer,
		     "{event is|events are} written without the name of {its buffer|their buffers} "
		     "(instances of ftrace)");
	convert_lost(a, a->counts.backtraces,
		     "back {trace of a call is|traces of calls are} left out");
	convert_lost(a, a->ids.renamed, THREAD_IDS_RENAMED);
}

void convert_report_calls(const struct calls_counts *c, uint64_t cut, bool drop, bool keeps_open)
{
	remark_count(c->unfinished, "{call|calls} had not returned at the end of the trace: %s",
		     drop	  ? "dropped"
		     : keeps_open ? "written without an end"
				  : "closed at their thread's last event");
	remark_count(cut, CALLS_CUT "%s",
		     drop ? "dropped" : "closed at the next event of their thread");
	remark_count(c->unmatched, "{return|returns} without a call: left out");
	remark_count(c->ignored_kernel, CALLS_IGNORED_KERNEL);
	remark_count(c->ignored_inner, CALLS_IGNORED_INNER);
}

/* --- the encoder of all conversions --- */

static void convert_calls_init(struct conversion *a)
{
	a->calls->numbers_on_stacks = a->target->nests;
	a->calls->data_size = sizeof(struct convert_frame);
	a->calls->on_lost = convert_lose;
	a->calls->on_forget = convert_forget;
	a->calls->on_restore = convert_restore;
	a->calls->restored.done = convert_restored;
	a->calls->on_lost_ctx = a->calls->on_restore_ctx = a->calls->restored.ctx = a;
	overlap_init(&a->overlap, a->dictionary, convert_take, a);
	a->overlap.before = a->calls;
	a->overlap.keeps = a->target->keeps;
}

static int conversion_begin(struct encoding *en, struct error *e)
{
	const struct convert_target *target = en->target;
	struct conversion *a = en->state = calloc(1, target->state_size);

	if (!a)
		return error_no_memory(e);
	*a = (struct conversion){
		.target = target, .dictionary = en->dictionary, .options = en->options};
	a->ids.no_zero = target->no_zero;
	a->ids.zero = target->zero;
	a->ids.no_cpus = target->no_cpus;
	a->calls = en->calls;
	convert_calls_init(a);
	en->overlapping = target->nests ? &a->overlap.calls : NULL;
	if (target_begin(&a->d, target->native, target->format, en, e))
		return -1;
	return target->init ? target->init(a, e) : 0;
}

int convert_begin_late(struct encoding *en, struct encoding *native, struct error *e)
{
	bool takes = en->target->take_over;
	int result;

	/* two encoders cannot write to one directory */
	if (!takes)
		native->encoder->free(native);
	result = conversion_begin(en, e);
	if (!takes)
		return result;
	if (!result)
		en->target->take_over(en->state, native->state);
	native->encoder->free(native);
	return result;
}

static int conversion_head(struct encoding *en, const struct head *h, struct error *e)
{
	struct conversion *a = en->state;

	/* the ids of a segment are new */
	if (overlap_end(&a->overlap, e))
		return -1;
	/* the next segment of the same stream continues it */
	a->clock_epoch.border |=
		a->clock_epoch.begun && (h->stream_id != a->clock_epoch.stream_id ||
					 h->sequence != a->clock_epoch.sequence + 1);
	a->clock_epoch.begun = true;
	a->clock_epoch.stream_id = h->stream_id;
	a->clock_epoch.sequence = h->sequence;
	return 0;
}

static int conversion_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	return en->target->meta ? en->target->meta(en->state, m, e) : 0;
}

static int convert_conversion_end(struct encoding *en, struct error *e)
{
	struct conversion *a = en->state;

	/* begin the trace, if it has no event; and convert the rows that wait */
	if ((!a->begun && convert_start(a, NULL, e)) || overlap_end(&a->overlap, e) ||
	    a->target->end(a, e) || a->target->native->end(&a->d.encoding, e))
		return -1;
	convert_report(a);
	a->target->report(a);
	return 0;
}

static uint64_t conversion_size(const struct encoding *en)
{
	const struct conversion *a = en->state;
	const struct encoder *native = en->target->native;

	return native->size ? native->size(&a->d.encoding) : en->out->written;
}

static void conversion_free(struct encoding *en)
{
	struct conversion *a = en->state;

	if (!a)
		return;
	target_free(&a->d);
	overlap_free(&a->overlap);
	free(a->restored.list);
	for (size_t i = 0; i < a->nthreads; i++)
		free(a->by_number[i]);
	free(a->by_number);
	free(a->threads);
	thread_ids_free(&a->ids);
	free(a->used);
	a->target->drop(a);
	free(a);
	en->state = NULL;
}

const struct encoder encoder_conversion = {
	.begin = conversion_begin,
	.head = conversion_head,
	.meta = conversion_meta,
	.drops = true,
	.event = convert_event,
	.end = convert_conversion_end,
	.size = conversion_size,
	.free = conversion_free,
};
