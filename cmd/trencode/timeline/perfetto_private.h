/*
 * perfetto_private.h - private to perfetto.c (events), perfetto_tracks.c (their tracks),
 * perfetto_annotations.c (their attributes) and perfetto_packets.c (packets and interned names)
 */
#ifndef TR_TRENCODE_TIMELINE_PERFETTO_PRIVATE_H
#define TR_TRENCODE_TIMELINE_PERFETTO_PRIVATE_H

#include "common/formats/perfetto.h"
#include "common/value/json_reader.h"
#include "common/protobuf/protobuf_writer.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/convert/location_names.h"
#include "cmd/trencode/timeline/flows.h"
#include "cmd/trencode/timeline/spill_journal.h"
#include "cmd/trencode/timeline/spans.h"
#include "cmd/trencode/timeline/tracks.h"

/* Kinds of names that are interned: numbers of fields of InternedData below this. */
enum { NAME_KINDS = INTERNED_SOURCE_LOCATION + 1 };

/* The tracks of a thread: number of the kind << 56 | thread << 16 | which. */
enum track_kind {
	OF_PROCESS = 1,
	OF_THREAD,
	OF_KERNEL,
	OF_BEFORE,  /* which: the level */
	OF_OVERLAP, /* which: the slot */
	OF_COUNTER, /* the number of the counter, instead of thread and which */
	OF_OTHER,   /* the number of the track, as of a counter */
	TRACK_KINDS,
};

struct perfetto_ftrace;

/* The uuids of tracks, by what identifies the track. */
struct track_uuids {
	struct intern keys;
	uint64_t *uuids; /* by number of the key */
	size_t capacity;
};

/* One run of the encoder. */
struct perfetto {
	struct spans spans;
	struct tracks tracks;
	struct location_names names;
	struct attributes attributes;
	struct flows flows;
	struct json_reader json;	      /* of an attribute */
	struct spill_journal held;	      /* with --unclosed=drop */
	struct buffer out, packet, part, bit; /* out: bytes to be written */
	struct buffer interned, kept, clean;
	uint8_t *known[NAME_KINDS]; /* by string: was sent */
	size_t nknown[NAME_KINDS];
	struct intern declared;	   /* child tracks */
	struct intern counters;	   /* thread, name, name of the value */
	struct track_uuids others; /* tracks with a name, and those of track_id */
	struct perfetto_samples *samples;
	uint64_t *slots; /* by thread: overlapping calls that are open */
	size_t nslots;
	struct perfetto_ftrace *ftrace;
	bool started, drop;
};

/* A function that returns int returns 0, or -1 with *e filled; without e, -1 when out of memory. */

/* perfetto_packets.c */

int perfetto_write_out(struct encoding *en, struct error *e);
int perfetto_begin_packet(struct perfetto *s, uint64_t time, unsigned flags);
/* Write the packet; if calls may be dropped, *token names it for spill_journal_revoke. */
int perfetto_put_packet(struct perfetto *s, uint64_t *token, struct error *e);
/* Write a packet of a bundle of ftrace events. derived: the events are in other packets, too. */
int perfetto_put_bundle(struct perfetto *s, bool derived, const struct buffer *message,
			struct error *e);
/* Write the first packet of the events: it clears the reader's state and describes the clock. */
int perfetto_put_first(struct perfetto *s, const struct event *ev, struct error *e);
/* Write the names that the next packet uses for the first time, as a packet. */
int perfetto_put_interned(struct perfetto *s, uint64_t time, struct error *e);
/* Intern a string of the dictionary, by its number, as a name of this kind. */
int perfetto_intern_name(struct perfetto *s, unsigned kind, uint32_t number);
/* Intern the source file and line of a location, by its number. */
int perfetto_intern_line(struct perfetto *s, uint32_t location,
			 const struct location_symbol *symbol);
/* Write s->part as the descriptor of a track. */
int perfetto_put_descriptor(struct perfetto *s, uint64_t time, struct error *e);
/* Append a text as a field. */
int perfetto_put_text(struct perfetto *s, struct buffer *to, uint32_t field, const void *p,
		      size_t n);

/* perfetto_annotations.c: append an attribute of s->kept to an event. */
int perfetto_put_annotation(struct perfetto *s, const struct attribute *item, struct buffer *event);

/* perfetto_tracks.c */

/* What identifies a track. */
struct track_of {
	enum track_kind kind;
	uint32_t thread, which; /* which: of several of a kind */
	const struct lane *lane;
	bool states; /* of the states of a track of Perfetto */
};

/* Get the track of a thread, or a track below it; a new track is declared. */
int perfetto_track(struct perfetto *s, const struct track_of *of, uint64_t time, uint64_t *uuid,
		   struct error *e);
/* Get the track_id of an asynchronous call that was read from Perfetto's format. */
bool perfetto_track_id(const struct event *ev, uint64_t *id);
/* Test for the type of such a call whose track_id is the uuid of its track. */
bool perfetto_has_own_track(const struct type *t);
/* Test for the type of such a call that is a state of its track. */
bool perfetto_is_state(const struct type *t);
/* Get the track of such a call. */
int perfetto_own_track(struct perfetto *s, const struct event *enter, uint64_t *uuid,
		       struct error *e);
int perfetto_span_track(struct perfetto *s, const struct span *span, uint8_t slot, uint64_t time,
			uint64_t *uuid, struct error *e);
/* Take the lowest slot that no open call of the thread has; apart: not 0, the thread's own track.
 */
int perfetto_take_slot(struct perfetto *s, uint32_t thread, bool apart, uint8_t *slot);
/* Test for an instant, counter or gap of no thread, process or CPU, which needs no track of one. */
bool perfetto_is_global(const struct event *ev);
/* Get the track of the counter of an event, by strings of the dictionary: its name and, if the
 * event has several values, the value's name; else 0. */
int perfetto_counter_track(struct perfetto *s, const struct event *ev, uint32_t name,
			   uint32_t value, uint64_t *uuid, struct error *e);

#endif
