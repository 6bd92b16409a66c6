#!/usr/bin/env python3
"""Traces of requests some of which are slow, for reasons that are known: the model of trstat --explain-tail.

usage: tail_traces.py make KIND[+KIND] SEED [CALLS]     rows for trdecode -f ndjson
       tail_traces.py check KIND[+KIND] ROWS.json...    rows of trstat -t json: first, decoys, extra
       tail_traces.py trials KIND[+KIND] FIRST LAST     both with the programs in PATH, and counts

KIND is what makes a request slow: child, argument, number, cpu, before, caller, state, waited (an argument, in a
trace with states of threads), or none. A second, weaker one is after a plus. drift, alone or after a plus, is no cause:
the durations of all requests become longer and shorter in the course of the trace, and so do fields that have nothing
to do with them. Each cause has decoys: features of other
kinds that mostly occur with it, and change no time. All other features of a request are independent of its duration,
which is drawn first and then divided among its children and itself, by shares that do not depend on it.

check prints a line for each file: "yes" if the first rows are the causes (of two in any order), the number of
decoys among all rows, and the number of other rows that are no cause. Without a cause: "yes" if there are no rows.
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

KINDS = 'child argument number cpu before caller'.split()
SIZE_LIMIT = 60000
# what rows of trstat name a cause or a decoy of each kind: feature, relation, value; None: any
CAUSES = {
    'child': [('child', '==', 'fsync'), ('fsync%', '>=', None)],
    'argument': [('arg.mode', '==', 'sync')],
    'waited': [('arg.mode', '==', 'sync')],
    'number': [('arg.size', '>=', None)],
    'cpu': [('cpu', '==', 3)],
    'before': [('before', '==', 'gc')],
    'caller': [('caller', '==', 'retry')],
    'state': [('blocked%', '>=', None)],
}
DECOYS = {
    'child': ('child', 'audit'),
    'argument': ('arg.region', 'eu'),
    'number': ('arg.weight', None),
    'cpu': ('cpu', 5),
    'before': ('before', 'flush'),
    'caller': ('caller', 'batch'),
}


def causes_of(kinds):
    return [k for k in kinds.split('+') if k not in ('none', 'drift')]


class Trace:
    def __init__(self, kinds, seed, calls):
        self.random = random.Random(f'{kinds} {seed}')
        self.kinds = causes_of(kinds)
        self.calls = calls
        self.drifts = 'drift' in kinds.split('+')
        # how much of what is now is still so with the next request; logarithm of the factor of durations
        if self.drifts:
            self.stays = self.random.choice([0.9, 0.99, 0.997, 0.999])
            self.drift = self.random.gauss(0, 1)
        self.sticky = {}
        self.states = 'state' in kinds or 'waited' in kinds
        self.now = 10**9
        self.serial = 0
        taken = {'argument' if k == 'waited' else k for k in self.kinds}
        free = [k for k in KINDS if k not in taken]
        self.random.shuffle(free)
        # of each cause: how often, how much slower, and decoys with their probability with and without it
        self.causes = []
        for i, kind in enumerate(self.kinds):
            rare = 0.12 if kind == 'cpu' else self.random.uniform(0.006, 0.012) / (1 + i)
            factor = self.random.uniform(3, 4) if kind == 'cpu' else self.random.uniform(7, 12) / (1 + i / 2)
            decoys = [(d, self.random.uniform(0.6, 0.9), self.random.uniform(0.01, 0.15))
                      for d in free[i::len(self.kinds)][:3]]
            self.causes.append((kind, rare, factor, decoys))

    def draw(self):
        """The features of a request, and by how much it is slower."""
        r = self.random
        has = {k: {} for k in KINDS}
        slower, longest = 1, None
        f = {'mode': r.choice(['read', 'write', 'list']), 'region': r.choice(['us', 'as', 'af']),
             'size': min(int(r.lognormvariate(8, 1)), SIZE_LIMIT - 1), 'weight': r.randrange(1000),
             'cpu': r.choice([0, 1, 2, 4, 6, 7]), 'before': r.choice([None, None, 'poll', 'accept']),
             'caller': r.choice(['loop', 'loop', 'pump']), 'user': r.randrange(300),
             'children': [c for c, p in (('parse', 0.9), ('db', 0.7), ('cache', 0.4), ('log', 0.1)) if r.random() < p],
             'causes': []}
        if self.drifts:
            self.stick(f, {'region': 0.99, 'user': 0.9, 'cpu': 0.997, 'mode': 0.95, 'caller': 0.999, 'weight': 0.99})
        for kind, rare, factor, decoys in self.causes:
            is_cause = r.random() < rare
            if is_cause:
                slower *= factor * r.lognormvariate(0, 0.2)
                f['causes'].append(kind)
                longest = kind
                if kind == 'child':
                    f['children'].append('fsync')
                elif kind in ('argument', 'waited'):
                    f['mode'] = 'sync'
                elif kind == 'number':
                    f['size'] = r.randrange(SIZE_LIMIT, 4 * SIZE_LIMIT)
                elif kind == 'cpu':
                    f['cpu'] = 3
                elif kind == 'before':
                    f['before'] = 'gc'
                elif kind == 'caller':
                    f['caller'] = 'retry'
            for decoy, with_it, without in decoys:
                if r.random() >= (with_it if is_cause else without):
                    continue
                if decoy == 'child':
                    f['children'].append('audit')
                elif decoy == 'argument':
                    f['region'] = 'eu'
                elif decoy == 'number':
                    f['weight'] = r.randrange(2000, 3000)
                elif decoy == 'cpu' and f['cpu'] != 3:
                    f['cpu'] = 5
                elif decoy == 'before' and f['before'] != 'gc':
                    f['before'] = 'flush'
                elif decoy == 'caller' and f['caller'] != 'retry':
                    f['caller'] = 'batch'
        return f, slower, longest

    def stick(self, f, stays):
        """Change a feature of the requests only now and then."""
        for name, probability in stays.items():
            if name in self.sticky and self.random.random() < probability:
                f[name] = self.sticky[name]
            self.sticky[name] = f[name]

    def row(self, lane, name, begin, end, **more):
        return {'time': begin, 'dur': end - begin, 'name': name, **lane, **more}

    def switch(self, time, lane, letter):
        idle = {'tid': 0, 'pid': 0, 'comm': 'swapper'}
        one, two = (lane, idle) if letter else (idle, lane)
        return {'time': time, 'type': 'sched_switch', 'name': 'sched_switch', **lane, **one, 'cpu': lane['cpu'],
                'args': {'prev_comm': one['comm'], 'prev_pid': one['tid'], 'prev_prio': 120,
                         'prev_state': letter or 'R', 'next_comm': two['comm'], 'next_pid': two['tid'],
                         'next_prio': 120}}

    def wait(self, lane, begin, end, letter):
        """The events of a thread that is off its CPU from begin to end, and is woken shortly before."""
        woken = end - (end - begin) // 20 - 1
        waker = {'tid': 900, 'pid': 900, 'comm': 'worker', 'cpu': 8}
        yield self.switch(begin, lane, letter)
        if letter != 'R':
            yield {'time': woken, 'type': 'sched_waking', 'name': 'sched_waking', **waker,
                   'args': {'comm': lane['comm'], 'pid': lane['tid'], 'prio': 120, 'target_cpu': lane['cpu']}}
        yield self.switch(end, lane, None)

    def request(self):
        """The rows of a request and what is around it, by time."""
        r = self.random
        f, slower, longest = self.draw()
        tid = r.randrange(100, 106)
        lane = {'tid': tid, 'pid': 100, 'comm': 'server', 'cpu': f['cpu']}
        if f['before']:
            yield self.row(lane, f['before'], self.now, self.now + 2000)
            self.now += 2500
        outer = self.now
        self.now += 100
        base = int(r.lognormvariate(13, 0.5))
        if self.drifts:
            self.drift = self.stays * self.drift + r.gauss(0, math.sqrt(1 - self.stays ** 2))
            base = int(base * math.exp(0.5 * self.drift))
        total = int(base * slower)
        begin, end = self.now, self.now + total
        rows = []
        # shares of the time; the added time is in fsync, in a wait, or in the request itself
        shares = [r.random() for _ in f['children']]
        whole = sum(shares) + r.uniform(0.2, 1)
        at = begin
        for child, share in zip(f['children'], shares):
            length = int(base * share / whole)
            if child == 'fsync' and longest == 'child':
                length += total - base
            rows.append(self.row(lane, child, at, at + length))
            at += length
        if self.states:
            gap = end - at
            parts = [x * base / whole for x in (r.uniform(0.02, 0.1), r.uniform(0, 0.05))]
            waits = [(parts[0], 'S'), (parts[1], 'R')]
            if longest in ('state', 'waited'):
                waits.append((total - base, 'D'))
            elif r.random() < 0.3:
                waits.append((r.uniform(0.01, 0.05) * base / whole, 'D'))
            for length, letter in waits:
                length = min(int(length), gap - 50)
                if length > 30:
                    rows += self.wait(lane, at + 10, at + 10 + length, letter)
                    at += length + 20
                    gap = end - at
        args = {k: f[k] for k in ('mode', 'size', 'region', 'weight', 'user')}
        self.serial += 1
        args['id'] = self.serial
        yield self.row(lane, f['caller'], outer, end + 100)
        yield self.row(lane, 'request', begin, end, args=args)
        yield from rows
        self.now = end + 1000

    def write(self, out):
        for _ in range(self.calls):
            for row in self.request():
                out.write(json.dumps(row, separators=(',', ':')) + '\n')


def names(row, features):
    return any(row['feature'] == f and row['relation'] == r and v in (None, row['value']) for f, r, v in features)


def check(kinds, rows):
    causes = [CAUSES[k] for k in causes_of(kinds)]
    first = rows[:len(causes)] if causes else rows
    good = all(any(names(row, c) for row in first) for c in causes) and (bool(causes) or not rows)
    decoys = sum((row['feature'], v) in ((row['feature'], None), (row['feature'], row['value']))
                 for row in rows for f, v in DECOYS.values() if f == row['feature'])
    other = sum(not any(names(row, c) for c in causes) for row in rows) - decoys
    return good, decoys, other


def trials(kinds, first, last):
    good = decoys = other = doubt = 0
    for seed in range(first, last + 1):
        with tempfile.TemporaryFile('w+') as made:
            Trace(kinds, seed, 5000).write(made)
            made.seek(0)
            out = subprocess.run("trdecode -q -f ndjson | trstat -q -t json --explain-tail 'name == \"request\"'",
                                 shell=True, stdin=made, stdout=subprocess.PIPE, check=True).stdout
        rows = json.loads(out)
        result = check(kinds, rows)
        doubt += sum(row['low'] <= 1 for row in rows)
        good += result[0]
        decoys += result[1] > 0
        other += result[2] > 0
        if not result[0] and os.environ.get('VERBOSE'):
            print(seed, [row['difference'] for row in rows], file=sys.stderr)
    print(f'{kinds}: {good} of {last - first + 1}, {decoys} with a decoy, {other} with another row, {doubt} intervals with 1')


def main():
    mode, kinds, *rest = sys.argv[1:]
    if mode == 'make':
        Trace(kinds, int(rest[0]), int(rest[1]) if len(rest) > 1 else 10000).write(sys.stdout)
    elif mode == 'trials':
        trials(kinds, int(rest[0]), int(rest[1]))
    else:
        for path in rest:
            with open(path, encoding='utf-8') as f:
                good, decoys, other = check(kinds, json.load(f))
            print('yes' if good else 'no', decoys, other)


main()
