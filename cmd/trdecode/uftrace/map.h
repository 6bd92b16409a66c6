/*
 * map.h - sid-*.map: what was mapped where in a session
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
	uint64_t kernel_base; /* addresses from here on are the kernel's; 0: unknown, there are none
			       */
	size_t damaged;	      /* lines that could not be read */
	char *text;	      /* private */
};

/*
 * Take apart the text, which the map then owns (malloc'ed, NUL after its last byte, as tree_read
 * gives it; freed also after an error). Returns 0, or -1 when out of memory. Lines without a path
 * are skipped; further lines of the same path extend its mapping.
 */
int uftrace_map_parse(struct uftrace_map *m, char *text, size_t size);

/*
 * The functions of a Python program have numbers for addresses: a module of that path below all
 * others. -1 when out of memory.
 */
int uftrace_map_add_python(struct uftrace_map *m, const char *path);

void uftrace_map_free(struct uftrace_map *m);

#endif
