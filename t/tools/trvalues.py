"""Fields and values of a row, as trstream(5) specifies them, in the spelling of trutils-expressions(7), VALUES."""
import math
import struct

ENUM_NAMES = 1
UNSIGNED, SUMS = 1, 2  # flags of a DEFINITION
FIXED, TAIL, DATA_LOC, REL_LOC, REST, NTH_TEXT = range(6)  # where a field is
UINT, INT, HEX, CHAR, FLOAT, BYTES, ENUM, BITMASK, BITMAP, STRING = range(10)  # kinds of fields
MESSAGE = 4  # a role
ARGUMENT, RETURN, BACKTRACE, FLAGS = range(1, 5)  # kinds of details
MOST_NESTED = 128


class Frame(dict):
    """A frame of a backtrace: its keys."""


class Damaged(Exception):
    """The tail is no list of values."""


def text(data):
    return data.decode("utf-8", "replace")


def until_nul(data):
    return text(data.split(b"\0")[0])


def hexadecimal(number):
    return f"0x{number:x}"


def real(number, size):
    """A float in the shortest decimal form that reads back as the same value of its size."""
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    if size == 4:
        for digits in range(1, 10):
            short = float(f"{number:.{digits}g}")
            try:
                if struct.pack("<f", short) == struct.pack("<f", number):
                    return short
            except OverflowError:  # the short form is beyond the largest float
                continue
    return number


def label(definition, number):
    """An ENUM's number: its label, or the sum of several, or the number."""
    for name, low, high in definition.members if definition else ():
        if low <= number <= high:
            return text(name)
    if definition and definition.flags & SUMS:
        rest, names = number, []
        for name, low, _ in definition.members:
            if low <= rest:
                names.append(text(name))
                rest -= low
        if names:
            return "|".join(names) + (f"+{hexadecimal(rest)}" if rest else "")
    return number


def flags(definition, number):
    """A BITMASK's number: the names of its bits, and what remains in hexadecimal."""
    names, rest = [], number
    for name, low, _ in definition.members if definition else ():
        if low == 0 and number == 0:
            return text(name)
        if low and rest & low == low:
            names.append(text(name))
            rest &= ~low
    if rest or not names:
        names.append(hexadecimal(rest))
    return "|".join(names)


class Fields:
    """The fields of a type, each as a function of the fixed part and the tail."""

    def __init__(self, of_type):
        self.type = of_type
        self.order = "big" if of_type.flags & 32 else "little"

    def of_row(self, fixed, tail):
        """Pairs of a field and its value, which is None where the field is absent."""
        for field in self.type.fields:
            value = self.value(field, fixed, tail)
            message = field.role == MESSAGE and isinstance(value, str) and field.kind in (CHAR, STRING)
            yield field, value[:-1] if message and value.endswith("\n") else value

    def value(self, field, fixed, tail):
        if field.kind > STRING or field.where > NTH_TEXT:
            return None
        size = field.size * max(field.count, 1)
        if field.where == FIXED:
            return self.of_bytes(field, fixed[field.offset:field.offset + size], "little", field.count > 1)
        if field.where == NTH_TEXT:
            return self.nth_text(tail, field.offset)
        if field.where == TAIL:
            if field.offset + size > len(tail):
                return None
            return self.of_bytes(field, tail[field.offset:field.offset + size], self.order, field.count > 1)
        if field.offset + (4 if field.where != REST else 0) > len(tail):
            return None
        data = tail[field.offset:]
        if field.where != REST:
            pointer = int.from_bytes(data[:4], self.order)
            at, length = pointer & 0xFFFF, pointer >> 16
            if field.where == REL_LOC:
                at += field.offset + 4
            if at + length > len(tail):
                return None
            data = tail[at:at + length]
        if field.kind in (CHAR, STRING):
            return until_nul(data)
        return self.of_bytes(field, data, self.order, True)

    @staticmethod
    def nth_text(tail, number):
        texts = tail.split(b"\0")
        return text(texts[number]) if number < len(texts) - 1 else None

    def of_bytes(self, field, data, order, array):
        """A number, a list of them, or a text."""
        if field.kind == STRING or field.kind == CHAR and array:
            return until_nul(data)
        if field.kind in (BYTES, BITMAP):
            return data.hex()
        if field.size not in ((4, 8) if field.kind == FLOAT else (1, 2, 4, 8)):
            return None
        numbers = [self.number(field, data[at:at + field.size], order)
                   for at in range(0, len(data) - field.size + 1, field.size)]
        return numbers if array else numbers[0]

    @staticmethod
    def number(field, data, order):
        if field.kind == FLOAT:
            form = (">" if order == "big" else "<") + ("f" if len(data) == 4 else "d")
            return real(struct.unpack(form, data)[0], len(data))
        signed = field.kind == INT
        if field.kind == ENUM:
            signed = not (field.definition and field.definition.flags & UNSIGNED)
        number = int.from_bytes(data, order, signed=signed)
        if field.kind == HEX:
            return hexadecimal(number)
        if field.kind == ENUM:
            return label(field.definition, number)
        return flags(field.definition, number) if field.kind == BITMASK else number


class Details:
    """Reads the list of details in a tail."""

    def __init__(self, tail, definitions, source):
        self.tail = tail
        self.at = 0
        self.definitions = definitions
        self.source = source  # the format of the trace

    def read(self):
        """A list of (what, index, value)."""
        details = []
        while self.at < len(self.tail):
            what, index = self.byte(), self.uleb()
            if what in (ARGUMENT, RETURN, BACKTRACE, FLAGS):
                if what == ARGUMENT and not 1 <= index <= 65536 or what != ARGUMENT and index:
                    raise Damaged
                tag = self.tail[self.at:self.at + 1]
                if what == BACKTRACE and tag != b"\x0b" or what == FLAGS and tag != b"\x04":
                    raise Damaged
                value = self.value(0)
                if what == BACKTRACE and not all(isinstance(frame, Frame) for frame in value):
                    raise Damaged
                details.append((what, index, value))
            else:
                self.bytes(self.uleb())
        return details

    def bytes(self, length):
        if length > len(self.tail) - self.at:
            raise Damaged
        self.at += length
        return self.tail[self.at - length:self.at]

    def byte(self):
        return self.bytes(1)[0]

    def uleb(self):
        number = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            if not byte & 0x80:
                if number >> 64:
                    raise Damaged
                return number
        raise Damaged

    def definition(self):
        ident = self.uleb()
        if ident >> 32:
            raise Damaged
        return self.definitions.get(ident)

    def sized(self):
        size = self.byte()
        if not 1 <= size <= 16:
            raise Damaged
        return self.bytes(size)

    def value(self, nested):
        tag = self.byte()
        if tag >= len(self.READ):
            raise Damaged
        if tag in (11, 12, 17):
            nested += 1
            if nested > MOST_NESTED:
                raise Damaged
        return self.READ[tag](self, nested)

    def negative(self, _):
        number = self.uleb()
        if number > 1 << 63:
            raise Damaged
        return -number

    def blob(self, _):
        data = self.bytes(self.uleb())
        return f"blob({len(data)})" if self.source == b"apitrace" else text(data)

    def enum(self, _):
        definition, data = self.definition(), self.sized()
        signed = not (definition and definition.flags & UNSIGNED)
        return label(definition, int.from_bytes(data, "little", signed=signed))

    def array(self, nested):
        count = self.uleb()
        if count > len(self.tail) - self.at:
            raise Damaged
        return [self.value(nested) for _ in range(count)]

    def struct(self, nested):
        definition = self.definition()
        values = self.array(nested)
        names = [text(name) for name, _, _ in definition.members] if definition else []
        names += [""] * (len(values) - len(names))
        return {name or str(i): value for i, (name, value) in enumerate(zip(names, values))}

    def formatted(self, _):
        form, data = chr(self.byte()), self.sized()
        if form == "f":
            return self.floating(data)
        number = int.from_bytes(data, "little", signed=form in "die")
        if form == "d" and len(data) == 8 and 0xFFFF0000 < number < 1 << 32:
            return number - (1 << 32)
        if form == "e":
            return struct.unpack("<i", (data + b"\0\0\0")[:4])[0]
        if form in "xop":
            return hexadecimal(number)
        return text(data[:1]) if form == "c" else number

    @staticmethod
    def floating(data):
        if len(data) == 4:
            return real(struct.unpack("<f", data)[0], 4)
        if len(data) == 8:
            return real(struct.unpack("<d", data)[0], 8)
        if len(data) != 10:
            return None
        fraction, exponent = int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")
        return math.ldexp(fraction, (exponent & 0x7FFF) - 16383 - 63) * (-1 if exponent >> 15 else 1)

    def opaque(self, _):
        name = self.bytes(self.uleb())
        self.bytes(self.uleb())
        return text(name) + "{...}"

    def wide(self, _):
        count = self.uleb()
        if count > len(self.tail) - self.at:
            raise Damaged
        return "".join(chr(unit) if unit < 0x110000 and not 0xD800 <= unit < 0xE000 else "\ufffd"
                       for unit in [self.uleb() for _ in range(count)])

    def display(self, nested):
        shown = self.value(nested)
        self.value(nested)
        return shown

    def frame(self, _):
        """MODULE: FUNCTION+OFFSET: FILE:LINE, without what is unknown."""
        definition = self.definition()
        keys, members = Frame(), iter(definition.members if definition else ())
        for name, low, _ in members:
            key = text(name)
            keys[key] = text(next(members, (b"", 0, 0))[0]) if key in ("module", "function", "file") else low
        return keys

    READ = [lambda self, _: None, lambda self, _: False, lambda self, _: True, negative,
            lambda self, _: self.uleb(), lambda self, _: real(struct.unpack("<f", self.bytes(4))[0], 4),
            lambda self, _: real(struct.unpack("<d", self.bytes(8))[0], 8),
            lambda self, _: text(self.bytes(self.uleb())), blob,
            enum, lambda self, _: flags(self.definition(), self.uleb()), array, struct,
            lambda self, _: hexadecimal(self.uleb()), formatted, opaque, wide, display, frame]
