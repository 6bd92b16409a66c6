"""Streams without damage: layout, dictionary and fields. Values and calls are in modules of their own."""
import struct

import streams_writer as w
from streams_case import BASE, F, MAIN, Case, call, stream, tick, unfinished
from streams_writer import field


def good(make):
    return stream("good")(make)


def two_calls(case):
    return case.E(1000).E(1100, F, 1).L(1200, F, 1).L(1500)


TWO_CALLS = [call(1100, 100, "f", depth=1, caller="main"), call(1000, 500, self=400)]


@good
def narrow_rows():
    """Rows of 8 bytes."""
    return two_calls(Case()).data(), TWO_CALLS


@good
def wide_rows():
    """Rows of 16 bytes."""
    case = Case()
    case.wide = True
    return two_calls(case).data(), TWO_CALLS


@good
def without_checksums():
    """No block has HAS_CRC."""
    return two_calls(Case(crc=False)).data(), TWO_CALLS


@good
def no_events():
    """HEAD and END alone."""
    return w.marker() + w.head() + w.end(0), []


@good
def block_without_rows():
    """An EVENTS block with 0 rows."""
    case = Case()
    case.add(w.events(BASE, [], case.types, case.lanes))
    return two_calls(case).data(), TWO_CALLS


@good
def empty_dict():
    """A DICT block without entries, and blocks of rows between DICT blocks."""
    case = Case().add(w.block(w.DICT, b"")).E(1000).add(w.block(w.DICT, b""))
    return case.E(1100, F, 1).L(1200, F, 1).add(w.block(w.DICT, b"")).L(1500).data(), TWO_CALLS


@good
def bare_rows():
    """A block with the flag BARE."""
    case = Case()
    two_calls(case).flush(flags=w.BARE)
    return case.data(), TWO_CALLS


@good
def bare_wide_rows():
    """A block with the flags BARE and WIDE."""
    case = Case()
    case.wide = True
    two_calls(case).flush(flags=w.BARE | w.WIDE)
    return case.data(), TWO_CALLS


@good
def two_segments():
    """A call goes on in the second segment, where its location has another id."""
    first = Case().E(1000).E(1100, F, 1).data(flags=0)
    second = Case(head=w.head(1), words=shifted_words()).L(1200, F, 1).L(1500)
    return first + second.data(), TWO_CALLS


def shifted_words():
    """A dictionary whose ids begin with others."""
    words = w.Dictionary()
    for kind in range(1, 10):
        words.ids[kind] = 7 * kind
    return words


@good
def three_segments():
    """A call that is open in all of three segments; its callees return in the second and the third."""
    words = [w.Dictionary() for _ in range(3)]
    first = Case(words=words[0]).E(1000).E(1100, F, 1).data(flags=0)
    second = Case(words=words[1], head=w.head(1)).L(1200, F, 1).E(1250, F, 1).data(flags=0)
    third = Case(words=words[2], head=w.head(2)).L(1260, F, 1).L(1500).data()
    return first + second + third, [TWO_CALLS[0], call(1250, 10, "f", depth=1, caller="main"),
                                    call(1000, 500, self=390)]


@good
def recursion_over_segments():
    """A location of the second segment is that of the first with the same content: the call is a recursion."""
    first = Case().E(1000).data(flags=0)
    second = Case(words=shifted_words(), head=w.head(1)).E(1100, MAIN, 1).L(1200, MAIN, 1).L(1500).data()
    return first + second, [call(1100, 100, depth=1, caller="main", recursive=True), call(1000, 500, self=400)]


@good
def segment_without_rows():
    """The middle segment has no blocks."""
    first = Case().E(1000).data(flags=0)
    middle = w.marker() + w.head(1) + w.end(0, flags=0)
    return first + middle + Case(head=w.head(2)).L(1500).data(), [call(1000, 500)]


@good
def concatenated():
    """The same stream twice: the call that is open ends with its stream."""
    words = w.Dictionary()
    data = Case(words=words, lane={"tid": 42, "source": words.source()}).E(1000).I(1300).data()
    return data + data, [tick(1300, input="in"), unfinished(1000, 300, input="in")] * 2


@good
def concatenated_three():
    """Three streams with ids of their own, and with checksums, without, and with."""
    parts = []
    for ident in (1, 2, 3):
        head = w.head(ident=ident, crc=ident != 2)
        parts.append(Case(head=head, crc=ident != 2).E(1000).L(1000 + ident).data(marker=w.marker(ident)))
    return b"".join(parts), [call(1000, ident) for ident in (1, 2, 3)]


@good
def unknown_blocks():
    """Blocks of unknown kinds with MAY_SKIP, with and without MAY_COPY, and of no length."""
    unknown = [w.block(kind, bytes(size), flags=flags) for kind, size, flags in ((99, 24, 1), (65535, 8, 3), (77, 0, 3))]
    case = two_calls(Case().add(unknown[0])).add(*unknown[1:])
    return case.data(), TWO_CALLS


@good
def unknown_block_first():
    """An unknown block directly after HEAD, and directly before END."""
    unknown = w.block(250, b"payload.", flags=1)
    case = Case()
    case.blocks.append(unknown)
    return two_calls(case).add(unknown).data(), TWO_CALLS


@good
def unknown_entries():
    """DICT entries of unknown kinds, with contents of all lengths."""
    case = Case()
    for kind, size in ((99, 0), (200, 1), (65535, 17), (300, 8)):
        case.words.add(kind, b"\xff" * size, ident=0xFFFFFFFF if size else 0)
    return two_calls(case).data(), TWO_CALLS


@good
def unknown_properties():
    """HEAD with the known properties and unknown keys."""
    head = w.head(properties=[(1, b"trdecode x"), (2, b"a source"), (77, b"\0\xff"), (4, b"trfilter"), (65535, b"")])
    return two_calls(Case(head=head)).data(), TWO_CALLS


@good
def unknown_flags():
    """Flags that do not exist, wherever the page has flags, are ignored."""
    case = Case(head=w.head(flags=0xFFF5))
    kind = case.type("unknown", w.INSTANT, 0xFE00)
    lane = case.lane(tid=42, flags=0xFFFFFFF0)
    case.I(1000, kind, lane=lane).flush(flags=0xFFFC)
    return case.data(flags=0xFFFFFFF0 | 1), [tick(1000, "unknown")]


@good
def unknown_block_flags():
    """Flags of a block's header that do not exist."""
    case = Case()
    case.blocks.append(w.block(w.DICT, b"", flags=0xFFF8))
    return two_calls(case).data(), TWO_CALLS


@good
def minor_version():
    """A minor version that does not exist yet."""
    return two_calls(Case(head=w.head(minor=999))).data(), TWO_CALLS


@good
def zeros_are_ignored():
    """What is called zero has another value."""
    case = Case(head=w.head(zero=0x1234))
    case.words.add(1, b"text", ident=50, zero=0x1234)
    case.type("odd", w.INSTANT, fixed=8, weight=0xFFFFFFFFFFFFFFFF, fields=[
        field("x", w.UINT, w.FIXED, 0, 4, zero=9)])
    lane = case.lane(tid=42, zero=0xFFFFFFFF)
    case.I(1000, 3, lane=lane, parts=struct.pack("<II", 5, 0))
    return case.data(), [tick(1000, "odd", args={"x": 5})]


@good
def padding_is_ignored():
    """The bytes that fill up to a multiple of 4 or 8 are not zero."""
    case = Case()
    kind = case.type("filled", w.INSTANT, w.TAIL, fields=[field("text", w.STRING, w.REST, 0, 1)])
    content = b"abc"
    case.words.data += struct.pack("<HHIII", 1, 0, 3, 60, 0) + content + b"\xff" * 5
    case.I(1000, kind, parts=struct.pack("<I", 3) + content + b"\xff").I(1001)
    return case.data(), [tick(1000, "filled", args={"text": "abc"}), tick(1001)]


@good
def longer_entries():
    """Entries are longer than the page describes: the rest is ignored."""
    words = w.Dictionary()
    add = words.add
    words.add = lambda kind, content, ident=None, **how: add(
        kind, content + (b"" if kind == 1 else b"\xee" * 11), ident, **how)
    source = words.source()
    clock = words.clock()
    case = Case(words=words, lane={"tid": 42, "source": source, "clock": clock})
    words.map(words.space(source=source), 0, 100)
    words.symbol(case.locations[1], "named")
    words.thread(case.lanes[0], 2, last=1700)
    words.definition("names", 1, [("one", 1)])
    return two_calls(case).data(), [call(1100, 100, "named", depth=1, caller="main", input="in"),
                                    call(1000, 500, self=400, input="in")]


@good
def longer_head_and_end():
    """END has more bytes after its message."""
    return two_calls(Case()).data(more=bytes(24)), TWO_CALLS


@good
def end_flags():
    """END with LOST_MORE and a message, although its status is 0."""
    return two_calls(Case()).data(flags=3, message=b"a remark"), TWO_CALLS


@good
def end_printed():
    """END with marks of outputs, although its status is 0, and with more marks than the block has."""
    marks = bytes(range(16))
    return (two_calls(Case()).data(message=b"a remark", more=marks, printed=2) +
            two_calls(Case()).data(message=b"a remark", more=marks, printed=1 << 31)), TWO_CALLS + TWO_CALLS


@good
def redeclared_ids():
    """A second declaration gives an id a new meaning for the blocks after it."""
    case = Case().I(1000).add()
    words = case.words
    words.type("tock", w.INSTANT, ident=case.types[2])
    words.lane(tid=43, ident=case.lanes[0])
    words.location("other", ident=case.locations[0])
    case.I(1001).E(1002).L(1003)
    return case.data(), [tick(1000), tick(1001, "tock", tid=43), call(1002, 1, "other", tid=43)]


@good
def redeclared_string():
    """An entry keeps the text of the id at its declaration."""
    case = Case()
    words = case.words
    ident = words.string("first")
    old = case.location(ident)
    words.add(1, b"second", ident=ident)
    new = case.location(ident)
    case.E(1000, old).L(1001, old).E(1002, new).L(1003, new)
    return case.data(), [call(1000, 1, "first"), call(1002, 1, "second")]


@good
def redeclared_source():
    """A LANE keeps the source that its id meant."""
    case = Case(lane={"tid": 42, "source": 0})
    source = case.words.source(name="old")
    old = case.lane(tid=42, source=source)
    case.words.source(name="new", ident=source)
    new = case.lane(tid=42, source=source)
    return case.I(1000, lane=old).I(1001, lane=new).data(), [tick(1000, input="old"), tick(1001, input="new")]


@good
def large_ids():
    """Ids need not be dense."""
    words = w.Dictionary()
    words.ids = dict.fromkeys(range(1, 12), 0xFFFFFF00)
    return two_calls(Case(words=words)).data(), TWO_CALLS


@good
def bytes_that_are_no_utf8():
    """Names with bytes that are not UTF-8, with quotes, control characters and more than ASCII."""
    case = Case()
    odd = case.location(b"\xff\"\\\n\t\x01\xc3\xa9")
    return case.E(1000, odd).L(1001, odd).data(), [call(1000, 1, "\ufffd\"\\\n\t\x01\u00e9")]


@good
def meta_parts():
    """META: a part of one piece, of three, an empty one, one of source 0, and one with a kind name twice."""
    case = Case()
    source = case.words.source()
    case.add(w.meta(b"one", b"content", source=source),
             w.meta(b"three", b"abcde", source=source, total=11),
             w.meta(b"three", b"fgh", source=source, total=11, offset=5),
             w.meta(b"empty", b""),
             w.meta(b"three", b"ijk", source=source, total=11, offset=8),
             w.meta(b"one", b"other", hash_=2))
    return two_calls(case).data(), TWO_CALLS


@good
def meta_reference():
    """A REFERENCE in the second segment to a part of the first."""
    first = Case().add(w.meta(b"part", b"content")).E(1000).E(1100, F, 1).data(flags=0)
    second = Case(head=w.head(1)).add(w.meta(b"part", b"", flags=1, total=7)).L(1200, F, 1).L(1500).data()
    return first + second, TWO_CALLS


@good
def base_of_a_block():
    """Two blocks with bases of their own; the largest time of a stream."""
    case = Case()
    most = (1 << 64) - 2
    rows = [w.wide((1 << 48) - 1, 2)]
    case.add(w.events(5, rows, case.types, case.lanes, flags=w.WIDE, last=5 + (1 << 48)),
             w.events(most, [w.narrow(0, 2)], case.types, case.lanes, last=most),
             w.events(0, [w.narrow((1 << 24) - 1, 2)], case.types, case.lanes, last=(1 << 24) - 1))
    return case.data(events=3), [tick(5 + (1 << 48) - 1), tick(most), tick((1 << 24) - 1)]


@good
def time_steps_back():
    """Times step back within a block and between blocks: rows keep their order."""
    case = Case().I(1500).I(1200).add().I(1100).I(1000)
    return case.data(), [tick(1500), tick(1200), tick(1100), tick(1000)]


@good
def full_narrow_tables():
    """A narrow block with 256 types and lanes: the last indexes, and depth 255."""
    case = Case()
    case.E(1000, F, 0).flush()
    types, lanes = [case.types[2]] * 254 + case.types[:2], [case.lanes[0]] * 255 + [case.words.lane(tid=7)]
    case.add(case.words.block())
    rows = [w.narrow(0, 254, lane=255, location=1, depth=255), w.narrow(9, 255, lane=255, location=1, depth=255)]
    case.add(w.events(BASE, rows, types, lanes, [case.locations[0]]))
    case.L(1500, F)
    return case.data(events=4), [
        call(1000, 9, tid=7, depth=255), call(1000, 500, "f")] + \
        [unfinished(1000, 9, "<0>", tid=7, depth=d, self=0, recursive=d > 0)
         for d in range(255)]


@good
def wide_indexes():
    """A wide block with more than 256 types and lanes, and a row with an index of 300 in each table."""
    case = Case()
    case.lane(tid=7)
    case.flush()
    types, lanes = [case.types[2]] * 301, [case.lanes[0]] * 300 + [case.lanes[1]]
    case.add(w.events(BASE, [w.wide(0, 300, lane=300)], types, lanes, flags=w.WIDE))
    return case.data(events=1), [tick(1000, tid=7)]


@good
def unused_declarations():
    """Every kind of entry is declared, and no row uses it."""
    case = Case()
    words = case.words
    source, clock = words.source(), words.clock(flags=3, wall=-5)
    words.lane(source=source, clock=clock, buffer="b", comm="c", cpu=1, tid=2, pid=3)
    space = words.space(source=source, flags=1)
    words.map(space, 0x1000, 0x2000, "/lib/x", "00ff", "x.sym")
    location = words.location("", 0x1500, space=space, epoch=1)
    words.symbol(location, "f", "x", "f.c", 3)
    words.definition("e", 1, [("a", 1), ("b", 2, 5)])
    words.type("unused", w.COUNTER)
    words.thread(case.lanes[0], 0)
    return two_calls(case).data(), TWO_CALLS


@good
def clocks():
    """Clocks with wall time, and that are wall time: times are those of the rows."""
    case = Case()
    for flags, wall in ((0, 0), (2, 10**18), (2, -10**18), (6, 0), (4, 0)):
        case.lane(tid=42, clock=case.words.clock(flags=flags, wall=wall))
    for lane in range(1, 6):
        case.I(1000 + lane, lane=lane)
    return case.data(), [tick(1000 + lane) for lane in range(1, 6)]


@good
def ticks():
    """Clocks with TICKS."""
    words = w.Dictionary()
    case = Case(words=words, lane={"tid": 42, "clock": words.clock(flags=1)})
    case.lane(tid=42, clock=words.clock(flags=7, wall=5))
    return case.I(1000).I(1001, lane=1).data(), [tick(1000), tick(1001)]


@good
def lanes():
    """What a LANE has: nothing, CPU, thread, process, comm, buffer, source."""
    case = Case()
    source = case.words.source(form="uftrace", name="dir")
    for lane in ({}, {"cpu": 3}, {"tid": 5, "pid": 4}, {"comm": "sh", "tid": 0}, {"buffer": "b", "cpu": 0},
                 {"source": source, "tid": -2, "cpu": 2147483647}):
        case.lane(**lane)
    for lane in range(1, 7):
        case.I(1000 + lane, lane=lane)
    return case.data(), [
        tick(1001, tid=None), tick(1002, tid=None, cpu=3), tick(1003, tid=5, pid=4), tick(1004, tid=0, comm="sh"),
        tick(1005, tid=None, cpu=0), tick(1006, tid=-2, cpu=2147483647, input="dir")]


@good
def types():
    """A type's group and kind, and a COUNTER."""
    case = Case()
    grouped = case.type("grouped", w.INSTANT, group="sched", native=99, declaration="name: x")
    counter = case.type("speed", w.COUNTER, fixed=4, fields=[field("v", w.UINT, w.FIXED, 0, 4)])
    nameless = case.type("", w.INSTANT)
    case.I(1000, grouped).I(1001, counter, parts=struct.pack("<I", 77)).I(1002, nameless)
    return case.data(), [tick(1000, "grouped", group="sched"),
                         tick(1001, "speed", kind="counter", args={"v": 77}), tick(1002, None, type=None)]


@good
def instant_with_location():
    """An INSTANT with a location has its name."""
    case = Case()
    return case.I(1000, location=F).data(), [{**tick(1000), "name": "f"}]


@good
def addresses():
    """Locations without a name are addresses."""
    case = Case()
    space = case.words.space()
    low, high, null = case.location("", 0x10, space=space), case.location("", (1 << 64) - 1), case.location("", 0)
    case.E(1000, low).L(1001, low).E(1002, high).L(1003, high).E(1004, null).L(1005, null).E(1006, 0).L(1007, 0)
    return case.data(), [call(1000, 1, "<10>"), call(1002, 1, "<ffffffffffffffff>"), call(1004, 1, "<0>"),
                         call(1006, 1, "<0>")]


@good
def symbols():
    """SYMBOL: name, module, file and line; a later one replaces it; one without a name."""
    case = Case(crc=False)
    words = case.words
    words.symbol(case.locations[0], "renamed", "mod.so", "a.c", 12)
    words.symbol(case.locations[1], "old", "old.so")
    words.symbol(case.locations[1], "new")
    words.symbol(case.locations[2], "", "m", flags=4)
    case.E(1000).L(1001).E(1002, F).L(1003, F).E(1004, 3).L(1005, 3)
    return case.data(), [call(1000, 1, "renamed", module="mod.so", file="a.c", line=12), call(1002, 1, "new"),
                         call(1004, 1, "g", module="m")]


@good
def symbol_of_redeclared_location():
    """A location that is declared as another one loses its SYMBOL."""
    case = Case()
    case.words.symbol(case.locations[0], "symbol")
    case.E(1000).L(1001).add()
    case.words.location("other", ident=case.locations[0])
    return case.E(1002).L(1003).data(), [call(1000, 1, "symbol"), call(1002, 1, "other")]
