#!/usr/bin/env python3
"""Which sources read which files of the tree, by their lines '#include "FILE"': what the compiler's
dependency files have too, but of every source, and without a build.

usage: includes.py [-C ROOT] headers            each header and how many objects read it, most first
       includes.py [-C ROOT] total              mean of headers that an object reads, in hundredths
       includes.py [-C ROOT] readers FILE...    lines "FILE SOURCE": the sources that read it, also through a header
       includes.py [-C ROOT] named FILE...      those that name it themselves
       includes.py [-C ROOT] compare OBJECTS    where the *.d of OBJECTS that are not out of date say other than this
"""
import collections
import os
import re
import sys

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def read_tree():
    """What each file of cmd, common and t includes itself."""
    tree = {}
    for top in ("cmd", "common", "t"):
        for folder, _, names in os.walk(top):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8", errors="replace") as f:
                        tree[path] = INCLUDE.findall(f.read())
    return tree


def closure(tree, path):
    """The files that a source reads."""
    seen, todo = set(), [path]
    while todo:
        for name in tree.get(todo.pop(), ()):
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return seen


def built(path):
    """Whether make builds an object of the file: not of what tests compile by themselves."""
    return path.endswith(".c") and not path.startswith(("t/tools/", "t/data/"))


def compare(read, objects):
    for folder, _, names in os.walk(objects):
        for name in names:
            if not name.endswith(".d"):
                continue
            path = os.path.join(folder, name)
            source = os.path.relpath(path, objects)[:-2] + ".c"
            files = [source, *read.get(source, ())]
            if source not in read or max(map(os.path.getmtime, files)) > os.path.getmtime(path):
                continue
            with open(path, encoding="utf-8") as f:
                theirs = set(re.findall(r"^((?:cmd|common|t)/\S+\.h):$", f.read(), re.M))
            ours = {h for h in read[source] if h.endswith(".h")}
            for header in sorted(ours ^ theirs):
                print(f"{source}: {header}")


def main(arguments):
    if arguments[:1] == ["-C"]:
        os.chdir(arguments[1])
        arguments = arguments[2:]
    if not arguments:
        sys.exit(__doc__)
    word, files = arguments[0], set(arguments[1:])
    tree = read_tree()
    read = {path: closure(tree, path) for path in tree if built(path)}
    if word == "headers":
        count = collections.Counter(h for headers in read.values() for h in headers)
        for header, n in sorted(count.items(), key=lambda item: (-item[1], item[0])):
            print(n, header)
    elif word == "total":
        print(100 * sum(map(len, read.values())) // max(len(read), 1))
    elif word in ("readers", "named"):
        for path in sorted(read):
            for name in sorted(files & (read[path] if word == "readers" else set(tree[path]))):
                print(name, path)
    elif word == "compare":
        compare(read, arguments[1])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
