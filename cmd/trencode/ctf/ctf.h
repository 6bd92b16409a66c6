/*
 * ctf.h - write the Common Trace Format: metadata in TSDL (version 1.8) or JSON (2), and files of
 * packets
 *
 * ctf.c is the encoder, classes.c declares the classes of events, metadata.c writes the metadata,
 * stream.c writes packets.
 * Functions that return int return 0, or -1: with *e filled where they take it, else out of memory.
 */
#ifndef TR_TRENCODE_CTF_CTF_H
#define TR_TRENCODE_CTF_CTF_H

#include "cmd/trencode/convert/attributes.h"
#include "common/util/intern.h"
#include "cmd/trencode/convert/tree_output.h"

enum ctf_stream_class { CTF_OF_THREAD = 0, CTF_OF_CPU = 1, CTF_STREAM_CLASSES };

/* Of version 2: the begin of a fragment, and of a field class that is a structure. */
#define CTF_FRAGMENT  "\x1e{\"type\":\""
#define CTF_STRUCTURE "{\"type\":\"structure\",\"member-classes\":["

/* --- classes --- */

enum ctf_form { CTF_INTEGER, CTF_REAL, CTF_STRING };

/* How one field of a class is written. */
struct ctf_field {
	const struct field *field;
	uint8_t form, size; /* bytes of an INTEGER or REAL */
};

/* One class of events: a type of the stream, in files of one kind. */
struct ctf_class {
	uint32_t id;		  /* in the metadata */
	bool named;		  /* events have the name of a location */
	bool depth, call, values; /* events have a depth, a call number, values */
	bool message;		  /* of trace_printk(), see kernel_messages.h */
	struct ctf_field *fields;
	size_t nfields;
};

/* The classes declared so far. */
struct ctf_classes {
	bool json;		 /* version 2 */
	struct buffer text;	 /* declarations */
	struct buffer arguments; /* of each location that has some: a variable of env */
	uint8_t *locations;	 /* by number: 1 if in arguments */
	size_t nlocations, narguments;
	struct intern keys; /* type, kind of file, named: index in classes */
	struct ctf_class *classes;
	size_t count, capacity;
	uint32_t ids[CTF_STREAM_CLASSES]; /* the next id of each kind of file */
};

/* Return the class of an event, which is declared when it is new. NULL: out of memory. */
const struct ctf_class *ctf_class(struct ctf_classes *c, const struct event *ev,
				  enum ctf_stream_class stream);
/* Record the names of a location's arguments in the metadata, before its first event is written.
 * location 0: none. */
int ctf_location(struct ctf_classes *c, struct dictionary *d, uint32_t location);
/* Append a text in quotes, for both languages. Control characters become '?', as readers of TSDL
 * disagree on their escapes. */
int ctf_quoted(struct buffer *b, const char *p, size_t n);
/* Append the whole metadata, classes included. clock may be NULL. */
int ctf_metadata(const struct ctf_classes *c, const uint8_t uuid[16], const struct clock *clock,
		 const struct text_ref *source, struct buffer *to);
void ctf_classes_free(struct ctf_classes *c);

/* --- files of packets --- */

enum { CTF_PENDING_MOST = 4 << 20, CTF_PACKET = 64 * 1024 };

/* One file of packets, in which times never go back. */
struct ctf_file {
	uint32_t member;
	uint32_t next; /* next file of the same thread or CPU: index + 1; 0: none */
	uint8_t stream;
	int32_t cpu;
	struct buffer packet;	      /* the open packet with its header; empty: none is open */
	uint64_t first, last;	      /* times of the packet's begin and of its last event */
	uint64_t discarded, sequence; /* of the open packet, or of the next one */
};

/* All files of packets of a trace. */
struct ctf_files {
	struct tree_output tree;
	uint8_t uuid[16];
	struct ctf_file *files;
	size_t count, capacity;
	uint32_t *first; /* first file by key: index + 1; 0: none */
	size_t nfirst;
	size_t pending; /* bytes of all open packets */
};

/* Find or add a file of a thread or CPU for an event of this time. NULL: e is filled. */
struct ctf_file *ctf_file(struct ctf_files *f, uint32_t key, enum ctf_stream_class stream,
			  const struct lane *lane, uint64_t time, struct error *e);
/* End the open packet at a gap, and begin the next one there: the counters of the next packet
 * include what was lost. Readers compute a loss from the counters of two packets, so a file that
 * begins with a gap gets an empty packet before it. */
int ctf_file_lost(struct ctf_files *f, struct ctf_file *file, uint64_t time, uint64_t events,
		  uint64_t packets, struct error *e);
/* Begin an event: write its header to the packet. The caller appends the rest. */
int ctf_event_begin(struct ctf_files *f, struct ctf_file *file, uint32_t id, uint64_t time,
		    struct error *e);
/* End an event; grown: bytes that the caller appended. */
int ctf_event_end(struct ctf_files *f, struct ctf_file *file, size_t grown, struct error *e);
/* Write all open packets. */
int ctf_files_flush(struct ctf_files *f, struct error *e);
void ctf_files_free(struct ctf_files *f);

#endif
