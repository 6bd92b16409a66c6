/*
 * plugin_kvm.c - texts of kvm: exits of guests, emulated instructions, shadow pages
 *
 * Numbers of exits: Intel's manual, volume 3, appendix C; AMD's manual, volume 2, appendix C, and
 * for those from 0x400 on the kernel's arch/x86/include/uapi/asm/svm.h.
 */
#include "cmd/trencode/text/tracecmd/plugin_event.h"

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

static bool put_reason(const struct plugin_event *e, struct line *out)
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
static void put_guest_function(const struct plugin_event *e, uint64_t rip, struct line *out)
{
	const struct print_kernel *guest = tc_guest(e->context->sources, (uint32_t)e->ev->lane->tid,
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
		    struct line *out)
{
	uint64_t rip;

	if (!plugin_require(e, field, &rip, out))
		return false;
	line_puts(out, before);
	line_hex(out, rip, 1);
	put_guest_function(e, rip, out);
	return true;
}

bool plugin_kvm_entry(const struct plugin_event *e, struct line *out)
{
	plugin_put(e, 0, " vcpu ", 'u', out);
	return put_rip(e, 1, " rip 0x", out);
}

bool plugin_kvm_exit(const struct plugin_event *e, struct line *out)
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

bool plugin_kvm_inject(const struct plugin_event *e, struct line *out)
{
	static const char *const names[] = {" info1 ", " info2 ", " int_info ", " int_info_err "};

	if (!put_reason(e, out))
		return false;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		plugin_put(e, ISA + 1 + i, names[i], 'X', out);
	return true;
}

bool plugin_kvm_nested(const struct plugin_event *e, struct line *out)
{
	return put_rip(e, ISA + 5, " rip ", out) && plugin_kvm_inject(e, out);
}

bool plugin_kvm_instruction(const struct plugin_event *e, struct line *out)
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
static void put_role(uint32_t role, struct line *out)
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

bool plugin_kvm_page(const struct plugin_event *e, struct line *out)
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

bool plugin_kvm_get_page(const struct plugin_event *e, struct line *out)
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
