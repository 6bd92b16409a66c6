/*
 * ctf.h - inside the decoder of CTF 1.8 and 2, the formats of LTTng 2
 *
 * A trace is a directory with a file "metadata", which declares in TSDL or JSON (ctf_metadata.h)
 * the layout of the packets in the other files. An input may contain several traces, as
 * a session of LTTng does: one of the kernel, one of each user. Tracefiles are read forward, packet
 * by packet. Each event class is prepared once (ctf.c). All files are merged by time
 * (ctf.c).
 *
 * Functions return 0, or -1 with *e filled, or without an e: -1 (an id: 0) when out of memory.
 */
#ifndef TR_TRDECODE_CTF_H
#define TR_TRDECODE_CTF_H

#include "cmd/trdecode/ctf_metadata.h"
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "common/formats/ctf.h"
#include "common/stream/value.h"
#include "common/util/heap.h"
#include "common/util/intern.h"
#include "common/value/json.h"

/* One movement of data from an event into its row. */
struct ctf_move {
	enum ctf_move_kind {
		MOVE_BYTES,   /* n bytes, unchanged */
		MOVE_NUMBER,  /* of size bits, to n bytes */
		MOVE_STRING,  /* up to its NUL */
		MOVE_TEXT,    /* as many bytes as slot contains, or n if slot is 0 */
		MOVE_UNUSUAL, /* the number or text of part, in another encoding */
	} kind;
	uint8_t size;
	bool big, is_signed;
	uint32_t align; /* bits */
	uint32_t n;
	uint32_t to;   /* offset in the fixed part */
	uint32_t slot; /* MOVE_TEXT: the slot of its length; MOVE_NUMBER: the slot that keeps it; 0
			  none */
	const struct ctf_part *part; /* MOVE_UNUSUAL */
};

/* The offset in a row of a value that the decoder needs. */
struct ctf_spot {
	int32_t at;    /* offset in the fixed part, -1: the row has no such value */
	uint32_t size; /* bytes */
};

/* What the decoder learns from an event, besides writing its row. */
enum ctf_action {
	CTF_NO_ACTION,
	CTF_SWITCH,   /* sched_switch: comm, tid of the next thread */
	CTF_BIN_INFO, /* a mapping of the process: address, size, path */
};

/* An event class, prepared for reading: how its data become rows. */
struct ctf_class {
	const struct ctf_event_class *declared;
	struct ctf_stream *stream;
	struct ctf_part *layout[SCOPES];
	bool usable;
	bool plain; /* moves convert all its data: numbers, texts and strings; else values do */
	bool has_arguments; /* plain, but its strings become values: trencode wrote them as JSON */
	bool has_stack;	    /* not plain: its rows have a field with ROLE_STACK */
	struct ctf_move *moves;
	uint32_t nmoves;
	size_t moves_capacity;
	uint32_t fixed_size;
	uint32_t nstrings;
	uint32_t type, location; /* the writer's ids; type 0: CALL_GAP, location 0: none */
	enum type_kind kind;
	bool per_cpu, inner, of_kernel;	      /* TYPE_PER_CPU, TYPE_INNER, TYPE_KERNEL */
	bool numbered;			      /* TYPE_CALL_NUMBER, once call.number is known */
	struct ctf_spot tid, pid, ppid, comm; /* if plain */
	/* Where an enter or a leave has its call. */
	struct {
		enum ctf_call_kind {
			CALL_NONE,
			CALL_NAMED,   /* the event's name contains the call's name */
			CALL_ADDRESS, /* of a function */
			CALL_IRQ,
			CALL_SOFTIRQ,
			CALL_TEXT, /* its string "name" */
			CALL_GAP,  /* the event is a gap that trencode wrote */
		} kind;
		struct ctf_spot location;      /* the value that gives the location */
		struct ctf_spot depth, number; /* CALL_TEXT */
		uint32_t arguments;	       /* number of the string: CALL_TEXT */
	} call;
	enum ctf_action action;
	struct ctf_spot argument[2];
	uint32_t string;      /* number of the string: SWITCH, BIN_INFO, CALL_TEXT and CALL_GAP */
	uint32_t comm_string; /* number of the string that is the comm, + 1; 0 none */
};

/* The layout of event headers: nearly all traces have one of the last three. */
enum ctf_shape {
	SHAPE_ANY,
	SHAPE_COMPACT, /* LTTng: 5 bits id, 27 bits time; id 31: u32 id, u64 time */
	SHAPE_LARGE,   /* LTTng: u16 id, u32 time; id 65535: u32 id, u64 time */
	SHAPE_SIMPLE,  /* an id of whole bytes, u64 time */
};

enum { CTF_CPU_COMM = 16 };

/* The thread of an event or a packet, or on a CPU, as far as recorded. */
struct ctf_thread {
	int32_t tid, pid, ppid; /* -1: unknown */
	uint8_t comm[32];
	size_t comm_size;
};

/* A stream class, prepared for reading. */
struct ctf_stream {
	const struct ctf_stream_class *declared;
	struct ctf_trace *trace;
	struct ctf_part *layout[SCOPES];
	enum ctf_shape shape;
	uint8_t id_size; /* SHAPE_SIMPLE: bytes */
	bool has_time;
	bool usable;
	bool stateless;	  /* later events need nothing of its events */
	bool cpu_alone;	  /* a packet's context records only the CPU of its events */
	uint32_t carried; /* else: number of fields of that context that each event repeats */
	bool has_id;	  /* the header of an event contains the id of its class */
	struct idmap ids; /* ids of events to numbers of classes + 1 */
	uint32_t nclasses, only; /* without has_id: classes, and the number + 1 of a single one */
	const struct ctf_clock *clock; /* NULL: none */
	uint8_t discarded_bits;	       /* size of events_discarded */
	uint64_t frequency;
	int64_t offset_s, offset; /* seconds and ticks to add: tick 0 since 1970 */
};

/* One trace of the input: a metadata file and the tracefiles beside it. */
struct ctf_trace {
	struct ctf *ctf;
	const char *prefix; /* directory of its members, with the '/' */
	char *own_prefix;
	struct ctf_metadata metadata;
	struct ctf_stream *streams, *last_stream; /* the last usable one, NULL: there is none */
	size_t nstreams;
	struct key_map numbers; /* of usable streams, by id, from 1 */
	struct ctf_class *classes;
	size_t nclasses;
	bool kernel; /* sched_switch records the thread that runs */
	struct kernel_names *names;
	bool own;      /* trencode wrote it */
	bool has_gaps; /* losses are events too: the counters of packets are ignored */
	uint32_t source;
	struct ctf_thread
		*cpus; /* the thread that runs on each CPU, with CTF_CPU_COMM bytes of its comm */
	size_t ncpus, cpus_capacity;
};

/* A tracefile and the packet and event that are read next. */
struct ctf_file {
	struct heap_item next; /* time of the next event, shifted ns */
	struct ctf_trace *trace;
	const char *member;
	uint32_t buffer; /* the channel's name, a string of the writer */
	struct file_window window;
	bool opened;

	struct ctf_stream *stream; /* of the packet */
	struct ctf_cursor cursor;
	/* The packet of a tracefile that is read. */
	struct {
		uint64_t at;			/* offset in the file */
		uint64_t size;			/* bytes */
		uint64_t content;		/* bits: events end here */
		bool has_uuid;			/* packets of the file have a UUID */
		uint8_t uuid[16];		/* it */
		uint32_t counted;		/* bits of the roles that the packet contains */
		uint64_t counters[CTF_CPU + 1]; /* by role, 0 if not recorded */
		bool fresh;			/* losses before the packet are not computed yet */
		uint64_t lost; /* events lost before the packet, UINT64_MAX unknown: a gap to write
				*/
		uint64_t packets_lost;
		int32_t cpu;
		struct ctf_thread thread;
		struct buffer beginning; /* header and context, if events repeat their fields */
		struct buffer context;	 /* the repeated fields, as details */
		bool has_context;	 /* context is that of this packet */
	} packet;
	bool in_packet, cut;
	bool survey; /* read only packet headers, without losses and damage */

	/* the next event */
	bool done;
	struct ctf_class *class;
	uint64_t header, payload; /* positions of the event, and of its contexts and fields */
	uint64_t last_time;	  /* shifted ns, of the last event with a valid time */

	/* the lane used last, and its thread */
	uint32_t lane;
	struct ctf_thread thread;
	uint32_t packet_lane; /* of events that do not record their thread; 0: not known */
};

/* The state of decoding one input. */
struct ctf {
	struct input *input;
	struct writer *w;
	struct ctf_trace *traces;
	size_t ntraces, traces_capacity;
	struct ctf_file *files;
	size_t nfiles;
	struct heap heap;
	bool raw;   /* times are written without the clock's offset */
	bool begun; /* rows may be written */
	bool context_left_out;
	uint64_t early;		  /* number of times below 0 */
	uint64_t back;		  /* number of times that step back in a file */
	uint32_t clock;		  /* the writer's id */
	struct id_cache declared; /* lanes, spaces and locations */
	struct ctf_flows *flows;
	struct buffer fixed, tail;
	/* The arguments that trencode wrote as JSON. */
	struct {
		struct argument_table table;
		size_t declared;	/* members of the locations declared so far */
		struct id_cache shapes; /* definitions of structs, by the names of their members */
		uint32_t nshapes;
		bool left_out; /* reported: an argument was left out */

		/* one event */
		struct buffer values;
		struct json_reader json;
		uint32_t *used; /* definitions that the values name */
		size_t nused, used_capacity;
	} arguments;
	/* The stack of one event: addresses (u64), innermost first. */
	struct {
		struct buffer kernel, user;
		struct buffer locations; /* their locations (u32) */
	} frames;
};

/* --- traces --- */

/* Get the length of the directory in a member's name, with the '/': 7 of "kernel/metadata". */
size_t ctf_prefix_size(const char *member);
/* Add the trace of this metadata file to the input. -1: the trace cannot be read. */
int ctf_trace_open(struct ctf *ctf, const char *member, struct error *e);
void ctf_trace_free(struct ctf_trace *t);
/* Convert the clock's zero to *wall, ns since 1970, rounded down. false: out of range. */
bool ctf_trace_wall(const struct ctf_clock *c, int64_t *wall);
/* Set the rate and the offset that convert the stream's times to ns. */
void ctf_trace_set_offset(struct ctf_stream *s);
/* Get the first clock of the trace's streams, or NULL. */
const struct ctf_clock *ctf_trace_clock(const struct ctf_trace *t);
/* Add what the trace's metadata declares to the answer of --info. */
void ctf_trace_info(struct ctf_trace *t, struct trace_info *info);

/* --- classes of events --- */

void ctf_classes_free(struct ctf_trace *t);
/* Find a usable stream by its id. NULL: there is none. */
struct ctf_stream *ctf_stream_of(const struct ctf_trace *t, uint64_t id);

/* --- tracefiles and packets --- */

/* Open a tracefile and find its first event. */
int ctf_file_open(struct ctf_file *f, struct error *e);
void ctf_file_close(struct ctf_file *f);
/* Find the next event. */
int ctf_file_next(struct ctf_file *f, struct error *e);
/* Load more bytes from position `from` on, where an attempt to read ran out of bytes. 1: there are
 * more; 0: the file has no more. */
int ctf_file_more(struct ctf_file *f, uint64_t from, struct error *e);
/* Convert a clock's value to ns, before the input's shift. false: out of range. */
bool ctf_file_own_time(const struct ctf_file *f, uint64_t value, uint64_t *ns);
/* Report damage at a position of the packet, and discard the rest of the packet. */
int ctf_file_abandon(struct ctf_file *f, uint64_t at, const char *what);

/* Compute what was lost before the packet. */
int ctf_file_begun(struct ctf_file *f, struct error *e);

/* Test whether the first bytes of a file begin a packet, in either byte order. */
bool ctf_packet_is(const uint8_t *data, size_t n);

/* Share the last packets of all streams between the inputs. NULL: out of memory. */
struct ctf_flows *ctf_flows_join(struct ctf_flows **shared);
void ctf_flows_leave(struct ctf_flows **shared);

/* Set stateless of the streams of a trace. */
void ctf_skip_prepare(struct ctf_trace *t);
/* Find the beginning of the last packet, as struct decoder's late. */
bool ctf_skip_late(struct input *in, uint64_t *latest);

/* --- rows --- */

/* Declare the lane of a thread, as far as the thread is known; NULL: it is not. */
uint32_t ctf_lane(struct ctf_file *f, const struct ctf_thread *t);

static inline uint64_t ctf_spot(const uint8_t *fixed, struct ctf_spot s)
{
	return get_uint(fixed + s.at, s.size, false);
}

#endif
