#include "common/cli/remarks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/error.h"

enum { REMARK_TEXT = 512 };

void remark(struct remarks *r, const char *file, const char *fmt, ...)
{
	char text[REMARK_TEXT];
	uint32_t had = r ? r->printed.count : 0;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (r && intern(&r->printed, text, strlen(text)) != INTERN_NONE && r->printed.count == had)
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

/* Get the remark with a format. NULL: out of memory. */
static struct remark *remark_of(struct remarks *r, const char *fmt)
{
	uint32_t number = intern(&r->formats, fmt, strlen(fmt));

	if (number == INTERN_NONE || ARRAY_REACH(r->counted, r->capacity, number))
		return NULL;
	return &r->counted[number];
}

void remark_count(struct remarks *r, uint64_t count, const char *fmt, ...)
{
	char one[REMARK_TEXT], many[REMARK_TEXT];
	struct remark *m;
	va_list ap;

	if (!count)
		return;
	va_start(ap, fmt);
	print_form(one, fmt, true, ap);
	va_end(ap);
	va_start(ap, fmt);
	print_form(many, fmt, false, ap);
	va_end(ap);
	m = r ? remark_of(r, fmt) : NULL;
	if (m && !m->count) {
		m->one = strdup(one);
		m->many = strdup(many);
	}
	if (m && m->one && m->many)
		m->count = count < UINT64_MAX - m->count ? m->count + count : UINT64_MAX;
	else
		warn(NULL, NO_OFFSET, "%" PRIu64 " %s", count, count == 1 ? one : many);
}

bool remark_is_new(struct remarks *r, enum remark_thing kind, uint32_t number)
{
	uint32_t key[] = {kind, number}, had = r ? r->things.count : 0;

	return !r || intern(&r->things, key, sizeof key) == INTERN_NONE || r->things.count > had;
}

void remarks_print(struct remarks *r)
{
	for (uint32_t i = 0; i < r->formats.count; i++) {
		const struct remark *m = &r->counted[i];

		if (m->count)
			warn(NULL, NO_OFFSET, "%" PRIu64 " %s", m->count,
			     m->count == 1 ? m->one : m->many);
	}
}

void remarks_free(struct remarks *r)
{
	for (uint32_t i = 0; i < r->formats.count && i < r->capacity; i++) {
		free(r->counted[i].one);
		free(r->counted[i].many);
	}
	free(r->counted);
	intern_free(&r->printed);
	intern_free(&r->formats);
	intern_free(&r->things);
	*r = (struct remarks){0};
}
