#include "cmd/trsym/function_names.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/bytes.h"

void function_names_free(struct function_names *f)
{
	id_cache_free(&f->numbers);
	intern_free(&f->shown);
}

uint32_t function_names_find(struct function_names *f, const struct source_frame *frame)
{
	const char *function = frame->function ? frame->function : "?";
	struct recent_name *recent = &f->recent[hash_u64(frame->id) % NAMES_RECENT];
	uint32_t *known, number;
	char *name;

	if (frame->id && recent->id == frame->id)
		return recent->number;
	known = id_cache_number(&f->numbers, function, strlen(function));
	if (!known)
		return INTERN_NONE;
	if (!*known) {
		name = demangle(function, f->style);
		number = name ? intern_string(&f->shown, name) : INTERN_NONE;
		free(name);
		if (number == INTERN_NONE)
			return number;
		*known = number + 1;
	}
	*recent = (struct recent_name){frame->id, *known - 1};
	return recent->number;
}
