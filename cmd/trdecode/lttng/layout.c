/*
 * layout.c - computes where the fields of a marker are in the payload and in the row
 */
#include "cmd/trdecode/lttng/marker.h"

void lttng_marker_layout(const struct lttng_header *h, struct lttng_marker *m,
			 const struct lttng_field *fields, int n)
{
	bool uncapped = h->major == 2 && (h->minor == 4 || h->minor == 5);
	unsigned largest = 1, start, at = 0;
	bool contiguous = true;

	m->layout.fixed_size = 8;
	m->layout.most = 8;
	m->layout.nstrings = 0;
	for (int i = 0; i < n; i++) {
		unsigned size = fields[i].size, align = 1;

		if (m->alignment)
			align = uncapped || m->alignment > size ? size : m->alignment;
		if (!size) {
			m->layout.steps[i] = (struct lttng_step){0, 1, false, 0};
			m->layout.nstrings++;
			continue;
		}
		m->layout.steps[i] = (struct lttng_step){(uint8_t)size, (uint8_t)align,
							 fields[i].network, m->layout.fixed_size};
		m->layout.fixed_size += (uint16_t)size;
		m->layout.most += size + align;
		largest = align > largest ? align : largest;
		contiguous &= !(at & (align - 1)) && !(fields[i].network && size > 1);
		at += size;
	}
	m->layout.nsteps = n;
	m->layout.align = (uint8_t)largest;
	start = largest; /* alignment of the beginning */
	if (h->major == 1)
		start = !h->alignment		      ? 1
			: h->alignment < h->word_size ? h->alignment
						      : h->word_size;
	m->layout.plain = !m->layout.nstrings && contiguous && start >= largest ? (uint16_t)at : 0;
	m->layout.plain_words = !m->layout.nstrings && contiguous && start >= largest && !h->big;
	m->layout.fixed_size = (uint16_t)align_up(m->layout.fixed_size, 4);
}
