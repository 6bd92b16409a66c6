#!/usr/bin/env python3
"""Compare a differential flame graph with two lists of stacks: flame_diff.py GRAPH BEFORE AFTER

BEFORE and AFTER have lines "a;b;c SELF". Each stack of AFTER, and each of its callers, must be a frame at its depth, above
that of its caller, with the sums of both lists and their parts of the whole lists. It is as wide as its part of AFTER,
and red where that part is greater than the part of BEFORE, blue where it is less, and grey where it is the same; a
frame whose part has halved, or doubled, has half of the colour. Exits with 1 if anything else is there.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

from amounts import amount

SVG = "{http://www.w3.org/2000/svg}"
TITLE = re.compile(r"(.*) \(([\d.]+ .*), ([\d.]+)%; before ([\d.]+ .*), ([\d.]+)%\)", re.S)


def sums_of(path):
    """The sum of each stack and of its callers; that of () is the whole."""
    sums = {(): 0}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            stack, weight = line.rstrip("\n").rsplit(" ", 1)
            names = tuple(stack.split(";"))
            for depth in range(len(names) + 1):
                sums[names[:depth]] = sums.get(names[:depth], 0) + int(weight)
    return sums


def check_colour(name, fill, before, after):
    red, green, blue = (int(fill[at:at + 2], 16) for at in (1, 3, 5))
    change = (after - before) / max(after, before) if max(after, before) else 0
    rest = 240 - 125 * abs(change)
    want = (240, rest, rest) if change >= 0 else (rest, rest, 240)
    if max(abs(have - part) for have, part in zip((red, green, blue), want)) > 1:
        sys.exit(f"{name}: the colour is {fill}, not {want}")


def main():
    graph, before, after = ElementTree.parse(sys.argv[1]), sums_of(sys.argv[2]), sums_of(sys.argv[3])
    rows, below, seen = {}, {}, set()
    for group in graph.iter(SVG + "g"):
        rect = group.find(SVG + "rect")
        title = TITLE.fullmatch(group.find(SVG + "title").text)
        rows.setdefault(int(rect.get("y")), []).append((title, rect))
    bottom = max(rows)
    for y in sorted(rows, reverse=True):
        present = {}
        for title, rect in rows[y]:
            name, x, width = title[1], float(rect.get("x")), float(rect.get("width"))
            callers = [stack for stack, (at, size) in below.items() if at - 0.01 <= x and x + width <= at + size + 0.01]
            if y != bottom and len(callers) != 1:
                sys.exit(f"{name}: {len(callers)} callers")
            stack = (*callers[0], name) if y != bottom else ()
            present[stack] = (x, width)
            if re.fullmatch(r"\(\d+ narrow frames\)", name):
                continue
            old, new = before.get(stack, 0), after.get(stack)
            if (amount(title[2])[0], amount(title[4])[0]) != (new, old):
                sys.exit(f"{stack}: {title[0]}, not {new} and {old}")
            old, new = old / max(1, before[()]), new / max(1, after[()])
            if abs(width - 1180 * new) > 0.002:
                sys.exit(f"{stack}: {width} wide, not {1180 * new}")
            if abs(float(title[3]) - 100 * new) > 0.006 or abs(float(title[5]) - 100 * old) > 0.006:
                sys.exit(f"{stack}: {title[0]}: the parts are {100 * new} and {100 * old}")
            check_colour(name, rect.get("fill"), old, new)
            seen.add(stack)
        below = present
    missing = [stack for stack, total in after.items() if total > after[()] / 11800 + 1 and stack not in seen]
    if missing:
        sys.exit(f"{missing[0]}: missing")
    gone = sum(total for stack, total in before.items()
               if total and not after.get(stack) and after.get(stack[:-1]))
    about = graph.getroot().find(SVG + "text[@class='about head']/" + SVG + "title").text
    seen_sums = re.search(r": ([\d.]+ .*); before ([\d.]+ .*), of which ([\d.]+ \S+)", about)
    if [amount(text)[0] for text in seen_sums.groups()] != [after[()], before[()], gone]:
        sys.exit(f"{about}, not {after[()]}, {before[()]} and {gone}")
    print(f"{len(seen)} frames of {len(after)}")


main()
