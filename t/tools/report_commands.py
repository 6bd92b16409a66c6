#!/usr/bin/env python3
"""Check a report of trstat (--report -t json) with the commands that its sections name.

usage: report_commands.py REPORT STREAM

Runs each command with -t json on the stream, and prints the sections whose rows differ, then their number.
"""
import json
import shlex
import subprocess
import sys


def run(words, stream):
    """Return the rows that a command prints, or None."""
    out = subprocess.run(words + ["-q", "-t", "json", stream], capture_output=True, text=True, check=False)
    return None if out.returncode else json.loads(out.stdout)


def main(path, stream):
    report = json.load(open(path))
    for section in report["sections"]:
        words = shlex.split(section["command"])
        if run(words, stream) != section["rows"]:
            print(f"{section['id']}: {section['command']}")
        unlimited = [w for i, w in enumerate(words) if w != "-n" and words[i - 1] != "-n"]
        if "groups" in section and len(run(unlimited, stream) or []) != section["groups"]:
            print(f"{section['id']}: {section['groups']} groups")
    print(len(report["sections"]), "sections")


main(*sys.argv[1:])
