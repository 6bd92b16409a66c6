#include "cmd/trfilter/report.h"

#include <stdlib.h>

int report(struct stage *s, void (*print)(struct text *t, void *ctx), void *ctx)
{
	struct text *t = malloc(sizeof *t);
	struct error e;
	int bad = 0;

	if (!t)
		return stage_no_memory(s);
	text_init(t, &s->output);
	print(t, ctx);
	if (text_flush(t, &e))
		bad = stage_fail(s, &e);
	free(t);
	return bad;
}
