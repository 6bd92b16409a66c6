/*
 * input.h - open an operand of the command line and find its decoder
 *
 * Functions return 0, or -1 with *e filled.
 */
#ifndef TR_TRDECODE_INPUT_INPUT_H
#define TR_TRDECODE_INPUT_INPUT_H

#include "cmd/trdecode/decoder.h"

/*
 * Open a directory, a file of a directory, a tar, a saved stream, or "-". Find its decoder among
 * the list, which ends with NULL and may have any order: the highest bid, of all or of the decoder
 * that format names. Fails if the operand cannot be opened or no decoder bids.
 */
int input_open(struct input *in, const char *name, const char *format,
	       const struct decoder *const *decoders, struct decoding *decoding, struct error *e);
/* Call the decoder's open. After a signal that ended the input within its header, the input is an
 * empty recording, which a remark reports. */
int input_open_trace(struct input *in, struct error *e);
/* Test whether a signal ended the input before its first byte or within its header. */
bool input_ended_early(const struct input *in);
/* Fail if operand number i and an earlier operand are both standard input. */
int input_twice(char *const *names, int i, struct error *e);
/* Fail if operand number i is the same file as an earlier operand: each of its events would be
 * written twice. */
int input_same(const struct input *inputs, int i, struct error *e);
/* Fail if the input is the regular file that the output is written to. */
int input_is(const struct input *in, const struct output *out, struct error *e);
/* Call the decoder's begin, or run. */
int input_begin(struct input *in, struct error *e);
int input_run(struct input *in, uint64_t until, struct error *e);
/* Test whether bytes of a file or directory may be unread: it is read at any place, or was not read
 * to its end. */
bool input_left(const struct input *in);
/* The decoder of another input has read a shared input to its end. */
void input_end_shared(struct input *in);
void input_close(struct input *in);

/* Test whether a descriptor is of a file that can be read again: no pipe, and no trace_pipe of
 * tracefs, which stat reports as a regular file. */
bool input_is_file(int fd);

#endif
