#include "cmd/trfilter/calls/call_data.h"

enum { OWN, KERNEL, IGNORED };
/* the stack number of numbered calls */
static const uint32_t numbered = UINT32_MAX;

struct call_address call_address_last(const struct calls *c, const struct call *call)
{
	const struct stack *s = call->on, *own;
	struct call_address at;

	if (!s) {
		size_t offset = (size_t)((const uint8_t *)call->data - c->numbered.data);

		return (struct call_address){numbered, (uint32_t)(offset / c->data_size)};
	}
	own = c->stacks[s->number];
	at = call_address_of(own, s->count - 1);
	at.stack += s == own ? OWN : s == own->kernel ? KERNEL : IGNORED;
	return at;
}

const struct stack *call_address_stack(const struct calls *c, struct call_address at)
{
	const struct stack *s =
		at.stack == numbered ? NULL : calls_thread_stack(c, at.stack / CALL_STACKS);

	if (!s || at.stack % CALL_STACKS == OWN)
		return s;
	return at.stack % CALL_STACKS == KERNEL ? s->kernel : s->ignored_inner;
}

struct call_data *call_data_at(const struct calls *c, struct call_address at)
{
	const struct stack *s = call_address_stack(c, at);

	if (at.stack == numbered)
		return at.number < c->numbered.count
			       ? (void *)(c->numbered.data + at.number * c->data_size)
			       : NULL;
	return s && at.number < s->count ? calls_data(c, s, at.number) : NULL;
}

uint32_t call_address_thread(const struct call_data *f, struct call_address at)
{
	return at.stack == numbered ? f->lane->thread : at.stack / CALL_STACKS;
}
