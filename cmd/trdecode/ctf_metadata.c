/*
 * ctf_metadata.c - the metadata of CTF: its text in TSDL, and the layout of events that it declares
 *
 *     event { name = "open"; id = 3; fields := struct { string path; uint32_t fd; }; };
 *
 * declares an event of two parts: a text up to its NUL, and 32 bits after it.
 */
#include "cmd/trdecode/ctf_metadata.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/trdecode/bid.h"
#include "cmd/trdecode/ctf.h"
#include "cmd/trdecode/ctf_metadata.h"
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input_tree.h"
#include "common/ftrace/kernel_names.h"
#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/heap.h"
#include "common/util/intern.h"

#define TOO_MANY "it has too many parts, or they are nested too deep"

/* --- metadata --- */

void *ctf_alloc(struct ctf_metadata *m, size_t size)
{
	if (ARRAY_GROW(m->allocations, m->allocations_capacity, m->nallocations))
		return NULL;
	m->allocations[m->nallocations] = calloc(1, size);
	return m->allocations[m->nallocations] ? m->allocations[m->nallocations++] : NULL;
}

void ctf_metadata_free(struct ctf_metadata *m)
{
	while (m->nallocations)
		free(m->allocations[--m->nallocations]);
	free(m->allocations);
	m->allocations = NULL;
	m->allocations_capacity = 0;
	id_cache_free(&m->named);
	free(m->places);
	m->places = NULL;
}

void **ctf_named(struct ctf_metadata *m, const void *owner, const void *name, size_t n)
{
	struct buffer key = {0};
	uint32_t *number = NULL;

	if (!buffer_append(&key, &owner, sizeof owner) && !buffer_append(&key, name, n))
		number = id_cache_number(&m->named, key.data, key.size);
	buffer_free(&key);
	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(m->places, m->places_capacity, m->nplaces))
			return NULL;
		m->places[m->nplaces++] = NULL;
		*number = (uint32_t)m->nplaces;
	}
	return &m->places[*number - 1];
}

bool ctf_env_add(struct ctf_metadata *m, struct ctf_attribute v)
{
	struct ctf_attribute *added = ctf_alloc(m, sizeof *added);
	void **place = ctf_named(m, &m->env, v.name, strlen(v.name));

	if (!added || !place)
		return false;
	*added = v;
	added->next = m->env;
	*place = m->env = added;
	return true;
}

/* Find a variable of the environment; NULL: not declared. */
static const struct ctf_attribute *ctf_env_find(struct ctf_metadata *m, const char *name)
{
	void **place = ctf_named(m, &m->env, name, strlen(name));

	return place ? *place : NULL;
}

/* Find the clock of that name, or add it. NULL: out of memory. */
static struct ctf_clock *ctf_clock_named(struct ctf_metadata *m, const char *name)
{
	void **place = ctf_named(m, &m->clocks, name, strlen(name));
	struct ctf_clock *c;
	char *copy;

	if (!place || *place)
		return place ? *place : NULL;
	c = ctf_alloc(m, sizeof *c);
	copy = ctf_alloc(m, strlen(name) + 1);
	if (!c || !copy)
		return NULL;
	c->name = strcpy(copy, name);
	c->frequency = 1000000000;
	c->next = m->clocks;
	*place = m->clocks = c;
	return c;
}

/* --- the parts of events --- */

/* A part and the parts that contain it. */
struct inside {
	struct ctf_part *part;
	const struct inside *outer;
	int depth;
};

enum { CTF_LOCATED = 256 };

/* The state of making one scope. */
struct maker {
	struct ctf_metadata *metadata;
	struct ctf_part **layout;
	enum ctf_scope scope;
	struct error *error;
	/* the fields that a location of version 2 may locate: several where its path leads through
	   a variant */
	struct ctf_part *located[CTF_LOCATED];
	size_t nlocated;
	/* ranges of a tag's values, and the option for each; of two that overlap, the one that is
	   declared first counts. open: those that contain a value */
	struct {
		struct ctf_choice choice;
		size_t order;
	} * claims, *open;
	size_t nclaims, claims_capacity;
};

static const struct {
	enum ctf_scope scope;
	const char *name;
	enum ctf_role role;
} roles[] = {
	{SCOPE_PACKET_HEADER, "magic", CTF_MAGIC},
	{SCOPE_PACKET_HEADER, "uuid", CTF_UUID},
	{SCOPE_PACKET_HEADER, "stream_id", CTF_STREAM_ID},
	{SCOPE_PACKET_HEADER, "stream_instance_id", CTF_INSTANCE},
	{SCOPE_PACKET_CONTEXT, "timestamp_begin", CTF_TIME_BEGIN},
	{SCOPE_PACKET_CONTEXT, "timestamp_end", CTF_TIME_END},
	{SCOPE_PACKET_CONTEXT, "content_size", CTF_CONTENT_SIZE},
	{SCOPE_PACKET_CONTEXT, "packet_size", CTF_PACKET_SIZE},
	{SCOPE_PACKET_CONTEXT, "events_discarded", CTF_DISCARDED},
	{SCOPE_PACKET_CONTEXT, "packet_seq_num", CTF_SEQUENCE_NUMBER},
	{SCOPE_PACKET_CONTEXT, "cpu_id", CTF_CPU},
	{SCOPE_PACKET_CONTEXT, "vtid", CTF_TID},
	{SCOPE_PACKET_CONTEXT, "tid", CTF_TID},
	{SCOPE_PACKET_CONTEXT, "vpid", CTF_PID},
	{SCOPE_PACKET_CONTEXT, "pid", CTF_PID},
	{SCOPE_PACKET_CONTEXT, "procname", CTF_COMM},
	{SCOPE_PACKET_CONTEXT, "comm", CTF_COMM},
	{SCOPE_PACKET_CONTEXT, "thread_name", CTF_COMM},
	{SCOPE_EVENT_HEADER, "id", CTF_ID},
	{SCOPE_STREAM_CONTEXT, "vtid", CTF_TID},
	{SCOPE_STREAM_CONTEXT, "tid", CTF_TID},
	{SCOPE_STREAM_CONTEXT, "vpid", CTF_PID},
	{SCOPE_STREAM_CONTEXT, "pid", CTF_PID},
	{SCOPE_STREAM_CONTEXT, "vppid", CTF_PPID},
	{SCOPE_STREAM_CONTEXT, "ppid", CTF_PPID},
	{SCOPE_STREAM_CONTEXT, "procname", CTF_COMM},
	{SCOPE_STREAM_CONTEXT, "callstack_kernel", CTF_KERNEL_STACK},
	{SCOPE_STREAM_CONTEXT, "callstack_user", CTF_USER_STACK},
	{SCOPE_EVENT_CONTEXT, "callstack_kernel", CTF_KERNEL_STACK},
	{SCOPE_EVENT_CONTEXT, "callstack_user", CTF_USER_STACK},
	/* of sched_switch */
	{SCOPE_FIELDS, "next_tid", CTF_NEXT_TID},
	{SCOPE_FIELDS, "next_comm", CTF_NEXT_COMM},
};

const char *ctf_bare_name(const char *name)
{
	return name[0] == '_' && name[1] ? name + 1 : name;
}

/* Set the role of a part of version 2, and its further roles. */
static void set_roles(const struct maker *m, struct ctf_part *p)
{
	uint32_t mask = p->type->roles;

	if (m->scope == SCOPE_PACKET_CONTEXT && mask & 1u << CTF_TIME)
		mask = (mask & ~(1u << CTF_TIME)) | 1u << CTF_TIME_BEGIN;
	if (!mask)
		return;
	/* of a time and another role, the time is the part's own */
	p->role = mask & 1u << CTF_TIME ? CTF_TIME : (enum ctf_role)__builtin_ctz(mask);
	p->roles = mask & ~(1u << p->role);
}

/* Test whether a field of version 2 has a role by its `roles` alone. */
static bool needs_roles(enum ctf_role role)
{
	return role < CTF_CPU || role == CTF_ID || role == CTF_TIME;
}

static enum ctf_role ctf_metadata_role_of(const struct maker *m, const struct ctf_type *t,
					  const char *name)
{
	bool named = m->metadata->major == 2;

	if (!named && m->scope == SCOPE_EVENT_HEADER && t->kind == CTF_INTEGER &&
	    (t->clock || !strcmp(name, "timestamp")))
		return CTF_TIME;
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if (roles[i].scope == m->scope && !strcmp(roles[i].name, ctf_bare_name(name)) &&
		    !(named && needs_roles(roles[i].role)))
			return roles[i].role;
	return CTF_NO_ROLE;
}

/* --- lengths and tags --- */

/* Find the last member of that name. */
static struct ctf_part *member(const struct maker *m, struct ctf_part *p, const char *name,
			       size_t n)
{
	void **place;

	if (p->kind != CTF_STRUCT && p->kind != CTF_VARIANT)
		return NULL;
	/* members are added between searches */
	for (struct ctf_part *c = p->found ? p->found->next : p->children; c; c = c->next) {
		place = ctf_named(m->metadata, p, c->name, strlen(c->name));
		if (!place)
			return NULL;
		*place = p->found = c;
	}
	place = ctf_named(m->metadata, p, name, n);
	return place ? *place : NULL;
}

/* Find "a.b.c" below p. */
static struct ctf_part *find_below(const struct maker *m, struct ctf_part *p, const char *path)
{
	while (p && *path) {
		const char *dot = strchrnul(path, '.');

		p = member(m, p, path, (size_t)(dot - path));
		path = *dot ? dot + 1 : dot;
	}
	return p;
}

static struct ctf_part *find_reference(const struct maker *m, const struct inside *in,
				       const char *path)
{
	static const char *const scopes[SCOPES] = {"trace.packet.header.", "stream.packet.context.",
						   "stream.event.header.", "stream.event.context.",
						   "event.context.",	   "event.fields."};
	const struct inside *outermost = in;
	struct ctf_part *p;

	while (outermost && outermost->outer)
		outermost = outermost->outer;
	for (int i = 0; i < SCOPES; i++)
		if (!strncmp(path, scopes[i], strlen(scopes[i]))) {
			/* of the current scope: the members before this one */
			p = (int)m->scope == i && outermost ? outermost->part : m->layout[i];
			return find_below(m, p, path + strlen(scopes[i]));
		}
	for (; in; in = in->outer) {
		p = find_below(m, in->part, path);
		if (p)
			return p;
	}
	for (int i = (int)m->scope; i-- > 0;) {
		p = find_below(m, m->layout[i], path);
		if (p)
			return p;
	}
	return NULL;
}

static int make(struct maker *m, const struct ctf_type *t, const char *name,
		const struct inside *outer, struct ctf_part **at);

/* Make p an array whose length is a number of the environment. */
static bool refer_env(const struct maker *m, struct ctf_part *p)
{
	const char *path = p->type->reference;
	const struct ctf_attribute *v;

	if (p->kind != CTF_SEQUENCE || strncmp(path, "env.", 4) != 0)
		return false;
	v = ctf_env_find(m->metadata, path + 4);
	if (!v || v->text || v->number < 0)
		return false;
	p->kind = CTF_ARRAY;
	p->count = (uint64_t)v->number;
	return true;
}

/* Count a step of a search. false: too many. */
static bool ctf_metadata_step(const struct maker *m)
{
	return m->metadata->steps < CTF_STEPS && ++m->metadata->steps;
}

static bool ctf_metadata_contains(const struct inside *in, const struct ctf_part *p)
{
	while (in && in->part != p)
		in = in->outer;
	return in;
}

/* Follow the names of by->location from number i on. false: too many fields. */
static bool ctf_metadata_locate(struct maker *m, struct ctf_part *p, size_t i,
				const struct inside *in, const struct ctf_type *by)
{
	struct ctf_part *named;
	bool ok = true;

	if (!ctf_metadata_step(m))
		return false;
	switch (p->kind) {
	case CTF_STRUCT:
		named = i < by->location.n
				? member(m, p, by->location.names[i], strlen(by->location.names[i]))
				: NULL;
		return !named || ctf_metadata_locate(m, named, i + 1, in, by);
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		/* the element that is read now */
		return !ctf_metadata_contains(in, p) || !p->children ||
		       ctf_metadata_locate(m, p->children, i, in, by);
	case CTF_VARIANT:
	case CTF_OPTIONAL:
		for (struct ctf_part *c = p->children; c && ok; c = c->next)
			ok = ctf_metadata_locate(m, c, i, in, by);
		return ok;
	case CTF_INTEGER:
	case CTF_ENUM:
		if (i < by->location.n)
			return true;
		if (m->nlocated == CTF_LOCATED)
			return false;
		m->located[m->nlocated++] = p;
		return true;
	default: return true;
	}
}

enum { CTF_SLOTS = 1 << 16 };

static int new_slot(const struct maker *m, uint32_t *slot)
{
	if (m->metadata->slots == CTF_SLOTS)
		return error_set(m->error, NULL, NO_OFFSET, "too many lengths and tags");
	*slot = ++m->metadata->slots;
	return 0;
}

/* Replace a slot in a tree of parts. false: too many steps. */
static bool replace_slot(const struct maker *m, struct ctf_part *p, uint32_t from, uint32_t to)
{
	for (; p; p = p->next) {
		if (p->slot == from)
			p->slot = to;
		if (!ctf_metadata_step(m) || !replace_slot(m, p->children, from, to))
			return false;
	}
	return true;
}

/* Give all located parts the same slot. Parts that are located with one of them get it too. */
static int share_slot(const struct maker *m, struct ctf_part *root)
{
	uint32_t slot = 0;
	bool ok = true;

	for (size_t i = 0; i < m->nlocated && !slot; i++)
		slot = m->located[i]->slot;
	if (!slot && new_slot(m, &slot))
		return -1;
	for (size_t i = 0; i < m->nlocated && ok; i++) {
		uint32_t had = m->located[i]->slot;

		m->located[i]->slot = slot;
		if (!had || had == slot)
			continue;
		ok = replace_slot(m, root, had, slot);
		for (int s = 0; s < SCOPES && ok; s++)
			ok = replace_slot(m, m->layout[s], had, slot);
	}
	return ok ? 0 : error_set(m->error, NULL, NO_OFFSET, "too many lengths and tags");
}

/* Test whether a part can be a length, or a tag as the options need one. */
static bool is_tag(const struct ctf_part *p, const struct ctf_part *tag)
{
	bool flags = tag->kind == CTF_ENUM && tag->type->flags;

	if (p->kind == CTF_SEQUENCE)
		return !tag->is_signed && !tag->type->boolean && !flags;
	if (p->kind == CTF_OPTIONAL)
		return !flags && tag->type->boolean == !p->type->members->ranges[0];
	return !tag->type->boolean && !flags;
}

/* Set p->refers by a location of version 2. All located fields get the same slot, which keeps the
 * value of the one that was read last. */
static int refer_location(struct maker *m, struct ctf_part *p, const struct inside *in)
{
	const struct ctf_type *t = p->type;
	struct ctf_part *from = NULL, *root = NULL;
	size_t up = t->location.up;

	for (const struct inside *i = in; i; i = i->outer) {
		if (i->part->kind == CTF_STRUCT && !from && !up--)
			from = i->part;
		root = i->part;
	}
	if (t->location.scope >= 0)
		from = t->location.up			    ? NULL
		       : t->location.scope == (int)m->scope ? root
							    : m->layout[t->location.scope];
	m->nlocated = 0;
	if (from && !ctf_metadata_locate(m, from, 0, in, t))
		return error_set(m->error, NULL, NO_OFFSET, "'%.100s' needs too many fields",
				 p->name);
	for (size_t i = 0; i < m->nlocated; i++)
		if (!is_tag(p, m->located[i]) ||
		    m->located[i]->is_signed != m->located[0]->is_signed)
			m->nlocated = 0;
	if (!m->nlocated)
		return error_set(m->error, NULL, NO_OFFSET,
				 "'%.100s', the %s of '%.100s', is missing or of another kind",
				 t->location.names[t->location.n - 1],
				 p->kind == CTF_SEQUENCE ? "length" : "tag", p->name);
	if (share_slot(m, root))
		return -1;
	p->refers = m->located[0];
	return 0;
}

static int refer(struct maker *m, struct ctf_part *p, const struct inside *in)
{
	struct ctf_part *to;

	if (p->type->location.n)
		return refer_location(m, p, in);
	if (!p->type->reference)
		return error_set(m->error, NULL, NO_OFFSET, "the variant '%.100s' has no tag",
				 p->name);
	if (refer_env(m, p))
		return 0;
	to = find_reference(m, in, p->type->reference);
	if (!to || (p->kind == CTF_VARIANT ? to->kind != CTF_ENUM
					   : to->kind != CTF_INTEGER && to->kind != CTF_ENUM))
		return error_set(m->error, NULL, NO_OFFSET,
				 "'%.100s', the %s of '%.100s', is missing or of another kind",
				 p->type->reference, p->kind == CTF_VARIANT ? "tag" : "length",
				 p->name);
	if (!to->slot && new_slot(m, &to->slot))
		return -1;
	p->refers = to;
	return 0;
}

/* --- the options of variants --- */

static int add_claims(struct maker *m, const struct ctf_part *tag, const struct ctf_label *range,
		      const struct ctf_part *option)
{
	struct ctf_choice choice = {ctf_tag_key(tag, (uint64_t)range->first),
				    ctf_tag_key(tag, (uint64_t)range->last), option};

	if (choice.first > choice.last)
		return 0;
	if (ARRAY_GROW(m->claims, m->claims_capacity, m->nclaims))
		return -1;
	m->claims[m->nclaims].choice = choice;
	m->claims[m->nclaims].order = m->nclaims;
	m->nclaims++;
	return 0;
}

/* Claim, for each label of the tag, the first option that has its name, or its name after '_'. */
static int claim_labels(struct maker *m, const struct ctf_part *p)
{
	void **place;

	for (struct ctf_part *c = p->children; c; c = c->next)
		for (int i = 0; i < 1 + (c->name[0] == '_'); i++) {
			place = ctf_named(m->metadata, &p->choices, c->name + i,
					  strlen(c->name + i));
			if (!place)
				return -1;
			if (!*place)
				*place = c;
		}
	for (const struct ctf_label *l = p->refers->type->labels; l; l = l->next) {
		place = ctf_named(m->metadata, &p->choices, l->name, strlen(l->name));
		if (!place || add_claims(m, p->refers, l, *place))
			return -1;
	}
	return 0;
}

static int claim_ranges(struct maker *m, const struct ctf_part *p)
{
	for (const struct ctf_part *c = p->children; c; c = c->next)
		for (const struct ctf_label *l = c->ranges; l; l = l->next)
			if (add_claims(m, p->refers, l, c))
				return -1;
	return 0;
}

/* Compare claims for qsort, by their choices, which are their first members. */
static int compare_claims(const void *a, const void *b)
{
	const struct ctf_choice *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Make choices of claims: from each value at which a claim begins or ends, the first of those that
 * contain it. m->open has room for all claims. */
static void settle_claims(struct maker *m, struct ctf_part *p)
{
	size_t next = 0, nopen = 0;
	uint64_t at = 0, end;

	while (nopen || next < m->nclaims) {
		if (!nopen)
			at = m->claims[next].choice.first;
		for (; next < m->nclaims && m->claims[next].choice.first <= at; next++) {
			m->open[nopen++] = m->claims[next];
			HEAP_UP(m->open, nopen - 1, a, b, a->order < b->order);
		}
		if (m->open->choice.last < at) {
			*m->open = m->open[--nopen];
			if (nopen)
				HEAP_DOWN(m->open, nopen, 0, a, b, a->order < b->order);
			continue;
		}
		end = m->open->choice.last;
		if (next < m->nclaims && m->claims[next].choice.first <= end)
			end = m->claims[next].choice.first - 1;
		p->choices[p->nchoices++] = (struct ctf_choice){at, end, m->open->choice.option};
		if (end == UINT64_MAX)
			break;
		at = end + 1;
	}
}

/* Find which values of the tag choose which option. */
static int make_choices(struct maker *m, struct ctf_part *p)
{
	int result;

	m->nclaims = 0;
	result = p->type->location.n ? claim_ranges(m, p) : claim_labels(m, p);
	if (result)
		return error_no_memory(m->error);
	if (m->nclaims > CTF_PARTS - m->metadata->parts)
		return error_set(m->error, NULL, NO_OFFSET, TOO_MANY);
	if (!m->nclaims)
		return 0;
	m->metadata->parts += (uint32_t)m->nclaims;
	qsort(m->claims, m->nclaims, sizeof *m->claims, compare_claims);
	m->open = calloc(m->nclaims, sizeof *m->open);
	/* at most two begin at each claim's begin and end */
	p->choices = ctf_alloc(m->metadata, 2 * m->nclaims * sizeof *p->choices);
	if (m->open && p->choices)
		settle_claims(m, p);
	else
		result = error_no_memory(m->error);
	free(m->open);
	return result;
}

/* --- parts --- */

static int make_members(struct maker *m, const struct ctf_type *t, const struct inside *in)
{
	struct ctf_part *p = in->part, **last = &p->children;

	for (const struct ctf_member *member_of = t->members; member_of;
	     member_of = member_of->next) {
		if (make(m, member_of->type, member_of->name, in, last))
			return -1;
		if (p->refers)
			(*last)->ranges = member_of->ranges[p->refers->is_signed];
		if (p->kind == CTF_STRUCT && (*last)->align > p->align)
			p->align = (*last)->align;
		last = &(*last)->next;
	}
	return 0;
}

static void ctf_metadata_set_type(const struct maker *m, struct ctf_part *p,
				  const struct ctf_type *t, const char *name)
{
	p->kind = t->kind;
	p->type = t;
	p->name = name;
	p->align = t->align;
	p->size = t->size;
	p->count = t->count;
	p->is_signed = t->is_signed;
	p->unusual = t->varying || t->reversed || t->boolean;
	p->big = t->order == CTF_NATIVE ? m->metadata->big : t->order == CTF_BIG;
	p->role = ctf_metadata_role_of(m, t, name);
	set_roles(m, p);
}

/* Make the part and those in it. The part is at *at before the parts in it are made, which may
 * refer to members that are before them. */
static int make(struct maker *m, const struct ctf_type *t, const char *name,
		const struct inside *outer, struct ctf_part **at)
{
	struct ctf_part *p;
	struct inside in = {.outer = outer, .depth = outer ? outer->depth + 1 : 0};

	if (in.depth >= CTF_DEPTH || ++m->metadata->parts > CTF_PARTS)
		return error_set(m->error, NULL, NO_OFFSET, TOO_MANY);
	p = in.part = ctf_alloc(m->metadata, sizeof *p);
	if (!p)
		return error_no_memory(m->error);
	ctf_metadata_set_type(m, p, t, name);
	if ((t->kind == CTF_VARIANT || t->kind == CTF_OPTIONAL || t->kind == CTF_SEQUENCE) &&
	    refer(m, p, outer))
		return -1;
	*at = p;
	switch (t->kind) {
	case CTF_STRUCT:
	case CTF_VARIANT:
	case CTF_OPTIONAL:
		if (make_members(m, t, &in) ||
		    (t->kind != CTF_STRUCT && p->children && make_choices(m, p)))
			return -1;
		if (t->kind != CTF_STRUCT)
			p->align = 1;
		break;
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		if (make(m, t->element, name, &in, &p->children))
			return -1;
		p->children->role = CTF_NO_ROLE;
		p->children->roles = 0;
		if (p->children->align > p->align)
			p->align = p->children->align;
		break;
	default: break;
	}
	return 0;
}

int ctf_layout_add(struct ctf_metadata *m, struct ctf_part **layout, enum ctf_scope scope,
		   const struct ctf_type *type, struct error *e)
{
	struct maker maker = {.metadata = m, .layout = layout, .scope = scope, .error = e};
	struct ctf_part *part;
	int failed = -1;

	if (!type)
		return 0;
	if (type->kind != CTF_STRUCT)
		return error_set(e, NULL, NO_OFFSET, "not a struct");
	/* a scope that cannot be made is not declared */
	if (!make(&maker, type, "", NULL, &part)) {
		layout[scope] = part;
		failed = 0;
	}
	free(maker.claims);
	return failed;
}

/* --- TSDL, the metadata of CTF 1.8 --- */

#define PACKET_MAGIC 0x75d11d57u
#define PLAIN_BEGIN  "/* CTF"

enum { PACKET_HEADER = 37, AT_CONTENT = 24, AT_PACKET = 28, AT_COMPRESSION = 32, AT_VERSION = 35 };

static bool is_packets(const uint8_t *data, size_t n)
{
	return n >= 4 && (get_uint(data, 4, false) == PACKET_MAGIC ||
			  get_uint(data, 4, true) == PACKET_MAGIC);
}

static bool has_signature(const uint8_t *data, size_t n)
{
	return n >= strlen(PLAIN_BEGIN) && !memcmp(data, PLAIN_BEGIN, strlen(PLAIN_BEGIN));
}

/* Get the length of the comment at p; 0: no comment begins there. */
static size_t comment_size(const char *p, size_t n)
{
	const char *end = NULL;

	if (n < 2 || p[0] != '/')
		return 0;
	if (p[1] == '*')
		end = memmem(p + 2, n - 2, "*/", 2);
	else if (p[1] == '/')
		end = memchr(p, '\n', n);
	else
		return 0;
	return end ? (size_t)(end - p) + (p[1] == '*' ? 2 : 1) : n;
}

/* Test whether a word that begins a statement follows blanks and comments. */
static bool ctf_tsdl_is_bare(const char *p, size_t n)
{
	static const char *const words[] = {"typealias", "typedef", "trace",   "stream",
					    "event",	 "clock",   "env",     "struct",
					    "enum",	 "variant", "callsite"};
	size_t skip;

	while (n) {
		skip = isspace((unsigned char)*p) ? 1 : comment_size(p, n);
		if (!skip)
			break;
		p += skip;
		n -= skip;
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t size = strlen(words[i]);

		if (n > size && !memcmp(p, words[i], size) &&
		    (isspace((unsigned char)p[size]) || p[size] == '{'))
			return true;
	}
	return false;
}

enum bid ctf_metadata_bid(const uint8_t *data, size_t n)
{
	if (is_packets(data, n) || has_signature(data, n) ||
	    ctf_metadata_is_json((const char *)data, n))
		return BID_HEADER;
	return ctf_tsdl_is_bare((const char *)data, n) ? BID_LIKELY : BID_NONE;
}

/* Require version 1.8 or 2, in the packets or after the signature of plain text. */
static int ctf_tsdl_check_version(const uint8_t *data, size_t size, const char *file,
				  struct error *e)
{
	unsigned major = 1, minor = 8;
	char text[32];
	size_t n = size - 1 < sizeof text - 1 ? size - 1 : sizeof text - 1;

	if (is_packets(data, size) && size >= PACKET_HEADER) {
		major = data[AT_VERSION];
		minor = data[AT_VERSION + 1];
	} else if (has_signature(data, size)) {
		memcpy(text, data, n);
		text[n] = '\0';
		if (sscanf(text, PLAIN_BEGIN " %5u.%5u", &major, &minor) != 2)
			return 0;
	}
	return (major == 1 && minor == 8) || (major == 2 && is_packets(data, size))
		       ? 0
		       : error_set(e, file, 0,
				   "the version is CTF %u.%u: only 1.8 and 2 can be read", major,
				   minor);
}

/* Append the text of all packets. */
static int unpack_text(const uint8_t *data, size_t size, const char *file, struct buffer *text,
		       struct error *e)
{
	bool big = get_uint(data, 4, false) != PACKET_MAGIC;
	size_t at = 0;

	while (at < size) {
		const uint8_t *p = data + at;
		uint64_t content, packet;

		if (size - at < PACKET_HEADER)
			return error_set(e, file, at, "a packet of the metadata is cut short");
		if (get_uint(p, 4, big) != PACKET_MAGIC)
			return error_set(e, file, at, "no packet of metadata");
		content = get_uint(p + AT_CONTENT, 4, big) / 8;
		packet = get_uint(p + AT_PACKET, 4, big) / 8;
		if (p[AT_COMPRESSION] || p[AT_COMPRESSION + 1])
			return error_set(e, file, at + AT_COMPRESSION,
					 "compressed or encrypted metadata");
		if (content < PACKET_HEADER || packet < content)
			return error_set(e, file, at + AT_CONTENT,
					 "a packet's sizes contradict each other");
		if (content > size - at) {
			if (buffer_append(text, p + PACKET_HEADER, size - at - PACKET_HEADER))
				return error_no_memory(e);
			return error_set(e, file, size, "a packet of the metadata is cut short");
		}
		if (buffer_append(text, p + PACKET_HEADER, (size_t)content - PACKET_HEADER))
			return error_no_memory(e);
		/* the file may end before the padding of the last packet */
		at = packet < size - at ? at + (size_t)packet : size;
	}
	return 0;
}

/* Extract the text of a metadata file: plain text, or the packets that LTTng writes, without their
 * headers. *text ends with a NUL; the caller frees it. -1 with *e filled: damaged; *text is then
 * the text before the damage, or NULL when there is none or its version is not 1.8. */
static int ctf_metadata_text(const uint8_t *data, size_t size, const char *file, char **text,
			     size_t *n, struct error *e)
{
	struct buffer b = {0};
	int failed = 0;

	*text = NULL;
	*n = 0;
	if (!ctf_metadata_bid(data, size))
		return error_set(e, file, 0, "no CTF metadata");
	if (ctf_tsdl_check_version(data, size, file, e))
		return -1;
	if (is_packets(data, size))
		failed = unpack_text(data, size, file, &b, e);
	else
		failed = buffer_append(&b, data, size) ? error_no_memory(e) : 0;
	*n = b.size;
	if (buffer_u8(&b, 0)) {
		buffer_free(&b);
		*n = 0;
		return error_no_memory(e);
	}
	*text = (char *)b.data;
	return failed;
}

/* --- lexer --- */

enum ctf_token {
	TOKEN_END,
	TOKEN_WORD,	 /* identifier or keyword */
	TOKEN_NUMBER,	 /* without a sign */
	TOKEN_STRING,	 /* with escapes resolved */
	TOKEN_CHARACTER, /* constant: the character, as text and as a number */
	TOKEN_MARK,	 /* punctuation */
	TOKEN_BAD,
};

/* A name given to a type, in a list of all names in scope. */
struct ctf_name {
	const char *name; /* "uint32_t", "unsigned long", "struct packet_context" */
	struct ctf_type *type;
	struct ctf_name *next;
	struct ctf_name *hidden; /* the same name, declared outside of the block; NULL: none */
};

/* The state of parsing one text. */
struct ctf_parser {
	/* the rest of the text, and the current token */
	const char *at, *end;
	uint32_t line;
	enum ctf_token token;
	int mark;   /* MARK: the character, or one of the above */
	char *text; /* WORD, STRING, CHARACTER: ends with a NUL, valid until the next token */
	size_t capacity;
	uint64_t number;   /* NUMBER, CHARACTER */
	const char *wrong; /* BAD: what is wrong */

	struct ctf_metadata *metadata;
	struct ctf_name *names; /* in scope, the newest first */
	const char *file;
	struct error *error;
	int depth;
	/* the attributes of the integer or floating_point that is read */
	struct {
		int64_t size, align, exponent, mantissa;
		bool has_align;
	} given;
};

static bool ctf_is_word(const struct ctf_parser *p, const char *word)
{
	return p->token == TOKEN_WORD && !strcmp(p->text, word);
}

static void bad(struct ctf_parser *p, const char *wrong)
{
	p->token = TOKEN_BAD;
	p->wrong = wrong;
}

/* Skip a backslash at the end of a line, which continues the line. */
static bool skip_continuation(struct ctf_parser *p)
{
	const char *next = p->at;

	if (p->end - next < 2 || *next++ != '\\')
		return false;
	if (*next == '\r' && p->end - next >= 2)
		next++;
	if (*next != '\n')
		return false;
	p->line++;
	p->at = next + 1;
	return true;
}

static void skip_line(struct ctf_parser *p)
{
	while (p->at < p->end && *p->at != '\n')
		if (!skip_continuation(p))
			p->at++;
}

/* Skip a comment. false: the comment never ends. */
static bool skip_comment(struct ctf_parser *p)
{
	for (p->at += 2; p->end - p->at >= 2; p->at++) {
		if (p->at[0] == '*' && p->at[1] == '/') {
			p->at += 2;
			return true;
		}
		p->line += *p->at == '\n';
	}
	return false;
}

/* Skip blanks and comments before the next token. */
static bool ctf_tsdl_skip_blanks(struct ctf_parser *p)
{
	while (p->at < p->end) {
		if (*p->at == '\n') {
			p->line++;
			p->at++;
		} else if (skip_continuation(p)) {
			continue;
		} else if (isspace((unsigned char)*p->at)) {
			p->at++;
		} else if (p->end - p->at >= 2 && p->at[0] == '/' && p->at[1] == '/') {
			skip_line(p);
		} else if (p->end - p->at >= 2 && p->at[0] == '/' && p->at[1] == '*') {
			if (!skip_comment(p))
				return false;
		} else {
			return true;
		}
	}
	return true;
}

/* Reserve space for n characters and a NUL. */
static bool reserve_text(struct ctf_parser *p, size_t n)
{
	char *text;

	if (n < p->capacity)
		return true;
	text = realloc(p->text, 2 * n + 64);
	if (!text) {
		bad(p, "out of memory");
		return false;
	}
	p->text = text;
	p->capacity = 2 * n + 64;
	return true;
}

static void word(struct ctf_parser *p)
{
	const char *from = p->at;
	size_t n;

	while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_'))
		p->at++;
	n = (size_t)(p->at - from);
	if (!reserve_text(p, n))
		return;
	memcpy(p->text, from, n);
	p->text[n] = '\0';
	p->token = TOKEN_WORD;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

static void lex_number(struct ctf_parser *p)
{
	unsigned base = 10;
	uint64_t n = 0;

	if (*p->at == '0') {
		base = 8;
		if (p->end - p->at >= 3 && (p->at[1] == 'x' || p->at[1] == 'X') &&
		    digit_of(p->at[2]) < 16) {
			base = 16;
			p->at += 2;
		} else if (p->end - p->at >= 3 && (p->at[1] == 'b' || p->at[1] == 'B') &&
			   digit_of(p->at[2]) < 2) {
			base = 2;
			p->at += 2;
		}
	}
	for (; p->at < p->end && (unsigned)digit_of(*p->at) < base; p->at++)
		if (__builtin_mul_overflow(n, base, &n) ||
		    __builtin_add_overflow(n, (unsigned)digit_of(*p->at), &n)) {
			bad(p, "a number beyond 64 bits");
			return;
		}
	while (p->at < p->end && strchr("uUlL", *p->at) && *p->at)
		p->at++;
	if (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_')) {
		bad(p, "a number that goes on with letters or wrong digits");
		return;
	}
	p->token = TOKEN_NUMBER;
	p->number = n;
}

/* Read an escape sequence after its backslash, and return the character. */
static char lex_escape(struct ctf_parser *p)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	char c = *p->at++;
	const char *known = c ? strchr(from, c) : NULL;
	int n = 0;

	if (known)
		return to[known - from];
	if (c == 'x') {
		for (int i = 0; i < 2 && p->at < p->end && digit_of(*p->at) < 16; i++)
			n = n * 16 + digit_of(*p->at++);
		return (char)n;
	}
	if (c >= '0' && c <= '7') {
		n = c - '0';
		for (int i = 0; i < 2 && p->at < p->end && *p->at >= '0' && *p->at <= '7'; i++)
			n = n * 8 + (*p->at++ - '0');
		return (char)n;
	}
	return c;
}

/* Read a string or character constant; each ends with the character that begins it. */
static void lex_quoted(struct ctf_parser *p)
{
	char quote = *p->at++;
	size_t n = 0;

	while (p->at < p->end && *p->at != quote && *p->at != '\n') {
		if (skip_continuation(p))
			continue;
		if (!reserve_text(p, n + 1))
			return;
		if (*p->at == '\\' && p->end - p->at >= 2) {
			p->at++;
			p->text[n++] = lex_escape(p);
		} else {
			p->text[n++] = *p->at++;
		}
	}
	if (p->at == p->end || *p->at != quote) {
		bad(p, quote == '"' ? "a string that does not end"
				    : "a character constant that does not end");
		return;
	}
	p->at++;
	if (!reserve_text(p, n))
		return;
	p->text[n] = '\0';
	p->token = quote == '"' ? TOKEN_STRING : TOKEN_CHARACTER;
	p->number = n ? (uint64_t)(signed char)p->text[0] : 0;
}

/* Punctuation of more than one character. */
enum { MARK_ASSIGN_TYPE = 256 /* := */, MARK_ARROW /* -> */, MARK_DOTS /* ... */ };

static void ctf_tsdl_mark(struct ctf_parser *p)
{
	static const struct {
		const char *text;
		int mark;
	} longer[] = {{":=", MARK_ASSIGN_TYPE}, {"->", MARK_ARROW}, {"...", MARK_DOTS}};

	p->token = TOKEN_MARK;
	for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
		size_t n = strlen(longer[i].text);

		if ((size_t)(p->end - p->at) >= n && !memcmp(p->at, longer[i].text, n)) {
			p->mark = longer[i].mark;
			p->at += n;
			return;
		}
	}
	p->mark = (unsigned char)*p->at++;
}

static void ctf_lexer_next(struct ctf_parser *p)
{
	if (!ctf_tsdl_skip_blanks(p)) {
		bad(p, "a comment that does not end");
		return;
	}
	/* a constant of wide characters */
	if (p->end - p->at >= 2 && *p->at == 'L' && (p->at[1] == '"' || p->at[1] == '\''))
		p->at++;
	if (p->at == p->end)
		p->token = TOKEN_END;
	else if (isalpha((unsigned char)*p->at) || *p->at == '_')
		word(p);
	else if (isdigit((unsigned char)*p->at))
		lex_number(p);
	else if (*p->at == '"' || *p->at == '\'')
		lex_quoted(p);
	else
		ctf_tsdl_mark(p);
}

/*
 * The types of TSDL.
 *
 * As in C, a type may be written where it is used, or declared with a name first. A name is valid
 * up to the end of the block that declares it.
 */

/* Fill *error for the current token. Returns NULL: of a function that returns a bool, false. */
static void *ctf_wrong(struct ctf_parser *p, const char *what)
{
	if (p->error->what[0])
		return NULL;
	if (p->token == TOKEN_BAD)
		what = p->wrong;
	error_set(p->error, p->file, NO_OFFSET, "line %" PRIu32 ": %s%s%.60s%s", p->line, what,
		  p->token == TOKEN_WORD ? ", before '" : "", p->token == TOKEN_WORD ? p->text : "",
		  p->token == TOKEN_WORD ? "'" : "");
	return NULL;
}

/* Allocate as ctf_alloc does, and fill *error when out of memory. */
static void *ctf_tsdl_alloc(struct ctf_parser *p, size_t size)
{
	void *made = ctf_alloc(p->metadata, size);

	return made ? made : ctf_wrong(p, "out of memory");
}

/* Allocate a type with the alignment and base of TSDL's defaults. */
static struct ctf_type *ctf_new_type(struct ctf_parser *p, enum ctf_kind kind)
{
	struct ctf_type *t = ctf_tsdl_alloc(p, sizeof *t);

	if (!t)
		return NULL;
	t->kind = kind;
	t->align = 1;
	t->base = 10;
	return t;
}

/* --- words --- */

static inline bool ctf_is_mark(const struct ctf_parser *p, int mark)
{
	return p->token == TOKEN_MARK && p->mark == mark;
}

/* Skip a mark or word; false: the current token is another one. */
static bool ctf_accept(struct ctf_parser *p, int mark)
{
	if (!ctf_is_mark(p, mark))
		return false;
	ctf_lexer_next(p);
	return true;
}

static bool ctf_accept_word(struct ctf_parser *p, const char *word)
{
	if (!ctf_is_word(p, word))
		return false;
	ctf_lexer_next(p);
	return true;
}

/* Skip a mark that must be here. */
static bool ctf_expect(struct ctf_parser *p, int mark)
{
	char what[32];

	if (ctf_accept(p, mark))
		return true;
	if (mark == MARK_ASSIGN_TYPE)
		snprintf(what, sizeof what, "':=' is missing");
	else
		snprintf(what, sizeof what, "'%c' is missing", mark);
	return ctf_wrong(p, what);
}

/* Copy the current WORD, STRING or CHARACTER, and skip it. */
static char *ctf_take_text(struct ctf_parser *p)
{
	char *copy = ctf_tsdl_alloc(p, strlen(p->text) + 1);

	if (!copy)
		return NULL;
	strcpy(copy, p->text);
	ctf_lexer_next(p);
	return copy;
}

/* Copy words joined by dots, such as "clock.monotonic.value", and skip them. */
static char *ctf_take_path(struct ctf_parser *p)
{
	char path[4096], *copy;
	size_t n = 0;

	for (;;) {
		size_t size;

		/* other tokens have no text, or unterminated text */
		if (p->token != TOKEN_WORD)
			return ctf_wrong(p, "a name is missing");
		size = strlen(p->text);
		if (size >= sizeof path - n - 1)
			return ctf_wrong(p, "a path that is too long");
		if (n)
			path[n++] = '.';
		memcpy(path + n, p->text, size + 1);
		n += size;
		ctf_lexer_next(p);
		if (!ctf_accept(p, '.') && !ctf_accept(p, MARK_ARROW))
			break;
	}
	copy = ctf_tsdl_alloc(p, n + 1);
	return copy ? memcpy(copy, path, n + 1) : NULL;
}

/* Read a number with its sign, or a character constant. */
static bool ctf_take_number(struct ctf_parser *p, int64_t *number)
{
	bool minus = ctf_accept(p, '-');

	if (!minus)
		ctf_accept(p, '+');
	if (p->token != TOKEN_NUMBER && p->token != TOKEN_CHARACTER)
		return ctf_wrong(p, "a number is missing");
	*number = (int64_t)(minus ? -p->number : p->number);
	ctf_lexer_next(p);
	return true;
}

/* --- names --- */

static bool declare_name(struct ctf_parser *p, const char *name, struct ctf_type *type)
{
	struct ctf_name *n = ctf_alloc(p->metadata, sizeof *n);
	void **place = ctf_named(p->metadata, p, name, strlen(name));

	if (!n || !place)
		return ctf_wrong(p, "out of memory");
	*n = (struct ctf_name){name, type, p->names, *place};
	*place = p->names = n;
	return true;
}

/* Forget the names that were declared after these. */
static void ctf_forget_names(struct ctf_parser *p, struct ctf_name *outside)
{
	while (p->names != outside) {
		struct ctf_name *n = p->names;
		void **place = ctf_named(p->metadata, p, n->name, strlen(n->name));

		if (place)
			*place = n->hidden;
		p->names = n->next;
	}
}

static struct ctf_type *ctf_tsdl_look_up(struct ctf_parser *p, const char *name)
{
	void **place = ctf_named(p->metadata, p, name, strlen(name));
	char what[256];

	if (place && *place)
		return ((struct ctf_name *)*place)->type;
	snprintf(what, sizeof what, "type '%.200s' is not declared", name);
	return ctf_wrong(p, what);
}

/* Read the name of a struct, variant or enum: *name is that of the list, such as "struct x", or
 * NULL where the type has none. */
static bool take_tag(struct ctf_parser *p, const char *kind, char **name)
{
	size_t n;

	*name = NULL;
	if (p->token != TOKEN_WORD)
		return true;
	n = strlen(kind) + strlen(p->text) + 2;
	*name = ctf_tsdl_alloc(p, n);
	if (!*name)
		return false;
	snprintf(*name, n, "%s %s", kind, p->text);
	ctf_lexer_next(p);
	return true;
}

static bool is_c_word(const struct ctf_parser *p)
{
	static const char *const words[] = {"unsigned", "signed", "long",     "short",
					    "int",	"char",	  "float",    "double",
					    "void",	"_Bool",  "_Complex", "const"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (ctf_is_word(p, words[i]))
			return true;
	return false;
}

/* Read a name of several words of C: "unsigned long". */
static char *take_c_words(struct ctf_parser *p)
{
	char name[256] = "", *copy;
	size_t n = 0;

	while (is_c_word(p)) {
		if (n > sizeof name - 16)
			return ctf_wrong(p, "the name of a type is too long");
		if (!ctf_is_word(p, "const"))
			n += (size_t)sprintf(name + n, "%s%s", n ? " " : "", p->text);
		ctf_lexer_next(p);
	}
	copy = ctf_tsdl_alloc(p, n + 1);
	return copy ? memcpy(copy, name, n + 1) : NULL;
}

/* Read the name of a type: words of C ("unsigned long"), or one word ("uint32_t"), and stars. */
static char *ctf_tsdl_take_name(struct ctf_parser *p)
{
	char *name, *pointer;

	while (ctf_accept_word(p, "const"))
		continue;
	if (p->token != TOKEN_WORD)
		return ctf_wrong(p, "a type is missing");
	name = is_c_word(p) ? take_c_words(p) : ctf_take_text(p);
	for (int n = 0; name && ctf_accept(p, '*'); n++) {
		if (n == CTF_DEPTH)
			return ctf_wrong(p, "types are nested too deep");
		pointer = ctf_tsdl_alloc(p, strlen(name) + 3);
		if (pointer)
			sprintf(pointer, "%s *", name);
		name = pointer;
	}
	return name;
}

/* --- structs and variants --- */

/* Parse name, name[4] or name[length]; *type is base, or arrays of base. */
static bool parse_declarator(struct ctf_parser *p, struct ctf_type *base, const char **name,
			     struct ctf_type **type)
{
	struct ctf_type **inner = type;

	*type = base;
	if (p->token != TOKEN_WORD)
		return ctf_wrong(p, "a name is missing");
	*name = ctf_take_text(p);
	if (!*name)
		return false;
	/* a[2][3] is two arrays of three: the first brackets are the outermost array */
	while (ctf_accept(p, '[')) {
		struct ctf_type *t;
		int64_t count;

		if (p->token == TOKEN_NUMBER) {
			t = ctf_new_type(p, CTF_ARRAY);
			if (!t || !ctf_take_number(p, &count))
				return false;
			t->count = (uint64_t)count;
		} else {
			t = ctf_new_type(p, CTF_SEQUENCE);
			if (!t)
				return false;
			t->reference = ctf_take_path(p);
			if (!t->reference)
				return false;
		}
		if (!ctf_expect(p, ']'))
			return false;
		t->element = base;
		*inner = t;
		inner = (struct ctf_type **)(void *)&t->element;
	}
	return true;
}

static struct ctf_type *ctf_parse_type(struct ctf_parser *p);
static bool ctf_parse_declaration(struct ctf_parser *p);

static bool parse_members(struct ctf_parser *p, struct ctf_type *t)
{
	struct ctf_name *outside = p->names;
	struct ctf_member **last = &t->members;

	while (!ctf_accept(p, '}')) {
		struct ctf_type *base;

		if (ctf_is_word(p, "typealias") || ctf_is_word(p, "typedef")) {
			if (!ctf_parse_declaration(p))
				return false;
			continue;
		}
		base = ctf_parse_type(p);
		if (!base)
			return false;
		/* a declaration of a struct, variant or enum, without a member */
		if (ctf_accept(p, ';'))
			continue;
		do {
			struct ctf_member *m = ctf_tsdl_alloc(p, sizeof *m);

			if (!m || !parse_declarator(p, base, &m->name, &m->type))
				return false;
			*last = m;
			last = &m->next;
		} while (ctf_accept(p, ','));
		if (!ctf_expect(p, ';'))
			return false;
	}
	ctf_forget_names(p, outside);
	return true;
}

static bool parse_align(struct ctf_parser *p, struct ctf_type *t)
{
	int64_t align;

	if (!ctf_accept_word(p, "align"))
		return true;
	if (!ctf_expect(p, '(') || !ctf_take_number(p, &align) || !ctf_expect(p, ')'))
		return false;
	if (!ctf_is_alignment(align))
		return ctf_wrong(p, "an alignment that is not a power of two");
	t->align = (uint32_t)align;
	return true;
}

static struct ctf_type *ctf_tsdl_parse_struct(struct ctf_parser *p)
{
	char *name;
	struct ctf_type *t;

	if (!take_tag(p, "struct", &name))
		return NULL;
	if (!ctf_accept(p, '{'))
		return name ? ctf_tsdl_look_up(p, name) : ctf_wrong(p, "'{' is missing");
	t = ctf_new_type(p, CTF_STRUCT);
	if (!t || !parse_members(p, t) || !parse_align(p, t) || (name && !declare_name(p, name, t)))
		return NULL;
	return t;
}

static struct ctf_type *parse_variant(struct ctf_parser *p)
{
	char *name, *tag = NULL;
	struct ctf_type *t, *known;

	if (!take_tag(p, "variant", &name))
		return NULL;
	if (ctf_accept(p, '<') && (!(tag = ctf_take_path(p)) || !ctf_expect(p, '>')))
		return NULL;
	if (ctf_accept(p, '{')) {
		t = ctf_new_type(p, CTF_VARIANT);
		if (!t || !parse_members(p, t))
			return NULL;
		t->reference = tag;
		if (name && !declare_name(p, name, t))
			return NULL;
		return t;
	}
	if (!name)
		return ctf_wrong(p, "'{' is missing");
	/* a variant declared before, with the tag given here */
	known = ctf_tsdl_look_up(p, name);
	t = known ? ctf_new_type(p, CTF_VARIANT) : NULL;
	if (!t)
		return NULL;
	*t = *known;
	if (tag)
		t->reference = tag;
	return t;
}

/* --- enumerations --- */

static bool parse_labels(struct ctf_parser *p, struct ctf_type *t)
{
	struct ctf_label **last = &t->labels;
	int64_t next = 0;

	while (!ctf_accept(p, '}')) {
		struct ctf_label *label = ctf_tsdl_alloc(p, sizeof *label);

		if (!label)
			return false;
		if (p->token != TOKEN_WORD && p->token != TOKEN_STRING)
			return ctf_wrong(p, "a label is missing");
		label->name = ctf_take_text(p);
		if (!label->name)
			return false;
		label->first = label->last = next;
		if (ctf_accept(p, '=')) {
			if (!ctf_take_number(p, &label->first))
				return false;
			label->last = label->first;
			if (ctf_accept(p, MARK_DOTS) && !ctf_take_number(p, &label->last))
				return false;
			if (t->is_signed ? label->last < label->first
					 : (uint64_t)label->last < (uint64_t)label->first)
				return ctf_wrong(p, "a range that ends before it begins");
		}
		next = (int64_t)((uint64_t)label->last + 1);
		*last = label;
		last = &label->next;
		if (!ctf_accept(p, ',') && !ctf_is_mark(p, '}'))
			return ctf_wrong(p, "',' is missing");
	}
	return true;
}

static struct ctf_type *parse_enum(struct ctf_parser *p)
{
	struct ctf_type *t, *container;
	char *name;

	if (!take_tag(p, "enum", &name))
		return NULL;
	if (name && !ctf_is_mark(p, ':') && !ctf_is_mark(p, '{'))
		return ctf_tsdl_look_up(p, name);
	container = ctf_accept(p, ':') ? ctf_parse_type(p) : ctf_tsdl_look_up(p, "int");
	if (!container)
		return NULL;
	if (container->kind != CTF_INTEGER)
		return ctf_wrong(p, "an enumeration's container must be an integer");
	t = ctf_new_type(p, CTF_ENUM);
	if (!t)
		return NULL;
	*t = *container;
	t->kind = CTF_ENUM;
	if (!ctf_expect(p, '{') || !parse_labels(p, t) || (name && !declare_name(p, name, t)))
		return NULL;
	return t;
}

/* --- the integer, floating_point and string types of TSDL, and their attributes --- */

static bool set_word(struct ctf_parser *p, struct ctf_type *t, const char *name, const char *value)
{
	static const struct {
		const char *word;
		uint8_t base;
	} bases[] = {{"decimal", 10},	  {"dec", 10}, {"d", 10}, {"i", 10},	 {"u", 10},
		     {"hexadecimal", 16}, {"hex", 16}, {"x", 16}, {"X", 16},	 {"p", 16},
		     {"octal", 8},	  {"oct", 8},  {"o", 8},  {"binary", 2}, {"b", 2}};
	const char *dot;

	if (!strcmp(name, "signed")) {
		t->is_signed = !strcmp(value, "true") || !strcmp(value, "TRUE");
	} else if (!strcmp(name, "byte_order")) {
		if (!strcmp(value, "be") || !strcmp(value, "network"))
			t->order = CTF_BIG;
		else if (!strcmp(value, "le"))
			t->order = CTF_LITTLE;
	} else if (!strcmp(name, "encoding")) {
		t->text = !strcmp(value, "UTF8") || !strcmp(value, "utf8") ||
			  !strcmp(value, "UTF-8") || !strcmp(value, "utf-8") ||
			  !strcmp(value, "ASCII") || !strcmp(value, "ascii");
	} else if (!strcmp(name, "base")) {
		for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
			if (!strcmp(value, bases[i].word))
				t->base = bases[i].base;
	} else if (!strcmp(name, "map") && !strncmp(value, "clock.", 6)) {
		/* clock.NAME.value */
		char clock[256];

		dot = strchr(value + 6, '.');
		snprintf(clock, sizeof clock, "%.*s",
			 dot ? (int)(dot - value - 6) : (int)strlen(value + 6), value + 6);
		t->clock = ctf_clock_named(p->metadata, clock);
		if (!t->clock)
			return ctf_wrong(p, "too many clocks, or out of memory");
	}
	return true;
}

static void ctf_tsdl_set_number(struct ctf_parser *p, struct ctf_type *t, const char *name,
				int64_t value)
{
	if (!strcmp(name, "size")) {
		p->given.size = value;
	} else if (!strcmp(name, "align")) {
		p->given.align = value;
		p->given.has_align = true;
	} else if (!strcmp(name, "exp_dig")) {
		p->given.exponent = value;
	} else if (!strcmp(name, "mant_dig")) {
		p->given.mantissa = value;
	} else if (!strcmp(name, "signed")) {
		t->is_signed = value != 0;
	} else if (!strcmp(name, "base")) {
		if (value == 2 || value == 8 || value == 10 || value == 16)
			t->base = (uint8_t)value;
	}
}

/* { name = value; ... } */
static bool parse_attributes(struct ctf_parser *p, struct ctf_type *t)
{
	memset(&p->given, 0, sizeof p->given);
	if (!ctf_expect(p, '{'))
		return false;
	while (!ctf_accept(p, '}')) {
		char *name = ctf_take_path(p), *value;
		int64_t number;

		if (!name || !ctf_expect(p, '='))
			return false;
		if (p->token == TOKEN_WORD || p->token == TOKEN_STRING ||
		    p->token == TOKEN_CHARACTER) {
			value = p->token == TOKEN_WORD ? ctf_take_path(p) : ctf_take_text(p);
			if (!value || !set_word(p, t, name, value))
				return false;
		} else {
			if (!ctf_take_number(p, &number))
				return false;
			ctf_tsdl_set_number(p, t, name, number);
		}
		if (!ctf_expect(p, ';'))
			return false;
	}
	return true;
}

bool ctf_is_alignment(int64_t n)
{
	return n > 0 && n <= 1 << 20 && !(n & (n - 1));
}

/* Set the size and the alignment of a number. align: the usual one. */
static struct ctf_type *ctf_tsdl_set_bits(struct ctf_parser *p, struct ctf_type *t, int64_t size,
					  int64_t align)
{
	if (p->given.has_align)
		align = p->given.align;
	if (!ctf_is_alignment(align))
		return ctf_wrong(p, "an alignment that is not a power of two");
	t->size = (uint8_t)size;
	t->align = (uint32_t)align;
	return t;
}

/* Parse what follows the keyword. */
static struct ctf_type *ctf_parse_integer(struct ctf_parser *p)
{
	struct ctf_type *t = ctf_new_type(p, CTF_INTEGER);

	if (!t || !parse_attributes(p, t))
		return NULL;
	if (p->given.size < 1 || p->given.size > 64)
		return ctf_wrong(p, "an integer's size must be 1 to 64 bits");
	return ctf_tsdl_set_bits(p, t, p->given.size, p->given.size % 8 ? 1 : 8);
}

static struct ctf_type *ctf_parse_float(struct ctf_parser *p)
{
	struct ctf_type *t = ctf_new_type(p, CTF_FLOAT);

	if (!t || !parse_attributes(p, t))
		return NULL;
	if (!(p->given.exponent == 8 && p->given.mantissa == 24) &&
	    !(p->given.exponent == 11 && p->given.mantissa == 53))
		return ctf_wrong(p, "a floating-point number of neither 32 nor 64 bits");
	return ctf_tsdl_set_bits(p, t, p->given.exponent == 8 ? 32 : 64, 8);
}

static struct ctf_type *ctf_parse_string(struct ctf_parser *p)
{
	struct ctf_type *t = ctf_new_type(p, CTF_STRING);

	if (!t || (ctf_is_mark(p, '{') && !parse_attributes(p, t)))
		return NULL;
	t->align = 8;
	return t;
}

/* --- types and declarations --- */

static struct ctf_type *ctf_parse_type(struct ctf_parser *p)
{
	static const struct {
		const char *word;
		struct ctf_type *(*parse)(struct ctf_parser *p);
	} kinds[] = {{"integer", ctf_parse_integer}, {"floating_point", ctf_parse_float},
		     {"string", ctf_parse_string},   {"struct", ctf_tsdl_parse_struct},
		     {"variant", parse_variant},     {"enum", parse_enum}};
	struct ctf_type *t = NULL;
	char *name;

	if (p->depth == CTF_DEPTH)
		return ctf_wrong(p, "types are nested too deep");
	p->depth++;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (ctf_accept_word(p, kinds[i].word)) {
			t = kinds[i].parse(p);
			goto out;
		}
	name = ctf_tsdl_take_name(p);
	if (name)
		t = ctf_tsdl_look_up(p, name);
out:
	p->depth--;
	return t;
}

/* Test whether a declaration begins: typealias, typedef, struct, enum or variant. */
static bool ctf_at_declaration(const struct ctf_parser *p)
{
	static const char *const words[] = {"typealias", "typedef", "struct", "variant", "enum"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (ctf_is_word(p, words[i]))
			return true;
	return false;
}

static bool ctf_parse_declaration(struct ctf_parser *p)
{
	struct ctf_type *t;
	const char *name;

	if (ctf_accept_word(p, "typealias")) {
		t = ctf_parse_type(p);
		if (!t || !ctf_expect(p, MARK_ASSIGN_TYPE))
			return false;
		name = ctf_tsdl_take_name(p);
		return name && declare_name(p, name, t) && ctf_expect(p, ';');
	}
	if (ctf_accept_word(p, "typedef")) {
		struct ctf_type *base = ctf_parse_type(p);

		if (!base)
			return false;
		do {
			if (!parse_declarator(p, base, &name, &t) || !declare_name(p, name, t))
				return false;
		} while (ctf_accept(p, ','));
		return ctf_expect(p, ';');
	}
	return ctf_parse_type(p) && ctf_expect(p, ';');
}

/* --- blocks --- */

/* Parse one line of a block. The name may be a whole path, which begins with the block's name:
 * "stream.event.header". */
static bool parse_attribute(struct ctf_parser *p, struct ctf_attribute *a)
{
	*a = (struct ctf_attribute){0};
	if (p->token == TOKEN_STRING)
		a->name = ctf_take_text(p); /* of env */
	else
		a->name = ctf_take_path(p);
	if (!a->name)
		return false;
	if (ctf_accept(p, MARK_ASSIGN_TYPE)) {
		a->type = ctf_parse_type(p);
		return a->type && ctf_expect(p, ';');
	}
	if (!ctf_expect(p, '='))
		return false;
	if (p->token == TOKEN_STRING || p->token == TOKEN_CHARACTER)
		a->text = ctf_take_text(p);
	else if (p->token == TOKEN_WORD)
		a->text = ctf_take_path(p);
	else if (!ctf_take_number(p, &a->number))
		return false;
	/* C joins adjacent strings, although LTTng writes none */
	return !p->error->what[0] && ctf_expect(p, ';');
}

static bool parse_uuid(const char *text, uint8_t *uuid)
{
	int n = 0;

	for (; *text; text++) {
		unsigned value;
		int used;

		if (*text == '-')
			continue;
		if (n == 16 || sscanf(text, "%2x%n", &value, &used) != 1 || used != 2)
			return false;
		uuid[n++] = (uint8_t)value;
		text++;
	}
	return n == 16;
}

static bool trace_attribute(struct ctf_parser *p, void *block, const struct ctf_attribute *a)
{
	struct ctf_metadata *m = p->metadata;

	(void)block;
	if (!strcmp(a->name, "major"))
		m->major = (uint64_t)a->number;
	else if (!strcmp(a->name, "minor"))
		m->minor = (uint64_t)a->number;
	else if (!strcmp(a->name, "byte_order") && a->text)
		m->big = !strcmp(a->text, "be") || !strcmp(a->text, "network");
	else if (!strcmp(a->name, "uuid") && a->text)
		m->has_uuid = parse_uuid(a->text, m->uuid);
	else if (!strcmp(a->name, "packet.header") && a->type)
		m->packet_header = a->type;
	return true;
}

static bool stream_attribute(struct ctf_parser *p, void *block, const struct ctf_attribute *a)
{
	struct ctf_stream_class *s = block;

	(void)p;
	if (!strcmp(a->name, "id"))
		s->id = (uint64_t)a->number;
	else if (!strcmp(a->name, "packet.context"))
		s->packet_context = a->type;
	else if (!strcmp(a->name, "event.header"))
		s->header = a->type;
	else if (!strcmp(a->name, "event.context"))
		s->context = a->type;
	return true;
}

static bool event_attribute(struct ctf_parser *p, void *block, const struct ctf_attribute *a)
{
	struct ctf_event_class *c = block;

	(void)p;
	if (!strcmp(a->name, "id"))
		c->id = (uint64_t)a->number;
	else if (!strcmp(a->name, "stream_id")) {
		c->stream = (uint64_t)a->number;
		c->has_stream = true;
	} else if (!strcmp(a->name, "name") && a->text)
		c->name = a->text;
	else if (!strcmp(a->name, "model.emf.uri") && a->text)
		c->uri = a->text;
	else if (!strcmp(a->name, "context"))
		c->context = a->type;
	else if (!strcmp(a->name, "fields"))
		c->fields = a->type;
	return true;
}

static bool clock_attribute(struct ctf_parser *p, void *block, const struct ctf_attribute *a)
{
	struct ctf_clock *c = block;

	if (!strcmp(a->name, "name") && a->text)
		c->name = a->text;
	else if (!strcmp(a->name, "freq"))
		c->frequency = (uint64_t)a->number;
	else if (!strcmp(a->name, "offset_s"))
		c->offset_s = a->number;
	else if (!strcmp(a->name, "offset"))
		c->offset = a->number;
	else if (!strcmp(a->name, "absolute"))
		c->absolute = a->text ? !strcasecmp(a->text, "true") : a->number;
	if (!c->frequency)
		return ctf_wrong(p, "a clock of frequency 0");
	return true;
}

static bool env_attribute(struct ctf_parser *p, void *block, const struct ctf_attribute *a)
{
	(void)block;
	return ctf_env_add(p->metadata, *a) || ctf_wrong(p, "out of memory");
}

/* Parse a block. take: keep an attribute; NULL: they are ignored. */
static bool parse_block(struct ctf_parser *p, void *block,
			bool (*take)(struct ctf_parser *p, void *block,
				     const struct ctf_attribute *a))
{
	struct ctf_name *outside = p->names;
	struct ctf_attribute a;

	if (!ctf_expect(p, '{'))
		return false;
	while (!ctf_accept(p, '}')) {
		if (ctf_at_declaration(p)) {
			if (!ctf_parse_declaration(p))
				return false;
			continue;
		}
		if (!parse_attribute(p, &a) || (take && !take(p, block, &a)))
			return false;
	}
	ctf_forget_names(p, outside);
	return ctf_expect(p, ';');
}

static bool parse_stream(struct ctf_parser *p)
{
	struct ctf_stream_class *s = ctf_tsdl_alloc(p, sizeof *s);

	if (!s || !parse_block(p, s, stream_attribute))
		return false;
	s->next = p->metadata->streams;
	p->metadata->streams = s;
	return true;
}

static bool parse_event(struct ctf_parser *p)
{
	struct ctf_event_class *c = ctf_tsdl_alloc(p, sizeof *c);

	if (!c)
		return false;
	c->line = p->line;
	if (!parse_block(p, c, event_attribute))
		return false;
	if (!c->name)
		return ctf_wrong(p, "an event without a name");
	c->next = p->metadata->events;
	p->metadata->events = c;
	return true;
}

/* Parse a block "clock". If a type has named the clock already, fill in that clock. */
static bool parse_clock(struct ctf_parser *p)
{
	struct ctf_clock read = {.frequency = 1000000000}, *known, *next;

	if (!parse_block(p, &read, clock_attribute))
		return false;
	known = ctf_clock_named(p->metadata, read.name ? read.name : "");
	if (!known)
		return ctf_wrong(p, "out of memory");
	next = known->next;
	read.name = known->name;
	read.declared = true;
	*known = read;
	known->next = next;
	return true;
}

static bool parse_statement(struct ctf_parser *p)
{
	if (ctf_at_declaration(p))
		return ctf_parse_declaration(p);
	if (ctf_accept_word(p, "trace"))
		return parse_block(p, NULL, trace_attribute);
	if (ctf_accept_word(p, "stream"))
		return parse_stream(p);
	if (ctf_accept_word(p, "event"))
		return parse_event(p);
	if (ctf_accept_word(p, "clock"))
		return parse_clock(p);
	if (ctf_accept_word(p, "env"))
		return parse_block(p, NULL, env_attribute);
	if (ctf_accept_word(p, "callsite"))
		return parse_block(p, NULL, NULL);
	return ctf_wrong(p, "this is not a statement of CTF 1.8");
}

/* Parse n bytes of TSDL text; messages name it `file`. -1 with *e filled: the line and what is
 * wrong there, or out of memory. Declarations before that line are kept. */
static int ctf_metadata_parse(struct ctf_metadata *m, const char *text, size_t n, const char *file,
			      struct error *e)
{
	struct ctf_parser p = {
		.at = text, .end = text + n, .line = 1, .metadata = m, .file = file, .error = e};

	*m = (struct ctf_metadata){.major = 1, .minor = 8};
	e->what[0] = '\0';
	ctf_lexer_next(&p);
	while (p.token != TOKEN_END && !e->what[0])
		if (!ctf_accept(&p, ';'))
			parse_statement(&p);
	free(p.text);
	m->complete = !e->what[0];
	return m->complete ? 0 : -1;
}

/* --- one trace of an input: its metadata, clock and environment --- */

enum { METADATA_MOST = 64 << 20 };

size_t ctf_prefix_size(const char *member)
{
	const char *slash = strrchr(member, '/');

	return slash ? (size_t)(slash - member) + 1 : 0;
}

/* Traces of drafts and of later versions would be misread. */
static int ctf_metadata_check_version(const struct ctf_metadata *m, const char *path,
				      struct error *e)
{
	if ((m->major == 1 && m->minor == 8) || m->major == 2)
		return 0;
	return error_set(e, path, NO_OFFSET,
			 "the version is CTF %" PRIu64 ".%" PRIu64 ": only 1.8 and 2 can be read",
			 m->major, m->minor);
}

static int ctf_metadata_read_metadata(struct ctf_trace *t, const char *member, struct error *e)
{
	struct input *in = t->ctf->input;
	char path[512], *text;
	void *data;
	size_t size, n;
	int failed;

	tree_path(in->tree, member, path, sizeof path);
	if (tree_read(in->tree, member, METADATA_MOST, &data, &size, e))
		return -1;
	e->what[0] = '\0';
	if (ctf_metadata_text(data, size, path, &text, &n, e) && text)
		input_damage_error(in, e);
	free(data);
	if (!text)
		return -1;
	if (ctf_metadata_is_json(text, n)) {
		failed = ctf_metadata_fragments(&t->metadata, text, n, path, e);
		/* of another version, or with an extension */
		if (failed && t->metadata.major != 2) {
			free(text);
			return -1;
		}
	} else {
		failed = ctf_metadata_parse(&t->metadata, text, n, path, e);
	}
	if (failed)
		input_damage_error(in, e);
	free(text);
	return ctf_metadata_check_version(&t->metadata, path, e);
}

bool ctf_trace_wall(const struct ctf_clock *c, int64_t *wall)
{
	__int128 ns = (__int128)c->offset * 1000000000, f = (__int128)c->frequency;

	ns = ns / f - (ns % f < 0) + (__int128)c->offset_s * 1000000000;
	*wall = (int64_t)ns;
	return ns < (__int128)TIME_LIMIT && ns > -(__int128)TIME_LIMIT;
}

void ctf_trace_set_offset(struct ctf_stream *s)
{
	const struct ctf_clock *c = s->clock;
	struct input *in = s->trace->ctf->input;
	char path[512], member[300];
	int64_t wall;

	s->frequency = c ? c->frequency : 1000000000;
	if (!c)
		return;
	if (ctf_trace_wall(c, &wall)) {
		s->offset_s = c->offset_s;
		s->offset = c->offset;
		return;
	}
	snprintf(member, sizeof member, "%.280smetadata", s->trace->prefix);
	input_damage(in, tree_path(in->tree, member, path, sizeof path), NO_OFFSET,
		     "the offset of the clock '%.100s' is impossible: times are without it",
		     c->name);
}

const struct ctf_clock *ctf_trace_clock(const struct ctf_trace *t)
{
	for (size_t i = 0; i < t->nstreams; i++)
		if (t->streams[i].clock)
			return t->streams[i].clock;
	return NULL;
}

void ctf_trace_free(struct ctf_trace *t)
{
	ctf_classes_free(t);
	ctf_metadata_free(&t->metadata);
	free(t->own_prefix);
	free(t->cpus);
}

int ctf_trace_open(struct ctf *ctf, const char *member, struct error *e)
{
	struct ctf_trace *t;
	const struct ctf_attribute *domain, *tracer, *release;

	if (ARRAY_GROW(ctf->traces, ctf->traces_capacity, ctf->ntraces))
		return error_no_memory(e);
	t = &ctf->traces[ctf->ntraces];
	*t = (struct ctf_trace){.ctf = ctf};
	t->prefix = t->own_prefix = strndup(member, ctf_prefix_size(member));
	if (!t->prefix ? error_no_memory(e) : ctf_metadata_read_metadata(t, member, e)) {
		ctf_trace_free(t);
		return -1;
	}
	ctf->ntraces++;
	tracer = ctf_env_find(&t->metadata, "tracer_name");
	t->own = tracer && tracer->text && !strcmp(tracer->text, "trencode");
	domain = ctf_env_find(&t->metadata, "domain");
	release = ctf_env_find(&t->metadata, "kernel_release");
	t->names = ctf_alloc(&t->metadata, sizeof *t->names);
	if (t->names && release)
		t->names->release = release->text;
	t->kernel = domain && domain->text && !strcmp(domain->text, "kernel");
	return 0;
}

void ctf_trace_info(struct ctf_trace *t, struct trace_info *info)
{
	static const char *const variables[] = {"domain", "hostname", "tracer_name", "trace_name"};
	const struct ctf_clock *c = ctf_trace_clock(t);
	char text[64], uuid[40];
	const uint8_t *u = t->metadata.uuid;

	if (t->ctf->ntraces > 1)
		fact_text(info, "trace", t->prefix);
	snprintf(text, sizeof text, t->metadata.major == 2 ? "%" PRIu64 : "%" PRIu64 ".%" PRIu64,
		 t->metadata.major, t->metadata.minor);
	fact_text(info, "version", text);
	fact_text(info, "byte order", t->metadata.big ? "big-endian" : "little-endian");
	if (t->metadata.has_uuid) {
		snprintf(uuid, sizeof uuid,
			 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
			 "%02x%02x%02x%02x%02x%02x",
			 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11],
			 u[12], u[13], u[14], u[15]);
		fact_text(info, "uuid", uuid);
	}
	for (size_t k = 0; k < sizeof variables / sizeof *variables; k++) {
		const struct ctf_attribute *v = ctf_env_find(&t->metadata, variables[k]);

		if (v && v->text)
			fact_text(info, variables[k], v->text);
	}
	if (c) {
		fact_text(info, "clock", c->name);
		fact_number(info, "clock rate", c->frequency);
		if (c->origin)
			fact_text(info, "clock origin", c->origin);
		if (c->has_precision)
			fact_number(info, "clock precision", c->precision);
		if (c->has_accuracy)
			fact_number(info, "clock accuracy", c->accuracy);
	}
	fact_number(info, "streams", t->nstreams);
	fact_number(info, "event types", t->nclasses);
}
