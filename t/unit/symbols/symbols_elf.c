/* Symbols of ELF files: this program's own, its stripped copy with debug files, damaged copies */
#include "common/symbols/symbols.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/unit/symbols/named.h"
#include "t/unit/tap.h"

static char directory[] = "/tmp/symbols_elf.XXXXXX";

int probe_global(int x);

__attribute__((noinline)) int probe_global(int x)
{
	return x * 3 + getpid();
}

static __attribute__((noinline)) int probe_local(int x)
{
	return probe_global(x) ^ 5;
}

/* A function without .size and one with an alias */
__asm__(".text\n"
	".type probe_sizeless, @function\n"
	"probe_sizeless: .skip 24\n"
	".globl _probe_alias, probe_alias\n"
	".weak probe_aaa\n"
	".type _probe_alias, @function\n"
	".type probe_alias, @function\n"
	".type probe_aaa, @function\n"
	"probe_aaa: _probe_alias: probe_alias: .skip 8\n"
	".size probe_alias, 8\n"
	".size _probe_alias, 8\n"
	".size probe_aaa, 8\n");

/* Where the program's first page is */
static int own_base(struct dl_phdr_info *info, size_t size, void *base)
{
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD) {
			*(uint64_t *)base =
				info->dlpi_addr + (info->dlpi_phdr[i].p_vaddr & ~4095UL);
			break;
		}
	return 1; /* the program comes first */
}

/* This program's functions at their addresses in memory */
static void test_own(const struct symbols *s)
{
	const struct symbol *symbol;
	uint64_t base = 0;

	dl_iterate_phdr(own_base, &base);
	symbol = symbols_find(s, (uint64_t)(uintptr_t)&probe_local - base + 1);
	is_str(symbol ? symbol->name : NULL, "probe_local", "a static function");
	ok(symbol && symbol->type == 't', "is local");
	symbol = symbols_find(s, (uint64_t)(uintptr_t)&probe_global - base);
	is_str(symbol ? symbol->name : NULL, "probe_global", "a global function");
	ok(symbol && symbol->type == 'T', "is global");
}

static void test_aliases(const struct symbols *s)
{
	const struct symbol *alias = symbol_named(s, "probe_alias");
	const struct symbol *sizeless = symbol_named(s, "probe_sizeless");

	ok(alias && alias->size == 8, "of aliases GLOBAL wins, then fewer underscores");
	ok(!symbol_named(s, "_probe_alias"), "one with an underscore goes");
	ok(!symbol_named(s, "probe_aaa"), "a weak one goes");
	ok(sizeless && alias && sizeless->size == alias->start - sizeless->start,
	   "without size: to the next symbol");
}

static void test_stubs(const struct symbols *s)
{
	const struct symbol *stub = symbol_named(s, "getpid");

	ok(stub && stub->type == 'P' && stub->size, "a PLT stub has the name of its function");
	ok(stub && symbols_find(s, stub->start) == stub, "and is found");
}

static void copy_name(char *to, size_t size, const char *name)
{
	snprintf(to, size, "%s/%s", directory, name);
}

static bool run(const char *command)
{
	char line[1024];

	snprintf(line, sizeof line, "cd %s && %s", directory, command);
	return system(line) == 0;
}

static void test_build_id(const char *path, const char *id)
{
	struct symbols *s;
	struct error e;

	if (!*id)
		return;
	s = symbols_from_elf(path, NULL, id, &e);
	ok(s != NULL, "the right build-id");
	symbols_free(s);
	s = symbols_from_elf(path, NULL, "0123456789abcdef0123456789abcdef01234567", &e);
	ok(!s && strstr(e.what, "build-id"), "another build-id is refused");
	symbols_free(s);
}

/* The file at path below root must have its local functions from a debug file, or not. */
static void check_debug(const char *root, const char *path, bool wanted, const char *what)
{
	struct error e;
	struct symbols *s = symbols_from_elf(path, root, NULL, &e);

	ok(s && !!symbol_named(s, "probe_local") == wanted, what);
	symbols_free(s);
}

static void test_debug_files(const char *id)
{
	char path[512], command[700];

	copy_name(path, sizeof path, "stripped");
	if (!run("objcopy --only-keep-debug prog prog.debug && "
		 "cp prog stripped && objcopy --strip-all --add-gnu-debuglink=prog.debug "
		 "stripped")) {
		printf("# no objcopy, debug files not tested\n");
		return;
	}
	check_debug(NULL, path, true, ".gnu_debuglink beside the file");
	check_debug(directory, "/stripped", true, "the same below a sysroot");
	run("mkdir .debug && mv prog.debug .debug");
	check_debug(NULL, path, true, ".gnu_debuglink in .debug");
	/* another file of that name: neither its build-id nor its CRC fit */
	run("cp .debug/prog.debug saved && objcopy --remove-section=.note.gnu.build-id "
	    ".debug/prog.debug && echo >> .debug/prog.debug");
	check_debug(NULL, path, false, "a debug file of another build is not used");
	if (!*id)
		return;
	snprintf(command, sizeof command,
		 "d=usr/lib/debug/.build-id/%.2s && mkdir -p $d && cp saved $d/%s.debug", id,
		 id + 2);
	run(command);
	check_debug(directory, "/stripped", true, "by build-id, below the sysroot");
}

static void write_file(const char *path, const char *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
}

static char *read_file(const char *path, size_t *size)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	char *bytes;

	if (fd < 0 || fstat(fd, &st) < 0)
		abort();
	*size = (size_t)st.st_size;
	bytes = malloc(*size);
	if (!bytes || read(fd, bytes, *size) != st.st_size)
		abort();
	close(fd);
	return bytes;
}

static void try_file(const char *path)
{
	struct error e;
	struct symbols *s = symbols_from_elf(path, NULL, NULL, &e);
	size_t i;

	for (i = 0; s && i < symbols_count(s); i++)
		if (symbols_at(s, i)->size && !symbols_find(s, symbols_at(s, i)->start))
			abort();
	symbols_free(s);
}

/* Cut anywhere, flipped anywhere, most often in the headers */
static void test_damaged(void)
{
	char path[512], prog[512];
	uint32_t random = 7;
	size_t size, i, k;
	char *bytes, *copy;

	copy_name(path, sizeof path, "damaged");
	copy_name(prog, sizeof prog, "prog");
	bytes = read_file(prog, &size);
	copy = malloc(size);
	for (i = 0; i < 60; i++) {
		write_file(path, bytes, size * i / 60);
		try_file(path);
	}
	for (i = 0; i < 120; i++) {
		memcpy(copy, bytes, size);
		for (k = 0; k < 40; k++) {
			size_t range = i % 3 == 0 ? 1024 : i % 3 == 1 ? size : 4096, at;

			random = random * 1664525 + 1013904223;
			if (range > size)
				range = size;
			at = (random >> 4) % range;
			if (range == 4096) /* the section headers */
				at = size - 1 - at;
			copy[at] = (char)(random >> 24);
		}
		write_file(path, copy, size);
		try_file(path);
	}
	ok(true, "damaged files do no harm");
	free(bytes);
	free(copy);
}

static void test_not_elf(void)
{
	struct error e;
	char path[512];

	ok(!symbols_from_elf("/nonexistent/file", NULL, NULL, &e) && strstr(e.what, "No such file"),
	   "a missing file");
	ok(!symbols_from_elf("/dev/null", NULL, NULL, &e), "a device");
	ok(!symbols_from_elf("/", NULL, NULL, &e), "a directory");
	copy_name(path, sizeof path, "text");
	write_file(path, "no ELF here\n", 12);
	ok(!symbols_from_elf(path, NULL, NULL, &e) && strstr(e.what, "not an ELF"), "a text");
	ok(!symbols_from_elf(path, NULL, NULL, NULL), "no caller wants the error");
}

static void read_id(const char *path, char id[ELF_BUILD_ID_MAX])
{
	struct elf_module m;
	struct elf_file f;
	struct error e;

	ok(!elf_module_open(&m, &f, path, NULL, NULL, &e), "its module");
	strcpy(id, m.build_id);
	elf_file_close(&f);
}

int main(void)
{
	char self[512], id[ELF_BUILD_ID_MAX];
	struct symbols *s;
	struct error e;

	if (!mkdtemp(directory))
		abort();
	snprintf(self, sizeof self, "cp /proc/%d/exe %s/prog", (int)getpid(), directory);
	if (system(self) != 0)
		abort();
	copy_name(self, sizeof self, "prog");
	s = symbols_from_elf(self, NULL, NULL, &e);
	ok(s && symbols_count(s) && probe_local(1) != 0, "this program");
	read_id(self, id);
	test_own(s);
	test_aliases(s);
	test_stubs(s);
	symbols_free(s);
	test_build_id(self, id);
	test_not_elf();
	test_debug_files(id);
	test_damaged();
	run("rm -rf .debug usr prog saved stripped damaged text prog.debug");
	rmdir(directory);
	return done();
}
