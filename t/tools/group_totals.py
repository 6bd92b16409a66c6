#!/usr/bin/env python3
"""Check tables of trstat: the total of a group is the time in which a call of the group is open, added up over the
threads, and its self value is not above.
usage: group_totals.py STREAM KEY[@CONDITION]...
A condition is for --where, and for --fail-if 'total(CONDITION) == ...', which has all these calls as one group."""
import collections
import csv
import io
import json
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def ns(time):
    """The value of a number with or without a unit."""
    number, unit = re.fullmatch(r"(\d+)(us|ms|)", time).groups()
    return int(number) * {"": 1, "us": 1000, "ms": 1000000}[unit]


def cell(call, key):
    """The text of a key: the name of a field, or bucket(F,N) or log2(F) of one."""
    function, name, width = re.fullmatch(r"(?:(\w+)\()?([\w.]+)(?:,(\w+))?\)?", key).groups()
    value = call["time"] + call["dur"] if name == "time" else call[name]
    if function == "bucket":
        return str(value - value % ns(width))
    if function == "log2":
        return str(1 << value.bit_length() - 1 if value else 0)
    return "" if value is None else str(value)


def selects(call, condition):
    """Evaluate a condition of ==, !=, <, > && and ||, on fields that all calls have."""
    python = re.sub(r"\b\d+[um]s\b", lambda number: str(ns(number[0])), condition).replace("&&", " and ").replace("||", " or ")
    return eval(python, {}, dict(call, time=call["time"] + call["dur"]))


def times_of(calls, keys):
    """By group: the length of the union of the calls' times."""
    spans = collections.defaultdict(list)
    for call in calls:
        group = tuple(cell(call, key) for key in keys)
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
names = "time,dur,self,tid,cpu,name,depth,caller,comm,file,pid,kind,group"
rows = [json.loads(line) for line in run("trencode", "-t", "ndjson", "-c", names, stream).splitlines()]
# calls that ended without a leave have no self value; those that no row names are in no table
every = [row for row in rows if row["kind"] == "call" and row["self"] is not None and row["name"] != "<0>"]
for key, _, condition in (argument.partition("@") for argument in sys.argv[2:]):
    keys = re.findall(r"[^,(]+(?:\([^)]*\))?", key)
    calls = [call for call in every if not condition or selects(call, condition)]
    want = times_of(calls, keys)
    where = ["--where", condition] if condition else []
    table = run("trstat", "-t", "tsv", "-g", key, "-c", "total,self", *where, stream)
    _, *lines = csv.reader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    got = {tuple(group): (int(total), int(self)) for *group, total, self in lines if total}
    for group in sorted(set(got) | set(want)):
        total, self = got.get(group, (None, 0))
        if total != want.get(group) or self > total:
            print(stream, key, condition, *group, "total", total, "self", self, "time of its calls", want.get(group))
            bad = True
    total = times_of(calls, [])[()]
    for options in [f"total({condition}) == {total}ns"], [f"total == {total}ns", *where]:
        command = ["trstat", "-q", "-g", key, "-c", "count", "--fail-if", *options, stream]
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 3:
            print("false:", *command)
            bad = True
sys.exit(bad or not every)
