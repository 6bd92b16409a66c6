#!/usr/bin/env python3
"""A perf.data with samples in the kernel, in its modules and in code that the kernel has made, and their names.

usage: perf_kernel.py DATA KALLSYMS MODULE PATH >NAMES

MODULE is the file of a kernel module with functions, PATH the path that the recording has of it, below /lib/modules
or "[name]". KALLSYMS is written: a kernel with symbols, and another module, of which no file is recorded. NAMES has a
line for each sample: its time, the function and the module. The layout is that of perf.data-file-format.txt and of
perf_event.h; the places of the sections of a module are those of layout_sections() in kernel/module/main.c.
"""
import re
import struct
import subprocess
import sys

TEXT, KERNEL_SIZE = 0xffffffff81000000, 0x1000000
MODULE_AT, OTHER_AT, CODE = 0xffffffffc0100000, 0xffffffffc0200000, 0xffffffffc0300000
INSIDE = TEXT + 0x800000  # of the kernel's mapping
SAMPLE, MMAP, KSYMBOL, BPF_EVENT = 9, 1, 17, 18
IP, TID, TIME = 1, 2, 4
BPF, OUT_OF_LINE = 1, 2
BUILD_ID = 2  # number of the feature


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def text(value):
    return value.encode() + bytes(8 - len(value) % 8)


class Recording:
    def __init__(self):
        self.records, self.names, self.time, self.build_ids = b"", [], 0, b""

    def record(self, kind, misc, body, origin=True):
        body += struct.pack("<iiQ", -1, 0, self.time) if origin else b""
        self.records += struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def mmap(self, start, size, offset, path):
        self.record(MMAP, 1, struct.pack("<iiQQQ", -1, 0, start, size, offset) + text(path))

    def ksymbol(self, start, size, kind, name, gone=False):
        self.record(KSYMBOL, 0, struct.pack("<QIHH", start, size, kind, gone) + text(name))
        if kind == BPF:
            self.record(BPF_EVENT, 0, struct.pack("<HHI8s", 2 if gone else 1, 0, 7, bytes(8)))

    def sample(self, address, name, module):
        self.time += 1000
        self.record(SAMPLE, 1, struct.pack("<QiiQ", address, 1, 1, self.time), False)
        self.names.append((self.time, name, module))

    def build_id(self, identity, path):
        body = struct.pack("<i20s4x", -1, bytes.fromhex(identity)) + text(path)
        self.build_ids += struct.pack("<IHH", 67, 1, 8 + len(body)) + body

    def file(self):
        flags = 1 << 8 | 1 << 9 | 1 << 18 | 1 << 29 | 1 << 30  # mmap, comm, sample_id_all, ksymbol, bpf_event
        attr = struct.pack("<IIQQQQQ", 1, 136, 0, 1000, IP | TID | TIME, 0, flags) + bytes(136 - 48)
        attrs = attr + struct.pack("<QQ", 0, 0)
        start = 104 + len(attrs)
        end = start + len(self.records)
        features = 1 << BUILD_ID if self.build_ids else 0
        head = struct.pack("<8sQQQQQQQQQQQQ", b"PERFILE2", 104, len(attrs), 104, len(attrs), start,
                           len(self.records), 0, 0, features, 0, 0, 0)
        tail = struct.pack("<QQ", end + 16, len(self.build_ids)) + self.build_ids if features else b""
        return head + attrs + self.records + tail


def module_functions(path):
    """Name: address in the module's text, and size, of each function that the kernel keeps."""
    places, end = {}, 0
    for line in run("readelf", "-SW", path).splitlines():
        match = re.match(r" *\[ *(\d+)\] (\S+) +\S+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +(\S+) +\d+ +\d+ +(\d+)$", line)
        if match and "A" in match[4] and "X" in match[4] and not match[2].startswith(".init"):
            align = max(int(match[5]), 1)
            end = (end + align - 1) // align * align
            places[match[1]] = end
            end += int(match[3], 16)
    found = {}
    for line in run("readelf", "-sW", path).splitlines():
        words = line.split()
        if len(words) == 8 and words[3] == "FUNC" and words[6] in places:
            found[words[7]] = places[words[6]] + int(words[1], 16), int(words[2], 0)
    return found, end


def build_id_of(path):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-nW", path))[1]


def write(recording, module, path):
    functions, size = module_functions(module)
    shown = path if path[0] == "[" else "[" + path.rsplit("/", 1)[1].split(".")[0].replace("-", "_") + "]"
    r = recording
    r.build_id(build_id_of(module), path)
    r.mmap(TEXT, KERNEL_SIZE, TEXT, "[kernel.kallsyms]_text")
    r.mmap(MODULE_AT, size + 0xfff & ~0xfff, 0, path)
    r.mmap(OTHER_AT, 0x2000, 0, "[other]")
    r.ksymbol(CODE, 0x100, BPF, "bpf_prog_6deef7357e7b4530_sd_fw_egress")
    r.ksymbol(INSIDE, 0x80, OUT_OF_LINE, "ftrace_trampoline")
    r.sample(TEXT + 0x10, "start_kernel", "[kernel.kallsyms]")
    for name, (at, length) in sorted(functions.items()):
        r.sample(MODULE_AT + at, name, shown)
        r.sample(MODULE_AT + at + length - 1, name, shown)
    r.sample(OTHER_AT + 0x123, "other_work", "[other]")
    r.sample(CODE, "bpf_prog_6deef7357e7b4530_sd_fw_egress", "bpf_prog_6deef7357e7b4530_sd_fw_egress")
    r.sample(CODE + 0xff, "bpf_prog_6deef7357e7b4530_sd_fw_egress", "bpf_prog_6deef7357e7b4530_sd_fw_egress")
    r.sample(CODE + 0x100, f"<{CODE + 0x100:x}>", "")
    r.sample(INSIDE + 0x7f, "ftrace_trampoline", "ftrace_trampoline")
    r.sample(INSIDE + 0x80, "rest_of_kernel", "[kernel.kallsyms]")
    r.ksymbol(INSIDE, 0x80, OUT_OF_LINE, "ftrace_trampoline", gone=True)
    r.sample(INSIDE + 0x7f, "rest_of_kernel", "[kernel.kallsyms]")
    r.ksymbol(CODE, 0x100, BPF, "bpf_prog_6deef7357e7b4530_sd_fw_egress", gone=True)
    r.sample(CODE + 8, f"<{CODE + 8:x}>", "")
    # the same addresses are used again
    r.ksymbol(CODE, 0x40, BPF, "bpf_prog_0123456789abcdef_other")
    r.sample(CODE + 8, "bpf_prog_0123456789abcdef_other", "bpf_prog_0123456789abcdef_other")
    r.sample(CODE + 0x48, f"<{CODE + 0x48:x}>", "")
    # what was never registered
    r.ksymbol(OTHER_AT + 0x40, 0x40, BPF, "bpf_prog_none", gone=True)
    r.sample(OTHER_AT + 0x50, "other_init", "[other]")


def main():
    data, kallsyms, module, path = sys.argv[1:]
    recording = Recording()
    write(recording, module, path)
    with open(data, "wb") as file:
        file.write(recording.file())
    with open(kallsyms, "w", encoding="ascii") as file:
        print(f"{TEXT:x} T _text\n{TEXT + 8:x} T start_kernel\n{TEXT + 0x1000:x} T rest\n"
              f"{INSIDE - 0x1000:x} t rest_of_kernel\n{INSIDE + 0x1000:x} t last\n"
              f"{OTHER_AT:x} t other_init\t[other]\n{OTHER_AT + 0x100:x} t other_work\t[other]\n"
              f"{OTHER_AT + 0x200:x} t other_end\t[other]", file=file)
    for time, name, shown in recording.names:
        print(time, name, shown, sep="\t")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main()
