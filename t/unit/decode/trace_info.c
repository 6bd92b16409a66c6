/* links: cmd/trdecode */
/* What --info prints, as text and as JSON. */
#include "t/unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/trdecode/input.h"

static char written[4096];

/* The information about two inputs, as printed. */
static const char *print(bool json)
{
	struct text *text = malloc(sizeof(*text));
	int fd = memfd_create("trace_info", 0);
	struct output out;
	struct error e;
	struct trace_info f = {0};
	char path[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	if (!text || output_open(&out, path, OUTPUT_TEXT, &e))
		exit(99);
	text_init(text, &out);
	trace_info_begin(&f, text, json, "first \"one\"", true);
	fact_text(&f, "command line", "a\\b \n");
	fact_text(&f, "nothing", " ");
	fact_text(&f, "none", NULL);
	fact_number(&f, "max stack", UINT64_MAX);
	fact_item(&f, "source", "x");
	fact_item(&f, "source", "y");
	fact_item(&f, "made by", "z");
	trace_info_end(&f);
	trace_info_begin(&f, text, json, "second", false);
	fact_item(&f, "source", "v");
	fact_number(&f, "events", 0);
	trace_info_end(&f);
	trace_info_close(text, json);
	if (text_flush(text, &e))
		exit(99);
	n = pread(fd, written, sizeof(written) - 1, 0);
	written[n < 0 ? 0 : n] = '\0';
	output_close(&out, 0, &e);
	close(fd);
	free(text);
	return written;
}

int main(void)
{
	is_str(print(false),
	       "input             first \"one\"\n"
	       "command line      a\\b\n"
	       "max stack         18446744073709551615\n"
	       "source            x\n"
	       "source            y\n"
	       "made by           z\n"
	       "\n"
	       "input             second\n"
	       "source            v\n"
	       "events            0\n",
	       "as text");
	is_str(print(true),
	       "[\n"
	       "  {\n"
	       "    \"input\": \"first \\\"one\\\"\",\n"
	       "    \"command_line\": \"a\\\\b\",\n"
	       "    \"max_stack\": 18446744073709551615,\n"
	       "    \"source\": [\"x\", \"y\"],\n"
	       "    \"made_by\": [\"z\"]\n"
	       "  },\n"
	       "  {\n"
	       "    \"input\": \"second\",\n"
	       "    \"source\": [\"v\"],\n"
	       "    \"events\": 0\n"
	       "  }\n"
	       "]\n",
	       "as JSON, several of a name as a list");
	return done();
}
