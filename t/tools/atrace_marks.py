#!/usr/bin/env python3
"""Print what the marks of atrace in a text mean, as rows of ndjson that are sorted.

usage: atrace_marks.py TEXT     of trace-cmd report -t, or of perf script --ns -F comm,tid,cpu,time,event,trace
       atrace_marks.py          the same rows of ndjson on standard input

A row is [time in ns, duration, name, kind, tid, value or cookie]. B and E are a stack for each thread, S and F pair by
their text, G and H by track and cookie. A call that has not ended lasts until the last event of its thread.
"""
import json
import re
import sys

LINE = re.compile(r'\s*(.+?)[- ]\s*(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): (?:print: +tracing_mark_write: (.*)|'
                  r'\w+:tracing_mark_write: \(\w+\) buf_string="([^"]*)"?)$')
rows, stacks, running, last = [], {}, {}, {}


def take(now, tid, text):
    what, _, rest = text.partition('|')
    parts = rest.split('|')
    last[tid] = now
    if what == 'E':
        if stacks.get(tid):
            begin, name = stacks[tid].pop()
            rows.append([begin, now - begin, name, 'call', tid, None])
    elif not parts[0].isdigit() or len(parts) < 2 or what not in tuple('BSFGHCIN'):
        rows.append([now, None, 'print', 'instant', tid, None])
    elif what == 'B':
        # Chrome's arguments and category are no part of the name
        known = len(parts) == 4 and re.fullmatch(r'(\w+=\w+;?)+', parts[2])
        stacks.setdefault(tid, []).append((now, parts[1] if known else '|'.join(parts[1:])))
    elif what in 'SG':
        key = (parts[0], parts[1], parts[-1])
        running[key] = (now, parts[1] if what == 'S' else parts[2], tid, int(parts[-1]))
    elif what in 'FH':
        begun = running.pop((parts[0], parts[1], parts[-1]), None)
        if begun:
            rows.append([begun[0], now - begun[0], begun[1], 'async', begun[2], begun[3]])
    elif what == 'C':
        rows.append([now, None, parts[1], 'counter', tid, int(parts[2])])
    else:
        rows.append([now, None, parts[-1], 'instant', tid, None])


def read(r):
    kinds = {'begin': 'call', 'end': 'call', 'async begin': 'async', 'async end': 'async', 'print': 'instant',
             'tracing_mark_write': 'instant', 'instant': 'instant'}
    args = r['args'] or {}
    if r['name'] != '?' and r['type'] != 'gap' and not r['type'].startswith('PERF_'):
        rows.append([r['time'], r['dur'], 'print' if r['type'] == 'tracing_mark_write' else r['name'],
                     kinds.get(r['type'], 'counter'), r['tid'], args.get('value', args.get('cookie'))])


for line in sys.stdin if len(sys.argv) < 2 else ():
    read(json.loads(line))
for line in open(sys.argv[1], encoding='utf-8') if len(sys.argv) > 1 else ():
    found = LINE.match(line.rstrip('\n'))
    if found:
        take(int(found[4]) * 10**9 + int(found[5]), int(found[2]), found[6] or found[7] or '')
for tid, calls in stacks.items():
    rows += [[begin, last[tid] - begin, name, 'call', tid, None] for begin, name in calls]
rows += [[begin, last[tid] - begin, name, 'async', tid, cookie] for begin, name, tid, cookie in running.values()]
for row in sorted(json.dumps(r) for r in rows):
    print(row)
