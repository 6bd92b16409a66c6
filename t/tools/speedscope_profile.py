#!/usr/bin/env python3
"""Prints the sums of functions in a file of speedscope: usage: speedscope_profile.py FILE

"NAME COUNT SELF TOTAL": calls, or samples in whose stack the function is; weights of a unit of time are
nanoseconds. A function in itself adds its time to TOTAL once.
"""
import collections
import decimal
import json
import sys

SCALE = {"nanoseconds": 1, "microseconds": 1000, "milliseconds": 1000000, "seconds": 1000000000}
count, own, total = (collections.Counter() for _ in range(3))


def evented(profile, names, scale):
    stack = []  # name, start, time of callees
    for event in profile["events"]:
        at = int(event["at"] * scale)
        if event["type"] == "O":
            stack.append([names[event["frame"]], at, 0])
            continue
        name, start, inner = stack.pop()
        count[name] += 1
        own[name] += at - start - inner
        if name not in (frame[0] for frame in stack):
            total[name] += at - start
        if stack:
            stack[-1][2] += at - start


def sampled(profile, names, scale):
    for sample, weight in zip(profile["samples"], profile["weights"]):
        weight = int(weight * scale)
        for name in {names[frame] for frame in sample}:
            count[name] += 1
            total[name] += weight
        if sample:
            own[names[sample[-1]]] += weight


def main():
    content = json.load(open(sys.argv[1]), parse_float=decimal.Decimal)
    names = [frame["name"].replace(" ", "_") for frame in content["shared"]["frames"]]
    for profile in content["profiles"]:
        {"evented": evented, "sampled": sampled}[profile["type"]](profile, names, SCALE.get(profile["unit"], 1))
    for name in count:
        print(name, count[name], own[name], total[name])


main()
