/*
 * convert.h - convert the events of any source to a uftrace recording: what the files share
 *
 * Functions that return int return 0, or -1: with *e filled where they take it, else out of memory.
 */
#ifndef TR_TRENCODE_UFTRACE_CONVERT_H
#define TR_TRENCODE_UFTRACE_CONVERT_H

#include "cmd/trencode/convert/convert.h"
#include "common/formats/uftrace.h"

/* --- convert_symbols.c: functions have addresses in synthesised modules --- */

/* The modules of the recording, and their symbols. */
struct uftrace_modules {
	struct intern names; /* names of modules; the number is the index in list */
	struct uftrace_made_module {
		struct text_ref file; /* basename of the module */
		struct buffer symbols;
		uint32_t count; /* functions */
	} * list;
	size_t capacity;
	struct intern files; /* names of files */
};

/* Add a function to a module. *address is the new address. */
int uftrace_symbol(struct uftrace_modules *m, struct target_dictionary *d, struct text_ref name,
		   struct text_ref module, uint64_t *address, struct error *e);
/* Write the symbol tables and the map. */
int uftrace_symbols_end(struct uftrace_modules *m, struct target_dictionary *d, struct error *e);
void uftrace_symbols_free(struct uftrace_modules *m);

/* --- convert_values.c: arguments and return values by a specification for each function --- */

/* How one value of a function is stored, in terms of uftrace's argument specifications. */
struct uftrace_stored {
	uint16_t index; /* argument from 1; 0: none */
	char letter;
	uint8_t size; /* bytes; 0: a text */
};

/* The specifications of all functions. */
struct uftrace_specs {
	struct conversion *conversion;
	const struct event *row; /* the row of the call, as read */
	struct intern names;
	struct uftrace_spec {
		bool has[2];		     /* args, ret are decided */
		struct uftrace_stored *args; /* ends with index 0; NULL: none */
		struct uftrace_stored ret[2];
	} * list;
	size_t capacity;
	struct buffer text[2]; /* argspec and retspec of info */
	struct buffer tail, scratch;
	uint64_t changed, some; /* calls that lost all, some values */
	uint64_t cut, blobs;	/* texts, blobs */
};

/*
 * Fill s->tail with the values of a call, in the form that uftrace_pack_values takes; the tail is
 * empty if there are none. values: the row with its fields as arguments. The first call of a
 * function decides how values of the function are stored. Values of later calls that cannot be
 * stored so are left out and counted.
 */
int uftrace_values(struct uftrace_specs *s, const struct convert_row *r, const struct event *values,
		   struct text_ref name);
void uftrace_specs_free(struct uftrace_specs *s);

/* --- convert_events.c: user events, whose fields or values are texts in extern.dat --- */

/* The user events of the recording. Zero-initialised is empty. */
struct uftrace_events {
	uint32_t *numbers; /* in the target dictionary by the stream's; 0: none yet */
	size_t size;
	struct buffer events_txt;
	struct buffer external; /* extern.dat from `written` on */
	uint64_t written;	/* bytes of extern.dat */
	struct buffer scratch;
	uint64_t count;
	uint64_t blobs, cut, names_cut; /* blobs, texts, names and groups */
};

/* Find or add the user event of a type. */
int uftrace_event_type(struct uftrace_events *s, struct target_dictionary *d,
		       const struct type *from, const struct type **out, struct error *e);
/* Write the fields or values of an event as a line of extern.dat. */
int uftrace_event_text(struct uftrace_events *s, struct conversion *c, const struct convert_row *r,
		       struct error *e);
/* Write events.txt and the rest of extern.dat. */
int uftrace_events_end(struct uftrace_events *s, struct target_dictionary *d, struct error *e);
void uftrace_events_free(struct uftrace_events *s);

/* --- convert_tasks.c: threads and their processes --- */

/* The threads of the recording. */
struct uftrace_tasks {
	const struct convert_thread **list; /* in the order of their first row */
	size_t count, capacity;
	uint64_t own; /* threads written as processes, as they have names of their own */
};

int uftrace_task_add(struct uftrace_tasks *s, const struct convert_thread *t);
/* Write task.txt. */
int uftrace_tasks_end(struct uftrace_tasks *s, struct target_dictionary *d, struct error *e);
/* Append the tids, separated by commas. */
int uftrace_tasks_list(const struct uftrace_tasks *s, struct buffer *b);
void uftrace_tasks_free(struct uftrace_tasks *s);

#endif
