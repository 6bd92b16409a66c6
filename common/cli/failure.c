#include "common/cli/failure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/cli/program.h"
#include "common/stream/writer.h"
#include "common/util/memory.h"
#include "common/util/status.h"

void failure_cause(const struct error *e, char cause[FAILURE_CAUSE])
{
	char location[24] = "";

	if (memory_failed()) {
		snprintf(cause, FAILURE_CAUSE, "%.64s: out of memory",
			 program_invocation_short_name);
		return;
	}
	if (e->offset != NO_OFFSET)
		snprintf(location, sizeof location, "0x%" PRIx64 ": ", e->offset);
	snprintf(cause, FAILURE_CAUSE, "%.64s: %s%s%s%s", program_invocation_short_name, e->file,
		 e->file[0] ? ": " : "", location, e->what);
}

void failure_write(struct output *o, uint32_t head_flags, const char *cause,
		   const struct printed *printed)
{
	struct writer w;

	/* the file may be the input itself */
	if (output_has_content(o))
		return;
	if (!writer_init(&w, o, 0)) {
		w.head.flags = head_flags;
		writer_status(&w, STATUS_FAILED, cause, printed);
		if (!writer_begin(&w, 0))
			writer_finish(&w);
	}
	writer_free(&w);
}

int failure_of_lost(struct writer *w, uint64_t lost, bool lost_more)
{
	char message[80] = "the recorder lost " LOST_MORE " (--strict)";

	if (!lost && !lost_more)
		return STATUS_OK;
	if (!lost_more)
		snprintf(message, sizeof message,
			 "the recorder lost %" PRIu64 " event%s (--strict)", lost,
			 lost == 1 ? "" : "s");
	warn(NULL, NO_OFFSET, "%s", message);
	if (w)
		writer_status(w, STATUS_DAMAGED, message, NULL);
	return STATUS_DAMAGED;
}
