#include "cmd/trdecode/uftrace/info.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/lines.h"

/* The known lines "key:text"; groups start with "key:lines=N" and have N lines "key:name=text". */
static const struct line_key {
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

static int parse_header(struct uftrace_info *info, const uint8_t *p, size_t size, const char *file,
			struct error *e)
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

/* Returns the bit whose entry the line belongs to, -1 if unknown, -2 when out of memory. */
static int parse_line(struct parse *p, const char *line, uint64_t offset, bool cut)
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
	if (parse_header(info, data, size, file, e) < 0)
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
			bit = parse_line(&p, l.line, offset, !l.whole);
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
