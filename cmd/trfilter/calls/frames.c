#include "cmd/trfilter/calls/frames.h"

enum { OWN, KERNEL, IGNORED };
/* the stack number of numbered calls */
static const uint32_t numbered = UINT32_MAX;

struct frame_at frames_address(const struct calls *c)
{
	const struct stack *s = c->stack, *own;
	struct frame_at at;

	if (!s) {
		size_t offset = (size_t)((const uint8_t *)c->data - c->numbered.data);

		return (struct frame_at){numbered, (uint32_t)(offset / c->data_size)};
	}
	own = c->stacks[s->number];
	at = frames_of(own, s->count - 1);
	at.stack += s == own ? OWN : s == own->kernel ? KERNEL : IGNORED;
	return at;
}

const struct stack *frames_stack(const struct calls *c, struct frame_at at)
{
	const struct stack *s =
		at.stack == numbered ? NULL : calls_thread_stack(c, at.stack / FRAMES_STACKS);

	if (!s || at.stack % FRAMES_STACKS == OWN)
		return s;
	return at.stack % FRAMES_STACKS == KERNEL ? s->kernel : s->ignored;
}

struct open_frame *frames_at(const struct calls *c, struct frame_at at)
{
	const struct stack *s = frames_stack(c, at);

	if (at.stack == numbered)
		return at.frame < c->numbered.count
			       ? (void *)(c->numbered.data + at.frame * c->data_size)
			       : NULL;
	return s && at.frame < s->count ? calls_data(c, s, at.frame) : NULL;
}

uint32_t frames_thread(const struct open_frame *f, struct frame_at at)
{
	return at.stack == numbered ? f->lane->thread : at.stack / FRAMES_STACKS;
}
