/*
 * perfetto_samples.h - private to the encoder of Perfetto's format: samples and recorded stacks
 *
 * Functions return 0, or -1 with *e filled; without e, -1 when out of memory.
 */
#ifndef TR_TRENCODE_TIMELINE_PERFETTO_SAMPLES_H
#define TR_TRENCODE_TIMELINE_PERFETTO_SAMPLES_H

#include "cmd/trencode/timeline/perfetto_private.h"

struct perfetto_samples *perfetto_samples_new(void); /* NULL: out of memory */
void perfetto_samples_free(struct perfetto_samples *k);

/* Write a sample, whose thread is declared. */
int perfetto_sample(struct perfetto *s, const struct event *ev, struct error *e);
/* Append the recorded stack of an event to a track event. What it names first is in s->interned. */
int perfetto_put_stack(struct perfetto *s, const struct event *ev, struct buffer *event);
void perfetto_samples_report(const struct perfetto_samples *k);

#endif
