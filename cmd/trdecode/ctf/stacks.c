/*
 * stacks.c - the stacks of events: the contexts callstack_kernel and callstack_user
 *
 * Each is a sequence of addresses, innermost first. Older recorders end it with an address of all
 * ones. A user's stack is called by no frame of the kernel: with both, it is below the kernel's.
 *
 * Source: lttng-modules 2.11 to 2.13 (src/lttng-context-callstack*.c).
 */
#include "cmd/trdecode/ctf/ctf.h"
#include "common/util/stack_table.h"

bool ctf_is_callstack(const struct ctf_part *p)
{
	const struct ctf_part *address = p->children;

	return (p->role == CTF_KERNEL_STACK || p->role == CTF_USER_STACK) &&
	       p->kind == CTF_SEQUENCE && address->kind == CTF_INTEGER &&
	       (address->size == 32 || address->size == 64);
}

void ctf_stack_find(struct ctf_class *c)
{
	for (int i = 0; i < CTF_DATA_SCOPES; i++) {
		const struct ctf_part *s = c->layout.scope[ctf_data_scopes[i]];

		for (const struct ctf_part *p = s ? s->children : NULL; p; p = p->next)
			c->has_stack |= ctf_is_callstack(p);
	}
}

int ctf_stack_take(const struct ctf_cursor *at, const struct ctf_part *p, uint64_t begin,
		   struct ctf_frames *frames)
{
	struct ctf_cursor c = *at;
	const struct ctf_part *address = p->children;
	struct buffer *b = p->role == CTF_USER_STACK ? &frames->user : &frames->kernel;
	uint64_t n;

	for (c.at = ctf_align(begin, p->align); c.at < at->at;) {
		if (ctf_read_number(&c, address, &n) != CTF_GOT)
			break;
		n &= UINT64_MAX >> (64 - address->size);
		if (!n || n == UINT64_MAX >> (64 - address->size))
			break;
		if (b->size < 8 * STACK_FRAMES_MOST && buffer_u64(b, n))
			return -1;
	}
	return 0;
}

/* Convert addresses to locations, at *to. */
static int locate(const struct buffer *addresses, struct ctf_trace *t, int32_t pid,
		  struct buffer *to)
{
	for (size_t i = 0; i < addresses->size; i += 8) {
		uint32_t location = ctf_calls_address(t, pid, get_u64(addresses->data + i));

		if (!location || buffer_u32(to, location))
			return -1;
	}
	return 0;
}

int ctf_stack_put(const struct ctf_file *f, uint8_t *fixed)
{
	struct ctf_frames *frames = &f->trace->ctf->frames;
	struct buffer *l = &frames->locations;
	uint32_t stack = 0;

	l->size = 0;
	if (locate(&frames->kernel, f->trace, CTF_KERNEL_PID, l) ||
	    locate(&frames->user, f->trace, f->thread.pid, l))
		return -1;
	if (l->size) {
		stack = writer_stack_of(f->trace->ctf->w, (const uint32_t *)(const void *)l->data,
					l->size / 4);
		if (!stack || writer_use_stack(f->trace->ctf->w, stack))
			return -1;
	}
	put_u32(fixed, stack);
	return 0;
}
