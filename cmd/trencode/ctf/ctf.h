/*
 * ctf.h - a trace of the Common Trace Format 1.8: metadata in TSDL, and files of packets
 *
 * ctf.c is the encoder, ctf_classes.c declares what the events are made of, ctf_stream.c writes
 * packets.
 */
#ifndef TR_TRENCODE_CTF_CTF_H
#define TR_TRENCODE_CTF_CTF_H

#include "cmd/trencode/convert/attributes.h"
#include "common/util/intern.h"
#include "cmd/trencode/convert/tree_output.h"

enum ctf_stream_class { CTF_OF_THREAD = 0, CTF_OF_CPU = 1, CTF_STREAM_CLASSES };

/* --- classes --- */

enum ctf_form { CTF_INTEGER, CTF_REAL, CTF_STRING };

struct ctf_field {
	const struct field *field;
	uint8_t form, size; /* bytes of an INTEGER or REAL */
};

/* An event's class: a type of the stream, in files of one kind. */
struct ctf_class {
	uint32_t id;		  /* in the metadata */
	bool named;		  /* has the name of a place */
	bool depth, call, values; /* call: its number */
	bool message;		  /* of trace_printk(), see kernel_messages.h */
	struct ctf_field *fields;
	size_t nfields;
};

struct ctf_classes {
	struct buffer text; /* their declarations */
	struct intern keys; /* type, kind of file, named: number in classes */
	struct ctf_class *classes;
	size_t count, capacity;
	uint32_t ids[CTF_STREAM_CLASSES];
};

/* The class of an event, declared when it is new. NULL: out of memory. */
const struct ctf_class *ctf_class(struct ctf_classes *c, const struct event *ev,
				  enum ctf_stream_class stream);
/* All of the metadata, classes included. clock may be NULL. */
int ctf_metadata(const struct ctf_classes *c, const uint8_t uuid[16], const struct clock *clock,
		 const struct text_ref *source, struct buffer *to);
void ctf_classes_free(struct ctf_classes *c);

/* --- files of packets --- */

enum { CTF_PENDING_MOST = 4 << 20, CTF_PACKET = 64 * 1024 };

/* A file, in which times never go back. */
struct ctf_file {
	uint32_t member;
	uint32_t next; /* of the same thread or CPU: index + 1, 0 none */
	uint8_t stream;
	int32_t cpu;
	struct buffer packet; /* with its header; empty: none begun */
	uint64_t first, last, discarded, sequence;
};

struct ctf_files {
	struct tree_output tree;
	uint8_t uuid[16];
	struct ctf_file *files;
	size_t count, capacity;
	uint32_t *first; /* by key: index + 1 */
	size_t nfirst;
	size_t pending; /* bytes of packets that are not yet written */
};

/* The file of a thread or CPU that can take an event of this time. NULL with e filled. */
struct ctf_file *ctf_file(struct ctf_files *f, uint32_t key, enum ctf_stream_class stream,
			  const struct lane *lane, uint64_t time, struct error *e);
/* Begin an event in its packet: the event's header is there, and what follows is to be appended. */
int ctf_event_begin(struct ctf_files *f, struct ctf_file *file, uint32_t id, uint64_t time,
		    struct error *e);
/* The event is complete; grown: bytes of it. */
int ctf_event_end(struct ctf_files *f, struct ctf_file *file, size_t grown, struct error *e);
int ctf_files_flush(struct ctf_files *f, struct error *e);
void ctf_files_free(struct ctf_files *f);

#endif
