#!/usr/bin/env python3
"""clip_calls.py SINCE UNTIL <dump: the calls of `uftrace dump`, clipped to [since, until) ns.

Prints a line for each function: name, calls that overlap the window, total without recursion."""
import re
import sys
from collections import defaultdict

ROW = re.compile(r"\s*(\d+)\.(\d{9})\s+(\d+): \[(entry|exit )\] (.*)\(\w+\) depth: (\d+)")


def main():
    since, until = int(sys.argv[1]), int(sys.argv[2])
    threads = defaultdict(list)
    for line in sys.stdin:
        m = ROW.match(line)
        if m:
            threads[m[3]].append((int(m[1]) * 10**9 + int(m[2]), m[4], m[5], int(m[6])))
    count, total = defaultdict(int), defaultdict(int)
    for rows in threads.values():
        stack = []

        def end(time):
            name, start = stack.pop()
            if time < since or start >= until:
                return
            count[name] += 1
            if all(name != other for other, _ in stack):
                total[name] += min(time, until) - max(start, since)

        for time, kind, name, depth in rows:
            del stack[depth + (kind == "exit ") :]
            if kind == "entry":
                stack.append((name, time))
            elif stack:
                end(time)
        while stack:
            end(rows[-1][0])
    for name in sorted(count):
        print(name, count[name], total[name])


main()
