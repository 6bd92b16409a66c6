#!/usr/bin/env python3
"""What a recording of the kernel's scheduler has to become: a model of its own for encode_scheduling.bats.

    scheduling.py slices ORIGIN <LISTING    slices, states and flows, as chrome_scheduling.jq prints those of Trace
                                            Event JSON; their times are since ORIGIN, in ns
    scheduling.py events <LISTING           the events that Perfetto's bundles hold: time, CPU, name, fields
    scheduling.py bundles <TEXT             the same of the bundles in what protoc --decode prints

A LISTING has lines of trace-cmd report -R -t, of perf script --ns -F comm,tid,cpu,time,event,trace, or of
babeltrace2 --clock-seconds --no-delta.
"""
import re
import sys
from collections import defaultdict

LINES = (
    re.compile(r"^ *(?P<comm>.*)-(?P<tid>\d+) +\[(?P<cpu>\d+)\] +(?P<s>\d+)\.(?P<ns>\d{9}): +(?P<name>\w+): *(?P<rest>.*)$"),
    re.compile(r"^ *(?P<comm>.*?) +(?P<tid>\d+) +\[(?P<cpu>\d+)\] +(?P<s>\d+)\.(?P<ns>\d{9}):(?: +\w+:| (?=PERF_RECORD))(?P<name>\w+):? *(?P<rest>.*)$"),
    re.compile(r"^\[(?P<s>\d+)\.(?P<ns>\d{9})\] .*?(?P<name>\w+): \{ cpu_id = (?P<cpu>\d+) \}, (?P<rest>.*)$"),
)
# the bits of kernel 4.14 and later, as its print fmt has them, and those of 4.4, in which Perfetto reads them
LETTERS = "SDTtXZPI"
BITS_4_4 = {"S": 1, "D": 2, "T": 4, "t": 8, "X": 16, "Z": 32, "K": 0x80, "P": 0x200, "I": 0x402, "N": 0x400, "+": 0x800, "R": 0}
STATES = {"R": "Runnable", "S": "Sleeping", "D": "Uninterruptible", "T": "Stopped", "t": "Traced", "P": "Parked", "I": "Idle"}
WAKES = ("sched_waking", "sched_wakeup", "sched_wakeup_new")
# number of each event's message in FtraceEvent is its name in t/proto/perfetto.proto
HELD = WAKES + ("sched_switch", "irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit", "softirq_raise",
                "sched_process_exit", "sched_process_fork", "sched_process_free", "sched_process_wait", "sched_process_exec",
                "cpu_frequency", "cpu_frequency_limits", "cpu_idle", "rss_stat")


def letters(state):
    if not re.fullmatch(r"(0x)?[0-9a-f]+", state):
        return state
    number = int(state, 0)
    # LTTng has the bit of TASK_NOLOAD, which with D is an idle kernel thread
    text = "|".join(c for i, c in enumerate(LETTERS + "KWN" if number & 255 else LETTERS) if number >> i & 1)
    return text or ("R+" if number else "R")


def read(file, origin=0):
    for line in file:
        line = line.rstrip("\n")
        match = next(filter(None, (pattern.match(line) for pattern in LINES)), None)
        if not match:
            continue
        event = match.groupdict()
        text = event["rest"]
        if text.startswith("{"):
            fields = {k: v.strip('"') for k, v in re.findall(r"(\w+) = (\"[^\"]*\"|[^ ,}]+)", text)}
            fields = {k.replace("tid", "pid"): v for k, v in fields.items() if "pid" not in k or k.replace("pid", "tid") not in fields}
        else:
            fields = dict(re.findall(r"(\w+)=(.*?)(?= +==>| +\[action|,? +\w+=|$)", text))
        yield {"time": int(event["s"]) * 10**9 + int(event["ns"]) - origin, "cpu": int(event["cpu"]), "name": event["name"],
               "tid": event.get("tid"), **{"f": fields}}


def row(*items):
    print(*items, sep="\t")


def slices(events):
    cpus, threads, first, last = defaultdict(list), defaultdict(list), {}, {}
    irqs, begun = defaultdict(list), set()
    for e in events:
        f, cpu, time = e["f"], e["cpu"], e["time"]
        first.setdefault(cpu, time)
        if e["name"] == "sched_switch":
            runs = cpus[cpu][-1]["f"]["next_pid"] if cpus[cpu] else None
            if runs and runs != f["prev_pid"]:
                # events are missing: nothing is known of that thread after the last event of the CPU
                threads[runs].append(("cut", last[cpu], cpu, ""))
            cpus[cpu].append({**e, "last": last.get(cpu)})
            threads[f["prev_pid"]].append(("out" if runs else "first", time, cpu, letters(f["prev_state"])))
            threads[f["next_pid"]].append(("in", time, cpu, ""))
        elif e["name"] in WAKES:
            # where the waker is: in an interrupt, a softirq, or the thread that runs
            track = next((t for t in ("irq", "softirq") if irqs[cpu, t]), "cpu")
            threads[f["pid"]].append(("wake", time, cpu, track))
        for track in "irq", "softirq":
            number = f.get("irq" if track == "irq" else "vec")
            if e["name"] == ("irq_handler_entry" if track == "irq" else "softirq_entry"):
                irqs[cpu, track].append((number, time))
            elif e["name"] == ("irq_handler_exit" if track == "irq" else "softirq_exit") and irqs[cpu, track]:
                entered, start = irqs[cpu, track].pop()
                assert entered == number
                row(track, cpu, start, time, number)
        last[cpu] = until = time
    for cpu, list_ in cpus.items():
        before = {"time": first[cpu], "f": {"next_pid": list_[0]["f"]["prev_pid"], "next_comm": list_[0]["f"]["prev_comm"]}}
        for i, e in enumerate(list_):
            if before["f"]["next_pid"] != e["f"]["prev_pid"]:
                if e["last"] > before["time"]:
                    begun.add((cpu, before["time"]))
                    row("cpu", cpu, before["time"], e["last"], before["f"]["next_pid"], "")
            elif e["time"] > before["time"]:
                begun.add((cpu, before["time"]))
                row("cpu" if i else "unseen", cpu, before["time"], e["time"], e["f"]["prev_pid"], letters(e["f"]["prev_state"]))
            before = e
        if before["time"] < until:
            begun.add((cpu, before["time"]))
            row("open", cpu, before["time"], before["f"]["next_pid"])
    for tid, list_ in threads.items():
        state = since = wake = None
        for what, time, cpu, more in list_ if tid != "0" else ():
            if what == "wake" and state in ("Running", "Runnable"):
                continue
            if state and time > since:
                row("state", tid, since, time, state)
            elif not state and what == "first" and time > first[cpu]:
                row("state", tid, first[cpu], time, "Running")
            if what == "wake":
                state, wake = "Runnable", (cpu, more, time)
            elif what == "in":
                state = "Running"
                # a flow ends at a slice
                if wake and (cpu, time) in begun:
                    row("flow", *wake, cpu, time)
                wake = None
            elif what == "cut":
                state = None
            else:
                # R+ is R and the bit of preemption; nothing follows an exit
                state = "Idle" if more == "D|N" else STATES.get(more[0])
            since = time
        if state and since < until:
            row("open state", tid, since, state)


def events_held(events):
    waking = False
    for e in events:
        f = dict(e["f"])
        waking = waking or e["name"] == "sched_waking"
        # a message of Perfetto has no arrays: such an event stays an instant
        if e["name"] not in HELD or "vpids" in f:
            continue
        if "prev_state" in f:
            f["prev_state"] = sum(BITS_4_4[c] for c in letters(f["prev_state"]) if c != "|")
        for key in "target_cpu", "cpu_id":
            if key in f:
                f[key] = int(f[key])
        # a wakeup without wakings is a derived waking, too
        for name in [e["name"]] + ["sched_waking"] * (e["name"] == "sched_wakeup" and not waking):
            row(e["time"], e["cpu"], name, " ".join(f"{k}={v}" for k, v in sorted(f.items())))


def message(lines):
    """The next message of protoc's text: [(name, value)], the value being text or a message."""
    out = []
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            out.append((line[:-2], message(lines)))
        else:
            name, _, value = line.partition(": ")
            out.append((name, value[1:-1] if value.startswith('"') else value))
    return out


def bundles(file):
    """The events of bundles. A row of the columns has its other fields from the switch before it on its CPU."""
    events = []
    for _, packet in message(iter(file)):
        for name, bundle in packet:
            if name != "ftrace_events":
                continue
            cpu = int(dict(bundle)["cpu"])
            for name, part in bundle:
                if name == "event":
                    (kind, fields), = [p for p in part if isinstance(p[1], list)]
                    events.append((int(dict(part)["timestamp"]), cpu, kind, dict(fields), int(dict(part)["pid"])))
                elif name == "compact_sched":
                    columns = defaultdict(list)
                    for column, value in part:
                        columns[column].append(value)
                    comms = columns["intern_table"]
                    time = 0
                    for delta, state, pid, prio, comm in zip(*(columns["switch_" + c] for c in (
                            "timestamp", "prev_state", "next_pid", "next_prio", "next_comm_index"))):
                        time += int(delta)
                        events.append((time, cpu, "switch row", {"prev_state": state, "next_pid": pid, "next_prio": prio,
                                                                 "next_comm": comms[int(comm)]}, None))
                    time = 0
                    for delta, pid, target, prio, comm in zip(*(columns["waking_" + c] for c in (
                            "timestamp", "pid", "target_cpu", "prio", "comm_index"))):
                        time += int(delta)
                        events.append((time, cpu, "sched_waking", {"comm": comms[int(comm)], "pid": pid, "prio": prio,
                                                                   "target_cpu": target}, None))
    last = {}
    for time, cpu, name, fields, _ in sorted(events, key=lambda e: e[0]):
        if name == "switch row":
            name = "sched_switch"
            fields.update((k.replace("next", "prev"), v) for k, v in last[cpu].items())
        if name == "sched_switch":
            last[cpu] = {k: fields[k] for k in ("next_comm", "next_pid", "next_prio")}
        row(time, cpu, name, " ".join(f"{k}={v}" for k, v in sorted(fields.items())))


if __name__ == "__main__":
    {"slices": lambda: slices(read(sys.stdin, int(sys.argv[2]))), "events": lambda: events_held(read(sys.stdin)),
     "bundles": lambda: bundles(sys.stdin)}[sys.argv[1]]()
