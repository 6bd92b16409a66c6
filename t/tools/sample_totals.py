#!/usr/bin/env python3
"""Add up the samples of a stream: usage: sample_totals.py totals|folded|tree|edges|callers=F [FILE]

totals  a line "total,self,count,name" for each function, sorted by name
tree    a line "total,self,count,a;b;c" for each stack that a sample has or begins with
folded  a line "comm;a;b;c WEIGHT" for each thread's name and stack, of which one may be missing; of samples
        without both a line "TYPE WEIGHT"
callers a line "total,self,count,F;c;b;a" for F, each caller of its outermost call, the caller's caller ...
edges   a line "caller<TAB>callee<TAB>WEIGHT" for each call that a stack has; "all" calls the outermost functions
Other than in folded, a sample without a stack is a function of its type.
The stream is read by trstream.py, which shares nothing with the programs. All samples must be of one type.
"""
import sys
from collections import defaultdict

import trstream


def samples(data):
    """The comm, the frames (outermost first), the weight and the type of each sample."""
    events = []
    trstream.read_events(data, events.append, lambda message: None)
    for event in events:
        if event["kind"] == "sample":
            yield event["comm"], event["stack"] or [], event["weight"], event["type"]


def main():
    how, _, function = sys.argv[1].partition("=")
    with open(sys.argv[2], "rb") if len(sys.argv) > 2 else sys.stdin.buffer as file:
        data = file.read()
    rows, stacks, edges = defaultdict(lambda: [0, 0, 0]), defaultdict(int), defaultdict(int)
    for comm, stack, weight, kind in samples(data):
        stacks[";".join(([comm.replace(" ", "_")] if comm else []) + stack) or kind] += weight
        path = stack = stack or [kind]
        if function:
            path = stack[stack.index(function)::-1] if function in stack else []
        keys = path if how == "totals" else [";".join(path[:i + 1]) for i in range(len(path))]
        own = keys[-1:] if not function else keys if stack[-1:] == [function] else []
        for key in set(keys):
            row = rows[key]
            row[0] += weight
            row[2] += 1
        for key in own:
            rows[key][1] += weight
        for edge in set(zip(["all"] + stack, stack)):
            edges[edge] += weight
    if how == "edges":
        lines = [f"{caller}\t{callee}\t{weight}" for (caller, callee), weight in edges.items()]
    elif how == "folded":
        lines = [f"{stack} {weight}" for stack, weight in stacks.items() if weight]
    else:
        lines = [",".join(map(str, row)) + "," + key for key, row in rows.items()]
    for line in sorted(lines, key=lambda line: line.encode()):
        print(line)


if __name__ == "__main__":
    main()
