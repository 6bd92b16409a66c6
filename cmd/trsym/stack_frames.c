/*
 * stack_frames.c - inlined functions and source lines of the frames of recorded stacks
 */
#include "cmd/trsym/stack_frames.h"
#include "cmd/trsym/resolve.h"

#include <stdlib.h>

enum { FRAMES_MOST = 64 }; /* of one address */

/* A STACK of the segment, as it was declared again. */
struct seen_stack {
	uint32_t id, location;
	uint32_t caller_stack; /* 1 + index of the stack of the caller; 0: none */
	uint32_t parent;       /* id of that stack, with inlined functions */
	uint32_t depth;	       /* frames of the input, with this one */
	uint32_t above;	       /* frames of the parent */
	uint32_t block; /* the DICT block that was passed before it was declared again; 0 none */
	/* the same stack where its frame is a caller: id (0: not yet known), frames */
	uint32_t as_caller, caller_frames;
	uint32_t plain; /* id of the stack without inlined functions; 0: not declared */
};

struct stack_frames {
	struct resolver *resolver;
	struct stack_frames_options options;
	struct function_names names;
	bool present; /* the input has inlined functions: they are kept as they are */
	/* of the segment: */
	struct idmap spaces;  /* numbers of spaces: ids */
	struct idmap numbers; /* ids of stacks: 1 + index */
	struct idmap callers; /* ids of stacks that are callers of others in the block: 1 */
	struct idmap lines;   /* ids of locations that have the line of a frame: 1 + caller */
	struct seen_stack *stacks;
	size_t nstacks, capacity;
	struct idmap located; /* ids of locations: 1 + index in `chains` */
	struct location_chains *chains;
	size_t nchains, chains_capacity;
	struct buffer links;  /* struct chain_link */
	struct idmap strings; /* by 1 + number in names.shown: ids */
	uint32_t blocks;
	uint32_t next_stack, next_location, next_string;
	struct buffer path;
};

/* The functions that are inlined at a location, where its frame is the innermost, and where it
 * called another: 1 + offset in `links`, 0 not yet known. There, the location of the first link is
 * the number of those that follow. */
struct location_chains {
	uint32_t at[2];
};

/* A function that is inlined: the id of its location, and the number of its name in names.shown. */
struct chain_link {
	uint32_t location, name;
};

/* The functions that are inlined at an address, innermost first. */
struct inline_chain {
	uint32_t n;
	struct chain_link link[FRAMES_MOST];
};

struct stack_frames *stack_frames_new(struct resolver *r,
				      const struct stack_frames_options *options)
{
	struct stack_frames *f = calloc(1, sizeof(*f));

	if (f)
		*f = (struct stack_frames){
			.resolver = r, .options = *options, .names.style = options->style};
	return f;
}

void stack_frames_free(struct stack_frames *f)
{
	if (!f)
		return;
	idmap_free(&f->spaces);
	idmap_free(&f->numbers);
	idmap_free(&f->callers);
	idmap_free(&f->lines);
	free(f->stacks);
	idmap_free(&f->located);
	free(f->chains);
	function_names_free(&f->names);
	idmap_free(&f->strings);
	buffer_free(&f->links);
	buffer_free(&f->path);
	free(f);
}

/* Test whether a program before this one added inlined functions. */
static bool has_inlined(const struct head *h)
{
	struct head_property p;

	for (size_t at = 0; head_next(h, &at, &p);) {
		if (p.key == HEAD_STAGE && p.size > 5 && !memcmp(p.data, "trsym", 5) &&
		    memmem(p.data, p.size, " --inline", 9))
			return true;
	}
	return false;
}

void stack_frames_begin(struct stack_frames *f, const struct head *h)
{
	idmap_clear(&f->spaces);
	idmap_clear(&f->numbers);
	idmap_clear(&f->lines);
	idmap_clear(&f->located);
	idmap_clear(&f->strings);
	buffer_clear(&f->links);
	f->nchains = 0;
	f->nstacks = 0;
	f->blocks = 0;
	f->next_stack = f->next_location = f->next_string = UINT32_MAX;
	f->present = has_inlined(h);
}

static int stack_frames_send_entry(struct stage *s, enum entry_kind kind, uint32_t id,
				   const void *content)
{
	return writer_append_content(&s->out, kind, id, content) ? stage_fail(s, &s->out.error) : 0;
}

/* Return the id of a text of names.shown, which is declared the first time. 0 after stage_fail. */
static uint32_t string_id(struct stack_frames *f, struct stage *s, uint32_t number)
{
	uint32_t id = idmap_get(&f->strings, number + 1);

	if (id)
		return id;
	id = f->next_string--;
	if (idmap_set(&f->strings, number + 1, id)) {
		stage_no_memory(s);
		return 0;
	}
	if (writer_append_entry(&s->out, ENTRY_STRING, id, intern_data(&f->names.shown, number),
				intern_size(&f->names.shown, number))) {
		stage_fail(s, &s->out.error);
		return 0;
	}
	return id;
}

static void set_line(struct symbol_entry *symbol, const struct source_frame *frame)
{
	if (!frame->file)
		return;
	symbol->file = frame->file;
	symbol->file_size = (uint32_t)strlen(frame->file);
	symbol->line = frame->line;
}

static int stack_frames_send_symbol(struct stage *s, uint32_t id, const struct symbol_entry *symbol)
{
	return writer_pass_symbol(&s->out, id, symbol) ? stage_fail(s, &s->out.error) : 0;
}

/* Find a function in a chain. Returns the id of its location, 0: there is none. */
static uint32_t find_link(const struct inline_chain *c, uint32_t name)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->link[i].name == name)
			return c->link[i].location;
	return 0;
}

/* Declare the location of a function that is inlined in the function outer at the address of p.
 * Returns its id, or 0 after stage_fail. */
static uint32_t add_location(struct stack_frames *f, struct stage *s, const struct location *p,
			     const struct symbol_entry *outer, const struct source_frame *frame,
			     uint32_t name)
{
	struct symbol_entry symbol = {.start = p->address,
				      .module = outer->module,
				      .module_size = outer->module_size,
				      .name = intern_data(&f->names.shown, name),
				      .name_size = intern_size(&f->names.shown, name)};
	struct location_entry e = {.space = idmap_get(&f->spaces, p->space->number),
				   .epoch = p->epoch,
				   .address = p->address,
				   .name = string_id(f, s, name)};

	if (!e.name)
		return 0;
	if (f->options.lines)
		set_line(&symbol, frame);
	if (stack_frames_send_entry(s, ENTRY_LOCATION, f->next_location, &e) ||
	    stack_frames_send_symbol(s, f->next_location, &symbol))
		return 0;
	return f->next_location--;
}

/* Add the next function of a chain; other: that of the same location in the other place. Returns 0,
 * or -1 after stage_fail. */
static int stack_frames_add_link(struct stack_frames *f, struct stage *s, const struct location *p,
				 const struct symbol_entry *outer, const struct source_frame *frame,
				 struct inline_chain c[2])
{
	struct chain_link link = {.name = function_names_find(&f->names, frame)};

	if (link.name == INTERN_NONE)
		return stage_no_memory(s);
	link.location = find_link(&c[0], link.name);
	if (!link.location)
		link.location = find_link(&c[1], link.name);
	if (!link.location)
		link.location = add_location(f, s, p, outer, frame, link.name);
	if (!link.location)
		return -1;
	c->link[c->n++] = link;
	return 0;
}

/* Look up the frames of a location, and declare what they need. c[0] is set; c[1]: the chain of the
 * location in the other place. Returns 0, or -1 after stage_fail. */
static int make_chain(struct stack_frames *f, struct stage *s, uint32_t id, bool caller,
		      struct inline_chain c[2])
{
	struct dictionary *d = &s->in.dictionary;
	const struct location *p = dictionary_location(d, idmap_get(&d->ids[ENTRY_LOCATION], id));
	struct source_frame frames[FRAMES_MOST];
	struct symbol_entry symbol;
	int n;

	c->n = 0;
	if (!p || !p->space || p->name.size || p->space->flags & SPACE_KERNEL)
		return 0;
	n = resolve_frames(f->resolver, p, caller, frames, FRAMES_MOST);
	if (n < 0 || resolve(f->resolver, p, false, &symbol) == OUTCOME_FAILED)
		return stage_no_memory(s);
	for (int i = 0; f->options.inlined && i < n - 1; i++)
		if (stack_frames_add_link(f, s, p, &symbol, &frames[i], c))
			return -1;
	if (!n || !f->options.lines || !frames[c->n].file || symbol.flags & SYMBOL_UNKNOWN ||
	    idmap_get(&f->lines, id))
		return 0;
	if (idmap_set(&f->lines, id, 1 + caller))
		return stage_no_memory(s);
	set_line(&symbol, &frames[c->n]);
	return stack_frames_send_symbol(s, id, &symbol);
}

/* Read the chain at a place of `links`; 0: an empty one. */
static void stack_frames_read_chain(const struct stack_frames *f, uint32_t at,
				    struct inline_chain *c)
{
	const struct chain_link *from;

	c->n = 0;
	if (!at)
		return;
	from = (const struct chain_link *)f->links.data + at - 1;
	c->n = from->location;
	memcpy(c->link, from + 1, sizeof(*from) * c->n);
}

/* Return the chains of a location. NULL when out of memory. */
static struct location_chains *chains_of(struct stack_frames *f, uint32_t location)
{
	uint32_t number = idmap_get(&f->located, location);
	struct location_chains *chains;

	if (number)
		return &f->chains[number - 1];
	if (ARRAY_GROW(f->chains, f->chains_capacity, f->nchains) ||
	    idmap_set(&f->located, location, (uint32_t)f->nchains + 1))
		return NULL;
	chains = f->chains;
	chains[f->nchains] = (struct location_chains){.at = {0}};
	return &chains[f->nchains++];
}

/* Get the functions that are inlined at a location. Returns 0, or -1 after stage_fail. */
static int get_chain(struct stack_frames *f, struct stage *s, uint32_t location, bool caller,
		     struct inline_chain *c)
{
	struct location_chains *chains = chains_of(f, location);
	struct inline_chain new[2];
	struct chain_link head;

	if (!chains)
		return stage_no_memory(s);
	if (chains->at[caller]) {
		stack_frames_read_chain(f, chains->at[caller], c);
		return 0;
	}
	stack_frames_read_chain(f, chains->at[!caller], &new[1]);
	if (make_chain(f, s, location, caller, new))
		return -1;
	/* make_chain looks up no chain, so the pointer is valid */
	chains->at[caller] = (uint32_t)(1 + f->links.size / sizeof(head));
	head = (struct chain_link){.location = new->n};
	if (buffer_append(&f->links, &head, sizeof(head)) ||
	    buffer_append(&f->links, new->link, sizeof(head) * new->n))
		return stage_no_memory(s);
	stack_frames_read_chain(f, chains->at[caller], c);
	return 0;
}

static struct seen_stack *stack_frames_of(const struct stack_frames *f, uint32_t id)
{
	uint32_t number = idmap_get(&f->numbers, id);

	return number ? &f->stacks[number - 1] : NULL;
}

/* Return the id of a stack without inlined functions: its own if it was not declared again. */
static uint32_t plain_id(const struct seen_stack *k)
{
	return k->block ? k->plain : k->id;
}

/* Leave out the inlined functions if the stack has too many frames with them. */
static void limit_chain(struct inline_chain *c, uint32_t above)
{
	if (above + 1 + c->n > STACK_FRAMES_MOST)
		c->n = 0;
}

/*
 * Declare a stack with the functions inlined at its location: the function that contains the code
 * is called by the stack outer->parent, and the innermost frame has the id. Returns 0, or -1 after
 * stage_fail.
 */
static int send_chain(struct stack_frames *f, struct stage *s, uint32_t id,
		      const struct stack_entry *outer, const struct inline_chain *c)
{
	struct stack_entry e = *outer;

	for (uint32_t i = c->n; i > 0; i--) {
		uint32_t between = f->next_stack--;

		if (stack_frames_send_entry(s, ENTRY_STACK, between, &e))
			return -1;
		e = (struct stack_entry){between, c->link[i - 1].location};
	}
	return stack_frames_send_entry(s, ENTRY_STACK, id, &e);
}

/* Declare a stack again, as that of a frame that called another one: its code is before the
 * address. Returns 0, or -1 after stage_fail. */
static int make_caller(struct stack_frames *f, struct stage *s, struct seen_stack *k)
{
	struct inline_chain as_leaf, c;

	if (get_chain(f, s, k->location, false, &as_leaf) || get_chain(f, s, k->location, true, &c))
		return -1;
	limit_chain(&as_leaf, k->above);
	limit_chain(&c, k->above);
	k->as_caller = k->id;
	k->caller_frames = k->above + 1 + c.n;
	if (c.n == as_leaf.n && !memcmp(c.link, as_leaf.link, sizeof(*c.link) * c.n))
		return 0;
	k->as_caller = f->next_stack--;
	return send_chain(f, s, k->as_caller, &(struct stack_entry){k->parent, k->location}, &c);
}

/* Declare a stack and its callers again without inlined functions. Returns 0, or -1 after
 * stage_fail. */
static int make_plain(struct stack_frames *f, struct stage *s, struct seen_stack *k)
{
	struct seen_stack *p = k;
	uint32_t number, parent;

	f->path.size = 0;
	for (; p->block && !p->plain; p = &f->stacks[p->caller_stack - 1]) {
		number = (uint32_t)(p - f->stacks);
		if (buffer_append(&f->path, &number, sizeof(number)))
			return stage_no_memory(s);
		if (!p->caller_stack)
			break;
	}
	for (size_t i = f->path.size / sizeof(number); i > 0; i--) {
		p = &f->stacks[((uint32_t *)f->path.data)[i - 1]];
		parent = p->caller_stack ? plain_id(&f->stacks[p->caller_stack - 1]) : 0;
		p->plain = f->next_stack--;
		if (stack_frames_send_entry(s, ENTRY_STACK, p->plain,
					    &(struct stack_entry){parent, p->location}))
			return -1;
	}
	return 0;
}

/* Set the parent of a new stack. *changed: the parent differs from that of the input. Returns 0, or
 * -1 after stage_fail. */
static int set_parent(struct stack_frames *f, struct stage *s, struct seen_stack *new,
		      struct seen_stack *parent, bool *changed)
{
	new->depth = parent->depth + 1;
	new->caller_stack = (uint32_t)(parent - f->stacks) + 1;
	if (!parent->as_caller && make_caller(f, s, parent))
		return -1;
	new->parent = parent->as_caller;
	new->above = parent->caller_frames;
	if (new->above == STACK_FRAMES_MOST) {
		if (make_plain(f, s, parent))
			return -1;
		new->parent = plain_id(parent);
		new->above = parent->depth;
	}
	/* the block was passed on before its STACKs are declared again */
	*changed = new->parent != parent->id || parent->block == f->blocks;
	return 0;
}

/*
 * Note a STACK of the block, and declare it again if a frame of it has inlined functions. Returns
 * 0, or -1 after stage_fail.
 */
static int stack_frames_add_stack(struct stack_frames *f, struct stage *s, uint32_t id,
				  const struct stack_entry *e)
{
	struct seen_stack new = {.id = id, .location = e->location, .depth = 1};
	struct seen_stack *parent = stack_frames_of(f, e->parent);
	bool changed = false;
	struct inline_chain c;

	if (parent && parent->depth == STACK_FRAMES_MOST)
		return 0; /* damage */
	if (parent && set_parent(f, s, &new, parent, &changed))
		return -1;
	/* the first line of a location stays: of a caller, that of the call */
	if ((idmap_get(&f->callers, id) && get_chain(f, s, e->location, true, &c)) ||
	    get_chain(f, s, e->location, false, &c))
		return -1;
	limit_chain(&c, new.above);
	if (c.n || changed) {
		new.block = f->blocks;
		if (send_chain(f, s, id, &(struct stack_entry){new.parent, e->location}, &c))
			return -1;
	}
	if (ARRAY_GROW(f->stacks, f->capacity, f->nstacks) ||
	    idmap_set(&f->numbers, id, (uint32_t)f->nstacks + 1))
		return stage_no_memory(s);
	f->stacks[f->nstacks++] = new;
	return 0;
}

/* Get the next STACK of the block, and note the spaces before it. Returns 1; 0: there are no more;
 * -1 after stage_fail. */
static int next_stack(struct stack_frames *f, struct stage *s, const struct block *b, size_t *at,
		      uint32_t *id, struct stack_entry *stack)
{
	const struct idmap *spaces = &s->in.dictionary.ids[ENTRY_SPACE];
	struct raw_entry e;

	while (entry_next(b->payload, b->length, at, &e) == 1) {
		uint32_t space = e.kind == ENTRY_SPACE ? idmap_get(spaces, e.id) : 0;

		if (space && idmap_set(&f->spaces, space, e.id))
			return stage_no_memory(s);
		if (e.kind != ENTRY_STACK || !entry_complete(&e))
			continue;
		entry_get(&entry_layouts[ENTRY_STACK], e.data, stack);
		*id = e.id;
		return 1;
	}
	return 0;
}

/* Declare again the symbol of a location that has the line of a frame. */
static int repeat_line(struct stack_frames *f, struct stage *s, uint32_t id)
{
	uint32_t place = idmap_get(&f->lines, id);
	struct inline_chain c[2];

	if (!place)
		return 0;
	stack_frames_read_chain(f, chains_of(f, id)->at[place - 1], &c[1]);
	return idmap_set(&f->lines, id, 0) ? stage_no_memory(s)
					   : make_chain(f, s, id, place - 1, c);
}

int stack_frames_add(struct stack_frames *f, struct stage *s, const struct block *b)
{
	struct stack_entry stack;
	size_t at = 0;
	uint32_t id;
	int got;

	if (f->present)
		return 0;
	f->blocks++;
	/* an earlier trsym has declared symbols after the stacks */
	for (size_t i = 0; entry_next_of(ENTRY_SYMBOL, b->payload, b->length, &i, &id);)
		if (repeat_line(f, s, id))
			return -1;
	idmap_clear(&f->callers);
	while ((got = next_stack(f, s, b, &at, &id, &stack)) > 0)
		if (stack.parent && idmap_set(&f->callers, stack.parent, 1))
			return stage_no_memory(s);
	for (at = 0; got >= 0 && (got = next_stack(f, s, b, &at, &id, &stack)) > 0;)
		if (stack_frames_add_stack(f, s, id, &stack))
			return -1;
	return got;
}
