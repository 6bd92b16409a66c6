/*
 * tree_output_tar.c - the members of the spool as a tar on standard output
 */
#include "cmd/trencode/convert/tree_output_private.h"

#include "common/util/buffer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	COPY_SIZE = 64 << 10,
	TAR_BLOCK = 10240, /* as tar(1) does */
};

/* One tar while it is written. */
struct tar {
	struct tree_output *tree;
	struct archive *archive;
	struct error *e;
	uint8_t *copy; /* COPY_SIZE */
	bool failed;   /* e is filled */
};

static la_ssize_t tar_write_block(struct archive *a, void *ctx, const void *data, size_t n)
{
	struct tar *tar = ctx;

	if (tar->failed)
		return -1;
	if (!output_write(&tar->tree->output, data, n, tar->e))
		return (la_ssize_t)n;
	tar->failed = true;
	archive_set_error(a, EIO, "cannot write");
	return -1;
}

static int tar_failed(struct tar *tar)
{
	if (!tar->failed)
		error_set(tar->e, "standard output", NO_OFFSET, "cannot write the tar: %s",
			  archive_error_string(tar->archive));
	tar->failed = true;
	return -1;
}

/* Write the header of a member; name NULL: of the directory itself. It has neither time nor owner,
 * so equal input gives equal bytes. */
static int tar_header(struct tar *tar, const char *name, uint64_t size)
{
	struct archive_entry *entry = archive_entry_new();
	char *path;
	int r;

	if (!entry || asprintf(&path, "%s/%s", tar->tree->top, name ? name : "") < 0) {
		archive_entry_free(entry);
		tar->failed = true;
		return error_no_memory(tar->e);
	}
	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, name ? AE_IFREG : AE_IFDIR);
	archive_entry_set_perm(entry, name ? 0644 : 0755);
	archive_entry_set_size(entry, (la_int64_t)size);
	archive_entry_set_mtime(entry, 0, 0);
	r = archive_write_header(tar->archive, entry);
	archive_entry_free(entry);
	free(path);
	/* a warning: the name is not a text of this locale, and is written unchanged */
	return r < ARCHIVE_WARN ? tar_failed(tar) : 0;
}

static int tar_read_spool(struct tar *tar, uint64_t offset, void *data, size_t n)
{
	uint8_t *p = data;

	while (n) {
		ssize_t got = pread(tar->tree->spool, p, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			tar->failed = true;
			return error_errno(tar->e, "temporary file", NO_OFFSET, "cannot read");
		}
		p += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

static int tar_piece(struct tar *tar, uint64_t at)
{
	uint8_t head[PIECE_HEADER];
	uint64_t left;

	if (tar_read_spool(tar, at, head, sizeof(head)))
		return -1;
	left = get_u64(head + 8);
	for (at += sizeof(head); left;) {
		size_t n = left < COPY_SIZE ? (size_t)left : COPY_SIZE;

		if (tar_read_spool(tar, at, tar->copy, n))
			return -1;
		if (archive_write_data(tar->archive, tar->copy, n) != (la_ssize_t)n)
			return tar_failed(tar);
		at += n;
		left -= n;
	}
	return 0;
}

/* Write a member. Its pieces are linked from the last to the first. */
static int tar_member(struct tar *tar, uint32_t number)
{
	const struct tree_member *m = &tar->tree->members[number];
	struct buffer pieces = {0};
	uint8_t head[PIECE_HEADER];
	int r = tar_header(tar, intern_data(&tar->tree->names, number), m->size);

	for (uint64_t at = m->last; !r && at != NO_PIECE; at = get_u64(head)) {
		r = tar_read_spool(tar, at, head, sizeof(head));
		if (!r && buffer_u64(&pieces, at)) {
			tar->failed = true;
			r = error_no_memory(tar->e);
		}
	}
	for (size_t i = pieces.size / 8; !r && i-- > 0;)
		r = tar_piece(tar, get_u64(pieces.data + 8 * i));
	buffer_free(&pieces);
	return r;
}

int tree_output_write_tar(struct tree_output *t, struct error *e)
{
	struct tar tar = {.tree = t, .e = e};
	int r = -1;

	tar.archive = archive_write_new();
	tar.copy = malloc(COPY_SIZE);
	if (!tar.archive || !tar.copy) {
		tar.failed = true;
		error_no_memory(e);
	} else if (archive_write_set_format_pax_restricted(tar.archive) < ARCHIVE_WARN ||
		   archive_write_set_bytes_per_block(tar.archive, TAR_BLOCK) < ARCHIVE_WARN ||
		   archive_write_open(tar.archive, &tar, NULL, tar_write_block, NULL) <
			   ARCHIVE_WARN) {
		tar_failed(&tar);
	} else {
		r = tar_header(&tar, NULL, 0);
		for (uint32_t i = 0; !r && i < t->names.count; i++)
			r = tar_member(&tar, i);
		if (!r && archive_write_close(tar.archive) < ARCHIVE_WARN)
			r = tar_failed(&tar);
	}
	archive_write_free(tar.archive);
	free(tar.copy);
	return r;
}
