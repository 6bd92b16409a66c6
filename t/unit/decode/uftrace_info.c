/* links: cmd/trdecode */
/* The info file of uftrace: all its fields, and one that is cut. */
#include "t/unit/uftrace_dir.h"

static const char full[] = "exename:/bin/true\n"
			   "build_id:1234\n"
			   "exit_status:1792\n"
			   "cmdline:uftrace record true \n"
			   "cpuinfo:lines=2\n"
			   "cpuinfo:nr_cpus=2 / 4 (online/possible)\n"
			   "cpuinfo:desc=ARMv7 something\n"
			   "meminfo:20.5 / 23.5 GB (free / total)\n"
			   "osinfo:lines=3\n"
			   "osinfo:kernel=Linux 6\n"
			   "osinfo:hostname=vm\n"
			   "osinfo:distro=\"Debian\"\n"
			   "taskinfo:lines=2\n"
			   "taskinfo:nr_tid=3\n"
			   "taskinfo:tids=7,8,100\n"
			   "usageinfo:lines=6\n"
			   "usageinfo:systime=0.1\n"
			   "usageinfo:usrtime=0.2\n"
			   "usageinfo:ctxsw=1 / 6 (voluntary / involuntary)\n"
			   "usageinfo:maxrss=8392\n"
			   "usageinfo:pagefault=0 / 921 (major / minor)\n"
			   "usageinfo:iops=0 / 96 (read / write)\n"
			   "loadinfo:1.44 / 1.22 / 0.64\n"
			   "argspec:lines=6\n"
			   "argspec:main@arg1\n"
			   "retspec:main@retval\n"
			   "argauto:puts@arg1/s\n"
			   "retauto:getenv@retval/s\n"
			   "enumauto:enum e {A}\n"
			   "auto-args:1\n"
			   "record_date:Sat Nov 21\n"
			   "elapsed_time:0.5 sec\n"
			   "pattern_type:glob\n"
			   "uftrace_version:v0.19\n"
			   "utc_offset:-5\n"
			   "sysctl:perf_event_paranoid=2\n";

#define ALL ((1ull << UFTRACE_INFO_BITS) - 1)

static int parse(struct uftrace_info *info, uint64_t mask, const char *text, struct error *e)
{
	size_t size;
	void *data = info_bytes(UFTRACE_FEAT_MAX_STACK, mask, text, &size);

	return uftrace_info_parse(info, data, size, "x/info", e);
}

static void test_full(void)
{
	struct uftrace_info info;
	struct error e;

	is_u64(parse(&info, ALL, full, &e), 0, "all entries");
	is_u64(info.have, ALL, "none is missing");
	is_str(info.exename, "/bin/true", "exename");
	is_u64(info.exit_status, 1792, "exit status");
	is_str(info.cmdline, "uftrace record true ", "cmdline");
	is_str(info.lines.nr_cpus, "2 / 4 (online/possible)", "cpus");
	ok(info.arch == UFTRACE_ARCH_ARM, "architecture");
	is_str(info.lines.os_distro, "\"Debian\"", "distribution");
	is_u64(info.nr_tids, 3, "tasks");
	ok(info.nr_tids == 3 && info.tids[0] == 7 && info.tids[2] == 100, "their numbers");
	is_str(info.lines.iops, "0 / 96 (read / write)", "usage");
	is_str(info.argspec, "main@arg1", "argspec");
	is_str(info.retauto, "getenv@retval/s", "retauto");
	ok(info.auto_args, "auto-args");
	is_str(info.lines.elapsed_time, "0.5 sec", "elapsed time");
	ok(info.pattern == UFTRACE_PATTERN_GLOB, "pattern type");
	ok(info.utc_offset == -5, "offset to UTC");
	is_u64(info.max_stack, 77, "stack size");
	is_u64(info.raw_size, UFTRACE_HEADER_SIZE + strlen(full), "the file is kept");
	uftrace_info_free(&info);
}

/* Every prefix of the file must parse, and be known as cut. */
static void test_cut(void)
{
	struct uftrace_info info;
	struct error e;
	size_t size;
	int good = 0, bad = 0, tids = 0;

	for (size_t n = 0; n < UFTRACE_HEADER_SIZE + strlen(full); n++) {
		void *data = info_bytes(0, ALL, full, &size);
		int r = uftrace_info_parse(&info, data, n, "info", &e);

		good += r == 0;
		bad += r < 0 && n >= UFTRACE_HEADER_SIZE;
		for (size_t i = 0; i < info.nr_tids; i++)
			tids += info.tids[i] != 7 && info.tids[i] != 8 && info.tids[i] != 100;
		uftrace_info_free(&info);
	}
	is_u64(good, 0, "no cut file passes for whole");
	is_u64(bad, 0, "all with a header can be used");
	is_u64(tids, 0, "a number that was cut is not taken");
}

static void test_odd(void)
{
	struct uftrace_info info;
	struct error e;
	uint8_t *data;
	size_t size;

	is_u64(parse(&info, 1ull << UFTRACE_INFO_ARG_SPEC, "argspec:f@arg1\n", &e), 0,
	       "the oldest form of argspec");
	is_str(info.argspec, "f@arg1", "its text");
	uftrace_info_free(&info);

	is_u64(parse(&info, 1 | 1ull << 40, "exename:a\nfuture:b\n", &e), 0,
	       "entries of the future are skipped");
	uftrace_info_free(&info);

	is_u64(parse(&info, 1, "exename:a\ncmdline:b\n", &e), 1,
	       "an entry not announced is damage");
	is_str(e.file, "x/info", "the message names the file");
	uftrace_info_free(&info);

	is_u64(parse(&info, 1ull << UFTRACE_INFO_TASKINFO,
		     "taskinfo:lines=2\ntaskinfo:nr_tid=2\ntaskinfo:tids=1\n", &e),
	       1, "a wrong number of tasks is damage");
	is_u64(info.nr_tids, 1, "the tasks are there");
	uftrace_info_free(&info);

	data = info_bytes(0, 0, "", &size);
	data[UFTRACE_HDR_VERSION] = data[UFTRACE_HDR_VERSION + 3] = 9;
	ok(uftrace_info_parse(&info, data, size, "info", &e) == -1, "version 9 is refused");
	uftrace_info_free(&info);

	data = info_bytes(0, 0, "", &size);
	data[UFTRACE_HDR_ENDIAN] ^= 3;
	for (size_t i = 0; i < 2; i++) {
		uint8_t c = data[UFTRACE_HDR_VERSION + i];

		data[UFTRACE_HDR_VERSION + i] = data[UFTRACE_HDR_VERSION + 3 - i];
		data[UFTRACE_HDR_VERSION + 3 - i] = c;
	}
	is_u64(uftrace_info_parse(&info, data, size, "info", &e), 0, "foreign byte order");
	ok(info.swap && info.version == UFTRACE_VERSION, "is undone");
	is_u64(info.max_stack, UFTRACE_MAX_STACK, "stack size where there is none");
	uftrace_info_free(&info);
}

int main(void)
{
	test_full();
	test_cut();
	test_odd();
	return done();
}
