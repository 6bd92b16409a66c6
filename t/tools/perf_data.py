#!/usr/bin/env python3
"""Write a perf.data of random records, and list its samples: usage: perf_data.py CASE SEED FILE >LIST

CASE is one of these, with options: big (byte order), pipe (the format of the file).
    layout    events with any bits of sample_type and read_format, and records of all other types
    deferred  call chains whose user part is in records CALLCHAIN_DEFERRED
    many      20,000 samples, and then the deferred part of each
    lost      lost samples: counted as they were lost, and by perf record at the end
    maps      two processes that map SEED files at descending addresses and over each other, and samples between: the
              list has the address of each, and the path of the file there
    old       records without sample_id_all, in the first format of the file; 32: of a 32-bit machine
perf_data.py compare LIST: compare the events of trstream.py, on standard input, with the list.

Facts: include/uapi/linux/perf_event.h and tools/perf/Documentation/perf.data-file-format.txt of Linux. An item of
the list has the columns of trstream.py that a sample's record determines; "others" counts the other events by type.
"""
import json
import random
import struct
import sys

IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH, REGS_USER, STACK_USER, WEIGHT, \
    DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR, PHYS_ADDR, AUX, CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE, \
    WEIGHT_STRUCT = (1 << bit for bit in range(25))
ENABLED, RUNNING, READ_ID, GROUP, READ_LOST = 1, 2, 4, 8, 16
HW_INDEX, COUNTERS = 1 << 17, 1 << 19
INHERIT, MMAP_FLAG, COMM_FLAG, TASK, ID_ALL, COMM_EXEC, DEFER = 1, 8, 9, 13, 18, 24, 38
KERNEL, USER, USER_DEFERRED = 2**64 - 128, 2**64 - 512, 2**64 - 640
COMM, EXIT, SAMPLE, DEFERRED, ROUND = 3, 4, 9, 22, 68
rnd = random.Random()


class Attr:
    """An event: perf_event_attr."""

    def __init__(self, sample_type, flags, **others):
        self.sample_type, self.flags = sample_type, flags
        self.read_format = self.branch_type = self.user_regs = self.intr_regs = 0
        self.kind, self.config, self.period, self.size = 4, 0, 1000, 136
        self.__dict__.update(others)


class File:
    """A perf.data as it is written: bytes of records, the attributes, and what a reader must find."""

    def __init__(self, order, attrs):
        self.order, self.attrs = order, attrs
        self.records, self.samples, self.others = bytearray(), [], {}
        self.aux = self.incomplete = self.unmatched = self.lost = 0  # what a reader must report
        for number, attr in enumerate(attrs):
            attr.number, attr.id, attr.name = number, 77 + 5 * number, f"event{number}"

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def words(self, *values):
        return self.pack(f"{len(values)}Q", *values)

    def text(self, text):
        return text.encode() + b"\0" * (8 - len(text) % 8)

    def attr(self, attr):
        flags = sum(1 << (bit if self.order == "<" else 63 - bit) for bit in attr.flags)
        return self.pack("IIQQQQQIIQQQQIiQIHHIIQQ", attr.kind, attr.size, attr.config, attr.period, attr.sample_type,
                         attr.read_format, flags, 0, 0, 0, 0, attr.branch_type, attr.user_regs, 0, 0, attr.intr_regs,
                         0, 0, 0, 0, 0, 0, 0)[:attr.size]

    def put(self, kind, body, misc=0, origin=None):
        """Append a record. origin: of a record that is no sample."""
        body += self.origin(*origin) if origin else b""
        self.records += self.pack("IHH", kind, misc, 8 + len(body)) + body

    def origin(self, attr, pid, tid, cpu, time):
        if ID_ALL not in attr.flags:
            return b""
        parts = ((TID, self.pack("ii", pid, tid)), (TIME, self.words(time)), (ID, self.words(attr.id)),
                 (STREAM_ID, self.words(attr.id)), (CPU, self.pack("iI", cpu, 0)), (IDENTIFIER, self.words(attr.id)))
        return b"".join(part for bit, part in parts if attr.sample_type & bit)

    def file(self):
        """The bytes: header, ids, attributes, records, features."""
        entry = self.attrs[0].size + 16
        ids_at, attrs_at = 104, 104 + 8 * len(self.attrs)
        data_at = attrs_at + entry * len(self.attrs)
        names = b"".join(self.attr(a) + self.pack("II", 1, 16) + a.name.encode().ljust(16, b"\0") + self.words(a.id)
                         for a in self.attrs)
        features = {3: self.string("box"),
                    12: self.pack("II", len(self.attrs), self.attrs[0].size) + names,
                    28: self.pack("I", 1) + self.string("branches") + self.string("32"),
                    29: self.pack("II", 1, 1) + self.words(10**18 + 5, 5),
                    31: self.pack("I", 0)}
        at = data_at + len(self.records) + 16 * len(features)
        end = b""
        for section in features.values():
            end += self.words(at, len(section))
            at += len(section)
        bits = sum(1 << feature for feature in features)
        return b"".join((self.words(int.from_bytes(b"PERFILE2", "little"), 104, entry, attrs_at,
                                    entry * len(self.attrs), data_at, len(self.records), 0, 0, bits, 0, 0, 0),
                         self.words(*(a.id for a in self.attrs)),
                         *(self.attr(a) + self.words(ids_at + 8 * a.number, 8) for a in self.attrs),
                         self.records, end, *features.values()))

    def string(self, text):
        return self.pack("I", 16) + text.encode().ljust(16, b"\0")

    def pipe(self):
        """The bytes as a pipe has them."""
        data, self.records = self.records, bytearray()
        for attr in self.attrs:
            self.put(64, self.attr(attr) + self.words(attr.id))
            self.put(78, self.words(2, attr.id) + self.text(attr.name))
        return self.words(int.from_bytes(b"PERFILE2", "little"), 16) + self.records + data

    # --- samples ---

    def read(self, attr, tid):
        """Random values of counters, and of each the name of the argument, the counter, and the value."""
        group = [a for a in self.attrs if a.read_format & GROUP] if attr.read_format & GROUP else [attr]
        times = [rnd.randrange(2**40) for bit in (ENABLED, RUNNING) if attr.read_format & bit]
        values, reads = [], []
        for member in group:
            value = rnd.randrange(2**60)
            reads.append(("period" if member is attr else member.name,
                          (member.id, tid if INHERIT in attr.flags else None), value))
            values.append([value, member.id] + [3] * bool(attr.read_format & READ_LOST))
        if attr.read_format & GROUP:
            return self.words(len(values), *times, *sum(values, [])), reads
        return self.words(values[0][0], *times, *values[0][1:]), reads

    def registers(self, mask):
        values = [rnd.randrange(2**64) for _ in range(bin(mask).count("1"))]
        if rnd.randrange(4):
            return self.words(2, *values), [hex(value) for value in values]
        return self.words(0), ["0x0"] * len(values)

    def chain(self, attr):
        kernel = [0xffffffff81000000 + rnd.randrange(2**16) for _ in range(rnd.randrange(4))]
        user = [0x400000 + rnd.randrange(2**12) for _ in range(rnd.randrange(1, 4))]
        return [KERNEL, *kernel] * bool(kernel) + [USER, *user], [*reversed(user), *reversed(kernel)]

    def sample(self, attr, pid, tid, cpu, time, chain=None):
        """Append a sample; chain: its addresses, and its stack, outermost first."""
        has = attr.sample_type
        ip, addr, period = 0x400000 + rnd.randrange(2**12), rnd.randrange(2**64), rnd.randrange(2**40)
        head = ((IDENTIFIER, self.words(attr.id)), (IP, self.words(ip)), (TID, self.pack("ii", pid, tid)),
                (TIME, self.words(time)), (ADDR, self.words(addr)), (ID, self.words(attr.id)),
                (STREAM_ID, self.words(attr.id)), (CPU, self.pack("iI", cpu, 0)), (PERIOD, self.words(period)))
        out = [part for bit, part in head if has & bit]
        args = {}
        item = {"time": time if has & TIME else None, "pid": pid if has & TID else None,
                "tid": tid if has & TID else None, "cpu": cpu if has & CPU else None, "type": attr.name,
                "args": args, "stack": []}
        if has & PERIOD:
            args["period"] = period
        if has & READ:
            data, item["reads"] = self.read(attr, tid)
            out.append(data)
        if has & ADDR:
            args["addr"] = hex(addr)
        if has & CALLCHAIN:
            addresses, item["stack"] = chain or self.chain(attr)
            out.append(self.words(len(addresses), *addresses))
        if has & RAW:
            raw = rnd.randbytes(4 + 8 * rnd.randrange(5))
            out.append(self.pack("I", len(raw)) + raw)
            args["raw"] = raw.hex()
        if has & BRANCH:
            branches = [rnd.randrange(2**64) for _ in range(3 * rnd.randrange(5))]
            out.append(self.words(len(branches) // 3, *[7] * bool(attr.branch_type & HW_INDEX), *branches,
                                  *[9] * (len(branches) // 3 if attr.branch_type & COUNTERS else 0)))
            args["branch_stack"] = [hex(branch) for branch in branches]
        if has & REGS_USER:
            data, values = self.registers(attr.user_regs)
            out.append(data)
            if not has & STACK_USER:
                args["user_regs"] = values
        if has & STACK_USER:
            size = 8 * rnd.randrange(5)
            out.append(self.words(size) + (rnd.randbytes(size) + self.words(size // 2)) * bool(size))
        weights = [rnd.randrange(2**32), rnd.randrange(2**16), rnd.randrange(2**16)]
        if has & (WEIGHT | WEIGHT_STRUCT):
            out.append(self.pack("IHH", *weights) if self.order == "<" else self.pack("HHI", *reversed(weights)))
        if has & WEIGHT:
            args["weight"] = weights[0] | weights[1] << 32 | weights[2] << 48
        elif has & WEIGHT_STRUCT:
            args.update(zip(("weight", "ins_lat", "retire_lat"), weights))
        for bit, name, form in ((DATA_SRC, "data_src", hex), (TRANSACTION, "transaction", hex),
                                (REGS_INTR, "intr_regs", None), (PHYS_ADDR, "phys_addr", hex),
                                (CGROUP, "cgroup", int), (DATA_PAGE_SIZE, "data_page_size", int),
                                (CODE_PAGE_SIZE, "code_page_size", int)):
            if has & bit and form:
                value = rnd.randrange(2**40)
                out.append(self.words(value))
                args[name] = form(value)
            elif has & bit:
                data, args[name] = self.registers(attr.intr_regs)
                out.append(data)
        if has & AUX:
            size = 8 * rnd.randrange(4)
            out.append(self.words(size) + rnd.randbytes(size))
        self.put(SAMPLE, b"".join(out), 2)
        item["ip"] = ip if has & IP else None
        self.samples.append(item)

    # --- other records ---

    def count(self, name, times=1):
        name = "PERF_RECORD_" + name.upper()
        self.others[name] = self.others.get(name, 0) + times

    def other(self, attr, pid, tid, cpu, time):
        """Append a record that is no sample, of a random type."""
        origin = (attr, pid, tid, cpu, time)
        both = self.pack("ii", pid, tid)
        kinds = ((1, "mmap", both + self.words(2**40 + time * 4096, 4096, 0) + self.text("/bin/x"), 2),
                 (10, "mmap2", both + self.words(2**40 + time * 4096, 4096, 0) + self.pack("IIQQII", 8, 1, 9, 0, 5, 2) +
                  self.text("/bin/y"), 2),
                 (5, "throttle", self.words(time, attr.id, attr.id), 0),
                 (6, "unthrottle", self.words(time, attr.id, attr.id), 0),
                 (8, "read", both + self.words(rnd.randrange(2**40)), 0),
                 (11, "aux", self.words(0, 64, 1), 0), (12, "itrace_start", both, 0),
                 (14, "switch_out", b"", 1 << 13), (14, "switch_in", b"", 0),
                 (15, "switch_out", both, 1 << 13), (15, "switch_in", both, 0),
                 (16, "namespaces", both + self.words(7, *range(14)), 0),
                 (17, "ksymbol", self.words(2**63 + time * 4096) + self.pack("IHH", 64, 1, 0) + self.text("bpf_x"), 0),
                 (18, "bpf_event", self.pack("HHI", 1, 0, 5) + b"12345678", 0),
                 (19, "cgroup", self.words(5) + self.text("/a"), 0),
                 (20, "text_poke", self.words(2**63) + self.pack("HH", 2, 2) + b"abcd", 0),
                 (21, "aux_output_hw_id", self.words(3), 0))
        kind, name, body, misc = rnd.choice(kinds)
        self.put(kind, body, misc, origin)
        self.count(name)

    def of_perf(self):
        """Append a record that perf itself writes in between, or that no version has yet."""
        data = rnd.randbytes(8 * rnd.randrange(1, 40))
        kind = rnd.choice((70, 71, 72, 73, 74, 79, 82, 40))
        if kind == 71:
            # the data follow the record
            self.put(kind, self.words(len(data), 0, 0, 0) + self.pack("IIII", 0, 1, 0, 0))
            self.records += data
            self.aux += len(data)
        else:
            self.put(kind, data)


def layout(order):
    """Events with different bits, and all records. Those of two CPUs are not in order."""
    group = rnd.randrange(3) == 0
    attrs = []
    for number in range(3 if group else rnd.randrange(1, 4)):
        bits = sum(1 << bit for bit in range(25) if rnd.randrange(2))
        if bits & WEIGHT:
            bits &= ~WEIGHT_STRUCT
        bits |= IDENTIFIER | TID | TIME
        attr = Attr(bits, {ID_ALL, *[INHERIT] * rnd.randrange(2)})
        attr.read_format = rnd.randrange(32) & ~GROUP | READ_ID
        attr.branch_type = rnd.choice((0, HW_INDEX, COUNTERS, HW_INDEX | COUNTERS))
        attr.user_regs, attr.intr_regs = rnd.randrange(1, 2**24), rnd.randrange(1, 2**24)
        attrs.append(attr)
    if group:
        for attr in attrs:
            attr.sample_type, attr.read_format = attrs[0].sample_type | READ, attrs[0].read_format | GROUP
            attr.flags = attrs[0].flags
            attr.period = 0 if attr is not attrs[0] else 1000
    f = File(order, attrs)
    time = 1000
    for _ in range(20):
        for cpu in range(2):
            now = time + cpu
            for _ in range(rnd.randrange(8)):
                now += 2 * rnd.randrange(1, 5)
                where = (100, 100 + rnd.randrange(3), cpu, now)
                attr = attrs[0] if group else rnd.choice(attrs)
                choice = rnd.randrange(8)
                if choice < 5:
                    f.sample(attr, *where)
                elif choice < 7:
                    f.other(attr, *where)
                else:
                    f.of_perf()
        f.put(ROUND, b"")
        time += 100
    return f


def deferred(order):
    """Threads that take samples in the kernel, some of which have no record with the rest."""
    attr = Attr(IDENTIFIER | IP | TID | TIME | CPU | CALLCHAIN | PERIOD,
                {ID_ALL, COMM_FLAG, TASK, COMM_EXEC, DEFER})
    f = File(order, [attr])
    waiting, cookies, time = {}, 0, 1000
    for _ in range(2000):
        time += rnd.randrange(1, 9)
        tid, cpu = 100 + rnd.randrange(12), rnd.randrange(4)
        choice, cookie = rnd.randrange(20), waiting.get(tid, [0])[0]
        if choice == 0:
            f.sample(attr, 100, tid, cpu, time)
        elif choice < 12:
            if not cookie:
                cookies += 1
                waiting[tid] = [cookies << 8 | cpu]
            kernel = [0xffffffff81000000 + rnd.randrange(2**8) for _ in range(rnd.randrange(4))]
            f.sample(attr, 100, tid, cpu, time,
                     ([KERNEL, *kernel] * bool(kernel) + [USER_DEFERRED, waiting[tid][0]], list(reversed(kernel))))
            waiting[tid].append(f.samples[-1])
        elif choice < 17 and cookie or choice == 19 and cookie and rnd.randrange(4) == 0:
            user = [0x400000 + rnd.randrange(2**8) for _ in range(rnd.randrange(1, 5))]
            if choice == 19:
                cookie += 1  # the chain of other samples, which were lost
                f.unmatched += 1
            f.put(DEFERRED, f.words(cookie, 1 + len(user), USER, *user), 2, (attr, 100, tid, cpu, time))
            for item in waiting.pop(tid)[1:]:
                if choice == 19:
                    f.incomplete += 1
                else:
                    item["stack"] = [*reversed(user), *item["stack"]]
        elif choice == 17 and rnd.randrange(4) == 0:
            f.put(EXIT, f.pack("iiii", 100, 100, tid, 100) + f.words(time), 0, (attr, 100, tid, cpu, time))
            f.count("exit")
            f.incomplete += len(waiting.pop(tid, [0])) - 1
        elif choice == 18 and rnd.randrange(4) == 0:
            f.put(COMM, f.pack("ii", 100, tid) + f.text("other"), 1 << 13, (attr, 100, tid, cpu, time))
            f.count("comm")
            f.incomplete += len(waiting.pop(tid, [0])) - 1
    f.incomplete += sum(len(samples) - 1 for samples in waiting.values())
    return f


def many(order):
    """20,000 threads that all take a sample, 0.1 ms apart, before the first one returns to the program."""
    attr = Attr(IDENTIFIER | IP | TID | TIME | CALLCHAIN, {ID_ALL, DEFER})
    f, count = File(order, [attr]), 20000
    for number in range(count):
        f.put(SAMPLE, f.pack("QQIIQQQQQQ", attr.id, 5, 100, number, 1000 + 10**5 * number, 4, KERNEL, 2**63,
                             USER_DEFERRED, number), 1)
    for number in range(count):
        f.put(DEFERRED, f.words(number, 2, USER, 0x400000), 2, (attr, 100, number, 0, 2 * 10**9 + number))
    return f


def lost(order):
    """LOST of two buffers, LOST_SAMPLES of the processor, and at the end, without a time, what each event lost: of
    the first one all that LOST counts and more, which no LOST came for."""
    attrs = [Attr(IDENTIFIER | IP | TID | TIME | PERIOD, {ID_ALL}, read_format=READ_ID | READ_LOST) for _ in range(2)]
    f, counted, time, gaps = File(order, attrs), [0, 0], 1000, 1
    for _ in range(200):
        time += rnd.randrange(1, 9)
        attr, number, choice = rnd.choice(attrs), rnd.randrange(1, 100), rnd.randrange(8)
        where = (attr, 100, 100, 0, time)
        if choice == 0:
            f.put(2, f.words(attr.id, number), 0, where)
            counted[attr.number] += number
        elif choice == 1:
            f.put(13, f.words(number), 0, where)
        else:
            f.sample(*where)
        f.lost += number * (choice < 2)
        gaps += choice < 2
    rest = rnd.randrange(1, 100)
    for attr in attrs:
        f.put(13, f.words(counted[attr.number] + rest * (attr is attrs[0])), 0, (attr, 0, 0, 0, 0))
    f.lost += rest
    f.others["gap"] = gaps
    return f


def maps(order):
    """A model of the addresses of two processes, the second of which begins as a copy: the path at each page."""
    attr = Attr(IDENTIFIER | IP | TID | TIME, {ID_ALL, MMAP_FLAG, TASK})
    f, pages, count, last = File(order, [attr]), {100: {}}, int(sys.argv[2]), 2**28
    for time in range(count):
        where = (attr, 200, 200, 0, time)
        if time == count // 2:
            pages[200] = dict(pages[100])
            f.put(7, f.pack("iiii", 200, 100, 200, 100) + f.words(time), 0, where)
        pid, size, path = rnd.choice(list(pages)), 1, f"/m/{time % 100}"
        last -= rnd.randrange(1, 3)
        first = last
        if time % 8 >= 6:
            first, size = last + rnd.randrange(40), rnd.randrange(1, 8)
        f.put(1, f.pack("ii", pid, pid) + f.words(first << 12, size << 12, 0) + f.text(path), 2, where)
        pages[pid].update((first + n, path) for n in range(size))
        at = rnd.choice((last + rnd.randrange(80), rnd.randrange(last, 2**28)))
        at = at if at in pages[pid] else first
        f.put(SAMPLE, f.words(attr.id, at << 12) + f.pack("ii", pid, pid) + f.words(time), 2)
        print(f"{at << 12:x},{pages[pid][at]}")
    return f


def old(order):
    """Threads that change their names, where only samples have a time."""
    attr = Attr(IP | TID | TIME | CPU | PERIOD | CALLCHAIN, {COMM_FLAG, MMAP_FLAG, TASK}, size=rnd.choice((64, 72)),
                kind=1, config=1)
    f, names, time = File(order, [attr]), {}, 1000
    attr.name = "task-clock:HG"  # as perf names an event that counts guests too
    for _ in range(400):
        tid = 100 + rnd.randrange(4)
        if rnd.randrange(4) == 0:
            names[tid] = f"name{rnd.randrange(5)}"
            f.put(COMM, f.pack("ii", 100, tid) + f.text(names[tid]))
            f.count("comm", time > 1000)
        else:
            time += rnd.randrange(1, 9)
            f.sample(attr, 100, tid, 0, time)
            f.samples[-1]["comm"] = names.get(tid, f":{tid}")
        if rnd.randrange(50) == 0:
            f.put(ROUND, b"")
    return f


def old_file(f, word):
    """The bytes of a file of the first format, whose bits of features are words of the machine."""
    entry = f.attrs[0].size + 16
    host = f.string("box")
    bits = (1 << 3).to_bytes(32, "little")
    if f.order == ">":
        bits = b"".join(bits[at:at + word][::-1] for at in range(0, 32, word))
    data_at = 104 + entry
    return b"".join((b"PERFFILE", f.words(104, entry, 104, entry, data_at,
                                                                           len(f.records), 0, 0), bits,
                     f.attr(f.attrs[0]), f.words(0, 0), f.records,
                     f.words(data_at + len(f.records) + 16, len(host)), host))


def listed(f):
    """The samples in the order of time, with what their counters have counted."""
    last = {}
    for item in sorted(f.samples, key=lambda item: item["time"]):
        for name, counter, value in item.pop("reads", ()):
            item["args"][name] = (value - last.get(counter, 0)) % 2**64
            last[counter] = value
        ip = item.pop("ip")
        item["stack"] = item["stack"] or [ip] * (ip is not None)
        yield item


def compare(path):
    """Compare the events on standard input with a list."""
    with open(path, encoding="utf-8") as file:
        want = [json.loads(line) for line in file]
    others, number, total = {}, 0, want.pop()
    for line in sys.stdin:
        event = json.loads(line)
        if event["kind"] != "sample":
            others[event["type"]] = others.get(event["type"], 0) + 1
            continue
        if number == len(want):
            sys.exit(f"more than {number} samples")
        event["stack"] = [int(frame.strip("<>"), 16) for frame in event["stack"] or []]
        event["args"] = event["args"] or {}
        for name, value in want[number].items():
            if event[name] != value:
                sys.exit(f"sample {number}: {name} is {event[name]}, not {value}")
        number += 1
    if number != len(want) or others != total["others"]:
        sys.exit(f"{number} samples, not {len(want)}; other events {others}, not {total['others']}")


def main():
    case, path = sys.argv[1], sys.argv[-1]
    if case == "compare":
        compare(path)
        return
    rnd.seed(int(sys.argv[2]))
    f = {"layout": layout, "deferred": deferred, "many": many, "lost": lost, "maps": maps,
         "old": old}[case](">" if "big" in sys.argv else "<")
    with open(path, "wb") as file:
        file.write(old_file(f, 4 if "32" in sys.argv else 8) if case == "old" else
                   f.pipe() if "pipe" in sys.argv else f.file())
    for item in listed(f):
        print(json.dumps(item))
    print(json.dumps({name: getattr(f, name) for name in ("others", "aux", "incomplete", "unmatched", "lost")}))


main()
