#include "cmd/trdecode/perf_script/frame_name.h"

static const char anonymous[] = "(anonymous namespace)";

static bool drop_end(struct span *s, const char *end)
{
	if (!span_ends(*s, end))
		return false;
	s->end -= strlen(end);
	return true;
}

/* Return the name of a function of C++ without its parameters and what follows them:
 * "f(int) const [clone .cold]" is "f", but "operator()" and "(anonymous namespace)" are of a name.
 */
static struct span without_parameters(struct span s)
{
	struct span name = s;
	int depth = 0;

	if (span_ends(name, "]")) {
		const char *clone = span_find(name, " [clone ");

		name.end = clone ? clone : name.end;
	}
	while (drop_end(&name, " const") || drop_end(&name, " volatile") || drop_end(&name, " &") ||
	       drop_end(&name, " &&"))
		;
	if (!span_ends(name, ")") || span_ends(name, anonymous))
		return s;
	do {
		name.end--;
		depth += *name.end == ')' ? 1 : *name.end == '(' ? -1 : 0;
	} while (depth && name.end > name.at);
	return depth || name.end == name.at || span_ends(name, "operator") ? s : name;
}

/* Copy the name of a function without what is noise: parameters, quotes. */
static int clean_name(struct buffer *name, struct span s, bool java)
{
	const char *signature = java ? memchr(s.at, '(', span_size(s)) : NULL;

	name->size = 0;
	if (java && *s.at == 'L' && memchr(s.at, '/', span_size(s))) {
		s.at++;
		s.end = signature ? signature : s.end;
	}
	for (s = without_parameters(s); s.at < s.end; s.at++)
		if (*s.at != '"' && *s.at != '\'' && buffer_append(name, s.at, 1))
			return -1;
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
