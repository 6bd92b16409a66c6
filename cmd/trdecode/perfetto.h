/*
 * perfetto.h - traces of Perfetto
 */
#ifndef TR_TRDECODE_PERFETTO_H
#define TR_TRDECODE_PERFETTO_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/perfetto_tables.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "common/util/text_span.h"
#include "common/calls/open_calls.h"
#include "common/formats/perfetto.h"
#include "common/protobuf/protobuf.h"
#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/intern.h"

/*
 * Reads the packets of a trace: from a file, or from a packet that contains
 * compressed packets.
 *
 *     trace  = { 0x0a, varint length, message of a TracePacket }
 *
 * The buffer grows as bytes arrive, for packets of at most 64 MiB. Where bytes are no packet, the
 * reader looks for the next one that is beyond doubt: it has a sequence, or contains compressed
 * packets, or in a trace without sequences is like no other message.
 */

/* --- the state of a sequence of packets --- */

enum { PERFETTO_EXTRA = 16 }; /* extra counters of an event */

/* Kinds of interned entries; perfetto_interned gets what is in parentheses, else a string. */
enum perfetto_interned_kind {
	OF_CATEGORY,
	OF_NAME,
	OF_ANNOTATION_NAME,
	OF_SOURCE_LOCATION, /* (number in p->source_locations, from 1) */
	OF_FUNCTION,
	OF_FRAME,     /* (location of the writer) */
	OF_CALLSTACK, /* (stack of the writer) */
	OF_BUILD_ID,
	OF_PATH,
	OF_SOURCE_PATH,
	OF_MAPPING, /* (number in p->modules.mappings, from 1) */
	OF_LOG_BODY,
	OF_ANNOTATION_STRING,
	OF_CORRELATION,
	OF_KERNEL_SYMBOL,
	INTERNED_KINDS,
};

struct perfetto_source_location {
	uint32_t file, function; /* strings of the writer */
	uint32_t line;
};

/* A clock of a ClockSnapshot. */
struct perfetto_clock_time {
	uint32_t id;
	bool incremental;
	uint64_t time, unit; /* ns or units of the last time; ns of a unit, 0: 1 */
};

struct perfetto_sequence {
	uint32_t id, machine, number;
	bool seen;		   /* a packet was read */
	bool valid;		   /* the state is complete */
	bool has_thread;	   /* a descriptor of its thread was read */
	uint32_t generation;	   /* number of times that the state was cleared */
	uint64_t skipped;	   /* packets left out since the state is incomplete */
	uint64_t skipped_time;	   /* time of the first of them */
	uint64_t last_time;	   /* of its last packet */
	uint32_t thread_track;	   /* number of the track of its thread */
	int64_t time, thread_time; /* us: of events with time deltas */
	/* values that packets have unless they give others */
	struct {
		uint64_t track;
		bool has_track;
		uint32_t clock; /* 0: none */
		uint32_t sample_name;
		uint64_t period;
		uint8_t nfollowers;
		uint32_t followers[PERFETTO_EXTRA]; /* names of the other counters of a sample */
		/* tracks of extra counters: integers, reals */
		uint8_t nextra[2];
		uint64_t extra[2][PERFETTO_EXTRA];
	} defaults;
	struct idmap *interned;		    /* by enum perfetto_interned_kind; NULL: none yet */
	struct perfetto_clock_time *clocks; /* by id from CLOCK_OF_SEQUENCE_FIRST; NULL: none */
};

/* --- call stacks: their frames, mapped files, and the symbols of modules --- */

struct perfetto;
struct perfetto_packet;

struct location_entry;

/* Get what an interned frame, mapping or call stack is in the stream. */
uint32_t perfetto_frame(struct perfetto *p, const struct perfetto_sequence *s,
			struct protobuf_view message);
uint32_t perfetto_mapping(struct perfetto *p, const struct perfetto_sequence *s,
			  struct protobuf_view message);
uint32_t perfetto_inline_stack(struct perfetto *p, struct protobuf_view message);

/* Take these tables (perfetto_packets.c). */
int perfetto_profile_tables(struct perfetto *p, struct perfetto_sequence *s,
			    struct protobuf_view message);

/* Take the symbols of a module; name the addresses that they have, at the end of the input. */
int perfetto_module_symbols(struct perfetto *p, const struct perfetto_packet *packet);
/* Add to a stack the frames of inlined functions, which the symbols name. */
int perfetto_add_inlined(struct perfetto *p, uint32_t *stack);

/*
 * Inside the decoder of Perfetto's traces: a sequence of messages TracePacket.
 *
 * Packets of several writers are in any order of their times, and the description of a track may
 * come after its events. So the whole file is read first, and its events are sorted
 * (sorter.h) and then written (rows.c). A packet belongs to a sequence, whose state
 * (perfetto_packets.c) has the names that later packets of the sequence use, and defaults. Times
 * are converted to one clock (perfetto.c) before they are sorted.
 *
 * Functions return 0, or -1 with p->error filled, or, without text, when out of memory or when the
 * output failed; an id 0 is the same.
 *
 * Sources: protos/perfetto/trace, docs/reference and docs/concepts of the project perfetto, and the
 * meaning that its trace processor gives to incomplete traces.
 */

enum {
	PERFETTO_KINDS = 1024, /* numbers of packet fields that are counted in an array */
	PERFETTO_EVENT_FIELDS = 64,
};

/* What an event becomes in the stream. */
enum perfetto_kind {
	PERFETTO_BEGIN,
	PERFETTO_END,
	PERFETTO_INSTANT,
	PERFETTO_STATE,	  /* name 0: the state ends */
	PERFETTO_COUNTER, /* value: an int64 */
	PERFETTO_COUNTER_REAL,
	PERFETTO_COUNTER_VALUES, /* its arguments are the values */
	PERFETTO_SAMPLE,
	PERFETTO_HEAP,	   /* name: of the heap; its totals follow */
	PERFETTO_ID_BEGIN, /* of a call with an id: struct perfetto_id follows */
	PERFETTO_ID_END,   /* the same; name 0: of any name */
	PERFETTO_GAP,	   /* struct gap follows, without a file */
	PERFETTO_FTRACE,   /* name: number of the event, track: tid; the message follows */
	PERFETTO_SWITCH,   /* struct perfetto_switch follows */
	PERFETTO_WAKING,
	PERFETTO_GRAPH_ENTRY, /* name: of the function, track: tid, value: depth */
	PERFETTO_GRAPH_EXIT,
	PERFETTO_NAMING, /* no event: struct perfetto_naming follows */
};

enum perfetto_flags {
	PERFETTO_UNFINISHED = 1, /* an END: the call has no leave */
	PERFETTO_VALUE = 2,	 /* a u64 follows: of a counter the value, of a BEGIN its end or
				    its id, of a sample the weight */
	PERFETTO_STRUCTS = 4,	 /* arguments contain STRUCTs */
	PERFETTO_NAMED = 8,	 /* an END: only of a call with that name */
	PERFETTO_COMPLETE = 16,	 /* a BEGIN: the value is the time of its end */
	PERFETTO_HAS_CPU = 32,
	PERFETTO_BY_ID = 64, /* a BEGIN: the value is the id that the call had in its source */
};

/* An event, as stored in the sorter. After it: the value, then arguments as arguments_values takes
 * them. */
struct perfetto_record {
	uint8_t kind, flags; /* enum perfetto_kind, enum perfetto_flags */
	uint16_t cpu;
	uint32_t track;	   /* index */
	uint32_t name;	   /* string of the writer */
	uint32_t category; /* string of the writer */
	uint32_t stack;	   /* of the writer; 0 none */
};

/* The id of an asynchronous call. */
struct perfetto_id {
	uint64_t hash;	 /* of all properties that its end must share: 63 bits; of an X that
			    overlaps others its serial, with bit 63 */
	uint64_t number; /* the id itself */
};

/* A packet: its fields but the payload's. */
struct perfetto_packet {
	uint64_t offset; /* in the file, of its message */
	uint64_t time;	 /* as recorded, then in the stream's clock */
	bool has_time, dropped, first, cleared;
	uint32_t clock, sequence, machine, flags;
	uint32_t kind;	 /* number of the payload's field; 0 none */
	uint32_t others; /* fields with other numbers, of no messages */
	bool has_more;	 /* payloads of later versions beside this one */
	struct protobuf_view payload, interned, defaults;
	bool has_interned, has_defaults;
};

/* An open call. */
struct perfetto_frame {
	uint64_t serial; /* of an X (struct complete_calls); by_id: the number of the id; 0 none */
	uint64_t end;	 /* of an X; UINT64_MAX: it is not known */
	uint64_t limit;	 /* the earliest end of it and the calls around it */
	uint32_t name, category, location;
	uint32_t call; /* number of an asynchronous call; 0: it is on a stack */
	uint32_t level;
	bool kernel, by_id;
	bool overlaps; /* an X on no stack */
};

struct perfetto_open; /* perfetto_tracks.c */

struct perfetto_calls {
	struct perfetto_frame *frames;
	size_t depth, capacity;
	bool begins, completes; /* of a track: it has BEGINs without and with their end */
};

/* A thread and its calls. */
struct perfetto_thread {
	int32_t pid, tid;
	uint32_t comm;
	bool named;	  /* comm is that of a track */
	bool begun;	  /* a track with events has it */
	uint32_t process; /* name of its process, by a track; 0: not known */
	uint32_t lane;
	uint32_t unseen; /* calls that were open before the trace */
	uint32_t kernel; /* open calls in the kernel */
	struct perfetto_calls calls;
};

/* A track. Before rows are written, role, thread and lane are not yet known. */
struct perfetto_track {
	uint64_t uuid, parent;
	uint32_t name, process_name, thread_name, unit; /* strings of the writer */
	int32_t pid, tid, cpu;
	bool has_process, has_thread, has_counter, has_cpu, incremental, before, is_async;
	bool is_state;	     /* its events are states: each lasts until the next one */
	bool keyed;	     /* it has no descriptor: its thread is the one that has the number */
	uint64_t multiplier; /* 0: 1 */
	int64_t value;	     /* of an incremental counter */
	double real_value;
	uint32_t sequence, generation; /* that value is of */
	uint8_t role;
	uint32_t resolved; /* role, thread and lane are valid while tracks.renewed is below */
	uint32_t thread;   /* index + 1; 0 none */
	uint32_t lane;
	uint32_t types[2], category; /* of counters: integers, reals; category of both */
	struct perfetto_calls calls;
};

/* What is known of a thread of the system: before rows are written what is recorded first, then
 * what is known at the time of the row. */
struct perfetto_task {
	int32_t tgid; /* -1: unknown */
	uint32_t comm;
	uint32_t process;		    /* name of the process that has this number */
	uint64_t comm_since, process_since; /* times of the names before rows are written, then 0 */
	bool inherited;			    /* comm is that of the thread that made it */
	bool apart; /* calls of its tracks are not to be merged with those of the system */
};

enum { PERFETTO_FIELDS = 64 };

/* A field of a message, or a value of an enumeration, by the table. */
struct perfetto_field {
	const char *name; /* NULL: it is not known */
	uint8_t message;  /* of the kind m: enum perfetto_message */
	char kind;	  /* as in perfetto_tables.h; m: a message or an enumeration; 0: none */
};

/* The state of decoding one input. */
struct perfetto {
	struct input *input;
	struct writer *w;
	struct error error;
	struct sorter sorter;
	bool counting; /* for --info: events are not kept */
	/* The names of arguments. */
	struct {
		struct argument_table table;
		struct name_uses uses;
	} arguments;
	struct buffer sequences; /* struct perfetto_sequence * each */
	struct key_map sequence_numbers;
	struct perfetto_sequence *recent_sequence;
	struct {
		uint32_t trace; /* id of the stream's clock; 0: not yet known */
		bool has_wall;
		int64_t wall;
		uint64_t first;		/* time of the earliest event */
		struct key_map numbers; /* by sequence and id: index + 1 */
		struct perfetto_clock *clock;
		size_t count, capacity;
	} clocks;
	struct {
		struct perfetto_track *track;
		size_t count, capacity;
		struct key_map by_uuid; /* index + 1 */
		struct id_cache others; /* index + 1 */
		struct perfetto_thread *thread;
		size_t nthreads, threads_capacity;
		struct id_cache threads; /* by pid, tid and name: index + 1; name 0: that of now */
		uint32_t renewed;	 /* threads whose number another thread had before */
		struct id_cache lanes;
		struct id_cache process_names; /* by pid: strings of the writer */
		struct key_map counting;       /* by track and sequence: index + 1 in reached */
		struct buffer reached; /* perfetto_tracks.c: values of incremental counters */
	} tracks;
	struct {
		struct key_map numbers; /* by tid: index + 1 */
		struct perfetto_task *task;
		size_t count, capacity;
		bool shared_tids; /* threads of several processes have the same tid */
	} tasks;
	/* Events of ftrace. */
	struct {
		struct perfetto_event_type *type;
		size_t ntypes, types_capacity;
		struct key_map numbers;	 /* by number of the event: index + 1 */
		struct id_cache generic; /* types of GenericFtraceEvent, by name and fields */
		struct perfetto_cpu *cpu;
		size_t ncpus;
		struct buffer fixed, tail, key;
		struct kernel_names *names;
	} ftrace;
	/* Numbers of what the stream does not contain, and of packets. */
	struct {
		uint64_t packets, events;
		uint64_t sequences;		/* that have a number */
		uint64_t kinds[PERFETTO_KINDS]; /* by field of the payload; 0: packets without */
		struct id_cache far_kinds;	/* of larger numbers: index in far */
		struct buffer far;		/* u64 each */
		uint64_t unopened, clipped, wrong_times, uninterned, unknown_ftrace, too_deep;
		/* times: kept unconverted; left out with their events */
		uint64_t unsynchronised, unplaced;
		uint64_t unkept; /* begins of calls with ids beyond the limit of open ones */
		struct key_map sample_cpus;  /* by sequence and CPU: index + 1 in sample_counts */
		struct buffer sample_counts; /* u64 each: the counter of the last sample */
		uint64_t lost_packets;	     /* that the buffers of the service lost */
		/* fields of messages that are read, by number; 0: of larger numbers */
		uint64_t left_out[PERFETTO_MESSAGES][PERFETTO_FIELDS];
	} counts;
	/* Buffers that events are made in. */
	struct {
		struct buffer record, arguments, details, key, text;
	} scratch;
	/* Strings of the writer. */
	struct {
		uint32_t call_id, begin, end, async_begin, async_end, state_begin, state_end, gap,
			gap_category, unfinished, leave_name;
		uint32_t kernel, before; /* names of tracks */
		uint32_t nothing;	 /* name of calls without one */
		uint32_t track_id;	 /* name of the field; 0: not yet known */
	} texts;
	/* The types of rows. */
	struct {
		struct id_cache ids;
		/* the type of the last row without arguments, of enters and of leaves */
		struct {
			uint32_t category, type;
		} bare[2];
	} types;
	struct id_cache definitions;
	/* Mapped files, frames, and their symbols. */
	struct {
		struct id_cache mappings; /* spaces, by struct perfetto_mapped */
		struct id_cache frames;	  /* locations, by struct profile_frame */
		struct id_cache symbol_numbers;
		struct buffer symbols; /* of each: u64 number of its lines, then as many struct
					  perfetto_source_location, the innermost function first */
		/* by location: where its inlined functions are; 0: it has none */
		uint32_t *inlined;
		size_t ninlined;
		/* of each: u32 number of locations, and these, outermost first */
		struct buffer chains;
		uint32_t *full; /* by stack: the stack with inlined functions; 0: not yet known */
		size_t nfull;
	} modules;
	/* The totals of the heaps' last dumps. */
	struct {
		struct id_cache numbers; /* by process, heap and stack: index + 1 */
		struct buffer totals;	 /* u64 each */
	} heaps;
	/* the rows of perfetto_messages: fields by number */
	struct {
		struct perfetto_field *field;
		size_t n;
	} known[PERFETTO_MESSAGES];
	struct intern names;		   /* of the messages, then of fields */
	struct frame_locations *functions; /* without an address; owned */
	struct buffer source_locations;	   /* struct perfetto_source_location each */
	struct buffer packages;		   /* text of a META */
	uint32_t *locations;		   /* by name: of functions */
	size_t nlocations;
	/* The calls with ids that are open. */
	struct {
		struct open_calls keys; /* index + 1 in open, by hash */
		struct perfetto_open *open;
		size_t count, capacity;
		size_t free;	 /* index + 1 of the first free element; 0 none */
		uint32_t frames; /* track of the last frame: index + 1; 0 none yet */
	} async;
	uint32_t source, clock, calls;
	uint64_t last; /* the latest time so far */
	struct complete_calls completes;
};

/* Report damage in the packet's payload. */
void perfetto_damage(struct perfetto *p, const struct perfetto_packet *packet, const char *what);

/* --- sequences --- */

/* Get the state of a packet's sequence, changed by the packet. *skip: the packet needs state that
 * is missing. */
int perfetto_sequence(struct perfetto *p, struct perfetto_packet *packet,
		      struct perfetto_sequence **sequence, bool *skip);
/* Read a message SourceLocation. */
struct perfetto_source_location perfetto_source_location(struct perfetto *p,
							 struct protobuf_view message);
/* End the gaps of sequences at the end of the input. */
int perfetto_sequences_end(struct perfetto *p);
void perfetto_sequences_free(struct perfetto *p);
/* Get an interned entry: a string of the writer, or what its kind stores; 0: there is none, which
 * is counted unless the iid is 0. */
static inline uint32_t perfetto_interned(struct perfetto *p, const struct perfetto_sequence *s,
					 enum perfetto_interned_kind kind, uint64_t iid)
{
	uint32_t number = s->interned ? idmap_get(&s->interned[kind], iid) : 0;

	p->counts.uninterned += !number && iid;
	return number;
}

/* --- clocks --- */

/* Convert a time to the stream's clock. false: it cannot be converted, which is counted. */
bool perfetto_convert_time(struct perfetto *p, struct perfetto_sequence *s, uint32_t clock,
			   uint64_t *time);
/* Test for a clock whose times can be converted, or kept as they are. */
bool perfetto_clock_usable(struct perfetto *p, const struct perfetto_sequence *s, uint32_t clock);
static inline uint32_t perfetto_trace_clock(const struct perfetto *p)
{
	return p->clocks.trace ? p->clocks.trace : CLOCK_BOOTTIME_ID;
}
static inline bool perfetto_time(struct perfetto *p, struct perfetto_sequence *s, uint32_t clock,
				 uint64_t *time)
{
	return (clock == perfetto_trace_clock(p) && *time < TIME_LIMIT) ||
	       perfetto_convert_time(p, s, clock, time);
}
/* Convert a time of the monotonic clock, us. Returns as perfetto_time. */
bool perfetto_time_us(struct perfetto *p, struct perfetto_sequence *s, int64_t us, uint64_t *time);
/* Record that a clock had a time when the stream's clock had another. */
int perfetto_clock_relate(struct perfetto *p, uint32_t clock, uint64_t own, uint64_t trace);

/* --- tracks --- */

/* Get the number of a track, from 1. */
uint32_t perfetto_track(struct perfetto *p, uint64_t uuid);
/* Get the track of what has no uuid; the key has the properties that identify it. */
enum perfetto_other {
	PERFETTO_OF_THREAD = 1,
	PERFETTO_OF_PROCESS,
	PERFETTO_OF_COUNTER,
	PERFETTO_OF_TRACK, /* of calls that need not nest with those of threads */
	PERFETTO_OF_FRAME, /* no track: the id of a frame, or of a flow */
	PERFETTO_OF_FLOW,
};
struct perfetto_track_key {
	uint32_t kind; /* enum perfetto_other */
	int32_t pid, tid, cpu;
	uint32_t name, scope;
	uint64_t id;
};
uint32_t perfetto_other_track(struct perfetto *p, const struct perfetto_track_key *key);
int perfetto_track_descriptor(struct perfetto *p, struct perfetto_sequence *s,
			      const struct perfetto_packet *packet);
/* Take a ThreadDescriptor or ProcessDescriptor of its own packet. */
int perfetto_thread_descriptor(struct perfetto *p, struct perfetto_sequence *s,
			       const struct perfetto_packet *packet);
int perfetto_process_descriptor(struct perfetto *p, const struct perfetto_packet *packet);
int perfetto_process_tree(struct perfetto *p, const struct perfetto_packet *packet);
/* Forget names of threads before the first name of their process: they are of a later thread. */
void perfetto_first_names(struct perfetto *p);
void perfetto_tracks_free(struct perfetto *p);

/* --- records of events, to be sorted --- */

int perfetto_track_event(struct perfetto *p, struct perfetto_sequence *s,
			 const struct perfetto_packet *packet);
/* Add an event to the sorter: the record, the value, and p->scratch.arguments. */
int perfetto_keep(struct perfetto *p, uint64_t time, const struct perfetto_record *r,
		  uint64_t value);
/* Learn the names in p->scratch.arguments as those of the arguments of a name. Several arguments
 * of one name get names of their own. */
int perfetto_learn(struct perfetto *p, uint32_t name);
/* Keep a record with its value and the arguments, in an order among those of its time. */
int perfetto_keep_ordered(struct perfetto *p, struct sorter_key key,
			  const struct perfetto_record *r, uint64_t value);
/* The same, with another order among the events of one time, and any data. */
int perfetto_keep_data(struct perfetto *p, struct sorter_key key, const struct perfetto_record *r,
		       const void *data, size_t size);
/* The same, of a call with an id: the key has its properties. */
int perfetto_keep_id(struct perfetto *p, uint64_t time, const struct perfetto_record *r,
		     const struct perfetto_track_key *key);
int perfetto_keep_gap(struct perfetto *p, uint64_t time, const struct gap *gap, int32_t cpu);
static const uint64_t PERFETTO_ORDER = (uint64_t)1 << 63; /* of most events */

/* --- packets of other kinds, and what is left out --- */

int perfetto_sample_defaults(struct perfetto *p, struct perfetto_sequence *s,
			     struct protobuf_view message);

int perfetto_ftrace_bundle(struct perfetto *p, struct perfetto_sequence *s,
			   const struct perfetto_packet *packet);
void perfetto_ftrace_free(struct perfetto *p);

/* Take the next field of a row of a table. *number is that of the field before. Returns false at
 * the end. */
bool perfetto_table_field(struct text_span *row, uint32_t *number, struct text_span *name,
			  struct text_span *kind);
/* Read perfetto_messages into p->known. Returns 0, or -1 when out of memory. */
int perfetto_tables_read(struct perfetto *p);
/* Get what is known of a field or a value. */
static inline const struct perfetto_field *
perfetto_field_of(const struct perfetto *p, enum perfetto_message m, uint64_t number)
{
	static const struct perfetto_field unknown = {0};

	return number < p->known[m].n ? &p->known[m].field[number] : &unknown;
}
/* Count a field if the stream does not contain it; of a message that it does, the fields in it. */
void perfetto_check_field(struct perfetto *p, enum perfetto_message m,
			  const struct protobuf_field *f);
/* The same of a packet's payload, but of events: their readers check what few of them have. */
void perfetto_check_packet(struct perfetto *p, const struct perfetto_packet *packet);
/* Report the fields that were counted, by their names. */
void perfetto_print_left_out(const struct perfetto *p);

/* Keep a value of a counter. name: string of the writer; pid, cpu: -1, none. */
int perfetto_keep_counter(struct perfetto *p, uint64_t time, uint32_t name, int32_t pid,
			  int32_t cpu, uint64_t value);

int perfetto_other_packet(struct perfetto *p, struct perfetto_sequence *s,
			  const struct perfetto_packet *packet);

int perfetto_heap_profile(struct perfetto *p, struct perfetto_sequence *s,
			  const struct perfetto_packet *packet);
int perfetto_heap_row(struct perfetto *p, const struct perfetto_track *t,
		      const struct perfetto_record *rec, uint64_t time, const uint8_t *data);

int perfetto_frame_timeline(struct perfetto *p, const struct perfetto_packet *packet);

/* --- rows --- */

struct perfetto_id perfetto_id_of(const struct perfetto_track_key *key);

/* Declare a type. 0: out of memory. */
uint32_t perfetto_declare_type(struct perfetto *p, const struct type_entry *e);
/* Write all rows up to and including a time, and set *next to the time of the next row. */
int perfetto_rows(struct perfetto *p, uint64_t until, uint64_t *next);
/* Find the calls that overlap others, before the first row is written. */
int perfetto_find_overlaps(struct perfetto *p);

/* Take a number of a thread or process: of 32 bits and not below 0, else it is -1. */
static inline int32_t perfetto_take_id(uint64_t value)
{
	return value <= INT32_MAX ? (int32_t)value : -1;
}

/* Get a text as a string of the writer. 0: out of memory. */
uint32_t perfetto_text(struct perfetto *p, struct protobuf_view v);

/*
 * Arguments of an event while it is read.
 *
 * p->scratch.arguments has the arguments so far as named values: u32 name, u32 size, and the value
 * (value.h).
 */

/* Append an argument with a name. */
int perfetto_argument_uint(struct perfetto *p, const char *name, uint64_t number);
int perfetto_argument_int(struct perfetto *p, const char *name, int64_t number);
int perfetto_argument_bool(struct perfetto *p, const char *name, bool value);
int perfetto_argument_string(struct perfetto *p, const char *name, uint32_t string);
/* Append the argument that a field is; none if it is not one, or an empty text. */
int perfetto_argument_field(struct perfetto *p, const struct perfetto_field *of,
			    const struct protobuf_field *f);

#endif
