#include "cmd/trencode/timeline/async_events.h"

#include "common/formats/chrome.h"
#include "common/stream/field.h"

bool async_event_is(const struct type *t)
{
	return t && t->nfields && type_is_of(t, "chrome") &&
	       t->fields[t->nfields - 1].where == WHERE_FIXED &&
	       t->fields[t->nfields - 1].role == ROLE_NONE;
}

char async_event_phase(const struct type *t)
{
	char phase = (char)(t->native & CHROME_PHASE);

	return phase && strchr("bnSTpstf", phase) ? phase : 'n';
}

uint64_t async_event_id(const struct event *ev)
{
	struct field_value id;

	if (!async_event_is(ev->type))
		return 0;
	field_get(ev, &ev->type->fields[ev->type->nfields - 1], 0, &id);
	return id.form == FORM_NONE ? 0 : id.u;
}
