/*
 * Damaged snapshots: a program that has read everything before finds the same calls and reports the
 * damage; one that begins there goes on, whatever the snapshot has. A segment without its snapshot
 * costs only that.
 *
 *     snapshot_damage [CASES [FIRST]]
 */
#include "common/util/hash.h"
#include "t/unit/same_anywhere.h"

/* Read all into found. Returns the number of errors. */
static unsigned read_all(const uint8_t *data, size_t n, struct buffer *found)
{
	unsigned errors = 0;
	struct engine x;
	struct block b;
	struct error e;
	int got;

	engine_begin(&x, data, n);
	while ((got = reader_next(&x.in, &b)) != 0) {
		errors += got < 0;
		if (got < 0)
			continue;
		if (b.kind == BLOCK_EVENTS)
			feed(&x, &b, found);
		else
			must(!calls_restore(&x.calls, &b, &e), "restore");
	}
	put_finish(&x, found);
	buffer_u8(found, 0);
	engine_end(&x);
	return errors;
}

/* Find the next SNAPSHOT block; false: there is none. */
static bool next_snapshot(const struct blob *b, size_t *at)
{
	for (; *at + BLOCK_HEADER <= b->size; *at += 8)
		if (get_u32(b->data + *at) == BLOCK_SYNC &&
		    get_u16(b->data + *at + 4) == BLOCK_SNAPSHOT)
			return true;
	return false;
}

static void seal_block(uint8_t *p)
{
	put_u32(p + 12, checksum(0, p + BLOCK_HEADER, get_u32(p + 8)));
	put_u32(p + BLOCK_CHECKED, checksum(0, p, BLOCK_CHECKED));
}

/* Change a bit, then give the block a right checksum. */
static bool check_block(struct blob *b, size_t segment, size_t at, const struct buffer *want)
{
	uint8_t *p = b->data + at, *was;
	size_t size = BLOCK_HEADER + get_u32(p + 8), bit = pick((unsigned)size * 8);
	struct buffer found = {0};
	unsigned errors;
	bool good;

	was = malloc(size);
	must(was != NULL, "memory");
	memcpy(was, p, size);
	p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	errors = read_all(b->data, b->size, &found);
	/* bytes that a reader ignores are in no header */
	good = errors && found.size == want->size && !memcmp(found.data, want->data, want->size);
	if (!good)
		printf("# bit %zu of %zu: %u errors\n", bit, size * 8, errors);
	memcpy(p, was, BLOCK_HEADER);
	seal_block(p);
	for (int i = 0; i < 3; i++) {
		found.size = 0;
		read_all(b->data + segment, b->size - segment, &found);
		bit = (BLOCK_HEADER + pick((unsigned)size - BLOCK_HEADER)) * 8 + pick(8);
		p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		seal_block(p);
	}
	memcpy(p, was, size);
	free(was);
	buffer_free(&found);
	return good;
}

/* Without its snapshots the stream has the same calls for a program that reads all of it. */
static bool check_missing(const struct blob *b, const struct buffer *want)
{
	struct blob less = {malloc(b->size), 0};
	struct buffer found = {0};
	size_t at = 0, next = 0;
	bool good;

	must(less.data != NULL, "memory");
	while (next_snapshot(b, &next)) {
		memcpy(less.data + less.size, b->data + at, next - at);
		less.size += next - at;
		next += BLOCK_HEADER + get_u32(b->data + next + 8);
		at = next;
	}
	memcpy(less.data + less.size, b->data + at, b->size - at);
	less.size += b->size - at;
	good = !read_all(less.data, less.size, &found) && found.size == want->size &&
	       !memcmp(found.data, want->data, want->size);
	free(less.data);
	buffer_free(&found);
	return good;
}

static bool check(uint64_t seed)
{
	int fd = memfd_create("random", 0);
	struct buffer want = {0};
	size_t segment = 0, at = 0;
	struct blob b;
	bool good;

	random_seed(seed);
	random_trace(fd);
	b = blob_of_fd(fd);
	close(fd);
	good = !read_all(b.data, b.size, &want) && check_missing(&b, &want);
	for (int i = 0; good && i < 4; i++) {
		size_t skip = pick(4);

		for (size_t k = 0; k <= skip && next_snapshot(&b, &at); k++)
			at += 8;
		if (at + BLOCK_HEADER > b.size)
			break;
		at -= 8;
		for (segment = at; !reader_is_stream(b.data + segment, b.size - segment);)
			segment -= 8;
		good = check_block(&b, segment, at, &want);
		at += 8;
	}
	free(b.data);
	buffer_free(&want);
	return good;
}

int main(int argc, char **argv)
{
	uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 100,
		 first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, bad = 0;

	random_snapshots = true;
	for (uint64_t i = first; i < first + cases && bad < 3; i++)
		if (!check(i)) {
			printf("# seed %" PRIu64 "\n", i);
			bad++;
		}
	is_u64(bad, 0, "damaged and missing snapshots change nothing that is known without them");
	return done();
}
