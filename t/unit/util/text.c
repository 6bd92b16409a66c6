/* Text output: numbers, escapes, what is larger than the buffer, a full device. */
#include "t/unit/tap.h"

#include "common/util/output.h"
#include "common/util/text.h"

#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the text functions wrote, read back from a pipe or file. */
static char got[3 * TEXT_BUFFER];

static const char *read_back(int fd)
{
	ssize_t n;
	size_t used = 0;

	while (used < sizeof got - 1 && (n = read(fd, got + used, sizeof got - 1 - used)) > 0)
		used += (size_t)n;
	got[used] = '\0';
	return got;
}

struct fixture {
	int file;
	struct output out;
	struct text text;
};

static void begin(struct fixture *f)
{
	char path[64];
	struct error e;

	f->file = memfd_create("text", 0);
	snprintf(path, sizeof path, "/dev/fd/%d", f->file);
	if (output_open(&f->out, path, OUTPUT_TEXT, &e))
		printf("# %s\n", e.what);
	text_init(&f->text, &f->out);
}

static const char *end(struct fixture *f)
{
	struct error e;
	const char *s = NULL;

	if (!text_flush(&f->text, &e)) {
		lseek(f->file, 0, SEEK_SET);
		s = read_back(f->file);
	}
	output_close(&f->out, 0, &e);
	close(f->file);
	return s;
}

static void numbers(void)
{
	static const uint64_t values[] = {
		0,
		1,
		9,
		10,
		99,
		100,
		101,
		999,
		1000,
		12345,
		99999,
		100000,
		UINT32_MAX,
		9999999999999999999u,
		10000000000000000000u,
		INT64_MAX,
		UINT64_MAX,
	};
	static struct fixture f;
	char want[2048], *w = want;

	begin(&f);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		text_u64(&f.text, values[i]);
		text_char(&f.text, ' ');
		text_i64(&f.text, (int64_t)values[i]);
		text_char(&f.text, ' ');
		text_i64(&f.text, -(int64_t)values[i]);
		text_char(&f.text, ' ');
		text_hex(&f.text, values[i], 4);
		text_u64_wide(&f.text, values[i], 6, '0');
		w += sprintf(w, "%" PRIu64 " %" PRId64 " %" PRId64 " %04" PRIx64 "%06" PRIu64,
			     values[i], (int64_t)values[i], -(int64_t)values[i], values[i],
			     values[i]);
	}
	is_str(end(&f), want, "numbers are those of printf");
	begin(&f);
	text_i64(&f.text, INT64_MIN);
	is_str(end(&f), "-9223372036854775808", "the smallest integer");
	begin(&f);
	text_u64_wide(&f.text, 7, 3, ' ');
	text_hex(&f.text, 0, 1000);
	is_u64(strlen(end(&f)), 3 + 64, "a width is bounded");
}

static void larger_than_buffer(void)
{
	static struct fixture f;
	static char big[TEXT_BUFFER + 1];
	const char *s;

	memset(big, 'x', sizeof big);
	begin(&f);
	text_puts(&f.text, "<");
	text_put(&f.text, big, sizeof big);
	text_puts(&f.text, ">");
	text_pad(&f.text, ' ', TEXT_BUFFER);
	text_printf(&f.text, "%s%d", "|", 1);
	s = end(&f);
	is_u64(strlen(s), 2 * TEXT_BUFFER + 5, "all of it is written");
	ok(s[0] == '<' && s[TEXT_BUFFER + 2] == '>' && !strcmp(s + 2 * TEXT_BUFFER + 3, "|1"),
	   "in order");
	begin(&f);
	text_printf(&f.text, "%01000d", 5);
	is_u64(strlen(end(&f)), 1000, "a long printf");
	begin(&f);
	for (int i = 0; i < TEXT_BUFFER + 10; i++)
		text_char(&f.text, (char)('a' + i % 26));
	s = end(&f);
	ok(strlen(s) == TEXT_BUFFER + 10 && s[TEXT_BUFFER] == 'a' + TEXT_BUFFER % 26,
	   "character by character");
}

static void full_device(void)
{
	static struct text t;
	struct output o;
	struct error e;

	ok(!output_open(&o, "/dev/full", OUTPUT_TEXT, &e), "open /dev/full");
	text_init(&t, &o);
	text_puts(&t, "lost");
	ok(!text_failed(&t), "nothing is written yet");
	ok(text_flush(&t, &e) == -1, "flush says that it failed");
	is_str(e.what, "cannot write: No space left on device", "and why");
	text_pad(&t, ' ', 2 * TEXT_BUFFER);
	ok(text_failed(&t) && text_flush(&t, &e) == -1, "it stays failed");
	ok(output_close(&o, 0, &e) == -1, "and so does the output");
}

static void terminal(void)
{
	static struct text t;
	struct output o;
	struct error e;
	int master, slave;
	char path[64], line[64] = "";
	ssize_t n;

	if (openpty(&master, &slave, NULL, NULL, NULL)) {
		printf("# no pseudo-terminal\n");
		return;
	}
	snprintf(path, sizeof path, "/dev/fd/%d", slave);
	ok(output_open(&o, path, OUTPUT_BINARY, &e) == -1 && strstr(e.what, "terminal"),
	   "no binary to a terminal");
	ok(!output_open(&o, path, OUTPUT_TEXT, &e), "text to a terminal");
	text_init(&t, &o);
	text_masked(&t, "a\033[1m\xc2\x9b\xc3\xa4\177", 10);
	is_u64(t.used, 9, "a line begun waits");
	text_char(&t, '\n');
	is_u64(t.used, 0, "a line ended is written");
	n = read(master, line, sizeof line - 1);
	line[n > 0 ? n : 0] = '\0';
	is_str(line, "a?[1m?\xc3\xa4?\r\n", "control characters are masked");
	text_puts(&t, "one\n");
	is_u64(t.used, 0, "a text that ends a line, too");
	output_close(&o, 0, &e);
	close(slave);
	close(master);
}

int main(void)
{
	numbers();
	larger_than_buffer();
	full_device();
	terminal();
	return done();
}
