#include "cmd/trdecode/input/process_names.h"

#include <string.h>

#include "common/formats/process_names.h"
#include "common/util/buffer.h"

int process_names_write(struct writer *w, uint32_t source, const struct id_cache *names)
{
	struct buffer b = {0};
	int failed = 0;

	for (uint32_t i = 0; i < names->keys.count && !failed; i++) {
		const char *name;
		int32_t pid;
		size_t n;

		if (!names->numbers[i])
			continue;
		memcpy(&pid, intern_data(&names->keys, i), sizeof pid);
		name = writer_string_of(w, names->numbers[i], &n);
		failed = buffer_u32(&b, (uint32_t)pid) || buffer_u32(&b, (uint32_t)n) ||
			 buffer_append(&b, name, n);
	}
	if (!failed && b.size)
		failed = writer_meta(w, source, PROCESS_NAMES_META, b.data, b.size);
	buffer_free(&b);
	return failed ? -1 : 0;
}
