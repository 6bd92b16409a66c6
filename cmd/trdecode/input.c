#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/program.h"
#include "common/reader.h"

enum { HEAD_SIZE = 4096, REPORTED_MOST = 8 };

void input_damage_error(struct input *in, const struct error *e)
{
	struct decoding *d = in->decoding;
	char message[600];

	d->status = status_worse(d->status, STATUS_DAMAGED);
	if (d->writer) {
		snprintf(message, sizeof(message), "%.250s: %.300s", e->file[0] ? e->file : in->name,
			 e->what);
		writer_status(d->writer, STATUS_DAMAGED, message);
	}
	/* a thousand lines of the same do not tell more */
	if (in->reported < REPORTED_MOST || d->verbose)
		error_print(e);
	else
		in->unreported++;
	in->reported++;
}

void input_damage(struct input *in, const char *file, uint64_t offset, const char *fmt, ...)
{
	struct error e;
	char what[sizeof(e.what)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	error_set(&e, file, offset, "%s", what);
	input_damage_error(in, &e);
}

/* The first bytes of a file or pipe, as many as there are up to what a format shows itself by. */
static int read_head(struct input *in, struct error *e)
{
	in->head = malloc(HEAD_SIZE);
	if (!in->head)
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	while (in->head_size < TREE_PROBE) {
		ssize_t got = read(in->fd, in->head + in->head_size, HEAD_SIZE - in->head_size);

		if (got < 0) {
			struct pollfd p = {in->fd, POLLIN, 0};

			if (errno == EINTR)
				continue;
			if (errno == EAGAIN) {
				poll(&p, 1, -1);
				continue;
			}
			return error_errno(e, in->name, NO_OFFSET, "cannot read");
		}
		if (!got)
			break;
		in->head_size += (size_t)got;
		/* a live stream may begin with less than a tar would */
		if (reader_is_stream(in->head, in->head_size))
			break;
	}
	return 0;
}

/* Its directory, where this file may be a part of a trace. */
static int open_part(struct input *in, struct error *e)
{
	char *slash;

	in->path = strdup(in->name);
	if (!in->path)
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	slash = strrchr(in->path, '/');
	if (slash) {
		in->member = in->name + (slash - in->path) + 1;
		slash[slash == in->path] = '\0';
	} else {
		in->member = in->name;
		strcpy(in->path, ".");
	}
	in->tree = tree_open(in->path, e);
	return in->tree ? 0 : -1;
}

static const struct decoder *probe(const struct input *in, const struct decoder *const *decoders)
{
	for (; *decoders; decoders++)
		if ((*decoders)->probe(in))
			return *decoders;
	return NULL;
}

static int open_file(struct input *in, const char *name, struct error *e)
{
	struct stat st;

	if (!strcmp(name, "-")) {
		in->name = "<stdin>";
		in->fd = STDIN_FILENO;
		if (isatty(in->fd))
			return error_set(e, in->name, NO_OFFSET, "is a terminal, no trace");
		return 0;
	}
	in->fd = open(name, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		return error_errno(e, name, NO_OFFSET, "cannot open");
	if (!fstat(in->fd, &st) && S_ISDIR(st.st_mode)) {
		in->tree = tree_open_fd(in->fd, name, NULL, 0, e);
		if (!in->tree)
			return -1;
	}
	return 0;
}

int input_open(struct input *in, const char *name, const char *format,
	       const struct decoder *const *decoders, struct decoding *decoding, struct error *e)
{
	*in = (struct input){
		.name = name, .fd = -1, .decoding = decoding, .next = UINT64_MAX, .clock_name = ""};
	e->what[0] = '\0';
	if (open_file(in, name, e))
		return -1;
	if (!in->tree) {
		if (read_head(in, e))
			return -1;
		/* a compressed file is a tar, unless a format shows itself in it */
		in->decoder = probe(in, decoders);
		if (!in->decoder && tree_is_archive(in->head, in->head_size)) {
			in->tree = tree_open_fd(in->fd, in->name, in->head, in->head_size, e);
			if (!in->tree)
				return -1;
		}
	}
	if (!in->decoder)
		in->decoder = probe(in, decoders);
	if (!in->decoder && !in->tree && in->fd != STDIN_FILENO) {
		if (open_part(in, e))
			return -1;
		in->decoder = probe(in, decoders);
	}
	if (!in->decoder)
		return error_set(e, in->name, NO_OFFSET,
				 in->fd == STDIN_FILENO && !in->head_size ? "is empty, no trace"
									  : "not a trace of a known format");
	if (format && strcmp(format, in->decoder->name))
		return error_set(e, in->name, NO_OFFSET, "not a trace of the format %s (but of %s)",
				 format, in->decoder->name);
	return 0;
}

void input_close(struct input *in)
{
	if (in->decoder && in->state)
		in->decoder->close(in);
	if (in->unreported)
		warn(in->name, NO_OFFSET, "%llu more places of damage (--verbose names them)",
		     (unsigned long long)in->unreported);
	tree_close(in->tree);
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	free(in->head);
	free(in->path);
}
