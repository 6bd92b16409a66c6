#!/usr/bin/env python3
"""Whom threads waited for, of the text of perf script: a model of trstat --why, written from trstat(1).

usage: waits.py TEXT [TID BEGIN END]...

The times are those of the text, in seconds. Prints a row for each kind of part of the paths of all spans: total in ns,
depth, what, thread, what it is for; separated by tabs, in any order.
"""
import bisect
import collections
import re
import sys

LINE = re.compile(r'\s*(.*?)\s+(-?\d+)/(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+(?:\w+:)?(\w+): ?(.*)')
SWITCH = re.compile(r'prev_comm=(.*) prev_pid=(\d+) prev_prio=(-?\d+) prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d+)'
                    r' next_prio=(-?\d+)')
WAKE = re.compile(r'comm=(.*) pid=(\d+) prio=(-?\d+) target_cpu=(\d+)')
MIGRATE = re.compile(r'comm=(.*) pid=(\d+) prio=(-?\d+) orig_cpu=(\d+) dest_cpu=(\d+)')
TIMERS = {'hrtimer_expire': 'hrtimer', 'timer_expire': 'timer'}
COUNTED = ('irq', 'softirq')  # interrupts whose time is not that of the thread
RUNNABLE = ('woken', 'preempted', 'moved')  # moved: preempted, and taken by another CPU

names = {}


class Thread:
    def __init__(self):
        self.periods = []  # [begin, state, cpu, waker, priority], each up to the next one
        self.waking = None
        self.priority = None

    def begin(self, time, state, cpu=None, waker=None):
        self.periods.append([time, state, cpu, waker, self.priority])


threads = collections.defaultdict(Thread)
turns = collections.defaultdict(list)  # by CPU: [begin, tid, priority]
active = collections.defaultdict(list)  # by CPU: names of the interrupts that run


def state(tid):
    t = threads[tid]
    return t.periods[-1][1] if t.periods else None


def interrupt_name(kind, text):
    if kind == 'irq_handler':
        return 'irq ' + re.search(r'name=(.*)', text).group(1)
    if kind == 'softirq':
        return 'softirq ' + re.search(r'action=(\w+)', text).group(1)
    return TIMERS.get(kind, kind)


def innermost(stack):
    return next((x for x in reversed(stack) if x.split()[0] in COUNTED), None)


def interrupt(time, cpu, name, text):
    kind, edge = name.rsplit('_', 1)
    stack = active[cpu]
    before = innermost(stack)
    if edge == 'entry':
        stack.append(interrupt_name(kind, text))
    elif stack:
        stack.pop()
    after = innermost(stack)
    current = turns[cpu][-1][1] if turns[cpu] else 0
    if before == after or not current:
        return
    if after and state(current) in ('running', 'interrupted'):
        threads[current].begin(time, 'interrupted', cpu, after)
    elif not after and state(current) == 'interrupted':
        threads[current].begin(time, 'running', cpu)


def switch(time, cpu, match):
    prev, prev_priority, letter, tid, priority = (int(match[2]), int(match[3]), match[4], int(match[6]), int(match[7]))
    names.setdefault(prev, match[1])
    names.setdefault(tid, match[5])
    threads[prev].priority, threads[tid].priority = prev_priority, priority
    active[cpu].clear()
    if prev:
        t = threads[prev]
        if not t.periods and not turns[cpu]:
            t.begin(0, 'running', cpu)
        t.begin(time, 'preempted' if letter.startswith('R') else 'asleep', cpu)
    if not turns[cpu]:
        turns[cpu].append((0, prev, prev_priority))
    turns[cpu].append((time, tid, priority))
    if tid:
        t = threads[tid]
        t.waking = None
        if t.periods and t.periods[-1][1] == 'woken':
            t.periods[-1][2] = cpu
        elif t.periods and t.periods[-1][1] == 'preempted' and t.periods[-1][2] != cpu:
            t.periods[-1][1] = 'moved'
        t.begin(time, 'running', cpu)


def wake(time, cpu, name, tid, match):
    woken = int(match[2])
    t = threads[woken]
    waker = active[cpu][-1] if active[cpu] else tid if tid else 'interrupt of an idle CPU'
    if name == 'sched_waking':
        t.waking = (time, waker)
    elif t.waking:
        begun, waker = t.waking
        t.waking = None
        if state(woken) == 'asleep' and begun <= t.periods[-1][0]:
            # it was woken on its way to sleep
            t.periods[-1][1] = 'woken'
            t.periods[-1][3] = waker
            return
    if state(woken) in ('asleep', None):
        if not t.periods:
            t.begin(0, 'asleep')
        t.begin(time, 'woken', None, waker)
    if state(woken) == 'woken':
        # unless it runs on another one
        t.periods[-1][2] = int(match[4])


def migrate(time, match):
    t = threads[int(match[2])]
    if t.periods and t.periods[-1][1] in RUNNABLE:
        what = t.periods[-1][1]
        t.periods[-1][2] = int(match[4])
        t.periods.append([time, 'woken' if what == 'woken' else 'moved', int(match[5]), None, t.priority])


def read(path):
    for line in open(path):
        match = LINE.match(line)
        if not match:
            sys.exit('waits.py: ' + line)
        comm, tid, cpu, name, text = match[1], int(match[3]), int(match[4]), match[7], match[8]
        time = int(match[5] + match[6])
        if tid >= 0:
            names[tid] = comm
        if name == 'sched_switch':
            switch(time, cpu, SWITCH.match(text))
        elif name == 'sched_migrate_task':
            migrate(time, MIGRATE.match(text))
        elif name.startswith('sched_wak'):
            wake(time, cpu, name, tid, WAKE.match(text))
        else:
            interrupt(time, cpu, name, text)


def path(chain, begin, end, put):
    """Follow the last thread of a chain from end back to begin."""
    tid = chain[-1]
    periods = threads[tid].periods
    at = bisect.bisect_left(periods, end, key=lambda p: p[0]) - 1
    while end > begin:
        if at < 0:
            put(chain, begin, end, 'unknown', 'no switch recorded')
            return
        since, what, cpu, who, priority = periods[at]
        low = max(since, begin)
        after = periods[at + 1] if at + 1 < len(periods) else None
        if low < end:
            if what == 'running':
                put(chain, low, end, 'running', '')
            elif what == 'interrupted':
                put(chain, low, end, 'interrupted', who)
            elif what == 'asleep':
                sleep(chain, low, end, after, put)
            else:
                queue(chain, low, end, periods[at], put)
        end, at = low, at - 1


def sleep(chain, begin, end, after, put):
    waker = after[3] if after and after[0] == end else None
    if not after and len(chain) == 1:
        put(chain, begin, end, 'unknown', 'not woken before the end')
    elif waker is None:
        put(chain, begin, end, 'unknown', 'no wakeup recorded')
    elif isinstance(waker, str):
        put(chain, begin, end, 'waiting for an interrupt', waker)
    else:
        path(chain + [waker], begin, end, put)


def queue(chain, begin, end, period, put):
    """Divide the time of a runnable thread by the turns of its CPU."""
    what, cpu, priority = period[1], period[2], period[4]
    of = turns[cpu]
    for since, tid, turn in reversed(of[:bisect.bisect_left(of, end, key=lambda p: p[0])]):
        low = max(since, begin)
        if low < end:
            if not tid:
                throttled = what == 'preempted' or (what == 'moved' and since == period[0])
                put(chain, low, end, 'throttled' if throttled else 'waiting for an idle CPU', '')
            else:
                waits = [priority_at(x, end) for x in chain[:-1]]
                inverted = priority is not None and any(x is not None and x < turn < priority for x in waits)
                put(chain, low, end, 'priority inversion' if inverted else 'waiting for a CPU', name_of(tid))
        end = low
        if end <= begin:
            return
    put(chain, begin, end, 'waiting for a CPU', '')


def priority_at(tid, time):
    periods = threads[tid].periods
    return periods[bisect.bisect_left(periods, time, key=lambda p: p[0]) - 1][4]


def name_of(tid):
    return '%s-%d' % (names[tid], tid)


def main():
    read(sys.argv[1])
    rows = collections.Counter()

    def put(chain, begin, end, what, other):
        rows[len(chain) - 1, what, name_of(chain[-1]), other] += end - begin

    spans = sys.argv[2:]
    for tid, begin, end in zip(spans[::3], spans[1::3], spans[2::3]):
        whole = [int(x.replace('.', '')) for x in (begin, end)]
        path([int(tid)], *whole, put)
    for key, total in rows.items():
        if total:
            print(total, *key, sep='\t')


main()
