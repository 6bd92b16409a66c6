/*
 * chrome_members.c - what Trace Event JSON had beside its events (META CHROME_META)
 *
 * Metadata events are written when the META is read, before the events. Members of the file are
 * written after all events: by then it is known which of them all inputs agree on.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/value/json.h"
#include "common/value/json_reader.h"
#include "cmd/trencode/timeline/chrome.h"

enum { MEMBERS_MOST = 16 << 20 }; /* bytes of a META, and of the members of all */

/* A member of the file or of otherData. */
struct chrome_member {
	uint32_t text; /* number in texts */
	uint32_t meta; /* number of the META that has it */
	bool differs;  /* two METAs have different values */
};

struct chrome_members {
	struct buffer part, line; /* of the META that is read, of a metadata event */
	struct json_reader json;
	uint32_t metas;		       /* number of the META that is read */
	struct id_cache lines;	       /* by hash of a metadata event: the first META that has it */
	struct intern named;	       /* numbers in the output of processes with a process_name */
	struct intern names, texts;    /* of members; o or m, then the name */
	struct chrome_member *members; /* by number of the name */
	size_t capacity, bytes;
	uint64_t left_out;
	uint64_t zero; /* of the META that is read: time in the stream of the file's time 0 */
	bool late;     /* that is not the time 0 of the output */
};

struct chrome_members *chrome_members_new(void)
{
	return calloc(1, sizeof(struct chrome_members));
}

void chrome_members_free(struct chrome_members *k)
{
	if (!k)
		return;
	buffer_free(&k->part);
	buffer_free(&k->line);
	json_close(&k->json);
	id_cache_free(&k->lines);
	intern_free(&k->named);
	intern_free(&k->names);
	intern_free(&k->texts);
	free(k->members);
	free(k);
}

/* --- metadata events --- */

/* Read an id of a metadata event; -1: none. */
static int32_t read_id(const struct json_reader *r)
{
	char *end;
	long n = strtol((const char *)r->text.data, &end, 10);

	return r->text.size && !*end && n >= 0 && n <= INT32_MAX ? (int32_t)n : -1;
}

/* Read a metadata event, after its '{', into k->line without its ids. *names: it is the name of a
 * process. -1: BAD, or out of memory. */
static int read_event(struct chrome_members *k, int32_t *pid, int32_t *tid, bool *names)
{
	struct json_reader *r = &k->json;
	enum json_token token;
	bool first = true;

	k->line.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool is_pid = json_is(r, "pid"), is_tid = json_is(r, "tid");
		bool is_name = json_is(r, "name");

		if (!is_pid && !is_tid &&
		    (buffer_puts(&k->line, first ? "" : ",") ||
		     json_append_string(&k->line, (const char *)r->text.data, r->text.size) ||
		     buffer_u8(&k->line, ':')))
			return -1;
		token = json_next(r);
		*names |= is_name && token == JSON_STRING && json_is(r, "process_name");
		if ((is_pid || is_tid) && token == JSON_NUMBER) {
			*(is_pid ? pid : tid) = read_id(r);
			continue;
		}
		if (is_pid || is_tid ? !json_skip(r, token)
				     : json_copy(r, token, &k->line, SIZE_MAX))
			return -1;
		first &= is_pid || is_tid;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Write the event in k->line, unless a META before had it. */
static int put_event(struct chrome_output *s, int32_t pid, int32_t tid)
{
	struct chrome_members *k = s->members;
	struct buffer *b = &k->line;
	uint64_t hash;
	uint32_t *meta;

	if ((pid >= 0 && buffer_printf(b, ",\"pid\":%" PRId32, pid)) ||
	    (tid >= 0 && buffer_printf(b, ",\"tid\":%" PRId32, tid)))
		return -1;
	hash = hash_bytes(b->data, b->size, 0);
	meta = id_cache_number(&k->lines, &hash, sizeof hash);
	if (!meta)
		return -1;
	if (*meta && *meta != k->metas)
		return 0;
	*meta = k->metas;
	chrome_begin_line(s);
	text_char(s->out, '{');
	text_put(s->out, (const char *)b->data, b->size);
	text_char(s->out, '}');
	return 0;
}

/* Write the metadata events of a source, after the '['. -1: BAD, or out of memory. */
static int put_events(struct chrome_output *s, uint32_t source)
{
	struct chrome_members *k = s->members;
	enum json_token token;

	while ((token = json_next(&k->json)) == JSON_OBJECT) {
		int32_t pid = -1, tid = -1;
		bool names = false;

		if (read_event(k, &pid, &tid, &names) ||
		    (pid >= 0 && tracks_pid(&s->tracks, source, pid, &pid)) ||
		    (pid >= 0 && names && intern(&k->named, &pid, sizeof pid) == INTERN_NONE) ||
		    put_event(s, pid, tid))
			return -1;
	}
	return token == JSON_ARRAY_END ? 0 : -1;
}

bool chrome_members_name(const struct chrome_output *s, int32_t pid)
{
	return intern_find(&s->members->named, &pid, sizeof pid) != INTERN_NONE;
}

/* --- members --- */

/* Keep a member whose key was read. kind: m, o. -1: BAD, or out of memory. */
static int keep_member(struct chrome_output *s, char kind)
{
	struct chrome_members *k = s->members;
	struct json_reader *r = &k->json;
	struct chrome_member *member;
	uint32_t had = k->names.count, name, text;
	bool unit = kind == 'm' && json_is(r, "displayTimeUnit");

	if ((k->late && !unit) || k->bytes + r->text.size > MEMBERS_MOST) {
		k->left_out++;
		return json_skip(r, json_next(r)) ? 0 : -1;
	}
	k->line.size = 0;
	if (buffer_u8(&k->line, (uint8_t)kind) ||
	    buffer_append(&k->line, r->text.data, r->text.size))
		return -1;
	k->bytes += k->line.size;
	name = intern(&k->names, k->line.data, k->line.size);
	k->line.size = 0;
	if (name == INTERN_NONE || ARRAY_REACH(k->members, k->capacity, name) ||
	    json_copy(r, json_next(r), &k->line, SIZE_MAX))
		return -1;
	k->bytes += k->line.size;
	if (!unit && !s->started)
		s->zero = k->zero;
	text = intern(&k->texts, k->line.data, k->line.size);
	if (text == INTERN_NONE)
		return -1;
	member = &k->members[name];
	/* of two in one file, readers use the last one */
	if (name == had || member->meta == k->metas)
		member->text = text;
	member->differs |= member->text != text;
	member->meta = k->metas;
	return 0;
}

/* Test for the name of a member that the encoder writes itself. In the list the kind is before it.
 */
static bool is_own(const struct json_reader *r, char kind)
{
	static const char *const own[] = {
		"mtraceEvents", "msamples", "mstackFrames", "motherData",
		"oclock",	"oorigin",  "ounit",	    ("o" CHROME_KERNEL_CATEGORY)};

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (*own[i] == kind && json_is(r, own[i] + 1))
			return true;
	return false;
}

/* Take the time of the file's time 0. A member may count times from there. */
static void take_origin(struct chrome_output *s)
{
	struct chrome_members *k = s->members;
	uint64_t used = s->started ? s->origin : s->zero;

	k->zero = strtoull((const char *)k->json.text.data, NULL, 10);
	k->late = (s->started || used != UINT64_MAX) && used != k->zero;
}

/* Read otherData, after its '{'. -1: BAD, or out of memory. */
static int read_other(struct chrome_output *s)
{
	struct json_reader *r = &s->members->json;
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool origin = json_is(r, "origin");

		if (!is_own(r, 'o')) {
			if (keep_member(s, 'o'))
				return -1;
			continue;
		}
		token = json_next(r);
		if (origin && token == JSON_STRING)
			take_origin(s);
		else if (!json_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Read the META of a source, which is Trace Event JSON. -1: BAD, or out of memory. */
static int read_meta(struct chrome_output *s, uint32_t source)
{
	struct json_reader *r = &s->members->json;
	enum json_token token;

	if (json_next(r) != JSON_OBJECT)
		return -1;
	while ((token = json_next(r)) == JSON_KEY) {
		bool events = json_is(r, "traceEvents"), other = json_is(r, "otherData");

		if (!is_own(r, 'm')) {
			if (keep_member(s, 'm'))
				return -1;
			continue;
		}
		token = json_next(r);
		if (events && token == JSON_ARRAY   ? put_events(s, source)
		    : other && token == JSON_OBJECT ? read_other(s)
						    : !json_skip(r, token))
			return -1;
	}
	return 0;
}

int chrome_members_meta(struct chrome_output *s, const struct meta *m)
{
	struct chrome_members *k = s->members;
	const struct source *source;
	int whole = m->total > MEMBERS_MOST ? 0 : meta_join(&k->part, m, CHROME_META);

	if (whole <= 0)
		return whole;
	source = m->source ? pool_at(&s->names.dictionary->sources, m->source) : NULL;
	k->metas++;
	k->zero = 0;
	k->late = s->started || (s->zero != UINT64_MAX && s->zero);
	json_open_text(&k->json, (const char *)k->part.data, k->part.size);
	/* what is no JSON is not used: trdecode wrote what is */
	return read_meta(s, source ? source->number : 0) && !k->json.error.what[0] ? -1 : 0;
}

void chrome_members_put(const struct chrome_output *s, char kind)
{
	const struct chrome_members *k = s->members;

	for (uint32_t i = 0; i < k->names.count; i++) {
		const char *name = intern_data(&k->names, i);
		const struct chrome_member *member = &k->members[i];

		if (*name != kind || !member->meta || member->differs)
			continue;
		text_char(s->out, ',');
		json_string(s->out, name + 1, intern_size(&k->names, i) - 1);
		text_char(s->out, ':');
		text_put(s->out, intern_data(&k->texts, member->text),
			 intern_size(&k->texts, member->text));
	}
}

void chrome_members_end(struct chrome_output *s)
{
	const struct chrome_members *k = s->members;
	uint32_t unit = intern_find(&k->names, "mdisplayTimeUnit", 16);
	uint64_t left_out = k->left_out;

	if (unit == INTERN_NONE || k->members[unit].differs)
		text_puts(s->out, ",\"displayTimeUnit\":\"ns\"");
	chrome_members_put(s, 'm');
	for (uint32_t i = 0; i < k->names.count; i++)
		left_out += k->members[i].differs;
	if (!s->options->quiet)
		remark_count(left_out,
			     "{member|members} beside the events {is|are} left out: the inputs "
			     "have different ones, or they are larger than 16 MiB");
}
