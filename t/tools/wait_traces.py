#!/usr/bin/env python3
"""Random traces of threads that wait for each other and for interrupts, with calls inside each other.

usage: wait_traces.py SEED EVENTS DIRECTORY

Writes trace, the text of ftrace; kernel.txt, the same events as perf script prints them, for waits.py; and spans: a line
for each call, of its name, tid, and times of begin and end.
"""
import random
import sys

FUNCTIONS = ['f%d' % i for i in range(6)]
INTERRUPTS = [('irq_handler', 'irq=%d name=disk', 'irq=%d ret=handled', 33),
              ('irq_handler', 'irq=%d name=net', 'irq=%d ret=handled', 34),
              ('softirq', 'vec=%d [action=NET_RX]', 'vec=%d [action=NET_RX]', 3),
              ('softirq', 'vec=%d [action=TIMER]', 'vec=%d [action=TIMER]', 1)]


class Thread:
    def __init__(self, tid, rng):
        self.tid = tid
        self.name = 't%d' % tid
        self.state = 'asleep'
        self.cpu = rng.randrange(2)
        self.priority = rng.choice([20, 98, 120, 120, 120, 130])
        self.calls = []  # (name, begin)


class Machine:
    def __init__(self, seed, directory):
        self.rng = random.Random(seed)
        self.ftrace = open(directory + '/trace', 'w')
        self.perf = open(directory + '/kernel.txt', 'w')
        self.spans = open(directory + '/spans', 'w')
        self.time = 10_000_000  # us
        self.threads = [Thread(tid, self.rng) for tid in range(11, 11 + self.rng.randrange(3, 9))]
        self.cpus = [None] * self.rng.randrange(1, 4)
        self.stacks = [[] for _ in self.cpus]
        self.idle = Thread(0, self.rng)
        self.idle.name, self.idle.priority = '<idle>', 120
        self.ftrace.write('# tracer: nop\n')

    def event(self, cpu, name, text, perf=True):
        self.time += self.rng.choice([1, 1, 2, 3, 5, 10, 50, 1000])
        t = self.cpus[cpu] or self.idle
        second, us = divmod(self.time, 1_000_000)
        hard = any(x[0] == 'irq_handler' for x in self.stacks[cpu]) or name.startswith('irq_')
        soft = any(x[0] == 'softirq' for x in self.stacks[cpu]) or name.startswith('softirq')
        flags = 'd..' + ('H' if hard and soft else 'h' if hard else 's' if soft else '.')
        self.ftrace.write('%16s-%-7d [%03d] %s. %5d.%06d: %s: %s\n' % (t.name, t.tid, cpu, flags, second, us, name, text))
        if perf:
            self.perf.write('%s %d/%d [%03d] %d.%06d000: %s: %s\n' % (t.name, t.tid, t.tid, cpu, second, us, name, text))

    def switch(self, cpu, letter, after):
        before = self.cpus[cpu] or self.idle
        to = after or self.idle
        self.event(cpu, 'sched_switch', 'prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d '
                   'next_prio=%d' % (before.name, before.tid, before.priority, letter, to.name, to.tid, to.priority))
        before.state = 'ready' if letter.startswith('R') else 'asleep'
        to.state = 'running'
        before.cpu = to.cpu = cpu
        self.cpus[cpu] = after

    def ready(self, cpu):
        of = [t for t in self.threads if t.state == 'ready' and t.cpu == cpu]
        return self.rng.choice(of) if of else None

    def wake(self, cpu):
        asleep = [t for t in self.threads if t.state == 'asleep']
        if not asleep:
            return
        t = self.rng.choice(asleep)
        on = self.rng.randrange(len(self.cpus))
        text = 'comm=%s pid=%d prio=%d target_cpu=%03d' % (t.name, t.tid, t.priority, on)
        self.event(cpu, 'sched_waking', text)
        t.state, t.cpu = 'ready', on
        if self.rng.random() < 0.7:
            self.event(cpu, 'sched_wakeup', text)

    def interrupt(self, cpu):
        stack = self.stacks[cpu]
        kind, begin, end, number = self.rng.choice(INTERRUPTS)
        if len(stack) < 2 and not any(x[0] == kind for x in stack) and not (kind == 'softirq' and stack):
            self.event(cpu, kind + '_entry', begin % number)
            stack.append((kind, end % number))

    def leave(self, cpu):
        stack = self.stacks[cpu]
        if stack:
            kind, end = stack[-1]
            self.event(cpu, kind + '_exit', end)
            stack.pop()

    def mark(self, cpu):
        t = self.cpus[cpu]
        if not t:
            return
        if t.calls and (len(t.calls) == 5 or self.rng.random() < 0.5):
            self.event(cpu, 'tracing_mark_write', 'E|%d' % t.tid, False)
            self.span(t, self.time)
        else:
            name = self.rng.choice(FUNCTIONS)
            self.event(cpu, 'tracing_mark_write', 'B|%d|%s' % (t.tid, name), False)
            t.calls.append((name, self.time))

    def span(self, t, end):
        name, begin = t.calls.pop()
        self.spans.write('%s %d %d000 %d000\n' % (name, t.tid, begin, end))

    def step(self):
        cpu = self.rng.randrange(len(self.cpus))
        dice = self.rng.random()
        if self.stacks[cpu]:
            # nothing is switched in an interrupt
            (self.wake if dice < 0.4 else self.leave if dice < 0.8 else self.interrupt)(cpu)
        elif dice < 0.25:
            self.mark(cpu)
        elif dice < 0.45:
            self.wake(cpu)
        elif dice < 0.55:
            self.interrupt(cpu)
        elif dice < 0.6:
            ready = [t for t in self.threads if t.state == 'ready']
            if ready and len(self.cpus) > 1:
                t = self.rng.choice(ready)
                to = self.rng.choice([x for x in range(len(self.cpus)) if x != t.cpu])
                self.event(cpu, 'sched_migrate_task', 'comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d' %
                           (t.name, t.tid, t.priority, t.cpu, to))
                t.cpu = to
        elif not self.cpus[cpu]:
            after = self.ready(cpu)
            if after:
                self.switch(cpu, 'R', after)
        elif dice < 0.8:
            self.switch(cpu, self.rng.choice('SSD'), self.ready(cpu))
        else:
            # a throttled thread leaves its CPU idle
            after = self.ready(cpu)
            if after or self.rng.random() < 0.1:
                self.switch(cpu, self.rng.choice(['R', 'R+']), after)
            if self.rng.random() < 0.1:
                self.rng.choice(self.threads).priority = self.rng.choice([20, 98, 120, 130])

    def run(self, events):
        for _ in range(events):
            self.step()
        for t in self.threads:
            while t.calls:
                self.span(t, self.time)


def main():
    seed, events, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    Machine(seed, directory).run(events)


main()
