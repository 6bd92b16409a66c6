#!/usr/bin/env python3
"""Compare what reads trace streams: usage: check_streams.py reader DIR
       check_streams.py same|segments FILE...
       check_streams.py copied FILE PROGRAM [ARGUMENT...]

reader   trstream.py gives the events and the status of each stream of the corpus DIR
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
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging", "conformance"))
import trstream_conformance as conformance  # noqa: E402

COLUMNS = "+kind,self,caller,recursive,unfinished,group,module,input,stack,weight"


def comparable(event):
    """An event as trstream-conformance compares it."""
    if event.get("type") in ("bprint", "bputs"):  # trencode adds the text that the kernel printed
        event["args"].pop("message", None)
    return conformance.comparable(event)


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
        differs = conformance.difference((SegmentReader(data[at:]).lines, 0), (whole.lines[before:], 0))
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
        differs = conformance.difference((SegmentReader(copy.stdout).lines, 0), (SegmentReader(part).lines, 0))
        if differs:
            yield f"{path}: {name}: {differs}"


def by_program(path):
    """Events and status by trencode."""
    done = subprocess.run(["trencode", "-q", "-t", "ndjson", "--columns", COLUMNS, path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return [comparable(json.loads(line, parse_float=conformance.number)) for line in done.stdout.splitlines()], done.returncode


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("reader", "same", "segments", "copied"):
        sys.exit(__doc__)
    how, paths = sys.argv[1], sys.argv[2:]
    if how == "same":
        messages = [f"{path}: {text}" for path in paths if (text := conformance.difference(by_reader(path), by_program(path)))]
    elif how == "copied":
        messages = list(check_copies(paths[0], paths[1:]))
    elif how == "segments":
        messages = [message for path in paths for message in check_segments(path)]
    else:
        streams = conformance.manifest(paths[0])
        messages = [f"{name}: {text}" for name, text in conformance.check(by_reader, paths[0], streams) if text]
    for message in messages:
        print(message)
    return bool(messages)


if __name__ == "__main__":
    sys.exit(main())
