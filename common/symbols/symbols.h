/*
 * symbols.h - one module's symbols, sorted by address, and the lookup of an address in them
 *
 * A table is built whole, by one of the readers below or by symbols_add() and symbols_sort(), and
 * is read-only from then on: lookups may run in several threads. It knows nothing of processes or
 * mappings: every address is in the table's own space (relative to the module's base for uftrace
 * and ELF, absolute for kallsyms); the caller subtracts the base. Names are kept as the source has
 * them, mangled (see demangle.h).
 *
 * Order and lookup are those of `uftrace report`, as names printed must be the same: symbols are
 * sorted by start, those of equal start keep their order in the file, and where ranges overlap the
 * first range met by a bisection of the whole table wins (but see symbols_nest()).
 */
#ifndef TR_SYMBOLS_SYMBOLS_H
#define TR_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/error.h"

struct symbol {
	uint64_t start;
	uint64_t size;	  /* bytes; 0: matches no address */
	const char *name; /* as in the source, mangled; lives as long as the table */
	char type; /* letter of the source: T t W w functions, P PLT stub, K kernel, d D v u data */
};

struct symbols;

/* An empty table; NULL when out of memory. */
struct symbols *symbols_new(void);

/* s may be NULL. */
void symbols_free(struct symbols *s);

/*
 * Append a symbol; name (length bytes, NULs end it) is copied. Returns 0, or -1 when out of memory,
 * which leaves the table as it was. symbols_sort() must follow before any lookup.
 */
int symbols_add(struct symbols *s, uint64_t start, uint64_t size, char type, const char *name,
		size_t length);
/* The same of a text file of trencode, in which bytes may be written \xHH. */
int symbols_add_escaped(struct symbols *s, uint64_t start, uint64_t size, char type,
			const char *name, size_t length);

/* Sort by start, stable. Returns 0, or -1 when out of memory. A sorted table costs one pass. */
int symbols_sort(struct symbols *s);

/*
 * Let lookups find the innermost of overlapping symbols, and the outer one beside it, instead of
 * what uftrace finds. Done for ELF files. After symbols_sort(). Returns 0, or -1 when memory is
 * out.
 */
int symbols_nest(struct symbols *s);

/*
 * The text of a uftrace .sym file (any version: with and without sizes; damaged lines are skipped
 * and counted). NULL when out of memory. Rules: without a size column a symbol reaches to the next
 * accepted line of the file, whatever its address, modulo 2^32, as in uftrace; '?' lines and
 * __sym_end, __dynsym_end, __func_end only end their predecessor; of consecutive lines with equal
 * address and type the first is kept.
 */
struct symbols *symbols_from_uftrace(const char *text, size_t size);

/*
 * The text of /proc/kallsyms, as found in trace.dat, in a uftrace directory, or on this machine.
 * NULL when out of memory. Kept are functions (t T w W and i of the kernel and its modules), each
 * reaching to the next address that any line names, or, if that is over 1 MiB away, to the end of
 * the following page. Of names at one address uftrace's choice is kept: the first of the last run
 * of one type, W and i coming last; sys_x replaces SyS_x, and __x64_x replaces __ia32_x. See
 * symbols_hidden() for a table that was read without privilege.
 */
struct symbols *symbols_from_kallsyms(const char *text, size_t size);

/*
 * Functions of the ELF file `path`: .symtab (or the one of its separate debug file, or .dynsym)
 * and PLT stubs, which bear the name of the imported function and the type P.
 *
 * sysroot: prefix of every path opened, NULL or "" for none. build_id: the recorded id in lower
 * case hex, NULL where unknown; a file with another id is refused, one without id too,
 * but for a debug file that is found by the recorded one.
 * Addresses are relative to the module's base: st_value - (p_vaddr of the first PT_LOAD, rounded
 * down to its page), for ET_EXEC as for ET_DYN, as uftrace's .sym files are. Symbols without size
 * reach to the next one, or to the end of their section. Of aliases GLOBAL wins over WEAK over
 * LOCAL, then the name with fewer leading underscores, then the first in the table.
 *
 * Separate debug files are looked for in /usr/lib/debug/.build-id, then by .gnu_debuglink beside
 * the file, in .debug/ and below /usr/lib/debug, and used only if their build-id or, without one,
 * the CRC fits; last, where DEBUGINFOD_URLS is set, its servers are asked. NULL and e filled when
 * the file cannot be used. Every field of the file is checked: a hostile file gives an error or odd
 * symbols, no more.
 */
struct symbols *symbols_from_elf(const char *path, const char *sysroot, const char *build_id,
				 struct error *e);

/* The symbol with start <= address < start + size, or NULL. About 20 steps for a million symbols.
 */
const struct symbol *symbols_find(const struct symbols *s, uint64_t address);

/* The first symbol of that (mangled) name in address order, or NULL. Linear. */
const struct symbol *symbols_find_name(const struct symbols *s, const char *name);

size_t symbols_count(const struct symbols *s);

/* i < symbols_count(s), in address order. */
const struct symbol *symbols_at(const struct symbols *s, size_t i);

/* The module's path (uftrace: "# path name:"; ELF: the path given, without sysroot); "" if unknown.
 */
const char *symbols_path(const struct symbols *s);

/* The module's build-id in lower case hex; "" if it has none. */
const char *symbols_build_id(const struct symbols *s);

/* The file the symbols were read from if it is not the module itself (separate debug file), or "".
 */
const char *symbols_debug_file(const struct symbols *s);

/* Lines that could not be read and were skipped. */
size_t symbols_damaged(const struct symbols *s);

/* The addresses were hidden from the reader (kptr_restrict): every line's address was 0. */
bool symbols_hidden(const struct symbols *s);

#endif
