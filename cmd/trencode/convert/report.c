/*
 * report.c - report what a conversion could not keep
 */
#include "cmd/trencode/convert/convert.h"

void convert_use_location(struct conversion *a, uint32_t location)
{
	const struct location *p = dictionary_location(a->dictionary, location);
	uint8_t *used;

	if (ARRAY_REACH(a->used, a->used_size, location))
		return;
	used = a->used;
	a->counts.unnamed += !used[location] && p && !p->symbol && !p->name.size;
	used[location] = 1;
}

/* Count the calls that are open at the end. They end. */
static void convert_count_open(struct conversion *a)
{
	struct call done;

	a->calls->on_lost = NULL;
	while (calls_finish(a->calls, &done))
		a->counts.open++;
}

void convert_report(struct conversion *a)
{
	bool kernel = a->target->keeps_kernel;

	convert_count_open(a);
	convert_lost(a, a->counts.unnamed,
		     "{function is|functions are} named by {its address|their addresses}: run "
		     "trsym before trencode");
	convert_lost(a, a->counts.open, "{call|calls} had not returned at the end of the trace");
	convert_lost(a, a->counts.unmatched + a->calls->counts.unmatched,
		     "{return|returns} without a call {is|are} left out");
	convert_lost(a, a->counts.cut,
		     a->target->closes ? CALLS_CUT "closed at the next event of {its|their} thread"
				       : CALLS_CUT "written without one");
	convert_lost(a, a->counts.outlasting,
		     "{kernel call outlasts its caller and is|kernel calls outlast their callers "
		     "and are} closed with {it|them}; the time after that is the caller's");
	convert_lost(a, kernel ? 0 : a->calls->counts.ignored_kernel, CALLS_IGNORED_KERNEL);
	convert_lost(a, kernel ? 0 : a->calls->counts.ignored_inner, CALLS_IGNORED_INNER);
	convert_lost(a, a->overlap.left_out,
		     "{call that overlaps another of its thread is|calls that overlap others of "
		     "their threads are} left out");
	convert_lost(a, a->target->buffers ? 0 : a->counts.with_buffer,
		     "{event is|events are} written without the name of {its buffer|their buffers} "
		     "(instances of ftrace)");
	convert_lost(a, a->counts.backtraces,
		     "back {trace of a call is|traces of calls are} left out");
	convert_lost(a, a->ids.renamed, THREAD_IDS_RENAMED);
}

void convert_report_calls(const struct calls_counts *c, uint64_t cut, bool drop, bool keeps_open)
{
	remark_count(c->unfinished, "{call|calls} had not returned at the end of the trace: %s",
		     drop	  ? "dropped"
		     : keeps_open ? "written without an end"
				  : "closed at their thread's last event");
	remark_count(cut, CALLS_CUT "%s",
		     drop ? "dropped" : "closed at the next event of their thread");
	remark_count(c->unmatched, "{return|returns} without a call: left out");
	remark_count(c->ignored_kernel, CALLS_IGNORED_KERNEL);
	remark_count(c->ignored_inner, CALLS_IGNORED_INNER);
}
