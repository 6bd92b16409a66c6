#!/usr/bin/env python3
"""Print the rows of an IPC stream of Apache Arrow, as parquet.py prints those of a Parquet file.

Written from Columnar.rst, Message.fbs and Schema.fbs of apache/arrow: FlatBuffers, dictionaries, record batches.

usage: arrow.py FILE
"""
import json
import struct
import sys


class Table:
    """A table of FlatBuffers."""

    def __init__(self, b, at):
        self.b, self.at = b, at
        self.vtable = at - struct.unpack_from("<i", b, at)[0]
        assert 0 <= self.vtable <= len(b) - 4 and at % 4 == 0

    def place(self, field):
        size = struct.unpack_from("<H", self.b, self.vtable)[0]
        offset = struct.unpack_from("<H", self.b, self.vtable + 4 + 2 * field)[0] if 4 + 2 * field < size else 0
        return self.at + offset if offset else None

    def number(self, field, form):
        at = self.place(field)
        if at is None:
            return 0
        assert at % struct.calcsize(form) == 0
        return struct.unpack_from("<" + form, self.b, at)[0]

    def target(self, field):
        at = self.place(field)
        return None if at is None else at + struct.unpack_from("<I", self.b, at)[0]

    def table(self, field):
        at = self.target(field)
        return None if at is None else Table(self.b, at)

    def text(self, field):
        at = self.target(field)
        n = struct.unpack_from("<I", self.b, at)[0]
        assert self.b[at + 4 + n] == 0
        return self.b[at + 4 : at + 4 + n].decode()

    def tables(self, field):
        at = self.target(field)
        n = struct.unpack_from("<I", self.b, at)[0]
        places = [at + 4 + 4 * i for i in range(n)]
        return [Table(self.b, p + struct.unpack_from("<I", self.b, p)[0]) for p in places]

    def pairs(self, field):
        at = self.target(field)
        n = struct.unpack_from("<I", self.b, at)[0]
        assert (at + 4) % 8 == 0
        return [struct.unpack_from("<qq", self.b, at + 4 + 16 * i) for i in range(n)]


class Batch:
    """The nodes and buffers of a record batch, in turn."""

    def __init__(self, header, body):
        self.length = header.number(0, "q")
        self.nodes, self.buffers, self.body = iter(header.pairs(1)), iter(header.pairs(2)), body

    def buffer(self):
        at, n = next(self.buffers)
        assert at % 8 == 0 and at + n <= len(self.body)
        return self.body[at : at + n]


def kind_of(field):
    kind, of = field.number(2, "B"), field.table(3)
    if kind == 2:
        return ("int" if of.number(1, "B") else "uint") + str(of.number(0, "i"))
    if kind == 10:
        assert of.number(0, "h") == 3 and of.text(1) == "UTC"
        return "timestamp"
    return {3: "double", 5: "text", 6: "boolean", 12: "list", 13: "struct"}[kind]


def bits(b, n):
    return [b[i // 8] >> i % 8 & 1 for i in range(n)]


def texts(batch, n):
    ends, data = batch.buffer(), batch.buffer()
    ends = struct.unpack_from(f"<{n + 1}i", ends) if n else (0,)
    return [data[a:b].decode() for a, b in zip(ends, ends[1:])]


def values_of(field, batch, dictionaries):
    n, nulls = next(batch.nodes)
    valid = batch.buffer()
    present = bits(valid, n) if valid else [1] * n
    assert present.count(0) == nulls
    kind, encoding = kind_of(field), field.table(4)
    if encoding:
        words = dictionaries[encoding.number(0, "q")]
        out = [words[i] if p else None for i, p in zip(struct.unpack(f"<{n}i", batch.buffer()), present)]
    elif kind == "text":
        out = texts(batch, n)
    elif kind == "boolean":
        out = bits(batch.buffer(), n)
    elif kind == "list":
        ends = struct.unpack(f"<{n + 1}i", batch.buffer())
        of = values_of(field.tables(5)[0], batch, dictionaries)
        assert ends[-1] == len(of)
        out = [json.dumps(of[a:b]) for a, b in zip(ends, ends[1:])]
    elif kind == "struct":
        parts = [(f.text(0), values_of(f, batch, dictionaries)) for f in field.tables(5)]
        out = [{name: v[i] for name, v in parts if v[i] is not None} for i in range(n)]
    else:
        form = {"int32": "i", "int64": "q", "timestamp": "q", "uint64": "Q", "double": "d"}[kind]
        out = list(struct.unpack(f"<{n}{form}", batch.buffer()))
    return [v if p else None for v, p in zip(out, present)]


def words_of(header, body):
    batch = Batch(header.table(1), body)
    n, nulls = next(batch.nodes)
    assert not nulls and not header.number(2, "B")
    batch.buffer()
    return texts(batch, n)


def main():
    data = open(sys.argv[1], "rb").read()
    at, fields, dictionaries = 0, None, {}
    while True:
        mark, size = struct.unpack_from("<Ii", data, at)
        assert mark == 0xFFFFFFFF and size % 8 == 0
        at += 8
        if not size:
            break
        meta = data[at : at + size]
        message = Table(meta, struct.unpack_from("<I", meta)[0])
        body_size = message.number(3, "q")
        assert message.number(0, "h") == 4 and body_size % 8 == 0
        body = data[at + size : at + size + body_size]
        assert len(body) == body_size
        at += size + body_size
        kind, header = message.number(1, "B"), message.table(2)
        if kind == 1:
            fields = header.tables(1)
            print("\t".join(f"{f.text(0)}:{kind_of(f)}" for f in fields))
        elif kind == 2:
            dictionaries[header.number(0, "q")] = words_of(header, body)
        else:
            batch = Batch(header, body)
            for row in zip(*(values_of(f, batch, dictionaries) for f in fields)):
                print("\t".join("" if cell is None else str(cell) for cell in row))
            assert next(batch.buffers, None) is None and next(batch.nodes, None) is None
    assert at == len(data)


main()
