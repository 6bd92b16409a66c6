/*
 * demangle_full.c - the full form of a mangled name, by libiberty, within bounds
 *
 * libiberty limits its recursion, but neither its time nor its output: a name of 400 bytes can
 * expand to a text of 2^80, and searches walk a tree as if shared branches were separate. So a name
 * is first read by the readers of this directory, its tree is measured before it is printed, and
 * printing stops when the text is full.
 */
#include "common/symbols/demangle_full.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)

/* Nodes of a tree, with shared branches counted each time; the largest tree in LLVM has 9
 * thousand. */
#define NODES_MAX 200000

/* The product of nodes and pack expansions: each expansion searches the tree for its pack. */
#define SEARCH_MAX 20000000

/* libiberty's printer puts saved scopes x templates entries of 16 bytes on the stack. */
#define STACK_ENTRIES_MAX 32768

/* T<..T<..>..> in a conversion operator: libiberty reads each level twice. */
#define CONVERSIONS_MAX 10

/* Most levels of the tree, for the recursion of tree_measure() */
#define DEPTH_MAX 4096

struct measure {
	const struct demangle_component *node; /* NULL: free slot */
	uint64_t nodes, packs;
};

struct measures {
	struct measure *slots;
	size_t mask, used, most;
	unsigned depth;
	uint64_t scopes, templates;
	bool failed;
};

static size_t node_hash(const void *p)
{
	return (size_t)(((uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static struct measure *find_slot(struct measures *m, const struct demangle_component *c)
{
	size_t i = node_hash(c) & m->mask;

	while (m->slots[i].node && m->slots[i].node != c)
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

/* Get the subtrees of c. Returns their number. */
static int tree_branches(const struct demangle_component *c,
			 const struct demangle_component *out[2])
{
	out[0] = out[1] = NULL;
	switch (c->type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE: return 0;
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR: out[0] = c->u.s_extended_operator.name; return 1;
	case DEMANGLE_COMPONENT_FIXED_TYPE: out[0] = c->u.s_fixed.length; return 1;
	case DEMANGLE_COMPONENT_CTOR: out[0] = c->u.s_ctor.name; return 1;
	case DEMANGLE_COMPONENT_DTOR: out[0] = c->u.s_dtor.name; return 1;
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG: out[0] = c->u.s_unary_num.sub; return 1;
	default:
		out[0] = c->u.s_binary.left;
		out[1] = c->u.s_binary.right;
		return 2;
	}
}

static bool tree_measure(struct measures *m, const struct demangle_component *c, uint64_t *nodes,
			 uint64_t *packs)
{
	const struct demangle_component *sub[2];
	struct measure *slot;
	int i, n;

	*nodes = *packs = 0;
	if (!c)
		return true;
	slot = find_slot(m, c);
	if (slot->node) {
		*nodes = slot->nodes;
		*packs = slot->packs;
		return true;
	}
	if (m->used++ == m->most || m->depth == DEPTH_MAX)
		return false;
	slot->node = c; /* a cycle ends here */
	m->depth++;
	*nodes = 1;
	*packs = c->type == DEMANGLE_COMPONENT_PACK_EXPANSION;
	m->templates += c->type == DEMANGLE_COMPONENT_TEMPLATE;
	m->scopes += c->type == DEMANGLE_COMPONENT_REFERENCE ||
		     c->type == DEMANGLE_COMPONENT_RVALUE_REFERENCE;
	n = tree_branches(c, sub);
	for (i = 0; i < n; i++) {
		uint64_t below, packs_below;

		if (!tree_measure(m, sub[i], &below, &packs_below))
			return false;
		*nodes += below;
		*packs += packs_below;
	}
	m->depth--;
	slot->nodes = *nodes;
	slot->packs = *packs;
	return *nodes <= NODES_MAX;
}

/* Is printing the tree of a name of n bytes within bounds? */
static bool tree_printable(const struct demangle_component *tree, size_t n)
{
	struct measures m = {.mask = 255, .most = 2 * n};
	uint64_t nodes, packs;
	bool good;

	while (m.mask < 4 * n) /* libiberty makes at most 2 n nodes: the table is half full */
		m.mask = m.mask * 2 + 1;
	m.slots = calloc(m.mask + 1, sizeof *m.slots);
	if (!m.slots)
		return false;
	good = tree_measure(&m, tree, &nodes, &packs);
	free(m.slots);
	return good && nodes * packs <= SEARCH_MAX &&
	       (m.templates + 1) * (m.scopes + 1) <= STACK_ENTRIES_MAX;
}

struct printer {
	struct demangle_text *text;
	jmp_buf stop;
	bool can_stop;
};

static void print_component(const char *s, size_t n, void *opaque)
{
	struct printer *p = opaque;

	if (!demangle_append(p->text, s, n) && p->can_stop)
		longjmp(p->stop, 1);
}

/* Print a tree. libiberty's printer owns no memory while it calls print_component(), so stopping it
 * leaks nothing. */
static bool print_tree(struct printer *p, struct demangle_component *tree)
{
	p->can_stop = true;
	if (setjmp(p->stop))
		return false;
	return cplus_demangle_print_callback(OPTIONS, tree, print_component, p);
}

/*
 * Most substitutions and template parameters of a name whose tree is not measured and in which
 * packs are searched: each set of three can triple what precedes, so there are at most 3^12 copies.
 */
#define REFERENCES_MAX 36

static bool has_few_references(const char *mangled, size_t n)
{
	unsigned count = 0;
	size_t i;

	for (i = 0; i + 1 < n; i++)
		if ((mangled[i] == 'S' || mangled[i] == 'T') &&
		    (mangled[i + 1] == '_' || (mangled[i + 1] >= '0' && mangled[i + 1] <= '9') ||
		     (mangled[i + 1] >= 'A' && mangled[i + 1] <= 'Z')))
			count++;
	return count <= REFERENCES_MAX;
}

/*
 * Print a name with "sr". libiberty reads "sr" in the old and the new way by a flag that it does
 * not set when it returns a tree. So these names use its other interface, which refuses names of
 * over 1024 bytes. Its memory is all on the stack, so it may be stopped too; without packs to
 * search, all time is spent writing text.
 */
static enum demangle_result print_unresolved(struct printer *p, const char *mangled, size_t n)
{
	bool packs = memmem(mangled, n, "Dp", 2) || memmem(mangled, n, "sp", 2);

	if (packs && !has_few_references(mangled, n))
		return DEMANGLE_EXCESSIVE;
	p->can_stop = true;
	if (setjmp(p->stop))
		return DEMANGLE_EXCESSIVE;
	return cplus_demangle_v3_callback(mangled, OPTIONS, print_component, p)
		       ? DEMANGLE_DONE
		       : DEMANGLE_UNREADABLE;
}

static enum demangle_result full_cxx(struct demangle_text *t, const char *mangled, size_t n,
				     bool unresolved)
{
	struct printer p = {.text = t};
	struct demangle_component *tree;
	enum demangle_result result = DEMANGLE_EXCESSIVE;
	void *memory;

	if (unresolved)
		return print_unresolved(&p, mangled, n);
	tree = cplus_demangle_v3_components(mangled, OPTIONS, &memory);
	if (!tree)
		return DEMANGLE_UNREADABLE;
	if (tree_printable(tree, n) && print_tree(&p, tree))
		result = DEMANGLE_DONE;
	free(memory);
	return result;
}

/* Print a Rust name. Its output is bounded by the steps of demangle_simple_rust(), which follows
 * the same references. */
static enum demangle_result full_rust(struct demangle_text *t, const char *mangled)
{
	struct printer p = {.text = t};

	if (!rust_demangle_callback(mangled, OPTIONS, print_component, &p))
		return DEMANGLE_UNREADABLE;
	return t->full ? DEMANGLE_EXCESSIVE : DEMANGLE_DONE;
}

/* Read the name with the readers of this directory: libiberty does not get a name that they
 * refuse. */
static bool name_acceptable(const char *mangled, size_t n, struct demangle_traits *traits)
{
	struct demangle_text t = {0};
	enum demangle_result result;

	if (mangled[1] == 'R')
		result = demangle_simple_rust(&t, mangled, n);
	else
		result = demangle_simple_cxx(&t, mangled, n, traits);
	free(t.buf);
	return result == DEMANGLE_DONE && traits->conversions <= CONVERSIONS_MAX;
}

/* Return the length without ".llvm.123", which marks a local symbol that LLVM made global;
 * libiberty does not know it. */
static size_t without_llvm(const char *name, size_t n)
{
	const char *p = memmem(name, n, ".llvm.", 6);

	return p ? (size_t)(p - name) : n;
}

enum demangle_result demangle_full(struct demangle_text *t, const char *name, size_t length)
{
	const char *version = memchr(name, '@', length);
	size_t n = without_llvm(name, version ? (size_t)(version - name) : length);
	enum demangle_result result = DEMANGLE_UNREADABLE;
	struct demangle_traits traits = {0};
	char *mangled;

	if (strncmp(name, "_Z", 2) && strncmp(name, "_R", 2))
		return DEMANGLE_UNREADABLE;
	mangled = strndup(name, n);
	if (!mangled) {
		t->no_memory = true;
		return DEMANGLE_EXCESSIVE;
	}
	if (name_acceptable(mangled, n, &traits)) {
		result = full_rust(t, mangled);
		if (result == DEMANGLE_UNREADABLE && mangled[1] == 'Z') {
			t->length = 0; /* drop what the Rust reader wrote before it failed */
			result = full_cxx(t, mangled, n, traits.unresolved);
		}
	}
	free(mangled);
	if (result == DEMANGLE_DONE && version && !demangle_puts(t, version))
		result = DEMANGLE_EXCESSIVE;
	return result;
}
