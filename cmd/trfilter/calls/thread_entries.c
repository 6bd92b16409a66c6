#include "cmd/trfilter/calls/thread_entries.h"

int thread_entries_add(struct thread_entries *x, const struct thread_entry *t)
{
	/* the id has no meaning */
	return entry_append_content(&x->entries, ENTRY_THREAD, 1, t);
}

bool thread_entries_block(struct thread_entries *x, struct block *b)
{
	size_t entry = ENTRY_HEADER + entry_layouts[ENTRY_THREAD].size;
	size_t n = x->entries.size - x->sent, most = BLOCK_LIMIT / entry * entry;

	if (!n) {
		x->entries.size = x->sent = 0;
		return false;
	}
	n = n < most ? n : most;
	*b = (struct block){.kind = BLOCK_DICT,
			    .payload = x->entries.data + x->sent,
			    .length = (uint32_t)n,
			    .available = (uint32_t)n,
			    /* rows before an entry must not move after it */
			    .redeclares = true};
	x->sent += n;
	return true;
}
