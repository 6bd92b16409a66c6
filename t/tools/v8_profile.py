#!/usr/bin/env python3
"""Prints the folded stacks of V8's profiles: usage: v8_profile.py FILE

FILE is a trace of Chrome with CPU profiles, a .cpuprofile or a .heapprofile, or one of these compressed.

"function;function COUNT WEIGHT", outermost function first: how many samples had the stack, and the sum of
their weights: microseconds up to the next sample, in the order of times, or to the end; or bytes.
"""
import collections
import gzip
import json
import sys

samples = collections.defaultdict(lambda: [0, 0])


def add(nodes, sample, weight):
    stack = []
    while sample is not None:
        node = nodes[sample]
        stack.append(node["callFrame"]["functionName"] or "(anonymous)")
        sample = node.get("parent")
    entry = samples[";".join(reversed(stack))]
    entry[0] += 1
    entry[1] += weight


def add_times(nodes, ids, deltas, start, end=None):
    now, times = start, []
    for sample, delta in zip(ids, deltas):
        now += delta
        times.append((now, len(times), sample))
    times.sort()
    ends = [now for now, _, _ in times[1:]] + [end or 0]
    for (now, _, sample), after in zip(times, ends):
        add(nodes, sample, max(after - now, 0))


def trace(events):
    nodes = collections.defaultdict(dict)
    start, end, ids, deltas = {}, {}, collections.defaultdict(list), collections.defaultdict(list)
    for event in events:
        data = event.get("args", {}).get("data", {})
        profile = event["pid"], event.get("id")
        if event["name"] == "Profile":
            start[profile] = data["startTime"]
        if event["name"] == "ProfileChunk":
            content = data.get("cpuProfile", {})
            nodes[profile].update((node["id"], node) for node in content.get("nodes", []))
            end[profile] = data.get("endTime", end.get(profile))
            ids[profile] += content.get("samples", [])
            deltas[profile] += data.get("timeDeltas", [])
    for profile, sampled in ids.items():
        add_times(nodes[profile], sampled, deltas[profile], start[profile], end[profile])


def flat(nodes):
    """A node names its children; heap profiles have them in it."""
    found, todo = {}, list(nodes)
    while todo:
        node = todo.pop()
        found[node["id"]] = node
        for child in node.get("children", []):
            if isinstance(child, dict):
                child["parent"] = node["id"]
                todo.append(child)
    for node in found.values():
        for child in node.get("children", []):
            if not isinstance(child, dict):
                found[child]["parent"] = node["id"]
    return found


def main():
    data = open(sys.argv[1], "rb").read()
    content = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    if "traceEvents" in content:
        trace(content["traceEvents"])
    elif "nodes" in content:
        add_times(flat(content["nodes"]), content["samples"], content["timeDeltas"], content["startTime"],
                  content.get("endTime"))
    else:
        nodes = flat([content["head"]])
        for node in nodes.values():
            if node["selfSize"]:
                add(nodes, node["id"], node["selfSize"])
    for stack, (count, weight) in samples.items():
        print(stack.replace(" ", "_"), count, weight)


main()
