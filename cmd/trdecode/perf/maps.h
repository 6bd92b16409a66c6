/*
 * maps.h - the mappings of each process and of the kernel, and locations in them
 *
 * In the stream, the MAPs of a space do not change. So a mapping that overlaps an earlier one of
 * its process, of another file, is declared in a further space of the process: a layer. The
 * location of an address is in the space of the mapping that has the address at that time.
 *
 * A process that forks shares its mappings with the child until either of them maps a file.
 */
#ifndef TR_TRDECODE_PERF_MAPS_H
#define TR_TRDECODE_PERF_MAPS_H

#include "common/stream/writer.h"
#include "common/symbols/symbols.h"

/* A mapping in an address space: addresses [start, end). */
struct perf_map {
	uint64_t start, end, offset; /* offset: of start, in the file */
	uint32_t path, build_id;     /* strings of the writer */
	uint32_t file;		     /* of unwind.h, 0: none */
	uint32_t layer;
	uint32_t code; /* of jit.h: a function of a JIT compiler, or code that the kernel made */
	/* of code of the kernel, whose path and build_id are those of the mapping that it covers:
	 * start - offset of that mapping */
	uint64_t below;
};

/* The mappings of processes that share them. */
struct perf_maps {
	unsigned users;
	int32_t pid;
	bool kernel;
	uint32_t number;  /* of these mappings, never used again */
	uint32_t context; /* number of this state of the mappings, never used again */
	void *present;	  /* struct perf_map, none overlaps another: root for tsearch() */
	size_t declared;  /* number of the mappings so far */
	uint32_t *spaces; /* by layer: space of the writer, 0: not yet declared */
	size_t nspaces, spaces_capacity;
	struct perf_maps *before; /* of the program that the process ran before; NULL: none */
};

struct perf_location {
	uint64_t address;
	uint32_t space, location; /* location 0: the slot is free */
};

/* The text of the kernel that runs; end 0: it is hidden. */
struct perf_running {
	bool is_read;
	struct text_range text;
};

struct perf_spaces {
	struct writer *w;
	uint32_t source;
	uint32_t contexts; /* numbers in use */
	struct perf_maps *kernel;
	struct perf_running running;
	struct perf_location *locations; /* hash table */
	size_t nlocations, size;
	size_t nmaps; /* declared in all spaces */
	struct perf_jit *jit;
	struct known_stacks *known; /* in these spaces */
};

/* Functions return -1, NULL or 0 when out of memory. */

int perf_spaces_init(struct perf_spaces *s, struct writer *w);
void perf_spaces_free(struct perf_spaces *s);
struct perf_maps *perf_maps_new(struct perf_spaces *s, int32_t pid, bool kernel);
void perf_maps_release(struct perf_maps *m); /* m may be NULL */
/* Give a process that executes a program no mappings of its own. An address that the new program
 * has not mapped is that of the program before: the kernel executes a program on its behalf. */
int perf_maps_exec(struct perf_spaces *s, struct perf_maps **m, int32_t pid);
/* Add a mapping that replaces what it overlaps. If the mappings are shared, *m is its own copy
 * then. */
int perf_maps_add(struct perf_spaces *s, struct perf_maps **m, struct perf_map map, int32_t pid);
/* Get the location of an address. m NULL: in no known address space. */
uint32_t perf_maps_location(struct perf_spaces *s, struct perf_maps *m, uint64_t address);
/* Get the first space of the mappings. */
uint32_t perf_maps_space(struct perf_spaces *s, struct perf_maps *m, uint32_t layer);
/* Find the mapping of an address; NULL: there is none. */
const struct perf_map *perf_maps_find(const struct perf_maps *m, uint64_t address);
/* Visit the mappings, in the order of their addresses. */
typedef void perf_maps_visit(const struct perf_map *map, void *arg);
void perf_maps_walk(const struct perf_maps *m, perf_maps_visit *visit, void *arg);

#endif
