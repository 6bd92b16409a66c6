#include "cmd/trencode/convert/clock_epoch.h"

#include <inttypes.h>

#include "common/util/buffer.h"

void clock_epoch_head(struct clock_epoch *r, const struct head *h)
{
	/* the next segment of the same stream continues it */
	r->border |= r->begun && (h->stream_id != r->stream_id || h->sequence != r->sequence + 1);
	r->begun = true;
	r->stream_id = h->stream_id;
	r->sequence = h->sequence;
}

uint32_t clock_epoch_at(struct clock_epoch *r, uint64_t time)
{
	r->count += r->border && time < r->latest;
	r->border = false;
	if (time > r->latest)
		r->latest = time;
	return r->count;
}

int clock_epoch_name(uint32_t epoch, struct buffer *b)
{
	return epoch ? buffer_printf(b, "~%" PRIu32, epoch + 1) : 0;
}
