/*
 * archive.h - trdecode --verify and --reindex: saved streams and their indexes
 */
#ifndef TR_TRDECODE_ARCHIVE_H
#define TR_TRDECODE_ARCHIVE_H

struct common_options;

/* Read saved streams whole, and compare them with their indexes. Returns the exit status. */
int archive_verify(const struct common_options *common, char **paths, int n);
/* Write saved streams again with a new index. Returns the exit status. */
int archive_reindex(const struct common_options *common, int argc, char **argv, char **paths,
		    int n);

#endif
