/*
 * list.h - what an input contains: types of events with their numbers, fields and examples (--list)
 *
 *     l = list_open(&e);
 *     ... decode into the descriptor list_fd(l), and close it
 *     list_wait(l, &e);
 *     list_print(l, ...);
 *
 * A thread reads the stream that the decoders write, so the list is right for every format, and for
 * the chosen CPUs, threads, types and times.
 */
#ifndef TR_TRDECODE_LIST_H
#define TR_TRDECODE_LIST_H

#include <stdbool.h>

#include "common/util/text.h"

struct type_list;

/* Begin to read. Returns NULL with e filled. */
struct type_list *list_open(struct error *e);
/* Get the descriptor that the stream is to be written to; the caller closes it. */
int list_fd(const struct type_list *l);
/* Wait for the end of the stream. -1 with e filled: out of memory. */
int list_wait(struct type_list *l, struct error *e);
enum list_style {
	LIST_TEXT, /* types without events are only counted */
	LIST_ALL,  /* text, with types without events */
	LIST_JSON, /* all types */
};

/* Print what was read. -1: out of memory. */
int list_print(const struct type_list *l, struct text *t, enum list_style style);
void list_free(struct type_list *l);

#endif
