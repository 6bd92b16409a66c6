#!/usr/bin/env python3
"""Print the commands of .ninja_log as ninjatracing draws them, of all builds: build, lane from 1,
outputs, start and end in ms. usage: ninja_lanes.py [--one] FILE; --one: all lines are one build"""
import sys

one = sys.argv[1] == '--one'
builds, last = [[]], -1
for line in open(sys.argv[-1]):
    fields = line.rstrip('\n').split('\t')
    if line.startswith('#') or len(fields) != 5:
        continue
    start, end = int(fields[0]), int(fields[1])
    if end < last and not one:
        builds.append([])
    last = end
    builds[-1].append((start, end, fields[4], fields[3]))
for number, lines in enumerate(builds, 1):
    commands = {}
    for start, end, command, output in lines:
        commands.setdefault((command, start, end), []).append(output)
    # the lane of a command is the first one that is free from its end on; the last end is first
    busy = []
    for (command, start, end), outputs in sorted(commands.items(), key=lambda c: -c[0][2]):
        for lane in range(len(busy) + 1):
            if lane == len(busy):
                busy.append(start)
            elif busy[lane] < end:
                continue
            busy[lane] = start
            break
        print(number, lane + 1, ', '.join(outputs), start, end, sep='\t')
