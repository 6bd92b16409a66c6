#!/usr/bin/env python3
"""The model of the states of calls (common/scheduling/states.h): what the texts of the systems' own tools
say that the thread of each call did, from its begin to its end.

    states.py calls|oncpu|offcpu|wakeup|syscall|tasks|packets TOOL TEXT [TOOL TEXT]...

    trace-cmd   trace-cmd report -R -t
    kernel      trace-cmd report, and the file trace of tracefs
    perf        perf script --ns -F tid,cpu,time,event,trace
    uftrace     uftrace dump
    lttng       babeltrace; of old LTTng the listings of t/data/recorded/lttng-legacy

It prints a line for each call or pair: its end, the tid, the name (calls), the time, and the times
running, runnable, sleeping, blocked, iowait, irq, offcpu and unknown, in ns. Each thread gets a list of its
states first; then the list is cut at the edges of the calls.

With tasks it prints a line for each time of a thread in a known state: its begin, the tid, the state, and the
time. With packets it prints
the events, and the system calls as marks of atrace, as text of Perfetto's packets, for protoc.
"""
import bisect
import re
import sys

STATES = 'running runnable sleeping blocked iowait irq offcpu unknown'.split()
WAKES = 'sched_waking', 'sched_wakeup', 'sched_wakeup_new'
LETTERS = {'R': 'runnable', 'D': 'blocked', 'K': 'blocked', 'N': 'blocked', 'X': 'unknown', 'Z': 'unknown'}


def ns(text):
    hours, fraction = text.split('.')
    seconds = 0
    for part in hours.split(':'):
        seconds = 60 * seconds + int(part)
    return seconds * 10**9 + int(fraction.ljust(9, '0'))


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


def kernel(lines):
    for line in lines:
        m = re.match(r'.*?-(\d+) +(?:\([-\d ]+\) +)?\[(\d+)\](?: +[a-zA-Z.\d]{4,5})? +(\d+\.\d+): (\w+): +(.*)', line)
        if not m:
            continue
        tid, cpu, time, event, rest = m.groups()
        f = dict(re.findall(r'(\w+)=(\S+)', rest))
        if 'prev_state' not in f and event == 'sched_switch':
            s = re.match(r'.*:(\d+) \[\d+\] (\S+) ==> .*:(\d+) \[', rest)
            f = dict(zip(('prev_pid', 'prev_state', 'next_pid'), s.groups()))
        elif 'pid' not in f and event in WAKES:
            f['pid'] = re.match(r'.*:(\d+) \[', rest).group(1)
        elif event in ('sys_enter', 'sys_exit'):
            f['nr'] = rest.split()[1]
        yield ns(time), int(cpu), int(tid), event, f


LEGACY = {'sched_schedule': 'sched_switch', 'sched_try_wakeup': 'sched_wakeup', 'sched_wakeup_new_task': 'sched_wakeup_new',
          'irq_entry': 'irq_handler_entry', 'irq_exit': 'irq_handler_exit', 'softirq_entry': 'softirq_entry',
          'softirq_exit': 'softirq_exit', 'syscall_entry': 'sys_enter', 'syscall_exit': 'sys_exit'}


def lttng(lines):
    """Events have no thread: it is the one that was switched to on the CPU."""
    on = {}
    for line in lines:
        m = re.match(r'\[([\d:]+\.\d+)\] \(\S+\) (?:\S+ )?(\w+): \{ cpu_id = (\d+) \}, \{(.*)\}', line) or \
            re.match(r'(\d+\.\d+) \w+?_(\d+) \w+\.(\w+) \{(.*)\}', line)
        if not m:
            continue
        time, event, cpu, rest = m.groups()
        old = event.isdigit()
        if old:
            event, cpu = LEGACY.get(cpu, cpu), event
        f = {k.replace('_tid', '_pid'): v.strip('"') for k, v in re.findall(r'(\w+) = ("[^"]*"|[^ ,]+)', rest)}
        f['pid'] = f.get('tid', f.get('pid'))
        if 'prev_state' in f:
            # kernels of that time: the bit 0x80 is TASK_WAKEKILL
            f['prev_state'] = letters_of(int(f['prev_state'], 0) & (0x7f if old else -1))
            on[cpu] = int(f['next_pid'])
        if event.startswith('syscall_e'):
            _, event, f['nr'] = event.split('_', 2)
            event = 'sys_enter' if event == 'entry' else 'sys_exit'
        event = event.replace('irq_softirq', 'softirq')
        yield ns(time), int(cpu), int(f['prev_pid']) if 'prev_pid' in f else on.get(cpu, -1), event, f


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
        elif event in WAKES:
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
    def __init__(self, wakes_unknown):
        self.wakes_unknown = wakes_unknown  # a wakeup shows that a thread is runnable, whatever it was before
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
        elif event in WAKES:
            known = self.now.get(int(f['pid']), 'unknown') != 'unknown'
            if self.off(int(f['pid'])) or (self.wakes_unknown and not known) or (event == 'sched_wakeup_new'
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


def tasks(threads, last):
    for tid, begins in threads.times.items():
        for begin, end, state in zip(begins, begins[1:] + [last], threads.states[tid]):
            if state != 'unknown' and end > begin:
                print(begin, tid, state, end - begin, sep='\t')


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
        elif what == 'wakeup' and event in WAKES:
            open_[int(f['pid'])] = time


TOOLS = {'trace-cmd': trace_cmd, 'kernel': kernel, 'perf': perf, 'uftrace': uftrace, 'lttng': lttng}


def packets(events):
    """Perfetto's packets as text: events of each CPU in bundles, some with compact switches, as its recorder has
    them, and each system call as marks of atrace."""
    marks = [m for begin, end, tid in pairs(events, 'syscall')
             for m in ((begin, tid, 'B|%d|call' % tid), (end, tid, 'E|%d' % tid))]
    cpus = {(time, tid): cpu for time, cpu, tid, event, f in events if event in ('sys_enter', 'sys_exit')}
    rows = events + [(time, cpus[time, tid], tid, 'print', {'buf': buf}) for time, tid, buf in marks]
    bundles, known = {}, set()
    for i, row in enumerate(sorted(rows, key=lambda r: r[0])):
        bundles.setdefault((row[1], i // 300), []).append(row)
    print('packet { trusted_packet_sequence_id: 1 timestamp: 1 }')
    for (cpu, part), rows in sorted(bundles.items(), key=lambda b: b[0][::-1]):
        # compact ones have no thread that ran before
        compact = cpu in known and part % 2 and [r for r in rows if r[3] == 'sched_switch']
        print('packet { trusted_packet_sequence_id: 1 ftrace_events { cpu: %d' % cpu)
        for time, _, tid, event, f in [r for r in rows if not compact or r[3] != 'sched_switch']:
            names = {'sched_switch': ('prev_pid', 'prev_state', 'next_pid'), 'print': ('buf',), 'irq_handler_entry': ('irq',),
                     'irq_handler_exit': ('irq',), 'softirq_entry': ('vec',), 'softirq_exit': ('vec',)}
            names = names.get(event, ('pid',) if event in WAKES else ())
            text = ' '.join('%s: %s' % (n, '"%s"' % f[n] if n == 'buf' else NUMBERS.get(f[n], f[n])) for n in names)
            if names:
                print('event { timestamp: %d pid: %d %s { %s } }' % (time, tid, event, text))
        if compact:
            steps = [b[0] - a[0] for a, b in zip([(0,)] + compact, compact)]
            print('compact_sched { intern_table: "x" switch_timestamp: %s switch_prev_state: %s switch_next_pid: %s '
                  'switch_next_prio: %s switch_next_comm_index: %s }' % (
                      steps, [NUMBERS[r[4]['prev_state']] for r in compact], [int(r[4]['next_pid']) for r in compact],
                      [120] * len(compact), [0] * len(compact)))
        print('} }')
        known.update(r[1] for r in rows if r[3] == 'sched_switch')


NUMBERS = dict(zip('RSDTtXZPI', (0, 1, 2, 4, 8, 16, 32, 64, 0x402)))


def main():
    what, events = sys.argv[1], []
    for tool, text in zip(sys.argv[2::2], sys.argv[3::2]):
        with open(text, errors='replace') as lines:
            events += TOOLS[tool](lines)
    events.sort(key=lambda e: e[0])
    if what == 'packets':
        return packets(events)
    threads = Threads(what == 'tasks')
    for e in events:
        threads.take(*e)
    if what == 'tasks':
        return tasks(threads, events[-1][0])
    for begin, end, tid, *name in calls(events) if what == 'calls' else pairs(events, what):
        print(end, tid, *name, end - begin, *threads.between(tid, begin, end), sep='\t')


if __name__ == '__main__':
    main()
