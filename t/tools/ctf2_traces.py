#!/usr/bin/env python3
"""Write traces of CTF 2, and what their events contain.

ctf2_traces.py SEED DIRECTORY: a trace of random field classes and values. DIRECTORY.expect has a
line of JSON for each event: time, name, fields.
ctf2_traces.py examples DIRECTORY: the same of examples of the specification.
ctf2_traces.py list DIRECTORY: list the events of a trace that trencode wrote, as
babeltrace2 --clock-cycles --no-delta does, but not merged by time.
ctf2_traces.py compare FILE: whether standard input, which trencode -t ndjson wrote, has these events.

The writer follows section 6 of CTF2-SPEC-2.0 alone: it writes each bit where the procedures there
read it.
"""
import json
import os
import random
import struct
import sys

MAGIC = 0xC1FC1FC1
ARRAYS = ("static-length-array", "dynamic-length-array")
UUID = list(range(1, 17))


class Packet:
    """The bits of a packet, and the byte order of the last bit array."""

    def __init__(self):
        self.data = bytearray()
        self.x = 0
        self.order = None

    def align(self, n):
        self.x = (self.x + n - 1) & -n
        while len(self.data) * 8 < self.x:
            self.data.append(random.randrange(256) if n > 8 else 0)

    def bit(self, order, value):
        byte, bit = self.x // 8, self.x % 8
        if byte == len(self.data):
            self.data.append(0)
        self.data[byte] |= value << (7 - bit if order == "big-endian" else bit)
        self.x += 1

    def bytes(self, raw):
        self.align(8)
        self.data[self.x // 8:] = raw
        self.x += 8 * len(raw)


def default_bit_order(fc):
    little = fc["byte-order"] == "little-endian"
    return fc.get("bit-order", "first-to-last" if little else "last-to-first")


def put_bits(p, fc, number):
    length = fc["length"]
    p.align(fc.get("alignment", 1))
    if p.x % 8 and p.order != fc["byte-order"]:
        raise ValueError("a byte of two byte orders")
    for i in range(length):
        index = i if default_bit_order(fc) == "first-to-last" else length - i - 1
        p.bit(fc["byte-order"], number >> index & 1)
    p.order = fc["byte-order"]


def leb128(number):
    out = bytearray()
    while True:
        byte = number & 0x7F
        number >>= 7
        end = number == (-1 if byte & 0x40 else 0)
        if number == 0 and byte < 0x40:
            end = True
        if end:
            return bytes(out + bytes([byte]))
        out.append(byte | 0x80)


def uleb128(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


CODECS = {"utf-8": "utf-8", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be",
          "utf-32le": "utf-32-le", "utf-32be": "utf-32-be"}


def codec(fc):
    return CODECS[fc.get("encoding", "utf-8")]


def alignment(fc):
    kind = fc["type"]
    if kind.startswith("fixed-length"):
        return fc.get("alignment", 1)
    if kind == "structure":
        return max([fc.get("minimum-alignment", 1)] +
                   [alignment(m["field-class"]) for m in fc.get("member-classes", [])])
    if kind in ARRAYS:
        return max(fc.get("minimum-alignment", 1), alignment(fc["element-field-class"]))
    return 1 if kind in ("optional", "variant") else 8


def encode(p, fc, value):
    """Write a value that fits the field class."""
    kind = fc["type"]
    p.align(alignment(fc))
    if kind == "fixed-length-floating-point-number":
        size = fc["length"]
        put_bits(p, fc, int.from_bytes(struct.pack(">f" if size == 32 else ">d", value), "big"))
    elif kind.startswith("fixed-length"):
        put_bits(p, fc, int(value) & (1 << fc["length"]) - 1)
    elif kind == "variable-length-unsigned-integer":
        p.bytes(uleb128(value))
    elif kind == "variable-length-signed-integer":
        p.bytes(leb128(value))
    elif kind == "null-terminated-string":
        p.bytes((value + "\0").encode(codec(fc)))
    elif kind == "static-length-string":
        raw = value.encode(codec(fc))
        unit = len("a".encode(codec(fc)))
        if len(raw) < fc["length"]:
            raw += bytes(unit) + b"\xa5" * (fc["length"] - len(raw) - unit)
        p.bytes(raw)
    elif kind == "dynamic-length-string":
        p.bytes(value.encode(codec(fc)))
    elif kind.endswith("-blob"):
        p.bytes(bytes(value))
    elif kind == "structure":
        for m in fc.get("member-classes", []):
            encode(p, m["field-class"], value[m["name"]])
    elif kind in ARRAYS:
        for element in value:
            encode(p, fc["element-field-class"], element)
    elif kind == "optional":
        if value is not None:
            encode(p, fc["field-class"], value)
    elif kind == "variant":
        encode(p, fc["options"][value[0]]["field-class"], value[1])
    else:
        raise ValueError(kind)


def inside(ranges, number):
    return any(low <= number <= high for low, high in ranges)


def shown(fc, value):
    """What trencode -t ndjson shows of a value."""
    kind = fc["type"]
    if value is None:
        return None
    if kind == "fixed-length-boolean":
        return "true" if value else "false"
    if kind == "fixed-length-bit-map":
        return "|".join(flags(fc, value)) or "0x0"
    if kind == "fixed-length-bit-array":
        return hex(value)
    for name, ranges in fc.get("mappings", {}).items():
        if inside(ranges, value):
            return name
    if kind.endswith("-blob"):
        return text_of(bytes(value))
    if kind == "structure":
        return {m["name"]: shown(m["field-class"], value[m["name"]])
                for m in fc.get("member-classes", [])}
    if kind in ARRAYS:
        return [shown(fc["element-field-class"], element) for element in value]
    if kind == "optional":
        return shown(fc["field-class"], value)
    if kind == "variant":
        option = fc["options"][value[0]]
        return {option.get("name", str(value[0])): shown(option["field-class"], value[1])}
    return value


def flags(fc, value):
    names = []
    for name, ranges in fc["flags"].items():
        single = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
        for low, high in ranges:
            for bit in range(low, high + 1):
                if value >> bit & 1:
                    names.append(name if single else f"{name}.{bit}")
    return names


def text_of(raw):
    """Bytes as a text: U+FFFD for each byte that is part of no character."""
    text = ""
    while raw:
        for n in range(1, 5):
            try:
                text += raw[:n].decode("utf-8")
                break
            except UnicodeDecodeError:
                pass
        else:
            text, n = text + "\ufffd", 1
        raw = raw[n:]
    return text


# --- random field classes ---


def byte_order():
    return random.choice(["little-endian", "big-endian"])


class Maker:
    """Makes field classes, with a value of each for the event that is made."""

    def __init__(self):
        self.depth = 0
        self.count = 0
        self.parents = [[]]  # members of the structures around, innermost last

    def name(self):
        self.count += 1
        return random.choice(["f", "_g", "__h", "a b", "é"]) + str(self.count)

    def bits(self, kind, length=None):
        fc = {"type": "fixed-length-" + kind, "length": length or random.randint(1, 64),
              "byte-order": byte_order()}
        # a byte has bits of one byte order alone
        fc["alignment"] = random.choice([8, 8, 16, 32, 64])
        if random.random() < 0.3:
            fc["bit-order"] = random.choice(["first-to-last", "last-to-first"])
        return fc

    def packed(self):
        """Bit arrays of one byte order, without alignment."""
        order = byte_order()
        members, value = [], {}
        for _ in range(random.randint(2, 6)):
            fc = {"type": "fixed-length-unsigned-integer", "length": random.randint(1, 20),
                  "byte-order": order}
            if random.random() < 0.5:
                fc["type"] = "fixed-length-signed-integer"
            if random.random() < 0.3:
                fc["bit-order"] = random.choice(["first-to-last", "last-to-first"])
            name = self.name()
            members.append({"name": name, "field-class": fc})
            value[name] = self.integer(fc)
        return ({"type": "structure", "minimum-alignment": 8, "member-classes": members}, value)

    def integer(self, fc):
        length = fc.get("length", 64)
        number = random.getrandbits(random.randint(1, length))
        if "signed" in fc["type"].split("-"):
            number &= (1 << length - 1) - 1
            return number if random.random() < 0.5 else -number
        return number

    def scalar(self):
        kind = random.randrange(7)
        if kind < 2:
            fc = self.bits(random.choice(["unsigned-integer", "signed-integer"]))
        elif kind < 4:
            fc = {"type": random.choice(["variable-length-unsigned-integer",
                                         "variable-length-signed-integer"])}
        elif kind == 4:
            fc = self.bits("bit-array")
            return fc, random.getrandbits(fc["length"])
        elif kind == 5:
            fc = self.bits("boolean")
            return fc, random.random() < 0.5 and random.randint(1, (1 << fc["length"]) - 1)
        else:
            length = random.choice([32, 64])
            fc = self.bits("floating-point-number", length)
            return fc, random.randint(-1000, 1000) / 8
        value = self.integer(fc)
        if random.random() < 0.3:
            fc["mappings"] = {"one": [[1, 1], [value, value]],
                              "some": [[5, 900], [-40, -2], [2, 3]]}
            # the first name of a number is shown
        return fc, value

    def bit_map(self):
        fc = self.bits("bit-map", random.randint(8, 64))
        fc["flags"] = {"low": [[0, 0]], "mid": [[3, 4], [6, 6]], "high": [[7, 7]]}
        return fc, random.getrandbits(8) & 0xD9

    def text(self, dynamic_ok=True):
        encoding = random.choice(list(CODECS))
        value = "".join(random.choice("ab ü€𝄞\"\\") for _ in range(random.randint(0, 8)))
        fc = {"type": "null-terminated-string"}
        kind = random.randrange(3 if dynamic_ok else 2)
        if encoding != "utf-8" or random.random() < 0.5:
            fc["encoding"] = encoding
        size = len(value.encode(CODECS[encoding]))
        if kind == 1:
            unit = len("a".encode(CODECS[encoding]))
            fc.update({"type": "static-length-string",
                       "length": size + unit * random.randint(0, 3)})
        if kind == 2:
            fc.update({"type": "dynamic-length-string",
                       "length-field-location": self.selector(size)})
        return fc, value

    def blob(self):
        value = [random.randrange(256) for _ in range(random.randint(0, 20))]
        fc = {"type": "dynamic-length-blob", "length-field-location": self.selector(len(value))}
        return fc, value

    def selector(self, number, signed=False):
        """Add a field with that number before the current one, and return its location."""
        if random.random() < 0.5:
            fc = {"type": f"variable-length-{'signed' if signed else 'unsigned'}-integer"}
        else:
            fc = self.bits(f"{'signed' if signed else 'unsigned'}-integer",
                           random.choice([8, 16, 33]))
        return self.located(fc, number)

    def located(self, fc, number):
        level = random.randrange(len(self.parents))
        name = self.name()
        holder = name
        path = [name]
        if random.random() < 0.3:
            holder = self.name()
            path = [holder, name]
            fc, number = ({"type": "structure",
                           "member-classes": [{"name": name, "field-class": fc}]}, {name: number})
        self.parents[level].append((holder, fc, number))
        if level == 0 and random.random() < 0.5:
            return {"origin": "event-record-payload", "path": path}
        return {"path": [None] * (len(self.parents) - 1 - level) + path}

    def optional(self):
        fc, value = self.any()
        on = random.random() < 0.6
        if random.random() < 0.5:
            where = self.located(self.bits("boolean", random.choice([1, 8, 32])), on)
            return {"type": "optional", "selector-field-location": where,
                    "field-class": fc}, value if on else None
        where = self.selector(random.choice([-3, 7]) if on else 0, True)
        return {"type": "optional", "selector-field-location": where, "field-class": fc,
                "selector-field-ranges": [[7, 9], [-5, -2]]}, value if on else None

    def variant(self):
        options, values = [], []
        for i in range(random.randint(1, 3)):
            fc, value = self.any()
            option = {"field-class": fc, "selector-field-ranges": [[10 * i, 10 * i + 4],
                                                                   [10 * i + 6, 10 * i + 9]]}
            if random.random() < 0.7:
                option["name"] = "option " + "xyz"[i]
            options.append(option)
            values.append(value)
        choice = random.randrange(len(options))
        where = self.selector(10 * choice + random.choice([0, 4, 6, 9]), random.random() < 0.5)
        return {"type": "variant", "selector-field-location": where,
                "options": options}, (choice, values[choice])

    def structure(self):
        self.parents.append([])
        fields = []
        for _ in range(random.randint(0, 4)):
            self.add(self.any, fields)
        rest = self.parents.pop()
        if rest:
            raise ValueError("a field after its use")
        fc = {"type": "structure",
              "member-classes": [{"name": n, "field-class": c} for n, c, _ in fields]}
        if random.random() < 0.3:
            fc["minimum-alignment"] = random.choice([1, 8, 64])
        return fc, {n: v for n, _, v in fields}

    def add(self, make, fields):
        """Add a field to a structure, after the fields that it needs."""
        name = self.name()
        fc, value = make()
        fields += self.parents[-1]
        del self.parents[-1][:]
        fields.append((name, fc, value))

    def array(self):
        """Elements of one field class; only scalars and texts have values of the same class."""
        fc, value = random.choice([self.scalar, lambda: self.text(False)])()
        values = []
        for _ in range(random.randint(0, 5)):
            values.append(value)
        if random.random() < 0.5:
            out = {"type": "static-length-array", "length": len(values)}
        else:
            out = {"type": "dynamic-length-array",
                   "length-field-location": self.selector(len(values))}
        out["element-field-class"] = fc
        if random.random() < 0.3:
            out["minimum-alignment"] = random.choice([8, 32])
        return out, values

    def any(self):
        self.depth += 1
        simple = [self.scalar, self.scalar, self.text, self.packed]
        compound = [self.structure, self.array, self.optional, self.variant, self.blob,
                    self.bit_map]
        made = random.choice(simple if self.depth > 3 or random.random() < 0.4 else compound)()
        self.depth -= 1
        return made

    def fields(self):
        out = []
        for _ in range(random.randint(1, 5)):
            self.add(self.any, out)
        return ({"type": "structure",
                 "member-classes": [{"name": n, "field-class": c} for n, c, _ in out]},
                {n: v for n, _, v in out})


# --- traces ---


def sized(length, roles=None, **more):
    fc = {"type": "fixed-length-unsigned-integer", "length": length, "byte-order": "little-endian",
          "alignment": 8}
    if roles:
        fc["roles"] = roles
    fc.update(more)
    return fc


def members(*pairs):
    return {"type": "structure",
            "member-classes": [{"name": n, "field-class": c} for n, c in pairs]}


HEADER = members(("magic", sized(32, ["packet-magic-number"])),
                 ("uuid", {"type": "static-length-blob", "length": 16,
                           "roles": ["metadata-stream-uuid"]}),
                 ("stream_id", sized(8, ["data-stream-class-id"])))


def write_metadata(path, fragments):
    with open(path, "w", encoding="utf-8") as out:
        for fragment in fragments:
            indent = random.choice([None, 1])
            out.write("\x1e" + json.dumps(fragment, ensure_ascii=random.random() < 0.5,
                                          indent=indent) + "\n")


def packet(parts, events):
    """Write a packet. parts: the values of header and context; the sizes are known at the end."""
    for size in (0, 1):
        p = Packet()
        state = random.getstate()
        context = dict(parts[1][1])
        if size:
            context["content"], context["total"] = content, total
        encode(p, parts[0][0], parts[0][1])
        encode(p, parts[1][0], context)
        for event in events:
            for fc, value in event:
                encode(p, fc, value)
        content = p.x
        p.align(64)
        total = p.x
        if not size:
            random.setstate(state)
    return bytes(p.data)


def random_trace(seed, where):
    random.seed(seed)
    os.makedirs(where)
    times = sized(random.choice([20, 32, 64]), ["default-clock-timestamp"])
    if random.random() < 0.3:
        times = {"type": "variable-length-unsigned-integer", "roles": ["default-clock-timestamp"]}
    ids = random.choice([sized(8, ["event-record-class-id"]),
                         {"type": "variable-length-unsigned-integer",
                          "roles": ["event-record-class-id"]}])
    context = members(("begin", sized(64, ["default-clock-timestamp"])),
                      ("content", sized(64, ["packet-content-length"])),
                      ("total", sized(64, ["packet-total-length"])),
                      ("end", sized(64, ["packet-end-default-clock-timestamp"])))
    header = members(("id", "id class"), ("time", times))
    seconds, cycles = random.randint(0, 1 << 30), random.randrange(1000000)
    fragments = [
        {"type": "preamble", "version": 2, "uuid": UUID},
        {"type": "field-class-alias", "name": "id class", "field-class": ids},
        {"type": "trace-class", "packet-header-field-class": HEADER,
         "environment": {"hostname": "näme", "number": -5}},
        {"type": "clock-class", "id": "c1", "name": "the clock", "frequency": 1000000,
         "origin": "unix-epoch", "precision": 10,
         "offset-from-origin": {"seconds": seconds, "cycles": cycles}},
        {"type": "data-stream-class", "id": 3, "default-clock-class-id": "c1",
         "packet-context-field-class": context, "event-record-header-field-class": header},
    ]
    resolved = members(("id", ids), ("time", times))
    makers = []
    for i in range(4):
        fc, value = Maker().fields()
        makers.append((fc, value))
        fragments.append({"type": "event-record-class", "id": i, "data-stream-class-id": 3,
                          "name": f"event {i}", "payload-field-class": fc,
                          "attributes": {"any": {"log-level": "debug"}}})
    write_metadata(f"{where}/metadata", fragments)
    now, expect = random.getrandbits(40), []
    with open(f"{where}/stream", "wb") as out:
        for _ in range(3):
            begin, events = now, []
            for _ in range(random.randint(1, 6)):
                now += random.randrange(100000)
                i = random.randrange(len(makers))
                fc, value = makers[i]
                length = times.get("length", 64)
                events.append([(resolved, {"id": i, "time": now & (1 << length) - 1}),
                               (fc, value)])
                if "length" not in times:
                    events[-1][0][1]["time"] = now
                ns = (seconds * 1000000 + cycles + now) * 1000
                expect.append({"time": ns, "name": f"event {i}", "fields": shown(fc, value)})
            head = {"magic": MAGIC, "uuid": UUID, "stream_id": 3}
            out.write(packet([(HEADER, head), (context, {"begin": begin, "content": 0, "total": 0,
                                                         "end": now})], events))
    with open(f"{where}.expect", "w", encoding="utf-8") as out:
        for line in expect:
            out.write(json.dumps(line) + "\n")


# --- a reader of what trencode writes ---


class Reader:
    """Reads fields of whole bytes, little-endian, as section 6 of the specification does."""

    def __init__(self, path):
        with open(f"{path}/metadata", encoding="utf-8") as text:
            self.fragments = [json.loads(part) for part in text.read().split("\x1e")[1:]]
        if self.fragments[0] != dict(self.fragments[0], type="preamble", version=2):
            sys.exit("no preamble of version 2")
        self.aliases = {f["name"]: f["field-class"] for f in self.of("field-class-alias")}
        self.streams = {f["id"]: f for f in self.of("data-stream-class")}
        self.classes = {(f["data-stream-class-id"], f["id"]): f
                        for f in self.of("event-record-class")}

    def of(self, kind):
        return [f for f in self.fragments if f["type"] == kind]

    def read(self, fc):
        """Read a field; return its value as babeltrace2 lists it, and note its roles."""
        if isinstance(fc, str):
            fc = self.aliases[fc]
        kind = fc["type"]
        if kind == "structure":
            return ", ".join(f"{m['name']} = {value}" for m, value in
                             [(m, self.read(m["field-class"])) for m in fc["member-classes"]]
                             if "roles" not in m["field-class"])
        size = {"null-terminated-string": self.data.find(b"\0", self.at) + 1 - self.at}.get(
            kind, fc["length"] if kind.endswith("blob") else fc.get("length", 0) // 8)
        raw = self.data[self.at:self.at + size]
        self.at += size
        if kind == "null-terminated-string":
            text = raw[:-1].decode().replace("\\", "\\\\").replace('"', '\\"')
            return '"' + text.replace("\n", "\\n") + '"'
        if kind == "static-length-blob":
            return raw.hex()
        if kind == "fixed-length-floating-point-number":
            return repr(struct.unpack("<d", raw)[0])
        number = int.from_bytes(raw, "little", signed=kind == "fixed-length-signed-integer")
        for role in fc.get("roles", []):
            self.roles[role] = number
        return f"0x{number:X}" if fc.get("preferred-display-base") == 16 else str(number)

    def events(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.at, header = 0, self.of("trace-class")[0]["packet-header-field-class"]
        while self.at < len(self.data):
            begin, self.roles = self.at, {}
            self.read(header)
            assert self.roles["packet-magic-number"] == MAGIC
            stream = self.streams[self.roles["data-stream-class-id"]]
            context = self.read(stream["packet-context-field-class"])
            end = begin + self.roles["packet-content-length"] // 8
            while self.at < end:
                self.read(stream["event-record-header-field-class"])
                event = self.classes[stream["id"], self.roles["event-record-class-id"]]
                common = self.read(stream["event-record-common-context-field-class"])
                fields = self.read(event["payload-field-class"])
                yield (f"[{self.roles['default-clock-timestamp']:020d}] {event['name']}: "
                       f"{f'{{ {context} }}, ' if context else ''}{{ {common} }}, "
                       f"{{ {fields}{' ' if fields else ''}}}")
            self.at = begin + self.roles["packet-total-length"] // 8


def listing(where):
    reader = Reader(where)
    for name in os.listdir(where):
        if name != "metadata":
            for event in reader.events(f"{where}/{name}"):
                print(event)


# --- examples 88 to 91 of the specification: locations through arrays and variants ---


def string():
    return {"type": "null-terminated-string"}


def leb():
    return {"type": "variable-length-unsigned-integer"}


def payload(*path):
    return {"origin": "event-record-payload", "path": list(path)}


def options(*classes):
    return [{"selector-field-ranges": [[i, i]], "field-class": fc}
            for i, fc in enumerate(classes)]


def chosen(location, *classes):
    return {"type": "variant", "selector-field-location": location, "options": options(*classes)}


def texts(location):
    return {"type": "dynamic-length-array", "length-field-location": location,
            "element-field-class": string()}


def examples():
    blob = {"type": "dynamic-length-blob", "length-field-location": payload("glass", "eagle")}
    in_context = {"origin": "event-record-specific-context", "path": ["sel"]}
    big = dict(sized(24), **{"byte-order": "big-endian"})
    yield "88", members(), {}, members(
        ("nature", {"type": "static-length-array", "length": 2, "element-field-class":
                    members(("laser", leb()), ("joystick", texts({"path": ["laser"]})))})
    ), [{"nature": [{"laser": 1, "joystick": ["a"]}, {"laser": 2, "joystick": ["b", "c"]}]}]
    yield "89", members(), {}, members(
        ("lawyer", {"type": "variable-length-signed-integer"}),
        ("clinic", chosen(payload("lawyer"), string(),
                          members(("lemon", sized(8)),
                                  ("joystick", texts(payload("clinic", "lemon"))))))
    ), [{"lawyer": 0, "clinic": (0, "text")},
        {"lawyer": 1, "clinic": (1, {"lemon": 2, "joystick": ["x", "y"]})}]
    yield "90", members(("sel", leb())), [{"sel": i} for i in range(3)], members(
        ("glass", chosen(in_context, sized(8), sized(16), leb())), ("margin", texts(payload("glass")))
    ), [{"glass": (i, 3 - i), "margin": ["m"] * (3 - i)} for i in range(3)]
    yield "91", members(("sel", leb())), [{"sel": i} for i in range(3)], members(
        ("glass", chosen(in_context, members(("eagle", sized(16)), ("road", string())),
                         members(("nuance", string()), ("eagle", big)),
                         members(("eagle", leb()), ("lock", blob)))),
        ("margin", texts(payload("glass", "eagle")))
    ), [{"glass": (0, {"eagle": 1, "road": "r"}), "margin": ["1"]},
        {"glass": (1, {"nuance": "n", "eagle": 2}), "margin": ["1", "2"]},
        {"glass": (2, {"eagle": 3, "lock": [65, 66, 67]}), "margin": ["1", "2", "3"]}]


def example_trace(where):
    os.makedirs(where)
    fragments = [{"type": "preamble", "version": 2}, {"type": "trace-class"},
                 {"type": "data-stream-class",
                  "event-record-header-field-class":
                      members(("i", sized(8, ["event-record-class-id"])))}]
    p, expect = Packet(), []
    for i, (name, context, contexts, fc, values) in enumerate(examples()):
        fragments.append({"type": "event-record-class", "id": i, "name": name,
                          "specific-context-field-class": context, "payload-field-class": fc})
        for number, value in enumerate(values):
            before = contexts[number] if contexts else {}
            encode(p, sized(8), i)
            encode(p, context, before)
            encode(p, fc, value)
            expect.append({"time": 0, "name": name,
                           "fields": dict(shown(context, before), **shown(fc, value))})
    write_metadata(f"{where}/metadata", fragments)
    with open(f"{where}/stream", "wb") as out:
        out.write(p.data)
    with open(f"{where}.expect", "w", encoding="utf-8") as out:
        for line in expect:
            out.write(json.dumps(line) + "\n")


def compare(expected, rows):
    """Compare the expected events with the rows of trencode -t ndjson."""
    rows = [json.loads(row) for row in rows]
    with open(expected, encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    if len(rows) != len(events):
        sys.exit(f"{expected}: {len(rows)} events, not {len(events)}")
    for row, event in zip(rows, events):
        got = {"time": row["time"], "name": row["type"], "fields": row["args"]}
        if got != event:
            sys.exit(f"{expected}:\n{json.dumps(got)}\n{json.dumps(event)}")


if __name__ == "__main__":
    if sys.argv[1] == "compare":
        compare(sys.argv[2], sys.stdin)
    elif sys.argv[1] == "list":
        listing(sys.argv[2])
    elif sys.argv[1] == "examples":
        example_trace(sys.argv[2])
    else:
        random_trace(int(sys.argv[1]), sys.argv[2])
