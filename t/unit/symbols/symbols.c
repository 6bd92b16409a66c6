/* Symbol tables from texts: order, sizes, aliases, lookup, damage */
#include "common/symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "t/unit/tap.h"

static struct symbols *uftrace(const char *text)
{
	return symbols_from_uftrace(text, strlen(text));
}

static struct symbols *kallsyms(const char *text)
{
	return symbols_from_kallsyms(text, strlen(text));
}

static const char *name_at(const struct symbols *s, uint64_t address)
{
	const struct symbol *symbol = symbols_find(s, address);

	return symbol ? symbol->name : NULL;
}

static void test_plain(void)
{
	struct symbols *s = uftrace("# symbols: 6\n"
				    "# path name: /opt/a b/prog\n"
				    "# build-id: 9df5d4ea\n"
				    "0000000000001010 P puts\n"
				    "0000000000001020 P malloc\n"
				    "0000000000001030 ? __dynsym_end\n"
				    "0000000000001100 T main\n"
				    "0000000000001180 t helper\n"
				    "00000000000011c0 ? __sym_end\n");

	is_u64(symbols_count(s), 4, "end marks are no symbols");
	is_u64(symbols_at(s, 1)->size, 0x10, "an end mark ends its predecessor");
	ok(symbols_at(s, 0)->type == 'P', "type");
	is_str(name_at(s, 0x1010), "puts", "first byte");
	is_str(name_at(s, 0x101f), "puts", "last byte");
	is_str(name_at(s, 0x11bf), "helper", "last byte of the last symbol");
	ok(!name_at(s, 0x100f) && !name_at(s, 0x1030) && !name_at(s, 0x11c0), "gaps");
	ok(!name_at(s, 0) && !name_at(s, UINT64_MAX), "far away");
	is_u64(symbols_damaged(s), 0, "nothing damaged");
	symbols_free(s);
}

static void test_sizes(void)
{
	struct symbols *s = uftrace("0000000000001000 00000020 T first\n"
				    "0000000000001040 00000000 T second\n"
				    "0000000000001080 0000000a w third\n"
				    "0000000000002000 00000008 d data\n");

	is_u64(symbols_count(s), 4, "lines with sizes");
	is_u64(symbols_at(s, 0)->size, 0x20, "given size");
	is_u64(symbols_at(s, 1)->size, 0x40, "size 0 reaches to the next line");
	ok(!name_at(s, 0x1030), "a gap after a given size");
	is_str(name_at(s, 0x2007), "data", "data are kept");
	symbols_free(s);
}

static void test_order(void)
{
	/* sizes come from the order of the file, then it is sorted */
	struct symbols *s = uftrace("0000000000003000 T c\n"
				    "0000000000003010 T d\n"
				    "0000000000001000 T a\n"
				    "0000000000001010 T b\n");

	is_u64(symbols_count(s), 4, "unsorted file");
	is_str(symbols_at(s, 0)->name, "a", "sorted");
	is_u64(symbols_at(s, 2)->size, 0x10, "size within the run");
	is_u64(symbols_at(s, 3)->size, 0xffffe000 - 0x10,
	       "a step back wraps at 32 bits, as uftrace");
	is_u64(symbols_at(s, 1)->size, 0, "the last line has no size");
	ok(!name_at(s, 0x1010), "and matches nothing");
	symbols_free(s);
}

static void test_equal(void)
{
	struct symbols *s = uftrace("0000000000001000 T one\n"
				    "0000000000001000 T two\n"
				    "0000000000001000 t three\n"
				    "0000000000001010 ? __sym_end\n");

	is_u64(symbols_count(s), 2, "equal address and type: the first is kept");
	is_str(name_at(s, 0x1008), "three", "the one that has a size matches");
	is_str(symbols_at(s, 0)->name, "one", "the sort is stable");
	symbols_free(s);
}

static void test_damage(void)
{
	static const char text[] = "garbage\n"
				   "0000000000001000\n"
				   "0000000000001000 T\n"
				   "0000000000001000 T \n"
				   "10000000000001000 T toolong\n"
				   "0000000000001000 12 T\n"
				   "0000000000001000 12 T ok\n"
				   "0000000000001100 b bss\n"
				   "0000000000001200 T cut\0off\n"
				   "\n"
				   "0000000000001300 K kernel\t[module]\n"
				   "0000000000001400 T no newline";
	struct symbols *s = symbols_from_uftrace(text, sizeof text - 1);

	is_u64(symbols_damaged(s), 6, "damaged lines are counted");
	is_u64(symbols_count(s), 4, "the others are read");
	is_u64(symbols_at(s, 0)->size, 0x12, "size in hex");
	is_str(symbols_at(s, 1)->name, "cut", "a NUL ends a name");
	is_str(symbols_at(s, 2)->name, "kernel", "a tab ends a name");
	is_str(symbols_at(s, 3)->name, "no newline", "the last line");
	symbols_free(s);

	s = uftrace("");
	ok(s && !symbols_count(s) && !symbols_find(s, 0), "an empty text");
	symbols_free(s);
	symbols_free(NULL);
}

static void test_kallsyms(void)
{
	struct symbols *s = kallsyms("0000000000000000 A fixed_percpu_data\n"
				     "ffffffff81000000 T _stext\n"
				     "ffffffff81000040 T SyS_read\n"
				     "ffffffff81000040 T sys_read\n"
				     "ffffffff81000080 W weak_alias\n"
				     "ffffffff81000080 T strong\n"
				     "ffffffff810000c0 t inner\n"
				     "ffffffff810000c0 T __ia32_sys_ni_syscall\n"
				     "ffffffff810000c0 T __x64_sys_ni_syscall\n"
				     "ffffffff810000e0 t last\n"
				     "ffffffff810000f0 R rodata\n"
				     "ffffffffc0000010 t init_module\t[ext4]\n"
				     "broken line\n");

	is_str(name_at(s, 0xffffffff81000041), "sys_read", "SyS_ gives way");
	is_str(name_at(s, 0xffffffff81000080), "strong", "W gives way");
	is_str(name_at(s, 0xffffffff810000df), "__x64_sys_ni_syscall", "__ia32 gives way");
	is_str(name_at(s, 0xffffffff810000ef), "last", "text before data");
	ok(!name_at(s, 0xffffffff810000f0), "data end a function and are none");
	is_str(name_at(s, 0xffffffffc0001fff), "init_module", "the module's name is cut off");
	ok(!name_at(s, 0xffffffffc0002000), "the last one ends with the following page");
	ok(!name_at(s, 0), "address 0 is none");
	ok(!symbols_hidden(s), "not hidden");
	is_u64(symbols_damaged(s), 1, "damaged lines are counted");
	symbols_free(s);

	s = kallsyms("0000000000000000 T _stext\n0000000000000000 t b\n");
	ok(symbols_hidden(s) && !symbols_count(s), "kptr_restrict is seen");
	symbols_free(s);
	s = kallsyms("");
	ok(!symbols_hidden(s) && !symbols_count(s), "an empty text hides nothing");
	symbols_free(s);
}

static void add(struct symbols *s, uint64_t start, uint64_t size, const char *name)
{
	if (symbols_add(s, start, size, 'T', name, strlen(name)) < 0)
		abort();
}

static void test_nested(void)
{
	struct symbols *s = symbols_new();

	add(s, 300, 10, "after");
	add(s, 100, 100, "outer");
	add(s, 110, 10, "inner");
	add(s, 112, 2, "innermost");
	add(s, 150, 100, "overlap");
	ok(symbols_sort(s) == 0 && symbols_nest(s) == 0, "sorted and nested");
	is_str(name_at(s, 105), "outer", "before the inner one");
	is_str(name_at(s, 113), "innermost", "inside");
	is_str(name_at(s, 119), "inner", "beside the innermost");
	is_str(name_at(s, 130), "outer", "beside the inner one");
	is_str(name_at(s, 199), "overlap", "the later start wins");
	is_str(name_at(s, 249), "overlap", "beyond the first");
	ok(!name_at(s, 250) && !name_at(s, 99) && !name_at(s, 310), "outside");
	symbols_free(s);

	s = symbols_new();
	add(s, UINT64_MAX - 4, UINT64_MAX, "end");
	ok(symbols_nest(s) == 0, "a range that wraps");
	is_str(name_at(s, UINT64_MAX), "end", "reaches to the last address");
	ok(!name_at(s, 2), "and no further");
	symbols_free(s);
}

/* Many symbols in random order, against a linear search */
static void test_many(void)
{
	struct symbols *s = symbols_new();
	uint32_t random = 1, i, wrong = 0;
	char name[300];

	for (i = 0; i < 20000; i++) {
		uint64_t start;

		random = random * 1664525 + 1013904223;
		start = (uint64_t)(random >> 8) * 16;
		snprintf(name, sizeof name, "f%llx", (unsigned long long)start);
		if (i % 5000 == 0)
			snprintf(name, sizeof name, "f%0250x", i);
		add(s, start, 16, name);
	}
	ok(symbols_sort(s) == 0, "20000 symbols sort");
	for (i = 1; i < symbols_count(s); i++)
		wrong += symbols_at(s, i - 1)->start > symbols_at(s, i)->start;
	for (i = 0; i < symbols_count(s); i++) {
		const struct symbol *found = symbols_find(s, symbols_at(s, i)->start + 15);

		wrong += !found || found->start != symbols_at(s, i)->start;
	}
	is_u64(wrong, 0, "in order, and each is found");
	symbols_free(s);
}

int main(void)
{
	test_plain();
	test_sizes();
	test_order();
	test_equal();
	test_damage();
	test_kallsyms();
	test_nested();
	test_many();
	return done();
}
