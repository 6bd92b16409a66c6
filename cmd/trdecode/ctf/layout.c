#include "cmd/trdecode/ctf/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/heap.h"

#define TOO_MANY "it has too many parts, or they are nested too deep"

/* A part and the parts that contain it. */
struct inside {
	struct ctf_part *part;
	const struct inside *outer;
	int depth;
};

struct maker {
	struct ctf_metadata *metadata;
	struct ctf_layout *layout;
	enum ctf_scope scope;
	struct error *error;
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

static enum ctf_role role_of(const struct maker *m, const struct ctf_type *t, const char *name)
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
			p = (int)m->scope == i && outermost ? outermost->part : m->layout->scope[i];
			return find_below(m, p, path + strlen(scopes[i]));
		}
	for (; in; in = in->outer) {
		p = find_below(m, in->part, path);
		if (p)
			return p;
	}
	for (int i = (int)m->scope; i-- > 0;) {
		p = find_below(m, m->layout->scope[i], path);
		if (p)
			return p;
	}
	return NULL;
}

/* Make p an array whose length is a number of the environment. */
static bool refer_env(const struct maker *m, struct ctf_part *p)
{
	const char *path = p->type->reference;
	const struct ctf_env *v;

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
static bool step(const struct maker *m)
{
	return m->metadata->steps < CTF_STEPS && ++m->metadata->steps;
}

static bool contains(const struct inside *in, const struct ctf_part *p)
{
	while (in && in->part != p)
		in = in->outer;
	return in;
}

/* The fields that a location of version 2 may locate: several where its path leads through a
 * variant. */
struct located {
	struct ctf_part **parts; /* for several, of CTF_LOCATED */
	size_t n;
};

enum { CTF_LOCATED = 256 };

/* Follow the names from number i on. false: too many fields. */
static bool locate(const struct maker *m, struct ctf_part *p, size_t i, const struct inside *in,
		   const struct ctf_location *location, struct located *to)
{
	struct ctf_part *named;
	bool ok = true;

	if (!step(m))
		return false;
	switch (p->kind) {
	case CTF_STRUCT:
		named = i < location->n
				? member(m, p, location->names[i], strlen(location->names[i]))
				: NULL;
		return !named || locate(m, named, i + 1, in, location, to);
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		/* the element that is read now */
		return !contains(in, p) || !p->children ||
		       locate(m, p->children, i, in, location, to);
	case CTF_VARIANT:
	case CTF_OPTIONAL:
		for (struct ctf_part *c = p->children; c && ok; c = c->next)
			ok = locate(m, c, i, in, location, to);
		return ok;
	case CTF_INTEGER:
	case CTF_ENUM:
		if (i < location->n)
			return true;
		if (to->n == CTF_LOCATED)
			return false;
		to->parts[to->n++] = p;
		return true;
	default: return true;
	}
}

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
		if (!step(m) || !replace_slot(m, p->children, from, to))
			return false;
	}
	return true;
}

/* Give all parts the same slot. Parts that are located with one of them get it too. */
static int share_slot(const struct maker *m, struct ctf_part *root, const struct located *all)
{
	uint32_t slot = 0;
	bool ok = true;

	for (size_t i = 0; i < all->n && !slot; i++)
		slot = all->parts[i]->slot;
	if (!slot && new_slot(m, &slot))
		return -1;
	for (size_t i = 0; i < all->n && ok; i++) {
		uint32_t had = all->parts[i]->slot;

		all->parts[i]->slot = slot;
		if (!had || had == slot)
			continue;
		ok = replace_slot(m, root, had, slot);
		for (int s = 0; s < SCOPES && ok; s++)
			ok = replace_slot(m, m->layout->scope[s], had, slot);
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
	const struct ctf_location *location = p->type->location;
	struct ctf_part *parts[CTF_LOCATED], *from = NULL, *root = NULL;
	struct located to = {parts, 0};
	size_t up = location->up;

	for (const struct inside *i = in; i; i = i->outer) {
		if (i->part->kind == CTF_STRUCT && !from && !up--)
			from = i->part;
		root = i->part;
	}
	if (location->scope >= 0)
		from = location->up			  ? NULL
		       : location->scope == (int)m->scope ? root
							  : m->layout->scope[location->scope];
	if (from && !locate(m, from, 0, in, location, &to))
		return error_set(m->error, NULL, NO_OFFSET, "'%.100s' needs too many fields",
				 p->name);
	for (size_t i = 0; i < to.n; i++)
		if (!is_tag(p, parts[i]) || parts[i]->is_signed != parts[0]->is_signed)
			to.n = 0;
	if (!to.n)
		return error_set(m->error, NULL, NO_OFFSET,
				 "'%.100s', the %s of '%.100s', is missing or of another kind",
				 location->names[location->n - 1],
				 p->kind == CTF_SEQUENCE ? "length" : "tag", p->name);
	if (share_slot(m, root, &to))
		return -1;
	p->refers = parts[0];
	return 0;
}

static int refer(struct maker *m, struct ctf_part *p, const struct inside *in)
{
	struct ctf_part *to;

	if (p->type->location)
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

/* A range of a tag's values, and the option for them. Of two ranges that overlap, the one that is
 * declared first counts. */
struct claim {
	struct ctf_choice choice;
	size_t order;
};

struct claims {
	struct claim *all;
	size_t n, capacity;
};

static int add_claims(struct claims *to, const struct ctf_part *tag, const struct ctf_label *range,
		      const struct ctf_part *option)
{
	struct ctf_choice choice = {ctf_tag_key(tag, (uint64_t)range->first),
				    ctf_tag_key(tag, (uint64_t)range->last), option};

	if (choice.first > choice.last)
		return 0;
	if (ARRAY_GROW(to->all, to->capacity, to->n))
		return -1;
	to->all[to->n] = (struct claim){choice, to->n};
	to->n++;
	return 0;
}

/* Claim, for each label of the tag, the first option that has its name, or its name after '_'. */
static int claim_labels(const struct maker *m, const struct ctf_part *p, struct claims *to)
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
		if (!place || add_claims(to, p->refers, l, *place))
			return -1;
	}
	return 0;
}

static int claim_ranges(const struct ctf_part *p, struct claims *to)
{
	for (const struct ctf_part *c = p->children; c; c = c->next)
		for (const struct ctf_label *l = c->ranges; l; l = l->next)
			if (add_claims(to, p->refers, l, c))
				return -1;
	return 0;
}

static int compare_claims(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	return (x->choice.first > y->choice.first) - (x->choice.first < y->choice.first);
}

/* Make choices of claims: from each value at which a claim begins or ends, the first of those that
 * contain it. `open` has room for all claims. */
static void settle_claims(struct ctf_part *p, const struct claims *c, struct claim *open)
{
	size_t next = 0, nopen = 0;
	uint64_t at = 0, end;

	while (nopen || next < c->n) {
		if (!nopen)
			at = c->all[next].choice.first;
		for (; next < c->n && c->all[next].choice.first <= at; next++) {
			open[nopen++] = c->all[next];
			HEAP_UP(open, nopen - 1, a, b, a->order < b->order);
		}
		if (open->choice.last < at) {
			*open = open[--nopen];
			if (nopen)
				HEAP_DOWN(open, nopen, 0, a, b, a->order < b->order);
			continue;
		}
		end = open->choice.last;
		if (next < c->n && c->all[next].choice.first <= end)
			end = c->all[next].choice.first - 1;
		p->choices[p->nchoices++] = (struct ctf_choice){at, end, open->choice.option};
		if (end == UINT64_MAX)
			break;
		at = end + 1;
	}
}

/* Find which values of the tag choose which option. */
static int make_choices(const struct maker *m, struct ctf_part *p)
{
	struct claims c = {.all = NULL};
	struct claim *open = NULL;
	int result = p->type->location ? claim_ranges(p, &c) : claim_labels(m, p, &c);

	if (!result && c.n > CTF_PARTS - m->metadata->parts) {
		result = error_set(m->error, NULL, NO_OFFSET, TOO_MANY);
	} else if (!result && c.n) {
		m->metadata->parts += (uint32_t)c.n;
		qsort(c.all, c.n, sizeof *c.all, compare_claims);
		open = calloc(c.n, sizeof *open);
		/* at most two begin at each claim's begin and end */
		p->choices = ctf_alloc(m->metadata, 2 * c.n * sizeof *p->choices);
		if (open && p->choices)
			settle_claims(p, &c, open);
		else
			result = error_no_memory(m->error);
	} else if (result) {
		error_no_memory(m->error);
	}
	free(open);
	free(c.all);
	return result;
}

/* --- parts --- */

static int make(struct maker *m, const struct ctf_type *t, const char *name,
		const struct inside *outer, struct ctf_part **at);

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

static void set_type(const struct maker *m, struct ctf_part *p, const struct ctf_type *t,
		     const char *name)
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
	p->role = role_of(m, t, name);
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
	set_type(m, p, t, name);
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

int ctf_layout_add(struct ctf_metadata *m, struct ctf_layout *l, enum ctf_scope scope,
		   const struct ctf_type *type, struct error *e)
{
	struct maker maker = {m, l, scope, e};
	struct ctf_part *part;

	if (!type)
		return 0;
	if (type->kind != CTF_STRUCT)
		return error_set(e, NULL, NO_OFFSET, "not a struct");
	/* a scope that cannot be made is not declared */
	if (make(&maker, type, "", NULL, &part))
		return -1;
	l->scope[scope] = part;
	return 0;
}
