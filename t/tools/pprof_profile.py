#!/usr/bin/env python3
"""Folds a profile of pprof by a reader of its own: usage: pprof_profile.py PROFILE [VALUE]

Prints "frame;frame;frame SUM", outermost frame first, of value number VALUE (default: the last).
A frame is the name of a function; inlined functions are frames of their own.
"""
import collections
import gzip
import sys


def fields(data):
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        elif key & 7 == 1:
            yield key >> 3, int.from_bytes(data[at:at + 8], "little")
            at += 8
        elif key & 7 == 2:
            size = number()
            yield key >> 3, data[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {key & 7}")


def numbers(value):
    """The numbers of a repeated field, packed or not."""
    if isinstance(value, int):
        return [value]
    found, part, shift = [], 0, 0
    for byte in value:
        part |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(part)
            part = shift = 0
    return found


def table(profile, number):
    entries = {}
    for field, value in profile:
        if field == number:
            entry = list(fields(value))
            entries[dict(entry)[1]] = entry
    return entries


def main():
    data = open(sys.argv[1], "rb").read()
    profile = list(fields(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data))
    strings = [value.decode() for field, value in profile if field == 6]
    functions = {i: strings[dict(f)[2]] for i, f in table(profile, 5).items()}
    frames = {i: [functions[dict(fields(line))[1]] for field, line in location if field == 4]
              for i, location in table(profile, 4).items()}
    column = int(sys.argv[2]) if len(sys.argv) > 2 else -1
    sums = collections.Counter()
    for field, value in profile:
        if field != 2:
            continue
        stack, values = [], []
        for part, content in fields(value):
            if part == 1:
                for i in numbers(content):
                    stack += frames[i]
            elif part == 2:
                values += numbers(content)
        sums[";".join(reversed(stack))] += values[column]
    for stack, total in sums.items():
        if total:
            print(stack, total)


main()
