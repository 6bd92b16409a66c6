#include "common/cli/remarks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/intern.h"

enum { REMARK_TEXT = 512 };

/* The remarks of the run. */
static struct {
	bool collects;
	struct intern printed; /* remarks without a count */
	struct intern formats; /* of remarks with a count */
	struct counted {
		uint64_t count;
		char *one, *many; /* text for a count of 1, for other counts */
	} * counted;		  /* by number of the format */
	size_t capacity;
} remarks;

void remark(const char *file, const char *fmt, ...)
{
	char text[REMARK_TEXT];
	uint32_t had = remarks.printed.count;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (remarks.collects && intern(&remarks.printed, text, strlen(text)) != INTERN_NONE &&
	    remarks.printed.count == had)
		return;
	warn(file, NO_OFFSET, "%s", text);
}

/* Write a counted remark, of which one form is chosen. */
static void print_form(char text[REMARK_TEXT], const char *fmt, bool one, va_list ap)
{
	char form[REMARK_TEXT];

	warn_choose_forms(form, sizeof form, fmt, one);
	vsnprintf(text, REMARK_TEXT, form, ap);
}

/* Get the remark with a format. NULL: none is collected, or out of memory. */
static struct counted *counted_of(const char *fmt)
{
	uint32_t number;

	if (!remarks.collects)
		return NULL;
	number = intern(&remarks.formats, fmt, strlen(fmt));
	if (number == INTERN_NONE || ARRAY_REACH(remarks.counted, remarks.capacity, number))
		return NULL;
	return &remarks.counted[number];
}

void remark_count(uint64_t count, const char *fmt, ...)
{
	char one[REMARK_TEXT], many[REMARK_TEXT];
	struct counted *m = count ? counted_of(fmt) : NULL;
	va_list ap;

	if (!count)
		return;
	va_start(ap, fmt);
	print_form(one, fmt, true, ap);
	va_end(ap);
	va_start(ap, fmt);
	print_form(many, fmt, false, ap);
	va_end(ap);
	if (m && !m->count) {
		m->one = strdup(one);
		m->many = strdup(many);
	}
	if (m && m->one && m->many)
		m->count = count < UINT64_MAX - m->count ? m->count + count : UINT64_MAX;
	else
		warn(NULL, NO_OFFSET, "%" PRIu64 " %s", count, count == 1 ? one : many);
}

void remarks_collect(void)
{
	remarks.collects = true;
}

void remarks_print(void)
{
	for (uint32_t i = 0; i < remarks.formats.count && i < remarks.capacity; i++) {
		const struct counted *m = &remarks.counted[i];

		if (m->count)
			warn(NULL, NO_OFFSET, "%" PRIu64 " %s", m->count,
			     m->count == 1 ? m->one : m->many);
		free(m->one);
		free(m->many);
	}
	free(remarks.counted);
	intern_free(&remarks.printed);
	intern_free(&remarks.formats);
	memset(&remarks, 0, sizeof remarks);
}
