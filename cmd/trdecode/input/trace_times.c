#include "cmd/trdecode/input/trace_times.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/trdecode/input/input.h"
#include "cmd/trdecode/input/merge.h"

/* One decoding of all inputs, without output, that finds the highest time. */
struct pass {
	struct decoding decoding;
	struct row_filter row_filter;
	struct output nowhere;
	struct writer writer;
	struct input *inputs;
	int opened;
	uint64_t last;
	bool any;
};

static bool pass_note(void *ctx, uint64_t time, uint32_t lane, uint32_t type, const void *fixed)
{
	struct pass *p = ctx;

	(void)lane;
	(void)type;
	(void)fixed;
	p->any = true;
	p->last = time > p->last ? time : p->last;
	return true;
}

/* Test whether a regular file, which need not be open, can be read again. */
static bool is_file(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	bool is = fd < 0 || input_is_file(fd); /* the error of opening is reported later */

	if (fd >= 0)
		close(fd);
	return is;
}

static int can_seek(const char *name, const char *what, struct error *e)
{
	bool standard = !strcmp(name, "-");
	struct stat st;

	if (standard ? fstat(STDIN_FILENO, &st) : stat(name, &st))
		return error_errno(e, standard ? "<stdin>" : name, NO_OFFSET, "cannot open");
	if (S_ISDIR(st.st_mode) ||
	    (S_ISREG(st.st_mode) && (standard ? !lseek(STDIN_FILENO, 0, SEEK_CUR) : is_file(name))))
		return 0;
	return error_set(e, standard ? "<stdin>" : name, NO_OFFSET,
			 "%s needs a file or directory, not a pipe: save the trace first", what);
}

static int pass_begin(struct pass *p, const struct trace_times *l, struct error *e)
{
	p->nowhere.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (p->nowhere.fd < 0)
		return error_errno(e, "/dev/null", NO_OFFSET, "cannot open");
	p->inputs = calloc((size_t)l->n, sizeof *p->inputs);
	if (!p->inputs || writer_init(&p->writer, &p->nowhere, 0))
		return error_no_memory(e);
	p->decoding = (struct decoding){.writer = &p->writer,
					.clock = l->clock,
					.quiet = true,
					.times_only = true,
					.row_filter = &p->row_filter};
	p->row_filter.last_time = UINT64_MAX;
	p->writer.refusal.row = pass_note;
	p->writer.refusal.ctx = p;
	for (; p->opened < l->n; p->opened++) {
		struct input *in = &p->inputs[p->opened];
		const char *name = l->names[p->opened];

		in->fd = -1;
		if (input_open(in, strcmp(name, "-") ? name : "/dev/stdin", l->format, l->decoders,
			       &p->decoding, e) ||
		    input_open_trace(in, e)) {
			p->opened++;
			return -1;
		}
		if (l->shift)
			l->shift(in, name, p->opened, l->ctx);
	}
	if (writer_begin(&p->writer, 0)) {
		*e = p->writer.error;
		return -1;
	}
	for (int i = 0; i < l->n; i++)
		if (input_begin(&p->inputs[i], e))
			return -1;
	return 0;
}

/* Have decoders skip the events before a time near the end. Return false if the end itself is
 * known. */
static bool look_late(struct pass *p, int n)
{
	uint64_t latest = 0;
	bool known = true;

	for (int i = 0; i < n; i++) {
		struct input *in = &p->inputs[i];
		uint64_t time = 0;

		if (in->next == UINT64_MAX)
			continue;
		if (!in->decoder->late || !in->decoder->late(in, &time))
			known = false;
		latest = time > latest ? time : latest;
	}
	p->row_filter.first_time = latest;
	if (!known)
		return true;
	p->last = latest;
	p->any = latest;
	return false;
}

static void pass_end(struct pass *p)
{
	for (int i = 0; i < p->opened; i++) {
		p->inputs[i].faults = (struct faults){0};
		input_close(&p->inputs[i]);
	}
	free(p->inputs);
	writer_free(&p->writer);
	if (p->nowhere.fd >= 0)
		close(p->nowhere.fd);
}

/* Decode all inputs. late: trust the times that decoders give for the end. */
static int pass_decode(const struct trace_times *l, bool late, uint64_t *last, bool *any,
		       struct error *e)
{
	struct pass p = {.nowhere.fd = -1};
	int bad = pass_begin(&p, l, e);

	if (!bad && (!late || look_late(&p, l->n)))
		bad = merge_run(p.inputs, l->n, UINT64_MAX, e);
	*last = p.last;
	/* the highest time is known only if it is not below the first time decoded */
	*any = p.any && p.last >= p.row_filter.first_time;
	pass_end(&p);
	return bad;
}

int trace_times_last(const struct trace_times *l, uint64_t *last, struct error *e)
{
	bool any;

	for (int i = 0; i < l->n; i++)
		if (can_seek(l->names[i], "a time before the end", e))
			return -1;
	if (pass_decode(l, true, last, &any, e))
		return -1;
	/* damage made the late time wrong: decode everything */
	return any ? 0 : pass_decode(l, false, last, &any, e);
}

int trace_times_first(const struct trace_times *l, uint64_t *first, struct error *e)
{
	struct pass p = {.nowhere.fd = -1};
	int bad = 0;

	for (int i = 0; i < l->n; i++)
		if (can_seek(l->names[i], "--align", e))
			return -1;
	bad = pass_begin(&p, l, e);
	for (int i = 0; !bad && i < l->n; i++)
		first[i] = p.inputs[i].next;
	pass_end(&p);
	return bad;
}
