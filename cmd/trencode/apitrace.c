/*
 * apitrace.c - the encoder of apitrace's .trace
 *
 * What trdecode made of a trace becomes that trace again: the same bytes before they are packed,
 * but for numbers that stood there in a longer form than they need. Of a filtered stream calls are
 * numbered anew, and definitions stand where they are first used.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "apitrace_pack.h"
#include "common/open_calls.h"
#include "common/value.h"
#include "encoder.h"

struct state {
	struct dictionary *dictionary;
	struct pack pack;
	struct buffer header;	     /* of the source told last, as it comes */
	uint32_t header_source;	     /* whose it is, by number */
	const struct source *source; /* whose events are being written; NULL: none yet */
	struct intern done;	     /* sources written before, by number */
	uint64_t version;
	uint8_t *defined, *called; /* by number of the definition, of the place */
	size_t defined_size, called_size;
	struct open_calls open; /* number in the stream to number in the output */
	uint32_t call;		/* of the next enter */
	uint64_t unmatched, foreign, gaps;
	bool quiet;
};

static int no_memory(struct error *e)
{
	return error_set(e, NULL, NO_OFFSET, "out of memory");
}

static int begin(struct encoding *en, struct error *e)
{
	struct state *s = calloc(1, sizeof *s);

	if (!s)
		return no_memory(e);
	en->state = s;
	s->dictionary = en->dictionary;
	s->quiet = en->options->quiet;
	return pack_open(&s->pack, &en->options->compress, en->out, e);
}

static void free_state(struct encoding *en)
{
	struct state *s = en->state;

	if (!s)
		return;
	pack_close(&s->pack);
	buffer_free(&s->header);
	intern_free(&s->done);
	open_calls_free(&s->open);
	free(s->defined);
	free(s->called);
	free(s);
}

/* Was this one there before? It is now. -1: out of memory. */
static inline int first(uint8_t **set, size_t *size, uint32_t number)
{
	if (__builtin_expect(number >= *size, 0)) {
		size_t grown = *size ? *size : 256;
		uint8_t *p;

		while (grown <= number)
			grown *= 2;
		p = realloc(*set, grown);
		if (!p)
			return -1;
		memset(p + *size, 0, grown - *size);
		*set = p;
		*size = grown;
	}
	if ((*set)[number])
		return 0;
	(*set)[number] = 1;
	return 1;
}

/* --- the header --- */

static int meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct state *s = en->state;

	if (m->name_size != sizeof APITRACE_META_HEADER - 1 ||
	    memcmp(m->name, APITRACE_META_HEADER, m->name_size) != 0)
		return 0;
	if (!m->offset)
		s->header.size = 0;
	s->header_source = m->source;
	return m->offset == s->header.size && buffer_append(&s->header, m->data, m->size)
		       ? no_memory(e)
		       : 0;
}

/* Events of another source: a trace of its own behind the first, as apitrace itself writes them
 * when two processes share a file. */
static int begin_trace(struct state *s, const struct source *source, struct error *e)
{
	static const uint8_t latest[] = {APITRACE_LATEST, APITRACE_LATEST, 0};
	uint32_t before = s->done.count;

	if (intern(&s->done, &source->number, sizeof source->number) == INTERN_NONE)
		return no_memory(e);
	if (s->done.count == before)
		return error_set(e, NULL, NO_OFFSET,
				 "traces whose calls are mixed with each other cannot be written "
				 "into one .trace as they are: --anew makes one of them");
	s->source = source;
	s->call = 0;
	open_calls_free(&s->open);
	if (s->defined_size)
		memset(s->defined, 0, s->defined_size);
	if (s->called_size)
		memset(s->called, 0, s->called_size);
	if (s->header.size && s->header_source == source->number) {
		s->version = s->header.data[0];
		pack_put(&s->pack, s->header.data, s->header.size);
	} else {
		s->version = APITRACE_LATEST;
		pack_put(&s->pack, latest, sizeof latest);
	}
	return 0;
}

/* --- definitions --- */

static void put_text(struct pack *p, const struct text_ref *t)
{
	pack_uint(p, t->size);
	pack_put(p, t->text, t->size);
}

static void put_sint(struct pack *p, int64_t n)
{
	pack_byte(p, n < 0 ? APITRACE_SINT : APITRACE_UINT);
	pack_uint(p, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static void put_frame(struct pack *p, const struct definition *d)
{
	static const char *const keys[] = APITRACE_FRAME_NAMES;

	for (uint32_t i = 0; i < d->count; i++) {
		unsigned key = APITRACE_FRAME_MODULE;

		while (key <= APITRACE_FRAME_OFFSET &&
		       strcmp(keys[key], d->members[i].name.text) != 0)
			key++;
		if (key > APITRACE_FRAME_OFFSET)
			break;
		if (key >= APITRACE_FRAME_LINE) {
			pack_byte(p, (uint8_t)key);
			pack_uint(p, d->members[i].value);
		} else if (++i < d->count) {
			pack_byte(p, (uint8_t)key);
			put_text(p, &d->members[i].name);
		}
	}
	pack_byte(p, APITRACE_FRAME_END);
}

static void put_members(struct state *s, const struct definition *d)
{
	struct pack *p = &s->pack;

	if (d->kind == DEFINITION_FRAME) {
		put_frame(p, d);
		return;
	}
	if (d->kind == DEFINITION_ENUM && s->version < APITRACE_ENUM_SETS) {
		/* the id is one name and its value */
		if (d->count) {
			put_text(p, &d->members[0].name);
			put_sint(p, (int64_t)d->members[0].value);
		}
		return;
	}
	if (d->kind == DEFINITION_STRUCT)
		put_text(p, &d->name);
	pack_uint(p, d->count);
	for (uint32_t i = 0; i < d->count; i++) {
		put_text(p, &d->members[i].name);
		if (d->kind == DEFINITION_ENUM)
			put_sint(p, (int64_t)d->members[i].value);
		else if (d->kind == DEFINITION_BITMASK)
			pack_uint(p, d->members[i].value);
	}
}

static int put_definition(struct state *s, uint32_t id, uint32_t kind)
{
	const struct definition *d = dictionary_definition_id(s->dictionary, id);
	int fresh;

	if (!d || d->kind != kind)
		return -1;
	pack_uint(&s->pack, d->native);
	fresh = first(&s->defined, &s->defined_size, d->number);
	if (fresh < 0)
		return -1;
	if (fresh)
		put_members(s, d);
	return 0;
}

static int put_function(struct state *s, const struct place *place)
{
	const struct definition *arguments = place->arguments;
	struct pack *p = &s->pack;
	int fresh = first(&s->called, &s->called_size, place->number);

	pack_uint(p, place->address);
	if (fresh <= 0)
		return fresh;
	put_text(p, &place->name);
	pack_uint(p, arguments ? arguments->count : 0);
	for (uint32_t i = 0; arguments && i < arguments->count; i++)
		put_text(p, &arguments->members[i].name);
	return 0;
}

/* --- values --- */

static int put_value(struct state *s, struct values *v, unsigned nesting);

static int put_values(struct state *s, struct values *v, uint64_t n, unsigned nesting)
{
	if (nesting > VALUE_DEPTH)
		return -1;
	while (n--)
		if (put_value(s, v, nesting + 1))
			return -1;
	return 0;
}

static int put_enum(struct state *s, const struct value *value)
{
	if (put_definition(s, value->definition, DEFINITION_ENUM))
		return -1;
	if (s->version >= APITRACE_ENUM_SETS)
		put_sint(&s->pack, (int64_t)value->number);
	return 0;
}

static int put_value(struct state *s, struct values *v, unsigned nesting)
{
	struct pack *p = &s->pack;
	struct value value;

	if (!values_value(v, &value))
		return -1;
	switch (value.tag) {
	case VALUE_NULL:
	case VALUE_FALSE:
	case VALUE_TRUE: pack_byte(p, value.tag); return 0;
	case VALUE_NEGATIVE:
		pack_byte(p, APITRACE_SINT);
		pack_uint(p, -value.number);
		return 0;
	case VALUE_UINT:
		pack_byte(p, APITRACE_UINT);
		pack_uint(p, value.number);
		return 0;
	case VALUE_POINTER:
		pack_byte(p, APITRACE_OPAQUE);
		pack_uint(p, value.number);
		return 0;
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		pack_byte(p, value.tag);
		pack_put(p, value.bytes, value.n);
		return 0;
	case VALUE_STRING:
	case VALUE_BLOB:
		pack_byte(p, value.tag);
		pack_uint(p, value.n);
		pack_put(p, value.bytes, value.n);
		return 0;
	case VALUE_WSTRING:
		pack_byte(p, APITRACE_WSTRING);
		pack_uint(p, value.number);
		pack_put(p, value.bytes, value.n);
		return 0;
	case VALUE_ENUM: pack_byte(p, APITRACE_ENUM); return put_enum(s, &value);
	case VALUE_BITMASK:
		pack_byte(p, APITRACE_BITMASK);
		if (put_definition(s, value.definition, DEFINITION_BITMASK))
			return -1;
		pack_uint(p, value.number);
		return 0;
	case VALUE_ARRAY:
		pack_byte(p, APITRACE_ARRAY);
		pack_uint(p, value.count);
		return put_values(s, v, value.count, nesting);
	case VALUE_STRUCT:
		pack_byte(p, APITRACE_STRUCT);
		if (put_definition(s, value.definition, DEFINITION_STRUCT))
			return -1;
		return put_values(s, v, value.count, nesting);
	case VALUE_REPR: pack_byte(p, APITRACE_REPR); return put_values(s, v, 2, nesting);
	}
	return -1;
}

static int put_backtrace(struct state *s, struct values *v)
{
	struct value array, frame;

	if (!values_value(v, &array) || array.tag != VALUE_ARRAY)
		return -1;
	pack_byte(&s->pack, APITRACE_BACKTRACE);
	pack_uint(&s->pack, array.count);
	for (uint64_t i = 0; i < array.count; i++)
		if (!values_value(v, &frame) || frame.tag != VALUE_FRAME ||
		    put_definition(s, frame.definition, DEFINITION_FRAME))
			return -1;
	return 0;
}

static int put_details(struct state *s, const struct event *ev)
{
	struct pack *p = &s->pack;
	struct values v;
	struct value flags;
	uint64_t index;
	uint8_t what;

	for (values_begin(&v, ev->tail, ev->tail_size); v.at < v.end;) {
		if (!values_what(&v, &what, &index))
			return -1;
		switch (what) {
		case DETAIL_ARGUMENT:
			if (!index)
				return -1;
			pack_byte(p, APITRACE_ARGUMENT);
			pack_uint(p, index - 1);
			if (put_value(s, &v, 0))
				return -1;
			break;
		case DETAIL_RETURN:
			pack_byte(p, APITRACE_RETURN);
			if (put_value(s, &v, 0))
				return -1;
			break;
		case DETAIL_BACKTRACE:
			if (put_backtrace(s, &v))
				return -1;
			break;
		case DETAIL_FLAGS:
			if (!values_value(&v, &flags))
				return -1;
			pack_byte(p, APITRACE_FLAGS);
			pack_uint(p, flags.number);
			break;
		default:
			if (!values_skip(&v))
				return -1;
		}
	}
	pack_byte(p, APITRACE_END);
	return 0;
}

/* --- events --- */

static int enter(struct state *s, const struct event *ev, uint32_t call)
{
	const struct place *place = dictionary_place(s->dictionary, ev->place);

	if (!place)
		return -1;
	pack_byte(&s->pack, APITRACE_ENTER);
	if (s->version >= APITRACE_THREADS)
		pack_uint(&s->pack, (uint32_t)ev->lane->tid);
	if (put_function(s, place) || put_details(s, ev))
		return -1;
	return open_calls_put(&s->open, 0, call, s->call++);
}

static int leave(struct state *s, const struct event *ev, uint32_t call)
{
	uint64_t number;

	if (!open_calls_take(&s->open, 0, call, &number)) {
		s->unmatched++; /* its enter was left out, or never was there */
		return 0;
	}
	pack_byte(&s->pack, APITRACE_LEAVE);
	pack_uint(&s->pack, (uint32_t)number);
	return put_details(s, ev);
}

static int event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct state *s = en->state;
	uint32_t call;
	int bad = 0;

	if (ev->type->kind == KIND_GAP) {
		s->gaps++;
		return 0;
	}
	if (strcmp(ev->lane->source->format.text, "apitrace") != 0 ||
	    !(ev->type->flags & TYPE_CALL_NUMBER) || !(ev->type->flags & TYPE_VALUES) ||
	    ev->type->fixed_size < APITRACE_FIXED_SIZE) {
		s->foreign++;
		return 0;
	}
	if (ev->lane->source != s->source && begin_trace(s, ev->lane->source, e))
		return -1;
	call = get_u32(ev->fixed + APITRACE_FIXED_CALL);
	if (ev->type->kind == KIND_ENTER)
		bad = enter(s, ev, call);
	else if (ev->type->kind == KIND_LEAVE)
		bad = leave(s, ev, call);
	if (s->pack.error.what[0]) {
		*e = s->pack.error;
		return -1;
	}
	return bad ? error_set(e, NULL, NO_OFFSET,
			       "call %" PRIu32
			       " has values that make no sense, or whose definition "
			       "is missing",
			       call)
		   : 0;
}

static int end(struct encoding *en, struct error *e)
{
	struct state *s = en->state;

	/* a trace without events is its header alone */
	if (!s->source && s->header.size)
		pack_put(&s->pack, s->header.data, s->header.size);
	if (s->foreign && !s->quiet)
		warn(NULL, NO_OFFSET,
		     "%" PRIu64 " events are no calls of an apitrace trace and are left out",
		     s->foreign);
	if (s->gaps && !s->quiet)
		warn(NULL, NO_OFFSET, "%" PRIu64 " gaps cannot be written into a .trace", s->gaps);
	if (s->unmatched && !s->quiet)
		warn(NULL, NO_OFFSET,
		     "%" PRIu64 " returns of calls whose beginning is not there are left out",
		     s->unmatched);
	return pack_finish(&s->pack, e);
}

const struct encoder encoder_apitrace = {
	.name = "apitrace",
	.purpose = "a .trace of apitrace",
	.suffixes = ".trace",
	.anew = &encoder_apitrace_anew,
	.output = ENCODER_FILE,
	.begin = begin,
	.meta = meta,
	.event = event,
	.end = end,
	.free = free_state,
};
