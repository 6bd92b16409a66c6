#include "cmd/trfilter/rewrite/scrub.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

int scrub_parse(struct scrub *s, const char *list, struct error *e)
{
	static const char *const words[] = {"names", "args", "paths"};

	for (;;) {
		size_t n = strcspn(list, ",");
		unsigned found = 0;

		for (unsigned i = 0; i < 3; i++)
			if (n == strlen(words[i]) && !memcmp(list, words[i], n))
				found = 1u << i;
		if (!found)
			return error_set(e, NULL, NO_OFFSET,
					 "--scrub takes names, args and paths, not '%.*s'", (int)n,
					 list);
		s->what |= found;
		if (!list[n])
			return 0;
		list += n + 1;
	}
}

int scrub_key(struct scrub *s, const char *text, struct error *e)
{
	if (text) {
		s->key = siphash_key(text);
		return 0;
	}
	if (getrandom(&s->key, sizeof s->key, 0) != sizeof s->key)
		return error_set(e, NULL, NO_OFFSET, "cannot draw a key: %s", strerror(errno));
	return 0;
}

void scrub_pseudonym(const struct scrub *s, const void *text, size_t n, char out[PSEUDONYM])
{
	uint64_t hash = siphash(&s->key, text, n);

	out[0] = 'x';
	for (int i = 1; i < PSEUDONYM; i++, hash >>= 4)
		out[i] = "0123456789abcdef"[hash & 15];
}

/* Returns true for a part that reveals nothing, or is not a file: "[vdso]". */
static bool path_stays(const char *part, size_t n)
{
	return !n || (n == 1 && *part == '.') || (n == 2 && !memcmp(part, "..", 2)) ||
	       (n > 2 && *part == '[' && part[n - 1] == ']' && !memchr(part, ' ', n));
}

int scrub_path(const struct scrub *s, const char *path, size_t n, struct buffer *out)
{
	const char *end = path + n;

	for (;;) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		size_t size = (size_t)((slash ? slash : end) - path);
		char pseudonym[PSEUDONYM];

		scrub_pseudonym(s, path, size, pseudonym);
		if (path_stays(path, size) ? size && buffer_append(out, path, size)
					   : buffer_append(out, pseudonym, PSEUDONYM))
			return -1;
		if (!slash)
			return 0;
		if (buffer_u8(out, '/'))
			return -1;
		path = slash + 1;
	}
}

void scrub_pattern(const struct scrub *s, const uint8_t *bytes, size_t n, uint8_t out[8])
{
	put_u64(out, siphash(&s->key, bytes, n));
}

void scrub_bytes(const struct scrub *s, const uint8_t *bytes, size_t n, uint8_t *out)
{
	uint8_t pattern[8];

	scrub_pattern(s, bytes, n, pattern);
	for (size_t i = 0; i < n; i++)
		out[i] = pattern[i % 8];
}

uint64_t scrub_number(const struct scrub *s, uint64_t number)
{
	uint8_t bytes[8];
	uint64_t hash;

	if (!number)
		return 0;
	put_u64(bytes, number);
	hash = siphash(&s->key, bytes, sizeof bytes);
	return number > UINT32_MAX ? hash : hash & UINT32_MAX;
}
