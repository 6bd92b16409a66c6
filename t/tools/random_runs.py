#!/usr/bin/env python3
"""Runs of one program with the noise of real ones, as traces in the JSON of Chrome.

usage: random_runs.py SEED DIRECTORY RUNS [GROUP=FACTOR]...     DIRECTORY/NN.json, NN from 01

A run has some forty calls of each of eight functions, whose times are log-normal with a few that are ten times as
long. The machine of a run is some percent faster or slower than that of the other ones, becomes slower from run to run
of a directory, and is disturbed in one of twenty. The function retry has a call in some runs. FACTOR multiplies the
times of GROUP.
"""
import json
import os
import random
import sys

FUNCTIONS = "parse plan read sort join commit log reply".split()


def run(rng, number, runs, factors):
    machine = rng.lognormvariate(0, 0.02) * (1 + 0.02 * number / runs) * (1.3 if rng.random() < 0.05 else 1)
    time, events = 0, []
    counts = {name: 40 + (rng.randrange(-2, 3) if i % 2 else 0) for i, name in enumerate(FUNCTIONS)}
    counts["retry"] = rng.randrange(2)
    for name, count in counts.items():
        own = machine * rng.lognormvariate(0, 0.02) * factors.get(name, 1)
        for _ in range(count):
            mean = 10 * (1 + len(name))
            duration = round(mean * own * rng.lognormvariate(0, 0.1) * (10 if rng.random() < 0.01 else 1), 3)
            events.append({"ph": "X", "name": name, "ts": round(time, 3), "dur": duration, "pid": 1, "tid": 1})
            time += duration + 5
    return events


def main(seed, directory, runs, *factors):
    rng = random.Random(f"{seed} {directory}")
    factors = {name: float(factor) for name, factor in (f.split("=") for f in factors)}
    os.makedirs(directory, exist_ok=True)
    for number in range(int(runs)):
        with open(f"{directory}/{number + 1:02}.json", "w", encoding="ascii") as f:
            json.dump(run(rng, number, int(runs), factors), f)


main(*sys.argv[1:])
