#!/usr/bin/env python3
"""Compare what reads trace streams: usage: check_streams.py reader|program MANIFEST [STREAM...]
       check_streams.py same|segments FILE...
       check_streams.py copied FILE PROGRAM [ARGUMENT...]

reader   trstream.py gives the events and the status that the manifest has for each stream
program  trencode does; it is known to differ for each STREAM, and must
same     trstream.py and trencode give the same events and status for each stream FILE
segments trstream.py gives the same events if it begins to read with any segment of the stream FILE; of many, some
copied   PROGRAM copies the stream FILE from a segment on, or without one, and trstream.py gives the events of that part
A line for each stream that differs; the exit status is 1 if there is one.
"""
import json
import os
import subprocess
import sys

import trcalls
import trstream

ENCODER = json.JSONEncoder(sort_keys=True)
COLUMNS = "+kind,self,caller,recursive,unfinished,group,module,input,stack,weight"


def number(text):
    """A number of JSON; 1.0 is 1."""
    value = float(text)
    return int(value) if value == value and abs(value) < 2**53 and value == int(value) else value


def plain(value):
    """A value with the numbers that JSON gives."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    return [plain(member) for member in value] if isinstance(value, (list, tuple)) else value


def of_line(line):
    """A line of JSON as comparable() has it."""
    return comparable(json.loads(line, parse_float=number))


def comparable(event):
    """An event without its unknown columns, as text."""
    event = {column: plain(value) for column, value in event.items() if value is not None}
    if event.get("type") in ("bprint", "bputs"):  # trencode adds the text that the kernel printed
        event["args"].pop("message", None)
    if event.get("name") == "<0>" and event["unfinished"]:  # it has no row, and so no type
        event.pop("type", None)
        event.pop("group", None)
    return ENCODER.encode(event)


def by_reader(path):
    """Events and status by trstream.py."""
    lines = []
    with open(path, "rb") as file:
        status = trstream.read_events(file.read(), lambda event: lines.append(comparable(event)),
                                      lambda message: None)
    return lines, status


class SegmentReader(trstream.Reader):
    """Notes the position of each segment and the number of events before it."""

    def __init__(self, data):
        self.lines, self.segments = [], []
        output = trcalls.Events(lambda event: self.lines.append(comparable(event)))
        super().__init__(data, output, lambda message: None)
        self.read()

    def begin_segment(self, digits):
        self.segments.append((self.at, len(self.lines)))
        super().begin_segment(digits)


def chosen(segments, most):
    """The segments after the first; of many some, among them the second and the last."""
    later = segments[1:]
    return later if len(later) <= most else [later[i * (len(later) - 1) // (most - 1)] for i in range(most)]


def check_segments(path):
    """The messages about the segments of a stream."""
    with open(path, "rb") as file:
        data = file.read()
    whole = SegmentReader(data)
    if len(whole.segments) < 2:
        yield f"{path}: has one segment"
    for at, before in chosen(whole.segments, 10):
        differs = difference((SegmentReader(data[at:]).lines, 0), (whole.lines[before:], 0))
        if differs:
            yield f"{path}: segment at {at}: {differs}"


def check_copies(path, command):
    """The messages about copies of parts of a stream, as a command makes them from files."""
    with open(path, "rb") as file:
        data = file.read()
    starts = [at for at, _ in SegmentReader(data).segments]
    parts = [(f"from {at} on", data[at:]) for at in chosen(starts, 5)]
    parts += [(f"without {at} to {end}", data[:at] + data[end:]) for at, end in chosen(list(zip(starts, starts[1:])), 5)]
    for name, part in parts:
        with open("part.trs", "wb") as file:
            file.write(part)
        copy = subprocess.run([*command, "part.trs"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        differs = difference((SegmentReader(copy.stdout).lines, 0), (SegmentReader(part).lines, 0))
        if differs:
            yield f"{path}: {name}: {differs}"


def by_program(path):
    """Events and status by trencode."""
    done = subprocess.run(["trencode", "-q", "-t", "ndjson", "--columns", COLUMNS, path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return [of_line(line) for line in done.stdout.splitlines()], done.returncode


def difference(got, expected):
    """Text about the first difference, if there is one. Calls that end with the stream have no order."""
    if sorted(got[0]) == sorted(expected[0]) and got[1] == expected[1]:
        return ""
    text = f"status {got[1]}, expected {expected[1]}; {len(got[0])} events, expected {len(expected[0])}"
    for title, these, others in (("not expected", got[0], expected[0]), ("missing", expected[0], got[0])):
        for line in [line for line in these if line not in others][:2]:
            text += f"\n  {title}: {line}"
    return text


def check_manifest(get, manifest, known):
    """The messages about the streams of a manifest."""
    with open(manifest, encoding="utf-8") as file:
        streams = [json.loads(line) for line in file]
    for stream in streams:
        path = os.path.join(os.path.dirname(manifest), stream["stream"])
        expected = [comparable(event) for event in stream["events"]]
        differs = difference(get(path), (expected, stream["status"]))
        if differs and stream["stream"] not in known:
            yield f"{stream['stream']}: {differs}"
        if not differs and stream["stream"] in known:
            yield f"{stream['stream']}: differs no longer"


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("reader", "program", "same", "segments", "copied"):
        sys.exit(__doc__)
    how, paths = sys.argv[1], sys.argv[2:]
    if how == "same":
        messages = [f"{path}: {text}" for path in paths if (text := difference(by_reader(path), by_program(path)))]
    elif how == "copied":
        messages = list(check_copies(paths[0], paths[1:]))
    elif how == "segments":
        messages = [message for path in paths for message in check_segments(path)]
    else:
        messages = list(check_manifest(by_reader if how == "reader" else by_program, paths[0], paths[1:]))
    for message in messages:
        print(message)
    return bool(messages)


if __name__ == "__main__":
    sys.exit(main())
