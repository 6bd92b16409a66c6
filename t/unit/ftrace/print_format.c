/* links: cmd/trencode */
/*
 * The print fmt of kernel events: compiled from format texts as kernels wrote them, and printed for
 * records made here.
 */
#include <stdlib.h>

#include "common/ftrace/event_format.h"
#include "common/ftrace/print_format.h"
#include "common/util/buffer.h"
#include "t/unit/tap.h"

static struct buffer record;

static const char *symbol(void *context, uint64_t address, size_t *size, uint64_t *offset)
{
	(void)context;
	if (address < 0xffffffff81000000 || address > 0xffffffff81000fff)
		return NULL;
	*size = strlen("schedule");
	*offset = address - 0xffffffff81000000;
	return "schedule<not part of it>";
}

static uint64_t address(void *context, const char *name, size_t size)
{
	(void)context;
	return size == 4 && !memcmp(name, "base", 4) ? 0x1000 : 0;
}

static const char *string(void *context, uint64_t a, size_t *size)
{
	(void)context;
	*size = 5;
	return a == 0xc0ffee ? "hello" : NULL;
}

static struct print_kernel kernel = {NULL, symbol, address, string, false};

/* The text of the record, or what is wrong with the format. */
static const char *printed_as(const char *format, unsigned word, bool big)
{
	static struct print_line line;
	char why[PRINT_WHY];
	struct print_format *f =
		print_format_compile(format, strlen(format), word, big, &kernel, why);

	line.size = 0;
	if (!f) {
		line_puts(&line, "! ");
		line_puts(&line, why);
	} else {
		/* in a block of its very size, for the sanitizer */
		uint8_t *copy = malloc(record.size ? record.size : 1);

		if (copy) {
			memcpy(copy, record.data, record.size);
			print_format_text(f, &kernel, copy, record.size, &line);
		}
		free(copy);
		print_format_free(f);
	}
	if (line.size == PRINT_LINE_MOST)
		line.size--;
	line_char(&line, '\0');
	return line.data;
}

static const char *printed(const char *format)
{
	return printed_as(format, 8, false);
}

/* A record of s32 a, u32 b, u64 c, s16 d, s8 e, u8 f, char g[8], u8 h[8], u16 i[4]. */
#define FIELDS                                                                                     \
	"name: test\nID: 1\nformat:\n"                                                             \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"                   \
	"\tfield:int a;\toffset:4;\tsize:4;\tsigned:1;\n"                                          \
	"\tfield:u32 b;\toffset:8;\tsize:4;\tsigned:0;\n"                                          \
	"\tfield:u64 c;\toffset:16;\tsize:8;\tsigned:0;\n"                                         \
	"\tfield:s16 d;\toffset:24;\tsize:2;\tsigned:1;\n"                                         \
	"\tfield:s8 e;\toffset:26;\tsize:1;\tsigned:1;\n"                                          \
	"\tfield:u8 f;\toffset:27;\tsize:1;\tsigned:0;\n"                                          \
	"\tfield:char g[8];\toffset:28;\tsize:8;\tsigned:1;\n"                                     \
	"\tfield:u8 h[8];\toffset:36;\tsize:8;\tsigned:0;\n"                                       \
	"\tfield:u16 i[4];\toffset:44;\tsize:8;\tsigned:0;\n"                                      \
	"\tfield:__data_loc char[] s;\toffset:52;\tsize:4;\tsigned:1;\n"                           \
	"\tfield:__rel_loc u8[] r;\toffset:56;\tsize:4;\tsigned:0;\n"                              \
	"\tfield:__data_loc unsigned long[] m;\toffset:60;\tsize:4;\tsigned:0;\n"                  \
	"\tfield:void * p;\toffset:64;\tsize:8;\tsigned:0;\n"                                      \
	"\nprint fmt: "

static void make_record(void)
{
	record.size = 0;
	buffer_zero(&record, 4);
	buffer_u32(&record, (uint32_t)-5);
	buffer_u32(&record, 4000000000u);
	buffer_zero(&record, 4);
	buffer_u64(&record, 0x123456789abcdef0);
	buffer_append(&record, "\xfe\xff", 2); /* -2 */
	buffer_u8(&record, 0xd9);	       /* -39 */
	buffer_u8(&record, 200);
	buffer_append(&record, "bash\0junk", 8);
	buffer_append(&record, "\x01\x02\x03\x04\xab\xcd\xef\x00", 8);
	buffer_append(&record, "\x01\x00\x02\x00\x03\x00\xff\xff", 8);
	buffer_u32(&record, 6u << 16 | 72);
	buffer_u32(&record, 3u << 16 | 20);
	buffer_u32(&record, 16u << 16 | 84);
	buffer_u64(&record, 0xffffffff81000010);
	buffer_append(&record, "hello\0\0\0", 8);    /* 72 */
	buffer_append(&record, "\x27\x28\x29\0", 4); /* 80 */
	buffer_u64(&record, 0x27);		     /* 84 */
	buffer_u64(&record, 0xf000000280);
}

#define IS(fmt, text) is_str(printed(FIELDS fmt), text, fmt)

static void test_conversions(void)
{
	IS("\"plain\\ttext\\n\"", "plain\ttext\n");
	IS("\"100%% \" \"joined\\x41\"", "100% joinedA");
	IS("\"%d %i %u\", REC->a, REC->a, REC->b", "-5 -5 4000000000");
	IS("\"%x %X %o\", REC->f, REC->f, REC->f", "c8 C8 310");
	IS("\"%llx %lu %zu\", REC->c, REC->c, REC->b",
	   "123456789abcdef0 1311768467463790320 4000000000");
	IS("\"%d %d %u\", REC->d, REC->e, REC->e", "-2 -39 4294967257");
	IS("\"%hd %hhu %hx\", REC->a, REC->a, REC->a", "-5 251 fffb");
	IS("\"[%5d|%-5d|%05d|%+d|% d]\", REC->a, REC->a, REC->a, 7, 7",
	   "[   -5|-5   |-0005|+7| 7]");
	IS("\"[%.3d|%8.3x|%#x|%#o|%#06x]\", 7, 10, 255, 8, 255", "[007|     00a|0xff|010|0x00ff]");
	IS("\"[%*d|%-*d|%*d]\", 4, 7, 4, 7, -4, 7", "[   7|7   |7   ]");
	IS("\"%c%c %3c|%-3c|\", 'a', 98, 'c', 'd'", "ab   c|d  |");
	IS("\"[%s|%8s|%-8s|%.2s|%.*s]\", REC->g, REC->g, REC->g, REC->g, 3, REC->g",
	   "[bash|    bash|bash    |ba|bas]");
	IS("\"%s\", REC->c", "123456789abcdef0");
	IS("\"%s\", (char *)0xc0ffee", "hello");
	IS("\"%#x %x\", 0, 0", "0 0");
	IS("\"%lld\", -1", "-1");
	IS("\"%Lx %jd %td\", REC->c, 1ULL, 2", "123456789abcdef0 1 2");
}

static void test_expressions(void)
{
	IS("\"%d\", 1 + 2 * 3", "7");
	IS("\"%d\", (1 + 2) * 3", "9");
	IS("\"%d\", 10 - 3 - 2", "5");
	IS("\"%d\", 1 << 2 + 1", "8");
	IS("\"%llu\", 18446744073709551615", "18446744073709551615");
	IS("\"%llu\", 18446744073709551617", "18446744073709551615");
	IS("\"%llx\", 0x10000000000000001", "ffffffffffffffff");
	IS("\"%d\", 7 & 3 == 3", "1");
	IS("\"%d %d %d\", 6 ^ 3, 6 | 3, 6 & 3", "5 7 2");
	IS("\"%d\", 1 ? 2 : 0 ? 3 : 4", "2");
	IS("\"%d\", 0 ? 2 : 0 ? 3 : 4", "4");
	IS("\"%d %d\", REC->a < 0, REC->b < 0", "1 0");
	IS("\"%d\", REC->a / 2", "-2");
	IS("\"%d %d\", REC->a % 3, 5 / 0", "-2 0");
	IS("\"%u\", REC->b >> 28", "14");
	IS("\"%d\", REC->a >> 1", "-3");
	IS("\"%d %d %d\", !REC->a, !0, ~0", "0 1 -1");
	IS("\"%d\", - - 3", "3");
	IS("\"%llu\", (u64)REC->b * 4", "16000000000");
	IS("\"%u\", REC->b * 4", "3115098112");
	IS("\"%d %u %d\", (s8)200, (u8)0x1ff, (short)0xffff", "-56 255 -1");
	IS("\"%d\", (bool)REC->c", "1");
	IS("\"%lx\", (unsigned long)(unsigned int)REC->a", "fffffffb");
	IS("\"%lx\", (unsigned long)REC->a", "fffffffffffffffb");
	IS("\"%d\", (REC)->a", "-5");
	IS("\"%d\", REC->a == -5 && REC->d != 3 || 0", "1");
	IS("\"%d %d %d\", REC->i[0], REC->i[3], REC->i[4]", "1 65535 0");
	IS("\"%x\", REC->h[4]", "ab");
	IS("\"%d\", *(u16 *)REC->i", "1");
	IS("\"%x\", ((u32 *)REC->h)[0]", "4030201");
	IS("\"%x\", *(REC->h + 5)", "cd");
	IS("\"%d %d %d\", sizeof(int), sizeof(REC->c), sizeof(unsigned long)", "4 8 8");
	IS("\"%d\", __builtin_expect(!!(REC->a), 0)", "1");
	IS("\"%d\", ntohs(0x0100)", "1");
	IS("\"%lu\", (unsigned long)((1ULL) << (40))", "1099511627776");
	IS("\"%d\", ((((1UL))) << (3)) == 8", "1");
	IS("\"%p\", (((struct page *)base) + 2)", "0x1002");
	IS("\"%llu.%06llu\", __print_ns_to_secs(3000000007), __print_ns_without_secs(3000000007)",
	   "3.000007");
}

static void test_arrays(void)
{
	IS("\"%s %d\", __get_str(s), __get_dynamic_array_len(s)", "hello 6");
	IS("\"%c\", __get_str(s)[1]", "e");
	IS("\"%s\", __print_hex(__get_rel_dynamic_array(r), 3)", "27 28 29");
	IS("\"%s\", __print_hex_str(__get_rel_dynamic_array(r), 2)", "2728");
	IS("\"%s\", __print_hex(REC->h, 100)", "01 02 03 04 ab cd ef 00");
	IS("\"%s\", __print_array(REC->i, 3, sizeof(u16))", "{0x1,0x2,0x3}");
	IS("\"%s\", __print_array(__get_dynamic_array(m), 2, 8)", "{0x27,0xf000000280}");
	IS("\"%s\", __get_bitmask(m)", "000000f0,00000280,00000000,00000027");
	IS("\"%s\", __get_cpumask(m)", "0-2,5,71,73,100-103");
	IS("\"[%-8s]\", __print_hex_str(REC->h, 2)", "[0102    ]");
	IS("\"%s\", __print_hex_dump(\"\", 0, 16, 1, REC->h, 4, 0)", "\n01 02 03 04\n");
	IS("\"%s\", __print_hex_dump(\"x: \", 2, 16, 4, REC->h, 4, 1)",
	   "\nx: 00000000: 04030201                             ....\n");
}

static void test_names(void)
{
	IS("\"%s\", __print_symbolic(REC->f, {1, \"one\"}, { 200, \"two\" \"hundred\" })",
	   "twohundred");
	IS("\"%s\", __print_symbolic(REC->f, {1, \"one\"})", "0xc8");
	IS("\"%s\", __print_symbolic(REC->a, {-5, \"minus five\"})", "minus five");
	IS("\"%s\", __print_symbolic(9, {HI_SOFTIRQ, \"HI\"}, {RCU_SOFTIRQ, \"RCU\"})", "RCU");
	IS("\"%s\", __print_symbolic(9, {NOT_EXPANDED, \"x\"}, {1 << 3 | 1, \"nine\"})", "nine");
	IS("\"%s\", __print_flags(REC->f, \"|\", {0x80, \"A\"}, {0x40, \"B\"}, {1, \"C\"})",
	   "A|B|0x8");
	IS("\"%s\", __print_flags(0, \"|\", {0x80, \"A\"})", "");
	/* the kernel prints no flag of 0, and a name whose value the format does not have is none
	 */
	IS("\"%s\", __print_flags(0, \"|\", {NONE, \"none\"}, {1, \"A\"})", "");
	IS("\"%s\", __print_flags(0x70, \"|\", {I_DIRTY_SYNC, \"I_DIRTY_SYNC\"})", "0x70");
	IS("\"%s\", __print_flags(3, \"\", {1, \"a\"}, {2, \"b\"})", "ab");
	IS("\"%s\", __print_flags(5, \"|\", {1, \"a\"}, { 0, ((void *)0) } )", "a|0x4");
	IS("\"%s\", __print_symbolic(0, {1, \"a\"}, { 0, ((void *)0) })", "0x0");
	IS("\"%s\", __print_symbolic(0, {1, \"a\"}, { 0, 7 })", "! no name near '}'");
	IS("\"[%4s]\", __print_flags(3, \"|\", {1, \"a\"}, {2, \"b\"})", "[ a|b]");
	IS("\"%s\", REC->a ? __print_flags(1, \"\", {1, \"a\"}) : \"none\"", "a");
	IS("\"%s\", REC->f & 1 ? \"odd\" : REC->g", "bash");
}

static void test_addresses(void)
{
	IS("\"%pS %ps %pF %pf\", REC->p, REC->p, REC->p, (void *)REC->p",
	   "schedule+0x10 schedule schedule+0x10 schedule");
	IS("\"%pS %p %p\", (void *)5, (void *)0x4e, (void *)0", "0x5 0x4e (nil)");
	IS("\"%px\", (void *)0x4e", "000000000000004e");
	IS("\"%pM %pm %pMF %pMR\", REC->h, REC->h, REC->h, REC->h",
	   "01:02:03:04:ab:cd 01020304abcd 01-02-03-04-ab-cd cd:ab:04:03:02:01");
	IS("\"%pI4 %pi4 %pI4h.\", REC->h, REC->h, REC->h", "1.2.3.4 001.002.003.004 4.3.2.1.");
	IS("\"%pI4\", &REC->h[4]", "171.205.239.0");
	IS("\"%pI4\", REC->b", "0.40.107.238");
	IS("\"%pI6\", REC->h", "INVALIDIPv6");
	IS("\"%*ph %*phC %3phN %ph\", 3, REC->h, 2, REC->h, REC->h, REC->h",
	   "01 02 03 01:02 010203 01");
	IS("\"%16pb %*pbl\", REC->h, 16, REC->h", "0201 0,9");
}

static void test_network(void)
{
#define NET                                                                                        \
	"\tfield:u8 v6[16];\toffset:0;\tsize:16;\tsigned:0;\n"                                     \
	"\tfield:__data_loc u8[] sa;\toffset:16;\tsize:4;\tsigned:0;\n\nprint fmt: "
	record.size = 0;
	buffer_append(&record, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\x01\x00\x10", 16);
	buffer_u32(&record, 28u << 16 | 20);
	buffer_append(&record, "\x0a\0\x1f\x90\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0",
		      28);
	is_str(printed(NET "\"%pI6c %pi6\", REC->v6, REC->v6"),
	       "2001:db8::1:10 20010db8000000000000000000010010", "IPv6");
	is_str(printed(NET "\"%pU %pUb %pUL\", REC->v6, REC->v6, REC->v6"),
	       "20010db8-0000-0000-0000-000000010010 20010db8-0000-0000-0000-000000010010 "
	       "B80D0120-0000-0000-0000-000000010010",
	       "UUID");
	is_str(printed(NET "\"%pISpc %pIS\", __get_sockaddr(sa), __get_sockaddr(sa)"),
	       "[::1]:8080 0000:0000:0000:0000:0000:0000:0000:0001", "a socket's IPv6 address");
	memcpy(record.data + 20, "\x02\0\x1f\x90\x7f\0\0\x01", 8);
	is_str(printed(NET "\"%pISpc\", __get_sockaddr(sa)"), "127.0.0.1:8080",
	       "a socket's IPv4 address");
	memcpy(record.data, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\x01", 16);
	is_str(printed(NET "\"%pI6c\", REC->v6"), "::ffff:127.0.0.1", "IPv4 in IPv6");
	make_record();
}

static void test_other_machines(void)
{
#define SMALL                                                                                      \
	"\tfield:long ret;\toffset:0;\tsize:4;\tsigned:1;\n"                                       \
	"\tfield:__data_loc char[] s;\toffset:4;\tsize:4;\tsigned:1;\n"                            \
	"\tfield:unsigned long mask[2];\toffset:8;\tsize:8;\tsigned:0;\n\nprint fmt: "
	record.size = 0;
	buffer_append(&record, "\xff\xff\xff\xf6\0\x04\0\x10\0\0\0\x03\0\0\0\x01ppc", 20);
	is_str(printed_as(SMALL "\"%ld %lx %d\", REC->ret, REC->ret, (int)REC->ret", 4, true),
	       "-10 fffffff6 -10", "a long of 4 bytes, big-endian");
	is_str(printed_as(SMALL "\"%s %lx\", __get_str(s), REC->mask[1]", 4, true), "ppc 1",
	       "__data_loc and elements, big-endian");
	is_str(printed_as(SMALL "\"%s\", __print_symbolic(REC->ret, {1, \"x\"})", 4, true),
	       "0xfffffff6", "no name, in 32 bits");
	is_str(printed_as(SMALL "\"%s\", __get_cpumask(mask)", 4, true), "0-1,32",
	       "a mask of big-endian longs");
	make_record();
}

static void test_refused(void)
{
	is_str(printed("name: x\n"), "! it has none", "no print fmt");
	IS("\"%d\"", "! an argument is missing near ''");
	IS("\"%d\", REC->nope", "! no such field near 'nope'");
	IS("\"%d\", jiffies_to_msecs(REC->a)", "! it calls jiffies_to_msecs() of the kernel");
	IS("\"%d\", REC->g", "! %d of something else");
	IS("\"%pM\", 3", "! %pM of something else");
	IS("\"%f\", 3", "! %f is not a conversion");
	IS("\"%n\", 3", "! %n is not a conversion");
	IS("\"%", "! not a text near ''");
	IS("\"%d\", (((", "! it ends too early near ''");
	IS("\"%d\", 1 +", "! it ends too early near ''");
	IS("\"%s\", __print_symbolic(REC->a, {REC->b, \"x\"})", "! not a constant near ','");
	IS("\"%d\", REC->a[1]", "! not an array near ''");
}

static void test_deep(void)
{
	char deep[1200], *flat;

	IS("\"%s\", \"x\" ? \"a\" : \"b\"", "a");
	IS("\"%d\", REC->g ? 1 : 2", "1");
	snprintf(deep, sizeof deep, FIELDS "\"%%d\", %0*d%s%0*d", 200, 0, "REC->a", 200, 0);
	for (char *p = deep, *at = strstr(deep, "REC"); *p; p++)
		if (*p == '0' && p > strstr(deep, "print fmt:") && (p < at || p > at + 5))
			*p = p < at ? '(' : ')';
	flat = strdup(printed(FIELDS "\"%d\", REC->a"));
	is_str(printed(deep), flat, "200 parentheses");
	free(flat);
}

/* Formats made to hurt: they are refused, or take no more than a moment. */
static void test_hostile(void)
{
	static char big[400000];
	size_t n = (size_t)snprintf(big, sizeof big, "%s", FIELDS "\"%d\", ");
	const char *text;

	memset(big + n, '(', 300000);
	ok(!strncmp(printed(big), "! it nests too deep", 19), "parentheses");
	memset(big + n, '-', 300000);
	ok(!strncmp(printed(big), "! it nests too deep", 19), "signs");
	for (size_t i = 0; i < 300000; i += 2)
		memcpy(big + n + i, i % 4 ? "1?" : "1?", 2);
	ok(!strncmp(printed(big), "! it nests too deep", 19), "choices");
	for (size_t i = 0; i < 300000; i += 7)
		memcpy(big + n + i, "REC->a+", 7);
	ok(!strncmp(printed(big), "! the expression is too large", 29), "a long sum");
	for (size_t i = 0; i < 300000; i += 2)
		memcpy(big + n + i, "1+", 2);
	big[n + 60001] = '\0';
	is_str(printed(big), "30001", "a long sum of constants is one");
	n = (size_t)snprintf(big, sizeof big, "%s", FIELDS "\"");
	for (size_t i = 0; i < 5000; i++)
		n += (size_t)snprintf(big + n, sizeof big - n, "%%9999d");
	n += (size_t)snprintf(big + n, sizeof big - n, "\"");
	for (size_t i = 0; i < 5000; i++)
		n += (size_t)snprintf(big + n, sizeof big - n, ",1");
	text = printed(big);
	ok(strlen(text) <= PRINT_LINE_MOST && strlen(text) > PRINT_LINE_MOST / 2,
	   "columns without end");
}

/* A record that ends anywhere: what is there is printed. */
static void test_truncated(void)
{
	size_t whole = record.size;
	bool fine = true;

	for (record.size = 0; record.size <= whole; record.size++)
		fine &= *printed(FIELDS
				 "\"%d %s %s %s %s %pM %pI4 %*ph %d\", REC->a, REC->g, "
				 "__get_str(s), __get_bitmask(m), "
				 "__print_hex(__get_rel_dynamic_array(r), 9), REC->h, REC->h, 9, "
				 "REC->h, REC->i[2]") != '!';
	record.size = whole;
	ok(fine, "records of any length");
}

static const char *binary(const char *format, unsigned word)
{
	static struct print_line line;
	char why[PRINT_WHY];
	struct print_format *f =
		print_format_compile_binary(format, strlen(format), word, false, why);

	line.size = 0;
	if (f)
		print_format_text(f, &kernel, record.data, record.size, &line);
	print_format_free(f);
	line_char(&line, '\0');
	return line.data;
}

static void test_binary(void)
{
	record.size = 0;
	buffer_u32(&record, 44);
	buffer_append(&record, "tcmod\0\0", 8);
	buffer_u64(&record, 0xffffffff81000000);
	buffer_u32(&record, 0x2ec);
	buffer_u64(&record, (uint64_t)-377957122048);
	is_str(binary("round %d of %s ptr=%ps hex=%#x ll=%lld", 8),
	       "round 44 of tcmod ptr=schedule hex=0x2ec ll=-377957122048",
	       "as vbin_printf() packs");
	record.size = 0;
	buffer_u32(&record, 6);
	buffer_u32(&record, 44);
	buffer_append(&record, "x\0y\0\x07\0\0\0", 8);
	is_str(binary("[%*d] %s %s %ld", 4), "[    44] x y 7",
	       "a width, strings, a long of 4 bytes");
	is_str(binary("%d %d %d %d %d %s", 8), "6 44 7929976 7 0 ", "more than there is");
	make_record();
}

/* As kernels wrote them. */
static void test_real(void)
{
	static const char sched_switch[] =
		"name: sched_switch\nID: 314\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\n"
		"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
		"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
		"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:1;\n"
		"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
		"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> "
		"next_comm=%s next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, "
		"REC->prev_prio, (REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | "
		"0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1)) "
		"? "
		"__print_flags(REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | "
		"0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1), "
		"\"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000004, \"T\" }, { "
		"0x00000008, \"t\" }, { 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, { 0x00000040, "
		"\"P\" "
		"}, { 0x00000080, \"I\" }) : \"R\", REC->prev_state & (((0x00000000 | 0x00000001 | "
		"0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) "
		"<< "
		"1) ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio\n";
	static const char timer_start[] =
		"\tfield:unsigned int flags;\toffset:0;\tsize:4;\tsigned:0;\n\nprint fmt: "
		"\"cpu=%u idx=%u flags=%s\", REC->flags & 0x0003FFFF, REC->flags >> 22, "
		"__print_flags(REC->flags & (0x00040000 | 0x00080000 | 0x00100000 | 0x00200000), "
		"\"|\", "
		"{ 0x00040000, \"M\" }, { 0x00080000, \"D\" }, { 0x00100000, \"P\" }, { "
		"0x00200000, "
		"\"I\" })";
	static const char stack[] =
		"\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n\nprint fmt: "
		"\"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\", (void *)REC->caller[0], "
		"(void *)REC->caller[1], (void *)REC->caller[2]";
	static const char print[] = "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
				    "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:1;\n\n"
				    "print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf";

	record.size = 0;
	buffer_zero(&record, 8);
	buffer_append(&record, "work\0\0\0\0\0\0\0\0\0\0\0", 16);
	buffer_u32(&record, 151);
	buffer_u32(&record, 120);
	buffer_u64(&record, 0x100);
	buffer_append(&record, "swapper/0\0\0\0\0\0\0", 16);
	buffer_u32(&record, 0);
	buffer_u32(&record, 120);
	is_str(printed(sched_switch),
	       "prev_comm=work prev_pid=151 prev_prio=120 prev_state=R+ ==> next_comm=swapper/0 "
	       "next_pid=0 next_prio=120",
	       "sched_switch, preempted");
	record.data[32] = 0x82;
	record.data[33] = 0;
	ok(strstr(printed(sched_switch), "prev_state=D|I ==>"), "sched_switch, two flags");

	record.size = 0;
	buffer_u32(&record, 3u << 22 | 1);
	/* libtraceevent 1.7.1 says D|P|I, whatever the flags are */
	is_str(printed(timer_start), "cpu=1 idx=3 flags=", "timer_start without flags");
	record.size = 0;
	buffer_u32(&record, 3u << 22 | 0x280001);
	is_str(printed(timer_start), "cpu=1 idx=3 flags=D|I", "timer_start with flags");

	record.size = 0;
	buffer_zero(&record, 16);
	buffer_u64(&record, 0xffffffff81000000);
	buffer_u64(&record, 0x1234);
	is_str(printed(stack), "\t=> schedule\n\t=> 0x1234\n\t=> 0x0\n",
	       "a stack of less than its declared places");

	record.size = 0;
	buffer_zero(&record, 8);
	buffer_u64(&record, 0xffffffff81000001);
	buffer_append(&record, "written\n\0\0\0", 12);
	is_str(printed(print), "schedule: written\n", "print, to the record's end");
	make_record();
}

static void test_plugins(void)
{
	static const char declared[] =
		"name: test\nID: 1\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:u32 a;\toffset:4;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc u8[] b;\toffset:8;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"%u %s, %s %s %s, %d %d\", "
		"__le16_to_cpup((__le16 *)__get_dynamic_array(b)), "
		"scsi_trace_parse_cdb(p, __get_dynamic_array(b), 16), jbd2_dev_to_name(REC->a), "
		"xen_hypercall_name(REC->a), jiffies_to_msecs(REC->a), is_writable_pte(REC->a), "
		"REC->a && is_writable_pte(REC->a)";

	/* as trace-cmd prints them; the record has 10 bytes of a command of 16 */
	kernel.plugins = true;
	record.size = 0;
	buffer_u32(&record, 1);
	buffer_u32(&record, 50);
	buffer_u32(&record, 10 << 16 | 12);
	buffer_append(&record, "\x8a\xe0\0\0\0\1\0\0\2\3", 10);
	is_str(printed(declared), "57482 lba=4294967811 txlen=0 protect=7, 0:50 (arch_2) 50, 2 1",
	       "functions of plug-ins");
	record.size = 12;
	is_str(printed(declared), "0 -, 0:50 (arch_2) 50, 2 1",
	       "their array is outside of the record");
	kernel.plugins = false;
	is_str(printed(declared), "! it calls __le16_to_cpup() of the kernel", "without plug-ins");
	make_record();
}

static void test_fields(void)
{
	struct event_format f;
	struct print_line line = {0};

	event_format_parse(&f, FIELDS "\"\"", strlen(FIELDS "\"\""), 8);
	print_fields_text(&f, record.data, record.size, false, &line);
	line_char(&line, '\0');
	is_str(line.data,
	       " a=-5 b=4000000000 c=1311768467463790320 d=-2 e=-39 f=200 g=bash h=ARRAY[01, 02, "
	       "03, 04, "
	       "ab, cd, ef, 00] i=ARRAY[01, 00, 02, 00, 03, 00, ff, ff] s=hello r='() "
	       "m=ARRAY[27, 00, 00, 00, 00, 00, 00, 00, 80, 02, 00, 00, f0, 00, 00, 00] "
	       "p=0xffffffff81000010",
	       "fields as they stand");
	line_free(&line);
	event_format_free(&f);
}

/* Fields of a format file as the stream declares them: kind and bytes of an element. */
static void test_elements(void)
{
	static const char text[] =
		"name: x\nID: 7\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:__data_loc pid_t[] pids;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc unsigned char[] bytes;\toffset:12;\tsize:4;\tsigned:0;\n"
		"\tfield:u8 mac[SIZE][6];\toffset:16;\tsize:6;\tsigned:0;\n"
		"\tfield:__data_loc struct x[] unknown;\toffset:24;\tsize:4;\tsigned:0;\n"
		"\tfield:short unsigned int s[2];\toffset:28;\tsize:4;\tsigned:0;\n";
	static const char *const names[] = {"pids", "bytes", "mac", "unknown", "s"};
	struct event_format f;
	char all[200] = "";
	size_t n = 0;

	is_u64((uint64_t)event_format_parse(&f, text, sizeof text - 1, 8), 0, "a format");
	for (size_t i = 0; i < 5; i++) {
		const struct event_field *x = event_format_find(&f, names[i], strlen(names[i]));

		if (x)
			n += (size_t)snprintf(all + n, sizeof all - n, "%s %d %s %u*%u\n", names[i],
					      x->kind, x->type_name, event_field_element(x),
					      x->count);
	}
	is_str(all,
	       "pids 1 __data_loc pid_t[] 4*0\n"
	       "bytes 9 __data_loc unsigned char[] 1*0\n"
	       "mac 0 u8[SIZE][6] 1*6\n"
	       "unknown 5 __data_loc struct x[] 0*0\n"
	       "s 0 short unsigned int[2] 2*2\n",
	       "elements");
	event_format_free(&f);
}

int main(void)
{
	make_record();
	test_elements();
	test_conversions();
	test_expressions();
	test_arrays();
	test_names();
	test_addresses();
	test_network();
	test_other_machines();
	test_refused();
	test_deep();
	test_hostile();
	test_truncated();
	test_binary();
	test_real();
	test_plugins();
	test_fields();
	buffer_free(&record);
	return done();
}
