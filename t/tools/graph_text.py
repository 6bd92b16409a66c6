#!/usr/bin/env python3
"""Text of the tracer function_graph with any of its options, and what it has to become.

    graph_text.py text OPTION...     the file trace, as kernel/trace/trace_functions_graph.c prints it
    graph_text.py check              compare the calls and events of texts with each combination of columns with those that
                                     trdecode and trencode give

An OPTION is abstime, cpu, proc, duration, latency: the columns; overhead, irqs, tail, retval, args or overrun.
"""
import itertools
import json
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout

COLUMNS = ("abstime", "cpu", "proc", "duration", "latency")
OTHERS = ((), ("overhead", "irqs", "tail", "args"), ("irqs", "retval", "overrun"))

CAT, SH = ("cat", 1234), ("a|b -9", 77)
# time of the enter in ns, duration, CPU, thread, depth, name, argument, return value; a comment has no duration
CALLS = [
    (1000001000, 91000, 0, CAT, 0, "vfs_read", "file=0xffff888007949bc0, count=5", 0x10),
    (1000002000, 500, 0, CAT, 1, "rw_verify_area", "file=0x2", 0),
    (1000003000, 11250, 0, CAT, 1, "ext4_file_read [ext4]", "iocb=0x3", -13),
    (1000015000, 20000, 0, CAT, 1, "irq_enter_rcu", "", 0),
    (1000016000, 1250, 0, CAT, 2, "tick_irq_enter", "now=7", 1),
    (1000018000, None, 0, CAT, 2, "sched_wakeup", "comm=sh pid=77 prio=120 target_cpu=000", None),
    (1000100000, 1500, 1, SH, 0, "do_exit", "code=256", 0),
    (1000110000, 40000, 1, SH, 0, "fput", "file=0x9", 0x8000000000000001),
    (1000111000, 200, 1, SH, 1, "task_work_add", "task=0x5", 0),
    (1000200000, 2000, 1, CAT, 0, "vfs_write", "file=0x7", 3),
    (1000300000, 700, 0, SH, 0, "schedule_tail", "prev=0x7", 0),
    (1000400000, 3000000, 1, CAT, 0, "vfs_fsync", "file=0x7", 0),
    (1000401000, 1200000, 1, CAT, 1, "msleep", "msecs=1", 0),
]
IRQS = {"irq_enter_rcu"}
MARKS = ((1e9, "$"), (1e8, "@"), (1e7, "*"), (1e6, "#"), (1e5, "!"), (1e4, "+"))


def steps():
    """The lines in the order of their CPU and time: (time, what, call), what being enter, leaf, leave or comment."""
    found = []
    for i, c in enumerate(CALLS):
        last = all(d[4] <= c[4] or d[2:4] != c[2:4] or not c[0] < d[0] < c[0] + (c[1] or 0) for d in CALLS)
        if c[1] is None:
            found.append((c[0], i, "comment", c))
        elif last:
            found.append((c[0], i, "leaf", c))
        else:
            found += [(c[0], i, "enter", c), (c[0] + c[1], len(CALLS) - i, "leave", c)]
    return [(t, what, c) for t, _, what, c in sorted(found)]


def number(value):
    return "ret=%d" % value if -4096 < value < 0 else "ret=0x%x" % value


def columns(options, time, call):
    text = ""
    if "abstime" in options:
        text += "%5d.%06d |  " % (time // 10**9, time % 10**9 // 1000)
    if "cpu" in options:
        text += " %d) " % call[2]
    if "proc" in options:
        text += ("%s-%d" % (call[3][0][:7], call[3][1])).center(14) + " | "
    if "latency" in options:
        text += " d..2. | "
    return text


def duration(options, ns):
    if "duration" not in options:
        return ""
    if ns is None:
        return "              |  "
    mark = next((m for least, m in MARKS if ns > least), " ") if "overhead" in options else " "
    usecs = "%d" % (ns // 1000)
    if len(usecs) < 7:
        usecs += "." + ("%03d" % (ns % 1000))[: 7 - len(usecs)]
    return "%s %s us %s|  " % (mark, usecs, " " * (8 - len(usecs)))


def arrow(options, time, call, text):
    if call[5] in IRQS and "irqs" in options:
        bars = ("  ", " |") if "duration" in options else ("", "")
        print(columns(options, time, call) + bars[0] + text + bars[1])


def text(options):
    print("# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n# |     |   |                     |   |   |   |")
    thread = {}
    for time, what, c in steps():
        before, thread[c[2]] = thread.get(c[2]), c[3]
        if before not in (None, c[3]):
            rule = " " + "-" * 42
            print("%s\n %d) %s-%d => %s-%d\n%s\n" % (rule, c[2], *before, *c[3], rule))
        name = c[5] + "(%s)" % (c[6] if "args" in options else "")
        indent = "  " * c[4]
        if what in ("enter", "leaf"):
            arrow(options, time, c, "==========>")
        line = columns(options, time, c)
        if what == "enter":
            line += duration(options, None) + indent + name + " {"
        elif what == "leaf":
            line += duration(options, c[1]) + indent + name + ";"
            line += " /* %s */" % number(c[7]) if "retval" in options else ""
        elif what == "leave":
            line += duration(options, c[1]) + indent + "}"
            if "retval" in options:
                line += " /* %s %s */" % (c[5], number(c[7]))
            elif "tail" in options:
                line += " /* %s */" % c[5]
        else:
            line += duration(options, None) + indent + "/* %s: %s */" % (c[5], c[6])
        print(line)
        if what == "leave" and "overrun" in options:
            print(" (Overruns: 0)")
        if what in ("leave", "leaf"):
            arrow(options, time, c, "<==========")


def times(options):
    """The time and the duration of each call: without abstime the sums of the durations of its CPU."""
    now, began, found = {}, {}, {}
    for time, what, c in steps():
        cpu = c[2] if "cpu" in options else None
        known = c[1] if "duration" in options and c[1] else 0
        at = now.get(cpu, 0)
        if "abstime" in options:
            at = time // 1000 * 1000
        if what == "leave":
            end = at if "abstime" in options else max(at, began[c] + known)
            now[cpu] = end
            found[c] = (began[c], end - began[c])
        else:
            began[c] = at
            found[c] = (at, None if what == "comment" else known)
            now[cpu] = at + (known if what == "leaf" else 0)
    return found


def calls(options):
    """Time, duration, CPU, thread, comm, name, depth, return value, first argument of each call and event."""
    found = times(options)
    for c in CALLS:
        named = "proc" in options or "cpu" in options
        comm = c[3][0][:7] if "proc" in options else c[3][0]
        event = c[1] is None
        argument = c[6].split(",")[0].partition("=")[2] if "args" in options or event else ""
        if event:
            argument = "sh"
        result = c[7] if "retval" in options and not event else None
        yield [*found[c], c[2] if "cpu" in options else None, c[3][1] if named else None, comm if named else None,
               c[5].split(" ")[0], None if event else c[4], result, argument or None]


def rows(lines):
    for row in map(json.loads, lines):
        args = dict(row["args"] or {})
        result = args.pop("ret", None)
        if isinstance(result, str):
            result = int(result, 0)
        first = next(iter(args.values()), None)
        yield [row["time"], row["dur"], row["cpu"], row["tid"], row["comm"], row["name"], row["depth"], result,
               None if first is None else str(first)]


def decoded(options):
    """What the programs make of a text."""
    with tempfile.NamedTemporaryFile("w") as trace, redirect_stdout(trace):
        text(options)
        trace.flush()
        stream = subprocess.run(["trdecode", trace.name], stdout=subprocess.PIPE, check=True).stdout
    return subprocess.run(["trencode", "-q", "-t", "ndjson"], input=stream, stdout=subprocess.PIPE, check=True).stdout


def check():
    same = True
    for chosen in itertools.product((False, True), repeat=len(COLUMNS)):
        for others in OTHERS:
            options = {*others, *(c for c, has in zip(COLUMNS, chosen) if has)}
            want, have = (sorted(json.dumps(r) for r in found) for found in (calls(options), rows(decoded(options).splitlines())))
            if want != have:
                same = False
                print(*sorted(options))
                for line in sorted(set(want) ^ set(have)):
                    print("-+"[line in have], line)
    return same


if sys.argv[1] == "text":
    text(set(sys.argv[2:]))
else:
    sys.exit(not check())
