#!/usr/bin/env python3
"""split_calls.py STEP: the calls of a trace, cut into intervals of STEP ns

Input: rows of trencode -t ndjson -c time,dur,tid,name,kind. The intervals begin with the first
event. An interval without events is a part of the one before it. Output: a line "NAME TID TIME DUR"
for what is in each interval of each call; then a line "cuts N", how often a call is cut, and a line
"edges TIME ..." with the begins of the intervals.
"""

import bisect
import json
import sys


def main():
    step = int(sys.argv[1])
    rows = [json.loads(line) for line in sys.stdin]
    times = [r["time"] for r in rows] + [r["time"] + r["dur"] for r in rows if r["kind"] == "call"]
    first = min(times)
    edges = sorted({first + (t - first) // step * step for t in times})
    cuts = 0
    for r in rows:
        if r["kind"] != "call":
            continue
        begin, end = r["time"], r["time"] + r["dur"]
        # a call that ends at an edge ends after the cut; one that begins there is not cut
        inner = edges[bisect.bisect_right(edges, begin) : bisect.bisect_right(edges, end)]
        cuts += len(inner)
        for a, b in zip([begin] + inner, inner + [end]):
            print(r["name"], r["tid"], a, b - a)
    print("cuts", cuts)
    print("edges", *edges)


main()
