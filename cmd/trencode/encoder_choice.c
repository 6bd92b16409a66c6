/*
 * encoder_choice.c - find an encoder by its name or by the name of the output
 */
#include "cmd/trencode/encoder_choice.h"

#include <stdio.h>

const struct encoder *encoder_find(const struct encoder *const *table, const char *name)
{
	for (; *table; table++)
		if (!strcmp((*table)->name, name))
			return *table;
	return NULL;
}

/* Test whether the path ends with the suffix, or, if the suffix ends with '*', whether the last
 * component of the path begins with the suffix. */
static bool has_suffix(const char *path, size_t n, const char *suffix, size_t size)
{
	const char *last = path;

	if (suffix[size - 1] != '*')
		return n >= size && !strncmp(path + n - size, suffix, size);
	for (size_t i = 0; i < n; i++)
		if (path[i] == '/')
			last = path + i + 1;
	return (size_t)(path + n - last) >= size - 1 && !strncmp(last, suffix, size - 1);
}

const struct encoder *encoder_by_suffix(const struct encoder *const *table, const char *path)
{
	const struct encoder *found = NULL;
	size_t n = strlen(path), longest = 0;

	while (n && path[n - 1] == '/')
		n--;
	for (; *table; table++) {
		const struct encoder *one = *table;
		size_t size = strlen(one->name);

		if (n > size && path[n - size - 1] == '.' && size >= longest &&
		    has_suffix(path, n, one->name, size)) {
			found = one;
			longest = size + 1;
		}
		for (const char *p = one->suffixes; p && *p;) {
			size = strcspn(p, " ");
			if (size > longest && has_suffix(path, n, p, size)) {
				found = one;
				longest = size;
			}
			p += size + (p[size] == ' ');
		}
	}
	return found;
}

int encoder_list(const struct encoder *const *table)
{
	struct error e;

	for (; *table; table++)
		printf("%-10s %s (.%s%s%s)\n", (*table)->name, (*table)->purpose, (*table)->name,
		       (*table)->suffixes ? " " : "", (*table)->suffixes ? (*table)->suffixes : "");
	if (!fflush(stdout) && !ferror(stdout))
		return STATUS_OK;
	error_errno(&e, "standard output", NO_OFFSET, "%s", "");
	error_print(&e);
	return STATUS_FAILED;
}
