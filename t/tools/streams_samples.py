"""Streams with stacks and samples, without damage and with it."""
import struct

import streams_writer as w
from streams_case import BASE, F, G, MAIN, STREAMS, Case, call, sample, stream, tick
from streams_writer import field

STACK, PERIOD = 12, 13  # roles
TWO_CALLS = [call(1100, 100, "f", depth=1, caller="main"), call(1000, 500, self=400)]


def good(make):
    return stream("good", "samples-" + make.__name__.replace("_", "-"))(make)


def bad(make):
    return stream("bad", "samples-" + make.__name__.replace("_", "-"))(make)


def sampled(*, wide=False, **how):
    """A case with a type "cycles", and three stacks: main, main;f and main;f;g."""
    case = Case()
    case.wide = wide
    kind = case.type("cycles", w.SAMPLE, **how)
    case.stack(MAIN)
    for place in (F, G):
        case.stacks.append(case.words.stack(case.stacks[-1], case.locations[place - 1]))
    return case, kind


def S(case, time, kind, stack, **named):
    return case.row(time, kind, location=stack, **named)


THREE = [sample(1000, ["main"]), sample(1001, ["main", "f", "g"]), sample(1002, ["main", "f"])]


def three(case, kind):
    for time, stack in ((1000, 1), (1001, 3), (1002, 2)):
        S(case, time, kind, stack)
    return case


@good
def constant_weight_of_1():
    """The type has neither a weight nor a field with the role PERIOD."""
    return three(*sampled()).data(), THREE


@good
def constant_weight():
    """The type has the weight."""
    case, kind = sampled(weight=4000)
    return three(case, kind).data(), [{**each, "weight": 4000} for each in THREE]


@good
def wide():
    """Samples in wide rows."""
    return three(*sampled(wide=True)).data(), THREE


@good
def bare():
    """The block has BARE, and rows of calls beside the samples: the type decides which table counts."""
    case, kind = sampled()
    case.E(1000)
    S(case, 1001, kind, 3)
    case.E(1100, F, 1).L(1200, F, 1)
    S(case, 1300, kind, 0)
    case.L(1500).flush(flags=w.BARE)
    return case.data(), [sample(1001, ["main", "f", "g"]), TWO_CALLS[0], sample(1300, []), TWO_CALLS[1]]


@good
def bare_wide():
    """A wide block with BARE, of samples and an instant with a location."""
    case, kind = sampled(wide=True)
    three(case, kind).I(1003, location=F).flush(flags=w.BARE | w.WIDE)
    return case.data(), [*THREE, tick(1003, "f", type="tick")]


@good
def more_stacks_than_locations():
    """A sample has a larger index than there are locations."""
    case, kind = sampled()
    three(case, kind).dictionary()
    case.locations, rows, case.rows = case.locations[:1], case.rows, []
    case.blocks.append(w.events(BASE, rows, case.types, case.lanes, case.locations, stacks=case.stacks))
    return case.data(), THREE


@good
def period():
    """A field with the role PERIOD has the weight, and not the type."""
    case, kind = sampled(weight=7, fixed=8, fields=[field("period", w.UINT, w.FIXED, 0, 8, role=PERIOD)])
    for time, stack, weight in ((1000, 2, 5), (1001, 0, 0), (1002, 1, (1 << 52) + 1)):
        S(case, time, kind, stack, parts=struct.pack("<Q", weight))
    return case.data(), [sample(1000, ["main", "f"], 5, args={"period": 5}), sample(1001, [], 0, args={"period": 0}),
                         sample(1002, ["main"], (1 << 52) + 1, args={"period": (1 << 52) + 1})]


@good
def period_of_4_bytes():
    """A field with the role PERIOD of another size than 8 is no weight."""
    case, kind = sampled(weight=7, fixed=4, fields=[field("period", w.UINT, w.FIXED, 0, 4, role=PERIOD)])
    S(case, 1000, kind, 1, parts=struct.pack("<I", 5))
    return case.data(), [sample(1000, ["main"], 7, args={"period": 5})]


@good
def tail():
    """Samples with a fixed part and a tail, and calls between them."""
    case, kind = sampled(flags=w.TAIL, fixed=4, fields=[
        field("number", w.UINT, w.FIXED, 0, 4), field("text", w.STRING, w.REST, 0, 1)])
    case.E(1000)
    S(case, 1200, kind, 3, parts=struct.pack("<I", 9) + w.tail(b"hello"))
    return case.L(1500).data(), [sample(1200, ["main", "f", "g"], args={"number": 9, "text": "hello"}),
                                 call(1000, 500)]


@good
def frame_without_location():
    """The location 0 is a frame of which nothing is known."""
    case, kind = sampled()
    case.stacks.append(case.words.stack(case.stacks[1], 0))
    S(case, 1000, kind, 4)
    return case.data(), [{**sample(1000, ["main", "f", "<0>"]), "name": "cycles"}]


@good
def recursion():
    """A function is on the stack twice."""
    case, kind = sampled()
    S(case, 1000, kind, case.stack(MAIN, F, MAIN, F))
    return case.data(), [sample(1000, ["main", "f", "main", "f"])]


@good
def stack_declared_again():
    """A second declaration of an id gives it a new meaning, and not to stacks that named it before."""
    case, kind = sampled()
    case.flush()
    case.words.add(12, struct.pack("<II", 0, case.locations[G - 1]), ident=case.stacks[1])
    S(case, 1000, kind, 2)
    S(case, 1001, kind, 3)
    return case.data(), [sample(1000, ["g"]), sample(1001, ["main", "f", "g"])]


@good
def location_declared_again():
    """Stacks keep the location that the id had when they were declared."""
    case, kind = sampled()
    case.flush()
    case.words.location("other", ident=case.locations[F - 1])
    S(case, 1000, kind, 3)
    return case.data(), [sample(1000, ["main", "f", "g"])]


@good
def symbol_after_stack():
    """A SYMBOL that follows the stack names its frame."""
    case, kind = sampled()
    case.words.symbol(case.locations[F - 1], "named")
    S(case, 1000, kind, 3)
    return case.data(), [sample(1000, ["main", "named", "g"])]


@good
def two_segments():
    """Ids of stacks start afresh in each segment."""
    first, kind = sampled()
    S(first, 1000, kind, 2)
    second = Case(head=w.head(1))
    second.type("cycles", w.SAMPLE)
    second.stack(G, MAIN)
    S(second, 1001, 3, 1)
    return first.data(flags=0) + second.data(), [sample(1000, ["main", "f"]), sample(1001, ["g", "main"])]


@good
def stacks_of_another_event():
    """Fields with the role STACK have ids of stacks; 0 is none."""
    case, _ = sampled()
    kind = case.type("switch", w.INSTANT, fixed=12, fields=[
        field("cpu", w.UINT, w.FIXED, 0, 4), field("kernel", w.UINT, w.FIXED, 4, 4, role=STACK),
        field("user", w.UINT, w.FIXED, 8, 4, role=STACK)])
    for time, kernel, user in ((1000, case.stacks[2], case.stacks[0]), (1001, 0, case.stacks[1])):
        case.I(time, kind, parts=struct.pack("<III", 3, kernel, user))
    return case.data(), [tick(1000, "switch", args={"cpu": 3, "kernel": ["main", "f", "g"], "user": ["main"]},
                              stack=["main", "f", "g"]),
                         tick(1001, "switch", args={"cpu": 3, "user": ["main", "f"]})]


@good
def stack_of_a_call():
    """An ENTER has a field with the role STACK, and is in a SNAPSHOT."""
    fields = [field("back", w.UINT, w.FIXED, 0, 4, role=STACK)]

    def begin(number):
        case = Case(head=w.head(number, flags=8))
        case.type("go", w.ENTER, w.DEPTH, fixed=4, fields=fields)
        if number:
            case.stack(G)  # other ids than in the first segment
        case.stack(MAIN, F)
        return case
    first, second = begin(0), begin(1)
    first.E(1000, kind=3, parts=struct.pack("<I", first.stacks[-1]))
    rows = w.events(0, [w.narrow(0, 3, location=MAIN, parts=struct.pack("<I", second.stacks[-1]))], second.types,
                    second.lanes, second.locations, last=0)
    second.add(w.snapshot([w.record(second.lanes[0], 1, last=1000, types=(second.types[3], 0))], [w.frame(1000)],
                          rows, latest=1000))
    return first.data(flags=0) + second.L(1500).data(), [call(1000, 500, args={"back": ["main", "f"]})]


@good
def undeclared_stack_of_a_field():
    """A field with the role STACK has an id that is not declared: no stack."""
    case, _ = sampled()
    kind = case.type("switch", w.INSTANT, fixed=4, fields=[field("user", w.UINT, w.FIXED, 0, 4, role=STACK)])
    return case.I(1000, kind, parts=struct.pack("<I", 0xFFFF)).data(), [tick(1000, "switch")]


# Damage


def entry_fault(name, about, make):
    """A good stream of three samples, with one entry more."""
    case, kind = sampled()
    make(case)
    STREAMS.append((f"bad/samples-{name}", about, lambda: (three(case, kind).data(), THREE, 1)))


entry_fault("short-stack", "A STACK that is 4 bytes too short.", lambda c: c.words.add(12, bytes(4), ident=900))
entry_fault("stack-id-0", "A STACK with the id 0.", lambda c: c.words.stack(0, c.locations[0], ident=0))


@bad
def undeclared_parent():
    """A STACK whose parent is not declared: it has no parent."""
    case, kind = sampled()
    case.stacks.append(case.words.stack(0xFFFF, case.locations[F - 1]))
    S(case, 1000, kind, 4)
    return case.data(), [sample(1000, ["f"])]


@bad
def own_parent():
    """A STACK that is its own parent, which is not declared yet."""
    case, kind = sampled()
    case.stacks.append(case.words.stack(50, case.locations[F - 1], ident=50))
    S(case, 1000, kind, 4)
    return case.data(), [sample(1000, ["f"])]


@bad
def undeclared_location():
    """A STACK whose location is not declared: it has none."""
    case, kind = sampled()
    case.stacks.append(case.words.stack(case.stacks[0], 0xFFFF))
    S(case, 1000, kind, 4)
    return case.data(), [{**sample(1000, ["main", "<0>"]), "name": "cycles"}]


def rows_fault(name, about, rows, **how):
    case, kind = sampled()
    three(case, kind).flush()
    case.blocks.append(w.events(BASE, rows, case.types, case.lanes, case.locations,
                                **{"stacks": case.stacks, **how}))
    case.events += len(rows)
    STREAMS.append((f"bad/samples-{name}", about, lambda: (case.data(), THREE, 1)))


rows_fault("index", "The stack of a sample exceeds its table, but not that of the locations.",
           [w.narrow(1, 3, location=3)], stacks=(1, 2))
rows_fault("location-index", "The location of another event exceeds its table, but not that of the stacks.",
           [w.narrow(1, 3, location=3), w.narrow(2, 2, location=4)], stacks=(1, 2, 3, 1))
rows_fault("bare-index", "The stack of a sample exceeds its table, in a block with BARE.",
           [w.narrow(1, 3, location=2), w.narrow(1, 3, location=4)], flags=w.BARE)
rows_fault("bare-location-index", "The location of another event exceeds its table, in a block with BARE.",
           [w.narrow(1, 2, location=4), w.narrow(1, 3, location=1)], stacks=(1, 2, 3, 1), flags=w.BARE)
rows_fault("wide-index", "The stack of a sample in a wide row exceeds its table.",
           [w.wide(1, 3, location=1 << 31)], flags=w.WIDE)
rows_fault("undeclared-stack", "A table names a stack that is not declared.", [w.narrow(1, 3, location=1)],
           stacks=(1, 0xFFFF))
rows_fault("undeclared-stack-unused", "A table names a stack that is not declared, without samples.",
           [w.narrow(1, 0)], stacks=(0xFFFF,), table_types=None)


@bad
def tables_exceed():
    """The table of stacks exceeds the block."""
    case, kind = sampled()
    three(case, kind).flush()
    block = bytearray(w.events(BASE, [w.narrow(1, 2)], case.types, case.lanes, crc=False))
    struct.pack_into("<H", block, 24 + 26, 0xFFFF)
    case.blocks.append(w.block(w.EVENTS, bytes(block[24:])))
    case.events += 1
    return case.data(), THREE
