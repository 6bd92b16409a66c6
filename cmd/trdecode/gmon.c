/*
 * gmon.c - gmon.out, which programs write that gcc -pg made: how often each address was seen by a
 * timer, and how often each call was made
 *
 *     "gmon", u32 version 1, 12 bytes, then records of a byte and its data:
 *     0  histogram   low pc, high pc, u32 bins, u32 ticks per second, unit (15 bytes), its letter;
 *                    u16 for each bin
 *     1  calls       pc in the caller, pc in the callee, u32 count
 *     2  blocks      u32 n, then n times: pc, count, each an address
 *
 * Numbers have the byte order of the machine, and addresses its size, which no header has: a size
 * by which all records end where the file ends is right. The addresses are those of the file of the
 * program, even if the program is position-independent. The program is not named.
 *
 * All rows are sums of calls (rows.h): a bin has self time, and a record of calls has their number.
 * A bin counts equally in each unit of two bytes that begins in it, as in gprof; so one at the end
 * of a function is divided between two functions.
 *
 * Source: the header sys/gmon_out of glibc; what gprof of binutils does with bins.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"

#define GMON_MAGIC "gmon"

enum { GMON_HEADER = 20, GMON_UNIT = 2, GMON_UNITS_MOST = 64, GMON_ARC_STACK = 2 };
enum gmon_tag { GMON_HISTOGRAM, GMON_CALLS, GMON_BLOCKS };

/* A record. */
struct gmon_record {
	enum gmon_tag tag;
	uint64_t low, high;	 /* or caller and callee */
	uint64_t count;		 /* of bins, calls or blocks */
	uint64_t rate;		 /* ticks per second */
	const uint8_t *at, *end; /* the bins or blocks */
};

struct gmon {
	struct input *input;
	struct writer *w;
	struct buffer data;
	unsigned size; /* of an address */
	bool big;
	const uint8_t *at;	   /* the next record */
	struct gmon_record record; /* the present one */
	uint64_t item;		   /* its next bin or block */
	uint64_t elapsed;	   /* ns: the times of the bins before it */
	uint32_t source, lane, space;
	uint32_t sums, blocks; /* types; 0: not declared */
	struct key_map locations;
};

static enum bid gmon_probe(const struct input *in)
{
	const uint8_t *p = in->head;

	if (in->tree || in->head_size < GMON_HEADER || memcmp(p, GMON_MAGIC, 4))
		return BID_NONE;
	return get_uint(p + 4, 4, false) == 1 || get_uint(p + 4, 4, true) == 1 ? BID_HEADER
									       : BID_NONE;
}

/* Take a number of n bytes off the data, which has them. */
static uint64_t gmon_take(const struct gmon *g, const uint8_t **at, unsigned n)
{
	uint64_t number = get_uint(*at, n, g->big);

	*at += n;
	return number;
}

/* Read the record at *at, and go to the next. 1; 0: none follows; -1: it is cut or is no record,
 * with *why. */
static int gmon_next(const struct gmon *g, const uint8_t **at, struct gmon_record *r,
		     const char **why)
{
	static const unsigned addresses[] = {2, 2, 0}, others[] = {4 + 4 + 16, 4, 4};
	const uint8_t *p = *at, *end = g->data.data + g->data.size;
	uint64_t size;

	if (p == end)
		return 0;
	*why = "no record of gmon.out: the rest is left out";
	if (*p > GMON_BLOCKS)
		return -1;
	*r = (struct gmon_record){.tag = *p++};
	*why = "the file ends within a record";
	if ((uint64_t)(end - p) < addresses[r->tag] * g->size + others[r->tag])
		return -1;
	if (addresses[r->tag]) {
		r->low = gmon_take(g, &p, g->size);
		r->high = gmon_take(g, &p, g->size);
	}
	r->count = gmon_take(g, &p, 4);
	if (r->tag == GMON_HISTOGRAM) {
		r->rate = gmon_take(g, &p, 4);
		p += 16;
	}
	size = r->tag == GMON_HISTOGRAM ? 2 * r->count
	       : r->tag == GMON_BLOCKS	? 2 * r->count * g->size
					: 0;
	r->at = p;
	r->end = (uint64_t)(end - p) < size ? end : p + size;
	*at = r->end;
	if (r->tag == GMON_HISTOGRAM &&
	    (r->low >= r->high || !r->count || !r->rate || r->rate > 1000 * 1000 * 1000)) {
		*why = "a histogram without a range, bins or a rate: the rest is left out";
		r->end = r->at;
		return -1;
	}
	return (uint64_t)(r->end - r->at) < size ? -1 : 1;
}

/* Count the bytes that are records if addresses have a size. */
static size_t gmon_try(struct gmon *g, unsigned size)
{
	const uint8_t *at = g->data.data + GMON_HEADER, *good = at;
	struct gmon_record r;
	const char *why;
	int got;

	g->size = size;
	while ((got = gmon_next(g, &at, &r, &why)) > 0)
		good = at;
	return (size_t)(good - g->data.data) + !got;
}

static int gmon_open(struct input *in, struct error *e)
{
	struct gmon *g = calloc(1, sizeof *g);

	in->state = g;
	if (!g)
		return error_no_memory(e);
	g->input = in;
	g->w = in->decoding->writer;
	in->clock_name = "weights";
	if (input_read_all(in, &g->data, e))
		return -1;
	buffer_rest(&g->data);
	g->big = get_uint(g->data.data + 4, 4, false) != 1;
	g->size = gmon_try(g, 4) > gmon_try(g, 8) ? 4 : 8;
	g->at = g->data.data + GMON_HEADER;
	return 0;
}

/* Go to the next record, and report one that is cut: the rest of it can be read. */
static bool gmon_advance_record(struct gmon *g)
{
	const uint8_t *before = g->at;
	uint64_t offset = (uint64_t)(before - g->data.data);
	const char *why;
	int got = gmon_next(g, &g->at, &g->record, &why);

	g->item = 0;
	if (got >= 0)
		return got;
	if (*why == 't')
		input_short(g->input, g->input->name, offset, "%s", why);
	else
		input_damage(g->input, g->input->name, offset, "%s", why);
	got = g->at > before && g->record.end > g->record.at;
	g->at = g->data.data + g->data.size;
	return got;
}

static int gmon_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct gmon *g = in->state;
	uint64_t calls = 0, ticks = 0, blocks = 0;
	char text[96];

	(void)e;
	fact_text(facts, "format", "gmon");
	fact_number(facts, "bits", 8 * g->size);
	fact_text(facts, "byte order", g->big ? "big endian" : "little endian");
	while (gmon_advance_record(g)) {
		struct gmon_record *r = &g->record;

		calls += r->tag == GMON_CALLS ? r->count : 0;
		blocks += r->tag == GMON_BLOCKS ? r->count : 0;
		if (r->tag != GMON_HISTOGRAM)
			continue;
		for (const uint8_t *p = r->at; r->end - p >= 2;)
			ticks += gmon_take(g, &p, 2);
		snprintf(text, sizeof text, "0x%llx-0x%llx, %llu bins, %llu ticks per second",
			 (unsigned long long)r->low, (unsigned long long)r->high,
			 (unsigned long long)r->count, (unsigned long long)r->rate);
		fact_item(facts, "histogram", text);
	}
	fact_number(facts, "ticks", ticks);
	fact_number(facts, "calls", calls);
	if (blocks)
		fact_number(facts, "blocks", blocks);
	return 0;
}

static int gmon_begin(struct input *in, struct error *e)
{
	struct gmon *g = in->state;
	struct writer *w = g->w;

	if (merge_choose_clock(in, e))
		return -1;
	g->source = writer_source(
		w, &(struct source_entry){writer_text(w, "gmon"), writer_text(w, in->name), 0, 0});
	g->lane = writer_lane(w, &(struct lane_entry){.source = g->source,
						      .clock = input_declare_clock(in, false)});
	g->space = writer_space(w, &(struct space_entry){.source = g->source, .pid = -1});
	g->sums = call_sum_type(in, (struct type_entry){.source = g->source,
							.name = writer_text(w, "time"),
							.flags = TYPE_WEIGHT_TIME});
	if (!g->lane || !g->space || !g->sums ||
	    writer_map(w, &(struct map_entry){.space = g->space, .flags = MAP_ADDRESS}))
		return error_no_memory(e);
	return gmon_advance_record(g) ? merge_first(in, 0, e) : 0;
}

/* Get the stack of n addresses, innermost first; 0: out of memory. */
static uint32_t gmon_stack(struct gmon *g, const uint64_t *addresses, unsigned n)
{
	uint32_t frames[GMON_ARC_STACK];

	for (unsigned i = 0; i < n; i++) {
		uint32_t *id = key_map_number(&g->locations, addresses[i]);

		if (!id)
			return 0;
		if (!*id)
			*id = writer_location(g->w,
					      &(struct location_entry){.space = g->space,
								       .address = addresses[i]});
		frames[i] = *id;
		if (!*id)
			return 0;
	}
	return writer_stack_of(g->w, frames, n);
}

static int gmon_put_sum(struct gmon *g, const uint64_t *addresses, unsigned n, struct call_sum sum)
{
	struct new_row r = {.time = merge_shifted(g->elapsed, g->input->shift),
			    .lane = g->lane,
			    .type = g->sums,
			    .location = gmon_stack(g, addresses, n)};

	return r.location ? call_sum_write(g->w, r, &sum) : -1;
}

/* Write the time of a bin: a part for each unit. */
static int gmon_put_bin(struct gmon *g, uint64_t bin)
{
	const struct gmon_record *r = &g->record;
	const uint8_t *p = r->at + 2 * bin;
	double units = (double)(r->high - r->low) / GMON_UNIT / (double)r->count;
	uint64_t first = (uint64_t)(units * (double)bin);
	uint64_t n = (uint64_t)(units * (double)(bin + 1)) - first;
	uint64_t ns = gmon_take(g, &p, 2) * (1000 * 1000 * 1000 / r->rate), part;

	n = !n ? 1 : n > GMON_UNITS_MOST ? GMON_UNITS_MOST : n;
	for (; n && ns; n--, first++, ns -= part) {
		/* gprof counts a unit for the function that begins at its second byte */
		uint64_t pc = r->low + GMON_UNIT * first + 1;

		part = ns / n;
		if (part &&
		    gmon_put_sum(g, &pc, 1,
				 (struct call_sum){.self = (int64_t)part, .total = (int64_t)part}))
			return -1;
		g->elapsed +=
			part > TIME_LIMIT - 1 - g->elapsed ? TIME_LIMIT - 1 - g->elapsed : part;
	}
	return 0;
}

/* Write how often a block was executed. */
static int gmon_put_block(struct gmon *g, uint64_t block)
{
	struct writer *w = g->w;
	const uint8_t *p = g->record.at + 2 * g->size * block;
	uint64_t pc = gmon_take(g, &p, g->size);
	uint64_t count = gmon_take(g, &p, g->size);
	struct call_sum sum = {.self = count > INT64_MAX ? INT64_MAX : (int64_t)count};
	struct new_row r = {.time = merge_shifted(g->elapsed, g->input->shift), .lane = g->lane};

	if (!g->blocks)
		g->blocks = call_sum_type(
			g->input,
			(struct type_entry){.source = g->source, .name = writer_text(w, "blocks")});
	sum.total = sum.self;
	r.type = g->blocks;
	r.location = gmon_stack(g, &pc, 1);
	return r.type && r.location ? call_sum_write(w, r, &sum) : -1;
}

/* Write the next bin, block or record of calls. 1; 0: the record has no more; -1. */
static int gmon_put_item(struct gmon *g)
{
	const struct gmon_record *r = &g->record;
	size_t size = r->tag == GMON_HISTOGRAM ? 2 : 2 * g->size;
	const uint64_t arc[GMON_ARC_STACK] = {r->high, r->low};
	int bad;

	if (r->tag == GMON_CALLS ? g->item > 0 : (uint64_t)(r->end - r->at) / size <= g->item)
		return 0;
	if (r->tag == GMON_CALLS)
		bad = gmon_put_sum(g, arc, r->low ? 2 : 1, (struct call_sum){.calls = r->count});
	else if (r->tag == GMON_BLOCKS)
		bad = gmon_put_block(g, g->item);
	else
		bad = gmon_put_bin(g, g->item);
	g->item++;
	return bad ? -1 : 1;
}

static int gmon_run(struct input *in, uint64_t until, struct error *e)
{
	struct gmon *g = in->state;

	(void)e;
	while (in->next <= until && in->next != UINT64_MAX) {
		int got = gmon_put_item(g);

		if (got < 0)
			return -1;
		in->next = got || gmon_advance_record(g) ? merge_shifted(g->elapsed, in->shift)
							 : UINT64_MAX;
	}
	return 0;
}

static void gmon_close(struct input *in)
{
	struct gmon *g = in->state;

	if (!g)
		return;
	buffer_free(&g->data);
	key_map_free(&g->locations);
	free(g);
	in->state = NULL;
}

const struct decoder decoder_gmon = {
	.name = "gmon",
	.in_order = true,
	.probe = gmon_probe,
	.open = gmon_open,
	.info = gmon_info,
	.begin = gmon_begin,
	.run = gmon_run,
	.close = gmon_close,
};
