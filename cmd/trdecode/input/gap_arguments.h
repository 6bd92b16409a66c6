/*
 * gap_arguments.h - instants that trencode wrote for gaps become gaps again
 *
 * An instant with the name CHROME_GAP and the category CHROME_GAP_CATEGORY
 * (common/formats/chrome.h) is a gap if one of its arguments is the reason.
 */
#ifndef TR_TRDECODE_INPUT_GAP_ARGUMENTS_H
#define TR_TRDECODE_INPUT_GAP_ARGUMENTS_H

#include "common/stream/writer.h"

/* A gap and its texts. */
struct gap_arguments {
	struct gap gap;
	bool has_reason;
	int32_t cpu; /* of a gap of no thread in Perfetto's format; -1 none */
	char file[1024 + 1], message[1000 + 1]; /* as much as writer_gap writes */
};

/* Read a gap from named values, as arguments_values takes them. Returns false if there is no
 * reason.
 */
bool gap_arguments_read(struct gap_arguments *a, const struct writer *w, const uint8_t *values,
			uint32_t size);

#endif
