/*
 * pack.c - encode rows of the stream as the bytes of a uftrace data directory
 */
#include "cmd/trencode/uftrace/pack.h"

#include "common/stream/value.h"
#include "common/formats/perf.h"

enum { COMM_LIMIT = 4096 };

static int put_number(struct buffer *b, const struct uftrace_machine *m, uint64_t v, unsigned size)
{
	uint8_t p[8];

	for (unsigned i = 0; i < size; i++)
		p[m->big_endian ? size - 1 - i : i] = (uint8_t)(v >> 8 * i);
	return buffer_append(b, p, size);
}

/* Append a number that is little-endian in the stream, in the machine's byte order. */
static int put_machine(struct buffer *b, const struct uftrace_machine *m, const uint8_t *p,
		       size_t n)
{
	uint8_t turned[16];

	if (!m->big_endian)
		return buffer_append(b, p, n);
	for (size_t i = 0; i < n; i++)
		turned[i] = p[n - 1 - i];
	return buffer_append(b, turned, n);
}

/* Append zeros up to a multiple of `to` bytes after from. */
static int pad(struct buffer *b, size_t from, unsigned to)
{
	size_t n = b->size - from;

	return buffer_zero(b, align_up(n, to) - n);
}

static int put_value(struct buffer *b, const struct uftrace_machine *m, const struct value *v)
{
	switch (v->tag) {
	case VALUE_NUMBER:
	case VALUE_ENUM: return put_machine(b, m, v->bytes, v->n);
	case VALUE_STRING:
	case VALUE_BLOB:
		if (v->n > UINT16_MAX)
			return 1;
		if (put_number(b, m, v->n, 2))
			return -1;
		return buffer_append(b, v->bytes, v->n);
	case VALUE_OPAQUE: return buffer_append(b, v->bytes, v->n);
	}
	return 1;
}

int uftrace_pack_values(struct buffer *b, const struct uftrace_machine *m, const uint8_t *tail,
			size_t n)
{
	size_t from = b->size;
	struct values v;
	struct detail d;
	int r = 0;

	values_begin(&v, tail, n);
	while (!r && values_detail(&v, &d)) {
		r = put_value(b, m, &d.value);
		if (!r)
			r = pad(b, from, 4);
	}
	if (!r && v.bad)
		r = 1;
	if (!r)
		r = pad(b, from, 8);
	if (r)
		b->size = from;
	return r;
}

/* --- EVENT --- */

bool uftrace_event_has_data(const struct type *t)
{
	return t->nfields;
}

/* Append the payload of watch:var: an address, and a value of `size` bytes. */
static int put_watched(struct buffer *b, const struct uftrace_machine *m, const struct event *ev)
{
	uint64_t size, value, address;

	if (!field_number(ev, "size", &size) || !field_number(ev, "value", &value) ||
	    !field_number(ev, "address", &address) ||
	    (size != 1 && size != 2 && size != 4 && size != 8))
		return 1;
	return put_number(b, m, address, m->word) || put_number(b, m, value, (unsigned)size) ? -1
											     : 0;
}

static int put_fields(struct buffer *b, const struct uftrace_machine *m, const struct event *ev)
{
	for (uint32_t i = 0; i < ev->type->nfields; i++) {
		const struct field *f = &ev->type->fields[i];
		size_t n;
		const uint8_t *p = field_bytes(ev, f, &n);
		int r;

		if (!p)
			return 1;
		if (f->where == WHERE_FIXED && f->kind != FIELD_BYTES && n <= 8)
			r = put_machine(b, m, p, n);
		else
			r = buffer_append(b, p, n);
		if (r)
			return r;
	}
	return 0;
}

int uftrace_pack_event(struct buffer *b, const struct uftrace_machine *m, const struct event *ev)
{
	size_t from = b->size, n;
	uint16_t length;
	int r = buffer_zero(b, 2);

	if (!r && ev->type->native == UFTRACE_EV_WATCH_VAR && ev->type->fixed_size)
		r = put_watched(b, m, ev);
	else if (!r)
		r = put_fields(b, m, ev);
	n = b->size - from - 2;
	if (!r && n > UINT16_MAX)
		r = 1;
	if (!r) {
		length = uftrace_swap16((uint16_t)n, m->swap);
		memcpy(b->data + from, &length, 2);
		r = pad(b, from, 8);
	}
	if (r)
		b->size = from;
	return r;
}

/* --- perf --- */

static uint32_t number_of(const struct event *ev, const char *name, uint32_t otherwise)
{
	uint64_t number = otherwise;

	field_number(ev, name, &number);
	return (uint32_t)number;
}

static int put_header(struct buffer *b, const struct uftrace_machine *m, uint32_t type,
		      uint32_t misc, size_t size)
{
	return put_number(b, m, type, 4) || put_number(b, m, misc, 2) || put_number(b, m, size, 2);
}

/* Append the sample that ends each record. */
static int put_sample(struct buffer *b, const struct uftrace_machine *m, uint32_t pid, uint32_t tid,
		      uint64_t time)
{
	return put_number(b, m, pid, 4) || put_number(b, m, tid, 4) || put_number(b, m, time, 8);
}

int uftrace_pack_switch(struct buffer *b, const struct uftrace_machine *m, const struct event *ev,
			uint64_t time)
{
	bool out = ev->type->kind == KIND_ENTER;
	uint32_t misc = number_of(ev, "misc", out ? PERF_MISC_SWITCH_OUT : 0);

	if (put_header(b, m, PERF_RECORD_SWITCH, misc, 24) ||
	    put_sample(b, m, (uint32_t)ev->lane->pid, (uint32_t)ev->lane->tid, time))
		return -1;
	return 0;
}

int uftrace_pack_life(struct buffer *b, const struct uftrace_machine *m, const struct event *ev,
		      uint32_t perf_type)
{
	uint32_t pid = number_of(ev, "pid", (uint32_t)ev->lane->pid);
	uint32_t tid = number_of(ev, "tid", (uint32_t)ev->lane->tid);
	const struct field *f = field_by_role(ev->type, ROLE_SOURCE_TIME);
	struct field_value sampled = {.form = FORM_NONE};

	if (f)
		field_get(ev, f, 0, &sampled);
	if (put_header(b, m, perf_type, number_of(ev, "misc", 0), 48) || put_number(b, m, pid, 4) ||
	    put_number(b, m, number_of(ev, "ppid", pid), 4) || put_number(b, m, tid, 4) ||
	    put_number(b, m, number_of(ev, "ptid", tid), 4) || put_number(b, m, ev->time, 8) ||
	    put_sample(b, m, number_of(ev, "sample_pid", pid), number_of(ev, "sample_tid", tid),
		       sampled.form == FORM_UINT ? sampled.u : ev->time))
		return -1;
	return 0;
}

int uftrace_pack_comm(struct buffer *b, const struct uftrace_machine *m, const struct event *ev)
{
	uint32_t pid = number_of(ev, "pid", (uint32_t)ev->lane->pid);
	uint32_t tid = number_of(ev, "tid", (uint32_t)ev->lane->tid);
	const struct field *f = field_by_role(ev->type, ROLE_MESSAGE);
	struct field_value comm = {.form = FORM_NONE};
	size_t padded;

	if (f)
		field_get(ev, f, 0, &comm);
	if (comm.form != FORM_TEXT || comm.size > COMM_LIMIT)
		return 1;
	padded = align_up(comm.size + 1, 8);
	if (put_header(b, m, PERF_RECORD_COMM, number_of(ev, "misc", 0), 32 + padded) ||
	    put_number(b, m, pid, 4) || put_number(b, m, tid, 4) ||
	    buffer_append(b, comm.text, comm.size) || buffer_zero(b, padded - comm.size) ||
	    put_sample(b, m, pid, tid, ev->time))
		return -1;
	return 0;
}
