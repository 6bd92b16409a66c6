/* links: cmd/trencode */
/* Conversion to another system's events: names, cut texts, calls that overlap. */
#include "cmd/trencode/convert.h"

#include <stdlib.h>

#include "t/unit/tap.h"

static struct buffer b;

static const char *escaped(const char *name, size_t n, const char *others)
{
	b.size = 0;
	if (convert_name_escaped(&b, name, n, others) || buffer_u8(&b, 0))
		return NULL;
	return (const char *)b.data;
}

static const char *identifier(const char *name)
{
	b.size = 0;
	if (convert_name_identifier(&b, name, strlen(name)) || buffer_u8(&b, 0))
		return NULL;
	return (const char *)b.data;
}

static void names(void)
{
	is_str(escaped("a b\n\t\x7f", 6, ""), "a b\\x0a\\x09\\x7f", "what is not printed");
	is_str(escaped("a b", 3, " "), "a\\x20b", "what the target forbids");
	is_str(escaped("\\x41", 4, ""), "\\x5cx41", "what looks like an escape");
	is_str(escaped("\\x4", 3, ""), "\\x4", "and what does not");
	is_str(escaped("a\0b", 3, ""), "a\\x00b", "a NUL");
	is_str(escaped("\xff\xc3\xa4", 3, ""), "\xff\xc3\xa4", "other bytes stay");
	is_str(identifier("linux:task-new"), "linux_x3atask_x2dnew", "an identifier");
	is_str(identifier("9lives"), "_x39lives", "no digit at its beginning");
	is_str(identifier("a_x2d"), "a_x5fx2d", "what looks like an escape");
	is_str(identifier("_x"), "_x5fx", "what looks like no name at all");
	is_str(identifier(""), "_x", "no name at all");
	is_str(identifier("plain_name_1"), "plain_name_1", "most names stay");
}

static void cut(void)
{
	uint64_t cuts = 0;

	escaped("ab\xc3\xa4", 4, "");
	b.size--;
	convert_text_cut(&b, 0, 4, &cuts);
	is_u64(b.size, 4, "it is not too long");
	is_u64(cuts, 0, "so it is not cut");
	convert_text_cut(&b, 0, 3, &cuts);
	is_u64(b.size, 2, "not inside of a character");
	is_u64(cuts, 1, "and this is counted");
}

/* Text of a value that nests too deep ends there. */
static void nested(uint8_t tag)
{
	struct type type = {
		.flags = TYPE_TAIL | TYPE_VALUES, .group = {"", 0, 0}, .name = {"", 0, 0}};
	struct dictionary *d = calloc(1, sizeof *d);
	struct buffer tail = {0};
	struct event ev;
	uint64_t blobs = 0;

	dictionary_init(d);
	value_put_detail(&tail, DETAIL_ARGUMENT, 1);
	for (unsigned i = 0; i < 100000; i++) {
		buffer_u8(&tail, tag);
		if (tag == VALUE_ARRAY)
			buffer_u8(&tail, 1);
	}
	ev = (struct event){.type = &type, .tail = tail.data, .tail_size = (uint32_t)tail.size};
	b.size = 0;
	ok(!convert_text_row(&b, d, &ev, &blobs) && b.size <= 4 * VALUE_DEPTH,
	   "values that nest too deep are not printed");
	buffer_free(&tail);
	dictionary_free(d);
	free(d);
}

/* --- calls that overlap --- */

static char seen[64 * 1024];
static size_t nseen;

static int next(void *ctx, const struct event *ev, struct error *e)
{
	(void)ctx;
	(void)e;
	if (nseen + 3 < sizeof seen)
		nseen += (size_t)snprintf(seen + nseen, sizeof seen - nseen, "%c%u",
					  ev->type->kind == KIND_ENTER ? '+' : '-',
					  get_u32(ev->fixed));
	return 0;
}

static struct field number_field = {
	.kind = FIELD_UINT, .role = ROLE_CALL, .where = WHERE_FIXED, .size = 4};
static struct type types[] = {
	{.kind = KIND_ENTER, .flags = TYPE_CALL_NUMBER, .fixed_size = 8, .nfields = 1},
	{.kind = KIND_LEAVE, .flags = TYPE_CALL_NUMBER, .fixed_size = 8, .nfields = 1},
};
static struct source source = {.number = 1};
static struct lane lanes[] = {{.source = &source, .thread = 0}, {.source = &source, .thread = 1}};

static void row(struct overlap *o, char sign, uint32_t call, uint32_t thread)
{
	struct event ev = {.type = &types[sign == '-'], .lane = &lanes[thread]};
	uint8_t fixed[8] = {0};
	struct error e;

	put_u32(fixed, call);
	ev.fixed = fixed;
	overlap_take(o, &ev, &e);
}

/* "+1-1" on thread 0, with a letter in front on thread 1. */
static const char *run(const char *rows, uint64_t *left_out)
{
	struct overlap o;
	struct error e;

	overlap_init(&o, NULL, next, NULL);
	nseen = 0;
	seen[0] = '\0';
	for (const char *p = rows; *p; p += 2) {
		uint32_t thread = *p == 'b';

		p += thread;
		row(&o, *p, (uint32_t)(p[1] - '0'), thread);
	}
	overlap_end(&o, &e);
	*left_out = o.left_out;
	overlap_free(&o);
	return seen;
}

static void overlap(void)
{
	uint64_t n;

	is_str(run("+1-1+2-2", &n), "+1-1+2-2", "calls in sequence");
	is_u64(n, 0, "none is left out");
	is_str(run("+1+2-2-1", &n), "+1+2-2-1", "one inside of the other");
	is_str(run("+1+2-1-2", &n), "+1-1", "one that outlasts the other");
	is_u64(n, 1, "is left out");
	is_str(run("+1+2+3-2-3-1", &n), "+1+2-2-1", "the same deeper");
	is_str(run("+1+2b+3b-3-1-2", &n), "+1+3-3-1", "rows of other threads wait");
	is_str(run("+1b+2-1b-2", &n), "+1+2-1-2", "calls of two threads do not overlap");
	is_str(run("+1+2", &n), "+1+2", "what is open at the end nests");
	is_str(run("-7", &n), "-7", "a return without its call is for others to judge");
	is_str(run("+1+2-1-2+2-2", &n), "+1-1+2-2", "numbers may come again");
}

/* One that is never left must not hold up all the others. */
static void bounded(void)
{
	struct overlap o;
	struct error e;

	overlap_init(&o, NULL, next, NULL);
	nseen = 0;
	row(&o, '+', 1, 0);
	row(&o, '+', 2, 0);
	for (uint32_t i = 0; i < 100000; i++) {
		row(&o, '+', 3, 1);
		row(&o, '-', 3, 1);
	}
	ok(o.count <= 4096 && o.bytes <= 1 << 20, "what waits is bounded");
	ok(!strncmp(seen, "+1+2+3-3", 8), "and goes on in its order");
	overlap_end(&o, &e);
	overlap_free(&o);
}

int main(void)
{
	for (int i = 0; i < 2; i++)
		types[i].fields = &number_field;
	for (int i = 0; i < 2; i++)
		types[i].group = types[i].name = (struct text_ref){"", 0, 0};
	names();
	cut();
	nested(VALUE_REPR);
	nested(VALUE_ARRAY);
	overlap();
	bounded();
	buffer_free(&b);
	return done();
}
