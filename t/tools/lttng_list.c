/*
 * lttng_list.c - lists the events of an LTTng trace of 2.6, packed and little-endian, as the
 * samples' expect.txt do: for tests of what trencode writes, so it shares nothing with trdecode
 *
 * usage: lttng_list [-1] DIR    -1: names and numbers as of a trace that was 1.0
 * Events of the trace itself are left out. Any deviation from the format ends it with status 1.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct marker {
	char *channel, *name, *format;
	int id, sizes[4];
};

static struct marker markers[4096];
static int nmarkers, old_style;
static uint64_t frequency, scale, start;

static void die(const char *file, size_t at, const char *what)
{
	fprintf(stderr, "lttng_list: %s: 0x%zx: %s\n", file, at, what);
	exit(1);
}

static uint64_t number(const uint8_t *p, int n)
{
	uint64_t v = 0;

	for (int i = n; i--;)
		v = v << 8 | p[i];
	return v;
}

static struct marker *find(const char *channel, const char *name, int id)
{
	for (int i = 0; i < nmarkers; i++)
		if (!strcmp(markers[i].channel, channel) &&
		    (name ? !strcmp(markers[i].name, name) && !markers[i].format
			  : markers[i].id == id))
			return &markers[i];
	return NULL;
}

/* One field: where its conversion ends in the format. Prints it; p moves over it. */
static const char *field(const char *f, const int *sizes, const uint8_t **p, const uint8_t *end,
			 int first, const char *file)
{
	char name[256] = "", literal[256] = "", c = 0, kind = 0;
	int n = 0, size = 0, network = 0;
	uint64_t v;

	while (*f && *f != '%') {
		if (*f == ' ') {
			f++;
			continue;
		}
		if (*f == '#') {
			f++;
			while (*f == 'b' || *f == 'n')
				network |= *f++ == 'n';
			if (strchr("1248", *f))
				size = *f++ - '0';
			while (strchr("hlLzZt", *f))
				size = *f == 'h'		       ? 2
				       : *f == 'l' && size == sizes[1] ? 8
				       : *f == 'l'		       ? sizes[1]
				       : *f == 'L'		       ? 8
				       : *f == 't'		       ? sizes[2]
								       : sizes[3],
				f++;
			kind = *f++;
			if (kind == 'p')
				size = sizes[2];
			if (kind != 'p' && !size)
				size = sizes[0];
			continue;
		}
		for (n = 0; *f && *f != ' ' && *f != '%' && *f != '#' && n < 255; n++)
			literal[n] = *f++;
		literal[n] = '\0';
		if (*f == ' ' && !*name) {
			strcpy(name, literal);
		}
		if (*f == ' ')
			literal[0] = '\0';
	}
	if (!*f)
		return NULL;
	f++;
	int c_size = 0, longs = 0;

	while (*f && strchr("-+ #0hlLzZt", *f)) {
		longs += *f == 'l';
		c_size = *f == 'h'	    ? 2
			 : *f == 'l'	    ? (longs > 1 ? 8 : sizes[1])
			 : *f == 'L'	    ? 8
			 : *f == 't'	    ? sizes[2]
			 : strchr("zZ", *f) ? sizes[3]
					    : c_size;
		f++;
	}
	c = *f++;
	if (!c_size)
		c_size = c == 'p' ? sizes[2] : c == 'c' ? 1 : sizes[0];
	if (!size)
		size = c_size;
	if (!kind)
		kind = c;
	printf("%s%s = ", first ? " { " : ", ", name);
	if (c == 's') {
		const uint8_t *nul = memchr(*p, 0, (size_t)(end - *p));

		if (!nul)
			die(file, 0, "a text without end");
		printf("\"%s\"", (const char *)*p);
		*p = nul + 1;
		return f;
	}
	if (end - *p < size)
		die(file, 0, "a number past the end");
	v = number(*p, size);
	if (network)
		v = __builtin_bswap64(v) >> (64 - 8 * size);
	*p += size;
	if (kind == 'p')
		printf("0x%llx", (unsigned long long)v);
	else if (kind == 'd' || kind == 'i')
		printf("%lld", (long long)((int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size)));
	else if (!old_style && c == 'x')
		printf("%s%llx", literal, (unsigned long long)v);
	else if (!old_style && c == 'X')
		printf("%s%llX", literal, (unsigned long long)v);
	else
		printf("%s%llu", old_style ? "" : literal, (unsigned long long)v);
	return f;
}

static const uint8_t *show(const struct marker *m, uint64_t tsc, const char *file, const uint8_t *p,
			   const uint8_t *end)
{
	unsigned __int128 ns = (unsigned __int128)tsc * 1000000000u * scale / frequency;
	const char *f = m->format;
	int n = 0;

	printf("%llu.%09llu %s ", (unsigned long long)(ns / 1000000000),
	       (unsigned long long)(ns % 1000000000), file);
	printf("%s%s%s", old_style ? "" : m->channel, old_style ? "" : ".", m->name);
	while ((f = field(f, m->sizes, &p, end, n == 0, file)))
		n++;
	puts(n ? " }" : "");
	return p;
}

static const uint8_t *metadata(int id, const uint8_t *p, const uint8_t *end)
{
	char *channel = (char *)p, *name = channel + strlen(channel) + 1;
	struct marker *m;

	p = (uint8_t *)name + strlen(name) + 1;
	if (id == 0) {
		m = &markers[nmarkers++];
		*m = (struct marker){strdup(channel),
				     strdup(name),
				     NULL,
				     (int)number(p, 2),
				     {p[2], p[3], p[4], p[5]}};
		if (p[6])
			die("metadata_0", 0, "not packed");
		return p + 7;
	}
	m = find(channel, name, 0);
	if (!m || p >= end)
		die("metadata_0", 0, "a format without an id");
	m->format = strdup((char *)p);
	return p + strlen((char *)p) + 1;
}

static void list(const char *dir, const char *file, int is_metadata)
{
	char path[4096], channel[256];
	FILE *f;
	long size;
	uint8_t *data;

	snprintf(path, sizeof path, "%s/%s", dir, file);
	snprintf(channel, sizeof channel, "%.*s", (int)(strrchr(file, '_') - file), file);
	f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) ||
	    !(data = malloc((size_t)size + 1)) || fread(data, 1, (size_t)size, f) != (size_t)size)
		die(file, 0, "cannot read");
	fclose(f);
	for (size_t at = 0; at < (size_t)size;) {
		uint8_t *h = data + at, *p = h + 68, *end = h + number(h + 52, 4);
		uint64_t tsc = number(h, 8), block = number(h + 56, 4);

		if (number(h + 16, 4) != 0x00d6b7ed || h[20] != 2 || h[21] != 6 || h[23])
			die(file, at, "not a block of 2.6, packed");
		if (block % 4096 || at + block > (size_t)size || end > h + block || end < p)
			die(file, at, "impossible sizes");
		if (is_metadata && !at) {
			frequency = number(h + 40, 8);
			scale = number(h + 48, 4);
			start = tsc;
		}
		while (p < end) {
			uint32_t w = (uint32_t)number(p, 4), id = w >> 27, low = w & 0x7ffffff;
			uint64_t length = UINT64_MAX;
			const uint8_t *payload;
			struct marker *m;

			if (low < (tsc & 0x7ffffff))
				tsc += 1 << 27;
			tsc = (tsc & ~0x7ffffffull) | low;
			p += 4;
			if (id >= 29) {
				uint32_t code = id;

				id = (uint32_t)number(p, 2);
				p += 2;
				if (code != 31) {
					length = number(p, 2);
					p += 2;
					if (length == 0xffff) {
						length = number(p, 4);
						p += 4;
					}
				}
				if (code == 29) {
					tsc = number(p, 8);
					p += 8;
				}
			}
			payload = p;
			if (is_metadata) {
				p = (uint8_t *)metadata((int)id, p, end);
			} else {
				m = find(channel, NULL, (int)id);
				if (!m || !m->format)
					die(file, (size_t)(p - data),
					    "an id that was not announced");
				p = (uint8_t *)show(m, tsc, file, p, end);
			}
			if (length != UINT64_MAX && length != (uint64_t)(p - payload))
				die(file, (size_t)(p - data), "an event of another size");
		}
		if (tsc > number(h + 8, 8))
			die(file, at, "events after the end of the block");
		at += block;
	}
	free(data);
}

int main(int argc, char **argv)
{
	struct dirent *d;
	DIR *dir;

	if (argc > 2 && !strcmp(argv[1], "-1"))
		old_style = 1, argv++;
	dir = opendir(argv[1]);
	if (!dir)
		die(argv[1], 0, "cannot open");
	list(argv[1], "metadata_0", 1);
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.' && strcmp(d->d_name, "metadata_0"))
			list(argv[1], d->d_name, 0);
	closedir(dir);
	return 0;
}
