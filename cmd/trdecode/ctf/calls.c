/*
 * calls.c - events with a meaning to the decoder: enters and leaves of calls, switches between
 * threads, mappings of a process
 *
 * Sources: names and fields of lttng-modules 2.0 to 2.13 (instrumentation/syscalls, probes/) and of
 * lttng-ust 2.0 to 2.13 (liblttng-ust-cyg-profile, lttng-ust-statedump).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/ctf/ctf.h"
#include "common/stream/field.h"
#include "common/formats/softirqs.h"

enum { CPUS_MOST = 1 << 16 };

static const struct {
	const char *name;
	bool prefix; /* the rest of the event's name is the call's name */
	enum type_kind kind;
	enum ctf_call_kind call;
	bool per_cpu;
	enum ctf_action action;
} events[] = {
	{"syscall_entry_", true, KIND_ENTER, CALL_NAMED, false, CTF_NO_ACTION},
	{"syscall_exit_", true, KIND_LEAVE, CALL_NAMED, false, CTF_NO_ACTION},
	{"compat_syscall_entry_", true, KIND_ENTER, CALL_NAMED, false, CTF_NO_ACTION},
	{"compat_syscall_exit_", true, KIND_LEAVE, CALL_NAMED, false, CTF_NO_ACTION},
	{"irq_handler_entry", false, KIND_ENTER, CALL_IRQ, true, CTF_NO_ACTION},
	{"irq_handler_exit", false, KIND_LEAVE, CALL_IRQ, true, CTF_NO_ACTION},
	{"irq_softirq_entry", false, KIND_ENTER, CALL_SOFTIRQ, true, CTF_NO_ACTION},
	{"irq_softirq_exit", false, KIND_LEAVE, CALL_SOFTIRQ, true, CTF_NO_ACTION},
	{"lttng_ust_cyg_profile:func_entry", false, KIND_ENTER, CALL_ADDRESS, false, CTF_NO_ACTION},
	{"lttng_ust_cyg_profile:func_exit", false, KIND_LEAVE, CALL_ADDRESS, false, CTF_NO_ACTION},
	{"sched_switch", false, KIND_INSTANT, CALL_NONE, false, CTF_SWITCH},
	{"lttng_ust_statedump:bin_info", false, KIND_INSTANT, CALL_NONE, false, CTF_BIN_INFO},
};

static const struct {
	const char *uri;
	enum type_kind kind;
} own[] = {
	{"urn:trutils:enter", KIND_ENTER},
	{"urn:trutils:leave", KIND_LEAVE},
	{"urn:trutils:instant", KIND_INSTANT},
	{"urn:trutils:gap", KIND_GAP},
};

/* Test whether a URI of trencode has a flag, which the group does not contain. */
static bool has_flag(const char *uri, const char *flag)
{
	const char *at = strstr(uri, flag);

	return at && at < strchrnul(uri, '#');
}

const char *ctf_calls_group(const struct ctf_class *c)
{
	const char *uri = c->declared->uri, *group = NULL;

	if (uri && !strncmp(uri, "urn:trutils:", 12))
		group = strchr(uri, '#');
	return group ? group + 1 : NULL;
}

void ctf_calls_classify(struct ctf_class *c)
{
	const char *name = c->declared->name, *uri = c->declared->uri;

	for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
		size_t n = strlen(events[i].name);

		if (events[i].prefix ? strncmp(name, events[i].name, n) || !name[n]
				     : strcmp(name, events[i].name))
			continue;
		c->kind = events[i].kind;
		c->call.kind = events[i].call;
		c->per_cpu = events[i].per_cpu;
		c->action = events[i].action;
	}
	c->string = c->call.arguments = CTF_NO_STRING;
	/* fields of an event that trencode wrote */
	for (size_t i = 0; uri && i < sizeof own / sizeof *own; i++)
		if (!strncmp(uri, own[i].uri, strlen(own[i].uri))) {
			c->kind = own[i].kind;
			c->per_cpu = has_flag(uri, ":per-cpu");
			c->inner = has_flag(uri, ":inner");
			c->of_kernel = has_flag(uri, ":kernel");
			c->numbered = own[i].kind != KIND_INSTANT && has_flag(uri, ":numbered");
			c->call.kind = own[i].kind == KIND_GAP ? CALL_GAP : CALL_TEXT;
			c->action = CTF_NO_ACTION;
		}
}

void ctf_calls_gap(const struct ctf_class *c, const uint8_t *fixed, const struct buffer *tail,
		   struct gap *gap)
{
	const char *texts[4] = {"", "", "", ""}; /* reason, unit, message, file */

	for (uint32_t i = 0; i < 4; i++) {
		size_t size;
		const char *text = ctf_calls_string(tail, c->string + i, &size);

		texts[i] = text ? text : "";
	}
	*gap = (struct gap){.reason = GAP_UNREAD,
			    .count = ctf_spot(fixed, c->argument[0]),
			    .offset = ctf_spot(fixed, c->argument[1]),
			    .message = texts[2],
			    .file = texts[3]};
	for (enum gap_reason reason = GAP_LOST; reason < GAP_UNREAD; reason++)
		if (!strcmp(texts[0], gap_reason_name(reason)))
			gap->reason = reason;
	for (enum gap_unit unit = GAP_EVENTS; unit <= GAP_PACKETS; unit++)
		if (!strcmp(texts[1], gap_unit_name(unit)))
			gap->unit = unit;
}

const char *ctf_calls_string(const struct buffer *tail, uint32_t n, size_t *size)
{
	const char *p = (const char *)tail->data, *end = p + tail->size;

	for (; p < end; p += strlen(p) + 1)
		if (!n--) {
			*size = strlen(p);
			return p;
		}
	return NULL;
}

/* --- locations --- */

/* Declare the location of a call that has a name and no address. */
static uint32_t named_location(struct ctf *ctf, const char *name, size_t n)
{
	struct {
		char kind;
		uint32_t name;
	} key = {0};
	uint32_t *id;

	key.kind = 'n';
	key.name = writer_string(ctf->w, name, n);
	id = id_cache_number(&ctf->declared, &key, sizeof key);
	if (!id)
		return 0;
	if (!*id)
		*id = writer_location(ctf->w, &(struct location_entry){.name = key.name});
	return *id;
}

/* Declare the address space of a process (-1: unknown), or of the kernel. */
static uint32_t space_of(struct ctf_trace *t, int32_t pid)
{
	struct {
		char kind;
		uint32_t source;
		int32_t pid;
	} key = {0};
	struct space_entry space = {.source = t->source, .pid = pid};
	struct map_entry kernel = {.end = UINT64_MAX};
	uint32_t *id;

	key.kind = 's';
	key.source = t->source;
	key.pid = pid;
	id = id_cache_number(&t->ctf->declared, &key, sizeof key);
	if (!id)
		return 0;
	if (*id)
		return *id;
	if (pid == CTF_KERNEL_PID)
		space = (struct space_entry){.source = t->source,
					     .name = writer_text(t->ctf->w, "kernel"),
					     .flags = SPACE_KERNEL};
	*id = writer_space(t->ctf->w, &space);
	kernel.space = *id;
	kernel.path = writer_text(t->ctf->w, "[kernel]");
	return pid != CTF_KERNEL_PID || !*id || !writer_map(t->ctf->w, &kernel) ? *id : 0;
}

uint32_t ctf_calls_address(struct ctf_trace *t, int32_t pid, uint64_t address)
{
	struct {
		char kind;
		uint32_t space;
		uint64_t address;
	} key = {0};
	uint32_t *id;

	key.kind = 'a';
	key.space = space_of(t, pid);
	key.address = address;
	id = key.space ? id_cache_number(&t->ctf->declared, &key, sizeof key) : NULL;
	if (!id)
		return 0;
	if (!*id)
		*id = writer_location(t->ctf->w, &(struct location_entry){.space = key.space,
									  .address = address});
	return *id;
}

const char *ctf_calls_name(const struct ctf_class *c)
{
	const char *at = strstr(c->declared->name, c->kind == KIND_ENTER ? "_entry_" : "_exit_");

	return strchr(at + 1, '_') + 1;
}

uint32_t ctf_calls_location(struct ctf_class *c, const struct ctf_file *f, const uint8_t *fixed,
			    const struct buffer *tail)
{
	const char *at = c->declared->name;
	char name[32];
	size_t size = 0;
	uint64_t n;

	if (c->call.kind == CALL_TEXT) {
		at = ctf_calls_string(tail, c->string, &size);
		return ctf_arguments_location(f->trace->ctf,
					      writer_string(f->trace->ctf->w, at ? at : "", size));
	}
	if (c->call.kind == CALL_NAMED) {
		if (!c->location) {
			at = ctf_calls_name(c);
			c->location = named_location(f->trace->ctf, at, strlen(at));
		}
		return c->location;
	}
	n = ctf_spot(fixed, c->call.location);
	if (c->call.kind == CALL_ADDRESS)
		return ctf_calls_address(f->trace, f->thread.pid, n);
	if (c->call.kind == CALL_SOFTIRQ && softirq_name(n))
		snprintf(name, sizeof name, "softirq %s", softirq_name(n));
	else
		snprintf(name, sizeof name, "%s %" PRIu64,
			 c->call.kind == CALL_IRQ ? "irq" : "softirq", n);
	return named_location(f->trace->ctf, name, strlen(name));
}

/* --- threads and mappings --- */

struct ctf_cpu *ctf_calls_cpu(struct ctf_trace *t, int32_t cpu)
{
	struct ctf_cpu *cpus = t->cpus;
	size_t had = t->ncpus;

	if (cpu < 0 || cpu >= CPUS_MOST)
		return NULL;
	if ((size_t)cpu >= t->ncpus) {
		if (ARRAY_GROW(t->cpus, t->cpus_capacity, (size_t)cpu))
			return NULL;
		cpus = t->cpus;
		t->ncpus = (size_t)cpu + 1;
		for (size_t i = had; i < t->ncpus; i++)
			cpus[i] = (struct ctf_cpu){.cpu = (int32_t)i, .tid = -1};
	}
	return &cpus[cpu];
}

static int take_file(struct ctf_class *c, struct ctf_file *f, const uint8_t *fixed,
		     const struct buffer *tail)
{
	struct ctf_trace *t = f->trace;
	struct map_entry map = {.start = ctf_spot(fixed, c->argument[0])};
	uint64_t size = ctf_spot(fixed, c->argument[1]);
	size_t n = 0;
	const char *path = ctf_calls_string(tail, c->string, &n);

	if (!path || !n || __builtin_add_overflow(map.start, size, &map.end))
		return 0;
	map.space = space_of(t, f->thread.pid);
	map.path = writer_string(t->ctf->w, path, n);
	return map.space ? writer_map(t->ctf->w, &map) : -1;
}

/* Record the thread that runs on the CPU from now on. */
static void take_switch(const struct ctf_class *c, const struct ctf_file *f, const uint8_t *fixed,
			const struct buffer *tail)
{
	const struct ctf_cursor *at = &f->cursor;
	struct ctf_cpu *cpu = ctf_calls_cpu(f->trace, f->packet.cpu);
	const uint8_t *comm = at->next_comm;
	size_t n = comm ? at->next_comm_size : 0;

	if (!cpu || (!c->plain && !ctf_seen(at, CTF_NEXT_TID)))
		return;
	cpu->tid = c->plain ? ctf_id_number(ctf_spot(fixed, c->argument[0]))
			    : ctf_id_read(at, CTF_NEXT_TID);
	if (c->plain && c->argument[1].at >= 0) {
		comm = fixed + c->argument[1].at;
		n = strnlen((const char *)comm, c->argument[1].size);
	} else if (c->plain) {
		n = 0;
		comm = c->string == CTF_NO_STRING
			       ? NULL
			       : (const uint8_t *)ctf_calls_string(tail, c->string, &n);
	}
	cpu->comm_size = n < sizeof cpu->comm ? n : sizeof cpu->comm;
	if (comm)
		memcpy(cpu->comm, comm, cpu->comm_size);
}

int ctf_calls_after(struct ctf_class *c, struct ctf_file *f, const uint8_t *fixed,
		    const struct buffer *tail)
{
	if (c->action == CTF_BIN_INFO)
		return take_file(c, f, fixed, tail);
	take_switch(c, f, fixed, tail);
	return 0;
}
