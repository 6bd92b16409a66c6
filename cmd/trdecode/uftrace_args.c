/*
 * uftrace_args.c - arguments and return values of uftrace: specifications, enums, debug data
 */
#include "cmd/trdecode/uftrace_args.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <regex.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/trdecode/uftrace_session.h"
#include "common/symbols/demangle.h"
#include "common/util/bisect.h"
#include "common/util/buffer.h"
#include "common/util/lines.h"
#include "common/util/pattern.h"

/* --- argument specs --- */

/* bytes of the largest value of a payload */
#define SIZE_LIMIT 65535

/* Registers that pass arguments; a name outside of the list makes a spec void. */
static const char *const registers[] = {
	[UFTRACE_ARCH_X86_64] = "rdi rsi rdx rcx r8 r9 xmm0 xmm1 xmm2 xmm3 xmm4 xmm5 xmm6 xmm7",
	[UFTRACE_ARCH_I386] = "ecx edx xmm0 xmm1 xmm2 xmm3 xmm4 xmm5 xmm6 xmm7",
	[UFTRACE_ARCH_ARM] = "r0 r1 r2 r3 s0 s1 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 s12 s13 s14 s15 "
			     "d0 d1 d2 d3 d4 d5 d6 d7",
	[UFTRACE_ARCH_AARCH64] = "x0 x1 x2 x3 x4 x5 x6 x7 s0 s1 s2 s3 s4 s5 s6 s7 "
				 "d0 d1 d2 d3 d4 d5 d6 d7",
	[UFTRACE_ARCH_RISCV64] = "a0 a1 a2 a3 a4 a5 a6 a7 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7",
};

static int register_number(enum uftrace_arch arch, const char *name)
{
	const char *p = registers[arch];
	size_t n;

	for (int i = 0; (n = strcspn(p, " ")); i++) {
		if (n == strlen(name) && !strncasecmp(p, name, n))
			return i;
		p += n + (p[n] == ' ');
	}
	return -1;
}

/* Parse a number as C does, limited to the range of the result. */
static int32_t uftrace_args_read_number(char *p, char **end, int base)
{
	long v;

	errno = 0;
	v = strtol(p, end, base);
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
}

/* Parse "%rdi" or "%stack+1". */
static int parse_location(char *p, const struct uftrace_info *info, struct uftrace_spec *spec)
{
	char *end;

	if (!strncmp(p, "%stack", 6)) {
		spec->loc = UFTRACE_LOC_STACK;
		spec->loc_number = uftrace_args_read_number(p + 6, &end, 0);
		return 0;
	}
	spec->loc = UFTRACE_LOC_REG;
	spec->loc_number = register_number(info->arch, p + 1);
	return spec->loc_number < 0 ? -1 : 0;
}

/* Parse "%rdi+rsi": any number of registers, unknown ones are ignored. The last one is the
 * spec's location. */
static void parse_struct_registers(char *p, const struct uftrace_info *info,
				   struct uftrace_spec *spec)
{
	while (p) {
		char *plus = strchr(p + 1, '+');
		int reg;

		if (plus)
			*plus = 0;
		reg = register_number(info->arch, p + 1);
		if (reg >= 0) {
			spec->loc = UFTRACE_LOC_REG;
			spec->loc_number = reg;
		}
		p = plus;
	}
}

/* Parse ":NAME", which follows "/e" or "/tN". Returns the '%' or the end, NULL if there is no
 * valid name. */
static char *parse_type_name(char *p, struct uftrace_spec *spec, bool *at_location)
{
	char *end;

	if (*p != ':')
		return NULL;
	spec->type_name = ++p;
	end = p + strcspn(p, "%");
	*at_location = *end == '%';
	*end = 0;
	return end;
}

/* Parse what follows "/t": "16", "16:NAME", each with an optional location. */
static int uftrace_args_parse_struct(char *p, const struct uftrace_info *info,
				     struct uftrace_spec *spec)
{
	int32_t size = uftrace_args_read_number(p, &p, 0);
	bool at_location = *p == '%';

	if (size < 0 || size > SIZE_LIMIT)
		return -1;
	spec->fmt = UFTRACE_FMT_STRUCT;
	spec->size = size;
	if (*p == ':')
		p = parse_type_name(p, spec, &at_location);
	if (!at_location)
		return 0;
	/* the name was ended where the location begins */
	*p = '%';
	if (!strncmp(p, "%stack+", 7)) {
		if (parse_location(p, info, spec) < 0)
			return -1;
	} else {
		parse_struct_registers(p, info, spec);
	}
	*p = 0;
	return 0;
}

static int parse_format(char c, struct uftrace_spec *spec)
{
	const char *at = memchr(UFTRACE_LETTERS, c, UFTRACE_FMT_ENUM);

	if (!at)
		return -1;
	spec->fmt = (enum uftrace_fmt)(at - UFTRACE_LETTERS);
	if (spec->fmt == UFTRACE_FMT_CHAR)
		spec->size = 1;
	if (spec->fmt == UFTRACE_FMT_FLOAT) {
		spec->size = 8;
		spec->loc = UFTRACE_LOC_FLOAT;
	}
	return 0;
}

/* Parse what follows "arg1/": format, size, location. */
static int parse_suffix(char *p, const struct uftrace_info *info, struct uftrace_spec *spec)
{
	bool at_location;
	int32_t bits;

	if (*p == 't')
		return uftrace_args_parse_struct(p + 1, info, spec);
	if (*p == 'e') {
		spec->fmt = UFTRACE_FMT_ENUM;
		if (p[1] != ':' || (!isalpha((unsigned char)p[2]) && p[2] != '_'))
			return -1;
		p = parse_type_name(p + 1, spec, &at_location);
		if (!at_location)
			return 0;
		*p = '%';
		bits = parse_location(p, info, spec);
		*p = 0;
		return bits;
	}
	if (parse_format(*p, spec) == 0)
		p++;
	else if (spec->fmt != UFTRACE_FMT_FLOAT || !isdigit((unsigned char)*p))
		return -1;
	if (!*p)
		return 0;
	if (*p != '%') {
		bits = uftrace_args_read_number(p, &p, 10);
		if (bits != 8 && bits != 16 && bits != 32 && bits != 64 &&
		    (bits != 80 || spec->fmt != UFTRACE_FMT_FLOAT))
			return -1;
		spec->size = bits / 8;
	}
	if (*p == '%')
		return parse_location(p, info, spec);
	return *p ? -1 : 0;
}

int uftrace_spec_parse(char *text, const struct uftrace_info *info, struct uftrace_spec *spec)
{
	int32_t index = 0;
	char *p;

	*spec = (struct uftrace_spec){.size = info->is_32bit ? 4 : 8};
	if (!strncmp(text, "arg", 3) && isdigit((unsigned char)text[3])) {
		index = uftrace_args_read_number(text + 3, &p, 0);
	} else if (!strncmp(text, "retval", 6)) {
		p = text + 6;
	} else if (!strncmp(text, "fparg", 5) && isdigit((unsigned char)text[5])) {
		index = uftrace_args_read_number(text + 5, &p, 0);
		spec->fmt = UFTRACE_FMT_FLOAT;
		spec->loc = UFTRACE_LOC_FLOAT;
		spec->size = 8;
		spec->is_fp = true;
	} else {
		return -1;
	}
	spec->index = index;
	if (*p == '%') {
		if (parse_location(p, info, spec) < 0)
			return -1;
	} else if (*p == '/') {
		if (parse_suffix(p + 1, info, spec) < 0)
			return -1;
	} else if (*p) {
		return -1;
	}
	/* ARM has no long double */
	if (spec->fmt == UFTRACE_FMT_FLOAT && spec->size == 10 && info->arch == UFTRACE_ARCH_ARM)
		spec->size = 8;
	return 0;
}

static int append_spec(struct uftrace_spec_list *list, const struct uftrace_spec *spec)
{
	if (list->nr == UFTRACE_SPECS_MAX || ARRAY_GROW(list->specs, list->room, list->nr))
		return -1;
	list->specs[list->nr++] = *spec;
	return 0;
}

/*
 * Parse the list after a function's '@', modifying the text: specs of the phase are appended to
 * list; *module (may be NULL) becomes the first word that is not an action, or NULL. Returns 0, or
 * -1 at the first spec that cannot be parsed; the specs before it stay in the list.
 */
static int uftrace_spec_parse_list(char *text, const struct uftrace_info *info,
				   enum uftrace_phase phase, struct uftrace_spec_list *list,
				   const char **module)
{
	/* words that begin so are never the name of a module */
	static const char *const actions[] = {
		"filter",    "notrace", "depth=",    "time=",	 "size=", "caller",
		"hide",	     "trace",	"finish",    "callsite", "read=", "color=",
		"backtrace", "recover", "auto-args", "clear",	 "if:",
	};
	char *next;

	if (module)
		*module = NULL;
	for (char *word = text; word; word = next) {
		bool is_arg, is_fparg, is_retval, is_action = false;
		struct uftrace_spec spec;

		next = strchr(word, ',');
		if (next)
			*next++ = 0;
		is_arg = !strncasecmp(word, "arg", 3);
		is_fparg = !strncasecmp(word, "fparg", 5);
		is_retval = !strncasecmp(word, "retval", 6);
		if (is_arg || is_fparg || is_retval) {
			if (is_retval != (phase == UFTRACE_PHASE_RETVAL))
				continue;
			if (uftrace_spec_parse(word, info, &spec) < 0 ||
			    append_spec(list, &spec) < 0)
				return -1;
			continue;
		}
		for (size_t i = 0; i < sizeof(actions) / sizeof(*actions) && !is_action; i++)
			is_action = !strncasecmp(word, actions[i], strlen(actions[i]));
		if (!is_action && module && !*module)
			*module = word;
	}
	return 0;
}

static bool same_location(const struct uftrace_spec *a, const struct uftrace_spec *b)
{
	if (a->loc != b->loc)
		return false;
	if (a->loc == UFTRACE_LOC_INDEX || a->loc == UFTRACE_LOC_FLOAT)
		return a->index == b->index;
	return a->loc_number == b->loc_number;
}

/*
 * Add a spec to a function's list as recorder and uftrace do: a spec for the same location (index,
 * register or stack slot) is replaced, unless it was given by name and the new one by pattern; any
 * other spec is appended. Returns 0, or -1 when out of memory or there are too many.
 */
static int uftrace_spec_add(struct uftrace_spec_list *list, const struct uftrace_spec *spec,
			    bool exact)
{
	struct uftrace_spec copy = *spec;

	copy.exact = exact;
	for (uint32_t i = 0; i < list->nr; i++) {
		struct uftrace_spec *old = &list->specs[i];

		if (!same_location(old, spec))
			continue;
		if (exact || !old->exact) {
			/* the spec keeps its number, even if the new one has the same register */
			copy.index = old->index;
			*old = copy;
		}
		return 0;
	}
	return append_spec(list, &copy);
}

/* --- definitions of enums --- */

#define BLANK " \t\n\r\f\v"

static char *skip_blank(char *p)
{
	return p + strspn(p, BLANK);
}

static int add_definition(struct uftrace_enum_table *t, char *text)
{
	char *name, *end, *brace;
	uint32_t number;

	text = skip_blank(text);
	if (!*text)
		return 0;
	if (strncmp(text, "enum", 4) || !strchr(BLANK, text[4]) || !text[4])
		return 1;
	name = skip_blank(text + 4);
	end = name + strcspn(name, BLANK "=,{}");
	brace = skip_blank(end);
	if (end == name || *brace != '{')
		return 1;
	*end = 0;
	number = intern_string(&t->names, name);
	if (number == INTERN_NONE || ARRAY_REACH(t->enums, t->room, number))
		return -1;
	if (!t->enums[number].name)
		t->enums[number] = (struct uftrace_enum){.name = name, .body = brace + 1};
	return 0;
}

int uftrace_enum_add(struct uftrace_enum_table *t, char *text)
{
	char *next;

	for (; text; text = next) {
		int r;

		next = strchr(text, ';');
		if (next)
			*next++ = 0;
		r = add_definition(t, text);
		if (r)
			return r;
	}
	return 0;
}

/* Compare for the order from the largest to the smallest; of equal values the last one defined
 * is first: its name is later in the text. */
static int uftrace_args_compare_values(const void *a, const void *b)
{
	const struct uftrace_enum_value *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->name < y->name) - (x->name > y->name);
}

/* Parse "A=1,B,C}" up to the brace, or to the first text that does not fit. */
static void read_values(struct uftrace_enum *e)
{
	size_t room = 0;
	uint64_t value = 0;
	char *p = skip_blank(e->body);

	e->body = NULL;
	while (*p && *p != '}') {
		char *name = p, *end = p + strcspn(p, BLANK "=,{}");
		char sign;

		p = skip_blank(end);
		sign = *p;
		if (end == name || !sign)
			break;
		if (sign == '=') {
			value = strtoll(p + 1, &p, 0);
			p = skip_blank(p);
			sign = *p;
		}
		*end = 0;
		if (ARRAY_GROW(e->values, room, e->nr))
			break;
		e->values[e->nr++] = (struct uftrace_enum_value){name, (int64_t)value++};
		if (sign != ',')
			break;
		p = skip_blank(p + 1);
	}
	if (e->nr)
		qsort(e->values, e->nr, sizeof(*e->values), uftrace_args_compare_values);
}

struct uftrace_enum *uftrace_enum_find(struct uftrace_enum_table *t, const char *name)
{
	uint32_t number = intern_find(&t->names, name, strlen(name));
	struct uftrace_enum *e = number < t->room ? &t->enums[number] : NULL;

	if (e && e->body)
		read_values(e);
	return e && e->nr ? e : NULL;
}

void uftrace_enum_free(struct uftrace_enum_table *t)
{
	for (size_t i = 0; i < t->room; i++)
		free(t->enums[i].values);
	free(t->enums);
	intern_free(&t->names);
	*t = (struct uftrace_enum_table){0};
}

/* --- .dbg files: argument specs and enums from the debug information of a module --- */

struct uftrace_dbg {
	struct key_map numbers[2]; /* of functions, from 1, by phase and address */
	struct {
		char *text; /* NULL once it is parsed */
		struct uftrace_spec_list specs;
	} * functions;
	size_t nr, room;
	struct uftrace_enum_table enums;
	size_t damaged; /* lines that could not be parsed */
	char *text;
};

/* A function described twice has no specs, as for the recorder. */
static int dbg_add_function(struct uftrace_dbg *d, uint64_t address, enum uftrace_phase phase,
			    char *text)
{
	uint64_t *number = key_map_value(&d->numbers[phase], address);

	if (number && *number) {
		d->functions[*number - 1].text = NULL;
		return 0;
	}
	if (!number || ARRAY_GROW(d->functions, d->room, d->nr))
		return -1;
	d->functions[d->nr].text = text;
	d->functions[d->nr].specs = (struct uftrace_spec_list){0};
	*number = ++d->nr;
	return 0;
}

/* Returns 1, 0 if the line cannot be read, -1 when out of memory. */
static int uftrace_args_parse_line(struct uftrace_dbg *d, char *line, bool *in_function,
				   uint64_t *address)
{
	char *end;
	int r;

	if (!line[0] || line[0] == '#')
		return 1;
	if (line[1] != ':' || line[2] != ' ')
		return 0;
	switch (line[0]) {
	case 'F':
		*address = strtoull(line + 3, &end, 16);
		*in_function = end > line + 3;
		return *in_function;
	case 'A':
	case 'R':
		if (!*in_function)
			return 0;
		r = dbg_add_function(d, *address,
				     line[0] == 'A' ? UFTRACE_PHASE_ARGS : UFTRACE_PHASE_RETVAL,
				     line + 3);
		return r < 0 ? -1 : 1;
	case 'E': r = uftrace_enum_add(&d->enums, line + 3); return r < 0 ? -1 : !r;
	case 'L': /* the source line of the function: not needed to decode records */ return 1;
	default: return 0;
	}
}

/*
 * Parse the text, which the struct then owns (malloc'ed, NUL after its last byte; freed also after
 * an error). Returns 0, or -1 when out of memory.
 */
static int uftrace_dbg_parse(struct uftrace_dbg *d, char *text, size_t size)
{
	bool in_function = false;
	uint64_t address = 0;

	*d = (struct uftrace_dbg){.text = text};
	for (struct lines l = lines_of(text, size); lines_next(&l);) {
		int r = 0;

		/* a truncated line may lack specs, and sizes depend on each */
		if (l.whole) {
			l.line[l.size] = '\0';
			r = uftrace_args_parse_line(d, l.line, &in_function, &address);
		}
		if (r < 0)
			return -1;
		d->damaged += !r;
	}
	return 0;
}

/* Return the specs of the function at that address (relative to the module's base), or NULL. The
 * list lives as long as d. */
static const struct uftrace_spec_list *uftrace_dbg_find(struct uftrace_dbg *d, uint64_t address,
							enum uftrace_phase phase,
							const struct uftrace_info *info)
{
	uint64_t number = key_map_get(&d->numbers[phase], address);
	struct uftrace_spec_list *list;
	char *at;

	if (!number)
		return NULL;
	list = &d->functions[number - 1].specs;
	at = d->functions[number - 1].text;
	d->functions[number - 1].text = NULL;
	at = at ? strchr(at, '@') : NULL;
	/* a spec that cannot be parsed ends the list, for the recorder too */
	if (at)
		uftrace_spec_parse_list(at + 1, info, phase, list, NULL);
	return list->nr ? list : NULL;
}

static void uftrace_dbg_free(struct uftrace_dbg *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nr; i++)
		free(d->functions[i].specs.specs);
	free(d->functions);
	for (int i = 0; i < 2; i++)
		key_map_free(&d->numbers[i]);
	uftrace_enum_free(&d->enums);
	free(d->text);
	free(d);
}

/*
 * The lists of argument specs in `info`, and which of their items name a function.
 */

enum uftrace_match { UFTRACE_MATCH_EXACT, UFTRACE_MATCH_REGEX, UFTRACE_MATCH_GLOB };

/* One item: "FUNC@arg1,arg2/s,MODULE". */
struct uftrace_item {
	char *name; /* demangled */
	enum uftrace_match match;
	regex_t regex;
	const char *module; /* NULL: any */
	/* empty: those of the debug information or of the built-in table */
	struct uftrace_spec_list specs;
};

/* One pass over all functions, in the order of recorder and uftrace. */
struct uftrace_pass {
	enum uftrace_phase phase;
	bool is_auto; /* skips a function that already has specs of the phase */
	char *text;   /* names and specs point into it */
	struct uftrace_item *items;
	uint32_t nr;
	uint32_t *exact; /* numbers of items that are names, sorted by name, then number */
	uint32_t nr_exact;
	uint32_t *patterns; /* numbers of the other items */
	uint32_t nr_patterns;
};

struct uftrace_args {
	struct uftrace_sessions *sessions;
	const struct uftrace_info *info;
	struct uftrace_pass passes[6]; /* in the order in which they are applied */
	int nr_passes;
	/* argauto, retauto: specs of well-known functions, by phase */
	struct {
		char *text;
		struct intern names;		 /* demangled */
		struct uftrace_spec_list *specs; /* by number of the name */
		size_t room;
	} autos[2];
	char *enum_text;
	struct uftrace_enum_table enums;
	struct uftrace_dbg **dbg; /* by module id; NULL: not read yet */
	size_t nr_dbg;
	struct id_cache numbers; /* of functions, from 1, by session, module and symbol */
	struct pool functions;	 /* two lists each: of ENTRY and EXIT records */
};

/* Items of one list; a command line has far fewer. */
#define ITEMS_MAX 65536

/* Patterns of one list: each is matched with the name of every function that has arguments. */
#define PATTERNS_MAX 256

#define PATTERN_LENGTH_MAX 1024
#define PATTERN_SIZE_MAX   2048 /* as pattern.h counts */

/* A function name with one of these is a pattern. */
#define PATTERN_CHARS ".?*+-^$|()[]{}"

static void free_pass(struct uftrace_pass *p)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		free(p->items[i].name);
		free(p->items[i].specs.specs);
		if (p->items[i].match == UFTRACE_MATCH_REGEX)
			regfree(&p->items[i].regex);
	}
	free(p->items);
	free(p->exact);
	free(p->patterns);
	free(p->text);
}

/* Test whether the expression is cheap to match. Back references are not; names of functions do not
 * need them.
 */
static bool regex_is_modest(const char *s)
{
	if (strlen(s) > PATTERN_LENGTH_MAX || !pattern_is_small(s, PATTERN_SIZE_MAX))
		return false;
	for (; *s; s++)
		if (*s == '\\') {
			if (s[1] >= '1' && s[1] <= '9')
				return false;
			s += s[1] != 0;
		}
	return true;
}

static void compile_pattern(struct uftrace_item *item, enum uftrace_pattern pattern)
{
	item->match = UFTRACE_MATCH_EXACT;
	if (!strpbrk(item->name, PATTERN_CHARS))
		return;
	if (pattern == UFTRACE_PATTERN_GLOB && strlen(item->name) <= PATTERN_LENGTH_MAX)
		item->match = UFTRACE_MATCH_GLOB;
	/* "operator new[]" is a name */
	if (pattern != UFTRACE_PATTERN_REGEX || !strncmp(item->name, "operator ", 9) ||
	    !regex_is_modest(item->name))
		return;
	if (!regcomp(&item->regex, item->name, REG_NOSUB | REG_EXTENDED))
		item->match = UFTRACE_MATCH_REGEX;
}

static int compare_exact(const void *a, const void *b, void *arg)
{
	const struct uftrace_item *items = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = strcmp(items[x].name, items[y].name);

	return c ? c : (x > y) - (x < y);
}

static int index_pass(struct uftrace_pass *p)
{
	p->exact = calloc(p->nr + 1, sizeof(*p->exact));
	p->patterns = calloc(p->nr + 1, sizeof(*p->patterns));
	if (!p->exact || !p->patterns)
		return -1;
	for (uint32_t i = 0; i < p->nr; i++) {
		if (p->items[i].match == UFTRACE_MATCH_EXACT)
			p->exact[p->nr_exact++] = i;
		else if (p->nr_patterns < PATTERNS_MAX)
			p->patterns[p->nr_patterns++] = i;
	}
	qsort_r(p->exact, p->nr_exact, sizeof(*p->exact), compare_exact, p->items);
	return 0;
}

/* Parse a list. A spec that cannot be parsed voids its item, for the recorder as well. Returns
 * -1 when out of memory. */
static int add_pass(struct uftrace_args *a, const char *list, enum uftrace_phase phase,
		    bool is_auto)
{
	struct uftrace_pass *p = &a->passes[a->nr_passes++];
	size_t room = 0;
	char *next;

	p->phase = phase;
	p->is_auto = is_auto;
	p->text = strdup(list);
	if (!p->text)
		return -1;
	for (char *text = p->text; text && p->nr < ITEMS_MAX; text = next) {
		struct uftrace_item *item;
		char *at;

		next = strchr(text, ';');
		if (next)
			*next++ = 0;
		if (ARRAY_GROW(p->items, room, p->nr))
			return -1;
		item = p->items;
		item += p->nr;
		memset(item, 0, sizeof(*item));
		at = strchr(text, '@');
		if (at)
			*at++ = 0;
		if (at &&
		    uftrace_spec_parse_list(at, a->info, phase, &item->specs, &item->module) < 0) {
			free(item->specs.specs);
			continue;
		}
		item->name = demangle(text, DEMANGLE_SIMPLE);
		if (!item->name) {
			free(item->specs.specs);
			return -1;
		}
		compile_pattern(item, a->info->pattern);
		p->nr++;
	}
	return index_pass(p);
}

/* Specs of one name add up. */
static int add_auto(struct uftrace_args *a, enum uftrace_phase phase, const char *function,
		    const struct uftrace_spec_list *specs)
{
	char *name = demangle(function, DEMANGLE_SIMPLE);
	uint32_t number = name ? intern_string(&a->autos[phase].names, name) : INTERN_NONE;
	struct uftrace_spec_list *list;

	free(name);
	if (number == INTERN_NONE ||
	    ARRAY_REACH(a->autos[phase].specs, a->autos[phase].room, number))
		return -1;
	list = &a->autos[phase].specs[number];
	for (uint32_t i = 0; i < specs->nr; i++)
		uftrace_spec_add(list, &specs->specs[i], true);
	return 0;
}

static int read_autos(struct uftrace_args *a, const char *list, enum uftrace_phase phase)
{
	size_t n = 0;
	int bad = 0;
	char *next;

	a->autos[phase].text = strdup(list);
	if (!a->autos[phase].text)
		return -1;
	for (char *text = a->autos[phase].text; text && n < ITEMS_MAX && !bad; text = next) {
		struct uftrace_spec_list specs = {0};
		char *at;

		next = strchr(text, ';');
		if (next)
			*next++ = 0;
		at = strchr(text, '@');
		if (!at)
			continue;
		*at++ = 0;
		if (!uftrace_spec_parse_list(at, a->info, phase, &specs, NULL) && specs.nr) {
			bad = add_auto(a, phase, text, &specs);
			n++;
		}
		free(specs.specs);
	}
	return bad;
}

/* Get the specs of the built-in table for that demangled name, or NULL. */
static const struct uftrace_spec_list *uftrace_auto(const struct uftrace_args *a,
						    enum uftrace_phase phase, const char *name)
{
	uint32_t number = intern_find(&a->autos[phase].names, name, strlen(name));

	return number < a->autos[phase].room ? &a->autos[phase].specs[number] : NULL;
}

/* Add argspec, retspec, then what -a adds. Old recorders wrote return values into argspec. */
static int add_passes(struct uftrace_args *a, const char *args, const char *rets, bool is_auto)
{
	if ((args && add_pass(a, args, UFTRACE_PHASE_ARGS, is_auto)) ||
	    (rets && add_pass(a, rets, UFTRACE_PHASE_RETVAL, is_auto)))
		return -1;
	if (args && strstr(args, "retval"))
		return add_pass(a, args, UFTRACE_PHASE_RETVAL, is_auto);
	return 0;
}

/* Read the lists of info. Returns 0, or -1 when out of memory. */
static int read_lists(struct uftrace_args *a)
{
	const struct uftrace_info *info = a->info;
	const char *args = info->argauto, *rets = info->retauto;

	if (!uftrace_info_has(info, UFTRACE_INFO_ARG_SPEC))
		return 0;
	if (info->feat_mask & UFTRACE_FEAT_AUTO_ARGS) {
		if ((args && read_autos(a, args, UFTRACE_PHASE_ARGS)) ||
		    (rets && read_autos(a, rets, UFTRACE_PHASE_RETVAL)))
			return -1;
		if (info->enumauto) {
			a->enum_text = strdup(info->enumauto);
			if (!a->enum_text || uftrace_enum_add(&a->enums, a->enum_text) < 0)
				return -1;
		}
	}
	if (add_passes(a, info->argspec, info->retspec, false))
		return -1;
	if (!info->auto_args)
		return 0;
	if (info->feat_mask & UFTRACE_FEAT_DEBUG_INFO)
		args = rets = info->pattern == UFTRACE_PATTERN_REGEX ? "." : "*";
	return add_passes(a, args, rets, true);
}

/* ---- matching ---- */

static bool pattern_fits(const struct uftrace_item *item, const char *name)
{
	if (item->match == UFTRACE_MATCH_GLOB)
		return !fnmatch(item->name, name, 0);
	return !regexec(&item->regex, name, 0, NULL, 0);
}

static int compare_hits(const void *a, const void *b)
{
	uint64_t x = get_u64(a), y = get_u64(b);

	return (x > y) - (x < y);
}

/*
 * Set hits to the items of the pass that match one of the names (demangled, of one function), in
 * the order of the list, then of the names: u64 each, item << 32 | name. Returns 0, or -1 when out
 * of memory.
 */
static int uftrace_pass_match(const struct uftrace_pass *p, char *const *names, uint32_t nr,
			      struct buffer *hits)
{
	for (uint32_t name = 0; name < nr; name++) {
		size_t at =
			BISECT(p->nr_exact, i, strcmp(p->items[p->exact[i]].name, names[name]) < 0);

		for (; at < p->nr_exact && !strcmp(p->items[p->exact[at]].name, names[name]); at++)
			if (buffer_u64(hits, (uint64_t)p->exact[at] << 32 | name))
				return -1;
		for (uint32_t i = 0; i < p->nr_patterns; i++)
			if (pattern_fits(&p->items[p->patterns[i]], names[name]) &&
			    buffer_u64(hits, (uint64_t)p->patterns[i] << 32 | name))
				return -1;
	}
	if (hits->size)
		qsort(hits->data, hits->size / 8, 8, compare_hits);
	return 0;
}

/* --- args --- */

#define DBG_SIZE_MAX (256u << 20)

/* Names of one address that are tried. */
#define ALIASES_MAX 64

/* Functions around another one that are tried. */
#define ENCLOSING_MAX 8

struct uftrace_args *uftrace_args_new(struct uftrace_sessions *sessions,
				      const struct uftrace_info *info, struct error *e)
{
	struct uftrace_args *a = calloc(1, sizeof(*a));

	if (a) {
		a->sessions = sessions;
		a->info = info;
		a->functions.element = 2 * sizeof(struct uftrace_spec_list);
	}
	if (!a || read_lists(a)) {
		uftrace_args_free(a);
		error_no_memory(e);
		return NULL;
	}
	return a;
}

void uftrace_args_free(struct uftrace_args *a)
{
	if (!a)
		return;
	for (int i = 0; i < a->nr_passes; i++)
		free_pass(&a->passes[i]);
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < a->autos[i].room; k++)
			free(a->autos[i].specs[k].specs);
		free(a->autos[i].specs);
		intern_free(&a->autos[i].names);
		free(a->autos[i].text);
	}
	uftrace_enum_free(&a->enums);
	free(a->enum_text);
	for (size_t i = 0; i < a->nr_dbg; i++)
		uftrace_dbg_free(a->dbg[i]);
	free(a->dbg);
	for (uint32_t i = 0; i < a->functions.count; i++) {
		struct uftrace_spec_list *lists = pool_at(&a->functions, i);

		free(lists[0].specs);
		free(lists[1].specs);
	}
	pool_free(&a->functions);
	id_cache_free(&a->numbers);
	free(a);
}

/* ---- debug information ---- */

static void load_dbg(struct uftrace_args *a, const struct uftrace_module *m, struct uftrace_dbg *d)
{
	const struct tree *tree = a->sessions->tree;
	struct error e;
	char path[512];
	void *text;
	size_t size;

	if (!m->dbg_name)
		return;
	tree_path(tree, m->dbg_name, path, sizeof(path));
	if (tree_read(tree, m->dbg_name, DBG_SIZE_MAX, &text, &size, &e) < 0) {
		uftrace_sessions_add_damage(a->sessions, &e);
	} else if (uftrace_dbg_parse(d, text, size) < 0) {
		error_set(&e, path, NO_OFFSET, "out of memory");
		uftrace_sessions_add_damage(a->sessions, &e);
	} else if (d->damaged) {
		error_set(&e, path, NO_OFFSET, "%zu unreadable lines", d->damaged);
		uftrace_sessions_add_damage(a->sessions, &e);
	}
}

/* Get the debug information of a module; NULL: out of memory. */
static struct uftrace_dbg *dbg_of(struct uftrace_args *a, const struct uftrace_module *m)
{
	if (ARRAY_REACH(a->dbg, a->nr_dbg, m->id))
		return NULL;
	if (!a->dbg[m->id]) {
		a->dbg[m->id] = calloc(1, sizeof(**a->dbg));
		if (a->dbg[m->id])
			load_dbg(a, m, a->dbg[m->id]);
	}
	return a->dbg[m->id];
}

/* ---- applying them to a function ---- */

struct target {
	struct uftrace_session *session;
	const struct uftrace_module *module;
	const struct symbol *alias[ALIASES_MAX]; /* all symbols with its address */
	char *name[ALIASES_MAX];		 /* their demangled names */
	int nr_aliases;
	struct uftrace_dbg *dbg;
	struct uftrace_spec_list list;
	bool has[2]; /* by phase */
};

/* Test whether the target is in the module that an item is restricted to. */
static bool module_fits(const struct target *t, const struct symbol *symbol, const char *module)
{
	const struct uftrace_map *map = &t->session->map;
	const char *exename = t->session->sess->exename;
	bool is_mapped = false;

	if (!strcasecmp(module, "kernel") || !strcasecmp(module, "k"))
		return false;
	if (!strcasecmp(module, "PLT")) {
		/* stubs of the program itself, not those of its libraries */
		return symbol->type == 'P' && !strcmp(t->module->path, exename);
	}
	/* the first module whose name begins so, and only this one */
	for (size_t i = 0; i < map->nr; i++) {
		if (!strncmp(basename(map->maps[i].path), module, strlen(module)))
			return t->session->map_modules[i] == t->module;
		is_mapped |= t->session->map_modules[i] == t->module;
	}
	return !is_mapped && !strncmp(basename(t->module->path), module, strlen(module));
}

/* Get the specs that an item without specs means, or NULL. */
static const struct uftrace_spec_list *known_specs(struct uftrace_args *a, struct target *t,
						   const char *name, enum uftrace_phase phase)
{
	const struct uftrace_spec_list *list = NULL;

	if (t->dbg)
		list = uftrace_dbg_find(t->dbg, t->alias[0]->start, phase, a->info);
	return list ? list : uftrace_auto(a, phase, name);
}

static void apply_item(struct uftrace_args *a, struct target *t, const struct uftrace_pass *p,
		       uint32_t number, uint32_t name)
{
	const struct uftrace_item *item = &p->items[number];
	const struct uftrace_spec_list *list = &item->specs;

	if (item->module && !module_fits(t, t->alias[name], item->module))
		return;
	if (!list->nr)
		list = known_specs(a, t, t->name[name], p->phase);
	if (!list || (p->is_auto && t->has[p->phase]))
		return;
	for (uint32_t i = 0; i < list->nr; i++)
		uftrace_spec_add(&t->list, &list->specs[i], item->match == UFTRACE_MATCH_EXACT);
	t->has[p->phase] = true;
}

static int run_pass(struct uftrace_args *a, struct target *t, const struct uftrace_pass *p)
{
	struct buffer hits = {0};
	int r = uftrace_pass_match(p, t->name, t->nr_aliases, &hits);

	for (size_t i = 0; i < hits.size && !r; i += 8)
		apply_item(a, t, p, (uint32_t)(get_u64(hits.data + i) >> 32),
			   (uint32_t)get_u64(hits.data + i));
	buffer_free(&hits);
	return r;
}

/* Get the number of the first symbol with start >= address. */
static size_t first_symbol(const struct symbols *symbols, uint64_t address)
{
	return BISECT(symbols_count(symbols), i, symbols_at(symbols, i)->start < address);
}

/* Add a list's specs to those of ENTRY and EXIT records. */
static int pick_specs(struct uftrace_args *a, const struct target *t,
		      struct uftrace_spec_list *specs)
{
	for (uint32_t i = 0; i < t->list.nr; i++) {
		struct uftrace_spec spec = t->list.specs[i];

		if (spec.fmt == UFTRACE_FMT_ENUM && t->dbg)
			spec.type = uftrace_enum_find(&t->dbg->enums, spec.type_name);
		if (spec.fmt == UFTRACE_FMT_ENUM && !spec.type)
			spec.type = uftrace_enum_find(&a->enums, spec.type_name);
		if (append_spec(&specs[spec.index == 0], &spec))
			return -1;
	}
	return 0;
}

static int resolve_specs(struct uftrace_args *a, struct uftrace_session *s,
			 const struct uftrace_module *m, const struct symbol *symbol,
			 struct uftrace_spec_list *specs)
{
	const struct symbols *symbols = uftrace_module_symbols(a->sessions, m);
	struct target t = {.session = s, .module = m};
	int r = 0;

	if (!symbols)
		return 0;
	for (size_t i = first_symbol(symbols, symbol->start);
	     i < symbols_count(symbols) && t.nr_aliases < ALIASES_MAX && !r; i++) {
		const struct symbol *alias = symbols_at(symbols, i);

		if (alias->start != symbol->start)
			break;
		t.alias[t.nr_aliases] = alias;
		t.name[t.nr_aliases] = demangle(alias->name, DEMANGLE_SIMPLE);
		r = t.name[t.nr_aliases] ? 0 : -1;
		t.nr_aliases++;
	}
	t.dbg = r ? NULL : dbg_of(a, m);
	for (int i = 0; i < a->nr_passes && !r; i++)
		r = run_pass(a, &t, &a->passes[i]);
	if (!r)
		r = pick_specs(a, &t, specs);
	for (int i = 0; i < t.nr_aliases; i++)
		free(t.name[i]);
	free(t.list.specs);
	return r;
}

/* ---- the cache ---- */

/* Find the specs of a function; NULL: none. */
static const struct uftrace_spec_list *specs_of(struct uftrace_args *a, struct uftrace_session *s,
						const struct uftrace_module *m,
						const struct symbol *symbol, bool exit)
{
	const void *const key[] = {s, m, symbol};
	uint32_t *number = id_cache_number(&a->numbers, key, sizeof key);
	struct uftrace_spec_list *specs;
	struct error e;

	if (!number)
		return NULL;
	if (!*number) {
		specs = pool_add(&a->functions);
		if (!specs)
			return NULL;
		*number = a->functions.count;
		if (resolve_specs(a, s, m, symbol, specs)) {
			error_set(&e, tree_name(a->sessions->tree), NO_OFFSET,
				  "out of memory, arguments of %.100s are unknown", symbol->name);
			uftrace_sessions_add_damage(a->sessions, &e);
		}
	}
	specs = pool_at(&a->functions, *number - 1);
	return specs[0].nr || specs[1].nr ? &specs[exit] : NULL;
}

/*
 * Find the specs of a function whose range includes that of the symbol: recorder and uftrace look
 * for a range with specs, not for a symbol.
 */
static const struct uftrace_spec_list *find_enclosing(struct uftrace_args *a,
						      struct uftrace_session *s,
						      const struct uftrace_where *where, bool exit)
{
	const struct symbols *symbols = uftrace_module_symbols(a->sessions, where->module);
	size_t i = symbols ? first_symbol(symbols, where->symbol->start) : 0;

	for (int n = 0; n < ENCLOSING_MAX && i > 0; n++) {
		const struct symbol *outer = symbols_at(symbols, --i);
		const struct uftrace_spec_list *specs;

		if (where->symbol->start - outer->start >= outer->size)
			continue;
		specs = specs_of(a, s, where->module, outer, exit);
		if (specs)
			return specs;
	}
	return NULL;
}

const struct uftrace_spec_list *uftrace_args_find(struct uftrace_args *a, struct uftrace_session *s,
						  const struct uftrace_where *where, bool exit)
{
	const struct uftrace_spec_list *specs;

	if (!where->symbol || !where->module)
		return NULL;
	specs = specs_of(a, s, where->module, where->symbol, exit);
	return specs ? specs : find_enclosing(a, s, where, exit);
}
