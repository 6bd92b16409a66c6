#!/usr/bin/env python3
"""Write a stream of random samples: usage: random_samples.py SEED [TYPE...]

Each type is a name, with a plus sign if its weights are times. Threads, stacks, recursions and weights are random.
"""
import random
import struct
import sys

import streams_writer as w
from streams_case import Case
from streams_writer import field

PERIOD, COUNT = 13, 5  # roles


def main():
    random.seed(int(sys.argv[1]))
    case = Case()
    fields = [field("period", w.UINT, w.FIXED, 0, 8, role=PERIOD), field("bytes", w.UINT, w.FIXED, 8, 8)]
    kinds = [case.type(name.rstrip("+"), w.SAMPLE, 256 * name.endswith("+"), fixed=16, fields=fields)
             for name in sys.argv[2:] or ["cycles"]]
    for i in range(3):
        case.lane(tid=100 + i, pid=100, cpu=i, comm=("one", "two words", "")[i])
    places = [case.location(f"f{i}") for i in range(12)]
    stacks = [case.stack(*random.choices(places, k=random.randrange(1, 9))) for _ in range(60)] + [0]
    for i in range(2000):
        case.row(1000 + i, random.choice(kinds), location=random.choice(stacks), lane=random.randrange(1, 4),
                 parts=struct.pack("<QQ", random.randrange(1000) * random.randrange(1000), i % 77))
    sys.stdout.buffer.write(case.data())


if __name__ == "__main__":
    main()
