"""Writes trace streams by trstream(5), right ones and, where a caller asks for it, wrong ones."""
import struct
import zlib

HEAD, DICT, EVENTS, META, END, SNAPSHOT = 1, 2, 3, 4, 5, 6
MAY_SKIP, MAY_COPY, HAS_CRC = 1, 2, 4
WIDE, BARE = 1, 2
INSTANT, ENTER, LEAVE, COUNTER, GAP, DROP, SAMPLE = range(7)
TAIL, VALUES, DEPTH, INNER, PER_CPU, BIG_ENDIAN, CALL_NUMBER, KERNEL = (1 << i for i in range(8))
LAST = 1
STREAM_ID = 0x0123456789ABCDEF


def pad(data, size=8):
    return data + bytes(-len(data) % size)


def marker(ident=STREAM_ID):
    return b"trstrm1:%08x" % (ident & 0xFFFFFFFF)


def block(kind, payload, *, crc=True, flags=None, length=None, check=None, payload_crc=None, zero=0):
    """A block. Flags, length and both checks are right unless they are given."""
    if flags is None:
        flags = {META: MAY_SKIP | MAY_COPY}.get(kind, 0)
    if crc:
        flags |= HAS_CRC
    if payload_crc is None:
        payload_crc = zlib.crc32(payload) if crc else 0
    header = struct.pack("<IHHIII", 0x1A535254, kind, flags, len(payload) if length is None else length,
                         payload_crc, zero)
    return header + struct.pack("<I", zlib.crc32(header) if check is None else check) + payload


def head(sequence=0, ident=STREAM_ID, *, major=1, minor=0, flags=0, zero=0, properties=(), more=b"", **how):
    payload = struct.pack("<HHIQII", major, minor, sequence, ident, flags, zero)
    for key, text in properties:
        payload += struct.pack("<HHI", key, zero, len(text)) + pad(text)
    return block(HEAD, pad(payload + more), **how)


def end(events, *, gaps=0, lost=0, first=0, last=0, status=0, flags=LAST, message=b"", length=None,
        more=b"", printed=0, **how):
    """printed: the number of marks, which more contains after a message of whole words."""
    payload = struct.pack("<QQQQQIIII", events, gaps, lost, first, last, status, flags,
                          len(message) if length is None else length, printed)
    return block(END, pad(payload + message + more), **how)


def entry(kind, ident, content, *, zero=0, length=None):
    return struct.pack("<HHIII", kind, zero, len(content) if length is None else length, ident, zero) + pad(content)


def narrow(dt, kind, *, lane=0, location=0, depth=0, parts=b""):
    """A row of 8 bytes: location counts from 1, lane and kind from 0."""
    return struct.pack("<Q", dt | lane << 24 | location << 32 | kind << 48 | depth << 56) + parts


def wide(dt, kind, *, lane=0, location=0, depth=0, parts=b""):
    number = dt | kind << 48 | location << 64 | lane << 96 | depth << 112
    return number.to_bytes(16, "little") + parts


def tail(data):
    return struct.pack("<I", len(data)) + pad(data, 4)


def events(base, rows, types, lanes, locations=(), *, last=None, count=None, flags=0, table_types=None,
           more=b"", stacks=(), **how):
    """An EVENTS block of encoded rows."""
    if last is None:
        last = base + (1 << 24) - 1
    payload = struct.pack("<QQIHHHHI", base, last, len(rows) if count is None else count, flags,
                          len(types) if table_types is None else table_types, len(lanes), len(stacks), len(locations))
    for ident in [*types, *lanes, *locations, *stacks]:
        payload += struct.pack("<I", ident)
    return block(EVENTS, pad(pad(payload) + b"".join(rows) + more), **how)


def record(lane, frames=0, *, flags=0, last=0, since=0, child=0, charged=0, types=(0, 0), unseen=0, base=0, gone=0, more=b""):
    """A thread record of a SNAPSHOT."""
    return struct.pack("<IIQQQQIIIIII", lane, flags, last, since, child, charged, *types, unseen, frames, base, gone) + more


def frame(start, depth=0, *, child=0, flags=0, more=b""):
    """A frame record of a SNAPSHOT."""
    return struct.pack("<QQII", start, child, depth, flags) + more


def snapshot(records=(), frames=(), rows=b"", *, gone=(), flags=0, counts=None, sizes=None, more=b"", latest=1, **how):
    """A SNAPSHOT; rows is an EVENTS block of which the payload is used."""
    rows = rows[24:]
    content = b"".join(records) + b"".join(frames) + struct.pack(f"<{len(gone)}I", *gone)
    payload = struct.pack("<QQIIIIHHI", 1000, latest, flags, *(counts or (len(records), len(frames), len(gone))),
                          *(sizes or (64, 24)), len(rows)) + content
    return block(SNAPSHOT, pad(payload) + rows + more, **{"flags": MAY_SKIP, **how})


def meta(name, piece, *, source=0, flags=0, hash_=1, total=None, offset=0, name_length=None, length=None, **how):
    payload = struct.pack("<IIQQQII", source, flags, hash_, len(piece) if total is None else total, offset,
                          len(name) if name_length is None else name_length,
                          len(piece) if length is None else length)
    return block(META, pad(payload + name + piece), **how)


class Dictionary:
    """Makes entries, with the strings that they name. Each method returns an id."""

    def __init__(self):
        self.data = bytearray()
        self.strings = {b"": 0}
        self.ids = {}

    def add(self, kind, content, ident=None, **how):
        if ident is None:
            ident = self.ids.get(kind, 0) + 1
        self.ids[kind] = max(ident, self.ids.get(kind, 0))
        self.data += entry(kind, ident, content, **how)
        return ident

    def string(self, text):
        """The id of a text; an id itself is passed through."""
        if isinstance(text, int):
            return text
        text = text.encode() if isinstance(text, str) else text
        if text not in self.strings:
            self.strings[text] = self.add(1, text)
        return self.strings[text]

    def clock(self, name="ns", flags=0, wall=0, **how):
        return self.add(2, struct.pack("<IIq", self.string(name), flags, wall), **how)

    def source(self, form="test", name="in", word=8, big=0, **how):
        return self.add(3, struct.pack("<IIII", self.string(form), self.string(name), word, big), **how)

    def lane(self, *, source=0, clock=0, buffer="", comm="", cpu=None, tid=None, pid=None, process=False, flags=0,
             zero=0, **how):
        """The flags for what is given are set."""
        flags |= (cpu is not None) | (tid is not None) << 1 | (pid is not None) << 2 | process << 3
        numbers = [-1 if number is None else number for number in (cpu, tid, pid)]
        return self.add(4, struct.pack("<IIIIIiiiiI", source, clock, self.string(buffer), self.string(comm), flags,
                                       *numbers, -1 if pid is None else 1, zero), **how)

    def type(self, name, kind, flags=0, *, fixed=0, fields=(), source=0, group="", declaration="", word=8, native=0,
             count=None, weight=0, more=b"", **how):
        """Fields are what field() returns, called with this dictionary."""
        fields = [make(self) for make in fields]
        content = struct.pack("<IIIIBBHIIIQ", source, self.string(name), self.string(group),
                              self.string(declaration), kind, word, flags, fixed, native,
                              len(fields) if count is None else count, weight)
        return self.add(5, content + b"".join(fields) + more, **how)

    def definition(self, name, kind, members, flags=0, native=0, count=None, zero=0, more=b"", **how):
        """Members are texts, (text, number) or (text, low, high)."""
        content = b""
        for member in members:
            text, low, high = (*member, member[-1])[:3] if isinstance(member, tuple) else (member, 0, 0)
            content += struct.pack("<II", self.string(text), zero)
            content += b"".join((number & (1 << 64) - 1).to_bytes(8, "little") for number in (low, high))
        start = struct.pack("<IHHII", self.string(name), kind, flags, len(members) if count is None else count, native)
        return self.add(6, start + content + more, **how)

    def space(self, name="space", pid=1, flags=0, source=0, **how):
        return self.add(7, struct.pack("<IIiI", source, self.string(name), pid, flags), **how)

    def map(self, space, start, stop, path="/bin/a", build="", meta_name="", **how):
        return self.add(8, struct.pack("<IIQQQQIIII", space, 0, start, stop, 0, 0, 0, self.string(path),
                                       self.string(build), self.string(meta_name)), **how)

    def location(self, name="", address=0, *, space=0, epoch=0, definition=0, **how):
        return self.add(9, struct.pack("<IIQII", space, epoch, address, self.string(name), definition), **how)

    def symbol(self, ident, name, module=b"", file=b"", line=0, *, lengths=None, flags=0, **how):
        texts = [text.encode() if isinstance(text, str) else text for text in (name, module, file)]
        content = struct.pack("<QQIIIIII", 0, 0, line, flags, *(lengths or map(len, texts)), 0)
        return self.add(10, content + b"".join(texts), ident, **how)

    def thread(self, lane, flags, *, last=0, since=0, unseen=0, open_=0, **how):
        return self.add(11, struct.pack("<IIQQII", lane, flags, last, since, unseen, open_), **how)

    def stack(self, parent, location, **how):
        return self.add(12, struct.pack("<II", parent, location), **how)

    def block(self, **how):
        """The DICT block of what was added since the last one."""
        data, self.data = bytes(self.data), bytearray()
        return block(DICT, data, **how)


FIXED, IN_TAIL, DATA_LOC, REL_LOC, REST, NTH_TEXT = range(6)
UINT, INT, HEX, CHAR, FLOAT, BYTES, ENUM, BITMASK, BITMAP, STRING = range(10)


def field(name, kind, where, offset, size, count=0, *, role=0, definition=0, zero=0):
    """A function of a dictionary that returns the encoded field."""
    return lambda words: struct.pack("<IIBBBBIIIII", words.string(name), 0, kind, role, where, zero, offset, size,
                                     count, definition, zero)


def uleb(number):
    data = b""
    while number > 0x7F:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def detail(what, index, value):
    return bytes([what]) + uleb(index) + value


def argument(index, value):
    return detail(1, index, value)


def tagged(tag, *parts):
    """A value: whole numbers become ulebs."""
    return bytes([tag]) + b"".join(uleb(part) if isinstance(part, int) else part for part in parts)


def sized(data):
    return uleb(len(data)) + data
