#include "common/ftrace/field_names.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ftrace/print_format.h"
#include "common/ftrace/print_lexer.h"

enum { NAMES_MOST = 1024, NAME_SIZE = 256, SYSCALLS_MOST = 600 };

struct names {
	struct member_entry *member;
	size_t count, capacity;
};

static bool add_name(struct names *n, struct writer *w, uint64_t value, const char *text,
		     size_t size)
{
	if (n->count >= NAMES_MOST || ARRAY_GROW(n->member, n->capacity, n->count))
		return false;
	n->member[n->count++] = (struct member_entry){writer_string(w, text, size), value, value};
	return true;
}

/* Declare the names, and free them. */
static uint32_t declare_names(struct names *n, struct writer *w, bool is_signed)
{
	uint32_t id = 0;

	if (n->count)
		id = writer_definition(
			w, &(struct definition_entry){.kind = DEFINITION_ENUM,
						      .flags = is_signed ? 0 : DEFINITION_UNSIGNED,
						      .nmembers = (uint32_t)n->count,
						      .members = n->member});
	free(n->member);
	return id;
}

static bool next_is(struct print_lexer *l, const char *op)
{
	print_lexer_next(l);
	return token_is(&l->token, op);
}

/* Parse an entry such as { 0, "HI" } after its first brace. false: its value is not a constant. */
static bool parse_entry(struct print_lexer *l, struct names *n, struct writer *w)
{
	char name[NAME_SIZE];
	bool minus;
	uint64_t value;

	minus = next_is(l, "-");
	if (minus)
		print_lexer_next(l);
	value = minus ? -l->token.value : l->token.value;
	if (l->token.kind != TOKEN_NUMBER || !next_is(l, ","))
		return false;
	print_lexer_next(l);
	if (l->token.kind != TOKEN_STRING || l->token.size >= sizeof name)
		return false;
	return add_name(n, w, value, name, print_unescape(name, l->token.text, l->token.size)) &&
	       next_is(l, "}");
}

/* Parse the entries up to the parenthesis after them. */
static bool parse_entries(struct print_lexer *l, struct names *n, struct writer *w)
{
	do
		if (!next_is(l, "{") || !parse_entry(l, n, w))
			return false;
	while (next_is(l, ","));
	return token_is(&l->token, ")");
}

static const char symbolic[] = "__print_symbolic(REC->";

const char *field_names_find(const struct event_format *e)
{
	/* most formats have no names, which are in braces */
	return e->print && memchr(e->print, '{', e->print_size)
		       ? memmem(e->print, e->print_size, symbolic, sizeof symbolic - 1)
		       : NULL;
}

uint32_t field_names_symbolic(const struct event_format *e, const char *first,
			      const struct event_field *f, struct writer *w)
{
	const char *p = first, *end = e->print + e->print_size;
	struct names names = {0};

	for (; p; p = memmem(p, (size_t)(end - p), symbolic, sizeof symbolic - 1)) {
		p += sizeof symbolic - 1;
		if ((size_t)(end - p) > f->name_size && !memcmp(p, f->name, f->name_size) &&
		    p[f->name_size] == ',') {
			struct print_lexer l = {.p = p + f->name_size + 1, .end = end, .word = 8};

			if (!parse_entries(&l, &names, w))
				names.count = 0;
			break;
		}
	}
	return declare_names(&names, w, f->is_signed);
}

/* --- system calls --- */

/* The functions of libseccomp that are used. The library is not linked: only traces with system
 * calls need it, and without it these have numbers. */
struct seccomp {
	void *library;
	uint32_t (*arch)(const char *name);
	char *(*name)(uint32_t arch, int number);
};

static bool open_seccomp(struct seccomp *s)
{
	s->library = dlopen("libseccomp.so.2", RTLD_NOW);
	if (!s->library)
		return false;
	*(void **)&s->arch = dlsym(s->library, "seccomp_arch_resolve_name");
	*(void **)&s->name = dlsym(s->library, "seccomp_syscall_resolve_num_arch");
	if (s->arch && s->name)
		return true;
	dlclose(s->library);
	return false;
}

/* Return libseccomp's name of a machine. */
static const char *arch_name(const char *machine)
{
	if (machine[0] == 'i' && !strcmp(machine + 2, "86"))
		return "x86";
	return !strncmp(machine, "armv", 4) ? "arm" : machine;
}

uint32_t field_names_syscalls(const char *machine, struct writer *w)
{
	struct names names = {0};
	struct seccomp s;
	uint32_t arch;

	if (!*machine || !open_seccomp(&s))
		return 0;
	arch = s.arch(arch_name(machine));
	for (int i = 0; arch && i < SYSCALLS_MOST; i++) {
		char *name = s.name(arch, i);

		if (name && !add_name(&names, w, (uint64_t)i, name, strlen(name)))
			i = SYSCALLS_MOST;
		free(name);
	}
	dlclose(s.library);
	return declare_names(&names, w, true);
}
