/*
 * perf.h - the decoder of perf.data: what its files share
 *
 * Each event that perf recorded is a type of kind SAMPLE, whose rows have the stack. Records of the
 * kernel about threads are INSTANTs. Mappings become MAPs. Records are read in the order of the
 * file, queued, and written in the order of their times (queue.h).
 *
 * Functions return 0, or -1 with the writer's error, or where they have e, with *e filled.
 */
#ifndef TR_TRDECODE_PERF_PERF_H
#define TR_TRDECODE_PERF_PERF_H

#include "cmd/trdecode/perf/deferred.h"
#include "cmd/trdecode/perf/maps.h"
#include "cmd/trdecode/perf/queue.h"
#include "cmd/trdecode/perf/record_files.h"
#include "cmd/trdecode/perf/threads.h"
#include "cmd/trdecode/perf/unwind.h"
#include "common/formats/perf.h"
#include "common/ftrace/events.h"
#include "common/ftrace/file.h"
#include "cmd/trdecode/decoder.h"

/* A counter that a sample of a group has read. */
struct perf_member {
	uint32_t attr;	 /* index of its event */
	uint32_t offset; /* of its field in the fixed part */
};

enum {
	PERF_MEMBERS = 32, /* counters of one group */
	PERF_BUILD_ID = 20,
	PERF_BUILD_ID_TEXT = 2 * PERF_BUILD_ID + 1,
};

/* An event: struct perf_event_attr, and its type in the stream. */
struct perf_attr {
	uint32_t kind, user_stack; /* kind: enum perf_attr_type or the number of a PMU */
	uint64_t config, period, sample_type, read_format, flags;
	uint64_t branch_type, user_regs, intr_regs;
	int32_t clock_id;
	char *name; /* as perf prints it; NULL: not known */
	struct ftrace_event *tracepoint;
	uint32_t type; /* id in the stream, 0: not yet declared */
	uint32_t fixed_size;
	struct perf_member *members; /* of the group that it leads */
	uint32_t nmembers;
	bool has_tail, has_ip; /* has_ip: the type has a field for the address, beside the stack */
	bool knows_members;    /* from a sample */
};

/* An id of an event on a CPU or thread, by which samples and counters are recognised. */
struct perf_id {
	uint64_t id;
	uint32_t attr; /* 1 + index, 0: the slot is free */
	uint64_t last; /* value of its counter when it was last read */
};

/* What is known of a trace as names and texts, for --info. */
struct perf_fact {
	const char *name;
	char *text;
	bool item; /* one of a list */
};

/* What is in a perf.data beside its records. */
struct perf_header {
	unsigned version; /* 1 or 2 */
	bool pipe, big_endian;
	uint64_t attr_size; /* of an attribute in the file, with its section of ids */
	uint64_t features[PERF_FEATURES / 64];
	struct perf_fact *facts;
	size_t nfacts, facts_capacity;
	char *arch;	       /* as of uname -m; NULL: not known */
	struct buffer formats; /* texts of the tracing data, which the formats of events point to */
	unsigned long_size;    /* of the recorded kernel: 4, 8; 0 not known */
	struct id_cache build_ids;    /* by path: 1 + index of its text */
	struct buffer build_id_texts; /* PERF_BUILD_ID_TEXT bytes each, with a NUL */
	bool has_clock_data;	      /* wall is known */
	bool in_directory;	      /* of perf record --threads: the samples are in other files */
	int64_t wall;		      /* ns to add to the times of the records */
};

enum { PERF_SIDE_TYPES = 24, PERF_THREAD_VALUES = 1 << 20 };

/* The values that inherited counters had in each thread when they were last read. */
struct perf_thread_counters {
	struct id_cache numbers; /* by id and thread: 1 + index of the value */
	uint64_t *values;
	size_t size;
	uint32_t count; /* at most PERF_THREAD_VALUES */
};

/* Counts that are reported at the end. */
struct perf_counts {
	uint64_t unknown_types, stat;
	uint64_t lost, lost_samples; /* by LOST; by the LOST_SAMPLES of perf record */
};

struct perf {
	struct input *input;
	struct writer *w;
	struct perf_header h;
	struct tracecmd_file file; /* if the file can be read at offsets */
	char *own_name;		   /* of the file of a directory; NULL: the input's is used */
	struct perf_files files;   /* have the records */
	struct perf_queue queue;
	struct perf_deferred deferred;
	bool ended; /* all records are queued */

	struct perf_attr *attrs;
	size_t nattrs, attrs_capacity;
	struct perf_id *ids; /* hash table */
	size_t nids, ids_size;
	int id_at, id_from_end; /* offset of the id in the body of a sample, and of the other
				   records before their end; -1: none */
	struct ftrace_events *events;

	uint32_t source, clock;
	struct perf_threads threads;
	struct perf_spaces spaces;
	struct perf_pending *pending;
	uint32_t side_types[PERF_SIDE_TYPES]; /* of side_records.c: types in the stream, 0: none */
	uint64_t time;			      /* of the last row, unshifted */
	uint64_t ticks;			      /* times of samples without a time */
	uint64_t read_time;		      /* of the record that was read last */
	struct perf_thread_counters thread_counters;
	struct perf_counts counts;
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
	uint64_t time, id;
	bool has_tid, has_time, has_cpu, has_id;
	size_t body; /* bytes between header and origin, of a record that is no sample */
};

/* header.c: read the header of a file, and its attributes and features. */
int perf_header_read(struct perf *p, struct error *e);
/* Take a record that a pipe has in place of the header's parts. */
int perf_header_record(struct perf *p, const struct perf_record *r, struct error *e);
void perf_header_free(struct perf_header *h);

/* attributes.c */
/* Add an attribute of size bytes, with n ids. */
int perf_attr_add(struct perf *p, const uint8_t *data, size_t size, const uint8_t *ids, size_t n);
int perf_id_add(struct perf *p, uint64_t id, uint32_t attr);
/* Find an id. NULL: there is none. */
struct perf_id *perf_id_find(const struct perf *p, uint64_t id);
/* Find where records have the ids of their events, and whether call chains are deferred. */
void perf_attrs_settle(struct perf *p);
/* Find the event of a record by its id; has_id: the record has one. NULL: there is none. */
struct perf_attr *perf_attr_of(struct perf *p, uint64_t id, bool has_id);
void perf_attrs_free(struct perf *p);

/* event_names.c: name the events that have no name. */
int perf_attrs_name(struct perf *p);

/* features.c: take a feature. Damage in it is reported. */
int perf_feature(struct perf *p, unsigned feature, const uint8_t *data, size_t n);
int perf_fact_add(struct perf *p, const char *name, const char *text, size_t n, bool item);
/* Take the build id of a file: a record with its header. */
int perf_build_id_record(struct perf *p, const uint8_t *data, size_t n);
/* Find the build id of a file by its path, in hexadecimal; NULL: not known. */
const char *perf_build_id_of(struct perf *p, const char *path, size_t n);
/* Write a build id of n bytes as text. */
void perf_build_id_text(const uint8_t *id, size_t n, char text[PERF_BUILD_ID_TEXT]);

/* tracing_data.c: read the formats of the kernel's events. */
int perf_tracing_data(struct perf *p, const uint8_t *data, size_t n);

/* sample_types.c: declare the types of the events. Until a sample shows the members of a group,
 * they are the events after the leader that take no samples. */
int perf_declare_attr(struct perf *p, struct perf_attr *a);
int perf_declare(struct perf *p);

/* sample_rows.c: samples whose rows are not yet written. NULL: out of memory. */
struct perf_pending *perf_pending_new(void);
void perf_pending_free(struct perf_pending *q);
/* Write the row of a sample, at once or in perf_samples_flush. Its record is valid until then. */
int perf_sample(struct perf *p, const struct perf_record *r);
/* Write the rows of all samples so far, before other rows, and before what a sample depends on
 * changes. */
int perf_samples_flush(struct perf *p);

/* samples.c */
/* Read the time of a sample. Returns whether the sample has all parts up to its period. */
bool perf_sample_time(struct perf *p, const struct perf_record *r, uint64_t *time, bool *has_time);
/* Test whether a part of a sample's call chain is in a later record. */
bool perf_sample_is_deferred(struct perf *p, const struct perf_record *r, struct perf_deferral *d);

/* stacks.c */
/* A recorded call chain: n addresses, the innermost first. */
struct perf_chain {
	const uint8_t *addresses;
	uint64_t n;
	unsigned mode;	 /* enum perf_mode of the addresses before the first mark */
	uint32_t parent; /* stack of the callers */
};

/* Find the digest of a call chain that no frame of another stack calls, by which its stack may be
 * known (known_stacks.h). Returns false: it has none, or with *bad, out of memory. */
bool perf_chain_digest(struct perf *p, struct perf_process *process, const struct perf_chain *chain,
		       uint64_t *digest, bool *bad);
/* Return the stack of a call chain; 0: it is empty or damaged, or with *bad, out of memory. */
uint32_t perf_chain_stack(struct perf *p, struct perf_process *process,
			  const struct perf_chain *chain, bool *bad);
/* Return the stack of a thread's state; 0: none was recorded, or with *bad, out of memory. */
uint32_t perf_user_stack(struct perf *p, struct perf_process *process,
			 const struct perf_user_state *state, bool *bad);
/* Return the stack of the address at which a thread's state is; 0: it is not known. */
uint32_t perf_user_frame(struct perf *p, struct perf_process *process,
			 const struct perf_user_state *state, bool *bad);
/* Return the stack of one frame. */
uint32_t perf_frame_stack(struct perf *p, struct perf_process *process, uint64_t address,
			  unsigned mode, uint32_t parent, bool *bad);

/* side_records.c */
/* Read the origin at the end of a record that is no sample. */
void perf_record_origin(struct perf *p, const struct perf_record *r, struct perf_origin *o);
/* Take a record that is no sample: it changes threads and mappings, and becomes a row. */
int perf_side_record(struct perf *p, const struct perf_record *r);
/* Declare the types of records that the attributes announce. */
int perf_declare_records(struct perf *p);

/* task_records.c: take what a record changes. *t: the thread that it describes, NULL: none. */
int perf_apply(struct perf *p, const struct perf_record *r, const struct perf_origin *o,
	       struct perf_thread **t);

/* map_records.c: take a mapping of a file. body: bytes between the record's header and origin. */
int perf_apply_mmap(struct perf *p, const struct perf_record *r, size_t body);
/* Take a program of BPF, or other code that the kernel has made or freed. */
int perf_apply_ksymbol(struct perf *p, const struct perf_record *r, size_t body);

/* gaps.c */
/* Write the gap of a record for lost events, with a body of so many bytes. */
int perf_lost(struct perf *p, const struct perf_record *r, uint32_t lane, size_t body);
/* Take a LOST_SAMPLES that perf record wrote at its end, without a time: all samples that an event
 * has lost, most of which LOST has counted. Returns whether it is one. */
bool perf_lost_total(struct perf *p, const struct perf_record *r, const struct perf_origin *o);
/* Write the gap of the lost samples that LOST has not counted, after all rows. */
int perf_lost_rest(struct perf *p);
int perf_damage_gap(struct perf *p, const struct perf_record *r, const char *what);

/* Return the lane of an event of a thread. 0: out of memory. */
uint32_t perf_lane(struct perf *p, struct perf_thread *t, const struct perf_origin *o);

/* info.c */
int perf_info(struct input *in, struct trace_info *f, struct error *e);

#endif
