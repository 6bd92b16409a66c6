/*
 * trace_info.h - print what --info shows: names and values, as text or as a JSON object
 */
#ifndef TR_TRDECODE_INPUT_TRACE_INFO_H
#define TR_TRDECODE_INPUT_TRACE_INFO_H

#include "common/util/text.h"
#include "cmd/trdecode/decoder.h"

struct trace_info {
	struct text *text;
	bool json;
	bool any;	  /* a name was printed */
	const char *list; /* name of the items being listed, NULL: none */
};

void trace_info_begin(struct trace_info *f, struct text *text, bool json, const char *input,
		      bool first);
void trace_info_end(struct trace_info *f);
/* Open the output, before the first input. */
void trace_info_open(struct text *text, bool json);
void trace_info_close(struct text *text, bool json);

#endif
