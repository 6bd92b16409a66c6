/*
 * uftrace_session.c - the files beside the data of a uftrace directory: info, tasks, sessions,
 * maps, modules
 */
#include "cmd/trdecode/uftrace_session.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/text_span.h"
#include "cmd/trdecode/uftrace.h"
#include "common/formats/uftrace.h"
#include "common/util/bisect.h"
#include "common/util/buffer.h"
#include "common/util/lines.h"
#include "common/value/json.h"

/* The known lines "key:text"; groups start with "key:lines=N" and have N lines "key:name=text". */
static const struct {
	const char *prefix;
	uint8_t bit;
	uint16_t field; /* offset of a const char * */
} line_keys[] = {
#define FIELD(f) offsetof(struct uftrace_info, f)
	{"exename:", UFTRACE_INFO_EXE_NAME, FIELD(exename)},
	{"build_id:", UFTRACE_INFO_EXE_BUILD_ID, FIELD(lines.build_id)},
	{"cmdline:", UFTRACE_INFO_CMDLINE, FIELD(cmdline)},
	{"cpuinfo:nr_cpus=", UFTRACE_INFO_CPUINFO, FIELD(lines.nr_cpus)},
	{"cpuinfo:desc=", UFTRACE_INFO_CPUINFO, FIELD(lines.cpu_desc)},
	{"meminfo:", UFTRACE_INFO_MEMINFO, FIELD(lines.meminfo)},
	{"osinfo:kernel=", UFTRACE_INFO_OSINFO, FIELD(lines.os_kernel)},
	{"osinfo:hostname=", UFTRACE_INFO_OSINFO, FIELD(lines.os_hostname)},
	{"osinfo:distro=", UFTRACE_INFO_OSINFO, FIELD(lines.os_distro)},
	{"usageinfo:systime=", UFTRACE_INFO_USAGEINFO, FIELD(lines.systime)},
	{"usageinfo:usrtime=", UFTRACE_INFO_USAGEINFO, FIELD(lines.usrtime)},
	{"usageinfo:ctxsw=", UFTRACE_INFO_USAGEINFO, FIELD(lines.ctxsw)},
	{"usageinfo:maxrss=", UFTRACE_INFO_USAGEINFO, FIELD(lines.maxrss)},
	{"usageinfo:pagefault=", UFTRACE_INFO_USAGEINFO, FIELD(lines.pagefault)},
	{"usageinfo:iops=", UFTRACE_INFO_USAGEINFO, FIELD(lines.iops)},
	{"loadinfo:", UFTRACE_INFO_LOADINFO, FIELD(lines.loadinfo)},
	{"argspec:", UFTRACE_INFO_ARG_SPEC, FIELD(argspec)},
	{"retspec:", UFTRACE_INFO_ARG_SPEC, FIELD(retspec)},
	{"argauto:", UFTRACE_INFO_ARG_SPEC, FIELD(argauto)},
	{"retauto:", UFTRACE_INFO_ARG_SPEC, FIELD(retauto)},
	{"enumauto:", UFTRACE_INFO_ARG_SPEC, FIELD(enumauto)},
	{"record_date:", UFTRACE_INFO_RECORD_DATE, FIELD(lines.record_date)},
	{"elapsed_time:", UFTRACE_INFO_RECORD_DATE, FIELD(lines.elapsed_time)},
	{"pattern_type:", UFTRACE_INFO_PATTERN_TYPE, FIELD(lines.pattern_type)},
	{"uftrace_version:", UFTRACE_INFO_VERSION, FIELD(lines.uftrace_version)},
	{"utc_offset:", UFTRACE_INFO_UTC_OFFSET, FIELD(lines.utc_offset_text)},
	{"sysctl:", UFTRACE_INFO_SYSCTL, FIELD(lines.sysctl)},
#undef FIELD
};

/* Names of the bits in messages. */
static const char *const entry_names[UFTRACE_INFO_BITS] = {
	"exename",	"build_id",	   "exit_status", "cmdline",  "cpuinfo", "meminfo",
	"osinfo",	"taskinfo",	   "usageinfo",	  "loadinfo", "argspec", "record_date",
	"pattern_type", "uftrace_version", "utc_offset",  "sysctl",
};

struct parse {
	struct uftrace_info *info;
	const char *file;
	struct error *e;
	bool damaged;
	unsigned announced[UFTRACE_INFO_BITS]; /* lines of a group, by its head */
	unsigned seen[UFTRACE_INFO_BITS];
	int64_t nr_tids; /* number in the file; -1 if there is none */
};

static int session_parse_header(struct uftrace_info *info, const uint8_t *p, size_t size,
				const char *file, struct error *e)
{
	const uint16_t one = 1;
	bool host_big = !*(const uint8_t *)&one;

	if (size < UFTRACE_MAGIC_SIZE || memcmp(p, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE))
		return error_set(e, file, 0, "not the info file of a uftrace recording");
	if (size < UFTRACE_HEADER_SIZE)
		return error_set(e, file, size, "file ends within its header");
	if (p[UFTRACE_HDR_ENDIAN] != 1 && p[UFTRACE_HDR_ENDIAN] != 2)
		return error_set(e, file, UFTRACE_HDR_ENDIAN, "unknown byte order %u",
				 p[UFTRACE_HDR_ENDIAN]);
	info->big_endian = p[UFTRACE_HDR_ENDIAN] == 2;
	info->swap = info->big_endian != host_big;
	info->is_32bit = p[UFTRACE_HDR_CLASS] == 1;
	info->version = uftrace_get32(p + UFTRACE_HDR_VERSION, info->swap);
	if (info->version < UFTRACE_VERSION_MIN || info->version > UFTRACE_VERSION)
		return error_set(e, file, UFTRACE_HDR_VERSION, "unsupported file version %" PRIu32,
				 info->version);
	info->feat_mask = uftrace_get64(p + UFTRACE_HDR_FEAT_MASK, info->swap);
	info->info_mask = uftrace_get64(p + UFTRACE_HDR_INFO_MASK, info->swap);
	info->max_stack = UFTRACE_MAX_STACK;
	if (info->feat_mask & UFTRACE_FEAT_MAX_STACK)
		info->max_stack = uftrace_get16(p + UFTRACE_HDR_MAX_STACK, info->swap);
	return 0;
}

static void info_damage(struct parse *p, uint64_t offset, const char *what, const char *which)
{
	if (!p->damaged)
		error_set(p->e, p->file, offset, "%s %.100s", what, which);
	p->damaged = true;
}

static const char *text_after(const char *line, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(line, prefix, n) ? NULL : line + n;
}

/* Parse "T,T,..."; a number at the end of a truncated file may be shortened and is left out.
 * Returns -1 when out of memory, 1 when the text is no such list. */
static int parse_tids(struct uftrace_info *info, const char *text, bool cut)
{
	size_t room = 0;
	char *end;

	free(info->tids);
	info->tids = NULL;
	info->nr_tids = 0;
	while (*text) {
		long tid;

		errno = 0;
		tid = strtol(text, &end, 10);
		if (end == text || errno || tid < 0 || tid > INT32_MAX || (*end && *end != ','))
			return 1;
		if (!*end && cut)
			return 1;
		if (ARRAY_GROW(info->tids, room, info->nr_tids))
			return -1;
		info->tids[info->nr_tids++] = tid;
		text = *end ? end + 1 : end;
	}
	return 0;
}

/* Get the bit whose entry the line belongs to, -1 if unknown, -2 when out of memory. */
static int info_parse_line(struct parse *p, const char *line, uint64_t offset, bool cut)
{
	struct uftrace_info *info = p->info;
	const char *text;
	char *end;

	if ((text = text_after(line, "exit_status:"))) {
		info->exit_status = strtol(text, &end, 10);
		if (end == text || *end)
			info_damage(p, offset, "unreadable", "exit_status");
		return UFTRACE_INFO_EXIT_STATUS;
	}
	if ((text = text_after(line, "taskinfo:nr_tid="))) {
		p->nr_tids = strtoll(text, &end, 10);
		if (end == text || *end)
			info_damage(p, offset, "unreadable", "taskinfo");
		return UFTRACE_INFO_TASKINFO;
	}
	if ((text = text_after(line, "taskinfo:tids="))) {
		int r = parse_tids(info, text, cut);

		if (r < 0)
			return -2;
		if (r > 0)
			info_damage(p, offset, "unreadable", "taskinfo");
		return UFTRACE_INFO_TASKINFO;
	}
	if ((text = text_after(line, "auto-args:"))) {
		info->auto_args = *text == '1';
		return UFTRACE_INFO_ARG_SPEC;
	}
	for (size_t i = 0; i < sizeof(line_keys) / sizeof(*line_keys); i++) {
		text = text_after(line, line_keys[i].prefix);
		if (!text)
			continue;
		memcpy((char *)info + line_keys[i].field, &text, sizeof(text));
		return line_keys[i].bit;
	}
	return -1;
}

/* Parse "key:lines=N". Returns the bit, or -1. */
static int group_head(const char *line, unsigned *lines)
{
	static const struct {
		const char *prefix;
		int bit;
	} heads[] = {
		{"cpuinfo:lines=", UFTRACE_INFO_CPUINFO},
		{"osinfo:lines=", UFTRACE_INFO_OSINFO},
		{"taskinfo:lines=", UFTRACE_INFO_TASKINFO},
		{"usageinfo:lines=", UFTRACE_INFO_USAGEINFO},
		{"argspec:lines=", UFTRACE_INFO_ARG_SPEC},
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		const char *text = text_after(line, heads[i].prefix);

		if (text) {
			*lines = strtoul(text, NULL, 10);
			return heads[i].bit;
		}
	}
	return -1;
}

static enum uftrace_arch arch_of(const struct uftrace_info *info)
{
	const char *desc = info->lines.cpu_desc ? info->lines.cpu_desc : "";

	if (text_after(desc, "ARMv6") || text_after(desc, "ARMv7"))
		return UFTRACE_ARCH_ARM;
	if (text_after(desc, "ARM64"))
		return UFTRACE_ARCH_AARCH64;
	if (text_after(desc, "RISCV64"))
		return UFTRACE_ARCH_RISCV64;
	return info->is_32bit ? UFTRACE_ARCH_I386 : UFTRACE_ARCH_X86_64;
}

static void info_interpret(struct parse *p)
{
	struct uftrace_info *info = p->info;
	uint64_t missing;
	char *end;

	info->arch = arch_of(info);
	if (info->lines.pattern_type) {
		if (!strcmp(info->lines.pattern_type, "simple"))
			info->pattern = UFTRACE_PATTERN_SIMPLE;
		else if (!strcmp(info->lines.pattern_type, "glob"))
			info->pattern = UFTRACE_PATTERN_GLOB;
		else if (strcmp(info->lines.pattern_type, "regex"))
			info_damage(p, NO_OFFSET, "unknown pattern type", info->lines.pattern_type);
	}
	if (info->lines.utc_offset_text) {
		info->utc_offset = strtoll(info->lines.utc_offset_text, &end, 10);
		if (end == info->lines.utc_offset_text || *end) {
			info_damage(p, NO_OFFSET, "unreadable", "utc_offset");
			info->have &= ~(1ull << UFTRACE_INFO_UTC_OFFSET);
		}
	}
	if (uftrace_info_has(info, UFTRACE_INFO_TASKINFO) && p->nr_tids >= 0 &&
	    (uint64_t)p->nr_tids != info->nr_tids)
		info_damage(p, NO_OFFSET, "number of tasks differs from their list in", "taskinfo");
	missing = info->info_mask & ~info->have & ((1ull << UFTRACE_INFO_BITS) - 1);
	for (int bit = 0; bit < UFTRACE_INFO_BITS; bit++) {
		if (missing >> bit & 1)
			info_damage(p, info->raw_size, "file has no", entry_names[bit]);
		else if (p->seen[bit] < p->announced[bit])
			info_damage(p, info->raw_size, "file lacks lines of", entry_names[bit]);
	}
}

int uftrace_info_parse(struct uftrace_info *info, void *data, size_t size, const char *file,
		       struct error *e)
{
	struct parse p = {.info = info, .file = file, .e = e, .nr_tids = -1};
	bool open_ended;

	*info = (struct uftrace_info){
		.raw = data, .raw_size = size, .pattern = UFTRACE_PATTERN_REGEX};
	if (session_parse_header(info, data, size, file, e) < 0)
		return -1;
	size -= UFTRACE_HEADER_SIZE;
	info->text = malloc(size + 1);
	if (!info->text)
		return error_set(e, file, NO_OFFSET, "out of memory");
	memcpy(info->text, info->raw + UFTRACE_HEADER_SIZE, size);
	info->text[size] = 0;
	/* entries of later versions are last, with unknown bits and lines */
	open_ended = info->info_mask >> UFTRACE_INFO_BITS;
	for (struct lines l = lines_of(info->text, size); lines_next(&l);) {
		uint64_t offset = UFTRACE_HEADER_SIZE + (l.line - info->text);
		unsigned lines;
		int bit;

		l.line[l.size] = 0;
		bit = group_head(l.line, &lines);
		if (bit >= 0) {
			p.announced[bit] = lines;
		} else {
			bit = info_parse_line(&p, l.line, offset, !l.whole);
			if (bit == -2)
				return error_set(e, file, offset, "out of memory");
			if (bit >= 0)
				p.seen[bit]++;
		}
		if (bit >= 0 && info->info_mask >> bit & 1)
			info->have |= 1ull << bit;
		else if (!open_ended)
			info_damage(&p, offset, "unexpected line", l.line);
		if (!l.whole)
			info_damage(&p, offset, "file is cut within", l.line);
	}
	info_interpret(&p);
	return p.damaged;
}

void uftrace_info_free(struct uftrace_info *info)
{
	free(info->tids);
	free(info->raw);
	free(info->text);
	*info = (struct uftrace_info){0};
}

/* --- map --- */

static const struct {
	uint64_t below, base;
} kernel_bases[] = {
	/* start of the stack -> start of the kernel, for each division of the address space */
	{0x80000000, 0x80000000},	  {0xb0000000, 0xb0000000},
	{0xc0000000, 0xc0000000},	  {1ull << 39, 0xffffff8000000000},
	{1ull << 42, 0xfffffc0000000000}, {1ull << 47, 0xffff800000000000},
};

static uint64_t guess_kernel_base(uint64_t stack)
{
	if (stack < 0x40000000)
		return 0x40000000;
	for (size_t i = 0; i < sizeof(kernel_bases) / sizeof(*kernel_bases); i++)
		if (stack < kernel_bases[i].below)
			return kernel_bases[i].base;
	return 0xffff000000000000;
}

/* Get the next word, NUL-terminated in place, or NULL at the end of the line. */
static char *session_next_word(char **p)
{
	char *word = *p + strspn(*p, " \t\r");
	char *end = word + strcspn(word, " \t\r");

	if (word == end)
		return NULL;
	*p = end;
	if (*end) {
		*end = 0;
		*p = end + 1;
	}
	return word;
}

static int map_parse_line(struct uftrace_map *m, size_t *room, char *line)
{
	struct uftrace_mapping *last = m->nr ? &m->maps[m->nr - 1] : NULL;
	char *range = session_next_word(&line), *end, *path = NULL, *build_id;
	uint64_t start, stop;

	if (!range)
		return 0;
	start = strtoull(range, &end, 16);
	if (end == range || *end != '-')
		goto damaged;
	range = end + 1;
	stop = strtoull(range, &end, 16);
	if (end == range || *end || stop < start)
		goto damaged;
	for (int field = 0; field < 5; field++) {
		path = session_next_word(&line);
		if (!path)
			return field == 4 ? 0 : (m->damaged++, 0);
	}
	if (*path == '[') {
		if (!strncmp(path, "[stack", 6))
			m->kernel_base = guess_kernel_base(start);
		return 0;
	}
	if (last && !strcmp(last->path, path)) {
		if (stop > last->end)
			last->end = stop;
		return 0;
	}
	build_id = session_next_word(&line);
	if (build_id && !strncmp(build_id, "build-id:", 9))
		build_id += 9;
	else
		build_id = NULL;
	if (ARRAY_GROW(m->maps, *room, m->nr))
		return -1;
	m->maps[m->nr++] = (struct uftrace_mapping){
		.start = start, .end = stop, .path = path, .build_id = build_id ? build_id : ""};
	return 0;
damaged:
	m->damaged++;
	return 0;
}

int uftrace_map_parse(struct uftrace_map *m, char *text, size_t size)
{
	size_t room = 0;

	*m = (struct uftrace_map){.text = text};
	for (struct lines l = lines_of(text, size); lines_next(&l);) {
		l.line[l.size] = '\0';
		if (map_parse_line(m, &room, l.line) < 0)
			return -1;
	}
	return 0;
}

/*
 * Add a module of that path below all others, for the functions of a Python program, whose
 * addresses are numbers. Returns 0, or -1 when out of memory.
 */
static int uftrace_map_add_python(struct uftrace_map *m, const char *path)
{
	struct uftrace_mapping *maps = realloc(m->maps, (m->nr + 1) * sizeof(*maps));
	uint64_t end = 1ull << 47;

	if (!maps)
		return -1;
	m->maps = maps;
	for (size_t i = 0; i < m->nr; i++)
		end = maps[i].start < end ? maps[i].start : end;
	maps[m->nr++] = (struct uftrace_mapping){.end = end, .path = path, .build_id = ""};
	return 0;
}

void uftrace_map_free(struct uftrace_map *m)
{
	free(m->maps);
	free(m->text);
	*m = (struct uftrace_map){0};
}

/* --- module --- */

#define SYM_SIZE_MAX (1u << 30)
#define HEAD_SIZE    8192

/* Files of one basename that are tried for one library. */
#define CANDIDATES_MAX 64

/* ---- damage ---- */

void uftrace_sessions_add_damage(struct uftrace_sessions *s, const struct error *e)
{
	struct error *copy = s->nr_damage < UFTRACE_DAMAGE_MAX ? malloc(sizeof(*copy)) : NULL;

	if (!copy)
		return;
	*copy = *e;
	s->damage[s->nr_damage++] = copy;
}

bool uftrace_sessions_damage(struct uftrace_sessions *s, struct error *e)
{
	if (s->next_damage == s->nr_damage)
		return false;
	*e = *s->damage[s->next_damage++];
	return true;
}

/* ---- which file belongs to a module ---- */

/* Parse the '#' lines at the start of a .sym or .dbg file into text, of HEAD_SIZE bytes. Returns
 * the path; it and the build-id are "" if the file has none. */
static const char *session_read_head(const struct tree *tree, const char *name, char *text,
				     const char **build_id)
{
	const char *path = "";
	char *line = text;

	*build_id = "";
	text[tree_peek(tree, name, text, HEAD_SIZE - 1)] = 0;
	while (*line == '#') {
		char *next = strchr(line, '\n');

		if (!next)
			break;
		*next = 0;
		if (!strncmp(line, "# path name: ", 13))
			path = line + 13;
		else if (!strncmp(line, "# build-id: ", 12))
			*build_id = line + 12;
		line = next + 1;
	}
	return path;
}

/* Test whether a file that has the path in its head ("" none) belongs to path, which may be as
 * given to dlopen. */
static bool path_fits(const char *head, const char *path, bool is_dlopen)
{
	size_t n, m;

	if (!*head || !strcmp(head, path))
		return true;
	if (!is_dlopen || *path == '/')
		return false;
	for (;;) {
		if (!strncmp(path, "./", 2))
			path += 2;
		else if (!strncmp(path, "../", 3))
			path += 3;
		else
			break;
	}
	n = strlen(path);
	m = strlen(head);
	return m > n && head[m - n - 1] == '/' && !strcmp(head + m - n, path);
}

static bool ids_differ(const char *a, const char *b)
{
	return *a && *b && strcmp(a, b);
}

/* Get the member's name in the tree, or NULL. */
static const char *tree_has_name(const struct tree *tree, const char *name)
{
	size_t i = tree_lower_bound(tree, name);

	if (i == tree_count(tree) || strcmp(tree_member(tree, i), name))
		return NULL;
	return tree_member(tree, i);
}

/*
 * Return BASENAME.SUFFIX, unless its head names another module with that basename; then
 * BASENAME-XXXX, where XXXX is the start of the build-id or a sum of the path.
 */
static const char *choose_file(const struct tree *tree, const struct uftrace_module *m,
			       bool is_dlopen, const char *suffix)
{
	const char *base = basename(m->path), *plain, *other, *path, *build_id;
	char name[4096], head[HEAD_SIZE];
	uint16_t sum = 0;

	if (!*base || strlen(base) > sizeof(name) - 16)
		return NULL;
	snprintf(name, sizeof(name), "%s.%s", base, suffix);
	plain = tree_has_name(tree, name);
	if (plain) {
		path = session_read_head(tree, plain, head, &build_id);
		/* or another path to the same file */
		if ((path_fits(path, m->path, is_dlopen) && !ids_differ(build_id, m->build_id)) ||
		    (*m->build_id && !strcmp(build_id, m->build_id)))
			return plain;
	}
	for (const char *p = m->path; *p; p++)
		sum += *p;
	snprintf(name, sizeof(name), "%s-%.4s.%s", base, m->build_id, suffix);
	other = *m->build_id ? tree_has_name(tree, name) : NULL;
	if (!other) {
		snprintf(name, sizeof(name), "%s-%04x.%s", base, sum, suffix);
		other = tree_has_name(tree, name);
	}
	if (other) {
		session_read_head(tree, other, head, &build_id);
		if (!ids_differ(build_id, m->build_id))
			return other;
	}
	if (!is_dlopen)
		return NULL;
	/* the build-id of a library opened later is not recorded: try all its files */
	snprintf(name, sizeof(name), "%s-", base);
	for (size_t i = tree_lower_bound(tree, name), end = i + CANDIDATES_MAX;
	     i < tree_count(tree) && i < end; i++) {
		const char *member = tree_member(tree, i);
		size_t n = strlen(base);

		if (strncmp(member, name, n + 1))
			break;
		if (strlen(member) != n + 6 + strlen(suffix) || member[n + 5] != '.' ||
		    strcmp(member + n + 6, suffix))
			continue;
		path = session_read_head(tree, member, head, &build_id);
		if (*path && path_fits(path, m->path, true))
			return member;
	}
	/* "./sub/../lib.so": the directory is unknown, but the name is known */
	return *m->path != '/' ? plain : NULL;
}

/* ---- modules and their symbols ---- */

/* A .sym file. */
struct symfile {
	bool tried;
	struct symbols *symbols;
	uint64_t end; /* all symbols are below it */
};

/* Find or add the file of that name. NULL: out of memory. */
static struct symfile *get_file(struct uftrace_sessions *s, const char *name)
{
	uint32_t number = intern_string(&s->names, name);

	if (number == INTERN_NONE || ARRAY_REACH(s->files, s->files_room, number))
		return NULL;
	if (!s->files[number])
		s->files[number] = calloc(1, sizeof(**s->files));
	return s->files[number];
}

/*
 * Find or add the module of that path and build-id ("" if unknown), which must outlive s.
 * is_dlopen: the path is as a program gave it to dlopen. NULL when out of memory.
 */
static struct uftrace_module *get_module(struct uftrace_sessions *s, const char *path,
					 const char *build_id, bool is_dlopen)
{
	uint32_t a = intern_string(&s->names, path), b = intern_string(&s->names, build_id);
	uint64_t *number = a != INTERN_NONE && b != INTERN_NONE
				   ? key_map_value(&s->by_path, (uint64_t)a << 32 | b)
				   : NULL;
	struct uftrace_module *m;

	if (number && *number)
		return s->modules[*number - 1];
	if (!number || ARRAY_GROW(s->modules, s->modules_room, s->nr_modules))
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	*m = (struct uftrace_module){.id = s->nr_modules, .path = path, .build_id = build_id};
	m->sym_name = choose_file(s->tree, m, is_dlopen, "sym");
	m->dbg_name = choose_file(s->tree, m, is_dlopen, "dbg");
	if (m->sym_name)
		m->file = get_file(s, m->sym_name);
	s->modules[s->nr_modules++] = m;
	*number = s->nr_modules;
	return m;
}

static void load_symbols(struct uftrace_sessions *s, const struct uftrace_module *m)
{
	struct symfile *f = m->file;
	struct error e;
	char path[512];
	void *text;
	size_t size;

	f->tried = true;
	if (tree_read(s->tree, m->sym_name, SYM_SIZE_MAX, &text, &size, &e) < 0) {
		uftrace_sessions_add_damage(s, &e);
		return;
	}
	f->symbols = symbols_from_uftrace(text, size);
	free(text);
	tree_path(s->tree, m->sym_name, path, sizeof(path));
	if (!f->symbols) {
		error_set(&e, path, NO_OFFSET, "out of memory");
		uftrace_sessions_add_damage(s, &e);
		return;
	}
	if (symbols_damaged(f->symbols)) {
		error_set(&e, path, NO_OFFSET, "%zu unreadable lines", symbols_damaged(f->symbols));
		uftrace_sessions_add_damage(s, &e);
	}
	for (size_t i = 0; i < symbols_count(f->symbols); i++) {
		const struct symbol *sym = symbols_at(f->symbols, i);
		uint64_t end;

		if (__builtin_add_overflow(sym->start, sym->size, &end))
			end = UINT64_MAX;
		if (end > f->end)
			f->end = end;
	}
}

const struct symbols *uftrace_module_symbols(struct uftrace_sessions *s,
					     const struct uftrace_module *m)
{
	if (!m->file)
		return NULL;
	if (!m->file->tried)
		load_symbols(s, m);
	return m->file->symbols;
}

/* Get the symbols of the member kallsyms, or NULL. */
static const struct symbols *uftrace_kernel_symbols(struct uftrace_sessions *s)
{
	struct error e;
	void *text;
	size_t size;

	if (s->kernel_tried)
		return s->kernel;
	s->kernel_tried = true;
	if (!tree_has(s->tree, "kallsyms"))
		return NULL;
	if (tree_read(s->tree, "kallsyms", SYM_SIZE_MAX, &text, &size, &e) < 0) {
		uftrace_sessions_add_damage(s, &e);
		return NULL;
	}
	s->kernel = symbols_from_kallsyms(text, size);
	free(text);
	return s->kernel;
}

/* --- session --- */

#define MAP_SIZE_MAX (256u << 20)

/* Module of a Python program's functions, which no map has. */
#define PYTHON "python.fake"

/* Overlapping ranges that are tried for one address. */
#define OVERLAPS_MAX 4096

/* A library at a base, whatever the number of times it was opened there. */
struct session_range {
	uint64_t base, end;
	uint64_t max_end; /* highest end of this range and all before it */
	const struct uftrace_module *module;
	const uint32_t *opens; /* numbers of its dlopens, ascending */
	size_t nr_opens;
};

/* ---- sessions ---- */

struct uftrace_sessions *uftrace_sessions_new(const struct tree *tree,
					      const struct uftrace_info *info,
					      const struct uftrace_tasks *tasks, struct error *e)
{
	struct uftrace_sessions *s = calloc(1, sizeof(*s));

	if (s) {
		s->tree = tree;
		s->info = info;
		s->tasks = tasks;
		s->sessions = calloc(tasks->nr_sess + 1, sizeof(*s->sessions));
	}
	if (!s || !s->sessions) {
		free(s);
		error_set(e, tree_name(tree), NO_OFFSET, "out of memory");
		return NULL;
	}
	return s;
}

static void free_session(struct uftrace_session *s)
{
	if (!s)
		return;
	uftrace_map_free(&s->map);
	free(s->map_modules);
	free(s->by_start);
	free(s->dlopen_modules);
	free(s->ranges);
	free(s->opens);
	free(s);
}

void uftrace_sessions_free(struct uftrace_sessions *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->tasks->nr_sess; i++)
		free_session(s->sessions[i]);
	free(s->sessions);
	for (size_t i = 0; i < s->nr_modules; i++)
		free(s->modules[i]);
	free(s->modules);
	for (size_t i = 0; i < s->files_room; i++)
		if (s->files[i]) {
			symbols_free(s->files[i]->symbols);
			free(s->files[i]);
		}
	free(s->files);
	key_map_free(&s->by_path);
	intern_free(&s->names);
	symbols_free(s->kernel);
	for (unsigned i = 0; i < s->nr_damage; i++)
		free(s->damage[i]);
	free(s);
}

static int session_load_map(struct uftrace_session *s)
{
	char name[UFTRACE_SID_SIZE + 16], path[512];
	struct error e;
	void *text;
	size_t size;

	snprintf(name, sizeof(name), "sid-%s.map", s->sess->sid);
	if (tree_read(s->all->tree, name, MAP_SIZE_MAX, &text, &size, &e) < 0)
		uftrace_sessions_add_damage(s->all, &e);
	else if (uftrace_map_parse(&s->map, text, size) < 0)
		return -1;
	if (s->map.damaged) {
		error_set(&e, tree_path(s->all->tree, name, path, sizeof(path)), NO_OFFSET,
			  "%zu unreadable lines", s->map.damaged);
		uftrace_sessions_add_damage(s->all, &e);
	}
	return tree_has(s->all->tree, PYTHON ".sym") ? uftrace_map_add_python(&s->map, PYTHON) : 0;
}

static int compare_starts(const void *a, const void *b, void *arg)
{
	const struct uftrace_mapping *maps = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (maps[x].start != maps[y].start)
		return maps[x].start < maps[y].start ? -1 : 1;
	return (x < y) - (x > y);
}

static int find_modules(struct uftrace_session *s)
{
	s->map_modules = calloc(s->map.nr + 1, sizeof(*s->map_modules));
	s->by_start = calloc(s->map.nr + 1, sizeof(*s->by_start));
	s->dlopen_modules = calloc(s->sess->nr_dlopens + 1, sizeof(*s->dlopen_modules));
	if (!s->map_modules || !s->by_start || !s->dlopen_modules)
		return -1;
	for (size_t i = 0; i < s->map.nr; i++) {
		const struct uftrace_mapping *map = &s->map.maps[i];

		s->by_start[i] = i;
		s->map_modules[i] =
			get_module(s->all, map->path, map->build_id, !strcmp(map->path, PYTHON));
		if (!s->map_modules[i])
			return -1;
	}
	qsort_r(s->by_start, s->map.nr, sizeof(*s->by_start), compare_starts, s->map.maps);
	for (size_t i = 0; i < s->sess->nr_dlopens; i++) {
		s->dlopen_modules[i] = get_module(s->all, s->sess->dlopens[i].path, "", true);
		if (!s->dlopen_modules[i])
			return -1;
	}
	return 0;
}

struct uftrace_session *uftrace_session_get(struct uftrace_sessions *s,
					    const struct uftrace_sess *sess)
{
	struct uftrace_session *n;

	sess = sess->same;
	n = s->sessions[sess->id];
	if (n)
		return n->broken ? NULL : n;
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->all = s;
	n->sess = sess;
	/* kept even if broken, as modules point to names in its map */
	s->sessions[sess->id] = n;
	n->broken = session_load_map(n) < 0 || find_modules(n) < 0;
	return n->broken ? NULL : n;
}

uint32_t uftrace_session_epoch_at(const struct uftrace_session *s, uint64_t t, uint64_t *until)
{
	size_t low = BISECT(s->sess->nr_dlopens, i, s->sess->dlopens[i].time <= t);

	if (until)
		*until = low < s->sess->nr_dlopens ? s->sess->dlopens[low].time : UINT64_MAX;
	return low;
}

/* ---- addresses ---- */

/* Get the base that the addresses of a module's symbols are relative to. */
static uint64_t symbol_base(const struct uftrace_session *s, uint64_t base)
{
	return s->all->info->feat_mask & UFTRACE_FEAT_SYM_REL_ADDR ? base : 0;
}

/* Get the index of the mapping with the address, or map.nr. Mappings do not overlap in an
 * undamaged file. */
static size_t find_mapping(const struct uftrace_session *s, uint64_t address)
{
	size_t low = BISECT(s->map.nr, i, s->map.maps[s->by_start[i]].start <= address);

	for (int i = 0; i < 16 && low > 0; i++)
		if (address < s->map.maps[s->by_start[--low]].end)
			return s->by_start[low];
	return s->map.nr;
}

/* Compare dlopens by base, library and number. */
static int compare_opens(const void *a, const void *b, void *session)
{
	const struct uftrace_session *s = session;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t base_x = symbol_base(s, s->sess->dlopens[x].base),
		 base_y = symbol_base(s, s->sess->dlopens[y].base);

	if (base_x != base_y)
		return base_x < base_y ? -1 : 1;
	if (s->dlopen_modules[x] != s->dlopen_modules[y])
		return s->dlopen_modules[x]->id < s->dlopen_modules[y]->id ? -1 : 1;
	return (x > y) - (x < y);
}

/* Group the dlopens by library and base, and load their symbols. */
static void build_ranges(struct uftrace_session *s)
{
	size_t n = 0, total = s->sess->nr_dlopens;
	uint64_t max_end = 0;

	s->has_ranges = true;
	if (!total)
		return;
	s->ranges = calloc(total, sizeof(*s->ranges));
	s->opens = calloc(total, sizeof(*s->opens));
	if (!s->ranges || !s->opens) {
		struct error e;

		error_set(&e, tree_name(s->all->tree), NO_OFFSET,
			  "out of memory, opened libraries are unknown");
		uftrace_sessions_add_damage(s->all, &e);
		return;
	}
	for (size_t i = 0; i < total; i++)
		if (uftrace_module_symbols(s->all, s->dlopen_modules[i]))
			s->opens[n++] = (uint32_t)i;
	qsort_r(s->opens, n, sizeof(*s->opens), compare_opens, s);
	for (size_t i = 0; i < n; i++) {
		struct session_range *r = s->nr_ranges ? &s->ranges[s->nr_ranges - 1] : NULL;
		const struct uftrace_module *module = s->dlopen_modules[s->opens[i]];
		uint64_t base = symbol_base(s, s->sess->dlopens[s->opens[i]].base);

		if (!r || r->base != base || r->module != module) {
			r = &s->ranges[s->nr_ranges++];
			r->base = base;
			r->module = module;
			r->opens = &s->opens[i];
			if (__builtin_add_overflow(r->base, r->module->file->end, &r->end))
				r->end = UINT64_MAX;
			if (r->end > max_end)
				max_end = r->end;
			r->max_end = max_end;
		}
		r->nr_opens++;
	}
}

static bool resolve_dlopen(struct uftrace_session *s, uint32_t epoch, uint64_t address,
			   struct uftrace_where *where)
{
	size_t low;
	uint32_t best = 0;

	if (!s->has_ranges)
		build_ranges(s);
	low = BISECT(s->nr_ranges, i, s->ranges[i].base <= address);
	for (int i = 0; i < OVERLAPS_MAX && low > 0; i++) {
		const struct session_range *r = &s->ranges[--low];
		const struct symbol *symbol;
		uint32_t open;
		size_t n;

		if (r->max_end <= address)
			break;
		/* 1 + the number of its last dlopen before the epoch; 0: none */
		n = r->end > address ? BISECT(r->nr_opens, k, r->opens[k] < epoch) : 0;
		open = n ? r->opens[n - 1] + 1 : 0;
		if (open <= best)
			continue;
		symbol = symbols_find(r->module->file->symbols, address - r->base);
		if (!symbol)
			continue;
		best = open;
		*where = (struct uftrace_where){
			.module = r->module, .symbol = symbol, .base = r->base, .epoch = open};
	}
	return best;
}

bool uftrace_session_resolve(struct uftrace_session *s, uint32_t epoch, uint64_t address,
			     struct uftrace_where *where)
{
	const struct symbols *symbols;
	size_t i;

	*where = (struct uftrace_where){0};
	if (s->map.kernel_base && address >= s->map.kernel_base) {
		where->kernel = true;
		symbols = uftrace_kernel_symbols(s->all);
		if (symbols)
			where->symbol = symbols_find(symbols, address);
		return where->symbol;
	}
	i = find_mapping(s, address);
	if (i < s->map.nr) {
		where->module = s->map_modules[i];
		where->base = symbol_base(s, s->map.maps[i].start);
		symbols = uftrace_module_symbols(s->all, s->map_modules[i]);
		if (symbols)
			where->symbol = symbols_find(symbols, address - where->base);
		if (where->symbol)
			return true;
	}
	return epoch && s->sess->nr_dlopens && resolve_dlopen(s, epoch, address, where);
}

/* --- task --- */

enum { COMM_MOST = 15 }; /* bytes that the kernel keeps of a name */

/* A longer chain of parents without a session is not a process tree. */
#define PARENTS_MAX 1000

struct uftrace_tasks *uftrace_tasks_new(void)
{
	return calloc(1, sizeof(struct uftrace_tasks));
}

void uftrace_tasks_free(struct uftrace_tasks *t)
{
	if (!t)
		return;
	free(t->events);
	free(t->sess);
	free(t->by_pid);
	free(t->by_sid);
	free(t->dlopens);
	free(t->tasks);
	idmap_free(&t->by_tid);
	free(t->refs);
	free(t->names);
	free(t);
}

static void uftrace_tasks_damage(struct uftrace_tasks *t, uint64_t offset, const char *what)
{
	if (!t->damaged++)
		error_set(t->e, t->file, offset, "%s", what);
}

static int uftrace_tasks_no_memory(struct uftrace_tasks *t)
{
	return error_set(t->e, t->file, NO_OFFSET, "out of memory");
}

/* Append an event. -1: out of memory. */
static int add_event(struct uftrace_tasks *t, const struct uftrace_task_event *ev)
{
	if (ARRAY_GROW(t->events, t->events_room, t->nr_events))
		return -1;
	t->events[t->nr_events++] = *ev;
	return 0;
}

/* Copy a name. There is room for every string of the file. */
static const char *uftrace_tasks_keep_name(struct uftrace_tasks *t, const char *name, size_t length)
{
	char *copy = t->names + t->names_used;

	memcpy(copy, name, length);
	copy[length] = 0;
	t->names_used += length + 1;
	return copy;
}

/* Begin: a file of that size is parsed. Returns 0, or -1. */
static int uftrace_tasks_begin(struct uftrace_tasks *t, size_t size, const char *file,
			       struct error *e)
{
	t->file = file;
	t->e = e;
	/* A line with a name is longer than the name and its NUL; so is a message. Sessions also
	 * need their threads' name. */
	t->names = malloc(2 * size + 1);
	return t->names ? 0 : uftrace_tasks_no_memory(t);
}

/* ---- sessions ---- */

static int compare_pids(const void *a, const void *b)
{
	const struct uftrace_sess *x = *(const struct uftrace_sess *const *)a;
	const struct uftrace_sess *y = *(const struct uftrace_sess *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int compare_sids(const void *a, const void *b)
{
	const struct uftrace_sess *x = *(const struct uftrace_sess *const *)a;
	const struct uftrace_sess *y = *(const struct uftrace_sess *const *)b;
	int c = strcmp(x->sid, y->sid);

	return c ? c : compare_pids(a, b);
}

/* Get the name that threads of a session have. */
static const char *session_comm_of(struct uftrace_tasks *t, const struct uftrace_sess *s)
{
	const char *name = basename(s->exename);
	char *copy = t->names + t->names_used;

	if (strcmp(s->sid, UFTRACE_CONVERTED_SID) != 0)
		return uftrace_tasks_keep_name(t, name, strnlen(name, COMM_MOST));
	uftrace_tasks_keep_name(t, name, strlen(name));
	copy[escape_undo(copy, strlen(copy), '\\')] = 0;
	return copy;
}

static int build_sessions(struct uftrace_tasks *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nr_events; i++)
		n += t->events[i].kind == UFTRACE_TASK_SESS;
	t->sess = calloc(n + 1, sizeof(*t->sess));
	t->by_pid = calloc(n + 1, sizeof(*t->by_pid));
	t->by_sid = calloc(n + 1, sizeof(*t->by_sid));
	if (!t->sess || !t->by_pid || !t->by_sid)
		return uftrace_tasks_no_memory(t);
	for (size_t i = 0; i < t->nr_events; i++) {
		const struct uftrace_task_event *ev = &t->events[i];
		struct uftrace_sess *s = &t->sess[t->nr_sess];

		if (ev->kind != UFTRACE_TASK_SESS)
			continue;
		s->id = t->nr_sess;
		s->time = ev->time;
		s->pid = ev->pid;
		s->exename = ev->name;
		memcpy(s->sid, ev->sid, sizeof(s->sid));
		s->comm = session_comm_of(t, s);
		t->by_pid[t->nr_sess] = t->by_sid[t->nr_sess] = s;
		t->nr_sess++;
	}
	qsort(t->by_pid, n, sizeof(*t->by_pid), compare_pids);
	qsort(t->by_sid, n, sizeof(*t->by_sid), compare_sids);
	for (size_t i = 0; i < n; i++) {
		const struct uftrace_sess *s = t->by_sid[i], *before = i ? t->by_sid[i - 1] : NULL;

		t->sess[s->id].same = before && !strcmp(s->sid, before->sid) ? before->same : s;
	}
	return 0;
}

/* Find the process' last session that began at `time` or before. */
static const struct uftrace_sess *find_session(const struct uftrace_tasks *t, int32_t pid,
					       uint64_t time)
{
	const struct uftrace_sess *const *all = t->by_pid;
	size_t n = BISECT(t->nr_sess, i,
			  all[i]->pid < pid || (all[i]->pid == pid && all[i]->time <= time));

	return n && all[n - 1]->pid == pid ? all[n - 1] : NULL;
}

static const struct uftrace_sess *find_sid(const struct uftrace_tasks *t, const char *sid)
{
	size_t low = BISECT(t->nr_sess, i, strcmp(t->by_sid[i]->sid, sid) < 0);

	return low < t->nr_sess && !strcmp(t->by_sid[low]->sid, sid) ? t->by_sid[low] : NULL;
}

/* Compare dlopens by session and time; of equal times in the order of the file, as their names are.
 */
static int compare_dlopens(const void *a, const void *b)
{
	const struct uftrace_dlopen *x = a, *y = b;

	if (x->sess != y->sess)
		return x->sess->id < y->sess->id ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->path > y->path) - (x->path < y->path);
}

static int build_dlopens(struct uftrace_tasks *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nr_events; i++)
		n += t->events[i].kind == UFTRACE_TASK_DLOP;
	t->dlopens = calloc(n + 1, sizeof(*t->dlopens));
	if (!t->dlopens)
		return uftrace_tasks_no_memory(t);
	n = 0;
	for (size_t i = 0; i < t->nr_events; i++) {
		const struct uftrace_task_event *ev = &t->events[i];
		const struct uftrace_sess *s;

		if (ev->kind != UFTRACE_TASK_DLOP)
			continue;
		s = find_sid(t, ev->sid);
		if (s)
			t->dlopens[n++] = (struct uftrace_dlopen){ev->time, ev->base, ev->name, s};
		else
			uftrace_tasks_damage(t, NO_OFFSET, "a library belongs to no session");
	}
	qsort(t->dlopens, n, sizeof(*t->dlopens), compare_dlopens);
	for (size_t i = 0; i < n; i++) {
		struct uftrace_sess *s = &t->sess[t->dlopens[i].sess->id];

		if (!s->nr_dlopens++)
			s->dlopens = &t->dlopens[i];
	}
	return 0;
}

/* ---- tasks ---- */

struct uftrace_task *uftrace_tasks_find(const struct uftrace_tasks *t, int32_t tid)
{
	uint32_t number = idmap_get(&t->by_tid, (uint32_t)tid);

	return number ? &t->tasks[number - 1] : NULL;
}

/* Add the task of a TASK or FORK line. NULL: out of memory. */
static struct uftrace_task *new_task(struct uftrace_tasks *t, const struct uftrace_task_event *ev)
{
	bool fork = ev->kind == UFTRACE_TASK_FORK;

	if (ARRAY_GROW(t->tasks, t->tasks_room, t->nr_tasks) ||
	    idmap_set(&t->by_tid, (uint32_t)ev->tid, (uint32_t)t->nr_tasks + 1))
		return NULL;
	t->tasks[t->nr_tasks] = (struct uftrace_task){.tid = ev->tid,
						      .pid = fork ? ev->tid : ev->pid,
						      .ppid = fork ? ev->pid : 0,
						      .comm = ""};
	return &t->tasks[t->nr_tasks++];
}

static int compare_refs(const void *a, const void *b)
{
	const struct uftrace_task_ref *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Collect the tasks and the references of TASK and FORK lines, in the order of the file: refs of a
 * task is its last one until they are sorted. Returns their number, -1 when out of memory. */
static ssize_t collect_refs(struct uftrace_tasks *t)
{
	uint32_t n = 0;

	for (size_t i = 0; i < t->nr_events; i++) {
		const struct uftrace_task_event *ev = &t->events[i];
		const struct uftrace_sess *s;
		struct uftrace_task *task, *leader;

		if (ev->kind != UFTRACE_TASK_TASK && ev->kind != UFTRACE_TASK_FORK)
			continue;
		s = find_session(t, ev->pid, ev->time);
		task = uftrace_tasks_find(t, ev->tid);
		if (!task) {
			task = new_task(t, ev);
			if (!task)
				return -1;
			leader = uftrace_tasks_find(t, ev->pid);
			if (!s && leader && leader->refs && leader->refs->start < ev->time)
				s = leader->refs->sess;
		}
		if (!s)
			continue;
		task->refs = &t->refs[n];
		t->refs[n] = (struct uftrace_task_ref){.start = ev->time,
						       .sess = s,
						       .task = (uint32_t)(task - t->tasks),
						       .order = n};
		n++;
	}
	return n;
}

static int build_tasks(struct uftrace_tasks *t)
{
	ssize_t n;

	t->refs = malloc((t->nr_events + 1) * sizeof(*t->refs));
	n = t->refs ? collect_refs(t) : -1;
	if (n < 0)
		return uftrace_tasks_no_memory(t);
	qsort(t->refs, (size_t)n, sizeof(*t->refs), compare_refs);
	for (ssize_t i = 0; i < n; i++) {
		struct uftrace_task *task = &t->tasks[t->refs[i].task];

		if (!task->nr_refs++)
			task->refs = &t->refs[i];
		task->comm = t->refs[i].sess->comm;
	}
	return 0;
}

/* Build the sessions and tasks at the end. Returns 0, 1 if the file is damaged, or -1. */
static int uftrace_tasks_build(struct uftrace_tasks *t)
{
	if (build_sessions(t) || build_dlopens(t) || build_tasks(t))
		return -1;
	return t->damaged ? 1 : 0;
}

/* ---- what callers see ---- */

const struct uftrace_sess *uftrace_session_at(const struct uftrace_tasks *t,
					      const struct uftrace_task *task, uint64_t time,
					      uint64_t *until)
{
	*until = UINT64_MAX;
	for (int i = 0; task && i < PARENTS_MAX; i++) {
		/* the last reference that began at the time or before, and the next one */
		size_t n = BISECT(task->nr_refs, k, task->refs[k].start <= time);
		int32_t parent = task->ppid ? task->ppid : task->pid;

		if (n < task->nr_refs && task->refs[n].start < *until)
			*until = task->refs[n].start;
		if (n)
			return task->refs[n - 1].sess;
		if (!parent || parent == task->tid)
			break;
		task = uftrace_tasks_find(t, parent);
	}
	return NULL;
}

/* --- parse sessions and tasks from the binary `task` of old versions --- */

/* Parse one message. Returns its bytes, 0 if nothing after it can be parsed (*what is why), -1 when
 * out of memory. */
static int64_t parse_message(struct uftrace_tasks *t, const uint8_t *p, size_t left, bool swap,
			     const char **what)
{
	struct uftrace_task_event ev = {.name = ""};
	size_t size = 24;
	uint16_t type;
	uint32_t length;

	*what = "file ends within a message";
	if (left < 8)
		return 0;
	if (uftrace_get16(p, swap) != UFTRACE_MSG_MAGIC) {
		*what = "message with a wrong magic";
		return 0;
	}
	type = uftrace_get16(p + 2, swap);
	length = uftrace_get32(p + 4, swap);
	if (type != UFTRACE_MSG_TASK && type != UFTRACE_MSG_FORK_END && type != UFTRACE_MSG_SESSION)
		return length > left - 8 ? 0 : 8 + (int64_t)length;
	if (left < size)
		return 0;
	ev.time = uftrace_get64(p + 8, swap);
	ev.pid = (int32_t)uftrace_get32(p + 16, swap);
	ev.tid = (int32_t)uftrace_get32(p + 20, swap);
	ev.kind = type == UFTRACE_MSG_TASK ? UFTRACE_TASK_TASK : UFTRACE_TASK_FORK;
	if (type == UFTRACE_MSG_SESSION) {
		ev.kind = UFTRACE_TASK_SESS;
		if (left < 48)
			return 0;
		memcpy(ev.sid, p + 24, UFTRACE_SID_SIZE);
		for (size_t i = 0; i < UFTRACE_SID_SIZE && ev.sid[i]; i++)
			if (!isalnum((unsigned char)ev.sid[i]))
				ev.sid[i] = 0;
		length = uftrace_get32(p + 44, swap);
		if (length > left - 48)
			return 0;
		ev.name = uftrace_tasks_keep_name(t, (const char *)p + 48, length);
		size = 48 + uftrace_align(length, 8);
		size = size < left ? size : left;
	}
	return add_event(t, &ev) ? -1 : (int64_t)size;
}

int uftrace_tasks_parse_binary(struct uftrace_tasks *t, const void *data, size_t size, bool swap,
			       const char *file, struct error *e)
{
	const uint8_t *p = data;

	if (uftrace_tasks_begin(t, size, file, e) < 0)
		return -1;
	for (uint64_t at = 0; at < size;) {
		const char *what;
		int64_t n = parse_message(t, p + at, size - at, swap, &what);

		if (n < 0)
			return uftrace_tasks_no_memory(t);
		if (!n) {
			uftrace_tasks_damage(t, at, what);
			break;
		}
		at += (uint64_t)n;
	}
	return uftrace_tasks_build(t);
}

/* --- parse sessions and tasks from task.txt --- */

/* Get the text after `key`, which must follow a blank; NULL if the line does not have it. */
static const char *session_value_of(const char *line, const char *end, const char *key)
{
	size_t n = strlen(key);
	const char *p = line;

	while ((p = memmem(p, end - p, key, n))) {
		if (p > line && p[-1] == ' ')
			return p + n;
		p += n;
	}
	return NULL;
}

static bool session_read_time(const char *line, const char *end, uint64_t *time)
{
	const char *p = session_value_of(line, end, "timestamp="), *point;
	uint64_t sec, nsec;

	if (!p)
		return false;
	point = span_digits(p, end, &sec);
	if (point == p || point == end || *point != '.' ||
	    span_digits(point + 1, end, &nsec) == point + 1 || nsec > 999999999 ||
	    sec > UINT64_MAX / 1000000000 - 1)
		return false;
	*time = sec * 1000000000 + nsec;
	return true;
}

static bool session_read_id(const char *line, const char *end, const char *key, int32_t *id)
{
	const char *p = session_value_of(line, end, key);
	uint64_t v;

	if (!p || span_digits(p, end, &v) == p || v > INT32_MAX)
		return false;
	*id = (int32_t)v;
	return true;
}

static bool read_sid(const char *line, const char *end, char *sid)
{
	const char *p = session_value_of(line, end, "sid=");
	size_t n = 0;

	while (p && p + n < end && p[n] != ' ' && n < UFTRACE_SID_SIZE) {
		/* it becomes part of a file's name */
		if (!isalnum((unsigned char)p[n]))
			return false;
		sid[n] = p[n];
		n++;
	}
	sid[n] = 0;
	return n;
}

static bool read_base(const char *line, const char *end, uint64_t *base)
{
	const char *p = session_value_of(line, end, "base="), *start = p;

	*base = 0;
	for (; p && p < end && isxdigit((unsigned char)*p) && p - start < 16; p++)
		*base = *base << 4 | (isdigit((unsigned char)*p) ? *p - '0' : (*p | 32) - 'a' + 10);
	return p > start;
}

/* Parse key="...", up to the last quote of the line: the name may contain quotes. */
static bool session_read_name(struct uftrace_tasks *t, const char *line, const char *end,
			      const char *key, const char **name)
{
	const char *p = session_value_of(line, end, key);
	const char *quote;

	if (!p || p == end || *p != '"')
		return false;
	p++;
	quote = memrchr(p, '"', end - p);
	if (!quote)
		return false;
	*name = uftrace_tasks_keep_name(t, p, quote - p);
	return true;
}

/* Returns 1, 0 if the line is damaged, -1 when out of memory. */
static int task_text_parse_line(struct uftrace_tasks *t, const char *line, const char *end)
{
	struct uftrace_task_event ev = {.name = ""};
	bool good;

	if (end - line < 5 || line[4] != ' ')
		return 1;
	if (!memcmp(line, "TASK", 4)) {
		ev.kind = UFTRACE_TASK_TASK;
		good = session_read_id(line, end, "tid=", &ev.tid) &&
		       session_read_id(line, end, "pid=", &ev.pid);
	} else if (!memcmp(line, "FORK", 4)) {
		ev.kind = UFTRACE_TASK_FORK;
		good = session_read_id(line, end, "pid=", &ev.tid) &&
		       session_read_id(line, end, "ppid=", &ev.pid);
	} else if (!memcmp(line, "SESS", 4)) {
		ev.kind = UFTRACE_TASK_SESS;
		good = (session_read_id(line, end, "pid=", &ev.pid) ||
			session_read_id(line, end, "tid=", &ev.pid)) &&
		       read_sid(line, end, ev.sid) &&
		       session_read_name(t, line, end, "exename=", &ev.name);
		ev.tid = ev.pid;
	} else if (!memcmp(line, "DLOP", 4)) {
		ev.kind = UFTRACE_TASK_DLOP;
		good = session_read_id(line, end, "tid=", &ev.tid) && read_sid(line, end, ev.sid) &&
		       read_base(line, end, &ev.base) &&
		       session_read_name(t, line, end, "libname=", &ev.name);
	} else {
		return 1;
	}
	if (!good || !session_read_time(line, end, &ev.time))
		return 0;
	return add_event(t, &ev) ? -1 : 1;
}

int uftrace_tasks_parse_text(struct uftrace_tasks *t, const char *text, size_t size,
			     const char *file, struct error *e)
{
	if (uftrace_tasks_begin(t, size, file, e) < 0)
		return -1;
	for (struct lines l = lines_of(text, size); lines_next(&l);) {
		int r = l.whole ? task_text_parse_line(t, l.line, l.line + l.size) : 0;

		if (r < 0)
			return uftrace_tasks_no_memory(t);
		if (!r)
			uftrace_tasks_damage(t, l.line - text,
					     l.whole ? "unreadable line"
						     : "file ends within a line");
	}
	return uftrace_tasks_build(t);
}

/* --- declare a session in the stream: its text files, and its modules --- */

enum { META_LIMIT = 1 << 30 };

static bool uftrace_ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), k = strlen(ending);

	return n >= k && !strcmp(name + n - k, ending);
}

/* Test whether the member is a description of the events. TID.dat, perf and kernel data are the
 * events. */
static bool uftrace_is_meta(const char *name)
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
		if (uftrace_ends_with(name, endings[i]))
			return true;
	return false;
}

/* Test whether a table of symbols is shorter than its head records (a few lines at its end are
 * not counted). */
static bool uftrace_lacks_symbols(const char *data, size_t size)
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
	bool symbols = uftrace_ends_with(name, ".sym");
	const char *what = NULL;

	if (!symbols && !uftrace_ends_with(name, ".map") && !uftrace_ends_with(name, ".dbg"))
		return;
	if (!size)
		what = "the file is empty";
	else if (data[size - 1] != '\n')
		what = "the file ends inside of a line";
	else if (symbols && uftrace_lacks_symbols(data, size))
		what = "the file ends before its last symbol";
	if (what)
		uftrace_damage(u, name, size, what);
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

		if (!uftrace_is_meta(name))
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

/* Declare the mapping of a module: e has its space, addresses, time and epoch. */
static int uftrace_declare_map(struct uftrace *u, struct map_entry e,
			       const struct uftrace_module *m)
{
	/* ancient tables contain absolute addresses */
	bool relative = u->info.feat_mask & UFTRACE_FEAT_SYM_REL_ADDR;

	e.offset = relative ? 0 : e.start;
	e.path = writer_text(u->w, m->path);
	e.build_id = writer_text(u->w, m->build_id);
	e.table = writer_text(u->w, m->sym_name);
	return writer_map(u->w, &e);
}

/* Declare the address space of a session, with its modules and the libraries it loads later. */
static int uftrace_declare_space(struct uftrace *u, const struct uftrace_sess *sess,
				 struct error *e)
{
	struct uftrace_session *s = uftrace_session_get(u->sessions, sess);
	struct space_entry entry = {
		.source = u->ids.source, .name = writer_text(u->w, sess->sid), .pid = sess->pid};
	struct error damage;
	uint32_t space;

	if (!s)
		return error_no_memory(e);
	space = u->ids.spaces[sess->id] = writer_space(u->w, &entry);
	for (size_t i = 0; i < s->map.nr; i++)
		if (uftrace_declare_map(u,
					(struct map_entry){.space = space,
							   .start = s->map.maps[i].start,
							   .end = s->map.maps[i].end},
					s->map_modules[i]))
			return -1;
	for (size_t i = 0; i < s->sess->nr_dlopens; i++) {
		const struct uftrace_dlopen *d = &s->sess->dlopens[i];

		if (uftrace_declare_map(u,
					(struct map_entry){.space = space,
							   .start = d->base,
							   .time = shifted(u, d->time),
							   .epoch = (uint32_t)i + 1},
					s->dlopen_modules[i]))
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
	size_t nsess = u->tasks->nr_sess;

	u->ids.source = writer_source(
		w, &(struct source_entry){writer_text(w, "uftrace"), writer_text(w, in->name),
					  u->info.is_32bit ? 4 : 8, u->info.big_endian});
	u->ids.clock = input_declare_clock(in, !strcmp(in->clock_name, "wall"));
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
	if (!u->ids.spaces)
		return error_no_memory(e);
	for (size_t i = 0; i < nsess; i++) {
		const struct uftrace_sess *sess = &u->tasks->sess[i];

		if (sess->same == sess && uftrace_declare_space(u, sess, e))
			return -1;
	}
	for (size_t i = 0; i < u->ntasks; i++) {
		struct task_reader *t = &u->task_readers[i];
		const char *comm = "";

		if (t->task)
			comm = t->task->nr_refs ? t->task->refs[0].sess->comm : t->task->comm;
		if (uftrace_rename(u, t, comm, strlen(comm)))
			return -1;
	}
	return w->out_of_memory ? -1 : 0;
}
