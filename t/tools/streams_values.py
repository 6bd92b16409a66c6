"""Streams without damage: fields, values and gaps."""
import struct

import streams_writer as w
from streams_case import Case, call, stream, tick
from streams_writer import argument, detail, field, sized, tagged


def good(make):
    return stream("good")(make)


def one_row(fields, *, fixed=b"", tail=None, flags=0, word=8, before=None):
    """A stream of one row "x" with these fields."""
    case = Case()
    definitions = before(case.words) if before else ()
    kind = case.type("x", w.INSTANT, flags | (0 if tail is None else w.TAIL), fixed=len(fixed), word=word,
                     fields=[make(*definitions) for make in fields] if before else fields)
    return case.I(1000, kind, parts=fixed + (b"" if tail is None else w.tail(tail))).data()


def x(**args):
    return [tick(1000, "x", args=args or None)]


NUMBERS = struct.pack("<bBhHiIqQ", -1, 255, -2, 65535, -3, (1 << 32) - 1, -4, (1 << 64) - 1) + bytes(2)


@good
def fields_of_fixed_part():
    """Numbers of all sizes in the fixed part, without alignment."""
    at = [0, 1, 2, 4, 6, 10, 14, 22]
    fields = [field(f"n{i}", w.INT if i % 2 == 0 else w.UINT, w.FIXED, offset, 1 << i // 2)
              for i, offset in enumerate(at)]
    return one_row(fields, fixed=NUMBERS), x(n0=-1, n1=255, n2=-2, n3=65535, n4=-3, n5=(1 << 32) - 1, n6=-4,
                                             n7=(1 << 64) - 1)


@good
def fixed_part_is_little_endian():
    """BIG_ENDIAN changes the fields of the tail only."""
    fields = [field("f", w.UINT, w.FIXED, 0, 4), field("t", w.UINT, w.IN_TAIL, 0, 4),
              field("h", w.INT, w.IN_TAIL, 4, 2, 2), field("d", w.FLOAT, w.IN_TAIL, 8, 8),
              field("l", w.UINT, w.DATA_LOC, 16, 2)]
    data = struct.pack(">IhhdI", 0x01020304, -2, 3, 1.5, 4 << 16 | 20) + struct.pack(">HH", 7, 8)
    return one_row(fields, fixed=struct.pack("<I", 0x01020304), tail=data, flags=w.BIG_ENDIAN), x(
        f=0x01020304, t=0x01020304, h=[-2, 3], d=1.5, l=[7, 8])


@good
def hexadecimal_fields():
    """HEX fields, scalar and array."""
    fields = [field("h", w.HEX, w.FIXED, 0, 8), field("a", w.HEX, w.FIXED, 8, 2, 2)]
    return one_row(fields, fixed=struct.pack("<QHH", (1 << 64) - 1, 0, 0xAB)), x(h="0xffffffffffffffff", a=["0x0", "0xab"])


@good
def arrays():
    """Counts 0 and 1 are a scalar."""
    fields = [field("none", w.UINT, w.FIXED, 0, 2, 0), field("one", w.UINT, w.FIXED, 0, 2, 1),
              field("two", w.UINT, w.FIXED, 0, 2, 2)]
    return one_row(fields, fixed=struct.pack("<HH", 5, 6)), x(none=5, one=5, two=[5, 6])


@good
def characters():
    """CHAR: an array is a text up to its first NUL, a scalar a number."""
    fields = [field("cut", w.CHAR, w.FIXED, 0, 1, 8), field("full", w.CHAR, w.FIXED, 0, 1, 2),
              field("scalar", w.CHAR, w.FIXED, 0, 1), field("empty", w.CHAR, w.FIXED, 2, 1, 4)]
    return one_row(fields, fixed=b"ab\0cdefg"), x(cut="ab", full="ab", scalar=97, empty="")


@good
def strings():
    """STRING in the fixed part and in the tail ends at a NUL or with the field."""
    fields = [field("f", w.STRING, w.FIXED, 0, 4), field("t", w.STRING, w.IN_TAIL, 0, 1, 3),
              field("u", w.STRING, w.IN_TAIL, 2, 1, 4)]
    return one_row(fields, fixed=b"abcd", tail=b"xyz\0\0\0"), x(f="abcd", t="xyz", u="z")


@good
def floats():
    """FLOAT of 4 and 8 bytes, infinite and not a number."""
    fields = [field("f", w.FLOAT, w.FIXED, 0, 4, 4), field("d", w.FLOAT, w.FIXED, 16, 8, 2)]
    fixed = struct.pack("<ffff", 0.1, float("inf"), -2.5, float("nan")) + struct.pack("<dd", 0.1, float("-inf"))
    return one_row(fields, fixed=fixed), x(f=[0.1, "inf", -2.5, "nan"], d=[0.1, "-inf"])


@good
def bytes_and_bitmaps():
    """BYTES, and BITMAP in words of 4 and 8 bytes."""
    fields = [field("b", w.BYTES, w.FIXED, 0, 1, 3), field("m", w.BITMAP, w.FIXED, 4, 8)]
    return one_row(fields, fixed=b"\x01\xab\0\0" + struct.pack("<Q", 0b1011)), x(b="01ab00", m="0b00000000000000")


@good
def numbers_of_other_sizes():
    """A number of 3 bytes, and a FLOAT of 2, are absent."""
    fields = [field("three", w.UINT, w.FIXED, 0, 3), field("half", w.FLOAT, w.FIXED, 0, 2),
              field("none", w.UINT, w.FIXED, 0, 0), field("long", w.INT, w.FIXED, 0, 16), field("y", w.UINT, w.FIXED, 0, 1)]
    return one_row(fields, fixed=b"\x05" + bytes(15)), x(three=None, half=None, none=None, long=None, y=5)


@good
def unknown_fields():
    """Fields of an unknown kind or position are absent; an unknown role is none."""
    fields = [field("kind", 10, w.FIXED, 0, 4), field("where", w.UINT, 6, 0, 4), field("both", 255, 255, 1 << 24, 65536),
              field("role", w.UINT, w.FIXED, 0, 4, role=200)]
    return one_row(fields, fixed=struct.pack("<I", 9)), x(kind=None, where=None, both=None, role=9)


@good
def last_field_of_a_name():
    """Of fields with one name, the last is used."""
    fields = [field("same", w.UINT, w.FIXED, 0, 2), field("same", w.UINT, w.FIXED, 2, 2)]
    return one_row(fields, fixed=struct.pack("<HH", 1, 2)), x(same=2)


@good
def fields_of_short_tail():
    """Fields that the tail is too short for are absent."""
    case = Case()
    kind = case.type("x", w.INSTANT, w.TAIL, fields=[
        field("a", w.UINT, w.IN_TAIL, 0, 4), field("b", w.UINT, w.IN_TAIL, 4, 2, 2), field("c", w.STRING, w.IN_TAIL, 8, 1, 4)])
    for size in (12, 11, 7, 4, 3, 0):
        case.I(1000 + size, kind, parts=w.tail(b"\1\0\0\0\2\0\3\0text"[:size]))
    rows = [(1, [2, 3], "text"), (1, [2, 3]), (1,), (1,), (), ()]
    return case.data(), [tick(1000 + size, "x", args={**{"a": None, "b": None, "c": None}, **dict(zip("abc", row))})
                         for size, row in zip((12, 11, 7, 4, 3, 0), rows)]


@good
def data_loc():
    """DATA_LOC and REL_LOC: texts, arrays, no data, and data that leave the tail."""
    fields = [field("text", w.STRING, w.DATA_LOC, 0, 1), field("array", w.INT, w.DATA_LOC, 4, 2),
              field("none", w.UINT, w.DATA_LOC, 8, 4), field("beyond", w.UINT, w.DATA_LOC, 12, 1),
              field("relative", w.CHAR, w.REL_LOC, 16, 1), field("rest", w.UINT, w.REL_LOC, 20, 4, 9)]
    data = struct.pack("<6I", 3 << 16 | 24, 5 << 16 | 27, 24, 2 << 16 | 36, 3 << 16 | 4, 4 << 16 | 8)
    data += b"ab\0" + struct.pack("<hh", -1, 2) + b"\x09" + struct.pack("<I", 77) + b"\0"
    return one_row(fields, tail=data), x(text="ab", array=[-1, 2], none=[], beyond=None, relative="ab", rest=[77])


@good
def rest():
    """REST fields: an array of whole elements, a text, nothing at the end, and an offset beyond it."""
    fields = [field("r", w.UINT, w.REST, 1, 2), field("t", w.STRING, w.REST, 5, 1), field("e", w.UINT, w.REST, 8, 1),
              field("b", w.UINT, w.REST, 9, 1), field("c", w.CHAR, w.REST, 5, 4)]
    return one_row(fields, tail=b"\xff\1\0\2\0abc"), x(r=[1, 2, 0x6261], t="abc", e=[], b=None, c="abc")


@good
def texts_of_tail():
    """where STRING: the text of a number; a text without a NUL, and one that is missing, are absent."""
    fields = [field(f"t{i}", w.STRING, w.NTH_TEXT, i, 1) for i in range(4)]
    return one_row(fields + [field("n", w.UINT, w.NTH_TEXT, 0, 4)], tail=b"one\0\0three\0four"), x(
        t0="one", t1="", t2="three", t3=None, n="one")


@good
def one_element():
    """DATA_LOC, REL_LOC and REST fields of one element are arrays."""
    fields = [field("d", w.UINT, w.DATA_LOC, 0, 4), field("l", w.HEX, w.REL_LOC, 4, 4), field("r", w.UINT, w.REST, 8, 4)]
    return one_row(fields, tail=struct.pack("<III", 4 << 16 | 8, 4 << 16, 7)), x(d=[7], l=["0x7"], r=[7])


COLOURS = [("red", 0), ("low", 1, 3), ("both", 3, 4), ("minus", -2, -1)]


@good
def enum_fields():
    """ENUM: labels, ranges, overlapping ranges, negative numbers, numbers without a label."""
    data = one_row([lambda d: field("e", w.ENUM, w.FIXED, 0, 1, 8, definition=d)],
                   fixed=struct.pack("<8b", 0, 1, 2, 3, 4, 5, -1, -3), before=lambda words: [words.definition("e", 1, COLOURS)])
    return data, x(e=["red", "low", "low", "low", "both", 5, "minus", -3])


@good
def unsigned_enum():
    """ENUM with UNSIGNED, and without a definition."""
    data = one_row([lambda d: field("u", w.ENUM, w.FIXED, 0, 1, 2, definition=d),
                    lambda d: field("n", w.ENUM, w.FIXED, 0, 1, 2)],
                   fixed=struct.pack("<bbbb", -1, -2, 0, 0),
                   before=lambda words: [words.definition("e", 1, [("top", 255)], flags=1)])
    return data, x(u=["top", 254], n=[-1, -2])


@good
def bitmask_fields():
    """BITMASK: names of the bits, other bits, and none."""
    members = [("A", 1), ("B", 2), ("AB", 3), ("high", 0x80)]
    data = one_row([lambda d: field("m", w.BITMASK, w.FIXED, 0, 1, 4, definition=d),
                    lambda d: field("n", w.BITMASK, w.FIXED, 0, 4)],
                   fixed=struct.pack("<BBBB", 1, 0x82, 0x11, 0), before=lambda words: [words.definition("m", 2, members)])
    return data, x(m=["A", "B|high", "A|0x10", "0x0"], n="0x118201")


@good
def named_numbers():
    """UINT, INT and HEX with a definition: the value is the number, whose names are for tables and conditions."""
    def names(words):
        return words.definition("errors", 1, [("ENOENT", -2)]), words.definition("m", 2, [("A", 1), ("none", 0)])

    data = one_row([lambda e, m: field("i", w.INT, w.FIXED, 0, 1, 2, definition=e),
                    lambda e, m: field("u", w.UINT, w.FIXED, 2, 1, definition=m),
                    lambda e, m: field("h", w.HEX, w.FIXED, 3, 1, definition=m)],
                   fixed=struct.pack("<bbBB", -2, 3, 0, 1), before=names)
    return data, x(i=[-2, 3], u=0, h="0x1")


@good
def roles():
    """Roles: a field with the role ROW is no argument, one with the role CPU is the CPU of the event."""
    case = Case()
    kind = case.type("x", w.INSTANT, fixed=12, fields=[
        field("cpu", w.UINT, w.FIXED, 0, 4, role=7), field("row", w.UINT, w.FIXED, 4, 4, role=10),
        field("address", w.HEX, w.FIXED, 8, 4, role=1)])
    lane = case.lane(tid=42, cpu=9)
    for number in (0, lane):
        case.I(1000 + number, kind, lane=number, parts=struct.pack("<III", 5, 6, 7))
    return case.data(), [tick(1000, "x", cpu=5, args={"cpu": 5, "address": "0x7"}),
                         tick(1001, "x", cpu=9, args={"cpu": 5, "address": "0x7"})]


# Values


def valued(details, *, names=(), before=None):
    """A stream of one call whose ENTER has these details."""
    words = w.Dictionary()
    if before:
        before(words)
    definition = words.definition("main", 3, list(names)) if names else 0
    case = Case(words=words, definition=definition)
    case.type("in", w.ENTER, w.DEPTH | w.TAIL | w.VALUES)
    return case.E(1000, kind=3, parts=w.tail(b"".join(details))).L(1001).data()


def with_values(**args):
    return [call(1000, 1, args=args or None)]


def values(**named):
    """A stream whose arguments have these names and values: pairs of the encoded value and what it is."""
    details = [argument(i + 1, value[0]) for i, value in enumerate(named.values())]
    return valued(details, names=list(named)), with_values(**{name: value[1] for name, value in named.items()})


MOST = (1 << 64) - 1


@good
def values_plain():
    """NULL, FALSE, TRUE, NEGATIVE and UINT."""
    return values(null=(tagged(0), None), no=(tagged(1), False), yes=(tagged(2), True), minus=(tagged(3, 5), -5),
                  least=(tagged(3, 1 << 63), -(1 << 63)), nought=(tagged(3, 0), 0), uint=(tagged(4, 300), 300),
                  most=(tagged(4, MOST), MOST))


@good
def values_long_ulebs():
    """Ulebs with more bytes than needed, up to ten."""
    return values(one=(b"\x04\x81\x00", 1), ten=(b"\x04" + b"\x85" + b"\x80" * 8 + b"\x00", 5))


@good
def values_floats():
    """FLOAT and DOUBLE."""
    return values(f=(tagged(5, struct.pack("<f", 0.1)), 0.1), d=(tagged(6, struct.pack("<d", 1e300)), 1e300),
                  inf=(tagged(5, struct.pack("<f", float("-inf"))), "-inf"),
                  nan=(tagged(6, struct.pack("<d", float("nan"))), "nan"),
                  tiny=(tagged(5, b"\1\0\0\0"), 1e-45), largest=(tagged(5, b"\xff\xff\x7f\x7f"), 3.4028235e38))


@good
def values_texts():
    """STRING with NULs and no bytes, BLOB and WSTRING."""
    return values(text=(tagged(7, sized(b"a\0b\n")), "a\0b\n"), empty=(tagged(7, 0), ""), blob=(tagged(8, sized(b"xyz")), "xyz"),
                  none=(tagged(8, 0), ""), wide=(tagged(16, 3, 0x41, 0x20AC, 0x1F600), "A\u20ac\U0001f600"),
                  narrow=(tagged(16, 0), ""))


def valued_by(source, details, args):
    """A stream of one call whose source has this format, and its event."""
    words = w.Dictionary()
    number = words.source(source, "file")
    case = Case(words=words, lane={"tid": 42, "source": number})
    case.type("in", w.ENTER, w.DEPTH | w.TAIL | w.VALUES, source=number)
    case.E(1000, kind=3, parts=w.tail(b"".join(details))).L(1001)
    return case.data(), [call(1000, 1, args=args, input="file")]


@good
def values_of_uftrace():
    """A BLOB of uftrace is a text; arguments from 1001 on are those of floating-point registers."""
    return valued_by("uftrace", [argument(1, tagged(8, sized(b"xyz"))), argument(1002, tagged(4, 7))],
                     {"arg1": "xyz", "fparg2": 7})


@good
def values_of_apitrace():
    """A BLOB of apitrace is shown by its size; the first bit of FLAGS is that of a call by the tracer."""
    return valued_by("apitrace", [argument(1, tagged(8, sized(b"xyz"))), argument(2, tagged(8, 0)),
                                  detail(4, 0, tagged(4, 1))], {"arg1": "blob(3)", "arg2": "blob(0)", "fake": True})


@good
def values_enums():
    """ENUM of several sizes, signed and unsigned, and without a definition."""
    def before(words):
        words.definition("signed", 1, [("minus", -1), ("big", 256)], ident=20)
        words.definition("unsigned", 1, [("top", 255)], flags=1, ident=21)
    names = ["minus", "big", "top", "other", "none", "long"]
    details = [tagged(9, 20, b"\1\xff"), tagged(9, 20, b"\2\0\1"), tagged(9, 21, b"\1\xff"), tagged(9, 20, b"\1\5"),
               tagged(9, 0, b"\1\xfe"), tagged(9, 20, b"\x10" + b"\xff" * 16)]
    return valued([argument(i + 1, detail) for i, detail in enumerate(details)], names=names, before=before), with_values(
        minus="minus", big="big", top="top", other=5, none=-2, long="minus")


@good
def values_sums():
    """ENUM with SUMS: sums of members in their order, and what remains."""
    def before(words):
        words.definition("sums", 1, [("five", 5), ("four", 4), ("one", 1)], flags=2, ident=20)
    numbers = {"exact": (5, "five"), "sum": (6, "five|one"), "rest": (13, "five|four|one+0x3"), "nine": (9, "five|four"),
               "two": (2, "one+0x1")}
    details = [argument(i + 1, tagged(9, 20, b"\1", bytes([number]))) for i, (number, _) in enumerate(numbers.values())]
    return valued(details, names=list(numbers), before=before), with_values(
        **{name: text for name, (_, text) in numbers.items()})


@good
def values_bitmasks():
    """BITMASK with and without a definition."""
    def before(words):
        words.definition("bits", 2, [("NONE", 0), ("A", 1), ("B", 2)], ident=20)
    numbers = {"none": (0, "NONE"), "a": (1, "A"), "ab": (3, "A|B"), "more": (0x12, "B|0x10"), "only": (0x30, "0x30")}
    details = [argument(i + 1, tagged(10, 20, number)) for i, (number, _) in enumerate(numbers.values())]
    details.append(argument(6, tagged(10, 0, 7)))
    return valued(details, names=[*numbers, "bare"], before=before), with_values(
        **{name: text for name, (_, text) in numbers.items()}, bare="0x7")


@good
def values_nested():
    """ARRAY, STRUCT with names, without, and with more values than members; POINTER."""
    def before(words):
        words.definition("point", 3, ["x", ""], ident=20)
    one, two = tagged(4, 1), tagged(4, 2)
    details = [tagged(11, 2, one, two), tagged(11, 0), tagged(12, 20, 3, one, two, one), tagged(12, 0, 1, two),
               tagged(13, 0xDEAD), tagged(11, 1, tagged(12, 20, 1, tagged(11, 1, two)))]
    return valued([argument(i + 1, value) for i, value in enumerate(details)],
                  names=["array", "empty", "struct", "plain", "pointer", "deep"], before=before), with_values(
        array=[1, 2], empty=[], struct={"x": 1, "1": 2, "2": 1}, plain={"0": 2}, pointer="0xdead", deep=[{"x": [2]}])


@good
def values_nested_128():
    """ARRAYs 128 deep, with a number in the last."""
    data, shown = tagged(4, 7), 7
    for _ in range(128):
        data, shown = tagged(11, 1, data), [shown]
    return values(deep=(data, shown))


@good
def values_numbers():
    """NUMBER: every format."""
    def number(form, form_bytes):
        return tagged(14, form.encode() + bytes([len(form_bytes)]) + form_bytes)
    return values(
        d=(number("d", b"\xfe"), -2), int_=(number("d", struct.pack("<Q", 0xFFFFFFFE)), -2),
        low=(number("d", struct.pack("<Q", 0xFFFF0000)), 0xFFFF0000), long_=(number("d", struct.pack("<q", -1 << 40)), -1 << 40),
        i=(number("i", b"\xff\xff"), -1), u=(number("u", b"\xff\xff"), 65535), x=(number("x", b"\xff\0"), "0xff"),
        o=(number("o", b"\x08"), "0x8"), c=(number("c", b"A"), "A"), p=(number("p", struct.pack("<Q", 0x1234)), "0x1234"),
        f=(number("f", struct.pack("<f", 2.5)), 2.5), g=(number("f", struct.pack("<d", 0.1)), 0.1),
        h=(number("f", struct.pack("<QH", 1 << 63, 16383)), 1), e=(number("e", struct.pack("<Q", 0x1FFFFFFFF)), -1))


@good
def values_others():
    """OPAQUE and REPR."""
    return values(opaque=(tagged(15, sized(b"name"), sized(b"bytes")), "name{...}"),
                  repr=(tagged(17, tagged(7, sized(b"shown")), tagged(8, sized(b"raw"))), "shown"))


@good
def values_return():
    """The return value in the LEAVE, an argument in both: that of the LEAVE is used."""
    case = Case(definition=0)
    case.type("in", w.ENTER, w.DEPTH | w.TAIL | w.VALUES)
    case.type("out", w.LEAVE, w.DEPTH | w.TAIL | w.VALUES)
    case.E(1000, kind=3, parts=w.tail(argument(1, tagged(4, 1)) + argument(2, tagged(4, 2))))
    case.L(1001, kind=4, parts=w.tail(detail(2, 0, tagged(3, 1)) + argument(2, tagged(4, 9))))
    return case.data(), [call(1000, 1, args={"arg1": 1, "arg2": 9, "ret": -1})]


@good
def values_later_detail():
    """Of two details of one argument the later is used."""
    return valued([argument(1, tagged(4, 1)), argument(2, tagged(4, 5)), argument(1, tagged(4, 2))]), with_values(
        arg1=2, arg2=5)


@good
def values_numbers_of_arguments():
    """Arguments without a name, of floating-point registers, and of the highest number."""
    return valued([argument(number, tagged(4, number)) for number in (3, 1001, 65536)], names=["a", "b"]), with_values(
        arg3=3, arg1001=1001, arg65536=65536)


@good
def values_unknown_details():
    """Details of an unknown kind are skipped."""
    return valued([detail(99, 5, sized(b"\xff\xff")), argument(1, tagged(4, 1)), detail(255, MOST, sized(b"")),
                   detail(5, 0, sized(tagged(4, 2)))]), with_values(arg1=1)


@good
def values_no_details():
    """An empty list."""
    return valued([]), with_values()


@good
def values_backtrace():
    """BACKTRACE and FLAGS."""
    def before(words):
        keys = ["module", "m.so", "function", "f", ("offset", 0x10), "file", "f.c", ("line", 7)]
        words.definition("", 4, keys, ident=20)
        words.definition("", 4, ["function", "g"], ident=21)
        words.definition("", 4, [], ident=22)
    frames = tagged(11, 3, *(tagged(18, ident) for ident in (20, 21, 22)))
    return valued([detail(3, 0, frames), detail(4, 0, tagged(4, 1))], before=before), with_values(
        backtrace=["m.so: f+0x10: f.c:7", "?: g", "?"], flags=1)


@good
def values_old_definition():
    """A value names the definition that its id means at its block."""
    case = Case()
    case.type("in", w.ENTER, w.DEPTH | w.TAIL | w.VALUES)
    parts = w.tail(argument(1, tagged(9, 20, b"\1\1")))
    for label in ("old", "new"):
        case.words.definition("e", 1, [(label, 1)], ident=20)
        case.E(1000, kind=3, parts=parts).L(1001).flush()
    return case.data(), [call(1000, 1, args={"arg1": "old"}), call(1000, 1, args={"arg1": "new"})]


@good
def values_undeclared_definition():
    """A value that names an undeclared definition has none."""
    return valued([argument(1, tagged(9, 77, b"\1\5")), argument(2, tagged(10, 77, 5)),
                   argument(3, tagged(12, 77, 1, tagged(4, 1))), detail(3, 0, tagged(11, 1, tagged(18, 77)))]), with_values(
        arg1=5, arg2="0x5", arg3={"0": 1}, backtrace=["?"])


@good
def values_and_fields():
    """A type with VALUES has fields in its fixed part, too."""
    case = Case()
    case.type("in", w.ENTER, w.DEPTH | w.TAIL | w.VALUES, fixed=4, fields=[field("n", w.UINT, w.FIXED, 0, 4)])
    case.E(1000, kind=3, parts=struct.pack("<I", 8) + w.tail(argument(1, tagged(2)))).L(1001)
    return case.data(), [call(1000, 1, args={"arg1": True, "n": 8})]


# Gaps


def gap_stream(*gaps, flags=0, more=b""):
    """A stream of GAPs: count, offset, reason, unit, name, message."""
    case = Case()
    kind = case.type("gap", w.GAP, w.TAIL | flags, fixed=24 + len(more), group="trutils")
    for i, (count, offset, reason, unit, name, message) in enumerate(gaps):
        case.I(1000 + i, kind, parts=struct.pack("<QQII", count, offset, reason, unit) + more +
               w.tail(struct.pack("<I", len(name)) + name + message))
        case.gaps += 1
        case.lost += count if reason == 1 and unit == 0 and count != MOST else 0
    return case.data()


def gap(ts, **args):
    return tick(ts, "gap", kind="gap", group="trutils", args=args)


@good
def gaps():
    """LOST, DAMAGE and UNREAD; events, bytes and packets; with a file, an offset and a message."""
    return gap_stream((12, MOST, 1, 0, b"", b""), (100, 4096, 2, 1, b"x.dat\0", b"wrong"), (3, 0, 3, 2, b"", b"message"),
                      (0, MOST, 1, 2, b"cpu0\0", b"")), [
        gap(1000, reason="lost", events=12), gap(1001, reason="damage", bytes=100, file="x.dat", offset=4096, message="wrong"),
        gap(1002, reason="unread", packets=3, offset=0, message="message"), gap(1003, reason="lost", packets=0, file="cpu0")]


@good
def gap_of_unknown_count():
    """A gap of unknown size."""
    return gap_stream((MOST, 7, 2, 1, b"f\0", b"")), [gap(1000, reason="damage", file="f", offset=7)]


@good
def gap_name_without_nul():
    """A file name without a NUL, and a longer fixed part."""
    return gap_stream((1, MOST, 1, 0, b"name", b"text"), more=bytes(8)), [
        gap(1000, reason="lost", events=1, file="name", message="text")]


@good
def gap_without_texts():
    """A tail that is too short, and a name that exceeds it: the gap has its numbers alone."""
    case = Case()
    kind = case.type("gap", w.GAP, w.TAIL, fixed=24, group="trutils")
    for i, tail in enumerate((b"", b"\0\0\0", struct.pack("<I", 5) + b"name")):
        case.I(1000 + i, kind, parts=struct.pack("<QQII", 3, 8, 1, 0) + w.tail(tail))
    case.gaps, case.lost = 3, 9
    return case.data(), [gap(1000 + i, reason="lost", events=3, offset=8) for i in range(3)]


@good
def gap_of_big_endian_type():
    """The numbers of a gap are little-endian, whatever its type says."""
    return gap_stream((1, 2, 1, 0, b"f\0", b""), flags=w.BIG_ENDIAN), [
        gap(1000, reason="lost", events=1, file="f", offset=2)]
