#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "common/stream/reader_private.h"
#include "common/stream/writer.h"
#include "common/util/io.h"

/* Move the payload bytes that were not read from pipe to pipe. */
static int splice_rest(struct reader *r, struct writer *w, size_t n, struct error *e)
{
	while (n) {
		ssize_t moved;

		if (reader_wait(r)) {
			r->fatal = r->stop = true;
			return -1;
		}
		moved = io_over(r->input.fd) ? 0
					     : splice(r->input.fd, NULL, output_fd(w->output), NULL,
						      n, SPLICE_F_MOVE);
		if (moved < 0) {
			struct pollfd in = {r->input.fd, POLLIN, 0};
			struct pollfd out = {output_fd(w->output), POLLOUT, 0};

			if (errno == EINTR)
				continue;
			if (errno == EAGAIN) {
				poll(&in, 1, -1);
				poll(&out, 1, -1);
				continue;
			}
			w->broken = true;
			return error_errno(e, w->output->name, NO_OFFSET, "cannot write");
		}
		if (!moved) {
			w->broken =
				true; /* the block was written in part: no block may follow it */
			reader_ended(r, r->input.offset, READER_NO_END);
			reader_close_input(r);
			return -1;
		}
		r->input.offset += (size_t)moved;
		r->pending -= (size_t)moved;
		n -= (size_t)moved;
	}
	return 0;
}

int reader_pass(struct reader *r, struct block *b, struct writer *w, struct error *e)
{
	size_t have;

	e->what[0] = '\0';
	if (r->loaded || !r->input.pipe || !output_is_pipe(w->output)) {
		if (reader_load(r, b))
			return -1;
		return writer_pass(w, b, e);
	}
	have = r->input.filled - r->input.begin < b->length ? r->input.filled - r->input.begin
							    : b->length;
	if (writer_pass_begin(w, b, r->input.data + r->input.begin, have, e))
		return -1;
	reader_consume(r, have);
	r->pending -= have;
	r->loaded = true;
	return splice_rest(r, w, r->pending, e);
}
