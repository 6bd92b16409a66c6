/*
 * print_plugin.c - functions that a print fmt may call if trace-cmd has its plug-ins: their values
 * as numbers, and their texts for %s
 *
 * Facts: the output of trace-cmd 3.1.6 with libtraceevent 1.7.1. Layouts of SCSI commands: SBC-3
 * and SPC-4. Numbers of hypercalls: Xen's public/xen.h.
 */
#include "common/ftrace/print_tree.h"

/* --- SCSI commands --- */

enum { CDB_MOST = 32 };

enum cdb_opcode {
	CDB_READ_6 = 0x08,
	CDB_WRITE_6 = 0x0a,
	CDB_READ_10 = 0x28,
	CDB_WRITE_10 = 0x2a,
	CDB_VERIFY_10 = 0x2f,
	CDB_WRITE_SAME_10 = 0x41,
	CDB_UNMAP = 0x42,
	CDB_VARIABLE_LENGTH = 0x7f,
	CDB_READ_16 = 0x88,
	CDB_WRITE_16 = 0x8a,
	CDB_VERIFY_16 = 0x8f,
	CDB_WRITE_SAME_16 = 0x93,
	CDB_SERVICE_ACTION_IN_16 = 0x9e,
	CDB_READ_12 = 0xa8,
	CDB_WRITE_12 = 0xaa,
	CDB_VERIFY_12 = 0xaf,
};

/* Append "NAME=NUMBER". */
static void put_named(struct line *out, const char *name, uint64_t v)
{
	line_puts(out, name);
	line_char(out, '=');
	line_u64(out, v);
}

/* Read 4 bytes as the plug-in does, which extends their sign in a number of 64 bits. */
static uint64_t extended32(const uint8_t *p)
{
	return print_extend(get_uint(p, 4, true), 4, true);
}

static uint64_t extended64(const uint8_t *p)
{
	return get_uint(p, 4, true) << 32 | extended32(p + 4);
}

/* Append the range of blocks. flags: the byte with the protection; same: of a WRITE SAME command.
 */
static void put_blocks(struct line *out, uint64_t lba, uint64_t length, uint8_t flags, bool same)
{
	put_named(out, "lba", lba);
	put_named(out, " txlen", length);
	put_named(out, " protect", flags >> 5);
	if (same)
		put_named(out, " unmap", flags >> 3 & 1);
}

static void put_service_action(struct line *out, const uint8_t *cdb)
{
	enum { READ_CAPACITY = 0x10, GET_LBA_STATUS = 0x12 };
	unsigned action = cdb[1] & 0x1f;

	if (action != READ_CAPACITY && action != GET_LBA_STATUS) {
		line_puts(out, "UNKNOWN");
		return;
	}
	line_puts(out, action == READ_CAPACITY ? "READ_CAPACITY_16" : "GET_LBA_STATUS");
	put_named(out, " lba", extended64(cdb + 2));
	put_named(out, " alloc_len", get_uint(cdb + 10, 4, true));
}

static void put_variable_length(struct line *out, const uint8_t *cdb)
{
	enum { READ_32 = 9, VERIFY_32 = 10, WRITE_32 = 11, WRITE_SAME_32 = 13 };
	unsigned action = (unsigned)get_uint(cdb + 8, 2, true);

	switch (action) {
	case READ_32: line_puts(out, "READ_32 "); break;
	case VERIFY_32: line_puts(out, "VERIFY_32 "); break;
	case WRITE_32: line_puts(out, "WRITE_32 "); break;
	case WRITE_SAME_32: line_puts(out, "WRITE_SAME_32 "); break;
	default: line_char(out, '-'); return;
	}
	put_blocks(out, extended64(cdb + 12), extended32(cdb + 28), cdb[10], false);
	put_named(out, " ei_lbrt", get_uint(cdb + 20, 4, true));
	if (action == WRITE_SAME_32)
		put_named(out, " unmap", cdb[10] >> 3 & 1);
}

static void put_cdb(struct line *out, const uint8_t *cdb)
{
	switch (cdb[0]) {
	case CDB_READ_6:
	case CDB_WRITE_6:
		put_named(out, "lba", get_uint(cdb, 4, true) & 0x1fffff);
		put_named(out, " txlen", cdb[4]);
		return;
	case CDB_READ_10:
	case CDB_WRITE_10:
	case CDB_VERIFY_10:
	case CDB_WRITE_SAME_10:
		put_blocks(out, extended32(cdb + 2), get_uint(cdb + 7, 2, true), cdb[1],
			   cdb[0] == CDB_WRITE_SAME_10);
		return;
	case CDB_READ_12:
	case CDB_WRITE_12:
	case CDB_VERIFY_12:
		put_blocks(out, extended32(cdb + 2), extended32(cdb + 6), cdb[1], false);
		return;
	case CDB_READ_16:
	case CDB_WRITE_16:
	case CDB_VERIFY_16:
	case CDB_WRITE_SAME_16:
		put_blocks(out, extended64(cdb + 2), extended32(cdb + 10), cdb[1],
			   cdb[0] == CDB_WRITE_SAME_16);
		return;
	case CDB_UNMAP:
		/* a header of 8 bytes, then descriptors of 16 */
		put_named(out, "regions", ((uint32_t)get_uint(cdb + 7, 2, true) - 8) / 16);
		return;
	case CDB_SERVICE_ACTION_IN_16: put_service_action(out, cdb); return;
	case CDB_VARIABLE_LENGTH: put_variable_length(out, cdb); return;
	default: line_char(out, '-'); return;
	}
}

/* --- Xen --- */

static const char *const hypercalls[] = {
	"set_trap_table",
	"mmu_update",
	"set_gdt",
	"stack_switch",
	"set_callbacks",
	"fpu_taskswitch",
	"sched_op_compat",
	"dom0_op",
	"set_debugreg",
	"get_debugreg",
	"update_descriptor",
	NULL,
	"memory_op",
	"multicall",
	"update_va_mapping",
	"set_timer_op",
	"event_channel_op_compat",
	"xen_version",
	"console_io",
	"physdev_op_compat",
	"grant_table_op",
	"vm_assist",
	"update_va_mapping_otherdomain",
	"iret",
	"vcpu_op",
	"set_segment_base",
	"mmuext_op",
	"acm_op",
	"nmi_op",
	"sched_op",
	"callback_op",
	"xenoprof_op",
	"event_channel_op",
	"physdev_op",
	"hvm_op",
};

/* Append "(NAME)", or nothing. */
static void put_hypercall(struct line *out, uint32_t number)
{
	enum { ARCHITECTURE = 48, ARCHITECTURE_END = 56 };
	bool known = number < sizeof hypercalls / sizeof *hypercalls && hypercalls[number];

	if (!known && (number < ARCHITECTURE || number >= ARCHITECTURE_END))
		return;
	line_char(out, '(');
	if (known) {
		line_puts(out, hypercalls[number]);
	} else {
		line_puts(out, "arch_");
		line_u64(out, number - ARCHITECTURE);
	}
	line_char(out, ')');
}

/* --- the functions --- */

/* Copy the bytes of the record from the array on, which the functions read without its size; bytes
 * after the record, and those of an empty array, are 0. */
static void copy_array(const struct print_input *in, uint32_t node, uint8_t *to, size_t n)
{
	struct byte_range r = print_range(in, node);
	size_t left = r.size ? (size_t)(in->record + in->size - r.data) : 0;

	memset(to, 0, n);
	memcpy(to, r.data, left < n ? left : n);
}

uint64_t print_plugin_number(const struct print_input *in, const struct print_node *n)
{
	uint8_t bytes[2];

	switch (n->value) {
	case PRINT_WRITABLE_PTE: return print_number(in, n->a) & 2;
	case PRINT_MILLISECONDS: return print_number(in, n->a);
	case PRINT_LITTLE16:
		copy_array(in, n->a, bytes, sizeof bytes);
		return get_uint(bytes, sizeof bytes, false);
	default: return 0;
	}
}

void print_plugin_text(const struct print_input *in, const struct print_node *n, struct line *out)
{
	uint8_t cdb[CDB_MOST];
	uint32_t device;

	switch (n->value) {
	case PRINT_DEVICE_NAME:
		device = (uint32_t)print_number(in, n->a);
		line_u64(out, device >> 20);
		line_char(out, ':');
		line_u64(out, device & 0xfffff);
		return;
	case PRINT_MILLISECONDS:
		/* the plug-in does not know how many jiffies a second has */
		line_i64(out, (int64_t)print_number(in, n->a));
		return;
	case PRINT_HYPERCALL: put_hypercall(out, (uint32_t)print_number(in, n->a)); return;
	case PRINT_CDB:
		copy_array(in, n->a, cdb, sizeof cdb);
		put_cdb(out, cdb);
		return;
	}
}
