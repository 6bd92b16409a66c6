#!/usr/bin/env python3
"""Prints the folded stacks of V8's CPU profiles in a trace of Chrome: usage: v8_profile.py TRACE

"function;function COUNT MICROSECONDS", outermost function first: how many samples had the stack, and
the sum of the times since the sample before each.
"""
import collections
import gzip
import json
import sys


def main():
    events = json.loads(gzip.open(sys.argv[1]).read())["traceEvents"]
    nodes, now = {}, {}
    samples = collections.defaultdict(lambda: [0, 0])
    for event in events:
        data = event.get("args", {}).get("data", {})
        profile = event["pid"], event.get("id")
        if event["name"] == "Profile":
            now[profile] = data["startTime"]
        if event["name"] != "ProfileChunk":
            continue
        content = data.get("cpuProfile", {})
        for node in content.get("nodes", []):
            nodes[profile, node["id"]] = node
        for sample, delta in zip(content.get("samples", []), data.get("timeDeltas", [])):
            stack = []
            while sample is not None:
                node = nodes[profile, sample]
                stack.append(node["callFrame"]["functionName"] or "(anonymous)")
                sample = node.get("parent")
            entry = samples[";".join(reversed(stack))]
            entry[0] += 1
            entry[1] += max(delta, 0)
            now[profile] += delta
    for stack, (count, time) in samples.items():
        print(stack.replace(" ", "_"), count, time)


main()
