/*
 * uftrace.h - a uftrace data directory being decoded: what its files share
 *
 * The events of a directory have many sources in order of time: one file per task, one of
 * scheduling per CPU, external data. Each is a struct lane_reader; the earliest runs, at
 * equal times by rank (tasks in the order of info, then the kernel, perf, external data, as in
 * uftrace).
 */
#ifndef TR_TRDECODE_UFTRACE_H
#define TR_TRDECODE_UFTRACE_H

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/uftrace_args.h"
#include "cmd/trdecode/uftrace_session.h"
#include "common/util/heap.h"
#include "common/util/intern.h"
#include "common/util/lines.h"

struct uftrace;

/* One source of events. */
struct lane_reader {
	struct heap_item due; /* first: time of its next event, unshifted; UINT64_MAX none */
	bool task;	      /* the reader is a struct task_reader */
	uint32_t rank;	      /* due.rank of its events, except of uftrace_inner_due */
	/* Write the next event (and the gaps beside it), and set due.time. Returns 0, or -1 if
	 * the writer failed. */
	int (*run)(struct uftrace *u, struct lane_reader *r);
};

struct task_reader {
	struct lane_reader base;
	int32_t tid;
	const struct uftrace_task *task; /* NULL: not in task.txt */
	uint32_t lane;			 /* id of the writer */
	struct row_bits bits;		 /* of its rows in the present block */
	struct file_window file;
	char *member;
	uint64_t last;			 /* time of the last record, 0: none */
	uint64_t checked;		 /* 1 + offset of the record whose time was checked */
	uint64_t context_until;		 /* session and epoch are valid before this time */
	const struct uftrace_sess *sess; /* NULL: unknown */
	struct uftrace_session *session; /* of sess */
	uint32_t epoch;
	uint32_t context; /* number of (sess, epoch) in the cache of locations; 0: none yet */
	uint32_t depth;	  /* of the stack, where depths beyond 1023 are repaired */
	uint32_t sched_location; /* location of the open sched-out, 0: none */
	bool open;		 /* has a file */
	bool depth_known;
	bool started; /* its first call was written */
	bool skipped; /* the events before the first wanted time were skipped */
	bool stale;   /* base.due.time is unknown: task_look_ahead finds it */
};

/* ns. A record so long after the previous one is checked: its time may be damaged. */
#define TASK_JUMP (3600ull * 1000000000)

struct perf_reader {
	struct lane_reader base;
	struct file_window file;
	char *member;
	uint32_t cpu;
	uint64_t last, checked; /* as in struct task_reader */
};

enum { LOCATIONS_LEAST = 1024 };

/* A directory that is decoded. */
struct uftrace {
	struct input *input;
	struct writer *w;
	struct uftrace_info info;
	struct uftrace_tasks *tasks;
	struct uftrace_sessions *sessions;
	struct uftrace_args *args;
	bool info_usable, tasks_read;

	uint32_t nreaders;
	struct heap heap;		  /* readers that have an event */
	bool tasks_dropped;		  /* tasks that are not wanted were dropped */
	struct task_reader *task_readers; /* in the order of info */
	size_t ntasks;
	struct idmap by_tid; /* 1 + index in task_readers */
	struct perf_reader *perf;
	size_t nperf;
	/* the lines of extern.dat */
	struct {
		struct lane_reader base;
		char *data;
		struct lines lines;
		char *text;    /* of the next event */
		uint32_t type; /* of the events; 0: not declared */
	} external;
	struct kernel *kernel; /* NULL: there are no data of the kernel */
	uint32_t last_lane;    /* of the last event: external data belong to it */

	/* Ids that the writer gave. */
	struct {
		uint32_t source, clock;
		uint32_t *spaces; /* by session */
		size_t nspaces;
		uint32_t entry, entry_values, leave, leave_values, sched_out, sched_in, task_new,
			task_exit, task_name, sched_location, preempt_location;
	} ids;
	/* The types of EVENT records. */
	struct {
		struct key_map names;	  /* 1 + offset in text, by id */
		struct idmap declared[3]; /* types by enum variant and id */
		uint32_t ndeclared;
		char *text; /* events.txt, cut into names */
	} events;
	struct buffer tail; /* values of a row */
	/* Specs of payloads, by 2 * location + leave; NULL: not looked up, or none. */
	const struct uftrace_spec_list **specs;
	size_t nspecs;
	/* Locations by (address, context): a table of mask + 1 slots, at first LOCATIONS_LEAST. */
	struct {
		struct location_cached {
			uint64_t address;
			uint32_t context, location; /* location 0: free */
		} * slot;
		uint32_t mask, count;
	} locations;
	struct key_map contexts; /* numbers from 1, by session (the last: none) << 32 | epoch */
	uint64_t shift;
};

static inline uint64_t shifted(const struct uftrace *u, uint64_t time)
{
	return merge_shifted(time, (int64_t)u->shift);
}

/* Report damage of a file of the directory. */
void uftrace_damage(struct uftrace *u, const char *member, uint64_t offset, const char *what);

/* Get the location of an address for a task at its present session and epoch; 0: out of
 * memory. */
uint32_t uftrace_add_location(struct uftrace *u, const struct task_reader *t, uint64_t address);
/* Get the location of a function of the kernel; 0: out of memory. */
uint32_t uftrace_kernel_location(struct uftrace *u, uint32_t space, uint64_t address);
/* Give the task that comm, in a new lane, from now on. */
int uftrace_rename(struct uftrace *u, struct task_reader *t, const char *comm, size_t n);
struct task_reader *uftrace_task_of(struct uftrace *u, int32_t tid);

/* The files of the kernel, of perf and of other programs in the directory. */
int uftrace_perf_begin(struct uftrace *u, struct error *e);
void uftrace_perf_close(struct uftrace *u);
/* One reader for each CPU's file. */
int uftrace_kernel_begin(struct uftrace *u, struct error *e);
size_t uftrace_kernel_nreaders(const struct uftrace *u);
struct lane_reader *uftrace_kernel_reader(struct uftrace *u, size_t i);
void uftrace_kernel_close(struct uftrace *u);
int uftrace_extern_begin(struct uftrace *u, struct error *e);

/* Declare the directory in the stream: its text files, tasks, and sessions with their modules. */
int uftrace_declare(struct uftrace *u, struct error *e);

#endif
