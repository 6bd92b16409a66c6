/*
 * map.h - sid-*.map: the mappings of a session
 */
#ifndef TR_TRDECODE_UFTRACE_MAP_H
#define TR_TRDECODE_UFTRACE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct uftrace_mapping {
	uint64_t start, end; /* start is the module's base */
	const char *path;
	const char *build_id; /* lower case hex, "" if unknown */
};

struct uftrace_map {
	struct uftrace_mapping *maps; /* in the order of the file */
	size_t nr;
	uint64_t kernel_base; /* first address of the kernel; 0: unknown, no address is the kernel's
			       */
	size_t damaged;	      /* lines that could not be parsed */
	char *text;	      /* private */
};

/*
 * Parse the text, which the map then owns (malloc'ed, NUL after its last byte, as tree_read gives
 * it; freed also after an error). Returns 0, or -1 when out of memory. Lines without a path are
 * skipped; further lines of the same path extend its mapping.
 */
int uftrace_map_parse(struct uftrace_map *m, char *text, size_t size);

/*
 * Add a module of that path below all others, for the functions of a Python program, whose
 * addresses are numbers. Returns 0, or -1 when out of memory.
 */
int uftrace_map_add_python(struct uftrace_map *m, const char *path);

void uftrace_map_free(struct uftrace_map *m);

#endif
