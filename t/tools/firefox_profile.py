#!/usr/bin/env python3
"""Read a profile in the Firefox Profiler's processed format, version 61, and check it: firefox_profile.py WHAT FILE

The checks are those of the types in src/types/profile.ts of the Firefox Profiler at that version: columns of one
length, indexes within their tables, callers before callees in the table of stacks, times that do not go back,
and a schema with a format for each field of each marker. WHAT is printed, separated by tabs:

functions    name, total and self of all threads. Units: ns where weights are times in ms, else the weight
             itself, else samples. A function counts once for each stack.
stacks       thread name and frames, separated by ';', the outermost one first, and the number of samples
samples      tid, time in ns, number of frames, weight, CPU delta, frames as above
markers      tid, name, start and end in ns (or ''), fields as JSON, frames of the cause
threads      pid, tid, process, name, whether it is the main thread
categories   name of each function and its category
"""
import json
import sys
from decimal import Decimal

FORMATS = {"integer": int, "decimal": (int, Decimal), "string": str}


def need(condition, *what):
    if not condition:
        raise SystemExit("wrong profile: " + " ".join(map(str, what)))


def ns(ms):
    value = Decimal(ms) * 1000000
    need(value == value.to_integral_value(), "parts of ns", ms)
    return int(value)


def table(name, t, columns):
    need(set(t) == set(columns) | {"length"}, name, "has the columns", sorted(t))
    for column in columns:
        need(len(t[column]) == t["length"], name, column, "has another length")


def within(values, n, *what, none=None):
    need(all(v == none or (isinstance(v, int) and 0 <= v < n) for v in values), *what, "is out of bounds")


class Profile:
    def __init__(self, data):
        self.data = data
        self.meta, self.shared, self.threads = data["meta"], data["shared"], data["threads"]
        self.strings = self.shared["stringArray"]
        need(self.meta["preprocessedProfileVersion"] == 61, "version")
        need(any(c["color"] == "grey" for c in self.meta["categories"]), "no default category")
        need(self.threads, "no thread")
        need(len(set(self.strings)) == len(self.strings), "a string is twice in the table")
        self.check_shared()
        self.schemas = {s["name"]: {f["key"]: f["format"] for f in s["fields"]} for s in self.meta["markerSchema"]}
        need(len(self.schemas) == len(self.meta["markerSchema"]), "a schema is twice in the list")
        for thread in self.threads:
            self.check_thread(thread)

    def check_shared(self):
        s, strings, libs = self.shared, len(self.strings), len(self.data["libs"])
        table("stackTable", s["stackTable"], ["frame", "prefix"])
        table("frameTable", s["frameTable"], ["address", "inlineDepth", "category", "subcategory", "func",
                                              "nativeSymbol", "innerWindowID", "line", "column"])
        table("funcTable", s["funcTable"], ["isJS", "relevantForJS", "name", "resource", "source", "lineNumber",
                                            "columnNumber"])
        table("resourceTable", s["resourceTable"], ["lib", "name", "host", "type"])
        table("nativeSymbols", s["nativeSymbols"], ["libIndex", "address", "name", "functionSize"])
        table("sources", s["sources"], ["id", "filename", "startLine", "startColumn", "sourceMapURL"])
        stacks = s["stackTable"]
        within(stacks["frame"], s["frameTable"]["length"], "frame of a stack")
        for i, prefix in enumerate(stacks["prefix"]):
            need(prefix is None or 0 <= prefix < i, "a stack before its caller")
        need(len(set(zip(stacks["prefix"], stacks["frame"]))) == stacks["length"], "a stack is twice in the table")
        within(s["frameTable"]["func"], s["funcTable"]["length"], "function of a frame")
        within(s["frameTable"]["category"], len(self.meta["categories"]), "category")
        within(s["funcTable"]["name"], strings, "name of a function")
        within(s["funcTable"]["resource"], s["resourceTable"]["length"], "resource", none=-1)
        within(s["funcTable"]["source"], s["sources"]["length"], "source")
        within(s["resourceTable"]["lib"], libs, "lib")
        within(s["resourceTable"]["name"], strings, "name of a resource")
        within(s["sources"]["filename"], strings, "name of a source")

    def check_thread(self, thread):
        need(isinstance(thread["pid"], str), "pid")
        samples, markers = thread["samples"], thread["markers"]
        columns = [c for c in samples if c not in ("length", "weightType", "weight")]
        need(set(columns) <= {"time", "stack", "threadCPUDelta"}, "columns of samples", columns)
        for column in columns + (["weight"] if samples["weight"] is not None else []):
            need(len(samples[column]) == samples["length"], column, "has another length")
        need(samples["weightType"] in ("samples", "tracing-ms"), "weightType")
        within(samples["stack"], self.shared["stackTable"]["length"], "stack of a sample")
        need(samples["time"] == sorted(samples["time"]), "times go back")
        table("markers", markers, ["data", "name", "startTime", "endTime", "phase", "category"])
        within(markers["name"], len(self.strings), "name of a marker")
        within(markers["category"], len(self.meta["categories"]), "category of a marker")
        for data, phase, start, end in zip(markers["data"], markers["phase"], markers["startTime"], markers["endTime"]):
            need(phase in (0, 1) and (end is None) == (phase == 0), "phase", phase)
            need(end is None or end >= start, "a marker ends before it begins")
            schema = self.schemas.get(data["type"])
            need(schema is not None, "no schema of", data["type"])
            for key, value in data.items():
                if key == "cause":
                    within([value["stack"]], self.shared["stackTable"]["length"], "cause")
                elif key != "type":
                    need(key in schema, "the schema of", data["type"], "lacks", key)
                    need(schema[key] == "string" or isinstance(value, FORMATS[schema[key]]), key, "is no", schema[key])

    def function(self, frame):
        return self.strings[self.shared["funcTable"]["name"][self.shared["frameTable"]["func"][frame]]]

    def frames(self, stack):
        found = []
        while stack is not None:
            found.append(self.function(self.shared["stackTable"]["frame"][stack]))
            stack = self.shared["stackTable"]["prefix"][stack]
        return found[::-1]

    def weights(self, samples):
        if samples["weight"] is None:
            return [1] * samples["length"]
        return [ns(w) for w in samples["weight"]] if samples["weightType"] == "tracing-ms" else samples["weight"]


def functions(p):
    sums = {}
    for thread in p.threads:
        for stack, weight in zip(thread["samples"]["stack"], p.weights(thread["samples"])):
            if stack is None:
                continue
            frames = p.frames(stack)
            for name in set(frames):
                sums.setdefault(name, [0, 0])[0] += weight
            sums[frames[-1]][1] += weight
    for name, (total, own) in sums.items():
        yield name, total, own


def stacks(p):
    sums = {}
    for thread in p.threads:
        for stack in thread["samples"]["stack"]:
            key = thread["name"], ";".join(p.frames(stack))
            sums[key] = sums.get(key, 0) + 1
    for key, n in sums.items():
        yield *key, n


def samples(p):
    for thread in p.threads:
        s = thread["samples"]
        for time, stack, weight, cpu in zip(s["time"], s["stack"], p.weights(s), s.get("threadCPUDelta", s["stack"])):
            frames = p.frames(stack)
            yield thread["tid"], ns(time), len(frames), weight, cpu if "threadCPUDelta" in s else "", ";".join(frames)


def markers(p):
    for thread in p.threads:
        m = thread["markers"]
        for data, name, start, end in zip(m["data"], m["name"], m["startTime"], m["endTime"]):
            fields = {k: v for k, v in data.items() if k not in ("type", "cause")}
            cause = ";".join(p.frames(data["cause"]["stack"])) if "cause" in data else ""
            yield (thread["tid"], p.strings[name], ns(start), "" if end is None else ns(end),
                   json.dumps(fields, default=float), cause)


def threads(p):
    for t in p.threads:
        yield t["pid"], t["tid"], t["processName"], t["name"], t["isMainThread"]


def categories(p):
    for frame, category in enumerate(p.shared["frameTable"]["category"]):
        yield p.function(frame), p.meta["categories"][category]["name"]


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        profile = Profile(json.load(file, parse_float=Decimal))
    for row in {"functions": functions, "stacks": stacks, "samples": samples, "markers": markers,
                "threads": threads, "categories": categories}[sys.argv[1]](profile):
        print(*row, sep="\t")


main()
