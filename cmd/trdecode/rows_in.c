/*
 * rows_in.c - the decoders of tables: JSON lines, csv, tsv and Arrow, as trencode or other programs
 * write them
 *
 *     time,dur,tid,name          the events, in the order of their times:
 *     1000,50,7,read             1000 read {
 *     1010,20,7,lookup           1010   lookup {
 *     1040,,7,signal             1030   }
 *                                1040   signal
 *                                1050 }
 *
 * rows_table.c reads the rows. A row with a duration is a call, with a stack a sample, with a value
 * a counter, else an instant.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/formats.h"
#include "cmd/trdecode/frames.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/rows_table.h"
#include "cmd/trdecode/sorter.h"
#include "common/ftrace/kernel_names.h"
#include "common/stream/value.h"
#include "common/util/intern.h"

enum {
	IN_TYPES_MOST = 4096, /* types that have the names of their rows */
	IN_OVERLAPPING_MOST = 1 << 20,
	IN_FRAMES_MOST = 4096, /* open calls of a thread on a stack; others have numbers */
	IN_KEY_DEPTH = 13,     /* bits of a key for such a depth */
	IN_INSIDE_MS = 1000,   /* ms that calls wait for the row of the call around them */
};

/* ns: a first time of 30 years or more counts from 1970 */
#define IN_WALL (30ull * 365 * 86400 * IN_SECOND)

/* A row in the sorter. Its details follow, or the named values of a gap. */
struct in_record {
	union {
		uint64_t dur;	 /* of a call */
		uint64_t weight; /* of a sample */
	};
	uint64_t total, calls; /* of a sample */
	uint64_t serial;
	uint32_t thread, lane, kinds, stack; /* lane: number in rows_in.lanes, until the record is
						written; stack: of a sample that of its callers */
	uint32_t function, arguments;	     /* function: from 1; 0: no location */
	uint32_t enter_size;   /* bytes of the details of the enter; the rest is the leave's */
	uint16_t depth, error; /* error: returned, with a name; 0 none */
	uint8_t kind, nesting;
	bool unfinished : 1, has_depth : 1, in_args : 1;
	bool negative : 1, timed : 1; /* the weight; it is a time */
	bool has_total : 1, has_calls : 1;
};

/* Variants of the types of one name, group and kind. */
enum {
	IN_TAILED = 1,
	IN_NUMBERED = 2, /* of a sample: its weight may be negative; of others but calls: a stack */
	IN_DEEP = 4,	 /* of a sample: its weight is a time; of others but calls: args has the
			    stack, too */
	IN_TOTALLED = 8,
	IN_COUNTED = 16,
	IN_FAILED = 32,	     /* ret is an error, which has a name */
	IN_NESTING_ONE = 64, /* times the nesting of a call */
	IN_VARIANTS = IN_NESTING_ONE * IN_NESTINGS
};

/* A list of names of arguments, of functions with the same ones. New names are declared with those
 * before them; where that costs more than the rows themselves, a function begins another list. */
struct in_list {
	uint64_t declared, taken; /* names in its declarations, and in its rows */
};

/* Numbers of functions: that of the name, or of what else the function has. */
#define IN_FUNCTION_MORE (1u << 31)

enum { IN_DECLARED_MOST = 256, IN_DECLARED_TIMES = 4 }; /* names, and times those of the rows */

/* An open call of a thread. */
struct in_frame {
	uint64_t end, limit, serial; /* limit: the earliest end of it and those around it */
	uint32_t depth;		     /* as given */
	uint32_t level; /* calls on the stack below: others of less depth have no row */
	bool has_depth, unfinished, kernel; /* kernel: on the stack of such calls */
	uint8_t nesting;
	uint32_t number; /* of the call, on no stack; 0 on a stack */
	uint32_t lane, kinds, location, next;
	uint64_t heap_serial;
	uint8_t *values; /* details of the leave; owned */
	uint32_t size;
	uint16_t error;
};

struct in_stack {
	struct in_frame *frames;
	size_t depth, capacity;
};

struct in_thread {
	/* in the kernel: the calls on top of the thread's other calls, which may begin and end
	   while these are open */
	struct in_stack own, kernel;
	/* of the rows of trencode: number of the first row inside of the next call, by its depth */
	uint64_t *firsts;
	size_t nfirsts, firsts_capacity;
	uint64_t end;	 /* of the last call that was read */
	uint64_t latest; /* time of the latest row that was read, and of the latest return */
	/* of the calls without a return that are open at the end: the last end, at which the last
	   row of the source may be; a lane, 0 no such call; what they nest in */
	uint64_t last;
	uint32_t last_lane;
	uint8_t last_nesting;
	bool left_out; /* a THREAD declares that some of its calls have no row */
	bool inside;   /* the last call that was read is inside of one whose row follows */
	uint64_t left; /* time of the last row of a call that was written */
};

/* What was looked up last for a key: of 256, by a hash of the key. */
struct in_memo {
	uint64_t key[3];
	uint32_t numbers[2];
};

/* The state of decoding one input. */
struct rows_in {
	struct input *input;
	struct writer *w;
	struct rows_table table;
	bool ended;
	bool sorts; /* all rows are sorted */
	bool typed; /* a column is the type: a row without one has a type without a name */
	bool mixed; /* calls are not in the order of their ends, as trencode writes them */
	/* declared */
	struct argument_table arguments;
	struct intern functions; /* with more than a name: name, file, module, line */
	struct key_map listed;	 /* by function: its list */
	struct in_list *lists;	 /* of names of arguments: number - 1 */
	size_t nlists, lists_capacity;
	struct id_cache lanes;
	struct in_memo memos[256];
	struct intern kinds_known, threads_known;
	struct key_map types; /* by kinds, kind and variant */
	struct in_thread *threads;
	size_t nthreads, threads_capacity;
	struct kernel_names errors;
	uint32_t drops[2][IN_NESTINGS]; /* types, by frame.kernel */
	uint32_t source, clock, texts_stack, texts_unknown, texts_call, texts_row;
	/* in the order of times: rows from `from` on for a second, and those after it */
	struct sorter now, later;
	uint64_t from, floor, latest; /* all rows before floor are written; latest: time or end */
	/* the end of the last row; calls that wait and may be inside of one whose row follows: of
	   trencode, threads with such calls */
	uint64_t last_end, inside;
	uint64_t last_later; /* the latest time of a row in later */
	bool has_from, draining, has_pending;
	bool closes;   /* calls waited when the last row was read, which may be around them */
	bool next_end; /* the end of a call is written next */
	uint64_t now_rows, later_rows; /* rows in them that wait */
	struct sorter_key pending;     /* of the record in waiting */
	struct buffer waiting;
	uint64_t serial;
	struct complete_calls completes;
	struct in_frame *overlapping;
	size_t noverlapping, overlapping_capacity, overlapping_free;
	uint32_t calls;
	uint64_t crossing; /* calls with a depth that overlap others */
	uint64_t late;	   /* calls that came after calls inside of them were written */
};

/* --- a row becomes a record: what it names is declared --- */

/* Get two numbers as a part of a key. */
static uint64_t in_both(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

/* Test whether a name may be that of a type: of very many names, programs have groups, but not of
 * types. */
static bool in_has_type(const struct rows_in *r, uint32_t name)
{
	uint64_t key = in_both(name, table_row_text(&r->table.row, IN_GROUP));

	return r->kinds_known.count < IN_TYPES_MOST ||
	       intern_find(&r->kinds_known, &key, sizeof key) != INTERN_NONE;
}

/* Get the kind of a row that does not name one. */
static enum type_kind in_kind_of(const struct rows_in *r, const struct in_row *row)
{
	if (table_row_has(row, IN_DUR))
		return KIND_ENTER;
	if (table_row_has(row, IN_STACK)) {
		bool event = r->table.of_trencode && table_row_has(row, IN_TYPE) &&
			     !table_row_has(row, IN_WEIGHT);

		return event ? KIND_INSTANT : KIND_SAMPLE;
	}
	return table_row_has(row, IN_VALUE) ? KIND_COUNTER : KIND_INSTANT;
}

/* Set what the row is, and its name. */
static void in_set_kind_and_name(struct rows_in *r)
{
	struct in_row *row = &r->table.row;
	uint32_t *name = &row->texts[IN_NAME - IN_NAME], *type = &row->texts[IN_TYPE - IN_NAME];

	if (row->kind == KIND_COUNT)
		row->kind = (uint8_t)in_kind_of(r, row);
	if (row->kind == KIND_ENTER && !table_row_has(row, IN_DUR))
		row->kind = KIND_INSTANT;
	if (row->kind == KIND_SAMPLE && row->frame) {
		if (!*type)
			*type = *name;
		*name = row->frame;
	}
	if (!*name)
		*name = *type || r->typed ? *type : r->texts_row;
	if (!*type && !r->typed)
		*type = row->kind == KIND_ENTER ? r->texts_call
			: in_has_type(r, *name) ? *name
						: r->texts_row;
}

/* Find what was looked up for a key, whose last number says what it is of and is not 0. Returns
 * its place; *known: it is there. */
static struct in_memo *in_memo(struct rows_in *r, const uint64_t key[3], bool *known)
{
	uint64_t hash = key[0] * 0x9e3779b97f4a7c15u ^ key[1] * 0xbf58476d1ce4e5b9u ^
			key[2] * 0x94d049bb133111ebu;
	struct in_memo *m = &r->memos[hash >> 56];

	*known = m->key[0] == key[0] && m->key[1] == key[1] && m->key[2] == key[2];
	if (!*known)
		memcpy(m->key, key, sizeof m->key);
	return m;
}

/* Test whether the last list has the names of all values of the row. */
static bool in_last_list_fits(const struct rows_in *r)
{
	const uint8_t *p = r->table.values.data, *end = p + r->table.values.size;

	for (; r->nlists && p < end; p += 8 + get_u32(p + 4))
		if (!key_map_get(&r->arguments.pairs, (uint64_t)r->nlists << 32 | get_u32(p)))
			return false;
	return r->nlists;
}

/* Set the list of the names of a function's arguments; a function without any has none. */
static int in_record_list(struct rows_in *r, struct in_record *record)
{
	uint32_t n = r->table.row.nvalues, *list;
	struct in_list *l;

	if (!n)
		return 0;
	list = key_map_number(&r->listed, record->function);
	if (!list)
		return -1;
	if (!*list && in_last_list_fits(r))
		*list = (uint32_t)r->nlists;
	l = *list ? &r->lists[*list - 1] : NULL;
	if (!l || l->declared > IN_DECLARED_MOST + IN_DECLARED_TIMES * (l->taken + n)) {
		struct in_list next = {.taken = l ? l->taken : 0, .declared = l ? l->declared : 0};

		if (ARRAY_GROW(r->lists, r->lists_capacity, r->nlists))
			return -1;
		l = &r->lists[r->nlists++];
		*l = next;
		*list = (uint32_t)r->nlists;
	}
	l->taken += n;
	record->arguments = *list;
	return 0;
}

/* Set the function of the row, and the list of the names of its arguments. */
static int in_record_function(struct rows_in *r, struct in_record *record)
{
	uint32_t file = table_row_text(&r->table.row, IN_FILE),
		 name = table_row_text(&r->table.row, IN_NAME);
	uint32_t function[4] = {
		name, file, table_row_text(&r->table.row, IN_MODULE),
		file && table_row_has(&r->table.row, IN_LINE) ? (uint32_t)r->table.row.line : 0};
	uint32_t more;

	record->function = name;
	if (!name || function[1] || function[2]) {
		uint64_t key[3] = {in_both(name, file), in_both(function[2], function[3]), 1 << 16};
		bool known;
		struct in_memo *m = in_memo(r, key, &known);

		if (!known)
			m->numbers[0] = intern(&r->functions, function, sizeof function);
		more = m->numbers[0];
		record->function = IN_FUNCTION_MORE | more;
		if (more >= IN_FUNCTION_MORE)
			return -1;
	}
	return in_record_list(r, record);
}

/* Get the location of a record's function with all arguments that it has so far; 0: out of memory.
 * It is declared when the record is written: rows of the same second may have other arguments. */
static uint32_t in_location(struct rows_in *r, const struct in_record *record)
{
	struct named_frame frame = {.name = record->function};
	struct argument_names *names;
	uint32_t function[4], list = record->arguments;
	size_t declared;
	struct in_memo *m;
	bool known;

	if (record->function & IN_FUNCTION_MORE) {
		memcpy(function, intern_data(&r->functions, record->function & ~IN_FUNCTION_MORE),
		       sizeof function);
		frame = (struct named_frame){.name = function[0],
					     .file = function[1],
					     .module = function[2],
					     .line = function[3]};
	}
	/* rows without arguments have the location of those with some: it is the same function */
	if (!list)
		list = (uint32_t)key_map_get(&r->listed, record->function);
	if (!list)
		return frame_location(&r->table.locations, &frame);
	names = arguments_of(&r->arguments, list);
	if (!names)
		return 0;
	m = in_memo(r, (uint64_t[3]){in_both(record->function, list), names->count, 4 << 16},
		    &known);
	if (known)
		return m->numbers[0];
	/* of a list it is the definition */
	if (!names->location)
		names->location = arguments_struct(r->w, names->names, names->count);
	frame.arguments = names->location;
	declared = r->table.locations.count;
	m->numbers[0] = names->location ? frame_location(&r->table.locations, &frame) : 0;
	if (r->table.locations.count > declared)
		r->lists[list - 1].declared += names->count;
	return m->numbers[0];
}

/* Append to r->waiting what follows the record: details, or the named values of a gap. A call that
 * returns a value has the arguments before that value at its enter, and the others at its leave. */
static int in_convert_values(struct rows_in *r, struct in_record *record)
{
	struct argument_table *t = &r->arguments;
	uint32_t function = record->arguments;
	const uint8_t *values = r->table.values.data;
	uint32_t size = (uint32_t)r->table.values.size, at = size, n;
	struct buffer *to = &r->waiting;

	if (record->kind == KIND_GAP)
		return buffer_append(to, values, size);
	if (record->kind == KIND_ENTER && r->table.row.has_return)
		at = r->table.row.return_at;
	if (arguments_values(t, function, values, at, true, to))
		return -1;
	record->enter_size = (uint32_t)(to->size - sizeof *record);
	if (at == size)
		return 0;
	n = 8 + get_u32(values + at + 4);
	return value_put_detail(to, DETAIL_RETURN, 0) ||
			       buffer_append(to, values + at + 8, n - 8) ||
			       arguments_values(t, function, values + at + n, size - at - n, true,
						to)
		       ? -1
		       : 0;
}

/* Set the name and group of the row's type. */
static int in_record_kinds(struct rows_in *r, struct in_record *record)
{
	uint64_t key[3] = {in_both(table_row_text(&r->table.row, IN_TYPE),
				   table_row_text(&r->table.row, IN_GROUP)),
			   0, 2 << 16};
	bool known;
	struct in_memo *m = in_memo(r, key, &known);

	if (!known)
		m->numbers[0] = intern(&r->kinds_known, key, 8);
	record->kinds = m->numbers[0];
	return record->kinds == INTERN_NONE ? -1 : 0;
}

/* Set the lane and the thread of the row. */
static int in_place(struct rows_in *r, struct in_record *record)
{
	const struct in_row *row = &r->table.row;
	struct lane_entry lane = {
		.source = r->source,
		.clock = r->clock,
		.comm = table_row_text(&r->table.row, IN_COMM),
		.cpu = table_row_has(&r->table.row, IN_CPU) ? (int32_t)row->cpu : -1,
		.tid = table_row_has(&r->table.row, IN_TID) ? (int32_t)row->tid : -1,
		.pid = table_row_has(&r->table.row, IN_PID) ? (int32_t)row->pid : -1,
		.ppid = -1};
	struct {
		int32_t pid, tid, cpu;
	} key = {lane.pid, lane.tid, lane.tid > 0 ? -1 : lane.cpu};
	bool on_cpu = record->nesting == IN_OF_CPU;
	struct in_memo *m;
	bool known;

	lane.flags = (table_row_has(&r->table.row, IN_CPU) ? LANE_HAS_CPU : 0) |
		     (table_row_has(&r->table.row, IN_TID) ? LANE_HAS_TID : 0) |
		     (table_row_has(&r->table.row, IN_PID) ? LANE_HAS_PID : 0) |
		     (table_row_has(&r->table.row, IN_TID) && table_row_has(&r->table.row, IN_PID)
			      ? LANE_PROCESS_TID
			      : 0);
	m = in_memo(r,
		    (uint64_t[3]){in_both(lane.comm, (uint32_t)lane.pid),
				  in_both((uint32_t)lane.tid, (uint32_t)lane.cpu),
				  3 << 16 | on_cpu << 8 | lane.flags},
		    &known);
	if (!known) {
		if (on_cpu)
			key.pid = key.tid = INT32_MIN, key.cpu = lane.cpu;
		m->numbers[0] = intern(&r->lanes.keys, &lane, sizeof lane);
		m->numbers[1] = intern(&r->threads_known, &key, sizeof key);
	}
	record->lane = m->numbers[0];
	record->thread = m->numbers[1];
	if (record->lane == INTERN_NONE || record->thread == INTERN_NONE ||
	    ARRAY_REACH(r->threads, r->threads_capacity, record->thread))
		return -1;
	if (record->thread >= r->nthreads)
		r->nthreads = record->thread + 1;
	return 0;
}

/*
 * Get the order among rows of one time.
 *
 * A call of trencode is written at its end, after the calls inside of it. So the first row inside
 * of a call, by the depths, is before all rows of the calls after it, and a call is before its
 * first row. Elsewhere the longer call is before the shorter one.
 */
static int in_second_key(struct rows_in *r, const struct in_record *record, uint64_t time,
			 uint64_t *key)
{
	struct in_thread *t = &r->threads[record->thread];
	uint64_t first = record->serial;
	size_t depth = record->depth < IN_FRAMES_MOST ? record->depth : IN_FRAMES_MOST;

	if (record->kind == KIND_ENTER) {
		r->mixed |= time + record->dur < t->end && !record->unfinished;
		t->end = time + record->dur;
	}
	r->last_end = time + record->dur;
	if (record->kind != KIND_GAP) {
		uint64_t last = record->unfinished ? time : time + record->dur;

		t->latest = last > t->latest ? last : t->latest;
	}
	if (!r->table.of_trencode || r->mixed || record->kind != KIND_ENTER || !record->has_depth) {
		*key = !r->table.of_trencode	       ? UINT64_MAX - record->dur
		       : r->mixed && record->has_depth ? record->depth
						       : first << IN_KEY_DEPTH | IN_FRAMES_MOST;
		return 0;
	}
	for (; t->nfirsts > depth + 1; t->nfirsts--) {
		uint64_t inside = t->firsts[t->nfirsts - 1];

		if (inside && inside < first)
			first = inside;
	}
	if (ARRAY_REACH(t->firsts, t->firsts_capacity, depth))
		return -1;
	for (; t->nfirsts <= depth; t->nfirsts++)
		t->firsts[t->nfirsts] = 0;
	if (!t->firsts[depth])
		t->firsts[depth] = first;
	*key = first << IN_KEY_DEPTH | depth;
	return 0;
}

/* Note whether a call may be inside of one whose row follows. */
static void in_note_inside(struct rows_in *r, const struct in_record *record)
{
	struct in_thread *t = &r->threads[record->thread];

	r->closes = r->inside > 0;
	if (record->kind != KIND_ENTER || record->nesting == IN_OF_NONE)
		return;
	if (!r->table.of_trencode) {
		r->inside++;
		return;
	}
	r->inside -= t->inside;
	t->inside = record->depth > 0;
	r->inside += t->inside;
}

/* Set the stack of a record: of a sample that of its callers. */
static int in_record_stack(struct rows_in *r, struct in_record *record)
{
	if (record->kind == KIND_ENTER)
		return 0;
	if (record->kind != KIND_SAMPLE && r->table.row.frame && table_row_push_frame(&r->table))
		return -1;
	if (record->kind == KIND_SAMPLE ? record->function : r->table.row.frame)
		record->stack = r->table.row.stack;
	return 0;
}

/* Test for a row with a location: trencode writes <0> as the name of a call without one, and the
 * type's as the name of a sample without a stack. */
static bool in_has_location(const struct rows_in *r)
{
	const struct in_row *row = &r->table.row;
	uint32_t name = table_row_text(&r->table.row, IN_NAME);

	if (r->table.values.size || table_row_text(&r->table.row, IN_FILE))
		return true;
	if (row->kind == KIND_ENTER)
		return !r->table.of_trencode || name != r->texts_unknown;
	return name != table_row_text(&r->table.row, IN_TYPE) ||
	       (row->kind == KIND_SAMPLE && (!r->table.of_trencode || row->frame));
}

/* Declare a type of rows. 0: out of memory. */
static uint32_t in_declare_type(struct rows_in *r, uint32_t kinds, enum type_kind kind,
				unsigned variant)
{
	static const uint16_t nestings[IN_NESTINGS] = {
		[IN_OF_CPU] = TYPE_PER_CPU, [IN_OF_KERNEL] = TYPE_KERNEL, [IN_INNER] = TYPE_INNER};
	bool call = kind == KIND_ENTER || kind == KIND_LEAVE, sample = kind == KIND_SAMPLE;
	bool numbered = variant & IN_NUMBERED, deep = variant & IN_DEEP;
	uint32_t size = sample ? 8 : 4, n = 0;
	struct field_entry fields[4] = {0};
	struct type_entry type = {.source = r->source,
				  .kind = (uint8_t)kind,
				  .flags = (variant & IN_TAILED ? TYPE_TAIL | TYPE_VALUES : 0) |
					   (call && numbered ? TYPE_CALL_NUMBER : 0) |
					   (call && deep ? TYPE_DEPTH : 0) |
					   nestings[variant / IN_NESTING_ONE] |
					   (sample && deep ? TYPE_WEIGHT_TIME : 0),
				  .fields = fields};
	uint64_t key;

	/* without a name it is no field that programs print */
	if (sample || numbered)
		fields[n++] =
			(struct field_entry){.kind = sample && numbered ? FIELD_INT : FIELD_UINT,
					     .role = sample ? ROLE_PERIOD
						     : call ? ROLE_CALL
							    : ROLE_STACK,
					     .name = call || sample || deep ? 0 : r->texts_stack,
					     .size = size};
	if (variant & IN_TOTALLED)
		fields[n++] =
			(struct field_entry){.kind = FIELD_INT, .role = ROLE_TOTAL, .size = 8};
	if (variant & IN_COUNTED)
		fields[n++] =
			(struct field_entry){.kind = FIELD_UINT, .role = ROLE_COUNT, .size = 8};
	if (variant & IN_FAILED)
		fields[n++] = (struct field_entry){
			.kind = FIELD_INT,
			.name = r->table.texts_return,
			.size = 4,
			.definition = kernel_names_of(&r->errors, r->w, "sys_exit", 8, "ret", 3)};
	for (uint32_t i = 0; i < n; i++) {
		fields[i].offset = type.fixed_size;
		type.fixed_size += fields[i].size;
	}
	type.nfields = n;
	memcpy(&key, intern_data(&r->kinds_known, kinds), sizeof key);
	type.name = (uint32_t)(key >> 32);
	type.group = (uint32_t)key;
	return writer_type(r->w, &type);
}

/* Get the type of rows; 0: out of memory. */
static uint32_t in_type(struct rows_in *r, uint32_t kinds, enum type_kind kind, unsigned variant)
{
	uint32_t *id = key_map_number(
		&r->types, ((uint64_t)kinds * KIND_COUNT + kind) * IN_VARIANTS + variant);

	if (id && !*id)
		*id = in_declare_type(r, kinds, kind, variant);
	return id ? *id : 0;
}

/* Get the type of a sample with details of so many bytes. */
static uint32_t in_sample_type(struct rows_in *r, const struct in_record *record, size_t size)
{
	return in_type(
		r, record->kinds, KIND_SAMPLE,
		(size ? IN_TAILED : 0) | (record->negative ? IN_NUMBERED : 0) |
			(record->timed ? IN_DEEP : 0) | (record->has_total ? IN_TOTALLED : 0) |
			(record->has_calls ? IN_COUNTED : 0) | (record->error ? IN_FAILED : 0));
}

/* Declare the type of a sample before the first row: weights of different types are not added. */
static int in_announce(struct rows_in *r, const struct in_record *record)
{
	size_t known = r->types.count;
	uint32_t type = in_sample_type(r, record, r->waiting.size - sizeof *record);

	if (!type || r->types.count == known)
		return type ? 0 : -1;
	return row_filter_announce(r->input->decoding->row_filter, type, 0);
}

/* Put the row into r->waiting as a record, with its key. */
static int in_make_record(struct rows_in *r, struct sorter_key *key)
{
	const struct in_row *row = &r->table.row;
	struct in_record record = {0};

	in_set_kind_and_name(r);
	record.kind = row->kind;
	record.dur = row->dur;
	if (record.kind == KIND_SAMPLE)
		record.weight = table_row_has(row, IN_WEIGHT) ? row->weight : 1;
	record.total = row->total;
	record.calls = row->calls;
	record.has_total = table_row_has(row, IN_WEIGHT_TOTAL);
	record.has_calls = table_row_has(row, IN_WEIGHT_COUNT);
	/* the total is signed as the weight is */
	record.negative = row->negative || record.has_total;
	record.unfinished = row->unfinished;
	record.serial = ++r->serial;
	record.nesting = row->nesting;
	record.has_depth = table_row_has(row, IN_DEPTH) && record.nesting != IN_OF_NONE;
	record.depth = (uint16_t)row->depth;
	record.timed = row->timed;
	record.error = row->error;
	record.in_args = row->in_args || (r->table.of_trencode && table_row_has(row, IN_STACK) &&
					  table_column_of_role(&r->table, IN_ARGS));
	r->waiting.size = 0;
	if (in_record_function(r, &record) || buffer_zero(&r->waiting, sizeof record) ||
	    in_record_kinds(r, &record) || in_place(r, &record) || in_convert_values(r, &record))
		return -1;
	if (!in_has_location(r))
		record.function = 0;
	if (in_record_stack(r, &record))
		return -1;
	key->time = row->time;
	in_note_inside(r, &record);
	if (in_second_key(r, &record, key->time, &key->second))
		return -1;
	memcpy(r->waiting.data, &record, sizeof record);
	return r->sorts && record.kind == KIND_SAMPLE ? in_announce(r, &record) : 0;
}

/* --- rows in the order of their times --- */

/* Write a row of a call, an instant or a counter, with the time, location, depth and tail of *row,
 * which is filled. number: of the call, or the stack. */
static int in_write(struct rows_in *r, const struct in_record *record, struct new_row *row,
		    enum type_kind kind, uint32_t number)
{
	bool call = kind == KIND_ENTER || kind == KIND_LEAVE;
	bool stacked = call && !number;
	bool deep = call ? stacked && record->has_depth && record->nesting != IN_INNER
			 : number && record->in_args;
	bool failed = record->error && kind != KIND_ENTER;
	unsigned variant = (row->tail_size ? IN_TAILED : 0) | (number ? IN_NUMBERED : 0) |
			   (deep ? IN_DEEP : 0) | (failed ? IN_FAILED : 0) |
			   (stacked ? record->nesting * IN_NESTING_ONE : 0);
	struct buffer details = {.data = (uint8_t *)(uintptr_t)row->tail, .size = row->tail_size};
	uint32_t numbers = number ? 4 : 0;
	uint8_t fixed[8];

	put_u32(fixed, number);
	put_u32(fixed + numbers, failed ? -(uint32_t)record->error : number);
	row->time = merge_shifted(row->time, r->input->shift);
	row->type = in_type(r, record->kinds, kind, variant);
	row->lane = record->lane;
	row->fixed = fixed;
	row->fixed_size = numbers + (failed ? 4 : 0);
	row->has_tail = row->tail_size > 0;
	if (!row->type || (row->has_tail && r->table.objects.definitions &&
			   arguments_use_structs(r->w, &details)))
		return -1;
	if (!call && number && writer_use_stack(r->w, number))
		return -1;
	return writer_row_data(r->w, *row);
}

/* End a call without a return, which other calls of its thread follow. */
static int in_drop(struct rows_in *r, const struct in_frame *f, uint64_t time)
{
	uint32_t *type = &r->drops[f->kernel][f->nesting];
	uint32_t flags = (f->nesting == IN_INNER ? TYPE_INNER : TYPE_DEPTH) |
			 (f->nesting == IN_OF_CPU ? TYPE_PER_CPU : 0) |
			 (f->kernel ? TYPE_KERNEL : 0);

	if (!*type)
		*type = writer_type(r->w, &(struct type_entry){.kind = KIND_DROP, .flags = flags});
	return *type ? writer_row_data(
			       r->w, (struct new_row){.time = merge_shifted(time, r->input->shift),
						      .lane = f->lane,
						      .type = *type,
						      .depth = f->level})
		     : -1;
}

/* End a call: at its leave, or with the call around it. */
static int in_leave(struct rows_in *r, struct in_frame *f, uint64_t time)
{
	struct in_record record = {.lane = f->lane,
				   .kinds = f->kinds,
				   .has_depth = f->has_depth,
				   .nesting = f->nesting,
				   .error = f->error};
	int failed = 0;

	if (!f->unfinished)
		failed = in_write(r, &record,
				  &(struct new_row){.time = time,
						    .location = f->location,
						    .depth = f->has_depth ? f->level : 0,
						    .tail = f->values,
						    .tail_size = f->size},
				  KIND_LEAVE, f->number);
	else if (!f->has_depth && !f->number)
		failed = in_drop(r, f, time);
	free(f->values);
	f->values = NULL;
	return failed;
}

/* Get a frame that is on no stack. NULL: out of memory. */
static struct in_frame *in_free_frame(struct rows_in *r, uint32_t *index)
{
	struct in_frame *f;

	if (!r->overlapping_free) {
		if (ARRAY_GROW(r->overlapping, r->overlapping_capacity, r->noverlapping))
			return NULL;
		r->overlapping[r->noverlapping].next = 0;
		r->overlapping_free = (uint32_t)++r->noverlapping;
	}
	*index = r->overlapping_free - 1;
	f = &r->overlapping[*index];
	r->overlapping_free = f->next;
	*f = (struct in_frame){.number = ++r->calls};
	return f;
}

static struct in_stack *in_stack(struct in_thread *t, bool kernel)
{
	return kernel ? &t->kernel : &t->own;
}

/* Test for a call that cannot be on the stack of its thread. */
static bool in_overlaps(struct rows_in *r, const struct in_record *record,
			const struct complete_end *end)
{
	uint64_t time = end->time - record->dur;
	struct in_thread *t = &r->threads[record->thread];
	const struct in_stack *s = in_stack(t, end->kernel);
	const struct in_frame *top = s->depth ? &s->frames[s->depth - 1] : NULL;
	/* depths in the kernel are on top of those of the other calls, which may end before */
	bool deeper = top && (end->kernel || !record->has_depth || !top->has_depth ||
			      top->depth < record->depth);

	if (r->noverlapping == IN_OVERLAPPING_MOST && !r->overlapping_free)
		return false;
	if (record->nesting == IN_OF_NONE || s->depth == IN_FRAMES_MOST)
		return true;
	if (time < t->left) {
		r->late++;
		return true;
	}
	if (!top || (deeper && !complete_calls_overlap(&r->completes, end, top->limit, false)))
		return false;
	r->crossing += r->table.of_trencode && record->has_depth;
	return true;
}

/* End the calls without a return that have ended before a call begins. */
static int in_drop_ended(struct rows_in *r, struct in_stack *s, const struct in_record *record,
			 uint64_t time)
{
	while (s->depth && s->frames[s->depth - 1].unfinished) {
		struct in_frame *top = &s->frames[s->depth - 1];
		/* the enter itself ends a call of its depth */
		bool same = record->has_depth && top->has_depth && top->depth >= record->depth;

		if (top->end > time || (top->end == time && !same))
			break;
		if (!same && in_drop(r, top, time))
			return -1;
		free(top->values);
		s->depth--;
	}
	return 0;
}

/* Choose the stack of a call that begins. Programs ignore calls in the kernel, and those that are
 * scheduled out, without a call around them: a THREAD declares that these have no row. */
static int in_choose_stack(struct rows_in *r, const struct in_record *record, uint64_t time,
			   bool *kernel)
{
	struct in_thread *t = &r->threads[record->thread];
	struct thread_entry left_out = {.lane = record->lane, .flags = THREAD_LEFT_OUT};
	bool inner = record->nesting == IN_INNER;

	if (in_drop_ended(r, &t->own, record, time))
		return -1;
	*kernel = record->nesting == IN_OF_KERNEL || (inner && t->kernel.depth);
	if (*kernel && in_drop_ended(r, &t->kernel, record, time))
		return -1;
	if (t->left_out || t->own.depth || !(*kernel || inner))
		return 0;
	t->left_out = true;
	return writer_thread(r->w, &left_out);
}

/* Set the details of the leave. */
static int in_keep_values(struct in_frame *f, const uint8_t *values, uint32_t size)
{
	if (!size)
		return 0;
	f->size = size;
	f->values = malloc(size);
	if (!f->values)
		return -1;
	memcpy(f->values, values, size);
	return 0;
}

/* Write the enter of a call, and note its end. */
static int in_enter(struct rows_in *r, const struct in_record *record, uint32_t location,
		    uint64_t time, const uint8_t *details, uint32_t size)
{
	struct in_thread *t = &r->threads[record->thread];
	struct complete_end end = {.time = time + record->dur, .thread = record->thread};
	struct in_stack *s;
	uint64_t limit;
	struct in_frame *f;
	uint32_t number;

	if (in_choose_stack(r, record, time, &end.kernel))
		return -1;
	s = in_stack(t, end.kernel);
	/* of one time, ends are in the order of the rows of trencode, else in that of a stack */
	end.serial = r->table.of_trencode && !r->mixed ? UINT64_MAX - record->serial
						       : ++r->completes.serial;
	end.depth = (uint32_t)s->depth;
	limit = s->depth ? s->frames[s->depth - 1].limit : UINT64_MAX;
	end.overlaps = in_overlaps(r, record, &end);
	if (end.overlaps)
		f = in_free_frame(r, &end.depth);
	else
		f = ARRAY_GROW(s->frames, s->capacity, s->depth) ? NULL : &s->frames[s->depth++];
	if (!f)
		return -1;
	number = end.overlaps ? f->number : 0;
	if (!number)
		t->left = time;
	*f = (struct in_frame){.end = end.time,
			       .limit = end.time < limit ? end.time : limit,
			       .serial = record->serial,
			       .depth = record->depth,
			       .level = end.depth,
			       .has_depth = record->has_depth,
			       .unfinished = record->unfinished,
			       .nesting = record->nesting,
			       .kernel = end.kernel,
			       .error = record->error,
			       .number = number,
			       .lane = record->lane,
			       .kinds = record->kinds,
			       .location = location,
			       .heap_serial = end.serial};
	if (in_keep_values(f, details + record->enter_size, size - record->enter_size) ||
	    in_write(r, record,
		     &(struct new_row){.time = time,
				       .location = location,
				       .depth = record->has_depth && !number ? end.depth : 0,
				       .tail = details,
				       .tail_size = record->enter_size},
		     KIND_ENTER, number))
		return -1;
	return complete_calls_push(&r->completes, &end);
}

static struct in_frame *in_frame_of(const struct rows_in *r, const struct complete_end *end)
{
	const struct in_stack *s = in_stack(&r->threads[end->thread], end->kernel);

	if (end->overlaps)
		return &r->overlapping[end->depth];
	return s->depth > end->depth && s->frames[end->depth].heap_serial == end->serial
		       ? &s->frames[end->depth]
		       : NULL;
}

/* Take the earliest end from the heap, and end its call. */
static int in_take_end(struct rows_in *r)
{
	struct complete_end end = complete_calls_pop(&r->completes);
	struct in_thread *t = &r->threads[end.thread];
	struct in_stack *s = in_stack(t, end.kernel);
	struct in_frame *f = in_frame_of(r, &end);

	if (f && f->unfinished && t->latest <= end.time) {
		/* it may be open at the end */
		t->last = end.time;
		t->last_lane = f->lane;
		t->last_nesting = f->nesting;
		if (!end.overlaps)
			return 0;
	} else if (f && f->unfinished && !end.overlaps) {
		if (in_drop(r, f, end.time))
			return -1;
		f->has_depth = true;
	} else if (f) {
		/* the stream has no other end of a call with a number */
		f->unfinished = false;
	}
	if (end.overlaps) {
		if (in_leave(r, f, end.time))
			return -1;
		f->next = r->overlapping_free;
		r->overlapping_free = end.depth + 1;
		return 0;
	}
	t->left = f && end.time > t->left ? end.time : t->left;
	while (f && s->depth > end.depth)
		if (in_leave(r, &s->frames[--s->depth], end.time))
			return -1;
	return 0;
}

/* --- samples --- */

static int in_sample(struct rows_in *r, const struct in_record *record, uint64_t time,
		     const uint8_t *details, uint32_t size)
{
	struct new_row row = {.time = merge_shifted(time, r->input->shift),
			      .lane = record->lane,
			      .type = in_sample_type(r, record, size),
			      .location = record->stack,
			      .tail = details,
			      .tail_size = size,
			      .has_tail = size > 0};
	struct buffer values = {.data = (uint8_t *)(uintptr_t)details, .size = size};
	uint8_t fixed[28], *at = fixed;

	put_u64(at, record->weight);
	at += 8;
	if (record->has_total) {
		put_u64(at, record->total);
		at += 8;
	}
	if (record->has_calls) {
		put_u64(at, record->calls);
		at += 8;
	}
	if (record->error) {
		put_u32(at, -(uint32_t)record->error);
		at += 4;
	}
	row.fixed = fixed;
	row.fixed_size = (uint32_t)(at - fixed);
	if (!row.type ||
	    (size && r->table.objects.definitions && arguments_use_structs(r->w, &values)))
		return -1;
	return writer_sample(r->w, row);
}

/* Declare the lane of the next record: threads are in the order of their first rows. 0: out of
 * memory. */
static uint32_t in_lane(struct rows_in *r, uint32_t number)
{
	struct lane_entry lane;

	if (number < r->lanes.capacity && r->lanes.numbers[number])
		return r->lanes.numbers[number];
	memcpy(&lane, intern_data(&r->lanes.keys, number), sizeof lane);
	return writer_lane_once(r->w, &r->lanes, &lane);
}

/* Write the rows of the next record. */
static int in_event(struct rows_in *r, const struct sorter_record *next)
{
	const uint8_t *details = next->data + sizeof(struct in_record);
	uint32_t size = (uint32_t)(next->size - sizeof(struct in_record));
	struct gap_arguments gap;
	struct in_record record;
	uint32_t location = 0;

	memcpy(&record, next->data, sizeof record);
	record.lane = in_lane(r, record.lane);
	if (!record.lane)
		return -1;
	if (record.function) {
		location = in_location(r, &record);
		if (!location)
			return -1;
	}
	if (record.kind == KIND_ENTER)
		return in_enter(r, &record, location, next->key.time, details, size);
	if (record.kind == KIND_SAMPLE && location) {
		record.stack = writer_stack(r->w, record.stack, location);
		if (!record.stack)
			return -1;
	}
	if (record.kind == KIND_SAMPLE)
		return in_sample(r, &record, next->key.time, details, size);
	if (record.kind == KIND_GAP) {
		gap_arguments_read(&gap, r->w, details, size);
		gap.gap.reason = gap.has_reason ? gap.gap.reason : GAP_LOST;
		return writer_gap(r->w, merge_shifted(next->key.time, r->input->shift), record.lane,
				  &gap.gap);
	}
	return in_write(r, &record,
			&(struct new_row){.time = next->key.time,
					  .location = location,
					  .tail = details,
					  .tail_size = size},
			(enum type_kind)record.kind, record.stack);
}

/* --- the window: rows up to a second out of order are sorted --- */

/* Begin to write the rows of the present second. */
static int in_drain(struct rows_in *r, struct error *e)
{
	r->draining = true;
	if (r->has_from) {
		r->from += IN_SECOND;
		r->floor = r->from;
	}
	r->now_rows = 0;
	if (!r->table.of_trencode && !r->later_rows)
		r->inside = 0;
	return sorter_finish(&r->now, e);
}

/* Continue with the rows of the next second. */
static void in_next_second(struct rows_in *r)
{
	struct sorter written = r->now;

	sorter_clear(&written);
	r->now = r->later;
	r->later = written;
	r->now_rows = r->later_rows;
	r->later_rows = 0;
	/* calls that waited for the call around them may be later than this second */
	if (r->has_from && r->now_rows && r->last_later - r->from >= IN_SECOND)
		r->from = r->last_later - IN_SECOND + 1;
	r->last_later = 0;
	r->draining = false;
}

/* Add the record that waits to those of the present second, or of the next. */
static int in_add(struct rows_in *r, bool later, struct error *e)
{
	*(later ? &r->later_rows : &r->now_rows) += 1;
	return sorter_add(later ? &r->later : &r->now, r->pending, r->waiting.data, r->waiting.size,
			  e);
}

/* Add the record that waits. Returns 1: the rows of the present second are to be written
 * before it. */
static int in_admit(struct rows_in *r, struct error *e)
{
	struct sorter_key key = r->pending;

	if (r->sorts)
		return in_add(r, false, e);
	if (!r->has_from || (!r->now_rows && !r->later_rows && key.time >= r->from + IN_SECOND)) {
		r->has_from = true;
		r->from = key.time > IN_SECOND ? key.time - IN_SECOND : 0;
	}
	r->latest = r->last_end > r->latest ? r->last_end : r->latest;
	if (key.time < r->floor || key.time < r->from) {
		/* from a pipe it is written after others */
		if (r->input->file.live)
			return in_add(r, false, e);
		input_damage(r->input, r->input->name, r->table.row_offset,
			     "a row is left out: its time is more than 1 s before that of a row "
			     "before it; sort all rows with --sort");
		return 0;
	}
	if (key.time - r->from >= 2 * IN_SECOND && !(r->table.of_trencode && r->closes))
		return 1;
	if (key.time - r->from >= IN_SECOND)
		r->last_later = key.time > r->last_later ? key.time : r->last_later;
	return in_add(r, key.time - r->from >= IN_SECOND, e);
}

/* Read a row into r->waiting. Returns 1; 0: no more. */
static int in_take_row(struct rows_in *r, struct error *e)
{
	int got = rows_table_next(&r->table, e);

	return got > 0 && in_make_record(r, &r->pending) ? error_no_memory(e) : got;
}

/*
 * Begin to write the rows that wait, and the ends of their calls, before a live table is waited
 * for. Calls may be inside of one whose row follows: they wait for a second. Returns 1: some are
 * written; 0: the next row is there; -1 with *e.
 */
static int in_release(struct rows_in *r, struct error *e)
{
	bool held = r->now_rows || r->later_rows || r->completes.count;
	const struct input_lines *l = &r->table.lines;

	if (held && !r->has_from)
		return in_drain(r, e) ? -1 : 1; /* those after the present second */
	if (r->table.again_at < r->table.again.size || input_lines_ready(l, r->input, LIVE_WAIT))
		return 0;
	/* what is written must show, and what waits, too */
	if (writer_flush(r->w))
		return -1;
	if (!held || (r->inside && input_lines_ready(l, r->input, IN_INSIDE_MS - LIVE_WAIT)))
		return 0;
	r->floor = r->latest + 1;
	r->has_from = false;
	return in_drain(r, e) ? -1 : 1;
}

/* Read rows until those of a second are complete, and drain them. */
static int in_fill(struct rows_in *r, struct error *e)
{
	while (!r->draining && !r->ended) {
		int got = 1;

		if (r->input->file.live && !r->has_pending && !r->sorts) {
			got = in_release(r, e);
			if (got)
				return got < 0 ? -1 : 0;
			got = 1;
		}
		if (!r->has_pending)
			got = in_take_row(r, e);
		if (got < 0)
			return -1;
		r->has_pending = got;
		r->ended = !got;
		if (!got)
			break;
		got = in_admit(r, e);
		if (got < 0)
			return -1;
		r->has_pending = got;
		if (got && in_drain(r, e))
			return -1;
	}
	return r->ended && !r->draining ? in_drain(r, e) : 0;
}

/* Test whether the call that ends first ends before a row of that time. Of trencode, the row of a
 * call is at its end, and its key has the first row inside of the call. */
static bool in_ends_before(const struct rows_in *r, const struct sorter_record *next)
{
	const struct in_frame *f =
		r->completes.count ? in_frame_of(r, &r->completes.heap[0]) : NULL;

	return !f || r->mixed || !r->table.of_trencode ||
	       f->serial < next->key.second >> IN_KEY_DEPTH;
}

/* Declare the ends of the threads whose last calls have no return. */
static int in_end_threads(struct rows_in *r)
{
	for (size_t i = 0; i < r->nthreads; i++) {
		struct in_thread *t = &r->threads[i];
		struct thread_entry end = {
			.lane = t->last_lane,
			.flags = THREAD_HAS_LAST |
				 (t->last_nesting == IN_OF_CPU ? THREAD_PER_CPU : 0),
			.last = merge_shifted(t->last, r->input->shift)};

		if (t->last_lane && writer_thread(r->w, &end))
			return -1;
		t->last_lane = 0;
	}
	return 0;
}

/* Find the next thing to write: r->next_end: it is the end of a call, at in->next. */
static int in_advance(struct rows_in *r, struct error *e)
{
	struct sorter_record next;
	uint64_t end, time;

	for (;;) {
		if (!r->draining && in_fill(r, e))
			return -1;
		end = complete_calls_next(&r->completes);
		if (!r->draining)
			continue;
		if (sorter_peek(&r->now, &next)) {
			time = next.key.time;
			r->next_end = end < time || (end == time && in_ends_before(r, &next));
			time = r->next_end ? end : time;
			break;
		}
		/* no row before r->floor follows */
		if (end < r->floor || (r->ended && !r->later_rows)) {
			r->next_end = true;
			time = end;
			break;
		}
		in_next_second(r);
	}
	r->input->next = time == UINT64_MAX ? UINT64_MAX : merge_shifted(time, r->input->shift);
	return time == UINT64_MAX ? in_end_threads(r) : 0;
}

/* --- the decoder --- */

static enum bid in_probe_ndjson(const struct input *in)
{
	return rows_table_probe(in, IN_NDJSON);
}

static enum bid in_probe_csv(const struct input *in)
{
	return rows_table_probe(in, IN_CSV);
}

static enum bid in_probe_tsv(const struct input *in)
{
	return rows_table_probe(in, IN_TSV);
}

static enum bid in_probe_arrow(const struct input *in)
{
	return rows_table_probe(in, IN_ARROW);
}

static int in_open(struct input *in, struct error *e)
{
	struct rows_in *r = calloc(1, sizeof *r);

	in->state = r;
	if (!r)
		return error_no_memory(e);
	r->input = in;
	r->w = in->decoding->writer;
	in->clock_name = "rows";
	sorter_init(&r->now);
	sorter_init(&r->later);
	if (rows_table_open(&r->table, in,
			    in->decoder == &decoder_csv	    ? IN_CSV
			    : in->decoder == &decoder_tsv   ? IN_TSV
			    : in->decoder == &decoder_arrow ? IN_ARROW
							    : IN_NDJSON,
			    e))
		return -1;
	r->texts_stack = writer_text(r->w, "stack");
	r->texts_unknown = writer_text(r->w, "<0>");
	r->texts_call = writer_text(r->w, "call");
	r->texts_row = writer_text(r->w, "row");
	return 0;
}

/* Choose the clock by the first row. */
static int in_choose_clock(struct rows_in *r, struct error *e)
{
	struct input *in = r->input;
	const struct in_column *time = table_column_of_role(&r->table, IN_TIME);

	time = time ? time : table_column_of_role(&r->table, IN_END);
	in->ticks = time && (time->times.ticks || r->table.row.ticks);
	in->has_wall = !in->ticks && r->table.row.time >= IN_WALL;
	if (in->has_wall)
		in->clock_name = "wall";
	r->typed = r->table.of_trencode && table_column_of_role(&r->table, IN_TYPE);
	/* a file of samples is read to its end first: all their types are known then; with ends,
	 * rows may be in their order */
	r->sorts = in->decoding->sort ||
		   (!in->file.live &&
		    (r->table.of_trencode || table_column_of_role(&r->table, IN_END) ||
		     table_column_of_role(&r->table, IN_STACK) ||
		     table_column_of_role(&r->table, IN_WEIGHT)));
	return merge_choose_clock(in, e);
}

static int in_begin(struct input *in, struct error *e)
{
	struct rows_in *r = in->state;
	struct writer *w = r->w;
	int got;

	got = rows_table_next(&r->table, e);
	if (got < 0 || in_choose_clock(r, e))
		return -1;
	r->source = writer_source(w, &(struct source_entry){writer_text(w, in->decoder->name),
							    writer_text(w, in->name), 0, 0});
	r->clock = input_declare_clock(in, in->has_wall);
	in->next = UINT64_MAX;
	if (!got)
		return 0;
	got = in_make_record(r, &r->pending);
	if (got < 0)
		return -1;
	r->has_pending = true;
	if (in_advance(r, e))
		return -1;
	return in->next == UINT64_MAX ? 0 : merge_first(in, in->next - (uint64_t)in->shift, e);
}

static int in_run(struct input *in, uint64_t until, struct error *e)
{
	struct rows_in *r = in->state;
	struct sorter_record next;

	while (in->next <= until && in->next != UINT64_MAX) {
		if (r->next_end) {
			if (in_take_end(r))
				return -1;
		} else if (!sorter_peek(&r->now, &next) || in_event(r, &next) ||
			   sorter_advance(&r->now, e)) {
			return -1;
		}
		if (in_advance(r, e))
			return -1;
	}
	return 0;
}

static int in_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct rows_in *r = in->state;
	uint64_t rows = 0;
	int got = rows_table_next(&r->table, e);

	if (got < 0)
		return -1;
	fact_text(facts, "format", in->decoder->name);
	for (; got > 0; got = rows_table_next(&r->table, e))
		rows++;
	if (got < 0)
		return -1;
	fact_number(facts, "rows", rows);
	for (size_t i = 0; i < r->table.ncolumns && i < 64; i++)
		fact_item(facts, "column", r->table.columns[i].text);
	return 0;
}

static void in_free_stack(struct in_stack *s)
{
	for (size_t f = 0; f < s->depth; f++)
		free(s->frames[f].values);
	free(s->frames);
}

static void in_free(struct rows_in *r)
{
	rows_table_close(&r->table);
	buffer_free(&r->waiting);
	for (size_t i = 0; i < r->nthreads; i++) {
		in_free_stack(&r->threads[i].own);
		in_free_stack(&r->threads[i].kernel);
		free(r->threads[i].firsts);
	}
	for (size_t i = 0; i < r->noverlapping; i++)
		free(r->overlapping[i].values);
	free(r->threads);
	free(r->overlapping);
	id_cache_free(&r->lanes);
	intern_free(&r->kinds_known);
	key_map_free(&r->types);
	intern_free(&r->functions);
	key_map_free(&r->listed);
	free(r->lists);
	intern_free(&r->threads_known);
	arguments_free(&r->arguments);
	sorter_free(&r->now);
	sorter_free(&r->later);
	complete_calls_free(&r->completes);
	free(r);
}

static void in_close(struct input *in)
{
	struct rows_in *r = in->state;

	if (!r)
		return;
	if (!in->decoding->quiet) {
		warn_count(in->name, r->table.unlike,
			   "{value does|values do} not fit the type of {its column|their columns}: "
			   "written as text");
		warn_count(
			in->name, r->late,
			"{call|calls} came after calls inside of {it|them} were written: self and "
			"total are the whole time of each; sort all rows with --sort");
		warn_count(in->name, r->crossing,
			   "{call with a depth overlaps|calls with a depth overlap} others of "
			   "{its|their} thread: self is the whole time");
		warn_count(in->name, r->table.beyond_columns + r->arguments.nameless,
			   "{field|fields} beyond %d names {is|are} left out", IN_COLUMNS_MOST);
	}
	in_free(r);
	in->state = NULL;
}

#define ROWS_DECODER(format)                                                                       \
	const struct decoder decoder_##format = {                                                  \
		.name = #format,                                                                   \
		.probe = in_probe_##format,                                                        \
		.in_order = true,                                                                  \
		.open = in_open,                                                                   \
		.info = in_info,                                                                   \
		.begin = in_begin,                                                                 \
		.run = in_run,                                                                     \
		.close = in_close,                                                                 \
	}

ROWS_DECODER(ndjson);
ROWS_DECODER(csv);
ROWS_DECODER(tsv);
ROWS_DECODER(arrow);
