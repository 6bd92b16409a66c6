/*
 * encoder.h - the interface of an encoder, which writes one target format
 *
 * A new format is a file and one line in formats.h (doc/adding-a-format.md). Functions return 0,
 * or -1 with *e filled; the run then ends with status 2.
 */
#ifndef TR_TRENCODE_ENCODER_H
#define TR_TRENCODE_ENCODER_H

#include "cmd/trencode/pack.h"
#include "common/calls/calls.h"
#include "common/cli/program.h"
#include "common/util/text.h"

struct clip;
struct head;
struct meta;

enum encoder_output {
	ENCODER_TEXT, /* bytes to standard output or -o FILE, allowed on a terminal */
	ENCODER_FILE, /* a binary file: not to a terminal */
	ENCODER_TREE, /* a directory -o DIR, or a tar of it to standard output */
};

/* What to do where a part of the source is missing that the format needs. */
#define WITHOUT_FIRST_SEGMENT                                                                      \
	"it is in the stream's first segment; use --resynthesize to write a trace without it"

/* Options of trace-cmd's plug-ins (--plugin-option) that differ from their defaults. */
enum plugin_option {
	PLUGIN_PARENT = 1,    /* ftrace:parent: the caller of a function */
	PLUGIN_NO_INDENT = 2, /* ftrace:indent=0: functions are not below their callers */
	PLUGIN_OFFSET = 4,    /* ftrace:offset: the offset in a function */
	PLUGIN_TAILPRINT = 8, /* fgraph:tailprint: the function that ends */
	PLUGIN_DEPTH = 16,    /* fgraph:depth: the depth of a call */
};

/* Options that are given or not. */
enum encode_flags {
	ENCODE_QUIET = 1,
	ENCODE_RAW = 2,		     /* --raw: fields as recorded */
	ENCODE_NO_PLUGINS = 4,	     /* --no-plugins: no texts of trace-cmd's plug-ins */
	ENCODE_PLUGINS_GIVEN = 8,    /* --plugin-option */
	ENCODE_NS = 16,		     /* --ns: times in full nanoseconds */
	ENCODE_TS_DIFF = 32,	     /* --ts-diff: after each time the difference to the time of the
					line before */
	ENCODE_ALL_CALLS = 64,	     /* text of apitrace: apitrace dump -v */
	ENCODE_THREAD_IDS = 128,     /* the same: --thread-ids */
	ENCODE_PLAIN_OCTAL = 256,    /* --octal: correct octal escapes, not those of apitrace */
	ENCODE_DROP = 512,	     /* --unclosed=drop: unfinished calls are left out */
	ENCODE_KEEP_TIMES = 1024,    /* --rebase=none: times as recorded */
	ENCODE_QUOTE_NUMBERS = 2048, /* --json-int64=string */
	ENCODE_NO_HEADER = 4096,     /* --no-header of csv and tsv */
	ENCODE_RESYNTHESIZE = 8192,  /* --resynthesize: of the source only its events are used */
	ENCODE_BY_TIME = 16384,	     /* --by-time of svg */
	ENCODE_GOES_ON = 32768,	     /* a worker: other segments follow, so no call is unfinished */
	ENCODE_WORKER = 65536,	     /* a worker, which does not know all events before */
};

/* What an encoder with report_counts reports at the end. */
struct encode_counts {
	struct calls_counts calls;
	uint64_t cut;		/* calls that ended without a leave */
	uint64_t dropped, deep; /* of struct attributes */
	bool unnamed;		/* of struct location_names */
};

/* The options of the command line that encoders use. */
struct encode_options {
	unsigned flags;		 /* sum of enum encode_flags */
	const char *output;	 /* -o, with --split of the present part; NULL: standard output */
	const struct clip *clip; /* --since, --until, --limit, --split: rows are left out; NULL: all
				    are written */
	uint8_t plugins;	 /* --plugin-option: sum of enum plugin_option */
	struct pack_choice compress; /* of a .trace or trace.dat */
	int file_version;  /* --file-version of a trace.dat: 6, 7; 0: the source's; of CTF: 1 (that
			      is 1.8), 2; 0: 1 */
	const char *blobs; /* --blobs: directory for the blobs, NULL: blobs are not written */
	const char *columns;   /* -c; NULL: the default columns */
	const char *table;     /* --table of parquet and arrow; NULL: the rows */
	const char *partition; /* --partition of parquet; NULL: one file */
	const char *title;     /* --title of svg; NULL: not given */
	const char *weight;    /* --weight of a profile; NULL: not given */
	const char *pair;      /* --pair of a profile; NULL: not given */
	const char *why;       /* --why of a timeline; NULL: not given */
	unsigned jobs;	       /* -j; 0: not given */
	/* of a worker: number of threads that were declared before the first rows */
	uint32_t threads_before;
	struct encode_counts *counts; /* a worker: they are set, not reported; else NULL */
	uint64_t tick; /* --tick: length of a tick of a trace without time, ns; 0: not given */
	int depth; /* -D: levels of nested calls that a text shows, 0: the default of the source */
};

/* One run of an encoder over one stream. */
struct encoding {
	const struct encoder *encoder;	     /* encoder_conversion: that of a conversion */
	const struct convert_target *target; /* of a conversion */
	const struct encode_options *options;
	struct dictionary *dictionary;
	struct text *text;  /* output of ENCODER_TEXT */
	struct output *out; /* output of ENCODER_FILE */
	bool early;	    /* for check: a limit ended the reading */
	bool begun, events; /* begin was called; events were read */
	int64_t wall;	    /* wall time of the first rows, ns since 1970; 0: not known */
	bool single;	    /* there is one input, so all sources are declared before its events */
	/* the run's call engine, of which begin may set data_size and the functions that it calls;
	   NULL: of the native encoder of a conversion, which has paired the calls */
	struct calls *calls;
	/* of a conversion, set by begin: the calls of rows that wait (convert.c); encode.c
	   opens calls in them, too (calls_restore) */
	struct calls *overlapping;
	/* of an encoder with counts_calls: what the event did, which calls has taken; any other
	   passes each event to calls itself, if it pairs calls */
	enum calls_result result;
	struct call call;
	void *state; /* the encoder's data */
};

struct convert_target;

/* One target format. */
struct encoder {
	const char *name, *purpose;
	const char *suffixes; /* suffixes of -o, besides .NAME, that choose the format: ".a b*"; or
				 NULL */
	enum encoder_output output;
	/* where the stream is not one trace of the format's own system, the conversion that writes
	   to this encoder (convert.h). NULL: this encoder writes every stream */
	const struct convert_target *conversion;
	const struct encoder *by_time; /* the encoder with --by-time; NULL: the option has no effect
					*/
	const struct encoder *partitioned; /* the encoder with --partition; NULL: there is none */
	bool holds_several; /* several traces, one after another, can be written to one file */
	bool needs_meta;    /* without META blocks of the source the trace must be converted */
	bool stateful; /* the trace has the threads of its events only where they change: a range of
			  time is converted */
	bool report;   /* with --tick, times of events are in ns, not in ticks */
	bool timeline; /* times are shown as ns: a remark says where they are ticks */
	bool needs_calls; /* a part of --split goes on until it has a call */
	bool drops;	  /* event is called for rows of KIND_DROP, too */
	bool deferred; /* it writes at the end: --split measures the events instead of the output */
	/* Report counts; NULL: the text of a stream is not that of its segments, one after another.
	   Else end observes ENCODE_GOES_ON, begin ENCODE_WORKER, and both encode_options.counts */
	void (*report_counts)(const struct encode_counts *c, unsigned flags);
	bool counts_calls; /* encode.c reports unfinished calls and leaves without an enter */
	/* check the options; writes nothing but text, which is held back until events are accepted
	 */
	int (*begin)(struct encoding *en, struct error *e);
	/* begin a segment; h->properties name the commands upstream; may be NULL */
	int (*head)(struct encoding *en, const struct head *h, struct error *e);
	int (*meta)(struct encoding *en, const struct meta *m, struct error *e); /* may be NULL */
	/* take one event; or, where block is not NULL, all events of a block */
	int (*event)(struct encoding *en, const struct event *ev, struct error *e);
	int (*block)(struct encoding *en, const struct block *b, struct error *e);
	int (*end)(struct encoding *en, struct error *e); /* after the last event */
	/* get about the bytes that are written so far, where these are not those of text or out;
	   may be NULL */
	uint64_t (*size)(const struct encoding *en);
	/* check the options by the declarations of the whole stream, after end; partial: some may
	   be missing; may be NULL */
	int (*check)(struct encoding *en, bool partial, struct error *e);
	void (*free)(struct encoding *en);
};

extern const struct convert_target uftrace_target, apitrace_target, lttng_target, tracecmd_target;

/* Test whether all calls of the type's source have numbers. */
static inline bool encoder_all_numbered(const struct type *t)
{
	return type_is_of(t, "apitrace");
}

#endif
