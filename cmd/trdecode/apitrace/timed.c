#include "cmd/trdecode/apitrace/timed.h"

#include <inttypes.h>

#include "cmd/trdecode/input/input.h"
#include "cmd/trdecode/input/merge.h"

static int timed_failed(struct apitrace *a)
{
	a->failure = FAILURE_FATAL;
	if (!a->error.what[0])
		a->error = a->w->error;
	return -1;
}

/* Get the type of enters with optional fields. 0: out of memory. */
static uint32_t enter_type(struct apitrace *a, bool stacks, unsigned variant)
{
	uint32_t *id = &a->timed.enters[stacks][variant];
	struct field_entry fields[APITRACE_FIELDS_MOST + GLPROFILE_FIELDS_MOST];
	struct type_entry e;

	if (*id)
		return *id;
	apitrace_type(a, KIND_ENTER, "enter", stacks, &e, fields);
	e.nfields += glprofile_fields(a->w, variant, fields + e.nfields, &e.fixed_size);
	*id = writer_type(a->w, &e);
	if (*id && row_filter_announce(a->input->decoding->row_filter, *id, 0))
		*id = 0;
	return *id;
}

/* Test whether a call of the profile has the function of the present enter. */
static bool same_function(const struct apitrace *a, const struct glprofile_call *c)
{
	size_t n;
	const char *name = writer_string_of(a->w, a->timed.name, &n);
	const struct intern *names = &a->timed.profile->names;

	return intern_size(names, c->name) == n && !memcmp(intern_data(names, c->name), name, n);
}

int timed_row(struct apitrace *a, struct new_row *r, uint8_t *fixed, const struct row_needs *needs,
	      uint32_t call)
{
	struct glprofile *p = a->timed.profile;
	bool leave = r->type == a->leave;
	struct glprofile_call *c;
	struct open_calls *unknown = &a->timed.unknown;
	uint64_t time = p->now, now = 0;

	a->error.what[0] = '\0';
	if (glprofile_find(p, call, leave, &c, &a->error))
		return timed_failed(a);
	if (!leave && c && !same_function(a, c)) {
		/* of another trace: it counts as missing */
		c->taken = false;
		c = NULL;
	}
	if (c && glprofile_has_cpu(c))
		time = now = glprofile_cpu_time(c, leave);
	else if (!leave && open_calls_count(unknown) < APITRACE_OPEN_LIMIT &&
		 open_calls_put(unknown, 0, call, time))
		return timed_failed(a);
	else if (leave)
		open_calls_take(unknown, 0, call, &time);
	if (c && !now)
		now = (uint64_t)c->value[COLUMN_GPU_START];
	r->time = merge_shifted(time, a->input->shift);
	if (!leave && c) {
		unsigned variant = glprofile_variant(c, false);

		r->type = enter_type(a, r->fixed_size == APITRACE_FIXED_MOST, variant);
		r->fixed_size += glprofile_fixed(c, variant, fixed + r->fixed_size);
	}
	if (!r->type || (leave && c && glprofile_gpu(p, c, a->frame)))
		return timed_failed(a);
	if (row_queue_put(&p->queue, r, needs))
		return timed_failed(a);
	/* what ends next in the trace is replayed next */
	if (leave && now > p->now)
		p->now = now;
	return 0;
}

int timed_write(struct apitrace *a, uint64_t until, bool ended)
{
	struct glprofile *p = a->timed.profile;
	uint64_t now = ended ? UINT64_MAX : merge_shifted(p->now, a->input->shift), next;

	if (row_queue_write(&p->queue, until < now ? until : now))
		return timed_failed(a);
	next = row_queue_next(&p->queue);
	a->input->next = next < now ? next : now;
	return 0;
}

int timed_end(struct apitrace *a)
{
	struct glprofile *p = a->timed.profile;
	uint64_t missing;

	a->error.what[0] = '\0';
	if (glprofile_missing(p, &missing, &a->error))
		return timed_failed(a);
	input_end_shared(p->input);
	if (missing && !a->input->faults.total)
		input_damage(p->input, p->input->name, NO_OFFSET,
			     "%" PRIu64 " %s not in %s: is this the profile of another trace?",
			     missing, missing == 1 ? "call is" : "calls are", a->input->name);
	return 0;
}
