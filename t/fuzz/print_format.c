/* links: cmd/trencode */
/*
 * The print fmt of a kernel event: the input is a record, a NUL, and a format text; the first byte
 * chooses which machine it is from. The same text is a bprint format, and the record its arguments.
 */
#include <string.h>

#include "common/ftrace/event_format.h"
#include "common/ftrace/print_format.h"
#include "t/fuzz/fuzz.h"

static const char *symbol(void *context, uint64_t address, size_t *size, uint64_t *offset)
{
	(void)context;
	*size = 4;
	*offset = address & 0xff;
	return address & 1 ? "name" : NULL;
}

static uint64_t address(void *context, const char *name, size_t size)
{
	(void)context;
	return size ? (uint64_t)name[size - 1] : 0;
}

static const char *string(void *context, uint64_t address, size_t *size)
{
	(void)context;
	*size = address & 3;
	return address & 4 ? "text" : NULL;
}

static void run(struct print_format *f, const uint8_t *record, size_t size, bool big)
{
	static const struct print_kernel kernel = {NULL, symbol, address, string, true};
	struct print_line line = {0};
	struct event_format none = {0};

	if (f) {
		print_format_text(f, &kernel, record, size, &line);
		print_format_text(f, NULL, record, size, &line);
	}
	print_format_free(f);
	print_fields_text(&none, record, size, big, &line);
	line_free(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct print_kernel kernel = {NULL, symbol, address, string, true};
	const uint8_t *end = size ? memchr(data + 1, 0, size - 1) : NULL;
	struct event_format fields;
	struct print_line line = {0};
	unsigned word;
	char why[PRINT_WHY];
	const char *text;
	size_t n;
	bool big;

	if (!end)
		return 0;
	word = data[0] & 1 ? 4 : 8;
	big = data[0] & 2;
	text = (const char *)end + 1;
	n = size - (size_t)(end + 1 - data);
	/* a record is the bytes before the NUL, and the text again, to have any byte in it */
	run(print_format_compile(text, n, word, big, &kernel, why), data, size, big);
	run(print_format_compile_binary(text, n, word, big, why), data + 1,
	    (size_t)(end - data - 1), big);
	if (event_format_parse(&fields, text, n, word) >= 0)
		print_fields_text(&fields, data, size, big, &line);
	event_format_free(&fields);
	line_free(&line);
	return 0;
}
