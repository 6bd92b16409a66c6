/*
 * decoder.h - the interface between trdecode and the decoder of one trace format
 *
 * A decoder opens one input, declares what it needs with the writer, and then writes rows in the
 * order of their times whenever its run is called. A new format is a new file and one line in
 * formats.h (doc/adding-a-format.md).
 */
#ifndef TR_TRDECODE_DECODER_H
#define TR_TRDECODE_DECODER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/error.h"
#include "common/stream/writer.h"
#include "cmd/trdecode/bid.h"

enum clock_choice { CLOCK_DEFAULT, CLOCK_RAW, CLOCK_WALL };

/* What all decoders share. */
struct decoding {
	struct writer *writer;
	struct calls_writer *calls; /* NULL: the stream has one segment */
	bool inside;		    /* calls are open before the first row, or may be */
	enum clock_choice clock;
	bool quiet, verbose, strict;
	bool several;	      /* there are several inputs: their times must meet */
	bool times_only;      /* only the times of rows are used, and damage is not reported
				 (input.h) */
	int status;	      /* exit status for the damage found so far (program.h) */
	struct error failure; /* what ended the program; "" nothing */
	struct row_filter *row_filter; /* rows that are wanted; NULL: all */
	bool no_unwind;		       /* recorded memory of stacks is not unwound */
	const char *sysroot;	       /* where programs and libraries are; NULL: / */
	uint64_t max_value;	       /* bytes of one call's values (--max-value); 0: MAX_VALUE */
	const char *map;       /* of rows: what their columns are (--map); NULL: by their names */
	bool sort;	       /* of rows: all are sorted by time (--sort) */
	unsigned descriptors;  /* descriptors that decoders keep open, at most DESCRIPTORS_KEPT */
	bool ended;	       /* a signal ended the input that is decoded */
	struct input *running; /* the input whose rows are written; NULL: none */
	struct ctf_flows *ctf_flows; /* state shared by all CTF inputs; NULL: there are none */
	struct glprofile *profile;   /* of the replay of a trace of apitrace; NULL: none */
	bool profile_has_trace;	     /* the trace is an input, too */
	const struct input *shared;  /* what the decoder of another input reads; NULL: none */
};

/* Bytes of the largest value that the stream can have. */
enum { MAX_VALUE = 256 * 1024 * 1024 };

/*
 * Descriptors of files kept open; further files are opened for each read. With the descriptors of
 * the inputs and the standard ones the total is well below a limit of 64.
 */
enum { DESCRIPTORS_KEPT = 24 };

/* ns. No clock reaches this time: 146 years. A time at or beyond it is damage, and all other
 * times fit 64 bits after all shifts are added. */
#define TIME_LIMIT (1ull << 62)

/* One operand of the command line. */
struct input {
	const char *name; /* as the user gave it */
	const struct decoder *decoder;
	struct decoding *decoding;
	struct tree *tree;  /* of a directory or a tar; NULL otherwise */
	const char *member; /* the only file of the tree to read, directly in it; NULL: all */
	const char *format; /* the format that -f gives; NULL: none */
	int fd;		    /* of any other file; -1: none */
	struct decompress *packed; /* a compressed file: fd is the pipe of its content */
	uint8_t *head;		   /* bytes already read from fd */
	size_t head_size;
	int64_t shift;		/* ns to add to every time (--offset, --clock) */
	bool placed;		/* --offset relates its clock to the others */
	const char *shift_text; /* time of --offset, as the user wrote it; NULL: none */
	uint64_t next;		/* time of the next event, shifted; UINT64_MAX: no more */
	struct faults faults;	/* damage so far */
	/* the clock, once open: only inputs whose clocks can be related are merged */
	const char *clock_name;
	bool has_wall, ticks;
	bool row_order; /* the clock counts rows of this input, to keep their order */
	bool own_zero;	/* its times count from its own beginning, to which its wall time is exact:
			   those of several inputs meet as wall times only */
	int64_t wall;	/* ns to add to its own, unshifted times */
	/* of recordings of a host and its guests, whose times were converted to the host's clock */
	uint64_t trace_id, host_id; /* 0 none */
	bool on_host_clock;
	const uint64_t *guest_ids; /* of a host: the decoder's array, while it is open */
	size_t nguest_ids;
	char *path; /* path of the tree, where it is not name */
	/* The file of the operand. */
	struct {
		uint64_t device, inode; /* to recognise it */
		bool live; /* a pipe, a device, or a file of no size: it may never end */
	} file;
	void *state; /* the decoder's own */
};

/* What --info prints: a list of names and values. */
struct trace_info;
void fact_text(struct trace_info *f, const char *name, const char *value);
void fact_number(struct trace_info *f, const char *name, uint64_t value);
/* Add one of several values of a name, which follow each other; in JSON they are a list. */
void fact_item(struct trace_info *f, const char *name, const char *value);

struct decoder {
	const char *name;
	bool raw_clock; /* its times are not those that the recorder stored, except with --clock raw
			 */
	/* No event that run writes later is before in->next: the decoder sorts the events, or the
	 * recorder's clock cannot step back. false: the input is read to its end with --until
	 * (merge_run), and the decoder skips what row_filter_last shows to be later. */
	bool in_order;
	/* Compare the content of an input with the format. If in->member is set, bid for that
	 * file as a part of a trace in its directory: a file that is merely in the same
	 * directory is none. Two bytes of a magic number are not enough for a bid. */
	enum bid (*probe)(const struct input *in);
	/* Read the description of the trace, no events. Returns 0, or -1 with *e filled if the
	 * trace cannot be read at all. */
	int (*open)(struct input *in, struct error *e);
	/* Return a number that differs between inputs whose files have the same bytes
	 * (main.c). NULL: there is none. */
	uint64_t (*fingerprint)(const struct input *in);
	int (*info)(struct input *in, struct trace_info *f, struct error *e);
	/* Declare everything and set in->next. Calls merge_choose_clock once the clock is known.
	 * Of begin and run, an error without text is the writer's, or out of memory. */
	int (*begin)(struct input *in, struct error *e);
	/* Find a time near the end, shifted, at or after which there are events. Returns true if
	 * it is the time of the last event; 0 and false if nothing is known. Called after begin,
	 * before the first run. The time may be wrong where the trace is damaged. May be NULL. */
	bool (*late)(struct input *in, uint64_t *time);
	/* Write the events up to and including time until; set in->next. Returns 0, or -1 if the
	 * output failed or out of memory. Damage is not a failure: input_damage reports it. */
	int (*run)(struct input *in, uint64_t until, struct error *e);
	void (*close)(struct input *in);
};

/* Declare a type that no row may have, unless --type excludes it, and a location of such rows (0:
 * none). l, that of struct decoding, may be NULL. Returns 0, or -1 with writer.error filled. */
int row_filter_announce(struct row_filter *l, uint32_t type, uint32_t location);

/* Report that the input is damaged: print a line on stderr (only the first ones), and set END
 * and the exit status. */
void input_damage(struct input *in, const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Report that a file ends before its header says, which is no damage if a signal ended it. */
void input_short(struct input *in, const char *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
struct json_reader;
/* Begin to read an input as JSON. Returns 0, or -1 with *e filled and nothing to close. */
int input_open_json(struct input *in, struct json_reader *r, struct error *e);
/* Report damage from an error. */
void input_damage_error(struct input *in, const struct error *e);

#endif
