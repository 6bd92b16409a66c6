#!/usr/bin/env python3
"""Print the rows of a Parquet file as trencode writes it: names and types, then tab-separated values.

Written from parquet.thrift and the format's Encodings.md: Thrift's compact protocol, snappy, PLAIN and
RLE_DICTIONARY, definition levels.
"""
import struct
import sys


def varint(b, at):
    n = shift = 0
    while True:
        n |= (b[at] & 0x7F) << shift
        at += 1
        if b[at - 1] < 0x80:
            return n, at
        shift += 7


def zigzag(b, at):
    n, at = varint(b, at)
    return n >> 1 ^ -(n & 1), at


def thrift(b, at, kind):
    """Read a value of a kind of the compact protocol: a struct is a dict by field number."""
    if kind in (1, 2):
        return kind == 1, at
    if kind in (3, 4, 5, 6):
        return zigzag(b, at)
    if kind == 8:
        n, at = varint(b, at)
        return b[at : at + n], at + n
    if kind == 9:
        n, of, at = b[at] >> 4, b[at] & 15, at + 1
        if n == 15:
            n, at = varint(b, at)
        items = []
        for _ in range(n):
            item, at = thrift(b, at, of)
            items.append(item)
        return items, at
    fields, number = {}, 0
    while b[at]:
        number, of, at = number + (b[at] >> 4), b[at] & 15, at + 1
        fields[number], at = thrift(b, at, of)
    return fields, at + 1


def snappy(b):
    n, at = varint(b, 0)
    out = bytearray()
    while at < len(b):
        tag, at = b[at], at + 1
        if not tag & 3:
            size = tag >> 2
            if size >= 60:
                extra = size - 59
                size, at = int.from_bytes(b[at : at + extra], "little"), at + extra
            out += b[at : at + size + 1]
            at += size + 1
            continue
        if tag & 3 == 1:
            size, back, at = (tag >> 2 & 7) + 4, tag >> 5 << 8 | b[at], at + 1
        else:
            width = 2 if tag & 3 == 2 else 4
            size, back, at = (tag >> 2) + 1, int.from_bytes(b[at : at + width], "little"), at + width
        for _ in range(size):
            out.append(out[-back])
    assert len(out) == n
    return bytes(out)


def runs(b, at, bits, count):
    """The hybrid of runs and packed numbers."""
    out = []
    while len(out) < count:
        head, at = varint(b, at)
        if head & 1:
            n = (head >> 1) * bits
            number = int.from_bytes(b[at : at + n], "little")
            out += [number >> bits * i & (1 << bits) - 1 for i in range((head >> 1) * 8)]
            at += n
        else:
            n = (bits + 7) // 8
            out += [int.from_bytes(b[at : at + n], "little")] * (head >> 1)
            at += n
    return out[:count]


def plain(b, kind, count):
    if kind == 0:
        return [b[i // 8] >> i % 8 & 1 for i in range(count)]
    if kind in (1, 2, 5):
        return list(struct.unpack_from(f"<{count}{ {1: 'i', 2: 'q', 5: 'd'}[kind]}", b))
    out, at = [], 0
    for _ in range(count):
        n = struct.unpack_from("<I", b, at)[0]
        out.append(b[at + 4 : at + 4 + n].decode())
        at += 4 + n
    return out


def column(data, chunk):
    meta, words = chunk[3], None
    at = meta.get(11, meta[9])
    while True:
        header, at = thrift(data, at, 12)
        page, at = snappy(data[at : at + header[3]]), at + header[3]
        if header[1] == 2:
            words = plain(page, meta[1], header[7][1])
            continue
        rows = header[5][1]
        size = struct.unpack_from("<I", page)[0]
        levels = runs(page, 4, 1, rows)
        body, count = page[4 + size :], sum(levels)
        if header[5][2] == 8:
            values = [words[i] for i in runs(body, 1, body[0], count)] if count else []
        else:
            values = plain(body, meta[1], count)
        it = iter(values)
        return [next(it) if level else None for level in levels]


def main():
    data = open(sys.argv[1], "rb").read()
    assert data[:4] == data[-4:] == b"PAR1"
    size = struct.unpack("<I", data[-8:-4])[0]
    meta, _ = thrift(data, len(data) - 8 - size, 12)
    kinds = {0: "boolean", 1: "int32", 2: "int64", 5: "double", 6: "text"}
    print("\t".join(f"{c[4].decode()}:{kinds[c[1]]}" for c in meta[2][1:]))
    for group in meta[4]:
        for row in zip(*(column(data, chunk) for chunk in group[1])):
            print("\t".join("" if cell is None else str(cell) for cell in row))


main()
