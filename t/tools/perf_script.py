#!/usr/bin/env python3
"""Compare the samples of a stream with the text of `perf script`: perf_script.py STREAM.ndjson TEXT

STREAM.ndjson has one event in each line, with the columns of trstream.py. TEXT is what
`perf script --no-inline -F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso,trace` prints, or a part of
these fields. Compared are the number of samples, their order, threads, CPUs, times (in us, as printed),
events, periods, the fields of tracepoints, and the address of each frame. perf prints an address of a mapped
file as an offset in this file where it prints a call chain, so it must differ from the address by what a
record mmap says.

Options: --skip-stacks: compare no frames; --names: compare the names of frames, without parameters and
offsets, not their addresses; --stack-share SHARE: the least share of equal stacks. Of stacks that
perf 6.1 unwinds, those of a file that is mapped at two addresses, in two processes, can be too short: perf uses
its first address for both.
"""
import argparse
import json
import re
import sys

HEAD = re.compile(r"\s*(?P<comm>.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+(?:\[(?P<cpu>\d+)\]\s+)?"
                  r"(?P<time>\d+\.\d{6}):\s+(?:(?P<period>\d+)\s+)?(?P<event>\S.*?):(?:\s+(?P<rest>.*))?$")
FRAME = re.compile(r"\s*(?P<ip>[0-9a-f]+)\s+(?P<symbol>.*?)\s+\((?P<module>.*)\)$")
LAST = re.compile(r"(?P<rest>.*(?:^|\s))(?P<ip>[0-9a-f]{5,16}) (?P<symbol>\S.*) \((?P<module>\S+)\)$")
FIELD = re.compile(r"(\w+)=(\S+)")


class Sample:
    """A sample as perf printed it."""

    def __init__(self, match):
        self.comm, self.event, self.rest = match["comm"], match["event"], match["rest"] or ""
        # the thread of the sample has ended: -1 is none
        self.pid, self.tid = (None if match[key] == "-1" else int(match[key]) for key in ("pid", "tid"))
        self.cpu = int(match["cpu"]) if match["cpu"] else None
        self.time = int(match["time"].replace(".", ""))
        self.period = int(match["period"]) if match["period"] else None
        self.frames = []


def read_text(lines):
    """The samples of the text. A frame follows the event in its line, or has a line of its own."""
    samples = []
    for line in lines:
        line = line.rstrip("\n")
        frame = FRAME.match(line)
        if line.startswith("\t") and frame:
            # the end of a stack that perf has unwound: the address 0, less 1
            if int(frame["ip"], 16) != 2**64 - 1:
                samples[-1].frames.append((int(frame["ip"], 16), frame["module"], frame["symbol"]))
            continue
        match = HEAD.match(line)
        if not match:
            if line.strip():
                raise SystemExit(f"a line of another form: {line!r}")
            continue
        sample = Sample(match)
        inline = LAST.match(sample.rest)
        if inline:
            sample.frames.append((int(inline["ip"], 16), inline["module"], inline["symbol"]))
            sample.rest = inline["rest"]
        samples.append(sample)
    return samples


def read_stream(lines):
    """The samples of the stream, and for each file the differences of its addresses and offsets."""
    samples, deltas = [], {}
    for line in lines:
        event = json.loads(line)
        args = event["args"] or {}
        if event["kind"] == "sample":
            samples.append(event)
        elif event["type"].startswith("PERF_RECORD_MMAP"):
            delta = int(args["addr"], 16) - int(args["pgoff"], 16)
            deltas.setdefault(args["filename"], set()).add(delta)
    return samples, deltas


def name_of(event):
    """The event's name as perf prints it."""
    own = (None, "hardware", "software", "cache", "raw", "breakpoint", "pmu")
    return event["type"] if event["group"] in own else f"{event['group']}:{event['type']}"


def rows_of(event, printed):
    """The samples that perf prints for one: of a group, each counter that has counted."""
    args = event["args"] or {}
    rows = [(name_of(event), args.get("period", event["weight"]))]
    rows += [(name, value) for name, value in args.items() if name in printed]
    group = len(rows) > 1
    return [row for row in rows if row[1] or not group]


def frame_differs(ours, theirs, module, deltas):
    """Does an address differ from the one that perf printed?"""
    if ours == theirs:
        return False
    delta = ours - theirs
    known = deltas.get(module)
    return delta not in known if known else delta <= 0 or delta % 4096 != 0


def stack_differs(event, sample, deltas):
    ours = [int(frame.strip("<>"), 16) for frame in reversed(event["stack"] or [])]
    if len(ours) != len(sample.frames):
        return f"{len(ours)} frames, not {len(sample.frames)}"
    for number, (address, (theirs, module, _)) in enumerate(zip(ours, sample.frames)):
        if frame_differs(address, theirs, module, deltas):
            return f"frame {number} is {address:x}, not {theirs:x} in {module}"
    return None


def names_differ(event, sample):
    """Compare the names of frames; a function without a name has that of its file."""
    ours, theirs = list(reversed(event["stack"] or [])), []
    for _, module, symbol in sample.frames:
        name = re.sub(r"\+0x[0-9a-f]+$", "", symbol).replace("(anonymous namespace)", "\0")
        name = name.split("(")[0].replace("\0", "(anonymous namespace)")
        file = module.rsplit("/", 1)[-1].strip("[]") if module == "[unknown]" else module.rsplit("/", 1)[-1]
        theirs.append(f"[{file}]" if name == "[unknown]" else name)
    return None if ours == theirs else f"frames {ours}, not {theirs}"


def number_of(value):
    """A value of a field as a number where it is one."""
    try:
        return int(str(value), 0)
    except ValueError:
        return str(value)


def fields_differ(event, sample):
    """Compare what the text of a tracepoint says with the fields."""
    args, text = event["args"] or {}, sample.rest.strip()
    if "text" in args:
        return None if args["text"] == text else f"text {args['text']!r}, not {text!r}"
    call = re.match(r"NR (-?\d+) (?:\(([^)]*)\)|= (-?\d+))", text)
    if call and event["group"] == "raw_syscalls":
        if call[2] and [int(v, 16) for v in call[2].split(", ")] != [number_of(v) for v in args["args"]]:
            return f"arguments {args['args']}, not {call[2]}"
        if call[3] and number_of(args["ret"]) != int(call[3]):
            return f"ret {args['ret']}, not {call[3]}"
        return None
    pairs = FIELD.findall(text) or re.findall(r"(\w+): (0x[0-9a-f]+)", text)
    for name, value in pairs:
        if name not in args:
            continue
        ours, theirs = number_of(args[name]), number_of(value.lstrip("0") or "0" if value.isdigit() else value)
        if isinstance(theirs, str) and not isinstance(ours, str):
            continue  # perf prints a name for the number
        if ours != theirs:
            return f"{name} is {ours}, not {theirs}"
    return None


def compare(event, row, sample):
    """The first difference but that of the stack."""
    comm = event["comm"] or f":{event['tid']}"
    ours = (comm, event["pid"], event["tid"], event["time"] // 1000, row[0])
    theirs = (sample.comm, sample.pid, sample.tid, sample.time, sample.event)
    if ours != theirs:
        return f"{ours}, not {theirs}"
    if sample.cpu is not None and sample.cpu != event["cpu"]:
        return f"CPU {event['cpu']}, not {sample.cpu}"
    if sample.period is not None and sample.period != row[1]:
        return f"period {row[1]}, not {sample.period}"
    return fields_differ(event, sample)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stream")
    parser.add_argument("text")
    parser.add_argument("--skip-stacks", action="store_true")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--stack-share", type=float, default=1.0)
    options = parser.parse_args()
    with open(options.text, encoding="utf-8", errors="replace") as file:
        text = read_text(file)
    with open(options.stream, encoding="utf-8") as file:
        events, deltas = read_stream(file)
    printed = {sample.event for sample in text}
    ours = [(event, row) for event in events for row in rows_of(event, printed)]
    faults, stacks = [], []
    if len(ours) != len(text):
        faults.append(f"{len(ours)} samples, not {len(text)}")
    for number, ((event, row), sample) in enumerate(zip(ours, text)):
        fault = compare(event, row, sample)
        if fault:
            faults.append(f"sample {number}: {fault}")
        fault = None
        if not options.skip_stacks:
            fault = names_differ(event, sample) if options.names else stack_differs(event, sample, deltas)
        if fault:
            stacks.append(f"sample {number}: {fault}")
    equal = 1 - len(stacks) / max(1, len(text))
    for fault in faults[:5] + (stacks[:5] if equal < options.stack_share else []):
        print(fault)
    print(f"{len(text)} samples, {sum(len(sample.frames) for sample in text)} frames, "
          f"{100 * equal:.1f} % of the stacks are equal")
    sys.exit(bool(faults) or equal < options.stack_share or not text)


main()
