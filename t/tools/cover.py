# Calls of random times as Chrome JSON, and what trstat --cover counts of them, microsecond by
# microsecond: cover.py SEED >trace.json, or cover.py KEY SETS DEPTH <trace.json, where SETS is of
# "a", "a & b", "a - b", KEY one of tid, pid or "", and DEPTH is 1 for the key depth. Rows are KEY,
# DEPTH, busy; without DEPTH also count and max.
import json
import random
import sys
from collections import defaultdict


def calls(events, tid, begin, end, level):
    at = begin
    while at < end and level < 4:
        at += random.randint(0, 30)
        time = random.choice([0, random.randint(1, 80)])
        if at + time > end:
            return
        events.append(dict(ph='X', pid=1 + tid % 2, tid=tid, ts=at, dur=time,
                           name=random.choice('abc')))
        calls(events, tid, at, at + time, level + 1)
        at += time


def generate(seed):
    random.seed(seed)
    events = []
    for tid in range(1, 6):
        calls(events, tid, 0, 3000, 0)
    json.dump(dict(traceEvents=events), sys.stdout)


def count(key, sets, by_depth):
    events = json.load(sys.stdin)['traceEvents']
    end = 1 + max(e['ts'] + e['dur'] for e in events)
    number = {name: defaultdict(lambda: [0] * end) for name in 'abc'}
    for e in events:
        for us in range(e['ts'], e['ts'] + e['dur']):
            number[e['name']][e[key] if key else ''][us] += 1
    for group in number['a']:
        a, b = number['a'][group], number['b'][group]
        holds = [n > 0 and (sets == 'a' or ('&' in sets) == (b[us] > 0)) for us, n in enumerate(a)]
        first = [group] if key else []
        if by_depth:
            for depth in sorted({a[us] for us in range(end) if holds[us]}):
                print(*first, depth, 1000 * sum(h and a[us] == depth for us, h in enumerate(holds)),
                      sep='\t')
            continue
        spans = ''.join('#' if h else ' ' for h in holds).split()
        if spans:
            print(*first, 1000 * sum(holds), len(spans), 1000 * max(map(len, spans)), sep='\t')


if len(sys.argv) == 2:
    generate(int(sys.argv[1]))
else:
    count(sys.argv[1], sys.argv[2], sys.argv[3] == '1')
