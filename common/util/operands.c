/*
 * operands.c - the files that operands name: each a file, or a pattern of the shell
 */
#include "common/util/operands.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/buffer.h"
#include "common/util/error.h"

static int operands_add_file(struct operands *o, const char *path, size_t most, struct error *e)
{
	if (o->count == most)
		return error_set(e, path, NO_OFFSET, "more than %zu files", most);
	if (ARRAY_GROW(o->path, o->capacity, o->count))
		return error_no_memory(e);
	o->path[o->count] = strdup(path);
	return o->path[o->count++] ? 0 : error_no_memory(e);
}

/* Stop glob when it is out of memory; a directory that cannot be read has no file. */
static int operands_glob_error(const char *path, int number)
{
	(void)path;
	return number == ENOMEM;
}

int operands_add(struct operands *o, const char *operand, size_t most, struct error *e)
{
	bool exists = !strcmp(operand, "-") || !access(operand, F_OK);
	glob_t found;
	int bad;

	if (exists || !strpbrk(operand, "*?["))
		return operands_add_file(o, operand, most, e);
	bad = glob(operand, 0, operands_glob_error, &found);
	if (bad == GLOB_NOMATCH)
		return error_set(e, operand, NO_OFFSET, "no file has such a name");
	if (bad)
		return error_no_memory(e);
	for (size_t i = 0; !bad && i < found.gl_pathc; i++)
		bad = operands_add_file(o, found.gl_pathv[i], most, e);
	globfree(&found);
	return bad;
}

struct operand_file {
	dev_t device;
	ino_t inode; /* 0: there is no such file, as opening it reports */
	const char *path;
};

static int by_file(const void *x, const void *y)
{
	const struct operand_file *a = x, *b = y;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->inode > b->inode) - (a->inode < b->inode);
}

int operands_check_twice(const struct operands *o, struct error *e)
{
	struct operand_file *file = calloc(o->count + 1, sizeof(*file));
	int bad = file ? 0 : error_no_memory(e);

	for (size_t i = 0; !bad && i < o->count; i++) {
		const char *path = o->path[i];
		struct stat s;

		if (!(strcmp(path, "-") ? stat(path, &s) : fstat(STDIN_FILENO, &s)))
			file[i] = (struct operand_file){s.st_dev, s.st_ino, path};
	}
	if (!bad)
		qsort(file, o->count, sizeof(*file), by_file);
	for (size_t i = 1; !bad && i < o->count; i++)
		if (file[i].inode && !by_file(&file[i - 1], &file[i])) {
			bool other = strcmp(file[i - 1].path, file[i].path) != 0;

			bad = error_set(e, file[i].path, NO_OFFSET, "given twice%s%.300s",
					other ? ", also as " : "", other ? file[i - 1].path : "");
		}
	free(file);
	return bad;
}

void operands_free(struct operands *o)
{
	for (size_t i = 0; i < o->count; i++)
		free(o->path[i]);
	free(o->path);
	*o = (struct operands){0};
}
