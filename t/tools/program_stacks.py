#!/usr/bin/env python3
"""Samples with random stacks of addresses in a program, and what addr2line says of them.

usage: program_stacks.py make PROGRAM SEED >STREAM
       program_stacks.py expect PROGRAM SEED
       program_stacks.py names STREAM
       program_stacks.py samples PROGRAM NUMBER ADDRESSES >STREAM
       program_stacks.py frames STREAM

The program is not position-independent, so its addresses are those of its files. "expect" prints a line for each
sample: the functions, outermost first, and the line of the innermost, all by addr2line -i; the address of a caller is
a return address, so addr2line gets the address before it. Samples of the thread 2 are in functions that call others in
other samples, so the line of their address is not known.
"names" prints these lines for a stream, as trstream.py reads it.
"samples" writes random addresses, one in each sample, and their list for addr2line. "frames" prints the functions of
each sample of such a stream as addr2line -fi does, without lines: innermost first.
"""
import random
import re
import subprocess
import sys

import streams_writer as w
import trstream

DEPTH, STACKS, BLOCK = 9, 400, 23


def output(*command, given=None):
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def addresses(program):
    """Addresses of instructions of the functions that the program itself defines. The first of a function is not the
    return address of a caller, and padding is of no function, so both are left out."""
    found, start, end = [], 0, 0
    extents = {}
    for line in output("nm", "-lS", program).splitlines():
        place, _, source = line.partition("\t")
        words = place.split()
        if source and len(words) == 4 and words[2] in "TtW":
            extents[words[3]] = int(words[0], 16), int(words[0], 16) + int(words[1], 16)
    for line in output("objdump", "-d", "--no-show-raw-insn", program).splitlines():
        if line.endswith(">:"):
            start, end = extents.get(line.split("<")[1][:-2], (0, 0))
        elif line.startswith("  ") and start < int(line.split(":")[0], 16) < end:
            found.append(int(line.split(":")[0], 16))
    return found


def stacks(program, seed):
    """For each stack: the index of its caller's stack or None, an address, and whether it calls others."""
    random.seed(seed)
    places = addresses(program)
    random.shuffle(places)
    callers, others = places[::2], places[1::2]
    made = []
    while len(made) < STACKS:
        shared = [i for i, (_, _, calls) in enumerate(made) if calls]
        parent = random.choice(shared) if shared and random.random() < 0.5 else None
        for _ in range(random.randrange(DEPTH)):
            made.append((parent, random.choice(callers), True))
            parent = len(made) - 1
        made.append((parent, random.choice(others), False))
    return made


def make(program, seed):
    words = w.Dictionary()
    kind = words.type("cycles", w.SAMPLE)
    lanes = [words.lane(tid=1), words.lane(tid=2)]
    space = words.space()
    words.map(space, 0x400000, 0x800000, program)
    blocks, locations, ids = [], {}, []
    made = stacks(program, seed)
    for first in range(0, len(made), BLOCK):
        for parent, address, _ in made[first:first + BLOCK]:
            if address not in locations:
                locations[address] = words.location("", address, space=space)
            ids.append(words.stack(0 if parent is None else ids[parent], locations[address]))
        blocks.append(words.block())
        blocks.append(w.events(first, [w.narrow(i, 0, location=i + 1, lane=calls) for i, (_, _, calls) in
                                       enumerate(made[first:first + BLOCK])], [kind], lanes, [], stacks=ids[first:]))
    return w.marker() + w.head() + b"".join(blocks) + w.end(len(made), last=len(made) - 1)


def expect(program, seed):
    made = stacks(program, seed)
    wanted = [address - caller for _, address, _ in made for caller in (0, 1)]
    text = output("llvm-symbolizer", "--output-style=GNU", "--no-demangle", "-afi", "-e", program, given="\n".join(hex(each) for each in wanted))
    frames = []
    for line in text.splitlines():
        if line.startswith("0x"):
            frames.append([])
        else:
            frames[-1].append(line)
    for i, (parent, _, calls) in enumerate(made):
        own = frames[2 * i]
        names = own[::2][::-1]
        while parent is not None:
            names = frames[2 * parent + 1][::2][::-1] + names
            parent = made[parent][0]
        print(*map(without_clone, names), "-" if calls else own[1].split(" (")[0].rpartition("/")[2])


def samples(program, number, listing):
    random.seed(1)
    places = addresses(program)
    places = [random.choice(places) for _ in range(number)]
    with open(listing, "w", encoding="ascii") as file:
        file.writelines(f"{place:x}\n" for place in places)
    words, blocks, ids = w.Dictionary(), [], {}
    kind, lane, space = words.type("cycles", w.SAMPLE), words.lane(tid=1), words.space()
    words.map(space, 0x400000, 0x800000, program)
    for first in range(0, number, 1000):
        some = places[first:first + 1000]
        for place in some:
            if place not in ids:
                ids[place] = words.stack(0, words.location("", place, space=space))
        blocks.append(words.block())
        blocks.append(w.events(first, [w.narrow(i, 0, location=i + 1) for i in range(len(some))], [kind], [lane], [],
                               stacks=[ids[place] for place in some]))
    return w.marker() + w.head() + b"".join(blocks) + w.end(number, last=number - 1)


def frames(path):
    with open(path, "rb") as file:
        trstream.read_events(file.read(), lambda event: print(*event["stack"][::-1], sep="\n"), sys.exit)


def without_clone(name):
    """The name of the function of which the compiler made a variant: DWARF has this name, the symbol table has both."""
    return re.sub(r"(\.(isra|constprop|part|cold)(\.\d+)?)+$", "", name)


def names(path):
    def show(event):
        place = f"{event['file'].rpartition('/')[2]}:{event['line']}" if event["file"] else "??:0"
        print(*map(without_clone, event["stack"]), "-" if event["tid"] == 2 else place)

    with open(path, "rb") as file:
        trstream.read_events(file.read(), show, sys.exit)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "make":
        sys.stdout.buffer.write(make(sys.argv[2], int(sys.argv[3])))
    elif len(sys.argv) == 4 and sys.argv[1] == "expect":
        expect(sys.argv[2], int(sys.argv[3]))
    elif len(sys.argv) == 3 and sys.argv[1] == "names":
        names(sys.argv[2])
    elif len(sys.argv) == 5 and sys.argv[1] == "samples":
        sys.stdout.buffer.write(samples(sys.argv[2], int(sys.argv[3]), sys.argv[4]))
    elif len(sys.argv) == 3 and sys.argv[1] == "frames":
        frames(sys.argv[2])
    else:
        sys.exit(__doc__)
