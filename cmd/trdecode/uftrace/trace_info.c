/*
 * trace_info.c - print a uftrace directory's properties for --info
 */
#include "cmd/trdecode/uftrace/uftrace.h"

#include <stdio.h>
#include <unistd.h>

static void add_exit_status(struct trace_info *f, const struct uftrace_info *info)
{
	char text[64];
	int status = info->exit_status;

	if (!uftrace_info_has(info, UFTRACE_INFO_EXIT_STATUS))
		return;
	if (status == 65536)
		snprintf(text, sizeof(text), "stopped by a finish trigger");
	else if (status & 0x7f)
		snprintf(text, sizeof(text), "signal %d", status & 0x7f);
	else
		snprintf(text, sizeof(text), "%d", status >> 8 & 0xff);
	fact_text(f, "exit status", text);
}

static void add_features(struct trace_info *f, const struct uftrace_info *info)
{
	static const char *const names[] = {
		"plthook",	"task-session",	   "kernel",   "argument",   "retval",
		"sym-rel-addr", "max-stack",	   "event",    "perf-event", "auto-args",
		"debug-info",	"estimate-return", "sym-size", "callsite"};
	char text[256] = "";
	size_t n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (info->feat_mask >> i & 1)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "",
					      names[i]);
	fact_text(f, "features", text);
}

static void add_data_sizes(struct uftrace *u, struct trace_info *f)
{
	const struct tree *tree = u->input->tree;
	uint64_t bytes = 0, files = 0, kernel = 0;
	int32_t tid;

	for (size_t i = 0; i < tree_count(tree); i++) {
		kernel += !strncmp(tree_member(tree, i), "kernel-cpu", 10);
		if (!uftrace_is_task_file(tree_member(tree, i), &tid))
			continue;
		files++;
		bytes += tree_size(tree, tree_member(tree, i));
	}
	fact_number(f, "task files", files);
	fact_number(f, "task file bytes", bytes);
	if (kernel)
		fact_number(f, "kernel data files", kernel);
}

int uftrace_trace_info(struct input *in, struct trace_info *f, struct error *e)
{
	struct uftrace *u = in->state;
	const struct uftrace_info *i = &u->info;

	(void)e;
	fact_text(f, "format", "uftrace");
	fact_number(f, "version", i->version);
	fact_text(f, "byte order", i->big_endian ? "big-endian" : "little-endian");
	fact_number(f, "word size", i->is_32bit ? 4 : 8);
	add_features(f, i);
	fact_number(f, "max stack", i->max_stack);
	fact_text(f, "clock", in->clock_name);
	fact_text(f, "utc offset", i->lines.utc_offset_text);
	fact_text(f, "program", i->exename);
	fact_text(f, "build id", i->lines.build_id);
	fact_text(f, "command line", i->cmdline);
	add_exit_status(f, i);
	fact_text(f, "recorded by", i->lines.uftrace_version);
	fact_text(f, "recorded on", i->lines.record_date);
	fact_text(f, "elapsed time", i->lines.elapsed_time);
	fact_text(f, "system time", i->lines.systime);
	fact_text(f, "user time", i->lines.usrtime);
	fact_text(f, "context switches", i->lines.ctxsw);
	fact_text(f, "max rss", i->lines.maxrss);
	fact_text(f, "page faults", i->lines.pagefault);
	fact_text(f, "block operations", i->lines.iops);
	fact_text(f, "cpus", i->lines.nr_cpus);
	fact_text(f, "cpu", i->lines.cpu_desc);
	fact_text(f, "memory", i->lines.meminfo);
	fact_text(f, "load", i->lines.loadinfo);
	fact_text(f, "kernel", i->lines.os_kernel);
	fact_text(f, "host", i->lines.os_hostname);
	fact_text(f, "distribution", i->lines.os_distro);
	fact_text(f, "sysctl", i->lines.sysctl);
	fact_text(f, "argument specs", i->argspec);
	fact_text(f, "return specs", i->retspec);
	fact_number(f, "tasks", u->ntasks);
	fact_number(f, "sessions", uftrace_tasks_nr_sess(u->tasks));
	add_data_sizes(u, f);
	return 0;
}
