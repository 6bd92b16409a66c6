/*
 * convert_parts.c - make what a converted trace.dat has beside its records: headers, the clock's
 * name, kallsyms, formats of messages, names of threads
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/formats/tracecmd.h"
#include "common/util/version.h"
#include "cmd/trencode/tracecmd/convert.h"

/* An address that neither programs nor the kernel use. */
static const uint64_t FIRST_ADDRESS = 1ull << 48;

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static const char header_event[] = "# compressed entry header\n"
				   "\ttype_len    :    5 bits\n"
				   "\ttime_delta  :   27 bits\n"
				   "\tarray       :   32 bits\n\n"
				   "\tpadding     : type == 29\n"
				   "\ttime_extend : type == 30\n"
				   "\ttime_stamp : type == 31\n"
				   "\tdata max type_len  == 28\n";

/* Return the name of the clock, by which readers choose the format of times. A trace.dat's clock
 * keeps its name. */
static const char *clock_name(const struct conversion *a, const struct lane *lane)
{
	static const char *const known[] = {"local", "global",	"counter", "uptime",
					    "perf",  "mono",	"boot",	   "mono_raw",
					    "tai",   "x86-tsc", "ppc-tb",  "s390-tod"};
	const struct clock *clock = lane ? lane->clock : NULL;
	bool ticks = clock && clock->flags & CLOCK_TICKS;

	if (ticks && a->options->tick)
		return "local";
	if (clock && lane->source && !strcmp(lane->source->format.text, "trace-cmd"))
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (!strcmp(clock->name.text, known[i]))
				return known[i];
	return ticks ? "counter" : "local";
}

/* Write the options as trdecode does. Readers know the clock by its option only. The version
 * records that trencode escaped the names. */
static int put_options(struct conversion *a, const char *clock, struct error *e)
{
	static const char version[] = TRACECMD_OWN " " TRUTILS_VERSION;
	struct buffer b = {0};
	size_t n = strlen(clock) + 3;
	int result = buffer_u32(&b, TRACECMD_VERSION) || buffer_u32(&b, sizeof version) ||
				     buffer_append(&b, version, sizeof version) ||
				     buffer_u32(&b, TRACECMD_TRACECLOCK) ||
				     buffer_u32(&b, (uint32_t)n) ||
				     buffer_printf(&b, "[%s]", clock) || buffer_u8(&b, 0)
			     ? error_no_memory(e)
			     : target_meta(&a->d, "options", b.data, b.size, 0, e);

	buffer_free(&b);
	return result;
}

int tracecmd_parts_begin(struct conversion *a, const struct lane *lane, struct error *e)
{
	static const char file[] = "version 6\nlong_size 8\npage_size 4096\ncompression none\n"
				   "compression_version \ntime_added 0\ncpus 1\n";
	const char *clock = clock_name(a, lane);
	char buffers[64];
	int n = snprintf(buffers, sizeof buffers, "\t%s\t4096\t1\n", clock);

	a->d.clock->name = target_string(&a->d, clock, strlen(clock));
	return target_meta(&a->d, "file", file, sizeof file - 1, 0, e) ||
			       target_meta(&a->d, "buffers", buffers, (size_t)n, 0, e) ||
			       target_meta(&a->d, "header_page", header_page,
					   sizeof header_page - 1, 0, e) ||
			       target_meta(&a->d, "header_event", header_event,
					   sizeof header_event - 1, 0, e) ||
			       put_options(a, clock, e)
		       ? -1
		       : 0;
}

int tracecmd_parts_meta(struct tracecmd_parts *p, const struct dictionary *d, const struct meta *m,
			struct error *e)
{
	const struct source *source = m->source ? pool_at(&d->sources, m->source) : NULL;
	struct buffer *b = NULL;

	if (m->name_size == 8 && !memcmp(m->name, "kallsyms", 8))
		b = &p->kallsyms;
	else if (m->name_size == 14 && !memcmp(m->name, "printk_formats", 14))
		b = &p->printk;
	if (!b || !source || strcmp(source->format.text, "trace-cmd") != 0 || !m->size)
		return 0;
	if (!m->offset && b->size && b->data[b->size - 1] != '\n' && buffer_u8(b, '\n'))
		return error_no_memory(e);
	return buffer_append(b, m->data, m->size) ? error_no_memory(e) : 0;
}

void tracecmd_parts_take_over(struct tracecmd_parts *p, struct tracecmd_state *native)
{
	p->kallsyms = native->parts[PART_KALLSYMS];
	p->printk = native->parts[PART_PRINTK];
	native->parts[PART_KALLSYMS] = native->parts[PART_PRINTK] = (struct buffer){0};
}

int tracecmd_parts_thread(struct tracecmd_parts *p, struct convert_thread *t)
{
	struct buffer *b = &p->cmdlines;

	if (t->announced || !t->tid || (!t->comm.size && !t->per_cpu))
		return 0;
	t->announced = true;
	if (buffer_printf(b, "%" PRId32 " ", t->tid))
		return -1;
	if (t->per_cpu ? buffer_printf(b, "interrupts")
		       : convert_name_escaped(b, t->comm.text, t->comm.size, ""))
		return -1;
	return buffer_u8(b, '\n');
}

int tracecmd_parts_address(struct tracecmd_parts *p, struct conversion *a, uint32_t number,
			   uint64_t *address)
{
	uint64_t *locations;
	const struct location *location = dictionary_location(a->dictionary, number);
	struct text_ref name;
	struct buffer *b = &p->symbols;

	if (ARRAY_REACH(p->locations, p->locations_size, number))
		return -1;
	locations = p->locations;
	*address = locations[number];
	if (*address)
		return 0;
	*address = locations[number] = FIRST_ADDRESS + 16 * ++p->functions;
	convert_use_location(a, number);
	name = dictionary_location_name(a->dictionary, number);
	/* spaces and $ have a meaning in kallsyms */
	if (buffer_printf(b, "%016" PRIx64 " T ", *address) ||
	    convert_name_escaped(b, name.text, name.size, " $"))
		return -1;
	if (location && location->symbol && location->symbol->module.size &&
	    (buffer_printf(b, "\t[") ||
	     convert_name_escaped(b, location->symbol->module.text, location->symbol->module.size,
				  " []") ||
	     buffer_u8(b, ']')))
		return -1;
	return buffer_u8(b, '\n');
}

static int append_part(struct buffer *to, const struct buffer *from)
{
	return from->size ? buffer_append(to, from->data, from->size) : 0;
}

int tracecmd_parts_end(const struct tracecmd_parts *p, struct tracecmd_state *native)
{
	return append_part(&native->parts[PART_KALLSYMS], &p->symbols) ||
			       append_part(&native->parts[PART_KALLSYMS], &p->kallsyms) ||
			       append_part(&native->parts[PART_PRINTK], &p->printk) ||
			       append_part(&native->parts[PART_CMDLINES], &p->cmdlines)
		       ? -1
		       : 0;
}

void tracecmd_parts_free(struct tracecmd_parts *p)
{
	free(p->locations);
	buffer_free(&p->kallsyms);
	buffer_free(&p->printk);
	buffer_free(&p->cmdlines);
	buffer_free(&p->symbols);
}
