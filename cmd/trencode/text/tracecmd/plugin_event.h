/*
 * plugin_event.h - shared by the files with the texts of plug-ins
 *
 * The fields of an event have the numbers of their names in the table of plugins.c. A text function
 * returns true if the text is complete; false: the text of the print fmt follows.
 */
#ifndef TR_TRENCODE_TEXT_TRACECMD_PLUGIN_EVENT_H
#define TR_TRENCODE_TEXT_TRACECMD_PLUGIN_EVENT_H

#include "cmd/trencode/text/tracecmd/plugins.h"

/* An event to print. */
struct plugin_event {
	const struct plugin_type *type;
	const struct event *ev;
	const struct plugin_context *context;
};

/* Read a number as the plug-ins do: without its sign. Returns false if the type does not have the
 * field, or if it is no number of the record. */
bool plugin_number(const struct plugin_event *e, unsigned field, uint64_t *v);
/* The same, or append what is wrong. */
bool plugin_require(const struct plugin_event *e, unsigned field, uint64_t *v, struct line *out);
/* Append the text before a number and the number, 'u' unsigned, 'd' signed, 'x' hexadecimal, of
 * 32 bits, or with upper case of 64; or that the field is missing. */
void plugin_put(const struct plugin_event *e, unsigned field, const char *before, char conversion,
		struct line *out);
/* Append a text up to its NUL. */
void plugin_put_text(const struct plugin_event *e, const struct event_field *f, struct line *out);
/* Find the name of a function of the recorded kernel; NULL: none. */
const char *plugin_symbol(const struct plugin_event *e, uint64_t address, size_t *size,
			  uint64_t *offset);
/* Append "<CANT FIND FIELD NAME>". */
void plugin_put_missing(const struct plugin_event *e, unsigned field, struct line *out);
const char *plugin_field_name(const struct plugin_event *e, unsigned field);

/* plugin_kernel.c: scheduler, timers, memory, futexes, mac80211 */
bool plugin_switch(const struct plugin_event *e, struct line *out);
bool plugin_wakeup(const struct plugin_event *e, struct line *out);
bool plugin_timer_start(const struct plugin_event *e, struct line *out);
bool plugin_timer_expire(const struct plugin_event *e, struct line *out);
bool plugin_call_site(const struct plugin_event *e, struct line *out);
bool plugin_flush(const struct plugin_event *e, struct line *out);
bool plugin_futex(const struct plugin_event *e, struct line *out);
bool plugin_bss_info(const struct plugin_event *e, struct line *out);

/* plugin_function.c: the function tracer */
bool plugin_function(const struct plugin_event *e, struct line *out);
bool plugin_repeats(const struct plugin_event *e, struct line *out);
bool plugin_stack(const struct plugin_event *e, struct line *out);
bool plugin_raw(const struct plugin_event *e, struct line *out);

/* plugin_kvm.c */
bool plugin_kvm_entry(const struct plugin_event *e, struct line *out);
bool plugin_kvm_exit(const struct plugin_event *e, struct line *out);
bool plugin_kvm_instruction(const struct plugin_event *e, struct line *out);
bool plugin_kvm_inject(const struct plugin_event *e, struct line *out);
bool plugin_kvm_nested(const struct plugin_event *e, struct line *out);
bool plugin_kvm_page(const struct plugin_event *e, struct line *out);
bool plugin_kvm_get_page(const struct plugin_event *e, struct line *out);

#endif
