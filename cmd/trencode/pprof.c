/*
 * pprof.c - a profile.proto, compressed by gzip, for pprof and other readers of its profiles
 *
 * A sample is a stack, with the number of calls that ended with it and the self time of its leaf.
 * Fields of the message may be in any order, so the samples are written during the walk of the
 * tree, and the tables that the samples refer to after them.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cmd/trencode/encoder.h"
#include "cmd/trencode/stack_profile.h"
#include "cmd/trencode/encode.h"
#include "common/protobuf/protobuf.h"

/* Profile */
enum {
	SAMPLE_TYPE = 1,
	SAMPLE = 2,
	MAPPING = 3,
	LOCATION = 4,
	FUNCTION = 5,
	STRING_TABLE = 6,
	DURATION_NANOS = 10,
	PERIOD_TYPE = 11,
	PERIOD = 12,
	DEFAULT_SAMPLE_TYPE = 14,
};

enum { CHUNK = 64 * 1024 };

/* One run of the encoder. */
struct pprof_encoder {
	struct stack_profile profile;
	struct buffer out, message, part; /* out: bytes to be compressed */
	struct intern strings;
	z_stream z;
	bool packing;
	uint64_t first, last;
};

/* --- the compressed output --- */

static int compress_out(struct encoding *en, int flush, struct error *e)
{
	struct pprof_encoder *s = en->state;
	uint8_t packed[CHUNK];

	s->z.next_in = s->out.data;
	s->z.avail_in = (unsigned)s->out.size;
	do {
		s->z.next_out = packed;
		s->z.avail_out = sizeof packed;
		if (deflate(&s->z, flush) == Z_STREAM_ERROR)
			return error_set(e, NULL, NO_OFFSET, "cannot compress");
		if (output_write(en->out, packed, sizeof packed - s->z.avail_out, e))
			return -1;
	} while (!s->z.avail_out);
	s->out.size = 0;
	return 0;
}

static int pprof_put_message(struct encoding *en, uint32_t field, struct error *e)
{
	struct pprof_encoder *s = en->state;

	if (protobuf_message(&s->out, field, &s->message))
		return error_no_memory(e);
	s->message.size = 0;
	return s->out.size > CHUNK ? compress_out(en, Z_NO_FLUSH, e) : 0;
}

/* --- samples --- */

/* Write the sample of a node: the locations of its name, its caller's and so on. The number of a
 * location is that of the name + 1. */
static int pprof_put_sample(struct encoding *en, uint32_t node, struct error *e)
{
	struct pprof_encoder *s = en->state;
	const struct stack_node *nodes = s->profile.stacks.tree.nodes, *n = &nodes[node];

	s->part.size = 0;
	for (uint32_t i = node; i != STACK_ROOT; i = nodes[i].parent)
		if (buffer_uleb(&s->part, nodes[i].name + 1ull))
			return error_no_memory(e);
	if (protobuf_message(&s->message, 1, &s->part))
		return error_no_memory(e);
	s->part.size = 0;
	if (buffer_uleb(&s->part, n->calls) ||
	    buffer_uleb(&s->part, (uint64_t)saturated_i64(n->self)) ||
	    protobuf_message(&s->message, 2, &s->part))
		return error_no_memory(e);
	return pprof_put_message(en, SAMPLE, e);
}

static int pprof_put_samples(struct encoding *en, struct error *e)
{
	const struct pprof_encoder *s = en->state;
	const struct stack_tree *t = &s->profile.stacks.tree;

	for (uint32_t i = 1; i < t->count; i++)
		if (t->nodes[i].parent != STACK_LOOSE && (t->nodes[i].self || t->nodes[i].calls) &&
		    pprof_put_sample(en, i, e))
			return -1;
	return 0;
}

/* --- tables --- */

static int pprof_string_of(struct pprof_encoder *s, const char *text, uint64_t *number)
{
	uint32_t n = intern_string(&s->strings, text);

	*number = n;
	return n == INTERN_NONE ? -1 : 0;
}

/* Write a ValueType: {type, unit}. */
static int put_value_type(struct encoding *en, uint32_t field, const char *type, const char *unit,
			  struct error *e)
{
	struct pprof_encoder *s = en->state;
	uint64_t t, u;

	if (pprof_string_of(s, type, &t) || pprof_string_of(s, unit, &u) ||
	    protobuf_uint(&s->message, 1, t) || protobuf_uint(&s->message, 2, u))
		return error_no_memory(e);
	return pprof_put_message(en, field, e);
}

static int put_mapping(struct encoding *en, uint32_t number, const char *file, struct error *e)
{
	struct pprof_encoder *s = en->state;
	uint64_t name;

	if (pprof_string_of(s, file, &name) || protobuf_uint(&s->message, 1, number) ||
	    protobuf_uint(&s->message, 5, name) || protobuf_uint(&s->message, 7, 1) ||
	    protobuf_uint(&s->message, 8, 1) || protobuf_uint(&s->message, 9, 1))
		return error_no_memory(e);
	return pprof_put_message(en, MAPPING, e);
}

/* Write a function and its location. With a system name equal to the name (field 3), pprof would
 * take the name for C++ and remove what is between < and >: all of "<55b9ab5b7252>". */
static int pprof_put_function(struct encoding *en, uint32_t number, uint32_t mapping,
			      const struct profile_name *n, struct error *e)
{
	struct pprof_encoder *s = en->state;
	uint64_t name, file;

	if (pprof_string_of(s, n->name, &name) || pprof_string_of(s, n->file, &file) ||
	    protobuf_uint(&s->message, 1, number) || protobuf_uint(&s->message, 2, name) ||
	    protobuf_uint(&s->message, 4, file) || protobuf_uint(&s->message, 5, n->line) ||
	    pprof_put_message(en, FUNCTION, e))
		return e->what[0] ? -1 : error_no_memory(e);
	s->part.size = 0;
	if (protobuf_uint(&s->part, 1, number) || protobuf_uint(&s->part, 2, n->line) ||
	    protobuf_uint(&s->message, 1, number) || protobuf_uint(&s->message, 2, mapping) ||
	    protobuf_message(&s->message, 4, &s->part))
		return error_no_memory(e);
	return pprof_put_message(en, LOCATION, e);
}

enum module_rank { MODULE_ANY, MODULE_PROGRAM, MODULE_OF_MAIN, MODULE_RANKS };

/* Get how certain it is that a function is of the program. */
static enum module_rank pprof_rank_of(const struct profile_name *n)
{
	if (!strcmp(n->name, "main") || !strcmp(n->name, "main.main"))
		return MODULE_OF_MAIN;
	return *n->module == '[' || strstr(n->module, ".so") ? MODULE_ANY : MODULE_PROGRAM;
}

/* Get the module of main, else that of a function of no library, else that of an outermost
 * function; of several that of the function that took longest. "": none is known. pprof shows the
 * first mapping as the program. */
static const char *main_module(const struct pprof_encoder *s)
{
	const struct stack_node *nodes = s->profile.stacks.tree.nodes;
	const char *module[MODULE_RANKS] = {"", "", ""};
	uint64_t longest[MODULE_RANKS] = {0};

	for (uint32_t i = 1; i < s->profile.stacks.tree.count; i++) {
		struct profile_name n;
		enum module_rank rank;

		if (nodes[i].parent == STACK_LOOSE || nodes[i].total < longest[MODULE_OF_MAIN])
			continue;
		n = profile_name_of(&s->profile.stacks.names, nodes[i].name);
		rank = pprof_rank_of(&n);
		if (!*n.module || nodes[i].total < longest[rank] ||
		    (*module[rank] && nodes[i].total == longest[rank]) ||
		    (rank == MODULE_ANY && nodes[i].parent != STACK_ROOT))
			continue;
		longest[rank] = nodes[i].total;
		module[rank] = n.module;
	}
	for (int rank = MODULE_OF_MAIN; rank > MODULE_ANY; rank--)
		if (*module[rank])
			return module[rank];
	return module[MODULE_ANY];
}

/* Get the number of a module's mapping, 0 for no module. A mapping is written the first time. */
static int pprof_mapping_of(struct encoding *en, struct intern *modules, const char *module,
			    uint32_t *mapping, struct error *e)
{
	uint32_t had = modules->count;

	*mapping = 0;
	if (!*module)
		return 0;
	*mapping = intern_string(modules, module) + 1;
	if (!*mapping)
		return error_no_memory(e);
	return modules->count > had ? put_mapping(en, *mapping, module, e) : 0;
}

static int pprof_put_functions(struct encoding *en, struct error *e)
{
	struct pprof_encoder *s = en->state;
	struct intern modules = {0};
	uint32_t mapping;
	int r = pprof_mapping_of(en, &modules, main_module(s), &mapping, e);

	for (uint32_t i = 0; !r && i < s->profile.stacks.names.count; i++) {
		struct profile_name n = profile_name_of(&s->profile.stacks.names, i);

		r = pprof_mapping_of(en, &modules, n.module, &mapping, e) ||
		    pprof_put_function(en, i + 1, mapping, &n, e);
	}
	intern_free(&modules);
	return r ? -1 : 0;
}

static int pprof_put_strings(struct encoding *en, struct error *e)
{
	struct pprof_encoder *s = en->state;

	for (uint32_t i = 0; i < s->strings.count; i++) {
		if (protobuf_bytes(&s->out, STRING_TABLE, intern_data(&s->strings, i),
				   intern_size(&s->strings, i)))
			return error_no_memory(e);
		if (s->out.size > CHUNK && compress_out(en, Z_NO_FLUSH, e))
			return -1;
	}
	return 0;
}

/* --- the encoder --- */

static int encode_pprof_begin(struct encoding *en, struct error *e)
{
	struct pprof_encoder *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	/* 16: with the header of gzip, without a time */
	if (stack_profile_init(&s->profile, en, profile_name_key) ||
	    deflateInit2(&s->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return error_no_memory(e);
	s->profile.samples.is_signed = true;
	s->packing = true;
	/* string 0 is empty */
	return intern_string(&s->strings, "") == INTERN_NONE ? error_no_memory(e) : 0;
}

static int pprof_block(struct encoding *en, const struct block *b, struct error *e)
{
	struct pprof_encoder *s = en->state;

	if (!s->profile.seen)
		s->first = UINT64_MAX;
	if (b->nlanes) {
		uint64_t first = tick_time(b->lanes[0], b->base);
		uint64_t last = tick_time(b->lanes[0], b->last);

		s->first = first < s->first ? first : s->first;
		s->last = last > s->last ? last : s->last;
	}
	return stack_profile_block(&s->profile, b) ? error_no_memory(e) : 0;
}

static int pprof_end(struct encoding *en, struct error *e)
{
	struct pprof_encoder *s = en->state;
	const char *unit = s->profile.ticks ? "ticks" : "nanoseconds", *counted = "samples", *type;
	uint64_t name;

	e->what[0] = '\0';
	if (stack_profile_finish(&s->profile, e))
		return -1;
	if (call_stacks_fold(&s->profile.stacks))
		return error_no_memory(e);
	type = sample_profile_type(&s->profile, &unit);
	if (!type) {
		counted = "calls";
		type = "self";
	}
	if (put_value_type(en, SAMPLE_TYPE, counted, "count", e) ||
	    put_value_type(en, SAMPLE_TYPE, type, unit, e) || pprof_put_samples(en, e) ||
	    pprof_put_functions(en, e) || put_value_type(en, PERIOD_TYPE, type, unit, e))
		return -1;
	if (pprof_string_of(s, type, &name) || protobuf_uint(&s->out, PERIOD, 1) ||
	    (!s->profile.ticks && s->last > s->first &&
	     protobuf_uint(&s->out, DURATION_NANOS, s->last - s->first)) ||
	    protobuf_uint(&s->out, DEFAULT_SAMPLE_TYPE, name))
		return error_no_memory(e);
	if (pprof_put_strings(en, e) || compress_out(en, Z_FINISH, e))
		return -1;
	stack_profile_report(en, &s->profile, "profiles hold", INT64_MAX);
	return 0;
}

static void pprof_free(struct encoding *en)
{
	struct pprof_encoder *s = en->state;

	if (!s)
		return;
	stack_profile_free(&s->profile);
	buffer_free(&s->out);
	buffer_free(&s->message);
	buffer_free(&s->part);
	intern_free(&s->strings);
	if (s->packing)
		deflateEnd(&s->z);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_pprof = {
	.name = "pprof",
	.suffixes = ".pb.gz",
	.purpose = "stacks with calls and self time, for pprof and its like (gzip)",
	.output = ENCODER_FILE,
	.report = true,
	.deferred = true,
	.begin = encode_pprof_begin,
	.block = pprof_block,
	.end = pprof_end,
	.check = stack_profile_check,
	.free = pprof_free,
};
