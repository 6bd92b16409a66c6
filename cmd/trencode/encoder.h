/*
 * encoder.h - what a target format is to trencode
 *
 * A new format is a new file and one line in main.c's table.
 */
#ifndef TR_TRENCODE_ENCODER_H
#define TR_TRENCODE_ENCODER_H

#include "cmd/trencode/apitrace/pack.h"
#include "common/cli/stage.h"
#include "common/util/text.h"

enum encoder_output {
	ENCODER_TEXT, /* bytes to standard output or -o FILE, allowed on a terminal */
	ENCODER_FILE, /* a binary file: not to a terminal */
	ENCODER_TREE, /* a directory -o DIR, or a tar of it to standard output */
};

/* What the command line said, for all encoders. */
struct encode_options {
	const char *fields; /* -f, NULL: the default ones */
	const char *output; /* -o, NULL: standard output */
	bool quiet;
	bool raw;     /* --raw: fields as recorded */
	bool ns;      /* --ns: times in full nanoseconds */
	bool ts_diff; /* --ts-diff: the time since the line before, beside each time */
	bool all_calls, thread_ids;  /* text of apitrace: its -v, its --thread-ids */
	bool plain_octal;	     /* and escapes that are right, not as apitrace has them */
	struct pack_choice compress; /* of a .trace or trace.dat */
	int file_version;	     /* of a trace.dat: 6, 7, 0: the source's */
	const char *blobs;	     /* directory for the blobs, NULL: none */
	bool drop;		     /* --unclosed=drop: calls without a return are left out */
	bool keep_times;	     /* --rebase=none: times as they stand in the trace */
	bool quote_numbers;	     /* --json-int64=string */
	bool no_header;		     /* csv, tsv */
	const char *columns;	     /* of rows, NULL: the usual ones */
	bool resynthesize;	     /* --resynthesize: nothing of the source but its events */
	uint64_t tick; /* --tick: ns that a tick of a trace without time is to be, 0: not said */
	int depth; /* -D: levels of nested calls that a text shows, 0: the source's usual limit */
};

/* One run of an encoder. */
struct encoding {
	const struct encoder *encoder;
	const struct encode_options *options;
	struct dictionary *dictionary;
	struct text *text;  /* ENCODER_TEXT: where to print */
	struct output *out; /* ENCODER_FILE: where to write */
	bool begun, events; /* the encoder was begun; has had events */
	void *state;	    /* the encoder's own */
};

struct encoder {
	const char *name, *purpose;
	const char *suffixes; /* of -o that mean it without -t, beside .NAME: ".a b*"; or NULL */
	enum encoder_output output;
	/* A trace of one system: what takes its place where the stream is of another one, or of
	   several; the output is the same. NULL: it takes all. */
	const struct encoder *conversion;
	bool holds_several; /* traces behind each other in one file stay so */
	bool needs_meta;    /* without META blocks of the source anew is the only way */
	bool report;	    /* ticks become ns before it has the event, where --tick says how */
	bool counts_calls;  /* encode.c says how many calls did not return, or were never entered */
	/* 0, or -1 with the error filled: the run ends with status 2. */
	int (*begin)(struct encoding *en, struct error *e);
	/* a segment begins; h->properties name the commands upstream; may be NULL */
	int (*head)(struct encoding *en, const struct head *h, struct error *e);
	int (*meta)(struct encoding *en, const struct meta *m, struct error *e); /* may be NULL */
	/* the events of a block, one by one, or, where block is not NULL, all of them */
	int (*event)(struct encoding *en, const struct event *ev, struct error *e);
	int (*block)(struct encoding *en, const struct block *b, struct error *e);
	int (*end)(struct encoding *en, struct error *e); /* the last event was seen */
	void (*free)(struct encoding *en);
	/* of an encoder in place of another: take what that one has had of META parts; may be NULL
	 */
	void (*take_over)(struct encoding *en, void *state);
};

extern const struct encoder encoder_text, encoder_uftrace, encoder_apitrace, encoder_lttng,
	encoder_folded, encoder_tracecmd, encoder_chrome, encoder_csv, encoder_tsv, encoder_ndjson,
	encoder_ctf, encoder_speedscope, encoder_callgrind, encoder_pprof, encoder_perfetto,
	encoder_parquet;
extern const struct encoder encoder_uftrace_convert, encoder_apitrace_convert,
	encoder_lttng_convert, encoder_tracecmd_convert;

/* Have all calls of the type's source numbers? Else a thread may have other calls beside. */
static inline bool encoder_all_numbered(const struct type *t)
{
	return t->source && !strcmp(t->source->format.text, "apitrace");
}

#endif
