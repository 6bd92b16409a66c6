/*
 * uftrace.c - the decoder of uftrace data directories: probe and open them, and merge their sources
 * of events by time
 */
#include "cmd/trdecode/uftrace/uftrace.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	INFO_LIMIT = 64 << 20,
	TASKS_LIMIT = 1 << 30,
};

bool uftrace_is_task_file(const char *name, int32_t *tid)
{
	uint64_t n = 0;
	const char *p = name;

	for (; isdigit((unsigned char)*p) && n < INT32_MAX; p++)
		n = n * 10 + (uint64_t)(*p - '0');
	/* a leading zero would name another file of the same task */
	if (p == name || strcmp(p, ".dat") || n > INT32_MAX || (*name == '0' && n))
		return false;
	*tid = (int32_t)n;
	return true;
}

/* Does a recording have files of this name? */
static bool is_part(const char *member)
{
	static const char *const names[] = {"info",	    "task",	  "task.txt",
					    "default.opts", "extern.dat", "events.txt",
					    "kernel_header"};
	static const char *const prefixes[] = {"sid-", "perf-cpu", "kernel-cpu"};
	int32_t tid;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(member, names[i]))
			return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(member, prefixes[i], strlen(prefixes[i])))
			return true;
	return uftrace_is_task_file(member, &tid);
}

static enum bid uftrace_probe(const struct input *in)
{
	size_t files = 0;
	uint8_t head[UFTRACE_MAGIC_SIZE];
	int32_t tid;

	if (!in->tree || (in->member && !is_part(in->member)))
		return BID_NONE;
	if (tree_peek(in->tree, "info", head, sizeof head) == sizeof head &&
	    !memcmp(head, UFTRACE_MAGIC, sizeof head))
		return BID_HEADER;
	for (size_t i = 0; i < tree_count(in->tree); i++)
		files += uftrace_is_task_file(tree_member(in->tree, i), &tid);
	/* a directory with a damaged info is still a recording; a truncated archive may lack the
	 * info */
	return files && (tree_has(in->tree, "task.txt") || tree_has(in->tree, "task") ||
			 tree_has(in->tree, "info") || tree_damage(in->tree, NULL))
		       ? BID_LIKELY
		       : BID_NONE;
}

static void read_info(struct uftrace *u)
{
	struct input *in = u->input;
	struct error e;
	char path[512];
	size_t size;
	void *data;
	int got;

	if (tree_read(in->tree, "info", INFO_LIMIT, &data, &size, &e)) {
		input_damage_error(in, &e);
		goto guess;
	}
	got = uftrace_info_parse(&u->info, data, size,
				 tree_path(in->tree, "info", path, sizeof(path)), &e);
	if (got)
		input_damage_error(in, &e);
	if (got >= 0) {
		u->info_usable = true;
		return;
	}
	uftrace_info_free(&u->info);
guess:
	/* decode the records as those of most machines */
	u->info = (struct uftrace_info){.version = UFTRACE_VERSION,
					.max_stack = UFTRACE_MAX_STACK,
					.pattern = UFTRACE_PATTERN_REGEX,
					.feat_mask = UFTRACE_FEAT_SYM_REL_ADDR};
}

static int read_tasks(struct uftrace *u, struct error *e)
{
	struct input *in = u->input;
	bool binary = tree_has(in->tree, "task");
	const char *name = binary ? "task" : "task.txt";
	char path[512];
	struct error damage;
	size_t size;
	void *data;
	int got;

	u->tasks = uftrace_tasks_new();
	if (!u->tasks)
		return error_no_memory(e);
	if (tree_read(in->tree, name, TASKS_LIMIT, &data, &size, &damage)) {
		input_damage_error(in, &damage);
		return 0;
	}
	tree_path(in->tree, name, path, sizeof(path));
	got = binary ? uftrace_tasks_parse_binary(u->tasks, data, size, u->info.swap, path, &damage)
		     : uftrace_tasks_parse_text(u->tasks, data, size, path, &damage);
	free(data);
	if (got > 0)
		input_damage_error(in, &damage);
	if (got < 0)
		*e = damage;
	u->tasks_read = true;
	return got < 0 ? -1 : 0;
}

/* Report a task that task.txt does not have: a damaged number may have changed the tid. */
static void check_known(struct uftrace *u, const struct task_reader *t)
{
	char path[512];

	if (t->member && !t->task && u->tasks_read)
		input_damage(u->input, tree_path(u->input->tree, t->member, path, sizeof(path)),
			     NO_OFFSET, "task.txt does not list this task");
}

static int add_task(struct uftrace *u, int32_t tid, struct error *e)
{
	struct task_reader *t = &u->task_readers[u->ntasks];
	char name[32];

	snprintf(name, sizeof(name), "%d.dat", tid);
	*t = (struct task_reader){.tid = tid, .task = uftrace_tasks_find(u->tasks, tid)};
	t->file.fd = -1;
	t->base.due.time = UINT64_MAX;
	/* no file: the task recorded nothing */
	if (tree_has(u->input->tree, name)) {
		t->member = strdup(name);
		if (!t->member)
			return error_no_memory(e);
	}
	u->ntasks++;
	check_known(u, t);
	return 0;
}

/* Add the tasks that info lists, each once, and then those with files that info should have
 * listed. */
static int listed_tasks(struct uftrace *u, struct idmap *seen, struct error *e)
{
	const struct tree *tree = u->input->tree;
	char path[512];
	int32_t tid;

	for (size_t i = 0; i < u->info.nr_tids; i++) {
		tid = u->info.tids[i];
		if (idmap_get(seen, (uint32_t)tid)) {
			input_damage(u->input, tree_path(tree, "info", path, sizeof(path)),
				     NO_OFFSET, "task %d is listed twice", tid);
			continue;
		}
		if (idmap_set(seen, (uint32_t)tid, 1))
			return error_no_memory(e);
		if (add_task(u, tid, e))
			return -1;
	}
	for (size_t i = 0; i < tree_count(tree); i++) {
		if (!uftrace_is_task_file(tree_member(tree, i), &tid) ||
		    idmap_get(seen, (uint32_t)tid))
			continue;
		input_damage(u->input, tree_path(tree, tree_member(tree, i), path, sizeof(path)),
			     NO_OFFSET, "info does not list this task");
		if (add_task(u, tid, e))
			return -1;
	}
	return 0;
}

/* Find the tasks: those of info, or else those that have files. */
static int find_tasks(struct uftrace *u, struct error *e)
{
	const struct tree *tree = u->input->tree;
	bool listed = u->info_usable && u->info.nr_tids;
	size_t most = tree_count(tree) + (listed ? u->info.nr_tids : 0);
	struct idmap seen = {0};
	int32_t tid;
	int bad;

	u->task_readers = calloc(most + 1, sizeof(*u->task_readers));
	if (!u->task_readers)
		return error_no_memory(e);
	if (u->input->member) {
		if (!uftrace_is_task_file(u->input->member, &tid))
			return error_set(e, u->input->name, NO_OFFSET,
					 "only a TID.dat can be read alone");
		return add_task(u, tid, e);
	}
	if (listed) {
		bad = listed_tasks(u, &seen, e);
		idmap_free(&seen);
		return bad;
	}
	for (size_t i = 0; i < tree_count(tree); i++)
		if (uftrace_is_task_file(tree_member(tree, i), &tid) && add_task(u, tid, e))
			return -1;
	return 0;
}

static int uftrace_open(struct input *in, struct error *e)
{
	struct uftrace *u = calloc(1, sizeof(*u));
	int64_t utc;

	in->state = u;
	if (!u)
		return error_no_memory(e);
	u->input = in;
	u->w = in->decoding->writer;
	if (tree_damage(in->tree, e))
		input_damage_error(in, e);
	e->what[0] = '\0';
	read_info(u);
	if (read_tasks(u, e) || find_tasks(u, e))
		return -1;
	in->clock_name = uftrace_clock_name(&u->info);
	utc = u->info.utc_offset;
	if (uftrace_info_has(&u->info, UFTRACE_INFO_UTC_OFFSET) && utc > 0 && utc < 1ll << 33) {
		in->has_wall = true;
		in->wall = utc * 1000000000;
	}
	return 0;
}

static uint64_t uftrace_fingerprint(const struct input *in)
{
	const struct uftrace *u = in->state;
	uint64_t h = hash_bytes(u->info.raw, u->info.raw_size, 0);

	for (size_t i = 0; i < tree_count(in->tree); i++)
		h = hash_bytes(tree_member(in->tree, i), strlen(tree_member(in->tree, i)), h);
	return in->member ? hash_bytes(in->member, strlen(in->member), h) : h;
}

/* Report damage found while loading symbols and arguments: END must include it. */
static void report_damage(struct uftrace *u)
{
	struct error damage;

	while (u->sessions && uftrace_sessions_damage(u->sessions, &damage))
		input_damage_error(u->input, &damage);
}

static int uftrace_run(struct input *in, uint64_t until, struct error *e)
{
	struct uftrace *u = in->state;
	uint64_t limit;

	(void)e;
	if (!merge_unshifted(until, in->shift, &limit))
		return 0;
	if (merge_until(u, limit))
		return -1;
	in->next = u->heap.count ? shifted(u, u->heap.items[0]->time) : UINT64_MAX;
	if (!u->heap.count)
		report_damage(u);
	return 0;
}

bool uftrace_file_of_cpu(const char *name, const char *kind, uint32_t *cpu)
{
	size_t n = strlen(kind);
	unsigned number;
	int end = 0;

	if (strncmp(name, kind, n) != 0)
		return false;
	name += n;
	if (sscanf(name, "-cpu%u.dat%n", &number, &end) != 1 || !end || name[end])
		return false;
	*cpu = number;
	return true;
}

static int begin_readers(struct uftrace *u, struct error *e)
{
	size_t n = 0, files = 0, i;
	uint32_t rank = 1;
	size_t most = u->ntasks + kernel_nreaders(u) + u->nperf + 1;
	char path[512];

	for (i = 0; i < u->ntasks; i++)
		files += u->task_readers[i].member != NULL;
	u->readers = calloc(most, sizeof(*u->readers));
	u->heap.items = calloc(most, sizeof(*u->heap.items));
	if (!u->readers || !u->heap.items)
		return error_no_memory(e);
	for (i = 0; i < u->ntasks; i++) {
		struct task_reader *t = &u->task_readers[i];

		if (t->member) {
			if (window_open_one(&t->file, u->input, t->member, files, e)) {
				input_damage_error(u->input, e);
				e->what[0] = '\0';
			} else {
				t->open = true;
				if (!t->file.size && !tree_has(u->input->tree, UFTRACE_EMPTY))
					input_damage(u->input,
						     tree_path(u->input->tree, t->member, path,
							       sizeof(path)),
						     NO_OFFSET, "the task's file is empty");
			}
		}
		if (task_begin(u, t, e))
			return -1;
		u->readers[n++] = &t->base;
	}
	for (i = 0; i < kernel_nreaders(u); i++)
		u->readers[n++] = kernel_reader(u, i);
	for (i = 0; i < u->nperf; i++)
		u->readers[n++] = &u->perf[i].base;
	u->readers[n++] = &u->external.base;
	for (i = 0; i < n; i++) {
		u->readers[i]->rank = u->readers[i]->due.rank = rank++;
		if (u->readers[i]->due.time != UINT64_MAX)
			u->heap.items[u->heap.count++] = &u->readers[i]->due;
	}
	heap_build(&u->heap);
	return 0;
}

static int uftrace_begin(struct input *in, struct error *e)
{
	struct uftrace *u = in->state;

	if (merge_choose_clock(in, e))
		return -1;
	u->shift = (uint64_t)in->shift;
	u->locations.slot = calloc(LOCATIONS_LEAST, sizeof(*u->locations.slot));
	if (!u->locations.slot)
		return error_no_memory(e);
	u->locations.mask = LOCATIONS_LEAST - 1;
	u->sessions = uftrace_sessions_new(in->tree, &u->info, u->tasks, e);
	if (!u->sessions)
		return -1;
	u->args = uftrace_args_new(u->sessions, &u->info, e);
	if (!u->args)
		return -1;
	if (event_types_read(u) || uftrace_declare(u, e) || kernel_begin(u, e) ||
	    perf_begin(u, e) || extern_begin(u, e) || begin_readers(u, e))
		return -1;
	return u->heap.count ? merge_first(in, u->heap.items[0]->time, e) : 0;
}

static void uftrace_close(struct input *in)
{
	struct uftrace *u = in->state;

	if (!u)
		return;
	report_damage(u);
	for (size_t i = 0; u->contexts.numbers && i <= u->ids.nspaces; i++)
		idmap_free(&u->contexts.numbers[i]);
	free(u->contexts.numbers);
	for (size_t i = 0; i < u->ntasks; i++) {
		window_close(&u->task_readers[i].file);
		free(u->task_readers[i].member);
	}
	kernel_close(u);
	perf_close(u);
	event_types_free(u);
	uftrace_args_free(u->args);
	uftrace_sessions_free(u->sessions);
	uftrace_tasks_free(u->tasks);
	uftrace_info_free(&u->info);
	buffer_free(&u->tail);
	free(u->external.text);
	free(u->task_readers);
	free(u->task_by_tid);
	free(u->readers);
	free(u->heap.items);
	free(u->ids.spaces);
	free(u->locations.slot);
	free(u->contexts.at);
	free(u);
	in->state = NULL;
}

const struct decoder decoder_uftrace = {
	.name = "uftrace",
	.in_order = true,
	.probe = uftrace_probe,
	.open = uftrace_open,
	.fingerprint = uftrace_fingerprint,
	.info = uftrace_trace_info,
	.begin = uftrace_begin,
	.late = uftrace_late,
	.run = uftrace_run,
	.close = uftrace_close,
};
