#!/usr/bin/env python3
"""Makes the difference of two random profiles of times: usage: pprof_difference.py SEED MOST

MOST is the largest weight in ns. Writes to the present directory profile.txt, a message of profile.proto as text, and what
tables have to show of it: "table" is total, self, count, min, max, avg, self_avg and name; "tree" is total, self, count,
depth and name; "folded" is the stacks and their sums, which are clipped to 64 bits; "range" is the least and largest weight.
"""
import collections
import random
import sys

FUNCTIONS = ["main", "f", "g", "h", "k"]


def duration(ns):
    size, sign = abs(ns), "-" if ns < 0 else ""
    for below, unit, name in ((10**6, 10**3, "us"), (10**9, 10**6, "ms"), (None, 10**9, "s")):
        if below is None or size < below:
            thousandths = size * 1000 // unit
            return f"{sign}{thousandths // 1000}.{thousandths % 1000:03} {name}"


def mean(total, count):
    return total // count if total >= 0 else -(-total // count)


def weights(most):
    """The stacks of a profile and their weights, of all orders of magnitude."""
    for _ in range(40):
        yield ("main", *random.sample(FUNCTIONS[1:], random.randrange(4))), random.randrange(int(most ** random.random()) + 1)


def main():
    random.seed(int(sys.argv[1]))
    most = int(sys.argv[2])
    samples = list(weights(most)) + [(stack, -weight) for stack, weight in weights(most)]
    with open("profile.txt", "w") as out:
        for text in ["", "cpu", "nanoseconds", *FUNCTIONS]:
            print(f'string_table: "{text}"', file=out)
        print("sample_type { type: 1 unit: 2 }", file=out)
        for i in range(1, len(FUNCTIONS) + 1):
            print(f"function {{ id: {i} name: {i + 2} }} location {{ id: {i} line {{ function_id: {i} }} }}", file=out)
        for stack, weight in samples:
            ids = " ".join(f"location_id: {FUNCTIONS.index(name) + 1}" for name in reversed(stack))
            print(f"sample {{ {ids} value: {weight} }}", file=out)

    totals, selves, nodes, own = (collections.defaultdict(list) for _ in range(4))
    for stack, weight in samples:
        own[stack].append(weight)
        for depth, name in enumerate(stack):
            totals[name].append(weight)
            selves[name].append(weight if depth + 1 == len(stack) else 0)
            nodes[stack[:depth + 1]].append(weight)
    with open("table", "w") as out:
        for name in sorted(totals):
            all, self = totals[name], sum(selves[name])
            times = sum(all), self, min(all), max(all), mean(sum(all), len(all)), mean(self, len(all))
            total, self, *more = map(duration, times)
            print(total, self, len(all), *more, name, file=out)
    with open("tree", "w") as out:
        for stack in nodes:
            self = duration(sum(own[stack])) if stack in own else duration(0)
            print(duration(sum(nodes[stack])), self, len(nodes[stack]), len(stack) - 1, stack[-1], file=out)
    with open("folded", "w") as out:
        for stack in own:
            weight = max(-(2**63), min(2**64 - 1, sum(own[stack])))
            if weight:
                print(";".join(stack), weight, file=out)
    with open("range", "w") as out:
        print(duration(min(weight for _, weight in samples)), duration(max(weight for _, weight in samples)), file=out)


main()
