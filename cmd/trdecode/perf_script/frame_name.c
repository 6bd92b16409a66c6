#include "cmd/trdecode/perf_script/frame_name.h"

static const char anonymous[] = "(anonymous namespace)";

/* Copy the name of a function without what is noise: parameters, quotes, offsets. */
static int clean_name(struct buffer *name, struct span s, bool java)
{
	const char *dot = memmem(s.at, span_size(s), ".(", 2);
	/* a method of Go: net/http.(*Client).Do */
	bool go = dot && span_find((struct span){dot, s.end}, ").");

	name->size = 0;
	if (java && *s.at == 'L' && memchr(s.at, '/', span_size(s)))
		s.at++;
	for (; s.at < s.end; s.at++) {
		if (span_begins(s, anonymous)) {
			if (buffer_append(name, anonymous, sizeof anonymous - 1))
				return -1;
			s.at += sizeof anonymous - 2;
		} else if (*s.at == '(' && !go) {
			break;
		} else if (*s.at != '"' && *s.at != '\'' && buffer_append(name, s.at, 1)) {
			return -1;
		}
	}
	while (name->size && name->data[name->size - 1] == ' ')
		name->size--;
	return 0;
}

/* Name a function that perf did not know after its file. */
static int name_unknown(struct buffer *name, struct span file)
{
	const char *slash = file.at < file.end ? memrchr(file.at, '/', span_size(file)) : NULL;

	if (slash)
		file.at = slash + 1;
	name->size = 0;
	if (span_is(file, "[unknown]") || file.at == file.end)
		file = SPAN("unknown");
	return buffer_append(name, "[", 1) || buffer_append(name, file.at, span_size(file)) ||
			       buffer_append(name, "]", 1)
		       ? -1
		       : 0;
}

int frame_name(struct buffer *name, struct span function, struct span file, bool java)
{
	if (span_is(function, "[unknown]") || function.at == function.end)
		return name_unknown(name, file);
	return clean_name(name, function, java);
}

bool frame_is_process(struct span function)
{
	return function.at < function.end && *function.at == '(' &&
	       !span_begins(function, anonymous);
}
