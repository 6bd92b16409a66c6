#!/usr/bin/env python3
"""Print what Python's pstats has in a profile, sorted: FILE, LINE, FUNCTION, calls, ns in the function, and ns with
its callees. Functions without any of these are left out.

usage: pstats_sums.py [--callers] PROFILE

With --callers the same of each caller: FUNCTION, CALLER, calls, ns, ns. Runs with Python 2.7, too, whose profiles
Python 3 cannot read.
"""
import pstats
import sys


def ns(seconds):
    return int(round(seconds * 1e9))


sums = {}
for key, (_, calls, own, total, callers) in pstats.Stats(sys.argv[-1]).stats.items():
    rows = [((key[0], str(key[1] or ''), key[2]), (calls, ns(own), ns(total)))]
    if sys.argv[1] == '--callers':
        # profile has only the number of calls
        rows = [((key[2], caller[2]), (n, 0, 0) if isinstance(n, int) else (n[0], ns(n[2]), ns(n[3])))
                for caller, n in callers.items()]
    for row, numbers in rows:
        sums[row] = [a + b for a, b in zip(sums.get(row, [0, 0, 0]), numbers)]
for row, numbers in sorted(sums.items()):
    if any(numbers):
        print('\t'.join(row + tuple(map(str, numbers))))
