/*
 * elf.c - any bytes as an ELF file: its symbols, and the functions and lines at addresses all over
 * it
 */
#include "common/symbols/debug_info.h"
#include "t/fuzz/fuzz.h"
#include "common/symbols/symbols.h"

static void look_up(const char *path)
{
	struct source_frame frame;
	struct error e;
	struct symbols *s = symbols_from_elf(path, NULL, NULL, &e);
	struct debug_info *d = debug_info_open(path, NULL, NULL, 1, &e);

	for (size_t i = 0; s && i < symbols_count(s); i++)
		if (d && debug_info_function(d, symbols_at(s, i)->start, &frame) < 0)
			abort();
	for (uint64_t address = 0; d && address < 1 << 16; address += 61)
		if (debug_info_function(d, address, &frame) < 0)
			abort();
	debug_info_close(d);
	symbols_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memory_file(data, size);
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	look_up(path);
	close(fd);
	return 0;
}
