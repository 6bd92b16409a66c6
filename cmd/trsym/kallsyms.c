#include "kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/buffer.h"

/* A kernel has some 10 MB of them. */
enum { SIZE_MAX_READ = 1 << 30, PIECE = 1 << 16 };

static int read_file(const char *path, struct buffer *b, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	if (fd < 0)
		return error_errno(e, path, NO_OFFSET, "cannot open");
	while (n > 0) {
		if (b->size > SIZE_MAX_READ || buffer_reserve(b, PIECE)) {
			close(fd);
			return error_set(e, path, NO_OFFSET, "too large");
		}
		do
			n = read(fd, b->data + b->size, PIECE);
		while (n < 0 && errno == EINTR);
		if (n > 0)
			b->size += (size_t)n;
	}
	if (n < 0)
		error_errno(e, path, NO_OFFSET, "cannot read");
	close(fd);
	return n < 0 ? -1 : 0;
}

int kallsyms_read(const char *path, struct symbols **symbols, struct error *e)
{
	struct buffer b = {0};
	int r = read_file(path, &b, e);

	*symbols = NULL;
	if (!r) {
		*symbols = symbols_from_kallsyms((const char *)b.data, b.size);
		if (!*symbols)
			r = error_set(e, path, NO_OFFSET, "out of memory");
		else if (symbols_hidden(*symbols))
			r = error_set(e, path, NO_OFFSET,
				      "every address is 0: it was copied without the privilege to "
				      "see them (kernel.kptr_restrict)");
		else if (!symbols_count(*symbols))
			r = error_set(e, path, NO_OFFSET, "no kernel function in it");
	}
	buffer_free(&b);
	if (r) {
		symbols_free(*symbols);
		*symbols = NULL;
	}
	return r;
}
