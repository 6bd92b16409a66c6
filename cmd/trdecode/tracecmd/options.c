/*
 * options.c - read the options that matter for decoding: clocks, names, CPUs
 */
#include "cmd/trdecode/tracecmd/header.h"

#include <errno.h>
#include <stdlib.h>

#include "common/formats/tracecmd.h"
#include "common/util/u128.h"

enum { CPUS_LIMIT = 65536, SAMPLES_LIMIT = 1 << 20 };

char *tracecmd_clock_name(const char *text, size_t n)
{
	const char *open = memchr(text, '[', n), *close;

	if (open) {
		open++;
		close = memchr(open, ']', n - (size_t)(open - text));
		if (close)
			return strndup(open, (size_t)(close - open));
	}
	while (n && (text[n - 1] == '\n' || !text[n - 1]))
		n--;
	return strndup(text, n);
}

static int set_text(char **to, const uint8_t *data, size_t n, struct error *e)
{
	free(*to);
	*to = strndup((const char *)data, n);
	return *to ? 0 : error_no_memory(e);
}

/* Parse a signed number in decimal or hexadecimal text. */
static bool text_number(const uint8_t *data, size_t n, int64_t *number)
{
	char text[64], *end;
	size_t size = n < sizeof text - 1 ? n : sizeof text - 1;
	bool minus;

	memcpy(text, data, size);
	text[size] = '\0';
	minus = text[strspn(text, " \t")] == '-';
	errno = 0;
	if (minus)
		*number = strtoll(text, &end, 0);
	else
		*number = (int64_t)strtoull(text, &end, 0);
	return end != text && !errno;
}

/* Set the numbers that are added to all times, if the times fit 64 bits with them. */
static bool set_shift(struct tracecmd_header *h, int128 date, int128 offset)
{
	const int128 limit = TIME_LIMIT, all = date + offset;

	if (date >= limit || date <= -limit || offset >= limit || offset <= -limit ||
	    all >= limit || all <= -limit)
		return false;
	h->times.date = (int64_t)date;
	h->times.offset = (int64_t)offset;
	return true;
}

static bool take_date(struct tracecmd_header *h, const uint8_t *data, size_t n)
{
	int64_t us;

	if (!text_number(data, n, &us) || !set_shift(h, (int128)us * 1000, h->times.offset))
		return false;
	h->times.has_date = true;
	return true;
}

static bool take_offset(struct tracecmd_header *h, const uint8_t *data, size_t n)
{
	int64_t offset;

	if (!text_number(data, n, &offset) ||
	    !set_shift(h, h->times.date, (int128)h->times.offset + offset))
		return false;
	h->times.has_offset = true;
	return true;
}

static bool take_tsc(struct tracecmd_header *h, struct cursor *c)
{
	uint64_t mult, shift;

	if (cursor_number(c, 4, &mult, NULL) || cursor_number(c, 4, &shift, NULL) || shift > 63 ||
	    !mult)
		return false;
	h->times.tsc_mult = (uint32_t)mult;
	h->times.tsc_shift = (uint32_t)shift;
	h->times.has_tsc = true;
	return true;
}

static bool sync_array(struct cursor *c, struct tracecmd_sync_cpu *s, unsigned which)
{
	uint64_t v;

	for (uint32_t i = 0; i < s->count; i++) {
		if (cursor_number(c, 8, &v, NULL))
			return false;
		switch (which) {
		case 0: s->sample[i].time = v; break;
		case 1: s->sample[i].offset = (int64_t)v; break;
		case 2: s->sample[i].scaling = v; break;
		case 3: s->sample[i].fraction = v; break;
		}
	}
	return true;
}

static int take_sync(struct tracecmd_header *h, struct cursor *c, bool *good, struct error *e)
{
	uint64_t flags, cpus, n;

	*good = false;
	if (h->link.sync || cursor_number(c, 8, &h->link.peer_id, NULL) ||
	    cursor_number(c, 4, &flags, NULL) || cursor_number(c, 4, &cpus, NULL) ||
	    cpus > CPUS_LIMIT)
		return 0;
	h->link.interpolate = flags & 1;
	h->link.sync = calloc(cpus + 1, sizeof *h->link.sync);
	if (!h->link.sync)
		return error_no_memory(e);
	h->link.nsync = (uint32_t)cpus;
	for (uint32_t i = 0; i < cpus; i++) {
		struct tracecmd_sync_cpu *s = &h->link.sync[i];

		if (cursor_number(c, 4, &n, NULL) || n > cursor_left(c) / 24)
			return 0;
		s->sample = calloc(n + 1, sizeof *s->sample);
		if (!s->sample)
			return error_no_memory(e);
		s->count = (uint32_t)n;
		for (unsigned k = 0; k < 3; k++)
			if (!sync_array(c, s, k))
				return 0;
	}
	/* bits of the fraction, in files of recorders that write them */
	for (uint32_t i = 0; cursor_left(c) && i < cpus; i++)
		if (!sync_array(c, &h->link.sync[i], 3))
			return 0;
	*good = true;
	return 0;
}

static int take_guest(struct tracecmd_header *h, const uint8_t *data, size_t n, bool *good,
		      struct error *e)
{
	const uint8_t *nul = memchr(data, 0, n);
	uint64_t *ids;

	*good = nul && n - (size_t)(nul - data) >= 9;
	if (!*good)
		return 0;
	if (ARRAY_GROW(h->link.guests, h->link.guests_capacity, h->link.nguests))
		return error_no_memory(e);
	ids = h->link.guests;
	ids[h->link.nguests++] = get_uint(nul + 1, 8, h->big_endian);
	return 0;
}

static int keep_option(struct tracecmd_header *h, uint16_t id, const uint8_t *data, size_t n,
		       struct error *e)
{
	return buffer_u32(&h->options, id) || buffer_u32(&h->options, (uint32_t)n) ||
			       (n && buffer_append(&h->options, data, n))
		       ? error_no_memory(e)
		       : 0;
}

int tracecmd_option(struct tracecmd_header *h, uint16_t id, const uint8_t *data, size_t n,
		    struct error *e)
{
	struct cursor c = {.file = &h->file, .mem = data, .size = n, .big_endian = h->big_endian};
	bool good = true;
	uint64_t number;
	int result = 0;

	if (!data)
		data = (const uint8_t *)"";
	if (keep_option(h, id, data, n, e))
		return -1;
	switch (id) {
	case TRACECMD_DATE: good = take_date(h, data, n); break;
	case TRACECMD_OFFSET: good = take_offset(h, data, n); break;
	case TRACECMD_TSC2NSEC: good = take_tsc(h, &c); break;
	case TRACECMD_TIME_SHIFT: result = take_sync(h, &c, &good, e); break;
	case TRACECMD_GUEST: result = take_guest(h, data, n, &good, e); break;
	case TRACECMD_UNAME: return set_text(&h->uname, data, n, e);
	case TRACECMD_VERSION: return set_text(&h->recorder, data, n, e);
	case TRACECMD_TRACECLOCK:
		free(h->times.clock);
		h->times.clock = tracecmd_clock_name((const char *)data, n);
		return h->times.clock ? 0 : error_no_memory(e);
	case TRACECMD_CPUCOUNT:
		good = !cursor_number(&c, 4, &number, NULL) && number <= CPUS_LIMIT;
		if (good)
			h->cpus = (uint32_t)number;
		break;
	case TRACECMD_TRACEID: good = !cursor_number(&c, 8, &h->link.trace_id, NULL); break;
	}
	if (!good)
		input_damage(h->input, h->file.name, NO_OFFSET, "option %u cannot be understood",
			     id);
	return result;
}
