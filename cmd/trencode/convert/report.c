/*
 * report.c - report what a conversion could not keep
 */
#include <inttypes.h>

#include "cmd/trencode/convert/convert.h"

void convert_use_location(struct conversion *a, uint32_t location)
{
	const struct location *p = dictionary_location(a->dictionary, location);
	uint8_t *used = array_reach(a->used, &a->used_size, location, 1);

	if (!used)
		return;
	a->used = used;
	a->counts.unnamed += !used[location] && p && !p->symbol && !p->name.size;
	used[location] = 1;
}

void convert_lost(const struct conversion *a, uint64_t count, const char *what)
{
	if (count && !a->options->quiet)
		warn(NULL, NO_OFFSET, "%" PRIu64 " %s", count, what);
}

void convert_report(struct conversion *a)
{
	uint64_t open = 0;
	struct call done;

	a->calls.on_lost = NULL;
	while (calls_finish(&a->calls, &done))
		open++;
	convert_lost(a, a->counts.unnamed,
		     "functions have an address for a name; trsym belongs before trencode");
	convert_lost(a, open, "calls had not returned at the end of the trace");
	convert_lost(a, a->counts.unmatched + a->calls.unmatched,
		     "returns of calls whose beginning is not there are left out");
	convert_lost(
		a, a->counts.cut,
		a->target->closes
			? "calls ended without a return (a longjmp, an exec, lost events): closed "
			  "at the next event of their thread"
			: "calls ended without a return (a longjmp, an exec, lost events): written "
			  "without one");
	convert_lost(
		a, a->counts.outlasting,
		"calls in the kernel outlast the call that they are in: they end with it, and what "
		"they took after it is time of the call below");
	convert_lost(a, a->target->keeps_kernel ? 0 : a->calls.outside, CALLS_OUTSIDE);
	convert_lost(a, a->target->keeps_kernel ? 0 : a->calls.apart, CALLS_APART);
	convert_lost(a, a->overlap.left_out,
		     "calls overlap with others of their thread and are left out");
	convert_lost(
		a, a->target->buffers ? 0 : a->counts.with_buffer,
		"events have lost the name of their buffer, an instance of the kernel's tracer");
	convert_lost(a, a->counts.backtraces, "back traces of calls are left out");
	convert_lost(a, a->ids.renamed, THREAD_IDS_RENAMED);
}
