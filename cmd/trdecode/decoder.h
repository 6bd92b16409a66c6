/*
 * decoder.h - what a trace format is to trdecode
 *
 * A decoder opens one input, declares what it needs with the writer, and then writes rows in the
 * order of their times whenever main lets it run. A new format is a new file and one line in main's
 * table.
 */
#ifndef TR_TRDECODE_DECODER_H
#define TR_TRDECODE_DECODER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/error.h"
#include "common/util/text.h"
#include "common/stream/writer_rows.h"
#include "cmd/trdecode/input/row_filter.h"
#include "cmd/trdecode/input/tree.h"

enum clock_choice { CLOCK_DEFAULT, CLOCK_RAW, CLOCK_WALL };

/* What all decoders share. */
struct decoding {
	struct writer *writer;
	enum clock_choice clock;
	bool quiet, verbose, strict;
	bool times_only; /* of rows: nothing else matters, and damage is not reported (last_time.h)
			  */
	int status;	 /* of damage found so far, program.h */
	struct error failure;		 /* what ended the program; "" nothing */
	uint64_t lost;			 /* events that the recorders lost, in all segments */
	const struct row_filter *limits; /* what is wanted; NULL: all (limits.h) */
	uint64_t max_value;	     /* bytes of one call's values (--max-value); 0: MAX_VALUE */
	unsigned descriptors;	     /* that decoders keep open, of DESCRIPTORS_KEPT */
	struct ctf_flows *ctf_flows; /* what the inputs of CTF share; NULL: there is none */
};

/* The stream has no larger ones. */
enum { MAX_VALUE = 256 * 1024 * 1024 };

/*
 * Files are kept open only while they are few; beyond this each is opened for each read. With what
 * the inputs themselves and the standard ones take it is well below a limit of 64.
 */
enum { DESCRIPTORS_KEPT = 24 };

/* No clock gets here: 146 years in ns. A time at or beyond it is damage, and with all shifts added
 * every other time fits 64 bits. */
#define TIME_LIMIT (1ull << 62)

/* One operand of the command line. */
struct input {
	const char *name; /* as the user gave it */
	const struct decoder *decoder;
	struct decoding *decoding;
	struct tree *tree;  /* of a directory or a tar; NULL otherwise */
	const char *member; /* only this file of the tree, directly in it; NULL all */
	const char *format; /* that -f gives; NULL none */
	int fd;		    /* of any other file; -1 */
	uint8_t *head;	    /* bytes read from fd already */
	size_t head_size;
	int64_t shift;	     /* ns to add to every time (--offset, --clock) */
	bool placed;	     /* --offset says how its clock meets the others */
	bool shift_unit;     /* and its time had a unit */
	uint64_t next;	     /* time of the next event, shifted; UINT64_MAX: no more */
	uint64_t reported;   /* damage lines printed */
	uint64_t unreported; /* and left out */
	/* the clock, once open: inputs are merged only where clocks meet */
	const char *clock_name;
	bool has_wall, ticks;
	int64_t wall; /* ns to add to its own, unshifted times */
	/* recordings of a host and of its guests, whose times were brought to the host's clock */
	uint64_t trace_id, host_id; /* 0 none */
	bool on_host_clock;
	const uint64_t *guest_ids; /* of a host: the decoder's, while it is open */
	size_t nguest_ids;
	char *path;		/* of the tree, where it is not name */
	uint64_t device, inode; /* of the operand, to know it again */
	void *state;		/* the decoder's own */
};

/* What --info prints: a list of names and values. */
struct trace_info;
void fact_text(struct trace_info *f, const char *name, const char *value);
void fact_number(struct trace_info *f, const char *name, uint64_t value);
/* One of several of that name, which follow each other; in JSON they are a list. */
void fact_item(struct trace_info *f, const char *name, const char *value);

struct decoder {
	const char *name;
	/* Is this input of the format? By content only. With in->member: is that file a part of a
	   trace of the format, which its directory is? What merely stands beside is none. */
	bool (*probe)(const struct input *in);
	/* Read what describes the trace, no events. -1: not to be read at all. */
	int (*open)(struct input *in, struct error *e);
	/* What tells this input from another beside the bytes of its files (identity.h); NULL:
	   nothing. */
	uint64_t (*identity)(const struct input *in);
	int (*info)(struct input *in, struct trace_info *f, struct error *e);
	/* Declare everything and set in->next. Calls merge_choose_clock once the clock is known. */
	int (*begin)(struct input *in, struct error *e);
	/* NULL, or a time near the end, shifted: there are events at or after it. true: the last
	   one is at that time. Once begun, before its first run; 0 and false: not known. What it
	   says need not be right where the trace is damaged. */
	bool (*late)(struct input *in, uint64_t *time);
	/* Write the events up to and including time until; set in->next. -1: the output failed, or
	   out of memory. Damage is reported by input_damage, and is no failure. */
	int (*run)(struct input *in, uint64_t until, struct error *e);
	void (*close)(struct input *in);
};

extern const struct decoder decoder_stream, decoder_uftrace, decoder_tracecmd, decoder_apitrace,
	decoder_lttng, decoder_ctf, decoder_chrome;

/* The input is damaged: a line on stderr (the first few), and END and the exit status say so. */
void input_damage(struct input *in, const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same from an error. */
void input_damage_error(struct input *in, const struct error *e);

#endif
