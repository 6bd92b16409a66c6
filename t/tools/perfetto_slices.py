#!/usr/bin/env python3
"""perfetto_slices.py: count and sum of times of the slices of one trace in protoc's text.

A slice whose end has the annotation continues = after or both is not counted: it goes on in the next trace.
A slice that is left open, or an end without a begin, is an error.
"""
import re
import sys
from collections import defaultdict

names, notes = {}, {}
count, total, stack = defaultdict(int), defaultdict(int), defaultdict(list)


def interned(packet, kind):
    for body in re.findall(kind + r" \{\n(.*?)\n    \}", packet, re.S):
        yield int(re.search(r"iid: (\d+)", body)[1]), re.search(r'name: "((?:[^"\\]|\\.)*)"', body)[1]


for packet in re.split(r"^packet \{\n", sys.stdin.read(), flags=re.M)[1:]:
    names.update(interned(packet, "event_names"))
    notes.update(interned(packet, "debug_annotation_names"))
    kind = re.search(r"^    type: (?:TYPE_SLICE_)?(BEGIN|END)$", packet, re.M)
    if not kind:
        continue
    time, track = int(re.search(r"timestamp: (\d+)", packet)[1]), re.search(r"track_uuid: (\d+)", packet)[1]
    if kind[1] == "BEGIN":
        stack[track].append((names[int(re.search(r"^    name_iid: (\d+)", packet, re.M)[1])], time))
        continue
    name, start = stack[track].pop()
    values = dict(re.findall(r'name_iid: (\d+)\n +string_value: "(\w+)"', packet))
    values = {notes[int(iid)]: value for iid, value in values.items()}
    count[name] += values.get("continues") not in ("after", "both")
    total[name] += time - start
if any(stack.values()):
    sys.exit("left open")
for name in count:
    print(name, count[name], total[name], sep="\t")
