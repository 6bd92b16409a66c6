#!/usr/bin/env python3
"""Write a recording of ftrace as a kernel trace of LTTng 2: CTF 1.8, with the names of events and fields of
lttng-modules 2.7 to 2.13, for programs that read such traces. Shares nothing with trutils.

    trace-cmd report -R -t x.dat | t/tools/lttng_kernel.py [--dump x.dump] [--only REGEX] DIR

x.dump has what the state dump of LTTng knows, one a line: `process PID TID PPID NAME`, `tgid TID PID`.
With --only, threads whose names do not match have no events but those of the scheduler, and no name; threads
of the kernel keep theirs. The events `file` of an uprobe on open(), with the field file, name the file of the
next openat of their thread, as ftrace records a pointer.
"""
import argparse
import os
import re
import struct
import sys

KINDS = {"u32": ("I", "integer { size = 32; align = 8; signed = 0; encoding = none; base = 10; }"),
         "i32": ("i", "integer { size = 32; align = 8; signed = 1; encoding = none; base = 10; }"),
         "u64": ("Q", "integer { size = 64; align = 8; signed = 0; encoding = none; base = 10; }"),
         "x64": ("Q", "integer { size = 64; align = 8; signed = 0; encoding = none; base = 16; }"),
         "i64": ("q", "integer { size = 64; align = 8; signed = 1; encoding = none; base = 10; }"),
         "str": (None, "string"),
         "comm": ("16s", None)}

# the fields of lttng-modules, of those system calls whose arguments a reader needs; others have none
ARGUMENTS = {
    "read": "u32 fd:0 u64 count:2", "write": "u32 fd:0 x64 buf:1 u64 count:2",
    "pread64": "u32 fd:0 u64 count:2 i64 pos:3", "pwrite64": "u32 fd:0 x64 buf:1 u64 count:2 i64 pos:3",
    "readv": "u64 fd:0 x64 vec:1 u64 vlen:2", "writev": "u64 fd:0 x64 vec:1 u64 vlen:2",
    "open": "str filename i32 flags:1 u32 mode:2", "openat": "i32 dfd:0 str filename i32 flags:2 u32 mode:3",
    "close": "u32 fd:0", "dup": "u32 fildes:0", "dup2": "u32 oldfd:0 u32 newfd:1",
    "dup3": "u32 oldfd:0 u32 newfd:1 i32 flags:2", "fcntl": "u32 fd:0 u32 cmd:1 u64 arg:2",
    "socket": "i32 family:0 i32 type:1 i32 protocol:2", "accept": "i32 fd:0", "accept4": "i32 fd:0 i32 flags:3",
    "connect": "i32 fd:0 i32 addrlen:2", "recvfrom": "i32 fd:0 u64 size:2 u32 flags:3",
    "sendto": "i32 fd:0 x64 buff:1 u64 len:2 u32 flags:3", "recvmsg": "i32 fd:0 u32 flags:2",
    "sendmsg": "i32 fd:0 u32 flags:2", "fsync": "u32 fd:0", "fdatasync": "u32 fd:0",
    "sync_file_range": "i32 fd:0 i64 offset:1 i64 nbytes:2 u32 flags:3",
    "splice": "i32 fd_in:0 i32 fd_out:2 u64 len:4 u32 flags:5",
    "sendfile": "i32 out_fd:0 i32 in_fd:1 u64 count:3"}
OF_LTTNG = {"sendfile": "sendfile64"}

EVENTS = {
    "sched_switch": "comm prev_comm i32 prev_tid i32 prev_prio i64 prev_state comm next_comm i32 next_tid i32 next_prio",
    "sched_waking": "comm comm i32 tid i32 prio i32 target_cpu",
    "sched_wakeup": "comm comm i32 tid i32 prio i32 target_cpu",
    "sched_wakeup_new": "comm comm i32 tid i32 prio i32 target_cpu",
    "sched_migrate_task": "comm comm i32 tid i32 prio i32 orig_cpu i32 dest_cpu",
    "sched_process_fork": "comm parent_comm i32 parent_tid i32 parent_pid comm child_comm i32 child_tid i32 child_pid",
    "sched_process_exec": "str filename i32 tid i32 old_tid",
    "irq_handler_entry": "i32 irq str name", "irq_handler_exit": "i32 irq i32 ret",
    "softirq_raise": "u32 vec", "softirq_entry": "u32 vec", "softirq_exit": "u32 vec",
    "block_rq_issue": "u32 dev u64 sector u32 nr_sector u32 bytes i32 tid u32 rwbs comm comm",
    "block_rq_insert": "u32 dev u64 sector u32 nr_sector u32 bytes i32 tid u32 rwbs comm comm",
    "block_rq_complete": "u32 dev u64 sector u32 nr_sector i32 errors u32 rwbs",
    "block_bio_remap": "u32 dev u64 sector u32 nr_sector u32 old_dev u64 old_sector u32 rwbs",
    "block_bio_backmerge": "u32 dev u64 sector u32 nr_sector u32 rwbs i32 tid comm comm",
    "mm_page_alloc": "u64 pfn u32 order u32 gfp_flags i32 migratetype", "mm_page_free": "u64 pfn u32 order",
    "net_dev_xmit": "x64 skbaddr i32 rc u32 len str name", "netif_receive_skb": "x64 skbaddr u32 len str name",
    "writeback_pages_written": "i64 pages", "mm_vmscan_wakeup_kswapd": "i32 nid i32 zid i32 order",
    "lttng_statedump_process_state": "i32 tid i32 pid i32 ppid comm name"}
IN_LTTNG = {"mm_page_alloc": "kmem_mm_page_alloc", "mm_page_free": "kmem_mm_page_free"}
RWBS = {"W": 1, "D": 2, "R": 4, "A": 8, "F": 256, "S": 16, "M": 32, "E": 64, "N": 0}

LINE = re.compile(r"^(?:[\w.-]+:)?\s*(.+)-(\d+)\s+\[(\d+)\]\s+(?:\S{4,6}\s+)?(\d+)\.(\d{9}): (\w+):\s*(.*)$")
NUMBER = re.compile(r"-?(0x[0-9a-f]+|\d+)$")


def fields_of(text):
    words = text.split()
    return list(zip(words[::2], words[1::2]))


def values_of(text):
    """name=value ...; a value may have blanks"""
    at = list(re.finditer(r"(?:^| )(\w+)=", text))
    return {m.group(1): text[m.end():(at[i + 1].start() if i + 1 < len(at) else len(text))]
            for i, m in enumerate(at)}


def number(text):
    return int(text, 0 if text.lstrip("-").startswith("0x") else 10)


class Writer:
    def __init__(self, directory):
        self.ids, self.streams, self.first, self.last = {}, {}, None, 0
        self.directory = directory

    def put(self, cpu, time, name, fields, values):
        if name not in self.ids:
            self.ids[name] = (len(self.ids), fields)
        body = b""
        for kind, field in fields:
            field = field.split(":")[0]
            value = values[field]
            if kind == "str":
                body += value.encode() + b"\0"
            elif kind == "comm":
                body += struct.pack("16s", value.encode()[:15])
            else:
                code = KINDS[kind][0]
                bits = struct.calcsize("<" + code) * 8
                value &= (1 << bits) - 1
                if code.islower() and value >> bits - 1:
                    value -= 1 << bits
                body += struct.pack("<" + code, value)
        self.streams.setdefault(cpu, []).append((time, self.ids[name][0], body))
        self.first = time if self.first is None else min(self.first, time)
        self.last = max(self.last, time)

    PACKET = 32768

    def packet(self, cpu, sequence, begin, end, events):
        content = b""
        before = begin
        for time, event, body in events:
            if time - before < 1 << 32:
                content += struct.pack("<HI", event, time & 0xffffffff)
            else:
                content += struct.pack("<HIQ", 65535, event, time)
            content += body
            before = time
        size = 4 + 16 + 4 + 8 + 8 * 6 + 4 + len(content)
        head = struct.pack("<I16sIQQQQQQQI", 0xc1fc1fc1, self.uuid, 0, cpu, begin, end, size * 8, size * 8, sequence,
                           0, cpu)
        assert len(head) + len(content) == size
        return head + content

    def write(self):
        os.makedirs(self.directory, exist_ok=True)
        self.uuid = bytes(range(16))
        for cpu, events in self.streams.items():
            with open(os.path.join(self.directory, "chan_%d" % cpu), "wb") as out:
                # the streams begin and end together, so their intersection is the whole trace
                begin, sequence, packet, size = self.first, 0, [], 0
                for i, event in enumerate(events):
                    packet.append(event)
                    size += 14 + len(event[2])
                    if size > self.PACKET or i + 1 == len(events):
                        end = self.last if i + 1 == len(events) else event[0]
                        out.write(self.packet(cpu, sequence, begin, end, packet))
                        begin, sequence, packet, size = end, sequence + 1, [], 0
        with open(os.path.join(self.directory, "metadata"), "w") as out:
            out.write(self.metadata())

    def metadata(self):
        text = '/* CTF 1.8 */\ntypealias integer { size = 8; align = 8; signed = 0; } := uint8_t;\n' \
            'typealias integer { size = 32; align = 8; signed = 0; } := uint32_t;\n' \
            'typealias integer { size = 64; align = 8; signed = 0; } := uint64_t;\n' \
            'trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";\n' \
            '\tbyte_order = le;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n' \
            '\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n\t};\n};\n' \
            'env {\n\tdomain = "kernel";\n\tsysname = "Linux";\n\ttracer_name = "lttng-modules";\n' \
            '\ttracer_major = 2;\n\ttracer_minor = 9;\n\ttracer_patchlevel = 0;\n};\n' \
            'clock {\n\tname = "monotonic";\n\tfreq = 1000000000;\n\toffset = 0;\n};\n' \
            'typealias integer { size = 32; align = 8; signed = 0; map = clock.monotonic.value; } := time32_t;\n' \
            'typealias integer { size = 64; align = 8; signed = 0; map = clock.monotonic.value; } := time64_t;\n' \
            'struct event_header {\n\tenum : integer { size = 16; align = 8; signed = 0; } ' \
            '{ compact = 0 ... 65534, extended = 65535 } id;\n\tvariant <id> {\n' \
            '\t\tstruct { time32_t timestamp; } compact;\n' \
            '\t\tstruct { uint32_t id; time64_t timestamp; } extended;\n\t} v;\n} align(8);\n' \
            'stream {\n\tid = 0;\n\tevent.header := struct event_header;\n\tpacket.context := struct {\n' \
            '\t\ttime64_t timestamp_begin;\n\t\ttime64_t timestamp_end;\n\t\tuint64_t content_size;\n' \
            '\t\tuint64_t packet_size;\n\t\tuint64_t packet_seq_num;\n\t\tuint64_t events_discarded;\n' \
            '\t\tuint32_t cpu_id;\n\t};\n};\n'
        for name, (number_of, fields) in self.ids.items():
            text += 'event {\n\tname = "%s";\n\tid = %d;\n\tstream_id = 0;\n\tfields := struct {\n' % (name, number_of)
            for kind, field in fields:
                field = field.split(":")[0]
                if kind == "comm":
                    text += "\t\tinteger { size = 8; align = 8; signed = 1; encoding = UTF8; } _%s[16];\n" % field
                else:
                    text += "\t\t%s _%s;\n" % (KINDS[kind][1], field)
            text += "\t};\n};\n"
        return text


def system_calls():
    names = {}
    with open("/usr/include/x86_64-linux-gnu/asm/unistd_64.h") as header:
        for line in header:
            m = re.match(r"#define __NR_(\w+) (\d+)", line)
            if m:
                names[int(m.group(2))] = m.group(1)
    return names


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--dump")
    options.add_argument("--only")
    options.add_argument("directory")
    options = options.parse_args()
    writer, calls, only = Writer(options.directory), system_calls(), re.compile(options.only or "")
    of_kernel, process, dump = {0, 2}, {}, []
    for line in open(options.dump) if options.dump else []:
        word = line.rstrip("\n").split(" ", 4)
        if word[0] == "process":
            dump.append((int(word[1]), int(word[2]), int(word[3]), word[4]))
            process[int(word[2])] = int(word[1])
            if word[3] == "2":
                of_kernel.add(int(word[2]))
        else:
            process.setdefault(int(word[1]), int(word[2]))
    files, issued, dumped = {}, set(), False

    def named(tid, comm):
        return comm if tid in of_kernel or only.match(comm) else "other"

    for line in sys.stdin:
        m = LINE.match(line)
        if not m:
            continue
        tid, cpu, time = int(m.group(2)), int(m.group(3)), int(m.group(4)) * 10**9 + int(m.group(5))
        name, text = m.group(6), m.group(7)
        of_it = tid in of_kernel or only.match(m.group(1)) is not None
        if not dumped:
            dumped = True
            for d_pid, d_tid, ppid, comm in dump:
                writer.put(cpu, time, "lttng_statedump_process_state", fields_of(EVENTS["lttng_statedump_process_state"]),
                           {"pid": d_pid, "tid": d_tid, "ppid": ppid, "name": named(d_tid, comm)})
        v = values_of(text)
        if name == "file":
            files[tid] = v["file"].strip('"')
        elif name in ("sys_enter", "sys_exit"):
            call = calls.get(number(v["id"]))
            if not of_it or not call:
                continue
            call = OF_LTTNG.get(call, call)
            if name == "sys_exit":
                writer.put(cpu, time, "syscall_exit_" + call, [("i64", "ret")], {"ret": number(v["ret"])})
                continue
            raw = bytes(int(x, 16) for x in re.findall(r"[0-9a-f]{2}(?=[,\]])", v["args"]))
            args = struct.unpack("<6Q", raw[:48])
            fields = fields_of(ARGUMENTS.get(call, ARGUMENTS.get("sendfile") if call == "sendfile64" else ""))
            values = {f.split(":")[0]: args[int(f.split(":")[1])] for _, f in fields if ":" in f}
            if call in ("open", "openat"):
                values["filename"] = files.pop(tid, "")
            writer.put(cpu, time, "syscall_entry_" + call, fields, values)
        elif name in EVENTS:
            request = (v.get("dev"), v.get("sector"))
            if name == "block_rq_complete":
                of_it = request in issued # whoever it interrupts
                issued.discard(request)
            if not of_it and (name == "sched_process_exec" or not name.startswith(("sched_", "softirq", "irq"))):
                continue
            if name == "block_rq_issue":
                issued.add(request)
            for key, value in list(v.items()):
                if key == "rwbs":
                    v[key] = sum(RWBS.get(letter, 0) for letter in set(value))
                elif not key.endswith(("comm", "name")) and NUMBER.match(value):
                    v[key] = number(value)
            for a, b in (("prev", "prev_comm"), ("next", "next_comm"), ("parent", "parent_comm"), ("child", "child_comm"),
                         ("", "comm")):
                if b in v:
                    of = tid if name.startswith("block") else v[a + "_pid" if a else "pid"]
                    v[b] = named(of, v[b])
            for key in ("prev", "next", "parent", "child", "old"):
                if key + "_pid" in v:
                    v[key + "_tid"] = v[key + "_pid"]
                    v[key + "_pid"] = process.get(v[key + "_tid"], v[key + "_tid"])
            v["tid"] = v["pid"] if "pid" in v else tid
            for key in [k for k in v if k.endswith("prio")]:
                v[key] -= 100 # lttng-modules subtract MAX_RT_PRIO
            v["errors"] = v.get("error", 0)
            writer.put(cpu, time, IN_LTTNG.get(name, name), fields_of(EVENTS[name]), v)
    writer.write()


main()
