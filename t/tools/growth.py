#!/usr/bin/env python3
"""Measure that time is linear in the input: usage: growth.py run REGEX...|make NAME N FILE|list

Each case makes an input with N of something: events, threads, names, fields, mappings, open calls. "run" makes inputs
of 4 N and, where that takes more than SLACK, of N, runs a program on both, and compares the processor times: the larger
may take FACTOR times as much, and SLACK more. Quadratic time is 16 times as much. "make" writes one input, "list" lists
the cases.
"""
import functools
import io
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import streams_writer as w  # noqa: E402

FACTOR, SLACK, TRIES = 8, 0.05, 3  # SLACK: s
DECODED = "trdecode {} | "  # of a command: it is not measured
CASES = {}


def grows(name, n, command="trdecode {}"):
    """Declare a case: the function returns the content of the file for n, or writes the directory that it is given."""
    def declare(make):
        CASES[name] = make, n, command
        return make
    return declare


# --- Trace Event JSON ---

def events(lines):
    return "[" + ",\n".join(lines) + "]"


@grows("chrome events", 12500)
def _(n):
    return events(f'{{"ph":"X","pid":1,"tid":1,"ts":{i * 2},"dur":1,"name":"f"}}' for i in range(n))


@grows("chrome threads", 5000)
def _(n):
    return events(f'{{"ph":"X","pid":1,"tid":{i},"ts":{i},"dur":1,"name":"f"}}' for i in range(1, n))


@grows("chrome processes", 5000)
def _(n):
    return events(f'{{"ph":"M","pid":{i},"name":"process_name","args":{{"name":"p{i}"}}}},'
                  f'{{"ph":"B","pid":{i},"tid":{i},"ts":{i},"name":"f"}}' for i in range(1, n))


@grows("chrome thread names", 5000)
def _(n):
    return events(f'{{"ph":"M","pid":1,"tid":{i},"name":"thread_name","args":{{"name":"t{i}"}}}},'
                  f'{{"ph":"B","pid":1,"tid":{i},"ts":{i},"name":"f"}}' for i in range(1, n))


@grows("chrome names", 10000)
def _(n):
    return events(f'{{"ph":"X","pid":1,"tid":1,"ts":{i * 2},"dur":1,"name":"f{i}","cat":"c{i}"}}' for i in range(n))


@grows("chrome nested", 10000)
def _(n):
    return events([f'{{"ph":"B","pid":1,"tid":1,"ts":{i},"name":"f"}}' for i in range(n)] +
                  [f'{{"ph":"E","pid":1,"tid":1,"ts":{n + i}}}' for i in range(n)])


@grows("chrome nested names", 10000)
def _(n):
    return events([f'{{"ph":"B","pid":1,"tid":1,"ts":{i},"name":"f{i}"}}' for i in range(n)] +
                  [f'{{"ph":"E","pid":1,"tid":1,"ts":{n + i},"name":"f{i}"}}' for i in range(n)])


@grows("chrome nested X", 10000)
def _(n):
    return events(f'{{"ph":"X","pid":1,"tid":1,"ts":{i},"dur":{2 * n - 2 * i},"name":"f"}}' for i in range(n))


@grows("chrome open", 10000)
def _(n):
    return events(f'{{"ph":"B","pid":1,"tid":1,"ts":{i},"name":"f"}}' for i in range(n))


@grows("chrome ends", 10000)
def _(n):
    return events(f'{{"ph":"E","pid":1,"tid":1,"ts":{i},"name":"f{i}"}}' for i in range(n))


@grows("chrome overlapping", 10000)
def _(n):
    return events(f'{{"ph":"X","pid":1,"tid":1,"ts":{i},"dur":{n},"name":"f"}}' for i in range(n))


@grows("chrome backwards", 10000)
def _(n):
    return events(f'{{"ph":"X","pid":1,"tid":1,"ts":{2 * (n - i)},"dur":1,"name":"f"}}' for i in range(n))


@grows("chrome backwards nested", 10000)
def _(n):
    return events(f'{{"ph":"X","pid":1,"tid":1,"ts":{n - i},"dur":{2 * i + 1},"name":"f"}}' for i in range(n))


def followed(name, n):
    """A trace of which trfilter --follow keeps all: the first call matches."""
    CASES["trfilter follow: " + name] = CASES.pop(name)[0], n, "trdecode -q {} | trfilter --follow 'name == \"first\"' -o /dev/null"


@grows("flows in a cycle", 1)
def _(n):
    # calls of two threads that pass on the same flows, and new ones
    return events([f'{{"ph":"X","pid":1,"tid":{i % 2},"ts":{2 * i},"dur":1,"name":"{"f" if i else "first"}",'
                   f'"bind_id":{i % 100},"flow_in":true,"flow_out":true}}' for i in range(n)])


@grows("flows and threads", 1)
def _(n):
    # each thread is woken and never sleeps, each flow goes on
    return events(['{"ph":"B","pid":1,"tid":1,"ts":0,"name":"first"}'] + [line for i in range(n) for line in (
        f'{{"ph":"s","pid":1,"tid":1,"ts":{2 * i + 1},"id":{i},"name":"q","cat":"c"}}',
        f'{{"ph":"i","pid":1,"tid":1,"ts":{2 * i + 2},"name":"sched_waking","args":{{"comm":"c","pid":{i + 2},'
        f'"prio":1,"target_cpu":0}}}}')])


followed("flows in a cycle", 5000)
followed("flows and threads", 3000)


@grows("chrome async", 5000)
def _(n):
    return events([f'{{"ph":"b","cat":"c","id":"{i}","pid":1,"tid":1,"ts":{i},"name":"f"}}' for i in range(n)] +
                  [f'{{"ph":"e","cat":"c","id":"{i}","pid":1,"tid":1,"ts":{n + i},"name":"f"}}' for i in range(n)])


@grows("chrome async open", 10000)
def _(n):
    return events(f'{{"ph":"b","cat":"c","id":{i},"pid":1,"tid":1,"ts":{i},"name":"f"}}' for i in range(n))


@grows("chrome async nested", 5000)
def _(n):
    return events([f'{{"ph":"b","cat":"c","id":1,"pid":1,"tid":1,"ts":{i},"name":"f"}}' for i in range(n)] +
                  [f'{{"ph":"e","cat":"c","id":1,"pid":1,"tid":1,"ts":{n + i},"name":"f"}}' for i in range(n)])


@grows("chrome async names", 5000)
def _(n):
    return events([f'{{"ph":"b","cat":"c","id":1,"pid":1,"tid":1,"ts":{i},"name":"f{i}"}}' for i in range(n)] +
                  [f'{{"ph":"e","cat":"c","id":1,"pid":1,"tid":1,"ts":{n + i},"name":"f{i}"}}' for i in range(n)])


@grows("chrome old async", 5000)
def _(n):
    return events([f'{{"ph":"S","cat":"c","id":{i},"pid":1,"tid":1,"ts":{i},"name":"f"}}' for i in range(n)] +
                  [f'{{"ph":"F","cat":"c","id":{i},"pid":1,"tid":1,"ts":{n + i},"name":"f"}}' for i in range(n)])


@grows("chrome flows", 5000)
def _(n):
    return events([f'{{"ph":"s","cat":"c","id":{i},"pid":1,"tid":1,"ts":{i},"name":"f"}}' for i in range(n)] +
                  [f'{{"ph":"f","cat":"c","id":{i},"pid":1,"tid":1,"ts":{n + i},"name":"f"}}' for i in range(n)])


@grows("chrome flows of an event", 10000)
def _(n):
    return events(['{"ph":"X","pid":1,"tid":1,"ts":5,"dur":100,"name":"f"}'] +
                  [f'{{"ph":"s","cat":"c","id":{i},"pid":1,"tid":1,"ts":5,"name":"f"}}' for i in range(n)])


@grows("chrome arguments", 10000)
def _(n):
    return events([f'{{"ph":"i","pid":1,"tid":1,"ts":1,"name":"f","args":{{{",".join(f"{chr(34)}a{i}{chr(34)}:{i}" for i in range(n))}}}}}'])


@grows("chrome same arguments", 10000)
def _(n):
    return events(['{"ph":"i","pid":1,"tid":1,"ts":1,"name":"f","args":{%s}}' % ",".join('"a":1' for i in range(n))])


@grows("chrome argument names", 5000)
def _(n):
    return events(f'{{"ph":"X","pid":1,"tid":1,"ts":{2 * i},"dur":1,"name":"f","args":{{"a{i}":1}}}}' for i in range(n))


@grows("chrome wide arguments", 10000)
def _(n):
    return events(['{"ph":"i","pid":1,"tid":1,"ts":1,"name":"f","args":{"a":{%s}}}' % ",".join(f'"k{i}":[{i}]' for i in range(n))])


@grows("chrome long text", 200000)
def _(n):
    return events(['{"ph":"i","pid":1,"tid":1,"ts":1,"name":"%s","args":{"a":"%s"}}' % ("x" * n, "\\n" * n)])


@grows("chrome arguments of ends", 2500)
def _(n):
    return events([f'{{"ph":"B","pid":1,"tid":1,"ts":{i},"name":"f","args":{{"a{i}":1}}}}' for i in range(n)] +
                  [f'{{"ph":"E","pid":1,"tid":1,"ts":{n + i},"args":{{"b{i}":1}}}}' for i in range(n)])


@grows("chrome counters", 10000)
def _(n):
    return events(f'{{"ph":"C","pid":1,"tid":1,"ts":{i},"name":"f{i}","args":{{"v":{i}}}}}' for i in range(n))


@grows("chrome series", 10000)
def _(n):
    return events(f'{{"ph":"C","pid":1,"tid":1,"ts":{i},"name":"f","args":{{"v{i}":{i}}}}}' for i in range(n))


@grows("chrome objects", 5000)
def _(n):
    return events(f'{{"ph":"{p}","pid":1,"tid":1,"ts":{i},"name":"f","id":{i}}}' for i in range(n) for p in "ND")


@grows("chrome stack frames", 10000)
def _(n):
    frames = ",".join(f'"{i}":{{"name":"f{i}"{"" if not i else f",{chr(34)}parent{chr(34)}:{i - 1}"}}}' for i in range(n))
    return f'{{"stackFrames":{{{frames}}},"traceEvents":[{{"ph":"P","pid":1,"tid":1,"ts":1,"name":"f","sf":{n - 1}}}]}}'


@grows("chrome sample stacks", 5000)
def _(n):
    frames = ",".join(f'"{i}":{{"name":"f{i}"}}' for i in range(n))
    return '{"stackFrames":{%s},"traceEvents":%s}' % (frames, events(
        f'{{"ph":"P","pid":1,"tid":1,"ts":{i},"name":"f","sf":{i}}}' for i in range(n)))


@grows("chrome late stack frames", 5000)
def _(n):
    frames = ",".join(f'"{i}":{{"name":"f{i}"}}' for i in range(n))
    return '{"traceEvents":%s,"stackFrames":{%s}}' % (events(
        f'{{"ph":"P","pid":1,"tid":1,"ts":{i},"name":"f","sf":{i}}}' for i in range(n)), frames)


@grows("chrome long array stack", 10000)
def _(n):
    return events(['{"ph":"P","pid":1,"tid":1,"ts":1,"name":"f","stack":[%s]}' % ",".join(f'"{i}"' for i in range(n))])


@grows("chrome top level", 10000)
def _(n):
    return '{%s,"traceEvents":[{"ph":"i","pid":1,"tid":1,"ts":1,"name":"f"}]}' % ",".join(f'"k{i}":{i}' for i in range(n))


@grows("chrome garbage", 10000)
def _(n):
    return '[{"ph":"i","pid":1,"tid":1,"ts":1,"name":"f"},' + "{x},\n" * n + '{"ph":"i","pid":1,"tid":1,"ts":1,"name":"f"}]'


@grows("chrome garbage quotes", 10000)
def _(n):
    return '[{"ph":"i","pid":1,"tid":1,"ts":1,"name":"f"},' + '{"a":"\n' * n


@grows("chrome not finite", 10000)
def _(n):
    return '[{"ph":"i","pid":1,"tid":1,"ts":1,"name":"f"},' + '{"ph":"X","ts":1,"x":\x01},\n' * n + "]"


@grows("chrome long header", 200000)
def _(n):
    return '{"x":"%s","traceEvents":[{"ph":"i","pid":1,"tid":1,"ts":1,"name":"f"}]}' % ("y" * n)


@grows("chrome sort index", 5000)
def _(n):
    return events(f'{{"ph":"M","pid":1,"tid":{i},"name":"thread_sort_index","args":{{"sort_index":{i}}}}},'
                  f'{{"ph":"X","pid":1,"tid":{i},"ts":{i},"dur":1,"name":"f"}}' for i in range(1, n))


def profile(nodes, samples, deltas):
    """V8's profile of the nodes (number, parent, name)."""
    return events([
        '{"ph":"P","name":"Profile","pid":1,"tid":1,"ts":1,"id":1,"args":{"data":{"startTime":1}}}',
        '{"ph":"P","name":"ProfileChunk","pid":1,"tid":1,"ts":2,"id":1,"args":{"data":{"cpuProfile":{"nodes":[%s],'
        '"samples":[%s]},"timeDeltas":[%s]}}}' % (",".join(
            '{"id":%d,"parent":%d,"callFrame":{"functionName":"%s"}}' % node for node in nodes),
            ",".join(map(str, samples)), ",".join(map(str, deltas)))])


@grows("cpuprofile deep", 5000)
def _(n):
    return profile([(i, i - 1, f"f{i}") for i in range(1, n + 1)], [n] * 10, [1] * 10)


@grows("cpuprofile wide", 5000)
def _(n):
    return profile([(1, 0, "root")] + [(i, 1, f"f{i}") for i in range(2, n)], range(2, n), [1] * (n - 2))


@grows("cpuprofile samples", 10000)
def _(n):
    return profile([(1, 0, "root"), (2, 1, "f")], [2] * n, [1] * n)


@grows("cpuprofile backwards", 10000)
def _(n):
    return profile([(1, 0, "root"), (2, 1, "f")], [2] * n, [-1] * n)


@grows("cpuprofile deep samples", 1500)
def _(n):
    return profile([(i, i - 1, f"f{i}") for i in range(1, n + 1)], range(1, n), [1] * n)


@grows("cpuprofile chunks", 2500)
def _(n):
    return events(['{"ph":"P","name":"Profile","pid":1,"tid":1,"ts":1,"id":1,"args":{"data":{"startTime":1}}}'] +
                  ['{"ph":"P","name":"ProfileChunk","pid":1,"tid":1,"ts":%d,"id":1,"args":{"data":{"cpuProfile":{"nodes":'
                   '[{"id":%d%s,"callFrame":{"functionName":"f%d"}}],"samples":[%d]},"timeDeltas":[1]}}}'
                   % (i, i, f',"parent":{i - 1}' if i > 1 else "", i, i) for i in range(1, n)])


@grows("cpuprofile profiles", 2500)
def _(n):
    return events('{"ph":"P","name":"Profile","pid":1,"tid":1,"ts":1,"id":%d,"args":{"data":{"startTime":1}}},'
                  '{"ph":"P","name":"ProfileChunk","pid":1,"tid":1,"ts":%d,"id":%d,"args":{"data":{"cpuProfile":{"nodes":'
                  '[{"id":%d,"callFrame":{"functionName":"f%d"}}],"samples":[%d]},"timeDeltas":[1]}}}'
                  % (i, i, i, i, i, i) for i in range(1, n))


# --- text: folded stacks, perf script, the kernel's, profiles of a replay ---

@grows("folded lines", 20000)
def _(n):
    return "".join(f"a;b;c{i % 100} 1\n" for i in range(n))


@grows("folded frames", 10000)
def _(n):
    return "".join(f"a;b{i};c{i} 1\n" for i in range(n))


@grows("folded deep", 10000)
def _(n):
    return "a;b 1\n" * 200 + ";".join(f"f{i}" for i in range(n)) + " 1\n"


@grows("folded one frame deep", 50000)
def _(n):
    return "a;b 1\n" * 2000 + ";".join("f" for i in range(n)) + " 1\n"


@grows("folded long name", 500000)
def _(n):
    return "a;b 1\n" * 2000 + "a;" + "x" * n + " 1\n"


@grows("folded growing", 150)
def _(n):
    # the input itself grows with the square
    return "".join(";".join(f"f{k}" for k in range(i)) + " 1\n" for i in range(1, int((n * 300) ** 0.5)))


@grows("folded blanks", 200000)
def _(n):
    return "a;b 1\n" + " " * n + "\na;b" + " " * n + "1\n"


def script(i, comm, pid, frames, event="cycles"):
    return f"{comm} {pid} {i // 1000000 + 1}.{i % 1000000:06d}: 1 {event}: \n" + "".join(
        f"\t{400000 + k:x} {name} (/bin/a)\n" for k, name in frames) + "\n"


@grows("perf script samples", 10000)
def _(n):
    return "".join(script(i, "a", 1, [(1, "f"), (2, "g")]) for i in range(n))


@grows("perf script threads", 5000)
def _(n):
    return "".join(script(i, f"a{i}", i + 1, [(1, "f"), (2, "g")]) for i in range(n))


@grows("perf script names", 5000)
def _(n):
    return "".join(script(i, "a", 1, [(i, f"f{i}"), (2, "g")]) for i in range(n))


@grows("perf script events", 5000)
def _(n):
    return "".join(script(i, "a", 1, [(1, "f")], f"event{i}") for i in range(n))


@grows("perf script deep", 10000)
def _(n):
    return script(1, "a", 1, [(i, f"f{i}") for i in range(n)])


@grows("perf script modules", 5000)
def _(n):
    return "".join(f"a 1 1.{i:06d}: 1 cycles: \n\t{i + 4096:x} f+0x1 (/lib/l{i}.so)\n\n" for i in range(n))


@grows("perf script fields", 5000)
def _(n):
    return "".join(f"a 1 [000] 1.{i:06d}: s:e{i}: a{i}=1 b{i}=2\n" for i in range(n))


@grows("perf script long line", 10000)
def _(n):
    return script(1, "a", 1, [(1, "f")]) * 200 + "a 1 [000] 1.000001: s:e: " + " ".join(f"a{i}={i}" for i in range(n)) + "\n"


@grows("perf script parentheses", 50000)
def _(n):
    return "a 1 1.000000: 1 cycles: \n\t1234 f" + "(" * n + ")" * n + " (/bin/a)\n\n"


@grows("perf script open parentheses", 10000)
def _(n):
    return "a 1 1.000000: 1 cycles: \n\t1234 f" + "(" * n + " (/bin/a)\n\n" + "a 1 1.0: 1 cycles: \n\t1234 f" + ") (" * n + "\n\n"


@grows("perf script garbage", 20000)
def _(n):
    return script(1, "a", 1, [(1, "f")]) + "x y z\n" * n


@grows("perf script blanks in comm", 50000)
def _(n):
    return script(1, "a", 1, [(1, "f")]) + "a b " * n + script(1, "a", 1, [(1, "f")])


@grows("perf script branches", 10000)
def _(n):
    return script(1, "a", 1, [(1, "f")]) * 200 + "a 1 1.000000: 1 cycles: " + " ".join(f"0x{i:x}/0x{i + 9:x}/P/-/-/0" for i in range(n)) + "\n\n"


HEADER = "# tracer: nop\n#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
GRAPH = "# tracer: function_graph\n#\n# CPU  TASK/PID         DURATION                  FUNCTION CALLS\n"


def line(i, comm, pid, cpu, text):
    return f"{comm:>16}-{pid:<5} [{cpu:03d}] d.h1. {i // 1000000 + 1}.{i % 1000000:06d}: {text}\n"


@grows("ftrace events", 10000)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, "sched_wakeup: comm=b pid=2 prio=120 target_cpu=000") for i in range(n))


@grows("ftrace nested waits", 250)
def _(n):
    # n calls inside each other end, of a thread that waits for another one before each end, ten times
    text, i = [HEADER], 0

    def put(tid, event):
        nonlocal i
        i += 3
        text.append(line(i, f"t{tid}", tid, 0, event))

    def switch(a, b):
        put(a, f"sched_switch: prev_comm=t{a} prev_pid={a} prev_prio=120 prev_state=S ==> next_comm=t{b} next_pid={b} next_prio=120")

    for _ in range(10):
        for depth in range(n):
            put(7, f"tracing_mark_write: B|7|f{depth % 8}")
        for depth in range(n):
            switch(7, 8)
            put(8, "sched_waking: comm=t7 pid=7 prio=120 target_cpu=000")
            switch(8, 7)
            put(7, "tracing_mark_write: E|7")
    return "".join(text)


for _name, _pipe in (("trstat why", "trstat -q --why 'dur > 0'"), ("trstat why folded", "trstat -q --why 'dur > 0' -t folded"),
                     ("trencode why", "trencode -q -t chrome --why 'dur > 0'")):
    CASES[_name + ": nested waits"] = CASES["ftrace nested waits"][0], 250, DECODED + _pipe


@grows("ftrace threads", 5000)
def _(n):
    return HEADER + "".join(line(i, f"a{i}", i + 1, 0, "e: a=1") for i in range(n))


@grows("ftrace cpus", 1500)
def _(n):
    return HEADER + "".join(line(i, "a", 1, i, "e: a=1") for i in range(n))


@grows("ftrace types", 5000)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, f"e{i}: a{i}=1 b=2") for i in range(n))


@grows("ftrace forms of a type", 2500)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, f"e: a{i}=1 b=2") for i in range(n))


@grows("ftrace fields", 10000)
def _(n):
    return HEADER + line(1, "a", 1, 0, "e: " + " ".join(f"a{i}={i}" for i in range(n)))


@grows("ftrace wide events", 50)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, "e: " + " ".join(f"a{k}={k}" for k in range(200))) for i in range(n))


@grows("ftrace texts", 5000)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, f"e: a=text{i}") for i in range(n))


@grows("ftrace long line", 200000)
def _(n):
    return HEADER + line(1, "a", 1, 0, "tracing_mark_write: " + "x y " * n)


@grows("ftrace long names", 10000)
def _(n):
    return HEADER + line(1, "a", 1, 0, "e: a=1") * 200 + line(1, "a" * n, 1, 0, "e: a=1") + line(1, "a-" * n, 1, 0, "e: a=1") + line(1, "a-1 [0] " * n, 1, 0, "e: a=1")


@grows("ftrace stacks", 10000)
def _(n):
    return HEADER + line(1, "a", 1, 0, "kernel_stack: <stack trace>") + "".join(f" => f{i}\n" for i in range(n))


@grows("ftrace many stacks", 2500)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, "kernel_stack: <stack trace>") + f" => f{i}\n => g{i}\n" for i in range(n))


@grows("ftrace functions", 5000)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, f"f{i} <-g{i}") for i in range(n))


@grows("ftrace graph deep", 10000)
def _(n):
    return GRAPH + "".join(f" 0)   a-1   |               |  {'  ' * min(i, 50)}f{i}() {{\n" for i in range(n))


@grows("ftrace graph deep and back", 5000)
def _(n):
    return GRAPH + "".join(f" 0)   a-1   |               |  f{i}() {{\n" for i in range(n)) + " 0)   a-1   |   1.000 us    |  }\n" * n


@grows("ftrace graph leaves", 10000)
def _(n):
    return GRAPH + "".join(f" 0)   a-1   |   1.000 us    |  f{i}();\n" for i in range(n))


@grows("ftrace timed leaves", 10000)
def _(n):
    return "# tracer: function_graph\n#\n#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS\n" + "".join(
        f" 1.{i:06d} |   {i % 999})    a-{i}    | 1000000.000 us    |  f{i}();\n" for i in range(n))


@grows("ftrace timed leaves of a thread", 10000)
def _(n):
    return "# tracer: function_graph\n#\n#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS\n" + "".join(
        f" 1.{i:06d} |   0)    a-{i}    | {1000000 - i}.000 us    |  f();\n" for i in range(n))


@grows("ftrace graph by perf", 10000)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, f"funcgraph_entry: {1000000 - i}.000 us |  f{i}();") for i in range(n))


@grows("ftrace graph by cpu", 10000)
def _(n):
    return HEADER + "".join(line(i, "a", i, i % 4000, f"funcgraph_entry: {1000000 - i}.000 us |  f{i}();") for i in range(n))


@grows("ftrace atrace", 5000)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, f"tracing_mark_write: B|1|f{i}") for i in range(n))


@grows("ftrace atrace async", 5000)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, f"tracing_mark_write: S|1|f{i}|{i}") for i in range(n))


@grows("ftrace atrace counters", 5000)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, f"tracing_mark_write: C|1|f{i}|{i}") for i in range(n))


@grows("ftrace atrace processes", 5000)
def _(n):
    return HEADER + "".join(line(i, f"a{i}", i, 0, f"tracing_mark_write: B|{i}|f") for i in range(1, n))


@grows("ftrace system calls", 5000)
def _(n):
    return HEADER + "".join(line(i, f"a{i}", i, 0, f"sys_s{i}(fd: 1, buf: 2)") for i in range(1, n))


@grows("ftrace system calls open", 5000)
def _(n):
    return HEADER + "".join(line(i, f"a{i}", i, 0, "sys_read(fd: 1, buf: 2)") for i in range(1, n)) + "".join(
        line(n + i, f"a{i}", i, 0, "sys_read -> 0x5") for i in range(1, n))


@grows("ftrace interrupts", 5000)
def _(n):
    return HEADER + "".join(line(i, "a", 1, i % 1000, f"irq_handler_entry: irq={i} name=x{i}") for i in range(n))


@grows("ftrace garbage", 20000)
def _(n):
    return HEADER + line(1, "a", 1, 0, "e: a=1") + "x y z\n" * n + line(2, "a", 1, 0, "e: a=1")


@grows("ftrace cut events", 2500)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, f"e{i}: a=1 b=2") for i in range(n)) + "".join(
        line(n + i, "a", 1, 0, f"e{i}: a=1 b") for i in range(n))


@grows("ftrace two events in a line", 2500)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, f"e{i}: a=1")[:-1] for i in range(n)) + "\n"


@grows("ftrace joined texts", 2500)
def _(n):
    return HEADER + "".join(line(i, f"a{i}", 1, 0, f"e{i}: comm=x")[:-1] + line(i, f"a{i}", 1, 0, "f: a=1") for i in range(n))


@grows("ftrace flags", 10000)
def _(n):
    return HEADER + "".join(line(i, "a", 1, 0, f"e: flags=A|B{i}|C") for i in range(n)) + line(9, "a", 1, 0, "e: flags=" + "A|" * n)


@grows("ftrace arrays", 10000)
def _(n):
    return HEADER + line(9, "a", 1, 0, "e: v={" + "0x1," * n + "0x1} b=1")


@grows("ftrace lost", 5000)
def _(n):
    return HEADER + "".join(f"CPU:{i % 100} [LOST {i} EVENTS]\n" + line(i, "a", 1, i % 100, "e: a=1") for i in range(n))


@grows("ftrace mmiotrace", 5000)
def _(n):
    return "# tracer: mmiotrace\n" + "VERSION 20070824\n" + "".join(f"MAP 1.{i:06d} {i} 0x{i:x}000 0x{i:x}000 0x1000 0x0 0\nR 4 1.{i:06d} {i} 0x{i:x}004 0x5 0x0 0\n" for i in range(n))


@grows("glprofile calls", 20000)
def _(n):
    return "# call no gpu_start gpu_dura cpu_start cpu_dura vsize_start vsize_dura rss_start rss_dura pixels program name\n" + "".join(
        f"call {i} 0 0 {i * 10} 5 0 0 0 0 -1 0 glA\n" for i in range(n))


@grows("glprofile names", 10000)
def _(n):
    return "# call no gpu_start gpu_dura cpu_start cpu_dura vsize_start vsize_dura rss_start rss_dura pixels program name\n" + "".join(
        f"call {i} {i * 10} 900000000 {i * 10} 5 0 0 0 0 -1 {i} glA{i}\n" for i in range(n))


@grows("glprofile backwards", 10000)
def _(n):
    return "# call no gpu_start gpu_dura cpu_start cpu_dura vsize_start vsize_dura rss_start rss_dura pixels program name\n" + "".join(
        f"call {i} {(n - i) * 10} 900000000 {(n - i) * 10} {n * 10} 0 0 0 0 -1 {i} glA\n" for i in range(n))


@grows("glprofile frames", 10000)
def _(n):
    return "# call no gpu_start gpu_dura cpu_start cpu_dura vsize_start vsize_dura rss_start rss_dura pixels program name\n" + "".join(
        f"call {i} 0 0 {i * 10} 5 0 0 0 0 -1 0 glA\nframe_end\n" for i in range(n))


# --- perf.data ---

IP, TID, TIME, CALLCHAIN, ID, CPU, PERIOD, IDENTIFIER = 1, 2, 4, 32, 64, 128, 256, 1 << 16


def q(*words):
    return struct.pack(f"<{len(words)}Q", *words)


def padded(text):
    return text.encode() + b"\0" * (8 - len(text) % 8)


def record(kind, body, misc=2):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def perf_attr(sample_type, flags=1 << 18, number=0):
    return struct.pack("<IIQQQQQ", 1, 136, number, 1000, sample_type, 4, flags).ljust(136, b"\0")


def perf_file(sample_type, records, nattrs=1, flags=1 << 18, features=()):
    """A perf.data; features: (bit, content)."""
    at = 104 + 8 * nattrs
    attrs = b"".join(perf_attr(sample_type, flags, i) + q(104 + 8 * i, 8) for i in range(nattrs))
    data_at = at + len(attrs)
    bits, sections, ends = 0, b"", b""
    end_at = data_at + len(records) + 16 * len(features)
    for bit, content in sorted(features):
        bits |= 1 << bit
        sections += q(end_at, len(content))
        ends += content
        end_at += len(content)
    return b"".join((b"PERFILE2", q(104, 152, at, len(attrs), data_at, len(records), 0, 0, bits, 0, 0, 0),
                     q(*range(1, nattrs + 1)), attrs, records, sections, ends))


PERF = IDENTIFIER | IP | TID | TIME


def perf_sample(time, ip=0x400100, pid=1, tid=1, event=1, rest=b""):
    return record(9, q(event, ip) + struct.pack("<ii", pid, tid) + q(time) + rest)


def origin(time, pid=1, tid=1, event=1):
    return struct.pack("<ii", pid, tid) + q(time, event)


@grows("perf samples", 10000)
def _(n):
    return perf_file(PERF, b"".join(perf_sample(i) for i in range(n)))


@grows("perf samples backwards", 10000)
def _(n):
    return perf_file(PERF, b"".join(perf_sample(n - i) for i in range(n)))


@grows("perf addresses", 10000)
def _(n):
    return perf_file(PERF, b"".join(perf_sample(i, 0x400000 + 16 * i) for i in range(n)))


@grows("perf threads", 5000)
def _(n):
    return perf_file(PERF, b"".join(perf_sample(i, tid=i, pid=1) for i in range(1, n)))


@grows("perf processes", 5000)
def _(n):
    return perf_file(PERF, b"".join(perf_sample(i, tid=i, pid=i) for i in range(1, n)))


@grows("perf comms", 5000)
def _(n):
    return perf_file(PERF, b"".join(record(3, struct.pack("<ii", i, i) + padded(f"c{i}") + origin(i, i, i)) +
                                    perf_sample(i, tid=i, pid=i) for i in range(1, n)))


@grows("perf comms of a thread", 5000)
def _(n):
    return perf_file(PERF, b"".join(record(3, struct.pack("<ii", 1, 1) + padded(f"c{i}") + origin(i)) +
                                    perf_sample(i) for i in range(1, n)))


def perf_mmap(i, at, path, pid=1, size=4096):
    return record(1, struct.pack("<ii", pid, pid) + q(at, size, 0) + padded(path) + origin(i, pid, pid))


@grows("perf mappings", 5000)
def _(n):
    return perf_file(PERF, b"".join(perf_mmap(i, (n - i) << 20, f"/lib/l{i}.so") + perf_sample(i, ((n - i) << 20) + 5)
                                    for i in range(n)))


@grows("perf mappings upwards", 5000)
def _(n):
    return perf_file(PERF, b"".join(perf_mmap(i, i << 20, f"/lib/l{i}.so") + perf_sample(i, (i << 20) + 5)
                                    for i in range(n)))


@grows("perf mappings over mappings", 5000)
def _(n):
    return perf_file(PERF, b"".join(perf_mmap(i, (n - i) << 12, f"/lib/l{i}.so", size=n << 13) +
                                    perf_sample(i, ((n - i) << 12) + 5) for i in range(n)))


@grows("perf mappings within a mapping", 5000)
def _(n):
    return perf_file(PERF, perf_mmap(0, 4096, "/lib/a.so", size=n << 16) + b"".join(
        perf_mmap(i, i << 14, f"/lib/l{i}.so") + perf_sample(i, (i << 14) + 5) for i in range(1, n)))


@grows("perf mappings at random", 5000)
def _(n):
    return perf_file(PERF, b"".join(perf_mmap(i, (i * 7919 % n) << 20, f"/lib/l{i}.so") +
                                    perf_sample(i, (i * 7919 % n << 20) + 5) for i in range(n)))


@grows("perf mappings again", 5000)
def _(n):
    return perf_file(PERF, b"".join(perf_mmap(i, (i % 1000) << 20, "/lib/a.so") + perf_sample(i, (i % 1000 << 20) + 5)
                                    for i in range(n)))


@grows("perf forks", 2500)
def _(n):
    return perf_file(PERF, b"".join(perf_mmap(i, i << 20, f"/lib/l{i}.so", 1) for i in range(100)) + b"".join(
        record(7, struct.pack("<iiii", i + 1, i, i + 1, i) + q(i) + origin(i, i, i)) + perf_sample(i, 5, i + 1, i + 1)
        for i in range(1, n)))


@grows("perf exits", 5000)
def _(n):
    return perf_file(PERF, b"".join(
        record(7, struct.pack("<iiii", i + 1, i, i + 1, i) + q(i) + origin(i, i, i)) + perf_sample(i, 5, i + 1, i + 1) +
        record(4, struct.pack("<iiii", i + 1, i, i + 1, i) + q(i) + origin(i, i, i)) for i in range(1, n)))


@grows("perf events", 1000)
def _(n):
    return perf_file(PERF, b"".join(perf_sample(i, event=i + 1) for i in range(n)), n)


@grows("perf event names", 1000)
def _(n):
    names = struct.pack("<II", n, 136) + b"".join(
        perf_attr(PERF, number=i) + struct.pack("<II", 1, 16) + f"event{i}".encode().ljust(16, b"\0") + q(i + 1)
        for i in range(n))
    return perf_file(PERF, b"".join(perf_sample(i, event=i + 1) for i in range(n)), n, features=[(12, names)])


@grows("perf build-ids", 5000)
def _(n):
    ids = b"".join(record(67, struct.pack("<i", 1) + bytes([i & 255, i >> 8 & 255]) * 10 + b"\0" * 4 + padded(f"/lib/l{i}.so"))
                   for i in range(n))
    return perf_file(PERF, b"".join(perf_mmap(i, i << 20, f"/lib/l{i}.so") + perf_sample(i, (i << 20) + 5)
                                    for i in range(n)), features=[(2, ids)])


@grows("perf stacks", 2500)
def _(n):
    return perf_file(PERF | CALLCHAIN, b"".join(perf_sample(i, rest=q(4, 2**64 - 512, 0x400100, 0x400200 + i, 0x400300 + i))
                                                for i in range(n)))


@grows("perf deep stacks", 2500)
def _(n):
    return perf_file(PERF | CALLCHAIN, perf_sample(1, rest=q(min(n, 8000) // 4, *range(min(n, 8000) // 4))) * 10)


@grows("perf growing stacks", 500)
def _(n):
    return perf_file(PERF | CALLCHAIN, b"".join(perf_sample(i, rest=q(101, 2**64 - 512, *range(4096 + i, 4196 + i)))
                                                for i in range(n)))


@grows("perf deferred", 2500)
def _(n):
    chain = [2**64 - 128, 2**64 - 2**31, 2**64 - 640]
    return perf_file(PERF | CALLCHAIN, b"".join(
        perf_sample(i, 2**64 - 2**31, rest=q(4, *chain, i + 1)) for i in range(n)) + b"".join(
        record(22, q(i + 1, 3, 2**64 - 512, 0x400100, 0x400200) + origin(n + i)) for i in range(n)), flags=1 << 18 | 1 << 38)


@grows("perf never deferred", 5000)
def _(n):
    chain = [2**64 - 128, 2**64 - 2**31, 2**64 - 640]
    return perf_file(PERF | CALLCHAIN, b"".join(
        perf_sample(i, 2**64 - 2**31, tid=i, rest=q(4, *chain, i + 1)) for i in range(1, n)), flags=1 << 18 | 1 << 38)


@grows("perf kernel symbols", 5000)
def _(n):
    return perf_file(PERF, b"".join(
        record(17, q(2**63 + i * 64) + struct.pack("<IHH", 64, 1, 0) + padded(f"bpf_{i}") + origin(i)) +
        perf_sample(i, 2**63 + i * 64 + 5) for i in range(n)))


@grows("perf kernel symbols backwards", 5000)
def _(n):
    return perf_file(PERF, b"".join(
        record(17, q(2**63 + (n - i) * 64) + struct.pack("<IHH", 64, 1, 0) + padded(f"bpf_{i}") + origin(i)) +
        perf_sample(i, 2**63 + (n - i) * 64 + 5) for i in range(n)))


@grows("perf cgroups", 5000)
def _(n):
    return perf_file(PERF, b"".join(record(19, q(i) + padded(f"/g{i}") + origin(i)) + perf_sample(i) for i in range(n)))


@grows("perf namespaces", 5000)
def _(n):
    return perf_file(PERF, b"".join(record(16, struct.pack("<ii", i, i) + q(7, *range(14)) + origin(i, i, i)) for i in range(1, n)))


@grows("perf switches", 10000)
def _(n):
    return perf_file(PERF, b"".join(record(14, origin(i, i % 5000, i % 5000), 1 << 13 if i & 1 else 0) for i in range(n)))


@grows("perf rounds", 5000)
def _(n):
    return perf_file(PERF, b"".join(perf_sample(i) + record(68, b"") for i in range(n)))


@grows("perf lost", 5000)
def _(n):
    return perf_file(PERF, b"".join(record(2, q(1, 1) + origin(i)) for i in range(n)))


@grows("perf ids", 5000)
def _(n):
    ids = q(*range(n))
    attrs = perf_attr(PERF) + q(104, 8 * n)
    records = b"".join(perf_sample(i, event=i) for i in range(n))
    return b"".join((b"PERFILE2", q(104, 152, 104 + len(ids), len(attrs), 104 + len(ids) + len(attrs), len(records), 0, 0, 0, 0, 0, 0),
                     ids, attrs, records))


def perf_pipe(*records):
    return b"PERFILE2" + q(16) + b"".join(records)


@grows("perf pipe events", 1500)
def _(n):
    return perf_pipe(*(record(64, perf_attr(PERF, number=i) + q(i + 1), 0) for i in range(n)),
                     *(record(78, q(2, i + 1) + padded(f"e{i}"), 0) for i in range(n)),
                     *(perf_sample(i, event=i + 1) for i in range(n)))


@grows("perf id index", 1000)
def _(n):
    return perf_pipe(record(64, perf_attr(PERF) + q(1), 0),
                     *(record(69, q(2) + q(i, i, 0, 0, i + 1, i, 0, 0), 0) + perf_sample(i) for i in range(n)))


@grows("perf counters of a group", 500)
def _(n):
    # READ | GROUP: the values of a sample are as many as its record may have
    content = perf_file(PERF | 16, b"".join(perf_sample(i, rest=q(60, *sum(([5 + k, k + 1] for k in range(60)), [])))
                                            for i in range(n)), 60)
    return content.replace(q(PERF | 16, 4), q(PERF | 16, 12))


# --- Protocol Buffers: Perfetto, pprof ---

@functools.lru_cache(1 << 16)
def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


@functools.lru_cache(1 << 16)
def number(field, value):
    return varint(field << 3) + varint(value & (1 << 64) - 1)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def message(field, *parts):
    return text(field, b"".join(parts))


def packet(time, *parts, sequence=1):
    return message(1, number(8, time), *parts, number(10, sequence))


def slice_event(kind, track, *parts):
    return message(11, number(9, kind), number(11, track), *parts)


def descriptor(uuid, name, *parts):
    return message(60, number(1, uuid), text(2, name), *parts)


@grows("perfetto events", 10000)
def _(n):
    return b"".join(packet(i, slice_event(1 + i % 2, 7, text(23, "x"))) for i in range(n))


@grows("perfetto tracks", 5000)
def _(n):
    return b"".join(packet(i, descriptor(i, f"t{i}")) + packet(i, slice_event(1, i, text(23, "x"))) for i in range(1, n))


@grows("perfetto undeclared tracks", 5000)
def _(n):
    return b"".join(packet(i, slice_event(1, i, text(23, "x"))) for i in range(1, n))


@grows("perfetto tracks of tracks", 5000)
def _(n):
    return b"".join(packet(i, descriptor(i, f"t{i}", number(5, i - 1))) + packet(i, slice_event(1, i, text(23, "x")))
                    for i in range(1, n))


@grows("perfetto tracks of later tracks", 5000)
def _(n):
    return b"".join(packet(i, descriptor(n - i, f"t{i}", number(5, n - i - 1))) +
                    packet(i, slice_event(1, n - i, text(23, "x"))) for i in range(n - 1))


@grows("perfetto tracks of one", 5000)
def _(n):
    return packet(0, descriptor(1, "t")) + b"".join(
        packet(i, descriptor(i + 1, f"t{i}", number(5, 1))) + packet(i, slice_event(1, i + 1, text(23, "x"))) for i in range(1, n))


@grows("perfetto threads", 5000)
def _(n):
    return b"".join(packet(i, descriptor(i, "t", message(4, number(1, 1), number(2, i), text(5, f"n{i}")))) +
                    packet(i, slice_event(1, i, text(23, "x"))) for i in range(1, n))


@grows("perfetto processes", 5000)
def _(n):
    return b"".join(packet(i, descriptor(i, "t", message(3, number(1, i), text(6, f"n{i}")))) +
                    packet(i, slice_event(1, i, text(23, "x"))) for i in range(1, n))


@grows("perfetto tracks again", 5000)
def _(n):
    return b"".join(packet(i, descriptor(1, f"t{i}", message(4, number(1, 1), number(2, i)))) +
                    packet(i, slice_event(1, 1, text(23, "x"))) for i in range(1, n))


@grows("perfetto counters", 5000)
def _(n):
    return b"".join(packet(i, descriptor(i, f"t{i}", message(8))) + packet(i, message(11, number(9, 4), number(11, i), number(30, i)))
                    for i in range(1, n))


@grows("perfetto extra counters", 1000)
def _(n):
    # each event counts on many tracks
    tracks = b"".join(packet(i, descriptor(i, f"t{i}", message(8))) for i in range(1, 33))
    return tracks + b"".join(packet(i, message(11, number(9, 4), number(11, 1), number(30, i),
                                               *(number(31, k) for k in range(1, 33)), *(number(12, k) for k in range(1, 33))))
                             for i in range(n))


@grows("perfetto many extra counters", 5000)
def _(n):
    return b"".join(packet(i, descriptor(i, f"t{i}", message(8))) for i in range(1, n)) + packet(
        n, message(11, number(9, 4), number(11, 1), number(30, 1), *(number(31, k) for k in range(1, n)),
                   *(number(12, k) for k in range(1, n))))


@grows("perfetto names", 10000)
def _(n):
    return b"".join(packet(i, slice_event(3, 7, text(23, f"x{i}"), text(22, f"c{i}"))) for i in range(n))


@grows("perfetto interned names", 5000)
def _(n):
    return b"".join(packet(i, message(12, message(2, number(1, i), text(2, f"x{i}"))), slice_event(3, 7, number(10, i)),
                           number(13, 2)) for i in range(1, n))


@grows("perfetto interned at once", 10000)
def _(n):
    return packet(1, message(12, *(message(2, number(1, i), text(2, f"x{i}")) for i in range(1, n))), number(13, 1)) + b"".join(
        packet(i, slice_event(3, 7, number(10, i)), number(13, 2)) for i in range(1, n))


@grows("perfetto far interned", 5000)
def _(n):
    return packet(0, number(13, 1)) + b"".join(packet(
        i, message(12, message(2, number(1, i << 40), text(2, f"x{i}"))), slice_event(3, 7, number(10, i << 40)),
        number(13, 2)) for i in range(1, n))


@grows("perfetto sequences", 2500)
def _(n):
    return b"".join(packet(i, slice_event(1, 7, text(23, "x")), sequence=i) for i in range(1, n))


@grows("perfetto interned sequences", 1500)
def _(n):
    return b"".join(packet(i, message(12, message(2, number(1, 1), text(2, f"x{i}"))), slice_event(3, 7, number(10, 1)),
                           number(13, 1), sequence=i) for i in range(1, n))


@grows("perfetto nested", 10000)
def _(n):
    return b"".join(packet(i, slice_event(1, 7, text(23, "x"))) for i in range(n)) + b"".join(
        packet(n + i, slice_event(2, 7)) for i in range(n))


@grows("perfetto nested names", 5000)
def _(n):
    return b"".join(packet(i, slice_event(1, 7, text(23, f"x{i}"))) for i in range(n)) + b"".join(
        packet(n + i, slice_event(2, 7)) for i in range(n))


@grows("perfetto arguments", 10000)
def _(n):
    return packet(1, slice_event(3, 7, text(23, "x"), *(message(4, text(10, f"a{i}"), number(4, i)) for i in range(n))))


@grows("perfetto argument names", 5000)
def _(n):
    return b"".join(packet(i, slice_event(3, 7, text(23, "x"), message(4, text(10, f"a{i}"), number(4, i)))) for i in range(n))


@grows("perfetto arguments of names", 5000)
def _(n):
    return b"".join(packet(i, slice_event(3, 7, text(23, f"x{i}"), message(4, text(10, f"a{i}"), number(4, i)))) for i in range(n))


@grows("perfetto flows", 5000)
def _(n):
    return b"".join(packet(i, slice_event(3, 7, text(23, "x"), varint(47 << 3 | 1) + q(i))) for i in range(n)) + b"".join(
        packet(n + i, slice_event(3, 7, text(23, "x"), varint(48 << 3 | 1) + q(i))) for i in range(n))


@grows("perfetto flows of one event", 10000)
def _(n):
    return packet(1, slice_event(3, 7, text(23, "x"), *(varint(47 << 3 | 1) + q(i) for i in range(n))))


@grows("perfetto legacy async", 5000)
def _(n):
    legacy = lambda phase, i: message(6, number(2, ord(phase)), number(10, i))
    return b"".join(packet(i, message(11, text(23, "x"), legacy("b", i))) for i in range(n)) + b"".join(
        packet(n + i, message(11, text(23, "x"), legacy("e", i))) for i in range(n))


@grows("perfetto legacy threads", 5000)
def _(n):
    return b"".join(packet(i, message(11, text(23, "x"), message(6, number(2, ord("B")), number(18, i), number(19, i)))) for i in range(1, n))


@grows("perfetto legacy ids open", 5000)
def _(n):
    legacy = lambda phase, i: message(6, number(2, ord(phase)), number(10, i))
    return b"".join(packet(i, message(11, text(23, f"x{i}"), legacy("b", i))) for i in range(n))


@grows("perfetto legacy one id", 5000)
def _(n):
    legacy = lambda phase: message(6, number(2, ord(phase)), number(10, 1))
    return b"".join(packet(i, message(11, text(23, f"x{i}"), legacy("b"))) for i in range(n)) + b"".join(
        packet(n + i, message(11, text(23, f"x{i}"), legacy("e"))) for i in range(n))


def clocks(time, *readings, sequence=1):
    return message(1, message(6, *(message(1, number(1, clock), number(2, value)) for clock, value in readings)), number(8, time),
                   number(10, sequence))


@grows("perfetto clock snapshots", 5000)
def _(n):
    return b"".join(clocks(i, (6, i), (3, 2 * i), (1, 3 * i)) + packet(2 * i, slice_event(3, 7, text(23, "x")), number(58, 3))
                    for i in range(n))


@grows("perfetto clock steps back", 5000)
def _(n):
    return b"".join(clocks(i, (6, 1000000 + i), (3, 2**40 - i), (1, 3 * i)) for i in range(n)) + b"".join(
        packet(2**40 - i, slice_event(3, 7, text(23, "x")), number(58, 3)) for i in range(n))


@grows("perfetto clocks", 5000)
def _(n):
    return b"".join(clocks(i, (6, i), (128 + i, 2 * i)) + packet(2 * i, slice_event(3, 7, text(23, "x")), number(58, 128 + i))
                    for i in range(n))


@grows("perfetto clocks of sequences", 1500)
def _(n):
    return b"".join(clocks(i, (6, i), (64, 2 * i), sequence=i) + packet(2 * i, slice_event(3, 7, text(23, "x")), number(58, 64), sequence=i)
                    for i in range(1, n))


@grows("perfetto process tree", 10000)
def _(n):
    return packet(1, message(2, *(message(1, number(1, i), number(2, i - 1), text(3, f"p{i}")) for i in range(1, n)),
                             *(message(2, number(1, i + 1000000), number(3, i), text(2, f"t{i}")) for i in range(1, n)))) + b"".join(
        packet(i, message(11, text(23, "x"), message(6, number(2, ord("B")), number(18, i), number(19, i)))) for i in range(1, n, 10))


@grows("perfetto process stats", 5000)
def _(n):
    return packet(1, message(9, *(message(1, number(1, i), number(2, i), number(3, i)) for i in range(1, n))))


def bundle(cpu, *parts):
    return message(1, message(1, number(1, cpu), *parts), number(10, 1))


def ftrace_event(time, pid, *parts):
    return message(2, number(1, time), number(2, pid), *parts)


@grows("perfetto ftrace", 5000)
def _(n):
    return bundle(0, *(ftrace_event(i, i % 1000, message(4, text(1, "a"), number(2, i % 1000), number(3, 120), number(4, 0),
                                                         text(5, "b"), number(6, (i + 1) % 1000), number(7, 120))) for i in range(n)))


@grows("perfetto ftrace bundles", 5000)
def _(n):
    return b"".join(bundle(i % 1000, ftrace_event(i, i, message(3, number(1, 5), text(2, f"m{i}\n")))) for i in range(n))


@grows("perfetto ftrace cpus", 1500)
def _(n):
    return b"".join(bundle(i, ftrace_event(n - i, i, message(3, number(1, 5), text(2, "m\n")))) for i in range(n))


@grows("perfetto atrace", 5000)
def _(n):
    return bundle(0, *(ftrace_event(i, 1, message(3, number(1, 5), text(2, f"B|1|f{i}\n"))) for i in range(n)))


@grows("perfetto kernel symbols", 5000)
def _(n):
    return packet(1, message(12, *(message(26, number(1, i), text(2, f"f{i}")) for i in range(1, n))), number(13, 1)) + bundle(
        0, *(ftrace_event(i, 1, message(339, number(1, i), number(2, i))) for i in range(1, n)))


@grows("perfetto samples", 2500)
def _(n):
    intern = message(12, *(message(5, number(1, i), text(2, f"f{i}")) for i in range(1, n)),
                     *(message(6, number(1, i), number(2, i)) for i in range(1, n)),
                     *(message(7, number(1, i), number(2, i), number(2, n - i)) for i in range(1, n)))
    return packet(0, intern, number(13, 1)) + b"".join(
        packet(i, message(66, number(1, 0), number(2, 1), number(3, 1), number(4, i), number(6, 1)), number(13, 2)) for i in range(1, n))


@grows("perfetto deep callstack", 5000)
def _(n):
    intern = message(12, *(message(5, number(1, i), text(2, f"f{i}")) for i in range(1, n)),
                     *(message(6, number(1, i), number(2, i)) for i in range(1, n)),
                     message(7, number(1, 1), *(number(2, i) for i in range(1, n))))
    return packet(0, intern, number(13, 1)) + b"".join(
        packet(i, message(66, number(1, 0), number(2, 1), number(3, 1), number(4, 1), number(6, 1)), number(13, 2)) for i in range(1, 100))


@grows("perfetto module symbols", 2500)
def _(n):
    intern = message(12, message(16, number(1, 1), text(2, b"id")), message(17, number(1, 1), text(2, "lib")),
                     message(19, number(1, 1), number(2, 1), number(4, 1 << 30), number(7, 1)),
                     *(message(6, number(1, i), number(3, 1), number(4, i * 16)) for i in range(1, n)),
                     *(message(7, number(1, i), number(2, i)) for i in range(1, n)))
    return packet(0, intern, number(13, 1)) + b"".join(
        packet(i, message(66, number(1, 0), number(2, 1), number(3, 1), number(4, i), number(6, 1)), number(13, 2)) for i in range(1, n)
    ) + packet(n, message(61, text(1, "lib"), text(2, b"id"), *(message(3, number(1, i * 16), message(2, text(1, f"f{i}"))) for i in range(1, n))))


@grows("perfetto unknown fields", 10000)
def _(n):
    return packet(0, slice_event(3, 7, text(23, "x"), *(number(1000 + i, 5) for i in range(n))))


@grows("perfetto log", 5000)
def _(n):
    return packet(1, message(39, *(message(1, number(1, 1), number(2, i), number(3, i), number(4, i), text(6, f"t{i}"), text(7, f"m{i}")) for i in range(n))))


@grows("perfetto frames", 2500)
def _(n):
    return b"".join(packet(i, message(76, message(1, number(1, i), number(2, i), number(3, 1)))) +
                    packet(i + 5, message(76, message(5, number(1, i)))) for i in range(1, n))


@grows("perfetto open frames", 5000)
def _(n):
    return b"".join(packet(i, message(76, message(1, number(1, i), number(2, i), number(3, 1)))) for i in range(1, n)) + b"".join(
        packet(n + i, message(76, message(5, number(1, i)))) for i in range(1, n))


@grows("pprof samples", 10000)
def _(n):
    return pprof(n, 10)


@grows("pprof functions", 5000)
def _(n):
    return pprof(n, n)


def pprof(nsamples, nfunctions, labels=lambda i: b"", stack=lambda i, n: [i % n + 1], lines=1, mappings=1):
    strings = ["", "samples", "count"] + [f"f{i}" for i in range(nfunctions)]
    return b"".join((
        message(1, number(1, 1), number(2, 2)),
        *(message(3, number(1, i + 1), number(2, i << 20), number(3, (i << 20) + 4096), number(5, 3 + i % nfunctions)) for i in range(mappings)),
        *(message(4, number(1, i + 1), number(2, i % mappings + 1), number(3, ((i % mappings) << 20) + 5),
                  *(message(4, number(1, i + 1), number(2, 5)) for _ in range(lines))) for i in range(nfunctions)),
        *(message(5, number(1, i + 1), number(2, 3 + i)) for i in range(nfunctions)),
        *(text(6, string) for string in strings),
        *(message(2, message(1, *(varint(k) for k in stack(i, nfunctions))), message(2, varint(1)), labels(i)) for i in range(nsamples))))


@grows("pprof mappings", 5000)
def _(n):
    return pprof(n, n, mappings=n)


@grows("pprof deep", 10000)
def _(n):
    return pprof(1, n, stack=lambda i, n: range(1, n + 1))


@grows("pprof inlined", 10000)
def _(n):
    return pprof(2, 2, lines=n)


@grows("pprof labels", 5000)
def _(n):
    return pprof(1, 1, labels=lambda i: b"".join(message(3, number(1, 3), number(3, k)) for k in range(n)))


@grows("pprof label keys", 5000)
def _(n):
    return pprof(n, n, labels=lambda i: message(3, number(1, 3 + i), number(3, i)))


@grows("pprof keys of a sample", 5000)
def _(n):
    return pprof(1, n, labels=lambda i: b"".join(message(3, number(1, 3 + k), number(3, k)) for k in range(n)))


@grows("pprof values", 5000)
def _(n):
    return b"".join(message(1, number(1, 1), number(2, 2)) for i in range(n)) + message(2, number(1, 1), *(number(2, 5) for i in range(n))) + \
        message(4, number(1, 1), message(4, number(1, 1))) + message(5, number(1, 1), number(2, 1)) + text(6, "") + text(6, "x") + text(6, "y")


@grows("pprof comments", 5000)
def _(n):
    return pprof(1, n) + b"".join(number(13, i + 1) for i in range(n))


@grows("pprof ids backwards", 5000)
def _(n):
    return pprof(n, n).replace(b"", b"") if not n else b"".join((
        message(1, number(1, 1), number(2, 2)),
        *(message(2, number(1, (n - i) << 33), number(2, 1)) for i in range(n)),
        *(message(4, number(1, (n - i) << 33), number(3, i), message(4, number(1, (n - i) << 33))) for i in range(n)),
        *(message(5, number(1, (n - i) << 33), number(2, 3 + i)) for i in range(n)),
        text(6, ""), text(6, "samples"), text(6, "count"), *(text(6, f"f{i}") for i in range(n))))


# --- CTF ---

TSDL = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 16; align = 8; signed = false; } := u16;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ctime;
"""
TSDL_STREAM = """stream { id = %d; event.header := struct { u32 id; ctime timestamp; };
 packet.context := struct { ctime timestamp_begin; ctime timestamp_end; u64 content_size; u64 packet_size; u32 cpu_id; }; };
"""


def ctf_packet(body, begin=0, end=0, stream=0, cpu=0):
    size = 8 * (8 + 36 + len(body))
    return struct.pack("<IIQQQQI", 0xC1FC1FC1, stream, begin, end, size, size, cpu) + body


def ctf(path, metadata, *packets, **files):
    files.setdefault("c_0", b"".join(packets))
    with open(f"{path}/metadata", "w") as f:
        f.write(TSDL + TSDL_STREAM % 0 + metadata)
    for name, content in files.items():
        with open(f"{path}/{name}", "wb") as f:
            f.write(content)


def ctf_event(number, time, form="", *values):
    return struct.pack("<IQ" + form, number, time, *values)


ONE = 'event { id = 0; name = "e"; stream_id = 0; fields := struct { u32 f; }; };\n'


@grows("ctf events", 10000)
def _(n, path):
    ctf(path, ONE, ctf_packet(b"".join(ctf_event(0, i, "I", i) for i in range(n)), 0, n))


@grows("ctf packets", 5000)
def _(n, path):
    ctf(path, ONE, *(ctf_packet(ctf_event(0, i, "I", i), i, i) for i in range(n)))


@grows("ctf files", 100)
def _(n, path):
    ctf(path, ONE, **{f"c_{i}": ctf_packet(ctf_event(0, i, "I", i), i, i, cpu=i) for i in range(n)})


@grows("ctf interleaved files", 100)
def _(n, path):
    ctf(path, ONE, **{f"c_{i}": ctf_packet(b"".join(ctf_event(0, i + k * n, "I", i) for k in range(50)), i, i + 50 * n, cpu=i)
                      for i in range(n)})


@grows("ctf traces", 50)
def _(n, path):
    for i in range(n):
        os.mkdir(f"{path}/t{i}")
        ctf(f"{path}/t{i}", ONE, ctf_packet(ctf_event(0, i, "I", i), i, i))


@grows("ctf classes", 2500)
def _(n, path):
    ctf(path, "".join(f'event {{ id = {i}; name = "e{i}"; stream_id = 0; fields := struct {{ u32 f{i}; }}; }};\n' for i in range(n)),
        ctf_packet(b"".join(ctf_event(i, i, "I", i) for i in range(n)), 0, n))


@grows("ctf classes of far ids", 2500)
def _(n, path):
    ctf(path, "".join(f'event {{ id = {i << 17}; name = "e{i}"; stream_id = 0; fields := struct {{ u32 f{i}; }}; }};\n' for i in range(min(n, 32000))),
        ctf_packet(b"".join(ctf_event((i << 17) % (1 << 32), i, "I", i) for i in range(n)), 0, n))


@grows("ctf classes of one name", 2500)
def _(n, path):
    ctf(path, "".join(f'event {{ id = {i}; name = "e"; stream_id = 0; fields := struct {{ u32 f{i}; }}; }};\n' for i in range(n)),
        ctf_packet(b"".join(ctf_event(i, i, "I", i) for i in range(n)), 0, n))


@grows("ctf fields", 2500)
def _(n, path):
    ctf(path, 'event { id = 0; name = "e"; stream_id = 0; fields := struct { %s }; };\n' % "".join(f"u32 f{i};" for i in range(n)),
        ctf_packet(ctf_event(0, 1) + bytes(4 * n) + ctf_event(0, 2) + bytes(4 * n), 0, n))


@grows("ctf structures", 2500)
def _(n, path):
    ctf(path, "".join(f"struct s{i} {{ u32 a; u32 b; }};\n" for i in range(n)) +
        'event { id = 0; name = "e"; stream_id = 0; fields := struct { %s }; };\n' % "".join(f"struct s{i} f{i};" for i in range(min(n, 1000))),
        ctf_packet(ctf_event(0, 1) + bytes(8 * min(n, 1000)), 0, n))


@grows("ctf nested structures", 500)
def _(n, path):
    ctf(path, "struct s0 { u32 a; };\n" + "".join(f"struct s{i} {{ struct s{i - 1} a; }};\n" for i in range(1, n)) +
        'event { id = 0; name = "e"; stream_id = 0; fields := struct { struct s%d f; }; };\n' % (n - 1),
        ctf_packet(ctf_event(0, 1, "I", 1), 0, n))


@grows("ctf typealiases", 5000)
def _(n, path):
    ctf(path, "".join(f"typealias u32 := a{i};\n" for i in range(n)) + ONE, ctf_packet(ctf_event(0, 1, "I", 1), 0, n))


@grows("ctf chain of typealiases", 5000)
def _(n, path):
    ctf(path, "typealias u32 := a0;\n" + "".join(f"typealias a{i - 1} := a{i};\n" for i in range(1, n)) +
        'event { id = 0; name = "e"; stream_id = 0; fields := struct { a%d f; }; };\n' % (n - 1), ctf_packet(ctf_event(0, 1, "I", 1), 0, n))


@grows("ctf enumerators", 5000)
def _(n, path):
    ctf(path, 'event { id = 0; name = "e"; stream_id = 0; fields := struct { enum : u32 { %s } f; }; };\n' % ",".join(f"E{i} = {i}" for i in range(n)),
        ctf_packet(b"".join(ctf_event(0, i, "I", i) for i in range(n)), 0, n))


@grows("ctf enumerations", 1500)
def _(n, path):
    ctf(path, "".join(f'event {{ id = {i}; name = "e{i}"; stream_id = 0; fields := struct {{ enum : u32 {{ A{i}, B{i} }} f; }}; }};\n' for i in range(n)),
        ctf_packet(b"".join(ctf_event(i, i, "I", 1) for i in range(n)), 0, n))


@grows("ctf variants", 1000)
def _(n, path):
    ctf(path, 'event { id = 0; name = "e"; stream_id = 0; fields := struct { enum : u32 { %s } t; variant <t> { %s } v; }; };\n' % (
        ",".join(f"E{i} = {i}" for i in range(n)), "".join(f"u32 E{i};" for i in range(n))),
        ctf_packet(b"".join(ctf_event(0, i, "II", i, 5) for i in range(n)), 0, n))


@grows("ctf many variants", 500)
def _(n, path):
    ctf(path, 'event { id = 0; name = "e"; stream_id = 0; fields := struct { enum : u32 { A, B } t; %s }; };\n' %
        "".join(f"variant <t> {{ u32 A; u16 B; }} v{i};" for i in range(n)), ctf_packet(ctf_event(0, 1, "I", 0) + bytes(4 * n), 0, n))


@grows("ctf sequences", 1000)
def _(n, path):
    ctf(path, 'event { id = 0; name = "e"; stream_id = 0; fields := struct { %s }; };\n' %
        "".join(f"u32 n{i}; u8 s{i}[n{i}];" for i in range(n)), ctf_packet(ctf_event(0, 1) + bytes(4 * n), 0, n))


@grows("ctf sequences of one length", 1000)
def _(n, path):
    ctf(path, 'event { id = 0; name = "e"; stream_id = 0; fields := struct { u32 n; %s }; };\n' %
        "".join(f"u8 s{i}[n];" for i in range(n)), ctf_packet(ctf_event(0, 1, "I", 1) + bytes(n), 0, n))


@grows("ctf long sequence", 20000)
def _(n, path):
    ctf(path, 'event { id = 0; name = "e"; stream_id = 0; fields := struct { u32 n; u32 s[n]; }; };\n',
        ctf_packet(ctf_event(0, 1, "I", n) + bytes(4 * n), 0, n))


@grows("ctf long string", 500000)
def _(n, path):
    ctf(path, 'event { id = 0; name = "e"; stream_id = 0; fields := struct { string s; }; };\n',
        ctf_packet(ctf_event(0, 1) + b"x" * n + b"\0", 0, n))


@grows("ctf streams", 1000)
def _(n, path):
    ctf(path, "".join(TSDL_STREAM % i for i in range(1, n)) +
        "".join(f'event {{ id = 0; name = "e{i}"; stream_id = {i}; fields := struct {{ u32 f; }}; }};\n' for i in range(n)),
        *(ctf_packet(ctf_event(0, i, "I", i), i, i, i) for i in range(n)))


@grows("ctf clocks", 1500)
def _(n, path):
    ctf(path, "".join(f"clock {{ name = c{i}; freq = 1000000000; }};\ntypealias integer {{ size = 64; align = 8; map = clock.c{i}.value; }} := t{i};\n" for i in range(n)) +
        ONE, ctf_packet(ctf_event(0, 1, "I", 1), 0, n))


@grows("ctf unnamed clocks", 4000)
def _(n, path):
    ctf(path, "".join(f"typealias integer {{ size = 64; align = 8; map = clock.c{i}.value; }} := t{i};\n" for i in range(n)) +
        "".join(TSDL_STREAM.replace("ctime", "u64") % i for i in range(1, n)) + ONE, ctf_packet(ctf_event(0, 1, "I", 1), 0, n))


def tar(members, links=()):
    """members: (name, content). links: (name, target)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, target in links:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.LNKTYPE, target
            archive.addfile(member)
    return out.getvalue()


ONE_TRACE = (TSDL + TSDL_STREAM % 0 + ONE).encode()


@grows("ctf traces of a tar", 1000)
def _(n):
    return tar((f"t{i}/{name}", content) for i in range(n) for name, content in (("metadata", ONE_TRACE), ("c_0", b"")))


@grows("ctf links of a tar", 4000)
def _(n):
    # each link is to the member before it
    return tar([("t/metadata", ONE_TRACE), ("t/l0", b"")] + [(f"t/.f{i}", b"") for i in range(n)],
               [(f"t/.l{i}", "t/l0") for i in range(n)])


@grows("ctf environment", 5000)
def _(n, path):
    ctf(path, "env { %s };\n" % "".join(f'a{i} = "x";' for i in range(n)) + ONE, ctf_packet(ctf_event(0, 1, "I", 1), 0, n))


@grows("ctf callsites", 5000)
def _(n, path):
    ctf(path, "".join(f'callsite {{ name = "e"; func = "f{i}"; file = "a"; line = {i}; }};\n' for i in range(n)) + ONE, ctf_packet(ctf_event(0, 1, "I", 1), 0, n))


@grows("ctf comments", 200000)
def _(n, path):
    ctf(path, "/* " + "* " * n + "*/\n" + ONE, ctf_packet(ctf_event(0, 1, "I", 1), 0, n))


@grows("ctf nested braces", 10000)
def _(n, path):
    ctf(path, ONE + "env { x" + "{" * n + "}" * n + "};", ctf_packet(ctf_event(0, 1, "I", 1), 0, n))


@grows("ctf lost events", 2500)
def _(n, path):
    stream = TSDL_STREAM.replace("u32 cpu_id;", "u32 cpu_id; u64 events_discarded; u64 packet_seq_num;") % 1
    ctf(path, stream + ONE + ONE.replace("stream_id = 0", "stream_id = 1"), *(
        struct.pack("<IIQQQQIQQ", 0xC1FC1FC1, 1, i, i, 8 * 76, 8 * 76, i % 100, i, 2 * i) + ctf_event(0, i, "I", i) for i in range(n)))


@grows("ctf lost events of files", 150)
def _(n, path):
    stream = TSDL_STREAM.replace("u32 cpu_id;", "u32 cpu_id; u64 events_discarded; u64 packet_seq_num;") % 1
    ctf(path, stream + ONE + ONE.replace("stream_id = 0", "stream_id = 1"), **{f"c_{k}": b"".join(
        struct.pack("<IIQQQQIQQ", 0xC1FC1FC1, 1, i, i, 8 * 76, 8 * 76, k, i, 2 * i) + ctf_event(0, i, "I", i) for i in range(20)) for k in range(n)})


KERNEL_ENV = 'env { domain = "kernel"; tracer_name = "lttng-modules"; tracer_major = 2; };\n'


@grows("ctf kernel threads", 2500)
def _(n, path):
    ctf(path, KERNEL_ENV + 'event { id = 0; name = "sched_switch"; stream_id = 0; fields := struct { u32 _prev_tid; u32 _next_tid; string _next_comm; }; };\n'
        'event { id = 1; name = "syscall_entry_read"; stream_id = 0; fields := struct { u32 fd; }; };\n',
        ctf_packet(b"".join(ctf_event(0, i, "II", i, i + 1) + b"c%d\0" % i + ctf_event(1, i, "I", 5) for i in range(n)), 0, n))


@grows("ctf system calls", 2500)
def _(n, path):
    ctf(path, KERNEL_ENV + "".join(
        f'event {{ id = {2 * i}; name = "syscall_entry_c{i}"; stream_id = 0; fields := struct {{ u32 f{i}; }}; }};\n'
        f'event {{ id = {2 * i + 1}; name = "syscall_exit_c{i}"; stream_id = 0; fields := struct {{ u32 ret; u32 g{i}; }}; }};\n' for i in range(n)),
        ctf_packet(b"".join(ctf_event(2 * i, 2 * i, "I", 5) + ctf_event(2 * i + 1, 2 * i + 1, "II", 5, 6) for i in range(n)), 0, n))


@grows("ctf system calls of one name", 1500)
def _(n, path):
    ctf(path, KERNEL_ENV + "".join(
        f'event {{ id = {i}; name = "syscall_entry_read"; stream_id = 0; fields := struct {{ u32 f{i}; }}; }};\n' for i in range(n)),
        ctf_packet(b"".join(ctf_event(i, i, "I", 5) for i in range(n)), 0, n))


@grows("ctf system call fields", 1500)
def _(n, path):
    ctf(path, KERNEL_ENV + 'event { id = 0; name = "syscall_entry_read"; stream_id = 0; fields := struct { %s }; };\n' % "".join(f"u8 f{i};" for i in range(n)) +
        'event { id = 1; name = "syscall_exit_read"; stream_id = 0; fields := struct { %s }; };\n' % "".join(f"u8 g{i};" for i in range(n)),
        ctf_packet((ctf_event(0, 1) + bytes(n) + ctf_event(1, 2) + bytes(n)) * 10, 0, n))


UST = ('env { domain = "ust"; tracer_name = "lttng-ust"; tracer_major = 2; };\nevent { id = 0; name = "lttng_ust_cyg_profile:func_entry"; stream_id = 0;'
       ' fields := struct { u64 addr; u64 call_site; }; };\n'
       'event { id = 1; name = "lttng_ust_cyg_profile:func_exit"; stream_id = 0; fields := struct { u64 addr; u64 call_site; }; };\n'
       'event { id = 2; name = "lttng_ust_statedump:bin_info"; stream_id = 0; fields := struct { u64 baddr; u64 memsz; string path; u8 is_pic; }; };\n')


@grows("ctf functions", 5000)
def _(n, path):
    ctf(path, UST, ctf_packet(b"".join(ctf_event(0, i, "QQ", 4096 + i, 5) for i in range(n)) +
                              b"".join(ctf_event(1, n + i, "QQ", 4096 + n - i, 5) for i in range(n)), 0, 2 * n))


@grows("ctf modules", 5000)
def _(n, path):
    ctf(path, UST, ctf_packet(b"".join(ctf_event(2, i, "QQ", (n - i) << 16, 4096) + b"/lib/l%d.so\0\1" % i +
                                       ctf_event(0, i, "QQ", ((n - i) << 16) + 5, 5) for i in range(n)), 0, 2 * n))


def ctf2(path, fragments, *packets):
    import json
    with open(f"{path}/metadata", "wb") as f:
        for fragment in fragments:
            f.write(b"\x1e" + json.dumps(fragment).encode() + b"\n")
    with open(f"{path}/c_0", "wb") as f:
        f.write(b"".join(packets))


def unsigned(bits, **others):
    return {"type": "fixed-length-unsigned-integer", "length": bits, "byte-order": "little-endian", "alignment": 8, **others}


def ctf2_trace(events, aliases=()):
    return [{"type": "preamble", "version": 2},
            *({"type": "field-class-alias", "name": name, "field-class": fc} for name, fc in aliases),
            {"type": "trace-class"},
            {"type": "data-stream-class", "event-record-header-field-class": {"type": "structure", "member-classes": [
                {"name": "id", "field-class": unsigned(32, roles=["event-record-class-id"])}]}},
            *events]


@grows("ctf2 classes", 1500)
def _(n, path):
    ctf2(path, ctf2_trace([{"type": "event-record-class", "id": i, "name": f"e{i}", "payload-field-class": {
        "type": "structure", "member-classes": [{"name": f"f{i}", "field-class": unsigned(32)}]}} for i in range(n)]),
        b"".join(struct.pack("<II", i, i) for i in range(n)))


@grows("ctf2 aliases", 2500)
def _(n, path):
    ctf2(path, ctf2_trace([{"type": "event-record-class", "id": 0, "name": "e", "payload-field-class": {
        "type": "structure", "member-classes": [{"name": f"f{i}", "field-class": f"a{i}"} for i in range(n)]}}],
        [(f"a{i}", unsigned(32)) for i in range(n)]), struct.pack("<I", 0) + bytes(4 * n))


@grows("ctf2 mappings", 2500)
def _(n, path):
    ctf2(path, ctf2_trace([{"type": "event-record-class", "id": 0, "name": "e", "payload-field-class": {
        "type": "structure", "member-classes": [{"name": "f", "field-class": unsigned(32, mappings={f"m{i}": [[i, i]] for i in range(n)})}]}}]),
        b"".join(struct.pack("<II", 0, i) for i in range(n)))


@grows("ctf2 flags", 20)
def _(n, path):
    ctf2(path, ctf2_trace([{"type": "event-record-class", "id": 0, "name": "e", "payload-field-class": {
        "type": "structure", "member-classes": [{"name": "f", "field-class": {
            "type": "fixed-length-bit-map", "length": 64, "byte-order": "little-endian", "alignment": 8,
            "flags": {f"m{i}": [[i % 64, i % 64]] for i in range(n * 100)}}}]}}]),
        b"".join(struct.pack("<IQ", 0, i) for i in range(100 * n)))


# --- legacy LTTng ---

def lttng_block(body, begin, end, minor=6):
    size = 68 + len(body)
    whole = (size + 4095) & ~4095
    return (struct.pack("<QQIBBBBQQQIIIII", begin, end, 0x00D6B7ED, 2, minor, 8, 0, 1000, 0, 10**9, 1, size, whole, 0, 0) +
            body).ljust(whole, b"\0")


def lttng_event(number, time, payload):
    return struct.pack("<IH", time & 0x7ffffff | 31 << 27, number) + payload


def lttng_marker(number, channel, name, form):
    z = lambda *texts: b"".join(t.encode() + b"\0" for t in texts)
    return (lttng_event(0, 1, z(channel, name) + struct.pack("<HBBBBB", number, 4, 8, 8, 8, 0)) +
            lttng_event(1, 1, z(channel, name, form)))


def lttng(path, markers, **files):
    core = lttng_marker(0, "metadata", "core_marker_id", "channel %s name %s event_id %hu int #1u%u long #1u%u pointer #1u%u size_t #1u%u alignment #1u%u")
    core += lttng_marker(1, "metadata", "core_marker_format", "channel %s name %s format %s")
    with open(f"{path}/metadata_0", "wb") as f:
        f.write(lttng_block(core + b"".join(markers), 1, 1))
    for name, content in files.items():
        with open(f"{path}/{name}", "wb") as f:
            f.write(content)


@grows("lttng events", 10000)
def _(n, path):
    lttng(path, [lttng_marker(0, "kernel", "e", "a %u")], kernel_0=lttng_block(
        b"".join(lttng_event(0, i, struct.pack("<I", i)) for i in range(1, n)), 1, n))


@grows("lttng blocks", 2500)
def _(n, path):
    lttng(path, [lttng_marker(0, "kernel", "e", "a %u")], kernel_0=b"".join(
        lttng_block(lttng_event(0, i, struct.pack("<I", i)), i, i) for i in range(1, n)))


@grows("lttng markers", 2500)
def _(n, path):
    lttng(path, [lttng_marker(i, "kernel", f"e{i}", f"a{i} %u") for i in range(n)], kernel_0=lttng_block(
        b"".join(lttng_event(i, i, struct.pack("<I", i)) for i in range(1, n)), 1, n))


@grows("lttng channels", 150)
def _(n, path):
    lttng(path, [lttng_marker(0, f"ch{i}", "e", "a %u") for i in range(n)], **{f"ch{i}_0": lttng_block(
        b"".join(lttng_event(0, i + k, struct.pack("<I", i)) for k in range(20)), i, i + 20) for i in range(1, n)})


@grows("lttng many channels", 2500)
def _(n, path):
    lttng(path, [lttng_marker(0, f"ch{i}", "e", "a %u") for i in range(n)], ch0_0=lttng_block(lttng_event(0, 1, bytes(4)), 1, 1))


@grows("lttng processors", 150)
def _(n, path):
    lttng(path, [lttng_marker(0, "kernel", "e", "a %u")], **{f"kernel_{i}": lttng_block(
        b"".join(lttng_event(0, i + k, struct.pack("<I", i)) for k in range(20)), i, i + 20) for i in range(n)})


@grows("lttng fields", 1500)
def _(n, path):
    lttng(path, [lttng_marker(0, "kernel", "e", " ".join(f"a{i} #1u%u" for i in range(n)))], kernel_0=lttng_block(
        lttng_event(0, 5, bytes(n)) + lttng_event(0, 6, bytes(n)), 1, 9))


@grows("lttng threads", 2500)
def _(n, path):
    lttng(path, [lttng_marker(0, "kernel", "sched_schedule", "prev_pid %d next_pid %d prev_state #8d%ld"),
                 lttng_marker(1, "kernel", "syscall_entry", "ip #p%lu syscall_id #2u%u"), lttng_marker(2, "kernel", "syscall_exit", "ret #8d%ld")],
          kernel_0=lttng_block(b"".join(lttng_event(0, i, struct.pack("<iiq", i, i + 1, 0)) + lttng_event(1, i, struct.pack("<QH", 5, i))
                                        for i in range(1, n)), 1, n))


@grows("lttng processes", 2500)
def _(n, path):
    lttng(path, [lttng_marker(0, "kernel", "process_fork", "parent_pid %d child_pid %d child_tgid %d"),
                 lttng_marker(0, "task_state", "process_state", "pid %d parent_pid %d name %s type %d mode %d submode %d status %d tgid %d")],
          kernel_0=lttng_block(b"".join(lttng_event(0, i, struct.pack("<iii", i, i + 1, i + 1)) for i in range(1, n)), 1, n),
          task_state_0=lttng_block(b"".join(lttng_event(0, 1, struct.pack("<ii", i, i - 1) + b"n%d\0" % i + struct.pack("<iiiii", 1, 1, 1, 1, i)) for i in range(1, n)), 1, n))


@grows("lttng mappings", 2500)
def _(n, path):
    lttng(path, [lttng_marker(0, "vm_state", "vm_map", "pid %d start #8u%llu end #8u%llu flags #8u%llu pgoff #8u%llu inode #8u%llu"),
                 lttng_marker(0, "kernel", "e", "ip #p%lu")],
          vm_state_0=lttng_block(b"".join(lttng_event(0, 1, struct.pack("<iQQQQQ", 1, (n - i) << 16, ((n - i) << 16) + 4096, 5, 0, i)) for i in range(1, n)), 1, n),
          kernel_0=lttng_block(b"".join(lttng_event(0, i, struct.pack("<Q", (i << 16) + 5)) for i in range(1, n)), 1, n))


@grows("lttng calls", 2500)
def _(n, path):
    lttng(path, [lttng_marker(0, "kernel", "irq_entry", "irq_id #4u%u kernel_mode #1u%u ip #p%lu"), lttng_marker(1, "kernel", "irq_exit", "handled #1u%u")],
          kernel_0=lttng_block(b"".join(lttng_event(0, i, struct.pack("<IBQ", i, 1, i)) for i in range(1, n)) +
                               b"".join(lttng_event(1, n + i, b"\1") for i in range(1, n)), 1, 2 * n))


@grows("lttng names", 2500)
def _(n, path):
    lttng(path, [lttng_marker(0, "syscall_state", "sys_call_table", "id #4u%u address #p%lu symbol %s")],
          syscall_state_0=lttng_block(b"".join(lttng_event(0, 1, struct.pack("<IQ", i, i) + b"s%d\0" % i) for i in range(n)), 1, 2 * n))


# --- apitrace ---

def snappy(content):
    """Chunks of literals."""
    out = [b"at"]
    for at in range(0, len(content), 1 << 20):
        part = content[at:at + (1 << 20)]
        block = bytearray(varint(len(part)))
        for k in range(0, len(part), 60):
            piece = part[k:k + 60]
            block.append((len(piece) - 1) << 2)
            block += piece
        out.append(struct.pack("<I", len(block)) + bytes(block))
    return b"".join(out)


def z(value):
    return varint(len(value)) + value.encode()


def api_signature(number, known, name, *args):
    if number in known:
        return varint(number)
    known.add(number)
    return varint(number) + z(name) + varint(len(args)) + b"".join(z(a) for a in args)


def api_calls(n, one, leaves=None):
    known = set()
    return snappy(b"\5" + b"".join(one(i, known) for i in range(n)) + (leaves(n) if leaves else b""))


@grows("apitrace calls", 10000)
def _(n):
    return api_calls(n, lambda i, known: b"\0\0" + api_signature(5, known, "f", "a") + b"\1\0\4\7\0\1" + varint(i) + b"\0")


@grows("apitrace functions", 5000)
def _(n):
    return api_calls(n, lambda i, known: b"\0\0" + api_signature(i, known, f"f{i}", f"a{i}") + b"\1\0\4\7\0\1" + varint(i) + b"\0")


@grows("apitrace functions of one name", 5000)
def _(n):
    return api_calls(n, lambda i, known: b"\0\0" + api_signature(i, known, "f", f"a{i}") + b"\1\0\4\7\0\1" + varint(i) + b"\0")


@grows("apitrace threads", 5000)
def _(n):
    return api_calls(n, lambda i, known: b"\0" + varint(i) + api_signature(5, known, "f", "a") + b"\1\0\4\7\0\1" + varint(i) + b"\0")


@grows("apitrace open", 5000)
def _(n):
    return api_calls(n, lambda i, known: b"\0\0" + api_signature(5, known, "f", "a") + b"\1\0\4\7\0",
                     lambda n: b"".join(b"\1" + varint(i) + b"\0" for i in range(n)))


@grows("apitrace never left", 5000)
def _(n):
    return api_calls(n, lambda i, known: b"\0" + varint(i % 1000) + api_signature(5, known, "f", "a") + b"\1\0\4\7\0")


@grows("apitrace parameters", 2500)
def _(n):
    known = set()
    return snappy(b"\5\0\0" + api_signature(5, known, "f", *(f"a{i}" for i in range(n))) +
                  b"".join(b"\1" + varint(i) + b"\4\7" for i in range(n)) + b"\0\1\0\0" + (b"\0\0\5\0\1\1\0"))


@grows("apitrace structures", 2500)
def _(n):
    structures = set()
    return api_calls(n, lambda i, known: b"\0\0" + api_signature(5, known, "f", "a") + b"\1\0\x0c" +
                     api_signature(i, structures, f"s{i}", "m") + b"\4\7" + b"\0\1" + varint(i) + b"\0")


@grows("apitrace members", 2500)
def _(n):
    known = set()
    return snappy(b"\5\0\0" + api_signature(5, known, "f", "a") + b"\1\0\x0c" + api_signature(1, set(), "s", *(f"m{i}" for i in range(n))) +
                  b"\4\7" * n + b"\0\1\0\0")


@grows("apitrace enumerators", 5000)
def _(n):
    known = set()
    signature = b"\1" + varint(n) + b"".join(z(f"E{i}") + b"\4" + varint(i) for i in range(n))
    return snappy(b"\5" + b"".join(b"\0\0" + api_signature(5, known, "f", "a") + b"\1\0\x0a" + (signature if not i else b"\1") + b"\4" + varint(i) +
                                   b"\0\1" + varint(i) + b"\0" for i in range(n)))


@grows("apitrace enumerations", 2500)
def _(n):
    known = set()
    return snappy(b"\5" + b"".join(b"\0\0" + api_signature(5, known, "f", "a") + b"\1\0\x0a" + varint(i) + varint(1) + z(f"E{i}") + b"\4\5" + b"\4\5" +
                                   b"\0\1" + varint(i) + b"\0" for i in range(n)))


@grows("apitrace bitmasks", 5000)
def _(n):
    known = set()
    signature = b"\1" + varint(n) + b"".join(z(f"E{i}") + varint(i) for i in range(n))
    return snappy(b"\5" + b"".join(b"\0\0" + api_signature(5, known, "f", "a") + b"\1\0\x0b" + (signature if not i else b"\1") + varint(i) +
                                   b"\0\1" + varint(i) + b"\0" for i in range(100)))


@grows("apitrace arrays", 20000)
def _(n):
    known = set()
    return snappy(b"\5\0\0" + api_signature(5, known, "f", "a") + b"\1\0\x0d" + varint(n) + b"\4\7" * n + b"\0\1\0\0")


@grows("apitrace nested arrays", 10000)
def _(n):
    known = set()
    return snappy(b"\5\0\0" + api_signature(5, known, "f", "a") + b"\1\0" + b"\x0d\1" * n + b"\4\7" + b"\0\1\0\0")


@grows("apitrace long text", 200000)
def _(n):
    known = set()
    return snappy(b"\5\0\0" + api_signature(5, known, "f", "a") + b"\1\0\7" + varint(n) + b"x" * n + b"\0\1\0\0")


@grows("apitrace texts", 5000)
def _(n):
    return api_calls(n, lambda i, known: b"\0\0" + api_signature(5, known, "f", "a") + b"\1\0\7" + z(f"t{i}") + b"\0\1" + varint(i) + b"\0")


@grows("apitrace backtraces", 2500)
def _(n):
    return api_calls(n, lambda i, known: b"\0\0" + api_signature(5, known, "f", "a") + b"\4\2" + varint(2 * i) + b"\1" + z(f"m{i}") + b"\2" + z(f"f{i}") + b"\0" +
                     varint(2 * i + 1) + b"\2" + z("g") + b"\0" + b"\0\1" + varint(i) + b"\0")


@grows("apitrace deep backtrace", 2500)
def _(n):
    known = set()
    return snappy(b"\5\0\0" + api_signature(5, known, "f", "a") + b"\4" + varint(n) + b"".join(varint(i) + b"\2" + z(f"f{i}") + b"\0" for i in range(n)) + b"\0\1\0\0")


@grows("apitrace properties", 5000)
def _(n):
    return snappy(b"\6\6" + b"".join(z(f"p{i}") + z("v") for i in range(n)) + b"\0" + b"\0\0\5" + z("f") + b"\0\0\1\0\0")


@grows("apitrace chunks", 2500)
def _(n):
    one = b"\0\0\5\0\1\0\0"
    first = b"\5\0\0\5" + z("f") + b"\0\0\1\0\0"
    chunk = lambda part: struct.pack("<I", len(part) + 2) + varint(len(part)) + bytes([(len(part) - 1) << 2]) + part
    return b"at" + chunk(first) + chunk(one) * n


# --- uftrace ---

def uftrace_record(time, kind, depth, address, payload=b""):
    return q(time, kind | bool(payload) << 2 | 5 << 3 | (depth & 1023) << 6 | address << 16) + payload


def uftrace(path, tasks, task_lines=(), maps=None, symbols=None, features=0x63, info=(), others=None):
    """tasks: the records by tid. info: (bit, lines) beside taskinfo. others: more files."""
    lines = dict(info)
    lines[7] = [f"taskinfo:lines=2", f"taskinfo:nr_tid={len(tasks)}", "taskinfo:tids=" + ",".join(map(str, tasks))]
    mask = sum(1 << bit for bit in lines)
    with open(f"{path}/info", "wb") as f:
        f.write(b"Ftrace!\0" + struct.pack("<IHBBQQHHI", 4, 40, 1, 2, features, mask, 1024, 0, 0) +
                "".join(line + "\n" for bit in sorted(lines) for line in lines[bit]).encode())
    with open(f"{path}/task.txt", "w") as f:
        first = next(iter(tasks))
        f.write(f'SESS timestamp=0.000000500 pid={first} sid=0123456789abcdef exename="/bin/a"\n')
        f.writelines(f"TASK timestamp=0.000000600 tid={tid} pid={first}\n" for tid in tasks)
        f.writelines(line + "\n" for line in task_lines)
    with open(f"{path}/sid-0123456789abcdef.map", "w") as f:
        f.write(maps or "00400000-00500000 r-xp 00000000 00:00 0    /bin/a\n")
    with open(f"{path}/a.sym", "w") as f:
        f.write("# symbols: 1\n# path name: /bin/a\n" + (symbols or "0000000000001000 T work\n0000000000001100 ? __sym_end\n"))
    for tid, content in tasks.items():
        with open(f"{path}/{tid}.dat", "wb") as f:
            f.write(content)
    for name, content in (others or {}).items():
        with open(f"{path}/{name}", "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)


def uftrace_calls(n, address=lambda i: 0x401000, first=1000):
    return b"".join(uftrace_record(first + 10 * i, k, 0, address(i)) for i in range(n) for k in (0, 1))


@grows("uftrace records", 10000)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n)})


@grows("uftrace tasks", 250)
def _(n, path):
    calls = uftrace_calls(10)
    uftrace(path, {i: calls for i in range(1, n)})


@grows("uftrace tasks without records", 5000)
def _(n, path):
    uftrace(path, {1: uftrace_calls(10)}, [f"TASK timestamp=0.000001000 tid={i} pid=1" for i in range(2, n)])


@grows("uftrace forks", 2500)
def _(n, path):
    uftrace(path, {1: uftrace_calls(10)}, [f"FORK timestamp=0.000001000 pid={i} ppid={i - 1}" for i in range(2, n)])


@grows("uftrace forks with records", 250)
def _(n, path):
    calls = uftrace_calls(10)
    uftrace(path, {i: calls for i in range(1, n)}, [f"FORK timestamp=0.000000700 pid={i} ppid={i - 1}" for i in range(2, n)])


@grows("uftrace forks of forks with records", 100)
def _(n, path):
    calls = uftrace_calls(10)
    uftrace(path, {20 * i + 1: calls for i in range(n)}, [f"FORK timestamp=0.000000700 pid={i} ppid={i - 1}" for i in range(2, 20 * n)])


@grows("uftrace sessions", 1500)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n)}, [f'SESS timestamp=0.{1000 + 10 * i:09d} pid=1 sid=0123456789abcdef exename="/bin/a{i}"\nTASK timestamp=0.{1000 + 10 * i:09d} tid=1 pid=1'
                                           for i in range(n)])


@grows("uftrace sessions of processes", 1500)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n)}, [f'SESS timestamp=0.{1000 + 10 * i:09d} pid={i} sid=0123456789abcdef exename="/bin/a{i}"\nTASK timestamp=0.{1000 + 10 * i:09d} tid={i} pid={i}'
                                           for i in range(1, n)])


@grows("uftrace libraries", 2500)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n, lambda i: (1 << 30) + (i << 16) + 5)}, [
        f'DLOP timestamp=0.000000700 tid=1 sid=0123456789abcdef base={(1 << 30) + (i << 16):x} libname="/lib/l{i}.so"' for i in range(n)])


@grows("uftrace libraries with symbols", 150)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n, lambda i: (1 << 30) + (i << 16) + 0x1005)}, [
        f'DLOP timestamp=0.000000700 tid=1 sid=0123456789abcdef base={(1 << 30) + (i << 16):x} libname="/lib/l{i}.so"' for i in range(n)],
        others={f"l{i}.so.sym": f"# path name: /lib/l{i}.so\n0000000000001000 T f{i}\n0000000000001100 ? __sym_end\n" for i in range(n)})


@grows("uftrace library again", 1500)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n, lambda i: (1 << 30) + 0x1005, 10**6)}, [
        f'DLOP timestamp=0.{1000 + i:09d} tid=1 sid=0123456789abcdef base={(1 << 30) + (i << 16):x} libname="/lib/l.so"' for i in range(n)],
        others={"l.so.sym": "# path name: /lib/l.so\n0000000000001000 T f\n0000000000001100 ? __sym_end\n"})


@grows("uftrace maps", 5000)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n, lambda i: (1 << 30) + (i << 16) + 5)}, maps="".join(
        f"{(1 << 30) + (k << 16):x}-{(1 << 30) + (k << 16) + 4096:x} r-xp 00000000 00:00 0    /lib/l{k}.so\n" for k in range(n - 1, -1, -1)))


@grows("uftrace maps of one", 5000)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n, lambda i: (1 << 30) + (i << 16) + 5)}, maps="".join(
        f"{(1 << 30) + (k << 16):x}-{(1 << 30) + (k << 16) + 4096:x} r-xp 00000000 00:00 0    /bin/{'ab'[k & 1]}\n" for k in range(n)))


@grows("uftrace symbols", 5000)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n, lambda i: 0x400000 + 16 * i)}, maps="00400000-10000000 r-xp 00000000 00:00 0    /bin/a\n",
            symbols="".join(f"{16 * k:016x} T f{k}\n" for k in range(n - 1, -1, -1)))


@grows("uftrace symbols of one address", 5000)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n, lambda i: 0x401000)}, symbols="".join(f"{0x1000:016x} T f{k}\n" for k in range(n)) + "0000000000001100 ? __sym_end\n")


@grows("uftrace addresses", 10000)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n, lambda i: 0x401000 + i)}, maps="00400000-10000000 r-xp 00000000 00:00 0    /bin/a\n")


@grows("uftrace depth", 10000)
def _(n, path):
    uftrace(path, {1: b"".join(uftrace_record(1000 + i, 0, i, 0x401000) for i in range(n)) +
                   b"".join(uftrace_record(1000 + n + i, 1, n - 1 - i, 0x401000) for i in range(n))})


@grows("uftrace lost", 5000)
def _(n, path):
    uftrace(path, {1: b"".join(uftrace_record(0, 2, 0, 5) + uftrace_record(1000 + i, 0, 5, 0x401000) for i in range(n))})


@grows("uftrace damage", 5000)
def _(n, path):
    uftrace(path, {1: b"".join(uftrace_record(1000 + i, 0, 0, 0x401000) + b"\0" * 16 for i in range(n))})


@grows("uftrace long damage", 50000)
def _(n, path):
    uftrace(path, {1: uftrace_record(1000, 0, 0, 0x401000) + b"\0" * 16 * n + uftrace_record(1001, 1, 0, 0x401000)})


@grows("uftrace backwards", 5000)
def _(n, path):
    uftrace(path, {1: b"".join(uftrace_record(10**6 - i, 0, 0, 0x401000) for i in range(n))})


def uftrace_symbols(n):
    return "".join(f"{16 * k:016x} T f{k}\n" for k in range(n)) + f"{16 * n:016x} ? __sym_end\n"


@grows("uftrace arguments", 2500)
def _(n, path):
    uftrace(path, {1: b"".join(uftrace_record(1000 + i, 0, 0, 0x400000 + 16 * i, q(i)) for i in range(n))}, symbols=uftrace_symbols(n), features=0x6b,
            maps="00400000-10000000 r-xp 00000000 00:00 0    /bin/a\n",
            info=[(10, ["argspec:" + ";".join(f"f{i}@arg1" for i in range(n))])])


@grows("uftrace argument patterns", 50)
def _(n, path):
    uftrace(path, {1: b"".join(uftrace_record(1000 + i, 0, 0, 0x400000 + 16 * i, q(i)) for i in range(n))}, symbols=uftrace_symbols(n), features=0x6b,
            maps="00400000-10000000 r-xp 00000000 00:00 0    /bin/a\n",
            info=[(10, ["argspec:" + ";".join(f"^f{i}$@arg1" for i in range(n))])])


@grows("uftrace arguments of one", 1000)
def _(n, path):
    uftrace(path, {1: b"".join(uftrace_record(1000 + i, 0, 0, 0x401000, q(*range(n))) for i in range(3))}, features=0x6b,
            info=[(10, ["argspec:work@" + ",".join(f"arg{i + 1}" for i in range(n))])])


@grows("uftrace automatic arguments", 2500)
def _(n, path):
    uftrace(path, {1: b"".join(uftrace_record(1000 + i, 0, 0, 0x400000 + 16 * i, q(i)) for i in range(n))}, symbols=uftrace_symbols(n), features=0x26b,
            maps="00400000-10000000 r-xp 00000000 00:00 0    /bin/a\n",
            info=[(10, ["argspec:lines=2", "argauto:" + ";".join(f"f{i}@arg1" for i in range(n)), "auto-args:1"])])


@grows("uftrace enumerations", 1500)
def _(n, path):
    uftrace(path, {1: b"".join(uftrace_record(1000 + i, 0, 0, 0x400000 + 16 * i, q(i)) for i in range(n))}, symbols=uftrace_symbols(n), features=0x26b,
            maps="00400000-10000000 r-xp 00000000 00:00 0    /bin/a\n",
            info=[(10, ["argspec:lines=3", "argspec:" + ";".join(f"f{i}@arg1/e:en{i}" for i in range(n)),
                        "argauto:f0@arg1/e:en0", "enumauto:" + "".join(f"enum en{i} {{A{i}=1,B{i}}};" for i in range(n))])])


@grows("uftrace enumerators", 2500)
def _(n, path):
    uftrace(path, {1: b"".join(uftrace_record(1000 + i, 0, 0, 0x401000, q(i)) for i in range(n))}, features=0x26b,
            info=[(10, ["argspec:lines=3", "argspec:work@arg1/e:en", "argauto:f0@arg1/e:en", "enumauto:enum en {" + ",".join(f"A{i}={i}" for i in range(n)) + "}"])])


@grows("uftrace debug information", 2500)
def _(n, path):
    uftrace(path, {1: b"".join(uftrace_record(1000 + i, 0, 0, 0x400000 + 16 * i, q(i)) for i in range(n))}, symbols=uftrace_symbols(n), features=0x66b,
            maps="00400000-10000000 r-xp 00000000 00:00 0    /bin/a\n",
            info=[(10, ["argspec:lines=1", "auto-args:1"])],
            others={"a.dbg": "# path name: /bin/a\n" + "".join(f"F: {16 * i:x} f{i}\nL: {i} /src/s{i}.c\nA: @arg1/e:en{i}\nE: enum en{i} {{A{i}=1}}\n" for i in range(n))})


@grows("uftrace texts", 2500)
def _(n, path):
    data = lambda s: (struct.pack("<H", len(s)) + s).ljust(16, b"\0")
    uftrace(path, {1: b"".join(uftrace_record(1000 + i, 0, 0, 0x401000, data(b"t%d" % i)) for i in range(n))}, features=0x6b, info=[(10, ["argspec:work@arg1/s"])])


@grows("uftrace events", 2500)
def _(n, path):
    uftrace(path, {1: uftrace_calls(1) + b"".join(uftrace_record(2000 + i, 3, 0, 1000000 + i) for i in range(n))},
            others={"events.txt": "".join(f"EVENT: {1000000 + i} p:e{i}\n" for i in range(n))})


@grows("uftrace undeclared events", 2500)
def _(n, path):
    uftrace(path, {1: uftrace_calls(1) + b"".join(uftrace_record(2000 + i, 3, 0, 1000000 + i) for i in range(n))})


@grows("uftrace external data", 5000)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n)}, others={"extern.dat": "".join(f"0.{1000 + i:09d} message {i}\n" for i in range(n))})


@grows("uftrace external data backwards", 5000)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n)}, others={"extern.dat": "".join(f"0.{n - i:09d} message {i}\n" for i in range(n))})


def uftrace_switch(time, tid, out):
    return record(14, struct.pack("<IIQ", 1, tid, time), 1 << 13 if out else 0)


@grows("uftrace switches", 5000)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n)}, features=0x163, others={"perf-cpu0.dat": b"".join(uftrace_switch(1000 + 10 * i, 1, i % 2 == 0) for i in range(n))})


@grows("uftrace processors", 100)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n)}, features=0x163, others={f"perf-cpu{k}.dat": b"".join(uftrace_switch(1000 + 10 * i + k, 1, i % 2 == 0) for i in range(20)) for k in range(n)})


@grows("uftrace comms", 2500)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n)}, features=0x163, others={"perf-cpu0.dat": b"".join(
        record(3, struct.pack("<II", 1, 1) + padded(f"c{i}") + struct.pack("<IIQ", 1, 1, 1000 + i), 0) for i in range(n))})


@grows("uftrace new tasks", 2500)
def _(n, path):
    uftrace(path, {1: uftrace_calls(n)}, features=0x163, others={"perf-cpu0.dat": b"".join(
        record(7, struct.pack("<IIIIQIIQ", i, 1, i, 1, 1000 + i, 1, 1, 1000 + i), 0) for i in range(n))})


# --- trace.dat ---

PAGE_TEXT = ("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
             "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n")
EVENT_TEXT = ("# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
              "\tpadding     : type == 29\n\ttime_extend : type == 30\n\tdata max type_len  == 28\n")
COMMON = ("\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
          "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n")


def sized(text, form="<Q"):
    text = text.encode() if isinstance(text, str) else text
    return struct.pack(form, len(text)) + text


def event_format(number, name="e", fields="\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n", print_format='"a=%d", REC->a'):
    return f"name: {name}\nID: {number}\nformat:\n{COMMON}{fields}\nprint fmt: {print_format}\n"


def entry(delta, payload):
    payload += b"\0" * (-len(payload) % 4)
    if len(payload) <= 112:
        return struct.pack("<I", len(payload) // 4 | delta << 5) + payload
    return struct.pack("<II", delta << 5, len(payload) + 4) + payload


def ring_pages(entries, time=1000):
    """Pages of entries, each 1 ns after the one before."""
    pages, body = [], b""
    for payload in entries:
        one = entry(1, payload)
        if len(body) + len(one) > 4080:
            pages.append((q(time, len(body)) + body).ljust(4096, b"\0"))
            body = b""
        time += 1
        body += one
    pages.append((q(time, len(body)) + body).ljust(4096, b"\0"))
    return b"".join(pages)


def payload(kind, pid, rest=b""):
    return struct.pack("<HBBi", kind, 0, 0, pid) + rest


def trace_dat(cpus, formats, systems=None, ftrace=(), kallsyms="", printk="", cmdlines="", options=()):
    """cpus: pages of each. systems: names and formats of further systems."""
    systems = [("s", formats)] + list(systems or [])
    head = b"".join((
        b"\x17\x08\x44tracing6\0\0\x08", struct.pack("<I", 4096), b"header_page\0", sized(PAGE_TEXT), b"header_event\0", sized(EVENT_TEXT),
        struct.pack("<I", len(ftrace)), *(sized(f) for f in ftrace), struct.pack("<I", len(systems)),
        *(name.encode() + b"\0" + struct.pack("<I", len(fs)) + b"".join(sized(f) for f in fs) for name, fs in systems),
        sized(kallsyms, "<I"), sized(printk, "<I"), sized(cmdlines), struct.pack("<I", len(cpus)),
        b"options  \0", *(struct.pack("<HI", number, len(content)) + content for number, content in options), b"\0\0", b"flyrecord\0"))
    at = len(head) + 16 * len(cpus) + 8 + 7
    at += -at % 4096
    table = b""
    where = at
    for pages in cpus:
        table += q(where, len(pages))
        where += len(pages)
    return (head + table + sized("[local]")).ljust(at, b"\0") + b"".join(cpus)


A = struct.pack("<i", 5)


@grows("trace-cmd events", 10000)
def _(n):
    return trace_dat([ring_pages(payload(100, 1, A) for i in range(n))], [event_format(100)])


@grows("trace-cmd threads", 5000)
def _(n):
    return trace_dat([ring_pages(payload(100, i, A) for i in range(n))], [event_format(100)], cmdlines="".join(f"{i} c{i}\n" for i in range(n)))


@grows("trace-cmd formats", 1500)
def _(n):
    return trace_dat([ring_pages(payload(100 + i, 1, A) for i in range(n))], [event_format(100 + i, f"e{i}") for i in range(n)])


@grows("trace-cmd formats of one name", 1500)
def _(n):
    return trace_dat([ring_pages(payload(100 + i, 1, A) for i in range(n))], [event_format(100 + i, "e") for i in range(n)])


@grows("trace-cmd formats of one id", 1500)
def _(n):
    return trace_dat([ring_pages(payload(100, 1, A) for i in range(n))], [event_format(100, f"e{i}") for i in range(n)])


@grows("trace-cmd systems", 1500)
def _(n):
    return trace_dat([ring_pages(payload(100 + i, 1, A) for i in range(n))], [event_format(99)],
                     [(f"s{i}", [event_format(100 + i, f"e{i}")]) for i in range(n)])


def fields_of(n, kind="unsigned char", size=1):
    return "".join(f"\tfield:{kind} f{i};\toffset:{8 + size * i};\tsize:{size};\tsigned:0;\n" for i in range(n))


@grows("trace-cmd fields", 250)
def _(n):
    return trace_dat([ring_pages([payload(100, 1, bytes(n))] * 10)], [event_format(100, "e", fields_of(n), '"%d", REC->f0')])


@grows("trace-cmd print format", 250)
def _(n):
    return trace_dat([ring_pages([payload(100, 1, bytes(n))] * 10)], [event_format(100, "e", fields_of(n), '"%s", %s' % (
        "%d " * n, ", ".join(f"REC->f{i}" for i in range(n))))])


@grows("trace-cmd symbols of a format", 1500)
def _(n):
    return trace_dat([ring_pages(payload(100, 1, struct.pack("<i", i)) for i in range(n))], [event_format(
        100, print_format='"%%s", __print_symbolic(REC->a, %s)' % ", ".join(f'{{ {i}, "v{i}" }}' for i in range(n)))])


@grows("trace-cmd flags of a format", 1500)
def _(n):
    return trace_dat([ring_pages(payload(100, 1, struct.pack("<i", i)) for i in range(10))], [event_format(
        100, print_format='"%%s", __print_flags(REC->a, "|", %s)' % ", ".join(f'{{ {i}, "v{i}" }}' for i in range(n)))])


@grows("trace-cmd nested expression", 1500)
def _(n):
    return trace_dat([ring_pages([payload(100, 1, A)] * 10)], [event_format(100, print_format='"%%d", %sREC->a%s' % ("(" * n, ")" * n))])


@grows("trace-cmd long expression", 1500)
def _(n):
    return trace_dat([ring_pages([payload(100, 1, A)] * 10)], [event_format(100, print_format='"%%d", %s' % " + ".join(["REC->a"] * n))])


@grows("trace-cmd cpus", 150)
def _(n):
    return trace_dat([ring_pages([payload(100, 1, A)] * 20, i) for i in range(n)], [event_format(100)])


@grows("trace-cmd pages", 1000)
def _(n):
    return trace_dat([b"".join(ring_pages([payload(100, 1, A)], 10 * i) for i in range(n))], [event_format(100)])


FUNCTION = event_format(1, "function", "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;\n",
                        '" %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip')


@grows("trace-cmd functions", 5000)
def _(n):
    return trace_dat([ring_pages(payload(1, 1, q(2**63 + 16 * i, 2**63 + 16 * i + 3)) for i in range(n))], [], ftrace=[FUNCTION],
                     kallsyms="".join(f"{2**63 + 16 * (n - i):x} T f{i}\n" for i in range(n)))


@grows("trace-cmd kernel symbols of one address", 5000)
def _(n):
    return trace_dat([ring_pages(payload(1, 1, q(2**63, 2**63 + 3)) for i in range(n))], [], ftrace=[FUNCTION],
                     kallsyms="".join(f"{2**63:x} T f{i}\t[m{i}]\n" for i in range(n)))


GRAPH_ENTRY = event_format(11, "funcgraph_entry", "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n",
                           '"--> %ps (%d)", (void *)REC->func, REC->depth')
GRAPH_EXIT = event_format(10, "funcgraph_exit", "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
                          "\tfield:unsigned long long calltime;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:unsigned long long rettime;\toffset:24;\tsize:8;\tsigned:0;\n"
                          "\tfield:unsigned long overrun;\toffset:32;\tsize:8;\tsigned:0;\n\tfield:int depth;\toffset:40;\tsize:4;\tsigned:1;\n",
                          '"<-- %ps (%d)", (void *)REC->func, REC->depth')


@grows("trace-cmd graph deep", 5000)
def _(n):
    return trace_dat([ring_pages([payload(11, 1, q(2**63 + i, i)) for i in range(n)] +
                                 [payload(10, 1, q(2**63 + n - 1 - i, 5, 6, 0, n - 1 - i)) for i in range(n)])], [], ftrace=[GRAPH_ENTRY, GRAPH_EXIT])


@grows("trace-cmd graph threads", 5000)
def _(n):
    return trace_dat([ring_pages([payload(11, i, q(2**63 + i, 0)) for i in range(n)] +
                                 [payload(10, i, q(2**63 + i, 5, 6, 0, 0)) for i in range(n)])], [], ftrace=[GRAPH_ENTRY, GRAPH_EXIT])


STACK = event_format(4, "kernel_stack", "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n", '"x"')


@grows("trace-cmd stacks", 1500)
def _(n):
    return trace_dat([ring_pages(payload(4, 1, q(3, 2**63 + i, 2**63 + i + 1, 2**63 + i + 2, 2**64 - 1)) for i in range(n))], [], ftrace=[STACK])


BPRINT = event_format(6, "bprint", "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n"
                      "\tfield:u32 buf;\toffset:24;\tsize:0;\tsigned:0;\n", '"%ps: %s", (void *)REC->ip, REC->fmt')


@grows("trace-cmd printk formats", 2500)
def _(n):
    return trace_dat([ring_pages(payload(6, 1, q(2**63, 2**63 + 16 * i, i)) for i in range(n))], [], ftrace=[BPRINT],
                     printk="".join(f'0x{2**63 + 16 * (n - i):x} : "f{i} %d\\n"\n' for i in range(n)))


PRINT = event_format(5, "print", "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:char buf;\toffset:16;\tsize:0;\tsigned:0;\n", '"%ps: %s", (void *)REC->ip, REC->buf')


@grows("trace-cmd marks", 5000)
def _(n):
    return trace_dat([ring_pages(payload(5, 1, q(2**63) + b"text %d\n\0" % i) for i in range(n))], [], ftrace=[PRINT])


@grows("trace-cmd atrace marks", 5000)
def _(n):
    return trace_dat([ring_pages(payload(5, 1, q(2**63) + b"S|1|f%d|%d\n\0" % (i, i)) for i in range(n))], [], ftrace=[PRINT])


@grows("trace-cmd options", 5000)
def _(n):
    return trace_dat([ring_pages([payload(100, 1, A)])], [event_format(100)], options=[(2, b"entries: 1\n\0")] * n + [(99, b"x")] * n)


@grows("trace-cmd process maps", 1500)
def _(n):
    return trace_dat([ring_pages([payload(100, i, A) for i in range(n)])], [event_format(100)],
                     options=[(10, f"{i:x} 1 /bin/a{i}\n400000 401000 /bin/a{i}\n\0".encode()) for i in range(n)])


@grows("trace-cmd mappings", 2500)
def _(n):
    return trace_dat([ring_pages([payload(100, 1, A) for i in range(n)])], [event_format(100)],
                     options=[(10, (f"1 {n:x} /bin/a\n" + "".join(f"{(n - i) << 16:x} {((n - i) << 16) + 4096:x} /lib/l{i}\n" for i in range(n))).encode() + b"\0")])


@grows("trace-cmd time shifts", 2500)
def _(n):
    shift = struct.pack("<QIII", 1, 1, 1, n) + q(*(10 * i for i in range(n))) + q(*([5] * n)) + q(*([1] * n)) + q(*([0] * n))
    return trace_dat([ring_pages([payload(100, 1, A) for i in range(n)])], [event_format(100)], options=[(11, q(2)), (12, shift)])


@grows("trace-cmd guests", 1500)
def _(n):
    return trace_dat([ring_pages([payload(100, 1, A) for i in range(n)])], [event_format(100)],
                     options=[(13, f"g{i}".encode() + b"\0" + struct.pack("<QIII", i, 1, 0, i)) for i in range(n)])


@grows("trace-cmd instances", 150)
def _(n):
    base = trace_dat([ring_pages([payload(100, 1, A)])], [event_format(100)], options=[(3, q(0) + b"i%06d\0" % i) for i in range(n)])
    at, out = len(base), base
    for i in range(n):
        begin = at + 8192 * i
        out = out.replace(q(0) + b"i%06d\0" % i, q(begin) + b"i%06d\0" % i)
    return out + b"".join((b"flyrecord\0" + q(at + 8192 * i + 4096, 4096) + sized("[local]")).ljust(4096, b"\0") + ring_pages([payload(100, 1, A)], i)
                          for i in range(n))


@grows("trace-cmd lost", 1000)
def _(n):
    return trace_dat([b"".join((q(10 * i, 12 | 1 << 31) + entry(1, payload(100, 1, A))).ljust(4096, b"\0") for i in range(n))], [event_format(100)])


SWITCH = event_format(200, "sched_switch", "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                      "\tfield:char next_comm[16];\toffset:28;\tsize:16;\tsigned:0;\n\tfield:pid_t next_pid;\toffset:44;\tsize:4;\tsigned:1;\n", '"x"')


@grows("trace-cmd names of tasks", 2500)
def _(n):
    return trace_dat([ring_pages(payload(200, i, b"c%d".ljust(16, b"\0")[:16] + struct.pack("<i", i) + (b"d%d" % i).ljust(16, b"\0") + struct.pack("<i", i + 1))
                                 for i in range(n))], [SWITCH])


def sections(*parts):
    """Sections of version 7, after each other from an offset on: (id, content)."""
    return b"".join(struct.pack("<HHIQ", number, 0, 0, len(content)) + content for number, content in parts)


def trace_dat_7(options, *parts):
    """options: of the only list, whose end is lost, so the parts are searched for buffers."""
    head = b"\x17\x08\x44tracing7\0\0\x08" + struct.pack("<I", 4096) + b"none\0\0"
    return head + q(len(head) + 8) + sections((0, b"".join(
        struct.pack("<HI", number, len(content)) + content for number, content in options)), *parts)


@grows("trace-cmd lost tables", 10000)
def _(n):
    # BUFFER options of sections that are there; each section follows the list
    option = lambda at, i: q(at) + b"b%07d\0local\0" % i + struct.pack("<II", 4096, 1) + struct.pack("<I", 0) + q(0, 0)
    first = 32 + 16 + (6 + len(option(0, 0))) * n
    return trace_dat_7([(3, option(first + 24 * i, i)) for i in range(n)], *((3, bytes(8)) for i in range(n)))


@grows("trace-cmd names of lost tables", 200)
def _(n):
    # the names of statistics, of which half are equal
    stats = [f"\nBuffer: b{min(i, n // 2)}\n\0".encode() for i in range(20 * n)]
    return trace_dat_7([(2, text) for text in stats], *((3, bytes(8)) for i in range(n)))


# --- the other programs ---

@grows("trencode text: sources", 5000, "trencode -q {}")
def _(n):
    words = w.Dictionary()
    out = bytearray(w.marker() + w.head())
    kind = words.type("e", w.INSTANT)
    for i in range(n):
        lane = words.lane(source=words.source("trace-cmd", f"in{i}"), tid=1, cpu=0)
        out += words.block() + w.events(0, [w.narrow(0, 0)], [kind], [lane])
    return out + w.end(n)


def large_segment(n):
    """A segment, without its END, in which each of n events has a type, a thread and a name of its own."""
    words = w.Dictionary()
    out = bytearray(w.marker() + w.head())
    for i in range(n):
        names = [words.type(f"t{i}", w.INSTANT)], [words.lane(tid=i + 1, comm=f"c{i}")], [words.location(f"f{i}")]
        out += words.block() + w.events(i, [w.narrow(0, 0, location=1)], *names, last=i)
    return out


def small_segments(n):
    """A large segment, and n of one event."""
    words = w.Dictionary()
    names = [words.type("e", w.INSTANT)], [words.lane(tid=1)], [words.location("x")]
    declared, out = words.block(), [large_segment(n), w.end(n, last=n - 1, flags=0)]
    for i in range(n):
        out += [w.marker(), w.head(i + 1), declared, w.events(n + i, [w.narrow(0, 0, location=1)], *names, last=n + i),
                w.end(1, first=n + i, last=n + i, flags=w.LAST if i == n - 1 else 0)]
    return b"".join(out)


@grows("trdecode segments: threads that ended", 4000, "trdecode -q {} | trdecode -q --segment 1K")
def _(n):
    return events([f'{{"ph":"X","pid":1,"tid":{i + 1},"ts":{i},"dur":1,"name":"f"}}' for i in range(n)] +
                  [f'{{"ph":"X","pid":1,"tid":{n + 1},"ts":{2 * (n + i)},"dur":1,"name":"g"}}' for i in range(5 * n)])


for program, pipe in {"trfilter": "trfilter 'dur > 10us'", "trfilter rows": "trfilter 'name =~ \"f1\"'", "trstat": "trstat -g name,tid",
                      "trsym": "trsym", "trencode": "trencode"}.items():
    CASES[f"{program}: small segments"] = small_segments, 2000, pipe + " {}"


def deep_stacks(n):
    """Stacks of 1 to n frames, each of a sample and of an instant."""
    words = w.Dictionary()
    out = bytearray(w.marker() + w.head())
    kinds = [words.type("cycles", w.SAMPLE), words.type("e", w.INSTANT, fixed=8, fields=[w.field("stack", w.UINT, w.FIXED, 0, 4, role=12)])]
    lanes, places, stack = [words.lane(tid=1)], [words.location(f"f{i}") for i in range(10)], 0
    for i in range(n):
        stack = words.stack(stack, places[i % 10])
        out += words.block() + w.events(i, [w.narrow(0, 0, location=1), w.narrow(0, 1, parts=struct.pack("<II", stack, 0))],
                                        kinds, lanes, stacks=[stack], last=i)
    return out + w.end(2 * n, last=n - 1)


for form in ("text", "chrome", "perfetto", "firefox", "speedscope", "ndjson -c time,args,stack", "csv -c time,args,stack", "folded"):
    CASES[f"trencode {form.split()[0]}: deep stacks"] = deep_stacks, 1500, f"trencode -q -t {form} {{}}"


# What they read: a case of Trace Event JSON, and how many of it
STREAMS = {"names": 4000, "threads": 2500, "nested names": 4000, "async open": 4000, "argument names": 2500}
PROGRAMS = {
    "trfilter names": "trfilter 'name =~ \"f1\"'", "trfilter durations": "trfilter 'dur > 10us'",
    "trfilter stacks": "trfilter 'stack =~ \"f1\"'", "trfilter callers": "trfilter --with-callers 'name == \"f7\"'",
    "trfilter follow": "trfilter -q --follow --with-callers 'name =~ \"f1\"'",
    "trstat": "trstat", "trstat keys": "trstat -g name,tid,depth,caller", "trstat tree": "trstat --tree",
    "trstat slow": "trstat -q --explain-tail 'name =~ \"f\"' --quantile 0.5",
    "trstat pairs": "trstat --pair 'f -> f on .tid == .tid'", "trstat summary": "trstat --partial | trstat --merge -",
    "trsym": "trsym", **{f"trencode {form}": f"trencode -q -t {form}" for form in (
        "text", "chrome", "perfetto", "folded", "pprof", "csv", "ndjson", "speedscope", "firefox", "callgrind", "dot", "svg")},
    **{f"trencode {form}": f"trencode -q -t {form} -o {{}}.out; rm -rf {{}}.out" for form in (
        "uftrace", "trace-cmd", "ctf", "lttng", "apitrace", "parquet")}}
for stream, count in STREAMS.items():
    for program, pipe in PROGRAMS.items():
        if "{}" in pipe and stream == "threads":
            continue  # a file for each thread: that measures the file system
        few = 4 if program == "trencode lttng" else 1  # a file for each name
        CASES[f"{program}: {stream}"] = CASES[f"chrome {stream}"][0], count // few, DECODED + pipe


# One stream only: what is measured does not depend on others, or grows with their depth
for name, stream, count, pipe in (
        ("trstat trees", "names", 4000, "trstat -g name --tree"), ("trdecode segments", "names", 5000, "trdecode -q --segment 64K | trstat"),
        ("trstat groups of runs", "names", 1000, "trstat --partial -o {}.1; for i in 2 3 4; do cp {}.1 {}.$i; done; "
         "trstat -q --diff {}.1 {}.2 -- {}.3 {}.4 && rm {}.?"),
        ("trencode parts", "async open", 8000, "trencode -q --split 10K -t text -o {}.part; rm -f {}.part*")):
    CASES[f"{name}: {stream}"] = CASES[f"chrome {stream}"][0], count, DECODED + pipe


@grows("trstat many runs", 100, "trstat -q --diff -c total,count '{}/a*' -- '{}/b*'")
def _(n, path):
    for i in range(2 * n):
        words = w.Dictionary()
        kinds = [words.type("f", w.ENTER), words.type("f", w.LEAVE)]
        rows = [w.narrow(k * (1 + i % 7), k % 2, location=1 + k // 2) for k in range(20)]
        last = 19 * (1 + i % 7)
        table = w.events(0, rows, kinds, [words.lane(tid=1)], [words.location(f"f{i}") for i in range(10)], last=last)
        with open(f"{path}/{'ab'[i % 2]}{i}", "wb") as f:
            f.write(w.marker() + w.head() + words.block() + table + w.end(20, last=last))


# --- debug information, of which units and functions may refer to the same part ---

def uleb(*numbers):
    out = bytearray()
    for n in numbers:
        while n >= 128:
            out.append(n & 127 | 128)
            n >>= 7
        out.append(n)
    return bytes(out)


def program(path, **sections):
    """Write a program whose code is at 0x400100, with these sections of debug information, and a stream of a sample there."""
    names, headers, content = bytearray(b"\0"), bytearray(64), bytearray()
    sections = {"text": bytes(256), **{f"debug_{name}": data for name, data in sections.items()}}
    for name, data in {**sections, "shstrtab": "\0" + "".join(f".{name}\0" for name in [*sections, "shstrtab"])}.items():
        data = data.encode() if isinstance(data, str) else data
        headers += struct.pack("<IIQQQQIIQQ", len(names), 3 if name == "shstrtab" else 1, 6 if name == "text" else 0,
                               0x400100 if name == "text" else 0, 256 + len(content), len(data), 0, 0, 1, 0)
        names += b"." + name.encode() + b"\0"
        content += data
    count = len(sections) + 2
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400100, 64, 256 + len(content), 0,
                                                     64, 56, 1, 64, count, count - 1)
    head += struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 512, 512, 4096)
    os.makedirs(path, exist_ok=True)
    with open(path + "/program", "wb") as f:
        f.write(head.ljust(256, b"\0") + content + headers)
    words = w.Dictionary()
    kinds, lanes, space = [words.type("cycles", w.SAMPLE)], [words.lane(tid=1)], words.space()
    words.map(space, 0x400000, 0x401000, path + "/program")
    stack = words.stack(0, words.location("", 0x400140, space=space))
    with open(path + "/stream", "wb") as f:
        f.write(w.marker() + w.head() + words.block() + w.events(0, [w.narrow(0, 0, location=1)], kinds, lanes, [], stacks=[stack]) +
                w.end(1, last=0))


def unit(dies):
    """A unit of DWARF 5."""
    return struct.pack("<IHBBI", 8 + len(dies), 5, 1, 8, 0) + dies


# abbreviation 1: a unit that has code
UNIT, CODE = uleb(1, 0x11, 1, 0x11, 0x01, 0x12, 0x0b, 0, 0), uleb(1) + struct.pack("<QB", 0x400100, 255)


@grows("trsym -i: one list of bases for all functions", 40000, "trsym -i {}/stream")
def _(n, path):
    bases = (b"\5" + struct.pack("<Q", 0x1000)) * n + b"\0"
    program(path, abbrev=UNIT + uleb(2, 0x2e, 0, 0x55, 0x17, 0, 0, 0), rnglists=struct.pack("<IHBBI", 8 + len(bases), 5, 8, 0, 0) + bases,
            info=unit(CODE + (b"\2" + struct.pack("<I", 12)) * n + b"\0"))


@grows("trsym -i: one list of bases for all units", 20000, "trsym -i {}/stream")
def _(n, path):
    bases = (b"\5" + struct.pack("<Q", 0x1000)) * n + b"\0"
    program(path, abbrev=UNIT + uleb(2, 0x11, 0, 0x55, 0x23, 0, 0, 0),  # by an index: for libdw
            rnglists=struct.pack("<IHBBII", 12 + len(bases), 5, 8, 0, 1, 4) + bases, info=unit(CODE + b"\0") + unit(uleb(2, 0)) * n)


@grows("trsym -i: attributes without a value", 40000, "trsym -i {}/stream")
def _(n, path):
    program(path, abbrev=UNIT + uleb(2, 0x2e, 0) + uleb(0x3f, 0x19) * n + uleb(0x12, 0x0f, 0, 0, 0), info=unit(CODE + uleb(2, 1) * n + b"\0"))


@grows("trsym -i: units of the same abbreviations", 5000, "trsym -i {}/stream")
def _(n, path):
    shapes = b"".join(uleb(i, 0x2e, 0, 0, 0) for i in range(2, 5 * n))
    program(path, abbrev=shapes + UNIT + b"\0", info=unit(CODE + b"\0") * n)


def lines(rows, end):
    head = struct.pack("<BBBbBB12B", 1, 1, 1, -5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1) + b"\0a.c\0\0\0\0\0"
    body = struct.pack("<BBBQ", 0, 9, 2, 0x400100) + b"\1" * rows + end
    return struct.pack("<IHI", 6 + len(head) + len(body), 4, len(head)) + head + body


for name, end in (("lines", b"\2\20\0\1\1"), ("damaged lines", b"\2\20\0\1\1\0\t\2")):
    @grows("trsym -i: units of the same " + name, 5000, "trsym -i {}/stream")
    def _(n, path, end=end):
        program(path, abbrev=uleb(1, 0x11, 1, 0x10, 0x17, 0, 0, 0), line=lines(20 * n, end), info=unit(uleb(1, 0, 0, 0, 0)) * n)


# --- running ---

def cpu_of(command, path):
    """The processor time of a shell's pipe, and its status."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = subprocess.run(["bash", "-c", command.replace("{}", path)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, status


def make(name, n, path):
    generate = CASES[name][0]
    if generate.__code__.co_argcount > 1:
        os.mkdir(path)
        generate(n, path)
        return
    content = generate(n)
    with open(path, "wb") as f:
        f.write(content.encode() if isinstance(content, str) else content)


def decoded(name, n, directory):
    """The stream of a case's input, which several cases share."""
    path = os.path.join(directory, f"{n}-{name.partition(': ')[2]}.trs".replace(" ", "-"))
    if not os.path.exists(path):
        make(name, n, path + ".input")
        if subprocess.run(["trdecode", "-q", "-o", path, path + ".input"]).returncode not in (0, 1):
            sys.exit(f"trdecode: {name}")
        os.unlink(path + ".input")
    return path


def measure(name, directory):
    """Is the time of a case linear? On a machine with other work a measurement may be wrong, not all of them."""
    _, n, command = CASES[name]
    shared = command.startswith(DECODED)
    if shared:
        command = "{ " + command.removeprefix(DECODED) + "; } <{}"
    paths = {}

    def took(size):
        path = paths.get(size)
        if not path:
            path = paths[size] = os.path.join(directory, f"{size} {name}".replace(" ", "-"))
            if shared:
                os.symlink(decoded(name, size, directory), path)
            else:
                make(name, size, path)
        time, done = cpu_of(f"ulimit -t 30; {command}", path)
        if done.returncode not in (0, 1):
            raise ValueError(f"status {done.returncode}: {done.stderr.decode(errors='replace')}")
        return time

    good, says = False, ""
    try:
        for _ in range(TRIES):
            large = took(4 * n)
            says = f"{4 * n}: {large:.3f} s"
            # within SLACK it is good whatever the smaller input takes: most cases need no smaller input
            if large > SLACK:
                small = took(n)
                says = f"{n}: {small:.3f} s, {says}"
            good = large <= SLACK or large <= FACTOR * small + SLACK
            if good:
                break
    except ValueError as e:
        good, says = False, str(e)
    print(f"{'ok' if good else 'not ok'} {name}: {says}", flush=True)
    for path in paths.values():
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    return good


def main():
    if sys.argv[1] == "list":
        print("\n".join(CASES))
    elif sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        names = [name for name in CASES for regex in sys.argv[2:] if re.search(regex, name)]
        with tempfile.TemporaryDirectory() as directory:
            bad = [name for name in names if not measure(name, directory)]
        sys.exit(1 if bad or not names else 0)


if __name__ == "__main__":
    main()
