/* links: cmd/trencode */
/* What reports put away in temporary files: chains, revocable records. */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/trencode/spill_list.h"
#include "t/unit/tap.h"

enum { CHAINS = 5, RECORDS = 400000 };

static uint64_t expected, wrong;

static int take(void *ctx, const void *record, struct error *e)
{
	uint64_t v;

	(void)ctx;
	(void)e;
	memcpy(&v, record, sizeof v);
	wrong += v != --expected;
	return 0;
}

static void test_chains(void)
{
	static struct spill_chain chain[CHAINS];
	struct spill_list c;
	struct error e;
	bool good = true;

	spill_list_init(&c, sizeof(uint64_t));
	for (uint64_t i = 0; i < RECORDS; i++)
		for (int k = 0; k < CHAINS; k++)
			/* one chain is short and stays in memory */
			if ((k || i < 10) && chain_add(&c, &chain[k], &i, &e))
				good = false;
	ok(good, "records are put away");
	ok(c.fd >= 0, "in a file");
	ok(c.pending < 8u << 20, "memory is bounded");
	for (int k = 0; k < CHAINS; k++) {
		expected = k ? RECORDS : 10;
		wrong = 0;
		ok(!chain_unwind(&c, &chain[k], take, NULL, &e), "a chain is read");
		is_u64(wrong, 0, "the last record first");
		is_u64(expected, 0, "and all of them");
	}
	expected = 0;
	ok(!chain_unwind(&c, &chain[0], take, NULL, &e), "an empty chain");
	is_u64(expected, 0, "has nothing");
	for (int k = 0; k < CHAINS; k++)
		chain_free(&chain[k]);
	spill_list_free(&c);
}

static int add(struct spill_journal *r, const void *data, size_t n, uint64_t *token)
{
	const struct buffer record = {.data = (uint8_t *)data, .size = n};
	struct error e;

	return spill_journal_add(r, &record, token, &e);
}

/* Records "N\n" of which each third is revoked, some of them after they went to the file. */
static void test_revocable(void)
{
	static uint64_t tokens[100000];
	char path[] = "/tmp/revocable-XXXXXX", line[64];
	struct spill_journal r;
	struct output out;
	struct error e;
	int fd = mkstemp(path), n = 100000, next = 0, bad = 0, count = 0;
	FILE *f;

	spill_journal_init(&r);
	ok(fd >= 0 && !output_open(&out, path, OUTPUT_BINARY, &e), "open");
	for (int i = 0; i < n; i++) {
		snprintf(line, sizeof line, "%d\n", i);
		if (add(&r, line, strlen(line), &tokens[i]))
			bad++;
		if (i % 3 == 0 && i % 2 && spill_journal_revoke(&r, tokens[i], &e))
			bad++;
	}
	for (int i = 0; i < n; i += 6)
		if (spill_journal_revoke(&r, tokens[i], &e))
			bad++;
	ok(!bad, "records are added and revoked");
	ok(!spill_journal_copy(&r, &out, &e), "copy");
	output_close(&out, 0, &e);
	spill_journal_free(&r);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f)) {
		next += next % 3 == 0;
		bad += atoi(line) != next++;
		count++;
	}
	ok(!bad, "those that stay, in their order");
	is_u64((uint64_t)count, 66666, "all of them");
	if (f)
		fclose(f);
	close(fd);
	unlink(path);
}

/* Records longer than what is read at a time, one of them revoked. */
static void test_large(void)
{
	size_t n = 3 << 20;
	char path[] = "/tmp/revocable-XXXXXX", *large = malloc(n);
	struct spill_journal r;
	struct output out;
	struct error e;
	uint64_t token;
	int fd = mkstemp(path);
	bool bad = false;

	spill_journal_init(&r);
	ok(large && fd >= 0 && !output_open(&out, path, OUTPUT_BINARY, &e), "open");
	memset(large, 'x', n);
	ok(!add(&r, "a", 1, &token) && !add(&r, large, n, &token) && !add(&r, "b", 1, &token),
	   "add");
	ok(!add(&r, large, n, &token) && !spill_journal_revoke(&r, token, &e) &&
		   !add(&r, "c", 1, &token),
	   "add, and revoke");
	ok(!spill_journal_copy(&r, &out, &e), "copy");
	output_close(&out, 0, &e);
	close(fd);
	fd = -1;
	FILE *f = fopen(path, "r");
	ok(fgetc(f) == 'a' && fread(large, 1, n, f) == n && fgetc(f) == 'b' && fgetc(f) == 'c' &&
		   fgetc(f) == EOF,
	   "those that stay, in their order");
	for (size_t i = 0; i < n; i++)
		bad |= large[i] != 'x';
	ok(!bad, "as they were");
	fclose(f);
	unlink(path);
	spill_journal_free(&r);
	free(large);
}

int main(void)
{
	test_chains();
	test_revocable();
	test_large();
	return done();
}
