/*
 * perf_unwind.h - stacks of perf: call chains, unwinding of user stacks, JIT code
 */
#ifndef TR_TRDECODE_PERF_UNWIND_H
#define TR_TRDECODE_PERF_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/perf_records.h"
#include "common/formats/perf.h"
#include "common/ftrace/event_format.h"
#include "common/ftrace/ring.h"
#include "common/stream/writer.h"
#include "common/symbols/symbols.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/u128.h"

struct atrace;

/*
 * Numbers and texts in sequence, in a part of a perf.data that is in memory.
 *
 * A read beyond the end gives 0 or NULL and sets cut.
 */

struct byte_span {
	const uint8_t *at, *end;
	bool big_endian, cut;
};

static inline const uint8_t *span_take(struct byte_span *s, uint64_t n)
{
	const uint8_t *at = s->at;

	if (n > (uint64_t)(s->end - at)) {
		s->cut = true;
		s->at = s->end;
		return NULL;
	}
	s->at += n;
	return at;
}

static inline uint64_t unwind_span_number(struct byte_span *s, unsigned size)
{
	const uint8_t *d = span_take(s, size);

	return d ? get_uint(d, size, s->big_endian) : 0;
}

/*
 * Holds samples back until the kernel has recorded the rest of their call chains.
 *
 * If an event asks for it (PERF_FLAG_DEFER_CALLCHAIN), the chain of a sample has no addresses of
 * the program. It ends with PERF_CONTEXT_USER_DEFERRED and a cookie. When the thread returns to the
 * program, the kernel writes a record CALLCHAIN_DEFERRED with the cookie and these addresses. All
 * samples that the thread took since it had entered the kernel have the same cookie.
 *
 * Records are added in the order of their times and taken in this order. A sample that waits holds
 * back all records after it. A sample does not wait any longer if its thread has another chain,
 * ends, or runs another program; and if the records that are held back exceed a limit:
 * DEFERRED_MOST samples, DEFERRED_BYTES, or, where the input is read as it is recorded, a time.
 * Then the sample has the chain that it has. What exceeds memory is kept in a temporary file
 * (buffer.h).
 *
 * Functions return 0, or -1 when out of memory.
 */

struct perf_record;

enum {
	DEFERRED_MOST = 1 << 14,    /* samples that wait */
	DEFERRED_BYTES = 64 << 20,  /* of all records that are held back */
	DEFERRED_SLOTS = 1 << 10,   /* of the hash table of threads */
	DEFERRED_LIVE = 1000000000, /* ns of the trace, for an input that is no file */
};

struct perf_deferred {
	bool used;			/* an event asks for deferred chains */
	struct buffer bytes;		/* of records and chains, from `begin` on */
	struct buffer records;		/* struct deferred_record, from `first` on */
	uint64_t dropped;		/* bytes before those in `bytes` */
	uint64_t first, end;		/* numbers of the records that are held back */
	uint64_t waiting;		/* samples */
	uint64_t longest;		/* ns that a sample waits; UINT64_MAX: as long as needed */
	uint64_t latest;		/* time of the last record */
	uint64_t last[DEFERRED_SLOTS];	/* by thread: number of the last sample that waits, + 1 */
	uint64_t incomplete, unmatched; /* samples without the rest; chains without a sample */
};

/*
 * The mappings of each process and of the kernel, and locations in them.
 *
 * In the stream, the MAPs of a space do not change. So a mapping that overlaps an earlier one of
 * its process, of another file, is declared in a further space of the process: a layer. The
 * location of an address is in the space of the mapping that has the address at that time.
 *
 * A process that forks shares its mappings with the child until either of them maps a file.
 */

/* A mapping in an address space: addresses [start, end). */
struct perf_map {
	uint64_t start, end, offset; /* offset: of start, in the file */
	uint32_t path, build_id;     /* strings of the writer */
	uint32_t file;		     /* number; 0: none */
	uint32_t layer;
	uint32_t code; /* number of a function of a JIT compiler, or of code that the kernel made */
	bool by_address; /* simpleperf: symbols of the file have addresses in memory */
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
	size_t spaces_capacity;
	struct perf_maps *before; /* of the program that the process ran before; NULL: none */
};

struct perf_spaces {
	struct writer *w;
	uint32_t source;
	uint32_t contexts; /* numbers in use */
	struct perf_maps *kernel;
	struct {
		bool is_read;
		struct text_range text; /* end 0: it is hidden */
	} running;			/* the kernel that runs */
	struct key_map *locations;	/* by space: locations by address */
	size_t size;
	size_t nmaps; /* declared in all spaces */
	struct perf_jit *jit;
	struct recorded_symbols *recorded; /* of files, by simpleperf */
	struct known_stacks *known;	   /* in these spaces */
};

/* Functions return -1, NULL or 0 when out of memory. */

int perf_spaces_init(struct perf_spaces *s, struct writer *w);
void perf_spaces_free(struct perf_spaces *s);
void perf_maps_release(struct perf_maps *m); /* m may be NULL */
/* Add a mapping that replaces what it overlaps. If the mappings are shared, *m is its own copy
 * then. */
int perf_maps_add(struct perf_spaces *s, struct perf_maps **m, struct perf_map map, int32_t pid);
/* Get the location of an address. m NULL: in no known address space. */
uint32_t perf_maps_location(struct perf_spaces *s, struct perf_maps *m, uint64_t address);

/*
 * Threads and processes by their numbers, with their names and mappings at the time of the present
 * record.
 */

struct perf_process {
	int32_t pid;
	struct perf_maps *maps; /* NULL: no record has named any */
	struct jit_dump *dump;	/* NULL: no JIT compiler has mapped one */
};

struct perf_thread {
	int32_t tid, pid; /* pid -1: not known */
	uint32_t comm;	  /* string of the writer */
	struct perf_process *process;
	/* the last lane, and the CPU (-1: none) that it is of; 0: comm or pid have changed */
	uint32_t lane;
	int32_t lane_cpu;
};

/* Functions return NULL or -1 when out of memory. */

/* Get a thread. pid -1: as known so far. */
struct perf_thread *perf_thread_of(struct perf *p, int32_t pid, int32_t tid);
/* Get the mappings of a process, empty ones if none are known. */
struct perf_maps *perf_process_maps(struct perf_spaces *s, struct perf_process *process);
void perf_threads_free(struct perf *p);

/*
 * Unwinds the stacks of threads that perf recorded as registers and memory.
 *
 * libdw unwinds by the .eh_frame of the mapped files; where that has no entry, by the .debug_frame
 * of the file or of its debug file; and else by the frame pointer. The files are those of this
 * machine, below a sysroot; one with another build-id is not used.
 *
 * Memory: the tables of at most UNWIND_TABLES bytes of files, and libdw's copies for UNWIND_SPACES
 * processes.
 */

/* The recorded state of a thread. */
struct perf_user_state {
	const uint8_t *registers; /* 8 bytes for each bit of mask */
	uint64_t mask, abi;	  /* abi: enum perf_abi */
	const uint8_t *stack;	  /* from the stack pointer on */
	uint64_t size;
	bool big_endian;
};

struct perf_unwinder;

/* Make an unwinder. machine: as of uname -m, NULL: x86_64. sysroot: NULL: /. Both are borrowed.
 * NULL: the stacks of the machine cannot be unwound, or *e filled: out of memory. */
struct perf_unwinder *perf_unwinder_new(const char *machine, const char *sysroot, struct error *e);
void perf_unwinder_free(struct perf_unwinder *u);

/* Get the number of files that could not be read, and the reason for the first. */
uint64_t perf_unwinder_missing(const struct perf_unwinder *u, struct error *first);

/*
 * The decoder of perf.data: what its files share.
 *
 * Each event that perf recorded is a type of kind SAMPLE, whose rows have the stack. Records of the
 * kernel about threads are INSTANTs. Mappings become MAPs. Records are read in the order of the
 * file, queued, and written in the order of their times (perf_records.h).
 *
 * Functions return 0, or -1 with the writer's error, or where they have e, with *e filled.
 */

enum {
	PERF_MEMBERS = 32, /* counters of one group */
	PERF_BUILD_ID = 20,
	PERF_BUILD_ID_TEXT = 2 * PERF_BUILD_ID + 1,
};

/* An event: struct perf_event_attr, and its type in the stream. */
struct perf_attr {
	uint32_t kind; /* enum perf_attr_type or the number of a PMU */
	uint64_t config, period, sample_type, read_format, flags;
	uint64_t branch_type, user_regs, intr_regs;
	int32_t clock_id;
	char *name; /* as perf prints it; NULL: not known */
	struct ftrace_event *tracepoint;
	uint32_t type; /* id in the stream, 0: not yet declared */
	uint32_t fixed_size;
	/* indexes of the other events of the group that it leads: the values of their counters
	 * follow the period in the fixed part, 8 bytes each */
	uint32_t *members;
	uint32_t nmembers;
	bool has_tail, has_ip; /* has_ip: the type has a field for the address, beside the stack */
	bool knows_members;    /* from a sample */
};

/* An id of an event on a CPU or thread, by which samples and counters are recognised. */
struct perf_id {
	uint64_t id;
	uint32_t attr; /* index */
	uint64_t last; /* value of its counter when it was last read */
};

enum { PERF_SIDE_TYPES = 24, PERF_THREAD_VALUES = 1 << 20 };

struct perf {
	struct input *input;
	struct writer *w;
	struct {
		unsigned version; /* 1 or 2 */
		bool pipe, big_endian;
		uint64_t attr_size; /* of an attribute in the file, with its section of ids */
		uint64_t features[PERF_FEATURES / 64];
		struct {
			const char *name;
			char *text;
			bool item; /* one of a list */
		} * facts;	   /* names and texts for --info */
		size_t nfacts, facts_capacity;
		char *arch;		   /* as of uname -m; NULL: not known */
		struct buffer formats;	   /* texts of the tracing data, which the formats of events
					      point to */
		struct buffer split;	   /* the parts so far of a record of simpleperf */
		unsigned long_size;	   /* of the recorded kernel: 4, 8; 0 not known */
		struct id_cache build_ids; /* by path: 1 + index of its text */
		struct buffer build_id_texts; /* PERF_BUILD_ID_TEXT bytes each, with a NUL */
		bool has_clock_data;	      /* wall is known */
		bool in_directory; /* of perf record --threads: the samples are in other files */
		int64_t wall;	   /* ns to add to the times of the records */
	} h;			   /* what is in a perf.data beside its records */
	struct tracecmd_file file; /* if the file can be read at offsets */
	char *own_name;		   /* of the file of a directory; NULL: the input's is used */
	struct {
		struct perf_records *at; /* the first one is the perf.data itself */
		size_t count;
		struct perf_records *last; /* the file of the record that was read last */
	} files;			   /* have the records */
	struct perf_queue queue;
	struct perf_deferred deferred;
	bool ended; /* all records are queued */

	struct perf_attr *attrs;
	size_t nattrs, attrs_capacity;
	struct perf_id *ids;
	size_t nids, ids_size;
	struct key_map id_numbers; /* index + 1 in ids */
	int id_at, id_from_end;	   /* offset of the id in the body of a sample, and of the other
				      records before their end; -1: none */
	struct ftrace_events *events;
	struct atrace *marks; /* NULL: no sample may be one so far */

	uint32_t source, clock;
	/* threads and processes by their numbers */
	struct {
		struct key_map threads, processes; /* addresses of perf_thread and perf_process */
		struct id_cache lanes;		   /* by tid, pid, comm and CPU */
		struct perf_thread *last;	   /* the last one found */
		struct perf_thread unknown;	   /* of all threads beyond the limit */
		struct perf_process unknown_process;
	} threads;
	struct perf_spaces spaces;
	/* samples in their order whose rows are not yet written: the next is number `begun` */
	struct {
		struct pending_sample *samples; /* by number % PENDING */
		uint64_t begun, found, written; /* numbers of those that took each step */
		struct buffer tail;
	} pending;
	uint32_t side_types[PERF_SIDE_TYPES]; /* of perf.c: types in the stream, 0: none */
	uint64_t time;			      /* of the last row, unshifted */
	uint64_t ticks;			      /* times of samples without a time */
	uint64_t read_time;		      /* of the record that was read last */
	/* the values that inherited counters had in each thread when they were last read */
	struct {
		struct id_cache numbers; /* by id and thread: 1 + index of the value */
		uint64_t *values;
		size_t size;
		uint32_t count; /* at most PERF_THREAD_VALUES */
	} thread_counters;
	/* counts that are reported at the end */
	struct {
		uint64_t unknown_types, stat;
		uint64_t old_symbols;	     /* records of simpleperf of 2016 */
		uint64_t lost, lost_samples; /* by LOST; by the LOST_SAMPLES of perf record */
	} counts;
	struct perf_unwinder *unwinder; /* NULL: no stacks are unwound */
};

/* Read a number in the byte order of the file. */
static inline uint64_t perf_u64(const struct perf *p, const uint8_t *d)
{
	return get_uint(d, 8, p->h.big_endian);
}
static inline uint32_t perf_u32(const struct perf *p, const uint8_t *d)
{
	return (uint32_t)get_uint(d, 4, p->h.big_endian);
}
static inline uint16_t perf_u16(const struct perf *p, const uint8_t *d)
{
	return (uint16_t)get_uint(d, 2, p->h.big_endian);
}

static inline bool perf_flag(const struct perf_attr *a, enum perf_attr_flag flag)
{
	return a->flags >> flag & 1;
}

/* A record with its header. */
struct perf_record {
	const uint8_t *data;
	uint64_t time;	 /* unshifted */
	uint64_t offset; /* in the file, of the record or of the packed one with it */
	uint32_t type, size;
	uint16_t misc;
	const uint8_t *user_chain; /* the deferred addresses of a sample; NULL: none */
	uint32_t nuser_chain;
};

/* What the end of a record, or a sample, says of its origin. */
struct perf_origin {
	int32_t pid, tid, cpu;
	uint64_t time;
	bool has_tid, has_time, has_cpu;
	size_t body; /* bytes between header and origin, of a record that is no sample */
};

/* Read the header of a file, and its attributes and features; of a pipe, the
 * records up to the first one of the kernel. */
int perf_header_read(struct perf *p, struct error *e);
/* Take a record that a pipe has in place of the header's parts. */
int perf_header_record(struct perf *p, const struct perf_record *r, struct error *e);
/* Free the header, the attributes and the files of records. */
void perf_header_free(struct perf *p);

/* Find an id. NULL: there is none. */
struct perf_id *perf_id_find(const struct perf *p, uint64_t id);
/* Find where records have the ids of their events, and whether call chains are deferred. */
void perf_attrs_settle(struct perf *p);
/* Find the event of a record by its id; has_id: the record has one. NULL: there is none. */
struct perf_attr *perf_attr_of(struct perf *p, uint64_t id, bool has_id);

/* Write a build id of n bytes as text. */
void perf_build_id_text(const uint8_t *id, size_t n, char text[PERF_BUILD_ID_TEXT]);

/* A recorded call chain: n addresses, the innermost first. */
struct perf_chain {
	const uint8_t *addresses;
	uint64_t n;
	unsigned mode;	 /* enum perf_mode of the addresses before the first mark */
	uint32_t parent; /* stack of the callers */
};

/* Find the digest of a call chain that no frame of another stack calls, by which its stack may be
 * known. Returns false: it has none, or with *bad, out of memory. */
bool perf_chain_digest(struct perf *p, struct perf_process *process, const struct perf_chain *chain,
		       uint64_t *digest, bool *bad);
/* Get the stack of a call chain; 0: it is empty or damaged, or with *bad, out of memory. */
uint32_t perf_chain_stack(struct perf *p, struct perf_process *process,
			  const struct perf_chain *chain, bool *bad);
/* Get the stack of a thread's state; 0: none was recorded, or with *bad, out of memory. */
uint32_t perf_user_stack(struct perf *p, struct perf_process *process,
			 const struct perf_user_state *state, bool *bad);
/* Get the stack of the address at which a thread's state is; 0: it is not known. */
uint32_t perf_user_frame(struct perf *p, struct perf_process *process,
			 const struct perf_user_state *state, bool *bad);
/* Get the stack of one frame. */
uint32_t perf_frame_stack(struct perf *p, struct perf_process *process, uint64_t address,
			  unsigned mode, uint32_t parent, bool *bad);

/*
 * The functions that JIT compilers have made, from the files that the compilers write.
 *
 * A compiler that maps a file jit-PID.dump writes there, with times, which function it has put at
 * which address. The mapping is recorded; from then on the functions of the file are mappings of
 * the process, each from its time on. The layout is that of jitdump-specification.txt of perf.
 *
 * Other compilers write a line "START SIZE NAME" for each function, in hexadecimal, to
 * /tmp/perf-PID.map. It names addresses in memory without a file. As there are no times, the last
 * line for an address counts.
 */

struct perf_jit;
struct jit_dump;

/* sysroot: of all files, NULL: none. trace: path of the recording; a dump that is gone is looked
 * for beside it. ignore_times: the clock of the recording is another than that of the dumps. All
 * are borrowed. NULL when out of memory. */
struct perf_jit *perf_jit_new(const char *sysroot, const char *trace, bool ignore_times);
void perf_jit_free(struct perf_jit *j);

/*
 * The stacks of call chains that were met before.
 *
 * A stack is found by one digest of all its addresses, from the outermost frame on, and so are the
 * stacks of its callers, whose digests are the sums on the way. A chain is looked up from its
 * innermost frame outwards, up to the first stack that is known: mostly at once, as most frames of
 * a new chain are those of an earlier one. A sample of N frames costs N multiplications and one or
 * two accesses to memory, where a look-up of each frame costs N such accesses. With these look-ups
 * instead, 'trdecode | trstat' of t/bench/perf.sh takes 2.7 times the instructions. Without the
 * digest of the whole chain, which perf.c computes ahead, it takes 1.05 times the
 * instructions and 1.3 times the CPU.
 *
 * A digest is a sum of products of the addresses with secret numbers of 64 bits, one for each place
 * in a chain, modulo 2^128. Two chains have the same sum with a probability of at most 2^-64,
 * whatever a file holds. The sum is reduced to 64 bits by another such sum, with numbers of 128
 * bits, which collides as rarely.
 */

enum { KNOWN_FRAMES = 256 }; /* of a digest */

/* The secret numbers, and a hash table of at most 16 MiB, which is emptied when it is full. */
struct known_stacks {
	struct {
		uint64_t address[KNOWN_FRAMES], context[KNOWN_FRAMES], parent;
		uint128 low, high;
	} key;
	struct key_map_slot *slots; /* the number of a digest is its stack */
	size_t count;
	unsigned shift; /* 64 less the binary logarithm of the number of slots */
};

struct known_stacks *known_stacks_new(void); /* NULL: out of memory */
void known_stacks_free(struct known_stacks *k);
void known_stacks_put(struct known_stacks *k, uint64_t digest, uint32_t stack);

/* Find a stack; 0: it is not known. */
static inline uint32_t known_stacks_find(const struct known_stacks *k, uint64_t digest)
{
	size_t mask = ((size_t)1 << (64 - k->shift)) - 1;

	for (size_t at = digest >> k->shift; k->slots[at].number; at = (at + 1) & mask)
		if (k->slots[at].key == digest)
			return k->slots[at].number;
	return 0;
}

/* Take what a record changes. *t: the thread that it describes, NULL: none. */
int perf_apply(struct perf *p, const struct perf_record *r, const struct perf_origin *o,
	       struct perf_thread **t);

/* --- the symbols that simpleperf stores (perf_records.c) --- */

/* A place in a mapping. */
struct recorded_place {
	uint32_t path;	 /* of the mapped file, a string of the writer */
	uint64_t start;	 /* of the mapping */
	uint64_t offset; /* of start, in the file */
	bool by_address; /* the file is of a JIT compiler: its symbols have addresses in memory */
	uint64_t address;
};

/* Find the function at a place. Returns false: there is none. Texts of *e are the tables'. */
bool recorded_symbols_find(const struct recorded_symbols *s, const struct recorded_place *at,
			   struct symbol_entry *e);

#endif
