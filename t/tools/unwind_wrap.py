#!/usr/bin/env python3
"""usage: unwind_wrap.py MODE FILE OFFSET SIZE ENTRY [PATH]
OFFSET, SIZE: of the text of PATH (/bin/true) in its file; ENTRY: of a function in the text.
MODE good: samples in ordinary mappings of it only.
MODE top:  like good, with the mappings at the top of the address space.
MODE lost: the first sample is in a mapping whose module wraps at 2^64; later ones are ordinary.
MODE uaf:  16 ordinary mappings, then the wrapping one, then ordinary ones again."""
import sys
sys.dont_write_bytecode = True
import types
pd = types.ModuleType("pd")
import os
src = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "perf_data.py")).read()
exec(src[:src.rindex("\nmain()")], pd.__dict__)
PGOFF, LEN, ENTRY = int(sys.argv[3], 0), int(sys.argv[4], 0), int(sys.argv[5], 0)
mode, path = sys.argv[1:3]
PATH = sys.argv[6] if len(sys.argv) > 6 else "/bin/true"
attr = pd.Attr(pd.IDENTIFIER | pd.IP | pd.TID | pd.TIME | pd.REGS_USER | pd.STACK_USER, {pd.ID_ALL, pd.MMAP_FLAG}, user_regs=0xff01ff)
f = pd.File("<", [attr])
t = 1000
def mmap(addr):
    global t
    t += 1
    f.put(1, f.pack("ii", 100, 100) + f.words(addr, LEN, PGOFF) + f.text(PATH), 2, (attr, 100, 100, 0, t))
def sample(pc):
    global t
    t += 1000
    sp = 0x7fff0000
    regs = [0] * 17
    regs[7], regs[8] = sp, pc
    # a stack on which every word is a return address into the first ordinary mapping
    stack = f.words(*([good[0] + ENTRY] * 16))
    f.put(pd.SAMPLE, f.words(attr.id, pc) + f.pack("ii", 100, 100) + f.words(t) + f.words(2, *regs) +
          f.words(len(stack)) + stack + f.words(len(stack)), 2)
good = [0x100000000 + i * 0x10000000 for i in range(20)]
if mode == "top":
    good = [2**64 - 0x2000 - (i + 1) * 0x10000 for i in range(20)]
wrap = 2**64 - 0x3000
n = {"good": 20, "top": 20, "lost": 3, "uaf": 16}[mode]
for a in good[:n]:
    mmap(a)
if mode not in ("good", "top"):
    mmap(wrap)
if mode == "lost":
    sample(wrap + ENTRY)
for a in good[:n]:
    sample(a + ENTRY)
if mode == "uaf":
    sample(wrap + ENTRY)
    for a in good[:4]:
        sample(a + ENTRY)
open(path, "wb").write(f.file())
