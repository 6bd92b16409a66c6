#!/usr/bin/env python3
"""Write an Arrow stream with a column of each type, and print its rows as JSON: what trdecode is to read.

Written from Columnar.rst, Message.fbs and Schema.fbs of apache/arrow. Options: file, zstd, old (no mark before sizes),
lz4, big (the other byte order), deep (many lists inside of each other), repeat (long words, often), decimal.
usage: arrow_writer.py FILE [OPTION]...
"""
import json
import struct
import subprocess
import sys


class Flat:
    """FlatBuffers, front to back: a table's references are set when what they refer to is appended."""

    def __init__(self):
        self.b = bytearray(8)

    def align(self, n):
        self.b += bytes(-len(self.b) % n)

    def table(self, *fields):
        """A table of numbers of 8 bytes, or None; the offset of its first field is returned."""
        self.align(8)
        v = len(self.b)
        self.b += struct.pack("<HH", 4 + 2 * len(fields), 8 + 8 * len(fields))
        self.b += b"".join(struct.pack("<H", 0 if f is None else 8 + 8 * i) for i, f in enumerate(fields))
        self.align(8)
        self.b += struct.pack("<iI", len(self.b) - v, 0)
        at = len(self.b)
        self.b += b"".join(struct.pack("<Q", (f or 0) & (2**64 - 1)) for f in fields)
        return at

    def refer(self, place, to):
        struct.pack_into("<I", self.b, place, to - place)

    def child(self, table, field, at):
        self.refer(table + 8 * field, at - 8)

    def text(self, table, field, s):
        self.align(4)
        self.refer(table + 8 * field, len(self.b))
        self.b += struct.pack("<I", len(s)) + s.encode() + b"\0"

    def vector(self, table, field, n, items=None):
        self.align(8)
        self.b += bytes(4)
        self.refer(table + 8 * field, len(self.b))
        self.b += struct.pack("<I", n)
        at = len(self.b)
        self.b += items if items is not None else bytes(4 * n)
        return at


OPTIONS = set(sys.argv[2:])
INT, FLOAT, BINARY, UTF8, BOOL, DECIMAL, DATE, TIMESTAMP, LIST, STRUCT, FIXED, MAP, LARGE, LARGE_LIST, VIEW = 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 16, 17, 20, 21, 24


class Column:
    def __init__(self, name, kind, values, numbers=(), children=(), form=None, words=None, nulls=()):
        self.name, self.kind, self.values, self.numbers, self.children = name, kind, values, numbers, children
        self.form, self.words, self.nulls = form, words, nulls


def field(f, at, c, ids):
    dictionary = c.words is not None
    t = f.table(0, 1, c.kind, 0, 0 if dictionary else None, 0)
    f.refer(at, t - 8)
    f.text(t, 0, c.name)
    f.child(t, 3, f.table(*c.numbers))
    if dictionary:
        ids.append(c)
        e = f.table(len(ids) - 1, 0)
        f.child(t, 4, e)
        f.child(e, 1, f.table(8 * struct.calcsize(c.form), 1))
    at = f.vector(t, 5, len(c.children))
    for i, child in enumerate(c.children):
        field(f, at + 4 * i, child, ids)


def bits(values):
    out = bytearray((len(values) + 7) // 8)
    for i, v in enumerate(values):
        out[i // 8] |= bool(v) << i % 8
    return bytes(out)


class Batch:
    def __init__(self):
        self.nodes, self.buffers, self.views, self.body = b"", b"", b"", b""

    def put(self, b):
        if "zstd" in OPTIONS and b:
            b = struct.pack("<q", len(b)) + subprocess.run(["zstd", "-qc"], input=b, stdout=subprocess.PIPE, check=True).stdout
        self.buffers += struct.pack("<qq", len(self.body), len(b))
        self.body += b + bytes(-len(b) % 8)

    def ends(self, sizes, form):
        at, out = 0, struct.pack("<" + form, 0)
        for n in sizes:
            at += n
            out += struct.pack("<" + form, at)
        self.put(out)

    def column(self, c):
        n = len(c.values)
        self.nodes += struct.pack("<qq", n, len(c.nulls))
        self.put(bits([i not in c.nulls for i in range(n)]) if c.nulls else b"")
        if c.words is not None:
            self.put(struct.pack(f"<{n}{c.form}", *c.values))
        elif c.kind in (BINARY, UTF8, LARGE):
            self.texts(c.values, "q" if c.kind == LARGE else "i")
        elif c.kind == VIEW:
            self.put_views([v.encode() for v in c.values])
        elif c.kind == BOOL:
            self.put(bits(c.values))
        elif c.kind in (LIST, LARGE_LIST, MAP):
            self.ends(c.values, "q" if c.kind == LARGE_LIST else "i")
        elif c.form:
            self.put(struct.pack(f"<{n}{c.form}", *c.values))
        for child in c.children:
            self.column(child)

    def texts(self, values, form):
        values = [v.encode() for v in values]
        self.ends([len(v) for v in values], form)
        self.put(b"".join(values))

    def put_views(self, values):
        out, data = b"", b""
        for v in values:
            out += struct.pack("<I", len(v))
            if len(v) <= 12:
                out += v + bytes(12 - len(v))
            else:
                out += v[:4] + struct.pack("<II", 0, len(data))
                data += v
        self.put(out)
        self.put(data)
        self.views += struct.pack("<q", 1)

    def header(self, f, rows):
        packed = 0 if OPTIONS & {"zstd", "lz4"} else None
        t = f.table(rows, 0, 0, packed, 0)
        f.vector(t, 1, len(self.nodes) // 16, self.nodes)
        f.vector(t, 2, len(self.buffers) // 16, self.buffers)
        if packed is not None:
            f.child(t, 3, f.table(1 if "zstd" in OPTIONS else 0))
        f.vector(t, 4, len(self.views) // 8, self.views)
        return t


def message(kind, body, make):
    f = Flat()
    t = f.table(4, kind, 0, len(body))
    struct.pack_into("<I", f.b, 0, t - 8)
    f.child(t, 2, make(f))
    f.align(8)
    mark = b"" if "old" in OPTIONS else b"\xff\xff\xff\xff"
    return mark + struct.pack("<I", len(f.b)) + bytes(f.b) + body


def schema(columns, ids):
    def make(f):
        t = f.table(1 if "big" in OPTIONS else 0, 0)
        at = f.vector(t, 1, len(columns))
        for i, c in enumerate(columns):
            field(f, at + 4 * i, c, ids)
        return t

    return message(1, b"", make)


def words(number, column, values, more):
    b = Batch()
    b.column(Column("", column.kind, values, form=None))

    def make(f):
        t = f.table(number, 0, more)
        f.child(t, 1, b.header(f, len(values)))
        return t

    return message(2, b.body, make)


def batch(columns, rows):
    b = Batch()
    for c in columns:
        b.column(c)
    return message(3, b.body, lambda f: b.header(f, rows))


def frames(names, sizes):
    inside = Column("item", STRUCT, [0] * len(names), (), [Column("name", UTF8, names), Column("line", INT, [7] * len(names), (32, 1), form="i")])
    return Column("stack", LIST, sizes, (), [inside])


def ints(name, size, signed, form, values):
    return Column(name, INT, values, (size, signed), form=form)


def table():
    """Three rows of each type."""
    long = "a text of more than twelve bytes"
    return [
        Column("time", TIMESTAMP, [1764547200000001, 1764547200000002, 1764547200000003], (2,), form="q"),
        ints("tid", 16, 1, "h", [7, 8, 7]),
        Column("name", UTF8, [0, 2, 1], form="b", words=["read", "write", "open"]),
        ints("i8", 8, 1, "b", [-128, 0, 127]),
        ints("u8", 8, 0, "B", [255, 0, 1]),
        ints("u64", 64, 0, "Q", [2**64 - 1, 0, 1]),
        ints("i64", 64, 1, "q", [-(2**63), 5, 6]),
        Column("half", FLOAT, [0.5, -2.0, 0.25], (0,), form="e"),
        Column("single", FLOAT, [0.1, 1.5, -0.25], (1,), form="f"),
        Column("double", FLOAT, [0.1, 1e300, 2.5], (2,), form="d", nulls=(2,)),
        Column("flag", BOOL, [1, 0, 1]),
        Column("large", LARGE, ["x", "", "\u00e4\n"], nulls=(1,)),
        Column("view", VIEW, ["short", long, long[::-1]]),
        Column("days", DATE, [1, 2, 3], (0,), form="i"),
        Column("list", LIST, [2, 0, 1], (), [ints("item", 32, 1, "i", [1, 2, 3])]),
        Column("pairs", FIXED, [0, 0, 0], (2,), [ints("item", 8, 1, "b", [1, 2, 3, 4, 5, 6])]),
        Column("inner", STRUCT, [0, 0, 0], (), [Column("s", UTF8, ["p", "q", "r"]), ints("n", 8, 1, "b", [1, 2, 3])], nulls=(1,)),
        frames(["leaf", "root", "leaf", "mid", "root"], [2, 3, 0]),
        Column("none", 1, [0, 0, 0]),
    ]


def rows(columns):
    for i in range(3):
        args = {}
        for c in columns[3:]:
            if i in c.nulls or c.kind == 1:
                continue
            if c.name == "list":
                args[c.name] = [[1, 2], [], [3]][i]
            elif c.name == "pairs":
                args[c.name] = [2 * i + 1, 2 * i + 2]
            elif c.name == "inner":
                args[c.name] = {"s": "pqr"[i], "n": i + 1}
            elif c.name == "stack":
                args[c.name] = [["root", "leaf"], ["root", "mid", "leaf"], []][i]
            elif c.kind == BOOL:
                args[c.name] = bool(c.values[i])
            else:
                args[c.name] = c.values[i]
        # a row with a stack is a sample, with the name of its innermost frame
        stack = args.pop("stack")
        name = stack[-1] if stack else columns[2].words[columns[2].values[i]]
        yield {"time": columns[0].values[i] * 1000, "tid": columns[1].values[i], "name": name, "stack": ";".join(stack or [name]), "args": args}


def main():
    columns, ids = table(), []
    if "decimal" in OPTIONS:
        columns.append(Column("decimal", DECIMAL, [1, 2, 3], (10, 2), form="q"))
    if "deep" in OPTIONS:
        for _ in range(40):
            columns = [Column("deep", LIST, [1, 1, 1], (), columns[:1])]
    out = schema(columns, ids)
    if "repeat" in OPTIONS:
        n = 20000
        columns = [ints("time", 64, 1, "q", list(range(n))), Column("name", UTF8, [0] * n, form="b", words=["w" * 100000])]
        ids = []
        out = schema(columns, ids)
        out += words(0, ids[0], ids[0].words, 0) + batch(columns, n)
    else:
        # the dictionary comes in two parts
        for i, c in enumerate(ids):
            out += words(i, c, c.words[:1], 0) + words(i, c, c.words[1:], 1)
        out += batch(columns, 3)
    out += b"" if "old" in OPTIONS else b"\xff\xff\xff\xff"
    out += bytes(4)
    if "file" in OPTIONS:
        out = b"ARROW1\0\0" + out + b"a footer, of which nothing is needed\0\0\0\0ARROW1"
    open(sys.argv[1], "wb").write(out)
    if not OPTIONS & {"deep", "repeat"}:
        for row in rows(columns):
            print(json.dumps(row, separators=(",", ":")))


main()
