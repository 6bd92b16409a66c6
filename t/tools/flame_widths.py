#!/usr/bin/env python3
"""Compare a flame graph with folded stacks: flame_widths.py GRAPH FOLDED

Every stack of the folded text, and each of its callers, must be a frame of the graph at its depth, with the sum of the
text, above the frame of its caller, and as wide as its part of the whole. Frames of less than a tenth of a pixel may be
missing: those of one caller are a frame "(N narrow frames)". Exits with 1 if anything else is there.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

from amounts import amount

SVG = "{http://www.w3.org/2000/svg}"
TITLE = re.compile(r"(.*) \(([\d.]+ .*), ([\d.]+)%\)", re.S)


def drawn(path):
    """The frames of the graph by stack: total."""
    rows = {}
    for group in ElementTree.parse(path).iter(SVG + "g"):
        name, total, _ = TITLE.fullmatch(group.find(SVG + "title").text).groups()
        rect = group.find(SVG + "rect")
        x, y, width = (float(rect.get(key)) for key in ("x", "y", "width"))
        rows.setdefault(y, []).append((x, width, name, amount(total)[0]))
    frames, below = {}, {}
    bottom = max(rows)
    (left, whole, _, everything), = rows[bottom]
    for y in sorted(rows, reverse=True):
        present = {}
        for x, width, name, total in rows[y]:
            if abs(width - whole * total / everything) > 0.002:
                sys.exit(f"{name}: {width} wide, not {whole * total / everything}")
            stack = ()
            if y != bottom:
                caller = [key for key, (at, size) in below.items() if at - 0.01 <= x and x + width <= at + size + 0.01]
                if len(caller) != 1:
                    sys.exit(f"{name}: {len(caller)} callers")
                stack = (*caller[0], name)
            if stack in frames:
                sys.exit(f"{stack} twice")
            frames[stack] = total
            present[stack] = (x, width)
        below = present
    return frames


def wanted(path):
    sums = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            stack, weight = line.rstrip("\n").rsplit(" ", 1)
            names = tuple(stack.split(";"))
            for depth in range(len(names) + 1):
                sums[names[:depth]] = sums.get(names[:depth], 0) + int(weight)
    return sums


def main():
    have, want = drawn(sys.argv[1]), wanted(sys.argv[2])
    least = want[()] / 11800
    narrow = {}
    for stack, total in want.items():
        if stack in have:
            if have[stack] != total:
                sys.exit(f"{';'.join(stack)}: {have[stack]}, not {total}")
        elif total > least + 1:
            sys.exit(f"{';'.join(stack)}: missing, {total}")
        elif stack[:-1] in have:
            narrow[stack[:-1]] = narrow.get(stack[:-1], 0) + total
    for stack, total in have.items():
        merged = stack and re.fullmatch(r"\(\d+ narrow frames\)", stack[-1])
        if merged and narrow.pop(stack[:-1], 0) != total:
            sys.exit(f"{';'.join(stack)}: {total} is not the sum of what is missing")
        if not merged and stack not in want:
            sys.exit(f"{';'.join(stack)}: not in the text")
    if any(total > least + 1 for total in narrow.values()):
        sys.exit("missing frames that are not merged")
    print(f"{len(have)} frames")


main()
