#!/usr/bin/env python3
"""Recordings of simpleperf: reads the names of stacks, by the file's own tables, and writes small recordings.

    simpleperf.py stacks perf.data         TIME<tab>OUTERMOST;...;INNERMOST of each sample with a call chain
    simpleperf.py all perf.data            the same, with all names that the tables have for a frame
    simpleperf.py write VERSION perf.data  one with features FILE (1) or FILE2 (2), and the expected stacks on stdout;
                                           hybrid: as 2, of two kinds of cores

Facts: simpleperf/record_file_format.h, record.h, record_file.proto and dso.cpp of Android's platform/system/extras.
Shares nothing with the programs.
"""
import bisect
import struct
import sys

IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM = (1 << i for i in range(10))
IDENTIFIER = 1 << 16
KERNEL, MODULE, ELF, DEX = range(4)
UNKNOWN = (1 << 64) - 1
KALLSYMS = "[kernel.kallsyms]"


def text(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2
            size, at = varint(data, at)
            value = data[at : at + size]
            at += size
        yield key >> 3, value


class File:
    def __init__(self, path, kind, least):
        self.path, self.kind, self.least, self.offset = path, kind, least, UNKNOWN
        self.symbols = []

    def finish(self):
        self.symbols.sort(key=lambda s: s[0])
        self.starts = [s[0] for s in self.symbols]
        return self

    def address(self, ip, start, pgoff, symfile):
        if symfile:
            return ip
        if self.kind == ELF:
            return ip - start + self.least + (0 if self.offset == UNKNOWN else pgoff - self.offset)
        if self.kind == DEX:
            return ip - start + pgoff
        if self.kind == MODULE:
            return ip - start + self.least - (0 if self.offset == UNKNOWN else self.offset)
        return ip

    def find(self, address):
        """the names of the last symbols before the address, if they have it"""
        end = bisect.bisect_right(self.starts, address)
        first = bisect.bisect_left(self.starts, self.starts[end - 1]) if end else 0
        return [name for start, size, name in self.symbols[first:end] if address < start + size and name]


class Recording:
    def __init__(self, data):
        self.data = data
        self.attr_size, attrs, nattrs, at, size = struct.unpack_from("<5Q", data, 16)
        self.attrs = []
        self.ids = {}
        for i in range(attrs, attrs + nattrs, self.attr_size):
            kind, _, config, _, sample_type, read, flags = struct.unpack_from("<II5Q", data, i)
            self.attrs.append((sample_type, read, flags))
            ids, n = struct.unpack_from("<2Q", data, i + self.attr_size - 16)
            for k in range(ids, ids + n, 8):
                self.ids[struct.unpack_from("<Q", data, k)[0]] = len(self.attrs) - 1
        self.files = {}
        self.features(at + size)
        self.records = self.read(at, at + size)

    def features(self, at):
        for number in range(256):
            if not self.data[72 + number // 8] >> number % 8 & 1:
                continue
            offset, size = struct.unpack_from("<2Q", self.data, at)
            at += 16
            content = self.data[offset : offset + size]
            while number in (128, 132) and content:
                size = struct.unpack_from("<I", content)[0]
                f = (self.file if number == 128 else self.message)(content[4 : 4 + size])
                self.files.setdefault(f.path, f.finish())
                content = content[4 + size :]

    def file(self, d):
        path, at = text(d, 0)
        kind, least, count = struct.unpack_from("<IQI", d, at)
        at += 16
        f = File(path, kind, least)
        for _ in range(count):
            start, size = struct.unpack_from("<QI", d, at)
            name, at = text(d, at + 12)
            f.symbols.append((start, size, name))
        if kind in (ELF, MODULE) and len(d) - at >= 8:
            f.offset = struct.unpack_from("<Q", d, at)[0]
        return f

    def message(self, d):
        f = File("", 0, 0)
        for number, value in fields(d):
            if number == 1:
                f.path = value.decode()
            elif number == 2:
                f.kind = value
            elif number == 3:
                f.least = value
            elif number == 4:
                s = dict(fields(value))
                f.symbols.append((s.get(1, 0), s.get(2, 0), s.get(3, b"").decode()))
            elif number in (6, 7):
                f.offset = dict(fields(value)).get(1, 0)
        return f

    def read(self, at, end):
        out, parts = [], b""
        while at < end:
            kind, misc, size = struct.unpack_from("<IHH", self.data, at)
            if kind >= 32768:
                size |= misc << 16
            body = self.data[at + 8 : at + size]
            at += size
            if kind == 71:
                at += struct.unpack_from("<Q", body)[0]
            if kind == 32772:
                parts += body
            elif kind == 32773:
                self.own(struct.unpack_from("<I", parts)[0], parts[8:])
                parts = b""
            elif kind >= 32768:
                self.own(kind, body)
            else:
                out.append((self.time(kind, body), kind, misc, body))
        return out

    def own(self, kind, body):
        if kind == 32769:
            size = struct.unpack_from("<I", body)[0]
            self.kallsyms(body[4 : 4 + size].decode())
        elif kind == 32774:
            for i in range(struct.unpack_from("<Q", body)[0]):
                attr, number = struct.unpack_from("<2Q", body, 8 + 16 * i)
                self.ids.setdefault(number, attr)

    def kallsyms(self, lines):
        symbols = []
        for line in lines.splitlines():
            address, kind, name = line.split()[:3]
            symbols.append((int(address, 16), kind, name))
        symbols.sort(key=lambda s: s[0])
        f = File(KALLSYMS, KERNEL, 0)
        for i, (start, kind, name) in enumerate(symbols):
            after = [s[0] for s in symbols[i + 1 :] if s[0] > start]
            if kind in "tTwW" and after:
                f.symbols.append((start, after[0] - start, name))
        self.files.setdefault(KALLSYMS, f.finish())

    def origin(self, body):
        """offsets of time and id from the end of a record that is no sample"""
        at, has = len(body), self.attrs[0][0]
        where = {}
        for bit in (IDENTIFIER, CPU, STREAM, ID, TIME, TID):
            if has & bit:
                at -= 8
                where[bit] = at
        return where

    def time(self, kind, body):
        if kind == 9:
            return self.sample(body)["time"]
        if not self.attrs[0][2] >> 18 & 1:
            return 0
        return struct.unpack_from("<Q", body, self.origin(body)[TIME])[0]

    def attr_of(self, body):
        if len(self.attrs) == 1:
            return self.attrs[0]
        has = self.attrs[0][0]
        at = 0 if has & IDENTIFIER else 8 * bin(has & (IP | TID | TIME | ADDR)).count("1")
        return self.attrs[self.ids[struct.unpack_from("<Q", body, at)[0]]]

    def sample(self, body):
        has, read, _ = self.attr_of(body)
        s, at = {"chain": None}, 0
        for bit in (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM, CPU, PERIOD):
            if has & bit:
                (value,) = struct.unpack_from("<Q", body, at)
                at += 8
                s.update({IP: {"ip": value}, TID: {"pid": value & 0xFFFFFFFF}, TIME: {"time": value}}.get(bit, {}))
        if has & READ:
            n, each = 1, 8 + (8 if read & 4 else 0)
            if read & 8:
                (n,) = struct.unpack_from("<Q", body, at)
                at += 8
            at += 8 * bin(read & 3).count("1") + n * each
        if has & CHAIN:
            (n,) = struct.unpack_from("<Q", body, at)
            s["chain"] = struct.unpack_from("<%dQ" % n, body, at + 8)
        return s


def insert(maps, new):
    out = []
    for start, end, pgoff, path, symfile in maps:
        if start < new[0]:
            out.append((start, min(end, new[0]), pgoff, path, symfile))
        if end > new[1]:
            begin = max(start, new[1])
            out.append((begin, end, pgoff + begin - start, path, symfile))
    return out + [new]


def stacks(recording):
    kernel, maps = [], {}
    for time, kind, misc, body in sorted(recording.records, key=lambda r: r[0]):
        if kind in (1, 10):
            pid, _, start, size, pgoff = struct.unpack_from("<IIQQQ", body)
            path, _ = text(body, 64 if kind == 10 else 32)
            symfile = kind == 10 and bool(struct.unpack_from("<I", body, 56)[0] & 0x4000)
            new = (start, start + size, pgoff, path, symfile)
            if misc & 7 == 1:
                if path.startswith(KALLSYMS):
                    new = new[:3] + (KALLSYMS, False)
                kernel = insert(kernel, new)
            else:
                maps[pid] = insert(maps.get(pid, []), new)
        elif kind == 7:
            pid, parent = struct.unpack_from("<II", body)
            if pid != parent:
                maps[pid] = list(maps.get(parent, []))
        elif kind == 9:
            s = recording.sample(body)
            if s["chain"] is None:
                continue
            where, frames = (kernel if misc & 7 == 1 else maps.get(s["pid"], [])), []
            for ip in s["chain"]:
                if ip >= UNKNOWN - 4094:
                    where = kernel if ip == UNKNOWN - 127 else maps.get(s["pid"], [])
                    continue
                frames.append(name(recording, where, ip))
            yield time, frames[::-1]


def name(recording, where, ip):
    """all names that the tables have for the address"""
    for start, end, pgoff, path, symfile in where:
        f = recording.files.get(path)
        if start <= ip < end and f:
            found = f.find(f.address(ip, start, pgoff, symfile))
            if not found and f.kind == MODULE and KALLSYMS in recording.files:
                found = recording.files[KALLSYMS].find(ip)
            return found or ["<%x>" % ip]
    return ["<%x>" % ip]


def record(kind, body, misc=0):
    body += bytes(-len(body) % 8)
    size = len(body) + 8
    if kind >= 32768:
        misc, size = size >> 16, size & 0xFFFF
    return struct.pack("<IHH", kind, misc, size) + body


def message(*parts):
    def number(n):
        out = b""
        while n > 0x7F:
            out += bytes([n & 0x7F | 0x80])
            n >>= 7
        return out + bytes([n])

    out = b""
    for key, value in parts:
        if isinstance(value, int):
            out += number(key << 3) + number(value)
        else:
            out += number(key << 3 | 2) + number(len(value)) + value
    return out


FILES = [  # path, kind, least address, symbols, offset of the least address
    ("/system/lib64/libc.so", ELF, 0x61000, [(0x61000, 0x40, "malloc"), (0x61040, 0x80, "free")], 0x1000),
    ("/data/app/base.vdex", DEX, 0, [(0x300, 0x20, "com.example.Main.run"), (0x320, 8, "com.example.Main.<init>")], None),
    ("[JIT] app cache", ELF, 0, [(0x7000000100, 0x80, "java.lang.String.equals")], 0),
    ("/vendor/lib/modules/a.ko", MODULE, 0x10, [(0x10, 0x20, "a_init")], 0x8),
]
KERNEL_TEXT = "".join(
    "%x %s %s\n" % line
    for line in [
        (0xFFFFFF8000080000, "T", "_stext"),
        (0xFFFFFF8000080100, "T", "do_idle"),
        (0xFFFFFF8000080200, "t", "schedule"),
        (0xFFFFFF8000080300, "D", "data"),
        (0xFFFFFF8001000100, "t", "a_exit\t[a]"),
        (0xFFFFFF8001000200, "t", "b_exit\t[a]"),
    ]
)
FORMAT = """name: sched_waking
ID: 91
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:int prio;\toffset:8;\tsize:4;\tsigned:1;

print fmt: "prio=%d", REC->prio
"""


def attribute(kind, config, raw):
    has = IP | TID | TIME | ID | CPU | PERIOD | (1 << 10 if raw else CHAIN)
    flags = 1 << 18 | 1 << 8 | 1 << 9 | 1 << 23
    return struct.pack("<II5Q", kind, 112, config, 1, has, 0, flags).ljust(112, b"\0")


def tracing_data():
    out = b"\x17\x08\x44tracing0.6\0" + bytes([0, 8]) + struct.pack("<I", 4096)
    out += b"header_page\0" + struct.pack("<Q", 0) + b"header_event\0" + struct.pack("<Q", 0)
    out += struct.pack("<I", 0) + struct.pack("<I", 1) + b"sched\0" + struct.pack("<IQ", 1, len(FORMAT))
    return out + FORMAT.encode() + struct.pack("<II", 0, 0)


def write(version, path):
    hybrid = version == "hybrid"
    version = 1 if version == "1" else 2
    time = 1000
    records = [record(32769, struct.pack("<I", len(KERNEL_TEXT)) + KERNEL_TEXT.encode())]
    data = tracing_data()
    records.append(record(32777, struct.pack("<I", len(data)) + data))
    ids = record(32774, struct.pack("<5Q", 2, 0, 11, 1, 12))
    records += [record(32772, ids[:24]), record(32772, ids[24:]), record(32773, b"")]

    def end():
        return struct.pack("<IIQQII", 7, 7, time, 11, 0, 0)

    def mapping(start, size, pgoff, name, misc=2, prot=5):
        body = struct.pack("<IIQQQIIQQII", 7, 7, start, size, pgoff, 0, 0, 0, 0, prot, 2)
        body += name.encode() + b"\0"
        records.append(record(10, body + bytes(-len(body) % 8) + end(), misc))

    records.append(record(3, struct.pack("<II", 7, 7) + b"app\0\0\0\0\0" + end()))
    mapping(0xFFFFFF8000080000, 0x800000, 0, KALLSYMS, 1)
    mapping(0xFFFFFF8001000000, 0x1000, 0, FILES[3][0], 1)
    mapping(0x7100000000, 0x2000, 0x1000, FILES[0][0])
    mapping(0x7200000000, 0x1000, 0x200, FILES[1][0])
    mapping(0x7000000000, 0x1000, 0x5000, FILES[2][0], 2, 0x4005)
    mapping(0x7300000000, 0x1000, 0, "/system/lib64/unknown.so")
    kernel, user = UNKNOWN - 127, UNKNOWN - 511
    chains = [
        ([user, 0x7100000010, 0x7200000104, 0x7300000010], ["<7300000010>", "com.example.Main.run", "malloc"]),
        ([user, 0x7100000044, 0x7000000120], ["java.lang.String.equals", "free"]),
        ([kernel, 0xFFFFFF8000080110, user, 0x7200000120], ["com.example.Main.<init>", "do_idle"]),
        ([kernel, 0xFFFFFF8001000008, 0xFFFFFF8001000110], ["a_exit", "a_init"]),
        ([kernel, 0xFFFFFF8000080300], ["<ffffff8000080300>"]),
        # the kernel executes a program for the one before, which has the mappings; each event has the record
        ([kernel, 0xFFFFFF8000080110, user, 0x7100000044], ["free", "do_idle"]),
    ]
    for number, (chain, names) in enumerate(chains[:5] if hybrid else chains):
        time += 10
        if number == 5:
            records += 2 * [record(3, struct.pack("<II", 7, 7) + b"app\0\0\0\0\0" + end(), 0x2000)]
        ip = chain[1]
        body = struct.pack("<QIIQQIIQ", ip, 7, 7, time, 11 + number % 2 * hybrid, 0, 0, 250)
        body += struct.pack("<Q", len(chain)) + struct.pack("<%dQ" % len(chain), *chain)
        records.append(record(9, body, 1 if chain[0] == kernel else 2))
        print("%d\t%s" % (time, ";".join(names)))
    raw = struct.pack("<HHii", 91, 0, 7, 120)
    body = struct.pack("<QIIQQIIQ", 0x7100000010, 7, 7, time + 10, 12, 0, 0, 1)
    if not hybrid:
        records.append(record(9, body + struct.pack("<I", len(raw)) + raw, 2))
    records += [record(32775, struct.pack("<IIQQQ", 7, 7, 0, time, 0)), record(32776, bytes(24))]
    content = b"".join(records)

    meta = b"simpleperf_version\x001.build.1\0event_type_info\0cpu-clock,1,0\nsched:sched_waking,2,91\0"
    attrs = [attribute(1, 0, False), attribute(2, 91, True)]
    if hybrid:
        meta = b"event_type_info\0cpu_core/cycles/P,4,0\ncpu_atom/cycles/P,10,0\0"
        attrs = [attribute(4, 0, False), attribute(10, 0, False)]
    features = {6: struct.pack("<I", 8) + b"aarch64\0", 129: meta, 128 if version == 1 else 132: b""}
    for name, kind, least, symbols, offset in FILES:
        if version == 1:
            d = name.encode() + b"\0" + struct.pack("<IQI", kind, least, len(symbols))
            for start, size, symbol in symbols:
                d += struct.pack("<QI", start, size) + symbol.encode() + b"\0"
            d += struct.pack("<I", 0) if kind == DEX else struct.pack("<Q", offset)
        else:
            each = [(4, message((1, s[0]), (2, s[1]), (3, s[2].encode()))) for s in symbols]
            detail = {ELF: 6, MODULE: 7, DEX: 5}[kind]
            d = message((1, name.encode()), (2, kind), (3, least), *each, (detail, message((1, offset or 0))))
        features[128 if version == 1 else 132] += struct.pack("<I", len(d)) + d

    at = 104 + 16 + len(attrs) * 128
    bits = bytearray(32)
    for number in features:
        bits[number // 8] |= 1 << number % 8
    out = b"PERFILE2" + struct.pack("<8Q", 104, 128, 120, 256, at, len(content), 0, 0) + bytes(bits)
    out += struct.pack("<2Q", 11, 12)
    for i, attr in enumerate(attrs):
        out += attr + struct.pack("<2Q", 104 + 8 * i, 8)
    out += content
    offset = len(out) + 16 * len(features)
    for number in sorted(features):
        out += struct.pack("<2Q", offset, len(features[number]))
        offset += len(features[number])
    for number in sorted(features):
        out += features[number]
    with open(path, "wb") as f:
        f.write(out)


def main():
    if sys.argv[1] == "write":
        write(sys.argv[2], sys.argv[3])
        return
    with open(sys.argv[2], "rb") as f:
        recording = Recording(f.read())
    for time, frames in stacks(recording):
        print("%d\t%s" % (time, ";".join(" ".join(names) if sys.argv[1] == "all" else names[0] for names in frames)))


main()
