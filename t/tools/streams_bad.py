"""Damaged streams: each has one fault, and the events that a reader delivers all the same."""
import struct

import streams_writer as w
from streams_case import BASE, F, MAIN, STREAMS, Case, call, stream, tick, unfinished
from streams_writer import argument, detail, field, sized, tagged

TWO_CALLS = [call(1100, 100, "f", depth=1, caller="main"), call(1000, 500, self=400)]
TICK = [tick(1000)]


def bad(make):
    return stream("bad")(make)


def add(name, about, data, events, status=1):
    """Register a stream without a function of its own."""
    STREAMS.append((f"bad/{name}", about, lambda: (data, events, status)))


def two_calls(case=None):
    return (case or Case()).E(1000).E(1100, F, 1).L(1200, F, 1).L(1500)


def parts(crc=True):
    """The parts of a good stream: marker, HEAD, DICT, EVENTS and END."""
    case = two_calls(Case(crc=crc)).flush()
    return [w.marker(), case.head, *case.blocks, w.end(4, crc=crc)]


MARKER, HEAD, DICT, EVENTS, END = range(5)
NAMES = ("marker", "head", "dict", "events", "end")


def with_part(index, part):
    """A good stream with one part replaced."""
    changed = parts()
    changed[index] = part
    return b"".join(changed)


def flip(data, at):
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1:]


# The input as a whole

GOOD = b"".join(parts())
TWO_STREAMS = GOOD + GOOD

add("empty", "An input without a byte.", b"", [], 2)
add("text", "An input that is no stream.", b"hello, world\n" * 9, [], 2)
add("marker-version-2", "The digit before the colon is 2.", b"trstrm2:" + GOOD[8:], [], 2)
add("marker-upper-case", "The digits of the marker of the second stream are in upper case.",
    GOOD + GOOD.replace(b"89abcdef", b"89ABCDEF"), TWO_CALLS * 2)
add("marker-second-version-2", "The digit of the second stream's marker is 2.", GOOD + b"trstrm2:" + GOOD[8:], TWO_CALLS * 2)
add("marker-differs", "The digits differ from HEAD, which has a checksum: HEAD is right.", w.marker(1) + GOOD[16:], TWO_CALLS)
add("marker-differs-without-checksum", "The digits differ from HEAD, which has no checksum: HEAD is left out.",
    w.marker(1) + b"".join(parts(crc=False)[1:]), TWO_CALLS)
add("marker-missing", "The second stream has no marker.", GOOD + GOOD[16:], TWO_CALLS * 2)
add("garbage-between-streams", "Bytes between two streams, of which some look like a header.",
    GOOD + b"garbage TRS\x1a trstrm1:garbage" + GOOD, TWO_CALLS * 2)
add("garbage-after-the-last", "Eight zeros after the end.", GOOD + bytes(8), TWO_CALLS)
for _i in (HEAD, DICT, EVENTS):
    add(f"garbage-after-{NAMES[_i]}", f"Bytes that are no block after {NAMES[_i].upper()}.",
        with_part(_i, parts()[_i] + b"TRS\x1a no header"), TWO_CALLS)
add("garbage-after-marker", "Bytes that are no block after the marker.", with_part(MARKER, w.marker() + b"garbage."), TWO_CALLS)


# Truncated input

def cut_at(part, size):
    """A good stream that ends this many bytes into a part."""
    return b"".join(parts()[:part]) + parts()[part][:size]


for _part, _size, _events in (
        (MARKER, 16, []), (HEAD, 10, []), (HEAD, 24, []), (HEAD, 40, []), (HEAD, 48, []),
        (DICT, 12, []), (DICT, 24, []), (DICT, 100, []), (DICT, len(parts()[DICT]), []),
        (EVENTS, 4, []), (EVENTS, 24, []), (EVENTS, 50, []), (EVENTS, 60, []),
        (EVENTS, len(parts()[EVENTS]) - 32, []),
        (EVENTS, len(parts()[EVENTS]) - 32 + 15, [unfinished(1000, 0)]),
        (EVENTS, len(parts()[EVENTS]) - 16, [unfinished(1100, 0, "f", depth=1, caller="main"), unfinished(1000, 100, self=100)]),
        (EVENTS, len(parts()[EVENTS]) - 1, [TWO_CALLS[0], unfinished(1000, 200, self=100)]),
        (EVENTS, len(parts()[EVENTS]), TWO_CALLS), (END, 8, TWO_CALLS), (END, 24, TWO_CALLS), (END, 79, TWO_CALLS)):
    add(f"cut-{NAMES[_part]}-{_size}", f"The input ends {_size} bytes into {NAMES[_part].upper()}.", cut_at(_part, _size), _events)


@bad
def cut_wide_row():
    """The input ends within a row of 16 bytes."""
    case = Case()
    case.wide = True
    return case.I(1000).I(1001).data(end=False)[:-4], TICK


def tailed():
    case = Case()
    kind = case.type("x", w.INSTANT, w.TAIL, fixed=8, fields=[field("t", w.STRING, w.REST, 0, 1)])
    for time in (1000, 1001):
        case.I(time, kind, parts=bytes(8) + w.tail(b"text of row"))
    return case


for _cut, _what in ((2, "padding"), (8, "tail"), (14, "length of the tail"), (20, "fixed part")):
    add(f"cut-{_what.replace(' ', '-')}", f"The input ends within the {_what} of a row.", tailed().data(end=False)[:-_cut],
        [tick(1000, "x", args={"t": "text of row"})])


@bad
def cut_with_wrong_checksum():
    """The checksum of an EVENTS block that the end of the input cuts is not tested."""
    blocks = parts()
    return b"".join(blocks[:EVENTS]) + flip(blocks[EVENTS], 12 + 0)[:0] + w.block(
        w.EVENTS, blocks[EVENTS][24:], payload_crc=1)[:-1], [TWO_CALLS[0], unfinished(1000, 200, self=100)]


@bad
def cut_between_segments():
    """The input ends after a segment that is not the last."""
    return two_calls().data(flags=0), TWO_CALLS


@bad
def no_end():
    """A segment ends without END, and another stream begins."""
    return two_calls().data(end=False) + GOOD, TWO_CALLS * 2


# Headers and payloads

AFTER = {HEAD: TWO_CALLS, DICT: [], EVENTS: [], END: TWO_CALLS}
for _i, _events in AFTER.items():
    _block = parts()[_i]
    add(f"check-{NAMES[_i]}", f"The check of the header of {NAMES[_i].upper()} is wrong.", with_part(_i, flip(_block, 20)), _events)
    add(f"checksum-{NAMES[_i]}", f"The payload of {NAMES[_i].upper()} has another checksum.", with_part(_i, flip(_block, 30)), _events)
    _kind = _i
    add(f"odd-length-{NAMES[_i]}", f"The length of {NAMES[_i].upper()} is no multiple of 8.",
        with_part(_i, w.block(_kind, _block[24:], length=len(_block) - 24 - 4)), _events)
    add(f"short-length-{NAMES[_i]}", f"The length of {NAMES[_i].upper()} is 8 bytes too small: its payload is cut.",
        with_part(_i, w.block(_kind, _block[24:], length=len(_block) - 32)), _events)
    add(f"large-length-{NAMES[_i]}", f"The length of {NAMES[_i].upper()} exceeds the limit.",
        with_part(_i, w.block(_kind, _block[24:], length=(258 if _i == EVENTS else 2) << 20)), _events)
    add(f"sync-{NAMES[_i]}", f"The sync of {NAMES[_i].upper()} is wrong.", with_part(_i, flip(_block, 0)), _events)
    add(f"empty-{NAMES[_i]}", f"{NAMES[_i].upper()} has no payload.", with_part(_i, w.block(_kind, b"")), _events)
for _i in (HEAD, DICT, EVENTS, END):
    add(f"without-{NAMES[_i]}", f"The stream has no {NAMES[_i].upper()}.", with_part(_i, b""), AFTER[_i])


@bad
def length_exceeds_input():
    """The length of DICT exceeds the input: the input ends in it."""
    block = parts()[DICT]
    return with_part(DICT, w.block(w.DICT, block[24:], length=len(block) + 4096)), []


@bad
def length_exceeds_input_of_events():
    """The length of EVENTS exceeds the input: the rows that are whole count."""
    block = parts()[EVENTS]
    return with_part(EVENTS, w.block(w.EVENTS, block[24:], length=len(block) + 4096)), TWO_CALLS


@bad
def unknown_kind():
    """A block of an unknown kind without MAY_SKIP."""
    return two_calls(Case().add(w.block(99, b"payload.", flags=2))).data(), TWO_CALLS


@bad
def unknown_kind_with_wrong_checksum():
    """An unknown block with MAY_SKIP whose checksum is wrong."""
    return two_calls(Case().add(w.block(99, b"payload.", flags=3, payload_crc=5))).data(), TWO_CALLS


@bad
def checksums_of_some_blocks():
    """One block of a segment has no checksum."""
    case = Case()
    two_calls(case).flush(crc=False)
    return case.data(), TWO_CALLS


@bad
def checksum_of_one_block():
    """One block of a segment without checksums has one."""
    case = Case(crc=False)
    two_calls(case).flush(crc=True)
    return case.data(), TWO_CALLS


@bad
def lost_bytes_of_payload():
    """16 bytes of a payload are missing: the reader finds the block after it."""
    blocks = parts()
    case = Case()
    case.I(1000).add().I(1001)
    data = case.data()
    at = data.index(case.blocks[1]) + 40
    return data[:at] + data[at + 16:], [tick(1001)]


@bad
def wrong_payload_hides_a_block():
    """A payload with a wrong checksum and a wrong length contains the next block: the search begins with the payload."""
    case = Case().I(1000)
    case.add()
    first, second = case.blocks[1], w.events(BASE, [w.narrow(1, 2)], case.types, case.lanes)
    case.blocks[1] = w.block(w.EVENTS, first[24:] + second + bytes(8), length=len(first) - 24 + len(second) + 16, payload_crc=1)
    return case.data(events=2), [tick(1001)]


# HEAD


def with_head(*args, **how):
    return two_calls(Case(head=w.head(*args, **how)))


add("head-major-2", "HEAD has the major version 2.", with_head(major=2).data(), [], 2)
add("head-major-0", "HEAD has the major version 0.", with_head(major=0).data(), [], 2)
add("head-summary", "A summary of trstat.", with_head(flags=2).data(), [], 2)
add("head-sequence", "A stream begins with the segment 1.", with_head(1).data(), TWO_CALLS)
add("head-short", "HEAD is too short.", with_part(HEAD, w.block(w.HEAD, parts()[HEAD][24:40])), TWO_CALLS)
add("head-property-exceeds", "A property exceeds HEAD.",
    with_head(properties=[(1, b"command")], more=struct.pack("<HHI", 2, 0, 9) + bytes(8)).data(), TWO_CALLS)
add("head-twice", "A second HEAD in a segment is left out.", Case().I(1000).add(w.head()).I(1001).data(),
    [tick(1000), tick(1001)])


def segments(*heads, flags=0):
    """Segments with these HEADs, with a tick each; the last has LAST."""
    data = b""
    for i, head in enumerate(heads):
        data += Case(head=head).I(1000 + i).data(flags=w.LAST if i == len(heads) - 1 else flags)
    return data


TICKS = [tick(1000), tick(1001)]
add("sequence-gap", "The segment 1 is missing.", segments(w.head(0), w.head(2)), TICKS)
add("sequence-again", "The segment 0 comes twice.", segments(w.head(0), w.head(0)), TICKS)
add("stream-id-differs", "The second segment has another stream id, and its marker has the first one's.",
    segments(w.head(0), w.head(1, ident=w.STREAM_ID + 1)), TICKS)
add("segment-after-last", "The segment 1 after a segment with LAST.", segments(w.head(0), w.head(1), flags=w.LAST), TICKS)
add("second-major-2", "The second stream has the major version 2.", GOOD + w.marker() + w.head(major=2) + w.end(0), TWO_CALLS)


# END


def with_end(**how):
    return two_calls().data(**how)


add("end-status-1", "END with status 1 and a message.", with_end(status=1, message=b"something was damaged"), TWO_CALLS)
add("end-status-1-without-message", "END with status 1 and no message.", with_end(status=1), TWO_CALLS)
add("end-status-2", "The program before failed: status 2 and the cause.", with_end(status=2, message=b"it failed"), TWO_CALLS, 2)
add("end-status-2-alone", "A stream of HEAD and END with status 2.", w.marker() + w.head() + w.end(0, status=2, message=b"cause"), [], 2)
add("end-status-3", "END with an unknown status ends no segment.", with_end(status=3), TWO_CALLS)
add("end-message-exceeds", "The message exceeds END.", with_end(message=b"text", length=99), TWO_CALLS)
add("end-short", "END is too short.", with_part(END, w.block(w.END, parts()[END][24:72])), TWO_CALLS)
add("end-counts-more", "END counts more rows than there are.", with_end(events=5), TWO_CALLS)
add("end-counts-less", "END counts fewer rows than there are.", with_end(events=3), TWO_CALLS)
add("end-twice", "A block after END.", GOOD + parts()[END], TWO_CALLS)
add("end-status-1-of-first-segment", "A segment that is not the last has status 1.",
    Case().I(1000).data(flags=0, status=1, message=b"damage") + Case(head=w.head(1)).I(1001).data(), TICKS)
add("end-status-1-then-stream", "A stream of HEAD and END alone follows with status 1.",
    GOOD + w.marker() + w.head() + w.end(0, status=1, message=b"late damage"), TWO_CALLS)


# DICT: entries are left out, and all others are used


def with_entries(make, events=None, rows=two_calls):
    """A good stream with more entries, which make adds to the words of a case."""
    case = Case()
    make(case)
    return rows(case).data(), TWO_CALLS if events is None else events


for _kind, _name, _size in ((2, "clock", 16), (3, "source", 16), (4, "lane", 40), (5, "type", 40), (6, "definition", 16),
                            (7, "space", 16), (8, "map", 56), (9, "location", 24), (11, "thread", 32)):
    def _short(case, kind=_kind, size=_size):
        case.words.add(kind, bytes(size - 4), ident=900)
    add(f"dict-short-{_name}", f"A {_name.upper()} that is 4 bytes too short.", *with_entries(_short))


def entry_fault(name, about, make, events=None):
    add(f"dict-{name}", about, *with_entries(make, events))


entry_fault("short-symbol", "A SYMBOL that is 4 bytes too short.", lambda c: c.words.add(10, bytes(36), ident=c.locations[0]))
entry_fault("exceeds", "The length of an entry exceeds its block: the rest of the block is left out.",
            lambda c: c.dictionary() and c.words.add(1, b"text", ident=900, length=99))
entry_fault("cut-entry", "8 bytes are left of the block: no entry.", lambda c: setattr(c.words, "data", c.words.data + bytes(8)) or
            c.dictionary())
entry_fault("id-0", "A STRING, a LOCATION and a TYPE with the id 0.", lambda c: (
    c.words.add(1, b"zero", ident=0), c.words.location("x", ident=0), c.words.type("x", w.INSTANT, ident=0)))
entry_fault("type-kind", "A TYPE of an unknown kind.", lambda c: c.words.type("x", 99))
entry_fault("type-fixed-odd", "The fixed part of a TYPE has 6 bytes.", lambda c: c.words.type("x", w.INSTANT, fixed=6))
entry_fault("type-fixed-large", "The fixed part of a TYPE has more than 65536 bytes.", lambda c: c.words.type("x", w.INSTANT, fixed=65540))
entry_fault("type-fields-exceed", "A TYPE with more fields than its entry has.", lambda c: c.words.type(
    "x", w.INSTANT, fixed=4, count=2, fields=[field("f", w.UINT, w.FIXED, 0, 4)]))
entry_fault("type-fields-many", "A TYPE with 2^32 - 1 fields.", lambda c: c.words.type("x", w.INSTANT, count=(1 << 32) - 1))
for _name, _about, _field in (
        ("field-beyond-fixed", "A field exceeds the fixed part.", field("f", w.UINT, w.FIXED, 4, 2, 3)),
        ("field-offset", "The offset of a field exceeds 2^24.", field("f", w.UINT, w.IN_TAIL, (1 << 24) + 1, 4)),
        ("field-size", "The size of a field exceeds 65536.", field("f", w.STRING, w.IN_TAIL, 0, 65537)),
        ("field-count", "A field has more than 2^20 elements.", field("f", w.UINT, w.IN_TAIL, 0, 1, (1 << 20) + 1))):
    entry_fault(_name, _about, lambda c, f=_field: c.words.type("x", w.INSTANT, w.TAIL, fixed=8, fields=[f]))
entry_fault("text-without-tail", "A field is a text of the tail of a TYPE without TAIL.", lambda c: c.words.type(
    "x", w.INSTANT, fields=[field("f", w.STRING, w.NTH_TEXT, 0, 1)]))
entry_fault("field-without-tail", "A field is in the tail of a TYPE without TAIL.", lambda c: c.words.type(
    "x", w.INSTANT, fields=[field("f", w.UINT, w.REST, 0, 4)]))
entry_fault("gap-short", "A TYPE of kind GAP whose fixed part is too short.", lambda c: c.words.type("x", w.GAP, w.TAIL, fixed=20))
entry_fault("gap-without-tail", "A TYPE of kind GAP without TAIL.", lambda c: c.words.type("x", w.GAP, fixed=24))
entry_fault("definition-kind-0", "A DEFINITION of kind 0.", lambda c: c.words.definition("x", 0, []))
entry_fault("definition-kind-5", "A DEFINITION of kind 5.", lambda c: c.words.definition("x", 5, []))
entry_fault("definition-members-exceed", "A DEFINITION with more members than its entry has.", lambda c: c.words.definition(
    "x", 1, [("a", 1)], count=2))
entry_fault("definition-range", "The low of a member exceeds its high.", lambda c: c.words.definition("x", 1, [("a", 2, 1)]))
entry_fault("definition-signed-range", "A range that is impossible as the numbers are signed.",
            lambda c: c.words.definition("x", 1, [("a", 1, -1)]))
entry_fault("definition-struct-range", "A member of a BITMASK has a range.", lambda c: c.words.definition("x", 2, [("a", 1, 2)]))
entry_fault("symbol-texts-exceed", "The texts of a SYMBOL exceed its entry.", lambda c: c.words.symbol(
    c.locations[0], "name", lengths=(4, 4, 9)))
entry_fault("thread-unseen", "A THREAD with more than 65536 unseen calls.", lambda c: c.words.thread(c.lanes[0], 8, unseen=65537))

NOWHERE = 0xFFFF
for _name, _about, _make in (
        ("clock-name", "A CLOCK whose name is not declared.", lambda c: c.words.clock(NOWHERE)),
        ("source-format", "A SOURCE whose format is not declared.", lambda c: c.words.source(NOWHERE)),
        ("lane-buffer", "A LANE whose buffer is not declared.", lambda c: c.words.lane(buffer=NOWHERE, tid=1)),
        ("type-declaration", "A TYPE whose declaration is not declared.", lambda c: c.words.type("x", 0, declaration=NOWHERE)),
        ("type-source", "A TYPE whose source is not declared.", lambda c: c.words.type("x", 0, source=NOWHERE)),
        ("field-definition", "A field whose definition is not declared.", lambda c: c.words.type(
            "x", 0, fixed=4, fields=[field("f", w.ENUM, w.FIXED, 0, 4, definition=NOWHERE)])),
        ("definition-name", "A DEFINITION whose name is not declared.", lambda c: c.words.definition(NOWHERE, 1, [("a", 1)])),
        ("definition-member", "A member whose name is not declared.", lambda c: c.words.definition("x", 1, [(NOWHERE, 1)])),
        ("space-source", "A SPACE whose source is not declared.", lambda c: c.words.space(source=NOWHERE)),
        ("map-space", "A MAP whose space is not declared.", lambda c: c.words.map(NOWHERE, 0, 1)),
        ("map-path", "A MAP whose path is not declared.", lambda c: c.words.map(c.words.space(), 0, 1, NOWHERE)),
        ("location-space", "A LOCATION whose space is not declared.", lambda c: c.words.location("x", space=NOWHERE)),
        ("location-definition", "A LOCATION whose definition is not declared.", lambda c: c.words.location("x", definition=NOWHERE)),
        ("symbol-location", "A SYMBOL whose location is not declared.", lambda c: c.words.symbol(NOWHERE, "x")),
        ("thread-lane", "A THREAD whose lane is not declared.", lambda c: c.words.thread(NOWHERE, 2, last=9000))):
    add(f"undeclared-{_name}", _about, *with_entries(_make))


@bad
def undeclared_names_are_empty():
    """What names an undeclared id is used with an empty text, or without the source and the clock."""
    case = Case()
    nameless = case.type(NOWHERE, w.INSTANT, group=NOWHERE)
    lane = case.lane(tid=5, source=NOWHERE, clock=NOWHERE, comm=NOWHERE)
    place = case.location(NOWHERE, 0x20)
    case.I(1000, nameless, lane=lane).E(1001, place).L(1002, place)
    return case.data(), [tick(1000, None, type=None, tid=5), call(1001, 1, "<20>")]


@bad
def declared_too_late():
    """A LANE names a SOURCE that is declared after it, and a block a type that is declared after it."""
    case = Case()
    lane = case.lane(tid=42, source=1)
    case.words.source(name="late")
    late = case.words.ids[5] + 1
    case.I(1000, lane=lane).add(w.events(BASE, [w.narrow(1, 0)], [late], case.lanes))
    case.words.type("late", w.INSTANT, ident=late)
    return case.I(1002).data(events=3), [tick(1000), tick(1002)]


@bad
def dict_rest_of_block():
    """An entry exceeds its block: the entries before it are used, and those after it are not."""
    case = Case()
    case.I(1000).flush()
    before = w.Dictionary()
    before.type("new", w.INSTANT, ident=case.types[2])
    before.add(1, b"text", ident=900, length=4096)
    before.lane(tid=7, ident=case.lanes[0])
    case.blocks.append(before.block())
    return case.I(1001).data(), [tick(1000), tick(1001, "new")]


# EVENTS: a block is left out, and the others are used


def block_fault(name, about, make, events=None, counted=1):
    """A stream of a good block of a tick, and the block that make returns for a case."""
    case = Case().I(1000)
    case.flush()
    case.blocks.append(make(case))
    if case.words.data:
        case.blocks.insert(1, case.words.block())
    case.events += counted
    add(f"events-{name}", about, case.I(2000).data(), (events or []) + [tick(1000), tick(2000)])


def rows_fault(name, about, *rows, **how):
    """An EVENTS block with these rows, of which one is impossible."""
    block_fault(name, about, lambda c: w.events(BASE, list(rows), c.types, c.lanes, c.locations, **how), counted=len(rows))


TICK_ROW = w.narrow(1, 2)
rows_fault("type-index", "The type of a row exceeds its table.", TICK_ROW, w.narrow(1, 3))
rows_fault("lane-index", "The lane of a row exceeds its table.", TICK_ROW, w.narrow(1, 2, lane=1))
rows_fault("location-index", "The location of a row exceeds its table.", TICK_ROW, w.narrow(1, 2, location=4))
rows_fault("wide-type-index", "The type of a wide row exceeds its table.", w.wide(1, 65535), flags=w.WIDE)
rows_fault("wide-lane-index", "The lane of a wide row exceeds its table.", w.wide(1, 2, lane=256), flags=w.WIDE)
rows_fault("wide-location-index", "The location of a wide row exceeds its table.", w.wide(1, 2, location=1 << 31), flags=w.WIDE)
rows_fault("time", "The time of a row exceeds last.", TICK_ROW, w.narrow(100, 2), last=BASE + 99)
rows_fault("wide-time", "The time of a wide row exceeds last.", w.wide((1 << 48) - 1, 2), flags=w.WIDE)
rows_fault("last", "last is less than base.", TICK_ROW, last=BASE - 1)
rows_fault("count-more", "The block has fewer rows than it counts.", TICK_ROW, count=2)
rows_fault("count-many", "The block counts 2^32 - 1 rows.", TICK_ROW, count=(1 << 32) - 1)
rows_fault("count-less", "The block has more rows than it counts.", TICK_ROW, TICK_ROW, count=1)
rows_fault("more-bytes", "16 bytes follow the rows.", TICK_ROW, more=bytes(16))
rows_fault("wide-as-narrow", "Rows of 16 bytes without the flag WIDE.", w.wide(1, 2), w.wide(2, 2, lane=3))
rows_fault("narrow-as-wide", "Rows of 8 bytes with the flag WIDE.", TICK_ROW, flags=w.WIDE)
block_fault("no-types", "A block without types.", lambda c: w.events(BASE, [TICK_ROW], [], c.lanes))
block_fault("no-lanes", "A block without lanes.", lambda c: w.events(BASE, [TICK_ROW], c.types, []))
block_fault("undeclared-type", "A table names a type that is not declared.",
            lambda c: w.events(BASE, [TICK_ROW], [*c.types, NOWHERE], c.lanes))
block_fault("undeclared-lane", "A table names a lane that is not declared.",
            lambda c: w.events(BASE, [TICK_ROW], c.types, [*c.lanes, NOWHERE]))
block_fault("undeclared-location", "A table names a location that is not declared.",
            lambda c: w.events(BASE, [TICK_ROW], c.types, c.lanes, [NOWHERE]))
block_fault("id-0", "A table names the id 0.", lambda c: w.events(BASE, [TICK_ROW], c.types, [*c.lanes, 0]))
block_fault("tables-exceed", "The tables exceed the block.",
            lambda c: w.events(BASE, [TICK_ROW], c.types, c.lanes, table_types=60000))
block_fault("short", "The block is shorter than its first part.", lambda c: w.block(w.EVENTS, bytes(24)))


def tail_type(c, **how):
    return [c.words.type("x", w.INSTANT, w.TAIL, fixed=8, fields=[field("t", w.STRING, w.REST, 0, 1)], **how)]


block_fault("fixed-exceeds", "The fixed part of a row exceeds the block.",
            lambda c: w.events(BASE, [w.narrow(0, 0)], tail_type(c), c.lanes))
block_fault("tail-length-exceeds", "The length of a tail is beyond the block.",
            lambda c: w.events(BASE, [w.narrow(0, 0, parts=bytes(8))], tail_type(c), c.lanes))
block_fault("tail-exceeds", "The tail of a row exceeds the block.",
            lambda c: w.events(BASE, [w.narrow(0, 0, parts=bytes(8) + struct.pack("<II", 9, 0))], tail_type(c), c.lanes))
block_fault("tail-wraps", "The length of a tail is 2^32 - 1.",
            lambda c: w.events(BASE, [w.narrow(0, 0, parts=bytes(8) + struct.pack("<II", (1 << 32) - 1, 0))], tail_type(c), c.lanes))
block_fault("bare-with-parts", "A BARE block names a type with a tail.",
            lambda c: w.events(BASE, [w.narrow(0, 0)], [c.types[2], *tail_type(c)], c.lanes, flags=w.BARE))


# META

for _name, _about, _blocks in (
        ("source", "A META of a source that is not declared.", [w.meta(b"part", b"content", source=NOWHERE)]),
        ("exceeds", "A piece exceeds its part.", [w.meta(b"part", b"content", total=3)]),
        ("short", "A META is shorter than its first part.", [w.block(w.META, bytes(32), flags=3)]),
        ("name", "The name exceeds the block.", [w.meta(b"part", b"content", name_length=99)]),
        ("length", "The piece exceeds the block.", [w.meta(b"part", b"content", length=(1 << 32) - 1)])):
    add(f"meta-{_name}", _about, two_calls(Case().add(*_blocks)).data(), TWO_CALLS)


# A piece that does not continue its part is left out, and only what lost a piece is reported
for _name, _about, _blocks in (
        ("offset", "The first piece of a part is not at offset 0.", [w.meta(b"part", b"content", offset=8, total=15)]),
        ("gap", "A piece of a part is missing.", [w.meta(b"part", b"abc", total=9), w.meta(b"part", b"ghi", total=9, offset=6)]),
        ("hash", "The second piece has another hash.", [w.meta(b"part", b"abc", total=6),
                                                        w.meta(b"part", b"def", total=6, offset=3, hash_=2)]),
        ("total", "The second piece has another total.", [w.meta(b"part", b"abc", total=6),
                                                          w.meta(b"part", b"def", total=7, offset=3)])):
    add(f"meta-{_name}", _about, two_calls(Case().add(*_blocks)).data(), TWO_CALLS, 0)


# Values: the row loses its values

FULL = (1 << 64) - 1
for _name, _about, _tail in (
        ("tag", "An unknown tag.", argument(1, tagged(19))),
        ("no-value", "The tail ends after the index.", b"\1\1"),
        ("index-cut", "The tail ends within the index.", b"\1\x80"),
        ("uleb-long", "A uleb of 11 bytes.", argument(1, b"\4" + b"\x80" * 10 + b"\0")),
        ("uleb-large", "A uleb of 2^64.", argument(1, b"\4" + b"\x80" * 9 + b"\2")),
        ("negative", "A NEGATIVE of more than 2^63.", argument(1, tagged(3, (1 << 63) + 1))),
        ("float", "A FLOAT of 3 bytes.", argument(1, b"\5abc")),
        ("double", "A DOUBLE of 7 bytes.", argument(1, b"\6abcdefg")),
        ("string", "The length of a STRING exceeds the tail.", argument(1, b"\7\5text")),
        ("string-wraps", "The length of a STRING is 2^64 - 1.", argument(1, b"\7" + w.uleb(FULL) + b"text")),
        ("blob", "The length of a BLOB exceeds the tail.", argument(1, b"\x08\5text")),
        ("enum-size-0", "An ENUM of 0 bytes.", argument(1, b"\x09\0\0")),
        ("enum-size-17", "An ENUM of 17 bytes.", argument(1, b"\x09\0\x11" + bytes(17))),
        ("enum-cut", "An ENUM exceeds the tail.", argument(1, b"\x09\0\4abc")),
        ("definition-id", "The id of a definition is 2^32.", argument(1, b"\x09" + w.uleb(1 << 32) + b"\1\1")),
        ("backtrace-index", "A BACKTRACE with the index 1.", detail(3, 1, tagged(11, 0))),
        ("flags-index", "FLAGS with the index 1.", detail(4, 1, tagged(4, 1))),
        ("array-count", "An ARRAY with more elements than the tail.", argument(1, tagged(11, 3, tagged(4, 1)))),
        ("array-many", "An ARRAY with 2^64 - 1 elements.", argument(1, tagged(11, FULL, tagged(4, 1)))),
        ("struct-count", "A STRUCT with more members than the tail.", argument(1, tagged(12, 0, 2, tagged(4, 1)))),
        ("nested", "ARRAYs that are nested 129 deep.", argument(1, b"\x0b\1" * 129 + b"\0")),
        ("nested-mixed", "STRUCTs and REPRs that are nested 129 deep.", argument(1, b"\x0c\0\1" * 64 + b"\x11" * 65 + bytes(66))),
        ("number-size-0", "A NUMBER of 0 bytes.", argument(1, b"\x0ed\0")),
        ("number-size-17", "A NUMBER of 17 bytes.", argument(1, b"\x0ed\x11" + bytes(17))),
        ("opaque", "The bytes of an OPAQUE exceed the tail.", argument(1, tagged(15, sized(b"name"), b"\x09abc"))),
        ("wide", "A WSTRING with more units than the tail.", argument(1, b"\x10\4abc")),
        ("repr", "A REPR of one value.", argument(1, b"\x11\0")),
        ("argument-0", "An argument of number 0.", argument(0, tagged(0))),
        ("argument-65537", "An argument of number 65537.", argument(65537, tagged(0))),
        ("return-index", "A RETURN with the index 1.", detail(2, 1, tagged(0))),
        ("backtrace", "A BACKTRACE that is no ARRAY.", detail(3, 0, tagged(4, 1))),
        ("backtrace-element", "A BACKTRACE of an ARRAY of numbers.", detail(3, 0, tagged(11, 1, tagged(4, 1)))),
        ("flags", "FLAGS that are no UINT.", detail(4, 0, tagged(3, 1))),
        ("unknown-detail", "The length of an unknown detail exceeds the tail.", detail(9, 0, b"\5abc")),
        ("second", "The second detail is damaged: the first is lost with it.", argument(1, tagged(4, 1)) + b"\1\2\x7f")):
    def _valued(details=_tail):
        case = Case()
        case.type("in", w.ENTER, w.DEPTH | w.TAIL | w.VALUES)
        parts_ = w.tail(argument(1, tagged(4, 7)))
        case.E(1000, kind=3, parts=w.tail(details)).L(1001).E(1002, F, kind=3, parts=parts_).L(1003, F)
        return case.data()
    add(f"values-{_name}", _about, _valued(), [call(1000, 1), call(1002, 1, "f", args={"arg1": 7})])


# Calls whose rows are lost


@bad
def lost_block_of_calls():
    """A block with the ENTER of a call is lost: the LEAVE with DEPTH matches none."""
    case = Case().E(1000).flush()
    case.E(1100, F, 1).flush()
    case.blocks[-1] = flip(case.blocks[-1], 30)
    return case.L(1200, F, 1).L(1500).data(), [call(1000, 500)]


@bad
def lost_segment():
    """A segment with the LEAVE of a call is missing: the call goes on in the segments that are left."""
    first = Case().E(1000).E(1100, F, 1).data(flags=0)
    third = Case(head=w.head(2)).E(1300, F, 1).L(1350, F, 1).L(1500).data()
    return first + third, [
        {"time": 1100, "dur": 200, "name": "f", "type": "in", "tid": 42, "depth": 1, "kind": "call", "unfinished": True},
        call(1300, 50, "f", depth=1, caller="main"), call(1000, 500, self=450)]


@bad
def damaged_head_of_second_segment():
    """HEAD of the second segment is damaged: calls go on, as the marker has the same digits."""
    first = Case().E(1000).data(flags=0)
    second = Case(head=flip(w.head(1), 30)).L(1500).data()
    return first + second, [call(1000, 500)]


@bad
def damaged_marker_and_head():
    """The digits of the marker and the header of HEAD are damaged: the segment begins all the same."""
    first = Case().I(1000).data(flags=0)
    second = Case(head=flip(w.head(1), 20)).I(1001).data(marker=b"trstrm1:XXXXXXXX")
    return first + second + GOOD, [tick(1000), tick(1001)] + TWO_CALLS


@bad
def no_marker_and_no_head():
    """The marker and HEAD of the second segment are no such things: its other blocks are in no segment."""
    first = Case().I(1000).data(flags=0)
    second = Case(head=flip(w.head(1), 20)).I(1001).data(marker=b"trstrm1;XXXXXXXX")
    return first + second + GOOD, [tick(1000)] + TWO_CALLS


@bad
def head_after_garbage():
    """END of a segment and the marker of the next are garbage: HEAD, which a search finds, begins a segment."""
    words = w.Dictionary()
    first = Case(words=words, lane={"tid": 42, "source": words.source()}).E(1000).I(1001)
    return first.data(end=False) + b"garbage!" * 12 + Case(head=w.head(ident=77)).I(1002).data(marker=b""), [
        tick(1001, input="in"), unfinished(1000, 1, input="in"), tick(1002)]
