/*
 * options.c - trdecode's command line
 */
#include "cmd/trdecode/options.h"

#include <stdlib.h>

#include "common/util/u128.h"
#include "common/value/units.h"
#include "cmd/trdecode/input.h"

enum {
	OPT_FORMATS = 256,
	OPT_CLOCK,
	OPT_INFO,
	OPT_LIST,
	OPT_ALL,
	OPT_JSON,
	OPT_SEGMENT,
	OPT_MAX_VALUE,
	OPT_NO_UNWIND,
	OPT_SYSROOT,
	OPT_OFFSET,
	OPT_ALIGN,
	OPT_STRICT,
	OPT_SINCE,
	OPT_UNTIL,
	OPT_CPU,
	OPT_TID,
	OPT_TYPE
};

char settings_formats[256];

const struct option_row settings_rows[] = {
	{'f', "from", "FORMAT",
	 "read the inputs as FORMAT (default: the format\nfound):", settings_formats},
	{OPT_FORMATS, "formats", NULL, "list the formats", NULL},
	{OPT_CLOCK, "clock", "CLOCK",
	 "raw: times as recorded; wall: times since 1970, if\nthe trace records them", "raw wall"},
	{OPT_OFFSET, "offset", "FILE=TIME",
	 "add TIME, such as 1.5s or -20ms, to all times of\nFILE", "file"},
	{OPT_ALIGN, "align", "WHERE",
	 "start: the inputs begin at the same time, whatever\ntheir clocks are", "start"},
	{OPT_SINCE, "since", "TIME",
	 "drop events before TIME: 12.5s, +1.5s from the first\nevent, -10s before the last, or a "
	 "date",
	 NULL},
	{OPT_UNTIL, "until", "TIME", "drop events at TIME and later", NULL},
	{OPT_CPU, "cpu", "LIST", "keep the events of these CPUs, such as 0-3,7", NULL},
	{OPT_TID, "tid", "LIST", "keep the events of these threads", NULL},
	{OPT_TYPE, "type", "GLOB",
	 "keep the events of these types, such as 'sched:*';\nmay be repeated", NULL},
	{OPT_SEGMENT, "segment", "SIZE",
	 "begin a new segment after SIZE bytes, such as 64M\n(default: one segment)", NULL},
	{OPT_MAX_VALUE, "max-value", "SIZE",
	 "apitrace: leave out values of a call beyond SIZE\nbytes (default: 256M)", NULL},
	{OPT_NO_UNWIND, "no-unwind", NULL,
	 "perf: do not unwind the stacks recorded as memory\n(--call-graph dwarf)", NULL},
	{OPT_SYSROOT, "sysroot", "DIR",
	 "perf: read programs, libraries and the files of JIT\ncompilers below DIR (default: /)",
	 "directory"},
	{OPT_INFO, "info", NULL, "print what the inputs are, and write no stream", NULL},
	{OPT_LIST, "list", NULL,
	 "print the types of events with counts, fields and\nexamples, and write no stream", NULL},
	{OPT_ALL, "all", NULL, "with --list: print the types without events, too", NULL},
	{OPT_JSON, "json", NULL, "print --info or --list as JSON", NULL},
	{OPT_STRICT, "strict", NULL, "exit 1 if the recorder lost events", NULL},
	{0},
};

static int add_offset(struct decode_settings *s, const char *arg, struct error *e)
{
	const char *equals = strrchr(arg, '=');
	struct clock_offset *o;
	if (ARRAY_GROW(s->offsets, s->offsets_capacity, s->noffsets))
		return error_no_memory(e);
	o = s->offsets;
	o[s->noffsets] = (struct clock_offset){.file = arg};
	if (!equals || equals == arg || parse_time(equals + 1, &o[s->noffsets].ns) ||
	    o[s->noffsets].ns >= (int64_t)TIME_LIMIT || o[s->noffsets].ns <= -(int64_t)TIME_LIMIT)
		return error_set(
			e, NULL, NO_OFFSET,
			"--offset takes FILE=TIME, where TIME is such as 1.5s or -20ms, not '%s'",
			arg);
	o[s->noffsets].text = equals + 1;
	o[s->noffsets++].length = (size_t)(equals - arg);
	return 0;
}

static int parse_numbers(const char *option, const char *arg, struct number_list *l,
			 struct error *e)
{
	if (row_filter_add_numbers(l, arg))
		return error_set(e, NULL, NO_OFFSET, "%s takes a list such as 0-3,7, not '%s'",
				 option, arg);
	return 0;
}

int decode_settings_option(void *ctx, int key, const char *arg, struct error *e)
{
	struct decode_settings *s = ctx;

	switch (key) {
	case 'f':
		s->format = arg;
		for (int i = 0; s->decoders[i]; i++)
			if (!strcmp(arg, s->decoders[i]->name))
				return 0;
		return error_set(e, NULL, NO_OFFSET, "no such format: '%s'; there are %s", arg,
				 settings_formats);
	case OPT_CLOCK:
		if (!strcmp(arg, "raw"))
			s->clock = CLOCK_RAW;
		else if (!strcmp(arg, "wall"))
			s->clock = CLOCK_WALL;
		else
			return error_set(e, NULL, NO_OFFSET, "--clock takes raw or wall, not '%s'",
					 arg);
		return 0;
	case OPT_OFFSET: return add_offset(s, arg, e);
	case OPT_ALIGN:
		s->align = !strcmp(arg, "start");
		return s->align ? 0
				: error_set(e, NULL, NO_OFFSET, "--align takes start, not '%s'",
					    arg);
	case OPT_SINCE: return moment_option(&s->row_filter.since, "--since", arg, e);
	case OPT_UNTIL: return moment_option(&s->row_filter.until, "--until", arg, e);
	case OPT_CPU: return parse_numbers("--cpu", arg, &s->row_filter.cpus, e);
	case OPT_TID: return parse_numbers("--tid", arg, &s->row_filter.tids, e);
	case OPT_TYPE: return row_filter_add_type(&s->row_filter, arg, e);
	case OPT_SEGMENT:
		if (parse_size(arg, &s->segment) || s->segment < 64)
			return error_set(e, NULL, NO_OFFSET,
					 "--segment takes a size of at least 64 bytes, not '%s'",
					 arg);
		return 0;
	case OPT_MAX_VALUE:
		if (parse_size(arg, &s->max_value) || s->max_value < 64 || s->max_value > MAX_VALUE)
			return error_set(e, NULL, NO_OFFSET,
					 "--max-value takes a size from 64 to 256M, not '%s'", arg);
		return 0;
	case OPT_NO_UNWIND: s->no_unwind = true; return 0;
	case OPT_SYSROOT: s->sysroot = arg; return 0;
	case OPT_FORMATS: s->formats = true; return 0;
	case OPT_INFO: s->info = true; return 0;
	case OPT_LIST: s->list = true; return 0;
	case OPT_ALL: s->all = true; return 0;
	case OPT_JSON: s->json = true; return 0;
	case OPT_STRICT: s->strict = true; return 0;
	}
	return -1;
}

void decode_settings_free(struct decode_settings *s)
{
	free(s->aligned);
	free(s->offsets);
	row_filter_free(&s->row_filter);
}

/* Is the offset that of an input with this name? */
static bool is_offset_of(const struct clock_offset *o, const char *name)
{
	return strlen(name) == o->length && !strncmp(name, o->file, o->length);
}

void settings_shift(struct decode_settings *s, struct input *in, const char *operand, int number)
{
	for (size_t i = 0; i < s->noffsets; i++) {
		struct clock_offset *o = &s->offsets[i];

		if (is_offset_of(o, operand) || is_offset_of(o, in->name)) {
			in->shift = o->ns;
			in->shift_text = o->text;
			in->placed = o->used = true;
		}
	}
	if (s->aligned) {
		in->shift = saturated_i64((int128)in->shift + s->aligned[number]);
		in->placed = true;
	}
}

int settings_check_offsets(const struct decode_settings *s, struct error *e)
{
	for (size_t i = 0; i < s->noffsets; i++)
		if (!s->offsets[i].used)
			return error_set(e, NULL, NO_OFFSET, "--offset %s: no input of that name",
					 s->offsets[i].file);
	return 0;
}
