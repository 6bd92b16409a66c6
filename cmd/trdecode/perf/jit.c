#include "cmd/trdecode/perf/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/trdecode/perf/jit_dump.h"
#include "common/symbols/symbols.h"
#include "common/util/bisect.h"
#include "common/util/digits.h"
#include "common/util/idmap.h"
#include "common/util/intern.h"
#include "common/util/lines.h"

enum { NAME_MOST = 4096, MAP_TEXT_MOST = 256 << 20, PIECE = 1 << 16 };

struct jit_dump {
	struct jit_events events;
	size_t next; /* the first one that is not yet applied */
};

struct perf_jit {
	const char *sysroot, *trace;
	bool ignore_times;
	struct jit_codes codes;
	struct jit_dump **dumps;
	size_t ndumps, dumps_capacity;
	struct idmap numbers;  /* of maps, by pid, from 1 */
	struct symbols **maps; /* of /tmp/perf-PID.map, NULL: there is none */
	size_t nmaps, maps_capacity;
	struct id_cache kernel_codes; /* by name: numbers of code */
	char module[64];	      /* of the last symbol */
};

struct perf_jit *perf_jit_new(const char *sysroot, const char *trace, bool ignore_times)
{
	struct perf_jit *j = calloc(1, sizeof *j);

	if (j)
		*j = (struct perf_jit){.sysroot = sysroot ? sysroot : "",
				       .trace = trace,
				       .ignore_times = ignore_times};
	return j;
}

void perf_jit_free(struct perf_jit *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->ndumps; i++) {
		free(j->dumps[i]->events.event);
		free(j->dumps[i]);
	}
	for (size_t i = 0; i < j->nmaps; i++)
		symbols_free(j->maps[i]);
	free(j->dumps);
	free(j->maps);
	idmap_free(&j->numbers);
	jit_codes_free(&j->codes);
	id_cache_free(&j->kernel_codes);
	free(j);
}

/* --- /tmp/perf-PID.map --- */

uint32_t perf_jit_anonymous(const char *path, size_t n)
{
	static const char *const paths[] = {"//anon", "/dev/zero", "/anon_hugepage"};

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (n >= strlen(paths[i]) && !memcmp(path, paths[i], strlen(paths[i])))
			return JIT_ANONYMOUS;
	return JIT_NONE;
}

/* A line of a map: start and size in hex, with or without 0x, and the name. */
struct map_line {
	uint64_t start, size;
	const char *name;
	size_t name_size, number;
};

/* Read a number and the blank after it. */
static bool read_hex(const char **text, const char *end, uint64_t *value)
{
	if (end - *text > 2 && !memcmp(*text, "0x", 2))
		*text += 2;
	return digits_hex(text, end, value) && *text < end && *(*text)++ == ' ';
}

static bool read_line(const char *text, size_t n, struct map_line *l)
{
	const char *end = text + n;

	if (end > text && end[-1] == '\r')
		end--;
	if (!read_hex(&text, end, &l->start) || !read_hex(&text, end, &l->size) || text == end)
		return false;
	l->name = text;
	l->name_size = (size_t)(end - text);
	return l->size && l->start <= UINT64_MAX - l->size;
}

/* By address; of one address the last line first. */
static int compare_lines(const void *a, const void *b)
{
	const struct map_line *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->number > y->number ? -1 : x->number < y->number;
}

static struct symbols *symbols_of_lines(const struct map_line *line, size_t n)
{
	struct symbols *s = symbols_new();
	int bad = s ? 0 : -1;

	for (size_t i = 0; i < n && !bad; i++)
		if (!i || line[i].start != line[i - 1].start)
			bad = symbols_add(s, line[i].start, line[i].size, 'T', line[i].name,
					  line[i].name_size);
	if (!bad && !symbols_sort(s) && !symbols_nest(s))
		return s;
	symbols_free(s);
	return NULL;
}

static struct symbols *symbols_of_text(const char *text, size_t size)
{
	struct map_line *line = NULL;
	size_t n = 0, capacity = 0;
	struct symbols *s;

	for (struct lines l = lines_of(text, size); lines_next(&l);) {
		if (ARRAY_GROW(line, capacity, n)) {
			free(line);
			return NULL;
		}
		line[n].number = n;
		n += read_line(l.line, l.size, &line[n]);
	}
	if (n)
		qsort(line, n, sizeof *line, compare_lines);
	s = symbols_of_lines(line, n);
	free(line);
	return s;
}

/* Read a regular file of this user or of root, as perf does: anyone can write to /tmp. */
static int read_map(const char *path, struct buffer *b, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return errno == ENOENT ? 0 : error_errno(e, path, NO_OFFSET, "cannot open");
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		error_set(e, path, NO_OFFSET, "is no regular file, and is not read");
	else if (st.st_uid && st.st_uid != geteuid())
		error_set(e, path, NO_OFFSET,
			  "belongs to another user, and is not read: copy it below --sysroot");
	else
		do {
			if (b->size > MAP_TEXT_MOST || buffer_reserve(b, PIECE)) {
				n = -1;
				error_set(e, path, NO_OFFSET, "too large, and is not read");
				break;
			}
			n = read(fd, b->data + b->size, PIECE);
			b->size += n > 0 ? (size_t)n : 0;
		} while (n > 0 || (n < 0 && errno == EINTR));
	close(fd);
	return n < 0 ? -1 : 0;
}

static struct symbols *load_map(struct perf_jit *j, int32_t pid)
{
	struct buffer path = {0}, text = {0};
	struct symbols *s = NULL;
	struct error e = {.what = ""};

	if (!buffer_printf(&path, "%s/tmp/perf-%" PRId32 ".map", j->sysroot, pid)) {
		if (read_map((const char *)path.data, &text, &e))
			warn(e.what[0] ? (const char *)path.data : NULL, NO_OFFSET, "%s", e.what);
		else if (text.size)
			s = symbols_of_text((const char *)text.data, text.size);
	}
	buffer_free(&path);
	buffer_free(&text);
	return s;
}

/* Get the functions of a process. NULL: none are known. */
static struct symbols *map_of(struct perf_jit *j, int32_t pid)
{
	uint32_t number = idmap_get(&j->numbers, (uint32_t)pid);

	if (number)
		return j->maps[number - 1];
	if (ARRAY_GROW(j->maps, j->maps_capacity, j->nmaps) ||
	    idmap_set(&j->numbers, (uint32_t)pid, (uint32_t)j->nmaps + 1))
		return NULL;
	j->maps[j->nmaps++] = load_map(j, pid);
	return j->maps[j->nmaps - 1];
}

static bool symbol_of_map(struct perf_jit *j, int32_t pid, uint64_t address, struct symbol_entry *e)
{
	const struct symbols *symbols = map_of(j, pid);
	const struct symbol *s = symbols ? symbols_find(symbols, address) : NULL;

	if (!s)
		return false;
	snprintf(j->module, sizeof j->module, "/tmp/perf-%" PRId32 ".map", pid);
	*e = (struct symbol_entry){.start = s->start,
				   .size = s->size,
				   .name = s->name,
				   .name_size = (uint32_t)strlen(s->name),
				   .module = j->module,
				   .module_size = (uint32_t)strlen(j->module)};
	return true;
}

/* --- dumps --- */

/* Is it the path of a dump, .../jit-PID.dump? */
static bool is_dump(const char *path, size_t n)
{
	const char *name = memrchr(path, '/', n);
	size_t digits;

	n -= name ? (size_t)(++name - path) : 0;
	if (!name || n < 10 || memcmp(name, "jit-", 4) || memcmp(name + n - 5, ".dump", 5))
		return false;
	for (digits = 4; digits < n - 5; digits++)
		if (name[digits] < '0' || name[digits] > '9')
			return false;
	return true;
}

/* Read the dump where it was written, or beside the recording. */
static int read_dump(struct perf_jit *j, const char *path, int n, struct jit_events *events)
{
	const char *name = memrchr(path, '/', (size_t)n) + 1, *slash = strrchr(j->trace, '/');
	struct buffer text = {0};
	struct error e;
	int bad = buffer_printf(&text, "%s%.*s", j->sysroot, n, path);

	if (!bad && access((const char *)text.data, F_OK)) {
		text.size = 0;
		bad = buffer_printf(&text, "%.*s%.*s", slash ? (int)(slash + 1 - j->trace) : 0,
				    j->trace, (int)(path + n - name), name);
	}
	if (bad || jit_dump_read((const char *)text.data, &j->codes, events, &e)) {
		if (bad)
			error_no_memory(&e);
		warn(e.file[0] ? e.file : NULL, e.offset, "%s", e.what);
	}
	buffer_free(&text);
	return events->count ? 0 : -1;
}

struct jit_dump *perf_jit_dump(struct perf_jit *j, const char *path, size_t n)
{
	struct jit_dump **dumps, *d;

	if (!is_dump(path, n) || n > NAME_MOST)
		return NULL;
	d = calloc(1, sizeof *d);
	if (ARRAY_GROW(j->dumps, j->dumps_capacity, j->ndumps) || !d ||
	    read_dump(j, path, (int)n, &d->events)) {
		if (d)
			free(d->events.event);
		free(d);
		return NULL;
	}
	dumps = j->dumps;
	return dumps[j->ndumps++] = d;
}

int perf_jit_advance(struct perf_jit *j, struct jit_dump *d, uint64_t time, struct perf_spaces *s,
		     struct perf_maps **maps, int32_t pid)
{
	for (; d->next < d->events.count; d->next++) {
		const struct jit_event *event = &d->events.event[d->next];
		uint64_t size = event->size;
		struct perf_map map = {.start = event->address, .code = event->code};

		if (event->time > time && !j->ignore_times)
			break;
		map.end = map.start + size;
		if (perf_maps_add(s, maps, map, pid))
			return -1;
	}
	return 0;
}

static bool symbol_of_code(const struct perf_jit *j, const struct perf_map *map, uint64_t address,
			   struct symbol_entry *e)
{
	const struct jit_code *code = &j->codes.code[map->code - 1];
	const struct jit_line *line = j->codes.line + code->first_line;
	const char *texts = (const char *)j->codes.texts.data;
	uint64_t inside = address - map->start + map->offset;
	/* the lines of a compiler are by address */
	size_t n = BISECT(code->nlines, i, line[i].address - code->address <= inside);

	*e = (struct symbol_entry){.start = map->start - map->offset,
				   .size = map->end - map->start + map->offset,
				   .name = texts + code->name,
				   .module = texts + code->module};
	if (n) {
		e->line = line[n - 1].line;
		e->file = texts + line[n - 1].file;
		e->file_size = (uint32_t)strlen(e->file);
	}
	e->name_size = (uint32_t)strlen(e->name);
	e->module_size = (uint32_t)strlen(e->module);
	return true;
}

uint32_t perf_jit_kernel_code(struct perf_jit *j, const char *name, size_t n)
{
	uint32_t *code = id_cache_number(&j->kernel_codes, name, n);

	if (code && !*code)
		*code = jit_codes_add(&j->codes, name, n);
	return code ? *code : 0;
}

bool perf_jit_symbol(struct perf_jit *j, const struct perf_map *map, int32_t pid, uint64_t address,
		     struct symbol_entry *e)
{
	switch (map->code) {
	case JIT_UNKNOWN: return false;
	case JIT_ANONYMOUS: return symbol_of_map(j, pid, address, e);
	default: return symbol_of_code(j, map, address, e);
	}
}
