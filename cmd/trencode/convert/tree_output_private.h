/*
 * tree_output_private.h - the spool of a tree_output, for tree_output*.c only
 *
 * The spool is a temporary file with the pieces of all members. A piece begins with a header: u64
 * offset of the member's previous piece (NO_PIECE: none), u64 length in bytes.
 */
#ifndef TR_TRENCODE_CONVERT_TREE_OUTPUT_PRIVATE_H
#define TR_TRENCODE_CONVERT_TREE_OUTPUT_PRIVATE_H

#include "cmd/trencode/convert/tree_output.h"

enum { PIECE_HEADER = 16 };
#define NO_PIECE UINT64_MAX

/* Write all members of the spool to t->output as a tar. Returns 0, or -1 with *e filled. */
int tree_output_write_tar(struct tree_output *t, struct error *e);

#endif
