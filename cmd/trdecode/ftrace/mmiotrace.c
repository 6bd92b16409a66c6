/*
 * mmiotrace.c - the lines of the tracer mmiotrace, which have no threads
 *
 *     R|W WIDTH TIME MAP PHYS VALUE PC PID
 *     MAP TIME MAP PHYS VIRT LEN PC PID
 *     UNMAP TIME MAP PC PID
 *     MARK TIME TEXT
 *
 * TIME is seconds with six digits after the point. PID is always 0. Lines VERSION and PCIDEV are
 * before the first event. The types have the names and the fields of the events in trace.dat.
 *
 * Source: Documentation/trace/mmiotrace.rst and kernel/trace/trace_mmiotrace.c of Linux.
 */
#include "cmd/trdecode/ftrace/ftrace.h"

enum { MMIO_WORDS = 7 };

static const struct mmio_form {
	const char *word, *type,
		*keys[MMIO_WORDS]; /* keys of the words after TIME; NULL: ignored */
	unsigned nwords;
} mmio_forms[] = {
	{"R ", "mmiotrace_rw", {"map_id", "phys", "value", "pc", NULL}, 5},
	{"W ", "mmiotrace_rw", {"map_id", "phys", "value", "pc", NULL}, 5},
	{"MAP ", "mmiotrace_map", {"map_id", "phys", "virt", "len", NULL, NULL}, 6},
	{"UNMAP ", "mmiotrace_map", {"map_id", NULL, NULL}, 3},
	{"MARK ", "print", {NULL}, 0},
};

static const struct mmio_form *form_of(struct span s)
{
	for (size_t i = 0; i < sizeof mmio_forms / sizeof *mmio_forms; i++)
		if (span_begins(s, mmio_forms[i].word))
			return &mmio_forms[i];
	return NULL;
}

bool ftrace_mmio_line(struct span s, struct ftrace_line *l)
{
	const struct mmio_form *form = form_of(s);
	struct span rest, word;
	uint8_t kind;
	uint64_t number;

	if (!form)
		return false;
	rest = (struct span){s.at + strlen(form->word), s.end};
	if (form->word[1] == ' ') {
		word = span_take_word(&rest);
		if (span_size(word) != 1 || !strchr("1248", *word.at))
			return false;
	}
	word = span_take_word(&rest);
	if (!ftrace_seconds(word, &l->time))
		return false;
	l->clock = LINE_SECONDS;
	l->text = s;
	for (unsigned i = 0; i < form->nwords; i++) {
		word = span_take_word(&rest);
		if (!ftrace_number(word, &kind, &number))
			return false;
	}
	return !form->nwords || !span_size(span_trim(rest));
}

int ftrace_mmio(struct ftrace *f, struct span text)
{
	const struct mmio_form *form = form_of(text);
	struct span rest = {text.at + strlen(form->word), text.end}, word;
	struct span name = {form->type, form->type + strlen(form->type)};

	f->nvalues = 0;
	ftrace_value_add(f, "opcode", (struct span){form->word, rest.at - 1 - text.at + form->word},
			 false);
	if (form->word[1] == ' ')
		ftrace_value_add(f, "width", span_take_word(&rest), true);
	span_take_word(&rest);
	for (unsigned i = 0; i < form->nwords; i++) {
		word = span_take_word(&rest);
		if (form->keys[i])
			ftrace_value_add(f, form->keys[i], word, true);
	}
	if (!form->nwords) {
		f->nvalues = 0;
		ftrace_value_add(f, "message", span_trim(rest), false);
	}
	return ftrace_typed(f, name, NULL);
}
