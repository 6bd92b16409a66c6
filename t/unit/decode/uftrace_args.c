/* links: cmd/trdecode */
/*
 * Specifications of arguments and return values in uftrace's info, and the values that they
 * read.
 */
#include "t/unit/uftrace_dir.h"

#include "cmd/trdecode/uftrace_args.h"

#include <math.h>

#define SID "1111111111111111"

#define FEAT (UFTRACE_FEAT_SYM_REL_ADDR | UFTRACE_FEAT_AUTO_ARGS)
#define INFO (1ull << UFTRACE_INFO_ARG_SPEC | 1ull << UFTRACE_INFO_PATTERN_TYPE)

/* ---- one spec ---- */

static struct uftrace_spec parsed;
static char parsed_text[128];

static bool parse_as(enum uftrace_arch arch, bool is_32bit, const char *text)
{
	struct uftrace_info info = {.arch = arch, .is_32bit = is_32bit};

	snprintf(parsed_text, sizeof(parsed_text), "%s", text);
	return uftrace_spec_parse(parsed_text, &info, &parsed) == 0;
}

static bool parse(const char *text)
{
	return parse_as(UFTRACE_ARCH_X86_64, false, text);
}

static bool is(uint32_t index, enum uftrace_fmt fmt, uint32_t size, enum uftrace_loc loc)
{
	return parsed.index == index && parsed.fmt == fmt && parsed.size == size &&
	       parsed.loc == loc;
}

static void test_specs(void)
{
	ok(parse("arg1") && is(1, UFTRACE_FMT_AUTO, 8, UFTRACE_LOC_INDEX), "arg1");
	ok(parse("arg12/x16") && is(12, UFTRACE_FMT_HEX, 2, UFTRACE_LOC_INDEX), "hex, 16 bits");
	ok(parse("arg2/c") && is(2, UFTRACE_FMT_CHAR, 1, UFTRACE_LOC_INDEX), "char");
	ok(parse("arg2/f32") && is(2, UFTRACE_FMT_FLOAT, 4, UFTRACE_LOC_FLOAT), "arg as float");
	ok(parse("fparg3") && is(3, UFTRACE_FMT_FLOAT, 8, UFTRACE_LOC_FLOAT) && parsed.is_fp,
	   "fparg");
	ok(parse("fparg3/80%stack+1") && is(3, UFTRACE_FMT_FLOAT, 10, UFTRACE_LOC_STACK) &&
		   parsed.loc_number == 1,
	   "long double on the stack");
	ok(parse("retval/s") && is(0, UFTRACE_FMT_STR, 8, UFTRACE_LOC_INDEX), "return value");
	ok(parse("arg3/u64%RSI") && is(3, UFTRACE_FMT_UINT, 8, UFTRACE_LOC_REG) &&
		   parsed.loc_number == 1,
	   "register");
	ok(parse("arg1/e:color%rdi") && is(1, UFTRACE_FMT_ENUM, 8, UFTRACE_LOC_REG), "enum");
	is_str(parsed.type_name, "color", "its name ends at the register");
	ok(parse("arg1/e:color"), "enum without register");
	is_str(parsed.type_name, "color", "its name");
	ok(parse("arg3/t16:pair%RDI+RSI") && is(3, UFTRACE_FMT_STRUCT, 16, UFTRACE_LOC_REG),
	   "struct");
	is_str(parsed.type_name, "pair", "its name");
	is_u64(parsed.loc_number, 1, "its last register counts");
	ok(parse("arg3/t0") && is(3, UFTRACE_FMT_STRUCT, 0, UFTRACE_LOC_INDEX), "empty struct");
	ok(parse("arg3/t24:big%stack+2") && is(3, UFTRACE_FMT_STRUCT, 24, UFTRACE_LOC_STACK),
	   "on stack");
	is_str(parsed.type_name, "big", "its name");
	ok(parse_as(UFTRACE_ARCH_I386, true, "arg1") && parsed.size == 4, "32-bit size");
	ok(parse_as(UFTRACE_ARCH_I386, true, "arg1/e:x") && parsed.size == 4, "32-bit enum");
	ok(parse_as(UFTRACE_ARCH_ARM, true, "fparg1/80") && parsed.size == 8, "long double on ARM");

	ok(!parse("arg"), "no number");
	ok(!parse("argx"), "no number either");
	ok(!parse("arg1/q"), "unknown format");
	ok(!parse("arg1/i12"), "odd size");
	ok(!parse("arg1/i80"), "80 bits are for floats");
	ok(!parse("arg1/8"), "size without format");
	ok(!parse("arg1/e"), "enum without name");
	ok(!parse("arg1/e:1"), "enum with a bad name");
	ok(!parse("arg1%nope"), "unknown register");
	ok(!parse("arg1/t-5"), "negative size");
	ok(!parse("arg1/t99999999999999999999"), "huge size");
	ok(!parse("what"), "no spec at all");
}

/* ---- enums ---- */

static void test_enums(void)
{
	struct uftrace_enum_table t = {0};
	char *text = text_copy("enum flags {F_A=1,F_B,F_C=4};enum neg { M = -1, Z, X=0x10 , Y } ;"
			       "enum flags {OTHER};enum dup {P,Q=0}");
	const struct uftrace_enum *e;

	is_u64(uftrace_enum_add(&t, text), 0, "definitions");
	e = uftrace_enum_find(&t, "flags");
	ok(e && e->nr == 3, "the first of two counts");
	ok(e && e->values[0].value == 4 && !strcmp(e->values[0].name, "F_C"), "largest first");
	ok(e && e->values[1].value == 2 && !strcmp(e->values[1].name, "F_B"), "counted on");
	e = uftrace_enum_find(&t, "neg");
	ok(e && e->nr == 4 && e->values[3].value == -1 && e->values[0].value == 17,
	   "negative, hex");
	e = uftrace_enum_find(&t, "dup");
	ok(e && e->nr == 2 && !strcmp(e->values[0].name, "Q"), "of equal values the last");
	ok(!uftrace_enum_find(&t, "none"), "unknown enum");
	uftrace_enum_free(&t);
	free(text);
	text = text_copy("enum good {A};struct x {}");
	is_u64(uftrace_enum_add(&t, text), 1, "what is no enum");
	ok(uftrace_enum_find(&t, "good") != NULL, "those before it stay");
	uftrace_enum_free(&t);
	free(text);
}

/* ---- which specs a function has ---- */

static void make(const char *dir)
{
	dir_write(dir, "task.txt",
		  "SESS timestamp=1.000000000 pid=1 sid=" SID " exename=\"/bin/main\"\n"
		  "TASK timestamp=1.000000001 tid=1 pid=1\n"
		  "DLOP timestamp=2.000000000 tid=1 sid=" SID
		  " base=900000 libname=\"./plug.so\"\n");
	dir_write(dir, "sid-" SID ".map",
		  "100000-200000 r-xp 00000000 00:00 0 /bin/main\n"
		  "200000-300000 r-xp 00000000 00:00 0 /lib/libx.so\n"
		  "300000-400000 r-xp 00000000 00:00 0 /lib/libxy.so\n");
	dir_write(dir, "main.sym",
		  "# path name: /bin/main\n"
		  "0000000000000100 00000010 P puts\n"
		  "0000000000001000 00000100 T foo\n"
		  "0000000000001000 00000100 t foo_alias\n"
		  "0000000000001100 00000100 T bar\n"
		  "0000000000001140 00000010 t inner\n"
		  "0000000000001200 00000100 T _ZN1A1fEi\n");
	dir_write(dir, "libx.so.sym",
		  "0000000000001000 00000100 T foo\n"
		  "0000000000001100 00000100 T puts\n");
	dir_write(dir, "libxy.so.sym", "0000000000001000 00000100 T foo\n");
	dir_write(dir, "plug.so.sym", "0000000000001000 00000100 T plug\n");
	dir_write(dir, "main.dbg",
		  "# path name: /bin/main\n"
		  "E: enum color {RED,GREEN=4}\n"
		  "F: 1000 foo\nL: 1 x.c\nA: @arg1/e:color,arg2/s\nR: @retval/c\n"
		  "F: 1100 bar\nA: @arg1\nF: 1100 bar2\nA: @arg1\n");
	dir_write(dir, "plug.so.dbg", "F: 1000 plug\nA: @arg1,arg2/t12\n");
}

/* "1:d8 2:s8 ..." of the function at address, "none" if it has no specs. */
static const char *specs_at(struct dir *d, uint64_t address, bool exit)
{
	struct uftrace_session *s = uftrace_session_get(d->sessions, &d->tasks->sess[0]);
	static char text[512];
	const struct uftrace_spec_list *specs;
	struct uftrace_where where;
	size_t n = 0;

	if (!uftrace_session_resolve(s, 1, address, &where))
		return "unknown";
	specs = uftrace_args_find(d->args, s, &where, exit);
	if (specs != uftrace_args_find(d->args, s, &where, exit))
		return "not cached";
	if (!specs)
		return "none";
	text[0] = 0;
	for (uint32_t i = 0; i < specs->nr; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%u:%c%u", i ? " " : "",
			      specs->specs[i].index, "diuxoscfSpet"[specs->specs[i].fmt],
			      specs -> specs[i].size);
	return text;
}

#define MAIN_PUTS 0x100100
#define MAIN_FOO  0x101000
#define MAIN_BAR  0x101100
#define MAIN_IN	  0x101144
#define MAIN_AF	  0x101200
#define X_FOO	  0x201000
#define X_PUTS	  0x201100
#define XY_FOO	  0x301000
#define PLUG	  0x901000

struct want {
	uint64_t address;
	bool exit;
	const char *specs;
};

static void check(const char *dir, uint64_t feat, const char *info, const struct want *want)
{
	char *what = text_copy(info);
	struct dir d;

	/* a check's name is one line */
	for (char *p = what; (p = strchr(p, '\n'));)
		*p = ' ';
	dir_open(&d, dir, feat, INFO, info);
	for (; want->specs; want++)
		is_str(specs_at(&d, want->address, want->exit), want->specs, what);
	dir_close(&d);
	free(what);
}

#define CHECK(feat, info, ...) check(path, feat, info, (const struct want[]){__VA_ARGS__, {0}})

#define LINES  "argspec:lines=4\n"
#define REGEX  "pattern_type:regex\n"
#define GLOB   "pattern_type:glob\n"
#define SIMPLE "pattern_type:simple\n"

static void test_order(const char *path)
{
	CHECK(FEAT, LINES "argspec:foo@arg2/x,arg1/s\nretspec:foo@retval/i32\n" REGEX,
	      {MAIN_FOO, false, "2:x8 1:s8"}, {MAIN_FOO, true, "0:i4"}, {X_FOO, false, "2:x8 1:s8"},
	      {MAIN_BAR, false, "none"});
	CHECK(FEAT, LINES "argspec:foo@arg1/i8;fo.@arg2,arg1/x;foo@arg3,arg1/u16\n" REGEX,
	      {MAIN_FOO, false, "1:u2 2:d8 3:d8"});
	CHECK(FEAT, LINES "argspec:f.o@arg1/i8;foo@arg1/s;f.*@arg1/x\n" REGEX,
	      {MAIN_FOO, false, "1:s8"}, {MAIN_AF, false, "1:x8"});
	CHECK(FEAT, LINES "argspec:foo_alias@arg1;foo@arg2\n" REGEX, {MAIN_FOO, false, "1:d8 2:d8"},
	      {X_FOO, false, "2:d8"}, {MAIN_FOO, true, ""});
	CHECK(FEAT, LINES "argspec:foo@arg1/i32,arg2%rdi;foo@arg3%rdi,arg4/t4%stack+1\n" REGEX,
	      {MAIN_FOO, false, "1:i4 2:d8 4:t4"});
	CHECK(FEAT, LINES "argspec:foo@arg1,arg2/q;bar@arg1\n" REGEX, {MAIN_FOO, false, "none"},
	      {MAIN_BAR, false, "1:d8"}, {MAIN_IN, false, "1:d8"});
	CHECK(FEAT, LINES "argspec:foo@arg1,retval/s\n" REGEX, {MAIN_FOO, false, "1:d8"},
	      {MAIN_FOO, true, "0:s8"});
	CHECK(FEAT, LINES "argspec:A::f@arg1\n" REGEX, {MAIN_AF, false, "1:d8"});
	CHECK(FEAT, LINES "argspec:_ZN1A1fEi@arg1/c\n" REGEX, {MAIN_AF, false, "1:c1"});
	CHECK(FEAT, "argspec:foo@arg1\n" REGEX, {MAIN_FOO, false, "1:d8"});
}

static void test_modules(const char *path)
{
	CHECK(FEAT, LINES "argspec:foo@arg1,libx\n" REGEX, {X_FOO, false, "1:d8"},
	      {XY_FOO, false, "none"}, {MAIN_FOO, false, "none"});
	CHECK(FEAT, LINES "argspec:foo@libxy,arg1\n" REGEX, {XY_FOO, false, "1:d8"},
	      {X_FOO, false, "none"});
	CHECK(FEAT, LINES "argspec:puts@plt,arg1/s;.@arg2@PLT\n" REGEX, {MAIN_PUTS, false, "1:s8"},
	      {X_PUTS, false, "none"}, {MAIN_FOO, false, "none"});
	CHECK(FEAT, LINES "argspec:foo@arg1,kernel;foo@arg1,k\n" REGEX, {MAIN_FOO, false, "none"});
	CHECK(FEAT, LINES "argspec:.*@arg1,trace_on,depth=3\n" REGEX, {MAIN_FOO, false, "1:d8"},
	      {PLUG, false, "1:d8"});
}

static void test_patterns(const char *path)
{
	CHECK(FEAT, LINES "argspec:f*@arg1\n" GLOB, {MAIN_FOO, false, "1:d8"},
	      {MAIN_BAR, false, "none"});
	CHECK(FEAT, LINES "argspec:f*@arg1;foo@arg2\n" SIMPLE, {MAIN_FOO, false, "2:d8"});
	CHECK(FEAT, LINES "argspec:o$@arg1\n" REGEX, {MAIN_FOO, false, "1:d8"},
	      {MAIN_BAR, false, "none"});
	CHECK(FEAT,
	      LINES "argspec:((((a{250}){250}){250}){250}@arg1;(@arg1;(f)\\1@arg1;foo@arg3\n" REGEX,
	      {MAIN_FOO, false, "3:d8"});
}

static void test_auto(const char *path)
{
	static const char autos[] = "argspec:lines=5\nargauto:puts@arg1/s;_ZN1A1fEi@arg1/p\n"
				    "retauto:puts@retval/d32\nauto-args:1\n" REGEX;
	static const char mixed[] = "argspec:lines=5\nargspec:foo@arg2/i32\nargauto:puts@arg1/s\n"
				    "retauto:puts@retval\nauto-args:1\n" REGEX;

	CHECK(FEAT, autos, {MAIN_PUTS, false, "1:s8"}, {MAIN_PUTS, true, "0:d4"},
	      {X_PUTS, false, "1:s8"}, {MAIN_AF, false, "1:p8"}, {MAIN_FOO, false, "none"});
	CHECK(FEAT | UFTRACE_FEAT_DEBUG_INFO, autos, {MAIN_PUTS, false, "1:s8"},
	      {MAIN_FOO, false, "1:e8 2:s8"}, {MAIN_FOO, true, "0:c1"}, {MAIN_BAR, false, "none"},
	      {PLUG, false, "1:d8 2:t12"});
	CHECK(FEAT | UFTRACE_FEAT_DEBUG_INFO, mixed, {MAIN_FOO, false, "2:i4"},
	      {MAIN_FOO, true, "0:c1"});
	CHECK(UFTRACE_FEAT_SYM_REL_ADDR, mixed, {MAIN_PUTS, false, "1:s8"});
	CHECK(UFTRACE_FEAT_SYM_REL_ADDR | UFTRACE_FEAT_DEBUG_INFO, mixed,
	      {MAIN_PUTS, false, "none"});
	CHECK(FEAT, LINES "argspec:foo;puts\nretspec:puts\nargauto:puts@arg1/s\n" REGEX,
	      {MAIN_FOO, false, "1:e8 2:s8"}, {MAIN_FOO, true, ""}, {MAIN_PUTS, false, "1:s8"});
}

static void test_enum_types(const char *path)
{
	struct uftrace_session *s;
	const struct uftrace_spec_list *specs;
	struct uftrace_where where;
	struct dir d;

	dir_open(&d, path, FEAT, INFO,
		 LINES "argspec:foo@arg1/e:color,arg2/e:mode,arg3/e:none\n"
		       "enumauto:enum mode {R,W};enum color {NO}\n" REGEX);
	s = uftrace_session_get(d.sessions, &d.tasks->sess[0]);
	uftrace_session_resolve(s, 0, MAIN_FOO, &where);
	specs = uftrace_args_find(d.args, s, &where, false);
	ok(specs && specs->nr == 3, "three enums");
	ok(specs && specs->specs[0].type && specs->specs[0].type->nr == 2, "the module's own");
	ok(specs && specs->specs[1].type && !strcmp(specs->specs[1].type->values[0].name, "W"),
	   "a built-in one");
	ok(specs && !specs->specs[2].type, "one without definition");
	dir_close(&d);
}

/* ---- payloads ---- */

static void put16(uint8_t *p, uint16_t v, bool swap)
{
	v = uftrace_swap16(v, swap);
	memcpy(p, &v, sizeof(v));
}

static void put32(uint8_t *p, uint32_t v, bool swap)
{
	v = uftrace_swap32(v, swap);
	memcpy(p, &v, sizeof(v));
}

static void test_payload(bool swap)
{
	struct uftrace_spec list[] = {
		{.index = 1, .fmt = UFTRACE_FMT_CHAR, .size = 1},
		{.index = 2, .fmt = UFTRACE_FMT_STR, .size = 8},
		{.index = 3, .fmt = UFTRACE_FMT_STRUCT, .size = 0},
		{.index = 4, .fmt = UFTRACE_FMT_SINT, .size = 4},
		{.index = 5, .fmt = UFTRACE_FMT_FLOAT, .size = 4},
		{.index = 6, .fmt = UFTRACE_FMT_STRUCT, .size = 5},
	};
	struct uftrace_spec_list specs = {list, 6, 6}, text = {&list[1], 1, 1};
	struct uftrace_arg arg = {0};
	uint8_t p[40];
	float f = 1.5;
	uint32_t bits;

	memset(p, 0xee, sizeof(p));
	p[0] = 'x';
	put16(p + 4, 3, swap);
	memcpy(p + 6, "abc", 3);
	put32(p + 12, -7, swap);
	memcpy(&bits, &f, sizeof(f));
	put32(p + 16, bits, swap);
	memcpy(p + 20, "12345", 5);
	is_u64(uftrace_args_size(&specs, p, sizeof(p), swap), 32, "size with padding");
	is_u64(uftrace_args_size(&specs, p, 32, swap), 32, "that just fits");
	for (size_t n = 0; n < 32; n++)
		if (uftrace_args_size(&specs, p, n, swap) != -1)
			ok(false, "a payload that is cut must be found out");
	ok(uftrace_args_next(&arg, &specs, p, 32, swap) == 1 && arg.length == 1 &&
		   arg.bytes[0] == 'x',
	   "char");
	ok(uftrace_args_next(&arg, &specs, p, 32, swap) == 1 && arg.is_string && arg.length == 3 &&
		   !memcmp(arg.bytes, "abc", 3),
	   "string");
	ok(uftrace_args_next(&arg, &specs, p, 32, swap) == 1 && arg.length == 0, "empty struct");
	ok(uftrace_args_next(&arg, &specs, p, 32, swap) == 1 && arg.length == 4 &&
		   arg.bytes == p + 12,
	   "number");
	ok(uftrace_args_next(&arg, &specs, p, 32, swap) == 1 && arg.length == 4 &&
		   arg.bytes == p + 16,
	   "float");
	ok(uftrace_args_next(&arg, &specs, p, 32, swap) == 1 && !memcmp(arg.bytes, "12345", 5),
	   "struct");
	is_u64(uftrace_args_next(&arg, &specs, p, 32, swap), 0, "the end");

	put16(p, 4, swap);
	memset(p + 2, 0xff, 4);
	arg = (struct uftrace_arg){0};
	ok(uftrace_args_next(&arg, &text, p, 8, swap) == 1 && arg.length == 4,
	   "NULL of old recorders");
	put16(p, 65535, swap);
	ok(uftrace_args_size(&text, p, sizeof(p), swap) == -1, "a string that is too long");
}

int main(void)
{
	char *path = dir_new();

	test_specs();
	test_enums();
	make(path);
	test_order(path);
	test_modules(path);
	test_patterns(path);
	test_auto(path);
	test_enum_types(path);
	dir_remove(path);
	test_payload(false);
	test_payload(true);
	return done();
}
