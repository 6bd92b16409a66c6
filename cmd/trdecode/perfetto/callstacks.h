/*
 * callstacks.h - call stacks: their frames, mapped files, and the symbols of modules
 */
#ifndef TR_TRDECODE_PERFETTO_CALLSTACKS_H
#define TR_TRDECODE_PERFETTO_CALLSTACKS_H

#include "common/protobuf/protobuf_reader.h"
#include "common/util/buffer.h"
#include "common/util/intern.h"
#include "cmd/trdecode/perfetto/sequence.h"

struct perfetto;
struct perfetto_packet;

/* An address of a frame without a function. */
struct perfetto_unnamed {
	uint64_t address;
	uint32_t module; /* string of the build-id, or else of the path */
	uint32_t location;
	uint32_t space, path; /* of the file */
};

/* Mapped files, frames, and their symbols (callstacks.c). */
struct perfetto_modules {
	struct id_cache mapping_numbers;
	struct buffer mappings; /* struct perfetto_mapped each */
	struct id_cache frames; /* locations, by what they are */
	struct buffer unnamed;	/* struct perfetto_unnamed each */
	struct id_cache symbol_numbers;
	struct buffer symbols; /* of each: u64 number of its lines, then as many struct
				  perfetto_source_location, the innermost function first */
	uint32_t *inlined;     /* by location: where its inlined functions are; 0: it has none */
	size_t ninlined;
	struct buffer chains; /* of each: u32 number of locations, and these, outermost first */
	uint32_t *full;	      /* by stack: the stack with inlined functions; 0: not yet known */
	size_t nfull;
};

struct location_entry;

/* Get what an interned frame, mapping or call stack is in the stream. */
uint32_t perfetto_frame(struct perfetto *p, const struct perfetto_sequence *s,
			struct protobuf_view message);
uint32_t perfetto_mapping(struct perfetto *p, const struct perfetto_sequence *s,
			  struct protobuf_view message);
uint32_t perfetto_callstack(struct perfetto *p, const struct perfetto_sequence *s,
			    struct protobuf_view message);
uint32_t perfetto_inline_stack(struct perfetto *p, struct protobuf_view message);
/* Give a location the name and the address of the entry, the file and the line of the source, and
 * the module: string of its path, 0: none. Returns 0, or -1 when out of memory. */
int perfetto_name_location(struct perfetto *p, uint32_t location,
			   const struct location_entry *entry,
			   const struct perfetto_source_location *source, uint32_t module);
/* Declare the location of a function with its file and line. module: string of its path, 0: none.
 */
uint32_t perfetto_named_location(struct perfetto *p, const struct location_entry *entry,
				 const struct perfetto_source_location *source, uint32_t module);

/* Fields of ProfilePacket: tables of Android 10, in the form of InternedData's. */
enum { PROFILE_STRINGS = 1, PROFILE_FRAMES, PROFILE_CALLSTACKS, PROFILE_MAPPINGS };
/* Take these tables (sequence.c). */
int perfetto_profile_tables(struct perfetto *p, struct perfetto_sequence *s,
			    struct protobuf_view message);

/* --- module_symbols.c --- */

/* Take the symbols of a module; name the addresses that they have, at the end of the input. */
int perfetto_module_symbols(struct perfetto *p, const struct perfetto_packet *packet);
int perfetto_name_frames(struct perfetto *p);
/* Add to a stack the frames of inlined functions, which the symbols name. */
int perfetto_add_inlined(struct perfetto *p, uint32_t *stack);
void perfetto_modules_free(struct perfetto_modules *m);

#endif
