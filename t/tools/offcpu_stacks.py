#!/usr/bin/env python3
"""Off-CPU times by the stack at which threads slept, from the text of perf script.

usage: offcpu_stacks.py [--waker] [--folded] <TEXT

TEXT is what `perf script --ns --no-inline -F comm,tid,time,event,ip,trace` prints of sched:sched_switch,
sched:sched_waking and sched:sched_wakeup. A thread sleeps from the sched_switch in which it is the previous
thread to the one in which it is the next; its waker is the thread of the first wakeup between them.

Each line is: thread name, stack (outermost frame first), time in ns, number of sleeps; with --waker the name
and the stack of the waker are before the time. --folded prints "name;frames NS" and, after a frame "--", the
waker's frames from the innermost one and its name. The idle threads, which have the number 0, do not sleep.
"""
import re
import sys

HEAD = re.compile(r"\s*(?P<comm>.*?)\s+(?P<tid>-?\d+)\s+(?P<time>\d+\.\d{9}):\s+sched:(?P<event>\w+):\s*(?P<rest>.*)$")
SWITCH = re.compile(r"prev_comm=(?P<prev_comm>.*) prev_pid=(?P<prev>\d+) .* ==> next_comm=.* next_pid=(?P<next>\d+)")
WAKE = re.compile(r"comm=.* pid=(?P<pid>\d+) prio=")


def events(lines):
    """Each event with its frames, innermost first."""
    event = None
    for line in lines:
        head = HEAD.match(line)
        if head:
            if event:
                yield event
            event = (head, [])
        elif line.strip():
            event[1].append("<" + line.split()[0] + ">")
    if event:
        yield event


def sleeps(lines):
    """(thread name, frames, waker or None, ns) of each sleep that has an end."""
    asleep = {}
    for head, frames in events(lines):
        time = int(head["time"].replace(".", ""))
        if head["event"] in ("sched_waking", "sched_wakeup"):
            pid = int(WAKE.match(head["rest"])["pid"])
            if pid in asleep and asleep[pid][3] is None:
                asleep[pid][3] = (head["comm"], frames)
            continue
        switch = SWITCH.match(head["rest"])
        next_pid, prev = int(switch["next"]), int(switch["prev"])
        if next_pid and next_pid in asleep:
            begin, comm, slept, waker = asleep.pop(next_pid)
            yield comm, slept, waker, time - begin
        if prev:
            asleep[prev] = [time, switch["prev_comm"], frames, None]


def main():
    options = sys.argv[1:]
    totals = {}
    for comm, frames, waker, ns in sleeps(sys.stdin):
        key = [comm, ";".join(reversed(frames))]
        if "--folded" in options:
            key = [comm.replace(" ", "_")] + list(reversed(frames))
            if waker and "--waker" in options:
                key += ["--"] + waker[1] + [waker[0].replace(" ", "_")]
            key = [";".join(key)]
        elif "--waker" in options:
            key += [waker[0], ";".join(reversed(waker[1]))] if waker else ["", ""]
        total = totals.setdefault(tuple(key), [0, 0])
        total[0] += ns
        total[1] += 1
    for key, (ns, count) in totals.items():
        if "--folded" in options:
            if ns:
                print(key[0], ns)
        else:
            print(*key, ns, count, sep="\t")


main()
