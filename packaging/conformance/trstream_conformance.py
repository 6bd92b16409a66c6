#!/usr/bin/env python3
"""Test a reader of trace streams, trstream(5), with streams whose events are known.

usage: trstream-conformance [-d DIR] [-s GLOB] [-v] COMMAND [ARG...]
       trstream-conformance [-d DIR] [-s GLOB] --list

COMMAND is run once for each stream, with the path of the stream in place of {}, or else as the last argument. It
prints the events of the stream on standard output, one JSON object per line, and exits with 0, with 1 if the stream
is damaged, or with 2 if it is no stream. See trstream-conformance(1).

  -d, --directory=DIR   the streams and expect.ndjson (default: those that are installed)
  -s, --streams=GLOB    only streams whose name matches, such as 'good/*'
  -v, --verbose         print a line for each stream that agrees, too
  -l, --list            print the names of the streams and what they show

Exit status: 0 all streams agree, 1 some differ, 2 failure.
"""
import argparse
import fnmatch
import json
import os
import subprocess
import sys

ENCODER = json.JSONEncoder(sort_keys=True)
TIMEOUT = 60  # s
HERE = os.path.dirname(os.path.realpath(__file__))
INSTALLED = os.path.join(HERE, "..", "share", "trstream-conformance")


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


def comparable(event):
    """An event without its unknown columns, as text."""
    event = {column: plain(value) for column, value in event.items() if value is not None}
    if event.get("name") == "<0>" and event.get("unfinished"):  # it has no row, and so no type
        event.pop("type", None)
        event.pop("group", None)
    return ENCODER.encode(event)


def difference(got, expected):
    """Text about the first difference, if there is one. Calls that end with the stream have no order."""
    if sorted(got[0]) == sorted(expected[0]) and got[1] == expected[1]:
        return ""
    text = f"status {got[1]}, expected {expected[1]}; {len(got[0])} events, expected {len(expected[0])}"
    for title, these, others in (("not expected", got[0], expected[0]), ("missing", expected[0], got[0])):
        for line in [line for line in these if line not in others][:2]:
            text += f"\n  {title}: {line}"
    return text


def manifest(directory, glob="*"):
    """The streams of a corpus whose names match, as objects of expect.ndjson."""
    with open(os.path.join(directory, "expect.ndjson"), encoding="utf-8") as file:
        return [stream for stream in map(json.loads, file) if fnmatch.fnmatchcase(stream["stream"], glob)]


def check(get, directory, streams):
    """For each stream its name, and text about its first difference. get: its events and status, by its path."""
    for stream in streams:
        expected = [comparable(event) for event in stream["events"]]
        try:
            differs = difference(get(os.path.join(directory, stream["stream"])), (expected, stream["status"]))
        except ValueError as reason:
            differs = str(reason)
        yield stream["stream"], differs


def events_of(command, path):
    """Events and status that a command gives for a stream."""
    words = [word.replace("{}", path) for word in command]
    try:
        done = subprocess.run(words if words != command else [*command, path], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise ValueError(f"did not end within {TIMEOUT} s") from None
    if done.returncode < 0:
        raise ValueError(f"was ended by signal {-done.returncode}")
    events = []
    for line in done.stdout.splitlines():
        try:
            event = json.loads(line, parse_float=number)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            raise ValueError(f"printed a line that is no JSON object: {line[:80].decode(errors='replace')}")
        events.append(comparable(event))
    return events, done.returncode


def main():
    if {"-h", "--help"} & set(sys.argv[1:2]):
        print(__doc__.strip())
        return 0
    parser = argparse.ArgumentParser(add_help=False, usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("-d", "--directory", default=INSTALLED)
    parser.add_argument("-s", "--streams", default="*")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("-l", "--list", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if bool(options.command) == options.list:
        parser.error("a command is needed, or --list")
    try:
        streams = manifest(options.directory, options.streams)
        if not streams:
            raise OSError(f"no stream of {options.directory} matches '{options.streams}'")
        if options.list:
            for stream in streams:
                print(f"{stream['stream']}: {stream['about']}")
            return 0
        differ = 0
        for name, text in check(lambda path: events_of(options.command, path), options.directory, streams):
            if text or options.verbose:
                print(f"{name}: {text or 'agrees'}")
            differ += bool(text)
    except BrokenPipeError:
        raise
    except OSError as reason:
        print(f"trstream-conformance: {reason.filename + ': ' + reason.strerror if reason.filename else reason}", file=sys.stderr)
        return 2
    print(f"{len(streams)} streams, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(2)
