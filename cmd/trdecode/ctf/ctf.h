/*
 * ctf.h - inside the decoder of CTF 1.8, the format of LTTng 2
 *
 * A trace is a directory with a file "metadata", which tells in a language of its own (TSDL,
 * ctf_metadata.h) how the packets of the other files are to be read (ctf_layout.h). An input may
 * hold several traces, as a session of LTTng does: one of the kernel, one of each user. Tracefiles
 * are read forward, packet by packet (ctf_file.c), what is told of an event is made ready once for
 * each of its kinds (ctf_class.c), and all files are merged by time (ctf.c).
 */
#ifndef TR_TRDECODE_CTF_CTF_H
#define TR_TRDECODE_CTF_CTF_H

#include "common/util/heap.h"
#include "common/util/idmap.h"
#include "common/util/id_cache.h"
#include "common/stream/value.h"
#include "cmd/trdecode/ctf/layout.h"
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input/window.h"

/* One movement of data from an event into its row. */
struct ctf_move {
	enum ctf_move_kind {
		MOVE_BYTES,  /* n bytes as they are */
		MOVE_NUMBER, /* of size bits, to n bytes */
		MOVE_STRING, /* to its NUL */
		MOVE_TEXT,   /* bytes, as many as slot says, or n where slot is 0 */
	} kind;
	uint8_t size;
	bool big, is_signed;
	uint32_t align; /* bits */
	uint32_t n;
	uint32_t to;   /* in the fixed part */
	uint32_t slot; /* MOVE_TEXT: of its length; MOVE_NUMBER: to be kept there; 0 none */
};

/* Where the row has what the decoder itself must know. */
struct ctf_spot {
	int32_t at;    /* in the fixed part, -1 it has not */
	uint32_t size; /* bytes */
};

/* What the decoder makes of an event besides a row. */
enum ctf_action {
	CTF_NO_ACTION,
	CTF_SWITCH,   /* sched_switch: comm, tid of the next thread */
	CTF_BIN_INFO, /* a file that the process has mapped: address, size, path */
};

#define CTF_NO_STRING UINT32_MAX

/* An event of a stream class, made ready. */
struct ctf_class {
	const struct ctf_event_class *declared;
	struct ctf_stream *stream;
	struct ctf_layout layout;
	bool usable;
	bool plain; /* all its data are numbers, texts and strings: moves do it; else values */
	struct ctf_move *moves;
	uint32_t nmoves;
	uint32_t fixed_size;
	uint32_t nstrings;
	uint32_t type, location; /* ids of the writer; type 0: not declared yet */
	enum type_kind kind;
	bool per_cpu, inner, of_kernel;	      /* TYPE_PER_CPU, TYPE_INNER, TYPE_KERNEL */
	bool numbered;			      /* TYPE_CALL_NUMBER, once number is known */
	struct ctf_spot tid, pid, ppid, comm; /* with plain */
	struct ctf_spot call;		      /* what tells the place of an enter or leave */
	enum ctf_call {
		CALL_NONE,
		CALL_NAMED,   /* the event's name tells it */
		CALL_ADDRESS, /* of a function */
		CALL_IRQ,
		CALL_SOFTIRQ,
		CALL_TEXT, /* its string "name" */
	} call_kind;
	enum ctf_action action;
	struct ctf_spot argument[2];
	uint32_t string;	       /* number of the string, of SWITCH, BIN_INFO and CALL_TEXT */
	uint32_t arguments;	       /* number of the string, of CALL_TEXT */
	uint32_t comm_string;	       /* of the comm, where it is one, + 1; 0 */
	struct ctf_spot depth, number; /* of CALL_TEXT */
	uint32_t *definitions;	       /* that values name */
	uint32_t ndefinitions;
	size_t definitions_capacity;
};

/* How the header of an event is laid out: most are one of a few. */
enum ctf_shape {
	SHAPE_ANY,
	SHAPE_COMPACT, /* LTTng: 5 bits id, 27 bits time; id 31: u32 id, u64 time */
	SHAPE_LARGE,   /* LTTng: u16 id, u32 time; id 65535: u32 id, u64 time */
	SHAPE_SIMPLE,  /* an id of whole bytes, u64 time */
};

/* What a row carries, in this order, after the fields of the packet's context. */
static const enum ctf_scope ctf_data_scopes[] = {SCOPE_STREAM_CONTEXT, SCOPE_EVENT_CONTEXT,
						 SCOPE_FIELDS};
enum { CTF_DATA_SCOPES = 3, CTF_FIELDS = 256 };

/* Is this member of a packet's context one that only the decoder needs? */
static inline bool ctf_is_own(const struct ctf_part *p)
{
	return p->role >= CTF_TIME_BEGIN && p->role <= CTF_SEQUENCE_NUMBER;
}

/* Does a context tell the thread with it? */
static inline bool ctf_is_thread(const struct ctf_part *p)
{
	return p->role >= CTF_TID && p->role <= CTF_COMM;
}

/* Who has an event or a packet, as far as it tells. */
struct ctf_thread {
	int32_t tid, pid, ppid; /* -1: unknown */
	uint8_t comm[32];
	size_t comm_size;
};

struct ctf_stream {
	const struct ctf_stream_class *declared;
	struct ctf_trace *trace;
	struct ctf_layout layout;
	enum ctf_shape shape;
	uint8_t id_size; /* SHAPE_SIMPLE: bytes */
	bool has_time;
	bool usable;
	bool stateless;		 /* nothing of its events is needed for what comes after them */
	bool cpu_alone;		 /* the CPU is all that the context of a packet tells of events */
	uint32_t carried;	 /* else: fields of that context that events have, as values */
	bool has_id;		 /* the header of an event tells its class */
	struct idmap ids;	 /* of events: number of the class + 1 */
	uint32_t nclasses, only; /* without has_id: classes, and where it is one its number + 1 */
	const struct ctf_clock *clock; /* NULL: none */
	uint8_t discarded_bits;	       /* of events_discarded */
	uint64_t frequency;
	int64_t offset_s, offset; /* of tick 0 since 1970, seconds and ticks, to be added */
};

struct ctf_cpu {
	int32_t cpu, tid; /* the thread that runs, -1 unknown */
	uint8_t comm[16];
	size_t comm_size;
};

struct ctf_trace {
	struct ctf *ctf;
	const char *prefix; /* of its members' names, with the '/' */
	char *own_prefix;
	struct ctf_metadata metadata;
	struct ctf_stream *streams;
	size_t nstreams;
	struct ctf_class *classes;
	size_t nclasses;
	bool kernel; /* threads follow from sched_switch */
	bool own;    /* trencode wrote it */
	uint32_t source;
	struct ctf_cpu *cpus;
	size_t ncpus, cpus_capacity;
};

struct ctf_file {
	struct heap_item next; /* shifted ns */
	struct ctf_trace *trace;
	const char *member;
	uint32_t buffer; /* the channel, a string of the writer */
	struct file_window window;
	struct buffer large; /* an event beyond the window */
	bool opened;

	/* the packet */
	struct ctf_stream *stream;
	struct ctf_cursor cursor;
	uint64_t packet;      /* offset in the file */
	uint64_t packet_size; /* bytes */
	uint64_t content;     /* bits: events end here */
	bool in_packet, cut;
	bool has_uuid;
	uint8_t uuid[16];		/* of the packets */
	uint32_t counted;		/* bits of the roles that the packet tells */
	uint64_t counters[CTF_CPU + 1]; /* by role, 0 those that it does not */
	bool survey;			/* only packets are looked at, no losses (ctf_skip_late) */
	bool fresh;			/* what was lost before the packet is not known yet */
	uint64_t lost; /* events before the packet, UINT64_MAX unknown: a gap to be written */
	uint64_t packets_lost;
	int32_t cpu;
	struct ctf_thread of_packet;
	struct buffer
		beginning;     /* the packet's header and context, of a stream that carries them */
	struct buffer context; /* what is carried, as details */
	bool has_context;      /* it was made for this packet */

	/* what comes next */
	bool done;
	struct ctf_class *class;
	uint64_t header, payload; /* positions of the event, and of its contexts and fields */
	uint64_t last_time;	  /* shifted ns, of the last event whose time could be */

	/* the lane used last, and whose it is */
	uint32_t lane;
	struct ctf_thread thread;
};

struct ctf {
	struct input *input;
	struct writer *w;
	struct ctf_trace *traces;
	size_t ntraces, traces_capacity;
	struct ctf_file *files;
	size_t nfiles;
	struct heap heap;
	bool raw;   /* times have no offset added */
	bool begun; /* rows may be written */
	bool context_left_out;
	uint64_t early;	       /* times below 0 */
	uint32_t clock;	       /* id of the writer */
	struct id_cache known; /* lanes, spaces and places that were declared */
	struct ctf_flows *flows;
	struct buffer fixed, tail;
};

/* --- ctf_class.c --- */

/* Make all streams and events of a trace ready. Those that cannot be are reported, and their events
 * are damage. -1 and e: memory. */
int ctf_classes_make(struct ctf_trace *t, struct error *e);
void ctf_classes_free(struct ctf_trace *t);
/* The class of an event, or NULL. */
struct ctf_class *ctf_class_of(struct ctf_stream *s, uint64_t id);
/* --- ctf_declare.c --- */

/* Declare the type of a class to the writer. -1: memory. */
int ctf_class_declare(struct ctf_class *c);

/* --- ctf_file.c --- */

/* Open, and stand before the first event. -1: memory, or output; e. */
int ctf_file_open(struct ctf_file *f, size_t window, bool keep, struct error *e);
void ctf_file_close(struct ctf_file *f);
/* Find the next event. -1 and e. */
int ctf_file_next(struct ctf_file *f, struct error *e);
/* The cursor's data begin at the byte of position `from`; have n bytes or what is left of the file.
 * -1 and e. */
int ctf_file_refill(struct ctf_file *f, uint64_t from, size_t n, struct error *e);
/* What was tried at position `from` ran out of bytes: have more. 1 there are more, 0 no, -1 and e.
 */
int ctf_file_more(struct ctf_file *f, uint64_t from, struct error *e);
/* ns of a clock's value, before the input's shift. false: no time can be that. */
bool ctf_file_own_time(const struct ctf_file *f, uint64_t value, uint64_t *ns);
/* The same, shifted. */
bool ctf_file_time(const struct ctf_file *f, uint64_t value, uint64_t *ns);
/* Report damage, and leave a gap. -1 and e: the output failed. */
int ctf_file_damage(struct ctf_file *f, uint64_t offset, const char *what, struct error *e);
/* The same at a position of the packet, the rest of which is lost. */
int ctf_file_abandon(struct ctf_file *f, uint64_t at, const char *what, struct error *e);

/* Find what was lost before the packet. -1 and e. */
int ctf_file_begun(struct ctf_file *f, struct error *e);

/* --- ctf_packet.c --- */

/* Do these first bytes of a file begin a packet, in either byte order? */
bool ctf_packet_is(const uint8_t *data, size_t n);

/* Stand behind the beginning of the next packet, or be done. -1 and e. */
int ctf_packet_next(struct ctf_file *f, struct error *e);

/* --- ctf_loss.c --- */

/* The last packets of all streams, shared by the inputs. NULL: out of memory. */
struct ctf_flows *ctf_flows_join(struct ctf_flows **shared);
void ctf_flows_leave(struct ctf_flows **shared);
/* Set what was lost before the packet that was begun; packets of a stream are to come in the order
 * of time. 1: the packet was read from another file, -1: memory. */
int ctf_loss_take(struct ctf_file *f);
/* The packet is passed over. -1: memory. */
int ctf_loss_pass(const struct ctf_file *f);

/* --- ctf_skip.c --- */

/* The packet that was begun, and which ends before all times that are wanted, can be passed over.
 */
bool ctf_skip_packet(const struct ctf_file *f);
/* Find stateless of the streams of a trace. */
void ctf_skip_prepare(struct ctf_trace *t);
/* struct decoder's late: the beginning of the last packet. */
bool ctf_skip_late(struct input *in, uint64_t *latest);

/* --- ctf_row.c --- */

/* Write the event that was found. -1 and e. */
int ctf_row(struct ctf_file *f, struct error *e);

/* --- ctf_calls.c --- */

/* What an event's name says of it: kind and call_kind, action. */
void ctf_calls_classify(struct ctf_class *c);
/* What an event of CALL_NAMED calls its call. */
const char *ctf_calls_name(const struct ctf_class *c);
/* The place of an enter or leave whose row has this fixed part and tail; 0 with memory out. */
uint32_t ctf_calls_location(struct ctf_class *c, const struct ctf_file *f, const uint8_t *fixed,
			    const struct buffer *tail);
/* String number n of a tail; NULL: there is none. */
const char *ctf_calls_string(const struct buffer *tail, uint32_t n, size_t *size);
/* What the event changes, once its row is written. -1: memory. */
int ctf_calls_after(struct ctf_class *c, struct ctf_file *f, const uint8_t *fixed,
		    const struct buffer *tail);
struct ctf_cpu *ctf_calls_cpu(struct ctf_trace *t, int32_t cpu);

/* --- ctf_lane.c --- */

/* The lane of a thread, as far as it is known. 0: memory. */
uint32_t ctf_lane(struct ctf_file *f, int32_t tid, int32_t pid, int32_t ppid, const uint8_t *comm,
		  size_t comm_size);

static inline uint64_t ctf_spot(const uint8_t *fixed, struct ctf_spot s)
{
	return get_uint(fixed + s.at, s.size, false);
}

#endif
