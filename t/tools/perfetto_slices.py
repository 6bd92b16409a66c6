#!/usr/bin/env python3
"""perfetto_slices.py: count and sum of times of the slices of one trace in protoc's text.

A slice that is left open, or an end without a begin, is an error.
"""
import re
import sys
from collections import defaultdict

names = {}
count, total, stack = defaultdict(int), defaultdict(int), defaultdict(list)


def event_names(packet):
    for body in re.findall(r"event_names \{\n(.*?)\n    \}", packet, re.S):
        yield int(re.search(r"iid: (\d+)", body)[1]), re.search(r'name: "((?:[^"\\]|\\.)*)"', body)[1]


for packet in re.split(r"^packet \{\n", sys.stdin.read(), flags=re.M)[1:]:
    names.update(event_names(packet))
    kind = re.search(r"^    type: (?:TYPE_SLICE_)?(BEGIN|END)$", packet, re.M)
    if not kind:
        continue
    time, track = int(re.search(r"timestamp: (\d+)", packet)[1]), re.search(r"track_uuid: (\d+)", packet)[1]
    if kind[1] == "BEGIN":
        stack[track].append((names[int(re.search(r"^    name_iid: (\d+)", packet, re.M)[1])], time))
        continue
    name, start = stack[track].pop()
    count[name] += 1
    total[name] += time - start
if any(stack.values()):
    sys.exit("left open")
for name in count:
    print(name, count[name], total[name], sep="\t")
