#!/usr/bin/env python3
"""Write a gmon.out by gmon_out.h, and list what it counts.

usage: gmon.py FILE BITS little|big RECORD...
A RECORD is hist:LOW:HIGH:RATE:N,N,... or calls:FROM:TO:N or blocks:PC:N,PC:N...
Prints "time PC NS", where a bin counts equally in the units of two bytes that begin in it (PC is
that of the second byte, by which gprof finds the function), and
"calls FROM TO N", "blocks PC N".
"""
import struct
import sys

path, bits, order, *records = sys.argv[1:]
end = "<" if order == "little" else ">"
address = "I" if bits == "32" else "Q"


def pack(form, *values):
    return struct.pack(end + form, *values)


out = b"gmon" + pack("I", 1) + bytes(12)
times, calls, blocks = {}, {}, {}
for record in records:
    kind, *words = record.split(":", 1 if record.startswith("blocks") else -1)
    if kind == "hist":
        low, high, rate = (int(w, 0) for w in words[:3])
        bins = [int(w) for w in words[3].split(",")]
        out += b"\0" + pack(address * 2, low, high) + pack("II", len(bins), rate)
        out += b"seconds".ljust(15, b"\0") + b"s" + pack("H" * len(bins), *bins)
        width = (high - low) / 2 / len(bins)
        for i, n in enumerate(bins):
            units = range(int(width * i), int(width * (i + 1)))
            for unit in units:
                pc = low + 2 * unit + 1
                times[pc] = times.get(pc, 0) + n * 10**9 / rate / len(units)
    elif kind == "calls":
        caller, callee, n = (int(w, 0) for w in words)
        out += b"\1" + pack(address * 2, caller, callee) + pack("I", n)
        calls[caller, callee] = calls.get((caller, callee), 0) + n
    else:
        counts = [[int(n, 0) for n in pair.split(":")] for pair in words[0].split(",")]
        out += b"\2" + pack("I", len(counts))
        for pc, n in counts:
            out += pack(address * 2, pc, n)
            blocks[pc] = blocks.get(pc, 0) + n
with open(path, "wb") as f:
    f.write(out)
for pc, ns in sorted(times.items()):
    if ns:
        print("time", f"<{pc:x}>", round(ns))
for (caller, callee), n in sorted(calls.items()):
    print("calls", f"<{caller:x}>", f"<{callee:x}>", n)
for pc, n in sorted(blocks.items()):
    print("blocks", f"<{pc:x}>", n)
