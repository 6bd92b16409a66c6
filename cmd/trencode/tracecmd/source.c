/*
 * source.c - choose the properties of the output file by those of the source file
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/tracecmd/tracecmd.h"
#include "common/util/lines.h"

/* Bounds of sub-buffers, bytes; the kernel makes no larger ones. */
enum { PAGE_LEAST = 1024, PAGE_MOST = 1 << 20 };

static const char *value_of(const char *text, const char *name)
{
	size_t size;

	return lines_value(text, strlen(text), name, &size);
}

static uint64_t number_of(const char *text, const char *name)
{
	const char *value = value_of(text, name);

	return value ? strtoull(value, NULL, 10) : 0;
}

static uint32_t good_page_size(uint64_t size)
{
	return size >= PAGE_LEAST && size <= PAGE_MOST && !(size & (size - 1)) ? (uint32_t)size : 0;
}

static struct tracecmd_buffer *add_buffer(struct tracecmd_state *s, const char *name, size_t n,
					  const char *clock, size_t clock_size)
{
	struct tracecmd_buffer *b;

	if (s->nbuffers >= TRACECMD_BUFFERS_MOST ||
	    ARRAY_GROW(s->buffers, s->buffers_capacity, s->nbuffers))
		return NULL;
	b = &s->buffers[s->nbuffers];
	*b = (struct tracecmd_buffer){.name = strndup(name, n),
				      .clock = strndup(clock, clock_size),
				      .page_size = s->page_size};
	s->nbuffers++;
	return b->name && b->clock ? b : NULL;
}

uint32_t tracecmd_buffer_number(struct tracecmd_state *s, const char *name, const char *clock)
{
	size_t i = 0;

	while (i < s->nbuffers && strcmp(s->buffers[i].name, name) != 0)
		i++;
	if (i == s->nbuffers && !add_buffer(s, name, strlen(name), clock, strlen(clock)))
		return INTERN_NONE;
	return (uint32_t)i;
}

/* Add the buffers of lines "NAME\tCLOCK\tPAGE_SIZE\tCPUS"; a name may contain tabs. */
static int add_buffers(struct tracecmd_state *s, const char *text, struct error *e)
{
	while (*text) {
		const char *end = strchrnul(text, '\n'), *tab[3], *p = end;
		struct tracecmd_buffer *b;
		int n = 3;

		while (n && (p = memrchr(text, '\t', (size_t)(p - text))))
			tab[--n] = p;
		if (!n) {
			b = add_buffer(s, text, (size_t)(tab[0] - text), tab[0] + 1,
				       (size_t)(tab[1] - tab[0] - 1));
			if (!b)
				return error_no_memory(e);
			if (good_page_size(strtoull(tab[1] + 1, NULL, 10)))
				b->page_size = (uint32_t)strtoull(tab[1] + 1, NULL, 10);
		}
		text = *end ? end + 1 : end;
	}
	/* the top buffer always exists */
	if (!s->nbuffers && !add_buffer(s, "", 0, "", 0))
		return error_no_memory(e);
	return 0;
}

/* Choose version and compression: those of the options, else those of the source. */
static void choose_version(struct tracecmd_state *s, const struct encode_options *o,
			   const char *file)
{
	static const char *const names[] = {"none", "zlib", "zstd"};
	const char *compression = value_of(file, "compression"),
		   *version = value_of(file, "compression_version");
	uint64_t had = number_of(file, "version");
	bool packs = o->compress.given && o->compress.kind != PACK_NONE;
	int source = -1;

	for (int i = 0; compression && i < 3; i++)
		if (!strncmp(compression, names[i], 4) && compression[4] == '\n')
			source = i;
	s->version = o->file_version ? (unsigned)o->file_version : packs || had > 6 ? 7 : 6;
	s->packer.level = o->compress.given ? o->compress.level : -1;
	s->packer.big_endian = s->big_endian;
	if (s->version == 6)
		s->packer.method = TRACECMD_PLAIN;
	else if (o->compress.given)
		s->packer.method = o->compress.kind == PACK_NONE   ? TRACECMD_PLAIN
				   : o->compress.kind == PACK_ZLIB ? TRACECMD_WITH_ZLIB
								   : TRACECMD_WITH_ZSTD;
	else
		s->packer.method =
			had > 6 && source >= 0 ? (enum tracecmd_method)source : TRACECMD_WITH_ZSTD;
	/* readers compare it with the version of their own library */
	if (had > 6 && source == (int)s->packer.method && version)
		snprintf(s->compression_version, sizeof s->compression_version, "%.*s",
			 (int)strcspn(version, "\n"), version);
	else
		snprintf(s->compression_version, sizeof s->compression_version, "%s",
			 tracecmd_packer_version(s->packer.method));
}

int tracecmd_take_source(struct tracecmd_state *s, const struct encode_options *o, struct error *e)
{
	const char *file, *value;
	uint64_t cpus;

	if (buffer_append(&s->parts[PART_FILE], "", 1) ||
	    buffer_append(&s->parts[PART_BUFFERS], "", 1))
		return error_no_memory(e);
	s->begun = true;
	file = (const char *)s->parts[PART_FILE].data;
	if (!value_of(file, "version"))
		return error_set(e, s->source->name.text, NO_OFFSET,
				 "the header of the trace.dat is missing: " WITHOUT_FIRST_SEGMENT);
	s->big_endian = s->source->big_endian;
	s->program_long = number_of(file, "long_size") == 4 ? 4 : 8;
	s->page_size = good_page_size(number_of(file, "page_size"));
	if (!s->page_size)
		s->page_size = 4096;
	cpus = number_of(file, "cpus");
	s->cpus = cpus < TRACECMD_CPUS_MOST ? (uint32_t)cpus : TRACECMD_CPUS_MOST;
	value = value_of(file, "time_added");
	s->time_added = value ? strtoll(value, NULL, 10) : 0;
	value = value_of(file, "offset_added");
	s->offset_added = value ? strtoll(value, NULL, 10) : 0;
	choose_version(s, o, file);
	return add_buffers(s, (const char *)s->parts[PART_BUFFERS].data, e);
}
