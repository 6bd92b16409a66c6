#!/usr/bin/env python3
"""Print the events of a trace stream as JSON: usage: trstream.py [FILE]

This reader follows trstream(5) and shares nothing with the programs. One line is one event, with the
columns that `trencode -t ndjson` has, as trencode-formats(7) describes them. Damage is reported on stderr.
The exit status is 0, 1 (damage) or 2 (not a stream, or a program before this one failed).
"""
import json
import re
import struct
import sys
import zlib

import trcalls
import trvalues

HEAD, DICT, EVENTS, META, END, SNAPSHOT = 1, 2, 3, 4, 5, 6
MAY_SKIP, HAS_CRC = 1, 4
MIB = 1 << 20
MARKER = b"trstrm1:"


class Refused(Exception):
    """The input is no stream, or the end of a program that failed: status 2."""


class Impossible(Exception):
    """A structure contradicts the page."""


class Entry:
    """A declared thing. Its attributes are the names in the page."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


def unpack(form, names, content, at=0):
    """A dictionary of the numbers at an offset."""
    if len(content) < at + struct.calcsize("<" + form):
        raise Impossible("is too short")
    return dict(zip(names.split(), struct.unpack_from("<" + form, content, at)))


class Dictionary:
    """The entries of one segment. Entries point at the entries that they name, not at ids."""

    def __init__(self, damage):
        self.damage = damage
        self.tables = {kind: {} for kind in ("string", "clock", "source", "lane", "type", "definition",
                                             "space", "location", "stack")}
        self.tables["string"][0] = b""

    def find(self, kind, ident, default=None):
        """The entry with this id; no id or an empty text if it is not declared."""
        if ident in self.tables[kind]:
            return self.tables[kind][ident]
        if ident:
            self.damage(f"{kind} {ident} is not declared")
        return b"" if kind == "string" else default

    def copy(self):
        """A dictionary of the same entries."""
        other = Dictionary(self.damage)
        other.tables = {kind: dict(table) for kind, table in self.tables.items()}
        return other

    def add(self, payload):
        """Declare the entries of a DICT; yield each LANE and THREAD."""
        at = 0
        while at < len(payload):
            if at + 16 > len(payload):
                raise Impossible("an entry exceeds its block")
            kind, _, length, ident, _ = struct.unpack_from("<HHIII", payload, at)
            if at + 16 + length > len(payload):
                raise Impossible("an entry exceeds its block")
            content = payload[at + 16:at + 16 + length]
            at += 16 + (length + 7) // 8 * 8
            try:
                read = self.KINDS.get(kind)
                if read:
                    if not ident and kind not in (8, 10, 11):
                        raise Impossible("has no id")
                    entry = read(self, ident, content)
                    if entry:
                        yield entry
            except Impossible as reason:
                self.damage(f"entry of kind {kind}, id {ident}: {reason}")

    def string(self, ident, content):
        self.tables["string"][ident] = content

    def clock(self, ident, content):
        clock = unpack("IIq", "name flags wall", content)
        self.find("string", clock["name"])
        self.tables["clock"][ident] = clock

    def source(self, ident, content):
        fields = unpack("IIII", "format name word big", content)
        fields["format"] = self.find("string", fields["format"])
        fields["name"] = self.find("string", fields["name"])
        self.tables["source"][ident] = Entry(key=(ident, *fields.values()), **fields)

    def lane(self, ident, content):
        fields = unpack("IIIIIiiiiI", "source clock buffer comm flags cpu tid pid parent zero", content)
        fields["source"] = self.find("source", fields["source"])
        self.find("clock", fields["clock"])
        fields["buffer"] = self.find("string", fields["buffer"])
        fields["comm"] = self.find("string", fields["comm"])
        self.tables["lane"][ident] = Entry(**fields)
        return self.tables["lane"][ident]

    def type(self, ident, content):
        fields = unpack("IIIIBBHIIIQ", "source name group declaration kind word flags fixed native count weight",
                        content)
        for text in ("name", "group", "declaration"):
            fields[text] = self.find("string", fields[text])
        fields["source"] = self.find("source", fields["source"])
        kind, fixed, flags = fields["kind"], fields["fixed"], fields["flags"]
        if kind > trcalls.SAMPLE:
            raise Impossible(f"kind {kind}")
        if fixed % 4 or fixed > 65536:
            raise Impossible(f"fixed part of {fixed} bytes")
        if len(content) < 40 + 32 * fields["count"]:
            raise Impossible("has not all its fields")
        if kind == trcalls.GAP and (fixed < 24 or not flags & trcalls.TAIL):
            raise Impossible("is no gap")
        if flags & trcalls.VALUES and not flags & trcalls.TAIL:
            raise Impossible("has values and no tail for them")
        fields["fields"] = [self.field(content, 40 + 32 * i, fields) for i in range(fields["count"])]
        self.tables["type"][ident] = Entry(**fields)

    def field(self, content, at, of_type):
        fields = unpack("IIBBBBIIIII", "name declared kind role where zero offset size count definition zero2",
                        content, at)
        fields["name"] = self.find("string", fields["name"])
        self.find("string", fields["declared"])
        fields["definition"] = self.find("definition", fields["definition"])
        elements = max(fields["count"], 1)
        if fields["offset"] > 1 << 24 or fields["size"] > 65536 or elements > 1 << 20:
            raise Impossible("a field exceeds a limit")
        if fields["where"] == trvalues.FIXED:
            if fields["offset"] + fields["size"] * elements > of_type["fixed"]:
                raise Impossible("a field exceeds the fixed part")
        elif fields["where"] <= trvalues.NTH_TEXT and not of_type["flags"] & trcalls.TAIL:
            raise Impossible("a field is in a tail, and the type has none")
        return Entry(**fields)

    def definition(self, ident, content):
        fields = unpack("IHHII", "name kind flags count native", content)
        fields["name"] = self.find("string", fields["name"])
        if len(content) < 16 + 24 * fields["count"]:
            raise Impossible("has not all its members")
        if not 1 <= fields["kind"] <= 4:
            raise Impossible(f"kind {fields['kind']}")
        signed = fields["kind"] == trvalues.ENUM_NAMES and not fields["flags"] & trvalues.UNSIGNED
        fields["members"] = []
        for at in range(16, 16 + 24 * fields["count"], 24):
            member = unpack("IIqq" if signed else "IIQQ", "name zero low high", content, at)
            if member["low"] > member["high"]:
                raise Impossible("a range of a member is impossible")
            if fields["kind"] != trvalues.ENUM_NAMES and member["low"] != member["high"]:
                raise Impossible("a member has a range")
            fields["members"].append((self.find("string", member["name"]), member["low"], member["high"]))
        self.tables["definition"][ident] = Entry(**fields)

    def space(self, ident, content):
        fields = unpack("IIiI", "source name pid flags", content)
        fields["source"] = self.find("source", fields["source"])
        self.find("string", fields["name"])
        self.tables["space"][ident] = Entry(**fields)

    def mapping(self, _, content):
        fields = unpack("IIQQQQIIII", "space flags start end offset time epoch path build meta", content)
        if not self.find("space", fields["space"]):
            raise Impossible("has no space")
        for text in ("path", "build", "meta"):
            self.find("string", fields[text])

    def location(self, ident, content):
        fields = unpack("IIQII", "space epoch address name definition", content)
        self.find("space", fields["space"])
        fields["name"] = self.find("string", fields["name"])
        fields["definition"] = self.find("definition", fields["definition"])
        self.tables["location"][ident] = Entry(symbol=None, executes=None, **fields)

    def symbol(self, ident, content):
        fields = unpack("QQIIIIII", "start size line flags name module file zero", content)
        location = self.find("location", ident)
        if not location:
            raise Impossible("has no location")
        at = 40
        for text in ("name", "module", "file"):
            end = at + fields[text]
            if end > len(content):
                raise Impossible("a text exceeds the entry")
            fields[text] = content[at:end]
            at = end
        location.symbol = Entry(**fields)

    def thread(self, _, content):
        fields = unpack("IIQQII", "lane flags last since unseen open", content)
        fields["lane"] = self.find("lane", fields["lane"])
        if not fields["lane"]:
            raise Impossible("has no lane")
        if fields["unseen"] > 65536:
            raise Impossible("too many unseen calls")
        return Entry(**fields)

    def stack(self, ident, content):
        fields = unpack("II", "parent location", content)
        fields["parent"] = self.find("stack", fields["parent"])
        fields["location"] = self.find("location", fields["location"])
        frames = 1 + (fields["parent"].frames if fields["parent"] else 0)
        if frames > 65535:
            raise Impossible("too many frames")
        self.tables["stack"][ident] = Entry(frames=frames, **fields)

    KINDS = {1: string, 2: clock, 3: source, 4: lane, 5: type, 6: definition, 7: space, 8: mapping,
             9: location, 10: symbol, 11: thread, 12: stack}


class Segment:
    """What ends with a segment."""

    def __init__(self, damage, digits):
        self.digits = digits  # of the marker, or None
        self.blocks = 0
        self.crc = None  # whether the block before has a checksum
        self.rows = 0
        self.has_events = False
        self.adopts = False  # calls that are open are those of its SNAPSHOT
        self.snapshot = None  # the last SNAPSHOT
        self.dictionary = Dictionary(damage)


class Reader:
    """Reads segments and blocks, and gives rows to an output with the methods entry, row, adopt,
    forget_threads and end."""

    def __init__(self, data, output, report):
        self.data = data
        self.output = output
        self.report = report  # takes messages
        self.status = 0
        self.at = 0  # position of the block in work
        self.searched = False  # the block in work is the result of a search
        self.segment = None
        self.stream = None  # id and number of the next segment, while a stream goes on
        self.started = False  # a HEAD was read
        self.hurt = False  # the segment in work has damage
        self.whole = False  # the segment before has none, and all its rows

    def damage(self, text):
        self.report(f"{self.at}: {text}")
        self.status = 1
        self.hurt = True

    def header(self, at, kinds=None):
        """Kind, flags, length and checksum of the header at an offset, or None."""
        if at + 24 > len(self.data):
            return None
        sync, kind, flags, length, crc, _, check = struct.unpack_from("<IHHIIII", self.data, at)
        if sync != 0x1A535254 or check != zlib.crc32(self.data[at:at + 20]):
            return None
        if length % 8 or length > (257 * MIB if kind in (EVENTS, SNAPSHOT) else MIB) or \
                (kinds is not None and kind not in kinds):
            return None
        return kind, flags, length, crc

    def marker(self, at):
        """The digits of the marker at an offset, or None. Its first bytes make it a marker."""
        if self.data.startswith(MARKER, at) and at + 16 <= len(self.data):
            return self.data[at + 8:at + 16]
        return None

    def search(self, at):
        """The offset of the next block or segment."""
        known = (HEAD, DICT, EVENTS, META, END, SNAPSHOT) if self.segment else (HEAD,)
        for found in re.compile(rb"trstrm1:|TRS\x1a").finditer(self.data, at):
            place = found.start()
            if found[0] == b"TRS\x1a":
                if self.header(place, known):
                    return place
            elif self.marker(place) is not None and self.header(place + 16, (HEAD,)):
                return place
        return len(self.data)

    def read(self):
        """Read the whole input."""
        if not self.data:
            raise Refused("empty")
        if not self.data.startswith(MARKER):
            digit = re.match(rb"trstrm([^:]{1,8}):", self.data)
            raise Refused(f"version {digit[1].decode(errors='replace')}" if digit else "not a stream")
        at = 0
        while at < len(self.data):
            self.at = at
            digits = self.marker(at)
            if digits is not None:
                self.begin_segment(digits)
                at += 16
                continue
            header = self.header(at, None if self.segment or self.searched else ())
            if header:
                at = self.block(at, *header)
                continue
            self.damage("there is no block")
            at = self.search(at)
            self.searched = True
        self.at = at
        if self.segment:
            self.damage("the input ends within a segment")
        elif self.stream:
            self.damage("the next segment is missing")
        self.end_stream()

    def begin_segment(self, digits):
        if self.segment:
            self.damage("the segment before has no END")
        self.segment = Segment(self.damage, digits)
        self.hurt = False

    def end_stream(self):
        if self.stream:
            self.output.end()
        self.stream = None

    def block(self, at, kind, flags, length, crc):
        """Read the block at an offset; return the offset of the next."""
        end = at + 24 + length
        payload = self.data[at + 24:end]
        if kind == HEAD and (not self.segment or self.searched):
            self.damage("HEAD has no marker")
            self.begin_segment(None)
        self.searched = False
        segment = self.segment
        has_crc = bool(flags & HAS_CRC)
        if segment.crc not in (None, has_crc):
            self.damage("some blocks have checksums, and some have none")
        segment.crc = has_crc
        segment.blocks += 1
        if segment.blocks == 1 and kind != HEAD:
            self.damage("the segment does not begin with HEAD")
        cut = len(payload) < length
        try:
            if cut:
                self.damage("the input ends within a block")
                if kind != EVENTS:
                    raise Impossible("is cut")
            elif has_crc and zlib.crc32(payload) != crc:
                raise Impossible("wrong checksum")
            if not self.stream and kind not in (HEAD, END):
                self.stream = (None, None)
            if kind == HEAD:
                if segment.blocks > 1:
                    raise Impossible("a second HEAD")
                self.head(payload, has_crc)
            elif kind == DICT:
                if segment.has_events:  # rows before keep what their ids meant
                    segment.dictionary = segment.dictionary.copy()
                for entry in segment.dictionary.add(payload):
                    self.output.entry(entry)
            elif kind == EVENTS:
                segment.has_events = True
                rows = self.events(payload, cut)
                segment.rows += len(rows)
                for row in rows:
                    self.output.row(row)
            elif kind == SNAPSHOT:
                self.snapshot(payload)
            elif kind == META:
                self.meta(payload)
            elif kind == END:
                self.end(payload)
            elif not flags & MAY_SKIP:
                raise Impossible("unknown")
        except Impossible as reason:
            self.damage(f"block of kind {kind}: {reason}")
            if end < len(self.data) and not self.header(end) and self.marker(end) is None:
                self.searched = True
                return self.search(at + 24)
        return end

    def head(self, payload, has_crc):
        fields = unpack("HHIQII", "major minor sequence stream flags zero", payload)
        if fields["major"] != 1:
            if not self.started:
                raise Refused(f"version {fields['major']}")
            raise Impossible(f"version {fields['major']}")
        if fields["flags"] & 2:
            raise Refused("a summary")
        ident, sequence, digits = fields["stream"], fields["sequence"], self.segment.digits
        if digits is not None and digits != b"%08x" % (ident & 0xFFFFFFFF):
            if not has_crc:
                raise Impossible("differs from its marker")
            self.damage("the marker differs from HEAD")
        self.started = True
        if self.stream and (self.stream[0] != ident or self.stream[1] and sequence < self.stream[1]):
            self.damage("the stream before has no last segment")
            self.end_stream()
        expected = self.stream[1] if self.stream else 0
        if expected != sequence:
            self.damage(f"segment {sequence} is not {expected}")
        self.segment.adopts = not (self.stream and expected == sequence and self.whole)
        self.whole = False
        if self.segment.adopts and fields["flags"] & 8:
            self.output.forget_threads()
        self.stream = (ident, sequence + 1)
        at = 24
        while at < len(payload):
            at += 8 + (unpack("HHI", "key zero length", payload, at)["length"] + 7) // 8 * 8
        if at > len(payload):
            self.damage("a property exceeds HEAD")

    def meta(self, payload):
        piece = unpack("IIQQQII", "source flags hash total offset name length", payload)
        if 40 + piece["name"] + piece["length"] > len(payload):
            raise Impossible("its name or piece exceeds it")
        if piece["offset"] + piece["length"] > piece["total"]:
            raise Impossible("its piece exceeds the part")
        self.segment.dictionary.find("source", piece["source"])

    def end(self, payload):
        fields = unpack("QQQQQIIII", "events gaps lost first last status flags length printed", payload)
        if fields["status"] > 2 or 56 + fields["length"] > len(payload):
            raise Impossible("impossible status or message")
        if fields["status"]:
            message = payload[56:56 + fields["length"]].decode(errors="replace")
            if fields["status"] == 2:
                raise Refused(message)
            self.damage(message)
        if fields["events"] != self.segment.rows:
            self.damage(f"{self.segment.rows} rows of {fields['events']}")
        self.whole = not self.hurt
        self.segment = None
        if fields["flags"] & 1:
            self.end_stream()

    def events(self, payload, cut):
        """Rows of an EVENTS block: none if one is impossible."""
        block = unpack("QQIHHHHI", "base last rows flags types lanes stacks locations", payload)
        if block["last"] < block["base"] or not block["types"] or not block["lanes"]:
            raise Impossible("impossible numbers")
        at, tables = 32, []
        for kind in ("type", "lane", "location", "stack"):
            count = block[kind + "s"]
            if at + 4 * count > len(payload):
                raise Impossible("its tables exceed it")
            ids = struct.unpack_from(f"<{count}I", payload, at)
            entries = self.segment.dictionary.tables[kind]
            for ident in ids:
                if ident not in entries:
                    raise Impossible(f"{kind} {ident} is not declared")
            tables.append([entries[ident] for ident in ids])
            at += 4 * count
        if block["flags"] & 2 and any(t.fixed or t.flags & trcalls.TAIL for t in tables[0]):
            raise Impossible("bare rows have parts")
        rows, at = [], (at + 7) // 8 * 8
        for _ in range(block["rows"]):
            row, at = self.row(payload, at, block, tables)
            if at > len(payload):
                if cut:
                    break
                raise Impossible("a row exceeds the block")
            rows.append(row)
        if not cut and len(payload) - at >= 8:
            raise Impossible("there are bytes after its rows")
        return rows

    def snapshot(self, payload):
        """The open calls at the beginning of the segment."""
        segment = self.segment
        head = unpack("QQIIIIHHI", "first latest flags threads frames gone record frame rows", payload)
        before, segment.snapshot = segment.snapshot, head
        if (segment.has_events or before and not before["flags"] & 1) and not head["flags"] & 4:
            raise Impossible("out of its order")
        if head["record"] < 64 or head["frame"] < 24 or head["record"] % 8 or head["frame"] % 8 or head["rows"] % 8:
            raise Impossible("impossible sizes")
        frames_at = 40 + head["threads"] * head["record"]
        gone_at = frames_at + head["frames"] * head["frame"]
        rows_at = gone_at + (4 * head["gone"] + 7) // 8 * 8
        if rows_at + head["rows"] != len(payload):
            raise Impossible("its parts are not its payload")
        known = segment.dictionary.tables
        for ident in struct.unpack_from(f"<{head['gone']}I", payload, gone_at):
            if ident and ident not in known["location"]:
                raise Impossible(f"location {ident} is not declared")
        rows = self.events(payload[rows_at:], False) if head["frames"] else []
        if len(rows) != head["frames"] or any(row.type.kind != trcalls.ENTER for row in rows):
            raise Impossible("its rows are not its frames")
        frames = [trcalls.Frame(frame["depth"], row, frame["start"], callees=frame["child"], flags=frame["flags"])
                  for row, frame in zip(rows, (unpack("QQII", "start child depth flags", payload,
                                                      frames_at + i * head["frame"]) for i in range(head["frames"])))]
        records, gone = [], 0
        for i in range(head["threads"]):
            record = unpack("IIQQQQIIIIII", "lane flags last since child charged type kernel_type unseen frames base gone",
                            payload, 40 + i * head["record"])
            if record["lane"] not in known["lane"] or record["unseen"] > 65536:
                raise Impossible("an impossible record")
            if any(record[kind] and record[kind] not in known["type"] for kind in ("type", "kernel_type")):
                raise Impossible("a record of a type that is not declared")
            record["lane"] = known["lane"][record["lane"]]
            own, frames = frames[:record["frames"]], frames[record["frames"]:]
            order = [2 if frame.row.has(trcalls.CALL_NUMBER) else frame.flags & trcalls.IN_KERNEL for frame in own]
            if len(own) < record["frames"] or order != sorted(order) or \
                    record["base"] > record["unseen"] + order.count(0):
                raise Impossible("a record with impossible frames")
            gone += record["gone"]
            records.append((record, own))
        if frames or gone != head["gone"]:
            raise Impossible("its records do not have all frames or ids")
        if segment.adopts or head["flags"] & 4:
            self.output.adopt(records, bool(before and before["flags"] & 1))

    def row(self, payload, at, block, tables):
        """The row at an offset, and the offset after it: beyond the payload if it is cut."""
        types, lanes, locations, stacks = tables
        beyond = (None, len(payload) + 1)
        wide = block["flags"] & 1
        size = 16 if wide else 8
        if at + size > len(payload):
            return beyond
        number = int.from_bytes(payload[at:at + size], "little")
        at += size
        if wide:
            time, kind = number & (1 << 48) - 1, number >> 48 & 0xFFFF
            location, lane, depth = number >> 64 & 0xFFFFFFFF, number >> 96 & 0xFFFF, number >> 112
        else:
            time, lane, location = number & 0xFFFFFF, number >> 24 & 0xFF, number >> 32 & 0xFFFF
            kind, depth = number >> 48 & 0xFF, number >> 56
        time += block["base"]
        if kind >= len(types) or lane >= len(lanes) or time > block["last"]:
            raise Impossible("impossible row")
        places = stacks if types[kind].kind == trcalls.SAMPLE else locations
        if location > len(places):
            raise Impossible("impossible row")
        fixed = payload[at:at + types[kind].fixed]
        at += types[kind].fixed
        tail = b""
        if types[kind].flags & trcalls.TAIL:
            if at + 4 > len(payload):
                return beyond
            length = int.from_bytes(payload[at:at + 4], "little")
            tail = payload[at + 4:at + 4 + length]
            at += 4 + (length + 3) // 4 * 4
        place = places[location - 1] if location else None
        return trcalls.Row(time, types[kind], lanes[lane], place, depth, fixed, tail, self.segment.dictionary), at


def read_events(data, put, report):
    """Give the events of an input to a function, and messages to another; return the exit status."""
    events = trcalls.Events(put)
    reader = Reader(data, events, report)
    try:
        reader.read()
    except Refused as reason:
        report(str(reason))
        return 2
    if events.damaged_values:
        reader.damage(f"damaged values of {events.damaged_values} rows")
    return reader.status


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    if len(sys.argv) == 2:
        with open(sys.argv[1], "rb") as file:
            data = file.read()
    else:
        data = sys.stdin.buffer.read()
    return read_events(data, lambda event: print(json.dumps(event)),
                       lambda message: print(f"trstream.py: {message}", file=sys.stderr))


if __name__ == "__main__":
    sys.exit(main())
