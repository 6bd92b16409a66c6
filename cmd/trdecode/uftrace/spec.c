#include "cmd/trdecode/uftrace/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* bytes of the largest value of a payload */
#define SIZE_LIMIT 65535

/* Registers that pass arguments; a name outside of the list makes a spec void. */
static const char *const x86_64_registers[] = {
	"rdi",	"rsi",	"rdx",	"rcx",	"r8",	"r9",	"xmm0", "xmm1",
	"xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", NULL,
};
static const char *const i386_registers[] = {
	"ecx", "edx", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", NULL,
};
static const char *const arm_registers[] = {
	"r0", "r1", "r2", "r3", "s0",  "s1",  "s2",  "s3",  "s4",  "s5",
	"s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15",
	"d0", "d1", "d2", "d3", "d4",  "d5",  "d6",  "d7",  NULL,
};
static const char *const aarch64_registers[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "s0", "s1", "s2", "s3", "s4",
	"s5", "s6", "s7", "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", NULL,
};
static const char *const riscv64_registers[] = {
	"a0",  "a1",  "a2",  "a3",  "a4",  "a5",  "a6",	 "a7", "fa0",
	"fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", NULL,
};

static const char *const *const registers[] = {
	[UFTRACE_ARCH_X86_64] = x86_64_registers,   [UFTRACE_ARCH_I386] = i386_registers,
	[UFTRACE_ARCH_ARM] = arm_registers,	    [UFTRACE_ARCH_AARCH64] = aarch64_registers,
	[UFTRACE_ARCH_RISCV64] = riscv64_registers,
};

static int register_number(enum uftrace_arch arch, const char *name)
{
	for (int i = 0; registers[arch][i]; i++)
		if (!strcasecmp(registers[arch][i], name))
			return i;
	return -1;
}

/* Parse a number as C does, limited to the range of the result. */
static int32_t read_number(char *p, char **end, int base)
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
		spec->loc_number = read_number(p + 6, &end, 0);
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
static int parse_struct(char *p, const struct uftrace_info *info, struct uftrace_spec *spec)
{
	int32_t size = read_number(p, &p, 0);
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
	static const struct {
		char letter;
		enum uftrace_fmt fmt;
	} formats[] = {
		{'d', UFTRACE_FMT_AUTO}, {'i', UFTRACE_FMT_SINT},  {'u', UFTRACE_FMT_UINT},
		{'x', UFTRACE_FMT_HEX},	 {'o', UFTRACE_FMT_OCT},   {'s', UFTRACE_FMT_STR},
		{'c', UFTRACE_FMT_CHAR}, {'f', UFTRACE_FMT_FLOAT}, {'S', UFTRACE_FMT_STD_STRING},
		{'p', UFTRACE_FMT_PTR},
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (formats[i].letter != c)
			continue;
		spec->fmt = formats[i].fmt;
		if (spec->fmt == UFTRACE_FMT_CHAR)
			spec->size = 1;
		if (spec->fmt == UFTRACE_FMT_FLOAT) {
			spec->size = 8;
			spec->loc = UFTRACE_LOC_FLOAT;
		}
		return 0;
	}
	return -1;
}

/* Parse what follows "arg1/": format, size, location. */
static int parse_suffix(char *p, const struct uftrace_info *info, struct uftrace_spec *spec)
{
	bool at_location;
	int32_t bits;

	if (*p == 't')
		return parse_struct(p + 1, info, spec);
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
		bits = read_number(p, &p, 10);
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
		index = read_number(text + 3, &p, 0);
	} else if (!strncmp(text, "retval", 6)) {
		p = text + 6;
	} else if (!strncmp(text, "fparg", 5) && isdigit((unsigned char)text[5])) {
		index = read_number(text + 5, &p, 0);
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
	if (list->nr == UFTRACE_SPECS_MAX)
		return -1;
	if (list->nr == list->room) {
		uint32_t room = list->room ? 2 * list->room : 4;
		void *p = realloc(list->specs, room * sizeof(*list->specs));

		if (!p)
			return -1;
		list->specs = p;
		list->room = room;
	}
	list->specs[list->nr++] = *spec;
	return 0;
}

int uftrace_spec_parse_list(char *text, const struct uftrace_info *info, enum uftrace_phase phase,
			    struct uftrace_spec_list *list, const char **module)
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

int uftrace_spec_add(struct uftrace_spec_list *list, const struct uftrace_spec *spec, bool exact)
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

void uftrace_spec_list_free(struct uftrace_spec_list *list)
{
	free(list->specs);
	*list = (struct uftrace_spec_list){0};
}
