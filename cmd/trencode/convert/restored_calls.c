#include "cmd/trencode/convert/restored_calls.h"

#include <stdlib.h>

#include "common/util/buffer.h"

int restored_calls_add(struct restored_calls *r, const struct calls *c, const struct event *enter,
		       const struct call *call)
{
	struct restored_call *list;
	const struct stack *s = calls_stack(c, enter);

	if (ARRAY_GROW(r->list, r->capacity, r->count))
		return -1;
	list = r->list;
	list += r->count++;
	*list = (struct restored_call){.enter = *enter, .order = r->count};
	if (enter->type->flags & TYPE_CALL_NUMBER && !c->numbers_on_stacks) {
		list->index = c->data_size ? (size_t)((uint8_t *)call->data - c->numbered.data) /
						     c->data_size
					   : 0;
	} else {
		list->stack = s;
		list->index = s->count - 1;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct restored_call *x = a, *y = b;

	if (x->enter.time != y->enter.time)
		return x->enter.time > y->enter.time ? 1 : -1;
	return x->order > y->order ? 1 : -1;
}

size_t restored_calls_sort(struct restored_calls *r)
{
	size_t n = r->count;

	if (n)
		qsort(r->list, n, sizeof *r->list, by_time);
	r->count = 0;
	return n;
}
