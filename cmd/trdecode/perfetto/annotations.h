/*
 * annotations.h - arguments of an event while it is read: annotations.c and typed.c
 *
 * p->scratch.arguments has the arguments so far as named values: u32 name, u32 size, and the value
 * (value.h).
 */
#ifndef TR_TRDECODE_PERFETTO_ANNOTATIONS_H
#define TR_TRDECODE_PERFETTO_ANNOTATIONS_H

#include "cmd/trdecode/perfetto/perfetto.h"

/* What annotations of an event contain. */
struct perfetto_annotated {
	bool structs;	 /* a STRUCT */
	bool unfinished; /* the mark of a call without a leave, which is left out */
	bool has_id;	 /* the mark of a call with an id, which is left out: the id */
	uint32_t leave;	 /* the mark of a call whose leave has another name, which is left out: the
			    name; 0 none */
	uint64_t id;
};

/* Append an annotation to p->scratch.arguments. */
int perfetto_annotation(struct perfetto *p, const struct perfetto_sequence *s,
			struct protobuf_view message, struct perfetto_annotated *a);
/* Begin a named value. Returns the offset to end it; SIZE_MAX: out of memory. */
size_t perfetto_begin_named(struct perfetto *p, uint32_t name);
int perfetto_end_named(struct perfetto *p, size_t at);
/* Begin a list of names, such as the arguments of an event. */
static inline void perfetto_begin_names(struct perfetto *p)
{
	p->arguments.list++;
}
/* Get the name of the next element of the list: the second u is u_2. 0: out of memory. */
uint32_t perfetto_next_name(struct perfetto *p, uint32_t name);
/* Append a STRUCT, whose members have the names in p->scratch.key from an offset on, which are
 * aligned. The values follow. */
int perfetto_put_struct(struct perfetto *p, size_t names);
/* Append an argument with a name. */
int perfetto_argument_uint(struct perfetto *p, const char *name, uint64_t number);
int perfetto_argument_int(struct perfetto *p, const char *name, int64_t number);
int perfetto_argument_bool(struct perfetto *p, const char *name, bool value);
int perfetto_argument_string(struct perfetto *p, const char *name, uint32_t string);
int perfetto_argument_list(struct perfetto *p, const char *name, const uint64_t *numbers, size_t n);

/* --- typed.c --- */

/* Append a field of a track event that is a typed argument, or one of a later version. */
int perfetto_typed(struct perfetto *p, const struct perfetto_sequence *s,
		   const struct protobuf_field *f, struct perfetto_annotated *found);

#endif
