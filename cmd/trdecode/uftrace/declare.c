/*
 * declare.c - declare a uftrace directory in the stream: its text files, tasks, sessions with their
 * modules, types, locations, enums
 */
#include <stdlib.h>

#include "cmd/trdecode/uftrace/uftrace.h"
#include "common/util/bisect.h"
#include "common/util/lines.h"

enum { META_LIMIT = 1 << 30 };

static bool ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), k = strlen(ending);

	return n >= k && !strcmp(name + n - k, ending);
}

/* Is the member a description of the events? TID.dat, perf and kernel data are the events. */
static bool is_meta(const char *name)
{
	static const char *const names[] = {"info",	  "task.txt",	   "task",
					    "events.txt", "default.opts",  "extern.dat",
					    "note.txt",	  "kernel_header", "kallsyms"};
	static const char *const endings[] = {".map", ".sym", ".dbg"};
	if (strchr(name, '/'))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (ends_with(name, endings[i]))
			return true;
	return false;
}

/* Test whether a table of symbols is shorter than its head records (a few lines at its end are
 * not counted). */
static bool lacks_symbols(const char *data, size_t size)
{
	static const char key[] = "# symbols: ";
	uint64_t want, have = 0;

	if (size < sizeof(key) || strncmp(data, key, sizeof(key) - 1))
		return false;
	want = strtoull(data + sizeof(key) - 1, NULL, 10);
	for (struct lines l = lines_of(data, size); lines_next(&l);)
		have += l.whole && *l.line != '#';
	return have < want;
}

/* Report a truncated file: recorders write whole lines. A map that ends between two lines does
 * not show the truncation. */
static void check_lines(struct uftrace *u, const char *name, const char *data, size_t size)
{
	bool symbols = ends_with(name, ".sym");
	const char *what = NULL;
	char path[512];

	if (!symbols && !ends_with(name, ".map") && !ends_with(name, ".dbg"))
		return;
	if (!size)
		what = "the file is empty";
	else if (data[size - 1] != '\n')
		what = "the file ends inside of a line";
	else if (symbols && lacks_symbols(data, size))
		what = "the file ends before its last symbol";
	if (what)
		input_damage(u->input, tree_path(u->input->tree, name, path, sizeof(path)), size,
			     "%s", what);
}

static int send_metas(struct uftrace *u)
{
	const struct tree *tree = u->input->tree;

	for (size_t i = 0; i < tree_count(tree); i++) {
		const char *name = tree_member(tree, i);
		struct error e;
		size_t size;
		void *data;
		int bad;

		if (!is_meta(name))
			continue;
		if (tree_read(tree, name, META_LIMIT, &data, &size, &e)) {
			input_damage_error(u->input, &e);
			continue;
		}
		check_lines(u, name, data, size);
		bad = writer_meta(u->w, u->ids.source, name, data, size);
		free(data);
		if (bad)
			return -1;
	}
	return 0;
}

/* The clock is not stored; only the command line may show it. */
const char *uftrace_clock_name(const struct uftrace_info *info)
{
	const char *p = info->cmdline ? strstr(info->cmdline, "--clock") : NULL;

	p = p ? p + strlen("--clock") : "";
	while (*p == '=' || *p == ' ')
		p++;
	if (!strncmp(p, "mono_raw", 8))
		return "mono_raw";
	if (!strncmp(p, "boot", 4))
		return "boot";
	return "monotonic";
}

static uint32_t simple_type(struct uftrace *u, const char *name, enum type_kind kind,
			    uint16_t flags, uint32_t native)
{
	struct type_entry t = {.source = u->ids.source,
			       .name = writer_text(u->w, name),
			       .group = writer_text(u->w, "uftrace"),
			       .kind = (uint8_t)kind,
			       .word_size = u->info.is_32bit ? 4 : 8,
			       .flags = flags,
			       .native = native};

	return writer_type(u->w, &t);
}

static uint32_t declare_lane(struct uftrace *u, const struct task_reader *t, const char *comm,
			     size_t n)
{
	struct lane_entry l = {.source = u->ids.source,
			       .clock = u->ids.clock,
			       .comm = writer_string(u->w, comm, n),
			       .flags = LANE_HAS_TID | (t->task ? LANE_HAS_PID : 0),
			       .cpu = -1,
			       .tid = t->tid,
			       .pid = t->task ? t->task->pid : 0,
			       .ppid = t->task ? t->task->ppid : 0};

	return writer_lane(u->w, &l);
}

int uftrace_rename(struct uftrace *u, struct task_reader *t, const char *comm, size_t n)
{
	t->lane = declare_lane(u, t, comm, n);
	t->bits.block = 0; /* they are those of the old lane */
	return t->lane ? 0 : -1;
}

/* Declare the mapping of a module (NULL: unknown, only its path is): e has its space, addresses,
 * time and epoch. */
static int declare_map(struct uftrace *u, struct map_entry e, const struct uftrace_module *m,
		       const char *path)
{
	/* ancient tables contain absolute addresses */
	bool relative = u->info.feat_mask & UFTRACE_FEAT_SYM_REL_ADDR;

	e.offset = relative ? 0 : e.start;
	e.path = writer_text(u->w, m ? m->path : path);
	e.build_id = writer_text(u->w, m ? m->build_id : NULL);
	e.table = writer_text(u->w, m ? m->sym_name : NULL);
	return writer_map(u->w, &e);
}

/* Declare the address space of a session, with its modules and the libraries it loads later. */
static int declare_space(struct uftrace *u, const struct uftrace_sess *sess, struct error *e)
{
	struct uftrace_session *s = uftrace_session_get(u->sessions, sess);
	struct space_entry entry = {
		.source = u->ids.source, .name = writer_text(u->w, sess->sid), .pid = sess->pid};
	const struct uftrace_map *map;
	struct error damage;
	uint32_t space;

	if (!s)
		return error_no_memory(e);
	space = u->ids.spaces[sess->id] = writer_space(u->w, &entry);
	map = uftrace_session_map(s);
	for (size_t i = 0; i < map->nr; i++)
		if (declare_map(u,
				(struct map_entry){.space = space,
						   .start = map->maps[i].start,
						   .end = map->maps[i].end},
				uftrace_session_map_module(s, i), map->maps[i].path))
			return -1;
	for (size_t i = 0; i < uftrace_session_nr_dlopens(s); i++) {
		const struct uftrace_dlopen *d = uftrace_session_dlopen(s, i);

		if (declare_map(u,
				(struct map_entry){.space = space,
						   .start = d->base,
						   .time = shifted(u, d->time),
						   .epoch = (uint32_t)i + 1},
				uftrace_session_dlopen_module(s, i), d->path))
			return -1;
	}
	while (uftrace_sessions_damage(u->sessions, &damage))
		input_damage_error(u->input, &damage);
	return 0;
}

int uftrace_declare(struct uftrace *u, struct error *e)
{
	struct writer *w = u->w;
	struct input *in = u->input;
	size_t nsess = u->tasks ? uftrace_tasks_nr_sess(u->tasks) : 0;

	u->ids.source = writer_source(
		w, &(struct source_entry){writer_text(w, "uftrace"), writer_text(w, in->name),
					  u->info.is_32bit ? 4 : 8, u->info.big_endian});
	u->ids.clock = writer_clock(
		w,
		&(struct clock_entry){writer_text(w, in->clock_name),
				      (in->has_wall ? CLOCK_HAS_WALL : 0) |
					      (!strcmp(in->clock_name, "wall") ? CLOCK_IS_WALL : 0),
				      merge_wall(in)});
	if (send_metas(u))
		return -1;
	u->ids.entry = simple_type(u, "entry", KIND_ENTER, TYPE_DEPTH, UFTRACE_ENTRY);
	u->ids.entry_values = simple_type(u, "entry", KIND_ENTER,
					  TYPE_DEPTH | TYPE_TAIL | TYPE_VALUES, UFTRACE_ENTRY);
	u->ids.leave = simple_type(u, "exit", KIND_LEAVE, TYPE_DEPTH, UFTRACE_EXIT);
	u->ids.leave_values = simple_type(u, "exit", KIND_LEAVE,
					  TYPE_DEPTH | TYPE_TAIL | TYPE_VALUES, UFTRACE_EXIT);
	u->ids.nspaces = nsess;
	u->ids.spaces = calloc(nsess + 1, sizeof(*u->ids.spaces));
	u->contexts.numbers = calloc(nsess + 1, sizeof(*u->contexts.numbers));
	if (!u->ids.spaces || !u->contexts.numbers)
		return error_no_memory(e);
	for (size_t i = 0; i < nsess; i++) {
		const struct uftrace_sess *sess = uftrace_tasks_sess(u->tasks, i);

		if (sess->same == sess && declare_space(u, sess, e))
			return -1;
	}
	for (size_t i = 0; i < u->ntasks; i++) {
		struct task_reader *t = &u->task_readers[i];
		const char *comm = "";

		if (t->task && t->task->nr_refs)
			comm = t->task->refs[0].sess->comm;
		else if (t->task)
			comm = t->task->comm;
		if (uftrace_rename(u, t, comm, strlen(comm)))
			return -1;
	}
	return w->out_of_memory ? -1 : 0;
}

/* --- session and epoch of a task --- */

static int context_number(struct uftrace *u, const struct uftrace_sess *sess,
			  struct uftrace_session *session, uint32_t epoch, uint32_t *number)
{
	struct idmap *numbers = &u->contexts.numbers[sess ? sess->id : u->ids.nspaces];
	struct context *c;

	*number = idmap_get(numbers, epoch);
	if (*number)
		return 0;
	if (ARRAY_GROW(u->contexts.at, u->contexts.capacity, u->contexts.count))
		return -1;
	c = u->contexts.at;
	c[u->contexts.count++] =
		(struct context){sess, session, epoch, sess ? u->ids.spaces[sess->same->id] : 0};
	*number = (uint32_t)u->contexts.count;
	return idmap_set(numbers, epoch, *number);
}

int uftrace_context(struct uftrace *u, struct task_reader *t, uint64_t time)
{
	uint64_t until = UINT64_MAX, epoch_until = UINT64_MAX;
	const struct uftrace_sess *sess =
		u->tasks ? uftrace_session_at(u->tasks, t->task, time, &until) : NULL;
	struct uftrace_session *session = sess ? uftrace_session_get(u->sessions, sess) : NULL;
	uint32_t before = t->context;

	t->session = session;
	t->epoch = session ? uftrace_session_epoch_at(session, time, &epoch_until) : 0;
	t->context_until = until < epoch_until ? until : epoch_until;
	if (context_number(u, sess, session, t->epoch, &t->context))
		return -1;
	/* an exec gave the task another program, and so another name */
	if (before && sess && u->contexts.at[before - 1].sess != sess) {
		if (uftrace_rename(u, t, sess->comm, strlen(sess->comm)))
			return -1;
		u->last_lane = t->lane;
	}
	return 0;
}

/* --- locations --- */

/* Have a free slot for another location. */
static int reserve_location(struct uftrace *u)
{
	struct location_cached *old = u->locations.slot, *slots;
	uint32_t size = u->locations.mask + 1;

	if (u->locations.count < u->locations.mask / 2)
		return 0;
	slots = calloc(2 * (size_t)size, sizeof(*slots));
	if (!slots)
		return -1;
	u->locations.slot = slots;
	u->locations.mask = 2 * size - 1;
	for (uint32_t i = 0; i < size; i++)
		if (old[i].location)
			*uftrace_find_location(u, old[i].address, old[i].context) = old[i];
	free(old);
	return 0;
}

/*
 * Return the epoch that a location's name depends on: 0 for an address in the session's own
 * mappings, else that of the dlopen which loaded it. So a function stays one location while other
 * libraries are loaded and closed.
 */
static uint32_t location_epoch(const struct task_reader *t, uint64_t address)
{
	struct uftrace_where where;

	if (!t->epoch || !uftrace_session_resolve(t->session, t->epoch, address, &where))
		return t->epoch;
	return where.epoch;
}

uint32_t uftrace_add_location(struct uftrace *u, const struct task_reader *t, uint64_t address)
{
	const struct context *c = &u->contexts.at[t->context - 1];
	struct location_cached *p;
	uint32_t epoch, context = t->context, location;

	if (reserve_location(u))
		return 0;
	p = uftrace_find_location(u, address, context);
	if (!p->location) {
		epoch = location_epoch(t, address);
		if (epoch != t->epoch) {
			/* the location of another epoch is the same */
			if (context_number(u, c->sess, c->session, epoch, &context))
				return 0;
			p = uftrace_find_location(u, address, context);
			c = &u->contexts.at[t->context - 1];
		}
	}
	location = p->location;
	if (!location) {
		location = writer_location(
			u->w, &(struct location_entry){c->space, u->contexts.at[context - 1].epoch,
						       address, 0, 0});
		*p = (struct location_cached){address, context, location};
		u->locations.count++;
	}
	if (context != t->context && location) {
		p = uftrace_find_location(u, address, t->context);
		*p = (struct location_cached){address, t->context, location};
		u->locations.count++;
	}
	return location;
}

uint32_t uftrace_kernel_location(struct uftrace *u, uint32_t space, uint64_t address)
{
	struct location_cached *p;

	if (reserve_location(u))
		return 0;
	/* contexts are counted from 1 */
	p = uftrace_find_location(u, address, 0);
	if (!p->location) {
		const struct location_entry entry = {.space = space, .address = address};

		*p = (struct location_cached){address, 0, writer_location(u->w, &entry)};
		u->locations.count++;
	}
	return p->location;
}

/* --- enums --- */

uint32_t uftrace_definition(struct uftrace *u, struct uftrace_enum *type)
{
	uint16_t flags =
		DEFINITION_SUMS | (uftrace_enum_is_unsigned(u, type) ? DEFINITION_UNSIGNED : 0);
	struct member_entry *members;

	if (!type->definition) {
		members = calloc(type->nr + 1, sizeof(*members));
		if (!members)
			return 0;
		for (size_t i = 0; i < type->nr; i++)
			members[i] = (struct member_entry){writer_text(u->w, type->values[i].name),
							   (uint64_t)type->values[i].value,
							   (uint64_t)type->values[i].value};
		type->definition = writer_definition(
			u->w, &(struct definition_entry){.name = writer_text(u->w, type->name),
							 .kind = DEFINITION_ENUM,
							 .flags = flags,
							 .nmembers = (uint32_t)type->nr,
							 .members = members});
		free(members);
	}
	return type->definition && !writer_use_definition(u->w, type->definition) ? type->definition
										  : 0;
}

static int by_tid(const void *a, const void *b, void *readers)
{
	int32_t x = ((struct task_reader *)readers)[*(const uint32_t *)a].tid,
		y = ((struct task_reader *)readers)[*(const uint32_t *)b].tid;

	return (x > y) - (x < y);
}

/* Return the task of that tid, if it has a file. */
struct task_reader *uftrace_task_of(struct uftrace *u, int32_t tid)
{
	struct task_reader *t = u->task_readers;
	size_t at;

	if (!u->task_by_tid && u->ntasks) {
		u->task_by_tid = calloc(u->ntasks, sizeof(*u->task_by_tid));
		if (!u->task_by_tid)
			return NULL;
		for (size_t i = 0; i < u->ntasks; i++)
			u->task_by_tid[i] = (uint32_t)i;
		qsort_r(u->task_by_tid, u->ntasks, sizeof(*u->task_by_tid), by_tid, t);
	}
	at = BISECT(u->ntasks, i, t[u->task_by_tid[i]].tid < tid);
	if (at == u->ntasks)
		return NULL;
	t += u->task_by_tid[at];
	return t->tid == tid && t->member ? t : NULL;
}
