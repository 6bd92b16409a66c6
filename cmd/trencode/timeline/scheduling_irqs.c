/*
 * scheduling_irqs.c - the interrupts and softirqs that CPUs handle
 */
#include "cmd/trencode/timeline/scheduling.h"
#include "common/formats/softirqs.h"

int scheduling_irqs_put(struct scheduling *s, const struct scheduling_cpu *c,
			const struct scheduling_irqs *irqs, unsigned keep, uint64_t time,
			struct error *e)
{
	for (unsigned i = irqs->count; i > keep; i--) {
		const struct scheduling_irq *irq = &irqs->open[i - 1];

		if (scheduling_put_slice(
			    s,
			    &(struct scheduling_slice){.track = irqs == &c->irqs ? TRACK_IRQ
										 : TRACK_SOFTIRQ,
						       .cpu = c,
						       .irq = irq,
						       .start = irq->since,
						       .end = time,
						       .unseen = irq->unseen,
						       .unfinished = true},
			    e))
			return -1;
	}
	return 0;
}

int scheduling_irqs_end(struct scheduling *s, const struct scheduling_cpu *c,
			struct scheduling_irqs *irqs, unsigned keep, uint64_t time, struct error *e)
{
	if (scheduling_irqs_put(s, c, irqs, keep, time, e))
		return -1;
	irqs->count = keep < irqs->count ? keep : irqs->count;
	return 0;
}

void scheduling_irqs_cut(struct scheduling_irqs *irqs, uint64_t time)
{
	for (unsigned i = 0; i < irqs->count; i++) {
		irqs->open[i].since = time;
		irqs->open[i].unseen = true;
	}
}

int scheduling_irq_entry(struct scheduling *s, struct scheduling_cpu *c,
			 struct scheduling_irqs *irqs, const struct scheduling_type *t,
			 const struct event *ev, struct error *e)
{
	struct scheduling_irq irq = {.since = ev->time};
	const struct member *label = NULL;
	const char *name = NULL, *softirq;
	size_t size = 0;

	if (!scheduling_number(t, ev, IRQ_NUMBER, &irq.number))
		return 0;
	if (t->fields[IRQ_NUMBER])
		label = definition_member(t->fields[IRQ_NUMBER]->definition, (uint64_t)irq.number);
	if ((scheduling_text(t, ev, IRQ_NAME, &name, &size) ||
	     scheduling_text(t, ev, IRQ_NUMBER, &name, &size)) &&
	    size)
		irq.name = dictionary_text(s->dictionary, name, size).number;
	else if (label)
		irq.name = label->name.number;
	else if (irqs == &c->softirqs && irq.number >= 0 &&
		 (softirq = softirq_name((uint64_t)irq.number)))
		irq.name = dictionary_text(s->dictionary, softirq, strlen(softirq)).number;
	if (irqs->count == SCHEDULING_NESTED &&
	    scheduling_irqs_end(s, c, irqs, SCHEDULING_NESTED - 1, c->last, e))
		return -1;
	irqs->open[irqs->count++] = irq;
	return 0;
}

int scheduling_irq_exit(struct scheduling *s, struct scheduling_cpu *c,
			struct scheduling_irqs *irqs, const struct scheduling_type *t,
			const struct event *ev, struct error *e)
{
	struct scheduling_slice slice = {
		.track = irqs == &c->irqs ? TRACK_IRQ : TRACK_SOFTIRQ, .cpu = c, .end = ev->time};
	unsigned depth = irqs->count;
	int64_t number;

	if (!scheduling_number(t, ev, IRQ_NUMBER, &number))
		return 0;
	while (depth && irqs->open[depth - 1].number != number)
		depth--;
	if (!depth) {
		s->unpaired++;
		return 0;
	}
	if (scheduling_irqs_end(s, c, irqs, depth, c->last, e))
		return -1;
	irqs->count = depth - 1;
	slice.irq = &irqs->open[depth - 1];
	slice.start = slice.irq->since;
	slice.unseen = slice.irq->unseen;
	slice.has_ret = slice.track == TRACK_IRQ && scheduling_number(t, ev, IRQ_RET, &slice.ret);
	return scheduling_put_slice(s, &slice, e);
}
