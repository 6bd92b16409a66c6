/*
 * uftrace_dir.h - small uftrace data directories for unit tests
 */
#ifndef TR_T_UNIT_UFTRACE_DIR_H
#define TR_T_UNIT_UFTRACE_DIR_H

#include "t/unit/tap.h"

#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/uftrace_args.h"
#include "cmd/trdecode/uftrace_session.h"
#include "common/formats/uftrace.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new directory below $TMPDIR; its name is malloc'ed. */
static inline char *dir_new(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir;

	if (asprintf(&dir, "%s/uftrace.XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0 || !mkdtemp(dir))
		exit(99);
	return dir;
}

static inline void dir_write_bytes(const char *dir, const char *name, const void *data, size_t size)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		exit(99);
}

static inline void dir_write(const char *dir, const char *name, const char *text)
{
	dir_write_bytes(dir, name, text, strlen(text));
}

/* With everything in it; frees the name. */
static inline void dir_remove(char *dir)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		exit(99);
	free(dir);
}

static inline char *text_copy(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		exit(99);
	return copy;
}

/* The bytes of an info file in this machine's byte order, malloc'ed. */
static inline void *info_bytes(uint64_t feat_mask, uint64_t info_mask, const char *text,
			       size_t *size)
{
	const uint16_t one = 1, header_size = UFTRACE_HEADER_SIZE, max_stack = 77;
	const uint32_t version = UFTRACE_VERSION;
	uint8_t *p = calloc(1, UFTRACE_HEADER_SIZE + strlen(text));

	if (!p)
		exit(99);
	memcpy(p, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE);
	memcpy(p + UFTRACE_HDR_VERSION, &version, sizeof(version));
	memcpy(p + UFTRACE_HDR_SIZE, &header_size, sizeof(header_size));
	p[UFTRACE_HDR_ENDIAN] = *(const uint8_t *)&one ? 1 : 2;
	p[UFTRACE_HDR_CLASS] = 2;
	memcpy(p + UFTRACE_HDR_FEAT_MASK, &feat_mask, sizeof(feat_mask));
	memcpy(p + UFTRACE_HDR_INFO_MASK, &info_mask, sizeof(info_mask));
	memcpy(p + UFTRACE_HDR_MAX_STACK, &max_stack, sizeof(max_stack));
	memcpy(p + UFTRACE_HEADER_SIZE, text, strlen(text));
	*size = UFTRACE_HEADER_SIZE + strlen(text);
	return p;
}

/* All that is known of a directory. */
struct dir {
	struct tree *tree;
	struct uftrace_info info;
	struct uftrace_tasks *tasks;
	struct uftrace_sessions *sessions;
	struct uftrace_args *args;
};

/* task.txt is read from the directory; info is made of the masks and the text. */
static inline void dir_open(struct dir *d, const char *path, uint64_t feat_mask, uint64_t info_mask,
			    const char *info_text)
{
	size_t size;
	void *data = info_bytes(feat_mask, info_mask, info_text, &size);

	d->tree = tree_open_near(path, NULL);
	d->tasks = uftrace_tasks_new();
	if (!d->tree || !d->tasks || uftrace_info_parse(&d->info, data, size, "info", NULL) < 0)
		exit(99);
	if (tree_read(d->tree, "task.txt", 1 << 20, &data, &size, NULL) == 0) {
		uftrace_tasks_parse_text(d->tasks, data, size, "task.txt", NULL);
		free(data);
	}
	d->sessions = uftrace_sessions_new(d->tree, &d->info, d->tasks, NULL);
	d->args = uftrace_args_new(d->sessions, &d->info, NULL);
	if (!d->sessions || !d->args)
		exit(99);
}

static inline void dir_close(struct dir *d)
{
	uftrace_args_free(d->args);
	uftrace_sessions_free(d->sessions);
	uftrace_tasks_free(d->tasks);
	uftrace_info_free(&d->info);
	tree_close(d->tree);
}

#endif
