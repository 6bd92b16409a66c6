#include "cmd/trdecode/perf/record_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/trdecode/perf/perf.h"

enum { PATH_MOST = 4096 };

static const char PREFIX[] = "data.";

struct perf_records *perf_files_begin(struct perf_files *f)
{
	f->files = calloc(1, sizeof *f->files);
	f->count = f->files ? 1 : 0;
	f->last = f->files;
	return f->files;
}

static int add_file(struct perf_files *f, struct tree *t, const char *member, struct error *e)
{
	struct perf_records *files = realloc(f->files, (f->count + 1) * sizeof *files), *s;
	uint64_t offset, size;
	char path[PATH_MOST];

	if (!files)
		return error_no_memory(e);
	f->files = files;
	f->last = files;
	s = &files[f->count++];
	*s = (struct perf_records){.input = files->input,
				   .big_endian = files->big_endian,
				   .fd = -1,
				   .own_name = strdup(tree_path(t, member, path, sizeof path))};
	s->name = s->own_name;
	if (!s->name)
		return error_no_memory(e);
	s->fd = tree_fd(t, member, &offset, &size, e);
	if (s->fd < 0)
		return -1;
	perf_records_seek(s, s->fd, offset, 0, size);
	return 0;
}

/* Report the first file that is missing: of so many files, the numbers begin with 0. */
static void check_numbers(const struct perf_files *f, const struct tree *t, size_t count)
{
	char member[sizeof PREFIX + 20], path[PATH_MOST];

	for (size_t i = 0; i < count; i++) {
		snprintf(member, sizeof member, "%s%zu", PREFIX, i);
		if (tree_has(t, member))
			continue;
		input_damage(f->files->input, tree_path(t, member, path, sizeof path), NO_OFFSET,
			     "the file of the directory is missing");
		return;
	}
}

int perf_files_add(struct perf_files *f, struct tree *t, bool some, struct error *e)
{
	for (size_t i = tree_lower_bound(t, PREFIX); i < tree_count(t); i++) {
		const char *member = tree_member(t, i), *number = member + sizeof PREFIX - 1;

		if (strncmp(member, PREFIX, sizeof PREFIX - 1))
			break;
		if (*number && strspn(number, "0123456789") == strlen(number) &&
		    add_file(f, t, member, e))
			return -1;
	}
	/* the first file is the perf.data */
	check_numbers(f, t, f->count == 1 && some ? 1 : f->count - 1);
	return 0;
}

int perf_files_next(struct perf_files *f, struct perf_record *r, struct error *e)
{
	for (;;) {
		struct perf_records *from = NULL;
		int got;

		for (size_t i = 0; i < f->count; i++)
			if (!f->files[i].ended && (!from || f->files[i].time < from->time))
				from = &f->files[i];
		if (!from)
			return 0;
		got = perf_records_next(from, r, e);
		f->last = from;
		if (got)
			return got;
		from->ended = true;
	}
}

void perf_files_free(struct perf_files *f)
{
	for (size_t i = 0; i < f->count; i++) {
		perf_records_free(&f->files[i]);
		/* that of the first one is the input's */
		if (i && f->files[i].fd >= 0)
			close(f->files[i].fd);
		free(f->files[i].own_name);
	}
	free(f->files);
}
