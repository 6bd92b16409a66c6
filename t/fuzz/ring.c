/* links: cmd/trdecode */
/*
 * ring.c - any bytes as a sub-buffer of the kernel's ring buffer: every record is inside of it
 *
 * The first byte chooses byte order, word size and how much of the page is there.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/ftrace/ring.h"
#include "t/fuzz/fuzz.h"

static void look(const uint8_t *page, size_t n, size_t page_size, const struct ring_layout *layout)
{
	struct ring_page p;
	struct ring_record r;
	const uint8_t *before = page;
	int got;

	if (ring_page_begin(&p, layout, page, n, page_size))
		return;
	while ((got = ring_next(&p, &r)) > 0) {
		/* records follow each other */
		if (r.data < before || r.data > page + n || r.size > n - (size_t)(r.data - page) ||
		    r.size % 4)
			abort();
		before = r.data + r.size;
	}
	if (got < 0 && !p.what)
		abort();
}

static void look_at_text(const uint8_t *data, size_t size, bool big)
{
	struct ring_layout layout;
	uint32_t bytes;

	ring_layout_parse(&layout, (const char *)data, size, big, 8, &bytes);
	if (layout.data != 8u + layout.long_size ||
	    (layout.long_size != 4 && layout.long_size != 8))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned choice = size ? data[0] : 0;
	uint8_t word = choice & 2 ? 4 : 8, *page;
	struct ring_layout layout = {choice & 1, word, 8u + word};

	if (!size)
		return 0;
	size--;
	/* of exactly its size, so that a sanitizer sees a read after its end */
	page = malloc(size + 1);
	if (!page)
		return 0;
	memcpy(page, data + 1, size);
	if (choice & 4)
		look_at_text(page, size, choice & 1);
	else
		look(page, size, size + (choice & 8 ? 100 : 0), &layout);
	free(page);
	return 0;
}
