#!/usr/bin/env python3
"""Write a trace.dat, version 6, of random events for which trace-cmd has plug-ins, and of newer kernels.

    plugin_events.py [--big] [--word 4] [--drop] [--only REGEX] [--machine host|guest] SEED OUT

--big: of a machine with the most significant byte first. --word: bytes of a long. --drop: of most
events one or two fields are not declared. --only: events whose "system/name" REGEX finds. --machine:
of a host with one guest, or of this guest. Events are declared by lines "system/name: fields: print fmt".
A field is a type, a name and its values:

    u32 exit_reason=0-70|0xffffffff     numbers (ranges), each range as likely as the others
    char16 comm                         an array of characters with a random text
    str name                            a text at the end of the record (__data_loc char[])
    data cdb=40:0x00-0xff|0x28          bytes at the end of the record; 40 of them at most, the last
                                        range for the first of them
"""
import argparse
import random
import re
import struct

GUEST_ID = 0x1234567890abcdef
FUNCTIONS = [(0xffffffff81000000 + i * 0x100, name) for i, name in enumerate(
    "do_syscall_64 vfs_read vfs_write rw_verify_area security_file_permission hrtimer_wakeup tick_sched_timer "
    "kfree_skb do_exit do_exit schedule".split())]

KVM_EXIT = "u32 {0}=0-70|0-0x90|0x400-0x403|0xffffffff"
MMU = ("u64 gfn; u32 role=0-0xffff|0-0xffffffff; s32 root_count=0-3|0xfffffff0-0xffffffff; u8 unsync=0-1")
VERBATIM = '"the print fmt"'
TABLE = [
    f"kvm/kvm_entry: u32 vcpu_id=0-3|0xfffffff0-0xffffffff; function rip: {VERBATIM}",
    f"kvm/kvm_exit: {KVM_EXIT.format('exit_reason')}; function guest_rip; u32 isa=0-3; u64 info1; u64 info2: {VERBATIM}",
    f"kvm/kvm_emulate_insn: function rip; u32 csbase; u8 len=1-15; array15 insn; u8 flags=0-15; u8 failed=0-1: {VERBATIM}",
    f"kvm/kvm_nested_vmexit: function rip; {KVM_EXIT.format('exit_code')}; u64 exit_info1; u64 exit_info2; "
    f"u32 exit_int_info; u32 exit_int_info_err; u32 isa=0-3: {VERBATIM}",
    f"kvm/kvm_nested_vmexit_inject: {KVM_EXIT.format('exit_code')}; u64 exit_info1; u64 exit_info2; "
    f"u32 exit_int_info; u32 exit_int_info_err; u32 isa=0-3: {VERBATIM}",
    f"kvmmmu/kvm_mmu_get_page: {MMU}; u8 created=0-1: {VERBATIM}",
    f"kvmmmu/kvm_mmu_sync_page: {MMU}: {VERBATIM}",
    f"kvmmmu/kvm_mmu_unsync_page: {MMU}: {VERBATIM}",
    f"kvmmmu/kvm_mmu_zap_page: {MMU}: {VERBATIM}",
    f"kvmmmu/kvm_mmu_prepare_zap_page: {MMU}: {VERBATIM}",
    'kvmmmu/fast_page_fault: u64 old_spte=0-7|0; u32 retry=0-1: "old %llx writable %d (%s) satisfied %d", '
    'REC->old_spte, is_writable_pte(REC->old_spte), is_writable_pte(REC->old_spte), '
    '(REC->retry && is_writable_pte(REC->old_spte))',
    'jbd2/jbd2_checkpoint: u32 dev; s32 result: "dev %s result %d", jbd2_dev_to_name(REC->dev), REC->result',
    'jbd2/jbd2_run_stats: u32 dev; ulong tid; ulong wait=0-5000|0; ulong running=0-0xffffffff: "dev %d,%d tid %lu wait %u '
    'running %u (%s)", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1))), '
    'REC->tid, jiffies_to_msecs(REC->wait), jiffies_to_msecs(REC->running), jiffies_to_msecs(REC->running)',
    'scsi/scsi_dispatch_cmd_start: u32 host_no=0-3; u32 opcode=0-255; u32 cmd_len=6-32; '
    'data cmnd=32:0-255|0|8|0xa|0x28|0x2a|0x2f|0x41|0x42|0x7f|0x7f|0x88|0x8a|0x8f|0x93|0x9e|0xa8|0xaa|0xaf: '
    '"host_no=%u cmnd=(%s %s raw=%s) end", REC->host_no, '
    '__print_symbolic(REC->opcode, { 0x28, "READ_10" }, { 0x2a, "WRITE_10" }), '
    'scsi_trace_parse_cdb(p, __get_dynamic_array(cmnd), REC->cmd_len), '
    '__print_hex(__get_dynamic_array(cmnd), REC->cmd_len)',
    'xen/xen_mc_entry: u32 op=0-60|0-0xffffffff; u32 nargs: "op %u%s args %u", REC->op, xen_hypercall_name(REC->op), REC->nargs',
    'cfg80211/cfg80211_rx_mlme_mgmt: s32 ifindex; data frame=24:0-255: "netdev(%d), ftype:0x%.2x (%s)", '
    'REC->ifindex, __le16_to_cpup((__le16 *)__get_dynamic_array(frame)), __le16_to_cpup((__le16 *)__get_dynamic_array(frame))',
    "mac80211/drv_bss_info_changed: char32 wiphy_name; str vif_name; u32 vif_type=0-9|0xffffffff; u8 assoc=0-1; "
    "u16 aid; u8 cts=0-1; u8 shortpre=0-1; u8 shortslot=0-1; u8 dtimper; u16 bcnint; u16 assoc_cap=0-0xffff|0; "
    f"u32 basic_rates=0-0xffffffff|0; u8 enable_beacon=0-1; u16 ht_operation_mode: {VERBATIM}",
    "sched/sched_switch: char16 prev_comm; s32 prev_pid=0-99999; s32 prev_prio=0-139|0xffffffff; long prev_state=0-0x1ff|0; "
    f"char16 next_comm; s32 next_pid=0-99999; s32 next_prio=0-139|0xffffffff: {VERBATIM}",
    f"sched/sched_wakeup: char16 comm; s32 pid=0-99999; s32 prio=0-139|0xffffffff; s32 success=0-1; s32 target_cpu=0-1100: {VERBATIM}",
    f"sched/sched_wakeup_new: char16 comm; s32 pid=0-99999; s32 prio=0-139|0xffffffff; s32 target_cpu=0-1100|0xffffffff: {VERBATIM}",
    f"timer/hrtimer_start: ulong hrtimer; function function; s64 expires; s64 softexpires: {VERBATIM}",
    f"timer/hrtimer_expire_entry: ulong timer; s64 now; function function: {VERBATIM}",
    f"ftrace/function: function ip; function parent_ip: {VERBATIM}",
    f"ftrace/func_repeats: function ip; function parent_ip; u16 count; u16 top_delta_ts=0-1|0; u32 bottom_delta_ts: {VERBATIM}",
    f"ftrace/kernel_stack: s32 size; functions caller: {VERBATIM}",
    f"ftrace/raw_data: u32 id; rest buf: {VERBATIM}",
] + [f"kmem/{name}: function call_site; ulong ptr: {VERBATIM}" for name in (
    "kmalloc", "kmalloc_node", "kfree", "kmem_cache_alloc", "kmem_cache_alloc_node", "kmem_cache_free")] + [
    'kmem/mm_page_alloc: ulong pfn; u32 gfp_flags=0-31|0: "pfn=0x%lx gfp_flags=%s", REC->pfn, (REC->gfp_flags) ? '
    '__print_flags(REC->gfp_flags, "|", {( unsigned long)(( gfp_t)((((1UL))) << (0))), "__GFP_DMA"}, '
    '{( unsigned long)(( gfp_t)((((1UL))) << (3))), "__GFP_MOVABLE"}, { 0, ((void *)0) } ) : "none"',
    'xfs/xfs_buf_init: u32 flags; function caller_ip; function buf_ops: "flags %u bufops %pS caller %pS", REC->flags, '
    'REC->buf_ops, (void *)REC->caller_ip',
    'compaction/mm_compaction_finished: s32 order; s32 ret=0-3|0xffffff00-0xffffffff: "order=%d ret=%s", REC->order, '
    '__print_symbolic(REC->ret, {1, "skipped"}, {2, "continue"})',
    f"tlb/tlb_flush: s32 reason=0-6|0xffffffff; ulong pages: {VERBATIM}",
    "syscalls/sys_enter_futex: ulong uaddr; long op=0-16|0x80-0x90|0x100-0x190; ulong val; ulong utime; "
    f"ulong uaddr2; ulong val3: {VERBATIM}",
]


class File:
    """The bytes of a trace.dat."""

    def __init__(self, big, word, machine):
        self.machine = machine
        self.order = ">" if big else "<"
        self.big, self.word = big, word

    def pack(self, letters, *values):
        return struct.pack(self.order + letters, *values)

    def number(self, value, size):
        return (value & (1 << 8 * size) - 1).to_bytes(size, "big" if self.big else "little")

    def sized(self, letter, text):
        return self.pack(letter, len(text)) + text

    def page(self, time, records):
        data = b""
        for record in records:
            record += b"\0" * (-len(record) % 4)
            head = 1 if self.big else 1 << 5  # type_len 0, 1 ns later: the size is in the next word
            data += self.pack("II", head, len(record) + 4) + record
        data = self.pack("Q", time) + self.number(len(data), self.word) + data
        return data + b"\0" * (4096 - len(data))

    def data(self, formats, pages):
        word = self.word
        page = (f"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                f"\tfield: local_t commit;\toffset:8;\tsize:{word};\tsigned:1;\n"
                f"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                f"\tfield: char data;\toffset:{8 + word};\tsize:{4096 - 8 - word};\tsigned:1;\n").encode()
        head = (b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
                b"\tarray       :   32 bits\n\n\tpadding     : type == 29\n\ttime_extend : type == 30\n"
                b"\ttime_stamp : type == 31\n\tdata max type_len  == 28\n")
        # a guest's functions have other names
        symbols = "".join(f"{address & (1 << 8 * word) - 1:x} T {'guest_' * (self.machine == 'guest')}{name}\n"
                          for address, name in FUNCTIONS).encode()
        out = b"\x17\x08\x44tracing6\0" + bytes([self.big, word]) + self.pack("I", 4096)
        out += b"header_page\0" + self.sized("Q", page) + b"header_event\0" + self.sized("Q", head)
        ftrace = formats.pop("ftrace", [])
        out += self.pack("I", len(ftrace)) + b"".join(self.sized("Q", text.encode()) for text in ftrace)
        out += self.pack("I", len(formats))
        for system, texts in formats.items():
            out += system.encode() + b"\0" + self.pack("I", len(texts))
            out += b"".join(self.sized("Q", text.encode()) for text in texts)
        out += self.sized("I", symbols) + self.sized("I", b"") + self.sized("Q", b"1 one\n2 two\n")
        out += self.pack("I", 1) + b"options  \0"
        clock = b"[local] global\0"
        out += self.pack("HI", 4, len(clock)) + clock
        if self.machine == "guest":
            out += self.pack("HIQ", 11, 8, GUEST_ID)
        if self.machine == "host":  # thread 2 runs the virtual CPU 0
            out += self.pack("HI", 13, 24) + b"vm1\0" + self.pack("QIII", GUEST_ID, 1, 0, 2)
        out += self.pack("H", 0) + b"flyrecord\0"
        at = -(len(out) + 64) % 4096 + len(out) + 64
        out += self.pack("QQ", at, len(pages) * 4096) + self.sized("Q", clock)
        return out + b"\0" * (at - len(out)) + b"".join(pages)


class Event:
    """A line of the table with the layout of its fields."""

    def __init__(self, number, line, trace, drop):
        name, fields, self.print = line.split(": ", 2)
        self.system, self.name = name.split("/")
        self.number, self.trace, self.fields = number, trace, []
        at = 8
        for text in filter(None, (f.strip() for f in fields.split(";"))):
            kind, field = text.split(" ", 1)
            field, _, values = field.partition("=")
            if drop and self.print == VERBATIM and random.random() < 1.5 / len(fields.split(";")):
                continue
            kind, declared, size = self.layout(kind, field)
            align = min(size, 8) if kind in ("number", "function") else 4 if kind == "place" else trace.word \
                if kind == "functions" else 1
            at += -at % align
            self.fields.append((kind, at, size, values))
            declared = f"\tfield:{declared};\toffset:{at};\tsize:{size};\tsigned:{int(text[0] in 'sl')};"
            self.fields[-1] += (declared,)
            at += size
        self.size = at

    def layout(self, kind, name):
        word = self.trace.word
        numbers = {"u8": ("unsigned char", 1), "u16": ("unsigned short", 2), "u32": ("unsigned int", 4), "u64": ("u64", 8),
                   "s32": ("int", 4), "s64": ("s64", 8), "long": ("long", word), "ulong": ("unsigned long", word)}
        if kind in numbers:
            return "number", f"{numbers[kind][0]} {name}", numbers[kind][1]
        if kind == "function":
            return kind, f"unsigned long {name}", word
        if kind == "functions":
            return kind, f"unsigned long {name}[8]", 8 * word
        if kind == "rest":
            return kind, f"char {name}[]", 0
        if kind.startswith("char"):
            return "text", f"char {name}[{kind[4:]}]", int(kind[4:])
        if kind.startswith("array"):
            return "bytes", f"u8 {name}[{kind[5:]}]", int(kind[5:])
        return "place", f"__data_loc {'char' if kind == 'str' else 'u8'}[] {name}", 4

    def format(self):
        common = ("\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                  "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                  "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n")
        return (f"name: {self.name}\nID: {self.number}\nformat:\n{common}" + "\n".join(f[4] for f in self.fields) +
                f"\n\nprint fmt: {self.print}\n")

    def record(self):
        pack, number = self.trace.pack, self.trace.number
        out = bytearray(pack("HBBi", self.number, 0, 0, random.randrange(1, 3)) + bytes(self.size - 8))
        tail = b""
        for kind, at, size, values, _ in self.fields:
            if kind == "number":
                out[at:at + size] = number(pick(values or f"0-{(1 << 8 * size) - 1}"), size)
            elif kind == "function":
                out[at:at + size] = number(an_address(), size)
            elif kind == "functions":
                del out[at:]
                out += b"".join(number(an_address(), self.trace.word) for _ in range(random.randrange(1, 9)))
                out += number(-1, self.trace.word) * random.randrange(2)
            elif kind == "text":
                out[at:at + size] = a_text(size - 1).ljust(size, b"\0")
            elif kind == "bytes":
                out[at:at + size] = random.randbytes(size)
            elif kind == "rest":
                tail = random.randbytes(8 * random.randrange(1, 6) - (self.size - 8 + 4) % 8)
            else:
                extra = self.tail(values)
                out[at:at + size] = number(len(extra) << 16 | self.size + len(tail), 4)
                tail += extra
        return bytes(out) + tail

    def tail(self, values):
        if not values:
            return a_text(14) + b"\0"
        count, ranges = values.split(":")
        data = bytearray(random.randbytes(int(count)))
        data[0] = pick(ranges)
        if data[0] == 0x7f and random.random() < .8:
            data[8:10] = bytes([0, random.choice((9, 10, 11, 13))])
        if data[0] == 0x9e:
            data[1] = random.choice((0x10, 0x12, 0x32, data[1]))
        return bytes(data)


def pick(ranges):
    low, _, high = random.choice(ranges.split("|")).partition("-")
    return random.randint(int(low, 0), int(high or low, 0))


def an_address():
    return random.choice(FUNCTIONS)[0] + random.choice((0, 0, 7)) if random.random() < .9 else random.getrandbits(62)


def a_text(most):
    return bytes(random.choice(b"abcXYZ019 _/:") for _ in range(random.randint(1, most)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--big", action="store_true")
    parser.add_argument("--word", type=int, default=8)
    parser.add_argument("--drop", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--machine", choices=["host", "guest"])
    parser.add_argument("seed", type=int)
    parser.add_argument("out")
    args = parser.parse_args()
    random.seed(args.seed)
    trace = File(args.big, args.word, args.machine)
    events = [Event(100 + i, line, trace, args.drop) for i, line in enumerate(TABLE) if re.search(args.only, line.split(":")[0])]
    formats = {}
    for event in events:
        formats.setdefault(event.system, []).append(event.format())
    pages, records = [], [random.choice(events).record() for _ in range(24 * len(events))]
    for i in range(0, len(records), 16):
        pages.append(trace.page(1000000000 + i * 1000, records[i:i + 16]))
    with open(args.out, "wb") as out:
        out.write(trace.data(formats, pages))


main()
