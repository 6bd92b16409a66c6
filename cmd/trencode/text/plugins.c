/*
 * plugins.c - the texts that the plug-ins of libtraceevent make of events, in place of print fmt
 *
 *     sched_switch: prev:1 [120] S ==> next:2 [120]
 */
#include "cmd/trencode/text/plugins.h"

#include <stdlib.h>

#include "cmd/trencode/encoder.h"

struct plugin {
	const char *system, *name;
	bool (*text)(const struct plugin_event *e, struct print_line *out);
	const char *fields[PLUGIN_FIELDS + 1];
};

/* --- access to fields --- */

/* Read a number as the plug-ins do: without its sign. Returns false if the type does not have the
 * field, or if it is no number of the record. */
static bool plugin_number(const struct plugin_event *e, unsigned field, uint64_t *v)
{
	const struct event_field *f = e->type->field[field];

	return f && (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8) &&
	       record_number(f, e->ev, v);
}

static const char *plugin_field_name(const struct plugin_event *e, unsigned field)
{
	return e->type->plugin->fields[field];
}

/* Append "<CANT FIND FIELD NAME>". */
static void plugin_put_missing(const struct plugin_event *e, unsigned field, struct print_line *out)
{
	line_puts(out, "<CANT FIND FIELD ");
	line_puts(out, plugin_field_name(e, field));
	line_char(out, '>');
}

/* Read a number, or append what is wrong. */
static bool plugin_require(const struct plugin_event *e, unsigned field, uint64_t *v,
			   struct print_line *out)
{
	if (plugin_number(e, field, v))
		return true;
	if (!e->type->field[field]) {
		plugin_put_missing(e, field, out);
		return false;
	}
	line_char(out, ' ');
	line_puts(out, plugin_field_name(e, field));
	line_puts(out, "=INVALID");
	return false;
}

/* Append the text before a number and the number, 'u' unsigned, 'd' signed, 'x' hexadecimal, of
 * 32 bits, or with upper case of 64; or that the field is missing. */
static void plugin_put(const struct plugin_event *e, unsigned field, const char *before,
		       char conversion, struct print_line *out)
{
	uint64_t v;

	if (!plugin_number(e, field, &v)) {
		line_puts(out, "CAN'T FIND FIELD \"");
		line_puts(out, plugin_field_name(e, field));
		line_char(out, '"');
		return;
	}
	line_puts(out, before);
	switch (conversion) {
	case 'u': line_u64(out, (uint32_t)v); break;
	case 'd': line_i64(out, (int32_t)v); break;
	case 'U': line_u64(out, v); break;
	case 'D': line_i64(out, (int64_t)v); break;
	case 'X': line_hex(out, v, 1); break;
	}
}

/* Append a text up to its NUL. */
static void plugin_put_text(const struct plugin_event *e, const struct event_field *f,
			    struct print_line *out)
{
	size_t offset, size;

	if (!event_field_range(f, e->ev->tail, e->ev->tail_size,
			       e->ev->type->flags & TYPE_BIG_ENDIAN, &offset, &size))
		return;
	line_put(out, (const char *)e->ev->tail + offset,
		 strnlen((const char *)e->ev->tail + offset, size));
}

/* Find the name of a function of the recorded kernel; NULL: none. */
static const char *plugin_symbol(const struct plugin_event *e, uint64_t address, size_t *size,
				 uint64_t *offset)
{
	return e->names->symbol(e->names->context, address, size, offset);
}

/* --- functions, stacks, raw data --- */

enum { INDENT = 3 };

/* Set the function at a level of a CPU; NULL: its name is unknown. */
static void set_call(struct plugin_indent *p, size_t cpu, size_t level, const char *name,
		     size_t size)
{
	if (level >= PLUGIN_CALLS_MOST || !name)
		return;
	p->cpus[cpu].functions[level] = (struct text_ref){.text = name, .size = (uint32_t)size};
	if (level >= p->cpus[cpu].count)
		p->cpus[cpu].count = level + 1;
}

/* Find the level of a function by that of its caller. Functions deeper than this one stay, as they
 * do in trace-cmd. */
static size_t call_level(struct plugin_indent *p, size_t cpu, const char *parent, size_t size)
{
	for (size_t i = 0; i < p->cpus[cpu].count; i++) {
		const struct text_ref *f = &p->cpus[cpu].functions[i];

		if (f->size == size && (f->text == parent || !memcmp(f->text, parent, size)))
			return i;
	}
	set_call(p, cpu, 0, parent, size);
	return 0;
}

/* Append the offset in a function if the option offset asks for it. */
static void put_offset(const struct plugin_event *e, uint64_t offset, struct print_line *out)
{
	if (!(e->plugins & PLUGIN_OFFSET))
		return;
	line_puts(out, "+0x");
	line_hex(out, (uint32_t)offset, 1);
	line_char(out, ' ');
}

static void plugin_function_put_function(const struct plugin_event *e, uint64_t address,
					 struct print_line *out)
{
	uint64_t offset;
	size_t size;

	function_text(out, address, "0x", e->names);
	if (plugin_symbol(e, address, &size, &offset))
		put_offset(e, offset, out);
}

enum { IP, PARENT_IP, COUNT, TOP_DELTA, BOTTOM_DELTA }; /* fields */

/* The function tracer */
static bool plugin_function(const struct plugin_event *e, struct print_line *out)
{
	struct plugin_indent *indent = e->indent;
	size_t cpu = e->ev->lane->cpu < 0 ? 0 : (size_t)e->ev->lane->cpu;
	uint64_t address, caller, offset;
	const char *parent;
	size_t size, level;

	if (!plugin_require(e, IP, &address, out) || !plugin_require(e, PARENT_IP, &caller, out)) {
		line_char(out, '!');
		return false;
	}
	parent = plugin_symbol(e, caller, &size, &offset);
	if (parent && !ARRAY_REACH(indent->cpus, indent->ncpus, cpu) &&
	    !(e->plugins & PLUGIN_NO_INDENT)) {
		const char *name;

		level = call_level(indent, cpu, parent, size);
		name = plugin_symbol(e, address, &size, &offset);
		set_call(indent, cpu, level + 1, name, size);
		line_pad(out, ' ', INDENT * level);
	}
	plugin_function_put_function(e, address, out);
	if (e->plugins & PLUGIN_PARENT) {
		line_puts(out, " <-- ");
		plugin_function_put_function(e, caller, out);
	}
	return true;
}

static bool plugin_repeats(const struct plugin_event *e, struct print_line *out)
{
	uint64_t count, top, bottom;

	plugin_function(e, out);
	if (!plugin_require(e, COUNT, &count, out) || !plugin_require(e, TOP_DELTA, &top, out) ||
	    !plugin_require(e, BOTTOM_DELTA, &bottom, out)) {
		line_char(out, '!');
		return false;
	}
	line_puts(out, " (count: ");
	line_i64(out, (int64_t)count);
	line_puts(out, "  last_ts: ");
	time_text(out, e->ev->time - (top << 32 | bottom), e->seconds, e->nanoseconds);
	line_char(out, ')');
	return true;
}

static bool plugin_stack(const struct plugin_event *e, struct print_line *out)
{
	const struct event_field *f = e->type->field[0];
	unsigned word = e->ev->type->word_size == 4 ? 4 : 8;
	bool big = e->ev->type->flags & TYPE_BIG_ENDIAN;

	if (!f) {
		plugin_put_missing(e, 0, out);
		return true;
	}
	line_puts(out, "<stack trace >\n");
	for (size_t at = f->offset; at + word <= e->ev->tail_size; at += word) {
		uint64_t address = get_uint(e->ev->tail + at, word, big), offset;
		const char *name;
		size_t size;

		/* trace-cmd compares the low half of a long word too */
		if ((uint32_t)address == UINT32_MAX)
			break;
		line_puts(out, "=> ");
		name = plugin_symbol(e, address, &size, &offset);
		if (name) {
			line_put(out, name, size);
			put_offset(e, offset, out);
			line_puts(out, " (");
			line_hex(out, address, 1);
			line_puts(out, ")\n");
		} else {
			line_hex(out, address, 1);
			line_char(out, '\n');
		}
	}
	return true;
}

static bool plugin_raw(const struct plugin_event *e, struct print_line *out)
{
	const struct event_field *f = e->type->field[1];
	uint64_t id;

	if (!plugin_require(e, 0, &id, out)) {
		line_char(out, '!');
		return false;
	}
	line_puts(out, "# ");
	line_hex(out, id, 1);
	if (!f)
		plugin_put_missing(e, 1, out);
	for (size_t at = f ? f->offset : SIZE_MAX; at < e->ev->tail_size; at++) {
		line_char(out, ' ');
		line_hex(out, e->ev->tail[at], 2);
	}
	return true;
}

/* --- texts of the scheduler, of timers, memory, futexes and of mac80211 --- */

/* --- sched_switch, sched_wakeup --- */

enum { COMM, PID, PRIO, SUCCESS, TARGET_CPU }; /* fields of sched_wakeup */
enum { PREVIOUS = 0, NEXT = 3, STATE = 6 };    /* of sched_switch: COMM, PID, PRIO; COMM ... */

/* Append "COMM:PID". */
static bool put_task(const struct plugin_event *e, unsigned comm, struct print_line *out)
{
	uint64_t pid;

	if (!plugin_require(e, comm + PID, &pid, out)) {
		line_char(out, '!');
		return false;
	}
	if (e->type->field[comm]) {
		plugin_put_text(e, e->type->field[comm], out);
		line_char(out, ':');
	}
	line_i64(out, (int64_t)pid);
	return true;
}

static bool plugin_wakeup(const struct plugin_event *e, struct print_line *out)
{
	uint64_t v;

	if (!put_task(e, COMM, out))
		return false;
	if (plugin_require(e, PRIO, &v, out)) {
		line_puts(out, " [");
		line_i64(out, (int64_t)v);
		line_char(out, ']');
	}
	if (plugin_number(e, SUCCESS, &v)) {
		line_puts(out, " success=");
		line_i64(out, (int64_t)v);
	}
	if (plugin_number(e, TARGET_CPU, &v)) {
		line_puts(out, " CPU:");
		line_u64_wide(out, v, 3, '0');
	}
	return true;
}

static void put_state(uint64_t state, struct print_line *out)
{
	static const char states[] = "SDTtZXxW";
	bool any = false;

	for (unsigned i = 0; i < sizeof states - 1; i++) {
		if (!(state >> i & 1))
			continue;
		if (any)
			line_char(out, '|');
		line_char(out, states[i]);
		any = true;
	}
	if (!any)
		line_char(out, 'R');
}

/* Scheduler, timers, memory, futexes, mac80211 */
static bool plugin_switch(const struct plugin_event *e, struct print_line *out)
{
	uint64_t v;

	if (!put_task(e, PREVIOUS, out))
		return false;
	line_char(out, ' ');
	if (plugin_require(e, PREVIOUS + PRIO, &v, out)) {
		line_char(out, '[');
		line_i64(out, (int32_t)v);
		line_puts(out, "] ");
	}
	if (plugin_require(e, STATE, &v, out))
		put_state(v, out);
	line_puts(out, " ==> ");
	if (!put_task(e, NEXT, out))
		return false;
	if (plugin_require(e, NEXT + PRIO, &v, out)) {
		line_puts(out, " [");
		line_i64(out, (int32_t)v);
		line_char(out, ']');
	}
	return true;
}

/* --- hrtimer --- */

enum { PLUGIN_KERNEL_TIMER, HRTIMER, FUNCTION, EXPIRES, SOFTEXPIRES, NOW = EXPIRES }; /* fields */

static void put_timer(const struct plugin_event *e, struct print_line *out)
{
	line_puts(out, "hrtimer=");
	plugin_put(e, e->type->field[PLUGIN_KERNEL_TIMER] ? PLUGIN_KERNEL_TIMER : HRTIMER, "0x",
		   'X', out);
}

/* Append " function=NAME/OFFSET". */
static void plugin_kernel_put_function(const struct plugin_event *e, struct print_line *out)
{
	uint64_t address, offset;
	const char *name;
	size_t size;

	if (!plugin_number(e, FUNCTION, &address))
		return;
	line_puts(out, " function=");
	name = plugin_symbol(e, address, &size, &offset);
	if (!name) {
		line_puts(out, "0x");
		line_hex(out, address, 8);
		return;
	}
	line_put(out, name, size);
	line_puts(out, "/0x");
	/* libtraceevent subtracts the address from the function's */
	line_hex(out, 0 - offset, 1);
}

static bool plugin_timer_start(const struct plugin_event *e, struct print_line *out)
{
	put_timer(e, out);
	plugin_kernel_put_function(e, out);
	line_puts(out, " expires=");
	plugin_put(e, EXPIRES, "", 'U', out);
	line_puts(out, " softexpires=");
	plugin_put(e, SOFTEXPIRES, "", 'U', out);
	return true;
}

static bool plugin_timer_expire(const struct plugin_event *e, struct print_line *out)
{
	put_timer(e, out);
	line_puts(out, " now=");
	plugin_put(e, NOW, "", 'U', out);
	plugin_kernel_put_function(e, out);
	return true;
}

/* --- kmem, tlb --- */

static bool plugin_call_site(const struct plugin_event *e, struct print_line *out)
{
	uint64_t address, offset;
	const char *name;
	size_t size;

	if (!plugin_number(e, 0, &address))
		return false;
	name = plugin_symbol(e, address, &size, &offset);
	if (name) {
		line_char(out, '(');
		line_put(out, name, size);
		line_puts(out, "+0x");
		line_hex(out, (uint32_t)offset, 1);
		line_puts(out, ") ");
	}
	return false;
}

static bool plugin_flush(const struct plugin_event *e, struct print_line *out)
{
	static const char *const reasons[] = {"flush on task switch", "remote shootdown",
					      "local shootdown", "local mm shootdown"};
	uint64_t reason;

	line_puts(out, "pages=");
	plugin_put(e, 1, "", 'D', out);
	if (!plugin_require(e, 0, &reason, out))
		return false;
	line_puts(out, " reason=");
	if (reason < sizeof reasons / sizeof *reasons)
		line_puts(out, reasons[reason]);
	line_puts(out, " (");
	line_i64(out, (int64_t)reason);
	line_char(out, ')');
	return true;
}

/* --- futex --- */

enum { UADDR, OP, VAL, UTIME, UADDR2, VAL3, FUTEX_FIELDS };

/* Append " NAME=VALUE": format 'x' hexadecimal, 'u' decimal, ' ' nothing. */
static void put_futex_value(char format, const char *name, uint64_t v, struct print_line *out)
{
	if (format == ' ')
		return;
	line_puts(out, name);
	if (format == 'u') {
		line_u64(out, v);
	} else {
		line_puts(out, "0x");
		line_hex(out, v, 8);
	}
}

static bool plugin_futex(const struct plugin_event *e, struct print_line *out)
{
	/* of val, utime or val2 (in decimal), uaddr2, val3 */
	static const struct {
		const char *name, *values;
	} operations[] = {
		{"WAIT", "xx  "},	    {"WAKE", "u   "},	     {"FD", "u   "},
		{"REQUEUE", "uux "},	    {"CMP_REQUEUE", "uuxx"}, {"WAKE_OP", "uuxx"},
		{"LOCK_PI", " x  "},	    {"UNLOCK_PI", "    "},   {"TRYLOCK_PI", "    "},
		{"WAIT_BITSET", "xx x"},    {"WAKE_BITSET", "u  x"}, {"WAIT_REQUEUE_PI", "xxxx"},
		{"CMP_REQUEUE_PI", "uuxx"},
	};
	enum { PRIVATE = 128, REALTIME = 256 };
	uint64_t v[FUTEX_FIELDS], operation;
	const char *values;

	for (unsigned i = 0; i < FUTEX_FIELDS; i++)
		if (!plugin_require(e, i, &v[i], out))
			return false;
	operation = v[OP] & ~(uint64_t)(PRIVATE | REALTIME);
	if (operation >= sizeof operations / sizeof *operations)
		return false;
	values = operations[operation].values;
	line_puts(out, "op=FUTEX_");
	line_puts(out, operations[operation].name);
	if (v[OP] & PRIVATE)
		line_puts(out, "|FUTEX_PRIVATE_FLAG");
	if (v[OP] & REALTIME)
		line_puts(out, "|FUTEX_CLOCK_REALTIME");
	put_futex_value('x', " uaddr=", v[UADDR], out);
	put_futex_value(values[0], " val=", v[VAL], out);
	put_futex_value(values[1], values[1] == 'u' ? " val2=" : " utime=", v[UTIME], out);
	put_futex_value(values[2], " uaddr2=", v[UADDR2], out);
	put_futex_value(values[3], " val3=", v[VAL3], out);
	return true;
}

/* --- mac80211 --- */

static bool plugin_bss_info(const struct plugin_event *e, struct print_line *out)
{
	enum { WIPHY_NAME, VIF_NAME, VIF_TYPE, FIRST, BCNINT = 9, LAST = 13, COLUMN = 65 };

	for (unsigned i = WIPHY_NAME; i <= VIF_NAME; i++) {
		if (i == VIF_NAME)
			line_puts(out, " vif:");
		if (e->type->field[i]) {
			plugin_put_text(e, e->type->field[i], out);
		} else {
			line_puts(out, "NOTFOUND:");
			line_puts(out, plugin_field_name(e, i));
		}
	}
	if (e->type->field[VIF_TYPE]) {
		plugin_put(e, VIF_TYPE, "(", 'd', out);
		line_char(out, ')');
	} else {
		plugin_put(e, VIF_TYPE, "", 'd', out);
	}
	for (unsigned i = FIRST; i <= LAST; i++) {
		bool hex = i == BCNINT + 1 || i == BCNINT + 2;
		uint64_t v;

		if (i == FIRST || i == BCNINT || i == LAST) {
			line_char(out, '\n');
			line_pad(out, ' ', COLUMN);
		}
		if (plugin_number(e, i, &v)) {
			line_puts(out, plugin_field_name(e, i));
			line_char(out, ':');
			if (hex && (uint32_t)v) {
				line_puts(out, "0x");
				line_hex(out, (uint32_t)v, 1);
			} else {
				line_i64(out, (int32_t)v);
			}
		}
		if (i < LAST - 1)
			line_char(out, ' ');
	}
	return true;
}

/*
 * Texts of kvm: exits of guests, emulated instructions, shadow pages.
 *
 * Numbers of exits: Intel's manual, volume 3, appendix C; AMD's manual, volume 2, appendix C, and
 * for those from 0x400 on the kernel's arch/x86/include/uapi/asm/svm.h.
 */

struct exit_reason {
	uint32_t number;
	const char *name;
};

enum { ISA_INTEL = 1, ISA_AMD = 2 };

static const struct exit_reason intel[] = {
	{0, "EXCEPTION_NMI"},
	{1, "EXTERNAL_INTERRUPT"},
	{2, "TRIPLE_FAULT"},
	{7, "PENDING_INTERRUPT"},
	{8, "NMI_WINDOW"},
	{9, "TASK_SWITCH"},
	{10, "CPUID"},
	{12, "HLT"},
	{13, "INVD"},
	{14, "INVLPG"},
	{15, "RDPMC"},
	{16, "RDTSC"},
	{18, "VMCALL"},
	{19, "VMCLEAR"},
	{20, "VMLAUNCH"},
	{21, "VMPTRLD"},
	{22, "VMPTRST"},
	{23, "VMREAD"},
	{24, "VMRESUME"},
	{25, "VMWRITE"},
	{26, "VMOFF"},
	{27, "VMON"},
	{28, "CR_ACCESS"},
	{29, "DR_ACCESS"},
	{30, "IO_INSTRUCTION"},
	{31, "MSR_READ"},
	{32, "MSR_WRITE"},
	{36, "MWAIT_INSTRUCTION"},
	{39, "MONITOR_INSTRUCTION"},
	{40, "PAUSE_INSTRUCTION"},
	{41, "MCE_DURING_VMENTRY"},
	{43, "TPR_BELOW_THRESHOLD"},
	{44, "APIC_ACCESS"},
	{45, "EOI_INDUCED"},
	{48, "EPT_VIOLATION"},
	{49, "EPT_MISCONFIG"},
	{50, "INVEPT"},
	{52, "PREEMPTION_TIMER"},
	{54, "WBINVD"},
	{55, "XSETBV"},
	{56, "APIC_WRITE"},
	{58, "INVPCID"},
	{62, "PML_FULL"},
	{63, "XSAVES"},
	{64, "XRSTORS"},
	{0, NULL},
};

/* Their names begin with EXIT_. */
static const struct exit_reason amd[] = {
	{0x000, "READ_CR0"},
	{0x003, "READ_CR3"},
	{0x004, "READ_CR4"},
	{0x008, "READ_CR8"},
	{0x010, "WRITE_CR0"},
	{0x013, "WRITE_CR3"},
	{0x014, "WRITE_CR4"},
	{0x018, "WRITE_CR8"},
	{0x020, "READ_DR0"},
	{0x021, "READ_DR1"},
	{0x022, "READ_DR2"},
	{0x023, "READ_DR3"},
	{0x024, "READ_DR4"},
	{0x025, "READ_DR5"},
	{0x026, "READ_DR6"},
	{0x027, "READ_DR7"},
	{0x030, "WRITE_DR0"},
	{0x031, "WRITE_DR1"},
	{0x032, "WRITE_DR2"},
	{0x033, "WRITE_DR3"},
	{0x034, "WRITE_DR4"},
	{0x035, "WRITE_DR5"},
	{0x036, "WRITE_DR6"},
	{0x037, "WRITE_DR7"},
	{0x040, "EXCP_DE"},
	{0x041, "EXCP_DB"},
	{0x043, "EXCP_BP"},
	{0x044, "EXCP_OF"},
	{0x045, "EXCP_BR"},
	{0x046, "EXCP_UD"},
	{0x047, "EXCP_NM"},
	{0x048, "EXCP_DF"},
	{0x04a, "EXCP_TS"},
	{0x04b, "EXCP_NP"},
	{0x04c, "EXCP_SS"},
	{0x04d, "EXCP_GP"},
	{0x04e, "EXCP_PF"},
	{0x050, "EXCP_MF"},
	{0x051, "EXCP_AC"},
	{0x052, "EXCP_MC"},
	{0x053, "EXCP_XF"},
	{0x060, "INTR"},
	{0x061, "NMI"},
	{0x062, "SMI"},
	{0x063, "INIT"},
	{0x064, "VINTR"},
	{0x065, "CR0_SEL_WRITE"},
	{0x066, "IDTR_READ"},
	{0x067, "GDTR_READ"},
	{0x068, "LDTR_READ"},
	{0x069, "TR_READ"},
	{0x06a, "IDTR_WRITE"},
	{0x06b, "GDTR_WRITE"},
	{0x06c, "LDTR_WRITE"},
	{0x06d, "TR_WRITE"},
	{0x06e, "RDTSC"},
	{0x06f, "RDPMC"},
	{0x070, "PUSHF"},
	{0x071, "POPF"},
	{0x072, "CPUID"},
	{0x073, "RSM"},
	{0x074, "IRET"},
	{0x075, "SWINT"},
	{0x076, "INVD"},
	{0x077, "PAUSE"},
	{0x078, "HLT"},
	{0x079, "INVLPG"},
	{0x07a, "INVLPGA"},
	{0x07b, "IOIO"},
	{0x07c, "MSR"},
	{0x07d, "TASK_SWITCH"},
	{0x07e, "FERR_FREEZE"},
	{0x07f, "SHUTDOWN"},
	{0x080, "VMRUN"},
	{0x081, "VMMCALL"},
	{0x082, "VMLOAD"},
	{0x083, "VMSAVE"},
	{0x084, "STGI"},
	{0x085, "CLGI"},
	{0x086, "SKINIT"},
	{0x087, "RDTSCP"},
	{0x088, "ICEBP"},
	{0x089, "WBINVD"},
	{0x08a, "MONITOR"},
	{0x08b, "MWAIT"},
	{0x08c, "MWAIT_COND"},
	{0x08d, "XSETBV"},
	{0x400, "NPF"},
	{0x401, "AVIC_INCOMPLETE_IPI"},
	{0x402, "AVIC_UNACCELERATED_ACCESS"},
	{UINT32_MAX, "ERR"},
	{0, NULL},
};

enum { REASON, ISA }; /* fields of all exits */

static bool put_reason(const struct plugin_event *e, struct print_line *out)
{
	uint64_t number, isa;
	const struct exit_reason *r;

	if (!plugin_require(e, REASON, &number, out))
		return false;
	if (!plugin_number(e, ISA, &isa))
		isa = ISA_INTEL;
	line_puts(out, "reason ");
	if (isa != ISA_INTEL && isa != ISA_AMD) {
		line_puts(out, "UNKNOWN-ISA");
		return true;
	}
	for (r = isa == ISA_INTEL ? intel : amd; r->name && r->number != (uint32_t)number; r++)
		;
	if (r->name) {
		line_puts(out, isa == ISA_AMD ? "EXIT_" : "");
		line_puts(out, r->name);
	} else {
		line_puts(out, "UNKNOWN (");
		line_u64(out, number);
		line_char(out, ')');
	}
	return true;
}

/* Append the guest's function at that address, if the guest's trace is an input. */
static void put_guest_function(const struct plugin_event *e, uint64_t rip, struct print_line *out)
{
	const struct print_kernel *guest = tc_guest(e->sources, (uint32_t)e->ev->lane->tid,
						    e->ev->type->flags & TYPE_BIG_ENDIAN);
	uint64_t offset;
	const char *name;
	size_t size;

	name = guest ? guest->symbol(guest->context, rip, &size, &offset) : NULL;
	if (!name)
		return;
	line_char(out, ' ');
	line_put(out, name, size);
	if (offset) {
		line_puts(out, "+0x");
		line_hex(out, offset, 1);
	}
}

/* Append the address of the guest's instruction. */
static bool put_rip(const struct plugin_event *e, unsigned field, const char *before,
		    struct print_line *out)
{
	uint64_t rip;

	if (!plugin_require(e, field, &rip, out))
		return false;
	line_puts(out, before);
	line_hex(out, rip, 1);
	put_guest_function(e, rip, out);
	return true;
}

static bool plugin_kvm_entry(const struct plugin_event *e, struct print_line *out)
{
	plugin_put(e, 0, " vcpu ", 'u', out);
	return put_rip(e, 1, " rip 0x", out);
}

static bool plugin_kvm_exit(const struct plugin_event *e, struct print_line *out)
{
	enum { RIP = ISA + 1, INFO1, INFO2 };
	uint64_t info1, info2;

	if (!put_reason(e, out) || !put_rip(e, RIP, " rip 0x", out))
		return false;
	if (plugin_number(e, INFO1, &info1) && plugin_number(e, INFO2, &info2)) {
		line_puts(out, " info ");
		line_hex(out, info1, 1);
		line_char(out, ' ');
		line_hex(out, info2, 1);
	}
	return true;
}

static bool plugin_kvm_inject(const struct plugin_event *e, struct print_line *out)
{
	static const char *const names[] = {" info1 ", " info2 ", " int_info ", " int_info_err "};

	if (!put_reason(e, out))
		return false;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		plugin_put(e, ISA + 1 + i, names[i], 'X', out);
	return true;
}

static bool plugin_kvm_nested(const struct plugin_event *e, struct print_line *out)
{
	return put_rip(e, ISA + 5, " rip ", out) && plugin_kvm_inject(e, out);
}

static bool plugin_kvm_instruction(const struct plugin_event *e, struct print_line *out)
{
	enum { RIP, CSBASE, LEN, FLAGS, FAILED, INSN, NUMBERS = INSN, BYTES_MOST = 15 };
	const struct event_field *insn = e->type->field[INSN];
	uint64_t v[NUMBERS];

	for (unsigned i = 0; i < NUMBERS; i++)
		if (!plugin_require(e, i, &v[i], out))
			return false;
	if (!insn) {
		plugin_put_missing(e, INSN, out);
		return false;
	}
	line_hex(out, v[CSBASE], 1);
	line_char(out, ':');
	line_hex(out, v[RIP], 1);
	put_guest_function(e, v[RIP], out);
	line_char(out, ':');
	for (size_t i = 0; i < v[LEN] && i < BYTES_MOST && insn->offset + i < e->ev->tail_size;
	     i++) {
		line_char(out, ' ');
		line_hex(out, e->ev->tail[insn->offset + i], 2);
	}
	line_puts(out, v[FAILED] ? " FAIL" : "");
	return true;
}

/* --- shadow pages --- */

enum { ROLE, ROOT_COUNT, UNSYNC, CREATED, GFN };

/* Append the role of a page. Its bits, from the lowest on: level 4, cr4_pae 1, quadrant 2, direct
 * 1, access 3, then invalid, nxe, cr0_wp, smep and smap 1 each; smm the highest 8. */
static void put_role(uint32_t role, struct print_line *out)
{
	static const char access[][4] = {"---", "--x", "w--", "w-x", "-u-", "-ux", "wu-", "wux"};

	line_u64(out, role & 15);
	line_puts(out, " q");
	line_u64(out, role >> 5 & 3);
	line_puts(out, role >> 7 & 1 ? " direct " : " ");
	line_puts(out, access[role >> 8 & 7]);
	line_puts(out, role >> 11 & 1 ? " invalid" : "");
	line_puts(out, role >> 4 & 1 ? " pae" : " !pae");
	line_puts(out, role >> 12 & 1 ? " nxe" : " !nxe");
	line_puts(out, role >> 13 & 1 ? " wp" : " !wp");
	line_puts(out, role >> 14 & 1 ? " smep" : "");
	line_puts(out, role >> 15 & 1 ? " smap" : "");
	line_puts(out, role >> 24 ? " smm" : "");
}

static bool plugin_kvm_page(const struct plugin_event *e, struct print_line *out)
{
	uint64_t v;

	if (!plugin_require(e, ROLE, &v, out))
		return false;
	if (e->ev->type->flags & TYPE_BIG_ENDIAN) {
		/* trace-cmd on a little-endian machine does not split it */
		line_puts(out, "WORD: ");
		line_hex(out, (uint32_t)v, 8);
	} else {
		put_role((uint32_t)v, out);
	}
	plugin_put(e, ROOT_COUNT, " root ", 'u', out);
	if (e->type->field[ROOT_COUNT])
		line_char(out, ' ');
	if (!plugin_require(e, UNSYNC, &v, out))
		return false;
	line_puts(out, v ? "unsync" : "sync");
	return true;
}

static bool plugin_kvm_get_page(const struct plugin_event *e, struct print_line *out)
{
	uint64_t v;

	if (!plugin_require(e, CREATED, &v, out))
		return false;
	line_puts(out, v ? "new " : "existing ");
	if (!plugin_require(e, GFN, &v, out))
		return false;
	line_puts(out, "sp gfn ");
	line_hex(out, v, 1);
	line_char(out, ' ');
	return plugin_kvm_page(e, out);
}

/* --- the plug-ins by system and event --- */

#define TASK	      "comm", "pid", "prio", "success", "target_cpu"
#define PLUGINS_TIMER "timer", "hrtimer", "function"
#define EXIT_INFO     "isa", "exit_info1", "exit_info2", "exit_int_info", "exit_int_info_err"
#define PAGE	      "role", "root_count", "unsync"

static const struct plugin plugins[] = {
	{"sched",
	 "sched_switch",
	 plugin_switch,
	 {"prev_comm", "prev_pid", "prev_prio", "next_comm", "next_pid", "next_prio",
	  "prev_state"}},
	{"sched", "sched_wakeup", plugin_wakeup, {TASK}},
	{"sched", "sched_wakeup_new", plugin_wakeup, {TASK}},
	{"timer", "hrtimer_start", plugin_timer_start, {PLUGINS_TIMER, "expires", "softexpires"}},
	{"timer", "hrtimer_expire_entry", plugin_timer_expire, {PLUGINS_TIMER, "now"}},
	{"ftrace", "function", plugin_function, {"ip", "parent_ip"}},
	{"ftrace",
	 "func_repeats",
	 plugin_repeats,
	 {"ip", "parent_ip", "count", "top_delta_ts", "bottom_delta_ts"}},
	{"ftrace", "kernel_stack", plugin_stack, {"caller"}},
	{"ftrace", "raw_data", plugin_raw, {"id", "buf"}},
	{"kmem", "kmalloc", plugin_call_site, {"call_site"}},
	{"kmem", "kmalloc_node", plugin_call_site, {"call_site"}},
	{"kmem", "kfree", plugin_call_site, {"call_site"}},
	{"kmem", "kmem_cache_alloc", plugin_call_site, {"call_site"}},
	{"kmem", "kmem_cache_alloc_node", plugin_call_site, {"call_site"}},
	{"kmem", "kmem_cache_free", plugin_call_site, {"call_site"}},
	{"tlb", "tlb_flush", plugin_flush, {"reason", "pages"}},
	{"syscalls",
	 "sys_enter_futex",
	 plugin_futex,
	 {"uaddr", "op", "val", "utime", "uaddr2", "val3"}},
	{"kvm", "kvm_entry", plugin_kvm_entry, {"vcpu_id", "rip"}},
	{"kvm", "kvm_exit", plugin_kvm_exit, {"exit_reason", "isa", "guest_rip", "info1", "info2"}},
	{"kvm",
	 "kvm_emulate_insn",
	 plugin_kvm_instruction,
	 {"rip", "csbase", "len", "flags", "failed", "insn"}},
	{"kvm", "kvm_nested_vmexit", plugin_kvm_nested, {"exit_code", EXIT_INFO, "rip"}},
	{"kvm", "kvm_nested_vmexit_inject", plugin_kvm_inject, {"exit_code", EXIT_INFO}},
	{"kvmmmu", "kvm_mmu_get_page", plugin_kvm_get_page, {PAGE, "created", "gfn"}},
	{"kvmmmu", "kvm_mmu_sync_page", plugin_kvm_page, {PAGE}},
	{"kvmmmu", "kvm_mmu_unsync_page", plugin_kvm_page, {PAGE}},
	{"kvmmmu", "kvm_mmu_zap_page", plugin_kvm_page, {PAGE}},
	{"kvmmmu", "kvm_mmu_prepare_zap_page", plugin_kvm_page, {PAGE}},
	{"mac80211",
	 "drv_bss_info_changed",
	 plugin_bss_info,
	 {"wiphy_name", "vif_name", "vif_type", "assoc", "aid", "cts", "shortpre", "shortslot",
	  "dtimper", "bcnint", "assoc_cap", "basic_rates", "enable_beacon", "ht_operation_mode"}},
};

void plugin_find(struct plugin_type *p, const struct type *type, const struct event_format *fields)
{
	*p = (struct plugin_type){0};
	for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
		const struct plugin *plugin = &plugins[i];

		if (strcmp(plugin->name, type->name.text) != 0 ||
		    strcmp(plugin->system, type->group.text) != 0)
			continue;
		for (unsigned k = 0; plugin->fields[k]; k++)
			p->field[k] = event_format_find(fields, plugin->fields[k],
							strlen(plugin->fields[k]));
		p->plugin = plugin;
	}
}

bool plugin_text(const struct plugin_event *e, struct print_line *out)
{
	return e->type->plugin->text(e, out);
}
