#include "cmd/trfilter/calls/thread_entries.h"

enum { ENTRY = ENTRY_HEADER + THREAD_SIZE };

int thread_entries_add(struct thread_entries *x, const struct thread_entry *t)
{
	uint8_t p[THREAD_SIZE];

	entry_put_thread(p, t);
	/* the id has no meaning */
	return entry_append(&x->entries, ENTRY_THREAD, 1, p, sizeof p);
}

bool thread_entries_block(struct thread_entries *x, struct block *b)
{
	enum { MOST = BLOCK_LIMIT / ENTRY * ENTRY };
	size_t n = x->entries.size - x->sent;

	if (!n) {
		x->entries.size = x->sent = 0;
		return false;
	}
	n = n < MOST ? n : MOST;
	*b = (struct block){.kind = BLOCK_DICT,
			    .payload = x->entries.data + x->sent,
			    .length = (uint32_t)n,
			    .available = (uint32_t)n};
	x->sent += n;
	return true;
}
