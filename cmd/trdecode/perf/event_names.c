/*
 * event_names.c - names of events that the file does not name, as perf prints them
 *
 * Facts: tools/perf/util/evsel.c of Linux.
 */
#include "cmd/trdecode/perf/perf.h"

#include <inttypes.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

static const char *const cache_names[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
					  "iTLB",      "branch",    "node"};
static const char *const cache_actions[] = {"load", "store", "prefetch"};

/* Append "-loads" or "-load-misses". */
static void name_cache(char *name, size_t n, uint64_t config)
{
	uint64_t cache = config & 0xff, action = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= COUNT(cache_names) || action >= COUNT(cache_actions) || result > 1)
		snprintf(name, n, "cache 0x%" PRIx64, config);
	else
		snprintf(name, n, "%s-%s%s", cache_names[cache], cache_actions[action],
			 result	       ? "-misses"
			 : action == 2 ? "es"
				       : "s");
}

static void name_base(const struct perf_attr *a, char *name, size_t n)
{
	uint64_t number = a->config & 0xffffffff;

	if (a->kind == PERF_TYPE_HARDWARE && number < COUNT(hardware_names))
		snprintf(name, n, "%s", hardware_names[number]);
	else if (a->kind == PERF_TYPE_SOFTWARE && a->config < COUNT(software_names))
		snprintf(name, n, "%s", software_names[a->config]);
	else if (a->kind == PERF_TYPE_CACHE)
		name_cache(name, n, a->config);
	else if (a->kind == PERF_TYPE_TRACEPOINT)
		snprintf(name, n, "tracepoint:%" PRIu64, a->config);
	else if (a->kind == PERF_TYPE_BREAKPOINT)
		snprintf(name, n, "breakpoint");
	else if (a->kind == PERF_TYPE_RAW)
		snprintf(name, n, "raw 0x%" PRIx64, a->config);
	else
		snprintf(name, n, "pmu-%u/config=0x%" PRIx64 "/", a->kind, a->config);
}

/* Append what the event does not count: ":u", ":ppp", ":H". */
static void name_modifiers(const struct perf_attr *a, char *name, size_t n)
{
	bool kernel = perf_flag(a, PERF_FLAG_EXCLUDE_KERNEL),
	     user = perf_flag(a, PERF_FLAG_EXCLUDE_USER), hv = perf_flag(a, PERF_FLAG_EXCLUDE_HV),
	     host = perf_flag(a, PERF_FLAG_EXCLUDE_HOST),
	     guest = perf_flag(a, PERF_FLAG_EXCLUDE_GUEST);
	unsigned precise = a->flags >> PERF_FLAG_PRECISE & 3;
	bool some = kernel || user || hv, usual = some || precise;
	char text[16] = "";

	if (some)
		snprintf(text, sizeof text, "%s%s%s", kernel ? "" : "k", user ? "" : "u",
			 hv ? "" : "h");
	strncat(text, &"ppp"[3 - precise], 4);
	if (host || guest == usual) {
		strncat(text, host ? "" : "H", 2);
		strncat(text, guest ? "" : "G", 2);
	}
	if (*text)
		snprintf(name + strlen(name), n - strlen(name), ":%s", text);
}

int perf_attrs_name(struct perf *p)
{
	char name[128];

	for (size_t i = 0; i < p->nattrs; i++) {
		struct perf_attr *a = &p->attrs[i];

		if (a->name || a->tracepoint)
			continue;
		name_base(a, name, sizeof name);
		if (a->kind == PERF_TYPE_HARDWARE || a->kind == PERF_TYPE_SOFTWARE ||
		    a->kind == PERF_TYPE_RAW)
			name_modifiers(a, name, sizeof name);
		a->name = strdup(name);
		if (!a->name)
			return -1;
	}
	return 0;
}
