#!/usr/bin/env python3
"""Print the rows of a Parquet file as trencode writes it: names and types, then tab-separated values.

Written from parquet.thrift, Encodings.md and LogicalTypes.md: Thrift's compact protocol, PLAIN, RLE_DICTIONARY and
DELTA_BINARY_PACKED, repetition and definition levels, zstd. A list of structs is printed as JSON. The statistics of
each column chunk must be those of its values, and the sorting columns true.

usage: parquet.py FILE [metadata]     metadata: the keys and values of the footer, and the rows of each row group
       parquet.py count FILE...       the number of rows of each
"""
import ctypes
import ctypes.util
import json
import struct
import sys

ZSTD = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")


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


def unzstd(b, size):
    out = ctypes.create_string_buffer(size + 1)
    got = ZSTD.ZSTD_decompress(out, ctypes.c_size_t(size + 1), b, ctypes.c_size_t(len(b)))
    assert got == size, (got, size)
    return out.raw[:size]


def delta(b, kind, count):
    """DELTA_BINARY_PACKED: differences in blocks, less the least of each."""
    width = 32 if kind == 1 else 64
    block, at = varint(b, 0)
    minis, at = varint(b, at)
    total, at = varint(b, at)
    last, at = zigzag(b, at)
    assert total == count and block % 128 == 0 and block // minis % 32 == 0
    out = [last] if count else []
    while len(out) < count:
        least, at = zigzag(b, at)
        widths, at = b[at : at + minis], at + minis
        for bits in widths:
            if len(out) >= count:
                break
            assert bits <= width
            size = block // minis * bits // 8
            number = int.from_bytes(b[at : at + size], "little")
            at += size
            for i in range(block // minis):
                last += least + (number >> bits * i & (1 << bits) - 1)
                last = (last + (1 << width - 1)) % (1 << width) - (1 << width - 1)
                out.append(last)
    assert at == len(b)
    return out[:count]


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


def levels_at(page, at, bits, count):
    size = struct.unpack_from("<I", page, at)[0]
    return runs(page, at + 4, bits, count), at + 4 + size


def check(meta, values, leaf):
    """Are the statistics those of the values, and is a cut text a bound?"""
    said, found = meta[12], [v for v in values if v is not None]
    assert said[3] == len(values) - len(found)
    found = [v for v in found if v == v]
    if not found:
        assert 5 not in said and 6 not in said
        return
    low, high = said.get(6), said.get(5)
    if meta[1] == 6:
        texts = [v.encode() for v in found]
        assert low is not None and (low == min(texts) if said[8] else min(texts).startswith(low))
        assert high is None or (high == max(texts) if said[7] else high > max(texts))
        return
    if meta[1] == 0:
        assert (low[0], high[0]) == (min(found), max(found))
        return
    form = {1: "i", 2: "Q" if leaf.get(6) == 14 else "q", 5: "d"}[meta[1]]
    assert struct.unpack("<" + form, low)[0] == min(found) and struct.unpack("<" + form, high)[0] == max(found)


def chunk_values(data, chunk, leaf, nested):
    """The values of a chunk, and its levels."""
    meta, words = chunk[3], None
    assert meta[4] == 6
    at = meta.get(11, meta[9])
    begin = at
    while True:
        header, at = thrift(data, at, 12)
        page, at = unzstd(data[at : at + header[3]], header[2]), at + header[3]
        if header[1] == 2:
            words = plain(page, meta[1], header[7][1])
            continue
        assert at - begin == meta[7]
        rows, where, starts = header[5][1], 0, None
        if nested:
            starts, where = levels_at(page, where, 1, rows)
        levels, where = levels_at(page, where, 2 if nested else 1, rows)
        most = 3 if nested else 1
        body, count = page[where:], sum(level == most for level in levels)
        if header[5][2] == 8:
            values = [words[i] for i in runs(body, 1, body[0], count)] if count else []
        elif header[5][2] == 5:
            values = delta(body, meta[1], count)
        else:
            values = plain(body, meta[1], count)
        if leaf.get(6) == 14:
            values = [v % (1 << 64) for v in values]
        it = iter(values)
        values = [next(it) if level == most else None for level in levels]
        check(meta, values, leaf)
        return values, levels, starts


def lists(parts):
    """Lists of structs from the chunks of their leaves: name, (values, levels, starts)."""
    rows = []
    names = [name for name, _ in parts]
    for i, level in enumerate(parts[0][1][1]):
        if not parts[0][1][2][i]:
            rows.append(None if level == 0 else [])
        if level >= 2:
            rows[-1].append({n: c[0][i] for n, (_, c) in zip(names, parts) if c[0][i] is not None})
    return [None if row is None else json.dumps(row) for row in rows]


def schema_columns(schema):
    """The columns: name, leaves."""
    at, columns = 1, []
    while at < len(schema):
        element = schema[at]
        if 5 not in element:
            columns.append((element[4].decode(), [element]))
            at += 1
            continue
        assert element[6] == 3 and element[10] == {3: {}} and schema[at + 1][3] == 2 and schema[at + 2][3] == 0
        n = schema[at + 2][5]
        columns.append((element[4].decode(), schema[at + 3 : at + 3 + n]))
        at += 3 + n
    return columns


def group_columns(data, group, columns):
    chunks, out = iter(group[1]), []
    for name, leaves in columns:
        nested = len(leaves) > 1
        read = [(leaf[4].decode(), chunk_values(data, next(chunks), leaf, nested)) for leaf in leaves]
        out.append(lists(read) if nested else read[0][1][0])
    for by in group.get(4, []):
        order = [v for v in out[by[1]] if v is not None]
        assert order == sorted(order)
    return out


def kind_of(leaves):
    if len(leaves) > 1:
        return "list"
    leaf = leaves[0]
    if 8 in leaf.get(10, {}):
        assert leaf[10][8] == {1: True, 2: {3: {}}}
        return "timestamp"
    return {0: "boolean", 1: "int32", 2: "uint64" if leaf.get(6) == 14 else "int64", 5: "double", 6: "text"}[leaf[1]]


def footer(name):
    data = open(name, "rb").read()
    assert data[:4] == data[-4:] == b"PAR1"
    size = struct.unpack("<I", data[-8:-4])[0]
    return data, thrift(data, len(data) - 8 - size, 12)[0]


def main():
    if sys.argv[1] == "count":
        for name in sys.argv[2:]:
            print(footer(name)[1][3], name)
        return
    data, meta = footer(sys.argv[1])
    columns = schema_columns(meta[2])
    assert len(meta[7]) == sum(len(leaves) for _, leaves in columns)
    assert sum(group[3] for group in meta[4]) == meta[3]
    if sys.argv[2:] == ["metadata"]:
        for item in meta[5]:
            print(item[1].decode(), item[2].decode(), sep="\t")
        for group in meta[4]:
            print("group", group[3], sep="\t")
        return
    print("\t".join(f"{name}:{kind_of(leaves)}" for name, leaves in columns))
    for group in meta[4]:
        for row in zip(*group_columns(data, group, columns)):
            print("\t".join("" if cell is None else str(cell) for cell in row))


main()
