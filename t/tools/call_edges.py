#!/usr/bin/env python3
"""Print the edges of a call graph: call_edges.py uftrace-dot|uftrace-mermaid|dot|mermaid FILE [ROOT]

A line "caller<TAB>callee<TAB>SUM" for each pair of functions, sorted. uftrace has an edge for each stack, and calls the
outermost functions from a node with the name of the program; here ROOT is the name of this node, by default "all".
"""
import re
import sys
from collections import defaultdict

UFTRACE_DOT = re.compile(r'\s*"(.*)" -> "(.*)" \[xlabel = "(\d+)"\]')
UFTRACE_MERMAID = re.compile(r'\s*(\w+)\["(.*)"\] -->\|(\d+)\| \w+\["(.*)"\];')
ENTITIES = {"quot": '"', "35": "#", "amp": "&", "lt": "<", "gt": ">", "96": "`"}


def plain(text, language):
    """A name without escapes."""
    if language == "dot":
        return re.sub(r"\\(.)", r"\1", text)
    return re.sub(r"#(\w+);", lambda match: ENTITIES[match[1]], text)


def read(lines, language, root):
    """The edges: caller, callee, number."""
    names = {"all": root}
    node = re.compile(r'\t(f\d+) \[label="(.*)"\]' if language == "dot" else r'\t(f\d+)\["(.*)"\]')
    edge = re.compile(r'\t(\w+) -> (\w+) \[label="(\d+)"\]' if language == "dot" else r"\t(\w+) -->\|(\d+)\| (\w+)")
    first, last = ("digraph calls {", "}") if language == "dot" else ("flowchart TB", None)
    if lines.pop(0) != first or (last and lines.pop() != last):
        sys.exit("the graph does not begin or end")
    for line in lines[1:]:
        match = node.fullmatch(line)
        if match:
            if match[1] in names:
                sys.exit(f"{line}: twice")
            names[match[1]] = plain(match[2], language)
            continue
        match = edge.fullmatch(line)
        if not match:
            sys.exit(f"{line!r}: not of the language")
        number, callee = (match[3], match[2]) if language == "dot" else (match[2], match[3])
        yield names[match[1]], names[callee], int(number)


def main():
    language, path, root = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "all"
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    sums = defaultdict(int)
    if language == "uftrace-dot":
        edges = ((m[1], m[2], int(m[3])) for m in map(UFTRACE_DOT.fullmatch, lines) if m)
    elif language == "uftrace-mermaid":
        edges = ((root if m[1] == "0_0" else m[2], m[4], int(m[3])) for m in map(UFTRACE_MERMAID.fullmatch, lines) if m)
    else:
        edges = read(lines, language, root)
    for caller, callee, number in edges:
        sums[caller, callee] += number
    for (caller, callee), number in sorted(sums.items()):
        print(f"{caller}\t{callee}\t{number}")


main()
