#!/usr/bin/env python3
"""External functions that one file alone calls, a file of the same folder: together the two are one subject.

usage: callers.py [-C ROOT] [count]     lines "FUNCTION FILE CALLER", or how many there are

A name in a comment or a text is no call. A function that a header names more often than it declares it is called by
the readers of the header.
"""
import collections
import os
import re
import sys

NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)
# at the beginning of a line: all but static functions
DEFINITION = re.compile(r"^(?!static\b|typedef\b|extern\b|struct \w+ \{)[a-z][\w *]*?\b(\w+)\([^;{}]*\)\s*\{", re.M)
TAG = re.compile(r"\b(?:struct|union|enum)\s+\w+")
WORD = re.compile(r"[A-Za-z_]\w*")


def one_caller():
    defined, users, in_headers = {}, collections.defaultdict(set), collections.Counter()
    for top in ("cmd", "common"):
        for folder, _, names in os.walk(top):
            for name in names:
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", errors="replace") as f:
                    text = NOT_CODE.sub(" ", f.read())
                if name.endswith(".h"):
                    in_headers.update(WORD.findall(TAG.sub(" ", text)))
                    continue
                for function in DEFINITION.findall(text):
                    defined[function] = path
                for word in set(WORD.findall(text)):
                    users[word].add(path)
    for function, path in sorted(defined.items()):
        callers = users[function] - {path}
        if len(callers) == 1 and in_headers[function] <= 1:
            caller, = callers
            if os.path.dirname(caller) == os.path.dirname(path):
                yield function, path, caller


def main(arguments):
    if arguments[:1] == ["-C"]:
        os.chdir(arguments[1])
        arguments = arguments[2:]
    found = list(one_caller())
    if arguments == ["count"]:
        print(len(found))
    else:
        for line in found:
            print(*line)


main(sys.argv[1:])
