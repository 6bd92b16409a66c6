/*
 * convert.h - a uftrace recording out of the events of any source: between its files
 */
#ifndef TR_TRENCODE_UFTRACE_CONVERT_H
#define TR_TRENCODE_UFTRACE_CONVERT_H

#include "cmd/trencode/convert/convert.h"
#include "common/formats/uftrace.h"

/* --- uftrace_convert_symbols.c: functions have addresses in modules that never were --- */

struct uftrace_modules {
	struct intern names; /* number: index in list */
	struct uftrace_made_module {
		struct text_ref file; /* its basename */
		struct buffer symbols;
		uint64_t written; /* bytes of the symbols that are in their file */
		uint32_t count;
	} * list;
	size_t capacity;
	struct intern files;
};

/* The address of a function of this name in that module, which it has from now on. */
int uftrace_symbol(struct uftrace_modules *m, struct target_dictionary *d, struct text_ref name,
		   struct text_ref module, uint64_t *address, struct error *e);
/* The tables and the map. */
int uftrace_symbols_end(struct uftrace_modules *m, struct target_dictionary *d, struct error *e);
void uftrace_symbols_free(struct uftrace_modules *m);

/* --- uftrace_convert_values.c: arguments and return values by a specification for each function
 * ---
 */

/* How one value of a function is stored: as the letters and sizes of argument specifications. */
struct uftrace_stored {
	uint16_t index; /* of the argument from 1; 0: none */
	char letter;
	uint8_t size; /* bytes; 0 of texts */
};

struct uftrace_specs {
	struct conversion *conversion;
	struct intern names;
	struct uftrace_spec {
		bool has[2];		     /* enters, leaves: what follows is decided */
		struct uftrace_stored *args; /* the last has no index; NULL: none */
		struct uftrace_stored ret[2];
	} * list;
	size_t capacity;
	struct buffer text[2]; /* as they stand in info */
	struct buffer tail, scratch;
	uint64_t changed, some, cut, blobs;
};

/*
 * What follows the record of a call, as a tail of values that uftrace_pack_values takes: in
 * s->tail, empty where there is nothing. The first call of a function says how its values are to be
 * stored; where those of a later one cannot be, they are left out and counted.
 */
int uftrace_values(struct uftrace_specs *s, const struct convert_row *r, struct text_ref name);
void uftrace_specs_free(struct uftrace_specs *s);

/* --- uftrace_convert_tasks.c: threads and their processes --- */

struct uftrace_tasks {
	const struct convert_thread **list; /* in the order of their first row */
	size_t count, capacity;
	uint64_t own; /* processes made of threads with names of their own */
};

int uftrace_task_add(struct uftrace_tasks *s, const struct convert_thread *t);
/* task.txt */
int uftrace_tasks_end(struct uftrace_tasks *s, struct target_dictionary *d, struct error *e);
/* Append their numbers, separated by commas. */
int uftrace_tasks_list(const struct uftrace_tasks *s, struct buffer *b);
void uftrace_tasks_free(struct uftrace_tasks *s);

#endif
