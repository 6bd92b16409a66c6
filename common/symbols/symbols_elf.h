/*
 * symbols_elf.h - open ELF files, find their debug files, read PLT stubs
 *
 * Most is private to common/symbols/symbols_elf*.c and debug_info*.c.
 */
#ifndef TR_SYMBOLS_SYMBOLS_ELF_H
#define TR_SYMBOLS_SYMBOLS_ELF_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/symbols/symbols.h"

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

/* Open a regular file that is ELF. Returns 0, or -1 with e filled. sysroot may be NULL. */
int elf_file_open(struct elf_file *f, const char *sysroot, const char *path, struct error *e);

void elf_file_close(struct elf_file *f);

/* Unpack the file of a kernel module (.ko.xz, .ko.gz, .ko.zst). elf is NULL, or of another kind
 * than ELF, if it is none. */
void elf_file_unpack(struct elf_file *f);

/* Return the size of the file, 0 if it is unknown. */
uint64_t elf_file_size(const struct elf_file *f);

/*
 * Open a module's file: a program or library with the recorded build-id (NULL or "": any). If there
 * is none at path, its separate debug file is opened, if one is found by the build-id. Returns 0,
 * or -1 with e filled and nothing open.
 */
int elf_module_open(struct elf_module *m, struct elf_file *f, const char *path, const char *sysroot,
		    const char *build_id, struct error *e);

/*
 * Get the address of each section of a kernel module, relative to its text, as the kernel loads it
 * (layout_sections() in kernel/module/main.c): the sections of code in the order of the file. Other
 * sections have UINT64_MAX. Returns their number and *at, to be freed; 0: none, or out of memory.
 */
size_t elf_module_layout(Elf *elf, uint64_t **at);

/* Read the build-id in lower case hex, "" if there is none. Returns whether there is one. */
bool elf_build_id(Elf *elf, char id[ELF_BUILD_ID_MAX]);

/*
 * Open the separate debug file of elf, which was found at path below sysroot. Returns 0, or -1 if
 * none matches.
 */
int elf_debug_open(struct elf_file *f, Elf *elf, const char *path, const char *sysroot);

/* Open the debug file of a build-id in lower case hex: below /usr/lib/debug, what perf has copied,
 * or from a debuginfod server; or the vdso of the kernel that runs. */
int elf_debug_open_id(struct elf_file *f, const char *build_id, const char *sysroot);

/* Return the path of a file of a build-id that perf has copied to ~/.debug, to be freed: name is
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

/* Fetch a debug file from a debuginfod server. Returns its path, to be freed; NULL: no server is
 * set, or none has the file. */
char *elf_debuginfod_find(const char *build_id);

/* Add the module's PLT stubs to s. Returns 0, or -1 when out of memory. */
int elf_read_plt(struct symbols *s, const struct elf_module *m);

#endif
