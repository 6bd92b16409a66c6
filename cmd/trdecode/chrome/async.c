/*
 * async.c - converts events with an id: asynchronous pairs become calls with a number, others and
 * the parts of flows instants with the id
 *
 * An end belongs to the innermost open call of its category, id and name (of any name, if the end
 * has none), first among those of its own process. A legacy end (F) never ends a nestable call (b),
 * nor a nestable end (e) a legacy call (S). The call belongs to the thread that began it.
 */
#include <stdlib.h>

#include "cmd/trdecode/chrome/chrome.h"
#include "common/util/siphash.h"
#include "cmd/trdecode/input/merge.h"

enum { OPEN_MOST = 1 << 20, SEARCHED = 256, FIXED = 16, FIXED_CALL = 0, FIXED_ID = 8 };

static bool is_legacy(uint32_t phase)
{
	return phase == 'S' || phase == 'F';
}

/* Declare a type: one for the calls of each category, one for the instants of each name. */
static uint32_t type_of(struct chrome *c, enum type_kind kind, const struct chrome_record *r)
{
	struct {
		uint32_t kind, name, category, values, phase, form;
	} key = {kind, 0, r->category, r->values > 0, r->phase, r->id.form};
	struct writer *w = c->w;
	struct field_entry fields[2] = {{writer_text(w, "call"), 0, FIELD_UINT, ROLE_CALL,
					 WHERE_FIXED, FIXED_CALL, 4, 0, 0},
					{c->id_name, 0,
					 r->id.form & CHROME_ID_HEX ? FIELD_HEX : FIELD_UINT,
					 ROLE_NONE, WHERE_FIXED, FIXED_ID, 8, 0, 0}};
	bool call = kind != KIND_INSTANT;
	uint32_t *id;

	key.name = kind == KIND_ENTER	? writer_text(w, "async begin")
		   : kind == KIND_LEAVE ? writer_text(w, "async end")
					: r->name;
	id = id_cache_number(&c->async.declared, &key, sizeof key);
	if (id && !*id && key.name && fields[0].name && fields[1].name)
		*id = writer_type(
			w, &(struct type_entry){
				   .source = c->source,
				   .name = key.name,
				   .group = r->category,
				   .kind = (uint8_t)kind,
				   .flags = (r->values ? TYPE_TAIL | TYPE_VALUES : 0) |
					    (call ? TYPE_CALL_NUMBER : 0),
				   .fixed_size = FIXED,
				   .native = r->phase |
					     (r->id.form & CHROME_ID_LOCAL ? CHROME_LOCAL : 0) |
					     (chrome_is_flow((char)r->phase) &&
							      r->id.form & CHROME_ID_ENCLOSING
						      ? CHROME_ENCLOSING
						      : 0),
				   .nfields = call ? 2 : 1,
				   .fields = call ? fields : fields + 1});
	return id ? *id : 0;
}

/* Write a row of a call, or of an instant: then open has thread, name and location alone. */
static int async_row(struct chrome *c, const struct chrome_record *r,
		     const struct chrome_open *open, enum type_kind kind, uint64_t time,
		     const uint8_t *values)
{
	uint32_t lane = chrome_lane(c, &c->threads[open->thread], -1), type = type_of(c, kind, r);
	uint8_t fixed[FIXED] = {0};

	put_u32(fixed + FIXED_CALL, open->call);
	put_u64(fixed + FIXED_ID, r->id.number);
	if (!lane || !type || chrome_values(c, open->name, values, r->values))
		return -1;
	return writer_row_data(c->w, (struct new_row){.time = merge_shifted(time, c->input->shift),
						      .lane = lane,
						      .type = type,
						      .location = open->location,
						      .fixed = fixed,
						      .fixed_size = sizeof fixed,
						      .tail = c->read.values.data,
						      .tail_size = (uint32_t)c->read.values.size,
						      .has_tail = r->values > 0});
}

/* --- open calls --- */

static uint64_t key_of(const struct chrome *c, const struct chrome_record *r)
{
	static const struct siphash_key key = {0x63, 0x68};
	struct {
		uint64_t number;
		uint32_t category, legacy, form, pid;
	} of = {r->id.number, r->category, is_legacy(r->phase), r->id.form & CHROME_ID_LOCAL,
		r->id.form & CHROME_ID_LOCAL ? (uint32_t)c->threads[r->thread].pid : 0};

	return siphash(&key, &of, sizeof of) >> 1;
}

static bool async_take(struct chrome *c, uint64_t key, uint64_t *index)
{
	return open_calls_take(&c->async.keys, (uint32_t)(key >> 32), (uint32_t)key, index);
}

static int async_put(struct chrome *c, uint64_t key, uint64_t index)
{
	return open_calls_put(&c->async.keys, (uint32_t)(key >> 32), (uint32_t)key, index);
}

/* Return the index + 1 of a free element of c->async.open, or 0. *call: the number of its call. */
static size_t new_open(struct chrome *c, uint64_t time, uint32_t *call)
{
	size_t index = c->async.unfinished;

	if (index) {
		c->async.unfinished = c->async.open[index - 1].below;
		/* the begin of another call with its number ends this call in the stream; not at
		 * the same time: readers that merge streams may have the begins in another order
		 */
		*call = time > c->async.open[index - 1].time ? c->async.open[index - 1].call
							     : ++c->async.calls;
		return index;
	}
	*call = ++c->async.calls;
	index = c->async.free;
	if (index) {
		c->async.free = c->async.open[index - 1].below;
		return index;
	}
	if (ARRAY_GROW(c->async.open, c->async.capacity, c->async.count))
		return 0;
	return ++c->async.count;
}

/* Write the row of a call in the kernel that overlaps calls outside. */
static int async_kernel(struct chrome *c, const struct chrome_record *r,
			const struct chrome_open *open, uint64_t time, const uint8_t *values)
{
	bool enter = r->phase == 'b';

	return chrome_row(c,
			  &(struct chrome_row){.thread = &c->threads[open->thread],
					       .time = time,
					       .kind = enter ? KIND_ENTER : KIND_LEAVE,
					       .kernel = true,
					       .level = open->level,
					       .type_name = enter ? c->texts.begin : c->texts.end,
					       .category = r->category,
					       .phase = enter ? 'B' : 'E',
					       .location = open->location,
					       .name = open->name,
					       .values = values,
					       .size = r->values});
}

static int async_begin(struct chrome *c, const struct chrome_record *r, uint64_t time,
		       const uint8_t *values)
{
	uint64_t key = key_of(c, r), below = 0;
	struct chrome_open *open;
	uint32_t location, call;
	size_t index;

	if (c->async.count == OPEN_MOST && !c->async.free && !c->async.unfinished) {
		c->counts.unkept++;
		return 0;
	}
	location = chrome_location(c, r->name);
	index = new_open(c, time, &call);
	if (!location || !index)
		return -1;
	async_take(c, key, &below);
	open = &c->async.open[index - 1];
	*open = (struct chrome_open){.key = key,
				     .time = time,
				     .below = (size_t)below,
				     .call = call,
				     .thread = r->thread,
				     .name = r->name,
				     .location = location};
	if (async_put(c, key, index))
		return -1;
	open->kernel = !is_legacy(r->phase) && chrome_in_kernel(c, r);
	if (open->kernel) {
		open->level = c->threads[r->thread].kernel_level++;
		return async_kernel(c, r, open, time, values);
	}
	return async_row(c, r, open, KIND_ENTER, time, values);
}

/* Find the call to end in the list from *head on; return the pointer to its index + 1. NULL: not
 * among the innermost SEARCHED. */
static size_t *async_find(struct chrome *c, const struct chrome_record *r, uint64_t key,
			  size_t *head)
{
	size_t *other = NULL, *at = head;

	for (unsigned i = 0; *at && i < SEARCHED; i++, at = &c->async.open[*at - 1].below) {
		const struct chrome_open *o = &c->async.open[*at - 1];

		if (o->key != key || (r->name && o->name != r->name))
			continue;
		if (c->threads[o->thread].pid == c->threads[r->thread].pid)
			return at;
		other = other ? other : at;
	}
	return other;
}

static int async_end(struct chrome *c, const struct chrome_record *r, uint64_t time,
		     const uint8_t *values)
{
	uint64_t key = key_of(c, r), index = 0;
	struct chrome_open open;
	size_t head, *at, *list, ended;

	async_take(c, key, &index);
	head = (size_t)index;
	at = async_find(c, r, key, &head);
	if (!at) {
		c->counts.unopened++;
		return head ? async_put(c, key, head) : 0;
	}
	ended = *at;
	open = c->async.open[ended - 1];
	*at = open.below;
	list = r->marks.unfinished && !open.kernel ? &c->async.unfinished : &c->async.free;
	c->async.open[ended - 1].below = *list;
	*list = ended;
	if (head && async_put(c, key, head))
		return -1;
	c->threads[open.thread].kernel_level -= open.kernel;
	if (r->marks.unfinished)
		return 0;
	if (open.kernel)
		return async_kernel(c, r, &open, time, values);
	return async_row(c, r, &open, KIND_LEAVE, time, values);
}

int chrome_async(struct chrome *c, const struct chrome_record *r, uint64_t time,
		 const uint8_t *values)
{
	struct chrome_open instant = {.thread = r->thread, .name = r->name};

	switch (r->phase) {
	case 'b':
	case 'S': return async_begin(c, r, time, values);
	case 'e':
	case 'F': return async_end(c, r, time, values);
	}
	instant.location = r->values ? chrome_location(c, r->name) : 0;
	if (r->values && !instant.location)
		return -1;
	return async_row(c, r, &instant, KIND_INSTANT, time, values);
}

/* --- ids --- */

int chrome_read_id(struct chrome *c, const struct buffer *text, struct chrome_id *id)
{
	c->read.id_text.size = 0;
	if (buffer_append(&c->read.id_text, text->data, text->size))
		return -1;
	return chrome_read_number(c, text, id);
}

int chrome_read_number(struct chrome *c, const struct buffer *text, struct chrome_id *id)
{
	const char *p = (const char *)text->data, *digits = p;
	bool hex = *p == '0' && (p[1] == 'x' || p[1] == 'X');
	uint64_t number = 0;
	unsigned digit;

	id->form &= CHROME_ID_LOCAL | CHROME_ID_ENCLOSING;
	id->form |= CHROME_ID_HERE;
	for (digits += hex ? 2 : 0; *digits; digits++) {
		digit = *digits >= '0' && *digits <= '9' ? (unsigned)(*digits - '0')
			: hex && (*digits | 32) >= 'a' && (*digits | 32) <= 'f'
				? (unsigned)((*digits | 32) - 'a') + 10
				: UINT32_MAX;
		if (digit == UINT32_MAX ||
		    __builtin_mul_overflow(number, hex ? 16u : 10u, &number) ||
		    __builtin_add_overflow(number, digit, &number))
			break;
	}
	if (text->size && !*digits && digits == p + text->size) {
		id->number = number;
		id->form |= hex ? CHROME_ID_HEX : 0;
		return 0;
	}
	/* ids that are not numbers get numbers that no process uses as addresses */
	number = intern(&c->async.ids, text->data, text->size);
	if (number == INTERN_NONE)
		return -1;
	id->number = number | 1ull << 63;
	id->form |= CHROME_ID_HEX;
	return 0;
}

void chrome_count_id(struct chrome *c)
{
	char phase = (char)c->read.phase.data[0];
	size_t n = strlen(c->counts.phases);

	if (!(c->read.id.form & CHROME_ID_HERE))
		return;
	c->counts.idless++;
	if (!strchr(c->counts.phases, phase) && n + 1 < sizeof c->counts.phases)
		c->counts.phases[n] = phase;
}

int chrome_name_counter(struct chrome *c)
{
	struct buffer *name = &c->read.name;

	if (!(c->read.id.form & CHROME_ID_HERE))
		return 0;
	if (buffer_u8(name, '[') ||
	    buffer_append(name, c->read.id_text.data, c->read.id_text.size) ||
	    buffer_append(name, "]", 2))
		return -1;
	name->size--;
	return 0;
}

uint32_t chrome_id_name(struct chrome *c)
{
	uint32_t name = writer_text(c->w, CHROME_ID_FIELD);

	return name && arguments_has(&c->arguments, name)
		       ? arguments_free_name(&c->arguments, c->w, CHROME_ID_FIELD_2)
		       : name;
}
