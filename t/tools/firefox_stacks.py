#!/usr/bin/env python3
"""Prints what a profile of the Firefox Profiler has: usage: firefox_stacks.py stacks|markers FILE

stacks: "function;function COUNT WEIGHT", outermost function first, spaces as _: how many samples had the stack,
and the sum of their weights: the column weight, else threadCPUDelta, else 1. Weights of a unit of time are
nanoseconds. markers: "NAME COUNT NANOSECONDS", of those with a start and an end, and "NAME COUNT" of the rest.
"""
import collections
import decimal
import gzip
import json
import re
import sys

UNITS = {"ns": 1, "µs": 1000, "μs": 1000}


def column_table(table):
    """A table as an array for each column."""
    if table is None:
        return {}
    if "schema" not in table:
        return table
    rows = table["data"]
    return {name: [row[i] if i < len(row) else None for row in rows] for name, i in table["schema"].items()}


class Thread:
    def __init__(self, thread, shared, libs):
        def table(name):
            return column_table(thread.get(name) or shared.get(name))
        self.strings = thread.get("stringArray") or thread.get("stringTable") or shared.get("stringArray")
        self.stack, self.frame, self.func = table("stackTable"), table("frameTable"), table("funcTable")
        self.libs = table("resourceTable").get("lib", [])

    def name(self, frame):
        if "location" in self.frame:
            text = self.strings[self.frame["location"][frame]]
            if re.fullmatch("0x[0-9a-f]+", text):
                return "<" + text[2:] + ">"
            found = re.fullmatch(r"(.+?)(?: \(in ([^)]*)\))?(?: \((?!in )[^()]*:\d+\))?", text)
            return found.group(1) if found else text
        func = self.frame["func"][frame]
        name, resource = self.strings[self.func["name"][func]], self.func["resource"][func]
        address = self.frame.get("address", {frame: -1})[frame]
        known = 0 <= resource < len(self.libs) and self.libs[resource] not in (None, -1)
        return f"<{address:x}>" if name.startswith("0x") and known and address >= 0 else name

    def prefix(self, stack):
        if "prefixOffset" in self.stack:
            offset = self.stack["prefixOffset"][stack]
            return stack - offset if offset else None
        return self.stack["prefix"][stack]

    def path(self, stack):
        names = []
        while stack is not None:
            names.append(self.name(self.stack["frame"][stack]))
            stack = self.prefix(stack)
        return ";".join(reversed(names)).replace(" ", "_")


def processes(profile):
    profile = profile.get("profile", profile)
    yield profile
    for process in profile.get("processes", []):
        yield from processes(process)


def stacks(profile):
    sums = collections.defaultdict(lambda: [0, 0])
    for process in processes(profile):
        unit = process["meta"].get("sampleUnits", {}).get("threadCPUDelta")
        for raw in process["threads"]:
            thread = Thread(raw, process.get("shared", {}), process.get("libs"))
            samples = column_table(raw["samples"])
            weights, scale = samples.get("weight"), 1
            if weights and samples.get("weightType") == "tracing-ms":
                scale = 1000000
            if weights is None:
                weights, scale = samples.get("threadCPUDelta"), UNITS.get(unit, 1)
            for i, stack in enumerate(samples["stack"]):
                entry = sums[thread.path(stack)]
                entry[0] += 1
                entry[1] += int((weights[i] or 0) * scale) if weights else 1
    for path, (count, weight) in sums.items():
        print(path, count, weight)


def markers(profile):
    sums = collections.defaultdict(lambda: [0, 0])
    for process in processes(profile):
        for raw in process["threads"]:
            thread, table, open_at = Thread(raw, process.get("shared", {}), []), column_table(raw["markers"]), {}
            for i, name in enumerate(table["name"]):
                phase, name = table["phase"][i], thread.strings[name].replace(" ", "_")
                if phase == 0:
                    sums[name, False][0] += 1
                elif phase == 2:
                    open_at[name] = table["startTime"][i]
                else:
                    start = table["startTime"][i] if phase == 1 else open_at.pop(name, None)
                    if start is not None:
                        entry = sums[name, True]
                        entry[0] += 1
                        entry[1] += int(table["endTime"][i] * 1000000) - int(start * 1000000)
    for (name, timed), (count, time) in sums.items():
        print(name, count, time if timed else "")


def main():
    data = open(sys.argv[2], "rb").read()
    content = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    {"stacks": stacks, "markers": markers}[sys.argv[1]](json.loads(content, parse_float=decimal.Decimal))


main()
