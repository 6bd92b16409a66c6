#!/usr/bin/env python3
"""Compare what reads trace streams: usage: check_streams.py reader|program|same FILE...

reader   trstream.py gives the events and the status in the manifest FILE, for each stream that it lists
program  trencode does
same     trstream.py and trencode give the same events and status for each stream FILE
A line for each stream that differs; the exit status is 1 if there is one.
"""
import json
import os
import subprocess
import sys

import trstream

COLUMNS = "+kind,self,caller,recursive,unfinished,group,module,input"


def number(text):
    """A number of JSON; 1.0 is 1."""
    value = float(text)
    return int(value) if value == value and abs(value) < 2**53 and value == int(value) else value


def comparable(line):
    """An event without its unknown columns, as text."""
    event = {column: value for column, value in json.loads(line, parse_float=number).items() if value is not None}
    if event.get("type") in ("bprint", "bputs"):  # trencode adds the text that the kernel printed
        event["args"].pop("message", None)
    if event.get("name") == "<0>" and event["unfinished"]:  # it has no row, and so no type
        event.pop("type", None)
        event.pop("group", None)
    return json.dumps(event, sort_keys=True)


def by_reader(path):
    """Events and status by trstream.py."""
    lines = []
    with open(path, "rb") as file:
        status = trstream.read_events(file.read(), lambda event: lines.append(comparable(json.dumps(event))),
                                      lambda message: None)
    return lines, status


def by_program(path):
    """Events and status by trencode."""
    done = subprocess.run(["trencode", "-q", "-t", "ndjson", "--columns", COLUMNS, path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return [comparable(line) for line in done.stdout.splitlines()], done.returncode


def differs(path, got, expected):
    """Print the first difference, if there is one. Calls that end with the stream have no order."""
    if sorted(got[0]) == sorted(expected[0]) and got[1] == expected[1]:
        return False
    print(f"{path}: status {got[1]}, expected {expected[1]}; {len(got[0])} events, expected {len(expected[0])}")
    for title, these, others in (("not expected", got[0], expected[0]), ("missing", expected[0], got[0])):
        for line in [line for line in these if line not in others][:2]:
            print(f"  {title}: {line}")
    return True


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("reader", "program", "same"):
        sys.exit(__doc__)
    how, bad = sys.argv[1], 0
    if how == "same":
        for path in sys.argv[2:]:
            bad += differs(path, by_reader(path), by_program(path))
        return bad > 0
    get = by_reader if how == "reader" else by_program
    for manifest in sys.argv[2:]:
        with open(manifest, encoding="utf-8") as file:
            for line in file:
                stream = json.loads(line)
                path = os.path.join(os.path.dirname(manifest), stream["stream"])
                expected = [comparable(json.dumps(event)) for event in stream["events"]]
                bad += differs(stream["stream"], get(path), (expected, stream["status"]))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
