/* links: cmd/trdecode */
/* The stacks of call chains, which are looked up by digests, are those of their frames one by one.
 */
#include "t/unit/stream.h"

#include "cmd/trdecode/perf_unwind.h"

enum { FRAMES = 700, CHAINS = 6000 };

static uint64_t seed = 1;

static uint32_t number(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static void begin(struct perf *p, struct maker *m)
{
	make_begin(m, 0, false);
	*p = (struct perf){.w = &m->w, .source = m->source};
	must(!perf_spaces_init(&p->spaces, p->w), "begin");
	p->spaces.source = m->source;
}

static void end(struct perf *p, struct maker *m)
{
	perf_spaces_free(&p->spaces);
	free(make_end(m).data);
}

/* A chain of parts, the innermost first, with few different addresses, 0 among them. */
static size_t make_chain(uint64_t *chain, bool *kernel, size_t n)
{
	bool in_kernel = number(2);
	size_t at = 0;

	chain[at++] = in_kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
	while (at < n) {
		if (at > 1 && at < n - 1 && !number(n / 2)) {
			in_kernel = !in_kernel;
			chain[at++] = in_kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
		}
		kernel[at] = in_kernel;
		chain[at++] = number(3) * 8;
	}
	return at;
}

/* Get the stack of a chain frame by frame. */
static uint32_t plain_stack(struct perf *p, struct perf_process *process, const uint64_t *chain,
			    const bool *kernel, size_t n, uint32_t stack)
{
	while (n--)
		if (chain[n] < PERF_CONTEXT_MOST)
			stack = writer_stack(
				p->w, stack,
				perf_maps_location(&p->spaces,
						   kernel[n] ? p->spaces.kernel : process->maps,
						   chain[n]));
	return stack;
}

static void test_chains(size_t frames)
{
	struct perf_process process = {.pid = 7};
	uint64_t chain[FRAMES];
	bool kernel[FRAMES];
	unsigned wrong = 0, digests = 0, unknown = 0;
	struct maker m;
	struct perf p;

	begin(&p, &m);
	must(perf_process_maps(&p.spaces, &process), "maps");
	for (unsigned i = 0; i < CHAINS; i++) {
		size_t n = make_chain(chain, kernel, 2 + number((uint32_t)frames - 4));
		uint32_t parent = number(4) ? 0 : writer_stack(p.w, 0, m.location[number(2)]);
		uint32_t want = parent, got, mark = 0;
		struct perf_chain whole;
		uint64_t first = chain[0], digest;
		bool bad = false, has_digest;

		/* new mappings: the same addresses are other locations */
		if (i % 1000 == 999)
			must(!perf_maps_add(&p.spaces, &process.maps,
					    (struct perf_map){.start = 8 * (i / 1000), .end = 64},
					    7),
			     "map");
		/* a chain without a mark at its front has the mode of the sample */
		if (number(2))
			mark = 1;
		want = plain_stack(&p, &process, chain, kernel, n, parent);
		whole = (struct perf_chain){
			(const uint8_t *)(chain + mark), n - mark,
			first == PERF_CONTEXT_KERNEL ? PERF_MODE_KERNEL : PERF_MODE_USER, parent};
		got = perf_chain_stack(&p, &process, &whole, &bad);
		wrong += bad || got != want;
		has_digest = perf_chain_digest(&p, &process, &whole, &digest, &bad);
		got = has_digest ? known_stacks_find(p.spaces.known, digest) : 0;
		digests += has_digest;
		unknown += !got;
		wrong += bad || (got && got != want);
	}
	is_u64(wrong, 0, "stacks of chains are those of their frames");
	is_u64(unknown, CHAINS - digests, "a chain is known by its digest, if it has one");
	ok(frames > KNOWN_FRAMES ? digests > CHAINS / 4 && digests < CHAINS : digests == CHAINS,
	   "chains up to KNOWN_FRAMES have a digest");
	perf_maps_release(process.maps);
	end(&p, &m);
}

/* The table grows, and is emptied when it is full: a stack is found as it was put, or not. */
static void test_table(void)
{
	enum { STACKS = 1 << 20 };
	struct known_stacks *k = known_stacks_new();
	unsigned found = 0, wrong = 0;

	must(k, "table");
	for (uint32_t i = 1; i <= STACKS; i++)
		known_stacks_put(k, hash_u64(i), i);
	for (uint32_t i = 1; i <= STACKS; i++) {
		uint32_t stack = known_stacks_find(k, hash_u64(i));

		found += stack != 0;
		wrong += stack && stack != i;
		wrong += known_stacks_find(k, hash_u64(i + STACKS)) != 0;
	}
	is_u64(wrong, 0, "no digest finds another stack");
	ok(found > STACKS / 8 && found < STACKS, "a full table is emptied");
	known_stacks_free(k);
}

int main(void)
{
	test_chains(12);
	test_chains(40);
	test_chains(FRAMES);
	test_table();
	return done();
}
