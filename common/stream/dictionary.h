/*
 * dictionary.h - the declarations of a stream: strings, clocks, sources, lanes, types, definitions,
 * address spaces with their mappings, locations and their symbols, stacks
 *
 * Ids of the encoded stream are valid for one segment. The dictionary gives every distinct entry a
 * number that is valid for the whole run, dense from 1 (0: none). So the same lane, type or
 * location in a later segment is the same object, and programs need not know of segments. Pointers
 * to entries are valid until dictionary_free.
 */
#ifndef TR_STREAM_DICTIONARY_H
#define TR_STREAM_DICTIONARY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/stream/stream.h"
#include "common/util/intern.h"

struct buffer;
struct error;

/*
 * The encoding of the entries of a DICT payload.
 *
 * The part that needs no dictionary: the content of each kind of entry, the step from one entry to
 * the next, and the table of their fields, which drives reading, declaring,
 * writing, filtering and copying. Entries name strings, sources, definitions and all else by ids.
 */

/* The content of the entries, by kind. */
struct clock_entry {
	uint32_t name, flags;
	int64_t wall;
};
struct source_entry {
	uint32_t format, name, word_size, big_endian;
};
struct lane_entry {
	uint32_t source, clock, buffer, comm, flags;
	int32_t cpu, tid, pid, ppid;
};
struct field_entry {
	uint32_t name, type_name;
	uint8_t kind, role, where;
	uint32_t offset, size, count, definition;
};
struct type_entry {
	uint32_t source, name, group, declaration;
	uint8_t kind, word_size;
	uint16_t flags;
	uint32_t fixed_size, native, nfields;
	const struct field_entry *fields;
	uint64_t weight; /* of a sample without ROLE_PERIOD; 0 is 1 */
};
struct member_entry {
	uint32_t name;
	uint64_t low, high; /* inclusive; they differ only in an ENUM */
};
struct definition_entry {
	uint32_t name;
	uint16_t kind, flags;
	uint32_t native, nmembers;
	const struct member_entry *members;
};
struct space_entry {
	uint32_t source, name;
	int32_t pid;
	uint32_t flags;
};
struct map_entry {
	uint32_t space, flags;
	uint64_t start, end, offset, time;
	uint32_t epoch, path, build_id, table;
};
struct location_entry {
	uint32_t space, epoch;
	uint64_t address;
	uint32_t name;
	uint32_t arguments; /* definition of kind STRUCT: names of the arguments */
};
struct thread_entry {
	uint32_t lane, flags; /* enum thread_flags */
	uint64_t last;	      /* time of the thread's last event */
	uint64_t since;	      /* time of its first enter or leave */
	uint32_t unseen;      /* calls that were open before that */
	uint32_t open;	      /* no call of this depth or deeper is open after its last event */
};
struct stack_entry {
	uint32_t parent; /* the stack of the caller, 0 none */
	uint32_t location;
};
struct symbol_entry {
	uint64_t start, size;
	uint32_t line, flags;
	const char *name, *module, *file; /* NULL is "" */
	uint32_t name_size, module_size, file_size;
};

/* What a string is the name of, for programs that hide names. */
enum entry_use {
	USE_PLAIN,
	USE_NAME,	 /* a function or a thread */
	USE_PATH,	 /* a file */
	USE_TITLE,	 /* a file, or what contains the name of a program */
	USE_BUILD_ID,	 /* identifies a file */
	USE_META,	 /* a META, which has names */
	USE_DECLARATION, /* a type: its text has the names of all fields */
	USE_DEFINITION,	 /* a definition, or a member, whose kind shows what the name is of */
};

/* A field of an entry: a number, or the id of another entry. */
struct entry_field {
	uint8_t at, width; /* in the payload: offset and bytes */
	uint8_t refers;	   /* enum entry_kind of the id; 0: a number */
	uint8_t use;	   /* of a string: enum entry_use */
	bool or_null;	   /* id 0 gives the dictionary's object a null pointer, not object 0 */
	uint8_t content;   /* offset in the structs above */
	uint8_t object;	   /* offset in the structs, ENTRY_NO_OBJECT: none */
};

enum { ENTRY_NO_OBJECT = UINT8_MAX };

/* The layout of an entry, or of a part that repeats after it: the fields of a type, the members of
 * a definition. */
struct entry_layout {
	uint8_t size; /* bytes without parts */
	uint8_t nfields;
	const struct entry_field *fields;
	const struct entry_layout *part; /* NULL: none */
	/* with parts, the number of them and the pointer to them */
	uint8_t count, content_count, content_parts, object_count, object_parts;
	uint8_t content_size, object_size; /* bytes of a part's structs */
};

extern const struct entry_layout entry_layouts[ENTRY_KINDS];

/* An encoded entry in a payload. */
struct raw_entry {
	uint32_t kind; /* enum entry_kind, or one of a later version */
	uint32_t id, size;
	const uint8_t *data;
};

/* Get the entry at *at, and move *at after it; *at starts at 0. Returns 1; 0: no more entries;
 * -1: the entry claims to be longer than the rest of the payload. */
int entry_next(const uint8_t *payload, size_t n, size_t *at, struct raw_entry *e);

/* Get the ids of the entries of one kind, one per call; *at starts at 0. */
bool entry_next_of(enum entry_kind kind, const uint8_t *payload, size_t n, size_t *at,
		   uint32_t *id);

/* Append an entry of n bytes, or of a content. 0, or -1 when out of memory. */
int entry_append(struct buffer *b, enum entry_kind kind, uint32_t id, const void *data, size_t n);
int entry_append_content(struct buffer *b, enum entry_kind kind, uint32_t id, const void *content);

/* Encode the content of an entry without its parts, and decode it. p: size bytes of the layout. */
void entry_put(const struct entry_layout *l, uint8_t *p, const void *content);
void entry_get(const struct entry_layout *l, const uint8_t *p, void *content);
/* Append the encoded content of an entry: without a SYMBOL's texts. 0, or -1 when out of memory. */
int entry_encode(struct buffer *b, enum entry_kind kind, const void *content);

/* Encode a SYMBOL with its texts, of at most 64 KiB each, as the buffer's content. 0, or not. */
int entry_symbol(struct buffer *b, const struct symbol_entry *symbol);

/* Get the number of parts of an entry of at least the layout's size, and the offset of a part.
 * UINT32_MAX: more parts than bytes. */
uint32_t entry_parts(const struct entry_layout *l, const uint8_t *p, size_t size);
static inline size_t entry_part(const struct entry_layout *l, uint32_t i)
{
	return l->size + (size_t)l->part->size * i;
}

/* Test whether an entry has the bytes that its kind needs. Kinds of later versions have not. */
static inline bool entry_complete(const struct raw_entry *e)
{
	return e->kind && e->kind < ENTRY_KINDS && e->size >= entry_layouts[e->kind].size;
}

/* Replace LANE_STARTED and LANE_CPU_STARTED of an encoded lane. */
void entry_set_started(uint8_t *p, struct lane_entry *e, uint32_t started);

/* A text in the dictionary: followed by a NUL, may contain NULs. Equal numbers mean equal texts.
 * */
struct text_ref {
	const char *text; /* never NULL */
	uint32_t size;
	uint32_t number;
};

struct clock {
	uint32_t number;
	struct text_ref name;
	uint32_t flags; /* enum clock_flags */
	int64_t wall;	/* ns to add for wall time, with CLOCK_HAS_WALL */
	uint64_t tick;	/* length of a tick, ns; 0 unless the program sets one */
};

/* One input of trdecode. Each of several concatenated streams has its own sources. */
struct source {
	uint32_t number;
	struct text_ref format; /* name of the decoder, such as "uftrace" */
	struct text_ref name;	/* the input as the user named it */
	uint32_t word_size;	/* 4 or 8, 0 unknown */
	uint32_t big_endian;
	uint32_t stream; /* counts streams in this run from 1 */
	uint32_t id;	 /* in its stream */
};

/* The source buffer, CPU and thread of events. A thread with several lanes (CPUs, changed comm)
 * has one thread number. */
struct lane {
	uint32_t number;
	uint32_t flags; /* enum lane_flags, without LANE_STARTED and LANE_CPU_STARTED */
	const struct source *source;
	const struct clock *clock;
	struct text_ref buffer; /* ftrace instance, LTTng channel; "" is the only or top one */
	struct text_ref comm;
	int32_t cpu, tid, pid, ppid;
	uint32_t thread; /* thread number: of source and tid (tid 0: and CPU; or and pid), else of
			    the CPU */
	uint32_t
		cpu_thread; /* number common to the lanes of one source and CPU, for TYPE_PER_CPU */
};

struct member {
	struct text_ref name;
	uint64_t low, high; /* inclusive; signed in an ENUM without DEFINITION_UNSIGNED. Equal in
			       other kinds */
};

struct definition {
	uint32_t number;
	struct text_ref name;
	uint16_t kind, flags; /* enum definition_kind, definition_flags */
	uint32_t native;      /* the source's own id, 0 where it has none */
	uint32_t count;
	const struct member *members;
	struct labels *labels; /* index by number of an ENUM with many members; else NULL */
};

struct field {
	struct text_ref name;
	struct text_ref type_name;
	uint8_t kind, role, where;	     /* enum field_kind, field_role, field_where */
	uint32_t offset, size;		     /* bytes; size of one element */
	uint32_t count;			     /* elements; 0 and 1: a scalar */
	const struct definition *definition; /* may be NULL */
};

struct type {
	uint32_t number;
	struct text_ref name, group;
	struct text_ref declaration; /* as the source wrote it, may be "" */
	uint8_t kind;		     /* enum type_kind */
	uint16_t flags;		     /* enum type_flags */
	uint8_t word_size;
	uint32_t fixed_size;	     /* multiple of 4 */
	uint32_t native;	     /* the source's own id */
	const struct source *source; /* may be NULL */
	uint32_t nfields;
	const struct field *fields;
	uint64_t weight; /* of a sample; with period, of one without that field in its row */
	const struct field *period; /* the field with ROLE_PERIOD, or NULL */
	const struct field *total;  /* of a sample that is a sum of calls: ROLE_TOTAL, or NULL */
	const struct field *calls;  /* of a sample: the field with ROLE_COUNT, or NULL */
	bool has_stacks;	    /* some field has ROLE_STACK */
	bool used;		    /* a block of events has named it */
};

struct map {
	const struct space *space;
	uint64_t start, end; /* addresses [start, end) */
	uint64_t offset;     /* of start: enum map_flags, or against the table's addresses */
	uint64_t time;	     /* start of validity, ns; 0 always */
	uint32_t epoch;	     /* the first epoch of the space that has it */
	uint32_t flags;	     /* enum map_flags */
	struct text_ref path, build_id; /* build id in hexadecimal, "" unknown */
	struct text_ref table;		/* name of the META that holds its symbols, "" none */
};

struct space {
	uint32_t number;
	const struct source *source;
	struct text_ref name;
	int32_t pid;
	uint32_t flags; /* enum space_flags */
	struct map *maps;
	size_t nmaps, maps_capacity;
};

struct location_symbol {
	struct text_ref name, module, file;
	uint64_t start, size; /* address of the symbol in the space, size 0 unknown */
	uint32_t line;	      /* 0 unknown */
	uint32_t flags;	      /* enum symbol_flags */
};

struct location {
	uint32_t number;
	const struct space *space; /* may be NULL */
	uint64_t address;
	uint32_t epoch;
	struct text_ref name;		    /* of a named function; "" where there is an address */
	const struct definition *arguments; /* STRUCT: names of its arguments; NULL: not known */
	const struct location_symbol *symbol; /* NULL: none was declared */
};

/* A range of times, both ends included. */
struct time_span {
	uint64_t since, last;
};

/* Facts about a thread that are derived from rows left out of the stream. */
struct thread_facts {
	const struct lane *lane;   /* one of the thread's; NULL: nothing is known */
	uint64_t last;		   /* time of its last event; 0 unknown */
	uint64_t since;		   /* time of its first enter or leave */
	uint32_t unseen;	   /* calls that were open before that */
	bool left_out;		   /* rows of its calls are left out from here on */
	struct time_span *outside; /* with left_out: times at which no call was open; ascending */
	size_t noutside, outside_capacity;
	bool keeps_unseen; /* calls with neither an enter nor a leave count */
	bool has_open;
	uint32_t open; /* no call of this depth or deeper is open after the last event */
};

struct dictionary {
	struct intern strings, keys[ENTRY_KINDS], threads;
	struct idmap ids[ENTRY_KINDS];
	struct pool clocks, sources, lanes, types, definitions, spaces, locations, symbols;
	struct stack_table stacks;
	struct thread_facts *facts; /* by thread number */
	size_t nfacts;
	uint8_t *started; /* by thread number: whether a LANE has LANE_STARTED for that stack */
	size_t nstarted;
	bool less;		 /* rows of the present stream were left out on purpose */
	bool reduced;		 /* fields of its rows were taken out */
	uint32_t stream;	 /* how many streams began so far */
	uint32_t segment;	 /* how many segments */
	uint32_t symbol_changes; /* number of symbols that replaced another one of the same location
				  */
	bool redeclared; /* the last dictionary_read gave an id of this segment a new meaning */
	bool refused;	 /* it refused entries, which have no effect */
	struct buffer *scratch;
	struct buffer *taken; /* with refused: its payload without them */
	struct allocation *allocations;
};

int dictionary_init(struct dictionary *d);
void dictionary_free(struct dictionary *d);

/* Begin a segment: its ids are new. new_stream: sources and threads are new too. */
void dictionary_segment(struct dictionary *d, bool new_stream);

/* Forget the facts about threads of the present stream, where segments of it were not read. */
void dictionary_forget_threads(struct dictionary *d);

/* Read a DICT payload. -1: an entry is damaged, the first one at *where (bytes from the
 * payload's start), or out of memory; all other entries are read. d->taken has
 * the payload without the entries that were refused. */
int dictionary_read(struct dictionary *d, const uint8_t *payload, size_t n, size_t *where,
		    struct error *e);

/* Intern a text that is not of the stream, for programs' keys. */
struct text_ref dictionary_text(struct dictionary *d, const void *data, size_t n);

static inline struct text_ref dictionary_string(const struct dictionary *d, uint32_t number)
{
	return (struct text_ref){intern_data(&d->strings, number), intern_size(&d->strings, number),
				 number};
}

/* Get the facts about a thread by its number; NULL: none. */
static inline const struct thread_facts *dictionary_facts(const struct dictionary *d,
							  uint32_t thread)
{
	return thread < d->nfacts && d->facts[thread].lane ? &d->facts[thread] : NULL;
}

/* Test whether rows of a thread's or CPU's stack of calls are left out by now. */
static inline bool dictionary_left_out(const struct dictionary *d, uint32_t thread)
{
	return thread < d->nfacts && d->facts[thread].left_out;
}

/* Test whether the stack had a row with a depth in a segment before one that was read. */
static inline bool dictionary_started(const struct dictionary *d, uint32_t thread)
{
	return thread < d->nstarted && d->started[thread];
}

/* Find the number of the stack of a lane (per_cpu: of its CPU) by source, flags, cpu, tid and pid.
 * INTERN_NONE: the stack has no number yet. */
uint32_t dictionary_find_thread(const struct dictionary *d, const struct lane *l, bool per_cpu);

/* Test whether no left-out call of a stack was open at that time. */
bool dictionary_outside(const struct dictionary *d, uint32_t thread, uint64_t time);

/*
 * Get what identifies a thread, or a CPU (struct lane), in its stream: equal in all segments, and
 * in all programs. The first word is the id of the source. Returns the number of the stream.
 */
enum { THREAD_WORDS = 7 };
uint32_t dictionary_thread(const struct dictionary *d, uint32_t thread, uint32_t *words);

static inline const struct location *dictionary_location(const struct dictionary *d,
							 uint32_t number)
{
	return number ? pool_at(&d->locations, number) : NULL;
}

static inline const struct lane *dictionary_lane(const struct dictionary *d, uint32_t number)
{
	return number ? pool_at(&d->lanes, number) : NULL;
}

/* Add a type that no stream declares: a copy, with a number of its own. NULL: out of memory. */
struct type *dictionary_add_type(struct dictionary *d, const struct type *like);

/* Get the name of an enum type_kind. */
const char *type_kind_name(unsigned kind);

static inline const struct type *dictionary_type(const struct dictionary *d, uint32_t number)
{
	return number ? pool_at(&d->types, number) : NULL;
}

/* Get a type for a block of events, and note that it is used. */
static inline const struct type *dictionary_use_type(const struct dictionary *d, uint32_t number)
{
	struct type *t = pool_at(&d->types, number);

	t->used = true;
	return t;
}

static inline const struct definition *dictionary_definition(const struct dictionary *d,
							     uint32_t number)
{
	return number && number < d->definitions.count ? pool_at(&d->definitions, number) : NULL;
}

/* Get a definition by the id that values of the present segment use; NULL if there is none. */
static inline const struct definition *dictionary_definition_id(const struct dictionary *d,
								uint32_t id)
{
	return dictionary_definition(d, idmap_get(&d->ids[ENTRY_DEFINITION], id));
}

/*
 * Recorded stacks. A stack is its innermost frame and the stack of the caller:
 *
 *     for (; stack; stack = dictionary_stack_parent(d, stack))
 *             ... dictionary_stack_location(d, stack) ...
 *
 * walks from the innermost frame to the outermost one. The number of a caller's stack is below that
 * of the stack, so a walk ends, and programs can keep data of stacks in arrays by number.
 */
static inline uint32_t dictionary_stack_parent(const struct dictionary *d, uint32_t stack)
{
	return stack_table_at(&d->stacks, stack).parent;
}

/* Get the number of the location of the innermost frame; 0: not known, and of stack 0. */
static inline uint32_t dictionary_stack_location(const struct dictionary *d, uint32_t stack)
{
	return stack ? stack_table_at(&d->stacks, stack).location : 0;
}

/* Count the frames of a stack, at most STACK_FRAMES_MOST. */
static inline uint32_t dictionary_stack_frames(const struct dictionary *d, uint32_t stack)
{
	return stack ? stack_table_at(&d->stacks, stack).frames : 0;
}

/* Get the stack that is written for a stack: that of its outermost STACK_FRAMES + 1 frames
 * (stack_limit.h), of which the innermost one is written as STACK_DEEPER. */
static inline uint32_t dictionary_stack_limited(const struct dictionary *d, uint32_t stack)
{
	return stack ? stack_table_at(&d->stacks, stack).limited : 0;
}

/* Get the number of a stack by the id that fields with ROLE_STACK of the present segment have; 0:
 * none. */
static inline uint32_t dictionary_stack_id(const struct dictionary *d, uint32_t id)
{
	return idmap_get(&d->ids[ENTRY_STACK], id);
}

/* Get the name of an argument by its number from 1; NULL: the location, which may be NULL, has no
 * name for it. */
static inline const struct text_ref *location_argument(const struct location *p, uint64_t index)
{
	const struct definition *names = p ? p->arguments : NULL;
	const struct text_ref *name =
		names && index && index <= names->count ? &names->members[index - 1].name : NULL;

	return name && name->size ? name : NULL;
}

/* Test whether the type's source has that format. */
static inline bool type_is_of(const struct type *t, const char *format)
{
	return t->source && !strcmp(t->source->format.text, format);
}

/* Test whether the numbers of an ENUM are unsigned. Here and below d may be NULL: a definition
 * without members, whose numbers are signed. */
static inline bool definition_is_unsigned(const struct definition *d)
{
	return d && d->flags & DEFINITION_UNSIGNED;
}

/* Find the labels of a number, as field_get and value_integer give it: the first member, in the
 * order of declaration, whose range contains the number, and the next such member after m. NULL:
 * none. */
const struct member *definition_member(const struct definition *d, uint64_t number);
const struct member *definition_next_member(const struct definition *d, const struct member *m,
					    uint64_t number);

/* Get a location's human-readable name: its symbol, its own name, else its address as "<hex>" as
 * uftrace prints it. The location with number 0 is "<0>". The name is interned, so equal numbers
 * mean equal names. */
struct text_ref dictionary_location_name(struct dictionary *d, uint32_t location);
/* The same, not interned: an address is in the caller's buffer. */
enum { LOCATION_TEXT = 32 };
struct text_ref dictionary_location_text(const struct dictionary *d, uint32_t location,
					 char address[static LOCATION_TEXT]);

/*
 * Encodes objects of a dictionary as entries of DICT, for programs that declare them in another
 * stream.
 */

/* Get the id of a text, or of an object of the kind f->refers (may be NULL), that a field names. */
typedef uint32_t (*declare_id)(void *ctx, const struct entry_field *f, struct text_ref text,
			       const void *object);

/* Append the payload of an entry for an object of the dictionary, with the ids that id returns. 0,
 * or -1 when out of memory. */
int declare_encode(struct buffer *b, enum entry_kind kind, const void *object, declare_id id,
		   void *ctx);
/* Get the content of a SYMBOL; the texts are those of s. */
struct symbol_entry declare_symbol(const struct location_symbol *s);

#endif
