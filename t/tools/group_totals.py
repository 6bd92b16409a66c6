#!/usr/bin/env python3
"""Check tables of trstat: the total of a group is the time in which a call of the group is open, added up over the
threads, and its self value is not above.
usage: group_totals.py STREAM KEY..."""
import collections
import csv
import io
import json
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def times_of(calls, keys):
    """By group: the length of the union of the calls' times."""
    spans = collections.defaultdict(list)
    for call in calls:
        group = tuple("" if call[key] is None else str(call[key]) for key in keys)
        # the threads with number 0 are one of each CPU
        spans[group, call["tid"], None if call["tid"] else call["cpu"]].append((call["time"], call["time"] + call["dur"]))
    total = collections.Counter()
    for (group, *_), of_group in spans.items():
        until = 0
        for begin, end in sorted(of_group):
            total[group] += max(0, end - max(begin, until))
            until = max(until, end)
    return total


stream, bad = sys.argv[1], False
names = "time,dur,self,tid,cpu,name,depth,caller,comm,file,pid,kind"
rows = [json.loads(line) for line in run("trencode", "-t", "ndjson", "-c", names, stream).splitlines()]
# calls that ended without a leave have no self value; those that no row names are in no table
calls = [row for row in rows if row["kind"] == "call" and row["self"] is not None and row["name"] != "<0>"]
for key in sys.argv[2:]:
    keys = [k for k in key.split(",") if k]
    want = times_of(calls, keys)
    table = run("trstat", "-t", "tsv", "-g", key, "-c", "total,self", stream)
    got = {tuple(row[k] for k in keys): (int(row["total"]), int(row["self"]))
           for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE) if row["total"]}
    for group in sorted(set(got) | set(want)):
        total, self = got.get(group, (None, 0))
        if total != want.get(group) or self > total:
            print(stream, key, *group, "total", total, "self", self, "time of its calls", want.get(group))
            bad = True
sys.exit(bad or not calls)
