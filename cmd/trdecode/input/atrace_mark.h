/*
 * atrace_mark.h - the marks that atrace writes to trace_marker
 *
 *     B|TGID|NAME              E[|TGID]                    a call of the thread
 *     S|TGID|NAME|COOKIE       F|TGID|NAME|COOKIE          an asynchronous call
 *     G|TGID|TRACK|NAME|COOKIE H|TGID|TRACK|[NAME|]COOKIE  the same, on a track
 *     C|TGID|NAME|VALUE                                    a counter
 *     I|TGID|NAME              N|TGID|TRACK|NAME           an instant
 *
 * Chrome adds "|ARGUMENTS|CATEGORY" to B, S and F, "|NAME|ARGUMENTS|CATEGORY" to E and "|CATEGORY"
 * to C. ARGUMENTS are KEY=VALUE with ";" between, or empty. Names of B may have bars: what follows
 * a bar is part of the name if it has another form.
 *
 * Source: Android's ATrace (libcutils trace.h), and the parsers of systrace in catapult
 * (android_parser.html) and of Perfetto (systrace_parser.h).
 */
#ifndef TR_TRDECODE_INPUT_ATRACE_MARK_H
#define TR_TRDECODE_INPUT_ATRACE_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a mark. */
struct mark_text {
	const char *at;
	size_t size;
};

struct atrace_mark {
	char what; /* the letter */
	bool has_tgid;
	int64_t tgid;
	/* of B, G and N the name is never empty */
	struct mark_text name, track, cookie, arguments, category;
	struct mark_text id; /* of S and F: from TGID to COOKIE */
	int64_t value;
};

/* Take the next of the arguments: KEY and VALUE. Returns false if there are no more. */
bool atrace_mark_argument(struct mark_text *arguments, struct mark_text *key,
			  struct mark_text *value);
/* Read a decimal number with an optional sign. Returns false if the text is none. */
bool atrace_mark_number(struct mark_text text, int64_t *number);
/* Read a mark, without a newline. Returns false if the text is none. */
bool atrace_mark_read(struct atrace_mark *m, const char *text, size_t n);

#endif
