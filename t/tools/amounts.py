"""The amounts of pictures: "1.5 ms" is 1500000, of ns, and "7 ticks" is 7, of ticks."""
import fractions

SCALES = {"us": 10**3, "ms": 10**6, "s": 10**9}


def amount(text):
    """The number of an exact amount, and what it counts."""
    number, unit = text.split(" ", 1)
    value = fractions.Fraction(number) * SCALES.get(unit, 1)
    if value.denominator != 1:
        raise ValueError(f"{text} is no whole number of ns")
    return int(value), "ns" if unit in SCALES else unit
