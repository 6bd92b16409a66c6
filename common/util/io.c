#include "common/util/io.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

ssize_t io_read(int fd, void *data, size_t n)
{
	for (;;) {
		struct pollfd p = {fd, POLLIN, 0};
		ssize_t got = read(fd, data, n);

		if (got >= 0 || (errno != EAGAIN && errno != EINTR))
			return got;
		if (errno == EAGAIN)
			poll(&p, 1, -1);
	}
}

ssize_t io_read_at(int fd, void *data, size_t n, uint64_t offset)
{
	size_t have = 0;

	while (have < n) {
		ssize_t got = pread(fd, (char *)data + have, n - have, (off_t)(offset + have));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		have += (size_t)got;
	}
	return (ssize_t)have;
}
