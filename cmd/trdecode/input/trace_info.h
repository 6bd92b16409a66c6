/*
 * trace_info.h - what --info prints: names and values, as text or as a JSON object
 */
#ifndef TR_FACTS_H
#define TR_FACTS_H

#include "common/util/text.h"
#include "cmd/trdecode/decoder.h"

struct facts {
	struct text *text;
	bool json;
	bool any;	  /* one was printed */
	const char *list; /* the name of the items being listed, NULL none */
};

void facts_begin(struct facts *f, struct text *text, bool json, const char *input, bool first);
void facts_end(struct facts *f);
/* Around all inputs. */
void facts_open(struct text *text, bool json);
void facts_close(struct text *text, bool json);

#endif
