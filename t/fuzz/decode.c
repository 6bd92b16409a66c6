/* links: cmd/trdecode */
/*
 * decode.c - any bytes through trdecode: formats are detected, compression and archives are
 * opened, and streams are joined
 *
 * Of the first byte bits 0 to 3 choose options, and other bits what the input is: with 128 a stream
 * (packed_stream.h; with 64 too, one with any bytes in its blocks, seal.h), with 32 a tar
 * (packed_tar.h), with 64 a pipe. With 16 bits 0 to 3 choose
 * options with a value. Then the second byte has ways to give the input (enum ways), and the value
 * follows, up to a NUL.
 */
#include "cmd/trdecode/sorter.h"
#include "t/fuzz/packed_directory.h"
#include "t/fuzz/packed_stream.h"
#include "t/fuzz/packed_tar.h"
#include "t/fuzz/program_run.h"
#include "t/fuzz/seal.h"

int trdecode_main(int argc, char **argv);
#define main trdecode_main
#include "cmd/trdecode/main.c"
#undef main

static command commands[] = {
	{"-q", "-"},
	{"-q", "--info", "-"},
	{"-q", "--info", "--json", "-"},
	{"-q", "--segment=4096", "-"},
	{"-q", "--since=1us", "--until=-1us", "-"},
	{"-q", "--cpu=0-3", "--tid=1,7", "-"},
	{"-q", "--type=sched*", "--clock=raw", "-"},
	{"-q", "--max-value=1000", "-"},
	{"-q", "--clock=wall", "-"},
	{"-q", "--list", "-"},
	{"-q", "--list", "--json", "-"},
};

/* With a value of the input's. */
static command more[] = {
	{"-q", "--since", "%", "-"},
	{"-q", "--until", "%", "-"},
	{"-q", "--cpu", "%", "-"},
	{"-q", "--tid", "%", "-"},
	{"-q", "--type", "%", "-"},
	{"--clock", "%", "-"},
	{"--offset", "%", "-"},
	{"-q", "--segment", "%", "-"},
	{"-q", "--max-value", "%", "-"},
	{"--verbose", "-f", "%", "-"},
	{"-q", "--strict", "--since", "%", "--cpu=0", "-"},
	{"-q", "--info", "--since", "%", "-"},
	{"-q", "--since", "%", "--type=[a-s]*", "-"},
	{"-q", "--clock=wall", "--until", "%", "-"},
	{"-q", "--tid", "%", "--segment=4K", "-"},
	{"-q", "--offset", "%", "--clock=raw", "-"},
};

enum ways {
	WAYS_DIRECTORY = 1, /* the tar is a directory */
	WAYS_PART = 2,	    /* its first member is the operand */
	WAYS_TWO = 4,	    /* two files: u16 size of the first, both */
};

enum { SECOND = 100 }; /* file descriptor of the second input */

/* The command with another operand, and a second one. */
static const char *const *change_operands(command words, const char *first, const char *second)
{
	static const char *changed[WORDS_MOST];
	int n = 0;

	for (; words[n]; n++)
		changed[n] = first && !strcmp(words[n], "-") ? first : words[n];
	changed[n] = second;
	changed[n + (second != NULL)] = NULL;
	return changed;
}

static int sealed_file(const uint8_t *data, size_t size)
{
	uint8_t *sealed = malloc(size + 1);
	int fd;

	need(sealed, "no memory");
	if (size)
		memcpy(sealed, data, size);
	seal(sealed, size);
	fd = memory_file(sealed, size);
	free(sealed);
	return fd;
}

static int open_input(unsigned kind, unsigned ways, const uint8_t *data, size_t size)
{
	if (kind & 128)
		return kind & 64 ? sealed_file(data, size) : unpack_stream(data, size);
	if (kind & 32)
		return ways & WAYS_DIRECTORY ? unpack_directory(data, size)
					     : unpack_tar(data, size);
	return kind & 64 ? memory_pipe(data, size) : memory_file(data, size);
}

/* Makes the second input of what follows the first; returns the size of that. */
static size_t split(const uint8_t **data, size_t size)
{
	size_t first = size < 2 ? 0 : get_u16(*data);
	int second;

	if (size < 2 || first > size - 2)
		return size;
	*data += 2;
	second = memory_file(*data + first, size - 2 - first);
	need(dup2(second, SECOND) == SECOND, "no second input");
	close(second);
	return first;
}

/* What follows the value, which the input may end. */
static const uint8_t *after_value(const uint8_t *data, const uint8_t *end, char *value, size_t room)
{
	size_t n = strnlen((const char *)data, (size_t)(end - data));

	snprintf(value, room, "%.*s", (int)n, (const char *)data);
	return data + n + (data + n < end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t of = sizeof(commands) / sizeof(*commands), left;
	const uint8_t *end = data + size;
	const char *const *words;
	unsigned kind, ways = 0;
	char value[256] = "";
	int in, out;

	if (size < 2)
		return 0;
	sorter_memory = 4096;
	kind = *data++;
	words = kind & 16 ? more[kind & 15] : commands[(kind & 15) % of];
	if (kind & 16) {
		ways = *data++;
		data = after_value(data, end, value, sizeof(value));
	}
	left = (size_t)(end - data);
	if (ways & WAYS_TWO) {
		left = split(&data, left);
		words = change_operands(words, NULL, "/dev/fd/100");
	}
	in = open_input(kind, ways, data, left);
	if (in < 0)
		return 0;
	if (ways & WAYS_PART && *packed_directory)
		words = change_operands(words, packed_first, NULL);
	if (kind & (128 | 32))
		output_limit(size);
	else
		output_limit_to(OUTPUT_UNPACKED, false);
	program_run(trdecode_main, "trdecode", words, value, in, &out);
	close(out);
	output_limit_end();
	close(in);
	close(SECOND);
	remove_directory();
	return 0;
}
