#!/usr/bin/env python3
"""Write perf.data files that need hardware which a test machine may lack: lbr.data (stacks of calls that the processor
recorded), branches.data (raw data beside a branch stack), group-*.data (a group of counters in three orders), and
state.data (the registers of a program as it called the kernel). The layouts are those of perf_event.h."""
import struct

IP, TID, TIME, READ, CHAIN, ID, PERIOD, RAW, BRANCHES = 1, 2, 4, 16, 32, 64, 256, 1024, 2048
USER_REGS, USER_STACK = 1 << 12, 1 << 13
KERNEL, USER = 2**64 - 128, 2**64 - 512
COMM, SAMPLE, IN_KERNEL, IN_USER = 3, 9, 1, 2


def numbers(*values):
    return struct.pack("<%dQ" % len(values), *values)


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def attribute(config, period, fields, read_format=0, branches=0, registers=0, stack=0):
    flags = 1 | 1 << 8 | 1 << 9 | 1 << 18
    head = struct.pack("<IIQQQQQ", 0, 112, config, period, fields, read_format, flags)
    return (head + struct.pack("<IIQQQQII", 0, 0, 0, 0, branches, registers, stack, 0)).ljust(112, b"\0")


def write(name, attributes, samples, origin=b""):
    """The attribute number i has the id 10 + i."""
    at, n = 104, len(attributes)
    ids = at + 128 * n
    data = record(COMM, 0x2000, struct.pack("<II8s", 100, 100, b"prog") + struct.pack("<IIQ", 100, 100, 1000) + origin)
    data += b"".join(samples)
    with open(name, "wb") as f:
        f.write(b"PERFILE2" + numbers(104, 128, at, 128 * n, ids + 8 * n, len(data), 0, 0) + bytes(32))
        for i, a in enumerate(attributes):
            f.write(a + numbers(ids + 8 * i, 8))
        f.write(numbers(*range(10, 10 + n)) + data)


def head(ip, time, *more):
    return struct.pack("<QIIQ", ip, 100, 100, time) + numbers(*more)


def chain(*addresses):
    return numbers(len(addresses), *addresses)


def branches(*pairs):
    return numbers(len(pairs)) + b"".join(numbers(a, b, 0) for a, b in pairs)


CALLS = branches((0x417A53, 0x41B3B0), (0x401581, 0x417A30), (0x42089E, 0x4014E0), (0x401B68, 0x420410))
write(
    "lbr.data",
    [attribute(0, 4000, IP | TID | TIME | CHAIN | PERIOD | BRANCHES, branches=1 | 1 << 11 | 1 << 14 | 1 << 15)],
    [
        record(SAMPLE, IN_USER, head(0x41B47F, 2000, 5) + chain(USER, 0x41B47F, 0x77) + CALLS),
        record(SAMPLE, IN_KERNEL, head(2**64 - 4096, 2001, 6)
               + chain(KERNEL, 2**64 - 4096, 2**64 - 8192, USER, 0x41B47F) + CALLS),
        record(SAMPLE, IN_KERNEL, head(2**64 - 4096, 2002, 7) + chain(KERNEL, 2**64 - 4096) + CALLS),
        record(SAMPLE, IN_USER, head(0x41B47F, 2003, 8) + chain(USER, 0x41B47F, 0x77) + branches()),
    ],
)
write(
    "branches.data",
    [attribute(0, 4000, IP | TID | TIME | PERIOD | RAW | BRANCHES, branches=1 | 1 << 3)],
    [
        record(SAMPLE, IN_USER, head(0x41B47F, 2000, 5) + struct.pack("<I12s", 12, b"raw data")
               + branches((0x417A53, 0x41B3B0), (0x401581, 0x417A30))),
        record(SAMPLE, IN_USER, head(0x41B47F, 2001, 6) + struct.pack("<I4s", 4, b"raw") + branches()),
    ],
)


ALL = [(2000, 4000, 3000, 70), (3000, 8000, 7500, 90)]


def group(name, order, samples=ALL):
    fields = IP | TID | TIME | READ | ID | PERIOD
    cycles = [config for config, _ in order].index(0)

    def sample(time, *values):
        read = [numbers(values[config], 10 + i) for i, (config, _) in enumerate(order) if config < len(values)]
        return record(SAMPLE, IN_USER, head(0x401000, time, 10 + cycles, 4000) + numbers(len(read), 100, 100) + b"".join(read))

    write(name, [attribute(config, period, fields, 15) for config, period in order],
          [sample(*s) for s in samples], numbers(10 + cycles))


group("group-after.data", [(0, 4000), (1, 0), (2, 0)])
group("group-before.data", [(1, 0), (2, 0), (0, 4000)])
group("group-grows.data", [(0, 4000), (1, 0), (2, 0)], [(1000 * n, 4000 * n, 10 * n)[:2 + n // 3] + (7,) * (n // 5)
                                                        for n in range(1, 7)])
group("group-period.data", [(0, 4000), (1, 1 << 62), (2, 1 << 62)])

IP_REGISTER, SP_REGISTER = 1 << 8, 1 << 7
write(
    "state.data",
    [attribute(0, 4000, IP | TID | TIME | CHAIN | PERIOD | USER_REGS | USER_STACK, registers=IP_REGISTER | SP_REGISTER,
               stack=16)],
    [
        record(SAMPLE, IN_KERNEL, head(2**64 - 4096, 2000, 5) + chain(KERNEL, 2**64 - 4096)
               + numbers(2, 0x7FF0, 0x401234) + numbers(16, 0, 0, 16)),
        record(SAMPLE, IN_USER, head(0x401300, 2001, 6) + chain()
               + numbers(2, 0x7FF0, 0x401300) + numbers(16, 0, 0, 16)),
    ],
)
