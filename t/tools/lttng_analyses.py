#!/usr/bin/env python3
"""Print tables of the JSON of lttng-analyses (lttng-cputop-mi and so on) as rows of tsv.

lttng_analyses.py FILE.json CLASS [TITLE]: the tables of a class whose title contains TITLE.

A process is its thread's number, an interrupt its number; times are in ns. lttng-analyses prints means with
fractions, which are cut off, standard deviations of samples, which become those of the population, and
shares of the range of time, which become times.
"""
import json
import math
import sys

# the columns with deviations, and the columns with the numbers of their values
DEVIATIONS = {"hard-stats": {5: 1}, "soft-stats": {5: 1, 10: 6}, "syscall-latency-stats": {5: 1},
              "disk-latency-stats": {5: 1}, "per_tid_stats": {5: 1}, "per-tid": {5: 1}, "per_period_stats": {5: 1}}


def atoms(cell, span):
    if cell is None or cell["class"] == "unknown" or cell["class"] == "empty":
        return [""]
    kind = cell["class"]
    if kind == "time-range":
        return [cell["begin"]["value"], cell["end"]["value"]]
    if kind == "ratio":
        return [round(cell["value"] * span)]
    for key in {"process": ["tid"], "irq": ["nr"], "cpu": ["id"], "fd": ["fd"], "path": ["path"]}.get(kind, []):
        return [cell[key]]
    if kind in ("disk", "syscall", "netif"):
        return [cell["name"]]
    return [math.floor(cell["value"]) if isinstance(cell["value"], float) else cell["value"]]


def main():
    wanted, title = sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
    for table in json.load(open(sys.argv[1]))["results"]:
        name = table["class"]
        if isinstance(name, dict):
            name, of = name.get("inherit"), name["title"]
        else:
            of = ""
        if name != wanted or title not in of:
            continue
        span = table["time-range"]["end"]["value"] - table["time-range"]["begin"]["value"]
        for row in table["data"]:
            cells = [atoms(cell, span) for cell in row]
            for at, of_count in DEVIATIONS.get(name, {}).items():
                n = cells[of_count][0]
                known = row[at] and row[at]["class"] == "duration"
                # half a nanosecond is rounded up, whatever the fraction of a float
                cells[at] = [math.floor(row[at]["value"] * math.sqrt((n - 1) / n) + 0.5001) if known else 0]
            print(*[a for cell in cells for a in cell], sep="\t")


main()
