/*
 * same_anywhere.h - checks that a stream with snapshots has the same calls from any segment on: a
 * call engine rebuilt from a snapshot is equal to one that has read everything, and finds the same
 * calls from there on
 */
#ifndef TR_T_UNIT_SAME_ANYWHERE_H
#define TR_T_UNIT_SAME_ANYWHERE_H

#include "common/cli/stage.h"
#include "common/calls/calls.h"
#include "common/stream/writer.h"
#include "t/unit/random_trace.h"

/* A reader with its call engine. */
struct engine {
	struct reader in;
	struct calls calls;
};

static inline void engine_begin(struct engine *x, const void *data, size_t n)
{
	*x = (struct engine){0};
	must(!reader_open_fd(&x->in, fd_of(data, n), "x", NULL, 0), "open");
	calls_init(&x->calls, &x->in.dictionary);
}

static inline void engine_end(struct engine *x)
{
	calls_free(&x->calls);
	reader_close(&x->in);
}

/* --- the state as a text --- */

static inline uint64_t address(const struct engine *x, uint32_t location)
{
	return location ? dictionary_location(&x->in.dictionary, location)->address : 0;
}

static inline const char *type_name(const struct type *t)
{
	return t ? t->name.text : "-";
}

static inline void put_frames(struct buffer *b, const struct engine *x, const struct stack *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct frame *f = &s->frames[i];

		buffer_printf(b, "  %" PRIu64 " %" PRIu64 " %" PRIx64 " %u %d%d%d%d\n", f->start,
			      f->child, address(x, f->location), f->depth, f->inner, f->begun,
			      f->begun && f->recursive, !i && f->outside);
	}
}

static inline void put_stack(struct buffer *b, const struct engine *x, const struct stack *s)
{
	const struct dictionary *d = &x->in.dictionary;
	const struct stack *k = s->kernel;
	bool started = s->started || (s->asks_lane && dictionary_started(d, s->number));

	for (uint32_t i = 0; i < intern_size(&d->threads, s->number); i++)
		buffer_printf(b, "%02x", (uint8_t)intern_data(&d->threads, s->number)[i]);
	buffer_printf(b, " last %" PRIu64 " on %d/%d type %s unseen %u %" PRIu64 " exec %zu %d\n",
		      s->last, s->lane->tid, s->lane->cpu, type_name(s->type), s->unseen,
		      s->unseen ? s->unseen_since : 0, s->exec, started);
	put_frames(b, x, s);
	if (!k || !k->count)
		return;
	buffer_printf(b, " kernel %" PRIu64 " passed %d type %s exec %zu\n", s->kernel_since,
		      s->passed, type_name(k->type), k->exec);
	put_frames(b, x, k);
}

static inline int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Append lines in their order. */
static inline void put_sorted(struct buffer *to, char **lines, size_t n)
{
	qsort(lines, n, sizeof *lines, by_text);
	for (size_t i = 0; i < n; i++) {
		buffer_printf(to, "%s", lines[i]);
		free(lines[i]);
	}
}

static inline void put_numbered(struct buffer *to, const struct engine *x)
{
	const struct open_calls *o = &x->calls.open;
	char *lines[1024];
	size_t n = 0;

	for (size_t i = 0; i <= (o->others.slots ? o->others.mask + 1 : 0) && n < 1024; i++) {
		uint64_t other = i ? o->others.slots[i - 1].value : 0;
		const struct numbered_call *call;
		struct buffer b = {0};

		if (i ? !other : !o->recent.key)
			continue;
		call = &x->calls.numbered.calls[i ? other - 1 : o->recent.value];
		buffer_printf(&b, "number %u %" PRIu64 " %" PRIx64 " %s %d\n", call->number,
			      call->start, address(x, call->location), type_name(call->type),
			      call->lane->tid);
		buffer_u8(&b, 0);
		lines[n++] = (char *)b.data;
	}
	put_sorted(to, lines, n);
}

static inline char *state_of(const struct engine *x)
{
	struct buffer all = {0};
	char *lines[64];
	size_t n = 0;

	for (size_t i = 0; i < x->calls.size && n < 64; i++) {
		const struct stack *s = x->calls.stacks[i];
		struct buffer b = {0};

		if (!s || !(s->count || s->unseen || (s->kernel && s->kernel->count)))
			continue;
		put_stack(&b, x, s);
		buffer_u8(&b, 0);
		lines[n++] = (char *)b.data;
	}
	put_sorted(&all, lines, n);
	put_numbered(&all, x);
	buffer_u8(&all, 0);
	return (char *)all.data;
}

/* --- what the engine finds --- */

static inline void put_call(struct buffer *b, const struct engine *x, int got, const struct call *c)
{
	buffer_printf(b, "%d", got);
	if (got == CALLS_LEAVE)
		buffer_printf(b,
			      " %" PRIx64 " of %" PRIx64 " level %u %" PRIu64 "-%" PRIu64
			      " %" PRIu64 " self %" PRIu64 " %d%d%d %d %s",
			      address(x, c->location), address(x, c->caller), c->level, c->start,
			      c->end, c->total, c->self, c->recursive, c->inner, c->unfinished,
			      c->lane ? c->lane->tid : -1, type_name(c->type));
	buffer_u8(b, '\n');
}

static inline void feed(struct engine *x, const struct block *b, struct buffer *found)
{
	struct events it;
	struct event e;
	struct call c;

	for (events_begin(&it, b); event_next(&it, &e);) {
		c = (struct call){0};
		put_call(found, x, calls_next(&x->calls, &e, &c), &c);
	}
}

static inline void put_finish(struct engine *x, struct buffer *found)
{
	char *lines[1024];
	struct call c;
	size_t n = 0;

	while (calls_finish(&x->calls, &c)) {
		struct buffer b = {0};

		put_call(&b, x, CALLS_LEAVE, &c);
		buffer_u8(&b, 0);
		if (n < 1024)
			lines[n++] = (char *)b.data;
		else
			buffer_free(&b);
	}
	put_sorted(found, lines, n);
}

enum { SEGMENTS = 512 };

/* One run over the stream: the states at the borders, and what was found from each border on. */
struct run {
	char *states[SEGMENTS];
	size_t at[SEGMENTS]; /* bytes of found */
	size_t borders;
	struct buffer found;
};

/* Read all. first: only the state after the first snapshot is of interest. */
static inline bool run_stream(struct run *r, const uint8_t *data, size_t n, bool alone)
{
	struct engine x;
	struct block b;
	struct error e;
	bool good = true;
	int got;

	*r = (struct run){0};
	engine_begin(&x, data, n);
	while ((got = reader_next(&x.in, &b)) != 0) {
		if (got < 0) {
			/* the segments before the first are missing */
			good &= alone && strstr(x.in.error.what, "is missing");
			continue;
		}
		if (b.kind == BLOCK_EVENTS)
			feed(&x, &b, &r->found);
		if (b.kind != BLOCK_SNAPSHOT)
			continue;
		good &= (b.snapshot != NULL) == (alone && !r->borders);
		must(!calls_restore(&x.calls, &b, &e), "restore");
		r->at[r->borders] = r->found.size;
		r->states[r->borders++] = state_of(&x);
		must(r->borders < SEGMENTS, "segments");
	}
	put_finish(&x, &r->found);
	buffer_u8(&r->found, 0);
	engine_end(&x);
	return good;
}

static inline void run_free(struct run *r)
{
	for (size_t i = 0; i < r->borders; i++)
		free(r->states[i]);
	buffer_free(&r->found);
}

/* Find the segments; they are at multiples of 8 bytes. */
static inline size_t segments_of(const struct blob *b, size_t *at)
{
	size_t n = 0;

	for (size_t i = 0; i + MARKER_SIZE <= b->size && n < SEGMENTS; i += 8)
		if (reader_is_stream(b->data + i, b->size - i))
			at[n++] = i;
	return n;
}

static inline bool differ(const char *what, uint64_t seed, size_t segment, const char *got,
			  const char *want)
{
	if (!strcmp(got, want))
		return false;
	while (*got && *got == *want) {
		got++;
		want++;
	}
	printf("# seed %" PRIu64 ", segment %zu: %s differ\n# got: %.300s\n# want: %.300s\n", seed,
	       segment, what, got, want);
	return true;
}

/* Read the stream from its beginning and from some of its segments. */
static inline bool same_anywhere(const struct blob *b, uint64_t seed)
{
	size_t at[SEGMENTS], n = segments_of(b, at);
	struct run whole, part;
	bool good = run_stream(&whole, b->data, b->size, false) && whole.borders == n - 1;

	if (!good)
		printf("# seed %" PRIu64 ": %zu segments, %zu snapshots\n", seed, n, whole.borders);
	for (unsigned i = 0; good && n > 1 && i < 4; i++) {
		size_t k = 1 + pick((unsigned)n - 1);

		good = run_stream(&part, b->data + at[k], b->size - at[k], true);
		good = good && part.borders == n - k &&
		       !differ("states", seed, k, part.states[0], whole.states[k - 1]) &&
		       !differ("calls", seed, k, (char *)part.found.data,
			       (char *)whole.found.data + whole.at[k - 1]);
		run_free(&part);
	}
	run_free(&whole);
	return good;
}

/* Test whether the segments of a stream are one in another stream, with the same calls. */
static inline bool same_joined(const struct blob *b, const struct blob *one, uint64_t seed)
{
	size_t at[SEGMENTS];
	struct run parts, whole;
	bool good = run_stream(&parts, b->data, b->size, false) &&
		    run_stream(&whole, one->data, one->size, false) && segments_of(one, at) == 1 &&
		    !whole.borders;

	if (!good)
		printf("# seed %" PRIu64 ": not one segment\n", seed);
	good = good &&
	       !differ("calls", seed, 0, (char *)whole.found.data, (char *)parts.found.data);
	run_free(&parts);
	run_free(&whole);
	return good;
}

/* Write a stream again: all its segments as one, or as they are. */
static inline struct blob passed_on(int fd, bool one)
{
	struct common_options common = {.quiet = true};
	int to = memfd_create("passed", 0);
	char in[32], out[32], *paths[] = {in}, *argv[] = {(char *)"pass", NULL};
	struct stage s;
	struct block b;
	struct blob got;

	snprintf(in, sizeof in, "/dev/fd/%d", fd);
	snprintf(out, sizeof out, "/dev/fd/%d", to);
	must(!lseek(fd, 0, SEEK_SET), "rewind");
	common.output = out;
	must(!stage_open(&s, paths, 1, &common), "open");
	s.one_segment = one;
	must(!stage_create(&s, 1, argv), "create");
	while (stage_next(&s, &b))
		if (b.kind == BLOCK_EVENTS)
			must(!stage_pass(&s, &b), "pass");
	must(!stage_finish(&s), "finish");
	got = blob_of_fd(to);
	close(to);
	return got;
}

#endif
