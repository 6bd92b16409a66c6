/*
 * rewrite.h - the fields and arguments to be kept in rows: --keep, --drop, --scrub
 */
#ifndef TR_TRFILTER_REWRITE_H
#define TR_TRFILTER_REWRITE_H

#include <stdbool.h>

#include "common/cli/stage.h"
#include "common/expr/declared.h"
#include "common/stream/dictionary.h"
#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/hash.h"

struct projected;

struct projection {
	bool keep; /* keep the named fields, else drop them */
	struct projected *named;
	size_t count; /* 0: keep all */
};

/* Parse a comma-separated list: names of fields, arg.N, fparg.N, arg.NAME, arg for all of them,
 * ret, backtrace. Returns 0, or -1 with e filled. */
int projection_parse(struct projection *p, const char *list, bool keep, struct error *e);

/* Refuse names that no event of the streams read has (declared_field), and warn of those that no
 * kept event had. all has no functions. Returns 0, or -1 with e filled. */
int projection_check(const struct projection *p, const struct declared *all, struct error *e);

/*
 * Replace names, paths and values by pseudonyms.
 *
 * A pseudonym is a keyed hash. A text has the same pseudonym everywhere and in every run with that
 * key. Without the key, the text cannot be found by trying candidates.
 */

enum scrub_what {
	SCRUB_NAMES = 1, /* names of functions and threads */
	SCRUB_ARGS = 2,	 /* values of arguments, texts in fields of events */
	SCRUB_PATHS = 4, /* paths of modules and source files */
};

/* an x and 12 hexadecimal digits: short enough for the name of a thread */
enum { PSEUDONYM = 13 };

struct scrub {
	unsigned what;
	struct siphash_key key;
};

/* Parse a comma-separated list: names, args, paths. Returns 0, or -1 with e filled. */
int scrub_parse(struct scrub *s, const char *list, struct error *e);
/* Make the key from a text, or for NULL a random one. */
int scrub_key(struct scrub *s, const char *text, struct error *e);

/* --- a type of event with fewer fields or other texts, and the rewriting of its rows --- */

enum field_change { CHANGE_NONE, CHANGE_TEXT, CHANGE_PATH, CHANGE_BYTES };

struct rewrite_layout {
	bool same;	  /* rows are unchanged */
	bool values;	  /* the tail is a list of values */
	bool texts;	  /* the tail is texts, each with NUL at its end */
	bool gap;	  /* a gap: keeps its numbers, loses file and message */
	struct type type; /* the new type, with fields of its own */
	struct field *fields;
	uint32_t *from;	 /* by field: its index in the old type */
	uint8_t *change; /* enum field_change */
	uint32_t tail;	 /* bytes of the tail before the parts of variable size */
};

/*
 * Rewrite a stream with fewer fields or with pseudonyms: --keep, --drop, --scrub.
 *
 * Runs between the selection and the output (struct stage_rewrite). Lanes, types and locations keep
 * their ids, so rows that lose nothing pass through unchanged. Strings get new ids and are sent
 * when an entry uses them: the same string may be a name to be scrubbed in one place and not in
 * another, and unused strings are not sent.
 */

struct rewrite {
	struct projection projection;
	struct scrub scrub;
	struct stage_rewrite hooks;
	const struct dictionary *dictionary;

	struct intern texts, sent; /* texts of the old and of the new stream */
	struct idmap ids;	   /* by id of a string in the segment: number in texts + 1 */
	uint32_t ids_segment;	   /* dictionary->segment that they are of */
	struct buffer segments;	   /* for each of sent: the segment that has it, u32 */
	uint32_t segment;
	struct buffer entry, out; /* entry being rewritten; entries to be sent */
	struct stage *stage;	  /* stage of the present call */

	struct rewrite_layout *layouts; /* by number of the type */
	size_t nlayouts;
	struct buffer fixed, tail;
	struct buffer left_out; /* names of META blocks, for one message */
	uint32_t nleft_out;
};

static inline bool rewrite_any(const struct rewrite *r)
{
	return r->projection.count || r->scrub.what;
}

/* Prepare r, which is zero but for projection and scrub. */
void rewrite_begin(struct rewrite *r, const struct dictionary *d);
/* Print what was left out. */
void rewrite_report(const struct rewrite *r, bool quiet);
void rewrite_free(struct rewrite *r);

#endif
