#!/usr/bin/env python3
"""The model of the states of calls (common/scheduling/states.h): what the texts of the systems' own tools
say that the thread of each call did, from its begin to its end.

    states.py calls|oncpu|offcpu|wakeup|syscall TOOL TEXT [TOOL TEXT]...

    trace-cmd   trace-cmd report -R -t
    perf        perf script --ns -F tid,cpu,time,event,trace
    uftrace     uftrace dump

It prints a line for each call or pair: its end, the tid, the name (calls), the time, and the times
running, runnable, sleeping, blocked, iowait, irq, offcpu and unknown, in ns. Each thread gets a list of its
states first; then the list is cut at the edges of the calls.
"""
import bisect
import re
import sys

STATES = 'running runnable sleeping blocked iowait irq offcpu unknown'.split()
LETTERS = {'R': 'runnable', 'D': 'blocked', 'K': 'blocked', 'N': 'blocked'}


def ns(text):
    seconds, fraction = text.split('.')
    return int(seconds) * 10**9 + int(fraction.ljust(9, '0'))


def cause(letters):
    """The state of a thread that leaves its CPU, from the kernel's letters."""
    return LETTERS.get(letters[0], 'sleeping') if letters else 'offcpu'


def letters_of(number):
    """Those of kernels from 4.14 on: the bit after the states is that of pre-emption."""
    if number & 0x80:
        return 'I'
    for bit, letter in enumerate('SDTtXZP'):
        if number >> bit & 1:
            return letter
    return 'R'


def trace_cmd(lines):
    for line in lines:
        m = re.match(r'.*?-(\d+) +\[(\d+)\] +(\d+\.\d+): (\w+): +(.*)', line)
        if not m:
            continue
        tid, cpu, time, event, rest = m.groups()
        f = dict(re.findall(r'(\w+)=(\S+)', rest))
        if 'prev_state' in f:
            f['prev_state'] = letters_of(int(f['prev_state'], 0))
        yield ns(time), int(cpu), int(tid), event, f


def perf(lines):
    for line in lines:
        m = re.match(r' *(-?\d+) +\[(\d+)\] +(\d+\.\d+): +\w+:(\w+): (.*)', line)
        if not m:
            continue
        tid, cpu, time, event, rest = m.groups()
        if event == 'sched_switch':
            s = re.match(r'prev_comm=.* prev_pid=(\d+) prev_prio=\S+ prev_state=(\S+) ==> '
                         r'next_comm=.* next_pid=(\d+)', rest)
            f = dict(zip(('prev_pid', 'prev_state', 'next_pid'), s.groups()))
        elif event.startswith('sched_wak'):
            f = {'pid': re.search(r' pid=(\d+)', ' ' + rest).group(1)}
        else:
            f = {'nr': rest.split()[1]} if rest.startswith('NR') else {}
        yield ns(time), int(cpu), int(tid), event, f


def uftrace(lines):
    events = []
    for line in lines:
        m = re.match(r' *(\d+\.\d+) +(\d+): \[(entry|exit |event)\] (.*)', line)
        if not m:
            continue
        time, tid, kind, rest = m.groups()
        name = re.match(r'(.*)\(', rest).group(1)
        if kind == 'event':
            events.append((ns(time), None, int(tid), name, {}))
        else:
            event = 'funcgraph_entry' if kind == 'entry' else 'funcgraph_exit'
            events.append((ns(time), None, int(tid), event, {'func': name}))
    return events


class Threads:
    def __init__(self):
        self.times, self.states, self.now, self.cpus = {}, {}, {}, {}

    def set(self, tid, state, time):
        if tid == 0 or self.now.get(tid) == state:
            return
        self.now[tid] = state
        self.times.setdefault(tid, []).append(time)
        self.states.setdefault(tid, []).append(state)

    def off(self, tid):
        return self.now.get(tid, 'unknown') in ('sleeping', 'blocked', 'iowait', 'offcpu')

    def take(self, time, cpu, tid, event, f):
        if event in ('sys_enter', 'sys_exit') and self.now.get(tid, 'irq') not in ('running', 'irq', 'unknown'):
            self.states[tid][-1] = self.now[tid] = 'unknown'
        on = self.cpus.setdefault(cpu, {'tid': 0, 'depth': 0})
        if event == 'sched_switch':
            if self.now.get(int(f['prev_pid']), 'running') not in ('running', 'irq', 'unknown'):
                self.states[int(f['prev_pid'])][-1] = 'unknown'  # the switch back is missing
            self.set(int(f['prev_pid']), cause(f['prev_state']), time)
            self.set(int(f['next_pid']), 'running', time)
            on.update(tid=int(f['next_pid']), depth=0)
        elif event.startswith('sched_wak'):
            if self.off(int(f['pid'])) or (event == 'sched_wakeup_new'
                                           and int(f['pid']) not in self.now):
                self.set(int(f['pid']), 'runnable', time)
        elif event in ('irq_handler_entry', 'softirq_entry'):
            on['depth'] += 1
            if self.now.get(on['tid']) == 'running':
                self.set(on['tid'], 'irq', time)
        elif event in ('irq_handler_exit', 'softirq_exit') and on['depth']:
            on['depth'] -= 1
            if not on['depth'] and self.now.get(on['tid']) == 'irq':
                self.set(on['tid'], 'running', time)
        elif event.startswith('linux:sched-out'):
            self.set(tid, 'runnable' if 'pre-empted' in event else 'offcpu', time)
        elif event == 'linux:sched-in':
            self.set(tid, 'running', time)

    def between(self, tid, begin, end):
        out = dict.fromkeys(STATES, 0)
        times, states = self.times.get(tid, []), self.states.get(tid, [])
        i = bisect.bisect_right(times, begin)
        at, state = begin, states[i - 1] if i else 'unknown'
        while i < len(times) and times[i] < end:
            out[state] += times[i] - at
            at, state = times[i], states[i]
            i += 1
        out[state] += end - at
        return [out[s] for s in STATES]


def calls(events):
    """(begin, end, tid, name) of the calls; those that are open at the end last until the last
    event of their thread."""
    stacks, last = {}, {}
    for time, cpu, tid, event, f in events:
        last[tid] = time
        stack = stacks.setdefault(tid, [])
        if event == 'funcgraph_entry':
            stack.append((time, f['func'], f.get('depth')))
        elif event == 'funcgraph_exit':
            while stack and stack[-1][2] != f.get('depth'):
                stack.pop()
            if stack:
                yield stack.pop()[0], time, tid, f['func']
    for tid, stack in stacks.items():
        for begin, name, _ in stack:
            yield begin, last[tid], tid, name


def pairs(events, what):
    """(begin, end, tid) of a preset of --pair."""
    open_ = {}
    for time, cpu, tid, event, f in events:
        switch = event == 'sched_switch'
        if what == 'syscall' and event == 'sys_exit':
            key = tid, f.get('nr', f.get('id'))
            if key in open_:
                yield open_.pop(key), time, tid
        elif what == 'syscall' and event == 'sys_enter':
            open_[tid, f.get('nr', f.get('id'))] = time
        elif switch:
            prev, next_ = int(f['prev_pid']), int(f['next_pid'])
            begin, end = (next_, prev) if what == 'oncpu' else (prev, next_)
            if end and end in open_ and what != 'syscall':
                yield open_.pop(end), time, end
            if begin and what in ('oncpu', 'offcpu'):
                open_[begin] = time
        elif what == 'wakeup' and event.startswith('sched_wak'):
            open_[int(f['pid'])] = time


def main():
    what, events = sys.argv[1], []
    for tool, text in zip(sys.argv[2::2], sys.argv[3::2]):
        with open(text, errors='replace') as lines:
            events += {'trace-cmd': trace_cmd, 'perf': perf, 'uftrace': uftrace}[tool](lines)
    events.sort(key=lambda e: e[0])
    threads = Threads()
    for e in events:
        threads.take(*e)
    for begin, end, tid, *name in calls(events) if what == 'calls' else pairs(events, what):
        print(end, tid, *name, end - begin, *threads.between(tid, begin, end), sep='\t')


if __name__ == '__main__':
    main()
