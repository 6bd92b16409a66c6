/*
 * convert_events.c - events of any source as user events of uftrace
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/uftrace/convert.h"

enum { PIECE = 48 * 1024, TEXT_MOST = 2000 };
/* Bytes of an event's group or name: uftrace 0.13 reads each into a buffer without a bounds check.
 */
enum { EVENT_NAME_MOST = 511 };

static int flush_external(struct uftrace_events *s, struct target_dictionary *d, struct error *e)
{
	if (target_meta(d, "extern.dat", s->external.data, s->external.size, s->written, e))
		return -1;
	s->written += s->external.size;
	s->external.size = 0;
	return 0;
}

/* The group and name of a user event. */
struct event_name {
	const char *group, *name;
	size_t group_size, name_size;
};

/* Split the name of a type: uftrace's own names have their group before a colon. */
static struct event_name event_name_of(const struct type *t)
{
	const char *group = t->group.size ? t->group.text : "trace";
	struct event_name n = {group, "unnamed", strlen(group), 7};
	const char *colon = memchr(t->name.text, ':', t->name.size);

	if (t->name.size) {
		n.name = t->name.text;
		n.name_size = t->name.size;
	}
	if (colon && t->source && !strcmp(t->source->format.text, "uftrace")) {
		n.group = t->name.text;
		n.group_size = (size_t)(colon - t->name.text);
		n.name = colon + 1;
		n.name_size = t->name.size - n.group_size - 1;
	}
	return n;
}

/* Add a user event of a type to events.txt. */
static int new_event(struct uftrace_events *s, struct target_dictionary *d, const struct type *from,
		     uint32_t *number, struct error *e)
{
	struct type *t = target_type(d, from->name.text, from->group.text);
	struct buffer *b = &s->events_txt;
	struct event_name name = event_name_of(from);
	size_t at;

	if (!t)
		return error_no_memory(e);
	t->native = UFTRACE_EV_USER_FIRST + (uint32_t)s->count;
	if (t->native >= UFTRACE_EV_EXTERN)
		return error_set(e, NULL, NO_OFFSET,
				 "uftrace cannot have more than %d types of events",
				 UFTRACE_EV_EXTERN - UFTRACE_EV_USER_FIRST);
	s->count++;
	if (buffer_printf(b, "EVENT: %" PRIu32 " ", t->native))
		return error_no_memory(e);
	at = b->size;
	if (convert_name_escaped(b, name.group, name.group_size, " :"))
		return error_no_memory(e);
	convert_name_cut(b, at, EVENT_NAME_MOST, &s->names_cut);
	if (buffer_u8(b, ':'))
		return error_no_memory(e);
	at = b->size;
	if (convert_name_escaped(b, name.name, name.name_size, " "))
		return error_no_memory(e);
	convert_name_cut(b, at, EVENT_NAME_MOST, &s->names_cut);
	*number = t->number;
	return buffer_u8(b, '\n') ? error_no_memory(e) : 0;
}

int uftrace_event_type(struct uftrace_events *s, struct target_dictionary *d,
		       const struct type *from, const struct type **out, struct error *e)
{
	uint32_t *numbers;

	if (ARRAY_REACH(s->numbers, s->size, from->number))
		return error_no_memory(e);
	numbers = s->numbers;
	if (!numbers[from->number] && new_event(s, d, from, &numbers[from->number], e))
		return -1;
	*out = dictionary_type(&d->dictionary, numbers[from->number]);
	return 0;
}

int uftrace_event_text(struct uftrace_events *s, struct conversion *c, const struct convert_row *r,
		       struct error *e)
{
	struct buffer *b = &s->scratch, *to = &s->external;
	const struct event *ev = r->ev;
	struct text_ref name;

	b->size = 0;
	if (ev->location) {
		name = dictionary_location_name(c->dictionary, ev->location);
		if (buffer_append(b, name.text, name.size) || buffer_u8(b, ' '))
			return error_no_memory(e);
	}
	if (convert_text_row(b, c->dictionary, ev, &s->blobs))
		return error_no_memory(e);
	if (!b->size)
		return 0;
	convert_text_cut(b, 0, TEXT_MOST, &s->cut);
	if (buffer_printf(to, "%" PRIu64 ".%09" PRIu64 " ", r->time / 1000000000,
			  r->time % 1000000000) ||
	    convert_name_escaped(to, ev->type->name.text, ev->type->name.size, "") ||
	    buffer_printf(to, "[%" PRId32 "]: ", r->thread->tid) ||
	    convert_name_escaped(to, (const char *)b->data, b->size, "") || buffer_u8(to, '\n'))
		return error_no_memory(e);
	return to->size < PIECE ? 0 : flush_external(s, &c->d, e);
}

int uftrace_events_end(struct uftrace_events *s, struct target_dictionary *d, struct error *e)
{
	if (s->count && target_meta(d, "events.txt", s->events_txt.data, s->events_txt.size, 0, e))
		return -1;
	return s->external.size || s->written ? flush_external(s, d, e) : 0;
}

void uftrace_events_free(struct uftrace_events *s)
{
	free(s->numbers);
	buffer_free(&s->events_txt);
	buffer_free(&s->external);
	buffer_free(&s->scratch);
}
