/*
 * symbols.h - one module's symbols, sorted by address, and the lookup of an address
 *
 * A table is built complete, by one of the readers below or by symbols_add() and symbols_sort(),
 * and is read-only from then on: lookups may run in several threads. It has no processes or
 * mappings: every address is in the table's own space (relative to the module's base for uftrace
 * and ELF, absolute for kallsyms); the caller subtracts the base. Names are those of the source,
 * mangled (see demangle.h).
 *
 * Order and lookup are those of `uftrace report`, as printed names must be the same: symbols are
 * sorted by start, those of equal start keep their order in the file, and of overlapping ranges the
 * first one met by a bisection of the whole table is found (but see symbols_nest()).
 */
#ifndef TR_SYMBOLS_SYMBOLS_H
#define TR_SYMBOLS_SYMBOLS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/error.h"

struct symbol {
	uint64_t start;
	uint64_t size;	  /* bytes; 0: matches no address */
	const char *name; /* as in the source, mangled; valid as long as the table */
	char type; /* letter of the source: T t W w functions, P PLT stub, K kernel, d D v u data */
};

struct symbols;

/* Make an empty table; NULL when out of memory. */
struct symbols *symbols_new(void);

/* Free the table, which may be NULL. */
void symbols_free(struct symbols *s);

/*
 * Append a symbol; name (length bytes, NULs end it) is copied. Returns 0, or -1 when out of memory,
 * with the table unchanged. symbols_sort() must follow before any lookup.
 */
int symbols_add(struct symbols *s, uint64_t start, uint64_t size, char type, const char *name,
		size_t length);

/* Sort by start, stable. Returns 0, or -1 when out of memory. A sorted table costs one pass. */
int symbols_sort(struct symbols *s);

/*
 * Let lookups find the innermost of overlapping symbols, and the outer one beside it, instead of
 * what uftrace finds. For ELF files, after symbols_sort(). Returns 0, or -1 when out of memory.
 */
int symbols_nest(struct symbols *s);

/*
 * Read the text of a uftrace .sym file (any version: with and without sizes; damaged lines are
 * skipped and counted). NULL when out of memory. Rules: without a size column a symbol reaches to
 * the next accepted line of the file, whatever its address, modulo 2^32, as in uftrace; '?' lines
 * and __sym_end, __dynsym_end, __func_end only end their predecessor; of consecutive lines with
 * equal address and type the first is kept.
 */
struct symbols *symbols_from_uftrace(const char *text, size_t size);

/*
 * Read the text of /proc/kallsyms, from trace.dat, a uftrace directory, or this machine. NULL when
 * out of memory. Functions are kept (t T w W and i of the kernel and its modules); each reaches to
 * the next address of any line, or, if that is over 1 MiB away, to the end of the following page.
 * Of names at one address uftrace's choice is kept: the first of the last run of one type, with W
 * and i last; sys_x replaces SyS_x, and __x64_x replaces __ia32_x. See symbols_hidden() for a table
 * that was read without privilege.
 */
struct symbols *symbols_from_kallsyms(const char *text, size_t size);

/* Addresses [begin, end). */
struct text_range {
	uint64_t begin, end;
};

/* Find the text of the kernel that runs: from _text to _etext in /proc/kallsyms, which is read up
 * to there. False: they are hidden from the reader, or absent. */
bool symbols_running_text(struct text_range *text);

/*
 * Read the functions of the ELF file `path`: .symtab (or that of its separate debug file, or
 * .dynsym) and PLT stubs, which have the name of the imported function and the type P.
 *
 * sysroot: prefix of every path opened, NULL or "" for none. build_id: the recorded id in lower
 * case hex, NULL if unknown; a file with another id is refused, and a file without id too, unless
 * it is a debug file that was found by the recorded id. Addresses are relative to the module's
 * base: st_value - (p_vaddr of the first PT_LOAD, rounded down to its page), for ET_EXEC as for
 * ET_DYN, as in uftrace's .sym files; those of a kernel module (.ko) are relative to its text as
 * the kernel loads it. Symbols without size reach to the next one, or to the end of their section.
 * Of aliases GLOBAL is preferred to WEAK, WEAK to LOCAL, then the name with fewer leading
 * underscores, then the first in the table.
 *
 * Separate debug files are searched in /usr/lib/debug/.build-id, then by .gnu_debuglink beside the
 * file, in .debug/ and below /usr/lib/debug, and used only if their build-id or, without one, the
 * CRC matches; then in what perf has copied, and on the servers of DEBUGINFOD_URLS if that is set.
 * Other copies of perf's, such as the program before strip, are searched last. Returns NULL with e
 * filled when the file cannot be used. Every field of the file is checked: a hostile file gives an
 * error or odd symbols, no more.
 */
struct symbols *symbols_from_elf(const char *path, const char *sysroot, const char *build_id,
				 struct error *e);

/* Get the address of the byte of code at an offset of the file: the offset itself if the table
 * is of no ELF file, or no segment of code has the byte. */
uint64_t symbols_address(const struct symbols *s, uint64_t offset);

/* Get the address by which those of an ELF file's symbols are greater than the table's. */
uint64_t symbols_base(const struct symbols *s);

/* Find the symbol with start <= address < start + size, or NULL. About 20 steps for a million
 * symbols. */
const struct symbol *symbols_find(const struct symbols *s, uint64_t address);

size_t symbols_count(const struct symbols *s);

/* Returns symbol i < symbols_count(s), in address order. */
const struct symbol *symbols_at(const struct symbols *s, size_t i);

/* Get the number of lines that could not be parsed and were skipped. */
size_t symbols_damaged(const struct symbols *s);

/* Test whether neither an ELF file nor another file of its build has a .symtab with functions. */
bool symbols_stripped(const struct symbols *s);

/* Were the addresses hidden from the reader (kptr_restrict)? Every line's address is 0. */
bool symbols_hidden(const struct symbols *s);

/* Get the address of _text, or else of _stext, the first function of a kernel, in a table from
 * kallsyms. 0: it has neither. In the table of a vmlinux this address is 0, too. */
uint64_t symbols_kernel_text(const struct symbols *s);

/*
 * Open ELF files, find their debug files, read PLT stubs.
 */

/* Hex digits of a build-id and a NUL; ids of more than 64 bytes are ignored. */
#define ELF_BUILD_ID_MAX 129

struct elf_file {
	int fd;
	Elf *elf;
};

struct elf_module {
	Elf *elf;
	uint64_t base; /* of the first PT_LOAD, to subtract from every address */
	unsigned machine;
	bool is_kernel_module;		 /* a .ko: its sections have no addresses yet, base is 0 */
	char build_id[ELF_BUILD_ID_MAX]; /* "": none */
};

void elf_file_close(struct elf_file *f);

/* Get the next section that has a header and a name, the first one after NULL. NULL: there is none.
 * elf may be NULL. */
Elf_Scn *elf_next_named(Elf *elf, Elf_Scn *section, GElf_Shdr *header, const char **name);

/* Get the size of the file, 0 if it is unknown. */
uint64_t elf_file_size(const struct elf_file *f);

/*
 * Open a module's file: a program or library with the recorded build-id (NULL or "": any). If there
 * is none at path, its separate debug file is opened, if one is found by the build-id. Returns 0,
 * or -1 with e filled and nothing open.
 */
int elf_module_open(struct elf_module *m, struct elf_file *f, const char *path, const char *sysroot,
		    const char *build_id, struct error *e);

/*
 * Open the separate debug file of elf, which was found at path below sysroot. Returns 0, or -1 if
 * none matches.
 */
int elf_debug_open(struct elf_file *f, Elf *elf, const char *path, const char *sysroot);

/* Get the path of a file of a build-id that perf has copied to ~/.debug, to be freed: name is
 * "elf", "debug", "vdso" or "kallsyms", or "", the one that an older perf has linked. NULL: there
 * is no home, or the id is none. */
char *elf_perf_copy(const char *build_id, const char *name, const char *sysroot);

/* The names of perf's copies of a program, those with symbols first; NULL ends them. */
extern const char *const elf_perf_names[];

/* Open the copy of that name that perf has made. Returns 0, or -1: the build-id has no such copy.
 */
int elf_perf_open(struct elf_file *f, const char *build_id, const char *name, const char *sysroot);

/* Read the build-id of the kernel that runs. Returns whether it is known. */
bool elf_build_id_of_kernel(char id[ELF_BUILD_ID_MAX]);

#endif
