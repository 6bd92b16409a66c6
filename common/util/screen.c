/*
 * screen.c - the width, the height and the colours of human-readable output
 */
#include "common/util/screen.h"
#include "common/util/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Get a size that the environment gives, or 0. */
static unsigned screen_size_of(const char *name)
{
	const char *text = getenv(name);
	char *end;
	unsigned long n;

	if (!text || !*text)
		return 0;
	n = strtoul(text, &end, 10);
	return !*end && n < 1000000 ? (unsigned)n : 0;
}

/* Test whether colours are shown where --color does not decide. */
static bool color_expected(bool terminal)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return terminal && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

void screen_alarm(const struct screen *s, bool begin)
{
	bool color = s->when == COLOR_AUTO ? color_expected(isatty(STDERR_FILENO))
					   : s->when == COLOR_ALWAYS;

	/* messages do not pass through the buffer of stderr */
	if (color) {
		fputs(begin ? "\033[1;31m" : "\033[0m", stderr);
		fflush(stderr);
	}
}

void screen_find(struct screen *s, const struct output *o)
{
	struct winsize size = {0};
	unsigned width = 0, height = 0;

	if (output_is_terminal(o)) {
		if (ioctl(output_fd(o), TIOCGWINSZ, &size))
			size = (struct winsize){0};
		width = screen_size_of("COLUMNS");
		height = screen_size_of("LINES");
		width = width ? width : size.ws_col;
		height = height ? height : size.ws_row;
	}
	s->width = s->limited ? s->width : width;
	s->height = height;
	s->color = s->when == COLOR_AUTO ? color_expected(output_is_terminal(o))
					 : s->when == COLOR_ALWAYS;
}
