#include "reader_tail.h"

#include <sys/stat.h>
#include <unistd.h>

#include "bytes.h"
#include "stream.h"

enum {
	TAIL = 8192, /* END is at most so long */
	END_LEAST = 56,
};

int reader_tail_last(int fd, uint64_t *last)
{
	uint8_t tail[TAIL];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -1;
	n = pread(fd, tail, sizeof tail, st.st_size > TAIL ? st.st_size - TAIL : 0);
	for (ssize_t at = n - BLOCK_HEADER - END_LEAST; at >= 0; at -= 8) {
		const uint8_t *p = tail + at;

		if (get_u32(p) != BLOCK_SYNC || get_u16(p + 4) != BLOCK_END ||
		    get_u32(p + 8) != (size_t)(n - at) - BLOCK_HEADER)
			continue;
		*last = get_u64(p + BLOCK_HEADER + 32);
		return get_u64(p + BLOCK_HEADER) ? 0 : -1;
	}
	return -1;
}
