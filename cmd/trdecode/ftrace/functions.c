/*
 * functions.c - the locations of functions: "NAME [MODULE]", "NAME+OFFSET", "NAME (ADDRESS)",
 * "NAME <ADDRESS>", "FILE[+OFFSET] <ADDRESS>"
 */
#include "cmd/trdecode/ftrace/ftrace.h"

/* Declare the names of arguments; 0: there are none, or out of memory. */
static uint32_t argument_names(struct ftrace *f, struct span arguments)
{
	struct member_entry members[FTRACE_ARGUMENTS_MOST];
	struct definition_entry d = {.kind = DEFINITION_STRUCT, .members = members};
	const char *comma;

	for (struct span s = arguments; s.at < s.end && d.nmembers < FTRACE_ARGUMENTS_MOST;
	     s.at = comma ? comma + 2 : s.end) {
		struct span one = {s.at, s.end};
		const char *equal;

		comma = span_find(s, ", ");
		one.end = comma ? comma : s.end;
		equal = memchr(one.at, '=', span_size(one));
		members[d.nmembers++] = (struct member_entry){
			.name = equal ? writer_string(f->w, one.at, (size_t)(equal - one.at)) : 0};
	}
	return d.nmembers ? writer_definition(f->w, &d) : 0;
}

/* Take " (0xADDRESS)" off the end of a name. */
static struct span without_address(struct span name)
{
	const char *open = span_ends(name, ")") ? span_find_rare(name, " (0x", 1) : NULL;

	return open && open > name.at ? (struct span){name.at, open} : name;
}

uint32_t ftrace_function_location(struct ftrace *f, struct span name, struct span arguments)
{
	struct location_entry e = {0};
	struct span module;
	uint32_t location, *id;

	name = without_address(name);
	id = id_cache_number(&f->declared.locations, name.at, span_size(name));
	if (!id || *id)
		return id ? *id : 0;
	module = (struct span){span_find_rare(name, " [", 1), name.end};
	if (module.at && name.end[-1] == ']') {
		name.end = module.at;
		module = (struct span){module.at + 2, module.end - 1};
	} else {
		module.at = NULL;
	}
	e.name = writer_string(f->w, name.at, span_size(name));
	e.arguments = argument_names(f, arguments);
	location = e.name ? writer_location(f->w, &e) : 0;
	if (module.at && location &&
	    writer_symbol(f->w, location,
			  &(struct symbol_entry){.flags = SYMBOL_KERNEL,
						 .name = name.at,
						 .name_size = (uint32_t)span_size(name),
						 .module = module.at,
						 .module_size = (uint32_t)span_size(module)}))
		return 0;
	*id = location;
	return location;
}

uint32_t ftrace_frame(struct ftrace *f, struct span text)
{
	const char *p = span_find_rare(text, " (", 1);
	struct span none = {text.at, text.at};

	if (p && p > text.at)
		text.end = p;
	/* the options sym-addr, and sym-userobj */
	p = span_find_rare(text, " <", 1);
	if (p && p > text.at)
		text.end = p;
	p = span_find_rare(text, "+0x", 0);
	if (p && p > text.at)
		text.end = p[-1] == '[' ? p - 1 : p;
	if (text.at == text.end)
		text = SPAN("?");
	return ftrace_function_location(f, span_trim(text), none);
}
