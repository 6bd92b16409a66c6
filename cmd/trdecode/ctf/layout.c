#include "cmd/trdecode/ctf/layout.h"

#include <inttypes.h>
#include <string.h>

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
	/* of sched_switch */
	{SCOPE_FIELDS, "next_tid", CTF_NEXT_TID},
	{SCOPE_FIELDS, "next_comm", CTF_NEXT_COMM},
};

const char *ctf_bare_name(const char *name)
{
	return name[0] == '_' && name[1] ? name + 1 : name;
}

static enum ctf_role role_of(const struct maker *m, const struct ctf_type *t, const char *name)
{
	if (m->scope == SCOPE_EVENT_HEADER && t->kind == CTF_INTEGER &&
	    (t->clock || !strcmp(name, "timestamp")))
		return CTF_TIME;
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if (roles[i].scope == m->scope && !strcmp(roles[i].name, ctf_bare_name(name)))
			return roles[i].role;
	return CTF_NO_ROLE;
}

/* --- lengths and tags --- */

static struct ctf_part *member(const struct maker *m, const struct ctf_part *p, const char *name,
			       size_t n)
{
	struct ctf_part *found = NULL;

	if (p->kind != CTF_STRUCT && p->kind != CTF_VARIANT)
		return NULL;
	for (struct ctf_part *c = p->children; c && m->metadata->steps < CTF_STEPS; c = c->next) {
		m->metadata->steps++;
		if (!strncmp(c->name, name, n) && !c->name[n])
			found = c;
	}
	return found;
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

static int refer(struct maker *m, struct ctf_part *p, const struct inside *in)
{
	struct ctf_part *to;

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
	if (!to->slot) {
		if (m->metadata->slots == CTF_SLOTS)
			return error_set(m->error, NULL, NO_OFFSET, "too many lengths and tags");
		to->slot = ++m->metadata->slots;
	}
	p->refers = to;
	return 0;
}

/* --- parts --- */

static struct ctf_part *make(struct maker *m, const struct ctf_type *t, const char *name,
			     const struct inside *outer);

static int make_members(struct maker *m, const struct ctf_type *t, const struct inside *in)
{
	struct ctf_part *p = in->part, **last = &p->children;

	for (const struct ctf_member *member_of = t->members; member_of;
	     member_of = member_of->next) {
		struct ctf_part *c = make(m, member_of->type, member_of->name, in);

		if (!c)
			return -1;
		*last = c;
		last = &c->next;
		if (p->kind == CTF_STRUCT && c->align > p->align)
			p->align = c->align;
	}
	return 0;
}

static struct ctf_part *make(struct maker *m, const struct ctf_type *t, const char *name,
			     const struct inside *outer)
{
	struct ctf_part *p;
	struct inside in = {.outer = outer, .depth = outer ? outer->depth + 1 : 0};

	if (in.depth >= CTF_DEPTH || ++m->metadata->parts > CTF_PARTS) {
		error_set(m->error, NULL, NO_OFFSET,
			  "it has too many parts, or they are nested "
			  "too deep");
		return NULL;
	}
	p = in.part = ctf_alloc(m->metadata, sizeof *p);
	if (!p) {
		error_set(m->error, NULL, NO_OFFSET, "out of memory");
		return NULL;
	}
	p->kind = t->kind;
	p->type = t;
	p->name = name;
	p->align = t->align;
	p->size = t->size;
	p->count = t->count;
	p->is_signed = t->is_signed;
	p->big = t->order == CTF_NATIVE ? m->metadata->big : t->order == CTF_BIG;
	p->role = role_of(m, t, name);
	switch (t->kind) {
	case CTF_STRUCT:
	case CTF_VARIANT:
		if ((t->kind == CTF_VARIANT && refer(m, p, outer)) || make_members(m, t, &in))
			return NULL;
		if (t->kind == CTF_VARIANT)
			p->align = 1;
		break;
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		if (t->kind == CTF_SEQUENCE && refer(m, p, outer))
			return NULL;
		p->children = make(m, t->element, name, &in);
		if (!p->children)
			return NULL;
		p->children->role = CTF_NO_ROLE;
		p->align = p->children->align;
		break;
	default: break;
	}
	return p;
}

int ctf_layout_add(struct ctf_metadata *m, struct ctf_layout *l, enum ctf_scope scope,
		   const struct ctf_type *type, struct error *e)
{
	struct maker maker = {m, l, scope, e};

	if (!type)
		return 0;
	if (type->kind != CTF_STRUCT)
		return error_set(e, NULL, NO_OFFSET, "not a struct");
	l->scope[scope] = make(&maker, type, "", NULL);
	return l->scope[scope] ? 0 : -1;
}
