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
};

/* Mapped files, frames, and their symbols (callstacks.c). */
struct perfetto_modules {
	struct id_cache mapping_numbers;
	struct buffer mappings; /* struct perfetto_mapped each */
	struct id_cache frames; /* locations, by what they are */
	struct buffer unnamed;	/* struct perfetto_unnamed each */
	struct id_cache symbol_numbers;
	struct buffer symbols; /* struct perfetto_source_location each */
};

/* Get what an interned frame, mapping or call stack is in the stream. */
uint32_t perfetto_frame(struct perfetto *p, const struct perfetto_sequence *s,
			struct protobuf_view message);
uint32_t perfetto_mapping(struct perfetto *p, const struct perfetto_sequence *s,
			  struct protobuf_view message);
uint32_t perfetto_callstack(struct perfetto *p, const struct perfetto_sequence *s,
			    struct protobuf_view message);
uint32_t perfetto_inline_stack(struct perfetto *p, struct protobuf_view message);
/* Take the symbols of a module; name the addresses that they have, at the end of the input. */
int perfetto_module_symbols(struct perfetto *p, const struct perfetto_packet *packet);
int perfetto_name_frames(struct perfetto *p);
void perfetto_modules_free(struct perfetto_modules *m);

#endif
