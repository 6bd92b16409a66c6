"""Streams with SNAPSHOTs, without damage and with it."""
import struct

import streams_writer as w
from streams_case import F, G, MAIN, STREAMS, Case, call, stream, tick, unfinished
from streams_writer import argument, field, frame, record, tagged

SEGMENTED = 8
STARTED, CPU_STARTED = 16, 32
RESTART, MORE = 4, 1
IN_KERNEL, IGNORED = 1, 2
TWO_CALLS = [call(1100, 100, "f", depth=1, caller="main"), call(1000, 500, self=400)]


def good(make):
    return stream("good", "snapshot-" + make.__name__.replace("_", "-"))(make)


def bad(make):
    return stream("bad", "snapshot-" + make.__name__.replace("_", "-"))(make)


def entered(case, *rows, kinds=None):
    """The rows of open calls: locations, or pairs of a location and named arguments of the row."""
    encoded = []
    for row in rows:
        where, named = row if isinstance(row, tuple) else (row, {})
        encoded.append(w.narrow(0, **{"kind": 0, "location": where, **named}))
    return w.events(0, encoded, case.types, case.lanes, case.locations, last=0)


def segment(sequence=0, *, flags=w.DEPTH, **how):
    return Case(flags, head=w.head(sequence, flags=SEGMENTED), **how)


def usual(case, *, gone=(), **how):
    """A SNAPSHOT of main and f."""
    return w.snapshot(**{"records": [record(case.lanes[0], 2, last=1150, types=(case.types[0], 0))],
                         "frames": [frame(1000), frame(1100, 1)],
                         "rows": entered(case, MAIN, (F, {"depth": 1})), "gone": gone, **how})


def second(case):
    return case.L(1200, F, 1).L(1500)


@good
def ignored():
    """A reader of the segment before ignores the SNAPSHOT: its calls are open already."""
    first, case = segment().E(1000).E(1100, F, 1), segment(1)
    case.add(w.snapshot())
    return first.data(flags=0) + second(case).data(), TWO_CALLS


@good
def of_first_segment():
    """The first segment begins in the middle of a stream."""
    case = segment()
    return second(case.add(usual(case))).data(), TWO_CALLS


@good
def restart():
    """RESTART: the calls of the SNAPSHOT are open instead of those that were."""
    first, case = segment().E(1010, G).E(1020, G, 1), segment(1)
    case.add(usual(case, flags=RESTART))
    return first.data(flags=0) + second(case).data(), TWO_CALLS


@good
def longer_records():
    """Records that are longer than the page describes."""
    case = segment()
    case.add(usual(case, records=[record(case.lanes[0], 2, last=1150, more=bytes(16))], sizes=(80, 32),
                   frames=[frame(1000, more=bytes(8)), frame(1100, 1, more=bytes(8))]))
    return second(case).data(), TWO_CALLS


@good
def time_of_callees():
    """The time that callees have taken before."""
    case = segment()
    case.add(usual(case, frames=[frame(1000, child=30), frame(1100, 1, child=60)]))
    return second(case).data(), [call(1100, 100, "f", depth=1, caller="main", self=40), call(1000, 500, self=370)]


@good
def unseen_calls():
    """Calls without an ENTER, and one with."""
    case = segment()
    case.add(w.snapshot([record(case.lanes[0], 1, last=1150, since=900, child=25, unseen=2)], [frame(1100, 2)],
                        entered(case, (F, {"depth": 2}))))
    case.L(1200, F, 2).L(1300, G, 1).I(1400)
    return case.data(), [call(1100, 100, "f", depth=2), call(900, 400, "g", depth=1, self=275), tick(1400),
                         unfinished(900, 500, "<0>", self=100)]


@good
def open_at_the_end():
    """Calls of a SNAPSHOT that are open at the end, without another row of their thread."""
    case = segment()
    case.lane(tid=43)
    case.add(usual(case)).I(1900, lane=1)
    return case.data(), [tick(1900, tid=43), unfinished(1100, 50, "f", depth=1, caller="main"), unfinished(1000, 150, self=100)]


@good
def started():
    """A thread whose lane has STARTED shows no calls that were open before; another one does."""
    case = segment(lane={"tid": 42, "flags": STARTED})
    case.lane(tid=43)
    case.add(w.snapshot()).E(1000, F, 1).L(1100, F, 1).E(1200, F, 1, lane=1).L(1300, F, 1, lane=1).L(1400, G, 0, lane=1)
    return case.data(), [call(1000, 100, "f"), call(1200, 100, "f", depth=1, tid=43), call(1200, 200, "g", tid=43, self=100)]


@good
def per_cpu():
    """The stack of a CPU."""
    case = segment(flags=w.PER_CPU, lane={"tid": 42, "cpu": 1})
    case.add(usual(case, records=[record(case.lanes[0], 2, flags=1, last=1150)]))
    return case.L(1200, F).L(1500).data(), [{**event, "cpu": 1} for event in TWO_CALLS]


@good
def two_threads():
    """Records of two threads have their frames in their order."""
    case = segment()
    case.lane(tid=43)
    case.add(w.snapshot([record(case.lanes[1], 1), record(case.lanes[0], 2)], [frame(1050), frame(1000), frame(1100, 1)],
                        entered(case, (G, {"lane": 1}), MAIN, (F, {"depth": 1}))))
    case.L(1070, G, lane=1)
    return second(case).data(), [call(1050, 20, "g", tid=43)] + TWO_CALLS


@good
def more():
    """Two SNAPSHOTs: the second goes on with the frames of the first one's record."""
    case = segment()
    case.add(usual(case, records=[record(case.lanes[0], 1)], frames=[frame(1000)], rows=entered(case, MAIN), flags=MORE),
             usual(case, records=[record(case.lanes[0], 1, flags=8)], frames=[frame(1100, 1)],
                   rows=entered(case, (F, {"depth": 1}))))
    return second(case).data(), TWO_CALLS


@good
def kernel():
    """Calls of the kernel on top of a call."""
    case = segment()
    kin = case.type("kin", w.ENTER, w.KERNEL | w.DEPTH)
    kout = case.type("kout", w.LEAVE, w.KERNEL | w.DEPTH)
    case.add(w.snapshot([record(case.lanes[0], 3, charged=1100, types=(case.types[0], case.types[kin]), base=1)],
                        [frame(1000), frame(1100, 0, flags=IN_KERNEL), frame(1150, 1, flags=IN_KERNEL)],
                        entered(case, MAIN, (F, {"kind": kin}), (G, {"kind": kin, "depth": 1}))))
    case.L(1160, G, 1, kind=kout).L(1200, F, 0, kind=kout).L(1500)
    return case.data(), [call(1150, 10, "g", type="kout", depth=2, caller="f"),
                         call(1100, 100, "f", type="kout", depth=1, caller="main", self=90), call(1000, 500, self=400)]


@good
def kernel_outside():
    """A call of the kernel that is ignored."""
    case = segment()
    kin = case.type("kin", w.ENTER, w.KERNEL | w.DEPTH)
    kout = case.type("kout", w.LEAVE, w.KERNEL | w.DEPTH)
    case.add(w.snapshot([record(case.lanes[0], 1, charged=1100, types=(0, case.types[kin]))],
                        [frame(1100, 0, flags=IN_KERNEL | IGNORED)], entered(case, (F, {"kind": kin}))))
    case.E(1150).L(1200, F, 0, kind=kout).L(1500)
    return case.data(), [call(1150, 350)]


@good
def numbered():
    """Calls with numbers."""
    case = segment()
    numbered_types = [case.type(name, kind, w.CALL_NUMBER, fixed=4, fields=[field("call", w.UINT, w.FIXED, 0, 4, role=9)])
                      for name, kind in (("nin", w.ENTER), ("nout", w.LEAVE))]
    parts = struct.pack("<I", 5)
    case.add(w.snapshot([record(case.lanes[0], 2)], [frame(1000), frame(1100)],
                        entered(case, MAIN, (F, {"kind": numbered_types[0], "parts": parts}))))
    case.L(1200, F, kind=numbered_types[1], parts=parts).L(1500)
    return case.data(), [call(1100, 100, "f", type="nout"), call(1000, 500)]


@good
def values():
    """The arguments of an open call."""
    case = segment()
    kind = case.type("in", w.ENTER, w.DEPTH | w.TAIL | w.VALUES)
    case.add(w.snapshot([record(case.lanes[0], 1)], [frame(1000)],
                        entered(case, (MAIN, {"kind": kind, "parts": w.tail(argument(1, tagged(4, 7)))}))))
    return case.L(1500).data(), [call(1000, 500, args={"arg1": 7})]


@good
def inner_and_exec():
    """A call with INNER on top, and an exec in another thread."""
    case = segment()
    case.lane(tid=43)
    execve = case.location("execve")
    off, on = case.type("off", w.ENTER, w.INNER), case.type("on", w.LEAVE, w.INNER)
    case.add(w.snapshot([record(case.lanes[0], 2), record(case.lanes[1], 1)], [frame(1000), frame(1100, 1), frame(1000)],
                        entered(case, MAIN, (G, {"kind": off}), (execve, {"lane": 1}))))
    case.L(1150, G, kind=on).E(1200, F, lane=1).L(1300, F, lane=1).L(1500)
    lost = unfinished(1000, 200, "execve", tid=43, self=None, recursive=None)
    return case.data(), [call(1100, 50, "g", type="on", depth=1, caller="main"), lost, call(1200, 100, "f", tid=43),
                         call(1000, 500, self=450)]


# Damage


@bad
def begins_with_second_segment():
    """The first segment is missing: the calls are those of the SNAPSHOT."""
    case = segment(1)
    return second(case.add(usual(case))).data(), TWO_CALLS


@bad
def lost_segment():
    """The segment 1 is missing: the calls of the segment 2 are those of its SNAPSHOT."""
    first, third = segment().E(1000, G).E(1010, G, 1), segment(2)
    return first.data(flags=0) + second(third.add(usual(third))).data(), TWO_CALLS


@bad
def lost_block():
    """A block of the first segment is lost: the second adopts its SNAPSHOT."""
    first, case = segment().E(1000).flush(), segment(1)
    first.E(1100, F, 1).flush()
    first.blocks[-1] = first.blocks[-1][:-1] + b"\xff"
    return first.data(flags=0) + second(case.add(usual(case))).data(), TWO_CALLS


@bad
def missing():
    """The segment 1 is missing, and the segment 2 has no SNAPSHOT: the calls that are known remain open."""
    first, third = segment().E(1000).E(1100, F, 1), segment(2)
    return first.data(flags=0) + second(third).data(), TWO_CALLS


def fault(name, about, make):
    """A stream whose second segment has a SNAPSHOT with a fault, which costs nothing."""
    first, case = segment().E(1000).E(1100, F, 1), segment(1)
    make(case)
    data = first.data(flags=0) + second(case).data()
    STREAMS.append((f"bad/snapshot-{name}", about, lambda: (data, TWO_CALLS)))


def with_usual(**how):
    """How to add a SNAPSHOT of main and f; a function gives what needs the case."""
    return lambda case: case.add(usual(case, **{key: value(case) if callable(value) else value for key, value in how.items()}))


NOWHERE = 0xFFFF
fault("twice", "A second SNAPSHOT after one without MORE.", lambda c: c.add(usual(c), usual(c)))
fault("after-events", "A SNAPSHOT after the first EVENTS.",
      lambda c: c.add(w.events(0, [], c.types, c.lanes, last=0), usual(c)))
fault("short", "A SNAPSHOT that is too short.", lambda c: c.add(w.block(w.SNAPSHOT, bytes(32), flags=1)))
fault("record-size", "A thread record of 56 bytes.", with_usual(sizes=(56, 24)))
fault("record-size-odd", "A thread record of 68 bytes.", with_usual(sizes=(68, 24)))
fault("frame-size", "A frame record of 16 bytes.", with_usual(sizes=(64, 16)))
fault("records-exceed", "More records than bytes.", with_usual(counts=((1 << 32) - 1, 2, 0)))
fault("frames-exceed", "More frames than bytes.", with_usual(counts=(1, (1 << 32) - 1, 0)))
fault("gone-exceeds", "More ids than bytes.", with_usual(counts=(1, 2, (1 << 32) - 1)))
fault("more-bytes", "Bytes after rows.", with_usual(more=bytes(8)))
fault("lane", "A record of a lane that is not declared.", with_usual(records=[record(NOWHERE, 2)]))
fault("type", "A record of a type that is not declared.", with_usual(records=lambda c: [record(c.lanes[0], 2, types=(NOWHERE, 0))]))
fault("gone", "An id of a location that is not declared.",
      with_usual(records=lambda c: [record(c.lanes[0], 2, gone=1)], gone=[NOWHERE]))
fault("frames-more", "The records have more frames than there are.", with_usual(records=lambda c: [record(c.lanes[0], 3)]))
fault("frames-less", "The records have fewer frames than there are.", with_usual(records=lambda c: [record(c.lanes[0], 1)]))
fault("gone-less", "The records have fewer ids than there are.", with_usual(gone=lambda c: [c.locations[0]]))
fault("unseen", "A record with more than 65536 unseen calls.",
      with_usual(records=lambda c: [record(c.lanes[0], 2, unseen=65537)]))
fault("rows-less", "rows has fewer rows than there are frames.", with_usual(rows=lambda c: entered(c, MAIN)))
fault("rows-leave", "A row is a LEAVE.", with_usual(rows=lambda c: entered(c, MAIN, (F, {"kind": 1}))))
fault("rows-impossible", "A row has an impossible location.", with_usual(rows=lambda c: entered(c, MAIN, 99)))


@bad
def base():
    """base exceeds the calls of the first stack."""
    first, case = segment().E(1000).E(1100, F, 1), segment(1)
    kin = case.type("kin", w.ENTER, w.KERNEL | w.DEPTH)
    case.add(usual(case, records=[record(case.lanes[0], 2, types=(0, case.types[kin]), base=2)],
                   frames=[frame(1000), frame(1100, 0, flags=IN_KERNEL)], rows=entered(case, MAIN, (F, {"kind": kin}))))
    return first.data(flags=0) + second(case).data(), TWO_CALLS


@bad
def frames_order():
    """A frame of the kernel is before one of the first stack."""
    first, case = segment().E(1000).E(1100, F, 1), segment(1)
    kin = case.type("kin", w.ENTER, w.KERNEL | w.DEPTH)
    case.add(usual(case, frames=[frame(1000, flags=IN_KERNEL), frame(1100, 1)],
                   rows=entered(case, (MAIN, {"kind": kin}), (F, {"depth": 1}))))
    return first.data(flags=0) + second(case).data(), TWO_CALLS
